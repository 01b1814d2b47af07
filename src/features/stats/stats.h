/* Reports of `nsys stats`. A report is an entry of data (catalogue.c): its names, the tables it needs, its columns, and
 * a function that makes its rows. Definitions: docs/stats.md. Internal to src/features/stats. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/keyset.h"
#include "base/sort.h"
#include "base/strings.h"
#include "table/stats.h"
#include "table/table.h"
#include "trace/reader.h"

#include <regex.h>

#define NAI_STATS_NULL INT64_MIN /* a cell of an export that holds no number */

/* --- texts.c, rows.c: columns of an export's tables -------------------------------------------------------- */

/* Numbers of source->texts, or NAI_NO_STRING. */
struct nai_stats_name {
  int64_t text, function; /* of a call: its name without `_v` and four digits */
  bool is_known;
};

/* Events that are left in: those that touch [start, end), of this thread and process. */
struct nai_stats_filter {
  bool on;
  int64_t start, end;
  int64_t thread, process; /* globalTid, and its part above the thread; NAI_STATS_NULL: any */
};
static inline bool nai_stats_passes(const struct nai_stats_filter *filter, int64_t start, int64_t end) {
  return !filter->on || (start < filter->end && end >= filter->start);
}

struct nai_stats_source {
  struct nai_trace *trace;
  struct nai_run *run;        /* rows are read from it; NULL: from the trace */
  bool alone;                 /* there is no trace to read them from instead */
  bool canonical;             /* names of ranges may lack what PyTorch writes behind them */
  struct nai_lookup *strings; /* NULL: the export has none */
  struct nai_stats_filter filter;
  struct nai_arena arena;
  struct nai_strings texts;     /* every text that a report prints, cleaned */
  bool unclean;                 /* there was one to clean, which `texts` has as it was, too */
  struct nai_keyset name_ids;   /* ids of StringIds that were asked for */
  struct nai_stats_name *names; /* of each of those */
  uint32_t name_capacity;
};
NAI_MUST_CHECK int nai_stats_source_open(struct nai_stats_source *source, struct nai_trace *trace, struct nai_run *run,
                                         struct nai_err *err);
void nai_stats_source_free(struct nai_stats_source *source);

/* The index-th table of a name that may end in `*`; NULL past the last. */
const char *nai_stats_table(const struct nai_stats_source *source, const char *name, int index);

enum { NAI_STATS_MAX_COLUMNS = 24 };
/* Rows of a table of an export in the order of the file, a column an array. */
struct nai_stats_events {
  uint32_t count;
  int64_t *at[NAI_STATS_MAX_COLUMNS];
};
/* Reads columns by name; of one whose name is written with a `$` in front the cells are numbers of source->texts; "#"
 * is the rowid. What is not there, the whole table included, has no rows or is NAI_STATS_NULL in each. "" leaves the
 * column out. `names` ends with NULL. Of tables of events but NVTX_EVENTS only rows that the source's filter lets
 * through. */
NAI_MUST_CHECK int nai_stats_load(struct nai_stats_events *out, struct nai_stats_source *source, const char *table,
                                  const char *const *names, struct nai_err *err);
/* The same a few thousand rows at a time, which the next block of the part overwrites: `first` is how many rows the
 * parts before it have at most. Parts come side by side, blocks of a part in the order of the file. Before them comes a
 * call with NULL, and with how many rows there are at most. Texts are numbers of the part's own: texts[part] says which
 * of source->texts each is, once all were read. */
typedef int nai_stats_block_fn(void *ctx, const struct nai_stats_events *block, int part, uint32_t first,
                               struct nai_err *err);
NAI_MUST_CHECK int nai_stats_load_blocks(struct nai_stats_source *source, const char *table, const char *const *names,
                                         nai_stats_block_fn *block, void *ctx, int64_t **texts, int parts,
                                         struct nai_err *err);
