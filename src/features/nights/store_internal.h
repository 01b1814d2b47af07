/* What the files of a store share. Internal to src/features/nights. */
#pragma once

#include "features/nights/store.h"

/* store.c */
/* "DIRECTORY/NAME"; NAI_EUSAGE when that is too long. */
NAI_MUST_CHECK int nai_store_join(char out[PATH_MAX], const char *directory, const char *name, struct nai_err *err);
/* Whether a text may be a name of a file of ours: [A-Za-z0-9_][A-Za-z0-9._-]*, not too long. NAI_EUSAGE says what
 * `what` must look like. */
NAI_MUST_CHECK int nai_store_check_name(const char *what, const char *name, struct nai_err *err);
/* The arena's copy of a text without what cannot be shown. */
const char *nai_store_clean(struct nai_arena *arena, const char *text);
/* store_open.c: forgets the runs that were read, then reads those of that id. */
NAI_MUST_CHECK int nai_store_reread(struct nai_store *store, const char *id, struct nai_err *err);
/* Runs of one series whose ids begin so, unless one of them was read before. */
NAI_MUST_CHECK int nai_store_read_like(struct nai_store *store, const char *series, const char *begin,
                                       struct nai_err *err);
/* store_adopt.c: whether NAME has nights of unknown environment; gives them to the series of NAME, of which all runs
 * were read, and forgets the runs of other series than those that are meant. To be sorted then. */
bool nai_store_has_homeless(const struct nai_store *store, const char *name);
void nai_store_adopt(struct nai_store *store, const char *series);
/* Lines for people about runs whose records cannot be read. */
NAI_MUST_CHECK int nai_store_damage(struct nai_strings *lines, const struct nai_store *store, struct nai_err *err);
/* After runs were taken out of `runs`. */
NAI_MUST_CHECK int nai_store_sort(struct nai_store *store, struct nai_err *err);
/* store_index.c: writes the summary of a run, whose captures lie in `directory`/captures, into that directory. */
#define NAI_STORE_SUMMARY "summary.bin"
#define NAI_STORE_REPORTS "reports" /* N.html: the page of captures/N */
NAI_MUST_CHECK int nai_store_summarize(const struct nai_store *store, const struct nai_store_run *run,
                                       const char *directory, struct nai_err *err);
/* store_record.c: run.json. Nothing is written, and NAI_EUSAGE, where it could not be read back. Texts are the arena's.
 */
NAI_MUST_CHECK int nai_store_write_run(const struct nai_store_run *run, const char *path, struct nai_err *err);
NAI_MUST_CHECK int nai_store_read_run(struct nai_store_run *out, const char *path, struct nai_arena *arena,
                                      struct nai_err *err);
/* Whether the summary of a run can be read. */
NAI_MUST_CHECK int nai_store_has_summary(bool *has, const struct nai_store *store, const struct nai_store_run *run,
                                         struct nai_err *err);
/* store_remove.c: NAI_EUSAGE when something in the directory of a run is not the store's, NAI_EINPUT when that cannot
 * be told. */
NAI_MUST_CHECK int nai_store_check_ours(const struct nai_store *store, const struct nai_store_run *run,
                                        struct nai_err *err);
/* Removes a directory of the store: it is there whole or not at all. */
NAI_MUST_CHECK int nai_store_remove_tree(const char *path, struct nai_err *err);
/* store_thin.c: of runs in their order, why the captures of one may go, and whether it is the one that stays. */
struct nai_store_thinning {
  const char *series;
  int64_t taken[2]; /* the week and the month of the last that stays */
};
const char *nai_store_thin_reason(bool *stays, struct nai_store_thinning *so_far, const struct nai_store_run *run,
                                  int64_t newest, const struct nai_store_pruning *how);
int64_t nai_store_size_of(const char *path); /* bytes of files, of a directory of all in it */
/* Removes the captures of a run, and says so in its record. *bytes: how much that is, 0: it is left alone. */
NAI_MUST_CHECK int nai_store_thin(int64_t *bytes, const struct nai_store *store, const struct nai_store_run *run,
                                  bool dry_run, struct nai_err *err);
/* store_prune.c: whether the tables that comparisons and the index read can be read, of a capture and of all captures
 * of a run. NAI_EINPUT where not. */
NAI_MUST_CHECK int nai_store_check_capture(struct nai_run *run, struct nai_err *err);
NAI_MUST_CHECK int nai_store_check_run(const struct nai_store *store, const struct nai_store_run *run,
                                       struct nai_err *err);
/* annotations.c: reads annotations.csv, if there is one, and tells the runs that were not told yet. */
NAI_MUST_CHECK int nai_store_read_annotations(struct nai_store *store, struct nai_err *err);
/* baselines.c: calls `each` for every baseline, in the order of names, until it fails. */
typedef int nai_store_baseline_fn(void *ctx, const char *name, const struct nai_store_baseline *baseline,
                                  struct nai_err *err);
NAI_MUST_CHECK int nai_store_each_baseline(const struct nai_store *store, nai_store_baseline_fn *each, void *ctx,
                                           struct nai_err *err);
