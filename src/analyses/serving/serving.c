/* What does a token cost? Tables serving_engines, serving_steps, serving_summary, serving_batch, serving_curve,
 * serving_interference, serving_host; no rows where no range is a step of an engine. */
#include "analyses/serving/serving.h"
#include "base/buf.h"
#include "base/sort.h"
#include "tables/serving_batch.h"
#include "tables/serving_curve.h"
#include "tables/serving_engines.h"
#include "tables/serving_host.h"
#include "tables/serving_interference.h"
#include "tables/serving_steps.h"
#include "tables/serving_summary.h"

enum { ENGINES, STEPS, SUMMARY, BATCH, CURVE, INTERFERENCE, HOST };

struct ranks {
  struct serving_rank *v;
  uint32_t count, engines;
};

/* --- which ranks are one engine -------------------------------------------------------------------- */

enum { MOST_APART = 2, AGREE_PCT = 95, TOGETHER_PCT = 20 };

static uint32_t name_of(const struct serving_rank *r, uint32_t step) {
  return nai_val_text(&r->m->nvtx.name, r->steps->v[step].range);
}

/* Share of the steps of the shorter rank that have the name of the other's step `offset` later. */
static double agreement(const struct serving_rank *a, const struct serving_rank *b, int offset) {
  uint32_t equal = 0, fewest = a->steps->count < b->steps->count ? a->steps->count : b->steps->count;
  for (uint32_t i = offset < 0 ? (uint32_t)-offset : 0; i < a->steps->count; i++) {
    uint32_t other = i + (uint32_t)offset;
    if (other < b->steps->count)
      equal += name_of(a, i) == name_of(b, other);
  }
  return 100.0 * equal / fewest;
}

static double best_agreement(int *offset, const struct serving_rank *a, const struct serving_rank *b) {
  double best = 0;
  *offset = 0;
  for (int o = 0; o <= 2 * MOST_APART; o++) {
    int tried = o % 2 ? (o + 1) / 2 : -o / 2; /* the nearest first */
    double pct = agreement(a, b, tried);
    if (pct <= best)
      continue;
    best = pct;
    *offset = tried;
  }
  return best;
}

static bool overlap(const struct serving_rank *a, const struct serving_rank *b) {
  return a->v[0].start < b->v[b->count - 1].end && b->v[0].start < a->v[a->count - 1].end;
}

static void find_engines(struct ranks *ranks) {
  for (uint32_t i = 0; i < ranks->count; i++) {
    struct serving_rank *r = &ranks->v[i];
    uint32_t other = 0;
    int offset;
    while (other < i && !(overlap(r, &ranks->v[other]) && best_agreement(&offset, r, &ranks->v[other]) >= AGREE_PCT))
      other++;
    r->engine = other < i ? ranks->v[other].engine : ranks->engines++;
  }
}

/* Whether equal steps of two ranks start together, by the host's clock and the median of their distances. */
static int start_together(bool *out, const struct serving_rank *a, const struct serving_rank *b, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  int64_t *apart, *periods;
  uint32_t n = 0;
  int offset;
  best_agreement(&offset, a, b);
  NAI_TRY(NAI_NEW(apart, &arena, a->steps->count, err));
  NAI_TRY(NAI_NEW(periods, &arena, a->steps->count, err));
  for (uint32_t i = 0; i < a->steps->count; i++) {
    uint32_t other = i + (uint32_t)offset;
    if (other >= b->steps->count)
      continue;
    apart[n] = llabs(a->steps->v[i].start - b->steps->v[other].start);
    periods[n++] = a->steps->v[i].end - a->steps->v[i].start;
  }
  *out = n && nai_median_i64(apart, n) * 100 < nai_median_i64(periods, n) * TOGETHER_PCT;
  return NAI_OK;
}

/* --- tables serving_engines, serving_steps ----------------------------------------------------------- */

static void add_label(struct SERVING_STEPS_row *row, const struct nai_serving_label *label) {
  row->context_requests = label->context_requests;
  row->context_tokens = label->context_tokens;
  row->generation_requests = label->generation_requests;
  row->generation_tokens = label->generation_tokens;
  row->kv_tokens = label->kv_tokens;
}

static void add_times(struct SERVING_STEPS_row *row, const struct serving_step *s) {
  int64_t late = s->earlier_end < s->end ? s->earlier_end : s->end;
  row->gpu_start_ns = s->start;
  row->gpu_end_ns = s->end;
  row->period_ns = s->period_ns;
  row->span_ns = s->end - s->start;
  row->busy_ns = s->busy_ns;
  row->idle_inside_ns = s->end - s->start - s->busy_ns;
  row->idle_before_ns = s->start > s->earlier_end ? s->start - s->earlier_end : 0;
  row->overlap_ns = late > s->start ? late - s->start : 0;
  row->interval_ns = s->interval_ns;
  row->comm_ns = s->comm_ns;
}

