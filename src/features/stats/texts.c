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

static int read_name(struct nai_stats_source *source, uint32_t slot, int64_t id, struct nai_err *err) {
  struct nai_cell cell;
  bool found;
  NAI_TRY(NAI_ROOM(source->names, source->name_capacity, slot, &source->arena, err));
  struct nai_stats_name *name = &source->names[slot];
  *name = (struct nai_stats_name){NAI_NO_STRING, NAI_NO_STRING};
  if (source->run) { /* its ids are numbers of texts, which may move while one is added */
    const char *text = nai_stats_text_of(source, id);
    text = text ? nai_arena_printf(&source->arena, "%s", text) : NULL;
    NAI_TRY(nai_arena_check(&source->arena, err));
    found = text != NULL;
    cell = (struct nai_cell){.type = NAI_CELL_TEXT, .data = text, .len = text ? (uint32_t)strlen(text) : 0};
  } else {
    NAI_TRY(nai_string_get(&found, &cell, source->strings, id, err));
  }
  if (!found)
    return NAI_OK;
  bool versioned = cell.len >= 6 && strncmp(cell.data + cell.len - 6, "_v", 2) == 0;
  NAI_TRY(nai_stats_add_text(&name->text, source, cell.data, cell.len, err));
  return nai_stats_add_text(&name->function, source, cell.data, cell.len - (versioned ? 6 : 0), err);
}

/* Slot of the texts of an id. */
static int find_name(uint32_t *slot, struct nai_stats_source *source, int64_t id, struct nai_err *err) {
  bool added;
  *slot = nai_keyset_add(&source->name_ids, id, &added);
  NAI_TRY(nai_memory_check(!source->name_ids.oom, err));
  return added ? read_name(source, *slot, id, err) : NAI_OK;
}

int nai_stats_name(int64_t *text, struct nai_stats_source *source, int64_t id, struct nai_err *err) {
  uint32_t slot;
  NAI_TRY(find_name(&slot, source, id, err));
  *text = source->names[slot].text;
  return NAI_OK;
}

int nai_stats_function(int64_t *text, struct nai_stats_source *source, int64_t id, struct nai_err *err) {
  uint32_t slot;
  NAI_TRY(find_name(&slot, source, id, err));
  *text = source->names[slot].function;
  return NAI_OK;
}
