/* Defaults of options, from a file: docs/using.md, "Defaults". */
#include "command/command.h"

#include "base/fs.h"
#include "config/yaml.h"

#include <sys/stat.h>
#include <unistd.h>

#define NAME ".nsys-ai.yaml"

/* What is set lives as long as the arguments that borrow it: as the program does. */
static struct nai_arena kept = NAI_ARENA(NULL);
static struct nai_yaml *read_file;

/* Whether a file may say what this program does: not one that others put into a directory above, such as /tmp. */
static bool is_trusted(const char *path) {
  struct stat st;
  if (stat(path, &st) != 0)
    return false;
  if (S_ISREG(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == 0))
    return true;
  fprintf(stderr, "nsys-ai: %s is left out: it is no regular file of this user or of root\n", path);
  return false;
}

bool nai_cmd_find_defaults(char out[PATH_MAX]) {
  const char *told = getenv("NSYS_AI_CONFIG");
  char directory[PATH_MAX];
  if (told) {
    snprintf(out, PATH_MAX, "%s", told);
    return *told;
  }
  if (!getcwd(directory, sizeof directory) || *directory != '/') /* it is outside of what can be reached */
    return false;
  snprintf(out, PATH_MAX, NAME); /* of this directory: as a command line would name it */
  for (size_t len = strlen(directory); access(out, F_OK) != 0; len = strlen(directory)) {
    if (len <= 1)
      return false;
    directory[strrchr(directory, '/') - directory] = '\0';
    if (!nai_fs_join(out, PATH_MAX, *directory ? directory : "/", NAME))
      return false;
  }
  return is_trusted(out);
}

/* A file that lies beside the defaults is meant wherever the program is started. */
static const char *beside(const char *defaults, const struct nai_cli_option *option, const char *value) {
  const char *name = nai_fs_basename(defaults);
  const char *path = nai_arena_printf(&kept, "%.*s%s", (int)(name - defaults), defaults, value);
  for (size_t i = 0; option->choices && option->choices(i, ""); i++)
    if (strcmp(option->choices(i, ""), value) == 0)
      return value;
  return option->hint != NAI_CLI_NOTHING && *value != '/' && name > defaults && nai_fs_exists(path) ? path : value;
}

struct reading {
  const struct nai_yaml *doc;
  const struct nai_cli_command *command;
  struct nai_cli_call *call;
  struct nai_buf used; /* for -v */
};

static int fail_at(const struct reading *r, const struct nai_yaml_node *node, int rc, struct nai_err *err) {
  struct nai_err why = *err;
  return rc == NAI_EUSAGE ? nai_yaml_error(r->doc, node, err, "%s", why.msg) : rc;
}

static int set_words(struct reading *r, const struct nai_yaml_node *node, const struct nai_cli_option *option,
                     const char *const *words, struct nai_err *err) {
  NAI_TRY(fail_at(r, node, nai_cli_set(r->call, option, words, err), err));
  nai_buf_printf(&r->used, " --%s", option->name);
  for (; *words; words++)
    nai_buf_printf(&r->used, " %s", *words);
  return NAI_OK;
}

static int set_scalar(struct reading *r, const struct nai_yaml_node *node, const struct nai_cli_option *option,
                      struct nai_err *err) {
  const char *words[2] = {NULL};
  NAI_TRY(nai_yaml_text(&words[0], r->doc, node, err));
  words[0] = beside(r->doc->file, option, words[0]);
  return set_words(r, node, option, words, err);
}

static int set_list(struct reading *r, const struct nai_yaml_node *node, const struct nai_cli_option *option,
                    struct nai_err *err) {
  const char *words[3] = {NULL};
  uint32_t count = 0;
  bool is_pair = strchr(option->value, ' ');
  if (!option->most && (!is_pair || node->count != 2))
    return nai_yaml_error(r->doc, node, err, "--%s takes %s", option->name, is_pair ? "two values" : "one value");
  for (const struct nai_yaml_node *n = nai_yaml_first(r->doc, node); n; n = nai_yaml_next(r->doc, n))
    if (is_pair)
      NAI_TRY(nai_yaml_text(&words[count++], r->doc, n, err));
    else
      NAI_TRY(set_scalar(r, n, option, err));
  return is_pair ? set_words(r, node, option, words, err) : NAI_OK;
}

static int set_switch(struct reading *r, const struct nai_yaml_node *node, const struct nai_cli_option *option,
                      struct nai_err *err) {
  static const char *const none[] = {NULL};
  bool on;
  NAI_TRY(nai_yaml_bool(&on, r->doc, node, err));
  return on ? set_words(r, node, option, none, err) : NAI_OK;
}

static int set_option(struct reading *r, const struct nai_yaml_node *node, struct nai_err *err) {
  const struct nai_cli_option *option;
  struct nai_err why = {0};
  if (nai_cli_option_named(&option, r->command, node->key, &why))
    return nai_yaml_error_key(r->doc, node, err, "%s", why.msg);
  if (nai_cli_is_given(r->call, r->command, option))
    return NAI_OK;
  if (!option->value)
    return set_switch(r, node, option, err);
  if (node->kind == NAI_YAML_LIST)
    return set_list(r, node, option, err);
  return strchr(option->value, ' ') ? nai_yaml_error(r->doc, node, err, "--%s takes two values", option->name)
                                    : set_scalar(r, node, option, err);
}

static int check_commands(const struct nai_yaml *doc, const struct nai_cli_program *program, struct nai_err *err) {
  enum { MAX_COMMANDS = 64 };
  const char *names[MAX_COMMANDS] = {0};
  for (size_t i = 0; program->commands[i] && i < MAX_COMMANDS - 1; i++)
    names[i] = program->commands[i]->name;
  return nai_yaml_expect_keys(doc, nai_yaml_root(doc), names, err);
}

int nai_cmd_defaults(struct nai_cli_call *call, const struct nai_cli_program *program,
                     const struct nai_cli_command *command, struct nai_err *err) {
  char path[PATH_MAX];
  const struct nai_yaml_node *option;
  if (!nai_cmd_find_defaults(path))
    return NAI_OK;
  nai_yaml_free(read_file);
  read_file = NULL;
  NAI_TRY(nai_yaml_load(&read_file, path, err));
  struct reading r = {.doc = read_file, .command = command, .call = call};
  NAI_TRY(check_commands(read_file, program, err));
  int rc = nai_yaml_items(&option, read_file, nai_yaml_root(read_file), command->name, NAI_YAML_MAP, err);
  for (; !rc && option; option = nai_yaml_next(read_file, option))
    rc = set_option(&r, option, err);
  if (!rc && r.used.len && nai_cli_is_verbose(call, command)) {
    NAI_SCOPED(nai_buf) line = {0};
    nai_buf_printf(&line, "defaults of %s:%s", path, nai_buf_str(&r.used));
    nai_cmd_note(nai_buf_str(&line));
  }
  nai_buf_free(&r.used);
  return rc ? rc : nai_arena_check(&kept, err);
}
