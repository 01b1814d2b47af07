/* How far can the numbers be trusted? Tables data_quality, run_info. */
#include "analyses/analysis.h"
#include "analyses/health/health_facts.h"
#include "tables/capabilities.h"
#include "tables/data_quality.h"
#include "tables/overhead_events.h"
#include "tables/run_info.h"

#include <string.h>

static int64_t add(struct nai_table *t, const char *check, const char *severity, const char *source, int64_t count,
                   const char *detail) {
  int64_t row = nai_table_add_row(t);
  nai_set_str(t, row, DATA_QUALITY_check, check);
  nai_set_str(t, row, DATA_QUALITY_severity, severity);
  nai_set_str(t, row, DATA_QUALITY_source_table, source);
  nai_set_i64(t, row, DATA_QUALITY_count, count);
  nai_set_str(t, row, DATA_QUALITY_detail, detail);
  return row;
}

static void add_timed(struct nai_table *t, const struct nai_model *m, const char *check, const char *severity,
                      const char *source, int64_t count, int64_t ns, const char *detail) {
  int64_t row = add(t, check, severity, source, count, detail);
  nai_set_i64(t, row, DATA_QUALITY_duration_ns, ns);
  nai_set_f64(t, row, DATA_QUALITY_pct_of_window, nai_percent((double)ns, (double)(m->window_end - m->window_start)));
}

static bool is_of_cuda(const struct nai_model *m, int64_t row) {
  return nai_get_i64(m->tables[NAI_IN_OVERHEAD], row, OVERHEAD_EVENTS_source) != NAI_OVERHEAD_PROFILER;
}
/* Exporters of some years list the loading of code among the profiler's rows. */
static bool is_loading_of_profiler(const struct nai_model *m, int64_t row) {
  return !is_of_cuda(m, row) && nai_is_loading(m, row);
}

/* Overhead inside the GPU window, each kind as a union: several threads flush buffers at once. Returns the profiler's
 * in *ns. */
static int put_overhead(struct nai_table *quality, int64_t *ns, const struct nai_model *m, struct nai_err *err) {
  static const struct {
    const char *check, *source, *detail;
    nai_overhead_fn *counts;
  } kinds[] = {
      {"profiler-overhead", "PROFILER_OVERHEAD", "time the profiler itself took inside the window", nai_is_profilers},
      {"loading-overhead", "PROFILER_OVERHEAD",
       "time CUDA took to load code, which the export lists among the profiler's", is_loading_of_profiler},
      {"cuda-overhead", "CUPTI_ACTIVITY_KIND_OVERHEAD",
       "time the CUDA driver took for module loading and full command buffers", is_of_cuda},
  };
  int rc = NAI_OK;
  for (size_t i = 0; !rc && i < sizeof kinds / sizeof *kinds; i++) {
    int64_t time = 0, count = 0;
    rc = nai_overhead_in_window(&time, &count, m, kinds[i].counts, err);
    if (!rc && count)
      add_timed(quality, m, kinds[i].check, "info", kinds[i].source, count, time, kinds[i].detail);
    *ns = i == 0 ? time : *ns;
  }
  return rc;
}

static int64_t unmatched(const uint32_t *api, uint32_t n) {
  int64_t count = 0;
  for (uint32_t i = 0; i < n; i++)
    count += api[i] == NAI_NO_ROW;
  return count;
}

/* Pages that move by themselves are launched by no call. */
static int64_t unmatched_memops(const struct nai_model *m) {
  int64_t count = 0;
  for (uint32_t i = 0; i < m->memops.n; i++)
    count += m->memop_api[i] == NAI_NO_ROW && nai_at(&m->memops.migration, i) != 1;
  return count;
}

/* Bytes or times of such a row are wrong, and nobody knows which. */
static void put_impossible_rates(struct nai_table *quality, const struct nai_model *m) {
  int64_t copies = 0, sets = 0;
  for (uint32_t i = 0; i < m->memops.n; i++)
    if (!nai_memop_rate_is_possible(m, i))
      *(nai_at_i32(&m->memops.kind, i) == NAI_MEMOP_COPY ? &copies : &sets) += 1;
  if (copies)
    add(quality, "impossible-rate", "warning", "CUPTI_ACTIVITY_KIND_MEMCPY", copies,
        "copies of more bytes than any memory moves in their duration (over 100,000 GB/s): their size or their time is "
        "wrong, or --trim cut them; sums with them have no rate");
  if (sets)
    add(quality, "impossible-rate", "warning", "CUPTI_ACTIVITY_KIND_MEMSET", sets,
        "sets of more bytes than any memory takes in their duration (over 100,000 GB/s): their size or their time is "
        "wrong, or --trim cut them; sums with them have no rate");
}

