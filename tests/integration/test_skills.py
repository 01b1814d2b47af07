"""Skills as tables of a report (analyze --skill), and what the list of answers to other programs' skills promises."""
import csv
import json
import re
import unittest

import support
from support import SOURCE, artifacts, fresh_dir, run, trace

GAPS = """skill: my_gaps
title: Gaps between kernels of a stream
description: One stream of one GPU, and how long it waited between kernels.
needs: [kernels]
parameters:
  min_gap_us: {type: number, default: 1000, min: 0, description: shorter gaps are left out}
sql: |
  with g as (select device_id, stream_id, start_ns - max(end_ns) over (partition by device_id, process, context_id, stream_id
      order by start_ns, end_ns rows between unbounded preceding and 1 preceding) as gap_ns from kernel_events)
  select device_id, stream_id, count(*) as gap_count, sum(gap_ns) as total_ns from g
  where gap_ns > 0 and gap_ns >= :min_gap_us * 1000 group by 1, 2
columns:
  device_id: [id, GPU]
  stream_id: [id, CUDA stream]
  gap_count: [count, gaps]
  total_ms: [ms, summed length, total_ns]
order: [total_ms desc]
text: "{{count}} stream waits for {{total_ms}}"
rules:
  - id: stream-starved
    title: "stream {{stream_id}} waits"
    severity: {low: total_ms >= 10}
    why: It waits.
    recommendation: Look.
"""


def skill_file(text=GAPS):
    path = fresh_dir() / "my_gaps.yaml"
    path.write_text(text)
    return path


