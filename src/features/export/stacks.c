/* Stacks of range names with the kernels launched in them: folded, and for www.speedscope.app. */
#include "features/export/command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A row per stack: thread, path, leaf, ns. Names of ranges may hold " > ", so paths are made of numbers of nodes. */
enum { S_PID, S_TID, S_NODE, S_LEAF, S_NS };
static const char *const stack_statements[] = {
    [NAI_CMD_GPU_TIME] =
        "select pid, tid, node, name, duration_ns from v_kernels where (:gpu is null or device_id = :gpu)",
    [NAI_CMD_WALL] =
        "select pid, tid, rowid, null, self_ns from nvtx_nodes where self_ns > 0 and :gpu is null order by rowid"};
static const char node_statement[] = "select rowid, parent, range_name from nvtx_nodes order by rowid";

struct stacks {
  struct nai_query_rows rows, nodes;
};

static int collect(struct stacks *s, struct nai_run *run, int metric, int64_t gpu_id, struct nai_err *err) {
  const struct nai_query_parameter gpu = nai_query_int("gpu", gpu_id, INT64_MIN);
  NAI_TRY(nai_query_ask_sums(&s->rows, run, stack_statements[metric], &gpu, 1, err));
  return nai_query_ask(&s->nodes, run, node_statement, NULL, 0, err);
}

static void stacks_free(struct stacks *s) {
  nai_query_rows_free(&s->rows);
  nai_query_rows_free(&s->nodes);
}

enum { DEEPEST = 4096 };

/* Nodes from the outermost to that of a row; their number. */
static int path_of(int64_t path[DEEPEST], const struct stacks *s, int64_t row) {
  const struct nai_value *node = nai_query_cell(&s->rows, row, S_NODE);
  int depth = 0;
  for (int64_t at = node->null ? -1 : node->i; at >= 0 && at < s->nodes.rows && depth < DEEPEST;) {
    const struct nai_value *parent = nai_query_cell(&s->nodes, at, 1);
    path[depth++] = at;
    at = parent->null ? -1 : parent->i;
  }
  for (int i = 0; i < depth / 2; i++) {
    int64_t swap = path[i];
    path[i] = path[depth - 1 - i];
    path[depth - 1 - i] = swap;
  }
  return depth;
}

static void put_thread(struct nai_buf *out, const struct stacks *s, int64_t row) {
  const struct nai_value *pid = nai_query_cell(&s->rows, row, S_PID), *tid = nai_query_cell(&s->rows, row, S_TID);
  if (pid->null)
    nai_buf_puts(out, "pid unknown");
  else
    nai_buf_printf(out, "pid %" PRId64, pid->i);
  if (tid->null)
    nai_buf_puts(out, " (launch not in the trace)");
  else
    nai_buf_printf(out, " thread %" PRId64, tid->i);
}

/* --- folded ------------------------------------------------------------------------------------------ */

/* A frame: what separates frames and lines stands in no name. */
static void put_frame(struct nai_buf *out, const char *name) {
  for (; *name; name++)
    nai_buf_putc(out, *name == ';' ? ':' : *name == '\n' ? ' ' : *name);
}

