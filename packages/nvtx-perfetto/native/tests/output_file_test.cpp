// SPDX-License-Identifier: Apache-2.0
#include "io/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "check.h"

using check::content;
using nvtx_perfetto::OutputFile;

namespace {

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST("output file: what is appended can be read back, and its start can be replaced") {
  std::string path = check::folder() + "/trace";
  OutputFile file;
  CHECK_EQ(file.open(path, {}), "");
  CHECK(file.append("abc", 3));
  CHECK(file.append("def", 3));
  CHECK(file.patch_start("XY", 2));
  CHECK(!file.patch_start("too long", 8));
  CHECK_EQ(file.close(), "");
  CHECK_EQ(content(path), "XYcdef");
  CHECK(!file.append("late", 4));
}

TEST("output file: an existing file needs overwrite") {
  std::string path = check::folder() + "/trace";
  std::ofstream(path) << "precious";
  OutputFile refused;
  CHECK(contains(refused.open(path, {}), "overwrite=1"));
  CHECK_EQ(content(path), "precious");
  OutputFile file;
  CHECK_EQ(file.open(path, {true, 0}), "");
  CHECK_EQ(content(path), "");
}

TEST("output file: a file in use is refused and keeps its content, until it is closed") {
  std::string path = check::folder() + "/trace";
  OutputFile first;
  CHECK_EQ(first.open(path, {}), "");
  CHECK(first.append("abc", 3));
  OutputFile second;
  CHECK(contains(second.open(path, {true, 0}), "another session"));
  CHECK_EQ(content(path), "abc");
  first.close();
  OutputFile third;
  CHECK_EQ(third.open(path, {true, 0}), "");
}

TEST("output file: a full disk is an error that stays") {
  OutputFile file;
  CHECK_EQ(file.open("/dev/full", {}), "");
  CHECK(!file.append("abc", 3));
  CHECK(!file.append("abc", 3));
  CHECK(contains(file.close(), "No space left"));
}

TEST("output file: folders that are none or forbid writing are named with the reason") {
  OutputFile file;
  CHECK(contains(file.open("/nowhere/trace", {}), "No such file"));
  CHECK(contains(file.open(check::folder(), {true, 0}), "directory"));
  CHECK(contains(file.open("", {}), "No such file"));
  std::string deep = check::folder() + "/trace/below";
  std::ofstream(check::folder() + "/trace") << "a file";
  CHECK(contains(file.open(deep, {}), "Not a directory"));
}

TEST("output file: the size limit closes it for events, not for what completes them") {
  OutputFile file;
  CHECK_EQ(file.open(check::folder() + "/trace", {false, 4}), "");
  CHECK(file.open_for_events());
  CHECK(file.append("abcd", 4));
  CHECK(!file.open_for_events());
  CHECK(file.append("end", 3));
  CHECK_EQ(content(check::folder() + "/trace"), "abcdend");
}

TEST("output file: a file deleted meanwhile is told at the close") {
  std::string path = check::folder() + "/trace";
  OutputFile file;
  CHECK_EQ(file.open(path, {}), "");
  CHECK(file.append("abc", 3));
  ::unlink(path.c_str());
  CHECK(contains(file.close(), "deleted"));
}
