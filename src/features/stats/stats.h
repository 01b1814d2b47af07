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
  bool canonical;             /* names are read without what PyTorch writes behind those of ranges */
  const char *before_texts;   /* that texts of rows are read with; NULL: nothing */
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
                                         nai_stats_block_fn *block, void *ctx, uint32_t **texts, int parts,
                                         struct nai_err *err);
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
/* rank[text]: the place of each text of the source in the order of strcmp. */
NAI_MUST_CHECK int nai_stats_rank_texts(uint32_t **rank, struct nai_stats_source *source, struct nai_err *err);
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
  uint32_t number;  /* of source->texts + 1; 0: it is none of those */
};

/* What a column shows: what lies `at` so many bytes into the row's record. */
enum nai_stats_shown {
  NAI_STATS_SHOWS_CELL,    /* what `cell` makes of it */
  NAI_STATS_SHOWS_INT,     /* an int64_t; NAI_STATS_NULL is missing */
  NAI_STATS_SHOWS_REAL,    /* a double; what is not finite is missing */
  NAI_STATS_SHOWS_ROUNDED, /* the same with one decimal, half away from zero */
  NAI_STATS_SHOWS_TEXT,    /* an int64_t, a number of source->texts; what is none is missing */
  NAI_STATS_SHOWS_NAME     /* the same; what is none is an empty text */
};
struct nai_stats_rows;
struct nai_stats_column {
  const char *name;
  enum nai_stats_unit unit;
  enum nai_stats_shown shows;
  size_t at;
  bool quartile; /* shown where quartiles are asked for */
  bool of_kind;  /* shows the same in all rows of a kind (struct nai_stats_rows) */
  void (*cell)(struct nai_stats_cell *out, struct nai_stats_rows *rows, const void *record, size_t at);
};
#define NAI_STATS_NUMBER(type, member) NAI_STATS_SHOWS_INT, offsetof(struct type, member)
#define NAI_STATS_MEASURE(type, member) NAI_STATS_SHOWS_REAL, offsetof(struct type, member)
#define NAI_STATS_ROUNDED(type, member) NAI_STATS_SHOWS_ROUNDED, offsetof(struct type, member)
#define NAI_STATS_WORDS(type, member) NAI_STATS_SHOWS_TEXT, offsetof(struct type, member)
#define NAI_STATS_NAME(type, member) NAI_STATS_SHOWS_NAME, offsetof(struct type, member)
/* Shown by a function. */
#define NAI_STATS_MADE(function) NAI_STATS_SHOWS_CELL, .cell = (function)

/* The text of the stack of a range, kept from row to row: what is around one is mostly around the next, too. */
struct nai_stats_stack {
  struct nai_buf text;
  struct nai_stats_level {
    uint32_t range;
    size_t end; /* of its number in `text` */
  } * at;       /* by level; freed with the rows */
  int32_t count;
};

enum { NAI_STATS_RECORD_BYTES = 256 };
/* The rows of a report: they are printed by several threads, each with a copy that has a `record`, a `scratch` and a
 * `stack` of its own. What `state` leads to does not change any more. */
struct nai_stats_rows {
  uint32_t count;
  struct nai_stats_source *source;
  const void *records; /* a struct per row, each so large; or */
  size_t record_bytes;
  void (*fill)(void *record, const struct nai_stats_rows *rows, uint32_t row); /* makes that of a row, in `record` */
  int64_t record[NAI_STATS_RECORD_BYTES / sizeof(int64_t)];
  const uint32_t *kinds;                  /* where there are kinds of rows: of each one row */
  uint32_t kind_count;                    /* 0: there are none */
  size_t kind_at;                         /* where the number of its kind, an int64_t, lies in a record */
  const void *state;                      /* of the report, of the source's arena */
  bool absent;                            /* the tables hold nothing that the report is about */
  bool quartiles;                         /* are shown */
  const struct nai_stats_column *columns; /* instead of the report's; or NULL */
  const char *note;                       /* what somebody should know beside them; or NULL */
  struct nai_run *run;                    /* of reports that are tables; else NULL */
  const struct nai_table *table;          /* the report; or NULL */
  struct nai_buf scratch;                 /* texts of cells that are put together */
  struct nai_stats_stack stack;           /* of range_traces.c */
};

