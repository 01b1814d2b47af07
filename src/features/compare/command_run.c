/* What compare and check do alike: opening both sides, writing, printing. */
#include "base/fs.h"
#include "features/compare/command.h"
#include "features/compare/document.h"
#include "rundir/publish.h"
#include "table/json.h"

#include <fcntl.h>
#include <unistd.h>

/* --- options ---------------------------------------------------------------------------------- */

const char *nai_cmd_checks(size_t index, const char *before) {
  (void)before;
  return index < NAI_CHECK_COUNT ? nai_check_name((enum nai_check_code)index) : NULL;
}

const char *nai_cmd_annotations(size_t index, const char *before) {
  (void)before;
  return index == 0 ? "github" : NULL;
}

static int set_check(void *args, const struct nai_cli_option *option, const char *const *values, struct nai_err *err) {
  for (size_t i = 0; nai_cmd_checks(i, ""); i++)
    if (strcmp(nai_cmd_checks(i, ""), values[0]) == 0)
      return nai_cli_texts.set(args, option, values, err);
  return nai_cli_unknown_choice(err, "--allow", values[0], nai_cmd_checks, NULL);
}

const struct nai_cli_type nai_cmd_checks_type = {set_check, NULL};

static uint32_t allowed(const struct nai_cmd_compare *args) {
  uint32_t bits = 0;
  for (size_t i = 0; i < args->allow_count; i++)
    for (int code = 0; code < NAI_CHECK_COUNT; code++)
      if (strcmp(nai_check_name((enum nai_check_code)code), args->allow[i]) == 0)
        bits |= 1u << code;
  return bits;
}

/* --- runs ------------------------------------------------------------------------------------- */

static struct nai_cmd_source source_of(const struct nai_cmd_compare *args) {
  return (struct nai_cmd_source){
      .reader = NAI_READER_AUTO, .quiet = true, .metrics = args->metrics, .metric_count = args->metric_count};
}

int nai_cmd_add_side(struct nai_comparison *c, enum nai_side_id side, const char *path,
                     const struct nai_cmd_compare *args, struct nai_err *err) {
  const struct nai_cmd_source how = source_of(args);
  struct nai_run *run;
  if (!nai_fs_exists(path))
    return nai_err_set(err, NAI_EINPUT, "there is no \"%s\"", path);
  NAI_TRY(nai_cmd_source_open(&run, path, &how, err));
  return nai_comparison_add(c, side, run, path, err);
}

/* Captures of different versions of this program: those with older definitions are analyzed again, where that is
 * possible. Where it is not, their values are left out. */
static int analyze_outdated(struct nai_comparison *c, const struct nai_cmd_compare *args, struct nai_err *err) {
  const struct nai_cmd_source how = source_of(args);
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++) {
      struct nai_capture *capture = &c->sides[s].captures[i];
      struct nai_run *run;
      int rc = nai_capture_is_outdated(c, capture) ? nai_cmd_source_again(&run, capture->run, &how, err) : NAI_EINPUT;
      if (rc != NAI_EINPUT)
        NAI_TRY(rc ? rc : nai_capture_replace(capture, run, err));
    }
  return NAI_OK;
}

/* --- files ------------------------------------------------------------------------------------ */

static int publish_tables(struct nai_publication *p, const struct nai_comparison *c, struct nai_err *err) {
  for (int i = 0; i < NAI_COMPARED_COUNT; i++)
    NAI_TRY(nai_publish_table(p, c->tables[i], err));
  return NAI_OK;
}

static void put_bigger(struct nai_buf *out, const struct nai_comparison *c, const char *series) {
  nai_write_benchmark(out, c, series, true);
}

static void put_smaller(struct nai_buf *out, const struct nai_comparison *c, const char *series) {
  nai_write_benchmark(out, c, series, false);
}

static int publish_formats(struct nai_publication *p, const struct nai_comparison *c,
                           const struct nai_cmd_compare *args, struct nai_err *err) {
  static const struct {
    enum nai_cmd_format format;
    const char *name;
    void (*write)(struct nai_buf *out, const struct nai_comparison *c, const char *series);
  } files[] = {{NAI_FORMAT_JUNIT, "junit.xml", nai_write_junit},
               {NAI_FORMAT_PROM, "metrics.prom", nai_write_prometheus},
               {NAI_FORMAT_BMF, "bmf.json", nai_write_bmf},
               {NAI_FORMAT_GHA, "benchmark-smaller.json", put_smaller},
               {NAI_FORMAT_GHA, "benchmark-bigger.json", put_bigger}};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    NAI_SCOPED(nai_buf) text = {0};
    if (!(args->formats & 1u << files[i].format))
      continue;
    files[i].write(&text, c, args->series);
    NAI_TRY(nai_publish_file(p, files[i].name, &text, err));
  }
  return NAI_OK;
}

static int publish(struct nai_err *unread, const struct nai_comparison *c, const struct nai_cmd_compare *args,
                   const struct nai_buf *markdown, struct nai_err *err) {
  NAI_SCOPED(nai_publication) p = {0};
  NAI_SCOPED(nai_buf) json = {0}, html = {0};
  NAI_TRY(nai_publish_begin(&p, args->out, "compare.json", nai_cmd_note, err));
  nai_write_compare_json(&json, c);
  NAI_TRY(nai_write_html(&html, unread, c, args->out, err));
  NAI_TRY(nai_publish_file(&p, "compare.md", markdown, err));
  NAI_TRY(nai_publish_file(&p, "compare.json", &json, err));
  NAI_TRY(nai_publish_file(&p, "compare.html", &html, err));
  NAI_TRY(publish_tables(&p, c, err));
  NAI_TRY(publish_formats(&p, c, args, err));
  return nai_publish_commit(&p, err);
}