/* The same for one who adds up: `take` gets all rows at once from an export, block by block from a run. Before them
 * comes a call with how many rows there are at most, without columns. */
typedef int nai_stats_take_fn(void *ctx, const struct nai_stats_events *rows, struct nai_err *err);
NAI_MUST_CHECK int nai_stats_each(struct nai_stats_source *source, const char *table, const char *const *names,
                                  nai_stats_take_fn *take, void *ctx, struct nai_err *err);
/* The text of an id of StringIds as a number of source->texts; NAI_NO_STRING for no such row. */
NAI_MUST_CHECK int nai_stats_name(int64_t *text, struct nai_stats_source *source, int64_t id, struct nai_err *err);
/* The same of a CUDA call, without the version: cudaLaunchKernel_v7000 -> cudaLaunchKernel. A version of five digits
 * stays, as with NVIDIA. */
NAI_MUST_CHECK int nai_stats_function(int64_t *text, struct nai_stats_source *source, int64_t id, struct nai_err *err);
/* Adds a text of this program's. */
NAI_MUST_CHECK int nai_stats_add_text(int64_t *text, struct nai_stats_source *source, const char *words, size_t len,
                                      struct nai_err *err);
NAI_MUST_CHECK int nai_stats_text(int64_t *text, struct nai_stats_source *source, const char *words,
                                  struct nai_err *err);
/* A text by its number, NULL for NAI_NO_STRING and NAI_STATS_NULL. */
static inline const char *nai_stats_text_of(const struct nai_stats_source *source, int64_t text) {
  return text < 0 || text >= source->texts.count ? NULL : nai_strings_get(&source->texts, (uint32_t)text);
}

enum { NAI_STATS_PROCESS_SHIFT = 24 }; /* of a globalTid: below stands the thread */
static inline int64_t nai_stats_pid(int64_t global) {
  return global == NAI_STATS_NULL ? global : (global >> NAI_STATS_PROCESS_SHIFT) & 0xFFFFFF;
}
static inline int64_t nai_stats_tid(int64_t global) { return global == NAI_STATS_NULL ? global : global & 0xFFFFFF; }

/* filter.c: what --filter-time and --filter-nvtx ask for, either may be NULL. The latter names a range:
 * RANGE[@DOMAIN][/INDEX]; `projected`: its time on the GPU counts. `note` gets what somebody should know. */
NAI_MUST_CHECK int nai_stats_filter_read(struct nai_stats_filter *out, const char *times, const char *range,
                                         bool projected, struct nai_buf *note, struct nai_stats_source *source,
                                         struct nai_err *err);

/* --- reports ----------------------------------------------------------------------------------------- */

enum nai_stats_unit {
  NAI_STATS_PLAIN,
  NAI_STATS_TIME,    /* durations, ns */
  NAI_STATS_STAMP,   /* points in time, ns */
  NAI_STATS_MEMORY,  /* bytes */
  NAI_STATS_RATE,    /* bytes per second */
  NAI_STATS_PERCENT, /* printed as it is */
  NAI_STATS_ADDRESS,
  NAI_STATS_UNITS
};

struct nai_stats_cell {
  enum { NAI_STATS_MISSING, NAI_STATS_BLANK, NAI_STATS_INT, NAI_STATS_REAL, NAI_STATS_TEXT } type;
  int64_t i;
  double f;
  const char *text; /* until the next cell is asked for */
};

struct nai_stats_rows;
struct nai_stats_column {
  const char *name;
  enum nai_stats_unit unit;
  void (*cell)(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row, size_t at);
  size_t at;     /* what `cell` is told: a member, a column, a statistic */
  bool quartile; /* shown where quartiles are asked for */
};

/* The text of the stack of a range, kept from row to row: what is around one is mostly around the next, too. */
struct nai_stats_stack {
  struct nai_buf text;
  struct nai_stats_level {
    uint32_t range;
    size_t end; /* of its number in `text` */
  } * at;       /* by level; freed with the rows */
  int32_t count;
};

