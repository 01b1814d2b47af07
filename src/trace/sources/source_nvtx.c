/* Sources of NVTX: ranges and marks, and the payloads attached to them. */
#include "trace/sources/source_cells.h"
#include "tables/nvtx_events.h"
#include "tables/nvtx_payloads.h"

/* --- ranges and marks ------------------------------------------------------------------------- */

#define NVTX_FIELDS(F, L, T)                     \
  TIMES(F, L, T)                                 \
  F(L, T, type, OWN, OPTIONAL, "eventType")      \
  F(L, T, thread, THREAD, OPTIONAL, "globalTid") \
  F(L, T, text_id, OWN, OPTIONAL, "textId")      \
  F(L, T, text, OWN, OPTIONAL, "text")           \
  F(L, T, domain, OWN, EXTRA, "domainId")        \
  F(L, T, category, I64, EXTRA, "category")      \
  F(L, T, color, I64, EXTRA, "color")            \
  F(L, T, end_thread, OWN, EXTRA, "endGlobalTid")

static int put_range_times(struct nai_part *p);
NAI_FIELDS(nvtx, NVTX_FIELDS, NVTX_EVENTS, put_range_times)

/* Exports that know no NULL write 0. */
static bool has_no_end(const struct nai_cell *start, const struct nai_cell *end) {
  return end->type == NAI_CELL_NULL ||
         (start->type == NAI_CELL_INT && start->i > 0 && end->type == NAI_CELL_INT && end->i == 0);
}

/* Row kind of an eventType, -1 for rows that are no ranges or marks. Exports without the column hold ranges (an end is
 * set) and marks. */
static int nvtx_kind(const struct nai_part *p) {
  const struct nai_cell *type = field(p, nvtx_type);
  if (type->type != NAI_CELL_INT)
    return has_no_end(field(p, START), field(p, END)) ? NAI_NVTX_MARK : NAI_NVTX_PUSH_POP;
  switch (type->i) {
  case 59:
  case 70:
    return NAI_NVTX_PUSH_POP;
  case 60:
  case 71:
    return NAI_NVTX_START_END;
  case 34:
    return NAI_NVTX_MARK;
  default:
    return -1;
  }
}

/* Whether the name is inline: beside it, exports that know no NULL write an id of 0. */
static bool is_inline(const struct nai_cell *id, const struct nai_cell *text) {
  return text->type == NAI_CELL_TEXT && text->len && (id->type != NAI_CELL_INT || id->i == 0);
}

/* Canonical name and what stood behind it. */
static uint32_t nvtx_name(struct nai_part *p, struct nai_suffix *suffix) {
  const struct nai_cell *id = field(p, nvtx_text_id), *text = field(p, nvtx_text);
  uint32_t name = NAI_NO_STRING;
  *suffix = NAI_NO_SUFFIX;
  p->doubtful_names += id->type == NAI_CELL_INT && is_inline(id, text);
  if (id->type == NAI_CELL_INT && !is_inline(id, text))
    name = nai_range_by_id(suffix, p, id->i);
  if (name == NAI_NO_STRING && !p->failed && text->type == NAI_CELL_TEXT)
    name = nai_range_by_text(suffix, p, text->data, text->len);
  if (name == NAI_NO_STRING && !p->failed && id->type == NAI_CELL_INT)
    name = nai_name_missing(p, id->i);
  if (name == NAI_NO_STRING && !p->failed)
    name = nai_name_by_text(p, "", 0, NAI_NAME_PLAIN);
  return name;
}

/* Processes' ids leave room for the number of a category: 0 is the domain itself. */
enum { MAX_CATEGORY = 0xFFFFFF };

static inline uint32_t domain_of(struct nai_part *p, int thread, int domain) {
  return record_of(p, nai_process_key(int_or(p, thread, 0)), int_or(p, domain, 0));
}

