// SPDX-License-Identifier: Apache-2.0
// The counters extension.
#include <nvtx3/nvToolsExtCounters.h>

#include <algorithm>

#include "doors/injection_extensions.h"
#include "live/attribute_copy.h"

namespace nvtx_perfetto::injection {
namespace {

using live::RecordKind;

// A counter's id in 32 bits: static ones are at least 2^24, ours above 2^32 by less than that.
bool short_id(uint64_t id, uint32_t& counter) {
  if (id >= NVTX_COUNTER_ID_DYNAMIC_START) {
    id -= NVTX_COUNTER_ID_DYNAMIC_START;
    if (id >= NVTX_COUNTER_ID_STATIC_START) return false;
  } else if (id < NVTX_COUNTER_ID_STATIC_START) {
    return false;
  }
  counter = static_cast<uint32_t>(id);
  return true;
}

template <typename Record>
void with_counter(nvtxDomainHandle_t domain, uint64_t id, const Record& record) noexcept {
  in_domain(domain, 0, [&](ThreadWriter& writer, uint32_t index) {
    uint32_t counter;
    if (short_id(id, counter))
      record(writer, index, counter);
    else
      writer.tally(Tally::kBadHandle);
    return 0;
  });
}

uint64_t NVTX_API counter_register(nvtxDomainHandle_t domain, const nvtxCounterAttr_t* given) {
  try {
    uint32_t index = domain_index(domain);
    if (!given || index == Registry::kNoDomain) return NVTX_COUNTER_ID_NONE;
    nvtxCounterAttr_t known = {};
    std::memcpy(&known, given, std::min(given->structSize, sizeof(known)));
    bool own = known.counterId >= NVTX_COUNTER_ID_STATIC_START &&
               known.counterId < NVTX_COUNTER_ID_DYNAMIC_START;
    ByteBuffer body;
    live::pack_counter(body, *given);
    return Recorder::get().registry().define(live::DefinitionKind::kCounter, index,
                                             own ? known.counterId : 0, body.view(),
                                             NVTX_COUNTER_ID_DYNAMIC_START);
  } catch (...) {
    return NVTX_COUNTER_ID_NONE;
  }
}

void NVTX_API sample_int64(nvtxDomainHandle_t domain, uint64_t id, int64_t value) {
  with_counter(domain, id, [&](ThreadWriter& writer, uint32_t index, uint32_t counter) {
    writer.sample(live::kCounterInt, index, counter, static_cast<uint64_t>(value));
  });
}
void NVTX_API sample_float64(nvtxDomainHandle_t domain, uint64_t id, double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  with_counter(domain, id, [&](ThreadWriter& writer, uint32_t index, uint32_t counter) {
    writer.sample(live::kCounterDouble, index, counter, bits);
  });
}
void NVTX_API sample_bytes(nvtxDomainHandle_t domain, uint64_t id, const void* value, size_t size) {
  with_counter(domain, id, [&](ThreadWriter& writer, uint32_t index, uint32_t counter) {
    if (value && size > 0) writer.sample_bytes(index, counter, value, size);
  });
}
void NVTX_API sample_no_value(nvtxDomainHandle_t domain, uint64_t id, uint8_t reason) {
  with_counter(domain, id, [&](ThreadWriter& writer, uint32_t index, uint32_t counter) {
    writer.sample(live::kCounterNoValue, index, counter, reason);
  });
}

void NVTX_API batch_submit(nvtxDomainHandle_t domain, const nvtxCounterBatch_t* given) {
  if (!given || !given->counters || given->countersSize == 0) return;
  constexpr uint64_t kPairs = NVTX_COUNTER_BATCH_FLAG_BEGINTIME_INTERVAL_PAIR |
                              NVTX_COUNTER_BATCH_FLAG_ENDTIME_INTERVAL_PAIR;
  with_counter(
      domain, given->counterId, [&](ThreadWriter& writer, uint32_t index, uint32_t counter) {
        size_t times = given->timestamps ? given->timestampsSize / sizeof(int64_t) : 0;
        Registry& registry = Recorder::existing()->registry();
        size_t size = registry.sample_size(index, counter);
        if (size == 0 && times != 0) size = given->countersSize / times;
        size_t count = size ? given->countersSize / size : 0;
        if (count == 0 || (given->flags & kPairs) || (times != 0 && times < count)) {
          writer.tally(Tally::kUnsupported);
          return;
        }
        live::CounterBatchHead head{given->flags, static_cast<uint32_t>(count), times != 0, size};
        ThreadWriter::Batch batch{live::kCounterBatch,
                                  index,
                                  counter,
                                  given->counters,
                                  size,
                                  count,
                                  times ? given->timestamps : nullptr};
        writer.batch(batch, &head, sizeof(head));
      });
}

}  // namespace

void fill_counters(nvtxExtModuleSegment_t& segment) {
  fill_slot(segment, NVTX3EXT_CBID_nvtxCounterRegister, &counter_register);
  fill_slot(segment, NVTX3EXT_CBID_nvtxCounterSampleInt64, &sample_int64);
  fill_slot(segment, NVTX3EXT_CBID_nvtxCounterSampleFloat64, &sample_float64);
  fill_slot(segment, NVTX3EXT_CBID_nvtxCounterSample, &sample_bytes);
  fill_slot(segment, NVTX3EXT_CBID_nvtxCounterSampleNoValue, &sample_no_value);
  fill_slot(segment, NVTX3EXT_CBID_nvtxCounterBatchSubmit, &batch_submit);
}

}  // namespace nvtx_perfetto::injection
