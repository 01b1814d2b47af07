/* From the bytes of an export to its report, all of it: probe, extract, model, analyses, rules, outputs. An input is a
 * database, or a number of a generated trace and what is changed in it: cells, rows, columns, tables, and bytes of the
 * file. Whatever it is, there is a report that can be read, or one message and nothing else. */
#include "pipeline/analyze.h"

#include "bases.h"
#include "pages.h"

#include <jansson.h>
#include <sqlite3.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

static const char magic[] = "SQLite format 3";

static bool is_database(const uint8_t *data, size_t size) {
  return size > sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

/* --- changes to a generated trace ------------------------------------------------------------------------------- */

struct change {
  uint8_t what; /* CELL, ... and, with the highest bit, all further rows, too */
  uint8_t table, column, how, value, row[2];
};
enum { CELL, CELL_OF_ANOTHER_ROW, ROW, COLUMN, TABLE, BYTE, WHATS, ALL = 0x80, MAX_CHANGES = 8 };

/* The order is that of the corpus. */
static const char *const scenarios[] = {"minimal",        "evidence",     "collectives",   "nvtx-mix",
                                        "graphs-node",    "host-bound",   "training",      "gemm-sizes",
                                        "two-processes",  "openacc-like", "graphs",        "steps",
                                        "mpi-late",       "serving",      "openacc-data",  "sampled",
                                        "call-sites",     "files",        "partitions",    "collectives-advanced",
                                        "host-functions", "time-sliced",  "decompression", "train-first-touch"};
enum { BASES = sizeof scenarios / sizeof *scenarios };

static const struct nai_buf *base(size_t number) {
  static struct nai_buf files[BASES];
  char path[PATH_MAX];
  struct nai_err err;
  if (files[number].len)
    return &files[number];
  bases_generate(path, scenarios[number], "--scale 0.02");
  bases_must(nai_fs_read(&files[number], path, 64 << 20, NAI_EINPUT, &err), &err);
  return &files[number];
}

/* Name of table `number`, or of a column of it, in the order of the file. */
static void name_of(char *out, size_t size, sqlite3 *db, const char *sql, const char *of, int number) {
  sqlite3_stmt *statement;
  *out = '\0';
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK) {
    sqlite3_bind_int(statement, 1, number);
    sqlite3_bind_text(statement, 2, of, -1, SQLITE_STATIC);
    if (sqlite3_step(statement) == SQLITE_ROW)
      snprintf(out, size, "%s", (const char *)sqlite3_column_text(statement, 0));
  }
  sqlite3_finalize(statement);
}

/* An expression over the old value, which is called x. */
static void put_value(struct nai_buf *out, const struct change *change) {
  static const char *const known[] = {
      "NULL",   "-1",     "0",      "1",  "2147483647", "9223372036854775807", "-9223372036854775807-1",
      "1.5",    "9e999",  "'text'", "''", "x'00ff'",    "zeroblob(5000)",      "4294967296",
      "x || x", "'<b>`|'"};
  switch (change->how % 6) {
  case 0:
    nai_buf_puts(out, known[change->value % (sizeof known / sizeof *known)]);
    break;
  case 1:
    nai_buf_printf(out, "%d", change->value);
    break;
  case 2:
    nai_buf_printf(out, "x + %d", change->value - 128);
    break;
  case 3:
    nai_buf_printf(out, "x + (1 << %d)", change->value & 63);
    break;
  case 4:
    nai_buf_printf(out, "x * %d", change->value);
    break;
  default:
    nai_buf_printf(out, "%d << %d", change->value, (change->how >> 3 & 7) * 8);
  }
}

static void put_statement(struct nai_buf *out, sqlite3 *db, const struct change *change) {
  char table[128], column[128], where[64];
  struct nai_buf value = {0};
  int row = change->row[0] << 8 | change->row[1];
  name_of(
      table, sizeof table, db,
      "SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 1 OFFSET ?1 % (SELECT max(1, count(*)) FROM sqlite_master WHERE type = 'table')",
      "", change->table);
  name_of(
      column, sizeof column, db,
      "SELECT name FROM pragma_table_info(?2) LIMIT 1 OFFSET ?1 % (SELECT max(1, count(*)) FROM pragma_table_info(?2))",
      table, change->column);
  snprintf(where, sizeof where, change->what & ALL ? "rowid >= %d" : "rowid = %d", row);
  put_value(&value, change);
  switch ((change->what & ~ALL) % WHATS) {
  case CELL:
    nai_buf_printf(out, "UPDATE \"%s\" SET \"%s\" = (SELECT %s FROM (SELECT \"%s\" AS x)) WHERE %s", table, column,
                   nai_buf_str(&value), column, where);
    break;
  case CELL_OF_ANOTHER_ROW:
    nai_buf_printf(out, "UPDATE \"%s\" SET \"%s\" = (SELECT o.\"%s\" FROM \"%s\" o WHERE o.rowid = %d) WHERE %s", table,
                   column, column, table, change->value, where);
    break;
  case ROW:
    nai_buf_printf(out, "DELETE FROM \"%s\" WHERE %s", table, where);
    break;
  case COLUMN:
    nai_buf_printf(out, "ALTER TABLE \"%s\" DROP COLUMN \"%s\"", table, column);
    break;
  case TABLE:
    nai_buf_printf(out, change->value & 1 ? "DROP TABLE \"%s\"" : "DELETE FROM \"%s\"", table);
    break;
  }
  nai_buf_free(&value);
}

