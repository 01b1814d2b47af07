#include "pipeline/options.h"

#include "base/fmt.h"
#include "base/fs.h"

/* Options being told: each is put together in `text`. */
struct description {
  struct nai_strings *out;
  struct nai_buf text;
};

/* Adds what has been put together, which is emptied. */
static void add(struct description *d) {
  d->text.oom |= nai_strings_add(d->out, nai_buf_str(&d->text), d->text.len) == NAI_NO_STRING;
  d->text.len = 0;
}

/* Adds an option with its value, if it has one. */
static void add_text(struct description *d, const char *option, const char *value) {
  if (!value)
    return;
  nai_buf_printf(&d->text, "%s %s", option, value);
  add(d);
}

static void add_file(struct description *d, const char *option, const char *path) {
  add_text(d, option, path ? nai_fs_basename(path) : NULL);
}

static void add_files(struct description *d, const char *option, const char *const *paths, size_t count) {
  for (size_t i = 0; i < count; i++)
    add_file(d, option, paths[i]);
}

static void add_real(struct description *d, const char *option, double value) {
  nai_buf_printf(&d->text, "%s ", option);
  nai_fmt_real(&d->text, value, 6);
  add(d);
}

static void add_trim(struct description *d, const struct nai_options *o) {
  nai_buf_puts(&d->text, "--trim ");
  nai_fmt_scaled(&d->text, o->trim_start_ns, 9);
  nai_buf_putc(&d->text, ' ');
  nai_fmt_scaled(&d->text, o->trim_end_ns, 9);
  add(d);
}

static void add_flops(struct description *d, const struct nai_flops_options *o) {
  add_text(d, "--flops-per-step", o->per_step);
  add_text(d, "--model-weights", o->weights);
  add_text(d, "--model", o->model);
  add_text(d, "--dtype", o->dtype);
  if (o->peak_tflops > 0)
    add_real(d, "--peak-tflops", o->peak_tflops);
}

int nai_options_describe(struct nai_strings *out, const struct nai_options *o, struct nai_err *err) {
  struct description d = {.out = out};
  if (o->trim)
    add_trim(&d, o);
  for (size_t i = 0; i < o->gpu_count; i++) {
    nai_buf_printf(&d.text, "--gpu %" PRId64, o->gpus[i]);
    add(&d);
  }
  add_file(&d, "--phase-map", o->phase_map);
  add_file(&d, "--kernel-classes", o->kernel_classes);
  add_file(&d, "--workload", o->workload);
  add_file(&d, "--gpu-facts", o->gpu_facts);
  add_file(&d, "--comm-names", o->comm_names);
  add_flops(&d, &o->flops);
  add_text(&d, "--step", o->step);
  add_files(&d, "--rules", o->rules, o->rule_count);
  add_files(&d, "--metrics", o->metrics, o->metric_count);
  add_file(&d, "--known", o->known);
  add_files(&d, "--skill", o->skills, o->skill_count);
  for (size_t i = 0; i < o->skill_parameter_count; i++)
    add_text(&d, "--skill-param", o->skill_parameters[i]);
  if (o->show_output) {
    nai_buf_puts(&d.text, "--show-output");
    add(&d);
  }
  if (!o->map_nvtx) {
    nai_buf_puts(&d.text, "--no-nvtx-kernel-map");
    add(&d);
  }
  if (o->nvtx_coverage_warn_threshold >= 0)
    add_real(&d, "--nvtx-coverage-warn-threshold", o->nvtx_coverage_warn_threshold);
  int rc = nai_buf_check(&d.text, err);
  nai_buf_free(&d.text);
  return rc;
}

void nai_options_init(struct nai_options *options) {
  *options = (struct nai_options){
      .top = 10,
      .page_events = NAI_PAGE_EVENTS,
      .map_nvtx = true,
      .nvtx_coverage_warn_threshold = -1,
      .flops = {.peak_tflops = -1},
      .keep_stages = true,
      .reader = NAI_READER_AUTO,
  };
}
