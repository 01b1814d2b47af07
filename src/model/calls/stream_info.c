#include "model/calls/stream_info.h"

#include "tables/cuda_streams.h"
#include "tables/stream_names.h"

static int64_t rows_of(const struct nai_table *t) { return t ? t->rows : 0; }

struct nai_stream_info nai_stream_info_of(const struct nai_model *m, int32_t process, int64_t context, int64_t stream) {
  const struct nai_table *streams = m->tables[NAI_IN_STREAMS], *names = m->tables[NAI_IN_STREAM_NAMES];
  struct nai_stream_info info = {NULL, NAI_NULL_I64};
  int64_t pid = nai_model_pid(m, process);
  for (int64_t i = 0; i < rows_of(streams); i++) {
    struct CUDA_STREAMS_row row = CUDA_STREAMS_at(streams, i);
    if (row.pid == pid && row.context_id == context && row.stream_id == stream && row.priority != NAI_NULL_I64)
      info.priority = row.priority;
  }
  for (int64_t i = 0; i < rows_of(names); i++) {
    struct STREAM_NAMES_row row = STREAM_NAMES_at(names, i);
    if (row.pid == pid && row.context_id == context && row.stream_id == stream && row.stream_name && *row.stream_name)
      info.name = row.stream_name;
  }
  return info;
}
