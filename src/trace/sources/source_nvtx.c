/* Sources of NVTX: ranges and marks, and the payloads attached to them. */
#include "trace/sources/source_cells.h"
#include "tables/nvtx_events.h"
#include "tables/nvtx_payloads.h"

/* --- ranges and marks ------------------------------------------------------------------------- */

enum { N_TYPE = 2, N_THREAD, N_TEXT_ID, N_TEXT, N_DOMAIN, N_CATEGORY, N_COLOR, N_END_THREAD };
static const struct nai_field nvtx_fields[] = {TIMES,
                                               FIELD("eventType"),
                                               FIELD("globalTid"),
                                               FIELD("textId"),
                                               FIELD("text"),
                                               EXTRA("domainId"),
                                               EXTRA("category"),
                                               EXTRA("color"),
                                               EXTRA("endGlobalTid")};

/* Exports that know no NULL write 0. */
static bool has_no_end(const struct nai_cell *start, const struct nai_cell *end) {
  return end->type == NAI_CELL_NULL ||
         (start->type == NAI_CELL_INT && start->i > 0 && end->type == NAI_CELL_INT && end->i == 0);
}

/* Row kind of an eventType, -1 for rows that are no ranges or marks. Exports without the column hold ranges (an end is
 * set) and marks. */
static int nvtx_kind(const struct nai_part *p, const struct nai_cell *cells) {
  const struct nai_cell *type = field(p, cells, N_TYPE);
  if (type->type != NAI_CELL_INT)
    return has_no_end(field(p, cells, START), field(p, cells, END)) ? NAI_NVTX_MARK : NAI_NVTX_PUSH_POP;
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
static uint32_t nvtx_name(struct nai_part *p, const struct nai_cell *cells, struct nai_suffix *suffix, int *rc,
                          struct nai_err *err) {
  const struct nai_cell *id = field(p, cells, N_TEXT_ID), *text = field(p, cells, N_TEXT);
  uint32_t name = NAI_NO_STRING;
  *suffix = NAI_NO_SUFFIX;
  if (id->type == NAI_CELL_INT && !is_inline(id, text))
    name = nai_range_by_id(suffix, p, id->i, rc, err);
  if (name == NAI_NO_STRING && !*rc && text->type == NAI_CELL_TEXT)
    name = nai_range_by_text(suffix, p, text->data, text->len);
  if (name == NAI_NO_STRING && !*rc && id->type == NAI_CELL_INT)
    name = nai_name_missing(p, id->i);
  if (name == NAI_NO_STRING && !*rc)
    name = nai_name_by_text(p, "", 0, NAI_NAME_PLAIN);
  return name;
}

static uint32_t domain_of(struct nai_part *p, const struct nai_cell *cells, int thread, int domain) {
  return record_of(p, process_key(int_or(p, cells, thread, 0)), int_or(p, cells, domain, 0));
}

/* Start and end, which need not be there. */
static int put_range_times(struct nai_part *p, int64_t at, const struct nai_cell *cells, int kind) {
  const struct nai_cell *start = field(p, cells, START), *end = field(p, cells, END);
  bool no_end = start->type == NAI_CELL_INT && has_no_end(start, end), open = no_end && kind != NAI_NVTX_MARK;
  int verdict = no_end ? put_interval(p, at, start->i, start->i) : put_times(p, at, cells);
  /* An open range that began before the trimmed window still covers it. */
  if (open && verdict == NAI_SKIP && start->i - p->time_offset_ns < p->options->trim_start_ns) {
    *nai_part_cell(p, NVTX_EVENTS_start_ns, at) = p->options->trim_start_ns;
    p->clipped++;
    verdict = NAI_KEEP;
  }
  if (verdict == NAI_KEEP && open) { /* until the last timestamp of the trace, known only when everything is read */
    *nai_part_cell(p, NVTX_EVENTS_end_ns, at) = NAI_NULL_I64;
    p->open_ranges++;
  }
  return verdict;
}

/* Columns beside times, thread and name that a row has of its own. */
static void put_attributes(struct nai_part *p, int64_t at, const struct nai_cell *cells,
                           const struct nai_suffix *suffix) {
  *nai_part_cell(p, NVTX_EVENTS_domain, at) = domain_of(p, cells, N_THREAD, N_DOMAIN);
  put_field_i64(p, NVTX_EVENTS_category, at, cells, N_CATEGORY);
  put_field_i64(p, NVTX_EVENTS_color, at, cells, N_COLOR);
  int64_t ended_on = int_or(p, cells, N_END_THREAD, 0);
  if (ended_on)
    put_thread(p, NVTX_EVENTS_end_thread, at, ended_on);
  else
    put_null(p, NVTX_EVENTS_end_thread, at);
  *nai_part_cell(p, NVTX_EVENTS_seq, at) = suffix->seq;
  put_name(p, NVTX_EVENTS_sizes, at, suffix->sizes);
}

static int nvtx_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                    struct nai_err *err) {
  enum { DOMAIN_CREATED = 75 };
  int kind = nvtx_kind(p, cells);
  if (kind < 0 && int_or(p, cells, N_TYPE, 0) == DOMAIN_CREATED)
    nai_record_named(p, domain_of(p, cells, N_THREAD, N_DOMAIN), field(p, cells, N_TEXT_ID), field(p, cells, N_TEXT),
                     rc, err);
  if (kind < 0)
    return NAI_SKIP;
  int verdict = put_range_times(p, at, cells, kind);
  if (verdict != NAI_KEEP)
    return verdict;
  struct nai_suffix suffix;
  put_thread(p, NVTX_EVENTS_thread, at, int_or(p, cells, N_THREAD, 0));
  put_name(p, NVTX_EVENTS_name, at, nvtx_name(p, cells, &suffix, rc, err));
  put_i32(p, NVTX_EVENTS_kind, at, kind);
  /* For now from the part's first row; no real rowid is near the limits of 64 bits. */
  *nai_part_cell(p, NVTX_EVENTS_export_row_offset, at) = rowid > INT64_MIN / 2 ? rowid - p->rows : NAI_NULL_I64;
  put_attributes(p, at, cells, &suffix);
  return NAI_KEEP;
}

