#include "report/capture_course.h"

#include "base/fmt.h"
#include "tables/active_spans.h"
#include "tables/cpu_threads.h"
#include "tables/gap_activity.h"
#include "tables/gap_functions.h"

static int phase_of(const char *name) {
  int phase = 0;
  while (phase < NAI_CAPTURE_PHASE_COUNT && strcmp(nai_phase_labels[phase].value, name) != 0)
    phase++;
  return phase;
}

void nai_capture_course_of(struct nai_capture_course *out, const struct nai_report *report) {
  const struct nai_table *parts = nai_report_table(report, "capture_time");
  *out = (struct nai_capture_course){0};
  for (int64_t i = 0; i < parts->rows; i++) {
    const struct CAPTURE_TIME_row part = CAPTURE_TIME_at(parts, i);
    int phase = phase_of(part.phase);
    if (phase == NAI_CAPTURE_PHASE_COUNT || part.duration_ns <= 0) /* a stored table may hold anything */
      continue;
    out->ns[phase] += part.duration_ns;
    out->total += part.duration_ns;
    out->recorded += nai_capture_phase_is_recorded(phase) ? part.duration_ns : 0;
    const bool input = strcmp(part.part, NAI_CAPTURE_INPUT) == 0;
    out->input += input ? part.duration_ns : 0;
    out->idle += input || phase == NAI_CAPTURE_BETWEEN ? part.duration_ns : 0;
    out->busy += phase == NAI_CAPTURE_GPU && nai_capture_part_is_busy(part.part) ? part.duration_ns : 0;
  }
}

int64_t nai_capture_course_at_work(const struct nai_capture_course *course) { return course->recorded - course->idle; }

bool nai_capture_course_hardly_works(const struct nai_capture_course *course) {
  enum { MIN_BUSY_PCT = 5 };
  return course->ns[NAI_CAPTURE_GPU] &&
         100.0 * (double)course->busy < MIN_BUSY_PCT * (double)nai_capture_course_at_work(course);
}

/* What a pause of `least` ns or more is recorded as, and for how long. */
static const char *main_pause(int64_t *ns, const struct nai_report *report, int64_t least) {
  const struct nai_table *spans = nai_report_table(report, "active_spans");
  for (int64_t i = 0; i < spans->rows; i++) {
    const struct ACTIVE_SPANS_row span = ACTIVE_SPANS_at(spans, i);
    if (strcmp(span.kind, NAI_SPAN_PAUSE) == 0 && span.duration_ns >= least && *span.what) {
      *ns = span.cause_ns;
      return span.what;
    }
  }
  return NULL;
}

/* What the threads that another one waits for in a stretch mostly run. */
static const char *threads_function(const struct nai_report *report, const struct nai_table *stretches, int64_t row) {
  const struct nai_table *threads = nai_report_table(report, "cpu_threads");
  const struct GAP_ACTIVITY_row stretch = GAP_ACTIVITY_at(stretches, row);
  for (int64_t i = 0; i < threads->rows; i++) { /* those that ran longest come first */
    const struct CPU_THREADS_row thread = CPU_THREADS_at(threads, i);
    if (thread.pid == stretch.pid && thread.tid != stretch.tid && *thread.function &&
        thread.first_ns >= stretch.start_ns && thread.last_ns <= stretch.end_ns)
      return thread.function;
  }
  return "threads";
}

/* The function of a layer that takes `least` ns or more in a stretch that gap_activity calls so. */
static const char *main_function(int64_t *ns, const struct nai_report *report, const char *scope, const char *layer,
                                 int64_t least) {
  const struct nai_table *stretches = nai_report_table(report, "gap_activity"),
                         *functions = nai_report_table(report, "gap_functions");
  for (int64_t i = 0; i < functions->rows; i++) {
    const struct GAP_FUNCTIONS_row row = GAP_FUNCTIONS_at(functions, i);
    bool there = row.subject >= 0 && row.subject < stretches->rows && *row.function && row.time_ns >= least;
    if (there && strcmp(row.layer, layer) == 0 &&
        strcmp(nai_get_str(stretches, row.subject, GAP_ACTIVITY_scope), scope) == 0) {
      *ns = row.time_ns;
      return strcmp(row.function, "pthread_join") == 0 ? threads_function(report, stretches, row.subject)
                                                       : row.function;
    }
  }
  return NULL;
}

/* The time of a part of a phase. */
static int64_t part_ns(const struct nai_report *report, enum nai_capture_phase phase, const char *name) {
  const struct nai_table *parts = nai_report_table(report, "capture_time");
  for (int64_t i = 0; i < parts->rows; i++) {
    const struct CAPTURE_TIME_row part = CAPTURE_TIME_at(parts, i);
    if (phase_of(part.phase) == (int)phase && strcmp(part.part, name) == 0)
      return part.duration_ns;
  }
  return 0;
}

