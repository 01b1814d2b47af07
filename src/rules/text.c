/* Texts of rules: {{placeholders}}, and lists of texts of which each may have a condition. */
#include "base/fmt.h"
#include "base/text.h"
#include "rules/evaluation.h"
#include "table/kernel_name.h"

/* --- compiling ------------------------------------------------------------------------------------- */

static int add_piece(struct refs *pieces, const struct names *names, const struct ref *ref, struct nai_err *err) {
  NAI_TRY(LIST_ROOM(*pieces, &names->set->arena, err));
  pieces->at[pieces->count++] = *ref;
  return NAI_OK;
}

static int add_literal(struct refs *pieces, const struct names *names, const char *text, size_t len,
                       struct nai_err *err) {
  const struct ref literal = {.kind = REF_TEXT, .text = text, .text_len = (uint32_t)len, .is_text = true};
  return len ? add_piece(pieces, names, &literal, err) : NAI_OK;
}

/* What stands behind the | of a placeholder: a filter of texts, or a noun that a count goes with. */
static int filter_compile(struct ref *ref, const struct names *names, const struct nai_yaml_node *node, size_t offset,
                          const char *word, size_t len, struct nai_err *err) {
  static const char *const filters[] = {[FILTER_SHORT] = "short", [FILTER_FUNCTION] = "function"};
  for (int i = FILTER_SHORT; i <= FILTER_FUNCTION; i++)
    if (len == strlen(filters[i]) && memcmp(word, filters[i], len) == 0) {
      ref->filter = (enum filter)i;
      return ref->is_text ? NAI_OK : nai_yaml_error_in(names->doc, node, offset, err, "a filter needs a text column");
    }
  if (ref->is_text)
    return nai_yaml_error_in(names->doc, node, offset, err, "unknown filter: a text has short and function");
  if (ref->kind != REF_COLUMN || ref->unit != NAI_COUNT)
    return nai_yaml_error_in(names->doc, node, offset, err, "a noun needs a count to go with");
  if (!len || word[len - 1] != 's')
    return nai_yaml_error_in(names->doc, node, offset, err, "expected a noun in the plural, such as calls");
  ref->filter = FILTER_NOUN;
  ref->noun = word;
  ref->noun_len = (uint32_t)len;
  return NAI_OK;
}

/* What stands between {{ and }}: a name, blanks around it, perhaps a filter. */
static int placeholder_compile(struct refs *pieces, const struct names *names, const struct nai_yaml_node *node,
                               const char *name, const char *end, struct nai_err *err) {
  while (name < end && *name == ' ')
    name++;
  while (name < end && end[-1] == ' ')
    end--;
  const char *bar = memrchr(name, '|', (size_t)(end - name));
  size_t offset = (size_t)(name - node->text);
  struct ref ref;
  NAI_TRY(nai_names_resolve(&ref, names, node, offset, name, (size_t)((bar ? bar : end) - name), err));
  if (bar)
    NAI_TRY(filter_compile(&ref, names, node, offset, bar + 1, (size_t)(end - bar - 1), err));
  if (ref.kind == REF_FACT)
    return nai_yaml_error_in(names->doc, node, offset, err, "a fact is for conditions only");
  return add_piece(pieces, names, &ref, err);
}

static int text_compile(struct refs *pieces, const struct names *names, const struct nai_yaml_node *node,
                        struct nai_err *err) {
  const char *text;
  NAI_TRY(nai_yaml_text(&text, names->doc, node, err));
  size_t len = strlen(text);
  while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
    len--;
  for (const char *at = text, *end = text + len; at < end;) {
    const char *open = memmem(at, (size_t)(end - at), "{{", 2);
    if (!open)
      return add_literal(pieces, names, at, (size_t)(end - at), err);
    const char *close = memmem(open + 2, (size_t)(end - open - 2), "}}", 2);
    if (!close)
      return nai_yaml_error_in(names->doc, node, (size_t)(open - text), err, "\"{{\" without \"}}\"");
    NAI_TRY(add_literal(pieces, names, at, (size_t)(open - at), err));
    NAI_TRY(placeholder_compile(pieces, names, node, open + 2, close, err));
    at = close + 2;
  }
  return NAI_OK;
}

