/* The NVTX tree of a thread, and which range each of its API calls lies in. One sweep over both in start order. */
#include "derive/model.h"

#include <stdlib.h>

/* Ranges that have begun, in start order; ended ones below the top are removed when they come up. */
struct stack {
  uint32_t *rows;
  uint32_t depth, capacity;
};

static bool push(struct stack *s, uint32_t row) {
  if (s->depth == s->capacity) {
    uint32_t capacity = s->capacity ? s->capacity * 2 : 256;
    uint32_t *rows = realloc(s->rows, (size_t)capacity * sizeof *rows);
    if (!rows)
      return false;
    s->rows = rows;
    s->capacity = capacity;
  }
  s->rows[s->depth++] = row;
  return true;
}

/* The range begun last among those that contain t. */
static uint32_t innermost(struct stack *s, const int64_t *end, int64_t t) {
  while (s->depth && end[s->rows[s->depth - 1]] <= t)
    s->depth--;
  return s->depth ? s->rows[s->depth - 1] : NAI_NO_ROW;
}

/* The innermost stacked range that wholly contains [.., end). Crossing ranges are stepped over; their count is bounded
 * because each step goes to a range that encloses the last by start. */
static uint32_t container(const struct stack *s, const int64_t *ends, int64_t end) {
  enum { MAX_CROSSING = 64 };
  for (uint32_t i = 0; i < s->depth && i < MAX_CROSSING; i++)
    if (ends[s->rows[s->depth - 1 - i]] >= end)
      return s->rows[s->depth - 1 - i];
  return NAI_NO_ROW;
}

int nai_nvtx_nest(struct nai_model *m, uint32_t thread, struct nai_err *err) {
  const struct nai_nvtx_view *nvtx = &m->nvtx;
  const struct nai_api_view *apis = &m->apis;
  const struct nai_groups *ranges = &m->nvtx_by_thread, *calls = &m->api_by_thread;
  struct stack nested = {0}, async = {0}; /* push/pop ranges nest, start/end ranges only cover */
  uint32_t r = ranges->first[thread], r_end = ranges->first[thread + 1];
  uint32_t c = calls->first[thread], c_end = calls->first[thread + 1];
  int rc = NAI_OK;
  while (c < c_end || r < r_end) {
    uint32_t range = r < r_end ? ranges->order[r] : NAI_NO_ROW, call = c < c_end ? calls->order[c] : NAI_NO_ROW;
    /* A call that starts with a range lies in it. */
    if (range != NAI_NO_ROW && (call == NAI_NO_ROW || nvtx->start[range] <= apis->start[call])) {
      r++;
      m->nvtx_parent[range] = NAI_NO_ROW;
      bool nests = nvtx->kind[range] == NAI_NVTX_PUSH_POP;
      if (nests) {
        innermost(&nested, nvtx->end, nvtx->start[range]);
        m->nvtx_parent[range] = container(&nested, nvtx->end, nvtx->end[range]);
        m->crossing[thread] += nested.depth && m->nvtx_parent[range] != nested.rows[nested.depth - 1];
      }
      if (nvtx->end[range] > nvtx->start[range] && !push(nests ? &nested : &async, range)) {
        rc = nai_err_nomem(err);
        break;
      }
      continue;
    }
    c++;
    uint32_t inner = innermost(&nested, nvtx->end, apis->start[call]);
    /* Start/end ranges speak for a call only where no push/pop range does. */
    m->api_range[call] = inner != NAI_NO_ROW ? inner : innermost(&async, nvtx->end, apis->start[call]);
  }
  free(nested.rows);
  free(async.rows);
  return rc;
}

int nai_host_blocked(struct nai_model *m, uint32_t thread, struct nai_err *err) {
  const struct nai_groups *calls = &m->api_by_thread;
  for (uint32_t i = calls->first[thread]; i < calls->first[thread + 1]; i++)
    if (nai_model_api_blocks(m, calls->order[i]))
      nai_intervals_add(&m->blocked[thread], m->apis.start[calls->order[i]], m->apis.end[calls->order[i]]);
  return m->blocked[thread].oom ? nai_err_nomem(err) : NAI_OK;
}
