/* Names on their way from an export into a part's dictionary: cleaned, canonical, each distinct text treated once. */
#pragma once

#include "trace/sources/source.h"

/* How a kind of name is made canonical. */
enum nai_name_kind {
  NAI_NAME_PLAIN,
  NAI_NAME_API, /* loses one _v[0-9]{4,5} and then one _ptsz or _ptds */
};

/* Local name id of the text of StringIds row `id`; NAI_NO_STRING when there is no such row, or part->failed. Of a
 * call part->api_version is what was cut off. */
uint32_t nai_name_by_id(struct nai_part *part, int64_t id, enum nai_name_kind kind);
/* Local name id of an inline text. */
uint32_t nai_name_by_text(struct nai_part *part, const char *text, size_t len, enum nai_name_kind kind);
/* Bytes of `text` that make up its canonical NVTX name. */
size_t nai_nvtx_name_length(const char *text, size_t len);
/* Local name id of an NVTX range named by StringIds row `id` or by an inline text: cut at the first ", seq = ",
 * ", op_id = " or ", sizes = ", which PyTorch's emit_nvtx puts behind it; those go to *suffix, until then
 * NAI_NO_SUFFIX. */
uint32_t nai_range_by_id(struct nai_suffix *suffix, struct nai_part *part, int64_t id);
uint32_t nai_range_by_text(struct nai_suffix *suffix, struct nai_part *part, const char *text, size_t len);
/* Gives record `record` a name, unless it has one: the text of StringIds row `id`, or `text`. */
void nai_record_named(struct nai_part *part, uint32_t record, const struct nai_cell *id, const struct nai_cell *text);
/* Local name id of "#id", for ids without text. */
uint32_t nai_name_missing(struct nai_part *part, int64_t id);
