// SPDX-License-Identifier: Apache-2.0
#include "packets.h"

#include <cstring>

namespace packets {
namespace {

using namespace nvtx_perfetto::field;

using Texts = std::map<uint64_t, std::string>;

struct Sequence {
  uint64_t track = 0;
  int64_t time = 0;
  Texts names;
  Texts categories;
  Texts keys;
  Texts values;
};

void learn(const Message& data, uint32_t field, Texts& texts) {
  for (const Message& entry : data.messages(field)) {
    uint64_t iid = entry.number(kEventName_iid);
    if (!texts.emplace(iid, entry.text(kEventName_name)).second) {
      throw std::runtime_error("an interned id was given twice");
    }
  }
}

double as_double(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

void flatten(const Message& argument, const std::string& path, const Sequence& sequence,
             std::map<std::string, std::string>& out) {
  std::string value;
  auto has = [&](uint32_t field) { return argument.has(field); };
  if (has(kDebugAnnotation_int_value)) {
    value = std::to_string(static_cast<int64_t>(argument.number(kDebugAnnotation_int_value)));
  } else if (has(kDebugAnnotation_uint_value)) {
    value = std::to_string(argument.number(kDebugAnnotation_uint_value));
  } else if (has(kDebugAnnotation_double_value)) {
    value = std::to_string(as_double(argument.number(kDebugAnnotation_double_value)));
  } else if (has(kDebugAnnotation_string_value)) {
    value = argument.text(kDebugAnnotation_string_value);
  } else if (has(kDebugAnnotation_string_value_iid)) {
    value = sequence.values.at(argument.number(kDebugAnnotation_string_value_iid));
  } else if (has(kDebugAnnotation_pointer_value)) {
    value = "pointer " + std::to_string(argument.number(kDebugAnnotation_pointer_value));
  } else {
    size_t index = 0;
    for (const Message& inner : argument.messages(kDebugAnnotation_array_values)) {
      flatten(inner, path + "[" + std::to_string(index++) + "]", sequence, out);
    }
    for (const Message& inner : argument.messages(kDebugAnnotation_dict_entries)) {
      flatten(inner, path + "." + sequence.keys.at(inner.number(kDebugAnnotation_name_iid)),
              sequence, out);
    }
    return;
  }
  if (!out.emplace(path, value).second) throw std::runtime_error("two arguments named " + path);
}

Event read_event(const Message& event, const Sequence& sequence) {
  Event out;
  out.track = sequence.track;
  out.time = sequence.time;
  out.type = event.number(kTrackEvent_type);
  if (event.has(kTrackEvent_name_iid)) {
    out.name = sequence.names.at(event.number(kTrackEvent_name_iid));
  }
  for (uint64_t iid : event.numbers(kTrackEvent_category_iids)) {
    out.categories.push_back(sequence.categories.at(iid));
  }
  out.flows = event.numbers(kTrackEvent_flow_ids);
  for (const Message& argument : event.messages(kTrackEvent_debug_annotations)) {
    flatten(argument, sequence.keys.at(argument.number(kDebugAnnotation_name_iid)), sequence,
            out.arguments);
  }
  if (event.has(kTrackEvent_counter_value)) {
    out.value = static_cast<double>(static_cast<int64_t>(event.number(kTrackEvent_counter_value)));
  } else if (event.has(kTrackEvent_double_counter_value)) {
    out.value = as_double(event.number(kTrackEvent_double_counter_value));
  }
  return out;
}

Track read_track(const Message& descriptor) {
  Track track;
  track.parent = descriptor.number(kTrackDescriptor_parent_uuid);
  track.name = descriptor.text(kTrackDescriptor_name);
  track.description = descriptor.text(kTrackDescriptor_description);
  track.counter = descriptor.has(kTrackDescriptor_counter);
  Message counter = descriptor.message(kTrackDescriptor_counter);
  track.unit = counter.text(kCounterDescriptor_unit_name);
  if (counter.has(kCounterDescriptor_unit_multiplier)) {
    track.multiplier = counter.number(kCounterDescriptor_unit_multiplier);
  }
  if (descriptor.has(kTrackDescriptor_process)) {
    Message process = descriptor.message(kTrackDescriptor_process);
    track.name = "process " + std::to_string(process.number(kProcessDescriptor_pid)) + " " +
                 process.text(kProcessDescriptor_process_name);
  }
  if (descriptor.has(kTrackDescriptor_thread)) {
    Message thread = descriptor.message(kTrackDescriptor_thread);
    track.name = "thread " + std::to_string(thread.number(kThreadDescriptor_pid)) + " " +
                 std::to_string(thread.number(kThreadDescriptor_tid)) + " " +
                 thread.text(kThreadDescriptor_thread_name);
  }
  return track;
}

}  // namespace

Trace::Trace(std::string_view bytes) {
  std::map<uint32_t, Sequence> sequences;
  for (const Message& packet : Message(bytes).messages(kTrace_packet)) {
    auto id = static_cast<uint32_t>(packet.number(kTracePacket_trusted_packet_sequence_id));
    Sequence& sequence = sequences[id];
    if (packet.number(kTracePacket_sequence_flags) & 1) {
      sequence.names.clear();
      sequence.categories.clear();
      sequence.keys.clear();
      sequence.values.clear();
      sequence.track = packet.message(kTracePacket_trace_packet_defaults)
                           .message(kTracePacketDefaults_track_event_defaults)
                           .number(kTrackEventDefaults_track_uuid);
    }
    if (packet.has(kTracePacket_clock_snapshot)) {
      Message snapshot = packet.message(kTracePacket_clock_snapshot);
      for (const Message& clock : snapshot.messages(kClockSnapshot_clocks)) {
        uint64_t clock_id = clock.number(kClock_clock_id);
        if (clock_id < 64) clock_of[id] = clock_id;
        sequence.time = static_cast<int64_t>(clock.number(kClock_timestamp));
      }
    }
    Message data = packet.message(kTracePacket_interned_data);
    learn(data, kInternedData_event_names, sequence.names);
    learn(data, kInternedData_event_categories, sequence.categories);
    learn(data, kInternedData_debug_annotation_names, sequence.keys);
    learn(data, kInternedData_debug_annotation_string_values, sequence.values);
    if (packet.has(kTracePacket_track_descriptor)) {
      Message descriptor = packet.message(kTracePacket_track_descriptor);
      tracks[descriptor.number(kTrackDescriptor_uuid)] = read_track(descriptor);
    }
    if (packet.has(kTracePacket_track_event)) {
      sequence.time += static_cast<int64_t>(packet.number(kTracePacket_timestamp));
      Event event = read_event(packet.message(kTracePacket_track_event), sequence);
      event.sequence = id;
      events.push_back(event);
    }
  }
}

std::vector<Event> Trace::on(const std::string& track) const {
  std::vector<Event> found;
  for (const Event& event : events) {
    auto described = tracks.find(event.track);
    if (described != tracks.end() && described->second.name == track) found.push_back(event);
  }
  return found;
}

}  // namespace packets
