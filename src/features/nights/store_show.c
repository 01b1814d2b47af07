/* What nsys-ai store prints of a store: its runs and its baselines. */
#include "base/escape.h"
#include "base/fs.h"
#include "base/temporary.h"
#include "features/nights/store_command.h"
#include "features/nights/store_internal.h"
#include "pipeline/analyze.h"
#include "table/json.h"

int nai_store_damage(struct nai_strings *lines, const struct nai_store *store, struct nai_err *err) {
  for (uint32_t i = 0; i < store->count; i++) {
    const struct nai_store_run *run = &store->runs[i];
    char line[sizeof((struct nai_err *)0)->msg + 2 * NAI_STORE_NAME_MAX + 200];
    if (!run->damaged)
      continue;
    snprintf(
        line, sizeof line,
        "the store goes without the run \"%.100s\"; put its record back from a copy, or take it out (nsys-ai store "
        "remove): %s",
        run->id, run->error);
    NAI_TRY(nai_strings_put(NULL, lines, line, err));
  }
  return NAI_OK;
}

void nai_cmd_note_damaged(const struct nai_store *store) {
  NAI_SCOPED(nai_strings) lines = {0};
  struct nai_err err;
  if (nai_store_damage(&lines, store, &err) != NAI_OK)
    nai_cmd_note(err.msg);
  for (uint32_t i = 0; i < lines.count; i++)
    nai_cmd_note(nai_strings_get(&lines, i));
}

/* The name of a capture's trace, from its record, or of an earlier version's from the capture; nothing where neither
 * tells. */
static void put_trace(struct nai_buf *out, const struct nai_store *store, const struct nai_store_run *run, int i) {
  char path[PATH_MAX];
  NAI_OWNED(nai_run) *capture = NULL;
  struct nai_err ignored;
  if (run->trace_count) {
    nai_buf_puts(out, i < run->trace_count ? run->traces[i] : "");
    return;
  }
  if (run->thinned || nai_store_directory(path, store, run, i, &ignored) != NAI_OK ||
      nai_run_open(&capture, path, &ignored) != NAI_OK || !nai_run_manifest(capture)->trace)
    return;
  nai_buf_puts(out, nai_run_manifest(capture)->trace);
}

/* "night.sqlite", of several captures "night0.sqlite and 4 more". */
static void put_traces(struct nai_buf *out, const struct nai_store *store, const struct nai_store_run *run) {
  NAI_SCOPED(nai_buf) first = {0};
  if (run->captures)
    put_trace(&first, store, run, 0);
  nai_escape_terminal(out, nai_buf_str(&first), first.len);
  if (first.len && run->captures > 1)
    nai_buf_printf(out, " and %d more", run->captures - 1);
}

static void put_run(struct nai_json *json, const struct nai_store *store, const struct nai_store_run *run) {
  nai_json_begin_object(json, NAI_JSON_INLINE);
  nai_json_put_text(json, "series", run->group);
  nai_json_put_text(json, "id", run->id);
  nai_json_put_text(json, "status", run->status);
  nai_json_put_bool(json, "thinned", run->thinned);
  nai_json_put_text(json, "verdict", *run->verdict ? run->verdict : NULL);
  nai_json_put_text(json, "error", *run->error ? run->error : NULL);
  nai_json_put_text(json, "note", *run->note ? run->note : NULL);
  nai_json_put_int(json, "captures", run->captures);
  nai_json_put_array(json, "traces", NAI_JSON_INLINE);
  for (int i = 0; i < run->captures; i++) {
    NAI_SCOPED(nai_buf) trace = {0};
    put_trace(&trace, store, run, i);
    nai_json_text(json, trace.len ? nai_buf_str(&trace) : NULL);
  }
  nai_json_end(json);
  nai_json_put_int(json, "bytes", run->bytes);
  nai_json_end(json);
}

static int print_json(const struct nai_store *store, const char *series, struct nai_err *err) {
  NAI_SCOPED(nai_strings) names = {0};
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_json json;
  NAI_TRY(nai_store_baselines(&names, store, err));
  nai_json_open(&json, &text, NAI_JSON_INLINE);
  nai_json_put_text(&json, "schema_version", "1.0");
  nai_json_put_array(&json, "runs", NAI_JSON_INLINE);
  for (uint32_t i = 0; i < store->count; i++)
    if (nai_store_matches(store->runs[i].group, series))
      put_run(&json, store, &store->runs[i]);
  nai_json_end(&json);
  nai_json_put_array(&json, "baselines", NAI_JSON_INLINE);
  for (uint32_t i = 0; i < names.count; i++)
    nai_json_text(&json, nai_strings_get(&names, i));
  nai_json_close(&json);
  return nai_cmd_print(&text, err);
}

