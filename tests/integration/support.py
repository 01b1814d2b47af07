"""What the tests of the program from outside share: running it, sample traces, reading its reports."""
import atexit
import base64
import contextlib
import csv
import ctypes
import functools
import hashlib
import inspect
import io
import json
import os
import pathlib
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib
from decimal import Decimal

# ctest says which build is meant; by hand it is the release build: python3 tests/integration/test_cli.py Help
SOURCE = pathlib.Path(__file__).absolute().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("NAI_BUILD_DIR", SOURCE / "build" / "release"))
for name in ("GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT"):  # nor is what runs them the commit of a stored run
    os.environ.pop(name, None)
os.environ["NSYS_AI_CONFIG"] = ""  # defaults of who runs the tests are no defaults of theirs
PROGRAM = os.environ.get("NSYS_AI", str(BUILD / "nsys-ai"))
GENERATOR = os.environ.get("NSYS_AI_GEN", str(BUILD / "nsys-ai-gen"))
SHARED = pathlib.Path(os.environ.get("NAI_SHARED_DIR", SOURCE.parent / "shared"))
CACHE = pathlib.Path(os.environ.get("NAI_TEST_CACHE", BUILD / "tests" / "cache"))
SANITIZED = os.environ.get("NAI_SANITIZED") == "1"

# How much is run: `scripts/test`, with --ci, with --soak. What a tier leaves out is no test of it, and not reported as skipped.
TIERS = ("check", "ci", "soak")
TIER = os.environ.get("NAI_TEST_TIER", "ci")
if SANITIZED and TIER == "ci":  # all takes five times as long there
    TIER = "check"
# The first tier has been run on this build, without reference traces beside it (.ci/run): of it only what has more of something now.
FIRST_DONE = os.environ.get("NAI_FIRST_TIER_DONE") == "1" and not SANITIZED

# Every scenario but `bench`, whose truth is checked on its own.
SCENARIOS = ("inference training copy-bound host-bound graphs graphs-node shared-gpu shared-gpu-mapped nvtx-mix hostile "
             "hostile-values empty minimal no-nvtx healthy neglected").split()
# Those whose idle time, spans and findings are planned for a diagnosis. They hold no random choices, but for
# steps-jitter and phantom-steps.
DIAGNOSIS = ("launch-load profiler-flush launch-in-flight dependency drained-queue alloc-churn row-loop tiny-copies bimodal long-calls shapes "
             "autotune gemm-sizes graph-capture graph-churn graph-small launch-storm copy-lag first-touch pause cpu-work memory-growth failed cold "
             "api-only nvtx-only two-processes eight-gpus many-gpus pytorch-like tensorrt-like cupy-like openacc-like "
             "openmp-like cpp steps steps-bare steps-jitter steps-input steps-drift layers phantom-steps collectives "
             "collectives-skewed collectives-advanced collectives-graph partitions decompression mpi mpi-ranks mpi-hidden mpi-late mpi-on-time openacc-data openacc-data-mended openacc-waits openacc-async files files-ahead grouped-sends sampled sampled-coarse time-sliced time-sliced-alone host-functions host-functions-hidden call-sites call-sites-mended call-sites-renamed").split()
# One loop in variants that comparisons have to tell apart; the seed is the capture.
PAIRS = "loop loop-slower loop-renumbered loop-retuned loop-fused loop-drift loop-waits loop-fewer".split()
# Engines that serve a language model.
SERVING = "serving serving-eager serving-uncounted serving-guessing".split()
SMALL = {"inference": ("--scale", "0.3")}
TIMEOUT_S = 300


def oldest_schema(scenario):
    return {"graphs": 2024, "graphs-node": 2024, "nvtx-mix": 2024, "shared-gpu-mapped": 2026, "hostile": 2026,
            "hostile-values": 2026, "launch-load": 2024, "dependency": 2026, "pause": 2026, "failed": 2021,
            "cold": 2024, "two-processes": 2024, "steps": 2026, "steps-bare": 2026, "steps-input": 2026,
            "collectives": 2026, "collectives-skewed": 2026, "collectives-advanced": 2026, "collectives-graph": 2026, "grouped-sends": 2026, "partitions": 2026, "decompression": 2026, "call-sites": 2026, "call-sites-mended": 2026, "call-sites-renamed": 2026, "sampled": 2026, "sampled-coarse": 2026, "time-sliced": 2026, "time-sliced-alone": 2026, "host-functions": 2026, "host-functions-hidden": 2026, "mpi": 2026, "mpi-ranks": 2026, "mpi-hidden": 2026, "mpi-late": 2026, "mpi-on-time": 2026, "openacc-data": 2026, "openacc-data-mended": 2026, "openacc-waits": 2026, "openacc-async": 2026, "files": 2026, "files-ahead": 2026, "shapes": 2024, "gemm-sizes": 2024, "graph-capture": 2024, "graph-churn": 2024,
            "graph-small": 2024, "serving": 2024, "serving-uncounted": 2024, "serving-guessing": 2024, "copy-lag": 2024, "cpu-work": 2026, "memory-growth": 2026}.get(scenario, 2019)


