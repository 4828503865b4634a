// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "payload/schema.h"

namespace nvtx_perfetto {
namespace {

size_t align_up(size_t offset, size_t align) { return (offset + align - 1) / align * align; }

// Code units or elements before the first all-zero one, and whether there is one.
size_t zero_terminated_count(const Row& row, size_t offset, size_t unit, bool& terminated) {
  terminated = false;
  size_t count = 0;
  for (size_t at = offset; at + unit <= row.size; at += unit, ++count) {
    const uint8_t* bytes = row.data + at;
    if (std::all_of(bytes, bytes + unit, [](uint8_t byte) { return byte == 0; })) {
      terminated = true;
      break;
    }
  }
  return count;
}

// The size of a nested layout that depends on its data.
size_t nested_size(const Row& row, const RowLayout& layout) {
  size_t end = 0;
  for (size_t i = 0; i < row.schema->entries.size(); ++i) {
    int entry = static_cast<int>(i);
    const uint8_t* at = layout.at(entry);
    if (!at) continue;
    size_t unit = row.schema->entries[i].element_size();
    end = std::max(end, static_cast<size_t>(at - row.data) + layout.count(entry) * unit);
  }
  return end;
}

}  // namespace

size_t SchemaEntry::element_size() const {
  if (nested) return nested->size;
  return value.size;
}

const uint8_t* RowLayout::walked(int entry) const {
  const Place& place = places_[static_cast<size_t>(entry)];
  return place.present ? row_.data + place.offset : nullptr;
}

size_t RowLayout::count(int entry) const {
  if (!row_.schema->fixed) return places_[static_cast<size_t>(entry)].count;
  return static_cast<size_t>(row_.schema->entries[static_cast<size_t>(entry)].count);
}

void RowLayout::walk() {
  const auto& entries = row_.schema->entries;
  places_.assign(entries.size(), Place{0, 0, false});
  size_t cursor = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    const SchemaEntry& entry = entries[i];
    size_t offset = entry.offset >= 0 ? static_cast<size_t>(entry.offset)
                                      : align_up(cursor, std::max(1u, entry.align));
    if (offset > row_.size) break;
    size_t left = row_.size - offset;
    size_t unit = entry.element_size();
    size_t count = static_cast<size_t>(entry.count);
    size_t used = 0;
    if (entry.array == ArrayKind::kZeroTerminated) {
      bool terminated = false;
      count = unit ? zero_terminated_count(row_, offset, unit, terminated) : 0;
      used = (count + (terminated ? 1 : 0)) * unit;
    } else if (entry.nested && !entry.nested->fixed) {
      Row inner{entry.nested, row_.data + offset, left};
      used = nested_size(inner, RowLayout(inner));
      count = 1;
    } else {
      if (entry.array == ArrayKind::kLengthEntry) {
        const Place& length = places_[entry.detail];
        if (!length.present) break;
        // Several lengths are the dimensions of one array.
        count = 1;
        for (size_t d = 0; d < std::max<size_t>(1, length.count); ++d) {
          const TypeInfo& type = entries[entry.detail].value;
          int64_t n = load_integer(type, row_.data + length.offset + d * type.size);
          bool overflow = n > 0 && count > row_.size / static_cast<size_t>(n) + 1;
          count = n <= 0 ? 0 : overflow ? row_.size + 1 : count * static_cast<size_t>(n);
        }
      }
      if (entry.array == ArrayKind::kFill) count = SIZE_MAX;
      // An array that the row cuts short shows the elements that are there.
      if (unit && count > left / unit) count = left / unit;
      used = count * unit;
      if (entry.array == ArrayKind::kNone && unit > left) break;
    }
    places_[i] = {offset, count, true};
    cursor = std::max(cursor, offset + used);
  }
}

bool load_entry(const Row& row, int entry, uint64_t& out) {
  const uint8_t* at = RowLayout(row).at(entry);
  if (!at) return false;
  const TypeInfo& type = row.schema->entries[static_cast<size_t>(entry)].value;
  out = static_cast<uint64_t>(load_integer(type, at));
  return true;
}

}  // namespace nvtx_perfetto
