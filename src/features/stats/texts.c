/* A source of reports, and the texts that their rows have by number. */
#include "features/stats/stats.h"

#include "base/text.h"
#include "trace/trace/trace.h"

int nai_stats_source_open(struct nai_stats_source *source, struct nai_trace *trace, struct nai_run *run,
                          struct nai_err *err) {
  *source = (struct nai_stats_source){.trace = trace, .run = run, .arena = NAI_ARENA(NULL)};
  source->name_ids.arena = &source->arena;
  return run ? NAI_OK : nai_string_open(&source->strings, trace, err);
}

void nai_stats_source_free(struct nai_stats_source *source) {
  nai_lookup_close(source->strings);
  nai_strings_free(&source->texts);
  nai_arena_free(&source->arena);
}

static int add_cleaned(int64_t *out, struct nai_stats_source *source, const char *text, size_t len,
                       struct nai_err *err) {
  NAI_SCOPED(nai_buf) clean = {0};
  nai_text_clean(&clean, text, len);
  NAI_TRY(nai_buf_check(&clean, err));
  *out = nai_strings_add(&source->texts, nai_buf_str(&clean), clean.len);
  return *out == NAI_NO_STRING ? nai_err_nomem(err) : NAI_OK;
}

/* Texts repeat: one that is known is not looked at again, until one comes that has to be cleaned. */
int nai_stats_add_text(int64_t *out, struct nai_stats_source *source, const char *text, size_t len,
                       struct nai_err *err) {
  const uint32_t known = source->texts.count;
  if (!source->unclean) {
    *out = nai_strings_add(&source->texts, text, len);
    if (*out < known)
      return NAI_OK;
    source->unclean = !nai_text_is_clean(text, len); /* then nobody gets this number */
  }
  return source->unclean       ? add_cleaned(out, source, text, len, err)
       : *out == NAI_NO_STRING ? nai_err_nomem(err)
                               : NAI_OK;
}

int nai_stats_text(int64_t *text, struct nai_stats_source *source, const char *words, struct nai_err *err) {
  return nai_stats_add_text(text, source, words, strlen(words), err);
}

static int add_names(struct nai_stats_name *name, struct nai_stats_source *source, const char *text, size_t len,
                     struct nai_err *err) {
  const bool versioned = len >= 6 && strncmp(text + len - 6, "_v", 2) == 0;
  NAI_TRY(nai_stats_add_text(&name->text, source, text, len, err));
  return nai_stats_add_text(&name->function, source, text, len - (versioned ? 6 : 0), err);
}

static int read_name(struct nai_stats_name *name, struct nai_stats_source *source, int64_t id, struct nai_err *err) {
  struct nai_cell cell;
  bool found = true;
  *name = (struct nai_stats_name){NAI_NO_STRING, NAI_NO_STRING, true};
  if (!source->run) {
    NAI_TRY(nai_string_get(&found, &cell, source->strings, id, err));
    return found ? add_names(name, source, cell.data, cell.len, err) : NAI_OK;
  }
  const char *text =
      nai_arena_printf(&source->arena, "%s", nai_stats_text_of(source, id)); /* it moves while one is added */
  NAI_TRY(nai_arena_check(&source->arena, err));
  return add_names(name, source, text, strlen(text), err);
}

/* The texts of an id, which in a run is the text's number; NULL for no such. */
static int find_name(const struct nai_stats_name **out, struct nai_stats_source *source, int64_t id,
                     struct nai_err *err) {
  static const struct nai_stats_name none = {NAI_NO_STRING, NAI_NO_STRING, true};
  uint32_t slot = (uint32_t)id;
  bool added = false;
  *out = &none;
  if (source->run && (id < 0 || id >= source->texts.count))
    return NAI_OK;
  if (!source->run)
    slot = nai_keyset_add(&source->name_ids, id, &added);
  NAI_TRY(nai_memory_check(!source->name_ids.oom, err));
  NAI_TRY(NAI_ROOM(source->names, source->name_capacity, slot, &source->arena, err));
  struct nai_stats_name *name = &source->names[slot];
  *out = name;
  return added || (source->run && !name->is_known) ? read_name(name, source, id, err) : NAI_OK;
}

int nai_stats_name(int64_t *text, struct nai_stats_source *source, int64_t id, struct nai_err *err) {
  const struct nai_stats_name *name = NULL;
  if (source->run) {
    *text = id >= 0 && id < source->texts.count ? id : NAI_NO_STRING;
    return NAI_OK;
  }
  NAI_TRY(find_name(&name, source, id, err));
  *text = name->text;
  return NAI_OK;
}

int nai_stats_function(int64_t *text, struct nai_stats_source *source, int64_t id, struct nai_err *err) {
  const struct nai_stats_name *name = NULL;
  NAI_TRY(find_name(&name, source, id, err));
  *text = name->function;
  return NAI_OK;
}

/* --- their order ------------------------------------------------------------------------------------------------ */

/* Eight bytes of a text, the first the highest; 0 from its end on. */
static uint64_t word_of(const struct nai_strings *texts, uint32_t text, size_t depth) {
  const char *at = nai_strings_get(texts, text) + depth;
  const size_t left = nai_strings_len(texts, text) - depth;
  uint64_t word = 0;
  memcpy(&word, at, left < sizeof word ? left : sizeof word);
  return be64toh(word);
}

static bool has_end(uint64_t word) {
  const uint64_t ones = UINT64_C(0x0101010101010101);
  return ((word - ones) & ~word & ones << 7) != 0;
}

/* How many bytes all of them begin with; the first `depth` are known. */
static size_t common_length(const struct nai_strings *texts, const struct nai_key *keys, size_t count, size_t depth) {
  const char *first = nai_strings_get(texts, keys[0].value);
  size_t common = strlen(first);
  for (size_t i = 1; i < count && common > depth; i++) {
    const char *other = nai_strings_get(texts, keys[i].value);
    size_t at = depth;
    while (at < common && other[at] == first[at])
      at++;
    common = at;
  }
  return common;
}

/* Word by word: texts that are equal so far, in front of `depth`, are put in order by their next one. What they have in
 * common is left out, so that no level is in vain. */
static void order_texts(const struct nai_strings *texts, struct nai_key *keys, struct nai_key *scratch, size_t count,
                        size_t depth) {
  depth = common_length(texts, keys, count, depth);
  for (size_t i = 0; i < count; i++)
    keys[i].key = word_of(texts, keys[i].value, depth);
  nai_sort_keys_in(keys, scratch, count);
  for (size_t first = 0, end; first < count; first = end) {
    for (end = first + 1; end < count && keys[end].key == keys[first].key;)
      end++;
    if (end > first + 1 && !has_end(keys[first].key))
      order_texts(texts, keys + first, scratch, end - first, depth + sizeof keys->key);
  }
}

int nai_stats_rank_texts(uint32_t **rank, struct nai_stats_source *source, struct nai_err *err) {
  const uint32_t count = source->texts.count;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_key *keys, *scratch;
  NAI_TRY(NAI_NEW(*rank, &source->arena, count, err));
  NAI_TRY(NAI_NEW_UNSET(keys, &arena, count, err));
  NAI_TRY(NAI_NEW_UNSET(scratch, &arena, count, err));
  for (uint32_t text = 0; text < count; text++)
    keys[text].value = text;
  if (count)
    order_texts(&source->texts, keys, scratch, count, 0);
  for (uint32_t place = 0; place < count; place++)
    (*rank)[keys[place].value] = place;
  return NAI_OK;
}
