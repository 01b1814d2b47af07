/* The rows that a critical path is. */
#include "analyses/path_tables.h"

#include "base/sort.h"
#include "model/critical/path_sum.h"
#include "model/idle/gap_names.h"
#include "tables/critical_path.h"
#include "tables/critical_path_causes.h"
#include "tables/critical_path_summary.h"
#include "tables/threads.h"
#include "table/stats.h"

/* --- segments --------------------------------------------------------------------------------- */

static void put_place(struct CRITICAL_PATH_row *row, const struct nai_model *m,
                      const struct nai_path_segment *segment) {
  const struct nai_dependencies *d = m->dependencies;
  if (segment->dep.kind == NAI_DEP_DROPPED)
    return;
  if (nai_node_is_call(d, segment->node)) {
    int32_t thread = nai_val_i32(&m->apis.thread, d->call_api[nai_node_call(segment->node)]);
    row->pid = nai_model_pid(m, m->thread_process[thread]);
    row->tid = nai_get_i64(m->tables[NAI_IN_THREADS], thread, THREADS_tid);
    return;
  }
  uint32_t op = nai_node_op(d, segment->node), gpu = nai_dep_op_gpu(d, op, m->gpu_count);
  const struct nai_stream *stream = &m->gpus[gpu].streams[nai_dep_op(m, op)->stream];
  row->device_id = nai_model_device(m, gpu);
  row->stream_id = stream->id;
  row->pid = nai_model_pid(m, stream->process);
}

static void put_segment(const struct nai_path_tables *out, const struct nai_path_segment *segment, int64_t sequence) {
  const struct nai_model *m = out->model;
  char room[NAI_KIND_NAME_MAX];
  struct CRITICAL_PATH_row row =
      NAI_ROW(CRITICAL_PATH, .sequence = sequence, .start_ns = segment->start, .end_ns = segment->end,
              .duration_ns = segment->end - segment->start, .margin_ns = nai_path_margin(m, segment),
              .cause = nai_path_cause_name(segment->cause));
  put_place(&row, m, segment);
  if (segment->dep.kind != NAI_DEP_DROPPED) {
    row.dependency = nai_dep_kind_name((enum nai_dep_kind)segment->dep.kind);
    row.name = nai_path_subject(room, m, segment);
    row.nvtx_range = nai_launch_range(m, nai_path_call(m, segment));
  }
  if (segment->cause == NAI_PATH_KERNEL)
    row.category = nai_kernel_classes_name(
        m->classes, m->kernel_category[nai_val_text(&m->kernels.name,
                                                    nai_dep_op(m, nai_node_op(m->dependencies, segment->node))->row)]);
  CRITICAL_PATH_add(out->path, &row);
}

/* Of many segments the longest are listed, of equally long ones all or none. */
enum { MAX_LISTED = 2000, MAX_KEPT = 4 * MAX_LISTED };
struct longest {
  struct listed {
    struct nai_path_segment segment;
    int64_t sequence;
  } * at;                   /* those that may be listed, as they came */
  uint32_t count, capacity; /* count: at most MAX_KEPT */
  int64_t least;            /* length of the one that is too many so far, 0 where none is */
};

static int64_t length_of(const struct nai_path_segment *segment) { return segment->end - segment->start; }

/* Leaves the longest, and of those as long as the last of them only so many that it stays the last. */
static void forget_shorter(struct longest *l) {
  int64_t ns[MAX_KEPT];
  uint32_t kept = 0, longer = 0;
  for (uint32_t i = 0; i < l->count; i++)
    ns[i] = length_of(&l->at[i].segment);
  nai_select_i64(ns, l->count, l->count - MAX_LISTED);
  l->least = ns[l->count - MAX_LISTED];
  for (uint32_t i = 0; i < l->count; i++)
    longer += length_of(&l->at[i].segment) > l->least;
  for (uint32_t i = 0, equals = MAX_LISTED - longer; i < l->count; i++) {
    bool equal = length_of(&l->at[i].segment) == l->least && equals;
    equals -= equal;
    if (equal || length_of(&l->at[i].segment) > l->least)
      l->at[kept++] = l->at[i];
  }
  l->count = kept;
}

static int consider(struct longest *l, const struct nai_path_segment *segment, int64_t sequence,
                    struct nai_arena *arena, struct nai_err *err) {
  if (length_of(segment) < l->least)
    return NAI_OK;
  if (l->count == MAX_KEPT)
    forget_shorter(l);
  NAI_TRY(NAI_ROOM(l->at, l->capacity, l->count, arena, err));
  l->at[l->count++] = (struct listed){*segment, sequence};
  return NAI_OK;
}

