"""nsys-ai bisect under git bisect run: the recipe of docs/gating.md, and what it answers for a commit."""
import os
import re
import shutil
import subprocess
import unittest

import support
from support import SOURCE, fresh_dir, run, trace


def environment(directory):
    """The programs by the names that recipes use, and an author."""
    binaries = directory / "bin"
    binaries.mkdir()
    (binaries / "nsys-ai").symlink_to(support.PROGRAM)
    (binaries / "nsys-ai-gen").symlink_to(support.GENERATOR)
    who = {f"GIT_{role}_{what}": "x@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return {**os.environ, **who, "PATH": f"{binaries}:{os.environ['PATH']}", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}


@unittest.skipUnless(shutil.which("git"), "no git")
class Bisect(unittest.TestCase):
    def setUp(self):
        self.work = fresh_dir("bisect")
        self.env = environment(self.work)
        self.repository = self.work / "repository"
        self.good = self.work / "good"
        for seed in range(1, 6):
            self.assertEqual(run("analyze", trace("loop", "--seed", seed), "-q", "--stage", "recommend", "--out", self.good / str(seed)).returncode, 0)
        self.repository.mkdir()
        for words in (("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "one")):
            subprocess.run(["git", *words], cwd=self.repository, env=self.env, check=True)

    def bisect(self, *command, options=()):
        return run("bisect", "--baseline", self.good, "--store", self.work / "store", "--out", self.work / "out", *options, "--", *command,
                   cwd=self.repository, env=self.env)

    def runs(self):
        return [line for line in run("store", "list", "--store", self.work / "store").stdout.splitlines() if "ok" in line]

    def test_recipe(self):
        text = (SOURCE / "docs/gating.md").read_text(encoding="utf-8").partition("## Finding the commit")[2]
        recipe = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)[1]
        done = subprocess.run(["bash", "-e", "-c", recipe], cwd=self.work, env=self.env, capture_output=True, encoding="utf-8", timeout=support.TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = subprocess.run(["git", "log", "-1", "--format=%s", "refs/bisect/bad"], cwd=self.work / "demo", env=self.env, capture_output=True, encoding="utf-8")
        self.assertEqual(found.stdout.strip(), "commit 6")
        self.assertRegex(done.stdout, r"[0-9a-f]{40} is the first bad commit")

    def test_answers(self):
        """A commit is captured until it is decided, and not again."""
        generate = 'nsys-ai-gen {} "$TRACE" --seed $((100 + CAPTURE)) {}'
        done = self.bisect("sh", "-c", generate.format("loop-slower", ""))
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertRegex(done.stdout, r"^[0-9a-f]{40}: bad: step\.time\.median [0-9.]+ ms -> [0-9.]+ ms \(\+[0-9.]+ %\), 4 captures\n$")
        self.assertEqual(len(self.runs()), 4)
        again = self.bisect("false")
        self.assertEqual((again.returncode, again.stdout), (1, done.stdout))
        subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "two"], cwd=self.repository, env=self.env, check=True)
        done = self.bisect("sh", "-c", generate.format("loop", ""))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r": good: step\.time\.median [0-9.]+ ms -> [0-9.]+ ms \([-+]?[0-9.]+ %\), \d captures\n$")

    def test_the_metric_asked_about_is_told(self):
        done = self.bisect("sh", "-c", 'nsys-ai-gen loop-slower "$TRACE" --seed $((100 + CAPTURE))', options=("--metric", "launches.per_step"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r": good: launches\.per_step 42 -> 42 \(0\.0 %\), 1 capture\n$")

    def test_a_command_that_writes_no_trace(self):
        """It forgets $TRACE for every commit: git ends, and does not skip them all. Where a commit has a capture, it is skipped."""
        for command in ("true", 'echo x > "$TRACE.log"'):
            done = self.bisect("sh", "-c", command)
            self.assertEqual((done.returncode, done.stdout), (255, ""), done.stderr)
            self.assertIn("the command succeeded but wrote no $TRACE", done.stderr)
            self.assertIn('"${TRACE%.sqlite}.nsys-rep"', done.stderr)
        done = self.bisect("sh", "-c", 'test "$CAPTURE" -gt 1 || nsys-ai-gen loop-slower "$TRACE" --seed 77')
        self.assertEqual(done.returncode, 125, done.stdout + done.stderr)
        self.assertIn("the command succeeded but wrote no $TRACE; skipped", done.stderr)
        self.assertIn("skipped, 1 capture\n", done.stdout)

    def test_skips(self):
        """What gives no capture, the same one twice, or not enough of them is skipped, with a reason."""
        same = self.work / "same.sqlite"
        shutil.copy(trace("loop-slower", "--seed", 77), same)
        for command, options, said in ((("false",), (), "the command failed"), (("sh", "-c", 'echo x > "${TRACE%.sqlite}.nsys-rep"'), (), "cannot be read"), (("sh", "-c", 'echo x > "$TRACE"'), (), "cannot be read"),
                                       (("sh", "-c", f'cp {same} "$TRACE"'), (), "has already"), (("true",), ("--most", "1"), "not decided")):
            done = self.bisect(*command, options=options)
            self.assertEqual(done.returncode, 125, (command, done.stdout, done.stderr))
            self.assertIn(said, done.stderr)
        self.assertEqual(len(self.runs()), 1)

    def test_mistakes_end_the_bisection(self):
        for words in ((), ("--store", "s", "--", "true"), ("--basline", "x"), ("--baseline", self.good, "--store", self.work / "s", "--", "/nowhere/program"),
                      ("--baseline", self.work / "none", "--store", self.work / "s", "--", "sh", "-c", 'nsys-ai-gen loop "$TRACE" --seed 9')):
            self.assertEqual(run("bisect", *words, cwd=self.repository, env=self.env).returncode, 255, words)
        outside = run("bisect", "--baseline", self.good, "--store", self.work / "s", "--", "true", cwd=self.work, env={**self.env, "GIT_CEILING_DIRECTORIES": str(self.work.parent)})
        self.assertEqual(outside.returncode, 255)
        self.assertIn("git cannot tell", outside.stderr)


if __name__ == "__main__":
    support.main()