/* The rows of a report: cells are made when they are printed, by several threads, each with a copy that has a `scratch`
 * and a `stack` of its own. What `state` leads to does not change any more. */
struct nai_stats_rows {
  uint32_t count;
  struct nai_stats_source *source;
  void *state;         /* of the report, of the source's arena */
  const void *records; /* of reports whose rows are structs: these, so large */
  size_t record_bytes;
  bool absent;                            /* the tables hold nothing that the report is about */
  bool quartiles;                         /* are shown */
  const struct nai_stats_column *columns; /* instead of the report's; or NULL */
  const char *note;                       /* what somebody should know beside them; or NULL */
  struct nai_run *run;                    /* of reports that are tables; else NULL */
  const struct nai_table *table;          /* the report; or NULL */
  struct nai_buf scratch;                 /* texts of cells that are put together */
  struct nai_stats_stack stack;           /* of range_traces.c */
};

static inline void nai_stats_rows_free(struct nai_stats_rows *rows) {
  nai_buf_free(&rows->scratch);
  nai_buf_free(&rows->stack.text);
  free(rows->stack.at);
}

enum { NAI_STATS_FLAGS = 2 };
enum nai_stats_naming { NAI_STATS_DEMANGLED, NAI_STATS_BASE, NAI_STATS_MANGLED };

struct nai_stats_report;
struct nai_stats_options {
  const struct nai_stats_report *report;
  bool old;     /* asked for by its name of 2022 */
  int64_t rows; /* of reports that have a limit: the most; -1: all */
  enum nai_stats_naming naming;
  bool nvtx_name;    /* kernels as RANGE/KERNEL */
  int64_t number[2]; /* of the report's arguments of its own */
  bool flag[NAI_STATS_FLAGS];
  bool quartiles;
  const char *name;  /* of reports about one name; NULL where none is needed */
  const char *table; /* of reports that are one */
};

/* An argument NAME=N of a report. */
struct nai_stats_argument {
  const char *name; /* NULL: none */
  int64_t otherwise, least, most;
};

/* Makes the rows of a report: count and state. */
typedef int nai_stats_make_fn(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                              struct nai_err *err);

struct nai_stats_report {
  const char *old, *name; /* of 2022, and since 2023; old may be NULL */
  const char *also;       /* one more of 2022; or NULL */
  const char *title;
  const char *lacks;                          /* "CUDA API": what an export without its tables does not contain */
  const char *tables[5];                      /* any of these is needed; none: a report that never has data here */
  const char *second;                         /* and this one; or NULL */
  const struct nai_stats_column *columns;     /* end with a NULL name */
  const struct nai_stats_column *old_columns; /* NULL: the same */
  int64_t rows;                               /* takes the argument rows: its default; 0: it does not */
  bool named;                                 /* takes the arguments base and mangled */
  bool ranged;                                /* and, by its newer name, nvtx-name */
  struct nai_stats_argument arguments[2];
  const char *flags[NAI_STATS_FLAGS]; /* arguments that are words: what only this program has */
  bool window;                        /* takes the arguments start=, end= and nvtx= */
  const char *advice;                 /* of a rule: what to do about its rows */
  enum { NAI_STATS_NO_NAME, NAI_STATS_NEEDS_NAME, NAI_STATS_MAY_HAVE_NAME } about; /* the argument name=, the last */
  const char *is_table[2]; /* the table of this program that is the report, and that with the first flag; or NULL */
  nai_stats_make_fn *make;
  int what;       /* of several that one function makes */
  bool quartiles; /* always */
};
extern const struct nai_stats_report nai_stats_reports[]; /* end with a NULL title */
/* By either name; NULL. */
const struct nai_stats_report *nai_stats_find(const char *name);
/* Whether it is the report's name of 2022. */
bool nai_stats_is_old(const struct nai_stats_report *report, const char *name);
/* Whether it takes the argument quartiles. */
bool nai_stats_has_quartiles(const struct nai_stats_report *report);
/* The index-th name of those that are here, of either generation. */
const char *nai_stats_names(size_t index, const char *before);

