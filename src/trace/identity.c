#include "trace/identity.h"
#include "base/sort.h"

#include "tables/processes.h"
#include "tables/threads.h"
#include "trace/small.h"
#include "trace/sources/source.h"

void nai_identity_free(struct nai_identity *identity) {
  nai_keyset_free(&identity->threads);
  nai_keyset_free(&identity->devices);
  nai_arena_free(&identity->arena);
}

NAI_ORDER_BY(compare_keys, uint64_t, NAI_SIGN(*a, *b))

/* The keys of a set in ascending order, of which there are set->count. */
static int sort_keys(int64_t **out, struct nai_arena *arena, const struct nai_keyset *set, struct nai_err *err) {
  NAI_TRY(nai_memory_check(!set->oom, err));
  NAI_TRY(NAI_NEW(*out, arena, set->count, err));
  if (set->count)
    memcpy(*out, set->keys, set->count * sizeof **out);
  qsort(*out, set->count, sizeof **out, compare_keys);
  return NAI_OK;
}

/* Adds the process keys of a set of keys, but for 0 (unknown). */
static void add_processes(struct nai_keyset *processes, const struct nai_keyset *set) {
  bool added;
  for (uint32_t i = 0; i < set->count; i++)
    if (nai_process_key(set->keys[i]))
      nai_keyset_add(processes, nai_process_key(set->keys[i]), &added);
}

/* The row that has a key in a column where keys ascend, -1 for none. */
static int64_t find_row(const struct nai_table *table, int column, int64_t key) {
  const int64_t *keys = nai_column_i64(table, column);
  const int64_t *at = table->rows ? bsearch(&key, keys, (size_t)table->rows, sizeof *keys, compare_keys) : NULL;
  return at ? at - keys : -1;
}

int32_t nai_identity_process(const struct nai_table *processes, int64_t key) {
  int64_t process = nai_process_key(key);
  if (process == 0)
    return processes->rows == 1 ? 0 : -1;
  return (int32_t)find_row(processes, PROCESSES_process_key, process);
}

/* The file's own name: its path says who the user is, and what follows a blank are arguments, but in a path of Windows.
 */
static struct nai_cell base_name(const struct nai_cell *text) {
  struct nai_cell base = *text;
  bool windows = memchr(text->data, '\\', text->len);
  base.len = 0;
  for (uint32_t i = 0; i < text->len && (windows || text->data[i] != ' '); i++) {
    bool separator = text->data[i] == '/' || text->data[i] == '\\';
    base.data = separator ? text->data + i + 1 : base.data;
    base.len = separator ? 0 : base.len + 1;
  }
  return base;
}

static int on_process_name(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  (void)err;
  struct nai_table *processes = ctx;
  int64_t key = nai_process_key(nai_small_int(&cells[0], 0));
  int64_t row = find_row(processes, PROCESSES_process_key, key);
  if (row < 0 || !nai_cell_is_text(&cells[1]))
    return NAI_OK;
  struct nai_cell name = base_name(&cells[1]);
  nai_small_put_text(processes, row, PROCESSES_process_name, &name, 400);
  return NAI_OK;
}

struct thread_names {
  struct nai_table *threads;
  struct nai_trace *trace;
  struct nai_lookup *strings; /* opened when first needed */
};

static void thread_names_free(struct thread_names *names) { nai_lookup_close(names->strings); }

static int on_thread_name(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct thread_names *names = ctx;
  struct nai_cell text;
  bool found;
  int64_t row = find_row(names->threads, THREADS_global_tid, nai_small_int(&cells[0], 0));
  if (row < 0)
    return NAI_OK;
  if (!names->strings)
    NAI_TRY(nai_string_open(&names->strings, names->trace, err));
  NAI_TRY(nai_string_get(&found, &text, names->strings, nai_small_int(&cells[1], -1), err));
  if (found)
    nai_small_put_text(names->threads, row, THREADS_thread_name, &text, 400);
  return NAI_OK;
}

static int resolve_processes(struct nai_identity *identity, struct nai_table *table, struct nai_trace *trace,
                             struct nai_err *err) {
  NAI_SCOPED(nai_keyset) set = {0};
  int64_t *sorted;
  add_processes(&set, &identity->threads);
  add_processes(&set, &identity->devices);
  NAI_TRY(sort_keys(&sorted, &identity->arena, &set, err));
  for (uint32_t i = 0; i < set.count; i++)
    NAI_ADD(PROCESSES, table, .process_key = sorted[i], .pid = nai_pid_of(sorted[i]));
  return nai_small_scan(trace, "PROCESSES", (const char *const[]){"globalPid", "name", NULL}, 1000000, on_process_name,
                        table, err);
}

static int resolve_threads(struct nai_identity *identity, struct nai_ingest *out, struct nai_trace *trace,
                           struct nai_err *err) {
  struct nai_table *threads = out->tables[NAI_IN_THREADS];
  NAI_SCOPED(thread_names) names = {threads, trace, NULL};
  int64_t *sorted;
  NAI_TRY(sort_keys(&sorted, &identity->arena, &identity->threads, err));
  NAI_TRY(NAI_NEW(identity->thread_row, &identity->arena, identity->threads.count, err));
  for (uint32_t i = 0; i < identity->threads.count; i++) {
    NAI_ADD(THREADS, threads, .global_tid = sorted[i],
            .process = nai_identity_process(out->tables[NAI_IN_PROCESSES], sorted[i]), .pid = nai_pid_of(sorted[i]),
            .tid = nai_low_bits_of(sorted[i]));
    identity->thread_row[nai_keyset_find(&identity->threads, sorted[i])] = (int32_t)i;
  }
  return nai_small_scan(trace, "ThreadNames", (const char *const[]){"globalTid", "nameId", NULL}, 1000000,
                        on_thread_name, &names, err);
}

int nai_identity_resolve(struct nai_identity *identity, struct nai_ingest *out, struct nai_trace *trace,
                         struct nai_err *err) {
  uint32_t devices = identity->devices.count;
  NAI_TRY(resolve_processes(identity, out->tables[NAI_IN_PROCESSES], trace, err));
  NAI_TRY(resolve_threads(identity, out, trace, err));
  NAI_TRY(NAI_NEW(identity->device_process, &identity->arena, devices, err));
  for (uint32_t i = 0; i < devices; i++)
    identity->device_process[i] = nai_identity_process(out->tables[NAI_IN_PROCESSES], identity->devices.keys[i]);
  return nai_identity_resolve_gpus(identity, out, trace, err);
}
