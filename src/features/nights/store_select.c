/* What a baseline selector stands for. */
#include "features/nights/store_internal.h"

#include "base/array.h"
#include "base/fs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nai_store_selection_free(struct nai_store_selection *s) {
  for (uint32_t i = 0; i < s->count; i++)
    free(s->directories[i]);
  free(s->directories);
  nai_strings_free(&s->left_out);
  free(s->environment);
  free(s->what);
  *s = (struct nai_store_selection){0};
}

static int add_directory(struct nai_store_selection *s, const char *path, struct nai_err *err) {
  if (!nai_array_room(&s->directories, &s->capacity, s->count, sizeof *s->directories))
    return nai_err_nomem(err);
  s->directories[s->count] = strdup(path);
  return s->directories[s->count++] ? NAI_OK : nai_err_nomem(err);
}

static int add_run(struct nai_store_selection *s, const struct nai_store *store, const struct nai_store_run *run,
                   struct nai_err *err) {
  char path[PATH_MAX];
  int rc = NAI_OK;
  if (!run->captures)
    return nai_err_set(err, NAI_EUSAGE, "the run \"%s\" failed: it has nothing to compare with", run->id);
  for (int i = 0; i < run->captures && !rc; i++)
    rc = nai_store_directory(path, sizeof path, store, run, i)
           ? add_directory(s, path, err)
           : nai_err_set(err, NAI_EUSAGE, "the name of the store is too long");
  if (!rc && !s->environment && !(s->environment = strdup(run->environment)))
    rc = nai_err_nomem(err);
  return rc;
}

/* --- the newest good runs --------------------------------------------------------------------- */

