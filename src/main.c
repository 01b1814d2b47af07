/* The program nsys-ai: its commands, and what a first word that names no command means. */
#include "command/command.h"

#include "about/versions.h"
#include "base/fs.h"
#include "base/escape.h"
#include "base/former.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* nsys-ai TRACE means nsys-ai analyze TRACE. */
static bool is_trace(const char *word) {
  if (strstr(word, "://"))
    return false;
  return nai_cmd_trace_suffix(word, strlen(word)) || nai_cmd_is_parquet(word) ||
         (nai_fs_exists(word) && !nai_fs_is_dir(word) && !nai_cmd_is_run(word));
}

/* nsys-ai RUN means nsys-ai summary RUN. */
static const struct nai_cli_command *meant_by(const char *word) {
  return nai_cmd_is_run(word) ? &nai_cmd_summary : NULL;
}

/* What a path means that is no operand. */
static void hint(struct nai_buf *out, const char *word) {
  if (nai_fs_is_dir(word)) {
    nai_buf_printf(out, "\"%s\" is a directory and no run: nsys-ai batch ", word);
    nai_cmd_put_quoted(out, word);
    nai_buf_puts(out, " --out DIR reports on all traces in it");
  } else if (strncmp(word, "http://", 7) == 0 || strncmp(word, "https://", 8) == 0)
    nai_buf_printf(out, "\"%s\" is an address: download the trace and name the file", word);
  else if (*word != '-' && strpbrk(word, "/."))
    nai_buf_printf(out, "there is no file \"%s\"", word);
}

static const struct nai_cli_command *const commands[] = {
    &nai_cmd_analyze,       &nai_cmd_probe,    &nai_cmd_info,        &nai_cmd_summary,
    &nai_cmd_stats,         &nai_cmd_overlap,  &nai_cmd_nccl,        &nai_cmd_iters,
    &nai_cmd_critical_path, &nai_cmd_whatif,   &nai_cmd_tree,        &nai_cmd_search,
    &nai_cmd_question,      &nai_cmd_evidence, &nai_cmd_explain,     &nai_cmd_suggest,
    &nai_cmd_sql,           &nai_cmd_skill,    &nai_cmd_pages,       &nai_cmd_exports,
    &nai_cmd_open,          &nai_cmd_view,     &nai_cmd_batch,       &nai_cmd_compare,
    &nai_cmd_check,         &nai_cmd_bisect,   &nai_cmd_store,       &nai_cmd_trend,
    &nai_cmd_ranks,         &nai_cmd_table,    &nai_cmd_rules,       &nai_cmd_mcp,
    &nai_cmd_guide,         &nai_cmd_doctor,   &nai_cli_completions, NULL};

static const struct nai_cli_exit exits[] = {
    {"0", "the report was written; the check passed"},
    {"1", "--fail-on: a finding of that severity or higher; a gated metric got worse"},
    {"2", "wrong usage, or a mistake in a configuration file"},
    {"3", "the trace is refused: not an export, damaged"},
    {"4", "batch: some traces could not be analyzed; the index says which"},
    {"5", "the output cannot be written"},
    {"6", "a resource limit: memory, descriptors"},
    {"7", "it cannot be decided: captures that are not comparable, a missing metric, ranks that do not match"},
    {0},
};

static const struct nai_cli_program program = {
    .name = "nsys-ai",
    .version = NAI_VERSION,
    .title = "report generator for GPU traces of NVIDIA Nsight Systems",
    .description = "nsys-ai reads an SQLite export of NVIDIA Nsight Systems and writes a report: what is slow, why, "
                   "where, and what to do.",
    .examples = "nsys-ai trace.sqlite\nnsys-ai analyze trace.sqlite --out artifacts/run1\nnsys-ai probe trace.sqlite\n"
                "nsys-ai rules explain idle-host-code",
    .commands = commands,
    .implied = &nai_cmd_analyze,
    .implies = is_trace,
    .meant_by = meant_by,
    .hint = hint,
    .commit = NAI_COMMIT,
    .about = nai_put_versions,
    .defaults = nai_cmd_defaults,
    .exits = exits,
    .escape = nai_escape_terminal,
};