/* Sums and lists the path of a scope that has one repetition. */
static int walk(struct nai_path_sum *sum, const struct nai_path_tables *out, const struct nai_path_scope *scope,
                struct nai_err *err) {
  const struct nai_model *m = out->model;
  struct nai_path path = nai_path_at(m, NULL, NULL, scope->nodes[1], nai_path_scope_start(scope, m, NULL));
  struct longest longest = {0};
  int64_t sequence = 0;
  for (struct nai_path_segment segment; nai_path_next(&path, &segment); sequence++) {
    NAI_TRY(nai_path_sum_segment(sum, m, &segment, err));
    NAI_TRY(consider(&longest, &segment, sequence, out->arena, err));
  }
  if (longest.count > MAX_LISTED)
    forget_shorter(&longest);
  for (uint32_t i = 0; i < longest.count; i++)
    if (length_of(&longest.at[i].segment) > longest.least)
      put_segment(out, &longest.at[i].segment, longest.at[i].sequence);
  return NAI_OK;
}

/* --- sums ------------------------------------------------------------------------------------- */

static void put_group(const struct nai_path_tables *out, const struct nai_path_scope *scope,
                      const struct nai_path_sum *sum, const struct nai_path_group *group) {
  const struct nai_model *m = out->model;
  bool window = scope->kind == NAI_SCOPE_WINDOW;
  NAI_ADD(CRITICAL_PATH_CAUSES, out->causes, .scope = nai_path_scope_name(scope->kind),
          .device_id = window ? NAI_NULL_I64 : nai_model_device(m, scope->gpu), .pid = nai_model_pid(m, scope->process),
          .cause = nai_path_cause_name(group->cause),
          .category = group->category < 0 ? NULL : nai_kernel_classes_name(m->classes, group->category),
          .duration_ns = group->ns, .pct_of_wall = nai_percent((double)group->ns, (double)sum->wall_ns),
          .per_repetition_ns = (double)group->ns / scope->judged, .segment_count = group->segments,
          .longest_ns = group->longest_ns, .near_critical_ns = group->near_ns, .longest_start_ns = group->longest_start,
          .longest_end_ns = group->longest_start + group->longest_ns, .what = group->what, .what_ns = group->what_ns);
}

static int put_scope(const struct nai_path_tables *out, const struct nai_path_scope *scope, struct nai_path_sum *first,
                     bool is_first, struct nai_err *err) {
  const struct nai_model *m = out->model;
  struct nai_path_sum other, *sum = is_first ? first : &other;
  const char *reason;
  nai_path_sum_begin(sum, out->arena);
  sum->by = out->by;
  NAI_TRY(is_first ? walk(sum, out, scope, err) : nai_path_sum_scope(sum, scope, m, NULL, NULL, err));
  NAI_TRY(nai_path_sum_end(sum, err));
  for (uint32_t i = 0; i < sum->count; i++)
    put_group(out, scope, sum, &sum->groups[i]);
  enum nai_path_state state = nai_path_state_of(&reason, m, first);
  const char *words = nai_path_sum_words(sum, err);
  if (!words)
    return NAI_ELIMIT;
  NAI_ADD(CRITICAL_PATH_SUMMARY, out->summary, .scope = nai_path_scope_name(scope->kind),
          .device_id = scope->kind == NAI_SCOPE_WINDOW ? NAI_NULL_I64 : nai_model_device(m, scope->gpu),
          .pid = nai_model_pid(m, scope->process), .repetitions = scope->judged, .wall_ns = sum->wall_ns,
          .per_repetition_ns = (double)sum->wall_ns / scope->judged,
          .summary = state == NAI_PATH_REFUSED ? NULL : words, .state = nai_path_state_name(state), .reason = reason,
          .inferred_count = sum->inferred,
          .unexplained_pct = nai_percent((double)sum->by_cause[NAI_PATH_UNEXPLAINED], (double)sum->wall_ns),
          .not_recorded_pct = nai_percent((double)sum->by_cause[NAI_PATH_NOT_RECORDED], (double)sum->wall_ns));
  return NAI_OK;
}

int nai_path_put_tables(const struct nai_path_tables *out, const struct nai_path_scope *scopes, uint32_t count,
                        struct nai_err *err) {
  struct nai_path_sum first;
  for (uint32_t i = 0; i < count; i++)
    NAI_TRY(put_scope(out, &scopes[i], &first, i == 0, err));
  return NAI_OK;
}
