/* CSV: written by us, read back by libcsv's parser, which must find the values of the table; and files that
 * people write. */
#include "unit.h"

#include "table/csv.h"
#include "table/csv_read.h"

#include <csv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct nai_column_def columns[] = {
    {"name", NAI_STR, NAI_TEXT, "a name"},
    {"total_ns", NAI_I64, NAI_NS, "a time", .display_units = NAI_AS_NS | NAI_AS_MS},
    {"share, of \"all\"", NAI_F64, NAI_PCT, "a share"},
    {"pid", NAI_I32, NAI_ID, "a number"},
};
static const struct nai_schema schema = NAI_SCHEMA("t", "T", "rows", columns);

static struct nai_table *new_table(void) {
  struct nai_table *table = NULL;
  struct nai_err err = {0};
  assert_int_equal(nai_table_new(&table, &schema, &err), 0);
  return table;
}

static void add(struct nai_table *table, const char *name, int64_t ns, double share, int64_t pid) {
  int64_t row = nai_table_add_row(table);
  nai_set_str(table, row, 0, name);
  nai_set_i64(table, row, 1, ns);
  nai_set_f64(table, row, 2, share);
  nai_set_i64(table, row, 3, pid);
}

TEST(test_bytes) {
  struct nai_table *table = new_table();
  add(table, "plain name<4>(int)", 136355595, 12.5, 7);
  add(table, "a,b", -1, 0, 0);
  add(table, "say \"hi\"", 0, 100, -3);
  add(table, "", NAI_NULL_I64, 0.00004, NAI_NULL_I64);
  add(table, "=1+1", 1, 1, 1);
  add(table, "@x,\"y\"", 1, 1, 1);
  add(table, " blank", 1, 1, 1);
  nai_table_add_row(table);
  struct nai_buf out = {0};
  nai_csv_table(&out, table);
  assert_string_equal(nai_buf_str(&out), "name,total_ns,total_ms,\"share, of \"\"all\"\"\",pid\n"
                                         "plain name<4>(int),136355595,136.355595,12.5000,7\n"
                                         "\"a,b\",-1,-0.000001,0.0000,0\n"
                                         "\"say \"\"hi\"\"\",0,0.000000,100.0000,-3\n"
                                         "\"\",,,0.0000,\n"
                                         "'=1+1,1,0.000001,1.0000,1\n"
                                         "\"'@x,\"\"y\"\"\",1,0.000001,1.0000,1\n"
                                         "\" blank\",1,0.000001,1.0000,1\n"
                                         ",,,,\n");
  nai_buf_free(&out);
  nai_table_free(table);
}

TEST(test_no_rows) {
  struct nai_table *table = new_table();
  struct nai_buf out = {0};
  nai_csv_table(&out, table);
  assert_string_equal(nai_buf_str(&out), "name,total_ns,total_ms,\"share, of \"\"all\"\"\",pid\n");
  nai_buf_free(&out);
  nai_table_free(table);
}

struct reader {
  const struct nai_table *table;
  int64_t row;
  int column;
};

static void on_cell(void *bytes, size_t len, void *ctx) {
  struct reader *r = ctx;
  if (r->row >= 0 && r->column == 0) {
    const char *expected = nai_get_str(r->table, r->row, 0);
    size_t guard = expected[0] && strchr("=+-@\t\r\n", expected[0]) ? 1 : 0;
    assert_int_equal(len, strlen(expected) + guard);
    assert_memory_equal((char *)bytes + guard, expected, len - guard);
  } else if (r->row >= 0 && r->column == 1) {
    assert_int_equal(strtoll(bytes, NULL, 10), nai_get_i64(r->table, r->row, 1));
  }
  r->column++;
}

static void on_row(int c, void *ctx) {
  struct reader *r = ctx;
  (void)c;
  assert_int_equal(r->column, 5);
  r->column = 0;
  r->row++;
}

