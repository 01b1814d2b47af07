/* The commands of nsys-ai, each a table (cli/cli.h) and a function that runs it, and what several of them share. */
#pragma once

#include "base/arena.h"
#include "base/sink.h"
#include "base/temporary.h"
#include "cli/cli.h"
#include "trace/reader.h"
#include "query/query_rows.h"
#include "report/rows.h"

#include <signal.h>

extern const struct nai_cli_command nai_cmd_analyze, nai_cmd_probe, nai_cmd_info, nai_cmd_summary, nai_cmd_stats,
    nai_cmd_overlap, nai_cmd_nccl, nai_cmd_iters, nai_cmd_tree, nai_cmd_search, nai_cmd_evidence, nai_cmd_explain,
    nai_cmd_suggest, nai_cmd_sql, nai_cmd_skill, nai_cmd_pages, nai_cmd_exports, nai_cmd_open, nai_cmd_batch,
    nai_cmd_compare, nai_cmd_check, nai_cmd_bisect, nai_cmd_store, nai_cmd_trend, nai_cmd_ranks, nai_cmd_table,
    nai_cmd_rules, nai_cmd_mcp, nai_cmd_guide, nai_cmd_doctor, nai_cmd_view, nai_cmd_question, nai_cmd_critical_path,
    nai_cmd_whatif;

/* A path to an SQLite export for `path`: itself, or, for an .nsys-rep where there is an nsys, the one that `nsys
 * export` made of it: now, or before, as it lies in the cache (base/cache.h) under a name that the report's path, size
 * and time and the nsys give. Where there is no place for a cache, it lies in a temporary directory, which
 * nai_cmd_export_free removes, as it does what a compressed export or a Parquet folder becomes. nsys ends with this
 * process; a signal that ends this one ends it before. */
struct nai_cmd_export {
  char *path;
  struct nai_temporary directory; /* of an export that is not kept */
};
enum nai_cmd_exporting { NAI_CMD_EXPORT_QUIET = 1, NAI_CMD_EXPORT_AGAIN = 2 /* whatever the cache has */ };
NAI_MUST_CHECK int nai_cmd_export_open(struct nai_cmd_export *out, const char *path, int how, struct nai_err *err);
void nai_cmd_export_free(struct nai_cmd_export *out);
/* Whether opening it runs nsys, decompresses or reads Parquet, which takes its time. */
bool nai_cmd_export_runs(const char *path);
/* Whether a file begins as gzip's or zstd's do; for those, what nai_cmd_export_open does: `out` is zeroed. NAI_EINPUT
 * where it is damaged or holds no export, NAI_EIO where the disk has too little room. */
bool nai_cmd_is_compressed(const char *path);
NAI_MUST_CHECK int nai_cmd_decompress(struct nai_cmd_export *out, const char *path, struct nai_err *err);
/* Of every command that opens a trace: none is exported, as with an empty $NSYS. */
#define NAI_CMD_EXPORT_OPTION \
  NAI_CLI_OTHER(nai_cmd_no_export, "no-export", NULL, "refuse an .nsys-rep instead of exporting it with nsys")
extern const struct nai_cli_type nai_cmd_no_export;
/* What ends this process, and the end of a child. What is ignored (nohup) is not among them. */
void nai_cmd_ending_signals(sigset_t *signals);
/* The nsys of $NSYS (empty: none is to be used), of PATH, of the usual places of an installation. */
bool nai_cmd_find_nsys(char out[PATH_MAX]);
/* Options that .nsys-ai.yaml of the working directory or of one above sets, or the file that $NSYS_AI_CONFIG names
 * (empty: none is read): for struct nai_cli_program. */
int nai_cmd_defaults(struct nai_cli_call *call, const struct nai_cli_program *program,
                     const struct nai_cli_command *command, struct nai_err *err);
/* The file that it reads; false: none. */
bool nai_cmd_find_defaults(char out[PATH_MAX]);
/* Removes a temporary directory, and says so when that fails. */
void nai_cmd_remove(struct nai_temporary *temporary);

