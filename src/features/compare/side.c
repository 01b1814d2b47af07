/* Runs of both sides, and sums over them. */
#include "features/compare/internal.h"

#include "base/array.h"
#include "base/fs.h"

#include <stdlib.h>
#include <string.h>

/* Where the last part of path[0, len) begins. */
static size_t last_part(const char *path, size_t len) {
  while (len > 0 && path[len - 1] != '/')
    len--;
  return len;
}

/* The last `parts` parts of a path, without the suffix of a trace; of a store's ID/captures/N the id. */
static char *label_of(const char *path, int parts) {
  static const char captures[] = "/captures";
  size_t len = strlen(path), inner = sizeof captures - 1;
  while (len > 1 && path[len - 1] == '/')
    len--;
  size_t start = last_part(path, len);
  bool stored = start > inner + 1 && strncmp(path + start - 1 - inner, captures, inner) == 0;
  if (stored && parts == 1) {
    len = start - 1 - inner;
    start = last_part(path, len);
  } else if (stored) {
    start = last_part(path, start - 1 - inner);
  } else if (parts > 1 && start > 1) {
    start = last_part(path, start - 1);
  }
  const char *const suffixes[] = {".sqlite", ".nsys-rep"};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    size_t n = strlen(suffixes[i]);
    if (len - start > n && memcmp(path + len - n, suffixes[i], n) == 0)
      len -= n;
  }
  return strndup(path + start, len - start);
}

int nai_comparison_add(struct nai_comparison *c, enum nai_side_id side, struct nai_run *run, const char *path,
                       struct nai_err *err) {
  struct nai_side *s = &c->sides[side];
  bool room = nai_array_room(&s->captures, &s->capacity, s->count, sizeof *s->captures);
  char *label = label_of(path, 1), *longer = label_of(path, 2);
  if (!room || !label || !longer) {
    free(label);
    free(longer);
    nai_run_close(run);
    return nai_err_nomem(err);
  }
  s->captures[s->count++] = (struct nai_capture){run, label, longer};
  static const char *const needed[] = {"metrics", "kernel_paths", "steps", "gpu_utilization"};
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
    if (!nai_run_has(run, needed[i]))
      return nai_err_set(err, NAI_EINPUT,
                         "the run \"%s\" has no table \"%s\": it was made by another version (%s), or stopped early; "
                         "analyse its trace again",
                         path, needed[i], nai_run_manifest(run)->version ? nai_run_manifest(run)->version : "unknown");
  for (const char *const *name = nai_run_compared; *name; name++) {
    const struct nai_table *table;
    int rc = nai_run_table_if_any(&table, run, *name, NULL, err);
    if (rc)
      return rc;
  }
  return NAI_OK;
}

const struct nai_table *nai_capture_table(const struct nai_capture *capture, const char *name) {
  return nai_run_find_loaded(capture->run, name);
}

static bool counts(const struct nai_table *table, int64_t row, const char *where, const char *is) {
  return !where || strcmp(nai_cell_str(table, row, where), is) == 0;
}

int64_t nai_side_sum(const struct nai_side *side, const char *name, const char *column, const char *where,
                     const char *is) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < side->count; i++) {
    const struct nai_table *table = nai_capture_table(&side->captures[i], name);
    for (int64_t row = 0; table && row < table->rows; row++) {
      int64_t cell = counts(table, row, where, is) ? nai_cell_i64(table, row, column) : NAI_NULL_I64;
      sum += cell == NAI_NULL_I64 ? 0 : cell;
    }
  }
  return sum;
}

int64_t nai_side_rows(const struct nai_side *side, const char *name, const char *where, const char *is) {
  int64_t rows = 0;
  for (uint32_t i = 0; i < side->count; i++) {
    const struct nai_table *table = nai_capture_table(&side->captures[i], name);
    for (int64_t row = 0; table && row < table->rows; row++)
      rows += counts(table, row, where, is);
  }
  return rows;
}

/* --- order ------------------------------------------------------------------------------------ */

/* By the time of capture, then by content: the order in which they are given says nothing. */
static int by_time(const void *pa, const void *pb) {
  const struct nai_capture *a = pa, *b = pb;
  int64_t x = nai_run_utc(a->run), y = nai_run_utc(b->run);
  if (x != y)
    return x < y ? -1 : 1;
  uint64_t i = nai_run_manifest(a->run)->identity, j = nai_run_manifest(b->run)->identity;
  return i != j ? (i < j ? -1 : 1) : strcmp(a->label, b->label);
}

static bool is_ambiguous(const struct nai_comparison *c, const struct nai_capture *capture) {
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++) {
      const struct nai_capture *other = &c->sides[s].captures[i];
      if (other != capture && strcmp(other->label, capture->label) == 0)
        return true;
    }
  return false;
}

