"""copy_rates against a recount from the exports: rates of large copies, and what a copy's data waited for, moment by moment."""
import collections
import sqlite3
import statistics
import unittest

import support
from support import artifacts, ns_of_ms, read_csv, trace

MIB = 1 << 20


def exports():
    for scenario in ("copy-bound", "copy-lag", "first-touch", "tiny-copies", "drained-queue", "neglected", "pause"):
        yield scenario, trace(scenario)
    for path in support.exports():
        yield path.stem, path


class CopyRates(unittest.TestCase):
    maxDiff = 4000

    def test_rates(self):
        """Median rates with SQL, where the export has one GPU."""
        for name, path in exports():
            out = artifacts(path)
            rows = read_csv(out, "copy_rates")
            if {r["device_id"] for r in rows} != {"0"}:
                continue
            with self.subTest(name):
                db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
                copies = db.execute("SELECT start, end, bytes, copyKind, srcKind, dstKind FROM CUPTI_ACTIVITY_KIND_MEMCPY "
                                    "WHERE copyKind < 11 AND end >= start AND NOT (start = 0 AND end = 0)").fetchall()
                self.check_rates(rows, copies)

    def check_rates(self, rows, copies):
        groups = collections.defaultdict(list)
        for start, end, size, *kind in copies:
            beside = sum(k[0] == kind[0] and s < end and e > start for s, e, _, *k in copies) > 1 if size >= MIB else False
            groups[tuple(str(k) for k in kind)].append((end - start, size, beside))
        self.assertEqual({(r["copy_kind"], r["src_kind_id"], r["dst_kind_id"]) for r in rows}, set(groups))
        for r in rows:
            group = groups[r["copy_kind"], r["src_kind_id"], r["dst_kind_id"]]
            large = [size / ns for ns, size, beside in group if size >= MIB and not beside and ns]
            self.assertEqual((int(r["count"]), int(r["large_count"])), (len(group), len(large)), r)
            self.assertEqual(int(r["shared_count"]), sum(beside for *_, beside in group), r)
            if large:
                self.assertAlmostEqual(float(r["p50_gb_per_s"]), statistics.median(large), delta=0.001 * statistics.median(large))
            if large and r["limit_gb_per_s"]:
                limit = float(r["limit_gb_per_s"])
                excess = sum(max(0, ns - size / limit) for ns, size, beside in group if size >= MIB and not beside)
                self.assertAlmostEqual(ns_of_ms(r["excess_ms"]), excess, delta=len(group))

    def test_bounds(self):
        for name, path in exports():
            out = artifacts(path)
            for r in read_csv(out, "copy_rates"):
                self.assertLessEqual(ns_of_ms(r["overlappable_ms"]), ns_of_ms(r["exposed_ms"]), (name, r))

    def test_lag(self):
        """The plan: 30 copies of 16 MiB at a fifth of the link, each alone, with 3 ms of kernels before their data is used."""
        row, = [r for r in read_csv(artifacts(trace("copy-lag")), "copy_rates")]
        self.assertEqual([ns_of_ms(row[c]) for c in ("exposed_ms", "overlappable_ms")], [30 * 1677721] * 2)
        self.assertEqual((row["link"], float(row["limit_gb_per_s"]), row["large_count"]), ("PCIe 5.0 x16", 50, "30"))
        self.assertAlmostEqual(float(row["p50_pct_of_limit"]), 20, places=2)


if __name__ == "__main__":
    support.main()
