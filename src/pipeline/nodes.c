/* The stages, and the nodes that are no analyses: reading the trace, rules, the page's timeline. */
#include "pipeline/simulate.h"
#include "pipeline/state.h"

#include "analyses/analysis.h"
#include "base/escape.h"
#include "tables/capabilities.h"
#include "tables/capture.h"
#include "tables/critical_path_summary.h"
#include "tables/evidence.h"
#include "tables/findings.h"
#include "tables/gpus.h"
#include "tables/idle_patterns.h"
#include "tables/known_findings.h"
#include "tables/labels.h"
#include "tables/metrics.h"
#include "tables/probe_notes.h"
#include "tables/repeating_units.h"
#include "tables/run_info.h"
#include "tables/timeline_places.h"
#include "tables/viewer_data.h"
#include "tables/what_if.h"
#include "tables/what_if_plan.h"
#include "viewer/viewer.h"

/* --- probe, extract --------------------------------------------------------------------------- */

/* The tables that probe makes come first among nai_event_tables, those of extract follow; from here on: */
enum { FIRST_OF_EXTRACT = NAI_IN_CAPABILITIES };

/* Hands the tables of an ingest, from the first on, over to the node that makes them. */
static void hand_over(const struct nai_node_io *io, struct nai_ingest *from, int first, int end) {
  for (int i = first; i < end; i++) {
    io->out[i - first] = from->tables[i];
    from->tables[i] = NULL;
  }
}

static int run_probe(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_state *s = io->ctx;
  NAI_SCOPED(nai_ingest) in = {0};
  NAI_TRY(nai_probe(&in, s->trace, s->wanted, err));
  hand_over(io, &in, 0, FIRST_OF_EXTRACT);
  return NAI_OK;
}

static const struct nai_node probe = {.name = "probe",
                                      .outputs =
                                          NAI_SCHEMAS(&nai_capture_schema, &nai_labels_schema, &nai_probe_notes_schema),
                                      .config = NAI_CONFIG(TRACE),
                                      .creates = true,
                                      .run = run_probe};

static int run_extract(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_state *s = io->ctx;
  const struct nai_options *o = s->options;
  NAI_SCOPED(nai_ingest) in = {0};
  const struct nai_ingest_options options = {.threads = o->threads,
                                             .trim = o->trim,
                                             .trim_start_ns = o->trim_start_ns,
                                             .trim_end_ns = o->trim_end_ns,
                                             .show_output = o->show_output,
                                             .gpus = o->gpus,
                                             .gpu_count = (int)o->gpu_count,
                                             .tables = s->wanted,
                                             .key = io->key,
                                             .directory = s->stages_dir};
  for (int i = 0; i < FIRST_OF_EXTRACT; i++)
    in.tables[i] = (struct nai_table *)io->in[i]; /* only looked at */
  int rc = nai_probe_capabilities(&in.tables[NAI_IN_CAPABILITIES], s->trace, s->wanted, err);
  if (!rc)
    rc = nai_extract(&in, s->trace, &options, err);
  for (int i = 0; i < FIRST_OF_EXTRACT; i++)
    in.tables[i] = NULL;
  NAI_TRY(rc);
  hand_over(io, &in, FIRST_OF_EXTRACT, NAI_IN_COUNT);
  return NAI_OK;
}

static const struct nai_node extract = {.name = "extract",
                                        .outputs = nai_event_tables + FIRST_OF_EXTRACT,
                                        .inputs = NAI_SCHEMAS(&nai_capture_schema, &nai_labels_schema,
                                                              &nai_probe_notes_schema),
                                        .config = NAI_CONFIG(TRACE) | NAI_CONFIG(SELECTION) | NAI_CONFIG(SOURCES),
                                        .creates = true,
                                        .late = nai_event_tables + NAI_IN_FIRST_EVENTS,
                                        .run = run_extract};

/* --- recommend -------------------------------------------------------------------------------- */

static int run_findings(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_state *s = io->ctx;
  size_t count = 0;
  NAI_SCOPED(nai_simulation) simulation = {.model = io->model, .arena = io->arena};
  for (; io->in[count]; count++)
    if (io->in[count]->schema == &nai_critical_path_summary_schema)
      simulation.path_summary = io->in[count];
  const struct nai_rules_input input = {io->in, count, nai_escape_markdown, nai_simulate_findings, &simulation};
  NAI_TRY(nai_rules_evaluate(&io->out[0], &io->out[1], s->rules, &input, err));
  NAI_TRY(nai_table_new(&io->out[2], &nai_what_if_schema, err));
  NAI_TRY(nai_table_new(&io->out[3], &nai_what_if_plan_schema, err));
  return nai_simulation_write(io->out[2], io->out[3], &simulation, io->out[0], err);
}

