/* ranks.json (docs/ranks.schema.json). */
#include "features/ranks/write.h"

#include "table/json.h"

static void put_numbers(struct nai_json *json, const char *key, const struct nai_ranks *r, const int64_t *values) {
  nai_json_put_array(json, key, NAI_JSON_LINES);
  for (uint32_t i = 0; i < r->rank_count; i++) {
    nai_json_begin_array(json, NAI_JSON_INLINE);
    for (uint32_t b = 0; b < r->buckets; b++)
      nai_json_int(json, values[(size_t)i * r->buckets + b]);
    nai_json_end(json);
  }
  nai_json_end(json);
}

/* Labels of all ranks, or of persistent stragglers. */
static void put_labels(struct nai_json *json, const char *key, const struct nai_ranks *r, bool all) {
  nai_json_put_array(json, key, NAI_JSON_INLINE);
  for (uint32_t i = 0; i < r->rank_count; i++)
    if (all || nai_ranks_is_persistent(r, &r->ranks[i]))
      nai_json_text(json, r->ranks[i].label);
  nai_json_end(json);
}

static void put_map(struct nai_json *json, const struct nai_ranks *r) {
  nai_json_put_object(json, "map", NAI_JSON_LINES);
  nai_json_put_text(json, "columns_are", r->by_step ? "steps" : "collectives");
  nai_json_put_int(json, "per_column", r->per_bucket);
  put_labels(json, "ranks", r, true);
  put_numbers(json, "late_by_ns", r, r->late_by);
  put_numbers(json, "wait_ns", r, r->waited);
  nai_json_end(json);
}

/* Those that are not empty. */
static void put_texts(struct nai_json *json, const char *key, const char *const *texts, uint32_t count) {
  nai_json_put_array(json, key, NAI_JSON_LINES);
  for (uint32_t i = 0; i < count; i++)
    if (*texts[i])
      nai_json_text(json, texts[i]);
  nai_json_end(json);
}

static void put_summary(struct nai_json *json, const struct nai_ranks_report *report) {
  const struct nai_ranks *r = report->ranks;
  char evenness[40] = "";
  if (isfinite(r->entropy))
    snprintf(evenness, sizeof evenness, "%.9g", r->entropy);
  nai_json_put_text(json, "verdict", nai_ranks_verdict_name(r->verdict));
  nai_json_put_text(json, "text", report->verdict);
  nai_json_put_int(json, "exit", nai_ranks_exit(r));
  nai_json_put_int(json, "rank_count", r->rank_count);
  nai_json_put_int(json, "left_out_count", r->left_out);
  nai_json_put_int(json, "missing_count", r->missing);
  nai_json_put_int(json, "collective_count", r->collectives);
  nai_json_put_int(json, "split_count", r->split);
  nai_json_put_int(json, "decided_count", r->decided);
  nai_json_put_int(json, "span_ns", r->span_ns);
  nai_json_put_int(json, "duration_ns", r->matched_ns);
  nai_json_put_int(json, "wait_ns", r->wait_ns);
  nai_json_put_int(json, "delay_ns", r->delay_ns);
  nai_json_put_int(json, "slow_count", r->slow_count);
  nai_json_put_int(json, "slow_excess_ns", r->slow_excess_ns);
  nai_json_put_int(json, "doubt_ns", r->residual);
  nai_json_key(json, "evenness");
  nai_json_decimal(json, evenness);
  put_labels(json, "persistent", r, false);
}

int nai_ranks_write_json(struct nai_buf *out, const struct nai_ranks_report *report, struct nai_err *err) {
  struct nai_json json;
  nai_json_open(&json, out, NAI_JSON_LINES);
  nai_json_put_text(&json, "schema_version", "1.0");
  nai_json_put_text(&json, "version", NAI_VERSION);
  put_summary(&json, report);
  put_texts(&json, "reasons", report->reasons, report->ranks->rank_count);
  put_texts(&json, "caveats", report->caveats, report->caveat_count);
  put_map(&json, report->ranks);
  nai_json_put_object(&json, "tables", NAI_JSON_LINES);
  for (int i = 0; i < NAI_RANKS_TABLES; i++) {
    if (i == NAI_RANKS_STEPS) /* that is the map */
      continue;
    nai_json_key(&json, report->tables[i]->schema->name);
    nai_json_table(&json, report->tables[i], NAI_RANKS_MOST_COLLECTIVES);
  }
  nai_json_close(&json);
  return nai_buf_check(out, err);
}
