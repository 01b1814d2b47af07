#include "trace/names.h"

#include "base/text.h"

#include <endian.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Longer names keep this much and get a hash of the rest, so that distinct names stay distinct. */
enum { NAME_MAX_BYTES = 8192 };

/* What PyTorch's emit_nvtx puts behind a name, each with its number or list. */
enum key { NO_KEY, SEQ, OP_ID, SIZES };

/* The key at `text`, which ends behind *len bytes. */
static inline enum key key_at(size_t *len, const char *text, const char *end) {
  const size_t rest = (size_t)(end - text);
  *len = 8;
  if (rest >= 8 && memcmp(text, ", seq = ", 8) == 0)
    return SEQ;
  *len = 10;
  if (rest < 10)
    return NO_KEY;
  return memcmp(text, ", op_id = ", 10) == 0 ? OP_ID : memcmp(text, ", sizes = ", 10) == 0 ? SIZES : NO_KEY;
}

size_t nai_nvtx_name_length(const char *text, size_t len) {
  const char *end = text + len, *comma = text;
  size_t key_len;
  while ((comma = memchr(comma, ',', (size_t)(end - comma))) && !key_at(&key_len, comma, end))
    comma++;
  return comma ? (size_t)(comma - text) : len;
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

/* The number that the bytes of a word, from its lowest on, begin with; of how many digits it is: any number for none.
 */
static inline size_t read_digits(uint64_t *number, uint64_t word) {
  const uint64_t digits = word ^ 0x3030303030303030; /* bytes of at most 9, and others */
  const uint64_t others = (digits | (digits + 0x7676767676767676)) & 0x8080808080808080;
  const unsigned bits = others ? (unsigned)__builtin_ctzll(others) & 56 : 64;
  uint64_t pairs = digits << (-bits & 63); /* zeros in front */
  pairs = pairs * 10 + (pairs >> 8);
  *number = ((pairs & 0xff000000ff) * (100 + (UINT64_C(1000000) << 32)) +
             (pairs >> 16 & 0xff000000ff) * (1 + (UINT64_C(10000) << 32))) >>
            32;
  return bits / 8;
}

/* Up to 8 bytes of [text, end), which is not empty and has a key before it. */
static inline uint64_t word_at(const char *text, const char *end) {
  const char *from = end - text < 8 ? end - 8 : text;
  uint64_t word;
  memcpy(&word, from, sizeof word);
  return le64toh(word) >> 8 * (text - from);
}

/* The number of up to 18 digits at *text, which is moved behind it; NAI_NULL_I64 when there are none or more. *lost: it
 * is not what was written, as 07 is not. */
static inline int64_t read_number(bool *lost, const char **text, const char *end) {
  const char *begin = *text;
  uint64_t value;
  size_t count = read_digits(&value, word_at(begin, end));
  if (count == 8)
    for (unsigned digit; begin + count < end && (digit = (unsigned char)begin[count] - (unsigned)'0') <= 9; count++)
      value = value * 10 + digit;
  *text = begin + count;
  const bool known = count - 1 < 18;
  *lost |= !known || (*begin == '0' && count > 1);
  return known ? (int64_t)value : NAI_NULL_I64;
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
 * not known. False where the text begins with no key. */
static inline bool read_suffix(struct nai_suffix *suffix, struct nai_part *part, const char *text, const char *end) {
  enum key last = NO_KEY, key;
  bool lost = false;
  for (size_t len; (key = key_at(&len, text, end)) && text + len < end; last = key) {
    text += len;
    if (key == SIZES) {
      len = list_length(text, end);
      suffix->sizes = add_sizes(part, text, len);
      lost |= suffix->sizes == NAI_NO_STRING;
      text += len;
    } else {
      *(key == SEQ ? &suffix->seq : &suffix->op_id) = read_number(&lost, &text, end);
    }
    lost |= key <= last; /* in another order, or twice */
  }
  suffix->lost = lost || text < end;
  return last != NO_KEY;
}

/* The number of a raw text, whose name is known then; NAI_NO_STRING once something failed. */
static uint32_t add_raw(struct nai_part *part, const char *text, size_t len, enum nai_name_kind kind) {
  if (part->oom) /* an array may be shorter than what it belongs to */
    return NAI_NO_STRING;
  uint32_t before = part->raw.count;
  uint32_t raw = add(part, &part->raw, text, len);
  if (raw < before || raw == NAI_NO_STRING)
    return raw;
  if (!HAS_ROOM(part, part->raw_names, part->raw_capacity, raw))
    return NAI_NO_STRING;
  part->raw_names[raw] = add_clean(part, text, kind == NAI_NAME_API ? api_length(text, len) : len);
  return raw;
}

uint32_t nai_name_by_text(struct nai_part *part, const char *text, size_t len, enum nai_name_kind kind) {
  uint32_t raw = add_raw(part, text, len, kind);
  return raw == NAI_NO_STRING ? raw : part->raw_names[raw];
}

/* Where the name of a range of that text, or of one much like it, is kept that was read lately. */
static inline uint32_t *lately_of(struct nai_part *part, const char *text, size_t len) {
  uint64_t words[2];
  if (len < sizeof words)
    return &part->lately[0];
  memcpy(words, text, sizeof words);
  return &part->lately[((words[0] + words[1] * 31 + len) * 0x9e3779b97f4a7c15u >> 32) % NAI_LATELY];
}

/* Reads a text that begins with that raw name, which holds no key: it is the range's where a key or nothing follows. */
static inline bool is_named(struct nai_suffix *suffix, struct nai_part *part, uint32_t raw, const char *text,
                            size_t len) {
  const uint64_t *offsets = &part->raw.offsets[raw];
  const size_t length = (size_t)(offsets[1] - offsets[0] - 1);
  return length <= len && nai_same_text(part->raw.bytes + offsets[0], text, length) &&
         (length == len || read_suffix(suffix, part, text + length, text + len));
}

/* Texts that differ only behind the canonical name must not fill the dictionary of raw texts. */
__attribute__((noinline)) static uint32_t read_range(struct nai_suffix *suffix, struct nai_part *part, uint32_t *lately,
                                                     const char *text, size_t len) {
  const size_t length = nai_nvtx_name_length(text, len);
  const uint32_t raw = add_raw(part, text, length, NAI_NAME_PLAIN);
  read_suffix(suffix, part, text + length, text + len);
  *lately = raw + 1;
  return raw == NAI_NO_STRING ? raw : part->raw_names[raw];
}

uint32_t nai_range_by_text(struct nai_suffix *suffix, struct nai_part *part, const char *text, size_t len) {
  uint32_t *lately = lately_of(part, text, len);
  if (*lately && is_named(suffix, part, *lately - 1, text, len))
    return part->raw_names[*lately - 1];
  return read_range(suffix, part, lately, text, len);
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

/* Index in name_ids of an id that is not there, UINT32_MAX when out of memory. */
static uint32_t add_id(struct nai_part *part, int64_t id) {
  bool added;
  uint32_t index = nai_keyset_insert(&part->name_ids, id, &added);
  part->oom |= part->name_ids.oom;
  if (part->oom || !HAS_ROOM(part, part->id_names, part->id_capacity, index))
    return UINT32_MAX;
  part->id_names[index] = NAI_NO_STRING;
  return index;
}

/* The same, with the name; of a call also its version. Out of line: rows with names that are known have none to add. */
__attribute__((noinline)) static uint32_t add_named(struct nai_part *part, int64_t id, enum nai_name_kind kind) {
  struct nai_cell cell;
  uint32_t index = add_id(part, id);
  bool call = kind == NAI_NAME_API;
  if (index == UINT32_MAX || (call && !HAS_ROOM(part, part->id_versions, part->version_capacity, index)))
    return UINT32_MAX;
  if (call)
    part->id_versions[index] = NAI_NO_STRING;
  if (look_up(&cell, part, id))
    part->id_names[index] = call ? add_call(part, cell.data, cell.len, index) : add_clean(part, cell.data, cell.len);
  return index;
}

uint32_t nai_name_by_id(struct nai_part *part, int64_t id, enum nai_name_kind kind) {
  uint32_t index = nai_keyset_find(&part->name_ids, id);
  if (part->oom || (index == UINT32_MAX && (index = add_named(part, id, kind)) == UINT32_MAX))
    return NAI_NO_STRING;
  if (kind == NAI_NAME_API)
    part->api_version = part->id_versions[index];
  return part->id_names[index];
}

uint32_t nai_range_by_id(struct nai_suffix *suffix, struct nai_part *part, int64_t id) {
  struct nai_cell cell;
  uint32_t index = nai_keyset_find(&part->name_ids, id);
  bool known = index != UINT32_MAX;
  if (part->oom || (!known && (index = add_id(part, id)) == UINT32_MAX) ||
      (!known && !HAS_ROOM(part, part->id_suffixes, part->suffix_capacity, index)))
    return NAI_NO_STRING;
  if (!known)
    part->id_suffixes[index] = NAI_NO_SUFFIX;
  if (!known && look_up(&cell, part, id)) {
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
