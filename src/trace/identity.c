#include "trace/identity.h"

#include "trace/small.h"
#include "trace/sources/source.h"
#include "tables/processes.h"
#include "tables/threads.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t process_of(int64_t key) { return (int64_t)((uint64_t)key & 0xFFFFFFFFFF000000u); }
static int64_t pid_of(int64_t key) { return (int64_t)((uint64_t)key >> 24 & 0xffffff); }
static int64_t low_bits(int64_t key) { return key & 0xffffff; }

void nai_identity_free(struct nai_identity *identity) {
  nai_keyset_free(&identity->threads);
  nai_keyset_free(&identity->devices);
  free(identity->thread_row);
  free(identity->device_process);
  free(identity->device_id);
}

static int compare_keys(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Distinct process keys in ascending order, without 0 (unknown). */
static int64_t *collect_processes(size_t *count, const struct nai_identity *identity) {
  struct nai_keyset set = {0};
  bool added;
  for (uint32_t i = 0; i < identity->threads.count; i++)
    if (process_of(identity->threads.keys[i]))
      nai_keyset_add(&set, process_of(identity->threads.keys[i]), &added);
  for (uint32_t i = 0; i < identity->devices.count; i++)
    if (process_of(identity->devices.keys[i]))
      nai_keyset_add(&set, process_of(identity->devices.keys[i]), &added);
  int64_t *keys = set.oom ? NULL : malloc(((size_t)set.count + 1) * sizeof *keys);
  if (keys && set.count) {
    memcpy(keys, set.keys, set.count * sizeof *keys);
    qsort(keys, set.count, sizeof *keys, compare_keys);
  }
  *count = set.count;
  nai_keyset_free(&set);
  return keys;
}

static int32_t process_row(const int64_t *keys, size_t count, int64_t key) {
  if (key == 0)
    return count == 1 ? 0 : -1;
  const int64_t *at = count ? bsearch(&key, keys, count, sizeof *keys, compare_keys) : NULL;
  return at ? (int32_t)(at - keys) : -1;
}

int32_t nai_identity_row(const int64_t *processes, size_t count, int64_t key) {
  return process_row(processes, count, process_of(key));
}

int32_t nai_identity_process(const struct nai_table *processes, int64_t key) {
  return process_row(nai_column_i64(processes, PROCESSES_process_key), (size_t)processes->rows, process_of(key));
}

static int on_process_name(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  (void)err;
  struct nai_table *table = ctx;
  int64_t key = nai_small_int(&cells[0], 0);
  if (key == 0)
    return NAI_OK;
  const int64_t *keys = nai_column_i64(table, PROCESSES_process_key);
  int64_t process = process_of(key);
  const int64_t *at = table->rows ? bsearch(&process, keys, (size_t)table->rows, sizeof *keys, compare_keys) : NULL;
  if (!at)
    return NAI_OK;
  nai_small_put_text(table, at - keys, PROCESSES_process_name, &cells[1], 400);
  return NAI_OK;
}

struct thread_names {
  struct nai_table *threads;
  struct nai_trace *trace;
  struct nai_lookup *lookup;
};

static int on_thread_name(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct thread_names *names = ctx;
  struct nai_table *table = names->threads;
  int64_t key = nai_small_int(&cells[0], 0), id = nai_small_int(&cells[1], -1);
  const int64_t *keys = nai_column_i64(table, THREADS_global_tid);
  const int64_t *at = table->rows ? bsearch(&key, keys, (size_t)table->rows, sizeof *keys, compare_keys) : NULL;
  const struct nai_db_table *strings = nai_trace_table(names->trace, "StringIds");
  if (!at || !strings || nai_db_column(strings, "value") < 0)
    return NAI_OK;
  if (!names->lookup) {
    int rc = nai_lookup_open(&names->lookup, names->trace, strings->name, nai_db_column(strings, "value"), err);
    if (rc)
      return rc;
  }
  struct nai_cell text;
  bool found;
  int rc = nai_lookup_get(&found, &text, names->lookup, id, err);
  if (rc || !found)
    return rc;
  nai_small_put_text(table, at - keys, THREADS_thread_name, &text, 400);
  return NAI_OK;
}

static int resolve_hosts(struct nai_identity *identity, const int64_t *processes, size_t process_count,
                         struct nai_ingest *out, struct nai_trace *trace, struct nai_err *err) {
  struct nai_table *table = out->tables[NAI_IN_PROCESSES], *threads = out->tables[NAI_IN_THREADS];
  for (size_t i = 0; i < process_count; i++) {
    int64_t row = nai_table_add_row(table);
    nai_set_i64(table, row, PROCESSES_process_key, processes[i]);
    nai_set_i64(table, row, PROCESSES_pid, pid_of(processes[i]));
  }
  uint32_t n = identity->threads.count;
  int64_t *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
  identity->thread_row = malloc(((size_t)n + 1) * sizeof *identity->thread_row);
  if (!sorted || !identity->thread_row) {
    free(sorted);
    return nai_err_nomem(err);
  }
  if (n)
    memcpy(sorted, identity->threads.keys, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, compare_keys);
  for (uint32_t i = 0; i < n; i++) {
    int64_t row = nai_table_add_row(threads);
    nai_set_i64(threads, row, THREADS_global_tid, sorted[i]);
    nai_set_i64(threads, row, THREADS_process, process_row(processes, process_count, process_of(sorted[i])));
    nai_set_i64(threads, row, THREADS_pid, pid_of(sorted[i]));
    nai_set_i64(threads, row, THREADS_tid, low_bits(sorted[i]));
    uint32_t at = nai_keyset_find(&identity->threads, sorted[i]);
    identity->thread_row[at] = (int32_t)row;
  }
  free(sorted);
  struct thread_names names = {threads, trace, NULL};
  int rc = nai_small_scan(trace, "PROCESSES", (const char *const[]){"globalPid", "name", NULL}, 1000000,
                          on_process_name, table, err);
  if (!rc)
    rc = nai_small_scan(trace, "ThreadNames", (const char *const[]){"globalTid", "nameId", NULL}, 1000000,
                        on_thread_name, &names, err);
  nai_lookup_close(names.lookup);
  return rc;
}

int nai_identity_resolve(struct nai_identity *identity, struct nai_ingest *out, struct nai_trace *trace,
                         struct nai_err *err) {
  size_t process_count;
  int64_t *processes = collect_processes(&process_count, identity);
  if (!processes)
    return nai_err_nomem(err);
  int rc = resolve_hosts(identity, processes, process_count, out, trace, err);
  if (!rc)
    rc = nai_identity_resolve_gpus(identity, processes, process_count, out, trace, err);
  free(processes);
  return rc;
}
