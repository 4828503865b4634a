// SPDX-License-Identifier: Apache-2.0
// A session's spill file, copied while the session lives, is what a killed session leaves.
#include "doors/killed_session.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "check.h"
#include "doors/nvtxw_tables.h"
#include "doors/session_join.h"
#include "live/host_snapshots.h"
#include "packets.h"
#include "writer_session.h"

using namespace nvtx_perfetto;
using check::content;
using writer::WriterSession;

namespace {

std::string path_of(const packets::Trace& trace, uint64_t track) {
  std::string path;
  for (; track != 0; track = trace.tracks.at(track).parent) {
    path = "/" + trace.tracks.at(track).name + path;
  }
  return path;
}

// Every event but the summaries', without ids.
std::vector<std::string> rows(const packets::Trace& trace) {
  std::vector<std::string> all;
  for (const auto& event : trace.events) {
    std::string path = path_of(trace, event.track);
    if (path.find("summary") != std::string::npos) continue;
    const auto& track = trace.tracks.at(event.track);
    std::string row = path + " " + std::to_string(event.type) + " " + std::to_string(event.time) +
                      " " + event.name + " " + std::to_string(event.value) + " " + track.unit +
                      " " + track.description + " " + std::to_string(event.flows.size());
    for (const auto& category : event.categories) row += " " + category;
    for (const auto& [key, value] : event.arguments) row += " " + key + "=" + value;
    all.push_back(row);
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::string spill_of(const WriterSession& session) {
  for (const auto& entry : std::filesystem::directory_iterator(session.folder)) {
    if (entry.path().extension() == ".spill") return entry.path().string();
  }
  return {};
}

void spill_all(const WriterSession& session) {
  nvtxw_tables().sessions.get(reinterpret_cast<uintptr_t>(session.handle))->spill_all();
}

// What the session would leave if it were killed now: its output and its spill file, elsewhere.
std::string killed_copy(const WriterSession& session) {
  std::string folder = session.folder + "/killed";
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(session.path, folder + "/trace");
  std::filesystem::copy_file(spill_of(session), folder + "/trace.1.0123abcd.spill");
  return folder + "/trace";
}

uint64_t trace_clock(const std::string& trace) {
  for (const packets::Message& packet : packets::Message(trace).messages(field::kTrace_packet)) {
    if (!packet.has(field::kTracePacket_clock_snapshot)) continue;
    packets::Message snapshot = packet.message(field::kTracePacket_clock_snapshot);
    if (uint64_t clock = snapshot.number(field::kClockSnapshot_primary_trace_clock)) return clock;
  }
  return 0;
}

// The readings of the machine's clocks that a trace holds.
std::vector<std::string> host_snapshots(const std::string& trace) {
  std::vector<std::string> found;
  for (const packets::Message& packet : packets::Message(trace).messages(field::kTrace_packet)) {
    std::string snapshot = packet.text(field::kTracePacket_clock_snapshot);
    bool host = live::HostSnapshots::kind_of(snapshot) == live::HostSnapshots::Kind::kHost;
    if (!snapshot.empty() && host) found.push_back(snapshot);
  }
  return found;
}

// Whether what a session of these settings spilled reads as if it had ended, whatever is
// registered.
void check_settings(const std::string& config, uint64_t first_clock) {
  WriterSession session("trace", config);
  session.register_everything();
  if (first_clock) session.write_range(session.open("first", 0, first_clock), 70, 80, 1);
  session.write_everything();
  spill_all(session);
  std::string killed = killed_copy(session);
  session.end();
  SessionJoin join(session.folder + "/out");
  CHECK_EQ(join.find({killed}), "");
  CHECK_EQ(join.recovered().size(), 1u);
  CHECK_EQ(join.recovered().at(0).rows, session.written);
  std::vector<std::string> found = rows(packets::Trace(content(join.inputs().back().path)));
  std::vector<std::string> expected = rows(packets::Trace(content(session.path)));
  CHECK(expected.size() > session.written);
  CHECK_EQ(found.size(), expected.size());
  for (size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    CHECK_EQ(found[i], expected[i]);
  }
  CHECK_EQ(trace_clock(content(join.inputs().back().path)), trace_clock(content(session.path)));
  CHECK(host_snapshots(content(join.inputs().back().path)) ==
        host_snapshots(content(session.path)));
  CHECK(spill_of(session).empty());
}

}  // namespace

TEST("killed session: whatever is registered, what was spilled reads as if the session had ended") {
  check_settings("", 0);
}

TEST("killed session: what was spilled has its session's offset") {
  check_settings("time_offset=1000000", 0);
}

TEST("killed session: what was spilled may lie on clocks that nothing ties") {
  check_settings("unrelated_clocks=allow", NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC);
}

TEST("killed session: what was spilled is tied by the host's clocks as they were read then") {
  check_settings("clock_snapshot=host", NVTX_TIMESTAMP_TYPE_CPU_CLOCK_GETTIME_MONOTONIC);
}

TEST(
    "killed session: what was spilled gets what its output has left of the size that it may have") {
  WriterSession session("trace", "max_size=500000");
  session.register_everything();
  nvtxwStreamHandle_t stream = session.open("s");
  for (uint32_t i = 0; i < 5'000; ++i) session.write_range(stream, 10 * i, 10 * i + 5, i);
  spill_all(session);
  std::string killed = killed_copy(session);
  std::filesystem::resize_file(killed, 400'000);
  SessionJoin join(session.folder + "/out");
  CHECK_EQ(join.find({killed}), "");
  CHECK_EQ(join.recovered().at(0).rows, session.written);
  std::string recovered = join.inputs().back().path;
  auto summary = packets::Trace(content(recovered)).on("nvtx-perfetto summary").at(0).arguments;
  CHECK(std::stoul(summary.at("summary.dropped_over_limit")) > 0);
  CHECK(std::filesystem::file_size(recovered) < 200'000);
}

TEST("killed session: a run that was being written is lost alone, and counted") {
  WriterSession session;
  session.register_everything();
  nvtxwStreamHandle_t stream = session.open("s");
  for (uint32_t run = 0; run < 3; ++run) {
    for (uint32_t i = 0; i < 10; ++i) session.write_range(stream, 100 * run + i, 900, i);
    spill_all(session);
  }
  std::string killed = killed_copy(session);
  std::string spill = killed + ".1.0123abcd.spill";
  std::filesystem::resize_file(spill, std::filesystem::file_size(spill) - 1);
  SessionJoin join(session.folder + "/out");
  CHECK_EQ(join.find({killed}), "");
  CHECK_EQ(join.recovered().at(0).rows, 20u);
  packets::Trace trace(content(join.inputs().back().path));
  CHECK_EQ(trace.on("s").size(), 40u);
  auto summary = trace.on("nvtx-perfetto summary").at(0).arguments;
  CHECK_EQ(summary.at("summary.killed_sessions"), "1");
  CHECK_EQ(summary.at("summary.recovered_rows"), "20");
  CHECK_EQ(summary.at("summary.unreadable_runs"), "1");
}

TEST("killed session: a session that lives keeps its spill file to itself") {
  WriterSession session;
  session.register_everything();
  session.write_everything();
  spill_all(session);
  SessionJoin join(session.folder + "/out");
  CHECK_EQ(join.find({session.path}), "");
  CHECK(join.living() == std::vector<std::string>{spill_of(session)});
  CHECK_EQ(join.inputs().size(), 1u);
  join.remove_spills();
  CHECK(!spill_of(session).empty());
}

TEST("killed session: a later session's trace is not mixed with what an earlier one left") {
  WriterSession session;
  session.register_everything();
  session.write_everything();
  spill_all(session);
  std::string killed = killed_copy(session);
  WriterSession later("later");
  later.register_everything();
  later.write_everything();
  later.end();
  std::filesystem::copy_file(later.path, killed, std::filesystem::copy_options::overwrite_existing);
  SessionJoin join(session.folder + "/out");
  CHECK_EQ(join.find({killed}), "");
  CHECK_EQ(join.inputs().size(), 1u);
  CHECK_EQ(join.left_alone().size(), 1u);
  CHECK(join.left_alone().at(0).find("another session") != std::string::npos);
  SessionJoin named(session.folder + "/out");
  CHECK_EQ(named.find({killed + ".1.0123abcd.spill"}), "");
  CHECK_EQ(named.recovered().at(0).rows, session.written);
}

TEST("killed session: whatever a spill file holds, reading it does no harm") {
  WriterSession session;
  session.register_everything();
  session.write_everything();
  spill_all(session);
  std::string killed = killed_copy(session);
  std::string spill = killed + ".1.0123abcd.spill";
  const std::string whole = content(spill);
  std::mt19937 random(11);
  uint64_t recovered = 0;
  uint64_t refused = 0;
  for (int round = 0; round < 400; ++round) {
    std::string bytes = whole;
    for (uint32_t i = 0, flips = 1 + random() % 12; i < flips; ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (round % 8 == 0) bytes.resize(random() % bytes.size());
    std::ofstream(spill, std::ios::binary | std::ios::trunc) << bytes;
    SessionJoin join(session.folder + "/out");
    join.find({spill});
    refused += join.recovered().empty();
    for (const auto& one : join.recovered()) recovered += one.rows;
  }
  CHECK(recovered > 0);
  CHECK(refused > 0);
}
