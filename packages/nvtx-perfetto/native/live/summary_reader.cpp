// SPDX-License-Identifier: Apache-2.0
#include "live/summary_reader.h"

#include "live/wire_reader.h"
#include "perfetto/field_numbers.h"

namespace nvtx_perfetto::live {
namespace {

using namespace field;

using Names = std::map<uint64_t, std::string_view>;

std::string_view bytes_of(std::string_view message, uint32_t number) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == number) return field.bytes;
  }
  return {};
}

// True when the packet interns the summary's name.
bool read_names(std::string_view interned, Names& names) {
  bool summary = false;
  WireReader reader(interned);
  WireField field;
  while (reader.next(field)) {
    bool event = field.number == kInternedData_event_names;
    if (!event && field.number != kInternedData_debug_annotation_names) continue;
    uint64_t iid = 0;
    std::string_view name;
    WireReader inner(field.bytes);
    WireField part;
    while (inner.next(part)) {
      if (part.number == kEventName_iid) iid = part.value;
      if (part.number == kEventName_name) name = part.bytes;
    }
    if (event)
      summary |= name == "nvtx-perfetto summary";
    else
      names[iid] = name;
  }
  return summary;
}

void read_entry(std::string_view entry, const Names& names,
                std::map<std::string, uint64_t>& counts) {
  WireReader reader(entry);
  WireField field;
  std::string_view name;
  while (reader.next(field)) {
    if (field.number == kDebugAnnotation_name_iid) {
      auto found = names.find(field.value);
      if (found != names.end()) name = found->second;
    } else if (field.number == kDebugAnnotation_uint_value ||
               field.number == kDebugAnnotation_int_value) {
      if (!name.empty()) counts[std::string(name)] += field.value;
    } else if (field.number == kDebugAnnotation_dict_entries) {
      read_entry(field.bytes, names, counts);
    }
  }
}

}  // namespace

void read_summary(std::string_view packet, std::map<std::string, uint64_t>& counts) {
  Names names;
  if (!read_names(bytes_of(packet, kTracePacket_interned_data), names)) return;
  WireReader reader(bytes_of(packet, kTracePacket_track_event));
  WireField field;
  while (reader.next(field)) {
    if (field.number == kTrackEvent_debug_annotations) read_entry(field.bytes, names, counts);
  }
}

}  // namespace nvtx_perfetto::live
