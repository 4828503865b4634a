// SPDX-License-Identifier: Apache-2.0
#include "model/event_emitter.h"

#include "perfetto/annotations.h"
#include "perfetto/text.h"

namespace nvtx_perfetto {
namespace {

const std::string kPayloadName = "payload";
const std::string kColorName = "nvtx_color";
const std::string kMessageName = "message";

// What the nvtx package puts on every event that names no colour.
constexpr uint32_t kDefaultColor = 0x000000FF;

uint32_t load_attribute(const Row& row, int entry) {
  if (entry < 0) return 0;
  const uint8_t* at = RowLayout(row).at(entry);
  if (!at) return 0;
  return static_cast<uint32_t>(
      load_integer(row.schema->entries[static_cast<size_t>(entry)].value, at));
}

bool shows_payload(const Row* rows, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (rows[i].schema->plan.shown > 0) return true;
  }
  return false;
}

// A text with no copy where the bytes can stand as they are.
std::string_view message_text(const SchemaEntry& entry, const uint8_t* at, size_t count,
                              std::string& room, bool& repaired) {
  if (entry.value.size == 1) {
    const auto* text = reinterpret_cast<const char*>(at);
    return {text, strnlen(text, count)};
  }
  room = decode_text(entry.value, at, count, repaired);
  return room;
}

}  // namespace

void EventEmitter::collect(const Row* rows, uint32_t count, Attributes& out) const {
  for (uint32_t i = 0; i < count; ++i) {
    const EventPlan& plan = rows[i].schema->plan;
    if (plan.message >= 0) out.message = &rows[i];
    if (plan.color >= 0) out.color = load_attribute(rows[i], plan.color);
    if (plan.category >= 0) out.category = load_attribute(rows[i], plan.category);
  }
}

void EventEmitter::add_name(PacketSequence& out, const Row& row) const {
  int index = row.schema->plan.message;
  const SchemaEntry& entry = row.schema->entries[static_cast<size_t>(index)];
  RowLayout layout(row);
  const uint8_t* at = layout.at(index);
  if (!at) return;
  if (entry.value.kind == ValueKind::kStringHandle) {
    auto handle = static_cast<uint64_t>(load_integer(entry.value, at));
    if (handle == 0) return;
    const std::string* text = nullptr;
    uint32_t iid = out.name_if(handle, [&]() -> const std::string* {
      return text = domain_.find_string(handle);
    });
    if (iid == 0) {
      summary_.add(Count::kBadIds);
      return;
    }
    out.add_name(iid);
    return;
  }
  std::string room;
  bool repaired = false;
  std::string_view text = message_text(entry, at, layout.count(index), room, repaired);
  if (repaired) summary_.add(Count::kRepairedTexts);
  out.add_name(out.name_of_text(text));
}

bool EventEmitter::add_flows(PacketSequence& out, const Event& event) const {
  return flows_.each_edge(event.rows, event.row_count, event.first_flow,
                          [&](uint64_t edge) { out.add_flow(edge); });
}

void EventEmitter::emit(PacketSequence& out, const Event& event) const {
  out.open(event.shape == Shape::kInstant ? EventType::kInstant : EventType::kSliceBegin,
           event.begin);
  try {
    Attributes attributes;
    collect(event.rows, event.row_count, attributes);
    const Row* pop_message = nullptr;
    if (event.pop_row_count > 0) {
      Attributes pop;
      collect(event.pop_rows, event.pop_row_count, pop);
      if (pop.color != 0) attributes.color = pop.color;
      if (pop.category != 0) attributes.category = pop.category;
      pop_message = pop.message;
    }
    out.add_category(out.category(domain_.category_key(0), [&]() -> std::string_view {
      return domain_.shown_name();
    }));
    if (attributes.category != 0) {
      std::string name;
      out.add_category(out.category(domain_.category_key(attributes.category),
                                    [&]() -> std::string_view {
                                      name = domain_.category_name(attributes.category);
                                      return name;
                                    }));
    }
    if (attributes.message) add_name(out, *attributes.message);
    bool flows_too = event.has_flows && !add_flows(out, event);
    add_arguments(out, event, attributes, pop_message, flows_too);
  } catch (...) {
    out.abandon();
    throw;
  }
  out.close();
  summary_.add(Count::kEvents);
}

void EventEmitter::add_arguments(PacketSequence& out, const Event& event,
                                 const Attributes& attributes, const Row* pop_message,
                                 bool flows_too) const {
  const Row* rows = event.rows;
  uint32_t count = event.row_count;
  // What a pop brings along stands for what the push said.
  if (shows_payload(event.pop_rows, event.pop_row_count)) {
    rows = event.pop_rows;
    count = event.pop_row_count;
  }
  bool payload = flows_too || shows_payload(rows, count);
  bool color = attributes.color != 0 && attributes.color != kDefaultColor;
  if (!payload && !color && !pop_message) return;
  AnnotationWriter writer(out);
  if (color) {
    std::string text = color_text(attributes.color);
    writer.add_interned(&kColorName, attributes.color, text);
  }
  PayloadDecoder decoder(writer, domain_);
  if (pop_message) decoder.write_message(&kMessageName, *pop_message);
  if (payload) add_payload(decoder, writer, rows, count, flows_too);
  if (decoder.repaired_texts()) summary_.add(Count::kRepairedTexts, decoder.repaired_texts());
  if (decoder.bad_handles()) summary_.add(Count::kBadIds, decoder.bad_handles());
}

void EventEmitter::add_payload(PayloadDecoder& decoder, AnnotationWriter& writer, const Row* rows,
                               uint32_t count, bool flows_too) const {
  const Row* only = nullptr;
  uint32_t shown = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const EventPlan& plan = rows[i].schema->plan;
    if (plan.shown > 0 || (flows_too && plan.has_flows())) only = &rows[i], ++shown;
  }
  if (shown == 1) {
    decoder.write(&kPayloadName, *only, flows_too);
    return;
  }
  // Several payloads are one group; scalars among them go by their place.
  static const std::string kPlaces[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8"};
  constexpr uint32_t kLastPlace = 8;
  writer.open_dict(&kPayloadName);
  for (uint32_t i = 0; i < count; ++i) {
    if (rows[i].schema->plan.shown == 0) continue;
    decoder.write(&kPlaces[i < kLastPlace ? i : kLastPlace], rows[i], flows_too);
  }
  writer.close_nested();
}

}  // namespace nvtx_perfetto