/* What the entries are made of. */
nai_stats_make_fn nai_stats_make_calls, nai_stats_make_kernels, nai_stats_make_copies, nai_stats_make_operations,
    nai_stats_make_ranges, nai_stats_make_gpu_trace, nai_stats_make_call_trace, nai_stats_make_launches,
    nai_stats_make_launch_sums, nai_stats_make_events, nai_stats_make_um, nai_stats_make_um_totals,
    nai_stats_make_um_faults, nai_stats_make_range_kernels, nai_stats_make_projections, nai_stats_make_projection_sums,
    nai_stats_make_push_pop_trace, nai_stats_make_copy_rule, nai_stats_make_sync_calls, nai_stats_make_gaps,
    nai_stats_make_utilization, nai_stats_make_histogram, nai_stats_make_kernel_pace, nai_stats_make_range_pace,
    nai_stats_make_use_map, nai_stats_make_mpi_sizes, nai_stats_make_mpi_trace, nai_stats_make_congestion,
    nai_stats_make_files, nai_stats_make_gpu_metrics, nai_stats_make_nvlink, nai_stats_make_table;
extern const struct nai_stats_column nai_stats_copy_rule_columns[], nai_stats_set_rule_columns[],
    nai_stats_call_rule_columns[], nai_stats_gap_columns[], nai_stats_utilization_columns[],
    nai_stats_histogram_columns[], nai_stats_pace_columns[], nai_stats_use_map_columns[], nai_stats_nccl_map_columns[],
    nai_stats_mpi_map_columns[], nai_stats_mpi_size_columns[], nai_stats_mpi_trace_columns[], nai_stats_video_columns[],
    nai_stats_congestion_columns[], nai_stats_file_columns[], nai_stats_metric_columns[], nai_stats_nvlink_columns[],
    nai_stats_gpu_trace_columns[], nai_stats_old_gpu_trace_columns[], nai_stats_call_trace_columns[],
    nai_stats_launch_columns[], nai_stats_launch_sum_columns[], nai_stats_old_openacc_columns[],
    nai_stats_openmp_columns[], nai_stats_mpi_columns[], nai_stats_um_columns[], nai_stats_old_um_columns[],
    nai_stats_um_total_columns[], nai_stats_um_fault_columns[], nai_stats_range_kernel_columns[],
    nai_stats_projection_columns[], nai_stats_projection_sum_columns[], nai_stats_push_pop_trace_columns[],
    nai_stats_range_columns[], nai_stats_one_style_columns[], nai_stats_call_columns[], nai_stats_kernel_columns[],
    nai_stats_grid_columns[], nai_stats_copy_time_columns[], nai_stats_copy_size_columns[],
    nai_stats_operation_columns[];
/* report->what: which of the reports that one function makes. */
enum { NAI_STATS_ANY_CALLS, NAI_STATS_CUDA_CALLS, NAI_STATS_OSRT_CALLS };
enum { NAI_STATS_BY_KERNEL, NAI_STATS_BY_GRID };
enum { NAI_STATS_COPY_TIMES, NAI_STATS_COPY_SIZES };
enum { NAI_STATS_GPU_ONLY, NAI_STATS_WITH_CALLS };
enum { NAI_STATS_ALL_RANGES, NAI_STATS_PUSH_POP_RANGES, NAI_STATS_START_END_RANGES };
enum { NAI_STATS_NAMED_EVENTS, NAI_STATS_MPI_EVENTS, NAI_STATS_OPENACC_EVENTS };
enum { NAI_STATS_ASYNC_COPIES, NAI_STATS_SYNC_COPIES, NAI_STATS_SYNC_SETS };
enum { NAI_STATS_ON_THE_HOST, NAI_STATS_ON_THE_GPU };
enum { NAI_STATS_KERNEL_MAP, NAI_STATS_NCCL_MAP, NAI_STATS_MPI_MAP };
/* Defines a column's function, of what puts its cell. */
#define NAI_STATS_CELL(function, ...)                                                                      \
  static void function(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row, size_t at) { \
    (void)rows, (void)row, (void)at;                                                                       \
    __VA_ARGS__;                                                                                           \
  }
