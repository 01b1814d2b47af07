/* The rows of the timeline: of each GPU how busy it is, with what, why not, and its streams; of each thread the ranges
 * by depth and the calls. What is asked of a row is answered by nai_spans. Internal to src/features/view. */
#pragma once

#include "features/view/spans.h"

enum nai_row_kind {
  NAI_ROW_BUSY, /* a GPU: how much of the time anything runs */
  NAI_ROW_WORK, /* with what it is busy */
  NAI_ROW_GAPS, /* why it has nothing to do */
  NAI_ROW_EVENTS
};
enum { NAI_DEPTHS = 8 }; /* of push/pop ranges; deeper ones are shown in the last */

struct nai_row {
  enum nai_row_kind kind;
  enum nai_lane_kind lane;                  /* of events: what `rows` of the spans are rows of */
  uint32_t gpu;                             /* index; UINT32_MAX in rows of threads */
  int32_t thread, process, context, stream; /* -1 */
  int depth;                                /* of push/pop ranges, else -1 */
  const char *label;
  struct nai_spans all, matching; /* of operations of GPUs: those that the filter lets through */
};

/* What one GPU did, as it divides the time. */
struct nai_bands {
  struct nai_spans all, communication, copy, gaps; /* exposed: computation is what is left */
};

struct nai_filter {
  const char *text;       /* part of a name, in either case; NULL for none */
  int64_t min_ns;         /* 0 for none */
  struct nai_arena arena; /* of what it lets through */
};

struct nai_scene {
  const struct nai_model *m;
  struct nai_row *rows;
  uint32_t count, capacity;
  struct nai_bands *bands; /* per GPU */
  char **short_names;      /* per string of kernel_events */
  int64_t first, last;     /* of all events */
  struct nai_filter filter;
  uint64_t matches; /* operations that it lets through */
  struct nai_arena arena;
};

/* `gpus`: device ids of those shown, none for all. NAI_EUSAGE for one that the trace does not have. */
NAI_MUST_CHECK int nai_scene_open(struct nai_scene *scene, const struct nai_model *model, const int64_t *gpus,
                                  size_t gpu_count, struct nai_err *err);
void nai_scene_free(struct nai_scene *scene);
/* Shows only operations whose name has `text` in it (NULL: any) and that take `min_ns`. O(operations). */
NAI_MUST_CHECK int nai_scene_filter(struct nai_scene *scene, const char *text, int64_t min_ns, struct nai_err *err);
bool nai_scene_filtered(const struct nai_scene *scene);
/* What is shown of a row. */
const struct nai_spans *nai_row_spans(const struct nai_scene *scene, const struct nai_row *row);

/* events.c: a shown event of a row. Texts are appended as the trace has them. */
void nai_event_name(struct nai_buf *out, const struct nai_scene *scene, const struct nai_row *row, uint32_t event,
                    bool full);
/* Equal for events of one name. */
uint64_t nai_event_name_id(const struct nai_scene *scene, const struct nai_row *row, uint32_t event);
/* 0 for none, then the same for the same category. */
int nai_event_category(const struct nai_scene *scene, const struct nai_row *row, uint32_t event);
/* Row of api_events that launched it; NAI_NO_ROW. */
uint32_t nai_event_call(const struct nai_scene *scene, const struct nai_row *row, uint32_t event);
/* Node of the NVTX tree that it belongs to: its own, that of its call, or that around its launch; NULL. */
const struct nai_nvtx_node *nai_event_node(const struct nai_scene *scene, const struct nai_row *row, uint32_t event);
/* "step > forward > attention": the ranges around it, or its launch, and itself where it is one; nothing for none. */
void nai_event_path(struct nai_buf *out, const struct nai_scene *scene, const struct nai_row *row, uint32_t event);
/* "GPU 0, stream 7, grid 132 x 1 x 1", "blocking", "12.3 MiB at 20.1 GB/s". */
void nai_event_facts(struct nai_buf *out, const struct nai_scene *scene, const struct nai_row *row, uint32_t event);
/* What a gap is due to: "host_code"; "cause not known". */
const char *nai_gap_cause(const struct nai_scene *scene, uint32_t gpu, uint32_t event);
/* The letter of a cause of gaps, '?' where it is not known. */
char nai_cause_letter(const struct nai_scene *scene, uint32_t gpu, uint32_t event);
/* "b blocking_call  q queue_drained ...", without the letter of unknown ones. */
void nai_cause_letters(struct nai_buf *out);
