/* What compare and check do alike: opening both sides, writing, printing. */
#include "features/compare/command.h"

#include "base/fs.h"
#include "base/escape.h"
#include "base/sink.h"
#include "rundir/publish.h"
#include "table/csv.h"
#include "table/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int nai_cmd_add_side(struct nai_comparison *c, enum nai_side_id side, const char *path,
                     const struct nai_cmd_compare *args, struct nai_err *err) {
  const struct nai_cmd_source how = {
      .reader = NAI_READER_AUTO, .quiet = true, .metrics = args->metrics, .metric_count = args->metric_count};
  struct nai_run *run;
  if (!nai_fs_exists(path))
    return nai_err_set(err, NAI_EINPUT, "there is no \"%s\"", path);
  int rc = nai_cmd_source_open(&run, path, &how, err);
  return rc ? rc : nai_comparison_add(c, side, run, path, err);
}

/* --- files ------------------------------------------------------------------------------------ */

static int publish_tables(struct nai_publication *p, const struct nai_comparison *c, struct nai_err *err) {
  int rc = NAI_OK;
  for (uint32_t i = 0; !rc && i < c->table_count; i++) {
    struct nai_buf text = {0};
    char name[128];
    snprintf(name, sizeof name, "tables/%s.csv", c->tables[i]->schema->name);
    nai_csv_table(&text, c->tables[i]);
    rc = nai_publish_file(p, name, &text, err);
    nai_buf_free(&text);
  }
  return rc;
}

static void put_format(struct nai_buf *out, const struct nai_comparison *c, const char *series, int file) {
  switch (file) {
  case 0:
    nai_write_junit(out, c, series);
    break;
  case 1:
    nai_write_prometheus(out, c, series);
    break;
  case 2:
    nai_write_bmf(out, c, series);
    break;
  default:
    nai_write_benchmark(out, c, series, file == 4);
    break;
  }
}

static int publish_formats(struct nai_publication *p, const struct nai_comparison *c,
                           const struct nai_cmd_compare *args, struct nai_err *err) {
  static const struct {
    enum nai_cmd_format format;
    const char *name;
  } files[] = {{NAI_FORMAT_JUNIT, "junit.xml"},
               {NAI_FORMAT_PROM, "metrics.prom"},
               {NAI_FORMAT_BMF, "bmf.json"},
               {NAI_FORMAT_GHA, "benchmark-smaller.json"},
               {NAI_FORMAT_GHA, "benchmark-bigger.json"}};
  int rc = NAI_OK;
  for (int i = 0; !rc && i < (int)(sizeof files / sizeof *files); i++) {
    struct nai_buf text = {0};
    if (!(args->formats & 1u << files[i].format))
      continue;
    put_format(&text, c, args->series, i);
    rc = nai_publish_file(p, files[i].name, &text, err);
    nai_buf_free(&text);
  }
  return rc;
}

static int publish(const struct nai_comparison *c, const struct nai_cmd_compare *args, const struct nai_buf *markdown,
                   struct nai_err *err) {
  struct nai_publication p = {0};
  struct nai_buf json = {0}, html = {0};
  int rc = nai_publish_begin(&p, args->out, "compare.json", nai_cmd_note, err);
  nai_write_compare_json(&json, c);
  if (!rc)
    rc = nai_write_html(&html, c, err);
  if (!rc)
    rc = nai_publish_file(&p, "compare.md", markdown, err);
  if (!rc)
    rc = nai_publish_file(&p, "compare.json", &json, err);
  if (!rc)
    rc = nai_publish_file(&p, "compare.html", &html, err);
  if (!rc)
    rc = publish_tables(&p, c, err);
  if (!rc)
    rc = publish_formats(&p, c, args, err);
  if (!rc)
    rc = nai_publish_commit(&p, err);
  nai_publish_end(&p);
  nai_buf_free(&html);
  nai_buf_free(&json);
  return rc;
}

/* --- printing --------------------------------------------------------------------------------- */