/* How a source is opened; zeroed is fine. */
struct nai_cmd_source {
  enum nai_reader_choice reader;
  bool check;                 /* the whole file's integrity first */
  bool quiet;                 /* no notes on stderr */
  const char *const *tables;  /* of a trace only these are made; ends with NULL. NULL: all */
  const char *const *metrics; /* files that define metrics, for a trace */
  size_t metric_count;
  struct nai_temporary *keep; /* if not NULL: a trace gets its whole report, and the temporary directory that holds the
                                 run stays; it is put here, for the caller to remove. None for a run directory */
};
/* The run that `path` names: a run directory, or a trace, which is analysed (stages up to the findings) into a
 * temporary directory. Nothing of that is left behind: its tables are held open, its files are gone when this returns.
 * Call it while the process has no threads. */
NAI_MUST_CHECK int nai_cmd_source_open(struct nai_run **out, const char *path, const struct nai_cmd_source *how,
                                       struct nai_err *err);
/* The same of a run that another version analyzed, by this one: from its events, NAI_EINPUT where it has none. */
NAI_MUST_CHECK int nai_cmd_source_again(struct nai_run **out, struct nai_run *run, const struct nai_cmd_source *how,
                                        struct nai_err *err);
/* Whether it is the directory of a run, or a run in one file. */
bool nai_cmd_is_run(const char *path);
/* Whether it is a folder that nsys exported as Parquet: docs/readers.md. */
bool nai_cmd_is_parquet(const char *path);
/* Whether a file's name or its first bytes are those of a trace, or it is such a folder. */
bool nai_cmd_is_trace(const char *path);
/* Bytes of the suffix of a trace that a name of `len` bytes ends in, NAI_CMD_TRACE_SUFFIXES; 0: it has another. */
size_t nai_cmd_trace_suffix(const char *name, size_t len);

/* How rows of an answer are printed. */
struct nai_cmd_printing {
  enum nai_rows_format format;
  bool human;        /* numbers for people */
  bool titles;       /* headers for people */
  int width;         /* of the terminal, 0: nothing is cut */
  const char *title; /* in JSON; or NULL */
  const char *none;  /* in the place of a text table without rows; or NULL */
  int64_t skip;      /* rows at the beginning that are not printed */
};
/* Runs a statement and prints its rows. */
NAI_MUST_CHECK int nai_cmd_query(bool *truncated, struct nai_buf *out, const struct nai_query *query,
                                 const struct nai_cmd_printing *how, struct nai_err *err);
/* The same of a statement of this program's own: all its rows. */
NAI_MUST_CHECK int nai_cmd_query_all(struct nai_buf *out, struct nai_run *run, const char *sql, const char *label,
                                     const struct nai_query_parameter *parameters, size_t count,
                                     const struct nai_cmd_printing *how, struct nai_err *err);
/* Where an answer of any length goes: standard output (NULL, "-"), a pipe or device, or a file, which appears once the
 * answer is complete. It replaces what such a command wrote and nobody changed since; any other file is NAME.kept then,
 * or NAME.kept.2, ... Print into sink.text. The struct must not move. */
struct nai_cmd_output {
  struct nai_file_sink sink;
  char path[PATH_MAX];       /* of the file to write, "" for none */
  struct nai_temporary part; /* what it is until then */
};
/* `source` is what is asked, a run or a trace, or NULL. NAI_EUSAGE for a file of its, and for any trace. */
NAI_MUST_CHECK int nai_cmd_output_open(struct nai_cmd_output *output, const char *path, const char *source,
                                       struct nai_err *err);
/* With the outcome of the printing in `rc`, which is returned when it is an error: then there is no file. */
NAI_MUST_CHECK int nai_cmd_output_close(struct nai_cmd_output *output, int rc, struct nai_err *err);
/* For a process that is about to read a trace and to start nothing more: writes go below the directories that `out`,
 * `stages` and `file` (or NULL) lie in, and into TMPDIR; no programs, no sockets (base/sandbox.h). */
