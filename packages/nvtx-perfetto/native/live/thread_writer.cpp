// SPDX-License-Identifier: Apache-2.0
#include "live/thread_writer.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cwchar>

#include "live/session.h"

namespace nvtx_perfetto::live {
namespace {

// More payloads than this on one event are dropped, as if they were not there.
constexpr size_t kMaxPayloads = 16;

// The longest prefix of at most `most` bytes that cuts no UTF-8 sequence.
size_t cut_text(const char* text, size_t most) {
  while (most > 0 && (static_cast<uint8_t>(text[most]) & 0xC0) == 0x80) --most;
  return most;
}

size_t text_size(const nvtxPayloadData_t& payload) {
  // Only for zero-terminated texts may the size be left to the tool.
  switch (payload.schemaId) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8:
      return strnlen(static_cast<const char*>(payload.payload), kMaxText) + 1;
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32:
      return (wcsnlen(static_cast<const wchar_t*>(payload.payload), kMaxText / 4) + 1) * 4;
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16: {
      const auto* units = static_cast<const uint16_t*>(payload.payload);
      size_t count = 0;
      while (count < kMaxText / 2 && units[count] != 0) ++count;
      return (count + 1) * 2;
    }
    default: return 0;
  }
}

}  // namespace

struct ThreadWriter::Shape {
  size_t size = sizeof(Record);
  uint32_t text = 0;
  uint8_t flags = 0;
  uint32_t payloads = 0;
  uint32_t bytes = 0;
  uint32_t payload_sizes[kMaxPayloads];
};

void ThreadWriter::attach(Session* session) {
  session_ = session;
  slot_ = session->claim_slot();
  if (!slot_) return;
  int64_t chunk = session->pool().acquire();
  if (chunk < 0) {
    session->release_slot(slot_);
    slot_ = nullptr;
    return;
  }
  slot_->tid = static_cast<int32_t>(::syscall(SYS_gettid));
  ::prctl(PR_GET_NAME, slot_->own_name);
  Cursor start{static_cast<uint32_t>(chunk + 1), kChunkStart};
  slot_->consumed[0] = slot_->consumed[1] = start;
  slot_->open[0] = slot_->open[1] = 0;
  base_ = session->file().chunk(static_cast<uint32_t>(chunk));
  chunk_ = &session->file().chunk_header(static_cast<uint32_t>(chunk));
  at_ = base_ + kChunkStart;
  limit_ = base_ + kChunkSize / 2;
  end_ = base_ + kChunkSize;
  slot_->state.store(kSlotLive, std::memory_order_release);
}

void ThreadWriter::detach() {
  if (!slot_) return;
  for (uint32_t spare : spares_) session_->pool().release(spare);
  spares_.clear();
  ::prctl(PR_GET_NAME, slot_->own_name);
  slot_->state.store(kSlotEnded, std::memory_order_release);
  session_->thread_ended();
  slot_ = nullptr;
}

void ThreadWriter::inherit() {
  for (uint32_t i = 0; i < depth_count_; ++i) {
    depths_[i].inherited += depths_[i].open + depths_[i].dropped;
    depths_[i].open = depths_[i].dropped = 0;
  }
  open_ranges_ = 0;
  session_ = nullptr;
  slot_ = nullptr;
  chunk_ = nullptr;
  base_ = at_ = limit_ = end_ = nullptr;
  spares_.clear();
}

void ThreadWriter::tally(Tally kind, uint64_t much) {
  auto index = static_cast<size_t>(kind);
  auto* tallies = slot_ ? slot_->tallies : session_ ? session_->file().header().tallies : nullptr;
  if (tallies) tallies[index].fetch_add(much, std::memory_order_relaxed);
}

void ThreadWriter::grow_depths(uint32_t domain) {
  uint32_t count = std::max(8u, depth_count_);
  while (count <= domain) count *= 2;
  auto* grown = new Depth[count];
  std::copy(depths_, depths_ + depth_count_, grown);
  delete[] depths_;
  depths_ = grown;
  depth_count_ = count;
}

void ThreadWriter::note_domain(uint32_t domain) {
  std::atomic<uint64_t>& word = slot_->domains[domain / 64];
  uint64_t bit = uint64_t{1} << (domain % 64);
  uint64_t seen = word.load(std::memory_order_relaxed);
  if (!(seen & bit)) word.store(seen | bit, std::memory_order_relaxed);
}

