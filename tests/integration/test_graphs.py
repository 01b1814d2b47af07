"""CUDA graphs against a recount from the exports with SQL, and against hand-made ones whose prices are known."""
import collections
import sqlite3
import unittest

import support
from support import DIAGNOSIS, SCENARIOS, artifacts, ns_of_ms, ns_of_us, read_csv, trace

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
GRAPHS = ("graphs", "graphs-node", "graph-capture", "graph-churn", "graph-small", "gemm-sizes", "collectives-graph")


def exports():
    for scenario in (*SCENARIOS, *DIAGNOSIS):
        if scenario not in ("inference", "hostile-values", "empty", "many-gpus"):
            yield scenario, trace(scenario)
    for path in support.exports():
        yield path.stem, path


def tables(db):
    return {name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


class Graphs(unittest.TestCase):
    maxDiff = 4000

    def test_launches(self):
        """Launches by what their operations share, from rows of the export."""
        for scenario in GRAPHS:
            with self.subTest(scenario):
                path = trace(scenario)
                db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
                rows = db.execute("SELECT start, end, NULL, NULL FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE").fetchall() \
                    if "CUPTI_ACTIVITY_KIND_GRAPH_TRACE" in tables(db) else []
                rows += db.execute(f"SELECT MIN(start), MAX(end), COUNT(*), SUM(end - start) FROM {KERNELS} "
                                   "WHERE graphNodeId > 0 GROUP BY globalPid, correlationId").fetchall() if KERNELS in tables(db) else []
                got = [(int(r["start_ns"]), int(r["end_ns"]), int(r["kernel_count"]) if r["kernel_count"] else None,
                        ns_of_ms(r["kernel_time_ms"]) if r["kernel_time_ms"] else None)
                       for r in read_csv(artifacts(path), "graph_launches")]
                self.assertEqual(sorted(got, key=str), sorted(rows, key=str))

    def test_sums(self):
        """Graphs are the sums of their launches; ranges hold all kernels of graphs; idle time inside is that of the GPU."""
        for scenario in GRAPHS:
            with self.subTest(scenario):
                out = artifacts(trace(scenario))
                sums = collections.Counter()
                for r in read_csv(out, "graph_launches"):
                    sums["launches"] += 1
                    sums["envelope"] += ns_of_us(r["duration_us"])
                    sums["inside"] += ns_of_us(r["idle_inside_us"] or 0)
                    sums["before"] += ns_of_us(r["idle_before_us"])
                    sums["api"] += ns_of_us(r["launch_api_us"] or 0)
                    sums["kernels"] += ns_of_ms(r["kernel_time_ms"] or 0)
                rows = read_csv(out, "graphs")
                got = {name: sum(ns_of_ms(r[column] or 0) for r in rows) for name, column in
                       (("envelope", "envelope_ms"), ("inside", "idle_inside_ms"), ("before", "idle_before_ms"),
                        ("api", "launch_api_ms"), ("kernels", "kernel_time_ms"))}
                got["launches"] = sum(int(r["launch_count"]) for r in rows)
                self.assertEqual(got, {name: sums[name] for name in got})
                in_ranges = sum(ns_of_ms(r["kernel_time_ms"]) for r in read_csv(out, "graph_ranges"))
                self.assertEqual(in_ranges, sums["kernels"])
                idle = sum(int(r["idle_ns"]) for r in read_csv(out, "gpu_utilization"))
                self.assertLessEqual(sums["inside"] + sums["before"], idle)

    def test_nothing_without_graphs(self):
        for name, path in exports():
            if name in GRAPHS or name in ("evidence", "call-sites", "call-sites-mended", "call-sites-renamed"):
                continue
            for table in ("graphs", "graph_launches", "graph_ranges"):
                self.assertEqual(read_csv(artifacts(path), table), [], (name, table))

    def test_ranges_of_captured_nodes(self):
        """The plan of graph-capture: what is not recorded once and for all has no range."""
        rows = {(r["range_name"], r["resolution"]): int(r["kernel_count"])
                for r in read_csv(artifacts(trace("graph-capture")), "graph_ranges")}
        self.assertEqual(rows, {("attention", "range"): 80, ("mlp", "range"): 40, ("", "no range"): 40, ("", "not recorded"): 40,
                                ("", "ambiguous"): 40})

    def test_savings(self):
        """50 launches, 4 us idle before 49 of them, of which 3.5 us are the launch's; a node needs 1 us, a launch 12.5 us."""
        rows = {r["first_kernel"]: r for r in read_csv(artifacts(trace("launch-storm")), "graph_savings")}
        row = rows["void axpy<float>(float *, const float *, int)"]
        self.assertEqual([ns_of_ms(row[c]) for c in ("idle_ms", "cost_ms", "saving_low_ms", "saving_high_ms")],
                         [20 * 49 * 4000, 20 * 12500, 20 * (49 * 2500 - 12500), 20 * (49 * 3000 - 12500)])
        self.assertEqual((row["kernels_per_pass"], row["pass_count"]), ("50", "20"))
        row = rows["void spmv<float>(float *, const float *, int)"]  # launched in time
        self.assertEqual([ns_of_ms(row[c]) for c in ("saving_low_ms", "saving_high_ms")], [0, 0])

    def test_savings_are_idle_time(self):
        for name, path in exports():
            out = artifacts(path)
            idle = {r["device_id"]: int(r["idle_ns"]) for r in read_csv(out, "gpu_utilization")}
            sums = collections.Counter()
            for r in read_csv(out, "graph_savings"):
                low, high, waited = (ns_of_ms(r[c]) for c in ("saving_low_ms", "saving_high_ms", "idle_ms"))
                self.assertTrue(0 <= low <= high <= waited, (name, r))
                sums[r["device_id"]] += waited
            for device, waited in sums.items():
                self.assertLessEqual(waited, idle[device], name)


if __name__ == "__main__":
    support.main()
