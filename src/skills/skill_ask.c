/* Asking a skill: its statement's rows as a table with the columns that the file declares. */
#include "skills/internal.h"

#include "base/text.h"
#include "tables/capabilities.h"
#include "tables/table_list.h"
#include "trace/ingest.h"

/* --- abstaining ------------------------------------------------------------------------------------ */

/* "CUDA API calls" is asked for as cuda-api-calls. */
static bool is_same(const char *capability, const char *need) {
  for (; *capability && *need; capability++, need++)
    if (tolower((unsigned char)*capability) != *need && !(*capability == ' ' && *need == '-'))
      return false;
  return !*capability && !*need;
}

/* 1: there; 0: not; -1: no capability of that name. */
static int has_capability(const struct nai_table *capabilities, const char *need, const char **detail) {
  int found = -1;
  for (int64_t row = 0; row < capabilities->rows; row++) {
    if (!is_same(nai_get_str(capabilities, row, CAPABILITIES_capability), need))
      continue;
    found = found > 0 || nai_get_i64(capabilities, row, CAPABILITIES_available) == 1;
    *detail = nai_get_str(capabilities, row, CAPABILITIES_detail);
  }
  return found;
}

/* Fills answer->reason when the export lacks what the skill needs. */
static int check_needs(struct nai_skill_answer *answer, const struct nai_skill *skill, struct nai_run *run,
                       struct nai_err *err) {
  const struct nai_table *capabilities;
  if (!skill->need_count)
    return NAI_OK;
  NAI_TRY(nai_run_table(&capabilities, run, nai_capabilities_schema.name, &nai_capabilities_schema, err));
  for (size_t i = 0; i < skill->need_count && !answer->reason.len; i++) {
    const char *detail = "";
    int there = has_capability(capabilities, skill->needs[i], &detail);
    if (there < 0)
      return nai_err_set(
          err, NAI_EUSAGE,
          "%s: \"needs\": there is no capability \"%s\"; nsys-ai sql SRC 'select capability from capabilities' "
          "lists them",
          skill->doc->file, skill->needs[i]);
    if (!there)
      nai_buf_printf(&answer->reason, "the trace has no %s (%s)", skill->needs[i], detail);
  }
  return NAI_OK;
}

/* --- the table ------------------------------------------------------------------------------------- */

static bool is_scaled(enum nai_unit unit) { return unit == NAI_US || unit == NAI_MS || unit == NAI_S; }

/* The schema that the file declares: times are stored in ns. */
struct schema {
  struct nai_schema schema;
  struct nai_column_def defs[NAI_SKILL_MAX_COLUMNS];
  char names[NAI_SKILL_MAX_COLUMNS][NAI_COLUMN_NAME_MAX];
};

static void make_schema(struct schema *s, const struct nai_skill *skill) {
  for (size_t i = 0; i < skill->column_count; i++) {
    const struct nai_skill_column *c = &skill->columns[i];
    bool scaled = is_scaled(c->unit);
    size_t suffix = scaled ? strlen(nai_unit_name(c->unit)) : 0;
    snprintf(s->names[i], sizeof s->names[i], "%.*s%s", (int)(strlen(c->name) - suffix), c->name, scaled ? "ns" : "");
    s->defs[i] = (struct nai_column_def){.name = s->names[i],
                                         .type = c->unit == NAI_TEXT ? NAI_STR
                                               : c->real             ? NAI_F64
                                                                     : NAI_I64,
                                         .unit = scaled ? NAI_NS : c->unit,
                                         .display_units = scaled ? 1u << c->unit : 0,
                                         .description = c->description};
  }
  s->schema = (struct nai_schema){.name = skill->id,
                                  .title = skill->title,
                                  .description = skill->description,
                                  .columns = s->defs,
                                  .csv = true,
                                  .column_count = (uint32_t)skill->column_count};
}

int nai_skill_schema(struct nai_schema **out, const struct nai_skill *skill, struct nai_err *err) {
  NAI_FREED struct schema *schema = calloc(1, sizeof *schema);
  NAI_TRY(nai_memory_check(schema, err));
  *out = NULL;
  make_schema(schema, skill);
  return nai_schema_copy(out, &schema->schema, err);
}

struct filling {
  const struct nai_skill *skill;
  struct nai_table *table;
  int column[NAI_SKILL_MAX_COLUMNS]; /* of the statement, per column of the skill */
};

