/* Payloads of NVTX ranges that the exporter itself has read (nsys export --dynamic-tables=all): of each process, domain
 * and schema a table named by the three, with a row per payload and a column per field. Here every row becomes an
 * object of JSON under the names that the program gave its fields, which is what payloads in text are. */
#include "trace/extraction.h"
#include "trace/small.h"
#include "tables/nvtx_dynamic_payloads.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char prefix[] = "DYNAMIC_NVTXPAYLOAD_DATATYPE_";
enum { MAX_PAYLOADS = 1 << 26, MAX_NAMES = 100000, NAME_BYTES = 400 };

/* Names of fields as tables have them, and as the program does: those that no name of a column can hold. */
struct translation {
  struct pair {
    char *original, *sanitized;
  } * pairs;
  size_t count;
};

static int on_translation(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct translation *t = ctx;
  char *original, *sanitized = NULL;
  int rc = nai_small_text(&original, &cells[0], NAME_BYTES, err);
  if (!rc)
    rc = nai_small_text(&sanitized, &cells[1], NAME_BYTES, err);
  if (!rc && original && sanitized && t->count < MAX_NAMES) {
    t->pairs[t->count++] = (struct pair){original, sanitized};
    return NAI_OK;
  }
  free(original);
  free(sanitized);
  return rc;
}

static int read_translation(struct translation *t, struct nai_trace *trace, struct nai_err *err) {
  static const char *const names[] = {"originalName", "sanitizedName", NULL};
  t->pairs = calloc(MAX_NAMES, sizeof *t->pairs);
  if (!t->pairs)
    return nai_err_nomem(err);
  return nai_small_scan(trace, "NVTX_EXPORT_TRANSLATION", names, MAX_NAMES, on_translation, t, err);
}

static void free_translation(struct translation *t) {
  for (size_t i = 0; i < t->count; i++) {
    free(t->pairs[i].original);
    free(t->pairs[i].sanitized);
  }
  free(t->pairs);
}

/* What the program calls a column's field; NULL where two fields became one name, or the name would need escaping. */
static const char *original_name(const struct translation *t, const char *column) {
  const char *found = NULL;
  for (size_t i = 0; i < t->count; i++)
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

static int on_payload(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct payloads *p = ctx;
  if (cells[0].type != NAI_CELL_INT)
    return NAI_OK;
  nai_buf_clear(&p->json);
  for (int i = 1; p->fields[i]; i++)
    if (cells[i].type == NAI_CELL_INT)
      nai_buf_printf(&p->json, "%c\"%s\":%" PRId64, p->json.len ? ',' : '{', p->fields[i], cells[i].i);
  nai_buf_puts(&p->json, p->json.len ? "}" : "{}");
  int64_t row = nai_table_add_row(p->table);
  nai_set_i64(p->table, row, NVTX_DYNAMIC_PAYLOADS_export_row, cells[0].i);
  nai_set_i64(p->table, row, NVTX_DYNAMIC_PAYLOADS_domain_id, p->domain);
  nai_set_i64(p->table, row, NVTX_DYNAMIC_PAYLOADS_schema_id, p->schema);
  nai_set_str(p->table, row, NVTX_DYNAMIC_PAYLOADS_json, nai_buf_str(&p->json));
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
  struct payloads p = {.table = table};
  struct translation names = {0};
  int rc = NAI_OK;
  for (int i = 0; !rc && i < x->trace->table_count; i++) {
    if (!read_name(&p, x->trace->tables[i].name))
      continue;
    if (!names.pairs)
      rc = read_translation(&names, x->trace, err);
    if (!rc)
      rc = read_table(&p, x->trace, &x->trace->tables[i], &names, err);
  }
  free_translation(&names);
  nai_buf_free(&p.json);
  return rc;
}
