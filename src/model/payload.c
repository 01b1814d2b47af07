/* Blobs of NVTX payloads, read by the trace's own schemas. */
#include "model/payload.h"

#include "tables/events.h"

/* Types of entries, and the first id of what a program registers itself: nested schemas and enumerations. */
enum { TYPE_INT = 5, TYPE_INT32 = 15, TYPE_UINT32, TYPE_INT64, TYPE_UINT64, TYPE_SIZE = 22, FIRST_OWN_TYPE = 1 << 24 };
enum { HEADER_BYTES = 32, MAX_BLOB_BYTES = 4096 };
#define MAX_MESSAGE_BYTES (INT64_C(1) << 53)

/* Where a schema has its fields. */
struct layout {
  int64_t bytes; /* of a payload, 0 unknown */
  bool conflict;
  int64_t type[NAI_PAYLOAD_FIELDS], offset[NAI_PAYLOAD_FIELDS]; /* offset -1: not in this schema */
};

struct nai_payload_schemas {
  const struct nai_table *enums;
  struct nai_strings ids;     /* domain and schema id, as bytes */
  struct nai_strings entries; /* domain, schema id and index, as bytes */
  struct layout *layouts;     /* by number of the id */
  struct nai_arena arena;     /* what these are made of */
};

static const char *const names[NAI_PAYLOAD_FIELDS] = {"NCCL communicator ID",
                                                      "Message size [bytes]",
                                                      "Root",
                                                      "Peer rank",
                                                      "Reduction operation",
                                                      "No. of ranks",
                                                      "Rank",
                                                      "CUDA device",
                                                      "Parent NCCL communicator ID",
                                                      "count",
                                                      "dataType",
                                                      "apiGroupId",
                                                      "apiId",
                                                      "seqNumber"};
/* What nsys -t nccl calls some of them. */
static const struct {
  const char *name;
  enum nai_payload_field field;
} advanced[] = {{"commHash", NAI_PAYLOAD_COMM},
                {"commRank", NAI_PAYLOAD_RANK},
                {"root", NAI_PAYLOAD_ROOT},
                {"peer", NAI_PAYLOAD_PEER},
                {"nRanks", NAI_PAYLOAD_RANKS}};

const char *nai_payload_verdict_text(enum nai_payload_verdict verdict) {
  static const char *const texts[NAI_PAYLOAD_VERDICTS] = {"read",
                                                          "unknown header",
                                                          "not of the size its schema says",
                                                          "not described by the trace",
                                                          "described differently by two processes",
                                                          "impossible message size",
                                                          "without commHash and apiGroupId"};
  return texts[verdict];
}

static int field_of(const char *name, size_t len) {
  for (int f = 0; f < NAI_PAYLOAD_FIELDS; f++)
    if (strlen(names[f]) == len && memcmp(names[f], name, len) == 0)
      return f;
  for (size_t i = 0; i < sizeof advanced / sizeof *advanced; i++)
    if (strlen(advanced[i].name) == len && memcmp(advanced[i].name, name, len) == 0)
      return advanced[i].field;
  return -1;
}

/* --- schemas ---------------------------------------------------------------------------------- */

static struct layout *layout_of(const struct nai_payload_schemas *s, int64_t domain, int64_t schema) {
  const int64_t id[] = {domain, schema};
  uint32_t at = nai_strings_find(&s->ids, (const char *)id, sizeof id);
  return at == NAI_NO_STRING ? NULL : &s->layouts[at];
}

static int collect_ids(struct nai_payload_schemas *s, const struct nai_table *t, int domain, int schema,
                       struct nai_err *err) {
  for (int64_t i = 0; t && i < t->rows; i++) {
    const int64_t id[] = {nai_get_i64(t, i, domain), nai_get_i64(t, i, schema)};
    if (nai_strings_add(&s->ids, (const char *)id, sizeof id) == NAI_NO_STRING)
      return nai_err_nomem(err);
  }
  return NAI_OK;
}

