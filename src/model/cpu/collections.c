#include "model/cpu/collections.h"

#include "base/sort.h"
#include "model/build.h"

#include <stdlib.h>

void nai_collections_free(struct nai_collections *c) { nai_arena_free(&c->arena); }

/* Exactly these: many names hold the letters. */
static bool is_collection(const char *name) {
  return nai_name_matches(name, NAI_EQUALS, NAI_WORDS("gc.collect", "GC", "garbage collection"));
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

static int take_ranges(struct nai_collections *c, const struct nai_model *m, const bool *wanted, struct nai_err *err) {
  uint32_t capacity = 0;
  for (uint32_t i = 0; i < m->nvtx.n; i++) {
    int32_t thread = nai_at_i32(&m->nvtx.thread, i);
    if (thread < 0 || !wanted[nai_at_text(&m->nvtx.name, i)])
      continue;
    NAI_TRY(NAI_ROOM(c->v, capacity, c->count, &c->arena, err));
    c->v[c->count++] =
        (struct nai_collection){(uint32_t)thread, nai_at(&m->nvtx.start_ns, i), nai_at(&m->nvtx.end_ns, i)};
  }
  return NAI_OK;
}

int nai_collections_find(struct nai_collections *out, const struct nai_model *m, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  *out = (struct nai_collections){.arena = NAI_ARENA(m->scratch_dir)};
  if (!m->nvtx.n)
    return NAI_OK;
  const struct nai_strings *names = &m->tables[NAI_IN_NVTX]->strings;
  bool any = false, *wanted;
  NAI_TRY(NAI_NEW(wanted, &arena, names->count, err));
  for (uint32_t i = 0; i < names->count; i++)
    any |= wanted[i] = is_collection(nai_strings_get(names, i));
  if (!any)
    return NAI_OK;
  NAI_TRY(take_ranges(out, m, wanted, err));
  if (out->count)
    qsort(out->v, out->count, sizeof *out->v, by_thread_and_start);
  join(out);
  return NAI_OK;
}

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
