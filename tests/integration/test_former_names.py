"""Names that tables, columns and keys had before: they work on, each is told once, and answers are those of today's names."""
import re
import shutil
import unittest
from pathlib import Path

import support
from support import SOURCE, artifacts, fresh_dir, read_csv, run, trace

END = "; the old name works until 0.3"
OLD_RUN = SOURCE / "tests" / "data" / "run-0.1"  # of the version whose tables were called pids and launch_storm


def told(kind, was, now, place=""):
    return f'nsys-ai: {place}{kind} "{was}" is now "{now}"{END}'


def file(text, name="mine.yaml"):
    path = Path(fresh_dir()) / name
    path.write_text(text)
    return path


class Statements(unittest.TestCase):
    def both(self, source, before, now, *lines):
        old, new = (run("sql", source, text, "--format", "csv") for text in (before, now))
        self.assertEqual((old.returncode, new.returncode, new.stderr), (0, 0, ""), old.stderr)
        self.assertEqual(old.stdout.split("\n")[1:], new.stdout.split("\n")[1:])
        self.assertGreater(old.stdout.count("\n"), 1)
        self.assertEqual(old.stderr.splitlines(), list(lines))
        return old

    def test_each_is_told_once(self):
        source = artifacts(trace("training"))
        self.both(source, "select * from pids p join pids q using (pid) where p.pid in (select pid from pids)",
                  "select * from process_summary p join process_summary q using (pid) where p.pid in (select pid from process_summary)",
                  told("table", "pids", "process_summary"))
        self.both(source, "select at_stake_ms, AT_STAKE_NS from findings where at_stake_ms > 0 order by at_stake_ms",
                  "select saving_ms, saving_ns from findings where saving_ms > 0 order by saving_ms",
                  told("column", "at_stake_ms", "saving_ms"), told("column", "at_stake_ns", "saving_ns"))

    def test_names_of_the_result_and_units_stay(self):
        done = run("sql", artifacts(trace("training")), "select at_stake_ms, at_stake_ns from findings limit 1", "--human")
        self.assertEqual(done.stdout.split()[:2], ["at_stake_ms", "at_stake_ns"])
        self.assertRegex(done.stdout.splitlines()[1], r"ms +.*ms")

    def test_they_are_not_shown(self):
        source = artifacts(trace("training"))
        self.assertNotIn("at_stake", run("sql", source, "select * from findings", "--format", "csv").stdout.split("\n")[0])
        shown = run("sql", source, "select table_name, name from nai_columns union all select name, '' from nai_tables", "--format", "csv").stdout
        for word in ("at_stake", "pids", "launch_storm"):
            self.assertNotIn(word, shown)

    def test_every_declared_one_is_understood(self):
        source, seen = artifacts(trace("training")), set()
        names = {row["table_name"] for row in read_csv(source, "index")}
        for path in sorted((SOURCE / "src" / "tables").glob("*.h")):
            text = path.read_text()
            name = re.search(r"^NAI_TABLE(?:_NAMED)?\(\w+, (\w+)", text, re.M)
            if not name or name[1] not in names:
                continue
            for was in re.findall(r'\.was = "(\w+)"', text):
                table = was if was.rpartition("_")[2] not in ("ns", "pct") else name[1]
                done = run("sql", source, f"select {'*' if table == was else was} from {table}")
                self.assertEqual((done.returncode, done.stderr.count(END)), (0, 1), (was, done.stderr))
                seen.add(was)
        self.assertEqual(seen, {"pids", "launch_storm", "at_stake_ns", "at_stake_low_ns"})

    def test_table_and_schema(self):
        source = artifacts(trace("training"))
        done = run("table", source, "launch_storm")
        self.assertEqual((done.stdout, done.stderr), (run("table", source, "launch_rates").stdout, told("table", "launch_storm", "launch_rates") + "\n"))

    def test_a_run_of_then_is_read_by_both_names(self):
        run_then = Path(fresh_dir()) / "run"
        shutil.copytree(OLD_RUN, run_then)
        self.assertTrue((run_then / "stages" / "pids.ntab").exists())
        self.both(run_then, "select * from pids", "select * from process_summary", told("table", "pids", "process_summary"))
        self.both(run_then, "select finding, at_stake_ns from findings union all select count(*), 0 from launch_storm",
                  "select finding, saving_ns from findings union all select count(*), 0 from launch_rates",
                  told("column", "at_stake_ns", "saving_ns"), told("table", "launch_storm", "launch_rates"))
        self.assertEqual(run("table", run_then, "process_summary").returncode, 0)


