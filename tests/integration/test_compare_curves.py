#!/usr/bin/python3
"""Power and false alarms of comparisons by captures of each side and by history. Values are made up here, the program's rule judges them
(nai-verdicts), and the rule is written down a second time. NAI_TEST_TIER=soak draws all curves and holds docs/comparing.md against them."""
import itertools
import math
import random
import re
import statistics
import subprocess
import unittest

import support
from support import SOURCE

VERDICTS = support.BUILD / "tests" / "nai-verdicts"
BUDGET, NOISE, SHIFT, SD = 3, 1, 0.05, 0.01
# Captures of the new side and of the base.
SIZES = ((4, 4), (5, 5), (7, 7), (9, 9), (10, 10), (20, 20), (4, 10), (4, 20), (5, 35), (10, 35))
SINGLE = ((1, 7), (1, 20), (3, 7), (3, 20))


def t3(chance):
    """Student's t with 3 degrees of freedom, of variance 1."""
    return chance.gauss(0, 1) / math.sqrt(sum(chance.gauss(0, 1) ** 2 for _ in range(3)))


def drift(chance, count, memory=0.95):
    values, at = [], chance.gauss(0, 1)
    for _ in range(count):
        at = memory * at + math.sqrt(1 - memory * memory) * chance.gauss(0, 1)
        values.append(at)
    return values


def sides_of(values, new, base):
    """One after the other."""
    return values[:base], values[base:base + new]