/* Start and end, which need not be there. */
static int put_range_times(struct nai_part *p) {
  const struct nai_cell *start = field(p, START), *end = field(p, END);
  if (start->type == NAI_CELL_INT && end->type == NAI_CELL_INT && end->i) /* most */
    return put_interval(p, start->i, end->i);
  bool no_end = start->type == NAI_CELL_INT && has_no_end(start, end);
  bool open = no_end && nvtx_kind(p) != NAI_NVTX_MARK;
  int verdict = no_end ? put_interval(p, start->i, start->i) : put_times(p);
  /* An open range that began before the trimmed window still covers it. */
  if (open && verdict == NAI_SKIP && start->i - p->time_offset_ns < p->options->trim_start_ns) {
    put_i64(p, NVTX_EVENTS_start_ns, p->options->trim_start_ns);
    p->clipped++;
    verdict = NAI_KEEP;
  }
  if (verdict == NAI_KEEP && open) { /* until the last timestamp of the trace, known only when everything is read */
    put_null(p, NVTX_EVENTS_end_ns);
    p->open_ranges++;
  }
  return verdict;
}

/* What a domain, or a category in it, is called. */
static void put_given_name(struct nai_part *p) {
  enum { CATEGORY_NAMED = 33, DOMAIN_CREATED = 75 };
  int64_t type = int_or(p, nvtx_type, 0), category = type == CATEGORY_NAMED ? int_or(p, nvtx_category, 0) : 0;
  bool named = type == DOMAIN_CREATED || (category > 0 && category <= MAX_CATEGORY);
  if (named)
    nai_record_named(p, record_of(p, nai_process_key(int_or(p, nvtx_thread, 0)) | category, int_or(p, nvtx_domain, 0)),
                     field(p, nvtx_text_id), field(p, nvtx_text));
}

static int nvtx_row(struct nai_part *p) {
  int kind = nvtx_kind(p);
  if (kind < 0) {
    put_given_name(p);
    return NAI_SKIP;
  }
  int verdict = put_nvtx(p);
  if (verdict != NAI_KEEP)
    return verdict;
  struct nai_suffix suffix;
  int64_t rowid = p->last_rowid, ended_on = int_or(p, nvtx_end_thread, 0);
  put_name(p, NVTX_EVENTS_name, nvtx_name(p, &suffix));
  put_i32(p, NVTX_EVENTS_kind, kind);
  /* For now from the part's first row; no real rowid is near the limits of 64 bits. */
  put_i64(p, NVTX_EVENTS_export_row_offset, rowid > INT64_MIN / 2 ? rowid - p->rows : NAI_NULL_I64);
  put_i64(p, NVTX_EVENTS_domain, domain_of(p, nvtx_thread, nvtx_domain));
  if (ended_on)
    put_thread(p, NVTX_EVENTS_end_thread, ended_on);
  else
    put_null(p, NVTX_EVENTS_end_thread);
  put_i64(p, NVTX_EVENTS_seq, suffix.seq);
  put_name(p, NVTX_EVENTS_sizes, suffix.sizes);
  put_i64(p, NVTX_EVENTS_op_id, suffix.op_id);
  p->cut_names += suffix.lost;
  return NAI_KEEP;
}

const struct nai_source nai_source_nvtx = {.table = NAI_IN_NVTX,
                                           .capability = "NVTX",
                                           .disables = "NVTX ranges, phases, attribution of GPU work to code",
                                           .records = NAI_IN_NVTX_DOMAINS,
                                           .brings = NAI_IN(NVTX_DOMAINS) | NAI_IN(NVTX_SIZES),
                                           .feeds = {NAI_FEED(nvtx, nvtx_row, 0, "NVTX_EVENTS")}};

/* --- payloads --------------------------------------------------------------------------------- */

#define PAYLOAD_FIELDS(F, L, T)                  \
  F(L, T, start, OWN, REQUIRED, "start")         \
  F(L, T, thread, THREAD, OPTIONAL, "globalTid") \
  F(L, T, domain, OWN, OPTIONAL, "domainId")     \
  F(L, T, blob, OWN, ONE_OF, "binaryData")       \
  F(L, T, json_id, OWN, ONE_OF, "jsonTextId")    \
  F(L, T, json, OWN, ONE_OF, "jsonText")         \
  F(L, T, uint64, OWN, ONE_OF, "uint64Value")    \
  F(L, T, int64, OWN, ONE_OF, "int64Value")      \
  F(L, T, uint32, OWN, ONE_OF, "uint32Value")    \
  F(L, T, int32, OWN, ONE_OF, "int32Value")      \
  F(L, T, double, OWN, ONE_OF, "doubleValue")    \
  F(L, T, float, OWN, ONE_OF, "floatValue")
NAI_FIELDS(payload, PAYLOAD_FIELDS, NVTX_PAYLOADS, put_time)

