/* The answer to a question, printed. */
#include "features/ask/question_print.h"

#include "base/fmt.h"
#include "base/escape.h"
#include "table/json.h"

/* A text in lines as wide as the terminal, `first` in front of the first one. */
static void put_filled(struct nai_buf *out, const char *first, int indent, const char *text, int width) {
  NAI_SCOPED(nai_buf) clean = {0};
  int column = indent;
  nai_escape_terminal(&clean, text, strlen(text));
  nai_buf_printf(out, "%-*s", indent, first);
  for (const char *at = nai_buf_str(&clean); *at; at += strspn(at, " ")) {
    size_t len = strcspn(at, " ");
    if (column > indent && width && column + 1 + (int)len > width) {
      nai_buf_printf(out, "\n%*s", indent, "");
      column = indent;
    } else if (column > indent) {
      nai_buf_putc(out, ' ');
      column++;
    }
    nai_buf_put(out, at, len);
    column += (int)len;
    at += len;
  }
  nai_buf_putc(out, '\n');
  out->oom |= clean.oom;
}

static void put_sentences(struct nai_buf *out, const char *title, const struct nai_sentences *sentences, bool commands,
                          int width) {
  if (sentences->count)
    nai_buf_printf(out, "\n%s\n", title);
  for (size_t i = 0; i < sentences->count; i++) {
    const struct nai_sentence *s = &sentences->items[i];
    NAI_SCOPED(nai_buf) line = {0};
    nai_buf_puts(&line, s->text);
    if (s->fact >= 0)
      nai_buf_printf(&line, " [F%d]", s->fact + 1);
    put_filled(out, commands ? "  " : "  -", commands ? 2 : 4, nai_buf_str(&line), commands ? 0 : width);
    out->oom |= line.oom;
  }
}

/* Whether the answer says what a fact does, word by word. */
static bool is_said(const struct nai_answer *answer, size_t fact) {
  const char *text = answer->facts[fact].text;
  for (size_t i = 0; i < answer->said.count; i++)
    if (answer->said.items[i].fact == (int)fact && strncmp(answer->said.items[i].text, text, strlen(text)) == 0)
      return true;
  return false;
}

/* "F1  kernels[0]: text (60.111541-60.411390 s)"; no text where the answer has it. */
static void put_fact(struct nai_buf *out, size_t number, const struct nai_fact *fact, bool said, int width) {
  NAI_SCOPED(nai_buf) line = {0};
  char name[24];
  snprintf(name, sizeof name, "  F%zu", number);
  nai_buf_printf(&line, "%s[%" PRId64 "]%s%s", fact->table, fact->row, said ? "" : ": ", said ? "" : fact->text);
  if (fact->timed) {
    nai_buf_puts(&line, " (");
    nai_fmt_scaled(&line, fact->start_ns / 1000, 6);
    if (fact->end_ns != fact->start_ns) {
      nai_buf_putc(&line, '-');
      nai_fmt_scaled(&line, fact->end_ns / 1000, 6);
    }
    nai_buf_puts(&line, " s)");
  }
  put_filled(out, name, 6, nai_buf_str(&line), width);
  out->oom |= line.oom;
}

static void put_advice(struct nai_buf *out, const char *advice, int width) {
  NAI_SCOPED(nai_buf) page = {0};
  const char *at;
  nai_cmd_page(&page, advice, strlen(advice), width ? width - 2 : 0x7fff, false);
  nai_buf_puts(out, "\nWhat to do\n");
  for (at = nai_buf_str(&page); *at;) {
    size_t len = strcspn(at, "\n");
    nai_buf_puts(out, len ? "  " : "");
    nai_escape_terminal(out, at, len);
    nai_buf_putc(out, '\n');
    at += len + (at[len] == '\n');
  }
  out->oom |= page.oom;
}

static void put_wording(struct nai_buf *out, const struct nai_cmd_wording *wording, int width) {
  nai_buf_puts(out, "\nAnswer, in the words of ");
  nai_escape_terminal(out, wording->model, strlen(wording->model));
  nai_buf_puts(out, " (numbers checked)\n");
  for (const char *at = wording->text; *at;) {
    size_t len = strcspn(at, "\n");
    NAI_SCOPED(nai_buf) line = {0};
    nai_buf_put(&line, at, len);
    if (len)
      put_filled(out, "", 2, nai_buf_str(&line), width);
    out->oom |= line.oom;
    at += len + (at[len] == '\n');
  }
}

