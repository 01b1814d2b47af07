#include "config/yaml.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/fs.h"
#include "base/sort.h"
#include "base/text.h"

#include <yaml.h>

/* An open list or map. */
struct frame {
  uint32_t node, last_child;
  uint32_t key; /* text id of the key whose value comes next, NAI_NO_STRING when a key (or list item) comes next */
  uint32_t key_line, key_column;
};

/* Texts of a node; they become pointers once the dictionary stops moving. */
struct ids {
  uint32_t key, text;
};

struct parse {
  struct nai_yaml *doc;
  const char *text; /* the whole input, to locate reader errors */
  size_t len;
  bool any_text;   /* invisible characters, too */
  struct ids *ids; /* per node */
  uint32_t node_capacity, id_capacity;
  struct frame frames[NAI_YAML_MAX_DEPTH];
  int depth;
  struct nai_err *err;
};

static void parse_free(struct parse *p) { free(p->ids); }

static int error_mark(struct parse *p, yaml_mark_t mark, const char *message) {
  return nai_yaml_error_at(p->doc, mark.line + 1, mark.column + 1, p->err, "%s", message);
}

/* Reader errors (bad UTF-8, control characters) carry only a byte offset. */
static int error_offset(struct parse *p, size_t offset, const char *message) {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < offset && i < p->len; i++) {
    if (p->text[i] == '\n') {
      line++;
      column = 1;
    } else if (((unsigned char)p->text[i] & 0xc0) != 0x80) {
      column++;
    }
  }
  return nai_yaml_error_at(p->doc, line, column, p->err, "%s", message);
}

static int parser_error(struct parse *p, const yaml_parser_t *parser) {
  const char *problem = parser->problem ? parser->problem : "cannot be parsed as YAML";
  if (parser->error == YAML_MEMORY_ERROR)
    return nai_err_nomem(p->err);
  if (parser->error == YAML_READER_ERROR)
    return error_offset(p, parser->problem_offset, problem);
  if (!parser->context)
    return error_mark(p, parser->problem_mark, problem);
  char message[256];
  snprintf(message, sizeof message, "%s (%s)", problem, parser->context);
  return error_mark(p, parser->problem_mark, message);
}

/* Texts of a configuration reach terminals and reports: nothing in them may be invisible or reorder its surroundings.
 */
static bool is_readable(const char *text, size_t len) {
  while (len) {
    size_t run = 0;
    while (run < len && text[run] != '\n' && text[run] != '\t')
      run++;
    if (!nai_text_is_clean(text, run))
      return false;
    size_t step = run < len ? run + 1 : run;
    text += step;
    len -= step;
  }
  return true;
}

static int intern(uint32_t *id, struct parse *p, const yaml_event_t *event) {
  const char *text = (const char *)event->data.scalar.value;
  size_t len = event->data.scalar.length;
  if (!p->any_text && !is_readable(text, len))
    return error_mark(p, event->start_mark, "text with a control or invisible character");
  *id = nai_strings_add(&p->doc->strings, text, len);
  return *id == NAI_NO_STRING ? nai_err_nomem(p->err) : 0;
}

/* Appends a node as the next child of the open list or map. */
static int add_node(uint32_t *number, struct parse *p, enum nai_yaml_kind kind, const yaml_event_t *event) {
  struct nai_yaml *doc = p->doc;
  uint32_t n = *number = doc->count;
  if (n == NAI_YAML_MAX_NODES)
    return error_mark(p, event->start_mark, "more than 65536 values");
  if (!nai_array_room(&doc->nodes, &p->node_capacity, n, sizeof *doc->nodes) ||
      !nai_array_room(&p->ids, &p->id_capacity, n, sizeof *p->ids))
    return nai_err_nomem(p->err);
  doc->nodes[n] = (struct nai_yaml_node){.kind = kind,
                                         .line = (uint32_t)event->start_mark.line + 1,
                                         .column = (uint32_t)event->start_mark.column + 1,
                                         .text = ""};
  p->ids[n] = (struct ids){NAI_NO_STRING, NAI_NO_STRING};
  doc->count++;
  if (!p->depth)
    return NAI_OK;
  struct frame *frame = &p->frames[p->depth - 1];
  struct nai_yaml_node *parent = &doc->nodes[frame->node];
  if (parent->kind == NAI_YAML_MAP) {
    p->ids[n].key = frame->key;
    doc->nodes[n].key_line = frame->key_line;
    doc->nodes[n].key_column = frame->key_column;
    frame->key = NAI_NO_STRING;
  }
  if (parent->count++)
    doc->nodes[frame->last_child].next = n;
  else
    parent->first = n;
  frame->last_child = n;
  return NAI_OK;
}

