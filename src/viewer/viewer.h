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

/* What nai_viewer_data needs: event tables and parts of the model. Where it has CPU, ACTIVE, IDLE and EVIDENCE, too,
 * the page shows them. */
#define NAI_VIEWER_TABLES                                                                              \
  (NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(NVTX) | NAI_IN(THREADS) | \
   NAI_IN(PROCESSES) | NAI_IN(GPUS) | NAI_IN(KERNEL_CONFIGS) | NAI_IN(LABELS))
#define NAI_VIEWER_PARTS                                                                                               \
  (NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(RANGES) | NAI_PART(CALLS) | NAI_PART(CALL_STATS) | NAI_PART(GPUS) | \
   NAI_PART(WINDOW) | NAI_PART(NVTX_TREE) | NAI_PART(RANGE_SPANS) | NAI_PART(KERNEL_GROUPS) | NAI_PART(LANES))

/* Fills blocks "timeline_json" and "events_b64". */
NAI_MUST_CHECK int nai_viewer_data(struct nai_table **out, const struct nai_model *model,
                                   const struct nai_viewer_input *input, struct nai_err *err);
