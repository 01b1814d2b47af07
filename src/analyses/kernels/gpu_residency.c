/* How long was each process on the GPU, and how much of its kernels' time was it not? Table gpu_residency. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "tables/gpu_residency.h"
#include "tables/gpu_switch_events.h"

enum { SAVED = 7, RESTORED = 8, RESET = 11 };
enum { FEW_STARTS = 10, OWNED_PCT = 90 };

/* A stretch in which a context of a host's process was on the GPU. */
struct slice {
  int64_t start, end;
  uint32_t host;
  bool open;
};

/* A process as context switches name it. Those in containers have other numbers inside. */
struct host {
  int64_t pid;
  int32_t process; /* row of processes that the kernels are of which begin in its slices, -1 for none */
};

struct residency {
  const struct nai_node_io *io;
  const struct nai_model *m;
  uint32_t gpu;
  struct nai_arena *arena;
  struct slice *slices; /* by start */
  uint32_t slice_count, slice_capacity;
  struct nai_keyset pids; /* of hosts */
  struct host *hosts;
  uint32_t host_capacity;
};

/* --- slices --------------------------------------------------------------------------------------- */

static int host_of(uint32_t *host, struct residency *r, int64_t pid, struct nai_err *err) {
  bool added;
  *host = nai_keyset_add(&r->pids, pid == NAI_NULL_I64 ? 0 : pid, &added);
  NAI_TRY(nai_memory_check(!r->pids.oom, err));
  NAI_TRY(NAI_ROOM(r->hosts, r->host_capacity, *host, r->arena, err));
  if (added)
    r->hosts[*host] = (struct host){.pid = r->pids.keys[*host], .process = -1};
  return NAI_OK;
}

static int add_slice(struct residency *r, const struct slice *slice, struct nai_err *err) {
  const struct nai_gpu *gpu = &r->m->gpus[r->gpu];
  struct slice cut = *slice;
  cut.start = cut.start > gpu->window_start ? cut.start : gpu->window_start;
  cut.end = cut.end < gpu->window_end ? cut.end : gpu->window_end;
  if (cut.start >= cut.end)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(r->slices, r->slice_capacity, r->slice_count, r->arena, err));
  r->slices[r->slice_count++] = cut;
  return NAI_OK;
}

/* Slices that are open, by context and host. */
struct open_slices {
  struct nai_keyset keys; /* context << 32 | host */
  struct slice *v;
  bool *is_open;
  uint32_t capacity, flags;
};

static int close_slice(struct residency *r, struct open_slices *o, uint32_t i, int64_t end, bool open,
                       struct nai_err *err) {
  if (!o->is_open[i])
    return NAI_OK;
  o->is_open[i] = false;
  o->v[i].end = end;
  o->v[i].open = open;
  return add_slice(r, &o->v[i], err);
}

static int take_switch(struct residency *r, struct open_slices *o, const struct GPU_SWITCH_EVENTS_columns *c,
                       uint32_t row, struct nai_err *err) {
  int64_t time = nai_at(&c->time_ns, row), tag = nai_at(&c->tag, row), context = nai_at(&c->context, row);
  uint32_t host, i;
  bool added;
  for (i = 0; tag == RESET && i < o->keys.count; i++)
    NAI_TRY(close_slice(r, o, i, time, false, err));
  if (tag != SAVED && tag != RESTORED)
    return NAI_OK;
  NAI_TRY(host_of(&host, r, nai_at(&c->host_pid, row), err));
  i = nai_keyset_add(&o->keys, nai_key_pair(context == NAI_NULL_I64 ? 0 : context, host), &added);
  NAI_TRY(nai_memory_check(!o->keys.oom, err));
  NAI_TRY(NAI_ROOM(o->v, o->capacity, i, r->arena, err));
  NAI_TRY(NAI_ROOM(o->is_open, o->flags, i, r->arena, err));
  if (tag == SAVED)
    return close_slice(r, o, i, time, false, err);
  if (!o->is_open[i])
    o->v[i] = (struct slice){.start = time, .host = host};
  o->is_open[i] = true;
  return NAI_OK;
}

NAI_ORDER(by_start, struct slice, {a->start, b->start}, {a->end, b->end}, {a->host, b->host})

static int find_slices(struct residency *r, const uint32_t *rows, uint32_t n, struct nai_err *err) {
  const struct GPU_SWITCH_EVENTS_columns c = GPU_SWITCH_EVENTS_columns_of(r->m->tables[NAI_IN_GPU_SWITCHES]);
  int64_t gpu_id = nai_get_i64(r->m->tables[NAI_IN_GPUS], r->gpu, GPUS_gpu_id);
  struct open_slices open = {.keys.arena = r->arena};
  for (uint32_t i = 0; i < n; i++)
    if (nai_at(&c.gpu_id, rows[i]) == gpu_id)
      NAI_TRY(take_switch(r, &open, &c, rows[i], err));
  for (uint32_t i = 0; i < open.keys.count; i++)
    NAI_TRY(close_slice(r, &open, i, r->m->gpus[r->gpu].window_end, true, err));
  if (r->slice_count)
    qsort(r->slices, r->slice_count, sizeof *r->slices, by_start);
  return NAI_OK;
}

/* --- owners --------------------------------------------------------------------------------------- */

/* Time slices of some hosts: of one, of a process, of others. */
static bool is_of(const struct residency *r, const struct slice *slice, uint32_t host, int32_t process) {
  return host != UINT32_MAX ? slice->host == host : r->hosts[slice->host].process == process;
}

