// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "perfetto/tracks.h"

namespace nvtx_perfetto::live {

// Track ids follow from what the track is and the process image's random seed, so that whoever
// goes on draining after a death goes on with the same tracks.
class TrackUuids {
 public:
  explicit TrackUuids(uint64_t seed) : seed_(seed) {}

  uint64_t process() const { return mix(1, 0, 0); }
  uint64_t thread(uint64_t serial) const { return mix(2, serial, 0); }
  uint64_t thread_domain(uint64_t serial, uint32_t domain) const {
    return domain == 0 ? thread(serial) : mix(3, serial, domain);
  }
  uint64_t lane(uint32_t slot, uint32_t domain) const { return mix(4, slot, domain); }
  uint64_t counter(uint32_t state) const { return mix(5, state, 0); }
  uint64_t scope(std::string_view path) const {
    uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a
    for (char c : path) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
    return mix(6, hash, 0);
  }
  uint64_t summary() const { return mix(7, 0, 0); }
  uint64_t other_process(uint64_t pid) const { return mix(8, pid, 0); }
  uint64_t other_thread(uint64_t pid, uint64_t tid) const { return mix(9, pid, tid); }
  // Where the ids of deferred events' lanes begin.
  uint64_t deferred_seed() const { return mix(10, 0, 0); }

 private:
  uint64_t mix(uint64_t kind, uint64_t a, uint64_t b) const {
    uint64_t state = TrackIds(seed_ + kind).next();
    state = TrackIds(state + a).next();
    return TrackIds(state + b).next();
  }
  const uint64_t seed_;
};

}  // namespace nvtx_perfetto::live
