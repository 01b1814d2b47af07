/* What the row functions of sources share: reading cells by field, checking them, storing them in a part. Internal to
 * src/trace. */
#pragma once

#include "trace/names.h"
#include "trace/sources/source.h"

/* --- the export's cells ----------------------------------------------------------------------- */

static inline const struct nai_cell *field(const struct nai_part *p, const struct nai_cell *cells, int f) {
  return &cells[p->intake->slot[f]];
}

static inline int64_t int_or(const struct nai_part *p, const struct nai_cell *cells, int f, int64_t otherwise) {
  const struct nai_cell *c = field(p, cells, f);
  return c->type == NAI_CELL_INT ? c->i : otherwise;
}

static inline int64_t process_key(int64_t global_id) { return (int64_t)((uint64_t)global_id & 0xFFFFFFFFFF000000u); }

/* --- the part's cells ------------------------------------------------------------------------- */

/* Stores an id column; what does not fit in 32 bits (CUPTI's 4294967295 "not applicable") becomes NULL. */
static inline void put_i32(struct nai_part *p, int column, int64_t at, int64_t value) {
  *nai_part_cell(p, column, at) = value < -INT32_MAX || value > INT32_MAX ? NAI_NULL_I64 : value;
}

static inline void put_field_i32(struct nai_part *p, int column, int64_t at, const struct nai_cell *cells, int f) {
  put_i32(p, column, at, int_or(p, cells, f, INT64_MAX));
}

static inline void put_field_i64(struct nai_part *p, int column, int64_t at, const struct nai_cell *cells, int f) {
  *nai_part_cell(p, column, at) = int_or(p, cells, f, NAI_NULL_I64);
}

static inline void put_null(struct nai_part *p, int column, int64_t at) {
  *nai_part_cell(p, column, at) = NAI_NULL_I64;
}

/* More than any memory has. */
#define NAI_MAX_BYTES ((int64_t)1 << 50)

/* A number of bytes; one that cannot be is NULL and counted. */
static inline void put_field_bytes(struct nai_part *p, int column, int64_t at, const struct nai_cell *cells, int f) {
  const struct nai_cell *c = field(p, cells, f);
  bool good = c->type == NAI_CELL_INT && c->i >= 0 && c->i <= NAI_MAX_BYTES;
  *nai_part_cell(p, column, at) = good ? c->i : NAI_NULL_I64;
  p->bad_sizes += !good && c->type != NAI_CELL_NULL;
}

static inline void put_device(struct nai_part *p, int column, int64_t at, int64_t global_pid, int64_t device) {
  bool added;
  int64_t ordinal = device >= 0 && device < 1 << 20 ? device : NAI_DEVICE_UNKNOWN;
  put_i32(p, column, at, nai_keyset_add(&p->devices, process_key(global_pid) | ordinal, &added));
}

/* For a column of processes without one of devices. */
static inline void put_process(struct nai_part *p, int column, int64_t at, int64_t global_pid) {
  put_device(p, column, at, global_pid, -1);
}

static inline void put_thread(struct nai_part *p, int column, int64_t at, int64_t global_tid) {
  bool added;
  put_i32(p, column, at, nai_keyset_add(&p->threads, global_tid, &added));
}

static inline void put_name(struct nai_part *p, int column, int64_t at, uint32_t name) {
  *nai_part_cell(p, column, at) = name == NAI_NO_STRING ? NAI_NULL_I64 : name;
}

/* A name that is a StringIds id in field f; "#id" when the text is missing. */
static inline uint32_t name_field(struct nai_part *p, const struct nai_cell *cells, int f, enum nai_name_kind kind,
                                  int *rc, struct nai_err *err) {
  int64_t id = int_or(p, cells, f, -1);
  uint32_t name = nai_name_by_id(p, id, kind, rc, err);
  return name == NAI_NO_STRING && !*rc && !p->oom ? nai_name_missing(p, id) : name;
}

/* The same, NULL where the cell is no id; inline text is taken, too. */
static inline void put_optional_name(struct nai_part *p, int column, int64_t at, const struct nai_cell *cells, int f,
                                     int *rc, struct nai_err *err) {
  const struct nai_cell *c = field(p, cells, f);
  uint32_t name = c->type == NAI_CELL_INT  ? name_field(p, cells, f, NAI_NAME_PLAIN, rc, err)
                : c->type == NAI_CELL_TEXT ? nai_name_by_text(p, c->data, c->len, NAI_NAME_PLAIN)
                                           : NAI_NO_STRING;
  put_name(p, column, at, name);
}

