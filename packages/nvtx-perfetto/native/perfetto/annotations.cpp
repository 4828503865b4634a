// SPDX-License-Identifier: Apache-2.0
#include "perfetto/annotations.h"

#include <stdexcept>

#include "perfetto/field_numbers.h"
#include "perfetto/proto.h"
#include "perfetto/text.h"

namespace nvtx_perfetto {

using namespace field;

size_t AnnotationWriter::open(const std::string* name) {
  constexpr uint32_t kFields[] = {kTrackEvent_debug_annotations, kDebugAnnotation_dict_entries,
                                  kDebugAnnotation_array_values};
  ByteBuffer& out = sequence_.bytes();
  size_t body = proto::open_message(out, kFields[levels_[depth_]]);
  if (name) {
    proto::add_varint(out, kDebugAnnotation_name_iid, sequence_.annotation_name(*name));
  }
  return body;
}

void AnnotationWriter::open_nested(const std::string* name, Level inside) {
  if (depth_ == kMaxDepth) throw std::length_error("payload schemas are nested too deeply");
  size_t body = open(name);
  bodies_[++depth_] = body;
  levels_[depth_] = inside;
}

void AnnotationWriter::close_nested() {
  proto::close_message(sequence_.bytes(), bodies_[depth_--]);
}

void AnnotationWriter::add(const std::string* name, int64_t value) {
  size_t body = open(name);
  proto::add_varint(sequence_.bytes(), kDebugAnnotation_int_value, static_cast<uint64_t>(value));
  proto::close_message(sequence_.bytes(), body);
}

void AnnotationWriter::add(const std::string* name, uint64_t value) {
  if (value > static_cast<uint64_t>(INT64_MAX)) {
    add(name, std::string_view(std::to_string(value)));
    return;
  }
  size_t body = open(name);
  proto::add_varint(sequence_.bytes(), kDebugAnnotation_uint_value, value);
  proto::close_message(sequence_.bytes(), body);
}

void AnnotationWriter::add(const std::string* name, double value) {
  size_t body = open(name);
  proto::add_double(sequence_.bytes(), kDebugAnnotation_double_value, value);
  proto::close_message(sequence_.bytes(), body);
}

void AnnotationWriter::add(const std::string* name, std::string_view text) {
  size_t body = open(name);
  if (is_utf8(text)) {
    proto::add_bytes(sequence_.bytes(), kDebugAnnotation_string_value, text);
  } else {
    bool repaired = false;
    proto::add_bytes(sequence_.bytes(), kDebugAnnotation_string_value, repair_utf8(text, repaired));
    ++repaired_texts_;
  }
  proto::close_message(sequence_.bytes(), body);
}

void AnnotationWriter::add_pointer(const std::string* name, uint64_t address) {
  size_t body = open(name);
  proto::add_varint(sequence_.bytes(), kDebugAnnotation_pointer_value, address);
  proto::close_message(sequence_.bytes(), body);
}

void AnnotationWriter::add_interned(const std::string* name, uint64_t key,
                                    const std::string& text) {
  uint32_t iid = sequence_.string_value(key, [&]() -> std::string_view { return text; });
  size_t body = open(name);
  proto::add_varint(sequence_.bytes(), kDebugAnnotation_string_value_iid, iid);
  proto::close_message(sequence_.bytes(), body);
}

}  // namespace nvtx_perfetto
