"""The artifacts directory: what the user keeps in it survives everything, and a reader sees one run, never a mixture.

NAI_TEST_ROUNDS=N repeats what is left to chance N times as often, and kills at every step."""
import fcntl
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import tempfile
import time
import unittest

import support
from support import PROGRAM, analyze, artifacts, fresh_dir, run, trace, tree

ROOT = os.geteuid() == 0
ROUNDS = int(os.environ.get("NAI_TEST_ROUNDS", "1"))
NOBODY = 65534
# Kills the program before its N-th call that changes a directory; takes exchange and no-replace away from renameat2; pauses before
# the first link, or before the directories are exchanged; cuts a file short as soon as it is mapped.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
static void pause_once(void) {
  static int paused;
  if (getenv("SHIM_PAUSE") && !paused++)
    sleep(1);
}
static void step(void) {
  static long left = -2;
  if (left == -2)
    left = getenv("SHIM_KILL_AT") ? atol(getenv("SHIM_KILL_AT")) : -1;
  if (left >= 0 && left-- == 0)
    raise(SIGKILL);
}
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
int renameat2(int a, const char *b, int c, const char *d, unsigned flags) {
  if (flags && getenv("SHIM_PLAIN"))
    return errno = EINVAL, -1;
  if (getenv("SHIM_PAUSE_SWAP")) {
    fclose(fopen(getenv("SHIM_PAUSE_SWAP"), "w"));
    sleep(1);
  }
  step();
  return NEXT(renameat2)(a, b, c, d, flags);
}
int rename(const char *a, const char *b) { return step(), NEXT(rename)(a, b); }
int linkat(int a, const char *b, int c, const char *d, int flags) {
  pause_once();
  step();
  return NEXT(linkat)(a, b, c, d, flags);
}
int link(const char *a, const char *b) { return pause_once(), NEXT(link)(a, b); }
int unlinkat(int a, const char *b, int flags) { return step(), NEXT(unlinkat)(a, b, flags); }
int mkdirat(int a, const char *b, mode_t mode) { return step(), NEXT(mkdirat)(a, b, mode); }
void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  void *mapped = NEXT(mmap)(at, bytes, protection, flags, fd, offset);
  const char *name = getenv("SHIM_CUT");
  char link[64], path[4096];
  ssize_t length = name && fd >= 0 ? (snprintf(link, sizeof link, "/proc/self/fd/%d", fd), readlink(link, path, sizeof path - 1)) : 0;
  path[length > 0 ? length : 0] = 0;
  int file = name && strstr(path, name) ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY) : -1; /* by name the sandbox refuses it */
  if (file >= 0 && (ftruncate(file, 4096) || close(file)))
    abort();
  return mapped;
}
void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return mmap(at, bytes, protection, flags, fd, offset);
}
"""
MINE = {"notes.txt": b"mine", ".hidden": b"h", "report.txt": b"r", "tables/extra.csv": b"a,b\n", "stages/mine.ntab": b"x",
        "tables/read-only": b"ro"}


def shim():
    return support.shim(SHIM)


def put_mine(out):
    for name, content in MINE.items():
        (out / name).write_bytes(content)
    (out / "tables/read-only").chmod(0o444)
    (out / "link").symlink_to("/nowhere")


def without_mine(case, directory):
    """The run's own files, after a look at the user's."""
    now = tree(directory)
    for name, content in MINE.items():
        case.assertEqual(now.pop(name, None), content, f"{name} in {directory}")
    case.assertEqual(os.readlink(directory / "link"), "/nowhere")
    case.assertEqual(stat.S_IMODE((directory / "tables/read-only").stat().st_mode), 0o444)
    return now


class OneRun(unittest.TestCase):
    def setUp(self):
        self.path = trace("minimal")
        self.want = tree(artifacts(self.path))
        self.base = fresh_dir()
        self.out = analyze(self.path, out=self.base / "out")


class Apart(OneRun):
    """--stages DIR: what is uploaded in one directory, the tables in another."""

    def test_same_bytes_in_two_places(self):
        for again in (False, True):
            done = run("analyze", self.path, "-q", "-v", "--out", self.base / "report", "--stages", self.base / "tables")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("analyze " in done.stderr and "reused" in done.stderr, again)
        report, tables = tree(self.base / "report"), tree(self.base / "tables")
        manifest = "stages/manifest.json"
        self.assertEqual({name for name in report if name.startswith("stages/")}, {manifest})
        self.assertEqual({name for name in tables if not name.startswith("stages/")}, set())
        self.assertEqual({**tables, **{n: c for n, c in report.items() if n != manifest}, manifest: b""},
                         {**self.want, manifest: b""})
        self.assertIn("kernel_name", run("table", self.base / "tables", "kernels").stdout)
        done = run("table", self.base / "report", "kernels")
        self.assertEqual(done.returncode, 3)
        self.assertIn("has reports but no tables", done.stderr)

    def test_neither_in_the_other(self):
        for out, stages in (("a", "a"), ("out", "out/b"), ("out/b", "out")):
            before = tree(self.out)
            done = run("analyze", self.path, "-q", "--out", self.base / out, "--stages", self.base / stages, timeout=10)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, r"neither may be or hold the other\n$")
            self.assertEqual(tree(self.out), before)
        done = run("analyze", self.path, "--no-stages", "--out", self.base / "a", "--stages", self.base / "b")
        self.assertEqual((done.returncode, sorted(os.listdir(self.base))), (2, ["out"]))

    def test_failure_keeps_both(self):
        analyze(self.path, "--stages", self.base / "tables", out=self.base / "report")
        before = tree(self.base)
        (self.base / "tables/photos").mkdir()
        done = run("analyze", self.path, "-q", "--out", self.base / "report", "--stages", self.base / "tables", "--top", "3")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f'--stages "{self.base / "tables"}" holds', done.stderr)
        self.assertEqual(tree(self.base), before)


class Kept(OneRun):
    def refused(self, code, words):
        before = tree(self.base)
        done = run("analyze", self.path, "-q", "--out", self.out)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertRegex(done.stderr, r"^nsys-ai: [^\n]+\n$")
        self.assertIn(words, done.stderr)
        self.assertEqual(tree(self.base), before)
        self.assertEqual(sorted(os.listdir(self.base)), ["out"])

    def test_files(self):
        put_mine(self.out)
        inodes = {name: (self.out / name).stat().st_ino for name in MINE}
        for options in ((), ("--top", "3"), ("--no-stages",), ("--stage", "extract"), ()):
            analyze(self.path, *options, out=self.out)
            now = without_mine(self, self.out)
            self.assertEqual({name: (self.out / name).stat().st_ino for name in MINE}, inodes)
        self.assertEqual(now, self.want)
        self.assertEqual(sorted(os.listdir(self.base)), ["out"])

    def test_directories_and_special_files(self):
        (self.out / "photos").mkdir()
        (self.out / "photos/me.jpg").write_bytes(b"precious")
        (self.out / "photos").chmod(0o555)
        self.refused(2, 'holds a directory that is not nsys-ai\'s: "photos"')
        (self.out / "photos").chmod(0o755)
        (self.out / "photos").rename(self.out / "tables/photos")
        self.refused(2, '"tables/photos"')
        shutil.rmtree(self.out / "tables/photos")
        os.mkfifo(self.out / "stages/pipe")
        self.refused(2, 'special file: "stages/pipe"')

    def test_given_path_is_named(self):
        (self.out / "photos").mkdir()
        done = run("analyze", self.path, "-q", "--out", "./out", cwd=self.base)
        self.assertIn('--out "./out" holds', done.stderr)

    def test_locked_parent(self):
        lock = os.open(self.base, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        child = subprocess.Popen([PROGRAM, "analyze", self.path, "-q", "--out", self.out], stderr=subprocess.PIPE, text=True)
        time.sleep(1.4)
        os.close(lock)
        _, said = child.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(child.returncode, 0)
        self.assertRegex(said, r"^nsys-ai: waiting [^\n]*locked[^\n]*\n$")
        self.assertEqual(tree(self.out), self.want)


@unittest.skipUnless(ROOT, "mounting needs root")
class Mounts(OneRun):
    def in_namespace(self, script):
        """Runs the script with $OUT, then the program, then prints what the mount holds."""
        if subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", self.base], capture_output=True, check=False).returncode:
            self.skipTest("cannot mount")
        return subprocess.run(["unshare", "-m", "bash", "-c", script, PROGRAM, self.path], env={**os.environ, "OUT": str(self.out)},
                              capture_output=True, text=True, check=False, timeout=support.TIMEOUT_S)

    RUN = '"$0" analyze "$1" -q --out "$OUT"; code=$?; '

    def check(self, setup, look, words):
        done = self.in_namespace(f"set -e; {setup}; set +e; {self.RUN} {look}; exit $code")
        self.assertEqual((done.returncode, done.stdout), (2, "precious\n"), done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual(tree(self.out), self.want)
        self.assertEqual(sorted(os.listdir(self.base)), ["out"])

    def test_volume_inside(self):
        for where in ("vol", "tables/vol"):
            (self.out / where).mkdir()
            self.check(f'mount -t tmpfs none "$OUT/{where}"; echo precious > "$OUT/{where}/f"', f'cat "$OUT/{where}/f"', f'mount point: "{where}"')
            (self.out / where).rmdir()

    def test_own_directory_and_file_mounted_over(self):
        self.check('mount -t tmpfs none "$OUT/tables"; echo precious > "$OUT/tables/kernels.csv"', 'cat "$OUT/tables/kernels.csv"', '"tables"')
        other = fresh_dir() / "f"
        other.write_text("precious\n")
        self.check(f'mount --bind "{other}" "$OUT/report.md"', 'cat "$OUT/report.md"', '"report.md"')

    def test_target_is_a_mount_point(self):
        self.check('mount --bind "$OUT" "$OUT"', "echo precious", "is a mount point")


@unittest.skipUnless(ROOT and shutil.which("setpriv"), "needs root to become somebody else")
class OrdinaryUser(unittest.TestCase):
    def setUp(self):
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="nsys-ai-user-"))
        self.addCleanup(shutil.rmtree, self.base)
        self.base.chmod(0o755)
        for name, source in (("program", PROGRAM), ("minimal.sqlite", trace("minimal"))):
            shutil.copy(source, self.base / name)
            (self.base / name).chmod(0o755)
        self.home = self.base / "home"
        self.home.mkdir()
        os.chown(self.home, NOBODY, NOBODY)
        self.out = self.home / "out"
        if self.run_as_nobody().returncode:
            self.skipTest("cannot run as another user")
        self.want = tree(self.out)

    def run_as_nobody(self):
        return subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", self.base / "program", "analyze",
                               self.base / "minimal.sqlite", "-q", "--out", self.out], capture_output=True, text=True, check=False,
                              timeout=support.TIMEOUT_S)

    def own(self, path, mode):
        os.chown(path, NOBODY, NOBODY)
        path.chmod(mode)

    def test_read_only_files_and_directories(self):
        mine = self.out / "tables/mine"
        mine.write_bytes(b"mine")
        self.own(mine, 0o444)
        self.assertEqual(self.run_as_nobody().returncode, 0)
        self.assertEqual(mine.read_bytes(), b"mine")
        photos = self.out / "photos"
        photos.mkdir()
        (photos / "me.jpg").write_bytes(b"precious")
        self.own(photos, 0o555)
        before = tree(self.home)
        for _ in range(2):
            done = self.run_as_nobody()
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(tree(self.home), before)
        photos.rename(self.base / "photos")
        (self.out / "tables").chmod(0o555)
        before = tree(self.home)
        done = self.run_as_nobody()
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn('"tables"', done.stderr)
        self.assertEqual(tree(self.home), before)
        self.assertEqual(os.listdir(self.home), ["out"])

    def test_file_of_somebody_else(self):
        (self.out / "theirs").write_bytes(b"root's")
        (self.out / "theirs").chmod(0o600)
        done = self.run_as_nobody()
        self.assertIn(done.returncode, (0, 2), done.stderr)  # as fs.protected_hardlinks says
        self.assertEqual((self.out / "theirs").read_bytes(), b"root's")
        self.assertEqual(os.listdir(self.home), ["out"])

    def test_unwritable_parent(self):
        self.home.chmod(0o555)
        done = self.run_as_nobody()
        self.assertEqual(done.returncode, 5)
        self.assertIn(f'beside --out "{self.out}"', done.stderr)
        self.assertEqual(tree(self.out), self.want)

    def test_another_users_directory_in_a_sticky_parent(self):
        os.chown(self.home, 0, 0)
        self.home.chmod(0o1777)
        for path in (self.out, *self.out.rglob("*")):
            os.chown(path, 1, 1)
            path.chmod(0o777)
        done = self.run_as_nobody()
        self.assertEqual(done.returncode, 5)
        self.assertIn("belongs to another user", done.stderr)
        self.assertEqual(tree(self.out), self.want)


class Killed(unittest.TestCase):
    """Whatever is killed when: the user's files are there, the directory is the old run or the new, the next run succeeds."""

    def setUp(self):
        self.traces = [trace("minimal"), trace("no-nvtx")]
        self.generations = [tree(artifacts(path)) for path in self.traces]
        self.base = fresh_dir()
        self.out = analyze(self.traces[0], out=self.base / "out")
        put_mine(self.out)

    def intact(self, what):
        place = self.out
        if not place.exists():  # between the two renames of a file system without exchange
            place, = (p for p in self.base.iterdir() if ".nsys-ai-old." in p.name)
        self.assertIn(without_mine(self, place), self.generations, what)

    def finish(self, path, env, what):
        done = run("analyze", path, "-q", "--out", self.out, env=env)
        self.assertEqual((done.returncode, done.stderr), (0, ""), what)
        self.assertEqual(without_mine(self, self.out), tree(artifacts(path)), what)
        self.assertEqual(os.listdir(self.base), ["out"], what)

    def at_every_step(self, env, stride=1):
        env = {**env, "LD_PRELOAD": shim()}
        for step in range(0, 10_000, stride):  # an odd stride: the traces take turns
            path = self.traces[(step + 1) % 2]
            done = run("analyze", path, "-q", "--out", self.out, env={**env, "SHIM_KILL_AT": str(step)})
            self.assertEqual(done.stderr, "")
            self.intact(step)
            if done.returncode == 0:
                break
            self.assertEqual(done.returncode, -signal.SIGKILL)
            # The user works on meanwhile: the next run is of the other trace, so that a half-finished one shows.
            self.finish(self.traces[step % 2], env, step)
        self.assertGreater(step, 20)

    def test_at_every_step(self):
        self.at_every_step({}, 1 if ROUNDS > 1 else support.by_tier(31, 3))

    def test_at_every_step_without_exchange(self):
        self.at_every_step({"SHIM_PLAIN": "1"}, 1 if ROUNDS > 1 else support.by_tier(41, 7))  # every rename: tests/unit/test_outdir.c

    def at_random(self, env, count):
        began = time.monotonic()
        self.finish(self.traces[1], env, "timing")
        span = (time.monotonic() - began) * 1.2
        chance = random.Random(11)
        killed = 0
        for attempt in range(count):
            child = subprocess.Popen([PROGRAM, "analyze", self.traces[attempt % 2], "-q", "--out", self.out], stderr=subprocess.DEVNULL,
                                     env={**os.environ, **env})
            time.sleep(chance.random() * span)
            child.kill()
            killed += child.wait() == -signal.SIGKILL
            self.intact(attempt)
        self.assertGreater(killed, count // 20)
        self.finish(self.traces[0], env, "last")

    @support.tier("ci")
    def test_at_random(self):
        self.at_random({}, (30 if support.SANITIZED else 100) * ROUNDS)

    @support.tier("ci")
    def test_at_random_without_exchange(self):
        self.at_random({"LD_PRELOAD": shim(), "SHIM_PLAIN": "1"}, 50 * ROUNDS)


class AtOnce(unittest.TestCase):
    def test_different_traces_on_one_directory(self):
        """Run on one directory at once, traces never mix: also what later runs reuse is their own."""
        traces = [trace(name) for name in ("minimal", "no-nvtx", "shared-gpu", "graphs")]
        want = {path: tree(artifacts(path)) for path in traces}
        base = fresh_dir()
        out = base / "out"
        for attempt in range(support.by_tier(1, 4) * ROUNDS):
            # Same names: stages would be reused from any of the traces if only names were looked at.
            runs = [subprocess.Popen([PROGRAM, "analyze", path, "-q", "-j", "1", "--out", out], stderr=subprocess.PIPE, text=True)
                    for path in random.Random(attempt).sample(traces * 2, 8)]
            for one in runs:
                _, errors = one.communicate(timeout=support.TIMEOUT_S)
                self.assertEqual((one.returncode, errors), (0, ""))
            self.assertIn(tree(out), want.values())
            self.assertEqual(os.listdir(base), ["out"])
            last = next(path for path in traces if tree(out) == want[path])
            for path in (last, *traces):
                analyze(path, out=out)
                self.assertEqual(tree(out), want[path])


    def test_replaced_while_stages_are_reused(self):
        """A run that waits before it takes the first file over, while another one puts a different trace in its place."""
        first, second = trace("minimal"), trace("no-nvtx")
        base = fresh_dir()
        out = analyze(first, out=base / "out")
        slow = subprocess.Popen([PROGRAM, "analyze", first, "-q", "--out", out], env={**os.environ, "LD_PRELOAD": shim(), "SHIM_PAUSE": "1"})
        time.sleep(0.4)
        analyze(second, out=out)
        self.assertEqual(tree(out), tree(artifacts(second)))
        self.assertEqual(slow.wait(timeout=60), 0)
        self.assertEqual(tree(out), tree(artifacts(first)))
        self.assertEqual(os.listdir(base), ["out"])


    def test_target_replaced_before_the_swap(self):
        """Somebody puts a directory of their own where the output is to go, at the last moment."""
        path = trace("minimal")
        base = fresh_dir()
        out = analyze(path, out=base / "out")
        before, paused = tree(out), base / ".out.paused"
        slow = subprocess.Popen([PROGRAM, "analyze", path, "-q", "--top", "3", "--out", out], stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "LD_PRELOAD": shim(), "SHIM_PAUSE_SWAP": str(paused)})
        while not paused.exists() and slow.poll() is None:
            time.sleep(0.01)
        out.rename(base / "moved")
        out.mkdir()
        (out / "precious").write_text("somebody's")
        _, said = slow.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(slow.returncode, 5, said)
        self.assertEqual(tree(out), {"precious": b"somebody's"})
        self.assertEqual(tree(base / "moved"), before)
        self.assertEqual(sorted(os.listdir(base)), [".out.paused", "moved", "out"])

    def test_stage_file_cut_short_when_mapped(self):
        path = trace("bench", "--size", "8M")
        out = analyze(path, out=fresh_dir() / "out")
        for name in ("api_events.ntab", "nvtx_events.ntab"):
            done = run("analyze", path, "-q", "--phase-map", "pytorch-ddp", "--out", out, env={"LD_PRELOAD": shim(), "SHIM_CUT": f"/{name}"})
            self.assertIn(done.returncode, (0, 3), done.stderr)
            if done.returncode:
                self.assertRegex(done.stderr, r"^nsys-ai: a file in use became shorter[^\n]*\n$")
            analyze(path, out=out)
            self.assertEqual(tree(out), tree(artifacts(path)))


