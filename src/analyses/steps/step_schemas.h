/* Columns of the tables about steps. */
#ifndef NAI_ANALYSES_STEP_SCHEMAS_H
#define NAI_ANALYSES_STEP_SCHEMAS_H

#include "table/schema.h"
#include "tables/repeating_units.h"
#include "tables/step_search.h"
#include "tables/step_summary.h"
#include "tables/steps.h"

#endif
