/* nsys-ai-gen: writes sample traces with known answers. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "gen/plan_internal.h"
#include "gen/ranks.h"
#include "gen/scenario.h"
#include "gen/series.h"
#include "gen/truth/truth.h"

struct arguments {
  const struct nai_gen_scenario *scenario;
  const char *output;
  const char *truth;
  int64_t size_bytes; /* 0: not given */
  int64_t seed;
  int schema; /* index in `schemas` */
  struct nai_gen_plan_options plan;
  bool force;
};

static const struct {
  const char *name;
  int schema;
} schemas[] = {{"2019", NAI_GEN_2019}, {"2021", NAI_GEN_2021}, {"2024", NAI_GEN_2024}, {"2026", NAI_GEN_2026}};
enum { SCHEMA_COUNT = sizeof schemas / sizeof *schemas };

static const char *schema_name(size_t index, const char *before) {
  (void)before;
  return index < SCHEMA_COUNT ? schemas[index].name : NULL;
}

static const char *scenario_name(size_t index, const char *before) {
  (void)before;
  return nai_gen_scenarios[index].name; /* NULL after the last one */
}

static const char *scenario_summary(size_t index) { return nai_gen_scenarios[index].summary; }

static void init(void *memory) {
  struct arguments *args = memory;
  args->seed = 1;
  args->schema = SCHEMA_COUNT - 1;
  args->plan.scale = 1;
}

static int set_scale(void *memory, const struct nai_cli_option *option, const char *const *values,
                     struct nai_err *err) {
  struct arguments *args = memory;
  int rc = nai_cli_read_number(&args->plan.scale, option, values[0], err);
  return rc || args->plan.scale > 0 ? rc : nai_err_set(err, NAI_EUSAGE, "--scale %s: must be above 0", values[0]);
}

static void print_scale(struct nai_buf *out, const void *memory, const struct nai_cli_option *option) {
  (void)option;
  nai_buf_printf(out, "%g", ((const struct arguments *)memory)->plan.scale);
}

static const struct nai_cli_type scale = {set_scale, print_scale};

#define AT(field) .at = offsetof(struct arguments, field)

static const struct nai_cli_option options[] = {
    {.name = "seed",
     .value = "N",
     .help = "seed of all random choices",
     .type = &nai_cli_int64,
     AT(seed),
     .max = INT64_MAX},
    {.name = "scale", .value = "X", .help = "multiply the amount of work by X", .type = &scale, .max = 1000},
    {.name = "size",
     .value = "BYTES",
     .help = "write until the file has this size, for example 200M or 1G; bench only",
     .type = &nai_cli_bytes,
     AT(size_bytes),
     .max = (INT64_C(1) << 40) - 1},
    {.name = "schema",
     .value = "YEAR",
     .help = "generation of the exporter",
     .type = &nai_cli_choice,
     AT(schema),
     .choices = schema_name},
    {.name = "truth",
     .value = "FILE",
     .help = "also write the known true answers as JSON",
     .type = &nai_cli_text,
     AT(truth),
     .hint = NAI_CLI_FILE,
     .suffixes = "json"},
    {.name = "shuffle",
     .help = "write the rows of every event table in random order",
     .type = &nai_cli_on,
     AT(plan.shuffle)},
    {.name = "force", .letter = 'f', .help = "replace existing output files", .type = &nai_cli_on, AT(force)},
    {0},
};

static int check_arguments(const struct arguments *args, struct nai_gen_err *err) {
  const struct nai_gen_scenario *scenario = args->scenario;
  if (args->plan.schema < scenario->first_schema) {
    return nai_gen_fail(NAI_GEN_EUSAGE, err, "scenario \"%s\" needs --schema %d or newer", scenario->name,
                        scenario->first_schema);
  }
  if (args->size_bytes && !scenario->sized) {
    return nai_gen_fail(NAI_GEN_EUSAGE, err, "scenario \"%s\" takes --scale, not --size", scenario->name);
  }
  if (args->truth && strcmp(args->truth, args->output) == 0) {
    return nai_gen_fail(NAI_GEN_EUSAGE, err, "trace and truth cannot be the same file: \"%s\"", args->output);
  }
  return args->truth ? nai_gen_truth_check(args->truth, args->force, err) : 0;
}

