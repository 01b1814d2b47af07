/* What a run tells of its ranks: communication kernels in the order of their communicators, steps, compute kernels. */
#include "features/ranks/internal.h"

#include "analyses/comm/comm.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/threads.h"
#include "tables/capture.h"
#include "tables/gpus.h"
#include "tables/kernel_configs.h"
#include "tables/nvtx_dynamic_payloads.h"
#include "tables/steps.h"

#include <stdlib.h>
#include <string.h>

int nai_ranks_text(uint32_t *id, struct nai_ranks *r, const char *text, struct nai_err *err) {
  *id = text ? nai_strings_add(&r->names, text, strlen(text)) : NAI_NO_STRING;
  return text && *id == NAI_NO_STRING ? nai_err_nomem(err) : NAI_OK;
}

/* --- the model -------------------------------------------------------------------------------- */

int nai_ranks_model(struct nai_model **out, struct nai_ranks *r, uint32_t source, uint32_t parts, struct nai_err *err) {
  struct nai_run *run = r->sources[source].run;
  const uint32_t needed = NAI_PART(NAMES) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(RANGES) | NAI_PART(CALLS);
  uint64_t tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(NVTX) | NAI_IN(GPUS) |
                    NAI_IN(THREADS) | NAI_IN(PROCESSES) | NAI_IN(LABELS) | NAI_IN(KERNEL_CONFIGS) |
                    NAI_IN(NVTX_DOMAINS) | NAI_IN(NVTX_PAYLOADS) | NAI_IN(PAYLOAD_SCHEMAS) | NAI_IN(PAYLOAD_ENTRIES) |
                    NAI_IN(PAYLOAD_ENUMS) | NAI_IN(GRAPH_NODES) | nai_parts_tables(needed | parts);
  if (nai_run_has(run, nai_nvtx_dynamic_payloads_schema.name)) /* earlier runs have none */
    tables |= NAI_IN(DYNAMIC_PAYLOADS);
  int rc = r->classes ? NAI_OK : nai_kernel_classes_load(&r->classes, NULL, err);
  const struct nai_model_options options = {.classes = r->classes, .worker_count = nai_cpu_count()};
  if (!rc)
    rc = nai_run_tell_classes(r->classes, run, err);
  if (!rc)
    rc = nai_run_open_events(run, tables, err);
  if (!rc)
    rc = nai_run_model(out, run, &options, tables, needed | parts, err);
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

static uint64_t hash_of(const struct nai_comm *c, const struct nai_comm_item *item) {
  const struct nai_comm_name *name = nai_comm_name_of(c, item);
  uint64_t hash = nai_hash_text(nai_hash_text(nai_hash_text(1, item->op), name->dtype), name->family);
  bool sized = item->sent >= 0 && item->received >= 0; /* what one sends, the other receives */
  hash = nai_hash_int(hash, sized ? item->sent + item->received : -1);
  int64_t config = nai_at(&c->m->kernels.config, item->kernel);
  for (int column = KERNEL_CONFIGS_grid_x; !sized && config >= 0 && column <= KERNEL_CONFIGS_grid_z; column++)
    hash = nai_hash_int(hash, nai_get_i64(c->m->tables[NAI_IN_KERNEL_CONFIGS], config, column));
  return hash;
}

/* Kernels of a trace are of few kinds, and neighbours alike. */
static int number_what(uint32_t *what, struct nai_ranks *r, const struct nai_comm *c, const struct nai_comm_item *item,
                       struct nai_err *err) {
  static const char *const together[] = {"AllReduce", "AllGather", "ReduceScatter", "AllToAll", "SendRecv", NULL};
  static const char *const peers[] = {"SendRecv", "Send", "Recv", "Put", NULL};
  bool added;
  *what = nai_keyset_add(&r->what_keys, (int64_t)hash_of(c, item), &added);
  if (r->what_keys.oom)
    return nai_err_nomem(err);
  if (!added)
    return NAI_OK;
  if (!nai_array_room(&r->whats, &r->what_capacity, *what, sizeof *r->whats))
    return nai_err_nomem(err);
  struct nai_rank_what *w = &r->whats[*what];
  *w = (struct nai_rank_what){.bytes = nai_comm_bytes(item),
                              .size = item->ranks,
                              .together = is(item->op, together),
                              .point_to_point = is(item->op, peers)};
  int rc = nai_ranks_text(&w->op, r, item->op, err);
  return rc ? rc : nai_ranks_text(&w->dtype, r, nai_comm_name_of(c, item)->dtype, err);
}

/* --- lines ------------------------------------------------------------------------------------ */

/* A trace while its ranks are added. */
struct trace {
  uint32_t source;
  struct nai_comm comm;
  struct nai_keyset inits; /* communicators whose initialisation it has */
};

static int list_inits(struct trace *t, struct nai_err *err) {
  bool added;
  for (uint32_t thread = 0; thread < t->comm.m->thread_count; thread++)
    for (uint32_t i = 0; i < t->comm.calls[thread].count; i++) {
      const struct nai_comm_call *call = &t->comm.calls[thread].v[i];
      if (call->kind == NAI_COMM_INIT && nai_payload_has(&call->payload, NAI_PAYLOAD_COMM))
        nai_keyset_add(&t->inits, call->payload.value[NAI_PAYLOAD_COMM], &added);
    }
  return t->inits.oom ? nai_err_nomem(err) : NAI_OK;
}

/* Exchanges between ranks are a line of their own: which of them a rank has part in is not the same for all. */
static int add_line(struct nai_ranks *r, uint32_t number, const struct trace *t, const struct nai_comm_line *from,
                    bool exchanges, struct nai_err *err) {
  const struct nai_comm *c = &t->comm;
  struct nai_job_rank *rank = &r->ranks[number];
  if (!nai_array_room(&r->lines, &r->line_capacity, r->line_count, sizeof *r->lines))
    return nai_err_nomem(err);
  struct nai_rank_line *line = &r->lines[r->line_count++];
  *line = (struct nai_rank_line){.rank = number,
                                 .first = rank->call_count,
                                 .point_to_point = exchanges,
                                 .known_comm = from->known_comm,
                                 .from_start = from->known_comm && nai_keyset_find(&t->inits, from->comm) != UINT32_MAX,
                                 .comm = from->comm,
                                 .size = c->items[from->items[0]].ranks,
                                 .stream = c->streams[from->stream].id,
                                 .group = NAI_NO_RANK,
                                 .residual = NAI_NULL_I64};
  int rc = NAI_OK;
  for (uint32_t i = 0; i < from->count && !rc; i++) {
    const struct nai_comm_item *item = &c->items[from->items[i]];
    uint32_t what = 0;
    rc = number_what(&what, r, c, item, err);
    if (rc || r->whats[what].point_to_point != exchanges)
      continue;
    rank->calls[rank->call_count++] =
        (struct nai_rank_call){.start = item->start, .end = item->end, .what = what, .item = from->items[i]};
    line->count++;
  }
  r->line_count -= !line->count;
  return rc;
}

/* --- ranks ------------------------------------------------------------------------------------ */

static int add_steps(struct nai_job_rank *rank, struct nai_run *run, struct nai_err *err) {
  const struct nai_table *steps;
  if (!nai_run_has(run, nai_steps_schema.name))
    return NAI_OK; /* a run without them */
  int rc = nai_run_table(&steps, run, nai_steps_schema.name, &nai_steps_schema, err);
  if (rc)
    return rc;
  rank->steps = malloc(((size_t)steps->rows + 1) * sizeof *rank->steps);
  if (!rank->steps)
    return nai_err_nomem(err);
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
  int rc = NAI_OK;
  rank->kernels = malloc(((size_t)m->kernel_group_count + 1) * sizeof *rank->kernels);
  if (!rank->kernels)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < m->kernel_group_count && !rc; i++) {
    const struct nai_kernel_group *group = &m->kernel_groups[i];
    if (group->gpu != gpu || m->kernel_communication[group->name])
      continue;
    struct nai_rank_kernel *kernel = &rank->kernels[rank->kernel_count++];
    *kernel = (struct nai_rank_kernel){.calls = group->calls, .total_ns = group->total_ns};
    rc = nai_ranks_text(&kernel->name, r, nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, group->name), err);
  }
  return rc;
}

