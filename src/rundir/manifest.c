#include "rundir/manifest.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/text.h"
#include "config/yaml.h"
#include "table/json.h"

void nai_manifest_free(struct nai_manifest *m) {
  nai_strings_free(&m->options);
  nai_strings_free(&m->tables);
  nai_strings_free(&m->names);
  nai_strings_free(&m->files);
  nai_arena_free(&m->arena);
  *m = (struct nai_manifest){0};
}

int nai_manifest_check(const struct nai_manifest *m, struct nai_err *err) {
  return m->oom ? nai_err_nomem(err) : NAI_OK;
}

/* --- building --------------------------------------------------------------------------------- */

static uint32_t add_text(struct nai_manifest *m, struct nai_strings *to, const char *text) {
  uint32_t id = nai_strings_add(to, text, strlen(text));
  m->oom |= id == NAI_NO_STRING;
  return id;
}

static bool add_entry(struct nai_manifest *m, const char *name, uint64_t hash) {
  m->oom |= NAI_ROOM(m->entries, m->entry_capacity, m->entry_count, &m->arena, NULL) != NAI_OK;
  if (m->oom || !m->node_count)
    return false;
  m->entries[m->entry_count++] = (struct nai_manifest_entry){add_text(m, &m->names, name), hash};
  return true;
}

void nai_manifest_add_node(struct nai_manifest *m, const char *name, const char *stage) {
  m->oom |= NAI_ROOM(m->nodes, m->node_capacity, m->node_count, &m->arena, NULL) != NAI_OK;
  if (m->oom)
    return;
  uint32_t at = m->entry_count;
  m->nodes[m->node_count++] = (struct nai_manifest_node){.name = add_text(m, &m->names, name),
                                                         .stage = stage ? add_text(m, &m->names, stage) : NAI_NO_STRING,
                                                         .input = at,
                                                         .input_end = at,
                                                         .table = at,
                                                         .table_end = at};
}

void nai_manifest_add_input(struct nai_manifest *m, const char *name, uint64_t hash) {
  if (!add_entry(m, name, hash))
    return;
  struct nai_manifest_node *node = &m->nodes[m->node_count - 1];
  node->input_end = node->table = node->table_end = m->entry_count;
  node->key = nai_hash_int(nai_hash_text(node->key, name), (int64_t)hash);
}

void nai_manifest_add_table(struct nai_manifest *m, const char *name, uint64_t hash) {
  if (add_entry(m, name, hash))
    m->nodes[m->node_count - 1].table_end = m->entry_count;
}

void nai_manifest_remove_last(struct nai_manifest *m) {
  if (m->node_count)
    m->entry_count = m->nodes[--m->node_count].input;
}

void nai_manifest_put_next(struct nai_manifest *m, const char *name, uint32_t *put) {
  const struct nai_manifest_node *found = nai_manifest_node(m, name);
  if (!found)
    return;
  struct nai_manifest_node node = *found;
  uint32_t at = (uint32_t)(found - m->nodes);
  memmove(&m->nodes[*put + 1], &m->nodes[*put], (at - *put) * sizeof node);
  m->nodes[(*put)++] = node;
}

void nai_manifest_forget_nodes(struct nai_manifest *m) { m->node_count = m->entry_count = 0; }

void nai_manifest_add_file(struct nai_manifest *m, const char *path) { add_text(m, &m->files, path); }

/* --- asking ----------------------------------------------------------------------------------- */

const char *nai_manifest_name(const struct nai_manifest *m, uint32_t name) { return nai_strings_get(&m->names, name); }

bool nai_manifest_is_of_this_program(const struct nai_manifest *m) {
  const uint64_t program = nai_hash_int(nai_hash_of_program(), 0);
  for (uint32_t n = 0; n < m->node_count; n++)
    for (uint32_t i = m->nodes[n].input; i < m->nodes[n].input_end; i++)
      if (m->entries[i].hash == program && strcmp(nai_manifest_name(m, m->entries[i].name), "program") == 0)
        return true;
  return false;
}

const struct nai_manifest_node *nai_manifest_node(const struct nai_manifest *m, const char *name) {
  for (uint32_t i = 0; i < m->node_count; i++)
    if (strcmp(nai_manifest_name(m, m->nodes[i].name), name) == 0)
      return &m->nodes[i];
  return NULL;
}

static const struct nai_manifest_entry *find_table(const struct nai_manifest_node **maker, const struct nai_manifest *m,
                                                   const char *table) {
  uint32_t name = nai_strings_find(&m->names, table, strlen(table));
  for (uint32_t i = 0; name != NAI_NO_STRING && i < m->node_count; i++)
    for (uint32_t t = m->nodes[i].table; t < m->nodes[i].table_end; t++)
      if (m->entries[t].name == name) {
        *maker = &m->nodes[i];
        return &m->entries[t];
      }
  return NULL;
}

