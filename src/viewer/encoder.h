/* The page's data while it is encoded. Internal to src/viewer. */
#ifndef NAI_VIEWER_ENCODER_H
#define NAI_VIEWER_ENCODER_H

#include "base/sink.h"
#include "viewer/host.h"
#include "viewer/items.h"

enum { START, DURATION, NAME, LINK, CORRELATION, AUX, COUNT, BUSY, COLUMNS };

enum { MAX_DIRECTIONS = 32 }; /* copy kinds, memset and graphs */

/* The page's list of names, numbered as they come up: kernels, API calls, ranges and directions in one list. */
struct nai_page_names {
  uint32_t *of_kernel, *of_api, *of_range, *of_host; /* name id of the table -> number + 1, 0 = not yet */
  uint32_t of_direction[MAX_DIRECTIONS];
  char *directions[MAX_DIRECTIONS]; /* their texts, owned */
  uint32_t last_copy; /* number of last_copy_kind + 1, 0 before the first: copies of a kind come in rows */
  int32_t last_copy_kind;
  uint32_t count, capacity;
  struct nai_page_name {
    const char *text;
    int category; /* -1 for host names */
    bool kernel;
    int64_t count; /* events of the trace, of an aggregated timeline */
  } * list;
  const char *directory; /* where a long list lies (base/big.h), or NULL */
  bool oom;
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

struct nai_encoder {
  const struct nai_model *m;
  struct nai_items items;
  struct nai_host_lanes host;
  struct nai_page_names names;
  struct nai_file_sink columns[COLUMNS]; /* put aside: with millions of events they are tens of megabytes */
  struct nai_map column_bytes[COLUMNS];  /* what they hold, once all events are written */
  bool columns_open;
  int64_t origin, end;  /* ns: first start and last end of any event; times of the page count from origin */
  uint32_t events;      /* written so far */
  uint32_t host_events; /* of them, those of `host`: the last ones */
  int64_t last_link, last_correlation; /* of the columns so far */
  uint32_t *api_event;                 /* API row -> number of its event + 1, 0 when it is part of an aggregate */
  bool *launches;                      /* API row -> whether it launched GPU work */
  struct nai_buf mix;                  /* per aggregate of kernels: how many categories, then category and ns of each */
  struct nai_sums sums;                /* of an aggregated timeline */
};

/* The page's number of an event's name. */
uint32_t nai_encoder_name(struct nai_encoder *encoder, enum nai_lane_kind kind, uint32_t row);
/* sums.c: of an aggregated timeline, whose search has to find also what is aggregated: puts every name on the page's
 * list, before any other (`count` false), or counts the events of all names on it, after all. */
NAI_MUST_CHECK int nai_encoder_names(struct nai_encoder *encoder, bool count, struct nai_err *err);
/* sums.c: the sums of an aggregated timeline. */
NAI_MUST_CHECK int nai_encoder_sum(struct nai_encoder *encoder, struct nai_err *err);

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

#endif
