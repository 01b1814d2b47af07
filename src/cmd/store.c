/* nsys-ai store: runs of nights, kept. */
#include "cmd/cmd.h"

#include "base/fmt.h"
#include "base/fs.h"
#include "render/escape.h"
#include "store/store.h"
#include "trend/trend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct store_args {
  const char *store, *series, *id, *time, *failed, *verdict, *environment, *kind, *text, *reason;
  const char *labels[NAI_STORE_MAX_LABELS];
  size_t label_count;
  int64_t keep_days;
  int64_t utc_ns;
  bool dry_run, quiet;
};

static void init(void *memory) {
  struct store_args *args = memory;
  args->keep_days = 90;
  args->utc_ns = NAI_NULL_I64;
}

static const char *verdict_name(size_t index, const char *before) {
  static const char *const names[] = {"pass", "fail", "error"};
  (void)before;
  return index < sizeof names / sizeof *names ? names[index] : NULL;
}

static const char *kind_name(size_t index, const char *before) {
  (void)before;
  return nai_store_kind(index);
}

/* "2026-01-05T02:00:00Z" */
static int set_time(void *memory, const struct nai_cli_option *option, const char *const *values, struct nai_err *err) {
  struct store_args *args = memory;
  struct tm parts = {0};
  const char *end = strptime(values[0], "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (!end || *end)
    return nai_err_set(err, NAI_EUSAGE, "--%s %.60s: expected UTC as in 2026-01-05T02:00:00Z", option->name, values[0]);
  args->utc_ns = (int64_t)timegm(&parts) * 1000000000;
  return NAI_OK;
}

static const struct nai_cli_type utc = {set_time, NULL};

#define AT(field) .at = offsetof(struct store_args, field)

static const struct nai_cli_option options[] = {
    {.name = "store",
     .value = "DIR",
     .help = "the store; add makes it",
     .type = &nai_cli_text,
     AT(store),
     .hint = NAI_CLI_DIRECTORY},
    {.name = "series",
     .value = "NAME",
     .help = "add: what is measured; list: show these runs only",
     .type = &nai_cli_text,
     AT(series),
     .otherwise = "default"},
    {.name = "id",
     .value = "ID",
     .help = "add: name of the run",
     .type = &nai_cli_text,
     AT(id),
     .otherwise = "start of the capture and a hash of the traces"},
    {.name = "label",
     .value = "KEY=VALUE",
     .help = "add: what else there is to say of the run, such as commit=1a2b3c; repeatable",
     .type = &nai_cli_texts,
     AT(labels),
     .count_at = offsetof(struct store_args, label_count),
     .most = NAI_STORE_MAX_LABELS},
    {.name = "verdict",
     .value = "WORD",
     .help = "add: what a gate said; a run that failed it is kept, and is no baseline",
     .type = &nai_cli_word,
     AT(verdict),
     .choices = verdict_name},
    {.name = "environment",
     .value = "TEXT",
     .help = "add: what the traces do not say of the machine, such as driver=575.51; another one is another series",
     .type = &nai_cli_text,
     AT(environment)},
    {.name = "failed",
     .value = "REASON",
     .help = "add: the night failed, and this is why; no captures are needed then",
     .type = &nai_cli_text,
     AT(failed)},
    {.name = "time",
     .value = "UTC",
     .help = "add: when the run was, for one without captures",
     .type = &utc,
     .otherwise = "start of the first capture"},
    {.name = "kind",
     .value = "KIND",
     .help = "annotate: what is said",
     .type = &nai_cli_word,
     AT(kind),
     .choices = kind_name},
    {.name = "text", .value = "TEXT", .help = "annotate: why", .type = &nai_cli_text, AT(text)},
    {.name = "reason", .value = "TEXT", .help = "baseline set: why", .type = &nai_cli_text, AT(reason)},
    {.name = "keep-days",
     .value = "N",
     .help = "prune: leave runs alone that are so much older than the newest, or less",
     .type = &nai_cli_int64,
     AT(keep_days),
     .min = 0,
     .max = 36500},
    {.name = "dry-run", .help = "prune: print what would be removed", .type = &nai_cli_on, AT(dry_run)},
    {.name = "quiet", .letter = 'q', .help = "print nothing but errors", .type = &nai_cli_on, AT(quiet)},
    {0},
};

/* --- actions ---------------------------------------------------------------------------------- */

/* The derived files, with the changes of all series. */
static int write_index(const struct nai_store *store, struct nai_err *err) {
  static const struct nai_trend_options all = {0};
  struct nai_index index = {0};
  struct nai_trend trend = {0};
  struct nai_table *changes = NULL;
  int rc = nai_store_index(&index, store, err);
  if (!rc && index.runs->rows)
    rc = nai_trend_find(&trend, &index, store, &all, err);
  if (!rc)
    rc = nai_trend_changes_table(&changes, &trend, err);
  index.more = changes;
  if (!rc)
    rc = nai_index_write(&index, store->path, err);
  nai_trend_free(&trend);
  nai_table_free(changes);
  nai_index_free(&index);
  return rc;
}

/* Traces that are refused are runs that failed: they stay in the store with the reason. */
static int open_captures(struct nai_run **captures, int *count, char **error, const char *const *paths, size_t n,
                         const struct store_args *a, struct nai_err *err) {
  const struct nai_cmd_source how = {.quiet = a->quiet};
  for (size_t i = 0; i < n; i++) {
    int rc = nai_cmd_source_open(&captures[*count], paths[i], &how, err);
    if (rc == NAI_EINPUT && nai_cmd_is_trace(paths[i])) {
      *error = strdup(err->msg);
      return *error ? NAI_OK : nai_err_nomem(err);
    }
    if (rc)
      return rc;
    ++*count;
  }
  return NAI_OK;
}

static int add(struct nai_store *store, const struct store_args *a, const char *const *paths, size_t count,
               struct nai_err *err) {
  struct nai_run *captures[NAI_STORE_MAX_CAPTURES] = {NULL};
  char *error = NULL, *id = NULL;
  int n = 0;
  bool added = false;
  if (count > NAI_STORE_MAX_CAPTURES)
    return nai_err_set(err, NAI_EUSAGE, "more than %d captures of one run", NAI_STORE_MAX_CAPTURES);
  int rc = open_captures(captures, &n, &error, paths, count, a, err);
  const struct nai_store_add run = {.captures = captures,
                                    .capture_count = error ? 0 : n,
                                    .name = a->series ? a->series : "default",
                                    .id = a->id,
                                    .utc_ns = a->utc_ns,
                                    .error = a->failed ? a->failed : error,
                                    .verdict = a->verdict,
                                    .environment = a->environment,
                                    .labels = a->labels,
                                    .label_count = a->label_count};
  if (!rc)
    rc = nai_store_add(&id, &added, store, &run, err);
  if (!rc && !a->quiet)
    printf("%s%s\n", id, added ? "" : " is there already");
  for (int i = 0; i < n; i++)
    nai_run_close(captures[i]);
  free(error);
  free(id);
  return rc ? rc : write_index(store, err);
}

static int list(const struct nai_store *store, const struct store_args *a, struct nai_err *err) {
  struct nai_strings names = {0};
  struct nai_buf text = {0};
  for (uint32_t i = 0; i < store->count; i++) {
    const struct nai_store_run *run = &store->runs[i];
    if (!nai_store_matches(run->series, a->series))
      continue;
    nai_buf_printf(&text, "%-20s %-36s %-8s %-6s ", run->series, run->id, run->status, run->verdict);
    nai_escape_terminal(&text, *run->error ? run->error : run->note, strlen(*run->error ? run->error : run->note));
    nai_buf_putc(&text, '\n');
  }
  int rc = nai_store_baselines(&names, store, err);
  for (uint32_t i = 0; i < names.count && !rc; i++)
    nai_buf_printf(&text, "baseline %s\n", nai_strings_get(&names, i));
  if (!rc)
    rc = nai_cmd_print(&text, err);
  nai_strings_free(&names);
  nai_buf_free(&text);
  return rc;
}

static int show_baseline(const struct nai_store *store, const char *name, struct nai_err *err) {
  struct nai_store_baseline baseline;
  struct nai_buf text = {0};
  int rc = nai_store_baseline(&baseline, store, name, err);
  for (uint32_t i = 0; i < baseline.ids.count && !rc; i++)
    nai_buf_printf(&text, "%s\n", nai_strings_get(&baseline.ids, i));
  if (!rc && *baseline.reason) {
    nai_escape_terminal(&text, baseline.reason, strlen(baseline.reason));
    nai_buf_putc(&text, '\n');
  }
  if (!rc)
    rc = nai_cmd_print(&text, err);
  nai_store_baseline_free(&baseline);
  nai_buf_free(&text);
  return rc;
}

static int list_baselines(const struct nai_store *store, struct nai_err *err) {
  struct nai_strings names = {0};
  struct nai_buf text = {0};
  int rc = nai_store_baselines(&names, store, err);
  for (uint32_t i = 0; i < names.count; i++)
    nai_buf_printf(&text, "%s\n", nai_strings_get(&names, i));
  if (!rc)
    rc = nai_cmd_print(&text, err);
  nai_strings_free(&names);
  nai_buf_free(&text);
  return rc;
}

static int run_baseline(const struct nai_store *store, const struct store_args *a, const char *const *words,
                        size_t count, struct nai_err *err) {
  if (strcmp(words[0], "list") == 0)
    return list_baselines(store, err);
  if (strcmp(words[0], "show") == 0)
    return show_baseline(store, words[1], err);
  return nai_store_set_baseline(store, words[1], words + 2, count - 2, a->reason ? a->reason : "", err);
}

struct pruned {
  struct nai_buf text;
  int64_t bytes;
  uint32_t runs;
};

static void tell_pruned(void *ctx, const struct nai_store_run *run, int64_t bytes) {
  struct pruned *p = ctx;
  nai_buf_printf(&p->text, "%s ", run->id);
  nai_fmt_bytes(&p->text, (double)bytes);
  nai_buf_putc(&p->text, '\n');
  p->bytes += bytes;
  p->runs++;
}

/* Both sides of every change stay whole: somebody will want to look at them. */
static int keep_changes(struct nai_strings *keep, const struct nai_store *store, struct nai_err *err) {
  static const struct nai_trend_options all = {0};
  struct nai_index index = {0};
  struct nai_trend trend = {0};
  struct nai_table *changes = NULL;
  int rc = nai_store_index(&index, store, err);
  if (!rc && index.runs->rows)
    rc = nai_trend_find(&trend, &index, store, &all, err);
  if (!rc)
    rc = nai_trend_changes_table(&changes, &trend, err);
  for (int64_t i = 0; !rc && i < changes->rows; i++) {
    const char *good = nai_cell_str(changes, i, "good_run"), *bad = nai_cell_str(changes, i, "bad_run");
    if (nai_strings_add(keep, good, strlen(good)) == NAI_NO_STRING ||
        nai_strings_add(keep, bad, strlen(bad)) == NAI_NO_STRING)
      rc = nai_err_nomem(err);
  }
  nai_trend_free(&trend);
  nai_table_free(changes);
  nai_index_free(&index);
  return rc;
}

static int prune(const struct nai_store *store, const struct store_args *a, struct nai_err *err) {
  struct nai_strings keep = {0};
  struct pruned pruned = {0};
  int rc = keep_changes(&keep, store, err);
  if (!rc)
    rc = nai_store_prune(
        store,
        &(struct nai_store_pruning){
            .keep_days = a->keep_days, .keep = &keep, .dry_run = a->dry_run, .tell = tell_pruned, .ctx = &pruned},
        err);
  nai_buf_printf(&pruned.text, "%u runs, ", pruned.runs);
  nai_fmt_bytes(&pruned.text, (double)pruned.bytes);
  nai_buf_puts(&pruned.text, a->dry_run ? " would be removed\n" : " removed\n");
  if (!rc && !a->quiet)
    rc = nai_cmd_print(&pruned.text, err);
  nai_buf_free(&pruned.text);
  nai_strings_free(&keep);
  return rc;
}

/* --- the command ------------------------------------------------------------------------------ */

static const char *const actions[] = {"add", "annotate", "baseline", "index", "list", "prune"};

static const char *action_name(size_t index, const char *before) {
  (void)before;
  return index < sizeof actions / sizeof *actions ? actions[index] : NULL;
}

static bool is_baseline_call(const char *const *words, size_t count) {
  return count >= 2 && ((strcmp(words[1], "list") == 0 && count == 2) ||
                        (strcmp(words[1], "show") == 0 && count == 3) || (strcmp(words[1], "set") == 0 && count >= 4));
}

static int check(const void *memory, const char *const *words, size_t count, struct nai_err *err) {
  const struct store_args *a = memory;
  const char *action = words[0];
  if (!a->store)
    return nai_err_set(err, NAI_EUSAGE, "--store DIR is missing");
  if (strcmp(action, "add") == 0 && count < 2 && !a->failed)
    return nai_err_set(err, NAI_EUSAGE,
                       "add: which run? Name an artifacts directory or a trace, or say --failed REASON");
  if (strcmp(action, "baseline") == 0 && !is_baseline_call(words, count))
    return nai_err_set(err, NAI_EUSAGE, "expected baseline set NAME RUN-ID..., baseline list or baseline show NAME");
  if (strcmp(action, "annotate") == 0 && (count != 2 || !a->kind || !a->text))
    return nai_err_set(err, NAI_EUSAGE, "expected annotate RUN-ID --kind KIND --text TEXT");
  if ((strcmp(action, "list") == 0 || strcmp(action, "prune") == 0 || strcmp(action, "index") == 0) && count > 1)
    return nai_err_set(err, NAI_EUSAGE, "unexpected \"%.100s\"", words[1]);
  return NAI_OK;
}

static int act(struct nai_store *store, const struct store_args *a, const char *const *words, size_t count,
               struct nai_err *err) {
  if (strcmp(words[0], "add") == 0)
    return add(store, a, words + 1, count - 1, err);
  if (strcmp(words[0], "list") == 0)
    return list(store, a, err);
  if (strcmp(words[0], "baseline") == 0)
    return run_baseline(store, a, words + 1, count - 1, err);
  if (strcmp(words[0], "prune") == 0)
    return prune(store, a, err);
  int rc = strcmp(words[0], "annotate") == 0 ? nai_store_annotate(store, words[1], a->kind, a->text, err) : NAI_OK;
  return rc ? rc : write_index(store, err);
}

static int run(void *memory, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  const struct store_args *a = memory;
  struct nai_store store;
  (void)program;
  int rc = nai_store_open(&store, a->store, strcmp(operands[0], "add") == 0, err);
  if (!rc)
    rc = act(&store, a, operands, count, err);
  nai_store_close(&store);
  return rc;
}

const struct nai_cli_command nai_cmd_store = {
    .name = "store",
    .synopsis = "add RUN... | list | baseline set NAME RUN-ID... | annotate RUN-ID | prune | index",
    .summary = "keep runs of every night, name baselines, say what is known about them",
    .description =
        "Keeps runs by series: what is measured and what it ran on. add takes the captures of one run, artifacts "
        "directories or traces; a trace that cannot be analysed is kept as a run that failed. Every command that changes "
        "something writes index.sqlite, index.csv and index.html anew; they can be deleted, and index makes them again. "
        "docs/nightly.md has a recipe.",
    .examples =
        "nsys-ai store add artifacts/run1 --store nights --series llama --label commit=1a2b3c\n"
        "nsys-ai store baseline set release-1.4 20260101T020000Z-1a2b3c4d --store nights --reason 'release 1.4'\n"
        "nsys-ai store annotate 20260105T020000Z-5e6f7a8b --kind expected-change --text 'larger batch' --store nights\n"
        "nsys-ai store list --store nights",
    .options = options,
    .operands = (const struct nai_cli_operand[]){{.name = "ACTION", .choices = action_name, .only_choices = true},
                                                 {.name = "RUN", .hint = NAI_CLI_DIRECTORY},
                                                 {0}},
    .min_operands = 1,
    .max_operands = NAI_CLI_ANY_NUMBER,
    .args_size = sizeof(struct store_args),
    .init = init,
    .check = check,
    .run = run,
};
