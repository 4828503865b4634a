// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nvtxw3/nvtxw3.h>

#include <cstring>
#include <string>

#include "model/domain.h"
#include "model/stream.h"

namespace nvtx_perfetto {

// A struct that starts with its own size, read as far as that says and 0 beyond. False
// when it is null or too short to hold even its size.
template <typename T>
bool read_sized(const T* given, T& out) {
  std::memset(&out, 0, sizeof(out));
  if (!given) return false;
  size_t size = given->structSize;
  if (size < sizeof(size)) return false;
  std::memcpy(&out, given, size < sizeof(out) ? size : sizeof(out));
  return true;
}

inline std::string text_or_empty(const char* text) { return text ? text : ""; }

inline void* to_pointer(uint64_t handle) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(handle));
}
inline uint64_t to_handle(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// Says what is wrong with a stream's attributes, or takes them over.
Status read_stream(const nvtxwStreamAttributes_t& given, StreamSpec& out);
// Takes a counter's attributes over, as far as its domain knows what they refer to.
Status read_counter(const nvtxCounterAttr_t& given, const Domain& domain, Counter& out);
Status check_time_domain(const TimeDomain& given);
BatchOrder read_batch_order(uint64_t flags);

// The payloads of one event as rows of its domain's schemas.
class PayloadRows {
 public:
  Status read(const Domain& domain, const nvtxPayloadData_t* payloads, size_t count);
  const Row* rows() const { return count_ <= kInline ? inline_ : more_.data(); }
  uint32_t count() const { return static_cast<uint32_t>(count_); }

 private:
  static constexpr size_t kInline = 3;
  void add(const Row& row);

  Row inline_[kInline];
  std::vector<Row> more_;
  size_t count_ = 0;
};

}  // namespace nvtx_perfetto
