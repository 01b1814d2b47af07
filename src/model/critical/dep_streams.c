/* The order of operations in their streams: what was launched behind what. */
#include "model/critical/dep_build.h"

#include "base/sort.h"

static int count_streams(struct dep_builder *b, struct nai_err *err) {
  const struct nai_model *m = b->m;
  NAI_TRY(NAI_NEW(b->first_stream, b->arena, (size_t)m->gpu_count + 1, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    b->first_stream[g + 1] = b->first_stream[g] + m->gpus[g].stream_count;
  b->stream_count = b->first_stream[m->gpu_count];
  NAI_TRY(NAI_NEW(b->streams, b->arena, b->stream_count, err));
  NAI_TRY(NAI_NEW(b->stream_by_id, b->arena, b->stream_count, err));
  NAI_TRY(NAI_NEW(b->stream_ops, b->arena, b->d->op_count, err));
  NAI_TRY(NAI_NEW(b->submitted, b->arena, b->d->op_count, err));
  NAI_TRY(NAI_NEW(b->place, b->arena, b->d->op_count, err));
  return NAI_NEW(b->stream_of_op, b->arena, b->d->op_count, err);
}

static void number_ops(struct dep_builder *b) {
  const struct nai_model *m = b->m;
  for (uint32_t g = 0, k = 0; g < m->gpu_count; g++)
    for (uint32_t i = 0; i < m->gpus[g].op_count; i++, k++) {
      const struct nai_op *op = &m->gpus[g].ops[i];
      b->stream_of_op[k] = nai_op_is_on_stream(m, op) ? b->first_stream[g] + op->stream : NAI_NO_ROW;
      if (b->stream_of_op[k] != NAI_NO_ROW)
        b->place[k] = b->streams[b->stream_of_op[k]].count++;
    }
  for (uint32_t s = 0, first = 0; s < b->stream_count; s++) {
    b->streams[s].first = first;
    first += b->streams[s].count;
  }
  for (uint32_t k = 0; k < b->d->op_count; k++)
    if (b->stream_of_op[k] != NAI_NO_ROW)
      b->stream_ops[b->streams[b->stream_of_op[k]].first + b->place[k]] = k;
}

/* Per process, and of those that are unknown in [0]: whether calls of it are recorded. */
static int find_callers(bool **out, struct dep_builder *b, struct nai_err *err) {
  const struct nai_model *m = b->m;
  NAI_TRY(NAI_NEW(*out, b->arena, (size_t)m->process_count + 1, err));
  for (uint32_t thread = 0; thread < m->api_by_thread.groups; thread++)
    (*out)[m->thread_process[thread] + 1] |= b->d->first_call[thread] < b->d->first_call[thread + 1];
  return NAI_OK;
}

/* Operations start in the order in which they were launched; where threads or clocks disagree, the latest counts. */
static void note_submissions(struct dep_builder *b, const bool *calls) {
  for (uint32_t s = 0; s < b->stream_count; s++) {
    const struct nai_gpu *gpu = &b->m->gpus[b->streams[s].gpu];
    bool silent = !calls[gpu->streams[s - b->first_stream[b->streams[s].gpu]].process + 1];
    int64_t latest = INT64_MIN;
    for (uint32_t i = b->streams[s].first; i < b->streams[s].first + b->streams[s].count; i++) {
      uint32_t call = b->d->op_call[b->stream_ops[i]];
      if (call != NAI_NO_ROW && b->d->time[2 * call] > latest)
        latest = b->d->time[2 * call];
      b->d->quality.unlinked += call == NAI_NO_ROW;
      b->d->quality.unlinked_behind += call == NAI_NO_ROW && (silent || latest != INT64_MIN);
      b->submitted[i] = latest;
    }
  }
}

static int name_streams(struct dep_builder *b, struct nai_err *err) {
  const struct nai_model *m = b->m;
  int32_t *process;
  bool added;
  b->contexts = b->ids = (struct nai_keyset){.arena = b->arena};
  NAI_TRY(NAI_NEW(process, b->arena, b->stream_count, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    for (uint32_t i = 0; i < m->gpus[g].stream_count; i++) {
      const struct nai_stream *s = &m->gpus[g].streams[i];
      uint32_t context = nai_keyset_add(&b->contexts, nai_key_pair(s->process, (uint32_t)s->context), &added);
      uint32_t id = nai_keyset_add(&b->ids, nai_key_pair(context, (uint32_t)s->id), &added);
      if (added)
        b->stream_by_id[id] = b->first_stream[g] + i;
      process[b->first_stream[g] + i] = s->process;
      b->streams[b->first_stream[g] + i].gpu = g;
    }
  NAI_TRY(nai_memory_check(!b->contexts.oom && !b->ids.oom, err));
  const struct nai_column by = nai_column_of_i32(process);
  return nai_groups_collect(&b->process_streams, b->stream_count, &by, m->process_count, b->arena, err);
}

int nai_dep_find_streams(struct dep_builder *b, struct nai_err *err) {
  bool *calls;
  NAI_TRY(count_streams(b, err));
  number_ops(b);
  NAI_TRY(name_streams(b, err));
  NAI_TRY(find_callers(&calls, b, err));
  note_submissions(b, calls);
  return NAI_OK;
}

uint32_t nai_dep_stream_number(const struct dep_builder *b, int32_t process, int32_t context, int32_t id) {
  uint32_t known = nai_keyset_find(&b->contexts, nai_key_pair(process, (uint32_t)context));
  uint32_t stream = known == UINT32_MAX ? known : nai_keyset_find(&b->ids, nai_key_pair(known, (uint32_t)id));
  return stream == UINT32_MAX ? NAI_NO_ROW : b->stream_by_id[stream];
}

/* How many operations of a stream were launched before t. */
static uint32_t submitted_before(const struct dep_builder *b, const struct dep_stream *s, int64_t t) {
  return (uint32_t)nai_bisect(b->submitted + s->first, s->count, sizeof *b->submitted, 0, t);
}

uint32_t nai_dep_last_submitted(const struct dep_builder *b, uint32_t stream, int64_t t) {
  const struct dep_stream *s = &b->streams[stream];
  uint32_t n = submitted_before(b, s, t);
  return n ? b->stream_ops[s->first + n - 1] : NAI_NO_ROW;
}

uint32_t nai_dep_first_behind(const struct dep_builder *b, uint32_t stream, int64_t t) {
  const struct dep_stream *s = &b->streams[stream];
  uint32_t n = submitted_before(b, s, t);
  return n < s->count ? b->stream_ops[s->first + n] : NAI_NO_ROW;
}
