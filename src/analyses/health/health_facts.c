/* The facts of a capture that capture_health judges. */
#include "analyses/health/health.h"
#include "model/calls/call_class.h"
#include "model/health/capture.h"
#include "tables/capabilities.h"
#include "tables/capture.h"
#include "tables/osrt_events.h"
#include "tables/overhead_events.h"
#include "tables/probe_notes.h"
#include "tables/program_marks.h"
#include "tables/program_outputs.h"
#include "tables/readers.h"

enum { CUDA_ERROR_NOT_READY = 600, COPY_DTOH = 2, STDERR = 2, AT_ONCE_NS = 50 * 1000 * 1000 };

static void earlier(int64_t *least, int64_t t) { *least = *least == NAI_NULL_I64 || t < *least ? t : *least; }
static void later(int64_t *greatest, int64_t t) { /* NULL is the least number there is */
  *greatest = t > *greatest ? t : *greatest;
}

/* --- what the export has ---------------------------------------------------------------------- */

/* Whether the export has a source; `otherwise` when it says nothing of it. */
static bool is_available(const struct nai_model *m, const char *source, bool otherwise) {
  const struct nai_table *t = m->tables[NAI_IN_CAPABILITIES];
  int64_t row = nai_find_str(t, CAPABILITIES_source, source);
  return row < 0 ? otherwise : nai_get_i64(t, row, CAPABILITIES_available) == 1;
}

/* Whether it has that table in a form that this program does not know. */
static bool is_unreadable(const struct nai_model *m, const char *source) {
  const struct nai_table *t = m->tables[NAI_IN_CAPABILITIES];
  for (int64_t i = 0; i < t->rows; i++)
    if (strcmp(nai_get_str(t, i, CAPABILITIES_source), source) == 0 &&
        strstr(nai_get_str(t, i, CAPABILITIES_detail), "has no column"))
      return true;
  return false;
}

static int64_t rows_read(const struct nai_model *m, const char *source) {
  const struct nai_table *t = m->tables[NAI_IN_READERS];
  int64_t rows = 0;
  for (int64_t i = 0; i < t->rows; i++)
    if (strcmp(nai_get_str(t, i, READERS_source_table), source) == 0)
      rows += nai_get_i64(t, i, READERS_rows);
  return rows;
}

/* Whether there are rows of kernels and none can be used, whatever --gpu or --trim leave out. */
static bool all_kernel_rows_dropped(const struct nai_model *m) {
  static const char table[] = "CUPTI_ACTIVITY_KIND_KERNEL";
  const struct nai_table *notes = m->tables[NAI_IN_EXTRACT_NOTES];
  int64_t read = rows_read(m, table), dropped = 0;
  for (int64_t i = 0; i < notes->rows; i++) {
    const char *check = nai_get_str(notes, i, PROBE_NOTES_check);
    if (strcmp(nai_get_str(notes, i, PROBE_NOTES_source_table), table) == 0 &&
        strncmp(check, "rows-", strlen("rows-")) == 0 && strcmp(check, "rows-missing") != 0) /* those were not read */
      dropped += nai_get_i64(notes, i, PROBE_NOTES_count);
  }
  return read > 0 && dropped >= read;
}

/* --- calls ------------------------------------------------------------------------------------ */

/* What the name of an API function says. */
struct call_name {
  enum nai_call_kind kind;
  bool frees, async, graphs;
};

static struct call_name look_at_name(const char *name) {
  enum nai_call_class class = nai_call_class_of(name);
  return (struct call_name){
      .kind = nai_call_kind_of(name),
      .frees = class == NAI_CALL_CLASS_FREE,
      .async = class == NAI_CALL_CLASS_COPY,
      .graphs = class == NAI_CALL_CLASS_GRAPH_LAUNCH,
  };
}

/* The end of the call that launched the last copy to be launched by an asynchronous call. */
static int64_t last_async_copy(const struct nai_model *m, const struct call_name *names) {
  int64_t end = NAI_NULL_I64;
  for (uint32_t i = 0; i < m->memops.n; i++)
    if (m->memop_api[i] != NAI_NO_ROW && names[nai_val_text(&m->apis.name, m->memop_api[i])].async &&
        nai_val_i32(&m->memops.kind, i) == NAI_MEMOP_COPY)
      later(&end, nai_val(&m->apis.end_ns, m->memop_api[i]));
  return end;
}

