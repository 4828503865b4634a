// SPDX-License-Identifier: Apache-2.0
// Every protobuf field number the writer uses, once. A test compares this file with the
// descriptors that the `perfetto` Python package ships, so each line must read
// `constexpr uint32_t kMessage_field = N;`.
#pragma once

#include <cstdint>

namespace nvtx_perfetto::field {

constexpr uint32_t kTrace_packet = 1;

constexpr uint32_t kTracePacket_clock_snapshot = 6;
constexpr uint32_t kTracePacket_timestamp = 8;
constexpr uint32_t kTracePacket_trusted_packet_sequence_id = 10;
constexpr uint32_t kTracePacket_track_event = 11;
constexpr uint32_t kTracePacket_interned_data = 12;
constexpr uint32_t kTracePacket_sequence_flags = 13;
constexpr uint32_t kTracePacket_timestamp_clock_id = 58;
constexpr uint32_t kTracePacket_trace_packet_defaults = 59;
constexpr uint32_t kTracePacket_track_descriptor = 60;
constexpr uint32_t kTracePacket_trace_uuid = 89;

constexpr uint32_t kTraceUuid_msb = 1;
constexpr uint32_t kTraceUuid_lsb = 2;

constexpr uint32_t kTracePacketDefaults_track_event_defaults = 11;
constexpr uint32_t kTracePacketDefaults_timestamp_clock_id = 58;
constexpr uint32_t kTrackEventDefaults_track_uuid = 11;

constexpr uint32_t kClockSnapshot_clocks = 1;
constexpr uint32_t kClockSnapshot_primary_trace_clock = 2;
constexpr uint32_t kClock_clock_id = 1;
constexpr uint32_t kClock_timestamp = 2;
constexpr uint32_t kClock_is_incremental = 3;

constexpr uint32_t kTrackEvent_category_iids = 3;
constexpr uint32_t kTrackEvent_debug_annotations = 4;
constexpr uint32_t kTrackEvent_type = 9;
constexpr uint32_t kTrackEvent_name_iid = 10;
constexpr uint32_t kTrackEvent_counter_value = 30;
constexpr uint32_t kTrackEvent_double_counter_value = 44;
constexpr uint32_t kTrackEvent_flow_ids = 47;

constexpr uint32_t kInternedData_event_categories = 1;
constexpr uint32_t kInternedData_event_names = 2;
constexpr uint32_t kInternedData_debug_annotation_names = 3;
constexpr uint32_t kInternedData_debug_annotation_string_values = 29;
// EventCategory, EventName, DebugAnnotationName and InternedString share one shape.
constexpr uint32_t kEventName_iid = 1;
constexpr uint32_t kEventName_name = 2;

constexpr uint32_t kDebugAnnotation_name_iid = 1;
constexpr uint32_t kDebugAnnotation_uint_value = 3;
constexpr uint32_t kDebugAnnotation_int_value = 4;
constexpr uint32_t kDebugAnnotation_double_value = 5;
constexpr uint32_t kDebugAnnotation_string_value = 6;
constexpr uint32_t kDebugAnnotation_pointer_value = 7;
constexpr uint32_t kDebugAnnotation_dict_entries = 11;
constexpr uint32_t kDebugAnnotation_array_values = 12;
constexpr uint32_t kDebugAnnotation_string_value_iid = 17;

constexpr uint32_t kTrackDescriptor_uuid = 1;
constexpr uint32_t kTrackDescriptor_name = 2;
constexpr uint32_t kTrackDescriptor_process = 3;
constexpr uint32_t kTrackDescriptor_thread = 4;
constexpr uint32_t kTrackDescriptor_parent_uuid = 5;
constexpr uint32_t kTrackDescriptor_counter = 8;
constexpr uint32_t kTrackDescriptor_child_ordering = 11;
constexpr uint32_t kTrackDescriptor_sibling_order_rank = 12;
constexpr uint32_t kTrackDescriptor_description = 14;

constexpr uint32_t kProcessDescriptor_pid = 1;
constexpr uint32_t kProcessDescriptor_process_name = 6;
constexpr uint32_t kProcessDescriptor_start_timestamp_ns = 7;
constexpr uint32_t kProcessDescriptor_process_labels = 8;
constexpr uint32_t kThreadDescriptor_pid = 1;
constexpr uint32_t kThreadDescriptor_tid = 2;
constexpr uint32_t kThreadDescriptor_thread_name = 5;

constexpr uint32_t kCounterDescriptor_unit_multiplier = 4;
constexpr uint32_t kCounterDescriptor_unit_name = 6;

}  // namespace nvtx_perfetto::field
