/* What nsys-ai analyze prints when it is done: the verdict and findings, a line of JSON, what each stage did,
 * or where the events are that --trim missed. */
#include "features/analyze/analyze.h"
#include "features/analyze/overview.h"

#include "base/fmt.h"
#include "base/escape.h"
#include "base/text.h"
#include "table/json.h"
#include "table/severity.h"

enum { SEVERITIES = 4, MAX_LISTED = 20 };

static void put_json_finding(struct nai_json *json, const struct nai_result_finding *finding) {
  nai_json_begin_object(json, NAI_JSON_INLINE);
  nai_json_put_text(json, "id", finding->id);
  nai_json_put_text(json, "severity", nai_severity_name(finding->severity));
  nai_json_key(json, "saving_ns");
  nai_json_value(
      json, NAI_NS,
      &(struct nai_value){.type = NAI_I64, .i = finding->saving_ns, .null = finding->saving_ns == NAI_NULL_I64});
  nai_json_key(json, "pct_of_active");
  bool of_active = strcmp(finding->share_of, "active time") == 0 && !isnan(finding->pct);
  nai_json_value(json, NAI_PCT, &(struct nai_value){.type = NAI_F64, .f = finding->pct, .null = !of_active});
  nai_json_put_text(json, "scope", finding->scope);
  nai_json_put_text(json, "title", finding->title);
  if (finding->state)
    nai_json_put_text(json, "state", finding->state);
  nai_json_end(json);
}

/* null where the run stopped before they were reported: that there are none is not known then. */
static void put_json_findings(struct nai_json *json, const struct nai_result *result) {
  nai_json_key(json, "findings");
  if (!result->list) {
    nai_json_text(json, NULL);
    nai_json_put_text(json, "finding_list", NULL);
    return;
  }
  nai_json_begin_object(json, NAI_JSON_INLINE);
  for (int i = SEVERITIES - 1; i >= 0; i--)
    nai_json_put_int(json, nai_severity_name(i), result->findings[i]);
  nai_json_end(json);
  nai_json_put_array(json, "finding_list", NAI_JSON_INLINE);
  for (size_t i = 0; i < result->list_count; i++)
    put_json_finding(json, &result->list[i]);
  nai_json_end(json);
}

static void put_json(struct nai_buf *line, const struct analyze_args *args, const struct nai_result *result) {
  struct nai_json json;
  nai_json_open(&json, line, NAI_JSON_INLINE);
  nai_json_put_text(&json, "schema_version", "2.0");
  nai_json_put_text(&json, "trace", args->run.trace);
  nai_json_put_text(&json, "out", args->run.out);
  nai_json_put_text(&json, "severity", result->worst < 0 ? NULL : nai_severity_name(result->worst));
  nai_json_put_text(&json, "verdict", nai_buf_str(&result->verdict));
  put_json_findings(&json, result);
  if (args->run.known)
    nai_json_put_int(&json, "fixed", result->fixed);
  nai_json_close(&json);
}

/* "90.6 ms, 30.3 %"; a share of other than the active time says so. */
static void put_saving(struct nai_buf *out, const struct nai_result_finding *finding) {
  if (finding->saving_ns == NAI_NULL_I64)
    return;
  nai_fmt_duration(out, (double)finding->saving_ns);
  if (isnan(finding->pct))
    return;
  nai_buf_puts(out, ", ");
  nai_fmt_percent(out, finding->pct);
  if (strcmp(finding->share_of, "active time") != 0)
    nai_buf_printf(out, " of %s", finding->share_of);
}

/* Severity, saving, what it is about, what --known says of it, title. */
static void put_finding(struct nai_buf *out, const struct nai_result_finding *finding, int saving_width, bool color) {
  static const char *const colors[SEVERITIES] = {"", "", "\033[33m", "\033[31m"}; /* of terminals: yellow, red */
  enum { MARGIN = 2, SCOPE_WIDTH = 10 };
  const char *severity = nai_severity_name(finding->severity), *begin = color ? colors[finding->severity] : "";
  NAI_SCOPED(nai_buf) saving = {0}, scope = {0}, line = {0}, lines = {0};
  put_saving(&saving, finding);
  nai_escape_terminal(&scope, finding->scope, strlen(finding->scope));
  nai_buf_printf(&line, "%*s%-6s  %-*s  %-*s  ", MARGIN, "", severity, saving_width, nai_buf_str(&saving), SCOPE_WIDTH,
                 nai_buf_str(&scope));
  if (finding->state)
    nai_buf_printf(&line, "%-5s  ", finding->state);
  int indent = (int)nai_text_chars(nai_buf_str(&line), line.len);
  nai_escape_terminal(&line, finding->title, strlen(finding->title));
  if (finding->part_of) /* so that nobody adds the two */
    nai_buf_printf(&line, " (in #%u)", finding->part_of);
  nai_cmd_put_wrapped(&lines, nai_buf_str(&line), line.len, indent);
  nai_buf_printf(out, "%*s%s%s%s", MARGIN, "", begin, severity, *begin ? "\033[0m" : "");
  nai_buf_puts(out, lines.len ? nai_buf_str(&lines) + MARGIN + strlen(severity) : "");
  out->oom |= saving.oom || scope.oom || line.oom || lines.oom;
}

static int widest_saving(const struct nai_result *result) {
  int width = 20;
  for (size_t i = 0; i < result->list_count && i < MAX_LISTED; i++) {
    NAI_SCOPED(nai_buf) saving = {0};
    put_saving(&saving, &result->list[i]);
    width = (int)saving.len > width ? (int)saving.len : width;
  }
  return width;
}

