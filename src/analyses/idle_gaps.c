/* When did each GPU have nothing to do, and why? Tables gpu_idle_gaps, idle_causes. */
#include "analyses/analysis.h"
#include "table/columns.h"
#include "derive/nvtx_open.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICE, START, END, GAP, CAUSE, NEXT_OP, LAUNCH_API, LAUNCH_THREAD, HOST_ACTIVITY, NVTX_RANGE, PID, TID };
static const struct nai_column_def columns[] = {
    [DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [START] = NAI_START_COLUMN("gap_start_ns", "end of the last operation before", .key = true),
    [END] = NAI_END_COLUMN("gap_end_ns", "start of the next operation"),
    [GAP] = NAI_TIME_COLUMN("gap_ns", "length", .better = NAI_BETTER_LOWER, .sum = true),
    [CAUSE] = NAI_NAME_COLUMN("cause", "unknown, dependency, host_sync, host_api or host_code"),
    [NEXT_OP] = NAI_KERNEL_NAME_COLUMN("next_op", "operation that ends the gap"),
    [LAUNCH_API] = NAI_LABEL_COLUMN("launch_api", "API call that launched it"),
    [LAUNCH_THREAD] = NAI_LABEL_COLUMN("launch_thread", "thread that made the call"),
    [HOST_ACTIVITY] = NAI_LABEL_COLUMN("host_activity", "API or innermost NVTX range that took most of the wait"),
    [NVTX_RANGE] = NAI_RANGE_NAME_COLUMN("nvtx_range", "innermost NVTX range around the launch"),
    [PID] = NAI_PID_COLUMN("process of the launch"),
    [TID] = NAI_TID_COLUMN("thread of the launch"),
};
static const struct nai_schema gaps_schema =
    NAI_SCHEMA("gpu_idle_gaps", "Longest idle gaps",
               "One stretch of time in which a GPU ran nothing; the 10,000 longest", columns);

enum { C_DEVICE, C_CAUSE, C_COUNT, C_TOTAL, C_PCT_IDLE, C_LONGEST, C_LONGEST_START, C_LONGEST_END, C_PCT_WINDOW };
static const struct nai_column_def cause_columns[] = {
    [C_DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [C_CAUSE] = NAI_NAME_COLUMN("cause", "why the GPU had nothing to do", .key = true),
    [C_COUNT] = NAI_COUNT_COLUMN("gap_count", "gaps", .better = NAI_BETTER_LOWER, .sum = true),
    [C_TOTAL] = {"total_ns", NAI_I64, NAI_NS, "summed length", .prints = NAI_AS_NS | NAI_AS_MS, .role = NAI_ROLE_METRIC,
                 .better = NAI_BETTER_LOWER, .sum = true},
    [C_PCT_IDLE] = NAI_PCT_COLUMN("pct_of_idle", "of this GPU's idle time"),
    [C_LONGEST] = NAI_TIME_COLUMN("longest_ns", "longest gap", .better = NAI_BETTER_LOWER),
    [C_LONGEST_START] = NAI_START_COLUMN("longest_start_ns", "start of the longest gap"),
    [C_LONGEST_END] = NAI_END_COLUMN("longest_end_ns", "end of the longest gap"),
    [C_PCT_WINDOW] = NAI_PCT_COLUMN("pct_of_window", "of this GPU's window", .better = NAI_BETTER_LOWER),
};
static const struct nai_schema causes_schema =
    NAI_SCHEMA("idle_causes", "Idle time by cause", "One cause on one GPU; causes add up to the GPU's idle time",
               cause_columns);

enum cause { UNKNOWN, DEPENDENCY, HOST_SYNC, HOST_API, HOST_CODE, CAUSES };
static const char *const cause_names[CAUSES] = {"unknown", "dependency", "host_sync", "host_api", "host_code"};

enum { MAX_GAPS = 10000 };

struct gap {
  int64_t start, end;
  uint32_t op; /* that ends it, NAI_NO_ROW for the end of the window */
  int32_t gpu; /* index */
  uint8_t cause;
};

/* --- host time -------------------------------------------------------------------------------- */

/* Shares of a stretch of host time by name. */
struct shares {
  int64_t *ns;     /* per name id, 0 between uses */
  uint32_t *names; /* those with a share */
  uint32_t count;
};

struct host {
  const struct nai_model *m;
  uint32_t *reach;      /* per thread: so many calls at most begin while another one runs */
  struct shares shares; /* sized for the names of API calls and of ranges */
  struct nai_open_cursor open;
};

static void add_share(struct shares *s, uint32_t name, int64_t ns) {
  if (ns <= 0)
    return;
  if (!s->ns[name])
    s->names[s->count++] = name;
  s->ns[name] += ns;
}

/* The name with the largest share; empties the shares. */
static const char *take_largest(struct shares *s, const struct nai_strings *names) {
  const char *best = NULL;
  int64_t most = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    const char *name = nai_strings_get(names, s->names[i]);
    int64_t ns = s->ns[s->names[i]];
    if (ns > most || (ns == most && best && strcmp(name, best) < 0)) {
      most = ns;
      best = name;
    }
    s->ns[s->names[i]] = 0;
  }
  s->count = 0;
  return best;
}

/* Index in the group's order of the first row that starts at or after t. */
static uint32_t first_from(const struct nai_groups *g, uint32_t group, const struct nai_column *start, int64_t t) {
  uint32_t lo = g->first[group], hi = g->first[group + 1];
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (nai_at(start, g->order[mid]) < t)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* Calls of a thread rarely nest, so the one before a moment is nearly always the only one to reach beyond it. Nesting
 * deeper than MAX_REACH calls is no real one; looking back further for every gap would take too long. */
static uint32_t find_reach(const struct nai_model *m, uint32_t thread) {
  enum { MAX_REACH = 4096 };
  const struct nai_groups *g = &m->api_by_thread;
  uint32_t reach = 0;
  for (uint32_t i = g->first[thread]; i + 1 < g->first[thread + 1]; i++) {
    int64_t end = nai_at(&m->apis.end, g->order[i]);
    if (end <= nai_at(&m->apis.start, g->order[i + 1]))
      continue;
    uint32_t inside = first_from(g, thread, &m->apis.start, end) - i - 1;
    reach = inside > reach ? inside : reach;
  }
  return reach < MAX_REACH ? reach : MAX_REACH;
}

/* Time in [a, b) that the thread spent inside API calls of the wanted kind (union), and per name where `shares` is set.
 */
static int64_t api_time(const struct host *h, uint32_t thread, int64_t a, int64_t b, bool blocking,
                        struct shares *shares) {
  const struct nai_model *m = h->m;
  const struct nai_groups *g = &m->api_by_thread;
  uint32_t i = first_from(g, thread, &m->apis.start, a), first = g->first[thread], back = h->reach[thread] + 1;
  i = i - first > back ? i - back : first;
  int64_t covered = 0, until = a;
  for (; i < g->first[thread + 1] && nai_at(&m->apis.start, g->order[i]) < b; i++) {
    uint32_t call = g->order[i];
    int64_t from = nai_at(&m->apis.start, call) > until ? nai_at(&m->apis.start, call) : until;
    int64_t to = nai_at(&m->apis.end, call) < b ? nai_at(&m->apis.end, call) : b;
    if (to <= from || nai_model_api_blocks(m, call) != blocking)
      continue;
    covered += to - from;
    until = to;
    if (shares)
      add_share(shares, nai_at_text(&m->apis.name, call), to - from);
  }
  return covered;
}

/* Shares of innermost push/pop ranges in [a, b). */
static int range_time(struct host *h, uint32_t thread, int64_t a, int64_t b, struct nai_err *err) {
  const struct nai_groups *g = &h->m->nvtx_by_thread;
  const struct nai_nvtx_view *v = &h->m->nvtx;
  uint32_t next = first_from(g, thread, &v->start, a), end = g->first[thread + 1], parent;
  int rc = nai_open_find(&h->open, h->m, thread, next, err);
  for (int64_t t = a; !rc && t < b;) {
    uint32_t current = nai_open_at(&h->open, t);
    while (next < end && nai_at_i32(&v->kind, g->order[next]) != NAI_NVTX_PUSH_POP)
      next++;
    int64_t begins = next < end ? nai_at(&v->start, g->order[next]) : b, until = begins < b ? begins : b;
    int64_t ends = current == NAI_NO_ROW ? until : nai_at(&v->end, current), to = ends < until ? ends : until;
    if (current != NAI_NO_ROW)
      add_share(&h->shares, nai_at_text(&v->name, current), to - t);
    t = to;
    if (t == until && begins < b)
      rc = nai_open_begin(&parent, &h->open, g->order[next++], err);
  }
  return rc;
}

/* --- causes ----------------------------------------------------------------------------------- */

static uint32_t launch_of(const struct nai_model *m, const struct gap *gap) {
  return gap->op == NAI_NO_ROW ? NAI_NO_ROW : nai_model_op_api(m, &m->gpus[gap->gpu].ops[gap->op]);
}

static enum cause cause_of(const struct host *h, const struct gap *gap) {
  const struct nai_model *m = h->m;
  uint32_t launch = launch_of(m, gap);
  if (launch == NAI_NO_ROW)
    return UNKNOWN;
  int64_t launched = nai_at(&m->apis.start, launch);
  if (launched < gap->start)
    return DEPENDENCY;
  /* A call inside the gap cannot start after the operation it launched; clocks that disagree must not widen the gap. */
  int64_t until = launched < gap->end ? launched : gap->end, wait = until - gap->start;
  uint32_t thread = (uint32_t)nai_at_i32(&m->apis.thread, launch);
  if (wait > 0 && 2 * api_time(h, thread, gap->start, until, true, NULL) >= wait)
    return HOST_SYNC;
  if (wait > 0 && 2 * api_time(h, thread, gap->start, until, false, NULL) >= wait)
    return HOST_API;
  return HOST_CODE;
}

/* What the host did most of the time that the gap is due to; *name NULL when nothing is known. */
static int host_activity(const char **name, struct host *h, const struct gap *gap, struct nai_err *err) {
  const struct nai_model *m = h->m;
  uint32_t launch = launch_of(m, gap);
  if (launch == NAI_NO_ROW || gap->cause < HOST_SYNC)
    return NAI_OK;
  uint32_t thread = (uint32_t)nai_at_i32(&m->apis.thread, launch);
  int64_t until = nai_at(&m->apis.start, launch) < gap->end ? nai_at(&m->apis.start, launch) : gap->end;
  int rc = NAI_OK;
  if (gap->cause == HOST_CODE)
    rc = range_time(h, thread, gap->start, until, err);
  else
    api_time(h, thread, gap->start, until, gap->cause == HOST_SYNC, &h->shares);
  *name = take_largest(&h->shares,
                       gap->cause == HOST_CODE ? &m->tables[NAI_IN_NVTX]->strings : &m->tables[NAI_IN_APIS]->strings);
  return rc;
}

/* --- gaps ------------------------------------------------------------------------------------- */

/* Longest first; among equals by GPU and time. */
static int longest_first(const void *pa, const void *pb) {
  const struct gap *a = pa, *b = pb;
  int64_t la = a->end - a->start, lb = b->end - b->start;
  if (la != lb)
    return la > lb ? -1 : 1;
  if (a->gpu != b->gpu)
    return a->gpu < b->gpu ? -1 : 1;
  return (a->start > b->start) - (a->start < b->start);
}

/* The longest gaps met so far: a heap with the shortest of them on top. */
struct longest {
  struct gap *v;
  size_t count;
};

static void sift_down(struct gap *v, size_t count, size_t at) {
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && longest_first(&v[child + 1], &v[child]) > 0)
      child++;
    if (longest_first(&v[child], &v[at]) <= 0)
      return;
    struct gap swap = v[at];
    v[at] = v[child];
    v[child] = swap;
  }
}

