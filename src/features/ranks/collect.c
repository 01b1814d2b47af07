/* What a run tells of its ranks: communication kernels in the order of their communicators, steps, compute kernels. */
#include "features/ranks/ranks.h"

#include "base/hash.h"
#include "base/threads.h"
#include "model/comm/comm.h"
#include "tables/capture.h"
#include "tables/gpus.h"
#include "tables/kernel_configs.h"
#include "tables/mpi_processes.h"
#include "tables/nvtx_dynamic_payloads.h"
#include "tables/steps.h"

int nai_ranks_text(uint32_t *id, struct nai_ranks *r, const char *text, struct nai_err *err) {
  *id = NAI_NO_STRING;
  return text ? nai_strings_put(id, &r->names, text, err) : NAI_OK;
}

/* --- the model -------------------------------------------------------------------------------- */

int nai_ranks_model(struct nai_model **out, struct nai_ranks *r, uint32_t source, uint32_t parts, uint64_t tables,
                    struct nai_err *err) {
  struct nai_run *run = r->sources[source].run;
  tables |= nai_parts_tables(parts) | NAI_IN(PROCESSES) | NAI_IN(GPUS);
  if (!nai_run_has(run, nai_nvtx_dynamic_payloads_schema.name)) /* earlier runs have none */
    tables &= ~NAI_IN(DYNAMIC_PAYLOADS);
  if (!r->classes)
    NAI_TRY(nai_kernel_classes_load(&r->classes, NULL, err));
  NAI_TRY(nai_run_tell_classes(r->classes, run, err));
  const struct nai_model_options options = {.classes = r->classes, .worker_count = nai_cpu_count()};
  int rc = nai_run_model(out, run, &options, tables, 0, err);
  if (!rc)
    rc = nai_model_build(*out, parts, err);
  return rc == NAI_ESTALE
           ? nai_err_wrap(err, NAI_EINPUT,
                          "the event tables of \"%s\" cannot be read; make the run again with nsys-ai analyze",
                          r->sources[source].path)
           : rc;
}

/* --- what collectives are --------------------------------------------------------------------- */

static bool is(const char *op, const char *const *list) {
  for (; op && *list; list++)
    if (strcmp(op, *list) == 0)
      return true;
  return false;
}

static uint64_t hash_of(const struct nai_model *m, const struct nai_comm_item *item) {
  const struct nai_comm_name *name = nai_comm_name_of(m, item);
  uint64_t hash = nai_hash_text(nai_hash_text(nai_hash_text(1, item->op), name->dtype), name->family);
  bool sized = item->sent >= 0 && item->received >= 0; /* what one sends, the other receives */
  hash = nai_hash_int(hash, sized ? item->sent + item->received : -1);
  int64_t config = nai_at(&m->kernels.config, item->kernel);
  for (int column = KERNEL_CONFIGS_grid_x; !sized && config >= 0 && column <= KERNEL_CONFIGS_grid_z; column++)
    hash = nai_hash_int(hash, nai_get_i64(m->tables[NAI_IN_KERNEL_CONFIGS], config, column));
  return hash;
}

/* Kernels of a trace are of few kinds, and neighbours alike. */
static int number_what(uint32_t *what, struct nai_ranks *r, const struct nai_model *m, const struct nai_comm_item *item,
                       struct nai_err *err) {
  static const char *const together[] = {"AllReduce", "AllGather", "ReduceScatter", "AllToAll", "SendRecv", NULL};
  bool added;
  *what = nai_keyset_add(&r->what_keys, (int64_t)hash_of(m, item), &added);
  NAI_TRY(nai_memory_check(!r->what_keys.oom, err));
  if (!added)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(r->whats, r->what_capacity, *what, &r->arena, err));
  struct nai_rank_what *w = &r->whats[*what];
  *w = (struct nai_rank_what){.bytes = nai_comm_bytes(item),
                              .size = item->ranks,
                              .together = is(item->op, together),
                              .point_to_point = nai_comm_is_between_two(item->op)};
  NAI_TRY(nai_ranks_text(&w->op, r, item->op, err));
  return nai_ranks_text(&w->dtype, r, nai_comm_name_of(m, item)->dtype, err);
}

/* --- lines ------------------------------------------------------------------------------------ */

