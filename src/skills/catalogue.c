/* Where skills and pages come from. */
#include "skills/internal.h"

#include "base/array.h"
#include "base/assets.h"
#include "base/fs.h"
#include "base/text.h"
#include "base/sort.h"

#include <fcntl.h>
#include <sys/stat.h>

void nai_skill_free(struct nai_skill *skill) {
  if (!skill)
    return;
  nai_yaml_free(skill->doc);
  nai_buf_free(&skill->file);
  free(skill->source);
  free(skill);
}

static void list_free(struct nai_skill_list *list) {
  for (uint32_t i = 0; i < list->count; i++)
    nai_skill_free(list->all[i]);
  free(list->all);
}

void nai_skills_free(struct nai_skills *skills) {
  list_free(&skills->skills);
  list_free(&skills->pages);
  nai_buf_free(&skills->left_out);
}

/* --- one document ---------------------------------------------------------------------------------- */

/* Takes `text` when it succeeds. */
static int parse(struct nai_skill **out, struct nai_buf *text, const char *name, const char *source,
                 struct nai_err *err) {
  NAI_OWNED(nai_skill) *skill = calloc(1, sizeof *skill);
  *out = NULL;
  NAI_TRY(nai_memory_check(skill && (skill->source = strdup(source)), err));
  NAI_TRY(nai_yaml_parse(&skill->doc, name, nai_buf_str(text), text->len, err));
  skill->file = *text;
  *text = (struct nai_buf){0};
  skill->is_page = nai_yaml_get(skill->doc, nai_yaml_root(skill->doc), "page");
  NAI_TRY(skill->is_page ? nai_page_read(skill, err) : nai_skill_read(skill, err));
  return NAI_GIVE(out, skill);
}

int nai_skills_read(struct nai_skill **out, const char *path, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  *out = NULL;
  NAI_TRY(nai_fs_read(&text, path, NAI_YAML_MAX_BYTES, NAI_EUSAGE, err));
  return parse(out, &text, path, path, err);
}

/* --- all ------------------------------------------------------------------------------------------- */

/* Files one under its id; takes it. */
static int file_away(struct nai_skills *all, struct nai_skill *skill, struct nai_err *err) {
  struct nai_skill_list *list = skill->is_page ? &all->pages : &all->skills;
  for (uint32_t i = 0; i < list->count; i++)
    if (strcmp(list->all[i]->id, skill->id) == 0) {
      nai_skill_free(list->all[i]);
      list->all[i] = skill;
      return NAI_OK;
    }
  if (!nai_array_room(&list->all, &list->capacity, list->count, sizeof *list->all)) {
    nai_skill_free(skill);
    return nai_err_nomem(err);
  }
  list->all[list->count++] = skill;
  return NAI_OK;
}

static int add_file(struct nai_skills *all, const char *path, struct nai_err *err) {
  struct nai_skill *skill;
  NAI_TRY(nai_skills_read(&skill, path, err));
  return file_away(all, skill, err);
}

static bool is_yaml(const char *name) { return nai_text_ends(name, ".yaml") || nai_text_ends(name, ".yml"); }

/* Nothing of what the file holds is shown: a link may lead to what the client of a server must not read. */
static void leave_out(struct nai_skills *all, const char *path, bool link) {
  nai_buf_printf(&all->left_out, "%s is left out: %s\n", path,
                 link ? "links are not followed there" : "it is no skill or page; nsys-ai skill check FILE says why");
}

