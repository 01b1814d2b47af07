/* Which communication kernels of different GPUs are one collective? Kernels of one communicator, or where its id is not
 * known of one stream, are a line; lines of different GPUs are matched kernel by kernel, or not at all. */
#include "analyses/comm/comm.h"

#include "base/keyset.h"
#include "tables/kernel_configs.h"

#include <stdlib.h>
#include <string.h>

/* --- lines ------------------------------------------------------------------------------------ */

/* group: number of communicator and pair */
static int64_t line_key(const struct nai_comm_item *item, uint32_t group) {
  return item->known_comm ? (int64_t)((uint64_t)1 << 62 | (uint64_t)item->gpu << 32 | group) : (int64_t)item->stream;
}

static int number_lines(struct nai_comm *c, struct nai_err *err) {
  struct nai_keyset comms = {0}, pairs = {0}, groups = {0}, keys = {0};
  for (uint32_t i = 0; i < c->count; i++) {
    bool added;
    uint32_t comm = c->items[i].known_comm ? nai_keyset_add(&comms, c->items[i].comm, &added) : 0;
    uint32_t pair = nai_keyset_add(&pairs, c->items[i].pair, &added);
    uint32_t group = nai_keyset_add(&groups, nai_key_pair(comm, pair), &added);
    c->items[i].line = nai_keyset_add(&keys, line_key(&c->items[i], group), &added);
  }
  int rc = comms.oom || pairs.oom || groups.oom || keys.oom ? nai_err_nomem(err) : NAI_OK;
  c->line_count = rc ? 0 : keys.count;
  nai_keyset_free(&comms);
  nai_keyset_free(&pairs);
  nai_keyset_free(&groups);
  nai_keyset_free(&keys);
  return rc;
}

int nai_comm_lines(struct nai_comm *c, struct nai_err *err) {
  int rc = number_lines(c, err);
  if (rc)
    return rc;
  c->lines = calloc((size_t)c->line_count + 1, sizeof *c->lines);
  c->line_items = malloc(((size_t)c->count + 1) * sizeof *c->line_items);
  if (!c->lines || !c->line_items)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < c->count; i++)
    c->lines[c->items[i].line].count++;
  for (uint32_t l = 0, at = 0; l < c->line_count; at += c->lines[l++].count)
    c->lines[l].items = c->line_items + at;
  for (uint32_t l = 0; l < c->line_count; l++)
    c->lines[l].count = 0;
  for (uint32_t i = 0; i < c->count; i++) { /* by GPU and start */
    struct nai_comm_line *line = &c->lines[c->items[i].line];
    line->items[line->count++] = i;
    line->gpu = c->items[i].gpu;
    line->stream = c->items[i].stream;
    line->known_comm = c->items[i].known_comm;
    line->comm = c->items[i].comm;
    line->pair = c->items[i].pair;
    line->mad = NAI_NULL_I64;
  }
  return NAI_OK;
}

/* --- kernel by kernel ------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* Whether two kernels may be one collective: same operation on the same type with the same grid. */
static bool alike(const struct nai_comm *c, uint32_t a, uint32_t b) {
  const struct nai_comm_item *x = &c->items[a], *y = &c->items[b];
  if (!same_text(x->op, y->op) || !same_text(nai_comm_name_of(c, x)->dtype, nai_comm_name_of(c, y)->dtype) ||
      !same_text(nai_comm_name_of(c, x)->family, nai_comm_name_of(c, y)->family))
    return false;
  const struct nai_table *configs = c->m->tables[NAI_IN_KERNEL_CONFIGS];
  int64_t p = nai_at(&c->m->kernels.config, x->kernel), q = nai_at(&c->m->kernels.config, y->kernel);
  for (int column = KERNEL_CONFIGS_grid_x; p >= 0 && q >= 0 && p != q && column <= KERNEL_CONFIGS_grid_z; column++)
    if (nai_get_i64(configs, p, column) != nai_get_i64(configs, q, column))
      return false;
  return true;
}

static bool overlap(const struct nai_comm_item *a, const struct nai_comm_item *b) {
  return a->start < b->end && b->start < a->end;
}

