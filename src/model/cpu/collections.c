#include "model/cpu/collections.h"

#include "model/build.h"

void nai_collections_free(struct nai_collections *c) { nai_arena_free(&c->arena); }

/* Exactly these: many names hold the letters. */
static bool is_collection(const char *name) {
  return nai_name_matches(name, NAI_EQUALS, NAI_WORDS("gc.collect", "GC", "garbage collection"));
}

/* Those of one thread joined where they overlap: collections of older generations hold those of younger ones. */
static int take_ranges(struct nai_collections *c, const struct nai_model *m, const bool *wanted, struct nai_err *err) {
  NAI_SCOPED(nai_arena) scratch = NAI_ARENA(m->scratch_dir);
  const struct nai_column *const order[] = {&m->nvtx.thread, &m->nvtx.start_ns};
  uint32_t *rows = NULL, capacity = 0;
  bool oom = false;
  for (uint32_t i = 0; i < m->nvtx.n; i++) {
    if (nai_val_i32(&m->nvtx.thread, i) < 0 || !wanted[nai_val_text(&m->nvtx.name, i)])
      continue;
    NAI_TRY(NAI_ROOM(rows, capacity, c->count, &scratch, err));
    rows[c->count++] = i;
  }
  NAI_TRY(nai_rows_arrange(rows, c->count, order, 2, err));
  NAI_TRY(NAI_NEW(c->threads, &c->arena, m->thread_count, err));
  for (uint32_t i = 0; i < c->count; i++) {
    struct nai_intervals *set = &c->threads[nai_val_i32(&m->nvtx.thread, rows[i])];
    set->arena = &c->arena;
    nai_intervals_add(set, nai_val(&m->nvtx.start_ns, rows[i]), nai_val(&m->nvtx.end_ns, rows[i]));
    oom |= set->oom;
  }
  return oom ? nai_err_nomem(err) : NAI_OK;
}

int nai_collections_find(struct nai_collections *out, const struct nai_model *m, struct nai_err *err) {
  NAI_SCOPED(nai_arena) scratch = NAI_ARENA(m->scratch_dir);
  *out = (struct nai_collections){.arena = NAI_ARENA(m->scratch_dir)};
  if (!m->nvtx.n)
    return NAI_OK;
  const struct nai_strings *names = &m->tables[NAI_IN_NVTX]->strings;
  bool any = false, *wanted;
  NAI_TRY(NAI_NEW(wanted, &scratch, names->count, err));
  for (uint32_t i = 0; i < names->count; i++)
    any |= wanted[i] = is_collection(nai_strings_get(names, i));
  return any ? take_ranges(out, m, wanted, err) : NAI_OK;
}

int64_t nai_collections_within(const struct nai_collections *c, uint32_t thread, int64_t start, int64_t end) {
  return c->count ? nai_intervals_overlap_ns(&c->threads[thread], start, end) : 0;
}
