/* nsys-ai view: timeline and tree in the terminal. */
#include "features/export/command.h"
#include "features/read/read.h"
#include "features/read/tree.h"

#include "features/view/view.h"
#include "tables/evidence.h"
#include "tables/findings.h"

#include <langinfo.h>
#include <signal.h>

enum { MAX_GPUS = 64 };

struct view_args {
  struct nai_cmd_ask ask;
  struct nai_term_options view;
  int64_t gpus[MAX_GPUS];
  size_t gpu_count;
  struct nai_cli_stretch trim;
  double at_s; /* NaN: in the middle */
  bool once, ascii, keys;
  int width, height, color;
  int ended_by; /* signal, 0: none */
};

static void init(void *memory) {
  struct view_args *args = memory;
  nai_cmd_ask_init(&args->ask);
  args->at_s = NAN;
  args->width = args->height = -1;
}

NAI_CLI_NAMES(color_name, "auto", "always", "never")
enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

NAI_CLI_NAMES(format_name, "text", "json")

NAI_CLI_NAMES(what_name, "timeline", "tree")

#define NAI_CLI_ARGS struct view_args
static const struct nai_cli_option options[] = {
    NAI_CLI_SWITCH(on, once, "once", "print the rows as text, once, instead of showing them"),
    NAI_CLI_OPTION(choice, ask.format, "format", "FORMAT",
                   "with --once: rows as text, or the busy time of their cells as JSON", .choices = format_name),
    NAI_CLI_LIST(ints, gpus, gpu_count, "gpu", "N", "rows of this GPU only; repeatable", NAI_CLI_RANGE(-1, INT32_MAX),
                 .otherwise = "all"),
    NAI_CLI_OPTION(stretch, trim, "trim", "START END",
                   "begin with this window, in seconds since session start; +0 +20ms: from the first event on",
                   NAI_CMD_SECONDS, .otherwise = "what the GPUs did"),
    NAI_CLI_OPTION(stretch, trim, "window", "START END", "the same as --trim", NAI_CMD_SECONDS, .hidden = true),
    NAI_CLI_OPTION(number, at_s, "at", "SECOND", "begin with the cursor there", NAI_CMD_SECONDS,
                   .otherwise = "in the middle"),
    NAI_CLI_OPTION(text, view.range, "range", "NAME", "begin with the first NVTX range of this name as the window"),
    NAI_CLI_OPTION(int, width, "width", "N", "with --once: columns", NAI_CLI_RANGE(40, 1000),
                   .otherwise = "those of the terminal, or 100"),
    NAI_CLI_OPTION(int, height, "height", "N", "with --once: lines of rows at most", NAI_CLI_RANGE(3, 10000),
                   .otherwise = "as many as there are"),
    NAI_CLI_SWITCH(on, ascii, "ascii", "draw with ASCII characters only", .otherwise = "where the locale is not UTF-8"),
    NAI_CLI_OPTION(choice, color, "color", "WHEN", "whether categories have colors; nothing is told by color alone",
                   .choices = color_name),
    NAI_CLI_SWITCH(on, keys, "keys", "print the table of keys, and nothing else"),
    NAI_CMD_EXPORT_OPTION,
    NAI_CMD_QUIET_OPTION,
    {0},
};

/* --- what is shown ------------------------------------------------------------------------------------ */

