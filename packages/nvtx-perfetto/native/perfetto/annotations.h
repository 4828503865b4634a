// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "perfetto/sequence.h"

namespace nvtx_perfetto {

// Writes arguments (DebugAnnotation messages) into a sequence's open packet. A name is
// null for the elements of an array; otherwise the string must outlive the sequence,
// since its address is what it is interned by.
class AnnotationWriter {
 public:
  explicit AnnotationWriter(PacketSequence& sequence) : sequence_(sequence) {}

  void open_dict(const std::string* name) { open_nested(name, kDictEntry); }
  void open_array(const std::string* name) { open_nested(name, kArrayValue); }
  void close_nested();

  void add(const std::string* name, int64_t value);
  // Beyond int64 the engine reads a wrong sign, so larger values become decimal text.
  void add(const std::string* name, uint64_t value);
  void add(const std::string* name, double value);
  void add(const std::string* name, std::string_view text);
  void add_pointer(const std::string* name, uint64_t address);
  // A text that recurs, known by a key of its own.
  void add_interned(const std::string* name, uint64_t key, const std::string& text);

  uint64_t repaired_texts() const { return repaired_texts_; }

 private:
  enum Level : uint8_t { kTop, kDictEntry, kArrayValue };
  static constexpr int kMaxDepth = 64;

  size_t open(const std::string* name);
  void open_nested(const std::string* name, Level inside);

  PacketSequence& sequence_;
  uint64_t repaired_texts_ = 0;
  int depth_ = 0;
  Level levels_[kMaxDepth + 1] = {kTop};
  size_t bodies_[kMaxDepth + 1] = {};
};

}  // namespace nvtx_perfetto
