/* Sums of an engine's steady steps: by kind, by batch size, and what prompts cost those that decode. */
#include "analyses/serving/serving.h"
#include "base/sort.h"
#include "tables/serving_batch.h"
#include "tables/serving_curve.h"
#include "tables/serving_interference.h"
#include "tables/serving_summary.h"

enum { FEW_STEPS = 20, FEW_INTERVALS = 100, FEW_TOKENS = 1000, FEW_OF_SIZE = 5, FEW_SIZES = 4 };
enum { ALL = NAI_SERVING_KINDS }; /* every kind but empty steps */

static bool is_of(const struct serving_step *s, int kind) {
  return kind == ALL ? s->kind != NAI_SERVES_EMPTY : (int)s->kind == kind;
}

/* --- medians -------------------------------------------------------------------------------------- */

typedef int64_t value_fn(const struct serving_step *s);
static int64_t period(const struct serving_step *s) { return s->period_ns; }
static int64_t busy(const struct serving_step *s) { return s->busy_ns; }
static int64_t idle_inside(const struct serving_step *s) { return s->end - s->start - s->busy_ns; }
static int64_t idle_before(const struct serving_step *s) {
  return s->pause_before ? NAI_NULL_I64 : s->start > s->earlier_end ? s->start - s->earlier_end : 0;
}
static int64_t comm(const struct serving_step *s) { return s->comm_ns; }
static int64_t launches(const struct serving_step *s) { return s->launch_calls; }
static int64_t requests(const struct serving_step *s) {
  return s->kind == NAI_SERVES_PREFILL ? s->label->context_requests : s->label->generation_requests;
}

/* Values of the steady steps of a kind, those that are known; how many. */
static uint32_t values_of(int64_t *room, const struct serving_rank *r, int kind, value_fn *value) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->count; i++) {
    int64_t v = serving_is_steady(&r->v[i]) && is_of(&r->v[i], kind) ? value(&r->v[i]) : NAI_NULL_I64;
    if (v != NAI_NULL_I64)
      room[n++] = v;
  }
  return n;
}

static int64_t median(int64_t *room, const struct serving_rank *r, int kind, value_fn *value) {
  uint32_t n = values_of(room, r, kind, value);
  return n >= FEW_STEPS ? nai_median_i64(room, n) : NAI_NULL_I64;
}

/* --- table serving_summary ------------------------------------------------------------------------- */

/* Intervals of a kind, each for as many tokens as requests get one. */
static int put_intervals(struct SERVING_SUMMARY_row *row, const struct serving_rank *r, int kind, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_key *keys;
  uint32_t n = 0;
  int64_t tokens = 0, seen = 0;
  NAI_TRY(NAI_NEW(keys, &arena, r->count, err));
  for (uint32_t i = 0; i < r->count; i++) {
    const struct serving_step *s = &r->v[i];
    if (!serving_is_steady(s) || !is_of(s, kind) || s->interval_ns == NAI_NULL_I64 || s->recompute)
      continue;
    keys[n++] = (struct nai_key){nai_key_from_i64(s->interval_ns), i};
    tokens += serving_generates(s);
  }
  NAI_TRY(nai_sort_keys(keys, n, err));
  for (uint32_t i = 0; i < n; i++) {
    const struct serving_step *s = &r->v[keys[i].value];
    int64_t before = seen;
    seen += serving_generates(s);
    if (n >= FEW_STEPS && before * 2 < tokens && seen * 2 >= tokens)
      row->interval_p50_ns = s->interval_ns;
    if (n >= FEW_INTERVALS && before * 10 < tokens * 9 && seen * 10 >= tokens * 9)
      row->interval_p90_ns = s->interval_ns;
    if (n >= FEW_INTERVALS && tokens >= FEW_TOKENS && before * 100 < tokens * 99 && seen * 100 >= tokens * 99)
      row->interval_p99_ns = s->interval_ns;
  }
  return NAI_OK;
}

