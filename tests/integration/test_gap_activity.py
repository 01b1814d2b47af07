"""What the CPU did in gaps, against a recount over the exports with SQL and Python."""
import collections
import sqlite3
import unittest

import support
from support import analyze, ns_of_ms, report

LOOKED_AT = 40  # gaps of each trace


def exports():
    """Exports that tell more of the CPU than CUDA calls."""
    for path in support.exports():
        db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables & {"OSRT_API", "SCHED_EVENTS", "COMPOSITE_EVENTS"} and "CUPTI_ACTIVITY_KIND_RUNTIME" in tables:
            yield path.stem, path, db, tables
        db.close()


def ids(db, pid, tid):
    """Serialized ids of a thread."""
    return {g for (g,) in db.execute("SELECT DISTINCT globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME")
            if g >> 24 & 0xffffff == pid and g & 0xffffff == tid}


def with_stack(db, tables):
    """Of samples most of which have no stack, those that have one count."""
    if "SAMPLING_CALLCHAINS" not in tables:
        return ""
    alone, stacks = db.execute("SELECT coalesce(sum(n = 1), 0), coalesce(sum(n > 1), 0) FROM"
                               " (SELECT count(*) n FROM SAMPLING_CALLCHAINS GROUP BY id)").fetchone()
    return " AND (SELECT count(*) FROM SAMPLING_CALLCHAINS c WHERE c.id = COMPOSITE_EVENTS.id) > 1" if alone > stacks > alone // 10 else ""


def os_runtime(db, thread, start, end):
    """ns by function: outermost calls only."""
    columns = [row[1] for row in db.execute("PRAGMA table_info(OSRT_API)")]
    outermost = "coalesce(nestingLevel, 0) = 0" if "nestingLevel" in columns else "1"
    rows = db.execute(f"SELECT o.start, o.end, s.value FROM OSRT_API o JOIN StringIds s ON s.id = o.nameId WHERE globalTid = ? "
                      f"AND o.end > ? AND o.start < ? AND o.end > o.start AND {outermost} AND eventClass = 27 ORDER BY 1",
                      (thread, start, end))
    sums = collections.Counter()
    for a, b, name in rows:
        sums[name] += min(b, end) - max(a, start)
    return +sums


def scheduling(db, thread, start, end):
    """(on, off) in ns from neighboring rows that alternate."""
    rows = db.execute("SELECT start, isSchedIn FROM SCHED_EVENTS WHERE globalTid = ? ORDER BY 1, 2", (thread,)).fetchall()
    on = off = 0
    for (a, first), (b, second) in zip(rows, rows[1:]):
        ns = max(0, min(b, end) - max(a, start))
        on += ns if first and not second else 0
        off += ns if second and not first else 0
    return on, off


class GapActivity(unittest.TestCase):
    def test_recount(self):
        cases = list(name for name, *_ in exports())
        if not cases:
            self.skipTest("no reference traces")
        for name, path, db, tables in exports():
            with self.subTest(name):
                self.recount(report(analyze(path)), db, tables)

    def recount(self, made, db, tables):
        functions = collections.defaultdict(dict)
        for row in made.rows("gap_functions"):
            functions[row["subject"]][row["layer"], row["class"], row["function"]] = row
        for number, row in enumerate(made.rows("gap_activity")):
            if row["scope"] not in ("gap", "set_up", "before_work", "after_work") or row["tid"] is None or number > LOOKED_AT and row["scope"] == "gap":
                continue
            thread, = ids(db, row["pid"], row["tid"])
            found, span = functions[number], (row["start_ns"], row["end_ns"])
            self.assertEqual(ns_of_ms(row["total_ms"]), span[1] - span[0])
            if "OSRT_API" in tables:
                got = {key[2]: ns_of_ms(r["time_ms"]) for key, r in found.items()
                       if key[0] == "os_runtime" and key[1] != "rest"}
                self.assertEqual(got, dict(os_runtime(db, thread, *span)), span)
            if "SCHED_EVENTS" in tables and row["on_cpu_ms"] is not None:
                self.assertEqual((ns_of_ms(row["on_cpu_ms"]), ns_of_ms(row["off_cpu_ms"])), scheduling(db, thread, *span))
            if "COMPOSITE_EVENTS" in tables and row["sample_count"] is not None:
                count, = db.execute("SELECT count(*) FROM COMPOSITE_EVENTS WHERE globalTid = ? AND start >= ? AND start < ?" + with_stack(db, tables),
                                    (thread, *span)).fetchone()
                self.assertEqual(row["sample_count"], count)

    def test_layers_add_up(self):
        """The rows of a layer are the time that is looked at, to the ns."""
        for name, path, *_ in exports():
            with self.subTest(name):
                made = report(analyze(path))
                sums = collections.Counter()
                for row in made.rows("gap_functions"):
                    if row["layer"] != "launched_from":
                        sums[row["subject"], row["layer"]] += ns_of_ms(row["time_ms"])
                totals = [ns_of_ms(row["total_ms"]) for row in made.rows("gap_activity")]
                for (subject, layer), ns in sums.items():
                    self.assertEqual(ns, totals[subject], (subject, layer))


if __name__ == "__main__":
    support.main()