/* partners[k * stride] = item of `other` that belongs to the k-th of `reference`: the k-th one where both ran the same
 * sequence, else those that are alike and run at the same time. Returns how many have none. */
static uint32_t pair(uint32_t *partners, uint32_t stride, const struct nai_comm *c,
                     const struct nai_comm_line *reference, const struct nai_comm_line *other) {
  uint32_t a = 0, b = 0, alone = 0;
  bool same = reference->count == other->count;
  for (uint32_t k = 0; same && k < reference->count; k++)
    same = alike(c, reference->items[k], other->items[k]);
  for (uint32_t k = 0; k < reference->count; k++)
    partners[(size_t)k * stride] = same ? other->items[k] : NAI_NO_ROW;
  while (!same && a < reference->count && b < other->count) {
    const struct nai_comm_item *x = &c->items[reference->items[a]], *y = &c->items[other->items[b]];
    if (overlap(x, y) && alike(c, reference->items[a], other->items[b])) {
      partners[(size_t)a++ * stride] = other->items[b++];
      continue;
    }
    alone++;
    if (x->end <= y->end)
      a++;
    else
      b++;
  }
  return same ? 0 : alone + (reference->count - a) + (other->count - b);
}

/* --- communicators ---------------------------------------------------------------------------- */

static const char one_gpu[] = "no other GPU in the trace has a counterpart",
                  ambiguous[] = "several streams could belong together",
                  different[] = "the GPUs did not run the same collectives",
                  peers[] = "point-to-point among more than two GPUs, and not each with one peer that is known",
                  too_many[] = "too many streams and communicators",
                  apart[] = "kernels of the GPUs do not end together";

static bool point_to_point(const struct nai_comm *c, const struct nai_comm_line *line) {
  for (uint32_t i = 0; i < line->count; i++)
    if (same_text(c->items[line->items[i]].op, "SendRecv"))
      return true;
  return false;
}

/* Lines that were found to be one communicator, the first of which the others were compared with. */
struct cluster {
  struct nai_comm *c;
  struct nai_comm_line **lines;
  uint32_t count, stride;
  uint32_t *partners; /* of the reference's k-th kernel in line i: partners[k * stride + i] */
};

/* Whether the line ran the same as the first one and ends together with it; column `count` of partners then has its
 * kernels. */
static int fits(bool *fit, struct cluster *k, struct nai_comm_line *line, struct nai_err *err) {
  struct nai_comm_line *reference = k->lines[0];
  uint32_t longest = line->count > reference->count ? line->count : reference->count;
  uint32_t shortest = line->count < reference->count ? line->count : reference->count;
  *fit = false;
  line->refused = different;
  if ((uint64_t)(longest - shortest) * 100 > longest)
    return NAI_OK;
  uint32_t *to = k->partners + k->count, alone = pair(to, k->stride, k->c, reference, line);
  if ((uint64_t)alone * 100 > longest)
    return NAI_OK;
  int rc = nai_comm_clock(fit, &line->correction, &line->mad, k->c, k->partners, to, k->stride, reference->count, err);
  line->refused = *fit ? NULL : apart;
  return rc;
}

/* Of the lines of one GPU the one that fits joins; where several do, nothing tells which it is. */
static int join_gpu(struct cluster *k, struct nai_comm_line **lines, uint32_t count, struct nai_err *err) {
  struct nai_comm_line *one = NULL;
  uint32_t fitting = 0;
  int rc = NAI_OK;
  for (uint32_t i = 0; !rc && i < count; i++) {
    bool fit;
    rc = fits(&fit, k, lines[i], err);
    one = !rc && fit ? lines[i] : one;
    fitting += !rc && fit;
  }
  for (uint32_t i = 0; fitting > 1 && i < count; i++)
    lines[i]->refused = lines[i]->refused ? lines[i]->refused : ambiguous;
  if (!rc && fitting == 1) {
    bool fit;
    rc = fits(&fit, k, one, err);
    k->lines[k->count++] = one;
  }
  return rc;
}

static uint32_t lines_of_gpu(struct nai_comm_line **lines, uint32_t count) {
  uint32_t n = 0;
  while (n < count && lines[n]->gpu == lines[0]->gpu)
    n++;
  return n;
}

