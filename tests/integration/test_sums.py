"""Whatever a table promises to add up to, adds up, to the ns: every declared total, on every scenario and every real trace."""
import collections
import concurrent.futures
import contextlib
import sqlite3
import unittest
from decimal import Decimal

import support
from support import DIAGNOSIS, PAIRS, SCENARIOS, SOURCE, edited, fresh_dir, read_csv, run, trace

PARTITION = ("compute", "exposed_comm", "exposed_copy", "idle")
WAITING = ("wait", "transfer", "tail")


def in_unit(parts, unit):
    return [f"{part}_{unit}" for part in parts]


# Of one row: columns whose sum is another one. A row where the first part is empty tells nothing and is passed over.
ROWS = [
    ("gpu_utilization", in_unit(PARTITION, "ns"), "window_ns"),
    ("gpu_utilization", ["busy_ns", "idle_ns"], "window_ns"),
    ("gpu_utilization", ["kernel_busy_ns", "kernel_idle_ns"], "kernel_window_ns"),
    ("active_spans", in_unit(PARTITION, "ns"), "duration_ns"),
    ("gpu_active", in_unit(PARTITION, "ns"), "active_ns"),
    ("gpu_active", ["active_ns", "pause_ns", "set_up_ns"], "window_ns"),
    ("steps", in_unit(PARTITION, "ms"), "duration_ms"),
    ("launch_breakdown", ["in_api_ms", "stream_wait_ms", "device_wait_ms", "gap_after_api_ms"], "call_to_start_ms"),
    ("gpu_idle_gaps", ["before_call_ms", "in_call_ms", "after_call_ms"], "gap_ms"),
    ("nvtx_phases", ["kernel_time_ms", "graph_time_ms", "copy_time_ms"], "gpu_time_ms"),
    ("comm_instances", in_unit(WAITING, "us"), "duration_us"),
    ("comm_ranks", in_unit(WAITING, "ns"), "matched_ns"),
    ("step_comm", in_unit(WAITING, "ms"), "matched_ms"),
    ("gap_activity", ["on_cpu_ms", "off_cpu_ms", "sched_unknown_ms"], "total_ms"),
    ("unified_memory", ["to_gpu_bytes", "to_host_bytes", "between_gpus_bytes"], "migrated_bytes"),
    ("unified_memory", [f"{c}_bytes" for c in ("prefetch", "fault", "speculative", "eviction", "access_counter", "other_cause")],
     "migrated_bytes"),
    ("nvtx_phases", ["kernel_time_ms", "graph_time_ms", "copy_time_ms"], "gpu_time_ms"),
    ("step_summary", ["steady_steps", "warm_up_steps", "truncated_steps", "paused_steps"], "steps"),
]

