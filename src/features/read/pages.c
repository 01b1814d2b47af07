/* nsys-ai page, and the built-in pages that are commands: several answers under one title. */
#include "features/read/read.h"

#include "pipeline/analyze.h"
#include "base/escape.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct page_args {
  struct nai_cmd_ask ask;
  const char *page; /* of the commands that are one; else the first operand names it */
};

static void init(void *memory) { nai_cmd_ask_init(&((struct page_args *)memory)->ask); }
static void init_page(void *memory, const char *page) {
  init(memory);
  ((struct page_args *)memory)->page = page;
}
static void init_info(void *memory) { init_page(memory, "info"); }
static void init_summary(void *memory) { init_page(memory, "summary"); }
static void init_suggest(void *memory) { init_page(memory, "suggest"); }
static void init_overlap(void *memory) { init_page(memory, "overlap"); }
static void init_nccl(void *memory) { init_page(memory, "nccl"); }
static void init_iters(void *memory) { init_page(memory, "iters"); }

#define ASK offsetof(struct page_args, ask)
static const struct nai_cli_option options[] = {
    NAI_CMD_GPU_OPTION(ASK),    NAI_CMD_WINDOW_OPTION(ASK), NAI_CMD_PAGE_FORMAT_OPTION(ASK),
    NAI_CMD_SKILLS_OPTION(ASK), NAI_CMD_QUIET_OPTION(ASK),  {0},
};

/* What is being printed. */
struct printing {
  struct nai_buf *out;
  const struct nai_skills *skills;
  struct nai_run *run;
  const struct nai_cmd_ask *ask;
  const char *what; /* :what, or NULL */
  enum nai_rows_format format;
  const struct nai_page_block *block;
  struct nai_skill_cell *cells; /* of a row that becomes a line */
  uint32_t count;
};

/* --- rows as lines ---------------------------------------------------------------------------------- */

static int begin_lines(void *ctx, const struct nai_query_column *columns, uint32_t count, struct nai_err *err) {
  struct printing *p = ctx;
  p->cells = calloc((size_t)count + 1, sizeof *p->cells);
  p->count = count;
  for (uint32_t i = 0; p->cells && i < count; i++)
    p->cells[i] = (struct nai_skill_cell){
        .name = columns[i].name, .unit = columns[i].unit, .into_markdown = p->format == NAI_ROWS_MARKDOWN};
  return p->cells ? NAI_OK : nai_err_nomem(err);
}

static int put_line(void *ctx, const struct nai_value *cells, struct nai_err *err) {
  struct printing *p = ctx;
  for (uint32_t i = 0; i < p->count; i++)
    p->cells[i].value = cells[i];
  nai_skill_line(p->out, p->block->line, p->cells, p->count, 1,
                 p->format == NAI_ROWS_MARKDOWN ? nai_escape_markdown : nai_escape_terminal);
  nai_buf_puts(p->out, p->format == NAI_ROWS_MARKDOWN ? "\n\n" : "\n");
  return nai_buf_check(p->out, err);
}

/* --- blocks ----------------------------------------------------------------------------------------- */

static int64_t shown_rows(const struct printing *p) {
  bool for_people = p->format == NAI_ROWS_TABLE || p->format == NAI_ROWS_MARKDOWN;
  return p->block->rows && for_people ? p->block->rows : -1;
}

static int print_statement(struct printing *p, struct nai_err *err) {
  const struct nai_skill_request request = nai_cmd_request(p->run, p->ask);
  struct nai_query_parameter parameters[NAI_SKILL_MAX_PARAMETERS + NAI_SKILL_ALWAYS + 1];
  const struct nai_cmd_printing how = {.format = p->format,
                                       .human = true,
                                       .width = nai_cmd_terminal_width(),
                                       .title = p->block->title ? p->block->title : "",
                                       .none = p->block->none ? p->block->none : "none"};
  struct nai_query query = {
      .run = p->run, .text = &p->block->text, .parameters = parameters, .limits = {.rows = shown_rows(p)}};
  bool lines = p->block->line && (p->format == NAI_ROWS_TABLE || p->format == NAI_ROWS_MARKDOWN), truncated;
  int rc = nai_skill_bind(parameters, &query.parameter_count, NULL, &request, err);
  if (!rc && p->what)
    parameters[query.parameter_count++] = (struct nai_query_parameter){"what", {.type = NAI_STR, .s = p->what}};
  if (!rc)
    rc = lines ? nai_query_run(&truncated, &query, &(struct nai_query_sink){begin_lines, put_line, p}, err)
               : nai_cmd_query(&truncated, p->out, &query, &how, err);
  if (!rc && truncated && shown_rows(p) >= 0)
    nai_buf_printf(p->out, "the first %" PRId64 " rows; --format csv or json has all\n", p->block->rows);
  free(p->cells);
  p->cells = NULL;
  return rc;
}

