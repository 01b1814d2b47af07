/* The verdict: how to read the capture, then what costs most and where. */
#include "report/verdict_parts.h"

#include "base/fmt.h"
#include "tables/events.h"
#include "tables/data_quality.h"
#include "tables/findings.h"
#include "tables/nvtx_ranges.h"
#include "tables/process_summary.h"
#include "tables/repeating_units.h"
#include "tables/workload.h"

/* The executable of all kernels; "" where there are several. */
static const char *executable(const struct nai_report *report) {
  const struct nai_table *processes = nai_report_table(report, "process_summary");
  const char *only = "";
  for (int64_t i = 0; i < processes->rows; i++) {
    const char *name = nai_get_str(processes, i, PROCESS_SUMMARY_process_name);
    if (nai_get_i64(processes, i, PROCESS_SUMMARY_kernel_count) <= 0)
      continue;
    if (!*name || (*only && strcmp(only, name) != 0))
      return "";
    only = name;
  }
  return only;
}

/* "PyTorch training in Python": what the program was recognised as. What a compiled one is called, where no framework
 * is known: "gaussian"; "vecAdd, CUDA exercise in C++"; an interpreter's name says nothing. Else what it is built on:
 * "CUDA program". */
static void put_what(struct nai_buf *out, const struct nai_report *report) {
  const struct nai_table *workload = nai_report_table(report, "workload");
  for (int64_t i = 0; i < workload->rows; i++) {
    const struct WORKLOAD_row row = WORKLOAD_at(workload, i);
    bool compiled = strcmp(row.language, "C++") == 0 || strcmp(row.language, "Fortran") == 0;
    const char *name = compiled ? executable(report) : "";
    if (row.pid != NAI_NULL_I64)
      continue;
    const bool plain = !*row.engine && (strcmp(row.framework, "CUDA") == 0 || strcmp(row.framework, "unknown") == 0);
    if (*name && (plain || !*row.program)) {
      nai_report_verdict_name(out, name);
      nai_buf_printf(out, "%s%s", *row.program ? ", " : "", row.program);
    } else if (*row.program) {
      nai_buf_puts(out, row.program);
    } else if (*row.framework && strcmp(row.framework, "unknown") != 0) {
      nai_buf_printf(out, "%s program", row.framework);
    }
  }
}

/* --- words ---------------------------------------------------------------------------------------- */

/* More than this nobody reads at a glance. */
enum { MAX_WORDS = 45 };

/* What is being written, and whether it may still grow. */
struct verdict {
  struct nai_buf text;
  int words;
};

static void verdict_free(struct verdict *v) { nai_buf_free(&v->text); }

static int count_words(const char *text) {
  int words = 0;
  for (; *text; text += strcspn(text, " ")) {
    text += strspn(text, " ");
    words += *text != '\0';
  }
  return words;
}

/* Adds a piece if it fits. */
static bool add(struct verdict *v, const struct nai_buf *piece) {
  int words = count_words(nai_buf_str(piece));
  v->text.oom |= piece->oom;
  if (!words || v->words + words > MAX_WORDS)
    return false;
  if (v->words)
    nai_buf_putc(&v->text, ' ');
  nai_buf_puts(&v->text, nai_buf_str(piece));
  v->words += words;
  return true;
}

/* --- the capture ---------------------------------------------------------------------------------- */

/* Tables of which data_quality has that check, behind `words`: "NVTX_EVENTS (1,204 rows), CUPTI_... and 3 more." */
static void add_tables(struct verdict *v, const struct nai_table *quality, const char *check, const char *words) {
  enum { MAX_NAMED = 2 };
  NAI_SCOPED(nai_buf) out = {0};
  int named = 0, more = 0;
  for (int64_t i = 0; i < quality->rows; i++) {
    const struct DATA_QUALITY_row row = DATA_QUALITY_at(quality, i);
    if (strcmp(row.check, check) != 0)
      continue;
    if (named == MAX_NAMED) {
      more++;
      continue;
    }
    nai_buf_printf(&out, "%s%s", named++ ? ", " : words, row.source_table);
    if (row.count <= 0) /* nobody can tell any more */
      continue;
    nai_buf_puts(&out, " (");
    nai_fmt_count(&out, row.count);
    nai_buf_puts(&out, row.count == 1 ? " row)" : " rows)");
  }
  if (more)
    nai_buf_printf(&out, " and %d more", more);
  if (named)
    nai_buf_putc(&out, '.');
  add(v, &out);
}

/* Before all else: what is not there cannot be told from what was never recorded. */
static void add_missing(struct verdict *v, const struct nai_report *report) {
  const struct nai_table *quality = nai_report_table(report, "data_quality");
  add_tables(v, quality, NAI_CHECK_DAMAGE, "The trace is damaged; left out: ");
  add_tables(v, quality, "rows-missing", "Rows are missing from the trace, deleted or lost: ");
}

