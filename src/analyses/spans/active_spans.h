/* The stretches of a GPU's window in which work goes on, and the pauses between them. Internal to src/analyses. */
#pragma once

#include "table/schema.h"
#include "tables/active_spans.h"
#include "tables/gpu_active.h"

/* Words of AS_KIND. */
#define NAI_SPAN_ACTIVE "active"
#define NAI_SPAN_SET_UP "set_up"
#define NAI_SPAN_CHECK "check"
#define NAI_SPAN_PAUSE "pause"
