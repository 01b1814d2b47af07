"""gpu_metric_timeline against a recount of the samples, and that the page has all of it."""
import bisect
import collections
import contextlib
import shutil
import sqlite3
import unittest

import support
from support import analyze, artifacts, fresh_dir, read_csv, trace

SAMPLES = 30_000
NAMES = {20: "SMs Active [Throughput %]", 21: "DRAM Read Bandwidth [Throughput %]"}


def dense():
    """A trace with many samples of one metric: more than one in each stretch, and a hole."""
    path = fresh_dir() / "dense.sqlite"
    shutil.copy(trace("evidence"), path)
    with sqlite3.connect(path) as db:
        low, high = db.execute("SELECT min(start), max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
        kind = db.execute("SELECT DISTINCT typeId FROM GPU_METRICS").fetchone()[0]
        raw = db.execute("SELECT count(*) FROM pragma_table_info('GPU_METRICS') WHERE name = 'rawTimestamp'").fetchone()[0]
        step = (high - low) // SAMPLES
        rows = [(low + i * step, i * 7919 % 101) for i in range(SAMPLES) if not 12_000 <= i < 15_000]
        columns = "rawTimestamp, timestamp" if raw else "timestamp"
        db.executemany(f"INSERT INTO GPU_METRICS ({columns}, typeId, metricId, value) VALUES ({'?, ' if raw else ''}?, {kind}, 20, ?)",
                       [((t, t, v) if raw else (t, v)) for t, v in rows])
    return path


class GpuMetricTimeline(unittest.TestCase):
    def recount(self, path, rows):
        """Every row from the samples between its start and end; no sample of the window in none."""
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        low, high = db.execute(
            "SELECT min(start), max(end) FROM (SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL UNION ALL "
            "SELECT start, end FROM CUPTI_ACTIVITY_KIND_MEMCPY)").fetchone()
        times, values_of = collections.defaultdict(list), collections.defaultdict(list)
        for number, time, value in db.execute("SELECT metricId, timestamp, value FROM GPU_METRICS ORDER BY timestamp"):
            times[number].append(time)
            values_of[number].append(value)
        seen = collections.Counter()
        for r in rows:
            number = next(key for key, name in NAMES.items() if name == r["metric"])
            first, last = (bisect.bisect_left(times[number], int(r[edge])) for edge in ("start_ns", "end_ns"))
            values = values_of[number][first:last]
            self.assertEqual(len(values), int(r["sample_count"]))
            self.assertAlmostEqual(sum(values) / len(values), float(r["mean"]), delta=0.00051)
            self.assertEqual(max(values), float(r["max"]))
            seen[number] += len(values)
        for number, count in db.execute("SELECT metricId, count(*) FROM GPU_METRICS WHERE timestamp >= ? AND timestamp < ? GROUP BY 1",
                                        (low, high)):
            self.assertEqual(seen[number], count)

    def test_few_samples(self):
        path = trace("evidence")
        self.recount(path, read_csv(artifacts(path), "gpu_metric_timeline"))

    def test_many_samples_and_a_hole(self):
        path = dense()
        rows = read_csv(analyze(path), "gpu_metric_timeline")
        self.recount(path, rows)
        starts = [int(r["start_ns"]) for r in rows if r["metric"] == NAMES[20]]
        self.assertTrue(850 < len(starts) <= 1000, len(starts))
        lengths = {int(r["end_ns"]) - int(r["start_ns"]) for r in rows}
        self.assertLessEqual(len(lengths), 2, "equal stretches, but for the last")
        self.assertGreater(max(b - a for a, b in zip(starts, starts[1:])), 50 * max(lengths), "the hole stays one")

    def test_nothing_sampled_no_rows(self):
        self.assertEqual(read_csv(artifacts(trace("healthy")), "gpu_metric_timeline"), [])

    def test_ranges(self):
        """range_metrics by SQL: what calls inside a range launched, and what of each sample's period lies in it."""
        path = trace("sampled")
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        work = db.execute("""SELECT k.start, k.end FROM NVTX_EVENTS n JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.globalTid = n.globalTid AND r.start >= n.start
            AND r.start < n.end JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.correlationId = r.correlationId
            WHERE coalesce(n.text, (SELECT value FROM StringIds WHERE id = n.textId)) = 'matmul' ORDER BY 1""").fetchall()
        names = dict(db.execute("SELECT metricId, metricName FROM TARGET_INFO_GPU_METRICS"))
        rows = {r["metric"]: r for r in read_csv(artifacts(path), "range_metrics") if r["range_path"] == "matmul"}
        self.assertEqual(set(rows), set(names.values()))
        for number, name in names.items():
            samples = db.execute("SELECT timestamp, value FROM GPU_METRICS WHERE metricId = ? ORDER BY 1", (number,)).fetchall()
            steps = sorted(b[0] - a[0] for a, b in zip(samples, samples[1:]))
            period, weight, total, count = steps[len(steps) // 2], 0, 0, 0
            for at, value in samples:
                inside = sum(max(0, min(end, at + period) - max(start, at)) for start, end in work)
                weight, total, count = weight + inside, total + inside * value, count + (2 * inside > period)
            row, scale = rows[name], 1e6 if "MHz" in name else 1
            self.assertEqual((row["state"], int(row["sample_count"]), int(row["instance_count"])), ("measured", count, 1))
            self.assertAlmostEqual(float(row["mean"]), total / weight / scale, delta=0.001)
            self.assertEqual(round(float(row["time_ms"]) * 1e6), sum(end - start for start, end in work))

    def test_ranges_of_impossible_length(self):
        """A thousand times a range's work need not fit into 64 bits."""
        path = fresh_dir() / "long.sqlite"
        shutil.copy(trace("evidence", "--scale", "0.3"), path)
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start + (1 << 49)")
            db.commit()
        self.assertTrue(read_csv(analyze(path), "range_metrics"))


if __name__ == "__main__":
    support.main()
