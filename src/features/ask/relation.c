/* Answers by relations. */
#include "features/ask/relation.h"

#include "features/ask/relation_say.h"

static nai_say_fn *const sayers[] = {
    [NAI_RELATION_EVERY] = nai_say_every,       [NAI_RELATION_NUMBERS] = nai_say_numbers,
    [NAI_RELATION_GROUPS] = nai_say_groups,     [NAI_RELATION_RANKING] = nai_say_ranking,
    [NAI_RELATION_COMPARE] = nai_say_compared,  [NAI_RELATION_SHARE] = nai_say_share,
    [NAI_RELATION_INSIDE] = nai_say_inside,     [NAI_RELATION_PER] = nai_say_per,
    [NAI_RELATION_BETWEEN] = nai_say_between,   [NAI_RELATION_GAPS] = nai_say_gaps,
    [NAI_RELATION_FIRST] = nai_say_first,       [NAI_RELATION_TREND] = nai_say_trend,
    [NAI_RELATION_OUTLIERS] = nai_say_outliers, [NAI_RELATION_LATENCY] = nai_say_latency,
    [NAI_RELATION_COVER] = nai_say_cover,       [NAI_RELATION_NTH] = nai_say_nth,
    [NAI_RELATION_FOLLOWS] = nai_say_follows,   [NAI_RELATION_BESIDE] = nai_say_beside,
    [NAI_RELATION_NAMES] = nai_say_names};

/* Whether names differ in nothing but numbers, with `#` for these in *kind. */
static bool is_of_kind(struct nai_buf *kind, const char *name, const char *other) {
  static const char digits[] = "0123456789";
  nai_buf_clear(kind);
  while (*name || *other) {
    const size_t len = strspn(name, digits), other_len = strspn(other, digits);
    if (!(len && other_len) && *name != *other)
      return false;
    nai_buf_putc(kind, len ? '#' : *name);
    name += len ? len : 1;
    other += other_len ? other_len : 1;
  }
  return true;
}

/* "Level 0 against the other levels": where others are called so but for the number, they are those. */
static int keep_kind(struct nai_answering *a, const bool *leaves, const char *name, struct nai_err *err) {
  struct nai_thing_events *events = &a->events[1];
  NAI_SCOPED(nai_buf) kind = {0};
  NAI_SCOPED(nai_buf) called = {0};
  bool *is;
  uint32_t kept = 0;
  NAI_TRY(NAI_NEW(is, nai_answering_arena(a), events->names.count, err));
  for (uint32_t n = 0; n < events->names.count; n++) {
    is[n] = !leaves[n] && is_of_kind(&kind, name, nai_strings_get(&events->names, n));
    if (is[n] && !called.len)
      nai_buf_puts(&called, nai_buf_str(&kind));
  }
  NAI_TRY(nai_buf_check(&kind, err));
  NAI_TRY(nai_buf_check(&called, err));
  for (uint32_t i = 0; i < events->count && called.len; i++)
    if (is[events->at[i].name])
      events->at[kept++] = events->at[i];
  if (!called.len)
    return NAI_OK;
  events->count = kept;
  a->r->things[1].called = nai_answer_text(a->asking, &called);
  a->r->things[1].part = false;
  return NAI_OK;
}

/* "the other levels": those of the second thing without the first. */
static int leave_out(struct nai_answering *a, const char *names, struct nai_err *err) {
  struct nai_thing_events *events = &a->events[1];
  struct nai_arena *arena = nai_answering_arena(a);
  uint32_t kept = 0;
  bool *leaves;
  NAI_TRY(NAI_NEW(leaves, arena, events->names.count, err));
  for (uint32_t n = 0; n < events->names.count; n++)
    leaves[n] = strstr(names, nai_arena_printf(arena, "\n%s\n", nai_strings_get(&events->names, n))) != NULL;
  for (uint32_t i = 0; i < events->count; i++)
    if (!leaves[events->at[i].name])
      events->at[kept++] = events->at[i];
  events->count = kept;
  NAI_TRY(nai_arena_check(arena, err));
  const char *name = names + 1;
  const size_t len = strcspn(name, "\n");
  return name[len] && !name[len + 1] ? keep_kind(a, leaves, nai_arena_printf(arena, "%.*s", (int)len, name), err)
                                     : NAI_OK;
}

