/* Which variables do OpenACC directives move or make room for, and does it cost the GPU time? Which kernels do they
 * launch? Tables directive_data, directive_kernels. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/idle/process_gpu.h"
#include "tables/directive_data.h"
#include "tables/directive_kernels.h"
#include "tables/openacc_events.h"

enum { LAUNCH = 4, UPLOAD, DOWNLOAD, ALLOCATION = 15, FREE }; /* CUpti_OpenAccEventKind */
enum { MANY = 10, SAME_PCT = 90 };

struct event {
  int64_t thread, start, end, until; /* until: the latest end so far on the thread */
  int64_t variable, file, line, kind, bytes;
  int64_t device, ops, gpu_ns, exposed_ns; /* of its copies, or its kernels; device -1 for none */
};

struct data {
  const struct nai_node_io *io;
  const struct nai_model *m;
  struct event *events;
  uint32_t count;
  int64_t launches; /* of the most frequent place */
};

NAI_ORDER(by_thread, struct event, {a->thread, b->thread}, {a->start, b->start}, {b->end, a->end}, {a->kind, b->kind},
          {a->line, b->line}, {a->bytes, b->bytes}, {a->variable, b->variable})

NAI_ORDER(by_place, struct event, {a->kind, b->kind}, {a->device, b->device}, {a->variable, b->variable},
          {a->file, b->file}, {a->line, b->line}, {a->bytes, b->bytes}, {a->start, b->start}, {a->end, b->end})

static bool same_place(const struct event *a, const struct event *b) {
  return a->kind == b->kind && a->device == b->device && a->variable == b->variable && a->file == b->file &&
         a->line == b->line;
}

static int collect(struct data *d, struct nai_err *err) {
  const struct nai_table *t = d->m->tables[NAI_IN_OPENACC];
  const struct nai_column variables = nai_table_column(t, OPENACC_EVENTS_variable),
                          files = nai_table_column(t, OPENACC_EVENTS_file);
  NAI_TRY(NAI_NEW(d->events, d->io->arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t kind = nai_get_i64(t, i, OPENACC_EVENTS_event_kind), line = nai_get_i64(t, i, OPENACC_EVENTS_line);
    if (kind != UPLOAD && kind != DOWNLOAD && kind != LAUNCH && kind != ALLOCATION && kind != FREE)
      continue;
    d->events[d->count++] = (struct event){.thread = nai_get_i64(t, i, OPENACC_EVENTS_thread),
                                           .start = nai_get_i64(t, i, OPENACC_EVENTS_start_ns),
                                           .end = nai_get_i64(t, i, OPENACC_EVENTS_end_ns),
                                           .variable = nai_at_text(&variables, (uint64_t)i),
                                           .file = nai_at_text(&files, (uint64_t)i),
                                           .line = line > 0 ? line : NAI_NULL_I64,
                                           .kind = kind,
                                           .bytes = nai_get_i64(t, i, OPENACC_EVENTS_bytes),
                                           .device = -1};
  }
  qsort(d->events, d->count, sizeof *d->events, by_thread);
  for (uint32_t i = 0; i < d->count; i++) {
    bool first = !i || d->events[i - 1].thread != d->events[i].thread;
    d->events[i].until = first || d->events[i].end > d->events[i - 1].until ? d->events[i].end : d->events[i - 1].until;
  }
  return NAI_OK;
}

struct moment {
  const struct event *events;
  int64_t thread, time;
};

static bool begins_before(const void *ctx, size_t i) {
  const struct moment *at = ctx;
  const struct event *e = &at->events[i];
  return e->thread != at->thread ? e->thread < at->thread : e->start <= at->time;
}

/* The event that began last of those around the call of a kernel's launch, or a copy's; NULL for none. */
static struct event *around(const struct data *d, uint32_t call, bool kernel) {
  enum { FARTHEST = 64 };
  const struct moment at = {d->events, nai_val_text(&d->m->apis.thread, call), nai_val(&d->m->apis.start_ns, call)};
  size_t i = nai_search(0, d->count, begins_before, &at);
  for (int n = 0; n < FARTHEST && i-- > 0 && d->events[i].thread == at.thread && d->events[i].until > at.time; n++)
    if (d->events[i].end > at.time &&
        (kernel ? d->events[i].kind == LAUNCH : d->events[i].kind == UPLOAD || d->events[i].kind == DOWNLOAD))
      return &d->events[i];
  return NULL;
}

static void add_operations(struct data *d, const struct nai_gpu *gpu) {
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    uint32_t call = nai_model_op_api(d->m, op);
    bool kernel = op->type == NAI_OP_KERNEL;
    struct event *event = (kernel || op->type == NAI_OP_COPY) && call != NAI_NO_ROW ? around(d, call, kernel) : NULL;
    if (!event)
      continue;
    int64_t start = op->start, end = op->end;
    event->device = gpu->device_id;
    event->ops++;
    event->gpu_ns += end - start;
    event->exposed_ns += kernel ? 0 : nai_intervals_overlap_ns(&gpu->exposed_copy, start, end);
  }
}

