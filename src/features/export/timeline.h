/* The tracks of a timeline and what lies on them, one track after the other, for writers of files. Internal to
 * src/features/export. */
#pragma once

#include "base/arena.h"
#include "base/strings.h"
#include "features/export/export.h"
#include "model/cpu/call_stacks.h"
#include "model/graphs/graph_origin.h"

enum nai_track_kind {
  NAI_TRACK_PROCESS,
  NAI_TRACK_THREAD, /* push/pop ranges and marks */
  NAI_TRACK_HOST,   /* further rows of a thread: calls, ranges that do not nest */
  NAI_TRACK_GPU,    /* the rows of a GPU are below it */
  NAI_TRACK_DEVICE, /* operations of a stream, or idle gaps */
  NAI_TRACK_METRICS,
  NAI_TRACK_COUNTER
};

/* Slices of a track nest, and those of all but threads and calls lie one after the other. */
struct nai_track {
  enum nai_track_kind kind;
  uint32_t number, parent; /* from 1; parent 0: none */
  const char *name;
  int32_t pid, tid; /* unique in the file: of the process, of a NAI_TRACK_THREAD; 0 otherwise */
  uint32_t gpu;     /* index of GPUs and what is below them */
  uint32_t rank;    /* among the parent's, where the order has a meaning */
};

struct nai_track_slice {
  enum nai_lane_kind kind;
  bool bare;               /* an idle gap or an MPI call: `row` means nothing */
  uint32_t row;            /* of the lane's event table */
  int64_t start, end;      /* ns since session start, cut to the window */
  uint32_t name, category; /* ids in names and categories of the timeline */
  uint32_t call;           /* the call that launched it if that is written too, else NAI_NO_ROW */
};

/* What makes the file. Slices come as begin, slices inside, end; times of one track never go back but for instants. */
struct nai_timeline_writer {
  void (*track)(struct nai_timeline_writer *writer, const struct nai_track *track);
  void (*begin)(struct nai_timeline_writer *writer, const struct nai_track *track, const struct nai_track_slice *slice);
  void (*end)(struct nai_timeline_writer *writer, const struct nai_track *track, int64_t at);
  void (*instant)(struct nai_timeline_writer *writer, const struct nai_track *track,
                  const struct nai_track_slice *slice);
  void (*counter)(struct nai_timeline_writer *writer, const struct nai_track *track, int64_t at, double value);
  void (*complete)(struct nai_timeline_writer *writer); /* nothing more comes on the tracks so far; NULL: no matter */
};

enum nai_arg_key {
  NAI_ARG_KERNEL,
  NAI_ARG_GRID,
  NAI_ARG_BLOCK,
  NAI_ARG_REGISTERS,
  NAI_ARG_STATIC_SHARED,
  NAI_ARG_DYNAMIC_SHARED,
  NAI_ARG_DEVICE,
  NAI_ARG_CONTEXT,
  NAI_ARG_STREAM,
  NAI_ARG_CORRELATION,
  NAI_ARG_GRAPH,
  NAI_ARG_LATENCY,
  NAI_ARG_BYTES,
  NAI_ARG_SOURCE,
  NAI_ARG_TARGET,
  NAI_ARG_RATE,
  NAI_ARG_CLASS,
  NAI_ARG_EXPORT_ROW,
  NAI_ARG_SITE,
  NAI_ARG_GRAPH_SITE, /* of the graph's launch, which is not where its work comes from */
  NAI_ARG_WAIT,
  NAI_ARG_LAST_RANK,
  NAI_ARG_KEYS
};
extern const char *const nai_arg_names[NAI_ARG_KEYS];
/* A fact on a slice. */
struct nai_arg {
  enum nai_arg_key key;
  enum { NAI_ARG_INT, NAI_ARG_REAL, NAI_ARG_TEXT } type;
  int64_t i; /* of a text: its id in `values` */
  double f;
};
enum { NAI_MAX_ARGS = 16 };

