/* nsys-ai evidence --format v0.1: findings for timelines and agents that read evidence reports of schema 0.1. */
#include "features/read/read.h"
#include "command/collect.h"

#include <inttypes.h>
#include <string.h>

enum { F_FINDING, F_ID, F_SEVERITY, F_TITLE, F_STAKE, F_START, F_END, F_DEVICE, F_TEXT, F_WINDOW };
/* A fact without a place stands where the window begins, unless the finding has facts with one. */
static const char statement[] =
    "with facts as (select e.rowid as number, e.*, count(e.start_ns) over (partition by e.finding) as placed from evidence e "
    "where :gpu is null or e.device_id is null or e.device_id = :gpu) "
    "select f.finding, f.id, f.severity, f.title, f.at_stake_ns, e.start_ns, e.end_ns, e.device_id, e.text, "
    "(select window_start_ns from run_info) from findings f left join facts e on e.finding = f.finding "
    "where (:finding is null or f.finding = :finding) and (e.start_ns is not null or coalesce(e.placed, 0) = 0) and "
    "case f.severity when 'high' then 3 when 'medium' then 2 when 'low' then 1 else 0 end >= :severity "
    "order by f.finding, e.number";
static const char skipped_statement[] =
    "select capability, detail from capabilities where available = 0 order by rowid";

static const char *severity_there(const char *ours) {
  return strcmp(ours, "high") == 0 ? "critical" : strcmp(ours, "medium") == 0 ? "warning" : "info";
}

static void put_finding(struct nai_json *json, const struct nai_query_rows *rows, int64_t row) {
  const struct nai_value *start = nai_query_cell(rows, row, F_START), *end = nai_query_cell(rows, row, F_END),
                         *device = nai_query_cell(rows, row, F_DEVICE), *stake = nai_query_cell(rows, row, F_STAKE);
  bool region = !start->null && !end->null;
  nai_json_begin_object(json, NAI_JSON_INLINE);
  nai_json_put_text(json, "type", region ? "region" : "marker");
  nai_json_put_text(json, "label", nai_query_cell_text(rows, row, F_TITLE));
  nai_json_put_int(json, "start_ns", nai_query_cell_int(rows, row, start->null ? F_WINDOW : F_START));
  if (region)
    nai_json_put_int(json, "end_ns", end->i);
  if (!device->null)
    nai_json_put_int(json, "gpu_id", device->i);
  nai_json_put_text(json, "severity", severity_there(nai_query_cell_text(rows, row, F_SEVERITY)));
  nai_json_put_text(json, "note", nai_query_cell_text(rows, row, F_TEXT));
  nai_json_put_text(json, "id", nai_query_cell_text(rows, row, F_ID));
  if (!stake->null) {
    nai_json_key(json, "headroom_ms");
    nai_json_value(json, NAI_MS, stake);
  }
  nai_json_end(json);
}

static void put_skipped(struct nai_json *json, const struct nai_query_rows *rows) {
  nai_json_key(json, "skipped");
  nai_json_begin_array(json, NAI_JSON_LINES);
  for (int64_t row = 0; row < rows->rows; row++) {
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "capability", nai_query_cell_text(rows, row, 0));
    nai_json_put_text(json, "reason", nai_query_cell_text(rows, row, 1));
    nai_json_end(json);
  }
  nai_json_end(json);
}

static void put_head(struct nai_json *json, const struct nai_run *run) {
  const char *trace = nai_run_manifest(run)->trace ? nai_run_manifest(run)->trace : "";
  struct nai_buf id = {0};
  nai_buf_printf(&id, "%016" PRIx64, nai_run_manifest(run)->identity);
  nai_json_put_text(json, "schema_version", "0.1");
  nai_json_put_text(json, "producer", "nsys-ai");
  nai_json_put_text(json, "producer_version", NAI_VERSION);
  nai_json_put_text(json, "title", trace);
  nai_json_put_text(json, "profile_id", nai_buf_str(&id));
  nai_json_put_text(json, "profile_path", trace);
  nai_buf_free(&id);
}

int nai_cmd_put_findings(struct nai_buf *out, struct nai_run *run, const struct nai_query_parameter *parameters,
                         size_t count, struct nai_err *err) {
  struct nai_query_rows rows = {0}, skipped = {0};
  struct nai_json json;
  int rc = nai_cmd_collect(&rows, run, statement, parameters, count, err);
  if (!rc)
    rc = nai_cmd_collect(&skipped, run, skipped_statement, NULL, 0, err);
  if (!rc) {
    nai_json_init(&json, out, false);
    nai_json_begin_object(&json, NAI_JSON_LINES);
    put_head(&json, run);
    nai_json_key(&json, "findings");
    nai_json_begin_array(&json, NAI_JSON_LINES);
    for (int64_t row = 0; row < rows.rows; row++)
      put_finding(&json, &rows, row);
    nai_json_end(&json);
    put_skipped(&json, &skipped);
    nai_json_end(&json);
    nai_json_finish(&json);
    nai_buf_putc(out, '\n');
  }
  nai_query_rows_free(&rows);
  nai_query_rows_free(&skipped);
  return rc ? rc : nai_buf_check(out, err);
}
