/* The stages: what each depends on and what it does. */
#include "pipeline/state.h"

#include "base/fs.h"
#include "base/threads.h"
#include "render/escape.h"
#include "viewer/viewer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- slots ------------------------------------------------------------------------------------ */

static void add_slot(struct nai_state *s, int stage, const struct nai_schema *schema, struct nai_table **table,
                     bool events, bool report) {
  s->slots[s->slot_count++] = (struct nai_slot){stage, schema, table, events, report};
}

void nai_state_slots(struct nai_state *s) {
  for (int i = 0; i < NAI_IN_COUNT; i++) {
    /* Notes grow while extracting, so they belong to that stage. */
    int stage = i < NAI_IN_NOTES ? NAI_STAGE_PROBE : NAI_STAGE_EXTRACT;
    bool report = i == NAI_IN_CAPTURE || i == NAI_IN_CAPABILITIES || i == NAI_IN_GPUS;
    add_slot(s, stage, nai_ingest_schemas[i], &s->ingest.tables[i], i >= NAI_IN_FIRST_EVENTS, report);
  }
  int n = 0;
  for (int a = 0; nai_analyses[a]; a++)
    for (int t = 0; nai_analyses[a]->schemas[t]; t++)
      add_slot(s, NAI_STAGE_ANALYZE, nai_analyses[a]->schemas[t], &s->analysis[n++], false, true);
  add_slot(s, NAI_STAGE_RECOMMEND, &nai_findings_schema, &s->findings, false, true);
  add_slot(s, NAI_STAGE_RECOMMEND, &nai_evidence_schema, &s->evidence, false, true);
  add_slot(s, NAI_STAGE_TIMELINE, &nai_viewer_data_schema, &s->viewer, false, false);
}

void nai_run_schemas(const struct nai_schema *const **schemas, size_t *count) {
  static const struct nai_schema *list[NAI_MAX_TABLES];
  static size_t n;
  if (!n) {
    for (int a = 0; nai_analyses[a]; a++)
      for (int t = 0; nai_analyses[a]->schemas[t]; t++)
        list[n++] = nai_analyses[a]->schemas[t];
    list[n++] = &nai_gpus;
    list[n++] = &nai_capture;
    list[n++] = &nai_capabilities;
  }
  *schemas = list;
  *count = n;
}

static const struct nai_table *analysis_table(const struct nai_state *s, const char *name) {
  for (int i = 0; i < s->slot_count; i++)
    if (s->slots[i].stage == NAI_STAGE_ANALYZE && strcmp(s->slots[i].schema->name, name) == 0)
      return *s->slots[i].table;
  return NULL;
}

/* --- probe, extract --------------------------------------------------------------------------- */

static uint64_t probe_key(struct nai_state *s) {
  uint64_t key = nai_key_text(nai_key_text(0, "nsys-ai"), NAI_VERSION);
  return nai_key_text(nai_key_int(key, (int64_t)s->trace->identity), s->trace->file_name);
}

static int run_probe(struct nai_state *s, struct nai_err *err) { return nai_probe(&s->ingest, s->trace, err); }

static uint64_t extract_key(struct nai_state *s) {
  const struct nai_options *o = s->options;
  uint64_t key = nai_key_int(probe_key(s), o->trim);
  key = nai_key_int(nai_key_int(key, o->trim ? o->trim_start_ns : 0), o->trim ? o->trim_end_ns : 0);
  return nai_key_bytes(key, o->gpus, o->gpu_count * sizeof *o->gpus);
}

static int run_extract(struct nai_state *s, struct nai_err *err) {
  const struct nai_options *o = s->options;
  struct nai_ingest_options options = {.threads = o->threads,
                                       .trim = o->trim,
                                       .trim_start_ns = o->trim_start_ns,
                                       .trim_end_ns = o->trim_end_ns,
                                       .gpus = o->gpus,
                                       .gpu_count = (int)o->gpu_count,
                                       .directory = s->stages_dir,
                                       .key = extract_key(s)};
  int rc = NAI_OK;
  /* A probe of an earlier run has no notes: those belong to this stage. */
  if (!s->ingest.tables[NAI_IN_NOTES]) {
    nai_ingest_free(&s->ingest);
    rc = nai_probe(&s->ingest, s->trace, err);
  }
  if (!rc)
    rc = nai_extract(&s->ingest, s->trace, &options, err);
  s->events_open = rc == NAI_OK;
  return rc;
}

/* --- model ------------------------------------------------------------------------------------ */

