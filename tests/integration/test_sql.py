"""nsys-ai sql: against SQLite over the same rows, against the tables' own CSV, known answers, and statements that mean harm."""
import csv
import json
import os
import random
import re
import sqlite3
import subprocess
import time
import unittest

import support
from support import SHARED, analyze, artifacts, edited, fresh_dir, run, trace, truth


def sql(source, statement, *options, **how):
    return run("sql", source, statement, *options, **how)


def rows(source, statement, *options):
    """Rows of a statement, cells as JSON has them."""
    done = sql(source, statement, "--format", "json", *options)
    if done.returncode:
        raise AssertionError(f"{statement}: {done.stderr}")
    return json.loads(done.stdout)["rows"]


class Answers(unittest.TestCase):
    def test_labels_of_values(self):
        """label() is what report.json says of each enumeration, of a value of several columns by one of their names; other values stay."""
        directory = artifacts(trace("training"))
        tables = json.loads((directory / "report.json").read_text(encoding="utf-8"))["tables"].values()
        labels = [pair for t in tables for c in t["columns"] for pair in c.get("labels", {}).items()]
        self.assertGreater(len(labels), 25)
        names = {value: {label for other, label in labels if other == value} for value, _ in labels}
        self.assertEqual({value for value, several in names.items() if len(several) > 1} - {"host", "not_recorded", "wait"}, set())
        for value, several in [*names.items(), ("no such value", {"no such value"}), ("", {""})]:
            done = run("sql", directory, "select label(:v) as l", "--param", f"v={value}", "--format", "json")
            self.assertIn(json.loads(done.stdout)["rows"][0][0], several, value)
        self.assertEqual(json.loads(run("sql", directory, "select label(null), label(7)", "--format", "json").stdout)["rows"], [[None, 7]])

    def test_a_table_has_labels_for_people(self):
        """As text it says what reports say; as JSON it tells which label is of which value; as CSV it has the value."""
        directory = artifacts(trace("training"))
        shown = {kind: run("table", directory, "idle_causes", "--format", kind).stdout for kind in ("text", "json", "csv")}
        self.assertIn("launch latency", shown["text"])
        self.assertNotIn("launch_latency", shown["text"])
        cause = next(c for c in json.loads(shown["json"])["columns"] if c["name"] == "cause")
        self.assertEqual(cause["labels"]["launch_latency"], "launch latency")
        self.assertIn(",launch_latency,", shown["csv"])

    def test_select_star_is_the_csv(self):
        for scenario in ("training", "hostile-values", "graphs-node", "empty"):
            directory = artifacts(trace(scenario))
            for path in sorted((directory / "tables").iterdir()):
                if path.name == "index.csv":  # the list of tables, which SQL has as nai_tables
                    continue
                done = sql(directory, f"select * from {path.stem}", "--format", "csv", text=False)
                self.assertEqual(done.stdout, path.read_bytes(), (scenario, path.stem, done.stderr))

    def test_event_tables(self):
        directory = artifacts(trace("nvtx-mix"))
        for table in ("nvtx_events", "kernel_events", "threads"):
            self.assertEqual(sql(directory, f"select * from {table}", "--format", "csv").stdout,
                             run("table", directory, table).stdout)

    def test_launches(self):
        """Against the generator's plan: what was launched by what."""
        for scenario in ("training", "host-bound", "shared-gpu", "graphs-node"):
            path = trace(scenario)
            directory = artifacts(path)
            joined = truth(path)["join"]
            found = rows(directory, "select count(*), count(call), count(distinct call) from v_kernels")[0]
            self.assertEqual(found[0], truth(path)["counts"]["kernels"] if "counts" in truth(path) else found[0])
            with self.subTest(scenario=scenario):
                self.assertEqual(found, {"training": [1256, 1256, 1256], "host-bound": [101, 81, 81],
                                         "shared-gpu": [300, 300, 300], "graphs-node": [1500, 1500, 120]}[scenario], joined)

    def test_union_and_idle(self):
        directory = artifacts(trace("host-bound"))
        idle = "select window_ns - (select union_ns(start_ns, end_ns) from v_ops where device_id = 0) from gpu_utilization"
        self.assertEqual(rows(directory, idle), [[29634752]])
        self.assertEqual(rows(directory, "select sum(idle_ns) from gpu_utilization"), [[29634752]])

    def test_nodes(self):
        directory = artifacts(trace("nvtx-mix"))
        self.assertEqual(rows(directory, "select sum(kernel_ns) from nvtx_nodes"), [[6058288]])
        self.assertEqual(rows(directory, "select count(*) from nvtx_nodes n left join nvtx_nodes p on p.rowid = n.parent "
                                         "where n.depth <> coalesce(p.depth + 1, 0) or n.path <> "
                                         "coalesce(p.path || ' > ', '') || n.range_name"), [[0]])

    def test_innermost_range(self):
        """range_row against its definition: of the ranges open at the call's start, the one that began last."""
        directory = artifacts(trace("training"))
        wrong = rows(directory, "with c as (select call, thread, start_ns, range_row from v_calls), o as (select c.call, c.range_row, r.range, "
                     "row_number() over (partition by c.call order by r.start_ns desc, r.end_ns, r.range desc) as place from c "
                     "left join v_ranges r on r.thread = c.thread and r.kind = 0 and r.start_ns <= c.start_ns and r.end_ns > c.start_ns) "
                     "select count(*) from o where place = 1 and range_row is not range")
        self.assertEqual(wrong, [[0]])
        self.assertGreater(rows(directory, "select count(range_row) from v_calls")[0][0], 100)

    def test_a_column_whose_middle_was_forgotten(self):
        said = run("sql", artifacts(trace("training")), "select total_ns from kernels").stderr
        self.assertIn("sql:1:8: no such column: total_ns; did you mean total_time_ns?", said)

    def test_groups_by_two_columns_need_no_sorting(self):
        directory = artifacts(trace("training"))
        self.assertNotIn("B-TREE", run("sql", directory, "--explain", "select name, device_id, count(*) from kernel_events group by 1, 2").stdout)
        self.assertEqual(rows(directory, "select device_id, category(name), count(*) from kernel_events group by 1, 2 order by 1, 2"),
                         rows(directory, "select device_id, category, sum(call_count) from kernels group by 1, 2 order by 1, 2"))

    def test_columns_of_several_parts(self):
        """Texts stay what they are while further columns of the same derived table are made."""
        directory = artifacts(trace("training"))
        both = rows(directory, "select category, short_name, path from (select * from v_kernels order by kernel)")
        self.assertEqual([row[0] for row in both], [row[0] for row in rows(directory, "select category from v_kernels order by kernel")])
        self.assertEqual([row[2] for row in both], [row[0] for row in rows(directory, "select path from v_kernels order by kernel")])
        self.assertEqual(rows(directory, "select count(*) from (select * from v_kernels order by start_ns limit 9) where path is null or category is null"), [[0]])

    def test_reference(self):
        path = SHARED / "traces" / "fsdp_2gpu.sqlite"
        if not path.exists():
            self.skipTest("no reference traces")
        directory = artifacts(path)
        self.assertEqual(rows(directory, "select count(*), sum(end_ns - start_ns) from kernel_events"), [[4010, 535200650]])
        self.assertEqual(rows(directory, "select count(*) from v_kernels where call is not null"), [[3986]])
        self.assertEqual(rows(directory, "select count(*) from kernel_events join api_events using (correlation_id)"), [[4280]])
        self.assertEqual(rows(directory, "select call_count, total_time_ns from kernels where device_id = 1 limit 1"), [[34, 136355595]])
        self.assertEqual(rows(directory, "select window_ns - compute_ns - exposed_comm_ns - exposed_copy_ns - idle_ns from gpu_utilization"),
                         [[0], [0]])
        self.assertEqual(rows(directory, "select sum(duration_ns) from v_kernels where path is not null"), [[516689349]])

    def test_units(self):
        directory = artifacts(trace("training"))
        a, b, c = rows(directory, "select total_time_ms, total_time_ns, total_time_ms * 1 from kernels order by 1 desc limit 1")[0]
        self.assertEqual((round(a * 1e6), c), (b, a))
        done = sql(directory, "select total_time_ms, total_time_ns, call_count from kernels limit 1", "--human")
        self.assertRegex(done.stdout.splitlines()[1], r"^ *[\d.]+ (µs|ms) +[\d.]+ (µs|ms) +[\d,]+$")

    def test_values_of_enumerations_for_people(self):
        """... are the words of reports, by the column: "wait" is a cause of idle time, and a part of others."""
        directory, statement = artifacts(trace("host-bound")), "select cause from idle_causes order by active_ns desc limit 1"
        self.assertEqual(rows(directory, statement), [["blocking_call"]])
        self.assertEqual(sql(directory, "select 42.534489000000008 a, 1234567.8 b, 999999.7 c, -0.0 d, 1e-7 e, 1e20 f, 42.0 g", "--human").stdout.split()[7:],
                         ["42.5345", "1234568", "1000000", "0", "1e-07", "1e+20", "42"])
        self.assertEqual(sql(directory, statement, "--human").stdout.split(), ["cause", "synchronization"])
        self.assertEqual(sql(directory, statement, "--human", "--format", "csv").stdout.split(), ["cause", "blocking_call"])
        self.assertEqual(sql(directory, statement).stdout.split(), ["cause", "blocking_call"])

    def test_functions(self):
        directory = artifacts(trace("training"))
        self.assertEqual(rows(directory, "select clip_ns(0, 10, 3, 7), clip_ns(0, 10, null, 4), clip_ns(5, 6, 7, null), bucket(-1, 10), bucket(19, 10), "
                                         "human(1500000, 'ms'), 'abc' regexp '^a.c$', 'x' regexp 'y'"),
                         [[4, 4, 0, -10, 10, "1.50 ms", 1, 0]])
        values = sorted(v for (v,) in rows(directory, "select end_ns - start_ns from kernel_events"))
        at = 0.9 * (len(values) - 1)
        want = values[int(at)] + (values[int(at) + 1] - values[int(at)]) * (at - int(at))
        got = rows(directory, "select p90(end_ns - start_ns), percentile(end_ns - start_ns, 90), median(end_ns - start_ns) from kernel_events")[0]
        self.assertAlmostEqual(got[0], want, 3)
        self.assertEqual(got[0], got[1])

    def test_formats(self):
        directory = artifacts(trace("hostile"))
        statement = "select name, count(*) as n, null as none, '' as empty, 0.1 as real from kernel_events group by name order by name"
        names = [row[0] for row in rows(directory, statement)]
        self.assertTrue(names)
        lines = sql(directory, statement, "--format", "ndjson").stdout.splitlines()
        self.assertEqual([json.loads(line)["name"] for line in lines], names)
        self.assertEqual(json.loads(lines[0])["real"], 0.1)
        csv_text = sql(directory, statement, "--format", "csv").stdout
        self.assertRegex(csv_text.splitlines()[0], "^name,n,none,empty,real$")
        self.assertIn(',,"",0.1\n', csv_text)
        for text in (sql(directory, statement).stdout, sql(directory, statement, "--format", "markdown").stdout):
            self.assertEqual(len([line for line in text.splitlines() if line]) >= len(names) + 1, True)
            self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f\u202e]")

    def test_names_are_no_commands_of_a_ci(self):
        """A line of a log that begins so is obeyed; the value stays the same."""
        names = ["::stop-commands::x", "##[error]x", "::", "a::b"]
        directory = analyze(edited("minimal", *(f"insert into StringIds values ({10**6 + i}, '{name}')" for i, name in enumerate(names)),
                                   "update CUPTI_ACTIVITY_KIND_KERNEL set shortName = 1000000 + rowid % 4, demangledName = 1000000 + rowid % 4"))
        statement = "select distinct name from kernel_events order by 1"
        for words in (("sql", directory, statement), ("table", directory, "kernels"), ("export", "csv", directory)):
            for more in ((), *(("--format", how) for how in ("csv", "markdown") if words[0] == "sql")):
                done = run(*words, *more)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("stop-commands", done.stdout)
                self.assertNotRegex(done.stdout, r"(?m)^\s*(::|##)")
        got = [row[0] for row in csv.reader(sql(directory, statement, "--format", "csv").stdout.splitlines())][1:]
        self.assertEqual(got, sorted(names))

    def test_skip(self):
        directory = artifacts(trace("training"))
        statement = "select start_ns from kernel_events order by 1"
        whole = [row[0] for row in rows(directory, statement)]
        for skip, count in ((0, 5), (3, 5), (len(whole) - 2, 5), (len(whole) + 1, 5)):
            done = json.loads(sql(directory, statement, "--skip", skip, "--rows", count, "--format", "json").stdout)
            self.assertEqual([row[0] for row in done["rows"]], whole[skip:skip + count])
            self.assertEqual(done["truncated"], skip + count < len(whole))
        self.assertIn("--skip", run("sql", directory, statement, "--skip", "1", "--format", "parquet", "--out", fresh_dir() / "p").stderr)

    def test_rows_and_files(self):
        directory = artifacts(trace("training"))
        done = sql(directory, "select * from kernel_events", "--rows", "2", "--format", "json")
        self.assertEqual((len(json.loads(done.stdout)["rows"]), json.loads(done.stdout)["truncated"]), (2, True))
        self.assertIn("the first 2 rows", done.stderr)
        self.assertFalse(json.loads(sql(directory, "select 1", "--format", "json").stdout)["truncated"])
        out = fresh_dir() / "x.csv"
        self.assertEqual(sql(directory, "select * from gpus", "--format", "csv", "--out", out).stdout, "")
        self.assertEqual(out.read_bytes(), (directory / "tables" / "gpus.csv").read_bytes())
        self.assertEqual(sql(directory, "select * from nothing", "--out", out).returncode, 2)
        self.assertEqual(os.listdir(out.parent), ["x.csv"])
        statement = out.with_name("q.sql")
        statement.write_text("-- a comment\nselect count(*)\nfrom gpus where device_id = :gpu;\n")
        self.assertEqual(json.loads(run("sql", directory, "--file", statement, "--param", "gpu=0", "--format", "json").stdout)["rows"], [[1]])
        self.assertIn(f"{statement}:3:29: the parameter :gpu has no value", run("sql", directory, "--file", statement).stderr)

    def test_trace_as_source(self):
        path = trace("training")
        self.assertEqual(sql(path, "select * from kernels", "--format", "csv").stdout,
                         sql(artifacts(path), "select * from kernels", "--format", "csv").stdout)

    @support.tier("ci")
    @support.unsanitized("it starts the program twice for each table; what is said of tables is the same there")
    def test_schema(self):
        directory = artifacts(trace("training"))
        tables = json.loads(run("sql", directory, "--schema", "--format", "json").stdout)["rows"]
        self.assertEqual({row[0] for row in tables if row[1] == "derived"}, {"kernel_launches", "memop_launches", "graph_event_launches", "call_ranges",
                                                                              "nvtx_nodes", "range_depths", "nvtx_projection_events", "slack",
                                                                              "critical_path_steps"})  # no table of a run has their names
        for name, kind, _, description in tables:
            self.assertTrue(description, name)
            done = json.loads(run("sql", directory, "--schema", name, "--format", "json").stdout)["rows"]
            shown = [c[0] for c in done if not c[4]]
            self.assertEqual([c["name"] for c in json.loads(sql(directory, f"select * from {name} limit 0", "--format", "json").stdout)["columns"]],
                             shown, name)
            if kind != "view":
                self.assertTrue(all(c[5] for c in done), name)
        self.assertIn("did you mean kernels?", run("sql", directory, "--schema", "kernles").stderr)


