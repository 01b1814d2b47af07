/* Operations by kind: of a list of a million the same few hundred kernels make most. */
#include "features/stats/operations.h"

#include "base/threads.h"

enum { OWN_COLUMNS = NAI_STATS_OP_KIND }; /* of each operation */

/* Kinds of the rows of a part, which have texts and numbers of their own. */
struct part {
  struct nai_stats_keys kinds;         /* of those columns that are read */
  int columns[NAI_STATS_KIND_COLUMNS]; /* which: from NAI_STATS_OP_KIND on */
  uint32_t first, count;               /* rows */
};

struct loading {
  struct nai_stats_operations *out;
  struct nai_arena *arena;
  struct part *parts;
  uint32_t **texts; /* of each part: NULL: they are the source's */
};

static int make_room(struct loading *l, uint32_t rows, struct nai_err *err) {
  for (int c = 0; c < OWN_COLUMNS; c++)
    NAI_TRY(NAI_NEW_UNSET(l->out->events.at[c], l->arena, rows, err));
  return NAI_NEW_UNSET(l->out->kind, l->arena, rows, err);
}

static void put_own(int64_t *to, const int64_t *from, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    to[i] = from ? from[i] : NAI_STATS_NULL;
}

static void begin_part(struct part *part, const struct nai_stats_events *block, uint32_t first) {
  part->first = first;
  for (int c = 0; c < NAI_STATS_KIND_COLUMNS; c++)
    if (block->at[NAI_STATS_OP_KIND + c])
      part->columns[part->kinds.width++] = c;
}

static int take_block(void *ctx, const struct nai_stats_events *block, int number, uint32_t first,
                      struct nai_err *err) {
  struct loading *l = ctx;
  if (!block)
    return make_room(l, first, err);
  struct part *part = &l->parts[number];
  const int64_t *columns[NAI_STATS_KIND_COLUMNS];
  int64_t key[NAI_STATS_KIND_COLUMNS];
  const uint32_t row = first + part->count;
  if (!part->kinds.width)
    begin_part(part, block, first);
  const int width = part->kinds.width;
  for (int c = 0; c < OWN_COLUMNS; c++)
    put_own(l->out->events.at[c] + row, block->at[c], block->count);
  for (int c = 0; c < width; c++)
    columns[c] = block->at[NAI_STATS_OP_KIND + part->columns[c]];
  for (uint32_t i = 0; i < block->count; i++) {
    for (int c = 0; c < width; c++)
      key[c] = columns[c][i];
    l->out->kind[row + i] = nai_stats_key_find(&part->kinds, key);
    NAI_TRY(nai_memory_check(l->out->kind[row + i] != NAI_NO_STRING, err));
  }
  part->count += block->count;
  return NAI_OK;
}

/* Kinds with all columns, NAI_STATS_NULL in those that are not read. */
static int widen_kinds(struct part *part, struct nai_arena *arena, struct nai_err *err) {
  struct nai_stats_keys all = {.count = part->kinds.count, .width = NAI_STATS_KIND_COLUMNS};
  const size_t cells = (size_t)all.count * NAI_STATS_KIND_COLUMNS;
  NAI_TRY(NAI_NEW_UNSET(all.at, arena, cells, err));
  for (size_t i = 0; i < cells; i++)
    all.at[i] = NAI_STATS_NULL;
  for (uint32_t kind = 0; kind < all.count; kind++)
    for (int c = 0; c < part->kinds.width; c++)
      *nai_stats_of_kind(&all, kind, NAI_STATS_OP_KIND + part->columns[c]) = nai_stats_key_of(&part->kinds, kind)[c];
  part->kinds = all;
  return NAI_OK;
}

