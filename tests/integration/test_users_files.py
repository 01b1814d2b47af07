"""Nothing of a user's is ever lost, by any command: every option that names something to write is pointed at what is not the
program's. test_outdir.py has the exchange of directories itself: kills at every step, mounts, other users."""
import contextlib
import fcntl
import hashlib
import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

import support
import test_store
from support import PROGRAM, analyze, artifacts, fresh_dir, run, trace, tree

MINE = b"written by hand\n"
MANIFEST = "stages/manifest.json"
# Another program's, of the same name, which lists what is not ours.
FOREIGN = json.dumps({"files": ["report.md", "notes.txt", "compare.md", "trend.json"], "version": 3}).encode()


def put(path, content=MINE):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def everything(directory):
    """All that lies below it, by content: files, links and empty directories, hidden ones too."""
    found = {}
    for where, directories, files in os.walk(directory):
        for name in directories + files:
            path = os.path.join(where, name)
            if os.path.islink(path):
                found[path] = os.readlink(path)
            elif name in files:
                with open(path, "rb") as file:
                    found[path] = hashlib.sha256(file.read()).hexdigest()
            elif not os.listdir(path):
                found[path] = "empty"
    return found


def still_there(directory, content=MINE):
    """Whether that content is in some file below the directory: under its name, or under one that says it was kept."""
    want = hashlib.sha256(content).hexdigest()
    return want in everything(directory).values()


class Case(unittest.TestCase):
    def setUp(self):
        self.base = fresh_dir()
        self.trace = self.base / "t.sqlite"
        shutil.copy(trace("minimal"), self.trace)

    def refused(self, *words, code=2, says="", **options):
        """The command fails and says why in its last line, and changes nothing."""
        before = everything(self.base)
        done = run(*words, **options)
        self.assertEqual(done.returncode, code, f"{words}: {done.stderr}")
        self.assertRegex(done.stderr, r"^(nsys-ai: [^\n]+\n)+$")
        self.assertIn(says, done.stderr.splitlines()[-1])
        self.assertEqual(everything(self.base), before, words)

    def ok(self, *words, **options):
        done = run(*words, **options)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
        return done

    def store(self):
        self.ok("store", "add", artifacts(trace("minimal")), "--store", self.base / "store", "-q")
        return self.base / "store"

    def runs_of(self, store):
        return sorted((store / "runs").glob("*/*/*"))


