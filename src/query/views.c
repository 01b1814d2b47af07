/* Views: each kind of event with what belongs to it, joined by row numbers. */
#include "query/internal.h"

#include "model/model.h"
#include "tables/runs.h"

bool nai_database_has_model(const struct nai_run *run) { return !nai_run_find_loaded(run, nai_runs_schema.name); }

#define TEXT_OF(word) #word
#define NUMBER(macro) TEXT_OF(macro)

/* Frame of an operation on a GPU: e is its row of events, l its row of launches. */
#define OPERATION                                                                                                          \
  "e.process, e.start_ns, e.end_ns, e.end_ns - e.start_ns AS duration_ns, e.device_id, p.pid, e.context_id, e.stream_id, " \
  "e.correlation_id, e.graph_id, "
#define LAUNCH                                                                                                    \
  "l.call, a.name AS call_name, a.start_ns AS call_start_ns, a.end_ns AS call_end_ns, l.latency_ns, l.queue_ns, " \
  "a.thread, t.tid, t.thread_name, l.node, l.range_name, l.path"
#define JOINS(launches)                                                                         \
  "LEFT JOIN " launches " l ON l.rowid = e.rowid LEFT JOIN processes p ON p.rowid = e.process " \
  "LEFT JOIN api_events a ON a.rowid = l.call LEFT JOIN threads t ON t.rowid = a.thread"

const char *const nai_query_views[][3] = {
    {"v_kernels",
     "SELECT e.rowid AS kernel, e.name, l.short_name, l.category, " OPERATION
     "c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, c.block_z, c.registers_per_thread, c.static_shared_bytes, "
     "c.dynamic_shared_bytes, " LAUNCH
     " FROM kernel_events e " JOINS("kernel_launches") " "
                                                       "LEFT JOIN kernel_configs c ON c.rowid = e.config",
     "One kernel execution, with its launch configuration, the call that launched it and the range around that"},
    {"v_copies",
     "SELECT e.rowid AS copy, l.direction, l.src_memory AS src_kind, l.dst_memory AS dst_kind, e.bytes, "
     "CASE WHEN e.bytes / " NUMBER(NAI_MEMOP_BYTES_PER_NS) " <= max(e.end_ns - e.start_ns, " NUMBER(
         NAI_MEMOP_SHORT_NS) ") "
                             "THEN CAST(e.bytes AS REAL) / nullif(e.end_ns - e.start_ns, 0) END AS gb_per_s, " OPERATION
                                 LAUNCH " FROM memop_events e " JOINS("memop_launches"),
     "One memcpy or memset, with the call that made it and the range around that"},
    {"v_calls",
     "SELECT a.rowid AS call, a.name, a.start_ns, a.end_ns, a.end_ns - a.start_ns AS duration_ns, r.class, "
     "t.process, a.thread, "
     "t.pid, t.tid, t.thread_name, a.correlation_id, a.return_value, "
     "(SELECT count(*) FROM kernel_launches WHERE call = a.rowid) + (SELECT count(*) FROM memop_launches WHERE "
     "call = a.rowid) + "
     "(SELECT count(*) FROM graph_event_launches WHERE call = a.rowid) AS operation_count, r.node, r.range_row, "
     "r.range_name, r.path "
     "FROM api_events a LEFT JOIN call_ranges r ON r.rowid = a.rowid LEFT JOIN threads t ON t.rowid = a.thread",
     "One CUDA API call, with its thread, the operations it launched and the range around it"},
    {"v_ranges",
     "SELECT e.rowid AS range, e.thread, e.name, e.start_ns, e.end_ns, e.end_ns - e.start_ns AS duration_ns, "
     "e.kind, t.process, "
     "t.pid, t.tid, t.thread_name, d.depth FROM nvtx_events e LEFT JOIN threads t ON t.rowid = e.thread "
     "LEFT JOIN range_depths d ON d.rowid = e.rowid WHERE e.kind <> 2",
     "One NVTX range (no marks), with its thread and depth"},
    {"v_projection",
     "SELECT e.range, e.range_name, iif(e.style = 'start/end', e.range_name, n.path) AS path, "
     "(SELECT s.step FROM steps s WHERE s.pid = e.pid AND s.cpu_start_ns <= e.range_start_ns AND e.range_start_ns < "
     "s.cpu_end_ns LIMIT 1) AS step, "
     "e.style, e.pid, e.tid, t.thread_name, e.device_id, e.whole, e.is_inside, e.start_ns, e.end_ns, e.span_ns, "
     "e.own_busy_ns, e.busy_ns, e.idle_ns, e.range_start_ns, e.range_ns, e.start_lag_ns, e.end_lag_ns, e.op_count, "
     "e.launch_count, e.stream_count, e.kernel_ns, e.comm_ns, e.graph_ns, e.copy_ns "
     "FROM nvtx_projection_events e LEFT JOIN nvtx_nodes n ON n.rowid = e.node "
     "LEFT JOIN nvtx_events r ON r.rowid = e.range LEFT JOIN threads t ON t.rowid = r.thread",
     "One NVTX range with work on GPUs, with the names around it and the number of its step"},
    {"v_samples",
     "SELECT e.rowid AS sample, e.time_ns, t.process, e.thread, t.pid, t.tid, t.thread_name, e.cpu, "
     "nullif(f.symbol, '') AS function, f.module "
     "FROM sample_events e LEFT JOIN threads t ON t.rowid = e.thread "
     "LEFT JOIN callchain_frames f ON f.callchain_id = e.callchain_id AND f.kind = 0 AND f.depth = 0",
     "One sample of a CPU, with its thread and the innermost function"},
    {"v_ops",
     "SELECT 'kernel' AS op_type, e.rowid AS op_row, e.start_ns, e.end_ns, e.device_id, e.process, e.context_id, "
     "e.stream_id, "
     "iif(l.category = 'communication', 'communication', 'compute') AS category "
     "FROM kernel_events e LEFT JOIN kernel_launches l ON l.rowid = e.rowid "
     "UNION ALL SELECT iif(kind = 1, 'set', 'copy'), rowid, start_ns, end_ns, device_id, process, context_id, "
     "stream_id, 'copy' "
     "FROM memop_events UNION ALL SELECT 'graph', rowid, start_ns, end_ns, device_id, process, context_id, "
     "stream_id, 'compute' "
     "FROM graph_events",
     "One operation on a GPU; categories compute, communication and copy, as in gpu_utilization"},
    {0}};

