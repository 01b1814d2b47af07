/* What templates see of findings: text, saving, evidence, commands, the page on each. */
#include "report/prose.h"
#include "report/report_view.h"
#include "report/simulated.h"

#include "base/assets.h"
#include "tables/evidence.h"
#include "tables/findings.h"
#include "tables/gpu_active.h"
#include "tables/known_findings.h"
#include "tables/step_summary.h"

enum { KEY_MAX = 96 };

const char *nai_report_severity_label(enum nai_severity severity) {
  static const char *const labels[NAI_SEVERITIES] = {"Info", "Low", "Medium", "High"};
  return labels[severity];
}

static void put_prose(struct nai_view *view, const char *key, const char *markdown) {
  NAI_SCOPED(nai_buf) html = {0};
  char name[KEY_MAX];
  html.oom |= nai_prose_html(&html, markdown, NULL) != NAI_OK;
  snprintf(name, sizeof name, "%s_html", key);
  nai_view_put_buf(view, name, NAI_TEXT_TRUSTED, &html);
  nai_view_put_trusted(view, key, markdown);
}

static void put_evidence(struct nai_view *finding, const struct nai_table *evidence, int64_t number) {
  struct nai_view *list = nai_view_put_list(finding, "evidence");
  int64_t index = 0;
  for (int64_t i = 0; i < evidence->rows; i++) {
    if (nai_get_i64(evidence, i, EVIDENCE_finding) != number)
      continue;
    struct nai_view *item = nai_view_add_map(list);
    nai_view_put_int(item, "index", index++);
    nai_view_put_text(item, "text", nai_get_str(evidence, i, EVIDENCE_text));
  }
}

/* Commands one a line, each of them a code span of its own in Markdown. */
static void put_commands(struct nai_view *view, const char *verify) {
  struct nai_view *commands = nai_view_put_list(view, "commands");
  for (size_t n; *verify; verify += n) {
    verify += strspn(verify, "\n");
    n = strcspn(verify, "\n");
    NAI_SCOPED(nai_buf) line = {0};
    nai_buf_put(&line, verify, n);
    if (n)
      nai_view_add_buf(commands, NAI_TEXT_CODE, &line);
  }
}

/* How many steps every GPU did, if all did as many and they fill nine tenths of its active time; else 0. */
static int64_t step_count(const struct nai_report *report) {
  const struct nai_table *steps = nai_report_table(report, "step_summary"),
                         *active = nai_report_table(report, "gpu_active");
  if (!steps->rows || steps->rows != active->rows)
    return 0;
  int64_t count = nai_get_i64(steps, 0, STEP_SUMMARY_steps);
  for (int64_t i = 0; i < steps->rows; i++) {
    const struct STEP_SUMMARY_row of_gpu = STEP_SUMMARY_at(steps, i);
    int64_t gpu = 0;
    while (gpu < active->rows && nai_get_i64(active, gpu, GPU_ACTIVE_device_id) != of_gpu.device_id)
      gpu++;
    if (gpu == active->rows || of_gpu.steps != count ||
        (double)(of_gpu.last_end_ns - of_gpu.first_start_ns) <
            0.9 * (double)nai_get_i64(active, gpu, GPU_ACTIVE_active_ns))
      return 0;
  }
  return count;
}

static void put_saving(struct nai_view *view, const struct nai_report *report, const struct FINDINGS_row *finding) {
  bool of_gpu = strncmp(finding->scope, "GPU", 3) == 0; /* what the run loses may lie outside */
  int64_t steps = of_gpu ? step_count(report) : 0;
  struct nai_value pct = {.type = NAI_F64, .f = finding->pct_of_active};
  if (finding->saving_ns != NAI_NULL_I64) {
    (nai_is_estimate(finding) ? nai_report_put_estimate : nai_report_put_duration)(view, "saving",
                                                                                   (double)finding->saving_ns);
    if (steps)
      nai_report_put_duration(view, "saving_per_step", (double)finding->saving_ns / (double)steps);
  }
  if (finding->saving_low_ns != NAI_NULL_I64)
    nai_report_put_duration(view, "saving_low", (double)finding->saving_low_ns);
  if (!isnan(pct.f))
    nai_report_put_value(view, "pct_of_active", NAI_PCT, &pct);
  if (strcmp(finding->share_of, "active time") != 0)
    nai_view_put_text(view, "share_of", finding->share_of);
  pct.f = finding->pct_of_capture;
  if (!isnan(pct.f))
    nai_report_put_value(view, "pct_of_capture", NAI_PCT, &pct);
}

