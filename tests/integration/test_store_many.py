"""A store of very many runs: what one night costs, and what the fleet does. NSYS_AI_TEST_RUNS: how many, 10,000 without it; figures are printed."""
import csv
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import unittest

import support
from support import GENERATOR, PROGRAM, fresh_dir, run

RUNS = int(os.environ.get("NSYS_AI_TEST_RUNS", "10000"))
NIGHTS = 100  # of a series
BEGIN = 1767225600  # 2026-01-01
MEMORY = 200 << 20


def measured(*words, expect=0):
    """(processor time in s, largest resident set in bytes) of a call."""
    child = subprocess.Popen([PROGRAM, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == expect, (words, child.returncode)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10


class Many(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Nights that were added, and copies of them under other names and times: their files by hard links."""
        cls.nights = fresh_dir() / "n"
        assert run("series", cls.nights, "--nights", 12, "--noise", 0.5, "--seed", 3, program=GENERATOR).returncode == 0
        cls.batch = fresh_dir() / "b"
        assert run("batch", cls.nights, "--out", cls.batch, "-q").returncode == 0
        seed, cls.store = fresh_dir() / "seed", fresh_dir() / "s"
        for item in sorted((cls.batch / "items").iterdir()):
            assert run("store", "add", item, "--store", seed, "--series", "p").returncode == 0
        cls.store.mkdir()
        shutil.copy(seed / "store.json", cls.store)
        sources = sorted(path.parent for path in seed.glob("runs/*/*/*/run.json"))
        for number in range(RUNS):
            cls.put(sources[cls.source_of(number)], number)

    @classmethod
    def source_of(cls, number):
        """Which night a run is a copy of."""
        return (number // NIGHTS + 5 * (number % NIGHTS)) % 12

    @classmethod
    def put(cls, source, number):
        record = json.loads((source / "run.json").read_text(encoding="utf-8"))
        series, night = divmod(number, NIGHTS)
        utc = BEGIN + 86400 * night + series
        record["id"] = datetime.datetime.fromtimestamp(utc, datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ") + f"-{number:08x}"
        record["series"] = f"p{series:04}/" + record["series"].split("/")[1]
        record["utc_ns"] = utc * 10**9
        to = cls.store / "runs" / record["series"] / record["id"]
        to.mkdir(parents=True)
        (to / "run.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        os.link(source / "summary.bin", to / "summary.bin")
        if series == 1:  # the one that a night is checked against
            shutil.copytree(source / "captures", to / "captures", copy_function=os.link)

    def test_a_night_and_the_fleet_cost_little(self):
        """First of all by its name: the largest resident set of a child counts what this process had when it began."""
        out, series = fresh_dir(), "p0001" if RUNS > NIGHTS else "p0000"
        newest = self.batch / "items/night-0011"
        figures = {
            "add": measured("store", "add", newest, "--store", self.store, "--series", series, "--id", "new", "-q"),
            "list": measured("store", "list", "--store", self.store),
            "trend of a series": measured("trend", "--store", self.store, "--series", series, "--out", out / "t", "-q"),
            "all series": measured("trend", "--all", "--store", self.store, "--out", out / "f", "-q"),
            "index": measured("store", "index", "--store", self.store),
        }
        if RUNS > NIGHTS:
            figures["check"] = measured("check", newest, "--baseline", "median:7", "--store", self.store, "--series", series, "--out",
                                        out / "c", "-q")
        for name, (seconds, memory) in figures.items():
            print(f"{RUNS} runs, {name}: {seconds:.3f} s of processor time, {memory / (1 << 20):.0f} MiB")
        for name, most in (("add", 0.1), ("trend of a series", 0.2), ("check", 0.5)):  # twice the aim: others use the machine, too
            self.assertLess(figures.get(name, (0, 0))[0], most, name)
        for name in ("add", "trend of a series", "all series", "check"):
            self.assertLess(figures.get(name, (0, 0))[1], MEMORY, name)
        self.assertLess(figures["index"][1], (50 << 20) + 1536 * RUNS)  # MEMORY at 100,000 runs
        self.assertEqual(len((out / "f/fleet.csv").read_text(encoding="utf-8").splitlines()), 1 + -(-RUNS // NIGHTS))
        self.assertEqual(run("store", "remove", "new", "--store", self.store).returncode, 0)  # the others count what was copied

    def test_copies_are_as_added(self):
        """Two thousand of them, added: records and summaries say the same, but where the reports of findings lie."""
        store, count = fresh_dir() / "s", min(RUNS, 2000)
        for number in range(count):
            series, night = divmod(number, NIGHTS)
            utc = datetime.datetime.fromtimestamp(BEGIN + 86400 * night + series, datetime.timezone.utc)
            done = run("store", "add", self.batch / f"items/night-{self.source_of(number):04}", "--store", store, "--series", f"p{series:04}",
                       "--id", utc.strftime("%Y%m%dT%H%M%SZ") + f"-{number:08x}", "--time", utc.strftime("%Y-%m-%dT%H:%M:%SZ"))
            self.assertEqual(done.returncode, 0, done.stderr)
        records = [path.relative_to(store) for path in store.glob("runs/*/*/*/run.json")]
        self.assertEqual([path for path in records if json.loads((store / path).read_bytes()) != json.loads((self.store / path).read_bytes())], [])
        self.assertEqual(len(records), count)
        for table in ("metrics", "kernels", "findings"):
            told = [list(csv.reader(run("sql", "--store", where, f"select * from {table} where run_id in (select run_id from runs where series < 'p{count // NIGHTS:04}')",
                                        "--format", "csv").stdout.splitlines())) for where in (store, self.store)]
            left = [column for column, name in enumerate(told[0][0]) if name != "path"]
            self.assertGreater(len(told[0]), count // 2, table)
            self.assertEqual(*([[row[column] for column in left] for row in rows] for rows in told), table)

    def test_rebuilt(self):
        """An index of nights that were really added is the same, to the byte, without the summaries."""
        store = fresh_dir() / "s"
        for number in range(60):
            item = self.batch / f"items/night-{number % 12:04}"
            done = run("store", "add", item, "--store", store, "--series", f"p{number % 5}", "--id", f"n{number}", "--time", f"2026-03-{1 + number % 28:02}T00:00:00Z")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(run("store", "index", "--store", store).returncode, 0)
        before = [(store / f"index.{kind}").read_bytes() for kind in ("sqlite", "csv", "html")]
        for path in pathlib.Path(store).glob("runs/*/*/*/summary.bin"):
            path.unlink()
        self.assertEqual(run("store", "index", "--store", store).returncode, 0)
        self.assertEqual([(store / f"index.{kind}").read_bytes() for kind in ("sqlite", "csv", "html")], before)


if __name__ == "__main__":
    support.main()