/* The statement's columns and the file's are the same. */
static int match_columns(void *ctx, const struct nai_query_column *columns, uint32_t count, struct nai_err *err) {
  struct filling *f = ctx;
  const struct nai_skill *skill = f->skill;
  const struct nai_yaml_node *map = nai_yaml_get(skill->doc, nai_yaml_root(skill->doc), "columns");
  const struct nai_yaml_node *node = nai_yaml_first(skill->doc, map);
  uint64_t used = 0;
  for (size_t i = 0; i < skill->column_count; i++, node = nai_yaml_next(skill->doc, node)) {
    f->column[i] = -1;
    for (uint32_t c = 0; c < count && c < NAI_SKILL_MAX_COLUMNS; c++)
      if (strcmp(columns[c].name, skill->columns[i].from) == 0) {
        f->column[i] = (int)c;
        used |= UINT64_C(1) << c;
      }
    if (f->column[i] < 0)
      return nai_yaml_error_key(skill->doc, node, err, "the statement has no column \"%s\"", skill->columns[i].from);
  }
  for (uint32_t c = 0; c < count; c++)
    if (c >= NAI_SKILL_MAX_COLUMNS || !(used & UINT64_C(1) << c))
      return nai_yaml_error_key(skill->doc, map, err, "the statement's column \"%s\" is not declared", columns[c].name);
  return NAI_OK;
}

static int refuse_cell(const struct filling *f, size_t i, int64_t row, const char *got, struct nai_err *err) {
  const struct nai_skill_column *c = &f->skill->columns[i];
  return nai_err_set(err, NAI_EUSAGE, "%s: row %lld: column \"%s\" is %s, its unit %s takes %s%s", f->skill->doc->file,
                     (long long)row, c->name, got, nai_unit_name(c->unit),
                     c->unit == NAI_TEXT ? "text"
                     : c->real           ? "numbers"
                                         : "whole numbers",
                     is_scaled(c->unit) ? " of ns" : "");
}

static int put_row(void *ctx, const struct nai_value *cells, struct nai_err *err) {
  struct filling *f = ctx;
  int64_t row = nai_table_add_row(f->table);
  NAI_TRY(nai_table_check(f->table, err));
  for (size_t i = 0; i < f->skill->column_count; i++) {
    const struct nai_value *cell = &cells[f->column[i]];
    enum nai_type type = f->table->schema->columns[i].type;
    if (cell->null)
      continue;
    if ((cell->type == NAI_STR) != (type == NAI_STR))
      return refuse_cell(f, i, row, cell->type == NAI_STR ? "a text" : "a number", err);
    if (type == NAI_STR)
      nai_set_str(f->table, row, (int)i, cell->s);
    else if (type == NAI_F64)
      nai_set_f64(f->table, row, (int)i, cell->type == NAI_F64 ? cell->f : (double)cell->i);
    else if (cell->type == NAI_F64)
      return refuse_cell(f, i, row, "a real number", err);
    else
      nai_set_i64(f->table, row, (int)i, cell->i);
  }
  return NAI_OK;
}

/* In the order that is asked for, then by all columns: the same for any plan of the statement. */
static int sort(struct nai_skill_answer *answer, const struct nai_skill *skill, struct nai_err *err) {
  struct nai_sort_by by[NAI_SKILL_MAX_ORDER + NAI_SKILL_MAX_COLUMNS];
  int keys = 0;
  for (size_t i = 0; i < skill->order_count; i++)
    by[keys++] = (struct nai_sort_by){skill->order[i].column, skill->order[i].descending};
  for (size_t i = 0; i < skill->column_count; i++)
    by[keys++] = (struct nai_sort_by){(int)i, false};
  NAI_TRY(nai_table_sort_by(answer->table, by, keys, err));
  if (answer->table->rows > NAI_SKILL_MAX_ROWS) {
    answer->left_out = answer->table->rows - NAI_SKILL_MAX_ROWS;
    nai_table_truncate(answer->table, NAI_SKILL_MAX_ROWS);
  }
  return NAI_OK;
}

static int fill_answer(struct nai_skill_answer *answer, const struct nai_skill *skill,
                       const struct nai_skill_request *request, struct nai_err *err) {
  struct nai_query_parameter parameters[NAI_SKILL_MAX_PARAMETERS + NAI_SKILL_ALWAYS];
  struct nai_query query = {
      .run = request->run, .text = &skill->text, .parameters = parameters, .limits = request->limits};
  NAI_OWNED(nai_schema) *schema = NULL;
  bool truncated;
  NAI_TRY(nai_skill_bind(parameters, &query.parameter_count, skill, request, err));
  NAI_TRY(check_needs(answer, skill, request->run, err));
  if (answer->reason.len)
    return NAI_OK;
  NAI_TRY(nai_skill_schema(&schema, skill, err));
  NAI_TRY(nai_table_new_copy(&answer->table, schema, err));
  struct filling filling = {.skill = skill, .table = answer->table};
  query.limits.rows = -1;
  NAI_TRY(nai_query_run(&truncated, &query, &(struct nai_query_sink){match_columns, put_row, &filling}, err));
  return sort(answer, skill, err);
}