/* What an error says behind which a context can do no more; NULL for others, which a program may expect. */
static const char *fatal_error(int64_t code) {
  static const struct {
    int64_t code;
    const char *name;
  } errors[] = {{214, "uncorrectable memory error"}, {700, "illegal memory access"},
                {702, "kernel timed out"},           {710, "device-side assertion"},
                {714, "hardware stack error"},       {715, "illegal instruction"},
                {716, "misaligned address"},         {717, "invalid address space"},
                {718, "invalid program counter"},    {719, "kernel failed"}};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].code == code)
      return errors[i].name;
  return NULL;
}

/* failures[name]: calls that failed. */
static void look_at_results(uint32_t *failures, struct nai_health *h, const struct nai_node_io *io) {
  const struct nai_model *m = io->model;
  if (nai_column_within(&m->apis.return_value, m->apis.n, 0, 0))
    return;
  for (uint32_t i = 0; i < m->apis.n; i++) {
    int64_t result = nai_at(&m->apis.return_value, i);
    if (result == 0 || result == NAI_NULL_I32 || result == CUDA_ERROR_NOT_READY)
      continue;
    failures[nai_val_text(&m->apis.name, i)]++;
    h->failed_calls++;
    const char *error = h->fatal_error ? NULL : fatal_error(result);
    if (error)
      h->fatal_error = nai_arena_printf(io->arena, "%s, from %s", error, nai_model_api_name(m, i));
  }
}

/* Whether a call that may have waited for it returned behind that moment. */
static bool is_awaited(const struct nai_model *m, int64_t end) {
  for (uint32_t i = m->apis.n; i-- > 0;)
    if (nai_val(&m->apis.end_ns, i) > end && nai_model_api_blocks(m, i))
      return true;
  return false;
}

static int look_at_calls(struct nai_health *h, const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_strings *texts = &m->tables[NAI_IN_APIS]->strings;
  struct call_name *names;
  uint32_t *failures;
  bool started = false; /* a kernel, by a call that did not fail */
  NAI_TRY(NAI_NEW(names, io->arena, texts->count, err));
  NAI_TRY(NAI_NEW(failures, io->arena, texts->count, err));
  look_at_results(failures, h, io);
  h->no_release = true;
  for (uint32_t i = 0; i < texts->count; i++) {
    names[i] = look_at_name(nai_strings_get(texts, i));
    int64_t count = m->call_stats[i].count;
    bool launch = names[i].kind == NAI_CALL_LAUNCH;
    h->launches += launch ? count : 0;
    started |= launch && !names[i].graphs && count > failures[i];
    h->no_release = h->no_release && !(names[i].frees && count);
  }
  for (uint32_t i = 0; i < m->apis.n; i++) {
    earlier(&h->first_call, nai_val(&m->apis.start_ns, i));
    later(&h->last_call_end, nai_val(&m->apis.end_ns, i));
  }
  int64_t copy_end = last_async_copy(m, names);
  h->copy_not_awaited = copy_end != NAI_NULL_I64 && !is_awaited(m, copy_end);
  bool none = !m->kernels.n && !m->graphs.n, table = is_available(m, "CUPTI_ACTIVITY_KIND_KERNEL", m->kernels.n > 0);
  h->kernels_lost = (none && is_unreadable(m, "CUPTI_ACTIVITY_KIND_KERNEL")) ||
                    (h->launches && none && !m->memops.n && !table) ||
                    (started && none && (!table || all_kernel_rows_dropped(m)));
  return NAI_OK;
}

/* --- operations ------------------------------------------------------------------------------- */