const struct nai_query_view_column nai_query_view_columns[] = {
    {"kernel", "INTEGER", NAI_ID, "row of kernel_events", "kernel_events"},
    {"copy", "INTEGER", NAI_ID, "row of memop_events", "memop_events"},
    {"call", "INTEGER", NAI_ID, "row of api_events", "api_events"},
    {"range", "INTEGER", NAI_ID, "row of nvtx_events", "nvtx_events"},
    {"sample", "INTEGER", NAI_ID, "row of sample_events", "sample_events"},
    {"function", "TEXT", NAI_TEXT, "innermost function; NULL: not known", NULL},
    {"op_row", "INTEGER", NAI_ID, "row of kernel_events, memop_events or graph_events, by op_type", NULL},
    {"op_type", "TEXT", NAI_TEXT, "kernel, copy, set or graph", NULL},
    {"category", "TEXT", NAI_TEXT, "compute, communication or copy", NULL},
    {"duration_ns", "INTEGER", NAI_NS, "from start to end", NULL},
    {"gb_per_s", "REAL", NAI_GB_PER_S, "bytes over duration; NULL where that is 0, or the rate impossible", NULL},
    {"path", "TEXT", NAI_TEXT, "names from the outermost range to this one, joined by \" > \"; NULL: not nested", NULL},
    {"operation_count", "INTEGER", NAI_COUNT, "operations on GPUs that the call launched", NULL},
    {0}};
