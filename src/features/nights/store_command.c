/* nsys-ai store: runs of nights, kept. */
#include "features/nights/store_command.h"

static void init(void *memory) {
  struct store_args *args = memory;
  args->keep = args->keep_days = args->weekly_days = args->monthly_days = -1;
  args->add.utc_ns = NAI_NULL_I64;
}

static const char *verdict_name(size_t index, const char *before) {
  static const char *const names[] = {"pass", "fail", "undecided", "error"};
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
  struct tm given = parts;
  time_t seconds = timegm(&parts); /* puts right what no calendar has, such as February 30 */
  if (parts.tm_mon != given.tm_mon || parts.tm_mday != given.tm_mday || parts.tm_sec != given.tm_sec)
    return nai_err_set(err, NAI_EUSAGE, "--%s %.60s: there is no such time", option->name, values[0]);
  if (__builtin_mul_overflow((int64_t)seconds, 1000000000, &args->add.utc_ns))
    return nai_err_set(err, NAI_EUSAGE, "--%s %.60s: expected a time from 1678 to 2261", option->name, values[0]);
  return NAI_OK;
}

static const struct nai_cli_type utc = {set_time, NULL};

/* "90d", "8w", "6m", "2y" or "all": in days, months and years at their longest. */
static int set_age(void *memory, const struct nai_cli_option *option, const char *const *values, struct nai_err *err) {
  static const struct {
    char unit;
    int64_t days;
  } units[] = {{'d', 1}, {'w', 7}, {'m', 31}, {'y', 366}};
  enum { MOST = 100000 };
  char *end;
  int64_t *out = (int64_t *)((char *)memory + option->at), days = -1;
  long number = strtol(values[0], &end, 10);
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (end > values[0] && *end == units[i].unit && !end[1] && number >= 0 && number <= MOST / units[i].days)
      days = number * units[i].days;
  if (strcmp(values[0], "all") == 0)
    days = INT32_MAX;
  if (days < 0)
    return nai_err_set(err, NAI_EUSAGE, "--%s %.60s: expected an age such as 90d, 8w, 6m or 2y, or all", option->name,
                       values[0]);
  *out = days;
  return NAI_OK;
}

static const struct nai_cli_type age = {set_age, NULL};

#define NAI_CLI_ARGS struct store_args
static const struct nai_cli_option options[] = {
    NAI_CLI_OPTION(text, store, "store", "DIR", "the store; add makes it", .hint = NAI_CLI_DIRECTORY),
    NAI_CLI_OPTION(text, add.name, "series", "NAME", "add: what is measured; list, upgrade: these runs only",
                   .otherwise = "default"),
    NAI_CLI_OPTION(text, add.id, "id", "ID", "add: name of the run",
                   .otherwise = "start of the capture and a hash of the traces"),
    NAI_CLI_LIST(texts, labels, add.label_count, "label", "KEY=VALUE",
                 "add: what else there is to say of the run, such as branch=main; repeatable. Label commit is that of "
                 "GITHUB_SHA, CI_COMMIT_SHA or GIT_COMMIT unless it is given"),
    NAI_CLI_OPTION(word, add.verdict, "verdict", "WORD",
                   "add: what a gate said; a run that did not pass it is kept, and is no baseline",
                   .choices = verdict_name),
    NAI_CLI_OPTION(
        text, add.environment, "environment", "TEXT",
        "add: what the traces do not say of the machine, such as driver=575.51; another one is another series"),
    NAI_CLI_OPTION(text, add.error, "failed", "REASON",
                   "add: the night failed, and this is why; no captures are needed then"),
    NAI_CLI_OTHER(utc, "time", "UTC", "add: when the run was, for one without captures",
                  .otherwise = "start of the first capture"),
    NAI_CLI_OPTION(word, kind, "kind", "KIND", "annotate: what is said", .choices = kind_name),
    NAI_CLI_OPTION(text, text, "text", "TEXT", "annotate: why"),
    NAI_CLI_OPTION(text, reason, "reason", "TEXT", "baseline set: why"),
    NAI_CLI_OTHER(
        age, "keep", "AGE",
        "prune: leave runs alone that are so much older than the newest, or less: 90d, 8w, 6m, 2y or all; add: all "
        "keeps captures as they are, with reports and every event, not each in one small file",
        .at = offsetof(NAI_CLI_ARGS, keep), .otherwise = "90d"),
    NAI_CLI_OTHER(age, "weekly", "AGE", "prune: up to this age only one run a week keeps its captures, of each series",
                  .at = offsetof(NAI_CLI_ARGS, weekly_days)),
    NAI_CLI_OTHER(age, "monthly", "AGE", "prune: and then one a month; with --weekly alone: all",
                  .at = offsetof(NAI_CLI_ARGS, monthly_days)),
    NAI_CLI_OPTION(int64, keep_days, "keep-days", "N", "prune: --keep in days", NAI_CLI_RANGE(0, 36500),
                   .otherwise = "90"),
    NAI_CLI_LIST(texts, metrics, metric_count, "metrics", "FILE",
                 "upgrade: metrics that runs were analyzed with, and their definitions of now; repeatable",
                 .hint = NAI_CLI_FILE),
    NAI_CLI_OPTION(text, out, "out", "DIR", "get: where the run is written", .letter = 'o', .hint = NAI_CLI_FILE),
    NAI_CLI_SWITCH(on, reports, "reports", "index: write the report of each run, too, for index and trend to lead to"),
    NAI_CLI_SWITCH(on, dry_run, "dry-run", "prune, upgrade: print what would be done"),
    NAI_CMD_EXPORT_OPTION,
    NAI_CLI_SWITCH(on, json, "json", "list: print one line of JSON"),
    NAI_CLI_SWITCH(on, quiet, "quiet", "print nothing but errors", .letter = 'q'),
    {0},
};

