/* How far can the numbers be trusted? Tables data_quality, run_info. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/calls/call_class.h"
#include "model/comm/comm.h"
#include "model/health/capture.h"
#include "tables/capabilities.h"
#include "tables/data_quality.h"
#include "tables/overhead_events.h"
#include "tables/probe_notes.h"
#include "tables/run_info.h"

/* A thing that was found `count` times, and its time (NULL: it has none). */
static void add(const struct nai_node_io *io, const char *check, const char *severity, const char *source,
                int64_t count, int64_t ns, const char *detail) {
  double window = (double)(io->model->window_end - io->model->window_start);
  if (count)
    NAI_ADD(DATA_QUALITY, io->out[0], .check = check, .severity = severity, .count = count, .duration_ns = ns,
            .pct_of_window = ns == NAI_NULL_I64 ? NAN : nai_percent((double)ns, window), .source_table = source,
            .detail = detail);
}

/* --- overhead ------------------------------------------------------------------------------------ */

static bool is_of_cuda(const struct nai_model *m, int64_t row) {
  return nai_get_i64(m->tables[NAI_IN_OVERHEAD], row, OVERHEAD_EVENTS_source) != NAI_OVERHEAD_PROFILER;
}
/* Exporters of some years list the loading of code among the profiler's rows. */
static bool is_loading_of_profiler(const struct nai_model *m, int64_t row) {
  return !is_of_cuda(m, row) && m->overhead_kind[row] == NAI_OVERHEAD_LOADING;
}

/* Overhead inside the GPU window, each kind as a union: several threads flush buffers at once. Returns the profiler's
 * in *ns. */
static int put_overhead(const struct nai_node_io *io, int64_t *ns, struct nai_err *err) {
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
  const struct nai_model *m = io->model;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    struct nai_overhead_sum sum;
    NAI_TRY(nai_overhead_within(&sum, m, kinds[i].counts, m->window_start, m->window_end, err));
    add(io, kinds[i].check, "info", kinds[i].source, sum.rows, sum.ns, kinds[i].detail);
    *ns = i == 0 ? sum.ns : *ns;
  }
  return NAI_OK;
}

/* --- operations ---------------------------------------------------------------------------------- */

static int64_t without_process(const struct nai_model *m) {
  int64_t count = 0;
  for (uint32_t i = 0; i < m->kernel_kind_count; i++)
    count += m->kernel_kinds[i].process < 0 ? m->kernel_kinds[i].calls : 0;
  return count;
}

static int64_t crossing_ranges(const struct nai_model *m) {
  int64_t count = 0;
  for (uint32_t t = 0; t < m->thread_count; t++)
    count += m->crossing[t];
  return count;
}

/* Bytes or times of such a row are wrong, and nobody knows which. */
static int64_t impossible_rates(const struct nai_model *m, int64_t kind) {
  int64_t count = 0;
  for (uint32_t i = 0; i < m->memops.n; i++)
    count += nai_at(&m->memops.kind, i) == kind && !nai_memop_rate_is_possible(m, i);
  return count;
}

static void put_operations(const struct nai_node_io *io) {
  const struct nai_model *m = io->model;
  add(io, "unmatched-launches", "info", "CUPTI_ACTIVITY_KIND_RUNTIME", nai_without_launch(m), NAI_NULL_I64,
      "GPU operations whose launching API call is not in the export: the cause of gaps before them is unknown, and they "
      "belong to no NVTX range");
  add(io, "unknown-process", "warning", "CUPTI_ACTIVITY_KIND_KERNEL", without_process(m), NAI_NULL_I64,
      "kernels whose process the export does not tell: they are not joined with API calls, because correlation ids are "
      "unique within a process only");
  add(io, "crossing-ranges", "info", "NVTX_EVENTS", crossing_ranges(m), NAI_NULL_I64,
      "push/pop ranges that overlap another without lying in it; attached to the innermost range that holds them whole");
  add(io, "impossible-rate", "warning", "CUPTI_ACTIVITY_KIND_MEMCPY", impossible_rates(m, NAI_MEMOP_COPY), NAI_NULL_I64,
      "copies of more bytes than any memory moves in their duration (over 100,000 GB/s): their size or their time is "
      "wrong, or --trim cut them; sums with them have no rate");
  add(io, "impossible-rate", "warning", "CUPTI_ACTIVITY_KIND_MEMSET", impossible_rates(m, NAI_MEMOP_SET), NAI_NULL_I64,
      "memsets of more bytes than any memory takes in their duration (over 100,000 GB/s): their size or their time is "
      "wrong, or --trim cut them; sums with them have no rate");
}

