"""Same trace and options, same bytes; what an earlier run left is reused or, when it cannot be trusted, rebuilt."""
import contextlib
import json
import os
import random
import re
import shutil
import sqlite3
import unittest

import support
from support import SHARED, analyze, artifacts, edited, fresh_dir, run, trace, tree

CASES = support.by_tier(("inference", "graphs-node", "hostile", "empty"),
                        ("inference", "training", "host-bound", "graphs-node", "nvtx-mix", "hostile", "hostile-values", "shared-gpu", "empty"))
MANIFEST = "stages/manifest.json"
STAGES = ("probe", "extract", "analyze", "recommend", "timeline")


def without_readers(files):
    """The record of who read which table may differ by reader; nothing else may."""
    files = dict(files)
    for file, content in list(files.items()):
        for table, (_, offset, size, _) in support.tables_in(content).items():
            files.pop(file, None)
            if table != "readers":
                files[f"{file}: {table}"] = content[offset:offset + size]
    if MANIFEST in files:
        manifest = json.loads(files[MANIFEST])
        manifest.pop("readers")
        files[MANIFEST] = json.dumps(manifest).encode()
    return files


def traces():
    yield from (trace(scenario) for scenario in CASES)
    if (SHARED / "traces").is_dir():
        yield from sorted((SHARED / "traces").glob("*.sqlite"))


def reused_stages(stderr):
    return [match[1] for match in re.finditer(r"^nsys-ai: (\w+) .* ms  reused$", stderr, re.M)]


def rerun(path, out, *options):
    """Runs again with -v; the stages that were reused."""
    done = run("analyze", path, "-v", "--out", out, *options)
    if done.returncode:
        raise AssertionError(done.stderr)
    return reused_stages(done.stderr)


def shuffled(path, seed=1):
    """The same export, with the rows of every table in another order."""
    mixed = fresh_dir("shuffled") / path.name
    shutil.copyfile(path, mixed)
    order = random.Random(seed)
    with contextlib.closing(sqlite3.connect(mixed)) as db, db:
        db.create_function("shuffle", 0, lambda: order.getrandbits(62))
        for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall():
            db.execute(f'CREATE TEMP TABLE held AS SELECT * FROM "{name}" ORDER BY shuffle()')
            db.execute(f'DELETE FROM "{name}"')
            db.execute(f'INSERT INTO "{name}" SELECT * FROM held ORDER BY rowid')
            db.execute("DROP TABLE held")
    return mixed


class Case(unittest.TestCase):
    def assert_same(self, got, want, what):
        self.assertEqual(sorted(got), sorted(want), what)
        self.assertEqual([name for name in want if got[name] != want[name]], [], what)


