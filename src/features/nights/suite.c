#include "features/nights/suite.h"

#include "base/fs.h"
#include "base/text.h"
#include "config/yaml.h"
#include "features/nights/store.h"

#include <fcntl.h>

/* The name of a directory of results; the suite's own has one, too. */
static bool is_name(const char *name) {
  return *name && *name != '.' && !strchr(name, '/') && strcmp(name, "suite") != 0;
}

static int add_program(struct nai_suite_program **out, struct nai_suite_programs *to, const char *name,
                       struct nai_err *err) {
  NAI_TRY(NAI_ROOM(to->list, to->capacity, to->count, &to->arena, err));
  *out = &to->list[to->count++];
  **out = (struct nai_suite_program){.name = nai_arena_printf(&to->arena, "%s", name)};
  return nai_arena_check(&to->arena, err);
}

/* --- a directory ------------------------------------------------------------------------------------ */

/* Of the command line's baselines, what is of this program: below a directory that which has its name. */
static int choose_baselines(struct nai_suite_program *program, struct nai_suite_programs *to,
                            const char *const *baselines, size_t count, struct nai_err *err) {
  NAI_TRY(NAI_NEW(program->baselines, &to->arena, count, err));
  for (size_t i = 0; i < count; i++) {
    char path[PATH_MAX];
    if (!nai_fs_is_dir(baselines[i]))
      program->baselines[program->baseline_count++] = baselines[i];
    else if (nai_fs_join(path, sizeof path, baselines[i], program->name) && nai_fs_is_dir(path))
      program->baselines[program->baseline_count++] = nai_arena_printf(&to->arena, "%s", path);
  }
  if (count && !program->baseline_count)
    program->lacks = "the baseline has no such program";
  return nai_arena_check(&to->arena, err);
}

static int add_directory(struct nai_suite_programs *to, const char *directory, const char *name,
                         const char *const *baselines, size_t count, struct nai_err *err) {
  char path[PATH_MAX];
  struct nai_suite_program *program;
  if (!nai_fs_join(path, sizeof path, directory, name) || !nai_fs_is_dir(path))
    return NAI_OK;
  if (!is_name(name))
    return nai_err_set(err, NAI_EUSAGE, "--suite: a program cannot be called \"%s\"", name);
  NAI_TRY(add_program(&program, to, name, err));
  NAI_TRY(NAI_NEW(program->runs, &to->arena, 1, err));
  program->runs[program->run_count++] = nai_arena_printf(&to->arena, "%s", path);
  return choose_baselines(program, to, baselines, count, err);
}

static bool has(const struct nai_suite_programs *programs, const char *name) {
  for (uint32_t i = 0; i < programs->count; i++)
    if (strcmp(programs->list[i].name, name) == 0)
      return true;
  return false;
}

/* Programs that a directory of baselines has, and the new side has not. */
static int add_lost(struct nai_suite_programs *to, const char *baseline, struct nai_err *err) {
  const char **names;
  size_t count;
  struct nai_suite_program *program;
  char path[PATH_MAX];
  if (!nai_fs_is_dir(baseline) || nai_fs_names(&names, &count, &to->arena, AT_FDCWD, baseline))
    return NAI_OK;
  for (size_t i = 0; i < count; i++)
    if (nai_fs_join(path, sizeof path, baseline, names[i]) && nai_fs_is_dir(path) && is_name(names[i]) &&
        !has(to, names[i])) {
      NAI_TRY(add_program(&program, to, names[i], err));
      program->lacks = "only the baseline has this program";
    }
  return NAI_OK;
}

