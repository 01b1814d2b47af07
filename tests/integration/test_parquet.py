"""Parquet of sql, table and export, read back by programs of others (tests/readers): hyparquet, and DuckDB where it is."""
import csv
import io
import json
import math
import random
import shutil
import subprocess
import unittest

import support
from support import SHARED, SOURCE, artifacts, fresh_dir, run, trace

READERS = SOURCE / "tests" / "readers"
HAS = {name: shutil.which("node") and (READERS / "node_modules" / package).exists()
       for name, package in (("hyparquet", "hyparquet"), ("duckdb", "@duckdb/node-api"))}


def read(paths, reader="hyparquet"):
    done = subprocess.run(["node", READERS / "parquet.mjs", reader, *paths], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def summary(path):
    """Of columns i and t, without printing their rows."""
    script = """import { readFileSync } from 'node:fs'; import { parquetMetadata, parquetRead } from 'hyparquet'
        const b = readFileSync(process.argv[1]), file = b.buffer.slice(b.byteOffset, b.byteOffset + b.byteLength)
        const m = parquetMetadata(file), got = {groups: m.row_groups.map(g => Number(g.num_rows)), sum: 0, texts: 0, lengths: 0}, seen = new Set()
        await parquetRead({file, metadata: m, rowFormat: 'array', onComplete: rows => { for (const [i, v] of rows) {
          got.sum += Number(i)
          if (v !== null && v !== undefined) { got.texts++; got.lengths += v.length; seen.add(v) } } }})
        console.log(JSON.stringify({...got, distinct: seen.size}))"""
    done = subprocess.run(["node", "--input-type=module", "-e", script, path], capture_output=True, text=True, timeout=120, cwd=READERS)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def cell(value):
    """As Python has it: NULL, int, float or text."""
    if isinstance(value, dict):
        return int(value["int"]) if "int" in value else float(value["real"].replace("Infinity", "inf"))
    return value


def cells(file):
    return [[cell(v) for v in row] for row in file["rows"]]


def write(source, statement, *options):
    out = fresh_dir() / "x.parquet"
    file = out.with_suffix(".sql")
    file.write_bytes(statement if isinstance(statement, bytes) else statement.encode())
    done = run("sql", source, "--file", file, "--format", "parquet", "--out", out, *options)
    assert done.returncode == 0 and not done.stdout, done.stderr
    return out


def literal(value):
    if isinstance(value, bytes):
        return f"cast(x'{value.hex()}' as text)"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return "null" if value is None else repr(value) if value != math.inf else "9e999"


def random_value(rng, kind):
    if rng.random() < 0.15:
        return None
    return {"int": lambda: rng.choice([rng.randint(-9, 9), rng.randint(-2**63 + 1, 2**63 - 1), 2**63 - 1, -2**63 + 1, 7, 7, 7]),
            "real": lambda: rng.choice([rng.uniform(-1, 1), 1e308, -5e-324, math.inf, 0.5, 0.5]),
            "text": lambda: rng.choice(["", "a", "ü€😀", "line\nbreak", "x" * rng.randint(0, 300), "a", "a", f"t{rng.randint(0, 40)}"]),
            "mixed": lambda: rng.choice([rng.randint(-9, 9), rng.randint(-9, 9) / 4]),
            "null": lambda: None}[kind]()


def random_table(rng):
    kinds = [rng.choice(["int", "real", "text", "mixed", "null"]) for _ in range(rng.randint(1, 6))]
    rows = rng.choice([1, 2, 7, 8, 9, 63, 200])
    table = []
    for _ in range(rows):  # runs, so that both ways of writing numbers occur
        table.append(table[-1] if table and rng.random() < 0.4 else [random_value(rng, kind) for kind in kinds])
    return table


def statement_of(table):
    names = ", ".join(f"column{i + 1} as c{i}" for i in range(len(table[0])))
    rows = ", ".join("(" + ", ".join(map(literal, row)) + ")" for row in table)
    return f"select {names} from (values {rows})"


def expected(table):
    """What a column of one type holds: whole numbers beside fractions are real numbers."""
    columns = [list(column) for column in zip(*table)]
    real = [any(isinstance(v, float) for v in column) for column in columns]
    return [[float(v) if r and v is not None else v for v, r in zip(row, real)] for row in table]


@unittest.skipUnless(HAS["hyparquet"], "no hyparquet (npm)")
class Parquet(unittest.TestCase):
    def test_random_tables(self):
        rng = random.Random(20)
        tables = [random_table(rng) for _ in range(40)]
        run_directory = artifacts(trace("empty"))
        paths = [write(run_directory, statement_of(table), *(["--gzip"] if i % 3 == 0 else [])) for i, table in enumerate(tables)]
        for reader in ("hyparquet", "duckdb"):
            for table, found in zip(tables, read(paths, reader) if HAS[reader] else []):
                self.assertEqual(cells(found), expected(table), (reader, table))

    def test_edges(self):
        source = artifacts(trace("empty"))
        bad = write(source, b"select cast(x'ff41c0' as text) as t, 'a' || char(10) as u, -9223372036854775808 as i, x'00ff' as b")
        none = write(source, "select 1 as i, 'x' as t, 2.5 as x, null as some_ns where 0")
        unit = write(source, "select 1 as a union all select 'x'")
        found, empty, mixed = read([bad, none, unit])
        self.assertEqual(cells(found), [["\ufffdA\ufffd", "a\n", -2**63, ""]])
        self.assertEqual((empty["rows"], empty["groups"], [c["type"] for c in empty["columns"]]),
                         ([], [], ["BYTE_ARRAYUTF8", "BYTE_ARRAYUTF8", "BYTE_ARRAYUTF8", "INT64"]))
        self.assertEqual(cells(mixed), [["1"], ["x"]])
        done = run("sql", source, "select 1 as a, 2 as a", "--format", "parquet", "--out", bad)
        self.assertEqual((done.returncode, 'two columns "a"' in done.stderr), (2, True), done.stderr)

    def test_every_table(self):
        """Every table of a run against its CSV, by both readers."""
        paths, texts = [], []
        sources = [artifacts(trace("training"))] + ([artifacts(SHARED / "traces" / "fsdp_2gpu.sqlite")] if SHARED.exists() else [])
        for source in sources:
            for table in [path for path in sorted((source / "tables").iterdir()) if path.stem != "index"] + [source / "kernel_events"]:
                out = fresh_dir() / f"{table.stem}.parquet"
                done = run("table", source, table.stem, "--format", "parquet", "--out", out)
                self.assertEqual((done.returncode, done.stderr), (0, ""), table)
                paths.append(out)
                texts.append(list(csv.reader(io.StringIO(run("table", source, table.stem).stdout))))
        for reader in ("hyparquet", "duckdb"):
            for path, (names, *rows), found in zip(paths, texts, read(paths, reader) if HAS[reader] else []):
                self.assertEqual([c["name"] for c in found["columns"]], names)
                self.assertEqual(len(found["rows"]), len(rows), path)
                for want, got in zip(rows, cells(found)):
                    for name, text, value in zip(names, want, got):
                        if isinstance(value, str):
                            self.assertEqual(text.lstrip("'"), value.lstrip("'"), (path, name))
                        elif value is None:
                            self.assertEqual(text, "", (path, name))
                        else:  # CSV rounds what is no count of ns
                            self.assertAlmostEqual(float(text), value, delta=max(abs(value), 1) * 1e-3 if isinstance(value, float) else 0)

    def test_statistics_and_metadata(self):
        """Bounds and NULLs of each group are those of its cells; units and descriptions are in the file."""
        source = artifacts(trace("training"))
        plain = write(source, "select * from v_kernels")
        found, = read([plain])
        self.assertEqual(found["groups"], [1256])
        schema = json.loads(found["metadata"]["nsys-ai.schema"])
        told = {c["name"]: c for c in schema["columns"]}
        self.assertEqual((told["start_ns"]["unit"], told["category"]["unit"]), ("timestamp_ns", "text"))
        self.assertTrue(told["start_ns"]["description"])
        checked = 0
        for i, column in enumerate(zip(*cells(found))):
            values = [v for v in column if v is not None]
            stats = found["statistics"][0][i]
            self.assertEqual(stats["nulls"], len(column) - len(values))
            if stats["min"] is None:
                self.assertTrue(not values or max(len(str(v).encode()) for v in (min(values), max(values))) > 64)
                continue
            key = (lambda v: v.encode()) if isinstance(values[0], str) else None
            self.assertEqual((cell(stats["min"]), cell(stats["max"])), (min(values, key=key), max(values, key=key)))
            checked += 1
        self.assertGreater(checked, 20)
        packed = write(source, "select * from v_kernels", "--gzip")
        self.assertLess(packed.stat().st_size, plain.stat().st_size / 2)
        again, = read([packed])
        self.assertEqual((again["rows"], again["codecs"]), (found["rows"], ["GZIP"]))
        self.assertEqual(packed.read_bytes(), write(source, "select * from v_kernels", "--gzip").read_bytes())

    def test_groups(self):
        """One row more than a group holds, of 300,000 texts."""
        rows = 1_048_577
        path = write(artifacts(trace("empty")), f"with recursive n(i) as (select 0 union all select i + 1 from n where i < {rows - 1}) "
                     "select i, iif(i % 3, 't' || (i % 300000), null) as t from n")
        found = summary(path)
        texts = [i for i in range(rows) if i % 3]
        self.assertEqual(found, {"groups": [1_048_576, 1], "sum": rows * (rows - 1) // 2, "texts": len(texts),
                                 "distinct": len({i % 300000 for i in texts}), "lengths": sum(len(str(i % 300000)) + 1 for i in texts)})

    def test_export(self):
        """The same rows as CSV, and types of their own."""
        source = artifacts(trace("training"))
        for name in ("kernels", "copies", "calls", "ranges", "projections", "gaps"):
            out = fresh_dir() / "x.parquet"
            self.assertEqual(run("export", "parquet", source, "--list", name, "--out", out).returncode, 0)
            found, = read([out])
            rows = list(csv.reader(io.StringIO(run("export", "csv", source, "--list", name).stdout)))
            self.assertEqual([c["name"] for c in found["columns"]], rows[0])
            self.assertEqual([c["name"] + " " + c["type"] for c in found["columns"]][1:5],
                             ["start_ns INT64", "end_ns INT64", "duration_ms DOUBLE", "duration_us DOUBLE"])
            schema = json.loads(found["metadata"]["nsys-ai.schema"])["columns"]
            document = json.loads(run("export", "json", source, "--list", name).stdout)
            for told in (schema, document["columns"]):
                units = {c["name"]: c["unit"] for c in told}
                self.assertNotIn(None, units.values(), (name, units))
                self.assertEqual([units[c] for c in rows[0][1:5]], ["timestamp_ns", "timestamp_ns", "ms", "us"])
                self.assertEqual(units["duration_ns"], "ns")
            self.assertEqual([c["name"] for c in schema if not c["description"]], [], name)
            at = rows[0].index("duration_ns")
            for row in rows[1:]:
                ns = int(row[2]) - int(row[1])
                self.assertEqual((int(row[at]), support.ns_of_ms(row[3]), support.ns_of_us(row[4])), (ns, ns, ns))
            self.assertEqual([["" if v is None else str(v) for v in row[:3]] for row in cells(found)], [row[:3] for row in rows[1:]])
        done = run("export", "parquet", source, "--out", "x.parquet.gz")
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    support.main()