/* Tokens per second. A step whose period is not known, before a pause, counts on neither side. */
static void put_rates(struct SERVING_SUMMARY_row *row, const struct serving_rank *r, int kind) {
  int64_t made = 0, prompt_tokens = 0, prompt_ns = 0, active = 0, exposed = 0;
  bool prompts_known = true;
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->count; i++) {
    const struct serving_step *s = &r->v[i];
    if (!serving_is_steady(s) || !is_of(s, kind) || s->period_ns == NAI_NULL_I64)
      continue;
    n++;
    active += s->period_ns;
    made += s->recompute ? 0 : serving_generates(s);
    exposed += nai_intervals_overlap_ns(&r->m->gpus[r->list->gpu].exposed_communication, s->start, s->end);
    if (!serving_has_prompts(s))
      continue;
    prompt_ns += s->period_ns;
    prompts_known &= s->label->context_tokens != NAI_NULL_I64;
    prompt_tokens += prompts_known ? s->label->context_tokens : 0;
  }
  row->active_ns = active;
  row->exposed_comm_pct = nai_percent((double)exposed, (double)active);
  if (prompt_ns && prompts_known && r->counts) {
    row->context_tokens = prompt_tokens;
    row->prefill_tokens_per_s = 1e9 * (double)prompt_tokens / (double)prompt_ns;
  }
  if (!r->counts || n < FEW_STEPS || !made)
    return;
  row->tokens_low = made;
  row->tokens_per_s_low = 1e9 * (double)made / (double)active;
  if (r->draft_tokens == NAI_NULL_I64)
    return;
  row->tokens_high = made * (r->draft_tokens + 1);
  row->tokens_per_s_high = 1e9 * (double)row->tokens_high / (double)active;
}

/* The largest batch seen with a set of graphs is the least that these were captured for. */
static int put_graphs(struct SERVING_SUMMARY_row *row, const struct serving_rank *r, int kind, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_key *keys;
  uint32_t n = 0, steady = 0;
  int64_t used = 0, room = 0;
  NAI_TRY(NAI_NEW(keys, &arena, r->count, err));
  for (uint32_t i = 0; i < r->count; i++) {
    bool counts = serving_is_steady(&r->v[i]) && is_of(&r->v[i], kind);
    steady += counts;
    if (counts && r->v[i].graph_launches)
      keys[n++] = (struct nai_key){(uint64_t)r->v[i].graph_key, i};
  }
  row->graph_steps_pct = nai_percent(n, steady);
  NAI_TRY(nai_sort_keys(keys, n, err));
  for (uint32_t first = 0, next; first < n; first = next) {
    int64_t largest = 0;
    for (next = first; next < n && keys[next].key == keys[first].key; next++) {
      int64_t size = serving_generates(&r->v[keys[next].value]);
      largest = size > largest ? size : largest;
      used += size;
    }
    room += largest * (next - first);
  }
  if (room && kind == NAI_SERVES_DECODE)
    row->padding_pct = 100 - nai_percent((double)used, (double)room);
  return NAI_OK;
}

/* What decode steps without a graph take longer than the median of those with one and about as many requests. */
static int64_t without_graph_ns(int64_t *room, const struct serving_rank *r) {
  int64_t sum = NAI_NULL_I64;
  for (int bucket = 0; bucket < SERVING_BUCKETS; bucket++) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->count; i++) {
      const struct serving_step *s = &r->v[i];
      if (serving_is_steady(s) && s->kind == NAI_SERVES_DECODE && s->graph_launches && s->period_ns != NAI_NULL_I64 &&
          serving_bucket(serving_generates(s)) == bucket)
        room[n++] = s->period_ns;
    }
    int64_t with = n >= FEW_OF_SIZE ? nai_median_i64(room, n) : NAI_NULL_I64;
    for (uint32_t i = 0; with != NAI_NULL_I64 && i < r->count; i++) {
      const struct serving_step *s = &r->v[i];
      if (!serving_is_steady(s) || s->kind != NAI_SERVES_DECODE || s->graph_launches || s->period_ns <= with ||
          serving_bucket(serving_generates(s)) != bucket)
        continue;
      sum = (sum == NAI_NULL_I64 ? 0 : sum) + s->period_ns - with;
    }
  }
  return sum;
}