static int find_in(struct nai_suite_programs *to, const char *directory, const char *const *baselines, size_t count,
                   struct nai_err *err) {
  const char **names;
  size_t n;
  int error = nai_fs_names(&names, &n, &to->arena, AT_FDCWD, directory);
  if (error)
    return nai_err_sys(err, NAI_EUSAGE, error, "--suite: cannot read \"%s\"", directory);
  for (size_t i = 0; i < n; i++)
    NAI_TRY(add_directory(to, directory, names[i], baselines, count, err));
  for (size_t i = 0; i < count; i++)
    NAI_TRY(add_lost(to, baselines[i], err));
  return NAI_OK;
}

/* --- a file ----------------------------------------------------------------------------------------- */

/* A path as the file means it: relative to itself. What is not there may be a selector, which stays as it is. */
static const char *place_of(struct nai_suite_programs *to, const char *file, const char *path) {
  const char *base = nai_fs_basename(file);
  if (path[0] == '/' || base == file)
    return nai_arena_printf(&to->arena, "%s", path);
  const char *joined = nai_arena_printf(&to->arena, "%.*s%s", (int)(base - file), file, path);
  return nai_fs_exists(joined) ? joined : nai_arena_printf(&to->arena, "%s", path);
}

/* A text, or a list of some. */
static int read_places(const char ***out, size_t *count, struct nai_suite_programs *to, const struct nai_yaml *doc,
                       const struct nai_yaml_node *node, const char *file, struct nai_err *err) {
  bool one = node->kind == NAI_YAML_SCALAR;
  if (!one)
    NAI_TRY(nai_yaml_expect(doc, node, NAI_YAML_LIST, err));
  NAI_TRY(NAI_NEW(*out, &to->arena, one ? 1 : node->count, err));
  for (const struct nai_yaml_node *n = one ? node : nai_yaml_first(doc, node); n;
       n = one ? NULL : nai_yaml_next(doc, n)) {
    const char *text;
    NAI_TRY(nai_yaml_text(&text, doc, n, err));
    (*out)[(*count)++] = place_of(to, file, text);
  }
  return nai_arena_check(&to->arena, err);
}

static int read_program(struct nai_suite_programs *to, const struct nai_yaml *doc, const struct nai_yaml_node *map,
                        const char *file, const char *const *baselines, size_t count, struct nai_err *err) {
  struct nai_suite_program *program;
  const struct nai_yaml_node *runs, *baseline = nai_yaml_get(doc, map, "baseline"),
                                    *budgets = nai_yaml_get(doc, map, "budgets");
  const char *text;
  NAI_TRY(nai_yaml_expect_keys(doc, map, NAI_WORDS("runs", "baseline", "budgets"), err));
  NAI_TRY(nai_yaml_require(&runs, doc, map, "runs", err));
  if (!is_name(map->key))
    return nai_yaml_error_key(doc, map, err, "a program cannot be called \"%s\"", map->key);
  NAI_TRY(add_program(&program, to, map->key, err));
  NAI_TRY(read_places(&program->runs, &program->run_count, to, doc, runs, file, err));
  if (baseline)
    NAI_TRY(read_places(&program->baselines, &program->baseline_count, to, doc, baseline, file, err));
  else
    NAI_TRY(choose_baselines(program, to, baselines, count, err));
  if (!budgets)
    return NAI_OK;
  NAI_TRY(nai_yaml_text(&text, doc, budgets, err));
  program->budgets = place_of(to, file, text);
  return nai_arena_check(&to->arena, err);
}

static int read_file(struct nai_suite_programs *to, const char *file, const char *const *baselines, size_t count,
                     struct nai_err *err) {
  const struct nai_yaml_node *first;
  NAI_OWNED(nai_yaml) *doc = NULL;
  NAI_TRY(nai_yaml_load(&doc, file, err));
  NAI_TRY(nai_yaml_expect_keys(doc, nai_yaml_root(doc), NAI_WORDS("programs"), err));
  NAI_TRY(nai_yaml_items(&first, doc, nai_yaml_root(doc), "programs", NAI_YAML_MAP, err));
  for (const struct nai_yaml_node *n = first; n; n = nai_yaml_next(doc, n))
    NAI_TRY(read_program(to, doc, n, file, baselines, count, err));
  return NAI_OK;
}