static void put_step(const struct nai_node_io *io, const struct serving_rank *r, const struct serving_step *s) {
  const struct nai_step *host = &r->steps->v[s->step];
  struct SERVING_STEPS_row row =
      NAI_ROW(SERVING_STEPS, .pid = nai_model_pid(r->m, (int32_t)r->list->process),
              .device_id = nai_model_device(r->m, r->list->gpu), .step = s->step, .engine = r->engine,
              .label = nai_model_range_name(r->m, host->range), .kind = nai_serving_kind_name(s->kind),
              .state = nai_step_state_name(s->state), .cpu_start_ns = host->start, .cpu_end_ns = host->work_end,
              .kernel_count = s->kernels, .launch_calls = s->launch_calls, .graph_launches = s->graph_launches,
              .pause_before = s->pause_before);
  add_label(&row, s->label);
  add_times(&row, s);
  if (s->graph_launches)
    row.graph_key = s->graph_key;
  if (s->step + 1 < r->steps->count)
    row.host_between_ns = host->end - host->work_end;
  SERVING_STEPS_add(io->out[STEPS], &row);
}

static const char *const roles[] = {"one GPU", "tensor parallel", "pipeline parallel", "unknown"};
enum role { ONE_GPU, TENSOR, PIPELINE, UNKNOWN_ROLE };

/* How its ranks share the work, and the one that stands for it: of the last stage, else of the lowest GPU. */
static int judge(const struct serving_rank **representative, enum role *role, double *agreement_pct,
                 const struct ranks *ranks, uint32_t engine, struct nai_err *err) {
  const struct serving_rank *first = NULL, *last = NULL;
  *role = ONE_GPU;
  *agreement_pct = 100;
  for (uint32_t i = 0; i < ranks->count; i++) {
    const struct serving_rank *r = &ranks->v[i];
    bool together;
    int offset;
    if (r->engine != engine)
      continue;
    last = !last || r->v[0].start > last->v[0].start ? r : last;
    if (!first) {
      *representative = first = r;
      continue;
    }
    double pct = best_agreement(&offset, r, first);
    *agreement_pct = pct < *agreement_pct ? pct : *agreement_pct;
    NAI_TRY(start_together(&together, r, first, err));
    *role = !r->counts ? UNKNOWN_ROLE : *role == PIPELINE || !together ? PIPELINE : TENSOR;
    if (r->list->gpu < (*representative)->list->gpu)
      *representative = r;
  }
  if (*role == PIPELINE)
    *representative = last;
  return NAI_OK;
}

static void list_ranks(struct nai_buf *pids, struct nai_buf *devices, int64_t *count, const struct ranks *ranks,
                       uint32_t engine) {
  enum { MOST = 16 };
  for (uint32_t i = 0; i < ranks->count; i++) {
    const struct serving_rank *r = &ranks->v[i];
    if (r->engine != engine || ++*count > MOST)
      continue;
    const char *comma = *count > 1 ? ", " : "";
    nai_buf_printf(pids, "%s%" PRId64, comma, nai_model_pid(r->m, (int32_t)r->list->process));
    nai_buf_printf(devices, "%s%d", comma, nai_model_device(r->m, r->list->gpu));
  }
  if (*count <= MOST)
    return;
  nai_buf_puts(pids, ", ...");
  nai_buf_puts(devices, ", ...");
}

/* Launches from other threads may belong to the step before: where they are many, the numbers say so. */
static double foreign_launch_pct(const struct serving_rank *r) {
  int64_t all = 0, foreign = 0;
  for (uint32_t api = 0; api < r->m->apis.n; api++) {
    uint32_t thread = (uint32_t)nai_val_i32(&r->m->apis.thread, api);
    if (!r->m->api_owns[api] || r->m->thread_process[thread] != (int32_t)r->list->process)
      continue;
    all++;
    foreign += thread != r->steps->thread;
  }
  return nai_percent((double)foreign, (double)all);
}

static int64_t engine_start_ns(const struct serving_rank *r) {
  int64_t first = INT64_MAX;
  for (uint32_t api = 0; api < r->m->apis.n; api++) {
    int64_t start = nai_val(&r->m->apis.start_ns, api);
    if (start < first && r->m->thread_process[nai_val_i32(&r->m->apis.thread, api)] == (int32_t)r->list->process)
      first = start;
  }
  for (uint32_t i = 0; i < r->count; i++) {
    int64_t start = r->steps->v[r->v[i].step].start;
    if (serving_is_steady(&r->v[i]) && first <= start)
      return start - first;
  }
  return NAI_NULL_I64;
}

