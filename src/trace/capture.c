/* With which driver, and how, was it captured? For comparisons: what differs in these may explain a difference. Both
 * tables hold names of machines, command lines and environment variables, so only named facts of plain numbers and
 * switches are taken. */
#include "trace/capture_facts.h"

#include "trace/small.h"
#include "tables/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 96, VALUE_MAX = 64, OPTIONS_MAX = 4000 };

static bool consists_of(const char *text, const char *characters) {
  return *text && strspn(text, characters) == strlen(text);
}

/* --- driver, system ---------------------------------------------------------------------------- */

/* "5452906" is 545.29.06, "59174" 591.74; later exporters print the points themselves. */
static void put_driver(struct nai_table *capture, const char *value) {
  char text[32];
  size_t len = strlen(value);
  bool plain = consists_of(value, "0123456789");
  if (plain && len == 7)
    snprintf(text, sizeof text, "%.3s.%.2s.%.2s", value, value + 3, value + 5);
  else if (plain && len == 5)
    snprintf(text, sizeof text, "%.3s.%.2s", value, value + 3);
  else
    snprintf(text, sizeof text, "%s", value);
  nai_set_str(capture, 0, CAPTURE_driver_version, text);
}

/* L4X is Linux, the release of its kernel tells which; others (Windows, L4T, ...) name themselves. */
static void put_platform(struct nai_table *capture, const char *name, const char *value) {
  enum { LONGEST = 16 };
  bool known = *nai_cell_str(capture, 0, "platform") != '\0';
  if (strcmp(name, "SoftwarePlatform") == 0 && strcmp(value, "L4X") != 0 && strlen(value) <= LONGEST &&
      consists_of(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"))
    nai_set_str(capture, 0, CAPTURE_platform, value);
  if (strcmp(name, "SoftwareReleaseVersion") == 0 && !known)
    nai_set_str(capture, 0, CAPTURE_platform, strcasestr(value, "microsoft") ? "WSL2" : "Linux");
}

static int on_environment(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct nai_table *capture = ctx;
  char *name = NULL, *value = NULL;
  int rc = nai_small_text(&name, &cells[0], NAME_MAX_BYTES, err);
  if (!rc)
    rc = nai_small_text(&value, &cells[1], VALUE_MAX, err);
  if (name && value && strcmp(name, "NvDriverVersion") == 0 && consists_of(value, "0123456789."))
    put_driver(capture, value);
  if (name && value && strcmp(name, "CudaDriverVersion") == 0 && consists_of(value, "0123456789") &&
      strlen(value) < 7) {
    char text[24];
    int number = atoi(value);
    snprintf(text, sizeof text, "%d.%d", number / 1000, number % 1000 / 10);
    nai_set_str(capture, 0, CAPTURE_cuda_driver_version, text);
  }
  if (name && value)
    put_platform(capture, name, value);
  free(name);
  free(value);
  return rc;
}

/* --- options of the profiler ------------------------------------------------------------------ */

/* Options that decide what is recorded and what that costs: prefixes of their names, without the process. */
static bool is_option(const char *name) {
  static const char *const prefixes[] = {"COLLECT_",
                                         "USE_",
                                         "SAMPLE_",
                                         "TRACE_",
                                         "CUDA_FLUSH_",
                                         "CUDA_SKIP_",
                                         "CUDA_GRAPH_TRACE_OPTIONS:",
                                         "CUDA_BACKTRACE_OPTIONS:",
                                         "LINUX_PERF_OPTIONS:COLLECT_",
                                         "LINUX_PERF_OPTIONS:SAMPLING_PERIOD",
                                         "OS_RUNTIME_OPTIONS:",
                                         "GPU_METRICS_OPTIONS:FREQUENCY"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
      return consists_of(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:");
  return false;
}

/* "PROCESS_0:COLLECT_X" -> "COLLECT_X" */
static const char *without_process(const char *name) {
  const char *colon = strchr(name, ':');
  return strncmp(name, "PROCESS_", 8) == 0 && colon ? colon + 1 : name;
}

/* A switch that is on, a number other than 0, how graphs are traced. */
static bool is_setting(const char *name, const char *value) {
  if (strcmp(name, "CUDA_GRAPH_TRACE_OPTIONS:MODE") == 0)
    return strcmp(value, "Graph") == 0 || strcmp(value, "Node") == 0;
  return strcmp(value, "true") == 0 || (consists_of(value, "0123456789") && strcmp(value, "0") != 0);
}

static int on_option(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct nai_strings *options = ctx;
  char *name = NULL, *value = NULL, text[NAME_MAX_BYTES + VALUE_MAX + 2];
  int rc = nai_small_text(&name, &cells[0], NAME_MAX_BYTES, err);
  if (!rc)
    rc = nai_small_text(&value, &cells[1], VALUE_MAX, err);
  if (name && value) {
    const char *option = without_process(name);
    if (is_option(option) && is_setting(option, value)) {
      bool on = strcmp(value, "true") == 0;
      int len = snprintf(text, sizeof text, "%s%s%s", option, on ? "" : "=", on ? "" : value);
      if (nai_strings_add(options, text, (size_t)len) == NAI_NO_STRING)
        rc = nai_err_nomem(err);
    }
  }
  free(name);
  free(value);
  return rc;
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static int put_options(struct nai_table *capture, const struct nai_strings *options, struct nai_err *err) {
  const char **list = malloc(((size_t)options->count + 1) * sizeof *list);
  char text[OPTIONS_MAX] = "";
  size_t len = 0;
  if (!list)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < options->count; i++)
    list[i] = nai_strings_get(options, i);
  qsort(list, options->count, sizeof *list, by_text);
  for (uint32_t i = 0; i < options->count && len + strlen(list[i]) + 3 < sizeof text; i++)
    len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", i ? " " : "", list[i]);
  if (options->count)
    nai_set_str(capture, 0, CAPTURE_profiler_options, text);
  free(list);
  return NAI_OK;
}

int nai_capture_facts(struct nai_table *capture, struct nai_trace *trace, struct nai_err *err) {
  static const char *const columns[] = {"name", "value", NULL};
  struct nai_strings options = {0};
  int rc = nai_small_scan(trace, "TARGET_INFO_SYSTEM_ENV", columns, 10000, on_environment, capture, err);
  if (!rc)
    rc = nai_small_scan(trace, "META_DATA_CAPTURE", columns, 10000, on_option, &options, err);
  if (!rc)
    rc = put_options(capture, &options, err);
  nai_strings_free(&options);
  return rc;
}
