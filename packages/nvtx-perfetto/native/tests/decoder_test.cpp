// SPDX-License-Identifier: Apache-2.0
#include "payload/decoder.h"

#include <cmath>

#include "check.h"
#include "packets.h"
#include "schemas.h"

using namespace nvtx_perfetto;
using schemas::Bytes;
using schemas::entry;
using schemas::Types;

using Arguments = std::map<std::string, std::string>;

namespace {

Arguments decoded(const Types& types, const Row& row, uint64_t* bad = nullptr) {
  static const std::string kName = "p";
  packets::MemorySink sink;
  SequenceIds ids;
  PacketBuffer out(sink, ids);
  PacketSequence sequence(out, 1, 1);
  sequence.open(EventType::kInstant, 1);
  AnnotationWriter writer(sequence);
  PayloadDecoder decoder(writer, types);
  decoder.write(&kName, row, false);
  sequence.close();
  out.flush();
  if (bad) *bad = decoder.bad_handles();
  return sink.trace().events.at(0).arguments;
}

constexpr uint64_t kFixed = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
constexpr uint64_t kLength = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX;
constexpr uint64_t kZero = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED;
constexpr uint64_t kDynamic = NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC;

}  // namespace

TEST("decoder: integers of every width and sign") {
  Types types;
  const Schema& schema = types.add(
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT8, "i8"), entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "u8"),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "i16"), entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "u16"),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "i32"), entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "u32"),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "i64"), entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "u64"),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "size"), entry(NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS, "at")});
  Bytes bytes;
  bytes.add<int8_t>(-1).add<uint8_t>(255).add<int16_t>(-2).add<uint16_t>(65535);
  bytes.add<int32_t>(INT32_MIN).add<uint32_t>(UINT32_MAX).add<int64_t>(INT64_MIN);
  bytes.add<uint64_t>(UINT64_MAX).add<size_t>(9).add<uint64_t>(0xABC);
  CHECK_EQ(schema.size, bytes.size());
  Arguments expected = {{"p.i8", "-1"},
                        {"p.u8", "255"},
                        {"p.i16", "-2"},
                        {"p.u16", "65535"},
                        {"p.i32", "-2147483648"},
                        {"p.u32", "4294967295"},
                        {"p.i64", "-9223372036854775808"},
                        {"p.u64", "18446744073709551615"},
                        {"p.size", "9"},
                        {"p.at", "pointer 2748"}};
  CHECK(decoded(types, bytes.row(schema)) == expected);
}

TEST("decoder: 128-bit and extended numbers are exact text") {
  Types types;
  const Schema& schema = types.add({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT128, "i"),
                                    entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT128, "u"),
                                    entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128, "q"),
                                    entry(NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE, "l")});
  auto least = static_cast<__int128>(static_cast<unsigned __int128>(1) << 127);
  uint64_t quad[2] = {0, uint64_t{0xBFFF8} << 44};  // -1.5
  Bytes bytes;
  bytes.add<__int128>(least).add<unsigned __int128>(~static_cast<unsigned __int128>(0));
  bytes.raw(quad, 16).add<long double>(0.5L);
  Arguments found = decoded(types, bytes.row(schema));
  CHECK_EQ(found["p.i"], "-170141183460469231731687303715884105728");
  CHECK_EQ(found["p.u"], "340282366920938463463374607431768211455");
  CHECK_EQ(std::strtold(found["p.q"].c_str(), nullptr), -1.5L);
  CHECK_EQ(found["p.l"], "0.5");
}

TEST("decoder: half, brain and IEEE floats") {
  Types types;
  const Schema& schema = types.add(
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16, "h", kFixed, 4),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_BF16, "b"), entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32, "f"),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64, "d"), entry(NVTX_PAYLOAD_ENTRY_TYPE_TF32, "t")});
  Bytes bytes;
  bytes.add<uint16_t>(0x3C00).add<uint16_t>(0xC000).add<uint16_t>(0x0001).add<uint16_t>(0x7C00);
  bytes.add<uint16_t>(0x3FC0).add<float>(0.25f).add<double>(-2.5).add<float>(4.0f);
  Arguments expected = {{"p.h[0]", "1.000000"}, {"p.h[1]", "-2.000000"}, {"p.h[2]", "0.000000"},
                        {"p.h[3]", "inf"},      {"p.b", "1.500000"},     {"p.f", "0.250000"},
                        {"p.d", "-2.500000"},   {"p.t", "4.000000"}};
  CHECK(decoded(types, bytes.row(schema)) == expected);
}

