/* When did each GPU have nothing to do, and why? Table gpu_idle_gaps. */
#include "analyses/idle/idle.h"
#include "base/fmt.h"
#include "base/sort.h"
#include "model/idle/active.h"
#include "model/idle/gap_names.h"
#include "model/nvtx/nvtx_open.h"
#include "tables/gpu_idle_gaps.h"
#include "tables/idle_causes.h"
#include "tables/osrt_events.h"
#include "tables/threads.h"

enum { MAX_GAPS = NAI_MAX_IDLE_GAPS };

/* --- the longest gaps ------------------------------------------------------------------------- */

struct place {
  int64_t ns;
  uint32_t gpu, number;
};

/* The longest gaps met so far: the first MAX_GAPS once they are sorted, with room for as many again behind them. */
struct longest {
  struct place *v, *spare;
  struct nai_key *keys;
  uint32_t count;
};

/* Longest first; equals stay in the order in which they were met, by GPU and time. */
static int sort_longest(struct longest *l, struct nai_err *err) {
  for (uint32_t i = 0; i < l->count; i++)
    l->keys[i] = (struct nai_key){~nai_key_from_i64(l->v[i].ns), i};
  NAI_TRY(nai_sort_keys(l->keys, l->count, err));
  l->count = l->count < MAX_GAPS ? l->count : MAX_GAPS;
  for (uint32_t i = 0; i < l->count; i++)
    l->spare[i] = l->v[l->keys[i].value];
  struct place *sorted = l->spare;
  l->spare = l->v;
  l->v = sorted;
  return NAI_OK;
}

