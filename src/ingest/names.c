#include "ingest/names.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Longer names keep this much and get a hash of the rest, so that distinct names stay distinct. */
enum { NAME_MAX_BYTES = 8192 };

size_t nai_name_nvtx_length(const char *text, size_t len) {
  static const char *const marks[] = {"seq = ", "op_id = ", "sizes = "};
  const char *end = text + len;
  for (const char *comma = text; (comma = memchr(comma, ',', (size_t)(end - comma))); comma++) {
    if (end - comma < 2 || comma[1] != ' ')
      continue;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
      size_t n = strlen(marks[i]);
      if ((size_t)(end - comma) >= n + 2 && memcmp(comma + 2, marks[i], n) == 0)
        return (size_t)(comma - text);
    }
  }
  return len;
}

/* cudaMemcpyAsync_ptsz_v7000 -> cudaMemcpyAsync; cudaStreamGetCaptureInfo_v2_v11030 -> cudaStreamGetCaptureInfo_v2. */
static size_t api_length(const char *text, size_t len) {
  size_t digits = 0;
  while (digits < len && text[len - 1 - digits] >= '0' && text[len - 1 - digits] <= '9')
    digits++;
  if ((digits == 4 || digits == 5) && len > digits + 2 && memcmp(text + len - digits - 2, "_v", 2) == 0)
    len -= digits + 2;
  if (len > 5 && (memcmp(text + len - 5, "_ptsz", 5) == 0 || memcmp(text + len - 5, "_ptds", 5) == 0))
    len -= 5;
  return len;
}

static uint32_t add_clean(struct nai_part *part, const char *text, size_t len) {
  uint32_t id;
  if (len <= NAME_MAX_BYTES && nai_text_is_clean(text, len)) {
    id = nai_strings_add(&part->names, text, len);
  } else {
    struct nai_buf clean = {0};
    nai_text_clean(&clean, text, len < NAME_MAX_BYTES ? len : NAME_MAX_BYTES);
    if (len > NAME_MAX_BYTES)
      nai_buf_printf(&clean, "... (%zu bytes, hash %016" PRIx64 ")", len, (uint64_t)XXH3_64bits(text, len));
    id = clean.oom ? NAI_NO_STRING : nai_strings_add(&part->names, nai_buf_str(&clean), clean.len);
    nai_buf_free(&clean);
  }
  part->oom |= id == NAI_NO_STRING;
  return id;
}

static uint32_t add_canonical(struct nai_part *part, const char *text, size_t len, enum nai_name_kind kind) {
  if (kind == NAI_NAME_API)
    len = api_length(text, len);
  else if (kind == NAI_NAME_NVTX)
    len = nai_name_nvtx_length(text, len);
  return add_clean(part, text, len);
}

/* Makes array[index] exist. */
static bool reserve(uint32_t **array, uint32_t *capacity, uint32_t index) {
  if (index < *capacity)
    return true;
  uint32_t wanted = *capacity ? *capacity * 2 : 64;
  uint32_t *grown = wanted > index ? realloc(*array, (size_t)wanted * sizeof *grown) : NULL;
  if (!grown)
    return false;
  *array = grown;
  *capacity = wanted;
  return true;
}

uint32_t nai_name_by_text(struct nai_part *part, const char *text, size_t len, enum nai_name_kind kind) {
  /* Texts that differ only behind the canonical name must not fill the dictionary of raw texts. */
  if (kind == NAI_NAME_NVTX)
    len = nai_name_nvtx_length(text, len);
  uint32_t before = part->raw.count;
  uint32_t raw = nai_strings_add(&part->raw, text, len);
  if (raw == NAI_NO_STRING || !reserve(&part->raw_names, &part->raw_capacity, raw)) {
    part->oom = true;
    return NAI_NO_STRING;
  }
  if (raw == before)
    part->raw_names[raw] = add_canonical(part, text, len, kind);
  return part->raw_names[raw];
}

uint32_t nai_name_missing(struct nai_part *part, int64_t id) {
  char text[32];
  int n = snprintf(text, sizeof text, "#%" PRId64, id);
  return add_clean(part, text, (size_t)n);
}

static int string_table(struct nai_part *part, struct nai_err *err) {
  const struct nai_db_table *table = nai_trace_table(part->trace, "StringIds");
  int value = table ? nai_db_column(table, "value") : -1;
  if (value < 0)
    return NAI_OK;
  return nai_lookup_open(&part->lookup, part->trace, table->name, value, err);
}

uint32_t nai_name_by_id(struct nai_part *part, int64_t id, enum nai_name_kind kind, int *rc, struct nai_err *err) {
  bool added;
  uint32_t index = nai_keyset_add(&part->name_ids, id, &added);
  if (!added && !part->name_ids.oom)
    return part->id_names[index];
  if (part->name_ids.oom || !reserve(&part->id_names, &part->id_capacity, index)) {
    part->oom = true;
    return NAI_NO_STRING;
  }
  part->id_names[index] = NAI_NO_STRING;
  if (!part->lookup && (*rc = string_table(part, err)))
    return NAI_NO_STRING;
  struct nai_cell cell;
  bool found = false;
  if (part->lookup && (*rc = nai_lookup_get(&found, &cell, part->lookup, id, err)))
    return NAI_NO_STRING;
  if (found && (cell.type == NAI_CELL_TEXT || cell.type == NAI_CELL_BLOB))
    part->id_names[index] = add_canonical(part, cell.data, cell.len, kind);
  return part->id_names[index];
}