/* Simulated savings decide the order of findings, so both are made at once. */
static const struct nai_node findings = {.name = "findings",
                                         .outputs = NAI_SCHEMAS(&nai_findings_schema, &nai_evidence_schema,
                                                                &nai_what_if_schema, &nai_what_if_plan_schema),
                                         .reads_report = true,
                                         .parts = NAI_PART(DEPENDENCIES) | NAI_PART(STEPS) | NAI_PART(NVTX_TREE) |
                                                  NAI_PART(EVIDENCE) | NAI_PART(NAMES) | NAI_PART(GPUS),
                                         .tables = NAI_IN(APIS) | NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(THREADS) |
                                                   NAI_IN(PROCESSES) | NAI_IN(NVTX) | NAI_IN(LABELS),
                                         .config = NAI_CONFIG(RULES),
                                         .cost = 2,
                                         .creates = true,
                                         .run = run_findings};

/* Numbers by which runs are compared: of the same tables as findings, and no part of what findings read. */

static int run_metrics(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_state *s = io->ctx;
  return nai_metrics_evaluate(&io->out[0], s->metrics, io->in, err);
}

static const struct nai_node metrics = {.name = "metrics",
                                        .outputs = NAI_SCHEMAS(&nai_metrics_schema),
                                        .reads_report = true,
                                        .config = NAI_CONFIG(METRICS),
                                        .creates = true,
                                        .run = run_metrics};

/* Which of the findings --known lists. */

static int run_known(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_state *s = io->ctx;
  return nai_known_apply(io->out[0], &s->known, io->in[0], err);
}

static const struct nai_node known = {.name = "known_findings",
                                      .outputs = NAI_SCHEMAS(&nai_known_findings_schema),
                                      .inputs = NAI_SCHEMAS(&nai_findings_schema),
                                      .config = NAI_CONFIG(KNOWN),
                                      .run = run_known};

/* --- timeline --------------------------------------------------------------------------------- */

/* Where an aggregated timeline keeps every event: what findings cite, then the longest gap of each pattern. A table of
 * its own, so that rules that cite the same places leave the timeline as it is. */

/* Adds the places that a table's rows have on the timeline, until there are `most`; those that span much of it are left
 * out. */
static void add_places(struct nai_table *places, int64_t most, const struct nai_table *table, int64_t window_ns) {
  int start, end;
  if (!nai_schema_place(&start, &end, table->schema))
    return;
  for (int64_t i = 0; i < table->rows && places->rows < most; i++) {
    int64_t a = nai_get_i64(table, i, start), b = nai_get_i64(table, i, end);
    if (a == NAI_NULL_I64 || b == NAI_NULL_I64 || b < a || b - a > window_ns / 10)
      continue;
    NAI_ADD(TIMELINE_PLACES, places, .start_ns = a, .end_ns = b);
  }
}

static int run_places(const struct nai_node_io *io, struct nai_err *err) {
  enum { MAX_PLACES = 400, MAX_GAPS = 150 };
  static const int counts[] = {RUN_INFO_kernel_count, RUN_INFO_memory_operation_count, RUN_INFO_graph_envelope_count,
                               RUN_INFO_api_call_count, RUN_INFO_nvtx_range_count};
  const struct nai_table *run_info = io->in[0], *evidence = io->in[1], *patterns = io->in[2];
  int64_t events = 0, window_ns = nai_get_i64(run_info, 0, RUN_INFO_window_ns);
  const struct nai_state *state = io->ctx;
  int most = state->options->page_events;
  most = most < NAI_VIEWER_SURE_EVENTS ? most : NAI_VIEWER_SURE_EVENTS;
  (void)err;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    events += nai_get_i64(run_info, 0, counts[i]);
  if (events <= most)
    return NAI_OK;
  add_places(io->out[0], MAX_PLACES - MAX_GAPS, evidence, window_ns);
  add_places(io->out[0], io->out[0]->rows + MAX_GAPS, patterns, window_ns);
  return NAI_OK;
}

static const struct nai_node places = {.name = "timeline_places",
                                       .outputs = NAI_SCHEMAS(&nai_timeline_places_schema),
                                       .inputs = NAI_SCHEMAS(&nai_run_info_schema, &nai_evidence_schema,
                                                             &nai_idle_patterns_schema),
                                       .config = NAI_CONFIG(PAGE_EVENTS),
                                       .run = run_places};

static int run_timeline(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_table *at = io->in[0];
  struct nai_interval *list;
  NAI_TRY(NAI_NEW(list, io->arena, (size_t)at->rows, err));
  for (int64_t i = 0; i < at->rows; i++)
    list[i] =
        (struct nai_interval){nai_get_i64(at, i, TIMELINE_PLACES_start_ns), nai_get_i64(at, i, TIMELINE_PLACES_end_ns)};
  return nai_viewer_data(&io->out[0], io->model, &(struct nai_viewer_input){list, (size_t)at->rows, io->in[1]}, err);
}

