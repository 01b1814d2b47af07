"""Statistics of a selected range in report.html against SQL, on a trace too long for the page to hold every event."""
import json
import random
import shutil
import sqlite3
import subprocess
import unittest

import support
from support import SOURCE, analyze, fresh_dir, trace

TILES = 4
GPU_TABLES = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET")
TIMED = GPU_TABLES + ("CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS")


def tiled(source):
    """The trace, repeated in time."""
    path = fresh_dir() / "tiled.sqlite"
    shutil.copy(source, path)
    with sqlite3.connect(path) as database:
        low, high = database.execute(" UNION ".join(f"SELECT min(start) a, max(end) b FROM {t}" for t in TIMED)
                                     .join(("SELECT min(a), max(b) FROM (", ")"))).fetchone()
        for table in TIMED:
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            for tile in range(1, TILES):
                shifted = [f"{c} + {tile * (high - low + 1000)}" if c in ("start", "end") else
                           f"{c} + {tile * 10000000}" if c == "correlationId" else c for c in columns]
                database.execute(f"INSERT INTO {table} SELECT {', '.join(shifted)} FROM {table} WHERE start < {high} "
                                 f"AND rowid <= (SELECT count(*) / {tile} FROM {table})")
    return path


def union_ns(intervals):
    total, until = 0, -1
    for start, end in sorted(intervals):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


class Truth:
    """The same statistics from the export."""

    def __init__(self, path):
        self.database = sqlite3.connect(path)

    def rows(self, sql, *values):
        return self.database.execute(sql, values).fetchall()

    def totals(self, table, name, start, end):
        """By name: [events that begin in the range, ns inside it]."""
        sql = (f"SELECT s.value, sum(k.start >= :a), sum(max(0, min(k.end, :b) - max(k.start, :a))) FROM {table} k "
               f"JOIN StringIds s ON s.id = k.{name} WHERE k.start < :b AND (k.end > :a OR k.start >= :a) GROUP BY 1")
        return {value: [count, ns] for value, count, ns in self.database.execute(sql, {"a": start, "b": end}) if count or ns}

    def busy(self, device, start, end):
        return union_ns([(max(a, start), min(b, end)) for table in GPU_TABLES for a, b in self.rows(
            f"SELECT start, end FROM {table} WHERE deviceId = ? AND start < ? AND end > ?", device, end, start)])

    def launches(self, start, end):
        works = " UNION ".join(f"SELECT globalPid / 0x1000000 p, correlationId c FROM {t} WHERE correlationId > 0" for t in GPU_TABLES)
        return self.rows(f"SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME r WHERE start >= ? AND start < ? AND "
                         f"(globalTid / 0x1000000, correlationId) IN ({works})", start, end)[0][0]

    def blocked(self, start, end):
        names = "s.value LIKE '%Synchronize%' OR s.value LIKE 'cudaMemcpy\\_v%' ESCAPE '\\' OR s.value = 'cudaMemcpy'"
        return self.rows(f"SELECT coalesce(sum(min(r.end, ?2) - max(r.start, ?1)), 0) FROM CUPTI_ACTIVITY_KIND_RUNTIME r "
                         f"JOIN StringIds s ON s.id = r.nameId WHERE ({names}) AND start < ?2 AND end > ?1", start, end)[0][0]

    def copies(self, device, start, end):
        return self.rows("SELECT count(*), coalesce(sum(bytes), 0) FROM CUPTI_ACTIVITY_KIND_MEMCPY "
                         "WHERE deviceId = ? AND start >= ? AND start < ?", device, start, end)[0]


@support.unsanitized("JavaScript does not depend on the sanitizers")
@unittest.skipUnless(shutil.which("node"), "no Node")
class Ranges(unittest.TestCase):
    def page(self, directory, *ranges):
        done = subprocess.run(["node", SOURCE / "tests" / "viewer" / "ranges.mjs", directory / "report.html",
                               *(f"{a}~{b}" for a, b in ranges)], capture_output=True, text=True, check=True, timeout=60)
        return json.loads(done.stdout)

    def compare(self, truth, origin, stats):
        start, end = origin + stats["from"], origin + stats["to"]
        where = f"[{stats['from']}, {stats['to']})"
        for gpu in stats["gpus"]:
            device = gpu["gpu"]
            self.assertEqual(gpu["busyNs"], truth.busy(device, start, end), where)
            self.assertEqual((gpu["copies"], gpu["copiedBytes"]), truth.copies(device, start, end), where)
        for key, table, name in (("kernels", "CUPTI_ACTIVITY_KIND_KERNEL", "demangledName"),
                                 ("apis", "CUPTI_ACTIVITY_KIND_RUNTIME", "nameId")):
            shown = {entry["name"]: [entry["count"], entry["ns"]] for entry in stats[key] if entry["count"] or entry["ns"]}
            wanted = {n.split("_v")[0] if key == "apis" else n: v for n, v in truth.totals(table, name, start, end).items()}
            shown = {n.split("_v")[0] if key == "apis" else n: v for n, v in shown.items()}
            self.assertEqual(shown, wanted, f"{where} {key}")
        self.assertEqual(stats["kernelCount"], sum(e["count"] for e in stats["kernels"]))
        self.assertEqual(stats["blockedNs"], truth.blocked(start, end), where)
        self.assertEqual(stats["launches"], truth.launches(start, end), where)

    def test_ten_random_ranges(self):
        path = tiled(trace("training"))
        directory = analyze(path, "--page-events", "2000")
        first = self.page(directory)
        self.assertTrue(first["aggregated"])
        chance, origin = random.Random(7), int(first["origin"])
        ranges = [tuple(sorted(chance.sample(range(first["end"]), 2))) for _ in range(10)]
        begin, end = first["windows"][len(first["windows"]) // 2]
        ranges += [(begin + 10, end - 10), (begin + (end - begin) // 2, first["end"]), (0, first["end"])]
        truth = Truth(path)
        for wanted, stats in zip(ranges, self.page(directory, *ranges)["stats"]):
            self.assertLessEqual(stats["from"], wanted[0])
            self.assertGreaterEqual(stats["to"], wanted[1])
            self.assertLessEqual(wanted[0] - stats["from"], first["bin"])
            self.assertLessEqual(stats["to"] - wanted[1], first["bin"])
            self.compare(truth, origin, stats)
        inside = self.page(directory, ranges[10])["stats"][0]  # of a stretch with every event, nothing is widened
        self.assertEqual((inside["from"], inside["to"]), ranges[10])


if __name__ == "__main__":
    support.main()
