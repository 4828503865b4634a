// SPDX-License-Identifier: Apache-2.0
// Reads what the writer wrote, with nothing but the wire format and the field numbers.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "io/sink.h"
#include "perfetto/field_numbers.h"

namespace packets {

// One message, its fields by number in their order. Throws where bytes are no message.
struct Message {
  struct Value {
    uint64_t number = 0;
    std::string bytes;
  };
  std::map<uint32_t, std::vector<Value>> fields;

  explicit Message(std::string_view bytes) {
    while (!bytes.empty()) {
      uint64_t tag = varint(bytes);
      Value value;
      if ((tag & 7) == 0) {
        value.number = varint(bytes);
      } else if ((tag & 7) == 1) {
        for (int i = 0; i < 8; ++i) value.number |= uint64_t{byte(bytes)} << 8 * i;
      } else if ((tag & 7) == 2) {
        uint64_t size = varint(bytes);
        if (size > bytes.size()) throw std::runtime_error("a message is cut short");
        value.bytes = bytes.substr(0, size);
        bytes.remove_prefix(size);
      } else {
        throw std::runtime_error("unknown wire type");
      }
      fields[static_cast<uint32_t>(tag >> 3)].push_back(value);
    }
  }

  bool has(uint32_t field) const { return fields.count(field) != 0; }
  uint64_t number(uint32_t field) const { return has(field) ? fields.at(field)[0].number : 0; }
  std::string text(uint32_t field) const {
    return has(field) ? fields.at(field)[0].bytes : std::string();
  }
  Message message(uint32_t field) const { return Message(text(field)); }
  std::vector<Message> messages(uint32_t field) const {
    std::vector<Message> all;
    if (!has(field)) return all;
    for (const Value& value : fields.at(field)) all.emplace_back(value.bytes);
    return all;
  }
  std::vector<uint64_t> numbers(uint32_t field) const {
    std::vector<uint64_t> all;
    if (!has(field)) return all;
    for (const Value& value : fields.at(field)) all.push_back(value.number);
    return all;
  }

 private:
  static uint8_t byte(std::string_view& bytes) {
    if (bytes.empty()) throw std::runtime_error("a message is cut short");
    auto found = static_cast<uint8_t>(bytes[0]);
    bytes.remove_prefix(1);
    return found;
  }
  static uint64_t varint(std::string_view& bytes) {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      uint8_t part = byte(bytes);
      value |= uint64_t{part & 0x7Fu} << shift;
      if (part < 0x80) return value;
    }
    throw std::runtime_error("a varint does not end");
  }
};

// A track event with its time made absolute and its texts looked up.
struct Event {
  uint32_t sequence = 0;
  uint64_t track = 0;
  uint64_t type = 0;
  int64_t time = 0;
  std::string name;
  std::vector<std::string> categories;
  std::vector<uint64_t> flows;
  std::map<std::string, std::string> arguments;  // by path; numbers as decimal text
  double value = 0;
};

struct Track {
  uint64_t parent = 0;
  std::string name;
  std::string description;
  std::string unit;
  uint64_t multiplier = 1;
  bool counter = false;
};

struct Trace {
  std::vector<Event> events;
  std::map<uint64_t, Track> tracks;
  std::map<uint32_t, uint64_t> clock_of;  // the trace clock of each sequence

  explicit Trace(std::string_view bytes);
  // The events of the tracks of this name, in the file's order.
  std::vector<Event> on(const std::string& track) const;
};

// Keeps what it takes; full after `limit` bytes.
class MemorySink final : public nvtx_perfetto::Sink {
 public:
  explicit MemorySink(size_t limit = SIZE_MAX) : limit_(limit) {}
  bool append(const void* packets, size_t size) noexcept override {
    ++appends;
    if (bytes.size() + size > limit_) return false;
    bytes.append(static_cast<const char*>(packets), size);
    return true;
  }
  bool open_for_events() const noexcept override { return !closed; }
  Trace trace() const { return Trace(bytes); }

  std::string bytes;
  size_t appends = 0;
  bool closed = false;

 private:
  const size_t limit_;
};

}  // namespace packets
