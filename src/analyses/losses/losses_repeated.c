/* Copies of the same size again and again: what comes back as it went out, what a chain of layers gets one after the
 * other, and the rest. */
#include "analyses/losses/losses.h"

#include "base/fmt.h"
#include "model/nvtx/nvtx_place.h"

enum { REPEATS = 5 };

/* Copies of one loss. */
struct again {
  struct nai_loss loss;
  struct nai_buf detail;
  char room[NAI_KIND_NAME_MAX];
  bool *goes; /* per operation */
  int64_t sizes;
};
static void again_free(struct again *a) { nai_buf_free(&a->detail); }

static int again_new(struct again *a, const struct nai_loss_gpu *g, const char *what, struct nai_err *err) {
  *a = (struct again){.loss = {.what = what, .base_ns = g->copy_ns}};
  return NAI_NEW(a->goes, g->arena, g->gpu->op_count, err);
}

/* Adds the copies order[0..n), which are the same. */
static void add_same(struct again *a, const struct nai_loss_gpu *g, const uint32_t *order, uint32_t n) {
  int64_t ns = 0;
  for (uint32_t i = 0; i < n; i++) {
    const struct nai_op *op = &g->gpu->ops[order[i]];
    ns += op->end - op->start;
    nai_loss_note_longest(&a->loss, g, order[i]);
    a->loss.count++;
    a->goes[order[i]] = true;
  }
  a->loss.ns += ns;
  a->sizes++;
  if (a->loss.example && ns <= a->loss.example_ns)
    return;
  uint32_t row = g->gpu->ops[order[0]].row;
  a->loss.example = nai_model_direction(a->room, g->m, row);
  a->loss.example_ns = ns;
  nai_buf_clear(&a->detail);
  nai_fmt_count(&a->detail, n);
  nai_buf_puts(&a->detail, " copies of ");
  nai_fmt_count(&a->detail, nai_at(&g->m->memops.bytes, row));
  nai_buf_puts(&a->detail, " bytes each");
}

/* What nothing hides of the operations that `goes` marks. */
static int unhidden_of(int64_t *ns, const struct nai_loss_gpu *g, const bool *goes, struct nai_err *err) {
  struct nai_intervals all = {.arena = g->arena}, exposed = {.arena = g->arena};
  for (uint32_t i = 0; i < g->gpu->op_count; i++)
    if (goes[i])
      nai_intervals_add(&all, g->gpu->ops[i].start, g->gpu->ops[i].end);
  nai_intervals_intersect(&exposed, &all, &g->gpu->exposed_copy);
  *ns = nai_intervals_total_ns(&exposed);
  return exposed.oom ? nai_err_nomem(err) : NAI_OK;
}

static int put(const struct nai_loss_gpu *g, struct again *a, struct nai_err *err) {
  int64_t gain;
  if (!a->loss.count)
    return NAI_OK;
  NAI_TRY(unhidden_of(&gain, g, a->goes, err));
  a->loss.unavoidable_ns = a->loss.ns - gain;
  if (a->sizes > 1)
    nai_buf_printf(&a->detail, ", and %" PRId64 " other %s", a->sizes - 1,
                   a->sizes == 2 ? "size that repeats" : "sizes that repeat");
  a->loss.detail = &a->detail;
  nai_loss_put(g, &a->loss);
  return NAI_OK;
}

/* --- out and back ------------------------------------------------------------------------------- */

/* No host rewrites memory faster than this: what comes back sooner is what went out. */
enum { HOST_BYTES_PER_NS = 50 };

struct trips {
  const struct nai_loss_gpu *g;
  struct nai_keyset sizes;
  uint32_t *first, *last; /* per size: copies to the host that none came back from yet, + 1 */
  uint32_t *next;         /* per copy of g->copies: the next of its size, + 1 */
  int64_t *before;        /* per copy: how long those before it took */
  uint32_t capacity, last_capacity;
  uint32_t *pairs, count; /* copies, out and back in turn */
};

static int64_t copy_ns(const struct nai_loss_gpu *g, uint32_t copy) {
  const struct nai_op *op = &g->gpu->ops[g->copies[copy]];
  return op->end - op->start;
}