# Over rows: (table, column, key, other table, its column), where the sums of both by the key are the same. A column may be
# "1": rows count. A table may be a function of a run.
TOTALS = [
    ("kernels", "total_time_ns", ["device_id", "category"], "kernel_categories", "total_time_ns"),
    ("kernels", "call_count", ["device_id", "category"], "kernel_categories", "call_count"),
    ("kernels", "total_time_ns", ["device_id", "kernel_name"], "kernel_shape", "total_time_ns"),
    ("kernels", "call_count", ["device_id", "kernel_name"], "kernel_shape", "call_count"),
    ("kernels", "total_time_ms", ["kernel_name"], "kernel_paths", "total_time_ms"),
    ("kernels", "call_count", ["kernel_name"], "kernel_paths", "call_count"),
    ("kernels", "total_time_ms", [], "run_info", "kernel_time_ms"),
    ("kernels", "call_count", [], "run_info", "kernel_count"),
    ("kernels_by_pid", "total_time_ms", ["pid"], "process_summary", "kernel_time_ms"),
    ("kernels_by_pid", "call_count", ["pid"], "process_summary", "kernel_count"),
    ("idle_causes", "total_ns", ["device_id"], "gpu_utilization", "idle_ns"),
    ("idle_causes", "active_ms", ["device_id"], "gpu_active", "idle_ms"),
    ("active_spans", "duration_ns", ["device_id"], "gpu_utilization", "window_ns"),
    *(("active_spans", f"{part}_ns", ["device_id"], "gpu_utilization", f"{part}_ns") for part in PARTITION),
    *(("spans of kind active", f"{part}_ns", ["device_id"], "gpu_active", f"{part}_ns") for part in PARTITION),
    ("spans of kind active", "kernel_time_ms", ["device_id"], "gpu_active", "kernel_time_ms"),
    ("spans of kind active", "kernel_count", ["device_id"], "gpu_active", "kernel_count"),
    ("comm_ops", "exposed_ns", ["device_id"], "gpu_utilization", "exposed_comm_ns"),
    ("comm_ops", "active_exposed_ns", ["device_id"], "gpu_active", "exposed_comm_ns"),
    ("comm_streams", "exposed_ns", ["device_id"], "gpu_utilization", "exposed_comm_ns"),
    ("comm_streams", "active_exposed_ns", ["device_id"], "gpu_active", "exposed_comm_ns"),
    ("comm_ops", "total_time_ns", ["device_id"], "communication kernels", "total_time_ns"),
    ("comm_streams", "total_time_ns", ["device_id"], "communication kernels", "total_time_ns"),
    ("comm_ranks", "total_time_ns", ["device_id"], "communication kernels", "total_time_ns"),
    ("comm_streams", "overlapped_ns", ["device_id"], "comm_ops", "overlapped_ns"),
    *(("comm_ops", f"{part}_ns", ["device_id"], "comm_ranks", f"{part}_ns") for part in WAITING),
    ("listed communication", "duration_us", ["device_id"], "communication kernels, if listed", "total_time_ns"),
    ("listed communication", "exposed_us", ["device_id"], "gpu_utilization, if listed", "exposed_comm_ns"),
    ("step_comm", "total_time_ms", ["device_id", "pid"], "ranks with steps", "total_time_ms"),
    ("step_comm", "matched_ms", ["device_id", "pid"], "ranks with steps", "matched_ms"),
    *(("step_comm", f"{part}_ms", ["device_id", "pid"], "ranks with steps", f"{part}_ms") for part in WAITING),
    ("step_comm", "exposed_ms", ["device_id", "pid"], "streams with steps", "exposed_ms"),
    ("step_comm", "overlapped_ms", ["device_id", "pid"], "streams with steps", "overlapped_ms"),
    ("steady steps", "duration_ms", ["pid", "device_id"], "step_summary", "steady_ms"),
    ("steady steps", "input_wait_ms", ["pid", "device_id"], "step_summary", "input_wait_ms"),
    ("steady steps", "excess_ms", ["pid", "device_id"], "step_summary", "excess_ms"),
    ("steady steps", "is_outlier", ["pid", "device_id"], "step_summary", "outlier_steps"),
    ("warm-up steps", "duration_ms", ["pid", "device_id"], "step_summary", "warm_up_ms"),
    ("steps", "1", ["pid", "device_id"], "step_summary", "steps"),
    ("step_idle", "total_ms", ["pid", "device_id"], "steady steps", "idle_ms"),
    ("step_categories", "total_ms", ["pid", "device_id"], "steady steps", "kernel_ms"),
    ("sync_by_pid", "total_time_ms", ["api_name", "class"], "sync_calls", "total_time_ms"),
    ("sync_by_pid", "call_count", ["api_name", "class"], "sync_calls", "call_count"),
    ("memory_transfers", "count", [], "run_info", "memory_operation_count"),
    ("copies", "count", ["device_id", "copy_kind", "src_kind_id", "dst_kind_id"], "copy_rates", "count"),
    ("uvm_kernels", "covered_ms", ["device_id"], "unified_memory", "covered_ms"),
    ("nvtx_coverage of processes", "kernel_time_ms", ["pid"], "process_summary with NVTX in the trace", "kernel_time_ms"),
    ("nvtx_coverage of processes", "kernel_count", ["pid"], "process_summary with NVTX in the trace", "kernel_count"),
    ("nvtx_ranges", "self_kernel_time_ms", [], "nvtx_coverage of all", "attributed_kernel_time_ms"),
    ("nvtx_coverage of processes", "attributed_kernel_time_ms", [], "nvtx_coverage of all", "attributed_kernel_time_ms"),
    ("nvtx_by_pid", "nvtx_count", ["range_name"], "nvtx_ranges", "count"),
    ("nvtx_phases", "gpu_time_ms", [], "work of GPUs, if by phase", "total_time_ms"),
    ("nvtx_phases", "kernel_time_ms", [], "run_info with phases", "kernel_time_ms"),
    ("nvtx_phases", "kernel_count", [], "run_info with phases", "kernel_count"),
    ("graph_ranges", "kernel_time_ms", ["pid"], "graphs by nodes", "kernel_time_ms"),
    ("graph_ranges", "kernel_count", ["pid"], "graphs by nodes", "kernel_count"),
    ("graph_launches", "duration_us", ["pid", "device_id", "graph_id"], "graphs", "envelope_ms"),
    ("graph_launches", "1", ["pid", "device_id", "graph_id"], "graphs", "launch_count"),
    ("launch_rates by GPU", "kernel_time_ms", [], "launch_rates of all", "kernel_time_ms"),
    ("launch_rates by GPU", "kernel_count", [], "launch_rates of all", "kernel_count"),
    ("gap_functions by layer", "time_ms", ["subject", "layer"], "layers of gap_activity", "total_ms"),
    ("last points", "reserved_bytes", ["pid", "device_id", "memory_kind_id"], "memory_use", "end_bytes"),
    ("highest points", "reserved_bytes", ["pid", "device_id", "memory_kind_id"], "memory_use", "peak_bytes"),
]
# Every third all-reduce ends 5 us later on one of the GPUs.
LATE_ENDS = """UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = end + 5000 WHERE deviceId = 0 AND rowid % 3 = 0 AND shortName IN
               (SELECT id FROM StringIds WHERE value LIKE '%AllReduce%')"""
