/* Writes JSON as it goes. jansson could write only what it holds in memory, and its reals are doubles: 136355595 ns
 * must come out as exactly 136.355595 ms. Its string escaping is used. */
#pragma once

#include "table/table.h"

enum { NAI_JSON_MAX_DEPTH = 32 };

/* How the members of an object or array are laid out. */
enum nai_json_layout {
  NAI_JSON_INLINE, /* all on one line */
  NAI_JSON_LINES   /* each on its own line, indented by two spaces a level */
};

struct nai_json {
  struct nai_buf *out;
  bool for_script; /* < > & U+2028 U+2029 in strings as \uXXXX: safe inside a <script> element */
  bool after_key;
  int depth;
  struct {
    char close;
    enum nai_json_layout layout;
    bool any;
  } level[NAI_JSON_MAX_DEPTH + 1];
  struct nai_buf scratch;
};

/* A writer that appends to `out`. nai_json_finish ends what is open and frees what it holds; errors show in `out`
 * (nai_buf_check). */
void nai_json_init(struct nai_json *json, struct nai_buf *out, bool for_script);
void nai_json_finish(struct nai_json *json);
/* For NAI_SCOPED(nai_json): after a failure in the middle. */
static inline void nai_json_free(struct nai_json *json) { nai_buf_free(&json->scratch); }

void nai_json_begin_object(struct nai_json *json, enum nai_json_layout layout);
void nai_json_begin_array(struct nai_json *json, enum nai_json_layout layout);
void nai_json_end(struct nai_json *json); /* the innermost object or array */

void nai_json_key(struct nai_json *json, const char *key);
void nai_json_text(struct nai_json *json, const char *text); /* NULL writes null; invalid UTF-8 is cleaned */
void nai_json_int(struct nai_json *json, int64_t number);
void nai_json_decimal(struct nai_json *json, const char *digits); /* a number already in JSON's form; "" writes null */
void nai_json_bool(struct nai_json *json, bool truth);
void nai_json_value(struct nai_json *json, enum nai_unit unit, const struct nai_value *value); /* exact, NULL is null */

/* Key and value. */
void nai_json_put_text(struct nai_json *json, const char *key, const char *text);
void nai_json_put_int(struct nai_json *json, const char *key, int64_t number);
void nai_json_put_bool(struct nai_json *json, const char *key, bool truth);
void nai_json_put_hex(struct nai_json *json, const char *key, uint64_t hash); /* a text of 16 digits */
/* Key, and the begin of what it is. */
void nai_json_put_object(struct nai_json *json, const char *key, enum nai_json_layout layout);
void nai_json_put_array(struct nai_json *json, const char *key, enum nai_json_layout layout);
/* A text that is one object: begins it, and ends it with a newline. */
void nai_json_open(struct nai_json *json, struct nai_buf *out, enum nai_json_layout layout);
void nai_json_close(struct nai_json *json);

/* {"title", "description", "columns": [{"name", "type", "unit", "description", "role", ...}], "rows": [[...]]}, a row a
 * line. Of a table with more than `most` rows the first ones, and "row_count": how many it has. */
void nai_json_table(struct nai_json *json, const struct nai_table *table, int64_t most);
/* The members before "rows": what each table begins with. */
void nai_json_table_head(struct nai_json *json, const struct nai_table *table, int64_t most);
/* json_pack.c: the same for the page, of a table with many rows: "packed", a column an object, in place of "rows"
 * (docs/viewer.md, "Long tables"). */
void nai_json_table_packed(struct nai_json *json, const struct nai_table *table, int64_t most);