const struct nai_source nai_source_nvtx = {.table = NAI_IN_NVTX,
                                           .capability = "NVTX",
                                           .disables = "NVTX ranges, phases, attribution of GPU work to code",
                                           .dictionary = {[NVTX_EVENTS_thread] = NAI_THREADS,
                                                          [NVTX_EVENTS_name] = NAI_NAMES,
                                                          [NVTX_EVENTS_domain] = NAI_RECORDS,
                                                          [NVTX_EVENTS_end_thread] = NAI_THREADS,
                                                          [NVTX_EVENTS_sizes] = NAI_SIZES},
                                           .records = NAI_IN_NVTX_DOMAINS,
                                           .brings = NAI_IN_BIT(NAI_IN_NVTX_DOMAINS) | NAI_IN_BIT(NAI_IN_NVTX_SIZES),
                                           .feeds = {FEED(nvtx_fields, nvtx_row, "NVTX_EVENTS")},
                                           .feed_count = 1};

/* --- payloads --------------------------------------------------------------------------------- */

enum {
  L_THREAD = 1,
  L_DOMAIN,
  L_BLOB,
  L_JSON_ID,
  L_JSON,
  L_FIRST_INTEGER,
  L_LAST_INTEGER = L_FIRST_INTEGER + 3,
  L_DOUBLE,
  L_FLOAT
};
static const struct nai_field payload_fields[] = {NEEDED("start"),      FIELD("globalTid"),   FIELD("domainId"),
                                                  EXTRA("binaryData"),  EXTRA("jsonTextId"),  EXTRA("jsonText"),
                                                  EXTRA("uint64Value"), EXTRA("int64Value"),  EXTRA("uint32Value"),
                                                  EXTRA("int32Value"),  EXTRA("doubleValue"), EXTRA("floatValue")};

/* The blob's bytes as hexadecimal digits: text columns hold text only. */
static void put_blob(struct nai_part *p, int64_t at, const struct nai_cell *blob) {
  enum { MAX_BLOB_BYTES = 4096 };
  static const char digits[] = "0123456789abcdef";
  char hex[2 * MAX_BLOB_BYTES];
  *nai_part_cell(p, NVTX_PAYLOADS_blob_bytes, at) = blob->len;
  if (blob->len > MAX_BLOB_BYTES) {
    p->long_payloads++;
    return;
  }
  for (uint32_t i = 0; i < blob->len; i++) {
    hex[2 * i] = digits[(unsigned char)blob->data[i] >> 4];
    hex[2 * i + 1] = digits[(unsigned char)blob->data[i] & 15];
  }
  put_name(p, NVTX_PAYLOADS_blob, at, nai_name_by_text(p, hex, (size_t)blob->len * 2, NAI_NAME_PLAIN));
}