/* Whether the host had no time to write other data between the two: time in which it copied apart. */
static bool is_unchanged(const struct trips *t, uint32_t out, uint32_t back, int64_t bytes) {
  const struct nai_gpu *gpu = t->g->gpu;
  int64_t between = gpu->ops[t->g->copies[back]].start - gpu->ops[t->g->copies[out]].end;
  int64_t copying = t->before[back] - t->before[out] - copy_ns(t->g, out);
  return between - copying <= bytes / HOST_BYTES_PER_NS;
}

static int take_copy(struct trips *t, uint32_t copy, struct nai_err *err) {
  uint32_t op = t->g->copies[copy];
  int64_t bytes = nai_at(&t->g->m->memops.bytes, t->g->gpu->ops[op].row);
  bool added;
  if (!nai_loss_is_transfer(t->g, op) || bytes <= NAI_TINY_COPY)
    return NAI_OK;
  uint32_t size = nai_keyset_add(&t->sizes, bytes, &added);
  NAI_TRY(nai_memory_check(!t->sizes.oom, err));
  NAI_TRY(NAI_ROOM(t->first, t->capacity, size, t->g->arena, err));
  NAI_TRY(NAI_ROOM(t->last, t->last_capacity, size, t->g->arena, err));
  if (added)
    t->first[size] = t->last[size] = 0;
  if (nai_loss_direction(t->g, op) == NAI_DEVICE_TO_HOST) {
    *(t->first[size] ? &t->next[t->last[size] - 1] : &t->first[size]) = copy + 1;
    t->last[size] = copy + 1;
    return NAI_OK;
  }
  while (t->first[size]) { /* what is too old for this copy is too old for all later ones */
    uint32_t out = t->first[size] - 1;
    t->first[size] = t->next[out];
    if (!is_unchanged(t, out, copy, bytes))
      continue;
    t->pairs[t->count++] = t->g->copies[out];
    t->pairs[t->count++] = op;
    break;
  }
  return NAI_OK;
}

static int add_round_trips(const struct nai_loss_gpu *g, bool *gone, struct nai_err *err) {
  struct trips t = {.g = g, .sizes = {.arena = g->arena}};
  NAI_SCOPED(again) a = {0};
  NAI_TRY(again_new(&a, g, "round_trips", err));
  NAI_TRY(NAI_NEW(t.next, g->arena, g->copy_count, err));
  NAI_TRY(NAI_NEW(t.before, g->arena, g->copy_count, err));
  NAI_TRY(NAI_NEW(t.pairs, g->arena, (size_t)g->copy_count + 1, err));
  for (uint32_t i = 0; i < g->copy_count; i++)
    t.before[i] = i ? t.before[i - 1] + copy_ns(g, i - 1) : 0;
  for (uint32_t i = 0; i < g->copy_count; i++)
    NAI_TRY(take_copy(&t, i, err));
  if (t.count < 2 * REPEATS)
    return NAI_OK;
  add_same(&a, g, t.pairs, t.count);
  nai_buf_clear(&a.detail);
  nai_fmt_count(&a.detail, t.count / 2);
  nai_buf_puts(&a.detail, " times out and back, with no time for the host to write other data");
  for (uint32_t i = 0; i < t.count; i++)
    gone[t.pairs[i]] = true;
  return put(g, &a, err);
}

/* --- layer by layer, and the same again ----------------------------------------------------------- */

static const struct nai_nvtx_node *node_of(const struct nai_loss_gpu *g, uint32_t op) {
  uint32_t api = nai_model_op_api(g->m, &g->gpu->ops[op]);
  return api == NAI_NO_ROW ? NULL : nai_model_call_node(g->m, api);
}

static int compare_copies(const void *pa, const void *pb, void *gpu) {
  const struct nai_loss_gpu *g = gpu;
  const struct MEMOP_EVENTS_columns *v = &g->m->memops;
  uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
  uint32_t row_a = g->gpu->ops[a].row, row_b = g->gpu->ops[b].row;
  const struct nai_column *const keys[] = {&v->copy_kind, &v->src_kind, &v->dst_kind, &v->bytes};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (nai_at(keys[i], row_a) != nai_at(keys[i], row_b))
      return nai_at(keys[i], row_a) < nai_at(keys[i], row_b) ? -1 : 1;
  return (a > b) - (a < b);
}

