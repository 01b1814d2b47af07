/* Events of a run as flat rows: CSV, JSON and Parquet. */
#include "features/export/command.h"

/* Of kernels the columns that other tools for these traces have come first, so that what reads those reads these. Every
 * number is exact: ns as they are, ms and us as the decimals they are. What --trim cuts is cut in the innermost SELECT.
 */
#define CUT "iif(start_ns < :start_ns, :start_ns, start_ns) as from_ns, iif(end_ns > :end_ns, :end_ns, end_ns) as to_ns"
#define INSIDE "(:start_ns is null or end_ns > :start_ns) and (:end_ns is null or start_ns < :end_ns)"
#define ON_GPU "(:gpu is null or device_id = :gpu)"
/* Rows are put in order by number, before anything is joined to them: what is sorted is small. A subquery without LIMIT
 * could lose its order. */
#define IN_ORDER(table, where, keys, view, row)                                                         \
  "(select *, " CUT " from (select rowid as at from " table " where " where " order by start_ns, " keys \
  ", rowid limit -1) cross join " view " on " row " = at)"
#define TIMES "from_ns as start_ns, to_ns as end_ns, to_ns - from_ns as duration_ms, to_ns - from_ns as duration_us"
#define LENGTH ", to_ns - from_ns as duration_ns "
#define LAUNCH "call_start_ns as launch_start_ns, call_name as launch_api, tid as launch_tid"

/* Times are those of the event as far as --trim leaves it. */
static const struct nai_query_column computed[] = {
    {"start_ns", NAI_TIMESTAMP_NS, NAI_I64, "begin, since session start; not before that of --trim"},
    {"end_ns", NAI_TIMESTAMP_NS, NAI_I64, "end, since session start; not behind that of --trim"},
    {"duration_ms", NAI_MS, NAI_I64, "from start to end"},
    {"duration_us", NAI_US, NAI_I64, "from start to end"},
    {"duration_ns", NAI_NS, NAI_I64, "from start to end"},
    {"grid", NAI_TEXT, NAI_STR, "blocks of the launch: x, y, z"},
    {"block", NAI_TEXT, NAI_STR, "threads of a block: x, y, z"},
    {"nvtx_path", NAI_TEXT, NAI_STR,
     "names of the ranges around it, the outermost first; of a start/end range its own"},
    {"kind", NAI_TEXT, NAI_STR, "push/pop, which nests in its thread, or start/end"},
    {"gb_per_s", NAI_GB_PER_S, NAI_F64, "bytes over duration; empty where that is 0, or the rate impossible"},
    {"operation_count", NAI_COUNT, NAI_I64, "operations on GPUs that the call launched"}};

static const struct {
  const char *name, *about, *sql;
} lists[] = {
    {"kernels", "One kernel execution",
     "select name, " TIMES ", stream_id as stream, device_id as device, path as nvtx_path, short_name, category, pid, "
     "context_id as context, correlation_id, graph_id, " LAUNCH ", grid_x || 'x' || grid_y || 'x' || grid_z as grid, "
     "block_x || 'x' || block_y || 'x' || block_z as block" LENGTH
     "from " IN_ORDER("kernel_events", ON_GPU " and " INSIDE, "device_id, stream_id", "v_kernels", "kernel")},
    {"copies", "One copy or memset on a GPU",
     "select direction as name, " TIMES
     ", stream_id as stream, device_id as device, path as nvtx_path, bytes, src_kind, "
     "dst_kind, gb_per_s, pid, context_id as context, correlation_id, graph_id, " LAUNCH LENGTH
     "from " IN_ORDER("memop_events", ON_GPU " and " INSIDE, "device_id, stream_id", "v_copies", "copy")},
    {"calls", "One CUDA API call",
     "select name, " TIMES ", pid, tid, path as nvtx_path, thread_name, class, correlation_id, return_value, "
     "operation_count" LENGTH "from " IN_ORDER("api_events", INSIDE, "thread", "v_calls", "call")},
    {"ranges", "One NVTX range",
     "select name, " TIMES ", pid, tid, depth, thread_name, iif(kind = 0, 'push/pop', 'start/end') as kind" LENGTH
     "from " IN_ORDER("nvtx_events", "kind <> 2 and " INSIDE, "thread", "v_ranges", "range")},
    {"projections", "What one NVTX range launched, on each GPU and on all that it used",
     "select range_name as name, " TIMES
     ", device_id as device, whole, path as nvtx_path, step, pid, tid, style as kind, own_busy_ns, busy_ns, idle_ns, "
     "range_start_ns, range_ns, start_lag_ns, op_count, launch_count, stream_count" LENGTH "from (select *, " CUT
     " from v_projection where " ON_GPU " and " INSIDE ") order by 2, range, whole, device_id"},
    {"gaps", "One of the longest stretches in which a GPU ran nothing",
     "select cause as name, " TIMES
     ", device_id as device, next_op, launch_api, launch_thread, host_activity, nvtx_range, "
     "pid, tid" LENGTH "from (select *, " CUT
     " from (select *, gap_start_ns as start_ns, gap_end_ns as end_ns from gpu_idle_gaps) "
     "where " ON_GPU " and " INSIDE ") order by 2, device_id"},
};

const char *nai_cmd_flat_lists(size_t index, const char *before) {
  (void)before;
  return index < sizeof lists / sizeof *lists ? lists[index].name : NULL;
}

bool nai_cmd_flat_has_gpu(int list) { return strstr(lists[list].sql, ":gpu"); }

int nai_cmd_put_flat(struct nai_buf *out, struct nai_run *run, const struct nai_cmd_flat *how, struct nai_err *err) {
  const struct nai_query_parameter parameters[] = {nai_query_int("gpu", how->gpu, INT64_MIN),
                                                   nai_query_int("start_ns", how->start_ns, INT64_MIN),
                                                   nai_query_int("end_ns", how->end_ns, INT64_MAX)};
  const struct nai_query_text text = {.sql = lists[how->list].sql, .label = "export"};
  const struct nai_query query = {.run = run,
                                  .text = &text,
                                  .parameters = parameters,
                                  .parameter_count = sizeof parameters / sizeof *parameters,
                                  .limits = {.rows = -1},
                                  .computed = computed,
                                  .computed_count = sizeof computed / sizeof *computed};
  const struct nai_parquet_options parquet = {.gzip = how->gzip, .about = lists[how->list].about};
  const struct nai_cmd_printing printing = {.format = how->format};
  bool truncated;
  return how->format == NAI_ROWS_FORMATS ? nai_cmd_query_parquet(&truncated, out, &query, &parquet, err)
                                         : nai_cmd_query(&truncated, out, &query, &printing, err);
}
