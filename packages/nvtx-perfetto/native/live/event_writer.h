// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "live/catalog.h"
#include "live/record.h"
#include "perfetto/sequence.h"

namespace nvtx_perfetto::live {

// Turns one record into the packet of a slice's begin, its end, or an instant.
class EventWriter {
 public:
  explicit EventWriter(const Catalog& catalog) : catalog_(catalog) {}

  void begin(PacketSequence& out, EventType type, int64_t time, const RecordView& record);
  // An end that says more than that the slice ends.
  void end(PacketSequence& out, int64_t time, const RecordView& record);

  uint64_t repaired_texts() const { return repaired_texts_; }
  uint64_t bad_handles() const { return bad_handles_; }

 private:
  static constexpr uint32_t kMaxRows = 16;
  struct Rows {
    Row row[kMaxRows];
    uint32_t count = 0;
    uint32_t shown = 0;
  };
  struct Attributes {
    uint32_t category = 0;
    uint32_t color = 0;
    const Row* message = nullptr;
  };

  void read_rows(const RecordView& record, Rows& rows);
  void read_attributes(const RecordView& record, const Rows& rows, Attributes& out);
  void add_categories(PacketSequence& out, uint32_t domain, uint32_t category);
  void add_name(PacketSequence& out, const RecordView& record, const Attributes& attributes);
  void add_row_name(PacketSequence& out, const Row& row);
  void add_arguments(PacketSequence& out, const RecordView& record, const Rows& rows,
                     const Attributes& attributes);
  void add_value(class AnnotationWriter& writer, const ValueExtra& value);
  void add_payloads(class AnnotationWriter& writer, const Rows& rows);

  const Catalog& catalog_;
  uint64_t repaired_texts_ = 0;
  uint64_t bad_handles_ = 0;
};

}  // namespace nvtx_perfetto::live