class Determinism(Case):
    def test_threads_places_and_locale(self):
        for path in traces():
            base = tree(artifacts(path, "-j", "1"))
            self.assertIn("report.md", base)
            self.assert_same(tree(analyze(path, "-j", "2")), base, f"{path.name}: -j2")
            self.assert_same(tree(analyze(path, "-j", "7")), base, f"{path.name}: -j7")
            out = fresh_dir() / "deeper" / "down"
            odd = {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "TZ": "Pacific/Chatham", "HOME": "/nonexistent",
                   "TMPDIR": "/nonexistent", "COLUMNS": "20"}
            done = run("analyze", path, "-q", "-j", "2", "--out", out, env=odd)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assert_same(tree(out), base, f"{path.name}: other surroundings")
            here = path.parent
            out = fresh_dir() / "here"
            done = run("analyze", path.name, "-q", "-j", "1", "--out", out, cwd=here)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assert_same(tree(out), base, f"{path.name}: relative path")

    def test_readers_agree(self):
        for path in traces():
            base = without_readers(tree(artifacts(path, "-j", "1")))
            for reader in ("sqlite", "direct"):
                self.assert_same(without_readers(tree(analyze(path, "-j", "2", "--reader", reader))), base, f"{path.name}: {reader}")

    def test_readers_agree_on_what_is_in_no_row(self):
        """A domain that is only created: one reader cuts the rows into parts by their numbers, the other by pages."""
        path = edited("training", "update NVTX_EVENTS set rowid = rowid + 1000000000",
                      "insert into NVTX_EVENTS (rowid, start, eventType, globalTid, domainId, text) "
                      "select 1, min(start), 75, 1 << 24, 900, 'unused' from NVTX_EVENTS")
        one, other = (without_readers(tree(analyze(path, "-j", "4", "--reader", reader))) for reader in ("sqlite", "direct"))
        self.assert_same(one, other, "readers")

    @support.tier("ci")
    def test_row_order_does_not_matter(self):
        """Exporters promise none, of no table. The page alone is left out: it names ranges by their rows in the export."""
        scenarios = support.by_tier(CASES, (*support.SCENARIOS, *support.DIAGNOSIS, *support.PAIRS, "evidence"))
        paths = [trace(scenario) for scenario in scenarios]
        if (SHARED / "traces").is_dir():
            real = sorted((SHARED / "traces").rglob("*.sqlite"))
            paths += real if support.TIER == "soak" else real[:6]
        for path in paths:
            mixed = shuffled(path)
            sizes = (os.path.getsize(path), os.path.getsize(mixed))
            wanted, found = tree(analyze(path, "--no-stages")), tree(analyze(mixed, "--no-stages"))
            self.assertEqual(sorted(found), sorted(wanted), path.name)
            for name in wanted:
                if name.startswith("stages/") or name == "report.html":
                    continue
                # A file's size is part of the report, and shuffling may change it by a page.
                want = wanted[name].replace(str(sizes[0]).encode(), b"SIZE")
                self.assertEqual(found[name].replace(str(sizes[1]).encode(), b"SIZE"), want, f"{path.name}: {name}")

    def test_equal_calls_have_no_order(self):
        """Two processes whose longest calls begin and end together: the same one is told, whichever row comes first."""
        path = trace("two-processes")
        wanted = tree(artifacts(path))["tables/api_calls.csv"]
        for seed in (11, 13, 14):
            self.assertEqual(tree(analyze(shuffled(path, seed)))["tables/api_calls.csv"], wanted, seed)

    def test_no_absolute_paths(self):
        for path in traces():
            directory = str(path.parent).encode()
            for name, content in tree(artifacts(path, "-j", "1")).items():
                self.assertNotIn(directory, content, name)


