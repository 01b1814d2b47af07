/* Columns of losses. Internal to src/analyses. */
#ifndef NAI_ANALYSES_LOSSES_H
#define NAI_ANALYSES_LOSSES_H

#include "table/table.h"

enum {
  LO_DEVICE,
  LO_WHAT,
  LO_TIME,
  LO_COUNT,
  LO_PCT,
  LO_BASE_PCT,
  LO_EXAMPLE,
  LO_EXAMPLE_NS,
  LO_DETAIL,
  LO_SHORT,
  LO_LONG,
  LO_START,
  LO_END
};
extern const struct nai_schema nai_losses_schema;

#endif
