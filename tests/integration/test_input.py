"""Inputs: what is refused and how, what is exported first, odd names, --gpu, --trim."""
import collections
import gzip
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
import unittest

import support
from support import SHARED, analyze, artifacts, fresh_dir, ns_of_ms, read_csv, report, run, trace, tree

NVPROF = """CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (_id_ INTEGER PRIMARY KEY, start INTEGER, end INTEGER, name INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (1, 1, 2, 1);"""
# As NVIDIA documents it: nsys export [OPTION...] REPORT; an output that exists needs --force-overwrite.
FAKE_NSYS = """#!/bin/sh
echo "$*" >> "$FAKE_LOG"
echo "exporting" # stdout belongs to the caller's data
[ "$1" = export ] || exit 1
shift
overwrite=false
while [ $# -gt 0 ]; do
  case $1 in
    --help) echo "usage: nsys export [<args>] [nsys-rep-file]"; echo "  --include-blobs=<true|false>"; echo "  --include-json=<true|false>"; exit 0 ;;
    --type) [ "$2" = sqlite ] || exit 1; shift 2 ;;
    --force-overwrite) overwrite=$2; shift 2 ;;
    --include-blobs=true|--include-json=true) shift ;;
    --output) out=$2; shift 2 ;;
    -*) echo "unrecognised option '$1'" >&2; exit 1 ;;
    *) report=$1; shift ;;
  esac
done
case $report in *broken*) echo "cannot open report" >&2; exit 1;; esac
[ $overwrite = true ] || [ ! -e "$out" ] || exit 1
[ -z "$FAKE_SLOW" ] || { head -c 8192 "$FAKE_SOURCE" > "$out"; echo $$ > "$FAKE_SLOW"; sleep 1000; }
[ -z "$FAKE_CHANGES" ] || echo more >> "$report"
cat "$FAKE_SOURCE" > "$out"
"""
PARTLY = FAKE_NSYS.replace("cat ", "head -c 8192 ")