static inline void nai_stats_show_kinds(struct nai_stats_rows *rows, const uint32_t *kinds, uint32_t count, size_t at) {
  rows->kinds = kinds;
  rows->kind_count = count;
  rows->kind_at = at;
}
static inline const void *nai_stats_record_of(struct nai_stats_rows *rows, uint32_t row) {
  if (!rows->fill)
    return (const char *)rows->records + row * rows->record_bytes;
  rows->fill(rows->record, rows, row);
  return rows->record;
}
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
enum { NAI_STATS_OPENMP_EVENTS, NAI_STATS_MPI_EVENTS, NAI_STATS_OPENACC_EVENTS, NAI_STATS_VIDEO_EVENTS };
enum { NAI_STATS_ASYNC_COPIES, NAI_STATS_SYNC_COPIES, NAI_STATS_SYNC_SETS };
enum { NAI_STATS_ON_THE_HOST, NAI_STATS_ON_THE_GPU };
enum { NAI_STATS_KERNEL_MAP, NAI_STATS_NCCL_MAP, NAI_STATS_MPI_MAP };
#define NAI_STATS_MPI "MPI_P2P_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_OTHER_EVENTS", "MPI_COLLECTIVES_EVENTS"

/* --- groups.c: statistics by group -------------------------------------------------------------------- */

/* Numbers of keys, each of `width` numbers, in the order in which they first came. */
struct nai_stats_keys {
  struct nai_arena *arena;
  int width, more; /* more: room behind each key, 0 at first */
  int64_t *at;
  uint32_t count, capacity;
  uint32_t *slots; /* number + 1 by hash, 0: free */
  uint32_t slot_count;
  uint32_t *small; /* the same by the key, of keys of one number that is small, as those of texts are */
  uint32_t small_capacity;
};
/* NAI_NO_STRING when out of memory. */
uint32_t nai_stats_key_find(struct nai_stats_keys *keys, const int64_t *key);
/* The same of a key that is not there. It is not to be found: a caller who adds keys knows them. */
uint32_t nai_stats_key_add(struct nai_stats_keys *keys, const int64_t *key);
static inline const int64_t *nai_stats_key_of(const struct nai_stats_keys *keys, uint32_t number) {
  return keys->at + (size_t)number * (size_t)(keys->width + keys->more);
}

enum { NAI_STATS_MAX_KEYS = 8, NAI_STATS_MORE_KEYS = 2 };
/* There are hundreds of thousands of them where ranges have numbers: they are small. */
struct nai_stats_group {
  const struct nai_stats *stats;
  double percent; /* of the total of all; NaN where that is none */
  int64_t *key;   /* behind those of the group there is room for two more that the report shows of it */
  uint32_t keys;  /* those with it */
  uint32_t id;    /* in the order in which groups first came */
};
/* The row of most reports. */
struct nai_stats_group_row {
  struct nai_stats stats;
  double percent;
  int64_t key[NAI_STATS_MAX_KEYS];
};
static inline void nai_stats_fill_group(struct nai_stats_group_row *out, const struct nai_stats_group *group) {
  out->stats = *group->stats;
  out->percent = group->percent;
  memcpy(out->key, group->key, group->keys * sizeof *group->key);
}
/* Of equal totals; NAI_STATS_UNORDERED: the caller puts all groups in order. */
enum nai_stats_ties { NAI_STATS_BY_KEY, NAI_STATS_BY_NAME, NAI_STATS_BY_COUNT /* then by name */, NAI_STATS_UNORDERED };
struct nai_stats_groups {
  struct nai_stats_keys of;
  uint32_t rows, count, capacity;
  uint32_t *group; /* of each row */
  int64_t *value;
  uint32_t *more; /* so many more rows like it; NULL: each is one */
  uint32_t more_capacity;
  struct nai_stats_group *sorted; /* by total, descending */
};
/* Room for `rows` values in groups of `keys` numbers each; more of them make more, those that are expected at once. */
NAI_MUST_CHECK int nai_stats_groups_begin(struct nai_stats_groups *groups, struct nai_stats_source *source, int keys,
                                          uint64_t rows, struct nai_err *err);
NAI_MUST_CHECK int nai_stats_groups_expect(struct nai_stats_groups *groups, uint64_t more, struct nai_err *err);
NAI_MUST_CHECK int nai_stats_groups_add(struct nai_stats_groups *groups, const int64_t *key, int64_t value,
                                        struct nai_err *err);
/* The same of so many equal values at once. */
NAI_MUST_CHECK int nai_stats_groups_add_some(struct nai_stats_groups *groups, const int64_t *key, int64_t value,
                                             uint32_t count, struct nai_err *err);
/* The same by the number of the group in groups->of. */
NAI_MUST_CHECK int nai_stats_groups_put(struct nai_stats_groups *groups, uint32_t group, int64_t value, uint32_t count,
                                        struct nai_err *err);
/* Adds the rows of other groups behind those that there are; numbers[g]: what their group g is called here. */
NAI_MUST_CHECK int nai_stats_groups_join(struct nai_stats_groups *groups, uint32_t *numbers,
                                         const struct nai_stats_groups *other, struct nai_err *err);
