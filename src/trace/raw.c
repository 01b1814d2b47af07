#include "trace/raw.h"

#include "trace/sources/source.h"
#include "trace/trace/trace_internal.h"

#include <strings.h>

static bool begins_with(const char *name, const char *prefix) { return strncasecmp(name, prefix, strlen(prefix)) == 0; }

/* Whether it is NAME or NAME_V<n>. */
static bool is_version_of(const char *name, const char *of) {
  size_t len = strlen(of);
  return begins_with(name, of) && (!name[len] || (begins_with(name + len, "_V") &&
                                                  strspn(name + len + 2, "0123456789") == strlen(name + len + 2)));
}

static bool is_source(const char *name, const struct nai_source *source) {
  for (const struct nai_feed *feed = source->feeds; feed->row; feed++)
    for (size_t t = 0; t < sizeof feed->tables / sizeof *feed->tables; t++)
      if (feed->tables[t] && is_version_of(name, feed->tables[t]))
        return true;
  return false;
}

bool nai_raw_is_shown(const struct nai_db_table *table) {
  static const char *const prefixes[] = {"ENUM_", "NVTX_PAYLOAD_", "TARGET_INFO_CUDA_"};
  static const char *const names[] = {"TARGET_INFO_GPU", "ThreadNames"};
  bool known = false;
  for (int c = 0; c < table->column_count; c++)
    if (table->columns[c].hidden)
      return false; /* computed: it could show anything */
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    known |= begins_with(table->name, prefixes[i]);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    known |= strcasecmp(table->name, names[i]) == 0;
  for (int s = 0; s < nai_source_count && !known; s++)
    known = nai_sources[s] != &nai_source_diagnostics && is_source(table->name, nai_sources[s]); /* free texts */
  return table->plain && known;
}

void nai_raw_put_names(struct nai_buf *sql, const struct nai_trace *trace, const char *schema) {
  static const char *const columns[] = {"shortName", "demangledName", "mangledName", "nameId", "textId", "symbol"};
  const struct nai_db_table *texts = nai_trace_table(trace, "StringIds");
  bool any = false;
  if (!texts || !texts->plain || nai_db_column(texts, "id") < 0 || nai_db_column(texts, "value") < 0)
    return;
  nai_buf_printf(sql, "SELECT id, value FROM %s.StringIds WHERE id IN (", schema);
  for (int t = 0; t < trace->table_count; t++)
    for (size_t c = 0; c < sizeof columns / sizeof *columns && nai_raw_is_shown(&trace->tables[t]); c++) {
      if (nai_db_column(&trace->tables[t], columns[c]) < 0)
        continue;
      nai_buf_printf(sql, "%sSELECT %s FROM %s.", any ? " UNION " : "", columns[c], schema);
      nai_sql_identifier(sql, trace->tables[t].name);
      any = true;
    }
  nai_buf_puts(sql, any ? ")" : "NULL)");
}
