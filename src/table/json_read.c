#include "table/json_read.h"

#include <setjmp.h>

static _Thread_local bool refused;

/* What a text being read holds: after a longjmp nobody else knows. */
static _Thread_local struct {
  jmp_buf *end; /* NULL: nothing is being read */
  void **blocks;
  size_t count, capacity;
} reading;

static bool has_room(void) {
  if (reading.count < reading.capacity)
    return true;
  size_t capacity = reading.capacity ? 2 * reading.capacity : 256;
  void **blocks = realloc(reading.blocks, capacity * sizeof *blocks);
  if (!blocks)
    return false;
  reading.blocks = blocks;
  reading.capacity = capacity;
  return true;
}

static void *take(size_t bytes) {
  void *memory = !reading.end || has_room() ? malloc(bytes) : NULL;
  refused |= !memory;
  if (!memory && reading.end)
    longjmp(*reading.end, 1);
  if (reading.end)
    reading.blocks[reading.count++] = memory;
  return memory;
}

/* Looked for from the last on: what goes while a text is read has mostly just come. */
static void give_back(void *memory) {
  size_t at = reading.count;
  while (at && reading.blocks[at - 1] != memory)
    at--;
  if (at)
    reading.blocks[at - 1] = reading.blocks[--reading.count];
  free(memory);
}

static void take_notes(void) { json_set_alloc_funcs(take, give_back); } /* from malloc, as jansson itself does */

bool nai_json_lacks(void) {
  bool lacks = refused;
  take_notes();
  refused = false;
  return lacks;
}

json_t *nai_json_read(const char *text, size_t len, size_t flags, json_error_t *why) {
  json_t *volatile read = NULL;
  jmp_buf end;
  take_notes();
  reading.end = &end;
  if (!setjmp(end)) {
    read = json_loadb(text, len, flags, why);
  } else {
    while (reading.count)
      free(reading.blocks[--reading.count]);
    if (why) {
      snprintf(why->text, sizeof why->text, "out of memory");
      why->text[JSON_ERROR_TEXT_LENGTH - 1] = (char)json_error_out_of_memory; /* where json_error_code looks */
    }
  }
  free(reading.blocks);
  memset(&reading, 0, sizeof reading);
  return read;
}