static const struct nai_node timeline = {
    .name = "timeline",
    .outputs = NAI_SCHEMAS(&nai_viewer_data_schema),
    .inputs = NAI_SCHEMAS(&nai_timeline_places_schema, &nai_repeating_units_schema),
    .parts = NAI_VIEWER_PARTS | NAI_PART(CPU) | NAI_PART(ACTIVE) | NAI_PART(IDLE) | NAI_PART(EVIDENCE),
    .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(NVTX) | NAI_IN(THREADS) |
              NAI_IN(PROCESSES) | NAI_IN(GPUS) | NAI_IN(KERNEL_CONFIGS) | NAI_IN(LABELS) | NAI_IN(OVERHEAD) |
              NAI_IN(MPI) | NAI_IN(OPENACC) | NAI_IN(OSRT) | NAI_IN(SCHED) | NAI_IN(SAMPLES) | NAI_IN(CALLCHAINS) |
              NAI_IN(STREAMS) | NAI_IN(STREAM_NAMES) | NAI_IN(FILES) | NAI_IN(FILE_NAMES) | NAI_IN(HOST_FUNCTIONS),
    .config = NAI_CONFIG(PAGE_EVENTS),
    .creates = true,
    .run = run_timeline};

/* --- stages ----------------------------------------------------------------------------------- */

static const struct nai_node *const probe_nodes[] = {&probe, NULL};
static const struct nai_node *const extract_nodes[] = {&extract, NULL};
static const struct nai_node *const no_nodes[] = {NULL};
static const struct nai_node *const recommend_nodes[] = {&findings, &metrics, NULL};
const struct nai_node *const nai_recommend_with_known[] = {&findings, &metrics, &known, NULL};
static const struct nai_node *const timeline_nodes[] = {&places, &timeline, NULL};

const struct nai_stage nai_stages[NAI_STAGE_COUNT] = {
    {"probe", probe_nodes, false}, {"extract", extract_nodes, false},    {"analyze", nai_analyses, true},
    {"skills", no_nodes, false},   {"recommend", recommend_nodes, true}, {"timeline", timeline_nodes, false},
    {"render", NULL, false},
};

const struct nai_node *nai_next_node(struct nai_node_walk *w) {
  for (; w->stage < w->end; w->stage++, w->next = 0) {
    const struct nai_node *const *nodes = w->stages[w->stage].nodes;
    if (nodes && nodes[w->next])
      return nodes[w->next++];
  }
  return NULL;
}

size_t nai_state_schemas(const struct nai_schema *list[NAI_REPORT_MAX_TABLES], const struct nai_state *s,
                         int before_stage) {
  size_t n = nai_report_schemas(list, before_stage);
  for (int i = 0; before_stage > NAI_STAGE_SKILLS && s->skills.outputs[i]; i++)
    list[n++] = s->skills.outputs[i];
  if (before_stage > NAI_STAGE_RECOMMEND && s->options->known)
    list[n++] = &nai_known_findings_schema;
  return n;
}

size_t nai_report_schemas(const struct nai_schema *list[NAI_REPORT_MAX_TABLES], int before_stage) {
  static const struct nai_schema *const described[] = {&nai_capture_schema, &nai_capabilities_schema, &nai_gpus_schema};
  size_t n = 0;
  for (size_t i = 0; i < sizeof described / sizeof *described; i++)
    list[n++] = described[i];
  for (int s = 0; s < before_stage; s++)
    for (int i = 0; nai_stages[s].report && nai_stages[s].nodes[i]; i++)
      for (int o = 0; nai_stages[s].nodes[i]->outputs[o]; o++)
        list[n++] = nai_stages[s].nodes[i]->outputs[o];
  return n;
}

/* --- a run without rows ----------------------------------------------------------------------- */

static int hold_empty(struct nai_run *run, const struct nai_schema *schema, struct nai_err *err) {
  struct nai_table *table;
  if (nai_run_find_loaded(run, schema->name))
    return NAI_OK;
  NAI_TRY(nai_table_new(&table, schema, err));
  return nai_run_add(run, table, err);
}

int nai_empty_run(struct nai_run **out, struct nai_err *err) {
  const struct nai_schema *schemas[NAI_REPORT_MAX_TABLES];
  size_t count = nai_report_schemas(schemas, NAI_STAGE_RENDER);
  NAI_OWNED(nai_run) *run = NULL;
  *out = NULL;
  NAI_TRY(nai_run_new(&run, err));
  for (size_t i = 0; i < count; i++)
    NAI_TRY(hold_empty(run, schemas[i], err));
  for (int i = 0; i < NAI_IN_COUNT; i++)
    NAI_TRY(hold_empty(run, nai_event_tables[i], err));
  return NAI_GIVE(out, run);
}
