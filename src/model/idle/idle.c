/* Causes of idle time by name, what took it, and the gaps themselves. */
#include "model/idle/idle.h"

#include "base/array.h"
#include "base/sort.h"
#include "model/idle/evidence.h"
#include "table/stats.h"
#include "tables/idle_causes.h"

/* The meaning goes on behind "GPU 0, 5 ms: ". */
static const struct {
  const char *name, *meaning;
} words[NAI_IDLE_CAUSES] = {
    [NAI_IDLE_PROFILER] = {"profiler",
                           "the launching thread was held up by the profiler, which flushed its buffers or did other "
                           "work of its own"},
    [NAI_IDLE_MODULE_LOAD] = {"module_load", "GPU code was loaded or compiled by the launching thread"},
    [NAI_IDLE_ALLOCATION] = {"allocation",
                             "the launching thread was in a call that allocates, frees, maps or registers memory"},
    [NAI_IDLE_BLOCKING_CALL] = {"blocking_call", "the launching thread sat in a call that waits for the GPU"},
    [NAI_IDLE_QUEUE_DRAINED] = {"queue_drained",
                                "a synchronization had left the queue empty, and the host had not yet queued more"},
    [NAI_IDLE_IN_LAUNCH_CALL] = {"in_launch_call",
                                 "the launching thread was inside the very call that launched what came next"},
    [NAI_IDLE_CUDA_CALL] = {"cuda_call",
                            "the launching thread was in another CUDA call, one that does not wait for the GPU"},
    [NAI_IDLE_HOST_CODE] = {"host_code", "the launching thread was outside of CUDA calls"},
    [NAI_IDLE_LAUNCH_LATENCY] = {"launch_latency",
                                 "time from the end of a launch, or of the work before, to the start of what was "
                                 "launched, as long as launches usually take"},
    [NAI_IDLE_DEPENDENCY] = {"dependency",
                             "work had been launched, behind a call that makes a stream wait for an event"},
    [NAI_IDLE_HOST_FUNCTION] = {"host_function",
                                "the stream was in a function of the program on the host (cudaLaunchHostFunc, a host "
                                "node of a graph), and what came next stood behind it"},
    [NAI_IDLE_PAGE_MIGRATION] = {"page_migration",
                                 "what came next was a migration of managed memory, which no call launches"},
    [NAI_IDLE_UNKNOWN] = {"unknown",
                          "the trace does not show why: the launch is not recorded, or had returned long before its "
                          "work began"},
};

const char *nai_idle_cause_name(enum nai_idle_cause cause) { return words[cause].name; }

const char *nai_idle_cause_label(enum nai_idle_cause cause) {
  return nai_column_label(&nai_idle_causes_schema.columns[IDLE_CAUSES_cause], words[cause].name);
}

const char *nai_idle_cause_meaning(const char *name) {
  for (int c = 0; c < NAI_IDLE_CAUSES; c++)
    if (strcmp(words[c].name, name) == 0 || strcmp(nai_idle_cause_label((enum nai_idle_cause)c), name) == 0)
      return words[c].meaning;
  return NULL;
}

/* --- what ------------------------------------------------------------------------------------- */

/* "outer > inner", at most the innermost six. */
static void print_path(struct nai_buf *out, const struct nai_model *m, const struct nai_nvtx_node *node) {
  enum { LEVELS = 6 };
  const struct nai_nvtx_node *path[LEVELS];
  int depth = 0;
  for (; node && depth < LEVELS; node = node->parent == NAI_NO_ROW ? NULL : &m->nodes[node->parent])
    path[depth++] = node;
  while (depth-- > 0) {
    nai_buf_puts(out, nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, path[depth]->name));
    nai_buf_puts(out, depth ? " > " : "");
  }
}

static void print_wait(struct nai_buf *out, const struct nai_model *m, uint32_t call) {
  const struct nai_nvtx_node *node = nai_model_call_node(m, call);
  nai_buf_puts(out, nai_model_api_name(m, call));
  if (!node)
    return;
  nai_buf_puts(out, " in ");
  print_path(out, m, node);
}