void nai_cmd_confine(const char *out, const char *stages, const char *file);
/* Columns of the terminal that stdout is, 0 when it is none. */
int nai_cmd_terminal_width(void);
/* Columns for prose: those of the terminal, but no more than 100. */
int nai_cmd_prose_width(void);

/* Writes a text on stdout, unless out of memory. */
NAI_MUST_CHECK int nai_cmd_print(const struct nai_buf *text, struct nai_err *err);
/* A text as JSON, for commands whose answer is one: {"schema_version": "1.0", "of": "exposed-copy", "text": ...}. */
NAI_MUST_CHECK int nai_cmd_put_text_json(struct nai_buf *out, const char *of, const struct nai_buf *text,
                                         struct nai_err *err);

/* nai_text_wrap for the terminal that stdout is, if it is one. The text is one that a terminal may get. */
void nai_cmd_put_wrapped(struct nai_buf *out, const char *text, size_t len, int indent);
/* Appends lines of text, each as nai_cmd_put_wrapped, what goes on four columns further in than the line begins. */
void nai_cmd_put_lines(struct nai_buf *out, const struct nai_buf *lines);
/* Writes them on stdout, as nai_cmd_print does. */
NAI_MUST_CHECK int nai_cmd_print_lines(const struct nai_buf *lines, struct nai_err *err);
/* Whether stdout is a terminal that wants colours: NO_COLOR is not set, TERM is not "dumb". */
bool nai_cmd_color(void);
/* Appends a word of a shell command, in quotes, whatever it holds. */
void nai_cmd_put_quoted(struct nai_buf *out, const char *word);
/* A line on stderr, safe for terminals: what somebody should know who gets his answer all the same. */
void nai_cmd_note(const char *line);
/* Appends a page of documentation (Markdown) as text for a terminal, `width` columns wide. */
void nai_cmd_page(struct nai_buf *out, const char *markdown, size_t len, int width, bool color);

/* What options and operands can be, from the tables that define it. */
nai_cli_choices_fn nai_cmd_stages, nai_cmd_severities, nai_cmd_readers, nai_cmd_phase_maps, nai_cmd_rule_ids,
    nai_cmd_rows_formats, nai_cmd_skill_ids, nai_cmd_page_names;
/* Behind the operand that names a run: its tables (of a trace: those that any run may have); those and rules. */
nai_cli_choices_fn nai_cmd_table_names, nai_cmd_things;

/* Files that commands take for a trace; an operand that names a run directory or one of them. */
#define NAI_CMD_TRACE_SUFFIXES "sqlite nsys-rep sqlite.gz sqlite.zst"
#define NAI_CMD_SOURCE(called) \
  { .name = called, NAI_CLI_FILES(NAI_CMD_TRACE_SUFFIXES) }
#define NAI_CMD_ABOUT_SOURCE "SRC is an artifacts directory or a trace, which is analyzed for this answer only."
#define NAI_CMD_ONE_SOURCE NAI_CLI_OPERANDS(1, 1, NAI_CMD_SOURCE("SRC"))

/* Options of every command that opens a trace: fields reader (int) and check (bool) of NAI_CLI_ARGS; its threads. */
#define NAI_CMD_TRACE_OPTIONS(reader, check)                                                         \
  NAI_CLI_OPTION(choice, reader, "reader", "KIND",                                                   \
                 "how tables are read, from leaf pages of the mapped file or by the SQLite library", \
                 .choices = nai_cmd_readers),                                                        \
      NAI_CLI_SWITCH(on, check, "check", "check the whole file's integrity first (slow)")
#define NAI_CMD_JOBS_OPTION(jobs) \
  NAI_CLI_OPTION(int, jobs, "jobs", "N", "threads", .letter = 'j', NAI_CLI_RANGE(1, 256), .otherwise = "all processors")
/* A stretch of time on the command line, in seconds. */
#define NAI_CMD_SECONDS NAI_CLI_RANGE(-1000000000, 1000000000)
