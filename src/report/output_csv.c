/* tables/NAME.csv. */
#include "report/output.h"
#include "table/csv.h"

static int print(struct nai_buf *out, const struct nai_output_context *context, struct nai_err *err) {
  nai_csv_table(out, context->table);
  return nai_buf_check(out, err);
}

const struct nai_output nai_output_csv = {.name = "csv", .path = "tables/*.csv", .print = print};