/* Statistics of values by group, with the deviation that NVIDIA computes. */
NAI_MUST_CHECK int nai_stats_describe(struct nai_stats *stats, uint32_t groups, const struct nai_values *values,
                                      struct nai_err *err);
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
/* cells.c: what columns hold. */
void nai_stats_put_int(struct nai_stats_cell *out, int64_t value);
void nai_stats_put_real(struct nai_stats_cell *out, double value);     /* what is not finite is missing */
void nai_stats_put_text(struct nai_stats_cell *out, const char *text); /* NULL is missing */
/* Makes structs the rows of a report: `count` of them, of which it has no more than `most`; -1: any number. */
void nai_stats_show_records(struct nai_stats_rows *rows, const void *records, size_t bytes, uint32_t count,
                            int64_t most);
/* Of groups: a statistic, a member of struct nai_stats; a key, of source->texts or not. */
#define NAI_STATS_OF(shows, member) NAI_STATS_##shows(nai_stats_group_row, stats.member)
#define NAI_STATS_COUNT NAI_STATS_OF(NUMBER, count)
#define NAI_STATS_TOTAL NAI_STATS_OF(NUMBER, total)
#define NAI_STATS_KEY(number) NAI_STATS_NUMBER(nai_stats_group_row, key[number])
#define NAI_STATS_KEY_WORDS(number) NAI_STATS_WORDS(nai_stats_group_row, key[number])
#define NAI_STATS_KEY_NAME(number) NAI_STATS_NAME(nai_stats_group_row, key[number])
#define NAI_STATS_QUARTILES_OF(before, unit, shows) \
  {before "Q1", unit, NAI_STATS_OF(shows, p25), true}, { before "Q3", unit, NAI_STATS_OF(shows, p75), true }
#define NAI_STATS_SPREAD_OF(before)                                     \
  {before "Avg", NAI_STATS_TIME, NAI_STATS_OF(ROUNDED, mean)},          \
      {before "Med", NAI_STATS_TIME, NAI_STATS_OF(ROUNDED, p50)},       \
      {before "Min", NAI_STATS_TIME, NAI_STATS_OF(NUMBER, min)},        \
      {before "Max", NAI_STATS_TIME, NAI_STATS_OF(NUMBER, max)},        \
      {before "StdDev", NAI_STATS_TIME, NAI_STATS_OF(ROUNDED, stddev)}, \
      NAI_STATS_QUARTILES_OF(before, NAI_STATS_TIME, ROUNDED)
#define NAI_STATS_PERCENT_OF_ALL NAI_STATS_ROUNDED(nai_stats_group_row, percent)
/* Times, and their statistics; the share of the total and how many of them. */
#define NAI_STATS_SPREAD NAI_STATS_SPREAD_OF("")
#define NAI_STATS_SUMS(counted)                                                                           \
  {"Time", NAI_STATS_PERCENT, NAI_STATS_PERCENT_OF_ALL}, {"Total Time", NAI_STATS_TIME, NAI_STATS_TOTAL}, \
      {counted, NAI_STATS_PLAIN, NAI_STATS_COUNT}, NAI_STATS_SPREAD
/* Numbers of bytes, not rounded. */
#define NAI_STATS_SIZE_SPREAD                                                                                     \
  {"Avg", NAI_STATS_MEMORY, NAI_STATS_OF(MEASURE, mean)},                                                         \
      {"Med", NAI_STATS_MEMORY, NAI_STATS_MADE(nai_stats_group_median)},                                          \
      {"Min", NAI_STATS_MEMORY, NAI_STATS_OF(NUMBER, min)}, {"Max", NAI_STATS_MEMORY, NAI_STATS_OF(NUMBER, max)}, \
      {"StdDev", NAI_STATS_MEMORY, NAI_STATS_OF(MEASURE, stddev)},                                                \
      NAI_STATS_QUARTILES_OF("", NAI_STATS_MEMORY, MEASURE)
void nai_stats_group_median(struct nai_stats_cell *out, struct nai_stats_rows *rows, const void *record, size_t at);
/* Equal totals stand in the order of the export's ids of their names, which a run does not keep: NAI_ESTALE, or a note
 * where there is nothing but the run. */
NAI_MUST_CHECK int nai_stats_check_ties(struct nai_stats_rows *rows, const struct nai_stats_groups *groups,
                                        struct nai_err *err);
/* Makes a key of each group, which counts `words`, the number of that text. */
NAI_MUST_CHECK int nai_stats_name_keys(const struct nai_stats_groups *groups, struct nai_stats_source *source, int key,
                                       const char *const *words, struct nai_err *err);
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
