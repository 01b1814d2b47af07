/* What each tool runs: a command line of this program. */
#include "features/mcp/internal.h"

#include "base/cache.h"
#include "base/fs.h"
#include "base/hash.h"
#include "config/change.h"

static const char *text_of(const struct nai_agent_call *call, const char *key) {
  return json_string_value(json_object_get(call->arguments, key));
}

static struct nai_agent_words *begin(struct nai_agent_call *call, const char *command) {
  struct nai_agent_words *words = &call->steps[call->step_count++];
  words->arena = &call->arena;
  nai_agent_put_words(words, "nsys-ai", command, NULL);
  return words;
}

/* The page asked for, and a row more that tells whether there is another. */
static void put_page(struct nai_agent_words *words, const struct nai_agent_call *call) {
  nai_agent_put_words(words, "--format=json",
                      nai_arena_printf(words->arena, "--rows=%" PRId64, call->offset + call->limit + 1), NULL);
}

static int place_run(char path[PATH_MAX], struct nai_agent_call *call, const struct nai_agent *agent,
                     struct nai_err *err) {
  snprintf(call->run, sizeof call->run, "%s", text_of(call, "run"));
  return nai_agent_path(path, agent, call->run, NAI_AGENT_RUN, err);
}

/* Seconds that are read back to the ns. */
static const char *seconds_of(struct nai_arena *arena, json_int_t ns) {
  uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
  return nai_arena_printf(arena, "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "", size / 1000000000, size % 1000000000);
}

static void put_gpu(struct nai_agent_words *words, const json_t *gpu) {
  nai_agent_put_words(words, nai_arena_printf(words->arena, "--gpu=%" JSON_INTEGER_FORMAT, json_integer_value(gpu)),
                      NULL);
}

static int put_window(struct nai_agent_words *words, const struct nai_agent_call *call, struct nai_err *err) {
  const json_t *start = json_object_get(call->arguments, "start_ns"), *end = json_object_get(call->arguments, "end_ns"),
               *gpu = json_object_get(call->arguments, "gpu");
  if (gpu)
    put_gpu(words, gpu);
  if (!start && !end)
    return NAI_OK;
  if (!start || !end || json_integer_value(end) <= json_integer_value(start))
    return nai_err_set(err, NAI_EUSAGE, "give both start_ns and end_ns, the end after the start");
  nai_agent_put_words(words, "--window", seconds_of(words->arena, json_integer_value(start)),
                      seconds_of(words->arena, json_integer_value(end)), NULL);
  return NAI_OK;
}

/* Parameters of a statement or a skill. One that is null is not given: then it is null, or has its default. */
static int put_parameters(struct nai_agent_words *words, const struct nai_agent_call *call, struct nai_err *err) {
  const char *name;
  json_t *value;
  json_object_foreach(json_object_get(call->arguments, "parameters"), name, value) {
    if (!*name || strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != strlen(name))
      return nai_err_set(err, NAI_EUSAGE, "parameters: \"%.64s\" is no name of a parameter", name);
    if (!json_is_null(value))
      nai_agent_put_parameter(words, name, value);
  }
  return NAI_OK;
}

/* --- tools ------------------------------------------------------------------------------------------ */

static int plan_probe(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err) {
  struct nai_agent_words *words = begin(call, "probe");
  char path[PATH_MAX];
  NAI_TRY(nai_agent_path(path, agent, text_of(call, "trace"), NAI_AGENT_TRACE, err));
  nai_agent_put_words(words, "--json", "--quiet", "--", path, NULL);
  return NAI_OK;
}

static int put_trim(struct nai_agent_words *words, const struct nai_agent_call *call, struct nai_err *err) {
  const json_t *start = json_object_get(call->arguments, "start_s"), *end = json_object_get(call->arguments, "end_s");
  if (!start && !end)
    return NAI_OK;
  if (!start || !end || json_number_value(end) <= json_number_value(start))
    return nai_err_set(err, NAI_EUSAGE, "give both start_s and end_s, the end after the start");
  nai_agent_put_words(words, "--trim", nai_arena_printf(words->arena, "%.9f", json_number_value(start)),
                      nai_arena_printf(words->arena, "%.9f", json_number_value(end)), NULL);
  return NAI_OK;
}

/* The name of a built-in map, or a file below a root. */
static int put_phase_map(struct nai_agent_words *words, const struct nai_agent_call *call,
                         const struct nai_agent *agent, struct nai_err *err) {
  const char *map = text_of(call, "phase_map");
  char path[PATH_MAX];
  if (!map)
    return NAI_OK;
  bool is_file = strpbrk(map, "./") != NULL;
  if (is_file)
    NAI_TRY(nai_agent_path(path, agent, map, NAI_AGENT_FILE, err));
  nai_agent_put_words(words, nai_arena_printf(words->arena, "--phase-map=%s", is_file ? path : map), NULL);
  return NAI_OK;
}

static int plan_analyze(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err) {
  static const char statement[] = "select device_id, window_start_ns, window_end_ns, window_ns, compute_ns, "
                                  "exposed_comm_ns, exposed_copy_ns, idle_ns from gpu_utilization order by device_id";
  struct nai_agent_words *words = begin(call, "analyze");
  json_t *gpu;
  size_t i;
  char trace[PATH_MAX], handle[32];
  NAI_TRY(nai_agent_path(trace, agent, text_of(call, "trace"), NAI_AGENT_TRACE, err));
  call->long_running = true;
  nai_agent_put_words(words, "--json", "--quiet", NULL);
  json_array_foreach(json_object_get(call->arguments, "gpus"), i, gpu) put_gpu(words, gpu);
  NAI_TRY(put_trim(words, call, err));
  NAI_TRY(put_phase_map(words, call, agent, err));
  NAI_TRY(nai_agent_handle(handle, trace, words->words, words->count, err));
  nai_agent_sweep(agent);
  snprintf(call->run, sizeof call->run, "%s", handle);
  const char *run = nai_arena_printf(&call->arena, "%s/%s", agent->cache, handle);
  nai_agent_put_words(words, nai_arena_printf(&call->arena, "--out=%s", run), "--", trace, NULL);
  nai_agent_put_words(begin(call, "sql"), "--format=json", "--rows=256", "--", run, statement, NULL);
  return NAI_OK;
}

/* Only the page is printed, and the row more: what is printed is as small for any cursor. */
static int plan_statement(struct nai_agent_words *words, struct nai_agent_call *call, const struct nai_buf *sql,
                          const char *run, struct nai_err *err) {
  call->skipped = call->offset;
  nai_agent_put_words(words, "--format=json", nai_arena_printf(words->arena, "--skip=%" PRId64, call->skipped),
                      nai_arena_printf(words->arena, "--rows=%" PRId64, call->limit + 1), "--", run, nai_buf_str(sql),
                      NULL);
  return nai_buf_check(sql, err);
}

static int plan_findings(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err) {
  struct nai_agent_words *words = begin(call, "sql");
  NAI_SCOPED(nai_buf) sql = {0};
  char run[PATH_MAX];
  call->cell_chars = 4000; /* advice is of use as a whole */
  NAI_TRY(place_run(run, call, agent, err));
  nai_agent_findings_statement(&sql, words, call->arguments);
  return plan_statement(words, call, &sql, run, err);
}

static int plan_table(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err) {
  struct nai_agent_words *words = begin(call, "sql");
  NAI_SCOPED(nai_buf) sql = {0};
  char run[PATH_MAX];
  NAI_TRY(place_run(run, call, agent, err));
  NAI_TRY(nai_agent_table_statement(&sql, words, call->arguments, err));
  return plan_statement(words, call, &sql, run, err);
}

static int plan_sql(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err) {
  struct nai_agent_words *words = begin(call, "sql");
  NAI_SCOPED(nai_buf) sql = {0};
  char run[PATH_MAX];
  const char *query = text_of(call, "query");
  NAI_TRY(place_run(run, call, agent, err));
  NAI_TRY(put_parameters(words, call, err));
  if (strcmp(query, "-") == 0)
    return nai_err_set(err, NAI_EUSAGE, "query: a statement is expected");
  nai_buf_puts(&sql, query);
  return plan_statement(words, call, &sql, run, err);
}

static int plan_tables(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err) {
  struct nai_agent_words *words = begin(call, "sql");
  char run[PATH_MAX];
  NAI_TRY(place_run(run, call, agent, err));
  nai_agent_put_words(words, "--schema", "--format=json", "--", run, text_of(call, "table"), NULL);
  return NAI_OK;
}

static int plan_explain(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err) {
  struct nai_agent_words *words = begin(call, "explain");
  char run[PATH_MAX] = "-";
  if (text_of(call, "run"))
    NAI_TRY(place_run(run, call, agent, err));
  nai_agent_put_words(words, "--format=markdown", "--", run, text_of(call, "what"), NULL);
  return NAI_OK;
}

static int plan_window(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err) {
  struct nai_agent_words *words = begin(call, "page");
  char run[PATH_MAX];
  NAI_TRY(place_run(run, call, agent, err));
  nai_agent_put_words(words, "--format=json", NULL);
  NAI_TRY(put_window(words, call, err));
  nai_agent_put_words(words, "--", "window", run, NULL);
  return NAI_OK;
}

static void put_number(struct nai_agent_words *words, const char *option, const json_t *value) {
  if (value)
    nai_agent_put_words(
        words, nai_arena_printf(words->arena, "--%s=%" JSON_INTEGER_FORMAT, option, json_integer_value(value)), NULL);
}

/* The ranks of a job, the run first, and which part of it is asked for. */
static int put_ranks(struct nai_agent_words *words, struct nai_agent_call *call, const struct nai_agent *agent,
                     struct nai_err *err) {
  char path[PATH_MAX];
  json_t *rank;
  size_t i;
  put_number(words, "step", json_object_get(call->arguments, "step"));
  NAI_TRY(put_window(words, call, err));
  NAI_TRY(place_run(path, call, agent, err));
  nai_agent_put_words(words, "--format=json", "--quiet", "--", path, NULL);
  json_array_foreach(json_object_get(call->arguments, "ranks"), i, rank) {
    NAI_TRY(nai_agent_path(path, agent, json_string_value(rank), NAI_AGENT_RUN | NAI_AGENT_TRACE, err));
    nai_agent_put_words(words, path, NULL);
  }
  return NAI_OK;
}

static int plan_critical_path(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err) {
  struct nai_agent_words *words = begin(call, "critical-path");
  const char *by = text_of(call, "by");
  call->long_running = true;
  if (by)
    nai_agent_put_words(words, "--by", by, NULL);
  return put_ranks(words, call, agent, err);
}

static int plan_whatif(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err) {
  struct nai_agent_words *words = begin(call, "whatif");
  json_t *change, *finding;
  size_t i;
  call->long_running = true;
  put_number(words, "max", json_object_get(call->arguments, "max"));
  json_array_foreach(json_object_get(call->arguments, "without"), i, finding) put_number(words, "without", finding);
  if (json_is_true(json_object_get(call->arguments, "sensitivity")))
    nai_agent_put_words(words, "--sensitivity", NULL);
  call->cell_chars = 4000; /* expressions are of use as a whole */
  json_array_foreach(json_object_get(call->arguments, "changes"), i, change) {
    struct nai_change read = {0};
    const char *text = json_string_value(change), *value = strchr(text, ' ');
    int rc = nai_change_parse(&read, text, &call->arena, err);
    nai_change_free(&read);
    NAI_TRY(rc);
    nai_agent_put_words(words,
                        nai_arena_printf(words->arena, "--%.*s%s%s", (int)strcspn(text, " "), text, value ? "=" : "",
                                         value ? value + strspn(value, " ") : ""),
                        NULL);
  }
  return put_ranks(words, call, agent, err);
}

static int plan_skills(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err) {
  struct nai_agent_words *words = begin(call, "skill");
  const char *skill = text_of(call, "skill");
  (void)agent, (void)err;
  call->shape = skill ? NAI_AGENT_TEXT : NAI_AGENT_ROWS;
  if (skill)
    nai_agent_put_words(words, "--", "show", skill, NULL);
  else
    nai_agent_put_words(words, "--format=json", "--", "list", NULL);
  return NAI_OK;
}

static int plan_run_skill(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err) {
  struct nai_agent_words *words = begin(call, "skill");
  char run[PATH_MAX];
  NAI_TRY(place_run(run, call, agent, err));
  put_page(words, call);
  NAI_TRY(put_parameters(words, call, err));
  NAI_TRY(put_window(words, call, err));
  nai_agent_put_words(words, "--", "run", text_of(call, "skill"), run, NULL);
  return NAI_OK;
}

static int plan_compare(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err) {
  struct nai_agent_words *words = begin(call, "compare");
  char base[PATH_MAX], new[PATH_MAX];
  NAI_TRY(nai_agent_path(base, agent, text_of(call, "base"), NAI_AGENT_RUN | NAI_AGENT_TRACE, err));
  NAI_TRY(nai_agent_path(new, agent, text_of(call, "new"), NAI_AGENT_RUN | NAI_AGENT_TRACE, err));
  uint64_t hash = nai_hash_text(nai_hash_text(0, base), new);
  nai_agent_sweep(agent);
  call->long_running = true;
  snprintf(call->result, sizeof call->result, "%s/c-%016" PRIx64 "/compare.json", agent->cache, hash);
  const char *out = nai_arena_printf(&call->arena, "--out=%s/c-%016" PRIx64, agent->cache, hash);
  nai_agent_put_words(words, "--json", "--quiet", out, "--", base, new, NULL);
  return NAI_OK;
}

static int put_question(struct nai_agent_words *words, struct nai_agent_call *call, const struct nai_agent *agent,
                        struct nai_err *err) {
  char run[PATH_MAX];
  call->cell_chars = 4000; /* advice is of use as a whole */
  NAI_TRY(place_run(run, call, agent, err));
  nai_agent_put_words(words, "--format=json", "--quiet", "--", run, text_of(call, "question"), NULL);
  return NAI_OK;
}

static int plan_ask(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err) {
  return put_question(begin(call, "ask"), call, agent, err);
}

static int plan_check_claims(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err) {
  struct nai_agent_words *words = begin(call, "ask");
  nai_agent_put_words(words, nai_arena_printf(words->arena, "--check=%s", text_of(call, "draft")), NULL);
  return put_question(words, call, agent, err);
}

static const char *ending_of(const char *format) {
  static const char *const endings[][2] = {{"perfetto", "pftrace"},
                                           {"chrome", "json"},
                                           {"speedscope", "speedscope.json"},
                                           {"folded", "txt"},
                                           {"markdown", "md"}};
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (strcmp(endings[i][0], format) == 0)
      return endings[i][1];
  return format;
}

/* Into a directory of the cache for each run, format and stretch. */
static int plan_export(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err) {
  struct nai_agent_words *words = begin(call, "export");
  const char *format = text_of(call, "format");
  char run[PATH_MAX], directory[PATH_MAX - 32];
  NAI_TRY(place_run(run, call, agent, err));
  call->long_running = true;
  snprintf(directory, sizeof directory, "%s/e-%016" PRIx64, agent->cache, nai_hash_text(call->hash, run));
  snprintf(call->result, sizeof call->result, "%s/%.10s.%.15s", directory, format, ending_of(format));
  nai_agent_put_words(words, "--quiet", NULL);
  NAI_TRY(put_trim(words, call, err));
  nai_agent_sweep(agent);
  NAI_TRY(nai_fs_mkdir_all(directory, err));
  nai_cache_touch(directory);
  nai_agent_put_words(words, nai_arena_printf(&call->arena, "--out=%s", call->result), "--", format, run, NULL);
  return NAI_OK;
}

static const struct {
  const char *name;
  int (*plan)(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err);
  enum nai_agent_shape shape;
} tools[] = {
    {"probe", plan_probe, NAI_AGENT_OBJECT},     {"analyze", plan_analyze, NAI_AGENT_OBJECT},
    {"findings", plan_findings, NAI_AGENT_ROWS}, {"explain", plan_explain, NAI_AGENT_TEXT},
    {"tables", plan_tables, NAI_AGENT_ROWS},     {"table", plan_table, NAI_AGENT_ROWS},
    {"sql", plan_sql, NAI_AGENT_ROWS},           {"window", plan_window, NAI_AGENT_BLOCKS},
    {"skills", plan_skills, NAI_AGENT_ROWS},     {"run_skill", plan_run_skill, NAI_AGENT_ROWS},
    {"compare", plan_compare, NAI_AGENT_OBJECT}, {"export", plan_export, NAI_AGENT_WRITTEN},
    {"ask", plan_ask, NAI_AGENT_OBJECT},         {"check_claims", plan_check_claims, NAI_AGENT_OBJECT},
    {"whatif", plan_whatif, NAI_AGENT_OBJECT},   {"critical_path", plan_critical_path, NAI_AGENT_BLOCKS},
};

int nai_agent_plan(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err) {
  for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
    if (strcmp(tools[i].name, call->name) == 0) {
      call->shape = tools[i].shape;
      return tools[i].plan(call, agent, err);
    }
  return nai_err_set(err, NAI_EUSAGE, "%s is not implemented", call->name);
}
