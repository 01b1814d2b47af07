"""What is far beyond any capture: ten million different names, a text of 400 MB, a control group that is too small. Minutes, and
gigabytes of disk: label hours. NAI_TEST_NAMES=N: another number of names."""
import contextlib
import os
import pathlib
import shutil
import sqlite3
import subprocess
import unittest

import support
from support import PROGRAM, fresh_dir, many_names, peak_anonymous, report, run, trace

NAMES = int(os.environ.get("NAI_TEST_NAMES", "10000000"))
MIB = 1 << 20


def copy_of(scenario, *options):
    path = fresh_dir() / "trace.sqlite"
    shutil.copy(trace(scenario, *options), path)
    path.chmod(0o644)
    return path


def measured(*words):
    """Exit status, standard error and the peak of resident memory in bytes, mapped files included."""
    child = subprocess.Popen([PROGRAM, *map(str, words)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stderr.close()
    return child.returncode, said, usage.ru_maxrss << 10


class ManyNames(unittest.TestCase):
    @support.unsanitized("AddressSanitizer needs much memory itself")
    def test_ranges_of_different_names(self):
        """As many ranges as names; each is one row, all are counted, and the memory rule holds."""
        path, out = many_names(NAMES), fresh_dir() / "out"
        size = path.stat().st_size
        status, peak, said = peak_anonymous("analyze", path, "-q", "--out", out)
        self.assertEqual((status, said), (0, ""))
        self.assertEqual(support.run("sql", out, "SELECT count(*) FROM nvtx_ranges").stdout.split()[-1], str(NAMES))
        print(f"{NAMES} names in {size / MIB:.0f} MiB: {peak / MIB:.0f} MiB of anonymous memory")
        self.assertLess(peak, size / 4 + 64 * MIB)


class LongText(unittest.TestCase):
    def test_400_megabytes(self):
        """In a name that kernels have, and in a range: a prefix is read; memory stays far below the text."""
        path = copy_of("training")
        with contextlib.closing(sqlite3.connect(path)) as db:
            name = db.execute("SELECT shortName FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]
            db.execute("UPDATE StringIds SET value = printf('%.*c', 400000000, 'x') WHERE id = ?", (name,))
            db.execute("UPDATE NVTX_EVENTS SET text = printf('%.*c', 400000000, 'y') WHERE rowid = (SELECT min(rowid) FROM NVTX_EVENTS)")
            db.commit()
        for reader in ("auto", "sqlite"):
            out = path.parent / reader
            status, said, peak = measured("analyze", path, "-q", "--reader", reader, "--out", out)
            self.assertEqual((status, said), (0, ""))
            # A long value is read through SQLite, which takes it whole, once at a time.
            self.assertLess(peak, path.stat().st_size * 1.2, reader)
            self.assertLess((out / "report.md").stat().st_size, 60000)
            self.assertTrue(report(out).rows("kernels"))


def control_group():
    """A group of this test's own: (directory, file of its limit), or None where none can be made."""
    for root, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        path = pathlib.Path(root) / f"nsys-ai-test-{os.getpid()}"
        with contextlib.suppress(OSError):
            path.mkdir()
            if (path / limit).exists():
                return path, path / limit
            path.rmdir()
    return None


class ControlGroup(unittest.TestCase):
    @support.unsanitized("AddressSanitizer takes memory of its own")
    def test_too_small(self):
        """In a group that allows too little: told before the kernel ends the run."""
        made = control_group()
        if not made:
            self.skipTest("no control group can be made here")
        group, limit = made
        try:
            path = trace("bench", "--size", "200M")
            statuses = set()
            for megabytes in (24, 4096):
                limit.write_text(str(megabytes * MIB))
                join = lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
                done = run("analyze", path, "-q", "-j", "2", "--out", fresh_dir() / "o", preexec_fn=join)
                statuses.add(done.returncode)
                self.assertIn(done.returncode, (0, 6), f"{megabytes}: {done.stderr}")
                if done.returncode:
                    self.assertRegex(done.stderr, r"^nsys-ai: [^\n]*control group[^\n]* may have \d+ MiB[^\n]*\n$")
            self.assertEqual(statuses, {0, 6})
        finally:
            group.rmdir()


if __name__ == "__main__":
    support.main()
