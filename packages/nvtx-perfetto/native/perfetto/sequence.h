// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "io/flat_map.h"
#include "perfetto/packet_buffer.h"

namespace nvtx_perfetto {

enum class EventType : uint8_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };

// The packets of one track. One sequence a track keeps packets small: the track is a
// default, timestamps are differences on a clock of the sequence's own, and texts are
// interned. Times must not decrease; where they do, the sequence goes on under
// a new id (the engine refuses a clock that is set back).
class PacketSequence {
 public:
  PacketSequence(PacketBuffer& out, uint64_t track, uint32_t clock)
      : out_(out), track_(track), clock_(clock) {}
  PacketSequence(const PacketSequence&) = delete;
  PacketSequence& operator=(const PacketSequence&) = delete;

  // Interned ids, below, are good for one packet, from prepare() or open() on.
  void prepare(int64_t time) {
    if (id_ == 0 || time < last_) {
      start(time);
    } else if (next_iid_ > kMaxInterned || interned_bytes_ > kMaxInternedBytes) {
      clear_state();
    }
  }
  // A slice begin or an instant with nothing but categories and a name; ids of 0 are
  // left out. prepare() comes first.
  void plain_event(EventType type, int64_t time, uint32_t domain, uint32_t category, uint32_t name);

  // Any slice begin or instant: open, add, close.
  void open(EventType type, int64_t time);
  // The same after prepare(): ids from between the two stay good.
  void open_prepared(EventType type, int64_t time);
  void add_category(uint32_t iid);
  void add_name(uint32_t iid);
  void add_flow(uint64_t id);
  void close();
  // Takes the open packet back, if any; the sequence then starts anew.
  void abandon();

  void end_slice(int64_t time);
  void counter(int64_t time, int64_t value);
  void counter(int64_t time, uint64_t value);
  void counter(int64_t time, double value);
  // Samples at times that do not decrease; `values` are `stride` bytes apart.
  template <typename T>
  void counters(const int64_t* times, size_t count, const uint8_t* values, size_t stride);

  // Interned ids; good in the open packet only. The keyed forms remember a text by a key that
  // is its own for the life of the sequence, and ask for the text once.
  template <typename Text>
  uint32_t name(uint64_t key, const Text& text) {
    uint32_t iid = names_.find(key);
    return iid ? iid : intern(kNames, names_, key, text());
  }
  // As `name`, with a lookup that may find nothing (null); then 0.
  template <typename Lookup>
  uint32_t name_if(uint64_t key, const Lookup& lookup) {
    uint32_t iid = names_.find(key);
    if (iid) return iid;
    const std::string* text = lookup();
    return text ? intern(kNames, names_, key, *text) : 0;
  }
  template <typename Text>
  uint32_t category(uint64_t key, const Text& text) {
    uint32_t iid = categories_.find(key);
    return iid ? iid : intern(kCategories, categories_, key, text());
  }
  template <typename Text>
  uint32_t string_value(uint64_t key, const Text& text) {
    uint32_t iid = string_values_.find(key);
    return iid ? iid : intern(kStringValues, string_values_, key, text());
  }
  uint32_t annotation_name(const std::string& lasting) {
    uint64_t key = reinterpret_cast<uintptr_t>(&lasting);
    uint32_t iid = annotation_names_.find(key);
    return iid ? iid : intern(kAnnotationNames, annotation_names_, key, lasting);
  }
  uint32_t name_of_text(std::string_view text);

  ByteBuffer& bytes() { return out_.bytes(); }
  bool open_for_events() const { return out_.open_for_events(); }
  uint64_t repaired_texts() const { return repaired_texts_; }

 private:
  // What one sequence interns before it starts afresh.
  static constexpr uint32_t kMaxInterned = 8192;
  static constexpr size_t kMaxInternedBytes = 1 << 20;

  enum Table : uint8_t { kNames, kCategories, kAnnotationNames, kStringValues };

  uint32_t intern(Table table, FlatMap& map, uint64_t key, std::string_view text);
  uint32_t add_interned(Table table, std::string_view text);
  void start(int64_t time);
  void clear_state();
  template <typename T>
  void one_counter(int64_t time, T value);
  uint8_t* put_header(uint8_t* at, int64_t time);

  PacketBuffer& out_;
  const uint64_t track_;
  const uint32_t clock_;
  int64_t last_ = 0;
  uint32_t id_ = 0;
  uint32_t next_iid_ = 1;
  size_t interned_bytes_ = 0;
  size_t packet_ = 0;  // where the open packet's body starts; 0: none is open
  size_t event_ = 0;
  uint64_t repaired_texts_ = 0;
  FlatMap names_;
  FlatMap categories_;
  FlatMap annotation_names_;
  FlatMap string_values_;
  std::unordered_map<std::string, uint32_t> texts_;
  ByteBuffer interned_;  // InternedData fields for the open packet
};

}  // namespace nvtx_perfetto
