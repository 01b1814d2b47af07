/* Reads every table of a database with both readers. Aborts when both succeed and differ, when an error is not one that
 * damage may cause, or when a lookup disagrees with a scan. */
#pragma once

#include "scan_dump.h"

/* Counts, so that a test can tell whether it exercised anything. */
struct readers_outcome {
  int opened, refused;                         /* files */
  int both_read, direct_failed, sqlite_failed; /* tables */
};

static inline void disagree(const char *what, const char *table, const char *a, const char *b) {
  fprintf(stderr, "%s: table \"%s\"\n--- direct\n%s\n--- sqlite\n%s\n", what, table, a, b);
  abort();
}

static inline void must_be_input_error(int rc, const struct nai_err *err) {
  if (rc != NAI_EINPUT || !err->msg[0])
    disagree("unexpected error", "", err->msg, "");
}

static inline void compare_table(struct readers_outcome *outcome, struct nai_trace *direct, struct nai_trace *sqlite,
                                 const struct nai_db_table *table, enum column_order order, int parts) {
  struct nai_buf a = {0}, b = {0};
  struct nai_err err_a = {0}, err_b = {0};
  char reader_a[16] = "", reader_b[16] = "";
  int rc_a = dump_scan(&a, reader_a, direct, table, order, parts, &err_a);
  int rc_b = dump_scan(&b, reader_b, sqlite, nai_trace_table(sqlite, table->name), order, 1, &err_b);
  if (rc_a)
    must_be_input_error(rc_a, &err_a);
  if (rc_b)
    must_be_input_error(rc_b, &err_b);
  if (!rc_a && !rc_b && strcmp(nai_buf_str(&a), nai_buf_str(&b)) != 0)
    disagree(reader_a, table->name, nai_buf_str(&a), nai_buf_str(&b));
  outcome->both_read += !rc_a && !rc_b;
  outcome->direct_failed += rc_a != 0;
  outcome->sqlite_failed += rc_b != 0;
  nai_buf_free(&a);
  nai_buf_free(&b);
}

/* Looks up keys around those of the seed; where both find, they find the same. */
static inline void compare_lookups(struct nai_trace *direct, struct nai_trace *sqlite, const char *table) {
  struct nai_lookup *a = NULL, *b = NULL;
  struct nai_err err = {0};
  int rc_a = nai_lookup_open(&a, direct, table, 1, &err), rc_b = nai_lookup_open(&b, sqlite, table, 1, &err);
  for (int64_t key = -3; key < 130 && !rc_a && !rc_b; key++) {
    bool found_a = false, found_b = false;
    struct nai_cell cell_a, cell_b;
    struct nai_buf text_a = {0}, text_b = {0};
    int get_a = nai_lookup_get(&found_a, &cell_a, a, key, &err),
        get_b = nai_lookup_get(&found_b, &cell_b, b, key, &err);
    if (!get_a && !get_b && found_a && found_b) {
      dump_cell(&text_a, &cell_a);
      dump_cell(&text_b, &cell_b);
      if (strcmp(nai_buf_str(&text_a), nai_buf_str(&text_b)) != 0)
        disagree("lookup", table, nai_buf_str(&text_a), nai_buf_str(&text_b));
    }
    nai_buf_free(&text_a);
    nai_buf_free(&text_b);
  }
  nai_lookup_close(a);
  nai_lookup_close(b);
}

static inline void readers_agree(struct readers_outcome *outcome, const char *path) {
  struct nai_trace *direct = NULL, *sqlite = NULL;
  struct nai_err err_a = {0}, err_b = {0};
  int rc_a = nai_trace_open(&direct, path, &(struct nai_trace_options){.reader = NAI_READER_DIRECT}, &err_a);
  int rc_b = nai_trace_open(&sqlite, path, &(struct nai_trace_options){.reader = NAI_READER_SQLITE}, &err_b);
  if (rc_a != rc_b)
    disagree("only one opens", "", err_a.msg, err_b.msg);
  outcome->opened += !rc_a;
  outcome->refused += rc_a != 0;
  if (rc_a)
    must_be_input_error(rc_a, &err_a);
  for (int i = 0; !rc_a && i < direct->table_count; i++) {
    const struct nai_db_table *table = &direct->tables[i];
    if (table != nai_trace_table(direct, table->name))
      continue; /* a second one of that name, which nothing can ask for */
    for (int order = 0; order < COLUMN_ORDERS; order++)
      compare_table(outcome, direct, sqlite, table, (enum column_order)order, 1 + (i + order) % 4);
    if (table->plain && table->column_count > 1)
      compare_lookups(direct, sqlite, table->name);
  }
  nai_trace_close(direct);
  nai_trace_close(sqlite);
}
