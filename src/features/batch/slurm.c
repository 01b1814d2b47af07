/* Slurm job arrays. Words go to sbatch as they are, never through a shell. */
#include "command/command.h"
#include "features/batch/batch.h"

#include "base/fs.h"
#include "base/program.h"

#include <sys/stat.h>
#include <unistd.h>

enum { OUTPUT_MAX = 1 << 20, MAX_WORDS = 128 };

/* --- programs of Slurm ------------------------------------------------------------------------ */

/* Runs a program and takes what it prints on stdout; its stderr is the user's. */
static int run_program(struct nai_buf *out, const char *const *argv, struct nai_err *err) {
  int status;
  if (!nai_program_is_there(argv[0]))
    return nai_err_set(err, NAI_EUSAGE, "cannot run %s (is Slurm installed here?)", argv[0]);
  NAI_TRY(nai_program_run(&status, &(struct nai_program){.argv = argv, .output = out, .output_max = OUTPUT_MAX}, err));
  return status ? nai_err_set(err, NAI_EUSAGE, "%s failed; its message is above", argv[0]) : NAI_OK;
}

int nai_batch_slurm_most(uint32_t *out, struct nai_err *err) {
  static const char *const argv[] = {"scontrol", "show", "config", NULL};
  static const char name[] = "MaxArraySize";
  NAI_SCOPED(nai_buf) text = {0};
  NAI_TRY(run_program(&text, argv, err));
  const char *line = strstr(nai_buf_str(&text), name);
  const char *value = line ? line + strlen(name) + strspn(line + strlen(name), " =") : "";
  unsigned long size = strtoul(value, NULL, 10); /* one more than the highest index */
  if (size == 0)
    return nai_err_set(err, NAI_EUSAGE, "scontrol show config does not say MaxArraySize above 0: job arrays are off");
  *out = size > 1 ? (uint32_t)(size - 1) : 1;
  return NAI_OK;
}

/* --- scripts ---------------------------------------------------------------------------------- */

static void put_program(struct nai_buf *out) {
  char path[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  path[n > 0 ? n : 0] = '\0';
  nai_cmd_put_quoted(out, n > 0 ? path : "nsys-ai");
}

/* The call of one task, whose number the shell fills in. */
static void put_shard_call(struct nai_buf *out, const struct nai_batch *b, const char *number, const char *jobs) {
  put_program(out);
  nai_buf_printf(out, " batch --run-shard \"%s/%" PRIu32 "\" -j \"%s\" --out ", number, b->shards, jobs);
  nai_cmd_put_quoted(out, b->out);
}

static void put_rollup_call(struct nai_buf *out, const struct nai_batch *b) {
  put_program(out);
  nai_buf_puts(out, " batch --rollup --out ");
  nai_cmd_put_quoted(out, b->out);
}

/* For those who may read it: a file that is new has what the user's mask leaves of reading, whatever that is. */
static int make_executable(const char *path, struct nai_err *err) {
  struct stat st;
  if (stat(path, &st) != 0 || chmod(path, (st.st_mode | (st.st_mode & 0444) >> 2) & 0777) != 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot make \"%s\" executable", path);
  return NAI_OK;
}

static int write_script(const char *path, struct nai_buf *script, struct nai_err *err) {
  nai_buf_putc(script, '\n');
  NAI_TRY(nai_buf_check(script, err));
  NAI_TRY(nai_fs_replace(path, nai_buf_str(script), script->len, err));
  return make_executable(path, err);
}

static int write_scripts(const char *shard, const char *rollup, const struct nai_batch *b, struct nai_err *err) {
  NAI_SCOPED(nai_buf) first = {0}, last = {0};
  nai_buf_puts(&first, "#!/bin/sh\nexec ");
  put_shard_call(&first, b, "$SLURM_ARRAY_TASK_ID", "${SLURM_CPUS_PER_TASK:-1}");
  NAI_TRY(write_script(shard, &first, err));
  nai_buf_puts(&last, "#!/bin/sh\nexec ");
  put_rollup_call(&last, b);
  return write_script(rollup, &last, err);
}

/* --- submitting ------------------------------------------------------------------------------- */

/* A command line; what is made for it is the batch's. */
struct words {
  const char *list[MAX_WORDS + 1];
  size_t count;
};

static void add_word(struct words *w, const char *word) {
  if (w->count < MAX_WORDS)
    w->list[w->count++] = word;
}

static int64_t largest_of(const struct nai_batch *b) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < b->manifest.count; i++)
    if (b->manifest.items[i].stamp.bytes > bytes)
      bytes = b->manifest.items[i].stamp.bytes;
  return bytes;
}

/* As long as a task may take whose traces all take as long as they may: those of the fullest task, in rounds. */
static int64_t minutes_of(const struct nai_batch *b, int cpus) {
  enum { BESIDE_S = 10 }; /* of a trace: starting, copying, being ended */
  int64_t rounds = (b->shard_items + cpus - 1) / cpus;
  return (rounds * (b->time_limit_s + BESIDE_S) + 59) / 60 + 1;
}