static int look_at_operations(struct nai_health *h, const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_strings *names = &m->tables[NAI_IN_KERNELS]->strings;
  for (uint32_t i = 0; i < m->kernel_group_count; i++) {
    const struct nai_kernel_group *group = &m->kernel_groups[i];
    if (nai_kernel_classes_trait(m->classes, nai_strings_get(names, group->name)) != NAI_TRAIT_RUNTIME)
      h->own_kernels += group->calls;
  }
  h->no_copy_back = true;
  for (uint32_t i = 0; i < m->kernels.n; i++)
    later(&h->last_operation_end, nai_val(&m->kernels.end_ns, i));
  for (uint32_t i = 0; i < m->memops.n; i++) {
    h->copies += nai_val_i32(&m->memops.kind, i) == NAI_MEMOP_COPY;
    h->no_copy_back = h->no_copy_back && nai_at_i32(&m->memops.copy_kind, i) != COPY_DTOH;
    later(&h->last_operation_end, nai_val(&m->memops.end_ns, i));
  }
  for (uint32_t i = 0; i < m->graphs.n; i++)
    later(&h->last_operation_end, nai_val(&m->graphs.end_ns, i));
  h->without_launch = nai_without_launch(m);
  h->kernels = (int64_t)m->kernels.n + m->graphs.n;
  h->operations = h->kernels + m->memops.n;
  h->host_watched = is_available(m, "OSRT_API", false) || is_available(m, "SAMPLING_CALLCHAINS", false);
  return nai_kernel_classes_check(m->classes, err);
}

/* --- the profiler and the outputs ------------------------------------------------------------- */

static bool is_profilers_start(const struct nai_model *m, int64_t row) {
  return strstr(nai_get_str(m->tables[NAI_IN_OVERHEAD], row, OVERHEAD_EVENTS_name), "profiling initialization");
}

/* The profiler's start is before the first call of any process; processes initialise side by side. */
static int look_at_overhead(struct nai_health *h, const struct nai_model *m, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_OVERHEAD];
  struct nai_overhead_sum start = {0}, all;
  for (int64_t i = 0; h->last_call_end != NAI_NULL_I64 && i < t->rows; i++) {
    int64_t after = nai_get_i64(t, i, OVERHEAD_EVENTS_start_ns) - h->last_call_end;
    if (after >= 0 && after <= AT_ONCE_NS && strstr(nai_get_str(t, i, OVERHEAD_EVENTS_name), "data flush"))
      h->ended_at_once = true;
  }
  if (h->first_call != NAI_NULL_I64)
    NAI_TRY(nai_overhead_within(&start, m, is_profilers_start, h->begin, h->first_call, err));
  NAI_TRY(nai_overhead_within(&all, m, nai_is_profilers, m->window_start, m->window_end, err));
  h->profiler_start_ns = start.ns;
  h->profiler_ns = all.ns;
  h->profiler_count = all.rows;
  return NAI_OK;
}

static void look_at_outputs(struct nai_health *h, const struct nai_node_io *io) {
  const struct nai_table *outputs = io->model->tables[NAI_IN_PROGRAM_OUTPUTS],
                         *marks = io->model->tables[NAI_IN_PROGRAM_MARKS];
  h->failures = "";
  for (int64_t i = 0; i < outputs->rows; i++) {
    bool text = nai_get_i64(outputs, i, PROGRAM_OUTPUTS_size_bytes) > 0;
    h->output_held = h->output_held || text;
    h->wrote_errors = h->wrote_errors || (text && nai_get_i64(outputs, i, PROGRAM_OUTPUTS_stream) == STDERR);
  }
  for (int64_t i = 0; i < marks->rows; i++) {
    const struct PROGRAM_MARKS_row mark = PROGRAM_MARKS_at(marks, i);
    if (strcmp(mark.source, "failure") != 0)
      continue;
    h->failures = nai_arena_printf(io->arena, "%s%s%s", h->failures, h->failure_kinds++ ? ", " : "", mark.mark);
    h->failure_line = !h->failure_line && *mark.line ? mark.line : h->failure_line;
  }
}

/* --- the capture ------------------------------------------------------------------------------ */

