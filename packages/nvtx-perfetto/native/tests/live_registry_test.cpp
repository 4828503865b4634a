// SPDX-License-Identifier: Apache-2.0
#include "live/registry.h"

#include <set>

#include "live_recording.h"

using namespace recording;
using live::Registry;

namespace {

Registry::Lookup look_up(const Registry& registry, uint64_t handle) {
  uint32_t index;
  return registry.find_domain(handle, index);
}

}  // namespace

TEST("live registry: a domain is good until its last user destroys it, and then a new one") {
  Registry registry{{}};
  uint64_t first = registry.create_domain("shared");
  CHECK_EQ(registry.create_domain("shared"), first);
  registry.destroy_domain(first);
  CHECK_EQ(look_up(registry, first), Registry::Lookup::kGood);
  registry.destroy_domain(first);
  CHECK_EQ(look_up(registry, first), Registry::Lookup::kBad);
  uint64_t second = registry.create_domain("shared");
  CHECK(second != first);
  CHECK_EQ(look_up(registry, first), Registry::Lookup::kBad);
  CHECK_EQ(look_up(registry, second), Registry::Lookup::kGood);
}

TEST("live registry: named domains alone are recorded, the default one by either of its names") {
  for (const char* name : {"NVTX", "default"}) {
    Registry only{{{name, "own"}, {}}};
    CHECK_EQ(look_up(only, 0), Registry::Lookup::kGood);
    CHECK_EQ(look_up(only, only.create_domain("own")), Registry::Lookup::kGood);
    CHECK_EQ(look_up(only, only.create_domain("other")), Registry::Lookup::kDisabled);
    Registry without{{{}, {name}}};
    CHECK_EQ(look_up(without, 0), Registry::Lookup::kDisabled);
    CHECK_EQ(look_up(without, without.create_domain("own")), Registry::Lookup::kGood);
  }
  Registry both{{{"own"}, {"own"}}};
  CHECK_EQ(look_up(both, both.create_domain("own")), Registry::Lookup::kDisabled);
}

TEST("live registry: domains beyond the last place are ignored and counted") {
  Recording recording;
  std::set<uint64_t> good;
  constexpr uint32_t kMany = live::kMaxDomains + 50;
  for (uint32_t i = 0; i < kMany; ++i) {
    uint64_t handle = recording.registry.create_domain("domain " + std::to_string(i));
    if (look_up(recording.registry, handle) == Registry::Lookup::kGood) good.insert(handle);
  }
  // The first place is the default domain's, the last all others'.
  constexpr uint32_t kPlaces = live::kMaxDomains - 2;
  CHECK_EQ(good.size(), size_t{kPlaces});
  CHECK_EQ(summary(recording.finish(), "refused_definitions"), std::to_string(kMany - kPlaces));
}

TEST("live registry: all that a session has no room for is counted") {
  Registry registry{{}};
  std::string text(60'000, 'x');
  constexpr uint64_t kStrings = 50;
  for (uint64_t i = 0; i < kStrings; ++i) registry.register_string(0, text + std::to_string(i));
  live::LiveFile file;
  CHECK_EQ(file.create(check::folder() + "/x.live", 16), "");
  live::ChunkPool pool(file);
  live::DefinitionWriter writer(file, pool);
  registry.mirror_to(&writer);
  uint64_t strings = 0;
  live::DefinitionReader(file).read(
      [&](const live::DefinitionHead&, std::string_view) { ++strings; });
  CHECK(strings > 0);
  auto kind = static_cast<size_t>(live::Tally::kRefused);
  CHECK_EQ(file.header().tallies[kind].load(), kStrings - strings);
}

TEST("live registry: definitions have a limit, and a session tells what was refused before it") {
  Registry registry{{}};
  std::string text(60'000, 'x');
  uint64_t refused = 0;
  constexpr uint64_t kLimit = 64 << 20;
  for (int i = 0; i < 1200; ++i) {
    uint64_t handle = registry.register_string(0, text + std::to_string(i));
    CHECK_EQ(handle == 0, refused > 0 || i >= static_cast<int>(kLimit / (text.size() + 25)));
    refused += handle == 0;
  }
  CHECK(refused > 0);
  live::LiveFile file;
  CHECK_EQ(file.create(check::folder() + "/x.live", 1024), "");
  live::ChunkPool pool(file);
  live::DefinitionWriter writer(file, pool);
  registry.mirror_to(&writer);
  auto kind = static_cast<size_t>(live::Tally::kRefused);
  CHECK_EQ(file.header().tallies[kind].load(), refused);
  CHECK_EQ(registry.register_string(0, text), uint64_t{0});
  CHECK_EQ(file.header().tallies[kind].load(), refused + 1);
  uint64_t strings = 0;
  live::DefinitionReader(file).read([&](const live::DefinitionHead&, std::string_view body) {
    strings += body.size() >= text.size();
  });
  CHECK_EQ(strings, 1200 - refused);
}