NO_LOCKS = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  void *argument = va_arg(list, void *);
  va_end(list);
  char link[64], path[4096] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (command == F_SETLK && readlink(link, path, sizeof path - 1) > 0 && strstr(path, "/exports/"))
    return errno = ENOLCK, -1;
  return ((int (*)(int, int, void *))dlsym(RTLD_NEXT, "fcntl"))(fd, command, argument);
}
int fcntl64(int, int, ...) __attribute__((alias("fcntl")));
"""


def database(statements, name="t.sqlite"):
    path = fresh_dir() / name
    connection = sqlite3.connect(path)
    connection.executescript(statements)
    connection.close()
    return path


class Refused(unittest.TestCase):
    def refused(self, path, code=3, options=()):
        parent = fresh_dir()
        done = run("analyze", path, "-q", "--out", parent / "out", *options, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (code, ""), f"{path}: {done.stderr}")
        self.assertRegex(done.stderr, r"^nsys-ai: [^\n]+\n$")
        self.assertEqual(os.listdir(parent), [])
        self.assertEqual(run("probe", path, timeout=60).returncode, code)
        return done.stderr

    def content(self, data, name="t.sqlite"):
        path = fresh_dir() / name
        path.write_bytes(data)
        return path

    def test_what_is_no_database(self):
        whole = trace("minimal").read_bytes()
        for data in (b"", b"SQLite format 3", b"SQLite format 3\0", random.Random(1).randbytes(5000), b"PK\x03\x04" + whole, b"hello\n" * 1000,
                     whole[:100], whole[:4096]):
            self.refused(self.content(data))
        for name in ("", "/nonexistent/x", "/dev/null", "/dev/zero", str(fresh_dir())):
            self.refused(name)
        base = fresh_dir()
        os.mkfifo(base / "pipe")
        self.refused(base / "pipe")
        (base / "loop").symlink_to("loop")
        self.refused(base / "loop")

    def test_other_databases(self):
        self.assertIn("nvprof", self.refused(database(NVPROF)))
        self.refused(database("CREATE TABLE music (title TEXT); INSERT INTO music VALUES ('x');"))
        self.refused(database("CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start, 2 AS end; CREATE TABLE x (y);"))

    def test_truncated_and_flipped(self):
        """3, or 0 when the damage is where nothing is read; never a crash, never something half-written."""
        whole = trace("no-nvtx").read_bytes()
        chance = random.Random(3)
        damaged = [whole[:size + delta] for size in range(4096, len(whole), 4096 * 5) for delta in (-1, 0, 1)]
        for _ in range(support.by_tier(20, 80)):
            data = bytearray(whole)
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            damaged.append(bytes(data))
        directory = fresh_dir()
        for data in damaged:
            path = directory / "t.sqlite"
            path.write_bytes(data)
            done = run("analyze", path, "-q", "--no-stages", "--out", directory / "out", timeout=60)
            self.assertIn(done.returncode, (0, 3), done.stderr)
            self.assertRegex(done.stderr, r"^(nsys-ai: [^\n]+\n)?$")
            if len(data) < len(whole):
                self.assertEqual(done.returncode, 3, len(data))
                self.assertEqual(sorted(os.listdir(directory)), ["out", "t.sqlite"] if (directory / "out").exists() else ["t.sqlite"])


class Reports(unittest.TestCase):
    """.nsys-rep files."""

    def setUp(self):
        self.base = fresh_dir()
        self.report = self.base / "training.nsys-rep"
        self.report.write_bytes(b"NSYS" * 100)
        self.tmp, self.log, self.slow = self.base / "tmp", self.base / "log", self.base / "slow"
        self.tmp.mkdir()
        self.cache = self.base / "cache/nsys-ai/exports"
        self.log.touch()

    def path_with(self, nsys, **more):
        bin_dir = self.base / "bin"
        bin_dir.mkdir(exist_ok=True)
        (bin_dir / "nsys").write_text(nsys)
        (bin_dir / "nsys").chmod(0o755)
        return {"PATH": f"{bin_dir}:/usr/bin:/bin", "FAKE_SOURCE": str(trace("training")), "FAKE_LOG": str(self.log), "TMPDIR": str(self.tmp),
                "XDG_CACHE_HOME": str(self.base / "cache"), **more}

    def exports(self):
        """How often the stand-in was asked for one."""
        return sum("--output" in line for line in self.log.read_text().splitlines())

    def kept(self):
        return sorted(os.listdir(self.cache)) if self.cache.exists() else []

    def analyze(self, report, *words, env, expect=0):
        done = run("analyze", report, *words, "--out", self.base / "o", env=env)
        self.assertEqual(done.returncode, expect, done.stderr)
        self.assertEqual(os.listdir(self.tmp), [])
        return done

    def start(self, env, *words):
        """An analysis whose nsys does not end; returns both."""
        process = subprocess.Popen([support.PROGRAM, *words], env={**os.environ, **env, "FAKE_SLOW": str(self.slow)}, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.until(lambda: self.slow.exists() and self.slow.read_text().strip())
        return process, int(self.slow.read_text())

    def until(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    @staticmethod
    def is_alive(pid):
        try:
            return "\nState:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
        except FileNotFoundError:
            return False

    def test_without_nsys(self):
        for words, env in (((), {"PATH": "/nonexistent"}), ((), self.path_with(FAKE_NSYS, NSYS="")), (("--no-export",), self.path_with(FAKE_NSYS))):
            done = run("analyze", self.report, *words, "--out", self.base / "o", env=env)
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertIn("nsys export --type sqlite", done.stderr)
            self.assertIn("training.nsys-rep", done.stderr)
        self.assertEqual((self.exports(), (self.base / "o").exists()), (0, False))

    def test_once(self):
        """The command is shown, the export kept for this user, and made again of another report or by another nsys."""
        env = self.path_with(FAKE_NSYS)
        done = self.analyze(self.report, "--json", env=env)
        self.assertEqual(done.stdout.count("\n"), 1)  # nothing of nsys on our stdout
        self.assertEqual(tree(self.base / "o"), tree(artifacts(trace("training"))))
        entry, = self.kept()
        self.assertEqual(os.listdir(self.cache / entry), ["training.sqlite"])
        self.assertEqual(self.cache.stat().st_mode & 0o777, 0o700)
        command = self.log.read_text().splitlines()[-1]
        self.assertIn(f"nsys-ai: {self.base}/bin/nsys {command}\n", done.stderr)
        self.assertRegex(command, rf"^export --type sqlite --force-overwrite true --include-blobs=true --include-json=true --output \S+ {self.report}$")
        self.assertIn("exported before", self.analyze(self.report, env=env).stderr)
        for words in (("probe", self.report), ("summary", "-q", self.report), ("sql", "-q", self.report, "select 1"), ("compare", self.report, self.report, "--out", self.base / "c"),
                      ("batch", self.base, "--out", self.base / "b"), ("stats", "-q", self.report), ("probe", self.report, "-q")):
            done = run(*words, env=env)
            self.assertEqual(done.returncode, 0, (words, done.stderr))
        self.assertEqual((self.exports(), self.kept()), (1, [entry]))
        run("stats", "-q", "--force-export", self.report, env=env)
        self.assertEqual((self.exports(), self.kept()), (2, [entry]))
        (self.cache / entry / "training.sqlite").write_bytes(b"")  # somebody made room
        self.analyze(self.report, env=env)
        self.assertEqual((self.exports(), self.kept()), (3, [entry]))
        with open(self.report, "ab") as file:
            file.write(b"more")
        self.analyze(self.report, env=env)
        self.assertEqual((self.exports(), len(self.kept())), (4, 2))
        self.analyze(self.report, env=self.path_with(FAKE_NSYS + "# newer\n"))
        self.assertEqual((self.exports(), len(self.kept())), (5, 3))

    def test_older_nsys(self):
        """It knows no blobs."""
        self.analyze(self.report, env=self.path_with(FAKE_NSYS.replace("include-blobs", "other")))
        self.assertNotIn("blobs", self.log.read_text())

    def test_which_nsys(self):
        env = {**self.path_with(FAKE_NSYS), "PATH": "/usr/bin:/bin", "NSYS": str(self.base / "bin/nsys")}
        done = self.analyze(self.report, env=env)
        self.assertIn(f"{self.base / 'bin/nsys'} export --type sqlite", done.stderr)
        self.assertIn(str(self.base / "bin/nsys"), run("doctor", env=env).stdout)

    def test_bounds(self):
        """What was used longest ago goes, and what killed processes left; nothing else does."""
        env = self.path_with(FAKE_NSYS)
        old, newer, foreign = self.cache / ("0" * 32), self.cache / ("1" * 32), self.cache / "mine"
        for directory, seconds in ((old, 9000), (newer, 5000), (foreign, 9000)):
            directory.mkdir(parents=True)
            with open(directory / "x.sqlite", "wb") as file:
                file.truncate(10 << 30)
            os.utime(directory, (time.time() - seconds,) * 2)
        left = self.cache / ".x.0123456789abcdef.nsys-ai-tmp"
        left.mkdir()
        (left / ".nsys-ai-temporary").touch()
        self.analyze(self.report, env=env)
        self.assertEqual([p.exists() for p in (old, newer, foreign, left)], [False, True, True, False])

    def test_no_place(self):
        """No home, a cache that cannot be made, a file system without locks: below TMPDIR, and nothing is kept; nor of a temporary report."""
        env = self.path_with(FAKE_NSYS)
        (self.base / "file").touch()
        places = [{"XDG_CACHE_HOME": "", "HOME": ""}, {"XDG_CACHE_HOME": str(self.base / "file")}]
        if not support.SANITIZED:
            places.append({"LD_PRELOAD": support.shim(NO_LOCKS)})
        for place in places:
            self.analyze(self.report, env={**env, **place})
            self.assertEqual(self.kept(), [])
        temporary = self.base / ".nsys-ai.0123456789abcdef.nsys-ai-tmp"
        temporary.mkdir()
        self.analyze(shutil.copy(self.report, temporary), env=env)
        self.assertEqual((self.kept(), self.exports()), ([], len(places) + 1))

    def test_failing_nsys(self):
        broken = self.base / "broken.nsys-rep"
        broken.write_bytes(b"x")
        for report, nsys, says in ((broken, FAKE_NSYS, "exit status 1"), (self.report, "#!/bin/sh\nexit 0\n", "wrote no SQLite file"),
                                   (self.report, PARTLY + "exit 7\n", "exit status 7"), (self.report, PARTLY + "kill -9 $$\n", "ended by signal 9"),
                                   (self.report, "#!/nonexistent\n", "cannot run nsys"),
                                   (self.report, FAKE_NSYS.replace("cat ", "echo "), "wrote no SQLite file")):
            done = self.analyze(report, "-q", env=self.path_with(nsys), expect=3)
            self.assertIn(report.name, done.stderr)
            self.assertIn(says, done.stderr)
            self.assertEqual((self.kept(), (self.base / "o").exists()), ([], False))
        done = run("batch", broken, self.report, "--out", self.base / "b", env=self.path_with(FAKE_NSYS))
        self.assertEqual(done.returncode, 4, done.stderr)

    def test_report_that_is_written_to(self):
        done = self.analyze(self.report, env=self.path_with(FAKE_NSYS, FAKE_CHANGES="1"), expect=3)
        self.assertIn("was written to", done.stderr)
        self.assertEqual(self.kept(), [])

    def test_ended_meanwhile(self):
        """By a signal: nsys ends first, and nothing is left. Killed: nsys ends, too; the next one tidies up and exports anew, whatever half of
        an export was there."""
        env = self.path_with(FAKE_NSYS)
        for words in (("analyze", self.report, "--out", self.base / "o"), ("summary", self.report)):
            process, nsys = self.start(env, *words)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(20), -signal.SIGTERM)
            self.assertEqual((self.is_alive(nsys), self.kept(), os.listdir(self.tmp)), (False, [], []))
            self.slow.unlink()
        process, nsys = self.start(env, "summary", self.report)
        process.kill()
        process.wait(20)
        self.until(lambda: not self.is_alive(nsys))
        self.assertEqual(len(self.kept()), 1)
        half, = self.cache.glob("*/*.sqlite")
        self.assertEqual((half.stat().st_size, half.read_bytes()[:6]), (8192, b"SQLite"))
        before = self.exports()
        self.assertNotIn("exported before", self.analyze(self.report, env=env).stderr)
        self.assertEqual(tree(self.base / "o"), tree(artifacts(trace("training"))))
        self.assertRegex(" ".join(self.kept()), r"^[0-9a-f]{32}$")
        self.assertEqual(self.exports(), before + 1)

    def test_progress(self):
        """On a terminal, each second: how long, how much."""
        env = {**os.environ, **self.path_with(FAKE_NSYS.replace("sleep 1000", "sleep 2"), FAKE_SLOW=str(self.slow))}
        ours, theirs = os.openpty()
        done = subprocess.run([support.PROGRAM, "probe", self.report], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs, check=False)
        os.close(theirs)
        shown = os.read(ours, 65536).decode()
        os.close(ours)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(shown, r"\r\x1b\[Knsys-ai: training\.nsys-rep: exporting, 1 s, 8\.0 KiB\r")

    def test_odd_names(self):
        env = self.path_with(FAKE_NSYS)
        for name in ("-q.nsys-rep", "a b'c.nsys-rep", "\x1b[31m\n.nsys-rep", "x" * 240 + ".nsys-rep", "old.qdrep"):
            (self.base / name).write_bytes(name.encode())
            done = run("probe", "--", name, env=env, cwd=self.base)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotRegex(done.stderr, r"\x1b")


class Compressed(unittest.TestCase):
    """Exports packed by gzip and zstd."""

    def setUp(self):
        self.base = fresh_dir()
        self.env = {"TMPDIR": str(self.base / "tmp")}
        (self.base / "tmp").mkdir()
        self.data = trace("training").read_bytes()

    def put(self, name, data):
        (self.base / name).write_bytes(data)
        return self.base / name

    def zstd(self):
        if not shutil.which("zstd"):
            self.skipTest("no program zstd")
        return subprocess.run(["zstd", "-qc"], input=self.data, stdout=subprocess.PIPE, check=True).stdout

    def refused(self, path, word, status=3, **env):
        done = run("analyze", path, "--out", self.base / "o", env={**self.env, **env})
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertIn(word, done.stderr)
        self.assertIn(path.name, done.stderr)
        self.assertFalse((self.base / "o").exists())
        self.assertEqual(os.listdir(self.base / "tmp"), [])

    def report_of(self, path, out="o"):
        done = run("analyze", path, "-q", "--out", self.base / out, env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.base / "tmp"), [])
        return tree(self.base / out)

    def test_same_report(self):
        expected = tree(artifacts(trace("training")))
        self.assertEqual(self.report_of(self.put("training.sqlite.gz", gzip.compress(self.data))), expected)
        self.assertEqual(self.report_of(self.put("training.sqlite.zst", self.zstd()), "p"), expected)

    def test_members(self):
        """A gzip file may have several; the first bytes tell what a file is, not its name."""
        half = len(self.data) // 2
        path = self.put("training.sqlite", gzip.compress(self.data[:half]) + gzip.compress(self.data[half:]))
        self.assertEqual(self.report_of(path), tree(artifacts(trace("training"))))

    def test_damaged(self):
        packed = gzip.compress(self.data)
        self.refused(self.put("cut.sqlite.gz", packed[: len(packed) // 2]), "damaged")
        self.refused(self.put("sum.sqlite.gz", packed[:-8] + bytes(4) + packed[-4:]), "damaged")
        self.refused(self.put("head.sqlite.gz", b"\x1f\x8b\x08" + b"x" * 100), "damaged")
        packed = self.zstd()
        self.refused(self.put("cut.sqlite.zst", packed[: len(packed) // 2]), "damaged")

    def test_something_else(self):
        """It ends at the first bytes, whatever they would become."""
        self.refused(self.put("zeros.sqlite.gz", gzip.compress(bytes(1 << 24))), "not an SQLite export")
        self.refused(self.put("nothing.sqlite.gz", gzip.compress(b"")), "not an SQLite export")

    def test_no_zstd(self):
        self.assertRegex(run("doctor", env={"PATH": "/nonexistent"}).stdout, r"\nzstd +missing ")
        self.refused(self.put("training.sqlite.zst", self.zstd()), "no program zstd", PATH="/nonexistent")

    def test_no_room(self):
        """A sixteenth of a disk stays free."""
        packed = self.put("training.sqlite.gz", gzip.compress(self.data + bytes(64 << 20)))
        if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
            self.skipTest("no mounts")
        done = subprocess.run(["unshare", "-m", "bash", "-c", 'mount -t tmpfs -o size=16m none "$TMPDIR" && "$0" analyze "$1" --out "$2"; '
                               'status=$?; ls -A "$TMPDIR"; exit $status', support.PROGRAM, packed, self.base / "o"],
                              env={**os.environ, **self.env}, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (5, ""), done.stderr)
        self.assertIn("TMPDIR", done.stderr)
        self.assertFalse((self.base / "o").exists())

    def test_batch(self):
        (self.base / "in").mkdir()
        self.put("in/training.sqlite.gz", gzip.compress(self.data))
        done = run("batch", self.base / "in", "--out", self.base / "b", env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.base / "b/items/training/report.md").exists())


class Names(unittest.TestCase):
    def test_odd_file_names(self):
        source = trace("no-nvtx")
        for name in ("x" * 248 + ".sqlite", "no-suffix", ".hidden.sqlite", "-q", "a b.sqlite", "file:x?mode=rwc", "100%.sqlite",
                     "new\nline.sqlite", "<b>|`x`.sqlite", "::error::x.sqlite", "\x1b[31mred.sqlite", "@all #1.sqlite", "sn\N{SNOWMAN}w.sqlite"):
            base = fresh_dir()
            path = base / name
            shutil.copy(source, path)
            done = run("analyze", "-q", "--out", base / "out", "--", name, cwd=base)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            self.assertEqual(sorted(os.listdir(base)), sorted(["out", name]), name)
            self.assertEqual(report(base / "out").json["run"]["kernel_count"], report(artifacts(source)).json["run"]["kernel_count"])
            text = (base / "out" / "report.md").read_text(encoding="utf-8")
            self.assertNotRegex(text, r"(?m)^::|\x1b|[^`]<b>", name)
            done = run("analyze", "--", name, cwd=base)
            self.assertEqual(done.returncode, 0, name)
            self.assertNotRegex(done.stdout, r"(?m)^::|\x1b", name)

    def test_path_that_climbs(self):
        base = fresh_dir()
        (base / "deep" / "er").mkdir(parents=True)
        shutil.copy(trace("no-nvtx"), base / "t.sqlite")
        self.assertEqual(run("analyze", "../../t.sqlite", "-q", cwd=base / "deep" / "er").returncode, 0)
        self.assertEqual(sorted(os.listdir(base)), ["deep", "t.sqlite"])
        self.assertEqual(os.listdir(base / "deep" / "er" / "artifacts"), ["t"])
        self.assertEqual(report(base / "deep" / "er" / "artifacts" / "t").json["trace"]["file"], "t.sqlite")

    def test_bytes_that_are_no_text(self):
        base = os.fsencode(fresh_dir())
        path = base + b"/bad\xff\xfe.sqlite"
        shutil.copy(trace("no-nvtx"), path)
        done = subprocess.run([support.PROGRAM, "analyze", path, "--out", base + b"/o"], capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        done.stdout.decode("utf-8")
        (report(os.fsdecode(base) + "/o"))


class Changing(unittest.TestCase):
    def test_live_wal_is_seen(self):
        """Rows that are only in the write-ahead log count; no file is changed or added."""
        path = database("PRAGMA journal_mode=WAL; CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
                        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,"
                        " streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);")
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute("INSERT INTO StringIds VALUES (1, 'k')")
        connection.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, 7, ?, 281474993487872, 1, 1)",
                               [(i * 100, i * 100 + 50, i) for i in range(1, 501)])
        connection.commit()
        before = {p.name: p.read_bytes() for p in path.parent.iterdir() if not p.name.endswith("-shm")}
        self.assertGreater(len(before[path.name + "-wal"]), 0)
        out = analyze(path)
        self.assertEqual(report(out).json["run"]["kernel_count"], 500)
        self.assertEqual({p.name: p.read_bytes() for p in path.parent.iterdir() if not p.name.endswith("-shm")}, before)
        connection.close()

    def test_replaced_during_the_run(self):
        """Either run is fine, or a refusal; not a report of both."""
        base = fresh_dir()
        path = base / "training.sqlite"
        sources = [trace("training"), trace("training", "--seed", "9")]
        wanted = [tree(artifacts(s)) for s in sources]
        shutil.copy(sources[0], path)
        stop = threading.Event()

        def swap():
            at = 0
            while not stop.wait(0.004):
                at ^= 1
                shutil.copy(sources[at], base / "next")
                os.rename(base / "next", path)
        thread = threading.Thread(target=swap)
        thread.start()
        try:
            for attempt in range(support.by_tier(8, 30)):
                out = base / f"out{attempt}"
                done = run("analyze", path, "-q", "--out", out)
                self.assertIn(done.returncode, (0, 3), done.stderr)
                if done.returncode == 0:
                    self.assertIn(tree(out), wanted)
                else:
                    self.assertFalse(out.exists())
        finally:
            stop.set()
            thread.join()


class Unusual(unittest.TestCase):
    def test_without_rowid(self):
        """Event tables that only SQLite can read give the same rows, and the manifest says why."""
        tables = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS")
        path = fresh_dir() / "w.sqlite"
        shutil.copyfile(trace("training"), path)
        connection = sqlite3.connect(path)
        for table in tables:
            columns = ", ".join(f'"{row[1]}"' for row in connection.execute(f"PRAGMA table_info({table})"))
            connection.execute(f"CREATE TABLE other (place INTEGER PRIMARY KEY, {columns}) WITHOUT ROWID")
            connection.execute(f"INSERT INTO other SELECT rowid, {columns} FROM {table}")
            connection.execute(f"DROP TABLE {table}")
            connection.execute(f"ALTER TABLE other RENAME TO {table}")
        connection.commit()
        connection.close()
        ours, plain = artifacts(path), artifacts(trace("training"))
        for name in ("kernel_events", "api_events", "nvtx_events"):
            got, want = (support.table_file(d, name).read_bytes() for d in (ours, plain))
            self.assertEqual(got[72:], want[72:], name)  # the header's key says which trace it was
        reasons = {r["source_table"]: r["reason"] for r in json.loads((ours / "stages" / "manifest.json").read_text())["readers"]
                   if r["reader"] == "sqlite"}
        self.assertEqual(reasons, {table: "the table is WITHOUT ROWID" for table in tables})

    def test_a_range_with_a_name_longer_than_patterns_may_be(self):
        path = fresh_dir() / "long.sqlite"
        shutil.copy(trace("training"), path)
        with sqlite3.connect(path) as db:
            db.execute("UPDATE NVTX_EVENTS SET textId = NULL, text = ? WHERE coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) = 'forward'",
                       ("x" * 5000,))
            self.assertGreater(db.execute("SELECT changes()").fetchone(), (0,))
        db.close()
        self.assertIn("optimizer_step", (analyze(path) / "report.md").read_text(encoding="utf-8"))

    def test_missing_rows_are_told(self):
        path = fresh_dir() / "t.sqlite"
        shutil.copy(trace("no-nvtx"), path)
        kernels = "CUPTI_ACTIVITY_KIND_KERNEL"
        with sqlite3.connect(path) as db:
            count, = db.execute(f"SELECT count(*) FROM {kernels}").fetchone()
            db.execute(f"DELETE FROM {kernels} WHERE rowid BETWEEN 5 AND 8 OR rowid = {count - 3}")
        db.close()
        for reader in ("direct", "sqlite"):
            for threads in (1, 3):
                out = analyze(path, "--reader", reader, "-j", threads)
                rows = read_csv(out, "data_quality")
                self.assertEqual([(r["source_table"], int(r["count"])) for r in rows if r["check"] == "rows-missing"], [(kernels, 5)])
                verdict = json.loads((out / "report.json").read_text())["verdict"]["text"]
                self.assertTrue(verdict.startswith(f"Rows are missing from the trace, deleted or lost: {kernels} (5 rows). "), verdict)


class Gpu(unittest.TestCase):
    def test_one_gpu(self):
        whole = report(artifacts(trace("training")))
        for device in (0, 1):
            part = report(analyze(trace("training"), "--gpu", device))
            self.assertEqual([r["device_id"] for r in part.rows("gpus")], [device])
            self.assertEqual(part.rows("gpu_utilization"), [r for r in whole.rows("gpu_utilization") if r["device_id"] == device])
            self.assertEqual({r["device_id"] for r in part.rows("kernels")}, {device})
            self.assertEqual(sum(r["total_time_ns"] for r in part.rows("kernels")),
                             sum(r["total_time_ns"] for r in whole.rows("kernels") if r["device_id"] == device))
        self.assertEqual(report(analyze(trace("training"), "--gpu", "1", "--gpu", "0")).rows("gpu_utilization"), whole.rows("gpu_utilization"))

    def test_unknown(self):
        done = run("analyze", trace("shared-gpu-mapped"), "--gpu", "0", "--out", fresh_dir() / "o")
        self.assertEqual(done.returncode, 2)
        self.assertIn("3, 5", done.stderr)


class Trim(unittest.TestCase):
    """--trim against a recount of the clipped rows."""

    def recount(self, path, start, end):
        """By (name, deviceId): count and summed duration of kernels; number of other rows."""
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        kernels = collections.defaultdict(lambda: [0, 0])
        for first, last, device, name in connection.execute(
                "SELECT k.start, k.end, k.deviceId, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName"):
            if first < end and last > start:
                entry = kernels[name, device]
                entry[0] += 1
                entry[1] += min(last, end) - max(first, start)
        def overlapping(table, where="1"):
            return connection.execute(f"SELECT count(*) FROM {table} WHERE start < ? AND \"end\" > ? AND {where}", (end, start)).fetchone()[0]
        counts = {"api_call_count": overlapping("CUPTI_ACTIVITY_KIND_RUNTIME"),
                  "nvtx_range_count": overlapping("NVTX_EVENTS", "eventType = 59"),
                  "memory_operation_count": overlapping("CUPTI_ACTIVITY_KIND_MEMCPY") + overlapping("CUPTI_ACTIVITY_KIND_MEMSET")}
        intervals = collections.defaultdict(list)
        for table in ("KERNEL", "MEMCPY", "MEMSET"):
            for device, first, last in connection.execute(f'SELECT deviceId, start, "end" FROM CUPTI_ACTIVITY_KIND_{table}'):
                if first < end and last > start:
                    intervals[device].append((max(first, start), min(last, end)))
        connection.close()
        return {k: tuple(v) for k, v in kernels.items()}, counts, intervals

    def busy(self, intervals):
        total, until = 0, None
        for first, last in sorted(intervals):
            if until is None or first > until:
                total, until = total + last - first, last
            elif last > until:
                total, until = total + last - until, last
        return total

    def check(self, path, start, end):
        kernels, counts, intervals = self.recount(path, start, end)
        for reader in ("direct", "sqlite"):
            out = analyze(path, "--trim", f"{start / 1e9:.9f}", f"{end / 1e9:.9f}", "--reader", reader)
            result = report(out)
            self.assertEqual({(r["kernel_name"], r["device_id"]): (r["call_count"], r["total_time_ns"]) for r in result.rows("kernels")}, kernels)
            run_info = result.rows("run_info")[0]
            self.assertEqual({name: run_info[name] for name in counts}, counts)
            for row in result.rows("gpu_utilization"):
                mine = intervals[row["device_id"]]
                self.assertEqual(row["window_ns"], max(e for _, e in mine) - min(s for s, _ in mine))
                self.assertEqual(row["busy_ns"], self.busy(mine))
                self.assertEqual(row["compute_ns"] + row["exposed_comm_ns"] + row["exposed_copy_ns"] + row["idle_ns"], row["window_ns"])
            self.assertIn("clipped", " ".join(result.caveats()) + (out / "report.md").read_text())

    def test_recount(self):
        path = trace("training")
        for start, end in ((1_010_000_000, 1_030_000_000), (1_000_500_001, 1_000_900_003), (1_069_000_000, 2_000_000_000)):
            self.check(path, start, end)
        reference = SHARED / "traces" / "fsdp_2gpu.sqlite"
        if reference.exists():
            self.check(reference, 60_200_000_000, 60_300_000_000)

    def test_everything_and_nothing(self):
        path = trace("training")
        whole, wide = tree(artifacts(path)), tree(analyze(path, "--trim", "-5", "1000"))
        self.assertEqual([n for n in whole if n.startswith("tables/") and whole[n] != wide[n]], [])
        nothing = run("analyze", path, "--trim", "500", "501", "--out", fresh_dir() / "o")
        self.assertEqual(nothing.returncode, 2, nothing.stderr)

    def test_halves_add_up(self):
        path = trace("healthy")
        cut = "1.040000000"
        halves = [analyze(path, "--trim", "0", cut), analyze(path, "--trim", cut, "100")]
        total = sum(sum(int(r["total_time_ns"]) for r in read_csv(half, "kernels")) for half in halves)
        self.assertEqual(total, sum(int(r["total_time_ns"]) for r in read_csv(artifacts(path), "kernels")))
        waits = sum(sum(ns_of_ms(r["total_time_ms"]) for r in read_csv(half, "sync_calls")) for half in halves)
        self.assertEqual(waits, sum(ns_of_ms(r["total_time_ms"]) for r in read_csv(artifacts(path), "sync_calls")))


if __name__ == "__main__":
    support.main()
