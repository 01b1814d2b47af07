"""Outputs byte for byte as they were when somebody last looked at them. To accept changes: scripts/update-golden."""
import difflib
import unittest

import golden
import support
from support import tree


class Golden(unittest.TestCase):
    def test_outputs(self):
        for scenario in golden.CASES:
            with self.subTest(scenario=scenario):
                want, got = tree(golden.GOLDEN / scenario), golden.make(scenario)
                changes = []
                for name in sorted(want.keys() | got.keys()):
                    if want.get(name) != got.get(name):
                        old, new = (files.get(name, b"").decode("utf-8", "replace").splitlines() for files in (want, got))
                        changes += list(difflib.unified_diff(old, new, f"golden/{scenario}/{name}", "now", lineterm="", n=1))
                if changes:
                    self.fail("\n".join(changes[:60]) + "\nIf this is right: scripts/update-golden")

    def test_nothing_is_left_over(self):
        self.assertEqual({path.name for path in golden.GOLDEN.iterdir() if path.is_dir()}, set(golden.CASES))


if __name__ == "__main__":
    support.main()