/* Whether a map is open and waits for a key. */
static bool wants_key(const struct parse *p) {
  const struct frame *frame = p->depth ? &p->frames[p->depth - 1] : NULL;
  return frame && p->doc->nodes[frame->node].kind == NAI_YAML_MAP && frame->key == NAI_NO_STRING;
}

static int take_scalar(struct parse *p, const yaml_event_t *event) {
  if (wants_key(p)) {
    struct frame *frame = &p->frames[p->depth - 1];
    if (!event->data.scalar.length)
      return error_mark(p, event->start_mark, "empty key");
    if (event->data.scalar.length == 2 && memcmp(event->data.scalar.value, "<<", 2) == 0)
      return error_mark(p, event->start_mark, "merge keys are not supported");
    frame->key_line = (uint32_t)event->start_mark.line + 1;
    frame->key_column = (uint32_t)event->start_mark.column + 1;
    return intern(&frame->key, p, event);
  }
  uint32_t n;
  NAI_TRY(add_node(&n, p, NAI_YAML_SCALAR, event));
  yaml_scalar_style_t style = event->data.scalar.style;
  p->doc->nodes[n].plain = style == YAML_PLAIN_SCALAR_STYLE;
  p->doc->nodes[n].one_line = event->start_mark.line == event->end_mark.line;
  return intern(&p->ids[n].text, p, event);
}

static int open_node(struct parse *p, enum nai_yaml_kind kind, const yaml_event_t *event) {
  if (wants_key(p))
    return error_mark(p, event->start_mark, "a key must be text");
  if (p->depth == NAI_YAML_MAX_DEPTH)
    return error_mark(p, event->start_mark, "nested more than 64 levels deep");
  uint32_t n;
  NAI_TRY(add_node(&n, p, kind, event));
  p->frames[p->depth++] = (struct frame){.node = n, .key = NAI_NO_STRING};
  return NAI_OK;
}

static int refuse(struct parse *p, const yaml_event_t *event, const yaml_char_t *anchor, const yaml_char_t *tag) {
  if (anchor)
    return error_mark(p, event->start_mark, "anchors are not supported");
  return tag ? error_mark(p, event->start_mark, "tags are not supported") : NAI_OK;
}

static int take_event(struct parse *p, const yaml_event_t *event) {
  switch (event->type) {
  case YAML_ALIAS_EVENT:
    return error_mark(p, event->start_mark, "aliases are not supported");
  case YAML_DOCUMENT_START_EVENT:
    return p->doc->count ? error_mark(p, event->start_mark, "a second document; one is expected") : NAI_OK;
  case YAML_SCALAR_EVENT:
    NAI_TRY(refuse(p, event, event->data.scalar.anchor, event->data.scalar.tag));
    return take_scalar(p, event);
  case YAML_SEQUENCE_START_EVENT:
    NAI_TRY(refuse(p, event, event->data.sequence_start.anchor, event->data.sequence_start.tag));
    return open_node(p, NAI_YAML_LIST, event);
  case YAML_MAPPING_START_EVENT:
    NAI_TRY(refuse(p, event, event->data.mapping_start.anchor, event->data.mapping_start.tag));
    return open_node(p, NAI_YAML_MAP, event);
  case YAML_SEQUENCE_END_EVENT:
  case YAML_MAPPING_END_EVENT:
    p->depth--;
    return NAI_OK;
  default:
    return NAI_OK;
  }
}

/* --- JSON as this program writes it: libyaml takes ten times as long ------------------------------ */

struct json {
  const char *at, *end, *line_begin;
  size_t line;
  struct nai_buf text; /* of a scalar with escapes */
};

static void json_free(struct json *j) { nai_buf_free(&j->text); }

static char next_of(struct json *j) {
  for (; j->at < j->end && (*j->at == ' ' || *j->at == '\n'); j->at++)
    if (*j->at == '\n') {
      j->line++;
      j->line_begin = j->at + 1;
    }
  return j->at < j->end ? *j->at : '\0';
}

