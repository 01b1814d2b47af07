/* Help, from the tables. */
#include "cli/internal.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum { MIN_WIDTH = 60, MAX_WIDTH = 100, OPTION_COLUMN = 38 };

/* Of lines: the terminal's, where help is printed to one. */
static int line_width(void) {
  struct winsize size;
  bool is_terminal = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return !is_terminal || size.ws_col > MAX_WIDTH || !size.ws_col ? MAX_WIDTH
       : size.ws_col < MIN_WIDTH                                 ? MIN_WIDTH
                                                                 : size.ws_col;
}

static void put_spaces(struct nai_buf *out, int n) { nai_buf_printf(out, "%*s", n, ""); }

/* Text in lines of that width, all but the first indented. */
static void put_wrapped(struct nai_buf *out, const char *text, int indent) {
  int column = indent, width = line_width();
  while (*text) {
    size_t word = strcspn(text, " \n");
    if (column > indent && column + 1 + (int)word > width) {
      nai_buf_putc(out, '\n');
      put_spaces(out, indent);
      column = indent;
    } else if (column > indent) {
      nai_buf_putc(out, ' ');
      column++;
    }
    nai_buf_put(out, text, word);
    column += (int)word;
    text += word;
    if (*text == '\n') {
      nai_buf_putc(out, '\n');
      put_spaces(out, indent);
      column = indent;
    }
    text += *text != '\0';
  }
  nai_buf_putc(out, '\n');
}

void nai_cli_describe(struct nai_buf *out, const struct nai_cli_option *o, const void *defaults) {
  NAI_SCOPED(nai_buf) value = {0};
  nai_buf_puts(out, o->help);
  if (o->choices) {
    nai_buf_puts(out, ": ");
    nai_cli_list_choices(out, o->choices, "", o->also);
  }
  if (nai_cli_means_json(o))
    nai_buf_puts(out, "; --json: json");
  if (o->type && o->type->print && defaults)
    o->type->print(&value, defaults, o);
  if (value.len || o->otherwise)
    nai_buf_printf(out, " (default: %s)", value.len ? nai_buf_str(&value) : o->otherwise);
  out->oom |= value.oom;
}

static void put_options(struct nai_buf *out, const struct nai_cli_option *options, const void *defaults) {
  for (const struct nai_cli_option *o = options; o && o->name; o++) {
    NAI_SCOPED(nai_buf) label = {0}, text = {0};
    if (o->hidden)
      continue;
    if (o->letter)
      nai_buf_printf(&label, "-%c, ", o->letter);
    else
      nai_buf_puts(&label, "    ");
    nai_buf_printf(&label, "--%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
    nai_cli_describe(&text, o, defaults);
    nai_buf_printf(out, "  %-*s ", OPTION_COLUMN, nai_buf_str(&label));
    put_wrapped(out, nai_buf_str(&text), OPTION_COLUMN + 3);
    out->oom |= label.oom || text.oom;
  }
}

static void put_lines(struct nai_buf *out, const char *heading, const char *lines) {
  nai_buf_printf(out, "\n%s:\n", heading);
  while (*lines) {
    size_t n = strcspn(lines, "\n");
    nai_buf_printf(out, "  %.*s\n", (int)n, lines);
    lines += n + (lines[n] == '\n');
  }
}

static void put_usage(struct nai_buf *out, const struct nai_cli_program *program, const struct nai_cli_command *c) {
  NAI_SCOPED(nai_buf) line = {0};
  nai_buf_printf(&line, "%s%s%s%s%s%s", program->name, c->name ? " " : "", c->name ? c->name : "",
                 c->options ? " [OPTION]..." : "", *c->synopsis ? " " : "", c->synopsis);
  put_wrapped(out, nai_buf_str(&line), (int)strlen("usage: "));
  out->oom |= line.oom;
}

/* What the operands can be, where that is a list with explanations. */
static void put_operands(struct nai_buf *out, const struct nai_cli_command *c) {
  for (const struct nai_cli_operand *o = c->operands; o && o->name; o++) {
    if (!o->about)
      continue;
    nai_buf_printf(out, "\n%s:\n", o->name);
    for (size_t i = 0; o->choices(i, ""); i++) {
      nai_buf_printf(out, "  %-20s ", o->choices(i, ""));
      put_wrapped(out, o->about(i), 23);
    }
  }
}

static void put_command(struct nai_buf *out, const struct nai_cli_command *c) {
  NAI_FREED void *defaults = nai_cli_new_args(c);
  out->oom |= !defaults;
  put_wrapped(out, c->description, 0);
  put_operands(out, c);
  nai_buf_puts(out, "\nOptions:\n");
  put_options(out, c->options, defaults);
  put_options(out, nai_cli_common, NULL);
  put_lines(out, "Examples", c->examples);
}

void nai_cli_help(struct nai_buf *out, const struct nai_cli_program *program, const struct nai_cli_command *c) {
  if (!c->name) {
    nai_cli_help_program(out, program);
    return;
  }
  nai_buf_puts(out, "usage: ");
  put_usage(out, program, c);
  if (c == program->implied)
    nai_buf_printf(out, "       %s [OPTION]... %s\n", program->name, c->synopsis);
  nai_buf_putc(out, '\n');
  put_command(out, c);
}

static void put_commands(struct nai_buf *out, const struct nai_cli_program *program) {
  nai_buf_puts(out, "\nCommands:\n");
  for (size_t i = 0; program->commands[i]; i++)
    nai_buf_printf(out, "  %-13s %s\n", program->commands[i]->name, program->commands[i]->summary);
}

/* Of the program; where it has one job, that one's options too. */
void nai_cli_help_program(struct nai_buf *out, const struct nai_cli_program *program) {
  const struct nai_cli_command *job = program->implied && !program->implied->name ? program->implied : NULL;
  nai_buf_puts(out, "usage: ");
  if (program->implied)
    nai_buf_printf(out, "%s [OPTION]... %s\n       ", program->name, program->implied->synopsis);
  nai_buf_printf(out, "%s COMMAND [OPTION]... [OPERAND]...\n\n", program->name);
  if (job) {
    put_command(out, job);
  } else {
    put_wrapped(out, program->description, 0);
  }
  put_commands(out, program);
  nai_buf_printf(out, "\n%s help COMMAND explains one; %s --version prints the version.\n", program->name,
                 program->name);
  if (!job)
    put_lines(out, "Examples", program->examples);
  nai_buf_puts(out, "\nExit status:\n");
  for (const struct nai_cli_exit *e = program->exits; e->status; e++)
    nai_buf_printf(out, "  %s  %s\n", e->status, e->meaning);
}

void nai_cli_help_short(struct nai_buf *out, const struct nai_cli_program *program) {
  const char *first = program->examples, *end = strchr(first, '\n');
  NAI_SCOPED(nai_buf) two = {0};
  end = end ? strchr(end + 1, '\n') : NULL; /* two lines of them */
  nai_buf_printf(out, "%s: %s\n", program->name, program->title);
  nai_buf_put(&two, first, end ? (size_t)(end - first) : strlen(first));
  put_lines(out, "Examples", nai_buf_str(&two));
  out->oom |= two.oom;
  nai_buf_printf(out, "\n%s --help lists all commands.\n", program->name);
}
