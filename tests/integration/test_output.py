"""The artifacts directory: what is accepted, what is kept, what remains after faults."""
import contextlib
import os
import pathlib
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

import support
from support import PROGRAM, analyze, artifacts, fresh_dir, run, trace, tree

ROOT = os.geteuid() == 0


def leftovers(directory):
    return [p.name for p in directory.iterdir() if ".nsys-ai-run." in p.name]


class Target(unittest.TestCase):
    def setUp(self):
        self.path = trace("nvtx-mix")
        self.want = tree(artifacts(self.path))

    def refused(self, out, code, *options, **how):
        done = run("analyze", self.path, "-q", "--out", out, *options, **how)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertRegex(done.stderr, r"^nsys-ai: [^\n]+\n$")
        return done.stderr

    def test_new_nested_and_odd_names(self):
        base = fresh_dir()
        for name in ("a/b/c/d", "with space", "trailing///", "-dash/..dots", "\N{SNOWMAN}", "x" * 255, "quote'\"`$(id)\n"):
            out = base / name
            self.assertEqual(run("analyze", self.path, "-q", "--out", f"{base}/{name}").returncode, 0, name)
            self.assertEqual(tree(out), self.want, name)
        self.assertEqual(leftovers(base), [])

    def test_default_name(self):
        base = fresh_dir()
        self.assertEqual(run("analyze", self.path, "-q", cwd=base).returncode, 0)
        self.assertEqual(tree(base / "artifacts" / "nvtx-mix"), self.want)

    def test_bad_names(self):
        for name in ("/", "..", "."):
            before = sorted(os.listdir(here := fresh_dir()))
            done = run("analyze", self.path, "-q", "--out", name, cwd=here)
            if name == ".":  # an empty directory is a fine place
                continue
            self.assertEqual(done.returncode, 2, f"{name}: {done.stderr}")
            self.assertEqual(sorted(os.listdir(here)), before)
        self.refused("x" * 256, 5, cwd=fresh_dir())
        self.refused("x/" * 3000, 2, cwd=fresh_dir())

    def test_empty_directory(self):
        out = fresh_dir()
        self.assertEqual(tree(analyze(self.path, out=out)), self.want)

    def test_file_and_foreign_directory(self):
        base = fresh_dir()
        file = base / "file"
        file.write_text("mine")
        self.refused(file, 2)
        self.assertEqual(file.read_text(), "mine")
        self.refused(file / "below", 5)
        foreign = base / "photos"
        foreign.mkdir()
        (foreign / "me.jpg").write_text("precious")
        self.assertIn("photos", self.refused(foreign, 2))
        self.assertEqual(tree(foreign), {"me.jpg": b"precious"})
        os.mkfifo(base / "pipe")
        self.refused(base / "pipe", 2)
        self.assertEqual(leftovers(base), [])

    def test_out_is_the_trace_or_holds_it(self):
        base = fresh_dir()
        copy = base / "t.sqlite"
        shutil.copy(self.path, copy)
        done = run("analyze", copy, "-q", "--out", copy)
        self.assertEqual(done.returncode, 2)
        done = run("analyze", copy, "-q", "--out", base)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(tree(base), {"t.sqlite": self.path.read_bytes()})

    def test_symlinks(self):
        base = fresh_dir()
        (base / "real").mkdir()
        (base / "link").symlink_to("real")
        analyze(self.path, out=base / "link")
        self.assertTrue((base / "link").is_symlink())
        self.assertEqual(tree(base / "real"), self.want)
        (base / "loop").symlink_to("loop")
        self.refused(base / "loop", 2)
        (base / "dangling").symlink_to("nowhere/at/all")
        done = run("analyze", self.path, "-q", "--out", base / "dangling")
        self.assertIn(done.returncode, (0, 2, 5))
        self.assertEqual(leftovers(base), [])

    @unittest.skipIf(ROOT, "root writes anywhere")
    def test_read_only_parent(self):
        base = fresh_dir()
        base.chmod(0o555)
        self.refused(base / "out", 5)
        base.chmod(0o755)

    def test_unwritable_place(self):
        self.refused("/proc/nsys-ai-out", 5)

    def test_files_of_the_user_are_kept(self):
        out = analyze(self.path, out=fresh_dir() / "out")
        mine = {"notes.txt": b"mine", "tables/extra.csv": b"a,b\n", "stages/notes": b"x", ".hidden": b"h"}
        for name, content in mine.items():
            (out / name).write_bytes(content)
        (out / "to-report").symlink_to("report.md")
        for options in ((), ("--top", "3"), ("--no-stages",), ()):
            analyze(self.path, *options, out=out)
            now = tree(out)
            for name, content in mine.items():
                self.assertEqual(now.get(name), content, f"{name} {options}")
            self.assertEqual(os.readlink(out / "to-report"), "report.md")
        self.assertEqual(support.Tree((n, c) for n, c in now.items() if n not in mine and n != "to-report"), self.want)

    def test_umask(self):
        out = fresh_dir() / "o"
        done = run("analyze", self.path, "-q", "--out", out, preexec_fn=lambda: os.umask(0o027))
        self.assertEqual(done.returncode, 0)
        modes = {p: p.stat().st_mode & 0o777 for p in [out, *out.rglob("*")]}
        self.assertEqual({m for p, m in modes.items() if p.is_dir()}, {0o750})
        self.assertEqual({m for p, m in modes.items() if p.is_file()}, {0o640})

    def test_input_is_left_alone(self):
        base = fresh_dir()
        copy = base / "t.sqlite"
        shutil.copy(self.path, copy)
        copy.chmod(0o444)
        before = (copy.read_bytes(), copy.stat().st_mtime_ns, copy.stat().st_ino)
        for options in ((), ("--reader", "sqlite"), ("--check",), ("--trim", "1.0", "1.001")):
            analyze(copy, *options, out=fresh_dir() / "o")
            self.assertEqual(os.listdir(base), ["t.sqlite"])
            self.assertEqual((copy.read_bytes(), copy.stat().st_mtime_ns, copy.stat().st_ino), before)


