/* What a shell offers for the last word of a command line. The scripts of completions.c ask for it. */
#include "cli/internal.h"

/* The command line up to the word that is being completed. */
struct line {
  const struct nai_cli_command *command;
  const struct nai_cli_option *option; /* whose value comes now */
  size_t operand_count;
  const char *last_operand;
  bool only_operands;
};

static bool begins(const char *text, const char *prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

/* Up to the end of a first sentence or clause: a menu has little room. */
static void put_candidate(struct nai_buf *out, const char *lead, const char *word, const char *about,
                          const char *prefix) {
  if (!begins(word, prefix))
    return;
  nai_buf_printf(out, "%s%s\t%.*s\n", lead, word, (int)strcspn(about, "\n;"), about);
}

static void put_hint(struct nai_buf *out, enum nai_cli_hint hint, const char *suffixes) {
  if (hint == NAI_CLI_DIRECTORY)
    nai_buf_puts(out, ":directories\n");
  else if (hint == NAI_CLI_FILE)
    nai_buf_printf(out, ":files%s%s\n", suffixes ? " " : "", suffixes ? suffixes : "");
}

static void put_values(struct nai_buf *out, const struct nai_cli_option *o, const char *prefix) {
  for (size_t i = 0; o->choices && o->choices(i, ""); i++)
    put_candidate(out, "", o->choices(i, ""), "", prefix);
  put_hint(out, o->hint, o->suffixes);
}

static void put_operands(struct nai_buf *out, const struct line *line, const char *prefix) {
  const struct nai_cli_operand *o = nai_cli_operand_at(line->command, line->operand_count);
  size_t i = 0;
  if (!o)
    return;
  for (; o->choices && o->choices(i, line->last_operand); i++)
    put_candidate(out, "", o->choices(i, line->last_operand), o->about ? o->about(i) : "", prefix);
  if (i == 0)
    put_hint(out, o->hint, o->suffixes);
}

static void put_options(struct nai_buf *out, const struct nai_cli_option *options, const char *prefix) {
  for (const struct nai_cli_option *o = options; o && o->name; o++)
    if (!o->hidden)
      put_candidate(out, "--", o->name, o->help, prefix);
}

/* Follows one word that is complete; returns how many words after it are its values. */
static size_t follow(struct line *line, const char *word) {
  const struct nai_cli_option *o = NULL;
  if (line->only_operands || word[0] != '-' || !word[1]) {
    line->operand_count++;
    line->last_operand = word;
  } else if (strcmp(word, "--") == 0) {
    line->only_operands = true;
  } else if (word[1] == '-') {
    o = nai_cli_find_option(line->command, word + 2, strcspn(word + 2, "="));
    if (strchr(word, '='))
      return o && nai_cli_value_count(o) ? nai_cli_value_count(o) - 1 : 0;
  } else {
    o = nai_cli_find_letter(line->command, word[strlen(word) - 1]);
  }
  line->option = o;
  return o ? nai_cli_value_count(o) : 0;
}

/* Everything a first word can be. */
static void put_first(struct nai_buf *out, const struct nai_cli_program *program, const char *prefix) {
  for (size_t i = 0; program->commands[i]; i++)
    put_candidate(out, "", program->commands[i]->name, program->commands[i]->summary, prefix);
  put_candidate(out, "", "help", "explain a command", prefix);
}

void nai_cli_complete(struct nai_buf *out, const struct nai_cli_program *program, int count, char **words) {
  struct line line = {.command = program->implied, .last_operand = ""};
  const char *word = count ? words[count - 1] : "";
  const struct nai_cli_command *named = count > 1 ? nai_cli_find(program, words[0]) : NULL;
  size_t values = 0;
  if (count > 1 && strcmp(words[0], "help") == 0) {
    put_first(out, program, word);
    return;
  }
  line.command = named ? named : program->implied;
  for (int i = named ? 1 : 0; line.command && i < count - 1; i++) {
    if (strcmp(words[i], "=") == 0) /* bash takes --name=value apart */
      continue;
    values = values ? values - 1 : follow(&line, words[i]);
  }
  if (strcmp(word, "=") == 0)
    word = "";
  if (values) {
    put_values(out, line.option, word);
  } else if (word[0] == '-' && !line.only_operands && line.command) {
    put_options(out, line.command->options, begins(word, "--") ? word + 2 : word + 1);
    put_options(out, nai_cli_common, begins(word, "--") ? word + 2 : word + 1);
  } else {
    if (!named && line.operand_count == 0)
      put_first(out, program, word);
    if (line.command)
      put_operands(out, &line, word);
  }
}
