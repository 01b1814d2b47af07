/* Small foundations of the trace generator: errors, random numbers, growable arrays.
 *
 * The generator shares no code with the analyser, but for the command line (src/cli), on purpose: its truth files are
 * the reference the analyser is tested against, so a bug in shared code would hide in both.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  NAI_GEN_EUSAGE = -2,  /* bad command line */
  NAI_GEN_EOUTPUT = -5, /* cannot write an output */
  NAI_GEN_ENOMEM = -6   /* out of memory, or a plan larger than its fixed limits */
};

struct nai_gen_err {
  int code; /* 0 or the first NAI_GEN_E* reported */
  char text[512];
};

/* Records the first error and returns `code`; later errors are consequences and are ignored. */
int nai_gen_fail(int code, struct nai_gen_err *err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* splitmix64: tiny, well mixed, and the same on every machine. */
struct nai_gen_rng {
  uint64_t state;
};

uint64_t nai_gen_rng_next(struct nai_gen_rng *rng);
/* Uniform in [low, high], both included; low <= high. */
int64_t nai_gen_rng_between(struct nai_gen_rng *rng, int64_t low, int64_t high);
/* `value` plus or minus up to `percent` percent, at least 1. */
int64_t nai_gen_rng_vary(struct nai_gen_rng *rng, int64_t value, int percent);

/* Growable array of fixed-size items. Zero-initialise, then set item_size. */
struct nai_gen_vec {
  void *items;
  size_t count;
  size_t capacity;
  size_t item_size;
};

/* Appends a zeroed item and returns it, or NULL when out of memory. Moves earlier items. */
void *nai_gen_vec_push(struct nai_gen_vec *vec);
/* Appends `count` items copied from `items`; NULL when out of memory. */
void *nai_gen_vec_append(struct nai_gen_vec *vec, const void *items, size_t count);
void nai_gen_vec_free(struct nai_gen_vec *vec);

/* Makes `path` safe to hand to SQLite, which reads a leading "file:" as a URI. NULL: no memory. */
char *nai_gen_plain_path(const char *path);