/* A trace while its ranks are added. */
struct trace {
  uint32_t source;
  struct nai_model *m;
  struct nai_keyset inits; /* communicators whose initialisation it has */
  struct nai_key *items;   /* numbers in struct nai_comm, line by line; key: the line */
  struct stretch {
    uint32_t first, count; /* of items */
  } * lines;
  uint32_t line_count, line_capacity;
};

static int list_inits(struct trace *t, struct nai_err *err) {
  const struct nai_comm *c = t->m->comm;
  bool added;
  for (uint32_t i = 0; i < c->init_count; i++)
    if (nai_payload_has(&c->inits[i].payload, NAI_PAYLOAD_COMM))
      nai_keyset_add(&t->inits, c->inits[i].payload.value[NAI_PAYLOAD_COMM], &added);
  return t->inits.oom ? nai_err_nomem(err) : NAI_OK;
}

/* A line is what a GPU runs of a communicator, where that is known; else of a stream. In order of their first items. */
static int list_lines(struct trace *t, struct nai_arena *arena, struct nai_err *err) {
  struct nai_keyset comms = {.arena = arena}, lines = {.arena = arena};
  const struct nai_comm *c = t->m->comm;
  NAI_TRY(NAI_NEW(t->items, arena, c->count, err));
  for (uint32_t i = 0; i < c->count; i++) {
    const struct nai_comm_item *item = &c->items[i];
    bool added;
    uint32_t comm = item->known_comm ? nai_keyset_add(&comms, item->comm, &added) : 0;
    int64_t line = item->known_comm ? nai_key_pair((int64_t)item->gpu + 1, comm) : (int64_t)item->stream;
    t->items[i] = (struct nai_key){nai_keyset_add(&lines, line, &added), i};
  }
  NAI_TRY(nai_memory_check(!comms.oom && !lines.oom, err));
  NAI_TRY(nai_sort_keys(t->items, c->count, err));
  for (uint32_t i = 0; i < c->count; i++) {
    if (t->items[i].key == t->line_count) {
      NAI_TRY(NAI_ROOM(t->lines, t->line_capacity, t->line_count, arena, err));
      t->lines[t->line_count++] = (struct stretch){.first = i};
    }
    t->lines[t->items[i].key].count++;
  }
  return NAI_OK;
}

static const struct nai_comm_item *item_of(const struct trace *t, uint32_t at) {
  return &t->m->comm->items[t->items[at].value];
}

/* Exchanges between ranks are a line of their own: which of them a rank has part in is not the same for all. */
static int add_line(struct nai_ranks *r, uint32_t number, const struct trace *t, struct stretch items, bool exchanges,
                    struct nai_err *err) {
  const struct nai_comm_item *first = item_of(t, items.first), *last = item_of(t, items.first + items.count - 1);
  struct nai_job_rank *rank = &r->ranks[number];
  NAI_TRY(NAI_ROOM(r->lines, r->line_capacity, r->line_count, &r->arena, err));
  struct nai_rank_line *line = &r->lines[r->line_count];
  *line =
      (struct nai_rank_line){.rank = number,
                             .first = rank->call_count,
                             .point_to_point = exchanges,
                             .known_comm = first->known_comm,
                             .from_start = first->known_comm && nai_keyset_find(&t->inits, first->comm) != UINT32_MAX,
                             .comm = first->comm,
                             .size = first->ranks,
                             .stream = t->m->comm->streams[last->stream].id,
                             .group = NAI_NO_RANK};
  for (uint32_t i = 0; i < items.count; i++) {
    const struct nai_comm_item *item = item_of(t, items.first + i);
    uint32_t what;
    NAI_TRY(number_what(&what, r, t->m, item, err));
    if (r->whats[what].point_to_point != exchanges)
      continue;
    rank->calls[rank->call_count++] =
        (struct nai_rank_call){.start = item->start, .end = item->end, .seq = item->seq, .what = what};
    line->count++;
  }
  r->line_count += line->count > 0;
  return NAI_OK;
}

/* All lines that begin with a kernel of this rank. */
static int add_lines(struct nai_ranks *r, uint32_t number, const struct trace *t, uint32_t of, struct nai_err *err) {
  uint32_t count = 0;
  for (uint32_t l = 0; l < t->line_count; l++)
    count += item_of(t, t->lines[l].first)->rank == of ? t->lines[l].count : 0;
  NAI_TRY(NAI_NEW(r->ranks[number].calls, &r->arena, count, err));
  for (uint32_t l = 0; l < t->line_count; l++)
    for (int exchanges = 0; exchanges < 2 && item_of(t, t->lines[l].first)->rank == of; exchanges++)
      NAI_TRY(add_line(r, number, t, t->lines[l], exchanges, err));
  return NAI_OK;
}

