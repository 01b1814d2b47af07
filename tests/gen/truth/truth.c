#include "gen/truth/truth.h"

#include "gen/plan_internal.h"
#include "gen/truth/truth_json.h"

#include <jansson.h>
#include <unistd.h>

static json_t *rows_json(const struct nai_gen_plan *plan) {
  json_t *rows = json_object();
  const char *table;
  for (int i = 0; (table = nai_gen_db_table(plan->db, i)); i++) {
    int64_t count = nai_gen_db_row_count(plan->db, table);
    if (count > 0) {
      nai_gen_json_int(rows, table, count);
    }
  }
  return rows;
}

/* Of each column of integers: how many, and their sum (modulo 2^64, as a signed number). */
static json_t *evidence_json(const struct nai_gen_plan *plan) {
  const struct nai_gen_evidence *evidence = plan->evidence.items;
  json_t *all = json_object();
  for (size_t i = 0; i < plan->evidence.count; i++) {
    json_int_t count = evidence[i].count, sum = (json_int_t)evidence[i].sum;
    if (!evidence[i].column) { /* comes before its columns */
      json_object_set_new(all, evidence[i].table, json_pack("{s:I,s:{}}", "rows", count, "columns"));
    } else {
      json_t *columns = json_object_get(json_object_get(all, evidence[i].table), "columns");
      json_object_set_new(columns, evidence[i].column, json_pack("{s:I,s:I}", "count", count, "sum", sum));
    }
  }
  return all;
}

static json_t *drops_json(const struct nai_gen_plan *plan) {
  const struct nai_gen_drop *drops = plan->drops.items;
  json_t *all = json_array();
  for (size_t i = 0; i < plan->drops.count; i++) {
    json_t *object = nai_gen_json_object_in(all);
    nai_gen_json_string(object, "table", drops[i].table);
    nai_gen_json_string(object, "reason", drops[i].reason);
    nai_gen_json_int(object, "count", drops[i].count);
  }
  return all;
}

static json_t *findings_json(const struct nai_gen_plan *plan) {
  json_t *must = json_array();
  json_t *must_not = json_array();
  for (int i = 0; i < plan->expectation_count; i++) {
    json_array_append_new(plan->expectations[i].fires ? must : must_not,
                          json_stringn(plan->expectations[i].id, plan->expectations[i].id_size));
  }
  return json_pack("{s:o,s:o}", "must_fire", must, "must_not_fire", must_not);
}

static json_t *caveats_json(const struct nai_gen_plan *plan) {
  json_t *caveats = json_array();
  for (int i = 0; i < plan->caveat_count; i++) {
    json_array_append_new(caveats, json_string(plan->caveats[i]));
  }
  return caveats;
}

static json_t *truth_json(const struct nai_gen_plan *plan, const struct nai_gen_truth_options *options) {
  json_t *truth = json_object();
  nai_gen_json_string(truth, "format", "nsys-ai-truth");
  nai_gen_json_int(truth, "version", 1);
  nai_gen_json_string(truth, "scenario", options->scenario);
  nai_gen_json_int(truth, "seed", (int64_t)options->seed);
  nai_gen_json_int(truth, "schema", plan->schema);
  json_object_set_new(truth, "exact", json_boolean(!plan->inexact));
  json_object_set_new(truth, "rows", rows_json(plan));
  json_object_set_new(truth, "findings", findings_json(plan));
  json_object_set_new(truth, "caveats", caveats_json(plan));
  json_t *evidence = evidence_json(plan);
  if (json_object_size(evidence)) {
    json_object_set(truth, "evidence", evidence);
  }
  json_decref(evidence);
  nai_gen_set_answers(truth, plan);
  nai_gen_set_waits(truth, plan);
  if (plan->inexact) {
    return truth;
  }
  json_object_set_new(truth, "rows_dropped", drops_json(plan));
  nai_gen_set_work(truth, plan);
  return truth;
}

int nai_gen_truth_check(const char *path, bool replace, struct nai_gen_err *err) {
  if (!replace && access(path, F_OK) == 0) {
    return nai_gen_fail(NAI_GEN_EUSAGE, err, "output exists: file=\"%s\" (use --force to replace it)", path);
  }
  return 0;
}

int nai_gen_truth_write(const struct nai_gen_plan *plan, const char *path, const struct nai_gen_truth_options *options,
                        struct nai_gen_err *err) {
  json_t *truth = truth_json(plan, options);
  if (!truth) {
    return nai_gen_fail(NAI_GEN_ENOMEM, err, "out of memory");
  }
  int rc = nai_gen_json_write(truth, path, err);
  json_decref(truth);
  return rc;
}
