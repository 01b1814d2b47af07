"""A folder of Parquet files as a trace: written by DuckDB and by Arrow's Rust library (tests/data/parquet.tar.xz, made by
tests/readers/parquet_folder.mjs), against the SQLite export that it was made of."""
import json
import pathlib
import random
import shutil
import sqlite3
import subprocess
import tarfile
import unittest

from support import SOURCE, fresh_dir, run, trace

READERS = SOURCE / "tests/readers"
HAS_ZSTD = shutil.which("zstd") is not None


def tables(run_directory):
    """All but the size of the file, and the index, which tells that, too."""
    texts = {}
    for path in sorted((run_directory / "tables").iterdir()):
        text = path.read_text()
        if path.stem == "capture":
            head, row = text.splitlines()
            cells = row.split(",")
            del cells[head.split(",").index("size_bytes")]
            text = ",".join(cells)
        texts[path.name] = text
    return texts


def analyzed(source, *options):
    out = fresh_dir() / "run"
    done = run("analyze", source, "--out", out, *options)
    assert done.returncode == 0, done.stderr
    return out, done.stderr


def dump(database):
    """For parquet_folder.mjs. A declared type is not what its cells must be: TEXT holds blobs in payloads."""
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    db.text_factory = bytes
    out = {}
    for name, in db.execute("select cast(name as blob) from sqlite_master where type = 'table' order by name").fetchall():
        name = name.decode()
        columns = [[c[1].decode(), c[2].decode()] for c in db.execute(f"pragma table_info({name})")]
        rows = [list(row) for row in db.execute(f"select * from {name}")]
        kinds = [db.execute(f"select count(*) from {name} where typeof({c}) = 'blob'").fetchone()[0] for c, _ in columns]
        for i, column in enumerate(columns):
            column[1] = "BLOB" if kinds[i] else "INTEGER" if "INT" in column[1] else column[1]
            write = {"TEXT": lambda v: v.decode(), "BLOB": lambda v: v.hex()}.get(column[1], repr)
            for row in rows:
                row[i] = None if row[i] is None else write(row[i])
        out[name] = {"columns": columns, "rows": rows}
    return out