/* What is known of an environment: the text of a stored run goes on with what --environment said. */
static bool is_in(const struct nai_store_run *run, const char *environment) {
  size_t n = environment ? strlen(environment) : 0;
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

/* A run of the store that is itself to be judged says nothing. */
static int find_judged(bool *found, const struct nai_store *store, const struct nai_store_run *run,
                       const struct nai_store_judged *judged, struct nai_err *err) {
  int rc = NAI_OK;
  *found = false;
  for (int c = 0; c < run->captures && judged->count && !*found && !rc; c++) {
    char path[PATH_MAX];
    struct nai_run *capture = NULL;
    if (!nai_store_directory(path, sizeof path, store, run, c))
      continue;
    rc = nai_run_open(&capture, path, err);
    for (size_t i = 0; i < judged->count && !rc; i++)
      *found |= nai_run_manifest(judged->runs[i])->identity == nai_run_manifest(capture)->identity;
    nai_run_close(capture);
    if (rc == NAI_EINPUT) /* there is none; whether one that cannot be read is meant, nobody knows */
      rc = NAI_OK;
  }
  return rc;
}

/* The newest good runs of a series that can be read, the newest first: those of a known time, or those without. */
struct search {
  const char *selector;
  const struct nai_store *store;
  const struct nai_store_judged *judged;
  const char *series;
  const struct nai_store_run **found;
  uint32_t count, most;
  bool ended;                   /* the history begins with an expected change */
  struct nai_strings *left_out; /* what is said of those that cannot be read */
};

/* One damaged run must not fail every night to come; nor be left out without a word. */
static int leave_out(struct search *s, const struct nai_store_run *run, const struct nai_err *why,
                     struct nai_err *err) {
  char line[sizeof why->msg + 2 * NAI_STORE_NAME_MAX + 200];
  int n = snprintf(line, sizeof line,
                   "%.60s goes without the run \"%.100s\", which cannot be read; take it out of the store (nsys-ai "
                   "store remove, or by moving its directory): %s",
                   s->selector, run->id, why->msg);
  return nai_strings_add(s->left_out, line, (size_t)n) == NAI_NO_STRING ? nai_err_nomem(err) : NAI_OK;
}

static int take(struct search *s, const struct nai_store_run *run, struct nai_err *err) {
  struct nai_err why = {0};
  int rc = nai_store_check_run(s->store, run, &why);
  if (rc == NAI_EINPUT)
    return leave_out(s, run, &why, err);
  if (rc)
    return nai_err_set(err, rc, "%s", why.msg);
  s->found[s->count++] = run;
  return NAI_OK;
}

static int find_newest(struct search *s, bool dated, struct nai_err *err) {
  int rc = NAI_OK;
  for (uint32_t i = s->store->count; !rc && i-- > 0 && s->count < s->most && !s->ended;) {
    const struct nai_store_run *run = &s->store->runs[i];
    bool good = nai_store_is_good(run), is_judged = false;
    if (strcmp(run->series, s->series) != 0 || (run->utc_ns != NAI_NULL_I64) != dated)
      continue;
    if (good)
      rc = find_judged(&is_judged, s->store, run, s->judged, err);
    if (!rc && good && !is_judged)
      rc = take(s, run, err);
    s->ended = run->expected;
  }
  return rc;
}

/* Oldest first, as a history is read. */
static int add_newest(struct nai_store_selection *s, const struct nai_store *store, const char *selector,
                      const struct nai_store_judged *judged, uint32_t most, struct nai_err *err) {
  struct search search = {.selector = selector,
                          .store = store,
                          .judged = judged,
                          .found = malloc((size_t)most * sizeof(struct nai_store_run *)),
                          .most = most,
                          .left_out = &s->left_out};
  char *environment = NULL;
  int rc = search.found ? NAI_OK : nai_err_nomem(err);
  if (!rc && judged->count)
    rc = nai_store_environment(&environment, judged->runs[0], NULL, err);
  if (!rc)
    rc = find_series(&search.series, store, selector, judged->series, environment, err);
  if (!rc)
    rc = find_newest(&search, true, err);
  if (!rc && !search.count && !search.ended) /* what has no time may be older than all that have one */
    rc = find_newest(&search, false, err);
  if (!rc && !search.count && s->left_out.count)
    rc = nai_err_set(err, NAI_EINPUT, "%s", nai_strings_get(&s->left_out, 0));
  if (!rc && !search.count)
    rc = nai_err_set(err, NAI_EUSAGE,
                     "%s: no other run of the series %s is good, or none since its last expected-change", selector,
                     search.series);
  for (uint32_t i = search.count; !rc && i-- > 0;)
    rc = add_run(s, store, search.found[i], err);
  if (!rc && asprintf(&s->what, "%s (%u runs of %s, %s to %s)", selector, search.count, search.series,
                      search.found[search.count - 1]->id, search.found[0]->id) < 0) {
    s->what = NULL;
    rc = nai_err_nomem(err);
  }
  free(search.found);
  free(environment);
  return rc;
}

/* --- all kinds -------------------------------------------------------------------------------- */

static int select_run(struct nai_store_selection *s, const struct nai_store *store, const char *id,
                      struct nai_err *err) {
  const struct nai_store_run *run = nai_store_find(store, id);
  return run ? add_run(s, store, run, err) : nai_err_set(err, NAI_EUSAGE, "the store has no run \"%.100s\"", id);
}

static int select_baseline(struct nai_store_selection *s, const struct nai_store *store, const char *name,
                           struct nai_err *err) {
  struct nai_store_baseline baseline;
  int rc = nai_store_baseline(&baseline, store, name, err);
  for (uint32_t i = 0; i < baseline.ids.count && !rc; i++)
    rc = select_run(s, store, nai_strings_get(&baseline.ids, i), err);
  nai_store_baseline_free(&baseline);
  return rc ? nai_err_wrap(err, rc, "the baseline \"%.100s\"", name) : NAI_OK;
}

static int select_median(struct nai_store_selection *s, const struct nai_store *store, const char *selector,
                         const struct nai_store_judged *judged, struct nai_err *err) {
  char *end;
  unsigned long most = strtoul(selector + strlen("median:"), &end, 10);
  if (*end || most < 1 || most > 1000)
    return nai_err_set(err, NAI_EUSAGE, "\"%.60s\": expected median:N, N from 1 to 1000", selector);
  return add_newest(s, store, selector, judged, (uint32_t)most, err);
}

static bool is_run_directory(const char *path) {
  char manifest[PATH_MAX];
  return (size_t)snprintf(manifest, sizeof manifest, "%s/" NAI_MANIFEST_PATH, path) < sizeof manifest &&
         nai_fs_exists(manifest);
}

int nai_store_select(struct nai_store_selection *s, const struct nai_store *store, const char *selector,
                     const struct nai_store_judged *judged, struct nai_err *err) {
  *s = (struct nai_store_selection){0};
  int rc;
  if (store && strcmp(selector, "last-good") == 0)
    rc = add_newest(s, store, selector, judged, 1, err);
  else if (store && strncmp(selector, "median:", 7) == 0)
    rc = select_median(s, store, selector, judged, err);
  else if (store && strncmp(selector, "run:", 4) == 0)
    rc = select_run(s, store, selector + 4, err);
  else if (is_run_directory(selector))
    rc = add_directory(s, selector, err);
  else if (store)
    rc = select_baseline(s, store, selector, err);
  else
    rc = nai_err_set(err, NAI_EUSAGE, "\"%.200s\" is no artifacts directory; other baselines need --store DIR",
                     selector);
  if (!rc && !s->what && !(s->what = strdup(selector)))
    rc = nai_err_nomem(err);
  if (rc)
    nai_store_selection_free(s);
  return rc;
}