int nai_skill_ask(struct nai_skill_answer *answer, const struct nai_skill *skill,
                  const struct nai_skill_request *request, struct nai_err *err) {
  *answer = (struct nai_skill_answer){0};
  int rc = fill_answer(answer, skill, request, err);
  if (rc)
    nai_skill_answer_free(answer);
  return rc;
}

void nai_skill_answer_free(struct nai_skill_answer *answer) {
  nai_table_free(answer->table);
  nai_buf_free(&answer->reason);
  answer->table = NULL;
}

/* --- checking -------------------------------------------------------------------------------------- */

static int no_row(void *ctx, const struct nai_value *cells, struct nai_err *err) {
  (void)ctx, (void)cells, (void)err;
  return NAI_OK;
}

static int any_columns(void *ctx, const struct nai_query_column *columns, uint32_t count, struct nai_err *err) {
  (void)ctx, (void)columns, (void)count, (void)err;
  return NAI_OK;
}

static int describe(const struct nai_query_text *text, const struct nai_skill *skill, struct nai_run *run,
                    struct nai_err *err) {
  struct nai_query_parameter parameters[NAI_SKILL_MAX_PARAMETERS + NAI_SKILL_ALWAYS + 1] = {0};
  struct filling filling = {.skill = skill};
  size_t n = 0;
  bool truncated;
  for (; skill && n < skill->parameter_count; n++)
    parameters[n] = (struct nai_query_parameter){skill->parameters[n].name, {.null = true}};
  for (int i = 0; i < NAI_SKILL_ALWAYS; i++)
    parameters[n++] = (struct nai_query_parameter){nai_skill_always[i], {.null = true}};
  if (!skill)
    parameters[n++] = (struct nai_query_parameter){"what", {.null = true}};
  const struct nai_query query = {.run = run,
                                  .text = text,
                                  .parameters = parameters,
                                  .parameter_count = n,
                                  .limits = {30, 0, -1},
                                  .mode = NAI_QUERY_DESCRIBE};
  return nai_query_run(&truncated, &query,
                       &(struct nai_query_sink){skill ? match_columns : any_columns, no_row, &filling}, err);
}

enum { MAX_CAPABILITIES = 128, MAX_NEED = 64 };

/* As "needs" names it. */
static void put_need(char out[MAX_NEED], const char *capability) {
  snprintf(out, MAX_NEED, "%s", capability);
  for (; *out; out++)
    *out = *out == ' ' ? '-' : (char)tolower((unsigned char)*out);
}

/* Of a name that no export has the skill would say so for each trace. */
static int check_need(const struct nai_skill *skill, const struct nai_yaml_node *node, struct nai_err *err) {
  char names[MAX_CAPABILITIES][MAX_NEED];
  const char *list[MAX_CAPABILITIES];
  size_t count = 0;
  for (; count < MAX_CAPABILITIES && nai_capability_name(count); count++) {
    if (is_same(nai_capability_name(count), node->text))
      return NAI_OK;
    put_need(names[count], nai_capability_name(count));
    list[count] = names[count];
  }
  const char *near = nai_text_suggest(node->text, list, count);
  return nai_yaml_error(skill->doc, node, err, "no export has a capability \"%.60s\"%s%s%s", node->text,
                        near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

int nai_skill_check(const struct nai_skill *skill, struct nai_run *run, struct nai_err *err) {
  const struct nai_yaml_node *root = nai_yaml_root(skill->doc), *id = nai_yaml_get(skill->doc, root, "skill"), *need;
  NAI_TRY(nai_yaml_items(&need, skill->doc, root, "needs", NAI_YAML_LIST, err));
  for (; need; need = nai_yaml_next(skill->doc, need))
    NAI_TRY(check_need(skill, need, err));
  if (nai_query_has(run, skill->id) || strcmp(skill->id, nai_table_list_schema.name) == 0)
    return nai_yaml_error(skill->doc, id, err, "\"%s\" is a table of every run", skill->id);
  return describe(&skill->text, skill, run, err);
}

int nai_page_check(const struct nai_skill *page, const struct nai_skills *skills, struct nai_run *run,
                   struct nai_err *err) {
  for (size_t i = 0; i < page->block_count; i++) {
    const struct nai_page_block *block = &page->blocks[i];
    const struct nai_skill *skill;
    int rc = block->skill ? nai_skills_find(&skill, skills, block->skill, err) : NAI_OK;
    if (rc)
      return nai_err_wrap(err, rc, "%s", page->doc->file);
    if (block->text.sql)
      NAI_TRY(describe(&block->text, NULL, run, err));
  }
  return NAI_OK;
}
