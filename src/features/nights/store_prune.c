/* Retention: what made the index stays, what can be made again from a trace may go. */
#include "features/nights/store_internal.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_named(const struct nai_strings *ids, const char *id) {
  return ids && nai_strings_find(ids, id, strlen(id)) != NAI_NO_STRING;
}

/* `newest` is no earlier, and a forged record may say any time: the difference of two may not fit into 63 bits. */
static bool is_recent(const struct nai_store_run *run, int64_t newest, int64_t keep_days) {
  const uint64_t day_ns = UINT64_C(86400) * 1000000000;
  return (uint64_t)newest - (uint64_t)run->utc_ns <= (uint64_t)keep_days * day_ns;
}

static int add_ids(void *ids, const char *name, const struct nai_store_baseline *baseline, struct nai_err *err) {
  (void)name;
  for (uint32_t i = 0; i < baseline->ids.count; i++) {
    const char *id = nai_strings_get(&baseline->ids, i);
    if (nai_strings_add(ids, id, strlen(id)) == NAI_NO_STRING)
      return nai_err_nomem(err);
  }
  return NAI_OK;
}

static int prune_capture(int64_t *bytes, const char *directory, bool dry_run, struct nai_err *err) {
  struct nai_run *run = NULL;
  struct stat st;
  if (lstat(directory, &st) != 0 || !S_ISDIR(st.st_mode)) /* a link leads to somebody's own run */
    return NAI_OK;
  int rc = nai_run_open(&run, directory, err);
  if (rc)
    return rc == NAI_EINPUT ? NAI_OK : rc; /* damaged: not ours to make worse */
  for (uint32_t i = 0; i < nai_run_manifest(run)->files.count && !rc; i++) {
    const char *file = nai_strings_get(&nai_run_manifest(run)->files, i);
    int fd = nai_store_may_prune(file) ? nai_fs_open_at(nai_run_directory(run), file) : -1; /* through no link */
    if (fd < 0)
      continue;
    if (fstat(fd, &st) == 0 && (dry_run || unlinkat(nai_run_directory(run), file, 0) == 0))
      *bytes += st.st_size;
    else
      rc = nai_err_sys(err, NAI_EIO, errno, "cannot remove \"%s/%s\"", directory, file);
    close(fd);
  }
  nai_run_close(run);
  return rc;
}

int nai_store_prune(const struct nai_store *store, const struct nai_store_pruning *how, struct nai_err *err) {
  struct nai_strings baselines = {0};
  int64_t newest = NAI_NULL_I64;
  int rc = nai_store_each_baseline(store, add_ids, &baselines, err);
  for (uint32_t i = 0; i < store->count; i++)
    if (store->runs[i].utc_ns > newest)
      newest = store->runs[i].utc_ns;
  for (uint32_t i = 0; i < store->count && !rc; i++) {
    const struct nai_store_run *run = &store->runs[i];
    char directory[PATH_MAX];
    int64_t bytes = 0;
    if (run->utc_ns == NAI_NULL_I64 || is_recent(run, newest, how->keep_days) || strcmp(run->status, "ok") != 0 ||
        strcmp(run->verdict, "fail") == 0 || *run->note || is_named(&baselines, run->id) ||
        is_named(how->keep, run->id))
      continue;
    for (int c = 0; c < run->captures && !rc; c++)
      if (nai_store_directory(directory, sizeof directory, store, run, c))
        rc = prune_capture(&bytes, directory, how->dry_run, err);
    if (!rc && bytes && how->tell)
      how->tell(how->ctx, run, bytes);
  }
  nai_strings_free(&baselines);
  return rc;
}
