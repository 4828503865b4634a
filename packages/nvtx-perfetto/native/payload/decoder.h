// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "payload/schema.h"
#include "perfetto/annotations.h"

namespace nvtx_perfetto {

// Resolves the handles of registered strings.
class StringLookup {
 public:
  virtual ~StringLookup() = default;
  // Null for a handle that is not of this domain.
  virtual const std::string* find_string(uint64_t handle) const = 0;
};

// Writes the entries of a row that are arguments. Which flow fields are arguments too
// (because their edge could not be drawn) is for the caller to say.
class PayloadDecoder {
 public:
  static constexpr size_t kMaxElements = 64;

  PayloadDecoder(AnnotationWriter& out, const StringLookup& strings)
      : out_(out), strings_(strings) {}

  // The row as one argument: a scalar for wrappers, else a group.
  void write(const std::string* name, const Row& row, bool flows_too);
  // The row's entries, into a group that is open already.
  void write_entries(const Row& row, bool flows_too);

  // The row's message entry, as an argument.
  void write_message(const std::string* name, const Row& row);

  uint64_t repaired_texts() const { return repaired_ + out_.repaired_texts(); }
  uint64_t bad_handles() const { return bad_handles_; }

 private:
  void write_entry(const std::string* name, const Row& row, const RowLayout& layout, int index);
  void write_nested(const std::string* name, const SchemaEntry& entry, const Row& inner);
  void write_union(const std::string* name, const Row& row, const RowLayout& layout, int index);
  void write_array(const std::string* name, const SchemaEntry& entry, const uint8_t* at,
                   size_t count);
  void write_value(const std::string* name, const SchemaEntry& entry, const uint8_t* at);
  void write_bytes(const std::string* name, const uint8_t* at, size_t count);

  AnnotationWriter& out_;
  const StringLookup& strings_;
  uint64_t repaired_ = 0;
  uint64_t bad_handles_ = 0;
};

// The text of code units at `at`, `count` of them at most, up to the first zero.
std::string decode_text(const TypeInfo& type, const uint8_t* at, size_t count, bool& repaired);

}  // namespace nvtx_perfetto
