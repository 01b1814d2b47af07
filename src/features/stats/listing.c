/* What --help-reports and --help-formats print. */
#include "command/command.h"
#include "features/stats/request.h"

static void put_arguments(struct nai_buf *out, const struct nai_stats_report *r) {
  nai_buf_puts(out, r->named ? "; base, mangled" : "");
  nai_buf_puts(out, r->ranged ? "; nvtx-name (not under the name of 2022)" : "");
  nai_buf_puts(out, r->rows ? "; rows=N" : "");
  nai_buf_puts(out, r->window ? "; start=NS; end=NS; nvtx=RANGE" : "");
  for (int i = 0; i < 2 && r->arguments[i].name; i++)
    if (r->arguments[i].otherwise >= r->arguments[i].least)
      nai_buf_printf(out, "; %s=N (%lld)", r->arguments[i].name, (long long)r->arguments[i].otherwise);
    else
      nai_buf_printf(out, "; %s=N", r->arguments[i].name);
  for (int i = 0; i < NAI_STATS_FLAGS && r->flags[i]; i++)
    nai_buf_printf(out, "; %s", r->flags[i]);
  nai_buf_puts(out, nai_stats_has_quartiles(r) ? "; quartiles" : "");
  nai_buf_puts(out, r->about == NAI_STATS_NEEDS_NAME      ? "; needs name=NAME, last"
                    : r->about == NAI_STATS_MAY_HAVE_NAME ? "; name=REGEX, last"
                                                          : "");
  nai_buf_putc(out, '\n');
}

static void put_columns(struct nai_buf *out, const struct nai_stats_column *columns, const char *name) {
  nai_buf_printf(out, "\n  columns of %s:\n", name);
  for (const struct nai_stats_column *c = columns; c->name; c++)
    nai_buf_printf(out, "    %s%s\n", c->name + strspn(c->name, " "), c->quartile ? " (with quartiles)" : "");
}

/* One of them with its columns, or all. */
int nai_stats_list_reports(const char *name, struct nai_err *err) {
  NAI_SCOPED(nai_buf) out = {0};
  bool all = !name || strcmp(name, "ALL") == 0;
  const struct nai_stats_report *one = all ? NULL : nai_stats_find(name);
  if (!all && (!one || !one->make))
    return nai_stats_unknown_report(name, err);
  for (const struct nai_stats_report *r = nai_stats_reports; r->make; r++) {
    if (one && r != one)
      continue;
    nai_buf_printf(&out, "  %-24s %-20s %s", r->name, r->old ? r->old : "", r->title);
    put_arguments(&out, r);
    if (!name)
      continue;
    if (r->columns)
      put_columns(&out, r->columns, r->name);
    for (int t = 0; t < 2 && r->is_table[t]; t++)
      nai_buf_printf(&out, "\n  columns: those of table %s\n", r->is_table[t]);
    if (r->old_columns)
      put_columns(&out, r->old_columns, r->old);
  }
  return nai_cmd_print(&out, err);
}

int nai_stats_list_formats(struct nai_err *err) {
  NAI_SCOPED(nai_buf) out = {0};
  nai_buf_puts(
      &out, "  column, table   for a console; arguments nohdr, autolines=N, colmax=N, and a width for each column: a\n"
            "                  number, . (by its texts) or 0 (not shown)\n"
            "  csv, tsv        arguments nohdr\n"
            "  json            an array of objects\n"
            "  htable, hdoc    a table of HTML, a document of it; arguments title=TEXT, css=URL\n"
            "Every format: nohdrunit, noconv, time= dur= ts= (nsec usec msec sec), mem= thru= bytes= (B KB KBi "
            "MB MBi GB GBi), addr= (hex uint)\n");
  return nai_cmd_print(&out, err);
}
