#include "trace/names.h"

#include "base/text.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Longer names keep this much and get a hash of the rest, so that distinct names stay distinct. */
enum { NAME_MAX_BYTES = 8192 };

size_t nai_nvtx_name_length(const char *text, size_t len) {
  static const char *const marks[] = {"seq = ", "op_id = ", "sizes = "};
  const char *end = text + len;
  for (const char *comma = text; (comma = memchr(comma, ',', (size_t)(end - comma))); comma++) {
    if (end - comma < 8 || comma[1] != ' ' || (comma[2] != 's' && comma[2] != 'o')) /* most commas are none of these */
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

/* Makes array[index] exist for as long as the part is read. */
#define HAS_ROOM(part, array, capacity, index) \
  (NAI_ROOM(array, capacity, index, &(part)->reading, NULL) == NAI_OK || !((part)->oom = true))

static uint32_t add(struct nai_part *part, struct nai_strings *to, const char *text, size_t len) {
  uint32_t id = nai_strings_add(to, text, len);
  part->oom |= id == NAI_NO_STRING;
  return id;
}

static uint32_t add_clean(struct nai_part *part, const char *text, size_t len) {
  if (len <= NAME_MAX_BYTES && nai_text_is_clean(text, len))
    return add(part, &part->names, text, len);
  NAI_SCOPED(nai_buf) clean = {0};
  nai_text_clean(&clean, text, len < NAME_MAX_BYTES ? len : NAME_MAX_BYTES);
  if (len > NAME_MAX_BYTES)
    nai_buf_printf(&clean, "... (%zu bytes, hash %016" PRIx64 ")", len, (uint64_t)XXH3_64bits(text, len));
  part->oom |= clean.oom;
  return clean.oom ? NAI_NO_STRING : add(part, &part->names, nai_buf_str(&clean), clean.len);
}

/* Of a call, without its version, which becomes that of the id `index`. */
static uint32_t add_call(struct nai_part *part, const char *text, size_t len, uint32_t index) {
  size_t name_len = api_length(text, len);
  if (name_len < len)
    part->id_versions[index] = add(part, &part->names, text + name_len, len - name_len);
  return add_clean(part, text, name_len);
}

/* How many digits begin at `text`, up to a word's, and the number they are. A word of text at least is in front. */
static inline size_t digits_at(uint64_t *number, const char *text, const char *end) {
  const uint64_t each = UINT64_C(0x0101010101010101);
  size_t rest = (size_t)(end - text), count;
  uint64_t word;
  memcpy(&word, rest < sizeof word ? end - sizeof word : text, sizeof word);
  word = (rest < sizeof word ? word >> 8 * (sizeof word - rest) : word) ^ each * '0'; /* digits become 0 to 9 */
  uint64_t others = (((word & each * 0x7f) + each * (0x7f - 9)) | word) & each * 0x80;
  count = others ? (size_t)__builtin_ctzll(others) / 8 : sizeof word;
  word = count ? word << 8 * (sizeof word - count) : 0;
  word = word * 10 + (word >> 8); /* pairs of digits, then of pairs */
  *number = ((word & UINT64_C(0xff000000ff)) * (100 + (UINT64_C(1000000) << 32)) +
             (word >> 16 & UINT64_C(0xff000000ff)) * (1 + (UINT64_C(10000) << 32))) >>
            32;
  return count;
}

/* Numbers of up to 18 digits at *text, which is moved behind them; NAI_NULL_I64 when there are none or more. */
static inline int64_t read_number(const char **text, const char *end) {
  static const int64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  int64_t value = 0;
  size_t digits = 0, more = sizeof(uint64_t);
  for (uint64_t number; *text < end && more == sizeof number; *text += more, digits += more) {
    more = digits_at(&number, *text, end);
    value = digits + more <= 18 ? value * powers[more] + (int64_t)number : value;
  }
  return digits >= 1 && digits <= 18 ? value : NAI_NULL_I64;
}

/* The same; *lost: it is not what was written, as 07 is not. */
static inline int64_t read_exactly(bool *lost, const char **text, const char *end) {
  const char *begin = *text;
  const int64_t number = read_number(text, end);
  *lost |= number == NAI_NULL_I64 || (*begin == '0' && *text - begin > 1);
  return number;
}

/* Length of the bracketed list at `text`, 0 when there is none. */
static size_t list_length(const char *text, const char *end) {
  int depth = 0;
  for (const char *p = text; p < end; p++) {
    depth += *p == '[' ? 1 : *p == ']' ? -1 : 0;
    if (depth == 0)
      return p > text ? (size_t)(p - text) + 1 : 0;
  }
  return 0;
}

static uint32_t add_sizes(struct nai_part *part, const char *text, size_t len) {
  enum { SIZES_MAX_BYTES = 512 };
  if (part->too_many_sizes || len == 0 || len > SIZES_MAX_BYTES || !nai_text_is_clean(text, len))
    return NAI_NO_STRING;
  uint32_t id = add(part, &part->sizes, text, len);
  part->too_many_sizes = part->sizes.count > NAI_MAX_SIZES;
  return id;
}

/* Adds to a suffix what ", seq = 5, op_id = 7, sizes = [[2, 3]], ..." says: keys in any order, up to the first that is
 * not known. */
static inline void read_suffix(struct nai_suffix *suffix, struct nai_part *part, const char *text, const char *end) {
  enum { SEQ = 1, OP_ID, SIZES } last = 0, key;
  suffix->lost = false;
  while (end - text > 2 && text[0] == ',' && text[1] == ' ') {
    text += 2;
    if (end - text > 6 && memcmp(text, "seq = ", 6) == 0) {
      key = SEQ;
      text += 6;
      suffix->seq = read_exactly(&suffix->lost, &text, end);
    } else if (end - text > 8 && memcmp(text, "op_id = ", 8) == 0) {
      key = OP_ID;
      text += 8;
      suffix->op_id = read_exactly(&suffix->lost, &text, end);
    } else if (end - text > 8 && memcmp(text, "sizes = ", 8) == 0) {
      key = SIZES;
      size_t len = list_length(text + 8, end);
      suffix->sizes = add_sizes(part, text + 8, len);
      suffix->lost |= suffix->sizes == NAI_NO_STRING;
      text += 8 + len;
    } else {
      break;
    }
    suffix->lost |= key <= last; /* in another order, or twice */
    last = key;
  }
  suffix->lost |= text < end;
}

uint32_t nai_name_by_text(struct nai_part *part, const char *text, size_t len, enum nai_name_kind kind) {
  if (part->oom) /* an array may be shorter than what it belongs to */
    return NAI_NO_STRING;
  uint32_t before = part->raw.count;
  uint32_t raw = add(part, &part->raw, text, len);
  if (raw < before)
    return part->raw_names[raw];
  if (raw == NAI_NO_STRING || !HAS_ROOM(part, part->raw_names, part->raw_capacity, raw))
    return NAI_NO_STRING;
  return part->raw_names[raw] = add_clean(part, text, kind == NAI_NAME_API ? api_length(text, len) : len);
}

uint32_t nai_range_by_text(struct nai_suffix *suffix, struct nai_part *part, const char *text, size_t len) {
  size_t length = nai_nvtx_name_length(text, len);
  *suffix = NAI_NO_SUFFIX;
  if (length < len)
    read_suffix(suffix, part, text + length, text + len);
  /* Texts that differ only behind the canonical name must not fill the dictionary of raw texts. */
  return nai_name_by_text(part, text, length, NAI_NAME_PLAIN);
}

uint32_t nai_name_missing(struct nai_part *part, int64_t id) {
  char text[32];
  int n = snprintf(text, sizeof text, "#%" PRId64, id);
  return add_clean(part, text, (size_t)n);
}

/* The text of StringIds row `id`; false when there is none, and once something failed. */
static bool look_up(struct nai_cell *cell, struct nai_part *part, int64_t id) {
  bool found = false;
  if (!part->failed && !part->lookup) /* a row may have several names */
    part->failed = nai_string_open(&part->lookup, part->trace, part->err);
  if (!part->failed)
    part->failed = nai_string_get(&found, cell, part->lookup, id, part->err);
  return found && !part->failed;
}

/* Index of the id in name_ids, UINT32_MAX when out of memory. */
static uint32_t index_of_id(bool *added, struct nai_part *part, int64_t id) {
  *added = false;
  if (part->oom)
    return UINT32_MAX;
  uint32_t index = nai_keyset_add(&part->name_ids, id, added);
  part->oom |= part->name_ids.oom;
  if (part->oom || (*added && !HAS_ROOM(part, part->id_names, part->id_capacity, index)))
    return UINT32_MAX;
  if (*added)
    part->id_names[index] = NAI_NO_STRING;
  return index;
}

uint32_t nai_name_by_id(struct nai_part *part, int64_t id, enum nai_name_kind kind) {
  bool added;
  struct nai_cell cell;
  uint32_t index = index_of_id(&added, part, id);
  if (index == UINT32_MAX)
    return NAI_NO_STRING;
  if (kind == NAI_NAME_API && added && !HAS_ROOM(part, part->id_versions, part->version_capacity, index))
    return NAI_NO_STRING;
  if (kind == NAI_NAME_API && added)
    part->id_versions[index] = NAI_NO_STRING;
  if (added && look_up(&cell, part, id))
    part->id_names[index] =
        kind == NAI_NAME_API ? add_call(part, cell.data, cell.len, index) : add_clean(part, cell.data, cell.len);
  if (kind == NAI_NAME_API)
    part->api_version = part->id_versions[index];
  return part->id_names[index];
}

uint32_t nai_range_by_id(struct nai_suffix *suffix, struct nai_part *part, int64_t id) {
  bool added;
  struct nai_cell cell;
  uint32_t index = index_of_id(&added, part, id);
  *suffix = NAI_NO_SUFFIX;
  if (index == UINT32_MAX || (added && !HAS_ROOM(part, part->id_suffixes, part->suffix_capacity, index)))
    return NAI_NO_STRING;
  if (added)
    part->id_suffixes[index] = NAI_NO_SUFFIX;
  if (added && look_up(&cell, part, id)) {
    size_t length = nai_nvtx_name_length(cell.data, cell.len);
    read_suffix(&part->id_suffixes[index], part, cell.data + length, cell.data + cell.len);
    part->id_names[index] = add_clean(part, cell.data, length);
  }
  *suffix = part->id_suffixes[index];
  return part->id_names[index];
}

void nai_record_named(struct nai_part *part, uint32_t record, const struct nai_cell *id, const struct nai_cell *text) {
  enum { RECORD_NAME_MAX_BYTES = 400 };
  struct nai_cell cell = *text;
  uint32_t have = part->record_capacity;
  part->oom |= record == NAI_NO_STRING ||
               NAI_ROOM(part->record_name, part->record_capacity, record, &part->arena, NULL) != NAI_OK;
  if (part->oom)
    return;
  for (; have < part->record_capacity; have++)
    part->record_name[have] = NAI_NO_STRING;
  if (part->record_name[record] != NAI_NO_STRING)
    return;
  if (!(text->type == NAI_CELL_TEXT && text->len) && (id->type != NAI_CELL_INT || !look_up(&cell, part, id->i)))
    return;
  NAI_SCOPED(nai_buf) clean = {0};
  nai_text_clean(&clean, cell.data, cell.len < RECORD_NAME_MAX_BYTES ? cell.len : RECORD_NAME_MAX_BYTES);
  part->record_name[record] = add(part, &part->record_names, nai_buf_str(&clean), clean.len);
  part->oom |= clean.oom;
}
