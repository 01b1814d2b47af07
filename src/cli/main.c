/* The program around the commands: finds the one that is meant, runs it, turns errors into one line on stderr and an
 * exit status. */
#include "cli/internal.h"

#include "base/text.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

static bool pipe_signal_ends; /* it would, had it not been put off */

void nai_cli_put_off_pipe_signal(void) { pipe_signal_ends = signal(SIGPIPE, SIG_IGN) == SIG_DFL; }

/* A reader that has had enough (`| head`) is no mistake to be told of. */
static void end_with_reader(int code) {
  struct pollfd out = {.fd = STDOUT_FILENO};
  if (code == NAI_EIO && pipe_signal_ends && poll(&out, 1, 0) == 1 && (out.revents & POLLERR)) {
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
  }
}

/* Messages quote names from traces and files. */
static int fail(const struct nai_cli_program *program, const struct nai_err *err, int code) {
  NAI_SCOPED(nai_buf) line = {0};
  end_with_reader(code);
  (program->escape ? program->escape : nai_text_clean)(&line, err->msg, strlen(err->msg));
  fprintf(stderr, "%s: %s\n", program->name, line.oom ? err->msg : nai_buf_str(&line));
  return nai_err_exit_status(code);
}

/* What was printed may still be in the buffer: a full disk or a closed pipe shows only now. */
static int finish(const struct nai_cli_program *program, int rc, struct nai_err *err) {
  errno = 0;
  if (rc >= 0 && (fflush(stdout) != 0 || ferror(stdout)))
    rc = errno ? nai_err_sys(err, NAI_EIO, errno, "cannot write to standard output")
               : nai_err_set(err, NAI_EIO, "cannot write to standard output");
  return rc < 0 ? fail(program, err, rc) : rc;
}

static int print(const struct nai_cli_program *program, const struct nai_buf *text) {
  struct nai_err err = {0};
  int rc = nai_buf_check(text, &err);
  if (!rc)
    fwrite(nai_buf_str(text), 1, text->len, stdout);
  return finish(program, rc, &err);
}

/* The same for programs; `about` is lists of words without quotes. */
static int print_version_json(const struct nai_cli_program *program, const char *commit) {
  NAI_SCOPED(nai_buf) text = {0}, about = {0};
  if (program->about)
    program->about(&about);
  nai_buf_printf(&text, "{\"name\":\"%s\",\"version\":\"%s\",\"commit\":\"%s\",\"built_with\":[", program->name,
                 program->version, commit);
  const char *word = nai_buf_str(&about);
  for (const char *separator = ""; *word; separator = ",") {
    size_t length = strcspn(word, ",\n");
    nai_buf_printf(&text, "%s\"%.*s\"", separator, (int)length, word);
    word += length;
    word += strspn(word, ", \n");
  }
  nai_buf_puts(&text, "]}\n");
  text.oom |= about.oom;
  return print(program, &text);
}

static int print_version(const struct nai_cli_program *program, bool json) {
  const char *commit = program->commit ? program->commit : "";
  NAI_SCOPED(nai_buf) text = {0};
  if (json)
    return print_version_json(program, commit);
  nai_buf_printf(&text, "%s %s%s%s%s\n", program->name, program->version, *commit ? " (" : "", commit,
                 *commit ? ")" : "");
  if (program->about)
    program->about(&text);
  return print(program, &text);
}

/* Usage errors end with the command that helps. */
static void add_help(struct nai_err *err, const struct nai_cli_program *program,
                     const struct nai_cli_command *command) {
  size_t len = strlen(err->msg);
  const char *name = command && command->name ? command->name : NULL;
  snprintf(err->msg + len, sizeof err->msg - len, " (see %s%s%s --help)", program->name, name ? " " : "",
           name ? name : "");
}

/* The exit status, or a negative NAI_E*. */
static int follow(struct nai_cli_call *call, const struct nai_cli_program *program,
                  const struct nai_cli_command *command, int argc, char **argv, struct nai_err *err) {
  int rc = call->args ? nai_cli_parse(call, command, argc, argv, err) : nai_err_nomem(err);
  const char *const *operands = (const char *const *)call->operands;
  if (!rc && !call->help && !call->version && program->defaults)
    rc = program->defaults(call, program, command, err);
  if (!rc && !call->help && !call->version && command->check)
    rc = command->check(call->args, operands, call->operand_count, err);
  if (rc == NAI_EUSAGE)
    add_help(err, program, command);
  return rc || call->help || call->version ? rc : command->run(call->args, operands, call->operand_count, err);
}

