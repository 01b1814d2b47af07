/* nsys-ai batch: many traces, one process each. */
#include "features/batch/command.h"

#include "base/threads.h"
#include "base/escape.h"
#include "table/json.h"

#include <unistd.h>

enum { SOME_FAILED = 4 };

/* --- options ---------------------------------------------------------------------------------- */

NAI_CLI_NAMES(engine_name, [BATCH_LOCAL] = "local", [BATCH_SLURM] = "slurm", [BATCH_PRINT] = "print")

NAI_CLI_NAMES(retry_name, "refused")

/* Options of analyze, kept as words for the processes that analyse. */
static int forward(void *memory, const struct nai_cli_option *option, const char *const *values, struct nai_err *err) {
  struct batch_args *args = memory;
  if (args->forwarded_count == BATCH_MAX_FORWARDED)
    return nai_err_set(err, NAI_EUSAGE, "--%s: more than %d options for analyze", option->name, BATCH_MAX_FORWARDED);
  args->forwarded[args->forwarded_count++] = (struct batch_forwarded){option, option->value ? values[0] : NULL};
  return NAI_OK;
}

static const struct nai_cli_type forwarded = {forward, NULL};

#define FORWARDED(name, value, what, ...) \
  NAI_CLI_OTHER(forwarded, name, value, "as in nsys-ai analyze: " what, __VA_ARGS__)

#define NAI_CLI_ARGS struct batch_args
static const struct nai_cli_option options[] = {
    NAI_CLI_OPTION(text, out, "out", "DIR", "directory of the batch", .letter = 'o', .hint = NAI_CLI_DIRECTORY),
    NAI_CLI_OPTION(choice, engine, "engine", "ENGINE",
                   "who runs the processes: this machine, a Slurm job array, or shell lines that are printed",
                   .choices = engine_name),
    NAI_CLI_OPTION(int, jobs, "jobs", "N", "traces analyzed at a time, on this machine or in a task of the cluster",
                   .letter = 'j', NAI_CLI_RANGE(1, NAI_MAX_THREADS),
                   .otherwise = "as many as processors and memory allow; 1 in a task"),
    NAI_CLI_SWITCH(on, resume, "resume",
                   "analyze what is missing, has changed, or failed for a reason that need not be the trace's"),
    NAI_CLI_OPTION(word, retry, "retry", "WHAT", "with --resume: also traces that were refused", .choices = retry_name),
    NAI_CLI_SWITCH(on, dry_run, "dry-run", "print what would be analyzed, and write nothing"),
    NAI_CLI_OPTION(int64, time_limit_s, "time-limit", "SECONDS", "end the analysis of a trace that takes longer",
                   NAI_CLI_RANGE(1, 1000000000), .otherwise = "none"),
    NAI_CLI_OPTION(bytes, memory_limit_bytes, "memory-limit", "SIZE", "memory one analysis may take, for example 4G",
                   .otherwise = "none"),
    NAI_CLI_OPTION(text, scratch, "scratch", "DIR",
                   "analyze on this disk of each machine: copy the trace there and the report back",
                   .hint = NAI_CLI_DIRECTORY),
    NAI_CLI_OPTION(int, shards, "shards", "N", "tasks to divide the traces into, with --engine slurm or print",
                   NAI_CLI_RANGE(1, 4000000), .otherwise = "by size, at most 500 and what the cluster allows"),
    NAI_CLI_OPTION(int, at_a_time, "at-a-time", "N", "tasks of a Slurm array that run at a time",
                   NAI_CLI_RANGE(1, 1000000), .otherwise = "what the cluster allows"),
    NAI_CLI_LIST(texts, slurm, slurm_count, "slurm-args", "WORD",
                 "a word for sbatch, such as --partition=cpu; repeatable"),
    NAI_CLI_SWITCH(on, wait, "wait", "with --engine slurm: return when the index is there"),
    NAI_CLI_OPTION(text, shard, "run-shard", "I/N",
                   "analyze the traces of task I of N, as planned; what every task of a cluster calls"),
    NAI_CLI_SWITCH(on, rollup, "rollup", "write the index and batch.md from what is there; what the last task calls"),
    FORWARDED("rules", "FILE", "rules", NAI_CLI_FILES("yaml yml")),
    FORWARDED("metrics", "FILE", "metrics", NAI_CLI_FILES("yaml yml")),
    FORWARDED("templates", "DIR", "templates", .hint = NAI_CLI_DIRECTORY),
    FORWARDED("phase-map", "NAME|FILE", "phases", .choices = nai_cmd_phase_maps, .also = "a YAML or JSON file",
              NAI_CLI_FILES("yaml yml json")),
    FORWARDED("kernel-classes", "FILE", "kernel categories", NAI_CLI_FILES("yaml yml")),
    FORWARDED("workload", "FILE", "workload patterns", NAI_CLI_FILES("yaml yml")),
    FORWARDED("all-csv", NULL, "a CSV file of every table"),
    FORWARDED("no-export", NULL, "no .nsys-rep is exported with nsys"),
    FORWARDED("no-nvtx-kernel-map", NULL, "no attribution to NVTX ranges"),
    NAI_CLI_SWITCH(on, quiet, "quiet", "print nothing but errors", .letter = 'q'),
    NAI_CLI_SWITCH(on, verbose, "verbose", "print a line per trace", .letter = 'v'),
    NAI_CLI_SWITCH(on, json, "json", "print one line of JSON that sums up the batch"),
    {0},
};

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct batch_args *a = memory;
  (void)operands;
  if (!a->out)
    return nai_err_set(err, NAI_EUSAGE, "--out DIR is missing");
  if ((a->shard || a->rollup) && count)
    return nai_err_set(err, NAI_EUSAGE, "--run-shard and --rollup take the traces from the plan in --out");
  if (a->shard && a->rollup)
    return nai_err_set(err, NAI_EUSAGE, "--run-shard and --rollup exclude each other");
  if (!count && !a->resume && !a->shard && !a->rollup)
    return nai_err_set(err, NAI_EUSAGE, "which traces? Name files, directories, or a manifest (CSV)");
  if (a->retry && !a->resume)
    return nai_err_set(err, NAI_EUSAGE, "--retry %s needs --resume", a->retry);
  return NAI_OK;
}

