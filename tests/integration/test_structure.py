"""What report.html draws of a trace's structure against SQL over the export: ranges on the GPU, launch queue and lead, plan."""
import bisect
import functools
import json
import re
import shutil
import sqlite3
import subprocess
import unittest

import support
from support import Report as Run, SHARED, SOURCE, artifacts, trace
from test_gemm_shapes import BF16_BYTES, ELEMENTWISE, matrices

GPU_TABLES = ("KERNEL", "MEMCPY", "MEMSET")
PROCESS = 1 << 24
REFERENCE = SHARED / "traces" / "fsdp_2gpu.sqlite"


def union_ns(intervals):
    total, until = 0, -1
    for start, end in sorted(intervals):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


def database(path):
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def structure(directory, *ranges):
    done = subprocess.run(["node", SOURCE / "tests" / "viewer" / "structure.mjs", directory / "report.html", *ranges],
                          capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


@functools.lru_cache(maxsize=None)
def page(path, *ranges):
    return structure(artifacts(path), *ranges)


@functools.lru_cache(maxsize=None)
def page_with_blocks(path, events):
    """The same of a page that has not all events."""
    directory = support.fresh_dir("blocks") / "run"
    done = support.run("analyze", path, "--out", directory, "-q", "--page-events", str(events))
    assert done.returncode == 0, done.stderr
    return structure(directory)


def has(db, name):
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (f"CUPTI_ACTIVITY_KIND_{name}",)).fetchone()


def launched(db):
    """(device, call's thread, call's start and end, operation's start and end), of all with a launching call."""
    works = " UNION ALL ".join(f"SELECT deviceId, globalPid, correlationId, start, end FROM CUPTI_ACTIVITY_KIND_{name}" for name in GPU_TABLES if has(db, name))
    return db.execute(f"SELECT w.deviceId, r.globalTid, r.start, r.end, w.start, w.end FROM ({works}) w "
                      f"JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = w.correlationId "
                      f"AND r.globalTid / {PROCESS} = w.globalPid / {PROCESS}").fetchall()


def launches_of(path, gpu, origin):
    """(return of the call, begin, end) of a GPU's operations."""
    return [(done - origin, begin - origin, last - origin) for device, _, _, done, begin, last in launched(database(path)) if device == gpu]


def lead_changes(own):
    lead = {}
    for called, begin, _ in own:
        lead[begin] = min(lead.get(begin, begin), max(0, begin - called))
    at_work = depth((min(called, begin), last) for called, begin, last in own)
    for end in {last for *_, last in own} - lead.keys():  # nothing runs and nothing is queued
        if not at_work(end):
            lead[end] = 0
    return sorted(lead.items())


def depth(intervals):
    """How many of these times hold a moment, as a function of it."""
    starts, ends = map(sorted, zip(*((start, end) for start, end in intervals if start < end)))
    return lambda time: bisect.bisect(starts, time) - bisect.bisect(ends, time)


def depth_of_queue(own):
    return depth((called, begin) for called, begin, _ in own)


