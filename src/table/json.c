#include "table/json.h"

#include "base/fmt.h"
#include "base/text.h"
#include "base/escape.h"
#include "table/text_forms.h"

#include <assert.h>
#include <jansson.h>

void nai_json_init(struct nai_json *json, struct nai_buf *out, bool for_script) {
  *json = (struct nai_json){.out = out, .for_script = for_script};
}

static void new_line(struct nai_json *json) {
  nai_buf_putc(json->out, '\n');
  for (int i = 0; i < json->depth; i++)
    nai_buf_puts(json->out, "  ");
}

/* What stands in front of a key, or of a value that has no key. */
static void separate_first(struct nai_json *json) {
  if (json->after_key) {
    json->after_key = false;
    return;
  }
  if (json->depth == 0)
    return;
  bool lines = json->level[json->depth].layout == NAI_JSON_LINES;
  if (json->level[json->depth].any)
    nai_buf_putc(json->out, ',');
  if (lines)
    new_line(json);
  else if (json->level[json->depth].any)
    nai_buf_putc(json->out, ' ');
  json->level[json->depth].any = true;
}

static inline void separate(struct nai_json *json) {
  if (!json->after_key && json->level[json->depth].any && json->level[json->depth].layout == NAI_JSON_INLINE)
    nai_buf_put(json->out, ", ", 2); /* most are cells */
  else
    separate_first(json);
}

static void begin(struct nai_json *json, char open, char close, enum nai_json_layout layout) {
  separate(json);
  nai_buf_putc(json->out, open);
  assert(json->depth < NAI_JSON_MAX_DEPTH);
  json->depth++;
  json->level[json->depth].close = close;
  json->level[json->depth].layout = layout;
  json->level[json->depth].any = false;
}

void nai_json_begin_object(struct nai_json *json, enum nai_json_layout layout) { begin(json, '{', '}', layout); }

void nai_json_begin_array(struct nai_json *json, enum nai_json_layout layout) { begin(json, '[', ']', layout); }

void nai_json_end(struct nai_json *json) {
  assert(json->depth > 0 && !json->after_key);
  int level = json->depth--;
  if (json->level[level].any && json->level[level].layout == NAI_JSON_LINES)
    new_line(json);
  nai_buf_putc(json->out, json->level[level].close);
}

void nai_json_finish(struct nai_json *json) {
  while (json->depth > 0)
    nai_json_end(json);
  nai_buf_free(&json->scratch);
}

static bool needs_escape(unsigned char c, bool for_script) {
  return c < ' ' || c >= 0x7f || c == '"' || c == '\\' || (for_script && (c == '<' || c == '>' || c == '&'));
}

/* Whether one of so many bytes does. */
enum { AT_ONCE = 16 };
static bool are_special(const char *text, bool for_script) {
  typedef signed char bytes __attribute__((vector_size(AT_ONCE))); /* those from 0x80 on are below ' ' */
  bytes b;
  uint64_t found[AT_ONCE / sizeof(uint64_t)];
  memcpy(&b, text, sizeof b);
  bytes special = (bytes)(b < ' ') | (bytes)(b == 0x7f) | (bytes)(b == '"') | (bytes)(b == '\\');
  if (for_script)
    special |= (bytes)(b == '<') | (bytes)(b == '>') | (bytes)(b == '&');
  memcpy(found, &special, sizeof found);
  return found[0] | found[1];
}

/* Most names need no escaping at all. */
static bool is_simple(const char *text, size_t len, bool for_script) {
  char rest[AT_ONCE];
  for (; len >= AT_ONCE; text += AT_ONCE, len -= AT_ONCE)
    if (are_special(text, for_script))
      return false;
  memset(rest, ' ', sizeof rest);
  memcpy(rest, text, len);
  return !are_special(rest, for_script);
}

