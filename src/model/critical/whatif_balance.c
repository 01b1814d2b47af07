/* Ranks that come late to a collective do what they did since the one before as fast as the others. */
#include "model/critical/whatif_edit.h"

#include "base/sort.h"

enum work { KERNELS, COPIES, CODE, CALLS, WORKS }; /* the last two the thread's own */

/* What a GPU and its thread did for one member of a collective. */
struct leg {
  uint32_t op, first;   /* the member; the first operation behind the GPU's member of the collective before */
  uint32_t set, before; /* this collective and that one, by their first members; NAI_NO_ROW for none */
  uint32_t call, end;   /* calls of the thread between the launches of both; none where other threads made them */
  int64_t ns[WORKS];
};

struct balancing {
  struct edit *e;
  enum nai_case which;
  struct leg *legs; /* GPU by GPU */
  uint32_t count, *leg_of_op;
  int64_t *room; /* for one value per member */
};

/* --- what each did ---------------------------------------------------------------------------- */

/* The members of the collective that an operation belongs to, as dependencies of its end; none of others. */
static struct nai_stretch members_of(const struct nai_dependencies *d, uint32_t op) {
  uint32_t end = nai_node_of_op(d, op) + 1;
  bool joined = d->first[end] < d->first[end + 1] && d->v[d->first[end]].kind == NAI_DEP_COLLECTIVE;
  return (struct nai_stretch){d->first[end], joined ? d->first[end + 1] : d->first[end]};
}

static uint32_t member(const struct nai_dependencies *d, uint32_t i) { return nai_node_op(d, d->v[i].from); }

/* Times of a call and of the code before it that the thread needs itself, not those in which it waits. */
static int64_t own_ns(const struct nai_dependencies *d, uint32_t node) {
  int64_t ns = nai_dep_is_plain(d, node) ? d->time[node] - d->time[node - 1] : 0;
  for (uint32_t i = d->first[node]; i < d->first[node + 1]; i++)
    if (d->v[i].kind == NAI_DEP_HOST || d->v[i].kind == NAI_DEP_CALL)
      ns = d->v[i].weight;
  return ns > 0 ? ns : 0;
}

static enum work work_of(const struct nai_op *op) { return op->type == NAI_OP_COPY ? COPIES : KERNELS; }

static int32_t thread_of(const struct nai_model *m, uint32_t call) {
  return nai_val_i32(&m->apis.thread, m->dependencies->call_api[call]);
}

static void find_calls(struct leg *leg, const struct nai_model *m, uint32_t op_before) {
  const struct nai_dependencies *d = m->dependencies;
  uint32_t from = d->op_call[op_before], to = d->op_call[leg->op];
  if (from == NAI_NO_ROW || to == NAI_NO_ROW || from >= to || thread_of(m, from) != thread_of(m, to))
    return;
  leg->call = from + 1;
  leg->end = to + 1;
  for (uint32_t call = leg->call; call < leg->end; call++) {
    leg->ns[CODE] += own_ns(d, 2 * call);
    leg->ns[CALLS] += own_ns(d, 2 * call + 1);
  }
}

static void find_legs(struct balancing *b, uint32_t gpu) {
  const struct nai_model *m = b->e->m;
  const struct nai_dependencies *d = m->dependencies;
  struct nai_stretch ops = b->e->w->ops[gpu];
  struct leg next = {.first = d->first_op[gpu] + ops.first, .set = NAI_NO_ROW};
  uint32_t last = NAI_NO_ROW;
  for (uint32_t op = d->first_op[gpu] + ops.first; op < d->first_op[gpu] + ops.end; op++) {
    const struct nai_op *o = nai_dep_op(m, op);
    struct nai_stretch members = members_of(d, op);
    if (members.first == members.end) {
      next.ns[work_of(o)] += o->communication ? 0 : d->time[nai_node_of_op(d, op) + 1] - d->time[nai_node_of_op(d, op)];
      continue;
    }
    next.op = op;
    next.before = next.set;
    next.set = op;
    for (uint32_t i = members.first; i < members.end; i++)
      next.set = member(d, i) < next.set ? member(d, i) : next.set;
    if (last != NAI_NO_ROW)
      find_calls(&next, m, last);
    b->leg_of_op[op] = b->count;
    b->legs[b->count++] = next;
    next = (struct leg){.first = op + 1, .set = next.set};
    last = op;
  }
}

/* --- who is late, and how fast the others are ------------------------------------------------- */

