/* Which communication kernels of different GPUs are one collective? Kernels of one communicator, or where its id is not
 * known of one stream, are a line; lines of different GPUs are matched kernel by kernel, or not at all. */
#include "model/comm/comm_build.h"

#include "tables/kernel_configs.h"

enum { MAX_LINES = 1024 }; /* each is compared with each */

/* --- lines ------------------------------------------------------------------------------------ */

/* group: number of communicator and pair */
static int64_t line_key(const struct nai_comm_item *item, uint32_t group) {
  return item->known_comm ? (int64_t)((uint64_t)1 << 62 | (uint64_t)item->gpu << 32 | group) : (int64_t)item->stream;
}

static int number_lines(struct nai_comm *c, struct nai_arena *work, struct nai_err *err) {
  struct nai_keyset comms = {.arena = work}, pairs = {.arena = work}, groups = {.arena = work}, keys = {.arena = work};
  for (uint32_t i = 0; i < c->count; i++) {
    bool added;
    uint32_t comm = c->items[i].known_comm ? nai_keyset_add(&comms, c->items[i].comm, &added) : 0;
    uint32_t pair = nai_keyset_add(&pairs, c->items[i].pair, &added);
    uint32_t group = nai_keyset_add(&groups, nai_key_pair(comm, pair), &added);
    c->items[i].line = nai_keyset_add(&keys, line_key(&c->items[i], group), &added);
  }
  c->line_count = keys.count;
  return comms.oom || pairs.oom || groups.oom || keys.oom ? nai_err_nomem(err) : NAI_OK;
}

static int sort_into_lines(struct nai_model *m, struct nai_err *err) {
  struct nai_arena *work = &m->work->arenas[NAI_PART_COMM];
  struct nai_comm *c = m->comm;
  uint32_t *room; /* of all lines */
  NAI_TRY(number_lines(c, work, err));
  NAI_TRY(NAI_NEW(c->lines, &m->arena, c->line_count, err));
  NAI_TRY(NAI_NEW(room, &m->arena, c->count, err));
  for (uint32_t i = 0; i < c->count; i++)
    c->lines[c->items[i].line].count++;
  for (uint32_t l = 0; l < c->line_count; room += c->lines[l++].count)
    c->lines[l].items = room;
  for (uint32_t l = 0; l < c->line_count; l++)
    c->lines[l].count = 0;
  for (uint32_t i = 0; i < c->count; i++) { /* by GPU and start */
    struct nai_comm_line *line = &c->lines[c->items[i].line];
    line->items[line->count++] = i;
    line->gpu = c->items[i].gpu;
    line->known_comm = c->items[i].known_comm;
    line->comm = c->items[i].comm;
    line->pair = c->items[i].pair;
    line->mad = NAI_NULL_I64;
  }
  return NAI_OK;
}

/* --- kernel by kernel ------------------------------------------------------------------------- */

/* Whether two kernels may be one collective: of the same kind, with the same grid. */
static bool alike(const struct nai_model *m, uint32_t a, uint32_t b) {
  const struct nai_comm_item *x = &m->comm->items[a], *y = &m->comm->items[b];
  if (!nai_comm_same_kind(m, x, y))
    return false;
  const struct nai_table *configs = m->tables[NAI_IN_KERNEL_CONFIGS];
  int64_t p = nai_at(&m->kernels.config, x->kernel), q = nai_at(&m->kernels.config, y->kernel);
  for (int column = KERNEL_CONFIGS_grid_x; p >= 0 && q >= 0 && p != q && column <= KERNEL_CONFIGS_grid_z; column++)
    if (nai_get_i64(configs, p, column) != nai_get_i64(configs, q, column))
      return false;
  return true;
}

/* partners[k * stride] = item of `other` that belongs to the k-th of `reference`: the k-th one where both ran the same
 * sequence, else those that are alike and run at the same time. Returns how many have none. */
