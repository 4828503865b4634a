// SPDX-License-Identifier: Apache-2.0
// A session through the C interface, with one of everything that can be registered.
#pragma once

#include <nvtxw3/nvtxw3.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"
#include "schemas.h"

extern "C" nvtxwResultCode_t nvtxwGetInterface(nvtxwInterfaceVersion_t version, const void** out);

namespace writer {

class WriterSession {
 public:
  const std::string folder = check::folder();
  const std::string path;
  nvtxwSessionHandle_t handle = nullptr;
  uint64_t written = 0;  // rows and samples

  // `config`: further lines of the session's settings.
  explicit WriterSession(const std::string& name = "trace", const std::string& config = {});
  ~WriterSession() { end(); }

  void register_everything();
  // Rows of every kind that waits, on all that is registered.
  void write_everything();
  void end();

  nvtxwStreamHandle_t open(const char* name, uint64_t scope = 0, uint64_t clock = 0);
  void write_range(nvtxwStreamHandle_t stream, int64_t begin, int64_t end, uint32_t number);

 private:
  void good(nvtxwResultCode_t code) { CHECK_EQ(code, NVTXW_RESULT_SUCCESS); }
  uint64_t add_schema(const std::vector<schemas::Entry>& entries, uint64_t kind = 0,
                      uint64_t id = 0);
  uint64_t add_counter(const char* name, uint64_t schema, uint64_t scope, uint64_t flags);
  void register_types();
  void register_places();
  void write_halves();
  void write_scoped_halves(nvtxwStreamHandle_t stream);
  void write_links();
  void write_counters();
  void write_deferred();
  void write(nvtxwStreamHandle_t stream, uint64_t schema, const void* row, size_t size);

  const nvtxwInterface_v2_t* calls_ = nullptr;
  nvtxDomainHandle_t domain_ = nullptr;
  nvtxStringHandle_t name_ = nullptr;
  uint64_t range_ = 0;
  uint64_t link_ = 0;
  uint64_t push_ = 0;
  uint64_t pop_ = 0;
  uint64_t start_ = 0;
  uint64_t stop_ = 0;
  uint64_t scope_ = 0;
  uint64_t thread_ = 0;
  uint64_t clock_ = 0;
  uint64_t fast_ = 0;
  uint64_t level_ = 0;
  uint64_t steps_ = 0;
};

}  // namespace writer