/* Active time in allocations in which the GPUs of the process do nothing. Events are by thread. */
static int price_allocations(struct data *d, struct nai_err *err) {
  NAI_SCOPED(nai_process_gpu) gpu = {0};
  int64_t of = -1;
  for (uint32_t i = 0; i < d->count; i++) {
    struct event *event = &d->events[i];
    int64_t process = event->thread < 0 ? -1 : d->m->thread_process[event->thread];
    if ((event->kind != ALLOCATION && event->kind != FREE) || process < 0)
      continue;
    if (process != of) {
      nai_process_gpu_free(&gpu);
      gpu = (struct nai_process_gpu){0};
      NAI_TRY(nai_process_gpu_find(&gpu, d->m, (int32_t)process, err));
      of = process;
    }
    event->device = gpu.device_id == NAI_NULL_I64 ? -1 : gpu.device_id;
    event->exposed_ns = nai_intervals_overlap_ns(&gpu.idle, event->start, event->end);
  }
  return NAI_OK;
}

static const char *text_of(const struct nai_table *t, int64_t text) {
  return text < t->strings.count ? nai_strings_get(&t->strings, (uint32_t)text) : NULL;
}

/* Events of one variable and place, by bytes. */
static void put(const struct data *d, const struct event *v, uint32_t n) {
  static const char *const directions[] = {
      [UPLOAD] = "upload", [DOWNLOAD] = "download", [ALLOCATION] = "allocation", [FREE] = "free"};
  const struct nai_table *t = d->m->tables[NAI_IN_OPENACC];
  const struct event *longest = v;
  uint32_t same = 0, most = 0;
  struct DIRECTIVE_DATA_row row =
      NAI_ROW(DIRECTIVE_DATA, .device_id = v->device, .variable = text_of(t, v->variable), .file = text_of(t, v->file),
              .line = v->line, .direction = directions[v->kind], .event_count = n, .copy_count = 0, .copy_ns = 0,
              .exposed_ns = 0);
  for (uint32_t i = 0; i < n; i++) {
    same = i && v[i].bytes == v[i - 1].bytes ? same + 1 : 1;
    most = v[i].bytes != NAI_NULL_I64 && same > most ? same : most;
    if (v[i].bytes != NAI_NULL_I64)
      row.bytes = (row.bytes == NAI_NULL_I64 ? 0 : row.bytes) + v[i].bytes;
    row.copy_count += v[i].ops;
    row.copy_ns += v[i].gpu_ns;
    row.exposed_ns += v[i].exposed_ns;
    longest = v[i].end - v[i].start > longest->end - longest->start ? &v[i] : longest;
  }
  if (most)
    row.same_size_pct = nai_percent(most, n);
  row.repeated = n >= MANY && (int64_t)most * 100 >= (int64_t)n * SAME_PCT && 2 * (int64_t)n >= d->launches;
  row.longest_start_ns = longest->start;
  row.longest_end_ns = longest->end;
  DIRECTIVE_DATA_add(d->io->out[0], &row);
}

/* Launches of one place. */
static void put_launches(struct data *d, const struct event *v, uint32_t n) {
  struct DIRECTIVE_KERNELS_row row =
      NAI_ROW(DIRECTIVE_KERNELS, .device_id = v->device, .file = text_of(d->m->tables[NAI_IN_OPENACC], v->file),
              .line = v->line, .launch_count = n, .kernel_count = 0, .kernel_time_ns = 0);
  for (uint32_t i = 0; i < n; i++) {
    row.kernel_count += v[i].ops;
    row.kernel_time_ns += v[i].gpu_ns;
  }
  DIRECTIVE_KERNELS_add(d->io->out[1], &row);
  d->launches = n > d->launches ? n : d->launches;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct data d = {.io = io, .m = io->model};
  if (!io->model->tables[NAI_IN_OPENACC]->rows)
    return NAI_OK;
  NAI_TRY(collect(&d, err));
  for (uint32_t g = 0; g < d.m->gpu_count; g++)
    add_operations(&d, &d.m->gpus[g]);
  NAI_TRY(price_allocations(&d, err));
  qsort(d.events, d.count, sizeof *d.events, by_place);
  for (uint32_t i = 0, j; i < d.count; i = j) { /* launches come first */
    for (j = i + 1; j < d.count && same_place(&d.events[i], &d.events[j]); j++)
      ;
    if (d.events[i].kind == LAUNCH)
      put_launches(&d, &d.events[i], j - i);
    else
      put(&d, &d.events[i], j - i);
  }
  return NAI_OK;
}

NAI_ANALYSIS(directive_data, .outputs = NAI_SCHEMAS(&nai_directive_data_schema, &nai_directive_kernels_schema),
             .parts = NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(ACTIVE) | NAI_PART(PROCESS_GPUS),
             .tables = NAI_IN(OPENACC) | NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(APIS), .run = run)