static void put_note(struct nai_buf *note, const struct serving_rank *r) {
  enum { MANY_FOREIGN_PCT = 10 };
  int64_t graphs = 0;
  for (uint32_t i = 0; i < r->count; i++)
    graphs += r->v[i].graph_launches;
  if (graphs && !r->m->graphs.n)
    nai_buf_puts(note, "CUDA graphs were traced node by node, which slows decoding");
  if (foreign_launch_pct(r) > MANY_FOREIGN_PCT)
    nai_buf_printf(note, "%sother threads launch much of the work: some may be of the step before",
                   note->len ? "; " : "");
}

static int put_engine_row(const struct nai_node_io *io, const struct ranks *ranks, const struct serving_rank *r,
                          enum role role, double agreement_pct, struct nai_err *err) {
  NAI_SCOPED(nai_buf) pids = {0};
  NAI_SCOPED(nai_buf) devices = {0};
  NAI_SCOPED(nai_buf) note = {0};
  int64_t count = 0, end = 0;
  bool inferred = false;
  list_ranks(&pids, &devices, &count, ranks, r->engine);
  put_note(&note, r);
  for (uint32_t i = 0; i < r->count; i++) {
    end = r->v[i].end > end ? r->v[i].end : end;
    inferred |= r->v[i].inferred;
  }
  NAI_TRY(nai_buf_check(&pids, err));
  NAI_TRY(nai_buf_check(&devices, err));
  NAI_TRY(nai_buf_check(&note, err));
  NAI_ADD(SERVING_ENGINES, io->out[ENGINES], .engine = r->engine, .format = nai_serving_format_name(r->steps->serving),
          .process_ids = nai_buf_str(&pids), .device_ids = nai_buf_str(&devices), .ranks = count, .role = roles[role],
          .pid = nai_model_pid(r->m, (int32_t)r->list->process), .device_id = nai_model_device(r->m, r->list->gpu),
          .agreement_pct = count > 1 ? agreement_pct : NAN, .steps = r->count,
          .kind_source = inferred ? "inferred" : "names", .tokens_known = r->counts, .draft_tokens = r->draft_tokens,
          .engine_start_ns = engine_start_ns(r), .window_ns = end - r->v[0].start, .pause_count = r->pauses,
          .pause_ns = r->pause_ns, .first_start_ns = r->v[0].start, .last_end_ns = end,
          .note = note.len ? nai_buf_str(&note) : NULL);
  return NAI_OK;
}

static int put_engine(const struct nai_node_io *io, const struct ranks *ranks, uint32_t number, struct nai_err *err) {
  struct serving_engine e = {.io = io, .number = number};
  enum role role;
  double agreement_pct;
  NAI_TRY(judge(&e.rank, &role, &agreement_pct, ranks, number, err));
  NAI_TRY(put_engine_row(io, ranks, e.rank, role, agreement_pct, err));
  NAI_TRY(nai_serving_put_batches(&e, io->out[BATCH], io->out[CURVE], err));
  NAI_TRY(nai_serving_put_summary(&e, io->out[SUMMARY], err));
  NAI_TRY(nai_serving_put_interference(&e, io->out[INTERFERENCE], err));
  return nai_serving_put_host(&e, io->out[HOST], err);
}

/* --- all ------------------------------------------------------------------------------------------- */

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_steps *all = io->model->steps;
  struct ranks ranks = {0};
  uint32_t most = 0;
  for (uint32_t i = 0; i < all->list_count; i++)
    most += all->processes[all->lists[i].process].labels != NULL;
  if (!most)
    return NAI_OK;
  NAI_TRY(NAI_NEW(ranks.v, io->arena, most, err));
  for (uint32_t i = 0; i < all->list_count; i++) {
    const struct nai_process_steps *steps = &all->processes[all->lists[i].process];
    struct serving_rank *r = &ranks.v[ranks.count];
    if (!steps->labels)
      continue;
    *r = (struct serving_rank){.m = io->model, .list = &all->lists[i], .steps = steps};
    NAI_TRY(nai_serving_rank_fill(r, io->arena, err));
    ranks.count += r->count > 0;
  }
  find_engines(&ranks);
  for (uint32_t i = 0; i < ranks.count; i++)
    for (uint32_t s = 0; s < ranks.v[i].count; s++)
      put_step(io, &ranks.v[i], &ranks.v[i].v[s]);
  for (uint32_t e = 0; e < ranks.engines; e++)
    NAI_TRY(put_engine(io, &ranks, e, err));
  return NAI_OK;
}

NAI_ANALYSIS(serving,
             .outputs = NAI_SCHEMAS(&nai_serving_engines_schema, &nai_serving_steps_schema, &nai_serving_summary_schema,
                                    &nai_serving_batch_schema, &nai_serving_curve_schema,
                                    &nai_serving_interference_schema, &nai_serving_host_schema),
             .parts = NAI_PART(STEPS) | NAI_PART(EVIDENCE) | NAI_PART(BLOCKED), .run = run)
