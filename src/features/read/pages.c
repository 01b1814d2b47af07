/* nsys-ai page, and the built-in pages that are commands: several answers under one title. */
#include "features/read/read.h"

#include "pipeline/analyze.h"
#include "base/escape.h"
#include "report/report.h"

struct page_args {
  struct nai_cmd_ask ask;
  const char *page; /* of the commands that are one; else the first operand names it */
};

static void init(void *memory) { nai_cmd_ask_init(&((struct page_args *)memory)->ask); }
#define NAI_CLI_ARGS struct page_args
#define COMMON_OPTIONS                                                                                                \
  NAI_CMD_GPU_OPTION, NAI_CMD_PAGE_FORMAT_OPTION, NAI_CMD_SKILLS_OPTION, NAI_CMD_EXPORT_OPTION, NAI_CMD_QUIET_OPTION, \
  {                                                                                                                   \
    0                                                                                                                 \
  }
/* Pages of the user's may look at a stretch, those that are commands are of the whole run. */
static const struct nai_cli_option options[] = {NAI_CMD_WINDOW_OPTION, COMMON_OPTIONS};
static const struct nai_cli_option command_options[] = {COMMON_OPTIONS};

/* What is being printed. */
struct printing {
  struct nai_buf *out;
  const struct nai_skills *skills;
  struct nai_run *run;
  const struct nai_cmd_ask *ask;
  const char *what; /* :what, or NULL */
  enum nai_rows_format format;
  const struct nai_page_block *block;
  struct nai_arena *arena;
  struct nai_skill_cell *cells; /* of a row that becomes a line; the arena's */
  uint32_t count;
};

/* --- rows as lines ---------------------------------------------------------------------------------- */

static int begin_lines(void *ctx, const struct nai_query_column *columns, uint32_t count, struct nai_err *err) {
  struct printing *p = ctx;
  p->count = count;
  NAI_TRY(NAI_NEW(p->cells, p->arena, count, err));
  for (uint32_t i = 0; i < count; i++)
    p->cells[i] = (struct nai_skill_cell){
        .name = columns[i].name, .unit = columns[i].unit, .into_markdown = p->format == NAI_ROWS_MARKDOWN};
  return NAI_OK;
}

static int put_line(void *ctx, const struct nai_value *cells, struct nai_err *err) {
  struct printing *p = ctx;
  for (uint32_t i = 0; i < p->count; i++)
    p->cells[i].value = cells[i];
  NAI_SCOPED(nai_buf) line = {0};
  nai_skill_line(&line, p->block->line, p->cells, p->count, 1,
                 p->format == NAI_ROWS_MARKDOWN ? nai_escape_markdown : nai_escape_terminal);
  if (p->format == NAI_ROWS_MARKDOWN)
    nai_buf_printf(p->out, "%s\n\n", nai_buf_str(&line));
  else
    nai_cmd_put_wrapped(p->out, nai_buf_str(&line), line.len, 2);
  p->out->oom |= line.oom;
  return nai_buf_check(p->out, err);
}

/* --- blocks ----------------------------------------------------------------------------------------- */

static bool is_for_people(const struct printing *p) {
  return p->format == NAI_ROWS_TABLE || p->format == NAI_ROWS_MARKDOWN;
}

static int print_statement(struct printing *p, struct nai_err *err) {
  const struct nai_skill_request request = nai_cmd_request(p->run, p->ask);
  struct nai_query_parameter parameters[NAI_SKILL_MAX_PARAMETERS + NAI_SKILL_ALWAYS + 1];
  const struct nai_cmd_printing how = {.format = p->format,
                                       .human = true,
                                       .titles = true,
                                       .width = nai_cmd_terminal_width(),
                                       .title = p->block->title ? p->block->title : "",
                                       .none = p->block->none ? p->block->none : "none"};
  int64_t shown = p->block->rows && is_for_people(p) ? p->block->rows : -1;
  struct nai_query query = {
      .run = p->run, .text = &p->block->text, .parameters = parameters, .limits = {.rows = shown}};
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  bool truncated;
  p->arena = &arena;
  NAI_TRY(nai_skill_bind(parameters, &query.parameter_count, NULL, &request, err));
  if (p->what)
    parameters[query.parameter_count++] = nai_query_string("what", p->what);
  NAI_TRY(p->block->line && is_for_people(p)
              ? nai_query_run(&truncated, &query, &(struct nai_query_sink){begin_lines, put_line, p}, err)
              : nai_cmd_query(&truncated, p->out, &query, &how, err));
  if (truncated && shown >= 0)
    nai_buf_printf(p->out, "the first %" PRId64 " rows; --format csv or json has all\n", shown);
  return NAI_OK;
}

