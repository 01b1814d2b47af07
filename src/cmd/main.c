/* The program: finds the command, runs it, turns errors into one line on stderr and an exit status. */
#include "cmd/cmd.h"

#include "base/text.h"
#include "render/escape.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

const struct nai_command *const nai_commands[] = {&nai_cmd_analyze, &nai_cmd_probe, &nai_cmd_table, &nai_cmd_rules,
                                                  NULL};

/* Messages quote names from traces and files: cleaned, and nothing a CI runner takes for a command. */
static int fail(const struct nai_err *err, int code) {
  struct nai_buf line = {0};
  nai_escape_terminal(&line, err->msg, strlen(err->msg));
  fprintf(stderr, "nsys-ai: %s\n", line.oom ? err->msg : nai_buf_str(&line));
  nai_buf_free(&line);
  return nai_err_exit_status(code);
}

static int unknown_command(const char *word) {
  struct nai_err err;
  const char *names[16];
  size_t n = 0;
  while (nai_commands[n]) {
    names[n] = nai_commands[n]->name;
    n++;
  }
  const char *near = nai_text_suggest(word, names, n);
  nai_err_set(&err, NAI_EUSAGE, "unknown command \"%.60s\"%s%s%s", word,
              near ? "; did you mean " : "; see nsys-ai --help", near ? near : "", near ? "?" : "");
  return fail(&err, NAI_EUSAGE);
}

/* What was printed may still be in the buffer: a full disk or a closed pipe shows only now. */
static int finish_output(int rc, struct nai_err *err) {
  if (rc >= 0 && (fflush(stdout) != 0 || ferror(stdout)))
    rc = nai_err_set(err, NAI_EIO, "cannot write to standard output");
  return rc < 0 ? fail(err, rc) : rc;
}

static int run_command(const struct nai_command *command, int argc, char **argv) {
  struct nai_args args = {.fail_on = -1, .rows = -1};
  struct nai_err err = {0};
  args.run.map_nvtx = true;
  args.run.keep_stages = true;
  args.run.nvtx_coverage_warn_threshold = -1;
  int rc = nai_args_parse(&args, command, argc, argv, &err);
  if (!rc && args.help) {
    nai_help_print(command);
    return finish_output(0, &err);
  }
  if (!rc)
    rc = command->run(&args, &err);
  return finish_output(rc, &err);
}

/* The analyses take and give back large arrays in quick succession. Reusing that memory instead of returning it to the
 * system each time saves a third of the page faults; one arena, so that it is shared by all threads. */
static void tune_allocator(void) {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

int main(int argc, char **argv) {
  tune_allocator();
  const char *word = argc > 1 ? argv[1] : NULL;
  struct nai_err err = {0};
  if (!word) {
    nai_help_print(NULL);
    return 2;
  }
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
    const struct nai_command *command = argc > 2 ? nai_command_find(argv[2]) : NULL;
    nai_help_print(command);
    return finish_output(0, &err);
  }
  if (strcmp(word, "--version") == 0) {
    printf("nsys-ai %s\n", NAI_VERSION);
    return finish_output(0, &err);
  }
  if (strcmp(word, "--man") == 0) {
    nai_man_print();
    return finish_output(0, &err);
  }
  const struct nai_command *command = nai_command_find(word);
  return command ? run_command(command, argc - 2, argv + 2) : unknown_command(word);
}
