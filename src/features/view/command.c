/* nsys-ai view: timeline and tree in the terminal. */
#include "features/read/read.h"
#include "features/read/tree.h"

#include "base/fs.h"
#include "base/threads.h"
#include "pipeline/analyze.h"
#include "rules/rules.h"
#include "features/view/display.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_GPUS = 64 };

struct view_args {
  struct nai_cmd_ask ask;
  struct nai_term_options view;
  int64_t gpus[MAX_GPUS];
  size_t gpu_count;
  bool once, ascii, keys;
  int width, height, color;
};

static void init(void *memory) {
  struct view_args *args = memory;
  nai_cmd_ask_init(&args->ask);
  args->view.start_ns = args->view.at_ns = INT64_MIN;
  args->width = args->height = -1;
}

static int set_trim(void *memory, const struct nai_cli_option *option, const char *const *values, struct nai_err *err) {
  struct nai_term_options *o = &((struct view_args *)memory)->view;
  return nai_cli_read_stretch(&o->start_ns, &o->end_ns, option, values, err);
}
static const struct nai_cli_type trim = {set_trim, NULL};

static int set_at(void *memory, const struct nai_cli_option *option, const char *const *values, struct nai_err *err) {
  double at = 0;
  int rc = nai_cli_read_number(&at, option, values[0], err);
  ((struct view_args *)memory)->view.at_ns = (int64_t)llround(at * 1e9);
  return rc;
}
static const struct nai_cli_type moment = {set_at, NULL};

static const char *color_name(size_t i, const char *before) {
  static const char *const names[] = {"auto", "always", "never"};
  (void)before;
  return i < sizeof names / sizeof *names ? names[i] : NULL;
}
enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

static const char *format_name(size_t i, const char *before) {
  static const char *const names[] = {"text", "json"};
  (void)before;
  return i < sizeof names / sizeof *names ? names[i] : NULL;
}

static const char *what_name(size_t i, const char *before) {
  static const char *const names[] = {"timeline", "tree"};
  (void)before;
  return i < sizeof names / sizeof *names ? names[i] : NULL;
}

#define AT(field) .at = offsetof(struct view_args, field)
static const struct nai_cli_option options[] = {
    {.name = "once", .help = "print the rows as text, once, instead of showing them", .type = &nai_cli_on, AT(once)},
    {.name = "format",
     .value = "FORMAT",
     .help = "with --once: rows as text, or the busy time of their cells as JSON",
     .type = &nai_cli_choice,
     AT(ask.format),
     .choices = format_name},
    {.name = "gpu",
     .value = "N",
     .help = "rows of this GPU only; repeatable",
     .type = &nai_cli_ints,
     AT(gpus),
     .count_at = offsetof(struct view_args, gpu_count),
     .most = MAX_GPUS,
     .min = -1,
     .max = INT32_MAX,
     .otherwise = "all"},
    {.name = "trim",
     .value = "START END",
     .help = "begin with this window, in seconds since session start",
     .type = &trim,
     .min = -1000000000,
     .max = 1000000000,
     .otherwise = "what the GPUs did"},
    {.name = "at",
     .value = "SECOND",
     .help = "begin with the cursor there",
     .type = &moment,
     .min = -1000000000,
     .max = 1000000000,
     .otherwise = "in the middle"},
    {.name = "range",
     .value = "NAME",
     .help = "begin with the first NVTX range of this name as the window",
     .type = &nai_cli_text,
     AT(view.range)},
    {.name = "width",
     .value = "N",
     .help = "with --once: columns",
     .type = &nai_cli_int,
     AT(width),
     .min = 40,
     .max = 1000,
     .otherwise = "those of the terminal, or 100"},
    {.name = "height",
     .value = "N",
     .help = "with --once: lines of rows at most",
     .type = &nai_cli_int,
     AT(height),
     .min = 3,
     .max = 10000,
     .otherwise = "as many as there are"},
    {.name = "ascii",
     .help = "draw with ASCII characters only",
     .type = &nai_cli_on,
     AT(ascii),
     .otherwise = "where the locale is not UTF-8"},
    {.name = "color",
     .value = "WHEN",
     .help = "whether categories have colours; nothing is told by colour alone",
     .type = &nai_cli_choice,
     AT(color),
     .choices = color_name},
    {.name = "keys", .help = "print the table of keys, and nothing else", .type = &nai_cli_on, AT(keys)},
    NAI_CMD_QUIET_OPTION(offsetof(struct view_args, ask)),
    {0},
};

/* --- what is shown ------------------------------------------------------------------------------------ */