class Directories(Case):
    """--out DIR and its like, of every command that exchanges a directory."""

    def commands(self):
        one, two = artifacts(trace("minimal")), artifacts(trace("loop", "--seed", "1"))
        yield lambda out: ("analyze", self.trace, "-q", "--out", out)
        yield lambda out: ("analyze", self.trace, "-q", "--out", self.base / "elsewhere", "--stages", out)
        yield lambda out: ("open", self.trace, "--no-browser", "--out", out)
        yield lambda out: ("compare", one, two, "-q", "--out", out)
        yield lambda out: ("check", one, "--baseline", two, "-q", "--out", out)
        yield lambda out: ("ranks", artifacts(trace("collectives")), "-q", "--out", out)
        yield lambda out: ("batch", self.trace, "-q", "--out", out)
        store = self.store()
        yield lambda out: ("trend", "--store", store, "-q", "--out", out)

    def test_directory_with_files(self):
        for number, command in enumerate(self.commands()):
            out = self.base / f"photos{number}"
            for name in ("me.jpg", "report.md", "compare.md", "trend.json", "trend.html", "index.html", "manifest.csv", "items/x"):
                put(out / name)
            self.refused(*command(out), says="not from a")

    def test_directory_of_an_earlier_version(self):
        """Trends had no list of their files once: nobody knows whose these are, but what to do about it is said."""
        out = self.base / "trend"
        for name in ("trend.md", "trend.html", "trend.json"):
            put(out / name)
        self.refused("trend", "--store", self.store(), "-q", "--out", out, says="remove this one if nothing in it is needed")

    def test_manifest_of_another_program(self):
        for content in (FOREIGN, b"", b"{", b'{"format_major": 2, "files": ["notes.txt", "report.md"]}'):
            for number, command in enumerate(self.commands()):
                out = self.base / f"site{number}"
                for name in ("notes.txt", "report.md", "compare.md", "trend.json"):
                    put(out / name)
                put(out / MANIFEST, content)
                self.refused(*command(out), says="not from a")
                shutil.rmtree(out)

    def test_no_directory(self):
        os.mkfifo(self.base / "pipe")
        put(self.base / "file")
        (self.base / "link").symlink_to("file")
        for command in self.commands():
            for name in ("pipe", "file", "link"):
                self.assertIn(run(*command(self.base / name), timeout=60).returncode, (2, 5), command(name))
            self.assertEqual((self.base / "file").read_bytes(), MINE)
            self.assertTrue((self.base / "link").is_symlink() and (self.base / "pipe").is_fifo())

    def test_input_as_output(self):
        want = self.trace.read_bytes()
        hard, soft = self.base / "hard.sqlite", self.base / "soft.sqlite"
        os.link(self.trace, hard)
        soft.symlink_to(self.trace)
        for command in self.commands():
            for name in (self.trace, hard, soft):
                self.assertIn(run(*command(name)).returncode, (2, 5), command(name))
                self.assertEqual(self.trace.read_bytes(), want)
                self.assertTrue(hard.samefile(self.trace) and soft.is_symlink())

    def test_what_another_command_wrote(self):
        """A run, a comparison, ranks, a trend and a batch: none takes the place of another."""
        commands = list(self.commands())
        outs = [self.base / f"of{number}" for number in range(len(commands))]
        for command, out in zip(commands, outs):
            done = run(*command(out))
            self.assertIn(done.returncode, (0, 1, 7), done.stderr)
        kinds = [(out / "report.json").exists() * 1 + (out / "compare.json").exists() * 2 + (out / "ranks.json").exists() * 3 +
                 (out / "trend.json").exists() * 4 + (out / "batch.json").exists() * 5 for out in outs]
        self.assertEqual(sorted(set(kinds)), [0, 1, 2, 3, 4, 5])  # 0: tables alone, of --stages
        for command, kind in zip(commands, kinds):
            for out, other in zip(outs, kinds):
                if kind != other and (kind, other) != (1, 0):  # a run may begin where tables alone are
                    self.refused(*command(out))

    def test_users_files_stay_where_they_are(self):
        """In a directory that is the command's own; and its permissions stay."""
        for number, command in enumerate(self.commands()):
            out = self.base / f"own{number}"
            first = run(*command(out))
            self.assertIn(first.returncode, (0, 1, 7), first.stderr)
            again = command(out) + (("--resume",) if command(out)[0] == "batch" else ())
            put(out / "notes.txt")
            put(out / "stages" / "mine" if (out / "stages").exists() else out / "items" / "mine", MINE * 2)
            out.chmod(0o700)
            self.assertEqual(run(*again).returncode, first.returncode, again)
            self.assertEqual((out / "notes.txt").read_bytes(), MINE, again)
            self.assertTrue(still_there(out, MINE * 2), again)
            self.assertEqual(out.stat().st_mode & 0o777, 0o700, again)

    def test_names_that_nobody_can_read(self):
        """A run of a trace, or with options, of any name is one that is read again, and whose files are its own."""
        names = ("u\u200b", "a\u00ad", "f\ufeff", "d\x7f", "n\ufffe", "e\x1b[31m", os.fsdecode(b"i\xff"), "t\U000e0041")
        for number, name in enumerate(names):
            odd, out = f"{self.base}/{name}", self.base / f"run{number}"
            shutil.copy(self.trace, f"{odd}.sqlite")
            with open(f"{odd}.yaml", "w", encoding="ascii") as file:
                file.write("metrics: []\n")
            for _ in range(2):
                self.ok("analyze", f"{odd}.sqlite", "--metrics", f"{odd}.yaml", "--out", out, "-q")
                self.ok("summary", out)
            self.assertEqual(list(out.rglob("*.kept*")), [], ascii(name))
            self.assertTrue(json.loads((out / MANIFEST).read_bytes())["trace"].isprintable(), ascii(name))

    def test_a_forged_list_names_what_is_not_ours(self):
        out = analyze(self.trace, out=self.base / "out")
        put(out / "notes.txt")
        put(self.base / "precious")
        manifest = json.loads((out / MANIFEST).read_bytes())
        manifest["files"] += ["notes.txt", "../precious", "stages/../../precious", str(self.base / "precious")]
        (out / MANIFEST).write_text(json.dumps(manifest))
        analyze(self.trace, "--top", "3", out=out)
        self.assertEqual([(out / "notes.txt").read_bytes(), (self.base / "precious").read_bytes()], [MINE, MINE])

    def test_no_second_run_takes_tables_away(self):
        """--stages of a run that has its report there."""
        other = analyze(self.trace, out=self.base / "other")
        self.refused("analyze", self.trace, "-q", "--out", self.base / "new", "--stages", other, says="holds a report")


