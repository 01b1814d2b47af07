/* nsys-ai open: a run in a browser, as report.html or in ui.perfetto.dev. */
#include "features/export/command.h"
#include "features/view/serve.h"

#include "base/threads.h"
#include "pipeline/analyze.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct open_args {
  int with;
  const char *out;
  bool no_browser, quiet;
  int port, timeout_s;
};

static void init(void *memory) {
  struct open_args *args = memory;
  args->port = 9001; /* the one that ui.perfetto.dev may read from */
  args->timeout_s = 120;
}

enum { HTML, PERFETTO, TUI };
NAI_CLI_NAMES(viewer_name, [HTML] = "html", [PERFETTO] = "perfetto", [TUI] = "tui")

#define NAI_CLI_ARGS struct open_args
static const struct nai_cli_option options[] = {
    NAI_CLI_OPTION(
        choice, with, "with", "VIEWER",
        "the run's own page, ui.perfetto.dev, which needs internet in the browser (the trace stays here), or "
        "nsys-ai view in this terminal",
        .choices = viewer_name),
    NAI_CLI_OPTION(text, out, "out", "DIR", "html: where the run of a trace is kept", .letter = 'o',
                   .otherwise = "a temporary directory", .hint = NAI_CLI_FILE),
    NAI_CLI_SWITCH(on, no_browser, "no-browser", "print what to open, start nothing"),
    NAI_CLI_OPTION(int, port, "port", "N", "perfetto: port on 127.0.0.1; ui.perfetto.dev may read from 9001 only",
                   .max = 65535),
    NAI_CLI_OPTION(int, timeout_s, "timeout", "S", "perfetto: how long to wait for the browser, in seconds",
                   NAI_CLI_RANGE(1, 86400)),
    NAI_CLI_SWITCH(on, quiet, "quiet", "print no notes", .letter = 'q'),
    {0},
};

/* --- browser ----------------------------------------------------------------------------------------- */

static bool is_set(const char *variable) {
  const char *value = getenv(variable);
  return value && *value;
}

