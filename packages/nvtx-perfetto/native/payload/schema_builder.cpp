// SPDX-License-Identifier: Apache-2.0
#include "payload/schema_builder.h"

#include <algorithm>

#include "payload/entry_names.h"

namespace nvtx_perfetto {
namespace {

// Beyond these a description is taken for garbage rather than for a layout.
constexpr size_t kMaxEntries = 65536;
// Fewer than AnnotationWriter can nest, since payloads lie in groups themselves.
constexpr uint32_t kMaxSchemaDepth = 60;

constexpr uint64_t kUnsupportedFlags =
    NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE |
    NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE | NVTX_PAYLOAD_ENTRY_FLAG_DEEP_COPY;

bool is_attribute(uint64_t type) {
  return type >= NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID && type <= NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64;
}

EntryRole role_of(uint64_t flags) {
  switch (flags >> 12 & 7) {
    case 1: return EntryRole::kBegin;
    case 2: return EntryRole::kEnd;
    case 3: return EntryRole::kMark;
    case 4: return EntryRole::kCounter;
    default: break;
  }
  return (flags >> 10 & 3) == 2 ? EntryRole::kTimestamp : EntryRole::kNone;
}

ArrayKind array_of(uint64_t flags) {
  switch (NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_TYPE(flags)) {
    case NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE: return ArrayKind::kFixed;
    case NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED: return ArrayKind::kZeroTerminated;
    case NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX: return ArrayKind::kLengthEntry;
    case NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX: return ArrayKind::kLengthPayload;
    default: return ArrayKind::kNone;
  }
}

EventKind event_kind_of(uint64_t flags) {
  constexpr EventKind kKinds[] = {
      EventKind::kNone,     EventKind::kCounterGroup, EventKind::kPushPop,
      EventKind::kStartEnd, EventKind::kMark,         EventKind::kPush,
      EventKind::kPop,      EventKind::kStart,        EventKind::kEnd};
  uint64_t index = flags >> 3 & 0xF;
  return index < sizeof(kKinds) / sizeof(kKinds[0]) ? kKinds[index] : EventKind::kNone;
}

class Builder {
 public:
  Builder(const nvtxPayloadSchemaAttr_t& attributes, const TypeLookup& types)
      : attributes_(attributes), types_(types) {}

  BuiltSchema build();

 private:
  bool has(uint64_t field) const { return (attributes_.fieldMask & field) != 0; }
  void fail(BuildError error, const std::string& problem);
  void fail_entry(size_t index, BuildError error, const std::string& problem);
  bool check_head();
  void add_entry(size_t index);
  void add_type(SchemaEntry& entry, size_t index);
  void add_array(SchemaEntry& entry, size_t index);
  void measure_depth(const SchemaEntry& entry, size_t index);
  void place(SchemaEntry& entry, size_t index);
  void finish_size();
  void plan_entry(const SchemaEntry& entry, int index);