static int add_rank(struct nai_ranks *r, const struct trace *t, uint32_t of, struct nai_err *err) {
  const struct nai_comm *c = &t->comm;
  if (!nai_array_room(&r->ranks, &r->rank_capacity, r->rank_count, sizeof *r->ranks))
    return nai_err_nomem(err);
  const struct nai_model *m = c->m;
  const struct nai_gpu *gpu = &m->gpus[c->ranks[of].gpu];
  uint32_t number = r->rank_count++, count = 0;
  struct nai_job_rank *rank = &r->ranks[number];
  for (uint32_t g = c->ranks[of].gpu, i = c->first_of_gpu[g]; i < c->first_of_gpu[g + 1]; i++)
    count += c->items[i].rank == of;
  *rank = (struct nai_job_rank){.source = t->source,
                                .device = gpu->device_id,
                                .pid = nai_model_pid(m, c->ranks[of].process),
                                .number = nai_comm_own_rank(c, of),
                                .comm_rank = of,
                                .window_ns = gpu->window_end - gpu->window_start,
                                .compute_ns = gpu->compute_ns,
                                .residual = NAI_NULL_I64,
                                .reference = NAI_NO_RANK,
                                .behind_with = NAI_NO_STRING,
                                .behind_range = NAI_NO_STRING,
                                .calls = malloc(((size_t)count + 1) * sizeof *rank->calls)};
  const struct nai_value name = nai_table_value(m->tables[NAI_IN_GPUS], c->ranks[of].gpu, GPUS_gpu_name);
  int rc = rank->calls ? nai_ranks_text(&rank->gpu_name, r, name.null ? NULL : name.s, err) : nai_err_nomem(err);
  for (uint32_t l = 0; l < c->line_count && !rc; l++)
    for (int exchanges = 0; exchanges < 2 && !rc && c->items[c->lines[l].items[0]].rank == of; exchanges++)
      rc = add_line(r, number, t, &c->lines[l], exchanges, err);
  if (!rc)
    rc = add_kernels(r, &r->ranks[number], m, c->ranks[of].gpu, err);
  return rc ? rc : add_steps(&r->ranks[number], r->sources[t->source].run, err);
}

