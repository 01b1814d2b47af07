/* nsys-ai-gen series: a trace per night, cheap enough for hundreds of them. */
#include "gen/series.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/truth/truth_json.h"

enum { MAX_EVENTS = 16, MAX_CAPTURES = 16, STEPS = 10, LAYERS = 4 };
static const int64_t first_night_ns = INT64_C(1767225600000000000); /* 2026-01-01 */
static const int64_t night_ns = INT64_C(86400) * 1000000000;

struct event {
  int night;
  double pct;
};

struct series_args {
  int nights, captures;
  int64_t seed;
  double noise_pct, drift_pct;
  const char *step_words[MAX_EVENTS], *spike_words[MAX_EVENTS];
  size_t step_count, spike_count;
  struct event steps[MAX_EVENTS], spikes[MAX_EVENTS];
  int64_t environments[MAX_EVENTS], failed[MAX_EVENTS];
  size_t environment_count, failed_count;
  int64_t renamed, retuned; /* -1: never */
  bool force;
};

static void init(void *memory) {
  struct series_args *args = memory;
  args->nights = 30;
  args->captures = 1;
  args->seed = 1;
  args->noise_pct = 1;
  args->renamed = args->retuned = -1;
}

#define AT(field) .at = offsetof(struct series_args, field)

static const struct nai_cli_option options[] = {
    {.name = "nights",
     .value = "N",
     .help = "traces to write",
     .type = &nai_cli_int,
     AT(nights),
     .min = 1,
     .max = 5000},
    {.name = "captures",
     .value = "K",
     .help = "captures of each night",
     .type = &nai_cli_int,
     AT(captures),
     .min = 1,
     .max = MAX_CAPTURES},
    {.name = "noise",
     .value = "PCT",
     .help = "standard deviation from capture to capture, percent",
     .type = &nai_cli_number,
     AT(noise_pct),
     .max = 50},
    {.name = "step",
     .value = "NIGHT:PCT",
     .help = "from this night (from 0) on one kernel is PCT percent slower; repeatable",
     .type = &nai_cli_texts,
     AT(step_words),
     .count_at = offsetof(struct series_args, step_count),
     .most = MAX_EVENTS},
    {.name = "spike",
     .value = "NIGHT:PCT",
     .help = "in this night everything is PCT percent slower; repeatable",
     .type = &nai_cli_texts,
     AT(spike_words),
     .count_at = offsetof(struct series_args, spike_count),
     .most = MAX_EVENTS},
    {.name = "drift",
     .value = "PCT",
     .help = "everything gets so much slower every night, percent",
     .type = &nai_cli_number,
     AT(drift_pct),
     .min = -10,
     .max = 10},
    {.name = "environment",
     .value = "NIGHT",
     .help = "from this night on another GPU; repeatable",
     .type = &nai_cli_ints,
     AT(environments),
     .count_at = offsetof(struct series_args, environment_count),
     .most = MAX_EVENTS,
     .max = INT32_MAX},
    {.name = "renamed",
     .value = "NIGHT",
     .help = "from this night on another compiler spells the name of one kernel",
     .type = &nai_cli_int64,
     AT(renamed),
     .max = INT32_MAX},
    {.name = "retuned",
     .value = "NIGHT",
     .help = "from this night on the library chooses another variant of one kernel, as fast",
     .type = &nai_cli_int64,
     AT(retuned),
     .max = INT32_MAX},
    {.name = "failed",
     .value = "NIGHT",
     .help = "this night's trace is cut off; repeatable",
     .type = &nai_cli_ints,
     AT(failed),
     .count_at = offsetof(struct series_args, failed_count),
     .most = MAX_EVENTS,
     .max = INT32_MAX},
    {.name = "seed", .value = "N", .help = "seed of the noise", .type = &nai_cli_int64, AT(seed), .max = INT64_MAX},
    {.name = "force", .letter = 'f', .help = "replace existing output files", .type = &nai_cli_on, AT(force)},
    {0},
};

/* "20:5" */
static int read_events(struct event *events, const char *const *words, size_t count, const char *option,
                       struct nai_err *err) {
  for (size_t i = 0; i < count; i++) {
    char rest;
    if (sscanf(words[i], "%d:%lf%c", &events[i].night, &events[i].pct, &rest) != 2 || events[i].night < 0 ||
        !(events[i].pct > -90 && events[i].pct < 1000)) {
      return nai_err_set(err, NAI_EUSAGE, "--%s %.60s: expected NIGHT:PCT, for example 20:5", option, words[i]);
    }
  }
  return NAI_OK;
}