/* GitHub shows what is appended to this file with the job. */
static int append_summary(const struct nai_buf *markdown, struct nai_err *err) {
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
                     const struct nai_buf *verdict, const char *directory) {
  struct nai_json json;
  nai_json_init(&json, out, false);
  nai_json_begin_object(&json, NAI_JSON_INLINE);
  nai_json_put_text(&json, "schema_version", "1.0");
  nai_json_put_text(&json, "out", directory);
  nai_json_put_text(&json, "verdict", nai_buf_str(verdict));
  nai_json_put_int(&json, "exit", gate->exit);
  nai_json_put_text(&json, "reason", gate->reason);
  nai_json_put_int(&json, "failed", gate->counts[NAI_OUTCOME_FAIL]);
  nai_json_put_int(&json, "warned", gate->counts[NAI_OUTCOME_WARN]);
  nai_json_put_int(&json, "undecided", gate->counts[NAI_OUTCOME_UNDECIDED]);
  nai_json_put_int(&json, "metrics", c->result_count);
  nai_json_end(&json);
  nai_json_finish(&json);
  nai_buf_putc(out, '\n');
}

static void put_gated(struct nai_buf *out, const struct nai_comparison *c) {
  for (uint32_t i = 0; i < c->result_count; i++) {
    const struct nai_metric_result *r = &c->results[i];
    enum nai_outcome outcome = r->gated ? nai_gate_outcome(c, r) : NAI_OUTCOME_PASS;
    if (outcome == NAI_OUTCOME_PASS || outcome == NAI_OUTCOME_SKIP)
      continue;
    nai_buf_puts(out, "  ");
    nai_escape_terminal(out, r->id, strlen(r->id));
    nai_buf_puts(out, "  ");
    nai_put_amount(out, r->unit, r->judgement.base, false);
    nai_buf_puts(out, " -> ");
    nai_put_amount(out, r->unit, r->judgement.fresh, false);
    nai_buf_puts(out, "  ");
    nai_put_decision(out, c, r);
    nai_buf_puts(out, *r->judgement.reason ? ": " : "");
    nai_escape_terminal(out, r->judgement.reason, strlen(r->judgement.reason));
    nai_buf_putc(out, '\n');
  }
}

static int print(const struct nai_comparison *c, const struct nai_gate *gate, const struct nai_cmd_compare *args,
                 struct nai_err *err) {
  struct nai_buf text = {0}, verdict = {0};
  nai_write_verdict(&verdict, c);
  if (args->json) {
    put_json(&text, c, gate, &verdict, args->out);
  } else if (!args->quiet) {
    nai_escape_terminal(&text, nai_buf_str(&verdict), verdict.len);
    nai_buf_putc(&text, '\n');
    put_gated(&text, c);
    if (gate->reason && !nai_comparison_obstacle(c)) /* which the verdict names */
      nai_buf_printf(&text, "  gate: undecided: %s\n", gate->reason);
    nai_buf_puts(&text, "\n  ");
    nai_escape_terminal(&text, args->out, strlen(args->out));
    nai_buf_puts(&text, "/compare.md\n");
  }
  if (args->annotate)
    nai_write_annotations(&text, c);
  text.oom |= verdict.oom;
  int rc = nai_cmd_print(&text, err);
  nai_buf_free(&verdict);
  nai_buf_free(&text);
  return rc;
}

static int load_aliases(struct nai_patterns **out, const char *path, struct nai_err *err) {
  struct nai_yaml *doc = NULL;
  int rc = nai_yaml_load(&doc, path, err);
  if (!rc)
    rc = nai_patterns_new(out, err);
  if (!rc)
    rc = nai_patterns_add(*out, doc, err);
  nai_yaml_free(doc);
  return rc;
}

int nai_cmd_compare_run(struct nai_gate *gate, struct nai_comparison *c, const struct nai_cmd_compare *args,
                        struct nai_err *err) {
  struct nai_budgets budgets = {0};
  struct nai_buf markdown = {0};
  struct nai_patterns *aliases = NULL;
  struct nai_compare_options options = {.allow = allowed(args)};
  int rc = args->budgets ? nai_budgets_load(&budgets, args->budgets, err) : NAI_OK;
  if (!args->budgets)
    nai_budgets_default(&budgets);
  if (!rc && args->aliases)
    rc = load_aliases(&aliases, args->aliases, err);
  options.budgets = &budgets;
  options.aliases = aliases;
  if (!rc)
    rc = nai_compare(c, &options, err);
  if (!rc) {
    *gate = nai_gate_of(c);
    nai_write_markdown(&markdown, c);
    rc = publish(c, args, &markdown, err);
  }
  if (!rc && args->annotate)
    rc = append_summary(&markdown, err);
  if (!rc)
    rc = print(c, gate, args, err);
  nai_buf_free(&markdown);
  nai_patterns_free(aliases);
  nai_budgets_free(&budgets);
  return rc;
}