class Files(Case):
    """--out FILE of export, table and sql."""

    def setUp(self):
        super().setUp()
        self.run_dir = analyze(self.trace, out=self.base / "run")

    def commands(self, source):
        yield lambda out: ("export", "csv", source, "-q", "--out", out)
        yield lambda out: ("export", "perfetto", source, "-q", "--out", out)
        yield lambda out: ("table", source, "kernels", "--out", out)
        yield lambda out: ("sql", source, "select 1", "-q", "--out", out)
        yield lambda out: ("sql", source, "--reference", "-q", "--out", out)

    def test_trace(self):
        """Read or not, by any name, with what belongs to it."""
        hard, soft = self.base / "hard", self.base / "soft"
        os.link(self.trace, hard)
        soft.symlink_to(self.trace)
        other = self.base / "other.nsys-rep"
        put(other)
        with contextlib.closing(sqlite3.connect(self.trace)) as db:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("CREATE TABLE more (x)")
            db.commit()
            for source in (self.trace, self.run_dir):
                for command in self.commands(source):
                    for name in (self.trace, hard, soft, other):
                        self.refused(*command(name), says="--out")
            for command in self.commands(self.trace):
                self.refused(*command(self.base / "t.sqlite-wal"), says="what is read")

    def test_files_of_the_run(self):
        for command in self.commands(self.run_dir):
            for name in ("report.md", "stages/analyze.ntab", MANIFEST):
                self.refused(*command(self.run_dir / name), says="file of the run")
        table = self.run_dir / "stages/analyze.ntab"
        self.refused("table", table, "--out", table, says="what is read")

    def test_users_file_is_kept(self):
        for number, command in enumerate(self.commands(self.run_dir)):
            here = self.base / f"here{number}"
            put(here / "notes.txt").chmod(0o640)
            put(here / "notes.txt.kept", b"kept before")
            done = self.ok(*command(here / "notes.txt"))
            self.assertIn("notes.txt.kept.2", done.stderr)
            self.assertEqual(((here / "notes.txt.kept.2").read_bytes(), (here / "notes.txt.kept").read_bytes()), (MINE, b"kept before"))
            self.assertNotEqual((here / "notes.txt").read_bytes(), MINE)
            self.assertEqual((here / "notes.txt").stat().st_mode & 0o777, 0o640)
            try:
                os.getxattr(here / "notes.txt", "user.nsys-ai.written")
            except OSError:
                continue  # a file system where a file cannot say whose it is: then all are kept
            self.assertEqual(self.ok(*command(here / "notes.txt")).stderr, "")  # what it wrote, it replaces
            self.assertEqual(sorted(os.listdir(here)), ["notes.txt", "notes.txt.kept", "notes.txt.kept.2"])
            with open(here / "notes.txt", "ab") as file:  # the user's again
                file.write(MINE)
            changed = (here / "notes.txt").read_bytes()
            self.ok(*command(here / "notes.txt"))
            self.assertEqual((here / "notes.txt.kept.3").read_bytes(), changed)

    def test_failure_leaves_the_file(self):
        put(self.base / "notes.txt")
        self.refused("sql", self.run_dir, "select nothing", "--out", self.base / "notes.txt")
        self.refused("export", "csv", self.base / "nowhere", "--out", self.base / "notes.txt", code=3)
        full = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))}
        self.refused("export", "perfetto", self.run_dir, "-q", "--out", self.base / "notes.txt", code=5, **full)

    def test_links_stay(self):
        put(self.base / "notes.txt")
        (self.base / "link").symlink_to("notes.txt")
        self.ok("sql", self.run_dir, "select 1", "--out", self.base / "link")
        self.assertTrue((self.base / "link").is_symlink())
        self.assertEqual((self.base / "notes.txt.kept").read_bytes(), MINE)

    def test_killed(self):
        """At any time the user's content is in some file, and what was being made goes with the next command."""
        want, killed = 0, 0
        for n in range(30):
            put(self.base / "notes.txt", MINE + b"%d" % n)
            child = subprocess.Popen([PROGRAM, "export", "perfetto", self.run_dir, "-q", "--out", self.base / "notes.txt"],
                                     stderr=subprocess.DEVNULL)
            time.sleep(0.001 * n)
            child.kill()
            killed += child.wait() == -signal.SIGKILL
            self.assertTrue(still_there(self.base, MINE + b"%d" % n), n)
            want += 1
        self.assertGreater(killed, 0)


