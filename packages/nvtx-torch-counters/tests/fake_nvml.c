/* SPDX-License-Identifier: Apache-2.0
 *
 * A library with the entry points of NVML that nvidia-ml-py asks for, over scripted boards.
 * Signatures and struct layouts are those of nvml.h, as the binding declares them with ctypes.
 *
 * script_board/script_instance add devices; script_error and script_delay change what calls of a
 * function (on one device, or on any) answer from the FROMth to the TOth call; a delay is handed to
 * a callback, which may move a clock. script_calls tells how often a function was called.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MAX = 32, NOT_SUPPORTED = 3, NOT_FOUND = 6, INVALID_ARGUMENT = 2 };

typedef struct {
  char uuid[96], model[64];
  int parent; /* -1 for a board */
  int mig;
  uint64_t total, used;
  unsigned values[8]; /* gpu %, memory %, mW, C, SM MHz, memory MHz, sent KB/s, received KB/s */
} device_t;

typedef struct {
  char function[64], uuid[96];
  unsigned from, to, code, delay_us;
} rule_t;

typedef struct {
  char function[64], uuid[96];
  unsigned count;
} calls_t;

typedef struct {
  unsigned long long stamp;
  union {
    double d;
    unsigned u;
    unsigned long long ull;
  } value;
} sample_t;

static device_t devices[MAX];
static rule_t rules[MAX];
static calls_t calls[4 * MAX];
static sample_t samples[256];
static int device_count, rule_count, call_kinds, sample_count;
static void (*on_delay)(unsigned);

void script_reset(void (*delay)(unsigned)) {
  device_count = rule_count = call_kinds = sample_count = 0;
  on_delay = delay;
}

int script_board(const char* uuid, const char* model, int mig) {
  static const unsigned usual[8] = {37, 12, 250500, 61, 1980, 2619, 1500, 2500};
  device_t* d = &devices[device_count];
  memset(d, 0, sizeof *d);
  snprintf(d->uuid, sizeof d->uuid, "%s", uuid);
  snprintf(d->model, sizeof d->model, "%s", model);
  memcpy(d->values, usual, sizeof usual);
  d->parent = -1;
  d->mig = mig;
  d->total = 80ull << 30;
  d->used = 3ull << 30;
  return device_count++;
}

int script_instance(int parent, const char* uuid) {
  int index = script_board(uuid, "MIG 1g.10gb", 0);
  devices[index].parent = parent;
  return index;
}

void script_value(int device, int which, unsigned value) { devices[device].values[which] = value; }

void script_memory(int device, uint64_t total, uint64_t used) {
  devices[device].total = total;
  devices[device].used = used;
}

static void rule(const char* function, const char* uuid, unsigned from, unsigned to, unsigned code,
                 unsigned delay) {
  rule_t* r = &rules[rule_count++];
  snprintf(r->function, sizeof r->function, "%s", function);
  snprintf(r->uuid, sizeof r->uuid, "%s", uuid);
  r->from = from, r->to = to, r->code = code, r->delay_us = delay;
}

void script_error(const char* f, const char* uuid, unsigned code, unsigned from, unsigned to) {
  rule(f, uuid, from, to, code, 0);
}

void script_delay(const char* f, unsigned microseconds, unsigned from, unsigned to) {
  rule(f, "", from, to, 0, microseconds);
}

void script_sample(unsigned long long stamp_us, unsigned percent) {
  samples[sample_count].stamp = stamp_us;
  samples[sample_count++].value.u = percent;
}

static unsigned* counter(const char* function, const char* uuid) {
  for (int i = 0; i < call_kinds; i++)
    if (!strcmp(calls[i].function, function) && !strcmp(calls[i].uuid, uuid))
      return &calls[i].count;
  calls_t* c = &calls[call_kinds++];
  snprintf(c->function, sizeof c->function, "%s", function);
  snprintf(c->uuid, sizeof c->uuid, "%s", uuid);
  c->count = 0;
  return &c->count;
}

unsigned script_calls(const char* function, const char* uuid) { return *counter(function, uuid); }

/* Count a call and return what the script wants it to answer. */
static unsigned asked(const char* function, const device_t* device) {
  const char* uuid = device ? device->uuid : "";
  unsigned number = ++*counter(function, uuid), code = 0;
  for (int i = 0; i < rule_count; i++) {
    const rule_t* r = &rules[i];
    if (strcmp(r->function, function) || (*r->uuid && strcmp(r->uuid, uuid))) continue;
    if (number < r->from || number > r->to) continue;
    if (r->delay_us && on_delay) on_delay(r->delay_us);
    if (r->code) code = r->code;
  }
  return code;
}

#define ASK(device)                        \
  unsigned code = asked(__func__, device); \
  if (code) return code