static int print_skill(struct printing *p, struct nai_err *err) {
  struct nai_skill_request request = nai_cmd_request(p->run, p->ask);
  struct nai_skill_answer answer = {0};
  struct nai_cmd_ask ask = *p->ask;
  const struct nai_skill *skill;
  int rc = nai_skills_find(&skill, p->skills, p->block->skill, err);
  ask.format = (int)p->format;
  ask.title = p->block->title ? p->block->title : "";
  ask.none = p->block->none;
  if (!rc && !strstr(skill->text.sql, ":gpu"))
    request.has_gpu = false;
  if (!rc)
    rc = nai_skill_ask(&answer, skill, &request, err);
  if (!rc && answer.table)
    rc = nai_cmd_print_table(p->out, answer.table, &ask, err);
  else if (!rc)
    rc = nai_cmd_print_answer(p->out, skill, &answer, &ask, err);
  nai_skill_answer_free(&answer);
  return rc;
}

static int print_verdict(struct printing *p, struct nai_err *err) {
  const struct nai_schema *schemas[NAI_REPORT_MAX_TABLES];
  const struct nai_table *tables[NAI_REPORT_MAX_TABLES];
  size_t count = nai_report_schemas(schemas, NAI_STAGE_TIMELINE);
  struct nai_buf text = {0};
  enum nai_severity severity;
  struct nai_json json;
  size_t n = 0;
  int rc = NAI_OK;
  for (size_t i = 0; i < count && !rc; i++) { /* the verdict says nothing of tables a run lacks */
    rc = nai_run_table_if_any(&tables[n], p->run, schemas[i]->name, schemas[i], err);
    n += !rc && tables[n];
  }
  if (rc)
    return rc;
  nai_report_verdict(&text, &severity,
                     &(struct nai_report){.tables = tables, .table_count = n, .version = NAI_VERSION});
  if (p->format == NAI_ROWS_JSON) {
    nai_json_init(&json, p->out, false);
    nai_json_begin_object(&json, NAI_JSON_INLINE);
    nai_json_put_text(&json, "title", "Verdict");
    nai_json_put_text(&json, "text", nai_buf_str(&text));
    nai_json_end(&json);
    nai_json_finish(&json);
    nai_buf_putc(p->out, '\n');
  } else if (p->format == NAI_ROWS_MARKDOWN) {
    nai_escape_markdown(p->out, nai_buf_str(&text), text.len);
    nai_buf_putc(p->out, '\n');
  } else if (p->format == NAI_ROWS_TABLE) {
    nai_escape_terminal(p->out, nai_buf_str(&text), text.len);
    nai_buf_putc(p->out, '\n');
  }
  p->out->oom |= text.oom;
  nai_buf_free(&text);
  return nai_buf_check(p->out, err);
}

/* What stands between two blocks. */
static void put_between(struct printing *p, size_t i, const struct nai_page_block *before) {
  const char *title = p->block->title;
  bool lines = before && before->line && p->block->line && !title; /* lines of text belong together */
  if (p->format == NAI_ROWS_JSON)
    nai_buf_puts(p->out, i ? "," : "");
  else if (p->out->len && !(lines && p->format == NAI_ROWS_TABLE))
    nai_buf_putc(p->out, '\n');
  if (!title || (p->format != NAI_ROWS_TABLE && p->format != NAI_ROWS_MARKDOWN))
    return;
  nai_buf_puts(p->out, p->format == NAI_ROWS_MARKDOWN ? "## " : "");
  nai_buf_puts(p->out, title);
  nai_buf_puts(p->out, p->format == NAI_ROWS_MARKDOWN ? "\n\n" : "\n");
}