class Mistakes(unittest.TestCase):
    def test_places_and_suggestions(self):
        directory = artifacts(trace("training"))
        for statement, wanted in (("select total_tim_ns from kernels", r"sql:1:8: no such column: total_tim_ns; did you mean total_time_ns\?"),
                                  ("select *\n  from kernl_events", r"sql:2:8: no such table: kernl_events; did you mean kernel_events\?"),
                                  ("select 1 from CUPTI_ACTIVITY_KIND_KERNEL", "the export has it: nsys-ai sql SRC --raw TRACE reads it as raw.CUPTI_ACTIVITY_KIND_KERNEL\n"),
                                  ("select 1 from raw.StringIds", "no such table: raw.StringIds; the export has it: .*raw.StringIds\n"),
                                  ("select path_ from v_kernels", r"did you mean path\?"),
                                  ("select check from data_quality", 'written "check"'),
                                  ("selec 1", r"sql:1:1: near"), ("", r"there is no statement"), ("/* x */", "there is no statement"),
                                  ("select 1; select 2", r"sql:1:11: one statement"), ("select ?", "parameters have names"),
                                  ("select :x", r"sql:1:8: the parameter :x has no value"),
                                  ("select \"text\" from gpus", "no such column")):
            done = sql(directory, statement)
            self.assertEqual((done.returncode, done.stdout), (2, ""), statement)
            self.assertRegex(done.stderr, wanted, statement)
        self.assertEqual(sql(directory, "select 1;  -- done\n /* really */ ;").returncode, 0)

    def test_usage(self):
        directory = artifacts(trace("training"))
        for words in ((directory,), (directory, "select 1", "--file", "x"), (directory, "select 1", "--param", "x"),
                      (directory, "select 1", "--format", "xml"), (directory, "--schema", "--explain")):
            self.assertEqual(run("sql", *words).returncode, 2, words)
        self.assertEqual(sql("/nonexistent", "select 1").returncode, 3)