static int64_t first_event(const struct nai_model *m) {
  int64_t first = NAI_NULL_I64;
  for (uint32_t t = 0; t < m->thread_count; t++) {
    if (m->api_by_thread.first[t + 1] > m->api_by_thread.first[t])
      earlier(&first, nai_val(&m->apis.start_ns, m->api_by_thread.order[m->api_by_thread.first[t]]));
    if (m->nvtx_by_thread.first[t + 1] > m->nvtx_by_thread.first[t])
      earlier(&first, nai_val(&m->nvtx.start_ns, m->nvtx_by_thread.order[m->nvtx_by_thread.first[t]]));
  }
  for (uint32_t g = 0; g < m->gpu_count; g++)
    if (m->gpus[g].op_count)
      earlier(&first, m->gpus[g].window_start);
  return first;
}

static int64_t last_event(const struct nai_health *h, const struct nai_model *m) {
  int64_t last = h->last_call_end;
  later(&last, h->last_operation_end);
  for (uint32_t i = 0; i < m->nvtx.n; i++)
    later(&last, nai_val(&m->nvtx.end_ns, i));
  const struct nai_table *t = m->tables[NAI_IN_OVERHEAD];
  for (int64_t i = 0; i < t->rows; i++)
    later(&last, nai_get_i64(t, i, OVERHEAD_EVENTS_end_ns));
  return last == NAI_NULL_I64 ? 0 : last;
}

static void look_at_capture(struct nai_health *h, const struct nai_model *m) {
  int64_t first = first_event(m), duration = nai_get_i64(m->tables[NAI_IN_CAPTURE], 0, CAPTURE_duration_ns);
  bool all_calls = rows_read(m, "CUPTI_ACTIVITY_KIND_RUNTIME") == m->apis.n; /* --trim leaves some out */
  h->whole = all_calls && !h->without_launch;
  h->begin = h->whole || first == NAI_NULL_I64 ? 0 : first;
  h->first_event = first;
  h->last_event = last_event(h, m);
  h->capture_ns = duration > 0 ? duration : h->last_event;
  h->ranges = m->nvtx_by_thread.first[m->thread_count];
}

/* A call that does not return leaves no row; what is left of it: nothing of CUDA until the capture ends, no flush by a
 * profiler that saw the program's end, and a thread that asks the driver again and again. */
static void look_for_hang(struct nai_health *h, const struct nai_model *m) {
  enum { MIN_NS = 1000 * 1000 * 1000, MIN_S = 5, MIN_ASKS = 5, MIN_SHARE = 4 };
  const struct OSRT_EVENTS_columns calls = OSRT_EVENTS_columns_of(m->tables[NAI_IN_OSRT]);
  const struct nai_table *overhead = m->tables[NAI_IN_OVERHEAD];
  int64_t last = h->last_call_end, ns = last == NAI_NULL_I64 ? 0 : h->capture_ns - last, asks = 0;
  if (!h->whole || ns / MIN_S < MIN_NS || ns < h->capture_ns / MIN_SHARE)
    return;
  for (int64_t i = 0; i < overhead->rows; i++)
    if (nai_get_i64(overhead, i, OVERHEAD_EVENTS_start_ns) >= last &&
        strstr(nai_get_str(overhead, i, OVERHEAD_EVENTS_name), "flush"))
      return;
  uint32_t asking = nai_strings_find(&m->tables[NAI_IN_OSRT]->strings, "ioctl", strlen("ioctl"));
  for (uint32_t i = 0; i < calls.n; i++)
    asks += nai_val(&calls.start_ns, i) >= last && nai_at_text(&calls.name, i) == asking;
  h->hung_asks = asks >= MIN_ASKS ? asks : 0;
  h->hung_ns = h->hung_asks ? ns : 0;
}

int nai_health_collect(struct nai_health *h, const struct nai_node_io *io, struct nai_err *err) {
  *h = (struct nai_health){
      .first_call = NAI_NULL_I64, .last_call_end = NAI_NULL_I64, .last_operation_end = NAI_NULL_I64};
  NAI_TRY(look_at_calls(h, io, err));
  NAI_TRY(look_at_operations(h, io, err));
  look_at_outputs(h, io);
  look_at_capture(h, io->model);
  look_for_hang(h, io->model);
  NAI_TRY(look_at_overhead(h, io->model, err));
  return nai_graphs_time(&h->graphs_ns, io->model, err);
}
