/* What is a communicator for? As the user says; else by the names of its streams, and by the ranges around its calls;
 * by nothing else: sizes and counts are alike where purposes differ. */
#include "analyses/comm/comm_purpose.h"

#include "base/buf.h"
#include "config/patterns.h"
#include "model/calls/stream_info.h"

enum { MIN_KERNELS = 8, SURE_PCT = 90, LIKELY_PCT = 60, PART_PCT = 30 };

/* Ranges that programs put around what they communicate, outermost meaning first: a name holds the text. */
static const struct {
  const char *range, *purpose;
  bool likely;            /* others communicate there, too */
  const char *op, *of_op; /* what an operation of this name is for instead */
} ranges[] = {
    {"FSDP::all_gather", "data (shards)"},
    {"FSDP::post_backward_reduce", "data (shards)", false, "AllReduce", "data (replicas)"},
    {"FullyShardedDataParallel.", "data (shards)", false, "AllReduce", "data (replicas)"},
    {"all_gather_coalesced", "data (ZeRO)"},
    {"reduce_scatter_coalesced", "data (ZeRO)"},
    {"__avg_scatter_contiguous_grads", "data (ZeRO)"},
    {"all_to_all_quant_reduce", "data (ZeRO)"},
    {"send_forward", "pipeline"},
    {"recv_forward", "pipeline"},
    {"send_backward", "pipeline"},
    {"recv_backward", "pipeline"},
    {"p2p_communication", "pipeline"},
    {"start_grad_sync", "data"},
    {"start_param_sync", "data"},
    {"finalize_model_grads", "data"},
    {"DistributedDataParallel.", "data"},
    {"token_dispatch", "expert"},
    {"token_combine", "expert"},
    {"linear_qkv", "tensor", false, "SendRecv", NULL},
    {"linear_proj", "tensor", false, "SendRecv", NULL},
    {"linear_fc", "tensor", false, "SendRecv", NULL},
    {"core_attention", "context", true, "AllReduce", NULL},
    {"flash_attn", "context", true, "AllReduce", NULL},
};
enum { RANGES = sizeof ranges / sizeof *ranges };

/* Groups as Megatron names their streams. */
static const struct {
  const char *begin, *purpose;
} names[] = {{"EXPERT_TENSOR_AND_MODEL_", "expert and tensor"},
             {"EXPERT_DATA_", "data (experts)"},
             {"EXPERT_MODEL_", "expert"},
             {"TENSOR_MODEL_", "tensor"},
             {"PIPELINE_MODEL_", "pipeline"},
             {"CONTEXT_", "context"},
             {"DATA_", "data"}};

/* NULL where the name tells nothing. */
static const char *named(const char *stream) {
  for (size_t i = 0; stream && strstr(stream, "PARALLEL_GROUP") && i < sizeof names / sizeof *names; i++)
    if (strncmp(stream, names[i].begin, strlen(names[i].begin)) == 0)
      return names[i].purpose;
  return NULL;
}

static const struct nai_nvtx_node *node_of(const struct nai_model *m, const struct nai_comm_item *item) {
  uint32_t api = m->kernel_api[item->kernel];
  return api == NAI_NO_ROW ? NULL : nai_model_call_node(m, api);
}
static const struct nai_nvtx_node *outer(const struct nai_model *m, const struct nai_nvtx_node *node) {
  return node->parent == NAI_NO_ROW ? NULL : &m->nodes[node->parent];
}
static const char *name_of(const struct nai_model *m, const struct nai_nvtx_node *node) {
  return nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, node->name);
}

/* Number of the innermost range around the call that tells, -1 for none. */
static int range_of(const struct nai_model *m, const struct nai_comm_item *item) {
  for (const struct nai_nvtx_node *node = node_of(m, item); node; node = outer(m, node))
    for (int i = 0; i < RANGES; i++)
      if (strstr(name_of(m, node), ranges[i].range))
        return i;
  return -1;
}

const char *nai_comm_framework_op(const struct nai_model *m, const struct nai_comm_item *item,
                                  struct nai_arena *arena) {
  const struct nai_nvtx_node *node = node_of(m, item);
  while (node && strncmp(name_of(m, node), "nccl:", 5) != 0)
    node = outer(m, node);
  return node ? nai_arena_printf(arena, "%.*s", (int)strcspn(name_of(m, node), ","), name_of(m, node)) : NULL;
}

