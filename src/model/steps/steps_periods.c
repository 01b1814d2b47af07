/* What a stream repeats.
 *
 * A token that comes at regular distances marks a repetition; several that agree on the distance make a period. Medians
 * and shares in place of means: one lost kernel doubles a distance and must not hide the period.
 */
#include "model/steps/steps_periods.h"

#include "base/sort.h"

enum {
  FEWEST = 3,       /* occurrences of a token, tokens of a period */
  REGULAR_PCT = 50, /* of a token's distances are the usual one */
  ALIKE_PCT = 80    /* of a repetition's operations are the usual ones */
};

/* --- the sequence ----------------------------------------------------------------------------- */

static bool counts(const struct nai_op *op) { return op->type == NAI_OP_KERNEL || op->type == NAI_OP_GRAPH; }

/* Operations of a stream. */
struct stream {
  uint32_t computing, all, first;
};

/* Finds the stream with the most computing operations, the first of equals. */
static int find_busiest(struct nai_step_sequence *q, struct stream *best, const struct nai_step_search *s, uint32_t g,
                        struct nai_err *err) {
  const struct nai_gpu *gpu = &s->m->gpus[g];
  struct stream *v;
  NAI_TRY(NAI_NEW(v, s->arena, gpu->stream_count, err));
  for (uint32_t i = gpu->op_count; i-- > 0;)
    if (counts(&gpu->ops[i])) {
      struct stream *stream = &v[gpu->ops[i].stream];
      stream->all++;
      stream->computing += !gpu->ops[i].communication;
      stream->first = i;
    }
  bool here = false;
  for (uint32_t n = 0; n < gpu->stream_count; n++) {
    bool equal = here && v[n].computing == best->computing && v[n].first < best->first;
    if (gpu->streams[n].process != (int32_t)s->process || (v[n].computing <= best->computing && !equal))
      continue;
    here = true;
    *best = v[n];
    q->gpu = g;
    q->stream = n;
  }
  return NAI_OK;
}

static int64_t token_key(const struct nai_model *m, const struct nai_op *op) {
  if (op->type == NAI_OP_GRAPH)
    return INT64_MIN | nai_at(&m->graphs.graph_exec_id, op->row); /* no text has so high a number */
  return nai_key_pair(nai_val_text(&m->kernels.name, op->row), (uint32_t)nai_val_i32(&m->kernels.config, op->row));
}

static int fill_sequence(struct nai_step_sequence *q, const struct nai_model *m, struct nai_err *err) {
  NAI_SCOPED(nai_arena) scratch = NAI_ARENA(m->scratch_dir);
  const struct nai_gpu *gpu = &m->gpus[q->gpu];
  struct nai_keyset tokens = {.arena = &scratch};
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    bool added;
    if (op->stream != q->stream || !counts(op))
      continue;
    q->op[q->count] = i;
    q->token[q->count++] = nai_keyset_add(&tokens, token_key(m, op), &added);
  }
  q->token_count = tokens.count;
  return tokens.oom ? nai_err_nomem(err) : NAI_OK;
}

int nai_step_sequence_find(struct nai_step_sequence *q, const struct nai_step_search *s, struct nai_err *err) {
  const struct nai_groups *gpus = &s->m->process_gpus;
  struct stream busiest = {0};
  *q = (struct nai_step_sequence){0};
  for (uint32_t i = gpus->first[s->process]; i < gpus->first[s->process + 1]; i++)
    NAI_TRY(find_busiest(q, &busiest, s, gpus->order[i], err));
  NAI_TRY(NAI_NEW(q->op, s->arena, busiest.all, err));
  NAI_TRY(NAI_NEW(q->token, s->arena, busiest.all, err));
  if (busiest.all)
    NAI_TRY(fill_sequence(q, s->m, err));
  const struct nai_column token = nai_column_of_u32(q->token);
  return nai_groups_collect(&q->places, q->count, &token, q->token_count, s->arena, err);
}

/* --- tokens at regular distances -------------------------------------------------------------- */

struct regular {
  uint32_t token, length, count;
  double share; /* of its distances are `length` */
};

static uint32_t tolerance(uint32_t length) { return length < 20 ? 0 : length < 50 ? 1 : length / 50; }

static bool is_regular(struct regular *out, const struct nai_step_sequence *q, uint32_t token, int64_t *room) {
  uint32_t n = nai_step_occurrences(q, token), near = 0;
  const uint32_t *at = q->places.order + q->places.first[token];
  if (n < FEWEST)
    return false;
  for (uint32_t i = 0; i + 1 < n; i++)
    room[i] = (int64_t)at[i + 1] - at[i];
  nai_select_i64(room, n - 1, (n - 2) / 2);
  uint32_t length = (uint32_t)room[(n - 2) / 2];
  for (uint32_t i = 0; i + 1 < n; i++)
    near += (uint32_t)llabs((int64_t)at[i + 1] - at[i] - length) <= tolerance(length);
  *out = (struct regular){token, length, n, (double)near / (n - 1)};
  return length >= FEWEST && near * 100 >= (n - 1) * REGULAR_PCT;
}