def analyze(path, *options, out=None):
    out = out or fresh_dir() / "run"
    done = run("analyze", path, "--out", out, "-v", *options)
    return out, done


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Reports(unittest.TestCase):
    def test_table_rules_report(self):
        """The generator's plan of host-bound: 100 gaps, 29,634,752 ns on the one stream."""
        path, file = trace("host-bound"), skill_file()
        options = ("--skill", file, "--skill-param", "my_gaps.min_gap_us=0", "--skill", "sync_ranges")
        out, done = analyze(path, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(read(out / "tables" / "my_gaps.csv"), [{"device_id": "0", "stream_id": "7", "gap_count": "100", "total_ms": "29.634752"}])
        self.assertEqual((out / "tables" / "my_gaps.csv").read_text(),
                         run("skill", "run", "my_gaps", out, "--skills", file, "--param", "min_gap_us=0", "--format", "csv").stdout)
        self.assertEqual((out / "tables" / "sync_ranges.csv").read_text(), run("skill", "run", "sync_ranges", out, "--format", "csv").stdout)
        report = json.loads((out / "report.json").read_text())
        self.assertEqual(report["tables"]["my_gaps"]["rows"][0][2], 100)
        self.assertEqual([(f["id"], f["title"]) for f in report["findings"] if f["id"] == "stream-starved"], [("stream-starved", "stream 7 waits")])
        text = (out / "report.md").read_text()
        section = text[text.index("<summary>Skills</summary>"):]
        self.assertIn("1 stream waits for 29.6 ms", section)
        self.assertIn("| 0 | 7 | 100 | 29.6\u00a0ms |", section)
        self.assertIn("stream 7 waits", text)
        self.assertIn(b"my_gaps", support.contents(out / "report.html"))
        self.assertEqual(run("sql", out, "select gap_count, total_ns from my_gaps", "--format", "csv").stdout, "gap_count,total_ns\n100,29634752\n")
        # again: nothing runs; another description: from skills on
        self.assertNotIn(" ran: ", analyze(path, *options, out=out)[1].stderr)
        file.write_text(GAPS.replace("summed length", "their length"))
        ran = re.findall(r"(\w+) +ran: (.*);", analyze(path, *options, out=out)[1].stderr)
        self.assertEqual(ran[0], ("skills", "skills changed"))
        self.assertEqual({name for name, _ in ran} - {"skills", "findings", "metrics", "timeline_places"}, set())
        # without it: no trace of skills
        done = analyze(path, out=out)[1]
        self.assertEqual(done.returncode, 0)
        self.assertFalse(list((out / "tables").glob("*my_gaps*")) + list((out / "tables").glob("skill*")))
        self.assertNotIn("<summary>Skills</summary>", (out / "report.md").read_text())

    def test_name_of_the_list(self):
        """tables/index.csv lists the tables: no skill's rows are written over it."""
        done = analyze(trace("minimal"), "--skill", skill_file(GAPS.replace("my_gaps", "index")))[1]
        self.assertEqual(done.returncode, 2)
        self.assertIn('"index" is a table of every run', done.stderr)

    def test_same_bytes(self):
        """Of a run, of one without stages, with any number of threads."""
        path = trace("training")
        names = "streams kernels_by_range launch_threads overlap_matrix".split()
        options = [word for name in names for word in ("--skill", name)]
        a, done = analyze(path, *options, "-j", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        b, _ = analyze(path, *options, "-j", "3", "--no-stages")
        for name in names:
            self.assertEqual((a / "tables" / f"{name}.csv").read_bytes(), (b / "tables" / f"{name}.csv").read_bytes(), name)
        self.assertEqual(sum(int(row["kernel_count"]) for row in read(a / "tables" / "streams.csv")), 1256)

    def test_abstains(self):
        """Without kernels there is a reason, no row, and no finding about it."""
        rule = GAPS.replace("severity: {low: total_ms >= 10}", "severity: low")
        out, done = analyze(trace("nvtx-only"), "--skill", skill_file(rule), "--skill", "ranges_in_window")
        self.assertEqual(done.returncode, 0, done.stderr)
        gaps, ranges = read(out / "tables" / "skill_answers.csv")
        self.assertEqual((gaps["row_count"], gaps["reason"][:24]), ("", "the trace has no kernels"))
        self.assertGreater(int(ranges["row_count"]), 0)
        self.assertEqual(support.read_csv(out, "my_gaps"), [])
        self.assertIn("Cannot say: the trace has no kernels", (out / "report.md").read_text())
        self.assertNotIn("stream-starved", (out / "report.json").read_text())

    def test_names_of_others(self):
        """Names that mean harm stay text in the section."""
        out, done = analyze(trace("hostile"), "--skill", "kernels_by_range")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (out / "report.md").read_text()
        section = text[text.index("<summary>Skills</summary>"):]
        self.assertNotRegex(section, r"(?<!\\)<(script|img|b)\b")

    def test_mistakes(self):
        """Found before a trace is read, with their place."""
        path = trace("host-bound")
        wrong = {
            GAPS.replace("gap_count: [count", "gap_count: [counts"): r"my_gaps.yaml:15:\d+: .*counts",
            GAPS.replace(":min_gap_us *", ":min_gap *"): r"my_gaps.yaml:11:\d+: .*min_gap",
            GAPS.replace("skill: my_gaps", "skill: kernels"): r"my_gaps.yaml:1:8: a run has a table .kernels. already",
            GAPS.replace("total_ms >= 10", "total_mss >= 10"): r"my_gaps.yaml:22:\d+: .*total_mss.*total_ms",
            GAPS.replace("from g\n", "from kernels; drop table g\n"): r"my_gaps.yaml:\d+:\d+: ",
            GAPS.replace("  gap_count: [count, gaps]\n", ""): r"my_gaps.yaml:12:\d+: the statement's column .gap_count. is not declared",
            GAPS.replace("sum(gap_ns) as total_ns", "sum(gap_ns) as total"): r"my_gaps.yaml:16:\d+: the statement has no column .total_ns.",
        }
        for need, near in (("kernals", "kernels"), ("cuda-api-cals", "cuda-api-calls")):
            self.assertRegex(run("skill", "check", skill_file(GAPS.replace("[kernels]", f"[{need}]"))).stderr,
                             rf'my_gaps.yaml:\d+:\d+: no export has a capability "{need}"; did you mean {near}\?')
        for text, message in wrong.items():
            file = skill_file(text)
            done = run("analyze", "/no/such/trace.sqlite", "--out", fresh_dir() / "x", "--skill", file)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, message)
            if "kernels. already" not in message:
                self.assertRegex(run("skill", "check", file).stderr, message)
        for options in (("--skill", "stream_gap"), ("--skill", "streams", "--skill", "streams"), ("--skill-param", "streams.x=1"),
                        ("--skill", "stream_gaps", "--skill-param", "stream_gaps.min_gap=1"), ("--skill", "range_kernels")):
            self.assertEqual(analyze(path, *options)[1].returncode, 2, options)


class Coverage(unittest.TestCase):
    def test_every_question_has_its_answer(self):
        """What docs/writing-skills.md names exists: tables of a run, built-in skills; or it says why it cannot say."""
        text = (SOURCE / "docs" / "writing-skills.md").read_text()
        table = text[text.index("| there | here |"):]
        rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.M)
        self.assertEqual(len({name for name, _ in rows}), 38)
        tables = {line.split()[0] for line in run("table", artifacts(trace("training"))).stdout.splitlines()}
        skills = {row["id"] if "id" in row else row["skill"] for row in csv.DictReader(run("skill", "list", "--format", "csv").stdout.splitlines())}
        for name, answer in rows:
            if answer.startswith("cannot say: "):
                self.assertGreater(len(answer), 40, name)
                continue
            found = 0
            for kind, names in re.findall(r"(tables?|skills?) ((?:`\w+`(?:, |))+)", answer):
                for one in re.findall(r"`(\w+)`", names):
                    self.assertIn(one, tables if kind.startswith("table") else skills, (name, answer))
                    found += 1
            self.assertTrue(found or "sql --reference" in answer, (name, answer))


if __name__ == "__main__":
    support.main()
