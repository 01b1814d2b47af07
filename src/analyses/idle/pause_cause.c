#include "analyses/idle/pause_cause.h"

#include "analyses/health/health_facts.h"
#include "analyses/launches/call_kind.h"
#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum cause {
  PROFILER,
  MODULE_LOAD,
  IN_LAUNCH_CALL,
  BLOCKING_CALL,
  ALLOCATION,
  CUDA_CALL,
  INPUT_WAIT,
  SLEEP,
  WAIT,
  FILE_READ,
  OS_CALL,
  HOST_CODE,
  UNKNOWN,
  CAUSES
};
static const char *const words[CAUSES] = {
    "profiler", "module_load", "in_launch_call", "blocking_call", "allocation", "cuda_call", "input_wait",
    "sleep",    "wait",        "file_read",      "os_call",       "host_code",  "unknown",
};

/* One record that lies in the pause, and what records of a name add up to. */
struct item {
  int64_t start, end;
  enum cause cause;
  const char *name;
};
struct tally {
  enum cause cause;
  const char *name;
  int64_t ns;
};

struct pause {
  const struct nai_model *m;
  int64_t start, end;
  int32_t thread;               /* -1 when it is not known */
  uint32_t api;                 /* the launching call, NAI_NO_ROW when there is none */
  struct nai_intervals covered; /* by the layers so far */
  struct item *items;           /* of the layer in hand */
  uint32_t item_count, item_capacity;
  struct tally *tallies;
  uint32_t tally_count, tally_capacity;
  bool oom;
};

static void add_item(struct pause *p, int64_t start, int64_t end, enum cause cause, const char *name) {
  start = start > p->start ? start : p->start;
  end = end < p->end ? end : p->end;
  if (start >= end)
    return;
  if (!nai_array_room(&p->items, &p->item_capacity, p->item_count, sizeof *p->items)) {
    p->oom = true;
    return;
  }
  p->items[p->item_count++] = (struct item){start, end, cause, name};
}

static void count(struct pause *p, enum cause cause, const char *name, int64_t ns) {
  for (uint32_t i = 0; i < p->tally_count; i++)
    if (p->tallies[i].cause == cause && strcmp(p->tallies[i].name, name) == 0) {
      p->tallies[i].ns += ns;
      return;
    }
  if (!nai_array_room(&p->tallies, &p->tally_capacity, p->tally_count, sizeof *p->tallies)) {
    p->oom = true;
    return;
  }
  p->tallies[p->tally_count++] = (struct tally){cause, name, ns};
}

static int compare_items(const void *pa, const void *pb) {
  const struct item *a = pa, *b = pb;
  if (a->start != b->start)
    return a->start < b->start ? -1 : 1;
  if (a->end != b->end)
    return a->end > b->end ? -1 : 1;
  return a->cause != b->cause ? (a->cause < b->cause ? -1 : 1) : strcmp(a->name, b->name);
}

/* Charges what the layer's items cover and no earlier layer did; of items that overlap the earlier one is charged. */
static void end_layer(struct pause *p) {
  struct nai_intervals layer = {0}, both = {0};
  int64_t at = p->start;
  if (p->item_count)
    qsort(p->items, p->item_count, sizeof *p->items, compare_items);
  for (uint32_t i = 0; i < p->item_count; i++) {
    const struct item *item = &p->items[i];
    int64_t from = item->start > at ? item->start : at;
    if (from < item->end)
      count(p, item->cause, item->name, item->end - from - nai_covered(&p->covered, from, item->end));
    at = item->end > at ? item->end : at;
    nai_intervals_add(&layer, item->start, item->end);
  }
  nai_intervals_union(&both, &p->covered, &layer);
  p->oom = p->oom || layer.oom || both.oom;
  nai_intervals_free(&layer);
  nai_intervals_free(&p->covered);
  p->covered = both;
  p->item_count = 0;
}

/* --- layers ----------------------------------------------------------------------------------- */

static enum nai_call_kind call_kind(const struct nai_model *m, uint32_t api) {
  return nai_call_kind_of(nai_model_api_name(m, api));
}