static bool get_escape(struct json *j) {
  static const char pairs[] = "\"\"\\\\//n\nt\tr\r";
  for (const char *pair = pairs; j->at < j->end && *pair; pair += 2)
    if (*pair == *j->at) {
      nai_buf_putc(&j->text, pair[1]);
      return true;
    }
  return false;
}

static bool get_quoted(yaml_event_t *event, struct json *j) {
  const char *begin = ++j->at;
  nai_buf_clear(&j->text);
  for (; j->at < j->end && *j->at != '"'; j->at++) {
    if (*j->at < ' ' || *j->at > '~')
      return false;
    if (*j->at != '\\')
      continue;
    nai_buf_put(&j->text, begin, (size_t)(j->at++ - begin));
    if (!get_escape(j))
      return false;
    begin = j->at + 1;
  }
  event->data.scalar.length = (size_t)(j->at - begin);
  if (j->text.len) {
    nai_buf_put(&j->text, begin, event->data.scalar.length);
    event->data.scalar.length = j->text.len;
    begin = j->text.data;
  }
  event->data.scalar.value = (yaml_char_t *)begin;
  event->data.scalar.style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
  return j->at++ < j->end && !j->text.oom;
}

static bool is_of_word(char c) { return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z'); }

/* A number or a word. */
static bool get_plain(yaml_event_t *event, struct json *j) {
  const char *begin = j->at;
  j->at += j->at < j->end && *begin == '-';
  bool good = j->at < j->end && is_of_word(*j->at);
  while (j->at < j->end && (is_of_word(*j->at) || *j->at == '+' || *j->at == '-' || *j->at == '.'))
    j->at++;
  event->data.scalar.value = (yaml_char_t *)begin;
  event->data.scalar.length = (size_t)(j->at - begin);
  event->data.scalar.style = YAML_PLAIN_SCALAR_STYLE;
  return good;
}

static bool get_event(yaml_event_t *event, struct json *j, const struct parse *p) {
  enum { MAX_KEY = 1000 }; /* libyaml refuses longer ones */
  char first = next_of(j);
  *event = (yaml_event_t){.start_mark = {.line = j->line, .column = (size_t)(j->at - j->line_begin)}};
  event->end_mark = event->start_mark;
  event->type = first == '{' ? YAML_MAPPING_START_EVENT
              : first == '[' ? YAML_SEQUENCE_START_EVENT
              : first == '}' ? YAML_MAPPING_END_EVENT
              : first == ']' ? YAML_SEQUENCE_END_EVENT
                             : YAML_SCALAR_EVENT;
  if (event->type != YAML_SCALAR_EVENT)
    return j->at++ < j->end;
  if (!wants_key(p))
    return first == '"' ? get_quoted(event, j) : get_plain(event, j);
  return first == '"' && get_quoted(event, j) && event->data.scalar.length < MAX_KEY && next_of(j) == ':' && j->at++;
}

/* Whether an open list or map ends that way. */
static bool may_end(const struct parse *p, enum yaml_event_type_e end) {
  const struct nai_yaml_node *open = p->depth ? &p->doc->nodes[p->frames[p->depth - 1].node] : NULL;
  return open &&
         (open->kind == NAI_YAML_MAP ? end == YAML_MAPPING_END_EVENT && wants_key(p) : end == YAML_SEQUENCE_END_EVENT);
}

/* False: it is something else, or not right; libyaml says which. */
static bool take_json(struct parse *p) {
  NAI_SCOPED(json) j = {.at = p->text, .end = p->text + p->len, .line_begin = p->text};
  bool item = true, may_lack = false; /* an item comes next; or the end, where there is none yet */
  if (!p->len || (*p->text != '{' && *p->text != '['))
    return false;
  do {
    yaml_event_t event;
    bool key = wants_key(p);
    if (!item && next_of(&j) == ',') {
      j.at++;
      item = true;
      continue;
    }
    if (!get_event(&event, &j, p))
      return false;
    bool begins = event.type == YAML_MAPPING_START_EVENT || event.type == YAML_SEQUENCE_START_EVENT;
    if (begins || event.type == YAML_SCALAR_EVENT ? !item : (item && !may_lack) || !may_end(p, event.type))
      return false;
    if (take_event(p, &event) != NAI_OK)
      return false;
    item = begins || (key && event.type == YAML_SCALAR_EVENT);
    may_lack = begins;
  } while (p->depth);
  return !next_of(&j) && j.at == j.end;
}

/* --- YAML ----------------------------------------------------------------------------------------- */

/* The depth limit also bounds libyaml itself, whose cost per token grows with the nesting: events are taken one by one
 * and the scanner never runs more than one simple key (1024 characters) ahead of them. */
static int take_events(struct parse *p) {
  __attribute__((cleanup(yaml_parser_delete))) yaml_parser_t parser;
  if (!yaml_parser_initialize(&parser))
    return nai_err_nomem(p->err);
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser, (const unsigned char *)p->text, p->len);
  for (bool end = false; !end;) {
    __attribute__((cleanup(yaml_event_delete))) yaml_event_t event;
    if (!yaml_parser_parse(&parser, &event))
      return parser_error(p, &parser);
    end = event.type == YAML_STREAM_END_EVENT;
    NAI_TRY(take_event(p, &event));
  }
  return NAI_OK;
}

