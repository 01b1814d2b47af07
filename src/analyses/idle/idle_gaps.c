/* When did each GPU have nothing to do, and why? Table gpu_idle_gaps. */
#include "analyses/idle/idle.h"
#include "base/fmt.h"
#include "model/nvtx/nvtx_open.h"
#include "tables/gpu_idle_gaps.h"
#include "tables/idle_causes.h"
#include "tables/osrt_events.h"
#include "tables/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GAPS = 10000 };

/* --- the longest gaps ------------------------------------------------------------------------- */

struct place {
  int64_t ns;
  uint32_t gpu, number;
};

/* Longest first; among equals by GPU and time. */
static int longest_first(const void *pa, const void *pb) {
  const struct place *a = pa, *b = pb;
  if (a->ns != b->ns)
    return a->ns > b->ns ? -1 : 1;
  if (a->gpu != b->gpu)
    return a->gpu < b->gpu ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

/* The longest gaps met so far: a heap with the shortest of them on top. */
struct longest {
  struct place *v;
  size_t count;
};

static void sift_down(struct place *v, size_t count, size_t at) {
  for (size_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && longest_first(&v[child + 1], &v[child]) > 0)
      child++;
    if (longest_first(&v[child], &v[at]) <= 0)
      return;
    struct place swap = v[at];
    v[at] = v[child];
    v[child] = swap;
  }
}

static void keep_longest(struct longest *heap, const struct place *gap) {
  if (heap->count < MAX_GAPS) {
    heap->v[heap->count++] = *gap;
    for (size_t i = heap->count / 2; heap->count == MAX_GAPS && i-- > 0;)
      sift_down(heap->v, heap->count, i);
  } else if (longest_first(gap, &heap->v[0]) < 0) {
    heap->v[0] = *gap;
    sift_down(heap->v, heap->count, 0);
  }
}

static void find_longest(struct longest *heap, const struct nai_model *m) {
  for (uint32_t g = 0; g < m->gpu_count; g++)
    for (size_t i = 0; i <= m->gpus[g].all.count; i++) {
      struct nai_interval span = nai_idle_span(&m->gpus[g], i);
      if (span.end > span.start)
        keep_longest(heap, &(struct place){span.end - span.start, g, (uint32_t)i});
    }
  qsort(heap->v, heap->count, sizeof *heap->v, longest_first);
}

/* --- what the host did in its own code -------------------------------------------------------- */

/* Where shares of host code go: those of one gap, and those of its GPU (active: NULL outside of active spans). */
struct host_code {
  const struct nai_model *m;
  struct nai_idle_shares *gap, *gpu, *active;
  struct nai_open_cursor open;
};

static void add_host(struct host_code *h, enum nai_idle_source source, uint32_t name, int64_t ns) {
  if (ns <= 0)
    return;
  nai_idle_share(h->gap, NAI_IDLE_HOST_CODE, source, name, ns);
  nai_idle_share(h->gpu, NAI_IDLE_HOST_CODE, source, name, ns);
  if (h->active)
    nai_idle_share(h->active, NAI_IDLE_HOST_CODE, source, name, ns);
}

/* Innermost push/pop ranges in [a, b). */
static int add_ranges(struct host_code *h, uint32_t thread, int64_t a, int64_t b, struct nai_err *err) {
  const struct nai_groups *g = &h->m->nvtx_by_thread;
  const struct NVTX_EVENTS_columns *v = &h->m->nvtx;
  uint32_t next = nai_rows_from(g->order, g->first[thread], g->first[thread + 1], &v->start_ns, a),
           end = g->first[thread + 1], parent;
  int rc = a < b ? nai_open_find(&h->open, h->m, thread, next, err) : NAI_OK;
  for (int64_t t = a; !rc && t < b;) {
    uint32_t current = nai_open_at(&h->open, t);
    while (next < end && nai_at_i32(&v->kind, g->order[next]) != NAI_NVTX_PUSH_POP)
      next++;
    int64_t begins = next < end ? nai_at(&v->start_ns, g->order[next]) : b, until = begins < b ? begins : b;
    int64_t ends = current == NAI_NO_ROW ? until : nai_at(&v->end_ns, current), to = ends < until ? ends : until;
    if (current != NAI_NO_ROW)
      add_host(h, NAI_CULPRIT_RANGE, nai_at_text(&v->name, current), to - t);
    t = to;
    if (t == until && begins < b)
      rc = nai_open_begin(&parent, &h->open, g->order[next++], err);
  }
  return rc;
}

