// SPDX-License-Identifier: Apache-2.0
#include "live/counter_writer.h"

#include <nvtx3/nvToolsExtCounters.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace nvtx_perfetto::live {
namespace {

bool is_float(const TypeInfo& type) { return !is_integer(type.kind); }

}  // namespace

CounterWriter::CounterWriter(const Parts& parts)
    : file_(parts.file), catalog_(parts.catalog), timeline_(parts.timeline), scopes_(parts.scopes),
      out_(parts.out), sequence_(parts.sequence), uuids_(parts.file.header().seed) {
  forget();
}

void CounterWriter::forget() {
  samples_.clear();
  tracks_.clear();
  uint32_t half = file_.header().active.load(std::memory_order_acquire);
  for (size_t i = 0; i < values_.size(); ++i) values_[i] = file_.counters()[i].value[half];
}

void CounterWriter::save(uint32_t half) {
  for (size_t i = 0; i < values_.size(); ++i) file_.counters()[i].value[half] = values_[i];
}

void CounterWriter::add(const RecordView& record, int64_t realtime) {
  uint32_t domain = record.head->domain;
  const LiveCounter* counter = catalog_.domain(domain).find_counter(record.head->text);
  if (!counter) {
    ++bad_ids;
    return;
  }
  Sample sample{realtime, counter, nullptr, 0, domain, Kind::kBytes};
  if (record.value) sample.bits = record.value->bits;
  switch (record.head->kind) {
    case kCounterInt: sample.kind = Kind::kInteger; break;
    case kCounterDouble: sample.kind = Kind::kDouble; break;
    case kCounterNoValue: sample.kind = Kind::kNone; break;
    case kCounterBatch: return add_batch(record, *counter, realtime);
    default:
      if (!record.bytes || record.bytes->size < counter->sample_size) {
        ++bad_ids;
        return;
      }
      sample.data = record.data();
      if (!place_row(domain, *counter, {counter->schema, sample.data, record.bytes->size},
                     sample.time)) {
        return;
      }
  }
  samples_.push_back(sample);
}

uint64_t CounterWriter::time_domain_of(uint32_t domain, const LiveCounter& counter) const {
  if (counter.time_domain != 0) return counter.time_domain;
  return catalog_.domain(domain).time_domain_of(counter.scope);
}

bool CounterWriter::waits(const RecordView& record) const {
  uint32_t domain = record.head->domain;
  const LiveCounter* counter = catalog_.domain(domain).find_counter(record.head->text);
  if (!counter || !record.bytes) return false;
  bool timed = counter->timestamp >= 0;
  CounterBatchHead head;
  if (record.head->kind == kCounterBatch && record.bytes->size >= sizeof(head)) {
    std::memcpy(&head, record.data(), sizeof(head));
    timed = timed || head.has_times;
  }
  return timed && !timeline_.known(domain, time_domain_of(domain, *counter));
}

bool CounterWriter::place(uint32_t domain, const LiveCounter& counter, int64_t ticks,
                          int64_t& realtime) {
  auto answer = timeline_.place(domain, time_domain_of(domain, counter), ticks, realtime);
  untied += answer == Timeline::Answer::kUntied;
  dropped += answer == Timeline::Answer::kBeyond;
  return answer == Timeline::Answer::kPlaced;
}

// The time that a sample brings along; samples without one keep what they have.
bool CounterWriter::place_row(uint32_t domain, const LiveCounter& counter, const Row& row,
                              int64_t& realtime) {
  if (counter.timestamp < 0) return true;
  const SchemaEntry& entry = counter.schema->entries[static_cast<size_t>(counter.timestamp)];
  const uint8_t* at = RowLayout(row).at(counter.timestamp);
  if (!at) ++bad_ids;
  return at && place(domain, counter, load_integer(entry.value, at), realtime);
}

void CounterWriter::add_batch(const RecordView& record, const LiveCounter& counter,
                              int64_t realtime) {
  CounterBatchHead head;
  if (!record.bytes || record.bytes->size < sizeof(head)) return;
  std::memcpy(&head, record.data(), sizeof(head));
  size_t count = record.bytes->count;
  size_t rows = sizeof(head) + count * head.sample_size;
  size_t needed = head.has_times ? padded8(rows) + count * sizeof(int64_t) : rows;
  if (head.sample_size < counter.sample_size || needed > record.bytes->size) {
    ++bad_ids;
    return;
  }
  uint32_t domain = record.head->domain;
  const uint8_t* data = record.data() + sizeof(head);
  const uint8_t* times = record.data() + padded8(rows);
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* row = data + i * head.sample_size;
    int64_t time = realtime;
    if (head.has_times) {
      int64_t ticks;
      std::memcpy(&ticks, times + i * sizeof(ticks), sizeof(ticks));
      if (!place(domain, counter, ticks, time)) continue;
    } else if (!place_row(domain, counter, {counter.schema, row, head.sample_size}, time)) {
      continue;
    }
    samples_.push_back({time, &counter, row, 0, domain, Kind::kBytes});
  }
}