/* The scenario's own loop knows what one unit of work is; the rest is common to all. */
static int generate(const struct arguments *args, struct nai_gen_err *err) {
  const struct nai_gen_scenario *scenario = args->scenario;
  const struct nai_gen_db_options db_options = {
      .schema = args->plan.schema, .without_checks = scenario->without_checks, .replace = args->force};
  struct nai_gen_db *db = NULL;
  struct nai_gen_plan *plan = NULL;
  int rc = nai_gen_db_open(&db, args->output, &db_options, err);
  if (rc) {
    return rc;
  }
  plan = nai_gen_plan_new(db, &args->plan, err);
  if (plan) {
    scenario->plan(plan, args->size_bytes);
    nai_gen_close_open_ranges(plan);
    nai_gen_write_events(plan);
    if (!scenario->all_tables) {
      nai_gen_write_meta(plan, scenario->name);
    } else if (!nai_gen_failed(plan)) {
      (void)nai_gen_db_create_all(db, err);
    }
  }
  rc = err->code ? err->code : nai_gen_db_commit(db, err);
  if (rc == 0 && args->truth) {
    const struct nai_gen_truth_options truth = {scenario->name, args->plan.seed, args->force};
    rc = nai_gen_truth_write(plan, args->truth, &truth, err);
  }
  nai_gen_plan_free(plan);
  nai_gen_db_free(db);
  return rc;
}

/* The generator has errors of its own: it shares nothing but the command line with the program it tests. */
static int exit_code(int rc) { return rc == NAI_GEN_EUSAGE ? NAI_EUSAGE : rc == NAI_GEN_ENOMEM ? NAI_ELIMIT : NAI_EIO; }

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  struct arguments *args = memory;
  struct nai_gen_err failure = {0};
  (void)count;
  args->plan.seed = (uint64_t)args->seed;
  args->plan.schema = schemas[args->schema].schema;
  args->output = operands[1];
  for (const struct nai_gen_scenario *s = nai_gen_scenarios; s->name; s++) {
    if (strcmp(s->name, operands[0]) == 0) {
      args->scenario = s;
    }
  }
  int rc = check_arguments(args, &failure);
  if (rc == 0) {
    rc = generate(args, &failure);
  }
  return rc ? nai_err_set(err, exit_code(rc), "%s", failure.text) : NAI_OK;
}

static int list(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  (void)memory, (void)operands, (void)count, (void)err;
  for (const struct nai_gen_scenario *s = nai_gen_scenarios; s->name; s++) {
    printf("  %-20s %s\n", s->name, s->summary);
  }
  return NAI_OK;
}

static const char examples[] = "nsys-ai-gen inference sample.sqlite\n"
                               "nsys-ai-gen training ddp.sqlite --seed 7 --truth ddp.truth.json\n"
                               "nsys-ai-gen copy-bound old.sqlite --schema 2021\n"
                               "nsys-ai-gen bench big.sqlite --size 1G";
static const char description[] =
    "Writes a sample Nsight Systems SQLite export. The same scenario, seed and options give the same bytes.";

static const struct nai_cli_command generate_command = {
    .synopsis = "SCENARIO OUT.sqlite",
    .summary = "write a sample trace",
    .description = description,
    .examples = examples,
    .options = options,
    .operands =
        (const struct nai_cli_operand[]){
            {.name = "SCENARIO", .choices = scenario_name, .about = scenario_summary, .only_choices = true},
            {.name = "OUT.sqlite", .hint = NAI_CLI_FILE, .suffixes = "sqlite"},
            {0}},
    .min_operands = 2,
    .max_operands = 2,
    .args_size = sizeof(struct arguments),
    .init = init,
    .run = run,
};

static const struct nai_cli_command list_command = {
    .name = "list",
    .synopsis = "",
    .summary = "list the scenarios",
    .description = "Prints the scenarios, one a line.",
    .examples = "nsys-ai-gen list",
    .run = list,
};

static const struct nai_cli_exit exits[] = {
    {"0", "done"}, {"2", "wrong usage"}, {"5", "cannot write an output"}, {"6", "out of memory"}, {0}};

static const struct nai_cli_program program = {
    .name = "nsys-ai-gen",
    .version = NAI_VERSION,
    .title = "sample traces with known answers, for nsys-ai",
    .description = description,
    .examples = examples,
    .commands = (const struct nai_cli_command *const[]){&list_command, &nai_gen_series_command, &nai_gen_ranks_command,
                                                        &nai_cli_completions, NULL},
    .implied = &generate_command,
    .exits = exits,
};

int main(int argc, char **argv) {
  signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error to report, not a reason to die */
  return nai_cli_main(&program, argc, argv);
}
