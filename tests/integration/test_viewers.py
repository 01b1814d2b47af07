"""Exports in the hands of other programs: protoc decodes Perfetto's, speedscope's own schema takes its format, an importer of
folded stacks reads theirs; a tree in Markdown is one for a reader of GitHub's dialect."""
import collections
import json
import os
import re
import shutil
import sqlite3
import subprocess
import unittest

import support
import test_timelines
from support import SHARED, SOURCE, artifacts, fresh_dir, run, trace

PROTOC = os.environ.get("PROTOC") or shutil.which("protoc")
SPEEDSCOPE = SOURCE / "tests" / "readers" / "node_modules" / "speedscope" / "dist" / "release"


def total_kernel_ns(path):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        return db.execute("select coalesce(sum(end - start), 0) from CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]


@unittest.skipUnless(PROTOC, "no protoc")
class Protobuf(unittest.TestCase):
    def decode(self, path):
        out = fresh_dir() / "x.pftrace"
        self.assertEqual(run("export", "perfetto", artifacts(path), "--out", out).returncode, 0)
        with open(out, "rb") as file:
            done = subprocess.run([PROTOC, f"--proto_path={SOURCE}/tests/perfetto", "--decode=Trace", "subset.proto"], stdin=file,
                                  capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""), path)
        return done.stdout, out.stat().st_size

    def test_every_field_is_known(self):
        """protoc prints fields it does not know by number; and what it found is what our own reader of the format found."""
        paths = [trace(name) for name in "training nvtx-mix shared-gpu graphs evidence hostile empty".split()]
        for path in paths + [test_timelines.overlapping(), test_timelines.same_pid()]:
            with self.subTest(path=path):
                text, _ = self.decode(path)
                self.assertIsNone(re.search(r"^\s*\d+[:{ ]", text, re.M))
                types = collections.Counter(re.findall(r"^    type: TYPE_(\w+)$", text, re.M))
                t = test_timelines.perfetto(artifacts(path))
                self.assertEqual((types["SLICE_BEGIN"], types["SLICE_END"]), (len(t.slices), len(t.slices)))
                self.assertEqual((types["INSTANT"], types["COUNTER"]), (len(t.instants), sum(map(len, t.counters.values()))))
                uuids = re.findall(r"track_descriptor \{\n    uuid: (\d+)", text)
                self.assertEqual(len(uuids), len(set(uuids)))
                self.assertEqual(len(uuids), len(t.tracks))

    @unittest.skipUnless(SHARED.exists(), "no reference traces")
    def test_size(self):
        """60 bytes a slice, 14 compressed."""
        path = SHARED / "traces" / "fsdp_2gpu.sqlite"
        text, size = self.decode(path)
        slices = text.count("TYPE_SLICE_BEGIN")
        self.assertGreaterEqual(slices, 31883)
        self.assertLessEqual(size / slices, 60)
        out = fresh_dir() / "x.pftrace.gz"
        self.assertEqual(run("export", "perfetto", artifacts(path), "--out", out).returncode, 0)
        self.assertLessEqual(out.stat().st_size / slices, 14)


