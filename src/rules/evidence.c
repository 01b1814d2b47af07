/* The facts behind a finding. */
#include "rules/evaluation.h"

/* The row's GPU, process or thread, or `otherwise` when the table has none. */
static int64_t row_id(const struct nai_table *table, int64_t row, enum nai_role role, int64_t otherwise) {
  int column = nai_schema_role(table->schema, role);
  return column >= 0 ? nai_get_i64(table, row, column) : otherwise;
}

/* A fact, with its row's place on the timeline. */
static void write_fact(struct evaluation *e, uint32_t number, const struct hit *hit, const struct nai_table *source,
                       int64_t row, const char *text) {
  struct EVIDENCE_row fact = NAI_ROW(EVIDENCE, .finding = number + 1, .text = text, .table_name = source->schema->name,
                                     .row = row, .device_id = row_id(source, row, NAI_ROLE_DEVICE, hit->device_id),
                                     .pid = row_id(source, row, NAI_ROLE_PROCESS, hit->pid),
                                     .tid = row_id(source, row, NAI_ROLE_THREAD, NAI_NULL_I64));
  int start, end, name = nai_schema_name(source->schema);
  if (nai_schema_place(&start, &end, source->schema)) {
    fact.start_ns = nai_get_i64(source, row, start);
    fact.end_ns = nai_get_i64(source, row, end);
  }
  if (name >= 0) {
    struct nai_value cell = nai_table_value(source, row, name);
    fact.name = cell.null ? NULL : cell.s;
  }
  EVIDENCE_add(e->evidence, &fact);
}

static int write_item(struct evaluation *e, uint32_t number, const struct hit *hit, struct env *env,
                      const struct evidence_item *item) {
  int64_t rows[MAX_EVIDENCE_ROWS];
  int count = 1;
  if (!nai_expression_holds(env, item->when))
    return NAI_OK;
  if (item->each) { /* all `for` items of a rule share one source */
    env->tables[item->source] = nai_rules_table(env->input, item->rows.schema);
    count = nai_selection_rows(rows, item->rows.limit, env, &item->rows);
  } else {
    rows[0] = env->rows[item->source];
  }
  NAI_SCOPED(nai_buf) text = {0};
  for (int i = 0; i < count && rows[i] >= 0; i++) {
    env->rows[item->source] = rows[i];
    nai_buf_clear(&text);
    nai_variants_render(&text, env, &item->text, TEXT_PLAIN, "; ");
    write_fact(e, number, hit, env->tables[item->source], rows[i], nai_buf_str(&text));
  }
  return nai_buf_check(&text, e->err);
}

/* All items for the first hit; for the others, which share its advice, only the first item: the fact itself. */
static int write_hit(struct evaluation *e, uint32_t number, const struct hit *hit, bool all) {
  const struct evidence_items *items = &hit->rule->evidence;
  const char *subject;
  struct env env;
  NAI_TRY(nai_subject_describe(&subject, e->input, &hit, 1, e->arena, e->err));
  nai_hit_enter(&env, e->set, e->input, hit, subject);
  for (uint32_t i = 0; i < items->count && (all || i == 0); i++)
    NAI_TRY(write_item(e, number, hit, &env, &items->at[i]));
  return NAI_OK;
}

/* How many rows are not shown. They are at many places: the line leads to the table, from the last one shown on. */
static int write_rest(struct evaluation *e, uint32_t number, const struct hit *last, uint32_t rest) {
  const char *table = last->rule->rows.schema->name;
  const char *text = nai_arena_printf(e->arena, "and %u more like it in table %s", rest, table);
  NAI_ADD(EVIDENCE, e->evidence, .finding = number + 1, .text = text, .table_name = table, .row = last->row);
  return nai_arena_check(e->arena, e->err);
}

int nai_evidence_write(struct evaluation *e, uint32_t number) {
  const struct finding *finding = &e->findings.at[number];
  uint32_t shown = finding->hit_count < SHOWN_HITS ? finding->hit_count : SHOWN_HITS;
  for (uint32_t h = 0; h < shown; h++)
    NAI_TRY(write_hit(e, number, finding->hits[h], h == 0));
  uint32_t rest = finding->left_out + finding->hit_count - shown;
  return rest ? write_rest(e, number, finding->hits[shown - 1], rest) : NAI_OK;
}
