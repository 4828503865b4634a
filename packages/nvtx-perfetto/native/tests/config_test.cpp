// SPDX-License-Identifier: Apache-2.0
#include "model/config.h"

#include "check.h"

using namespace nvtx_perfetto;

TEST("config: every key is read, apart by newlines or bars, comments aside") {
  SessionConfig config = parse_config(
      "# a comment | output = /a/b.pftrace \r\noverwrite=yes\n#output=x\ntime_offset=-5|"
      "clock_snapshot=host|unrelated_clocks=allow\nmax_size=3M\nmemory = 64k\nforeign=1\nnoequals",
      "name");
  CHECK_EQ(config.problem, "");
  CHECK_EQ(config.output, "/a/b.pftrace");
  CHECK(config.overwrite);
  CHECK_EQ(config.time_offset, -5);
  CHECK(config.host_snapshot);
  CHECK(config.unrelated_clocks);
  CHECK_EQ(config.max_size, 3u << 20);
  CHECK_EQ(config.memory, 64u << 10);
}

TEST("config: the first entry of a key counts") {
  SessionConfig config = parse_config("output=first\noutput=second\noutput=", "name");
  CHECK_EQ(config.output, "first");
  CHECK_EQ(config.problem, "");
}

TEST("config: defaults, with the session's name made a file name") {
  CHECK_EQ(parse_config(nullptr, "run 1").output, "run 1.pftrace");
  CHECK_EQ(parse_config("", "../a/b:c\\d\"").output, "_._a_b_c_d_.pftrace");
  CHECK_EQ(parse_config("", "").output, "session.pftrace");
  CHECK_EQ(parse_config("", "\xC3\xA9t\xC3\xA9").output, "\xC3\xA9t\xC3\xA9.pftrace");
  std::string longest = parse_config("", std::string(150, 'x') + std::string(60, '\xC3')).output;
  CHECK(longest.size() < 255);
  SessionConfig config = parse_config("", "n");
  CHECK(!config.overwrite && !config.host_snapshot && !config.unrelated_clocks);
  CHECK_EQ(config.time_offset, 0);
  CHECK_EQ(config.max_size, 0u);
  CHECK_EQ(config.memory, 256u << 20);
}

TEST("config: a value that is none of its key's is named with what was expected") {
  for (const char* text :
       {"overwrite=maybe", "time_offset=1.5", "time_offset=", "memory=1", "memory=", "memory=5X",
        "memory=-1M", "max_size=1MM", "max_size=M", "time_offset=9223372036854775808",
        "clock_snapshot=guest", "max_size=99999999999G", "unrelated_clocks=1", "output="}) {
    SessionConfig config = parse_config(text, "n");
    std::string key = std::string(text).substr(0, std::string(text).find('='));
    if (config.problem.find(key + "=") == std::string::npos) {
      check::failed(__FILE__, __LINE__, std::string(text) + " gave: " + config.problem);
    }
  }
}