/* The trace with changes of cells and so on, then of bytes. */
static void change_base(struct nai_buf *out, size_t number, const struct change *changes, size_t count) {
  const struct nai_buf *from = base(number);
  sqlite3 *db = NULL;
  sqlite3_int64 size = (sqlite3_int64)from->len;
  unsigned char *copy = sqlite3_malloc64(from->len);
  if (!copy || sqlite3_open(":memory:", &db))
    abort();
  memcpy(copy, from->data, from->len);
  if (sqlite3_deserialize(db, "main", copy, size, size, SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE))
    abort();
  for (size_t i = 0; i < count; i++) {
    struct nai_buf sql = {0};
    put_statement(&sql, db, &changes[i]);
    if (sql.len) /* what a key or an index forbids is no change */
      (void)sqlite3_exec(db, nai_buf_str(&sql), NULL, NULL, NULL);
    nai_buf_free(&sql);
  }
  unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
  nai_buf_put(out, bytes, (size_t)size);
  sqlite3_free(bytes);
  sqlite3_close(db);
  for (size_t i = 0; i < count; i++)
    if ((changes[i].what & ~ALL) % WHATS == BYTE && out->len) {
      size_t at =
          (((size_t)changes[i].row[0] << 8 | changes[i].row[1]) * 4096 + changes[i].table * 256u + changes[i].column) %
          out->len;
      out->data[at] = (char)(changes[i].how & 1 ? changes[i].value : out->data[at] ^ 1 << (changes[i].value & 7));
    }
}

/* --- the run ---------------------------------------------------------------------------------------------------- */

static void check_report(const char *out) {
  char path[PATH_MAX + 16];
  struct nai_buf text = {0};
  struct nai_err err;
  snprintf(path, sizeof path, "%s/report.json", out);
  bases_must(nai_fs_read(&text, path, 256 << 20, NAI_EIO, &err), &err);
  json_t *report = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
  if (!json_is_object(report))
    abort();
  json_decref(report);
  nai_buf_free(&text);
}

static void run(const char *trace) {
  char out[PATH_MAX];
  struct nai_options options;
  struct nai_result result = {0};
  struct nai_err err = {0};
  nai_options_init(&options);
  snprintf(out, sizeof out, "%s/out", bases_directory());
  options.trace = trace;
  options.out = out;
  options.threads = 1;
  options.map_nvtx = true;
  int rc = nai_analyze(&result, &options, NULL, &err);
  if (rc && (rc != err.code || !*err.msg || (rc != NAI_EINPUT && rc != NAI_ELIMIT) || nai_fs_exists(out)))
    bases_must(rc, &err);
  if (!rc)
    check_report(out);
  nai_result_free(&result);
  bases_must(nai_fs_remove_tree(out, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[PATH_MAX];
  struct change changes[MAX_CHANGES];
  struct nai_buf file = {0};
  struct nai_err err;
  size_t count = size ? (size - 1) / sizeof *changes : 0;
  count = count < MAX_CHANGES ? count : MAX_CHANGES;
  if (is_database(data, size)) {
    nai_buf_put(&file, data, size);
  } else if (size) {
    memcpy(changes, data + 1, count * sizeof *changes);
    change_base(&file, data[0] % BASES, changes, count);
  }
  snprintf(path, sizeof path, "%s/t.sqlite", bases_directory());
  bases_must(nai_fs_write(path, nai_buf_str(&file), file.len, &err), &err);
  run(path);
  nai_buf_free(&file);
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
  return is_database(data, size) ? pages_mutate(data, size, max_size, seed) : LLVMFuzzerMutate(data, size, max_size);
}