/* Sorts (parent, key) pairs; equal neighbours are duplicates. The first in the file is reported. */
static int check_duplicates(struct parse *p) {
  const struct nai_yaml *doc = p->doc;
  NAI_FREED struct nai_key *keys = malloc((doc->count + 1) * sizeof *keys);
  if (!keys)
    return nai_err_nomem(p->err);
  size_t count = 0;
  for (uint32_t n = 0; n < doc->count; n++) {
    if (doc->nodes[n].kind != NAI_YAML_MAP)
      continue;
    for (uint32_t child = doc->nodes[n].first; child; child = doc->nodes[child].next)
      keys[count++] = (struct nai_key){(uint64_t)n << 32 | p->ids[child].key, child};
  }
  NAI_TRY(nai_sort_keys(keys, count, p->err));
  const struct nai_yaml_node *first = NULL, *second = NULL;
  for (size_t i = 1; i < count; i++) {
    if (keys[i].key == keys[i - 1].key && (!second || keys[i].value < (uint32_t)(second - doc->nodes))) {
      first = &doc->nodes[keys[i - 1].value];
      second = &doc->nodes[keys[i].value];
    }
  }
  return second ? nai_yaml_error_key(doc, second, p->err, "duplicate key \"%s\" (first on line %u)", second->key,
                                     first->key_line)
                : NAI_OK;
}

static int parse(struct nai_yaml **out, const char *file, const char *text, size_t len, bool any_text,
                 struct nai_err *err) {
  NAI_OWNED(nai_yaml) *doc = calloc(1, sizeof *doc);
  *out = NULL;
  if (!doc || !(doc->file = strdup(file)))
    return nai_err_nomem(err);
  if (len > NAI_YAML_MAX_BYTES)
    return nai_yaml_error_at(doc, 1, 1, err, "larger than 1 MiB");
  NAI_SCOPED(parse) p = {.doc = doc, .text = text, .len = len, .any_text = any_text, .err = err};
  doc->hash = nai_hash_bytes(0, text, len);
  if (!take_json(&p)) {
    nai_strings_free(&doc->strings);
    doc->count = 0;
    p.depth = 0;
    NAI_TRY(take_events(&p));
  }
  if (!doc->count)
    return nai_yaml_error_at(doc, 1, 1, err, "empty file");
  for (uint32_t n = 0; n < doc->count; n++) {
    if (p.ids[n].key != NAI_NO_STRING)
      doc->nodes[n].key = nai_strings_get(&doc->strings, p.ids[n].key);
    doc->nodes[n].text = nai_strings_get(&doc->strings, p.ids[n].text);
  }
  NAI_TRY(check_duplicates(&p));
  return NAI_GIVE(out, doc);
}

int nai_yaml_parse(struct nai_yaml **out, const char *file, const char *text, size_t len, struct nai_err *err) {
  return parse(out, file, text, len, false, err);
}

static int load(struct nai_yaml **out, const char *path, bool any_text, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  *out = NULL;
  NAI_TRY(nai_fs_read(&text, path, NAI_YAML_MAX_BYTES, NAI_EUSAGE, err));
  return parse(out, path, nai_buf_str(&text), text.len, any_text, err);
}

int nai_yaml_load(struct nai_yaml **out, const char *path, struct nai_err *err) { return load(out, path, false, err); }

int nai_yaml_load_own(struct nai_yaml **out, const char *path, struct nai_err *err) {
  return load(out, path, true, err);
}

void nai_yaml_free(struct nai_yaml *doc) {
  if (!doc)
    return;
  free(doc->file);
  free(doc->nodes);
  nai_strings_free(&doc->strings);
  free(doc);
}
