"""The commands that findings print to verify them run as printed, and show something."""
import concurrent.futures
import os
import pathlib
import subprocess
import unittest

import support
from support import SHARED, artifacts, fresh_dir, trace

# Findings of many kinds, where no exports of other programs are at hand.
GENERATED = ("host-bound", "training", "copy-bound", "pause", "failed", "api-only", "nvtx-only", "two-processes", "eight-gpus", "shapes")


def traces():
    real = [*sorted((SHARED / "traces").glob("*.sqlite")), *sorted((SHARED / "traces" / "real").glob("*.sqlite"))]
    return real + [trace(scenario) for scenario in GENERATED]


def commands(path):
    """Those of the program itself; others are for the machine that records."""
    for finding in support.report(artifacts(path)).json["findings"]:
        for command in finding["verify"].splitlines():
            if command.startswith("nsys-ai "):
                yield finding["id"], command


class Verify(unittest.TestCase):
    def test_commands_run_as_printed(self):
        home = fresh_dir("bin")
        os.symlink(support.PROGRAM, home / "nsys-ai")
        jobs = sorted({(path, command): rule for path in traces() for rule, command in commands(path)}.items())
        self.assertGreater(len(jobs), 50)

        def run(job):
            (path, command), _ = job
            env = {**os.environ, "OUT": str(artifacts(path)), "TRACE": str(path), "PATH": f"{home}:/usr/bin:/bin"}
            return subprocess.run(["bash", "-euc", command], env=env, cwd=fresh_dir("verify"), capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, check=False, timeout=support.TIMEOUT_S)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for ((path, command), rule), done in zip(jobs, pool.map(run, jobs)):
                with self.subTest(trace=path.name, rule=rule, command=command):
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertGreater(len(done.stdout.splitlines()), 1)

    def test_every_finding_has_a_command_and_a_page(self):
        ids = set()
        for path in traces():
            for finding in support.report(artifacts(path)).json["findings"]:
                self.assertTrue(finding["verify"].strip(), finding["id"])
                ids.add(finding["id"])
        for rule in sorted(ids):
            done = support.run("rules", "explain", rule)
            self.assertEqual(done.returncode, 0, rule)
            self.assertTrue(pathlib.Path(support.SOURCE / "docs" / "root-causes" / f"{rule}.md").exists(), rule)


if __name__ == "__main__":
    support.main()