static void keep_longest(struct longest *heap, const struct gap *gap) {
  if (heap->count < MAX_GAPS) {
    heap->v[heap->count++] = *gap;
    for (size_t i = heap->count / 2; heap->count == MAX_GAPS && i-- > 0;)
      sift_down(heap->v, heap->count, i);
  } else if (longest_first(gap, &heap->v[0]) < 0) {
    heap->v[0] = *gap;
    sift_down(heap->v, heap->count, 0);
  }
}

struct cause_sum {
  int64_t count, total_ns;
  struct gap longest;
};

static void take_gap(struct cause_sum *sums, struct longest *heap, const struct host *h, struct gap gap) {
  gap.cause = (uint8_t)cause_of(h, &gap);
  struct cause_sum *sum = &sums[(size_t)gap.gpu * CAUSES + gap.cause];
  if (gap.end - gap.start > sum->longest.end - sum->longest.start)
    sum->longest = gap;
  sum->count++;
  sum->total_ns += gap.end - gap.start;
  keep_longest(heap, &gap);
}

/* Every gap of a GPU's window, in order. */
static void take_gpu(struct cause_sum *sums, struct longest *heap, const struct host *h, int32_t index) {
  const struct nai_model *m = h->m;
  const struct nai_gpu *gpu = &m->gpus[index];
  int64_t at = gpu->window_start;
  uint32_t op = 0; /* the first operation that starts when a gap ends: it ends the gap, even with no length */
  for (size_t i = 0; i < gpu->all.count; i++) {
    int64_t start = gpu->all.v[i].start;
    while (start > at && nai_model_op_start(m, &gpu->ops[op]) < start)
      op++;
    if (start > at)
      take_gap(sums, heap, h, (struct gap){at, start, op, index, UNKNOWN});
    at = gpu->all.v[i].end;
  }
  if (gpu->window_end > at) /* only zero-length operations follow */
    take_gap(sums, heap, h, (struct gap){at, gpu->window_end, NAI_NO_ROW, index, UNKNOWN});
}