@support.unsanitized("JavaScript does not depend on the sanitizers")
@unittest.skipUnless(shutil.which("node"), "no Node")
class Structure(unittest.TestCase):
    def check_projection(self, path):
        db, shown = database(path), page(path)
        origin, wanted = int(shown["origin"]), {}
        works = {}  # by calling thread, in the order of the calls
        for work in sorted(launched(db), key=lambda work: work[2]):
            works.setdefault(work[1], []).append(work)
        begins = {caller: [work[2] for work in own] for caller, own in works.items()}
        for row, start, end, thread in db.execute("SELECT rowid, start, end, globalTid FROM NVTX_EVENTS WHERE eventType = 59 AND end > start"):
            own, called = works.get(thread, []), begins.get(thread, [])
            for device, _, begin, done, first, last in own[bisect.bisect_left(called, start):bisect.bisect(called, end)]:
                if done <= end:
                    ops = wanted.setdefault((device, row), [])
                    ops.append((begin, first - origin, last - origin))
        expected = {key: [min(o[1] for o in ops), max(o[2] for o in ops), len(ops), len({o[0] for o in ops})] for key, ops in wanted.items()}
        got = {(gpu["gpu"], row): rest for gpu in shown["gpus"] for row, *rest in gpu["ranges"]}
        self.assertGreater(len(expected), 100)
        self.assertEqual(got, expected)
        self.check_flame(db, wanted, shown["flame"])
        for gpu in shown["gpus"]:
            for row in gpu["rows"]:
                for (_, end), (start, _) in zip(row, row[1:]):
                    self.assertLessEqual(end, start, "ranges of a row lie side by side")

    def check_flame(self, db, work, shown):
        """By projected time: what the instances of each chain of names took, on each GPU."""
        spans, path, sums = {}, {}, {"": 0}
        for (_, row), ops in work.items():
            spans[row] = spans.get(row, 0) + max(o[2] for o in ops) - min(o[1] for o in ops)
        for thread, in db.execute("SELECT DISTINCT globalTid FROM NVTX_EVENTS"):
            open_until = []
            for row, start, end, text in db.execute("SELECT n.rowid, start, end, coalesce(text, value) FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = textId "
                                                    "WHERE eventType = 59 AND end > start AND globalTid = ? ORDER BY start, end DESC, n.rowid", (thread,)):
                while open_until and open_until[-1][0] <= start:
                    open_until.pop()
                path[row] = [*(names[-1] for _, names in open_until), re.split(", (?:seq|op_id|sizes) = ", text)[0]]
                open_until.append((end, path[row]))
                if row in spans:
                    sums[" > ".join(path[row])] = sums.get(" > ".join(path[row]), 0) + spans[row]
                    sums[""] += spans[row] if len(path[row]) == 1 else 0
        self.assertEqual({key: round(ms * 1000000) for key, ms in shown.items()}, sums)

    def check_lead(self, path):
        shown = page(path)
        for gpu in shown["gpus"]:
            own = launches_of(path, gpu["gpu"], int(shown["origin"]))
            self.assertGreater(len(own), 50)
            self.assertEqual(gpu["lead"], [list(pair) for pair in lead_changes(own)])
            self.assertGreater(max(value for _, value in gpu["queue"]), 1)
            queued = depth_of_queue(own)
            for time, value in gpu["queue"]:
                self.assertEqual(value, queued(time), f"queue at {time}")

    def check_lead_of_blocks(self, path, events):
        """Of a page without all events: the least, the most and the sum of each bin."""
        shown = page_with_blocks(path, events)
        for gpu in shown["gpus"]:
            own = launches_of(path, gpu["gpu"], int(shown["origin"]))
            self.assertEqual(gpu["charts"][:2], ["Launch queue", "Launch lead"])
            end, waiting = max(begin for _, begin, _ in own), [one for one in own if one[0] < one[1]]
            times = {min(begin for _, begin, _ in own)}.union(*(one[:2] for one in waiting))
            queued = depth_of_queue(waiting)
            depths = [(time, queued(time)) for time in sorted(times)]
            for key, changes in (("depth", depths), ("lead", lead_changes(own))):
                bins = gpu["bins"][key]
                self.assertLessEqual(len(bins), 4000)
                self.assertLessEqual(bins[0]["start"], changes[0][0])
                self.assertEqual(bins[-1]["end"], end)
                wanted = [[] for _ in bins]
                for (start, value), (until, _) in zip(changes, changes[1:] + [(end, 0)]):
                    for index in range(bisect.bisect([one["start"] for one in bins], start) - 1, len(bins)):
                        ns = min(until, end, bins[index]["end"]) - max(start, bins[index]["start"])
                        if ns <= 0:
                            break
                        wanted[index].append((value, ns))
                for one, values in zip(bins, wanted):
                    self.assertEqual((one["value"], one["high"]), (min(values)[0], max(values)[0]), one)
                    if key == "depth":
                        self.assertEqual(one["sum"], sum(value * ns for value, ns in values), one)

    def check_units(self, path):
        """Passes of the repeating unit of each GPU: every so many kernels of its stream, alike but for the last one."""
        db, shown, units = database(path), page(path), Run(artifacts(path)).rows("repeating_units")
        self.assertTrue(units)
        origin, checked = int(shown["origin"]), 0
        for unit in units:
            own = [one for one in shown["iterations"] if one["key"] == f"u{unit['device_id']}.{unit['unit']}"]
            if not own:
                continue
            kernels = db.execute("SELECT k.start, k.end, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName "
                                 f"WHERE deviceId = ? AND streamId = ? AND globalPid / {PROCESS} % {PROCESS} = ? AND start >= ? ORDER BY start",
                                 (unit["device_id"], unit["stream_id"], unit["pid"], unit["start_ns"])).fetchall()
            length = unit["kernel_count"]
            passes = [kernels[i:i + length] for i in range(0, len(kernels), length)][:unit["repetitions"]]
            self.assertEqual([start for start, *_ in own[0]["instances"]], [p[0][0] - origin for p in passes])
            for (_, end, whole, _), one, after in zip(own[0]["instances"], passes, passes[1:]):
                self.assertEqual((end, whole), (after[0][0] - origin, True))
            lengths = sorted(end - start for start, end, whole, _ in own[0]["instances"] if whole)
            self.assertEqual(own[0]["median"], lengths[(len(lengths) - 1) // 2])
            deviation = sorted(abs(x - own[0]["median"]) for x in lengths)[(len(lengths) - 1) // 2]
            limit = own[0]["median"] + max(3 * 1.4826 * deviation, 0.05 * own[0]["median"])
            for start, end, whole, outlier in own[0]["instances"]:
                self.assertEqual(outlier, whole and end - start > limit)
            by_start = {p[0][0] - origin: [(name, end - start) for start, end, name in p] for p in passes}
            wanted = by_start[own[0]["longest"]], by_start[own[0]["usual"]]
            self.assertEqual([name for name, _ in wanted[0]], [name for name, _ in wanted[1]])
            beside = [(tuple(a), tuple(b)) for a, b in own[0]["pairs"] if a and b]
            for pair in zip(*wanted):
                self.assertIn(pair, beside)
            checked += 1
        self.assertTrue(checked)

    def check_range(self, path):
        """What the panel of a range says, of three ranges."""
        db, origin, end = database(path), int(page(path)["origin"]), page(path)["end"]
        ranges = [(0, end), (end // 3, end // 3 * 2), (end // 7, end // 7 + 1000000)]
        shown = page(path, *(f"{a}~{b}" for a, b in ranges))
        gaps = Run(artifacts(path)).rows("gpu_idle_gaps")
        for (begin, done), inside in zip(ranges, shown["inside"]):
            low, high = begin + origin, done + origin
            for gpu, (split, idle) in enumerate(zip(inside["split"], inside["idle"])):
                works = {kind: [] for kind in ("compute", "comm", "copy")}
                for start, stop, name in db.execute("SELECT start, end, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds s "
                                                    "ON s.id = demangledName WHERE deviceId = ?", (gpu,)):
                    works["comm" if "nccl" in name else "compute"].append((start, stop))
                for name in filter(functools.partial(has, db), ("MEMCPY", "MEMSET")):
                    works["copy"] += db.execute(f"SELECT start, end FROM CUPTI_ACTIVITY_KIND_{name} WHERE deviceId = ?", (gpu,)).fetchall()
                clipped = {kind: [(max(a, low), min(b, high)) for a, b in spans if a < high and b > low] for kind, spans in works.items()}
                compute = union_ns(clipped["compute"])
                busy = union_ns(clipped["compute"] + clipped["comm"])
                both = union_ns(clipped["compute"] + clipped["comm"] + clipped["copy"])
                self.assertEqual(split[:3], [compute, busy - compute, both - busy])
                causes = {}
                for gap in gaps:
                    ns = min(high, gap["gap_end_ns"]) - max(low, gap["gap_start_ns"])
                    if gap["device_id"] == gpu and ns > 0:
                        causes[gap["cause"]] = causes.get(gap["cause"], 0) + ns
                self.assertEqual(idle, causes)
            copies = db.execute("SELECT count(*), sum(bytes), sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE start >= ? AND start < ?",
                                (low, high)).fetchone() if has(db, "MEMCPY") else (0, 0, 0)
            self.assertEqual([sum(c[i] for c in inside["copies"].values()) for i in range(3)], [value or 0 for value in copies])
            kernels = db.execute("SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = 0 AND start < ? AND end > ?", (high, low)).fetchall()
            clipped = [(max(a, low), min(b, high)) for a, b in kernels]
            self.assertEqual(inside["streams"], [sum(a >= low for a, _ in kernels), sum(b - a for a, b in clipped), [union_ns(clipped)]])
            calls = {}
            for start, stop, thread in db.execute("SELECT start, end, globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE start < ? AND end > ?", (high, low)):
                entry = calls.setdefault(thread, [0, 0])
                entry[0] += start >= low
                entry[1] += min(stop, high) - max(start, low)
            self.assertEqual(sorted(tuple(one[1:]) for one in inside["threads"]), sorted(map(tuple, calls.values())))
            total = sum(max(0, min(stop, done) - max(start, begin)) for gpu in shown["gpus"] for _, start, stop, *_ in gpu["ranges"])
            self.assertEqual(sum(ns for _, ns in inside["projected"].values()), total)

    def check_steps(self, path):
        run, shown = Run(artifacts(path)), page(path)
        for summary in run.rows("step_summary"):
            own = next(one for one in shown["iterations"] if one["key"] == f"s{summary['device_id']}")
            steps = [row for row in run.rows("steps") if row["device_id"] == summary["device_id"]]
            self.assertEqual([(end - start, outlier) for start, end, _, outlier in own["instances"]],
                             [(round(row["duration_ms"] * 1000000), row["is_outlier"] == 1) for row in steps])
            self.assertEqual(own["median"], round(summary["median_ms"] * 1000000))

    def check_copies(self, path):
        """Percent of peak of the direction with large copies, none of which has another beside it."""
        db, shown, medians = database(path), page(path)["limits"], {}
        for device, kind in db.execute("SELECT DISTINCT deviceId, copyKind FROM CUPTI_ACTIVITY_KIND_MEMCPY"):
            rates = sorted(size / (end - start) for size, start, end in db.execute(
                "SELECT bytes, start, end FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE deviceId = ? AND copyKind = ? AND bytes >= 1048576", (device, kind)))
            if rates:
                medians.setdefault(kind, []).append(rates[(len(rates) - 1) // 2])
        copies = [one for one in shown if one["table"] == "copy_rates"]
        self.assertTrue(copies)
        for one in copies:
            self.assertIn(round(one["reached"], 3), [round(min(rates), 3) for rates in medians.values()])
            self.assertEqual((one["of"], one["peak"]), ("PCIe 5.0 x16", 50))  # an H200's, as rules/gpus.yaml has it
            self.assertAlmostEqual(one["percent"], one["reached"] * 2, places=2)

    def check_arrivals(self, path):
        """The n-th collectives of all GPUs are one: when each came, and who was last."""
        db, shown = database(path), page(path)["communicators"]
        gpus = [gpu for gpu, in db.execute("SELECT DISTINCT deviceId FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY 1")]
        own = [db.execute("SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds s ON s.id = demangledName WHERE deviceId = ? "
                          "AND s.value LIKE '%nccl%' ORDER BY start", (gpu,)).fetchall() for gpu in gpus]
        origin, found = int(page(path)["origin"]), [c for one in shown for c in one["collectives"]]
        self.assertEqual({len(found)}, set(map(len, own)))
        self.assertGreater(len(found), 10)
        # A constant by which ends differ is one of clocks.
        clocks = [sorted(end - first for (_, end), (_, first) in zip(times, own[0]))[(len(found) - 1) // 2] for times in own]
        for collective, pair in zip(sorted(found, key=lambda c: c["start"]), zip(*own)):
            starts = [start - clock for (start, _), clock in zip(pair, clocks)]
            self.assertEqual((collective["start"], collective["end"]), (min(start for start, _ in pair) - origin, max(end for _, end in pair) - origin))
            self.assertEqual(round(collective["skew"]), max(starts) - min(starts))
            self.assertEqual({m["device"]: round(m["late"]) for m in collective["members"]}, {gpu: start - min(starts) for gpu, start in zip(gpus, starts)})
            if max(starts) - min(starts) >= 100000:
                self.assertEqual(collective["last"], gpus[starts.index(max(starts))])

    def check_rates(self, path):
        """Bus bandwidth of all-reduces, from the size that each one's payload tells: from the last GPU's arrival on."""
        db, shown = database(path), page(path)["communicators"]
        gpus = [gpu for gpu, in db.execute("SELECT DISTINCT deviceId FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY 1")]
        thread, = db.execute("SELECT globalTid FROM NVTX_EVENTS WHERE binaryData IS NOT NULL LIMIT 1").fetchone()
        sizes = [int.from_bytes(blob[-16:-8], "little") for blob, in db.execute(
            "SELECT binaryData FROM NVTX_EVENTS JOIN StringIds s ON s.id = textId WHERE s.value = 'ncclAllReduce' AND globalTid = ? ORDER BY start", (thread,))]
        own = [db.execute("SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds s ON s.id = demangledName WHERE deviceId = ? "
                          "AND s.value LIKE '%nccl%' ORDER BY start", (gpu,)).fetchall() for gpu in gpus]
        found = sorted((c for one in shown for c in one["collectives"]), key=lambda c: c["start"])
        self.assertEqual(len(found), len(sizes))
        for collective, size, pair in zip(found, sizes, zip(*own)):
            rate = 2 * (len(gpus) - 1) / len(gpus) * size / (max(end for _, end in pair) - max(start for start, _ in pair))
            for member in collective["members"]:
                self.assertAlmostEqual(member["busbw"] / rate, 1, places=3)

    def check_counted(self, path, *tables):
        """Evidence that counts events of a name or shape, or gaps of a pattern, marks that many on the page."""
        seen = set()
        for text, table, marked in page(path)["counted"]:
            count = re.search(r"(?:^|: )([\d,]+) (?:kernels|calls|gaps|times)\b", text)
            if count and marked is not None and (table != "losses" or "kernels" in text):
                self.assertEqual(marked, int(count[1].replace(",", "")), (path.stem, text))
                seen.add(table)
        self.assertLessEqual(set(tables), seen, path.stem)

    def check_limits_untold(self, path):
        """Of a trace that tells no sizes of products, has no large copy to or from the host, and no large message: no limit, and
        the roofline has none of its kernels. Without payloads there is no bandwidth and no matrix of messages."""
        db, shown = database(path), page(path)
        texts = "SELECT count(*) FROM NVTX_EVENTS LEFT JOIN StringIds s ON s.id = textId WHERE "
        self.assertEqual(db.execute(texts + "coalesce(text, s.value) LIKE '%sizes = %'").fetchone(), (0,))
        if has(db, "MEMCPY"):
            self.assertEqual(db.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE bytes >= 1048576 AND copyKind != 8").fetchone(), (0,))
        kernels, = db.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
        self.assertEqual(shown["limits"], [])
        self.assertEqual((shown["roofline"]["points"], shown["roofline"]["placed"], shown["roofline"]["elementwise"]), ([], 0, 0))
        self.assertEqual(shown["roofline"]["kernels"], kernels)
        told = db.execute(texts + "binaryData IS NOT NULL AND s.value IN ('ncclSend', 'ncclRecv', 'ncclAlltoAll')").fetchone()[0]
        self.assertEqual(told, 0)
        for one in shown["communicators"]:
            self.assertIsNone(one["traffic"])
        if db.execute("SELECT count(*) FROM NVTX_EVENTS WHERE binaryData IS NOT NULL").fetchone() == (0,):
            self.assertEqual([m["busbw"] for one in shown["communicators"] for c in one["collectives"] for m in c["members"] if m["busbw"] is not None], [])

    def test_communicators(self):
        self.check_arrivals(trace("collectives"))
        self.check_arrivals(trace("eight-gpus"))
        self.assertEqual(page(trace("layers"))["communicators"], [])
        one, = page(trace("collectives"))["communicators"]
        rates = {(c["op"], round(m["busbw"], 3)) for c in one["collectives"] for m in c["members"]}
        # 2 (n - 1) / n of 300 MB in 300 us; 8 MiB in 100 us; half of 2 MiB in 580 us.
        self.assertEqual(rates, {("AllReduce bf16", 1000.0), ("SendRecv", 83.886), ("AllGather", round((1 << 20) / 580000, 3))})
        sends = database(trace("collectives")).execute("SELECT globalTid / 16777216 % 16777216, count(*) FROM NVTX_EVENTS JOIN StringIds s "
                                                       "ON s.id = textId WHERE s.value = 'ncclSend' GROUP BY 1 ORDER BY 1").fetchall()
        self.assertEqual(one["traffic"], {key: count * 4 << 20 for key, (_, count) in zip(("0>1", "1>0"), sends)})

    def test_limits(self):
        self.check_copies(trace("training"))
        self.assertEqual(page(trace("layers"))["limits"], [])

    def test_roofline(self):
        """Every product with sizes stands at its operations per byte and at what its kernels reached, the elementwise kernels with a
        bandwidth are counted."""
        path = trace("gemm-sizes")
        db, shown = database(path), page(path)["roofline"]
        wanted, placed = {}, set()
        works = db.execute("SELECT k.rowid, r.start, k.end - k.start, k.graphNodeId FROM CUPTI_ACTIVITY_KIND_KERNEL k "
                           "LEFT JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId").fetchall()
        for text, start, end in db.execute("SELECT coalesce(n.text, s.value) AS t, n.start, n.end FROM NVTX_EVENTS n LEFT JOIN StringIds s "
                                           "ON s.id = n.textId WHERE t LIKE '%sizes = %'"):
            op, sizes = re.match(r"([^,]*),.*sizes = (\[.*\]), input_op_ids", text).groups()
            if op in ELEMENTWISE:
                continue
            _, flop, values = matrices(op, sizes)
            # What was captured into a graph runs when the graph does.
            own = [w for w in works if (w[3] if op == "aten::bmm" else start <= w[1] < end)]
            times = len(own) if op == "aten::bmm" else 1
            entry = wanted.setdefault(op, [flop / values / BF16_BYTES, 0, 0])
            entry[1] += flop * times
            entry[2] += sum(w[2] for w in own)
            placed |= {w[0] for w in own}
        self.assertEqual({p["label"].split()[0] for p in shown["points"]}, set(wanted))
        for point in shown["points"]:
            intensity, flop, ns = wanted[point["label"].split()[0]]
            self.assertAlmostEqual(point["intensity"] / intensity, 1, places=6)
            self.assertAlmostEqual(point["tflops"] / (flop / ns / 1e3), 1, places=3)
        self.assertEqual((shown["placed"], shown["kernels"]), (len(placed), len(works)))
        self.assertGreater(shown["kernels"], shown["placed"])
        count, ns = db.execute("SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName "
                               "WHERE value LIKE '%MulFunctor%'").fetchone()
        limit, = [one for one in page(path)["limits"] if one["kind"] == "Elementwise operations"]
        self.assertEqual(shown["elementwise"], count)
        self.assertAlmostEqual(limit["reached"], 3 * 8192 * 4096 * BF16_BYTES * count / ns, places=2)

    def test_counted(self):
        self.check_counted(trace("drained-queue"), "idle_patterns")
        self.check_counted(trace("training"), "kernels", "comm_ops")

    @support.tier("ci")
    @unittest.skipUnless(REFERENCE.exists(), "needs shared/")
    def test_counted_of_others(self):
        for name, table in (("jetson_orin", "idle_patterns"), ("line_fitting", "profile_targets"), ("tensorrt_nvtx_only", "nvtx_ranges"), ("gaussian_osrt_sched_samples", "losses")):
            self.check_counted(SHARED / "traces" / "real" / f"{name}.sqlite", table)
        self.check_counted(REFERENCE, "kernels", "losses", "idle_patterns", "comm_ops")

    def test_steps(self):
        self.check_steps(trace("training"))
        self.check_steps(trace("steps-input"))

    def test_units(self):
        self.check_units(trace("layers"))

    def test_range(self):
        self.check_range(trace("training"))

    def test_generated(self):
        path = trace("training")
        self.check_projection(path)
        self.check_lead(path)

    def test_projection_where_the_page_has_blocks(self):
        """Of a page without all events: ranges are those of the whole page, none of them in part."""
        for name, events, least in (("training", 2000, 100), ("serving", 12000, 1)):  # launches of graphs: one of several operations may lack
            whole = {(gpu["gpu"], row): rest for gpu in page(trace(name))["gpus"] for row, *rest in gpu["ranges"]}
            some = {(gpu["gpu"], row): rest for gpu in page_with_blocks(trace(name), events)["gpus"] for row, *rest in gpu["ranges"]}
            self.assertGreater(len(some), least)
            self.assertLess(len(some), len(whole))
            self.assertEqual(some, {key: whole[key] for key in some})
            self.assertEqual(page_with_blocks(trace(name), events)["flame"], page(trace(name))["flame"])

    def test_lead_where_the_page_has_blocks(self):
        self.check_lead_of_blocks(trace("training"), 2000)
        self.check_lead_of_blocks(trace("drained-queue"), 100)

    def test_iterations_where_the_page_has_blocks(self):
        """Passes of units and of NVTX ranges are those of a page with all events, which other tests compare with SQL."""
        for name, kinds in (("training", "sr"), ("layers", "ur"), ("inference", "ur")):
            facts = ("key", "label", "gpu", "median", "count", "labels", "instances", "longest", "usual")
            some, whole = ([{key: one[key] for key in facts} for one in shown["iterations"]] for shown in (page_with_blocks(trace(name), 100), page(trace(name))))
            self.assertLessEqual(set(kinds), {one["key"][0] for one in some})
            self.assertEqual(some, whole)

    @support.tier("ci")
    def test_serving(self):
        path = trace("serving")
        for check in (self.check_lead, self.check_range, self.check_steps, self.check_limits_untold):
            check(path)
        self.assertEqual(page(path)["communicators"], [])

    @support.tier("ci")
    def test_job_of_eight(self):
        self.check_lead(trace("eight-gpus"))
        self.check_range(trace("eight-gpus"))

    @support.tier("ci")
    def test_job_of_many_nodes(self):
        """16 ranks of which one is late to every collective, and 72 GPUs."""
        out = support.fresh_dir() / "job"
        done = support.run("ranks", "--together", "--ranks", 16, "--straggler", "persistent", "--late-rank", 5, out, program=support.GENERATOR)
        self.assertEqual(done.returncode, 0, done.stderr)
        path = out / "ranks.sqlite"
        for check in (self.check_lead, self.check_range, self.check_steps, self.check_arrivals, self.check_projection,
                      self.check_rates, self.check_limits_untold):
            check(path)
        collectives = [c for one in page(path)["communicators"] for c in one["collectives"]]
        self.assertEqual({c["last"] for c in collectives if c["skew"] >= 100000}, {5})
        self.check_arrivals(trace("many-gpus"))
        self.check_range(trace("many-gpus"))
        self.check_limits_untold(trace("many-gpus"))

    @support.tier("ci")
    @unittest.skipUnless(REFERENCE.exists(), "needs shared/")
    def test_two_gpus(self):
        for check in (self.check_units, self.check_range, self.check_lead, self.check_projection, self.check_arrivals, self.check_limits_untold):
            check(REFERENCE)


if __name__ == "__main__":
    support.main()
