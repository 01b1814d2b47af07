/* Man pages, from the tables: one of the program, one of each command. */
#include "cli/internal.h"

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

static void put_line(struct nai_buf *out, const char *text) {
  put_text(out, text);
  nai_buf_putc(out, '\n');
}

static void put_upper(struct nai_buf *out, const char *text) {
  for (; *text; text++)
    nai_buf_putc(out, (char)toupper((unsigned char)*text));
}

static void put_name(struct nai_buf *out, const struct nai_cli_program *program, const struct nai_cli_command *c,
                     char between) {
  put_text(out, program->name);
  if (c && c->name) {
    nai_buf_puts(out, between == '-' ? "\\-" : " ");
    put_text(out, c->name);
  }
}

/* A paragraph of text; empty lines would be a mistake to troff. */
static void put_paragraphs(struct nai_buf *out, const char *text) {
  while (*text) {
    NAI_SCOPED(nai_buf) line = {0};
    size_t len = strcspn(text, "\n");
    nai_buf_put(&line, text, len);
    if (len)
      put_line(out, nai_buf_str(&line));
    else
      nai_buf_puts(out, ".PP\n");
    out->oom |= line.oom;
    text += len + (text[len] == '\n');
  }
}

static void put_synopsis(struct nai_buf *out, const struct nai_cli_program *program, const struct nai_cli_command *c) {
  nai_buf_puts(out, ".B ");
  put_name(out, program, c, ' ');
  nai_buf_puts(out, "\n");
  if (c->options)
    nai_buf_puts(out, "[\\fIOPTION\\fR]...\n");
  if (*c->synopsis) {
    put_line(out, c->synopsis);
  }
}

static void put_options(struct nai_buf *out, const struct nai_cli_option *options, const void *defaults) {
  for (const struct nai_cli_option *o = options; o && o->name; o++) {
    NAI_SCOPED(nai_buf) text = {0};
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
    put_line(out, nai_buf_str(&text));
    out->oom |= text.oom;
  }
}

static void put_operands(struct nai_buf *out, const struct nai_cli_command *c) {
  for (const struct nai_cli_operand *o = c->operands; o && o->name; o++)
    for (size_t i = 0; o->about && o->choices(i, ""); i++) {
      nai_buf_puts(out, ".TP\n.B ");
      put_line(out, o->choices(i, ""));
      put_line(out, o->about(i));
    }
}

static void put_examples(struct nai_buf *out, const char *examples) {
  nai_buf_puts(out, ".SH EXAMPLES\n.nf\n");
  put_text(out, examples);
  nai_buf_puts(out, "\n.fi\n");
}

static void put_exits(struct nai_buf *out, const struct nai_cli_program *program) {
  nai_buf_puts(out, ".SH EXIT STATUS\n");
  for (const struct nai_cli_exit *e = program->exits; e->status; e++) {
    nai_buf_printf(out, ".TP\n.B %s\n", e->status);
    put_line(out, e->meaning);
  }
}

/* Title and name. */
static void put_head(struct nai_buf *out, const struct nai_cli_program *program, const struct nai_cli_command *c,
                     const char *about) {
  nai_buf_puts(out, ".TH ");
  put_upper(out, program->name);
  if (c && c->name) {
    nai_buf_puts(out, "\\-");
    put_upper(out, c->name);
  }
  nai_buf_printf(out, " 1 \"\" \"%s %s\" \"User Commands\"\n.SH NAME\n", program->name, program->version);
  put_name(out, program, c, '-');
  nai_buf_puts(out, " \\- ");
  put_text(out, about);
  nai_buf_puts(out, "\n.SH SYNOPSIS\n");
}

/* What it does, its operands and its options. */
static void put_body(struct nai_buf *out, const struct nai_cli_command *c) {
  NAI_FREED void *defaults = nai_cli_new_args(c);
  out->oom |= !defaults;
  nai_buf_puts(out, ".SH DESCRIPTION\n");
  put_paragraphs(out, c->description);
  put_operands(out, c);
  nai_buf_puts(out, ".SH OPTIONS\n");
  put_options(out, c->options, defaults);
  put_options(out, nai_cli_common, NULL);
  put_examples(out, c->examples);
}

static void put_reference(struct nai_buf *out, const struct nai_cli_program *program, const struct nai_cli_command *c) {
  nai_buf_puts(out, ".BR ");
  put_name(out, program, c, '-');
  nai_buf_puts(out, " (1)");
}

/* The command that need not be named. */
static void put_implied(struct nai_buf *out, const struct nai_cli_program *program) {
  nai_buf_puts(out, ".br\n.B ");
  put_name(out, program, NULL, ' ');
  nai_buf_puts(out, "\n[\\fIOPTION\\fR]...\n");
  put_line(out, program->implied->synopsis);
}

/* Of a program with one job: its page is the job's. */
static void put_job(struct nai_buf *out, const struct nai_cli_program *program) {
  put_head(out, program, NULL, program->title);
  put_synopsis(out, program, program->implied);
  for (size_t i = 0; program->commands[i]; i++) {
    nai_buf_puts(out, ".br\n");
    put_synopsis(out, program, program->commands[i]);
  }
  put_body(out, program->implied);
}

/* Of a program with many: what they are, and where each is explained. */
static void put_overview(struct nai_buf *out, const struct nai_cli_program *program) {
  put_head(out, program, NULL, program->title);
  nai_buf_puts(out, ".B ");
  put_name(out, program, NULL, ' ');
  nai_buf_puts(out, "\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIOPERAND\\fR]...\n");
  if (program->implied) {
    put_implied(out, program);
  }
  nai_buf_puts(out, ".SH DESCRIPTION\n");
  put_paragraphs(out, program->description);
  nai_buf_puts(out, "Every command takes \\fB\\-h\\fR, \\fB\\-\\-help\\fR and \\fB\\-\\-version\\fR.\n.SH COMMANDS\n");
  for (size_t i = 0; program->commands[i]; i++) {
    nai_buf_puts(out, ".TP\n");
    put_reference(out, program, program->commands[i]);
    nai_buf_putc(out, '\n');
    put_line(out, program->commands[i]->summary);
  }
  put_examples(out, program->examples);
}

void nai_cli_man(struct nai_buf *out, const struct nai_cli_program *program, const struct nai_cli_command *command) {
  bool job = program->implied && !program->implied->name;
  if (command) {
    put_head(out, program, command, command->summary);
    put_synopsis(out, program, command);
    if (command == program->implied) {
      put_implied(out, program);
    }
    put_body(out, command);
  } else if (job) {
    put_job(out, program);
  } else {
    put_overview(out, program);
  }
  put_exits(out, program);
  if (command) {
    nai_buf_puts(out, ".SH SEE ALSO\n");
    put_reference(out, program, NULL);
    nai_buf_putc(out, '\n');
  }
}
