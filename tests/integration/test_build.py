"""A build from what the repository holds, and nothing beside it."""
import os
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


if __name__ == "__main__":
    support.main()