/* base/r1 and new/r1 rather than r1 twice. All are found before any is renamed. */
static int tell_apart(struct nai_comparison *c, struct nai_err *err) {
  uint32_t all = c->sides[NAI_BASE].count + c->sides[NAI_NEW].count, n = 0;
  struct nai_capture **list = malloc((all + 1) * sizeof *list);
  if (!list)
    return nai_err_nomem(err);
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++)
      if (is_ambiguous(c, &c->sides[s].captures[i]))
        list[n++] = &c->sides[s].captures[i];
  for (uint32_t i = 0; i < n; i++) {
    char *label = list[i]->label;
    list[i]->label = list[i]->longer;
    list[i]->longer = label;
  }
  free(list);
  return NAI_OK;
}

/* --- driver ----------------------------------------------------------------------------------- */

/* Per GPU and steady step where every capture has some, else per GPU and run. */
static void choose_basis(struct nai_comparison *c) {
  c->by_step = true;
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++) {
      const struct nai_side one = {&c->sides[s].captures[i], 1};
      c->by_step &= nai_side_rows(&one, "steps", "state", "steady") > 0;
    }
  for (int s = 0; s < NAI_SIDES; s++)
    c->divisor[s] = c->by_step ? nai_side_rows(&c->sides[s], "steps", "state", "steady")
                               : nai_side_rows(&c->sides[s], "gpu_utilization", NULL, NULL);
}

int nai_compare(struct nai_comparison *c, const struct nai_compare_options *options, struct nai_err *err) {
  static int (*const makers[NAI_COMPARED_COUNT])(struct nai_table **, const struct nai_comparison *,
                                                 struct nai_err *) = {
      [NAI_COMPARED_METRICS] = nai_results_table,   [NAI_COMPARED_VALUES] = nai_values_table,
      [NAI_COMPARED_CHECKS] = nai_checks_table,     [NAI_COMPARED_TIME] = nai_parts_table,
      [NAI_COMPARED_KERNELS] = nai_kernels_table,   [NAI_COMPARED_RANGES] = nai_ranges_table,
      [NAI_COMPARED_PHASES] = nai_phases_table,     [NAI_COMPARED_COPIES] = nai_copies_table,
      [NAI_COMPARED_FINDINGS] = nai_findings_table, [NAI_COMPARED_TREE] = nai_tree_table};
  c->options = *options;
  for (int s = 0; s < NAI_SIDES; s++)
    if (c->sides[s].count)
      qsort(c->sides[s].captures, c->sides[s].count, sizeof *c->sides[s].captures, by_time);
  choose_basis(c);
  int rc = tell_apart(c, err);
  if (!rc)
    rc = nai_checks_find(c, err);
  if (!rc)
    rc = nai_kernels_match(c, err);
  if (!rc)
    rc = nai_checks_of_kernels(c, err);
  if (!rc)
    rc = nai_results_find(c, err);
  for (int i = 0; !rc && i < NAI_COMPARED_COUNT; i++) {
    rc = makers[i](&c->tables[i], c, err);
    if (!rc)
      rc = nai_table_check(c->tables[i], err);
    c->table_count++;
  }
  return rc;
}

void nai_comparison_free(struct nai_comparison *c) {
  for (int s = 0; s < NAI_SIDES; s++) {
    for (uint32_t i = 0; i < c->sides[s].count; i++) {
      nai_run_close(c->sides[s].captures[i].run);
      free(c->sides[s].captures[i].label);
      free(c->sides[s].captures[i].longer);
    }
    free(c->sides[s].captures);
    free(c->uses[s]);
  }
  for (uint32_t i = 0; i < c->check_count; i++) {
    free(c->checks[i].capability);
    free(c->checks[i].base);
    free(c->checks[i].fresh);
    free(c->checks[i].reason);
  }
  free(c->checks);
  for (uint32_t i = 0; i < c->result_count; i++)
    for (int s = 0; s < NAI_SIDES; s++)
      free(c->results[i].values[s]);
  free(c->results);
  nai_match_free(&c->match);
  for (uint32_t i = 0; i < c->table_count; i++)
    nai_table_free(c->tables[i]);
  *c = (struct nai_comparison){0};
}

const struct nai_metric_result *nai_comparison_metric(const struct nai_comparison *c, const char *id) {
  for (uint32_t i = 0; i < c->result_count; i++)
    if (strcmp(c->results[i].id, id) == 0)
      return &c->results[i];
  return NULL;
}

const struct nai_check *nai_comparison_obstacle(const struct nai_comparison *c) {
  for (uint32_t i = 0; i < c->check_count; i++)
    if (c->checks[i].level == NAI_CHECK_HARD && c->checks[i].scope == NAI_SCOPE_ALL)
      return &c->checks[i];
  return NULL;
}

int64_t nai_capture_cell(const struct nai_capture *capture, const char *table, const char *column) {
  const struct nai_table *t = nai_capture_table(capture, table);
  int64_t value = t && t->rows ? nai_cell_i64(t, 0, column) : NAI_NULL_I64;
  return value == NAI_NULL_I64 ? 0 : value;
}