/* What a reader can see needs escapes of ASCII only. */
static void put_visible(struct nai_json *json, const char *text, size_t len) {
  size_t from = 0;
  nai_buf_putc(json->out, '"');
  for (size_t i = 0; i < len; i++) {
    while (len - i > AT_ONCE && !are_special(text + i, json->for_script))
      i += AT_ONCE;
    unsigned char c = (unsigned char)text[i];
    if (c >= 0x80 || !needs_escape(c, json->for_script))
      continue;
    nai_buf_put(json->out, text + from, i - from);
    if (c == '"' || c == '\\')
      nai_buf_putc(json->out, '\\'), from = i;
    else
      nai_buf_puts(json->out, c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026"), from = i + 1;
  }
  nai_buf_put(json->out, text + from, len - from);
  nai_buf_putc(json->out, '"');
}

/* Any other text: jansson's escapes, and those of what nobody can see, which reaches us in names of files and words of
 * command lines. */
static void put_escaped(struct nai_json *json, const char *text, size_t len) {
  errno = 0;
  json_t *string = json_stringn(text, len);
  if (!string && errno != ENOMEM) { /* invalid UTF-8 */
    nai_buf_clear(&json->scratch);
    nai_text_clean(&json->scratch, text, len);
    string = json->scratch.oom ? NULL : json_stringn(nai_buf_str(&json->scratch), json->scratch.len);
  }
  char *dumped = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
  nai_buf_clear(&json->scratch);
  if (dumped)
    nai_escape_hidden_json(&json->scratch, dumped, strlen(dumped));
  if (!dumped || json->scratch.oom)
    json->out->oom = true;
  else if (json->for_script)
    nai_escape_script_json(json->out, nai_buf_str(&json->scratch), json->scratch.len);
  else
    nai_buf_put(json->out, nai_buf_str(&json->scratch), json->scratch.len);
  free(dumped);
  json_decref(string);
}

static void put_string(struct nai_json *json, const char *text) {
  size_t len = strlen(text);
  if (is_simple(text, len, json->for_script)) {
    nai_buf_putc(json->out, '"');
    nai_buf_put(json->out, text, len);
    nai_buf_putc(json->out, '"');
  } else if (nai_text_is_clean(text, len)) {
    put_visible(json, text, len);
  } else {
    put_escaped(json, text, len);
  }
}

void nai_json_key(struct nai_json *json, const char *key) {
  assert(json->depth > 0 && json->level[json->depth].close == '}' && !json->after_key);
  separate(json);
  put_string(json, key);
  nai_buf_puts(json->out, ": ");
  json->after_key = true;
}

void nai_json_text(struct nai_json *json, const char *text) {
  separate(json);
  if (text)
    put_string(json, text);
  else
    nai_buf_puts(json->out, "null");
}

void nai_json_int(struct nai_json *json, int64_t number) {
  separate(json);
  nai_fmt_scaled(json->out, number, 0);
}

void nai_json_decimal(struct nai_json *json, const char *digits) {
  separate(json);
  nai_buf_puts(json->out, *digits ? digits : "null");
}

void nai_json_bool(struct nai_json *json, bool truth) {
  separate(json);
  nai_buf_puts(json->out, truth ? "true" : "false");
}

void nai_json_value(struct nai_json *json, enum nai_unit unit, const struct nai_value *value) {
  if (value->type == NAI_STR) {
    nai_json_text(json, value->null ? NULL : value->s);
    return;
  }
  separate(json);
  size_t before = nai_buf_position(json->out);
  nai_value_print(json->out, unit, value);
  if (nai_buf_position(json->out) == before) /* NULL, infinity */
    nai_buf_puts(json->out, "null");
}

void nai_json_put_text(struct nai_json *json, const char *key, const char *text) {
  nai_json_key(json, key);
  nai_json_text(json, text);
}

void nai_json_put_int(struct nai_json *json, const char *key, int64_t number) {
  nai_json_key(json, key);
  nai_json_int(json, number);
}

void nai_json_put_bool(struct nai_json *json, const char *key, bool truth) {
  nai_json_key(json, key);
  nai_json_bool(json, truth);
}

void nai_json_put_hex(struct nai_json *json, const char *key, uint64_t hash) {
  char text[24];
  snprintf(text, sizeof text, "%016" PRIx64, hash);
  nai_json_put_text(json, key, text);
}

void nai_json_put_object(struct nai_json *json, const char *key, enum nai_json_layout layout) {
  nai_json_key(json, key);
  nai_json_begin_object(json, layout);
}

void nai_json_put_array(struct nai_json *json, const char *key, enum nai_json_layout layout) {
  nai_json_key(json, key);
  nai_json_begin_array(json, layout);
}

void nai_json_open(struct nai_json *json, struct nai_buf *out, enum nai_json_layout layout) {
  nai_json_init(json, out, false);
  nai_json_begin_object(json, layout);
}

void nai_json_close(struct nai_json *json) {
  nai_json_finish(json);
  nai_buf_putc(json->out, '\n');
}

static void put_labels(struct nai_json *json, const struct nai_value_label *labels) {
  nai_json_put_object(json, "labels", NAI_JSON_INLINE);
  for (; labels->value; labels++)
    nai_json_put_text(json, labels->value, labels->label);
  nai_json_end(json);
}

static void put_column(struct nai_json *json, const struct nai_schema *schema, const struct nai_display_column *print) {
  const struct nai_column_def *def = &schema->columns[print->column];
  char name[NAI_COLUMN_NAME_MAX];
  nai_json_begin_object(json, NAI_JSON_INLINE);
  nai_json_put_text(json, "name", nai_display_column_name(name, schema, print));
  nai_json_put_text(json, "type", nai_display_column_type(schema, print));
  nai_json_put_text(json, "unit", nai_unit_name(print->unit));
  nai_json_put_text(json, "description", def->description);
  if (print->unit != def->unit)
    nai_json_put_text(json, "stored", def->name);
  nai_json_put_text(json, "role", nai_role_name(def->role));
  if (def->better)
    nai_json_put_text(json, "better", nai_better_name(def->better));
  if (def->key)
    nai_json_put_bool(json, "key", true);
  if (def->sum)
    nai_json_put_bool(json, "sum", true);
  if (def->labels)
    put_labels(json, def->labels);
  if (def->refers)
    nai_json_put_text(json, "refers", def->refers);
  nai_json_end(json);
}

static void put_columns(struct nai_json *json, const struct nai_schema *schema) {
  nai_json_key(json, "columns");
  nai_json_begin_array(json, NAI_JSON_LINES);
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, schema);)
    put_column(json, schema, &p);
  nai_json_end(json);
}