static void add_resources(struct words *w, const struct nai_batch *b, const struct nai_batch_slurm *s) {
  int64_t each = b->memory_limit_bytes ? b->memory_limit_bytes + (64 << 20) : nai_batch_memory(largest_of(b));
  add_word(w, nai_arena_printf(b->arena, "--cpus-per-task=%d", s->cpus));
  add_word(w, nai_arena_printf(b->arena, "--mem=%" PRId64 "M", (each * s->cpus >> 20) + 1));
  if (b->time_limit_s)
    add_word(w, nai_arena_printf(b->arena, "--time=%" PRId64, minutes_of(b, s->cpus)));
}

/* "1234" or "1234;cluster". */
static int submit(const char **job, const struct nai_batch *b, struct words *w, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  NAI_TRY(nai_arena_check(b->arena, err));
  w->list[w->count] = NULL;
  if (w->count >= MAX_WORDS)
    return nai_err_set(err, NAI_EUSAGE, "too many --slurm-args");
  NAI_TRY(run_program(&text, w->list, err));
  size_t digits = strspn(nai_buf_str(&text), "0123456789");
  if (!digits)
    return nai_err_set(err, NAI_EUSAGE, "sbatch did not print the number of a job: \"%.100s\"", nai_buf_str(&text));
  *job = nai_arena_printf(b->arena, "%.*s", (int)digits, nai_buf_str(&text));
  return nai_arena_check(b->arena, err);
}

static void add_common(struct words *w, const struct nai_batch_slurm *s, const struct nai_batch *b, const char *log) {
  add_word(w, "sbatch");
  add_word(w, "--parsable");
  add_word(w, "--job-name=nsys-ai");
  add_word(w, "--kill-on-invalid-dep=yes");
  add_word(w, nai_arena_printf(b->arena, "--output=%s/logs/%s", b->out, log));
  for (size_t i = 0; i < s->arg_count; i++)
    add_word(w, s->args[i]);
}

int nai_batch_submit(struct nai_batch_slurm *s, const struct nai_batch *b, struct nai_err *err) {
  const char *shard = nai_arena_printf(b->arena, "%s/shard.sh", b->out),
             *rollup = nai_arena_printf(b->arena, "%s/rollup.sh", b->out);
  struct words array = {0}, last = {0};
  NAI_TRY(nai_arena_check(b->arena, err));
  NAI_TRY(write_scripts(shard, rollup, b, err));
  add_common(&array, s, b, "task-%A_%a.log");
  add_resources(&array, b, s);
  add_word(&array, "--requeue");
  const char *range = nai_arena_printf(b->arena, "--array=0-%" PRIu32, b->shards - 1);
  add_word(&array, s->at_a_time ? nai_arena_printf(b->arena, "%s%%%d", range, s->at_a_time) : range);
  add_word(&array, shard);
  NAI_TRY(submit(&s->array_job, b, &array, err));
  add_common(&last, s, b, "rollup-%j.log");
  add_word(&last, nai_arena_printf(b->arena, "--dependency=afterany:%s", s->array_job)); /* however its tasks ended */
  add_word(&last, rollup);
  return submit(&s->rollup_job, b, &last, err);
}

/* --- others ----------------------------------------------------------------------------------- */

void nai_batch_print(struct nai_buf *out, const struct nai_batch *b) {
  static const struct {
    const char *title, *number;
  } arrays[] = {{"Slurm, in a script of sbatch --array", "$SLURM_ARRAY_TASK_ID"},
                {"PBS, in a script of qsub -J", "$PBS_ARRAY_INDEX"},
                {"Kubernetes, command of an Indexed Job", "$JOB_COMPLETION_INDEX"}};
  uint32_t last = b->shards - 1;
  nai_buf_printf(out,
                 "# %" PRIu32 " tasks, numbered 0 to %" PRIu32 ". One machine:\nseq 0 %" PRIu32 " | xargs -P 4 -I{} ",
                 b->shards, last, last);
  put_shard_call(out, b, "{}", "1");
  nai_buf_printf(out, "\n# GNU parallel, on several machines (--sshlogin):\nseq 0 %" PRIu32 " | parallel ", last);
  struct nai_buf call = {0};
  put_shard_call(&call, b, "{}", "1");
  nai_cmd_put_quoted(out, nai_buf_str(&call));
  nai_buf_putc(out, '\n');
  out->oom |= call.oom;
  nai_buf_free(&call);
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    nai_buf_printf(out, "# %s:\n", arrays[i].title);
    put_shard_call(out, b, arrays[i].number, "1");
    nai_buf_putc(out, '\n');
  }
  nai_buf_puts(out, "# When all tasks have ended:\n");
  put_rollup_call(out, b);
  nai_buf_putc(out, '\n');
}