static uint32_t pair(uint32_t *partners, uint32_t stride, const struct nai_model *m,
                     const struct nai_comm_line *reference, const struct nai_comm_line *other) {
  const struct nai_comm *c = m->comm;
  uint32_t a = 0, b = 0, alone = 0;
  bool same = reference->count == other->count;
  for (uint32_t k = 0; same && k < reference->count; k++)
    same = alike(m, reference->items[k], other->items[k]);
  for (uint32_t k = 0; k < reference->count; k++)
    partners[(size_t)k * stride] = same ? other->items[k] : NAI_NO_ROW;
  while (!same && a < reference->count && b < other->count) {
    const struct nai_comm_item *x = &c->items[reference->items[a]], *y = &c->items[other->items[b]];
    if (x->start < y->end && y->start < x->end && alike(m, reference->items[a], other->items[b])) {
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
    if (nai_comm_is_between_two(c->items[line->items[i]].op))
      return true;
  return false;
}

/* Whether the line ran the same as the first one and ends together with it; column `count` of partners then has its
 * kernels. */
static int fits(bool *fit, struct nai_comm_cluster *k, const struct nai_model *m, struct nai_comm_line *line,
                struct nai_err *err) {
  struct nai_comm_line *reference = k->lines[0];
  uint32_t longest = line->count > reference->count ? line->count : reference->count;
  uint32_t shortest = line->count < reference->count ? line->count : reference->count;
  *fit = false;
  line->refused = different;
  if ((uint64_t)(longest - shortest) * 100 > longest)
    return NAI_OK;
  uint32_t alone = pair(k->partners + k->count, k->stride, m, reference, line);
  if ((uint64_t)alone * 100 > longest)
    return NAI_OK;
  NAI_TRY(nai_comm_clock(fit, line, k, k->count, err));
  line->refused = *fit ? NULL : apart;
  return NAI_OK;
}

/* Of the lines of one GPU the one that fits joins; where several do, nothing tells which it is. */
static int join_gpu(struct nai_comm_cluster *k, const struct nai_model *m, struct nai_comm_line **lines, uint32_t count,
                    struct nai_err *err) {
  struct nai_comm_line *one = NULL;
  uint32_t fitting = 0;
  bool fit;
  for (uint32_t i = 0; i < count; i++) {
    NAI_TRY(fits(&fit, k, m, lines[i], err));
    one = fit ? lines[i] : one;
    fitting += fit;
  }
  for (uint32_t i = 0; fitting > 1 && i < count; i++)
    lines[i]->refused = lines[i]->refused ? lines[i]->refused : ambiguous;
  if (fitting != 1)
    return NAI_OK;
  NAI_TRY(fits(&fit, k, m, one, err)); /* puts its kernels back where others were tried */
  k->lines[k->count++] = one;
  return NAI_OK;
}

static uint32_t lines_of_gpu(struct nai_comm_line **lines, uint32_t count) {
  uint32_t n = 0;
  while (n < count && lines[n]->gpu == lines[0]->gpu)
    n++;
  return n;
}

static int begin_cluster(struct nai_comm_cluster *k, struct nai_comm_line **lines, uint32_t count,
                         struct nai_arena *arena, struct nai_err *err) {
  for (uint32_t i = 0; i < count; i += lines_of_gpu(lines + i, count - i))
    k->stride++;
  NAI_TRY(NAI_NEW(k->lines, arena, k->stride, err));
  NAI_TRY(NAI_NEW(k->partners, arena, (size_t)k->rows * k->stride, err));
  for (uint32_t i = 0; i < k->rows; i++)
    k->partners[(size_t)i * k->stride] = lines[0]->items[i];
  k->lines[k->count++] = lines[0];
  return NAI_OK;
}

/* The first line with those of other GPUs that belong to it. */
static int match_first(struct nai_model *m, struct nai_comm_line **lines, uint32_t count, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_comm_cluster k = {.comm = m->comm, .rows = lines[0]->count};
  uint32_t own = lines_of_gpu(lines, count);
  NAI_TRY(begin_cluster(&k, lines, count, &arena, err));
  for (uint32_t i = own, n; i < count; i += n) {
    n = lines_of_gpu(lines + i, count - i);
    NAI_TRY(join_gpu(&k, m, lines + i, n, err));
  }
  for (uint32_t i = own; k.count == 1 && i < count; i++) /* what spoke against the last one also speaks here */
    lines[0]->refused = lines[i]->refused ? lines[i]->refused : lines[0]->refused;
  if (k.count == 1)
    return NAI_OK;
  bool refused = k.count > 2 && point_to_point(m->comm, lines[0]);
  for (uint32_t i = 0; i < k.count; i++)
    k.lines[i]->refused = refused ? peers : NULL;
  if (!refused)
    nai_comm_split(&k);
  return NAI_OK;
}

/* Lines that may belong together, by GPU: one after the other is matched with what fits it. */
static int match_candidates(struct nai_model *m, struct nai_comm_line **lines, uint32_t count, struct nai_err *err) {
  if (lines_of_gpu(lines, count) == count) { /* nothing to be matched with */
    for (uint32_t i = 0; i < count; i++)
      lines[i]->refused = one_gpu;
    return NAI_OK;
  }
  for (uint32_t left; count; count = left) {
    NAI_TRY(match_first(m, lines, count, err));
    left = 0; /* without the first and those that were matched with it */
    for (uint32_t i = 1; i < count; i++)
      if (lines[i]->refused && lines[i]->refused != peers)
        lines[left++] = lines[i];
  }
  return NAI_OK;
}

/* Lines of one communicator; or all whose communicator is not known. */
static bool may_belong(const struct nai_comm_line *a, const struct nai_comm_line *b) {
  return a->known_comm == b->known_comm && (!a->known_comm || (a->comm == b->comm && a->pair == b->pair));
}

/* The line `first` and all that may belong to it. */
static int match_line(struct nai_model *m, uint32_t first, struct nai_comm_line **list, bool *done,
                      struct nai_err *err) {
  struct nai_comm_line *lines = m->comm->lines;
  uint32_t count = 0;
  for (uint32_t l = first; l < m->comm->line_count; l++) {
    if (done[l] || !may_belong(&lines[first], &lines[l]))
      continue;
    lines[l].refused = different;
    list[count++] = &lines[l];
    done[l] = true;
  }
  return match_candidates(m, list, count, err);
}

int nai_comm_match(struct nai_model *m, struct nai_err *err) {
  struct nai_arena *work = &m->work->arenas[NAI_PART_COMM];
  struct nai_comm *c = m->comm;
  struct nai_comm_line **list;
  bool *done;
  NAI_TRY(sort_into_lines(m, err));
  if (c->line_count > MAX_LINES) {
    for (uint32_t l = 0; l < c->line_count; l++)
      c->lines[l].refused = too_many;
    return NAI_OK;
  }
  NAI_TRY(NAI_NEW(list, work, c->line_count, err));
  NAI_TRY(NAI_NEW(done, work, c->line_count, err));
  for (uint32_t l = 0; l < c->line_count; l++)
    if (!done[l])
      NAI_TRY(match_line(m, l, list, done, err));
  return NAI_OK;
}
