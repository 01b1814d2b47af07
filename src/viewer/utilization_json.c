/* How each GPU's time is shared out, in bins: the page's utilisation strips. */
#include "viewer/encoder.h"

#include "table/json.h"

enum { BINS = 1002 }; /* the window's thousand, and one at either end that it shares with the grid around it */

/* Adds the parts of each interval to the bins it covers. No interval begins before `start`. */
static void add_to_bins(int64_t bins[BINS], const struct nai_intervals *set, int64_t start, int64_t bin_ns) {
  int64_t b = 0, edge = start + bin_ns; /* the bin and where it ends */
  for (size_t i = 0; i < set->count; i++)
    for (int64_t at = set->v[i].start; at < set->v[i].end;) {
      if (at >= edge) {
        b = (at - start) / bin_ns;
        edge = start + (b + 1) * bin_ns;
      }
      int64_t until = edge < set->v[i].end ? edge : set->v[i].end;
      if (b < BINS)
        bins[b] += until - at;
      at = until;
    }
}

/* How a GPU's time is shared out, per bin. */
struct shares {
  int64_t compute[BINS], communication[BINS], copy[BINS], idle[BINS];
};

static void share_out(struct shares *s, const struct nai_gpu *gpu, int64_t start, int64_t bin_ns) {
  struct nai_interval window = {gpu->window_start, gpu->window_end};
  memset(s, 0, sizeof *s);
  add_to_bins(s->compute, &gpu->all, start, bin_ns);
  add_to_bins(s->communication, &gpu->exposed_communication, start, bin_ns);
  add_to_bins(s->copy, &gpu->exposed_copy, start, bin_ns);
  if (gpu->op_count)
    add_to_bins(s->idle, &(struct nai_intervals){.v = &window, .count = 1}, start, bin_ns);
  for (int b = 0; b < BINS; b++) {
    s->idle[b] -= s->compute[b]; /* of the GPU's own window, so that bins outside of it stay empty */
    s->compute[b] -= s->communication[b] + s->copy[b];
  }
}

int nai_encoder_put_utilization(struct nai_json *json, const struct nai_encoder *e, struct nai_err *err) {
  const struct nai_model *m = e->m;
  int64_t bin_ns = (m->window_end - m->window_start) / 1000 + 1, start = m->window_start;
  NAI_FREED struct shares *s = malloc(sizeof *s);
  NAI_TRY(nai_memory_check(s, err));
  if (e->items.aggregated) { /* the bins of the sums */
    bin_ns = e->sums.bin_ns;
    start = e->origin + (m->window_start - e->origin) / bin_ns * bin_ns;
  }
  const struct {
    const char *key;
    const int64_t *bins;
  } parts[] = {{"compute_ns", s->compute},
               {"exposed_comm_ns", s->communication},
               {"exposed_copy_ns", s->copy},
               {"idle_ns", s->idle}};
  nai_json_put_array(json, "utilization", NAI_JSON_LINES);
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    share_out(s, &m->gpus[g], start, bin_ns);
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_int(json, "device_id", m->gpus[g].device_id);
    nai_json_put_int(json, "bin_ns", bin_ns);
    nai_json_put_int(json, "start_ns", start - e->origin);
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
      nai_json_put_array(json, parts[p].key, NAI_JSON_INLINE);
      for (int b = 0; b < BINS && b * bin_ns < m->window_end - start; b++)
        nai_json_int(json, parts[p].bins[b]);
      nai_json_end(json);
    }
    nai_json_end(json);
  }
  nai_json_end(json);
  return NAI_OK;
}
