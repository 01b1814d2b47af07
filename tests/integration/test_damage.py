"""Damage inside of one table: it costs that table and nothing else where the rest can be trusted, and the report says so
first. What the report must be without the table is asked of an export that never had it."""
import contextlib
import itertools
import re
import shutil
import sqlite3
import unittest

import support
from support import PROGRAM, analyze, fresh_dir, report, run, trace, tree

READERS = ("direct", "sqlite")
# What says that a table is missing, or why; all else must be as if the table had never been there.
ABOUT_MISSING = ("capabilities", "data_quality", "findings", "evidence", "run_info", "metrics", "readers", "capture", "capture_health", "extract_notes", "probe_notes", "what_if", "what_if_plan")


class Pages:
    """An SQLite file taken apart by hand: docs of the file format, sections 1.5 and 1.6."""

    def __init__(self, path):
        self.data = bytearray(path.read_bytes())
        self.size = int.from_bytes(self.data[16:18], "big")
        self.size = 65536 if self.size == 1 else self.size
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.roots = dict(db.execute("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'"))
        db.close()

    def at(self, page):
        return (page - 1) * self.size

    def number(self, at, width):
        return int.from_bytes(self.data[at:at + width], "big")

    def leaves(self, page):
        at = self.at(page)
        if self.data[at] == 13:
            return [page]
        cells = [self.number(at + 12 + 2 * i, 2) for i in range(self.number(at + 3, 2))]
        children = [self.number(at + cell, 4) for cell in cells] + [self.number(at + 8, 4)]
        return [leaf for child in children for leaf in self.leaves(child)]

    def of(self, table):
        return self.leaves(self.roots[table])


def no_page(pages, leaf):
    pages.data[pages.at(leaf):pages.at(leaf) + pages.size] = bytes(pages.size)


def no_rows(pages, leaf):
    pages.data[pages.at(leaf) + 3:pages.at(leaf) + 5] = bytes(2)


def rows_twice(pages, leaf):
    """The leaf before it once more."""
    leaves = next(leaves for table in pages.roots if leaf in (leaves := pages.of(table)))
    other = leaves[leaves.index(leaf) - 1]
    pages.data[pages.at(leaf):pages.at(leaf) + pages.size] = pages.data[pages.at(other):pages.at(other) + pages.size]


def long_header(pages, leaf):
    """The first row's header claims to be longer than the row."""
    at = pages.at(leaf)
    cell = at + pages.number(at + 8, 2)
    while pages.data[cell] & 0x80:  # payload length, then rowid
        cell += 1
    cell += 1
    while pages.data[cell] & 0x80:
        cell += 1
    pages.data[cell + 1] = 0x7f


def damaged(source, table, how, which=0.5, directory=None):
    """A copy of an export, of the same name, with damage in one leaf of a table."""
    path = (directory or fresh_dir()) / source.name
    pages = Pages(source)
    leaves = pages.of(table)
    how(pages, leaves[int(len(leaves) * which)])
    path.write_bytes(pages.data)
    return path


def without(source, table):
    path = fresh_dir() / source.name
    shutil.copy(source, path)
    path.chmod(0o644)
    db = sqlite3.connect(path)
    db.execute(f'DROP TABLE "{table}"')
    db.commit()
    db.close()
    return path


