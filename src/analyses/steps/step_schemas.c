#include "analyses/steps/step_schemas.h"

#include "table/columns.h"