const struct nai_manifest_node *nai_manifest_maker(const struct nai_manifest *m, const char *table) {
  const struct nai_manifest_node *maker = NULL;
  return find_table(&maker, m, table) ? maker : NULL;
}

bool nai_manifest_table(uint64_t *hash, const struct nai_manifest *m, const char *table) {
  const struct nai_manifest_node *maker;
  const struct nai_manifest_entry *entry = find_table(&maker, m, table);
  if (entry && hash)
    *hash = entry->hash;
  return entry;
}

int nai_manifest_tables(const char ***names, size_t *count, const struct nai_manifest *m, struct nai_arena *arena,
                        struct nai_err *err) {
  *count = 0;
  NAI_TRY(NAI_NEW(*names, arena, m->entry_count + 1, err));
  for (uint32_t n = 0; n < m->node_count; n++)
    for (uint32_t t = m->nodes[n].table; t < m->nodes[n].table_end; t++)
      (*names)[(*count)++] = nai_manifest_name(m, m->entries[t].name);
  return NAI_OK;
}

bool nai_manifest_lists(const struct nai_manifest *m, const char *file) {
  return nai_strings_find(&m->files, file, strlen(file)) != NAI_NO_STRING;
}

/* --- reading ---------------------------------------------------------------------------------- */

static uint64_t read_hex(const struct nai_yaml_node *node) { return strtoull(node->text, NULL, 16); }

static void read_texts(struct nai_manifest *m, struct nai_strings *to, const struct nai_yaml *doc, const char *key) {
  const struct nai_yaml_node *list = nai_yaml_get(doc, nai_yaml_root(doc), key);
  for (const struct nai_yaml_node *n = list ? nai_yaml_first(doc, list) : NULL; n; n = nai_yaml_next(doc, n))
    add_text(m, to, n->text);
}

static void read_entries(struct nai_manifest *m, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                         const char *key, void (*add)(struct nai_manifest *, const char *, uint64_t)) {
  const struct nai_yaml_node *map = nai_yaml_get(doc, node, key);
  for (const struct nai_yaml_node *n = map ? nai_yaml_first(doc, map) : NULL; n; n = nai_yaml_next(doc, n))
    add(m, n->key ? n->key : "", read_hex(n));
}

/* The format's major version; 0 where this is no manifest of this program: others call files of theirs so, too. */
static int64_t read_major(const struct nai_yaml *doc) {
  struct nai_err ignored;
  const struct nai_yaml_node *root = nai_yaml_root(doc), *format = nai_yaml_get(doc, root, "format_major");
  int64_t major = 0;
  return format && nai_yaml_get(doc, root, "version") && nai_yaml_get(doc, root, "identity") &&
                 nai_yaml_int(&major, doc, format, 1, INT32_MAX, &ignored) == NAI_OK
           ? major
           : 0;
}

/* It lists itself, in every version. */
static void read_files(struct nai_manifest *m, const struct nai_yaml *doc) {
  read_texts(m, &m->files, doc, "files");
  m->ours = nai_manifest_lists(m, NAI_MANIFEST_PATH);
  if (!m->ours)
    nai_strings_free(&m->files);
}

static const char *read_text(struct nai_manifest *m, const struct nai_yaml *doc, const char *key) {
  const struct nai_yaml_node *node = nai_yaml_get(doc, nai_yaml_root(doc), key);
  return node ? nai_arena_printf(&m->arena, "%s", node->text) : NULL;
}

static void read_doc(struct nai_manifest *m, const struct nai_yaml *doc) {
  const struct nai_yaml_node *root = nai_yaml_root(doc), *identity = nai_yaml_get(doc, root, "identity"),
                             *nodes = nai_yaml_get(doc, root, "nodes");
  m->version = read_text(m, doc, "version");
  m->trace = read_text(m, doc, "trace");
  m->oom |= m->arena.oom;
  m->identity = identity ? read_hex(identity) : 0;
  read_texts(m, &m->options, doc, "options");
  read_texts(m, &m->tables, doc, "tables");
  for (const struct nai_yaml_node *n = nodes ? nai_yaml_first(doc, nodes) : NULL; n; n = nai_yaml_next(doc, n)) {
    const struct nai_yaml_node *stage = nai_yaml_get(doc, n, "stage");
    nai_manifest_add_node(m, n->key ? n->key : "", stage ? stage->text : NULL);
    read_entries(m, doc, n, "from", nai_manifest_add_input);
    read_entries(m, doc, n, "tables", nai_manifest_add_table);
  }
}

static void read_parsed(struct nai_manifest *m, const struct nai_yaml *doc) {
  struct nai_err ignored;
  if (nai_yaml_expect(doc, nai_yaml_root(doc), NAI_YAML_MAP, &ignored))
    return;
  int64_t major = read_major(doc);
  if (major)
    read_files(m, doc); /* files are the program's own whichever version wrote them */
  if (m->ours && major >= NAI_MANIFEST_OLDEST_MAJOR && major <= NAI_MANIFEST_MAJOR)
    read_doc(m, doc);
}