/* The row of a process's range; -1: none of that name. */
static int64_t find_range(const struct nai_table *ranges, int64_t pid, const char *name) {
  for (int64_t i = 0; i < ranges->rows; i++)
    if (nai_get_i64(ranges, i, NVTX_RANGES_pid) == pid &&
        strcmp(nai_get_str(ranges, i, NVTX_RANGES_range_name), name) == 0)
      return i;
  return -1;
}

/* "135 rounds, median 60.2 ms: find_centers 31.7 ms, 3D_backbone 17.8 ms.": ranges of the process whose range takes
 * most time that come one behind the other, again and again. Whether there are several. */
static bool put_rounds(struct nai_buf *out, const struct nai_report *report) {
  enum { MAX_RANGES = 3, WORTH = 20 /* of the round */ };
  const struct nai_table *units = nai_report_table(report, "repeating_units"),
                         *ranges = nai_report_table(report, "nvtx_ranges");
  NAI_SCOPED(nai_buf) words = {0};
  int named = 0;
  for (int64_t i = 0; i < units->rows && named < MAX_RANGES; i++) {
    const struct REPEATING_UNITS_row unit = REPEATING_UNITS_at(units, i), first = REPEATING_UNITS_at(units, 0);
    int64_t at = unit.kernel_count || unit.pid != first.pid ? -1 : find_range(ranges, unit.pid, unit.nvtx_path);
    double median = at < 0 ? 0 : nai_get_f64(ranges, at, NVTX_RANGES_p50_duration_ns);
    if (!(median * WORTH >= (double)unit.median_ns))
      continue;
    if (!named) {
      nai_fmt_count(&words, unit.repetitions);
      nai_buf_puts(&words, " rounds, median ");
      nai_fmt_duration(&words, (double)unit.median_ns);
    }
    nai_buf_puts(&words, named++ ? ", " : ": ");
    nai_report_verdict_name(&words, unit.nvtx_path);
    nai_buf_putc(&words, ' ');
    nai_fmt_duration(&words, median);
  }
  out->oom |= words.oom;
  if (named > 1)
    nai_buf_printf(out, "%s.", nai_buf_str(&words));
  return named > 1;
}

/* Without GPU activity ranges are what there is. */
static void put_longest_range(struct nai_buf *out, const struct nai_report *report) {
  const struct nai_table *ranges = nai_report_table(report, "nvtx_ranges");
  int64_t most = 0;
  for (int64_t i = 1; i < ranges->rows; i++)
    most = nai_get_i64(ranges, i, NVTX_RANGES_total_time_ns) > nai_get_i64(ranges, most, NVTX_RANGES_total_time_ns)
             ? i
             : most;
  if (!ranges->rows)
    return;
  const struct NVTX_RANGES_row range = NVTX_RANGES_at(ranges, most);
  nai_buf_puts(out, "The range with most time is ");
  nai_report_verdict_name(out, range.range_name);
  nai_buf_puts(out, ": ");
  nai_fmt_duration(out, (double)range.total_time_ns);
  nai_buf_puts(out, " in ");
  nai_fmt_count(out, range.count);
  nai_buf_puts(out, range.count == 1 ? " execution" : " executions");
  if (range.count > 1 && !isnan(range.p50_duration_ns)) {
    nai_buf_puts(out, ", median ");
    nai_fmt_duration(out, range.p50_duration_ns);
  }
  nai_buf_putc(out, '.');
}

/* What comes before any number: a failure, or what was not recorded. What only says how to read them (severity info)
 * is said by the course of the capture. */
static bool add_leading(struct verdict *v, const struct nai_report *report, bool gpus) {
  const struct nai_table *findings = nai_report_table(report, "findings");
  NAI_SCOPED(nai_buf) out = {0}, what = {0};
  put_what(&what, report);
  bool any = false;
  for (int64_t i = 0; i < findings->rows; i++) {
    if (nai_get_i64(findings, i, FINDINGS_leads) != 1 ||
        (gpus && nai_report_severity(findings, i) == NAI_SEVERITY_INFO))
      continue;
    const char *title = nai_get_str(findings, i, FINDINGS_title), *place = nai_get_str(findings, i, FINDINGS_place);
    if (any)
      nai_buf_puts(&out, "; ");
    else if (what.len)
      nai_buf_printf(&out, "%s. ", nai_buf_str(&what));
    if (any)
      nai_report_verdict_within(&out, title);
    else
      nai_buf_puts(&out, title);
    if (*place) {
      nai_buf_puts(&out, " (");
      nai_report_verdict_name(&out, place);
      nai_buf_putc(&out, ')');
    }
    any = true;
  }
  if (any)
    nai_buf_putc(&out, '.');
  add(v, &out);
  return any;
}

