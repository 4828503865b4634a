// SPDX-License-Identifier: Apache-2.0
#include "live/definition.h"

#include <cstring>

#include "live/record.h"

namespace nvtx_perfetto::live {

void add_definition(ByteBuffer& out, DefinitionKind kind, uint32_t domain, uint64_t id,
                    std::string_view body) {
  DefinitionHead head;
  head.size = static_cast<uint32_t>(sizeof(head) + body.size());
  head.kind = static_cast<uint16_t>(kind);
  head.domain = static_cast<uint16_t>(domain);
  head.id = id;
  out.append_value(head);
  out.append(body.data(), body.size());
  out.append_zeros(padded8(head.size) - head.size);
}

uint64_t DefinitionWriter::append(const uint8_t* definitions, size_t size) {
  uint64_t left_out = 0;
  for (size_t at = 0; at < size;) {
    uint32_t one;
    std::memcpy(&one, definitions + at, sizeof(one));
    left_out += left_out > 0 || !append_one(definitions + at, padded8(one));
    at += padded8(one);
  }
  return left_out;
}

void DefinitionWriter::refuse(uint64_t much) {
  auto& refused = file_.header().tallies[static_cast<size_t>(Tally::kRefused)];
  refused.fetch_add(much, std::memory_order_relaxed);
}

bool DefinitionWriter::append_one(const uint8_t* definition, size_t size) {
  if (size > kMaxDefinition) return false;
  if (chunk_ < 0 && !next_chunk()) return false;
  ChunkHeader* header = &file_.chunk_header(static_cast<uint32_t>(chunk_));
  uint32_t used = header->committed.load(std::memory_order_relaxed);
  if (kChunkSize - used < size) {
    if (!next_chunk()) return false;
    header = &file_.chunk_header(static_cast<uint32_t>(chunk_));
    used = kChunkStart;
  }
  std::memcpy(file_.chunk(static_cast<uint32_t>(chunk_)) + used, definition, size);
  header->committed.store(used + static_cast<uint32_t>(size), std::memory_order_release);
  return true;
}

bool DefinitionWriter::next_chunk() {
  // Texts that never repeat must not eat the room that events need.
  if (chunks_ >= file_.header().chunk_limit / 2) return false;
  int64_t fresh = pool_.acquire();
  if (fresh < 0) return false;
  auto link = static_cast<uint32_t>(fresh + 1);
  if (chunk_ < 0) {
    file_.header().definitions.store(link, std::memory_order_release);
  } else {
    file_.chunk_header(static_cast<uint32_t>(chunk_)).next.store(link, std::memory_order_release);
  }
  chunk_ = fresh;
  ++chunks_;
  return true;
}

const DefinitionHead* DefinitionReader::next() {
  if (at_.chunk == 0) at_.chunk = file_.header().definitions.load(std::memory_order_acquire);
  while (at_.chunk != 0 && file_.holds(at_.chunk - 1)) {
    const ChunkHeader& chunk = file_.chunk_header(at_.chunk - 1);
    // `next` first: once it is set, `committed` is final.
    uint32_t next = chunk.next.load(std::memory_order_acquire);
    uint32_t committed = chunk.committed.load(std::memory_order_acquire);
    if (at_.offset + sizeof(DefinitionHead) <= committed && committed <= kChunkSize) {
      auto* head = reinterpret_cast<const DefinitionHead*>(file_.chunk(at_.chunk - 1) + at_.offset);
      if (head->size < sizeof(DefinitionHead) || head->size > committed - at_.offset)
        return nullptr;
      at_.offset += static_cast<uint32_t>(padded8(head->size));
      return head;
    }
    // A chain that is longer than the file has chunks is broken.
    if (next == 0 || ++visited_ > file_.header().chunk_limit) return nullptr;
    at_ = {next, kChunkStart};
  }
  return nullptr;
}

}  // namespace nvtx_perfetto::live