@functools.lru_cache(maxsize=None)
def scratch():
    """A directory of this process, removed at its end."""
    path = tempfile.mkdtemp(prefix="nsys-ai-it-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return pathlib.Path(path)


os.environ["XDG_CACHE_HOME"] = str(scratch() / "cache")


def another_version(directory):
    """The program with another build id, so that its runs are of another version."""
    content = bytearray(pathlib.Path(PROGRAM).read_bytes())
    note = re.search(rb"\x04\0\0\0....\x03\0\0\0GNU\0", content, re.DOTALL)
    content[note.end()] ^= 0xff
    to = pathlib.Path(directory) / "another-version"
    to.write_bytes(content)
    to.chmod(0o755)
    return to


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


@functools.lru_cache(maxsize=None)
def cached(name):
    """A directory of the cache, named KIND-STAMP after the program whose files it holds; what another build left goes."""
    directory = CACHE / name
    if not directory.exists():
        for old in set(CACHE.glob(name.split("-")[0] + "-*")) - {directory}:
            shutil.rmtree(old, ignore_errors=True)
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def keep(work, directory):
    """Puts a finished directory where the cache has it."""
    try:
        os.rename(work, directory)
    except OSError:  # another test made it meanwhile
        shutil.rmtree(work)


def trace(scenario, *options):
    """Path of a generated trace. Kept in the build tree: the same arguments and generator give the same bytes."""
    stamp = os.stat(GENERATOR)
    options = tuple(map(str, options)) or SMALL.get(scenario, ())
    name = "_".join((scenario, *options)).replace("--", "").replace("/", "-")
    directory = cached(f"traces-{stamp.st_mtime_ns}-{stamp.st_size}") / name
    # Named by scenario only: the name is part of the reports, which are compared.
    path = directory / f"{scenario}.sqlite"
    if not path.exists():
        work = pathlib.Path(tempfile.mkdtemp(prefix=".work-", dir=directory.parent))
        done = run(scenario, work / path.name, "--truth", work / "truth.json", *options, program=GENERATOR)
        if done.returncode:
            raise RuntimeError(f"nsys-ai-gen {scenario}: {done.stderr}")
        keep(work, directory)
    return path


def overlapping(count):
    """A statement that adds so many start/end ranges to each thread with CUDA calls, a quarter of them as long as half of its time, of three names."""
    return ("with recursive n(i) as (select 0 union all select i + 1 from n where i < {0} - 1), "
            "t as (select globalTid as tid, min(start) as a, max(end) - min(start) as span from CUPTI_ACTIVITY_KIND_RUNTIME group by 1) "
            "insert into NVTX_EVENTS(start, end, eventType, text, globalTid, domainId) select a + span * (i * 7919 % {0}) / {0} / 2, "
            "a + span * (i * 7919 % {0}) / {0} / 2 + span * (i * 104729 % 97) / 194, 60, 'request ' || (i % 3), tid, 0 from n, t").format(count)


def edited(scenario, *statements):
    """A generated trace (or the scenario's name) in which SQL statements changed something: what no scenario has."""
    source = trace(scenario) if isinstance(scenario, str) else scenario
    path = fresh_dir("edited") / source.name
    shutil.copyfile(source, path)
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
    """The artifacts directory of a trace. Do not change it: of generated traces and exports it is made once per build and kept in the
    build tree; of others, and with options that name a file, whose content may change, once per test program."""
    stamp, content = os.stat(PROGRAM), os.stat(trace_path)
    if not {CACHE, SHARED} & set(trace_path.parents) or any("/" in str(word) for word in options):
        return analyze(trace_path, *options)
    key = repr((str(trace_path), content.st_mtime_ns, content.st_size, options)).encode()
    directory = cached(f"runs-{stamp.st_mtime_ns}-{stamp.st_size}") / hashlib.sha256(key).hexdigest()[:32]
    if not directory.exists():
        work = pathlib.Path(tempfile.mkdtemp(prefix=".work-", dir=directory.parent))
        analyze(trace_path, *options, out=work / "run")
        keep(work, directory)
    return directory / "run"


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
    """Rows of a table of a run; of one without a file the list of tables says how many there are and how to get them."""
    place = pathlib.Path(directory) / "tables"
    if table != "index" and not (place / f"{table}.csv").exists() and (place / "index.csv").exists():
        listed, = [row for row in read_csv(directory, "index") if row["table_name"] == table]
        if listed["row_count"] == "0":
            return []
        printed = run(*(str(directory) if word == "SRC" else word for word in listed["csv"].split()[1:]))
        rows = list(csv.DictReader(io.StringIO(printed.stdout)))
        if printed.returncode or str(len(rows)) != listed["row_count"]:
            raise AssertionError(f"{listed}: {printed.stderr}")
        return rows
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


def page_block(page, name):
    """A block of data of a page, as bytes; without any where the page has none."""
    text = re.search(rf'id="nsys-ai-{name}">(.*?)</script>', page, re.DOTALL)[1]
    return text.encode() if text[:1] == "{" else zlib.decompress(base64.b64decode(text, validate=True), -15) if text else b""


def contents(path):
    """The bytes of a file, and what a page holds packed: for those who look for words in them."""
    data = pathlib.Path(path).read_bytes()
    if path.suffix != ".html":
        return data
    return b"\n".join([data, *(zlib.decompress(base64.b64decode(text), -15) for text in re.findall(rb'id="nsys-ai-[a-z-]+">([^{<][^<]*)', data))])


def _fields(data):
    at = 0
    while at < len(data):
        pair = []
        for _ in range(2):
            size = int.from_bytes(data[at:at + 4], "little")
            pair.append(data[at + 4:at + 4 + size])
            at += 4 + size
        yield pair[0].decode(), pair[1]


def tables_in(content):
    """Of a file with several tables (docs/table-format.md): name -> (rows, offset, bytes, key); of one with a single table: empty."""
    if not content.startswith(b"NSYSSET\0"):
        return {}
    rows, _, at, size = struct.unpack_from("<4Q", content, 16)
    records = [(kind, dict(_fields(value))) for kind, value in _fields(content[at:at + size])]
    section = lambda data: content[(place := struct.unpack("<3Q", data))[0]:place[0] + place[1]]
    columns = {r["name"].decode(): section(r["cells"]) for kind, r in records if kind == "column"}
    texts = next(r for kind, r in records if kind == "texts")
    words = section(texts["bytes"]).split(b"\0")
    number = lambda column, kind: struct.unpack(f"<{rows}{kind}", columns[column])
    return {words[name].decode(): tuple(place) for name, *place in
            zip(number("table_name", "I"), *(number(c, "q") for c in ("row_count", "offset", "size_bytes")), number("key", "Q"))}


def columns_in(content):
    """What a table file's bytes say of its columns, but for widths and places; of a table that is only listed, nothing."""
    at, size = struct.unpack_from("<2Q", content, 32) if content else (0, 0)
    return tuple(tuple((name, value) for name, value in _fields(column) if name not in ("width", "base", "cells"))
                 for kind, column in _fields(content[at:at + size]) if kind == "column")


def table_place(directory, table):
    """Where a table of a run lies: its file, where it begins there, and its bytes."""
    own = pathlib.Path(directory, "stages", f"{table}.ntab")
    for path in [] if own.exists() else pathlib.Path(directory, "stages").glob("*.ntab"):
        for name, (_, offset, size, _) in tables_in(path.read_bytes()).items():
            if name == table:
                return path, offset, size
    return own, 0, own.stat().st_size


def table_file(directory, table):
    """A table of a run as a file of its own."""
    path, offset, size = table_place(directory, table)
    file = fresh_dir() / f"{table}.ntab"
    file.write_bytes(path.read_bytes()[offset:offset + size])
    return file


def flip(path, place=None):
    """Changes a bit of a file, which other directories may share."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2 if place is None else place] ^= 1
    path.unlink()
    path.write_bytes(content)


def flip_table(directory, table):
    path, offset, size = table_place(directory, table)
    flip(path, offset + size - 9)  # of what says which columns it has: no padding


def _empty_table(name, key):
    """A table file without rows and columns."""
    source = "#define XXH_INLINE_ALL\n#include <xxhash.h>\nunsigned long long hash(const char *p, int n) { return XXH3_64bits(p, n); }\n"
    function = ctypes.CDLL(shim(source)).hash
    function.restype = ctypes.c_ulonglong
    digest = lambda data: function(data, len(data)) & (1 << 64) - 1
    pair = lambda word, value: b"".join(len(part).to_bytes(4, "little") + part for part in (word, value))
    none = struct.pack("<3Q", 72, 0, digest(b""))
    text = pair(b"table", pair(b"name", name.encode())) + pair(b"texts", pair(b"count", bytes(8)) + pair(b"offsets", none) + pair(b"bytes", none))
    head = struct.pack("<8sHHI6Q", b"NSYSTAB", 3, 0, 0x01020304, 0, key, 72, len(text), digest(text), 72 + len(text))
    return head + struct.pack("<Q", digest(head)) + text


def in_format_2(directory):
    """A run as version 2 of run directories had it: a file per table."""
    out = fresh_dir() / "run"
    shutil.copytree(directory, out)
    manifest = json.loads((out / "stages/manifest.json").read_text(encoding="utf-8"))
    manifest["format_major"] = 2
    for path in list((out / "stages").glob("*.ntab")):
        content = path.read_bytes()
        tables = tables_in(content)
        if not tables:
            continue
        path.unlink()
        manifest["files"].remove(f"stages/{path.name}")
        for name, (_, offset, size, key) in tables.items():
            (out / f"stages/{name}.ntab").write_bytes(content[offset:offset + size] or _empty_table(name, key))
            manifest["files"].append(f"stages/{name}.ntab")
    for node in manifest["nodes"].values():
        del node["stage"]
    (out / "stages/manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return out


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


def in_tier(tier):
    """Whether tests of this tier are to run: each tier contains the ones before it."""
    return TIERS.index(tier) <= TIERS.index(TIER)


def tier(name):
    """Decorator of a test or a class: too dear for the tiers before this one."""
    assert name in TIERS[1:], name

    def mark(test):
        test.tier = name
        return test
    return mark


def by_tier(first, later):
    """As many repetitions, seeds or examples as the tier pays for."""
    return first if TIER == "check" else later


def unsanitized(why):
    """Decorator of a test or a class that would prove nothing under sanitizers, or cannot run there: no test of that build."""
    assert why

    def mark(test):
        test.unsanitized = True
        return test
    return mark


def exports(series=None):
    """The reference traces beside the checkout, if there are any. `series`: also the captures of programs that were being changed;
    without a word, in the last tier."""
    traces = SHARED / "traces"
    found = sorted(traces.glob("*.sqlite")) + sorted((traces / "real").glob("*.sqlite"))
    return found + (sorted((traces / "series").glob("*/*.sqlite")) if (in_tier("soak") if series is None else series) else [])


@functools.lru_cache(maxsize=None)  # inspect reads the whole file for each class
def source_of(value):
    """"" of what no file has: a named tuple."""
    try:
        return inspect.getsource(value)
    except OSError:
        return ""


@functools.lru_cache(maxsize=None)
def more_words(module):
    """What a later tier, or reference traces, make more of, and the names of what a module makes of that."""
    words, before = {"by_tier", "in_tier", "exports", "SHARED"}, 0
    pieces = [(name, source_of(value)) for name, value in vars(module).items()
              if inspect.getmodule(value) is module and (inspect.isfunction(value) or (inspect.isclass(value) and not issubclass(value, unittest.TestCase)))]
    pieces += re.findall(r"(?m)^(\w+) = (.*(?:\n[ )\]}].*)*)", inspect.getsource(module))
    while len(words) > before:
        before = len(words)
        pattern = re.compile(r"\b(?:" + "|".join(words) + r")\b")
        words |= {name for name, source in pieces if pattern.search(source)}
    return pattern


def has_more(test):
    """Whether a later tier, or reference traces, make more of a test: it asks for them, or its class does outside of other tests."""
    kind = type(test)
    source = source_of(kind)
    for name, value in vars(kind).items():
        if name.startswith("test") and name != test._testMethodName:
            source = source.replace(source_of(value), "")
    return more_words(inspect.getmodule(kind)).search(source) is not None


def chosen(suite):
    """The tests of a suite that this tier and build run."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from chosen(test)
            continue
        method = getattr(test, test._testMethodName)
        tiers = [getattr(of, "tier", "check") for of in (type(test), method)]
        done = FIRST_DONE and tiers == ["check", "check"] and not has_more(test)
        if all(map(in_tier, tiers)) and not done and not (SANITIZED and any(getattr(of, "unsanitized", False) for of in (type(test), method))):
            yield test


class Loader(unittest.TestLoader):
    """Whoever names a test means it, whatever its tier."""

    def loadTestsFromModule(self, module, *args, **options):
        return unittest.TestSuite(chosen(super().loadTestsFromModule(module, *args, **options)))


def main():
    """unittest's main, of the tests in this tier. Prints why tests are skipped; exit 77, which ctest counts as skipped, when nothing
    could run. (Warnings are of connections that a test leaves to the collector.)"""
    outcome = unittest.main(exit=False, verbosity=1, testLoader=Loader(), warnings="ignore").result
    for test, reason in outcome.skipped:
        print(f"skipped: {test.id().removeprefix('__main__.')}: {reason}")
    if not outcome.testsRun and FIRST_DONE:
        sys.exit(0)
    if not outcome.testsRun:
        print("skipped: nothing of it is for this tier and build")
    if not outcome.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if outcome.testsRun == 0 or len(outcome.skipped) == outcome.testsRun else 0)
