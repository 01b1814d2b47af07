/* Which rank is which: numbers, names, order. Never the order in which they were given. */
#include "features/ranks/ranks.h"

#include "base/buf.h"
#include "base/sort.h"
#include "base/text.h"
#include "command/command.h"

/* Like strcmp, but numbers in the texts count as numbers: "rank2" before "rank10". */
static int compare_names(const char *a, const char *b) {
  const char *p = a, *q = b;
  while (*p && *q) {
    if (*p >= '0' && *p <= '9' && *q >= '0' && *q <= '9') {
      while (*p == '0')
        p++;
      while (*q == '0')
        q++;
      size_t m = strspn(p, "0123456789"), n = strspn(q, "0123456789");
      int order = m != n ? (m > n) - (m < n) : strncmp(p, q, m);
      if (order)
        return order;
      p += m;
      q += n;
    } else if (*p != *q) {
      return (unsigned char)*p - (unsigned char)*q;
    } else {
      p++;
      q++;
    }
  }
  int order = (*p != 0) - (*q != 0);
  return order ? order : strcmp(a, b);
}

NAI_ORDER(by_number, struct nai_job_rank, {a->number, b->number})

NAI_ORDER_BY(by_label, struct nai_job_rank, compare_names(a->label, b->label))

/* The number behind the last occurrence of the text. */
static int64_t number_in(const char *path, const char *text) {
  const char *last = NULL;
  for (const char *at = path; *text && (at = strstr(at, text)); at++)
    last = at[strlen(text)] >= '0' && at[strlen(text)] <= '9' ? at + strlen(text) : last;
  return last && strspn(last, "0123456789") < 10 ? strtoll(last, NULL, 10) : NAI_NULL_I64;
}

static bool numbered(struct nai_job_rank *ranks, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (ranks[i].number == NAI_NULL_I64)
      return false;
  qsort(ranks, count, sizeof *ranks, by_number);
  for (uint32_t i = 1; i < count; i++)
    if (ranks[i].number == ranks[i - 1].number)
      return false;
  return true;
}

void nai_ranks_put_name(struct nai_buf *out, const char *path) {
  size_t len = strlen(path);
  while (len > 1 && path[len - 1] == '/')
    len--;
  size_t from = len;
  while (from > 0 && path[from - 1] != '/')
    from--;
  len -= nai_cmd_trace_suffix(path + from, len - from);
  nai_text_clean(out, path + from, len - from);
}

/* level 0: the number; 1: the name of the trace; 2: with GPU; 3: the path with GPU; 4: with process. Of one trace the
 * name says nothing. */
static int set_label(struct nai_job_rank *rank, struct nai_ranks *r, int level, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  if (level == 0)
    nai_buf_printf(&text, "rank %lld", (long long)rank->number);
  else if (r->source_count > 1 && level >= 3)
    nai_text_clean(&text, r->sources[rank->source].path, strlen(r->sources[rank->source].path));
  else if (r->source_count > 1)
    nai_ranks_put_name(&text, r->sources[rank->source].path);
  if (level >= 2 && rank->device >= 0)
    nai_buf_printf(&text, "%sGPU %d", text.len ? " " : "", rank->device);
  if (level >= 4)
    nai_buf_printf(&text, "%sprocess %lld", text.len ? " " : "", (long long)rank->pid);
  rank->label = nai_arena_printf(&r->arena, "%s", nai_buf_str(&text));
  NAI_TRY(nai_arena_check(&r->arena, err));
  return nai_buf_check(&text, err);
}

/* The plainest labels that tell all ranks apart. */
static int label(struct nai_ranks *r, struct nai_err *err) {
  bool unique = false;
  for (int level = numbered(r->ranks, r->rank_count) ? 0 : 1; level <= 4 && !unique; level++) {
    for (uint32_t i = 0; i < r->rank_count; i++)
      NAI_TRY(set_label(&r->ranks[i], r, level, err));
    if (level == 0)
      return NAI_OK;
    qsort(r->ranks, r->rank_count, sizeof *r->ranks, by_label);
    unique = true;
    for (uint32_t i = 1; i < r->rank_count; i++)
      unique = unique && strcmp(r->ranks[i].label, r->ranks[i - 1].label) != 0;
  }
  return NAI_OK;
}

/* Lines follow their ranks. */
static int renumber(struct nai_ranks *r, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  uint32_t *place;
  NAI_TRY(NAI_NEW(place, &arena, r->rank_count, err));
  for (uint32_t i = 0; i < r->rank_count; i++) {
    place[r->ranks[i].reference] = i;
    r->ranks[i].reference = NAI_NO_RANK;
  }
  for (uint32_t i = 0; i < r->line_count; i++)
    r->lines[i].rank = place[r->lines[i].rank];
  return NAI_OK;
}

NAI_ORDER(by_rank, struct nai_rank_line, {a->rank, b->rank}, {a->first, b->first})

int nai_ranks_order(struct nai_ranks *r, const struct nai_ranks_options *options, struct nai_err *err) {
  for (uint32_t i = 0; i < r->rank_count; i++) {
    struct nai_job_rank *rank = &r->ranks[i];
    rank->reference = i; /* where it was, until lines have followed */
    if (options->number_follows)
      rank->number = number_in(r->sources[rank->source].path, options->number_follows);
  }
  NAI_TRY(label(r, err));
  NAI_TRY(renumber(r, err));
  qsort(r->lines, r->line_count, sizeof *r->lines, by_rank);
  return NAI_OK;
}
