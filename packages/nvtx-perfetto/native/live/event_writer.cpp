// SPDX-License-Identifier: Apache-2.0
#include "live/event_writer.h"

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <cstring>
#include <cwchar>
#include <stdexcept>

#include "perfetto/annotations.h"
#include "perfetto/text.h"

namespace nvtx_perfetto::live {
namespace {

const std::string kPayloadName = "payload";
const std::string kColorName = "nvtx_color";

// What the nvtx package puts on every event that names no colour.
constexpr uint32_t kDefaultColor = 0x000000FF;

uint64_t category_key(uint32_t domain, uint32_t category) {
  return (uint64_t{domain} + 1) << 32 | category;
}

uint32_t load_attribute(const Row& row, int entry) {
  const uint8_t* at = RowLayout(row).at(entry);
  if (!at) return 0;
  return static_cast<uint32_t>(
      load_integer(row.schema->entries[static_cast<size_t>(entry)].value, at));
}

}  // namespace

void EventWriter::begin(PacketSequence& out, EventType type, int64_t time,
                        const RecordView& record) {
  Rows rows;
  Attributes attributes;
  read_rows(record, rows);
  read_attributes(record, rows, attributes);
  out.open(type, time);
  try {
    add_categories(out, record.head->domain, attributes.category);
    add_name(out, record, attributes);
    add_arguments(out, record, rows, attributes);
  } catch (const std::length_error&) {  // a payload nested too deeply to be written
    out.abandon();
    ++bad_handles_;
    out.open(type, time);
    add_categories(out, record.head->domain, attributes.category);
    add_name(out, record, attributes);
  }
  out.close();
}

void EventWriter::end(PacketSequence& out, int64_t time, const RecordView& record) {
  Rows rows;
  Attributes attributes;
  read_rows(record, rows);
  read_attributes(record, rows, attributes);
  out.open(EventType::kSliceEnd, time);
  try {
    add_arguments(out, record, rows, attributes);
  } catch (const std::length_error&) {
    out.abandon();
    ++bad_handles_;
    return out.end_slice(time);
  }
  out.close();
}

void EventWriter::read_rows(const RecordView& record, Rows& rows) {
  if (!record.bytes) return;
  const LiveDomain& domain = catalog_.domain(record.head->domain);
  const uint8_t* at = record.data();
  const uint8_t* end = at + record.bytes->size;
  while (rows.count < kMaxRows && static_cast<size_t>(end - at) >= sizeof(PayloadHead)) {
    PayloadHead head;
    std::memcpy(&head, at, sizeof(head));
    at += sizeof(head);
    if (head.size > static_cast<size_t>(end - at)) return;
    const Schema* schema = domain.find_schema(head.schema);
    // What is empty is not there; what has no schema cannot be read.
    if (head.size > 0) {
      if (schema) {
        rows.row[rows.count++] = {schema, at, static_cast<size_t>(head.size)};
        rows.shown += schema->plan.shown > 0;
      } else {
        ++bad_handles_;
      }
    }
    at += std::min(padded8(head.size), static_cast<size_t>(end - at));
  }
}

void EventWriter::read_attributes(const RecordView& record, const Rows& rows, Attributes& out) {
  for (uint32_t i = 0; i < rows.count; ++i) {
    const EventPlan& plan = rows.row[i].schema->plan;
    if (plan.message >= 0) out.message = &rows.row[i];
    if (plan.color >= 0) out.color = load_attribute(rows.row[i], plan.color);
    if (plan.category >= 0) out.category = load_attribute(rows.row[i], plan.category);
  }
  if (!record.attributes) return;
  if (record.attributes->category != 0) out.category = record.attributes->category;
  if (record.attributes->color != 0) out.color = record.attributes->color;
}

void EventWriter::add_categories(PacketSequence& out, uint32_t domain, uint32_t category) {
  const LiveDomain& found = catalog_.domain(domain);
  out.add_category(out.category(category_key(domain, 0),
                                [&]() -> std::string_view { return found.shown_name; }));
  if (category == 0) return;
  std::string name;
  out.add_category(out.category(category_key(domain, category), [&]() -> std::string_view {
    name = found.category_name(category);
    return name;
  }));
}

void EventWriter::add_name(PacketSequence& out, const RecordView& record,
                           const Attributes& attributes) {
  uint8_t flags = record.head->flags;
  if (flags & kRegistered) {
    const std::string* text = catalog_.string(record.head->text);
    if (text) {
      out.add_name(out.name(record.head->text, [&]() -> std::string_view { return *text; }));
    }
  } else if (flags & kInlineText) {
    out.add_name(out.name_of_text({record.text, record.head->text}));
  } else if (flags & kWideText) {
    bool repaired = false;
    std::string text = from_utf32(record.text, record.head->text / sizeof(wchar_t), repaired);
    repaired_texts_ += repaired;
    out.add_name(out.name_of_text(text));
  } else if (attributes.message) {
    add_row_name(out, *attributes.message);
  }
}

void EventWriter::add_row_name(PacketSequence& out, const Row& row) {
  int index = row.schema->plan.message;
  const SchemaEntry& entry = row.schema->entries[static_cast<size_t>(index)];
  RowLayout layout(row);
  const uint8_t* at = layout.at(index);
  if (!at) return;
  if (entry.value.kind == ValueKind::kStringHandle) {
    auto handle = static_cast<uint64_t>(load_integer(entry.value, at));
    const std::string* text = catalog_.find_string(handle);
    if (text) {
      out.add_name(out.name_of_text(*text));
    } else if (handle != 0) {
      ++bad_handles_;
    }
    return;
  }
  bool repaired = false;
  out.add_name(out.name_of_text(decode_text(entry.value, at, layout.count(index), repaired)));
  repaired_texts_ += repaired;
}

void EventWriter::add_arguments(PacketSequence& out, const RecordView& record, const Rows& rows,
                                const Attributes& attributes) {
  bool color = attributes.color != 0 && attributes.color != kDefaultColor;
  if (!color && !record.value && rows.shown == 0) return;
  AnnotationWriter writer(out);
  if (color) writer.add_interned(&kColorName, attributes.color, color_text(attributes.color));
  if (record.value) add_value(writer, *record.value);
  if (rows.shown > 0) add_payloads(writer, rows);
  repaired_texts_ += writer.repaired_texts();
}

void EventWriter::add_value(AnnotationWriter& writer, const ValueExtra& value) {
  double number;
  float single;
  switch (value.type) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64: return writer.add(&kPayloadName, value.bits);
    case NVTX_PAYLOAD_TYPE_INT64:
      return writer.add(&kPayloadName, static_cast<int64_t>(value.bits));
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      std::memcpy(&number, &value.bits, sizeof(number));
      return writer.add(&kPayloadName, number);
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      return writer.add(&kPayloadName, uint64_t{static_cast<uint32_t>(value.bits)});
    case NVTX_PAYLOAD_TYPE_INT32:
      return writer.add(&kPayloadName, int64_t{static_cast<int32_t>(value.bits)});
    case NVTX_PAYLOAD_TYPE_FLOAT:
      std::memcpy(&single, &value.bits, sizeof(single));
      return writer.add(&kPayloadName, double{single});
    default: ++bad_handles_;  // a kind of payload that NVTX does not have
  }
}

void EventWriter::add_payloads(AnnotationWriter& writer, const Rows& rows) {
  PayloadDecoder decoder(writer, catalog_);
  // Several payloads are one group; scalars among them go by their place.
  static const std::string kPlaces[] = {"0", "1", "2",  "3",  "4",  "5",  "6",  "7",
                                        "8", "9", "10", "11", "12", "13", "14", "15"};
  if (rows.shown > 1) writer.open_dict(&kPayloadName);
  for (uint32_t i = 0; i < rows.count; ++i) {
    if (rows.row[i].schema->plan.shown == 0) continue;
    decoder.write(rows.shown > 1 ? &kPlaces[i] : &kPayloadName, rows.row[i], true);
  }
  if (rows.shown > 1) writer.close_nested();
  repaired_texts_ += decoder.repaired_texts() - writer.repaired_texts();
  bad_handles_ += decoder.bad_handles();
}

}  // namespace nvtx_perfetto::live