uint8_t* ThreadWriter::place_slowly(size_t size, size_t kept) {
  if (!slot_) return nullptr;
  if (limit_ != end_) {
    limit_ = end_;
    session_->wake();
  }
  constexpr size_t kRoom = kChunkSize - kChunkStart;
  auto here = static_cast<size_t>(end_ - at_);
  bool fits = size <= here;
  // What does not fit here leaves the rest of this chunk empty.
  for (;;) {
    size_t ahead = spares_.size() * kRoom;
    size_t left = fits ? here - size + ahead : ahead < size ? 0 : ahead - size;
    if ((fits || ahead >= size) && left >= kept) break;
    int64_t chunk = session_->pool().acquire();
    if (chunk < 0) return nullptr;
    spares_.push_back(static_cast<uint32_t>(chunk));
  }
  if (!fits) next_chunk();
  return at_;
}

void ThreadWriter::next_chunk() {
  uint32_t chunk = spares_.back();
  spares_.pop_back();
  chunk_->next.store(chunk + 1, std::memory_order_release);
  base_ = session_->file().chunk(chunk);
  chunk_ = &session_->file().chunk_header(chunk);
  at_ = base_ + kChunkStart;
  limit_ = base_ + kChunkSize / 2;
  end_ = base_ + kChunkSize;
}

// Most events have a registered name and no payload; those need no more than this.
inline void ThreadWriter::measure(const EventInput& event, Shape& shape) {
  if (event.has_attributes) shape.flags |= kAttributes, shape.size += sizeof(AttributesExtra);
  if (event.value_type != 0) shape.flags |= kValue, shape.size += sizeof(ValueExtra);
  bool text = event.text_kind == EventInput::kText || event.text_kind == EventInput::kWideText;
  if (text) measure_text(event, shape);
  if (event.payload_count != 0) measure_payloads(event, shape);
}

void ThreadWriter::measure_text(const EventInput& event, Shape& shape) {
  if (event.text_kind == EventInput::kText) {
    const auto* text = static_cast<const char*>(event.text);
    size_t length = strnlen(text, kMaxText + 1);
    if (length > kMaxText) {
      length = cut_text(text, kMaxText);
      tally(Tally::kCut);
    }
    shape.text = static_cast<uint32_t>(length);
    shape.flags |= kInlineText;
  } else {
    size_t most = kMaxText / sizeof(wchar_t);
    size_t count = wcsnlen(static_cast<const wchar_t*>(event.text), most + 1);
    if (count > most) tally(Tally::kCut);
    shape.text = static_cast<uint32_t>(std::min(count, most) * sizeof(wchar_t));
    shape.flags |= kWideText;
  }
  shape.size += padded8(shape.text);
}

void ThreadWriter::measure_payloads(const EventInput& event, Shape& shape) {
  if (!event.payloads) return;
  for (size_t i = 0; i < std::min(event.payload_count, kMaxPayloads); ++i) {
    const nvtxPayloadData_t& payload = event.payloads[i];
    size_t size = !payload.payload           ? 0
                  : payload.size == SIZE_MAX ? text_size(payload)
                                             : payload.size;
    size_t most = std::min(kMaxText, kMaxExtra - shape.bytes);
    if (size > most) size = most, tally(Tally::kCut);
    shape.payload_sizes[shape.payloads++] = static_cast<uint32_t>(size);
    shape.bytes += static_cast<uint32_t>(sizeof(PayloadHead) + padded8(size));
  }
  shape.flags |= kBytes;
  shape.size += sizeof(BytesExtra) + shape.bytes;
}

inline void ThreadWriter::put(const Shape& shape, RecordKind kind, uint32_t domain,
                              const EventInput& event, uint8_t* at, int64_t time) {
  auto* head = reinterpret_cast<Record*>(at);
  *head = {static_cast<uint64_t>(time), shape.text, static_cast<uint16_t>(domain), kind,
           shape.flags};
  if (event.text_kind == EventInput::kStringHandle) {
    head->text = static_cast<uint32_t>(event.string_handle);
    head->flags |= kRegistered;
  }
  at += sizeof(Record);
  if (shape.flags & kAttributes) {
    *reinterpret_cast<AttributesExtra*>(at) = {event.category, event.color};
    at += sizeof(AttributesExtra);
  }
  if (shape.flags & kValue) {
    *reinterpret_cast<ValueExtra*>(at) = {event.value_type, 0, event.value};
    at += sizeof(ValueExtra);
  }
  if (shape.flags & kId) at += sizeof(IdExtra);  // the caller fills it in
  if (shape.flags & kBytes) at = put_payloads(shape, event, at);
  if (shape.text) std::memcpy(at, event.text, shape.text);
}