/* Whether all members are there and came from the same collective. */
static bool comparable(const struct balancing *b, const struct leg *leg, struct nai_stretch members) {
  const struct nai_dependencies *d = b->e->m->dependencies;
  for (uint32_t i = members.first; i < members.end; i++) {
    uint32_t at = b->leg_of_op[member(d, i)];
    const struct leg *other = &b->legs[at];
    if (at == NAI_NO_ROW || other->before != leg->before || other->before == NAI_NO_ROW)
      return false;
  }
  return true;
}

/* Whether of each member the calls are known, made by a thread that launches no other. */
static bool own_threads(const struct balancing *b, const struct leg *leg, struct nai_stretch members) {
  const struct nai_model *m = b->e->m;
  const struct nai_dependencies *d = m->dependencies;
  for (uint32_t i = members.first; i < members.end; i++) {
    const struct leg *other = &b->legs[b->leg_of_op[member(d, i)]];
    if (!other->end || (other != leg && thread_of(m, other->end - 1) == thread_of(m, leg->end - 1)))
      return false;
  }
  return leg->end > 0;
}

static bool is_late(const struct balancing *b, const struct leg *leg, struct nai_stretch members) {
  const struct nai_dependencies *d = b->e->m->dependencies;
  for (uint32_t i = members.first; i < members.end; i++)
    b->room[i - members.first] = d->time[d->v[i].from];
  uint32_t count = members.end - members.first, middle = (count - 1) / 2;
  nai_select_i64(b->room, count, middle);
  return d->time[nai_node_of_op(d, leg->op)] > b->room[middle];
}

/* What the others take: the median, of an even number the faster; favorably the fastest. */
static double factor_of(const struct balancing *b, const struct leg *leg, struct nai_stretch members, enum work work) {
  const struct nai_dependencies *d = b->e->m->dependencies;
  uint32_t count = 0;
  for (uint32_t i = members.first; i < members.end; i++)
    if (member(d, i) != leg->op)
      b->room[count++] = b->legs[b->leg_of_op[member(d, i)]].ns[work];
  uint32_t wanted = b->which == NAI_CASE_HIGH ? 0 : (count - 1) / 2;
  nai_select_i64(b->room, count, wanted);
  double factor = leg->ns[work] > b->room[wanted] ? (double)b->room[wanted] / (double)leg->ns[work] : 1;
  return b->which == NAI_CASE_LOW ? (1 + factor) / 2 : factor;
}

/* --- edits ------------------------------------------------------------------------------------ */

static void speed_up(struct edit *e, const struct leg *leg, const double factors[WORKS]) {
  const struct nai_dependencies *d = e->m->dependencies;
  for (uint32_t op = leg->first; op < leg->op; op++)
    if (!nai_dep_op(e->m, op)->communication)
      e->of.op_factor[op] *= (float)factors[work_of(nai_dep_op(e->m, op))];
  for (uint32_t call = leg->call; call < leg->end; call++) {
    e->of.call_factor[call] *= (float)factors[CALLS];
    e->of.host_cut[call] += (int64_t)((1 - factors[CODE]) * (double)own_ns(d, 2 * call));
  }
  e->edited++;
}

static void balance(struct balancing *b, const struct leg *leg) {
  struct nai_stretch members = members_of(b->e->m->dependencies, leg->op);
  double factors[WORKS];
  if (members.end - members.first < 2 || !comparable(b, leg, members) || !is_late(b, leg, members))
    return;
  for (int work = 0; work < WORKS; work++)
    factors[work] = work >= CODE && !own_threads(b, leg, members) ? 1 : factor_of(b, leg, members, (enum work)work);
  speed_up(b->e, leg, factors);
}

int nai_edit_balance(struct edit *e, enum nai_case which, struct nai_err *err) {
  const struct nai_dependencies *d = e->m->dependencies;
  struct balancing b = {.e = e, .which = which};
  if (!d->quality.collectives)
    return NAI_OK;
  NAI_TRY(nai_edit_op_factors(e, err));
  NAI_TRY(nai_edit_call_factors(e, err));
  NAI_TRY(nai_edit_cuts(e, err));
  NAI_TRY(NAI_NEW(b.legs, e->arena, (size_t)d->quality.collectives, err));
  NAI_TRY(NAI_NEW(b.room, e->arena, (size_t)d->quality.collectives, err));
  NAI_TRY(NAI_NEW_UNSET(b.leg_of_op, e->arena, d->op_count, err));
  memset(b.leg_of_op, 0xff, d->op_count * sizeof *b.leg_of_op); /* NAI_NO_ROW */
  for (uint32_t g = 0; g < e->m->gpu_count; g++)
    find_legs(&b, g);
  for (uint32_t i = 0; i < b.count; i++)
    balance(&b, &b.legs[i]);
  return NAI_OK;
}
