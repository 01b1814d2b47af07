/* nsys-ai compare: two captures, or two groups of captures. */
#include "features/compare/command.h"

enum { FAIL_NEVER = -1, FAIL_REGRESSED };

struct compare_args {
  struct nai_cmd_compare common;
  const char *sides[NAI_SIDES][NAI_CMD_MAX_CAPTURES];
  size_t counts[NAI_SIDES];
  const char *formats;
  int fail_on;
};

static void init(void *memory) {
  struct compare_args *args = memory;
  args->common.out = "artifacts/compare";
  args->common.series = "nsys-ai";
  args->fail_on = FAIL_NEVER;
}

static const char *fail_choices(size_t index, const char *before) {
  (void)before;
  return index == 0 ? "regressed" : NULL;
}

static const char *const format_names[NAI_FORMAT_COUNT + 1] = {"junit", "prom", "bmf", "gha", NULL};

/* "junit,prom" */
static int set_formats(void *memory, const struct nai_cli_option *option, const char *const *values,
                       struct nai_err *err) {
  struct compare_args *args = memory;
  (void)option;
  for (const char *at = values[0]; *at;) {
    size_t len = strcspn(at, ",");
    int format = 0;
    while (format_names[format] && !(strlen(format_names[format]) == len && memcmp(format_names[format], at, len) == 0))
      format++;
    if (!format_names[format])
      return nai_err_set(err, NAI_EUSAGE,
                         "--format \"%s\": expected names of junit, prom, bmf, gha with commas between", values[0]);
    args->common.formats |= 1u << format;
    at += len + (at[len] == ',');
  }
  return NAI_OK;
}

static const struct nai_cli_type formats = {set_formats, NULL};

#define NAI_CLI_ARGS struct compare_args
static const struct nai_cli_option options[] = {
    NAI_CLI_LIST(texts, sides[NAI_BASE], counts[NAI_BASE], "base", "RUN",
                 "captures of the base; all words up to the next option", .many = true, .hint = NAI_CLI_FILE),
    NAI_CLI_LIST(texts, sides[NAI_CANDIDATE], counts[NAI_CANDIDATE], "new", "RUN", "captures of the new side, likewise",
                 .many = true, .hint = NAI_CLI_FILE),
    NAI_CMD_COMPARE_OPTIONS(common),
    NAI_CLI_OTHER(formats, "format", "NAMES", "also write junit, prom, bmf, gha; names with commas between",
                  .at = offsetof(NAI_CLI_ARGS, formats), .otherwise = "none"),
    NAI_CLI_OPTION(choice, fail_on, "fail-on", "WHAT", "exit as nsys-ai check does", .choices = fail_choices,
                   .otherwise = "never"),
    {0},
};

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct compare_args *args = memory;
  (void)operands;
  bool sides = args->counts[NAI_BASE] || args->counts[NAI_CANDIDATE];
  if (count && sides)
    return nai_err_set(err, NAI_EUSAGE, "give two runs, or --base and --new, not both");
  if (sides && !(args->counts[NAI_BASE] && args->counts[NAI_CANDIDATE]))
    return nai_err_set(err, NAI_EUSAGE, "--base and --new need each other");
  return count == 2 || sides ? NAI_OK : nai_err_set(err, NAI_EUSAGE, "two runs or traces are missing");
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  struct compare_args *args = memory;
  NAI_SCOPED(nai_comparison) c = NAI_COMPARISON;
  struct nai_gate gate = {0};
  for (size_t s = 0; s < count; s++)
    args->sides[s][args->counts[s]++] = operands[s];
  for (int s = 0; s < NAI_SIDES; s++)
    for (size_t i = 0; i < args->counts[s]; i++)
      NAI_TRY(nai_cmd_add_side(&c, (enum nai_side_id)s, args->sides[s][i], &args->common, err));
  NAI_TRY(nai_cmd_compare_run(&gate, &c, &args->common, err));
  return args->fail_on == FAIL_REGRESSED ? gate.exit : NAI_OK;
}

NAI_CLI_COMMAND(
    nai_cmd_compare, .name = "compare", .synopsis = "BASE NEW | --base RUN... --new RUN...",
    .summary = "compare two captures, or two groups of captures of the same program",
    .description =
        "Says which metrics differ between two groups of captures and how sure that is, where the time went, and which "
        "kernels do the same on both sides. Operands are artifacts directories, or traces, which are analyzed on the "
        "way. Writes compare.md for a pull request, compare.html, compare.json and tables/*.csv. One capture per side is not significant: "
        "take five, alternating. See docs/comparing.md.",
    .examples = "nsys-ai compare artifacts/before artifacts/after --out artifacts/compare\n"
                "nsys-ai compare --base a1 a2 a3 a4 a5 --new b1 b2 b3 b4 b5 --out artifacts/compare\n"
                "nsys-ai compare before.sqlite after.sqlite --fail-on regressed",
    .options = options,
    NAI_CLI_OPERANDS(0, 2, {.name = "BASE", .hint = NAI_CLI_FILE, .suffixes = NAI_CMD_TRACE_SUFFIXES},
                     {.name = "NEW", .hint = NAI_CLI_FILE, .suffixes = NAI_CMD_TRACE_SUFFIXES}),
    .init = init, .check = check, .run = run)
