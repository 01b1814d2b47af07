#include "trace/redact.h"

#include "base/assets.h"
#include "base/fs.h"
#include "base/sort.h"
#include "base/text.h"
#include "table/csv_read.h"
#include "trace/raw.h"
#include "trace/trace/trace_internal.h"

#include <sys/stat.h>

enum { MAP_MAX_BYTES = 64 << 20 };

/* --- words ---------------------------------------------------------------------------------------- */

/* Of other alphabets, too: their characters are no ASCII. */
static bool is_letter(char c) { return isalpha((unsigned char)c) || (unsigned char)c >= 0x80; }
static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

/* Bytes of the word that `text` begins with: fooBar is foo and Bar, HTTPServer HTTP and Server. */
static size_t word_length(const char *text, size_t len) {
  size_t n = 1;
  while (n < len && is_letter(text[n])) {
    bool rises = is_upper(text[n]) && !is_upper(text[n - 1]);
    bool falls = is_upper(text[n]) && n + 1 < len && is_letter(text[n + 1]) && !is_upper(text[n + 1]);
    if (rises || falls)
      break;
    n++;
  }
  return n;
}

/* Calls for every stretch of a text: a word, or what lies between words. */
typedef void stretch_fn(void *ctx, const char *text, size_t len, bool word);
static void each_stretch(const char *text, size_t len, stretch_fn *call, void *ctx) {
  for (size_t n; len; text += n, len -= n) {
    bool word = is_letter(*text);
    n = word ? word_length(text, len) : 1;
    while (!word && n < len && !is_letter(text[n]))
      n++;
    call(ctx, text, n, word);
  }
}

enum { MAX_WORD = 256 };

/* In lower case, cut: no public word is as long. */
static size_t fold(char out[MAX_WORD], const char *word, size_t len) {
  size_t n = len < MAX_WORD ? len : MAX_WORD;
  for (size_t i = 0; i < n; i++)
    out[i] = (char)tolower((unsigned char)word[i]);
  return n;
}

static void add_known(void *ctx, const char *text, size_t len, bool word) {
  struct nai_redaction *r = ctx;
  char folded[MAX_WORD];
  if (word && nai_strings_add(&r->known, folded, fold(folded, text, len)) == NAI_NO_STRING)
    r->oom = true;
}

/* Line by line, without comments. */
static void add_asset(struct nai_redaction *r, const struct nai_asset *asset) {
  for (const char *line = asset->data; line < asset->end;) {
    size_t len = strcspn(line, "\n");
    if (line[strspn(line, " ")] != '#')
      each_stretch(line, len, add_known, r);
    line += len + 1;
  }
}

static void add_assets(struct nai_redaction *r) {
  const char *const *files =
      NAI_WORDS("rules/call-frames.yaml", "rules/comm-kernels.yaml", "rules/elementwise-dtypes.yaml", "rules/gpus.yaml",
                "rules/kernel-arithmetic.yaml", "rules/kernel-classes.rules", "rules/kernel-dtypes.yaml",
                "rules/kernel-traits.yaml", "rules/program-marks.yaml", "rules/public-words.yaml",
                "rules/uneven-kernels.yaml", "rules/workload.yaml", "phase-maps/");
  for (const struct nai_asset *asset = nai_assets; asset->path; asset++)
    if (nai_text_begins(asset->path, files))
      add_asset(r, asset);
}

static bool is_known(const struct nai_redaction *r, const char *word, size_t len) {
  char folded[MAX_WORD];
  return len == 1 || nai_strings_find(&r->known, folded, fold(folded, word, len)) != NAI_NO_STRING;
}

struct redacting {
  struct nai_redaction *r;
  struct nai_buf *out;
};

static void put_stretch(void *ctx, const char *text, size_t len, bool word) {
  struct redacting *to = ctx;
  if (!word || is_known(to->r, text, len)) {
    nai_buf_put(to->out, text, len);
    return;
  }
  uint32_t number = nai_strings_add(&to->r->private, text, len);
  to->r->oom |= number == NAI_NO_STRING;
  nai_buf_printf(to->out, "X%u", number + 1);
}

/* Appends a text with tokens in place of private words, which get one where they have none. */
static void redact_text(struct nai_buf *out, struct nai_redaction *r, const char *text, size_t len) {
  each_stretch(text, len, put_stretch, &(struct redacting){r, out});
}

struct looking {
  const struct nai_redaction *r;
  bool private;
};

static void look_at(void *ctx, const char *text, size_t len, bool word) {
  struct looking *at = ctx;
  at->private |= word && !is_known(at->r, text, len);
}

