#include "command/collect.h"

typedef int collect_fn(struct nai_query_rows *out, const struct nai_query *query, struct nai_err *err);

static int collect(collect_fn *fn, struct nai_query_rows *out, struct nai_run *run, const char *sql,
                   const struct nai_query_parameter *parameters, size_t count, struct nai_err *err) {
  const struct nai_query_text text = {.sql = sql, .label = "statement"};
  const struct nai_query query = {
      .run = run, .text = &text, .parameters = parameters, .parameter_count = count, .limits = {.rows = -1}};
  return fn(out, &query, err);
}

int nai_cmd_collect(struct nai_query_rows *out, struct nai_run *run, const char *sql,
                    const struct nai_query_parameter *parameters, size_t count, struct nai_err *err) {
  return collect(nai_query_collect, out, run, sql, parameters, count, err);
}

int nai_cmd_collect_sums(struct nai_query_rows *out, struct nai_run *run, const char *sql,
                         const struct nai_query_parameter *parameters, size_t count, struct nai_err *err) {
  return collect(nai_query_collect_sums, out, run, sql, parameters, count, err);
}
