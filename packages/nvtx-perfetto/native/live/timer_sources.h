// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace nvtx_perfetto::live {

// The program's functions that read its own clocks. They are called in threads that submit
// something in their domain, never from the writer thread, and again only if what they lie in
// is sure to stay loaded. Lock-free, so that a fork finds it whole.
class TimerSources {
 public:
  struct Source {
    uint32_t domain;
    uint64_t time_domain;
    int64_t (*plain)();
    int64_t (*with_data)(void*);
    void* data;
    int64_t read() const { return plain ? plain() : with_data(data); }
  };

  // False when it cannot be called later: there are too many, or its code may go away.
  bool add(const Source& source);

  // Visits the sources of a domain that have not been visited for a while in this recording.
  template <typename Visit>
  void each_due(uint32_t domain, const void* recording, int64_t now, const Visit& visit);

 private:
  static constexpr uint32_t kMost = 64;
  static constexpr int64_t kInterval = 10'000'000;  // ns between two readings
  struct Slot {
    std::atomic<bool> ready{false};
    std::atomic<const void*> recording{nullptr};
    std::atomic<int64_t> last{0};
    Source source;
  };

  std::atomic<uint32_t> count_{0};
  Slot slots_[kMost];
};

template <typename Visit>
void TimerSources::each_due(uint32_t domain, const void* recording, int64_t now,
                            const Visit& visit) {
  uint32_t count = count_.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count && i < kMost; ++i) {
    Slot& slot = slots_[i];
    if (!slot.ready.load(std::memory_order_acquire) || slot.source.domain != domain) continue;
    bool seen = slot.recording.exchange(recording, std::memory_order_relaxed) == recording;
    int64_t last = slot.last.load(std::memory_order_relaxed);
    if (seen && now - last < kInterval) continue;
    // Whoever moves the time does the reading.
    if (slot.last.compare_exchange_strong(last, now, std::memory_order_relaxed)) visit(slot.source);
  }
}

}  // namespace nvtx_perfetto::live
