// SPDX-License-Identifier: Apache-2.0
#include "live/record.h"

namespace nvtx_perfetto::live {
namespace {

// Hands out the parts of a record, as long as there are bytes.
class Walk {
 public:
  Walk(const uint8_t* at, const uint8_t* end) : at_(at), end_(end) {}

  template <typename T>
  const T* take() {
    return static_cast<const T*>(take_bytes(sizeof(T)));
  }
  const void* take_bytes(size_t size) {
    if (size > static_cast<size_t>(end_ - at_)) {
      good_ = false;
      return nullptr;
    }
    const void* taken = at_;
    at_ += size;
    return taken;
  }
  bool good() const { return good_; }
  const uint8_t* at() const { return at_; }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
  bool good_ = true;
};

}  // namespace

bool parse_record(const uint8_t* at, const uint8_t* end, RecordView& view) {
  Walk walk(at, end);
  view = {};
  view.head = walk.take<Record>();
  if (!view.head || view.head->kind < kPush || view.head->kind > kLastKind) return false;
  uint8_t flags = view.head->flags;
  if (flags & kAttributes) view.attributes = walk.take<AttributesExtra>();
  if (flags & kValue) view.value = walk.take<ValueExtra>();
  if (flags & kId) view.id = walk.take<IdExtra>();
  if (flags & kBytes) {
    view.bytes = walk.take<BytesExtra>();
    if (!walk.good() || !walk.take_bytes(padded8(view.bytes->size))) return false;
  }
  if (flags & (kInlineText | kWideText)) {
    view.text = static_cast<const char*>(walk.take_bytes(padded8(view.head->text)));
  }
  if (!walk.good()) return false;
  view.size = padded16(static_cast<size_t>(walk.at() - at));
  return view.size <= static_cast<size_t>(end - at);
}

}  // namespace nvtx_perfetto::live