static int put_gap(struct nai_table *table, struct host *h, const struct gap *gap, struct nai_err *err) {
  const struct nai_model *m = h->m;
  int64_t row = nai_table_add_row(table);
  nai_set_i64(table, row, DEVICE, m->gpus[gap->gpu].device_id);
  nai_set_i64(table, row, START, gap->start);
  nai_set_i64(table, row, END, gap->end);
  nai_set_i64(table, row, GAP, gap->end - gap->start);
  nai_set_str(table, row, CAUSE, cause_names[gap->cause]);
  if (gap->op != NAI_NO_ROW) {
    const struct nai_op *op = &m->gpus[gap->gpu].ops[gap->op];
    char room[NAI_KIND_NAME_MAX];
    nai_set_str(table, row, NEXT_OP,
                op->type == NAI_OP_KERNEL  ? nai_model_kernel_name(m, op->row)
                : op->type == NAI_OP_GRAPH ? "graph launch"
                                           : nai_model_direction(room, m, op->row));
  }
  uint32_t launch = launch_of(m, gap);
  if (launch == NAI_NO_ROW)
    return NAI_OK;
  int32_t thread = nai_at_i32(&m->apis.thread, launch);
  int64_t tid = nai_get_i64(m->tables[NAI_IN_THREADS], thread, TH_TID);
  struct nai_value name = nai_table_value(m->tables[NAI_IN_THREADS], thread, TH_NAME);
  char label[512];
  snprintf(label, sizeof label, name.null ? "thread %" PRId64 "%s" : "thread %" PRId64 " %s", tid,
           name.null ? "" : name.s);
  nai_set_str(table, row, LAUNCH_API, nai_model_api_name(m, launch));
  nai_set_str(table, row, LAUNCH_THREAD, label);
  nai_set_i64(table, row, PID, nai_get_i64(m->tables[NAI_IN_THREADS], thread, TH_PID));
  nai_set_i64(table, row, TID, tid);
  const char *activity = NULL;
  int rc = host_activity(&activity, h, gap, err);
  nai_set_str(table, row, HOST_ACTIVITY, activity);
  const struct nai_nvtx_node *node = nai_model_call_node(m, launch);
  nai_set_str(table, row, NVTX_RANGE, node ? nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, node->name) : NULL);
  return rc;
}

