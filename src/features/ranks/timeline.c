/* All ranks of a job on one timeline, by the clock of one of them. */
#include "features/ranks/timeline.h"

#include "features/export/command.h"

/* So much lies before the first trace, or its first operation of a GPU, for what is recorded earlier. */
static const int64_t BEFORE_NS = 1000000000;

/* A source, and what is known of its clock. */
struct trace {
  struct nai_ranks *r;
  uint32_t source;
  struct nai_export_place place;
  struct nai_keyset kernels;
  struct nai_export_collective *collectives;
  uint32_t capacity;
  struct nai_arena arena;
};
static void trace_free(struct trace *t) { nai_arena_free(&t->arena); }

/* The rank whose clock most others are compared with, the first of equals; NAI_NO_RANK for none. */
static uint32_t common_reference(const struct nai_ranks *r) {
  uint32_t best = NAI_NO_RANK, most = 0;
  if (r->source_count == 1) /* has one clock, whatever its ranks have in common */
    return 0;
  for (uint32_t of = 0; of < r->rank_count; of++) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->rank_count; i++)
      count += r->ranks[i].reference == of && r->ranks[i].residual != NAI_NULL_I64;
    best = count > most ? of : best;
    most = count > most ? count : most;
  }
  return best;
}

/* Of a source the rank that tells its clock, NULL for none. */
static const struct nai_job_rank *clock_of(const struct nai_ranks *r, uint32_t source, uint32_t reference) {
  if (r->ranks[reference].source == source)
    return &r->ranks[reference];
  for (uint32_t i = 0; i < r->rank_count; i++)
    if (r->ranks[i].source == source && r->ranks[i].reference == reference && r->ranks[i].residual != NAI_NULL_I64)
      return &r->ranks[i];
  return NULL;
}

/* The only rank's, else the trace's name. */
static int put_label(struct nai_buf *out, const struct nai_ranks *r, uint32_t source, struct nai_err *err) {
  const struct nai_job_rank *only = NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; i < r->rank_count; i++)
    if (r->ranks[i].source == source)
      only = &r->ranks[i], count++;
  if (count == 1)
    nai_buf_puts(out, only->label);
  else
    nai_ranks_put_name(out, r->sources[source].path);
  return nai_buf_check(out, err);
}

/* --- collectives -------------------------------------------------------------------------------- */

static int add_call(struct trace *t, const struct nai_rank_group *group, uint32_t member, uint32_t k, uint64_t flow,
                    struct nai_err *err) {
  const struct nai_rank_call *call = nai_ranks_call(t->r, group, member, k);
  uint32_t last = nai_ranks_late_rank(t->r, group, k);
  int64_t wait = call->end - call->start - group->transfer[k];
  int64_t device = t->r->ranks[t->r->lines[t->r->members[group->first + member]].rank].device;
  bool added;
  uint32_t i = nai_keyset_add(&t->kernels, nai_export_kernel_key(call->start, device), &added);
  NAI_TRY(nai_memory_check(!t->kernels.oom, err));
  NAI_TRY(NAI_ROOM(t->collectives, t->capacity, i, &t->arena, err));
  t->collectives[i] = (struct nai_export_collective){.end = call->end,
                                                     .flow = flow,
                                                     .wait_ns = t->r->whats[call->what].together ? wait : -1,
                                                     .last_rank = last == NAI_NO_RANK ? NULL : t->r->ranks[last].label};
  return NAI_OK;
}

static int add_collectives(struct trace *t, struct nai_err *err) {
  const struct nai_ranks *r = t->r;
  uint64_t flow = 0;
  for (const struct nai_rank_group *group = r->groups; group < r->groups + r->group_count; group++)
    for (uint32_t k = 0; k < group->collectives; k++, flow++)
      for (uint32_t member = 0; member < group->count; member++)
        if (r->ranks[r->lines[r->members[group->first + member]].rank].source == t->source)
          NAI_TRY(add_call(t, group, member, k, flow, err));
  return NAI_OK;
}

/* --- the file ----------------------------------------------------------------------------------- */

static int put_trace(struct nai_buf *out, struct nai_ranks *r, uint32_t source, const struct nai_export_place *place,
                     struct nai_err *err) {
  NAI_SCOPED(trace) t = {.r = r, .source = source, .place = *place, .arena = NAI_ARENA(NULL)};
  struct nai_cmd_timeline how = {.write = nai_export_perfetto, .quiet = true};
  t.kernels.arena = &t.arena;
  NAI_TRY(add_collectives(&t, err));
  t.place.kernels = &t.kernels;
  t.place.collectives = t.collectives;
  how.options =
      (struct nai_export_options){.place = &t.place, .gpu = INT64_MIN, .start_ns = INT64_MIN, .end_ns = INT64_MAX};
  return nai_cmd_put_timeline(out, r->sources[source].run, &how, err);
}

/* Added to all times, so that none is negative. */
static int64_t shift_of(const struct nai_ranks *r, uint32_t reference) {
  int64_t shift = 0;
  for (uint32_t source = 0; source < r->source_count; source++) {
    const struct nai_job_rank *clock = clock_of(r, source, reference);
    if (!clock)
      continue;
    int64_t before = (clock == &r->ranks[reference] ? 0 : clock->ahead) - r->sources[source].first_ns;
    shift = before > shift ? before : shift;
  }
  return shift + BEFORE_NS;
}

bool nai_ranks_place(struct nai_export_place *out, const struct nai_ranks *r, uint32_t source) {
  uint32_t reference = common_reference(r);
  const struct nai_job_rank *clock = reference == NAI_NO_RANK ? NULL : clock_of(r, source, reference);
  if (!clock)
    return false;
  *out = (struct nai_export_place){.reference = clock == &r->ranks[reference], .shift = shift_of(r, reference)};
  if (out->reference)
    return true;
  out->offset = clock->ahead;
  out->middle = clock->middle;
  out->drift = clock->drift;
  out->doubt = 3 * clock->residual;
  return true;
}

uint32_t nai_ranks_on_timeline(const struct nai_ranks *r) {
  struct nai_export_place place;
  uint32_t count = 0;
  for (uint32_t source = 0; source < r->source_count; source++)
    count += nai_ranks_place(&place, r, source);
  return count;
}

int nai_ranks_put_timeline(struct nai_buf *out, struct nai_ranks *r, struct nai_err *err) {
  uint32_t shown = nai_ranks_on_timeline(r), count = 0;
  struct nai_export_place place;
  if (!shown || (shown == 1 && r->source_count > 1))
    return nai_err_set(err, NAI_EINPUT, "no timeline: the ranks have no collectives in common that tell their clocks");
  for (uint32_t source = 0; source < r->source_count; source++) {
    NAI_SCOPED(nai_buf) label = {0};
    if (!nai_ranks_place(&place, r, source))
      continue;
    NAI_TRY(put_label(&label, r, source, err));
    place.number = count++;
    place.label = nai_buf_str(&label);
    NAI_TRY(put_trace(out, r, source, &place, err));
  }
  return NAI_OK;
}