/* The evidence that has a place, by finding; texts are borrowed from the run. */
static int collect_places(struct nai_term_place **out, struct nai_term_options *view, struct nai_run *run,
                          struct nai_err *err) {
  const struct nai_table *findings, *evidence;
  int rc = nai_run_table(&findings, run, nai_findings_schema.name, &nai_findings_schema, err);
  if (!rc)
    rc = nai_run_table(&evidence, run, nai_evidence_schema.name, &nai_evidence_schema, err);
  if (rc)
    return rc;
  struct nai_term_place *places = calloc((size_t)evidence->rows + 1, sizeof *places);
  if (!places)
    return nai_err_nomem(err);
  size_t count = 0;
  for (int64_t f = 0; f < findings->rows; f++)
    for (int64_t e = 0; e < evidence->rows; e++) {
      int64_t start = nai_get_i64(evidence, e, EVIDENCE_start_ns), end = nai_get_i64(evidence, e, EVIDENCE_end_ns);
      if (nai_get_i64(evidence, e, EVIDENCE_finding) != nai_get_i64(findings, f, FINDINGS_finding) ||
          start == NAI_NULL_I64 || end == NAI_NULL_I64)
        continue;
      places[count++] = (struct nai_term_place){.finding = (uint32_t)f,
                                                .title = nai_get_str(findings, f, FINDINGS_title),
                                                .severity = nai_get_str(findings, f, FINDINGS_severity),
                                                .text = nai_get_str(evidence, e, EVIDENCE_text),
                                                .start = start,
                                                .end = end > start ? end : start + 1,
                                                .device = nai_get_i64(evidence, e, EVIDENCE_device_id),
                                                .pid = nai_get_i64(evidence, e, EVIDENCE_pid)};
    }
  *out = places;
  view->places = places;
  view->place_count = count;
  view->finding_count = (size_t)findings->rows;
  return NAI_OK;
}

static int open_model(struct nai_model **out, struct nai_run *run, struct nai_kernel_classes *classes,
                      struct nai_err *err) {
  const struct nai_model_options how = {.classes = classes, .worker_count = nai_cpu_count(), .map_nvtx = true};
  uint32_t parts = NAI_TERM_PARTS;
  uint64_t optional = nai_parts_tables(nai_parts_needed(NAI_TERM_OPTIONAL_PARTS));
  bool all = true;
  for (int i = 0; i < NAI_IN_COUNT; i++)
    all = all && (!(optional & NAI_IN_BIT(i)) || nai_run_has(run, nai_event_tables[i]->name));
  int rc = nai_run_model(out, run, &how, NAI_TERM_TABLES, parts | (all ? NAI_TERM_OPTIONAL_PARTS : 0), err);
  if (rc == NAI_ESTALE)
    rc = nai_err_wrap(err, NAI_EINPUT, "the run's event tables cannot be read; make it again with nsys-ai analyze");
  return rc;
}

/* The page on a kernel, range, or cause; ctx is the run. Statements build a model of their own, in another process, and
 * forget it: the one that is shown is kept out of their way. */
static int explain(struct nai_buf *out, void *ctx, const char *name, struct nai_err *err) {
  struct nai_run *run = ctx;
  struct nai_cmd_ask ask = {0};
  nai_cmd_ask_init(&ask);
  struct nai_model *shown = nai_run_exchange_model(run, NULL);
  int rc = nai_cmd_explain_name(out, run, name, &ask, err);
  nai_run_exchange_model(run, shown);
  return rc;
}

/* Where bookmarks are kept: $XDG_STATE_HOME/nsys-ai/bookmarks, as the XDG base directory specification has it. */
static char *bookmarks_directory(void) {
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  char *path = NULL;
  if (state && *state == '/')
    return asprintf(&path, "%s/nsys-ai/bookmarks", state) < 0 ? NULL : path;
  if (!home || *home != '/')
    return NULL;
  return asprintf(&path, "%s/.local/state/nsys-ai/bookmarks", home) < 0 ? NULL : path;
}

/* --- the command -------------------------------------------------------------------------------------- */

static int print_once(struct nai_term *view, const struct view_args *args, struct nai_err *err) {
  struct nai_buf out = {0};
  int width = args->width > 0 ? args->width : nai_cmd_terminal_width();
  width = width <= 0 ? 100 : width < 40 ? 40 : width;
  int rc = args->ask.format ? nai_term_print_json(&out, view, width, err)
                            : nai_term_print(&out, view, width, args->height, err);
  if (!rc)
    rc = nai_cmd_print(&out, err);
  nai_buf_free(&out);
  return rc;
}

static int show(struct nai_term *view, const struct view_args *args, int *ended_by, struct nai_err *err) {
  int rc = nai_display_run(ended_by, view, args->view.color, err);
  if (!rc && !*ended_by)
    fputs(nai_term_last_words(view), stdout);
  return rc;
}

