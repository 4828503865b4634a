// SPDX-License-Identifier: Apache-2.0
#include "model/domain.h"

#include "check.h"
#include "schemas.h"

using namespace nvtx_perfetto;

namespace {

std::unique_ptr<Schema> schema() {
  schemas::Types types;
  return std::move(types.build({schemas::entry(NVTX_PAYLOAD_ENTRY_TYPE_INT8, "a")}).schema);
}

}  // namespace

TEST("domain: ids of one domain mean nothing in another") {
  Domain one("one");
  Domain two("two");
  std::string problem;
  uint64_t string = one.add_string("text");
  uint64_t id = one.add_schema(schema(), 0, problem);
  uint64_t scope = one.add_scope("a/b", 0, 0, problem);
  uint64_t counter = one.add_counter({}, 0, problem);
  CHECK_EQ(*one.find_string(string), "text");
  CHECK(one.find_schema(id) && one.find_scope(scope) && one.find_counter(counter));
  CHECK(!two.find_string(string) && !two.find_schema(id) && !two.find_scope(scope) &&
        !two.find_counter(counter));
  CHECK(!one.find_string(0) && !one.find_schema(UINT64_MAX) && !one.find_counter(0));
}

TEST("domain: one text has one handle, whatever its length") {
  Domain domain("d");
  std::string large(100'000, 'x');
  CHECK_EQ(domain.add_string(large), domain.add_string(large));
  CHECK(domain.add_string("") != domain.add_string(large));
  CHECK_EQ(*domain.find_string(domain.add_string(large)), large);
}

TEST("domain: static ids are the caller's within their bounds, and given once") {
  Domain domain("d");
  std::string problem;
  CHECK_EQ(domain.add_schema(schema(), kFirstStaticId, problem), kFirstStaticId);
  CHECK(domain.find_schema(kFirstStaticId) != nullptr);
  CHECK_EQ(domain.add_schema(schema(), kFirstStaticId, problem), 0u);
  CHECK(!problem.empty());
  CHECK_EQ(domain.add_schema(schema(), kFirstStaticId - 1, problem), 0u);
  CHECK_EQ(domain.add_schema(schema(), kFirstDynamicId, problem), 0u);
  CHECK(domain.add_schema(schema(), kFirstDynamicId - 1, problem) != 0);
}

TEST("domain: schemas and enums share their ids") {
  Domain domain("d");
  std::string problem;
  domain.add_schema(schema(), kFirstStaticId, problem);
  CHECK_EQ(domain.add_enum(std::make_unique<EnumType>(), kFirstStaticId, problem), 0u);
  domain.add_enum(std::make_unique<EnumType>(), kFirstStaticId + 1, problem);
  CHECK_EQ(domain.add_schema(schema(), kFirstStaticId + 1, problem), 0u);
  uint64_t type = domain.add_enum(std::make_unique<EnumType>(), 0, problem);
  uint64_t layout = domain.add_schema(schema(), 0, problem);
  CHECK(type != layout);
  CHECK(domain.find_enum(type) && !domain.find_schema(type));
  CHECK(domain.find_schema(layout) && !domain.find_enum(layout));
}

TEST("domain: names as the engine can show them") {
  Domain domain("a,b");
  CHECK_EQ(domain.name(), "a,b");
  CHECK_EQ(domain.shown_name(), "a;b");
  CHECK_EQ(Domain("").shown_name(), "NVTX");
  domain.name_category(3, "x,y");
  CHECK_EQ(domain.category_name(3), "x;y");
  CHECK_EQ(domain.category_name(4), "category 4");
  domain.name_category(3, "");
  CHECK_EQ(domain.category_name(3), "category 3");
}

TEST("domain: scopes stand below their parents, predefined ones at the root") {
  Domain domain("d");
  std::string problem;
  uint64_t parent = domain.add_scope("a", 1, 0, problem);
  uint64_t child = domain.add_scope("b/c", parent, 0, problem);
  CHECK_EQ(domain.find_scope(child)->path.size(), 3u);
  CHECK(domain.find_scope(0)->root && domain.find_scope(1)->root);
  CHECK(domain.find_scope(domain.add_scope(nullptr, 0, 0, problem))->root);
  CHECK_EQ(domain.add_scope("x", child + 100, 0, problem), 0u);
}

TEST("domain: packed rows find schemas by number, also those with ids of their caller's") {
  Domain domain("d");
  std::string problem;
  const Schema* given = domain.find_schema(domain.add_schema(schema(), 0, problem));
  const Schema* chosen = domain.find_schema(domain.add_schema(schema(), kFirstStaticId, problem));
  CHECK_EQ(domain.add_schema(schema(), kFirstStaticId, problem), 0u);
  const Schema* last = domain.find_schema(domain.add_schema(schema(), 0, problem));
  const Schema* text = domain.find_schema(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING);
  CHECK_EQ(last->number, given->number + 2);
  for (const Schema* one : {given, chosen, last, text}) {
    CHECK(domain.numbered_schema(one->number) == one);
  }
  CHECK(!domain.numbered_schema(0) && !domain.numbered_schema(last->number + 1));
}
