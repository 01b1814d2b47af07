/* nsys-ai-gen: writes sample traces with known answers. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan_internal.h"
#include "scenario.h"
#include "truth.h"

enum { EXIT_USAGE = 2, EXIT_OUTPUT = 5, EXIT_MEMORY = 6 };

#ifndef NAI_VERSION
#define NAI_VERSION "0.1.0"
#endif

struct arguments {
  const struct nai_gen_scenario *scenario;
  const char *output;
  const char *truth;
  int64_t size_bytes; /* 0: not given */
  struct nai_gen_plan_options plan;
  bool force;
};

static void print_scenarios(FILE *out) {
  for (const struct nai_gen_scenario *s = nai_gen_scenarios; s->name; s++) {
    fprintf(out, "  %-20s %s\n", s->name, s->summary);
  }
}

static void print_help(FILE *out) {
  fputs("Usage: nsys-ai-gen SCENARIO OUT.sqlite [options]\n"
        "       nsys-ai-gen list\n"
        "\n"
        "Writes a sample Nsight Systems SQLite export. The same scenario, seed and options give "
        "the\n"
        "same bytes.\n"
        "\n"
        "Options:\n"
        "      --seed N        seed of all random choices (default 1)\n"
        "      --scale X       multiply the amount of work by X (default 1)\n"
        "      --size BYTES    write until the file has this size; K, M, G suffixes (bench only)\n"
        "      --schema YEAR   generation of the exporter: 2019, 2021, 2024, 2026 (default 2026)\n"
        "      --truth FILE    also write the known true answers as JSON\n"
        "      --shuffle       write the rows of every event table in random order\n"
        "  -f, --force         replace existing output files\n"
        "  -h, --help          show this help\n"
        "      --version       show the version\n"
        "\n"
        "Scenarios:\n",
        out);
  print_scenarios(out);
  fputs("\n"
        "Examples:\n"
        "  nsys-ai-gen inference sample.sqlite\n"
        "  nsys-ai-gen training ddp.sqlite --seed 7 --truth ddp.truth.json\n"
        "  nsys-ai-gen copy-bound old.sqlite --schema 2021\n"
        "  nsys-ai-gen bench big.sqlite --size 1G\n"
        "\n"
        "Exit status: 0 done, 2 wrong usage, 5 cannot write an output, 6 out of memory.\n",
        out);
}

static int parse_integer(int64_t *out, const char *text, const char *option, struct nai_gen_err *err) {
  char *end = NULL;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || value < 0) {
    return nai_gen_fail(NAI_GEN_EUSAGE, err, "not a whole number: %s=\"%s\"", option, text);
  }
  *out = value;
  return 0;
}

static int parse_size(int64_t *out, const char *text, struct nai_gen_err *err) {
  static const char suffixes[] = "KMG";
  char *end = NULL;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  const char *suffix = *end ? strchr(suffixes, toupper((unsigned char)*end)) : NULL;
  int shift = suffix ? 10 * (int)(suffix - suffixes + 1) : 0;
  if (errno != 0 || end == text || value <= 0 || (*end && (!suffix || end[1])) || value > (INT64_MAX >> shift)) {
    return nai_gen_fail(NAI_GEN_EUSAGE, err, "not a size: --size=\"%s\" (examples: 200M, 1G, 4096)", text);
  }
  *out = value << shift;
  return 0;
}

static int parse_scale(double *out, const char *text, struct nai_gen_err *err) {
  char *end = NULL;
  double value = strtod(text, &end);
  if (end == text || *end != '\0' || !(value > 0 && value <= 1000)) {
    return nai_gen_fail(NAI_GEN_EUSAGE, err, "not a factor above 0 and up to 1000: --scale=\"%s\"", text);
  }
  *out = value;
  return 0;
}

static int parse_schema(int *out, const char *text, struct nai_gen_err *err) {
  static const int known[] = {NAI_GEN_2019, NAI_GEN_2021, NAI_GEN_2024, NAI_GEN_2026};
  int64_t year = 0;
  int rc = parse_integer(&year, text, "--schema", err);
  for (size_t i = 0; rc == 0 && i < sizeof known / sizeof known[0]; i++) {
    if (known[i] == year) {
      *out = known[i];
      return 0;
    }
  }
  return nai_gen_fail(NAI_GEN_EUSAGE, err, "unknown schema: --schema=\"%s\" (known: 2019, 2021, 2024, 2026)", text);
}