TEST("decoder: fixed texts end at the first zero or at their room") {
  Types types;
  const Schema& schema = types.add({entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "a", kFixed, 4),
                                    entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, "b", kFixed, 4),
                                    entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16, "c", kFixed, 2),
                                    entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32, "d", kFixed, 2),
                                    entry(NVTX_PAYLOAD_ENTRY_TYPE_CHAR, "e", kFixed, 3),
                                    entry(NVTX_PAYLOAD_ENTRY_TYPE_CHAR, "f")});
  Bytes bytes;
  bytes.raw("ab\0x", 4).raw("full", 4).add<uint16_t>(0x20AC).add<uint16_t>('z');
  bytes.add<uint32_t>(0x1F600).add<uint32_t>(0).raw("xyz", 3).raw("q", 1);
  Arguments expected = {{"p.a", "ab"},         {"p.b", "full"}, {"p.c", "\u20acz"},
                        {"p.d", "\U0001F600"}, {"p.e", "xyz"},  {"p.f", "q"}};
  CHECK(decoded(types, bytes.row(schema)) == expected);
}

TEST("decoder: bytes are text when printable and hexadecimal otherwise") {
  Types types;
  const Schema& schema = types.add({entry(NVTX_PAYLOAD_ENTRY_TYPE_BYTE, "text", kFixed, 4),
                                    entry(NVTX_PAYLOAD_ENTRY_TYPE_BYTE, "raw", kFixed, 3),
                                    entry(NVTX_PAYLOAD_ENTRY_TYPE_BYTE, "none", kFixed, 2)});
  Bytes bytes;
  bytes.raw("hi\0\0", 4).raw("\x01\x00\xFF", 3).raw("\0\0", 2);
  Arguments expected = {{"p.text", "hi"}, {"p.raw", "0x0100ff"}, {"p.none", "0x0000"}};
  CHECK(decoded(types, bytes.row(schema)) == expected);
}

TEST("decoder: registered strings resolve; a handle that is none is counted") {
  Types types;
  types.strings[5] = "known";
  const Schema& schema =
      types.add({entry(NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "s", kFixed, 3)});
  Bytes bytes;
  bytes.add<uint64_t>(5).add<uint64_t>(6).add<uint64_t>(0);
  uint64_t bad = 0;
  Arguments expected = {{"p.s[0]", "known"}, {"p.s[1]", ""}, {"p.s[2]", ""}};
  CHECK(decoded(types, bytes.row(schema), &bad) == expected);
  CHECK_EQ(bad, 1u);
}

TEST("decoder: enums show labels, flags joined, and numbers where no label fits") {
  Types types;
  uint64_t color = types.add_enum({{"red", 1, 0}, {"minus", UINT64_MAX, 0}}, 4);
  uint64_t mode = types.add_enum({{"none", 0, 0}, {"read", 1, 1}, {"write", 2, 1}}, 1);
  const Schema& schema = types.add({entry(color, "c", kFixed, 3), entry(mode, "m", kFixed, 4)});
  Bytes bytes;
  bytes.add<int32_t>(1).add<int32_t>(-1).add<int32_t>(7);
  bytes.add<uint8_t>(0).add<uint8_t>(3).add<uint8_t>(2).add<uint8_t>(5);
  Arguments expected = {{"p.c[0]", "red"},  {"p.c[1]", "minus"},      {"p.c[2]", "7"},
                        {"p.m[0]", "none"}, {"p.m[1]", "read|write"}, {"p.m[2]", "write"},
                        {"p.m[3]", "5"}};
  CHECK(decoded(types, bytes.row(schema)) == expected);
}

TEST("decoder: groups nest, and scalars that are wrapped show as scalars") {
  Types types;
  const Schema& inner = types.add(
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "x"), entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "y")});
  const Schema& wrapper = types.add({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, nullptr)});
  const Schema& schema = types.add({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT8, "a"), entry(inner.id, "in"),
                                    entry(inner.id, "list", kFixed, 2), entry(wrapper.id, "w"),
                                    entry(wrapper.id, "ws", kFixed, 2)});
  CHECK_EQ(inner.size, 16u);
  CHECK_EQ(schema.size, 72u);
  Bytes bytes;
  bytes.add<int64_t>(1).add<int64_t>(2).add<int64_t>(3).add<int64_t>(4).add<int64_t>(5);
  bytes.add<int64_t>(6).add<int64_t>(7).add<int32_t>(8).add<int32_t>(9).add<int32_t>(10);
  bytes.add<int32_t>(0);
  Arguments expected = {{"p.a", "1"},         {"p.in.x", "2"},      {"p.in.y", "3"},
                        {"p.list[0].x", "4"}, {"p.list[0].y", "5"}, {"p.list[1].x", "6"},
                        {"p.list[1].y", "7"}, {"p.w", "8"},         {"p.ws[0]", "9"},
                        {"p.ws[1]", "10"}};
  CHECK(decoded(types, bytes.row(schema)) == expected);
  Bytes alone;
  alone.add<int32_t>(12);
  CHECK((decoded(types, alone.row(wrapper)) == Arguments{{"p", "12"}}));
}

