/* Rows that facts are made of. */
#include "features/ask/internal.h"

int nai_found_ask(struct nai_query_rows *out, const struct nai_asking *asking, const char *sql, const char *label,
                  struct nai_err *err) {
  enum { MAX_ROWS = 1000 };
  const struct nai_query_parameter parameters[] = {
      {"gpu", {.type = NAI_I64, .i = asking->gpu, .null = asking->gpu == INT64_MIN}},
      {"name", {.type = NAI_STR, .s = asking->name}}};
  const struct nai_query_text text = {.sql = sql, .label = label};
  const struct nai_query query = {
      .run = asking->run, .text = &text, .parameters = parameters, .parameter_count = 2, .limits = {.rows = MAX_ROWS}};
  return nai_query_collect(out, &query, err);
}
