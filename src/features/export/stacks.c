/* Stacks of range names, or of the program's calls, with the kernels launched in them: folded, and for
 * www.speedscope.app. */
#include "features/export/stacks.h"

#include "base/sort.h"
#include "features/export/command.h"

/* --- stacks of ranges -------------------------------------------------------------------------------- */

/* A row per stack: thread, path, leaf, ns. Names of ranges may hold " > ", so paths are made of numbers of nodes. */
enum { S_PID, S_TID, S_NODE, S_LEAF, S_NS };
static const char *const stack_statements[] = {
    [NAI_CMD_GPU_TIME] =
        "select pid, tid, node, name, duration_ns from v_kernels where (:gpu is null or device_id = :gpu)",
    [NAI_CMD_WALL] =
        "select pid, tid, rowid, null, self_ns from nvtx_nodes where self_ns > 0 and :gpu is null order by rowid"};
static const char node_statement[] = "select rowid, parent, range_name from nvtx_nodes order by rowid";

enum { DEEPEST = 4096 };

/* Names from the outermost range to that of a row, behind the thread; their number. */
static uint32_t path_of(const char *path[DEEPEST], const struct nai_stacks *s, int64_t row) {
  const struct nai_value *node = nai_query_cell(&s->rows, row, S_NODE);
  uint32_t depth = 0;
  for (int64_t at = node->null ? -1 : node->i; at >= 0 && at < s->nodes.rows && depth < DEEPEST;) {
    const struct nai_value *parent = nai_query_cell(&s->nodes, at, 1);
    path[depth++] = nai_query_cell_text(&s->nodes, at, 2);
    at = parent->null ? -1 : parent->i;
  }
  for (uint32_t i = 0; i < depth / 2; i++) {
    const char *swap = path[i];
    path[i] = path[depth - 1 - i];
    path[depth - 1 - i] = swap;
  }
  return depth;
}

static int64_t cell_or_null(const struct nai_stacks *s, int64_t row, int column) {
  const struct nai_value *value = nai_query_cell(&s->rows, row, column);
  return value->null ? NAI_NULL_I64 : value->i;
}

static int add_ranges(struct nai_stacks *s, int64_t row, struct nai_err *err) {
  const char *frames[DEEPEST + 2];
  uint32_t depth = path_of(frames + 1, s, row);
  frames[0] = nai_stacks_thread(s, cell_or_null(s, row, S_PID), cell_or_null(s, row, S_TID));
  if (!depth)
    frames[++depth] = "(no range)";
  if (!nai_query_cell(&s->rows, row, S_LEAF)->null)
    frames[++depth] = nai_query_cell_text(&s->rows, row, S_LEAF);
  return nai_stacks_add(s, frames, depth + 1, nai_query_cell_int(&s->rows, row, S_NS), err);
}

static int collect(struct nai_stacks *s, struct nai_run *run, const struct nai_cmd_stacks *how, struct nai_err *err) {
  const struct nai_query_parameter gpu = nai_query_int("gpu", how->gpu, INT64_MIN);
  if (how->calls)
    return nai_stacks_of_calls(s, run, how->gpu, err);
  NAI_TRY(nai_query_ask_sums(&s->rows, run, stack_statements[how->metric], &gpu, 1, err));
  NAI_TRY(nai_query_ask(&s->nodes, run, node_statement, NULL, 0, err));
  for (int64_t row = 0; row < s->rows.rows; row++)
    NAI_TRY(add_ranges(s, row, err));
  return nai_arena_check(&s->arena, err);
}

/* --- folded ------------------------------------------------------------------------------------------ */

/* A frame: what separates frames and lines stands in no name. */
static void put_frame(struct nai_buf *out, const char *name) {
  for (; *name; name++)
    nai_buf_putc(out, *name == ';' ? ':' : *name == '\n' ? ' ' : *name);
}