static int print_skill(struct printing *p, struct nai_err *err) {
  struct nai_skill_request request = nai_cmd_request(p->run, p->ask);
  NAI_SCOPED(nai_skill_answer) answer = {0};
  struct nai_cmd_ask ask = *p->ask;
  const struct nai_skill *skill;
  NAI_TRY(nai_skills_find(&skill, p->skills, p->block->skill, err));
  ask.format = (int)p->format;
  ask.title = p->block->title ? p->block->title : "";
  ask.none = p->block->none;
  if (!strstr(skill->text.sql, ":gpu"))
    request.has_gpu = false;
  NAI_TRY(nai_skill_ask(&answer, skill, &request, err));
  return answer.table ? nai_cmd_print_table(p->out, answer.table, &ask, err)
                      : nai_cmd_print_answer(p->out, skill, &answer, &ask, err);
}

static int print_verdict(struct printing *p, struct nai_err *err) {
  const struct nai_schema *schemas[NAI_REPORT_MAX_TABLES];
  const struct nai_table *tables[NAI_REPORT_MAX_TABLES];
  size_t count = nai_report_schemas(schemas, NAI_STAGE_TIMELINE);
  NAI_SCOPED(nai_buf) text = {0};
  enum nai_severity severity;
  struct nai_json json;
  size_t n = 0;
  for (size_t i = 0; i < count; i++) { /* the verdict says nothing of tables a run lacks */
    NAI_TRY(nai_run_table_if_any(&tables[n], p->run, schemas[i]->name, schemas[i], err));
    n += tables[n] != NULL;
  }
  nai_report_verdict(&text, &severity,
                     &(struct nai_report){.tables = tables, .table_count = n, .version = NAI_VERSION});
  if (p->format == NAI_ROWS_JSON) {
    nai_json_open(&json, p->out, NAI_JSON_INLINE);
    nai_json_put_text(&json, "title", "Verdict");
    nai_json_put_text(&json, "text", nai_buf_str(&text));
    nai_json_close(&json);
  } else if (p->format == NAI_ROWS_MARKDOWN) {
    nai_escape_markdown(p->out, nai_buf_str(&text), text.len);
    nai_buf_putc(p->out, '\n');
  } else if (p->format == NAI_ROWS_TABLE) {
    NAI_SCOPED(nai_buf) clean = {0};
    nai_escape_terminal(&clean, nai_buf_str(&text), text.len);
    nai_cmd_put_wrapped(p->out, nai_buf_str(&clean), clean.len, 0);
    p->out->oom |= clean.oom;
  }
  p->out->oom |= text.oom;
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
  if (!title || !is_for_people(p))
    return;
  nai_buf_puts(p->out, p->format == NAI_ROWS_MARKDOWN ? "## " : "");
  nai_buf_puts(p->out, title);
  nai_buf_puts(p->out, p->format == NAI_ROWS_MARKDOWN ? "\n\n" : "\n");
}

static int print_page(struct printing *p, const struct nai_skill *page, struct nai_err *err) {
  NAI_SCOPED(nai_json) json = {0};
  if (p->format == NAI_ROWS_JSON) {
    nai_json_open(&json, p->out, NAI_JSON_INLINE);
    nai_json_put_text(&json, "page", page->id);
    nai_json_put_text(&json, "title", page->title);
    nai_json_put_array(&json, "blocks", NAI_JSON_INLINE);
  } else if (p->format == NAI_ROWS_MARKDOWN) {
    nai_buf_printf(p->out, "# %s\n\n", page->title);
  }
  for (size_t i = 0; i < page->block_count; i++) {
    p->block = &page->blocks[i];
    if (p->format == NAI_ROWS_CSV && !p->block->text.sql && !p->block->skill)
      continue; /* the verdict is no table */
    put_between(p, i, i ? &page->blocks[i - 1] : NULL);
    NAI_TRY(p->block->text.sql ? print_statement(p, err)
            : p->block->skill  ? print_skill(p, err)
                               : print_verdict(p, err));
  }
  if (p->format == NAI_ROWS_JSON) {
    nai_json_end(&json);
    nai_json_close(&json);
  }
  return NAI_OK;
}

/* --- the command ------------------------------------------------------------------------------------ */

static int list_pages(struct nai_buf *out, const struct nai_skills *skills, struct nai_err *err) {
  NAI_SCOPED(nai_buf) lines = {0};
  for (uint32_t i = 0; i < skills->pages.count; i++)
    nai_buf_printf(&lines, "%-12s  %s (%s)\n", skills->pages.all[i]->id, skills->pages.all[i]->description,
                   skills->pages.all[i]->source);
  nai_cmd_put_lines(out, &lines);
  return nai_buf_check(out, err);
}

/* NAI_EUSAGE when a window is asked for of a page that does not look at it. */
static int check_window(const struct nai_skill *page, const struct nai_cmd_ask *ask, struct nai_err *err) {
  if (!ask->window.given)
    return NAI_OK;
  for (size_t i = 0; i < page->block_count; i++)
    if (page->blocks[i].text.sql && strstr(page->blocks[i].text.sql, ":start_ns"))
      return NAI_OK;
  return nai_err_set(err, NAI_EUSAGE,
                     "page %s is of the whole run, and takes no --window; analyze --trim makes a run of a stretch",
                     page->id);
}

