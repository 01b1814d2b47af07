/* Calls that free memory of a GPU, and wait until it is done with what was launched before them. */
#include "base/sort.h"
#include "model/build.h"
#include "model/calls/call_class.h"
#include "model/idle/idle.h"

/* A call that frees memory of a GPU, by process and start. */
struct free_call {
  int64_t process, start, end;
  int64_t until; /* end of the work launched before it that it came back behind */
  uint32_t api;
};
NAI_ORDER(by_process, struct free_call, {a->process, b->process}, {a->start, b->start}, {a->api, b->api})

struct frees {
  struct free_call *at;
  uint32_t count;
  int64_t longest; /* of them */
};

static int find_frees(struct frees *out, const struct nai_model *m, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_strings *names = &m->tables[NAI_IN_APIS]->strings;
  uint32_t capacity = 0;
  bool *frees, any = false;
  NAI_TRY(NAI_NEW(frees, arena, names->count, err));
  for (uint32_t n = 0; n < names->count; n++) {
    const char *name = nai_strings_get(names, n);
    frees[n] = nai_call_class_of(name) == NAI_CALL_CLASS_FREE && !strstr(name, "Async") && !strstr(name, "Host");
    any |= frees[n];
  }
  for (uint32_t i = 0; i < m->apis.n && any; i++) {
    const int32_t thread = nai_val_i32(&m->apis.thread, i);
    if (!frees[nai_val_text(&m->apis.name, i)] || thread < 0)
      continue;
    const struct free_call call = {m->thread_process[thread], nai_val(&m->apis.start_ns, i),
                                   nai_val(&m->apis.end_ns, i), INT64_MIN, i};
    NAI_TRY(NAI_ROOM(out->at, capacity, out->count, arena, err));
    out->at[out->count++] = call;
    out->longest = call.end - call.start > out->longest ? call.end - call.start : out->longest;
  }
  if (out->count)
    qsort(out->at, out->count, sizeof *out->at, by_process);
  return NAI_OK;
}

/* An operation that was launched before some of them, and ended in them. */
static void note_operation(struct frees *frees, const struct nai_model *m, int64_t process, uint32_t api, int64_t end) {
  enum { FARTHEST = 64 }; /* so many threads that free at once */
  uint32_t low = 0, high = frees->count;
  while (low < high) { /* the first of the process that starts at `end` or later */
    const uint32_t middle = low + (high - low) / 2;
    const struct free_call *f = &frees->at[middle];
    if (NAI_COMPARE({f->process, process}, {f->start, end}) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (int i = 0; i < FARTHEST && low-- > 0 && frees->at[low].process == process; i++) {
    struct free_call *f = &frees->at[low];
    if ((uint64_t)end - (uint64_t)f->start > (uint64_t)frees->longest + NAI_CLOCK_TOLERANCE_NS)
      break;
    const int64_t until = end < f->end ? end : f->end;
    if (end - until <= NAI_CLOCK_TOLERANCE_NS && until > f->until && api != NAI_NO_ROW &&
        nai_val(&m->apis.start_ns, api) < f->start)
      f->until = until;
  }
}

int nai_find_waiting_frees(struct nai_model *m, struct nai_err *err) {
  enum { RETURN_NS = 30 * 1000 };
  struct frees frees = {0};
  NAI_TRY(find_frees(&frees, m, &m->work->arenas[NAI_PART_LAUNCHES], err));
  for (uint32_t i = 0; i < m->kernels.n && frees.count; i++)
    note_operation(&frees, m, nai_at_i32(&m->kernels.process, i), m->kernel_api[i], nai_val(&m->kernels.end_ns, i));
  for (uint32_t i = 0; i < m->memops.n && frees.count; i++)
    note_operation(&frees, m, nai_at_i32(&m->memops.process, i), m->memop_api[i], nai_val(&m->memops.end_ns, i));
  for (uint32_t i = 0; i < m->graphs.n && frees.count; i++)
    note_operation(&frees, m, nai_at_i32(&m->graphs.process, i), m->graph_api[i], nai_val(&m->graphs.end_ns, i));
  for (uint32_t i = 0; i < frees.count; i++) {
    const struct free_call *f = &frees.at[i];
    const bool waited =
        f->until > f->start && f->end - f->until <= RETURN_NS && 2 * (f->until - f->start) >= f->end - f->start;
    if (!waited)
      continue;
    if (!m->free_waits)
      NAI_TRY(NAI_NEW(m->free_waits, &m->arena, m->apis.n, err));
    m->free_waits[f->api] = 1;
  }
  return NAI_OK;
}
