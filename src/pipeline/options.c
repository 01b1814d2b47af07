#include "pipeline/options.h"

#include "base/buf.h"
#include "base/fmt.h"
#include "base/fs.h"

#include <inttypes.h>

/* Adds what has been put together, which is emptied. */
static int add(struct nai_strings *out, struct nai_buf *text, struct nai_err *err) {
  int rc = nai_buf_check(text, err);
  if (!rc && nai_strings_add(out, nai_buf_str(text), text->len) == NAI_NO_STRING)
    rc = nai_err_nomem(err);
  text->len = 0;
  return rc;
}

static int add_file(struct nai_strings *out, struct nai_buf *text, const char *option, const char *path,
                    struct nai_err *err) {
  if (!path)
    return NAI_OK;
  nai_buf_printf(text, "%s %s", option, nai_fs_basename(path));
  return add(out, text, err);
}

static int describe_flops(struct nai_strings *out, struct nai_buf *text, const struct nai_flops_options *o,
                          struct nai_err *err) {
  const char *const given[][2] = {{"--flops-per-step", o->per_step}, {"--model", o->model}, {"--dtype", o->dtype}};
  int rc = NAI_OK;
  for (size_t i = 0; !rc && i < sizeof given / sizeof *given; i++)
    if (given[i][1]) {
      nai_buf_printf(text, "%s %s", given[i][0], given[i][1]);
      rc = add(out, text, err);
    }
  if (!rc && o->peak_tflops > 0) {
    nai_buf_puts(text, "--peak-tflops ");
    nai_fmt_real(text, o->peak_tflops, 6);
    rc = add(out, text, err);
  }
  return rc;
}

int nai_options_describe(struct nai_strings *out, const struct nai_options *o, struct nai_err *err) {
  struct nai_buf text = {0};
  int rc = NAI_OK;
  if (o->trim) {
    nai_buf_puts(&text, "--trim ");
    nai_fmt_scaled(&text, o->trim_start_ns, 9);
    nai_buf_putc(&text, ' ');
    nai_fmt_scaled(&text, o->trim_end_ns, 9);
    rc = add(out, &text, err);
  }
  for (size_t i = 0; !rc && i < o->gpu_count; i++) {
    nai_buf_printf(&text, "--gpu %" PRId64, o->gpus[i]);
    rc = add(out, &text, err);
  }
  if (!rc)
    rc = add_file(out, &text, "--phase-map", o->phase_map, err);
  if (!rc)
    rc = add_file(out, &text, "--kernel-classes", o->kernel_classes, err);
  if (!rc)
    rc = add_file(out, &text, "--workload", o->workload, err);
  if (!rc)
    rc = add_file(out, &text, "--gpu-facts", o->gpu_facts, err);
  if (!rc)
    rc = describe_flops(out, &text, &o->flops, err);
  if (!rc && o->step) {
    nai_buf_printf(&text, "--step %s", o->step);
    rc = add(out, &text, err);
  }
  for (size_t i = 0; !rc && i < o->rule_count; i++)
    rc = add_file(out, &text, "--rules", o->rules[i], err);
  for (size_t i = 0; !rc && i < o->metric_count; i++)
    rc = add_file(out, &text, "--metrics", o->metrics[i], err);
  for (size_t i = 0; !rc && i < o->skill_count; i++)
    rc = add_file(out, &text, "--skill", o->skills[i], err);
  for (size_t i = 0; !rc && i < o->skill_parameter_count; i++) {
    nai_buf_printf(&text, "--skill-param %s", o->skill_parameters[i]);
    rc = add(out, &text, err);
  }
  if (!rc && !o->map_nvtx) {
    nai_buf_puts(&text, "--no-nvtx-kernel-map");
    rc = add(out, &text, err);
  }
  if (!rc && o->nvtx_coverage_warn_threshold >= 0) {
    nai_buf_puts(&text, "--nvtx-coverage-warn-threshold ");
    nai_fmt_real(&text, o->nvtx_coverage_warn_threshold, 6);
    rc = add(out, &text, err);
  }
  nai_buf_free(&text);
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
