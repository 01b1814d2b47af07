"""nsys-ai export perfetto and chrome, read back by readers of their own, against SQL over the raw export."""
import collections
import gzip
import json
import shutil
import sqlite3
import unittest
from decimal import Decimal

import perfetto_reader
import support
from support import SHARED, artifacts, fresh_dir, run, trace

SCENARIOS = "training nvtx-mix shared-gpu graphs two-processes".split()
PROCESS = 1 << 24  # of the identifiers in an export


def raw(path, statement):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        return db.execute(statement).fetchall()


def has(path, table):
    return bool(raw(path, f"select 1 from sqlite_master where name = '{table}'"))


def rows(path, table, columns="start, end", where="1"):
    return raw(path, f"select {columns} from {table} where {where}") if has(path, table) else []


def times(path):
    """(start, end) by what it is, as the export has it."""
    cuda = "CUPTI_ACTIVITY_KIND_"
    return {"kernel": rows(path, cuda + "KERNEL"), "memcpy": rows(path, cuda + "MEMCPY"), "memset": rows(path, cuda + "MEMSET"),
            "graph": rows(path, cuda + "GRAPH_TRACE"), "cuda_api": rows(path, cuda + "RUNTIME"),
            "nvtx": rows(path, "NVTX_EVENTS", where="eventType in (59, 60, 70, 71) and end is not null")}


def closed(path, found):
    """Times of ranges but those that the export leaves open, which end where the program says."""
    rest = collections.Counter(found)
    rest.subtract(times(path)["nvtx"])
    extra = sorted((+rest).elements())
    opened = rows(path, "NVTX_EVENTS", where="eventType in (59, 60, 70, 71) and end is null")
    assert [a for a, _ in extra] == sorted(a for a, _ in opened), extra
    return sorted((collections.Counter(found) - collections.Counter(extra)).elements())


def launches(path):
    """(call start, kernel start) of each kernel whose call is in the trace; those of a call in order."""
    kernel, runtime = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME"
    return collections.Counter(raw(path, f"select r.start, k.start from {kernel} k join {runtime} r on r.correlationId = k.correlationId and "
                                         f"r.globalTid / {PROCESS} = k.globalPid / {PROCESS}"))


def perfetto(directory, *options):
    out = fresh_dir() / "x.pftrace"
    done = run("export", "perfetto", directory, "--out", out, *options)
    assert done.returncode == 0 and not done.stdout, done.stderr
    return perfetto_reader.Trace(out.read_bytes())


def sorted_times(slices):
    return sorted((s.start, s.end) for s in slices)


def what(s):
    return "kernel" if "kernel" in s.args else s.category


def edited(path, *statements):
    """A copy of a trace, changed."""
    copy = fresh_dir() / "changed.sqlite"
    shutil.copy(path, copy)
    db = sqlite3.connect(copy)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()
    return copy


def named_streams():
    """A trace one of whose streams is urgent, and has a name."""
    create = "create table TARGET_INFO_NVTX_CUDA_STREAM (name text, hwId int, vmId int, processId int, deviceId int, contextId int, streamId int)"
    busiest = "(select streamId from CUPTI_ACTIVITY_KIND_KERNEL group by 1 order by count(*) desc limit 1)"
    return edited(trace("training"), create, f"update TARGET_INFO_CUDA_STREAM set priority = 4294967291 where streamId = {busiest}",
                  f"insert into TARGET_INFO_NVTX_CUDA_STREAM select 'compute', 0, 1, processId, 0, contextId, streamId from TARGET_INFO_CUDA_STREAM where streamId = {busiest}")


