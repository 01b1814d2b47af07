#include "model/cpu/collections.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* Exactly these: many names hold the letters. */
static bool is_collection(const char *name) {
  static const char *const names[] = {"gc.collect", "GC", "garbage collection"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0)
      return true;
  return false;
}

static int by_thread_and_start(const void *pa, const void *pb) {
  const struct nai_collection *a = pa, *b = pb;
  if (a->thread != b->thread)
    return a->thread < b->thread ? -1 : 1;
  return (a->start > b->start) - (a->start < b->start);
}

/* Joins what overlaps: collections of older generations hold those of younger ones. */
static void join(struct nai_collections *c) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < c->count; i++) {
    struct nai_collection *last = kept ? &c->v[kept - 1] : NULL;
    if (!last || last->thread != c->v[i].thread || last->end < c->v[i].start)
      c->v[kept++] = c->v[i];
    else if (last->end < c->v[i].end)
      last->end = c->v[i].end;
  }
  c->count = kept;
}

static uint32_t ranges_named(const bool *wanted, const struct nai_model *m, struct nai_collection *to) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < m->nvtx.n; i++) {
    int32_t thread = nai_at_i32(&m->nvtx.thread, i);
    if (thread < 0 || !wanted[nai_at_text(&m->nvtx.name, i)])
      continue;
    if (to)
      to[count] = (struct nai_collection){(uint32_t)thread, nai_at(&m->nvtx.start_ns, i), nai_at(&m->nvtx.end_ns, i)};
    count++;
  }
  return count;
}

int nai_collections_find(struct nai_collections *out, const struct nai_model *m, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_NVTX];
  uint32_t names = m->nvtx.n ? t->strings.count : 0;
  bool any = false, *wanted = calloc((size_t)names + 1, sizeof *wanted);
  *out = (struct nai_collections){0};
  if (!wanted)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < names; i++)
    any |= wanted[i] = is_collection(nai_strings_get(&t->strings, i));
  uint32_t count = any ? ranges_named(wanted, m, NULL) : 0;
  out->v = count ? malloc(count * sizeof *out->v) : NULL;
  int rc = count && !out->v ? nai_err_nomem(err) : NAI_OK;
  if (out->v) {
    out->count = ranges_named(wanted, m, out->v);
    qsort(out->v, out->count, sizeof *out->v, by_thread_and_start);
    join(out);
  }
  free(wanted);
  return rc;
}

void nai_collections_free(struct nai_collections *c) { free(c->v); }

struct collected_before {
  const struct nai_collection *v;
  uint32_t thread;
  int64_t start;
};

static bool ends_before(const void *ctx, size_t i) {
  const struct collected_before *place = ctx;
  const struct nai_collection *c = &place->v[i];
  return c->thread < place->thread || (c->thread == place->thread && c->end <= place->start);
}

int64_t nai_collections_within(const struct nai_collections *c, uint32_t thread, int64_t start, int64_t end) {
  size_t i = nai_search(0, c->count, ends_before, &(struct collected_before){c->v, thread, start});
  int64_t sum = 0;
  for (; i < c->count && c->v[i].thread == thread && c->v[i].start < end; i++) {
    int64_t from = c->v[i].start > start ? c->v[i].start : start, to = c->v[i].end < end ? c->v[i].end : end;
    sum += to - from;
  }
  return sum;
}