void nai_json_table_head(struct nai_json *json, const struct nai_table *table, int64_t most) {
  nai_json_put_text(json, "title", table->schema->title);
  nai_json_put_text(json, "description", table->schema->description);
  if (table->schema->cannot_know && *table->schema->cannot_know)
    nai_json_put_text(json, "cannot_know", table->schema->cannot_know);
  put_columns(json, table->schema);
  if (table->rows > most)
    nai_json_put_int(json, "row_count", table->rows);
}

/* For nai_text_forms. */
static void write_text(struct nai_buf *to, void *ctx, const char *text) {
  struct nai_json *json = ctx;
  struct nai_buf *out = json->out;
  json->out = to;
  put_string(json, text);
  json->out = out;
}

void nai_json_table(struct nai_json *json, const struct nai_table *table, int64_t most) {
  const struct nai_schema *schema = table->schema;
  nai_json_begin_object(json, NAI_JSON_LINES);
  nai_json_table_head(json, table, most);
  nai_json_key(json, "rows");
  nai_json_begin_array(json, NAI_JSON_LINES);
  uint32_t count;
  NAI_FREED struct nai_display_column *shown = nai_display_columns(&count, schema);
  NAI_SCOPED(nai_text_forms) texts = nai_text_forms_of(table, write_text, json);
  json->out->oom |= !shown;
  for (int64_t row = 0; row < table->rows && row < most && !nai_buf_failed(json->out); row++) {
    nai_json_begin_array(json, NAI_JSON_INLINE);
    for (uint32_t i = 0; i < count; i++) {
      struct nai_value value = nai_table_value(table, row, shown[i].column);
      if (value.type == NAI_STR && !value.null) {
        separate(json);
        nai_text_forms_put(json->out, &texts, (uint32_t)value.i);
      } else {
        nai_json_value(json, shown[i].unit, &value);
      }
    }
    nai_json_end(json);
  }
  nai_json_end(json);
  nai_json_end(json);
}
