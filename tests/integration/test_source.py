"""SRC: every command that answers questions takes a run directory or a trace, and leaves nothing of the latter behind."""
import os
import signal
import subprocess
import time
import unittest

import support
from support import artifacts, fresh_dir, run, trace


class Source(unittest.TestCase):
    def test_trace_and_run_give_the_same(self):
        path = trace("training")
        temporary = fresh_dir("tmp")
        done = run("table", path, "kernels", env={"TMPDIR": str(temporary)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"\Ansys-ai: [^\n]*--out DIR[^\n]*\n\Z")
        self.assertEqual(os.listdir(temporary), [])
        self.assertEqual(done.stdout, run("table", artifacts(path), "kernels").stdout)
        self.assertEqual(os.listdir(path.parent), sorted(["training.sqlite", "truth.json"]))

    def test_no_suffix(self):
        path = fresh_dir() / "trace"
        path.symlink_to(trace("minimal"))
        self.assertEqual(run("table", path, "gpus").returncode, 0)

    def test_refused_trace(self):
        path = fresh_dir() / "x.sqlite"
        path.write_bytes(b"SQLite format 3\0" + bytes(4000))
        temporary = fresh_dir("tmp")
        done = run("table", path, env={"TMPDIR": str(temporary)})
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn(str(path), done.stderr)
        self.assertEqual(os.listdir(temporary), [])

    def test_no_place(self):
        """For temporary files: what to set is said."""
        env = {"TMPDIR": "/nonexistent"}
        done = run("table", trace("minimal"), env=env)
        self.assertEqual((done.returncode, done.stdout), (5, ""))
        self.assertIn('"/nonexistent/" (TMPDIR can name another)', done.stderr)
        self.assertRegex(run("doctor", env=env).stdout, r"\ntemporary +missing +/nonexistent: No such file or directory; set TMPDIR to ")

    def test_ended(self):
        """Nothing stays behind when it is ended in the middle of the analysis."""
        temporary = fresh_dir("tmp")
        for signum in (signal.SIGINT, signal.SIGTERM):
            with subprocess.Popen([support.PROGRAM, "table", trace("inference")], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(temporary)}) as process:
                deadline = time.monotonic() + 30
                while not os.listdir(temporary) and time.monotonic() < deadline:
                    time.sleep(0.001)
                process.send_signal(signum)
                code = process.wait(30)
            self.assertIn(code, (-signum, 0))  # 0: it was done already
            self.assertEqual(os.listdir(temporary), [])


if __name__ == "__main__":
    support.main()
