/* All ranks of a job on one timeline, by the clock of one of them. */
#include "features/ranks/timeline.h"

#include "features/export/command.h"

enum { MOST_FLOWS = 100000 };

/* What all traces have in common. */
struct job {
  struct nai_ranks *r;
  bool *whole;    /* by source: all of its events are written */
  int64_t enough; /* flows are of collectives whose first rank waits for so long */
};

/* A source, and what is known of its clock. */
struct trace {
  const struct job *job;
  uint32_t source;
  struct nai_export_place place;
  struct nai_keyset kernels;
  struct nai_export_collective *collectives;
  uint32_t capacity;
  struct nai_arena arena;
};
static void trace_free(struct trace *t) { nai_arena_free(&t->arena); }

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

static uint32_t source_of(const struct nai_ranks *r, const struct nai_rank_group *group, uint32_t member) {
  return r->ranks[r->lines[r->members[group->first + member]].rank].source;
}

static bool has_flows(const struct job *job, const struct nai_rank_group *group, uint32_t k) {
  uint32_t late = group->late[k];
  return group->skew[k] >= job->enough && (late == NAI_NO_RANK || job->whole[source_of(job->r, group, late)]);
}

/* From the last to arrive one to each of those that waited; where nobody is known to be, one through all by time. */
static void put_flows(struct nai_export_collective *out, const struct job *job, const struct nai_rank_group *group,
                      uint32_t member, uint32_t k, uint32_t flow) {
  if (!has_flows(job, group, k))
    return;
  uint32_t late = group->late[k];
  bool last = late == member, unknown = late == NAI_NO_RANK;
  out->first_flow = flow;
  out->flow_count = last ? group->count - 1 : unknown;
  out->ends_flow = last || unknown ? 0 : flow + member - (member > late) + 1;
}

static int add_call(struct trace *t, const struct nai_rank_group *group, uint32_t member, uint32_t k, uint32_t flow,
                    struct nai_err *err) {
  const struct nai_ranks *r = t->job->r;
  const struct nai_rank_call *call = nai_ranks_call(r, group, member, k);
  uint32_t last = nai_ranks_late_rank(r, group, k);
  int64_t wait = call->end - call->start - group->transfer[k];
  int64_t device = r->ranks[r->lines[r->members[group->first + member]].rank].device;
  bool added;
  uint32_t i = nai_keyset_add(&t->kernels, nai_export_kernel_key(call->start, device), &added);
  NAI_TRY(nai_memory_check(!t->kernels.oom, err));
  NAI_TRY(NAI_ROOM(t->collectives, t->capacity, i, &t->arena, err));
  t->collectives[i] = (struct nai_export_collective){.end = call->end,
                                                     .wait_ns = r->whats[call->what].together ? wait : -1,
                                                     .last_rank = last == NAI_NO_RANK ? NULL : r->ranks[last].label};
  put_flows(&t->collectives[i], t->job, group, member, k, flow);
  return NAI_OK;
}

static int add_collectives(struct trace *t, struct nai_err *err) {
  const struct nai_ranks *r = t->job->r;
  uint32_t flow = 0;
  for (const struct nai_rank_group *group = r->groups; group < r->groups + r->group_count; group++)
    for (uint32_t k = 0; k < group->collectives; k++, flow += group->count)
      for (uint32_t member = 0; member < group->count; member++)
        if (source_of(r, group, member) == t->source)
          NAI_TRY(add_call(t, group, member, k, flow, err));
  return NAI_OK;
}

/* --- what is written ---------------------------------------------------------------------------- */

/* Of many traces those of the ranks that are latest, and the one that has the clock. */
static int choose(struct job *job, const struct nai_ranks_report *report, uint32_t shown, struct nai_arena *arena,
                  struct nai_err *err) {
  const struct nai_ranks *r = job->r;
  uint32_t count = 1;
  NAI_TRY(NAI_NEW(job->whole, arena, r->source_count, err));
  job->whole[r->common] = true;
  for (uint32_t s = 0; s < r->source_count && shown <= NAI_EXPORT_MAX_PLACES; s++)
    job->whole[s] = true;
  for (uint32_t n = 0; n < r->rank_count && shown > NAI_EXPORT_MAX_PLACES && count < NAI_EXPORT_MAX_PLACES; n++) {
    uint32_t s = r->ranks[report->latest[n].value].source;
    count += !job->whole[s] && r->sources[s].timed;
    job->whole[s] |= r->sources[s].timed;
  }
  return NAI_OK;
}

