/* What the row functions of sources share: reading cells by field, checking them, storing them in the row that the part
 * has open; and how an entry of the catalogue is written. Internal to src/trace. */
#pragma once

#include "trace/names.h"
#include "trace/sources/source.h"

/* --- the export's cells ----------------------------------------------------------------------- */

static inline const struct nai_cell *field(const struct nai_part *p, int f) { return p->fields[f]; }

static inline bool is_int(const struct nai_part *p, int f) { return field(p, f)->type == NAI_CELL_INT; }

static inline int64_t int_or(const struct nai_part *p, int f, int64_t otherwise) {
  const struct nai_cell *c = field(p, f);
  return c->type == NAI_CELL_INT ? c->i : otherwise;
}

/* --- the part's cells ------------------------------------------------------------------------- */

static inline void put_i64(struct nai_part *p, int column, int64_t value) { *nai_part_cell(p, column) = value; }

static inline void put_null(struct nai_part *p, int column) { put_i64(p, column, NAI_NULL_I64); }

/* Stores an id column; what does not fit in 32 bits (CUPTI's 4294967295 "not applicable") becomes NULL. */
static inline void put_i32(struct nai_part *p, int column, int64_t value) {
  put_i64(p, column, value < -INT32_MAX || value > INT32_MAX ? NAI_NULL_I64 : value);
}

/* More than any memory has. */
#define NAI_MAX_BYTES ((int64_t)1 << 50)

/* A number of bytes; one that cannot be is NULL and counted. */
static inline void put_bytes(struct nai_part *p, int column, const struct nai_cell *c) {
  bool good = c->type == NAI_CELL_INT && c->i >= 0 && c->i <= NAI_MAX_BYTES;
  put_i64(p, column, good ? c->i : NAI_NULL_I64);
  p->bad_sizes += !good && c->type != NAI_CELL_NULL;
}

/* As put_bytes, of sizes that are added over rows. */
static inline void put_size(struct nai_part *p, int column, const struct nai_cell *c) {
  put_bytes(p, column, c);
  int64_t bytes = *nai_part_cell(p, column);
  nai_sum_add(&p->total_bytes, bytes == NAI_NULL_I64 ? 0 : (uint64_t)bytes);
}

static inline void put_device(struct nai_part *p, int column, int64_t global_pid, int64_t device) {
  bool added;
  int64_t ordinal = device >= 0 && device < 1 << 20 ? device : NAI_DEVICE_UNKNOWN;
  put_i64(p, column, nai_keyset_add(&p->devices, nai_process_key(global_pid) | ordinal, &added));
}

static inline void put_thread(struct nai_part *p, int column, int64_t global_tid) {
  bool added;
  put_i64(p, column, nai_keyset_add(&p->threads, global_tid, &added));
}

static inline void put_name(struct nai_part *p, int column, uint32_t name) {
  put_i64(p, column, name == NAI_NO_STRING ? NAI_NULL_I64 : name);
}

/* A name that is a StringIds id; "#id" when the text is missing. */
static inline uint32_t name_of(struct nai_part *p, const struct nai_cell *c, enum nai_name_kind kind) {
  int64_t id = c->type == NAI_CELL_INT ? c->i : -1;
  uint32_t name = nai_name_by_id(p, id, kind);
  return name == NAI_NO_STRING && !p->failed && !p->oom ? nai_name_missing(p, id) : name;
}

/* The same, NULL where the cell is no id; inline text is taken, too. */
static inline void put_text(struct nai_part *p, int column, const struct nai_cell *c) {
  uint32_t name = c->type == NAI_CELL_INT  ? name_of(p, c, NAI_NAME_PLAIN)
                : c->type == NAI_CELL_TEXT ? nai_name_by_text(p, c->data, c->len, NAI_NAME_PLAIN)
                                           : NAI_NO_STRING;
  put_name(p, column, name);
}

/* Number of the record {scope, id}. */
static inline uint32_t record_of(struct nai_part *p, int64_t scope, int64_t id) {
  struct nai_last_record *last = &p->last[((uint64_t)scope >> 24 ^ (uint64_t)(scope ^ id)) % NAI_LAST_RECORDS];
  if (last->number && last->key.scope == scope && last->key.id == id)
    return last->number - 1;
  last->key = (struct nai_record_key){scope, id};
  last->number = nai_strings_add(&p->records, (const char *)&last->key, sizeof last->key) + 1;
  p->oom |= !last->number;
  return last->number - 1;
}

/* --- times ------------------------------------------------------------------------------------ */

enum { START, END }; /* fields 0 and 1 of feeds with intervals; those of moments have just the first */

/* Checks [start, end), shifts it to session time, applies --trim, stores it in columns 0 and 1. */
static inline int put_interval(struct nai_part *p, int64_t start, int64_t end) {
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
  put_i64(p, START, start);
  put_i64(p, END, end);
  return NAI_KEEP;
}

static inline int put_times(struct nai_part *p) {
  const struct nai_cell *start = field(p, START), *end = field(p, END);
  if (start->type == NAI_CELL_INT && end->type == NAI_CELL_INT)
    return start->i == 0 && end->i == 0 ? NAI_DROP_ZERO : put_interval(p, start->i, end->i);
  return start->type == NAI_CELL_NULL || end->type == NAI_CELL_NULL ? NAI_DROP_NO_TIME : NAI_DROP_TYPE;
}

