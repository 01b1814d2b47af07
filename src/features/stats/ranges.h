/* NVTX ranges, and what lies inside them. Internal to src/features/stats. */
#pragma once

#include "features/stats/stats.h"

#include "base/keyset.h"
#include "base/threads.h"

/* --- ranges.c: NVTX ---------------------------------------------------------------------------------- */

enum nai_stats_style { NAI_STATS_PUSH_POP, NAI_STATS_START_END };
enum { NAI_STATS_WORDS_BITS = 30 };
/* There are millions of them: they are small. */
struct nai_stats_range {
  int64_t start, end, thread, rowid;     /* thread: globalTid */
  uint32_t name;                         /* of source->texts, the domain included; NAI_NO_STRING: none */
  uint32_t words : NAI_STATS_WORDS_BITS; /* of nai_stats_ranges.words */
  bool push_pop : 1;
  bool crosses : 1; /* it is ended by a thread that the export names: it holds nothing */
};
static inline enum nai_stats_style nai_stats_style_of(const struct nai_stats_range *range) {
  return range->push_pop ? NAI_STATS_PUSH_POP : NAI_STATS_START_END;
}
struct nai_stats_ranges {
  uint32_t count;
  struct nai_stats_range *at; /* in the order of the file */
  struct nai_stats_words {
    uint32_t domain, text, name; /* of source->texts, NAI_NO_STRING: none */
  } * words;
  uint32_t names;    /* numbers of names are below it */
  int64_t styles[2]; /* what they are called, of source->texts: PushPop, StartEnd */
  /* containment.c: those that can hold something, by thread and start; NULL: not yet */
  uint32_t *ordered, ordered_count;
  struct nai_keyset threads; /* their globalTid */
  uint32_t *of_thread;       /* where in `ordered` those of each begin; one more is the end */
};
/* Something that happens on a thread, as the call that launched an operation. */
struct nai_stats_item {
  int64_t start, end, thread;
};
/* When items begin, by thread. A range in which none does holds none, nor does any in it. */
struct nai_stats_begins {
  struct nai_keyset threads; /* their globalTid */
  uint32_t *of_thread;       /* where in `at` those of each begin; one more is the end */
  struct nai_key *at;        /* starts, ascending */
};
NAI_MUST_CHECK int nai_stats_read_begins(struct nai_stats_begins *out, const struct nai_stats_item *items,
                                         uint32_t count, struct nai_arena *arena, struct nai_err *err);
/* Whether one of the thread begins in [start, end]. near[thread]: a place to look at first, where it was found last. */
bool nai_stats_begins_in(const struct nai_stats_begins *begins, uint32_t *near, int64_t thread, int64_t start,
                         int64_t end);

enum nai_stats_styles { NAI_STATS_BOTH_STYLES, NAI_STATS_ONLY_PUSH_POP };
/* Ranges. One without end lasts until the latest time of any row of NVTX (of 2022), of any of these ranges (since).
 * `only`: those in which one of these items begins; NULL: all. */
NAI_MUST_CHECK int nai_stats_load_ranges(struct nai_stats_ranges *out, struct nai_stats_source *source, bool old,
                                         enum nai_stats_styles styles, const struct nai_stats_begins *only,
                                         struct nai_err *err);
struct nai_stats_moment {
  int64_t start, end;
};
/* Something that ran on a GPU, under a name of source->texts. */
struct nai_stats_instance {
  int64_t start, end, device, name; /* device: as in the export */
};
/* --- containment.c: what lies inside which range --------------------------------------------------------- */

/* Items by thread and start, of threads that have ranges. */
struct nai_stats_turns {
  const struct nai_stats_item *items;
  uint32_t *at;        /* numbers of items */
  uint32_t *of_thread; /* as of ranges */
};
/* Ranges are ordered, too. */
NAI_MUST_CHECK int nai_stats_order_items(struct nai_stats_turns *out, struct nai_stats_ranges *ranges,
                                         const struct nai_stats_item *items, uint32_t count, struct nai_arena *arena,
                                         struct nai_err *err);
NAI_MUST_CHECK int nai_stats_order_ranges(struct nai_stats_ranges *ranges, struct nai_arena *arena,
                                          struct nai_err *err);
