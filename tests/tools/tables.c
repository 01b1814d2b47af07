/* Reads every table that ingest knows and prints what is in each: TRACE READER THREADS [TABLE...]. A line per column:
 * table, rows, column, cells that are not NULL, and their sum (modulo 2^64), least and greatest; of text the number of
 * different ones and a hash of all in order. With TABLEs only those are made. For tests. */
#include "trace/ingest.h"
#include "base/fs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_integers(const struct nai_table *t, int column) {
  int64_t count = 0, low = INT64_MAX, high = INT64_MIN;
  uint64_t sum = 0;
  for (int64_t i = 0; i < t->rows; i++) {
    struct nai_value v = nai_table_value(t, i, column);
    if (v.null)
      continue;
    count++;
    sum += (uint64_t)v.i;
    low = v.i < low ? v.i : low;
    high = v.i > high ? v.i : high;
  }
  printf("%" PRId64 "\t%" PRId64, count, (int64_t)sum);
  if (count)
    printf("\t%" PRId64 "\t%" PRId64, low, high);
}

static void print_texts(const struct nai_table *t, int column) {
  struct nai_strings seen = {0};
  int64_t count = 0;
  uint64_t hash = 0;
  for (int64_t i = 0; i < t->rows; i++) {
    struct nai_value v = nai_table_value(t, i, column);
    if (v.null)
      continue;
    count++;
    nai_strings_add(&seen, v.s, strlen(v.s));
    for (const char *p = v.s; *p; p++)
      hash = hash * 1099511628211u + (unsigned char)*p;
    hash = hash * 31 + 1;
  }
  printf("%" PRId64 "\t%u\t%016" PRIx64, count, seen.count, hash);
  nai_strings_free(&seen);
}

static void print_table(const struct nai_table *t) {
  for (int c = 0; c < (int)t->schema->column_count; c++) {
    printf("%s\t%" PRId64 "\t%s\t", t->schema->name, t->rows, t->schema->columns[c].name);
    if (t->schema->columns[c].type == NAI_STR)
      print_texts(t, c);
    else
      print_integers(t, c);
    putchar('\n');
  }
}

static uint64_t tables_named(char **names, int count) {
  uint64_t set = 0;
  for (int n = 0; n < count; n++)
    for (int t = 0; t < NAI_IN_COUNT; t++)
      if (strcmp(names[n], nai_event_tables[t]->name) == 0)
        set |= NAI_IN_BIT(t);
  return set;
}

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  char dir[] = "/tmp/nai-tables-XXXXXX";
  struct nai_err err = {0};
  struct nai_trace *trace = NULL;
  struct nai_ingest in = {0};
  struct nai_trace_options how = {.reader = strcmp(argv[2], "sqlite") == 0 ? NAI_READER_SQLITE
                                          : strcmp(argv[2], "direct") == 0 ? NAI_READER_DIRECT
                                                                           : NAI_READER_AUTO};
  uint64_t tables = argc > 4 ? tables_named(argv + 4, argc - 4) : NAI_IN_ALL;
  struct nai_ingest_options options = {.threads = atoi(argv[3]), .directory = mkdtemp(dir), .tables = tables};
  int rc = options.directory && tables ? 0 : nai_err_set(&err, NAI_EUSAGE, "no directory or no such table");
  if (!rc)
    rc = nai_trace_open(&trace, argv[1], &how, &err);
  if (!rc)
    rc = nai_probe(&in, trace, tables, &err);
  if (!rc)
    rc = nai_extract(&in, trace, &options, &err);
  if (rc)
    printf("error\t%s\n", err.msg);
  for (int t = 0; !rc && t < NAI_IN_COUNT; t++)
    if (in.tables[t])
      print_table(in.tables[t]);
  nai_ingest_free(&in);
  nai_trace_close(trace);
  if (options.directory && nai_fs_remove_tree(dir, &err))
    return 1;
  return rc ? 3 : 0;
}