/* The first of the integer fields that has a value, -1 when none has. */
static int integer_field(const struct nai_part *p, const struct nai_cell *cells) {
  for (int f = L_FIRST_INTEGER; f <= L_LAST_INTEGER; f++)
    if (field(p, cells, f)->type == NAI_CELL_INT)
      return f;
  return -1;
}

/* Kind of payload, -1 for none. */
static int payload_kind(const struct nai_part *p, const struct nai_cell *cells) {
  const struct nai_cell *blob = field(p, cells, L_BLOB);
  if ((blob->type == NAI_CELL_BLOB || blob->type == NAI_CELL_TEXT) && blob->len)
    return NAI_PAYLOAD_BLOB;
  if (field(p, cells, L_JSON)->type == NAI_CELL_TEXT || field(p, cells, L_JSON_ID)->type == NAI_CELL_INT)
    return NAI_PAYLOAD_JSON;
  if (integer_field(p, cells) >= 0)
    return NAI_PAYLOAD_INTEGER;
  bool real = field(p, cells, L_DOUBLE)->type == NAI_CELL_REAL || field(p, cells, L_FLOAT)->type == NAI_CELL_REAL;
  return real ? NAI_PAYLOAD_REAL : -1;
}

static int payload_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                       struct nai_err *err) {
  int kind = payload_kind(p, cells);
  if (kind < 0)
    return NAI_SKIP;
  int verdict = put_time(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  put_thread(p, NVTX_PAYLOADS_thread, at, int_or(p, cells, L_THREAD, 0));
  *nai_part_cell(p, NVTX_PAYLOADS_domain, at) = domain_of(p, cells, L_THREAD, L_DOMAIN);
  *nai_part_cell(p, NVTX_PAYLOADS_export_row, at) = rowid;
  put_i32(p, NVTX_PAYLOADS_kind, at, kind);
  static const int of_one_kind[] = {NVTX_PAYLOADS_blob, NVTX_PAYLOADS_blob_bytes, NVTX_PAYLOADS_json,
                                    NVTX_PAYLOADS_integer};
  for (size_t i = 0; i < sizeof of_one_kind / sizeof *of_one_kind; i++)
    put_null(p, of_one_kind[i], at);
  if (kind == NAI_PAYLOAD_BLOB)
    put_blob(p, at, field(p, cells, L_BLOB));
  if (kind == NAI_PAYLOAD_JSON)
    put_optional_name(p, NVTX_PAYLOADS_json, at, cells,
                      field(p, cells, L_JSON)->type == NAI_CELL_TEXT ? L_JSON : L_JSON_ID, rc, err);
  if (kind == NAI_PAYLOAD_INTEGER)
    put_field_i64(p, NVTX_PAYLOADS_integer, at, cells, integer_field(p, cells));
  return NAI_KEEP;
}

const struct nai_source nai_source_nvtx_payloads = {.table = NAI_IN_NVTX_PAYLOADS,
                                                    .capability = "NVTX payloads",
                                                    .disables = "sizes and communicators of collectives",
                                                    .dictionary = {[NVTX_PAYLOADS_thread] = NAI_THREADS,
                                                                   [NVTX_PAYLOADS_domain] = NAI_RECORDS,
                                                                   [NVTX_PAYLOADS_blob] = NAI_NAMES,
                                                                   [NVTX_PAYLOADS_json] = NAI_NAMES},
                                                    .records = NAI_IN_NVTX_DOMAINS,
                                                    .brings = NAI_IN_BIT(NAI_IN_NVTX_DOMAINS) |
                                                              NAI_IN_BIT(NAI_IN_PAYLOAD_SCHEMAS) |
                                                              NAI_IN_BIT(NAI_IN_PAYLOAD_ENTRIES) |
                                                              NAI_IN_BIT(NAI_IN_PAYLOAD_ENUMS) |
                                                              NAI_IN_BIT(NAI_IN_DYNAMIC_PAYLOADS),
                                                    .witness = true,
                                                    .only_with = "NVTX_PAYLOAD_SCHEMAS",
                                                    .feeds = {FEED(payload_fields, payload_row, "NVTX_EVENTS")},
                                                    .feed_count = 1};