/* fn(ctx, thread, err) of each thread that has ranges, side by side. */
NAI_MUST_CHECK int nai_stats_each_thread(const struct nai_stats_ranges *ranges, nai_task_fn *fn, void *ctx,
                                         struct nai_err *err);

/* overlap.c: what lies inside a range: on the same thread, begun no earlier and ended no later. A range with an end
 * thread holds nothing. Many ranges may hold the same items: no pair of them is looked at.
 *
 * Of each item the range around it that begins last, of those the one that ends first, then the last in the file;
 * UINT32_MAX: none. */
NAI_MUST_CHECK int nai_stats_find_innermost(uint32_t **out, struct nai_stats_ranges *ranges,
                                            const struct nai_stats_item *items, uint32_t count, struct nai_arena *arena,
                                            struct nai_err *err);
/* `put` gets each item of a thread once for each name and style of ranges around it: one of these ranges, and how many
 * they are. */
typedef int nai_stats_name_fn(void *ctx, uint32_t range, uint32_t ranges, uint32_t item, struct nai_err *err);
NAI_MUST_CHECK int nai_stats_contain_names(const struct nai_stats_ranges *ranges, const struct nai_stats_turns *turns,
                                           uint32_t thread, nai_stats_name_fn *put, void *ctx, struct nai_err *err);
/* `put` gets each range of a thread once for each kind of items in it. */
typedef int nai_stats_kind_fn(void *ctx, uint32_t range, uint32_t kind, struct nai_err *err);
NAI_MUST_CHECK int nai_stats_contain_kinds(const struct nai_stats_ranges *ranges, const struct nai_stats_turns *turns,
                                           uint32_t thread, const uint32_t *kind, uint32_t kind_count,
                                           nai_stats_kind_fn *put, void *ctx, struct nai_err *err);
/* From the first start to the last end of what an item stands for, or of all that items in a range do. */
struct nai_stats_extent {
  int64_t start, end;
  uint32_t calls;
};
#define NAI_STATS_NO_EXTENT ((struct nai_stats_extent){INT64_MAX, INT64_MIN, 0})
NAI_MUST_CHECK int nai_stats_contain_extents(struct nai_stats_extent **out, struct nai_stats_ranges *ranges,
                                             const struct nai_stats_item *items, const struct nai_stats_extent *of_item,
                                             uint32_t count, struct nai_arena *arena, struct nai_err *err);

/* Where a range stands among those of its thread. */
struct nai_stats_place {
  uint32_t parent; /* the range around it that is closest to it; UINT32_MAX: none */
  int32_t level;   /* from 0 */
  uint32_t twin;   /* another range of the same times: of the first of them the second, of the others the first;
                      UINT32_MAX: none. The first is the others' parent */
};
#define NAI_STATS_NO_PLACE ((struct nai_stats_place){UINT32_MAX, 0, UINT32_MAX})
NAI_MUST_CHECK int nai_stats_find_parents(struct nai_stats_place **out, struct nai_stats_ranges *ranges,
                                          struct nai_arena *arena, struct nai_err *err);

/* --- projection.c: ranges on the GPU's clock --------------------------------------------------------------- */

/* Operations with their calls. */
struct nai_stats_launched {
  struct nai_stats_item *items;   /* the calls */
  struct nai_stats_extent *times; /* of the operation; its call counts with one of them */
  int64_t *device;
  uint32_t count;
};
/* `graphs`: with CUDA graphs that were traced as a whole. `source` is only asked for its trace and its filter. */
NAI_MUST_CHECK int nai_stats_find_launched(struct nai_stats_launched *out, const struct nai_stats_source *source,
                                           bool graphs, struct nai_arena *arena, struct nai_err *err);
/* each range on each GPU where it launched something. */
NAI_MUST_CHECK int nai_stats_project_by_gpu(struct nai_stats_instance **out, uint32_t *count,
                                            struct nai_stats_source *source, struct nai_err *err);
/* When what each range launched ran on GPUs. */
NAI_MUST_CHECK int nai_stats_project(struct nai_stats_extent **out, struct nai_stats_ranges *ranges,
                                     const struct nai_stats_source *source, bool graphs, struct nai_arena *arena,
                                     struct nai_err *err);