static int print_page(struct printing *p, const struct nai_page *page, struct nai_err *err) {
  struct nai_json json;
  int rc = NAI_OK;
  if (p->format == NAI_ROWS_JSON) {
    nai_json_init(&json, p->out, false);
    nai_json_begin_object(&json, NAI_JSON_INLINE);
    nai_json_put_text(&json, "page", page->id);
    nai_json_put_text(&json, "title", page->title);
    nai_json_key(&json, "blocks");
    nai_json_begin_array(&json, NAI_JSON_INLINE);
  } else if (p->format == NAI_ROWS_MARKDOWN) {
    nai_buf_printf(p->out, "# %s\n\n", page->title);
  }
  for (size_t i = 0; i < page->block_count && !rc; i++) {
    p->block = &page->blocks[i];
    if (p->format == NAI_ROWS_CSV && !p->block->text.sql && !p->block->skill)
      continue; /* the verdict is no table */
    put_between(p, i, i ? &page->blocks[i - 1] : NULL);
    rc = p->block->text.sql ? print_statement(p, err) : p->block->skill ? print_skill(p, err) : print_verdict(p, err);
  }
  if (p->format == NAI_ROWS_JSON) {
    nai_json_end(&json);
    nai_json_end(&json);
    nai_json_finish(&json);
    nai_buf_putc(p->out, '\n');
  }
  return rc;
}

/* --- the command ------------------------------------------------------------------------------------ */

static int list_pages(struct nai_buf *out, const struct nai_skills *skills, struct nai_err *err) {
  for (uint32_t i = 0; i < skills->page_count; i++)
    nai_buf_printf(out, "%-12s  %s (%s)\n", skills->pages[i]->id, skills->pages[i]->description,
                   skills->pages[i]->source);
  return nai_buf_check(out, err);
}

/* NAI_EUSAGE when a window is asked for of a page that does not look at it. */
static int check_window(const struct nai_page *page, const struct nai_cmd_ask *ask, struct nai_err *err) {
  for (size_t i = 0; ask->windowed && i < page->block_count; i++)
    if (page->blocks[i].text.sql && strstr(page->blocks[i].text.sql, ":start_ns"))
      return NAI_OK;
  return ask->windowed
           ? nai_err_set(err, NAI_EUSAGE, "page %s takes no --window: nothing of it looks at :start_ns and :end_ns",
                         page->id)
           : NAI_OK;
}

static int answer(struct nai_buf *out, const struct nai_skills *skills, const struct page_args *args, const char *id,
                  const char *source, struct nai_err *err) {
  const struct nai_page *page;
  struct printing p = {
      .out = out, .skills = skills, .ask = &args->ask, .format = nai_cmd_page_format(args->ask.format)};
  int rc = nai_skills_page(&page, skills, id, err);
  if (!rc)
    rc = check_window(page, &args->ask, err);
  if (!rc)
    rc = nai_cmd_source_open(&p.run, source, &(struct nai_cmd_source){.quiet = args->ask.quiet}, err);
  if (!rc)
    rc = nai_cmd_check_asked(&args->ask, p.run, err);
  if (!rc)
    rc = nai_cmd_blame_build(print_page(&p, page, err), p.run, err);
  nai_run_close(p.run);
  return rc;
}

int nai_cmd_print_page(struct nai_buf *out, const char *id, struct nai_run *run, const char *what,
                       const struct nai_cmd_ask *ask, struct nai_err *err) {
  struct nai_skills skills;
  const struct nai_page *page;
  struct printing p = {
      .out = out, .skills = &skills, .run = run, .ask = ask, .what = what, .format = nai_cmd_page_format(ask->format)};
  int rc = nai_skills_load(&skills, NULL, 0, err);
  if (!rc)
    rc = nai_skills_page(&page, &skills, id, err);
  if (!rc)
    rc = print_page(&p, page, err);
  nai_skills_free(&skills);
  return rc;
}

