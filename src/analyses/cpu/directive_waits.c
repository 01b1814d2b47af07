/* Do OpenACC constructs wait for a GPU that has nothing to do? Table directive_waits. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/idle/process_gpu.h"
#include "tables/directive_waits.h"
#include "tables/openacc_events.h"

enum { IMPLICIT_WAIT = 8 }; /* CUpti_OpenAccEventKind */

struct wait {
  int64_t process, file, line, start, end; /* file: a string of the table */
};

NAI_ORDER(by_place, struct wait, {a->process, b->process}, {a->file, b->file}, {a->line, b->line}, {a->start, b->start},
          {a->end, b->end})

static int collect(struct wait **out, uint32_t *count, const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_table *t = io->model->tables[NAI_IN_OPENACC];
  const struct nai_column files = nai_table_column(t, OPENACC_EVENTS_file);
  NAI_TRY(NAI_NEW(*out, io->arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t thread = nai_get_i64(t, i, OPENACC_EVENTS_thread), line = nai_get_i64(t, i, OPENACC_EVENTS_line);
    if (nai_get_i64(t, i, OPENACC_EVENTS_event_kind) == IMPLICIT_WAIT && thread >= 0 &&
        io->model->thread_process[thread] >= 0)
      (*out)[(*count)++] = (struct wait){io->model->thread_process[thread], nai_at_text(&files, (uint64_t)i),
                                         line > 0 ? line : NAI_NULL_I64, nai_get_i64(t, i, OPENACC_EVENTS_start_ns),
                                         nai_get_i64(t, i, OPENACC_EVENTS_end_ns)};
  }
  qsort(*out, *count, sizeof **out, by_place);
  return NAI_OK;
}

/* Time in waits, and the part of it in which GPUs idle. */
static int sum(int64_t *wait_ns, int64_t *idle_ns, const struct wait *v, uint32_t n, const struct nai_process_gpu *gpu,
               struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_intervals waits = {.arena = &arena}, idle = {.arena = &arena};
  struct nai_interval *spans;
  NAI_TRY(NAI_NEW(spans, &arena, n, err));
  for (uint32_t i = 0; i < n; i++)
    spans[i] = (struct nai_interval){v[i].start, v[i].end};
  nai_intervals_gather(&waits, spans, n);
  nai_intervals_intersect(&idle, &waits, &gpu->idle);
  *wait_ns = nai_intervals_total_ns(&waits);
  *idle_ns = nai_intervals_total_ns(&idle);
  return nai_memory_check(!waits.oom && !idle.oom, err);
}

/* Waits of a process, by place. */
static int put(const struct nai_node_io *io, const struct wait *v, uint32_t n, struct nai_err *err) {
  const struct nai_table *t = io->model->tables[NAI_IN_OPENACC];
  const struct wait *longest = v, *worst = v;
  NAI_SCOPED(nai_process_gpu) gpu = {0};
  NAI_TRY(nai_process_gpu_find(&gpu, io->model, (int32_t)v->process, err));
  struct DIRECTIVE_WAITS_row row = NAI_ROW(DIRECTIVE_WAITS, .pid = nai_model_pid(io->model, (int32_t)v->process),
                                           .device_id = gpu.device_id, .wait_count = n, .line_idle_ns = -1);
  if (!gpu.any)
    return NAI_OK;
  NAI_TRY(sum(&row.wait_ns, &row.idle_ns, v, n, &gpu, err));
  for (uint32_t i = 0, j; i < n; i = j) {
    int64_t wait_ns, idle_ns;
    for (j = i; j < n && v[j].file == v[i].file && v[j].line == v[i].line; j++)
      longest = v[j].end - v[j].start > longest->end - longest->start ? &v[j] : longest;
    NAI_TRY(sum(&wait_ns, &idle_ns, v + i, j - i, &gpu, err));
    if (idle_ns <= row.line_idle_ns)
      continue;
    worst = &v[i];
    row.line_idle_ns = idle_ns;
    row.line_wait_count = j - i;
  }
  if (nai_intervals_total_ns(&gpu.active))
    row.idle_pct = nai_percent((double)row.idle_ns, (double)nai_intervals_total_ns(&gpu.active));
  row.file = worst->file < t->strings.count ? nai_strings_get(&t->strings, (uint32_t)worst->file) : NULL;
  row.line = worst->line;
  row.longest_start_ns = longest->start;
  row.longest_end_ns = longest->end;
  DIRECTIVE_WAITS_add(io->out[0], &row);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct wait *waits;
  uint32_t count = 0;
  if (!io->model->tables[NAI_IN_OPENACC]->rows)
    return NAI_OK;
  NAI_TRY(collect(&waits, &count, io, err));
  for (uint32_t i = 0, j; i < count; i = j) {
    for (j = i + 1; j < count && waits[j].process == waits[i].process; j++)
      ;
    NAI_TRY(put(io, waits + i, j - i, err));
  }
  return NAI_OK;
}

NAI_ANALYSIS(directive_waits, .outputs = NAI_SCHEMAS(&nai_directive_waits_schema),
             .parts = NAI_PART(GPUS) | NAI_PART(ACTIVE) | NAI_PART(PROCESS_GPUS),
             .tables = NAI_IN(OPENACC) | NAI_IN(THREADS) | NAI_IN(PROCESSES), .run = run)
