#include "features/whatif/changes.h"

#include "query/query_rows.h"

/* A change that removes one cause of idle time may remove as much of others, and a model may err by a tenth. Reports
 * hold what they simulate against the same (rules/saving.c). */
#define MOST_OF_BOUND 2.2

void nai_changes_free(struct nai_changes *c) {
  for (uint32_t i = 0; i < c->count; i++)
    nai_change_free(&c->v[i]);
  nai_arena_free(&c->arena);
}

int nai_changes_add(struct nai_changes *c, enum nai_change_kind kind, const char *words, struct nai_err *err) {
  c->most[c->count] = -1;
  return nai_change_read(&c->v[c->count++], kind, words, &c->arena, err);
}

/* Whether a finding names the change already, perhaps of another rank, where it may save more. */
static bool is_known(struct nai_changes *c, const char *text, int64_t most) {
  for (uint32_t i = 0; i < c->count; i++)
    if (strcmp(c->v[i].text, text) == 0) {
      c->most[i] = most < 0 || c->most[i] < 0 ? -1 : most > c->most[i] ? most : c->most[i];
      return true;
    }
  return false;
}

/* Whether finding N was left out; notes that it is there. */
static bool is_left_out(const int64_t *without, size_t without_count, uint32_t *found, int64_t finding) {
  for (size_t i = 0; i < without_count; i++)
    if (without[i] == finding) {
      *found |= 1u << i;
      return true;
    }
  return false;
}

/* The changes that findings name, each once. One that does not parse holds text of the trace in a pattern: it is none,
 * as in table what_if. */
int nai_changes_of_findings(struct nai_changes *c, const int64_t *without, size_t without_count, struct nai_run *run,
                            struct nai_err *err) {
  static const char named[] =
      "select change, title, finding, iif(saving_is = 'bound', coalesce(saving_ns, -1), -1) from findings where change is not null "
      "order by finding";
  uint32_t found = 0;
  NAI_SCOPED(nai_query_rows) rows = {0};
  NAI_TRY(nai_query_ask(&rows, run, named, NULL, 0, err));
  for (int64_t i = 0; i < rows.rows && c->count < NAI_MOST_CHANGES; i++) {
    int64_t most = nai_query_cell_int(&rows, i, 3);
    if (is_left_out(without, without_count, &found, nai_query_cell_int(&rows, i, 2)) ||
        is_known(c, nai_query_cell_text(&rows, i, 0), most))
      continue;
    int rc = nai_change_parse(&c->v[c->count], nai_query_cell_text(&rows, i, 0), &c->arena, err);
    if (rc && rc != NAI_EUSAGE)
      return rc;
    if (rc) {
      nai_change_free(&c->v[c->count]);
      continue;
    }
    c->most[c->count] = most;
    c->titles[c->count++] = nai_arena_printf(&c->arena, "%s", nai_query_cell_text(&rows, i, 1));
  }
  for (size_t i = 0; i < without_count; i++)
    if (!(found >> i & 1))
      return nai_err_set(err, NAI_EUSAGE,
                         "--without %" PRId64
                         ": no finding of that number names a change; table what_if lists those that do",
                         without[i]);
  return nai_arena_check(&c->arena, err);
}

int nai_changes_count(struct nai_changes *c, const struct nai_whatif *whatif, struct nai_err *err) {
  static const char *const nothing[NAI_CHANGE_KINDS] = {
      [NAI_CHANGE_REMOVE_WAIT] =
          "matches no call that waits for the GPU, by function or NVTX range; table sync_calls lists them",
      [NAI_CHANGE_REMOVE_WAIT_AT] = "no call there waits for the GPU",
      [NAI_CHANGE_KERNEL] = "matches no kernel; table kernels lists them",
      [NAI_CHANGE_COPY] = "matches no direction of a copy; table memory_transfers lists them",
      [NAI_CHANGE_COPY_AT] = "no copy is made there",
      [NAI_CHANGE_PINNED] =
          "no copy is from or to pageable memory while others of its direction are pinned and tell the rate",
      [NAI_CHANGE_OWN_STREAM] = "no copy to the GPU is behind something else on its stream",
      [NAI_CHANGE_OWN_STREAM_COMM] = "no communication is before something else on its stream",
      [NAI_CHANGE_MORE_IN_FLIGHT] = "no thread of that name or number is seen to take turns with another",
      [NAI_CHANGE_FUSE] = "no two kernels follow each other that match and only move data",
      [NAI_CHANGE_GRAPHS] = "no four launches follow each other within 50 \u00b5s",
      [NAI_CHANGE_CALL] =
          "matches no CUDA call in the time that is simulated, by function or NVTX range; table api_calls lists all",
      [NAI_CHANGE_HOST] = "there is no CUDA call",
      [NAI_CHANGE_NO_PROFILER] = "no flush of the profiler's buffers meets a CUDA call",
      [NAI_CHANGE_BALANCE] = "no GPU comes late to a collective that is matched with other GPUs"};
  for (uint32_t i = 0; i < c->count; i++) {
    const struct nai_change *change = &c->v[i];
    NAI_TRY(nai_change_count(&c->edited[i], whatif, change, err));
    if (!c->edited[i])
      return nai_err_set(err, NAI_EUSAGE, "--%s: %s", change->text, nothing[change->kind]);
  }
  return NAI_OK;
}

int nai_changes_leave_out(bool *out, struct nai_changes *c, uint32_t i, const struct nai_whatif *w,
                          struct nai_err *err) {
  const struct nai_change *change = &c->v[i];
  double ns, repetitions = (double)w->covered_ns / w->now_ns;
  *out = false;
  if (c->most[i] < 0)
    return NAI_OK;
  NAI_TRY(nai_whatif_likely(&ns, w, &change, 1, err));
  *out = repetitions * (w->now_ns - ns) > MOST_OF_BOUND * (double)c->most[i];
  if (!*out)
    return NAI_OK;
  c->left_out = c->left_out ? nai_arena_printf(&c->arena, "%s, %s", c->left_out, c->titles[i])
                            : nai_arena_printf(&c->arena,
                                               "Left out: in the model they save more than twice the time "
                                               "that the finding is about: %s",
                                               c->titles[i]);
  nai_changes_drop(c, i);
  return nai_arena_check(&c->arena, err);
}

void nai_changes_drop(struct nai_changes *c, uint32_t i) {
  nai_change_free(&c->v[i]);
  for (c->count--; i < c->count; i++) {
    c->v[i] = c->v[i + 1];
    c->titles[i] = c->titles[i + 1];
    c->most[i] = c->most[i + 1];
  }
}
