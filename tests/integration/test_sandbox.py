"""Processes that read what strangers wrote have given up what they do not need: looked at from outside, while they run."""
import os
import pathlib
import subprocess
import time
import unittest

import support
from support import PROGRAM, artifacts, fresh_dir, run, trace

ENDLESS = "with recursive a(x) as (select 1 union all select x + 1 from a) select count(*) from a"


def facts(pid):
    """What the kernel says of a process; nothing when it is gone."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return {}
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def children(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return []


def has_seccomp():
    return "Seccomp" in facts(os.getpid()) and os.uname().machine in ("x86_64", "aarch64")


@unittest.skipUnless(has_seccomp(), "this kernel has no seccomp")
class Confined(unittest.TestCase):
    def wait_for(self, look, process):
        for _ in range(2000):
            if look():
                return True
            if process.poll() is not None:
                return False
            time.sleep(0.005)
        return False

    def test_a_statement(self):
        words = [PROGRAM, "sql", str(artifacts(trace("minimal"))), ENDLESS, "--timeout", "60"]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            is_confined = lambda: any(facts(c).get("Seccomp") == "2" and facts(c)["NoNewPrivs"] == "1" for c in children(process.pid))
            self.assertTrue(self.wait_for(is_confined, process))
            self.assertEqual(facts(process.pid)["Seccomp"], facts(os.getpid())["Seccomp"])  # it prints, and starts others
            process.kill()

    def test_an_analysis(self):
        """It is over soon: one of some must have been seen."""
        if facts(os.getpid())["Seccomp"] == "2":
            self.skipTest("confined already")
        for attempt in range(20):
            words = [PROGRAM, "analyze", str(trace("inference")), "-q", "--out", str(fresh_dir() / "out")]
            with subprocess.Popen(words, stdin=subprocess.DEVNULL) as process:
                if self.wait_for(lambda: facts(process.pid).get("Seccomp") == "2", process):
                    self.assertEqual(process.wait(), 0)
                    return
        self.fail("no analysis was seen confined")

    def test_places(self):
        """Where an analysis has to write, it can: new directories, links, a stages directory elsewhere, a write-ahead log's copy."""
        base = fresh_dir()
        (base / "real").mkdir()
        (base / "link").symlink_to("real")
        (base / "elsewhere").mkdir()
        (base / "to").symlink_to("elsewhere/run")
        source = trace("minimal")
        for words in (["--out", base / "a/b/c"], ["--out", base / "link/run"], ["--out", base / "d", "--stages", base / "real/stages"],
                      ["--out", f"{base}/e/"], ["--out", f"{base}//f"]):
            done = run("analyze", source, "-q", *words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        done = run("analyze", source, "-q", "--out", "here", cwd=base)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue((base / "here/report.md").exists())
        (base / "elsewhere/run").mkdir()
        done = run("analyze", source, "-q", "--out", base / "to")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue((base / "elsewhere/run/report.md").exists())


if __name__ == "__main__":
    support.main()