/* A file in use was cut short by another program, or its device is gone: pages that were there are not. Readers of
 * traces see to that themselves (trace/pages/guard.c) and pass on what is not theirs: large table files. */
static void on_sigbus(int signal_number) {
  static const char words[] = "nsys-ai: a file in use became shorter, or its device failed; nothing was changed, run "
                              "again\n";
  (void)signal_number;
  if (write(STDERR_FILENO, words, sizeof words - 1) < 0) {
    /* Then nobody is told, but the status is right. */
  }
  _exit(3);
}

/* The stack grows as it is used. In a limited address space (ulimit -v) there may be no room for that later, which
 * would be a signal; so what is needed is taken while there is. Returns nothing of use: that keeps the pages. */
static __attribute__((noinline)) int take_stack(size_t bytes) {
  volatile char page[4096];
  page[0] = (char)bytes;
  return bytes > sizeof page ? take_stack(bytes - sizeof page) + page[0] : page[0];
}

static size_t stack_to_take(void) {
  enum { NEEDED = 256 << 10 };
  struct rlimit limit;
  return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur / 2 < NEEDED ? limit.rlim_cur / 2 : NEEDED;
}

/* Growing the stack where no address is left is a signal. */
static bool has_few_addresses(size_t bytes) {
  static const char words[] = "nsys-ai: the limit on the address space (ulimit -v) leaves no room for the stack\n";
  void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room != MAP_FAILED) {
    munmap(room, bytes);
    return false;
  }
  if (write(STDERR_FILENO, words, sizeof words - 1) < 0) {
    /* Then nobody is told, but the status is right. */
  }
  return true;
}

/* Other names of `view`, which people bring from other tools: `timeline SRC`, and `tui SRC` for the tree. */
static int view_by_another_name(int argc, char **argv) {
  static char view[] = "view", tree[] = "tree";
  bool is_tree = strcmp(argv[1], "tui") == 0;
  NAI_FREED char **words = calloc((size_t)argc + 2, sizeof *words);
  if (!words)
    return nai_cli_main(&program, argc, argv);
  memcpy(words, argv, (size_t)argc * sizeof *words);
  words[1] = view;
  if (is_tree && argc > 2)
    words[argc] = tree;
  return nai_cli_main(&program, argc + (is_tree && argc > 2), words);
}

/* Less than what every command gets by with would end in a signal, somewhere. */
static bool has_little_stack(void) {
  enum { LEAST = 192 << 10 };
  static const char words[] = "nsys-ai: the limit on the stack (ulimit -s) is below the 192 KiB that are needed\n";
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= LEAST)
    return false;
  if (write(STDERR_FILENO, words, sizeof words - 1) < 0) {
    /* Then nobody is told, but the status is right. */
  }
  return true;
}

/* Comparisons hold their captures open, two descriptors each: as many as the system allows, not as it is used to. */
static void allow_descriptors(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv) {
  if (has_little_stack())
    return nai_err_exit_status(NAI_ELIMIT);
  allow_descriptors();
  if (has_few_addresses(stack_to_take()))
    return nai_err_exit_status(NAI_ELIMIT);
  (void)take_stack(stack_to_take());
  signal(SIGBUS, on_sigbus);
  signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes (ulimit -f) is an error of writing like others, with a message */
  nai_cli_put_off_pipe_signal();
  nai_former_listen(nai_cmd_note);
  if (argc > 1 && (strcmp(argv[1], "timeline") == 0 || strcmp(argv[1], "tui") == 0))
    return view_by_another_name(argc, argv);
  return nai_cli_main(&program, argc, argv);
}