static void take_sizes(struct nai_payload_schemas *s, const struct nai_table *t) {
  for (int64_t i = 0; t && i < t->rows; i++) {
    struct layout *layout = layout_of(s, nai_get_i64(t, i, NVTX_PAYLOAD_SCHEMAS_domain_id),
                                      nai_get_i64(t, i, NVTX_PAYLOAD_SCHEMAS_schema_id));
    int64_t bytes = nai_get_i64(t, i, NVTX_PAYLOAD_SCHEMAS_payload_bytes);
    bytes = bytes > 0 ? bytes : 0;
    layout->conflict |= layout->bytes && bytes && layout->bytes != bytes;
    layout->bytes = bytes ? bytes : layout->bytes;
  }
}

/* Rows that repeat are there once: an entry that is there twice says two things. */
static int take_entries(struct nai_payload_schemas *s, const struct nai_table *t, struct nai_err *err) {
  for (int64_t i = 0; t && i < t->rows; i++) {
    const int64_t id[] = {nai_get_i64(t, i, NVTX_PAYLOAD_ENTRIES_domain_id),
                          nai_get_i64(t, i, NVTX_PAYLOAD_ENTRIES_schema_id),
                          nai_get_i64(t, i, NVTX_PAYLOAD_ENTRIES_idx)};
    struct layout *layout = layout_of(s, id[0], id[1]);
    uint32_t before = s->entries.count;
    uint32_t at = nai_strings_add(&s->entries, (const char *)id, sizeof id);
    NAI_TRY(nai_memory_check(at != NAI_NO_STRING, err));
    layout->conflict |= at < before;
    const char *name = nai_get_str(t, i, NVTX_PAYLOAD_ENTRIES_name);
    int field = field_of(name, strlen(name));
    int64_t offset = nai_get_i64(t, i, NVTX_PAYLOAD_ENTRIES_offset_bytes),
            detail = nai_get_i64(t, i, NVTX_PAYLOAD_ENTRIES_detail);
    if (field < 0 || offset < 0 || offset > MAX_BLOB_BYTES || (detail != NAI_NULL_I64 && detail > 1))
      continue;
    layout->conflict |= layout->offset[field] >= 0; /* the name is there twice */
    layout->offset[field] = offset;
    layout->type[field] = nai_get_i64(t, i, NVTX_PAYLOAD_ENTRIES_type);
  }
  return NAI_OK;
}

static int fill(struct nai_payload_schemas *s, const struct nai_table *schemas, const struct nai_table *entries,
                struct nai_err *err) {
  NAI_TRY(collect_ids(s, schemas, NVTX_PAYLOAD_SCHEMAS_domain_id, NVTX_PAYLOAD_SCHEMAS_schema_id, err));
  NAI_TRY(collect_ids(s, entries, NVTX_PAYLOAD_ENTRIES_domain_id, NVTX_PAYLOAD_ENTRIES_schema_id, err));
  NAI_TRY(NAI_NEW(s->layouts, &s->arena, s->ids.count, err));
  for (uint32_t i = 0; i < s->ids.count; i++)
    for (int f = 0; f < NAI_PAYLOAD_FIELDS; f++)
      s->layouts[i].offset[f] = -1;
  take_sizes(s, schemas);
  return take_entries(s, entries, err);
}

int nai_payload_schemas_new(struct nai_payload_schemas **out, const struct nai_table *schemas,
                            const struct nai_table *entries, const struct nai_table *enums, struct nai_err *err) {
  NAI_OWNED(nai_payload_schemas) *s = calloc(1, sizeof *s);
  *out = NULL;
  NAI_TRY(nai_memory_check(s, err));
  s->enums = enums;
  s->ids.arena = s->entries.arena = &s->arena;
  NAI_TRY(fill(s, schemas, entries, err));
  *out = s;
  s = NULL;
  return NAI_OK;
}

void nai_payload_schemas_free(struct nai_payload_schemas *s) {
  if (s)
    nai_arena_free(&s->arena);
  free(s);
}

/* --- blobs ------------------------------------------------------------------------------------ */

static uint64_t word_at(const unsigned char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return word;
}

