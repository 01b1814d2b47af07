#include "features/compare/entries.h"

#include "base/text.h"

void nai_entries_free(struct nai_entries *e) {
  nai_strings_free(&e->names);
  nai_arena_free(&e->arena);
}

static int find_entry(uint32_t *at, struct nai_entries *e, const char *name, bool fold, struct nai_err *err) {
  NAI_SCOPED(nai_buf) folded = {0};
  if (fold)
    nai_text_fold_digits(&folded, name);
  else
    nai_buf_puts(&folded, name);
  NAI_TRY(nai_buf_check(&folded, err));
  *at = nai_strings_add(&e->names, nai_buf_str(&folded), folded.len);
  return *at == NAI_NO_STRING ? nai_err_nomem(err) : NAI_ROOM(e->list, e->capacity, *at, &e->arena, err);
}

int nai_entries_read(struct nai_entries *e, const struct nai_comparison *c, const struct nai_schema *from,
                     struct nai_entry_columns columns, bool fold, struct nai_err *err) {
  for (struct nai_side_rows r = nai_all_rows(c->sides, from); nai_next_row(&r);) {
    uint32_t at;
    NAI_TRY(find_entry(&at, e, nai_get_str(r.table, r.row, columns.name), fold, err));
    struct nai_entry *entry = &e->list[at];
    entry->has[r.side] = true;
    entry->count[r.side] += (double)nai_or_zero(nai_get_i64(r.table, r.row, columns.count));
    entry->amount[r.side] += (double)nai_or_zero(nai_get_i64(r.table, r.row, columns.amount));
  }
  return NAI_OK;
}
