/* Rows of an export's table. */
#include "features/stats/source.h"

#include "trace/trace/trace.h"

struct export_scan {
  struct nai_scan scan;
  int columns[NAI_LOAD_COLUMNS], places[NAI_LOAD_COLUMNS]; /* by cell: of the table, of the load */
  bool text[NAI_LOAD_COLUMNS];
  int rowid; /* the column of the load for it, -1: none */
};

static bool add_column(struct export_scan *s, struct nai_load *load, const struct nai_db_table *table, const char *name,
                       int place) {
  const bool text = name[0] == '$';
  const int column = nai_db_column(table, name + text);
  if (column < 0)
    return false;
  s->columns[s->scan.column_count] = column;
  s->places[s->scan.column_count] = place;
  s->text[s->scan.column_count++] = text;
  load->is_text[place] = text;
  return load->has[place] = true;
}

static int open_scan(struct nai_load *load, struct nai_err *err) {
  const struct nai_db_table *table = nai_trace_table(load->source->trace, load->table);
  struct export_scan *s;
  NAI_TRY(NAI_NEW(s, &load->source->arena, 1, err));
  const int parts = load->parts;
  load->state = s;
  load->parts = 0;
  s->scan.columns = s->columns;
  s->rowid = -1;
  for (int c = 0; table && load->names[c]; c++) {
    add_column(s, load, table, load->names[c], c);
    if (*load->names[c] == '#') {
      s->rowid = c;
      load->has[c] = true;
    }
  }
  if (!s->scan.column_count)
    return NAI_OK;
  for (int f = 0; f < NAI_LOAD_KIND - NAI_LOAD_START && load->filtered; f++)
    add_column(s, load, table, nai_load_filters[f], NAI_LOAD_START + f);
  s->scan.table = table->name;
  NAI_TRY(nai_scan_open(&s->scan, load->source->trace, parts, err));
  load->parts = s->scan.parts;
  load->part_rows = s->scan.part_rows;
  return NAI_OK;
}

static void close_scan(struct nai_load *load) {
  struct export_scan *s = load->state;
  if (s)
    nai_scan_close(&s->scan);
}

struct scan_part {
  struct nai_load_part *part;
  int64_t left; /* rows, at most */
};

static int on_row(void *ctx, int64_t rowid, const struct nai_cell *cells, struct nai_err *err) {
  struct scan_part *own = ctx;
  struct nai_load_part *part = own->part;
  const struct export_scan *s = part->load->state;
  if (own->left-- == 0)
    return nai_err_set(err, NAI_EINPUT, "table \"%s\" has more rows than its pages say", s->scan.table);
  for (int c = 0; c < s->scan.column_count; c++) {
    const struct nai_cell *cell = &cells[c];
    int64_t value = cell->type == NAI_CELL_INT && !s->text[c] ? cell->i : NAI_STATS_NULL;
    if (s->text[c] && nai_cell_is_text(cell))
      NAI_TRY(nai_load_text(&value, part, cell->data, cell->len, err));
    part->to[s->places[c]][part->rows] = value;
  }
  if (s->rowid >= 0)
    part->to[s->rowid][part->rows] = rowid;
  return ++part->rows == NAI_LOAD_BLOCK ? nai_load_flush(part, err) : NAI_OK;
}

static int read_scan(struct nai_load_part *part, struct nai_err *err) {
  struct export_scan *s = part->load->state;
  struct scan_part own = {part, part->load->part_rows[part->number]};
  return nai_scan_run(&s->scan, part->number, on_row, &own, err);
}

const struct nai_load_reader nai_export_reader = {open_scan, read_scan, close_scan};
