/* The streams of a GPU, and which of them each of its operations ran on. */
#include "model/build.h"

#include "base/array.h"

static bool is_of(const struct nai_stream *stream, const struct nai_stream *other) {
  return stream->process == other->process && stream->context == other->context && stream->id == other->id;
}

int nai_gpu_number_streams(struct nai_gpu *gpu, const struct nai_model *m, struct nai_err *err) {
  struct nai_keyset contexts = {0}, streams = {0}; /* process and context; that and the stream's id */
  uint32_t capacity = 0, number = 0;
  int rc = NAI_OK;
  for (uint32_t i = 0; !rc && i < gpu->op_count; i++) {
    struct nai_op *op = &gpu->ops[i];
    struct nai_stream of = {nai_model_op_process(m, op), nai_model_op_context(m, op), nai_model_op_stream(m, op)};
    if (!i || !is_of(&of, &gpu->streams[number])) { /* mostly it is that of the operation before */
      bool added;
      int64_t context = nai_keyset_add(&contexts, nai_key_pair(of.process, (uint32_t)of.context), &added);
      number = nai_keyset_add(&streams, nai_key_pair(context, (uint32_t)of.id), &added);
      if (contexts.oom || streams.oom || !nai_array_room(&gpu->streams, &capacity, number, sizeof *gpu->streams))
        rc = nai_err_nomem(err);
      else if (number >= NAI_MAX_STREAMS)
        rc = nai_err_set(err, NAI_ELIMIT, "more than %u streams on one GPU", NAI_MAX_STREAMS);
      else
        gpu->streams[number] = of;
    }
    op->stream = number & (NAI_MAX_STREAMS - 1);
  }
  gpu->stream_count = rc ? 0 : streams.count;
  for (uint32_t s = 0; s < gpu->stream_count; s++) {
    bool added;
    nai_keyset_add(&gpu->processes, gpu->streams[s].process, &added);
  }
  nai_keyset_free(&contexts);
  nai_keyset_free(&streams);
  return gpu->processes.oom && !rc ? nai_err_nomem(err) : rc;
}