/* --- the command ------------------------------------------------------------------------------ */

static const char *const actions[] = {"add",  "annotate", "baseline", "get",    "index",
                                      "list", "prune",    "remove",   "upgrade"};

static const char *action_name(size_t index, const char *before) {
  (void)before;
  return index < sizeof actions / sizeof *actions ? actions[index] : NULL;
}

/* Refuses an option that would say nothing there: it is more likely a mistake than not. */
static int check_options(const struct store_args *a, const char *action, struct nai_err *err) {
  const struct {
    const char *option;
    bool given;
    const char *of, *or_of, *or_upgrade;
  } uses[] = {{"series", a->add.name, "add", "list", "upgrade"},
              {"id", a->add.id, "add", ""},
              {"label", a->add.label_count, "add", ""},
              {"verdict", a->add.verdict, "add", ""},
              {"environment", a->add.environment, "add", ""},
              {"failed", a->add.error, "add", ""},
              {"time", a->add.utc_ns != NAI_NULL_I64, "add", ""},
              {"kind", a->kind, "annotate", ""},
              {"text", a->text, "annotate", ""},
              {"reason", a->reason, "baseline set", ""},
              {"keep", a->keep >= 0, "prune", "add"},
              {"out", a->out, "get", ""},
              {"keep-days", a->keep_days >= 0, "prune", ""},
              {"weekly", a->weekly_days >= 0, "prune", ""},
              {"monthly", a->monthly_days >= 0, "prune", ""},
              {"json", a->json, "list", ""},
              {"metrics", a->metric_count, "upgrade", ""},
              {"reports", a->reports, "index", ""},
              {"dry-run", a->dry_run, "prune", "upgrade"}};
  for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
    if (uses[i].given && strcmp(action, uses[i].of) != 0 && strcmp(action, uses[i].or_of) != 0 &&
        !(uses[i].or_upgrade && strcmp(action, uses[i].or_upgrade) == 0))
      return nai_err_set(err, NAI_EUSAGE, "--%s is no option of %s, but of %s%s%s", uses[i].option, action, uses[i].of,
                         *uses[i].or_of ? " and " : "", uses[i].or_of);
  return NAI_OK;
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
  if (strcmp(action, "add") == 0 && count < 2 && !a->add.error)
    return nai_err_set(err, NAI_EUSAGE,
                       "add: which run? Name an artifacts directory or a trace, or say --failed REASON");
  if (strcmp(action, "add") == 0 && a->keep >= 0 && a->keep != INT32_MAX)
    return nai_err_set(err, NAI_EUSAGE, "add keeps all (--keep all) or, without --keep, what later questions need");
  if (strcmp(action, "get") == 0 && (count != 2 || !a->out))
    return nai_err_set(err, NAI_EUSAGE, "expected get RUN-ID --out DIR");
  if (strcmp(action, "baseline") == 0 && !is_baseline_call(words, count))
    return nai_err_set(err, NAI_EUSAGE, "expected baseline set NAME RUN-ID..., baseline list or baseline show NAME");
  if (strcmp(action, "annotate") == 0 && (count != 2 || !a->kind || !a->text))
    return nai_err_set(err, NAI_EUSAGE, "expected annotate RUN-ID --kind KIND --text TEXT");
  if (strcmp(action, "remove") == 0 && count < 2)
    return nai_err_set(err, NAI_EUSAGE, "expected remove RUN-ID...");
  if ((strcmp(action, "list") == 0 || strcmp(action, "prune") == 0 || strcmp(action, "index") == 0 ||
       strcmp(action, "upgrade") == 0) &&
      count > 1)
    return nai_err_set(err, NAI_EUSAGE, "unexpected \"%.100s\"", words[1]);
  if (strcmp(action, "baseline") == 0)
    action = strcmp(words[1], "set") == 0 ? "baseline set" : "baseline list and show";
  return check_options(a, action, err);
}