static int add_ranks(struct nai_ranks *r, uint32_t source, struct nai_err *err) {
  struct trace t = {.source = source};
  struct nai_model *m;
  int rc = nai_ranks_model(&m, r, source, NAI_PART(KERNEL_GROUPS), err);
  if (!rc)
    rc = nai_comm_collect(&t.comm, m, err);
  bool any = !rc && t.comm.count;
  if (any)
    rc = nai_comm_read_calls(&t.comm, err);
  if (any && !rc)
    rc = nai_comm_find_issuers(&t.comm, err);
  if (any && !rc)
    rc = nai_comm_attribute(&t.comm, err);
  if (any && !rc)
    rc = nai_comm_lines(&t.comm, err);
  if (any && !rc)
    rc = list_inits(&t, err);
  for (uint32_t i = 0; any && !rc && i < t.comm.rank_count; i++)
    rc = add_rank(r, &t, i, err);
  nai_comm_free(&t.comm);
  nai_keyset_free(&t.inits);
  nai_run_drop_model(r->sources[source].run);
  return rc;
}

/* --- sources ---------------------------------------------------------------------------------- */

/* When time 0 of the trace was: the start of its session, of an export that holds UTC (time_offset_ns), too. */
static int read_clock(struct nai_rank_source *s, struct nai_err *err) {
  const struct nai_table *capture;
  int rc = nai_run_table(&capture, s->run, nai_capture_schema.name, &nai_capture_schema, err);
  s->utc = NAI_NULL_I64;
  if (rc)
    return rc;
  int64_t epoch = capture->rows ? nai_get_i64(capture, 0, CAPTURE_utc_epoch_ns) : NAI_NULL_I64;
  if (epoch > 0) /* NULL is below */
    s->utc = epoch;
  return NAI_OK;
}

int nai_ranks_add(struct nai_ranks *r, struct nai_run *run, const char *path, struct nai_err *err) {
  if (!nai_array_room(&r->sources, &r->source_capacity, r->source_count, sizeof *r->sources)) {
    nai_run_close(run);
    return nai_err_nomem(err);
  }
  uint32_t number = r->source_count++;
  r->sources[number] = (struct nai_rank_source){.run = run, .path = path, .identity = nai_run_manifest(run)->identity};
  for (uint32_t i = 0; i < number; i++)
    if (r->sources[i].identity == nai_run_manifest(run)->identity)
      return nai_err_set(err, NAI_EUSAGE, "\"%s\" and \"%s\" are the same trace: every rank is given once",
                         r->sources[i].path, path);
  int rc = read_clock(&r->sources[number], err);
  if (!rc)
    rc = add_ranks(r, number, err);
  return rc == NAI_ESTALE
           ? nai_err_wrap(err, NAI_EINPUT, "cannot read the run \"%s\"; make it again with nsys-ai analyze", path)
           : rc;
}

static void free_rank(struct nai_job_rank *rank) {
  free(rank->label);
  free(rank->calls);
  free(rank->steps);
  free(rank->kernels);
}

void nai_ranks_free(struct nai_ranks *r) {
  for (uint32_t i = 0; i < r->source_count; i++)
    nai_run_close(r->sources[i].run);
  for (uint32_t i = 0; i < r->rank_count; i++)
    free_rank(&r->ranks[i]);
  for (uint32_t i = 0; i < r->group_count; i++) {
    free(r->groups[i].late);
    free(r->groups[i].skew);
    free(r->groups[i].transfer);
  }
  free(r->sources);
  free(r->ranks);
  free(r->lines);
  free(r->groups);
  free(r->members);
  free(r->whats);
  free(r->late_by);
  free(r->waited);
  nai_keyset_free(&r->what_keys);
  nai_strings_free(&r->names);
  nai_kernel_classes_free(r->classes);
}
