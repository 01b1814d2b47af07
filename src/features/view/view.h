/* nsys-ai view: a timeline and a tree of ranges in the terminal. Everything that can be tested without a terminal is
 * behind this: the state, what keys do to it, and what is drawn, as cells. display.c shows it on a terminal. */
#pragma once

#include "base/buf.h"
#include "model/model.h"

/* A place that a finding cites. */
struct nai_term_place {
  uint32_t finding;  /* number, in the order of the findings */
  const char *title; /* of the finding, borrowed */
  const char *severity;
  const char *text;    /* the fact */
  int64_t start, end;  /* ns since session start */
  int64_t device, pid; /* NAI_NULL_I64 where they do not apply */
};

/* What is looked at and how; all borrowed. */
struct nai_term_options {
  const struct nai_model *model; /* with NAI_TERM_PARTS, and IDLE if there is evidence for it */
  const char *title;             /* file name of the trace */
  uint64_t identity;             /* of the trace: its bookmarks are kept by it */
  const char *bookmarks;         /* directory for them, NULL for nowhere */
  const int64_t *gpus;           /* device ids; none: all */
  size_t gpu_count;
  const struct nai_term_place *places; /* by finding */
  size_t place_count, finding_count;
  const char *range;         /* begin at the first range of this name; NULL */
  int64_t start_ns, end_ns;  /* begin with this window; INT64_MIN: what the GPUs did */
  int64_t at_ns;             /* with the cursor there; INT64_MIN */
  bool tree;                 /* begin with the tree */
  bool ascii, color, cursor; /* the cursor is drawn from the begin on */
  /* Appends what is known of a thing of that name, as lines; NULL: nothing is. */
  int (*explain)(struct nai_buf *out, void *ctx, const char *name, struct nai_err *err);
  void *ctx;
};
#define NAI_TERM_PARTS \
  (NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(LANES) | NAI_PART(GPUS) | NAI_PART(WINDOW) | NAI_PART(NVTX_TREE))
#define NAI_TERM_OPTIONAL_PARTS NAI_PART(IDLE)
#define NAI_TERM_TABLES                                                                                             \
  (NAI_IN(CAPTURE) | NAI_IN(LABELS) | NAI_IN(PROCESSES) | NAI_IN(THREADS) | NAI_IN(GPUS) | NAI_IN(KERNEL_CONFIGS) | \
   NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(NVTX))

struct nai_term;

/* NAI_EUSAGE for GPUs, ranges and windows that the trace does not have. */
NAI_MUST_CHECK int nai_term_new(struct nai_term **out, const struct nai_term_options *options, struct nai_err *err);
void nai_term_free(struct nai_term *view);
NAI_OWNER(nai_term)

/* Keys: characters by their Unicode number, others by these. */
enum nai_key {
  NAI_KEY_LEFT = 0x110000,
  NAI_KEY_RIGHT,
  NAI_KEY_UP,
  NAI_KEY_DOWN,
  NAI_KEY_SHIFT_LEFT,
  NAI_KEY_SHIFT_RIGHT,
  NAI_KEY_PAGE_UP,
  NAI_KEY_PAGE_DOWN,
  NAI_KEY_HOME,
  NAI_KEY_END,
  NAI_KEY_SHIFT_TAB,
  NAI_KEY_TAB = '\t',
  NAI_KEY_ENTER = '\n',
  NAI_KEY_ESCAPE = 0x1b,
  NAI_KEY_BACKSPACE = 0x7f
};
enum nai_mouse { NAI_MOUSE_PRESS, NAI_MOUSE_RELEASE, NAI_MOUSE_WHEEL_UP, NAI_MOUSE_WHEEL_DOWN };

/* The size of the terminal; what is at the cursor stays in sight. */
void nai_term_resize(struct nai_term *view, int width, int height);
/* NAI_ELIMIT; everything else that goes wrong is said on the screen. */
NAI_MUST_CHECK int nai_term_key(struct nai_term *view, uint32_t key, struct nai_err *err);
NAI_MUST_CHECK int nai_term_mouse(struct nai_term *view, enum nai_mouse what, bool shift, int y, int x,
                                  struct nai_err *err);
/* Whether there is something to do that takes a while, which is said on the screen by then; does it. */
bool nai_term_busy(const struct nai_term *view);
void nai_term_work(struct nai_term *view);
bool nai_term_done(const struct nai_term *view);
/* Lines for those who come back to their shell: the --trim that were asked for. */
const char *nai_term_last_words(const struct nai_term *view);

/* Draws everything for the present size. Costs O(columns x rows x log(events)). */
struct nai_screen;
NAI_MUST_CHECK int nai_term_draw(struct nai_screen *screen, struct nai_term *view, struct nai_err *err);

/* once.c: all rows of the timeline at that width, with a header and a legend; height 0: as many as there are. As text,
 * or as JSON: {"rows": [{"row", "cell_ns", "busy_ns": [...]}]}. */
NAI_MUST_CHECK int nai_term_print(struct nai_buf *out, struct nai_term *view, int width, int height,
                                  struct nai_err *err);
NAI_MUST_CHECK int nai_term_print_json(struct nai_buf *out, struct nai_term *view, int width, struct nai_err *err);
/* The table of keys, as Markdown: docs/terminal.md has it. */
void nai_term_print_keys(struct nai_buf *out);

/* Names of terminals and their descriptions as ncurses takes them in TERMINFO ("hex:1a01..."); ends with NULL. */
struct nai_terminal {
  const char *name, *description;
};
extern const struct nai_terminal nai_terminals[];

/* LC_CTYPE of a locale of UTF-8, as the C library reads it from a file; 0 bytes but in static programs. */
extern const char nai_locale[];
extern const uint64_t nai_locale_bytes;

/* Sets the locale that the user asks for; where that cannot be loaded, UTF-8. */
void nai_display_locale(void);
/* display.c: why the terminal cannot show a view, NULL when it can: it is none, or has no way to place the cursor. */
const char *nai_display_trouble(void);
/* Runs until the user quits. *ended_by: the signal that ended it, 0 for none; the terminal is as it was before in any
 * case. Standard input and output are the terminal. */
NAI_MUST_CHECK int nai_display_run(int *ended_by, struct nai_term *view, bool color, struct nai_err *err);