static int open_and_show(struct nai_run *run, struct view_args *args, int *ended_by, struct nai_err *err) {
  struct nai_kernel_classes *classes = NULL;
  struct nai_model *model = NULL;
  struct nai_term *view = NULL;
  struct nai_term_place *places = NULL;
  char *bookmarks = args->once ? NULL : bookmarks_directory();
  int rc = nai_kernel_classes_load(&classes, NULL, err);
  if (!rc)
    rc = nai_run_tell_classes(classes, run, err);
  if (!rc)
    rc = open_model(&model, run, classes, err);
  if (!rc)
    rc = collect_places(&places, &args->view, run, err);
  if (!rc) {
    args->view.model = model;
    args->view.title = nai_run_manifest(run)->trace ? nai_run_manifest(run)->trace : "";
    args->view.identity = nai_run_manifest(run)->identity;
    args->view.bookmarks = bookmarks;
    args->view.explain = explain;
    args->view.ctx = run;
    args->view.cursor = !args->once;
    rc = nai_term_new(&view, &args->view, err);
  }
  if (!rc)
    rc = args->once ? print_once(view, args, err) : show(view, args, ended_by, err);
  nai_term_free(view);
  free(places);
  free(bookmarks);
  nai_run_drop_model(run); /* it refers to the classes */
  nai_kernel_classes_free(classes);
  return rc;
}

/* The tree as text is that of nsys-ai tree. */
static int print_tree(const char *source, const struct view_args *args, const struct nai_cli_program *program,
                      struct nai_err *err) {
  struct tree_args tree = {0};
  nai_cmd_tree.init(&tree);
  tree.ask.quiet = args->ask.quiet;
  return nai_cmd_tree.run(&tree, (const char *const[]){source, NULL}, 1, program, err);
}

/* Whether the terminal can be drawn on; says why not. */
static void choose_once(struct view_args *args) {
  const char *trouble = args->once ? NULL : nai_display_trouble();
  if (!trouble)
    return;
  args->once = true;
  if (!args->ask.quiet)
    fprintf(stderr, "nsys-ai: %s: printing the rows once, as --once does\n", trouble);
}

static int run(void *memory, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  struct view_args *args = memory;
  struct nai_run *source = NULL;
  struct nai_buf keys = {0};
  int ended_by = 0;
  if (args->keys) {
    nai_term_print_keys(&keys);
    int rc = nai_cmd_print(&keys, err);
    nai_buf_free(&keys);
    return rc;
  }
  setlocale(LC_CTYPE, "");
  choose_once(args);
  args->view.tree = count > 1 && strcmp(operands[1], "tree") == 0;
  args->view.ascii = args->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
  args->view.color = args->color == COLOR_ALWAYS || (args->color == COLOR_AUTO && nai_cmd_color());
  args->view.gpus = args->gpus;
  args->view.gpu_count = args->gpu_count;
  if (args->view.tree && args->once)
    return print_tree(operands[0], args, program, err);
  int rc = nai_cmd_source_open(&source, operands[0], &(struct nai_cmd_source){.quiet = args->ask.quiet}, err);
  if (!rc)
    rc = open_and_show(source, args, &ended_by, err);
  nai_run_close(source);
  if (ended_by) {
    signal(ended_by, SIG_DFL);
    raise(ended_by);
  }
  return rc;
}

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct view_args *args = memory;
  (void)operands;
  if (!count && !args->keys)
    return nai_err_set(err, NAI_EUSAGE, "view what? SRC is an artifacts directory or a trace");
  if (args->ask.format && count > 1 && strcmp(operands[1], "tree") == 0)
    return nai_err_set(err, NAI_EUSAGE,
                       "--format json is of the timeline; nsys-ai tree SRC --format json has the tree");
  if (!args->once && (args->ask.format || args->width > 0 || args->height > 0))
    return nai_err_set(err, NAI_EUSAGE, "--format, --width and --height are of --once");
  if (args->view.range && args->view.start_ns != INT64_MIN)
    return nai_err_set(err, NAI_EUSAGE, "--range and --trim exclude each other: both set the window");
  return NAI_OK;
}

const struct nai_cli_command nai_cmd_view = {
    .name = "view",
    .synopsis = "SRC [timeline|tree]",
    .summary = "look at the timeline, or the tree of ranges, in the terminal",
    .description =
        "Shows what each GPU and each thread did over time, or the tree of NVTX ranges, in the terminal; h shows "
        "what keys do. With --once, or where there is no terminal, the rows are printed as text. SRC is an artifacts "
        "directory or a trace, which is analysed for this look only.",
    .examples = "nsys-ai view artifacts/run1\nnsys-ai view artifacts/run1 tree\nnsys-ai view artifacts/run1 --range "
                "train_step\nnsys-ai view trace.sqlite --once --width 120 --trim 1 1.02",
    .options = options,
    .operands =
        (const struct nai_cli_operand[]){{.name = "SRC", .hint = NAI_CLI_FILE, .suffixes = NAI_CMD_TRACE_SUFFIXES},
                                         {.name = "timeline|tree", .choices = what_name, .only_choices = true},
                                         {0}},
    .min_operands = 0,
    .max_operands = 2,
    .args_size = sizeof(struct view_args),
    .init = init,
    .check = check,
    .run = run,
};