static int put_kind(const struct serving_engine *e, struct nai_table *out, int kind, int64_t *room,
                    struct nai_err *err) {
  const struct serving_rank *r = e->rank;
  struct SERVING_SUMMARY_row row =
      NAI_ROW(SERVING_SUMMARY, .engine = e->number,
              .kind = kind == ALL ? "all" : nai_serving_kind_name((enum nai_serving_kind)kind), .steps = 0,
              .steady_steps = 0, .recompute_steps = 0);
  for (uint32_t i = 0; i < r->count; i++) {
    row.steps += is_of(&r->v[i], kind);
    row.steady_steps += is_of(&r->v[i], kind) && serving_is_steady(&r->v[i]);
    row.recompute_steps += is_of(&r->v[i], kind) && r->v[i].recompute;
  }
  if (!row.steps)
    return NAI_OK;
  row.median_requests = median(room, r, kind, requests);
  row.median_period_ns = median(room, r, kind, period);
  row.median_busy_ns = median(room, r, kind, busy);
  row.median_idle_inside_ns = median(room, r, kind, idle_inside);
  row.median_idle_before_ns = median(room, r, kind, idle_before);
  row.median_comm_ns = median(room, r, kind, comm);
  row.median_launch_calls = median(room, r, kind, launches);
  uint32_t periods = values_of(room, r, kind, period);
  if (periods >= FEW_INTERVALS)
    row.p90_period_ns = (int64_t)llround(nai_quantile_i64(room, periods, 0.9));
  put_rates(&row, r, kind);
  NAI_TRY(put_intervals(&row, r, kind, err));
  NAI_TRY(put_graphs(&row, r, kind, err));
  if (kind == NAI_SERVES_DECODE)
    row.without_graph_ns = without_graph_ns(room, r);
  row.note = row.steady_steps < FEW_STEPS ? "fewer than 20 steady steps: no medians, no rates"
           : r->draft_tokens > 0          ? "speculative decoding: a step makes one token per request, or more"
                                          : NULL;
  SERVING_SUMMARY_add(out, &row);
  return NAI_OK;
}

int nai_serving_put_summary(const struct serving_engine *e, struct nai_table *out, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  int64_t *room;
  NAI_TRY(NAI_NEW(room, &arena, e->rank->count, err));
  for (int kind = 0; kind <= ALL; kind++)
    if (kind != NAI_SERVES_EMPTY)
      NAI_TRY(put_kind(e, out, kind, room, err));
  return NAI_OK;
}

/* --- tables serving_batch, serving_curve ------------------------------------------------------------ */

/* Decode steps with a period, by requests, then by period. */
struct by_size {
  const struct serving_step **v;
  uint32_t count;
};

static int compare_sizes(const void *pa, const void *pb) {
  const struct serving_step *a = *(const struct serving_step *const *)pa;
  const struct serving_step *b = *(const struct serving_step *const *)pb;
  return NAI_COMPARE({a->label->generation_requests, b->label->generation_requests}, {a->period_ns, b->period_ns},
                     {a->step, b->step});
}

static int sort_sizes(struct by_size *out, const struct serving_rank *r, struct nai_arena *arena, struct nai_err *err) {
  *out = (struct by_size){0};
  NAI_TRY(NAI_NEW(out->v, arena, r->count, err));
  for (uint32_t i = 0; i < r->count; i++) {
    const struct serving_step *s = &r->v[i];
    if (serving_is_steady(s) && s->kind == NAI_SERVES_DECODE && s->period_ns != NAI_NULL_I64 && serving_generates(s))
      out->v[out->count++] = s;
  }
  if (out->count)
    qsort(out->v, out->count, sizeof *out->v, compare_sizes);
  return NAI_OK;
}

static void put_bucket(struct nai_table *out, int64_t engine, const struct by_size *sizes, uint32_t first,
                       uint32_t next, int64_t *room) {
  char name[48];
  int64_t least = sizes->v[first]->label->generation_requests, tokens = 0, ns = 0;
  int bucket = serving_bucket(least);
  int64_t from = bucket > 1 ? ((int64_t)1 << (bucket - 1)) + 1 : bucket + 1, to = (int64_t)1 << bucket;
  uint32_t n = next - first, graphs = 0;
  if (from == to)
    snprintf(name, sizeof name, "%lld", (long long)to);
  else
    snprintf(name, sizeof name, "%lld-%lld", (long long)from, (long long)to);
  for (uint32_t i = first; i < next; i++) {
    graphs += sizes->v[i]->graph_launches > 0;
    tokens += sizes->v[i]->label->generation_requests;
    ns += sizes->v[i]->period_ns;
    room[i - first] = sizes->v[i]->period_ns;
  }
  bool enough = n >= FEW_OF_SIZE;
  NAI_ADD(SERVING_BATCH, out, .engine = engine, .bucket = name, .least_requests = from, .steps = n,
          .median_requests = sizes->v[first + (n - 1) / 2]->label->generation_requests,
          .median_period_ns = enough ? nai_median_i64(room, n) : NAI_NULL_I64,
          .tokens_per_s = enough ? 1e9 * (double)tokens / (double)ns : NAN, .graph_pct = nai_percent(graphs, n));
}

/* The weighted line through the medians of batch sizes, each with at least FEW_OF_SIZE steps. */
struct line {
  uint32_t sizes;
  int64_t smallest, largest;
  double weight, x, y, xx, xy, yy; /* weighted sums */
  double worst, squares;           /* of distances from the line */
};