/* Reads an integer of an entry's type; false for other types and what does not fit. */
static bool integer_at(int64_t *out, int64_t type, const unsigned char *payload, uint64_t size, int64_t offset) {
  bool wide = type == TYPE_INT64 || type == TYPE_UINT64 || type == TYPE_SIZE;
  bool narrow = type == TYPE_INT || type == TYPE_INT32 || type == TYPE_UINT32 || type >= FIRST_OWN_TYPE;
  uint64_t bytes = wide ? 8 : 4;
  if ((!wide && !narrow) || size < bytes || (uint64_t)offset > size - bytes)
    return false;
  uint32_t word;
  memcpy(&word, payload + offset, sizeof word);
  *out = wide ? (int64_t)word_at(payload + offset) : type == TYPE_UINT32 ? (int64_t)word : (int64_t)(int32_t)word;
  return true;
}

static enum nai_payload_verdict read_fields(struct nai_payload *out, const struct layout *layout,
                                            const unsigned char *payload, uint64_t size) {
  for (int f = 0; f < NAI_PAYLOAD_FIELDS; f++) {
    if (layout->offset[f] < 0 || out->known >> f & 1)
      continue;
    if (!integer_at(&out->value[f], layout->type[f], payload, size, layout->offset[f]))
      return NAI_PAYLOAD_BAD_SIZE;
    if (f == NAI_PAYLOAD_BYTES && (out->value[f] < 0 || out->value[f] > MAX_MESSAGE_BYTES))
      return NAI_PAYLOAD_BAD_VALUE;
    if (f == NAI_PAYLOAD_REDOP)
      out->redop_type = layout->type[f] >= FIRST_OWN_TYPE ? layout->type[f] : 0;
    out->known |= 1u << f;
  }
  return NAI_PAYLOAD_READ;
}

/* One payload with its header. Two readings of the header are about: four words of 64 bits (domain, schema, size,
 * offset), or two of 32 bits each, then size and total size. Their first three words agree where ids are small, so the
 * fourth decides. *taken: bytes up to the next payload. */
static enum nai_payload_verdict read_one(struct nai_payload *out, size_t *taken, const struct nai_payload_schemas *s,
                                         int64_t domain_id, const unsigned char *bytes, size_t len) {
  if (len < HEADER_BYTES)
    return NAI_PAYLOAD_BAD_HEADER;
  uint64_t domain = word_at(bytes) & UINT32_MAX, schema = word_at(bytes + 8) & UINT32_MAX;
  uint64_t size = word_at(bytes + 16), place = word_at(bytes + 24), from = HEADER_BYTES;
  if (size > len - HEADER_BYTES)
    return NAI_PAYLOAD_BAD_SIZE;
  if (place != HEADER_BYTES && place != HEADER_BYTES + size) {
    if (place < HEADER_BYTES || place > len - size)
      return NAI_PAYLOAD_BAD_HEADER;
    from = place;
  }
  const struct layout *layout = layout_of(s, (int64_t)domain, (int64_t)schema);
  if ((int64_t)domain != domain_id || !layout)
    return NAI_PAYLOAD_NO_SCHEMA;
  if (layout->conflict)
    return NAI_PAYLOAD_CONFLICT;
  if (layout->bytes && (uint64_t)layout->bytes != size)
    return NAI_PAYLOAD_BAD_SIZE;
  *taken = (size_t)(from + size);
  return read_fields(out, layout, bytes + from, size);
}

enum nai_payload_verdict nai_payload_read(struct nai_payload *out, const struct nai_payload_schemas *s,
                                          int64_t domain_id, const unsigned char *bytes, size_t len) {
  enum nai_payload_verdict verdict = NAI_PAYLOAD_BAD_HEADER;
  *out = (struct nai_payload){0};
  for (size_t at = 0, taken = 0; at < len; at += taken) {
    verdict = read_one(out, &taken, s, domain_id, bytes + at, len - at);
    if (verdict != NAI_PAYLOAD_READ)
      break;
  }
  if (verdict != NAI_PAYLOAD_READ)
    *out = (struct nai_payload){0};
  return verdict;
}

void nai_payload_add(struct nai_payload *to, const struct nai_payload *more) {
  for (int f = 0; f < NAI_PAYLOAD_FIELDS; f++)
    if ((more->known & ~to->known) >> f & 1)
      to->value[f] = more->value[f];
  to->redop_type = nai_payload_has(to, NAI_PAYLOAD_REDOP) ? to->redop_type : more->redop_type;
  to->known |= more->known;
}