/* --- running ---------------------------------------------------------------------------------- */

static int jobs_for(const struct batch_args *a, const struct nai_batch *b) {
  int64_t largest = 0, pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE), most;
  if (a->jobs)
    return a->jobs;
  for (uint32_t i = 0; i < b->manifest.count; i++)
    if (b->manifest.items[i].stamp.bytes > largest)
      largest = b->manifest.items[i].stamp.bytes;
  most = pages > 0 && page > 0 ? pages * page / nai_batch_memory(largest) : 1;
  return most < 1 ? 1 : most < nai_cpu_count() ? (int)most : nai_cpu_count();
}

struct progress {
  const struct batch_args *args;
  bool show; /* a line that is written over */
  uint32_t bad;
};

static void show_item(void *ctx, const struct nai_batch *b, uint32_t item, const struct nai_batch_status *status,
                      uint32_t done, uint32_t count) {
  struct progress *p = ctx;
  p->bad += status->outcome != NAI_BATCH_OK;
  if (p->args->verbose)
    fprintf(stderr, "nsys-ai: %u/%u %s: %s, %lld ms, %lld MiB%s%s\n", done, count, b->manifest.items[item].id,
            nai_batch_outcome_name(status->outcome), (long long)status->wall_ms,
            (long long)(status->max_rss_bytes >> 20), status->error ? ": " : "", status->error ? status->error : "");
  else if (p->show)
    fprintf(stderr, "\r\033[Knsys-ai: %u of %u analyzed, %u failed", done, count, p->bad);
}

static int run_items(const struct nai_batch *b, const struct batch_args *a, const uint32_t *items, uint32_t count,
                     int jobs, struct nai_err *err) {
  struct progress progress = {a, !a->quiet && !a->verbose && isatty(STDERR_FILENO), 0};
  int threads = nai_cpu_count() / jobs;
  if (count && count < (uint32_t)jobs) /* fewer traces than processors */
    threads = nai_cpu_count() / (int)count;
  int rc = nai_batch_run(b, items, count, jobs, threads > 1 ? threads : 1, show_item, &progress, err);
  if (progress.show)
    fprintf(stderr, "\r\033[K");
  return rc;
}

