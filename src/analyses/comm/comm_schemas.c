/* Schemas of the tables comm_*. */
#include "analyses/comm/comm_columns.h"

#include "table/columns.h"