int nai_suite_find(struct nai_suite_programs *out, const char *path, const char *const *baselines,
                   size_t baseline_count, struct nai_err *err) {
  NAI_TRY(nai_fs_is_dir(path) ? find_in(out, path, baselines, baseline_count, err)
                              : read_file(out, path, baselines, baseline_count, err));
  return out->count ? NAI_OK : nai_err_set(err, NAI_EUSAGE, "--suite: there is no program in \"%s\"", path);
}

/* --- a store ---------------------------------------------------------------------------------------- */

static const struct nai_store_run *newest_of(const struct nai_store *store) {
  const struct nai_store_run *newest = NULL;
  for (uint32_t i = 0; i < store->count; i++) {
    const struct nai_store_run *run = &store->runs[i];
    if (!run->ignored && (!newest || run->utc_ns >= newest->utc_ns)) /* unknown is less than any */
      newest = run;
  }
  return newest;
}

static int add_newest(struct nai_suite_programs *to, const char *path, const char *name, const char *const *baselines,
                      size_t count, struct nai_err *err) {
  NAI_SCOPED(nai_store) store = {.arena = NAI_ARENA(NULL)};
  struct nai_suite_program *program;
  char directory[PATH_MAX];
  NAI_TRY(nai_store_open(&store, path, false, err));
  NAI_TRY(nai_store_read(&store, name, err));
  const struct nai_store_run *run = newest_of(&store);
  if (!run)
    return NAI_OK;
  if (!is_name(name))
    return nai_err_set(err, NAI_EUSAGE, "--all: a program cannot be called \"%s\"", name);
  NAI_TRY(add_program(&program, to, name, err));
  NAI_TRY(NAI_NEW(program->baselines, &to->arena, count, err));
  for (size_t i = 0; i < count; i++)
    program->baselines[program->baseline_count++] = baselines[i];
  NAI_TRY(NAI_NEW(program->runs, &to->arena, (size_t)run->captures, err));
  for (int i = 0; i < run->captures; i++) {
    NAI_TRY(nai_store_directory(directory, &store, run, i, err));
    program->runs[program->run_count++] = nai_arena_printf(&to->arena, "%s", directory);
  }
  if (run->thinned)
    program->lacks =
        nai_arena_printf(&to->arena, "the newest run, %s, was thinned out: only its metrics are left", run->id);
  else if (!run->captures)
    program->lacks = nai_arena_printf(&to->arena, "the newest run, %s, failed: %s", run->id, run->error);
  return nai_arena_check(&to->arena, err);
}

int nai_suite_of_store(struct nai_suite_programs *out, const char *path, const char *const *baselines,
                       size_t baseline_count, struct nai_err *err) {
  NAI_SCOPED(nai_store) store = {.arena = NAI_ARENA(NULL)};
  NAI_SCOPED(nai_strings) series = {0};
  NAI_TRY(nai_store_open(&store, path, false, err));
  for (size_t i = 0; i < baseline_count; i++) /* what no series can find is a mistake in the call, not of each */
    if (!nai_fs_exists(baselines[i]))
      NAI_TRY(nai_store_check_selector(&store, baselines[i], err));
  NAI_TRY(nai_store_series(&series, &store, NULL, err));
  for (uint32_t i = 0; i < series.count; i++) { /* sorted: those of one name follow each other */
    char name[NAI_STORE_NAME_MAX];
    const char *text = nai_strings_get(&series, i);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "/"), text);
    if (!has(out, name))
      NAI_TRY(add_newest(out, path, name, baselines, baseline_count, err));
  }
  return out->count ? NAI_OK : nai_err_set(err, NAI_EUSAGE, "the store has no run");
}

void nai_suite_programs_free(struct nai_suite_programs *programs) { nai_arena_free(&programs->arena); }
