/* The tables that rules read, and what they say of the capture. */
#include "rules/evaluation.h"
#include "table/stats.h"
#include "tables/capture_time.h"

const struct nai_table *nai_rules_table(const struct nai_rules_input *input, const struct nai_schema *schema) {
  for (size_t i = 0; i < input->table_count; i++)
    if (input->tables[i] && is_of(input->tables[i], schema))
      return input->tables[i];
  return NULL;
}

/* The parts of the capture that shares are of, ns; 0 where nothing tells. */
static int64_t counted_ns(const struct nai_rules_input *input) {
  const struct nai_table *parts = nai_rules_table(input, &nai_capture_time_schema);
  int64_t ns = 0;
  for (int64_t i = 0; parts && i < parts->rows; i++)
    ns += nai_get_i64(parts, i, CAPTURE_TIME_counted) ? nai_get_i64(parts, i, CAPTURE_TIME_duration_ns) : 0;
  return ns;
}

double nai_saving_pct_of_capture(const struct nai_rules_input *input, const struct saving *saving) {
  int64_t counted = counted_ns(input);
  return counted <= 0 || saving->ns == NAI_NULL_I64 ? NAN : nai_percent((double)saving->ns, (double)counted);
}
