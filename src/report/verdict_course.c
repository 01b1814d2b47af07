/* Of the verdict: where the capture's time went, and what GPUs did in theirs. */
#include "report/verdict_parts.h"

#include "base/fmt.h"
#include "table/kernel_name.h"
#include "tables/gpu_active.h"
#include "tables/gpu_utilization.h"

enum { NAME_CHARS = 72 };

/* " (getc)", " (getc 1.20 s)": what the host did there most, a function without its template arguments. */
static void put_main(struct nai_buf *out, const struct nai_report *report, const struct nai_capture_course *course,
                     enum nai_capture_phase phase) {
  const struct nai_capture_main most = nai_capture_course_main(report, course, phase);
  if (!most.what && !most.function)
    return;
  NAI_SCOPED(nai_buf) function = {0};
  nai_buf_puts(out, " (");
  if (most.what) {
    nai_buf_puts(out, most.what);
  } else {
    nai_function_name_short(&function, most.function, NAME_CHARS);
    size_t bare = strcspn(nai_buf_str(&function), "<");
    nai_buf_put(out, nai_buf_str(&function), bare ? bare : function.len);
    out->oom |= function.oom;
  }
  if (most.function_ns) {
    nai_buf_putc(out, ' ');
    nai_fmt_duration(out, (double)most.function_ns);
  }
  if (most.own_ns) {
    nai_buf_puts(out, ", outside of CUDA calls ");
    nai_fmt_duration(out, (double)most.own_ns);
  }
  nai_buf_putc(out, ')');
}

/* "1.30 s before CUDA, 22.5 ms active (busy 5.8 us), 32.9 s afterwards (getc)" */
static void put_phases(struct nai_buf *out, const struct nai_report *report, const struct nai_capture_course *course,
                       enum course_detail detail, bool with_gpu) {
  int64_t least = course->recorded / (detail == COURSE_WHOLE ? 20 : 5) + 1;
  const char *separator = "";
  for (int phase = 0; phase < NAI_CAPTURE_PHASE_COUNT; phase++) {
    bool gpu = phase == NAI_CAPTURE_GPU;
    if (!nai_capture_phase_is_recorded(phase) || (gpu ? !with_gpu : course->ns[phase] < least))
      continue;
    nai_buf_puts(out, separator);
    nai_fmt_duration(out, (double)course->ns[phase]);
    nai_buf_printf(out, " %s", nai_phase_labels[phase].label);
    if (phase == NAI_CAPTURE_CALLS && detail == COURSE_WHOLE)
      nai_capture_course_parts(out, report, NAI_CAPTURE_CALLS, least);
    if (detail <= COURSE_MAIN || (with_gpu && detail != COURSE_PHASES))
      put_main(out, report, course, (enum nai_capture_phase)phase);
    if (gpu) {
      nai_buf_puts(out, " (busy ");
      nai_fmt_duration(out, (double)course->busy);
      nai_buf_putc(out, ')');
    }
    separator = ", ";
  }
}

/* " of a 119 s session": what was recorded is a small part of it. */
static void put_session(struct nai_buf *out, const struct nai_capture_course *course) {
  if (course->total / 2 <= course->recorded)
    return;
  nai_buf_puts(out, " of a ");
  nai_fmt_duration(out, (double)course->total);
  nai_buf_puts(out, " session");
}

/* --- what GPUs did -------------------------------------------------------------------------------- */

struct part {
  int active, window; /* columns of gpu_active and gpu_utilization */
  const char *text;
};

static void put_percent(struct nai_buf *out, double low, double high) {
  if (high - low >= 0.05) {
    nai_fmt_real(out, low, 1);
    nai_buf_putc(out, '-');
  }
  nai_fmt_percent(out, high);
}

/* "2 GPUs, "; one that is the program's alone goes without saying behind what the program is. */
static void put_gpu_count(struct nai_buf *out, const struct nai_report *report) {
  int64_t gpus = nai_report_table(report, "gpu_utilization")->rows;
  if (gpus == 1 && out->len && !nai_report_verdict_found(report, "gpus_shared", "note"))
    return;
  nai_fmt_count(out, gpus);
  nai_buf_puts(out, gpus == 1 ? " GPU" : " GPUs");
  nai_buf_puts(out, nai_report_verdict_found(report, "gpus_shared", "note") ? " shared by processes, " : ", ");
}

