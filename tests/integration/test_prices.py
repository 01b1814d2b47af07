"""What findings say can be saved, against the same program without the loss: its time is found in the export by SQL and cut out of it."""
import bisect
import re
import shutil
import sqlite3
import unittest

import support
from support import fresh_dir, trace

EVENTS = "CUPTI_ACTIVITY_KIND_"


class Export:
    """Times of the only GPU of a generated export."""

    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.tables = {name for name, in self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self.kernels = self.union(self.rows("KERNEL") + self.rows("GRAPH_TRACE"))
        self.copies = self.union(self.rows("MEMCPY") + self.rows("MEMSET"))
        self.busy = self.union(self.kernels + self.copies)
        self.gaps = [(a[1], b[0]) for a, b in zip(self.busy, self.busy[1:])]

    def rows(self, table, where="1", *values):
        table = table if table in self.tables else EVENTS + table
        return self.db.execute(f"SELECT start, end FROM {table} WHERE {where}", values).fetchall() if table in self.tables else []

    def calls(self, pattern):
        named = "SELECT r.start, r.end, s.value FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId"
        return [(start, end) for start, end, name in self.db.execute(named) if re.search(pattern, name)]

    @staticmethod
    def union(spans):
        out = []
        for start, end in sorted(spans):
            if out and start <= out[-1][1]:
                out[-1] = (out[-1][0], max(out[-1][1], end))
            else:
                out.append((start, end))
        return out

    @classmethod
    def both(cls, one, other):
        one, other, out, i, k = cls.union(one), cls.union(other), [], 0, 0
        while i < len(one) and k < len(other):
            start, end = max(one[i][0], other[k][0]), min(one[i][1], other[k][1])
            out += [(start, end)] if start < end else []
            i, k = (i + 1, k) if one[i][1] < other[k][1] else (i, k + 1)
        return out

    @classmethod
    def without(cls, one, other):
        other = cls.union(other)
        return cls.both(one, zip([float("-inf")] + [end for _, end in other], [start for start, _ in other] + [float("inf")]))


def cut(path, name, spans):
    """A copy of the export in which what lies in `spans` took no time."""
    spans = Export.union(spans)
    starts, sums = [start for start, _ in spans], [0]
    for start, end in spans:
        sums.append(sums[-1] + end - start)

    def at(t):
        i = bisect.bisect_right(starts, t)
        return t if not i or t is None else t - sums[i - 1] - min(t, spans[i - 1][1]) + spans[i - 1][0]

    copy = fresh_dir("cut") / f"{name}.sqlite"
    shutil.copyfile(path, copy)
    db = sqlite3.connect(copy)
    db.create_function("at", 1, lambda t: t if t is None else at(t), deterministic=True)
    for table, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
        changed = [f"{column} = at({column})" for column in ("start", "end", "timestamp") if column in columns]
        if changed and table.startswith((EVENTS, "NVTX", "OSRT", "PROFILER", "SCHED", "COMPOSITE")):
            db.execute(f"UPDATE {table} SET {', '.join(changed)}")
    db.commit()
    db.close()
    return copy, sums[-1]


def idle_in(pattern):
    return lambda e: e.both(e.gaps, e.calls(pattern))


def instantiated_again(e):
    """Behind the first fifth of the run, in which graphs have to be made."""
    calls = sorted(e.calls("GraphInstantiate"))
    return e.both(e.gaps, calls[len(calls) // 5:])


def exposed_copies(e):
    return e.without(e.copies, e.kernels)


def own_code(e):
    return e.without(e.gaps, e.calls(""))


def reading(e):
    return e.both(e.gaps, e.rows("OSRT_API", "nameId IN (SELECT id FROM StringIds WHERE value = 'read')"))


def all_gaps(e):
    return e.gaps


def inside_graphs(e):
    """Between the nodes of one launch of a graph."""
    nodes = {}
    for start, end, launch in e.db.execute("SELECT start, end, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE graphNodeId IS NOT NULL"):
        low, high = nodes.get(launch, (start, end))
        nodes[launch] = (min(low, start), max(high, end))
    return e.both(e.gaps, list(nodes.values()))


def behind_an_event(e):
    """Gaps before a kernel whose launch comes right behind a call that makes its stream wait."""
    waits = [end for _, end in e.calls("StreamWaitEvent")]
    launched = e.db.execute("""SELECT k.start, r.start FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId)""")
    late = {start for start, call in launched if any(0 <= call - end < 20_000 for end in waits)}
    return [gap for gap in e.gaps if gap[1] in late and gap[1] - gap[0] > 20_000]


def beyond_the_median(kernel):
    """What calls of a kernel take longer than the median of them."""
    def loss(e):
        spans = e.rows("KERNEL", "shortName = (SELECT id FROM StringIds WHERE value = ?)", kernel)
        usual = sorted(end - start for start, end in spans)[len(spans) // 2]
        return [(start + usual, end) for start, end in spans if end - start > 2 * usual]
    return loss


def half_of(pattern):
    return lambda e: [(start, (start + end) // 2) for start, end in e.rows(
        "KERNEL", "shortName IN (SELECT id FROM StringIds WHERE value LIKE ?)", f"%{pattern}%")]


def flushes(e):
    return e.both(e.gaps, e.rows("PROFILER_OVERHEAD"))


def loading(e):
    return e.both(e.gaps, e.rows("OVERHEAD"))


def longest_gap(e):
    return [max(e.gaps, key=lambda gap: gap[1] - gap[0])]


def before_calls(e):
    return [(0, min(start for start, _ in e.calls("")))]


NOISE = 0.02  # single calls of microseconds that no finding counts

# Finding, scenario, its loss, and how often the gain may fit into what is said.
PAIRS = [
    ("allocation-in-steady-state", "alloc-churn", idle_in("Malloc|Free"), 1.05),
    ("copies-on-compute-stream", "copy-lag", exposed_copies, 1.05),
    ("exposed-copy", "copy-bound", exposed_copies, 1.05),
    ("exposed-copy", "first-touch", exposed_copies, 1.05),
    ("exposed-copy", "tiny-copies", exposed_copies, 1.05),
    ("few-long-calls", "long-calls", beyond_the_median("search_tree"), 1.1),
    ("graph-gaps", "graph-capture", inside_graphs, 1.05),
    ("graph-reinstantiated", "graph-churn", instantiated_again, 1.05),
    ("idle-dependency", "dependency", behind_an_event, 1.05),
    ("idle-wait-per-launch", "row-loop", all_gaps, 1.05),
    ("data-loader-stall", "steps-input", own_code, 1.05),
    ("idle-host-code", "cpu-work", own_code, 1.05),
    ("idle-launch-call", "launch-storm", idle_in("Launch"), 1.1),
    ("idle-module-load", "cold", loading, 1.1),
    ("idle-profiler", "profiler-flush", flushes, 1.05),
    ("old-attention-kernel", "bimodal", half_of("flash_fwd"), 1.05),
    ("overlappable-copies", "copy-lag", exposed_copies, 1.05),
]
# The same where the time lies outside of the active spans: what is cut out is won.
OUTSIDE = [
    ("host-set-up-dominates", "cpu-work", before_calls, 1.05),
    ("pause-dominates", "pause", longest_gap, 1.1),
    ("slow-step", "steps", reading, 1.05),
]


def findings(path):
    return {f["id"]: f for f in support.report(support.artifacts(path)).json["findings"]}


def active_ns(path):
    return sum(support.ns_of_ms(row["active_ms"]) for row in support.read_csv(support.artifacts(path), "gpu_active"))


class Prices(unittest.TestCase):
    def check(self, rule, scenario, loss, most, outside):
        path = trace(scenario)
        better, removed = cut(path, f"{scenario}-{rule}", loss(Export(path)))
        said = findings(path)[rule]["saving_ns"]
        won = removed if outside else active_ns(path) - active_ns(better)
        self.assertGreater(won, 0)
        self.assertTrue(won <= said * (1 + NOISE) and said <= most * won, (said, won))
        rest = findings(better).get(rule)
        if rule != "old-attention-kernel":  # the names tell, whatever the time
            self.assertLess(rest["saving_ns"] if rest and rest["saving_ns"] else 0, 0.3 * said)

    def test_what_is_said_can_be_won_and_no_more(self):
        for pairs, outside in ((PAIRS, False), (OUTSIDE, True)):
            for rule, scenario, loss, most in pairs:
                with self.subTest(rule, scenario=scenario):
                    self.check(rule, scenario, loss, most, outside)


if __name__ == "__main__":
    support.main()
