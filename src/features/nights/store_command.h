/* The command line of nsys-ai store, and a function for each action. Internal to src/features/nights. */
#pragma once

#include "command/command.h"
#include "features/nights/store.h"
#include "pipeline/options.h"

struct store_args {
  const char *store, *kind, *text, *reason, *out;
  struct nai_store_add add; /* what the options say of a run; --series is of list, too */
  const char *labels[NAI_STORE_MAX_LABELS];
  const char *metrics[NAI_MAX_RULE_FILES];
  size_t metric_count;
  int64_t keep, keep_days, weekly_days, monthly_days; /* -1: not given */
  bool dry_run, json, quiet, reports;
};

/* store_change.c: adds the captures of one run and writes the index. */
NAI_MUST_CHECK int nai_cmd_store_add(struct nai_store *store, const struct store_args *a, const char *const *paths,
                                     size_t count, struct nai_err *err);
/* Writes an artifacts directory of a run, of several captures one for each. */
NAI_MUST_CHECK int nai_cmd_store_get(const struct nai_store *store, const struct store_args *a, const char *id,
                                     struct nai_err *err);
/* Writes the page of each capture in one file, unless it is there, for links to it. */
NAI_MUST_CHECK int nai_cmd_store_reports(const struct nai_store *store, struct nai_err *err);
NAI_MUST_CHECK int nai_cmd_store_prune(const struct nai_store *store, const struct store_args *a, struct nai_err *err);
NAI_MUST_CHECK int nai_cmd_store_upgrade(const struct nai_store *store, const struct store_args *a,
                                         struct nai_err *err);
/* The derived files, with the changes of all series. */
NAI_MUST_CHECK int nai_cmd_store_write_index(const struct nai_store *store, struct nai_err *err);

/* store_show.c */
/* A line on standard error for each run whose record cannot be read. */
void nai_cmd_note_damaged(const struct nai_store *store);
NAI_MUST_CHECK int nai_cmd_store_list(const struct nai_store *store, const struct store_args *a, struct nai_err *err);
/* `words`: list, show NAME, or set NAME RUN-ID..., the last of which changes the store. */
NAI_MUST_CHECK int nai_cmd_store_baseline(const struct nai_store *store, const struct store_args *a,
                                          const char *const *words, size_t count, struct nai_err *err);
