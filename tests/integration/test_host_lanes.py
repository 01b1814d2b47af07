"""Rows of report.html for the operating system's runtime, scheduling, samples and overhead, against SQL over the export."""
import collections
import json
import shutil
import sqlite3
import unittest

import support
from support import SHARED, analyze, fresh_dir, trace

CALLS = 210_000  # more than the page holds one by one


def numbers(data):
    value, shift = 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value, shift = 0, 0


class Page:
    """The page's lanes: (kind, pid, tid) -> [(start, end, name, count, busy, aux)], times of the session."""

    def __init__(self, directory):
        html = (directory / "report.html").read_text(encoding="utf-8")
        data = json.loads(support.page_block(html, "timeline"))
        raw = support.page_block(html, "events")
        columns = {c["name"]: list(numbers(raw[c["offset"]:c["offset"] + c["bytes"]])) for c in data["columns"]}
        columns = {"count": [1] * data["events"], "busy": [0] * data["events"], **columns}  # where no lane has aggregates
        self.origin = int(data["origin_ns"])
        self.end = self.origin + data["end_ns"]
        self.bucket = data["host_bucket_ns"]
        self.embedded, self.total = data["embedded_events"], data["total_events"]
        self.lanes, self.streams = {}, {}
        for lane in data["lanes"]:
            at, events = self.origin, []
            for i in range(lane["first"], lane["first"] + lane["count"]):
                at += columns["start"][i]
                events.append((at, at + columns["duration"][i], data["names"][columns["name"][i]],
                               columns["count"][i], columns["busy"][i], columns["aux"][i]))
            if lane["kind"] == "host_function":
                self.streams[lane["pid"], lane["gpu"], lane["context"], lane["stream"]] = events
            else:
                self.lanes[lane["kind"], lane["pid"], lane["tid"]] = events

    def of(self, kind):
        return {key[1:]: events for key, events in self.lanes.items() if key[0] == kind}

    def cut(self, start, end):
        """What of an event the page has, and whether it was cut; None for nothing."""
        if end < self.origin or start > self.end:
            return None
        return max(start, self.origin), min(end, self.end), (start < self.origin) + 2 * (end > self.end)


def has(database, table, column=None):
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    return bool(columns) if column is None else column in columns


def ids(global_tid):
    return global_tid >> 24 & 0xFFFFFF, global_tid & 0xFFFFFF



def calls(database, page, table, where="1"):
    found = collections.defaultdict(list)
    if has(database, table):
        for start, end, thread, name in database.execute(
                f"SELECT t.start, t.end, t.globalTid, s.value FROM {table} t JOIN StringIds s ON s.id = t.nameId WHERE {where}"):
            shown = page.cut(start, end)
            if shown:
                found[ids(thread)].append((shown[0], shown[1], name, shown[2]))
    return {key: sorted(events) for key, events in found.items()}


def outer_events(database, page, tables, name):
    """Events of the tables that lie inside no other of their thread; equal ones once."""
    rows = collections.defaultdict(set)
    for table in tables:
        if has(database, table):
            # of a directive with its place
            text = ("s.value || coalesce(' at ' || (SELECT value FROM StringIds WHERE id = t.srcFile) || ':' || t.lineNo, '')"
                    if has(database, table, "srcFile") else "s.value")
            for start, end, thread, text in database.execute(
                    f"SELECT t.start, coalesce(t.end, t.start), t.globalTid, {text} FROM {table} t JOIN StringIds s ON s.id = t.{name}"):
                rows[ids(thread)].add((start, end, text))
    return {key: sorted((*page.cut(a[0], a[1])[:2], a[2], page.cut(a[0], a[1])[2]) for a in events if page.cut(a[0], a[1])
                        and not any(b[0] <= a[0] and a[1] <= b[1] and b[:2] != a[:2] for b in events))
            for key, events in rows.items()}