void nai_idle_culprit_put(struct nai_buf *out, const struct nai_model *m, const struct nai_idle_culprit *what) {
  static const enum nai_input_table tables[] = {[NAI_CULPRIT_API] = NAI_IN_APIS,
                                                [NAI_CULPRIT_OVERHEAD] = NAI_IN_OVERHEAD,
                                                [NAI_CULPRIT_OSRT] = NAI_IN_OSRT,
                                                [NAI_CULPRIT_RANGE] = NAI_IN_NVTX};
  static const char *const remarks[] = {[NAI_REMARK_AFTER_CALL] = "after the call returned",
                                        [NAI_REMARK_NO_LAUNCH] = "launch not in the trace",
                                        [NAI_REMARK_NO_OPERATION] = "end of the window"};
  char room[NAI_KIND_NAME_MAX];
  switch (what->source) {
  case NAI_CULPRIT_NOTHING:
    break;
  case NAI_CULPRIT_WAIT:
    print_wait(out, m, what->id);
    break;
  case NAI_CULPRIT_COPY:
    nai_buf_puts(out, nai_model_kind_name(room, m, NAI_LABEL_COPY, (int32_t)what->id));
    break;
  case NAI_CULPRIT_REMARK:
    nai_buf_puts(out, remarks[what->id]);
    break;
  case NAI_CULPRIT_HOST:
    nai_buf_puts(out, nai_host_function_name(m, what->id));
    break;
  default:
    nai_buf_puts(out, nai_strings_get(&m->tables[tables[what->source]]->strings, what->id));
  }
}

/* --- shares ----------------------------------------------------------------------------------- */

enum { ID_BITS = 32, SOURCE_BITS = 8 };

void nai_idle_shares_free(struct nai_idle_shares *s) {
  nai_keyset_free(&s->keys);
  free(s->ns);
  *s = (struct nai_idle_shares){0};
}

void nai_idle_share(struct nai_idle_shares *s, enum nai_idle_cause cause, enum nai_idle_source source, uint32_t id,
                    int64_t ns) {
  bool added;
  int64_t key = ((int64_t)cause << SOURCE_BITS | source) << ID_BITS | id;
  uint32_t index = nai_keyset_add(&s->keys, key, &added);
  s->oom |= s->keys.oom || !nai_array_room(&s->ns, &s->capacity, index, sizeof *s->ns);
  if (!s->oom)
    s->ns[index] = (added ? 0 : s->ns[index]) + ns;
}

struct nai_idle_culprit nai_idle_share_at(enum nai_idle_cause *cause, const struct nai_idle_shares *s, uint32_t index) {
  int64_t key = s->keys.keys[index];
  *cause = (enum nai_idle_cause)(key >> (SOURCE_BITS + ID_BITS));
  return (struct nai_idle_culprit){(enum nai_idle_source)(key >> ID_BITS & ((1 << SOURCE_BITS) - 1)), (uint32_t)key,
                                   s->ns[index]};
}

struct nai_idle_culprit nai_idle_largest(const struct nai_idle_shares *s, enum nai_idle_cause cause) {
  struct nai_idle_culprit largest = {NAI_CULPRIT_NOTHING, 0, 0};
  for (uint32_t i = 0; i < s->keys.count && !s->oom; i++) {
    enum nai_idle_cause of;
    struct nai_idle_culprit share = nai_idle_share_at(&of, s, i);
    if (of == cause && share.ns > largest.ns)
      largest = share;
  }
  return largest;
}

/* --- gaps ------------------------------------------------------------------------------------- */

struct nai_idle_gap nai_idle_first(uint32_t gpu) {
  return (struct nai_idle_gap){.gpu = gpu, .number = UINT32_MAX, .launch = NAI_NO_ROW};
}

/* The first operation that starts when a gap ends ends it, even one without length. Each interval before the gap has an
 * operation at least. */
struct nai_idle_gap nai_idle_gap_at(const struct nai_model *m, uint32_t g, uint32_t number) {
  const struct nai_gpu *gpu = &m->gpus[g];
  struct nai_interval span = nai_idle_span(gpu, number);
  return nai_idle_gap_of(m, g, number, span, nai_gpu_op_behind(gpu, number, span.end));
}

struct drain_place {
  const struct nai_idle_drain *drains;
  uint32_t gap;
};

static bool drain_before(const void *ctx, size_t i) {
  const struct drain_place *place = ctx;
  return place->drains[i].gap < place->gap;
}

const struct nai_idle_drain *nai_idle_drain_of(const struct nai_model *m, const struct nai_idle_gap *gap) {
  const struct nai_gpu_idle *idle = &m->idle[gap->gpu];
  size_t i = nai_search(0, idle->drain_count, drain_before, &(struct drain_place){idle->drains, gap->number});
  return i < idle->drain_count && idle->drains[i].gap == gap->number ? &idle->drains[i] : NULL;
}

enum nai_idle_cause nai_idle_largest_part(const struct nai_idle_split *split) {
  int largest = 0;
  for (int c = 1; c < NAI_IDLE_CAUSES; c++)
    if (split->ns[c] > split->ns[largest])
      largest = c;
  return (enum nai_idle_cause)largest;
}

double nai_launch_floor(int64_t *negated, uint32_t count) {
  return count < NAI_LAUNCH_FLOOR_FEWEST ? (double)NAN : -nai_stats_of(negated, count).p90;
}