/* --- the plan of a night ---------------------------------------------------------------------- */

struct night {
  int number;
  double kernel_factor; /* of the kernel that steps change */
  double factor;        /* of everything: drift and spike */
  int environment;
  bool failed, spike, renamed, retuned;
};

static struct night plan_night(const struct series_args *args, int number) {
  struct night night = {.number = number,
                        .kernel_factor = 1,
                        .factor = 1,
                        .renamed = args->renamed >= 0 && number >= args->renamed,
                        .retuned = args->retuned >= 0 && number >= args->retuned};
  for (size_t i = 0; i < args->step_count; i++) {
    night.kernel_factor *= number >= args->steps[i].night ? 1 + args->steps[i].pct / 100 : 1;
  }
  for (int i = 0; i < number; i++) {
    night.factor *= 1 + args->drift_pct / 100;
  }
  for (size_t i = 0; i < args->spike_count; i++) {
    if (args->spikes[i].night == number) {
      night.factor *= 1 + args->spikes[i].pct / 100;
      night.spike = true;
    }
  }
  for (size_t i = 0; i < args->environment_count; i++) {
    night.environment += number >= args->environments[i];
  }
  for (size_t i = 0; i < args->failed_count; i++) {
    night.failed |= args->failed[i] == number;
  }
  return night;
}

/* Nearly normal, standard deviation 1: the sum of twelve uniform numbers. */
static double noise(struct nai_gen_rng *rng) {
  double sum = -6;
  for (int i = 0; i < 12; i++) {
    sum += (double)nai_gen_rng_between(rng, 0, 1000000) / 1e6;
  }
  return sum;
}

static int64_t scaled(double ns, double factor) { return (int64_t)(ns * factor + 0.5); }

/* Steps of a few layers, launched ahead of the GPU; returns the kernel time of all of them. */
static int64_t emit(struct nai_gen_plan *plan, const struct night *night, double capture_factor) {
  struct nai_gen_program p;
  int64_t total = 0;
  double all = night->factor * capture_factor;
  nai_gen_program(&p, plan, 4242, "python3");
  int gemm = nai_gen_kernel(
      plan, night->retuned ? "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_NNT" : "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT",
      NULL);
  int norm = nai_gen_kernel(plan,
                            night->renamed ? "at::native::vectorized_layer_norm_kernel<float>(int)"
                                           : "void at::native::vectorized_layer_norm_kernel<float>(int)",
                            NULL);
  int step = nai_gen_name(plan, "step");
  for (int i = 0; i < STEPS; i++) {
    nai_gen_push(plan, p.thread, step, NULL);
    for (int layer = 0; layer < LAYERS; layer++) {
      int64_t long_ns = scaled(400000, night->kernel_factor * all), short_ns = scaled(60000, all);
      nai_gen_launch(plan, p.thread, p.stream, gemm, long_ns);
      nai_gen_launch(plan, p.thread, p.stream, norm, short_ns);
      total += long_ns + short_ns;
    }
    nai_gen_synchronize(plan, p.thread, p.stream, API_STREAM_SYNC, 1000);
    nai_gen_work(plan, p.thread, scaled(50000, all));
    nai_gen_pop(plan, p.thread);
  }
  return total;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int write_trace(int64_t *kernel_ns, const char *path, const struct night *night, int capture, double factor,
                       const struct series_args *args, struct nai_gen_err *err) {
  static const char *const gpus[] = {"NVIDIA H100 80GB HBM3", "NVIDIA H200", "NVIDIA B200"};
  const struct nai_gen_plan_options how = {.seed = (uint64_t)args->seed,
                                           .schema = NAI_GEN_2026,
                                           .scale = 1,
                                           .utc_ns = first_night_ns + night->number * night_ns +
                                                     capture * INT64_C(600) * 1000000000,
                                           .gpu_name = gpus[night->environment % 3]};
  const struct nai_gen_db_options db_options = {.schema = how.schema, .replace = args->force};
  struct nai_gen_db *db = NULL;
  int rc = nai_gen_db_open(&db, path, &db_options, err);
  if (rc) {
    return rc;
  }
  struct nai_gen_plan *plan = nai_gen_plan_new(db, &how, err);
  if (plan) {
    *kernel_ns = emit(plan, night, factor);
    nai_gen_close_open_ranges(plan);
    nai_gen_write_events(plan);
    nai_gen_write_meta(plan, "series");
  }
  rc = err->code ? err->code : nai_gen_db_commit(db, err);
  nai_gen_plan_free(plan);
  nai_gen_db_free(db);
  if (!rc && night->failed && truncate(path, 9000) != 0) {
    rc = nai_gen_fail(NAI_GEN_EOUTPUT, err, "cannot cut \"%s\": %s", path, strerror(errno));
  }
  return rc;
}

static void add_truth(json_t *list, const struct night *night, int capture, const char *file, int64_t kernel_ns) {
  json_t *object = nai_gen_json_object_in(list);
  nai_gen_json_int(object, "night", night->number);
  nai_gen_json_int(object, "capture", capture);
  nai_gen_json_string(object, "file", file);
  nai_gen_json_int(object, "utc_ns", first_night_ns + night->number * night_ns);
  nai_gen_json_int(object, "environment", night->environment);
  json_object_set_new(object, "failed", json_boolean(night->failed));
  json_object_set_new(object, "spike", json_boolean(night->spike));
  json_object_set_new(object, "renamed", json_boolean(night->renamed));
  json_object_set_new(object, "retuned", json_boolean(night->retuned));
  json_object_set_new(object, "kernel_factor", json_real(night->kernel_factor));
  json_object_set_new(object, "factor", json_real(night->factor));
  nai_gen_json_int(object, "kernel_ns", kernel_ns);
}

static int write_night(json_t *list, const struct night *night, const char *directory, const struct series_args *args,
                       struct nai_gen_rng *rng, struct nai_gen_err *err) {
  int rc = 0;
  for (int capture = 0; capture < args->captures && !rc; capture++) {
    char path[4096], file[64];
    int64_t kernel_ns = 0;
    double factor = 1 + args->noise_pct / 100 * noise(rng);
    snprintf(file, sizeof file, args->captures > 1 ? "night-%04d-%d.sqlite" : "night-%04d.sqlite", night->number,
             capture);
    if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, file) >= sizeof path) {
      return nai_gen_fail(NAI_GEN_EUSAGE, err, "the name of the directory is too long");
    }
    rc = write_trace(&kernel_ns, path, night, capture, factor > 0.1 ? factor : 0.1, args, err);
    add_truth(list, night, capture, file, kernel_ns);
  }
  return rc;
}

