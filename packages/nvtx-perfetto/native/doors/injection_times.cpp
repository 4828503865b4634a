// SPDX-License-Identifier: Apache-2.0
// The payload extension's clocks: time domains, what reads them, and what ties them.
#include <cmath>

#include "doors/injection_extensions.h"
#include "live/attribute_copy.h"

namespace nvtx_perfetto::injection {
namespace {

using live::TimerSources;

int64_t NVTX_API timestamp_get() { return Recorder::existing()->now(); }

uint64_t NVTX_API time_domain_register(nvtxDomainHandle_t domain,
                                       const nvtxTimeDomainAttr_t* given) {
  if (!given) return NVTX_TIME_DOMAIN_ID_NONE;
  uint64_t wanted = static_id(given->timeDomainId, NVTX_TIME_DOMAIN_ID_STATIC_START,
                              NVTX_TIME_DOMAIN_ID_DYNAMIC_START);
  return define(domain, live::DefinitionKind::kTimeDomain, wanted,
                NVTX_TIME_DOMAIN_ID_DYNAMIC_START,
                [&](ByteBuffer& out) { live::pack_time_domain(out, *given); });
}

// `slope` 0: the points alone tie the two.
void tie(nvtxDomainHandle_t domain, const live::ClockTieHead& head, const nvtxSyncPoint_t* points,
         size_t count) noexcept {
  if (!points || count == 0) return;
  in_domain(domain, 0, [&](ThreadWriter& writer, uint32_t index) {
    ThreadWriter::Batch batch{live::kClockTie, index, 0, points, sizeof(*points), count, nullptr};
    writer.batch(batch, &head, sizeof(head));
    return 0;
  });
}

void NVTX_API time_sync_point(nvtxDomainHandle_t domain, uint64_t first, uint64_t second,
                              int64_t at_first, int64_t at_second) {
  nvtxSyncPoint_t point{at_first, at_second};
  tie(domain, {first, second, 0}, &point, 1);
}
void NVTX_API time_sync_table(nvtxDomainHandle_t domain, uint64_t from, uint64_t to,
                              const nvtxSyncPoint_t* points, size_t count) {
  tie(domain, {from, to, 0}, points, count);
}
void NVTX_API conversion_factor(nvtxDomainHandle_t domain, uint64_t from, uint64_t to, double slope,
                                int64_t at_from, int64_t at_to) {
  nvtxSyncPoint_t anchor{at_from, at_to};
  if (slope > 0 && std::isfinite(slope)) return tie(domain, {from, to, slope}, &anchor, 1);
  in_domain(domain, 0, [](ThreadWriter& writer, uint32_t) {
    writer.tally(Tally::kBadHandle);
    return 0;
  });
}

void read_timer(nvtxDomainHandle_t domain, const TimerSources::Source& source) noexcept {
  const Recorder& recorder = *Recorder::existing();
  int64_t before = recorder.now();
  int64_t ticks = source.read();
  int64_t after = recorder.now();
  time_sync_point(domain, source.time_domain, NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED, ticks,
                  before + (after - before) / 2);
}

void add_timer(nvtxDomainHandle_t domain, TimerSources::Source source) noexcept {
  Recorder& recorder = *Recorder::existing();
  Registry::Lookup found = recorder.registry().find_domain(bits_of(domain), source.domain);
  if (found == Registry::Lookup::kDisabled) return;
  if (found == Registry::Lookup::kBad || (!source.plain && !source.with_data)) {
    if (ThreadWriter* writer = recorder.writer()) writer->tally(Tally::kBadHandle);
    return;
  }
  // One reading shifts; the later ones tell how fast the clock runs.
  read_timer(domain, source);
  recorder.timers().add(source);
}

void NVTX_API timer_source(nvtxDomainHandle_t domain, uint64_t time_domain, uint64_t,
                           int64_t (*read)()) {
  add_timer(domain, {0, time_domain, read, nullptr, nullptr});
}
void NVTX_API timer_source_with_data(nvtxDomainHandle_t domain, uint64_t time_domain, uint64_t,
                                     int64_t (*read)(void*), void* data) {
  add_timer(domain, {0, time_domain, nullptr, read, data});
}

}  // namespace

void read_timers(nvtxDomainHandle_t domain) noexcept {
  Recorder& recorder = *Recorder::existing();
  uint32_t index;
  if (recorder.registry().find_domain(bits_of(domain), index) != Registry::Lookup::kGood) return;
  ThreadWriter* writer = recorder.writer();
  if (!writer) return;
  recorder.timers().each_due(
      index, writer->session(), recorder.now(),
      [&](const TimerSources::Source& source) { read_timer(domain, source); });
}

void fill_times(nvtxExtModuleSegment_t& segment) {
  fill_slot(segment, NVTX3EXT_CBID_nvtxTimestampGet, &timestamp_get);
  fill_slot(segment, NVTX3EXT_CBID_nvtxTimeDomainRegister, &time_domain_register);
  fill_slot(segment, NVTX3EXT_CBID_nvtxTimerSource, &timer_source);
  fill_slot(segment, NVTX3EXT_CBID_nvtxTimerSourceWithData, &timer_source_with_data);
  fill_slot(segment, NVTX3EXT_CBID_nvtxTimeSyncPoint, &time_sync_point);
  fill_slot(segment, NVTX3EXT_CBID_nvtxTimeSyncPointTable, &time_sync_table);
  fill_slot(segment, NVTX3EXT_CBID_nvtxTimestampConversionFactor, &conversion_factor);
}

}  // namespace nvtx_perfetto::injection