def overlapping():
    """Three kernels that overlap each other, an empty one, an event before the session and a range that crosses another."""
    path, kernel = trace("training"), "CUPTI_ACTIVITY_KIND_KERNEL"
    start, end, stream, device = raw(path, f"select start, end, streamId, deviceId from {kernel} order by start limit 1 offset 50")[0]
    columns = [row[1] for row in raw(path, f"pragma table_info({kernel})")]
    def copy(first, last):
        chosen = ", ".join({"start": str(first), "end": str(last), "correlationId": "0"}.get(c, c) for c in columns)
        return f"insert into {kernel} select {chosen} from {kernel} where start = {start} and streamId = {stream} and deviceId = {device} limit 1"
    tid, a, b = raw(path, "select globalTid, start, end from NVTX_EVENTS where eventType = 59 and end - start > 1000 order by end - start limit 1")[0]
    nvtx = [row[1] for row in raw(path, "pragma table_info(NVTX_EVENTS)")]
    crossing = ", ".join({"start": str((a + b) // 2), "end": str(b + 10**12)}.get(c, c) for c in nvtx)
    return edited(path, copy(start + 1, end + 1), copy(start + 2, end + 2), copy(start + 1, start + 1), copy(-5, 10),
                  f"insert into NVTX_EVENTS select {crossing} from NVTX_EVENTS where globalTid = {tid} and start = {a} and end = {b} limit 1")


def same_pid():
    """Two processes of one pid: containers of two machines."""
    path = trace("two-processes")
    pids = [row[0] for row in raw(path, f"select distinct globalPid / {PROCESS} from CUPTI_ACTIVITY_KIND_KERNEL order by 1")]
    statements = []
    for (table,) in raw(path, "select name from sqlite_master where type = 'table'"):
        for column in [row[1] for row in raw(path, f"pragma table_info({table})")]:
            if column in ("globalPid", "globalTid"):
                other = ((pids[0] & 0xffffff) + (1 << 25)) * PROCESS
                statements.append(f"update {table} set {column} = {other} + {column} % {PROCESS} where {column} / {PROCESS} = {pids[1]}")
    return edited(path, *statements)


class Perfetto(unittest.TestCase):
    def check(self, path):
        t, wanted = perfetto(artifacts(path)), times(path)
        shift = t.attributes["added_to_times_ns"]
        self.assertEqual(shift, max(0, -min([a for v in wanted.values() for a, _ in v], default=0)))
        found = collections.defaultdict(list)
        for s in t.slices:
            found[what(s)].append((s.start - shift, s.end - shift))
        for kind, expected in wanted.items():
            self.assertEqual(closed(path, found[kind]) if kind == "nvtx" else sorted(found[kind]), sorted(expected), kind)
        kernels = raw(path, "select k.start, k.end, s.value, streamId from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.demangledName")
        self.assertEqual(sorted((s.start - shift, s.end - shift, s.args["kernel"], s.args["stream_id"]) for s in t.slices if what(s) == "kernel"),
                         sorted(kernels))
        # A track of a GPU holds one thing at a time, and names its stream.
        last = {}
        for s in sorted((s for s in t.slices if t.root(s.track)["name"].startswith("GPU")), key=lambda s: (s.start, s.end)):
            self.assertEqual(s.depth, 0)
            self.assertGreaterEqual(s.start, last.get(s.track, s.start))
            last[s.track] = s.end
            if "stream_id" in s.args:
                self.assertIn(f"stream {s.args['stream_id']} ", t.tracks[s.track]["name"])
        for part in ("process", "thread"):
            ids = [track[part][1 if part == "process" else 2] for track in t.tracks.values() if part in track]
            self.assertEqual(len(ids), len(set(ids)))
            self.assertTrue(all(0 < i < 1 << 31 for i in ids))
        self.check_flows(path, t, shift)
        return t

    def check_flows(self, path, t, shift):
        pairs = collections.Counter()
        for chain in t.flows.values():
            self.assertGreater(len(chain), 1)
            calls = [s for s in chain if s.category == "cuda_api"]
            self.assertEqual(len(calls), 1)
            pairs.update((calls[0].start - shift, s.start - shift) for s in chain if what(s) == "kernel")
        self.assertEqual(pairs, launches(path))

    def check_streams(self, path):
        """Each stream's rows say its name, and its priority where that is not 0, as the export has them."""
        db = sqlite3.connect(path)
        known = {(pid, context, stream): (name, (priority ^ 1 << 31) - (1 << 31)) for pid, context, stream, name, priority in db.execute(
            """select s.processId, s.contextId, s.streamId, n.name, s.priority from TARGET_INFO_CUDA_STREAM s left join TARGET_INFO_NVTX_CUDA_STREAM n
               on n.processId = s.processId and n.contextId = s.contextId and n.streamId = s.streamId""")}
        used = db.execute("select distinct globalPid >> 24 & 0xffffff, contextId, streamId from CUPTI_ACTIVITY_KIND_KERNEL").fetchall()
        wanted = set()
        for pid, context, stream in used:
            name, priority = known.get((pid, context, stream), (None, 0))
            wanted.add(f"stream {stream}" + (f" ({name})" if name else "") + (f" \u00b7 priority {priority}" if priority else ""))
        tracks = perfetto(artifacts(path)).tracks.values()
        self.assertEqual({t["name"].partition(" \u00b7 kernels")[0] for t in tracks if " \u00b7 kernels \u00b7 " in t["name"]}, wanted)
        return wanted

    def test_streams_have_their_names_and_priorities(self):
        path = named_streams()
        self.assertTrue(any(" (compute) \u00b7 priority -5" in name for name in self.check_streams(path)))
        page = json.loads(support.page_block((artifacts(path) / "report.html").read_text(encoding="utf-8"), "timeline"))
        (stream,), = sqlite3.connect(path).execute("select distinct streamId from TARGET_INFO_NVTX_CUDA_STREAM where name = 'compute'")
        self.assertEqual({lane.get("name") for lane in page["lanes"] if lane["stream"] == stream}, {"compute"})
        done = run("sql", artifacts(path), "select min(priority), max(priority) from cuda_streams", "--format", "csv")
        self.assertEqual(done.stdout.splitlines()[1], "-5,0")

    @unittest.skipUnless((support.SHARED / "traces").exists(), "no shared traces")
    def test_streams_of_a_real_export(self):
        path = support.SHARED / "traces/real/tensorrt_inference.sqlite"
        self.check_streams(path)  # none of those with a name runs kernels
        want = sqlite3.connect(path).execute("select name, streamId from TARGET_INFO_NVTX_CUDA_STREAM order by 2").fetchall()
        done = run("sql", artifacts(path), "select stream_name, stream_id from stream_names order by 2", "--format", "csv")
        self.assertEqual(done.stdout.splitlines()[1:], [f"{name},{stream}" for name, stream in want])

    def test_scenarios(self):
        for scenario in SCENARIOS:
            with self.subTest(scenario):
                self.check(trace(scenario))

    def test_overlaps(self):
        t = self.check(overlapping())
        crossing = [s for s in t.slices if t.tracks[s.track]["name"] == "ranges that cross others"]
        self.assertEqual(len(crossing), 1)
        names = collections.Counter(track["name"] for track in t.tracks.values() if "kernels" in track["name"])
        self.assertGreaterEqual(max(names.values()), 3)
        self.assertEqual(t.attributes["added_to_times_ns"], 5)

    def test_two_processes_of_one_pid(self):
        t = self.check(same_pid())
        processes = [track for track in t.tracks.values() if "process" in track]
        self.assertEqual(len(processes), 2)
        self.assertIn("(pid ", processes[1]["name"])

    def test_hostile(self):
        for scenario in ("hostile", "hostile-values", "empty", "nvtx-only", "api-only"):
            with self.subTest(scenario):
                perfetto(artifacts(trace(scenario)))
                json.loads(run("export", "chrome", artifacts(trace(scenario))).stdout)

    def test_marks_and_idle(self):
        path = trace("nvtx-mix")
        t = perfetto(artifacts(path))
        self.assertEqual(sorted(at for at, _, _ in t.instants), sorted(a for a, in raw(path, "select start from NVTX_EVENTS where eventType = 34")))
        t = perfetto(artifacts(trace("host-bound")))
        gaps = json.loads(run("sql", artifacts(trace("host-bound")), "select sum(idle_ns) from gpu_utilization", "--format", "json").stdout)["rows"][0][0]
        self.assertEqual(sum(s.end - s.start for s in t.slices if s.category == "idle"), gaps)

    def test_counters(self):
        path = trace("evidence")
        t = perfetto(artifacts(path))
        shift = t.attributes["added_to_times_ns"]
        wanted = collections.Counter(rows(path, "GPU_METRICS", "timestamp, value", "timestamp <> 0 and value is not null"))
        self.assertTrue(wanted)
        self.assertEqual(collections.Counter((at - shift, int(value)) for points in t.counters.values() for at, value in points), wanted)
        names = {name for name, in raw(path, "select metricName from TARGET_INFO_GPU_METRICS")}
        self.assertTrue(all(any(t.tracks[uuid]["name"].startswith(name) for name in names) and t.tracks[uuid]["counter"] for uuid in t.counters))
        d = json.loads(run("export", "chrome", artifacts(path)).stdout)
        self.assertEqual(sum(e["ph"] == "C" for e in d["traceEvents"]), sum(wanted.values()))

    def test_trim(self):
        path = trace("training")
        every = sorted(a for a, _ in rows(path, "CUPTI_ACTIVITY_KIND_KERNEL"))
        a, b = every[len(every) // 3], every[len(every) // 2] + 1000
        t = perfetto(artifacts(path), "--trim", f"{a / 1e9:.9f}", f"{b / 1e9:.9f}")
        for kind, expected in times(path).items():
            cut = sorted((max(s, a), min(e, b)) for s, e in expected if s < b and (e > a or s == e == a))
            self.assertEqual(sorted_times(s for s in t.slices if what(s) == kind), cut, kind)
        self.assertTrue(all(len(chain) > 1 for chain in t.flows.values()))

    def test_filters(self):
        path, directory = trace("training"), artifacts(trace("training"))
        count = lambda *options: collections.Counter(what(s) for s in perfetto(directory, *options).slices)
        self.assertFalse({"cuda_api"} & set(count("--no-calls")))
        self.assertFalse({"nvtx"} & set(count("--no-ranges")))
        self.assertEqual(count("--gpu", "1")["kernel"], len(rows(path, "CUPTI_ACTIVITY_KIND_KERNEL", where="deviceId = 1")))
        self.assertEqual(count("--min-duration", "20")["cuda_api"], len(rows(path, "CUPTI_ACTIVITY_KIND_RUNTIME", where="end - start >= 20000")))
        self.assertFalse(perfetto(directory, "--no-flows").flows)
        self.assertFalse(perfetto(directory, "--no-calls").flows)
        full = perfetto(directory, "--names", "full")
        self.assertTrue(all(s.name == s.args["kernel"] for s in full.slices if what(s) == "kernel"))

    def test_gzip_and_errors(self):
        directory, out = artifacts(trace("training")), fresh_dir()
        for name, options in (("a", ()), ("b.gz", ()), ("c", ("--gzip",))):
            self.assertEqual(run("export", "perfetto", directory, "--out", out / name, *options).returncode, 0)
        plain, packed = (out / "a").read_bytes(), (out / "b.gz").read_bytes()
        self.assertEqual(gzip.decompress(packed), plain)
        self.assertEqual(packed, (out / "c").read_bytes())
        self.assertEqual(packed[4:8], b"\0\0\0\0")
        self.assertEqual(run("export", "perfetto", directory, text=False).stdout, plain)
        self.assertEqual(run("export", "perfetto", trace("training"), "-q", text=False).stdout, plain)
        for options, word in ((("perfetto", "--trim", "9000", "9001"), "nothing"), (("csv", "--names", "full"), "perfetto"), (("chrome", "--metric", "wall"), "folded")):
            done = run("export", options[0], directory, "--out", out / "no", *options[1:])
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(word, done.stderr)
            self.assertFalse((out / "no").exists())
        self.assertEqual(run("export", "chrome", directory, "--out", out / "no" / "x").returncode, 5)
        for format in ("perfetto", "chrome"):
            with open("/dev/full", "wb") as full:
                self.assertEqual(run("export", format, directory, stdout=full).returncode, 5)

    @unittest.skipUnless((SHARED / "traces" / "fsdp_2gpu.sqlite").exists(), "no reference traces")
    def test_real(self):
        path = SHARED / "traces" / "fsdp_2gpu.sqlite"
        t = self.check(path)
        kernels = [s for s in t.slices if what(s) == "kernel"]
        self.assertEqual(sum(s.category != "idle" for s in t.slices), 4010 + 1289 + 7466 + 19118)
        self.assertEqual(sum(s.end - s.start for s in kernels), 535200650)
        self.assertEqual(sum(bool(s.flows) for s in kernels), 3986)
        self.assertEqual(sum("kernels" in track["name"] for track in t.tracks.values()), 3)  # two streams, one kernel that overlaps
        for s in kernels:  # its number stands at one end of an arrow, which is enough
            self.assertEqual("correlation_id" in s.args, not s.flows)

    @unittest.skipUnless((SHARED / "traces" / "fsdp_2gpu.sqlite").exists(), "no reference traces")
    def test_size(self):
        directory, out = artifacts(SHARED / "traces" / "fsdp_2gpu.sqlite"), fresh_dir()
        for name, most in (("x.pftrace", 60), ("x.pftrace.gz", 13)):
            self.assertEqual(run("export", "perfetto", directory, "--out", out / name).returncode, 0)
            count = len(perfetto_reader.Trace((out / "x.pftrace").read_bytes()).slices)
            self.assertLessEqual((out / name).stat().st_size / count, most, name)


class Chrome(unittest.TestCase):
    def load(self, directory, *options):
        done = run("export", "chrome", directory, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        def refuse(constant):
            raise ValueError(constant)
        return json.loads(done.stdout, parse_float=Decimal, parse_constant=refuse)

    def ns(self, event, key="ts"):
        value = Decimal(event[key])
        self.assertEqual(-value.as_tuple().exponent, 3)
        return int(value * 1000)

    def check(self, path):
        d = self.load(artifacts(path))
        origin, events = d["otherData"]["window_start_ns"], d["traceEvents"]
        found, places = collections.defaultdict(list), collections.defaultdict(list)
        kernels = d["otherData"]["kernels"]
        for e in events:
            if e["ph"] != "X":
                continue
            span = self.ns(e), self.ns(e) + self.ns(e, "dur")
            self.assertGreaterEqual(span[0], 0)
            places[e["pid"], e["tid"]].append(span)
            kind = "kernel" if "grid" in e["args"] else e["cat"]
            found[kind].append((span[0] + origin, span[1] + origin, kernels[e["name"]]) if kind == "kernel" else (span[0] + origin, span[1] + origin))
        for kind, expected in times(path).items():
            if kind == "kernel":
                expected = raw(path, "select k.start, k.end, s.value from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.demangledName")
            self.assertEqual(closed(path, found[kind]) if kind == "nvtx" else sorted(found[kind]), sorted(expected), kind)
        for place, spans in places.items():  # what nests is shown, what crosses is lost
            stack = []
            for start, end in spans:
                while stack and stack[-1] <= start:
                    stack.pop()
                self.assertTrue(not stack or end <= stack[-1], place)
                stack.append(end)
        self.check_rows(events, places)
        self.check_flows(path, events, origin)

    def check_rows(self, events, places):
        names = [(e["name"], e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual(set(places), {place[1:] for place in names})
        processes = [e["pid"] for e in events if e["ph"] == "M" and e["name"] == "process_name"]
        self.assertEqual(len(processes), len(set(processes)))
        self.assertTrue(all(0 < pid < 1 << 31 and 0 < tid < 1 << 31 for pid, tid in places))

    def check_flows(self, path, events, origin):
        ends, seen = collections.defaultdict(dict), set()
        for e in events:
            if e["ph"] == "X":
                seen.add((e["pid"], e["tid"], e["ts"]))
            elif e["ph"] in "sf":
                self.assertIn((e["pid"], e["tid"], e["ts"]), seen)  # the slice it binds to came before
                self.assertNotIn(e["ph"], ends[e["id"]])
                self.assertEqual(e.get("bp"), "e" if e["ph"] == "f" else None)
                ends[e["id"]][e["ph"]] = e
        kernels = {(e["pid"], e["tid"], e["ts"]) for e in events if e["ph"] == "X" and "grid" in e["args"]}
        pairs = collections.Counter((self.ns(f["s"]) + origin, self.ns(f["f"]) + origin) for f in ends.values()
                                    if (f["f"]["pid"], f["f"]["tid"], f["f"]["ts"]) in kernels)
        self.assertEqual(pairs, launches(path))

    def test_scenarios(self):
        for path in [*map(trace, SCENARIOS), overlapping(), same_pid()]:
            with self.subTest(path=path):
                self.check(path)

    def test_trim(self):
        path = trace("training")
        every = sorted(rows(path, "CUPTI_ACTIVITY_KIND_KERNEL"))
        a, b = every[100][0] + 10, every[150][0]
        d = self.load(artifacts(path), "--trim", f"{a / 1e9:.9f}", f"{b / 1e9:.9f}")
        self.assertEqual(d["otherData"]["window_start_ns"], a)
        kernels = sorted((self.ns(e) + a, self.ns(e) + self.ns(e, "dur") + a) for e in d["traceEvents"] if e["ph"] == "X" and "grid" in e["args"])
        self.assertEqual(kernels, sorted((max(s, a), min(e, b)) for s, e in every if s < b and e > a))

    @unittest.skipUnless((SHARED / "traces" / "fsdp_2gpu.sqlite").exists(), "no reference traces")
    def test_real(self):
        self.check(SHARED / "traces" / "fsdp_2gpu.sqlite")


if __name__ == "__main__":
    support.main()
