/* Where the program called CUDA: the stacks of API calls, and the line or function of the user's that each stands for.
 * Definitions: docs/analyses.md, "Call sites". */
#pragma once

#include "model/cpu/frames.h"

enum nai_site_kind {
  NAI_SITE_NONE, /* no stack */
  NAI_SITE_PYTHON,
  NAI_SITE_NATIVE,
  NAI_SITE_PYTHON_FRAMEWORK,
  NAI_SITE_FRAMEWORK,
  NAI_SITE_LIBRARY,
  NAI_SITE_MODULE /* no function has a name */
};
const char *nai_site_kind_name(enum nai_site_kind kind); /* "python", ... */

struct nai_call_site {
  const char *label; /* "train/loop.py:42 step", "step() (app)" */
  enum nai_site_kind kind;
};

/* Frames that are equal, however many callchains have them. */
struct nai_call_stack {
  uint32_t first, count; /* in `rows`, from the innermost on */
  uint32_t site;
};

/* Number 0 of sites and of stacks: none. */
struct nai_call_stacks {
  const struct nai_model *m;
  struct nai_arena *arena;
  struct nai_frames frames;
  uint32_t *rows; /* of callchain_frames */
  struct nai_call_stack *stacks;
  uint32_t stack_count, stack_capacity;
  struct nai_call_site *sites;
  uint32_t site_count, site_capacity;
  uint32_t *stack_of; /* per row of api_events; a call in another one has that one's, if it has none of its own */
  bool *has_own;      /* per row of api_events */
  struct nai_keyset site_ids; /* kind << 32 | label */
  struct nai_strings labels, modules;
  const char **label_texts; /* by number of a label */
  uint32_t label_capacity;
};
/* Whether the trace has callchains of CUDA calls: without any there is nothing to open. */
bool nai_call_stacks_any(const struct nai_model *model);
/* Needs the tables APIS and CALLCHAINS, and the part CALLS. */
NAI_MUST_CHECK int nai_call_stacks_open(struct nai_call_stacks *stacks, const struct nai_model *model,
                                        struct nai_arena *arena, struct nai_err *err);
/* Whose stack work on a GPU has: that of the call which captured its graph node, where that has one, else its launch's.
 */
struct nai_call_source {
  uint32_t call, stack; /* call: row of api_events, NAI_NO_ROW for none */
  bool captured;
};
struct nai_graph_nodes;
struct nai_call_source nai_call_source_of(const struct nai_call_stacks *stacks, const struct nai_graph_nodes *nodes,
                                          int32_t process, int64_t node, uint32_t launch);
void nai_call_stacks_free(struct nai_call_stacks *stacks);

/* A row of callchain_frames as people read it: "train/loop.py:42 step", "step() (app)"; "[cut]" where unwinding gave
 * up.
 */
NAI_MUST_CHECK int nai_call_frame_label(const char **out, struct nai_call_stacks *stacks, uint32_t row,
                                        struct nai_err *err);
/* Whether it is of use to them: not the system's, CUDA's, the profiler's or the interpreter's. */
bool nai_call_frame_is_shown(const struct nai_call_stacks *stacks, uint32_t row);
bool nai_call_frame_is_python(const struct nai_call_stacks *stacks, uint32_t row);

/* A frame of Python. The path and the function are parts of the text it was found in. */
struct nai_python_frame {
  const char *path, *function;
  int path_length, function_length; /* 0: none */
  int64_t line;                     /* -1 unknown */
};
/* Whether a function's name or a library's path is a Python frame; `module` may be NULL. */
bool nai_python_frame_parse(struct nai_python_frame *frame, const char *symbol, const char *module);