/* Rows of the thread; flushes of other threads of its process hold it up, too. */
static void add_overhead(struct pause *p, bool loading) {
  const struct nai_table *t = p->m->tables[NAI_IN_OVERHEAD];
  struct nai_column start = nai_table_column(t, OE_START), end = nai_table_column(t, OE_END);
  for (int64_t i = 0; i < t->rows; i++) {
    if (nai_at(&end, i) <= p->start || nai_at(&start, i) >= p->end)
      continue;
    int32_t thread = (int32_t)nai_get_i64(t, i, OE_THREAD);
    const char *name = nai_get_str(t, i, OE_NAME);
    bool same = thread == p->thread, same_process = thread >= 0 && p->thread >= 0 &&
                                                    p->m->thread_process[thread] == p->m->thread_process[p->thread];
    enum nai_overhead_kind kind = (enum nai_overhead_kind)p->m->overhead_kind[i];
    if (loading ? kind == NAI_OVERHEAD_LOADING && same
                : (kind == NAI_OVERHEAD_OF_PROFILER && same) || (kind == NAI_OVERHEAD_FLUSH && (same || same_process)))
      add_item(p, nai_at(&start, i), nai_at(&end, i), loading ? MODULE_LOAD : PROFILER, name);
  }
  end_layer(p);
}

/* Whether the operation is the first of its kernel on the GPU. */
static bool is_first_of_kernel(const struct nai_model *m, const struct nai_gpu *gpu, uint32_t op) {
  if (gpu->ops[op].type != NAI_OP_KERNEL)
    return false;
  uint32_t name = nai_at_text(&m->kernels.name, gpu->ops[op].row);
  for (uint32_t i = 0; i < op; i++)
    if (gpu->ops[i].type == NAI_OP_KERNEL && nai_at_text(&m->kernels.name, gpu->ops[i].row) == name)
      return false;
  return true;
}

/* A first launch that takes long loads or compiles, which few exporters record. */
static void add_launching_call(struct pause *p, const struct nai_gpu *gpu, uint32_t op) {
  enum { LONG_NS = 1000 * 1000 };
  if (p->api != NAI_NO_ROW) {
    bool loads = nai_call_ns(p->m, p->api) > LONG_NS && is_first_of_kernel(p->m, gpu, op);
    add_item(p, nai_at(&p->m->apis.start, p->api), nai_at(&p->m->apis.end, p->api),
             loads ? MODULE_LOAD : IN_LAUNCH_CALL, nai_model_api_name(p->m, p->api));
  }
  end_layer(p);
}

static enum cause call_cause(const struct nai_model *m, uint32_t api) {
  if (nai_model_api_blocks(m, api))
    return BLOCKING_CALL;
  enum nai_call_kind kind = call_kind(m, api);
  return kind == NAI_CALL_ALLOCATION ? ALLOCATION : kind == NAI_CALL_LOADING ? MODULE_LOAD : CUDA_CALL;
}

static void add_calls(struct pause *p) {
  const struct nai_groups *g = &p->m->api_by_thread;
  for (uint32_t i = g->first[p->thread]; i < g->first[p->thread + 1]; i++) {
    uint32_t api = g->order[i];
    if (nai_at(&p->m->apis.start, api) >= p->end)
      break;
    add_item(p, nai_at(&p->m->apis.start, api), nai_at(&p->m->apis.end, api), call_cause(p->m, api),
             nai_model_api_name(p->m, api));
  }
  end_layer(p);
}

static enum cause os_cause(const char *name) {
  static const struct {
    const char *name;
    enum cause cause;
  } calls[] = {
      {"getc", INPUT_WAIT},
      {"fgetc", INPUT_WAIT},
      {"getchar", INPUT_WAIT},
      {"fgets", INPUT_WAIT},
      {"getline", INPUT_WAIT},
      {"scanf", INPUT_WAIT},
      {"nanosleep", SLEEP},
      {"clock_nanosleep", SLEEP},
      {"usleep", SLEEP},
      {"sleep", SLEEP},
      {"poll", WAIT},
      {"ppoll", WAIT},
      {"select", WAIT},
      {"pselect", WAIT},
      {"epoll_wait", WAIT},
      {"epoll_pwait", WAIT},
      {"pthread_cond_wait", WAIT},
      {"pthread_cond_timedwait", WAIT},
      {"pthread_join", WAIT},
      {"sem_wait", WAIT},
      {"sem_timedwait", WAIT},
      {"futex", WAIT},
      {"waitpid", WAIT},
      {"wait4", WAIT},
      {"read", FILE_READ},
      {"pread", FILE_READ},
      {"pread64", FILE_READ},
      {"readv", FILE_READ},
      {"fread", FILE_READ},
  };
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strcmp(calls[i].name, name) == 0)
      return calls[i].cause;
  return OS_CALL;
}

