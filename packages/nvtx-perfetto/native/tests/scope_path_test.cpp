// SPDX-License-Identifier: Apache-2.0
#include "model/scope_path.h"

#include "check.h"

using namespace nvtx_perfetto;

namespace {

std::vector<std::string> texts(const char* path) {
  std::vector<std::string> all;
  for (const ScopeNode& node : parse_scope_path(path)) all.push_back(node.text());
  return all;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST("scope path: slashes part nodes, empty parts count for nothing") {
  CHECK((texts("a/b/c") == Texts{"a", "b", "c"}));
  CHECK((texts("//a///b/") == Texts{"a", "b"}));
  CHECK(texts("").empty());
  CHECK(texts(nullptr).empty());
  CHECK(texts("///").empty());
}

TEST("scope path: keys and what follows them are told apart") {
  auto nodes = parse_scope_path("process[42] python train.py/gpu[0]/thread[7]");
  CHECK_EQ(nodes.size(), 3u);
  CHECK_EQ(nodes[0].name, "process");
  CHECK_EQ(nodes[0].key, "42");
  CHECK_EQ(nodes[0].rest, "python train.py");
  CHECK_EQ(nodes[1].text(), "gpu[0]");
  CHECK_EQ(nodes[2].key, "7");
}

TEST("scope path: escapes take slashes, brackets and themselves as they are") {
  auto nodes = parse_scope_path("a\\/b\\[0\\]\\\\/c[k\\]ey]");
  CHECK_EQ(nodes.size(), 2u);
  CHECK_EQ(nodes[0].name, "a/b[0]\\");
  CHECK(!nodes[0].keyed);
  CHECK_EQ(nodes[1].key, "k]ey");
  CHECK((texts("end\\") == Texts{"end\\"}));
}

TEST("scope path: a bracket that never closes is a key to the end of its node") {
  auto nodes = parse_scope_path("a[b/c");
  CHECK_EQ(nodes.size(), 2u);
  CHECK_EQ(nodes[0].key, "b");
  CHECK_EQ(nodes[1].name, "c");
}

TEST("scope path: ids are decimal numbers within bounds") {
  auto key = [](const char* path) { return numeric_key(parse_scope_path(path)[0], 2147483647); };
  CHECK_EQ(key("process[1]"), 1);
  CHECK_EQ(key("process[2147483647]"), 2147483647);
  for (const char* none :
       {"process[0]", "process[2147483648]", "process[-1]", "process[ 1]", "process[1x]",
        "process[]", "process", "process[0x10]", "process[99999999999999999999999]"}) {
    CHECK_EQ(key(none), 0);
  }
}
