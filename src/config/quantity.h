/* Amounts as people write them in configuration files: "3%", "0.05ms", "64KiB", "1%_of_step", "2pt", "5". */
#pragma once

#include "config/yaml.h"
#include "table/schema.h"

enum nai_quantity_kind {
  NAI_QUANTITY_NUMBER,  /* no suffix */
  NAI_QUANTITY_UNIT,    /* in the base unit `unit`: ns, bytes, points (NAI_PCT), gb_per_s */
  NAI_QUANTITY_PERCENT, /* of the value it is about */
  NAI_QUANTITY_OF_STEP  /* percent of the step time */
};
struct nai_quantity {
  enum nai_quantity_kind kind;
  enum nai_unit unit;
  double number;
};

/* Reads a scalar; it must be finite and not negative. NAI_EUSAGE with file:line:column. */
NAI_MUST_CHECK int nai_quantity_read(struct nai_quantity *out, const struct nai_yaml *doc,
                                     const struct nai_yaml_node *node, struct nai_err *err);
