// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/event.h"
#include "model/event_names.h"
#include "model/flow_table.h"
#include "model/summary.h"
#include "perfetto/sequence.h"

namespace nvtx_perfetto {

// Writes the begin of a range, or an instant, with its name, categories, flows and
// arguments, from the rows that describe it.
class EventEmitter {
 public:
  EventEmitter(const EventNames& domain, Summary& summary, const FlowTable& flows)
      : domain_(domain), category_key_(domain.first_category_key()), summary_(summary),
        flows_(flows) {}

  const EventNames& names() const { return domain_; }
  void emit(PacketSequence& out, const Event& event);
  // Adds the number of events so far to the summary, once.
  void count();

 private:
  struct Attributes {
    const Row* message = nullptr;
    uint32_t color = 0;
    uint32_t category = 0;
  };

  void collect(const Row* rows, uint32_t count, Attributes& out) const;
  void write(PacketSequence& out, const Event& event) const;
  uint32_t name_of(PacketSequence& out, const Row& row) const;
  uint32_t category_of(PacketSequence& out, uint32_t category) const;
  bool add_flows(PacketSequence& out, const Event& event) const;
  void add_arguments(PacketSequence& out, const Event& event, uint32_t color,
                     const Row* pop_message, bool flows_too) const;
  void add_payload(class PayloadDecoder& decoder, class AnnotationWriter& writer, const Row* rows,
                   uint32_t count, bool flows_too) const;

  const EventNames& domain_;
  const uint64_t category_key_;
  Summary& summary_;
  const FlowTable& flows_;
  uint64_t events_ = 0;
};

}  // namespace nvtx_perfetto