  const nvtxPayloadSchemaAttr_t& attributes_;
  const TypeLookup& types_;
  BuiltSchema out_;
  bool dynamic_ = false;
  uint64_t pack_ = 0;
  uint64_t cursor_ = 0;
  bool cursor_known_ = true;
  bool general_scope_ = true;
};

void Builder::fail(BuildError error, const std::string& problem) {
  if (out_.error != BuildError::kNone) return;
  out_.error = error;
  out_.problem = problem;
}

void Builder::fail_entry(size_t index, BuildError error, const std::string& problem) {
  const char* name = attributes_.entries[index].name;
  fail(error, "schema entry " + std::to_string(index) + " (" + (name ? name : "no name") +
                  "): " + problem);
}

bool Builder::check_head() {
  constexpr uint64_t kNeeded = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                               NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                               NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  if ((attributes_.fieldMask & kNeeded) != kNeeded) {
    fail(BuildError::kInvalid, "a schema needs its type, entries and number of entries");
  } else if (!attributes_.entries || attributes_.numEntries == 0 ||
             attributes_.numEntries > kMaxEntries) {
    fail(BuildError::kInvalid, "a schema needs 1 to 65536 entries");
  } else if (attributes_.type == NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR) {
    fail(BuildError::kNotSupported, "unions with an internal selector are not read yet");
  } else if (attributes_.type == NVTX_PAYLOAD_SCHEMA_TYPE_INVALID ||
             attributes_.type > NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR) {
    fail(BuildError::kInvalid, "unknown schema type " + std::to_string(attributes_.type));
  }
  return out_.error == BuildError::kNone;
}

// Live, the nvtx package registers each scalar as a nameless schema of one entry, which it
// calls what NumPy calls the type: `int64`, `float32`, `str128`, `bytes40`.
bool wraps_numpy_scalar(const Schema& schema) {
  if (schema.entries.size() != 1 || !schema.name.empty()) return false;
  const SchemaEntry& entry = schema.entries[0];
  if (entry.role != EntryRole::kNone || entry.message) return false;
  size_t digits = entry.name.find_first_of("0123456789");
  if (digits == std::string::npos ||
      entry.name.find_first_not_of("0123456789", digits) != std::string::npos) {
    return false;
  }
  std::string kind = entry.name.substr(0, digits);
  return kind == "int" || kind == "uint" || kind == "float" || kind == "str" || kind == "bytes";
}

BuiltSchema Builder::build() {
  if (!check_head()) return std::move(out_);
  out_.schema = std::make_unique<Schema>();
  Schema& schema = *out_.schema;
  dynamic_ = attributes_.type == NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC;
  schema.is_union = attributes_.type == NVTX_PAYLOAD_SCHEMA_TYPE_UNION;
  if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) && attributes_.name) schema.name = attributes_.name;
  if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT)) pack_ = attributes_.packAlign;
  if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS)) {
    schema.plan.kind = event_kind_of(attributes_.flags);
  }
  schema.entries.reserve(attributes_.numEntries);
  for (size_t i = 0; i < attributes_.numEntries && out_.error == BuildError::kNone; ++i) {
    add_entry(i);
  }
  if (out_.error == BuildError::kNone) finish_size();
  if (out_.error == BuildError::kNone) {
    if (wraps_numpy_scalar(schema)) schema.entries[0].named = false;
    name_entries(schema);
    for (size_t i = 0; i < schema.entries.size(); ++i) {
      plan_entry(schema.entries[i], static_cast<int>(i));
    }
  } else {
    out_.schema.reset();
  }
  return std::move(out_);
}

void Builder::add_entry(size_t index) {
  const nvtxPayloadSchemaEntry_t& given = attributes_.entries[index];
  SchemaEntry entry;
  entry.type = given.type;
  entry.named = given.name && *given.name;
  entry.name = entry.named ? given.name : "field" + std::to_string(index);
  if (given.description) entry.description = given.description;
  entry.role = role_of(given.flags);
  entry.message = (given.flags >> 10 & 3) == 1;
  Semantics semantics = read_semantics(given.semantics);
  entry.counter = semantics.counter;
  entry.correlation = semantics.correlation;
  entry.time_domain = semantics.time_domain;
  bool takes_time = entry.role == EntryRole::kBegin || entry.role == EntryRole::kEnd ||
                    entry.role == EntryRole::kMark || entry.role == EntryRole::kTimestamp;
  entry.shown = !entry.message && !takes_time && !is_attribute(given.type) &&
                !(given.flags & NVTX_PAYLOAD_ENTRY_FLAG_HIDE);
  if (given.flags & kUnsupportedFlags) {
    fail_entry(index, BuildError::kNotSupported,
               "pointers, offsets and deep copies are not read yet; embed the data");
    return;
  }
  add_type(entry, index);
  if (out_.error != BuildError::kNone) return;
  add_array(entry, index);
  if (out_.error != BuildError::kNone) return;
  measure_depth(entry, index);
  place(entry, index);
  out_.schema->entries.push_back(std::move(entry));
}

void Builder::add_type(SchemaEntry& entry, size_t index) {
  entry.value = predefined_type(entry.type);
  entry.align = entry.value.align;
  if (entry.value.kind != ValueKind::kInvalid) return;
  if (entry.type < NVTX_PAYLOAD_SCHEMA_ID_STATIC_START) {
    fail_entry(index, BuildError::kInvalid, "unknown type " + std::to_string(entry.type));
  } else if (const EnumType* labels = types_.find_enum(entry.type)) {
    entry.labels = labels;
    entry.value = {ValueKind::kUnsigned, labels->size, labels->size};
    entry.align = labels->size;
  } else if (const Schema* nested = types_.find_schema(entry.type)) {
    entry.nested = nested;
    entry.value = {ValueKind::kSchema, 0, 1};
    entry.align = nested->align;
    if (!nested->fixed && !dynamic_) {
      fail_entry(index, BuildError::kInvalid, "a static schema cannot hold a dynamic one");
    } else if (!nested->fixed && array_of(attributes_.entries[index].flags) != ArrayKind::kNone) {
      fail_entry(index, BuildError::kNotSupported, "arrays of dynamic schemas are not read yet");
    }
  } else {
    fail_entry(index, BuildError::kInvalid,
               "no schema or enum " + std::to_string(entry.type) + " in this domain");
  }
}

