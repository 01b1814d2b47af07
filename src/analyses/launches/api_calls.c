/* Which CUDA functions take the host's time? Table api_calls. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "tables/api_calls.h"
#include "tables/threads.h"

/* What is not in the statistics of a function. */
struct sum {
  int64_t returned, errors, longest_ns; /* returned: calls of which the result is known */
  uint32_t longest;
};

enum { NOT_READY = 600 }; /* of a query: no error */

/* Of equals the earliest, on the first thread, counts: rows have no order. */
static bool is_longer(const struct nai_model *m, int64_t ns, uint32_t call, const struct sum *sum) {
  return ns != sum->longest_ns
           ? ns > sum->longest_ns
           : NAI_COMPARE({nai_val(&m->apis.start_ns, call), nai_val(&m->apis.start_ns, sum->longest)},
                         {nai_at(&m->apis.thread, call), nai_at(&m->apis.thread, sum->longest)}) < 0;
}

static int sum_up(struct sum **out, const struct nai_node_io *io, uint32_t names, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct sum *sums;
  NAI_TRY(NAI_NEW(sums, io->arena, names, err));
  for (uint32_t i = 0; i < names; i++)
    sums[i].longest_ns = -1;
  for (uint32_t i = 0; i < m->apis.n; i++) {
    struct sum *sum = &sums[nai_val_text(&m->apis.name, i)];
    int32_t result = nai_at_i32(&m->apis.return_value, i);
    sum->returned += result != NAI_NULL_I32;
    sum->errors += result != NAI_NULL_I32 && result && result != NOT_READY;
    if (is_longer(m, nai_call_ns(m, i), i, sum)) {
      sum->longest_ns = nai_call_ns(m, i);
      sum->longest = i;
    }
  }
  *out = sums;
  return NAI_OK;
}

static void put(struct nai_table *table, const struct nai_model *m, uint32_t name, const struct nai_stats *s,
                const struct sum *sum, double all_ns) {
  const struct nai_table *threads = m->tables[NAI_IN_THREADS];
  int32_t thread = nai_val_i32(&m->apis.thread, sum->longest);
  NAI_ADD(API_CALLS, table, .api_name = nai_strings_get(&m->tables[NAI_IN_APIS]->strings, name), .call_count = s->count,
          .total_time_ns = s->total, .avg_duration_ns = s->mean, .p50_duration_ns = s->p50, .p90_duration_ns = s->p90,
          .min_duration_ns = s->min, .max_duration_ns = s->max, .stddev_duration_ns = s->stddev,
          .pct_of_api_time = nai_percent((double)s->total, all_ns),
          .error_count = sum->returned ? sum->errors : NAI_NULL_I64,
          .longest_start_ns = nai_val(&m->apis.start_ns, sum->longest),
          .longest_end_ns = nai_val(&m->apis.end_ns, sum->longest),
          .pid = thread < 0 ? NAI_NULL_I64 : nai_get_i64(threads, thread, THREADS_pid),
          .tid = thread < 0 ? NAI_NULL_I64 : nai_get_i64(threads, thread, THREADS_tid));
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  uint32_t names = m->tables[NAI_IN_APIS]->strings.count;
  const struct nai_stats *stats = m->call_stats;
  struct sum *sums;
  double all_ns = 0;
  NAI_TRY(sum_up(&sums, io, names, err));
  for (uint32_t i = 0; i < names; i++)
    all_ns += (double)stats[i].total;
  for (uint32_t i = 0; i < names; i++)
    if (stats[i].count)
      put(io->out[0], m, i, &stats[i], &sums[i], all_ns);
  return NAI_OK;
}

NAI_ANALYSIS(api_calls, .outputs = NAI_SCHEMAS(&nai_api_calls_schema), .parts = NAI_PART(CALL_STATS),
             .tables = NAI_IN(APIS) | NAI_IN(THREADS), .run = run)
