/* Evidence that a period is a step, and where steps begin.
 *
 * A period alone says nothing: layers repeat as regularly as steps do. What tells is an optimizer that works once per
 * period, or input that is copied and a wait for the result, as often in every period.
 */
#include "model/steps/steps_periods.h"

enum { SAME_PCT = 80, FEWEST_WAITED = 5, HTOD = 1, DTOH = 2 };

/* The process's operations on the GPU in launch order, and what is looked for in them. */
struct launched {
  const struct nai_step_search *search;
  const struct nai_gpu *gpu;
  const struct nai_step_sequence *sequence;
  const struct nai_step_period *period;
  struct nai_key *ops; /* key: launch, value: index in gpu->ops */
  uint32_t count;
  uint8_t *optimizer; /* per kernel name */
};

static int64_t time_of(const struct nai_model *m, const struct nai_op *op) {
  uint32_t api = nai_model_op_api(m, op);
  return api == NAI_NO_ROW ? op->start : nai_val(&m->apis.start_ns, api);
}

static int64_t launch_at(const struct launched *l, uint32_t i) {
  return time_of(l->search->m, &l->gpu->ops[l->ops[i].value]);
}

/* When the operation at a place of the sequence was launched. */
static int64_t sequence_time(const struct launched *l, uint32_t place) {
  return time_of(l->search->m, &l->gpu->ops[l->sequence->op[place]]);
}

/* From one repetition's begin to the next one's. */
static struct nai_interval repetition(const struct launched *l, uint32_t number) {
  return (struct nai_interval){sequence_time(l, nai_step_occurrence(l->sequence, l->period->marker, number)),
                               sequence_time(l, nai_step_occurrence(l->sequence, l->period->marker, number + 1))};
}

/* The first operation launched at t or later. */
static uint32_t launched_from(const struct launched *l, int64_t t) {
  return (uint32_t)nai_keys_from(l->ops, l->count, nai_key_from_i64(t));
}

static int list_launched(struct launched *l, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_model *m = l->search->m;
  uint32_t names = m->tables[NAI_IN_KERNELS]->strings.count;
  NAI_TRY(NAI_NEW(l->ops, arena, l->gpu->op_count, err));
  NAI_TRY(NAI_NEW(l->optimizer, arena, names, err));
  for (uint32_t i = 0; i < l->gpu->op_count; i++)
    if (nai_model_op_process(m, &l->gpu->ops[i]) == (int32_t)l->search->process)
      l->ops[l->count++] = (struct nai_key){nai_key_from_i64(time_of(m, &l->gpu->ops[i])), i};
  for (uint32_t i = 0; i < names; i++)
    l->optimizer[i] = strcmp(nai_kernel_classes_name(m->classes, m->kernel_category[i]), "optimizer") == 0;
  return nai_sort_keys(l->ops, l->count, err);
}

/* The upper median. There is room for as many numbers behind them. */
static int64_t usual_of(int64_t *v, uint32_t n) {
  memcpy(v + n, v, n * sizeof *v);
  nai_select_i64(v + n, n, n / 2);
  return v[n + n / 2];
}

static void add_start(struct nai_step_evidence *e, int64_t t) {
  if (!e->count || t > e->starts[e->count - 1])
    e->starts[e->count++] = t;
}

/* --- an optimizer ----------------------------------------------------------------------------- */

static bool is_optimizer(const struct launched *l, uint32_t i) {
  const struct nai_op *op = &l->gpu->ops[l->ops[i].value];
  return op->type == NAI_OP_KERNEL && l->optimizer[nai_val_text(&l->search->m->kernels.name, op->row)];
}

/* Whether four fifths of the repetitions have exactly one of these moments. */
static bool once_each(const struct launched *l, const int64_t *moments, uint32_t count) {
  uint32_t full = l->period->count - 1, once = 0;
  for (uint32_t r = 0; r < full; r++) {
    struct nai_interval at = repetition(l, r);
    size_t first = nai_bisect(moments, count, sizeof *moments, 0, at.start);
    once += nai_bisect(moments, count, sizeof *moments, 0, at.end) == first + 1;
  }
  return once * 100 >= full * SAME_PCT;
}

/* A step begins with what is launched after the optimizer's last kernel: a quarter of a period without any ends it. */
static bool by_optimizer(struct nai_step_evidence *e, const struct launched *l, int64_t *moments) {
  uint32_t quiet = l->period->length / 4 + 1, bursts = 0;
  for (uint32_t i = 0, last = UINT32_MAX; i <= l->count; i++) {
    bool is = i < l->count && is_optimizer(l, i);
    bool ends = last != UINT32_MAX && (i == l->count || (is && i - last > quiet));
    if (ends) {
      moments[bursts++] = launch_at(l, last);
      if (last + 1 < l->count)
        add_start(e, launch_at(l, last + 1));
    }
    last = is ? i : last;
  }
  if (bursts && once_each(l, moments, bursts))
    return true;
  e->count = 0;
  return false;
}

