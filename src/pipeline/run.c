/* The driver: it knows stages, keys and files, and nothing about GPUs. */
#include "pipeline/run.h"

#include "base/fs.h"
#include "pipeline/state.h"
#include "render/report.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void nai_result_free(struct nai_result *result) {
  nai_buf_free(&result->verdict);
  nai_buf_free(&result->summary);
}

void nai_state_path(char *path, size_t size, const struct nai_state *s, const struct nai_schema *schema) {
  snprintf(path, size, "%s/%s.ntab", s->stages_dir, schema->name);
}

/* --- reuse ------------------------------------------------------------------------------------ */

static void drop_stage(struct nai_state *s, int stage) {
  for (int i = 0; i < s->slot_count; i++) {
    char path[PATH_MAX];
    if (s->slots[i].stage != stage)
      continue;
    nai_table_free(*s->slots[i].table);
    *s->slots[i].table = NULL;
    /* Its file may be a link to the earlier run's: never write through it. */
    nai_state_path(path, sizeof path, s, s->slots[i].schema);
    unlink(path);
  }
}

/* Takes a stage's files over from the earlier run and opens its small tables. */
static int load_stage(struct nai_state *s, int stage, struct nai_err *err) {
  int rc = NAI_OK;
  for (int i = 0; i < s->slot_count && !rc; i++) {
    const struct nai_slot *slot = &s->slots[i];
    char from[PATH_MAX], to[PATH_MAX];
    if (slot->stage != stage)
      continue;
    snprintf(from, sizeof from, "%s/stages/%s.ntab", s->out.target, slot->schema->name);
    nai_state_path(to, sizeof to, s, slot->schema);
    rc = nai_fs_link_or_copy(from, to, err) ? NAI_ESTALE : NAI_OK;
    if (rc || slot->events)
      continue;
    nai_table_free(*slot->table); /* a probe that had to run again leaves tables for extract to fill */
    *slot->table = NULL;
    rc = nai_table_open(slot->table, to, slot->schema, err);
  }
  if (rc)
    drop_stage(s, stage);
  return rc;
}

static const struct nai_table *find_table(void *state, const char *name) {
  const struct nai_state *s = state;
  for (int i = 0; i < s->slot_count; i++)
    if (strcmp(s->slots[i].schema->name, name) == 0)
      return *s->slots[i].table;
  return NULL;
}

int nai_state_open_events(struct nai_state *s, struct nai_err *err) {
  int rc = NAI_OK;
  for (int i = 0; i < s->slot_count && !rc; i++) {
    char path[PATH_MAX];
    if (!s->slots[i].events || *s->slots[i].table)
      continue;
    nai_state_path(path, sizeof path, s, s->slots[i].schema);
    rc = nai_table_open(s->slots[i].table, path, s->slots[i].schema, err);
  }
  /* The model takes row numbers of other tables as indices. */
  for (int i = 0; i < s->slot_count && !rc; i++)
    if (s->slots[i].stage == NAI_STAGE_EXTRACT && *s->slots[i].table)
      rc = nai_table_check_refs(*s->slots[i].table, find_table, s, err);
  if (rc == NAI_ESTALE)
    drop_stage(s, NAI_STAGE_EXTRACT);
  s->events_open = rc == NAI_OK;
  return rc;
}

/* --- stages ----------------------------------------------------------------------------------- */

int nai_state_write(struct nai_state *s, int stage, struct nai_err *err) {
  uint64_t key = nai_stages[stage].key ? nai_stages[stage].key(s) : 0;
  int rc = NAI_OK;
  for (int i = 0; i < s->slot_count && !rc; i++) {
    char path[PATH_MAX];
    if (s->slots[i].stage != stage || s->slots[i].events)
      continue;
    nai_state_path(path, sizeof path, s, s->slots[i].schema);
    rc = nai_table_write(*s->slots[i].table, path, key, err);
  }
  return rc;
}

static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int run_stage(struct nai_state *s, int stage, struct nai_err *err) {
  const struct nai_stage *def = &nai_stages[stage];
  uint64_t key = def->key ? def->key(s) : 0;
  if (def->key) {
    struct nai_manifest_stage *entry = &s->manifest.stages[s->manifest.stage_count++];
    snprintf(entry->name, sizeof entry->name, "%s", def->name);
    entry->key = key;
    if (nai_manifest_has(&s->old, def->name, key) && load_stage(s, stage, err) == NAI_OK) {
      s->result->reused[stage] = true;
      return NAI_OK;
    }
  }
  int rc = def->run(s, err);
  return rc || !def->key || !s->options->keep_stages ? rc : nai_state_write(s, stage, err);
}

static int add_file(struct nai_state *s, const char *path, struct nai_err *err) {
  return nai_strings_add(&s->manifest.files, path, strlen(path)) == NAI_NO_STRING ? nai_err_nomem(err) : NAI_OK;
}