static int slices_of(struct nai_intervals *out, struct residency *r, uint32_t host, int32_t process,
                     struct nai_err *err) {
  *out = (struct nai_intervals){.arena = r->arena};
  for (uint32_t i = 0; i < r->slice_count; i++)
    if (is_of(r, &r->slices[i], host, process))
      nai_intervals_add(out, r->slices[i].start, r->slices[i].end);
  return out->oom ? nai_err_nomem(err) : NAI_OK;
}

/* The process that nearly all kernels are of which begin in the host's slices. */
static int find_process(struct residency *r, uint32_t host, int64_t *starts, struct nai_err *err) {
  const struct nai_gpu *gpu = &r->m->gpus[r->gpu];
  struct nai_intervals slices;
  int64_t all = 0;
  NAI_TRY(slices_of(&slices, r, host, 0, err));
  memset(starts, 0, (r->m->process_count + 1) * sizeof *starts);
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    int64_t start = op->start;
    int32_t process = nai_model_op_process(r->m, op);
    if (op->type != NAI_OP_KERNEL || !nai_intervals_overlap_ns(&slices, start, start + 1))
      continue;
    starts[process < 0 ? (int32_t)r->m->process_count : process]++;
    all++;
  }
  for (uint32_t p = 0; p < r->m->process_count; p++)
    if (starts[p] >= FEW_STARTS && starts[p] * 100 >= all * OWNED_PCT)
      r->hosts[host].process = (int32_t)p;
  return NAI_OK;
}

static void add_kernels(struct GPU_RESIDENCY_row *row, const struct residency *r, const struct nai_intervals *slices,
                        int32_t process) {
  const struct nai_gpu *gpu = &r->m->gpus[r->gpu];
  row->kernel_time_ns = row->kernel_away_ns = 0;
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    if (op->type != NAI_OP_KERNEL || nai_model_op_process(r->m, op) != process)
      continue;
    int64_t start = op->start, end = op->end;
    row->kernel_time_ns += end - start;
    row->kernel_away_ns += end - start - nai_intervals_overlap_ns(slices, start, end);
  }
  if (row->kernel_time_ns)
    row->kernel_away_pct = nai_percent((double)row->kernel_away_ns, (double)row->kernel_time_ns);
}

/* process -1: everybody else. */
static int put_owner(struct residency *r, int32_t process, int64_t *lengths, struct nai_err *err) {
  const struct nai_gpu *gpu = &r->m->gpus[r->gpu];
  struct nai_intervals slices;
  struct GPU_RESIDENCY_row row =
      NAI_ROW(GPU_RESIDENCY, .device_id = gpu->device_id, .open_count = 0, .owner = process < 0 ? "other" : "process",
              .pid = nai_model_pid(r->m, process));
  uint32_t count = 0;
  NAI_TRY(slices_of(&slices, r, UINT32_MAX, process, err));
  for (uint32_t i = 0; i < r->slice_count; i++)
    if (is_of(r, &r->slices[i], UINT32_MAX, process)) {
      lengths[count++] = r->slices[i].end - r->slices[i].start;
      row.open_count += r->slices[i].open;
    }
  if (!count)
    return NAI_OK;
  row.slice_count = count;
  row.median_slice_ns = nai_median_i64(lengths, count);
  row.resident_ns = nai_intervals_total_ns(&slices);
  row.pct_of_window = nai_percent((double)row.resident_ns, (double)(gpu->window_end - gpu->window_start));
  if (process >= 0)
    add_kernels(&row, r, &slices, process);
  GPU_RESIDENCY_add(r->io->out[0], &row);
  return NAI_OK;
}

static int add_gpu(const struct nai_node_io *io, uint32_t gpu, const uint32_t *rows, uint32_t n, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(io->model->scratch_dir);
  struct residency r = {.io = io, .m = io->model, .gpu = gpu, .arena = &arena, .pids.arena = &arena};
  int64_t *numbers;
  NAI_TRY(find_slices(&r, rows, n, err));
  NAI_TRY(NAI_NEW(numbers, &arena, r.slice_count + r.m->process_count + 1, err));
  for (uint32_t host = 0; host < r.pids.count; host++)
    if (r.hosts[host].pid) /* 0: others, without root */
      NAI_TRY(find_process(&r, host, numbers, err));
  for (int32_t process = -1; process < (int32_t)r.m->process_count; process++)
    NAI_TRY(put_owner(&r, process, numbers, err));
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct GPU_SWITCH_EVENTS_columns c = GPU_SWITCH_EVENTS_columns_of(io->model->tables[NAI_IN_GPU_SWITCHES]);
  const struct nai_column *const order[] = {&c.time_ns, &c.seq, &c.tag, &c.context};
  uint32_t *rows;
  if (!c.n)
    return NAI_OK;
  NAI_TRY(NAI_NEW(rows, io->arena, c.n, err));
  for (uint32_t i = 0; i < c.n; i++)
    rows[i] = i;
  NAI_TRY(nai_rows_arrange(rows, c.n, order, 4, err));
  for (uint32_t gpu = 0; gpu < io->model->gpu_count; gpu++)
    NAI_TRY(add_gpu(io, gpu, rows, c.n, err));
  return NAI_OK;
}

NAI_ANALYSIS(gpu_residency, .outputs = NAI_SCHEMAS(&nai_gpu_residency_schema), .parts = NAI_PART(GPUS),
             .tables = NAI_IN(KERNELS) | NAI_IN(GPUS) | NAI_IN(PROCESSES) | NAI_IN(GPU_SWITCHES), .run = run)