static bool is_public(const struct nai_redaction *r, const char *text, size_t len) {
  struct looking at = {r, false};
  each_stretch(text, len, look_at, &at);
  return !at.private;
}

/* --- the map -------------------------------------------------------------------------------------- */

static int read_map(struct nai_redaction *r, const char *map, struct nai_err *err) {
  NAI_OWNED(nai_csv) *csv = NULL;
  char token[16];
  NAI_TRY(nai_csv_read(&csv, map, MAP_MAX_BYTES, err));
  for (uint32_t row = 1; row < csv->row_count; row++) {
    const char *word = nai_csv_cell(csv, row, nai_csv_column(csv, "word"));
    snprintf(token, sizeof token, "X%u", row);
    uint32_t number;
    NAI_TRY(nai_strings_put(&number, &r->private, word, err));
    if (strcmp(nai_csv_cell(csv, row, nai_csv_column(csv, "token")), token) != 0 || number != row - 1)
      return nai_err_set(err, NAI_EUSAGE, "%s:%u: not a map that --redact wrote: expected the token %s and its word",
                         map, csv->rows[row].line, token);
  }
  return NAI_OK;
}

int nai_redaction_open(struct nai_redaction *out, const char *map, struct nai_err *err) {
  *out = (struct nai_redaction){0};
  add_assets(out);
  NAI_TRY(nai_memory_check(!out->oom, err));
  return nai_fs_exists(map) ? read_map(out, map, err) : NAI_OK;
}

void nai_redaction_free(struct nai_redaction *r) {
  nai_strings_free(&r->known);
  nai_strings_free(&r->private);
}

int nai_redaction_save(const struct nai_redaction *r, const char *map, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_buf_puts(&text, "token,word\n");
  for (uint32_t i = 0; i < r->private.count; i++) /* letters only: no cell needs quotes */
    nai_buf_printf(&text, "X%u,%s\n", i + 1, nai_strings_get(&r->private, i));
  NAI_TRY(nai_buf_check(&text, err));
  mode_t mask = umask(077);
  int rc = nai_fs_replace(map, nai_buf_str(&text), text.len, err);
  umask(mask);
  return rc;
}

/* --- the copy ------------------------------------------------------------------------------------- */

struct copy {
  struct nai_redaction *r;
  sqlite3 *from, *to;
  int64_t *functions; /* numbers of texts that name CUDA and operating system functions, in order */
  size_t function_count, function_capacity;
  struct nai_buf text;
};

static void copy_free(struct copy *c) {
  sqlite3_close(c->from);
  sqlite3_close(c->to);
  free(c->functions);
  nai_buf_free(&c->text);
}

static int add_functions_of(struct copy *c, const char *table, struct nai_err *err) {
  NAI_OWNED(sqlite3_stmt) *rows = NULL;
  char sql[160];
  int rc;
  snprintf(sql, sizeof sql, "SELECT DISTINCT nameId FROM \"%s\" WHERE typeof(nameId) = 'integer'", table);
  NAI_TRY(nai_sqlite_prepare(&rows, c->from, sql, "cannot read names of functions", err));
  while ((rc = sqlite3_step(rows)) == SQLITE_ROW) {
    if (c->function_count == c->function_capacity) {
      c->function_capacity = 2 * c->function_capacity + 256;
      int64_t *larger = realloc(c->functions, c->function_capacity * sizeof *larger);
      NAI_TRY(nai_memory_check(larger, err));
      c->functions = larger;
    }
    c->functions[c->function_count++] = sqlite3_column_int64(rows, 0);
  }
  return rc == SQLITE_DONE ? NAI_OK : nai_sqlite_fail(err, c->from, rc, "cannot read names of functions");
}

static int find_functions(struct copy *c, const struct nai_trace *trace, struct nai_err *err) {
  static const char *const tables[] = {
      "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER", "OSRT_API",       "CUDNN_EVENTS",    "CUBLAS_EVENTS",
      "PROFILER_OVERHEAD",           "MPI_COLLECTIVES_EVENTS",     "MPI_P2P_EVENTS", "MPI_OTHER_EVENTS"};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    const struct nai_db_table *table = nai_trace_table(trace, tables[i]);
    if (table && table->plain && nai_db_column(table, "nameId") >= 0)
      NAI_TRY(add_functions_of(c, table->name, err));
  }
  qsort(c->functions, c->function_count, sizeof *c->functions, nai_by_i64);
  return NAI_OK;
}

static bool starts_with(const char *text, const char *begin) {
  return sqlite3_strnicmp(text, begin, (int)strlen(begin)) == 0;
}

