/* Schemas of active_spans and gpu_active. */
#include "analyses/spans/active_spans.h"

#include "table/columns.h"
