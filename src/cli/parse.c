/* From words to a command's arguments. */
#include "cli/internal.h"

#include "base/text.h"

#include <assert.h>

static const struct nai_cli_option no_options[] = {{0}};

const struct nai_cli_option nai_cli_common[] = {
    {.name = "help", .letter = 'h', .help = "this text"},
    {.name = "version", .help = "print the version", .hidden = true},
    {0},
};

static const struct nai_cli_option *options_of(const struct nai_cli_command *command) {
  return command->options ? command->options : no_options;
}

const struct nai_cli_command *nai_cli_find(const struct nai_cli_program *program, const char *name) {
  for (size_t i = 0; program->commands[i]; i++)
    if (strcmp(program->commands[i]->name, name) == 0)
      return program->commands[i];
  return NULL;
}

static const struct nai_cli_option *find_in(const struct nai_cli_option *options, const char *name, size_t len) {
  for (const struct nai_cli_option *o = options; o->name; o++)
    if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
      return o;
  return NULL;
}

const struct nai_cli_option *nai_cli_find_option(const struct nai_cli_command *command, const char *name, size_t len) {
  const struct nai_cli_option *o = find_in(options_of(command), name, len);
  return o ? o : find_in(nai_cli_common, name, len);
}

const struct nai_cli_option *nai_cli_find_letter(const struct nai_cli_command *command, char letter) {
  for (const struct nai_cli_option *o = options_of(command); o->name; o++)
    if (o->letter == letter)
      return o;
  return letter == nai_cli_common[0].letter ? &nai_cli_common[0] : NULL;
}

size_t nai_cli_value_count(const struct nai_cli_option *option) {
  return !option->value ? 0 : strchr(option->value, ' ') ? 2 : 1;
}

const struct nai_cli_operand *nai_cli_operand_at(const struct nai_cli_command *command, size_t index) {
  const struct nai_cli_operand *operand = command->operands;
  if (!operand || !operand->name || index >= command->max_operands)
    return NULL;
  for (size_t i = 0; i < index && operand[1].name; i++)
    operand++;
  return operand;
}

void *nai_cli_new_args(const struct nai_cli_command *command) {
  void *args = calloc(1, command->args_size ? command->args_size : 1);
  if (args && command->init)
    command->init(args);
  return args;
}

static int unknown_option(const struct nai_cli_command *command, const char *word, struct nai_err *err) {
  const char *names[NAI_CLI_MAX_OPTIONS];
  size_t n = 0;
  char bare[64];
  size_t len = strcspn(word, "=");
  snprintf(bare, sizeof bare, "%.*s", (int)(len < 60 ? len : 60), word);
  if (command->no_json && strcmp(bare, "json") == 0)
    return nai_err_set(err, NAI_EUSAGE, "there is no --json: %s", command->no_json);
  for (const struct nai_cli_option *o = options_of(command); o->name; o++)
    names[n++] = o->name;
  for (const struct nai_cli_option *o = nai_cli_common; o->name; o++)
    names[n++] = o->name;
  assert(n <= NAI_CLI_MAX_OPTIONS);
  const char *near = nai_text_suggest(bare, names, n);
  return nai_err_set(err, NAI_EUSAGE, "unknown option --%s%s%s%s", bare, near ? "; did you mean --" : "",
                     near ? near : "", near ? "?" : "");
}

/* Number of an option in the command's table; -1: it is one that every command has. */
static ptrdiff_t number_of(const struct nai_cli_command *command, const struct nai_cli_option *option) {
  for (const struct nai_cli_option *o = options_of(command); o->name; o++)
    if (o == option)
      return o - options_of(command);
  return -1;
}

int nai_cli_option_named(const struct nai_cli_option **out, const struct nai_cli_command *command, const char *name,
                         struct nai_err *err) {
  *out = find_in(options_of(command), name, strlen(name));
  return *out ? NAI_OK : unknown_option(command, name, err);
}

bool nai_cli_is_given(const struct nai_cli_call *call, const struct nai_cli_command *command,
                      const struct nai_cli_option *option) {
  const struct nai_cli_option *all = options_of(command);
  for (size_t i = 0; all[i].name; i++)
    if (call->given[i] && all[i].at == option->at)
      return true;
  return false;
}

int nai_cli_set(struct nai_cli_call *call, const struct nai_cli_option *option, const char *const *words,
                struct nai_err *err) {
  return option->type->set(call->args, option, words, err);
}

bool nai_cli_is_verbose(const struct nai_cli_call *call, const struct nai_cli_command *command) {
  const struct nai_cli_option *verbose = find_in(options_of(command), "verbose", strlen("verbose"));
  return verbose && *((const bool *)call->args + verbose->at);
}

/* The words that are still to be read. */
struct reader {
  int argc, at;
  char **argv;
  const struct nai_cli_option *greedy; /* that took words which were perhaps meant as operands, or NULL */
};

/* Whether a word is one of those that may follow a switch. */
static bool may_follow(const struct nai_cli_option *option, const char *word) {
  size_t len = strlen(word), n;
  for (const char *at = option->words; at && *at; at += n + (at[n] == ' ')) {
    n = strcspn(at, " ");
    if (n == len && memcmp(at, word, n) == 0)
      return true;
  }
  return false;
}

/* Whether a word is an option of the command, and no value of another. */
static bool is_option(const struct nai_cli_command *command, const char *word) {
  return strncmp(word, "--", 2) == 0 && nai_cli_find_option(command, word + 2, strcspn(word + 2, "="));
}

