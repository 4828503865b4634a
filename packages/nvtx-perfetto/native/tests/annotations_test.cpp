// SPDX-License-Identifier: Apache-2.0
#include "perfetto/annotations.h"

#include <stdexcept>

#include "check.h"
#include "packets.h"

using namespace nvtx_perfetto;
using packets::MemorySink;

namespace {

struct Written {
  MemorySink sink;
  SequenceIds ids;
  PacketBuffer out{sink, ids};
  PacketSequence sequence{out, 1, 1};

  template <typename Write>
  std::map<std::string, std::string> arguments(const Write& write) {
    sequence.open(EventType::kInstant, 1);
    AnnotationWriter writer(sequence);
    write(writer);
    sequence.close();
    out.flush();
    return sink.trace().events.back().arguments;
  }
};

const std::string kA = "a";
const std::string kB = "b";

}  // namespace

TEST("annotations: each kind of value reads back under its name") {
  Written written;
  auto found = written.arguments([](AnnotationWriter& writer) {
    writer.open_dict(&kA);
    writer.add(&kA, int64_t{-5});
    writer.add(&kB, UINT64_MAX);
    writer.open_array(&kA);
    writer.add(nullptr, uint64_t{7});
    writer.add(nullptr, 0.5);
    writer.close_nested();
    writer.close_nested();
    writer.add_pointer(&kB, 255);
  });
  CHECK_EQ(found["a.a"], "-5");
  CHECK_EQ(found["a.b"], "18446744073709551615");
  CHECK_EQ(found["a.a[0]"], "7");
  CHECK_EQ(found["a.a[1]"], "0.500000");
  CHECK_EQ(found["b"], "pointer 255");
}

TEST("annotations: long texts inside groups keep every length right") {
  for (size_t size : {120u, 127u, 128u, 16384u, 200000u}) {
    Written written;
    auto found = written.arguments([size](AnnotationWriter& writer) {
      writer.open_dict(&kA);
      writer.add(&kB, std::string_view(std::string(size, 'x')));
      writer.close_nested();
      writer.add(&kB, std::string_view("behind"));
    });
    CHECK_EQ(found["a.b"].size(), size);
    CHECK_EQ(found["b"], "behind");
  }
}

TEST("annotations: groups nest 64 deep, and one more is refused") {
  Written written;
  auto found = written.arguments([](AnnotationWriter& writer) {
    for (int i = 0; i < 64; ++i) writer.open_dict(&kA);
    writer.add(&kB, int64_t{1});
    bool refused = false;
    try {
      writer.open_dict(&kA);
    } catch (const std::length_error&) {
      refused = true;
    }
    CHECK(refused);
    for (int i = 0; i < 64; ++i) writer.close_nested();
  });
  CHECK_EQ(found.size(), 1u);
  CHECK_EQ(found.begin()->first.size(), 64u * 2 - 1 + 2);
}

TEST("annotations: ill-formed text is repaired and counted, interned text written once") {
  Written written;
  std::string text = "interned text";
  for (int i = 0; i < 2; ++i) {
    auto found = written.arguments([&](AnnotationWriter& writer) {
      writer.add(&kA, std::string_view("x\xFF"));
      writer.add_interned(&kB, 4, text);
      CHECK_EQ(writer.repaired_texts(), 1u);
    });
    CHECK_EQ(found["a"], "x\xEF\xBF\xBD");
    CHECK_EQ(found["b"], text);
  }
  CHECK(written.sink.bytes.find(text) == written.sink.bytes.rfind(text));
}