static bool next_size(uint32_t *first, uint32_t *next, const struct by_size *sizes) {
  for (*first = *next; *first < sizes->count; *first = *next) {
    int64_t size = sizes->v[*first]->label->generation_requests;
    for (*next = *first; *next < sizes->count && sizes->v[*next]->label->generation_requests == size;)
      ++*next;
    if (*next - *first >= FEW_OF_SIZE)
      return true;
  }
  return false;
}

static void add_points(struct line *l, const struct by_size *sizes) {
  for (uint32_t first, next = 0; next_size(&first, &next, sizes);) {
    int64_t size = sizes->v[first]->label->generation_requests;
    uint32_t middle = (first + next - 1) / 2;
    double w = next - first, x = (double)size, y = (double)sizes->v[middle]->period_ns;
    l->smallest = l->sizes++ ? l->smallest : size;
    l->largest = size;
    l->weight += w;
    l->x += w * x;
    l->y += w * y;
    l->xx += w * x * x;
    l->xy += w * x * y;
    l->yy += w * y * y;
  }
}

static void add_distances(struct line *l, const struct by_size *sizes, double base, double slope) {
  for (uint32_t first, next = 0; next_size(&first, &next, sizes);) {
    uint32_t middle = (first + next - 1) / 2;
    double y = (double)sizes->v[middle]->period_ns;
    double distance = y - base - slope * (double)sizes->v[first]->label->generation_requests;
    l->worst = fmax(l->worst, fabs(distance));
    l->squares += (next - first) * distance * distance;
  }
}

static void put_line(struct SERVING_CURVE_row *row, struct serving_engine *e, struct line *l,
                     const struct by_size *sizes) {
  double mean_x = l->x / l->weight, mean_y = l->y / l->weight;
  double sxx = l->xx - l->x * mean_x, sxy = l->xy - l->x * mean_y, syy = l->yy - l->y * mean_y;
  double slope = sxy / sxx, base = mean_y - slope * mean_x;
  add_distances(l, sizes, base, slope);
  double variance = l->squares / (l->sizes - 2), slope_error = sqrt(variance / sxx);
  if (slope < 0 || base < 0 || slope_error > slope) {
    row->reason = "the times of batch sizes lie on no rising line";
    return;
  }
  e->base_ns = base;
  e->request_ns = slope;
  row->base_ns = llround(base);
  row->base_error_ns = llround(sqrt(variance * (1 / l->weight + mean_x * mean_x / sxx)));
  row->request_ns = llround(slope);
  row->request_error_ns = llround(slope_error);
  row->r_squared_pct = syy > 0 ? 100 * (1 - l->squares / syy) : NAN;
  row->worst_ns = llround(l->worst);
  row->base_pct = 100 * base / (base + slope * (double)row->median_requests);
}

int nai_serving_put_batches(struct serving_engine *e, struct nai_table *batches, struct nai_table *curve,
                            struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct by_size sizes;
  struct line line = {0};
  int64_t *room;
  uint32_t graphs = 0;
  e->base_ns = e->request_ns = NAN;
  NAI_TRY(sort_sizes(&sizes, e->rank, &arena, err));
  NAI_TRY(NAI_NEW(room, &arena, sizes.count, err));
  if (!sizes.count)
    return NAI_OK;
  for (uint32_t first = 0, next; first < sizes.count; first = next) {
    int bucket = serving_bucket(sizes.v[first]->label->generation_requests);
    for (next = first; next < sizes.count && serving_bucket(sizes.v[next]->label->generation_requests) == bucket;)
      graphs += sizes.v[next++]->graph_launches > 0;
    put_bucket(batches, e->number, &sizes, first, next, room);
  }
  add_points(&line, &sizes);
  struct SERVING_CURVE_row row =
      NAI_ROW(SERVING_CURVE, .engine = e->number, .sizes = line.sizes,
              .median_requests = sizes.v[(sizes.count - 1) / 2]->label->generation_requests,
              .reason =
                  graphs * 2 > sizes.count ? "with CUDA graphs times rise by the sizes captured, in stairs" : NULL);
  if (line.sizes < FEW_SIZES)
    row.reason = "fewer than 4 batch sizes with 5 steady decode steps each";
  else if (line.largest < 2 * line.smallest)
    row.reason = "the largest batch is not twice the smallest";
  else
    put_line(&row, e, &line, &sizes);
  SERVING_CURVE_add(curve, &row);
  return NAI_OK;
}