struct nai_capture_main nai_capture_course_main(const struct nai_report *report,
                                                const struct nai_capture_course *course, enum nai_capture_phase phase) {
  static const char *const scopes[NAI_CAPTURE_PHASE_COUNT] = {
      [NAI_CAPTURE_BEFORE] = "set_up", [NAI_CAPTURE_SET_UP] = "before_work", [NAI_CAPTURE_AFTER] = "after_work"};
  static const char *const layers[] = {"cuda_api", "os_runtime", "samples"};
  enum { CUDA_API = 0 };
  int64_t half = course->ns[phase] / 2 + 1, ns = 0;
  struct nai_capture_main out = {0};
  if (part_ns(report, phase, "profiler") >= half)
    out.what = "profiler";
  else if (phase == NAI_CAPTURE_SET_UP && part_ns(report, phase, "first_use") >= half)
    out.what = "CUDA initialization";
  out.function = phase == NAI_CAPTURE_BETWEEN ? main_pause(&ns, report, half) : NULL;
  out.function_ns = out.function && ns > 0 && ns < half / 5 * 9 ? ns : 0; /* where it is not nearly all */
  for (size_t i = 0; scopes[phase] && !out.what && !out.function && i < sizeof layers / sizeof *layers; i++) {
    out.function = main_function(&ns, report, scopes[phase], layers[i], half / 2);
    if (out.function && ns < half) {
      int64_t own = i == CUDA_API ? part_ns(report, phase, "host") : 0;
      out.function_ns = ns;
      out.own_ns = own >= half ? own : 0;
    }
  }
  if (phase == NAI_CAPTURE_BETWEEN && !out.function && 2 * part_ns(report, phase, "host") >= course->recorded)
    out.what = "no CUDA call";
  return out;
}

/* Between CUDA calls it is known how long the host was outside of them, but of copies only their calls. */
static const char *part_label(const struct nai_report *report, enum nai_capture_phase phase, const char *part) {
  const struct nai_table *parts = nai_report_table(report, "capture_time");
  if (phase == NAI_CAPTURE_GPU && strcmp(part, "idle") == 0 && nai_report_table(report, "gpu_active")->rows > 1)
    return "with no GPU busy";
  if (phase == NAI_CAPTURE_CALLS && strcmp(part, "host") == 0)
    return "outside of calls";
  if (phase == NAI_CAPTURE_CALLS && strcmp(part, "copy") == 0)
    return "copy calls";
  return nai_column_label(&parts->schema->columns[CAPTURE_TIME_part], part);
}

void nai_capture_course_parts(struct nai_buf *out, const struct nai_report *report, enum nai_capture_phase phase,
                              int64_t least) {
  const struct nai_table *parts = nai_report_table(report, "capture_time");
  struct nai_capture_course course;
  nai_capture_course_of(&course, report);
  const char *separator = " (";
  for (int64_t i = 0; i < parts->rows; i++) {
    const struct CAPTURE_TIME_row part = CAPTURE_TIME_at(parts, i);
    bool whole = phase == NAI_CAPTURE_GPU && strcmp(part.part, "compute") == 0; /* what the GPU is for */
    /* The host's own code where there is nothing else to tell. */
    const bool all = strcmp(part.part, "host") == 0 &&
                     (!nai_capture_phase_is_recorded(phase) || part.duration_ns > course.ns[phase] / 100 * 99);
    if (phase_of(part.phase) != (int)phase || all || (part.duration_ns < least && !whole))
      continue;
    nai_buf_puts(out, separator);
    nai_fmt_duration(out, (double)part.duration_ns);
    nai_buf_printf(out, " %s", part_label(report, phase, part.part));
    separator = ", ";
  }
  if (*separator == ',')
    nai_buf_putc(out, ')');
}

/* Phases that are recorded, those below a thousandth left out, or that are not; `separator` before the first. */
static void put_phases(struct nai_buf *out, const struct nai_report *report, const struct nai_capture_course *course,
                       bool recorded, const char *separator) {
  bool many = nai_report_table(report, "gpu_active")->rows > 1; /* each of them is active for less */
  for (int phase = 0; phase < NAI_CAPTURE_PHASE_COUNT; phase++) {
    if (!course->ns[phase] || nai_capture_phase_is_recorded(phase) != recorded ||
        (recorded && phase != NAI_CAPTURE_GPU && course->ns[phase] < course->recorded / 1000))
      continue;
    const int64_t whole = phase == NAI_CAPTURE_GPU ? course->ns[phase] : course->recorded;
    nai_buf_puts(out, separator);
    nai_fmt_duration(out, (double)course->ns[phase]);
    nai_buf_printf(out, " %s%s", nai_phase_labels[phase].label, many && phase == NAI_CAPTURE_GPU ? " on any GPU" : "");
    nai_capture_course_parts(out, report, (enum nai_capture_phase)phase, whole / 100);
    separator = ", ";
  }
}

