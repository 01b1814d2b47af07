"""What README's commands do on machines that lack something: scripts/setup and the end of scripts/test."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import support
from support import SOURCE, fresh_dir

ALL_THERE = 'shift 2; for package; do echo "installed $package"; done'
NO_CHROMIUM = 'shift 2; for package; do [ $package = chromium-headless-shell ] || echo "installed $package"; done'
NO_ROOT = {"id": "echo 1000", "sudo": "echo no >&2; exit 1"}


@support.unsanitized("once is enough")
@unittest.skipUnless(shutil.which("dpkg-query"), "no dpkg-query: made for Debian")
class Setup(unittest.TestCase):
    def setUp(self):
        self.tree = fresh_dir("a tree")
        (self.tree / "scripts").mkdir()
        shutil.copy(SOURCE / "scripts" / "setup", self.tree / "scripts")

    def setup_with(self, dpkg_query, *words, **stubs):
        """Runs scripts/setup, of a tree that holds nothing else, on a machine with these programs; what it did, and the words of every
        call of apt-get."""
        place = fresh_dir("stubs")
        stubs = {"id": "echo 0", "npm": "exit 1", "node": "exit 1", "apt-get": "true", "sudo": 'exec "$@"', **stubs}
        stubs["apt-get"] = f'echo "$@" >> {place}/log\n' + stubs["apt-get"]
        for name, text in {**stubs, "dpkg-query": dpkg_query}.items():
            (place / name).write_text(f"#!/bin/sh\n{text}\n")
            (place / name).chmod(0o755)
        done = subprocess.run([self.tree / "scripts" / "setup", *words], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, env={**os.environ, "PATH": f"{place}:{os.environ['PATH']}"})
        log = place / "log"
        return done, [line.split() for line in log.read_text().splitlines()] if log.exists() else []

    def test_fresh_machine(self):
        """dpkg-query fails where it has never heard of a package, and still lists the others."""
        done, calls = self.setup_with('echo "installed gcc"; echo "not-installed cmake"; exit 1')
        asked = next(words for words in calls if "install" in words)
        self.assertIn("cmake", asked)
        self.assertIn("libcsv-dev", asked)
        self.assertNotIn("gcc", asked)
        self.assertNotIn("python3", asked)  # of the tests
        self.assertEqual(done.returncode, 1)  # nothing came of it
        self.assertIn("cannot go on without: cmake ", done.stderr)

    def test_everything_there(self):
        """Nothing to install: no apt-get, so neither network nor root."""
        for words in ((), ("--tests",), ("--ci",), ("--soak",)):
            done, calls = self.setup_with(ALL_THERE, *words, **NO_ROOT)
            self.assertEqual((done.returncode, done.stdout, done.stderr, calls), (0, "", "", []), words)

    def test_without_root(self):
        """What to ask an administrator for is one command; without what only tests need, tests skip."""
        done, calls = self.setup_with("exit 1", "--tests", **NO_ROOT)
        self.assertEqual((done.returncode, calls), (1, []))
        command = re.search(r"ask an administrator for: apt-get install --no-install-recommends (.*)$", done.stderr, re.M).group(1).split()
        for package in ("gcc", "libsqlite3-dev", "python3", "libcmocka-dev", "chromium-headless-shell"):
            self.assertIn(package, command)
        self.assertRegex(done.stderr, "cannot go on without: gcc .*libcmocka-dev")
        done, calls = self.setup_with(NO_CHROMIUM, "--tests", **NO_ROOT)
        self.assertEqual((done.returncode, calls), (0, []))
        self.assertIn("tests skip for want of: chromium-headless-shell\n", done.stderr)
        self.assertIn("ask an administrator for: apt-get install --no-install-recommends", done.stderr)

    def test_apt_fails(self):
        """Its own message is shown, whatever else can be had is installed, and who can be done without is."""
        fails = 'case "$*" in *install*chromium*) echo "E: Unable to fetch chromium-headless-shell" >&2; exit 100;; esac'
        done, calls = self.setup_with(NO_CHROMIUM, "--tests", **{"apt-get": fails})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("E: Unable to fetch chromium-headless-shell", done.stderr)
        self.assertIn("tests skip for want of: chromium-headless-shell", done.stderr)
        none = 'case "$*" in *install*) echo "E: Could not resolve host" >&2; exit 100;; esac'
        done, calls = self.setup_with("exit 1", "--tests", **{"apt-get": none})
        self.assertEqual(done.returncode, 1)
        self.assertIn("E: Could not resolve host", done.stderr)
        self.assertIn("cannot go on without: gcc", done.stderr)
        self.assertIn([*"install -y -qq --no-install-recommends cmake".split()], calls)

    def test_npm_fails(self):
        viewer = self.tree / "templates" / "viewer"
        viewer.mkdir(parents=True)
        (viewer / "package-lock.json").write_text("{}")
        done, _ = self.setup_with(ALL_THERE, "--tests", npm='echo "npm error code SELF_SIGNED_CERT_IN_CHAIN" >&2; exit 1')
        self.assertEqual(done.returncode, 0)
        self.assertIn("npm error code SELF_SIGNED_CERT_IN_CHAIN", done.stderr)
        self.assertIn("tests skip that need the packages of templates/viewer", done.stderr)
        self.assertIn("cafile", done.stderr)
        # Once it works it is not asked again.
        for made in ("installing the packages of templates/viewer\n", ""):
            done, _ = self.setup_with(ALL_THERE, "--tests", npm="mkdir -p node_modules")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, made, ""))

    def test_usage(self):
        for words in (("--test",), ("--tests", "--ci")):
            done, calls = self.setup_with(ALL_THERE, *words)
            self.assertEqual((done.returncode, calls), (2, []))
            self.assertIn("usage: scripts/setup [--tests|--ci|--soak|--release]", done.stderr)


@support.unsanitized("once is enough")
class Summary(unittest.TestCase):
    """The end of scripts/test, of a project of tests with known ends."""

    PYTHON = """