uint8_t* ThreadWriter::put_payloads(const Shape& shape, const EventInput& event, uint8_t* at) {
  *reinterpret_cast<BytesExtra*>(at) = {shape.bytes, shape.payloads};
  at += sizeof(BytesExtra);
  for (uint32_t i = 0; i < shape.payloads; ++i) {
    uint32_t size = shape.payload_sizes[i];
    *reinterpret_cast<PayloadHead*>(at) = {event.payloads[i].schemaId, size};
    at += sizeof(PayloadHead);
    if (size) std::memcpy(at, event.payloads[i].payload, size);
    at += padded8(size);
  }
  return at;
}

int ThreadWriter::push(uint32_t domain, const EventInput& event) {
  Depth& here = depth(domain);
  auto level = static_cast<int>(here.open + here.dropped);
  Shape shape;
  measure(event, shape);
  uint8_t* at = here.dropped ? nullptr : place(padded16(shape.size), reserved() + kPopSize);
  if (!at) {
    ++here.dropped;
    tally(Tally::kDropped);
    return level;
  }
  ++here.open;
  ++open_ranges_;
  note_domain(domain);
  put(shape, kPush, domain, event, at, boottime());
  commit(padded16(shape.size));
  return level;
}

inline void ThreadWriter::put_pop(uint32_t domain, int64_t time, size_t kept) {
  auto* at = reinterpret_cast<Record*>(place(kPopSize, kept));
  --open_ranges_;
  *at = {static_cast<uint64_t>(time), 0, static_cast<uint16_t>(domain), kPop, 0};
  commit(kPopSize);
}

int ThreadWriter::pop(uint32_t domain, const nvtxPayloadData_t* payloads, size_t count) {
  int64_t time = boottime();
  Depth& here = depth(domain);
  if (here.dropped) return static_cast<int>(--here.dropped + here.open);
  if (!here.open) {
    bool inherited = here.inherited > 0;
    if (inherited) --here.inherited;
    tally(inherited ? Tally::kInheritedPop : Tally::kUnmatchedPop);
    return -1;
  }
  --here.open;
  size_t kept = reserved() - kPopSize;
  if (count == 0) {
    put_pop(domain, time, kept);
    return static_cast<int>(here.open);
  }
  EventInput event;
  event.payloads = payloads;
  event.payload_count = count;
  Shape shape;
  measure(event, shape);
  uint8_t* at = place(padded16(shape.size), kept);
  if (!at) {
    // The payload found no room; the pop has its own.
    tally(Tally::kCut);
    put_pop(domain, time, kept);
    return static_cast<int>(here.open);
  }
  --open_ranges_;
  put(shape, kPop, domain, event, at, time);
  commit(padded16(shape.size));
  return static_cast<int>(here.open);
}

void ThreadWriter::mark(uint32_t domain, const EventInput& event) {
  Shape shape;
  measure(event, shape);
  uint8_t* at = depth(domain).dropped ? nullptr : place(padded16(shape.size), reserved());
  if (!at) return tally(Tally::kDropped);
  note_domain(domain);
  put(shape, kMark, domain, event, at, boottime());
  commit(padded16(shape.size));
}

void ThreadWriter::submit(uint32_t domain, const EventInput& event) {
  Shape shape;
  measure(event, shape);
  uint8_t* at = place(padded16(shape.size), reserved());
  if (!at) return tally(Tally::kDropped);
  put(shape, kEvent, domain, event, at, boottime());
  commit(padded16(shape.size));
}

uint64_t ThreadWriter::start(uint32_t domain, const EventInput& event) {
  Shape shape;
  measure(event, shape);
  shape.flags |= kId;
  shape.size += sizeof(IdExtra);
  uint8_t* at = place(padded16(shape.size), reserved());
  IdExtra id;
  if (!at || !session_->ranges().open(domain, id.slot, id.generation)) {
    tally(Tally::kDropped);
    return 0;
  }
  put(shape, kStart, domain, event, at, session_->ranges().start_time(id.slot));
  size_t before = sizeof(Record) + (shape.flags & kAttributes ? sizeof(AttributesExtra) : 0) +
                  (shape.flags & kValue ? sizeof(ValueExtra) : 0);
  *reinterpret_cast<IdExtra*>(at + before) = id;
  commit(padded16(shape.size));
  return RangeTable::id(id.slot, id.generation);
}