class Folders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = fresh_dir()
        with tarfile.open(SOURCE / "tests/data/parquet.tar.xz") as archive:
            archive.extractall(cls.root, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(cls.root)
        cls.folders = sorted(path for path in cls.root.iterdir() if path.is_dir())
        cls.expected = tables(analyzed(cls.root / "mpi.sqlite")[0])

    def folder(self, name):
        """A copy that may be changed."""
        return shutil.copytree(self.root / name / "mpi.sqlite", fresh_dir() / "mpi.sqlite")

    def refused(self, folder):
        out = fresh_dir() / "run"
        done = run("analyze", folder, "--out", out)
        self.assertEqual((done.returncode, out.exists()), (3, False), done.stderr)
        return done.stderr

    def test_each_writer(self):
        self.assertEqual(len(self.folders), 8)
        for folder in self.folders:
            with self.subTest(folder.name):
                if "zstd" in folder.name and not HAS_ZSTD:
                    continue
                found, said = analyzed(folder / "mpi.sqlite")
                self.assertEqual(tables(found), self.expected)
                self.assertIn("experimental", said)
                self.assertTrue((folder / "mpi.sqlite").is_dir() and all(p.suffix == ".parquet" for p in (folder / "mpi.sqlite").iterdir()))

    def test_every_command_takes_it(self):
        folder = self.root / "duckdb-snappy-V1-0/mpi.sqlite"
        for words in (["probe", folder], ["summary", folder], ["sql", folder, "select count(*) from kernels"],
                      ["table", folder, "kernels"]):
            of_file = run(*[self.root / "mpi.sqlite" if word == folder else word for word in words])
            done = run(*words)
            self.assertEqual(done.returncode, 0, (words, done.stderr))
            if words[0] != "probe":
                self.assertEqual(done.stdout, of_file.stdout, words)
        self.assertEqual(run("stats", folder, "--report", "mpi_event_sum", "--format", "csv").stdout.splitlines()[1:],
                         run("stats", self.root / "mpi.sqlite", "--report", "mpi_event_sum", "--format", "csv").stdout.splitlines()[1:])
        above = fresh_dir()
        shutil.copytree(folder, above / "deep/one_pqtdir")
        out = fresh_dir() / "out"
        done = run("batch", above, "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 ", done.stdout + done.stderr)
        self.assertTrue(any(p.name == "report.html" for p in out.rglob("*")))

    def test_what_is_not_supported(self):
        folder = self.folder("duckdb-snappy-V1-0")
        file = folder / "StringIds.parquet"
        whole = file.read_bytes()
        for bad, message in ((b"", "too short"), (whole[:-4] + b"PARE", "encrypted"), (whole[:-4] + b"xxxx", "does not end as a Parquet file"),
                             (whole[:4] + whole[300:], "damaged"), (whole[:-8] + b"\xff\xff\xff\x7fPAR1", "its footer cannot be read")):
            file.write_bytes(bad)
            said = self.refused(folder)
            self.assertIn(message, said)
            self.assertIn('table "StringIds"', said)
            self.assertIn("--type sqlite", said)
        file.unlink()
        file.symlink_to(self.root / "mpi.sqlite")
        self.assertIn("StringIds", self.refused(folder))
        folder = self.folder("duckdb-snappy-V1-0")
        (folder / "META_DATA_EXPORT.parquet").unlink()
        self.assertIn("is a directory", run("analyze", folder, "--out", fresh_dir() / "run").stderr)

    def test_more_values_than_rows(self):
        """A footer that says one row less, of the file and its group: the row behind is not dropped without a word."""
        folder = self.folder("duckdb-snappy-V1-0")
        file = folder / "MPI_P2P_EVENTS.parquet"
        whole = file.read_bytes()
        count = sqlite3.connect(self.root / "mpi.sqlite").execute("select count(*) from MPI_P2P_EVENTS").fetchone()[0]
        footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
        said, less = bytes([0x16, 2 * count]), bytes([0x16, 2 * count - 2])  # of Thrift: an i64, the next field
        self.assertGreaterEqual(whole.count(said, footer), 2)
        file.write_bytes(whole[:footer] + whole[footer:].replace(said, less))
        self.assertIn("more values than its table has rows", self.refused(folder))

    def test_damage_never_crashes(self):
        """Any byte may be wrong: rows as they were, other rows, or exit status 3."""
        rng = random.Random(38)
        for name in ("arrow-snappy-V2-1", "duckdb-gzip-V2-1"):
            folder = self.folder(name)
            for path in rng.sample(sorted(folder.iterdir()), 8):
                whole = bytearray(path.read_bytes())
                for _ in range(3):
                    changed = bytearray(whole)
                    for _ in range(rng.randint(1, 4)):
                        changed[rng.randrange(len(changed))] = rng.randrange(256)
                    path.write_bytes(changed)
                    done = run("probe", folder)
                    self.assertIn(done.returncode, (0, 3), (path, done.stderr))
                path.write_bytes(whole)

    @unittest.skipUnless(shutil.which("node") and (READERS / "node_modules/@duckdb/node-api").exists(), "no DuckDB (npm)")
    @unittest.skipUnless((READERS / "node_modules/parquet-wasm").exists(), "no parquet-wasm (npm)")
    def test_fresh_folders(self):
        """Of a scenario as the generator writes it today, rows in another order."""
        for scenario in ("evidence", "call-sites"):
            source = pathlib.Path(trace(scenario))
            content = dump(source)
            for table in content.values():
                random.Random(7).shuffle(table["rows"])
            place = fresh_dir()
            (place / "tables.json").write_text(json.dumps(content))
            expected = tables(analyzed(source)[0])
            for writer, *how in (("duckdb", "snappy", "V1", "1"), ("arrow", "gzip", "V2", "0")):
                folder = place / writer / source.name
                done = subprocess.run(["node", READERS / "parquet_folder.mjs", writer, place / "tables.json", folder, *how], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                with self.subTest(scenario=scenario, writer=writer):
                    self.assertEqual(tables(analyzed(folder)[0]), expected)


if __name__ == "__main__":
    unittest.main()