/* Puts the stage files' names into the manifest, or removes the files where stages are not to be kept. */
static int settle_stages(struct nai_state *s, int last_stage, struct nai_err *err) {
  int rc = NAI_OK;
  for (int i = 0; i < s->slot_count && !rc; i++) {
    char path[PATH_MAX], name[128];
    if (s->slots[i].stage > last_stage)
      continue;
    nai_state_path(path, sizeof path, s, s->slots[i].schema);
    snprintf(name, sizeof name, "stages/%s.ntab", s->slots[i].schema->name);
    if (!s->options->keep_stages)
      unlink(path);
    else
      rc = add_file(s, name, err);
  }
  if (!s->options->keep_stages)
    s->manifest.stage_count = 0;
  return rc ? rc : add_file(s, NAI_OUTDIR_MARK, err);
}

static int write_manifest(struct nai_state *s, struct nai_err *err) {
  struct nai_buf text = {0};
  char path[PATH_MAX];
  nai_manifest_print(&text, &s->manifest, NAI_VERSION, s->trace->file_name, s->trace->identity,
                     s->ingest.tables[NAI_IN_READERS]);
  snprintf(path, sizeof path, "%s/%s", s->out.work, NAI_OUTDIR_MARK);
  int rc = nai_buf_check(&text, err);
  if (!rc)
    rc = nai_fs_write(path, nai_buf_str(&text), text.len, err);
  nai_buf_free(&text);
  return rc;
}

/* The directory that was swapped out says itself what is its own: it need not be the one this run began with. Where its
 * manifest is lost, the names this run writes are taken for ours. */
static bool is_ours(void *ctx, const char *directory, const char *path) {
  struct nai_state *s = ctx;
  if (!s->displaced_read) {
    nai_manifest_free(&s->old);
    nai_manifest_read(&s->old, directory);
    s->displaced_read = true;
  }
  const struct nai_strings *files = s->old.files.count ? &s->old.files : &s->manifest.files;
  return nai_strings_find(files, path, strlen(path)) != NAI_NO_STRING;
}

static int open_trace(struct nai_state *s, struct nai_err *err) {
  struct nai_trace_options options = {s->options->reader, s->options->check};
  return nai_trace_open(&s->trace, s->options->trace, &options, err);
}

static int open_outdir(struct nai_state *s, struct nai_err *err) {
  int rc = nai_outdir_begin(&s->out, s->options->out, err);
  if (!rc && asprintf(&s->stages_dir, "%s/stages", s->out.work) < 0) {
    s->stages_dir = NULL;
    rc = nai_err_nomem(err);
  }
  if (!rc)
    rc = nai_fs_mkdir(s->stages_dir, err);
  if (!rc && s->out.exists)
    nai_manifest_read(&s->old, s->out.target);
  return rc;
}

static int run_stages(struct nai_state *s, nai_progress_fn *progress, void *progress_ctx, struct nai_err *err) {
  int last = NAI_STAGE_RENDER, rc = NAI_OK;
  for (int i = 0; s->options->stop_after && i < NAI_STAGE_COUNT; i++)
    if (strcmp(s->options->stop_after, nai_stages[i].name) == 0)
      last = i;
  for (int stage = 0; stage <= last && !rc; stage++) {
    double start = now_seconds();
    if (progress)
      progress(progress_ctx, stage);
    rc = run_stage(s, stage, err);
    s->result->seconds[stage] = now_seconds() - start;
  }
  if (!rc)
    rc = nai_trace_unchanged(s->trace, err);
  if (!rc)
    rc = settle_stages(s, last, err);
  if (!rc)
    rc = write_manifest(s, err);
  return rc ? rc : nai_outdir_commit(&s->out, is_ours, s, err);
}

static void free_state(struct nai_state *s) {
  if (s->model_built)
    nai_model_free(&s->model);
  for (int i = 0; i < s->slot_count; i++)
    nai_table_free(*s->slots[i].table);
  nai_phase_map_free(s->phases);
  nai_kernel_classes_free(s->classes);
  nai_rules_free(s->rules);
  nai_manifest_free(&s->old);
  nai_manifest_free(&s->manifest);
  nai_outdir_end(&s->out);
  nai_trace_close(s->trace);
  free(s->stages_dir);
}

int nai_run(struct nai_result *result, const struct nai_options *options, nai_progress_fn *progress, void *progress_ctx,
            struct nai_err *err) {
  struct nai_state state = {.options = options, .result = result, .out = {.lock = -1, .parent = -1}};
  *result = (struct nai_result){.worst = -1};
  nai_state_slots(&state);
  int rc = nai_state_config(&state, err);
  if (!rc)
    rc = open_trace(&state, err);
  if (!rc)
    rc = open_outdir(&state, err);
  if (!rc)
    rc = run_stages(&state, progress, progress_ctx, err);
  free_state(&state);
  return rc;
}

int nai_run_check(const struct nai_options *options, struct nai_err *err) {
  struct nai_state state = {.options = options, .out = {.lock = -1, .parent = -1}};
  int rc = nai_state_config(&state, err);
  free_state(&state);
  return rc;
}
