/* nsys-ai-gen ranks: the captures of a distributed job, one per rank, and the truth about them. */
#include "gen/ranks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gen/rank_job.h"
#include "gen/rank_trace.h"
#include "gen/truth/truth_json.h"

enum { MAX_ODD = 16, MAX_RANKS = 1024, MAX_TOGETHER = 64 };
static const int64_t base_utc_ns = INT64_C(1767225600000000000); /* 2026-01-01 */

struct ranks_args {
  struct nai_gen_rank_options how;
  int64_t late_us, offset_us;
  const char *missing_words[MAX_ODD], *lead_words[MAX_ODD];
  size_t missing_count, lead_count, foreign_count;
  int missing[MAX_ODD][2], lead[MAX_ODD][2]; /* rank, number */
  int64_t foreign[MAX_ODD];
  int communicators;
  bool together, no_payloads, no_init, force;
};

static void init(void *memory) {
  struct ranks_args *args = memory;
  args->how = (struct nai_gen_rank_options){.ranks = 8, .steps = 20, .collectives = 4, .seed = 1, .late_rank = 1};
  args->late_us = 400;
  args->offset_us = 5000;
  args->communicators = 1;
}

static const char *choice(const char *const *names, size_t count, size_t index) {
  return index < count ? names[index] : NULL;
}

static const char *stragglers(size_t index, const char *before) {
  static const char *const names[NAI_GEN_STRAGGLERS] = {"none", "persistent", "rotating", "network"};
  (void)before;
  return choice(names, NAI_GEN_STRAGGLERS, index);
}

static const char *withs(size_t index, const char *before) {
  static const char *const names[NAI_GEN_LATE_WITHS] = {"kernel", "slow", "host", "copy"};
  (void)before;
  return choice(names, NAI_GEN_LATE_WITHS, index);
}

#define AT(field) .at = offsetof(struct ranks_args, field)

static const struct nai_cli_option options[] = {
    {.name = "ranks",
     .value = "N",
     .help = "ranks of the job",
     .type = &nai_cli_int,
     AT(how.ranks),
     .min = 2,
     .max = MAX_RANKS},
    {.name = "steps",
     .value = "N",
     .help = "steps of the job",
     .type = &nai_cli_int,
     AT(how.steps),
     .min = 1,
     .max = 100000},
    {.name = "collectives",
     .value = "N",
     .help = "all-reduces of a step",
     .type = &nai_cli_int,
     AT(how.collectives),
     .min = 1,
     .max = 1000},
    {.name = "straggler",
     .value = "KIND",
     .help = "what makes the others wait",
     .type = &nai_cli_choice,
     AT(how.straggler),
     .choices = stragglers},
    {.name = "late-rank",
     .value = "RANK",
     .help = "the persistent straggler",
     .type = &nai_cli_int,
     AT(how.late_rank),
     .max = MAX_RANKS - 1},
    {.name = "late-us",
     .value = "US",
     .help = "by how much a straggler is late",
     .type = &nai_cli_int64,
     AT(late_us),
     .min = 20,
     .max = 1000000},
    {.name = "late-with",
     .value = "WHAT",
     .help = "what a straggler does meanwhile",
     .type = &nai_cli_choice,
     AT(how.late_with),
     .choices = withs},
    {.name = "offset-us",
     .value = "US",
     .help = "clocks of the ranks lie so far apart at most",
     .type = &nai_cli_int64,
     AT(offset_us),
     .max = 1000000},
    {.name = "drift-ppm",
     .value = "PPM",
     .help = "clocks run so fast or slow at most",
     .type = &nai_cli_number,
     AT(how.drift_ppm),
     .max = 500},
    {.name = "missing",
     .value = "RANK:NUMBER",
     .help = "this rank's trace lacks one collective, counted from 0; repeatable",
     .type = &nai_cli_texts,
     AT(missing_words),
     .count_at = offsetof(struct ranks_args, missing_count),
     .most = MAX_ODD},
    {.name = "lead",
     .value = "RANK:NUMBER",
     .help = "this rank's capture begins after so many collectives; repeatable",
     .type = &nai_cli_texts,
     AT(lead_words),
     .count_at = offsetof(struct ranks_args, lead_count),
     .most = MAX_ODD},
    {.name = "foreign",
     .value = "RANK",
     .help = "this rank's trace is of another program; repeatable",
     .type = &nai_cli_ints,
     AT(foreign),
     .count_at = offsetof(struct ranks_args, foreign_count),
     .most = MAX_ODD,
     .max = MAX_RANKS - 1},
    {.name = "communicators",
     .value = "N",
     .help = "of the same ranks, for collectives in turn",
     .type = &nai_cli_int,
     AT(communicators),
     .min = 1,
     .max = 8},
    {.name = "together", .help = "one trace, a GPU per rank", .type = &nai_cli_on, AT(together)},
    {.name = "periodic",
     .help = "all steps and collectives are alike: nothing tells which is which",
     .type = &nai_cli_on,
     AT(how.periodic)},
    {.name = "no-payloads", .help = "NCCL's ranges carry no payloads", .type = &nai_cli_on, AT(no_payloads)},
    {.name = "no-init",
     .help = "the captures begin after the communicators were made: no rank says which it is",
     .type = &nai_cli_on,
     AT(no_init)},
    {.name = "seed",
     .value = "N",
     .help = "seed of all random choices",
     .type = &nai_cli_int64,
     AT(how.seed),
     .max = INT64_MAX},
    {.name = "force", .letter = 'f', .help = "replace existing output files", .type = &nai_cli_on, AT(force)},
    {0},
};