def stretches(database, page):
    """From each beginning to the stop that follows it."""
    rows = collections.defaultdict(list)
    if has(database, "SCHED_EVENTS"):
        for thread, time, into, cpu in database.execute(
                "SELECT globalTid, start, isSchedIn, cpu FROM SCHED_EVENTS ORDER BY globalTid, start, isSchedIn, cpu"):
            rows[ids(thread)].append((time, into, cpu))
    found = {}
    for key, list_ in rows.items():
        events = [(*page.cut(a[0], b[0])[:2], f"CPU {a[2]}", page.cut(a[0], b[0])[2])
                  for a, b in zip(list_, list_[1:]) if a[1] == 1 and b[1] == 0 and page.cut(a[0], b[0])]
        if events:
            found[key] = sorted(events)
    return found


def samples(database, page):
    found = collections.Counter()
    if has(database, "COMPOSITE_EVENTS"):
        where = "cpuCycles != 0" if has(database, "COMPOSITE_EVENTS", "cpuCycles") else "1"
        for thread, start in database.execute(f"SELECT globalTid, start FROM COMPOSITE_EVENTS WHERE {where}"):
            if page.cut(start, start):
                found[ids(thread)] += 1
    return dict(found)


def plain(lanes):
    return {key: sorted((start, end, name, aux) for start, end, name, _, _, aux in events) for key, events in lanes.items()}


