// SPDX-License-Identifier: Apache-2.0
#include "model/counter_tracks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace nvtx_perfetto {
namespace {

// Tags of kept records: 0 a sample, else 1 + the reason it has no value.
constexpr uint32_t kSample = 0;

bool is_unsigned_word(const TypeInfo& type) {
  return type.kind == ValueKind::kUnsigned && type.size == 8;
}

}  // namespace

CounterTracks::CounterTracks(const Workshop& shop, PacketBuffer& out, const Counter& counter,
                             uint64_t parent, uint32_t clock, uint64_t owner)
    : shop_(shop), out_(out), counter_(counter), parent_(parent), clock_(clock), owner_(owner),
      kept_(shop.budget, shop.spill) {
  for (const CounterPlace& place :
       counter_places(*counter.schema, counter.timestamp, counter.name)) {
    add_field(place);
  }
}

void CounterTracks::add_field(const CounterPlace& place) {
  const SchemaEntry& entry = *place.entry;
  const CounterSemantics& semantics = entry.counter.given ? entry.counter : counter_.semantics;
  CounterScale scale = counter_scale(semantics, entry.value);
  CounterDescription description;
  description.unit = semantics.unit;
  description.multiplier = scale.multiplier;
  std::string text = describe_counter_semantics(
      entry.description.empty() ? counter_.description : entry.description, semantics);
  uint64_t track =
      shop_.tracks.counter(parent_, place.name, text, description, owner_ + fields_.size());
  auto field = std::make_unique<Field>(out_, track, clock_);
  field->type = entry.value;
  field->offset = place.offset;
  field->delta = semantics.delta;
  field->whole = is_integer(entry.value.kind);
  field->factor = scale.factor;
  field->least = scale.least;
  field->plain = field->delta != DeltaKind::kDelta && field->factor == 1;
  fields_.push_back(std::move(field));
}

bool CounterTracks::open_for_samples(size_t count) {
  if (out_.open_for_events()) return true;
  shop_.summary.add(Count::kDroppedOverLimit, count);
  return false;
}

void CounterTracks::write_whole(Field& field, int64_t time, int64_t value) {
  field.last.known = true;
  field.last.whole = value;
  bool as_unsigned = is_unsigned_word(field.type);
  if (field.factor != 1) {
    double number = as_unsigned ? static_cast<double>(static_cast<uint64_t>(value))
                                : static_cast<double>(value);
    field.packets.counter(time, std::max(number * field.factor, field.least));
    return;
  }
  bool rounded = as_unsigned ? is_rounded(static_cast<uint64_t>(value)) : is_rounded(value);
  if (rounded) shop_.summary.add(Count::kRoundedCounters);
  if (as_unsigned) {
    field.packets.counter(time, static_cast<uint64_t>(value));
  } else {
    field.packets.counter(time, value);
  }
}

void CounterTracks::write_float(Field& field, int64_t time, double value) {
  field.last.known = true;
  field.last.real = value;
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
  bool rounded = false;
  double value = load_countable(field.type, at, rounded);
  if (rounded) shop_.summary.add(Count::kRoundedCounters);
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
  if (reason == NoValue::kUnavailable || (reason == NoValue::kUnchanged && !field.last.known)) {
    field.packets.counter(time, std::numeric_limits<double>::quiet_NaN());
  } else if (field.whole) {
    write_whole(field, time, unchanged ? field.last.whole : 0);
  } else {
    write_float(field, time, unchanged ? field.last.real : 0);
  }
}

void CounterTracks::pass(int64_t time, const uint8_t* sample) {
  frontier_ = passed_ = time;
  if (!open_for_samples(1)) return;
  for (auto& field : fields_) write(*field, time, sample);
  shop_.summary.add(Count::kCounterSamples, fields_.size());
}

void CounterTracks::pass_no_value(int64_t time, NoValue reason) {
  frontier_ = passed_ = time;
  if (!open_for_samples(1)) return;
  for (auto& field : fields_) write_no_value(*field, time, reason);
  shop_.summary.add(Count::kCounterSamples, fields_.size());
}

template <typename T>
void CounterTracks::write_column(Field& field, const int64_t* times, size_t count,
                                 const uint8_t* at, size_t stride) {
  field.packets.counters<T>(times, count, at, stride);
  field.last.known = true;
  const uint8_t* last = at + (count - 1) * stride;
  if constexpr (std::is_same_v<T, int64_t>) {
    std::memcpy(&field.last.whole, last, sizeof(T));
    uint64_t rounded = 0;
    for (size_t i = 0; i < count; ++i) {
      T value;
      std::memcpy(&value, at + i * stride, sizeof(value));
      rounded += is_rounded(value);
    }
    if (rounded) shop_.summary.add(Count::kRoundedCounters, rounded);
  } else {
    std::memcpy(&field.last.real, last, sizeof(T));
  }
}

void CounterTracks::pass_batch(const int64_t* times, size_t count, const uint8_t* samples,
                               size_t stride) {
  if (count == 0 || !open_for_samples(count)) return;
  frontier_ = passed_ = times[count - 1];
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

// Samples that come before what was passed on know nothing of the values then: UNCHANGED repeats
// what they hold themselves, or is a gap. Behind them the passed values count again.
void CounterTracks::flush() {
  const int64_t passed = passed_;
  std::vector<LastValue> lasts;
  for (const auto& field : fields_) lasts.push_back(field->last);
  bool late = false;
  kept_.drain([&](const Record& record) {
    bool was_late = late;
    late = record.head.first < passed;
    if (late != was_late) {
      for (size_t i = 0; i < fields_.size(); ++i) fields_[i]->last = late ? LastValue() : lasts[i];
    }
    if (record.head.tag == kSample) {
      pass(record.head.first, record.bytes);
    } else {
      pass_no_value(record.head.first, static_cast<NoValue>(record.head.tag - 1));
    }
  });
}

}  // namespace nvtx_perfetto
