#include "cmd/cmd.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

const struct nai_command *nai_command_find(const char *name) {
  for (int i = 0; nai_commands[i]; i++)
    if (strcmp(nai_commands[i]->name, name) == 0)
      return nai_commands[i];
  return NULL;
}

static const struct nai_option *find_option(const struct nai_command *command, const char *name, size_t len) {
  for (const struct nai_option *o = command->options; o->name; o++)
    if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
      return o;
  return NULL;
}

static const struct nai_option *find_letter(const struct nai_command *command, char letter) {
  for (const struct nai_option *o = command->options; o->name; o++)
    if (o->letter == letter)
      return o;
  return NULL;
}

static int unknown_option(const struct nai_command *command, const char *word, struct nai_err *err) {
  const char *names[64];
  size_t n = 0;
  char bare[64];
  size_t len = strcspn(word + 2, "=");
  snprintf(bare, sizeof bare, "%.*s", (int)(len < 60 ? len : 60), word + 2);
  for (const struct nai_option *o = command->options; o->name && n < 64; o++)
    names[n++] = o->name;
  const char *near = nai_text_suggest(bare, names, n);
  if (near)
    return nai_err_set(err, NAI_EUSAGE, "unknown option --%s; did you mean --%s?", bare, near);
  return nai_err_set(err, NAI_EUSAGE, "unknown option --%s; see nsys-ai %s --help", bare, command->name);
}

static int value_count(const struct nai_option *option) {
  return !option->value ? 0 : strchr(option->value, ' ') ? 2 : 1;
}

/* Applies an option whose values are `attached` (from --name=value or -n5) and then the following words. */
static int apply(struct nai_args *args, const struct nai_option *option, const char *attached, int argc, char **argv,
                 int *at, struct nai_err *err) {
  const char *values[2] = {NULL, NULL};
  int want = value_count(option), have = 0;
  if (attached && !want)
    return nai_err_set(err, NAI_EUSAGE, "--%s takes no value", option->name);
  if (attached)
    values[have++] = attached;
  for (; have < want; have++) {
    if (*at + 1 >= argc)
      return nai_err_set(err, NAI_EUSAGE, "--%s needs %s", option->name, option->value);
    values[have] = argv[++*at];
  }
  return option->set(args, values, err);
}

static int parse_letters(struct nai_args *args, const struct nai_command *command, int argc, char **argv, int *at,
                         struct nai_err *err) {
  for (const char *c = argv[*at] + 1; *c; c++) {
    const struct nai_option *option = find_letter(command, *c);
    if (!option)
      return nai_err_set(err, NAI_EUSAGE, "unknown option -%c; see nsys-ai %s --help", *c, command->name);
    bool takes_value = value_count(option) > 0;
    int rc = apply(args, option, takes_value && c[1] ? c + 1 : NULL, argc, argv, at, err);
    if (rc || takes_value)
      return rc;
  }
  return NAI_OK;
}

int nai_args_parse(struct nai_args *args, const struct nai_command *command, int argc, char **argv,
                   struct nai_err *err) {
  bool only_operands = false;
  args->command = command;
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    int rc = NAI_OK;
    if (!only_operands && strcmp(word, "--") == 0) {
      only_operands = true;
    } else if (!only_operands && strncmp(word, "--", 2) == 0) {
      size_t len = strcspn(word + 2, "=");
      const struct nai_option *option = find_option(command, word + 2, len);
      rc = option ? apply(args, option, word[2 + len] ? word + 3 + len : NULL, argc, argv, &i, err)
                  : unknown_option(command, word, err);
    } else if (!only_operands && word[0] == '-' && word[1]) {
      rc = parse_letters(args, command, argc, argv, &i, err);
    } else if (args->operand_count == NAI_MAX_OPERANDS || args->operand_count == command->max_operands) {
      rc = nai_err_set(err, NAI_EUSAGE, "unexpected \"%.200s\"; usage: nsys-ai %s %s", word, command->name,
                       command->operands);
    } else {
      args->operands[args->operand_count++] = word;
    }
    if (rc)
      return rc;
    if (args->help)
      return NAI_OK;
  }
  if (args->operand_count < command->min_operands)
    return nai_err_set(err, NAI_EUSAGE, "%s is missing; usage: nsys-ai %s [OPTION]... %s", command->operands,
                       command->name, command->operands);
  return NAI_OK;
}
