// SPDX-License-Identifier: Apache-2.0
#include <nvtx3/nvToolsExtSemanticsCorrelation.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>

#include <cstdio>
#include <cstring>

#include "payload/schema_builder.h"

namespace nvtx_perfetto {
namespace {

// A chain longer than this is taken for a loop.
constexpr int kMaxLinks = 16;

std::string limit_text(const nvtxCounterLimit_t& limit, int64_t type) {
  switch (type) {
    case NVTX_COUNTER_LIMIT_I64: return std::to_string(limit.i64);
    case NVTX_COUNTER_LIMIT_U64: return std::to_string(limit.u64);
    case NVTX_COUNTER_LIMIT_F64: {
      char text[40];
      std::snprintf(text, sizeof(text), "%.17g", limit.f64);
      return text;
    }
    default: return {};
  }
}

std::string limits_text(const nvtxSemanticsCounter_t& counter) {
  std::string text;
  if (counter.flags & NVTX_COUNTER_FLAG_LIMIT_MIN) {
    std::string least = limit_text(counter.min, counter.limitType);
    if (!least.empty()) text = "min " + least;
  }
  if (counter.flags & NVTX_COUNTER_FLAG_LIMIT_MAX) {
    std::string most = limit_text(counter.max, counter.limitType);
    if (!most.empty()) text += (text.empty() ? "max " : ", max ") + most;
  }
  return text;
}

std::string interpolation_text(uint64_t flags) {
  switch (flags & NVTX_COUNTER_FLAG_INTERPOLATIONS) {
    case NVTX_COUNTER_FLAG_INTERPOLATION_POINT: return "point";
    case NVTX_COUNTER_FLAG_INTERPOLATION_SINCE_LAST: return "since last";
    case NVTX_COUNTER_FLAG_INTERPOLATION_UNTIL_NEXT: return "until next";
    case NVTX_COUNTER_FLAG_INTERPOLATION_LINEAR: return "linear";
    default: return {};
  }
}

CounterSemantics counter_semantics(const nvtxSemanticsCounter_t& counter) {
  CounterSemantics out;
  out.given = true;
  out.normalize = (counter.flags & NVTX_COUNTER_FLAG_NORMALIZE) != 0;
  uint64_t type = counter.flags & NVTX_COUNTER_FLAG_VALUETYPES;
  out.delta = type == NVTX_COUNTER_FLAG_VALUETYPE_DELTA               ? DeltaKind::kDelta
              : type == NVTX_COUNTER_FLAG_VALUETYPE_DELTA_SINCE_START ? DeltaKind::kDeltaSinceStart
                                                                      : DeltaKind::kAbsolute;
  if (counter.unit) out.unit = counter.unit;
  // 0 stands for "not used" as much as 1 does.
  out.numerator = counter.unitScaleNumerator ? counter.unitScaleNumerator : 1;
  out.denominator = counter.unitScaleDenominator ? counter.unitScaleDenominator : 1;
  out.limits = limits_text(counter);
  out.interpolation = interpolation_text(counter.flags);
  return out;
}

}  // namespace

Semantics read_semantics(const nvtxSemanticsHeader_t* chain) {
  Semantics out;
  for (int link = 0; chain && link < kMaxLinks; ++link, chain = chain->next) {
    if (chain->semanticId == NVTX_SEMANTIC_ID_COUNTERS_V1 &&
        chain->structSize >= sizeof(nvtxSemanticsCounter_t)) {
      out.counter = counter_semantics(*reinterpret_cast<const nvtxSemanticsCounter_t*>(chain));
    } else if (chain->semanticId == NVTX_SEMANTIC_ID_TIME_V1 &&
               chain->structSize >= sizeof(nvtxSemanticsTime_t)) {
      out.time_domain = reinterpret_cast<const nvtxSemanticsTime_t*>(chain)->timeDomainId;
    } else if (chain->semanticId == NVTX_SEMANTIC_ID_CORRELATION_V1 &&
               chain->structSize >= sizeof(nvtxSemanticsCorrelation_t)) {
      const auto* found = reinterpret_cast<const nvtxSemanticsCorrelation_t*>(chain);
      out.correlation.given = true;
      std::memcpy(out.correlation.domain, found->correlationDomainUuid,
                  sizeof(out.correlation.domain));
    }
  }
  return out;
}

std::string describe_counter_semantics(std::string text, const CounterSemantics& semantics) {
  auto add = [&text](const char* what, const std::string& value) {
    if (value.empty()) return;
    if (!text.empty()) text += "; ";
    text += what + value;
  };
  add("limits: ", semantics.limits);
  add("interpolation: ", semantics.interpolation);
  return text;
}

}  // namespace nvtx_perfetto