/* Where the change of a finding was simulated: the likely saving, and the interval from cautious to favorable. */
static void put_simulated(struct nai_view *view, const struct FINDINGS_row *finding) {
  NAI_SCOPED(nai_buf) text = {0};
  if (!nai_is_simulated(finding))
    return;
  nai_report_put_simulated(&text, finding);
  nai_view_put_buf(view, "simulated", NAI_TEXT_FOREIGN, &text);
  if (strcmp(finding->simulated_state, "ok") != 0)
    return;
  nai_report_put_duration(view, "simulated_low", (double)finding->simulated_low_ns);
  nai_report_put_duration(view, "simulated_high", (double)finding->simulated_high_ns);
}

static bool any_simulated(const struct nai_table *findings) {
  for (int64_t i = 0; i < findings->rows; i++)
    if (*nai_get_str(findings, i, FINDINGS_simulated_state))
      return true;
  return false;
}

/* The page on a built-in finding, for readers without the program's documents. */
static void put_page(struct nai_view *view, const char *id) {
  char path[KEY_MAX];
  snprintf(path, sizeof path, "docs/root-causes/%.64s.md", id);
  const struct nai_asset *page = nai_asset_find(path);
  if (page)
    put_prose(view, "page", page->data);
}

/* A finding that is a part of another says so by that one's number; where the rules gave no other reason for its
 * severity, that is the reason. */
static void put_relation(struct nai_view *view, const struct nai_table *findings, const struct FINDINGS_row *finding) {
  static const char part_of[] = "part of ";
  const char *reason = finding->reason;
  int64_t whole = *finding->part_of ? nai_find_str(findings, FINDINGS_id, finding->part_of) : -1;
  if (whole >= 0)
    nai_view_put_int(view, "part_of_number", whole + 1);
  if (strncmp(reason, part_of, sizeof part_of - 1) == 0) {
    const char *next = strstr(reason, "; ");
    reason = next ? next + 2 : "";
  }
  nai_view_put_text(view, "why_lower", reason);
}

/* With --known: "known"; "muted until 2027-03-31: reason"; "new, was muted until 2026-03-31: reason". */
static void put_state(struct nai_view *view, const struct nai_table *known, int64_t finding) {
  NAI_SCOPED(nai_buf) why = {0};
  if (finding >= known->rows)
    return;
  const struct KNOWN_FINDINGS_row row = KNOWN_FINDINGS_at(known, finding);
  nai_view_put_text(view, "state", row.state);
  nai_buf_puts(&why, row.state);
  if (*row.until)
    nai_buf_printf(&why, "%s until %s", strcmp(row.state, "new") == 0 ? ", was known" : "", row.until);
  if (*row.reason)
    nai_buf_printf(&why, ": %s", row.reason);
  nai_view_put_buf(view, "state_why", NAI_TEXT_FOREIGN, &why);
}

/* The entries of --known that no finding fits; they follow those of the findings. */
static void put_fixed(struct nai_view *root, const struct nai_table *known, int64_t findings) {
  struct nai_view *list = nai_view_put_list(root, "fixed");
  for (int64_t i = findings; i < known->rows; i++) {
    struct nai_view *view = nai_view_add_map(list);
    nai_view_put_text(view, "id", nai_get_str(known, i, KNOWN_FINDINGS_id));
    nai_view_put_text(view, "place", nai_get_str(known, i, KNOWN_FINDINGS_place));
  }
  nai_view_put_bool(root, "has_fixed", known->rows > findings);
}

