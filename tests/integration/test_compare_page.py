#!/usr/bin/python3
"""compare.html as data: its timelines hold the events of the export, around the step in the middle. What it does in a browser is
tests/viewer/compare.mjs. Truth is the export."""
import json
import re
import shutil
import sqlite3
import statistics
import unittest

import support
from support import fresh_dir, page_block, run, trace

UNREADABLE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
int openat(int at, const char *path, int flags, ...) {
  size_t length = strlen(path), end = strlen("kernel_events.ntab");
  if (length >= end && strcmp(path + length - end, "kernel_events.ntab") == 0)
    return errno = EIO, -1;
  return ((__typeof__(&openat))dlsym(RTLD_NEXT, "openat"))(at, path, flags, 0);
}
"""


def varints(data):
    value, scale = 0, 1
    for byte in data:
        value += (byte & 127) * scale
        scale *= 128
        if byte < 128:
            yield value
            value, scale = 0, 1


def events_of(page, side):
    """(kind of lane, start, duration, name) of each event of a side, in session time."""
    head = json.loads(page_block(page, f"timeline-{side}"))
    raw = page_block(page, f"events-{side}")
    columns = {c["name"]: list(varints(raw[c["offset"]:c["offset"] + c["bytes"]])) for c in head["columns"]}
    for lane in head["lanes"]:
        at = int(head["origin_ns"])
        for i in range(lane["first"], lane["first"] + lane["count"]):
            at += columns["start"][i]
            yield lane["kind"], at, columns["duration"][i], head["names"][columns["name"][i]]


def unpacked(table):
    columns = []
    for packed in table["packed"]:
        if "texts" in packed:
            columns.append([None if row is None else packed["texts"][row] for row in packed["rows"]])
        elif "differences" in packed:
            total, values = 0, []
            for step in packed["differences"]:
                total += step or 0
                values.append(None if step is None else total / 10 ** packed.get("digits", 0))
            columns.append(values)
        else:
            columns.append(packed["values"])
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in zip(*columns)]


def kernels_of(path):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        return sorted(db.execute("SELECT start, end - start, value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName"))


def compared(base, new, *options):
    out = fresh_dir() / "out"
    done = run("compare", "--base", *base, "--new", *new, "--out", out, "-q", *options)
    assert done.returncode == 0, done.stderr
    return (out / "compare.html").read_text()


def named(scenario, seed):
    """A generated trace under a name that says which it is."""
    path = fresh_dir() / f"{scenario}-{seed}.sqlite"
    shutil.copy(trace(scenario, "--seed", seed), path)
    return path


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.traces = {"base": [named("loop", s) for s in (1, 2, 3)], "new": [named("loop-waits", s) for s in (11, 12, 13)]}
        cls.page = compared(cls.traces["base"], cls.traces["new"])
        cls.data = json.loads(page_block(cls.page, "compare"))

    def test_a_dot_per_capture(self):
        """Six captures in the order of their step times, from left to right."""
        drawn = self.page.partition("<h2>Captures</h2>")[2].partition("<h2>")[0]
        dots = [(float(x), float(value)) for x, value in re.findall(r'class="dot" x1="([\d.]+)".*?<title>[^:]*: ([\d.]+) ms</title>', drawn)]
        self.assertEqual(len(dots), 6)
        values = [value for _, value in sorted(dots)]
        self.assertEqual(values, sorted(values))
        self.assertTrue(all(0 <= x <= 1000 for x, _ in dots))

    def test_links_lead_to_the_reports(self):
        """From where the page is, also through names that a URL has to spell; a run without a report has none."""
        where = fresh_dir()
        for name in ("a #1?", "b"):
            self.assertEqual(run("analyze", self.traces["base"][0], "-q", "--out", where / name).returncode, 0)
        (where / "b" / "report.html").unlink()
        done = run("compare", where / "a #1?", where / "b", "--out", where / "deep" / "er" / "diff", "-q", "--allow", "same_content")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (where / "deep" / "er" / "diff" / "compare.html").read_text()
        self.assertEqual(re.findall(r'<a href="([^"]*)">', page), ["../../../a%20%231%3F/report.html"])

    def test_waterfall_leads_from_base_to_new(self):
        """Each part begins where the one before it ended, and the last ends where the bar of the new side does."""
        drawn = self.page.partition("<h2>From base to new</h2>")[2].partition("<h2>")[0]
        steps = [(title, sign, float(x), float(x) + float(width)) for title, sign, x, width in
                 re.findall(r'<tr><td>([^<]*)</td><td class="num">([+-]?)[^<]*</td>.*?<rect x="([\d.]+)" width="([\d.]+)"', drawn)]
        self.assertEqual([step[0] for step in steps], ["base", "compute", "exposed communication", "exposed copies", "idle", "new"])
        at = steps[0][3]
        for _, sign, low, high in steps[1:-1]:
            self.assertAlmostEqual(high if sign == "-" else low, at, delta=2.5)
            at = low if sign == "-" else high
        self.assertAlmostEqual(at, steps[-1][3], delta=5)
        self.assertEqual(steps[0][2], steps[-1][2])  # both begin at 0
        self.assertGreater(steps[4][3] - steps[4][2], 0.04 * (steps[-1][3] - steps[-1][2]))  # loop-waits: idle time is what grew

    def test_middle_capture(self):
        for side, traces in self.traces.items():
            lengths = {}
            for path in traces:
                with sqlite3.connect(path) as db:
                    starts = [row[0] for row in db.execute(
                        "SELECT start FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId "
                        "WHERE coalesce(text, value) LIKE 'train_step%' ORDER BY start")]
                lengths[path.stem] = statistics.median(b - a for a, b in zip(starts[1:], starts[2:]))
            middle = sorted(lengths, key=lengths.get)[1]
            self.assertEqual(self.data[side]["capture"], middle)

    def test_kernels_are_those_of_the_export(self):
        for side, traces in self.traces.items():
            path = next(p for p in traces if p.stem == self.data[side]["capture"])
            found = sorted(e[1:] for e in events_of(self.page, side) if e[0] == "kernel")
            self.assertEqual(found, kernels_of(path))
            self.assertTrue(self.data[side]["whole"])

    def test_aligned_step_is_in_the_middle(self):
        for side in ("base", "new"):
            steady = [s for s in unpacked(self.data[side]["tables"]["steps"]) if s["state"] == "steady"]
            lengths = sorted(s["gpu_end_ns"] - s["gpu_start_ns"] for s in steady)
            anchor = self.data[side]["anchor"]
            self.assertEqual(anchor["end_ns"] - anchor["start_ns"], lengths[(len(lengths) - 1) // 2])
            self.assertIn(anchor["step"], [s["step"] for s in steady if s["gpu_start_ns"] == anchor["start_ns"]])

    def test_tree_of_ranges(self):
        """Instances per step on both sides, as planned: one step, one optimizer, six activations."""
        rows = {r["range_name"]: r for r in unpacked(self.data["tables"]["compared_tree"])}
        for name, count in (("train_step", 1), ("optimizer", 1), ("activation", 6)):
            self.assertEqual((rows[name]["base_count"], rows[name]["new_count"]), (count, count))
        self.assertEqual(rows["activation"]["parent_id"], rows["forward"]["node_id"])
        self.assertAlmostEqual(rows["train_step"]["delta_ms"],
                               rows["train_step"]["new_time_ms"] - rows["train_step"]["base_time_ms"], places=5)


class Runs(unittest.TestCase):
    def analysed(self, path):
        out = fresh_dir("runs") / "run"
        done = run("analyze", path, "--out", out, "--stage", "recommend", "-q")
        assert done.returncode == 0, done.stderr
        return out

    def test_trace_is_gone(self):
        """The run's own tables are enough; without its event tables the page still opens, and says what is missing."""
        path = fresh_dir() / "gone.sqlite"
        shutil.copy(trace("loop", "--seed", 1), path)
        base, new = self.analysed(path), self.analysed(trace("loop", "--seed", 2))
        wanted = kernels_of(path)
        path.unlink()
        page = compared([base], [new])
        self.assertEqual(sorted(e[1:] for e in events_of(page, "base") if e[0] == "kernel"), wanted)
        support.flip_table(base, "kernel_events")
        page = compared([base], [new])
        self.assertIn("kernel_events", json.loads(page_block(page, "compare"))["base"]["missing"])
        self.assertEqual(page_block(page, "timeline-base"), b"")
        self.assertIn("Step time", page)

    def test_work_in_common_decides_whether_differences_mean_anything(self):
        same = compared([trace("loop", "--seed", 1)], [trace("loop", "--seed", 2)])
        other = compared([trace("loop", "--seed", 1)], [trace("shapes")])
        self.assertEqual([json.loads(page_block(page, "compare"))["comparable"] for page in (same, other)], [True, False])

    def test_what_cannot_be_read_is_said(self):
        """A failing read costs the page a timeline, and that is an error."""
        base, new = (support.in_format_2(self.analysed(trace("loop", "--seed", seed))) for seed in (1, 2))
        out = fresh_dir("got") / "c"
        done = run("compare", base, new, "--out", out, "-q", env={"LD_PRELOAD": support.shim(UNREADABLE)})
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertRegex(done.stderr, r"^nsys-ai: compare\.html lacks the timeline of the \w+ side: .*kernel_events.*: Input/output error\n$")
        page = (out / "compare.html").read_text(encoding="utf-8")
        self.assertIn("Input/output error", json.loads(page_block(page, "compare"))["base"]["missing"])
        self.assertTrue((out / "compare.json").exists())


if __name__ == "__main__":
    support.main()