static int find_longest(struct longest *l, const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  int64_t least = 0; /* others come behind all MAX_GAPS */
  size_t room = 0;
  for (uint32_t g = 0; g < m->gpu_count; g++)
    room += m->gpus[g].all.count + 1;
  room = room < 2 * MAX_GAPS ? room : 2 * MAX_GAPS;
  NAI_TRY(NAI_NEW(l->v, io->arena, room, err));
  NAI_TRY(NAI_NEW(l->spare, io->arena, room, err));
  NAI_TRY(NAI_NEW(l->keys, io->arena, room, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    for (size_t i = 0; i <= m->gpus[g].all.count; i++) {
      struct nai_interval span = nai_idle_span(&m->gpus[g], i);
      if (span.end - span.start <= least)
        continue;
      l->v[l->count++] = (struct place){span.end - span.start, g, (uint32_t)i};
      if (l->count == 2 * MAX_GAPS) {
        NAI_TRY(sort_longest(l, err));
        least = l->v[MAX_GAPS - 1].ns;
      }
    }
  return sort_longest(l, err);
}

/* --- what the host did in its own code -------------------------------------------------------- */

/* Where shares of host code go: those of one gap, and those of its GPU (active: NULL outside of active spans). */
struct work {
  const struct nai_node_io *io;
  const struct nai_model *m;
  struct nai_idle_shares gap, *gpu, *active;
  struct nai_open_cursor open;
  const char **labels;                   /* per thread: what it is called, NULL until somebody asks */
  struct nai_buf activity, others, wait; /* texts of the row at hand */
};
static void work_free(struct work *w) {
  nai_idle_shares_free(&w->gap);
  nai_buf_free(&w->activity);
  nai_buf_free(&w->others);
  nai_buf_free(&w->wait);
  nai_open_cursor_free(&w->open);
}

static void add_host(struct work *w, enum nai_idle_source source, uint32_t name, int64_t ns) {
  if (ns <= 0)
    return;
  nai_idle_share(&w->gap, NAI_IDLE_HOST_CODE, source, name, ns);
  nai_idle_share(w->gpu, NAI_IDLE_HOST_CODE, source, name, ns);
  if (w->active)
    nai_idle_share(w->active, NAI_IDLE_HOST_CODE, source, name, ns);
}

/* Innermost push/pop ranges in [a, b). */
static int add_ranges(struct work *w, uint32_t thread, int64_t a, int64_t b, struct nai_err *err) {
  const struct nai_groups *g = &w->m->nvtx_by_thread;
  const struct NVTX_EVENTS_columns *v = &w->m->nvtx;
  uint32_t end = g->first[thread + 1], next = nai_rows_from(g->order, g->first[thread], end, &v->start_ns, a), parent;
  if (a >= b)
    return NAI_OK;
  NAI_TRY(nai_open_find(&w->open, w->m, thread, next, err));
  for (int64_t t = a; t < b;) {
    uint32_t current = nai_open_at(&w->open, t);
    while (next < end && nai_at_i32(&v->kind, g->order[next]) != NAI_NVTX_PUSH_POP)
      next++;
    int64_t begins = next < end ? nai_val(&v->start_ns, g->order[next]) : b, until = begins < b ? begins : b;
    int64_t ends = current == NAI_NO_ROW ? until : nai_val(&v->end_ns, current), to = ends < until ? ends : until;
    if (current != NAI_NO_ROW)
      add_host(w, NAI_CULPRIT_RANGE, nai_at_text(&v->name, current), to - t);
    t = to;
    if (t == until && begins < b)
      NAI_TRY(nai_open_begin(&parent, &w->open, g->order[next++], err));
  }
  return NAI_OK;
}

/* OS runtime calls in [a, b), and ranges between them. The outermost calls of a thread do not overlap. */
static int add_calls(struct work *w, uint32_t thread, int64_t a, int64_t b, struct nai_err *err) {
  const struct nai_groups *g = nai_model_osrt_calls(w->m);
  if (!g)
    return add_ranges(w, thread, a, b, err);
  const struct OSRT_EVENTS_columns c = OSRT_EVENTS_columns_of(w->m->tables[NAI_IN_OSRT]);
  uint32_t first = g->first[thread], last = g->first[thread + 1],
           i = nai_rows_from(g->order, first, last, &c.start_ns, a);
  int64_t t = a;
  for (i -= i > first; i < last && nai_val(&c.start_ns, g->order[i]) < b; i++) {
    int64_t from = nai_val(&c.start_ns, g->order[i]), to = nai_val(&c.end_ns, g->order[i]);
    from = from > t ? from : t;
    to = to < b ? to : b;
    if (to <= from)
      continue;
    NAI_TRY(add_ranges(w, thread, t, from, err));
    add_host(w, NAI_CULPRIT_OSRT, nai_at_text(&c.name, g->order[i]), to - from);
    t = to;
  }
  return add_ranges(w, thread, t, b, err);
}

/* --- rows ------------------------------------------------------------------------------------- */

static void add_launch(struct GPU_IDLE_GAPS_row *row, const struct work *w, uint32_t launch,
                       const struct nai_idle_split *split) {
  const struct nai_table *threads = w->m->tables[NAI_IN_THREADS];
  int32_t thread = nai_val_i32(&w->m->apis.thread, launch);
  if (!w->labels[thread])
    w->labels[thread] = nai_thread_label(w->m, thread, w->io->arena);
  row->launch_api = nai_launch_function(w->m, launch);
  row->launch_thread = w->labels[thread];
  row->nvtx_range = nai_launch_range(w->m, launch);
  row->pid = nai_get_i64(threads, thread, THREADS_pid);
  row->tid = nai_get_i64(threads, thread, THREADS_tid);
  row->before_call_ns = split->before_call;
  row->in_call_ns = split->in_call;
  row->after_call_ns = split->after_call;
}

/* What the largest part leaves of the gap: a finding may be about one of these. */
static const char *other_causes(struct nai_buf *text, struct nai_idle_split split) {
  nai_buf_clear(text);
  split.ns[nai_idle_largest_part(&split)] = 0;
  for (enum nai_idle_cause cause; split.ns[cause = nai_idle_largest_part(&split)] > 0; split.ns[cause] = 0) {
    nai_buf_puts(text, text->len ? ", " : "");
    nai_buf_puts(text, nai_idle_cause_name(cause));
    nai_buf_putc(text, ' ');
    nai_fmt_duration(text, (double)split.ns[cause]);
  }
  return text->len ? nai_buf_str(text) : NULL;
}

static const char *culprit_text(struct nai_buf *text, const struct work *w, const struct nai_idle_culprit *what,
                                int64_t least_ns) {
  nai_buf_clear(text);
  if (what->source == NAI_CULPRIT_NOTHING || what->ns < least_ns)
    return NULL;
  nai_idle_culprit_put(text, w->m, what);
  return nai_buf_str(text);
}

static void put_split(struct work *w, const struct nai_idle_gap *gap, const struct nai_idle_split *split) {
  enum { PARTS_OF_GAP = 20 }; /* what took less of it does not stand for it */
  const struct nai_model *m = w->m;
  const struct nai_idle_drain *drain = nai_idle_drain_of(m, gap);
  char room[NAI_KIND_NAME_MAX];
  enum nai_idle_cause cause = nai_idle_largest_part(split);
  int64_t ns = gap->end - gap->start, least_ns = ns / PARTS_OF_GAP;
  const struct nai_idle_culprit what = nai_idle_largest(&w->gap, cause); /* that took most of the largest part */
  struct GPU_IDLE_GAPS_row row =
      NAI_ROW(GPU_IDLE_GAPS, .device_id = m->gpus[gap->gpu].device_id, .gap_start_ns = gap->start,
              .gap_end_ns = gap->end, .gap_ns = ns, .cause = nai_idle_cause_name(cause), .cause_ns = split->ns[cause],
              .next_op = nai_next_op_name(room, m, gap),
              .host_activity = culprit_text(&w->activity, w, &what, least_ns),
              .other_causes = other_causes(&w->others, *split));
  if (gap->launch != NAI_NO_ROW)
    add_launch(&row, w, gap->launch, split);
  if (drain && drain->ns)
    row.wait_before =
        culprit_text(&w->wait, w, &(struct nai_idle_culprit){NAI_CULPRIT_WAIT, drain->wait, drain->ns}, least_ns);
  w->io->out[0]->oom |= w->activity.oom || w->others.oom || w->wait.oom;
  GPU_IDLE_GAPS_add(w->io->out[0], &row);
}

static int put_gap(struct work *w, struct nai_intervals *host, const struct nai_idle_gap *gap, struct nai_err *err) {
  struct nai_idle_split split;
  nai_idle_shares_free(&w->gap);
  w->gap = (struct nai_idle_shares){0};
  NAI_TRY(nai_idle_split_again(&split, &w->gap, host, w->m, gap, err));
  for (size_t i = 0; i < host->count; i++)
    NAI_TRY(add_calls(w, nai_val_text(&w->m->apis.thread, gap->launch), host->v[i].start, host->v[i].end, err));
  if (w->gap.oom || w->gpu->oom || (w->active && w->active->oom))
    return nai_err_nomem(err);
  put_split(w, gap, &split);
  return NAI_OK;
}

/* gpus: per GPU, what the host did in its own code. */
static int put_gaps(const struct nai_node_io *io, struct nai_idle_host *gpus, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct longest longest = {0};
  struct nai_intervals host = {.arena = io->arena};
  NAI_SCOPED(work) w = {.io = io, .m = m};
  NAI_TRY(NAI_NEW(w.labels, io->arena, m->thread_count, err));
  NAI_TRY(find_longest(&longest, io, err));
  for (size_t i = 0; i < longest.count; i++) {
    struct nai_idle_gap gap = nai_idle_gap_at(m, longest.v[i].gpu, longest.v[i].number);
    w.gpu = &gpus[gap.gpu].all;
    w.active = nai_idle_gap_active(&(uint32_t){0}, m, gap.gpu, gap.number) ? &gpus[gap.gpu].active : NULL;
    NAI_TRY(put_gap(&w, &host, &gap, err));
  }
  return NAI_OK;
}

/* Per GPU. */
struct hosts {
  struct nai_idle_host *v;
  uint32_t count;
};
static void hosts_free(struct hosts *hosts) {
  for (uint32_t g = 0; g < hosts->count; g++) {
    nai_idle_shares_free(&hosts->v[g].all);
    nai_idle_shares_free(&hosts->v[g].active);
  }
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  NAI_SCOPED(hosts) hosts = {0};
  NAI_TRY(NAI_NEW(hosts.v, io->arena, io->model->gpu_count, err));
  hosts.count = io->model->gpu_count;
  NAI_TRY(put_gaps(io, hosts.v, err));
  return nai_put_idle_causes(io, io->out[1], hosts.v, err);
}

NAI_ANALYSIS(idle_gaps, .outputs = NAI_SCHEMAS(&nai_gpu_idle_gaps_schema, &nai_idle_causes_schema),
             .parts = NAI_PART(ACTIVE) | NAI_PART(IDLE) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(RANGES) |
                      NAI_PART(NVTX_TREE) | NAI_PART(NAMES),
             .tables = NAI_IN(LABELS), .cost = 2, .run = run)