/* OS runtime calls in [a, b), and ranges between them. The outermost calls of a thread do not overlap. */
static int add_calls(struct host_code *h, uint32_t thread, int64_t a, int64_t b, struct nai_err *err) {
  const struct nai_groups *g = nai_model_osrt_calls(h->m);
  if (!g)
    return add_ranges(h, thread, a, b, err);
  const struct nai_table *osrt = h->m->tables[NAI_IN_OSRT];
  const struct nai_column start = nai_table_column(osrt, OSRT_EVENTS_start_ns),
                          end = nai_table_column(osrt, OSRT_EVENTS_end_ns),
                          name = nai_table_column(osrt, OSRT_EVENTS_name);
  uint32_t first = g->first[thread], last = g->first[thread + 1], i = nai_rows_from(g->order, first, last, &start, a);
  int64_t t = a;
  int rc = NAI_OK;
  for (i -= i > first; !rc && i < last && nai_at(&start, g->order[i]) < b; i++) {
    int64_t from = nai_at(&start, g->order[i]), to = nai_at(&end, g->order[i]);
    from = from > t ? from : t;
    to = to < b ? to : b;
    if (to <= from)
      continue;
    rc = add_ranges(h, thread, t, from, err);
    add_host(h, NAI_CULPRIT_OSRT, nai_at_text(&name, g->order[i]), to - from);
    t = to;
  }
  return rc ? rc : add_ranges(h, thread, t, b, err);
}

/* --- rows ------------------------------------------------------------------------------------- */

const char *nai_next_op_name(char room[NAI_KIND_NAME_MAX], const struct nai_model *m, const struct nai_idle_gap *gap) {
  if (gap->op == NAI_NO_ROW)
    return NULL;
  const struct nai_op *op = &m->gpus[gap->gpu].ops[gap->op];
  return op->type == NAI_OP_KERNEL ? nai_model_kernel_name(m, op->row)
       : op->type == NAI_OP_GRAPH  ? "graph launch"
                                   : nai_model_direction(room, m, op->row);
}

const char *nai_launch_range(const struct nai_model *m, uint32_t launch) {
  const struct nai_nvtx_node *node = launch == NAI_NO_ROW ? NULL : nai_model_call_node(m, launch);
  return node ? nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, node->name) : NULL;
}

const char *nai_thread_label(char room[NAI_THREAD_LABEL_MAX], const struct nai_model *m, int32_t thread) {
  int64_t tid = nai_get_i64(m->tables[NAI_IN_THREADS], thread, THREADS_tid);
  struct nai_value name = nai_table_value(m->tables[NAI_IN_THREADS], thread, THREADS_thread_name);
  snprintf(room, NAI_THREAD_LABEL_MAX, name.null ? "thread %" PRId64 "%s" : "thread %" PRId64 " %s", tid,
           name.null ? "" : name.s);
  return room;
}

static void put_launch(struct nai_table *table, int64_t row, const struct nai_model *m, uint32_t launch) {
  int32_t thread = nai_at_i32(&m->apis.thread, launch);
  char label[NAI_THREAD_LABEL_MAX];
  nai_set_str(table, row, GPU_IDLE_GAPS_launch_api, nai_model_api_name(m, launch));
  nai_set_str(table, row, GPU_IDLE_GAPS_launch_thread, nai_thread_label(label, m, thread));
  nai_set_i64(table, row, GPU_IDLE_GAPS_pid, nai_get_i64(m->tables[NAI_IN_THREADS], thread, THREADS_pid));
  nai_set_i64(table, row, GPU_IDLE_GAPS_tid, nai_get_i64(m->tables[NAI_IN_THREADS], thread, THREADS_tid));
  nai_set_str(table, row, GPU_IDLE_GAPS_nvtx_range, nai_launch_range(m, launch));
}

/* What took less than a twentieth of a gap does not stand for it. */
enum { PARTS_OF_GAP = 20 };

/* What took most of the gap's largest part; nothing if that was hardly there. */
static struct nai_idle_culprit activity_of(const struct nai_idle_gap *gap, enum nai_idle_cause cause,
                                           const struct nai_idle_shares *shares) {
  struct nai_idle_culprit what = nai_idle_largest(shares, cause);
  return what.ns >= (gap->end - gap->start) / PARTS_OF_GAP ? what
                                                           : (struct nai_idle_culprit){NAI_CULPRIT_NOTHING, 0, 0};
}

static void put_what(struct nai_table *table, int64_t row, int column, const struct nai_model *m,
                     const struct nai_idle_culprit *what) {
  struct nai_buf text = {0};
  nai_idle_culprit_put(&text, m, what);
  nai_set_str(table, row, column, what->source == NAI_CULPRIT_NOTHING ? NULL : nai_buf_str(&text));
  table->oom |= text.oom;
  nai_buf_free(&text);
}

/* What the largest part leaves of the gap: a finding may be about one of these. */
static void put_other_causes(struct nai_table *table, int64_t row, struct nai_idle_split split) {
  enum { SHORTEST_NS = 1000 };
  struct nai_buf text = {0};
  split.ns[nai_idle_largest_part(&split)] = 0;
  for (enum nai_idle_cause cause; split.ns[cause = nai_idle_largest_part(&split)] >= SHORTEST_NS; split.ns[cause] = 0) {
    nai_buf_printf(&text, "%s%s ", text.len ? ", " : "", nai_idle_cause_name(cause));
    nai_fmt_duration(&text, (double)split.ns[cause]);
  }
  nai_set_str(table, row, GPU_IDLE_GAPS_other_causes, text.len ? nai_buf_str(&text) : NULL);
  table->oom |= text.oom;
  nai_buf_free(&text);
}

