/* Subcommands and their options, declared as data: help, the man page and suggestions are made from the same tables. */
#ifndef NAI_CMD_CMD_H
#define NAI_CMD_CMD_H

#include "base/err.h"
#include "pipeline/options.h"

#include <stdbool.h>
#include <stddef.h>

struct nai_args; /* everything the options can set */

struct nai_option {
  const char *name;  /* long name without dashes */
  char letter;       /* short form, 0 for none */
  const char *value; /* how help calls its argument; "START END" takes two; NULL for a switch */
  const char *help;
  int (*set)(struct nai_args *args, const char *const *values, struct nai_err *err);
  bool hidden; /* an alias, left out of help */
};

struct nai_command {
  const char *name;
  const char *operands;             /* "TRACE", "FILE.ntab", "list|check FILE|explain ID" */
  const char *summary;              /* one line */
  const char *details;              /* paragraphs of --help and the man page */
  const char *examples;             /* one a line */
  const struct nai_option *options; /* ends with name == NULL */
  int min_operands, max_operands;
  int (*run)(struct nai_args *args, struct nai_err *err); /* exit status, or a negative NAI_E* */
};

enum { NAI_MAX_OPERANDS = 8 };

struct nai_args {
  const struct nai_command *command;
  const char *operands[NAI_MAX_OPERANDS];
  int operand_count;
  struct nai_options run;
  int fail_on; /* severity, -1: never */
  bool quiet, verbose, json, csv, help;
  int64_t rows; /* of `table`: at most so many, -1 all */
};

extern const struct nai_command *const nai_commands[]; /* ends with NULL */
const struct nai_command *nai_command_find(const char *name);

/* Reads the words after the command. NAI_EUSAGE with a suggestion for a mistyped option. */
NAI_MUST_CHECK int nai_args_parse(struct nai_args *args, const struct nai_command *command, int argc, char **argv,
                                  struct nai_err *err);

/* Texts on stdout. */
void nai_help_print(const struct nai_command *command); /* NULL: of the program */
void nai_man_print(void);

/* Option table shared by commands that open traces. */
extern const struct nai_command nai_cmd_analyze, nai_cmd_probe, nai_cmd_table, nai_cmd_rules;

/* A path to an SQLite export for `path`: itself, or, for an .nsys-rep, one made by `nsys export` into a temporary
 * directory when nsys is on PATH. nai_export_free removes what was made. */
struct nai_export {
  char *path, *directory;
};
NAI_MUST_CHECK int nai_export_open(struct nai_export *out, const char *path, bool quiet, struct nai_err *err);
void nai_export_free(struct nai_export *out);

#endif
