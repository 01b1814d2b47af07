/* What ran on GPUs, and the calls that launched it. Internal to src/features/stats. */
#pragma once

#include "features/stats/ranges.h"

/* Columns of a struct nai_stats_events. Of memsets the kind of memory is the source's; what kernels, copies or memsets
 * have not is left out. */
enum {
  NAI_STATS_OP_START,
  NAI_STATS_OP_END,
  NAI_STATS_OP_CORRELATION,
  NAI_STATS_OP_BYTES,
  NAI_STATS_OP_PROCESS,
  NAI_STATS_OP_GRID,
  NAI_STATS_OP_BLOCK = NAI_STATS_OP_GRID + 3,
  NAI_STATS_OP_REGISTERS = NAI_STATS_OP_BLOCK + 3,
  NAI_STATS_OP_STATIC,
  NAI_STATS_OP_DYNAMIC,
  NAI_STATS_OP_FROM,
  NAI_STATS_OP_TO,
  NAI_STATS_OP_DEVICE,
  NAI_STATS_OP_CONTEXT,
  NAI_STATS_OP_GREEN,
  NAI_STATS_OP_STREAM,
  NAI_STATS_OP_NAME, /* of source->texts, NAI_NO_STRING for none */
  NAI_STATS_OP_DEMANGLED,
  NAI_STATS_OP_COLUMNS,
  NAI_STATS_OP_UNNAMED = NAI_STATS_OP_COLUMNS
};
enum nai_stats_what { NAI_STATS_KERNELS, NAI_STATS_COPIES, NAI_STATS_SETS };
/* Times, names unless _UNNAMED is wanted, and the columns whose bits are in `wanted`. Copies of a kind that reports do
 * not know have no name. */
NAI_MUST_CHECK int nai_stats_load_operations(struct nai_stats_events *out, struct nai_stats_source *source,
                                             enum nai_stats_what what, uint32_t wanted,
                                             const struct nai_stats_options *options, struct nai_err *err);

/* kinds.c: the same, of which most columns hold a few different rows: from NAI_STATS_OP_KIND on those are kinds. */
enum { NAI_STATS_OP_KIND = NAI_STATS_OP_PROCESS, NAI_STATS_KIND_COLUMNS = NAI_STATS_OP_COLUMNS - NAI_STATS_OP_KIND };
struct nai_stats_operations {
  struct nai_stats_events events; /* the other columns */
  uint32_t *kind;                 /* of each: its number */
};
/* Adds kinds to those that there are, with their names: keys so wide, NAI_STATS_NULL for what is not wanted. */
NAI_MUST_CHECK int nai_stats_load_kinds(struct nai_stats_operations *out, struct nai_stats_keys *kinds,
                                        struct nai_stats_source *source, enum nai_stats_what what, uint32_t wanted,
                                        const struct nai_stats_options *options, struct nai_err *err);
static inline int64_t *nai_stats_of_kind(const struct nai_stats_keys *kinds, uint32_t kind, int column) {
  return &kinds->at[(size_t)kind * NAI_STATS_KIND_COLUMNS + (size_t)(column - NAI_STATS_OP_KIND)];
}
/* For kinds.c: what is read, for nai_stats_load. The same without names; and names: of kinds. */
const char *nai_stats_choose_columns(const char *columns[NAI_STATS_OP_COLUMNS + 1], enum nai_stats_what what,
                                     uint32_t wanted, const struct nai_stats_options *options);
NAI_MUST_CHECK int nai_stats_name_operations(struct nai_stats_events *events, struct nai_stats_source *source,
                                             enum nai_stats_what what, const struct nai_stats_options *options,
                                             struct nai_err *err);

/* range_names.c: renames kernels, whose process and correlation are there, by the ranges around their launches. */
NAI_MUST_CHECK int nai_stats_name_by_range(struct nai_stats_events *kernels, struct nai_stats_source *source,
                                           struct nai_err *err);

enum {
  NAI_STATS_CALL_START,
  NAI_STATS_CALL_END,
  NAI_STATS_CALL_NAME, /* of source->texts, the version cut, unless _WHOLE is wanted */
  NAI_STATS_CALL_THREAD,
  NAI_STATS_CALL_CORRELATION,
  NAI_STATS_CALL_RESULT,
  NAI_STATS_CALL_COLUMNS,
  NAI_STATS_CALL_WHOLE = NAI_STATS_CALL_COLUMNS
};
/* Times, and the columns whose bits are in `wanted`. */
NAI_MUST_CHECK int nai_stats_load_calls(struct nai_stats_events *out, struct nai_stats_source *source, uint32_t wanted,
                                        struct nai_err *err);

/* Calls by process and correlation id. */
struct nai_stats_calls {
  struct nai_stats_events events;
  uint32_t *slots; /* hashed: row + 1 of the first call of a pair, 0: free */
  int shift;       /* of the hash */
};
NAI_MUST_CHECK int nai_stats_index_calls(struct nai_stats_calls *out, struct nai_stats_source *source, uint32_t wanted,
                                         struct nai_err *err);
/* The same in two steps: calls of any time, and their index. */
NAI_MUST_CHECK int nai_stats_load_all_calls(struct nai_stats_calls *out, struct nai_stats_source *source,
                                            uint32_t wanted, struct nai_err *err);
NAI_MUST_CHECK int nai_stats_fill_index(struct nai_stats_calls *out, struct nai_arena *arena, struct nai_err *err);
/* launches.c: the same, and kernels, with what tells their calls. */
NAI_MUST_CHECK int nai_stats_load_launches(struct nai_stats_calls *calls, uint32_t wanted_calls,
                                           struct nai_stats_events *kernels, uint32_t wanted,
                                           struct nai_stats_source *source, const struct nai_stats_options *options,
                                           struct nai_err *err);
/* Of each row of operations the call that launched it; UINT32_MAX for none. `process`, `correlation`: their columns. */
NAI_MUST_CHECK int nai_stats_find_calls(uint32_t **out, const struct nai_stats_calls *calls,
                                        const struct nai_stats_events *events, int process, int correlation,
                                        struct nai_arena *arena, struct nai_err *err);
/* As what lies in ranges. */
struct nai_stats_item nai_stats_item_of(const struct nai_stats_calls *calls, uint32_t call);
enum { NAI_STATS_MEMORY_KINDS = 8 };
/* What kinds of memory are called, as numbers of source->texts. */
NAI_MUST_CHECK int nai_stats_name_memory(int64_t kinds[NAI_STATS_MEMORY_KINDS], struct nai_stats_source *source,
                                         bool old, struct nai_err *err);
/* A grid or a block as `   2    1    1`, a number of source->texts; NAI_STATS_NULL for none. */
NAI_MUST_CHECK int nai_stats_size_text(int64_t *text, struct nai_stats_source *source, const int64_t size[3],
                                       struct nai_err *err);
