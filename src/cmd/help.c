/* Help and man page, from the command tables. */
#include "cmd/cmd.h"

#include <stdio.h>
#include <string.h>

static const char purpose[] =
    "nsys-ai reads an SQLite export of NVIDIA Nsight Systems and writes a report: what is slow, why, "
    "where, and what to do.";

static const struct {
  const char *status, *meaning;
} exits[] = {
    {"0", "the report was written"},
    {"1", "--fail-on: a finding of that severity or higher"},
    {"2", "wrong usage, or a mistake in a configuration file"},
    {"3", "the trace is refused: not an export, damaged"},
    {"5", "the output cannot be written"},
    {"6", "a resource limit: memory, descriptors"},
};

static void print_wrapped(const char *text, int indent, int width) {
  int column = indent;
  while (*text) {
    size_t word = strcspn(text, " \n");
    if (column > indent && column + 1 + (int)word > width) {
      printf("\n%*s", indent, "");
      column = indent;
    } else if (column > indent) {
      putchar(' ');
      column++;
    }
    printf("%.*s", (int)word, text);
    column += (int)word;
    text += word;
    if (*text == '\n') {
      printf("\n%*s", indent, "");
      column = indent;
    }
    text += *text != '\0';
  }
  putchar('\n');
}

static void option_label(char *label, size_t size, const struct nai_option *o) {
  char letter[8] = "    ";
  if (o->letter)
    snprintf(letter, sizeof letter, "-%c, ", o->letter);
  snprintf(label, size, "%s--%s%s%s", letter, o->name, o->value ? " " : "", o->value ? o->value : "");
}

static void print_command(const struct nai_command *c) {
  printf("usage: nsys-ai %s [OPTION]... %s\n\n", c->name, c->operands);
  print_wrapped(c->details, 0, 100);
  printf("\nOptions:\n");
  for (const struct nai_option *o = c->options; o->name; o++) {
    char label[80];
    if (o->hidden)
      continue;
    option_label(label, sizeof label, o);
    printf("  %-38s ", label);
    print_wrapped(o->help, 41, 100);
  }
  printf("\nExamples:\n");
  for (const char *line = c->examples; *line;) {
    size_t n = strcspn(line, "\n");
    printf("  %.*s\n", (int)n, line);
    line += n + (line[n] == '\n');
  }
}

void nai_help_print(const struct nai_command *command) {
  if (command) {
    print_command(command);
    return;
  }
  print_wrapped(purpose, 0, 100);
  printf("\nusage: nsys-ai COMMAND [OPTION]... OPERAND...\n\nCommands:\n");
  for (int i = 0; nai_commands[i]; i++)
    printf("  %-10s %s\n", nai_commands[i]->name, nai_commands[i]->summary);
  printf("\nnsys-ai COMMAND --help explains one; nsys-ai --version prints the version.\n\nExamples:\n"
         "  nsys-ai analyze trace.sqlite --out artifacts/run1\n"
         "  nsys-ai probe trace.sqlite\n"
         "  nsys-ai rules explain gpu-idle\n\nExit status:\n");
  for (size_t i = 0; i < sizeof exits / sizeof *exits; i++)
    printf("  %s  %s\n", exits[i].status, exits[i].meaning);
}

/* Text for troff: a leading dot or quote and every backslash and dash need care. */
static void man_text(const char *text) {
  bool line_start = true;
  for (; *text; text++) {
    if (line_start && (*text == '.' || *text == '\''))
      fputs("\\&", stdout);
    line_start = *text == '\n';
    if (*text == '\\')
      fputs("\\e", stdout);
    else if (*text == '-')
      fputs("\\-", stdout);
    else
      putchar(*text);
  }
}

void nai_man_print(void) {
  printf(".TH NSYS-AI 1 \"\" \"nsys-ai " NAI_VERSION
         "\" \"User Commands\"\n.SH NAME\nnsys\\-ai \\- report generator for GPU traces\n"
         ".SH SYNOPSIS\n");
  for (int i = 0; nai_commands[i]; i++) {
    printf(".B nsys\\-ai %s\n[\\fIOPTION\\fR]... ", nai_commands[i]->name);
    man_text(nai_commands[i]->operands);
    printf("\n.br\n");
  }
  printf(".SH DESCRIPTION\n");
  man_text(purpose);
  for (int i = 0; nai_commands[i]; i++) {
    const struct nai_command *c = nai_commands[i];
    printf("\n.SH NSYS-AI %s\n", c->name);
    man_text(c->details);
    printf("\n");
    for (const struct nai_option *o = c->options; o->name; o++) {
      char label[80];
      if (o->hidden)
        continue;
      option_label(label, sizeof label, o);
      printf(".TP\n.B ");
      man_text(label + strspn(label, " "));
      printf("\n");
      man_text(o->help);
      printf("\n");
    }
    printf(".PP\nExamples:\n.nf\n");
    man_text(c->examples);
    printf("\n.fi\n");
  }
  printf(".SH EXIT STATUS\n");
  for (size_t i = 0; i < sizeof exits / sizeof *exits; i++)
    printf(".TP\n.B %s\n%s\n", exits[i].status, exits[i].meaning);
}