static int find_scenario(struct arguments *args, const char *name, struct nai_gen_err *err) {
  for (const struct nai_gen_scenario *s = nai_gen_scenarios; s->name; s++) {
    if (strcmp(s->name, name) == 0) {
      args->scenario = s;
      return 0;
    }
  }
  return nai_gen_fail(NAI_GEN_EUSAGE, err, "unknown scenario: \"%s\" (see nsys-ai-gen list)", name);
}

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

enum { OPTION_SEED = 256, OPTION_SCALE, OPTION_SIZE, OPTION_SCHEMA, OPTION_TRUTH, OPTION_SHUFFLE, OPTION_VERSION };

static const struct option long_options[] = {{"seed", required_argument, NULL, OPTION_SEED},
                                             {"scale", required_argument, NULL, OPTION_SCALE},
                                             {"size", required_argument, NULL, OPTION_SIZE},
                                             {"schema", required_argument, NULL, OPTION_SCHEMA},
                                             {"truth", required_argument, NULL, OPTION_TRUTH},
                                             {"shuffle", no_argument, NULL, OPTION_SHUFFLE},
                                             {"force", no_argument, NULL, 'f'},
                                             {"help", no_argument, NULL, 'h'},
                                             {"version", no_argument, NULL, OPTION_VERSION},
                                             {NULL, 0, NULL, 0}};

/* Reads the options; *done is set when the answer has been printed already. */
static int parse_options(struct arguments *args, bool *done, int argc, char **argv, struct nai_gen_err *err) {
  int option, rc = 0;
  int64_t seed = 1;
  opterr = 0;
  while (rc == 0 && (option = getopt_long(argc, argv, ":fh", long_options, NULL)) != -1) {
    switch (option) {
    case OPTION_SEED:
      rc = parse_integer(&seed, optarg, "--seed", err);
      break;
    case OPTION_SCALE:
      rc = parse_scale(&args->plan.scale, optarg, err);
      break;
    case OPTION_SIZE:
      rc = parse_size(&args->size_bytes, optarg, err);
      break;
    case OPTION_SCHEMA:
      rc = parse_schema(&args->plan.schema, optarg, err);
      break;
    case OPTION_TRUTH:
      args->truth = optarg;
      break;
    case OPTION_SHUFFLE:
      args->plan.shuffle = true;
      break;
    case 'f':
      args->force = true;
      break;
    case 'h':
      print_help(stdout);
      *done = true;
      return 0;
    case OPTION_VERSION:
      puts("nsys-ai-gen " NAI_VERSION);
      *done = true;
      return 0;
    case ':':
      return nai_gen_fail(NAI_GEN_EUSAGE, err, "option needs a value: %s", argv[optind - 1]);
    default:
      return nai_gen_fail(NAI_GEN_EUSAGE, err, "unknown option: %s", argv[optind - 1]);
    }
  }
  args->plan.seed = (uint64_t)seed;
  return rc;
}

static int parse_arguments(struct arguments *args, bool *done, int argc, char **argv, struct nai_gen_err *err) {
  int rc = parse_options(args, done, argc, argv, err);
  if (rc || *done) {
    return rc;
  }
  if (argc - optind == 1 && strcmp(argv[optind], "list") == 0) {
    print_scenarios(stdout);
    *done = true;
    return 0;
  }
  if (argc - optind != 2) {
    return nai_gen_fail(NAI_GEN_EUSAGE, err, "expected a scenario and an output file (see nsys-ai-gen --help)");
  }
  args->output = argv[optind + 1];
  rc = find_scenario(args, argv[optind], err);
  return rc ? rc : check_arguments(args, err);
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

static int exit_status(int rc) {
  switch (rc) {
  case 0:
    return EXIT_SUCCESS;
  case NAI_GEN_EUSAGE:
    return EXIT_USAGE;
  case NAI_GEN_ENOMEM:
    return EXIT_MEMORY;
  default:
    return EXIT_OUTPUT;
  }
}

int main(int argc, char **argv) {
  struct nai_gen_err err = {0};
  struct arguments args = {.plan = {.schema = NAI_GEN_2026, .scale = 1}};
  bool done = false;
  signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error to report, not a reason to die */
  int rc = parse_arguments(&args, &done, argc, argv, &err);
  if (rc == 0 && !done) {
    rc = generate(&args, &err);
  }
  if (rc) {
    fprintf(stderr, "nsys-ai-gen: %s\n", err.text);
  }
  return exit_status(rc);
}