unsigned nvmlInitWithFlags(unsigned flags) {
  (void)flags;
  ASK(NULL);
  return 0;
}

unsigned nvmlShutdown(void) {
  ASK(NULL);
  return 0;
}

const char* nvmlErrorString(unsigned code) {
  static char text[32];
  snprintf(text, sizeof text, "scripted error %u", code);
  return text;
}

unsigned nvmlDeviceGetCount_v2(unsigned* count) {
  ASK(NULL);
  *count = 0;
  for (int i = 0; i < device_count; i++) *count += devices[i].parent < 0;
  return 0;
}

unsigned nvmlDeviceGetHandleByIndex_v2(unsigned index, device_t** handle) {
  ASK(NULL);
  for (int i = 0; i < device_count; i++)
    if (devices[i].parent < 0 && index-- == 0) {
      *handle = &devices[i];
      return 0;
    }
  return INVALID_ARGUMENT;
}

unsigned nvmlDeviceGetHandleByUUID(const char* uuid, device_t** handle) {
  ASK(NULL);
  for (int i = 0; i < device_count; i++)
    if (!strcmp(devices[i].uuid, uuid)) {
      *handle = &devices[i];
      return 0;
    }
  return NOT_FOUND;
}

unsigned nvmlDeviceGetUUID(device_t* device, char* text, unsigned size) {
  ASK(device);
  snprintf(text, size, "%s", device->uuid);
  return 0;
}

unsigned nvmlDeviceGetName(device_t* device, char* text, unsigned size) {
  ASK(device);
  snprintf(text, size, "%s", device->model);
  return 0;
}

unsigned nvmlDeviceGetMigMode(device_t* device, unsigned* current, unsigned* pending) {
  ASK(device);
  *current = *pending = (unsigned)device->mig;
  return 0;
}

unsigned nvmlDeviceGetMaxMigDeviceCount(device_t* device, unsigned* count) {
  ASK(device);
  *count = 7;
  return 0;
}

unsigned nvmlDeviceGetMigDeviceHandleByIndex(device_t* device, unsigned index, device_t** handle) {
  ASK(device);
  for (int i = 0; i < device_count; i++)
    if (devices[i].parent == device - devices && index-- == 0) {
      *handle = &devices[i];
      return 0;
    }
  return NOT_FOUND;
}

unsigned nvmlDeviceGetUtilizationRates(device_t* device, unsigned rates[2]) {
  ASK(device);
  if (device->parent >= 0 || device->mig) return NOT_SUPPORTED;
  rates[0] = device->values[0], rates[1] = device->values[1];
  return 0;
}

unsigned nvmlDeviceGetMemoryInfo(device_t* device, uint64_t memory[3]) {
  ASK(device);
  memory[0] = device->total, memory[1] = device->total - device->used, memory[2] = device->used;
  return 0;
}

unsigned nvmlDeviceGetPowerUsage(device_t* device, unsigned* milliwatts) {
  ASK(device);
  if (device->parent >= 0) return NOT_SUPPORTED;
  *milliwatts = device->values[2];
  return 0;
}

unsigned nvmlDeviceGetEnforcedPowerLimit(device_t* device, unsigned* milliwatts) {
  ASK(device);
  *milliwatts = 700000;
  return 0;
}

unsigned nvmlDeviceGetTemperature(device_t* device, unsigned sensor, unsigned* celsius) {
  ASK(device);
  if (sensor != 0 || device->parent >= 0) return INVALID_ARGUMENT;
  *celsius = device->values[3];
  return 0;
}

unsigned nvmlDeviceGetClockInfo(device_t* device, unsigned kind, unsigned* megahertz) {
  ASK(device);
  if (device->parent >= 0 || kind < 1 || kind > 2) return NOT_SUPPORTED;
  *megahertz = device->values[3 + kind];
  return 0;
}

unsigned nvmlDeviceGetMaxClockInfo(device_t* device, unsigned kind, unsigned* megahertz) {
  ASK(device);
  *megahertz = kind == 1 ? 1980 : 3201;
  return 0;
}

unsigned nvmlDeviceGetPcieThroughput(device_t* device, unsigned kind, unsigned* kilobytes) {
  ASK(device);
  if (device->parent >= 0 || kind > 1) return NOT_SUPPORTED;
  *kilobytes = device->values[6 + kind];
  return 0;
}

unsigned nvmlDeviceGetSamples(device_t* device, unsigned kind, unsigned long long since,
                              unsigned* type, unsigned* count, sample_t* out) {
  ASK(device);
  if (kind != 1) return NOT_SUPPORTED;
  unsigned found = 0;
  for (int i = 0; i < sample_count; i++)
    if (samples[i].stamp > since) {
      if (out) out[found] = samples[i];
      found++;
    }
  *type = 1;
  *count = found;
  return found ? 0 : NOT_FOUND;
}