static int write_all(const char *directory, const struct series_args *args, struct nai_gen_err *err) {
  struct nai_gen_rng rng = {(uint64_t)args->seed};
  json_t *truth = json_object(), *list = json_array();
  char path[4096];
  int rc = 0;
  json_object_set(truth, "nights", list);
  if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
    rc = nai_gen_fail(NAI_GEN_EOUTPUT, err, "cannot create \"%s\": %s", directory, strerror(errno));
  }
  for (int i = 0; i < args->nights && !rc; i++) {
    struct night night = plan_night(args, i);
    rc = write_night(list, &night, directory, args, &rng, err);
  }
  snprintf(path, sizeof path, "%s/truth.json", directory);
  if (!rc) {
    rc = nai_gen_json_write(truth, path, err);
  }
  json_decref(list);
  json_decref(truth);
  return rc;
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  struct series_args *args = memory;
  struct nai_gen_err failure = {0};
  (void)count;
  int rc = read_events(args->steps, args->step_words, args->step_count, "step", err);
  if (!rc) {
    rc = read_events(args->spikes, args->spike_words, args->spike_count, "spike", err);
  }
  if (!rc && write_all(operands[0], args, &failure) != 0) {
    rc = nai_err_set(err,
                     failure.code == NAI_GEN_EUSAGE   ? NAI_EUSAGE
                     : failure.code == NAI_GEN_ENOMEM ? NAI_ELIMIT
                                                      : NAI_EIO,
                     "%s", failure.text);
  }
  return rc;
}

const struct nai_cli_command nai_gen_series_command = {
    .name = "series",
    .synopsis = "DIR",
    .summary = "write the traces of many nights, with known changes",
    .description =
        "Writes DIR/night-0000.sqlite and so on, a small trace of the same program each, a day apart, and DIR/truth.json: "
        "what each night was planned to be. The same options give the same bytes.",
    .examples =
        "nsys-ai-gen series nights --nights 30 --step 20:5\n"
        "nsys-ai-gen series nights --nights 60 --noise 0.5 --drift 0.3 --spike 12:40 --environment 45 --failed 7",
    .options = options,
    .operands = (const struct nai_cli_operand[]){{.name = "DIR", .hint = NAI_CLI_DIRECTORY}, {0}},
    .min_operands = 1,
    .max_operands = 1,
    .args_size = sizeof(struct series_args),
    .init = init,
    .run = run,
};
