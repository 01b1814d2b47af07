"""A build from what the repository holds, and nothing beside it; and what installs the packages for it."""
import os
import re
import shutil
import subprocess
import unittest

import support
from support import SOURCE, fresh_dir, run, trace


@unittest.skipIf(support.SANITIZED, "once is enough")
@unittest.skipUnless(shutil.which("git") and (SOURCE / ".git").exists(), "no repository")
class Build(unittest.TestCase):
    def test_archive_builds_alone(self):
        source = fresh_dir("archive") / "deep" / "source"
        source.mkdir(parents=True)
        # Tracked files as they are now, so that a change is tested before it is committed.
        names = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z"], capture_output=True, check=True).stdout
        subprocess.run(["tar", "-C", SOURCE, "--null", "--ignore-failed-read", "-T", "-", "-cf", source / "all.tar"], input=names, check=True,
                       stderr=subprocess.DEVNULL)
        subprocess.run(["tar", "-C", source, "-xf", source / "all.tar"], check=True)
        build = source.parent / "build"
        env = {**os.environ, "CFLAGS": "-O0"}
        for words in (["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DBUILD_TESTING=OFF", "-DCMAKE_BUILD_TYPE=Debug"],
                      ["cmake", "--build", build, "-j", "2"]):
            done = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
            self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-3000:])
        self.assertNotIn("warning", done.stdout)
        out = fresh_dir() / "o"
        done = run("analyze", trace("minimal"), "-q", "--out", out, program=build / "nsys-ai")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue((out / "report.html").exists())


@unittest.skipIf(support.SANITIZED, "once is enough")
class Documentation(unittest.TestCase):
    def test_example_analysis_compiles(self):
        """What docs/adding-an-analysis.md tells people to begin with."""
        text = (SOURCE / "docs" / "adding-an-analysis.md").read_text()
        example = re.search(r"```c\n(/\* How is kernel time.*?)```", text, re.S).group(1)
        done = subprocess.run(["cc", "-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", SOURCE / "src",
                               "-x", "c", "-"], input=example, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


@unittest.skipIf(support.SANITIZED, "once is enough")
@unittest.skipUnless(shutil.which("dpkg-query"), "made for Debian")
class Setup(unittest.TestCase):
    def setup_with(self, dpkg_query):
        """The command that scripts/setup would install packages with, on a machine where dpkg-query is this script."""
        stubs = fresh_dir("stubs")
        for name, text in (("dpkg-query", dpkg_query), ("apt-get", f'echo "$@" >> {stubs}/log'), ("sudo", 'exec "$@"')):
            (stubs / name).write_text(f"#!/bin/sh\n{text}\n")
            (stubs / name).chmod(0o755)
        done = subprocess.run([SOURCE / "scripts" / "setup"], capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": f"{stubs}:{os.environ['PATH']}"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        log = stubs / "log"
        return log.read_text() if log.exists() else ""

    def test_fresh_machine(self):
        """dpkg-query fails where it has never heard of a package, and still lists the others."""
        installed = self.setup_with('echo "installed gcc"; echo "not-installed cmake"; exit 1').split("install -y")[1].split()
        self.assertIn("cmake", installed)
        self.assertIn("libcsv-dev", installed)
        self.assertNotIn("gcc", installed)

    def test_everything_there(self):
        """Nothing to install: no apt-get, so no network."""
        self.assertEqual(self.setup_with('shift 2; for package; do echo "installed $package"; done'), "")


if __name__ == "__main__":
    support.main()
