/* SPDX-License-Identifier: Apache-2.0
 * Counts a trace's track events by type, reading it as a stream: `count_events FILE` prints
 * begins, ends, instants and counter samples. Exit status 1 if the file ends inside a packet. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kTrackEvent = 11, kType = 9, kTypes = 5 };

static FILE* file;

/* Base-128, least significant group first; gives 0 at the end of the file. */
static int read_varint(uint64_t* out) {
  int shift = 0, byte;
  *out = 0;
  while ((byte = getc_unlocked(file)) != EOF) {
    *out |= (uint64_t)(byte & 0x7f) << shift;
    shift += 7;
    if (byte < 0x80) return 1;
  }
  return 0;
}

static uint64_t varint_at(const uint8_t** at) {
  uint64_t value = 0;
  int shift = 0;
  do value |= (uint64_t)(**at & 0x7f) << shift, shift += 7;
  while (*(*at)++ & 0x80);
  return value;
}

/* Steps to the next field; gives its number, and for length-delimited ones where they lie. */
static uint64_t next_field(const uint8_t** at, uint64_t* value, const uint8_t** bytes) {
  uint64_t tag = varint_at(at);
  *bytes = NULL;
  switch (tag & 7) {
    case 0: *value = varint_at(at); break;
    case 1: *at += 8; break;
    case 2:
      *value = varint_at(at);
      *bytes = *at;
      *at += *value;
      break;
    case 5: *at += 4; break;
    default: fprintf(stderr, "unknown wire type %d\n", (int)(tag & 7)); exit(1);
  }
  return tag >> 3;
}

static uint64_t event_type(const uint8_t* at, const uint8_t* end) {
  uint64_t value;
  const uint8_t* bytes;
  while (at < end) {
    if (next_field(&at, &value, &bytes) != kTrackEvent) continue;
    const uint8_t *inner = bytes, *inner_end = bytes + value;
    while (inner < inner_end)
      if (next_field(&inner, &value, &bytes) == kType) return value;
  }
  return 0;
}

int main(int argc, char** argv) {
  uint64_t counts[kTypes] = {0}, tag, size, capacity = 1 << 16;
  uint8_t* packet = malloc(capacity);
  file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (!file || !packet) return perror("count_events FILE"), 2;
  setvbuf(file, NULL, _IOFBF, 1 << 20);
  while (read_varint(&tag)) {
    if (!read_varint(&size)) return fputs("the last packet is cut short\n", stderr), 1;
    if (size > capacity && !(packet = realloc(packet, capacity = size))) return 2;
    if (fread(packet, 1, size, file) != size)
      return fputs("the last packet is cut short\n", stderr), 1;
    uint64_t type = event_type(packet, packet + size);
    if (type < kTypes) ++counts[type];
  }
  printf("%llu %llu %llu %llu\n", (unsigned long long)counts[1], (unsigned long long)counts[2],
         (unsigned long long)counts[3], (unsigned long long)counts[4]);
  return 0;
}