static const char *purpose_in(int range, const struct nai_comm_item *item) {
  bool other = range >= 0 && ranges[range].op && item->op && strcmp(ranges[range].op, item->op) == 0;
  return range < 0 ? NULL : other ? ranges[range].of_op : ranges[range].purpose;
}

struct tally {
  const char *purpose;
  int range; /* the first that told */
  uint32_t count;
};

/* By how many kernels; ties by name. */
NAI_ORDER(by_count, struct tally, {b->count, a->count}, {strcmp(a->purpose, b->purpose), 0})

/* By a pattern of the user's for "size 2; 0: GPU 0, 1: GPU 1; stream 27 its name". */
static bool is_told(struct nai_comm_purpose *out, const struct nai_model *m, const uint32_t *items, uint32_t count,
                    const char *members, struct nai_arena *arena) {
  struct nai_keyset streams = {.arena = arena};
  NAI_SCOPED(nai_buf) text = {0};
  bool added;
  if (!m->comm_names)
    return false;
  nai_buf_printf(&text, "size %" PRId64 "; %s", m->comm->items[items[0]].ranks, members);
  for (uint32_t i = 0; i < count; i++) {
    const struct nai_comm_stream *on = &m->comm->streams[m->comm->items[items[i]].stream];
    const char *name = nai_stream_info_of(m, on->process, on->context, on->id).name;
    nai_keyset_add(&streams, m->comm->items[items[i]].stream, &added);
    if (added)
      nai_buf_printf(&text, "; stream %" PRId32 "%s%s", on->id, name ? " " : "", name ? name : "");
  }
  int class = nai_patterns_match(m->comm_names, nai_buf_str(&text));
  if (class >= 0)
    *out = (struct nai_comm_purpose){nai_patterns_class(m->comm_names, class), "told", "named in --comm-names"};
  arena->oom |= text.oom || streams.oom;
  return class >= 0;
}

void nai_comm_purpose_of(struct nai_comm_purpose *out, const struct nai_model *m, const uint32_t *items, uint32_t count,
                         const char *members, struct nai_arena *arena) {
  struct tally tallies[2 * RANGES];
  uint32_t n = 0;
  const char *by_name = NULL, *stream = NULL;
  *out = (struct nai_comm_purpose){.confidence = "unknown"};
  if (is_told(out, m, items, count, members, arena))
    return;
  for (uint32_t i = 0; i < count; i++) {
    const struct nai_comm_item *item = &m->comm->items[items[i]];
    const struct nai_comm_stream *on = &m->comm->streams[item->stream];
    int range = range_of(m, item);
    const char *purpose = purpose_in(range, item);
    if (!by_name && (i == 0 || on != &m->comm->streams[m->comm->items[items[i - 1]].stream])) {
      stream = nai_stream_info_of(m, on->process, on->context, on->id).name;
      by_name = named(stream);
    }
    uint32_t k = 0;
    while (purpose && k < n && strcmp(tallies[k].purpose, purpose) != 0)
      k++;
    if (purpose && k == n)
      tallies[n++] = (struct tally){purpose, range, 0};
    if (purpose)
      tallies[k].count++;
  }
  qsort(tallies, n, sizeof *tallies, by_count);
  uint32_t told = n ? tallies[0].count : 0;
  bool both = n > 1 && 100 * tallies[1].count >= PART_PCT * count && 100 * told >= PART_PCT * count;
  told += both ? tallies[1].count : 0;
  bool enough = n && count >= MIN_KERNELS && 100 * (uint64_t)told >= (uint64_t)LIKELY_PCT * count;
  const char *called = !enough ? NULL
                     : both    ? nai_arena_printf(arena, "%s and %s", tallies[0].purpose, tallies[1].purpose)
                               : tallies[0].purpose;
  const char *share =
      !enough ? NULL : nai_arena_printf(arena, "%u of %u kernels in %s", told, count, ranges[tallies[0].range].range);
  if (by_name && called && strncmp(by_name, called, strlen(by_name)) != 0) {
    out->confidence = "conflict";
    out->evidence = nai_arena_printf(arena, "stream %s; %s", stream, share);
    return;
  }
  out->purpose = by_name ? by_name : called;
  out->evidence = by_name ? nai_arena_printf(arena, "stream %s", stream) : share;
  if (out->purpose)
    out->confidence = by_name                                                                                ? "named"
                    : 100 * (uint64_t)told >= (uint64_t)SURE_PCT * count && !ranges[tallies[0].range].likely ? "called"
                                                                                                             : "likely";
}
