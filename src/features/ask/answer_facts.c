/* Facts: rows of tables as sentences. */
#include "features/ask/internal.h"

#include "features/ask/numbers.h"
#include "skills/skill.h"

/* What stands in front of a fact's own columns: its row, and the stretch of time it is about. */
enum { ROW, START, END, FIRST };

int nai_intent_ask(struct nai_query_rows *out, const struct nai_asking *asking, const struct nai_intent *intent,
                   const char *sql, const char *label, struct nai_err *err) {
  enum { MAX_ROWS = 1000 };
  const struct nai_question *q = asking->question;
  enum { PLAIN = 17 };
  bool pair = q->gpu_count == 2;
  struct nai_query_parameter parameters[PLAIN + NAI_QUESTION_MAX_CHOICES] = {
      nai_query_int("gpu", asking->gpu, INT64_MIN),
      nai_query_int("gpu_a", pair ? q->gpus[0] : INT64_MIN, INT64_MIN),
      nai_query_int("gpu_b", pair ? q->gpus[1] : INT64_MIN, INT64_MIN),
      nai_query_string("name", asking->name),
      nai_query_string("name_b", asking->other_count ? asking->others[0] : ""),
      nai_query_string("question", q->squeezed),
      nai_query_int("number", q->number, INT64_MIN),
      nai_query_int("other", q->other, INT64_MIN),
      nai_query_string("named", q->named),
      nai_query_string("within", q->within),
      nai_query_string("text", q->text),
      nai_query_int("least_ns", q->least_ns, INT64_MIN),
      nai_query_int("most_ns", q->most_ns, INT64_MIN),
      nai_query_int("least_bytes", q->least_bytes, INT64_MIN),
      nai_query_int("most_bytes", q->most_bytes, INT64_MIN),
      nai_query_int("from", q->time_count ? q->time_ns[0] : -1, -1),
      nai_query_int("to", q->time_count > 1 ? q->time_ns[1] : -1, -1)};
  for (size_t i = 0; i < q->choice_count; i++)
    parameters[PLAIN + i] = nai_query_string(q->choices[i].key, q->choices[i].value);
  struct nai_query_table tables[NAI_QUERY_MAX_TABLES];
  size_t table_count = 0;
  const struct nai_yaml_node *table = intent ? nai_intent_items(intent->doc, intent->node, "tables") : NULL;
  for (; table; table = nai_yaml_next(intent->doc, table))
    tables[table_count++] = (struct nai_query_table){table->key, table->text};
  const struct nai_query_text text = {.sql = sql, .label = label};
  const struct nai_query query = {.run = asking->run,
                                  .text = &text,
                                  .tables = tables,
                                  .table_count = table_count,
                                  .parameters = parameters,
                                  .parameter_count = PLAIN + q->choice_count,
                                  .limits = {.rows = MAX_ROWS}};
  return nai_query_collect(out, &query, err);
}

int nai_facts_ask(struct nai_query_rows *out, const struct nai_asking *asking, const char *sql, const char *label,
                  struct nai_err *err) {
  return nai_intent_ask(out, asking, NULL, sql, label, err);
}

/* --- what is added to an answer ------------------------------------------------------------------------------- */

const char *nai_answer_copy(const struct nai_asking *asking, const char *text) {
  return nai_arena_printf(asking->arena, "%s", text);
}

const char *nai_answer_text(const struct nai_asking *asking, const struct nai_buf *text) {
  asking->arena->oom |= text->oom;
  return nai_answer_copy(asking, nai_buf_str(text));
}

void nai_answer_say(const struct nai_asking *asking, struct nai_sentences *where, const struct nai_fact *fact,
                    const char *text) {
  for (size_t i = 0; i < where->count; i++)
    if (strcmp(where->items[i].text, text) == 0) {
      asking->answer->repeats = true;
      return;
    }
  if (where->count < NAI_QUESTION_MAX_LINES)
    where->items[where->count++] =
        (struct nai_sentence){nai_answer_copy(asking, text), fact ? (int)(fact - asking->answer->facts) : -1};
}

struct nai_fact *nai_fact_find(struct nai_answer *answer, const char *table, int64_t row, const char *text) {
  for (size_t i = 0; i < answer->fact_count; i++)
    if (answer->facts[i].row == row && strcmp(answer->facts[i].table, table) == 0 &&
        (!text || strcmp(answer->facts[i].text, text) == 0))
      return &answer->facts[i];
  return NULL;
}

