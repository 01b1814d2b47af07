"""Idle time by cause on real traces: that it adds up everywhere, and known answers, computed with SQL from the exports."""
import sqlite3
import unittest

import support
from support import SHARED, artifacts, ns_of_ms, read_csv

TRACES = support.exports()
CAUSES = {"profiler", "module_load", "allocation", "blocking_call", "queue_drained", "in_launch_call", "cuda_call",
          "host_code", "launch_latency", "dependency", "host_function", "page_migration", "unknown"}


def causes(name, device=0):
    """cause -> (ns, what, ns of that)"""
    directory = artifacts(next(t for t in TRACES if t.stem == name))
    return {r["cause"]: (int(r["total_ns"]), r["what"], ns_of_ms(r["what_ms"]) if r["what_ms"] else 0)
            for r in read_csv(directory, "idle_causes") if int(r["device_id"]) == device}


def has(name):
    return unittest.skipUnless(any(t.stem == name for t in TRACES), "no reference traces")


def long_own_code(path, device, least):
    """Code without a call, longer than `least`, of threads in idle gaps before they launch what ends them."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    ops = sorted(row for table in ("KERNEL", "MEMCPY", "MEMSET") for row in db.execute(
        f"SELECT start, end, correlationId, globalPid / 0x1000000 FROM CUPTI_ACTIVITY_KIND_{table} WHERE deviceId = ?", (device,)))
    calls = db.execute("SELECT globalTid, start, end, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchall()
    of = {(tid // 0x1000000, correlation): (tid, start) for tid, start, _, correlation in calls}
    by_thread = {}
    for tid, start, end, _ in sorted(calls, key=lambda c: c[1]):
        by_thread.setdefault(tid, []).append((start, end))
    overhead = db.execute("SELECT start, end FROM PROFILER_OVERHEAD").fetchall()
    total, busy = 0, ops[0][1]
    for start, end, correlation, pid in ops:
        if start > busy and (pid, correlation) in of:
            tid, launched = of[pid, correlation]
            t, until = busy, min(launched, start)
            inside = sorted((a, b) for a, b in by_thread[tid] + overhead if b > t and a < until)
            for a, b in inside + [(until, until)]:
                total += a - t if a - t > least else 0
                t = max(t, b)
        busy = max(busy, end)
    return total


@unittest.skipUnless(TRACES, "no reference traces")
class AddsUp(unittest.TestCase):
    def test_every_trace(self):
        for trace in TRACES:
            with self.subTest(trace=trace.stem):
                directory = artifacts(trace)
                rows = read_csv(directory, "idle_causes")
                self.assertLessEqual({r["cause"] for r in rows}, CAUSES)
                for use in read_csv(directory, "gpu_utilization"):
                    mine = [r for r in rows if r["device_id"] == use["device_id"]]
                    self.assertEqual(sum(int(r["total_ns"]) for r in mine), int(use["idle_ns"]))
                    self.assertTrue(all(int(r["part_count"]) <= int(use["gap_count"]) for r in mine))
                for gap in read_csv(directory, "gpu_idle_gaps"):
                    if gap["launch_api"]:
                        parts = sum(ns_of_ms(gap[c]) for c in ("before_call_ms", "in_call_ms", "after_call_ms"))
                        self.assertEqual(parts, ns_of_ms(gap["gap_ms"]))
                for row in read_csv(directory, "launch_breakdown"):
                    parts = sum(ns_of_ms(row[c]) for c in ("in_api_ms", "stream_wait_ms", "device_wait_ms",
                                                           "gap_after_api_ms"))
                    self.assertEqual(parts, ns_of_ms(row["call_to_start_ms"]))
                    self.assertEqual(row["negative_latency_count"], "0")


class KnownAnswers(unittest.TestCase):
    @has("cuda_small")
    def test_module_loading_inside_a_launch(self):
        of = causes("cuda_small")
        self.assertEqual(of["module_load"], (14_504_499, "Runtime Triggered Module Loading", 14_355_189))
        self.assertEqual(of["allocation"], (3_543_812, "cudaHostAlloc", 3_543_812))
        self.assertEqual(of["in_launch_call"][0], 3_849_011)
        self.assertEqual(of["host_code"][0], 344_695)
        gap = read_csv(artifacts(SHARED / "traces" / "cuda_small.sqlite"), "gpu_idle_gaps")[0]
        self.assertEqual((ns_of_ms(gap["gap_ms"]), gap["cause"]), (18_250_538, "module_load"))

    @has("fsdp_2gpu")
    def test_profiler_and_drained_queue(self):
        for device, profiler, late in ((0, 1_581_745, 16_692_824), (1, 333_332, 24_074_019)):
            of = causes("fsdp_2gpu", device)
            self.assertEqual(of["profiler"], (profiler, "CUPTI Buffer flush", profiler))
            drained, what, _ = of["queue_drained"]
            self.assertEqual(what, "cudaStreamSynchronize in aten::to > aten::_to_copy > aten::copy_")
            self.assertEqual(drained + of["host_code"][0] + of["cuda_call"][0], late)
            own = long_own_code(SHARED / "traces" / "fsdp_2gpu.sqlite", device, 500_000)
            self.assertGreater(drained, 0.8 * (late - own))  # but for single launch calls that take over a millisecond
            self.assertLessEqual(drained, late - own)

    @has("mordred_2021")
    def test_long_host_code_after_a_wait_is_not_the_waits(self):
        """In the longest gap of the work the thread waits for a copy for 1.28 ms and then launches nothing for 66.5 ms."""
        gaps = read_csv(artifacts(next(t for t in TRACES if t.stem == "mordred_2021")), "gpu_idle_gaps")
        longest = next(gap for gap in gaps if gap["gap_ms"] == "67.801544")
        self.assertEqual((longest["cause"], ns_of_ms(longest["cause_ms"]), longest["wait_before"]), ("host_code", 66_461_413, ""))
        charged = [ns_of_ms(gap["before_call_ms"]) for gap in gaps if gap["wait_before"]]
        self.assertTrue(charged)
        self.assertLess(max(charged), 8_000_000)

    @has("solver_nvtx_osrt_sched")
    def test_compilation_without_a_record(self):
        of = causes("solver_nvtx_osrt_sched")
        self.assertEqual(of["in_launch_call"][1:], ("cudaLaunchKernel", 48_004_380))
        self.assertEqual(of["allocation"], (26_350_267, "cudaMallocAsync", 26_350_267))
        self.assertEqual(of["blocking_call"][0], 2_531_834)
        self.assertEqual(of["launch_latency"][0], 4_791_908)

    @has("line_fitting")
    def test_first_launch(self):
        ns, what, of_that = causes("line_fitting")["in_launch_call"]
        self.assertEqual(what, "cudaLaunchKernel")
        self.assertGreater(of_that, 7_800_000)

    @has("unified_memory")
    def test_page_migrations(self):
        of = causes("unified_memory")
        self.assertEqual(of["page_migration"][0], 625_341_547)
        self.assertEqual(of["module_load"], (2_089_024, "dlopen(libnvidia-ptxjitcompiler.so.1)", 2_089_024))
        self.assertEqual(of["in_launch_call"][0], 37_065_448)

    @has("tensorrt_inference")
    def test_nothing_but_distances(self):
        self.assertEqual(causes("tensorrt_inference"), {"launch_latency": (36_257, "", 0)})

    @has("two_processes_one_gpu")
    def test_after_the_call(self):
        of = causes("two_processes_one_gpu")
        self.assertEqual(of["unknown"], (42_893_141, "after the call returned", 42_893_141))
        self.assertEqual(of["blocking_call"][0], 13_775_937)


class HostFunctions(unittest.TestCase):
    EXECUTIONS = "CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE_AND_HOST_LAUNCH"

    def of(self, *statements):
        directory = artifacts(support.edited("host-functions", *statements))
        held = [int(r["total_ns"]) for r in read_csv(directory, "idle_causes") if r["cause"] == "host_function"]
        return held, {r["function"] for r in read_csv(directory, "host_functions")}

    def test_a_piece_of_many_executions(self):
        """400 of 400 ns, one each 500 ns, in place of the first, of 200 us."""
        columns = "deviceId, contextId, streamId, correlationId, globalPid"
        first = f"(SELECT start AS s, {columns} FROM {self.EXECUTIONS} ORDER BY start LIMIT 1)"
        held, _ = self.of(
            f"INSERT INTO {self.EXECUTIONS} (start, end, {columns}) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 399) "
            f"SELECT s + 500 * i, s + 500 * i + 400, {columns} FROM n, {first}",
            f"UPDATE {self.EXECUTIONS} SET end = start + 400 WHERE rowid = (SELECT rowid FROM {self.EXECUTIONS} ORDER BY start, end DESC LIMIT 1)")
        self.assertEqual(held, [12 * 422_000 - 200_000 + 400 * 400])

    def test_none_is_no_correlation_id(self):
        for none in ("0", "NULL"):
            _, functions = self.of(*(f"UPDATE {table} SET correlationId = {none}" for table in (self.EXECUTIONS, "CUDA_HOST_CALLBACK")))
            self.assertEqual(functions, {""}, none)


if __name__ == "__main__":
    support.main()