class Speedscope(unittest.TestCase):
    def profiles(self, path, *options):
        done = run("export", "speedscope", artifacts(path), *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    @unittest.skipUnless(SPEEDSCOPE.exists(), "no speedscope (npm)")
    def test_schema(self):
        import jsonschema
        schema = json.loads((SPEEDSCOPE / "file-format-schema.json").read_text())
        for path in [trace(name) for name in "training nvtx-mix hostile empty".split()] + [test_timelines.overlapping()]:
            jsonschema.validate(self.profiles(path), schema)

    def test_rows(self):
        """What opens closes, inside what is around it; every event of the export is there, by time."""
        for path in (trace("training"), trace("nvtx-mix"), trace("graphs"), test_timelines.overlapping()):
            file, spans = self.profiles(path), collections.defaultdict(list)
            frames = [frame["name"] for frame in file["shared"]["frames"]]
            self.assertEqual(sum(file["profiles"][0]["weights"]), total_kernel_ns(path))
            for profile in file["profiles"][1:]:
                stack, last = [], 0
                for event in profile["events"]:
                    self.assertGreaterEqual(event["at"], last)
                    last = event["at"]
                    if event["type"] == "O":
                        stack.append((event["frame"], last))
                    else:
                        frame, began = stack.pop()
                        self.assertEqual(frame, event["frame"])
                        kind = next((k for k in ("kernels", "copies", "memsets", "graphs", "CUDA API", "idle gaps") if k in profile["name"]), "nvtx")
                        spans[kind].append((began, last))
                        self.assertLess(frame, len(frames))
                self.assertEqual((stack, profile["endValue"]), ([], last))
            wanted = test_timelines.times(path)
            origin = min(a for spans_of in wanted.values() for a, _ in spans_of)
            if path == trace("nvtx-mix"):  # its first event is a mark
                origin = min(origin, min(a for a, in test_timelines.raw(path, "select start from NVTX_EVENTS where eventType = 34")))
            for kind, there in (("kernels", "kernel"), ("copies", "memcpy"), ("memsets", "memset"), ("graphs", "graph"), ("CUDA API", "cuda_api")):
                self.assertEqual(sorted(spans[kind]), sorted((a - origin, b - origin) for a, b in wanted[there]), (path, kind))

    def test_options(self):
        """--gpu leaves out the other GPU's rows; --all is no option of rows."""
        one = self.profiles(trace("training"), "--gpu", "1")
        self.assertTrue([p["name"] for p in one["profiles"] if p["name"].startswith("GPU 1")])
        self.assertFalse([p["name"] for p in one["profiles"] if p["name"].startswith("GPU 0")])
        self.assertEqual(run("export", "csv", artifacts(trace("training")), "--all").returncode, 2)


class Folded(unittest.TestCase):
    """As flamegraph.pl reads them: the stack up to the last blank, frames by ';', a number."""

    def test_sums(self):
        for name in ("training", "nvtx-mix", "hostile"):
            path = trace(name)
            by_leaf = collections.Counter()
            for line in run("export", "folded", artifacts(path)).stdout.splitlines():
                stack, value = re.fullmatch(r"(.+) (\d+)", line).groups()
                frames = stack.split(";")
                self.assertRegex(frames[0], r"^pid ")
                self.assertGreaterEqual(len(frames), 3)
                by_leaf[frames[-1]] += int(value)
            rows = json.loads(run("sql", artifacts(path), "select name, sum(duration_ns) from v_kernels group by 1", "--format", "json").stdout)["rows"]
            self.assertEqual(by_leaf, collections.Counter({n.replace(";", ":"): ns for n, ns in rows if ns}) + collections.Counter())


class Tree(unittest.TestCase):
    """export markdown: read by cmark-gfm, and against the nodes."""

    @unittest.skipUnless(shutil.which("cmark-gfm"), "no cmark-gfm")
    def test_tree(self):
        for name in ("training", "nvtx-mix", "hostile", "empty"):
            done = run("export", "markdown", artifacts(trace(name)))
            self.assertEqual(done.returncode, 0, done.stderr)
            text = done.stdout
            self.assertLessEqual(len(text.encode()), 60000)
            html = subprocess.run(["cmark-gfm", "--unsafe"], input=text, capture_output=True, text=True, check=True).stdout
            self.assertEqual(set(re.findall(r"<(\w+)", html)) - {"h1", "h2", "ul", "li", "code", "p"}, set(), name)
            nodes = json.loads(run("sql", artifacts(trace(name)), "select range_name, count from nvtx_nodes", "--format", "json").stdout)["rows"]
            left = re.search(r"^([\d]+) ranges are left out", text, re.M)
            found = re.findall(r"^ *- (?!kernel `).* ×(\d+) — wall", text, re.M)
            self.assertEqual(len(found) + int(left.group(1) if left else 0), len(nodes))
            if not left:
                self.assertEqual(sorted(map(int, found)), sorted(count for _, count in nodes))

    def test_limit(self):
        """A tree of many names keeps its outermost ranges."""
        path = test_timelines.edited(trace("training"), "create temp table n(i)", "with recursive c(i) as (select 1 union all select i + 1 from c where i < 3000) "
                                     "insert into n select i from c", "insert into NVTX_EVENTS (start, end, eventType, text, globalTid) "
                                     "select start + i * 10, start + i * 10 + 5, 59, 'a rather long name of a range, number ' || i, globalTid from n, "
                                     "(select start, globalTid from NVTX_EVENTS where eventType = 59 order by end - start desc limit 1)")
        text = run("export", "markdown", path, "-q").stdout
        self.assertLessEqual(len(text.encode()), 60000)
        self.assertGreater(len(text.encode()), 50000)
        self.assertRegex(text, r"\d+ ranges are left out")
        for name in ("forward", "backward"):
            self.assertRegex(text, f"(?m)^ *- `{name}")


if __name__ == "__main__":
    support.main()
