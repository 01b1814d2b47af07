"""NVTX ranges on the GPU against a second implementation over the rows of the export: every range, call and operation by itself."""
import bisect
import collections
import contextlib
import csv
import json
import re
import resource
import shutil
import sqlite3
import statistics
import unittest

import support
from support import SHARED, analyze, artifacts, edited, read_csv, run, trace

OPS = {"KERNEL": "kernel_ns", "MEMCPY": "copy_ns", "MEMSET": "copy_ns", "GRAPH_TRACE": "graph_ns"}
TIMED = {"NVTX_EVENTS", "OSRT_API", "PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
         *("CUPTI_ACTIVITY_KIND_" + kind for kind in OPS)}
STYLES = {59: "push/pop", 70: "push/pop", 60: "start/end", 71: "start/end"}
PROCESS = -1 << 24


def merged(intervals):
    done = []
    for start, end in sorted(intervals):
        if done and start <= done[-1][1]:
            done[-1] = (done[-1][0], max(end, done[-1][1]))
        else:
            done.append((start, end))
    return done


def union(intervals):
    return sum(end - start for start, end in merged(intervals))


def cut(disjoint, start, end):
    first, behind = bisect.bisect_right([b for _, b in disjoint], start), bisect.bisect_left([a for a, _ in disjoint], end)
    return [(max(a, start), min(b, end)) for a, b in disjoint[first:behind]]


def canonical(text):
    return re.split(", (?:seq|op_id|sizes) = ", text, maxsplit=1)[0]


class Export:
    def __init__(self, path):
        db = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
        self.tables = {name for (name,) in db.execute("select name from sqlite_master")}
        strings = dict(db.execute("select id, value from StringIds"))
        calls = collections.defaultdict(list)
        for tid, correlation, start, end in db.execute("select globalTid, correlationId, start, end from CUPTI_ACTIVITY_KIND_RUNTIME"):
            calls[tid & PROCESS, correlation].append((tid, start, end))
        self.launched, self.ops = collections.defaultdict(list), collections.defaultdict(list)
        for kind in OPS:
            table = "CUPTI_ACTIVITY_KIND_" + kind
            if table not in self.tables:
                continue
            for process, correlation, device, context, stream, start, end in db.execute(
                    f"select globalPid, correlationId, deviceId, contextId, streamId, start, end from {table}"):
                self.ops[device].append((start, end))
                for tid, begin, done in calls[process & PROCESS, correlation]:
                    self.launched[tid].append({"call": (begin, done, correlation), "device": device, "kind": kind, "times": (start, end),
                                               "stream": (device, process, context, stream)})
        self.ops = {device: merged(times) for device, times in self.ops.items()}
        latest = max(db.execute(f"select max(coalesce(end, start)) from {table}").fetchone()[0] or 0 for table in self.tables & TIMED)
        self.ranges = [(canonical(strings.get(text_id) or text or ""), STYLES[kind], tid, start, end if end is not None else latest)
                       for text_id, text, kind, tid, start, end, end_tid in
                       db.execute("select textId, text, eventType, globalTid, start, end, endGlobalTid from NVTX_EVENTS")
                       if kind in STYLES and end_tid in (None, tid)]

    def projected(self):
        """A record for each range, GPU and, as None, all GPUs."""
        outer = collections.defaultdict(list)
        for name, style, tid, start, end in sorted(self.ranges, key=lambda r: (r[3], -r[4])):
            around = outer[name, style, tid]
            inside = any(b >= end for _, b in around)
            around.append((start, end))
            mine = [op for op in self.launched[tid] if op["call"][0] >= start and op["call"][1] <= end]
            devices = sorted({op["device"] for op in mine})
            for device in ([None] if len(devices) == 1 else devices + [None]) if devices else []:
                ops = [op for op in mine if device in (None, op["device"])]
                first, last = min(op["times"][0] for op in ops), max(op["times"][1] for op in ops)
                used = devices if device is None else [device]
                busy = union([part for d in used for part in cut(self.ops[d], first, last)])
                yield {"name": name, "style": style, "tid": tid & 0xFFFFFF, "process": tid & PROCESS, "device": devices[0] if len(devices) == 1 else device,
                       "whole": int(device is None), "inside": int(inside), "start": first, "end": last,
                       "own": union([op["times"] for op in ops]), "busy": busy, "lag": first - start, "end_lag": last - end, "range": end - start,
                       "ops": len(ops), "launches": len({op["call"] for op in ops}), "streams": len({op["stream"] for op in ops}),
                       **{column: sum(b - a for op in ops for a, b in [op["times"]] if OPS[op["kind"]] == column) for column in set(OPS.values())}}


