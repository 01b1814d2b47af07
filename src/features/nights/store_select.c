/* What a baseline selector stands for. */
#include "base/sort.h"
#include "config/yaml.h"
#include "features/nights/store_internal.h"
#include "tables/step_summary.h"

void nai_store_selection_free(struct nai_store_selection *s) {
  nai_strings_free(&s->directories);
  nai_strings_free(&s->left_out);
}

static int add_run(struct nai_store_selection *s, const struct nai_store *store, const struct nai_store_run *run,
                   struct nai_err *err) {
  char path[PATH_MAX];
  if (run->damaged)
    return nai_err_set(err, NAI_EINPUT, "the run \"%s\" cannot be read: %s", run->id, run->error);
  if (run->thinned)
    return nai_err_set(err, NAI_EUSAGE, "the run \"%s\" was thinned out: only its metrics are left", run->id);
  if (!run->captures)
    return nai_err_set(err, NAI_EUSAGE, "the run \"%s\" failed: it has nothing to compare with", run->id);
  for (int i = 0; i < run->captures; i++) {
    NAI_TRY(nai_store_directory(path, store, run, i, err));
    NAI_TRY(nai_strings_put(NULL, &s->directories, path, err));
  }
  return NAI_OK;
}

/* --- the newest good runs --------------------------------------------------------------------- */

/* What is known of an environment: the text of a stored run goes on with what --environment said. */
static bool is_in(const struct nai_store_run *run, const char *environment) {
  size_t n = strlen(environment);
  return n && strncmp(run->environment, environment, n) == 0 && (!run->environment[n] || run->environment[n] == ';');
}

/* The one series that is meant: of several the only one in that environment. */
static int find_series(const char **out, const struct nai_store *store, const char *selector, const char *wanted,
                       const char *environment, struct nai_err *err) {
  const char *any = NULL, *other = NULL, *like = NULL;
  bool several = false;
  for (uint32_t i = 0; i < store->count; i++) {
    const struct nai_store_run *run = &store->runs[i];
    if (!run->captures || !nai_store_matches(run->series, wanted))
      continue;
    if (any && strcmp(any, run->series) != 0)
      other = run->series;
    any = any ? any : run->series;
    if (!is_in(run, environment))
      continue;
    several |= like && strcmp(like, run->series) != 0;
    like = run->series;
  }
  *out = !other ? any : several ? NULL : like;
  if (!any)
    return nai_err_set(err, NAI_EUSAGE, "%s: the store has no run of the series %s", selector, wanted ? wanted : "");
  if (!*out)
    return nai_err_set(err, NAI_EUSAGE, "%s: the store has several series, such as %s and %s; name one with --series",
                       selector, any, other);
  return NAI_OK;
}

/* How steps were found in a capture, as compare asks for it: what differs in that cannot be compared by the step.
 * "steps by nvtx" */
static int describe_steps(struct nai_buf *out, struct nai_run *capture, struct nai_err *err) {
  enum { LEAST_STEADY = 3, MAX_METHODS = 64 };
  const char *methods[MAX_METHODS];
  const struct nai_table *t;
  size_t n = 0;
  bool few = false;
  NAI_TRY(nai_run_table_if_any(&t, capture, nai_step_summary_schema.name, &nai_step_summary_schema, err));
  for (int64_t row = 0; t && row < t->rows && n < MAX_METHODS; row++) {
    methods[n++] = nai_get_str(t, row, STEP_SUMMARY_method);
    few |= nai_get_i64(t, row, STEP_SUMMARY_steady_steps) < LEAST_STEADY;
  }
  qsort(methods, n, sizeof *methods, nai_by_text); /* rows are in the order of process ids */
  nai_buf_puts(out, n ? "steps by " : "no steps");
  for (size_t i = 0; i < n; i++)
    if (i == 0 || strcmp(methods[i], methods[i - 1]) != 0)
      nai_buf_printf(out, "%s%s", i ? ", " : "", methods[i]);
  nai_buf_puts(out, few ? ", few of them steady" : "");
  return nai_buf_check(out, err);
}