struct nai_fact *nai_fact_new(const struct nai_asking *asking, const char *table, int64_t row) {
  struct nai_answer *answer = asking->answer;
  if (answer->fact_count == NAI_QUESTION_MAX_FACTS)
    return NULL;
  struct nai_fact *fact = &answer->facts[answer->fact_count++];
  *fact = (struct nai_fact){.table = nai_answer_copy(asking, table), .row = row};
  return fact;
}

void nai_fact_add_value(const struct nai_asking *asking, struct nai_fact *fact, const char *column, enum nai_unit unit,
                        const struct nai_value *value) {
  struct nai_fact_value *v = &fact->values[fact->value_count++];
  *v = (struct nai_fact_value){nai_answer_copy(asking, column), unit, *value};
  if (value->type == NAI_STR && !value->null)
    v->value.s = nai_answer_copy(asking, value->s);
}

/* --- facts of an intent --------------------------------------------------------------------------------------- */

static bool has_name(const struct nai_buf *names, const char *name, size_t len) {
  const char *at = nai_buf_str(names);
  for (; (at = strchr(at, ' ')); at++)
    if (strncmp(at + 1, name, len) == 0 && at[1 + len] == ' ')
      return true;
  return false;
}

/* The columns that a text names in {{placeholders}}, once each; those of `with` are expressions. `names` are those that
 * are there already, a space around each. */
static void put_columns(struct nai_buf *sql, struct nai_buf *names, const struct nai_yaml *doc,
                        const struct nai_yaml_node *entry, const char *key) {
  const char *text = nai_intent_text(doc, entry, key);
  const struct nai_yaml_node *with = nai_yaml_get(doc, entry, "with");
  while (text && (text = strstr(text, "{{"))) {
    char name[64];
    size_t len = strcspn(text += 2, "}|");
    snprintf(name, sizeof name, "%.*s", (int)len, text);
    if (has_name(names, name, strlen(name)))
      continue;
    const char *expression = with ? nai_intent_text(doc, with, name) : NULL;
    nai_buf_printf(names, "%s ", name);
    if (expression)
      nai_buf_printf(sql, ", (%s) as \"%s\"", expression, name);
    else
      nai_buf_printf(sql, ", %s", name);
  }
}

static void put_statement(struct nai_buf *sql, const struct nai_intent *intent, const struct nai_yaml_node *entry,
                          bool by_gpu, size_t room) {
  const struct nai_yaml *doc = intent->doc;
  const char *where = nai_intent_text(doc, entry, "where"), *order = nai_intent_text(doc, entry, "order"),
             *limit = nai_intent_text(doc, entry, "limit");
  const struct nai_yaml_node *start = nai_intent_items(doc, entry, "time"),
                             *end = start ? nai_yaml_next(doc, start) : NULL;
  size_t most = limit ? strtoul(limit, NULL, 10) : room;
  NAI_SCOPED(nai_buf) names = {0};
  nai_buf_putc(&names, ' ');
  nai_buf_printf(sql, "select rowid as row_, %s as start_, %s as end_", start ? start->text : "null",
                 end ? end->text : "null");
  put_columns(sql, &names, doc, entry, "text");
  put_columns(sql, &names, doc, entry, "answer");
  nai_buf_printf(sql, " from %s where (%s)%s order by %s%srowid limit %zu", nai_intent_text(doc, entry, "table"),
                 where ? where : "1", by_gpu ? " and device_id = :gpu" : "", order ? order : "", order ? ", " : "",
                 most < room ? most : room);
  sql->oom |= names.oom;
}

static void put_plain(struct nai_buf *out, const char *text, size_t len) { nai_buf_put(out, text, len); }

static const char *line_of(const struct nai_asking *asking, const struct nai_query_rows *found, int64_t row,
                           const char *text) {
  struct nai_skill_cell cells[NAI_FACT_MAX_VALUES];
  NAI_SCOPED(nai_buf) line = {0};
  size_t n = 0;
  for (uint32_t i = FIRST; i < found->columns && n < NAI_FACT_MAX_VALUES; i++)
    cells[n++] = (struct nai_skill_cell){found->names[i], found->units[i], *nai_query_cell(found, row, i)};
  nai_skill_line(&line, text, cells, n, found->rows, put_plain);
  return nai_answer_text(asking, &line);
}

