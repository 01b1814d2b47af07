/* Columns of the tables comm_*. Internal to src/analyses. */
#ifndef NAI_ANALYSES_COMM_COLUMNS_H
#define NAI_ANALYSES_COMM_COLUMNS_H

#include "table/schema.h"
#include "tables/comm_capture.h"
#include "tables/comm_instances.h"
#include "tables/comm_ops.h"
#include "tables/comm_ranks.h"
#include "tables/comm_streams.h"
#include "tables/step_comm.h"
#include "tables/step_comm_ops.h"

#endif