/* "84.6-85.8 % compute (render 80.1 %), 8.7-10.5 % idle": what is `least` percent or more on some GPU. */
static void put_partition(struct nai_buf *out, const struct nai_report *report, const struct dominant *kernel,
                          double least) {
  static const struct part parts[] = {{GPU_ACTIVE_compute_pct, GPU_UTILIZATION_compute_pct, "compute"},
                                      {GPU_ACTIVE_exposed_comm_pct, GPU_UTILIZATION_exposed_comm_pct,
                                       "exposed communication"},
                                      {GPU_ACTIVE_exposed_copy_pct, GPU_UTILIZATION_exposed_copy_pct, "exposed copies"},
                                      {GPU_ACTIVE_idle_pct, GPU_UTILIZATION_idle_pct_of_window, "idle"}};
  const struct nai_table *gpus = nai_report_table(report, "gpu_active");
  bool active = gpus->rows > 0;
  gpus = active ? gpus : nai_report_table(report, "gpu_utilization");
  const char *separator = "";
  for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < gpus->rows; i++) {
      double v = nai_get_f64(gpus, i, active ? parts[p].active : parts[p].window);
      low = v < low ? v : low;
      high = v > high ? v : high;
    }
    if (!(high >= least))
      continue;
    nai_buf_puts(out, separator);
    put_percent(out, low, high);
    nai_buf_printf(out, " %s", parts[p].text);
    if (parts[p].active == GPU_ACTIVE_compute_pct && kernel->behind) {
      nai_buf_puts(out, " (");
      nai_report_verdict_name(out, kernel->function);
      nai_buf_putc(out, ' ');
      nai_fmt_percent(out, kernel->pct);
      nai_buf_putc(out, ')');
    }
    separator = ", ";
  }
}

/* The longest active time of a GPU, or its window. */
static int64_t active_ns(const struct nai_report *report) {
  const struct nai_table *active = nai_report_table(report, "gpu_active"),
                         *windows = nai_report_table(report, "gpu_utilization");
  int64_t longest = 0;
  for (int64_t i = 0; i < active->rows; i++) {
    int64_t ns = nai_get_i64(active, i, GPU_ACTIVE_active_ns);
    longest = ns > longest ? ns : longest;
  }
  for (int64_t i = 0; !active->rows && i < windows->rows; i++) {
    int64_t ns = nai_get_i64(windows, i, GPU_UTILIZATION_window_ns);
    longest = ns > longest ? ns : longest;
  }
  return longest;
}

/* "2 GPUs, active for 299.8 ms of 330.0 ms (25.0 ms before CUDA): 85.0 % compute, 15.0 % idle." */
void nai_report_verdict_active(struct nai_buf *out, const struct nai_report *report,
                               const struct nai_capture_course *course, const struct dominant *kernel,
                               enum course_detail detail) {
  enum { MOST_OF_IT = 90 };
  NAI_SCOPED(nai_buf) phases = {0};
  bool most = (double)course->ns[NAI_CAPTURE_GPU] * 100 >= (double)course->recorded * MOST_OF_IT;
  put_gpu_count(out, report);
  nai_buf_puts(out, "active for ");
  nai_fmt_duration(out, (double)active_ns(report));
  if (detail < COURSE_LENGTH)
    put_phases(&phases, report, course, detail, false);
  if (!most && detail != COURSE_NONE) {
    nai_buf_puts(out, " of ");
    nai_fmt_duration(out, (double)course->recorded);
    nai_buf_printf(out, phases.len ? " (%s)" : "%s", nai_buf_str(&phases));
  } else if (detail != COURSE_NONE) {
    put_session(out, course);
  }
  out->oom |= phases.oom;
  nai_buf_puts(out, ": ");
  put_partition(out, report, kernel, detail == COURSE_WHOLE ? 1 : 2.5);
  nai_buf_putc(out, '.');
}

/* "1.87 s: 1.30 s before CUDA, 22.5 ms active (busy 5.8 us)." */
void nai_report_verdict_course(struct nai_buf *out, const struct nai_report *report,
                               const struct nai_capture_course *course, enum course_detail detail) {
  nai_fmt_duration(out, (double)course->recorded);
  if (detail != COURSE_NONE)
    put_session(out, course);
  nai_buf_puts(out, ": ");
  put_phases(out, report, course, detail, course->ns[NAI_CAPTURE_GPU] > 0);
  nai_buf_putc(out, '.');
}
