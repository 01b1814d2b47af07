"""nsys-ai batch on one machine: failures cost one item, everything is finished by --resume, the index is the same bytes."""
import contextlib
import csv
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import time
import unittest

import support
from batch_support import INDEX, batch, disturb, index_of, make_traces
from support import PROGRAM, edited, fresh_dir, run, trace


def rows(out):
    with open(pathlib.Path(out) / "index.csv", encoding="utf-8", newline="") as file:
        return {row["run_id"]: row for row in csv.DictReader(file)}


def kernel_time(out, name):
    with contextlib.closing(sqlite3.connect(f"file:{out}/index.sqlite?mode=ro", uri=True)) as db:
        return db.execute("select sum(total_time_ns) from kernels where run_id=?", (name,)).fetchone()[0]


@contextlib.contextmanager
def writing_through_wal(path):
    """A program that changes the trace: what it says stays in the WAL for as long as it is there."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=wal")
        db.execute("PRAGMA wal_autocheckpoint=0")
        db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = end + 1")
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        yield db


def make_longer(db):
    """Every kernel by as much; returns what all of them take then."""
    db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = end + 7")
    db.commit()
    return db.execute("SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]


class Inputs(unittest.TestCase):
    def test_corrupt_ones_are_listed_with_their_reason(self):
        traces = make_traces(fresh_dir("in"), 5)
        (traces / "text.sqlite").write_text("hello", encoding="ascii")
        (traces / "cut.sqlite").write_bytes((traces / "minimal-0.sqlite").read_bytes()[:9000])
        (traces / "notes.txt").write_text("no trace", encoding="ascii")
        out = fresh_dir() / "b"
        done = batch(traces, "--out", out, expect=4)
        self.assertIn("7 traces: 5 analyzed, 2 refused", done.stdout)
        found = rows(out)
        self.assertEqual({i for i, r in found.items() if r["status"] == "refused"}, {"text", "cut"})
        self.assertIn("not an SQLite database", found["text"]["error"])
        self.assertIn("truncated", found["cut"]["error"])
        self.assertEqual(found["text"]["exit_code"], "3")
        for name, row in found.items():
            self.assertEqual((out / "items" / name / "report.html").exists(), row["status"] == "ok")
        self.assertIn("text", (out / "batch.md").read_text(encoding="utf-8"))

    def test_all_corrupt(self):
        traces = fresh_dir("in")
        for number in range(3):
            (traces / f"{number}.sqlite").write_bytes(b"")
        out = fresh_dir() / "b"
        batch(traces, "--out", out, expect=4)
        self.assertEqual({row["status"] for row in rows(out).values()}, {"refused"})
        with sqlite3.connect(f"file:{out}/index.sqlite?mode=ro", uri=True) as db:
            self.assertEqual(db.execute("select count(*) from metrics").fetchone(), (0,))

    def test_names(self):
        """Same names in two directories, odd characters, numbers by value; ids lead nowhere else."""
        traces = fresh_dir("in")
        for name in ("a/rank10.sqlite", "a/rank2.sqlite", "b/rank2.sqlite", "a/..sqlite", "a/-x.sqlite", "a/n\new\n.sqlite",
                     "a/=cmd().sqlite", "a/<b>.sqlite", "a/" + "l" * 200 + ".sqlite", "a/\u00fc.sqlite"):
            path = traces / name
            path.parent.mkdir(exist_ok=True)
            shutil.copy(trace("minimal"), path)
        out = fresh_dir() / "b"
        batch(traces, "--out", out)
        found = rows(out)
        self.assertEqual(len(found), 9)  # "..sqlite" is a hidden file
        for name in found:
            self.assertRegex(name, r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$")
        self.assertEqual({p.name for p in (out / "items").iterdir()}, set(found))
        ranks = [name for name in found if name.startswith("rank")]
        self.assertTrue(ranks[0].startswith("rank2-") and ranks[1] == "rank10" and ranks[2].startswith("rank2-"), ranks)
        again = fresh_dir() / "b"
        batch(out / "manifest.csv", "--out", again)
        self.assertEqual((out / "manifest.csv").read_bytes(), (again / "manifest.csv").read_bytes())
        self.assertEqual(index_of(out), index_of(again))

    def test_manifest(self):
        directory = fresh_dir("in")
        shutil.copy(trace("minimal"), directory / "x.sqlite")
        manifest = directory / "list.csv"
        manifest.write_text('id,path,group,rank,note\nfirst,x.sqlite,night,0,"a ""quoted"", one"\nsecond,gone.sqlite,night,1,=1+1\n',
                            encoding="utf-8")
        out = fresh_dir() / "b"
        batch(manifest, "--out", out, expect=4)
        found = rows(out)
        self.assertEqual(json.loads(found["first"]["labels_json"]), {"rank": "0", "note": 'a "quoted", one'})
        self.assertEqual(found["first"]["series"], "night")
        self.assertEqual(found["second"]["status"], "refused")
        with open(out / "manifest.csv", encoding="utf-8", newline="") as file:
            self.assertEqual({r["note"] for r in csv.DictReader(file)}, {'a "quoted", one', "'=1+1"})  # guarded against spreadsheets

    def test_a_file_that_is_named_twice(self):
        """One item, as long as the rows agree; which of two groups is meant nobody could tell."""
        directory = make_traces(fresh_dir() / "t", 1)
        manifest = directory / "list.csv"

        def ids(text, expect=0):
            manifest.write_text(text, encoding="ascii")
            out = fresh_dir() / "b"
            done = batch(manifest, "--out", out, "-q", expect=expect)
            if expect:
                return done.stderr
            with open(out / "manifest.csv", encoding="ascii", newline="") as file:
                return [row["id"] for row in csv.DictReader(file)]
        name = "minimal-0.sqlite"
        for text in f"x,{name}\n,{name}\n", f",{name}\nx,{name}\n,{name}\n":
            self.assertEqual(ids(f"id,path\n{text}"), ["x"])
        self.assertEqual(ids(f"id,path\nx,{name}\ny,{name}\n"), ["x", "y"])
        for text in (f"path,group\n{name},a\n{name},b\n", f"path,label\n{name},a\n{name},b\n",
                     f"id,path,group\nx,{name},a\n,{name},b\n"):
            self.assertIn("twice with different groups or labels", ids(text, expect=2))

    def test_words_that_nobody_can_read(self):
        """The words of a batch come back as they were given, whatever is in them."""
        work = fresh_dir()
        odd = f"{work}/m\u200b\x7f\ufffe"
        make_traces(work / "t", 1)
        os.mkdir(odd)
        with open(f"{odd}/m.yaml", "w", encoding="ascii") as file:
            file.write("metrics: []\n")
        os.rename(work / "t/minimal-0.sqlite", f"{work}/t/x\ufeff.sqlite")
        batch(work / "t", "--out", work / "b", "-q", "--scratch", odd, "--metrics", f"{odd}/m.yaml")
        self.assertIn(",ok,", (work / "b/index.csv").read_text(encoding="utf-8"))
        done = batch("--resume", "--out", work / "b")
        self.assertIn("1 analyzed", done.stdout)

    def test_wrong_manifests_say_where(self):
        directory = fresh_dir("in")
        for text, message in (("", "the file is empty"), ("a,b\n1,2\n", ':1: a manifest needs a column "path"'),
                              ("path\n1,2\n", ":2: expected 1 cells"), ('path\n"x\n', ":2: a quoted cell has no end"),
                              ("id,path\n../x,y\n", "must begin with a letter"), ("id,path\na,x\na,y\n", "two items have the id"),
                              ("path,note,note\nx,1,2\n", "occurs twice"), ("id,path\nx,\n", ':2: the cell of "path" is empty')):
            (directory / "m.csv").write_text(text, encoding="utf-8")
            done = run("batch", directory / "m.csv", "--out", directory / "b")
            self.assertEqual(done.returncode, 2, text)
            self.assertIn(message, done.stderr)
            self.assertFalse((directory / "b").exists())

    def test_usage(self):
        out = fresh_dir()
        for words, message in ((("--out", out), "which traces?"), ((out,), "--out DIR is missing"),
                               ((out, "--out", out / "b"), "no traces"), ((out / "tracs/", "--out", out / "b"), 'tracs"'),
                               ((out / "x.sqlite", out / "y.sqlite", "--out", out / "b"), "nor any other"), (("no*thing", "--out", out / "b"), "no file matches"),
                               ((trace("minimal"), "--out", out / "b", "--retry", "refused"), "needs --resume"),
                               ((trace("minimal"), "--out", out / "b", "--rules", out / "x"), "cannot open"),
                               (("--run-shard", "1/2", "--out", out / "b"), "holds no batch"),
                               (("--run-shard", "1", "--out", out / "b"), "expected I/N")):
            done = run("batch", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)
            self.assertFalse((out / "b").exists())

    def test_reasons_on_the_terminal(self):
        """Of what was not analyzed, the first ten; a mistyped name beside others is one of them."""
        traces = make_traces(fresh_dir("in"), 1)
        for number in range(11):
            (traces / f"bad-{number}.sqlite").write_text("no database")
        printed = batch(traces, traces / "gone.sqlite", "--out", fresh_dir() / "b", expect=4).stdout
        self.assertEqual(len(re.findall(r"^  refused bad-\d+: .*not an SQLite database", printed, re.M)), 10)
        self.assertIn("  ... and 2 more, in index.csv\n", printed)

    def test_unreadable_directories(self):
        """A directory that may not be looked into costs itself, is counted, and makes the status 4."""
        traces = make_traces(fresh_dir("in"), 2)
        for path in (support.scratch(), traces, traces.parent):
            path.chmod(0o755)
        (traces / "closed").mkdir(mode=0)
        out = fresh_dir() / "b"
        out.parent.chmod(0o777)
        user = {"user": 65534} if os.geteuid() == 0 else {}
        try:
            subprocess.run([PROGRAM, "--version"], check=True, capture_output=True, **user)
        except PermissionError:
            self.skipTest("the program lies where nobody else may run it")
        printed = batch(traces, "--out", out, expect=4, **user).stdout
        self.assertIn("2 traces: 2 analyzed\n", printed)
        self.assertRegex(printed, r'  1 directory left out: cannot read the directory ".*/closed": Permission denied\n')
        self.assertIn("closed", batch(traces, "--out", out.parent / "c", "--dry-run", **user).stdout)

    def test_traces_without_gpu_activity_say_so(self):
        out = fresh_dir() / "b"
        done = batch(trace("nvtx-only"), trace("healthy"), "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 traces: 2 analyzed (1 without GPU activity)", done.stdout)
        statuses = {row["run_id"]: row["status"] for row in csv.DictReader((out / "index.csv").open(encoding="utf-8"))}
        self.assertEqual(statuses, {"healthy": "ok", "nvtx-only": "no-gpu"})

    def test_nothing_to_resume(self):
        """A batch that was killed before its manifest stood, or lost it, is none of 0 traces; neither is a mistyped directory."""
        out = fresh_dir() / "b"
        batch(make_traces(fresh_dir("in"), 2), "--out", out)
        before = index_of(out)
        (out / "manifest.csv").unlink()
        refused = batch("--resume", "--out", out, expect=2).stderr
        self.assertIn("no manifest.csv", refused)
        self.assertIn("INPUT --resume", refused)
        self.assertEqual(index_of(out), before)
        self.assertFalse((out / "manifest.csv").exists())
        for where in (out.parent / "mistyped", fresh_dir("nothing")):
            there = where.exists()
            self.assertIn("holds no batch", batch("--resume", "--out", where, expect=2).stderr)
            self.assertEqual(where.exists(), there)

    def test_quiet_says_what_failed(self):
        traces = make_traces(fresh_dir("in"), 1)
        (traces / "bad.sqlite").write_bytes(b"x" * 5000)
        done = batch(traces, "--out", fresh_dir() / "b", "-q", expect=4)
        self.assertEqual((done.stdout, done.stderr), ("", "nsys-ai: 1 of 2 traces were not analyzed; index.csv says why\n"))

    def test_hostile_texts_stay_texts(self):
        """Names of files, labels and names inside traces, in the page, in Markdown and in CSV."""
        evil = "</script><script>alert(1)</script>"
        directory = fresh_dir("in")
        shutil.copy(trace("hostile"), directory / "h.sqlite")
        manifest = directory / "list.csv"
        manifest.write_text(f'path,group,label\nh.sqlite,"{evil}","{evil}"\n{evil},::error::x,"|"\n', encoding="utf-8")
        out = fresh_dir() / "b"
        batch(manifest, "--out", out, expect=4)
        page = (out / "index.html").read_text(encoding="utf-8")
        self.assertEqual(page.count("<script"), 3)  # one of data, the filters, what stands above each page
        self.assertEqual(page.count("</script"), 3)
        self.assertNotIn("<script>alert", page)
        self.assertNotIn("<script", (out / "batch.md").read_text(encoding="utf-8"))

    def test_page_shows_where_the_time_went(self):
        """A bar per trace, of the four metrics that add up; metrics that most traces lack are left out."""
        traces = fresh_dir("in")
        for name in ("copy-bound", "host-bound", "nvtx-mix"):
            shutil.copy(trace(name), traces / f"{name}.sqlite")
        out = fresh_dir() / "b"
        batch(traces, "--out", out)
        page = (out / "index.html").read_text(encoding="utf-8")
        names = ("gpu.compute.per_%", "gpu.exposed_comm.per_%", "gpu.exposed_copy.per_%", "gpu.idle.per_%")
        with contextlib.closing(sqlite3.connect(f"file:{out}/index.sqlite?mode=ro", uri=True)) as db:
            for name in ("copy-bound", "host-bound"):
                values = [db.execute("select value from metrics where run_id=? and metric like ?", (name, metric)).fetchone()[0] for metric in names]
                row = re.search(f'<tr data-id="{name}".*?</tr>', page, re.S)[0]
                widths = [float(width) for width in re.findall(r'<rect x="[\d.]+" width="([\d.]+)"', row)]
                for width, share in zip(widths, [100 * value / sum(values) for value in values if value > 0], strict=True):
                    self.assertAlmostEqual(width, share, delta=0.01)
            alone = {metric for metric, runs in db.execute("select metric, count(distinct run_id) from metrics where value is not null group by metric") if runs == 1}
        shown = set(re.findall(r"<tr><td><code>([^<]+)</code></td>", page))
        self.assertTrue(alone)
        self.assertEqual(shown & alone, set())
        self.assertIn("step.time.median" if "step.time.median" not in alone else "gpu.busy", shown)

    def test_savings_are_compared_as_shares_of_the_capture(self):
        """Of the active time the first one has the largest share, of the capture the smallest: a call lasts long behind its work."""
        traces = fresh_dir("in")
        last = "update CUPTI_ACTIVITY_KIND_RUNTIME set end = end + 400000000 where end = (select max(end) from CUPTI_ACTIVITY_KIND_RUNTIME)"
        shutil.copy(edited("copy-bound", last), traces / "a-late.sqlite")
        for name in ("host-bound", "cpu-work"):
            shutil.copy(trace(name), traces / f"{name}.sqlite")
        out = fresh_dir() / "b"
        batch(traces, "--out", out)
        order = ["cpu-work", "host-bound", "a-late"]
        found, page, markdown = rows(out), *((out / name).read_text(encoding="utf-8") for name in ("index.html", "batch.md"))
        self.assertEqual(re.findall('<tr data-id="([^"]*)"', page), order)
        self.assertEqual(re.findall(r"^\| (\S+) \| high \|", markdown, re.M)[:3], order)
        shares = [float(found[name]["pct_of_capture"]) for name in order]
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertEqual(found["cpu-work"]["pct_of_active"], "")  # that is of the capture
        self.assertGreater(float(found["a-late"]["pct_of_active"]), max(shares))
        self.assertIn("Saving (of the capture)", markdown)
        self.assertRegex(markdown, r"a-late \| high \| [^|]* \| 233\.2 ms \(36\.\d %\) \|")
        self.assertRegex(page, r'<td class="number" data-order="36\.\d+">233\.2 ms \(36\.\d %\)</td>')
        for name in order:
            for finding in json.loads((out / "items" / name / "report.json").read_text(encoding="utf-8"))["findings"]:
                if finding["pct_of_active"] is None and finding["saving_ns"] is not None:
                    self.assertEqual(finding["id"], "host-set-up-dominates")
                if finding["id"] == found[name]["worst_rule"]:
                    self.assertAlmostEqual(finding["pct_of_capture"], float(found[name]["pct_of_capture"]), places=3)

    def test_findings_are_a_share_of_what_was_analyzed(self):
        traces = make_traces(fresh_dir("in"), 2)
        for name in ("x", "y"):
            (traces / f"{name}.sqlite").write_text("hello", encoding="ascii")
        out = fresh_dir() / "b"
        batch(traces, "--out", out, expect=4)
        markdown = (out / "batch.md").read_text(encoding="utf-8")
        self.assertIn("| Share of 2 analyzed |", markdown)
        self.assertIn("share of 2 analyzed", (out / "index.html").read_text(encoding="utf-8"))
        shares = set(re.findall(r"^\| [\w-]+ \| (?:high|medium|low|info) \| 2 \| ([^|]*) \|", markdown, re.M))
        self.assertEqual(shares, {"100.0 %"})

    def test_what_is_no_goal_has_no_worst(self):
        """A GPU that copies all the time is the busiest: that is not better, and no run is the worst by it."""
        traces = fresh_dir("in")
        for name in ("copy-bound", "healthy", "host-bound"):
            shutil.copy(trace(name), traces / f"{name}.sqlite")
        out = fresh_dir() / "b"
        batch(traces, "--out", out)
        page = (out / "index.html").read_text(encoding="utf-8")
        found = {m[0]: m[1:] for m in re.findall(r"<tr><td><code>([^<]+)</code></td><td[^>]*>([^<]*)</td>.*<td>([^<]*)</td></tr>", page)}
        self.assertEqual(found["gpu.busy"], ("", ""))
        self.assertEqual(found["gpu.idle.per_step"][0], "lower")
        markdown, = re.findall(r"\| gpu\.busy \|(.*)", (out / "batch.md").read_text(encoding="utf-8"))
        self.assertEqual([markdown.split("|")[i].strip() for i in (0, 6)], ["", ""])

    def test_page_allows_its_own_script_only(self):
        """The hashes of the policy are those of templates/many/page.* and shell.js."""
        import base64
        import hashlib
        traces = make_traces(fresh_dir("in"), 2)
        out = fresh_dir() / "b"
        batch(traces, "--out", out)
        page = (out / "index.html").read_text(encoding="utf-8")
        for element, directive, count in (("style", "style-src", 1), ("script", "script-src", 2)):
            bodies = re.findall(f"<{element}>(.*?)</{element}>", page, re.S)
            self.assertEqual(len(bodies), count)
            for body in bodies:
                digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
                self.assertRegex(page.replace("&#43;", "+"), rf"{directive} [^;]*'sha256-{re.escape(digest)}'", f"write {digest} to the .sha256 in templates/many")
        self.assertNotIn("http", re.sub(r"<meta[^>]*>", "", page))


class Running(unittest.TestCase):
    def test_resume_does_what_is_missing(self):
        traces = make_traces(fresh_dir("in"), 4)
        (traces / "bad.sqlite").write_bytes(b"x" * 5000)
        out = fresh_dir() / "b"
        batch(traces, "--out", out, expect=4)
        first = index_of(out)
        self.assertIn("holds a batch already", run("batch", traces, "--out", out).stderr)
        stamps = {p.name: p.stat().st_mtime_ns for p in (out / "status").iterdir()}
        batch("--resume", "--out", out, expect=4)
        self.assertEqual(stamps, {p.name: p.stat().st_mtime_ns for p in (out / "status").iterdir()})
        (out / "status" / "minimal-2.json").unlink()
        (out / "status" / "minimal-3.json").write_text("{not json", encoding="ascii")
        batch("--rollup", "--out", out, expect=4)
        self.assertEqual({i for i, r in rows(out).items() if r["status"] == "missing"}, {"minimal-2", "minimal-3"})
        done = batch("--resume", "--out", out, "-v", expect=4)
        self.assertEqual(len(re.findall(": ok,", done.stderr)), 2, done.stderr)
        self.assertEqual(index_of(out), first)
        batch("--resume", "--retry", "refused", "--out", out, expect=4)
        after = {p.name: p.stat().st_mtime_ns for p in (out / "status").iterdir()}
        self.assertEqual({n for n in after if after[n] != stamps[n]}, {"bad.json", "minimal-2.json", "minimal-3.json"})

    def test_changed_input_and_changed_rules_are_done_again(self):
        traces = make_traces(fresh_dir("in"), 3)
        rules = traces / "rules.yaml"
        rules.write_text("rules:\n  - id: no-nvtx\n    disabled: true\n", encoding="ascii")
        out = fresh_dir() / "b"
        batch(traces, "--out", out, "--rules", rules)
        (traces / "minimal-1.sqlite").unlink()
        shutil.copy(trace("cold"), traces / "minimal-1.sqlite")
        self.assertEqual(len(re.findall(": ok,", batch("--resume", "--out", out, "-v").stderr)), 1)
        self.assertEqual(rows(out)["minimal-1"]["input_bytes"], str(trace("cold").stat().st_size))
        rules.write_text("rules: []\n", encoding="ascii")
        self.assertEqual(len(re.findall(": ok,", batch("--resume", "--out", out, "-v").stderr)), 3)
        self.assertIn("0 of 3 traces would be analyzed", batch("--resume", "--out", out, "--dry-run").stdout)

    def test_what_changed_in_the_wal_alone_is_done_again(self):
        traces = make_traces(fresh_dir("in"), 1)
        shutil.copy(trace("minimal"), traces / "w.sqlite")
        (traces / "w.sqlite").chmod(0o644)
        out = fresh_dir() / "b"
        with writing_through_wal(traces / "w.sqlite") as db:
            for number in range(2):
                want, before = make_longer(db), (traces / "w.sqlite").stat()
                done = batch(*([] if number else [traces]), "--resume", "--out", out, "-v")
                self.assertEqual(len(re.findall(": ok,", done.stderr)), 1 if number else 2)
                self.assertEqual(kernel_time(out, "w"), want)
                self.assertEqual((traces / "w.sqlite").stat().st_mtime_ns, before.st_mtime_ns)
            self.assertIn("0 of 2 traces would be analyzed", batch("--resume", "--out", out, "--dry-run").stdout)

    def test_statuses_of_earlier_versions(self):
        """They do not say what lay beside the trace; most often it was nothing."""
        traces = make_traces(fresh_dir("in"), 1)
        out = fresh_dir() / "b"
        batch(traces, "--out", out)
        status = out / "status" / "minimal-0.json"
        known = json.loads(status.read_text(encoding="utf-8"))
        del known["beside"]
        status.write_text(json.dumps(known), encoding="utf-8")
        self.assertIn("0 of 1 traces would be analyzed", batch("--resume", "--out", out, "--dry-run").stdout)
        batch("--rollup", "--out", out)

    def test_a_run_that_is_gone_is_done_again(self):
        """The status says that it was analyzed, but what the index is made of cannot be read."""
        traces = make_traces(fresh_dir("in"), 5)
        out = fresh_dir() / "b"
        batch(traces, "--out", out)
        first = index_of(out)
        shutil.rmtree(out / "items/minimal-1")
        (out / "items/minimal-2/stages/manifest.json").write_text("{", encoding="ascii")
        support.flip_table(out / "items/minimal-3", "kernels")
        batch("--rollup", "--out", out, expect=4)
        gone = {i for i, r in rows(out).items() if r["status"] == "missing"}
        self.assertEqual(gone, {"minimal-1", "minimal-2", "minimal-3"})
        self.assertIn("3 of 5 traces would be analyzed", batch("--resume", "--out", out, "--dry-run").stdout)
        done = batch("--resume", "--out", out, "-v")
        self.assertEqual(set(re.findall("(minimal-.): ok,", done.stderr)), gone)
        self.assertEqual(index_of(out), first)

    def test_dry_run_writes_nothing(self):
        out = fresh_dir() / "b"
        done = batch(make_traces(fresh_dir("in"), 3), "--out", out, "--dry-run")
        self.assertIn("3 of 3 traces would be analyzed", done.stdout)
        self.assertFalse(out.exists())

    def test_time_limit(self):
        """What hangs is ended. A FIFO in the place of nsys hangs well."""
        directory = fresh_dir("hang")
        nsys = directory / "nsys"
        nsys.write_text("#!/bin/sh\nsleep 1000\n", encoding="ascii")
        nsys.chmod(0o755)
        traces = make_traces(directory / "in", 2)
        (traces / "stuck.nsys-rep").write_bytes(b"x")
        out = directory / "b"
        start = time.monotonic()
        batch(traces, "--out", out, "--time-limit", 2, "-j1", expect=4, env={"PATH": f"{directory}:{os.environ['PATH']}"})
        self.assertLess(time.monotonic() - start, 60)
        found = rows(out)
        self.assertEqual(found["stuck"]["status"], "timeout")
        self.assertIn("--time-limit", found["stuck"]["error"])
        self.assertEqual([found[f"minimal-{i}"]["status"] for i in range(2)], ["ok", "ok"])

    @support.unsanitized("the limit is on memory that the sanitizer takes")
    def test_memory_limit(self):
        traces = make_traces(fresh_dir("in"), 1)
        shutil.copy(trace("training"), traces / "large.sqlite")
        out = fresh_dir() / "b"
        batch(traces, "--out", out, "--memory-limit", "1M", expect=4)
        found = rows(out)
        self.assertEqual((found["large"]["status"], found["large"]["exit_code"]), ("failed", "6"))
        batch("--resume", "--out", out, "--memory-limit", "4G")

    def test_a_crash_costs_one_item(self):
        traces = make_traces(fresh_dir("in"), 6)
        out = fresh_dir() / "b"
        before = fresh_dir() / "b"
        batch(traces, "--out", before)
        process = subprocess.Popen([support.PROGRAM, "batch", str(traces), "--out", str(out), "-q", "-j2"],
                                   stdin=subprocess.DEVNULL)
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        killed = False
        while process.poll() is None and not killed:
            for child in children.read_text(encoding="ascii").split():
                try:
                    if b"analyze" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
                        os.kill(int(child), 11)
                        killed = True
                        break
                except OSError:
                    pass
        process.wait()
        self.assertTrue(killed)
        self.assertIn(process.returncode, (0, 4))  # 0: it was too late for the child
        if process.returncode == 4:
            crashed = [r for r in rows(out).values() if r["status"] == "crashed"]
            self.assertEqual(len(crashed), 1)
            self.assertIn("signal 11", crashed[0]["error"])
        batch("--resume", "--out", out)
        self.assertEqual(index_of(out), index_of(before))

    @support.tier("ci")
    def test_killed_at_random(self):
        rounds = 8 * int(os.environ.get("NAI_TEST_ROUNDS", "1"))
        chance = random.Random(20260101)
        traces = make_traces(fresh_dir("in"), 12)
        shutil.copy(trace("cold"), traces / "z.sqlite")
        (traces / "bad.sqlite").write_bytes(b"x" * 5000)
        quiet = fresh_dir() / "b"
        batch(traces, "--out", quiet, expect=4)
        out = disturb(traces, rounds, chance, 0.25)
        batch(traces, "--resume", "--out", out, expect=4)
        self.assertEqual(index_of(out), index_of(quiet))
        left = [p for p in out.rglob("*") if p.name.startswith(".") and ".nsys-ai-" in p.name]
        self.assertEqual(left, [])

    def test_two_rollups_at_once(self):
        traces = make_traces(fresh_dir("in"), 4)
        out = fresh_dir() / "b"
        batch(traces, "--out", out)
        first = index_of(out)
        words = [support.PROGRAM, "batch", "--rollup", "-q", "--out", str(out)]
        for process in [subprocess.Popen(words) for _ in range(6)]:
            self.assertEqual(process.wait(), 0)
        self.assertEqual(index_of(out), first)

    def test_scratch(self):
        traces = make_traces(fresh_dir("in"), 3)
        (traces / "bad.sqlite").write_bytes(b"x" * 5000)
        there, out, plain = fresh_dir("scratch"), fresh_dir() / "b", fresh_dir() / "b"
        batch(traces, "--out", out, "--scratch", there, expect=4)
        batch(traces, "--out", plain, expect=4)
        self.assertEqual(list(there.iterdir()), [])
        for name in ("index.csv", "index.html"):  # the reason of a refusal names the copy
            strip = lambda path: re.sub(rb"(/[^ &\"]*/)?bad.sqlite", b"", (path / name).read_bytes())
            self.assertEqual(strip(out), strip(plain))
        self.assertEqual((out / "items/minimal-1/report.json").read_bytes(), (plain / "items/minimal-1/report.json").read_bytes())

    def test_scratch_with_files_beside_the_trace(self):
        """A trace in two files is read where it is: its WAL counts, and a change that was not finished is refused."""
        traces, there = make_traces(fresh_dir("in"), 1), fresh_dir("scratch")
        shutil.copy(trace("minimal"), traces / "w.sqlite")
        shutil.copy(trace("minimal"), traces / "hot.sqlite")
        (traces / "w.sqlite").chmod(0o644)
        (traces / "hot.sqlite-journal").write_bytes(bytes.fromhex("d9d505f920a163d7") + bytes(504))
        out, plain = fresh_dir() / "b", fresh_dir() / "b"
        with writing_through_wal(traces / "w.sqlite") as db:
            want = make_longer(db)
            batch(traces, "--out", plain, expect=4)
            batch(traces, "--out", out, "--scratch", there, expect=4)
        self.assertEqual(list(there.iterdir()), [])
        self.assertEqual(rows(out), rows(plain))
        self.assertEqual(rows(out)["hot"]["status"], "refused")
        self.assertEqual(kernel_time(out, "w"), want)

    @support.tier("ci")
    @unittest.skipUnless(shutil.which("strace"), "no strace")
    @support.unsanitized("LeakSanitizer does not work under strace")
    def test_no_locks(self):
        """The batch's own files appear by renaming; a file system without locks will do, and nobody waits for one."""
        traces = make_traces(fresh_dir("in"), 2)
        out, log = fresh_dir() / "b", fresh_dir() / "log"
        batch(traces, "--out", out)
        subprocess.run(["strace", "-f", "-o", str(log), "-e", "trace=flock,fcntl,rename", "-e", "inject=flock:error=ENOLCK", support.PROGRAM, "batch", "--rollup",
                        "-q", "--out", str(out)], check=True, timeout=support.TIMEOUT_S)
        text = log.read_text(encoding="utf-8", errors="replace")
        self.assertNotRegex(text, r"F_SETLK|F_OFD_SETLK")
        self.assertEqual(re.findall(r"flock\([^)]*\)", text), re.findall(r"flock\([^)]*LOCK_NB\)", text))
        self.assertEqual(len(re.findall(r"rename\(", text)), len(INDEX))