static void put_finding(struct nai_view *view, const struct nai_report *report, const struct nai_table *findings,
                        int64_t i) {
  const struct FINDINGS_row finding = FINDINGS_at(findings, i);
  nai_view_put_text(view, "id", finding.id);
  nai_view_put_text(view, "title", finding.title);
  nai_view_put_text(view, "severity", finding.severity);
  nai_view_put_text(view, "scope", finding.scope);
  nai_view_put_text(view, "verify", finding.verify);
  nai_view_put_text(view, "place", finding.place);
  nai_view_put_text(view, "reason", finding.reason);
  nai_view_put_text(view, "part_of", finding.part_of);
  nai_view_put_text(view, "severity_label", nai_report_severity_label(nai_report_severity(findings, i)));
  nai_view_put_int(view, "index", i);
  nai_view_put_int(view, "number", i + 1);
  put_state(view, nai_report_table(report, "known_findings"), i);
  put_saving(view, report, &finding);
  put_simulated(view, &finding);
  put_relation(view, findings, &finding);
  put_prose(view, "why", finding.why);
  put_prose(view, "recommendation", finding.recommendation);
  put_commands(view, finding.verify);
  put_page(view, finding.id);
  put_evidence(view, nai_report_table(report, "evidence"), finding.finding);
}

/* The first advice of a list in Markdown, without the mark of its item. */
static void put_advice(struct nai_view *view, const char *recommendation) {
  NAI_SCOPED(nai_buf) advice = {0};
  const char *first = strncmp(recommendation, "- ", 2) == 0 ? recommendation + 2 : recommendation;
  nai_buf_put(&advice, first, strcspn(first, "\n"));
  nai_view_put_buf(view, "advice", NAI_TEXT_TRUSTED, &advice);
}

/* The findings to begin with: none that another one includes; informative ones only where there are no others. */
static void put_top(struct nai_view *root, const struct nai_report *report, const struct nai_table *findings) {
  enum { TOP = 3 };
  struct nai_view *list = nai_view_put_list(root, "top");
  int shown = 0;
  for (int pass = 0; pass < 2 && !shown; pass++)
    for (int64_t i = 0; i < findings->rows && shown < TOP; i++) {
      const struct FINDINGS_row finding = FINDINGS_at(findings, i);
      bool info = nai_report_severity(findings, i) == NAI_SEVERITY_INFO;
      if (*finding.part_of || info != (pass == 1))
        continue;
      struct nai_view *view = nai_view_add_map(list);
      nai_view_put_text(view, "title", finding.title);
      nai_view_put_text(view, "severity_label", nai_report_severity_label(nai_report_severity(findings, i)));
      put_saving(view, report, &finding);
      put_simulated(view, &finding);
      put_relation(view, findings, &finding);
      nai_view_put_text(view, "where", strcmp(finding.scope, "run") == 0 ? "" : finding.scope);
      put_advice(view, finding.recommendation);
      put_evidence(view, nai_report_table(report, "evidence"), finding.finding);
      shown++;
    }
}

/* All in "findings"; those to act on in "major", the rest in "minor", those to begin with in "top". */
void nai_report_put_findings(struct nai_view *root, const struct nai_report *report) {
  const struct nai_table *findings = nai_report_table(report, "findings");
  struct nai_view *all = nai_view_put_list(root, "findings"), *major = nai_view_put_list(root, "major"),
                  *minor = nai_view_put_list(root, "minor");
  nai_view_put_bool(root, "has_findings", findings->rows > 0);
  put_fixed(root, nai_report_table(report, "known_findings"), findings->rows);
  put_top(root, report, findings);
  nai_view_put_bool(root, "has_simulated", any_simulated(findings));
  for (int64_t i = 0; i < findings->rows; i++) {
    put_finding(nai_view_add_map(all), report, findings, i);
    bool small = nai_report_severity(findings, i) <= NAI_SEVERITY_LOW;
    put_finding(nai_view_add_map(small ? minor : major), report, findings, i);
    if (small)
      nai_view_put_bool(root, "has_minor", true);
  }
}
