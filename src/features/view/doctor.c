/* nsys-ai doctor: what this machine has of what commands use, and what to do about the rest. */
#include "command/asking.h"
#include "command/command.h"
#include "features/view/view.h"
#include "pipeline/analyze.h"

#include "base/program.h"
#include "base/temporary.h"

#include <langinfo.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

struct doctor_args {
  struct nai_cmd_ask ask;
};

static void init(void *memory) { nai_cmd_ask_init(&((struct doctor_args *)memory)->ask); }

#define NAI_CLI_ARGS struct doctor_args
static const struct nai_cli_option options[] = {NAI_CMD_PAGE_FORMAT_OPTION, NAI_CMD_QUIET_OPTION, {0}};

/* What was looked at and found. */
struct finding {
  const char *state; /* ok; missing, and then `says` what does not work without it and what to do */
  const char *says;
};

struct visit {
  struct nai_arena *arena;
  const char *directory;
};

static struct finding ok(const char *says) { return (struct finding){"ok", says}; }
static struct finding missing(const char *says) { return (struct finding){"missing", says}; }

static struct finding see_program(const struct visit *v) {
  struct utsname machine;
  (void)v;
  const char *name = uname(&machine) == 0 ? machine.machine : "unknown machine";
  return ok(nai_arena_printf(v->arena, "nsys-ai " NAI_VERSION ", on %s", name));
}

static struct finding see_directory(const struct visit *v, const char *directory, const char *advice) {
  struct statvfs fs;
  if (access(directory, W_OK | X_OK) != 0)
    return missing(nai_arena_printf(v->arena, "%s: %s; %s", directory, strerror(errno), advice));
  if (statvfs(directory, &fs) != 0)
    return missing(nai_arena_printf(v->arena, "%s: %s", directory, strerror(errno)));
  double bytes = (double)fs.f_bavail * (double)fs.f_frsize;
  return ok(nai_arena_printf(v->arena, "%s can be written to; %.1f GiB are free", directory, bytes / (1 << 30)));
}

static struct finding see_output(const struct visit *v) {
  return see_directory(v, v->directory, "give --out a directory that you may write to");
}

/* Of a trace without a run, and of exports that are made. */
static struct finding see_temporary(const struct visit *v) {
  return see_directory(v, nai_temporary_place(), "set TMPDIR to a directory that you may write to");
}

/* The version in what nsys prints: "2022.4.2.1-df9881f", NULL without one. */
static const char *nsys_version(const struct visit *v, const char *path) {
  const char *const argv[] = {path, "--version", NULL};
  NAI_SCOPED(nai_buf) printed = {0};
  struct nai_err ignored;
  int status;
  struct nai_program nsys = {.argv = argv, .output = &printed, .output_max = 4096, .silent = true};
  if (nai_program_run(&status, &nsys, &ignored) || status)
    return NULL;
  const char *text = nai_buf_str(&printed), *at = text + strcspn(text, "0123456789");
  return *at ? nai_arena_printf(v->arena, "%.*s", (int)strcspn(at, " \t\r\n"), at) : NULL;
}

static struct finding see_nsys(const struct visit *v) {
  char path[PATH_MAX];
  if (!nai_cmd_find_nsys(path))
    return missing("neither $NSYS nor on PATH: export where it is, with nsys export --type sqlite TRACE.nsys-rep");
  const char *version = nsys_version(v, path);
  return version
           ? ok(nai_arena_printf(v->arena, "%s, version %s: an .nsys-rep is exported when it is given", path, version))
           : missing(nai_arena_printf(v->arena, "%s --version fails; an .nsys-rep has to be exported elsewhere", path));
}

static struct finding see_curl(const struct visit *v) {
  (void)v;
  return nai_program_is_there("curl") ? ok("ask --llm can reach a server")
                                      : missing("not on PATH: ask --llm cannot reach a server; install curl");
}

static struct finding see_defaults(const struct visit *v) {
  char path[PATH_MAX];
  return ok(nai_cmd_find_defaults(path) ? nai_arena_printf(v->arena, "options are set by %s", path)
                                        : "no .nsys-ai.yaml here or in a directory above");
}