static bool is_link(const char *path) {
  struct stat st;
  return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* A file below the working directory, through no link. */
static int add_here(struct nai_skills *all, const char *path, struct nai_err *err) {
  struct nai_skill *skill;
  NAI_SCOPED(nai_buf) text = {0};
  NAI_TRY(nai_fs_read_at(&text, AT_FDCWD, path, NAI_YAML_MAX_BYTES, NAI_EUSAGE, err));
  NAI_TRY(parse(&skill, &text, path, path, err));
  return file_away(all, skill, err);
}

typedef int add_fn(struct nai_skills *all, const char *path, struct nai_err *err);

/* A file that nobody named costs itself only. */
static int try_file(struct nai_skills *all, add_fn *add, const char *path, struct nai_err *err) {
  struct nai_err why;
  int failed = add(all, path, &why);
  if (failed == NAI_ELIMIT)
    return nai_err_set(err, failed, "%s", why.msg);
  if (failed)
    leave_out(all, path, add == add_here && is_link(path));
  return nai_buf_check(&all->left_out, err);
}

/* The files of a directory; what is none has none. `named`: by the user, who is told of a file that is wrong. */
static int add_directory(struct nai_skills *all, add_fn *add, const char *directory, bool named, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const char **names;
  size_t count;
  if (nai_fs_names(&names, &count, &arena, AT_FDCWD, directory))
    return NAI_OK;
  for (size_t i = 0; i < count; i++) {
    char path[PATH_MAX];
    if (is_yaml(names[i]) && nai_fs_join(path, sizeof path, directory, names[i]))
      NAI_TRY(named ? add(all, path, err) : try_file(all, add, path, err));
  }
  return NAI_OK;
}

/* The working directory may be somebody else's repository. */
static int add_working_directory(struct nai_skills *all, struct nai_err *err) {
  static const char path[] = ".nsys-ai/skills";
  if (!is_link(".nsys-ai") && !is_link(path))
    return add_directory(all, add_here, path, false, err);
  leave_out(all, path, true);
  return nai_buf_check(&all->left_out, err);
}

static int add_builtin(struct nai_skills *all, struct nai_err *err) {
  for (const struct nai_asset *a = nai_assets; a->path; a++) {
    struct nai_skill *skill;
    NAI_SCOPED(nai_buf) text = {0};
    if (strncmp(a->path, "skills/", strlen("skills/")) != 0 && strncmp(a->path, "pages/", strlen("pages/")) != 0)
      continue;
    nai_buf_put_asset(&text, a);
    NAI_TRY(nai_buf_check(&text, err));
    NAI_TRY(parse(&skill, &text, a->path, "built-in", err));
    NAI_TRY(file_away(all, skill, err));
  }
  return NAI_OK;
}

int nai_skills_builtin(struct nai_skill **out, const char *id, struct nai_err *err) {
  NAI_SCOPED(nai_skills) all = {0};
  const struct nai_skill *found;
  *out = NULL;
  NAI_TRY(add_builtin(&all, err));
  NAI_TRY(nai_skills_find(&found, &all, id, err));
  for (uint32_t i = 0; i < all.skills.count; i++)
    if (all.skills.all[i] == found) {
      *out = all.skills.all[i];
      all.skills.all[i] = NULL;
    }
  return NAI_OK;
}

NAI_ORDER_BY(by_id, struct nai_skill *const, strcmp((*a)->id, (*b)->id))

static void sort(struct nai_skill_list *list) {
  if (list->count)
    qsort(list->all, list->count, sizeof *list->all, by_id);
}

int nai_skills_load(struct nai_skills *skills, const char *const *paths, size_t path_count, struct nai_err *err) {
  const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
  char user[PATH_MAX] = "";
  *skills = (struct nai_skills){0};
  if (config && *config)
    snprintf(user, sizeof user, "%s/nsys-ai/skills", config);
  else if (home && *home)
    snprintf(user, sizeof user, "%s/.config/nsys-ai/skills", home);
  NAI_TRY(add_builtin(skills, err));
  NAI_TRY(add_directory(skills, add_file, "/etc/nsys-ai/skills", false, err));
  if (*user)
    NAI_TRY(add_directory(skills, add_file, user, false, err));
  NAI_TRY(add_working_directory(skills, err));
  for (size_t i = 0; i < path_count; i++)
    NAI_TRY(nai_fs_is_dir(paths[i]) ? add_directory(skills, add_file, paths[i], true, err)
                                    : add_file(skills, paths[i], err));
  sort(&skills->skills);
  sort(&skills->pages);
  return NAI_OK;
}

/* --- by id ----------------------------------------------------------------------------------------- */

static int find(const struct nai_skill **out, const struct nai_skill_list *list, const char *what, const char *id,
                struct nai_err *err) {
  const char *ids[1024];
  size_t n = 0;
  *out = NULL;
  for (uint32_t i = 0; i < list->count && n < sizeof ids / sizeof *ids; i++) {
    ids[n++] = list->all[i]->id;
    if (strcmp(id, list->all[i]->id) == 0)
      *out = list->all[i];
  }
  const char *near = *out ? NULL : nai_text_suggest(id, ids, n);
  return *out ? NAI_OK
              : nai_err_set(err, NAI_EUSAGE, "there is no %s \"%s\"%s%s%s", what, id, near ? "; did you mean " : "",
                            near ? near : "", near ? "?" : "");
}

int nai_skills_find(const struct nai_skill **out, const struct nai_skills *skills, const char *id,
                    struct nai_err *err) {
  return find(out, &skills->skills, "skill", id, err);
}

int nai_skills_page(const struct nai_skill **out, const struct nai_skills *skills, const char *id,
                    struct nai_err *err) {
  return find(out, &skills->pages, "page", id, err);
}
