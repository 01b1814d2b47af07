"""What the tests of the program from outside share: running it, sample traces, reading its reports."""
import atexit
import contextlib
import csv
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from decimal import Decimal

PROGRAM = os.environ["NSYS_AI"]
GENERATOR = os.environ["NSYS_AI_GEN"]
SOURCE = pathlib.Path(os.environ["NAI_SOURCE_DIR"])
SHARED = pathlib.Path(os.environ.get("NAI_SHARED_DIR", "/nonexistent"))
CACHE = pathlib.Path(os.environ.get("NAI_TEST_CACHE", tempfile.gettempdir() + "/nsys-ai-test-cache"))
SANITIZED = os.environ.get("NAI_SANITIZED") == "1"

# Every scenario but `bench`, whose truth is checked on its own.
SCENARIOS = ("inference training copy-bound host-bound graphs graphs-node shared-gpu shared-gpu-mapped nvtx-mix hostile "
             "hostile-values empty minimal no-nvtx healthy neglected").split()
# Those whose idle time, spans and findings are planned for a diagnosis. They hold no random choices, but for
# steps-jitter and phantom-steps.
DIAGNOSIS = ("launch-load profiler-flush launch-in-flight dependency drained-queue alloc-churn tiny-copies bimodal long-calls shapes "
             "autotune gemm-sizes graph-capture graph-churn graph-small launch-storm copy-lag first-touch pause cpu-work memory-growth failed cold "
             "api-only nvtx-only two-processes eight-gpus many-gpus pytorch-like tensorrt-like cupy-like openacc-like "
             "openmp-like cpp steps steps-bare steps-jitter steps-input steps-drift layers phantom-steps collectives "
             "collectives-skewed collectives-graph").split()
# One loop in variants that comparisons have to tell apart; the seed is the capture.
PAIRS = "loop loop-slower loop-renumbered loop-retuned loop-fused loop-drift loop-waits loop-fewer".split()
SMALL = {"inference": ("--scale", "0.3")}
TIMEOUT_S = 300


def oldest_schema(scenario):
    return {"graphs": 2024, "graphs-node": 2024, "nvtx-mix": 2024, "shared-gpu-mapped": 2026, "hostile": 2026,
            "hostile-values": 2026, "launch-load": 2024, "dependency": 2026, "pause": 2026, "failed": 2021,
            "cold": 2024, "two-processes": 2024, "steps": 2026, "steps-bare": 2026, "steps-input": 2026,
            "collectives": 2026, "collectives-skewed": 2026, "collectives-graph": 2026, "shapes": 2024, "gemm-sizes": 2024, "graph-capture": 2024, "graph-churn": 2024,
            "graph-small": 2024, "copy-lag": 2024, "cpu-work": 2026, "memory-growth": 2026}.get(scenario, 2019)