int nai_cmd_store_list(const struct nai_store *store, const struct store_args *a, struct nai_err *err) {
  NAI_SCOPED(nai_strings) names = {0};
  NAI_SCOPED(nai_buf) text = {0};
  if (a->json)
    return print_json(store, a->add.name, err);
  for (uint32_t i = 0; i < store->count; i++) {
    const struct nai_store_run *run = &store->runs[i];
    if (!nai_store_matches(run->group, a->add.name))
      continue;
    const char *said = *run->error ? run->error : run->note;
    NAI_SCOPED(nai_buf) traces = {0};
    put_traces(&traces, store, run);
    nai_buf_printf(&text, "%-20s %-36s %-8s %-6s %s%s", run->group, run->id, run->thinned ? "thinned" : run->status,
                   run->verdict, nai_buf_str(&traces), traces.len && *said ? "  " : "");
    nai_escape_terminal(&text, said, strlen(said));
    nai_buf_putc(&text, '\n');
  }
  NAI_TRY(nai_store_baselines(&names, store, err));
  for (uint32_t i = 0; i < names.count; i++)
    nai_buf_printf(&text, "baseline %s\n", nai_strings_get(&names, i));
  return nai_cmd_print(&text, err);
}

static int get_capture(const char *capture, const char *out, struct nai_err *err) {
  NAI_OWNED(nai_run) *run = NULL;
  struct nai_options options;
  nai_options_init(&options);
  options.out = out;
  options.note = nai_cmd_note;
  NAI_TRY(nai_run_open(&run, capture, err));
  return nai_render_run(run, &options, err);
}

int nai_cmd_store_get(const struct nai_store *store, const struct store_args *a, const char *id, struct nai_err *err) {
  NAI_SCOPED(nai_store_selection) captures = {0};
  char out[PATH_MAX], number[16];
  NAI_TRY(nai_store_select_run(&captures, store->path, id, err));
  if (captures.directories.count == 1)
    return get_capture(nai_strings_get(&captures.directories, 0), a->out, err);
  for (uint32_t i = 0; i < captures.directories.count; i++) {
    snprintf(number, sizeof number, "%u", i);
    NAI_TRY(nai_store_join(out, a->out, number, err));
    NAI_TRY(get_capture(nai_strings_get(&captures.directories, i), out, err));
  }
  return NAI_OK;
}

static int write_report(const char *captures, const char *reports, int number, struct nai_err *err) {
  struct nai_temporary aside = {0};
  char name[32], capture[PATH_MAX], report[PATH_MAX], out[PATH_MAX], page[PATH_MAX];
  snprintf(name, sizeof name, "%d.html", number);
  NAI_TRY(nai_store_join(report, reports, name, err));
  *strchr(name, '.') = 0;
  NAI_TRY(nai_store_join(capture, captures, name, err));
  if (nai_fs_is_dir(capture) || nai_fs_exists(report)) /* a directory has its own */
    return NAI_OK;
  NAI_TRY(nai_fs_mkdir_all(reports, err));
  NAI_TRY(nai_temporary_beside(&aside, reports, err));
  int rc = nai_store_join(out, aside.path, "run", err);
  rc = rc ? rc : nai_store_join(page, out, "report.html", err);
  rc = rc ? rc : get_capture(capture, out, err);
  if (!rc && rename(page, report) != 0)
    rc = nai_err_sys(err, NAI_EIO, errno, "cannot write \"%s\"", report);
  nai_temporary_remove(&aside);
  return rc;
}

int nai_cmd_store_reports(const struct nai_store *store, struct nai_err *err) {
  char run[PATH_MAX], captures[PATH_MAX], reports[PATH_MAX];
  struct nai_err why;
  for (uint32_t i = 0; i < store->count; i++) {
    NAI_TRY(nai_store_directory(run, store, &store->runs[i], -1, err));
    NAI_TRY(nai_store_join(captures, run, "captures", err));
    NAI_TRY(nai_store_join(reports, run, NAI_STORE_REPORTS, err));
    for (int c = 0; c < store->runs[i].captures && !store->runs[i].thinned; c++) {
      int rc = write_report(captures, reports, c, &why);
      if (rc == NAI_EINPUT) /* damaged: it costs its own report */
        nai_cmd_note(why.msg);
      else if (rc)
        return nai_err_set(err, rc, "%s", why.msg);
    }
  }
  return NAI_OK;
}

static void put_lines(struct nai_buf *out, const struct nai_strings *lines) {
  for (uint32_t i = 0; i < lines->count; i++)
    nai_buf_printf(out, "%s\n", nai_strings_get(lines, i));
}

static int show_baseline(const struct nai_store *store, const char *name, struct nai_err *err) {
  NAI_SCOPED(nai_store_baseline) baseline = {0};
  NAI_SCOPED(nai_buf) text = {0};
  NAI_TRY(nai_store_baseline(&baseline, store, name, err));
  put_lines(&text, &baseline.ids);
  if (*baseline.reason) {
    nai_escape_terminal(&text, baseline.reason, strlen(baseline.reason));
    nai_buf_putc(&text, '\n');
  }
  return nai_cmd_print(&text, err);
}

static int list_baselines(const struct nai_store *store, struct nai_err *err) {
  NAI_SCOPED(nai_strings) names = {0};
  NAI_SCOPED(nai_buf) text = {0};
  NAI_TRY(nai_store_baselines(&names, store, err));
  put_lines(&text, &names);
  return nai_cmd_print(&text, err);
}

int nai_cmd_store_baseline(const struct nai_store *store, const struct store_args *a, const char *const *words,
                           size_t count, struct nai_err *err) {
  if (strcmp(words[0], "list") == 0)
    return list_baselines(store, err);
  if (strcmp(words[0], "show") == 0)
    return show_baseline(store, words[1], err);
  return nai_store_set_baseline(store, words[1], words + 2, count - 2, a->reason ? a->reason : "", err);
}