/* The newest good runs of a series that can be read, the newest first: those of a known time, or those without. */
struct search {
  const char *selector;
  const struct nai_store *store;
  const struct nai_store_judged *judged;
  const char *series;
  const char *steps; /* how they were found in all that is judged; NULL: not in one way */
  struct nai_arena *arena;
  const struct nai_store_run **found;
  const char **odd; /* beside `found`: how steps were found there, NULL: as in what is judged */
  uint32_t count, alike, most;
  bool ended;                   /* the history begins with an expected change */
  struct nai_strings *left_out; /* what is said of those that are left out */
};

/* How steps were found in what is judged. */
static int find_steps(struct search *s, struct nai_err *err) {
  for (size_t i = 0; i < s->judged->count; i++) {
    NAI_SCOPED(nai_buf) text = {0};
    NAI_TRY(describe_steps(&text, s->judged->runs[i], err));
    if (s->steps && strcmp(s->steps, nai_buf_str(&text)) != 0) {
      s->steps = NULL;
      return NAI_OK;
    }
    s->steps = nai_arena_printf(s->arena, "%s", nai_buf_str(&text));
  }
  return nai_arena_check(s->arena, err);
}

/* A run of the store that is itself to be judged says nothing; else `*odd` tells how steps were found, where that is
 * another way. */
static int look_at(bool *is_judged, const char **odd, const struct search *s, const struct nai_store_run *run,
                   struct nai_err *err) {
  *is_judged = false;
  *odd = NULL;
  for (int c = 0; c < run->captures && s->judged->count && !*is_judged; c++) {
    NAI_OWNED(nai_run) *capture = NULL;
    NAI_SCOPED(nai_buf) steps = {0};
    char path[PATH_MAX];
    if (nai_store_directory(path, s->store, run, c, NULL))
      continue;
    int rc = nai_run_open(&capture, path, err);
    if (!rc)
      rc = describe_steps(&steps, capture, err);
    if (rc == NAI_EINPUT) /* there is none; whether one that cannot be read is meant, nobody knows */
      continue;
    if (rc)
      return rc;
    for (size_t i = 0; i < s->judged->count; i++)
      *is_judged |= nai_run_manifest(s->judged->runs[i])->identity == nai_run_manifest(capture)->identity;
    if (s->steps && strcmp(s->steps, nai_buf_str(&steps)) != 0)
      *odd = nai_arena_printf(s->arena, "%s", nai_buf_str(&steps));
  }
  return nai_arena_check(s->arena, err);
}

/* One damaged run must not fail every night to come; nor be left out without a word. */
static int take(struct search *s, const struct nai_store_run *run, const char *odd, struct nai_err *err) {
  struct nai_err why = {0};
  char line[sizeof why.msg + 2 * NAI_STORE_NAME_MAX + 200];
  int rc = nai_store_check_run(s->store, run, &why);
  if (rc && rc != NAI_EINPUT)
    return nai_err_set(err, rc, "%s", why.msg);
  if (!rc) {
    s->alike += !odd;
    s->odd[s->count] = odd;
    s->found[s->count++] = run;
    return NAI_OK;
  }
  snprintf(line, sizeof line,
           "%.60s goes without the run \"%.100s\", which cannot be read; take it out of the store (nsys-ai "
           "store remove, or by moving its directory): %s",
           s->selector, run->id, why.msg);
  return nai_strings_put(NULL, s->left_out, line, err);
}

/* Of the newest so many less than half are odd. Where more are, the program has changed, or what is judged is odd. */
static bool has_few_odd(const struct search *s) {
  uint32_t odd = 0, count = s->count < s->most ? s->count : s->most;
  for (uint32_t i = 0; i < count; i++)
    odd += s->odd[i] != NULL;
  return 2 * odd < count;
}

static bool has_enough(const struct search *s) {
  return s->alike >= s->most || (s->count >= s->most && !has_few_odd(s));
}

