/* Commands and their options as data. A program declares tables; parsing, help, the man page, "did you mean" and shell
 * completions are made from them, and nothing is written down twice. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

struct nai_cli_option;
struct nai_cli_program;
struct nai_cli_call;

/* The index-th value that is allowed, NULL past the last. `before` is the operand in front of the one asked for, ""
 * for the first and for options. */
typedef const char *nai_cli_choices_fn(size_t index, const char *before);

/* How an option's words become a field of the command's arguments, and back. */
struct nai_cli_type {
  int (*set)(void *args, const struct nai_cli_option *option, const char *const *values, struct nai_err *err);
  /* Appends the field as one would type it, nothing when it is not set. NULL: there is no default to tell. */
  void (*print)(struct nai_buf *out, const void *args, const struct nai_cli_option *option);
};

/* The field is ... */
extern const struct nai_cli_type nai_cli_on, nai_cli_off; /* bool */
extern const struct nai_cli_type nai_cli_text;            /* const char *; not empty */
extern const struct nai_cli_type nai_cli_int;             /* int; outside min..max: not set */
extern const struct nai_cli_type nai_cli_int64;           /* int64_t; likewise */
extern const struct nai_cli_type nai_cli_number;          /* double; likewise */
extern const struct nai_cli_type nai_cli_bytes;           /* int64_t, typed as 512M or 4G, at most `max`; 0: not set */
extern const struct nai_cli_type nai_cli_choice;          /* int, the index of the choice; -1: not set */
extern const struct nai_cli_type nai_cli_word;            /* const char *, one of the choices; NULL: not set */
extern const struct nai_cli_type nai_cli_texts;           /* const char *[most]; repeatable */
extern const struct nai_cli_type nai_cli_ints;            /* int64_t[most]; repeatable */
extern const struct nai_cli_type nai_cli_stretch;         /* struct nai_cli_stretch, typed as two times */

/* Seconds, or times with a unit. Behind a plus the start counts from the first event, and the end from the start. */
struct nai_cli_stretch {
  bool given, from_first;   /* the times count from the first event */
  int64_t start_ns, end_ns; /* the end lies after the start */
};

/* What a shell offers where `choices` have nothing. */
enum nai_cli_hint { NAI_CLI_NOTHING, NAI_CLI_FILE, NAI_CLI_DIRECTORY };

struct nai_cli_option {
  const char *name;  /* long name without dashes */
  char letter;       /* short form, 0 for none */
  const char *value; /* how help calls its argument; "START END" takes two; NULL for a switch */
  const char *help;
  const struct nai_cli_type *type;
  const char *words;           /* of a switch: words that may follow it, separated by a blank; or NULL */
  size_t at;                   /* the field: offsetof in the command's arguments */
  bool many;                   /* of lists: also takes the words that follow, up to the next option */
  size_t count_at, most;       /* of lists: the field that counts (size_t), and the most it may count to */
  int64_t min, max;            /* of numbers, both included */
  nai_cli_choices_fn *choices; /* of enumerations */
  const char *also;            /* what else is allowed beside the choices, in words */
  const char *otherwise;       /* the default in words, where no value is set */
  enum nai_cli_hint hint;
  const char *suffixes; /* of files worth offering, separated by spaces; NULL: all */
  bool hidden;          /* an alias, left out of help */
};

struct nai_cli_operand {
  const char *name;
  nai_cli_choices_fn *choices;
  const char *(*about)(size_t index); /* what a choice means; may be NULL */
  bool only_choices;                  /* anything else is refused */
  enum nai_cli_hint hint;
  const char *suffixes;
};

struct nai_cli_command {
  const char *name;                       /* NULL: the program's only job (`implied`) */
  const char *synopsis;                   /* of the operands: "TRACE", "list|check FILE|explain ID" */
  const char *summary;                    /* one line */
  const char *description;                /* paragraphs of --help and the man page */
  const char *examples;                   /* one a line */
  const struct nai_cli_option *options;   /* end with name == NULL; NULL: none */
  const struct nai_cli_operand *operands; /* end with name == NULL; the last one may repeat */
  size_t min_operands, max_operands;
  const char *no_json;      /* why there is no --json: "it prints a script"; NULL where there is */
  int failed_status;        /* exit status of whatever fails; 0: that of its error */
  size_t args_size;         /* of the struct the options are set in */
  void (*init)(void *args); /* sets the defaults in zeroed memory; may be NULL */
  /* What the parser cannot know is wrong: options that exclude each other, operands that depend on one another. The
   * message is completed with where help is. May be NULL. */
  int (*check)(const void *args, const char *const *operands, size_t count, struct nai_err *err);
  /* Exit status, or a negative NAI_E*. The operands are a slice of argv. */
  int (*run)(void *args, const char *const *operands, size_t count, struct nai_err *err);
};

enum { NAI_CLI_ANY_NUMBER = INT32_MAX };

struct nai_cli_exit {
  const char *status, *meaning;
};

struct nai_cli_program {
  const char *name, *version, *title, *description;
  const char *commit;                            /* that it was built from, for --version; NULL or "": unknown */
  void (*about)(struct nai_buf *out);            /* appends further lines of --version; may be NULL */
  const char *examples;                          /* one a line */
  const struct nai_cli_command *const *commands; /* end with NULL */
  const struct nai_cli_command *implied;         /* the command meant where none is named; may be NULL */
  bool (*implies)(const char *word);             /* whether this word means it; NULL: every word that is no command */
  /* Another command that a first word means which names none, or NULL; what to say of such a word else. May be NULL. */
  const struct nai_cli_command *(*meant_by)(const char *word);
  void (*hint)(struct nai_buf *out, const char *word);
  /* Sets options that the command line leaves out (nai_cli_set), once it is read. May be NULL. */
  int (*defaults)(struct nai_cli_call *call, const struct nai_cli_program *program,
                  const struct nai_cli_command *command, struct nai_err *err);
  const struct nai_cli_exit *exits;                       /* end with status == NULL */
  void (*escape)(struct nai_buf *, const char *, size_t); /* makes messages safe for a terminal; NULL: nai_text_clean */
};

