/* The page's data while it is encoded. Internal to src/viewer. */
#ifndef NAI_VIEWER_ENCODER_H
#define NAI_VIEWER_ENCODER_H

#include "base/buf.h"
#include "viewer/items.h"

enum { START, DURATION, NAME, LINK, CORRELATION, AUX, COUNT, BUSY, COLUMNS };

enum { MAX_DIRECTIONS = 32 }; /* copy kinds, memset and graphs */

/* The page's list of names, numbered as they come up: kernels, API calls, ranges and directions in one list. */
struct nai_page_names {
  uint32_t *of_kernel, *of_api, *of_range; /* name id of the table -> number + 1, 0 = not yet */
  uint32_t of_direction[MAX_DIRECTIONS];
  char *directions[MAX_DIRECTIONS]; /* their texts, owned */
  uint32_t count, capacity;
  struct nai_page_name {
    const char *text;
    int category; /* -1 for host names */
    bool kernel;
  } * list;
  const char *directory; /* where a long list lies (base/big.h), or NULL */
  bool oom;
};

struct nai_encoder {
  const struct nai_model *m;
  struct nai_items items;
  struct nai_page_names names;
  struct nai_buf columns[COLUMNS];
  int64_t origin, end; /* ns: first start and last end of any event; times of the page count from origin */
  uint32_t events;     /* written so far */
  int64_t last_link, last_correlation; /* of the columns so far */
  uint32_t *api_event;                 /* API row -> number of its event + 1, 0 when it is part of an aggregate */
};

/* columns.c: appends a lane's items to the columns. */
void nai_encoder_put_lane(struct nai_encoder *encoder, const struct nai_lane_items *items);
/* columns.c: the columns one after the other, deflated, as base64. */
NAI_MUST_CHECK int nai_encoder_print_events(struct nai_buf *out, const struct nai_encoder *encoder,
                                            struct nai_err *err);
/* timeline_json.c: everything else the page needs of the timeline. */
NAI_MUST_CHECK int nai_encoder_print_json(struct nai_buf *out, const struct nai_encoder *encoder, struct nai_err *err);

#endif