/* "bf16 or fp32" and "how much" ask which and how much, not whether; of a part of a question nobody knows what yes
 * would mean. */
static const char *without_verdict(const struct nai_asking *asking, const char *line) {
  static const char *const verdicts[] = {"Yes: ", "No: ", "Partly: "};
  const struct nai_question *q = asking->question;
  const bool amount =
      q->count > 1 && strcmp(q->words[0].text, "how") == 0 && nai_word_is_of("much many long often", q->words[1].text);
  for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
    if ((q->either || amount || asking->partly) && strncmp(line, verdicts[i], strlen(verdicts[i])) == 0)
      line += strlen(verdicts[i]);
  return line;
}

static void fill(struct nai_fact *fact, const struct nai_asking *asking, const struct nai_query_rows *found,
                 int64_t row, const char *text) {
  fact->text = text;
  fact->timed = !nai_query_cell(found, row, START)->null && !nai_query_cell(found, row, END)->null;
  fact->start_ns = nai_query_cell_int(found, row, START);
  fact->end_ns = nai_query_cell_int(found, row, END);
  for (uint32_t i = FIRST; i < found->columns && fact->value_count < NAI_FACT_MAX_VALUES; i++)
    nai_fact_add_value(asking, fact, found->names[i], found->units[i], nai_query_cell(found, row, i));
}

/* Whether the table tells GPUs apart, where the question names one. */
static int is_by_gpu(bool *out, const struct nai_asking *asking, const char *table, struct nai_err *err) {
  char sql[256];
  NAI_SCOPED(nai_query_rows) found = {0};
  *out = false;
  if (asking->gpu == INT64_MIN)
    return NAI_OK;
  snprintf(sql, sizeof sql, "select 1 from nai_columns where table_name = '%.60s' and name = 'device_id'", table);
  NAI_TRY(nai_facts_ask(&found, asking, sql, "columns", err));
  *out = found.rows > 0;
  return NAI_OK;
}

/* Whether a fact is of the GPU and the stretch of time that the question names. */
static bool applies(const struct nai_asking *asking, const struct nai_intent *intent, const struct nai_yaml_node *entry,
                    bool by_gpu) {
  const struct nai_question *q = asking->question;
  bool gpu = asking->gpu == INT64_MIN || by_gpu || nai_fact_has(intent, entry, ":gpu");
  return gpu && (q->time_count < 2 || nai_fact_has(intent, entry, ":from"));
}

int nai_facts_add(const struct nai_asking *asking, const struct nai_intent *intent, const struct nai_yaml_node *entry,
                  size_t room, struct nai_err *err) {
  const struct nai_yaml *doc = intent->doc;
  struct nai_answer *answer = asking->answer;
  const char *table = nai_intent_text(doc, entry, "table"), *said = nai_intent_text(doc, entry, "answer"),
             *none = nai_intent_text(doc, entry, "none");
  NAI_SCOPED(nai_buf) sql = {0};
  NAI_SCOPED(nai_query_rows) found = {0};
  char label[256];
  bool by_gpu;
  snprintf(label, sizeof label, "%s: intent %s, facts of %s", doc->file, intent->name, table);
  NAI_TRY(is_by_gpu(&by_gpu, asking, table, err));
  if (!applies(asking, intent, entry, by_gpu))
    return NAI_OK;
  put_statement(&sql, intent, entry, by_gpu, room);
  NAI_TRY(nai_buf_check(&sql, err));
  NAI_TRY(nai_intent_ask(&found, asking, intent, nai_buf_str(&sql), label, err));
  for (int64_t row = 0; row < found.rows; row++) {
    int64_t rowid = nai_query_cell_int(&found, row, ROW);
    const char *text = line_of(asking, &found, row, nai_intent_text(doc, entry, "text"));
    text = asking->partly ? without_verdict(asking, text) : text;
    struct nai_fact *fact = nai_fact_find(answer, table, rowid, text);
    if (!fact && (fact = nai_fact_new(asking, table, rowid)))
      fill(fact, asking, &found, row, text);
    if (fact && row == 0 && said)
      nai_answer_say(asking, &answer->said, fact, without_verdict(asking, line_of(asking, &found, row, said)));
  }
  if (!found.rows && none)
    nai_answer_say(asking, &answer->said, NULL, none);
  return NAI_OK;
}