static int find_newest(struct search *s, bool dated, struct nai_err *err) {
  for (uint32_t i = s->store->count; i-- > 0 && !has_enough(s) && !s->ended;) {
    const struct nai_store_run *run = &s->store->runs[i];
    const char *odd;
    bool is_judged;
    if (strcmp(run->series, s->series) != 0 || (run->utc_ns != NAI_NULL_I64) != dated)
      continue;
    if (nai_store_is_good(run) && !run->thinned) {
      NAI_TRY(look_at(&is_judged, &odd, s, run, err));
      if (!is_judged)
        NAI_TRY(take(s, run, odd, err));
    }
    s->ended = run->expected;
  }
  return NAI_OK;
}

/* A few nights that cannot be compared by the step would make all undecided: older ones take their place. */
static int leave_odd_out(struct search *s, struct nai_err *err) {
  uint32_t kept = 0;
  bool few = has_few_odd(s);
  for (uint32_t i = 0; i < s->count && kept < s->most; i++) {
    char line[4 * NAI_STORE_NAME_MAX + 200];
    if (!few || !s->odd[i]) {
      s->found[kept++] = s->found[i];
      continue;
    }
    snprintf(
        line, sizeof line,
        "%.60s goes without the run \"%.100s\", which cannot be compared by the step: it has %.80s, what is checked "
        "has %.80s",
        s->selector, s->found[i]->id, s->odd[i], s->steps);
    NAI_TRY(nai_strings_put(NULL, s->left_out, line, err));
  }
  s->count = kept;
  return NAI_OK;
}

/* Oldest first, as a history is read. */
static int add_newest(struct nai_store_selection *s, const struct nai_store *store, const char *selector,
                      const struct nai_store_judged *judged, uint32_t most, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_SCOPED(nai_buf) environment = {0};
  struct search search = {
      .selector = selector, .store = store, .judged = judged, .arena = &arena, .most = most, .left_out = &s->left_out};
  NAI_TRY(NAI_NEW(search.found, &arena, store->count, err));
  NAI_TRY(NAI_NEW(search.odd, &arena, store->count, err));
  NAI_TRY(find_steps(&search, err));
  if (judged->count)
    NAI_TRY(nai_store_environment(&environment, judged->runs[0], NULL, err));
  NAI_TRY(find_series(&search.series, store, selector, judged->series, nai_buf_str(&environment), err));
  NAI_TRY(find_newest(&search, true, err));
  if (!search.count && !search.ended) /* what has no time may be older than all that have one */
    NAI_TRY(find_newest(&search, false, err));
  NAI_TRY(leave_odd_out(&search, err));
  if (!search.count && s->left_out.count)
    return nai_err_set(err, NAI_EINPUT, "%s", nai_strings_get(&s->left_out, 0));
  if (!search.count)
    return nai_err_set(err, NAI_EUSAGE,
                       "%s: no other run of the series %s is good, or none since its last expected-change", selector,
                       search.series);
  for (uint32_t i = search.count; i-- > 0;)
    NAI_TRY(add_run(s, store, search.found[i], err));
  return NAI_OK;
}

/* --- all kinds -------------------------------------------------------------------------------- */

static int find_run(const struct nai_store_run **out, struct nai_store *store, const char *id, struct nai_err *err) {
  NAI_TRY(nai_store_read_id(store, id, err));
  *out = nai_store_find(store, id);
  return *out ? NAI_OK : nai_err_set(err, NAI_EUSAGE, "the store has no run \"%.100s\"", id);
}

static int select_run(struct nai_store_selection *s, struct nai_store *store, const char *id, struct nai_err *err) {
  const struct nai_store_run *run;
  NAI_TRY(find_run(&run, store, id, err));
  return add_run(s, store, run, err);
}

static int add_baseline(struct nai_store_selection *s, struct nai_store *store, const char *name, struct nai_err *err) {
  NAI_SCOPED(nai_store_baseline) baseline = {0};
  NAI_TRY(nai_store_baseline(&baseline, store, name, err));
  for (uint32_t i = 0; i < baseline.ids.count; i++)
    NAI_TRY(select_run(s, store, nai_strings_get(&baseline.ids, i), err));
  return NAI_OK;
}

/* Of median:N, N. */
static int read_most(uint32_t *out, const char *selector, struct nai_err *err) {
  char *end;
  unsigned long most = strtoul(selector + strlen("median:"), &end, 10);
  if (*end || most < 1 || most > 1000)
    return nai_err_set(err, NAI_EUSAGE, "\"%.60s\": expected median:N, N from 1 to 1000", selector);
  *out = (uint32_t)most;
  return NAI_OK;
}

