/* What a baseline selector stands for. */
#include "store/internal.h"

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

/* The one series that is meant. */
static int find_series(const char **out, const struct nai_store *store, const char *selector, const char *wanted,
                       struct nai_err *err) {
  *out = NULL;
  for (uint32_t i = 0; i < store->count; i++) {
    const struct nai_store_run *run = &store->runs[i];
    if (!run->captures || !nai_store_matches(run->series, wanted) || (*out && strcmp(*out, run->series) == 0))
      continue;
    if (*out)
      return nai_err_set(err, NAI_EUSAGE, "%s: the store has several series, such as %s and %s; name one with --series",
                         selector, *out, run->series);
    *out = run->series;
  }
  if (!*out)
    return nai_err_set(err, NAI_EUSAGE, "%s: the store has no run of the series %s", selector, wanted ? wanted : "");
  return NAI_OK;
}

/* Oldest first, as a history is read. */
static int add_newest(struct nai_store_selection *s, const struct nai_store *store, const char *selector,
                      const char *wanted, uint32_t most, struct nai_err *err) {
  const char *series;
  int rc = find_series(&series, store, selector, wanted, err);
  uint32_t found = 0, first = store->count, last = 0;
  for (uint32_t i = store->count; i-- > 0 && found < most && !rc;)
    if (strcmp(store->runs[i].series, series) == 0 && nai_store_is_good(&store->runs[i])) {
      last = found++ ? last : i;
      first = i;
    }
  if (!rc && !found)
    rc = nai_err_set(err, NAI_EUSAGE, "%s: no run of the series %s is good", selector, series);
  for (uint32_t i = first; i <= last && !rc && found; i++)
    if (strcmp(store->runs[i].series, series) == 0 && nai_store_is_good(&store->runs[i]))
      rc = add_run(s, store, &store->runs[i], err);
  if (!rc && asprintf(&s->what, "%s (%u runs of %s, %s to %s)", selector, found, series, store->runs[first].id,
                      store->runs[last].id) < 0) {
    s->what = NULL;
    rc = nai_err_nomem(err);
  }
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
                         const char *series, struct nai_err *err) {
  char *end;
  unsigned long most = strtoul(selector + strlen("median:"), &end, 10);
  if (*end || most < 1 || most > 1000)
    return nai_err_set(err, NAI_EUSAGE, "\"%.60s\": expected median:N, N from 1 to 1000", selector);
  return add_newest(s, store, selector, series, (uint32_t)most, err);
}

static bool is_run_directory(const char *path) {
  char manifest[PATH_MAX];
  return (size_t)snprintf(manifest, sizeof manifest, "%s/" NAI_MANIFEST_PATH, path) < sizeof manifest &&
         nai_fs_exists(manifest);
}

int nai_store_select(struct nai_store_selection *s, const struct nai_store *store, const char *selector,
                     const char *series, struct nai_err *err) {
  *s = (struct nai_store_selection){0};
  int rc;
  if (store && strcmp(selector, "last-good") == 0)
    rc = add_newest(s, store, selector, series, 1, err);
  else if (store && strncmp(selector, "median:", 7) == 0)
    rc = select_median(s, store, selector, series, err);
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