/* The evidence that has a place, by finding; texts are borrowed from the run. */
static int collect_places(struct nai_term_options *view, struct nai_run *run, struct nai_arena *arena,
                          struct nai_err *err) {
  const struct nai_table *findings, *evidence;
  struct nai_term_place *places;
  NAI_TRY(nai_run_table(&findings, run, nai_findings_schema.name, &nai_findings_schema, err));
  NAI_TRY(nai_run_table(&evidence, run, nai_evidence_schema.name, &nai_evidence_schema, err));
  NAI_TRY(NAI_NEW(places, arena, (size_t)evidence->rows, err));
  for (int64_t f = 0; f < findings->rows; f++)
    for (int64_t i = 0; i < evidence->rows; i++) {
      struct EVIDENCE_row e = EVIDENCE_at(evidence, i);
      if (e.finding != nai_get_i64(findings, f, FINDINGS_finding) || e.start_ns == NAI_NULL_I64 ||
          e.end_ns == NAI_NULL_I64)
        continue;
      places[view->place_count++] = (struct nai_term_place){.finding = (uint32_t)f,
                                                            .title = nai_get_str(findings, f, FINDINGS_title),
                                                            .severity = nai_get_str(findings, f, FINDINGS_severity),
                                                            .text = e.text,
                                                            .start = e.start_ns,
                                                            .end = e.end_ns > e.start_ns ? e.end_ns : e.start_ns + 1,
                                                            .device = e.device_id,
                                                            .pid = e.pid};
    }
  view->places = places;
  view->finding_count = (size_t)findings->rows;
  return NAI_OK;
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
static const char *bookmarks_directory(struct nai_arena *arena) {
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  if (state && *state == '/')
    return nai_arena_printf(arena, "%s/nsys-ai/bookmarks", state);
  return home && *home == '/' ? nai_arena_printf(arena, "%s/.local/state/nsys-ai/bookmarks", home) : NULL;
}

/* --- the command -------------------------------------------------------------------------------------- */

static int print_once(struct nai_term *view, const struct view_args *args, struct nai_err *err) {
  NAI_SCOPED(nai_buf) out = {0};
  int width = args->width > 0 ? args->width : nai_cmd_terminal_width();
  width = width <= 0 ? 100 : width < 40 ? 40 : width;
  NAI_TRY(args->ask.format ? nai_term_print_json(&out, view, width, err)
                           : nai_term_print(&out, view, width, args->height, err));
  return nai_cmd_print(&out, err);
}

static int show(const struct nai_model *model, void *ctx, struct nai_err *err) {
  struct view_args *args = ctx;
  NAI_OWNED(nai_term) *view = NULL;
  args->view.model = model;
  NAI_TRY(nai_term_new(&view, &args->view, err));
  if (args->once)
    return print_once(view, args, err);
  NAI_TRY(nai_display_run(&args->ended_by, view, args->view.color, err));
  if (!args->ended_by)
    fputs(nai_term_last_words(view), stdout);
  return NAI_OK;
}

static int open_and_show(struct view_args *args, const char *source, struct nai_err *err) {
  static const struct nai_cmd_model_needs needs = {
      .tables = NAI_TERM_TABLES, .parts = NAI_TERM_PARTS, .optional_parts = NAI_TERM_OPTIONAL_PARTS, .map_nvtx = true};
  NAI_OWNED(nai_run) *run = NULL;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_term_options *o = &args->view;
  NAI_TRY(nai_cmd_source_open(&run, source, &(struct nai_cmd_source){.quiet = args->ask.quiet}, err));
  NAI_TRY(nai_cmd_place_stretch(&args->trim, "--trim", run, err));
  NAI_TRY(collect_places(o, run, &arena, err));
  o->ascii = args->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
  o->color = args->color == COLOR_ALWAYS || (args->color == COLOR_AUTO && nai_cmd_color());
  o->gpus = args->gpus;
  o->gpu_count = args->gpu_count;
  o->start_ns = args->trim.given ? args->trim.start_ns : INT64_MIN;
  o->end_ns = args->trim.end_ns;
  o->at_ns = isnan(args->at_s) ? INT64_MIN : llround(args->at_s * 1e9);
  o->title = nai_run_manifest(run)->trace ? nai_run_manifest(run)->trace : "";
  o->identity = nai_run_manifest(run)->identity;
  o->bookmarks = args->once ? NULL : bookmarks_directory(&arena);
  o->explain = explain;
  o->ctx = run;
  o->cursor = !args->once;
  NAI_TRY(nai_arena_check(&arena, err));
  return nai_cmd_with_model(run, &needs, show, args, err);
}

/* The tree as text is that of nsys-ai tree. */
static int print_tree(const char *source, const struct view_args *args, struct nai_err *err) {
  struct tree_args tree = {0};
  nai_cmd_tree.init(&tree);
  tree.ask.quiet = args->ask.quiet;
  return nai_cmd_tree.run(&tree, (const char *const[]){source, NULL}, 1, err);
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

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  struct view_args *args = memory;
  NAI_SCOPED(nai_buf) keys = {0};
  if (args->keys) {
    nai_term_print_keys(&keys);
    return nai_cmd_print(&keys, err);
  }
  nai_display_locale();
  choose_once(args);
  args->view.tree = count > 1 && strcmp(operands[1], "tree") == 0;
  if (args->view.tree && args->once)
    return print_tree(operands[0], args, err);
  int rc = open_and_show(args, operands[0], err);
  if (args->ended_by) {
    signal(args->ended_by, SIG_DFL);
    raise(args->ended_by);
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
  if (args->view.range && args->trim.given)
    return nai_err_set(err, NAI_EUSAGE, "--range and --trim exclude each other: both set the window");
  return NAI_OK;
}

NAI_CLI_COMMAND(
    nai_cmd_view, .name = "view", .synopsis = "SRC [timeline|tree]",
    .summary = "look at the timeline, or the tree of ranges, in the terminal",
    .description =
        "Shows what each GPU and each thread did over time, or the tree of NVTX ranges, in the terminal; h shows what "
        "keys do. With --once, or where there is no terminal, the rows are printed as text. SRC is an artifacts "
        "directory or a trace, which is analyzed for this look only.",
    .examples = "nsys-ai view artifacts/run1\nnsys-ai view artifacts/run1 tree\nnsys-ai view artifacts/run1 --range "
                "train_step\nnsys-ai view trace.sqlite --once --width 120 --trim +0 +20ms",
    .options = options,
    NAI_CLI_OPERANDS(0, 2, NAI_CMD_SOURCE("SRC"),
                     {.name = "timeline|tree", .choices = what_name, .only_choices = true}),
    .init = init, .check = check, .run = run)
