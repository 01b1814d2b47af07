/* A batch: many traces analysed one process each, with what became of every one.
 *
 *   OUT/manifest.csv        what it is about (features/batch/manifest.h)
 *   OUT/batch.json          how it is done
 *   OUT/shards.csv          which task analyses which item
 *   OUT/items/ID/           what analyze wrote
 *   OUT/status/ID.json      what became of the item; written last, by renaming: without it the item was not analysed
 *   OUT/logs/ID.log         what analyze said on stderr, where it said something
 *   OUT/index.*, batch.md   derived from all that by the roll-up, and by nothing else
 *
 * No file is locked, and every file appears by renaming, so the directory may be on a file system of a cluster. */
#pragma once

#include "base/buf.h"
#include "features/batch/manifest.h"

struct nai_batch {
  struct nai_arena *arena; /* of all that is below; the caller's */
  const char *out;         /* absolute */
  struct nai_batch_manifest manifest;
  uint64_t hash;        /* of the manifest: names the batch */
  const char **options; /* words of analyze's command line */
  uint32_t option_count, option_capacity;
  uint64_t options_hash;      /* of these, and of the files they name */
  uint64_t program;           /* build of the program that plans the batch */
  int64_t time_limit_s;       /* per item, 0: none */
  int64_t memory_limit_bytes; /* per item, 0: none */
  const char *scratch;        /* directory of the machine an item is analysed on, or NULL: analyse in place */
  bool retry_refused;
  uint32_t shards;      /* tasks of shards.csv */
  uint32_t shard_items; /* the most traces of one of them; known once they are planned */
};

/* Adds a word to the options. */
NAI_MUST_CHECK int nai_batch_add_option(struct nai_batch *batch, const char *word, struct nai_err *err);
/* Fills hash, options_hash and program, and writes manifest.csv and batch.json; OUT and its directories are made. */
NAI_MUST_CHECK int nai_batch_create(struct nai_batch *batch, struct nai_err *err);
/* Reads what nai_batch_create wrote into a batch that has nothing but its arena. NAI_EUSAGE when `out` holds none. */
NAI_MUST_CHECK int nai_batch_open(struct nai_batch *batch, const char *out, struct nai_err *err);
/* Whether the directory holds a batch. */
bool nai_batch_exists(const char *out);
/* NAI_EUSAGE, saying that it holds none. */
NAI_MUST_CHECK int nai_batch_none(const char *out, struct nai_err *err);
/* Removes files that killed processes left half written. For the one who plans, while no task runs. */
void nai_batch_sweep(const struct nai_batch *batch);
/* Path of a file of the batch, "status" and "json" say which; false when it is too long. */
bool nai_batch_path(char *out, size_t size, const struct nai_batch *batch, const char *directory, const char *id,
                    const char *suffix);

/* --- what became of an item --------------------------------------------------------------------- */

enum nai_batch_outcome {
  NAI_BATCH_OK,
  NAI_BATCH_REFUSED, /* the trace: status 3 */
  NAI_BATCH_FAILED,  /* another exit status */
  NAI_BATCH_CRASHED, /* ended by a signal */
  NAI_BATCH_TIMEOUT,
  NAI_BATCH_MISSING, /* no status, or one of another input, program or configuration */
  NAI_BATCH_OUTCOMES
};
const char *nai_batch_outcome_name(enum nai_batch_outcome outcome);

struct nai_batch_status {
  enum nai_batch_outcome outcome;
  int exit, signal;       /* -1 and 0 where they do not apply */
  char *error;            /* one clean line, or NULL */
  struct nai_stamp stamp; /* of the trace */
  uint64_t program, options;
  int64_t wall_ms, max_rss_bytes; /* differ from run to run: for people, never in the index */
};

/* MISSING, without an error, when there is no readable status file or one whose keys do not fit. */
NAI_MUST_CHECK int nai_batch_status_read(struct nai_batch_status *out, const struct nai_batch *batch, uint32_t item,
                                         struct nai_err *err);
NAI_MUST_CHECK int nai_batch_status_write(const struct nai_batch_status *status, const struct nai_batch *batch,
                                          uint32_t item, struct nai_err *err);
void nai_batch_status_free(struct nai_batch_status *status);

/* Of `among_count` items (NULL: the first of the manifest) those that are still to be analysed: missing ones, those
 * whose run the roll-up cannot read, and those that failed for a reason that need not be the trace's. */
NAI_MUST_CHECK int nai_batch_todo(uint32_t **items, uint32_t *count, const uint32_t *among, uint32_t among_count,
                                  const struct nai_batch *batch, struct nai_err *err);

/* --- dividing ----------------------------------------------------------------------------------- */

/* Writes the division to shards.csv and batch.json. */
NAI_MUST_CHECK int nai_batch_plan_shards(struct nai_batch *batch, uint32_t shards, const uint32_t *items,
                                         uint32_t count, struct nai_err *err);
/* The items of one task. NAI_EUSAGE when the plan has another number of tasks. */
NAI_MUST_CHECK int nai_batch_shard(uint32_t **items, uint32_t *count, const struct nai_batch *batch, uint32_t shard,
                                   uint32_t shards, struct nai_err *err);

/* --- doing -------------------------------------------------------------------------------------- */

/* Told after each item. */
typedef void nai_batch_progress_fn(void *ctx, const struct nai_batch *batch, uint32_t item,
                                   const struct nai_batch_status *status, uint32_t done, uint32_t count);

/* Analyses items, `jobs` at a time with `threads` each, the largest first. Whatever happens to an item is its status;
 * an error means that statuses cannot be written. */
NAI_MUST_CHECK int nai_batch_run(const struct nai_batch *batch, const uint32_t *items, uint32_t count, int jobs,
                                 int threads, nai_batch_progress_fn *progress, void *ctx, struct nai_err *err);
/* Bytes of memory that analysing a trace of this size may take: an upper estimate. */
int64_t nai_batch_memory(int64_t trace_bytes);

/* How many ended in which way. */
struct nai_batch_counts {
  uint32_t of[NAI_BATCH_OUTCOMES];
  uint32_t no_gpu; /* of those that are OK: without GPU activity */
};
/* Writes index.sqlite, index.csv, index.html and batch.md from statuses and reports. */
NAI_MUST_CHECK int nai_batch_rollup(struct nai_batch_counts *counts, const struct nai_batch *batch,
                                    struct nai_err *err);

/* --- schedulers --------------------------------------------------------------------------------- */

struct nai_batch_slurm {
  const char *const *args; /* words for sbatch, as they are */
  size_t arg_count;
  int cpus;                           /* per task */
  int at_a_time;                      /* tasks of the array that run at once, 0: the scheduler's choice */
  const char *array_job, *rollup_job; /* set by nai_batch_submit */
};
/* The most tasks an array may have here. */
NAI_MUST_CHECK int nai_batch_slurm_most(uint32_t *out, struct nai_err *err);
/* Submits shards.csv as a job array, and the roll-up behind it. */
NAI_MUST_CHECK int nai_batch_submit(struct nai_batch_slurm *slurm, const struct nai_batch *batch, struct nai_err *err);
/* Shell lines that do the same by other means: xargs, GNU parallel, PBS, Kubernetes. */
void nai_batch_print(struct nai_buf *out, const struct nai_batch *batch);
