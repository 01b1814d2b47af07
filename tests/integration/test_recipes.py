"""The recipes of docs/packaging.md, as they stand there, against the artifacts themselves. Each needs what it is for and skips without."""
import collections
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import support
from support import SOURCE, analyze, fresh_dir, read_csv, run, trace

DOC = (SOURCE / "docs" / "packaging.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", DOC, re.S | re.M)
# Asked of DuckDB through its package for Node.
NODE = """const {DuckDBInstance} = require('@duckdb/node-api');
(async () => {
  const connection = await (await DuckDBInstance.create()).connect();
  const rows = await connection.runAndReadAll(process.argv[1]);
  console.log(JSON.stringify(rows.getRowObjectsJson()));
})();"""


# Packages for Node that scripts/setup --ci installs.
os.environ["NODE_PATH"] = str(SOURCE / "tests" / "readers" / "node_modules")


def has_module(name):
    return importlib.util.find_spec(name) is not None


def block(language, word):
    found = [text for kind, text in BLOCKS if kind == language and word in text]
    assert len(found) == 1, (language, word, len(found))
    return found[0]


def node_has(package):
    node = shutil.which("node")
    return bool(node) and subprocess.run([node, "-e", f"require('{package}')"], capture_output=True, check=False).returncode == 0


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = fresh_dir("notebook")
        (cls.place / "artifacts").mkdir()
        for name, scenario in (("run1", "host-bound"), ("run2", "training")):
            analyze(trace(scenario), "--all-csv", out=cls.place / "artifacts" / name)
        cls.run1 = cls.place / "artifacts" / "run1"
        cls.report = json.loads((cls.run1 / "report.json").read_text(encoding="utf-8"))
        bin_ = fresh_dir("bin")
        os.symlink(support.PROGRAM, bin_ / "nsys-ai")
        cls.env = {**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}"}

    def call(self, *words):
        done = subprocess.run(words, cwd=self.place, env=self.env, capture_output=True, encoding="utf-8", check=False, timeout=support.TIMEOUT_S)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def python(self, *parts):
        return self.call(sys.executable, "-c", "\n".join(parts))

    @staticmethod
    def by_category(directory):
        sums = collections.Counter()
        for row in read_csv(directory, "kernels"):
            sums[row["category"]] += int(row["total_time_ns"])
        return dict(sums)

    def every_table(self):
        """The rows of every table as report.json has them. Texts: as CSV has them, an empty one is no text."""
        return {name: [[None if value == "" else value for value in row] for row in table["rows"]] for name, table in self.report["tables"].items()}

    def same_tables(self, found):
        want = self.every_table()
        self.assertEqual(found.keys(), want.keys())
        for name in want:
            self.assertTrue(found[name] == want[name], name)  # a difference would print the whole table

    @support.tier("soak")
    @unittest.skipUnless(has_module("pandas"), "no pandas")
    def test_pandas(self):
        found = self.python(block("python", "pd.read_csv"), """
def plain(name):
    frame = table(name).astype(object)
    return frame.where(frame.notna(), None).values.tolist()
print(json.dumps({"by_category": {k: int(v) for k, v in by_category.items()}, "findings": list(findings["id"]),
                  "units": kernels.attrs["units"], "tables": {name: plain(name) for name in report["tables"]}}))""")
        self.assertEqual(found["by_category"], self.by_category(self.run1))
        self.assertEqual(found["findings"], [finding["id"] for finding in self.report["findings"]])
        self.assertEqual(found["units"]["total_time_ns"], "ns")
        self.same_tables(found["tables"])

    @support.tier("soak")
    @unittest.skipUnless(has_module("pandas"), "no pandas")
    def test_pandas_of_statement(self):
        found = self.python(block("python", "subprocess"), 'import json; print(json.dumps([[int(v) for v in r] for r in '
                            'events[["start_ns", "end_ns", "duration_ns"]].values.tolist()]))')
        rows = run("sql", self.run1, "select start_ns, end_ns, duration_ns from v_kernels", "--format", "csv").stdout.splitlines()[1:]
        self.assertEqual(sorted(map(tuple, found)), sorted(tuple(map(int, row.split(","))) for row in rows))
        self.assertGreater(len(found), 50)

    def duckdb(self, statement):
        if has_module("duckdb"):
            return self.python("import duckdb, json", f"answer = duckdb.sql({statement!r})",
                               "print(json.dumps([dict(zip(answer.columns, row)) for row in answer.fetchall()]))")
        if node_has("@duckdb/node-api"):
            return self.call("node", "-e", NODE, statement)
        return self.skipTest("no DuckDB for Python or Node")

    @support.tier("ci")
    def test_duckdb(self):
        found = self.duckdb(block("sql", "read_csv"))
        for name in ("run1", "run2"):
            sums = {row["category"]: int(row["total_time_ns"]) for row in found if row["filename"] == f"artifacts/{name}/tables/kernels.csv"}
            self.assertEqual(sums, self.by_category(self.place / "artifacts" / name))

    def test_columns(self):
        """What all of them build on: report.json names the columns of the CSV file, in its order, and their types."""
        for name, table in self.report["tables"].items():
            with open(self.run1 / "tables" / f"{name}.csv", encoding="utf-8") as file:
                self.assertEqual(file.readline().rstrip("\n"), ",".join(column["name"] for column in table["columns"]))
            self.assertLessEqual({column["type"] for column in table["columns"]}, {"int", "float", "text"})

    def test_tasks(self):
        """The problem matcher finds the place of a mistake in what the program prints."""
        tasks = json.loads(block("json", "problemMatcher"))["tasks"]
        task = next(task for task in tasks if task["label"] == "nsys-ai: check rules")
        wrong = fresh_dir() / "wrong.yaml"
        wrong.write_text("rules:\n  - id: x\n    frob: 1\n", encoding="utf-8")
        done = run(*(word.replace("${file}", str(wrong)) for word in task["args"]))
        self.assertEqual(done.returncode, 2)
        pattern = task["problemMatcher"]["pattern"]
        found = re.search(pattern["regexp"], done.stderr, re.M)
        self.assertEqual([found.group(pattern[part]) for part in ("file", "line", "column")], [str(wrong), "3", "5"])


if __name__ == "__main__":
    support.main()
