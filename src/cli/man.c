/* The man page, from the tables. */
#include "cli/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Text for troff: a leading dot or quote and every backslash and dash need care. */
static void put_text(struct nai_buf *out, const char *text) {
  bool line_start = true;
  for (; *text; text++) {
    if (line_start && (*text == '.' || *text == '\''))
      nai_buf_puts(out, "\\&");
    line_start = *text == '\n';
    if (*text == '\\')
      nai_buf_puts(out, "\\e");
    else if (*text == '-')
      nai_buf_puts(out, "\\-");
    else
      nai_buf_putc(out, *text);
  }
}

static void put_upper(struct nai_buf *out, const char *text) {
  for (; *text; text++)
    nai_buf_putc(out, (char)toupper((unsigned char)*text));
}

static void put_name(struct nai_buf *out, const struct nai_cli_program *program, const struct nai_cli_command *c) {
  put_text(out, program->name);
  if (c->name) {
    nai_buf_putc(out, ' ');
    put_text(out, c->name);
  }
}

static void put_synopsis(struct nai_buf *out, const struct nai_cli_program *program, const struct nai_cli_command *c) {
  nai_buf_puts(out, ".B ");
  put_name(out, program, c);
  nai_buf_puts(out, "\n");
  if (c->options)
    nai_buf_puts(out, "[\\fIOPTION\\fR]... ");
  put_text(out, *c->synopsis ? c->synopsis : "\n");
  nai_buf_puts(out, "\n.br\n");
}

static void put_options(struct nai_buf *out, const struct nai_cli_option *options, const void *defaults) {
  for (const struct nai_cli_option *o = options; o && o->name; o++) {
    struct nai_buf text = {0};
    if (o->hidden)
      continue;
    nai_buf_puts(out, ".TP\n.B ");
    if (o->letter)
      nai_buf_printf(out, "\\-%c, ", o->letter);
    nai_buf_puts(out, "\\-\\-");
    put_text(out, o->name);
    if (o->value) {
      nai_buf_putc(out, ' ');
      put_text(out, o->value);
    }
    nai_buf_putc(out, '\n');
    nai_cli_describe(&text, o, defaults);
    put_text(out, nai_buf_str(&text));
    nai_buf_putc(out, '\n');
    out->oom |= text.oom;
    nai_buf_free(&text);
  }
}

static void put_operands(struct nai_buf *out, const struct nai_cli_command *c) {
  for (const struct nai_cli_operand *o = c->operands; o && o->name; o++)
    for (size_t i = 0; o->about && o->choices(i, ""); i++) {
      nai_buf_puts(out, ".TP\n.B ");
      put_text(out, o->choices(i, ""));
      nai_buf_putc(out, '\n');
      put_text(out, o->about(i));
      nai_buf_putc(out, '\n');
    }
}

static void put_command(struct nai_buf *out, const struct nai_cli_program *program, const struct nai_cli_command *c) {
  void *defaults = nai_cli_new_args(c);
  out->oom |= !defaults;
  nai_buf_puts(out, ".SH ");
  if (c->name)
    put_name(out, program, c);
  else
    nai_buf_puts(out, "OPTIONS AND OPERANDS");
  nai_buf_putc(out, '\n');
  put_text(out, c->description);
  nai_buf_putc(out, '\n');
  put_operands(out, c);
  put_options(out, c->options, defaults);
  nai_buf_puts(out, ".PP\nExamples:\n.PP\n.nf\n");
  put_text(out, c->examples);
  nai_buf_puts(out, "\n.fi\n");
  free(defaults);
}

void nai_cli_man(struct nai_buf *out, const struct nai_cli_program *program) {
  const struct nai_cli_command *job = program->implied && !program->implied->name ? program->implied : NULL;
  nai_buf_puts(out, ".TH ");
  put_upper(out, program->name);
  nai_buf_printf(out, " 1 \"\" \"%s %s\" \"User Commands\"\n.SH NAME\n", program->name, program->version);
  put_text(out, program->name);
  nai_buf_puts(out, " \\- ");
  put_text(out, program->title);
  nai_buf_puts(out, "\n.SH SYNOPSIS\n");
  if (job)
    put_synopsis(out, program, job);
  for (size_t i = 0; program->commands[i]; i++)
    put_synopsis(out, program, program->commands[i]);
  nai_buf_puts(out, ".SH DESCRIPTION\n");
  put_text(out, program->description);
  nai_buf_puts(out, "\nEvery command takes \\fB\\-h\\fR, \\fB\\-\\-help\\fR and \\fB\\-\\-version\\fR.\n");
  if (job)
    put_command(out, program, job);
  for (size_t i = 0; program->commands[i]; i++)
    put_command(out, program, program->commands[i]);
  nai_buf_puts(out, ".SH EXIT STATUS\n");
  for (const struct nai_cli_exit *e = program->exits; e->status; e++) {
    nai_buf_printf(out, ".TP\n.B %s\n", e->status);
    put_text(out, e->meaning);
    nai_buf_putc(out, '\n');
  }
}