/* The texts of a part's kinds. */
static int name_kinds(struct loading *l, int number, struct nai_stats_source *source, enum nai_stats_what what,
                      const struct nai_stats_options *options, struct nai_err *err) {
  const struct nai_stats_keys *kinds = &l->parts[number].kinds;
  struct nai_stats_events names = {.count = kinds->count};
  NAI_TRY(NAI_NEW(names.at[NAI_STATS_OP_NAME], l->arena, kinds->count, err));
  NAI_TRY(NAI_NEW(names.at[NAI_STATS_OP_DEMANGLED], l->arena, kinds->count, err));
  for (int c = NAI_STATS_OP_NAME; c <= NAI_STATS_OP_DEMANGLED; c++)
    for (uint32_t kind = 0; kind < kinds->count; kind++) {
      const int64_t text = *nai_stats_of_kind(kinds, kind, c);
      const bool numbered = source->run && what == NAI_STATS_KERNELS && text != NAI_STATS_NULL;
      names.at[c][kind] = numbered ? l->texts[number][text] : text;
    }
  NAI_TRY(nai_stats_name_operations(&names, source, what, options, err));
  for (uint32_t kind = 0; kind < kinds->count; kind++) {
    *nai_stats_of_kind(kinds, kind, NAI_STATS_OP_NAME) = names.at[NAI_STATS_OP_NAME][kind];
    *nai_stats_of_kind(kinds, kind, NAI_STATS_OP_DEMANGLED) = NAI_STATS_NULL;
  }
  return NAI_OK;
}

/* Rows of a part behind those of the parts before, with numbers of kinds that hold for all. */
static int join_part(struct nai_stats_operations *out, const struct part *part, struct nai_stats_keys *kinds,
                     struct nai_arena *arena, struct nai_err *err) {
  uint32_t *numbers, *to = out->kind + out->events.count, *from = out->kind + part->first;
  NAI_TRY(NAI_NEW(numbers, arena, part->kinds.count, err));
  for (uint32_t kind = 0; kind < part->kinds.count; kind++) {
    numbers[kind] = nai_stats_key_find(kinds, nai_stats_key_of(&part->kinds, kind));
    NAI_TRY(nai_memory_check(numbers[kind] != NAI_NO_STRING, err));
  }
  for (uint32_t i = 0; i < part->count; i++)
    to[i] = numbers[from[i]];
  for (int c = 0; c < OWN_COLUMNS && to != from; c++)
    memmove(out->events.at[c] + out->events.count, out->events.at[c] + part->first, part->count * sizeof(int64_t));
  out->events.count += part->count;
  return NAI_OK;
}

/* Names by ranges are those of single kernels. */
static int load_named_by_range(struct loading *l, struct nai_stats_source *source, uint32_t wanted,
                               const struct nai_stats_options *options, struct nai_err *err) {
  struct nai_stats_events events;
  NAI_TRY(nai_stats_load_operations(&events, source, NAI_STATS_KERNELS, wanted, options, err));
  events.at[NAI_STATS_OP_DEMANGLED] = NULL;
  NAI_TRY(take_block(l, NULL, 0, events.count, err));
  return take_block(l, &events, 0, 0, err);
}

int nai_stats_load_kinds(struct nai_stats_operations *out, struct nai_stats_keys *kinds,
                         struct nai_stats_source *source, enum nai_stats_what what, uint32_t wanted,
                         const struct nai_stats_options *options, struct nai_err *err) {
  const bool by_range = what == NAI_STATS_KERNELS && options->nvtx_name;
  const int parts = by_range ? 1 : nai_cpu_count();
  struct loading l = {.out = out, .arena = &source->arena};
  const char *columns[NAI_STATS_OP_COLUMNS + 1];
  *out = (struct nai_stats_operations){0};
  NAI_TRY(NAI_NEW(l.parts, l.arena, (size_t)parts, err));
  NAI_TRY(NAI_NEW(l.texts, l.arena, (size_t)parts, err));
  for (int p = 0; p < parts; p++)
    l.parts[p].kinds = (struct nai_stats_keys){.arena = l.arena};
  if (by_range) {
    NAI_TRY(load_named_by_range(&l, source, wanted, options, err));
  } else {
    const char *table = nai_stats_choose_columns(columns, what, wanted, options);
    NAI_TRY(nai_stats_load_blocks(source, table, columns, take_block, &l, l.texts, parts, err));
  }
  for (int p = 0; p < parts; p++) {
    NAI_TRY(widen_kinds(&l.parts[p], l.arena, err));
    if (!by_range)
      NAI_TRY(name_kinds(&l, p, source, what, options, err));
    NAI_TRY(join_part(out, &l.parts[p], kinds, l.arena, err));
  }
  return NAI_OK;
}
