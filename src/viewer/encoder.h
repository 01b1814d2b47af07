/* The page's data while it is encoded. Internal to src/viewer. */
#pragma once

#include "base/sink.h"
#include "viewer/host_lanes.h"
#include "viewer/items.h"

enum { START, DURATION, NAME, LINK, CORRELATION, AUX, COUNT, BUSY, COLUMNS };

enum { MAX_DIRECTIONS = 32 }; /* copy kinds, memset and graphs */

/* The page's list of names, numbered as they come up: kernels, API calls, ranges and directions in one list. */
struct nai_page_names {
  uint32_t *of_kernel, *of_api, *of_range, *of_host; /* name id of the table -> number + 1, 0 = not yet */
  uint32_t of_direction[MAX_DIRECTIONS];
  const char *directions[MAX_DIRECTIONS]; /* their texts */
  uint32_t last_copy; /* number of last_copy_kind + 1, 0 before the first: copies of a kind come in rows */
  int32_t last_copy_kind;
  uint32_t count, capacity;
  struct nai_page_name {
    const char *text;
    int category; /* -1 for host names */
    bool kernel;
    int64_t count; /* events of the trace, of an aggregated timeline */
  } * list;
};

/* Memory that copies and memsets come from and go to; the last number is for what finds no room. */
enum { NAI_PAGE_MEMORY_BITS = 4, NAI_PAGE_MEMORY_KINDS = 1 << NAI_PAGE_MEMORY_BITS };
struct nai_page_memory {
  struct nai_page_memory_kind {
    int32_t from, to; /* CUPTI memory kinds, NAI_NULL_I32: not told */
  } list[NAI_PAGE_MEMORY_KINDS - 1];
  uint32_t count;
};

/* What counts a call as a wait: a row of table launch_waits, and what counted it before. */
struct nai_page_wait {
  uint8_t before; /* number of another one + 1, 0: nothing */
  int32_t gpu;
  const char *place; /* as that row has it; "": none */
};
enum { NAI_PAGE_MAX_WAITS = UINT8_MAX }; /* what goes beyond is not told */
struct nai_page_waits {
  uint8_t *of; /* API row -> number + 1, 0: nothing; NULL: nobody looked */
  struct nai_page_wait list[NAI_PAGE_MAX_WAITS];
  uint32_t count;
};

/* Sums over a grid of time, of what an aggregated timeline does not hold event by event. */
enum nai_series_kind { NAI_SERIES_KERNEL, NAI_SERIES_COPY, NAI_SERIES_CALL, NAI_SERIES_BLOCKED, NAI_SERIES_LAUNCH };
enum { NAI_SERIES_OTHERS = -1 };

struct nai_series {
  enum nai_series_kind kind;
  int32_t gpu;     /* -1 for calls */
  int64_t name;    /* page name, NAI_SERIES_OTHERS for all without a series of their own */
  int64_t entries; /* of the stream */
};

struct nai_sums {
  int64_t bin_ns, bins; /* from the origin on */
  struct nai_series *list;
  uint32_t count, capacity;
  struct nai_buf
      stream;       /* per entry: bins since the last one, ns inside the bin, events that start in it, their bytes */
  int64_t left_out; /* names that the page does not list */
};

/* How far the CPU runs ahead of a GPU, in bins from the first time that is known to the begin of the last operation. */
struct nai_launch_queue {
  int32_t gpu;
  int64_t start, end, bin_ns;
  int64_t lead_bins; /* the last ones: those from the begin of the first operation on */
  struct nai_buf
      stream; /* per bin: operations in the queue (least, most beyond it, sum of operations times ns); then per
                 bin with a lead: ns it waited (least, most beyond it); nothing of a GPU without launches */
};

/* Passes of what repeats on a GPU. In the stream, per pass: its start since the last one's (the first: since the
 * origin), its length, and, of ranges, the page's number of its name. */
struct nai_passes {
  int32_t gpu;
  int64_t pid, unit; /* of table repeating_units; unit -1: ranges */
  const char *name;  /* of ranges, digits as '#' */
  uint32_t count;
  bool last_is_cut; /* of a unit: the stream ends inside the last one */
};

/* Events and time per name, of one kind of lanes. */
struct nai_name_totals {
  enum nai_lane_kind kind;       /* NAI_LANE_NVTX: both kinds of ranges */
  int32_t gpu;                   /* device id, NAI_ANY_GPU for lanes of all GPUs or of the host */
  const struct nai_column *name; /* of its event table; NULL: names are numbered by the page */
  uint32_t names;                /* ids of that column, or numbers, are below */
  struct nai_name_total {
    int64_t ns; /* 0 of ranges */
    int64_t count;
  } * v;
};

enum { NAI_ANY_GPU = -1 };

static inline bool nai_totals_have(const struct nai_name_totals *totals, const struct nai_lane *lane) {
  enum nai_lane_kind kind = lane->kind == NAI_LANE_NVTX_ASYNC ? NAI_LANE_NVTX : lane->kind;
  return kind == totals->kind && (totals->gpu == NAI_ANY_GPU || totals->gpu == lane->gpu);
}