static int compare_lines(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int put_sorted(struct nai_buf *out, struct nai_buf *lines, size_t count, struct nai_err *err) {
  NAI_FREED char **list = calloc(count + 1, sizeof *list);
  char *at = lines->data;
  if (!list || lines->oom)
    return nai_err_nomem(err);
  for (size_t i = 0; i < count; i++, at += strlen(at) + 1)
    list[i] = at;
  qsort(list, count, sizeof *list, compare_lines);
  for (size_t i = 0; i < count; i++) {
    nai_buf_puts(out, list[i]);
    nai_buf_putc(out, '\n');
  }
  return NAI_OK;
}

int nai_cmd_put_folded(struct nai_buf *out, struct nai_run *run, int metric, int64_t gpu_id, struct nai_err *err) {
  NAI_SCOPED(stacks) s = {0};
  NAI_SCOPED(nai_buf) lines = {0};
  int64_t path[DEEPEST];
  NAI_TRY(collect(&s, run, metric, gpu_id, err));
  for (int64_t row = 0; row < s.rows.rows; row++) {
    int depth = path_of(path, &s, row);
    put_thread(&lines, &s, row);
    for (int i = 0; i < depth; i++) {
      nai_buf_putc(&lines, ';');
      put_frame(&lines, nai_query_cell_text(&s.nodes, path[i], 2));
    }
    if (!depth)
      nai_buf_puts(&lines, ";(no range)");
    if (!nai_query_cell(&s.rows, row, S_LEAF)->null) {
      nai_buf_putc(&lines, ';');
      put_frame(&lines, nai_query_cell_text(&s.rows, row, S_LEAF));
    }
    nai_buf_printf(&lines, " %" PRId64, nai_query_cell_int(&s.rows, row, S_NS));
    nai_buf_putc(&lines, '\0');
  }
  return s.rows.rows ? put_sorted(out, &lines, (size_t)s.rows.rows, err) : NAI_OK;
}

/* --- speedscope -------------------------------------------------------------------------------------- */

static void put_frame_number(struct nai_json *json, struct nai_strings *frames, const char *name) {
  nai_json_int(json, nai_strings_add(frames, name, strlen(name)));
}

static void put_sample(struct nai_json *json, struct nai_strings *frames, const struct stacks *s, int64_t row) {
  NAI_SCOPED(nai_buf) thread = {0};
  int64_t path[DEEPEST];
  int depth = path_of(path, s, row);
  const char *leaf = nai_query_cell_text(&s->rows, row, S_LEAF);
  put_thread(&thread, s, row);
  nai_json_begin_array(json, NAI_JSON_INLINE);
  put_frame_number(json, frames, nai_buf_str(&thread));
  for (int i = 0; i < depth; i++)
    put_frame_number(json, frames, nai_query_cell_text(&s->nodes, path[i], 2));
  if (!depth)
    put_frame_number(json, frames, "(no range)");
  if (*leaf)
    put_frame_number(json, frames, leaf);
  nai_json_end(json);
}

static void put_profile(struct nai_json *json, struct nai_strings *frames, const struct stacks *s, const char *name) {
  int64_t total = 0;
  nai_json_begin_object(json, NAI_JSON_LINES);
  nai_json_put_text(json, "type", "sampled");
  nai_json_put_text(json, "name", name);
  nai_json_put_text(json, "unit", "nanoseconds");
  nai_json_put_int(json, "startValue", 0);
  for (int64_t row = 0; row < s->rows.rows; row++)
    total += nai_query_cell_int(&s->rows, row, S_NS);
  nai_json_put_int(json, "endValue", total);
  nai_json_put_array(json, "samples", NAI_JSON_LINES);
  for (int64_t row = 0; row < s->rows.rows; row++)
    put_sample(json, frames, s, row);
  nai_json_end(json);
  nai_json_put_array(json, "weights", NAI_JSON_INLINE);
  for (int64_t row = 0; row < s->rows.rows; row++)
    nai_json_int(json, nai_query_cell_int(&s->rows, row, S_NS));
  nai_json_end(json);
  nai_json_end(json);
}

static void put_frames(struct nai_json *json, const struct nai_strings *frames) {
  nai_json_put_object(json, "shared", NAI_JSON_LINES);
  nai_json_put_array(json, "frames", NAI_JSON_LINES);
  for (uint32_t i = 0; i < frames->count; i++) {
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "name", nai_strings_get(frames, i));
    nai_json_end(json);
  }
  nai_json_end(json);
  nai_json_end(json);
}

int nai_cmd_put_speedscope(struct nai_buf *out, struct nai_run *run, int metric, const struct nai_cmd_timeline *how,
                           struct nai_err *err) {
  const char *trace = nai_run_manifest(run)->trace ? nai_run_manifest(run)->trace : "";
  NAI_SCOPED(stacks) s = {0};
  NAI_SCOPED(nai_strings) frames = {0};
  NAI_SCOPED(nai_json) json = {0};
  NAI_TRY(collect(&s, run, metric, how->options.gpu, err));
  nai_json_open(&json, out, NAI_JSON_LINES);
  nai_json_put_text(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
  nai_json_put_text(&json, "exporter", "nsys-ai " NAI_VERSION);
  nai_json_put_text(&json, "name", trace);
  nai_json_put_int(&json, "activeProfileIndex", 0);
  nai_json_put_array(&json, "profiles", NAI_JSON_LINES);
  put_profile(&json, &frames, &s, metric == NAI_CMD_GPU_TIME ? "GPU time by range" : "time of ranges");
  NAI_TRY(nai_cmd_put_profiles(&(struct nai_export_profiles){&json, &frames}, run, how, err));
  nai_json_end(&json);
  put_frames(&json, &frames);
  nai_json_close(&json);
  return NAI_OK;
}
