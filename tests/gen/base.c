#include "gen/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nai_gen_fail(int code, struct nai_gen_err *err, const char *format, ...) {
  if (err->code == 0) {
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    err->code = code;
  }
  return code;
}

uint64_t nai_gen_rng_next(struct nai_gen_rng *rng) {
  uint64_t z = (rng->state += UINT64_C(0x9E3779B97F4A7C15));
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

int64_t nai_gen_rng_between(struct nai_gen_rng *rng, int64_t low, int64_t high) {
  uint64_t span = (uint64_t)(high - low) + 1;
  return low + (int64_t)(nai_gen_rng_next(rng) % span);
}

int64_t nai_gen_rng_vary(struct nai_gen_rng *rng, int64_t value, int percent) {
  int64_t spread = value / 100 * percent;
  int64_t varied = value + nai_gen_rng_between(rng, -spread, spread);
  return varied > 0 ? varied : 1;
}

static int vec_reserve(struct nai_gen_vec *vec, size_t extra) {
  if (vec->capacity - vec->count >= extra) {
    return 0;
  }
  size_t capacity = vec->capacity ? vec->capacity : 64;
  while (capacity - vec->count < extra) {
    if (capacity > SIZE_MAX / 2 / vec->item_size) {
      return NAI_GEN_ENOMEM;
    }
    capacity *= 2;
  }
  void *items = realloc(vec->items, capacity * vec->item_size);
  if (!items) {
    return NAI_GEN_ENOMEM;
  }
  vec->items = items;
  vec->capacity = capacity;
  return 0;
}

void *nai_gen_vec_append(struct nai_gen_vec *vec, const void *items, size_t count) {
  if (vec_reserve(vec, count)) {
    return NULL;
  }
  char *at = (char *)vec->items + vec->count * vec->item_size;
  memcpy(at, items, count * vec->item_size);
  vec->count += count;
  return at;
}

void *nai_gen_vec_push(struct nai_gen_vec *vec) {
  if (vec_reserve(vec, 1)) {
    return NULL;
  }
  char *at = (char *)vec->items + vec->count * vec->item_size;
  memset(at, 0, vec->item_size);
  vec->count++;
  return at;
}

void nai_gen_vec_free(struct nai_gen_vec *vec) {
  free(vec->items);
  vec->items = NULL;
  vec->count = vec->capacity = 0;
}

char *nai_gen_plain_path(const char *path) {
  size_t size = strlen(path) + 3;
  char *plain = malloc(size);
  if (plain) {
    snprintf(plain, size, "%s%s", path[0] == '/' ? "" : "./", path);
  }
  return plain;
}
