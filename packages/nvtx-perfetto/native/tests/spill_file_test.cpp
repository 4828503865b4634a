// SPDX-License-Identifier: Apache-2.0
#include "io/spill_file.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "check.h"
#include "io/spill_reader.h"

using namespace nvtx_perfetto;

namespace {

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

}  // namespace

TEST("spill file: without a name it is nowhere to be found") {
  std::string folder = check::folder();
  SpillFile file(folder);
  CHECK(file.allocate(10) > 0);
  CHECK(names_in(folder).empty());
}

TEST("spill file: it has a name from its first block until it is removed, and its owner's lock") {
  std::string folder = check::folder();
  SpillFile file(folder);
  file.name_after(folder + "/trace");
  CHECK(names_in(folder).empty());
  int64_t at = file.allocate(4, {SpillKind::kEvents, 7, 9}, 1);
  CHECK(at > 0 && file.write_at(at, "abcd", 4));
  CHECK_EQ(names_in(folder).size(), 1u);
  std::string name = names_in(folder).at(0);
  CHECK_EQ(name.substr(0, 6), "trace.");
  CHECK_EQ(name.substr(name.size() - 6), ".spill");
  SpillReader reader;
  CHECK_EQ(reader.open(folder + "/" + name), SpillReader::Found::kAlive);
  file.remove();
  CHECK(names_in(folder).empty());
}

TEST("spill file: another process finds its blocks, and which of them are whole") {
  std::string folder = check::folder();
  SpillFile file(folder);
  file.name_after(folder + "/trace");
  int64_t first = file.allocate(5, {SpillKind::kEvents, 7, 9}, 1);
  file.write_at(first, "abcde", 5);
  file.finish(first);
  file.allocate(3, {SpillKind::kHalves, 1, 0}, 1);
  file.stop_naming();
  file.finish(file.allocate(0, {SpillKind::kEvents, 2, 0}, 0));
  std::string copy = folder + "/copy.1.00000000.spill";
  std::filesystem::copy_file(folder + "/" + names_in(folder).at(0), copy);
  SpillReader reader;
  CHECK_EQ(reader.open(copy), SpillReader::Found::kDead);
  std::string found;
  reader.each_block([&](const SpillBlock& block, std::string_view bytes) {
    found += std::to_string(block.kind) + "," + std::to_string(block.stream) + "," +
             std::to_string(block.subject) + "," + std::to_string(block.whole) + "," +
             std::string(block.whole ? bytes : "") + ";";
  });
  CHECK_EQ(found, "2,7,9,1,abcde;3,1,0,0,;0,2,0,1,;");
}

TEST("spill file: where no name can be given it does without") {
  std::string folder = check::folder();
  SpillFile file(folder);
  file.name_after("/nowhere/at/all/trace");
  CHECK(file.named());
  CHECK(file.allocate(10, {SpillKind::kEvents, 0, 0}, 1) > 0);
  CHECK(!file.named());
  CHECK_EQ(file.error(), "");
}

TEST("spill file: a file of no session, or of another host, is not read") {
  std::string folder = check::folder();
  std::string path = folder + "/x";
  CHECK_EQ(SpillReader().open(path), SpillReader::Found::kUnreadable);
  std::filesystem::create_directory(path);
  CHECK_EQ(SpillReader().open(path), SpillReader::Found::kUnreadable);
  SpillFile file(folder);
  file.name_after(folder + "/trace");
  file.allocate(1);
  std::string name;
  for (const std::string& one : names_in(folder)) name = one == "x" ? name : one;
  std::filesystem::copy_file(folder + "/" + name, folder + "/copy");
  FILE* copy = std::fopen((folder + "/copy").c_str(), "r+");
  std::fseek(copy, 8, SEEK_SET);
  for (int i = 0; i < 2; ++i) std::fputs("elsewhere\0", copy), std::fseek(copy, 48, SEEK_SET);
  std::fclose(copy);
  CHECK_EQ(SpillReader().open(folder + "/copy"), SpillReader::Found::kForeign);
}