SCALE = {"ns": 1, "us": 1000, "ms": 1_000_000}


def exact(row, column):
    """The cell as whole ns, bytes or count; an empty one is 0."""
    if column == "1":
        return 1
    value = Decimal(row[column] or 0) * SCALE.get(column.rsplit("_", 1)[-1], 1)
    assert value == int(value), (column, row[column])
    return int(value)


class Tables:
    """Those of a run, and selections from them that sums speak of."""

    def __init__(self, directory):
        self.directory, self.cache = directory, {}

    def __getitem__(self, name):
        if name not in self.cache:
            self.cache[name] = SELECTIONS[name](self) if name in SELECTIONS else read_csv(self.directory, name)
        return self.cache[name]


def where(table, **wanted):
    return lambda run: [r for r in run[table] if all(r[k] == v for k, v in wanted.items())]


def is_listed(run):
    """Whether comm_instances holds all communication kernels."""
    return not any(r["unlisted_count"] for r in run["comm_capture"])


def by_last(rows, key):
    return list({tuple(r[k] for k in key): r for r in rows}.values())


def with_steps(table, key):
    """Rows of processes for which step_comm has rows."""
    def select(run):
        known = {tuple(r[k] for k in key) for r in run["step_comm"]}
        return [r for r in run[table] if tuple(r[k] for k in key) in known]
    return select


def layers(run):
    """The time of each row of gap_activity, once for each layer of evidence that gap_functions has for it."""
    told = {(r["subject"], r["layer"]) for r in run["gap_functions"] if r["layer"] != "launched_from"}
    return [{"subject": subject, "layer": layer, "total_ms": run["gap_activity"][int(subject)]["total_ms"]} for subject, layer in told]


def gpu_work(run):
    """Summed durations of kernels, graph envelopes, copies and memsets, where nvtx_phases divides them."""
    kinds = (("kernels", "total_time_ms"), ("memory_transfers", "total_time_ms"), ("graphs by envelopes", "envelope_ms"))
    return [{"total_time_ms": r[column]} for table, column in kinds for r in run[table]] if run["nvtx_phases"] else []