/* --- input, result and wait ------------------------------------------------------------------- */

static int64_t waits_between(const struct launched *l, int64_t from, int64_t to) {
  const struct nai_step_search *s = l->search;
  int64_t waits = 0;
  for (uint32_t t = 0; t < s->thread_count; t++) {
    const struct nai_intervals *b = &s->m->blocked[s->threads[t]];
    size_t first = nai_bisect(b->v, b->count, sizeof *b->v, offsetof(struct nai_interval, start), from);
    waits += (int64_t)(nai_bisect(b->v, b->count, sizeof *b->v, offsetof(struct nai_interval, start), to) - first);
  }
  return waits;
}

static int64_t copies_between(const struct launched *l, int32_t kind, int64_t from, int64_t to) {
  const struct nai_model *m = l->search->m;
  int64_t copies = 0;
  for (uint32_t i = launched_from(l, from), end = launched_from(l, to); i < end; i++) {
    const struct nai_op *op = &l->gpu->ops[l->ops[i].value];
    copies += op->type == NAI_OP_COPY && nai_at_i32(&m->memops.copy_kind, op->row) == kind;
  }
  return copies;
}

enum boundary_sign { SIGN_WAIT, SIGN_INPUT, SIGN_RESULT };

/* Whether four fifths of the repetitions have as many signs of a kind, one at least. */
static bool same_each(const struct launched *l, enum boundary_sign sign, int64_t *room) {
  uint32_t full = l->period->count - 1, same = 0;
  for (uint32_t r = 0; r < full; r++) {
    struct nai_interval at = repetition(l, r);
    room[r] = sign == SIGN_WAIT ? waits_between(l, at.start, at.end)
                                : copies_between(l, sign == SIGN_INPUT ? HTOD : DTOH, at.start, at.end);
  }
  int64_t usual = usual_of(room, full);
  for (uint32_t r = 0; r < full; r++)
    same += room[r] == usual;
  return usual > 0 && same * 100 >= full * SAME_PCT;
}

static int64_t gap_before(const struct launched *l, uint32_t place) {
  const struct nai_op *op = &l->gpu->ops[l->sequence->op[place]];
  if (!place)
    return 0;
  int64_t gap = op->start - l->gpu->ops[l->sequence->op[place - 1]].end;
  return gap > 0 ? gap : 0;
}

/* The token that comes once per repetition after the largest distance, by the median. */
static uint32_t first_token(const struct launched *l, int64_t *room) {
  const struct nai_step_sequence *q = l->sequence;
  uint32_t best = l->period->marker;
  int64_t longest = -1;
  for (uint32_t t = 0; t < q->token_count; t++) {
    uint32_t n = nai_step_occurrences(q, t);
    if (n + 1 < l->period->count || n > l->period->count + 1)
      continue;
    for (uint32_t i = 0; i < n; i++)
      room[i] = gap_before(l, nai_step_occurrence(q, t, i));
    nai_select_i64(room, n, n / 2);
    if (room[n / 2] > longest) {
      longest = room[n / 2];
      best = t;
    }
  }
  return best;
}

/* Where one repetition gives way to the next, in launch order: from what is launched behind the operation of the
 * sequence before a token's occurrence, up to this occurrence. */
struct seam {
  uint32_t first, token;
};

/* So many operations behind a seam's first one or before its token; in a seam with fewer, at the other end of it. */
struct cut {
  uint32_t distance;
  bool behind_first;
  int64_t usual_ns, total_ns; /* pauses there: median, sum */
};

static uint32_t cut_at(struct seam seam, struct cut cut) {
  uint32_t room = seam.token - seam.first, by = cut.distance < room ? cut.distance : room;
  return cut.behind_first ? seam.first + by : seam.token - by;
}

/* Nothing tells where before the very first operation of the sequence a repetition began. */
static struct seam seam_of(const struct launched *l, uint32_t place) {
  uint32_t token = launched_from(l, sequence_time(l, place));
  uint32_t first = place ? launched_from(l, sequence_time(l, place - 1) + 1) : token;
  return (struct seam){first < token ? first : token, token};
}

/* Before each operation: how long all that was launched before it was over. */
static void find_pauses(int64_t *pause, const struct launched *l) {
  int64_t busy_until = INT64_MIN;
  for (uint32_t i = 0; i < l->count; i++) {
    const struct nai_op *op = &l->gpu->ops[l->ops[i].value];
    pause[i] = op->start > busy_until && i ? op->start - busy_until : 0;
    busy_until = op->end > busy_until ? op->end : busy_until;
  }
}

static void weigh_cut(struct cut *cut, const struct seam *seams, uint32_t n, const int64_t *pause, int64_t *room) {
  for (uint32_t i = 0; i < n; i++) {
    room[i] = pause[cut_at(seams[i], *cut)];
    cut->total_ns += room[i];
  }
  nai_select_i64(room, n, n / 2);
  cut->usual_ns = room[n / 2];
}