static int digit(char c) {
  return c >= '0' && c <= '9' ? c - '0'
       : c >= 'a' && c <= 'f' ? c - 'a' + 10
       : c >= 'A' && c <= 'F' ? c - 'A' + 10
                              : -1;
}

enum nai_payload_verdict nai_payload_read_hex(struct nai_payload *out, const struct nai_payload_schemas *s,
                                              int64_t domain_id, const char *hex, size_t len) {
  unsigned char bytes[MAX_BLOB_BYTES];
  *out = (struct nai_payload){0};
  if (len % 2 || len / 2 > sizeof bytes)
    return NAI_PAYLOAD_BAD_HEADER;
  for (size_t i = 0; i < len / 2; i++) {
    int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
    if (high < 0 || low < 0)
      return NAI_PAYLOAD_BAD_HEADER;
    bytes[i] = (unsigned char)(high * 16 + low);
  }
  return nai_payload_read(out, s, domain_id, bytes, len / 2);
}

const char *nai_payload_redop(const struct nai_payload *payload, const struct nai_payload_schemas *s,
                              int64_t domain_id) {
  const struct nai_table *t = s->enums;
  if (!nai_payload_has(payload, NAI_PAYLOAD_REDOP) || !payload->redop_type)
    return NULL;
  const char *found = NULL;
  for (int64_t i = 0; t && i < t->rows; i++) {
    if (nai_get_i64(t, i, NVTX_PAYLOAD_ENUMS_domain_id) != domain_id ||
        nai_get_i64(t, i, NVTX_PAYLOAD_ENUMS_schema_id) != payload->redop_type ||
        nai_get_i64(t, i, NVTX_PAYLOAD_ENUMS_value) != payload->value[NAI_PAYLOAD_REDOP])
      continue;
    if (found && strcmp(found, nai_get_str(t, i, NVTX_PAYLOAD_ENUMS_name)) != 0)
      return NULL; /* processes call it differently */
    found = nai_get_str(t, i, NVTX_PAYLOAD_ENUMS_name);
  }
  return found && *found ? found : NULL;
}

/* --- JSON ------------------------------------------------------------------------------------- */

struct scanner {
  const char *at, *end;
};

static void skip_space(struct scanner *in) {
  while (in->at < in->end && strchr(" \t\r\n", *in->at) && *in->at)
    in->at++;
}

static bool take(struct scanner *in, char c) {
  skip_space(in);
  if (in->at == in->end || *in->at != c)
    return false;
  in->at++;
  return true;
}

/* What is between quotes, as it stands there. */
static bool take_string(struct scanner *in, const char **text, size_t *len) {
  if (!take(in, '"'))
    return false;
  *text = in->at;
  for (; in->at < in->end && *in->at != '"'; in->at++)
    in->at += *in->at == '\\' && in->at + 1 < in->end;
  if (in->at >= in->end)
    return false;
  *len = (size_t)(in->at++ - *text);
  return true;
}

/* An integer, in digits or as text of digits; other numbers and words are passed over with *known false. */
static bool take_number(struct scanner *in, int64_t *value, bool *known) {
  struct scanner digits = *in;
  size_t len;
  skip_space(&digits);
  bool quoted = digits.at < digits.end && *digits.at == '"';
  if (quoted) {
    if (!take_string(in, &digits.at, &len))
      return false;
    digits.end = digits.at + len;
  } else {
    while (in->at < in->end && !strchr(",}]", *in->at))
      in->at++;
    digits.end = in->at;
  }
  bool negative = digits.at < digits.end && *digits.at == '-';
  uint64_t sum = 0;
  const char *first = digits.at += negative;
  bool fits = true;
  for (; digits.at < digits.end && *digits.at >= '0' && *digits.at <= '9'; digits.at++)
    fits = fits && !__builtin_mul_overflow(sum, 10, &sum) &&
           !__builtin_add_overflow(sum, (uint64_t)(*digits.at - '0'), &sum);
  const char *last = digits.at;
  skip_space(&digits);
  *known = fits && last > first && digits.at == digits.end;
  *value = negative ? (int64_t)(0 - sum) : (int64_t)sum;
  return true;
}