/* How the texts of a column are copied: with tokens, as they are, not, or where all their words are public. */
enum treatment { REDACT, KEEP, DROP, KEEP_PUBLIC };

/* Facts about the capture and the machine, and messages. They include environment variables and what programs print,
 * whose words have no place in a map either. */
static bool has_facts(const struct nai_db_table *table) {
  static const char *const begins[] = {"META_DATA_", "EXPORT_META_DATA", "TARGET_INFO_", "ANALYSIS_DETAILS",
                                       "DIAGNOSTIC_EVENT"};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (starts_with(table->name, begins[i]))
      return true;
  return false;
}

static bool is_texts(const struct nai_db_table *table) { return sqlite3_stricmp(table->name, "StringIds") == 0; }

static bool is_copied(const struct nai_db_table *table) {
  bool small = sqlite3_stricmp(table->name, "PROCESSES") == 0 || sqlite3_stricmp(table->name, "ProcessStreams") == 0;
  return table->plain && table->column_count &&
         (small || is_texts(table) || has_facts(table) || nai_raw_is_shown(table));
}

/* Texts of Nsight Systems' own stay: what enumerations call their values, the names of facts and of products. */
static enum treatment treatment_of(const struct nai_db_table *table, const char *column) {
  if (sqlite3_stricmp(column, "uuid") == 0 || sqlite3_stricmp(column, "binaryData") == 0)
    return DROP;
  if (has_facts(table))
    return sqlite3_stricmp(column, "name") == 0 ? KEEP : KEEP_PUBLIC;
  return starts_with(table->name, "ENUM_") ? KEEP : REDACT;
}

/* A statement's SQL with the columns that are stored. */
static uint32_t put_columns(struct nai_buf *sql, const struct nai_db_table *table, bool declared) {
  uint32_t count = 0;
  for (int i = 0; i < table->column_count; i++) {
    const struct nai_db_column *column = &table->columns[i];
    if (column->hidden)
      continue;
    nai_buf_puts(sql, count++ ? ", " : "");
    nai_sql_identifier(sql, column->name);
    if (declared)
      nai_buf_puts(sql, column->rowid_alias        ? " INTEGER PRIMARY KEY"
                        : column->integer_affinity ? " INTEGER"
                        : column->text_affinity    ? " TEXT"
                        : column->real_affinity    ? " REAL"
                                                   : "");
  }
  return count;
}

static int run_sql(sqlite3 *db, const struct nai_buf *sql, struct nai_err *err) {
  NAI_TRY(nai_buf_check(sql, err));
  int rc = sqlite3_exec(db, nai_buf_str(sql), NULL, NULL, NULL);
  return rc == SQLITE_OK ? NAI_OK : nai_sqlite_fail(err, db, rc, "cannot write the redacted copy");
}

/* Statements of one table. */
struct pair {
  sqlite3_stmt *read, *write;
  uint32_t columns;
};

static void pair_free(struct pair *p) {
  sqlite3_finalize(p->read);
  sqlite3_finalize(p->write);
}

/* Of texts only those that name something. */
static void put_read(struct nai_buf *sql, const struct nai_trace *trace, const struct nai_db_table *table) {
  if (is_texts(table)) {
    nai_raw_put_names(sql, trace, "main");
    return;
  }
  nai_buf_puts(sql, "SELECT ");
  put_columns(sql, table, false);
  nai_buf_puts(sql, " FROM ");
  nai_sql_identifier(sql, table->name);
}

static int open_pair(struct pair *p, struct copy *c, const struct nai_trace *trace, const struct nai_db_table *table,
                     struct nai_err *err) {
  NAI_SCOPED(nai_buf) create = {0}, read = {0}, write = {0};
  nai_buf_puts(&create, "CREATE TABLE ");
  nai_sql_identifier(&create, table->name);
  nai_buf_puts(&create, " (");
  p->columns = put_columns(&create, table, true);
  nai_buf_puts(&create, ")");
  put_read(&read, trace, table);
  nai_buf_puts(&write, "INSERT INTO ");
  nai_sql_identifier(&write, table->name);
  for (uint32_t i = 0; i < p->columns; i++)
    nai_buf_puts(&write, i ? ", ?" : " VALUES (?");
  nai_buf_puts(&write, ")");
  NAI_TRY(run_sql(c->to, &create, err));
  NAI_TRY(nai_buf_check(&read, err));
  NAI_TRY(nai_buf_check(&write, err));
  NAI_TRY(nai_sqlite_prepare(&p->read, c->from, nai_buf_str(&read), table->name, err));
  return nai_sqlite_prepare(&p->write, c->to, nai_buf_str(&write), "cannot write the redacted copy", err);
}

