/* Early returns: what a scope owns ends with it, so that a failure is a return and not a staircase. */
#pragma once

#include "base/std.h"

/* Returns the code of a call that failed. */
#define NAI_TRY(call)  \
  do {                 \
    int failed = call; \
    if (failed)        \
      return failed;   \
  } while (0)

/* Declares a struct that nai_NAME_free frees where its scope is left: NAI_SCOPED(nai_buf) text = {0}; initialise it. */
#define NAI_SCOPED(name) __attribute__((cleanup(name##_free))) struct name
/* Declares a pointer from malloc that is freed there: NAI_FREED char *path = NULL; initialise it. */
#define NAI_FREED __attribute__((cleanup(nai_free_pointer)))
static inline void nai_free_pointer(void *pointer) {
  void *memory;
  memcpy(&memory, pointer, sizeof memory); /* of any type */
  free(memory);
}
/* Declares a pointer to such a struct: NAI_OWNED(nai_table) *table = NULL; initialise it. Its header says
 * NAI_OWNER(nai_table), or NAI_OWNER_BY(nai_run, nai_run_close) where another function frees it. */
#define NAI_OWNED(name) __attribute__((cleanup(name##_free_owned))) struct name
/* Hands on what such a pointer owns, as the last thing of a function that did not fail: return NAI_GIVE(out, table); */
#define NAI_GIVE(out, owned) (*(out) = (owned), (owned) = NULL, 0)
#define NAI_OWNER(name) NAI_OWNER_BY(name, name##_free)
#define NAI_OWNER_BY(name, free_function) \
  static inline void name##_free_owned(struct name **owned) { free_function(*owned); }
