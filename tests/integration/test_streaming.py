"""Outputs are written as they are printed: memory does not grow with the rows, failures are told, pipes may close."""
import resource
import signal
import subprocess
import unittest

import support
from support import PROGRAM, artifacts, fresh_dir, many_names, peak_anonymous, run, trace

MIB = 1 << 20


def limited(megabytes):
    """No more anonymous memory than this: mapped files do not count."""
    return lambda: resource.setrlimit(resource.RLIMIT_DATA, (megabytes * MIB, megabytes * MIB))


class Table(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.small = artifacts(trace("bench", "--size", "2M")) / "stages" / "nvtx_events.ntab"
        cls.large = artifacts(trace("bench", "--size", "40M")) / "stages" / "nvtx_events.ntab"

    def text(self, path, *options, memory):
        done = run("table", path, *options, text=False, capture_output=True, preexec_fn=limited(memory))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    @support.unsanitized("AddressSanitizer needs much memory itself")
    def test_memory_does_not_grow_with_the_rows(self):
        for options in (), ("--json",):
            small = self.text(self.small, *options, memory=4)
            large = self.text(self.large, *options, memory=4)
            self.assertGreater(len(large), 10 * len(small))
            self.assertGreater(len(large), 2 * 4 * MIB)

    def test_head_ends_quietly(self):
        done = subprocess.run(["bash", "-c", '"$0" table "$1" | head -1; echo "${PIPESTATUS[0]}"', PROGRAM, self.large],
                              check=False, capture_output=True, text=True, timeout=support.TIMEOUT_S)
        first, status = done.stdout.splitlines()
        self.assertTrue(first.startswith("start_ns,"), first)
        self.assertEqual(int(status), 128 + signal.SIGPIPE)
        self.assertEqual(done.stderr, "")

    def test_full_device(self):
        for options in (), ("--json",), ("--rows", "1"):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = run("table", self.large, *options, stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 5)
            self.assertEqual(done.stderr, "nsys-ai: cannot write to standard output: No space left on device\n")

    @support.unsanitized("AddressSanitizer needs much memory itself")
    def test_first_rows(self):
        whole = self.text(self.large, memory=64).splitlines(keepends=True)
        self.assertEqual(self.text(self.large, "--rows", "1000", memory=64).splitlines(keepends=True), whole[:1001])


class Analyze(unittest.TestCase):
    @support.unsanitized("AddressSanitizer needs much memory itself")
    def test_memory_of_many_names(self):
        count = 400_000
        path = many_names(count)
        size = path.stat().st_size
        status, peak, messages = peak_anonymous("analyze", path, "-q", "--out", out := fresh_dir() / "o")
        self.assertEqual((status, messages), (0, ""))
        self.assertLess(peak, size / 4 + 64 * MIB)
        self.assertGreater((out / "report.json").stat().st_size, 2 * size)
        with open(out / "tables" / "nvtx_ranges.csv", encoding="utf-8") as rows:
            self.assertEqual(sum(1 for _ in rows), 1 + count)
        # rendering again needs nothing but the tables' files
        status, peak, messages = peak_anonymous("analyze", path, "-q", "--out", out)
        self.assertEqual((status, messages), (0, ""))
        self.assertLess(peak, 16 * MIB)

    def test_full_disk_names_the_file(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (250_000, 250_000))
        base = fresh_dir()
        done = run("analyze", trace("minimal"), "-q", "--out", base / "o", preexec_fn=limit)
        self.assertEqual(done.returncode, 5)
        self.assertRegex(done.stderr, r'^nsys-ai: cannot render report.html: cannot write "[^"]*/report.html": File too large\n$')


if __name__ == "__main__":
    support.main()
