/* What is asked for with -r, -f and -o. Internal to src/features/stats. */
#pragma once

#include "features/stats/stats.h"

#include <sys/types.h>

/* --- write.c: formats ---------------------------------------------------------------------------------- */

enum nai_stats_kind {
  NAI_STATS_COLUMN,
  NAI_STATS_TABLE,
  NAI_STATS_CSV,
  NAI_STATS_TSV,
  NAI_STATS_JSON,
  NAI_STATS_HDOC,
  NAI_STATS_HTABLE,
  NAI_STATS_KINDS
};
enum { NAI_STATS_MAX_SHOWN = 64 }; /* columns of a report */
const char *nai_stats_kind_extension(enum nai_stats_kind kind);

struct nai_stats_format {
  enum nai_stats_kind kind;
  bool no_header, no_header_unit, no_conversion;
  int auto_lines, max_width;                   /* 0: all; no limit */
  int width[NAI_STATS_MAX_SHOWN], width_count; /* of the first columns; -1: by its texts; 0: not shown */
  const char *title, *css;
  const struct nai_stats_scale *scale[NAI_STATS_UNITS]; /* NULL: as the report has it */
};
/* format.c: a format as it is typed, NAME:ARGUMENT:..., "." for `otherwise`, and a unit of time, or NULL. Texts are of
 * the arena. */
NAI_MUST_CHECK int nai_stats_format_read(struct nai_stats_format *format, const char *text,
                                         enum nai_stats_kind otherwise, const char *time_unit, struct nai_arena *arena,
                                         struct nai_err *err);
/* Prints a report, and an empty line behind it. */
NAI_MUST_CHECK int nai_stats_write(struct nai_buf *out, const struct nai_stats_report *report,
                                   const struct nai_stats_options *options, struct nai_stats_rows *rows,
                                   const struct nai_stats_format *format, struct nai_err *err);

/* --- program.c: an output that is a program ------------------------------------------------------------- */

struct nai_stats_program {
  pid_t pid; /* 0: none */
  int fd;    /* what is written here it reads */
};
/* Prepares a command as programs[number], behind those that are there: it begins once it is given something. To be
 * called before threads are started and rights given up. `give` waits for its end; NAI_EIO where that was a failure. */
NAI_MUST_CHECK int nai_stats_program_start(struct nai_stats_program *programs, size_t number, const char *words,
                                           struct nai_err *err);
NAI_MUST_CHECK int nai_stats_program_give(struct nai_stats_program *program, const struct nai_buf *text,
                                          const char *words, struct nai_err *err);
void nai_stats_program_free(struct nai_stats_program *program);

/* --- request.c: reports, "NAME:argument:argument" -------------------------------------------------------- */

struct nai_stats_request {
  const char *name, *arguments;    /* as typed: "base:mangled" or "" */
  const char *start, *end, *range; /* of its own filter; NULL: not said */
  const struct nai_stats_report *report;
  struct nai_stats_options options;
};

/* The texts are the arena's, which outlives the request. NAI_EUSAGE for a report or an argument that there is none of.
 */
NAI_MUST_CHECK int nai_stats_read_request(struct nai_stats_request *out, const char *text, struct nai_arena *arena,
                                          struct nai_err *err);
/* NAI_EUSAGE, with the name that is nearest. */
int nai_stats_unknown_report(const char *name, struct nai_err *err);

/* listing.c: all reports, or with a name one of them with its columns ("ALL": all with theirs); the formats. On
 * standard output. */
NAI_MUST_CHECK int nai_stats_list_reports(const char *name, struct nai_err *err);
NAI_MUST_CHECK int nai_stats_list_formats(struct nai_err *err);
/* The file that `output` names: BASE_REPORT[_ARGUMENT...][_nvtx=RANGE].EXTENSION; of the arena. */
const char *nai_stats_request_path(const struct nai_stats_request *request, const char *source, const char *output,
                                   const char *range, enum nai_stats_kind kind, struct nai_arena *arena);
/* The report's own filter, as the source's; times that are said go before those of the range. */
NAI_MUST_CHECK int nai_stats_read_own_filter(struct nai_stats_source *source, const struct nai_stats_request *request,
                                             struct nai_err *err);