static int answer(struct nai_buf *out, const struct nai_skills *skills, struct page_args *args, const char *id,
                  const char *source, struct nai_err *err) {
  const struct nai_skill *page;
  NAI_OWNED(nai_run) *run = NULL;
  NAI_TRY(nai_skills_page(&page, skills, id, err));
  NAI_TRY(check_window(page, &args->ask, err));
  NAI_TRY(nai_cmd_source_open(&run, source, &(struct nai_cmd_source){.quiet = args->ask.quiet}, err));
  NAI_TRY(nai_cmd_check_asked(&args->ask, run, err));
  struct printing p = {
      .out = out, .skills = skills, .run = run, .ask = &args->ask, .format = nai_cmd_page_format(args->ask.format)};
  return nai_cmd_blame_build(print_page(&p, page, err), run, err);
}

int nai_cmd_print_page(struct nai_buf *out, const char *id, struct nai_run *run, const char *what,
                       const struct nai_cmd_ask *ask, struct nai_err *err) {
  NAI_SCOPED(nai_skills) skills = {0};
  const struct nai_skill *page;
  struct printing p = {
      .out = out, .skills = &skills, .run = run, .ask = ask, .what = what, .format = nai_cmd_page_format(ask->format)};
  NAI_TRY(nai_skills_load(&skills, NULL, 0, err));
  NAI_TRY(nai_skills_page(&page, &skills, id, err));
  return print_page(&p, page, err);
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  struct page_args *args = memory;
  NAI_SCOPED(nai_skills) skills = {0};
  NAI_SCOPED(nai_buf) out = {0};
  const char *id = args->page ? args->page : operands[0];
  NAI_TRY(nai_cmd_load_skills(&skills, &args->ask, err));
  bool list = !args->page && count == 1;
  NAI_TRY(list ? list_pages(&out, &skills, err) : answer(&out, &skills, args, id, operands[count - 1], err));
  NAI_SCOPED(nai_buf) json = {0};
  if (list && nai_cmd_page_format(args->ask.format) == NAI_ROWS_JSON)
    NAI_TRY(nai_cmd_put_text_json(&json, "all", &out, err));
  return nai_cmd_print(json.len ? &json : &out, err);
}

static int check_page(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  (void)memory;
  if (count == 1 && strcmp(operands[0], "list") != 0)
    return nai_err_set(err, NAI_EUSAGE, "page takes the name of a page and a run or a trace, or list");
  return NAI_OK;
}

/* A command that is a page. */
#define PAGE(id, what, text)                                                                                \
  static void init_##id(void *memory) {                                                                     \
    init(memory);                                                                                           \
    ((struct page_args *)memory)->page = #id;                                                               \
  }                                                                                                         \
  NAI_CLI_COMMAND(nai_cmd_##id, .name = #id, .synopsis = "SRC", .summary = what,                            \
                  .description = text " " NAI_CMD_ABOUT_SOURCE,                                             \
                  .examples = "nsys-ai " #id " artifacts/run1\nnsys-ai " #id " trace.sqlite --format json", \
                  .options = command_options, NAI_CMD_ONE_SOURCE, .init = init_##id, .run = run)

PAGE(info, "what a trace is: capture, GPUs, processes, what it lacks",
     "Prints what was captured, on which GPUs and by which processes, and what the trace lacks.")
PAGE(summary, "where the time went, on one page",
     "Prints each GPU's window by compute, exposed communication, exposed copies and idle time, the kernels with "
     "most time, the streams, and the verdict.")
PAGE(overlap, "how much of communication and copies overlaps with compute",
     "Prints how much of the communication and of the copies ran beside computation, and how much did not.")
PAGE(nccl, "communication by operation, stream and range",
     "Prints what communication took on each GPU, by operation, stream and the range that launched it, and how much of "
     "it is exposed.")
PAGE(iters, "steps of training or inference, one by one",
     "Prints the steps of the program as they were found, what a typical one consists of, and the first 50; "
     "--format csv and json have all.")
PAGE(suggest, "where further NVTX ranges would help",
     "Prints which threads launch kernels outside of any NVTX range, which ranges are too wide to explain what "
     "they launch, and how to add ranges.")

NAI_CLI_COMMAND(
    nai_cmd_pages, .name = "page", .synopsis = "NAME SRC | list",
    .summary = "print a page: several answers under one title",
    .description =
        "A page is a YAML file of statements and skills (docs/writing-skills.md); info, summary, overlap, nccl and "
        "iters are built in. " NAI_CMD_ABOUT_SOURCE,
    .examples =
        "nsys-ai page list\nnsys-ai page summary artifacts/run1\nnsys-ai page mine artifacts/run1 --skills mine.yaml",
    .options = options, NAI_CLI_OPERANDS(1, 2, {.name = "NAME", .choices = nai_cmd_page_names}, NAI_CMD_SOURCE("SRC")),
    .init = init, .check = check_page, .run = run)
