/* Slurm job arrays. Words go to sbatch as they are, never through a shell. */
#include "features/batch/batch.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MAX = 1 << 20, MAX_WORDS = 128, WORD_BYTES = 4608 };

/* --- programs of Slurm ------------------------------------------------------------------------ */

/* Runs a program and takes what it prints on stdout; its stderr is the user's. */
static int run_program(struct nai_buf *out, const char *const *argv, struct nai_err *err) {
  posix_spawn_file_actions_t actions;
  int ends[2], status = 0;
  pid_t pid;
  if (pipe2(ends, O_CLOEXEC) != 0)
    return nai_err_sys(err, NAI_ELIMIT, errno, "cannot run %s", argv[0]);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  int failed = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed) {
    close(ends[0]);
    return nai_err_sys(err, NAI_EUSAGE, failed, "cannot run %s (is Slurm installed here?)", argv[0]);
  }
  int rc = nai_fs_read_fd(out, ends[0], argv[0], OUTPUT_MAX, NAI_EIO, err);
  close(ends[0]);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  if (!rc && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
    rc = nai_err_set(err, NAI_EUSAGE, "%s failed; its message is above", argv[0]);
  return rc;
}

int nai_batch_slurm_most(uint32_t *out, struct nai_err *err) {
  static const char *const argv[] = {"scontrol", "show", "config", NULL};
  static const char name[] = "MaxArraySize";
  NAI_SCOPED(nai_buf) text = {0};
  int rc = run_program(&text, argv, err);
  const char *line = rc ? NULL : strstr(nai_buf_str(&text), name);
  const char *value = line ? line + strlen(name) + strspn(line + strlen(name), " =") : "";
  unsigned long size = strtoul(value, NULL, 10); /* one more than the highest index */
  if (!rc && size == 0)
    rc = nai_err_set(err, NAI_EUSAGE, "scontrol show config does not say MaxArraySize above 0: job arrays are off");
  *out = size > 1 ? (uint32_t)(size - 1) : 1;
  return rc;
}

/* --- scripts ---------------------------------------------------------------------------------- */

/* A word of a shell command, whatever it holds. */
static void put_quoted(struct nai_buf *out, const char *word) {
  nai_buf_putc(out, '\'');
  for (const char *c = word; *c; c++)
    if (*c == '\'')
      nai_buf_puts(out, "'\\''");
    else
      nai_buf_putc(out, *c);
  nai_buf_putc(out, '\'');
}

static void put_program(struct nai_buf *out) {
  char path[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
  path[n > 0 ? n : 0] = '\0';
  put_quoted(out, n > 0 ? path : "nsys-ai");
}

/* The call of one task, whose number the shell fills in. */
static void put_shard_call(struct nai_buf *out, const struct nai_batch *b, const char *number, const char *jobs) {
  put_program(out);
  nai_buf_printf(out, " batch --run-shard \"%s/%" PRIu32 "\" -j \"%s\" --out ", number, b->shards, jobs);
  put_quoted(out, b->out);
}

static void put_rollup_call(struct nai_buf *out, const struct nai_batch *b) {
  put_program(out);
  nai_buf_puts(out, " batch --rollup --out ");
  put_quoted(out, b->out);
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
  int rc = nai_buf_check(script, err);
  if (!rc)
    rc = nai_fs_replace(path, nai_buf_str(script), script->len, err);
  if (!rc)
    rc = make_executable(path, err);
  nai_buf_free(script);
  return rc;
}

static int write_scripts(char *shard, char *rollup, const struct nai_batch *b, struct nai_err *err) {
  struct nai_buf text = {0};
  snprintf(shard, PATH_MAX, "%s/shard.sh", b->out);
  snprintf(rollup, PATH_MAX, "%s/rollup.sh", b->out);
  nai_buf_puts(&text, "#!/bin/sh\nexec ");
  put_shard_call(&text, b, "$SLURM_ARRAY_TASK_ID", "${SLURM_CPUS_PER_TASK:-1}");
  NAI_TRY(write_script(shard, &text, err));
  nai_buf_puts(&text, "#!/bin/sh\nexec ");
  put_rollup_call(&text, b);
  return write_script(rollup, &text, err);
}

/* --- submitting ------------------------------------------------------------------------------- */

struct words {
  const char *list[MAX_WORDS + 1];
  char made[8][WORD_BYTES];
  size_t count, made_count;
};

static void add_word(struct words *w, const char *word) {
  if (w->count < MAX_WORDS)
    w->list[w->count++] = word;
}

static char *new_word(struct words *w) {
  char *word = w->made[w->made_count++];
  add_word(w, word);
  return word;
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
  snprintf(new_word(w), WORD_BYTES, "--cpus-per-task=%d", s->cpus);
  snprintf(new_word(w), WORD_BYTES, "--mem=%" PRId64 "M", (each * s->cpus >> 20) + 1);
  if (b->time_limit_s)
    snprintf(new_word(w), WORD_BYTES, "--time=%" PRId64, minutes_of(b, s->cpus));
}

/* "1234" or "1234;cluster". */
static int submit(char **job, struct words *w, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  w->list[w->count] = NULL;
  if (w->count >= MAX_WORDS)
    return nai_err_set(err, NAI_EUSAGE, "too many --slurm-args");
  NAI_TRY(run_program(&text, w->list, err));
  size_t digits = strspn(nai_buf_str(&text), "0123456789");
  if (!digits)
    return nai_err_set(err, NAI_EUSAGE, "sbatch did not print the number of a job: \"%.100s\"", nai_buf_str(&text));
  if (!(*job = strndup(nai_buf_str(&text), digits)))
    return nai_err_nomem(err);
  return NAI_OK;
}

static void add_common(struct words *w, const struct nai_batch_slurm *s, const struct nai_batch *b, const char *log) {
  add_word(w, "sbatch");
  add_word(w, "--parsable");
  add_word(w, "--job-name=nsys-ai");
  add_word(w, "--kill-on-invalid-dep=yes");
  snprintf(new_word(w), WORD_BYTES, "--output=%s/logs/%s", b->out, log);
  for (size_t i = 0; i < s->arg_count; i++)
    add_word(w, s->args[i]);
}

int nai_batch_submit(struct nai_batch_slurm *s, const struct nai_batch *b, struct nai_err *err) {
  char shard[PATH_MAX], rollup[PATH_MAX];
  struct words array = {0}, last = {0};
  NAI_TRY(write_scripts(shard, rollup, b, err));
  add_common(&array, s, b, "task-%A_%a.log");
  add_resources(&array, b, s);
  add_word(&array, "--requeue");
  char *range = new_word(&array);
  int n = snprintf(range, WORD_BYTES, "--array=0-%" PRIu32, b->shards - 1);
  if (s->at_a_time)
    snprintf(range + n, (size_t)(WORD_BYTES - n), "%%%d", s->at_a_time);
  add_word(&array, shard);
  NAI_TRY(submit(&s->array_job, &array, err));
  add_common(&last, s, b, "rollup-%j.log");
  snprintf(new_word(&last), WORD_BYTES, "--dependency=afterany:%s", s->array_job); /* however its tasks ended */
  add_word(&last, rollup);
  return submit(&s->rollup_job, &last, err);
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
  put_quoted(out, nai_buf_str(&call));
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