/* What the program is, behind it where its time went. */
static void put_program(struct nai_buf *out, const struct nai_report *report, const struct said *said, bool gpus,
                        bool led, enum course_detail detail) {
  struct nai_capture_course course;
  if (!led)
    put_what(out, report);
  nai_capture_course_of(&course, report);
  bool ranges = nai_report_table(report, "nvtx_ranges")->rows > 0, calls = course.ns[NAI_CAPTURE_CALLS] > 0;
  if (out->len)
    nai_buf_puts(out, gpus || calls ? ", " : ". ");
  if (said->partition)
    nai_report_verdict_active(out, report, &course, &said->dominant, detail);
  else if (gpus || calls)
    nai_report_verdict_course(out, report, &course, detail);
  else if (ranges && !put_rounds(out, report))
    put_longest_range(out, report);
  else if (!ranges && course.recorded > 0 && !led) {
    nai_buf_puts(out, "No CUDA call in ");
    nai_fmt_duration(out, (double)course.recorded);
    nai_buf_puts(out, " of capture: the program used no GPU, or CUDA was not traced.");
  } else if (!ranges && !led)
    nai_buf_puts(out, "No event in this trace.");
  if (!gpus && !led && nai_report_verdict_found(report, "cuda_traced", "problem"))
    nai_buf_puts(out, " Record with nsys profile --trace=cuda,nvtx,osrt.");
}

/* The course and the losses: as much of both as fits. A larger loss that was rated lower goes before details. */
static void add_main(struct verdict *v, const struct nai_report *report, bool gpus, bool led, bool losses) {
  enum { SIMULATED = 1, CAPTURE = 2, ANY = 0 };
  static const struct {
    enum course_detail course;
    enum loss_detail loss;
    int only; /* where the first loss's saving was simulated, where it is a share of the capture */
  } ways[] = {{COURSE_WHOLE, WITH_SECOND, ANY},
              {COURSE_MAIN, WITH_SECOND, ANY},
              {COURSE_PHASES, WITH_SECOND, SIMULATED | CAPTURE},
              {COURSE_MAIN, SECOND_IN_SHORT, SIMULATED | CAPTURE},
              {COURSE_LENGTH, SECOND_IN_SHORT, CAPTURE},
              {COURSE_WHOLE, WITH_PLACE, ANY},
              {COURSE_MAIN, WITH_PLACE, ANY},
              {COURSE_MAIN, WITH_SAVING, ANY},
              {COURSE_MAIN, WITH_SHARE, ANY},
              {COURSE_LENGTH, WITH_PLACE, ANY},
              {COURSE_LENGTH, WITH_SAVING, ANY},
              {COURSE_NONE, WITH_SAVING, ANY},
              {COURSE_NONE, WITH_SHARE, ANY},
              {COURSE_NONE, TITLE_ONLY, ANY},
              {COURSE_NONE, NO_LOSS, ANY}};
  enum { WAYS = sizeof ways / sizeof *ways };
  const struct nai_table *findings = nai_report_table(report, "findings");
  struct said said;
  nai_report_verdict_find_said(&said, report, gpus, losses);
  for (int i = 0; i < 3 * WAYS; i++) { /* with the larger one's reason, without, without the larger one */
    NAI_SCOPED(nai_buf) piece = {0};
    enum loss_detail detail = ways[i % WAYS].loss;
    const int only = ways[i % WAYS].only, is = (said.simulated ? SIMULATED : 0) | (said.of_capture ? CAPTURE : 0);
    if ((i < 2 * WAYS && detail >= TITLE_ONLY) || (only && !(only & is)))
      continue;
    struct said with = nai_report_verdict_said_with(&said, report, detail);
    put_program(&piece, report, &with, gpus, led, ways[i % WAYS].course);
    nai_buf_puts(&piece, piece.len && said.first >= 0 ? " " : "");
    if (said.first >= 0 && detail != NO_LOSS)
      nai_report_verdict_loss(&piece, report, &with, detail);
    NAI_SCOPED(nai_buf) larger = {0};
    if (losses && i < 2 * WAYS)
      nai_report_verdict_larger(&larger, findings, &with, detail <= SECOND_IN_SHORT, i < WAYS);
    if (losses && gpus && said.first < 0)
      nai_report_verdict_no_loss(&piece, report, larger.len > 0);
    nai_buf_puts(&piece, nai_buf_str(&larger));
    piece.oom |= larger.oom;
    if (add(v, &piece))
      return;
  }
}

void nai_report_verdict(struct nai_buf *out, enum nai_severity *severity, const struct nai_report *report) {
  const struct nai_table *findings = nai_report_table(report, "findings");
  /* Copies without the kernels that were launched say nothing on time that was lost. */
  bool recorded = !nai_report_verdict_found(report, "gpu_activity_recorded", "problem");
  bool gpus = recorded && nai_report_table(report, "gpu_utilization")->rows > 0;
  NAI_SCOPED(verdict) v = {0};
  *severity = NAI_SEVERITY_INFO;
  for (int64_t i = 0; i < findings->rows; i++)
    if (nai_report_severity(findings, i) > *severity)
      *severity = nai_report_severity(findings, i);
  add_missing(&v, report);
  bool led = add_leading(&v, report, gpus);
  add_main(&v, report, gpus, led, recorded && !nai_report_verdict_found(report, "did_its_work", "problem"));
  out->oom |= v.text.oom;
  nai_buf_puts(out, nai_buf_str(&v.text));
}