static int put_sorted(struct nai_buf *out, struct nai_buf *lines, size_t count, struct nai_err *err) {
  NAI_FREED char **list = calloc(count + 1, sizeof *list);
  char *at = lines->data;
  NAI_TRY(nai_memory_check(list && !lines->oom, err));
  for (size_t i = 0; i < count; i++, at += strlen(at) + 1)
    list[i] = at;
  qsort(list, count, sizeof *list, nai_by_text);
  for (size_t i = 0; i < count; i++) {
    nai_buf_puts(out, list[i]);
    nai_buf_putc(out, '\n');
  }
  return NAI_OK;
}

int nai_cmd_put_folded(size_t *count, struct nai_buf *out, struct nai_run *run, const struct nai_cmd_stacks *how,
                       struct nai_err *err) {
  NAI_SCOPED(nai_stacks) s = {0};
  NAI_SCOPED(nai_buf) lines = {0};
  NAI_TRY(collect(&s, run, how, err));
  for (uint32_t i = 0; i < s.count; i++) {
    for (uint32_t f = 0; f < s.v[i].count; f++) {
      if (f)
        nai_buf_putc(&lines, ';');
      put_frame(&lines, s.v[i].frames[f]);
    }
    nai_buf_printf(&lines, " %" PRId64, s.v[i].ns);
    nai_buf_putc(&lines, '\0');
  }
  *count = s.count;
  return s.count ? put_sorted(out, &lines, s.count, err) : NAI_OK;
}

/* --- speedscope -------------------------------------------------------------------------------------- */

static void put_sample(struct nai_json *json, struct nai_strings *frames, const struct nai_stack *stack) {
  nai_json_begin_array(json, NAI_JSON_INLINE);
  for (uint32_t f = 0; f < stack->count; f++)
    nai_json_int(json, nai_strings_add(frames, stack->frames[f], strlen(stack->frames[f])));
  nai_json_end(json);
}

static void put_profile(struct nai_json *json, struct nai_strings *frames, const struct nai_stacks *s,
                        const char *name) {
  int64_t total = 0;
  nai_json_begin_object(json, NAI_JSON_LINES);
  nai_json_put_text(json, "type", "sampled");
  nai_json_put_text(json, "name", name);
  nai_json_put_text(json, "unit", "nanoseconds");
  nai_json_put_int(json, "startValue", 0);
  for (uint32_t i = 0; i < s->count; i++)
    total += s->v[i].ns;
  nai_json_put_int(json, "endValue", total);
  nai_json_put_array(json, "samples", NAI_JSON_LINES);
  for (uint32_t i = 0; i < s->count; i++)
    put_sample(json, frames, &s->v[i]);
  nai_json_end(json);
  nai_json_put_array(json, "weights", NAI_JSON_INLINE);
  for (uint32_t i = 0; i < s->count; i++)
    nai_json_int(json, s->v[i].ns);
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

int nai_cmd_put_speedscope(struct nai_buf *out, struct nai_run *run, const struct nai_cmd_stacks *stacks,
                           const struct nai_cmd_timeline *how, struct nai_err *err) {
  const char *trace = nai_run_manifest(run)->trace ? nai_run_manifest(run)->trace : "";
  NAI_SCOPED(nai_stacks) s = {0};
  NAI_SCOPED(nai_strings) frames = {0};
  NAI_SCOPED(nai_json) json = {0};
  NAI_TRY(collect(&s, run, stacks, err));
  nai_json_open(&json, out, NAI_JSON_LINES);
  nai_json_put_text(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
  nai_json_put_text(&json, "exporter", "nsys-ai " NAI_VERSION);
  nai_json_put_text(&json, "name", trace);
  nai_json_put_int(&json, "activeProfileIndex", 0);
  nai_json_put_array(&json, "profiles", NAI_JSON_LINES);
  put_profile(&json, &frames, &s,
              stacks->calls                        ? "GPU time by call stack"
              : stacks->metric == NAI_CMD_GPU_TIME ? "GPU time by range"
                                                   : "time of ranges");
  NAI_TRY(nai_cmd_put_profiles(&(struct nai_export_profiles){&json, &frames}, run, how, err));
  nai_json_end(&json);
  put_frames(&json, &frames);
  nai_json_close(&json);
  return NAI_OK;
}
