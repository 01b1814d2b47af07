#include "table/json_read.h"

#include <setjmp.h>

static _Thread_local bool refused;
static _Thread_local jmp_buf *reading;

/* Reading ends at once; what it holds by then is lost. */
static void *take_note(size_t bytes) {
  void *memory = malloc(bytes);
  refused |= !memory;
  if (!memory && reading)
    longjmp(*reading, 1);
  return memory;
}

bool nai_json_lacks(void) {
  bool lacks = refused;
  json_set_alloc_funcs(take_note, free); /* jansson takes its memory from malloc anyway */
  refused = false;
  return lacks;
}

json_t *nai_json_read(const char *text, size_t len, size_t flags, json_error_t *why) {
  json_t *volatile read = NULL;
  jmp_buf here;
  json_set_alloc_funcs(take_note, free);
  reading = &here;
  if (!setjmp(here)) {
    read = json_loadb(text, len, flags, why);
  } else if (why) {
    snprintf(why->text, sizeof why->text, "out of memory");
    why->text[JSON_ERROR_TEXT_LENGTH - 1] = (char)json_error_out_of_memory; /* where json_error_code looks */
  }
  reading = NULL;
  return read;
}
