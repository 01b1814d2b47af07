#include "features/whatif/changes.h"

#include "query/query_rows.h"

void nai_changes_free(struct nai_changes *c) {
  for (uint32_t i = 0; i < c->count; i++)
    nai_change_free(&c->v[i]);
  nai_arena_free(&c->arena);
}

int nai_changes_add(struct nai_changes *c, enum nai_change_kind kind, const char *words, struct nai_err *err) {
  return nai_change_read(&c->v[c->count++], kind, words, &c->arena, err);
}

static bool is_known(const struct nai_changes *c, const char *text) {
  for (uint32_t i = 0; i < c->count; i++)
    if (strcmp(c->v[i].text, text) == 0)
      return true;
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
  static const char named[] = "select change, title, finding from findings where change is not null order by finding";
  uint32_t found = 0;
  NAI_SCOPED(nai_query_rows) rows = {0};
  NAI_TRY(nai_query_ask(&rows, run, named, NULL, 0, err));
  for (int64_t i = 0; i < rows.rows && c->count < NAI_MOST_CHANGES; i++) {
    if (is_left_out(without, without_count, &found, nai_query_cell_int(&rows, i, 2)) ||
        is_known(c, nai_query_cell_text(&rows, i, 0)))
      continue;
    int rc = nai_change_parse(&c->v[c->count], nai_query_cell_text(&rows, i, 0), &c->arena, err);
    if (rc && rc != NAI_EUSAGE)
      return rc;
    if (rc) {
      nai_change_free(&c->v[c->count]);
      continue;
    }
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
      [NAI_CHANGE_CALL] = "matches no CUDA call, by function or NVTX range; table api_calls lists them",
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

void nai_changes_drop(struct nai_changes *c, uint32_t i) {
  nai_change_free(&c->v[i]);
  for (c->count--; i < c->count; i++) {
    c->v[i] = c->v[i + 1];
    c->titles[i] = c->titles[i + 1];
  }
}
