// SPDX-License-Identifier: Apache-2.0
#include "live/timer_sources.h"

#include <dlfcn.h>
#include <link.h>

namespace nvtx_perfetto::live {
namespace {

// Keeps the library that holds a function, whatever dlclose says. False for code that lies in
// none, as that of interpreters' callbacks does.
bool keep_loaded(const void* function) {
  Dl_info found;
  link_map* map = nullptr;
  if (::dladdr1(function, &found, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || !map) {
    return false;
  }
  bool program = map->l_name[0] == '\0';
  return program || ::dlopen(map->l_name, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) != nullptr;
}

}  // namespace

bool TimerSources::add(const Source& source) {
  const void* function = source.plain ? reinterpret_cast<const void*>(source.plain)
                                      : reinterpret_cast<const void*>(source.with_data);
  if (!keep_loaded(function)) return false;
  uint32_t index = count_.fetch_add(1, std::memory_order_acq_rel);
  if (index >= kMost) {
    count_.store(kMost, std::memory_order_relaxed);
    return false;
  }
  slots_[index].source = source;
  slots_[index].ready.store(true, std::memory_order_release);
  return true;
}

}  // namespace nvtx_perfetto::live
