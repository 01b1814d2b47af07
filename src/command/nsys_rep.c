/* From an .nsys-rep to an export, by the user's own nsys. */
#include "command/command.h"

#include "base/fs.h"
#include "base/program.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool ends_with(const char *text, const char *suffix) {
  size_t n = strlen(text), m = strlen(suffix);
  return n > m && strcmp(text + n - m, suffix) == 0;
}

/* The last of the files that match: versions are part of their directories' names. */
static bool last_match(char out[PATH_MAX], const char *pattern) {
  glob_t found;
  bool any = glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0;
  if (any)
    snprintf(out, PATH_MAX, "%s", found.gl_pathv[found.gl_pathc - 1]);
  globfree(&found);
  return any;
}

bool nai_cmd_find_nsys(char out[PATH_MAX]) {
  static const char *const places[] = {"/opt/nvidia/nsight-systems*/*/bin/nsys", "/usr/local/cuda/bin/nsys",
                                       "/usr/local/cuda-*/bin/nsys"};
  const char *told = getenv("NSYS");
  if (told) {
    snprintf(out, PATH_MAX, "%s", told);
    return *told && access(told, X_OK) == 0;
  }
  snprintf(out, PATH_MAX, "nsys");
  if (nai_program_is_there(out))
    return true;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (last_match(out, places[i]))
      return true;
  return false;
}

/* Name of the export: that of the report with another suffix, so that it appears in the outputs. */
static char *export_path(const char *directory, const char *report) {
  const char *name = nai_fs_basename(report);
  char *path = NULL;
  if (asprintf(&path, "%s/%.*s.sqlite", directory, (int)(strlen(name) - strlen(".nsys-rep")), name) < 0)
    return NULL;
  return path;
}

static int run_nsys(const char *output, const char *report, bool quiet, struct nai_err *err) {
  char nsys[PATH_MAX];
  (void)nai_cmd_find_nsys(nsys);
  const char *const argv[] = {nsys,   "export",   "--type", "sqlite", "--force-overwrite",
                              "true", "--output", output,   report,   NULL};
  int status;
  if (!quiet)
    fprintf(stderr, "nsys-ai: %s export --type sqlite %s\n", nsys, report);
  NAI_TRY(nai_program_run(&status, &(struct nai_program){.argv = argv}, err)); /* stdout is for our data */
  if (status)
    return nai_err_set(err, NAI_EINPUT, "nsys export failed for \"%s\"; its messages are above", report);
  return NAI_OK;
}

static bool runs_nsys(const char *path) {
  return ends_with(path, ".nsys-rep") && nai_fs_exists(path) && nai_cmd_find_nsys((char[PATH_MAX]){0});
}

bool nai_cmd_export_runs(const char *path) { return runs_nsys(path) || nai_cmd_is_compressed(path); }

static int refuse_directory(const char *path, struct nai_err *err) {
  NAI_SCOPED(nai_buf) word = {0};
  nai_cmd_put_quoted(&word, path);
  return nai_err_set(err, NAI_EINPUT,
                     nai_cmd_is_run(path)
                         ? "\"%s\" is a run, not a trace: nsys-ai summary %s prints what it found"
                         : "\"%s\" is a directory: nsys-ai batch %s --out DIR reports on the traces in it",
                     path, nai_buf_str(&word));
}

int nai_cmd_export_open(struct nai_cmd_export *out, const char *path, bool quiet, struct nai_err *err) {
  *out = (struct nai_cmd_export){0};
  if (nai_fs_is_dir(path))
    return refuse_directory(path, err);
  if (nai_cmd_is_compressed(path))
    return nai_cmd_decompress(out, path, err);
  if (!runs_nsys(path)) {
    out->path = strdup(path); /* the message for a report that cannot be exported here comes from opening it */
    return out->path ? NAI_OK : nai_err_nomem(err);
  }
  NAI_TRY(nai_temporary_in(&out->directory, nai_temporary_place(), err));
  out->path = export_path(out->directory.path, path);
  return out->path ? run_nsys(out->path, path, quiet, err) : nai_err_nomem(err);
}

void nai_cmd_export_free(struct nai_cmd_export *out) {
  nai_cmd_remove(&out->directory);
  free(out->path);
}

void nai_cmd_remove(struct nai_temporary *temporary) {
  struct nai_temporary t = *temporary;
  if (!nai_temporary_remove(temporary))
    fprintf(stderr, "nsys-ai: cannot remove %s\n", t.path);
}