static int select_median(struct nai_store_selection *s, const struct nai_store *store, const char *selector,
                         const struct nai_store_judged *judged, struct nai_err *err) {
  uint32_t most = 0;
  NAI_TRY(read_most(&most, selector, err));
  return add_newest(s, store, selector, judged, most, err);
}

int nai_store_check_selector(struct nai_store *store, const char *selector, struct nai_err *err) {
  NAI_SCOPED(nai_store_baseline) baseline = {0};
  const struct nai_store_run *run;
  uint32_t most;
  if (strcmp(selector, "last-good") == 0)
    return NAI_OK;
  if (strncmp(selector, "median:", 7) == 0)
    return read_most(&most, selector, err);
  if (strncmp(selector, "run:", 4) != 0)
    return nai_store_baseline(&baseline, store, selector, err);
  return find_run(&run, store, selector + 4, err);
}

int nai_store_select(struct nai_store_selection *s, struct nai_store *store, const char *selector,
                     const struct nai_store_judged *judged, struct nai_err *err) {
  if (strcmp(selector, "last-good") == 0)
    return add_newest(s, store, selector, judged, 1, err);
  if (strncmp(selector, "median:", 7) == 0)
    return select_median(s, store, selector, judged, err);
  if (strncmp(selector, "run:", 4) == 0)
    return select_run(s, store, selector + 4, err);
  int rc = add_baseline(s, store, selector, err);
  return rc ? nai_err_wrap(err, rc, "the baseline \"%.100s\"", selector) : NAI_OK;
}

int nai_store_select_run(struct nai_store_selection *s, const char *path, const char *id, struct nai_err *err) {
  NAI_SCOPED(nai_store) store = {.arena = NAI_ARENA(NULL)};
  NAI_TRY(nai_store_open(&store, path, false, err));
  return select_run(s, &store, id, err);
}

/* --- by label --------------------------------------------------------------------------------- */

/* Whether the labels of a run, a JSON object, say KEY=VALUE. */
static bool has_label(const struct nai_yaml *labels, const char *label) {
  char key[NAI_STORE_NAME_MAX];
  size_t n = strcspn(label, "=");
  snprintf(key, sizeof key, "%.*s", (int)n, label);
  const struct nai_yaml_node *node = nai_yaml_get(labels, nai_yaml_root(labels), key);
  return node && strcmp(node->text, label + n + 1) == 0;
}

static int has_labels(bool *has, const struct nai_store_run *run, const char *const *labels, size_t count,
                      struct nai_err *err) {
  NAI_OWNED(nai_yaml) *doc = NULL;
  struct nai_err unreadable;
  *has = false;
  int rc = *run->labels ? nai_yaml_parse(&doc, "labels", run->labels, strlen(run->labels), &unreadable) : NAI_EUSAGE;
  if (rc == NAI_ELIMIT)
    return nai_err_nomem(err);
  *has = !rc;
  for (size_t i = 0; i < count && *has; i++)
    *has = has_label(doc, labels[i]);
  return NAI_OK;
}

int nai_store_keep_labelled(struct nai_store *store, const char *const *labels, size_t count, struct nai_err *err) {
  uint32_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (!labels[i][strcspn(labels[i], "=")] || strcspn(labels[i], "=") >= NAI_STORE_NAME_MAX)
      return nai_err_set(err, NAI_EUSAGE, "--label \"%.100s\": expected KEY=VALUE", labels[i]);
  for (uint32_t i = 0; i < store->count && count; i++) {
    bool has;
    NAI_TRY(has_labels(&has, &store->runs[i], labels, count, err));
    if (has)
      store->runs[kept++] = store->runs[i];
  }
  if (count && !kept)
    return nai_err_set(err, NAI_EUSAGE, "the store has no run with the label %.100s%s", labels[0],
                       count > 1 ? " and the others" : "");
  if (!count)
    return NAI_OK;
  store->count = kept;
  return nai_store_sort(store, err);
}
