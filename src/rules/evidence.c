/* The facts behind a finding. */
#include "rules/evaluation.h"

/* The row's GPU, process or thread, or `otherwise` when the table has none. */
static int64_t row_id(const struct nai_table *table, int64_t row, enum nai_role role, int64_t otherwise) {
  int column = nai_schema_role(table->schema, role);
  return column >= 0 ? nai_get_i64(table, row, column) : otherwise;
}

/* A line without a place: what its table has from that row on. Returns the line's row. */
static int64_t write_line(struct evaluation *e, uint32_t number, const struct nai_table *source, int64_t source_row,
                          const char *text) {
  struct nai_table *t = e->evidence_table;
  int64_t row = nai_table_add_row(t);
  nai_set_i64(t, row, EVIDENCE_finding, number + 1);
  nai_set_str(t, row, EVIDENCE_text, text);
  nai_set_str(t, row, EVIDENCE_table_name, source->schema->name);
  nai_set_i64(t, row, EVIDENCE_row, source_row);
  return row;
}

static void write_evidence(struct evaluation *e, uint32_t number, const struct hit *hit, const struct nai_table *source,
                           int64_t source_row, const char *text) {
  struct nai_table *t = e->evidence_table;
  int64_t row = write_line(e, number, source, source_row, text);
  int start, end;
  if (nai_schema_place(&start, &end, source->schema)) {
    nai_set_i64(t, row, EVIDENCE_start_ns, nai_get_i64(source, source_row, start));
    nai_set_i64(t, row, EVIDENCE_end_ns, nai_get_i64(source, source_row, end));
  }
  nai_set_i64(t, row, EVIDENCE_device_id, row_id(source, source_row, NAI_ROLE_DEVICE, hit->device_id));
  nai_set_i64(t, row, EVIDENCE_pid, row_id(source, source_row, NAI_ROLE_PROCESS, hit->pid));
  nai_set_i64(t, row, EVIDENCE_tid, row_id(source, source_row, NAI_ROLE_THREAD, NAI_NULL_I64));
  int name = nai_schema_name(source->schema);
  if (name >= 0) {
    struct nai_value cell = nai_table_value(source, source_row, name);
    nai_set_str(t, row, EVIDENCE_name, cell.null ? NULL : cell.s);
  }
}

static int write_item(struct evaluation *e, uint32_t number, const struct hit *hit, struct env *env,
                      const struct evidence_item *item) {
  int64_t rows[MAX_EVIDENCE_ROWS];
  int count = 1;
  if (!nai_formula_holds(env, item->when))
    return 0;
  if (item->each) { /* all `for` items of a rule share one source */
    env->tables[item->source] = nai_env_table(env, item->rows.schema);
    count = nai_selection_rows(rows, item->rows.limit, env, &item->rows);
  } else {
    rows[0] = env->rows[item->source];
  }
  struct nai_buf text = {0};
  for (int i = 0; i < count && rows[i] >= 0; i++) {
    env->rows[item->source] = rows[i];
    nai_buf_clear(&text);
    nai_variants_render(&text, env, item->text, TEXT_PLAIN, "; ");
    write_evidence(e, number, hit, env->tables[item->source], rows[i], nai_buf_str(&text));
  }
  int rc = nai_buf_check(&text, e->err);
  nai_buf_free(&text);
  return rc;
}

/* All items for the first hit; for the others, which share its advice, only the first item: the fact itself. */
static int write_hit_evidence(struct evaluation *e, uint32_t number, const struct hit *hit, bool all) {
  const struct finding *finding = &e->findings[number];
  const struct rule *rule = finding->rule;
  struct nai_buf subject = {0};
  struct env env;
  int rc = nai_subject_describe(&subject, e->input, &hit, 1, e->err);
  if (!rc)
    rc = nai_buf_check(&subject, e->err);
  if (!rc)
    rc = nai_enter_hit(&env, e, hit, nai_buf_str(&subject));
  for (uint32_t i = 0; !rc && i < rule->evidence.count && (all || i == 0); i++)
    rc = write_item(e, number, hit, &env, POOL_AT(e->set->evidence, struct evidence_item, rule->evidence.first + i));
  nai_buf_free(&subject);
  return rc;
}

/* How many rows are not shown. They are at many places: the line leads to the table. */
static int write_rest(struct evaluation *e, uint32_t number, uint32_t shown) {
  const struct finding *finding = &e->findings[number];
  const struct hit *last = finding->hits[shown - 1];
  uint32_t rest = finding->left_out + finding->hit_count - shown;
  struct env env;
  int rc = nai_enter_hit(&env, e, last, "");
  if (rc || !rest)
    return rc;
  struct nai_buf text = {0};
  nai_buf_printf(&text, "and %u more like it in table %s", rest, finding->rule->rows.schema->name);
  write_line(e, number, env.tables[0], last->row, nai_buf_str(&text));
  rc = nai_buf_check(&text, e->err);
  nai_buf_free(&text);
  return rc;
}

int nai_evidence_write(struct evaluation *e, uint32_t number) {
  const struct finding *finding = &e->findings[number];
  uint32_t shown = finding->hit_count < SHOWN_HITS ? finding->hit_count : SHOWN_HITS;
  int rc = 0;
  for (uint32_t h = 0; !rc && h < shown; h++)
    rc = write_hit_evidence(e, number, finding->hits[h], h == 0);
  return rc ? rc : write_rest(e, number, shown);
}