static void put_findings(struct nai_buf *out, const struct nai_result *result) {
  bool color = nai_cmd_color();
  int width = widest_saving(result);
  bool any = false;
  for (size_t i = 0; i < result->list_count && i < MAX_LISTED; i++)
    any |= result->list[i].saving_ns != NAI_NULL_I64;
  if (any) /* not what a simulation saves, which decides the order */
    nai_buf_puts(out, "          Potential saving, of active time; first what is worth most\n");
  for (size_t i = 0; i < result->list_count && i < MAX_LISTED; i++)
    put_finding(out, &result->list[i], width, color);
  if (result->list_count > MAX_LISTED)
    nai_buf_printf(out, "  ... and %zu more, in the reports\n", result->list_count - MAX_LISTED);
  if (result->list_count)
    nai_buf_putc(out, '\n');
  if (result->fixed)
    nai_buf_printf(out, "  %d fixed: listed as known, and not found any more\n\n", result->fixed);
}

/* "NAME=path", as a shell takes it. */
static void put_assignment(struct nai_buf *out, const char *name, const char *path) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=+,-@%";
  NAI_SCOPED(nai_buf) quoted = {0};
  nai_buf_printf(out, " %s=", name);
  if (path[strspn(path, plain)])
    nai_cmd_put_quoted(&quoted, path);
  else
    nai_buf_puts(&quoted, path);
  nai_escape_terminal(out, nai_buf_str(&quoted), quoted.len);
  out->oom |= quoted.oom;
}

static void put_text(struct nai_buf *out, const struct analyze_args *args, const struct nai_result *result) {
  static const char *const files[] = {"report.md", "report.html", "report.json", "tables/"};
  NAI_SCOPED(nai_buf) verdict = {0};
  nai_escape_terminal(&verdict, nai_buf_str(&result->verdict), result->verdict.len);
  nai_cmd_put_wrapped(out, nai_buf_str(&verdict), verdict.len, 0);
  out->oom |= verdict.oom;
  nai_buf_putc(out, '\n');
  put_findings(out, result);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    nai_buf_puts(out, "  ");
    nai_escape_terminal(out, args->run.out, strlen(args->run.out)); /* its default is the name of the trace */
    nai_buf_printf(out, "/%s\n", files[i]);
  }
  if (result->list_count) { /* what the commands of findings stand on */
    const char *home = args->run.stages ? args->run.stages : args->run.out;
    nai_buf_puts(out, "\nCommands in the reports use:");
    put_assignment(out, "OUT", home);
    put_assignment(out, "TRACE", args->run.trace);
    nai_buf_putc(out, '\n');
  }
}

int nai_cmd_analyze_print(const struct analyze_args *args, const struct nai_result *result, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  if (args->json)
    put_json(&text, args, result);
  else if (!args->quiet && !args->run.stop_after)
    put_text(&text, args, result);
  return nai_cmd_print(&text, err);
}

void nai_cmd_analyze_print_stages(const struct nai_result *result) {
  for (int i = 0; i < NAI_STAGE_COUNT; i++) {
    int ran = 0, kept = 0;
    for (uint32_t n = 0; n < result->node_count; n++) {
      ran += result->nodes[n].stage == i && result->nodes[n].ran;
      kept += result->nodes[n].stage == i && !result->nodes[n].ran;
    }
    fprintf(stderr, "nsys-ai: %-10s %8.1f ms%s\n", nai_stages[i].name, result->seconds[i] * 1e3,
            kept && !ran ? "  reused" : "");
    for (uint32_t n = 0; n < result->node_count && ran; n++) {
      const struct nai_node_result *node = &result->nodes[n];
      if (node->stage == i && node->ran)
        fprintf(stderr, "nsys-ai:   %-16s ran: %s; %.1f ms, %" PRId64 " row%s\n", node->name, node->reason,
                node->seconds * 1e3, node->rows, node->rows == 1 ? "" : "s");
      else if (node->stage == i)
        fprintf(stderr, "nsys-ai:   %-16s reused\n", node->name);
    }
  }
}

static int read_overview(struct nai_overview *out, const struct nai_options *o, struct nai_err *err) {
  struct nai_trace_options how = {o->reader, false};
  NAI_OWNED(nai_trace) *trace = NULL;
  NAI_SCOPED(nai_ingest) in = {0};
  NAI_TRY(nai_trace_open(&trace, o->trace, &how, err));
  NAI_TRY(nai_probe(&in, trace, NAI_IN_DEFAULT, err));
  return nai_overview_read(out, &in, trace, o->threads, err);
}

int nai_cmd_analyze_place_trim(struct nai_options *o, struct nai_err *err) {
  NAI_SCOPED(nai_overview) overview = {0};
  NAI_TRY(read_overview(&overview, o, err));
  if (overview.from_ns > overview.until_ns)
    return nai_err_set(err, NAI_EUSAGE, "--trim +: the trace has no events to count from");
  o->trim_start_ns += overview.from_ns;
  o->trim_end_ns += overview.from_ns;
  return NAI_OK;
}

int nai_cmd_analyze_explain_trim(const struct nai_options *o, struct nai_err *err) {
  NAI_SCOPED(nai_overview) overview = {0};
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_err ignored = {0};
  if (read_overview(&overview, o, &ignored) || overview.from_ns > overview.until_ns)
    return err->code;
  nai_fmt_scaled(&text, overview.from_ns, 9);
  nai_buf_puts(&text, " s to ");
  nai_fmt_scaled(&text, overview.until_ns, 9);
  return nai_err_set(err, NAI_EUSAGE,
                     "--trim: no GPU work, CUDA call or range lies in that time; the events of the trace go from %s s",
                     nai_buf_str(&text));
}