/* The moment in field 0, into column 0. */
static inline int put_time(struct nai_part *p) {
  const struct nai_cell *time = field(p, START);
  if (time->type != NAI_CELL_INT)
    return time->type == NAI_CELL_NULL ? NAI_DROP_NO_TIME : NAI_DROP_TYPE;
  if (time->i < -NAI_TIME_LIMIT || time->i > NAI_TIME_LIMIT)
    return NAI_DROP_RANGE;
  int64_t ns = time->i - p->time_offset_ns;
  if (p->options->trim && (ns < p->options->trim_start_ns || ns >= p->options->trim_end_ns))
    return NAI_SKIP;
  put_i64(p, START, ns);
  return NAI_KEEP;
}

/* --- entries of the catalogue ------------------------------------------------------------------
 * The fields of a feed are listed once, in the manner of src/tables/declare.h:
 *
 *   #define OSRT_FIELDS(F, L, T)                                          \
 *     TIMES(F, L, T)                                                      \
 *     F(L, T, thread, THREAD, OPTIONAL, "globalTid")                      \
 *     F(L, T, nesting_level, OWN, OPTIONAL, "nestingLevel")               \
 *   NAI_FIELDS(osrt, OSRT_FIELDS, OSRT_EVENTS, put_times)
 *
 * F takes the column of our table that the field goes to, how, how much it is needed (enum nai_need), and its names in
 * exports, the newest first. NAI_FIELDS makes numbers of the fields (osrt_thread), osrt_fields[], and put_osrt(p),
 * which is a row function: it drops a row that does not say what it is about, has the times checked and stored by the
 * function given, and stores the fields.
 *
 * How: as a number of 32 or 64 bits; as bytes, or as a size that is added over rows; as a thread; as a name or an API
 * function's ("#id" when its text is missing); as a text, which need not be there; as a device of the process in the
 * field `process`; as a process, in a table without devices. KIND: as what the feed says, without a column of the
 * export. OWN: the feed's row function looks at the field itself. */

#define NAI_PUT_I32(L, T, column) put_i32(p, T##_##column, int_or(p, L##_##column, INT64_MAX));
#define NAI_PUT_I64(L, T, column) put_i64(p, T##_##column, int_or(p, L##_##column, NAI_NULL_I64));
#define NAI_PUT_BYTES(L, T, column) put_bytes(p, T##_##column, field(p, L##_##column));
#define NAI_PUT_SIZE(L, T, column) put_size(p, T##_##column, field(p, L##_##column));
#define NAI_PUT_THREAD(L, T, column) put_thread(p, T##_##column, int_or(p, L##_##column, 0));
#define NAI_PUT_NAME(L, T, column) put_name(p, T##_##column, name_of(p, field(p, L##_##column), NAI_NAME_PLAIN));
#define NAI_PUT_API(L, T, column) put_name(p, T##_##column, name_of(p, field(p, L##_##column), NAI_NAME_API));
#define NAI_PUT_TEXT(L, T, column) put_text(p, T##_##column, field(p, L##_##column));
#define NAI_PUT_DEVICE(L, T, column) \
  put_device(p, T##_##column, int_or(p, L##_process, 0), int_or(p, L##_##column, -1));
#define NAI_PUT_PROCESS(L, T, column) put_device(p, T##_##column, int_or(p, L##_##column, 0), -1);
#define NAI_PUT_KIND(L, T, column) put_i32(p, T##_##column, p->intake->feed->kind);
#define NAI_PUT_OWN(L, T, column)

#define NAI_FIELD_NUMBER(L, T, column, how, need_of_it, ...) L##_##column,
#define NAI_FIELD_ENTRY(L, T, column, how, need_of_it, ...) {.names = {__VA_ARGS__}, .need = NAI_##need_of_it},
#define NAI_FIELD_LACKS(L, T, column, how, need_of_it, ...) \
  || (NAI_##need_of_it == NAI_ABOUT && !is_int(p, L##_##column))
#define NAI_FIELD_PUT(L, T, column, how, need_of_it, ...) NAI_PUT_##how(L, T, column)
#define NAI_FIELDS(L, LIST, T, put_times_of)                                  \
  enum { LIST(NAI_FIELD_NUMBER, L, T) L##_FIELD_COUNT };                      \
  static const struct nai_field L##_fields[] = {LIST(NAI_FIELD_ENTRY, L, T)}; \
  static inline int put_##L(struct nai_part *p) {                             \
    if (false LIST(NAI_FIELD_LACKS, L, T))                                    \
      return NAI_DROP_VALUE;                                                  \
    int verdict = put_times_of(p);                                            \
    if (verdict != NAI_KEEP)                                                  \
      return verdict;                                                         \
    LIST(NAI_FIELD_PUT, L, T)                                                 \
    return NAI_KEEP;                                                          \
  }

#define TIMES(F, L, T)                   \
  F(L, T, start, OWN, REQUIRED, "start") \
  F(L, T, end, OWN, REQUIRED, "end")

/* A feed of `list`, whose rows a function takes; `kind_of_it` is for feeds that share one. */
#define NAI_FEED_AS(list, row_function, kind_of_it, says_nothing, ...)                                        \
  {                                                                                                           \
    .tables = {__VA_ARGS__}, .fields = list##_fields, .field_count = list##_FIELD_COUNT, .row = row_function, \
    .kind = kind_of_it, .quiet = says_nothing                                                                 \
  }
#define NAI_FEED(list, row_function, kind_of_it, ...) NAI_FEED_AS(list, row_function, kind_of_it, false, __VA_ARGS__)
#define NAI_QUIET_FEED(list, row_function, kind_of_it, ...) \
  NAI_FEED_AS(list, row_function, kind_of_it, true, __VA_ARGS__)
