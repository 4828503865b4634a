// SPDX-License-Identifier: Apache-2.0
// The core functions: events, domains, names. Those without a domain are the default domain's.
#include "doors/injection_door.h"
#include "perfetto/text.h"

#include <cwchar>

namespace nvtx_perfetto::injection {
namespace {

using live::DefinitionKind;

// What an event function does with the attributes of a call.
template <typename Result, typename Record>
Result with_event(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes,
                  Result otherwise, const Record& record) noexcept {
  return in_domain(domain, otherwise, [&](ThreadWriter& writer, uint32_t index) {
    EventInput event;
    if (!read_event(attributes, Recorder::existing()->registry(), event)) {
      writer.tally(Tally::kBadHandle);
    }
    return record(writer, index, event);
  });
}

template <typename Result, typename Record>
Result with_text(EventInput::Text kind, const void* text, Result otherwise,
                 const Record& record) noexcept {
  return in_domain(nullptr, otherwise, [&](ThreadWriter& writer, uint32_t index) {
    EventInput event;
    event.text = text;
    event.text_kind = text ? kind : EventInput::kNoText;
    return record(writer, index, event);
  });
}

auto push_event = [](ThreadWriter& writer, uint32_t domain, const EventInput& event) {
  return writer.push(domain, event);
};
auto mark_event = [](ThreadWriter& writer, uint32_t domain, const EventInput& event) {
  writer.mark(domain, event);
  return 0;
};
auto start_event = [](ThreadWriter& writer, uint32_t domain, const EventInput& event) {
  return writer.start(domain, event);
};

constexpr nvtxRangeId_t kNoRange = 0;

void NVTX_API domain_mark_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  with_event(domain, event, 0, mark_event);
}
nvtxRangeId_t NVTX_API domain_range_start_ex(nvtxDomainHandle_t domain,
                                             const nvtxEventAttributes_t* event) {
  return with_event(domain, event, kNoRange, start_event);
}
int NVTX_API domain_range_push_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return with_event(domain, event, -1, push_event);
}
int NVTX_API domain_range_pop(nvtxDomainHandle_t domain) {
  return in_domain(domain, -1, [](ThreadWriter& writer, uint32_t index) {
    return writer.pop(index, nullptr, 0);
  });
}
void NVTX_API domain_range_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  in_domain(domain, 0, [&](ThreadWriter& writer, uint32_t) {
    writer.end(id, nullptr, 0);
    return 0;
  });
}

void NVTX_API mark_ex(const nvtxEventAttributes_t* event) { domain_mark_ex(nullptr, event); }
void NVTX_API mark_a(const char* text) { with_text(EventInput::kText, text, 0, mark_event); }
void NVTX_API mark_w(const wchar_t* text) { with_text(EventInput::kWideText, text, 0, mark_event); }
nvtxRangeId_t NVTX_API range_start_ex(const nvtxEventAttributes_t* event) {
  return domain_range_start_ex(nullptr, event);
}
nvtxRangeId_t NVTX_API range_start_a(const char* text) {
  return with_text(EventInput::kText, text, kNoRange, start_event);
}
nvtxRangeId_t NVTX_API range_start_w(const wchar_t* text) {
  return with_text(EventInput::kWideText, text, kNoRange, start_event);
}
void NVTX_API range_end(nvtxRangeId_t id) { domain_range_end(nullptr, id); }
int NVTX_API range_push_ex(const nvtxEventAttributes_t* event) {
  return domain_range_push_ex(nullptr, event);
}
int NVTX_API range_push_a(const char* text) {
  return with_text(EventInput::kText, text, -1, push_event);
}
int NVTX_API range_push_w(const wchar_t* text) {
  return with_text(EventInput::kWideText, text, -1, push_event);
}
int NVTX_API range_pop() { return domain_range_pop(nullptr); }

// Texts that are kept; never longer than what an event may say.
std::string kept_text(const char* text) {
  return text ? std::string(text, strnlen(text, live::kMaxText)) : std::string();
}
std::string kept_text(const wchar_t* text) {
  bool repaired = false;
  size_t most = live::kMaxText / sizeof(wchar_t);
  return text ? from_utf32(text, wcsnlen(text, most), repaired) : std::string();
}

template <typename Char>
void name_category(nvtxDomainHandle_t domain, uint32_t category, const Char* name) noexcept {
  try {
    uint32_t index = domain_index(domain);
    if (index == Registry::kNoDomain || !name) return;
    Recorder::get().registry().define(DefinitionKind::kCategory, index, category, kept_text(name));
  } catch (...) {  // out of memory: it stays `category N`
  }
}
template <typename Char>
void name_thread(uint32_t thread, const Char* name) noexcept {
  try {
    if (!name) return;
    Recorder::get().registry().define(DefinitionKind::kThreadName, 0, thread, kept_text(name));
  } catch (...) {  // out of memory: the OS's name stays
  }
}
template <typename Char>
nvtxStringHandle_t register_string(nvtxDomainHandle_t domain, const Char* text) noexcept {
  try {
    uint32_t index = domain_index(domain);
    if (index == Registry::kNoDomain || !text) return nullptr;
    uint64_t handle = Recorder::get().registry().register_string(index, kept_text(text));
    return reinterpret_cast<nvtxStringHandle_t>(static_cast<uintptr_t>(handle));
  } catch (...) {
    return nullptr;
  }
}
template <typename Char>
nvtxDomainHandle_t create_domain(const Char* name) noexcept {
  try {
    uint64_t handle = Recorder::get().registry().create_domain(kept_text(name));
    return reinterpret_cast<nvtxDomainHandle_t>(static_cast<uintptr_t>(handle));
  } catch (...) {
    return nullptr;
  }
}

