// SPDX-License-Identifier: Apache-2.0
#include "payload/decoder.h"

#include <algorithm>
#include <cstring>

#include "perfetto/text.h"

namespace nvtx_perfetto {
namespace {

bool is_flow(const Schema& schema, int index) {
  const EventPlan& plan = schema.plan;
  auto in = [index](const std::vector<int>& list) {
    return std::find(list.begin(), list.end(), index) != list.end();
  };
  return in(plan.flows_out) || in(plan.flows_in);
}

bool printable(std::string_view text) {
  return is_utf8(text) && std::none_of(text.begin(), text.end(), [](char c) {
           auto byte = static_cast<unsigned char>(c);
           return byte < 0x20 || byte == 0x7F;
         });
}

std::string hexadecimal(const uint8_t* at, size_t count) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "0x";
  for (size_t i = 0; i < count; ++i) {
    text += kDigits[at[i] >> 4];
    text += kDigits[at[i] & 15];
  }
  return text;
}

}  // namespace

std::string decode_text(const TypeInfo& type, const uint8_t* at, size_t count, bool& repaired) {
  if (type.size == 4) return from_utf32(at, count, repaired);
  if (type.size == 2) return from_utf16(at, count, repaired);
  const auto* text = reinterpret_cast<const char*>(at);
  return repair_utf8({text, strnlen(text, count)}, repaired);
}

void PayloadDecoder::write(const std::string* name, const Row& row, bool flows_too) {
  if (row.schema->is_wrapper()) {
    write_entry(name, row, RowLayout(row), 0);
    return;
  }
  out_.open_dict(name);
  write_entries(row, flows_too);
  out_.close_nested();
}

void PayloadDecoder::write_entries(const Row& row, bool flows_too) {
  const Schema& schema = *row.schema;
  RowLayout layout(row);
  for (size_t i = 0; i < schema.entries.size(); ++i) {
    int index = static_cast<int>(i);
    if (!schema.entries[i].shown) continue;
    if (!flows_too && schema.plan.has_flows() && is_flow(schema, index)) continue;
    write_entry(&schema.entries[i].name, row, layout, index);
  }
}

void PayloadDecoder::write_message(const std::string* name, const Row& row) {
  write_entry(name, row, RowLayout(row), row.schema->plan.message);
}

void PayloadDecoder::write_entry(const std::string* name, const Row& row, const RowLayout& layout,
                                 int index) {
  const SchemaEntry& entry = row.schema->entries[static_cast<size_t>(index)];
  const uint8_t* at = layout.at(index);
  if (!at) return;
  size_t count = layout.count(index);
  if (entry.nested && entry.nested->is_union) {
    write_union(name, row, layout, index);
  } else if (entry.nested && entry.array == ArrayKind::kNone) {
    size_t left = row.size - static_cast<size_t>(at - row.data);
    write_nested(name, entry, {entry.nested, at, left});
  } else if (entry.value.kind == ValueKind::kText) {
    bool repaired = false;
    out_.add(name, std::string_view(decode_text(entry.value, at, count, repaired)));
    repaired_ += repaired;
  } else if (entry.array == ArrayKind::kNone || (entry.array == ArrayKind::kFill && count == 1)) {
    write_value(name, entry, at);
  } else if (entry.value.kind == ValueKind::kByte) {
    write_bytes(name, at, count);
  } else if (entry.value.kind == ValueKind::kCharacter) {
    bool repaired = false;
    out_.add(name, std::string_view(decode_text(entry.value, at, count, repaired)));
    repaired_ += repaired;
  } else {
    write_array(name, entry, at, count);
    static const auto& kSize = *new std::string("payload.size");
    if (count > kMaxElements)
      out_.add(name && entry.named ? &entry.size_name : &kSize, static_cast<uint64_t>(count));
  }
}

void PayloadDecoder::write_nested(const std::string* name, const SchemaEntry&, const Row& inner) {
  Row row = inner;
  if (row.schema->fixed && row.size > row.schema->size) row.size = row.schema->size;
  write(name, row, true);
}

// The selector, an entry beside the union, says which member is there.
void PayloadDecoder::write_union(const std::string* name, const Row& row, const RowLayout& layout,
                                 int index) {
  const SchemaEntry& entry = row.schema->entries[static_cast<size_t>(index)];
  const uint8_t* at = layout.at(index);
  const uint8_t* selector = layout.at(static_cast<int>(entry.detail));
  const Schema& members = *entry.nested;
  if (!at || !selector) return;
  int64_t chosen = load_integer(row.schema->entries[entry.detail].value, selector);
  if (chosen < 0 || static_cast<size_t>(chosen) >= members.entries.size()) return;
  Row inner{&members, at, row.size - static_cast<size_t>(at - row.data)};
  RowLayout inner_layout(inner);
  out_.open_dict(name);
  write_entry(&members.entries[static_cast<size_t>(chosen)].name, inner, inner_layout,
              static_cast<int>(chosen));
  out_.close_nested();
}

void PayloadDecoder::write_array(const std::string* name, const SchemaEntry& entry,
                                 const uint8_t* at, size_t count) {
  out_.open_array(name);
  size_t unit = entry.element_size();
  for (size_t i = 0; i < std::min(count, kMaxElements); ++i) {
    const uint8_t* element = at + i * unit;
    if (entry.nested) {
      write_nested(nullptr, entry, {entry.nested, element, unit});
    } else {
      write_value(nullptr, entry, element);
    }
  }
  out_.close_nested();
}

void PayloadDecoder::write_value(const std::string* name, const SchemaEntry& entry,
                                 const uint8_t* at) {
  if (entry.labels) {
    auto value = static_cast<uint64_t>(load_integer(entry.value, at));
    std::string label = entry.labels->label(value);
    label.empty() ? out_.add(name, value) : out_.add(name, std::string_view(label));
    return;
  }
  switch (entry.value.kind) {
    case ValueKind::kSigned: out_.add(name, load_integer(entry.value, at)); break;
    case ValueKind::kUnsigned:
      out_.add(name, static_cast<uint64_t>(load_integer(entry.value, at)));
      break;
    case ValueKind::kByte: write_bytes(name, at, 1); break;
    case ValueKind::kFloat:
    case ValueKind::kBrainFloat: out_.add(name, load_number(entry.value, at)); break;
    case ValueKind::kAddress:
      out_.add_pointer(name, static_cast<uint64_t>(load_integer(entry.value, at)));
      break;
    case ValueKind::kCharacter: {
      bool repaired = false;
      out_.add(name, std::string_view(decode_text(entry.value, at, 1, repaired)));
      repaired_ += repaired;
      break;
    }
    case ValueKind::kStringHandle: {
      auto handle = static_cast<uint64_t>(load_integer(entry.value, at));
      const std::string* text = strings_.find_string(handle);
      if (!text && handle != 0) ++bad_handles_;
      out_.add(name, text ? std::string_view(*text) : std::string_view());
      break;
    }
    default: out_.add(name, std::string_view(wide_text(entry.value, at))); break;
  }
}

// NumPy's `S` fields travel as bytes, so printable ones are shown as the text they are.
void PayloadDecoder::write_bytes(const std::string* name, const uint8_t* at, size_t count) {
  size_t used = count;
  while (used > 0 && at[used - 1] == 0) --used;
  std::string_view text(reinterpret_cast<const char*>(at), used);
  if (used > 0 && printable(text)) {
    out_.add(name, text);
  } else {
    out_.add(name, std::string_view(hexadecimal(at, count)));
  }
}

}  // namespace nvtx_perfetto