static bool same_copy(const struct MEMOP_EVENTS_columns *v, uint32_t a, uint32_t b) {
  return nai_at(&v->copy_kind, a) == nai_at(&v->copy_kind, b) && nai_at(&v->src_kind, a) == nai_at(&v->src_kind, b) &&
         nai_at(&v->dst_kind, a) == nai_at(&v->dst_kind, b) && nai_at(&v->bytes, a) == nai_at(&v->bytes, b);
}

/* Whether the innermost range of a path that has a number counts what repeats, not what differs: a step, not the layers
 * in it. */
static bool counts_time(const char *path) {
  static const char *const words[] = {"step", "iter", "batch", "epoch", "frame", "request"};
  const char *number = strrchr(path, '#'), *begin = path;
  for (const char *inner = path; number && (inner = strstr(inner, " > ")) && inner < number; inner += 3)
    begin = inner + 3;
  const char *end = number ? number + strcspn(number, ">") : path + strlen(path);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const char *found = strcasestr(begin, words[i]);
    if (found && found < end)
      return true;
  }
  return false;
}

/* Copies to the GPU of one size in ranges that only a number tells apart: of the layers of a network, each has its own
 * data. *place: how these ranges are called. */
static int are_of_layers(bool *layers, struct nai_buf *place, const struct nai_loss_gpu *g, const uint32_t *order,
                         uint32_t n, struct nai_err *err) {
  struct nai_keyset nodes = {.arena = g->arena};
  NAI_SCOPED(nai_buf) name = {0};
  *layers = false;
  nai_buf_clear(place);
  for (uint32_t i = 0; i < n; i++) {
    const struct nai_nvtx_node *node = node_of(g, order[i]);
    bool added;
    if (!node || nai_loss_direction(g, order[i]) != NAI_HOST_TO_DEVICE)
      return NAI_OK;
    nai_keyset_add(&nodes, node - g->m->nodes, &added);
    if (!added)
      continue;
    nai_buf_clear(&name);
    nai_nvtx_put_path(&name, g->m, node);
    NAI_TRY(nai_buf_check(&name, err));
    if (!place->len)
      nai_buf_puts(place, nai_buf_str(&name));
    if (strcmp(nai_buf_str(place), nai_buf_str(&name)) != 0)
      return NAI_OK;
  }
  *layers = nodes.count >= REPEATS && !counts_time(nai_buf_str(place));
  return nodes.oom ? nai_err_nomem(err) : nai_buf_check(place, err);
}

static int add_group(struct again *repeated, struct again *streamed, const struct nai_loss_gpu *g,
                     const uint32_t *order, uint32_t n, struct nai_err *err) {
  NAI_SCOPED(nai_buf) place = {0};
  bool layers;
  NAI_TRY(are_of_layers(&layers, &place, g, order, n, err));
  add_same(layers ? streamed : repeated, g, order, n);
  if (layers && streamed->loss.example && strstr(nai_buf_str(&streamed->detail), " under ") == NULL)
    nai_buf_printf(&streamed->detail, " under %s", nai_buf_str(&place));
  return NAI_OK;
}

int nai_losses_of_repeats(const struct nai_loss_gpu *g, struct nai_err *err) {
  NAI_SCOPED(again) repeated = {0};
  NAI_SCOPED(again) streamed = {0};
  uint32_t n = 0, *order;
  bool *gone;
  NAI_TRY(NAI_NEW(order, g->arena, g->copy_count, err));
  NAI_TRY(NAI_NEW(gone, g->arena, g->gpu->op_count, err));
  NAI_TRY(again_new(&repeated, g, "repeated_copies", err));
  NAI_TRY(again_new(&streamed, g, "streamed_copies", err));
  NAI_TRY(add_round_trips(g, gone, err));
  for (uint32_t i = 0; i < g->copy_count; i++)
    if (nai_loss_is_transfer(g, g->copies[i]) && !gone[g->copies[i]])
      order[n++] = g->copies[i];
  qsort_r(order, n, sizeof *order, compare_copies, (void *)g);
  for (uint32_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n && same_copy(&g->m->memops, g->gpu->ops[order[i]].row, g->gpu->ops[order[j]].row); j++)
      ;
    if (j - i >= REPEATS)
      NAI_TRY(add_group(&repeated, &streamed, g, order + i, j - i, err));
  }
  NAI_TRY(put(g, &repeated, err));
  return put(g, &streamed, err);
}