static void bind_text(struct copy *c, const struct pair *p, int i) {
  nai_buf_clear(&c->text);
  redact_text(&c->text, c->r, (const char *)sqlite3_column_text(p->read, i), (size_t)sqlite3_column_bytes(p->read, i));
  sqlite3_bind_text(p->write, i + 1, nai_buf_str(&c->text), (int)c->text.len, SQLITE_TRANSIENT);
}

/* `function`: the row is a text that names a function. */
static void bind_cell(struct copy *c, const struct pair *p, int i, enum treatment how, bool function) {
  sqlite3_value *value = sqlite3_column_value(p->read, i);
  int type = sqlite3_column_type(p->read, i);
  bool hidden = how == DROP || (how == KEEP_PUBLIC && type == SQLITE_TEXT &&
                                !is_public(c->r, (const char *)sqlite3_column_text(p->read, i),
                                           (size_t)sqlite3_column_bytes(p->read, i)));
  if (type == SQLITE_BLOB || (type == SQLITE_TEXT && hidden))
    sqlite3_bind_null(p->write, i + 1);
  else if (type == SQLITE_TEXT && how == REDACT && !function)
    bind_text(c, p, i);
  else
    sqlite3_bind_value(p->write, i + 1, value);
}

static int copy_rows(struct copy *c, const struct pair *p, const struct nai_db_table *table, struct nai_err *err) {
  NAI_FREED enum treatment *how = calloc(p->columns + 1, sizeof *how);
  int id = is_texts(table) ? 0 : -1, rc;
  NAI_TRY(nai_memory_check(how, err));
  for (uint32_t i = 0; i < p->columns; i++)
    how[i] = treatment_of(table, sqlite3_column_name(p->read, (int)i));
  while ((rc = sqlite3_step(p->read)) == SQLITE_ROW) {
    int64_t number = id >= 0 ? sqlite3_column_int64(p->read, id) : 0;
    bool function = id >= 0 && bsearch(&number, c->functions, c->function_count, sizeof number, nai_by_i64);
    for (uint32_t i = 0; i < p->columns; i++)
      bind_cell(c, p, (int)i, how[i], function);
    NAI_TRY(nai_memory_check(!c->text.oom && !c->r->oom, err));
    if ((rc = sqlite3_step(p->write)) != SQLITE_DONE)
      return nai_sqlite_fail(err, c->to, rc, "cannot write the redacted copy");
    sqlite3_reset(p->write);
  }
  return rc == SQLITE_DONE ? NAI_OK : nai_sqlite_fail(err, c->from, rc, table->name);
}

static int copy_table(struct copy *c, const struct nai_trace *trace, const struct nai_db_table *table,
                      struct nai_err *err) {
  NAI_SCOPED(pair) pair = {0};
  if (!is_copied(table))
    return NAI_OK;
  NAI_TRY(open_pair(&pair, c, trace, table, err));
  if ((uint32_t)sqlite3_column_count(pair.read) != pair.columns || (is_texts(table) && nai_db_column(table, "id") != 0))
    return nai_err_set(err, NAI_EINPUT, "the table \"%s\" has other columns than exports have", table->name);
  return copy_rows(c, &pair, table, err);
}

int nai_redact_trace(struct nai_redaction *r, const struct nai_trace *trace, const char *path, struct nai_err *err) {
  NAI_SCOPED(copy) c = {.r = r};
  NAI_TRY(nai_trace_connect(&c.from, trace, err));
  sqlite3_limit(c.from, SQLITE_LIMIT_COMPOUND_SELECT, 500); /* the statement of the names has a part per table */
  int rc = sqlite3_open_v2(path, &c.to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
  if (rc == SQLITE_OK) /* nobody else sees it before it is whole */
    rc = sqlite3_exec(c.to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", NULL, NULL, NULL);
  if (rc != SQLITE_OK)
    return nai_sqlite_fail(err, c.to, rc, "cannot write the redacted copy");
  NAI_TRY(find_functions(&c, trace, err));
  for (int i = 0; i < trace->table_count; i++)
    NAI_TRY(copy_table(&c, trace, &trace->tables[i], err));
  rc = sqlite3_exec(c.to, "COMMIT", NULL, NULL, NULL);
  return rc == SQLITE_OK ? nai_trace_unchanged(trace, err)
                         : nai_sqlite_fail(err, c.to, rc, "cannot write the redacted copy");
}