@functools.lru_cache(maxsize=None)
def scratch():
    """A directory of this process, removed at its end."""
    path = tempfile.mkdtemp(prefix="nsys-ai-it-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return pathlib.Path(path)


def fresh_dir(prefix="d"):
    return pathlib.Path(tempfile.mkdtemp(prefix=prefix + "-", dir=scratch()))


def run(*words, env=None, program=PROGRAM, text=True, **options):
    """Runs the program and returns the completed process; a run that hangs is an error."""
    options.setdefault("capture_output", "stdout" not in options and "stderr" not in options)
    options.setdefault("timeout", TIMEOUT_S)
    if text:
        options.setdefault("encoding", "utf-8")
        options.setdefault("errors", "strict")
    return subprocess.run([program, *map(str, words)], env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                          check=False, **options)


@functools.lru_cache(maxsize=None)
def shim(source):
    """A library to preload, of C source: calls that go through it can be made to fail, or to be late."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler or SANITIZED:
        raise unittest.SkipTest("no compiler, or a sanitizer that wants to be the first library")
    directory = fresh_dir("shim")
    (directory / "shim.c").write_text(source, encoding="ascii")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", directory / "shim.so", directory / "shim.c", "-ldl"], check=True)
    return str(directory / "shim.so")


def trace(scenario, *options):
    """Path of a generated trace. Kept in the build tree: the same arguments and generator give the same bytes."""
    stamp = os.stat(GENERATOR)
    options = tuple(map(str, options)) or SMALL.get(scenario, ())
    name = "_".join((scenario, *options)).replace("--", "").replace("/", "-")
    directory = CACHE / f"{stamp.st_mtime_ns}-{stamp.st_size}" / name
    # Named by scenario only: the name is part of the reports, which are compared.
    path = directory / f"{scenario}.sqlite"
    if not path.exists():
        directory.parent.mkdir(parents=True, exist_ok=True)
        work = pathlib.Path(tempfile.mkdtemp(prefix=".work-", dir=directory.parent))
        done = run(scenario, work / path.name, "--truth", work / "truth.json", *options, program=GENERATOR)
        if done.returncode:
            raise RuntimeError(f"nsys-ai-gen {scenario}: {done.stderr}")
        try:
            os.rename(work, directory)
        except OSError:  # another test made it meanwhile
            shutil.rmtree(work)
    return path


def edited(scenario, *statements):
    """A generated trace in which SQL statements changed something: what no scenario has."""
    path = fresh_dir("edited") / f"{scenario}.sqlite"
    shutil.copyfile(trace(scenario), path)
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            db.execute(statement)
    return path


def truth(trace_path):
    return json.loads((trace_path.parent / "truth.json").read_text(encoding="utf-8"))


def analyze(trace_path, *options, out=None):
    """Runs analyze into a fresh directory, demands success and returns the directory."""
    out = out or fresh_dir("out") / "run"
    done = run("analyze", trace_path, "-q", "--out", out, *options)
    if done.returncode or done.stderr:
        raise AssertionError(f"analyze {trace_path} {options}: exit {done.returncode}: {done.stderr}")
    return out


@functools.lru_cache(maxsize=None)
def artifacts(trace_path, *options):
    """The artifacts directory of a trace, made once per test program. Do not change it."""
    return analyze(trace_path, *options)


def report(directory):
    return Report(directory)


class Report:
    """report.json, with exact numbers."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        text = (self.directory / "report.json").read_text(encoding="utf-8")
        self.json = json.loads(text, parse_float=Decimal)

    def rows(self, table):
        content = self.json["tables"][table]
        names = [column["name"] for column in content["columns"]]
        return [dict(zip(names, row)) for row in content["rows"]]

    def row(self, table, **wanted):
        found = [r for r in self.rows(table) if all(r[k] == v for k, v in wanted.items())]
        if len(found) != 1:
            raise AssertionError(f"{len(found)} rows of {table} with {wanted}")
        return found[0]

    def findings(self):
        return {finding["id"] for finding in self.json["findings"]}

    def caveats(self):
        return {caveat["id"] for caveat in self.json["caveats"]}


def read_csv(directory, table):
    with open(pathlib.Path(directory) / "tables" / f"{table}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def ns_of_ms(value):
    """Exact ns of a value in ms."""
    ns = Decimal(value) * 1_000_000
    if ns != int(ns):
        raise AssertionError(f"{value} ms is no whole number of ns")
    return int(ns)


def ns_of_us(value):
    ns = Decimal(value) * 1000
    if ns != int(ns):
        raise AssertionError(f"{value} us is no whole number of ns")
    return int(ns)


class Tree(dict):
    """Relative path to bytes. Prints short: unittest would otherwise compute a line diff of megabytes."""

    def __repr__(self):
        return ", ".join(f"{name}={hashlib.sha256(content).hexdigest()[:8]}" for name, content in self.items())


def tree(directory):
    """Every file below a directory. What the stamp holds is left out: it says which file on this machine was read, so copies of a trace
    differ in it, and in nothing else."""
    directory = pathlib.Path(directory)
    return Tree((str(path.relative_to(directory)), b"" if path.name == "trace-stamp" else path.read_bytes())
                for path in sorted(directory.rglob("*")) if path.is_file())


def many_names(count):
    """A trace with so many ranges, no two of one name."""
    path = fresh_dir() / "names.sqlite"
    shutil.copy(trace("nvtx-mix"), path)
    with contextlib.closing(sqlite3.connect(path)) as db:
        names = [row[1] for row in db.execute("PRAGMA table_info(NVTX_EVENTS)")]
        first = dict(zip(names, db.execute("SELECT * FROM NVTX_EVENTS WHERE eventType = 59 LIMIT 1").fetchone()))
        db.execute("DELETE FROM NVTX_EVENTS")
        rows = ({**first, "start": first["start"] + i * 1000, "end": first["start"] + i * 1000 + 900, "textId": None,
                 "text": f"step-{i:08d}/attention"} for i in range(count))
        db.executemany(f"INSERT INTO NVTX_EVENTS VALUES ({', '.join('?' * len(names))})", (tuple(r.values()) for r in rows))
        db.commit()
    return path


def peak_anonymous(*words):
    """Highest RssAnon of a run of the program, bytes, sampled every few milliseconds."""
    peak = 0
    with subprocess.Popen([PROGRAM, *map(str, words)], stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii", errors="replace")
                found = re.search(r"RssAnon:\s+(\d+) kB", status)
                peak = max(peak, int(found.group(1)) * 1024 if found else 0)
            time.sleep(0.003)
        return process.returncode, peak, process.stderr.read()


def main():
    """unittest's main; exit 77, which ctest counts as skipped, when nothing could run."""
    outcome = unittest.main(exit=False, verbosity=1).result
    if not outcome.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if outcome.testsRun == 0 or len(outcome.skipped) == outcome.testsRun else 0)