/* Bytes of an element, by NCCL's name of its type ("ncclBfloat16", "bfloat16") or number; 0 unknown. */
static int64_t type_bytes(const char *text, size_t len) {
  static const struct {
    const char *name;
    int64_t bytes;
  } types[] = {{"int8", 1},    {"uint8", 1},   {"int32", 4},   {"uint32", 4},   {"int64", 8},      {"uint64", 8},
               {"float16", 2}, {"float32", 4}, {"float64", 8}, {"bfloat16", 2}, {"float8e4m3", 1}, {"float8e5m2", 1}};
  char name[24] = "", number[4];
  while (len && strchr(" \"\t\r\n", *text))
    text++, len--;
  while (len && strchr(" \"\t\r\n", text[len - 1]))
    len--;
  size_t prefix = len > 4 && memcmp(text, "nccl", 4) == 0 ? 4 : 0;
  for (size_t i = prefix; i < len && len < sizeof name; i++)
    name[i - prefix] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 32) : text[i];
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    snprintf(number, sizeof number, "%zu", i); /* ncclDataType_t */
    if (strcmp(name, types[i].name) == 0 || strcmp(name, number) == 0)
      return types[i].bytes;
  }
  return 0;
}

/* The message size of a count of elements. */
static bool size_elements(struct nai_payload *p) {
  if (nai_payload_has(p, NAI_PAYLOAD_BYTES) || !nai_payload_has(p, NAI_PAYLOAD_COUNT) ||
      !nai_payload_has(p, NAI_PAYLOAD_TYPE))
    return true;
  p->known |= 1u << NAI_PAYLOAD_BYTES;
  return !__builtin_mul_overflow(p->value[NAI_PAYLOAD_COUNT], p->value[NAI_PAYLOAD_TYPE], &p->value[NAI_PAYLOAD_BYTES]);
}

enum nai_payload_verdict nai_payload_read_json(struct nai_payload *out, const char *text, size_t len) {
  struct scanner in = {text, text + len};
  *out = (struct nai_payload){0};
  bool fine = take(&in, '{'), more = fine && !take(&in, '}');
  while (fine && more) {
    const char *name;
    size_t name_len;
    int64_t value;
    bool known;
    fine = take_string(&in, &name, &name_len) && take(&in, ':');
    const char *text_of_value = in.at;
    fine = fine && take_number(&in, &value, &known);
    int field = fine ? field_of(name, name_len) : -1;
    if (field == NAI_PAYLOAD_TYPE)
      known = (value = type_bytes(text_of_value, (size_t)(in.at - text_of_value))) > 0;
    if (field >= 0 && known) {
      out->value[field] = value;
      out->known |= 1u << field;
    }
    more = fine && take(&in, ',');
    fine = fine && (more || take(&in, '}'));
  }
  skip_space(&in);
  fine = fine && in.at == in.end;
  bool possible = size_elements(out);
  possible = possible && (!nai_payload_has(out, NAI_PAYLOAD_BYTES) ||
                          (out->value[NAI_PAYLOAD_BYTES] >= 0 && out->value[NAI_PAYLOAD_BYTES] <= MAX_MESSAGE_BYTES));
  if (fine && possible)
    return NAI_PAYLOAD_READ;
  *out = (struct nai_payload){0};
  return fine ? NAI_PAYLOAD_BAD_VALUE : NAI_PAYLOAD_BAD_HEADER;
}

enum nai_payload_verdict nai_payload_read_fields(struct nai_payload *out, const struct nai_payload_schemas *s,
                                                 int64_t domain_id, int64_t schema_id, const char *text, size_t len) {
  const struct layout *layout = layout_of(s, domain_id, schema_id);
  enum nai_payload_verdict verdict = nai_payload_read_json(out, text, len);
  if (layout && !layout->conflict && layout->offset[NAI_PAYLOAD_REDOP] >= 0 &&
      layout->type[NAI_PAYLOAD_REDOP] >= FIRST_OWN_TYPE)
    out->redop_type = layout->type[NAI_PAYLOAD_REDOP];
  return verdict;
}