void Builder::add_array(SchemaEntry& entry, size_t index) {
  const nvtxPayloadSchemaEntry_t& given = attributes_.entries[index];
  entry.array = array_of(given.flags);
  entry.detail = static_cast<uint32_t>(std::min<uint64_t>(given.arrayOrUnionDetail, UINT32_MAX));
  bool text = entry.value.kind == ValueKind::kText;
  if (entry.nested && entry.nested->is_union) {
    if (entry.array != ArrayKind::kNone || given.arrayOrUnionDetail >= attributes_.numEntries) {
      fail_entry(index, BuildError::kInvalid, "a union needs the index of its selector entry");
    }
  } else if (entry.array == ArrayKind::kFixed || (text && entry.array == ArrayKind::kNone)) {
    entry.count = given.arrayOrUnionDetail;
    if (text && entry.count == 0) {
      fail_entry(index, BuildError::kNotSupported, "text by pointer is not read yet; embed it");
    } else if (entry.count > kMaxRowSize) {
      fail_entry(index, BuildError::kInvalid, "the array is too long");
    }
  } else if (entry.array == ArrayKind::kLengthPayload) {
    fail_entry(index, BuildError::kNotSupported, "lengths in another payload are not read yet");
  } else if (entry.array != ArrayKind::kNone) {
    bool length = entry.array == ArrayKind::kLengthEntry;
    if (!dynamic_) {
      fail_entry(index, BuildError::kInvalid, "a static schema cannot hold a variable length");
    } else if (length && (entry.detail >= index ||
                          !is_integer(out_.schema->entries[entry.detail].value.kind))) {
      fail_entry(index, BuildError::kInvalid, "the length entry must be an earlier integer");
    }
  }
}

void Builder::measure_depth(const SchemaEntry& entry, size_t index) {
  uint32_t depth =
      1 + (entry.nested ? entry.nested->depth : 0) + (entry.array != ArrayKind::kNone ? 1 : 0);
  out_.schema->depth = std::max(out_.schema->depth, depth);
  if (depth > kMaxSchemaDepth) {
    fail_entry(index, BuildError::kInvalid, "groups and arrays nest at most 60 deep");
  }
}

void Builder::place(SchemaEntry& entry, size_t index) {
  const nvtxPayloadSchemaEntry_t& given = attributes_.entries[index];
  Schema& schema = *out_.schema;
  uint32_t align = std::max<uint32_t>(1, entry.align);
  if (pack_ && pack_ < align) align = static_cast<uint32_t>(pack_);
  entry.align = align;
  schema.align = std::max(schema.align, align);
  if (index == 0 || given.offset != 0 || schema.is_union) {
    if (given.offset > kMaxRowSize) {
      fail_entry(index, BuildError::kInvalid, "the offset is too large");
      return;
    }
    entry.offset = static_cast<int64_t>(given.offset);
  } else if (cursor_known_) {
    entry.offset = static_cast<int64_t>((cursor_ + align - 1) / align * align);
  }
  bool variable = entry.array == ArrayKind::kZeroTerminated ||
                  entry.array == ArrayKind::kLengthEntry || (entry.nested && !entry.nested->fixed);
  if (variable || entry.offset < 0) {
    cursor_known_ = false;
    schema.fixed = false;
    return;
  }
  uint64_t unit = entry.element_size();
  if (unit != 0 && entry.count > kMaxRowSize / unit) {
    fail_entry(index, BuildError::kInvalid, "the entry is too large");
    return;
  }
  entry.last = static_cast<size_t>(entry.offset) + entry.count * unit;
  cursor_ = std::max<uint64_t>(cursor_, entry.last);
  cursor_known_ = true;
}