#define NAI_STATS_MPI "MPI_P2P_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_OTHER_EVENTS", "MPI_COLLECTIVES_EVENTS"

/* --- groups.c: statistics by group -------------------------------------------------------------------- */

/* Numbers of keys: most rows have one that came before, which is found by a few instructions. */
struct nai_stats_keys {
  struct nai_strings known;
  uint32_t *recent; /* numbers + 1, by the keys' hash */
};
NAI_MUST_CHECK int nai_stats_keys_begin(struct nai_stats_keys *keys, struct nai_arena *arena, struct nai_err *err);
/* Of `count` numbers, the same for all keys; NAI_NO_STRING when out of memory. */
uint32_t nai_stats_key_find(struct nai_stats_keys *keys, const int64_t *key, int count);

enum { NAI_STATS_MAX_KEYS = 8 };
struct nai_stats_group {
  struct nai_stats stats;
  int64_t key[NAI_STATS_MAX_KEYS];
  const char *name; /* NULL: the key has no text */
  uint32_t id;      /* in the order in which groups first came */
};
enum nai_stats_ties { NAI_STATS_BY_KEY, NAI_STATS_BY_NAME, NAI_STATS_BY_COUNT /* then by name */ };
struct nai_stats_groups {
  int keys; /* of each group */
  uint32_t rows, count;
  struct nai_stats_keys of;
  uint32_t *group; /* of each row */
  int64_t *value;
  uint32_t *weight; /* so many rows; NULL: each is one */
  uint32_t capacity, weight_capacity;
  struct nai_stats *stats;        /* by id */
  struct nai_stats_group *sorted; /* by total, descending */
  double total;
  uint32_t *direct; /* numbers + 1 of single keys that are small */
  uint32_t direct_capacity;
};
/* Room for `rows` values in groups of `keys` numbers each; more of them make more. */
NAI_MUST_CHECK int nai_stats_groups_begin(struct nai_stats_groups *groups, struct nai_stats_source *source, int keys,
                                          uint64_t rows, struct nai_err *err);
NAI_MUST_CHECK int nai_stats_groups_add(struct nai_stats_groups *groups, const int64_t *key, int64_t value,
                                        struct nai_err *err);
/* The same where the group's number is known: that of its key in `of`. */
NAI_MUST_CHECK int nai_stats_groups_put(struct nai_stats_groups *groups, uint32_t group, int64_t value,
                                        struct nai_err *err);
/* The same of so many equal values at once. */
NAI_MUST_CHECK int nai_stats_groups_add_some(struct nai_stats_groups *groups, const int64_t *key, int64_t value,
                                             uint32_t count, struct nai_err *err);
/* Makes room for so many more values. */
NAI_MUST_CHECK int nai_stats_groups_expect(struct nai_stats_groups *groups, uint64_t more, struct nai_err *err);
/* Statistics of each group. Where `name_key` is no less than 0, that key is a number of source->texts. */
NAI_MUST_CHECK int nai_stats_groups_finish(struct nai_stats_groups *groups, struct nai_stats_source *source,
                                           int name_key, enum nai_stats_ties ties, struct nai_err *err);

/* recipes.c: a regular expression (POSIX, extended) that somebody typed; NULL matches all. */
struct nai_stats_pattern {
  regex_t regex;
  bool is_set;
};
NAI_MUST_CHECK int nai_stats_pattern_read(struct nai_stats_pattern *out, const char *text, struct nai_err *err);
bool nai_stats_pattern_matches(const struct nai_stats_pattern *pattern, const char *text); /* NULL: no text */
static inline void nai_stats_pattern_free(struct nai_stats_pattern *pattern) {
  if (pattern->is_set)
    regfree(&pattern->regex);
}