/* The first traces that were not analysed, and why. */
static int put_reasons(struct nai_buf *text, const struct nai_batch *b, uint32_t bad, struct nai_err *err) {
  enum { MAX_REASONS = 10 };
  uint32_t put = 0;
  for (uint32_t i = 0; i < b->manifest.count && put < MAX_REASONS && put < bad; i++) {
    NAI_SCOPED(nai_batch_status) status = {0};
    NAI_TRY(nai_batch_status_read(&status, b, i, err));
    if (status.outcome == NAI_BATCH_OK)
      continue;
    nai_buf_printf(text, "  %s %s", nai_batch_outcome_name(status.outcome), b->manifest.items[i].id);
    if (status.error) {
      nai_buf_puts(text, ": ");
      nai_escape_terminal(text, status.error, strlen(status.error));
    }
    nai_buf_putc(text, '\n');
    put++;
  }
  if (bad > put && put == MAX_REASONS)
    nai_buf_printf(text, "  ... and %u more, in index.csv\n", bad - put);
  return NAI_OK;
}

static void put_unreadable(struct nai_buf *text, const struct nai_batch_manifest *m) {
  if (!m->unreadable)
    return;
  nai_buf_printf(text, "  %u %s left out: ", m->unreadable, m->unreadable == 1 ? "directory" : "directories");
  nai_escape_terminal(text, m->unread_why, strlen(m->unread_why));
  nai_buf_putc(text, '\n');
}

static int put_summary(struct nai_buf *text, const struct nai_batch *b, const struct nai_batch_counts *counts,
                       uint32_t bad, struct nai_err *err) {
  nai_buf_printf(text, "%u %s: %u analyzed", b->manifest.count, b->manifest.count == 1 ? "trace" : "traces",
                 counts->of[NAI_BATCH_OK]);
  if (counts->no_gpu)
    nai_buf_printf(text, " (%u without GPU activity)", counts->no_gpu);
  for (int i = NAI_BATCH_REFUSED; i < NAI_BATCH_OUTCOMES; i++)
    if (counts->of[i])
      nai_buf_printf(text, ", %u %s", counts->of[i], nai_batch_outcome_name((enum nai_batch_outcome)i));
  nai_buf_putc(text, '\n');
  NAI_TRY(put_reasons(text, b, bad, err));
  put_unreadable(text, &b->manifest);
  nai_buf_puts(text, "  ");
  nai_escape_terminal(text, b->out, strlen(b->out));
  nai_buf_puts(text, "/index.html, index.csv, index.sqlite, batch.md\n");
  return NAI_OK;
}

static void put_json(struct nai_buf *line, const struct nai_batch *b, const struct nai_batch_counts *counts) {
  struct nai_json json;
  nai_json_open(&json, line, NAI_JSON_INLINE);
  nai_json_put_text(&json, "schema_version", "1.0");
  nai_json_put_text(&json, "out", b->out);
  nai_json_put_int(&json, "traces", b->manifest.count);
  for (int i = 0; i < NAI_BATCH_OUTCOMES; i++)
    nai_json_put_int(&json, nai_batch_outcome_name((enum nai_batch_outcome)i), counts->of[i]);
  nai_json_put_int(&json, "without_gpu_activity", counts->no_gpu);
  nai_json_put_int(&json, "unreadable_directories", b->manifest.unreadable);
  nai_json_close(&json);
}

static int finish(const struct nai_batch *b, const struct batch_args *a, struct nai_err *err) {
  struct nai_batch_counts counts;
  NAI_SCOPED(nai_buf) text = {0};
  NAI_TRY(nai_batch_rollup(&counts, b, err));
  uint32_t bad = b->manifest.count - counts.of[NAI_BATCH_OK];
  if (a->json)
    put_json(&text, b, &counts);
  else
    NAI_TRY(put_summary(&text, b, &counts, bad, err));
  if (a->json)
    NAI_TRY(nai_cmd_print(&text, err));
  else if (!a->quiet)
    NAI_TRY(nai_cmd_print_lines(&text, err));
  else if (bad) /* what failed is said however quiet */
    fprintf(stderr, "nsys-ai: %u of %u traces were not analyzed; index.csv says why\n", bad, b->manifest.count);
  if (a->quiet && b->manifest.unreadable)
    nai_cmd_note(b->manifest.unread_why);
  return bad || b->manifest.unreadable ? SOME_FAILED : 0;
}