static bool is(const char *action, const char *name) { return strcmp(action, name) == 0; }

static int act(struct nai_store *store, const struct store_args *a, const char *const *words, size_t count,
               struct nai_err *err) {
  const char *action = words[0];
  if (is(action, "add"))
    return nai_cmd_store_add(store, a, words + 1, count - 1, err);
  if (is(action, "list"))
    return nai_cmd_store_list(store, a, err);
  if (is(action, "get"))
    return nai_cmd_store_get(store, a, words[1], err);
  if (is(action, "baseline"))
    return nai_cmd_store_baseline(store, a, words + 1, count - 1, err);
  if (is(action, "annotate"))
    return nai_store_annotate(store, words[1], a->kind, a->text, err);
  if (is(action, "remove"))
    return nai_store_remove(store, words + 1, count - 1, err);
  if (is(action, "prune"))
    NAI_TRY(nai_cmd_store_prune(store, a, err));
  if (is(action, "upgrade"))
    NAI_TRY(nai_cmd_store_upgrade(store, a, err));
  else if (a->reports)
    NAI_TRY(nai_cmd_store_reports(store, err));
  return a->dry_run ? NAI_OK : nai_cmd_store_write_index(store, err);
}

/* What is about a run reads no other one; add and get read what they need themselves. */
static int read_runs(struct nai_store *store, const struct store_args *a, const char *const *words, size_t count,
                     struct nai_err *err) {
  bool of_runs = is(words[0], "annotate") || is(words[0], "remove") || is(words[0], "baseline");
  for (size_t i = 1; of_runs && i < count; i++)
    NAI_TRY(nai_store_read_id(store, words[i], err));
  return of_runs || is(words[0], "add") || is(words[0], "get") ? NAI_OK : nai_store_read(store, a->add.name, err);
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct store_args *a = memory;
  NAI_SCOPED(nai_store) store = {.arena = NAI_ARENA(NULL)};
  NAI_TRY(nai_store_open(&store, a->store, is(operands[0], "add"), err));
  NAI_TRY(read_runs(&store, a, operands, count, err));
  if (is(operands[0], "index") || ((is(operands[0], "prune") || is(operands[0], "upgrade")) && !a->dry_run))
    nai_store_sweep(&store);
  int rc = act(&store, a, operands, count, err);
  nai_cmd_note_damaged(&store); /* as it is by then: remove may have taken one out */
  return rc;
}

NAI_CLI_COMMAND(
    nai_cmd_store, .name = "store",
    .synopsis = "add | list | get | baseline set NAME | annotate | prune | remove | upgrade | index [RUN...]",
    .summary = "keep runs of every night, name baselines, say what is known about them",
    .description =
        "Keeps runs by series: what is measured and what it ran on. add takes the captures of one run, artifacts "
        "directories or traces, the others ids of runs; a trace that cannot be analyzed is kept as a run that failed; what is there "
        "already gets the --verdict and --label of a second call. A capture becomes one file, from which get writes its artifacts directory "
        "with all reports. remove is for what was added by mistake. upgrade analyzes captures again that another version of nsys-ai analyzed, "
        "where their events are kept. index writes index.sqlite, "
        "index.csv and index.html of all runs, as prune and upgrade do; what is about one run leaves them as they are. "
        "docs/nightly.md has a recipe.",
    .examples =
        "nsys-ai store add artifacts/run1 --store nights --series llama --label commit=1a2b3c\n"
        "nsys-ai store baseline set release-1.4 20260101T020000Z-1a2b3c4d --store nights --reason 'release 1.4'\n"
        "nsys-ai store annotate 20260105T020000Z-5e6f7a8b --kind expected-change --text 'larger batch' --store nights\n"
        "nsys-ai store list --store nights",
    .options = options,
    NAI_CLI_OPERANDS(1, NAI_CLI_ANY_NUMBER, {.name = "ACTION", .choices = action_name, .only_choices = true},
                     {.name = "RUN", .hint = NAI_CLI_DIRECTORY}),
    .init = init, .check = check, .run = run)