/* Viewers draw so many flows: those of the longest waits. */
static int limit_flows(struct job *job, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_ranks *r = job->r;
  struct nai_key *keys;
  size_t count = 0;
  uint64_t flows = 0;
  NAI_TRY(NAI_NEW(keys, arena, (size_t)r->collectives, err));
  for (uint32_t g = 0; g < r->group_count; g++)
    for (uint32_t k = 0; k < r->groups[g].collectives; k++)
      keys[count++] = (struct nai_key){UINT64_MAX - (uint64_t)r->groups[g].skew[k], r->groups[g].count};
  NAI_TRY(nai_sort_keys(keys, count, err));
  for (size_t i = 0; i < count; i++) {
    flows += keys[i].value;
    if (flows > MOST_FLOWS) {
      job->enough = (int64_t)(UINT64_MAX - keys[i].key) + 1;
      break;
    }
  }
  return NAI_OK;
}

static int put_trace(struct nai_buf *out, const struct job *job, uint32_t source, const struct nai_export_place *place,
                     struct nai_err *err) {
  NAI_SCOPED(trace) t = {.job = job, .source = source, .place = *place, .arena = NAI_ARENA(NULL)};
  struct nai_cmd_timeline how = {.write = nai_export_perfetto, .quiet = true};
  t.kernels.arena = &t.arena;
  NAI_TRY(add_collectives(&t, err));
  t.place.kernels = &t.kernels;
  t.place.collectives = t.collectives;
  how.options =
      (struct nai_export_options){.place = &t.place, .gpu = INT64_MIN, .start_ns = INT64_MIN, .end_ns = INT64_MAX};
  return nai_cmd_put_timeline(out, job->r->sources[source].run, &how, err);
}

static int put_bins(struct nai_buf *out, const struct nai_ranks_report *report, uint32_t rank,
                    const struct nai_export_place *place, struct nai_err *err) {
  const struct nai_export_bins bins = {.first_ns = report->axis.first_ns,
                                       .width_ns = report->axis.width_ns,
                                       .count = NAI_RANKS_BUCKETS,
                                       .states = NAI_RANKS_STATES,
                                       .names = nai_ranks_states,
                                       .ns = nai_ranks_bin(&report->axis, rank, 0)};
  return report->axis.width_ns ? nai_export_perfetto_bins(out, place, &bins, err) : NAI_OK;
}

int nai_ranks_put_timeline(struct nai_buf *out, const struct nai_ranks_report *report, struct nai_ranks *r,
                           struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  uint32_t shown = nai_ranks_on_timeline(r), count = 0;
  struct job job = {.r = r};
  struct nai_export_place place;
  if (!shown || (shown == 1 && r->source_count > 1))
    return nai_err_set(err, NAI_EINPUT,
                       "no timeline: the ranks share no collectives and no host that tell their clocks");
  NAI_TRY(choose(&job, report, shown, &arena, err));
  NAI_TRY(limit_flows(&job, &arena, err));
  for (uint32_t source = 0; source < r->source_count; source++) {
    NAI_SCOPED(nai_buf) label = {0};
    if (!job.whole[source] || !nai_ranks_place(&place, r, source))
      continue;
    NAI_TRY(put_label(&label, r, source, err));
    place.number = count++;
    place.label = nai_buf_str(&label);
    NAI_TRY(put_trace(out, &job, source, &place, err));
  }
  for (uint32_t i = 0; i < r->rank_count; i++) {
    if (job.whole[r->ranks[i].source] || !nai_ranks_place(&place, r, r->ranks[i].source))
      continue;
    place.number = count++;
    place.label = r->ranks[i].label;
    NAI_TRY(put_bins(out, report, i, &place, err));
  }
  return NAI_OK;
}
