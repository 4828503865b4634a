// SPDX-License-Identifier: Apache-2.0
#include "io/byte_buffer.h"

#include <utility>

#include "check.h"

using nvtx_perfetto::ByteBuffer;

TEST("byte buffer: appended bytes stand one after another") {
  ByteBuffer buffer;
  buffer.append("ab", 2);
  buffer.append_zeros(1);
  buffer.append_value<uint16_t>(0x4241);
  buffer.append(nullptr, 0);
  CHECK_EQ(buffer.view(), std::string_view("ab\0AB", 5));
}

TEST("byte buffer: growing keeps what is there") {
  ByteBuffer buffer;
  std::string expected;
  for (int i = 0; i < 5000; ++i) {
    char c = static_cast<char>('a' + i % 26);
    buffer.append(&c, 1);
    expected += c;
  }
  CHECK_EQ(buffer.view(), std::string_view(expected));
  CHECK(buffer.capacity() >= buffer.size());
}

TEST("byte buffer: reserved room counts once it is committed") {
  ByteBuffer buffer;
  uint8_t* at = buffer.reserve(1000);
  at[0] = 'x';
  CHECK(buffer.empty());
  buffer.commit(1);
  buffer.reserve(10)[0] = 'y';
  buffer.commit_to(buffer.data() + 2);
  CHECK_EQ(buffer.view(), std::string_view("xy"));
}

TEST("byte buffer: a moved-from buffer is empty and can be used again") {
  ByteBuffer first;
  first.append("abc", 3);
  ByteBuffer second(std::move(first));
  CHECK_EQ(second.view(), std::string_view("abc"));
  first.append("d", 1);
  CHECK_EQ(first.view(), std::string_view("d"));
  second = std::move(first);
  CHECK_EQ(second.view(), std::string_view("d"));
  second.truncate(0);
  CHECK(second.empty());
  second.release();
  CHECK_EQ(second.capacity(), 0u);
}
