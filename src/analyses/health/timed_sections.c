/* What programs time with events, and how much of that is not their work: loading, compiling, the profiler. */
#include "analyses/health/health_facts.h"
#include "model/calls/call_kind.h"
#include "table/intervals.h"
#include "tables/overhead_events.h"

#include <stdlib.h>
#include <string.h>

enum { FOREIGN_PARTS = 10, LEAST_FOREIGN_NS = 100 * 1000 }; /* a tenth of a section, and no less than this */

enum role { OTHER, RECORD, LAUNCH };
static enum role role_of(const char *name) {
  bool record = strncmp(name, "cudaEventRecord", 15) == 0 || strncmp(name, "cuEventRecord", 13) == 0;
  return record ? RECORD : nai_call_kind_of(name) == NAI_CALL_LAUNCH ? LAUNCH : OTHER;
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
    enum role role = (enum role)roles[nai_at_text(&m->apis.name, api)];
    if (role == RECORD && section.begin != NAI_NO_ROW && section.launches && !section.closed)
      section.closed = true;
    else if (role == RECORD)
      section = (struct section){.begin = api};
    else if (role == LAUNCH)
      section.launches++;
    else if (section.closed && nai_model_api_blocks(m, api)) {
      take_section(out, foreign, nai_at(&m->apis.start_ns, section.begin), nai_at(&m->apis.end_ns, api));
      section = (struct section){.begin = NAI_NO_ROW};
    }
  }
}

/* Where the profiler was at work. */
static int profiler_times(struct nai_intervals *out, const struct nai_model *m, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_OVERHEAD];
  struct nai_interval *v = malloc(((size_t)t->rows + 1) * sizeof *v);
  size_t count = 0;
  for (int64_t i = 0; v && i < t->rows; i++)
    if (nai_is_profilers(m, i))
      v[count++] =
          (struct nai_interval){nai_get_i64(t, i, OVERHEAD_EVENTS_start_ns), nai_get_i64(t, i, OVERHEAD_EVENTS_end_ns)};
  if (v)
    nai_intervals_gather(out, v, count);
  bool ok = v && !out->oom;
  free(v);
  return ok ? NAI_OK : nai_err_nomem(err);
}

int nai_timed_sections_collect(struct nai_timed_sections *out, const struct nai_model *m,
                               const struct nai_intervals *once, struct nai_err *err) {
  const struct nai_strings *names = &m->tables[NAI_IN_APIS]->strings;
  struct nai_intervals profiler = {0}, both = {0};
  struct nai_coverage foreign = {0};
  uint8_t *roles = malloc((size_t)names->count + 1);
  bool records = false;
  *out = (struct nai_timed_sections){0};
  for (uint32_t i = 0; roles && i < names->count; i++) {
    roles[i] = (uint8_t)role_of(nai_strings_get(names, i));
    records = records || roles[i] == RECORD;
  }
  int rc = roles ? NAI_OK : nai_err_nomem(err);
  if (!rc && records)
    rc = profiler_times(&profiler, m, err);
  if (!rc && records) {
    nai_intervals_union(&both, once, &profiler);
    rc = nai_coverage_new(&foreign, &both, err);
  }
  for (uint32_t t = 0; !rc && records && t < m->thread_count; t++)
    look_at_thread(out, m, t, roles, &foreign);
  nai_coverage_free(&foreign);
  nai_intervals_free(&both);
  nai_intervals_free(&profiler);
  free(roles);
  return rc;
}
