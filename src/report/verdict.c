/* The verdict: how to read the capture, then what costs most and where. */
#include "report/capture_course.h"
#include "report/simulated.h"

#include "base/fmt.h"
#include "base/text.h"
#include "tables/events.h"
#include "tables/capture_health.h"
#include "tables/data_quality.h"
#include "tables/findings.h"
#include "tables/gpu_active.h"
#include "tables/gpu_utilization.h"
#include "tables/idle_causes.h"
#include "tables/nvtx_ranges.h"
#include "tables/profile_targets.h"
#include "tables/repeating_units.h"
#include "tables/workload.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum nai_severity nai_report_severity(const struct nai_table *findings, int64_t row) {
  int severity = nai_severity_from_name(nai_get_str(findings, row, FINDINGS_severity));
  return severity < 0 ? NAI_SEVERITY_INFO : (enum nai_severity)severity;
}

/* "PyTorch training in Python": what the program was recognised as; "" for plain CUDA. */
static const char *program(const struct nai_report *report) {
  const struct nai_table *workload = nai_report_table(report, "workload");
  for (int64_t i = 0; i < workload->rows; i++)
    if (nai_get_i64(workload, i, WORKLOAD_pid) == NAI_NULL_I64)
      return nai_get_str(workload, i, WORKLOAD_program);
  return "";
}