/* What notes add up to. */
struct noted {
  int64_t dropped, warnings, errors;
};

/* Notes become rows; dropped rows and diagnostics are counted on the way. */
static void put_notes(struct nai_table *quality, struct noted *noted, const struct nai_table *notes) {
  for (int64_t i = 0; i < notes->rows; i++) {
    const char *check = nai_get_str(notes, i, PROBE_NOTES_check),
               *severity = nai_get_str(notes, i, PROBE_NOTES_severity);
    int64_t count = nai_get_i64(notes, i, PROBE_NOTES_count);
    add(quality, check, severity, nai_get_str(notes, i, PROBE_NOTES_source_table), count,
        nai_get_str(notes, i, PROBE_NOTES_detail));
    if (strncmp(check, "rows-", 5) == 0)
      noted->dropped += count;
    if (strcmp(check, "diagnostic") == 0)
      *(strcmp(severity, "error") == 0 ? &noted->errors : &noted->warnings) += count;
  }
}

/* Those of both stages. */
static void put_all_notes(struct nai_table *quality, struct nai_table *run, const struct nai_model *m) {
  struct noted noted = {0};
  put_notes(quality, &noted, m->tables[NAI_IN_PROBE_NOTES]);
  put_notes(quality, &noted, m->tables[NAI_IN_EXTRACT_NOTES]);
  nai_set_i64(run, 0, RUN_INFO_dropped_rows, noted.dropped);
  nai_set_i64(run, 0, RUN_INFO_diagnostics_warnings, noted.warnings);
  nai_set_i64(run, 0, RUN_INFO_diagnostics_errors, noted.errors);
}

static bool launches_graph(const char *name) {
  return strncmp(name, "cudaGraphLaunch", 15) == 0 || strncmp(name, "cuGraphLaunch", 13) == 0;
}

static int64_t count_graph_launches(const struct nai_model *m) {
  const struct nai_strings *names = &m->tables[NAI_IN_APIS]->strings;
  int64_t calls = 0;
  bool any = false; /* mostly not: then no call need be looked at */
  for (uint32_t n = 0; n < names->count && !any; n++)
    any = launches_graph(nai_strings_get(names, n));
  for (uint32_t i = 0; any && i < m->apis.n; i++)
    calls += launches_graph(nai_model_api_name(m, i));
  return calls;
}

static int put_graphs(struct nai_table *quality, const struct nai_model *m, struct nai_err *err) {
  int64_t envelope_ns = 0, node_kernels = 0, graph_calls = count_graph_launches(m);
  int rc = nai_graphs_time(&envelope_ns, m, err);
  for (uint32_t i = 0; i < m->kernels.n; i++)
    node_kernels += nai_at_i32(&m->kernels.graph_id, i) != NAI_NULL_I32;
  if (m->graphs.n)
    add_timed(
        quality, m, "graph-envelopes", "warning", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", m->graphs.n, envelope_ns,
        "CUDA graphs were traced as one envelope each: the kernels inside are invisible, so kernel statistics are "
        "incomplete; capture with --cuda-graph-trace=node to see them");
  if (node_kernels)
    add(quality, "graph-nodes", "info", "CUPTI_ACTIVITY_KIND_KERNEL", node_kernels,
        "kernels that ran inside CUDA graphs, traced node by node");
  if (graph_calls && !m->graphs.n && !node_kernels)
    add(quality, "graphs-invisible", "warning", "CUPTI_ACTIVITY_KIND_RUNTIME", graph_calls,
        "CUDA graphs were launched but neither envelopes nor nodes were traced: their GPU time counts as idle");
  return rc;
}

/* Whether an export has that table only if it was asked for: table capabilities says so, but it is no gap in the data.
 */