static bool is_same(const struct nai_thing_event *a, const struct nai_thing_event *b) {
  return a->start == b->start && a->gpu == b->gpu && a->stream == b->stream;
}

/* "gemm or trsm": kernels of a kind are compared to those of a name without the latter. */
static void leave_out_named(struct nai_answering *a) {
  const int kind = a->r->things[0].names != NULL;
  struct nai_thing_events *events = &a->events[kind];
  const struct nai_thing_events *named = &a->events[!kind];
  uint32_t kept = 0, at = 0;
  if (a->r->things[kind].names || !a->r->things[!kind].names || nai_thing_is_plain(&a->r->things[kind]))
    return;
  for (uint32_t i = 0; i < events->count; i++) {
    while (at < named->count && named->at[at].start < events->at[i].start)
      at++;
    uint32_t same = at;
    while (same < named->count && named->at[same].start == events->at[i].start &&
           !is_same(&named->at[same], &events->at[i]))
      same++;
    if (same == named->count || !is_same(&named->at[same], &events->at[i]))
      events->at[kept++] = events->at[i];
  }
  events->count = kept;
}

/* Migrations are copies, too, where there are no others. */
static int load(struct nai_thing_events *events, struct nai_thing *thing, const struct nai_answering *a,
                struct nai_err *err) {
  struct nai_thing_filter filter = a->r->filter;
  if (a->r->kind == NAI_RELATION_EVERY) /* what does not keep it is counted, too */
    filter.least_ns = filter.most_ns = -1;
  thing->on_host = a->r->count > 1;
  NAI_TRY(nai_things_load(events, thing, &filter, a->asking, err));
  if (events->count || thing->kind != NAI_THING_COPIES)
    return NAI_OK;
  struct nai_thing migrations = *thing;
  migrations.kind = NAI_THING_MIGRATIONS;
  if (thing->direction)
    migrations.direction = nai_arena_printf(a->asking->arena, "Unified %s", thing->direction);
  NAI_TRY(nai_arena_check(a->asking->arena, err));
  NAI_TRY(nai_things_load(events, &migrations, &filter, a->asking, err));
  *thing = events->count ? migrations : *thing;
  return NAI_OK;
}

/* In the place of ranges the operations that were launched inside them. */
static int take_work(struct nai_answering *a, struct nai_err *err) {
  const struct nai_thing all = {.kind = NAI_THING_OPERATIONS};
  struct nai_thing_events work;
  NAI_TRY(nai_things_load(&work, &all, &a->r->filter, a->asking, err));
  for (int side = 0; side < 2; side++) {
    struct nai_thing_events in = work;
    NAI_TRY(NAI_NEW(in.at, nai_answering_arena(a), work.count, err));
    if (work.count)
      memcpy(in.at, work.at, work.count * sizeof *in.at);
    NAI_TRY(nai_things_keep_inside(&in, &a->events[side], nai_answering_arena(a), err));
    a->events[side] = in;
    a->r->things[side].kind = NAI_THING_OPERATIONS;
    a->r->things[side].work = true;
  }
  return NAI_OK;
}

/* Whether the trace has steps, however long. */
static int has_steps(bool *out, const struct nai_answering *a, struct nai_err *err) {
  struct nai_thing_filter filter = a->r->filter;
  struct nai_thing_events all = a->events[0];
  filter.least_ns = filter.most_ns = -1;
  if (!all.count)
    NAI_TRY(nai_things_load(&all, &a->r->things[0], &filter, a->asking, err));
  *out = all.count;
  return NAI_OK;
}

