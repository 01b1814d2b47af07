/* What programs time with events, and how much of that is not their work: loading, compiling, the profiler. */
#include "analyses/health/health.h"
#include "model/calls/call_class.h"
#include "model/health/capture.h"
#include "tables/overhead_events.h"

enum { FOREIGN_PARTS = 10, LEAST_FOREIGN_NS = 100 * 1000 }; /* a tenth of a section, and no less than this */

enum role { OTHER, RECORD, LAUNCH };
static enum role role_of(const char *name) {
  enum nai_call_class class = nai_call_class_of(name);
  return class == NAI_CALL_CLASS_RECORD ? RECORD : nai_call_kind_of(name) == NAI_CALL_LAUNCH ? LAUNCH : OTHER;
}

/* A pair of records with launches between them, until something waits. */
struct section {
  uint32_t begin; /* rows of api_events, NAI_NO_ROW for none */
  int64_t launches;
  bool closed; /* by a second record */
};

static void take_section(struct nai_timed_sections *out, struct nai_coverage *foreign, int64_t start, int64_t end) {
  int64_t ns = nai_coverage_overlap_ns(foreign, start, end);
  out->count++;
  if (ns < LEAST_FOREIGN_NS || ns < (end - start) / FOREIGN_PARTS)
    return;
  out->bent_count++;
  if (ns <= out->foreign_ns)
    return;
  out->foreign_ns = ns;
  out->start = start;
  out->end = end;
}

static void look_at_thread(struct nai_timed_sections *out, const struct nai_model *m, uint32_t thread,
                           const uint8_t *roles, struct nai_coverage *foreign) {
  const struct nai_groups *g = &m->api_by_thread;
  struct section section = {.begin = NAI_NO_ROW};
  for (uint32_t k = g->first[thread]; k < g->first[thread + 1]; k++) {
    uint32_t api = g->order[k];
    enum role role = (enum role)roles[nai_val_text(&m->apis.name, api)];
    if (role == RECORD && section.begin != NAI_NO_ROW && section.launches && !section.closed)
      section.closed = true;
    else if (role == RECORD)
      section = (struct section){.begin = api};
    else if (role == LAUNCH)
      section.launches++;
    else if (section.closed && nai_model_api_blocks(m, api)) {
      take_section(out, foreign, nai_val(&m->apis.start_ns, section.begin), nai_val(&m->apis.end_ns, api));
      section = (struct section){.begin = NAI_NO_ROW};
    }
  }
}

/* What is paid once, and where the profiler was at work. */
static int foreign_times(struct nai_intervals *out, const struct nai_node_io *io, const struct nai_intervals *once,
                         struct nai_err *err) {
  const struct OVERHEAD_EVENTS_columns c = OVERHEAD_EVENTS_columns_of(io->model->tables[NAI_IN_OVERHEAD]);
  struct nai_intervals profiler = {.arena = io->arena};
  struct nai_interval *v;
  size_t count = 0;
  NAI_TRY(NAI_NEW(v, io->arena, c.n, err));
  for (uint32_t i = 0; i < c.n; i++)
    if (nai_is_profilers(io->model, i))
      v[count++] = (struct nai_interval){nai_val(&c.start_ns, i), nai_val(&c.end_ns, i)};
  nai_intervals_gather(&profiler, v, count);
  nai_intervals_union(out, once, &profiler);
  return profiler.oom || out->oom ? nai_err_nomem(err) : NAI_OK;
}

int nai_timed_sections_collect(struct nai_timed_sections *out, const struct nai_node_io *io,
                               const struct nai_intervals *once, struct nai_err *err) {
  const struct nai_strings *names = &io->model->tables[NAI_IN_APIS]->strings;
  struct nai_intervals both = {.arena = io->arena};
  struct nai_coverage foreign;
  uint8_t *roles;
  bool records = false;
  *out = (struct nai_timed_sections){0};
  NAI_TRY(NAI_NEW(roles, io->arena, names->count, err));
  for (uint32_t i = 0; i < names->count; i++) {
    roles[i] = (uint8_t)role_of(nai_strings_get(names, i));
    records = records || roles[i] == RECORD;
  }
  if (!records)
    return NAI_OK;
  NAI_TRY(foreign_times(&both, io, once, err));
  NAI_TRY(nai_coverage_in(&foreign, &both, io->arena, err));
  for (uint32_t t = 0; t < io->model->thread_count; t++)
    look_at_thread(out, io->model, t, roles, &foreign);
  return NAI_OK;
}