static int put_causes(struct nai_table *table, const struct nai_model *m, const struct cause_sum *sums,
                      struct nai_err *err) {
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    const struct nai_gpu *gpu = &m->gpus[g];
    int64_t window = gpu->window_end - gpu->window_start, idle = window - nai_intervals_total(&gpu->all);
    for (int c = 0; c < CAUSES; c++) {
      const struct cause_sum *sum = &sums[(size_t)g * CAUSES + c];
      if (!sum->count)
        continue;
      int64_t row = nai_table_add_row(table);
      nai_set_i64(table, row, C_DEVICE, gpu->device_id);
      nai_set_str(table, row, C_CAUSE, cause_names[c]);
      nai_set_i64(table, row, C_COUNT, sum->count);
      nai_set_i64(table, row, C_TOTAL, sum->total_ns);
      nai_set_f64(table, row, C_PCT_IDLE, nai_percent((double)sum->total_ns, (double)idle));
      nai_set_f64(table, row, C_PCT_WINDOW, nai_percent((double)sum->total_ns, (double)window));
      nai_set_i64(table, row, C_LONGEST, sum->longest.end - sum->longest.start);
      nai_set_i64(table, row, C_LONGEST_START, sum->longest.start);
      nai_set_i64(table, row, C_LONGEST_END, sum->longest.end);
    }
  }
  static const struct nai_sort_by order[] = {{C_DEVICE, false}, {C_TOTAL, true}, {C_CAUSE, false}};
  return nai_table_sort(table, order, 3, err);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct nai_table *const *tables = io->out;
  const struct nai_model *m = io->model;
  uint32_t apis = m->tables[NAI_IN_APIS]->strings.count, ranges = m->tables[NAI_IN_NVTX]->strings.count,
           names = apis > ranges ? apis : ranges;
  struct longest heap = {malloc(MAX_GAPS * sizeof *heap.v), 0};
  struct cause_sum *sums = calloc((size_t)m->gpu_count * CAUSES + 1, sizeof *sums);
  struct host h = {.m = m, .reach = malloc(((size_t)m->thread_count + 1) * sizeof *h.reach)};
  h.shares.ns = calloc((size_t)names + 1, sizeof *h.shares.ns);
  h.shares.names = malloc(((size_t)names + 1) * sizeof *h.shares.names);
  int rc = heap.v && sums && h.reach && h.shares.ns && h.shares.names ? NAI_OK : nai_err_nomem(err);
  for (uint32_t t = 0; !rc && t < m->thread_count; t++)
    h.reach[t] = find_reach(m, t);
  for (uint32_t g = 0; !rc && g < m->gpu_count; g++)
    take_gpu(sums, &heap, &h, (int32_t)g);
  if (!rc) {
    qsort(heap.v, heap.count, sizeof *heap.v, longest_first);
    for (size_t i = 0; !rc && i < heap.count; i++)
      rc = put_gap(tables[0], &h, &heap.v[i], err);
    if (!rc)
      rc = put_causes(tables[1], m, sums, err);
  }
  free(heap.v);
  free(sums);
  free(h.reach);
  free(h.shares.ns);
  free(h.shares.names);
  nai_open_cursor_free(&h.open);
  return rc;
}

static const struct nai_schema *const schemas[] = {&gaps_schema, &causes_schema, NULL};
const struct nai_node nai_analysis_idle_gaps = {.name = "idle_gaps",
                                                .outputs = schemas,
                                                .parts = NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) |
                                                         NAI_PART(RANGES) | NAI_PART(NVTX_TREE) | NAI_PART(NAMES),
                                                .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(APIS) |
                                                          NAI_IN(THREADS) | NAI_IN(NVTX) | NAI_IN(LABELS),
                                                .cost = 2,
                                                .run = run};
