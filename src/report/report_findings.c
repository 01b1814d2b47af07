/* What templates see of findings: text, price, evidence, commands, the page on each. */
#include "report/prose.h"
#include "report/report.h"
#include "report/report_view.h"

#include "base/assets.h"
#include "base/fmt.h"
#include "tables/evidence.h"
#include "tables/findings.h"
#include "tables/gpu_active.h"
#include "tables/step_summary.h"

#include <stdio.h>
#include <string.h>

enum { KEY_MAX = 96 };

const char *nai_report_severity_label(enum nai_severity severity) {
  static const char *const labels[NAI_SEVERITIES] = {"Info", "Low", "Medium", "High"};
  return labels[severity];
}

static void put_prose(struct nai_view *view, const char *key, const char *markdown) {
  struct nai_buf html = {0};
  char name[KEY_MAX];
  struct nai_err err;
  html.oom |= nai_prose_html(&html, markdown, &err) != NAI_OK;
  snprintf(name, sizeof name, "%s_html", key);
  nai_view_put_trusted(view, name, nai_buf_str(&html));
  nai_view_put_trusted(view, key, markdown);
  nai_view_inherit(view, &html);
  nai_buf_free(&html);
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
    struct nai_buf line = {0};
    nai_buf_put(&line, verify, n);
    if (n)
      nai_view_add_code(commands, nai_buf_str(&line));
    nai_view_inherit(commands, &line);
    nai_buf_free(&line);
  }
}

/* A duration that no line break divides. */
static void put_duration(struct nai_view *view, const char *key, double ns) {
  struct nai_buf text = {0}, fixed = {0};
  nai_fmt_duration(&text, ns);
  for (const char *c = nai_buf_str(&text); *c; c++)
    nai_buf_puts(&fixed, *c == ' ' ? "\xc2\xa0" : (const char[]){*c, '\0'});
  nai_view_put_trusted(view, key, nai_buf_str(&fixed));
  nai_view_inherit(view, &text);
  nai_view_inherit(view, &fixed);
  nai_buf_free(&text);
  nai_buf_free(&fixed);
}

/* How many steps every GPU did, if all did as many and they fill nine tenths of its active time; else 0. */
static int64_t step_count(const struct nai_report *report) {
  const struct nai_table *steps = nai_report_table(report, "step_summary"),
                         *active = nai_report_table(report, "gpu_active");
  if (!steps->rows || steps->rows != active->rows)
    return 0;
  int64_t count = nai_get_i64(steps, 0, STEP_SUMMARY_steps);
  for (int64_t i = 0; i < steps->rows; i++) {
    int64_t filled =
                nai_get_i64(steps, i, STEP_SUMMARY_last_end_ns) - nai_get_i64(steps, i, STEP_SUMMARY_first_start_ns),
            gpu = 0;
    while (gpu < active->rows &&
           nai_get_i64(active, gpu, GPU_ACTIVE_device_id) != nai_get_i64(steps, i, STEP_SUMMARY_device_id))
      gpu++;
    if (gpu == active->rows || nai_get_i64(steps, i, STEP_SUMMARY_steps) != count ||
        (double)filled < 0.9 * (double)nai_get_i64(active, gpu, GPU_ACTIVE_active_ns))
      return 0;
  }
  return count;
}

static void put_price(struct nai_view *view, const struct nai_report *report, const struct nai_table *findings,
                      int64_t row) {
  static const int stakes[] = {FINDINGS_at_stake_ns, FINDINGS_at_stake_low_ns};
  static const char *const names[] = {"at_stake", "at_stake_low"};
  struct nai_value pct = nai_table_value(findings, row, FINDINGS_pct_of_active);
  bool of_gpu =
      strncmp(nai_get_str(findings, row, FINDINGS_scope), "GPU", 3) == 0; /* what the run loses may lie outside */
  int64_t steps = of_gpu ? step_count(report) : 0;
  for (size_t i = 0; i < sizeof stakes / sizeof *stakes; i++) {
    struct nai_value ns = nai_table_value(findings, row, stakes[i]);
    if (!ns.null)
      put_duration(view, names[i], (double)ns.i);
    if (!ns.null && !i && steps)
      put_duration(view, "at_stake_per_step", (double)ns.i / (double)steps);
  }
  if (!pct.null)
    nai_report_put_value(view, "pct_of_active", NAI_PCT, &pct);
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
static void put_relation(struct nai_view *view, const struct nai_table *findings, int64_t row) {
  static const char part_of[] = "part of ";
  const char *whole = nai_get_str(findings, row, FINDINGS_part_of),
             *reason = nai_get_str(findings, row, FINDINGS_reason);
  for (int64_t i = 0; *whole && i < findings->rows; i++)
    if (strcmp(nai_get_str(findings, i, FINDINGS_id), whole) == 0) {
      nai_view_put_int(view, "part_of_number", i + 1);
      break;
    }
  if (strncmp(reason, part_of, sizeof part_of - 1) == 0) {
    const char *next = strstr(reason, "; ");
    reason = next ? next + 2 : "";
  }
  nai_view_put_text(view, "why_lower", reason);
}

static void put_finding(struct nai_view *view, const struct nai_report *report, const struct nai_table *findings,
                        int64_t i) {
  static const int texts[] = {FINDINGS_id,     FINDINGS_title, FINDINGS_severity, FINDINGS_scope,
                              FINDINGS_verify, FINDINGS_place, FINDINGS_reason,   FINDINGS_part_of};
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
    nai_view_put_text(view, nai_findings_schema.columns[texts[t]].name, nai_get_str(findings, i, texts[t]));
  nai_view_put_text(view, "severity_label", nai_report_severity_label(nai_report_severity(findings, i)));
  nai_view_put_int(view, "index", i);
  nai_view_put_int(view, "number", i + 1);
  put_price(view, report, findings, i);
  put_relation(view, findings, i);
  put_prose(view, "why", nai_get_str(findings, i, FINDINGS_why));
  put_prose(view, "recommendation", nai_get_str(findings, i, FINDINGS_recommendation));
  put_commands(view, nai_get_str(findings, i, FINDINGS_verify));
  put_page(view, nai_get_str(findings, i, FINDINGS_id));
  put_evidence(view, nai_report_table(report, "evidence"), nai_get_i64(findings, i, FINDINGS_finding));
}

/* All in "findings"; those to act on in "major", the rest in "minor". */
void nai_report_put_findings(struct nai_view *root, const struct nai_report *report) {
  const struct nai_table *findings = nai_report_table(report, "findings");
  struct nai_view *all = nai_view_put_list(root, "findings"), *major = nai_view_put_list(root, "major"),
                  *minor = nai_view_put_list(root, "minor");
  nai_view_put_bool(root, "has_findings", findings->rows > 0);
  for (int64_t i = 0; i < findings->rows; i++) {
    put_finding(nai_view_add_map(all), report, findings, i);
    bool small = nai_report_severity(findings, i) <= NAI_SEVERITY_LOW;
    put_finding(nai_view_add_map(small ? minor : major), report, findings, i);
    if (small)
      nai_view_put_bool(root, "has_minor", true);
  }
}