static int read_file(struct nai_buf *text, int directory, struct nai_err *err) {
  NAI_CLOSED int fd = nai_fs_open_at(directory, NAI_MANIFEST_PATH);
  if (fd < 0)
    return nai_fs_is_absent(errno) ? NAI_OK : nai_err_sys(err, NAI_EIO, errno, "cannot open \"" NAI_MANIFEST_PATH "\"");
  return nai_fs_read_fd(text, fd, NAI_MANIFEST_PATH, NAI_YAML_MAX_BYTES, NAI_EIO, err);
}

int nai_manifest_parse(struct nai_manifest *m, const struct nai_buf *text, struct nai_err *err) {
  struct nai_yaml *doc = NULL;
  struct nai_err ignored;
  *m = (struct nai_manifest){0};
  int damaged = nai_yaml_parse(&doc, NAI_MANIFEST_PATH, nai_buf_str(text), text->len, &ignored);
  m->oom = damaged == NAI_ELIMIT;
  if (!damaged)
    read_parsed(m, doc);
  nai_yaml_free(doc);
  int rc = nai_manifest_check(m, err);
  if (rc)
    nai_manifest_free(m);
  return rc;
}

int nai_manifest_read(struct nai_manifest *m, int directory, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  *m = (struct nai_manifest){0};
  NAI_TRY(read_file(&text, directory, err));
  return nai_manifest_parse(m, &text, err);
}

/* --- printing --------------------------------------------------------------------------------- */

/* Names of files and words of command lines may hold any character. As everything of ours that people read they are
 * written clean, which is also how a manifest has to be to be read back. */
static void put_clean(struct nai_json *json, const char *text) {
  NAI_SCOPED(nai_buf) clean = {0};
  nai_text_clean(&clean, text ? text : "", text ? strlen(text) : 0);
  nai_json_text(json, text ? nai_buf_str(&clean) : NULL);
  json->out->oom |= clean.oom;
}

static void put_texts(struct nai_json *json, const char *key, const struct nai_strings *texts) {
  nai_json_put_array(json, key, NAI_JSON_LINES);
  for (uint32_t i = 0; i < texts->count; i++)
    put_clean(json, nai_strings_get(texts, i));
  nai_json_end(json);
}

static void put_entries(struct nai_json *json, const char *key, const struct nai_manifest *m, uint32_t first,
                        uint32_t end) {
  nai_json_put_object(json, key, NAI_JSON_INLINE);
  for (uint32_t i = first; i < end; i++)
    nai_json_put_hex(json, nai_manifest_name(m, m->entries[i].name), m->entries[i].hash);
  nai_json_end(json);
}

static void put_nodes(struct nai_json *json, const struct nai_manifest *m) {
  nai_json_put_object(json, "nodes", NAI_JSON_LINES);
  for (uint32_t i = 0; i < m->node_count; i++) {
    const struct nai_manifest_node *node = &m->nodes[i];
    nai_json_put_object(json, nai_manifest_name(m, node->name), NAI_JSON_LINES);
    if (node->stage != NAI_NO_STRING)
      nai_json_put_text(json, "stage", nai_manifest_name(m, node->stage));
    put_entries(json, "from", m, node->input, node->input_end);
    put_entries(json, "tables", m, node->table, node->table_end);
    nai_json_end(json);
  }
  nai_json_end(json);
}

static void put_readers(struct nai_json *json, const struct nai_table *readers) {
  nai_json_put_array(json, "readers", NAI_JSON_LINES);
  for (int64_t i = 0; i < readers->rows; i++) {
    nai_json_begin_object(json, NAI_JSON_INLINE);
    for (uint32_t c = 0; c < readers->schema->column_count; c++) {
      struct nai_value value = nai_table_value(readers, i, (int)c);
      nai_json_key(json, readers->schema->columns[c].name);
      nai_json_value(json, readers->schema->columns[c].unit, &value);
    }
    nai_json_end(json);
  }
  nai_json_end(json);
}

void nai_manifest_print(struct nai_buf *out, const struct nai_manifest *m, const struct nai_table *readers) {
  struct nai_json json;
  nai_json_open(&json, out, NAI_JSON_LINES);
  nai_json_put_int(&json, "format_major", NAI_MANIFEST_MAJOR);
  nai_json_put_int(&json, "format_minor", NAI_MANIFEST_MINOR);
  nai_json_put_text(&json, "version", m->version);
  nai_json_key(&json, "trace");
  put_clean(&json, m->trace);
  nai_json_put_hex(&json, "identity", m->identity);
  put_texts(&json, "options", &m->options);
  put_texts(&json, "tables", &m->tables);
  put_nodes(&json, m);
  if (readers)
    put_readers(&json, readers);
  put_texts(&json, "files", &m->files);
  nai_json_close(&json);
}