/* Anonymous memory the model and the analyses take, from the row counts and the number of NVTX names: about half as
 * much again as measured on the traces of docs/performance.md and on one in which every range has a name of its own. */
static int64_t memory_need(const struct nai_state *s) {
  static const struct {
    int table, bytes_per_row;
  } needs[] = {{NAI_IN_NVTX, 2},     {NAI_IN_APIS, 12},    {NAI_IN_KERNELS, 44},
               {NAI_IN_MEMOPS, 100}, {NAI_IN_GRAPHS, 100}, {NAI_IN_OSRT, 8}};
  enum { BYTES_PER_NAME = 500 };
  int64_t total = (32 << 20) + (int64_t)s->ingest.tables[NAI_IN_NVTX]->strings.count * BYTES_PER_NAME;
  for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
    total += s->ingest.tables[needs[i].table]->rows * needs[i].bytes_per_row;
  return total;
}

static int build_model(struct nai_state *s, struct nai_err *err) {
  struct nai_table *const *t = s->ingest.tables;
  int64_t need = memory_need(s), limit = s->options->memory_limit_bytes;
  if (limit && need > limit)
    return nai_err_set(
        err, NAI_ELIMIT,
        "the analysis needs about %lld MiB of memory, --memory-limit allows %lld MiB; raise it, or look at a "
        "part of the capture with --trim START END",
        (long long)(need >> 20), (long long)(limit >> 20));
  s->model = (struct nai_model){.kernel_table = t[NAI_IN_KERNELS],
                                .memop_table = t[NAI_IN_MEMOPS],
                                .graph_table = t[NAI_IN_GRAPHS],
                                .api_table = t[NAI_IN_APIS],
                                .sync_table = t[NAI_IN_SYNCS],
                                .nvtx_table = t[NAI_IN_NVTX],
                                .overhead_table = t[NAI_IN_OVERHEAD],
                                .osrt_table = t[NAI_IN_OSRT],
                                .processes = t[NAI_IN_PROCESSES],
                                .threads = t[NAI_IN_THREADS],
                                .gpu_table = t[NAI_IN_GPUS],
                                .configs = t[NAI_IN_KERNEL_CONFIGS],
                                .notes = t[NAI_IN_NOTES],
                                .capture = t[NAI_IN_CAPTURE],
                                .capabilities = t[NAI_IN_CAPABILITIES],
                                .labels = t[NAI_IN_LABELS],
                                .classes = s->classes,
                                .phases = s->phases,
                                .map_nvtx = s->options->map_nvtx,
                                .worker_count = s->options->threads,
                                .scratch_dir = s->out.work};
  s->model_built = true; /* to be freed, whatever comes */
  int rc = nai_model_build(&s->model, err);
  return rc ? rc : nai_kernel_classes_check(s->classes, err);
}

int nai_state_model(struct nai_state *s, struct nai_err *err) {
  if (s->model_built)
    return NAI_OK;
  int rc = s->events_open ? NAI_OK : nai_state_open_events(s, err);
  if (rc == NAI_ESTALE) { /* the files were damaged since: read the trace again */
    nai_ingest_free(&s->ingest);
    rc = run_extract(s, err);
    if (!rc && s->options->keep_stages)
      rc = nai_state_write(s, NAI_STAGE_EXTRACT, err);
  }
  return rc ? rc : build_model(s, err);
}

/* --- analyze ---------------------------------------------------------------------------------- */

static uint64_t analyze_key(struct nai_state *s) {
  return nai_key_int(extract_key(s), (int64_t)s->config_keys[NAI_STAGE_ANALYZE]);
}

/* The analyses in the order they are started. */
struct schedule {
  struct nai_state *state;
  int order[NAI_MAX_TABLES], count;
};

static void plan(struct schedule *schedule) {
  for (int a = 0; nai_analyses[a]; a++) {
    int at = schedule->count++;
    for (; at > 0 && nai_analyses[schedule->order[at - 1]]->cost < nai_analyses[a]->cost; at--)
      schedule->order[at] = schedule->order[at - 1];
    schedule->order[at] = a;
  }
}

static int run_analysis(void *ctx, int task, struct nai_err *err) {
  const struct schedule *schedule = ctx;
  struct nai_state *s = schedule->state;
  int index = schedule->order[task], first = 0;
  for (int a = 0; a < index; a++)
    for (int t = 0; nai_analyses[a]->schemas[t]; t++)
      first++;
  const struct nai_analysis *analysis = nai_analyses[index];
  int rc = analysis->run(&s->analysis[first], &s->model, err);
  for (int t = 0; !rc && analysis->schemas[t]; t++)
    rc = nai_table_check(s->analysis[first + t], err);
  return rc ? nai_err_wrap(err, rc, "analysis \"%s\"", analysis->name) : NAI_OK;
}