static void put_split(struct nai_table *table, const struct nai_model *m, const struct nai_idle_gap *gap,
                      const struct nai_idle_split *split, const struct nai_idle_shares *shares) {
  char room[NAI_KIND_NAME_MAX];
  enum nai_idle_cause cause = nai_idle_largest_part(split);
  struct nai_idle_culprit what = activity_of(gap, cause, shares);
  const struct nai_idle_drain *drain = nai_idle_drain_of(m, gap);
  int64_t row = nai_table_add_row(table);
  nai_set_i64(table, row, GPU_IDLE_GAPS_device_id, m->gpus[gap->gpu].device_id);
  nai_set_i64(table, row, GPU_IDLE_GAPS_gap_start_ns, gap->start);
  nai_set_i64(table, row, GPU_IDLE_GAPS_gap_end_ns, gap->end);
  nai_set_i64(table, row, GPU_IDLE_GAPS_gap_ns, gap->end - gap->start);
  nai_set_str(table, row, GPU_IDLE_GAPS_cause, nai_idle_cause_name(cause));
  nai_set_i64(table, row, GPU_IDLE_GAPS_cause_ns, split->ns[cause]);
  nai_set_str(table, row, GPU_IDLE_GAPS_next_op, nai_next_op_name(room, m, gap));
  if (gap->launch != NAI_NO_ROW) {
    put_launch(table, row, m, gap->launch);
    nai_set_i64(table, row, GPU_IDLE_GAPS_before_call_ns, split->before_call);
    nai_set_i64(table, row, GPU_IDLE_GAPS_in_call_ns, split->in_call);
    nai_set_i64(table, row, GPU_IDLE_GAPS_after_call_ns, split->after_call);
  }
  put_what(table, row, GPU_IDLE_GAPS_host_activity, m, &what);
  if (drain && drain->ns >= (gap->end - gap->start) / PARTS_OF_GAP)
    put_what(table, row, GPU_IDLE_GAPS_wait_before, m,
             &(struct nai_idle_culprit){NAI_CULPRIT_WAIT, drain->wait, drain->ns});
  put_other_causes(table, row, *split);
}

static int put_gap(struct nai_table *table, struct host_code *h, struct nai_intervals *host,
                   const struct nai_idle_gap *gap, struct nai_err *err) {
  struct nai_idle_split split;
  int rc = nai_idle_split_again(&split, h->gap, host, h->m, gap, err);
  for (size_t i = 0; !rc && i < host->count; i++)
    rc = add_calls(h, nai_at_text(&h->m->apis.thread, gap->launch), host->v[i].start, host->v[i].end, err);
  if (!rc && (h->gap->oom || h->gpu->oom || (h->active && h->active->oom)))
    rc = nai_err_nomem(err);
  if (!rc)
    put_split(table, h->m, gap, &split, h->gap);
  return rc;
}

/* gpus: per GPU, what the host did in its own code. */
static int put_gaps(struct nai_table *table, struct nai_idle_host *gpus, const struct nai_model *m,
                    struct nai_err *err) {
  struct longest heap = {malloc(MAX_GAPS * sizeof *heap.v), 0};
  struct nai_intervals host = {0};
  struct host_code h = {.m = m};
  int rc = heap.v ? NAI_OK : nai_err_nomem(err);
  if (!rc)
    find_longest(&heap, m);
  for (size_t i = 0; !rc && i < heap.count; i++) {
    struct nai_idle_shares shares = {0};
    struct nai_idle_gap gap = nai_idle_gap_at(m, heap.v[i].gpu, heap.v[i].number);
    h.gap = &shares;
    h.gpu = &gpus[gap.gpu].all;
    h.active = nai_idle_gap_active(&(uint32_t){0}, m, gap.gpu, gap.number) ? &gpus[gap.gpu].active : NULL;
    rc = put_gap(table, &h, &host, &gap, err);
    nai_idle_shares_free(&shares);
  }
  free(heap.v);
  nai_intervals_free(&host);
  nai_open_cursor_free(&h.open);
  return rc;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct nai_idle_host *host = calloc((size_t)m->gpu_count + 1, sizeof *host);
  int rc = host ? put_gaps(io->out[0], host, m, err) : nai_err_nomem(err);
  if (!rc)
    rc = nai_put_idle_causes(io->out[1], m, host, err);
  for (uint32_t g = 0; host && g < m->gpu_count; g++) {
    nai_idle_shares_free(&host[g].all);
    nai_idle_shares_free(&host[g].active);
  }
  free(host);
  return rc;
}

NAI_ANALYSIS(idle_gaps, .outputs = NAI_SCHEMAS(&nai_gpu_idle_gaps_schema, &nai_idle_causes_schema),
             .parts = NAI_PART(ACTIVE) | NAI_PART(IDLE) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(RANGES) |
                      NAI_PART(NVTX_TREE) | NAI_PART(NAMES),
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(APIS) | NAI_IN(THREADS) | NAI_IN(NVTX) |
                       NAI_IN(LABELS) | NAI_IN(OVERHEAD) | NAI_IN(OSRT),
             .cost = 2, .run = run)
