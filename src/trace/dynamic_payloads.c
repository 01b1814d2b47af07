/* Payloads of NVTX ranges that the exporter itself has read (nsys export --dynamic-tables=all): of each process, domain
 * and schema a table named by the three, with a row per payload and a column per field. Here every row becomes an
 * object of JSON under the names that the program gave its fields, which is what payloads in text are. */
#include "trace/extraction.h"
#include "trace/small.h"
#include "tables/nvtx_dynamic_payloads.h"

#include <strings.h>

static const char prefix[] = "DYNAMIC_NVTXPAYLOAD_DATATYPE_";
enum { MAX_PAYLOADS = 1 << 26, MAX_NAMES = 100000, NAME_BYTES = 400 };

/* Names of fields as tables have them, and as the program does: those that no name of a column can hold. */
struct translation {
  struct nai_arena *arena;
  struct pair {
    const char *original, *sanitized;
  } * pairs;
  uint32_t count, capacity;
};

static int on_translation(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct translation *t = ctx;
  struct pair pair = {nai_small_text(t->arena, &cells[0], NAME_BYTES), nai_small_text(t->arena, &cells[1], NAME_BYTES)};
  NAI_TRY(nai_arena_check(t->arena, err));
  if (!pair.original || !pair.sanitized)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(t->pairs, t->capacity, t->count, t->arena, err));
  t->pairs[t->count++] = pair;
  return NAI_OK;
}

/* What the program calls a column's field; NULL where two fields became one name, or the name would need escaping. */
static const char *original_name(const struct translation *t, const char *column) {
  const char *found = NULL;
  for (uint32_t i = 0; i < t->count; i++)
    if (strcasecmp(t->pairs[i].sanitized, column) == 0) {
      if (found && strcmp(found, t->pairs[i].original) != 0)
        return NULL;
      found = t->pairs[i].original;
    }
  found = found ? found : column;
  return strpbrk(found, "\"\\") ? NULL : found;
}

/* --- one table -------------------------------------------------------------------------------- */

struct payloads {
  struct nai_table *table;
  int64_t domain, schema;
  const char *fields[NAI_SMALL_COLUMNS]; /* names in JSON, beside the columns; the first is the event's */
  struct nai_buf json;
};

static void payloads_free(struct payloads *p) { nai_buf_free(&p->json); }

static int on_payload(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct payloads *p = ctx;
  if (cells[0].type != NAI_CELL_INT)
    return NAI_OK;
  nai_buf_clear(&p->json);
  for (int i = 1; p->fields[i]; i++)
    if (cells[i].type == NAI_CELL_INT)
      nai_buf_printf(&p->json, "%c\"%s\":%" PRId64, p->json.len ? ',' : '{', p->fields[i], cells[i].i);
  nai_buf_puts(&p->json, p->json.len ? "}" : "{}");
  NAI_ADD(NVTX_DYNAMIC_PAYLOADS, p->table, .export_row = cells[0].i, .domain_id = p->domain, .schema_id = p->schema,
          .json = nai_buf_str(&p->json));
  return nai_buf_check(&p->json, err);
}

/* ..._<globalPid>_<domainId>_<schemaId>; what has more behind it holds the elements of an array. */
static bool read_name(struct payloads *p, const char *name) {
  if (strncasecmp(name, prefix, sizeof prefix - 1) != 0)
    return false;
  uint64_t ids[3];
  const char *at = name + sizeof prefix - 1;
  for (int i = 0; i < 3; i++) {
    char *end;
    if (*at < '0' || *at > '9')
      return false;
    ids[i] = strtoull(at, &end, 10);
    if (*end != (i < 2 ? '_' : '\0'))
      return false;
    at = end + 1;
  }
  p->domain = (int64_t)ids[1];
  p->schema = (int64_t)ids[2];
  return true;
}

static int read_table(struct payloads *p, struct nai_trace *trace, const struct nai_db_table *from,
                      const struct translation *names, struct nai_err *err) {
  const char *columns[NAI_SMALL_COLUMNS + 1] = {"eventId"};
  int count = 1;
  if (nai_db_column(from, "eventId") < 0)
    return NAI_OK;
  for (int c = 0; c < from->column_count && count < NAI_SMALL_COLUMNS - 1; c++) {
    const char *original = original_name(names, from->columns[c].name);
    if (strcasecmp(from->columns[c].name, "eventId") == 0 || !original)
      continue;
    columns[count] = from->columns[c].name;
    p->fields[count++] = original;
  }
  columns[count] = NULL;
  p->fields[count] = NULL;
  return nai_small_scan(trace, from->name, columns, MAX_PAYLOADS, on_payload, p, err);
}

int nai_put_dynamic_payloads(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  static const char *const columns[] = {"originalName", "sanitizedName", NULL};
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_SCOPED(payloads) p = {.table = table};
  struct translation names = {.arena = &arena};
  bool read = false;
  for (int i = 0; i < x->trace->table_count; i++) {
    if (!read_name(&p, x->trace->tables[i].name))
      continue;
    if (!read)
      NAI_TRY(nai_small_scan(x->trace, "NVTX_EXPORT_TRANSLATION", columns, MAX_NAMES, on_translation, &names, err));
    read = true;
    NAI_TRY(read_table(&p, x->trace, &x->trace->tables[i], &names, err));
  }
  return NAI_OK;
}