static int answer(bool *answered, struct nai_answering *a, struct nai_err *err) {
  for (size_t i = 0; i < a->r->count && i < 2; i++)
    NAI_TRY(load(&a->events[i], &a->r->things[i], a, err));
  if (a->r->count == 2 && a->r->without)
    NAI_TRY(leave_out(a, a->r->without, err));
  if (a->r->kind == NAI_RELATION_COMPARE)
    leave_out_named(a);
  bool steps = a->r->kind == NAI_RELATION_EVERY; /* none that is so long is an answer */
  if (!steps && a->r->count == 1 && a->r->things[0].kind == NAI_THING_STEPS)
    NAI_TRY(has_steps(&steps, a, err));
  for (size_t i = 0; i < a->r->count && i < 2; i++) /* the trace has none */
    if (!a->events[i].count && ((a->r->things[i].kind == NAI_THING_STEPS && (a->r->count > 1 || !steps)) ||
                                a->r->things[i].kind == NAI_THING_MIGRATIONS || (i && a->r->kind == NAI_RELATION_PER)))
      return NAI_OK;
  if (a->r->work)
    NAI_TRY(take_work(a, err));
  NAI_TRY(sayers[a->r->kind](a, err));
  NAI_TRY(nai_buf_check(&a->said, err));
  if (a->none)
    return NAI_OK;
  struct nai_fact *fact = nai_fact_new(a->asking, "run_info", 0);
  if (fact)
    fact->text = nai_answer_text(a->asking, &a->said);
  nai_buf_putc(&a->said, '.');
  nai_answer_say(a->asking, &a->asking->answer->said, fact, nai_buf_str(&a->said));
  if (a->r->why)
    nai_answer_say(a->asking, &a->asking->answer->limits, NULL, "This says how long it takes, not why.");
  if (a->r->kind == NAI_RELATION_COMPARE && a->r->things[0].kind == NAI_THING_RANGES && !a->r->work && !a->r->ratio &&
      a->r->statistic != NAI_STATISTIC_COUNT)
    nai_answer_say(a->asking, &a->asking->answer->limits, NULL,
                   "What these ranges launched on GPUs may compare otherwise: ask for the GPU time of both.");
  a->asking->answer->intent = "relation";
  *answered = true;
  return NAI_OK;
}

/* Whether its words say so much that no intent says more. */
static bool is_strong(const struct nai_relation *r) {
  const bool edges = r->kind == NAI_RELATION_BETWEEN && r->from.edge != NAI_EDGE_ANY && r->to.edge != NAI_EDGE_ANY;
  bool named = r->shares || (r->kind == NAI_RELATION_COMPARE && r->compares) ||
               (r->kind == NAI_RELATION_BETWEEN && r->to.edge == NAI_EDGE_LAST) || edges;
  for (size_t t = 0; t < r->count; t++)
    named |= r->things[t].names != NULL || r->things[t].kind == NAI_THING_MIGRATIONS;
  const bool ways = r->kind == NAI_RELATION_COMPARE && r->things[0].direction && r->things[1].direction;
  const bool moved = r->things[0].kind == NAI_THING_MIGRATIONS && (r->sizes || r->statistic == NAI_STATISTIC_RATE),
             of_all = r->kind == NAI_RELATION_SHARE && r->things[1].kind == NAI_THING_OPERATIONS,
             work_in = r->kind == NAI_RELATION_INSIDE && r->things[0].kind == NAI_THING_OPERATIONS;
  const bool nth = r->kind == NAI_RELATION_NTH && (r->nth[0] > 1 || r->nth[1]) && (r->statistic || r->compares);
  const bool kinds = r->kind == NAI_RELATION_COMPARE && r->statistic == NAI_STATISTIC_TOTAL &&
                     r->things[0].kind <= NAI_THING_MEMSETS && r->things[1].kind <= NAI_THING_MEMSETS &&
                     (r->things[0].kind != r->things[1].kind || r->things[1].names);
  if (r->kind == NAI_RELATION_NAMES || r->kind == NAI_RELATION_EVERY || r->neighbors || kinds || ways || moved ||
      of_all || work_in || nth || r->pair || r->several || r->things[0].joined)
    return true;
  return named && ((r->count == 2 && r->kind != NAI_RELATION_INSIDE) || r->kind >= NAI_RELATION_BETWEEN ||
                   r->statistic == NAI_STATISTIC_SPREAD);
}

int nai_relation_answer(bool *answered, const struct nai_asking *asking, bool strong, struct nai_err *err) {
  struct nai_relation relation;
  struct nai_answering a = {.asking = asking, .r = &relation};
  *answered = false;
  if (strong && !nai_relation_is_likely(asking->question))
    return NAI_OK;
  NAI_TRY(nai_relation_read(&relation, asking, asking->question, err));
  if (!relation.kind || (strong && !is_strong(&relation)))
    return NAI_OK;
  int rc = answer(answered, &a, err);
  nai_buf_free(&a.said);
  return rc;
}