/* The event rows behind the totals. */
#define NAI_EACH_ROW(MODEL, TOTALS, LANE, ROW)                                                                    \
  for (uint32_t l_ = 0; l_ < (MODEL)->lanes.count; l_++)                                                          \
    for (const struct nai_lane *LANE = &(MODEL)->lanes.v[l_]; LANE && nai_totals_have(TOTALS, LANE); LANE = NULL) \
      for (uint32_t i_ = 0, ROW; i_ < LANE->count && (ROW = LANE->rows[i_], true); i_++)

struct nai_encoder {
  const struct nai_model *m;
  struct nai_arena arena; /* of what is made here; its `oom` stands for names that could not be numbered */
  struct nai_items items;
  struct nai_host_lanes host;
  struct nai_page_names names;
  struct nai_file_sink columns[COLUMNS]; /* put aside: with millions of events they are tens of megabytes */
  struct nai_map column_bytes[COLUMNS];  /* what they hold, once all events are written */
  int64_t origin, end;    /* ns: first start and last end of any event; times of the page count from origin */
  uint32_t events;        /* written so far */
  uint64_t merged_events; /* of the trace: those that blocks stand for */
  uint32_t host_events;   /* of them, those of `host`: the last ones */
  bool single;            /* no lane has aggregates */
  int64_t last_link, last_correlation; /* of the columns so far */
  uint32_t *api_event;                 /* API row -> number of its event + 1, 0 when it is part of an aggregate */
  bool *launches;                      /* API row -> whether it launched GPU work */
  struct nai_page_waits waits;
  struct nai_page_memory memory;
  struct nai_buf mix;              /* per aggregate of kernels: how many categories, then category and ns of each */
  struct nai_sums sums;            /* of an aggregated timeline */
  struct nai_launch_queue *queues; /* likewise, one per GPU */
  uint32_t queue_count;
  struct nai_buf queue_bins; /* the streams of all queues */
  struct nai_passes *passes; /* likewise */
  uint32_t pass_count, pass_capacity;
  struct nai_buf pass_times;
  struct {
    struct nai_name_totals *v;
    uint32_t count;
  } totals; /* likewise */
};

/* Whether the page has a column: the last two say only what aggregates are. */
static inline bool nai_encoder_has(const struct nai_encoder *e, int column) { return column < COUNT || !e->single; }

/* The page's number of an event's name, and of name `id` of kernels, API calls or ranges. */
uint32_t nai_encoder_name(struct nai_encoder *encoder, enum nai_lane_kind kind, uint32_t row);
uint32_t nai_encoder_named(struct nai_encoder *encoder, enum nai_lane_kind kind, uint32_t id);
/* page_names.c: of an aggregated timeline, whose search has to find also what is aggregated. */
NAI_MUST_CHECK int nai_encoder_total(struct nai_encoder *encoder, struct nai_err *err); /* makes the totals */
const struct nai_name_totals *nai_encoder_totals_of(const struct nai_encoder *encoder, enum nai_lane_kind kind,
                                                    int32_t gpu);
void nai_encoder_list_names(struct nai_encoder *encoder);  /* puts every name on the page's list, before any other */
void nai_encoder_count_names(struct nai_encoder *encoder); /* tells how many events those on it have, after all */
/* page_waits.c: finds them. */
NAI_MUST_CHECK int nai_encoder_find_waits(struct nai_encoder *encoder, struct nai_err *err);
/* page_sums.c: the sums of an aggregated timeline. */
NAI_MUST_CHECK int nai_encoder_sum(struct nai_encoder *encoder, struct nai_err *err);
/* launch_queue.c: the launch queues of an aggregated timeline. */
NAI_MUST_CHECK int nai_encoder_queue(struct nai_encoder *encoder, struct nai_err *err);
void nai_encoder_free_queues(struct nai_encoder *encoder);
/* passes.c: passes of what repeats, of an aggregated timeline; `units`: table repeating_units, NULL: none. */
NAI_MUST_CHECK int nai_encoder_pass(struct nai_encoder *encoder, const struct nai_table *units, struct nai_err *err);

/* columns.c: appends a lane's items to the columns. */
void nai_encoder_put_lane(struct nai_encoder *encoder, const struct nai_lane_items *items);
/* columns.c: the same of a lane of host evidence; they come after all others. */
void nai_encoder_put_host(struct nai_encoder *encoder, const struct nai_host_lane *lane);
/* utilization_json.c: appends member "utilization". */
struct nai_json;
NAI_MUST_CHECK int nai_encoder_put_utilization(struct nai_json *json, const struct nai_encoder *encoder,
                                               struct nai_err *err);
/* timeline_json.c: everything else the page needs of the timeline. */
NAI_MUST_CHECK int nai_encoder_print_json(struct nai_buf *out, const struct nai_encoder *encoder, struct nai_err *err);