class HostLanes(unittest.TestCase):
    def check(self, path):
        page = Page(analyze(path))
        self.assertEqual(page.bucket, 0)
        self.assertEqual(page.embedded, page.total)
        with sqlite3.connect(path) as database:
            outermost = "t.nestingLevel = 0 OR t.nestingLevel IS NULL" if has(database, "OSRT_API", "nestingLevel") else "1"
            self.assertEqual(plain(page.of("osrt")), calls(database, page, "OSRT_API", outermost))
            self.assertEqual(plain(page.of("sched")), stretches(database, page))
            self.assertEqual({key: len(events) for key, events in page.of("sample").items()}, samples(database, page))
            self.assertTrue(all(start == end for events in page.of("sample").values() for start, end, *_ in events))
        return page

    def test_generated(self):
        page = self.check(trace("cpu-work"))
        self.assertTrue(page.of("osrt") and page.of("sched") and page.of("sample"))

    def test_mpi_and_openacc(self):
        mpi = [f"MPI_{kind}_EVENTS" for kind in ("P2P", "COLLECTIVES", "START_WAIT", "OTHER")]
        acc = [f"CUPTI_ACTIVITY_KIND_OPENACC_{kind}" for kind in ("DATA", "LAUNCH", "OTHER")]
        for scenario, kind, tables, name in (("mpi", "mpi", mpi, "textId"), ("openacc-data", "openacc", acc, "nameId")):
            with self.subTest(kind), sqlite3.connect(trace(scenario)) as database:
                page = Page(support.artifacts(trace(scenario)))
                shown = plain(page.of(kind))
                self.assertTrue(shown)
                self.assertEqual(shown, outer_events(database, page, tables, name))
                for table in filter(lambda each: has(database, each), tables):
                    low, high = database.execute(f"SELECT min(start), max(coalesce(end, start)) FROM {table}").fetchone()
                    self.assertTrue(low is None or page.cut(low, high) == (low, high, 0), (table, "the page is as long as these"))

    def test_files(self):
        kinds = {1: "open", 2: "close", 3: "read", 4: "write", 5: "access", 6: "metadata"}
        path = trace("files")
        page, found = Page(support.artifacts(path)), collections.defaultdict(list)
        report = json.loads((support.artifacts(path) / "report.json").read_text(encoding="utf-8"))["tables"]["file_access"]
        at = [[column["name"] for column in report["columns"]].index(name) for name in ("pid", "file")]
        masked = {tuple(row[index] for index in at) for row in report["rows"]}
        with sqlite3.connect(path) as database:
            rows = database.execute("SELECT startedAt, endedAt, eventType, processId, threadId, filePath FROM OSRT_FILE_ACCESS_EVENTS JOIN "
                                    "OSRT_FILE_ACCESS_DESCRIPTORS USING (fileAccessId)").fetchall()
        data = [row for row in rows if not row[5] or not row[5].startswith(("/proc", "/usr", "/sys", "/dev"))]
        self.assertEqual(page.cut(min(row[0] for row in data), max(row[1] for row in data))[2], 0, "the page is as long as these")
        for start, end, kind, pid, tid, _ in rows:
            shown = page.cut(start, end)
            if shown:
                found[pid, tid].append((shown[0], shown[1], kinds[kind], shown[2]))
        lanes = plain(page.of("file"))
        self.assertEqual({key: sorted((start, end, name.split()[0], aux) for start, end, name, aux in events) for key, events in lanes.items()},
                         {key: sorted(events) for key, events in found.items()})
        names = {(pid, name.split(" ", 1)[1]) for (pid, _), events in lanes.items() for _, _, name, _ in events}
        self.assertEqual(names & masked, {(pid, file) for pid, file in masked if file})

    def test_host_functions(self):
        path = trace("host-functions")
        page, found = Page(support.artifacts(path)), collections.defaultdict(list)
        with sqlite3.connect(path) as database:
            named = dict(database.execute("SELECT correlationId, value FROM CUDA_HOST_CALLBACK JOIN StringIds ON id = nameId"))
            for start, end, pid, gpu, context, stream, correlation, graph in database.execute(
                    "SELECT start, end, globalPid, deviceId, contextId, streamId, correlationId, graphId FROM "
                    "CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE_AND_HOST_LAUNCH"):
                found[pid >> 24 & 0xFFFFFF, gpu, context, stream].append((start, end, named.get(correlation, "host function"), 0 if graph is None else 4))
        self.assertTrue(found)
        self.assertEqual(plain(page.streams), {key: sorted(events) for key, events in found.items()}, "none is cut")

    def test_traces_of_others(self):
        paths = [path for name in ("gaussian_osrt_sched_samples", "solver_nvtx_osrt_sched", "jetson_orin")
                 for path in [SHARED / "traces" / "real" / f"{name}.sqlite"] if path.exists()]
        if not paths:
            self.skipTest("no reference traces")
        for path in paths:
            with self.subTest(path.name):
                self.check(path)

    def test_a_trace_without_them_has_no_row(self):
        page = Page(support.artifacts(trace("no-nvtx")))
        self.assertEqual({key[0] for key in page.lanes} & {"osrt", "sched", "sample", "overhead", "file"}, set())
        self.assertEqual(page.streams, {})

    def test_many_become_blocks(self):
        path = fresh_dir() / "many.sqlite"
        shutil.copy(trace("cpu-work"), path)
        with sqlite3.connect(path) as database:
            low, high = database.execute("SELECT min(start), max(end) FROM OSRT_API").fetchone()
            step = (high - low) // CALLS
            database.execute(
                f"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {CALLS - 1}) "
                "INSERT INTO OSRT_API (start, end, eventClass, globalTid, nameId, returnValue, nestingLevel) SELECT "
                f"{low} + i * {step}, {low} + i * {step} + {step // 2}, 27, a.globalTid + 7, a.nameId, 0, 0 FROM n, (SELECT * FROM OSRT_API LIMIT 1) a")
            database.commit()
            page = Page(analyze(path))
            truth = calls(database, page, "OSRT_API")
        self.assertGreater(page.bucket, 0)
        shown = page.of("osrt")
        self.assertEqual(shown.keys(), truth.keys())
        for key, events in shown.items():
            self.assertEqual(sum(event[3] for event in events), len(truth[key]))
            self.assertEqual(sum(event[4] if event[3] > 1 else event[1] - event[0] for event in events),
                             sum(end - start for start, end, *_ in truth[key]))
        self.assertLess(sum(map(len, shown.values())), 20_000)


if __name__ == "__main__":
    support.main()
