// SPDX-License-Identifier: Apache-2.0
#include "model/counter_tracks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace nvtx_perfetto {
namespace {

// A double, which is what the engine holds, is exact up to here.
constexpr int64_t kExact = int64_t{1} << 53;
// Tags of kept records: 0 a sample, else 1 + the reason it has no value.
constexpr uint32_t kSample = 0;

std::string describe(const Counter& counter, const SchemaEntry& entry,
                     const CounterSemantics& semantics) {
  std::string text = entry.description.empty() ? counter.description : entry.description;
  auto add = [&text](const char* what, const std::string& value) {
    if (value.empty()) return;
    if (!text.empty()) text += "; ";
    text += std::string(what) + value;
  };
  add("limits: ", semantics.limits);
  add("interpolation: ", semantics.interpolation);
  return text;
}

bool is_unsigned_word(const TypeInfo& type) {
  return type.kind == ValueKind::kUnsigned && type.size == 8;
}

double normalizer(const TypeInfo& type) {
  if (!is_integer(type.kind)) return 1;
  int bits = type.size * 8 - (type.kind == ValueKind::kSigned ? 1 : 0);
  return 1 / (std::ldexp(1.0, bits) - 1);
}

}  // namespace

CounterTracks::CounterTracks(const Workshop& shop, PacketBuffer& out, const Counter& counter,
                             uint64_t parent, uint32_t clock)
    : shop_(shop), out_(out), counter_(counter), parent_(parent), clock_(clock),
      kept_(shop.budget, shop.spill) {
  add_fields(*counter.schema, 0, counter.name);
}

// Groups inside a group go by their path: `group.inner.field`, `group.list[0]`.
void CounterTracks::add_fields(const Schema& schema, size_t base, const std::string& prefix) {
  for (size_t i = 0; i < schema.entries.size(); ++i) {
    const SchemaEntry& entry = schema.entries[i];
    bool time = &schema == counter_.schema && static_cast<int>(i) == counter_.timestamp;
    if (time || !(entry.nested || is_number(entry.value.kind))) continue;
    std::string name = schema.is_wrapper() ? prefix : prefix + "." + entry.name;
    bool array = entry.array == ArrayKind::kFixed;
    for (uint64_t k = 0; k < (array ? entry.count : 1); ++k) {
      size_t offset = base + static_cast<size_t>(std::max<int64_t>(0, entry.offset)) +
                      static_cast<size_t>(k) * entry.element_size();
      std::string full = array ? name + "[" + std::to_string(k) + "]" : name;
      entry.nested ? add_fields(*entry.nested, offset, full) : add_field(entry, offset, full);
    }
  }
}

void CounterTracks::add_field(const SchemaEntry& entry, size_t offset, const std::string& name) {
  const CounterSemantics& semantics = entry.counter.given ? entry.counter : counter_.semantics;
  CounterDescription description;
  description.unit = semantics.unit;
  bool multiplier = semantics.numerator % semantics.denominator == 0 &&
                    semantics.numerator / semantics.denominator <= INT64_MAX;
  if (multiplier) {
    description.multiplier = static_cast<int64_t>(semantics.numerator / semantics.denominator);
  }
  uint64_t track =
      shop_.tracks.add_counter(parent_, name, describe(counter_, entry, semantics), description);
  auto field = std::make_unique<Field>(out_, track, clock_);
  field->type = entry.value;
  field->offset = offset;
  field->delta = semantics.delta;
  field->whole = is_integer(entry.value.kind);
  if (!multiplier) {
    field->factor =
        static_cast<double>(semantics.numerator) / static_cast<double>(semantics.denominator);
  }
  if (semantics.normalize) {
    // The least signed value is one further from 0 than the greatest.
    field->least = -field->factor;
    field->factor *= normalizer(entry.value);
  }
  field->plain = field->delta != DeltaKind::kDelta && field->factor == 1;
  fields_.push_back(std::move(field));
}

bool CounterTracks::open_for_samples(size_t count) {
  if (out_.open_for_events()) return true;
  shop_.summary.add(Count::kDroppedOverLimit, count);
  return false;
}

void CounterTracks::write_whole(Field& field, int64_t time, int64_t value) {
  field.has_last = true;
  field.last = value;
  bool as_unsigned = is_unsigned_word(field.type);
  if (field.factor != 1) {
    double number = as_unsigned ? static_cast<double>(static_cast<uint64_t>(value))
                                : static_cast<double>(value);
    field.packets.counter(time, std::max(number * field.factor, field.least));
    return;
  }
  bool rounded = as_unsigned ? static_cast<uint64_t>(value) > static_cast<uint64_t>(kExact)
                             : value > kExact || value < -kExact;
  if (rounded) shop_.summary.add(Count::kRoundedCounters);
  if (as_unsigned) {
    field.packets.counter(time, static_cast<uint64_t>(value));
  } else {
    field.packets.counter(time, value);
  }
}