/* --- ranks ------------------------------------------------------------------------------------ */

static int add_steps(struct nai_ranks *r, struct nai_job_rank *rank, struct nai_err *err) {
  struct nai_run *run = r->sources[rank->source].run;
  const struct nai_table *steps;
  if (!nai_run_has(run, nai_steps_schema.name))
    return NAI_OK; /* a run without them */
  NAI_TRY(nai_run_table(&steps, run, nai_steps_schema.name, &nai_steps_schema, err));
  NAI_TRY(NAI_NEW(rank->steps, &r->arena, (size_t)steps->rows, err));
  for (int64_t i = 0; i < steps->rows; i++) { /* by process, GPU, time */
    int64_t start = nai_get_i64(steps, i, STEPS_gpu_start_ns);
    if (nai_get_i64(steps, i, STEPS_device_id) == rank->device && nai_get_i64(steps, i, STEPS_pid) == rank->pid &&
        (!rank->step_count || start > rank->steps[rank->step_count - 1]))
      rank->steps[rank->step_count++] = start;
  }
  return NAI_OK;
}

static int add_kernels(struct nai_ranks *r, struct nai_job_rank *rank, const struct nai_model *m, uint32_t gpu,
                       struct nai_err *err) {
  NAI_TRY(NAI_NEW(rank->kernels, &r->arena, m->kernel_group_count, err));
  for (uint32_t i = 0; i < m->kernel_group_count; i++) {
    const struct nai_kernel_group *group = &m->kernel_groups[i];
    if (group->gpu != gpu || m->kernel_communication[group->name])
      continue;
    struct nai_rank_kernel *kernel = &rank->kernels[rank->kernel_count++];
    *kernel = (struct nai_rank_kernel){.calls = group->calls, .total_ns = group->total_ns};
    NAI_TRY(nai_ranks_text(&kernel->name, r, nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, group->name), err));
  }
  return NAI_OK;
}

/* A rank without lines; gpu: m->gpu_count for none. */
static int new_rank(struct nai_job_rank **out, struct nai_ranks *r, const struct trace *t, uint32_t gpu, int64_t pid,
                    struct nai_err *err) {
  const struct nai_model *m = t->m;
  NAI_TRY(NAI_ROOM(r->ranks, r->rank_capacity, r->rank_count, &r->arena, err));
  struct nai_job_rank *rank = *out = &r->ranks[r->rank_count++];
  *rank = (struct nai_job_rank){.source = t->source,
                                .device = -1,
                                .pid = pid,
                                .number = NAI_NULL_I64,
                                .gpu_name = NAI_NO_STRING,
                                .mpi_ns = NAI_NULL_I64,
                                .clock = {.residual = NAI_NULL_I64},
                                .reference = NAI_NO_RANK,
                                .behind_with = NAI_NO_STRING,
                                .behind_range = NAI_NO_STRING};
  if (gpu == m->gpu_count)
    return NAI_OK;
  struct nai_rank_source *source = &r->sources[t->source];
  int64_t start = m->gpus[gpu].window_start;
  source->first_ns = start < source->first_ns ? start : source->first_ns;
  rank->device = m->gpus[gpu].device_id;
  rank->window_start = start;
  rank->window_ns = m->gpus[gpu].window_end - start;
  rank->compute_ns = m->gpus[gpu].compute_ns;
  const struct nai_value name = nai_table_value(m->tables[NAI_IN_GPUS], gpu, GPUS_gpu_name);
  NAI_TRY(nai_ranks_text(&rank->gpu_name, r, name.null ? NULL : name.s, err));
  NAI_TRY(add_kernels(r, rank, m, gpu, err));
  return add_steps(r, rank, err);
}

static int add_rank(struct nai_ranks *r, const struct trace *t, uint32_t of, struct nai_err *err) {
  const struct nai_comm *comm = t->m->comm;
  struct nai_job_rank *rank;
  NAI_TRY(new_rank(&rank, r, t, comm->ranks[of].gpu, nai_model_pid(t->m, comm->ranks[of].process), err));
  rank->number = nai_comm_own_rank(comm, of);
  return add_lines(r, r->rank_count - 1, t, of, err);
}

