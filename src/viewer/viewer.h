/* The events of report.html: lanes of events as deflated columns (docs/viewer.md, "Data blocks"). */
#pragma once

#include "model/model.h"
#include "tables/viewer_data.h"

/* All events are embedded one by one when there are no more than the model's `page_events` and both blocks are no
 * longer than this; else they are aggregated outside of the detail windows, ever coarser until they are. With the rest
 * of it a page is no longer than 6 MB. */
enum { NAI_VIEWER_MAX_BYTES = 3500 * 1000 };
/* No block of so few events is that long, but for their names: detail windows are not needed. */
enum { NAI_VIEWER_SURE_EVENTS = 400000 };

/* What analyses tell an aggregated timeline. */
struct nai_viewer_input {
  const struct nai_interval *places; /* that findings and longest gaps refer to, most important first: around them every
                                        event is kept */
  size_t place_count;
  const struct nai_table *units; /* table repeating_units, NULL: none */
};

/* Fills blocks "timeline_b64" and "events_b64". */
NAI_MUST_CHECK int nai_viewer_data(struct nai_table **out, const struct nai_model *model,
                                   const struct nai_viewer_input *input, struct nai_err *err);