TEST("decoder: long arrays are cut at 64 elements and tell their size") {
  Types types;
  const Schema& schema = types.add({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "v", kFixed, 100)});
  Bytes bytes;
  for (uint8_t i = 0; i < 100; ++i) bytes.add<uint8_t>(i);
  Arguments found = decoded(types, bytes.row(schema));
  CHECK_EQ(found.size(), 65u);
  CHECK_EQ(found["p.v[63]"], "63");
  CHECK_EQ(found["p.v.size"], "100");
}

TEST("decoder: arrays by length entry, zero-terminated ones, and what stands behind them") {
  Types types;
  const Schema& schema = types.add({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "n"),
                                    entry(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "v", kLength, 0),
                                    entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "s", kZero),
                                    entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "last")},
                                   0, kDynamic);
  Bytes bytes;
  bytes.add<uint16_t>(2).add<int16_t>(-7).add<int16_t>(8).raw("text", 5).add<int32_t>(11);
  Arguments expected = {
      {"p.n", "2"}, {"p.v[0]", "-7"}, {"p.v[1]", "8"}, {"p.s", "text"}, {"p.last", "11"}};
  CHECK(decoded(types, bytes.row(schema)) == expected);
}

TEST("decoder: a length beyond the row shows the elements that are there") {
  Types types;
  const Schema& schema = types.add({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "n"),
                                    entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "v", kLength, 0)},
                                   0, kDynamic);
  for (int64_t claimed : {int64_t{1000}, INT64_MAX}) {
    Bytes bytes;
    bytes.add<int64_t>(claimed).add<int32_t>(1).add<int32_t>(2);
    Arguments found = decoded(types, bytes.row(schema));
    CHECK_EQ(found["p.v[1]"], "2");
    CHECK_EQ(found.count("p.v[2]"), 0u);
  }
  Bytes negative;
  negative.add<int64_t>(-1).add<int32_t>(1);
  CHECK_EQ(decoded(types, negative.row(schema)).size(), 1u);
}

TEST("decoder: a union shows the member that its selector names") {
  Types types;
  const Schema& either = types.add({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "whole"),
                                    entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "real")},
                                   0, NVTX_PAYLOAD_SCHEMA_TYPE_UNION);
  const Schema& schema =
      types.add({entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "which"), entry(either.id, "u", 0, 0)});
  Bytes first;
  first.add<uint8_t>(0).add<int64_t>(-3);
  CHECK_EQ(decoded(types, first.row(schema))["p.u.whole"], "-3");
  Bytes second;
  second.add<uint8_t>(1).add<double>(2.5);
  CHECK_EQ(decoded(types, second.row(schema))["p.u.real"], "2.500000");
  Bytes beyond;
  beyond.add<uint8_t>(9).add<int64_t>(1);
  CHECK((decoded(types, beyond.row(schema)) == Arguments{{"p.which", "9"}}));
}

TEST("decoder: a payload of a predefined type is its elements") {
  Types types;
  auto schema = predefined_schema(NVTX_PAYLOAD_ENTRY_TYPE_INT32);
  Bytes one;
  one.add<int32_t>(5);
  CHECK((decoded(types, one.row(*schema)) == Arguments{{"p", "5"}}));
  Bytes more;
  for (int32_t i = 0; i < 70; ++i) more.add<int32_t>(i);
  Arguments found = decoded(types, more.row(*schema));
  CHECK_EQ(found["p[63]"], "63");
  CHECK_EQ(found["payload.size"], "70");
  auto text = predefined_schema(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING);
  Bytes words;
  words.raw("words\0", 6);
  CHECK((decoded(types, words.row(*text)) == Arguments{{"p", "words"}}));
}

TEST("decoder: the deepest schema that can be registered can be written") {
  Types types;
  uint64_t id = types.add({entry(NVTX_PAYLOAD_ENTRY_TYPE_INT8, "x")}).id;
  for (int depth = 2; depth <= 60; ++depth) id = types.add({entry(id, "x")}).id;
  Bytes bytes;
  bytes.add<int8_t>(5);
  CHECK_EQ(decoded(types, bytes.row(*types.find_schema(id))).begin()->second, "5");
}
