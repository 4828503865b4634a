// SPDX-License-Identifier: Apache-2.0
// Counts the slices of a trace that is too large for the engine: reads it packet by packet and
// keeps a stack for each track. Every line is a thread's id, a depth, the innermost two names
// and how many such slices have ended; the last line is how many are still open.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 65536
#define DEEP 16
#define NAMES 64

typedef struct {
  const uint8_t *at, *end;
} Bytes;
typedef struct {
  uint64_t number, value;
  Bytes bytes;
} Field;
typedef struct {
  uint64_t track;
  int depth, stack[DEEP];
  long ended[DEEP][NAMES][NAMES];  // by depth, own name and the name above
  char names[NAMES][32];           // by interned id
} Sequence;

static Sequence* sequences[MOST];
static struct {
  uint64_t uuid, parent, tid;
} tracks[MOST];
static int track_count;

static uint64_t varint(Bytes* from) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    uint8_t byte = *from->at++;
    value |= (uint64_t)(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
}

static int next(Bytes* from, Field* field) {
  if (from->at >= from->end) return 0;
  uint64_t tag = varint(from);
  field->number = tag >> 3;
  field->bytes.at = field->bytes.end = from->at;
  if ((tag & 7) == 1) from->at += 8;
  if ((tag & 7) == 5) from->at += 4;
  if ((tag & 7) == 0) field->value = varint(from);
  if ((tag & 7) == 2) {
    uint64_t size = varint(from);
    field->bytes = (Bytes){from->at, from->at + size};
    from->at += size;
  }
  return from->at <= from->end;
}

// The first field of a number inside a message; an empty one where there is none.
static Field find(Bytes message, uint64_t number) {
  Field field = {0};
  while (next(&message, &field)) {
    if (field.number == number) return field;
  }
  return (Field){0};
}

static void describe(Bytes descriptor) {
  if (track_count == MOST) exit(3);
  tracks[track_count].uuid = find(descriptor, 1).value;
  tracks[track_count].parent = find(descriptor, 5).value;
  tracks[track_count++].tid = find(find(descriptor, 4).bytes, 2).value;
}

static void intern(Sequence* sequence, Bytes interned) {
  Field entry;
  while (next(&interned, &entry)) {
    uint64_t id = find(entry.bytes, 1).value;
    Bytes name = find(entry.bytes, 2).bytes;
    if (entry.number != 2 || id >= NAMES) continue;
    snprintf(sequence->names[id], 32, "%.*s", (int)(name.end - name.at), (const char*)name.at);
  }
}

static void event(Sequence* sequence, Bytes bytes) {
  uint64_t type = find(bytes, 9).value;
  uint64_t name = find(bytes, 10).value;
  if (type == 1) {
    if (sequence->depth == DEEP || name >= NAMES) exit(3);
    sequence->stack[sequence->depth++] = (int)name;
  } else if (type == 2) {
    if (sequence->depth == 0) exit(3);
    int depth = --sequence->depth;
    int above = depth ? sequence->stack[depth - 1] : 0;
    ++sequence->ended[depth][sequence->stack[depth]][above];
  }
}

static void packet(Bytes bytes) {
  uint64_t id = find(bytes, 10).value;
  if (id >= MOST) exit(3);
  if (!sequences[id]) sequences[id] = calloc(1, sizeof(Sequence));
  Sequence* sequence = sequences[id];
  Field field;
  while (next(&bytes, &field)) {
    if (field.number == 60) describe(field.bytes);
    if (field.number == 59) sequence->track = find(find(field.bytes, 11).bytes, 11).value;
    if (field.number == 12) intern(sequence, field.bytes);
  }
}

static uint64_t thread_of(uint64_t track) {
  for (int i = 0; i < track_count; ++i) {
    if (tracks[i].uuid == track) return tracks[i].tid ? tracks[i].tid : thread_of(tracks[i].parent);
  }
  return 0;
}

static long show(const Sequence* sequence) {
  for (int depth = 0; depth < DEEP; ++depth) {
    for (int own = 0; own < NAMES; ++own) {
      for (int above = 0; above < NAMES; ++above) {
        long count = sequence->ended[depth][own][above];
        if (count == 0) continue;
        printf("%llu,%d,%s,%s,%ld\n", (unsigned long long)thread_of(sequence->track), depth,
               sequence->names[own], sequence->names[above], count);
      }
    }
  }
  return sequence->depth;
}

static void each_packet(Bytes file, int events) {
  Field field;
  while (next(&file, &field)) {
    if (!events) packet(field.bytes);
    Bytes found = find(field.bytes, 11).bytes;
    if (events && found.at) event(sequences[find(field.bytes, 10).value], found);
  }
}

int main(int count, char** arguments) {
  FILE* file = count == 2 ? fopen(arguments[1], "rb") : NULL;
  if (!file) return 2;
  fseek(file, 0, SEEK_END);
  size_t size = ftell(file);
  uint8_t* bytes = malloc(size);
  rewind(file);
  if (fread(bytes, 1, size, file) != size) return 2;
  for (int events = 0; events < 2; ++events) each_packet((Bytes){bytes, bytes + size}, events);
  long open = 0;
  for (int i = 0; i < MOST; ++i) open += sequences[i] ? show(sequences[i]) : 0;
  printf("%ld\n", open);
  return 0;
}
