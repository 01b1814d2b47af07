"""nsys-ai store and trend: nights with planned changes; change points against a second implementation."""
import contextlib
import csv
import datetime
import fcntl
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import sqlite3
import subprocess
import unittest

import oracle_changes
import published
import support
from support import GENERATOR, SOURCE, artifacts, fresh_dir, run, trace

CHANGES = support.BUILD / "tests" / "nai-changes"
DERIVED = ("index.sqlite", "index.csv", "index.html")


def found_in(series):
    text = "".join(f"{kind} {' '.join(map(repr, values))}\n" for kind, values in series)
    done = subprocess.run([CHANGES], input=text, capture_output=True, encoding="ascii", check=True, timeout=support.TIMEOUT_S)
    return [json.loads(line) for line in done.stdout.splitlines()]


def some_series(chance, count):
    for _ in range(count):
        n = chance.choice([9, 20, 30, 49, 50, 51, 60, 74, 90])
        level, noise, values = chance.uniform(50, 500), chance.choice([0, 0.002, 0.01, 0.03]), []
        for _ in range(n):
            if chance.random() < 0.04:
                level *= 1 + chance.choice([-0.2, -0.05, 0.03, 0.05, 0.1])
            value = level * (1 + chance.gauss(0, noise))
            values.append(round(value * (1.6 if chance.random() < 0.02 else 1), 3))
        yield ("noisy", values)
    for _ in range(count // 4):
        level, values = 10, []
        for _ in range(40):
            level += chance.random() < 0.05
            values.append(float(level))
        yield ("exact", values)


class Changes(unittest.TestCase):
    def test_against_the_definition(self):
        series = list(some_series(random.Random(4), 24))
        for (kind, values), got in zip(series, found_in(series)):
            want, spikes = oracle_changes.changes(values, kind == "exact")
            self.assertEqual([c[0] for c in got["changes"]], [w[0] for w in want], values)
            self.assertEqual(got["spikes"], spikes)
            for (_, before, after, p), (_, p_want, _, a, b) in zip(got["changes"], want):
                self.assertAlmostEqual(before, a, delta=1e-9 * abs(a))
                self.assertAlmostEqual(after, b, delta=1e-9 * abs(b))
                self.assertAlmostEqual(p, p_want, delta=1e-6 * max(p_want, 1e-6))

    def test_against_another_method(self):
        """Clear steps: where the best fit by constants has them."""
        chance = random.Random(9)
        series = []
        for _ in range(8):
            at, factor = chance.randrange(12, 48), chance.choice([0.9, 1.08, 1.15])
            series.append(("noisy", [(100 if i < at else 100 * factor) + chance.gauss(0, 1) for i in range(60)]))
        for (_, values), got in zip(series, found_in(series)):
            self.assertEqual([c[0] for c in got["changes"]], oracle_changes.piecewise(values, 40), values)

    def test_false_alarms_and_power(self):
        """45 nights of one level at 1 % noise; 30 and 10 more that are 5 % worse."""
        chance = random.Random(11)
        quiet = [("noisy", [100 * (1 + chance.gauss(0, 0.01)) for _ in range(45)]) for _ in range(200)]
        self.assertLessEqual(sum(bool(f["changes"]) for f in found_in(quiet)), 2)
        step = [("noisy", [(100 if i < 30 else 105) * (1 + chance.gauss(0, 0.01)) for i in range(40)]) for _ in range(100)]
        found = found_in(step)
        self.assertGreaterEqual(sum(bool(f["changes"]) for f in found), 95)
        near = [f["changes"][0][0] for f in found if f["changes"]]
        self.assertGreaterEqual(sum(abs(at - 30) <= 1 for at in near), 0.95 * len(near))


class Store(unittest.TestCase):
    """One store of 30 nights for all; tests that change it copy it."""

    @classmethod
    def setUpClass(cls):
        cls.nights = fresh_dir("nights") / "n"
        done = run("series", cls.nights, "--nights", 30, "--noise", 0.5, "--step", "20:6", "--spike", "11:60", "--failed", 7,
                   "--environment", 28, "--seed", 3, program=GENERATOR)
        assert done.returncode == 0, done.stderr
        cls.truth = json.loads((cls.nights / "truth.json").read_text(encoding="ascii"))["nights"]
        cls.batch = fresh_dir() / "b"
        assert run("batch", cls.nights, "--out", cls.batch, "-q").returncode == 4
        cls.store = fresh_dir() / "s"
        for number in range(30):
            cls.add(cls.store, number)

    @classmethod
    def add(cls, store, number, *options):
        name = f"night-{number:04}"
        source = cls.batch / "items" / name
        done = run("store", "add", source if source.exists() else cls.nights / f"{name}.sqlite", "--store", store, "--series",
                   "demo", "--label", f"night={number}", "--keep", "all", *options)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()[0]

    def copy(self):
        to = fresh_dir() / "s"
        shutil.copytree(self.store, to)
        return to

    def trend(self, store, *options, expect=0):
        out = fresh_dir() / "t"
        done = run("trend", "--store", store, "--out", out, *options)
        self.assertEqual(done.returncode, expect, done.stderr)
        return json.loads((out / "trend.json").read_text(encoding="utf-8")), out

    def index(self, store):
        done = run("store", "index", "--store", store)
        self.assertEqual(done.returncode, 0, done.stderr)

    def rows(self, store):
        self.index(store)
        with sqlite3.connect(f"file:{store}/index.sqlite?mode=ro", uri=True) as db:
            db.row_factory = sqlite3.Row
            return [dict(r) for r in db.execute("select * from runs order by series, utc_ns, run_id")]

    def derived(self, store):
        self.index(store)
        return {name: (pathlib.Path(store) / name).read_bytes() for name in DERIVED}

    # --- the store ------------------------------------------------------------------------------

    def test_every_night_is_kept(self):
        rows = self.rows(self.store)
        self.assertEqual(len(rows), 30)
        refused, = (r for r in rows if r["status"] == "failed")
        self.assertIn("truncated", refused["error"])
        good = [r for r in rows if r["status"] == "ok"]
        self.assertEqual(len({r["series"] for r in good}), 2)  # 28 nights on one GPU, 2 on another
        nights = {json.loads(r["labels_json"])["night"]: r for r in good}
        for night in self.truth:
            if not night["failed"]:
                self.assertEqual(nights[str(night["night"])]["utc_ns"] // 10**9, night["utc_ns"] // 10**9)

    def test_a_refused_night_counts_in_its_series(self):
        """What it ran on is unknown: it is a failed night of the environment whose run came last before it, wherever it is read."""
        store = self.copy()
        before = {s["series"]: s for s in self.trend(store)[0]["series"]}
        old, new = sorted(before, key=lambda name: before[name]["runs"], reverse=True)
        self.assertEqual((before[old]["failed"], before[new]["failed"]), (0, 1))  # of unknown time: after all others
        rows = self.rows(store)
        times = [r["utc_ns"] // 10**9 for r in rows if r["series"] == old and r["utc_ns"]]
        utc = datetime.datetime.fromtimestamp(times[3] + 1, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        done = run("store", "add", "--failed", "out of memory", "--time", utc, "--store", store, "--series", "demo")
        self.assertEqual(done.returncode, 0, done.stderr)
        failed = {s["series"]: s["failed"] for s in self.trend(store)[0]["series"]}
        self.assertEqual(failed, {old: 1, new: 1})
        for name in (old, new):  # and where one series is read
            alone, = self.trend(store, "--series", name)[0]["series"]
            self.assertEqual((alone["failed"], alone["runs"]), (1, before[name]["runs"] + (name == old)))
        listed = run("store", "list", "--store", store, "--series", old).stdout
        self.assertEqual(listed.count(" failed "), 1, listed)
        self.assertIn("out of memory", listed)
        self.index(store)
        out = fresh_dir() / "fleet"
        self.assertEqual(run("trend", "--store", store, "--all", "--out", out).returncode, 0)
        with open(out / "fleet.csv", newline="", encoding="utf-8") as file:
            fleet = {row["series"]: row["failed_count"] for row in csv.DictReader(file)}
        self.assertEqual(fleet, {old: "1", new: "1"})

    def test_values_are_those_of_the_plan(self):
        self.index(self.store)
        with sqlite3.connect(f"file:{self.store}/index.sqlite?mode=ro", uri=True) as db:
            total = dict(db.execute("select r.labels_json, sum(k.total_time_ns) from runs r join kernels k using(run_id) "
                                    "where k.capture=0 group by r.run_id"))
        total = {json.loads(labels)["night"]: ns for labels, ns in total.items()}
        for night in self.truth:
            if not night["failed"]:
                self.assertEqual(total[str(night["night"])], night["kernel_ns"])

    def test_order_of_arrival_and_from_scratch(self):
        """Nights in any order, with gaps filled later, the same ones twice: the same store, the same index."""
        order = list(range(0, 30, 3)) + [5, 1] + [n for n in random.Random(1).sample(range(30), 30)]
        other = fresh_dir() / "s"
        for number in order:
            self.add(other, number)
        for store in (self.store, other):
            self.index(store)
        self.assertEqual({p.relative_to(other) for p in other.rglob("*") if p.name != "trace-stamp"},
                         {p.relative_to(self.store) for p in self.store.rglob("*")})
        self.assertEqual(self.derived(other), self.derived(self.store))
        for name in DERIVED:
            (other / name).unlink()
        self.assertEqual(run("store", "index", "--store", other).returncode, 0)
        self.assertEqual(self.derived(other), self.derived(self.store))
        for damage in (lambda path: path.unlink(), lambda path: path.write_bytes(b"damaged"),
                       lambda path: path.write_bytes(path.read_bytes()[:-1])):
            for path in other.glob("runs/*/*/*/summary.bin"):
                damage(path)
            trend, _ = self.trend(other)
            self.assertEqual(trend, self.trend(self.store)[0])
            self.assertEqual(self.derived(other), self.derived(self.store))
            for path in other.glob("runs/*/*/*/summary.bin"):  # which the index has mended
                self.assertEqual(path.read_bytes(), (self.store / path.relative_to(other)).read_bytes())

    def test_json_says_what_the_files_say(self):
        out = fresh_dir() / "trend"
        done = run("trend", "--store", self.store, "--out", out, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        printed, written = json.loads(done.stdout), json.loads((out / "trend.json").read_text())
        self.assertEqual(done.stdout.count("\n"), 1)
        states = {(s["series"], m["metric"]): m["state"] for s in written["series"] for m in s["metrics"]}
        self.assertTrue(states)
        self.assertEqual({(s["series"], m["metric"]): m["state"] for s in printed["series"] for m in s["metrics"]}, states)
        self.assertEqual(run("trend", "--store", self.store, "--out", out, "--all", "--json").returncode, 2)
        listed = json.loads(run("store", "list", "--store", self.store, "--json").stdout)
        ids = [line.split()[1] for line in run("store", "list", "--store", self.store).stdout.splitlines() if not line.startswith("baseline ")]
        self.assertEqual([r["id"] for r in listed["runs"]], ids)
        self.assertEqual(run("store", "index", "--store", self.store, "--json").returncode, 2)

    def test_ids(self):
        store = fresh_dir() / "s"
        first = self.add(store, 0)
        self.assertRegex(first, r"^20260101T000000Z-[0-9a-f]{8}$")
        self.assertIn("is there already", run("store", "add", self.batch / "items/night-0000", "--store", store, "--series",
                                              "demo").stdout)
        done = run("store", "add", self.batch / "items/night-0001", "--store", store, "--id", first)
        self.assertEqual((done.returncode, "another run" in done.stderr), (2, True))
        for bad in ("../x", "", "-x", "a b", "x" * 200):
            self.assertEqual(run("store", "add", self.batch / "items/night-0001", "--store", store, f"--id={bad}").returncode, 2)
            self.assertEqual(run("store", "add", self.batch / "items/night-0001", "--store", store, f"--series={bad}").returncode, 2)

    def test_a_night_that_never_was(self):
        store = fresh_dir() / "s"
        done = run("store", "add", "--store", store, "--failed", "no node\nwas free", "--time", "2026-02-03T04:05:06Z")
        self.assertEqual(done.returncode, 0, done.stderr)
        row, = self.rows(store)
        self.assertEqual((row["status"], row["error"], row["utc_ns"]), ("failed", "no node was free", 1770091506 * 10**9))

    def test_failed_nights_are_told_apart(self):
        """Two nights may fail with one name and one message; a night of which nothing is known but why has no id."""
        work = fresh_dir()
        store, bad = work / "s", work / "bad.sqlite"
        ids = []
        for number in (0, 1, 1):
            bad.write_bytes((self.nights / f"night-{number:04}.sqlite").read_bytes()[:20000])
            ids.append(run("store", "add", bad, "--store", store).stdout.split()[0])
        self.assertEqual((len(self.rows(store)), ids[1]), (2, ids[2]))
        other = work / "other.sqlite"
        other.write_bytes(bad.read_bytes()[:10000])
        both = [run("store", "add", *pair, "--store", work / "both").stdout.split()[0] for pair in ((bad, other), (other, bad))]
        self.assertEqual((both[0], len(self.rows(work / "both"))), (both[1], 1))
        good = self.batch / "items/night-0002"
        self.assertEqual(run("store", "add", good, bad, "--store", store, "--id", "mixed").returncode, 0)
        row, = [r for r in self.rows(store) if r["run_id"] == "mixed"]
        self.assertEqual((row["status"], "truncated" in row["error"], "H100" in row["environment"]), ("failed", True, True))
        self.assertEqual(run("store", "baseline", "set", "b", "mixed", "--store", store).returncode, 2)
        self.assertEqual(run("check", good, "--baseline", "last-good", "--store", store, "--out", work / "c").returncode, 2)
        for words in (("--failed", "no node"), (work / "nowhere.sqlite",), (good, good)):
            self.assertIn(run("store", "add", *words, "--store", store).returncode, (2, 3), words)
        self.assertEqual(run("store", "add", "--failed", "no node", "--id", "n", "--store", store).returncode, 0)
        self.assertEqual(run("store", "add", "--failed", "no disk", "--id", "n", "--store", store).returncode, 2)
        self.assertEqual(len(self.rows(store)), 4)

    def test_a_trace(self):
        """What is stored of a trace is what is stored of its run; nothing else stays."""
        work = fresh_dir()
        (work / "tmp").mkdir()
        source = self.nights / "night-0003.sqlite"
        for name, what in (("of_trace", source), ("of_run", self.batch / "items/night-0003")):
            done = run("store", "add", what, "--store", work / name, env={"TMPDIR": str(work / "tmp")})
            self.assertEqual(done.returncode, 0, done.stderr)
        files = [{str(p.relative_to(work / name)) for p in (work / name).rglob("*")} for name in ("of_trace", "of_run")]
        self.assertEqual(files[0], files[1])
        self.assertEqual(self.rows(work / "of_trace"), self.rows(work / "of_run"))
        self.assertEqual(list((work / "tmp").iterdir()), [])
        capture, = (work / "of_trace").glob("runs/*/*/*/captures/0")
        self.assertEqual(run("summary", capture).returncode, 0)

    def test_what_is_said_later(self):
        """A night may be judged after it was stored; another series or environment is not taken silently."""
        store, item = fresh_dir() / "s", self.batch / "items/night-0000"
        first = self.add(store, 0)
        self.assertIn("labels or verdict updated", run("store", "add", item, "--store", store, "--verdict", "fail").stdout)
        row, = self.rows(store)
        self.assertEqual((row["run_id"], row["verdict"], row["series"][:5], json.loads(row["labels_json"])),
                         (first, "fail", "demo/", {"night": "0"}))
        self.assertEqual(run("store", "add", item, "--store", store, "--label", "commit=1").returncode, 0)
        row, = self.rows(store)
        self.assertEqual((row["verdict"], json.loads(row["labels_json"])), ("fail", {"commit": "1"}))
        for words in (("--series", "other"), ("--series", "demo", "--environment", "cuda=13"), ("--label", "a=1", "--label", "a=2"),
                      ("--time", "2262-05-01T00:00:00Z"), ("--time", "1600-01-01T00:00:00Z"), ("--time", "2026-02-30T00:00:00Z"), ("--time", "2026-02-03T00:00:60Z")):
            self.assertEqual(run("store", "add", item, "--store", store, *words).returncode, 2, words)
        self.assertEqual(self.rows(store), [row])

    def test_list_names_traces(self):
        """A row leads to its capture: from the record, also where the captures are gone, and of a record of an earlier version from the capture."""
        store = self.copy()

        def listed():
            done = run("store", "list", "--store", store)
            self.assertEqual(done.returncode, 0, done.stderr)
            data = json.loads(run("store", "list", "--store", store, "--json").stdout)
            return {line.split()[1]: line for line in done.stdout.splitlines()}, {row["id"]: row["traces"] for row in data["runs"]}
        lines, traces = listed()
        records = {}
        for path in store.glob("runs/*/*/*/run.json"):
            record = json.loads(path.read_text(encoding="utf-8"))
            records[record["id"]] = path, record
            if record["captures"]:
                name = f"night-{int(json.loads(record['labels'])['night']):04}.sqlite"
                self.assertEqual((record["traces"], traces[record["id"]]), ([name], [name]))
                self.assertRegex(lines[record["id"]], f" ok +{name}$")
            else:
                self.assertEqual((record.get("traces"), traces[record["id"]]), (None, []))
        oldest = min(run_id for run_id, (_, record) in records.items() if record["captures"])
        path, record = records[oldest]
        del record["traces"]
        path.write_text(json.dumps(record | {"format_minor": 0}), encoding="utf-8")
        self.assertEqual(listed(), (lines, traces))
        done = run("store", "prune", "--store", store, "--keep", "1d", "--weekly", "2d", "--monthly", "3d")
        self.assertEqual(done.returncode, 0, done.stderr)
        thinned = [line for line in listed()[0].values() if " thinned " in line]
        self.assertTrue(thinned)
        self.assertEqual([line for line in thinned if not line.endswith(".sqlite") and oldest not in line], [])

    def test_remove(self):
        """What nobody refers to goes; anything else, and all with it, stays."""
        store, ids = self.copy(), self.ids(self.store)
        before = self.rows(store)
        self.assertEqual(run("store", "baseline", "set", "b", ids[3], "--store", store).returncode, 0)
        self.assertEqual(run("store", "annotate", ids[4], "--kind", "expected-change", "--text", "x", "--store", store).returncode, 0)
        mine, = store.glob(f"runs/*/*/{ids[5]}/captures/0")
        (mine / "notes.txt").write_text("mine")
        for named in (ids[3], ids[4], ids[5], "nothing"):
            done = run("store", "remove", ids[0], named, "--store", store)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(len(self.rows(store)), len(before))
        self.assertEqual(run("store", "remove", "--store", store).returncode, 2)
        self.assertEqual(run("store", "remove", ids[0], ids[1], "--store", store).returncode, 0)
        self.assertEqual({r["run_id"] for r in before} - {r["run_id"] for r in self.rows(store)}, {ids[0], ids[1]})
        self.assertEqual([p for p in store.rglob("*") if ids[0] in p.name or "nsys-ai-tmp" in p.name], [])
        for name in DERIVED:
            (store / name).unlink()
        self.assertEqual(run("store", "index", "--store", store).returncode, 0)

    @support.tier("ci")
    def test_killed_while_adding(self):
        """What is half written is hidden, is nobody's run, and goes with the next change; not while its process lives."""
        store = self.copy()
        before = self.rows(store)
        run_, = store.glob(f"runs/demo/*/{self.add(store, 3)}")
        series = run_.parent
        suffix = "0123456789abcdef.nsys-ai-tmp"
        left = [series / f".x.{suffix}/.nsys-ai-temporary", series / f".x.{suffix}/captures/0/report.md",
                store / f".index.sqlite.{suffix}", run_ / f".run.json.{suffix}"]
        mine = series / ".mine/notes.txt"  # hidden, but no work of this program
        for path in (*left, mine):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"half")
        for action in (("list",), ("prune", "--dry-run")):
            self.assertEqual(run("store", *action, "--store", store).returncode, 0)
        self.assertTrue(all(path.exists() for path in left))
        with contextlib.ExitStack() as living:
            for path in (left[0], *left[2:]):
                fcntl.flock(living.enter_context(path.open()), fcntl.LOCK_EX)
            self.assertEqual(run("store", "index", "--store", store).returncode, 0)
            self.assertTrue(all(path.exists() for path in left))
        self.add(store, 3)
        self.assertEqual([path.name for path in (*left, left[1].parents[2], mine) if path.exists()], ["notes.txt"])
        self.assertEqual(self.rows(store), before)
        self.assertEqual(run("store", "remove", run_.name, "--store", store).returncode, 0)

    def test_several_captures_are_one_run(self):
        store = fresh_dir() / "s"
        items = [self.batch / "items" / f"night-{n:04}" for n in range(3)]
        done = run("store", "add", *items, "--store", store)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.index(store)
        with sqlite3.connect(f"file:{store}/index.sqlite?mode=ro", uri=True) as db:
            self.assertEqual(db.execute("select distinct capture from metrics order by 1").fetchall(), [(0,), (1,), (2,)])
            values = [v for v, in db.execute("select value from metrics where metric='gpu.compute.per_step'")]
        trend, _ = self.trend(store)
        metric, = [m for m in trend["series"][0]["metrics"] if m["metric"] == "gpu.compute.per_step"]
        self.assertAlmostEqual(metric["values"][0]["value"], sorted(values)[1], delta=1)
        other = run("store", "add", items[0], self.batch / "items/night-0029", "--store", store, "--id", "x")
        self.assertEqual((other.returncode, "differ in what they ran on" in other.stderr), (2, True))

    def test_the_worst_finding_has_a_saving(self):
        """Of two that are as severe, the one whose share of time is known, whichever capture it is of."""
        work, rule = fresh_dir(), "title: t, severity: {high: device_id >= 0}, why: w, recommendation: r, verify: v"
        rules = {"bare": f"rules:\n  - {{id: bare, table: gpu_utilization, {rule}}}\n",
                 "priced": f"rules:\n  - {{id: priced, table: gpu_utilization, saving: compute_ns, {rule}}}\n"}
        for name, text in rules.items():
            (work / f"{name}.yaml").write_text(text, encoding="ascii")
            for seed in (1, 2):
                done = run("analyze", trace("loop", "--seed", seed), "--rules", work / f"{name}.yaml", "--out", work / f"{name}{seed}", "-q")
                self.assertEqual(done.returncode, 0, done.stderr)
        for number, pair in enumerate((("bare1", "priced2"), ("priced1", "bare2"))):
            done = run("store", "add", *(work / name for name in pair), "--store", work / f"s{number}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.index(work / f"s{number}")
            with sqlite3.connect(work / f"s{number}/index.sqlite") as db:
                self.assertEqual(db.execute("select severity, worst_rule from runs").fetchall(), [("high", "priced")])

    def test_captures_of_one_session(self):
        """Taken one after the other, they began when their own recording did: for a store as for a comparison."""
        work, begun = fresh_dir(), []
        for number, later in enumerate((7, 0, 3)):
            copy = work / f"{number}.sqlite"
            shutil.copy(self.nights / f"night-{number:04}.sqlite", copy)
            with sqlite3.connect(copy) as db:
                db.execute("update TARGET_INFO_SESSION_START_TIME set utcEpochNs = 1767225600000000000, systemClockNs = 5000000000")
                clock = 5 * 10**9
                db.execute("update ANALYSIS_DETAILS set startTime = ?, stopTime = ?", (clock + later * 10**9, clock + (later + 1) * 10**9))
            begun.append(1767225600 * 10**9 + later * 10**9)
            self.assertEqual(run("analyze", copy, "--out", work / str(number), "-q").returncode, 0)
            self.assertEqual(run("store", "add", work / str(number), "--store", work / "s", "--label", f"n={number}").returncode, 0)
        self.assertEqual({json.loads(r["labels_json"])["n"]: r["utc_ns"] for r in self.rows(work / "s")},
                         {str(n): utc for n, utc in enumerate(begun)})
        done = run("compare", "--base", work / "0", work / "1", work / "2", "--new", self.batch / "items/night-0005", "--out", work / "c")
        self.assertEqual(done.returncode, 0, done.stderr)
        captures = json.loads((work / "c/compare.json").read_text(encoding="utf-8"))["base"]["captures"]
        self.assertEqual([(c["id"], c["utc_ns"]) for c in captures], [(str(n), begun[n]) for n in (1, 2, 0)])

    def test_the_order_of_captures_makes_no_other_night(self):
        store = fresh_dir() / "s"
        items = [self.batch / "items" / f"night-{n:04}" for n in range(3)]
        first = run("store", "add", *items, "--store", store).stdout.split()[0]
        before = self.derived(store)
        done = run("store", "add", *reversed(items), "--store", store)
        self.assertIn("is there already", done.stdout, done.stderr)
        self.assertEqual((done.stdout.split()[0], self.derived(store)), (first, before))
        other = fresh_dir() / "s"
        self.assertEqual(run("store", "add", *reversed(items), "--store", other).stdout.split()[0], first)
        self.assertEqual(self.derived(other), before)
        # As an earlier version stored it: the id was of another order, and so were the captures.
        directory, = store.glob("runs/default/*/2*")
        record = json.loads((directory / "run.json").read_bytes())
        (directory / "run.json").write_text(json.dumps({**record, "id": "20260101T000000Z-00000000"}))
        directory = directory.rename(directory.parent / "20260101T000000Z-00000000")
        for a, b in (("0", "x"), ("2", "0"), ("x", "2")):
            (directory / "captures" / a).rename(directory / "captures" / b)
        done = run("store", "add", *items, "--store", store)
        self.assertRegex(done.stdout, r"^20260101T000000Z-00000000 is there already", done.stderr)
        self.assertEqual(len(self.rows(store)), 1)

    def test_commit_of_the_environment(self):
        """Of a new run that no label names a commit of; of one that is there only what is said counts."""
        store, items = fresh_dir() / "s", [self.batch / f"items/night-{n:04}" for n in range(4)]
        first, other = "0123456789abcdef0123456789abcdef01234567", "fedcba9"

        def add(item, *words, **env):
            done = run("store", "add", item, "--store", store, *words, env=env)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

        def labels():
            return {row["run_id"]: json.loads(row["labels_json"] or "{}") for row in self.rows(store)}

        add(items[0], "--id", "a", GITHUB_SHA=first)
        add(items[1], "--id", "b", "--label", "commit=mine", GIT_COMMIT=first)
        add(items[2], "--id", "c", "--label", "k=v", CI_COMMIT_SHA=other)
        add(items[3], "--id", "d", GITHUB_SHA="refs/heads/main")
        self.assertEqual(labels(), {"a": {"commit": first}, "b": {"commit": "mine"}, "c": {"k": "v", "commit": other}, "d": {}})
        self.assertIn("is there already", add(items[0], "--id", "a", GITHUB_SHA=other))
        add(items[2], "--id", "c", "--label", "k=w", GITHUB_SHA=first)
        self.assertEqual((labels()["a"], labels()["c"]), ({"commit": first}, {"k": "w"}))

    def test_any_label_can_be_read_back(self):
        """Nothing that is said of a run makes the store unreadable; what would is refused."""
        store, item = fresh_dir() / "s", self.batch / "items/night-0000"
        odd = os.fsdecode(b"a\x7fb\xe2\x80\x8bc\xffd\xef\xbf\xbee")
        done = run("store", "add", item, "--store", store, "--label", f"k={odd}", "--environment", odd)
        self.assertEqual(done.returncode, 0, done.stderr)
        row, = self.rows(store)
        self.assertEqual(json.loads(row["labels_json"]), {"k": "a\\u{7f}b\\u{200b}c\ufffdd\\u{fffe}e"})
        for words in (item, "--label", "k=\u00adx"), (self.batch / "items/night-0001", "--label", "k=x"):
            self.assertEqual(run("store", "add", *words, "--store", store, "--environment", odd).returncode, 0)
        long = [word for n in range(12) for word in ("--label", f"k{n}=" + 100000 * "x")]
        for number in (0, 2):
            done = run("store", "add", self.batch / f"items/night-{number:04}", "--store", store, "--environment", odd, *long)
            self.assertEqual((done.returncode, "more than 1 MiB" in done.stderr), (2, True), done.stderr)
        self.assertEqual(run("store", "list", "--store", store).returncode, 0)
        self.assertEqual(len(self.rows(store)), 2)

    def test_metrics_without_values(self):
        """Infinite, gone from the index, or there more than once: no trend of them, and those of the others as before."""
        work = fresh_dir()
        store, metrics = work / "s", work / "m.yaml"
        huge = " * 1000000000000000000000000000000" * 10
        metrics.write_text("metrics:\n  - {id: my.inf, title: mine, better: lower, kind: noisy, gate: gate, "
                           f"total: {{table: kernels, value: sum(100000000{huge})}}}}\n", encoding="ascii")
        for number in range(2):
            out = work / str(number)
            done = run("analyze", self.nights / f"night-{number:04}.sqlite", "--metrics", metrics, "--out", out, "-q")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(run("store", "add", out, "--store", store).returncode, 0)
        self.index(store)
        with sqlite3.connect(store / "index.sqlite") as db:
            self.assertEqual(db.execute("select distinct value from metrics where metric='my.inf'").fetchall(), [(None,)])
        want, _ = self.trend(store)
        names = {m["metric"] for s in want["series"] for m in s["metrics"]}
        self.assertTrue("step.time.median" in names and "my.inf" not in names, names)

    def test_a_metric_called_like_a_member(self):
        """An id is one metric's; a run of an earlier version that has it twice does the index no harm."""
        work = fresh_dir()
        store, metrics = work / "s", work / "m.yaml"
        metrics.write_text("metrics:\n  - {id: kernel.category.gemm.per_step, title: mine, better: lower, kind: noisy, gate: none, "
                           "total: {table: kernels, value: sum(total_time_ns)}}\n", encoding="ascii")
        done = run("analyze", self.nights / "night-0000.sqlite", "--metrics", metrics, "--out", work / "r", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run("store", "add", work / "r", "--store", store)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.index(store)
        with sqlite3.connect(store / "index.sqlite") as db:
            titles = dict(db.execute("select metric, basis from metrics where metric like 'kernel.category.gemm%'"))
        self.assertEqual(titles, {"kernel.category.gemm.per_step": "total", "kernel.category.gemm~2.per_step": "step"})

    def test_a_run_that_is_there_and_cannot_be_read(self):
        """Whether it is the same nobody knows: it is not said to be another one, and not written over."""
        store = fresh_dir() / "s"
        first = self.add(store, 0)
        manifest, = store.glob("runs/*/*/*/captures/0/stages/manifest.json")
        manifest.unlink()
        manifest.write_bytes(b"{")
        before = {p: p.read_bytes() for p in store.rglob("*") if p.is_file()}
        done = run("store", "add", self.batch / "items/night-0000", "--store", store, "--verdict", "fail")
        self.assertEqual((done.returncode, first in done.stderr, "cannot be told" in done.stderr), (3, True, True), done.stderr)
        self.assertEqual({p: p.read_bytes() for p in store.rglob("*") if p.is_file()}, before)

    def test_options_of_other_actions(self):
        """An option that an action does not have is refused, not ignored."""
        store, one = self.store, self.ids(self.store)[0]
        own = {"add": ("series", "id", "label", "verdict", "environment", "failed", "time", "keep"), "list": ("series",), "get": ("out",),
               "annotate": ("kind", "text"), "baseline set": ("reason",), "prune": ("keep", "weekly", "monthly", "keep-days", "dry-run")}
        values = {"label": "a=1", "verdict": "pass", "time": "2026-01-01T00:00:00Z", "kind": "ignore", "keep": "9d", "weekly": "9w", "monthly": "all", "keep-days": "9", "dry-run": None}
        operands = {"add": [self.batch / "items/night-0000"], "get": [one], "annotate": [one], "remove": [one], "baseline set": ["b", one],
                    "baseline show": ["b"]}
        given = {"annotate": ("kind", "text"), "get": ("out",)}
        before = {p: p.read_bytes() for p in store.rglob("*") if p.is_file()}
        for action in (*own, "baseline list", "baseline show", "remove", "index"):
            for option in sorted({o for options in own.values() for o in options} - set(own.get(action, ()))):
                words = [*action.split(), *operands.get(action, ()), "--store", store]
                for name in (*given.get(action, ()), option):
                    value = values.get(name, "x")
                    words += [f"--{name}"] if value is None else [f"--{name}={value}"]
                done = run("store", *words)
                self.assertEqual((done.returncode, f"--{option} is no option of" in done.stderr), (2, True), words)
        self.assertEqual({p: p.read_bytes() for p in store.rglob("*") if p.is_file()}, before)

    def test_no_store(self):
        directory = fresh_dir()
        (directory / "file").write_text("x", encoding="ascii")
        for words in (("add", self.batch / "items/night-0000"), ("list",)):
            done = run("store", *words, "--store", directory)
            self.assertEqual((done.returncode, "is no store" in done.stderr), (2, True))

    # --- baselines ------------------------------------------------------------------------------

    def ids(self, store):
        return [r["run_id"] for r in self.rows(store) if r["status"] == "ok" and "H100" in r["environment"]]

    def check(self, store, selector, *options):
        out = fresh_dir() / "c"
        done = run("check", self.batch / "items/night-0019", "--baseline", selector, "--store", store, "--series", "demo",
                   "--out", out, *options)
        return done

    def test_an_undecided_night_is_no_baseline(self):
        store, ids = self.copy(), self.ids(self.store)
        newest = next(i for i in reversed(ids) if self.of(i)["environment"] == self.of(ids[2])["environment"])
        item = self.batch / "items" / f"night-{int(json.loads(self.of(newest)['labels_json'])['night']):04}"
        done = run("store", "add", item, "--store", store, "--series", "demo", "--verdict", "undecided")
        self.assertEqual(done.returncode, 0, done.stderr)
        out = fresh_dir() / "c"
        run("check", self.batch / "items/night-0002", "--baseline", "last-good", "--store", store, "--series", "demo", "--out", out)
        base, = json.loads((out / "compare.json").read_text(encoding="utf-8"))["base"]["captures"]
        self.assertNotEqual(base["id"], newest)
        trend, out = self.trend(store)
        self.assertEqual(sum(s["undecided"] for s in trend["series"]), 1)
        for name, words in (("trend.md", ", 1 undecided, "), ("trend.html", ", 1 undecided, "), ("trend.html", f"{newest}, gate: undecided")):
            self.assertIn(words, (out / name).read_text(encoding="utf-8"))
        self.assertRegex(run("store", "list", "--store", store).stdout, rf"(?m)^\S+ +{newest} +ok +undecided")
        self.assertRegex(self.page_row(store, newest), "<td>undecided</td>")

    def page_row(self, store, run_id):
        self.index(store)
        return next(row for row in (store / "index.html").read_text(encoding="utf-8").splitlines() if f'data-id="{run_id}"' in row)

    def of(self, run_id):
        return next(r for r in self.rows(self.store) if r["run_id"] == run_id)

    def test_runs_with_a_label(self):
        """As if the others were in another store."""
        store = self.copy()
        for number in (3, 4, 5):
            self.add(store, number, "--label", "branch=dev")
        trend, out = self.trend(store, "--label", "branch=dev", "--label", "night=4")
        self.assertEqual([s["runs"] for s in trend["series"]], [1])
        trend, out = self.trend(store, "--label", "branch=dev")
        self.assertEqual([(s["runs"], s["failed"]) for s in trend["series"]], [(3, 0)])
        self.assertEqual(run("trend", "--store", store, "--out", out, "--label", "branch=de").returncode, 2)
        done = run("trend", "--store", store, "--out", out, "--label", "branch")
        self.assertEqual((done.returncode, "expected KEY=VALUE" in done.stderr), (2, True))

    def test_selectors(self):
        store, ids = self.copy(), self.ids(self.store)
        series = self.rows(store)[0]["series"]
        set_it = run("store", "baseline", "set", "release", ids[2], ids[3], "--store", store, "--reason", "release 1.4")
        self.assertEqual(set_it.returncode, 0, set_it.stderr)
        self.assertEqual(run("store", "baseline", "list", "--store", store).stdout, "release\n")
        self.assertEqual(run("store", "baseline", "show", "release", "--store", store).stdout, f"{ids[2]}\n{ids[3]}\nrelease 1.4\n")
        self.assertIn("release", run("store", "list", "--store", store).stdout)
        for selector in ("release", f"run:{ids[4]}", self.batch / "items/night-0005"):
            done = self.check(store, selector)
            self.assertIn(done.returncode, (0, 1), done.stderr + done.stdout)
        for selector in ("nothing", "run:nothing", "median:0", "median:x"):
            done = self.check(store, selector)
            self.assertEqual(done.returncode, 2, done.stderr)
        # A run is never its own baseline, and of two series it has the one that ran on the same.
        of_night = {int(json.loads(r["labels_json"])["night"]): r["run_id"] for r in self.rows(store)}
        for night, history in ((19, (25, 26, 27)), (27, (24, 25, 26)), (29, (28,))):
            out = fresh_dir() / "c"
            done = run("check", self.batch / f"items/night-{night:04}", "--baseline", "median:3", "--store", store, "--series",
                       "demo", "--out", out)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            captures = json.loads((out / "compare.json").read_text(encoding="utf-8"))["base"]["captures"]
            self.assertEqual([c["id"] for c in captures], [of_night[n] for n in history])
        unlike = run("check", trace("training"), "--baseline", "last-good", "--store", store, "--series", "demo", "--out", fresh_dir() / "c")
        self.assertEqual((unlike.returncode, "several series" in unlike.stderr), (2, True), unlike.stderr)
        done = run("check", self.batch / "items/night-0019", "--baseline", "median:7", "--store", store, "--series", series,
                   "--out", fresh_dir() / "c")
        self.assertIn(done.returncode, (0, 1, 7), done.stderr)
        for words in (("set", "last-good", ids[0]), ("set", "x", "nothing"), ("set", "../x", ids[0]), ("show", "nothing")):
            self.assertEqual(run("store", "baseline", *words, "--store", store).returncode, 2, words)

    def test_a_run_of_unknown_time_is_not_the_newest(self):
        store = fresh_dir() / "s"
        undated = fresh_dir() / "u.sqlite"
        shutil.copy(self.nights / "night-0000.sqlite", undated)
        with sqlite3.connect(undated) as db:
            db.execute("update TARGET_INFO_SESSION_START_TIME set utcEpochNs = 0")
        report = fresh_dir() / "u"
        self.assertEqual(run("analyze", undated, "--out", report, "-q").returncode, 0)
        unknown = run("store", "add", report, "--store", store, "--series", "demo").stdout.split()[0]
        self.assertRegex(unknown, r"^[0-9a-f]{8}$")

        def base(selector):
            out = fresh_dir() / "c"
            done = run("check", self.batch / "items/night-0019", "--baseline", selector, "--store", store, "--out", out)
            self.assertIn(done.returncode, (0, 1, 7), done.stderr)
            return [c["id"] for c in json.loads((out / "compare.json").read_text(encoding="utf-8"))["base"]["captures"]]
        self.assertEqual(base("last-good"), [unknown])  # there is no other
        dated = [self.add(store, number) for number in (1, 2)]
        self.assertEqual((base("last-good"), base("median:3")), (dated[1:], dated))

    def test_the_history_begins_with_an_expected_change(self):
        """For check as for trend, even where the run that says so is no good one."""
        store, ids = self.copy(), self.ids(self.store)
        for kind in ("expected-change", "ignore"):
            done = run("store", "annotate", ids[20], "--kind", kind, "--text", "new data", "--store", store)
            self.assertEqual(done.returncode, 0, done.stderr)
        out = fresh_dir() / "c"
        done = run("check", self.batch / "items/night-0027", "--baseline", "median:20", "--store", store, "--out", out)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        captures = json.loads((out / "compare.json").read_text(encoding="utf-8"))["base"]["captures"]
        self.assertEqual([c["id"] for c in captures], ids[21:26])
        trend, _ = self.trend(store, "--metric", "step.time.median")
        self.assertEqual({s["runs"]: m["state"] for s in trend["series"] for m in s["metrics"] if s["runs"] > 5}, {27: "too short"})

    def test_pruned_runs_are_compared_as_before(self):
        pruned, found = self.copy(), []
        self.assertEqual(run("store", "prune", "--store", pruned, "--keep-days", 1).returncode, 0)
        captures = [c.relative_to(pruned) for c in sorted(pruned.glob("runs/demo/*/2*/captures/0"))
                    if not (c / "report.md").exists()]
        for store in (self.store, pruned):
            out = fresh_dir() / "c"
            done = run("compare", "--base", *(store / c for c in captures[:4]), "--new", *(store / c for c in captures[4:8]), "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            found.append({p.relative_to(out): p.read_bytes() for p in out.rglob("*") if p.suffix in (".csv", ".json", ".md")})
        self.assertGreater(len(captures), 8)
        self.assertEqual(found[0], found[1])

    def test_nights_with_several_captures(self):
        """The other recipe of docs/nightly.md, from the first night on, which has no history."""
        text = (SOURCE / "docs/nightly.md").read_text(encoding="utf-8")
        recipe = next(block for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) if "--verdict" in block)
        work = fresh_dir() / "w"
        (work / "bin").mkdir(parents=True)
        (work / "bin/nsys-ai").symlink_to(support.PROGRAM)
        for night in (0, 12, 22):
            shutil.rmtree(work / "captures", ignore_errors=True)
            (work / "captures").mkdir()
            for capture in range(night, night + 4):
                shutil.copy(self.nights / f"night-{capture:04}.sqlite", work / "captures")
            done = subprocess.run(["sh", "-e", "-c", recipe], cwd=work, capture_output=True, encoding="utf-8", check=False,
                                  timeout=support.TIMEOUT_S,
                                  env={**os.environ, "PATH": f"{work / 'bin'}:{os.environ['PATH']}"})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            shutil.rmtree(work / "artifacts")
        self.assertEqual([r["verdict"] for r in self.rows(work / "store")], ["pass", "pass", "fail"])

    # --- trend ----------------------------------------------------------------------------------

    def test_the_step_is_found_between_its_nights(self):
        trend, out = self.trend(self.store)
        labels = {r["run_id"]: json.loads(r["labels_json"])["night"] for r in self.rows(self.store) if r["labels_json"]}
        series, = [s for s in trend["series"] if s["runs"] == 27]
        for name in ("gpu.compute.per_step", "step.time.median"):
            metric, = [m for m in series["metrics"] if m["metric"] == name]
            change, = metric["changes"]
            self.assertEqual((labels[change["good_run"]], labels[change["bad_run"]]), ("19", "20"))
            self.assertTrue(change["worse"])
            self.assertAlmostEqual(change["pct"], 5.2, delta=1)  # 6 % of 87 % of the time
            self.assertEqual([labels[v["run"]] for v in metric["values"] if v.get("spike")], ["11"])
            self.assertIn("nvjet", change["kernels"][0]["name"])
        self.assertIn("step.time.median", [m for x in series["metrics"] if x["metric"] == "gpu.compute.per_step"
                                           for c in x["changes"] for m in c["moved_with"]])
        page = (out / "trend.html").read_text(encoding="utf-8")
        self.assertEqual(page.count("<script"), 1)  # what stands above each page
        self.assertIn(f"/{series['metrics'][0]['values'][0]['run'][:8]}", page + "/20260101")
        with sqlite3.connect(f"file:{self.store}/index.sqlite?mode=ro", uri=True) as db:
            self.assertEqual(len(db.execute("select * from changes where metric='step.time.median'").fetchall()), 1)

    def test_kernels_of_captures_of_other_lengths(self):
        """What is named with a change is what takes longer in a step, not what a longer capture has more of. What got faster comes last, and is called so, however much it did."""
        work = fresh_dir()
        means = []
        for half, scenario in enumerate(("loop", "loop-slower")):
            for number in range(6):
                source = trace(scenario, "--seed", 40 + number)
                with sqlite3.connect(f"file:{source}?mode=ro", uri=True) as db:
                    first, last = db.execute("select min(start), max(end) from CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
                    if number == 0:
                        means.append(dict(db.execute("select value, avg(end - start) from CUPTI_ACTIVITY_KIND_KERNEL "
                                                     "join StringIds on id = demangledName group by 1")))
                if half:
                    slower = {name for name in means[0] if means[1][name] > 1.04 * means[0][name]}
                    copy = work / f"{number}.sqlite"
                    shutil.copy(source, copy)
                    with sqlite3.connect(copy) as db:
                        faster, = db.execute("select value from CUPTI_ACTIVITY_KIND_KERNEL join StringIds on id = demangledName where value not in "
                                             f"({','.join('?' * len(slower))}) group by 1 order by sum(end - start) desc limit 1", [*slower]).fetchone()
                        db.execute("update CUPTI_ACTIVITY_KIND_KERNEL set end = start + (end - start) / 5 where demangledName in (select id from StringIds where value = ?)", [faster])
                    source = copy
                some = () if half else ("--trim", first / 1e9 - 1, (first + 0.6 * (last - first)) / 1e9)
                self.assertEqual(run("analyze", source, "-q", "--out", work / f"{half}{number}", *some).returncode, 0)
                done = run("store", "add", work / f"{half}{number}", "--store", work / "s", "--time", f"2026-01-{1 + 6 * half + number:02}T00:00:00Z")
                self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(0 < len(slower) < 5)
        trend, out = self.trend(work / "s", "--metric", "step.time.median")
        change, = trend["series"][0]["metrics"][0]["changes"]
        self.assertTrue(change["worse"])
        *kernels, last = change["kernels"]
        self.assertEqual({k["name"] for k in kernels}, slower)
        self.assertEqual(last["name"], faster)
        self.assertGreater(last["before_ns"] - last["after_ns"], max(k["after_ns"] - k["before_ns"] for k in kernels))
        self.assertIn("got faster: ", (out / "trend.html").read_text(encoding="utf-8"))
        for kernel in kernels:
            self.assertAlmostEqual(kernel["after_ns"] / kernel["before_ns"], means[1][kernel["name"]] / means[0][kernel["name"]],
                                   delta=0.03)
        self.assertIn(change["kernels"][0]["name"], (out / "trend.md").read_text(encoding="utf-8").replace("\\", ""))

    def test_what_got_worse_comes_first(self):
        trend, out = self.trend(self.store)
        worse = [m["metric"] for s in trend["series"] for m in s["metrics"] if m["state"] in ("warn", "fail", "creep")
                 or m["changes"] and m["changes"][-1]["worse"] and m["better"] != "either"]
        self.assertIn("step.time.median", worse)
        for name, pattern in ("trend.html", r'<li>.*?<a href="#(f\d+-\d+)">([^<]+)</a>'), ("trend.md", r"^- ()\S+: (\S+) of .*, baseline|^- worse: ()(\S+) of "):
            text = (out / name).read_text(encoding="utf-8")
            first = text[:text.index("<figure" if name == "trend.html" else "\n## ")]
            found = [[g for g in m if g] for m in re.findall(pattern, first, re.M)]
            self.assertEqual(sorted(m[-1].replace("\\", "") for m in found), sorted(worse), name)
            for place in (m[0] for m in found if len(m) == 2):
                self.assertIn(f'<figure id="{place}">', text)

    def test_json_against_its_schema(self):
        trend, _ = self.trend(self.store)
        published.check(self, "trend", trend)

    def test_the_newest_runs(self):
        """One night beyond its history warns, two in a row fail; a history that is too short says so."""
        store, states = fresh_dir() / "s", []
        for number in range(23):
            self.add(store, number)
            if number in (5, 19, 20, 21):
                trend, out = self.trend(store, "--gate", expect=1 if number >= 21 else 0)
                metric, = [m for s in trend["series"] for m in s["metrics"] if m["metric"] == "step.time.median"]
                states.append(metric["state"])
                text = (out / "trend.md").read_text()
                self.assertEqual("Not judged: " in text, number == 5, text)
                self.assertEqual("Nothing got worse." in text, number == 19, text)
        self.assertEqual(states, ["too short", "steady", "warn", "fail"])
        self.shows_the_newest_runs(store)
        # A budget of 1 % of the step holds where there is nothing to take 10 % of.
        step, copies = ([m for m in trend["series"][0]["metrics"] if m["metric"] == name][0]
                        for name in ("step.time.median", "gpu.exposed_copy.per_step"))
        self.assertEqual(copies["usual"], 0)
        self.assertAlmostEqual(copies["limit"], step["newest"] / 100, delta=1)

    def test_a_newest_run_that_measured_nothing(self):
        """Nothing is known of it: the gate is neither passed nor failed, and the reports say so first."""
        store = fresh_dir() / "s"
        for number in range(10):
            self.add(store, number)
        self.trend(store, "--gate", expect=0)
        self.assertEqual(run("store", "add", "--store", store, "--series", "demo", "--failed", "out of memory", "--time", "2036-02-03T04:05:06Z").returncode, 0)
        trend, out = self.trend(store, "--gate", expect=7)
        self.assertFalse(trend["failed"])
        for name in ("trend.md", "trend.html"):
            self.assertRegex((out / name).read_text(encoding="utf-8"), "The newest run of demo[^\n]* measured nothing: [^\n]*out of memory", name)
        self.assertIn("Nothing got worse before.", (out / "trend.md").read_text(encoding="utf-8"))
        self.fleet(store, "--gate", expect=7)

    def test_a_metric_that_is_gone(self):
        """The newest value is the newest run's: what an older one had is not."""
        store = fresh_dir() / "s"
        for number, name in enumerate(("launch-storm", "launch-storm", "long-calls")):
            done = run("store", "add", trace(name), "--store", store, "--series", "demo", "--environment", "one", "--time", f"2026-02-0{number + 1}T04:05:06Z")
            self.assertEqual(done.returncode, 0, done.stderr)
        metrics = self.trend(store, "--metric", "kernel.top.*")[0]["series"][0]["metrics"]
        self.assertEqual({"gone", "too short"}, {metric["state"] for metric in metrics})
        for metric in metrics:
            self.assertEqual(metric["newest"] is None, metric["state"] == "gone", metric["metric"])
            self.assertEqual(len(metric["values"]), 2 if metric["state"] == "gone" else 1)

    def shows_the_newest_runs(self, store):
        """Since which night it is worse, by which kernel, on which day, and the command that compares the two nights."""
        trend, out = self.trend(store)
        metric, = [m for s in trend["series"] for m in s["metrics"] if m["metric"] == "step.time.median"]
        ids = [value["run"] for value in metric["values"]]
        fast = max(i for i, value in enumerate(metric["values"]) if value["value"] - metric["usual"] <= metric["limit"])
        slow = ids[fast + 1:]
        self.assertEqual(metric["since"], slow[0])
        self.assertGreater(len(slow), 1)
        page, text = ((out / name).read_text(encoding="utf-8") for name in ("trend.html", "trend.md"))
        first = next(line for line in text.splitlines() if "**: step.time.median" in line)
        self.assertIn(f"since {slow[0]}", first)
        self.assertRegex(first, r"; `[^`]+`: [\d.]+ .s to [\d.]+ .s: ")
        figure = next(part for part in page.split("<figure ")[1:] if ">step.time.median</a>" in part).split("</figure>")[0]
        dots = re.findall(r"<circle [^>]*><title>([^<]*)</title>", figure)
        self.assertEqual([dot.split()[3].rstrip(",") for dot in dots], ids)
        self.assertEqual([dot.split()[2].replace("-", "") for dot in dots], [run_id[:8] for run_id in ids])
        days = re.findall(r">(\d{4}-\d\d-\d\d)</text>", figure)
        self.assertEqual([days[0].replace("-", ""), days[-1].replace("-", "")], [ids[0][:8], ids[-1][:8]])
        self.assertIn('class="band"', figure)
        self.assertNotIn(">step.time.median</a>", page.partition("in which no change was found")[2])
        self.assertIn(">kernels.per_step</a>", page.partition("in which no change was found")[2])
        command = re.search(r"`(nsys-ai compare [^`]*)`", first)[1]
        self.assertIn(f"{ids[-len(slow) - 1]}/captures/*", command)
        self.assertIn(f"{slow[0]}/captures/*", command)
        done = subprocess.run(["bash", "-c", command.replace("nsys-ai", shlex.quote(support.PROGRAM), 1) + " --out compared"], cwd=out.parent, env={**os.environ, "STORE": str(store)},
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_many_spikes_are_folded(self):
        """The newest three stand in the figure, the others below a line that says how many."""
        nights, store = fresh_dir("nights") / "n", fresh_dir() / "s"
        planned = (3, 8, 13, 17, 20)
        done = run("series", nights, "--nights", 24, "--noise", 0.2, *(word for night in planned for word in ("--spike", f"{night}:60")), program=GENERATOR)
        self.assertEqual(done.returncode, 0, done.stderr)
        for path in sorted(nights.glob("*.sqlite")):
            self.assertEqual(run("store", "add", path, "--store", store, "-q").returncode, 0)
        trend, out = self.trend(store)
        metric, = [m for s in trend["series"] for m in s["metrics"] if m["metric"] == "step.time.median"]
        spikes = [v["run"] for i, v in enumerate(metric["values"]) if i in planned]
        page = (out / "trend.html").read_text(encoding="utf-8")
        figure = next(part for part in page.split("<figure ")[1:] if ">step.time.median</a>" in part).split("</figure>")[0]
        shown, folded = figure.split("<details><summary>2 more spikes</summary>")
        named = [re.findall(r"<p>Spike: .* in (?:<a [^>]*>)?([^<]+?)(?:</a>)?[.]</p>", part) for part in (shown, folded)]
        self.assertEqual(named, [spikes[:1:-1], spikes[1::-1]])
        self.assertIn("Spikes of step.time.median: 5; the newest, ", (out / "trend.md").read_text(encoding="utf-8"))

    def test_renamed_kernels_are_no_change(self):
        """Another spelling and another tile of the same work: compared as such, and no night is worse for it."""
        nights, store = fresh_dir("nights") / "n", fresh_dir() / "s"
        done = run("series", nights, "--nights", 10, "--noise", 0, "--renamed", 5, "--retuned", 6, program=GENERATOR)
        self.assertEqual(done.returncode, 0, done.stderr)
        for path in sorted(nights.glob("*.sqlite")):
            self.assertEqual(run("store", "add", path, "--store", store, "-q").returncode, 0)
        trend, _ = self.trend(store)
        self.assertEqual({m["metric"] for s in trend["series"] for m in s["metrics"] if m["changes"]}, set())
        out = fresh_dir() / "c"
        self.assertEqual(run("compare", nights / "night-0004.sqlite", nights / "night-0006.sqlite", "--out", out).returncode, 0)
        kernels = json.loads((out / "compare.json").read_text(encoding="utf-8"))["kernels"]
        self.assertEqual({(k["state"], k["level"], k["delta_ms"]) for k in kernels},
                         {("renamed", "toolchain", 0), ("retuned", "tuning", 0)})

    def test_annotations(self):
        store, ids = self.copy(), self.ids(self.store)
        step = [r["run_id"] for r in self.rows(store) if '"20"' in (r["labels_json"] or "")][0]
        self.assertEqual(run("store", "annotate", step, "--kind", "expected-change", "--text", "larger <b>batch</b>", "--store",
                             store).returncode, 0)
        self.assertEqual(run("store", "annotate", ids[11], "--kind", "ignore", "--text", "=noisy node", "--store", store).returncode, 0)
        self.assertEqual(run("store", "annotate", "nothing", "--kind", "ignore", "--text", "x", "--store", store).returncode, 2)
        trend, out = self.trend(store)
        series, = [s for s in trend["series"] if s["runs"] == 27]
        self.assertEqual(series["ignored"], 1)
        metric, = [m for m in series["metrics"] if m["metric"] == "step.time.median"]
        self.assertEqual(len(metric["values"]), 26)
        self.assertEqual(metric["changes"][0]["note"], "expected-change: larger <b>batch</b>")
        self.assertNotIn("<b>", (out / "trend.html").read_text(encoding="utf-8"))
        before = self.derived(store)
        for name in DERIVED:
            (store / name).unlink()
        run("store", "index", "--store", store)
        self.assertEqual(self.derived(store), before)

    def fleet(self, store, *options, expect=0):
        out = fresh_dir() / "f"
        done = run("trend", "--all", "--store", store, "--out", out, *options)
        self.assertEqual(done.returncode, expect, done.stderr)
        with (out / "fleet.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file)), out, done.stdout

    def test_all_series(self):
        """A row says of its series what its own trend says; the worst come first."""
        store = self.copy()
        for number in range(7):  # a series of its own, judged
            self.add(store, number, "--environment", "other", "--id", f"x{number}", "--verdict", "fail" if number == 6 else "pass")
        rows, out, said = self.fleet(store)
        trend, _ = self.trend(store)
        runs = self.rows(store)
        self.assertEqual({row["series"] for row in rows}, {s["series"] for s in trend["series"]})
        urgent = {"fail": 0, "creep": 1, "warn": 3}
        ranks = []
        for row in rows:
            series, = [s for s in trend["series"] if s["series"] == row["series"]]
            self.assertEqual((int(row["run_count"]), int(row["failed_count"])), (series["runs"], series["failed"]))
            newest = [r for r in runs if r["series"] == row["series"]][-1]
            self.assertEqual((row["newest_run"], row["newest_status"], row["newest_verdict"] or None),
                             (newest["run_id"], newest["status"], newest["verdict"]))
            bad = newest["status"] != "ok" or newest["verdict"] not in (None, "", "pass")
            changes = [(c["bad_run"], m["metric"], c) for m in series["metrics"] for c in m["changes"]]
            last = max((r for r, _, _ in changes), default="", key=lambda r: [x["run_id"] for x in runs].index(r))
            self.assertEqual(row["changed_run"], last)
            if last:
                pct, worse = next((c["pct"], c["worse"]) for r, m, c in changes if r == last and m == row["changed_metric"])
                self.assertAlmostEqual(float(row["changed_pct"]), pct, places=2)
                self.assertEqual(int(row["worse"]), worse)
                labels = json.loads(row["changed_labels_json"])
                self.assertIn(f"since {last} (night: {labels['night']})", (out / "fleet.html").read_text(encoding="utf-8"))
            states = [urgent.get(m["state"], 5) for m in series["metrics"]]
            if series["metrics"]:
                self.assertEqual(urgent.get(row["state"], 5), min(states))
                value, = [m["newest"] for m in series["metrics"] if m["metric"] == row["metric"]]
                self.assertAlmostEqual(float(row["newest"]), value, places=2)
            ranks.append((min([*states, 2 if bad else 5, 4 if last and int(row["worse"]) else 5]), row["series"]))
        self.assertEqual(ranks, sorted(ranks))
        self.assertEqual(sum(rank == 2 for rank, _ in ranks), 1, ranks)  # the judged one
        self.assertGreater(len({rank for rank, _ in ranks}), 1)
        self.assertRegex(said, rf"(?m)^{sum(rank < 4 for rank, _ in ranks)} of {len(rows)} series ask for attention$")
        page = (out / "fleet.html").read_text(encoding="utf-8")
        self.assertEqual(page.count("<polyline"), len(rows))
        links = {(out / path).resolve() for path in re.findall(r'href="([^"]+report.html)"', page)}
        self.assertTrue(links and all(path.exists() for path in links), links)
        labelled, _, _ = self.fleet(store, "--label", "night=3")
        self.assertEqual(sorted(int(row["run_count"]) for row in labelled), [1, 1])
        text = (out / "fleet.prom").read_text(encoding="utf-8")
        samples = {(name, series): value for name, series, value in re.findall(r'(?m)^(nsys_ai_series_\w+)\{series="([^"]+)".*\} (\S+)$', text)}
        self.assertTrue(text.endswith("\n# EOF\n"))
        for row in rows:
            self.assertEqual(samples["nsys_ai_series_runs", row["series"]], row["run_count"])
            self.assertEqual(samples["nsys_ai_series_failed_runs", row["series"]], row["failed_count"])
            if row["newest"] and row["usual"]:
                self.assertAlmostEqual(float(samples["nsys_ai_series_newest_ratio", row["series"]]), float(row["newest"]) / float(row["usual"]), places=3)
        self.assertEqual(run("trend", "--all", "--store", store, "--out", out).returncode, 0)
        self.assertEqual({path.name for path in out.iterdir()}, {"fleet.csv", "fleet.prom", "fleet.md", "fleet.html", "stages"})
        one, _, _ = self.fleet(store, "--series", rows[0]["series"])
        self.assertEqual(one, rows[:1])
        self.fleet(store, "--gate", expect=int(trend["failed"]))
        for words in (("--series", "nothing"), ("--series", "../.."), ("--label", "night=nothing")):
            self.assertEqual(run("trend", "--all", "--store", store, "--out", out, *words).returncode, 2)

    def test_check_of_all_series(self):
        """The newest run of each name, against its own history: one status, one comment."""
        store = fresh_dir() / "s"
        nights = {"steady": [*range(7), 8, 9], "slower": [*range(10, 19), 20], "young": [3], "down": [0, 1, 2, 3, 4, 5, 6, 7]}
        for name, numbers in nights.items():
            for number in numbers:
                self.add(store, number, "--series", name, "--id", f"{name}{number}", *(("--time", "2026-03-01T00:00:00Z") if (name, number) == ("down", 7) else ()))
        out = fresh_dir() / "c"
        done = run("check", "--all", "--store", store, "--out", out)
        self.assertEqual(done.returncode, 1, done.stderr)
        suite = json.loads((out / "suite/suite.json").read_text(encoding="utf-8"))
        self.assertEqual({p["program"]: p["status"] for p in suite["programs"]},
                         {"steady": "pass", "slower": "fail", "young": "undecided", "down": "undecided"})
        self.assertTrue((out / "slower/compare.html").exists() and (out / "suite/suite.md").exists())
        for words in (("--all",), ("--all", "--store", store, "--suite", store), ("--all", "x", "--store", store),
                      ("--all", "--store", store, "--budgets", "nothing.yaml"),
                      *(("--all", "--store", store, "--baseline", selector) for selector in ("last-goof", "run:nothing", "median:x"))):
            self.assertEqual(run("check", *words, "--out", out).returncode, 2, words)

    def test_check_of_all_series_says_what_was_thinned_out(self):
        store = fresh_dir() / "s"
        for name, number in (("old", 0), ("old", 1), ("now", 8)):
            self.add(store, number, "--series", name, "--id", f"{name}{number}")
        self.assertIn("old1", run("store", "prune", "--keep", "1d", "--monthly", "all", "--store", store).stdout)
        done = run("check", "--all", "--store", store, "--baseline", "last-good", "--out", fresh_dir() / "c")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("undecided  old: the newest run, old1, was thinned out", done.stdout)

    @support.tier("ci")
    def test_a_new_definition(self):
        """Values of two definitions are no change, no trend and no anchor; what is before is drawn, and told apart."""
        work, store = fresh_dir(), fresh_dir() / "s"
        metric = "metrics:\n  - {{id: my.time, title: mine, better: lower, kind: noisy, gate: gate, definition: {}, total: {{table: kernels, value: {} * sum(total_time_ns)}}}}\n"
        ids = []
        for number in range(15):
            old = number < 6
            (work / "m.yaml").write_text(metric.format(1 if old else 2, 1 if old else 3), encoding="ascii")
            done = run("analyze", self.nights / f"night-{number if number < 7 else number + 1:04}.sqlite", "--metrics", work / "m.yaml", "--out", work / "r", "-q")
            self.assertEqual(done.returncode, 0, done.stderr)
            done = run("store", "add", work / "r", "--store", store, "--id", f"n{number:02}", "--time", f"2026-02-{number + 1:02}T00:00:00Z")
            self.assertEqual(done.returncode, 0, done.stderr)
            ids += done.stdout.split()
        self.assertEqual(run("store", "baseline", "set", "release", *ids[:5], "--store", store).returncode, 0)
        trend, out = self.trend(store)
        mine, = [m for m in trend["series"][0]["metrics"] if m["metric"] == "my.time"]
        other, = [m for m in trend["series"][0]["metrics"] if m["metric"] == "step.time.median"]
        self.assertEqual((mine["defined_since"], other["defined_since"]), ("n06", None))
        self.assertEqual((mine["changes"], mine["anchor"], len(mine["values"])), ([], None, 15))
        self.assertAlmostEqual(mine["usual"], sum(sorted(v["value"] for v in mine["values"][6:-1])[3:5]) / 2, delta=1)
        said = json.loads(run("version", "--json").stdout)
        version = said["version"] + (f"+{said['commit']}" if said["commit"] else "")
        self.assertEqual((out / "trend.html").read_text(encoding="utf-8").count(f"nsys-ai {version} measures this differently"), 1)
        self.assertEqual(run("sql", "--store", store, "select distinct tool_version from runs", "--format", "csv").stdout, f"tool_version\n{version}\n")
        self.assertIsNotNone(other["anchor"])

    def test_creep(self):
        nights = fresh_dir("nights") / "n"
        run("series", nights, "--nights", 24, "--noise", 0.2, "--drift", 0.7, program=GENERATOR)
        out, store = fresh_dir() / "b", fresh_dir() / "s"
        self.assertEqual(run("batch", nights, "--out", out, "-q").returncode, 0)
        ids = [run("store", "add", out / f"items/night-{n:04}", "--store", store).stdout.split()[0] for n in range(24)]
        run("store", "baseline", "set", "release", *ids[:3], "--store", store)
        trend, _ = self.trend(store, "--gate", expect=1)
        states = {m["metric"]: m["state"] for m in trend["series"][0]["metrics"]}
        self.assertIn(states["step.time.median"], ("creep", "fail"))
        self.assertEqual(trend["anchor"], "release")

    def test_without_steps(self):
        """What gates is by the step; without any the page has kernels by the call, and the gate is undecided as that of check."""
        store = fresh_dir() / "s"
        source = artifacts(trace("minimal"))
        for number in range(8):
            run("store", "add", source, "--store", store, "--id", f"n{number}", "--time", f"2026-01-{number + 1:02}T02:00:00Z")
        trend, out = self.trend(store, "--gate", expect=7)
        names = {m["metric"] for s in trend["series"] for m in s["metrics"]}
        self.assertTrue(any(name.startswith("kernel.top.") for name in names), names)
        self.assertEqual({m["state"] for s in trend["series"] for m in s["metrics"]}, {"steady"})
        self.assertIn("unit.1.time", (out / "trend.html").read_text(encoding="utf-8"))
        said = f"Nothing of {trend['series'][0]['series']} gates; captures without steps have no metric that does."
        for name in ("trend.md", "trend.html"):
            text = (out / name).read_text(encoding="utf-8").replace("\\", "")
            self.assertIn(said, text)
            self.assertNotIn("No gated metric has failed", text)
        for number in range(8):  # another program, whose steps gate
            run("store", "add", artifacts(trace("steps")), "--store", store, "--series", "stepping", "--id", f"s{number}", "--time", f"2026-01-{number + 1:02}T02:00:00Z")
        _, out = self.trend(store, "--gate")
        text = (out / "trend.md").read_text(encoding="utf-8").replace("\\", "")
        self.assertIn(said, text)
        self.assertIn("No gated metric has failed", text)

    def test_labels_of_the_nights_are_named(self):
        trend, out = self.trend(self.store, "--series", "demo")
        changes = [c for s in trend["series"] for m in s["metrics"] for c in m["changes"]]
        night = next(r for r in self.rows(self.copy()) if r["run_id"] == changes[0]["bad_run"])
        label = f"{changes[0]['bad_run']} (night: {json.loads(night['labels_json'])['night']})"
        self.assertIn(f" {label} ", (out / "trend.md").read_text(encoding="utf-8").replace("\\", ""))

    def test_the_terminal_says_since_when(self):
        """What is wrong since which night, and in which one a level changed; as trend.json, with the labels."""
        accepted, night = self.copy(), next(r for r in self.rows(self.store) if r["labels_json"] == '{"night": "20"}')["run_id"]
        self.assertEqual(run("store", "annotate", night, "--kind", "expected-change", "--text", "new data", "--store", accepted).returncode, 0)
        for store, state, word in ((self.store, "fail", "since"), (accepted, "steady", "in")):
            out = fresh_dir() / "t"
            printed = run("trend", "--store", store, "--out", out, "--metric", "step.time.median").stdout
            trend = json.loads((out / "trend.json").read_text(encoding="utf-8"))
            metric = next(m for s in trend["series"] for m in s["metrics"] if len(m["values"]) > 9)
            self.assertEqual((metric["state"], metric["since"] or metric["changes"][-1]["bad_run"]), (state, night))
            self.assertRegex(printed, rf"(?m)^  step.time.median: {state}.* {word} {night} \(night: 20\)")
        printed = run("trend", "--store", self.store, "--all", "--out", fresh_dir() / "t").stdout
        self.assertRegex(printed, rf" since {night} \(night: 20\)")

    def test_metrics_of_choice(self):
        trend, _ = self.trend(self.store, "--metric", "gpu.*", "--series", "demo")
        names = {m["metric"] for s in trend["series"] for m in s["metrics"]}
        self.assertTrue(names and all(n.startswith("gpu.") for n in names), names)
        for words in (("--metric", "nothing"), ("--series", "nothing")):
            self.assertEqual(run("trend", "--store", self.store, "--out", fresh_dir() / "t", *words).returncode, 2)

    # --- retention ------------------------------------------------------------------------------

    def test_prune(self):
        store, ids = self.copy(), self.ids(self.store)
        run("store", "baseline", "set", "release", ids[2], "--store", store)
        index = self.derived(store)  # written, where no other test did
        before = {p for p in store.rglob("*") if p.is_file()}
        trend, _ = self.trend(store)
        dry = run("store", "prune", "--store", store, "--keep-days", 5, "--dry-run")
        self.assertEqual({p for p in store.rglob("*") if p.is_file()}, before)
        self.assertIn("would be removed", dry.stdout)
        done = run("store", "prune", "--store", store, "--keep-days", 5)
        self.assertEqual(dry.stdout.replace("would be removed", "removed"), done.stdout)
        whole = {p.parents[2].name for p in store.glob("runs/*/*/*/captures/0/report.html")}
        step = [r["run_id"] for r in self.rows(store) if (r["labels_json"] or "") in ('{"night": "19"}', '{"night": "20"}')]
        self.assertTrue({ids[2], *step} <= whole, (whole, step))
        self.assertNotIn(ids[5], whole)
        pruned = self.derived(store)
        for name in DERIVED:
            (store / name).unlink()
        self.assertEqual(run("store", "index", "--store", store).returncode, 0)
        self.assertEqual(self.derived(store), pruned)
        self.assertEqual({n: pruned[n] for n in DERIVED if n != "index.html"}, {n: index[n] for n in DERIVED if n != "index.html"})
        again, out = self.trend(store)
        self.assertEqual(again, trend)
        # The pages link to the reports that are left, and to all of them.
        links = {store / path for path in re.findall(r'href="(runs/[^"]+)"', pruned["index.html"].decode())}
        self.assertEqual(links, set(store.glob("runs/*/*/*/captures/0/report.html")))
        ways = set(re.findall(r'href="([^"]+/report.html)"', (out / "trend.html").read_text(encoding="utf-8")))
        self.assertEqual({(out / way).resolve() for way in ways if not way.startswith("/")}, {path.resolve() for path in links})

    def test_thinning(self):
        """Of old runs one a week, then one a month, keeps its captures, and what somebody may ask about; trends stay as they are."""
        store = self.copy()
        ids = self.ids(store)
        self.assertEqual(run("store", "baseline", "set", "release", ids[1], "--store", store).returncode, 0)
        trend, _ = self.trend(store)
        kept = {ids[1]}
        runs = self.rows(store)
        for series in trend["series"]:
            names = [r["run_id"] for r in runs if r["series"] == series["series"]]
            for metric in series["metrics"]:
                for change in metric["changes"]:
                    for end in (change["good_run"], change["bad_run"]):
                        at = names.index(end)
                        kept |= set(names[max(0, at - 3):at + 4])
        newest, groups = max(r["utc_ns"] or 0 for r in runs), {}
        for row in runs:
            if row["status"] != "ok":
                continue
            age = (newest - row["utc_ns"]) // (86400 * 10**9)
            day = datetime.datetime.fromtimestamp(row["utc_ns"] // 10**9, datetime.timezone.utc)
            if age > 5 and row["run_id"] not in kept:
                groups.setdefault((row["series"], day.isocalendar()[:2] if age <= 14 else (day.year, "month", day.month)), []).append(row["run_id"])
        thinned = {name for names in groups.values() for name in names[1:]}
        self.assertGreater(len(thinned), 5)
        words = ("store", "prune", "--store", store, "--keep", "5d", "--weekly", "2w", "--monthly", "all")
        before = {path for path in store.rglob("*") if path.is_file()}
        dry = run(*words, "--dry-run")
        self.assertEqual({path for path in store.rglob("*") if path.is_file()}, before)
        done = run(*words)
        self.assertEqual((done.returncode, done.stdout), (0, dry.stdout.replace("would be removed", "removed")), done.stderr)
        self.assertEqual({line.split()[0] for line in done.stdout.splitlines() if "thinned out: another run of its" in line}, thinned)
        for row in runs:
            place = store / "runs" / row["series"] / row["run_id"]
            self.assertEqual((place / "captures").exists(), row["status"] == "ok" and row["run_id"] not in thinned, row["run_id"])
        self.assertEqual(self.trend(store)[0], trend)
        self.assertEqual(run(*words).stdout, "0 runs, 0 B removed\n")
        one = sorted(thinned)[0]
        self.assertRegex(run("store", "list", "--store", store).stdout, rf"{one} +thinned")
        night = self.batch / "items/night-0026"
        for call in (("store", "baseline", "set", "b", one, "--store", store), ("check", night, "--baseline", f"run:{one}", "--store", store, "--out", store / "c")):
            done = run(*call)
            self.assertEqual((done.returncode, "thinned out" in done.stderr), (2, True), done.stderr)
        done = run("check", night, "--baseline", "median:20", "--store", store, "--series", "demo", "--out", fresh_dir() / "c")
        self.assertEqual((done.returncode in (0, 1), done.stderr), (True, ""))
        again = next(n for n in range(30) if f"-{one[:8]}" in f"-{(datetime.date(2026, 1, 1) + datetime.timedelta(n)).strftime('%Y%m%d')}")
        done = run("store", "add", self.batch / f"items/night-{again:04}", "--store", store, "--series", "demo")
        self.assertEqual((done.returncode, "thinned out" in done.stderr), (2, True), done.stderr)
        self.assertEqual(run("store", "remove", one, "--store", store).returncode, 0)
        self.add(store, again)
        mine = next(store.glob(f"runs/*/*/{one}/captures/0")) / "mine.txt"
        mine.write_text("mine")
        run(*words)
        self.assertTrue(mine.exists())
        for wrong in (("--keep", "5"), ("--weekly", "x"), ("--monthly", "-1d"), ("--keep", "1e9y")):
            self.assertEqual(run("store", "prune", "--store", store, *wrong).returncode, 2, wrong)

    def test_recipe(self):
        """The nightly recipe of docs/nightly.md."""
        out = fresh_dir()
        done = subprocess.run([str(SOURCE / "scripts/nightly-demo"), str(out / "d"), "12"], capture_output=True, encoding="utf-8",
                              timeout=support.TIMEOUT_S, check=False,
                              env={**os.environ, "NSYS_AI": support.PROGRAM, "NSYS_AI_GEN": GENERATOR})
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)  # the last nights regress, and the gate says so
        self.assertIn("gate failed", done.stdout)
        self.assertTrue((out / "d/trend/trend.html").exists())


class Beyond(unittest.TestCase):
    """What the newest nights are beyond their history by, since when, and whether that is worse."""
    trend = Store.trend

    def store_of(self, sources):
        """A store with a run per source, a day apart: (store, ids of the runs)."""
        store, ids = fresh_dir() / "s", []
        for number, source in enumerate(sources):
            done = run("store", "add", artifacts(source), "--store", store, "--time", f"2026-01-{1 + number:02}T00:00:00Z")
            self.assertEqual(done.returncode, 0, done.stderr)
            ids.append(done.stdout.split()[0])
        return store, ids

    def idler(self, source, factor=0.2):
        """The same steps, with kernels that are shorter."""
        copy = fresh_dir() / source.name
        shutil.copy(source, copy)
        with contextlib.closing(sqlite3.connect(copy)) as db:
            db.execute(f"update CUPTI_ACTIVITY_KIND_KERNEL set end = cast(start + (end - start) * {factor} as int)")
            db.commit()
        return copy

    def gate(self, store, *options, expect):
        """Of the gate: what is printed, what it says with -q, and the directory."""
        out, said = fresh_dir() / "t", []
        for words in ((), ("-q",), ("--json",)):
            done = run("trend", "--store", store, "--out", out, "--gate", *options, *words)
            self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
            said.append((done.stdout, done.stderr))
        (printed, nothing), (quiet, noted), (_, of_json) = said
        self.assertEqual((nothing, quiet), ("", ""))
        self.assertEqual(noted, of_json)
        return printed, noted, out

    def stepless(self, seed):
        """The program of trace("loop"), ended early: nothing of it repeats."""
        copy = fresh_dir() / "stepless.sqlite"
        shutil.copy(trace("loop", "--seed", seed), copy)
        with contextlib.closing(sqlite3.connect(copy)) as db:
            db.execute("delete from CUPTI_ACTIVITY_KIND_KERNEL where start > (select min(start) + (max(end) - min(start)) / 12 from CUPTI_ACTIVITY_KIND_KERNEL)")
            db.commit()
        return copy

    def test_a_gate_that_judged_nothing_says_so(self):
        """The first nights of a store pass, for there is nothing to compare them with."""
        store, ids = self.store_of([trace("loop", "--seed", seed) for seed in range(1, 4)])
        printed, noted, out = self.gate(store, expect=0)
        line = "metrics with fewer than 7 good runs before the newest. Nothing is gated until then."
        for text in (printed, noted, *((out / name).read_text(encoding="utf-8") for name in ("trend.md", "trend.html"))):
            self.assertRegex(text, rf"Not judged: \d+ {re.escape(line)}")
            self.assertNotIn("No gated metric has failed", text)
        for seed in range(4, 9):
            run("store", "add", artifacts(trace("loop", "--seed", seed)), "--store", store, "--time", f"2026-01-{seed:02}T00:00:00Z")
        self.assertEqual(self.gate(store, expect=0)[1], "")

    def test_a_newest_run_without_steps_is_undecided(self):
        """The metrics of older runs are not its own: check of the same runs is undecided, too."""
        store, ids = self.store_of([*(trace("loop", "--seed", seed) for seed in range(1, 10)), self.stepless(10)])
        printed, noted, out = self.gate(store, expect=7)
        for text in (printed, noted, (out / "trend.md").read_text(encoding="utf-8").replace("\\", ""), (out / "trend.html").read_text(encoding="utf-8")):
            self.assertRegex(text, rf"Not judged: gpu.compute.per_step, .* and \d+ more of [^\n]*: earlier runs have them, the newest, {ids[-1]}, does not\.")
            self.assertNotIn("No gated metric has failed", text)
            self.assertNotIn("Nothing got worse", text)
        trend, _ = self.trend(store)
        self.assertEqual((trend["failed"], trend["undecided"]), (False, True))
        self.assertEqual({m["state"] for m in trend["series"][0]["metrics"]}, {"gone"})
        published.check(self, "trend", trend)
        out = fresh_dir() / "t"
        done = run("trend", "--store", store, "--out", out, "--all", "--gate")
        self.assertEqual((done.returncode, "1 of 1 series ask for attention" in done.stdout), (7, True), done.stdout)
        done = run("check", artifacts(self.stepless(10)), "--store", store, "--baseline", "median:7", "--out", fresh_dir() / "c")
        self.assertEqual(done.returncode, 7, done.stderr)
        # Once the change is meant, what is gone is none of the history that begins there.
        self.assertEqual(run("store", "annotate", ids[-1], "--kind", "expected-change", "--text", "no steps", "--store", store).returncode, 0)
        printed, _, _ = self.gate(store, expect=7)
        self.assertRegex(printed, "(?m)^Nothing of .* gates; captures without steps have no metric that does.$")
        self.assertNotIn("Not judged: gpu", printed)

    def test_odd_nights_give_way_to_older_ones(self):
        """A few without steps would make all undecided for a week; where they are most, the program has changed."""
        loop = [trace("loop", "--seed", seed) for seed in range(1, 10)]
        store, ids = self.store_of([*loop[:6], self.stepless(20), *loop[6:], self.stepless(21)])
        for selector, expect, history, left_out in (("median:7", 0, [2, 3, 4, 5, 7, 8, 9], [10, 6]), ("median:1", 7, [10], []), ("median:2", 7, [9, 10], [])):
            out = fresh_dir() / "c"
            done = run("check", artifacts(trace("loop", "--seed", 30)), "--store", store, "--baseline", selector, "--out", out)
            self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
            captures = json.loads((out / "compare.json").read_text(encoding="utf-8"))["base"]["captures"]
            self.assertEqual(sorted(c["id"] for c in captures), sorted(ids[i] for i in history))
            self.assertEqual([line for line in done.stderr.splitlines() if "goes without" in line],
                             [f'nsys-ai: {selector} goes without the run "{ids[i]}", which cannot be compared by the step: it has no steps, what is checked has steps by nvtx'
                              for i in left_out])

    def test_a_gated_metric_that_the_newest_run_lacks(self):
        """What it means, its definition says, as in check: that nothing is known, nothing, or 0."""
        for absent, expect, is_named in (("error", 7, True), ("ignore", 0, True), ("zero", 0, False)):
            metrics = fresh_dir() / "m.yaml"
            metrics.write_text("metrics:\n  - {id: my.time, title: mine, better: lower, kind: noisy, gate: gate, "
                               f"absent: {absent}, total: {{table: kernels, value: sum(total_time_ns)}}}}\n", encoding="ascii")
            store = fresh_dir() / "s"
            for seed in range(1, 10):
                out = fresh_dir() / "r"
                words = ("--metrics", metrics) if seed < 9 else ()
                self.assertEqual(run("analyze", trace("loop", "--seed", seed), "--out", out, "-q", *words).returncode, 0)
                self.assertEqual(run("store", "add", out, "--store", store, "--time", f"2026-01-{seed:02}T00:00:00Z").returncode, 0)
            printed, noted, _ = self.gate(store, expect=expect)
            self.assertEqual("Not judged: my.time of " in printed, is_named, printed)
            self.assertEqual(": earlier runs have it, the newest, 20260109" in noted, expect == 7, noted)
            done = run("trend", "--store", store, "--out", fresh_dir() / "t", "--all", "--gate")
            self.assertEqual((done.returncode, done.stdout.splitlines()[-2].split()[0]), (expect, "1" if expect else "0"), done.stdout)

    def test_the_first_night_beyond_is_named(self):
        """Two nights are slower, of which only the newest has a history that is long enough: the first is named, beside the night before it."""
        store, ids = self.store_of([trace("loop", "--seed", seed) for seed in range(1, 7)] + [trace("loop-waits", "--seed", seed) for seed in (7, 8)])
        trend, out = self.trend(store)
        metric, = (m for s in trend["series"] for m in s["metrics"] if m["metric"] == "step.time.median")
        self.assertEqual((metric["state"], metric["since"]), ("warn", ids[6]))
        line, = re.findall(r"^- \*\*warn\*\*: step.time.median.*", (out / "trend.md").read_text(encoding="utf-8").replace("\\", ""), re.M)
        self.assertRegex(line, f"since {ids[6]}[;:].*--base [^ ]*/{ids[5]}/.*--new [^ ]*/{ids[6]}/")

    def test_an_older_change_is_not_what_a_night_is_beyond(self):
        """Twenty nights after a change its level is usual: what warns now began now."""
        sources = fresh_dir() / "n"
        self.assertEqual(run("series", sources, "--nights", 31, "--noise", 0.2, "--step", "6:8", "--spike", "30:40", program=GENERATOR).returncode, 0)
        store, ids = self.store_of(sorted(sources.glob("*.sqlite")))
        trend, out = self.trend(store)
        metric, = (m for s in trend["series"] for m in s["metrics"] if m["metric"] == "step.time.median")
        self.assertEqual([change["bad_run"] for change in metric["changes"]], [ids[6]])
        self.assertEqual((metric["state"], metric["since"]), ("warn", ids[30]))
        self.assertRegex((out / "trend.md").read_text(encoding="utf-8").replace("\\", ""), rf"\*\*warn\*\*: step.time.median.*, since {ids[30]}[;:].*/{ids[29]}/")

    def test_more_idle_time_in_the_same_step_is_not_worse(self):
        """Kernels that get shorter leave more of a step, and it is no longer for that: no warning, with the night where it began; as a change of
        a level, too. Where the step grows, it is one."""
        for count, changes in ((2, 0), (5, 1)):
            store, ids = self.store_of([trace("loop", "--seed", seed) for seed in range(1, 8)] +
                                     [self.idler(trace("loop", "--seed", 20 + seed)) for seed in range(count)])
            trend, out = self.trend(store, "--gate")
            metrics = {m["metric"]: m for s in trend["series"] for m in s["metrics"]}
            idle, step, compute = (metrics[name] for name in ("gpu.idle.per_step", "step.time.median", "gpu.compute.per_step"))
            self.assertGreater(idle["newest"] - idle["usual"], idle["limit"])
            self.assertEqual((idle["state"], idle["since"], step["state"], step["since"]), ("steady", ids[7], "steady", None))
            self.assertRegex(idle["made_up"], r"^grew because gpu\.compute\.per_step shrank \(.* to .*\); the step did not change \(.* to .*\)$")
            self.assertLess(compute["newest"], 0.5 * compute["usual"])
            self.assertEqual([change["worse"] for change in idle["changes"]], [False] * changes)
            text = (out / "trend.md").read_text(encoding="utf-8").replace("\\", "")
            self.assertIn("\nNothing got worse.\n\nNot worse, for the step is not:\n\n- gpu.idle.per_step, ", text)
            self.assertRegex(text, f"- gpu.idle.per_step, .* since {ids[7]}: grew because .*--base [^ ]*/{ids[6]}/.*--new [^ ]*/{ids[7]}/")
            self.assertIn("Not worse, for the step is not", (out / "trend.html").read_text(encoding="utf-8"))
        alone, out = self.trend(store, "--metric", "gpu.idle.per_step")
        metric, = alone["series"][0]["metrics"]
        self.assertEqual((metric["state"], metric["made_up"].split(";")[0]), ("steady", "grew because other parts of the step shrank"))
        store, ids = self.store_of([trace("loop", "--seed", seed) for seed in range(1, 8)] + [trace("loop-waits", "--seed", 8)])
        trend, _ = self.trend(store)
        metric, = (m for s in trend["series"] for m in s["metrics"] if m["metric"] == "gpu.idle.per_step")
        self.assertEqual((metric["state"], metric["since"], metric["made_up"]), ("warn", ids[7], None))


if __name__ == "__main__":
    support.main()