class Shards(unittest.TestCase):
    def plan(self, traces, shards):
        out = fresh_dir() / "b"
        done = batch(traces, "--out", out, "--engine", "print", "--shards", shards)
        return out, done.stdout

    def test_tasks_together_are_the_batch(self):
        traces = make_traces(fresh_dir("in"), 7)
        (traces / "bad.sqlite").write_bytes(b"x" * 5000)
        plain = fresh_dir() / "b"
        batch(traces, "--out", plain, expect=4)
        out, _ = self.plan(traces, 3)
        with open(out / "shards.csv", encoding="ascii", newline="") as file:
            shard = {row["id"]: int(row["shard"]) for row in csv.DictReader(file)}
        self.assertEqual(set(shard), set(rows(plain)))
        self.assertEqual(set(shard.values()), {0, 1, 2})
        batch("--run-shard", "1/3", "--out", out, "-q")
        self.assertEqual({p.stem for p in (out / "status").iterdir()}, {i for i, s in shard.items() if s == 1})
        batch("--rollup", "--out", out, expect=4)
        self.assertEqual({i for i, r in rows(out).items() if r["status"] == "missing"}, {i for i, s in shard.items() if s != 1})
        for task in (2, 0, 1, 0):  # in any order, also twice
            batch("--run-shard", f"{task}/3", "--out", out, "-q")
        batch("--rollup", "--out", out, expect=4)
        self.assertEqual(index_of(out), index_of(plain))
        self.assertIn("tasks 0 to 2 of 3", run("batch", "--run-shard", "3/4", "--out", out).stderr)

    def test_printed_lines_run(self):
        traces = make_traces(fresh_dir("in' \"$x"), 4)
        out, text = self.plan(traces, 2)
        lines = [line for line in text.splitlines() if line.startswith("seq ") and "xargs" in line] + [text.splitlines()[-1]]
        for line in lines:
            subprocess.run(["sh", "-c", line], check=True, timeout=support.TIMEOUT_S)
        self.assertEqual({row["status"] for row in rows(out).values()}, {"ok"})

    def test_largest_first_to_the_emptiest(self):
        """Against a plain implementation of the same words."""
        directory = fresh_dir("in")
        sizes = [random.Random(5).randrange(1, 40) * 100000 for _ in range(40)]
        for number, size in enumerate(sizes):
            with open(directory / f"t{number}.sqlite", "wb") as file:
                file.truncate(size)
        out, _ = self.plan(directory, 6)
        load, expected = [0] * 6, {}
        for number in sorted(range(40), key=lambda n: (-sizes[n], n)):
            task = load.index(min(load))
            expected[f"t{number}"] = task
            load[task] += sizes[number] + (1 << 20)
        with open(out / "shards.csv", encoding="ascii", newline="") as file:
            self.assertEqual({row["id"]: int(row["shard"]) for row in csv.DictReader(file)}, expected)