/* The same cut for all seams, where the pause is longest by the median, then in total: were the longest looked for in
 * each seam, an operation that waits now and then would move from step to step. A cut is no further off than a
 * repetition is long on average, so that all of them together look at each operation about twice. */
static struct cut choose_cut(const struct launched *l, const struct seam *seams, uint32_t n, int64_t *room) {
  int64_t *pause = room + n;
  uint32_t furthest = 0, average = n ? l->count / n : 0;
  find_pauses(pause, l);
  for (uint32_t i = 0; i < n; i++)
    furthest = seams[i].token - seams[i].first > furthest ? seams[i].token - seams[i].first : furthest;
  furthest = furthest < average ? furthest : average;
  struct cut best = {.usual_ns = -1};
  for (int side = 0; side < 2; side++)
    for (uint32_t distance = 0; distance <= furthest; distance++) {
      struct cut cut = {.distance = distance, .behind_first = side == 1};
      weigh_cut(&cut, seams, n, pause, room);
      bool tie = cut.usual_ns == best.usual_ns;
      if (tie ? cut.total_ns > best.total_ns : cut.usual_ns > best.usual_ns)
        best = cut;
    }
  return best;
}

static bool by_waiting(struct nai_step_evidence *e, const struct launched *l, struct seam *seams, int64_t *room) {
  if (l->period->count < FEWEST_WAITED || !same_each(l, SIGN_INPUT, room) ||
      (!same_each(l, SIGN_WAIT, room) && !same_each(l, SIGN_RESULT, room)))
    return false;
  const struct nai_step_sequence *q = l->sequence;
  uint32_t token = first_token(l, room), n = nai_step_occurrences(q, token);
  for (uint32_t i = 0; i < n; i++)
    seams[i] = seam_of(l, nai_step_occurrence(q, token, i));
  struct cut cut = choose_cut(l, seams, n, room);
  for (uint32_t i = 0; i < n; i++)
    add_start(e, launch_at(l, cut_at(seams[i], cut)));
  return true;
}

/* --- the ends --------------------------------------------------------------------------------- */

/* What lies before the first boundary and behind the last one is a step too, unless it is much more than one. */
static void add_ends(struct nai_step_evidence *e, const struct launched *l) {
  uint32_t usual = 0, before = launched_from(l, e->starts[0]), behind = launched_from(l, e->starts[e->count - 1]);
  if (e->count > 1)
    usual = (behind - before) / (e->count - 1);
  e->end = launch_at(l, l->count - 1) + 1;
  if (e->count > 1 && (uint64_t)(l->count - behind) * 2 > (uint64_t)usual * 5)
    e->end = e->starts[--e->count];
  if (!before || (uint64_t)before * 2 > (uint64_t)usual * 5)
    return;
  if ((uint64_t)before * 10 >= usual) /* less is the beginning of the first: there was no pause before it to see */
    memmove(e->starts + 1, e->starts, e->count++ * sizeof *e->starts);
  e->starts[0] = launch_at(l, 0);
}

/* Whether four fifths of the steps but the first and the last have about the usual number of operations. */
static bool is_even(const struct nai_step_evidence *e, const struct launched *l, int64_t *room) {
  uint32_t n = 0, near = 0;
  for (uint32_t i = 1; i + 1 < e->count; i++)
    room[n++] = launched_from(l, e->starts[i + 1]) - launched_from(l, e->starts[i]);
  if (!n)
    return false;
  int64_t usual = usual_of(room, n);
  for (uint32_t i = 0; i < n; i++)
    near += llabs(room[i] - usual) * 4 <= usual;
  return near * 100 >= n * SAME_PCT;
}

int nai_step_boundaries(struct nai_step_evidence *out, const struct nai_step_search *s,
                        const struct nai_step_sequence *q, const struct nai_step_period *p, struct nai_arena *arena,
                        struct nai_err *err) {
  struct launched l = {.search = s, .gpu = &s->m->gpus[q->gpu], .sequence = q, .period = p};
  struct seam *seams;
  int64_t *room;
  *out = (struct nai_step_evidence){0};
  NAI_TRY(list_launched(&l, arena, err));
  NAI_TRY(NAI_NEW(room, arena, 2 * ((size_t)l.count + q->count), err));
  NAI_TRY(NAI_NEW(seams, arena, q->count, err));
  NAI_TRY(NAI_NEW(out->starts, arena, (size_t)l.count + 1, err));
  if (by_optimizer(out, &l, room)) {
    out->name = "optimizer kernels once per period";
    out->confidence = 80;
  } else if (by_waiting(out, &l, seams, room)) {
    out->name = "input copies and waits in every period";
    out->confidence = 60;
  }
  if (out->count)
    add_ends(out, &l);
  if (out->name && !is_even(out, &l, room))
    out->name = NULL;
  return NAI_OK;
}