class Temporary(unittest.TestCase):
    """A live WAL is read in a copy below TMPDIR, which outlives nobody for long."""

    def setUp(self):
        self.base = fresh_dir()
        self.tmp = self.base / "tmp"
        self.tmp.mkdir()
        self.path = self.base / "t.sqlite"
        shutil.copy(trace("training"), self.path)
        connection = sqlite3.connect(self.path)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute("CREATE TABLE more (x)")
        connection.commit()
        self.addCleanup(connection.close)

    def start(self):
        return subprocess.Popen([PROGRAM, "analyze", self.path, "-q", "--out", self.base / "out"], env={**os.environ, "TMPDIR": str(self.tmp)},
                                stderr=subprocess.DEVNULL)

    def test_killed(self):
        left = 0
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            child = self.start()
            while child.poll() is None and not os.listdir(self.tmp):
                pass
            child.send_signal(number)
            child.wait(timeout=60)
            left += bool(os.listdir(self.tmp))
        self.assertGreater(left, 0)
        (self.tmp / "nsys-ai-scratch-mine00").write_text("a file, not a copy")
        (self.tmp / "nsys-ai-scratch-mine01").mkdir(mode=0o700)
        (self.tmp / "nsys-ai-scratch-mine01/other").write_text("not a copy either")
        self.assertEqual(self.start().wait(timeout=60), 0)
        self.assertEqual(sorted(os.listdir(self.tmp)), ["nsys-ai-scratch-mine00", "nsys-ai-scratch-mine01"])
        self.assertEqual(os.listdir(self.tmp / "nsys-ai-scratch-mine01"), ["other"])

    def test_at_once(self):
        runs = [self.start() for _ in range(6)]
        self.assertEqual([one.wait(timeout=60) for one in runs], [0] * 6)
        self.assertEqual(os.listdir(self.tmp), [])


if __name__ == "__main__":
    support.main()