/* $BROWSER (the first of its list), else xdg-open where there is a screen; nothing else is tried. */
static void start_browser(const struct open_args *args, const char *what) {
  char program[PATH_MAX] = "xdg-open";
  char *const argv[] = {program, (char *)what, NULL};
  posix_spawn_file_actions_t actions;
  pid_t pid;
  if (args->no_browser || (!is_set("BROWSER") && !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")))
    return;
  if (is_set("BROWSER"))
    snprintf(program, sizeof program, "%.*s", (int)strcspn(getenv("BROWSER"), ":"), getenv("BROWSER"));
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1, 0);
  int failed = posix_spawnp(&pid, program, &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed && !args->quiet)
    fprintf(stderr, "nsys-ai: cannot start %s: %s\n", program, strerror(failed));
}

/* Says what is opened, then opens it. */
static void show(const struct open_args *args, const char *what) {
  printf("%s\n", what);
  fflush(stdout);
  start_browser(args, what);
}

/* --- html -------------------------------------------------------------------------------------------- */

static void print_note(const char *line) { fprintf(stderr, "nsys-ai: %s\n", line); }

static int analyze(const char *trace, const char *out, const struct open_args *args, struct nai_err *err) {
  NAI_SCOPED(nai_cmd_export) export = {0};
  NAI_SCOPED(nai_result) result = {.worst = -1};
  struct nai_options how;
  nai_options_init(&how);
  how.out = out;
  how.note = print_note;
  how.threads = nai_cpu_count();
  NAI_TRY(nai_cmd_export_open(&export, trace, args->quiet, err));
  how.trace = export.path;
  return nai_analyze(&result, &how, NULL, NULL, err);
}

/* A directory that stays: the browser reads it when it likes. */
static int make_place(char path[PATH_MAX], struct nai_err *err) {
  if (!nai_fs_join(path, PATH_MAX, nai_temporary_place(), "nsys-ai.XXXXXX"))
    return nai_err_set(err, NAI_EUSAGE, "the path of TMPDIR is too long");
  return mkdtemp(path) ? NAI_OK : nai_err_sys(err, NAI_EIO, errno, "cannot create \"%s\"", path);
}

static int open_html(const struct open_args *args, const char *source, struct nai_err *err) {
  char path[PATH_MAX], absolute[PATH_MAX], run[PATH_MAX];
  const char *directory = source;
  if (nai_cmd_is_trace(source)) {
    if (!args->out)
      NAI_TRY(make_place(run, err));
    directory = args->out ? args->out : run;
    int rc = analyze(source, directory, args, err);
    if (rc && !args->out)
      rmdir(run);
    if (rc)
      return rc;
  }
  if ((size_t)snprintf(path, sizeof path, "%s/report.html", directory) >= sizeof path)
    return nai_err_set(err, NAI_EUSAGE, "the path \"%s\" is too long", directory);
  if (!nai_fs_exists(path))
    return nai_err_set(err, NAI_EINPUT, "\"%s\" holds no report.html; make one with nsys-ai analyze", directory);
  show(args, realpath(path, absolute) ? absolute : path);
  return NAI_OK;
}

/* --- perfetto ---------------------------------------------------------------------------------------- */

static const char site[] = "https://ui.perfetto.dev";

static int serve(const struct open_args *args, const struct nai_map *file, struct nai_err *err) {
  NAI_SCOPED(nai_serve) server = {.listener = -1};
  char url[256];
  bool served = false;
  NAI_TRY(nai_serve_open(&server, args->port, site, err));
  snprintf(url, sizeof url, "%s/#!/?url=http://127.0.0.1:%d/%s", site, server.port, server.secret);
  if (!args->quiet)
    fprintf(stderr,
            "nsys-ai: waiting for the browser, which loads the viewer from the internet and the trace from here. "
            "From another machine, first: ssh -L %d:127.0.0.1:%d HOST\n",
            server.port, server.port);
  show(args, url);
  NAI_TRY(nai_serve_run(&served, &server, file, args->timeout_s, err));
  if (!served)
    return nai_err_set(err, NAI_ELIMIT, "nobody asked for the trace within %d s", args->timeout_s);
  return NAI_OK;
}

static int serve_timeline(struct nai_file_sink *sink, const struct open_args *args, const char *source,
                          struct nai_err *err) {
  struct nai_cmd_timeline how = {.write = nai_export_perfetto,
                                 .options = {.gpu = INT64_MIN, .start_ns = INT64_MIN, .end_ns = INT64_MAX},
                                 .quiet = args->quiet};
  struct nai_run *run = NULL;
  struct nai_map file;
  NAI_TRY(nai_cmd_source_open(&run, source, &(struct nai_cmd_source){.quiet = args->quiet}, err));
  int rc = nai_cmd_put_timeline(&sink->text, run, &how, err);
  nai_run_close(run); /* it is not needed while the browser is waited for */
  NAI_TRY(rc);
  NAI_TRY(nai_sink_read(&file, sink, err));
  return serve(args, &file, err);
}

/* The timeline lies in a file without a name: nothing is left, however this ends. */
static int open_perfetto(const struct open_args *args, const char *source, struct nai_err *err) {
  struct nai_file_sink sink;
  NAI_TRY(nai_sink_aside(&sink, nai_temporary_place(), err));
  return nai_sink_finish(&sink, serve_timeline(&sink, args, source, err), err);
}

/* --- the command ------------------------------------------------------------------------------------- */

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct open_args *args = memory;
  (void)count;
  if (args->out && (args->with != HTML || !nai_cmd_is_trace(operands[0])))
    return nai_err_set(err, NAI_EUSAGE, "--out is for the page of a trace: a run has its place already");
  return NAI_OK;
}

static int open_view(const char *const *operands, const struct nai_cli_program *program, struct nai_err *err) {
  NAI_FREED void *args = calloc(1, nai_cmd_view.args_size);
  if (!args)
    return nai_err_nomem(err);
  nai_cmd_view.init(args);
  return nai_cmd_view.run(args, operands, 1, program, err);
}

static int run(void *memory, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  const struct open_args *args = memory;
  (void)count;
  if (args->with == TUI)
    return open_view(operands, program, err);
  return args->with == PERFETTO ? open_perfetto(args, operands[0], err) : open_html(args, operands[0], err);
}

NAI_CLI_COMMAND(
    nai_cmd_open, .name = "open", .synopsis = "SRC",
    .summary = "show a run: its page in a browser, its timeline in Perfetto or in the terminal",
    .description =
        "Prints the path or address that shows SRC, an artifacts directory or a trace, and starts $BROWSER with it, "
        "else xdg-open where there is a screen. With perfetto the timeline is given once, on 127.0.0.1, under a random "
        "path and to pages of ui.perfetto.dev only; nothing of it leaves this machine.",
    .examples = "nsys-ai open artifacts/run1\nnsys-ai open trace.sqlite --out artifacts/run1\n"
                "nsys-ai open artifacts/run1 --with perfetto",
    .options = options, NAI_CMD_ONE_SOURCE, .init = init, .check = check, .run = run)
