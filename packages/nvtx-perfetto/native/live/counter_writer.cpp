// SPDX-License-Identifier: Apache-2.0
#include "live/counter_writer.h"

#include <nvtx3/nvToolsExtCounters.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/time_source.h"

namespace nvtx_perfetto::live {
namespace {

// An integer factor is the engine's to show; any other is applied to the values.
int64_t multiplier(const CounterSemantics& semantics) {
  bool whole = semantics.numerator % semantics.denominator == 0 &&
               semantics.numerator / semantics.denominator <= INT64_MAX;
  return whole ? static_cast<int64_t>(semantics.numerator / semantics.denominator) : 0;
}

bool is_float(const TypeInfo& type) { return !is_integer(type.kind); }

void append_line(std::string& text, const std::string& line) {
  if (line.empty()) return;
  if (!text.empty()) text += "; ";
  text += line;
}

}  // namespace

CounterWriter::CounterWriter(LiveFile& file, const Catalog& catalog, PacketBuffer& out,
                             uint32_t sequence)
    : file_(file), catalog_(catalog), out_(out), sequence_(sequence), uuids_(file.header().seed) {
  forget();
}

void CounterWriter::forget() {
  samples_.clear();
  tracks_.clear();
  described_.clear();
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
  }
  samples_.push_back(sample);
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
  const uint8_t* data = record.data() + sizeof(head);
  const uint8_t* times = record.data() + padded8(rows);
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* row = data + i * head.sample_size;
    int64_t time = realtime;
    bool timed = true;
    if (head.has_times) {
      int64_t ticks;
      std::memcpy(&ticks, times + i * sizeof(ticks), sizeof(ticks));
      timed = to_realtime(counter.time_domain, ticks, time);
    } else if (counter.timestamp >= 0) {
      Row values{counter.schema, row, head.sample_size};
      const SchemaEntry& entry = counter.schema->entries[static_cast<size_t>(counter.timestamp)];
      const uint8_t* at = RowLayout(values).at(counter.timestamp);
      timed = at && to_realtime(counter.time_domain, load_integer(entry.value, at), time);
    }
    if (!timed) {
      ++dropped;
      continue;
    }
    samples_.push_back({time, &counter, row, 0, record.head->domain, Kind::kBytes});
  }
}

bool CounterWriter::to_realtime(uint64_t time_domain, int64_t ticks, int64_t& realtime) const {
  if (time_domain <= NVTX_TIMESTAMP_TYPE_TOOL_PROVIDED) {
    // What nvtxTimestampGet gives is REALTIME already.
    realtime = ticks;
    return ticks >= 0;
  }
  auto source = predefined_source(time_domain);
  int64_t time;
  if (!source || !source->convert(ticks, time)) return false;
  const FileHeader& header = file_.header();
  auto clock = builtin_of(source->key);
  if (!clock) return false;
  int64_t offset = *clock == kBoottime       ? header.realtime_offset
                   : *clock == kMonotonic    ? header.monotonic_offset.load()
                   : *clock == kMonotonicRaw ? header.monotonic_raw_offset.load()
                                             : 0;
  return !__builtin_add_overflow(time, offset, &realtime) && realtime >= 0;
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
    const uint8_t* at = sample.data;
    if (field.entry >= 0 && sample.counter->schema->fixed) {
      Row row{sample.counter->schema, sample.data, sample.counter->sample_size};
      at = RowLayout(row).at(field.entry);
    }
    if (!at) return;
    if (is_float(field.value)) {
      number = load_number(field.value, at);
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
  const CounterSemantics& semantics = field.semantics;
  if (multiplier(semantics) == 0) {
    return out.counter(time, value.number * static_cast<double>(semantics.numerator) /
                                 static_cast<double>(semantics.denominator));
  }
  if (is_float(field.value)) return out.counter(time, value.number);
  if (field.value.kind == ValueKind::kUnsigned) {
    return out.counter(time, static_cast<uint64_t>(value.integer));
  }
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
  std::string text = sample.counter->description;
  append_line(text, field.semantics.limits);
  if (!field.semantics.interpolation.empty()) {
    append_line(text, "interpolation " + field.semantics.interpolation);
  }
  description.description = text;
  CounterDescription unit;
  unit.unit = field.semantics.unit;
  unit.multiplier = std::max<int64_t>(1, multiplier(field.semantics));
  describe_counter(out_.bytes(), sequence_, description, unit);
  track.packets = std::make_unique<PacketSequence>(out_, uuid, kRealtime);
  return *track.packets;
}

uint64_t CounterWriter::scope_track(const LiveDomain& domain, uint64_t scope) {
  uint64_t parent = uuids_.process();
  const std::vector<ScopeNode>* path = domain.find_scope(scope);
  if (!path) return parent;
  std::string so_far;
  for (const ScopeNode& node : *path) {
    so_far += '/' + node.text();
    TrackDescription track;
    track.uuid = uuids_.scope(so_far);
    track.parent = parent;
    std::string name = node.text();
    track.name = name;
    if (described_.insert(track.uuid).second) describe_track(out_.bytes(), sequence_, track);
    parent = track.uuid;
  }
  return parent;
}

}  // namespace nvtx_perfetto::live