class Borne(unittest.TestCase):
    """Tables that other numbers do not need."""

    def look_at(self, source, table, how, which=0.5):
        path = damaged(source, table, how, which)
        outs = [analyze(path, "--reader", reader) for reader in READERS]
        said = [report(out) for out in outs]
        for name in ("report.md", "report.json", "report.html"):
            self.assertEqual(*((out / name).read_bytes() for out in outs), f"{table}: {name}")
        db = sqlite3.connect(source)
        rows = db.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]
        db.close()
        first = said[0].json["verdict"]["text"]
        self.assertRegex(first, rf"^The trace is damaged; left out: {table}( \([\d,]+ rows?\))?\. ")
        self.assertIn(first, re.sub(r"\\(.)", r"\1", "\n".join((outs[0] / "report.md").read_text().splitlines()[:8])))
        quality = [row for row in said[0].rows("data_quality") if row["check"] == "rows-in-damaged-table"]
        self.assertEqual([(row["source_table"], row["severity"]) for row in quality], [(table, "error")])
        self.assertLessEqual(quality[0]["count"], rows)
        if len(Pages(source).of(table)) > 1:
            self.assertGreater(quality[0]["count"], 0)
        self.assertGreaterEqual(said[0].rows("run_info")[0]["dropped_rows"], quality[0]["count"])
        capabilities = [row for row in said[0].rows("capabilities") if row["source"] == table]
        self.assertTrue(capabilities)
        for row in capabilities:
            self.assertEqual(row["available"], 0)
            self.assertIn("damaged", row["detail"])
        return said[0]

    def compare_with_absent(self, source, table, got):
        absent = report(analyze(without(source, table)))
        for name, whole in absent.json["tables"].items():
            if name not in ABOUT_MISSING:
                self.assertEqual(got.json["tables"][name], whole, f"{table}: {name}")

    def test_nvtx(self):
        source = trace("training")
        for how in (no_page, no_rows, long_header):
            got = self.look_at(source, "NVTX_EVENTS", how)
        self.compare_with_absent(source, "NVTX_EVENTS", got)
        self.assertNotIn("no-nvtx", got.findings())  # they are there, but cannot be read
        self.assertIn("trace-health", got.findings())

    @support.tier("ci")
    def test_every_other_table(self):
        source = trace("evidence")
        pages = Pages(source)
        for table in BORNE:
            self.assertIn(table, pages.roots)
            got = self.look_at(source, table, no_page, 0)
            self.compare_with_absent(source, table, got)

    def test_texts_in_the_place_of_numbers(self):
        """As where the page is another table's: they are counted, not passed over."""
        for scenario, table, column in (("evidence", "DIAGNOSTIC_EVENT", "severity"), ("shared-gpu-mapped", "PROCESSES", "globalPid"),
                                        ("shared-gpu-mapped", "ThreadNames", "globalTid"),
                                        ("shared-gpu-mapped", "TARGET_INFO_CUDA_DEVICE", "pid")):
            path = fresh_dir() / "trace.sqlite"
            shutil.copy(trace(scenario), path)
            path.chmod(0o644)
            with contextlib.closing(sqlite3.connect(path)) as db:
                changed = db.execute(f"UPDATE {table} SET {column} = 'none'").rowcount
                db.commit()
            self.assertGreater(changed, 0)
            for reader in READERS:
                said = report(analyze(path, "--reader", reader))
                counted = [row["count"] for row in said.rows("data_quality")
                           if (row["check"], row["source_table"]) == ("rows-without-value", table)]
                self.assertEqual(counted, [changed], table)

    def test_the_highest_thread(self):
        """A number that no thread has is a thread like others."""
        source = trace("evidence")
        for table in "SCHED_EVENTS", "COMPOSITE_EVENTS":
            path = fresh_dir() / "trace.sqlite"
            shutil.copy(source, path)
            path.chmod(0o644)
            with contextlib.closing(sqlite3.connect(path)) as db:
                db.execute(f"UPDATE {table} SET globalTid = 9223372036854775807 WHERE rowid = 5")
                db.commit()
            self.assertEqual(len(report(analyze(path)).rows("cpu_threads")), 1 + len(report(analyze(source)).rows("cpu_threads")))

    def test_probe_says_so(self):
        path = damaged(trace("training"), "NVTX_EVENTS", no_page)
        done = run("probe", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"no  NVTX +table NVTX_EVENTS is damaged; not available: NVTX ranges")
        self.assertIn("rows-in-damaged-table", done.stdout)

    def test_reuse(self):
        """A run of the damaged file gives nothing to one of the whole file in its place, and the other way round."""
        source, place = trace("training"), fresh_dir()
        path, out = place / source.name, place / "out"
        shutil.copy(source, path)
        whole = tree(analyze(path, out=out))
        path.unlink()
        damaged(source, "NVTX_EVENTS", no_page, directory=place)
        self.assertIn("damaged", report(analyze(path, out=out)).json["verdict"]["text"])
        shutil.copy(source, path)
        self.assertEqual(tree(analyze(path, out=out)), whole)


class Refused(unittest.TestCase):
    """Tables whose loss would make other numbers wrong."""

    def test_another_page_for_the_root(self):
        """One that fits in its place by itself: a leaf of the table itself, or of another."""
        source = trace("training")
        for table, other in (("CUPTI_ACTIVITY_KIND_KERNEL",) * 2, ("StringIds", "CUPTI_ACTIVITY_KIND_KERNEL"),
                             ("StringIds", "TARGET_INFO_CUDA_DEVICE")):
            for exchange, reader in itertools.product((False, True), READERS):
                pages = Pages(source)
                root, leaf = pages.at(pages.roots[table]), pages.at(pages.of(other)[0])
                self.assertNotEqual(root, leaf)
                was = pages.data[root:root + pages.size]
                pages.data[root:root + pages.size] = pages.data[leaf:leaf + pages.size]
                if exchange:
                    pages.data[leaf:leaf + pages.size] = was
                path = fresh_dir() / "trace.sqlite"
                path.write_bytes(pages.data)
                done = run("analyze", path, "--out", fresh_dir() / "out", "--reader", reader)
                self.assertEqual(done.returncode, 3, (table, other, exchange, reader))
                self.assertRegex(done.stderr, r"the file is damaged: page \d+: ")

    def test_vital_tables(self):
        source = trace("training")
        for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_RUNTIME", "StringIds"):
            leaves = Pages(source).of(table)
            for how, reader in itertools.product((no_page, no_rows, rows_twice)[:2 + (len(leaves) > 1)], READERS):
                path = damaged(source, table, how)
                out = path.parent / "out"
                done = run("analyze", path, "-q", "--reader", reader, "--out", out)
                self.assertEqual((done.returncode, done.stdout), (3, ""), (table, how, reader))
                self.assertRegex(done.stderr, r"^nsys-ai: [^\n]+\n$")
                self.assertIn(table, done.stderr)
                self.assertFalse(out.exists())

    def test_two_at_once(self):
        """A damaged table that can be done without does not excuse one that cannot."""
        path = damaged(trace("training"), "NVTX_EVENTS", no_page)
        damaged(path, "CUPTI_ACTIVITY_KIND_KERNEL", no_page, directory=(directory := fresh_dir()))
        for reader in READERS:
            self.assertEqual(run("analyze", directory / path.name, "-q", "--reader", reader, "--out", directory / "out").returncode, 3)


BORNE = ("OSRT_API", "SCHED_EVENTS", "COMPOSITE_EVENTS", "SAMPLING_CALLCHAINS", "GPU_METRICS", "NET_NIC_METRIC", "CUDA_GPU_MEMORY_USAGE_EVENTS",
         "CUDA_UM_CPU_PAGE_FAULT_EVENTS", "DIAGNOSTIC_EVENT", "NVTX_EVENTS")

if __name__ == "__main__":
    support.main()