class Files(unittest.TestCase):
    RULES = """rules:
  - id: storm
    title: "{{%(saving)s_ms}} of {{%(saving)s}}"
    table: %(launches)s
    where: scope = 'all' and exists (select 1 from %(processes)s)
    %(key)s: kernel_time_ns
    %(key)s_low: kernel_time_ns / 2
    severity: {low: %(saving)s_ms > 0}
    why: w
    recommendation: r
  - id: process
    title: "of one process"
    table: %(processes)s
    %(last)s: kernel_time_ns
    severity: low
    why: w
    recommendation: r
"""

    def test_rules(self):
        before = file(self.RULES % {"saving": "at_stake", "launches": "launch_storm", "processes": "pids", "key": "price", "last": "impact"})
        now = file(self.RULES % {"saving": "saving", "launches": "launch_rates", "processes": "process_summary", "key": "saving",
                                 "last": "lower: []\n    saving"})
        out = [Path(fresh_dir()) / "out" for _ in range(2)]
        done = [run("analyze", trace("training"), "--rules", path, "--out", directory, "-q") for path, directory in zip((before, now), out)]
        self.assertEqual([d.returncode for d in done], [0, 0], done)
        self.assertEqual(done[1].stderr, "")
        found = [[row for row in read_csv(directory, "findings") if row["id"] in ("storm", "process")] for directory in out]
        self.assertEqual(found[0], found[1])
        self.assertGreaterEqual(len(found[0]), 2)
        self.assertEqual(sorted(done[0].stderr.splitlines()), sorted([
            told("table", "launch_storm", "launch_rates", f"{before}:4:12: "),
            told("table", "pids", "process_summary", f"{before}:5:12: "),
            told("key", "price", "saving", f"{before}:6:5: "), told("key", "price_low", "saving_low", f"{before}:7:5: "),
            told("name", "at_stake_ms", "saving_ms", f"{before}:8:21: "), told("name", "at_stake", "saving", f"{before}:3:34: "),
            told("key", "impact", "saving, with lower: []", f"{before}:14:5: ")]))

    def test_a_key_and_its_former_name_exclude_each_other(self):
        rule = "rules: [{id: x, title: t, why: w, recommendation: r, table: gpus, severity: low, %s}]\n"
        for keys in ("saving: 1, price: 2", "saving: 1, saving_low: 1, price_low: 2"):
            done = run("rules", "check", file(rule % keys))
            self.assertEqual(done.returncode, 2, keys)
            self.assertIn("exclude each other", done.stderr)

    def test_metrics(self):
        text = ("metrics: [{id: mine, title: t, better: lower, kind: exact, gate: none, unit: count, "
                "total: {table: %s, value: sum(kernel_count)}}]\n")
        values = []
        for table in ("pids", "process_summary"):
            path, out = file(text % table), Path(fresh_dir()) / "out"
            done = run("analyze", trace("training"), "--metrics", path, "--out", out, "-q")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr.count(END), table == "pids", done.stderr)
            values.append([row for row in read_csv(out, "metrics") if row["metric"] == "mine"])
        self.assertEqual(values[0], values[1])
        self.assertTrue(values[0])

    def test_a_skill(self):
        skill = file("skill: mine\ntitle: t\ndescription: d\ncategory: kernels\n"
                     "sql: |\n  select pid, kernel_count from pids order by pid\n"
                     "columns:\n  pid: [id, process]\n  kernel_count: [count, kernels]\ntext: \"{{count}}\"\n"
                     "tests:\n  - {name: one, trace: {generate: training, seed: 1}, rows: 2}\n", "mine.yaml")
        done = run("skill", "run", "mine", artifacts(trace("training")), "--skills", skill)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, told("table", "pids", "process_summary", f"{skill}:6:3: ") + "\n")


class Format2(unittest.TestCase):
    def test_answers_are_the_same(self):
        """A run directory with a file per table, as version 2 had it."""
        now = support.artifacts(support.trace("training"))
        then = support.in_format_2(now)
        for words in (("summary",), ("table", "kernels"), ("sql", "select count(*) from kernel_events k join api_events a using (correlation_id)")):
            answers = [support.run(words[0], place, *words[1:]) for place in (now, then)]
            self.assertEqual([a.returncode for a in answers], [0, 0], answers[1].stderr)
            self.assertEqual(answers[0].stdout.replace(str(now), ""), answers[1].stdout.replace(str(then), ""), words)
        support.analyze(support.trace("training"), out=then)
        rendered = [{name: content for name, content in support.tree(place).items() if not name.startswith("stages/")} for place in (now, then)]
        self.assertEqual(*rendered)


if __name__ == "__main__":
    support.main()