class Submitting(unittest.TestCase):
    """What sbatch is asked for, by an sbatch that only says so. integration.slurm has the real one."""

    def submit(self, sizes, *options, umask=0o022):
        work = fresh_dir()
        (work / "bin").mkdir()
        (work / "in").mkdir()
        for name, text in (("scontrol", "echo 'MaxArraySize = 1001'"), ("sbatch", f"for w; do echo \"$w\"; done >> {work}/words; echo 42")):
            (work / "bin" / name).write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
            (work / "bin" / name).chmod(0o755)
        for number, size in enumerate(sizes):
            (work / "in" / f"{number}.sqlite").write_bytes(b"x" * size)
        done = subprocess.run([support.PROGRAM, "batch", work / "in", "--out", work / "out", "--engine", "slurm", *map(str, options)],
                              capture_output=True, encoding="utf-8", timeout=support.TIMEOUT_S, umask=umask, check=False,
                              env={**os.environ, "PATH": f"{work / 'bin'}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return work / "out", (work / "words").read_text(encoding="utf-8").splitlines()

    def test_time_for_the_fullest_task(self):
        """Tasks have as many bytes each, not as many traces; those of a task run -j at a time."""
        for jobs in (1, 4):
            out, words = self.submit([40 << 20] + [1000] * 30, "--shards", 2, "--time-limit", 600, "-j", jobs)
            with open(out / "shards.csv", encoding="utf-8", newline="") as file:
                tasks = [row["shard"] for row in csv.DictReader(file)]
            fullest = max(tasks.count(task) for task in set(tasks))
            self.assertEqual(fullest, 30)
            minutes, = [int(w.split("=")[1]) for w in words if w.startswith("--time=")]
            self.assertGreaterEqual(minutes * 60, -(-fullest // jobs) * 600)
            self.assertLessEqual(minutes * 60, -(-fullest // jobs) * 660 + 120)

    def test_scripts_for_those_whom_the_mask_lets(self):
        for umask in (0o022, 0o077, 0o027):
            out, _ = self.submit([1000, 1000], umask=umask)
            for path in out.rglob("*"):
                self.assertEqual(path.stat().st_mode & umask, 0, path)
            for name in ("shard.sh", "rollup.sh"):
                self.assertEqual((out / name).stat().st_mode & 0o777, 0o777 & ~umask & ~0o022, name)


class Index(unittest.TestCase):
    def test_numbers_are_those_of_the_reports(self):
        traces = fresh_dir("in")
        for scenario in ("training", "host-bound", "cold"):
            shutil.copy(trace(scenario), traces / f"{scenario}.sqlite")
        out = fresh_dir() / "b"
        batch(traces, "--out", out)
        db = sqlite3.connect(f"file:{out}/index.sqlite?mode=ro", uri=True)
        self.addCleanup(db.close)
        self.assertEqual(db.execute("pragma integrity_check").fetchone(), ("ok",))
        for scenario in ("training", "host-bound", "cold"):
            one = support.report(support.artifacts(trace(scenario)))
            got = db.execute("select rule, severity, title from findings where run_id=? order by finding", (scenario,)).fetchall()
            self.assertEqual(got, [(f["id"], f["severity"], f["title"]) for f in one.json["findings"]])
            worst = min(one.json["findings"], key=lambda f: "high medium low info".split().index(f["severity"]))
            self.assertEqual(db.execute("select severity, worst_rule from runs where run_id=?", (scenario,)).fetchone(),
                             (worst["severity"], worst["id"]))
            got = dict(db.execute("select metric, value from metrics where run_id=?", (scenario,)))
            want = {row["metric"]: float(row["value"]) for row in one.rows("metrics") if row["value"] is not None}
            self.assertEqual(set(got), set(want))
            for name, value in want.items():
                self.assertAlmostEqual(got[name], value, delta=abs(value) * 1e-6 + 1e-3)
            time_ns = {}
            for row in one.rows("kernels"):
                time_ns[row["kernel_name"]] = time_ns.get(row["kernel_name"], 0) + support.ns_of_ms(row["total_time_ms"])
            top = dict(sorted(time_ns.items(), key=lambda item: (-item[1], item[0]))[:50])
            self.assertEqual(dict(db.execute("select name, total_time_ns from kernels where run_id=?", (scenario,))), top)


if __name__ == "__main__":
    support.main()
