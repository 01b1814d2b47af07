/* The export that a run was made from: a run keeps its name and what tells it, not where it lay. */
#include "features/stats/stats.h"

#include "base/fs.h"
#include "base/threads.h"
#include "rundir/run.h"
#include "trace/trace/trace.h"

/* A file that is as it was is not read to be known. */
static bool is_it(const char *path, const struct nai_run *run) {
  struct nai_err ignored;
  NAI_OWNED(nai_trace) *trace = NULL;
  if (!nai_fs_exists(path) || nai_trace_open(&trace, path, &(struct nai_trace_options){0}, &ignored) != NAI_OK)
    return false;
  if (!nai_run_recall(&trace->identity, run, nai_trace_stamp(trace)) &&
      nai_trace_identify(trace, nai_cpu_count(), &ignored) != NAI_OK)
    return false;
  return trace->identity == nai_run_manifest(run)->identity;
}

int nai_stats_run_export(char path[PATH_MAX], const struct nai_run *run, struct nai_err *err) {
  static const char *const places[] = {"", "/..", "/../.."}; /* of the run; before them: where we are */
  const char *directory = nai_run_path(run);
  const struct nai_manifest *manifest = nai_run_manifest(run);
  if (!manifest->trace || strchr(manifest->trace, '/'))
    return nai_err_set(err, NAI_EINPUT, "the run in \"%s\" does not say from which export it was made", directory);
  snprintf(path, PATH_MAX, "%s", manifest->trace);
  if (is_it(path, run))
    return NAI_OK;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (snprintf(path, PATH_MAX, "%s%s/%s", directory, places[i], manifest->trace) < PATH_MAX && is_it(path, run))
      return NAI_OK;
  return nai_err_set(
      err, NAI_EINPUT,
      "the export that the run was made from, \"%.200s\", lies neither here nor beside it: put it there, or give its "
      "path instead",
      manifest->trace);
}