/* Makes writing to a reader that has gone an error like others, so that what was begun is tidied up. A command that
 * failed by that ends by SIGPIPE without a word, as other programs do; where the caller ignores that signal, with a
 * message. To be called before nai_cli_main. */
void nai_cli_put_off_pipe_signal(void);

/* Does what the command line says; prints help, versions and errors. Returns the exit status. */
int nai_cli_main(const struct nai_cli_program *program, int argc, char **argv);

/* For `defaults` of a program. The option of that name, else NAI_EUSAGE with a suggestion; whether the command line
 * gives it, or another one of the same field; sets it to words, which end with NULL and are borrowed; whether the
 * command's switch --verbose is on. */
NAI_MUST_CHECK int nai_cli_option_named(const struct nai_cli_option **out, const struct nai_cli_command *command,
                                        const char *name, struct nai_err *err);
bool nai_cli_is_given(const struct nai_cli_call *call, const struct nai_cli_command *command,
                      const struct nai_cli_option *option);
NAI_MUST_CHECK int nai_cli_set(struct nai_cli_call *call, const struct nai_cli_option *option, const char *const *words,
                               struct nai_err *err);
bool nai_cli_is_verbose(const struct nai_cli_call *call, const struct nai_cli_command *command);

/* --- tables of data: a line per option ------------------------------------------------------------------ */

/* Options of a command whose arguments are NAI_CLI_ARGS, a struct that the file names before its table; behind the help
 * stands what else struct nai_cli_option has. Fields of lists are arrays, and `count` counts them.
 *
 *   #define NAI_CLI_ARGS struct my_args
 *   static const struct nai_cli_option options[] = {
 *       NAI_CLI_OPTION(int, jobs, "jobs", "N", "threads", .letter = 'j', NAI_CLI_RANGE(1, 256)),
 *       NAI_CLI_SWITCH(on, json, "json", "print JSON"),
 *       NAI_CLI_LIST(texts, rules, rule_count, "rules", "FILE", "rules to read; repeatable", NAI_CLI_FILES("yaml
 * yml")), {0},
 *   };
 *   NAI_CLI_COMMAND(my_command, .name = "my", ..., .options = options, .run = run)
 */
#define NAI_CLI_OPTION(kind, field, name_, value_, help_, ...) \
  NAI_CLI_OTHER(nai_cli_##kind, name_, value_, help_, .at = offsetof(NAI_CLI_ARGS, field), __VA_ARGS__)
#define NAI_CLI_SWITCH(kind, field, name_, help_, ...) NAI_CLI_OPTION(kind, field, name_, NULL, help_, __VA_ARGS__)
#define NAI_CLI_LIST(kind, field, count, name_, value_, help_, ...)                            \
  NAI_CLI_OPTION(kind, field, name_, value_, help_, .count_at = offsetof(NAI_CLI_ARGS, count), \
                 .most = sizeof((NAI_CLI_ARGS *)0)->field / sizeof *((NAI_CLI_ARGS *)0)->field, __VA_ARGS__)
/* Of a type of the file's own. */
#define NAI_CLI_OTHER(type_, name_, value_, help_, ...) \
  { .name = name_, .value = value_, .help = help_, .type = &type_, __VA_ARGS__ }
#define NAI_CLI_RANGE(least, greatest) .min = (least), .max = (greatest)
#define NAI_CLI_FILES(suffixes_) .hint = NAI_CLI_FILE, .suffixes = suffixes_

/* Operands, as members of struct nai_cli_operand each: NAI_CLI_OPERANDS(1, 1, {.name = "FILE", ...}). */
#define NAI_CLI_OPERANDS(least, most, ...) \
  .operands = (const struct nai_cli_operand[]){__VA_ARGS__, {0}}, .min_operands = (least), .max_operands = (most)
#define NAI_CLI_COMMAND(id, ...) const struct nai_cli_command id = {.args_size = sizeof(NAI_CLI_ARGS), __VA_ARGS__};
/* Defines the choices of an option or operand: those words, or the member `name` of each row of an array. */
#define NAI_CLI_NAMES(function, ...)                                   \
  static const char *function(size_t index, const char *before) {      \
    static const char *const names[] = {__VA_ARGS__};                  \
    (void)before;                                                      \
    return index < sizeof names / sizeof *names ? names[index] : NULL; \
  }
#define NAI_CLI_NAMES_OF(function, array)                                   \
  static const char *function(size_t index, const char *before) {           \
    (void)before;                                                           \
    return index < sizeof array / sizeof *array ? array[index].name : NULL; \
  }

/* A command every program can list: prints the completion script of a shell. */
extern const struct nai_cli_command nai_cli_completions;

/* NAI_EUSAGE: `word` is none of the choices, which the message lists, with the nearest one. `what` says what it was
 * given as: "--fail-on". */
int nai_cli_unknown_choice(struct nai_err *err, const char *what, const char *word, nai_cli_choices_fn *choices,
                           const char *also);

/* The index of a word that the parser let through as one of the choices. */
size_t nai_cli_choice_index(nai_cli_choices_fn *choices, const char *word);

/* A whole or a real number of an option, checked; for types of one's own. */
NAI_MUST_CHECK int nai_cli_read_number(double *out, const struct nai_cli_option *option, const char *text,
                                       struct nai_err *err);