static int run_command(const struct nai_cli_program *program, const struct nai_cli_command *command, int argc,
                       char **argv) {
  NAI_FREED void *args = nai_cli_new_args(command);
  struct nai_cli_call call = {.args = args};
  struct nai_err err = {0};
  NAI_SCOPED(nai_buf) text = {0};
  if (args && command == &nai_cli_completions)
    ((struct nai_cli_completions_args *)args)->program = program->name;
  int rc = follow(&call, program, command, argc, argv, &err);
  if (rc || !(call.help || call.version)) {
    int status = finish(program, rc, &err);
    return rc < 0 && command->failed_status ? command->failed_status : status;
  }
  if (call.version)
    return print_version(program, false);
  nai_cli_help(&text, program, command);
  return print(program, &text);
}

static int unknown_command(const struct nai_cli_program *program, const char *word) {
  enum { MAX_COMMANDS = 64 };
  const char *names[MAX_COMMANDS] = {"help"};
  size_t n = 1;
  struct nai_err err;
  for (size_t i = 0; program->commands[i] && n < MAX_COMMANDS; i++)
    names[n++] = program->commands[i]->name;
  const char *near = nai_text_suggest(word, names, n);
  NAI_SCOPED(nai_buf) hint = {0};
  if (program->hint)
    program->hint(&hint, word);
  if (hint.len) {
    nai_err_set(&err, NAI_EUSAGE, "%.400s", nai_buf_str(&hint));
    return fail(program, &err, NAI_EUSAGE);
  }
  nai_err_set(&err, NAI_EUSAGE, "%s \"%.60s\"%s%s%s", word[0] == '-' ? "no command before" : "unknown command", word,
              near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
  add_help(&err, program, NULL);
  return fail(program, &err, NAI_EUSAGE);
}

static int help(const struct nai_cli_program *program, const char *name) {
  name = name && strcmp(name, "help") == 0 ? NULL : name;
  const struct nai_cli_command *command = name ? nai_cli_find(program, name) : NULL;
  NAI_SCOPED(nai_buf) text = {0};
  if (name && !command)
    return unknown_command(program, name);
  if (command)
    nai_cli_help(&text, program, command);
  else
    nai_cli_help_program(&text, program);
  return print(program, &text);
}

/* Whether the command that need not be named is meant: by the first word, or, where that is an option, by any. */
static bool is_implied(const struct nai_cli_program *program, int argc, char **argv) {
  if (!program->implied || !program->implies)
    return program->implied != NULL;
  for (int i = 1; i < argc; i++)
    if (program->implies(argv[i]))
      return true;
    else if (argv[1][0] != '-')
      return false;
  return false;
}

int nai_cli_main(const struct nai_cli_program *program, int argc, char **argv) {
  const char *word = argc > 1 ? argv[1] : NULL;
  NAI_SCOPED(nai_buf) text = {0};
  if (!word) {
    nai_cli_help_short(&text, program);
    fputs(nai_buf_str(&text), stderr);
    return nai_err_exit_status(NAI_EUSAGE);
  }
  if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
    return help(program, argc > 2 && argv[2][0] != '-' ? argv[2] : NULL);
  if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0 || strcmp(word, "version") == 0)
    return print_version(program, argc > 2 && strcmp(argv[2], "--json") == 0);
  if (strcmp(word, "--man") == 0) {
    const struct nai_cli_command *of = argc > 2 ? nai_cli_find(program, argv[2]) : NULL;
    if (argc > 2 && !of)
      return unknown_command(program, argv[2]);
    nai_cli_man(&text, program, of);
    return print(program, &text);
  }
  if (strcmp(word, "--complete") == 0) {
    nai_cli_complete(&text, program, argc - 2, argv + 2);
    return print(program, &text);
  }
  const struct nai_cli_command *command = nai_cli_find(program, word);
  if (command)
    return run_command(program, command, argc - 2, argv + 2);
  if (program->meant_by && (command = program->meant_by(word)))
    return run_command(program, command, argc - 1, argv + 1);
  return is_implied(program, argc, argv) ? run_command(program, program->implied, argc - 1, argv + 1)
                                         : unknown_command(program, word);
}