static int run_analyze(struct nai_state *s, struct nai_err *err) {
  struct schedule schedule = {.state = s};
  int rc = nai_state_model(s, err);
  for (int i = 0; !rc && i < s->slot_count; i++)
    if (s->slots[i].stage == NAI_STAGE_ANALYZE)
      rc = nai_table_new(s->slots[i].table, s->slots[i].schema, err);
  plan(&schedule);
  return rc ? rc : nai_parallel(s->options->threads, schedule.count, run_analysis, &schedule, err);
}

/* --- recommend -------------------------------------------------------------------------------- */

static uint64_t recommend_key(struct nai_state *s) {
  return nai_key_int(analyze_key(s), (int64_t)s->config_keys[NAI_STAGE_RECOMMEND]);
}

static int run_recommend(struct nai_state *s, struct nai_err *err) {
  const struct nai_table *tables[NAI_MAX_TABLES];
  size_t count = 0;
  for (int i = 0; i < s->slot_count; i++)
    if (s->slots[i].report && s->slots[i].stage < NAI_STAGE_RECOMMEND)
      tables[count++] = *s->slots[i].table;
  struct nai_rules_input input = {tables, count, nai_escape_markdown};
  return nai_rules_evaluate(&s->findings, &s->evidence, s->rules, &input, err);
}

/* --- timeline --------------------------------------------------------------------------------- */

enum { MAX_PLACES = 400, MAX_GAPS = 150 };

/* Adds the rows of a table that have a place on the timeline, but for those that span much of it. */
static size_t add_places(struct nai_interval *places, size_t count, size_t most, const struct nai_table *table,
                         int64_t window) {
  int start, end;
  if (!table || !nai_schema_place(&start, &end, table->schema))
    return count;
  for (int64_t i = 0; i < table->rows && count < most; i++) {
    int64_t a = nai_get_i64(table, i, start), b = nai_get_i64(table, i, end);
    if (a != NAI_NULL_I64 && b != NAI_NULL_I64 && b >= a && b - a <= window / 10)
      places[count++] = (struct nai_interval){a, b};
  }
  return count;
}

/* Where an aggregated timeline keeps every event: what findings cite, then the longest gaps. None for a trace small
 * enough to be embedded as it is, so that its timeline does not depend on the rules. */
static size_t find_places(struct nai_interval places[MAX_PLACES], struct nai_state *s) {
  const struct nai_table *run = analysis_table(s, "run_info");
  static const char *const counts[] = {"kernel_count", "memory_operation_count", "graph_envelope_count",
                                       "api_call_count", "nvtx_range_count"};
  int64_t events = 0;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    events += nai_cell_i64(run, 0, counts[i]);
  if (events <= NAI_VIEWER_MAX_EVENTS)
    return 0;
  int64_t window = nai_cell_i64(run, 0, "window_ns");
  size_t n = add_places(places, 0, MAX_PLACES - MAX_GAPS, s->evidence, window);
  return add_places(places, n, n + MAX_GAPS, analysis_table(s, "gpu_idle_gaps"), window);
}

static uint64_t timeline_key(struct nai_state *s) {
  struct nai_interval places[MAX_PLACES];
  size_t n = find_places(places, s);
  return nai_key_bytes(analyze_key(s), places, n * sizeof *places);
}

static int run_timeline(struct nai_state *s, struct nai_err *err) {
  struct nai_interval places[MAX_PLACES];
  size_t n = find_places(places, s);
  int rc = nai_state_model(s, err);
  return rc ? rc : nai_viewer_data(&s->viewer, &s->model, places, n, err);
}

const struct nai_stage nai_stages[NAI_STAGE_COUNT] = {
    [NAI_STAGE_PROBE] = {"probe", probe_key, run_probe},
    [NAI_STAGE_EXTRACT] = {"extract", extract_key, run_extract},
    [NAI_STAGE_ANALYZE] = {"analyze", analyze_key, run_analyze},
    [NAI_STAGE_RECOMMEND] = {"recommend", recommend_key, run_recommend},
    [NAI_STAGE_TIMELINE] = {"timeline", timeline_key, run_timeline},
    [NAI_STAGE_RENDER] = {"render", NULL, nai_state_render},
};

const char *nai_stage_name(int stage) { return nai_stages[stage].name; }
