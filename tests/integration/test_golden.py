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

    def test_definitions_of_metrics(self):
        """Values of another meaning have another definition, so that no upgrade looks like a regression."""
        then, now = golden.released(), golden.metrics()
        self.assertGreater(len(then.keys() & now.keys()), 300)
        self.assertEqual(golden.redefined(then, now), [], "If the metric measures something else now, or measured it wrong: raise its `definition` in "
                         "metrics/default.yaml. If the scenario does other work now: take its lines out of golden/released-metrics.csv.")
        key = next(iter(then))
        self.assertEqual(len(golden.redefined(then, {**now, key: (then[key][0], "1" + then[key][1])})), 1)
        self.assertEqual(golden.redefined(then, {**now, key: ("2", "1" + then[key][1])}), [])

    def test_nothing_is_left_over(self):
        self.assertEqual({path.name for path in golden.GOLDEN.iterdir() if path.is_dir()}, set(golden.CASES))


if __name__ == "__main__":
    support.main()