/* Applies an option whose values are `attached` (from --name=value or -n5) and then the following words. */
static int apply(struct nai_cli_call *call, const struct nai_cli_command *command, const struct nai_cli_option *option,
                 const char *attached, struct reader *words, struct nai_err *err) {
  const char *values[2] = {NULL, NULL};
  ptrdiff_t number = number_of(command, option);
  size_t want = nai_cli_value_count(option), have = 0;
  if (attached && !want && !option->words)
    return nai_err_set(err, NAI_EUSAGE, "--%s takes no value", option->name);
  if (option->words && !attached && words->at + 1 < words->argc && may_follow(option, words->argv[words->at + 1]))
    attached = words->argv[++words->at];
  if (attached)
    values[have++] = attached;
  for (; have < want; have++) {
    if (words->at + 1 >= words->argc || is_option(command, words->argv[words->at + 1]))
      return nai_err_set(err, NAI_EUSAGE, "--%s needs %s", option->name, option->value);
    values[have] = words->argv[++words->at];
  }
  if (number >= 0)
    call->given[number] = true;
  call->help |= option == &nai_cli_common[0];
  call->version |= option == &nai_cli_common[1];
  if (option->type)
    NAI_TRY(option->type->set(call->args, option, values, err));
  while (option->many && !attached && words->at + 1 < words->argc && words->argv[words->at + 1][0] != '-') {
    values[0] = words->argv[++words->at];
    words->greedy = option;
    NAI_TRY(option->type->set(call->args, option, values, err));
  }
  return NAI_OK;
}

static int parse_letters(struct nai_cli_call *call, const struct nai_cli_command *command, struct reader *words,
                         struct nai_err *err) {
  for (const char *c = words->argv[words->at] + 1; *c; c++) {
    const struct nai_cli_option *option = nai_cli_find_letter(command, *c);
    if (!option)
      return nai_err_set(err, NAI_EUSAGE, "unknown option -%c", *c);
    bool takes_value = nai_cli_value_count(option) > 0;
    NAI_TRY(apply(call, command, option, takes_value && c[1] ? c + 1 : NULL, words, err));
    if (takes_value)
      break;
  }
  return NAI_OK;
}

static int add_operand(struct nai_cli_call *call, const struct nai_cli_command *command, char *word,
                       struct nai_err *err) {
  if (call->operand_count == command->max_operands)
    return nai_err_set(err, NAI_EUSAGE, "unexpected \"%.200s\"", word);
  const struct nai_cli_operand *operand = nai_cli_operand_at(command, call->operand_count);
  call->operands[call->operand_count++] = word;
  for (size_t i = 0; operand && operand->only_choices; i++) {
    const char *choice = operand->choices(i, "");
    if (!choice)
      return nai_cli_unknown_choice(err, operand->name, word, operand->choices, NULL);
    if (strcmp(choice, word) == 0)
      break;
  }
  return NAI_OK;
}

bool nai_cli_means_json(const struct nai_cli_option *option) {
  bool json = false;
  if (!option->choices || strcmp(option->name, "format") != 0)
    return false;
  for (size_t i = 0; !json && option->choices(i, ""); i++)
    json = strcmp(option->choices(i, ""), "json") == 0;
  return json;
}

static const struct nai_cli_option *json_format(const struct nai_cli_command *command, const char *word) {
  const struct nai_cli_option *format = strcmp(word, "--json") == 0 ? nai_cli_find_option(command, "format", 6) : NULL;
  return format && nai_cli_means_json(format) ? format : NULL;
}

static int parse_word(bool *only_operands, struct nai_cli_call *call, const struct nai_cli_command *command,
                      struct reader *words, struct nai_err *err) {
  char *word = words->argv[words->at];
  if (*only_operands || word[0] != '-' || !word[1])
    return add_operand(call, command, word, err);
  if (word[1] != '-')
    return parse_letters(call, command, words, err);
  size_t len = strcspn(word + 2, "=");
  const struct nai_cli_option *option = nai_cli_find_option(command, word + 2, len);
  *only_operands = strcmp(word, "--") == 0;
  if (*only_operands)
    return NAI_OK;
  const struct nai_cli_option *format = option ? NULL : json_format(command, word);
  if (format)
    return apply(call, command, format, "json", words, err);
  return option ? apply(call, command, option, word[2 + len] ? word + 3 + len : NULL, words, err)
                : unknown_option(command, word + 2, err);
}

int nai_cli_parse(struct nai_cli_call *call, const struct nai_cli_command *command, int argc, char **argv,
                  struct nai_err *err) {
  struct reader words = {argc, 0, argv, NULL};
  bool only_operands = false;
  call->operands = argv; /* never written beyond the word that is read */
  for (; words.at < argc && !call->help && !call->version; words.at++)
    NAI_TRY(parse_word(&only_operands, call, command, &words, err));
  if (call->help || call->version || call->operand_count >= command->min_operands)
    return NAI_OK;
  const struct nai_cli_operand *operand = nai_cli_operand_at(command, call->operand_count);
  const char *name = operand->name;
  if (operand->only_choices && command->synopsis)
    return nai_err_set(err, NAI_EUSAGE, "%s needs a word more: %s", command->name, command->synopsis);
  return words.greedy
           ? nai_err_set(err, NAI_EUSAGE, "%s is missing: --%s took all words behind it, so %s stands before it", name,
                         words.greedy->name, name)
           : nai_err_set(err, NAI_EUSAGE, "%s is missing", name);
}
