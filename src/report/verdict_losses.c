/* Of the verdict: what costs most, or why nothing does. */
#include "report/verdict_parts.h"

#include "base/fmt.h"
#include "report/simulated.h"
#include "tables/findings.h"
#include "tables/gpu_active.h"
#include "tables/idle_causes.h"
#include "tables/profile_targets.h"

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

static bool is_of_capture(const struct nai_table *findings, int64_t row) {
  return strcmp(nai_get_str(findings, row, FINDINGS_share_of), "capture") == 0;
}

/* The next finding that costs time, from `row` on; -1 for none. */
static int64_t next_loss(const struct nai_table *findings, int64_t row) {
  for (; row < findings->rows; row++)
    if (nai_report_severity(findings, row) > NAI_SEVERITY_INFO && nai_get_i64(findings, row, FINDINGS_leads) != 1)
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

/* A base that is not the one before: a pause is no part of the active time. */
static void put_base(struct nai_buf *out, const char *base, const char *before) {
  if (*base && strcmp(base, before) != 0)
    nai_buf_printf(out, " of %s%s", strcmp(base, "active time") == 0 ? "" : "the ", base);
}

/* The loss that is named behind the first one; -1: none is worth it. Behind a share of the capture it is the GPU's. */
static int64_t second_loss(const struct nai_table *findings, int64_t first) {
  const bool of_capture = is_of_capture(findings, first);
  int64_t next = next_loss(findings, first + 1);
  while (next >= 0 && (*nai_get_str(findings, next, FINDINGS_part_of) || is_of_capture(findings, next)))
    next = next_loss(findings, next + 1);
  return next >= 0 && (of_capture || nai_report_severity(findings, next) >= NAI_SEVERITY_MEDIUM) ? next : -1;
}

/* ", simulated saving 3.52 ms per step (17.6 %)": where there is one that exceeds the model's error. */
static bool put_simulated(struct nai_buf *out, const struct FINDINGS_row *finding) {
  if (strcmp(finding->simulated_state, "ok") != 0)
    return false;
  nai_buf_puts(out, ", simulated saving ");
  nai_report_put_simulated(out, finding);
  return true;
}

/* ", potential saving 25.5 ms (52.2 %, 12.0 % of the capture) on GPU 0" */
static void put_saving(struct nai_buf *out, const struct FINDINGS_row *finding, const struct said *said) {
  nai_buf_puts(out, nai_is_estimate(finding) ? ", potential saving about " : ", potential saving ");
  nai_fmt_duration(out, (double)finding->saving_ns);
  nai_buf_puts(out, " (");
  put_share(out, finding, said);
  put_base(out, base_of(finding, said), said->partition ? "active time" : "");
  if (said->partition && strcmp(finding->share_of, "active time") == 0 &&
      finding->pct_of_capture < finding->pct_of_active * 3 / 4 && !said->input) {
    nai_buf_puts(out, ", ");
    nai_fmt_percent(out, finding->pct_of_capture);
    nai_buf_puts(out, " of the capture");
  }
  nai_buf_putc(out, ')');
  if (finding->gpu_count != said->gpus && strcmp(finding->scope, "run") != 0)
    nai_buf_printf(out, " on %s", finding->scope);
}

/* The base of what was simulated: all changes of a report are of the same. */
static const char SIMULATED[] = "simulated";

/* "12 %", or "simulated saving 9 % per step" where it was. */
static void put_part(struct nai_buf *out, const struct FINDINGS_row *finding, const struct said *said,
                     const char *before) {
  if (strcmp(finding->simulated_state, "ok") == 0) {
    bool window = strcmp(finding->simulated_of, "window") == 0, unit = strcmp(finding->simulated_of, "unit") == 0;
    bool first = strcmp(before, SIMULATED) != 0;
    nai_buf_puts(out, first ? "simulated saving " : "");
    nai_fmt_percent(out, finding->simulated_pct);
    if (first)
      nai_buf_puts(out, window ? " of the window" : unit ? " per repetition" : " per step");
    return;
  }
  put_share(out, finding, said);
  put_base(out, base_of(finding, said), before);
}

/* Whether a finding would save more than the first one: where that was simulated by what was simulated, of others than
 * it by their bound. Beside a bound the one of a finding as severe counts, too, that a simulation put behind. */
static bool is_larger(const struct FINDINGS_row *finding, const struct FINDINGS_row *first, const struct said *said) {
  if (strcmp(finding->simulated_state, "ok") == 0)
    return said->simulated && finding->simulated_pct > first->simulated_pct;
  bool behind = !said->simulated && strcmp(finding->simulated_state, "within_error") == 0 && said->first >= 0 &&
                strcmp(finding->severity, first->severity) == 0;
  return (behind || !*finding->simulated_state) && finding->saving_ns > (said->first < 0 ? 0 : first->saving_ns) &&
         finding->pct_of_active > (said->simulated ? first->simulated_pct : 0);
}

/* A title, without the place that tells it from another one. */
static void put_title(struct nai_buf *out, const struct FINDINGS_row *finding, bool within) {
  enum { MAX_TITLE_WORDS = 14 };
  NAI_SCOPED(nai_buf) title = {0};
  const char *place = *finding->place ? strstr(finding->title, finding->place) : NULL; /* ": rank 0 and others" */
  bool twice = place && place > finding->title + 1 && place[-2] == ':';
  nai_buf_put(&title, finding->title, twice ? (size_t)(place - finding->title - 2) : strlen(finding->title));
  if (within)
    nai_report_verdict_within(out, nai_buf_str(&title));
  else
    nai_report_verdict_words(out, nai_buf_str(&title), MAX_TITLE_WORDS);
  out->oom |= title.oom;
}

/* "; then title (place, 12 %)", behind a share of `before`; a larger one that was rated lower is uncertain. */
static void put_second(struct nai_buf *out, const struct FINDINGS_row *second, const struct FINDINGS_row *first,
                       const struct said *said, const char *before) {
  const char *place = strcmp(second->scope, "run") == 0 ? second->place : "";
  nai_buf_puts(out, *second->reason && is_larger(second, first, said) ? "; also " : "; then ");
  put_title(out, second, true);
  if (second->saving_ns == NAI_NULL_I64 && strcmp(second->simulated_state, "ok") != 0)
    return;
  nai_buf_puts(out, " (");
  nai_report_verdict_name(out, place);
  nai_buf_puts(out, *place ? ", " : "");
  put_part(out, second, said, before);
  nai_buf_puts(out, *second->reason && is_larger(second, first, said) ? ", uncertain)" : ")");
}

/* The first loss's place, unless that is the kernel which was named. */
static void put_place(struct nai_buf *out, const char *place, const struct said *said) {
  const struct dominant *kernel = &said->dominant;
  bool same = kernel->function && strcmp(place, kernel->function) == 0;
  if (!*place || (same && kernel->behind))
    return;
  nai_buf_puts(out, " (");
  nai_report_verdict_name(out, place);
  if (same && kernel->leads && said->partition) {
    nai_buf_puts(out, ", ");
    nai_fmt_percent(out, kernel->pct);
  }
  nai_buf_putc(out, ')');
}

void nai_report_verdict_loss(struct nai_buf *out, const struct nai_report *report, const struct said *said,
                             enum loss_detail detail) {
  enum { LITTLE_PCT = 1 /* of the capture: who wants it faster looks elsewhere */ };
  const struct nai_table *findings = nai_report_table(report, "findings");
  const struct FINDINGS_row first = FINDINGS_at(findings, said->first);
  bool little = first.saving_ns != NAI_NULL_I64 && 100 * first.saving_ns < LITTLE_PCT * said->at_work;
  nai_buf_puts(out, little ? "Little to save in the GPU work: " : "");
  put_title(out, &first, little);
  if (detail <= WITH_PLACE && detail != SECOND_IN_SHORT)
    put_place(out, first.place, said);
  const char *before = said->partition ? "active time" : "";
  bool with_saving = detail <= WITH_SAVING && detail != SECOND_IN_SHORT;
  if (with_saving && !little && put_simulated(out, &first))
    before = SIMULATED;
  else if (with_saving && first.saving_ns != NAI_NULL_I64) {
    put_saving(out, &first, said);
    before = base_of(&first, said);
  }
  if ((detail == WITH_SHARE || detail == SECOND_IN_SHORT) && (said->simulated || !isnan(first.pct_of_active))) {
    nai_buf_puts(out, " (");
    put_part(out, &first, said, before);
    before = said->simulated ? SIMULATED : base_of(&first, said);
    nai_buf_putc(out, ')');
  }
  if (detail <= SECOND_IN_SHORT && said->second >= 0) {
    const struct FINDINGS_row second = FINDINGS_at(findings, said->second);
    put_second(out, &second, &first, said, before);
  }
  nai_buf_putc(out, '.');
}

enum { MAX_REASON_WORDS = 12 };

/* " A camera's thread sets the pace: host-bound 56.3 %, likely no loss." of a note whose reason says why it is none. */
static void put_no_loss(struct nai_buf *out, const struct FINDINGS_row *note, const struct said *said,
                        const char *before, bool with_reason) {
  NAI_SCOPED(nai_buf) title = {0};
  nai_buf_put(&title, note->title, strcspn(note->title, ":"));
  nai_buf_puts(out, with_reason ? " " : " Likely no loss: ");
  if (with_reason) {
    nai_buf_putc(out, (char)toupper((unsigned char)*note->reason));
    nai_report_verdict_words(out, note->reason + 1, MAX_REASON_WORDS);
    nai_buf_puts(out, ": ");
  }
  nai_report_verdict_within(out, nai_buf_str(&title));
  nai_buf_putc(out, ' ');
  put_part(out, note, said, before);
  nai_buf_puts(out, with_reason ? ", likely no loss." : ".");
  out->oom |= title.oom;
}

void nai_report_verdict_larger(struct nai_buf *out, const struct nai_table *findings, const struct said *said,
                               bool second_named, bool with_reason) {
  const struct FINDINGS_row first = said->first < 0 ? (struct FINDINGS_row){0} : FINDINGS_at(findings, said->first);
  int64_t loss = said->first, at = -1;
  for (int64_t i = 0, most = 0; i < findings->rows; i++) {
    const struct FINDINGS_row finding = FINDINGS_at(findings, i);
    if (i == loss || finding.saving_ns == NAI_NULL_I64 || finding.saving_ns <= most || !*finding.reason ||
        *finding.part_of || strcmp(finding.share_of, "active time") != 0 || !is_larger(&finding, &first, said))
      continue;
    most = finding.saving_ns;
    at = i;
  }
  if (at < 0 || (second_named && at == said->second))
    return;
  const struct FINDINGS_row larger = FINDINGS_at(findings, at);
  const char *before = said->simulated ? SIMULATED : base_of(&larger, said);
  before = loss < 0 ? said->partition ? "active time" : "" : before;
  if (nai_report_severity(findings, at) == NAI_SEVERITY_INFO) {
    put_no_loss(out, &larger, said, before, with_reason);
    return;
  }
  nai_buf_puts(out, loss < 0 ? " Less certain: " : " Larger but less certain: ");
  put_title(out, &larger, true);
  nai_buf_puts(out, " (");
  put_part(out, &larger, said, before);
  nai_buf_puts(out, with_reason ? "; " : "");
  nai_report_verdict_words(out, with_reason ? larger.reason : "", MAX_REASON_WORDS);
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
void nai_report_verdict_no_loss(struct nai_buf *out, const struct nai_report *report, bool less_certain) {
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
  if (idle >= IDLE_PCT && cause && !less_certain)
    nai_buf_printf(out, " No actionable finding: most idle time is %s.", cause);
  else
    nai_buf_puts(out, idle + copy >= IDLE_PCT ? " No actionable finding."
                                              : " No actionable finding: compute fills the time.");
}

/* What there is to say of losses. */
void nai_report_verdict_find_said(struct said *out, const struct nai_report *report, bool gpus, bool losses) {
  const struct nai_table *findings = nai_report_table(report, "findings");
  struct nai_capture_course course;
  nai_capture_course_of(&course, report);
  out->first = losses ? next_loss(findings, 0) : -1;
  out->second = out->first >= 0 ? second_loss(findings, out->first) : -1;
  out->partition = gpus && !nai_capture_course_hardly_works(&course);
  out->at_work = nai_capture_course_at_work(&course);
  out->input = course.input > 0;
  out->of_capture = out->first >= 0 && is_of_capture(findings, out->first);
  out->dominant = find_dominant(report);
  out->dominant.leads =
      out->first >= 0 && strcmp(nai_get_str(findings, out->first, FINDINGS_id), "dominant-kernel") == 0;
  out->simulated = out->first >= 0 && strcmp(nai_get_str(findings, out->first, FINDINGS_simulated_state), "ok") == 0;
  out->gpus = nai_report_table(report, "gpu_utilization")->rows;
}

static bool is_about(const struct nai_table *findings, int64_t row, const struct dominant *kernel) {
  return kernel->function && strcmp(nai_get_str(findings, row, FINDINGS_place), kernel->function) == 0;
}

/* The same for a detail: a kernel that the losses behind it are about is not named before. */
struct said nai_report_verdict_said_with(const struct said *said, const struct nai_report *report,
                                         enum loss_detail detail) {
  struct said with = *said;
  const struct nai_table *findings = nai_report_table(report, "findings");
  const bool two = detail <= SECOND_IN_SHORT && said->second >= 0;
  const bool named = two && (is_about(findings, said->second, &said->dominant) ||
                             (detail == SECOND_IN_SHORT && is_about(findings, said->first, &said->dominant)));
  with.dominant.behind = said->partition && said->dominant.function && !named && !said->dominant.leads;
  return with;
}