void CounterWriter::write() {
  std::stable_sort(samples_.begin(), samples_.end(),
                   [](const Sample& a, const Sample& b) { return a.time < b.time; });
  for (const Sample& sample : samples_) write_sample(sample);
  samples += samples_.size();
  samples_.clear();
}

void CounterWriter::write_sample(const Sample& sample) {
  for (const CounterField& field : sample.counter->fields) {
    if (values_.size() <= field.state) {
      uint32_t half = file_.header().active.load(std::memory_order_acquire);
      for (size_t i = values_.size(); i <= field.state; ++i) {
        values_.push_back(file_.counters()[i].value[half]);
      }
    }
    write_field(sample, field);
  }
}

void CounterWriter::write_field(const Sample& sample, const CounterField& field) {
  PacketSequence& out = track(sample, field);
  if (sample.kind == Kind::kNone) return write_none(out, sample, field);
  int64_t integer = 0;
  double number = 0;
  if (sample.kind == Kind::kInteger) {
    integer = static_cast<int64_t>(sample.bits);
    number = static_cast<double>(integer);
  } else if (sample.kind == Kind::kDouble) {
    std::memcpy(&number, &sample.bits, sizeof(number));
    if (!is_float(field.value)) integer = static_cast<int64_t>(number);
  } else {
    const uint8_t* at = sample.data + field.offset;
    if (is_float(field.value)) {
      bool inexact = false;
      number = load_countable(field.value, at, inexact);
      rounded += inexact;
    } else {
      integer = load_integer(field.value, at);
      number = static_cast<double>(integer);
    }
  }
  CounterState::Value& value = values_[field.state];
  bool sum = field.semantics.delta == DeltaKind::kDelta;
  value.number = sum ? value.number + number : number;
  value.integer = sum ? static_cast<int64_t>(static_cast<uint64_t>(value.integer) +
                                             static_cast<uint64_t>(integer))
                      : integer;
  ++value.seen;
  write_value(out, sample.time, field);
}

void CounterWriter::write_none(PacketSequence& out, const Sample& sample,
                               const CounterField& field) {
  CounterState::Value& value = values_[field.state];
  bool sum = field.semantics.delta == DeltaKind::kDelta;
  switch (sample.bits) {
    case NVTX_COUNTER_SAMPLE_ZERO:
      if (!sum) value.number = 0, value.integer = 0;
      ++value.seen;
      return write_value(out, sample.time, field);
    case NVTX_COUNTER_SAMPLE_UNCHANGED:
      if (value.seen > 0) write_value(out, sample.time, field);
      return;
    case NVTX_COUNTER_SAMPLE_UNAVAILABLE: return out.counter(sample.time, std::nan(""));
    default: ++bad_ids;
  }
}

void CounterWriter::write_value(PacketSequence& out, int64_t time, const CounterField& field) {
  const CounterState::Value& value = values_[field.state];
  if (field.scale.factor != 1) {
    return out.counter(time, std::max(value.number * field.scale.factor, field.scale.least));
  }
  if (is_float(field.value)) return out.counter(time, value.number);
  if (field.value.kind == ValueKind::kUnsigned) {
    auto whole = static_cast<uint64_t>(value.integer);
    rounded += is_rounded(whole);
    return out.counter(time, whole);
  }
  rounded += is_rounded(value.integer);
  out.counter(time, value.integer);
}

PacketSequence& CounterWriter::track(const Sample& sample, const CounterField& field) {
  if (tracks_.size() <= field.state) tracks_.resize(field.state + 1);
  Track& track = tracks_[field.state];
  if (track.packets) return *track.packets;
  uint64_t uuid = uuids_.counter(field.state);
  const LiveDomain& domain = catalog_.domain(sample.domain);
  TrackDescription description;
  description.uuid = uuid;
  description.parent = scope_track(domain, sample.counter->scope);
  description.name = field.name;
  description.description = field.description;
  CounterDescription unit;
  unit.unit = field.semantics.unit;
  unit.multiplier = field.scale.multiplier;
  describe_counter(out_.bytes(), sequence_, description, unit);
  track.packets = std::make_unique<PacketSequence>(out_, uuid, kRealtime);
  return *track.packets;
}

uint64_t CounterWriter::scope_track(const LiveDomain& domain, uint64_t scope) {
  const std::vector<ScopeNode>* path = domain.find_scope(scope);
  return path ? scopes_.path(*path) : uuids_.process();
}

}  // namespace nvtx_perfetto::live
