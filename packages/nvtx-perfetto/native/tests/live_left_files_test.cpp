// SPDX-License-Identifier: Apache-2.0
// Live files that someone else left: which of them are drained, and what is known of their threads.
#include <sys/prctl.h>

#include <cstddef>
#include <filesystem>
#include <fstream>

#include "live_recording.h"

using namespace recording;

namespace {

// The live file of a child that was killed behind its work.
template <typename Work>
std::string left_by(const Work& work) {
  record_and_die(work);
  return with_suffix(".live");
}

std::string left_with_a_mark() {
  return left_by([](Recording& recording) {
    recording.writer->mark(0, recording.named("drained"));
    recording.session->flush();
    recording.writer->mark(0, recording.named("left"));
  });
}

void change_text(const std::string& path, size_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file << "other" << '\0';
}

live::Recovered recovered(const std::string& path, std::string& problem) {
  problem.clear();
  return live::recover(path, problem);
}

}  // namespace

TEST("live left files: those of before a reboot are drained, those of another host are not") {
  std::string path = left_with_a_mark();
  std::string problem;
  change_text(path, offsetof(live::FileHeader, host));
  std::filesystem::copy_file(path, path + ".kept");
  change_text(path, offsetof(live::FileHeader, boot_id));
  CHECK_EQ(recovered(path, problem), live::Recovered::kForeign);
  CHECK(problem.find("belongs to another host") != std::string::npos);
  CHECK(std::filesystem::exists(path));
  // A host may be renamed while it runs; its boot tells.
  std::filesystem::rename(path + ".kept", path);
  CHECK_EQ(recovered(path, problem), live::Recovered::kDrained);
}

TEST("live left files: those of before a reboot are drained") {
  std::string path = left_with_a_mark();
  std::string problem;
  change_text(path, offsetof(live::FileHeader, boot_id));
  CHECK_EQ(recovered(path, problem), live::Recovered::kDrained);
  packets::Trace trace(content(with_suffix(".part")));
  CHECK_EQ(count(trace, kInstant, "drained") + count(trace, kInstant, "left"), size_t{2});
}

TEST("live left files: one whose part is gone or shorter is kept, with the part as it is") {
  std::string path = left_with_a_mark();
  std::string part = with_suffix(".part");
  auto size = std::filesystem::file_size(part);
  std::filesystem::resize_file(part, size - 1);
  std::string problem;
  CHECK_EQ(recovered(path, problem), live::Recovered::kFailed);
  CHECK(problem.find("shorter") != std::string::npos);
  CHECK_EQ(std::filesystem::file_size(part), size - 1);
  CHECK(std::filesystem::exists(path));
}

TEST("live left files: half a drain behind a part's checkpoint is cut off") {
  std::string path = left_with_a_mark();
  std::ofstream(with_suffix(".part"), std::ios::app) << "half a drain";
  std::string problem;
  CHECK_EQ(recovered(path, problem), live::Recovered::kDrained);
  packets::Trace trace(content(with_suffix(".part")));
  CHECK_EQ(count(trace, kInstant), size_t{3});  // the summary too
}

TEST("live left files: a start drains what was told the same output, and nothing else") {
  std::string path = left_with_a_mark();
  live::recover_beside(check::folder() + "/trac");
  live::recover_beside(check::folder() + "/other");
  CHECK(std::filesystem::exists(path));
  live::recover_beside(check::folder() + "/trace");
  CHECK(!std::filesystem::exists(path));
}

TEST("live left files: the writer thread of the next recording drains them") {
  std::string path = left_with_a_mark();
  Recording next(64, "trace", true);
  CHECK_EQ(count(next.finish(), kInstant, "left"), size_t{0});
  CHECK(!std::filesystem::exists(path));
  packets::Trace trace(content(with_suffix(".part")));
  CHECK_EQ(count(trace, kInstant, "drained") + count(trace, kInstant, "left"), size_t{2});
}

TEST("live left files: ranges that were open are counted, drained or not") {
  std::string path = left_by([](Recording& recording) {
    recording.writer->push(0, recording.named("drained"));
    recording.writer->start(0, recording.named("drained too"));
    recording.session->flush();
    recording.writer->push(0, recording.named("left"));
    recording.writer->pop(0, nullptr, 0);
    recording.writer->start(0, recording.named("left too"));
  });
  std::string problem;
  CHECK_EQ(recovered(path, problem), live::Recovered::kDrained);
  CHECK_EQ(summary(packets::Trace(content(with_suffix(".part"))), "ranges_left_open"), "3");
}

TEST("live left files: threads have the names that the last drain saw") {
  std::string path = left_by([](Recording& recording) {
    recording.registry.create_domain("own");
    recording.writer->mark(1, recording.named("m"));
    ::prctl(PR_SET_NAME, "renamed");
    recording.session->flush();
  });
  std::string problem;
  CHECK_EQ(recovered(path, problem), live::Recovered::kDrained);
  packets::Trace trace(content(with_suffix(".part")));
  CHECK_EQ(trace.on("own (renamed)").size(), size_t{1});
}