/* Number of the record {scope, id}. */
static inline uint32_t record_of(struct nai_part *p, int64_t scope, int64_t id) {
  struct nai_record_key key = {scope, id};
  if (p->records.count && p->last_key.scope == scope && p->last_key.id == id)
    return p->last_record;
  p->last_key = key;
  p->last_record = nai_strings_add(&p->records, (const char *)&key, sizeof key);
  p->oom |= p->last_record == NAI_NO_STRING;
  return p->last_record;
}

/* --- times ------------------------------------------------------------------------------------ */

enum { START, END }; /* fields 0 and 1 of feeds with intervals; those of moments have just the first */

/* Checks [start, end), shifts it to session time, applies --trim, stores it in columns 0 and 1. */
static inline int put_interval(struct nai_part *p, int64_t at, int64_t start, int64_t end) {
  if (end < start)
    return NAI_DROP_REVERSED;
  if (start < -NAI_TIME_LIMIT || end > NAI_TIME_LIMIT || end - start > NAI_DURATION_LIMIT)
    return NAI_DROP_RANGE;
  start -= p->time_offset_ns;
  end -= p->time_offset_ns;
  if (end > p->last_ns)
    p->last_ns = end;
  if (p->options->trim) {
    int64_t from = p->options->trim_start_ns, to = p->options->trim_end_ns;
    if (start >= to || end < from || (end == from && start < from))
      return NAI_SKIP;
    p->clipped += start < from || end > to;
    start = start < from ? from : start;
    end = end > to ? to : end;
  }
  nai_sum_add(&p->total_ns, end - start);
  *nai_part_cell(p, 0, at) = start;
  *nai_part_cell(p, 1, at) = end;
  return NAI_KEEP;
}

static inline int put_times(struct nai_part *p, int64_t at, const struct nai_cell *cells) {
  const struct nai_cell *start = field(p, cells, START), *end = field(p, cells, END);
  if (start->type == NAI_CELL_INT && end->type == NAI_CELL_INT)
    return start->i == 0 && end->i == 0 ? NAI_DROP_ZERO : put_interval(p, at, start->i, end->i);
  return start->type == NAI_CELL_NULL || end->type == NAI_CELL_NULL ? NAI_DROP_NO_TIME : NAI_DROP_TYPE;
}

/* The moment in field 0, into column 0. */
static inline int put_time(struct nai_part *p, int64_t at, const struct nai_cell *cells) {
  const struct nai_cell *time = field(p, cells, START);
  if (time->type != NAI_CELL_INT)
    return time->type == NAI_CELL_NULL ? NAI_DROP_NO_TIME : NAI_DROP_TYPE;
  if (time->i < -NAI_TIME_LIMIT || time->i > NAI_TIME_LIMIT)
    return NAI_DROP_RANGE;
  int64_t ns = time->i - p->time_offset_ns;
  if (p->options->trim && (ns < p->options->trim_start_ns || ns >= p->options->trim_end_ns))
    return NAI_SKIP;
  *nai_part_cell(p, 0, at) = ns;
  return NAI_KEEP;
}

/* --- entries of the catalogue ------------------------------------------------------------------ */

#define FIELD(name) \
  { {name, NULL, NULL}, NAI_OPTIONAL }
#define EXTRA(name) \
  { {name, NULL, NULL}, NAI_EXTRA }
#define FIELD2(name, older) \
  { {name, older, NULL}, NAI_OPTIONAL }
#define NEEDED(name) \
  { {name, NULL, NULL}, NAI_REQUIRED }
#define FOREIGN(name) \
  { {name, NULL, NULL}, NAI_FOREIGN }
#define TIMES NEEDED("start"), NEEDED("end")

#define FEED(fields_array, row_fn, ...)                                                                         \
  {                                                                                                             \
    .tables = {__VA_ARGS__}, .fields = fields_array, .field_count = sizeof fields_array / sizeof *fields_array, \
    .row = row_fn                                                                                               \
  }