/* Bytes per second as NVIDIA computes it: bytes times the whole number of such times in a second. ns > 0. */
double nai_stats_rate(int64_t bytes, int64_t ns);
/* Cells. A number with one decimal, half away from zero; what is not finite is missing. NULL is missing. */
void nai_stats_put_int(struct nai_stats_cell *out, int64_t value); /* NAI_STATS_NULL is missing */
void nai_stats_put_real(struct nai_stats_cell *out, double value);
void nai_stats_put_rounded(struct nai_stats_cell *out, double value);
void nai_stats_put_text(struct nai_stats_cell *out, const char *text);
/* cells.c: columns. Of reports whose rows are structs a member: an int64_t, one that is a number of source->texts, a
 * double. */
typedef void nai_stats_cell_fn(struct nai_stats_cell *, struct nai_stats_rows *, uint32_t row, size_t at);
nai_stats_cell_fn nai_stats_int, nai_stats_text_number, nai_stats_real, nai_stats_rounded, nai_stats_number_of_row;
#define NAI_STATS_NUMBER(type, member) nai_stats_int, offsetof(struct type, member)
#define NAI_STATS_WORDS(type, member) nai_stats_text_number, offsetof(struct type, member)
#define NAI_STATS_MEASURE(type, member) nai_stats_real, offsetof(struct type, member)
#define NAI_STATS_ROUNDED(type, member) nai_stats_rounded, offsetof(struct type, member)
/* Makes structs the rows of a report: `count` of them, of which it has no more than `most`; -1: any number. */
void nai_stats_show_records(struct nai_stats_rows *rows, const void *records, size_t bytes, uint32_t count,
                            int64_t most);
/* Of rows whose state is a struct nai_stats_groups: a statistic, a member of struct nai_stats; a key; a key that is a
 * number of source->texts. */
nai_stats_cell_fn nai_stats_group_int, nai_stats_group_rounded, nai_stats_group_real, nai_stats_group_key,
    nai_stats_group_text, nai_stats_group_name, nai_stats_group_percent, nai_stats_group_median;
static inline const struct nai_stats_group *nai_stats_group_of(const struct nai_stats_rows *rows, uint32_t row) {
  return &((const struct nai_stats_groups *)rows->state)->sorted[row];
}
#define NAI_STATS_OF(function, member) nai_stats_group_##function, offsetof(struct nai_stats, member)
#define NAI_STATS_COUNT NAI_STATS_OF(int, count)
#define NAI_STATS_TOTAL NAI_STATS_OF(int, total)
#define NAI_STATS_QUARTILES_OF(before, unit, cell) \
  {before "Q1", unit, NAI_STATS_OF(cell, p25), true}, { before "Q3", unit, NAI_STATS_OF(cell, p75), true }
#define NAI_STATS_SPREAD_OF(before)                                                                                   \
  {before "Avg", NAI_STATS_TIME, NAI_STATS_OF(rounded, mean)},                                                        \
      {before "Med", NAI_STATS_TIME, NAI_STATS_OF(rounded, p50)},                                                     \
      {before "Min", NAI_STATS_TIME, NAI_STATS_OF(int, min)}, {before "Max", NAI_STATS_TIME, NAI_STATS_OF(int, max)}, \
      {before "StdDev", NAI_STATS_TIME, NAI_STATS_OF(rounded, stddev)},                                               \
      NAI_STATS_QUARTILES_OF(before, NAI_STATS_TIME, rounded)
/* Times, and their statistics; the share of the total and how many of them. */
#define NAI_STATS_SPREAD NAI_STATS_SPREAD_OF("")
#define NAI_STATS_SUMS(counted)                                                                          \
  {"Time", NAI_STATS_PERCENT, nai_stats_group_percent}, {"Total Time", NAI_STATS_TIME, NAI_STATS_TOTAL}, \
      {counted, NAI_STATS_PLAIN, NAI_STATS_COUNT}, NAI_STATS_SPREAD