class Harm(unittest.TestCase):
    def test_refused(self):
        directory = artifacts(trace("training"))
        work = fresh_dir()
        for statement in ("create table x(a)", "create temp table x(a)", "insert into kernels values (1)", "delete from gpus", "update gpus set label = 1",
                          "drop view v_kernels", f"attach '{work}/x.db' as x", f"vacuum into '{work}/y.db'", "pragma table_info(gpus)",
                          "select * from pragma_table_info('gpus')", "begin", "select load_extension('x')", "select printf('%d', 1)",
                          "select format('%d', 1)", "select randomblob(10)", "select random()", "select datetime('now')", "select zeroblob(9)",
                          "select * from sqlite_master", "select * from sqlite_schema", "select * from dbstat", "select * from sqlite_stmt",
                          "select fts3_tokenizer('x')", "create virtual table t using kernel_events", "reindex", "analyze", "savepoint a",
                          "select * from viewer_data", "select writefile('x', 'y')", "select readfile('/etc/passwd')", "explain pragma x"):
            done = sql(directory, statement, cwd=work)
            self.assertEqual((done.returncode, done.stdout), (2, ""), (statement, done.stdout))
        self.assertEqual(os.listdir(work), [])

    def test_output_file(self):
        """Only what was asked for is replaced: not a pipe or device, not a link, no neighbor."""
        directory, work = artifacts(trace("training")), fresh_dir()
        (work / "out.csv.part").write_text("mine")
        (work / "target.csv").write_text("old")
        (work / "link.csv").symlink_to("target.csv")
        os.mkfifo(work / "pipe")
        for name in ("out.csv", "link.csv", "-"):
            done = sql(directory, "select 7 as seven", "--format", "csv", "--out", name, cwd=work)
            self.assertEqual((done.returncode, done.stdout), (0, "seven\n7\n" if name == "-" else ""), done.stderr)
        with subprocess.Popen(["cat", work / "pipe"], stdout=subprocess.PIPE, text=True) as cat:
            self.assertEqual(sql(directory, "select 7 as seven", "--format", "csv", "--out", work / "pipe").returncode, 0)
            self.assertEqual(cat.stdout.read(), "seven\n7\n")
        self.assertTrue((work / "pipe").is_fifo() and (work / "link.csv").is_symlink())
        self.assertEqual((work / "target.csv").read_text(), "seven\n7\n")
        self.assertEqual((work / "out.csv.part").read_text(), "mine")
        done = sql(directory, "select 7", "--out", work)
        self.assertEqual(done.returncode, 5)
        self.assertIn("is a directory", done.stderr)
        self.assertEqual(sql(directory, "select nonsense", "--out", work / "out.csv").returncode, 2)
        self.assertEqual((work / "out.csv").read_text(), "seven\n7\n")
        self.assertEqual(sorted(os.listdir(work)), ["link.csv", "out.csv", "out.csv.part", "pipe", "target.csv", "target.csv.kept"])

    def test_sizes(self):
        directory = artifacts(trace("training"))
        for statement in (" union ".join(["select 1"] * 200), "select 1" + " " * 100_000, "select " + ",".join(["1"] * 600),
                          "select " + "+".join(["1"] * 5000)):
            done = sql(directory, statement)
            self.assertEqual((done.returncode, done.stdout), (2, ""), (statement[:40], done.stderr[:200]))
        # SQLite's parser takes no more than a hundred of these up to 3.45, and any number since.
        done = sql(directory, "select " + "(" * 5000 + "1" + ")" * 5000 + " as one")
        self.assertIn((done.returncode, done.stdout.split()), ((2, []), (0, ["one", "1"])), done.stderr[:200])

    def test_limits(self):
        """Statements that would take hours, or all memory."""
        directory = artifacts(trace("training"))
        endless = "with recursive a(x) as (select 1 union all select x + 1 from a) select count(*) from a"
        product = "select count(*) from nvtx_events a, nvtx_events b, nvtx_events c, nvtx_events d"
        long = "with recursive a(x, n) as (select 'ab', 1 union all select x || x, n + 1 from a where n < 17) "
        for statement in (endless, product, long + "select sum(instr(a.x, b.x || 'c')) from a, a b, api_events c"):
            start = time.monotonic()
            done = sql(directory, statement, "--timeout", "0.5")
            self.assertEqual((done.returncode, done.stdout), (6, ""), (statement, done.stderr))
            self.assertLess(time.monotonic() - start, 0.5 + 2)
        greedy = "select count(*) from (select a.rowid as x, b.rowid as y from nvtx_events a, nvtx_events b order by x * y % 1007, y, x)"
        done = sql(directory, greedy, "--max-memory", "16M", "--timeout", "20")
        self.assertEqual((done.returncode, done.stdout), (6, ""), done.stderr)
        self.assertIn("--max-memory", done.stderr)

    def test_damaged_table(self):
        directory = support.analyze(trace("minimal"))
        support.flip_table(directory, "kernel_events")
        done = sql(directory, "select count(*) from kernel_events")
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertEqual(sql(directory, "select count(*) from gpus").returncode, 0)

    def test_closed_pipe(self):
        directory = artifacts(trace("inference"))
        with subprocess.Popen([support.PROGRAM, "sql", directory, "select a.* from kernel_events a, gpus, api_events", "--format", "csv"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.wait(20), -13)
            self.assertEqual(process.stderr.read(), b"")


TABLES = ("kernel_events", "memop_events", "api_events", "nvtx_events", "threads", "processes", "gpus", "kernels", "capabilities", "kernel_configs")


class Differential(unittest.TestCase):
    """Random statements over our tables, and over the same rows in plain SQLite tables."""

    COUNT = support.by_tier(200, 2000)

    def load(self, directory):
        """Plain tables from what `nsys-ai table` prints: no code of src/query is involved."""
        plain = sqlite3.connect(":memory:")
        columns = {}
        for table in TABLES:
            content = json.loads(run("table", directory, table, "--json").stdout)
            kept = [i for i, c in enumerate(content["columns"]) if c["type"] != "float" or c["name"] == "total_time_ms"]
            declared = {"int": "INTEGER", "float": "REAL", "text": "TEXT"}
            columns[table] = [(content["columns"][i]["name"], content["columns"][i]["type"]) for i in kept]
            names = ", ".join(f'"{n}" {declared[t]}' for n, t in columns[table])
            plain.execute(f"create table {table} (rowid_ integer primary key, {names})")
            plain.executemany(f"insert into {table} values (?{', ?' * len(kept)})",
                              [(n, *(row[i] for i in kept)) for n, row in enumerate(content["rows"])])
        return plain, columns

    def value(self, rnd, plain, table, name):
        found = plain.execute(f'select "{name}" from {table} where rowid_ = ?', (rnd.randrange(0, 50),)).fetchone()
        value = found[0] if found else None
        kind = rnd.random()
        if kind < 0.06:
            return "null"
        if isinstance(value, str):
            text = value.replace("'", "''")
            return f"'{text}'" if kind < 0.8 else rnd.choice(["5", "'zzz'", "''", "'k'", "3.5"])
        value = value or 0
        return rnd.choice([str(value), str(value), str(value + rnd.randrange(-3, 4)), f"{value + 0.5!r}", f"'{value}'", f"'{value}x'", "'abc'",
                           "-1", "0", "9223372036854775807", "-9223372036854775807", "1e300", "-1e300"])

    def condition(self, rnd, plain, table, alias, columns):
        name, kind = rnd.choice(columns)
        column = f'{alias}."{name}"'
        if rnd.random() < 0.08:
            return f"{alias}.ROWID {rnd.choice(['=', '<', '>='])} {rnd.choice(['0', '1', '17', '2.5', '3.0', '-1', 'null'])}"
        value = lambda: self.value(rnd, plain, table, name)
        choice = rnd.random()
        if kind == "text" and choice < 0.3:
            pattern = rnd.choice(["%a%", "cu%", "%_e%", "Fwd%", "%kernel%", "", "%"])
            return f"{column} {rnd.choice(['like', 'not like'])} '{pattern}'" if choice < 0.2 else f"{column} glob '{pattern.replace('%', '*')}'"
        if kind == "text" and choice < 0.4:
            return f"{column} = {value()} collate nocase"
        if choice < 0.5:
            return f"{column} {rnd.choice(['<', '<=', '>', '>=', '=', '<>', 'is', 'is not'])} {value()}"
        if choice < 0.65:
            return f"{column} between {value()} and {value()}"
        if choice < 0.8:
            return f"{column} in ({value()}, {value()}, {value()})"
        if choice < 0.9:
            return f"{column} is {rnd.choice(['', 'not '])}null"
        return f"{column} >= {value()} and {column} < {value()}"

    JOINS = (("kernel_events", "api_events", "a.correlation_id = b.correlation_id"), ("api_events", "threads", "b.ROWID = a.thread"),
             ("kernel_events", "processes", "b.ROWID = a.process"), ("kernel_events", "kernels", "b.kernel_name = a.name and b.device_id = a.device_id"),
             ("nvtx_events", "threads", "b.ROWID = a.thread"), ("kernel_events", "kernel_configs", "a.config = b.ROWID"))

    def statement(self, rnd, plain, columns):
        joined = rnd.random() < 0.25
        table, other, on = rnd.choice(self.JOINS) if joined else (rnd.choice(TABLES), None, None)
        source = f"{table} a" + (f" {rnd.choice(['join', 'left join'])} {other} b on {on}" if joined else "")
        conditions = [self.condition(rnd, plain, table, "a", columns[table]) for _ in range(rnd.choice([0, 1, 1, 2, 3]))]
        if joined and rnd.random() < 0.5:
            conditions.append(self.condition(rnd, plain, other, "b", columns[other]))
        where = f" where {rnd.choice([' and ', ' and ', ' or ']).join(conditions)}" if conditions else ""
        name = lambda: f'a."{rnd.choice(columns[table])[0]}"'
        kind = rnd.random()
        if kind < 0.25:
            key = ", ".join(name() for _ in range(rnd.choice([1, 1, 2, 3])))
            return f"select {key}, count(*), min({name()}), count(distinct {name()}) from {source}{where} group by {key}" + \
                   rnd.choice(["", f" order by {key}", f" order by {key} desc", " having count(*) > 2"]), False
        if kind < 0.4:
            key = ", ".join(name() for _ in range(rnd.choice([1, 2, 2])))
            return f"select distinct {key} from {source}{where}" + rnd.choice(["", f" order by {key}"]), False
        if kind < 0.5:
            return f"select count(*), sum(a.ROWID), max({name()}) from {source}{where}", False
        picked = ", ".join(name() for _ in range(rnd.choice([1, 2, 3])))
        if joined or rnd.random() < 0.4:
            return f"select {picked} from {source}{where}", False
        first = name()
        return f"select a.ROWID, {picked} from {source}{where} order by {first} {rnd.choice(['', 'desc'])}, a.ROWID" + \
               rnd.choice(["", " limit 7", " limit 5 offset 3"]), True

    def compare(self, scenario, options, count):
        rnd = random.Random(f"{scenario} {options}")
        directory = artifacts(trace(scenario, *options))
        plain, columns = self.load(directory)
        statements = [self.statement(rnd, plain, columns) for _ in range(count)]
        done = subprocess.run([support.BUILD / "tests" / "nai-statements", directory], input="".join(f"{s}\n" for s, _ in statements),
                              capture_output=True, encoding="utf-8", timeout=support.TIMEOUT_S, check=True)
        answers = done.stdout.splitlines()
        self.assertEqual(len(answers), count)
        empty = 0
        for (statement, ordered), answer in zip(statements, answers):
            wanted = [list(row) for row in plain.execute(re.sub(r"\bROWID\b", "rowid_", statement))]
            got = json.loads(answer)
            self.assertNotIn("error", got, statement)
            key = lambda row: [(value is not None, isinstance(value, str), value if value is not None else 0) for value in row]
            got, wanted = (got["rows"], wanted) if ordered else (sorted(got["rows"], key=key), sorted(wanted, key=key))
            self.scale(got, wanted)
            self.assertEqual(got, wanted, statement)
            empty += not wanted
        self.assertLess(empty, count * 0.75)

    def scale(self, got, wanted):
        """Plain columns of time arrive in ns, as the printers take them; SQLite has ms."""
        for row, other in zip(got, wanted):
            for i, (a, b) in enumerate(zip(row, other)):
                if isinstance(a, int) and isinstance(b, float) and a in (round(b * 1e6), round(b * 1e3)):
                    row[i] = b

    def test_training(self):
        self.compare("training", (), self.COUNT // 2)

    def test_shuffled(self):
        """Rows out of order: no column of times is sorted."""
        self.compare("host-bound", ("--shuffle",), self.COUNT // 4)

    def test_mixed(self):
        self.compare("graphs-node", (), self.COUNT // 8)

    def test_extreme_values(self):
        self.compare("hostile-values", (), self.COUNT // 8)


class Raw(unittest.TestCase):
    """sql --raw: tables of the export itself, as far as they hold no secrets."""

    def traces(self):
        return [trace("hostile"), trace("training")] + ([SHARED / "traces" / f"{name}.sqlite" for name in ("cuda_small", "fsdp_2gpu")]
                                                        if SHARED.exists() else [])

    @support.tier("ci")
    def test_no_secrets(self):
        for path in self.traces():
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
                names = [name for name, in db.execute("select name from sqlite_master where type in ('table', 'view')")]
            shown = []
            for name in names + ["StringIds"]:
                where = name if name == "StringIds" else f'raw."{name}"'
                done = sql(artifacts(path), f"select * from {where}", "--raw", path, "--format", "csv")
                self.assertIn(done.returncode, (0, 2), done.stderr)
                self.assertNotIn("CANARY", done.stdout + done.stderr, (path, name))
                self.assertEqual(done.stdout == "", done.returncode == 2)
                shown += [name] * (done.returncode == 0)
            for name in shown:
                self.assertRegex(name, r"^(CUPTI_|ENUM_|NVTX_|OSRT_|TARGET_INFO_(CUDA_|GPU$)|ThreadNames|PROFILER_OVERHEAD|StringIds|"
                                       r"GPU_METRICS|NET_NIC|MPI_|SCHED|COMPOSITE|SAMPLING|CUDA_)", path)
            self.assertIn("StringIds", shown)
            self.assertGreater(len(shown), 5)

    def test_not_even_counted(self):
        path = trace("training")
        for statement in ("select count(*) from raw.META_DATA_CAPTURE", "select count(*) from META_DATA_CAPTURE", "select 1 from raw.StringIds limit 1",
                          "select exists(select 1 from META_DATA_CAPTURE where rowid = 1)", "select count(*) from raw.sqlite_master",
                          "attach 'x' as y", "pragma raw.table_info(StringIds)", "select * from pragma_table_info('META_DATA_CAPTURE', 'raw')"):
            self.assertEqual(sql(artifacts(path), statement, "--raw", path).returncode, 2, statement)
        self.assertEqual(sql(artifacts(path), "select 1", "--raw", trace("host-bound")).returncode, 2)
        self.assertEqual(sql(artifacts(path), "select 1 from raw.CUPTI_ACTIVITY_KIND_KERNEL").returncode, 2)

    @unittest.skipUnless(SHARED.exists(), "no reference traces")
    def test_known_answers(self):
        """Joining by correlation id alone invents 294 launches; names by StringIds."""
        path = SHARED / "traces" / "fsdp_2gpu.sqlite"
        naive = "select count(*) from raw.CUPTI_ACTIVITY_KIND_KERNEL k join raw.CUPTI_ACTIVITY_KIND_RUNTIME r using (correlationId)"
        self.assertEqual(rows(artifacts(path), naive, "--raw", path), [[4280]])
        both = ("select (select count(*) from kernel_events), count(*), count(distinct s.value) from raw.CUPTI_ACTIVITY_KIND_KERNEL k "
                "join StringIds s on s.id = k.demangledName")
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            names, = db.execute("select count(distinct value) from StringIds where id in (select demangledName from CUPTI_ACTIVITY_KIND_KERNEL)").fetchone()
        self.assertEqual(rows(artifacts(path), both, "--raw", path), [[4010, 4010, names]])


class History(unittest.TestCase):
    def test_a_store(self):
        """Every metric, finding and kernel of the captures as they were added, under the runs they were added as; of one series only its own."""
        store, named = fresh_dir() / "s", {}
        for series, scenario in (("one", "training"), ("one", "host-bound"), ("two", "training")):
            done = run("store", "add", artifacts(trace(scenario)), "--store", store, "--series", series, "--id", f"{series}-{scenario}")
            self.assertEqual(done.returncode, 0, done.stderr)
            named[done.stdout.strip()] = artifacts(trace(scenario))

        def ask(statement, *options):
            done = run("sql", "--store", store, statement, "--format", "json", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)["rows"]
        for table, columns, inside in (("metrics", "metric, value, definition", "metric, value, definition"), ("findings", "finding, rule, title", "finding, id, title"),
                                       ("kernels", "name, kernel_count", "kernel_name, sum(call_count)")):
            group = "group by kernel_name" if table == "kernels" else ""
            expected = [[name, *row] for name, directory in named.items() for row in rows(directory, f"select {inside} from {table} {group}")]
            self.assertCountEqual(ask(f"select run_id, {columns} from {table}"), expected, table)
        self.assertEqual(sorted(ask("select run_id, status from runs")), [[name, "ok"] for name in sorted(named)])
        self.assertEqual(ask("select count(*) from runs", "--series", "two"), [[1]])
        self.assertEqual(ask("select count(*) from changes"), [[0]])
        self.assertEqual(ask("select name from nai_tables order by name"), [["changes"], ["findings"], ["kernels"], ["metrics"], ["runs"]])
        for words in (["select 1 from v_kernels"], ["select 1", "--series", "three"], ["select 1", "select 2"], ["select 1", "--raw", trace("training")], []):
            self.assertEqual(run("sql", "--store", store, *words).returncode, 2, words)
        self.assertEqual(run("sql", artifacts(trace("training")), "select 1", "--series", "one").returncode, 2)


if __name__ == "__main__":
    support.main()