/* By length, the largest first; then by place. */
NAI_ORDER(by_length, struct regular, {b->length, a->length}, {a->token, b->token})

/* --- periods ---------------------------------------------------------------------------------- */

/* How much the stretches from marker to marker are alike. `usual` and `seen` have a zeroed cell per token. */
static void compare_repetitions(struct nai_step_period *p, const struct nai_step_sequence *q, uint32_t *usual,
                                uint32_t *seen) {
  const uint32_t *marks = q->places.order + q->places.first[p->marker];
  uint32_t full = p->count - 1, alike = 0, size = 0;
  uint64_t like = 0, all = 0;
  for (uint32_t i = marks[0]; i < marks[full]; i++)
    usual[q->token[i]]++;
  for (uint32_t t = 0; t < q->token_count; t++) {
    usual[t] = (usual[t] + full / 2) / full;
    size += usual[t];
  }
  for (uint32_t r = 0; r < full; r++) {
    uint32_t n = marks[r + 1] - marks[r], same = 0;
    for (uint32_t i = marks[r]; i < marks[r + 1]; i++)
      same += ++seen[q->token[i]] <= usual[q->token[i]];
    for (uint32_t i = marks[r]; i < marks[r + 1]; i++)
      seen[q->token[i]] = 0;
    uint32_t of = n > size ? n : size;
    alike += (uint64_t)same * 100 >= (uint64_t)of * ALIKE_PCT;
    like += same;
    all += of;
  }
  for (uint32_t t = 0; t < q->token_count; t++)
    usual[t] = 0;
  p->alike_pct = 100.0 * alike / full;
  p->like_pct = all ? 100.0 * (double)like / (double)all : 0;
  p->share_pct = 100.0 * (marks[full] - marks[0]) / q->count;
}

/* Of tokens that agree on a length, the one to mark repetitions with: the most regular, the first of equals. */
static struct nai_step_period period_of(const struct regular *v, uint32_t n, const struct nai_step_sequence *q) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < n; i++) {
    uint32_t at = nai_step_occurrence(q, v[i].token, 0), best_at = nai_step_occurrence(q, v[best].token, 0);
    if (v[i].share != v[best].share   ? v[i].share > v[best].share
        : v[i].count != v[best].count ? v[i].count > v[best].count
                                      : at < best_at)
      best = i;
  }
  return (struct nai_step_period){.length = v[best].length, .marker = v[best].token, .count = v[best].count};
}

struct group {
  uint32_t first, count; /* of the regular tokens */
  uint64_t weight;       /* operations they stand for */
};

NAI_ORDER(by_weight, struct group, {b->weight, a->weight}, {a->first, b->first})

NAI_ORDER(by_place, struct group, {a->first, b->first})

/* Puts regular tokens together whose lengths differ by 2 % at most; keeps the weightiest, the largest period first. */
static uint32_t group_tokens(struct group *groups, const struct regular *v, uint32_t n) {
  uint32_t count = 0;
  for (uint32_t i = 0, j; i < n; i = j) {
    struct group g = {.first = i};
    for (j = i; j < n && v[i].length - v[j].length <= tolerance(v[i].length); j++)
      g.weight += v[j].count;
    g.count = j - i;
    if (g.count >= FEWEST)
      groups[count++] = g;
  }
  if (count)
    qsort(groups, count, sizeof *groups, by_weight);
  count = count < NAI_MAX_PERIODS ? count : NAI_MAX_PERIODS;
  if (count)
    qsort(groups, count, sizeof *groups, by_place);
  return count;
}

int nai_step_periods(struct nai_step_period out[NAI_MAX_PERIODS], uint32_t *count, const struct nai_step_sequence *q,
                     struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct regular *v;
  struct group *groups;
  int64_t *room;
  uint32_t *cells, n = 0;
  *count = 0;
  NAI_TRY(NAI_NEW(v, &arena, (size_t)q->token_count + 1, err)); /* the last one is tried out and not kept */
  NAI_TRY(NAI_NEW(groups, &arena, q->token_count, err));
  NAI_TRY(NAI_NEW(room, &arena, q->count, err));
  NAI_TRY(NAI_NEW(cells, &arena, (size_t)q->token_count * 2, err));
  for (uint32_t t = 0; t < q->token_count; t++)
    n += is_regular(&v[n], q, t, room);
  if (n < FEWEST)
    return NAI_OK;
  qsort(v, n, sizeof *v, by_length);
  uint32_t found = group_tokens(groups, v, n);
  for (uint32_t g = 0; g < found; g++) {
    out[*count] = period_of(v + groups[g].first, groups[g].count, q);
    compare_repetitions(&out[(*count)++], q, cells, cells + q->token_count);
  }
  return NAI_OK;
}
