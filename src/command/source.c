/* What commands are asked about: a run directory, or a trace, which is analysed into a private directory first. */
#include "command/command.h"

#include "base/fs.h"
#include "base/sandbox.h"
#include "base/threads.h"
#include "pipeline/analyze.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void nai_cmd_confine(const char *out, const char *stages, const char *file) {
  char temporary[PATH_MAX];
  snprintf(temporary, sizeof temporary, "%s/any", nai_temporary_place());
  const char *const writable[] = {temporary, out ? out : temporary, stages ? stages : temporary,
                                  file ? file : temporary, NULL};
  nai_sandbox_enter(&(struct nai_sandbox){.writable = writable, .reads_all = true, .readable = -1});
}

/* A trace; with `again` a run without its trace. */
static int analyze(const char *trace, struct nai_run *again, const char *out, const struct nai_cmd_source *how,
                   struct nai_err *err) {
  NAI_SCOPED(nai_result) result = {.worst = -1};
  struct nai_options options;
  bool made;
  nai_options_init(&options);
  options.out = out;
  options.reader = how->reader;
  options.check = how->check;
  options.note = nai_cmd_note;
  for (size_t i = 0; i < how->metric_count && i < NAI_MAX_RULE_FILES; i++)
    options.metrics[options.metric_count++] = how->metrics[i];
  options.threads = nai_cpu_count();
  options.tables = how->tables;
  if (!how->keep)
    options.stop_after = nai_stages[NAI_STAGE_RECOMMEND].name; /* all tables that are not a page's */
  options.trace = trace;
  nai_cmd_confine(out, NULL, NULL);
  return again ? nai_analyze_again(&made, again, &options, err) : nai_analyze(&result, &options, NULL, err);
}

/* Ends the child when this process is asked to end; returns the signal it was asked with, 0 for none. */
static int await(pid_t child, int *status, const sigset_t *signals) {
  int asked = 0;
  while (waitpid(child, status, WNOHANG) == 0) {
    siginfo_t info;
    if (sigwaitinfo(signals, &info) > 0 && info.si_signo != SIGCHLD) {
      asked = info.si_signo;
      kill(child, SIGKILL);
    }
  }
  return asked;
}

/* In a process of its own, which leaves this one without threads and with little memory, and which can be ended without
 * leaving files behind. `signals` are blocked here; `before` are those blocked otherwise. */
static int analyze_apart(const char *trace, struct nai_run *again, const char *out, const struct nai_cmd_source *how,
                         const sigset_t *signals, const sigset_t *before, struct nai_err *err) {
  int status = 0, asked = 0;
  struct nai_err *said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (said == MAP_FAILED)
    return nai_err_nomem(err);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    sigprocmask(SIG_SETMASK, before, NULL);
    _exit(analyze(trace, again, out, how, said) ? EXIT_FAILURE : EXIT_SUCCESS);
  }
  int rc = child < 0 ? nai_err_sys(err, NAI_ELIMIT, errno, "cannot start a process") : NAI_OK;
  if (!rc)
    asked = await(child, &status, signals);
  if (!rc && (said->code || !WIFEXITED(status) || WEXITSTATUS(status)))
    rc = said->code ? nai_err_set(err, said->code, "%s", said->msg)
                    : nai_err_set(err, NAI_ELIMIT, "the analysis of \"%s\" was ended", trace);
  munmap(said, sizeof *said);
  if (asked)
    raise(asked); /* once it is no longer blocked */
  return rc;
}

/* Opens every table, so that their files need no name any longer. */
static int hold_all(struct nai_run *run, struct nai_err *err) {
  const struct nai_manifest *m = nai_run_manifest(run);
  const struct nai_table *table;
  for (uint32_t n = 0; n < m->node_count; n++)
    for (uint32_t t = m->nodes[n].table; t < m->nodes[n].table_end; t++)
      NAI_TRY(nai_run_table(&table, run, nai_manifest_name(m, m->entries[t].name), NULL, err));
  return NAI_OK;
}

/* The run of a trace, in `directory` until its tables are held; that is the caller's then where it is kept. */
static int open_kept(struct nai_run **out, const char *path, struct nai_run *again, const struct nai_cmd_source *how,
                     const sigset_t *signals, const sigset_t *before, struct nai_temporary *directory,
                     struct nai_err *err) {
  NAI_SCOPED(nai_cmd_export) export = {0};
  char run[PATH_MAX];
  if (!again)
    NAI_TRY(nai_cmd_export_open(&export, path, how->quiet ? NAI_CMD_EXPORT_QUIET : 0, err));
  NAI_TRY(nai_temporary_in(directory, nai_temporary_place(), err));
  if (!how->quiet && !how->keep && access(path, R_OK) == 0)
    fprintf(stderr,
            "nsys-ai: analyzing the trace for this answer only; nsys-ai analyze TRACE --out DIR keeps the run\n");
  if (!nai_fs_join(run, sizeof run, directory->path, "run"))
    return nai_err_set(err, NAI_EUSAGE, "the path of TMPDIR is too long");
  NAI_TRY(analyze_apart(again ? path : export.path, again, run, how, signals, before, err));
  NAI_TRY(nai_run_open(out, run, err));
  if (!how->keep)
    return hold_all(*out, err);
  *how->keep = *directory;
  *directory = (struct nai_temporary){0};
  return NAI_OK;
}

static int open_made(struct nai_run **out, const char *path, struct nai_run *again, const struct nai_cmd_source *how,
                     struct nai_err *err) {
  struct nai_temporary directory = {0};
  sigset_t signals, before;
  nai_cmd_ending_signals(&signals);
  sigprocmask(SIG_BLOCK, &signals, &before);
  int rc = open_kept(out, path, again, how, &signals, &before, &directory, err);
  nai_cmd_remove(&directory);
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (rc && *out) {
    nai_run_close(*out);
    *out = NULL;
  }
  return rc;
}

int nai_cmd_source_open(struct nai_run **out, const char *path, const struct nai_cmd_source *how, struct nai_err *err) {
  *out = NULL;
  if (how->keep)
    *how->keep = (struct nai_temporary){0};
  bool run = (nai_fs_is_dir(path) && !nai_cmd_is_parquet(path)) || nai_cmd_is_run(path);
  return run ? nai_run_open(out, path, err) : open_made(out, path, NULL, how, err);
}

int nai_cmd_source_again(struct nai_run **out, struct nai_run *run, const struct nai_cmd_source *how,
                         struct nai_err *err) {
  *out = NULL;
  return open_made(out, nai_run_path(run), run, how, err);
}