/* --- table serving_interference --------------------------------------------------------------------- */

/* Prompts within the interval that ends with a step. */
struct prompts {
  bool any, own; /* own: in the step itself */
  int64_t tokens;
};

static struct prompts prompts_in(const struct serving_rank *r, uint32_t i) {
  struct prompts p = {.own = serving_has_prompts(&r->v[i])};
  for (uint32_t k = r->v[i].since + 1; k <= i; k++) {
    p.any |= serving_has_prompts(&r->v[k]);
    if (serving_has_prompts(&r->v[k]) && r->v[k].label->context_tokens != NAI_NULL_I64)
      p.tokens += r->v[k].label->context_tokens;
  }
  return p;
}

static bool has_interval(const struct serving_step *s) {
  return serving_is_steady(s) && s->interval_ns != NAI_NULL_I64 && !s->recompute;
}

/* Medians of intervals without prompts, by bucket; NAI_NULL_I64 for too few. */
static void pure_intervals(int64_t out[SERVING_BUCKETS], int64_t *room, const struct serving_rank *r) {
  for (int bucket = 0; bucket < SERVING_BUCKETS; bucket++) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->count; i++)
      if (has_interval(&r->v[i]) && r->v[i].kind == NAI_SERVES_DECODE && r->v[i].since + 1 == i &&
          serving_bucket(serving_generates(&r->v[i])) == bucket)
        room[n++] = r->v[i].interval_ns;
    out[bucket] = n >= FEW_OF_SIZE ? nai_median_i64(room, n) : NAI_NULL_I64;
  }
}

/* What an interval of so many requests takes without prompts; NaN where nothing tells. */
static double usual_interval(const struct serving_engine *e, const int64_t usual[SERVING_BUCKETS], int64_t size) {
  int64_t bucket = usual[serving_bucket(size)];
  return bucket != NAI_NULL_I64 ? (double)bucket : e->base_ns + e->request_ns * (double)size;
}

static void add_delayed(struct SERVING_INTERFERENCE_row *row, const struct serving_rank *r, uint32_t i,
                        const struct prompts *p, double usual) {
  const struct serving_step *s = &r->v[i];
  int64_t extra = s->interval_ns - (int64_t)llround(usual), before = serving_generates(&r->v[s->since]);
  int64_t waiting = p->own || serving_generates(s) < before ? serving_generates(s) : before;
  row->steps++;
  row->prefill_only_steps += !p->own;
  row->extra_ns += extra;
  row->delayed_request_ns += extra * waiting;
  if (row->longest_ns != NAI_NULL_I64 && s->interval_ns <= row->longest_ns)
    return;
  row->longest_ns = s->interval_ns;
  row->longest_start_ns = s->end - s->interval_ns;
  row->longest_end_ns = s->end;
}

int nai_serving_put_interference(const struct serving_engine *e, struct nai_table *out, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const struct serving_rank *r = e->rank;
  int64_t usual[SERVING_BUCKETS], *room, *chunks, all = 0;
  uint32_t chunk_count = 0;
  struct SERVING_INTERFERENCE_row row = NAI_ROW(SERVING_INTERFERENCE, .engine = e->number, .steps = 0,
                                                .prefill_only_steps = 0, .extra_ns = 0, .delayed_request_ns = 0);
  NAI_TRY(NAI_NEW(room, &arena, r->count, err));
  NAI_TRY(NAI_NEW(chunks, &arena, r->count, err));
  pure_intervals(usual, room, r);
  for (uint32_t i = 0; i < r->count; i++) {
    if (!has_interval(&r->v[i]))
      continue;
    struct prompts p = prompts_in(r, i);
    double without = usual_interval(e, usual, serving_generates(&r->v[i]));
    all += r->v[i].interval_ns * serving_generates(&r->v[i]);
    if (!p.any || isnan(without))
      continue;
    add_delayed(&row, r, i, &p, without);
    if (p.tokens)
      chunks[chunk_count++] = p.tokens;
  }
  if (!row.steps)
    return NAI_OK;
  row.extra_ns = row.extra_ns > 0 ? row.extra_ns : 0;
  row.delayed_request_ns = row.delayed_request_ns > 0 ? row.delayed_request_ns : 0;
  row.share_pct = nai_percent((double)row.delayed_request_ns, (double)all);
  row.median_chunk_tokens = chunk_count ? nai_median_i64(chunks, chunk_count) : NAI_NULL_I64;
  SERVING_INTERFERENCE_add(out, &row);
  return NAI_OK;
}