static int put_payloads(const struct nai_node_io *io, struct nai_err *err) {
  NAI_SCOPED(nai_buf) detail = {0};
  for (int v = NAI_PAYLOAD_READ + 1; v < NAI_PAYLOAD_VERDICTS; v++) {
    nai_buf_clear(&detail);
    nai_buf_printf(
        &detail,
        "payloads of NCCL's ranges that are not read: %s; a form that should be read is told by nsys-ai probe "
        "--schema-only",
        nai_payload_verdict_text((enum nai_payload_verdict)v));
    NAI_TRY(nai_buf_check(&detail, err));
    add(io, "nccl-payloads", "warning", "NVTX_EVENTS", io->model->comm->payloads[v], NAI_NULL_I64,
        nai_buf_str(&detail));
  }
  return NAI_OK;
}

/* --- graphs -------------------------------------------------------------------------------------- */

static bool launches_graph(const char *name) { return nai_call_class_of(name) == NAI_CALL_CLASS_GRAPH_LAUNCH; }

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

static int put_graphs(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  int64_t envelope_ns = 0, node_kernels = 0, graph_calls = count_graph_launches(m);
  NAI_TRY(nai_graphs_time(&envelope_ns, m, err));
  for (uint32_t i = 0; i < m->kernel_group_count; i++)
    node_kernels += m->kernel_groups[i].graph_calls;
  add(io, "graph-envelopes", "warning", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", m->graphs.n, envelope_ns,
      "CUDA graphs were traced as one envelope each: the kernels inside are invisible, so kernel statistics are "
      "incomplete; capture with --cuda-graph-trace=node to see them");
  add(io, "graph-nodes", "info", "CUPTI_ACTIVITY_KIND_KERNEL", node_kernels, NAI_NULL_I64,
      "kernels that ran inside CUDA graphs, traced node by node");
  if (!m->graphs.n && !node_kernels)
    add(io, "graphs-invisible", "warning", "CUPTI_ACTIVITY_KIND_RUNTIME", graph_calls, NAI_NULL_I64,
        "CUDA graphs were launched but neither envelopes nor nodes were traced: their GPU time counts as idle");
  return NAI_OK;
}

/* --- calls ---------------------------------------------------------------------------------------- */

/* Whether any name is of no listed function; `unlisted` has a flag per name. */
static bool find_unlisted(bool *unlisted, const struct nai_strings *names) {
  bool any = false;
  for (uint32_t n = 0; n < names->count; n++) {
    const char *name = nai_strings_get(names, n);
    unlisted[n] = *name && !nai_call_is_known(name);
    any = any || unlisted[n];
  }
  return any;
}

/* "cudaA, cudaB, cudaC and 2 others" */
static int list_names(struct nai_buf *out, struct nai_arena *arena, const struct nai_strings *names,
                      const bool *unlisted, struct nai_err *err) {
  enum { SHOWN = 3, MAX_CHARS = 60 };
  const char **found;
  size_t count = 0;
  NAI_TRY(NAI_NEW(found, arena, names->count, err));
  for (uint32_t n = 0; n < names->count; n++)
    if (unlisted[n])
      found[count++] = nai_strings_get(names, n);
  qsort(found, count, sizeof *found, nai_by_text);
  for (size_t i = 0; i < count && i < SHOWN; i++) {
    nai_buf_puts(out, i ? ", " : "");
    nai_text_cut(out, found[i], strlen(found[i]), MAX_CHARS);
  }
  if (count > SHOWN)
    nai_buf_printf(out, " and %zu others", count - SHOWN);
  return nai_buf_check(out, err);
}

/* CUDA grows functions with every release. */
static int put_calls(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_table *t = m->tables[NAI_IN_APIS];
  const struct nai_strings *names = &t->strings;
  NAI_SCOPED(nai_buf) detail = {0};
  bool *unlisted;
  int64_t calls = 0;
  NAI_TRY(NAI_NEW(unlisted, io->arena, names->count, err));
  if (!find_unlisted(unlisted, names))
    return NAI_OK;
  for (uint32_t i = 0; i < m->apis.n; i++)
    calls += unlisted[nai_val_text(&m->apis.name, i)];
  NAI_TRY(list_names(&detail, io->arena, names, unlisted, err));
  nai_buf_puts(&detail, ": CUDA functions that this version has no class for; each counts as the function with the "
                        "longest name that it begins with");
  NAI_TRY(nai_buf_check(&detail, err));
  add(io, "unlisted-calls", "info", "CUPTI_ACTIVITY_KIND_RUNTIME", calls, NAI_NULL_I64, nai_buf_str(&detail));
  return NAI_OK;
}

