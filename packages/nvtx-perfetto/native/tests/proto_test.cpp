// SPDX-License-Identifier: Apache-2.0
#include "perfetto/proto.h"

#include "check.h"
#include "packets.h"

using namespace nvtx_perfetto;
using packets::Message;

TEST("proto: numbers of every length read back") {
  for (int bit = 0; bit < 64; ++bit) {
    for (uint64_t value : {uint64_t{1} << bit, (uint64_t{1} << bit) - 1, ~(uint64_t{1} << bit)}) {
      ByteBuffer out;
      proto::add_varint(out, 536870911, value);
      proto::add_fixed64(out, 1, value);
      CHECK_EQ(Message(out.view()).number(536870911), value);
      CHECK_EQ(Message(out.view()).number(1), value);
      uint8_t bytes[proto::kMaxVarint];
      CHECK_EQ(proto::varint_size(value),
               static_cast<size_t>(proto::put_varint(bytes, value) - bytes));
    }
  }
}

TEST("proto: messages of every length class close right, nested ones too") {
  for (size_t size : {0u, 1u, 120u, 127u, 128u, 129u, 16383u, 16384u, 2097152u}) {
    ByteBuffer out;
    size_t outer = proto::open_message(out, 1);
    size_t inner = proto::open_message(out, 2);
    proto::add_bytes(out, 3, std::string(size, 'x'));
    proto::close_message(out, inner);
    proto::add_varint(out, 4, 7);
    proto::close_message(out, outer);
    proto::add_varint(out, 5, 9);
    Message found(out.view());
    CHECK_EQ(found.message(1).message(2).text(3), std::string(size, 'x'));
    CHECK_EQ(found.message(1).number(4), 7u);
    CHECK_EQ(found.number(5), 9u);
  }
}
