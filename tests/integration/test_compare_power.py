#!/usr/bin/python3
"""How often do comparisons err? Equal programs must not be called worse, and 5 % must be found, with five captures of each side that
differ by 1 %. What is planned is known from the generator; sides are drawn from a pool of captures."""
import json
import random
import unittest

import support
from support import GENERATOR, fresh_dir, run

POOL, PART, EQUAL_PAIRS, SHIFTED_PAIRS, CAPTURES = 40, 10, 200, 100, 5
BAD = ("regressed", "changed")


def pool(name, percent):
    """Runs of one program that is so much slower than planned."""
    runs = []
    for part in range(POOL // PART):
        directory = fresh_dir() / f"{name}-{part}"
        slower = [word for night in range(PART) for word in ("--spike", f"{night}:{percent}")] if percent else []
        done = run("series", directory, "--nights", PART, "--noise", 1, "--seed", 100 * percent + part, *slower, program=GENERATOR)
        assert done.returncode == 0, done.stderr
        for path in sorted(directory.glob("*.sqlite")):
            out = directory / "runs" / path.stem
            done = run("analyze", path, "--out", out, "--stage", "recommend", "-q")
            assert done.returncode == 0, done.stderr
            runs.append(out)
    return runs


def verdicts(base, new):
    out = fresh_dir() / "out"
    done = run("compare", "--base", *base, "--new", *new, "--out", out, "-q")
    assert done.returncode == 0, done.stderr
    return {m["id"]: m["verdict"] for m in json.loads((out / "compare.json").read_text())["metrics"]}


@support.unsanitized("what it decides does not depend on the sanitizers")
class Power(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.random = random.Random(1)
        cls.base = pool("base", 0)
        cls.slower = pool("slower", 5)

    def test_equal_programs(self):
        wrong = []
        for pair in range(EQUAL_PAIRS):
            drawn = self.random.sample(self.base, 2 * CAPTURES)
            wrong += [(pair, k) for k, v in verdicts(drawn[:CAPTURES], drawn[CAPTURES:]).items() if v in BAD]
        self.assertEqual(wrong, [])

    def test_five_percent(self):
        found = 0
        for _ in range(SHIFTED_PAIRS):
            said = verdicts(self.random.sample(self.base, CAPTURES), self.random.sample(self.slower, CAPTURES))
            found += said["step.time.median"] == "regressed"
        print(f"5 % found in {found} of {SHIFTED_PAIRS}")
        self.assertGreaterEqual(found, 98)


if __name__ == "__main__":
    support.main()