/* Whether a check of the capture came to a state. */
static bool found(const struct nai_report *report, const char *check, const char *state) {
  const struct nai_table *health = nai_report_table(report, "capture_health");
  for (int64_t i = 0; i < health->rows; i++)
    if (strcmp(nai_get_str(health, i, CAPTURE_HEALTH_check), check) == 0)
      return strcmp(nai_get_str(health, i, CAPTURE_HEALTH_state), state) == 0;
  return false;
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

/* The first words of a text, with dots where it goes on. */
static void put_words(struct nai_buf *out, const char *text, int most) {
  const char *end = text;
  for (int words = 0; *end && words < most; words++) {
    end += strspn(end, " ");
    end += strcspn(end, " ");
  }
  nai_buf_put(out, text, (size_t)(end - text));
  if (*end)
    nai_buf_puts(out, "...");
}

/* A name of the program's: a range may be called a sentence. */
static void put_name(struct nai_buf *out, const char *name) {
  enum { MAX_NAME_WORDS = 5, MAX_NAME_CHARS = 72 };
  NAI_SCOPED(nai_buf) words = {0};
  put_words(&words, name, MAX_NAME_WORDS);
  nai_text_cut(out, nai_buf_str(&words), words.len, MAX_NAME_CHARS);
  out->oom |= words.oom;
}

/* --- what it is about ----------------------------------------------------------------------------- */

/* The kernel that takes most of the compute time of a GPU; NULL: none does. */
struct dominant {
  const char *function;
  double pct;  /* of the active time */
  bool leads;  /* that is the first finding */
  bool behind; /* named behind "compute" */
};

/* As the rules find it; of several GPUs or kernels the largest share. */
static struct dominant find_dominant(const struct nai_report *report) {
  const struct nai_table *findings = nai_report_table(report, "findings"),
                         *kernels = nai_report_table(report, "profile_targets");
  struct dominant most = {0};
  for (int64_t f = 0; f < findings->rows; f++) {
    if (strcmp(nai_get_str(findings, f, FINDINGS_id), "dominant-kernel") != 0)
      continue;
    const char *place = nai_get_str(findings, f, FINDINGS_place);
    for (int64_t i = 0; i < kernels->rows; i++) {
      const struct PROFILE_TARGETS_row kernel = PROFILE_TARGETS_at(kernels, i);
      if (*kernel.function && kernel.pct_of_active > most.pct && strcmp(kernel.function, place) == 0)
        most = (struct dominant){.function = kernel.function, .pct = kernel.pct_of_active};
    }
  }
  return most;
}

/* --- the course of the capture -------------------------------------------------------------------- */

/* How much is said of the course of the capture: phases from a twentieth or a fifth of it on, its length, or nothing.
 */
enum course_detail { COURSE_WHOLE, COURSE_MAIN, COURSE_LENGTH, COURSE_NONE };

/* " (getc)": what the host did there most. */
static void put_main(struct nai_buf *out, const struct nai_report *report, const struct nai_capture_course *course,
                     enum nai_capture_phase phase) {
  const char *name = nai_capture_course_main(report, course, phase);
  if (!name)
    return;
  nai_buf_puts(out, " (");
  put_name(out, name);
  nai_buf_putc(out, ')');
}

/* "1.30 s before CUDA, 4.69 ms GPU work (busy 5.8 us), 32.9 s afterwards (getc)" */
static void put_phases(struct nai_buf *out, const struct nai_report *report, const struct nai_capture_course *course,
                       enum course_detail detail, bool with_gpu) {
  int64_t least = course->recorded / (detail == COURSE_WHOLE ? 20 : 5) + 1;
  const char *separator = "";
  for (int phase = 0; phase < NAI_CAPTURE_PHASE_COUNT; phase++) {
    bool gpu = phase == NAI_CAPTURE_GPU;
    if (phase == NAI_CAPTURE_NOT_RECORDED || (gpu ? !with_gpu : course->ns[phase] < least))
      continue;
    nai_buf_puts(out, separator);
    nai_fmt_duration(out, (double)course->ns[phase]);
    nai_buf_printf(out, " %s", nai_capture_phase_label(phase));
    if (phase == NAI_CAPTURE_CALLS && detail == COURSE_WHOLE)
      nai_capture_course_parts(out, report, NAI_CAPTURE_CALLS);
    if (detail <= COURSE_MAIN || with_gpu)
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
  nai_fmt_real(out, high, 1);
  nai_buf_puts(out, " %");
}

/* "2 GPUs, "; one that is the program's alone goes without saying behind what the program is. */
static void put_gpu_count(struct nai_buf *out, const struct nai_report *report) {
  int64_t gpus = nai_report_table(report, "gpu_utilization")->rows;
  if (gpus == 1 && out->len && !found(report, "gpus_shared", "note"))
    return;
  nai_fmt_count(out, gpus);
  nai_buf_puts(out, gpus == 1 ? " GPU" : " GPUs");
  nai_buf_puts(out, found(report, "gpus_shared", "note") ? " shared by processes, " : ", ");
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
      put_name(out, kernel->function);
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
static void put_active(struct nai_buf *out, const struct nai_report *report, const struct nai_capture_course *course,
                       const struct dominant *kernel, enum course_detail detail) {
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

/* "1.87 s: 1.30 s before CUDA, 4.69 ms GPU work (busy 5.8 us)." */
static void put_course(struct nai_buf *out, const struct nai_report *report, const struct nai_capture_course *course,
                       enum course_detail detail) {
  nai_fmt_duration(out, (double)course->recorded);
  if (detail != COURSE_NONE)
    put_session(out, course);
  nai_buf_puts(out, ": ");
  put_phases(out, report, course, detail, course->ns[NAI_CAPTURE_GPU] > 0);
  nai_buf_putc(out, '.');
}

/* --- losses --------------------------------------------------------------------------------------- */

/* What is said of losses, and what the sentence before has said. */
struct said {
  int64_t first, second;    /* rows of findings; -1: none */
  bool simulated;           /* the first one's saving */
  bool partition;           /* shares are of the active time so far */
  struct dominant dominant; /* named there */
  int64_t gpus;
};

/* The next finding that costs time, from `row` on; -1 for none. What is a share of the capture, its course says. */
static int64_t next_loss(const struct nai_table *findings, int64_t row) {
  for (; row < findings->rows; row++)
    if (nai_report_severity(findings, row) > NAI_SEVERITY_INFO && nai_get_i64(findings, row, FINDINGS_leads) != 1 &&
        strcmp(nai_get_str(findings, row, FINDINGS_share_of), "capture") != 0)
      return row;
  return -1;
}

/* Whether a loss counts by its share of the capture: where the GPU's work is a small part of that. */
static bool of_capture(const struct FINDINGS_row *finding, const struct said *said) {
  return !said->partition && finding->pct_of_capture > 0;
}

static void put_share(struct nai_buf *out, const struct FINDINGS_row *finding, const struct said *said) {
  double pct = of_capture(finding, said) ? finding->pct_of_capture : finding->pct_of_active;
  if (!isnan(pct))
    nai_fmt_percent(out, pct);
}

/* What that share is of. */
static const char *base_of(const struct FINDINGS_row *finding, const struct said *said) {
  return of_capture(finding, said) ? "capture" : finding->share_of;
}

/* A title within a sentence: without its capital, unless that belongs to a name. */
static void put_within(struct nai_buf *out, const char *title) {
  size_t word = strcspn(title, " ");
  bool name = false;
  for (size_t i = 1; i < word; i++)
    name |= isupper((unsigned char)title[i]) != 0;
  if (*title)
    nai_buf_printf(out, "%c%s", name ? *title : tolower((unsigned char)*title), title + 1);
}

/* A base that is not the one before: a pause is no part of the active time. */
static void put_base(struct nai_buf *out, const char *base, const char *before) {
  if (*base && strcmp(base, before) != 0)
    nai_buf_printf(out, " of %s%s", strcmp(base, "active time") == 0 ? "" : "the ", base);
}

/* The loss that is named behind the first one; -1: none is worth it. */
static int64_t second_loss(const struct nai_table *findings, int64_t first) {
  int64_t next = next_loss(findings, first + 1);
  while (next >= 0 && *nai_get_str(findings, next, FINDINGS_part_of))
    next = next_loss(findings, next + 1);
  return next >= 0 && nai_report_severity(findings, next) >= NAI_SEVERITY_MEDIUM ? next : -1;
}

/* ", simulated saving 3.52 ms per step (17.6 %)": where there is one that exceeds the model's error. */
static bool put_simulated(struct nai_buf *out, const struct nai_report *report, const struct FINDINGS_row *finding) {
  struct WHAT_IF_row simulated;
  if (!nai_report_simulated(&simulated, report, finding) || strcmp(simulated.state, "ok") != 0)
    return false;
  nai_buf_puts(out, ", simulated saving ");
  nai_report_put_simulated(out, &simulated);
  return true;
}

/* ", potential saving 25.5 ms (52.2 %, 12.0 % of the capture) on GPU 0" */
static void put_saving(struct nai_buf *out, const struct FINDINGS_row *finding, const struct said *said) {
  nai_buf_puts(out, ", potential saving ");
  nai_fmt_duration(out, (double)finding->saving_ns);
  nai_buf_puts(out, " (");
  put_share(out, finding, said);
  put_base(out, base_of(finding, said), said->partition ? "active time" : "");
  if (said->partition && strcmp(finding->share_of, "active time") == 0 &&
      finding->pct_of_capture < finding->pct_of_active * 3 / 4) {
    nai_buf_puts(out, ", ");
    nai_fmt_percent(out, finding->pct_of_capture);
    nai_buf_puts(out, " of the capture");
  }
  nai_buf_putc(out, ')');
  if (finding->gpu_count != said->gpus && strcmp(finding->scope, "run") != 0)
    nai_buf_printf(out, " on %s", finding->scope);
}

/* "12 %", or "simulated 9 %" where it was. */
static void put_part(struct nai_buf *out, const struct FINDINGS_row *finding, const struct said *said,
                     const char *before) {
  if (strcmp(finding->simulated_state, "ok") == 0) {
    nai_buf_puts(out, "simulated ");
    nai_fmt_percent(out, finding->simulated_pct);
    return;
  }
  put_share(out, finding, said);
  put_base(out, base_of(finding, said), before);
}

/* "; then title (place, 12 %)", behind a share of `before`. */
static void put_second(struct nai_buf *out, const struct FINDINGS_row *second, const struct said *said,
                       const char *before) {
  const char *place = strcmp(second->scope, "run") == 0 ? second->place : "";
  nai_buf_puts(out, "; then ");
  put_within(out, second->title);
  if (second->saving_ns == NAI_NULL_I64 && strcmp(second->simulated_state, "ok") != 0)
    return;
  nai_buf_puts(out, " (");
  put_name(out, place);
  nai_buf_puts(out, *place ? ", " : "");
  put_part(out, second, said, before);
  nai_buf_putc(out, ')');
}

/* How much is said of a loss. */
enum loss_detail { WITH_SECOND, SECOND_IN_SHORT, WITH_PLACE, WITH_SAVING, WITH_SHARE, TITLE_ONLY, NO_LOSS };

/* The first loss's place, unless that is the kernel which was named. */
static void put_place(struct nai_buf *out, const char *place, const struct said *said) {
  const struct dominant *kernel = &said->dominant;
  bool same = kernel->function && strcmp(place, kernel->function) == 0;
  if (!*place || (same && kernel->behind))
    return;
  nai_buf_puts(out, " (");
  put_name(out, place);
  if (same && kernel->leads && said->partition) {
    nai_buf_puts(out, ", ");
    nai_fmt_percent(out, kernel->pct);
  }
  nai_buf_putc(out, ')');
}

static void put_loss(struct nai_buf *out, const struct nai_report *report, const struct said *said,
                     enum loss_detail detail) {
  enum { MAX_TITLE_WORDS = 14, LITTLE_PCT = 1 /* of the capture: who wants it faster looks elsewhere */ };
  const struct nai_table *findings = nai_report_table(report, "findings");
  const struct FINDINGS_row first = FINDINGS_at(findings, said->first);
  bool little = first.pct_of_capture < LITTLE_PCT;
  nai_buf_puts(out, little ? "Little to save in the GPU work: " : "");
  if (little)
    put_within(out, first.title);
  else
    put_words(out, first.title, MAX_TITLE_WORDS);
  if (detail <= WITH_PLACE)
    put_place(out, first.place, said);
  const char *before = said->partition ? "active time" : "";
  if (detail <= WITH_SAVING && detail != SECOND_IN_SHORT && (little || !put_simulated(out, report, &first)) &&
      first.saving_ns != NAI_NULL_I64) {
    put_saving(out, &first, said);
    before = base_of(&first, said);
  }
  if ((detail == WITH_SHARE || detail == SECOND_IN_SHORT) && !isnan(first.pct_of_active)) {
    nai_buf_puts(out, " (");
    put_part(out, &first, said, said->partition ? "active time" : "");
    nai_buf_putc(out, ')');
  }
  if (detail <= SECOND_IN_SHORT && said->second >= 0) {
    const struct FINDINGS_row second = FINDINGS_at(findings, said->second);
    put_second(out, &second, said, before);
  }
  nai_buf_putc(out, '.');
}

/* A larger loss than `loss` (-1: none) that was rated lower, with the reason: else the reader wonders why the first
 * finding is not that one. Of a finding that was simulated the bound says nothing more. */
static void put_larger(struct nai_buf *out, const struct nai_table *findings, const struct said *said,
                       bool second_named) {
  enum { MAX_REASON_WORDS = 10 };
  int64_t loss = said->first, at = -1;
  int64_t most = loss < 0 ? 0 : nai_get_i64(findings, loss, FINDINGS_saving_ns);
  for (int64_t i = 0; i < findings->rows; i++) {
    const struct FINDINGS_row finding = FINDINGS_at(findings, i);
    if (i == loss || finding.saving_ns == NAI_NULL_I64 || finding.saving_ns <= most || !*finding.reason ||
        *finding.part_of || *finding.simulated_state || isnan(finding.pct_of_active) ||
        strcmp(finding.share_of, "active time") != 0)
      continue;
    most = finding.saving_ns;
    at = i;
  }
  if (at < 0)
    return;
  const struct FINDINGS_row larger = FINDINGS_at(findings, at);
  if (second_named && at == said->second) {
    nai_buf_puts(out, " The latter is larger but less certain: ");
    put_words(out, larger.reason, MAX_REASON_WORDS);
    nai_buf_putc(out, '.');
    return;
  }
  nai_buf_puts(out, loss < 0 ? " Less certain: " : " Larger but less certain: ");
  put_within(out, larger.title);
  nai_buf_puts(out, " (");
  put_share(out, &larger, said);
  nai_buf_puts(out, "; ");
  put_words(out, larger.reason, MAX_REASON_WORDS);
  nai_buf_puts(out, ").");
}

/* --- no loss -------------------------------------------------------------------------------------- */

/* The cause of most idle time of all GPUs; NULL: there is no idle time. */
static const char *main_cause(const struct nai_report *report) {
  const struct nai_table *causes = nai_report_table(report, "idle_causes");
  const char *cause = NULL;
  for (int64_t i = 0, most = 0; i < causes->rows; i++)
    if (nai_get_i64(causes, i, IDLE_CAUSES_active_ns) > most) {
      most = nai_get_i64(causes, i, IDLE_CAUSES_active_ns);
      cause = nai_get_str(causes, i, IDLE_CAUSES_cause);
    }
  return cause ? nai_column_label(&causes->schema->columns[IDLE_CAUSES_cause], cause) : NULL;
}

/* Why there is nothing to act on: what fills the time. A GPU that is idle is never called well used. */
static void put_no_loss(struct nai_buf *out, const struct nai_report *report) {
  enum { IDLE_PCT = 10 };
  const struct nai_table *gpus = nai_report_table(report, "gpu_active");
  double idle = 0, copy = 0;
  for (int64_t i = 0; i < gpus->rows; i++) {
    double idle_pct = nai_get_f64(gpus, i, GPU_ACTIVE_idle_pct),
           copy_pct = nai_get_f64(gpus, i, GPU_ACTIVE_exposed_copy_pct);
    idle = idle_pct > idle ? idle_pct : idle;
    copy = copy_pct > copy ? copy_pct : copy;
  }
  const char *cause = main_cause(report);
  struct nai_capture_course course;
  nai_capture_course_of(&course, report);
  if (nai_capture_course_hardly_works(&course) && idle < IDLE_PCT) { /* what fills the GPU's time fills little of it */
    nai_buf_puts(out, " No actionable finding in the GPU work.");
    return;
  }
  if (idle >= IDLE_PCT && cause)
    nai_buf_printf(out, " No actionable finding: most idle time is %s.", cause);
  else
    nai_buf_puts(out, idle + copy >= IDLE_PCT ? " No actionable finding."
                                              : " No actionable finding: compute fills the time.");
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
    put_name(&words, unit.nvtx_path);
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
  put_name(out, range.range_name);
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
  const char *what = program(report);
  NAI_SCOPED(nai_buf) out = {0};
  bool any = false;
  for (int64_t i = 0; i < findings->rows && nai_get_i64(findings, i, FINDINGS_leads) == 1; i++) {
    if (gpus && nai_report_severity(findings, i) == NAI_SEVERITY_INFO)
      continue;
    const char *title = nai_get_str(findings, i, FINDINGS_title), *place = nai_get_str(findings, i, FINDINGS_place);
    if (any)
      nai_buf_puts(&out, "; ");
    else if (*what)
      nai_buf_printf(&out, "%s. ", what);
    if (any)
      put_within(&out, title);
    else
      nai_buf_puts(&out, title);
    if (*place) {
      nai_buf_puts(&out, " (");
      put_name(&out, place);
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
  const char *what = led ? "" : program(report);
  nai_capture_course_of(&course, report);
  bool ranges = nai_report_table(report, "nvtx_ranges")->rows > 0, calls = course.ns[NAI_CAPTURE_CALLS] > 0;
  if (*what)
    nai_buf_printf(out, "%s%s", what, gpus || calls ? ", " : ". ");
  if (said->partition)
    put_active(out, report, &course, &said->dominant, detail);
  else if (gpus || calls)
    put_course(out, report, &course, detail);
  else if (ranges && !put_rounds(out, report))
    put_longest_range(out, report);
  else if (!ranges && course.recorded > 0 && !led) {
    nai_buf_puts(out, "No CUDA call in ");
    nai_fmt_duration(out, (double)course.recorded);
    nai_buf_puts(out, " of capture: the program used no GPU, or CUDA was not traced.");
  } else if (!ranges && !led)
    nai_buf_puts(out, "No event in this trace.");
  if (!gpus && !led && found(report, "cuda_traced", "problem"))
    nai_buf_puts(out, " Record with nsys profile --trace=cuda,nvtx,osrt.");
}

/* What there is to say of losses. */
static void find_said(struct said *out, const struct nai_report *report, bool gpus, bool losses) {
  const struct nai_table *findings = nai_report_table(report, "findings");
  struct nai_capture_course course;
  nai_capture_course_of(&course, report);
  out->first = losses ? next_loss(findings, 0) : -1;
  out->second = out->first >= 0 ? second_loss(findings, out->first) : -1;
  out->partition = gpus && !nai_capture_course_hardly_works(&course);
  out->dominant = find_dominant(report);
  out->dominant.leads =
      out->first >= 0 && strcmp(nai_get_str(findings, out->first, FINDINGS_id), "dominant-kernel") == 0;
  out->simulated = out->first >= 0 && strcmp(nai_get_str(findings, out->first, FINDINGS_simulated_state), "ok") == 0;
  out->gpus = nai_report_table(report, "gpu_utilization")->rows;
}

/* The same for a detail: a kernel that the losses behind it are about is not named before. */
static struct said said_with(const struct said *said, const struct nai_report *report, enum loss_detail detail) {
  struct said with = *said;
  const struct nai_table *findings = nai_report_table(report, "findings");
  bool second = detail <= SECOND_IN_SHORT && said->second >= 0 && said->dominant.function &&
                strcmp(nai_get_str(findings, said->second, FINDINGS_place), said->dominant.function) == 0;
  with.dominant.behind = said->partition && said->dominant.function && !second && !said->dominant.leads;
  return with;
}

/* The course and the losses: as much of both as fits. A larger loss that was rated lower goes before details. */
static void add_main(struct verdict *v, const struct nai_report *report, bool gpus, bool led, bool losses) {
  static const struct {
    enum course_detail course;
    enum loss_detail loss;
  } ways[] = {{COURSE_WHOLE, WITH_SECOND}, {COURSE_MAIN, WITH_SECOND},  {COURSE_MAIN, SECOND_IN_SHORT},
              {COURSE_WHOLE, WITH_PLACE},  {COURSE_MAIN, WITH_PLACE},   {COURSE_MAIN, WITH_SAVING},
              {COURSE_MAIN, WITH_SHARE},   {COURSE_LENGTH, WITH_PLACE}, {COURSE_LENGTH, WITH_SAVING},
              {COURSE_NONE, WITH_SAVING},  {COURSE_NONE, WITH_SHARE},   {COURSE_NONE, TITLE_ONLY},
              {COURSE_NONE, NO_LOSS}};
  enum { WAYS = sizeof ways / sizeof *ways };
  const struct nai_table *findings = nai_report_table(report, "findings");
  struct said said;
  find_said(&said, report, gpus, losses);
  for (int i = 0; i < 2 * WAYS; i++) {
    NAI_SCOPED(nai_buf) piece = {0};
    enum loss_detail detail = ways[i % WAYS].loss;
    if ((i < WAYS && detail >= TITLE_ONLY) || (detail == SECOND_IN_SHORT && !said.simulated))
      continue;
    struct said with = said_with(&said, report, detail);
    put_program(&piece, report, &with, gpus, led, ways[i % WAYS].course);
    nai_buf_puts(&piece, piece.len && said.first >= 0 ? " " : "");
    if (said.first >= 0 && detail != NO_LOSS)
      put_loss(&piece, report, &with, detail);
    else if (losses && gpus && said.first < 0)
      put_no_loss(&piece, report);
    if (losses && i < WAYS)
      put_larger(&piece, findings, &with, detail <= SECOND_IN_SHORT);
    if (add(v, &piece))
      return;
  }
}

void nai_report_verdict(struct nai_buf *out, enum nai_severity *severity, const struct nai_report *report) {
  const struct nai_table *findings = nai_report_table(report, "findings");
  /* Copies without the kernels that were launched say nothing on time that was lost. */
  bool recorded = !found(report, "gpu_activity_recorded", "problem");
  bool gpus = recorded && nai_report_table(report, "gpu_utilization")->rows > 0;
  NAI_SCOPED(verdict) v = {0};
  *severity = NAI_SEVERITY_INFO;
  for (int64_t i = 0; i < findings->rows; i++)
    if (nai_report_severity(findings, i) > *severity)
      *severity = nai_report_severity(findings, i);
  add_missing(&v, report);
  bool led = add_leading(&v, report, gpus);
  add_main(&v, report, gpus, led, recorded && !found(report, "did_its_work", "problem"));
  out->oom |= v.text.oom;
  nai_buf_puts(out, nai_buf_str(&v.text));
}