/* One item of a list of texts: "text", {when: condition, text: "text"} or {else: "text"}. */
static int variant_compile(struct variant *out, const struct names *names, const struct nai_yaml_node *node,
                           struct nai_err *err) {
  const struct nai_yaml *doc = names->doc;
  if (node->kind == NAI_YAML_SCALAR)
    return text_compile(&out->pieces, names, node, err);
  NAI_TRY(nai_yaml_expect_keys(doc, node, NAI_WORDS("when", "text", "else"), err));
  const struct nai_yaml_node *when = nai_yaml_get(doc, node, "when"), *text = nai_yaml_get(doc, node, "text"),
                             *otherwise = nai_yaml_get(doc, node, "else");
  if (otherwise ? when || text : !when || !text)
    return nai_yaml_error(doc, node, err, "expected {when: ..., text: ...} or {else: ...}");
  out->otherwise = otherwise != NULL;
  if (when)
    NAI_TRY(nai_condition_compile(&out->when, names, when, err));
  return text_compile(&out->pieces, names, otherwise ? otherwise : text, err);
}

int nai_variants_compile(struct variants *out, const struct names *names, const struct nai_yaml_node *node,
                         struct nai_err *err) {
  bool list = node->kind == NAI_YAML_LIST;
  for (const struct nai_yaml_node *item = list ? nai_yaml_first(names->doc, node) : node; item;
       item = list ? nai_yaml_next(names->doc, item) : NULL) {
    NAI_TRY(LIST_ROOM(*out, &names->set->arena, err));
    NAI_TRY(variant_compile(&out->at[out->count++], names, item, err));
  }
  return NAI_OK;
}

/* --- rendering ------------------------------------------------------------------------------------- */

/* Bytes of a text value: a name can be megabytes long, a sentence cannot. */
enum { VALUE_MAX = 240 };

void nai_number_print(struct nai_buf *out, double number) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_fmt_real(&text, number, 6);
  while (text.len && text.data[text.len - 1] == '0')
    text.len--;
  if (text.len && text.data[text.len - 1] == '.')
    text.len--;
  nai_buf_put(out, nai_buf_str(&text), text.len);
  out->oom |= text.oom;
}

static void put_shell_word(struct nai_buf *out, const char *text, size_t len) {
  static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=+,-";
  size_t run = 0;
  while (run < len && text[run] && strchr(safe, text[run]))
    run++;
  if (len && run == len && *text != '-') {
    nai_buf_put(out, text, len);
    return;
  }
  nai_buf_putc(out, '\'');
  for (size_t i = 0; i < len; i++) {
    if (text[i] == '\'')
      nai_buf_puts(out, "'\\''");
    else
      nai_buf_putc(out, text[i]);
  }
  nai_buf_putc(out, '\'');
}

/* In a code span nothing is escaped; what would end it is replaced. */
static void put_code(struct nai_buf *out, const char *text, size_t len) {
  for (size_t i = 0; i < len; i++)
    nai_buf_putc(out, text[i] == '`' ? '\'' : (unsigned char)text[i] < ' ' ? ' ' : text[i]);
}

static void put_text(struct nai_buf *out, const struct env *env, const char *text, enum text_mode mode) {
  size_t whole = strlen(text), len = nai_text_prefix(text, whole, VALUE_MAX);
  if (mode == TEXT_SHELL) {
    put_shell_word(out, text, len);
    return;
  }
  if (mode == TEXT_PROSE && env->input->escape)
    env->input->escape(out, text, len);
  else if (mode == TEXT_CODE)
    put_code(out, text, len);
  else
    nai_buf_put(out, text, len);
  if (len < whole)
    nai_buf_puts(out, "...");
}

