/* Reading JSON without losing a byte of it. */
#include "features/mcp/internal.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local bool refused;

static void *take_note(size_t bytes) {
  void *memory = malloc(bytes);
  refused |= !memory;
  return memory;
}

json_t *nai_agent_read_json(const char *text, size_t len, size_t flags, json_error_t *why) {
  json_set_alloc_funcs(take_note, free); /* jansson takes its memory from malloc anyway */
  refused = false;
  json_t *read = json_loadb(text, len, flags, why);
  if (!refused)
    return read;
  json_decref(read);
  if (why) {
    snprintf(why->text, sizeof why->text, "out of memory");
    why->text[JSON_ERROR_TEXT_LENGTH - 1] = (char)json_error_out_of_memory; /* where json_error_code looks */
  }
  return NULL;
}