class Reuse(Case):
    def start(self, scenario="training", *options):
        path = trace(scenario)
        out = fresh_dir("reuse") / "run"
        self.assertEqual(rerun(path, out, *options), [])
        return path, out, tree(out)

    def test_second_run_reuses_everything(self):
        for scenario in ("training", "hostile", "empty"):
            path, out, base = self.start(scenario)
            self.assertEqual(tuple(rerun(path, out)), STAGES)
            self.assert_same(tree(out), base, scenario)

    def test_changed_rules_rerun_recommend_only(self):
        path, out, base = self.start()
        rules = fresh_dir() / "mine.yaml"
        rules.write_text("rules:\n  - id: idle-host-code\n    disabled: true\n")
        options = ("--rules", rules)
        self.assertEqual(tuple(rerun(path, out, *options)), ("probe", "extract", "analyze", "timeline"))
        changed = tree(out)
        self.assert_same(tree(analyze(path, *options)), changed, "the same as from nothing")
        self.assertEqual(tuple(rerun(path, out)), ("probe", "extract", "analyze", "timeline"))
        self.assert_same(tree(out), base, "back again")

    def test_top_and_templates_rerun_render_only(self):
        path, out, _ = self.start()
        self.assertEqual(tuple(rerun(path, out, "--top", "3")), STAGES)
        self.assert_same(tree(out), tree(analyze(path, "--top", "3")), "--top")

    def test_analysis_options_keep_extract(self):
        path, out, _ = self.start()
        for options in (("--phase-map", "pytorch-ddp"), ("--no-nvtx-kernel-map",)):
            self.assertEqual(rerun(path, out, *options)[:2], ["probe", "extract"], options)
            self.assert_same(tree(out), tree(analyze(path, *options)), str(options))

    def test_trim_and_gpu_are_not_mixed_up(self):
        path, out, base = self.start()
        for options in (("--gpu", "1"), ("--trim", "1.01", "1.03"), ("--trim", "1.01", "1.04"), ("--gpu", "0", "--trim", "1.01", "1.04")):
            self.assertNotIn("extract", rerun(path, out, *options), options)
            self.assert_same(tree(out), tree(analyze(path, *options)), str(options))
        rerun(path, out)
        self.assert_same(tree(out), base, "plain again")

    def test_changed_trace_is_noticed(self):
        other = fresh_dir() / "training.sqlite"
        shutil.copy(trace("training"), other)
        out = fresh_dir() / "run"
        rerun(other, out)
        shutil.copy(trace("training", "--seed", "9"), other)
        self.assertEqual(rerun(other, out), [])
        self.assert_same(tree(out), tree(analyze(trace("training", "--seed", "9"))), "new content")

    def test_changed_large_trace_is_noticed(self):
        """More than is hashed whole each time; what is written through a WAL leaves the header as it was."""
        path = fresh_dir() / "large.sqlite"
        shutil.copy(trace("minimal"), path)
        path.chmod(0o644)
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE filler(x)")
            db.executemany("INSERT INTO filler VALUES (zeroblob(10000000))", [()] * 5)
            db.execute("CREATE TABLE moved AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL")
            db.execute("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL")
            db.execute("ALTER TABLE moved RENAME TO CUPTI_ACTIVITY_KIND_KERNEL")
            db.executemany("INSERT INTO filler VALUES (zeroblob(10000000))", [()] * 5)
            db.commit()
            db.execute("PRAGMA journal_mode=wal")
        out = analyze(path, out=fresh_dir() / "out")
        analyze(path, out=out)
        with path.open("rb") as file:
            header = file.read(100)
        for row in ("min(rowid)", "max(rowid)"):  # on different pages
            with contextlib.closing(sqlite3.connect(path)) as db:
                db.execute(f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = end + 500 WHERE rowid = (SELECT {row} FROM CUPTI_ACTIVITY_KIND_KERNEL)")
                db.commit()
            with path.open("rb") as file:
                self.assertEqual(file.read(100), header)
            self.assertEqual(tree(analyze(path, out=out)), tree(analyze(path)))

    @support.tier("ci")
    def test_damaged_stage_files_are_rebuilt_silently(self):
        path, out, base = self.start("nvtx-mix")
        chance = random.Random(1)
        for name in sorted(name for name in base if name.endswith(".ntab")):
            file, content = out / name, base[name]
            flipped = bytearray(content)
            places = [i for i, byte in enumerate(content) if byte]  # zeros may be padding, which nothing looks at
            for place in chance.sample(places, 3):
                flipped[place] ^= 1 << chance.randrange(8)
            for damage in (b"", content[:len(content) // 2], content + b"x", bytes(flipped), b"\0" * len(content)):
                if damage == content:
                    continue
                file.unlink()
                file.write_bytes(damage)
                # Event tables are looked at only when something is computed from them, so ask for that.
                run("analyze", path, "-q", "--out", out, "--no-nvtx-kernel-map")
                done = run("analyze", path, "-q", "--out", out)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), name)
                self.assert_same(tree(out), base, name)

    def test_a_damaged_table_costs_its_node(self):
        """The others of its file are taken over."""
        path, out, base = self.start("nvtx-mix")
        for table, node in (("kernels", "kernels"), ("findings", "findings"), ("kernel_events", "extract"), ("capture", "probe")):
            support.flip_table(out, table)
            done = run("analyze", path, "-v", "--out", out)
            ran = re.findall(r"(?m)^nsys-ai: +(\w+) +ran: (.*); [\d.]+ ms, \d+ rows?$", done.stderr)
            self.assertEqual(ran, [(node, f"table {table} is missing or damaged")], done.stderr)
            self.assert_same(tree(out), base, table)

    @support.tier("ci")
    def test_missing_stage_files_are_rebuilt(self):
        path, out, base = self.start("graphs")
        for name in sorted(base):
            if name.startswith("stages/") and name != MANIFEST:
                (out / name).unlink()
                done = run("analyze", path, "-q", "--out", out)
                self.assertEqual((done.returncode, done.stderr), (0, ""), name)
                self.assert_same(tree(out), base, name)

    def test_garbage_manifest(self):
        path, out, base = self.start("graphs")
        good = base[MANIFEST]
        wrong_keys = re.sub(rb'("(?:probe|extract|analyze)": ")[0-9a-f]{16}', rb"\g<1>0000000000000000", good)
        self.assertNotEqual(wrong_keys, good)
        for garbage in (b"", b"{", b"[]", b"null", b"\xff\xfe\0", b'{"format": 99}', b'{"format": 1, "stages": [], "files": {}}',
                        b"[" * 50000, good.replace(b'"format": 1', b'"format": 2'), good[:len(good) // 2], wrong_keys):
            (out / MANIFEST).write_bytes(garbage)
            done = run("analyze", path, "-q", "--out", out)
            self.assertEqual((done.returncode, done.stderr), (0, ""), garbage[:40])
            now = tree(out)
            self.assertEqual(support.Tree((n, c) for n, c in now.items() if n in base), base, garbage[:40])


if __name__ == "__main__":
    support.main()
