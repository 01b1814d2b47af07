/* What is a communicator for? As the user says; else by its name or those of its streams, and by the ranges around its
 * calls; by nothing else: sizes and counts are alike where purposes differ. */
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

/* Groups as Megatron names them. */
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
static const char *named(const char *name) {
  for (size_t i = 0; name && strstr(name, "PARALLEL_GROUP") && i < sizeof names / sizeof *names; i++)
    if (strncmp(name, names[i].begin, strlen(names[i].begin)) == 0)
      return names[i].purpose;
  return NULL;
}

static const struct nai_comm_stream *stream_of(const struct nai_model *m, uint32_t item) {
  return &m->comm->streams[m->comm->items[item].stream];
}
static const char *stream_name(const struct nai_model *m, uint32_t item) {
  const struct nai_comm_stream *s = stream_of(m, item);
  return nai_stream_info_of(m, s->process, s->context, s->id).name;
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

/* By a pattern of the user's for "size 2; 0: GPU 0, 1: GPU 1; name its name; stream 27 its name". */
static bool is_told(struct nai_comm_purpose *out, const struct nai_model *m, const uint32_t *items, uint32_t count,
                    const char *members, struct nai_arena *arena) {
  struct nai_keyset streams = {.arena = arena};
  NAI_SCOPED(nai_buf) text = {0};
  bool added;
  if (!m->comm_names)
    return false;
  nai_buf_printf(&text, "size %" PRId64 "; %s", m->comm->items[items[0]].ranks, members);
  if (out->name)
    nai_buf_printf(&text, "; name %s", out->name);
  for (uint32_t i = 0; i < count; i++) {
    const char *name = stream_name(m, items[i]);
    nai_keyset_add(&streams, m->comm->items[items[i]].stream, &added);
    if (added)
      nai_buf_printf(&text, "; stream %" PRId32 "%s%s", stream_of(m, items[i])->id, name ? " " : "", name ? name : "");
  }
  int class = nai_patterns_match(m->comm_names, nai_buf_str(&text));
  if (class >= 0) {
    out->purpose = nai_patterns_class(m->comm_names, class);
    out->confidence = "told";
    out->evidence = "named in --comm-names";
  }
  arena->oom |= text.oom || streams.oom;
  return class >= 0;
}

/* By its own name, else by that of the first stream that tells. *evidence: which name, NULL where none tells. */
static const char *by_names(const char **evidence, const struct nai_model *m, const uint32_t *items, uint32_t count,
                            const char *own, struct nai_arena *arena) {
  const char *purpose = named(own), *name = own, *of = "name";
  for (uint32_t i = 0; !purpose && i < count; i++)
    if (i == 0 || stream_of(m, items[i]) != stream_of(m, items[i - 1])) {
      name = stream_name(m, items[i]);
      of = "stream";
      purpose = named(name);
    }
  *evidence = purpose ? nai_arena_printf(arena, "%s %s", of, name) : NULL;
  return purpose;
}

/* By the ranges around its calls. *sure: nine of ten are in some that nobody else uses. */
static const char *by_ranges(const char **evidence, bool *sure, const struct nai_model *m, const uint32_t *items,
                             uint32_t count, struct nai_arena *arena) {
  struct tally tallies[2 * RANGES];
  uint32_t n = 0;
  for (uint32_t i = 0; i < count; i++) {
    const struct nai_comm_item *item = &m->comm->items[items[i]];
    int range = range_of(m, item);
    const char *purpose = purpose_in(range, item);
    uint32_t k = 0;
    while (purpose && k < n && strcmp(tallies[k].purpose, purpose) != 0)
      k++;
    if (purpose && k == n)
      tallies[n++] = (struct tally){purpose, range, 0};
    if (purpose)
      tallies[k].count++;
  }
  qsort(tallies, n, sizeof *tallies, by_count);
  uint64_t all = count, told = n ? tallies[0].count : 0;
  bool both = n > 1 && 100 * tallies[1].count >= PART_PCT * all && 100 * told >= PART_PCT * all;
  told += both ? tallies[1].count : 0;
  if (!n || count < MIN_KERNELS || 100 * told < LIKELY_PCT * all)
    return NULL;
  *sure = 100 * told >= SURE_PCT * all && !ranges[tallies[0].range].likely;
  *evidence = nai_arena_printf(arena, "%" PRIu64 " of %u kernels in %s", told, count, ranges[tallies[0].range].range);
  return both ? nai_arena_printf(arena, "%s and %s", tallies[0].purpose, tallies[1].purpose) : tallies[0].purpose;
}

void nai_comm_purpose_of(struct nai_comm_purpose *out, const struct nai_model *m, const uint32_t *items, uint32_t count,
                         const char *members, struct nai_arena *arena) {
  const char *name, *share;
  bool sure = false;
  *out = (struct nai_comm_purpose){.name = nai_comm_given_name(m, &m->comm->items[items[0]]), .confidence = "unknown"};
  if (is_told(out, m, items, count, members, arena))
    return;
  const char *named = by_names(&name, m, items, count, out->name, arena);
  const char *called = by_ranges(&share, &sure, m, items, count, arena);
  if (named && called && strncmp(named, called, strlen(named)) != 0) {
    out->confidence = "conflict";
    out->evidence = nai_arena_printf(arena, "%s; %s", name, share);
  } else if (named || called) {
    out->purpose = named ? named : called;
    out->confidence = named ? "named" : sure ? "called" : "likely";
    out->evidence = named ? name : share;
  }
}