void nai_cmd_put_answer(struct nai_buf *out, const char *question, const struct nai_answer *answer,
                        const struct nai_cmd_wording *wording) {
  enum { WIDEST = 120 };
  int width = nai_cmd_terminal_width();
  width = width && width < WIDEST ? width : WIDEST;
  nai_buf_puts(out, "Question: ");
  nai_escape_terminal(out, question, strlen(question));
  nai_buf_puts(out, "\n");
  if (wording)
    put_wording(out, wording, width);
  else
    put_sentences(out, "Answer", &answer->said, false, width);
  if (answer->advice && *answer->advice)
    put_advice(out, answer->advice, width);
  if (answer->fact_count)
    nai_buf_puts(out, "\nEvidence\n");
  for (size_t i = 0; i < answer->fact_count; i++)
    put_fact(out, i + 1, &answer->facts[i], !wording && is_said(answer, i), width);
  put_sentences(out, "What this cannot tell", &answer->limits, false, width);
  put_sentences(out, "Next", &answer->next, true, width);
}

/* --- JSON ----------------------------------------------------------------------------------------------- */

static void put_sentences_json(struct nai_json *json, const char *key, const struct nai_sentences *sentences) {
  nai_json_put_array(json, key, NAI_JSON_LINES);
  for (size_t i = 0; i < sentences->count; i++) {
    char fact[16];
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "text", sentences->items[i].text);
    snprintf(fact, sizeof fact, "F%d", sentences->items[i].fact + 1);
    nai_json_put_text(json, "fact", sentences->items[i].fact < 0 ? NULL : fact);
    nai_json_end(json);
  }
  nai_json_end(json);
}

static void put_fact_json(struct nai_json *json, size_t number, const struct nai_fact *fact) {
  char id[24];
  snprintf(id, sizeof id, "F%zu", number);
  nai_json_begin_object(json, NAI_JSON_INLINE);
  nai_json_put_text(json, "id", id);
  nai_json_put_text(json, "table", fact->table);
  nai_json_put_int(json, "row", fact->row);
  nai_json_put_text(json, "text", fact->text);
  if (fact->timed) {
    nai_json_put_int(json, "start_ns", fact->start_ns);
    nai_json_put_int(json, "end_ns", fact->end_ns);
  }
  nai_json_put_array(json, "values", NAI_JSON_INLINE);
  for (size_t i = 0; i < fact->value_count; i++) {
    const struct nai_fact_value *v = &fact->values[i];
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "column", v->column);
    nai_json_put_text(json, "unit", v->unit == NAI_UNIT_COUNT ? NULL : nai_unit_name(v->unit));
    nai_json_key(json, "value");
    nai_json_value(json, v->unit == NAI_UNIT_COUNT ? NAI_COUNT : v->unit, &v->value);
    nai_json_end(json);
  }
  nai_json_end(json);
  nai_json_end(json);
}

void nai_cmd_put_facts_json(struct nai_json *json, const struct nai_answer *answer) {
  nai_json_put_array(json, "facts", NAI_JSON_LINES);
  for (size_t i = 0; i < answer->fact_count; i++)
    put_fact_json(json, i + 1, &answer->facts[i]);
  nai_json_end(json);
}

void nai_cmd_put_answer_json(struct nai_buf *out, const char *question, const struct nai_answer *answer,
                             const struct nai_cmd_wording *wording) {
  struct nai_json json;
  nai_json_open(&json, out, NAI_JSON_LINES);
  nai_json_put_text(&json, "question", question);
  nai_json_put_array(&json, "intents", NAI_JSON_INLINE);
  if (answer->intent)
    nai_json_text(&json, answer->intent);
  nai_json_end(&json);
  put_sentences_json(&json, "answer", &answer->said);
  nai_json_key(&json, "wording");
  if (wording) {
    nai_json_begin_object(&json, NAI_JSON_INLINE);
    nai_json_put_text(&json, "model", wording->model);
    nai_json_put_text(&json, "text", wording->text);
    nai_json_end(&json);
  } else {
    nai_json_text(&json, NULL);
  }
  nai_json_put_text(&json, "advice", answer->advice);
  nai_cmd_put_facts_json(&json, answer);
  put_sentences_json(&json, "cannot_tell", &answer->limits);
  put_sentences_json(&json, "next", &answer->next);
  nai_json_close(&json);
}
