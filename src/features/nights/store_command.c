/* nsys-ai store: runs of nights, kept. */
#include "features/nights/store_command.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

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
     AT(add.name),
     .otherwise = "default"},
    {.name = "id",
     .value = "ID",
     .help = "add: name of the run",
     .type = &nai_cli_text,
     AT(add.id),
     .otherwise = "start of the capture and a hash of the traces"},
    {.name = "label",
     .value = "KEY=VALUE",
     .help = "add: what else there is to say of the run, such as branch=main; repeatable. Label commit is that of "
             "GITHUB_SHA, CI_COMMIT_SHA or GIT_COMMIT unless it is given",
     .type = &nai_cli_texts,
     AT(labels),
     .count_at = offsetof(struct store_args, add.label_count),
     .most = NAI_STORE_MAX_LABELS},
    {.name = "verdict",
     .value = "WORD",
     .help = "add: what a gate said; a run that did not pass it is kept, and is no baseline",
     .type = &nai_cli_word,
     AT(add.verdict),
     .choices = verdict_name},
    {.name = "environment",
     .value = "TEXT",
     .help = "add: what the traces do not say of the machine, such as driver=575.51; another one is another series",
     .type = &nai_cli_text,
     AT(add.environment)},
    {.name = "failed",
     .value = "REASON",
     .help = "add: the night failed, and this is why; no captures are needed then",
     .type = &nai_cli_text,
     AT(add.error)},
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
    {.name = "keep",
     .value = "AGE",
     .help =
         "prune: leave runs alone that are so much older than the newest, or less: 90d, 8w, 6m, 2y or all; add: all "
         "keeps captures as they are, with reports and every event, not each in one small file",
     .type = &age,
     AT(keep),
     .otherwise = "90d"},
    {.name = "weekly",
     .value = "AGE",
     .help = "prune: up to this age only one run a week keeps its captures, of each series",
     .type = &age,
     AT(weekly_days)},
    {.name = "monthly",
     .value = "AGE",
     .help = "prune: and then one a month; with --weekly alone: all",
     .type = &age,
     AT(monthly_days)},
    {.name = "keep-days",
     .value = "N",
     .help = "prune: --keep in days",
     .type = &nai_cli_int64,
     AT(keep_days),
     .min = 0,
     .max = 36500,
     .otherwise = "90"},
    {.name = "out",
     .letter = 'o',
     .value = "DIR",
     .help = "get: where the run is written",
     .type = &nai_cli_text,
     AT(out),
     .hint = NAI_CLI_FILE},
    {.name = "dry-run", .help = "prune: print what would be removed", .type = &nai_cli_on, AT(dry_run)},
    NAI_CMD_EXPORT_OPTION,
    {.name = "json", .help = "list: print one line of JSON", .type = &nai_cli_on, AT(json)},
    {.name = "quiet", .letter = 'q', .help = "print nothing but errors", .type = &nai_cli_on, AT(quiet)},
    {0},
};

/* --- the command ------------------------------------------------------------------------------ */

static const char *const actions[] = {"add", "annotate", "baseline", "get", "index", "list", "prune", "remove"};

static const char *action_name(size_t index, const char *before) {
  (void)before;
  return index < sizeof actions / sizeof *actions ? actions[index] : NULL;
}

/* Refuses an option that would say nothing there: it is more likely a mistake than not. */
static int check_options(const struct store_args *a, const char *action, struct nai_err *err) {
  const struct {
    const char *option;
    bool given;
    const char *of, *or_of;
  } uses[] = {{"series", a->add.name, "add", "list"},
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
              {"dry-run", a->dry_run, "prune", ""}};
  for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
    if (uses[i].given && strcmp(action, uses[i].of) != 0 && strcmp(action, uses[i].or_of) != 0)
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
  if ((strcmp(action, "list") == 0 || strcmp(action, "prune") == 0 || strcmp(action, "index") == 0) && count > 1)
    return nai_err_set(err, NAI_EUSAGE, "unexpected \"%.100s\"", words[1]);
  if (strcmp(action, "baseline") == 0)
    action = strcmp(words[1], "set") == 0 ? "baseline set" : "baseline list and show";
  return check_options(a, action, err);
}

static int act(struct nai_store *store, const struct store_args *a, const char *const *words, size_t count,
               struct nai_err *err) {
  if (strcmp(words[0], "add") == 0)
    return nai_cmd_store_add(store, a, words + 1, count - 1, err);
  if (strcmp(words[0], "list") == 0)
    return nai_cmd_store_list(store, a, err);
  if (strcmp(words[0], "get") == 0)
    return nai_cmd_store_get(store, a, words[1], err);
  if (strcmp(words[0], "baseline") == 0)
    return nai_cmd_store_baseline(store, a, words + 1, count - 1, err);
  if (strcmp(words[0], "annotate") == 0)
    NAI_TRY(nai_store_annotate(store, words[1], a->kind, a->text, err));
  else if (strcmp(words[0], "remove") == 0)
    NAI_TRY(nai_store_remove(store, words + 1, count - 1, err));
  else if (strcmp(words[0], "prune") == 0)
    NAI_TRY(nai_cmd_store_prune(store, a, err));
  return strcmp(words[0], "prune") == 0 && a->dry_run ? NAI_OK : nai_cmd_store_write_index(store, err);
}

/* Actions that change nothing, or not yet, leave everything as it is. */
static bool may_tidy(const struct store_args *a, const char *action) {
  return strcmp(action, "index") == 0 || strcmp(action, "remove") == 0 || (strcmp(action, "prune") == 0 && !a->dry_run);
}

static int run(void *memory, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  const struct store_args *a = memory;
  NAI_SCOPED(nai_store) store = {.arena = NAI_ARENA(NULL)};
  (void)program;
  bool adds = strcmp(operands[0], "add") == 0;
  NAI_TRY(nai_store_open(&store, a->store, adds, err));
  if (!adds && strcmp(operands[0], "get") != 0) /* which read what they need */
    NAI_TRY(nai_store_read(&store, strcmp(operands[0], "list") == 0 ? a->add.name : NULL, err));
  if (may_tidy(a, operands[0]))
    nai_store_sweep(&store);
  int rc = act(&store, a, operands, count, err);
  nai_cmd_note_damaged(&store); /* as it is by then: remove may have taken one out */
  return rc;
}

const struct nai_cli_command nai_cmd_store = {
    .name = "store",
    .synopsis = "add | list | get | baseline set NAME | annotate | prune | remove | index [RUN...]",
    .summary = "keep runs of every night, name baselines, say what is known about them",
    .description =
        "Keeps runs by series: what is measured and what it ran on. add takes the captures of one run, artifacts "
        "directories or traces, the others ids of runs; a trace that cannot be analyzed is kept as a run that failed; what is there "
        "already gets the --verdict and --label of a second call. A capture becomes one file, from which get writes its artifacts directory "
        "with all reports. remove is for what was added by mistake. index writes index.sqlite, "
        "index.csv and index.html of all runs, as annotate, prune and remove do; add leaves them as they are. "
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