static int add_ranks(struct nai_ranks *r, uint32_t source, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct trace t = {.source = source, .inits.arena = &arena};
  NAI_TRY(nai_ranks_model(&t.m, r, source, NAI_PART(COMM) | NAI_PART(KERNEL_GROUPS), 0, err));
  NAI_TRY(list_inits(&t, err));
  NAI_TRY(list_lines(&t, &arena, err));
  for (uint32_t i = 0; i < t.m->comm->rank_count; i++)
    NAI_TRY(add_rank(r, &t, i, err));
  nai_run_drop_model(r->sources[source].run);
  return NAI_OK;
}

static int add_processes(struct nai_ranks *r, const struct trace *t, const struct nai_table *processes,
                         struct nai_err *err) {
  for (int64_t i = 0; i < processes->rows; i++) {
    struct MPI_PROCESSES_row row = MPI_PROCESSES_at(processes, i);
    bool has_gpu = row.device_id != NAI_NULL_I64;
    uint32_t gpu = has_gpu ? nai_model_gpu_index(t->m, (int32_t)row.device_id) : t->m->gpu_count;
    struct nai_job_rank *rank;
    NAI_TRY(new_rank(&rank, r, t, gpu, row.pid, err));
    rank->number = row.rank;
  }
  return NAI_OK;
}

int nai_ranks_add_mpi(struct nai_ranks *r, struct nai_err *err) {
  for (uint32_t s = 0; s < r->source_count; s++) {
    struct trace t = {.source = s};
    const struct nai_table *processes;
    NAI_TRY(nai_run_table_if_any(&processes, r->sources[s].run, nai_mpi_processes_schema.name,
                                 &nai_mpi_processes_schema, err));
    if (!processes || !processes->rows)
      continue;
    NAI_TRY(nai_ranks_model(&t.m, r, s, NAI_PART(COMM) | NAI_PART(KERNEL_GROUPS), 0, err));
    NAI_TRY(add_processes(r, &t, processes, err));
    nai_run_drop_model(r->sources[s].run);
  }
  return NAI_OK;
}

/* --- sources ---------------------------------------------------------------------------------- */

/* When time 0 of the trace was: the start of its session, of an export that holds UTC (time_offset_ns), too. */
static int read_clock(struct nai_rank_source *s, struct nai_err *err) {
  const struct nai_table *capture;
  s->utc = NAI_NULL_I64;
  NAI_TRY(nai_run_table(&capture, s->run, nai_capture_schema.name, &nai_capture_schema, err));
  int64_t epoch = capture->rows ? nai_get_i64(capture, 0, CAPTURE_utc_epoch_ns) : NAI_NULL_I64;
  if (epoch > 0) /* NULL is below */
    s->utc = epoch;
  s->boot = capture->rows ? nai_get_i64(capture, 0, CAPTURE_boot_utc_ns) : NAI_NULL_I64;
  s->host = capture->rows ? nai_get_i64(capture, 0, CAPTURE_host_id) : NAI_NULL_I64;
  return NAI_OK;
}

int nai_ranks_add(struct nai_ranks *r, struct nai_run *run, const char *path, struct nai_err *err) {
  uint32_t number = r->source_count;
  int rc = NAI_ROOM(r->sources, r->source_capacity, number, &r->arena, err);
  if (rc) {
    nai_run_close(run);
    return rc;
  }
  r->sources[r->source_count++] =
      (struct nai_rank_source){.run = run, .path = path, .identity = nai_run_manifest(run)->identity};
  for (uint32_t i = 0; i < number; i++)
    if (r->sources[i].identity == nai_run_manifest(run)->identity)
      return nai_err_set(err, NAI_EUSAGE, "\"%s\" and \"%s\" are the same trace: every rank is given once",
                         r->sources[i].path, path);
  rc = read_clock(&r->sources[number], err);
  if (!rc)
    rc = add_ranks(r, number, err);
  return rc == NAI_ESTALE
           ? nai_err_wrap(err, NAI_EINPUT, "cannot read the run \"%s\"; make it again with nsys-ai analyze", path)
           : rc;
}

void nai_ranks_free(struct nai_ranks *r) {
  for (uint32_t i = 0; i < r->source_count; i++)
    nai_run_close(r->sources[i].run);
  nai_keyset_free(&r->what_keys);
  nai_strings_free(&r->names);
  nai_kernel_classes_free(r->classes);
  nai_arena_free(&r->arena);
}
