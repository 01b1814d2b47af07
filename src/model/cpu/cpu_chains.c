/* Which function a callchain stands for: the innermost that somebody can act on. Frames of the operating system, the C
 * library, CUDA and the profiler, addresses without a name and the unwinder's remarks are passed over. */
#include "base/sort.h"
#include "model/build.h"
#include "model/cpu/cpu.h"
#include "model/cpu/frames.h"

/* The better a frame, the higher. */
enum rank { NO_NAME, LIBRARY_NAME, STANDARD_CPP, OWN };

static enum rank rank_of(enum nai_frame_class class) {
  return class == NAI_FRAME_MARKER       ? NO_NAME
       : class == NAI_FRAME_STANDARD_CPP ? STANDARD_CPP
       : class < NAI_FRAME_STANDARD_CPP  ? LIBRARY_NAME
                                         : OWN;
}

/* rows: frames of one chain, innermost first. */
static struct nai_chain make_chain(const struct nai_frames *f, const uint32_t *rows, uint32_t count) {
  struct nai_chain chain = {.id = nai_at(&f->c.callchain_id, rows[0]),
                            .function = NAI_NO_STRING,
                            .innermost = nai_at_text(&f->c.symbol, rows[0]),
                            .flags = (nai_frame_is_not_inlined(f, rows[0]) ? NAI_CHAIN_NOT_INLINED : 0) |
                                     (count == 1 ? NAI_CHAIN_ALONE : 0)};
  enum rank best = NO_NAME;
  bool compiles = false;
  chain.kind = (uint8_t)nai_at(&f->c.kind, rows[0]);
  for (uint32_t i = 0; i < count && !compiles; i++) {
    enum nai_frame_class class = nai_frame_class(f, rows[i]);
    enum rank rank = rank_of(class);
    compiles = class == NAI_FRAME_COMPILER;
    chain.flags |= nai_frame_is_lock(f, rows[i]) ? NAI_CHAIN_GIL : 0;
    chain.flags |= nai_frame_is_garbage(f, rows[i]) ? NAI_CHAIN_GC : 0;
    if (rank > best || compiles) {
      best = rank;
      chain.function = nai_at_text(compiles ? &f->c.module : &f->c.symbol, rows[i]);
    }
  }
  chain.is_own = best >= STANDARD_CPP && !compiles;
  if (compiles || best == NO_NAME) {
    chain.function = compiles ? chain.function : nai_at_text(&f->c.module, rows[0]);
    chain.is_module = true;
  }
  return chain;
}

/* One with every fourth sample leaves three quarters without. */
static bool are_stacks_rare(const struct nai_cpu *cpu) {
  uint32_t alone = 0, stacks = 0;
  for (uint32_t i = 0; i < cpu->chain_count; i++) {
    alone += cpu->chains[i].kind == NAI_CALLCHAIN_SAMPLE && cpu->chains[i].flags & NAI_CHAIN_ALONE;
    stacks += cpu->chains[i].kind == NAI_CALLCHAIN_SAMPLE && !(cpu->chains[i].flags & NAI_CHAIN_ALONE);
  }
  return alone > stacks && stacks > alone / 10;
}

int nai_cpu_chains_build(struct nai_model *m, struct nai_err *err) {
  struct nai_arena *arena = &m->work->arenas[NAI_PART_CPU];
  const struct nai_table *t = m->tables[NAI_IN_CALLCHAINS];
  struct nai_cpu *cpu = m->cpu;
  if (!t || !t->rows)
    return NAI_OK;
  NAI_SCOPED(nai_frames) f = {0};
  NAI_TRY(nai_frames_open(&f, m, arena, err));
  const struct nai_column *const order[] = {&f.c.kind, &f.c.callchain_id, &f.c.depth};
  uint32_t *rows, n = f.c.n, count = 0;
  NAI_TRY(NAI_NEW(rows, arena, n, err));
  for (uint32_t i = 0; i < n; i++)
    rows[i] = i;
  NAI_TRY(nai_rows_arrange(rows, n, order, 3, err));
  for (uint32_t i = 0; i < n; i = nai_rows_run(rows, i, n, order, 2))
    count++;
  NAI_TRY(NAI_NEW(cpu->chains, &m->arena, count, err));
  for (uint32_t i = 0, end; i < n; i = end) {
    end = nai_rows_run(rows, i, n, order, 2);
    cpu->chains[cpu->chain_count++] = make_chain(&f, rows + i, end - i);
  }
  cpu->stacks_are_rare = are_stacks_rare(cpu);
  return nai_call_frames_check(f.names, err);
}

struct looked_up {
  const struct nai_chain *chains;
  int kind;
  int64_t id;
};

static bool chain_before(const void *ctx, size_t i) {
  const struct looked_up *key = ctx;
  const struct nai_chain *c = &key->chains[i];
  return c->kind < key->kind || (c->kind == key->kind && c->id < key->id);
}

const struct nai_chain *nai_cpu_chain(const struct nai_model *m, int kind, int64_t id) {
  const struct nai_cpu *cpu = m->cpu;
  size_t i = nai_search(0, cpu->chain_count, chain_before, &(struct looked_up){cpu->chains, kind, id});
  return i < cpu->chain_count && cpu->chains[i].kind == kind && cpu->chains[i].id == id ? &cpu->chains[i] : NULL;
}

const char *nai_chain_name(const struct nai_model *m, const struct nai_chain *chain) {
  if (chain->function == NAI_NO_STRING)
    return "a library without symbols";
  const char *text = nai_strings_get(&m->tables[NAI_IN_CALLCHAINS]->strings, chain->function);
  return chain->is_module ? nai_frame_file_name(text) : text;
}
