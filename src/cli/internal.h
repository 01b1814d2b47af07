/* The parts of the command line. Internal to src/cli. */
#pragma once

#include "cli/cli.h"

enum { NAI_CLI_MAX_OPTIONS = 128 };

/* What a command line asks for. */
struct nai_cli_call {
  void *args;
  bool given[NAI_CLI_MAX_OPTIONS]; /* by the option's number in the command's table */
  char **operands;                 /* a slice of argv, whose words parsing moves to its front */
  size_t operand_count;
  bool help, version;
};

/* Reads the words after the command into `call`, whose args are initialised. NAI_EUSAGE, with a suggestion for what is
 * mistyped. */
NAI_MUST_CHECK int nai_cli_parse(struct nai_cli_call *call, const struct nai_cli_command *command, int argc,
                                 char **argv, struct nai_err *err);

const struct nai_cli_command *nai_cli_find(const struct nai_cli_program *program, const char *name);
/* The option called `len` bytes of `name`; that of a letter. NULL: none. */
const struct nai_cli_option *nai_cli_find_option(const struct nai_cli_command *command, const char *name, size_t len);
const struct nai_cli_option *nai_cli_find_letter(const struct nai_cli_command *command, char letter);
size_t nai_cli_value_count(const struct nai_cli_option *option);
/* What operand number `index` of a command is, NULL past the last. */
const struct nai_cli_operand *nai_cli_operand_at(const struct nai_cli_command *command, size_t index);
/* --help and --version, which every command has: a table like a command's. */
extern const struct nai_cli_option nai_cli_common[];

/* "a, b or c"; "a, b, c, or ALSO". */
void nai_cli_list_choices(struct nai_buf *out, nai_cli_choices_fn *choices, const char *before, const char *also);
/* --json means --format json, where a command has that and no --json of its own. */
bool nai_cli_means_json(const struct nai_cli_option *option);
/* The option's help text with its choices and its default. `defaults`: the command's arguments as initialised. */
void nai_cli_describe(struct nai_buf *out, const struct nai_cli_option *option, const void *defaults);
/* The arguments of a command with its defaults, to be freed; NULL: out of memory. */
void *nai_cli_new_args(const struct nai_cli_command *command);

void nai_cli_help(struct nai_buf *out, const struct nai_cli_program *program, const struct nai_cli_command *command);
void nai_cli_help_program(struct nai_buf *out, const struct nai_cli_program *program);
/* What is said to somebody who typed the program's name alone. */
void nai_cli_help_short(struct nai_buf *out, const struct nai_cli_program *program);
/* The man page of a command; NULL: of the program. */
void nai_cli_man(struct nai_buf *out, const struct nai_cli_program *program, const struct nai_cli_command *command);
/* Candidates for the last word, one a line with a tab and what it means; then, where files are wanted, a line ":files"
 * (with suffixes) or ":directories". `words` follow the program's name. */
void nai_cli_complete(struct nai_buf *out, const struct nai_cli_program *program, int count, char **words);

/* The arguments of the command `completions`: the program that the script is of. */
struct nai_cli_completions_args {
  const char *program;
};