static bool is_extra(const char *source) {
  static const char *const extra[] = {"CUDA_UM_",         "CUDA_GPU_MEMORY_",    "SCHED_EVENTS",
                                      "COMPOSITE_EVENTS", "SAMPLING_CALLCHAINS", "CUDA_CALLCHAINS",
                                      "OSRT_CALLCHAINS",  "GPU_METRICS",         "NET_NIC_METRIC"};
  for (size_t i = 0; i < sizeof extra / sizeof *extra; i++)
    if (strncmp(source, extra[i], strlen(extra[i])) == 0)
      return true;
  return false;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct nai_table *const *tables = io->out;
  const struct nai_model *m = io->model;
  struct nai_table *quality = tables[0], *info = tables[1];
  int64_t profiler_ns = 0, window = m->window_end - m->window_start, crossing = 0, active = 0;
  nai_table_add_row(info);
  put_all_notes(quality, info, m);
  int64_t no_launch =
      unmatched(m->kernel_api, m->kernels.n) + unmatched_memops(m) + unmatched(m->graph_api, m->graphs.n);
  if (no_launch)
    add(quality, "unmatched-launches", "info", "CUPTI_ACTIVITY_KIND_RUNTIME", no_launch,
        "GPU operations whose launching API call is not in the export: the cause of gaps before them is unknown, and they "
        "belong to no NVTX range");
  int64_t no_process = 0;
  for (uint32_t i = 0; i < m->kernels.n; i++)
    no_process += nai_at_i32(&m->kernels.process, i) < 0;
  if (no_process)
    add(quality, "unknown-process", "warning", "CUPTI_ACTIVITY_KIND_KERNEL", no_process,
        "kernels whose process the export does not tell: they are not joined with API calls, because correlation ids are "
        "unique within a process only");
  for (uint32_t t = 0; t < m->thread_count; t++)
    crossing += m->crossing[t];
  if (crossing)
    add(quality, "crossing-ranges", "info", "NVTX_EVENTS", crossing,
        "push/pop ranges that overlap another without lying in it; attached to the innermost range that holds them whole");
  put_impossible_rates(quality, m);
  int rc = put_graphs(quality, m, err);
  if (!rc)
    rc = put_overhead(quality, &profiler_ns, m, err);
  if (rc)
    return rc;
  for (int64_t i = 0; i < m->tables[NAI_IN_CAPABILITIES]->rows; i++)
    if (!nai_get_i64(m->tables[NAI_IN_CAPABILITIES], i, CAPABILITIES_available) &&
        !is_extra(nai_get_str(m->tables[NAI_IN_CAPABILITIES], i, CAPABILITIES_source)))
      add(quality, "missing-table", "info", nai_get_str(m->tables[NAI_IN_CAPABILITIES], i, CAPABILITIES_source), 1,
          nai_get_str(m->tables[NAI_IN_CAPABILITIES], i, CAPABILITIES_detail));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    active += m->gpus[g].op_count > 0;
  const struct {
    int column;
    int64_t value;
  } facts[] = {{RUN_INFO_gpu_count, active},
               {RUN_INFO_process_count, m->process_count},
               {RUN_INFO_window_ns, window},
               {RUN_INFO_kernel_count, m->kernels.n},
               {RUN_INFO_nvtx_range_count, 0},
               {RUN_INFO_graph_envelope_count, m->graphs.n},
               {RUN_INFO_profiler_overhead_ns, profiler_ns},
               {RUN_INFO_unmatched_launches, no_launch},
               {RUN_INFO_kernel_time_ns, nai_total_kernel_ns(m)},
               {RUN_INFO_window_start_ns, m->window_start},
               {RUN_INFO_window_end_ns, m->window_end},
               {RUN_INFO_api_call_count, m->apis.n},
               {RUN_INFO_memory_operation_count, m->memops.n}};
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
    nai_set_i64(info, 0, facts[i].column, facts[i].value);
  nai_set_i64(info, 0, RUN_INFO_nvtx_range_count, m->nvtx_by_thread.first[m->thread_count]);
  nai_set_f64(info, 0, RUN_INFO_profiler_overhead_pct, nai_percent((double)profiler_ns, (double)window));
  return NAI_OK;
}

NAI_ANALYSIS(quality, .outputs = NAI_SCHEMAS(&nai_data_quality_schema, &nai_run_info_schema),
             .parts = NAI_PART(LAUNCHES) | NAI_PART(GPUS) | NAI_PART(WINDOW) | NAI_PART(RANGES) | NAI_PART(CALLS) |
                      NAI_PART(NVTX_TREE) | NAI_PART(EVIDENCE),
             .tables = NAI_IN(PROBE_NOTES) | NAI_IN(EXTRACT_NOTES) | NAI_IN(CAPTURE) | NAI_IN(CAPABILITIES) |
                       NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(NVTX) |
                       NAI_IN(THREADS) | NAI_IN(PROCESSES) | NAI_IN(GPUS) | NAI_IN(OVERHEAD) | NAI_IN(KERNEL_CONFIGS),
             .run = run)
