/* Thinning: of old runs one a week, then one a month, keeps its captures. Of the others stay the record and the
 * summary, which is what trends and the index read. */
#include "base/fs.h"
#include "features/nights/store_internal.h"

#include <dirent.h>
#include <sys/stat.h>

static const int64_t DAY_NS = INT64_C(86400) * 1000000000;

/* --- which ------------------------------------------------------------------------------------ */

enum period { WEEK, MONTH, NONE };

static enum period period_of(const struct nai_store_run *run, int64_t newest, const struct nai_store_pruning *how) {
  uint64_t age = ((uint64_t)newest - (uint64_t)run->utc_ns) / (uint64_t)DAY_NS;
  if (how->weekly_days >= 0 && age <= (uint64_t)how->weekly_days)
    return WEEK;
  return how->monthly_days >= 0 && age <= (uint64_t)how->monthly_days ? MONTH : NONE;
}

/* A number that runs of one week, Monday to Sunday, or of one month have in common. */
static int64_t number_of(const struct nai_store_run *run, enum period period) {
  struct tm parts;
  time_t seconds = run->utc_ns / 1000000000 - (run->utc_ns % 1000000000 < 0);
  int64_t day = run->utc_ns / DAY_NS - (run->utc_ns % DAY_NS < 0);
  if (period == WEEK)
    return (day + 3) / 7 - ((day + 3) % 7 < 0);
  return gmtime_r(&seconds, &parts) ? parts.tm_year * INT64_C(12) + parts.tm_mon : 0;
}

const char *nai_store_thin_reason(bool *stays, struct nai_store_thinning *so_far, const struct nai_store_run *run,
                                  int64_t newest, const struct nai_store_pruning *how) {
  static const char *const reasons[] = {[WEEK] = "another run of its week stays",
                                        [MONTH] = "another run of its month stays",
                                        [NONE] = "it is older than all that stay"};
  enum period period = period_of(run, newest, how);
  if (!so_far->series || strcmp(so_far->series, run->series) != 0)
    *so_far = (struct nai_store_thinning){run->series, {INT64_MIN, INT64_MIN}};
  *stays = false;
  if (period != NONE && !run->thinned && nai_store_is_good(run) && number_of(run, period) != so_far->taken[period]) {
    so_far->taken[period] = number_of(run, period);
    *stays = true;
  }
  return reasons[period];
}

/* --- doing it --------------------------------------------------------------------------------- */

int64_t nai_store_size_of(const char *path) {
  struct stat st;
  int64_t bytes = 0;
  if (lstat(path, &st) != 0)
    return 0;
  if (!S_ISDIR(st.st_mode))
    return st.st_size;
  NAI_CLOSED_DIR DIR *directory = opendir(path);
  for (const struct dirent *e; directory && (e = readdir(directory));) {
    char inner[PATH_MAX];
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
        nai_fs_join(inner, sizeof inner, path, e->d_name))
      bytes += nai_store_size_of(inner);
  }
  return bytes;
}

/* What stays is written and read before anything goes. */
static int keep_summary(bool *kept, const struct nai_store *store, const struct nai_store_run *run,
                        const char *directory, struct nai_err *err) {
  struct nai_err why;
  NAI_TRY(nai_store_has_summary(kept, store, run, err));
  if (*kept)
    return NAI_OK;
  int rc = nai_store_summarize(store, run, directory, &why);
  if (rc && rc != NAI_EINPUT)
    return nai_err_set(err, rc, "%s", why.msg);
  *kept = !rc;
  return NAI_OK;
}

static int tell_record(const struct nai_store_run *run, const char *directory, struct nai_err *err) {
  struct nai_store_run as = *run;
  char path[PATH_MAX];
  as.thinned = true;
  NAI_TRY(nai_store_join(path, directory, "run.json", err));
  return nai_store_write_run(&as, path, err);
}

/* The record says so before the captures go: who is killed in between leaves captures that nobody looks for, which the
 * next one removes. A run that holds files of somebody else's, or cannot be read, is left alone. */
int nai_store_thin(int64_t *bytes, const struct nai_store *store, const struct nai_store_run *run, bool dry_run,
                   struct nai_err *err) {
  char directory[PATH_MAX], captures[PATH_MAX], reports[PATH_MAX];
  struct nai_err why;
  bool kept = true;
  *bytes = 0;
  NAI_TRY(nai_store_directory(directory, store, run, -1, err));
  NAI_TRY(nai_store_join(captures, directory, "captures", err));
  NAI_TRY(nai_store_join(reports, directory, NAI_STORE_REPORTS, err));
  if (!nai_fs_is_dir(captures))
    return NAI_OK;
  int rc = nai_store_check_ours(store, run, &why);
  if (rc)
    return rc == NAI_EUSAGE || rc == NAI_EINPUT ? NAI_OK : nai_err_set(err, rc, "%s", why.msg);
  int64_t size = nai_store_size_of(captures) + nai_store_size_of(reports);
  if (!dry_run) {
    NAI_TRY(keep_summary(&kept, store, run, directory, err));
    if (!kept)
      return NAI_OK;
    if (!run->thinned)
      NAI_TRY(tell_record(run, directory, err));
    if (nai_fs_is_dir(reports))
      NAI_TRY(nai_store_remove_tree(reports, err));
    NAI_TRY(nai_store_remove_tree(captures, err));
  }
  *bytes = size;
  return NAI_OK;
}
