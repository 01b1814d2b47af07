/* What every part of a store knows of its runs. */
#include "base/fs.h"
#include "base/lock.h"
#include "base/text.h"
#include "features/nights/store_internal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

void nai_store_free(struct nai_store *store) {
  nai_arena_free(&store->arena);
  *store = (struct nai_store){.arena = NAI_ARENA(NULL)};
}

bool nai_store_matches(const char *series, const char *wanted) {
  size_t n = wanted ? strlen(wanted) : 0;
  return !wanted || (strncmp(series, wanted, n) == 0 && (!series[n] || series[n] == '/'));
}

bool nai_store_is_good(const struct nai_store_run *run) {
  return run->captures > 0 && !run->ignored && strcmp(run->status, "ok") == 0 &&
         (!*run->verdict || strcmp(run->verdict, "pass") == 0);
}

/* --- names ------------------------------------------------------------------------------------ */

static int too_long(struct nai_err *err) { return nai_err_set(err, NAI_EUSAGE, "the name of the store is too long"); }

int nai_store_join(char out[PATH_MAX], const char *directory, const char *name, struct nai_err *err) {
  return nai_fs_join(out, PATH_MAX, directory, name) ? NAI_OK : too_long(err);
}

int nai_store_directory(char out[PATH_MAX], const struct nai_store *store, const struct nai_store_run *run, int capture,
                        struct nai_err *err) {
  size_t n = (size_t)snprintf(out, PATH_MAX, "%s/runs/%s/%s", store->path, run->series, run->id);
  if (capture >= 0 && n < PATH_MAX)
    n += (size_t)snprintf(out + n, PATH_MAX - n, "/captures/%d", capture);
  return n < PATH_MAX ? NAI_OK : too_long(err);
}

int nai_store_check_name(const char *what, const char *name, struct nai_err *err) {
  bool ok = isalnum((unsigned char)name[0]) || name[0] == '_';
  for (const char *c = name; *c; c++)
    ok &= isalnum((unsigned char)*c) || strchr("._-", *c) != NULL;
  if (ok && strlen(name) < NAI_STORE_NAME_MAX)
    return NAI_OK;
  return nai_err_set(
      err, NAI_EUSAGE,
      "%s \"%.120s\" must begin with a letter, a digit or _, and hold only those, . and -, fewer than %d "
      "of them",
      what, name, NAI_STORE_NAME_MAX);
}

const char *nai_store_clean(struct nai_arena *arena, const char *text) {
  NAI_SCOPED(nai_buf) clean = {0};
  nai_text_clean(&clean, text, strlen(text));
  arena->oom |= clean.oom;
  return nai_arena_printf(arena, "%s", nai_buf_str(&clean));
}

/* --- one at a time ---------------------------------------------------------------------------- */

int nai_store_lock(int *lock, const struct nai_store *store, struct nai_err *err) {
  enum { PATIENCE_S = 60 };
  *lock = open(store->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (*lock < 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot open \"%s\"", store->path);
  if (nai_lock(*lock, LOCK_EX, PATIENCE_S, NULL, NULL) != EWOULDBLOCK)
    return NAI_OK; /* where there are no locks, too */
  close(*lock);
  *lock = -1;
  return nai_err_set(err, NAI_EIO, "another program has kept the store \"%s\" locked for %d seconds", store->path,
                     PATIENCE_S);
}
