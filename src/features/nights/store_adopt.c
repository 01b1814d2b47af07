/* A night whose trace was refused does not tell what it ran on: it lies in NAME/unknown, and counts in the series of
 * that name whose run came last before it; before all of them, in that of the first. */
#include "base/fs.h"
#include "features/nights/store_internal.h"

static const char unknown[] = "/unknown";

static size_t name_length(const struct nai_store_run *run) { return strcspn(run->series, "/"); }

static bool is_homeless(const struct nai_store_run *run) {
  return strcmp(run->series + name_length(run), unknown) == 0 && !run->captures;
}

static bool may_adopt(const struct nai_store_run *home, const struct nai_store_run *run) {
  size_t n = name_length(run);
  return name_length(home) == n && strncmp(home->series, run->series, n) == 0 && !is_homeless(home) && home->captures &&
         home->utc_ns != NAI_NULL_I64;
}

/* Of two runs the one that is nearer before; a night of unknown time is after all. */
static const struct nai_store_run *nearer(const struct nai_store_run *a, const struct nai_store_run *b,
                                          const struct nai_store_run *run) {
  int64_t at = run->utc_ns == NAI_NULL_I64 ? INT64_MAX : run->utc_ns;
  bool a_before = a->utc_ns <= at, b_before = b->utc_ns <= at;
  if (a_before != b_before)
    return a_before ? a : b;
  return (a->utc_ns >= b->utc_ns) == a_before ? a : b;
}

static void adopt(struct nai_store *store, struct nai_store_run *run) {
  const struct nai_store_run *home = NULL;
  for (uint32_t i = 0; i < store->count; i++)
    if (may_adopt(&store->runs[i], run))
      home = home ? nearer(home, &store->runs[i], run) : &store->runs[i];
  if (!home)
    return;
  run->group = home->series;
  run->environment = home->environment;
}

bool nai_store_has_homeless(const struct nai_store *store, const char *name) {
  char path[PATH_MAX];
  size_t n = (size_t)snprintf(path, sizeof path, "%s/runs/%s%s", store->path, name, unknown);
  return n < sizeof path && nai_fs_is_dir(path);
}

void nai_store_adopt(struct nai_store *store, const char *series) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < store->count; i++)
    if (is_homeless(&store->runs[i]))
      adopt(store, &store->runs[i]);
  for (uint32_t i = 0; i < store->count; i++)
    if (nai_store_matches(store->runs[i].group, series))
      store->runs[kept++] = store->runs[i];
  store->count = kept;
}