/* The blob's bytes as hexadecimal digits: text columns hold text only. */
static void put_blob(struct nai_part *p, const struct nai_cell *blob) {
  enum { MAX_BLOB_BYTES = 4096 };
  static const char digits[] = "0123456789abcdef";
  char hex[2 * MAX_BLOB_BYTES];
  put_i64(p, NVTX_PAYLOADS_blob_bytes, blob->len);
  if (blob->len > MAX_BLOB_BYTES) {
    p->long_payloads++;
    return;
  }
  for (uint32_t i = 0; i < blob->len; i++) {
    hex[2 * i] = digits[(unsigned char)blob->data[i] >> 4];
    hex[2 * i + 1] = digits[(unsigned char)blob->data[i] & 15];
  }
  put_name(p, NVTX_PAYLOADS_blob, nai_name_by_text(p, hex, (size_t)blob->len * 2, NAI_NAME_PLAIN));
}

/* The first of the integer fields that has a value, -1 when none has. */
static int integer_field(const struct nai_part *p) {
  for (int f = payload_uint64; f <= payload_int32; f++)
    if (is_int(p, f))
      return f;
  return -1;
}

/* Kind of payload, -1 for none. */
static int payload_kind(const struct nai_part *p) {
  const struct nai_cell *blob = field(p, payload_blob);
  if ((blob->type == NAI_CELL_BLOB || blob->type == NAI_CELL_TEXT) && blob->len)
    return NAI_PAYLOAD_BLOB;
  if (field(p, payload_json)->type == NAI_CELL_TEXT || is_int(p, payload_json_id))
    return NAI_PAYLOAD_JSON;
  if (integer_field(p) >= 0)
    return NAI_PAYLOAD_INTEGER;
  bool real = field(p, payload_double)->type == NAI_CELL_REAL || field(p, payload_float)->type == NAI_CELL_REAL;
  return real ? NAI_PAYLOAD_REAL : -1;
}

__attribute__((noinline)) static int put_payload_row(struct nai_part *p, int kind) {
  static const int of_one_kind[] = {NVTX_PAYLOADS_blob, NVTX_PAYLOADS_blob_bytes, NVTX_PAYLOADS_json,
                                    NVTX_PAYLOADS_integer};
  int verdict = put_payload(p);
  if (verdict != NAI_KEEP)
    return verdict;
  put_i64(p, NVTX_PAYLOADS_domain, domain_of(p, payload_thread, payload_domain));
  put_i64(p, NVTX_PAYLOADS_export_row, p->last_rowid);
  put_i32(p, NVTX_PAYLOADS_kind, kind);
  for (size_t i = 0; i < sizeof of_one_kind / sizeof *of_one_kind; i++)
    put_null(p, of_one_kind[i]);
  const struct nai_cell *json = field(p, payload_json);
  if (kind == NAI_PAYLOAD_BLOB)
    put_blob(p, field(p, payload_blob));
  if (kind == NAI_PAYLOAD_JSON)
    put_text(p, NVTX_PAYLOADS_json, json->type == NAI_CELL_TEXT ? json : field(p, payload_json_id));
  if (kind == NAI_PAYLOAD_INTEGER)
    put_i64(p, NVTX_PAYLOADS_integer, field(p, integer_field(p))->i);
  return NAI_KEEP;
}

/* Most ranges have none. */
static int payload_row(struct nai_part *p) {
  int kind = payload_kind(p);
  return kind < 0 ? NAI_SKIP : put_payload_row(p, kind);
}

const struct nai_source nai_source_nvtx_payloads = {.table = NAI_IN_NVTX_PAYLOADS,
                                                    .capability = "NVTX payloads",
                                                    .disables = "sizes and communicators of collectives",
                                                    .records = NAI_IN_NVTX_DOMAINS,
                                                    .brings = NAI_IN(NVTX_DOMAINS) | NAI_IN(PAYLOAD_SCHEMAS) |
                                                              NAI_IN(PAYLOAD_ENTRIES) | NAI_IN(PAYLOAD_ENUMS) |
                                                              NAI_IN(DYNAMIC_PAYLOADS),
                                                    .witness = true,
                                                    .only_with = "NVTX_PAYLOAD_SCHEMAS",
                                                    .feeds = {NAI_FEED(payload, payload_row, 0, "NVTX_EVENTS")}};