void Builder::finish_size() {
  Schema& schema = *out_.schema;
  if (!schema.fixed) return;
  schema.size = (cursor_ + schema.align - 1) / schema.align * schema.align;
  if (dynamic_ || !has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE)) return;
  if (attributes_.payloadStaticSize == 0) return;
  if (attributes_.payloadStaticSize < cursor_ || attributes_.payloadStaticSize > kMaxRowSize) {
    fail(BuildError::kInvalid, "payloadStaticSize is " +
                                   std::to_string(attributes_.payloadStaticSize) +
                                   ", but the entries take " + std::to_string(cursor_) + " bytes");
  }
  schema.size = attributes_.payloadStaticSize;
}

void Builder::plan_entry(const SchemaEntry& entry, int index) {
  EventPlan& plan = out_.schema->plan;
  bool flow = entry.type == NVTX_PAYLOAD_ENTRY_TYPE_UINT64 &&
              (entry.array == ArrayKind::kNone || entry.array == ArrayKind::kFixed);
  if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID) {
    // A scope for the event's begin goes before one for the event as a whole.
    bool special = entry.role == EntryRole::kBegin || entry.role == EntryRole::kMark;
    if (special || general_scope_) plan.scope = index;
    if (special) general_scope_ = false;
    return;
  }
  switch (entry.role) {
    case EntryRole::kBegin:
    case EntryRole::kMark: plan.begin = index; break;
    case EntryRole::kEnd: plan.end = index; break;
    case EntryRole::kTimestamp:
      if (plan.begin < 0) plan.begin = index;
      break;
    default: break;
  }
  if (entry.message) plan.message = index;
  switch (entry.type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB: plan.color = index; break;
    case NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY: plan.category = index; break;
    case NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID: plan.range_id = index; break;
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64: plan.pid = index; break;
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64: plan.tid = index; break;
    default: break;
  }
  if (flow && entry.name == "nvtx.flow_out")
    plan.flows_out.push_back(index);
  else if (flow && entry.name == "nvtx.flow_in")
    plan.flows_in.push_back(index);
  else if (entry.shown)
    ++plan.shown;
  if (entry.correlation.given && is_integer(entry.value.kind)) plan.correlations.push_back(index);
}

}  // namespace

BuiltSchema build_schema(const nvtxPayloadSchemaAttr_t& attributes, const TypeLookup& types) {
  return Builder(attributes, types).build();
}

std::unique_ptr<Schema> predefined_schema(uint64_t type) {
  SchemaEntry entry;
  entry.value = predefined_type(type);
  if (entry.value.kind == ValueKind::kInvalid) return nullptr;
  entry.type = type;
  entry.name = "value";
  entry.size_name = "value.size";
  entry.align = 1;
  entry.array = ArrayKind::kFill;
  entry.shown = !is_attribute(type);
  auto schema = std::make_unique<Schema>();
  schema->id = type;
  schema->number = static_cast<uint32_t>(type);
  schema->fixed = false;
  schema->plan.shown = entry.shown ? 1 : 0;
  schema->entries.push_back(std::move(entry));
  return schema;
}

BuiltEnum build_enum(const nvtxPayloadEnumAttr_t& attributes) {
  constexpr uint64_t kNeeded = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                               NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                               NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  if ((attributes.fieldMask & kNeeded) != kNeeded || !attributes.entries ||
      attributes.numEntries > kMaxEntries) {
    return {nullptr, "an enum needs its entries, their number and its size"};
  }
  size_t size = attributes.sizeOfEnum;
  if (size != 1 && size != 2 && size != 4 && size != 8) {
    return {nullptr, "an enum's size must be 1, 2, 4 or 8 bytes, not " + std::to_string(size)};
  }
  auto type = std::make_unique<EnumType>();
  type->size = static_cast<uint8_t>(size);
  // Negative values come widened to 64 bits, and are met in the enum's own width.
  uint64_t mask = size == 8 ? UINT64_MAX : (uint64_t{1} << 8 * size) - 1;
  for (size_t i = 0; i < attributes.numEntries; ++i) {
    const nvtxPayloadEnum_t& entry = attributes.entries[i];
    type->labels.push_back({entry.name ? entry.name : "", entry.value & mask, entry.isFlag != 0});
  }
  return {std::move(type), {}};
}

std::string EnumType::label(uint64_t value) const {
  std::string flags;
  uint64_t left = value;
  for (const Label& label : labels) {
    if (label.value == value) return label.name;
    if (label.flag && label.value != 0 && (left & label.value) == label.value) {
      flags += (flags.empty() ? "" : "|") + label.name;
      left &= ~label.value;
    }
  }
  return left == 0 ? flags : std::string();
}

}  // namespace nvtx_perfetto