class Faults(unittest.TestCase):
    def setUp(self):
        self.path = trace("training")
        self.want = tree(artifacts(self.path))

    def test_standard_output(self):
        with open("/dev/full", "w") as full:
            for words in (("rules", "list"), ("probe", self.path), ("--help",), ("--man",), ("analyze", self.path, "--out", fresh_dir() / "o"),
                          ("table", artifacts(self.path) / "stages" / "analyze.ntab", "kernels")):
                done = run(*words, stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 5, words)
                self.assertRegex(done.stderr, r"^nsys-ai: [^\n]*output[^\n]*\n$")
        for close in ("1>&-", "2>&-", "<&- 1>&- 2>&-"):
            out = fresh_dir() / "o"
            done = subprocess.run(["bash", "-c", f'"$0" analyze "$1" -q --out "$2" {close}', PROGRAM, self.path, out], check=False,
                                  timeout=support.TIMEOUT_S)
            self.assertEqual(done.returncode, 0, close)
            self.assertEqual(tree(out), self.want, close)
        done = subprocess.run(["bash", "-c", '"$0" rules list 1>&-', PROGRAM], check=False, capture_output=True)
        self.assertEqual(done.returncode, 5)

    def test_broken_pipe(self):
        done = subprocess.run(["bash", "-c", 'set -o pipefail; "$0" table "$1" nvtx_events | head -1 >/dev/null', PROGRAM,
                               artifacts(self.path) / "stages" / "extract.ntab"], check=False, capture_output=True)
        self.assertIn(done.returncode, (0, 5, 128 + signal.SIGPIPE))
        self.assertNotIn(b"Sanitizer", done.stderr)

    def test_full_disk(self):
        """Every limit on file size: the old directory stays, the message is one line, nothing is left behind."""
        base = fresh_dir()
        out = analyze(trace("minimal"), out=base / "out")
        old = tree(out)
        def limit(size):
            def apply():
                signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it, a shell does not
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            return apply
        for size in (0, 1, 100, 4096, 10_000, 60_000, 200_000, 400_000):
            done = run("analyze", self.path, "-q", "--out", out, preexec_fn=limit(size))
            if done.returncode == 0:
                self.assertGreaterEqual(size, max(map(len, self.want.values())))
                break
            self.assertEqual(done.returncode, 5, f"{size}: {done.stderr}")
            self.assertRegex(done.stderr, r"^nsys-ai: [^\n]+\n$")
            self.assertEqual(tree(out), old, size)
            self.assertEqual(leftovers(base), [], size)

    @unittest.skipUnless(ROOT, "mounting needs root")
    def test_full_file_system(self):
        base = fresh_dir()
        mount = base / "small"
        mount.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", mount], capture_output=True, check=False).returncode:
            self.skipTest("cannot mount")
        try:
            (mount / "out").mkdir()
            done = run("analyze", self.path, "-q", "--out", mount / "out")
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertRegex(done.stderr, r"^nsys-ai: [^\n]*No space left[^\n]*\n$")
            self.assertEqual(os.listdir(mount), ["out"])
            self.assertEqual(os.listdir(mount / "out"), [])
        finally:
            subprocess.run(["umount", mount], check=True)

    def test_limits_of_memory_and_descriptors(self):
        out = fresh_dir() / "o"
        done = run("analyze", self.path, "-q", "--memory-limit", "1M", "--out", out)
        self.assertEqual(done.returncode, 6)
        self.assertRegex(done.stderr, r"^nsys-ai: [^\n]*--memory-limit[^\n]*\n$")
        self.assertFalse(out.exists())
        self.assertEqual(run("analyze", self.path, "-q", "--memory-limit", "4G", "--out", out).returncode, 0)
        for count in range(3, 14):
            done = run("analyze", self.path, "-q", "--out", fresh_dir() / "o",
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count)))
            self.assertIn(done.returncode, (0, 3, 5, 6, 127), f"{count}: {done.stderr}")
            if done.returncode in (3, 5, 6):
                self.assertRegex(done.stderr, r"^nsys-ai: [^\n]+\n$")

    def test_little_stack(self):
        for kilobytes in (192, 256):
            out = fresh_dir() / "o"
            done = run("analyze", self.path, "-q", "-j", "2", "--out", out,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (kilobytes << 10, kilobytes << 10)))
            self.assertEqual(done.returncode, 0, f"{kilobytes} KiB: {done.stderr}")
            self.assertEqual(tree(out), self.want)

    @support.tier("ci")
    @support.unsanitized("AddressSanitizer takes memory of its own")
    def test_memory_limit_is_kept(self):
        """100,000 threads with a range each, in 10 MB: what they need is foreseen, and the limit is kept."""
        path = fresh_dir() / "threads.sqlite"
        shutil.copy(self.path, path)
        with contextlib.closing(sqlite3.connect(path)) as db:
            columns = [row[1] for row in db.execute("PRAGMA table_info(NVTX_EVENTS)")]
            some = dict(zip(columns, db.execute("SELECT * FROM NVTX_EVENTS WHERE eventType = 59").fetchone()))
            def rows():
                for i in range(100_000):
                    yield tuple({**some, "globalTid": (some["globalTid"] >> 24 << 24) + 10 + i}.values())
            db.executemany(f"INSERT INTO NVTX_EVENTS VALUES ({','.join('?' * len(columns))})", rows())
            db.commit()
        codes = set()
        for megabytes in (40, 100, 150, 250, 400):
            with open(os.devnull, "w") as null:
                child = subprocess.Popen([PROGRAM, "analyze", path, "-q", "-j", "2", "--memory-limit", f"{megabytes}M", "--out",
                                          fresh_dir() / "o"], stderr=subprocess.PIPE, stdout=null, text=True)
                errors = child.stderr.read()
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
                child.stderr.close()
            codes.add(child.returncode)
            self.assertIn(child.returncode, (0, 6), errors)
            if child.returncode:
                self.assertRegex(errors, r"^nsys-ai: [^\n]*--memory-limit[^\n]*\n$")
            mapped = path.stat().st_size * 2  # the trace and event tables are files
            self.assertLess(usage.ru_maxrss << 10, (megabytes << 20) * 1.2 + mapped, megabytes)
        self.assertEqual(codes, {0, 6})

    @support.unsanitized("AddressSanitizer reserves terabytes of addresses")
    def test_little_address_space(self):
        codes = set()
        for megabytes in (8, 9, 10, 11, 12, 14, 16, 20, 28, 40, 64, 4096):
            out = fresh_dir() / "o"
            done = run("analyze", self.path, "-q", "-j", "2", "--out", out,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20)))
            codes.add(done.returncode)
            self.assertIn(done.returncode, (0, 6, 127), f"{megabytes} MiB: {done.stderr}")
            if done.returncode == 6:
                self.assertRegex(done.stderr, r"^nsys-ai: [^\n]+\n$")
                self.assertEqual(os.listdir(out.parent), [], megabytes)
        self.assertLessEqual({0, 6}, codes)

    def test_table_file_cut_short_in_use(self):
        out = analyze(trace("bench", "--size", "48M"), out=fresh_dir() / "out")
        name = max((out / "stages").glob("*.ntab"), key=lambda path: path.stat().st_size)
        self.assertGreater(name.stat().st_size, 2 << 20)
        reader = subprocess.Popen([PROGRAM, "table", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertTrue(reader.stdout.readline())  # checked, mapped, and now waiting for us to read on
        os.truncate(name, 4096)
        _, errors = reader.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(reader.returncode, 3, errors)
        self.assertRegex(errors, r"^nsys-ai: a file in use became shorter[^\n]*\n$")

    def test_eight_at_once(self):
        base = fresh_dir()
        runs = [subprocess.Popen([PROGRAM, "analyze", self.path, "-q", "-j", "1", "--out", base / "out"], stderr=subprocess.PIPE, text=True)
                for _ in range(8)]
        for one in runs:
            _, errors = one.communicate(timeout=support.TIMEOUT_S)
            self.assertEqual((one.returncode, errors), (0, ""))
        self.assertEqual(tree(base / "out"), self.want)
        self.assertEqual(sorted(os.listdir(base)), ["out"])

    def test_killed_at_any_time(self):
        base = fresh_dir()
        out = base / "out"
        other = trace("nvtx-mix")
        generations = {path: tree(artifacts(path)) for path in (self.path, other)}
        analyze(other, out=out)
        began = time.monotonic()
        analyze(self.path, out=base / "timing")
        span = (time.monotonic() - began) * 1.3
        shutil.rmtree(base / "timing")
        chance = random.Random(7)
        killed = 0
        for attempt in range(support.by_tier(15, 60)):
            path = (self.path, other)[attempt % 2]
            child = subprocess.Popen([PROGRAM, "analyze", path, "-q", "--out", out], stderr=subprocess.DEVNULL)
            time.sleep(chance.random() * span)
            child.kill()
            killed += child.wait() == -signal.SIGKILL
            self.assertIn(tree(out), generations.values(), "a mixture")
        self.assertGreater(killed, 3)
        analyze(self.path, out=out)
        self.assertEqual(tree(out), self.want)
        self.assertEqual(sorted(os.listdir(base)), ["out"])

    def test_interrupted(self):
        base = fresh_dir()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            child = subprocess.Popen([PROGRAM, "analyze", self.path, "-q", "--out", base / "out"], stderr=subprocess.DEVNULL)
            time.sleep(0.01)
            child.send_signal(number)
            self.assertIn(child.wait(timeout=60), (0, -number, 128 + number))
        analyze(self.path, out=base / "out")
        self.assertEqual(tree(base / "out"), self.want)
        self.assertEqual(sorted(os.listdir(base)), ["out"])


if __name__ == "__main__":
    support.main()