import sys, unittest
sys.path.insert(0, {path!r})
import support
class Some(unittest.TestCase):
    def test_good(self): pass
    @unittest.skip("no traces here")
    def test_lacking(self): pass
    def test_bad(self):
        for n in (1, 2):
            with self.subTest(n): self.assertEqual(n, 3)
    @support.tier("soak")
    def test_dear(self): self.fail("not in this tier")
support.main()
"""

    def summary(self, *tests):
        """Exit status and lines of a run of these tests, each a name and a command of the shell."""
        build = fresh_dir("project") / "release"
        build.mkdir()
        lines = []
        for name, command in tests:
            (build / f"{name}.sh").write_text(command)
            lines += [f'add_test({name} sh "{build}/{name}.sh")', f"set_tests_properties({name} PROPERTIES SKIP_RETURN_CODE 77)"]
        (build / "CTestTestfile.cmake").write_text("\n".join(lines))
        subprocess.run(["ctest", "--test-dir", build, "--output-junit", "results.xml", "--test-output-size-passed", "1000000"],
                       capture_output=True, check=False, env={**os.environ, "NAI_TEST_TIER": "check", "NAI_FIRST_TIER_DONE": "0"})
        done = subprocess.run([sys.executable, SOURCE / "tests" / "summary.py", "check", build / "results.xml"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines(), build

    def test_all_well(self):
        self.assertEqual(self.summary(("unit.a", "exit 0"))[:2], (0, ["", "check: 1 passed, 0 failed, 0 skipped"]))

    def test_each_end(self):
        script = fresh_dir() / "some.py"
        script.write_text(self.PYTHON.format(path=str(pathlib.Path(support.__file__).parent)))
        status, lines, build = self.summary(
            ("unit.good", "exit 0"), ("unit.part", "echo 'skipped: no landlock'"), ("unit.none", "echo 'skipped: no cmocka'; exit 77"),
            ("unit.silent", "exit 77"), ("unit.dead", "kill -SEGV $$"), ("integration.some", f"{sys.executable} '{script}'"))
        self.assertEqual(status, 1)
        self.assertEqual(lines[-1], "check: 2 passed, 2 failed, 2 skipped")
        text = "\n".join(lines)
        self.assertIn("  no landlock: 1 of unit.part\n", text)
        self.assertIn("  no cmocka: 1 of unit.none\n", text)
        self.assertIn("  it does not say why: 1 of unit.silent\n", text)
        self.assertIn("  no traces here: 1 of integration.some\n", text)
        again = f"NAI_TEST_TIER=check ctest --test-dir {build} -R"
        self.assertIn(f"  unit.dead (release)\n    {again} '^unit\\.dead$' --output-on-failure\n", text)
        self.assertIn(f"    {again} '^integration\\.some$' --output-on-failure\n    NAI_TEST_TIER=check {sys.executable} "
                      "tests/integration/test_some.py Some.test_bad\n", text)
        self.assertEqual(text.count("test_some.py"), 1)

    def test_the_first_tier_is_not_run_twice(self):
        """Of it CI's second part runs what a later tier or reference traces make more of: a test that asks for them, by a helper, in
        its class; and none that only stands beside such a one."""
        place = fresh_dir()
        bad, good = "    def test_bad(self):\n", "    def test_good(self): pass\n"
        cases = {"plain": (bad, bad, 0), "beside": (good, "    def test_good(self): support.by_tier(1, 2)\n", 0), "more": (bad, bad + "        support.by_tier(1, 2)\n", 1),
                 "decorated": (bad, "    @few\n" + bad, 1), "constant": (bad, bad + "        MANY\n", 1), "class": (good, "    MANY = support.exports()\n" + good, 1)}
        for name, (line, instead, ran) in cases.items():
            script = place / f"{name}.py"
            text = self.PYTHON.format(path=str(pathlib.Path(support.__file__).parent)).replace(line, instead)
            script.write_text(text.replace("class Some", "def few(test):\n    support.by_tier(1, 2)\n    return test\nMANY = few(support.exports)\nclass Some"))
            done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False,
                                  env={**os.environ, "NAI_FIRST_TIER_DONE": "1", "NAI_TEST_TIER": "ci", "NAI_SANITIZED": "0"})
            self.assertEqual(done.returncode, ran, done.stderr)
            self.assertEqual("test_bad" in done.stderr, bool(ran))

    def test_programs_that_the_first_tier_lacks_run_whole(self):
        listed = subprocess.run(["ctest", "--test-dir", support.BUILD, "--show-only=json-v1"], capture_output=True, text=True, check=True)
        seen = 0
        for test in json.loads(listed.stdout)["tests"]:
            of = {each["name"]: each["value"] for each in test["properties"]}
            if "ci" in of.get("LABELS", []) and "integration" in of["LABELS"]:
                seen += 1
                self.assertIn("NAI_FIRST_TIER_DONE=0", of["ENVIRONMENT"], test["name"])
        self.assertGreater(seen, 10)

    def test_nothing_ran(self):
        status, lines, _ = self.summary(("unit.none", "exit 77"))
        self.assertEqual((status, lines[-1]), (1, "check: 0 passed, 0 failed, 1 skipped"))
        done = subprocess.run([sys.executable, SOURCE / "tests" / "summary.py", "ci", fresh_dir() / "asan" / "results.xml"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("ctest ended without results", done.stdout)


class Presets(unittest.TestCase):
    def test_no_warning_stops_a_build(self):
        """Of what README's commands build with: compilers that nobody here has seen warn of other things."""
        for name in ("CMakePresets.json", "scripts/demo", "scripts/setup"):
            self.assertNotIn("WERROR", (SOURCE / name).read_text(), name)
        self.assertRegex((SOURCE / "CMakeLists.txt").read_text(), r"option\(NAI_WERROR [^)]* OFF\)")


if __name__ == "__main__":
    support.main()