void nai_capture_course_line(struct nai_buf *out, const struct nai_report *report) {
  struct nai_capture_course course;
  nai_capture_course_of(&course, report);
  if (!course.recorded)
    return;
  nai_fmt_duration(out, (double)course.recorded);
  put_phases(out, report, &course, true, ": ");
  put_phases(out, report, &course, false, "; plus ");
  nai_buf_puts(out, course.input ? "; shares of the capture leave waiting for input out" : "");
}

/* From when to when a phase is recorded; false: it is not. */
static bool find_bounds(int64_t *start, int64_t *end, const struct nai_report *report, int phase) {
  const struct nai_table *parts = nai_report_table(report, "capture_time");
  *start = INT64_MAX;
  *end = INT64_MIN;
  for (int64_t i = 0; i < parts->rows; i++) {
    const struct CAPTURE_TIME_row part = CAPTURE_TIME_at(parts, i);
    if (phase_of(part.phase) != phase || part.start_ns == NAI_NULL_I64)
      continue;
    *start = part.start_ns < *start ? part.start_ns : *start;
    *end = part.end_ns > *end ? part.end_ns : *end;
  }
  return *start < *end;
}

/* Cells whose middle lies in a stretch become that phase; GPU work stays, and setup but for that. */
static void draw(enum nai_capture_phase *cells, int count, double start, double length, double from, double to,
                 enum nai_capture_phase phase) {
  const double first = ceil((from - start) / length * count - 0.5), behind = ceil((to - start) / length * count - 0.5);
  for (int i = first > 0 ? (int)fmin(first, count) : 0; i < count && i < behind; i++)
    if (cells[i] != NAI_CAPTURE_GPU && (cells[i] != NAI_CAPTURE_SET_UP || phase == NAI_CAPTURE_GPU))
      cells[i] = phase;
}

bool nai_capture_course_cells(enum nai_capture_phase *cells, int count, const struct nai_report *report) {
  const struct nai_table *spans = nai_report_table(report, "active_spans");
  int64_t starts[NAI_CAPTURE_PHASE_COUNT], ends[NAI_CAPTURE_PHASE_COUNT], start = INT64_MAX, end = INT64_MIN;
  for (int phase = 0; phase < NAI_CAPTURE_PHASE_COUNT; phase++)
    if (find_bounds(&starts[phase], &ends[phase], report, phase) && nai_capture_phase_is_recorded(phase)) {
      start = starts[phase] < start ? starts[phase] : start;
      end = ends[phase] > end ? ends[phase] : end;
    }
  if (start >= end || !spans->rows) /* one shade says nothing */
    return false;
  const double from = (double)start, length = (double)end - from;
  bool gpu = false, other = false;
  for (int i = 0; i < count; i++)
    cells[i] = NAI_CAPTURE_AFTER;
  int64_t work = INT64_MAX;
  for (int64_t i = 0; i < spans->rows; i++) {
    const struct ACTIVE_SPANS_row span = ACTIVE_SPANS_at(spans, i);
    const bool sets_up = strcmp(span.kind, NAI_SPAN_SET_UP) == 0, pauses = strcmp(span.kind, NAI_SPAN_PAUSE) == 0;
    work = span.start_ns < work ? span.start_ns : work;
    draw(cells, count, from, length, (double)span.start_ns, (double)span.end_ns,
         sets_up  ? NAI_CAPTURE_SET_UP
         : pauses ? NAI_CAPTURE_BETWEEN
                  : NAI_CAPTURE_GPU);
  }
  const bool before = starts[NAI_CAPTURE_BEFORE] < ends[NAI_CAPTURE_BEFORE];
  const double called = before ? (double)ends[NAI_CAPTURE_BEFORE] : from;
  draw(cells, count, from, length, called, (double)work, NAI_CAPTURE_SET_UP);
  draw(cells, count, from, length, from, called, NAI_CAPTURE_BEFORE);
  for (int i = 0; i < count; i++)
    *(cells[i] == NAI_CAPTURE_GPU ? &gpu : &other) = true;
  return gpu && other;
}

void nai_capture_course_bar(struct nai_buf *out, const struct nai_report *report) {
  enum { WIDTH = 60 };
  enum nai_capture_phase cells[WIDTH];
  if (!nai_capture_course_cells(cells, WIDTH, report))
    return;
  for (int i = 0; i < WIDTH; i++) /* the bars of GPUs have ▓, ▒ and ░ for something else */
    nai_buf_puts(out, cells[i] == NAI_CAPTURE_GPU ? "\u2588" : cells[i] == NAI_CAPTURE_SET_UP ? "\u2501" : "\u00b7");
}