static void put_filtered(struct nai_buf *out, const struct env *env, enum filter filter, const char *text,
                         enum text_mode mode) {
  NAI_SCOPED(nai_buf) name = {0};
  nai_kernel_name_short(&name, text, filter == FILTER_SHORT ? NAI_SHORT_NAME : VALUE_MAX);
  if (filter == FILTER_FUNCTION && name.len)
    name.data[strcspn(name.data, "<[ ")] = '\0';
  put_text(out, env, nai_buf_str(&name), mode);
  out->oom |= name.oom;
}

/* "34 calls", "1 copy". */
static void put_counted(struct nai_buf *out, const struct ref *ref, const struct nai_value *count) {
  nai_value_print_human(out, ref->unit, count);
  nai_buf_putc(out, ' ');
  nai_fmt_noun(out, count->type == NAI_I64 && count->i == 1, ref->noun, ref->noun_len);
}

static void put_value(struct nai_buf *out, const struct env *env, const struct ref *ref, enum text_mode mode) {
  struct nai_value value = nai_env_value(env, ref);
  if (value.null)
    nai_buf_puts(out, "n/a");
  else if (ref->filter == FILTER_NOUN)
    put_counted(out, ref, &value);
  else if (value.type == NAI_STR && ref->filter)
    put_filtered(out, env, ref->filter, value.s, mode);
  else if (value.type == NAI_STR)
    put_text(out, env, ref->column_def && mode == TEXT_PROSE ? nai_column_label(ref->column_def, value.s) : value.s,
             mode);
  else if (ref->kind == REF_PARAMETER)
    nai_number_print(out, value.f);
  else if (ref->kind == REF_SAVING && ref->unit == NAI_NS)
    nai_fmt_duration(out, (double)value.i);
  else if (mode != TEXT_SHELL)
    nai_value_print_human(out, ref->unit, &value);
  else if (ref->unit == NAI_TIMESTAMP_NS)
    nai_fmt_scaled(out, value.i, 9); /* seconds, as --trim takes them */
  else
    nai_value_print(out, ref->unit, &value);
}

static void put_pieces(struct nai_buf *out, const struct env *env, const struct refs *pieces, enum text_mode mode) {
  bool code = false;
  for (uint32_t i = 0; i < pieces->count; i++) {
    const struct ref *piece = &pieces->at[i];
    for (size_t k = 0; piece->kind == REF_TEXT && k < piece->text_len; k++)
      code ^= piece->text[k] == '`';
    if (piece->kind == REF_TEXT)
      nai_buf_put(out, piece->text, piece->text_len);
    else
      put_value(out, env, piece, code && mode == TEXT_PROSE ? TEXT_CODE : mode);
  }
}

/* Texts that are items of a Markdown list stay one list: no empty line between them. */
static bool starts_list_item(const struct refs *pieces) {
  const struct ref *first = pieces->count ? pieces->at : NULL;
  return first && first->kind == REF_TEXT && first->text_len >= 2 && memcmp(first->text, "- ", 2) == 0;
}

void nai_variants_render(struct nai_buf *out, const struct env *env, const struct variants *variants,
                         enum text_mode mode, const char *separator) {
  bool held = false, in_list = false;
  size_t start = out->len;
  for (uint32_t i = 0; i < variants->count; i++) {
    const struct variant *variant = &variants->at[i];
    if (variant->otherwise ? held : !nai_expression_holds(env, variant->when))
      continue;
    held |= variant->when != NULL;
    bool item = starts_list_item(&variant->pieces);
    if (out->len > start)
      nai_buf_puts(out, in_list && item ? "\n" : separator);
    in_list = item;
    put_pieces(out, env, &variant->pieces, mode);
  }
}

const char *nai_variants_text(struct nai_arena *arena, const struct env *env, const struct variants *variants,
                              enum text_mode mode, const char *separator) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_variants_render(&text, env, variants, mode, separator);
  return nai_text_keep(arena, &text);
}