void NVTX_API name_category_a(uint32_t category, const char* name) {
  name_category(nullptr, category, name);
}
void NVTX_API name_category_w(uint32_t category, const wchar_t* name) {
  name_category(nullptr, category, name);
}
void NVTX_API domain_name_category_a(nvtxDomainHandle_t domain, uint32_t category,
                                     const char* name) {
  name_category(domain, category, name);
}
void NVTX_API domain_name_category_w(nvtxDomainHandle_t domain, uint32_t category,
                                     const wchar_t* name) {
  name_category(domain, category, name);
}
void NVTX_API name_os_thread_a(uint32_t thread, const char* name) { name_thread(thread, name); }
void NVTX_API name_os_thread_w(uint32_t thread, const wchar_t* name) { name_thread(thread, name); }
nvtxStringHandle_t NVTX_API register_string_a(nvtxDomainHandle_t domain, const char* text) {
  return register_string(domain, text);
}
nvtxStringHandle_t NVTX_API register_string_w(nvtxDomainHandle_t domain, const wchar_t* text) {
  return register_string(domain, text);
}
nvtxDomainHandle_t NVTX_API domain_create_a(const char* name) { return create_domain(name); }
nvtxDomainHandle_t NVTX_API domain_create_w(const wchar_t* name) { return create_domain(name); }
void NVTX_API domain_destroy(nvtxDomainHandle_t domain) {
  Recorder::get().registry().destroy_domain(bits_of(domain));
}
void NVTX_API initialize(const void*) {}

// Resources have no place in a trace; their handles only have to be told from null.
nvtxResourceHandle_t NVTX_API resource_create(nvtxDomainHandle_t, nvtxResourceAttributes_t*) {
  count_unsupported();
  return reinterpret_cast<nvtxResourceHandle_t>(uintptr_t{1});
}
void NVTX_API resource_destroy(nvtxResourceHandle_t) { count_unsupported(); }

template <typename Function>
void set(NvtxFunctionTable table, unsigned int size, unsigned int id, Function function) {
  if (id < size && table[id]) *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

void fill_core(NvtxFunctionTable table, unsigned int size) {
  set(table, size, NVTX_CBID_CORE_MarkEx, &mark_ex);
  set(table, size, NVTX_CBID_CORE_MarkA, &mark_a);
  set(table, size, NVTX_CBID_CORE_MarkW, &mark_w);
  set(table, size, NVTX_CBID_CORE_RangeStartEx, &range_start_ex);
  set(table, size, NVTX_CBID_CORE_RangeStartA, &range_start_a);
  set(table, size, NVTX_CBID_CORE_RangeStartW, &range_start_w);
  set(table, size, NVTX_CBID_CORE_RangeEnd, &range_end);
  set(table, size, NVTX_CBID_CORE_RangePushEx, &range_push_ex);
  set(table, size, NVTX_CBID_CORE_RangePushA, &range_push_a);
  set(table, size, NVTX_CBID_CORE_RangePushW, &range_push_w);
  set(table, size, NVTX_CBID_CORE_RangePop, &range_pop);
  set(table, size, NVTX_CBID_CORE_NameCategoryA, &name_category_a);
  set(table, size, NVTX_CBID_CORE_NameCategoryW, &name_category_w);
  set(table, size, NVTX_CBID_CORE_NameOsThreadA, &name_os_thread_a);
  set(table, size, NVTX_CBID_CORE_NameOsThreadW, &name_os_thread_w);
}

void fill_core2(NvtxFunctionTable table, unsigned int size) {
  set(table, size, NVTX_CBID_CORE2_DomainMarkEx, &domain_mark_ex);
  set(table, size, NVTX_CBID_CORE2_DomainRangeStartEx, &domain_range_start_ex);
  set(table, size, NVTX_CBID_CORE2_DomainRangeEnd, &domain_range_end);
  set(table, size, NVTX_CBID_CORE2_DomainRangePushEx, &domain_range_push_ex);
  set(table, size, NVTX_CBID_CORE2_DomainRangePop, &domain_range_pop);
  set(table, size, NVTX_CBID_CORE2_DomainResourceCreate, &resource_create);
  set(table, size, NVTX_CBID_CORE2_DomainResourceDestroy, &resource_destroy);
  set(table, size, NVTX_CBID_CORE2_DomainNameCategoryA, &domain_name_category_a);
  set(table, size, NVTX_CBID_CORE2_DomainNameCategoryW, &domain_name_category_w);
  set(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, &register_string_a);
  set(table, size, NVTX_CBID_CORE2_DomainRegisterStringW, &register_string_w);
  set(table, size, NVTX_CBID_CORE2_DomainCreateA, &domain_create_a);
  set(table, size, NVTX_CBID_CORE2_DomainCreateW, &domain_create_w);
  set(table, size, NVTX_CBID_CORE2_DomainDestroy, &domain_destroy);
  set(table, size, NVTX_CBID_CORE2_Initialize, &initialize);
}

}  // namespace nvtx_perfetto::injection