class Batches(Case):
    def test_scratch(self):
        """What the user put into an item stays when its report comes back from a machine's own disk."""
        scratch, out = self.base / "scratch", self.base / "batch"
        put(scratch / "mine/t.sqlite")
        put(scratch / "nsys-ai-batch.abcdef/mine")
        put(scratch / ".mine.0123456789abcdef.nsys-ai-tmp/mine")
        before = everything(scratch)
        self.ok("batch", self.trace, "-q", "--out", out, "--scratch", scratch)
        item = out / "items" / "t"
        put(item / "notes.txt")
        put(item / "tables/mine.csv", MINE * 2)
        item.chmod(0o750)
        os.utime(self.trace)
        self.ok("batch", "--resume", self.trace, "-q", "--out", out, "--scratch", scratch)
        self.assertEqual(((item / "notes.txt").read_bytes(), (item / "tables/mine.csv").read_bytes()), (MINE, MINE * 2))
        self.assertEqual(item.stat().st_mode & 0o777, 0o750)
        self.assertEqual(everything(scratch), before)

    def test_item_that_is_somebody_elses(self):
        for options in ((), ("--scratch", self.base)):
            out = self.base / f"batch{len(options)}"
            self.ok("batch", trace("training"), "-q", "--out", out)
            put(out / "items/t/notes.txt")
            put(out / "items/t/report.md")
            done = run("batch", "--resume", self.trace, "-q", "--out", out, *options)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn("t,", (out / "index.csv").read_text())
            self.assertEqual(tree(out / "items/t"), {"notes.txt": MINE, "report.md": MINE})

    def test_scratch_of_a_batch_that_fails(self):
        """Copies of traces do not stay on the disks of machines, however a batch ends."""
        scratch, out = self.base / "scratch", self.base / "batch"
        scratch.mkdir()
        self.ok("batch", self.trace, trace("training"), "-q", "--out", out)
        for status in (out / "status").iterdir():
            status.unlink()
            put(status / "in/the/way")
        done = run("batch", "--resume", "-q", "-j2", "--out", out, "--scratch", scratch)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual(everything(scratch), {})

    def test_logs_that_are_links(self):
        out = self.base / "batch"
        self.ok("batch", self.trace, "-q", "--out", out)
        soft, hard = put(self.base / "soft"), put(self.base / "hard")
        for target, link in ((soft, os.symlink), (hard, os.link)):
            (out / "logs/t.log").unlink(missing_ok=True)
            link(target, out / "logs/t.log")
            os.utime(self.trace)
            self.ok("batch", "--resume", self.trace, "-q", "--out", out)
        self.assertEqual((soft.read_bytes(), hard.read_bytes()), (MINE, MINE))

    def test_killed_at_its_beginning(self):
        """However far it came, it can be begun again or finished, and nothing else is needed."""
        for ms in range(0, 24, 2):
            out = self.base / f"b{ms}"
            child = subprocess.Popen([PROGRAM, "batch", self.trace, "-q", "--out", out], stderr=subprocess.DEVNULL)
            time.sleep(ms / 1000)
            child.kill()
            child.wait()
            done = run("batch", self.trace, "-q", "--out", out)
            if done.returncode == 2:
                self.assertIn("--resume", done.stderr)
                done = run("batch", "--resume", self.trace, "-q", "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([p.name for p in out.rglob(".*")], [])


class Stores(Case):
    def old_and_new(self):
        store = self.base / "store"
        for n, day in enumerate(("2020-01-01T00:00:00Z", "2026-01-01T00:00:00Z")):
            self.ok("store", "add", artifacts(trace("loop", "--seed", str(n + 1))), "--store", store, "--keep", "all", "--time", day, "-q")
        return store

    def test_prune_with_a_forged_list(self):
        store = self.old_and_new()
        precious = put(self.base / "precious.csv")
        for directory in self.runs_of(store):
            capture = directory / "captures/0"
            put(capture / "notes.txt")
            manifest = json.loads((capture / MANIFEST).read_bytes())
            up = os.path.relpath(precious, capture)
            manifest["files"] += ["notes.txt", up, "tables/../" + up, "stages/../" + up, str(precious)]
            (capture / MANIFEST).unlink()
            (capture / MANIFEST).write_text(json.dumps(manifest))
        self.assertIn("0 runs, ", self.ok("store", "prune", "--keep-days", "1", "--store", store).stdout)
        self.assertEqual(precious.read_bytes(), MINE)
        self.assertEqual([(d / "captures/0/notes.txt").read_bytes() for d in self.runs_of(store)], [MINE, MINE])

    def old_capture(self, store):
        where, = (d / "captures/0" for d in self.runs_of(store) if d.name.startswith("20200101"))
        return where

    def test_prune_of_stages_that_cannot_be_read(self):
        """What stays may be in them."""
        for place in (3, 200):
            store = self.old_and_new()
            stage = self.old_capture(store) / "stages/analyze.ntab"
            support.flip(stage, place)
            damaged = stage.read_bytes()
            self.ok("store", "prune", "--keep-days", "1", "--store", store)
            self.assertEqual(stage.read_bytes(), damaged)
            shutil.rmtree(store)

    def test_prune_with_a_stage_of_another_name(self):
        store = self.old_and_new()
        capture = self.old_capture(store)
        content = (capture / "stages/timeline.ntab").read_bytes()
        (capture / "mine.dat").write_bytes(content)
        manifest = json.loads((capture / MANIFEST).read_bytes())
        manifest["files"].append("mine.dat")
        (capture / MANIFEST).unlink()
        (capture / MANIFEST).write_text(json.dumps(manifest))
        self.assertIn("0 runs, ", self.ok("store", "prune", "--keep-days", "1", "--store", store).stdout)
        self.refused("store", "remove", capture.parent.parent.name, "--store", store, says="mine.dat")
        self.assertEqual((capture / "mine.dat").read_bytes(), content)

    def test_prune_of_a_capture_that_is_replaced(self):
        """By a link to a run of the user's own, after it was opened."""
        store = self.old_and_new()
        own = analyze(trace("loop", "--seed", "1"), out=self.base / "own")
        before, capture = tree(own), self.old_capture(store)
        swap = f"mv '{capture}' '{self.base}/away' && ln -s '{own}' '{capture}'"
        run("store", "prune", "--keep-days", "1", "--store", store,
            env={"LD_PRELOAD": support.shim(test_store.SHIM), "SHIM_AT": "openat", "SHIM_PATH": "analyze.ntab", "SHIM_DO": swap})
        self.assertTrue(capture.is_symlink())
        self.assertEqual(tree(own), before)

    def test_prune_with_forged_places(self):
        """A record that says it is somewhere else, a capture that is a link to a run of the user's own."""
        store = self.old_and_new()
        own = analyze(trace("loop", "--seed", "1"), out=self.base / "own")
        before = tree(own)
        old = next(d for d in self.runs_of(store) if "2020" in (d / "run.json").read_text() or "20200101" in d.name)
        shutil.rmtree(old / "captures/0")
        (old / "captures/0").symlink_to(own)
        run("store", "prune", "--keep-days", "1", "--store", store)
        self.assertEqual(tree(own), before)
        record = json.loads((old / "run.json").read_bytes())
        record.update(series=f"../../{os.path.relpath(own.parent, store)}", id="own")
        (old / "run.json").write_text(json.dumps(record))
        self.assertIn("run.json", self.ok("store", "prune", "--keep-days", "1", "--store", store).stderr)
        self.assertEqual(tree(own), before)

    def test_prune_with_baselines_that_cannot_be_read(self):
        """Nobody knows then which runs are to stay: all do."""
        store = self.old_and_new()
        old = next(d for d in self.runs_of(store) if "20200101" in d.name)
        self.ok("store", "baseline", "set", "b", old.name, "--store", store)
        where, aside = store / "baselines", self.base / "aside"

        def loop():
            where.symlink_to("baselines")

        def nowhere():  # a disk that is not there today
            where.symlink_to(self.base / "unmounted")

        def file():
            put(where)

        def damaged(content):
            shutil.copytree(aside, where)
            put(where / "b.json", content)

        where.rename(aside)
        kinds = [loop, nowhere, file] + [lambda content=content: damaged(content) for content in
                                         (b"", b"{", b"[]", b'{"format_major": 1, "runs": "x"}', b'{"format_major": 1, "reason": ""}')]
        for number, make in enumerate(kinds):
            make()
            for words in (("prune", "--keep-days", "1"), ("remove", old.name)):
                with self.subTest(number, words=words):
                    self.refused("store", *words, "--store", store, code=5 if number < 3 else 3, says="baselines")
            subprocess.run(["rm", "-r", where], check=True)
        aside.rename(where)
        self.assertIn("0 runs", self.ok("store", "prune", "--keep-days", "1", "--store", store).stdout)
        (where / "b.json").unlink()
        self.assertIn("1 run, ", self.ok("store", "prune", "--keep-days", "1", "--store", store).stdout)

    def test_records_of_another_place(self):
        """A record says where its run lies: it is believed where that is so, and no command goes anywhere else."""
        store = self.old_and_new()
        analyze(trace("loop", "--seed", "1"), out=self.base / "own/captures/0")
        put(self.base / "own/run.json", b"{}")
        one = self.runs_of(store)[0]
        name, kind = one.name, (one / "run.json").read_bytes()
        up = os.path.relpath(self.base, store / "runs")
        for change in ({"series": up, "id": "own"}, {"series": "../..", "id": "own"}, {"series": str(self.base), "id": "own"},
                       {"series": "default"}, {"id": "../" + name}, {"id": ""}, {"captures": -1}, {"captures": 10**6}):
            (one / "run.json").unlink()
            put(one / "run.json", json.dumps({**json.loads(kind), **change}).encode())
            before = everything(one), everything(self.base / "own")
            for words in (("prune", "--keep-days", "0"), ("index",), ("list",), ("add", artifacts(trace("minimal")))):
                with self.subTest(change, words=words):
                    said = self.ok("store", *words, "--store", store).stderr
                    self.assertEqual("run.json" in said, words[0] != "add", said)  # which reads no other run
                    self.assertEqual((everything(one), everything(self.base / "own")), before)
            with self.subTest(change):
                if change.get("id"):
                    self.refused("store", "remove", change["id"], "--store", store, says="no run")
                self.refused("check", artifacts(trace("minimal")), "--baseline", f"run:{one.name}", "--store", store, "--out",
                             self.base / "c", code=3, says="run.json")
        self.ok("store", "remove", name, "--store", store)  # by the place where it lies
        self.assertFalse(one.exists())
        self.assertEqual(everything(self.base / "own"), before[1])

    def test_prune_with_any_time(self):
        """Times that lie further apart than 63 bits of ns; the newest run stays."""
        store = self.old_and_new()
        old, new = sorted(self.runs_of(store), key=lambda d: d.name)
        for directory, utc in ((old, -(2**63) + 1), (new, 2**63 - 1)):
            record = json.loads((directory / "run.json").read_bytes())
            (directory / "run.json").write_text(json.dumps({**record, "utc_ns": utc}))
        self.ok("store", "index", "--store", store)
        done = self.ok("store", "prune", "--keep-days", "36500", "--store", store)
        self.assertRegex(done.stdout, rf"\A{old.name} .*\n1 run, ")
        self.assertFalse((old / "captures/0/report.md").exists())
        self.assertTrue((new / "captures/0/report.md").exists())

    def test_baseline_whose_file_has_too_long_a_name(self):
        """What is not written is not said to be."""
        self.ok("store", "add", artifacts(trace("minimal")), "--store", self.base / "store", "--id", "x", "-q")
        record, = (self.base / "store").glob("runs/*/*/x/run.json")
        deep = self.base
        while len(str(deep)) < 4000:
            deep /= "d" * min(200, 4000 - len(str(deep)) - 1)
        place = deep / record.parent.relative_to(self.base / "store")
        place.mkdir(parents=True)
        shutil.copy(record, place)
        shutil.copy(self.base / "store/store.json", deep)
        self.ok("store", "baseline", "set", "short", "x", "--store", ".", cwd=deep)
        self.assertEqual(self.ok("store", "baseline", "list", "--store", ".", cwd=deep).stdout, "short\n")
        done = run("store", "baseline", "set", "b" * 99, "x", "--store", ".", cwd=deep)
        self.assertEqual((done.returncode, "too long" in done.stderr), (2, True), done.stderr)

    def test_annotations_at_once(self):
        store = self.store()
        (name,) = (d.name for d in self.runs_of(store))
        words = [PROGRAM, "store", "annotate", name, "--kind", "environment", "--store", store, "--text"]
        children = [subprocess.Popen([*words, f"number {n}"], stderr=subprocess.PIPE) for n in range(12)]
        self.assertEqual([child.communicate()[1] for child in children], [b""] * 12)
        text = (store / "annotations.csv").read_text()
        self.assertEqual(sorted(int(line.rsplit(" ", 1)[1]) for line in text.splitlines()[1:]), list(range(12)))
        self.ok("store", "index", "--store", store)
        self.assertEqual((store / "index.csv").read_text().count("number"), 12)

    def test_annotations_written_by_hand(self):
        """Columns of the user's own, spaces, quotes, order, permissions and a link stay as they are."""
        store = self.store()
        (name,) = (d.name for d in self.runs_of(store))
        own = put(self.base / "mine.csv", f'who,"kind",text,run_id\r\n"A, B",ignore,"said ""so""",{name}'.encode())
        own.chmod(0o600)
        (store / "annotations.csv").symlink_to(own)
        self.ok("store", "annotate", name, "--kind", "environment", "--text", "new, driver", "--store", store)
        self.assertEqual(own.read_bytes(), f'who,"kind",text,run_id\r\n"A, B",ignore,"said ""so""",{name}\n'
                         f',environment,"new, driver",{name}\n'.encode())
        self.assertTrue((store / "annotations.csv").is_symlink())
        self.assertEqual(own.stat().st_mode & 0o777, 0o600)
        self.assertIn("new, driver", self.ok("store", "list", "--store", store).stdout)

    def test_annotations_without_a_column_for_text(self):
        store = self.store()
        (name,) = (d.name for d in self.runs_of(store))
        put(store / "annotations.csv", f"run_id,kind\n{name},ignore\n".encode())
        self.ok("store", "list", "--store", store)
        self.refused("store", "annotate", name, "--kind", "environment", "--text", "new", "--store", store, says="annotations.csv:1")

    def test_store_of_another_program(self):
        shop = self.base / "shop"
        for content in (b'{"shop": "shoes"}', b"[]", b"", b'{"format_major": 9}'):
            for name in ("index.html", "index.csv"):
                put(shop / name)
            put(shop / "store.json", content)
            for action in (("add", artifacts(trace("minimal"))), ("index",), ("prune",), ("list",)):
                self.refused("store", *action, "--store", shop, says="store")

    def test_hidden_directories_of_the_user(self):
        store = self.store()
        for where in (store, store / "runs", self.runs_of(store)[0].parent, store / "baselines"):
            put(where / ".mine.nsys-ai-tmp/notes.txt")
            put(where / ".mine.0123456789abcdef.nsys-ai-tmp/notes.txt")
            put(where / ".mine.nsys-ai-tmp2")
            for path in where.glob(".mine*"):
                os.utime(path, (0, 0))
        self.ok("store", "index", "--store", store)
        self.assertEqual(len([p for p in everything(store) if ".mine" in p]), 12)


class Temporary(Case):
    """What a command needs for a moment: removed when it ends, swept when it was killed, and nothing else ever."""

    def setUp(self):
        super().setUp()
        self.tmp = self.base / "tmp"
        self.tmp.mkdir()
        self.env = {"TMPDIR": str(self.tmp)}

    def commands(self):
        big = trace("training")
        yield "probe", big
        yield "sql", big, "select 1", "-q"
        yield "compare", big, big, "-q", "--out", self.base / "cmp"
        yield "table", big, "kernels"

    def test_removed(self):
        for words in self.commands():
            self.assertEqual(run(*words, env=self.env).returncode, 0, words)
            self.assertEqual(os.listdir(self.tmp), [], words)

    def test_killed_and_swept(self):
        left = 0
        for words in self.commands():
            child = subprocess.Popen([PROGRAM, *map(str, words)], env={**os.environ, **self.env}, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL, start_new_session=True)
            while child.poll() is None and not os.listdir(self.tmp):
                pass
            with contextlib.suppress(ProcessLookupError):  # it may have been faster
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            left += len(os.listdir(self.tmp))
        self.assertGreater(left, 0)
        put(self.tmp / "mine")
        put(self.tmp / ".mine.0123456789abcdef.nsys-ai-tmp/mine")
        put(self.tmp / ".nsys-ai.0123456789abcdef.nsys-ai-tmpx")
        held = self.tmp / ".nsys-ai.fedcba9876543210.nsys-ai-tmp"
        lock = os.open(put(held / ".nsys-ai-temporary"), os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self.ok("probe", self.trace, env=self.env)
        self.assertEqual(sorted(os.listdir(self.tmp)), [".mine.0123456789abcdef.nsys-ai-tmp", ".nsys-ai.0123456789abcdef.nsys-ai-tmpx",
                                                        held.name, "mine"])
        os.close(lock)
        self.ok("probe", self.trace, env=self.env)
        self.assertFalse(held.exists())


class Ends(Case):
    """How commands end that cannot say what they have to say."""

    def test_reader_that_has_gone(self):
        source = artifacts(trace("training"))
        for words in (("table", source, "nvtx_events"), ("export", "csv", source), ("sql", source, "select * from nvtx_events", "--format", "csv"),
                      ("--help",), ("rules", "list"), ("summary", source), ("analyze", self.trace, "--out", self.base / "out")):
            reader, writer = os.pipe()
            os.close(reader)
            for ignored in (signal.SIG_DFL, signal.SIG_IGN):
                done = subprocess.run([PROGRAM, *map(str, words)], stdout=writer, stderr=subprocess.PIPE, text=True, check=False,
                                      preexec_fn=lambda: signal.signal(signal.SIGPIPE, ignored), timeout=support.TIMEOUT_S)
                told = ignored == signal.SIG_IGN
                self.assertEqual(done.returncode, 5 if told else -signal.SIGPIPE, f"{words}: {done.stderr}")
                self.assertRegex(done.stderr, r"^nsys-ai: cannot write to standard output[^\n]*\n$" if told else "^$")
            os.close(writer)

    def test_reader_that_goes_early(self):
        tmp = self.base / "tmp"
        tmp.mkdir()
        done = subprocess.run(["bash", "-c", '"$0" sql "$1" "select * from nvtx_events" --format csv -q | head -c 1 >/dev/null; '
                               'exit ${PIPESTATUS[0]}', PROGRAM, trace("training")], env={**os.environ, "TMPDIR": str(tmp)},
                              capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 128 + signal.SIGPIPE), done.stderr)
        self.assertEqual(os.listdir(tmp), [])

    @support.unsanitized("sanitizers need more stack")
    def test_little_stack(self):
        one = artifacts(trace("minimal"))
        store = self.store()
        for kib in (32, 64, 96, 128, 160, 191, 192, 256):
            out = fresh_dir()
            for words in (("analyze", self.trace, "-q", "--out", out / "a"), ("compare", one, one, "-q", "--out", out / "c"),
                          ("sql", one, "select 1"), ("ask", one, "why is my GPU idle"), ("trend", "--store", store, "-q", "--out", out / "t"),
                          ("batch", self.trace, "-q", "--out", out / "b"), ("ranks", artifacts(trace("collectives")), "-q", "--out", out / "r"),
                          ("probe", self.trace), ("table", self.trace, "kernels"), ("--help",)):
                done = run(*words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (kib << 10, kib << 10)))
                if kib < 192:
                    self.assertEqual(done.returncode, 6, f"{kib} KiB: {words}: {done.stderr}")
                    self.assertRegex(done.stderr, r"^nsys-ai: [^\n]*ulimit -s[^\n]*\n$")
                else:
                    self.assertIn(done.returncode, (0, 7), f"{kib} KiB: {words}: {done.stderr}")