/* --- notes, and what the export lacks -------------------------------------------------------------- */

/* Notes of either stage become rows; dropped rows and diagnostics are counted on the way. */
static void put_notes(const struct nai_node_io *io, struct RUN_INFO_row *info, const struct nai_table *notes) {
  for (int64_t i = 0; i < notes->rows; i++) {
    const char *check = nai_get_str(notes, i, PROBE_NOTES_check),
               *severity = nai_get_str(notes, i, PROBE_NOTES_severity);
    int64_t count = nai_get_i64(notes, i, PROBE_NOTES_count);
    NAI_ADD(DATA_QUALITY, io->out[0], .check = check, .severity = severity, .count = count,
            .source_table = nai_get_str(notes, i, PROBE_NOTES_source_table),
            .detail = nai_get_str(notes, i, PROBE_NOTES_detail));
    if (strncmp(check, "rows-", 5) == 0)
      info->dropped_rows += count;
    if (strcmp(check, "diagnostic") == 0)
      *(strcmp(severity, "error") == 0 ? &info->diagnostics_errors : &info->diagnostics_warnings) += count;
  }
}

/* Whether an export has that table only if it was asked for, or if the program waited: table capabilities says so, but
 * it is no gap in the data.
 */
static bool is_extra(const char *source) {
  const char *const *extra =
      NAI_WORDS("CUDA_UM_", "CUDA_GPU_MEMORY_", "SCHED_EVENTS", "COMPOSITE_EVENTS", "SAMPLING_CALLCHAINS",
                "CUDA_CALLCHAINS", "OSRT_CALLCHAINS", "GPU_METRICS", "NET_NIC_METRIC", "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
  return nai_text_begins(source, extra);
}

static void put_missing(const struct nai_node_io *io) {
  const struct nai_table *t = io->model->tables[NAI_IN_CAPABILITIES];
  for (int64_t i = 0; i < t->rows; i++)
    if (!nai_get_i64(t, i, CAPABILITIES_available) && !is_extra(nai_get_str(t, i, CAPABILITIES_source)))
      add(io, "missing-table", "info", nai_get_str(t, i, CAPABILITIES_source), 1, NAI_NULL_I64,
          nai_get_str(t, i, CAPABILITIES_detail));
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  int64_t window = m->window_end - m->window_start;
  struct RUN_INFO_row info =
      NAI_ROW(RUN_INFO, .gpu_count = 0, .process_count = m->process_count, .window_ns = window,
              .kernel_count = m->kernels.n, .nvtx_range_count = m->nvtx_by_thread.first[m->thread_count],
              .graph_envelope_count = m->graphs.n, .profiler_overhead_ns = 0, .dropped_rows = 0,
              .diagnostics_warnings = 0, .diagnostics_errors = 0, .unmatched_launches = nai_without_launch(m),
              .kernel_time_ns = nai_total_kernel_ns(m), .window_start_ns = m->window_start,
              .window_end_ns = m->window_end, .api_call_count = m->apis.n, .memory_operation_count = m->memops.n);
  for (uint32_t g = 0; g < m->gpu_count; g++)
    info.gpu_count += m->gpus[g].op_count > 0;
  put_notes(io, &info, m->tables[NAI_IN_PROBE_NOTES]);
  put_notes(io, &info, m->tables[NAI_IN_EXTRACT_NOTES]);
  put_operations(io);
  NAI_TRY(put_payloads(io, err));
  NAI_TRY(put_graphs(io, err));
  NAI_TRY(put_calls(io, err));
  NAI_TRY(put_overhead(io, &info.profiler_overhead_ns, err));
  put_missing(io);
  info.profiler_overhead_pct = nai_percent((double)info.profiler_overhead_ns, (double)window);
  RUN_INFO_add(io->out[1], &info);
  return NAI_OK;
}

NAI_ANALYSIS(quality, .outputs = NAI_SCHEMAS(&nai_data_quality_schema, &nai_run_info_schema),
             .parts = NAI_PART(LAUNCHES) | NAI_PART(GPUS) | NAI_PART(WINDOW) | NAI_PART(RANGES) | NAI_PART(CALLS) |
                      NAI_PART(NVTX_TREE) | NAI_PART(EVIDENCE) | NAI_PART(COMM) | NAI_PART(KERNEL_GROUPS),
             .tables = NAI_IN(PROBE_NOTES) | NAI_IN(EXTRACT_NOTES) | NAI_IN(CAPTURE) | NAI_IN(CAPABILITIES) |
                       NAI_IN(KERNEL_CONFIGS),
             .run = run)