enum { NAI_CALL_LEFT_OUT = 255 };
struct nai_timeline {
  const struct nai_model *m;
  const struct nai_export_options *options;
  struct nai_timeline_writer *writer;
  int64_t first_ns; /* the window's start, or that of the first event */
  /* texts by dense ids, in the order in which they come up */
  struct nai_strings names, categories, values;
  struct nai_arena arena; /* of what follows; its `oom` stands for the texts, too */
  /* ids + 1 by string of each event table or kernel configuration, 0: not yet */
  uint32_t *kernel_name, *kernel_value, *api_name, *range_name, *grid, *block;
  char **short_names;            /* by string of kernel_events */
  struct nai_call_stacks stacks; /* `m` is NULL without any */
  struct nai_graph_nodes nodes;
  uint32_t *site_value; /* by call site: ids + 1 */
  /* by row of api_events: operations with a flow from it (2: several); which row of its thread's calls it is on */
  uint8_t *call_ops, *call_row;
  int32_t *pid, *tid; /* by row of processes and threads: what they are called in the file */
  uint32_t *process_track, *thread_track, *calls_track, *gpu_track; /* numbers, 0: not yet */
  uint32_t tracks;                                                  /* announced so far */
  uint64_t events;                                                  /* written so far */
};

/* Opens, writes and frees: `open` gets the timeline ready (first_ns, names), `write` tells the writer everything. */
NAI_MUST_CHECK int nai_timeline_open(struct nai_timeline *tl, const struct nai_model *model,
                                     const struct nai_export_options *options, struct nai_err *err);
NAI_MUST_CHECK int nai_timeline_write(struct nai_timeline *tl, struct nai_timeline_writer *writer, struct nai_err *err);
void nai_timeline_free(struct nai_timeline *tl);

/* layout.c. The part of an event that is shown, without names; false for none. */
bool nai_timeline_cut(struct nai_track_slice *slice, const struct nai_timeline *tl, enum nai_lane_kind kind,
                      uint32_t row);

/* tracks.c. Processes and threads get numbers that are unique in the file. */
enum { NAI_GPU_PID = 10 * 1000 * 1000, NAI_MADE_ID = 2 * 1000 * 1000 * 1000 };
NAI_MUST_CHECK int nai_tracks_open(struct nai_timeline *tl, struct nai_err *err);
/* A track gets its number and is announced. Those of processes, threads and GPUs are when they are first asked for. */
struct nai_track nai_timeline_announce(struct nai_timeline *tl, struct nai_track track);
struct nai_track nai_timeline_thread(struct nai_timeline *tl, uint32_t thread); /* without its name */
uint32_t nai_timeline_gpu(struct nai_timeline *tl, uint32_t gpu);               /* its number */
/* One of a thread, to be announced. */
struct nai_track nai_timeline_host(const struct nai_timeline *tl, enum nai_track_kind kind, uint32_t thread,
                                   const char *name);

/* extras.c: what is no lane. */
NAI_MUST_CHECK int nai_timeline_marks(struct nai_timeline *tl, struct nai_err *err);
void nai_timeline_idle(struct nai_timeline *tl, uint32_t gpu);
NAI_MUST_CHECK int nai_timeline_mpi(struct nai_timeline *tl, struct nai_err *err);
NAI_MUST_CHECK int nai_timeline_metrics(struct nai_timeline *tl, struct nai_err *err);

/* labels.c: names and facts of events. */
NAI_MUST_CHECK int nai_labels_open(struct nai_timeline *tl, struct nai_err *err);
void nai_labels_name(struct nai_timeline *tl, struct nai_track_slice *slice); /* fills name and category */
int nai_labels_args(struct nai_arg args[NAI_MAX_ARGS], struct nai_timeline *tl, const struct nai_track_slice *slice);
/* The collective across traces that a kernel is of, NULL for none. */
const struct nai_export_collective *nai_labels_collective(const struct nai_timeline *tl,
                                                          const struct nai_track_slice *slice);
uint32_t nai_labels_add(struct nai_timeline *tl, struct nai_strings *texts, const char *text);

/* Gives each of a series of events, which come by start, the first row in which it overlaps no earlier one. */
struct nai_layout_entry {
  int64_t key;
  uint32_t row;
};
struct nai_layout_heap {
  struct nai_layout_entry *v;
  uint32_t count, capacity;
};
struct nai_layout {
  struct nai_arena *arena;
  struct nai_layout_heap busy, vacant; /* by end; by row */
  uint32_t rows;
};
NAI_MUST_CHECK int nai_layout_place(uint32_t *row, struct nai_layout *layout, int64_t start, int64_t end,
                                    struct nai_err *err);