MEMORY = ("pid", "device_id", "memory_kind_id")
SELECTIONS = {
    "layers of gap_activity": layers,
    "gap_functions by layer": lambda run: [r for r in run["gap_functions"] if r["layer"] != "launched_from"],
    "spans of kind active": where("active_spans", kind="active"),
    "communication kernels": where("kernel_categories", category="communication"),
    "steady steps": where("steps", state="steady"),
    "warm-up steps": where("steps", state="warm-up"),
    "graphs by nodes": where("graphs", traced_by="node"),
    "graphs by envelopes": where("graphs", traced_by="graph"),
    "work of GPUs, if by phase": gpu_work,
    "nvtx_coverage of all": where("nvtx_coverage", scope="all"),
    "nvtx_coverage of processes": where("nvtx_coverage", scope="process"),
    "process_summary with NVTX in the trace": lambda run: run["process_summary"] if run["nvtx_coverage"] else [],
    "run_info with phases": lambda run: run["run_info"] if run["nvtx_phases"] else [],
    "launch_rates of all": where("launch_rates", scope="all"),
    "launch_rates by GPU": where("launch_rates", scope="gpu"),
    "copies": lambda run: [r for r in run["memory_transfers"] if r["direction"] != "memset" and r["copy_kind"] not in ("11", "12", "13")],
    "ranks with steps": with_steps("comm_ranks", ("device_id", "pid")),
    "streams with steps": with_steps("comm_streams", ("device_id", "pid")),
    "listed communication": lambda run: run["comm_instances"] if is_listed(run) else [],
    "communication kernels, if listed": lambda run: run["communication kernels"] if is_listed(run) else [],
    "gpu_utilization, if listed": lambda run: run["gpu_utilization"] if is_listed(run) else [],
    "last points": lambda run: by_last(run["memory_timeline"], MEMORY),
    "highest points": lambda run: by_last(sorted(run["memory_timeline"], key=lambda r: int(r["reserved_bytes"])), MEMORY),
}


def sums(run, table, column, key):
    """The sums that are not 0, by key."""
    found = collections.Counter()
    for row in run[table]:
        found[tuple(row[k] for k in key)] += exact(row, column)
    return {k: v for k, v in found.items() if v}


def runs():
    """Traces, with options."""
    if support.SANITIZED:
        return []
    yield from ((trace(s),) for s in (*SCENARIOS, *DIAGNOSIS, *PAIRS, "evidence"))
    yield support.edited("collectives-graph", LATE_ENDS),
    yield trace("inference"), "--phase-map", SOURCE / "phase-maps" / "inference.yaml"
    yield from ((path,) for path in support.exports())


class Overflow(unittest.TestCase):
    def test_launches_long_before_their_kernels(self):
        """Each latency fits into 64 bits, their sum does not: no number at all, rather than a wrong one."""
        kernels = "CUPTI_ACTIVITY_KIND_KERNEL"
        late = edited("loop", f"update {kernels} set start = start + (1 << 60), end = end + (1 << 60)")
        with contextlib.closing(sqlite3.connect(late)) as db:
            self.assertGreater(db.execute(f"select count(*) from {kernels}").fetchone()[0] << 60, 1 << 63)
        done = run("analyze", late, "--out", fresh_dir() / "r", "-q")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("add up to more than 292 years", done.stderr)


class Sums(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        self.seen = set()

    def test_all(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            every_run = list(runs())
            for words, directory in zip(every_run, pool.map(lambda words: support.artifacts(*words), every_run)):
                run = Tables(directory)
                with self.subTest(trace=words[0].stem):
                    self.check_rows(run)
                    self.check_totals(run)
        every = {(table, parts[0]) for table, parts, _ in ROWS} | {(table, column) for table, column, *_ in TOTALS}
        self.assertEqual(every - self.seen if every_run else set(), set(), "sums that no trace puts to the test")

    def check_rows(self, run):
        for table, parts, whole in ROWS:
            for row in run[table]:
                if row[parts[0]]:
                    self.assertEqual(sum(exact(row, part) for part in parts), exact(row, whole), (table, parts, row))
                    self.seen.add((table, parts[0]))

    def check_totals(self, run):
        for table, column, key, other, its_column in TOTALS:
            mine = sums(run, table, column, key)
            self.assertEqual(mine, sums(run, other, its_column, key), (table, column, other, its_column))
            if mine:
                self.seen.add((table, column))


if __name__ == "__main__":
    support.main()