/* --- printing --------------------------------------------------------------------------------- */

/* GitHub shows what is appended to this file with the job. */
int nai_cmd_append_summary(const struct nai_buf *markdown, struct nai_err *err) {
  const char *path = getenv("GITHUB_STEP_SUMMARY");
  if (!path || !*path)
    return NAI_OK;
  int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  int failed = fd < 0 ? errno : nai_fs_write_all(fd, nai_buf_str(markdown), markdown->len);
  if (fd >= 0)
    close(fd);
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot append to $GITHUB_STEP_SUMMARY \"%s\"", path) : NAI_OK;
}

static void put_json(struct nai_buf *out, const struct nai_comparison *c, const struct nai_gate *gate,
                     const char *directory) {
  struct nai_json json;
  NAI_SCOPED(nai_buf) verdict = {0};
  nai_write_verdict(&verdict, c);
  nai_json_open(&json, out, NAI_JSON_INLINE);
  nai_json_put_text(&json, "schema_version", "1.0");
  nai_json_put_text(&json, "out", directory);
  nai_json_put_text(&json, "verdict", nai_buf_str(&verdict));
  nai_json_put_int(&json, "exit", gate->exit);
  nai_json_put_text(&json, "reason", gate->reason);
  nai_json_put_int(&json, "failed", gate->counts[NAI_OUTCOME_FAIL]);
  nai_json_put_int(&json, "warned", gate->counts[NAI_OUTCOME_WARN]);
  nai_json_put_int(&json, "undecided", gate->counts[NAI_OUTCOME_UNDECIDED]);
  nai_json_put_int(&json, "metrics", c->result_count);
  nai_json_close(&json);
  out->oom |= verdict.oom;
}

/* The metrics that the gate did not pass; none where an obstacle, which the verdict says, is why. */
static int put_text(struct nai_buf *out, const struct nai_comparison *c, const struct nai_gate *gate,
                    const struct nai_cmd_compare *args, struct nai_err *err) {
  NAI_SCOPED(nai_document) d = nai_document_new(c, 0, UINT32_MAX);
  struct nai_view *asked = nai_view_put_list(d.root, "asked");
  nai_document_beside(&d);
  nai_document_undecided(&d);
  for (uint32_t i = 0; i < c->result_count && !nai_comparison_obstacle(c); i++) {
    enum nai_outcome outcome = c->results[i].gated ? nai_gate_outcome(c, &c->results[i]) : NAI_OUTCOME_PASS;
    if (outcome == NAI_OUTCOME_PASS || outcome == NAI_OUTCOME_SKIP ||
        c->results[i].judgement.verdict == NAI_VERDICT_ERROR)
      continue;
    struct nai_view *map = nai_document_metric(&d, asked, &c->results[i]);
    if (nai_headline_gives(c, &c->results[i])) /* said once */
      nai_view_put_text(map, "reason", NULL);
  }
  nai_view_put_trusted(d.root, "undecided", nai_comparison_obstacle(c) ? NULL : gate->reason);
  nai_view_put_text(d.root, "out", args->out);
  return nai_builtin_render(out, "compare.txt", d.root, NAI_ESCAPE_TERMINAL, err);
}

static int print(const struct nai_comparison *c, const struct nai_gate *gate, const struct nai_cmd_compare *args,
                 struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0}, lines = {0};
  if (args->json)
    put_json(&text, c, gate, args->out);
  else if (!args->quiet)
    NAI_TRY(put_text(&lines, c, gate, args, err));
  nai_cmd_put_lines(&text, &lines);
  if (args->annotate)
    nai_write_annotations(&text, c);
  return nai_cmd_print(&text, err);
}

static int load_aliases(struct nai_patterns **out, const char *path, struct nai_err *err) {
  NAI_OWNED(nai_yaml) *doc = NULL;
  NAI_TRY(nai_yaml_load(&doc, path, err));
  NAI_TRY(nai_patterns_new(out, err));
  return nai_patterns_add(*out, doc, err);
}

int nai_cmd_compare_run(struct nai_gate *gate, struct nai_comparison *c, const struct nai_cmd_compare *args,
                        struct nai_err *err) {
  NAI_SCOPED(nai_budgets) budgets = {0};
  NAI_SCOPED(nai_buf) markdown = {0};
  NAI_OWNED(nai_patterns) *aliases = NULL;
  struct nai_err unread = {0};
  nai_budgets_default(&budgets);
  if (args->budgets)
    NAI_TRY(nai_budgets_load(&budgets, args->budgets, err));
  if (args->aliases)
    NAI_TRY(load_aliases(&aliases, args->aliases, err));
  const struct nai_compare_options options = {
      .budgets = &budgets, .allow = allowed(args), .aliases = aliases, .range_numbers = args->range_numbers};
  NAI_TRY(analyze_outdated(c, args, err));
  NAI_TRY(nai_compare(c, &options, err));
  *gate = nai_gate_of(c);
  NAI_TRY(nai_write_markdown(&markdown, c, err));
  NAI_TRY(publish(&unread, c, args, &markdown, err));
  if (args->annotate)
    NAI_TRY(nai_cmd_append_summary(&markdown, err));
  NAI_TRY(print(c, gate, args, err));
  if (args->suite)
    nai_suite_add(args->suite, args->series, c, gate);
  return unread.code ? nai_err_set(err, unread.code, "%s", unread.msg) : NAI_OK;
}