static int run(void *memory, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  const struct page_args *args = memory;
  struct nai_skills skills;
  struct nai_buf out = {0};
  const char *id = args->page ? args->page : operands[0];
  (void)program;
  int rc = nai_skills_load(&skills, args->ask.skills, args->ask.skill_count, err);
  if (!rc)
    rc = !args->page && count == 1 ? list_pages(&out, &skills, err)
                                   : answer(&out, &skills, args, id, operands[count - 1], err);
  if (!rc)
    rc = nai_cmd_print(&out, err);
  nai_buf_free(&out);
  nai_skills_free(&skills);
  return rc;
}

static int check_page(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  (void)memory;
  if (count == 1 && strcmp(operands[0], "list") != 0)
    return nai_err_set(err, NAI_EUSAGE, "page takes the name of a page and a run or a trace, or list");
  return NAI_OK;
}

static const struct nai_cli_operand source[] = {
    {.name = "SRC", .hint = NAI_CLI_FILE, .suffixes = NAI_CMD_TRACE_SUFFIXES}, {0}};

#define ABOUT_SRC " SRC is an artifacts directory or a trace, which is analysed for this answer only."
#define PAGE(id, what, text)                                                                                      \
  {                                                                                                               \
    .name = #id, .synopsis = "SRC", .summary = what, .description = text ABOUT_SRC,                               \
    .examples = "nsys-ai " #id " artifacts/run1\nnsys-ai " #id " trace.sqlite --format json", .options = options, \
    .operands = source, .min_operands = 1, .max_operands = 1, .args_size = sizeof(struct page_args),              \
    .init = init_##id, .run = run                                                                                 \
  }

const struct nai_cli_command nai_cmd_info =
    PAGE(info, "what a trace is: capture, GPUs, processes, what it lacks",
         "Prints what was captured, on which GPUs and by which processes, and what the trace lacks.");
const struct nai_cli_command nai_cmd_summary =
    PAGE(summary, "where the time went, on one page",
         "Prints each GPU's window by compute, exposed communication, exposed copies and idle time, the kernels with "
         "most time, the streams, and the verdict.");
const struct nai_cli_command nai_cmd_overlap =
    PAGE(overlap, "what of communication and copies is hidden behind computation",
         "Prints how much of the communication and of the copies ran beside computation, and how much did not.");

const struct nai_cli_command nai_cmd_nccl = PAGE(
    nccl, "communication by operation, stream and range",
    "Prints what communication took on each GPU, by operation, stream and the range that launched it, and how much of "
    "it nothing hides.");
const struct nai_cli_command nai_cmd_iters =
    PAGE(iters, "steps of training or inference, one by one",
         "Prints the steps of the program as they were found, what a typical one consists of, and the first 50; "
         "--format csv and json have all.");

const struct nai_cli_command nai_cmd_suggest =
    PAGE(suggest, "where further NVTX ranges would help",
         "Prints which threads launch kernels outside of any NVTX range, which ranges are too wide to explain what "
         "they launch, and how to add ranges.");

const struct nai_cli_command nai_cmd_pages = {
    .name = "page",
    .synopsis = "NAME SRC | list",
    .summary = "print a page: several answers under one title",
    .description =
        "A page is a YAML file of statements and skills (docs/writing-skills.md); info, summary, overlap, nccl and "
        "iters are built in." ABOUT_SRC,
    .examples =
        "nsys-ai page list\nnsys-ai page summary artifacts/run1\nnsys-ai page mine artifacts/run1 --skills mine.yaml",
    .options = options,
    .operands =
        (const struct nai_cli_operand[]){{.name = "NAME", .choices = nai_cmd_page_names},
                                         {.name = "SRC", .hint = NAI_CLI_FILE, .suffixes = NAI_CMD_TRACE_SUFFIXES},
                                         {0}},
    .min_operands = 1,
    .max_operands = 2,
    .args_size = sizeof(struct page_args),
    .init = init,
    .check = check_page,
    .run = run,
};