/* The first line with those of other GPUs that belong to it. */
static int match_first(struct nai_comm *c, struct nai_comm_line **lines, uint32_t count, struct nai_err *err) {
  uint32_t own = lines_of_gpu(lines, count), rows = lines[0]->count;
  struct cluster k = {.c = c, .count = 1, .stride = 1};
  for (uint32_t i = own; i < count; i += lines_of_gpu(lines + i, count - i))
    k.stride++;
  k.lines = malloc((size_t)k.stride * sizeof(struct nai_comm_line *));
  k.partners = malloc(((size_t)rows * k.stride + 1) * sizeof *k.partners);
  int rc = k.lines && k.partners ? NAI_OK : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < rows; i++)
    k.partners[(size_t)i * k.stride] = lines[0]->items[i];
  if (!rc)
    k.lines[0] = lines[0];
  for (uint32_t i = own, n; !rc && i < count; i += n) {
    n = lines_of_gpu(lines + i, count - i);
    rc = join_gpu(&k, lines + i, n, err);
  }
  for (uint32_t i = own; !rc && k.count == 1 && i < count; i++) /* what spoke against the last one also speaks here */
    lines[0]->refused = lines[i]->refused ? lines[i]->refused : lines[0]->refused;
  bool refused = !rc && k.count > 2 && point_to_point(c, lines[0]);
  for (uint32_t i = 0; !rc && k.count > 1 && i < k.count; i++)
    k.lines[i]->refused = refused ? peers : NULL;
  if (!rc && k.count > 1 && !refused)
    rc = nai_comm_split(c, k.lines, k.count, k.partners, k.stride, rows, err);
  free(k.lines);
  free(k.partners);
  return rc;
}

/* Lines that may belong together, by GPU: one after the other is matched with what fits it. */
static int match_candidates(struct nai_comm *c, struct nai_comm_line **lines, uint32_t count, struct nai_err *err) {
  int rc = NAI_OK;
  if (lines_of_gpu(lines, count) == count) /* nothing to be matched with */
    for (uint32_t i = 0; i < count; i++)
      lines[i]->refused = one_gpu;
  for (uint32_t left; !rc && count && lines[0]->refused != one_gpu; count = left) {
    rc = match_first(c, lines, count, err);
    left = 0; /* without the first and those that were matched with it */
    for (uint32_t i = 1; i < count; i++)
      if (lines[i]->refused && lines[i]->refused != peers)
        lines[left++] = lines[i];
  }
  return rc;
}

static int match_line(struct nai_comm *c, uint32_t first, struct nai_comm_line **list, bool *done,
                      struct nai_err *err) {
  const struct nai_comm_line *of = &c->lines[first];
  uint32_t count = 0;
  for (uint32_t l = first; l < c->line_count; l++) {
    struct nai_comm_line *line = &c->lines[l];
    if (done[l] || line->known_comm != of->known_comm ||
        (of->known_comm && (line->comm != of->comm || line->pair != of->pair)))
      continue;
    line->refused = different;
    list[count++] = line;
    done[l] = true;
  }
  return match_candidates(c, list, count, err);
}

static int match_lines(struct nai_comm *c, struct nai_err *err) {
  struct nai_comm_line **list = malloc(((size_t)c->line_count + 1) * sizeof(struct nai_comm_line *));
  bool *done = calloc((size_t)c->line_count + 1, sizeof *done);
  int rc = list && done ? NAI_OK : nai_err_nomem(err);
  for (uint32_t l = 0; !rc && l < c->line_count; l++)
    if (!done[l])
      rc = match_line(c, l, list, done, err);
  free(list);
  free(done);
  return rc;
}

int nai_comm_match(struct nai_comm *c, struct nai_err *err) {
  enum { MAX_LINES = 1024 }; /* each is compared with each */
  int rc = nai_comm_pairs(c, err);
  if (!rc)
    rc = nai_comm_lines(c, err);
  if (rc || c->line_count <= MAX_LINES)
    return rc ? rc : match_lines(c, err);
  for (uint32_t l = 0; l < c->line_count; l++)
    c->lines[l].refused = too_many;
  return NAI_OK;
}