EVENTS = ("select range_name, style, tid, device_id, whole, is_inside, start_ns, end_ns, own_busy_ns, busy_ns, start_lag_ns, end_lag_ns, range_ns, op_count, "
          "launch_count, stream_count, kernel_ns, copy_ns, graph_ns from nvtx_projection_events")
KEYS = ("name", "style", "tid", "device", "whole", "inside", "start", "end", "own", "busy", "lag", "end_lag", "range", "ops", "launches", "streams",
        "kernel_ns", "copy_ns", "graph_ns")


def ordered(records):
    return sorted(records, key=repr)


class Projection(unittest.TestCase):
    def check(self, path):
        directory = artifacts(path)
        truth = list(Export(path).projected())
        self.assertTrue(truth)
        found = [tuple(row) for row in json.loads(run("sql", directory, EVENTS, "--format", "json").stdout)["rows"]]
        self.assertEqual(ordered(found), ordered(tuple(record[key] for key in KEYS) for record in truth))
        self.check_names(directory, truth)
        return truth

    def check_names(self, directory, truth):
        names = collections.defaultdict(list)
        for record in truth:
            key = record["name"], record["style"]
            if record["whole"]:
                names[(*key, None)].append(record)
            if record["device"] is not None:
                names[(*key, record["device"])].append(record)
        devices = collections.Counter((name, style) for name, style, device in names if device is not None)
        rows = read_csv(directory, "nvtx_projection")
        self.assertEqual(len(rows), sum(1 for key in names if key[2] is None or devices[key[:2]] > 1))
        for row in rows:
            device = None if row["whole"] == "1" else int(row["device_id"])
            all_of_it = names[row["range_name"], row["style"], device]
            counted = [record for record in all_of_it if not record["inside"]]
            spans = [record["end"] - record["start"] for record in counted]
            with self.subTest(range=row["range_name"], device=device):
                self.assertEqual(int(row["instances_with_work"]), len(all_of_it))
                self.assertEqual(int(row["gpu_count"]), 1 if device is not None else devices[row["range_name"], row["style"]])
                self.assertEqual(row["device_id"] == "", int(row["gpu_count"]) > 1)
                for column, value in [("total_span", sum(spans)), ("own_busy", sum(r["own"] for r in counted)), ("busy", sum(r["busy"] for r in counted)),
                                      ("idle", sum(spans) - sum(r["busy"] for r in counted)), ("range_time", sum(r["range"] for r in counted)),
                                      ("kernel_time", sum(r["kernel_ns"] for r in counted)), ("graph_time", sum(r["graph_ns"] for r in counted)),
                                      ("copy_time", sum(r["copy_ns"] for r in counted))]:
                    self.assertEqual(support.ns_of_ms(row[column + "_ms"]), value, column)
                for column, value in [("avg_span", statistics.mean(spans)), ("p50_span", statistics.median(spans)), ("max_span", max(spans)),
                                      ("min_span", min(spans)), ("p50_start_lag", statistics.median(r["lag"] for r in counted))]:
                    self.assertAlmostEqual(float(row[column + "_us"]) * 1e3, value, delta=0.6, msg=column)
                quartiles = statistics.quantiles(spans, n=4, method="inclusive")[::2] if len(spans) > 3 else [1, 1]
                apart = quartiles[1] >= 3 * quartiles[0]  # then the median alone says little
                self.assertEqual([bool(row["p25_span_us"]), bool(row["p75_span_us"])], [apart, apart])
                for column, value in zip(("p25_span_us", "p75_span_us"), quartiles if apart else []):
                    self.assertAlmostEqual(float(row[column]) * 1e3, value, delta=0.6)
                by_process = collections.defaultdict(list)
                for record in counted:
                    by_process[record["process"]].append((record["start"], record["end"]))
                covered = sum(map(union, by_process.values()))
                self.assertEqual(support.ns_of_ms(row["union_span_ms"]), covered)
                self.assertAlmostEqual(float(row["overlap_pct"]), 100 * (sum(spans) - covered) / sum(spans), delta=0.001)

    def test_styles(self):
        """Start/end ranges, those that end on another thread, and those that are open when the capture ends."""
        truth = self.check(trace("nvtx-mix"))
        self.assertEqual({record["style"] for record in truth}, set(STYLES.values()))

    def test_several_gpus_of_one_thread(self):
        """Every third kernel on another GPU, and every second range called as what is around it."""
        path = edited("training", "insert into TARGET_INFO_CUDA_DEVICE(gpuId, cudaId, pid) values (1, 1, 6001), (0, 0, 6002)",
                      "update CUPTI_ACTIVITY_KIND_KERNEL set deviceId = 1 - deviceId where rowid % 3 = 0",
                      "insert or ignore into StringIds(id, value) values (987654, 'forward')",
                      "update NVTX_EVENTS set textId = 987654, text = null where rowid % 2 = 0 and eventType in (59, 70)")
        truth = self.check(path)
        self.assertTrue(any(record["device"] is None for record in truth))
        self.assertTrue(any(record["inside"] for record in truth))
        self.assertGreater(max(record["streams"] for record in truth), 1)
        rows = list(csv.DictReader(run("export", "csv", artifacts(path), "--list", "projections").stdout.splitlines()))
        self.assertEqual(sorted((row["name"], row["kind"], row["device"], *(int(row[column]) for column in ("tid", "whole", "start_ns", "end_ns", "own_busy_ns",
                                                                                                              "busy_ns", "op_count"))) for row in rows),
                         sorted((r["name"], r["style"], "" if r["device"] is None else str(r["device"]), r["tid"], r["whole"], r["start"], r["end"], r["own"],
                                 r["busy"], r["ops"]) for r in truth))

    def test_places(self):
        """The names around a range, outermost first, and the step in which it begins."""
        for path in (trace("training"), trace("nvtx-mix"), trace("steps")):
            directory, ranges = artifacts(path), Export(path).ranges
            found = json.loads(run("sql", directory, "select range_name, style, tid, range_start_ns, path, step, pid from v_projection where whole = 1",
                                   "--format", "json").stdout)["rows"]
            by_place = {(name, style, tid & 0xFFFFFF, start): (tid, end) for name, style, tid, start, end in ranges}
            steps = [(int(row["pid"]), int(row["cpu_start_ns"]), int(row["cpu_end_ns"]), int(row["step"])) for row in read_csv(directory, "steps")]
            self.assertTrue(found)
            for name, style, tid, start, place, step, pid in found:
                whole, end = by_place[name, style, tid, start]
                around = sorted((b, -e, other) for other, kind, t, b, e in ranges if t == whole and kind == "push/pop" == style and b <= start and e >= end)
                if style == "start/end":
                    self.assertEqual(place, name)
                elif place is not None or path != trace("nvtx-mix"):  # where ranges cross there is none
                    self.assertEqual(place, " > ".join(other for _, _, other in around))
                self.assertEqual(step, next((number for process, b, e, number in steps if process == pid and b <= start < e), None))
        self.assertGreater(len({row[5] for row in found}), 3)

    def test_idle_ranges_are_named(self):
        """Spans over a tenth of the window in which nothing runs for more than 30 %; and how little the ranges hold."""
        directory = artifacts(trace("steps"))
        window = max(support.ns_of_ms(row["window_ms"]) for row in read_csv(directory, "gpu_utilization"))
        idle = [row for row in read_csv(directory, "nvtx_projection") if row["whole"] == "1" and float(row["idle_pct"]) > 30
                and support.ns_of_ms(row["union_span_ms"]) > window / 10]
        lines = (directory / "report.md").read_text().replace("\N{NO-BREAK SPACE}", " ").splitlines()
        said = [line for line in lines if "Nothing runs in" in line]
        self.assertEqual(len(said), len(idle))
        for row, line in zip(idle, said):
            self.assertIn(f"`{row['range_name']}` takes", line)
            self.assertIn(f"Nothing runs in {float(row['idle_pct']):.1f} % of that time.", line)
        self.assertTrue(idle)
        coverage = read_csv(directory, "nvtx_coverage")[0]["coverage_pct"]
        self.assertEqual([line for line in lines if "Ranges of the launching thread hold" in line],
                         [f"Ranges of the launching thread hold {float(coverage):.1f} % of kernel time. What is launched outside them, or by other threads, is in no span."])
        self.assertNotIn("Nothing runs in", (artifacts(trace("training")) / "report.md").read_text())

    @support.tier("ci")
    def test_overlapping_ranges(self):
        """Hundreds of long ranges of a thread around the same calls; nested calls, several GPUs and equal ends among them."""
        path = edited("training", "insert into TARGET_INFO_CUDA_DEVICE(gpuId, cudaId, pid) values (1, 1, 6001), (0, 0, 6002)",
                      "update CUPTI_ACTIVITY_KIND_KERNEL set deviceId = 1 - deviceId where rowid % 3 = 0",
                      "update CUPTI_ACTIVITY_KIND_KERNEL set streamId = streamId + rowid % 4, start = start - (rowid % 5) * 3000",
                      "update CUPTI_ACTIVITY_KIND_RUNTIME set end = end + 200000 where rowid % 50 = 0", support.overlapping(400))
        truth = self.check(path)
        self.assertGreater(sum(1 for r in truth if r["launches"] > 64), 200)

    @support.tier("ci")
    def test_many_overlapping_ranges(self):
        """Ten times the ranges around the same calls do not take ten times as long."""
        taken = {}
        for count in (2000, 20000):
            path = support.fresh_dir() / f"{count}.sqlite"
            shutil.copyfile(trace("bench", "--size", "10M"), path)
            with contextlib.closing(sqlite3.connect(path)) as db, db:
                db.execute(support.overlapping(count))
            for command in (("analyze", path, "--out", path.parent / "out", "-q"), *(("stats", "-q", "-r", report, "-f", "csv", "-o", path.parent / report, path)
                                                                                    for report in ("nvtxkernsum", "nvtxgpuproj"))):
                before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                run(*command)
                taken.setdefault(command[0] if command[0] == "analyze" else command[3], []).append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        for command, (few, many) in taken.items():
            self.assertLess(many, 0.2 + 4 * few, command)

    def test_graphs(self):
        truth = self.check(trace("graphs"))
        self.assertTrue(any(record["graph_ns"] for record in truth))

    @support.tier("ci")
    def test_shared(self):
        paths = [path for path in (SHARED / "nsys_stats" / "tiny" / "tiny.sqlite", SHARED / "traces" / "fsdp_2gpu.sqlite") if path.exists()]
        if not paths:
            self.skipTest("no reference traces")
        for path in paths:
            self.check(path)

    def test_said(self):
        """What a user asks gets the figure of the table."""
        directory = artifacts(trace("training"))
        forward = next(row for row in read_csv(directory, "nvtx_projection") if row["range_name"] == "forward" and row["whole"] == "1")
        figure = f"{float(forward['p50_span_us']) / 1e3:.2f} ms"
        self.assertIn(f"On the GPU, forward takes {figure}", " ".join(run("ask", directory, 'how long does "forward" take on the GPU').stdout.split()))
        for words in (("explain", directory, "forward"), ("iters", directory)):
            self.assertIn(figure, run(*words).stdout)
        lines = (directory / "report.md").read_text().replace("\N{NO-BREAK SPACE}", " ").splitlines()
        self.assertTrue([line for line in lines if figure in line and "| 8 | `forward` |" in line])
        metrics = {row["metric"]: row for row in read_csv(directory, "metrics")}
        self.assertAlmostEqual(float(metrics["nvtx.forward.gpu_span"]["value"]), float(forward["p50_span_us"]) * 1e3, delta=1)
        self.assertAlmostEqual(float(metrics["nvtx.forward.gpu_idle"]["value"]), float(forward["idle_pct"]), delta=0.001)

    def test_asked(self):
        """How long forward takes on the GPU: the median of its instances there."""
        directory = artifacts(trace("training"))
        words = "select span_ns from v_projection where range_name = 'forward' and whole = 1"
        spans = [int(row["span_ns"]) for row in csv.DictReader(run("sql", "--format", "csv", directory, words).stdout.splitlines())]
        self.assertIn(f"On the GPU, forward takes {statistics.median(spans) / 1e6:.2f} ms", run("ask", directory, "how long does forward take on the GPU").stdout)

    def test_two_sorts(self):
        """A median that no span of the range is near is no metric; one span that is ten times as long takes nothing away."""
        spans = sorted((r["start"], r["end"], r["device"]) for r in Export(trace("training")).projected() if r["name"] == "forward" and r["whole"])
        self.assertEqual(len(spans), 8)
        for count in (1, 3):
            longer = [f"update CUPTI_ACTIVITY_KIND_KERNEL set \"end\" = {end + 9 * (end - start)} where \"end\" = {end} and deviceId = {device}"
                      for start, end, device in spans[:count]]
            metrics = {row["metric"] for row in read_csv(artifacts(edited("training", *longer)), "metrics")}
            self.assertEqual("nvtx.forward.gpu_span" in metrics, count == 1, count)
            self.assertIn("nvtx.forward.gpu_idle", metrics)

    def test_steps(self):
        """Steps have the projection of the range that begins them; those that kernels or the end of a range tell have none."""
        for path in (trace("steps"), trace("steps-drift")):
            starts = {(r["name"], r["start"] - r["lag"], r["device"]): r for r in Export(path).projected() if r["device"] is not None}
            rows = [row for row in read_csv(artifacts(path), "steps") if row["label"]]
            self.assertTrue(rows)
            for row in rows:
                record = starts[row["label"], int(row["cpu_start_ns"]), int(row["device_id"])]
                span = record["end"] - record["start"]
                self.assertEqual([support.ns_of_ms(row[f"range_{what}_ms"]) for what in ("time", "span", "busy", "idle")],
                                 [record["range"], span, record["busy"], span - record["busy"]])
            summary = read_csv(artifacts(path), "step_summary")[0]
            steady = [row for row in rows if row["state"] == "steady" and row["device_id"] == summary["device_id"] and row["pid"] == summary["pid"]]
            spans = sorted(support.ns_of_ms(row["range_span_ms"]) for row in steady)
            self.assertEqual(support.ns_of_ms(summary["median_range_span_ms"]), spans[(len(spans) - 1) // 2])
            self.assertIn("what it launches spans", (artifacts(path) / "report.md").read_text())
        self.assertTrue(all(row["range_span_ms"] == "" for row in read_csv(artifacts(trace("training")), "steps")))

    def test_phases(self):
        """Ranges of a phase that lie in another of it count once, and in no other phase."""
        path = edited("training", "insert or ignore into StringIds(id, value) values (987654, 'forward of a layer')",
                      "insert into NVTX_EVENTS(start, end, eventType, textId, globalTid, domainId) select start + 1, end - 1, 59, 987654, globalTid, 0 "
                      "from NVTX_EVENTS where eventType = 59 and coalesce((select value from StringIds where id = textId), text) = 'forward'")
        phase_map = support.fresh_dir() / "map.yaml"
        phase_map.write_text("ahead: [forward]\nback: [backward]\nnever: [no such range]\n")
        found = {row["phase"]: row for row in read_csv(analyze(path, "--phase-map", phase_map), "nvtx_phases")}
        records = [dict(r, begin=r["start"] - r["lag"], done=r["start"] - r["lag"] + r["range"]) for r in Export(path).projected() if r["whole"]]
        for phase, name in (("ahead", "forward"), ("back", "backward")):
            named = [r for r in records if name in r["name"].lower()]
            mine = [r for r in named if not any(o is not r and o["tid"] == r["tid"] and o["begin"] <= r["begin"] and o["done"] >= r["done"] for o in named)]
            self.assertTrue(mine)
            spans = sum(r["end"] - r["start"] for r in mine)
            self.assertEqual([int(found[phase]["instances"]), *(support.ns_of_ms(found[phase][column + "_ms"]) for column in
                                                                ("span", "span_busy", "span_idle", "instance_time"))],
                             [len(mine), spans, sum(r["busy"] for r in mine), spans - sum(r["busy"] for r in mine), sum(r["range"] for r in mine)])
        self.assertEqual((found["never"]["instances"], found["never"]["span_ms"], found["unmapped"]["instances"]), ("0", "", ""))

    def test_not_mapped(self):
        directory = analyze(trace("training"), "--no-nvtx-kernel-map")
        self.assertEqual(read_csv(directory, "nvtx_projection"), [])
        self.assertEqual(json.loads(run("sql", directory, "select * from nvtx_projection_events", "--format", "json").stdout)["rows"], [])


if __name__ == "__main__":
    support.main()