void ThreadWriter::end(uint64_t id, const nvtxPayloadData_t* payloads, size_t count) {
  int64_t time = boottime();
  uint32_t slot;
  uint32_t domain;
  if (id == 0) return;  // a range that was dropped
  if (!session_->ranges().close(id, slot, domain)) return tally(Tally::kUnknownEnd);
  EventInput event;
  event.payloads = payloads;
  event.payload_count = count;
  Shape shape;
  measure(event, shape);
  shape.text = 0;
  uint8_t* at = place(padded16(shape.size), reserved());
  if (!at) {
    if (count) tally(Tally::kCut);
    return session_->ranges().leave_end(slot, time);
  }
  put(shape, kEnd, domain, event, at, time);
  reinterpret_cast<Record*>(at)->text = slot;
  commit(padded16(shape.size));
  session_->ranges().recorded(slot, time);
}

void ThreadWriter::sample(RecordKind kind, uint32_t domain, uint32_t counter, uint64_t bits) {
  constexpr size_t kSize = sizeof(Record) + sizeof(ValueExtra);
  uint8_t* at = place(kSize, reserved());
  if (!at) return tally(Tally::kDropped);
  *reinterpret_cast<Record*>(at) = {static_cast<uint64_t>(boottime()), counter,
                                    static_cast<uint16_t>(domain), kind, kValue};
  *reinterpret_cast<ValueExtra*>(at + sizeof(Record)) = {0, 0, bits};
  commit(kSize);
}

void ThreadWriter::sample_bytes(uint32_t domain, uint32_t counter, const void* bytes, size_t size) {
  size_t whole = padded16(sizeof(Record) + sizeof(BytesExtra) + padded8(size));
  uint8_t* at = size > kMaxText ? nullptr : place(whole, reserved());
  if (!at) return tally(Tally::kDropped);
  *reinterpret_cast<Record*>(at) = {static_cast<uint64_t>(boottime()), counter,
                                    static_cast<uint16_t>(domain), kCounterBytes, kBytes};
  *reinterpret_cast<BytesExtra*>(at + sizeof(Record)) = {static_cast<uint32_t>(size), 1};
  std::memcpy(at + sizeof(Record) + sizeof(BytesExtra), bytes, size);
  commit(whole);
}

void ThreadWriter::batch(const Batch& batch, const void* head, size_t head_size) {
  const auto* rows = static_cast<const uint8_t*>(batch.rows);
  size_t unit = batch.row_size + (batch.times ? sizeof(int64_t) : 0);
  if (batch.row_size > kMaxText) return tally(Tally::kDropped, batch.count);
  size_t most = std::max<size_t>(1, kMaxText / unit);
  for (size_t first = 0; first < batch.count; first += most) {
    size_t count = std::min(most, batch.count - first);
    size_t row_bytes = count * batch.row_size;
    size_t size = padded8(head_size + row_bytes) + (batch.times ? count * sizeof(int64_t) : 0);
    size_t whole = padded16(sizeof(Record) + sizeof(BytesExtra) + size);
    uint8_t* at = place(whole, reserved());
    if (!at) return tally(Tally::kDropped, batch.count - first);
    *reinterpret_cast<Record*>(at) = {static_cast<uint64_t>(boottime()), batch.counter,
                                      static_cast<uint16_t>(batch.domain), batch.kind, kBytes};
    *reinterpret_cast<BytesExtra*>(at + sizeof(Record)) = {static_cast<uint32_t>(size),
                                                           static_cast<uint32_t>(count)};
    uint8_t* body = at + sizeof(Record) + sizeof(BytesExtra);
    std::memcpy(body, head, head_size);
    std::memcpy(body + head_size, rows + first * batch.row_size, row_bytes);
    if (batch.times) {
      std::memcpy(body + padded8(head_size + row_bytes), batch.times + first,
                  count * sizeof(int64_t));
    }
    commit(whole);
  }
}

}  // namespace nvtx_perfetto::live