static struct finding see_zstd(const struct visit *v) {
  (void)v;
  return nai_program_is_there("zstd") ? ok("an export in .sqlite.zst is decompressed when it is given")
                                      : missing("not on PATH: an export in .sqlite.zst cannot be read; install zstd");
}

static struct finding see_terminal(const struct visit *v) {
  const char *trouble = nai_display_trouble();
  return trouble ? missing(nai_arena_printf(v->arena, "%s: view prints its rows once", trouble))
                 : ok(nai_arena_printf(v->arena, "%s: view draws on it", getenv("TERM")));
}

static struct finding see_locale(const struct visit *v) {
  nai_display_locale();
  const char *codes = nl_langinfo(CODESET);
  return strcmp(codes, "UTF-8") == 0
           ? ok("UTF-8")
           : missing(nai_arena_printf(v->arena, "%s: view draws with ASCII; set LC_ALL=C.UTF-8", codes));
}

static struct finding see_browser(const struct visit *v) {
  const char *browser = getenv("BROWSER");
  if (browser && *browser)
    return ok(nai_arena_printf(v->arena, "open starts %s", browser));
  if (!nai_program_is_there("xdg-open"))
    return missing("neither $BROWSER nor xdg-open: open prints the path of the page");
  return getenv("DISPLAY") || getenv("WAYLAND_DISPLAY") ? ok("open starts xdg-open")
                                                        : missing("no screen: open prints the path of the page");
}

static const struct {
  const char *check;
  struct finding (*see)(const struct visit *v);
} checks[] = {{"program", see_program},   {"output", see_output},     {"temporary", see_temporary},
              {"defaults", see_defaults}, {"nsys", see_nsys},         {"curl", see_curl},
              {"zstd", see_zstd},         {"terminal", see_terminal}, {"locale", see_locale},
              {"browser", see_browser}};
enum { CHECKS = sizeof checks / sizeof *checks };

static const char statement[] =
    "select column1 as \"check\", column2 as state, column3 as detail from (values (:c0, :s0, :d0), (:c1, :s1, :d1), "
    "(:c2, :s2, :d2), (:c3, :s3, :d3), (:c4, :s4, :d4), (:c5, :s5, :d5), (:c6, :s6, :d6), (:c7, :s7, :d7), "
    "(:c8, :s8, :d8), (:c9, :s9, :d9))";

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct doctor_args *args = memory;
  NAI_OWNED(nai_run) *empty = NULL;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_SCOPED(nai_buf) out = {0};
  struct nai_query_parameter parameters[3 * CHECKS];
  const struct visit visit = {&arena, count ? operands[0] : "."};
  for (int i = 0; i < CHECKS; i++) {
    struct finding found = checks[i].see(&visit);
    parameters[3 * i] = nai_query_string(nai_arena_printf(&arena, "c%d", i), checks[i].check);
    parameters[3 * i + 1] = nai_query_string(nai_arena_printf(&arena, "s%d", i), found.state);
    parameters[3 * i + 2] = nai_query_string(nai_arena_printf(&arena, "d%d", i), found.says);
  }
  NAI_TRY(nai_arena_check(&arena, err));
  NAI_TRY(nai_empty_run(&empty, err));
  const struct nai_cmd_printing how = {.format = nai_cmd_page_format(args->ask.format), .title = ""};
  NAI_TRY(nai_cmd_query_all(&out, empty, statement, "doctor", parameters, 3 * CHECKS, &how, err));
  return how.format == NAI_ROWS_TABLE ? nai_cmd_print_lines(&out, err) : nai_cmd_print(&out, err);
}

NAI_CLI_COMMAND(nai_cmd_doctor, .name = "doctor", .synopsis = "[DIR]",
                .summary = "check what this machine has of what commands use",
                .description = "Looks at the directories that a report and temporary files would be written to, at "
                               "nsys, curl, the terminal, the locale and the browser. Analyzing an export needs none "
                               "but the first.",
                .examples = "nsys-ai doctor\nnsys-ai doctor /scratch/artifacts", .options = options,
                NAI_CLI_OPERANDS(0, 1, {.name = "DIR"}), .init = init, .run = run)