void CounterTracks::write_float(Field& field, int64_t time, double value) {
  field.has_last = true;
  field.float_last = value;
  field.packets.counter(time, value * field.factor);
}

void CounterTracks::write(Field& field, int64_t time, const uint8_t* sample) {
  const uint8_t* at = sample + field.offset;
  if (field.whole) {
    int64_t value = load_integer(field.type, at);
    if (field.delta == DeltaKind::kDelta) {
      bool as_unsigned = is_unsigned_word(field.type);
      field.sum += as_unsigned ? static_cast<__int128>(static_cast<uint64_t>(value))
                               : static_cast<__int128>(value);
      __int128 most = as_unsigned ? static_cast<__int128>(UINT64_MAX) : INT64_MAX;
      value = static_cast<int64_t>(std::clamp<__int128>(field.sum, INT64_MIN, most));
    }
    write_whole(field, time, value);
    return;
  }
  double value = load_number(field.type, at);
  if (field.delta == DeltaKind::kDelta) {
    if (std::isnan(value)) {
      write_no_value(field, time, NoValue::kUnavailable);
      return;
    }
    value = field.float_sum += value;
  }
  write_float(field, time, value);
}

void CounterTracks::write_no_value(Field& field, int64_t time, NoValue reason) {
  bool unchanged = reason == NoValue::kUnchanged ||
                   (reason == NoValue::kZero && field.delta == DeltaKind::kDelta);
  if (reason == NoValue::kUnavailable || (reason == NoValue::kUnchanged && !field.has_last)) {
    field.packets.counter(time, std::numeric_limits<double>::quiet_NaN());
  } else if (field.whole) {
    write_whole(field, time, unchanged ? field.last : 0);
  } else {
    write_float(field, time, unchanged ? field.float_last : 0);
  }
}

void CounterTracks::pass(int64_t time, const uint8_t* sample) {
  frontier_ = time;
  if (!open_for_samples(1)) return;
  for (auto& field : fields_) write(*field, time, sample);
  shop_.summary.add(Count::kCounterSamples, fields_.size());
}

void CounterTracks::pass_no_value(int64_t time, NoValue reason) {
  frontier_ = time;
  if (!open_for_samples(1)) return;
  for (auto& field : fields_) write_no_value(*field, time, reason);
  shop_.summary.add(Count::kCounterSamples, fields_.size());
}

template <typename T>
void CounterTracks::write_column(Field& field, const int64_t* times, size_t count,
                                 const uint8_t* at, size_t stride) {
  field.packets.counters<T>(times, count, at, stride);
  field.has_last = true;
  const uint8_t* last = at + (count - 1) * stride;
  if constexpr (std::is_same_v<T, int64_t>) {
    std::memcpy(&field.last, last, sizeof(T));
    uint64_t rounded = 0;
    for (size_t i = 0; i < count; ++i) {
      T value;
      std::memcpy(&value, at + i * stride, sizeof(value));
      rounded += value > kExact || value < -kExact;
    }
    if (rounded) shop_.summary.add(Count::kRoundedCounters, rounded);
  } else {
    std::memcpy(&field.float_last, last, sizeof(T));
  }
}

void CounterTracks::pass_batch(const int64_t* times, size_t count, const uint8_t* samples,
                               size_t stride) {
  if (count == 0 || !open_for_samples(count)) return;
  frontier_ = times[count - 1];
  for (auto& field : fields_) {
    const uint8_t* at = samples + field->offset;
    if (field->plain && field->type.size == 8 && field->type.kind == ValueKind::kSigned) {
      write_column<int64_t>(*field, times, count, at, stride);
    } else if (field->plain && field->type.size == 8 && field->type.kind == ValueKind::kFloat) {
      write_column<double>(*field, times, count, at, stride);
    } else {
      for (size_t i = 0; i < count; ++i) write(*field, times[i], samples + i * stride);
    }
  }
  shop_.summary.add(Count::kCounterSamples, count * fields_.size());
}

void CounterTracks::keep(int64_t time, const uint8_t* sample) {
  frontier_ = std::max(frontier_, time);
  kept_.add(time, 0, kSample, sample, counter_.sample_size);
}

void CounterTracks::keep_no_value(int64_t time, NoValue reason) {
  frontier_ = std::max(frontier_, time);
  kept_.add(time, 0, 1 + static_cast<uint32_t>(reason), nullptr, 0);
}

void CounterTracks::flush() {
  kept_.drain([this](const Record& record) {
    if (record.head.tag == kSample) {
      pass(record.head.first, record.bytes);
    } else {
      pass_no_value(record.head.first, static_cast<NoValue>(record.head.tag - 1));
    }
  });
}

}  // namespace nvtx_perfetto