TEST(test_any_text_comes_back) {
  static const char alphabet[] = "ab ,\"\"\n\r\t=+-@'|;<\xc3\xa9";
  struct nai_table *table = new_table();
  uint32_t random = 1;
  for (int i = 0; i < 20000; i++) {
    char text[16];
    size_t len = 0;
    for (random = random * 1664525u + 1013904223u; len < random >> 29; len++)
      text[len] = alphabet[(random >> (3 * len)) % (sizeof alphabet - 1)];
    text[len] = '\0';
    add(table, text, i * 1000003LL, i / 7.0, i);
  }
  struct nai_buf out = {0};
  nai_csv_table(&out, table);
  struct csv_parser parser;
  struct reader reader = {table, -1, 0};
  assert_int_equal(csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL), 0);
  assert_int_equal(csv_parse(&parser, out.data, out.len, on_cell, on_row, &reader), out.len);
  assert_int_equal(csv_fini(&parser, on_cell, on_row, &reader), 0);
  assert_int_equal(reader.row, 20000);
  csv_free(&parser);
  nai_buf_free(&out);
  nai_table_free(table);
}

/* More than a megabyte of different texts, of which each stands in two rows. */
TEST(test_many_texts) {
  enum { TEXTS = 3000, BYTES = 500 };
  struct nai_table *table = new_table();
  NAI_SCOPED(nai_buf) expected = {0};
  char text[BYTES + 1];
  memset(text, ',', BYTES);
  text[BYTES] = '\0';
  for (int i = 0; i < 2 * TEXTS; i++) {
    sprintf(text, "%06d", i % TEXTS);
    text[6] = ',';
    add(table, text, i, 1, i);
    nai_buf_printf(&expected, "\"%s\",%d,0.%06d,1.0000,%d\n", text, i, i, i);
  }
  NAI_SCOPED(nai_buf) out = {0};
  nai_csv_rows(&out, table);
  assert_string_equal(nai_buf_str(&out), nai_buf_str(&expected));
  nai_table_free(table);
}

/* Reads the text as a file: true and the cells of all rows behind one another, or false and the message behind the
 * name. */
static bool read_back(char *got, const char *text) {
  char path[] = "/tmp/nai-csv-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), strlen(text));
  close(fd);
  struct nai_csv *csv;
  struct nai_err err = {0};
  int rc = nai_csv_read(&csv, path, 1 << 20, &err);
  *got = '\0';
  if (rc)
    strcpy(got, err.msg + strlen(path));
  for (uint32_t r = 0; !rc && r < csv->row_count; r++) {
    sprintf(got + strlen(got), "%u", csv->rows[r].line);
    for (uint32_t c = 0; c < csv->rows[r].count; c++)
      sprintf(got + strlen(got), "|%s", nai_csv_cell(csv, r, (int)c));
    strcat(got, ";");
  }
  nai_csv_free(csv);
  unlink(path);
  return !rc;
}

TEST(test_read) {
  static const struct {
    const char *text, *got;
    bool read;
  } cases[] = {
      {"a,b\n1,2\n", "1|a|b;2|1|2;", true},
      {"\xef\xbb\xbf\"a\",b\r\n\r\n'=1, 2 ", "1|a|b;3|=1| 2 ;", true},
      {"a,b\n\"x\ny \"\"q\"\"\",\n\"\",z\n", "1|a|b;2|x\ny \"q\"|;4||z;", true},
      {"a\n\"\"\n\n1", "1|a;4|1;", true},
      {"a,b\n1\n", ":2: expected 2 cells, as in the first line, got 1", false},
      {"a,b\n1,\"x\ny\n", ":2: a quoted cell has no end", false},
      {"a,b\n\"x\ny\",\"z\n", ":3: a quoted cell has no end", false},
      {"a\n\"x\"y\n", ":2: text follows a closing quote", false},
      {"a\n\nx\"y\n", ":3: a quote inside a cell that is not quoted", false},
      {"", ":1: the file is empty; expected a line with the names of the columns", false},
      {"\n\n", ":1: the file is empty; expected a line with the names of the columns", false},
  };
  char got[1024];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(read_back(got, cases[i].text), cases[i].read);
    assert_string_equal(got, cases[i].got);
  }
}