static void add_os_calls(struct pause *p) {
  const struct nai_table *t = p->m->tables[NAI_IN_OSRT];
  struct nai_column start = nai_table_column(t, OS_START), end = nai_table_column(t, OS_END),
                    thread = nai_table_column(t, OS_THREAD), level = nai_table_column(t, OS_LEVEL);
  for (int64_t i = 0; i < t->rows; i++)
    if (nai_at_i32(&thread, i) == p->thread && nai_at(&level, i) <= 0 && nai_at(&start, i) < p->end &&
        nai_at(&end, i) > p->start) {
      const char *name = nai_get_str(t, i, OS_NAME);
      add_item(p, nai_at(&start, i), nai_at(&end, i), os_cause(name), name);
    }
  end_layer(p);
}

/* --- the answer ------------------------------------------------------------------------------- */

/* The thread that launched, else the only one with CUDA calls. */
static int32_t responsible_thread(const struct nai_model *m, uint32_t api) {
  if (api != NAI_NO_ROW)
    return nai_at_i32(&m->apis.thread, api);
  int32_t found = -1;
  for (uint32_t t = 0; t < m->thread_count; t++) {
    if (m->api_by_thread.first[t + 1] == m->api_by_thread.first[t])
      continue;
    if (found >= 0)
      return -1;
    found = (int32_t)t;
  }
  return found;
}

static void answer(struct nai_pause_cause *out, const struct pause *p) {
  int64_t total[CAUSES] = {0};
  int best = 0;
  const struct tally *largest = NULL;
  for (uint32_t i = 0; i < p->tally_count; i++)
    total[p->tallies[i].cause] += p->tallies[i].ns;
  for (int c = 1; c < CAUSES; c++)
    best = total[c] > total[best] ? c : best;
  for (uint32_t i = 0; i < p->tally_count; i++)
    if ((int)p->tallies[i].cause == best && (!largest || p->tallies[i].ns > largest->ns))
      largest = &p->tallies[i];
  *out = (struct nai_pause_cause){.cause = words[best], .ns = total[best]};
  bool launch = largest && best == MODULE_LOAD && nai_call_kind_of(largest->name) == NAI_CALL_LAUNCH;
  snprintf(out->what, sizeof out->what, "%.400s%s", largest ? largest->name : "",
           launch ? " (first launch of the kernel: loading or compiling)" : "");
}

int nai_pause_explain(struct nai_pause_cause *out, const struct nai_model *m, const struct nai_gpu *gpu,
                      const struct nai_span *pause, struct nai_err *err) {
  uint32_t op = nai_model_op_from(m, gpu, pause->end);
  uint32_t api = op < gpu->op_count ? nai_model_op_api(m, &gpu->ops[op]) : NAI_NO_ROW;
  struct pause p = {.m = m, .start = pause->start, .end = pause->end, .api = api};
  p.thread = responsible_thread(m, api);
  if (p.thread >= 0) {
    add_overhead(&p, false);
    add_overhead(&p, true);
    add_launching_call(&p, gpu, op);
    add_calls(&p);
    add_os_calls(&p);
  }
  int64_t rest = p.end - p.start - nai_intervals_total(&p.covered);
  if (rest)
    count(&p, p.thread >= 0 && nai_host_was_watched(m) ? HOST_CODE : UNKNOWN, "", rest);
  answer(out, &p);
  int rc = p.oom ? nai_err_nomem(err) : NAI_OK;
  nai_intervals_free(&p.covered);
  free(p.items);
  free(p.tallies);
  return rc;
}