class Elsewhere(Case):
    def test_generator(self):
        """It replaces nothing unless --force says so."""
        put(self.base / "notes.txt")
        generate = [support.GENERATOR, "minimal"]
        for words in ((self.base / "notes.txt",), (self.base / "new.sqlite", "--truth", self.base / "notes.txt")):
            done = subprocess.run([*generate, *words], capture_output=True, text=True, check=False)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertEqual((self.base / "notes.txt").read_bytes(), MINE)

    def test_nsys_rep(self):
        """The export of an .nsys-rep lies in a directory of its own, whatever is beside the report."""
        report = put(self.base / "t2.nsys-rep")
        put(self.base / "t2.sqlite")
        tools, tmp = self.base / "bin", self.base / "tmp"
        tmp.mkdir()
        put(tools / "nsys", f'#!/bin/sh\nwhile [ "$1" != --output ]; do shift; done\ncp "{self.trace}" "$2"\n'.encode()).chmod(0o755)
        env = {"PATH": f"{tools}:{os.environ['PATH']}", "TMPDIR": str(tmp)}
        self.ok("analyze", report, "-q", "--out", self.base / "out", env=env)
        self.assertEqual((report.read_bytes(), (self.base / "t2.sqlite").read_bytes(), os.listdir(tmp)), (MINE, MINE, []))


if __name__ == "__main__":
    support.main()
