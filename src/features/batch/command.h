/* The command line of nsys-ai batch, and what its files have of each other. Internal to src/features/batch. */
#pragma once

#include "features/batch/batch.h"
#include "command/command.h"

enum { BATCH_MAX_FORWARDED = 64, BATCH_MAX_SLURM_ARGS = 64 };
enum batch_engine { BATCH_LOCAL, BATCH_SLURM, BATCH_PRINT };

struct batch_args {
  const char *out, *scratch, *shard, *retry;
  int engine, jobs, shards, at_a_time;
  int64_t time_limit_s, memory_limit_bytes;
  bool resume, dry_run, rollup, wait, quiet, verbose, json;
  const char *slurm[BATCH_MAX_SLURM_ARGS];
  size_t slurm_count;
  struct batch_forwarded { /* an option of analyze */
    const struct nai_cli_option *option;
    const char *value; /* NULL: a switch */
  } forwarded[BATCH_MAX_FORWARDED];
  size_t forwarded_count;
};

/* command_plan.c: the batch of a command line, new or the one in --out that is resumed. */
NAI_MUST_CHECK int nai_cmd_batch_plan(struct nai_batch *b, const struct batch_args *a, const char *const *inputs,
                                      size_t count, struct nai_err *err);
/* command_cluster.c: submits the items to Slurm; with --wait returns when the index is there. */
NAI_MUST_CHECK int nai_cmd_batch_submit(struct nai_batch *b, const struct batch_args *a, const uint32_t *items,
                                        uint32_t count, struct nai_err *err);
/* command_cluster.c: prints the shell lines that run the items. */
NAI_MUST_CHECK int nai_cmd_batch_print(struct nai_batch *b, const struct batch_args *a, const uint32_t *items,
                                       uint32_t count, struct nai_err *err);