/* "3:120" */
static int read_pairs(int pairs[][2], const char *const *words, size_t count, const char *option, struct nai_err *err) {
  for (size_t i = 0; i < count; i++) {
    char rest;
    if (sscanf(words[i], "%d:%d%c", &pairs[i][0], &pairs[i][1], &rest) != 2 || pairs[i][0] < 0 || pairs[i][1] < 0) {
      return nai_err_set(err, NAI_EUSAGE, "--%s %.60s: expected RANK:NUMBER, for example 3:120", option, words[i]);
    }
  }
  return NAI_OK;
}

static struct nai_gen_rank_capture capture_of(const struct ranks_args *args, int rank) {
  struct nai_gen_rank_capture capture = {.missing = -1,
                                         .payloads = !args->no_payloads,
                                         .initialisation = !args->no_init,
                                         .communicators = args->communicators};
  for (size_t i = 0; i < args->missing_count; i++) {
    capture.missing = args->missing[i][0] == rank ? args->missing[i][1] : capture.missing;
  }
  for (size_t i = 0; i < args->lead_count; i++) {
    capture.lead = args->lead[i][0] == rank ? args->lead[i][1] : capture.lead;
  }
  for (size_t i = 0; i < args->foreign_count; i++) {
    capture.foreign |= args->foreign[i] == rank;
  }
  return capture;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Ranks `first` up to `last` in one trace. */
static int write_trace(const char *path, const struct nai_gen_rank_job *job, const struct ranks_args *args, int first,
                       int last, struct nai_gen_err *err) {
  const struct nai_gen_plan_options how = {.seed = (uint64_t)args->how.seed,
                                           .schema = NAI_GEN_2026,
                                           .scale = 1,
                                           .utc_ns = base_utc_ns + job->started[first] + job->clock[first]};
  const struct nai_gen_db_options db_options = {.schema = how.schema, .replace = args->force};
  struct nai_gen_db *db = NULL;
  int rc = nai_gen_db_open(&db, path, &db_options, err);
  if (rc) {
    return rc;
  }
  struct nai_gen_plan *plan = nai_gen_plan_new(db, &how, err);
  for (int r = first; plan && r < last; r++) {
    struct nai_gen_rank_capture capture = capture_of(args, r);
    nai_gen_rank_plan(plan, job, &capture, r, r - first);
  }
  if (plan) {
    nai_gen_close_open_ranges(plan);
    nai_gen_write_events(plan);
    nai_gen_write_meta(plan, "ranks");
  }
  rc = err->code ? err->code : nai_gen_db_commit(db, err);
  nai_gen_plan_free(plan);
  nai_gen_db_free(db);
  return rc;
}

static int file_path(char path[4096], const char *directory, int rank, bool together, struct nai_gen_err *err) {
  int length = together ? snprintf(path, 4096, "%s/ranks.sqlite", directory)
                        : snprintf(path, 4096, "%s/rank%d.sqlite", directory, rank);
  return length < 4096 ? 0 : nai_gen_fail(NAI_GEN_EUSAGE, err, "the name of the directory is too long");
}

/* The collectives before the first that a trace lacks and behind the last that one begins without. */
static json_t *truth_of(const struct nai_gen_rank_job *job, const struct ranks_args *args) {
  json_t *truth = json_object();
  int from = 0, to = job->count;
  for (int r = 0; r < job->how.ranks; r++) {
    struct nai_gen_rank_capture capture = capture_of(args, r);
    from = capture.lead > from ? capture.lead : from;
    to = capture.missing >= 0 && capture.missing < to ? capture.missing : to;
  }
  nai_gen_json_string(truth, "straggler", stragglers((size_t)job->how.straggler, ""));
  nai_gen_json_string(truth, "late_with", withs((size_t)job->how.late_with, ""));
  nai_gen_json_int(truth, "late_rank", job->how.late_rank);
  nai_gen_json_int(truth, "collectives", job->count);
  nai_gen_rank_truth(truth, job, from, to);
  return truth;
}

static int write_all(const char *directory, const struct ranks_args *args, struct nai_gen_err *err) {
  struct nai_gen_rank_job job = {0};
  char path[4096];
  int each = args->together ? args->how.ranks : 1;
  int rc = nai_gen_rank_job_new(&job, &args->how, err);
  if (!rc && mkdir(directory, 0777) != 0 && errno != EEXIST) {
    rc = nai_gen_fail(NAI_GEN_EOUTPUT, err, "cannot create \"%s\": %s", directory, strerror(errno));
  }
  for (int r = 0; r < args->how.ranks && !rc; r += each) {
    rc = file_path(path, directory, r, args->together, err);
    if (!rc) {
      rc = write_trace(path, &job, args, r, r + each, err);
    }
  }
  json_t *truth = rc ? NULL : truth_of(&job, args);
  snprintf(path, sizeof path, "%s/truth.json", directory);
  if (!rc) {
    rc = nai_gen_json_write(truth, path, err);
  }
  json_decref(truth);
  nai_gen_rank_job_free(&job);
  return rc;
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  struct ranks_args *args = memory;
  struct nai_gen_err failure = {0};
  (void)count;
  args->how.late_ns = args->late_us * 1000;
  args->how.offset_ns = args->together ? 0 : args->offset_us * 1000;
  int rc = read_pairs(args->missing, args->missing_words, args->missing_count, "missing", err);
  if (!rc) {
    rc = read_pairs(args->lead, args->lead_words, args->lead_count, "lead", err);
  }
  if (!rc && args->together && args->how.ranks > MAX_TOGETHER) {
    rc = nai_err_set(err, NAI_EUSAGE, "--together takes %d ranks at most", MAX_TOGETHER);
  }
  if (!rc && args->how.late_rank >= args->how.ranks) {
    rc = nai_err_set(err, NAI_EUSAGE, "--late-rank %d: there are %d ranks", args->how.late_rank, args->how.ranks);
  }
  if (!rc && write_all(operands[0], args, &failure) != 0) {
    rc = nai_err_set(err,
                     failure.code == NAI_GEN_EUSAGE   ? NAI_EUSAGE
                     : failure.code == NAI_GEN_ENOMEM ? NAI_ELIMIT
                                                      : NAI_EIO,
                     "%s", failure.text);
  }
  return rc;
}

const struct nai_cli_command nai_gen_ranks_command = {
    .name = "ranks",
    .synopsis = "DIR",
    .summary = "write the traces of a distributed job's ranks, with known stragglers and clocks",
    .description =
        "Writes DIR/rank0.sqlite and so on, one small trace per rank of one job, each with a clock of its own, and "
        "DIR/truth.json: who was late, what the others waited, and how far the clocks lie apart. The same options give the "
        "same bytes.",
    .examples = "nsys-ai-gen ranks job --ranks 8 --straggler persistent --late-rank 5\n"
                "nsys-ai-gen ranks job --ranks 4 --straggler network --offset-us 20000 --drift-ppm 20\n"
                "nsys-ai-gen ranks job --ranks 4 --missing 2:40 --no-init",
    .options = options,
    .operands = (const struct nai_cli_operand[]){{.name = "DIR", .hint = NAI_CLI_DIRECTORY}, {0}},
    .min_operands = 1,
    .max_operands = 1,
    .args_size = sizeof(struct ranks_args),
    .init = init,
    .run = run,
};