static int run_shard(struct nai_batch *b, const struct batch_args *a, struct nai_err *err) {
  uint32_t shard, shards, *items, *todo, count, todo_count;
  char rest;
  if (sscanf(a->shard, "%" SCNu32 "/%" SCNu32 "%c", &shard, &shards, &rest) != 2)
    return nai_err_set(err, NAI_EUSAGE, "--run-shard %s: expected I/N, for example 0/16", a->shard);
  NAI_TRY(nai_batch_open(b, a->out, err));
  NAI_TRY(nai_batch_shard(&items, &count, b, shard, shards, err));
  NAI_TRY(nai_batch_todo(&todo, &todo_count, items, count, b, err));
  return run_items(b, a, todo, todo_count, a->jobs ? a->jobs : 1, err);
}

static int print_plan(const struct nai_batch *b, const uint32_t *items, uint32_t count, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  for (uint32_t i = 0; i < count; i++) {
    const struct nai_batch_item *item = &b->manifest.items[items[i]];
    nai_buf_printf(&text, "%-40s %12" PRId64 "  ", item->id, item->stamp.bytes);
    nai_escape_terminal(&text, item->path, strlen(item->path));
    nai_buf_putc(&text, '\n');
  }
  nai_buf_printf(&text, "%u of %u traces would be analyzed\n", count, b->manifest.count);
  put_unreadable(&text, &b->manifest);
  return nai_cmd_print(&text, err);
}

/* --- all of it -------------------------------------------------------------------------------- */

static int run_engine(struct nai_batch *b, const struct batch_args *a, const uint32_t *items, uint32_t count,
                      struct nai_err *err) {
  if (a->engine == BATCH_PRINT)
    return nai_cmd_batch_print(b, a, items, count, err);
  if (a->engine == BATCH_SLURM && count) {
    NAI_TRY(nai_cmd_batch_submit(b, a, items, count, err));
    return a->wait ? finish(b, a, err) : NAI_OK;
  }
  NAI_TRY(run_items(b, a, items, count, jobs_for(a, b), err));
  return finish(b, a, err);
}

static int run_batch(struct nai_batch *b, const struct batch_args *a, const char *const *inputs, size_t count,
                     struct nai_err *err) {
  uint32_t *todo, todo_count;
  NAI_TRY(nai_cmd_batch_plan(b, a, inputs, count, err));
  if (!a->dry_run) {
    NAI_TRY(nai_batch_create(b, err));
    nai_batch_sweep(b);
  }
  NAI_TRY(nai_batch_todo(&todo, &todo_count, NULL, b->manifest.count, b, err));
  return a->dry_run ? print_plan(b, todo, todo_count, err) : run_engine(b, a, todo, todo_count, err);
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct batch_args *a = memory;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_batch b = {.arena = &arena, .manifest = {.arena = &arena}};
  if (a->shard)
    return run_shard(&b, a, err);
  if (!a->rollup)
    return run_batch(&b, a, operands, count, err);
  NAI_TRY(nai_batch_open(&b, a->out, err));
  return finish(&b, a, err);
}

NAI_CLI_COMMAND(
    nai_cmd_batch, .name = "batch", .synopsis = "INPUT...",
    .summary = "write reports of many traces, and an index over them",
    .description =
        "Analyses every trace in a process of its own, so that a damaged one costs nothing but itself, and sums all of "
        "them up: index.html, index.csv, index.sqlite, batch.md. INPUT is a trace, a directory with traces, a quoted "
        "pattern, or a manifest: a CSV file with the column path and, if wanted, id, group and labels. What was "
        "interrupted is finished with --resume. The exit status is 4 when some traces could not be analyzed; "
        "docs/batch.md describes the directory and the use on clusters.",
    .examples = "nsys-ai batch traces/ --out artifacts/nightly\n"
                "nsys-ai batch 'traces/*.sqlite' --out artifacts/nightly -j 4 --time-limit 600\n"
                "nsys-ai batch --resume --out artifacts/nightly\n"
                "nsys-ai batch manifest.csv --out /scratch/batch --engine slurm --slurm-args=--partition=cpu --wait",
    .options = options,
    .operands = (const struct nai_cli_operand[]){{.name = "INPUT", NAI_CLI_FILES(NAI_CMD_TRACE_SUFFIXES " csv")}, {0}},
    .max_operands = NAI_CLI_ANY_NUMBER, .check = check, .run = run)
