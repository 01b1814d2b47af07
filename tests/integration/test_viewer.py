"""What the viewer of report.html computes, in Node and without a browser. See docs/viewer.md."""
import shutil
import subprocess
import unittest

import support
from support import SOURCE


@support.unsanitized("JavaScript does not depend on the sanitizers")
@unittest.skipUnless(shutil.which("node"), "no Node")
class Viewer(unittest.TestCase):
    def test_pure_parts(self):
        tests = sorted((SOURCE / "tests" / "viewer" / "unit").glob("*.test.mjs"))
        self.assertTrue(tests)
        done = subprocess.run(["node", "--test", *map(str, tests)], capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout[-6000:] + done.stderr[-2000:])


if __name__ == "__main__":
    support.main()