/* Numbers of bytes, not rounded. */
#define NAI_STATS_SIZE_SPREAD                                                                               \
  {"Avg", NAI_STATS_MEMORY, NAI_STATS_OF(real, mean)}, {"Med", NAI_STATS_MEMORY, nai_stats_group_median},   \
      {"Min", NAI_STATS_MEMORY, NAI_STATS_OF(int, min)}, {"Max", NAI_STATS_MEMORY, NAI_STATS_OF(int, max)}, \
      {"StdDev", NAI_STATS_MEMORY, NAI_STATS_OF(real, stddev)}, NAI_STATS_QUARTILES_OF("", NAI_STATS_MEMORY, real)
/* Equal totals stand in the order of the export's ids of their names, which a run does not keep: NAI_ESTALE, or a note
 * where there is nothing but the run. */
NAI_MUST_CHECK int nai_stats_check_ties(struct nai_stats_rows *rows, const struct nai_stats_groups *groups,
                                        struct nai_err *err);
/* Makes groups the rows of a report. */
NAI_MUST_CHECK int nai_stats_show_groups(struct nai_stats_rows *rows, struct nai_stats_groups *groups, int name_key,
                                         enum nai_stats_ties ties, struct nai_err *err);
/* Whether both are times of a capture: such can be subtracted. */
static inline bool nai_stats_has_times(int64_t start, int64_t end) {
  const int64_t limit = INT64_C(1) << 61;
  return start > -limit && start < limit && end > -limit && end < limit;
}
/* Adds up what may be any number: the sum stays within what fits. */
static inline void nai_stats_add(int64_t *sum, int64_t value) {
  if (__builtin_add_overflow(*sum, value, sum))
    *sum = value < 0 ? INT64_MIN + 1 : INT64_MAX;
}

/* rows.c: whether the source has the tables that the report needs. */
NAI_MUST_CHECK int nai_stats_has_tables(bool *has, struct nai_stats_source *source,
                                        const struct nai_stats_report *report, struct nai_err *err);
enum { NAI_STATS_OSRT_CLASS = 27 }; /* of a call of the OS runtime */
/* run_export.c: path of the export that the run in `directory` was made from, looked for where we are, in the
 * directory and in the two around it. NAI_EINPUT when it is not there. */
NAI_MUST_CHECK int nai_stats_run_export(char path[PATH_MAX], const struct nai_run *run, struct nai_err *err);

/* --- units.c --------------------------------------------------------------------------------------------- */

struct nai_stats_scale;
/* One decimal, half away from zero, of the shortest decimal number that is `value`. */
double nai_stats_round(double value);
/* A unit of that kind by one of its names; NULL. */
const struct nai_stats_scale *nai_stats_scale_find(enum nai_stats_unit unit, const char *name);
const struct nai_stats_scale *nai_stats_scale_default(enum nai_stats_unit unit);
/* What stands in parentheses in a header. */
void nai_stats_put_unit(struct nai_buf *out, enum nai_stats_unit unit, const struct nai_stats_scale *scale, bool old);
/* A whole number. */
void nai_stats_put_digits(struct nai_buf *out, int64_t value);
/* A number in that unit, NULL: as it is, which nearly all of a long report are. */
void nai_stats_put_scaled(struct nai_buf *out, const struct nai_stats_cell *cell, const struct nai_stats_scale *scale);
static inline void nai_stats_put_number(struct nai_buf *out, const struct nai_stats_cell *cell,
                                        const struct nai_stats_scale *scale) {
  if (cell->type == NAI_STATS_INT && !scale)
    nai_stats_put_digits(out, cell->i);
  else
    nai_stats_put_scaled(out, cell, scale);
}
