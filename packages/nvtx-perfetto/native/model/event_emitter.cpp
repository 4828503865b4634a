// SPDX-License-Identifier: Apache-2.0
#include "model/event_emitter.h"

#include <algorithm>

#include "model/packed_event.h"
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

bool has_arguments(const Row& row, bool flows_too) {
  const EventPlan& plan = row.schema->plan;
  return plan.shown > 0 || (flows_too && !(plan.flows_out.empty() && plan.flows_in.empty()));
}

bool shows_payload(const Row* rows, uint32_t count, bool flows_too) {
  return std::any_of(rows, rows + count,
                     [&](const Row& row) { return has_arguments(row, flows_too); });
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

// The interned id of the row's message; 0 when it has none.
uint32_t EventEmitter::name_of(PacketSequence& out, const Row& row) const {
  int index = row.schema->plan.message;
  const SchemaEntry& entry = row.schema->entries[static_cast<size_t>(index)];
  RowLayout layout(row);
  const uint8_t* at = layout.at(index);
  if (!at) return 0;
  if (entry.value.kind == ValueKind::kStringHandle) {
    auto handle = static_cast<uint64_t>(load_integer(entry.value, at));
    if (handle == 0) return 0;
    uint32_t iid = out.name_if(handle, [&] { return domain_.find_string(handle); });
    if (iid == 0) summary_.add(Count::kBadIds);
    return iid;
  }
  std::string room;
  bool repaired = false;
  std::string_view text = message_text(entry, at, layout.count(index), room, repaired);
  if (repaired) summary_.add(Count::kRepairedTexts);
  return out.name_of_text(text);
}

bool EventEmitter::add_flows(PacketSequence& out, const Event& event) const {
  return flows_.each_edge(event.rows, event.row_count, event.first_flow,
                          [&](uint64_t edge) { out.add_flow(edge); });
}

void EventEmitter::count() {
  summary_.add(Count::kEvents, events_);
  events_ = 0;
}

void EventEmitter::emit(PacketSequence& out, const Event& event) {
  uint64_t repaired = out.repaired_texts();
  try {
    write(out, event);
  } catch (...) {
    out.abandon();
    throw;
  }
  if (out.repaired_texts() != repaired) {
    summary_.add(Count::kRepairedTexts, out.repaired_texts() - repaired);
  }
  ++events_;
}

void EventEmitter::write(PacketSequence& out, const Event& event) const {
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
  EventType type = event.shape == Shape::kInstant ? EventType::kInstant : EventType::kSliceBegin;
  out.prepare(event.begin);
  uint32_t domain =
      out.category(category_key_, [&]() -> std::string_view { return domain_.shown_name(); });
  uint32_t category = attributes.category ? category_of(out, attributes.category) : 0;
  uint32_t name = attributes.message ? name_of(out, *attributes.message) : 0;
  bool color = attributes.color != 0 && attributes.color != kDefaultColor;
  if (!color && !pop_message && !event.has_flows && event.pop_row_count == 0 &&
      !shows_payload(event.rows, event.row_count, false)) {
    out.plain_event(type, event.begin, domain, category, name);
    return;
  }
  out.open_prepared(type, event.begin);
  out.add_category(domain);
  if (category) out.add_category(category);
  if (name) out.add_name(name);
  bool flows_too = event.has_flows && !add_flows(out, event);
  add_arguments(out, event, color ? attributes.color : 0, pop_message, flows_too);
  out.close();
}

uint32_t EventEmitter::category_of(PacketSequence& out, uint32_t category) const {
  std::string name;
  return out.category(category_key_ + category, [&]() -> std::string_view {
    name = domain_.category_name(category);
    return name;
  });
}

void EventEmitter::add_arguments(PacketSequence& out, const Event& event, uint32_t color,
                                 const Row* pop_message, bool flows_too) const {
  const Row* rows = event.rows;
  uint32_t count = event.row_count;
  // What a pop brings along stands for what the push said. Its flow fields are arguments, since
  // arrows end at the begin of a slice.
  if (shows_payload(event.pop_rows, event.pop_row_count, true)) {
    rows = event.pop_rows;
    count = event.pop_row_count;
    flows_too = true;
  }
  bool payload = shows_payload(rows, count, flows_too);
  if (!payload && !color && !pop_message) return;
  AnnotationWriter writer(out);
  if (color) writer.add_interned(&kColorName, color, color_text(color));
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
    if (has_arguments(rows[i], flows_too)) only = &rows[i], ++shown;
  }
  if (shown == 1) {
    decoder.write(&kPayloadName, *only, flows_too);
    return;
  }
  // Several payloads are one group; scalars among them go by their place.
  static const auto& kPlaces = *[] {
    auto* places = new std::vector<std::string>;
    for (uint32_t i = 0; i < kMaxRows; ++i) places->push_back(std::to_string(i));
    return places;
  }();
  writer.open_dict(&kPayloadName);
  for (uint32_t i = 0; i < count; ++i) {
    if (has_arguments(rows[i], flows_too)) decoder.write(&kPlaces[i], rows[i], flows_too);
  }
  writer.close_nested();
}

}  // namespace nvtx_perfetto