def in_turns(values, new, base):
    """As evenly as counts allow, in the order of time."""
    is_new = [i * new // (new + base) != (i + 1) * new // (new + base) for i in range(new + base)]
    return [v for v, n in zip(values, is_new) if not n], [v for v, n in zip(values, is_new) if n]


# The noise of captures, in standard deviations, in the order of time; and how the sides take turns.
KINDS = {
    "normal": (lambda chance, n: [chance.gauss(0, 1) for _ in range(n)], sides_of),
    "heavy tails": (lambda chance, n: [t3(chance) for _ in range(n)], sides_of),
    "outliers": (lambda chance, n: [t3(chance) + (15 if chance.random() < 0.06 else 0) for _ in range(n)], sides_of),
    "drift in blocks": (drift, sides_of),
    "drift in turns": (drift, in_turns),
}


def pairs_of(kind, new, base, count, shift):
    make, divide = KINDS[kind]
    chance = random.Random(f"{kind} {new} {base}")
    for _ in range(count):
        b, n = divide([42 * (1 + SD * v) for v in make(chance, new + base)], new, base)
        yield b, [v * (1 + shift) for v in n]


def judged(pairs):
    text = "".join(f"{BUDGET} {NOISE} {' '.join(map(repr, b))} | {' '.join(map(repr, n))}\n" for b, n in pairs)
    done = subprocess.run([VERDICTS], input=text, capture_output=True, encoding="ascii", check=True, timeout=7200)
    return [(verdict, float(low), float(high)) for verdict, low, high in map(str.split, done.stdout.splitlines())]


def rate(kind, new, base, count, shift):
    """Share of pairs that are called regressed."""
    return sum(verdict == "regressed" for verdict, _, _ in judged(pairs_of(kind, new, base, count, shift))) / count


# --- the rule a second time -------------------------------------------------------------------------

def cut(m, n):
    """How many differences lie outside the 95 % interval on each side: ranks of n of m + n values, all arrangements counted."""
    ways = {(0, 0): 1}
    for rank in range(1, m + n + 1):
        for (k, total), count in list(ways.items()):
            if k < n:
                ways[k + 1, total + rank] = ways.get((k + 1, total + rank), 0) + count
    below, outside, every = 0, -1, math.comb(m + n, n)
    for u in range(m * n + 1):
        below += ways.get((n, n * (n + 1) // 2 + u), 0)
        if 2 * below > 0.05 * every:
            break
        outside = u
    return outside


def history_noise(base):
    if len(base) < 10:
        return 0
    changes = [abs(after / before - 1) for before, after in itertools.pairwise(base)]
    q1, _, q3 = statistics.quantiles(changes, n=4, method="inclusive")
    return q3 + 3 * (q3 - q1)


def is_regressed(base, new, outside):
    """As docs/comparing.md says it, at least 4 captures a side."""
    level = statistics.median(base)
    noise = history_noise(base) * math.sqrt((1 / len(base) + 1 / len(new)) / 2)
    differences = sorted(n - b for n in new for b in base)
    return statistics.median(differences) > level * max(BUDGET / 100, noise) and differences[outside] > level * NOISE / 100


class Curves(unittest.TestCase):
    def test_rule(self):
        for new, base in ((4, 4), (5, 5), (10, 10), (4, 12), (6, 20)):
            outside = cut(base, new)
            for sd in (1, 3):
                for shift in (0.03, SHIFT):
                    pairs = [(b, [v + (sd - 1) * (v - 42 * (1 + shift)) for v in n]) for b, n in pairs_of("normal", new, base, 60, shift)]
                    want = [is_regressed(b, n, outside) for b, n in pairs]
                    self.assertEqual([v == "regressed" for v, _, _ in judged(pairs)], want, (new, base, sd, shift))

    def check(self, count, sizes):
        """Returns the power of normal captures by size."""
        sure = 3 * math.sqrt(0.05 * 0.95 / count)
        power = {size: rate("normal", *size, count, SHIFT) for size in sizes}
        for size, found in power.items():
            self.assertGreaterEqual(found, 0.95 - sure, size)
        for (new, base), found in power.items(): # more captures of a side never find less
            for (n, b), more in power.items():
                if n >= new and b >= base:
                    self.assertGreaterEqual(more, found - 0.005 - sure / 3, ((new, base), (n, b)))
        return power

    def test_power(self):
        self.check(300, SIZES)

    def test_false_alarms(self):
        for kind in KINDS:
            wrong = sum(rate(kind, *size, 150, 0) * 150 for size in SIZES)
            self.assertLessEqual(wrong, 3, kind)

    @support.tier("soak")
    def test_drift_in_blocks(self):
        """Below 1 in 1,000 with long histories, too: 4,000 pairs are too few to tell that."""
        for size in ((5, 35), (10, 35)):
            self.assertLess(rate("drift in blocks", *size, 40000, 0), 0.001, size)

    def test_coverage(self):
        """The interval of equal programs holds 0, unless they drift and are captured one after the other."""
        for kind, captures, least, most in (("normal", 5, 0.94, 1), ("normal", 10, 0.94, 1), ("drift in blocks", 5, 0.57, 0.67),
                                            ("drift in blocks", 10, 0.38, 0.48), ("drift in turns", 5, 0.99, 1), ("drift in turns", 10, 0.99, 1)):
            found = judged(pairs_of(kind, captures, captures, 1500, 0))
            share = sum(low <= 0 <= high for _, low, high in found) / len(found)
            self.assertTrue(least <= share <= most, (kind, captures, share))

    @support.tier("soak")
    def test_curves(self):
        """All curves; false alarms below 1 in 1,000 over the sizes of a kind, and no number of the documentation is another."""
        count = 4000
        self.check(count, SIZES)
        documented = {}
        for row in re.findall(r"^\| (\d+) \+ (\d+) \|(.*)\|$", (SOURCE / "docs/comparing.md").read_text(), re.M):
            documented[int(row[0]), int(row[1])] = [float(cell.split()[0]) for cell in row[2].split("|")]
        self.assertEqual(set(documented), {*SIZES, *SINGLE})
        alarms = {kind: 0 for kind in KINDS}
        for new, base in documented:
            power = [100 * rate(kind, new, base, count, SHIFT) for kind in ("normal", "heavy tails")]
            false = [100 * rate(kind, new, base, count, 0) for kind in KINDS]
            print(f"| {new} + {base} | " + " | ".join(f"{v:.1f} %" for v in power) + " | " + " | ".join(f"{v:.2f} %" for v in false) + " |")
            for kind, measured in zip(KINDS, false):
                alarms[kind] += measured * (new >= 4)
            for said, measured in zip(documented[new, base], power + false):
                self.assertAlmostEqual(said, measured, delta=0.1 + 4 * math.sqrt(max(measured, 0.1) * (100 - measured + 0.1) / count))
        for kind, total in alarms.items():
            self.assertLess(total / len(SIZES), 0.1, kind)


if __name__ == "__main__":
    support.main()
