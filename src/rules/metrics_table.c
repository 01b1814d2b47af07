/* The columns of table metrics. */
#include "rules/metrics.h"
#include "table/columns.h"
