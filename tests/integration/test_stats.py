"""nsys-ai stats: the reports of nsys, byte by byte against what NVIDIA's program printed (shared/nsys_stats, where it is there), and against
Python over the export for generated traces."""
import collections
import contextlib
import csv
import functools
import html.parser
import io
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import unittest
from decimal import ROUND_HALF_UP, Decimal

import support
from support import PROGRAM, SHARED, edited, fresh_dir, run, trace

ORACLE = SHARED / "nsys_stats"
# shared/nsys_stats/README.md, by its numbers: csv doubles quotes inside a quoted text (20).
QUOTED = {("pytorch_dlprof_2020", "nvtxsum"), ("pytorch_dlprof_2020", "nvtxppsum"), ("pytorch_dlprof_2020", "nvtxpptrace")}
# nsys joins copies with calls of any process (18): rows twice, and fewer within the limit.
DOUBLED = {("two_processes_one_gpu", "cuda-sync-memcpy")}
# Stretches in which several processes or devices are idle are one's only (24).
IDLE = {("two_processes_one_gpu", "gpu-low-util"), ("low_util", "gpu-low-util:chunks=10")}
# Ranges of equal times vanish with nsys (19), so that the one around them has no children: RangeIds that are not compared, those that nsys has not.
TWINS = {("tiny", "nvtxpptrace"): ({"7", "8", "9"}, {"8", "9"})}
# nsys looks for the range around another among 32-bit floats (NSYS_STATS.md 5.1), so that it finds others in a long capture: these columns.
FLOATS = {("fsdp_2gpu", "nvtxgpuproj"): slice(9, 14)}


def stats(source, report, *options):
    done = run("stats", "-q", "-r", report, *options, source)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def rows(source, report, *options):
    return list(csv.reader(io.StringIO(stats(source, report, *(options or ("-f", "csv"))).rstrip("\n"))))


def without_blank_lines(text):
    return "".join(line + "\n" for line in text.split("\n") if line)


def undoubled(text):
    """As NVIDIA's csv has it: no quotes around what holds no comma, none doubled."""
    return re.sub(r'(?m)"((?:[^"]|"")*)"(?=,|$)', lambda m: m[1].replace('""', '"') if "," not in m[1] else m[0].replace('""', '"'), text)


@functools.lru_cache(maxsize=None)
def source_of(name):
    own = ORACLE / name / f"{name}.sqlite"
    return own if own.exists() else next(iter(sorted((SHARED / "traces").rglob(f"{name}.sqlite"))), None)


def is_here(report):
    return report in run("stats", "--help-reports").stdout.split()


@unittest.skipUnless(ORACLE.exists(), "no shared/nsys_stats")
class Nvidia(unittest.TestCase):
    """Old names, csv: equal byte for byte, but for the differences that are listed above."""

    def test_reports(self):
        compared = 0
        for file in sorted(ORACLE.glob("*/*.csv")):
            name = re.sub("(rows|gap|chunks)_", r"\1=", file.stem.removeprefix("rule_").replace("_", ":", 1))
            if file.parent.name == "formats" or not is_here(name.split(":")[0]):
                continue
            with self.subTest(trace=file.parent.name, report=name):
                got = without_blank_lines(stats(source_of(file.parent.name), name, "-f", "csv"))
                compared += 1
                if (file.parent.name, name) in DOUBLED:
                    want = list(dict.fromkeys(file.read_text(encoding="utf-8").splitlines()))
                    self.assertEqual(got.splitlines()[:len(want)], want)
                    continue
                if (file.parent.name, name) in IDLE:
                    self.compare_stretches(file, got)
                    continue
                if (file.parent.name, name) in TWINS or (file.parent.name, name) in FLOATS:
                    self.compare_rows(file, name, got)
                    continue
                if (file.parent.name, name) in QUOTED:
                    got = undoubled(got)
                self.assertEqual(got, file.read_text(encoding="utf-8"))
        self.assertGreater(compared, 100)

    def compare_stretches(self, file, got):
        """Each stretch of nsys lies in one of ours, of the same process and GPU."""
        (_, *got), (_, *want) = (list(csv.reader(text.splitlines())) for text in (got, file.read_text(encoding="utf-8")))
        for _, _, length, start, *user in want:
            self.assertTrue([row for row in got if row[4:] == user and int(row[3]) <= int(start) and
                             int(row[3]) + int(row[2]) >= int(start) + int(length)], user)

    def compare_rows(self, file, name, got):
        got, want = list(csv.reader(io.StringIO(got))), list(csv.reader(file.open(encoding="utf-8")))
        skipped, lost = TWINS.get((file.parent.name, name), (set(), set()))
        columns = FLOATS.get((file.parent.name, name), slice(0, 0))
        for rows in (got, want):
            rows[:] = [row[:columns.start] + row[columns.stop:] for row in rows]
        ids = [row[10] for row in got] if skipped else []
        self.assertEqual(set(ids) - {row[10] for row in want} if skipped else lost, lost)
        self.assertEqual([row for row in got if not skipped or row[10] not in skipped], [row for row in want if not skipped or row[10] not in skipped])

    def test_formats(self):
        for file in sorted(ORACLE.glob("formats/tiny_*.txt")):
            report, form = file.stem.split("_")[1:]
            if is_here(report):
                with self.subTest(file=file.name):
                    self.assertEqual(stats(source_of("tiny"), report, "-f", form), file.read_text(encoding="utf-8"))

    def test_units(self):
        solver = source_of("solver_nvtx_osrt_sched")
        for file in sorted(ORACLE.glob("formats/solver_*.csv")):
            report, unit = file.stem.split("_")[1:]
            key = "mem" if "mem" in report else "time"
            with self.subTest(file=file.name):
                want = file.read_text(encoding="utf-8")
                self.assertEqual(without_blank_lines(stats(solver, report, "-f", f"csv:{key}={unit}")), want)
                if key == "time":
                    self.assertEqual(without_blank_lines(stats(solver, report, "-f", "csv", "--timeunit", unit)), want)


def nsys_version():
    try:
        found = re.search(r"version (\d+)\.", subprocess.run(["nsys", "--version"], capture_output=True, text=True, check=False).stdout)
    except OSError:
        return 0
    return int(found[1]) if found else 0


@unittest.skipUnless(nsys_version() == 2022, "no nsys of 2022 on PATH")
class InstalledNsys(unittest.TestCase):
    """The program itself, on generated exports of every age, under the names of 2022."""

    REPORTS = ("apigpusum cudaapisum cudaapitrace gpukernsum gpukernsum:base gpumemsizesum gpumemtimesum gpusum gputrace kernexecsum kernexectrace nvtxgpuproj "
               "nvtxkernsum nvtxsum nvtxppsum nvtxpptrace nvtxsesum osrtsum openaccsum openmpevtsum unifiedmemory unifiedmemorytotals umcpupagefaults").split()
    RULES = ("cuda-async-memcpy:rows=-1 cuda-sync-memcpy:rows=-1 cuda-sync-memset:rows=-1 cuda-sync-api:rows=-1 gpu-starv:gap=0 gpu-low-util gpu-low-util:chunks=7 "
             "cuda-sync-api:start=1100000000 cuda-sync-memcpy:end=1100000000:rows=-1 gpu-starv:gap=0:start=1050000000:end=1150000000").split()
    TRACES = [("training", age) for age in (2019, 2021, 2024, 2026)] + [("graphs-node", 2026), ("nvtx-mix", 2026), ("copy-bound", 2021), ("host-bound", 2024),
                                                                        ("shapes", 2026), ("openacc-like", 2026), ("openmp-like", 2026)]

    def compare(self, source, report):
        words = ["analyze" if report in self.RULES else "stats", "-q", "-r", report, "-f", "csv"]
        theirs = subprocess.run(["nsys", *words, source], capture_output=True, text=True, check=False, timeout=60)
        if "ERROR" in theirs.stderr:  # gputrace without TARGET_INFO_GPU
            return 0
        want, got = theirs.stdout.split("\n"), undoubled(stats(source, report, "-f", "csv")).split("\n")
        want, got = ([line for line in lines if line and not line.startswith("The following")] for lines in (want, got))
        if report.startswith("cuda-"):  # of equal times any order; a call of another process is no call
            want, got = sorted(set(want)), sorted(got)
        self.assertEqual(got, want)
        return len(want)

    @support.tier("ci")
    def test_reports_and_rules(self):
        compared = 0
        for scenario, age in self.TRACES:
            source = fresh_dir() / f"{scenario}-{age}.sqlite"  # nsys may write beside it
            shutil.copyfile(trace(scenario, "--schema", str(age)), source)
            for report in (*self.REPORTS, *self.RULES):
                with self.subTest(trace=source.name, report=report):
                    compared += self.compare(source, report)
        self.assertGreater(compared, 20000)

    @support.tier("ci")
    def test_equal_totals(self):
        """Rows of equal totals, and events of equal begins, stand in the order of SQLite's sorter."""
        tables = [f"CUPTI_ACTIVITY_KIND_{kind}" for kind in ("RUNTIME", "KERNEL", "MEMCPY", "MEMSET")] + ["NVTX_EVENTS"]
        for times in ("end = start + 100", "start = start / 1000000 * 1000000"):
            source = fresh_dir() / "equal.sqlite"
            shutil.copyfile(edited("training", *(f"update {table} set {times} where end is not null" for table in tables)), source)
            for report in set(self.REPORTS) - {"nvtxpptrace"}:  # where ranges of equal times are missing
                with self.subTest(times=times, report=report):
                    self.compare(source, report)


# --- an independent truth ------------------------------------------------------------------------------------

def one_decimal(value):
    return str(Decimal(repr(float(value))).quantize(Decimal("0.1"), rounding=ROUND_HALF_UP))


def spread(values):
    return [one_decimal(sum(values) / len(values)), one_decimal(statistics.median(values)), str(min(values)), str(max(values)),
            one_decimal(statistics.stdev(values) if len(values) > 1 else 0.0)]


def sums(groups):
    """Rows of a summary: {key: durations} -> [percent, total, count, ...] by key."""
    everything = sum(sum(v) for v in groups.values())
    return {key: [one_decimal(100 * sum(v) / everything), str(sum(v)), str(len(v)), *spread(v)] for key, v in groups.items()}


def grouped(path, statement):
    out = {}
    with sqlite3.connect(path) as db:
        for *key, value in db.execute(statement):
            out.setdefault(tuple(key), []).append(value)
    return out


HEADS = {
    "cuda_api_sum": "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name",
    "cuda_gpu_kern_sum": "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name",
    "cuda_gpu_kern_gb_sum": "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),GridXYZ,BlockXYZ,Name",
    "cuda_gpu_mem_time_sum": "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation",
    "cuda_gpu_mem_size_sum": "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation",
    "cuda_gpu_sum": "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Category,Operation",
    "nvtx_sum": "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Style,Range",
    "nvtx_pushpop_sum": "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Range",
    "osrt_sum": "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name",
}


class Truth(unittest.TestCase):
    """Generated exports of several ages."""

    SOURCES = [trace(name) for name in ("inference", "training", "nvtx-mix", "two-processes", "tiny-copies", "graphs-node")]

    def compare(self, source, report, want, width=1):
        got = rows(source, report)
        self.assertEqual(",".join(got[0]), HEADS[report])
        self.assertEqual({tuple(row[-width:]): row[:-width] for row in got[1:]}, want)
        totals = [int(row[1]) for row in got[1:]]
        self.assertEqual(totals, sorted(totals, reverse=True))

    def test_kernels(self):
        for source in self.SOURCES:
            with self.subTest(source=source.name):
                want = sums(grouped(source, "select value, end - start from CUPTI_ACTIVITY_KIND_KERNEL join StringIds on id = demangledName "
                                            "where typeof(start) = 'integer' and typeof(end) = 'integer'"))
                self.compare(source, "cuda_gpu_kern_sum", want)
                got = rows(source, "cuda_gpu_kern_gb_sum")
                self.assertEqual(sum(int(row[1]) for row in got[1:]), sum(int(row[1]) for row in want.values()))
                self.assertGreaterEqual(len(got) - 1, len(want))

    def test_copies(self):
        for source in (trace("training"), trace("copy-bound")):
            with self.subTest(source=source.name):
                want = grouped(source, "select '[CUDA memcpy ' || label || ']', end - start from CUPTI_ACTIVITY_KIND_MEMCPY "
                                       "join ENUM_CUDA_MEMCPY_OPER e on e.id = copyKind "
                                       "union all select '[CUDA memset]', end - start from CUPTI_ACTIVITY_KIND_MEMSET")
                self.compare(source, "cuda_gpu_mem_time_sum", sums(want))
                sizes = grouped(source, "select '[CUDA memcpy ' || label || ']', bytes from CUPTI_ACTIVITY_KIND_MEMCPY "
                                        "join ENUM_CUDA_MEMCPY_OPER e on e.id = copyKind "
                                        "union all select '[CUDA memset]', bytes from CUPTI_ACTIVITY_KIND_MEMSET")
                got = rows(source, "cuda_gpu_mem_size_sum")
                self.assertEqual(",".join(got[0]), HEADS["cuda_gpu_mem_size_sum"])
                self.assertEqual({(row[-1],): row[:2] + row[4:6] for row in got[1:]},
                                 {key: [f"{sum(v) / 1e6:.3f}", str(len(v)), f"{min(v) / 1e6:.3f}", f"{max(v) / 1e6:.3f}"] for key, v in sizes.items()})

    def test_calls(self):
        for source in self.SOURCES:
            with self.subTest(source=source.name):
                by_id = grouped(source, "select nameId, value, end - start from CUPTI_ACTIVITY_KIND_RUNTIME join StringIds on id = nameId")
                want = sorted([*row, key[1][:-6] if key[1][-6:].startswith("_v") else key[1]] for key, row in sums(by_id).items())
                got = rows(source, "cuda_api_sum")
                self.assertEqual(",".join(got[0]), HEADS["cuda_api_sum"])
                self.assertEqual(sorted(got[1:]), want)

    def test_ranges(self):
        for source in (trace("training"), trace("nvtx-mix"), trace("steps")):
            with self.subTest(source=source.name), sqlite3.connect(source) as db:
                columns = [row[1] for row in db.execute("pragma table_info(NVTX_EVENTS)")]
                text = "coalesce((select value from StringIds where id = textId), text)" if "textId" in columns else "text"
                events = db.execute(f"select eventType, start, end, globalTid, domainId, {text} from NVTX_EVENTS").fetchall()
                domains = {(thread >> 24, domain): name for kind, _, _, thread, domain, name in events if kind == 75}
                last = max(t for e in events if e[0] in (59, 60, 70, 71) for t in e[1:3] if t is not None)
                groups = {}
                for kind, start, end, thread, domain, name in events:
                    if kind in (59, 60, 70, 71):
                        style = "PushPop" if kind in (59, 70) else "StartEnd"
                        full = f"{domains.get((thread >> 24, domain)) or ''}:{name or ''}"
                        groups.setdefault((style, full), []).append((last if end is None else end) - start)
                self.compare(source, "nvtx_sum", sums(groups), width=2)
                self.compare(source, "nvtx_pushpop_sum", sums({(k[1],): v for k, v in groups.items() if k[0] == "PushPop"}))

    def test_everything_in_one_list(self):
        source = trace("training")
        got = rows(source, "cuda_gpu_sum")
        self.assertEqual(",".join(got[0]), HEADS["cuda_gpu_sum"])
        parts = rows(source, "cuda_gpu_kern_sum")[1:] + rows(source, "cuda_gpu_mem_time_sum")[1:]
        self.assertEqual(sorted(row[1:8] + row[9:] for row in got[1:]), sorted(row[1:] for row in parts))
        self.assertEqual({row[8] for row in got[1:]}, {"CUDA_KERNEL", "MEMORY_OPER"})
        self.assertAlmostEqual(sum(float(row[0]) for row in got[1:]), 100, delta=0.05 * len(got))

    def test_order_of_rows_does_not_matter(self):
        source = trace("training")
        shuffled = edited("training")
        with sqlite3.connect(shuffled) as db:
            for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_MEMCPY", "NVTX_EVENTS"):
                all_rows = db.execute(f"select * from {table} order by (start * 7919) % 104729").fetchall()
                db.execute(f"delete from {table}")
                db.executemany(f"insert into {table} values ({','.join('?' * len(all_rows[0]))})", all_rows)
        for report in ("cuda_api_sum", "cuda_gpu_kern_gb_sum", "cuda_gpu_mem_time_sum", "nvtx_sum", "gpusum"):
            self.assertEqual(rows(source, report), rows(shuffled, report), report)


def pid(thread):
    return str(thread >> 24 & 0xFFFFFF)


def tid(thread):
    return str(thread & 0xFFFFFF)


def texts(db):
    return dict(db.execute("select id, value from StringIds"))


def cut(name):
    return name[:-6] if name[-6:].startswith("_v") else name


def sizes(row):
    return " ".join(f"{n:4d}" for n in row)


class Traces(unittest.TestCase):
    """One row an event, and the join of kernels with their calls, in Python."""

    SOURCES = [trace(name) for name in ("training", "two-processes", "graphs-node", "nvtx-mix", "dependency")]

    def test_operations(self):
        for source in self.SOURCES:
            with self.subTest(source=source.name), sqlite3.connect(source) as db:
                names, gpus = texts(db), dict(db.execute("select id, name from TARGET_INFO_GPU"))
                want = []
                for start, end, correlation, device, context, stream, name, *numbers in db.execute(
                        "select start, end, correlationId, deviceId, contextId, streamId, demangledName, gridX, gridY, gridZ, blockX, blockY, blockZ, "
                        "registersPerThread, staticSharedMemory, dynamicSharedMemory from CUPTI_ACTIVITY_KIND_KERNEL"):
                    memory = [f"{n / 1e6:.3f}" for n in numbers[7:]]
                    want.append((start, 0, [str(start), str(end - start), str(correlation), *map(str, numbers[:7]), *memory, "", "", "", "",
                                            f"{gpus[device]} ({device})", str(context), "", str(stream), names[name]]))
                labels = dict(db.execute("select id, label from ENUM_CUDA_MEMCPY_OPER")) if self.has(db, "ENUM_CUDA_MEMCPY_OPER") else {}
                kinds = dict(db.execute("select id, label from ENUM_CUDA_MEM_KIND")) if self.has(db, "ENUM_CUDA_MEM_KIND") else {}
                for table, order in (("MEMCPY", 1), ("MEMSET", 2)):
                    columns = "copyKind, srcKind, dstKind" if order == 1 else "null, memKind, null"
                    if not self.has(db, f"CUPTI_ACTIVITY_KIND_{table}"):
                        continue
                    for start, end, correlation, device, context, stream, size, kind, *places in db.execute(
                            f"select start, end, correlationId, deviceId, contextId, streamId, bytes, {columns} from CUPTI_ACTIVITY_KIND_{table}"):
                        rate = size * (10 ** 9 // (end - start)) / 1e6
                        want.append((start, order, [str(start), str(end - start), str(correlation), *[""] * 9, f"{size / 1e6:.3f}", f"{rate:.3f}",
                                                    *("" if k is None else kinds[k] for k in places), f"{gpus[device]} ({device})", str(context), "",
                                                    str(stream), "[CUDA memset]" if kind is None else f"[CUDA memcpy {labels[kind]}]"]))
                got = rows(source, "cuda_gpu_trace")
                self.assertEqual(",".join(got[0]), "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),"
                                 "Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name")
                green = [row.pop(18) for row in got[1:]]
                self.assertTrue(all(g == "" or g.isdigit() for g in green))
                self.assertEqual(got[1:], [row[:18] + row[19:] for _, _, row in sorted(want, key=lambda w: w[:2])])

    def has(self, db, table):
        return bool(db.execute("select 1 from sqlite_master where name = ?", (table,)).fetchall())

    def test_calls(self):
        for source in self.SOURCES:
            with self.subTest(source=source.name), sqlite3.connect(source) as db:
                names = texts(db)
                threads = {}
                for thread, priority, name in db.execute("select globalTid, priority, nameId from ThreadNames") if self.has(db, "ThreadNames") else ():
                    threads.setdefault(thread, (str(priority), names[name]))
                want = [[str(start), str(end - start), cut(names[name]), str(result), str(correlation), pid(thread), tid(thread), *threads.get(thread, ("", ""))]
                        for start, end, name, result, correlation, thread in db.execute(
                            "select start, end, nameId, returnValue, correlationId, globalTid from CUPTI_ACTIVITY_KIND_RUNTIME order by start, rowid")]
                got = rows(source, "cuda_api_trace")
                self.assertEqual(",".join(got[0]), "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name")
                self.assertEqual(got[1:], want)

    def joined(self, db):
        """Kernels with their calls: what both reports are made of."""
        calls = {}
        names = texts(db)
        for start, end, name, correlation, thread in db.execute("select start, end, nameId, correlationId, globalTid from CUPTI_ACTIVITY_KIND_RUNTIME"):
            calls.setdefault((thread >> 24, correlation), (start, end, cut(names[name]), thread))
        for start, end, device, correlation, process, name, *grid in db.execute(
                "select start, end, deviceId, correlationId, globalPid, demangledName, gridX, gridY, gridZ, blockX, blockY, blockZ from CUPTI_ACTIVITY_KIND_KERNEL"):
            call = calls.get((process >> 24, correlation))
            if call:
                queue = start - call[1] if start >= call[1] else None
                yield call, start, end, queue, max(end, call[1]) - call[0], device, names[name], grid

    def test_launches(self):
        for source in self.SOURCES:
            with self.subTest(source=source.name), sqlite3.connect(source) as db:
                launches, groups = [], {}
                for call, start, end, queue, total, device, name, grid in self.joined(db):
                    launches.append([str(call[0]), str(call[1] - call[0]), "" if queue is None else str(call[1]), "" if queue is None else str(queue), str(start),
                                     str(end - start), str(total), pid(call[3]), tid(call[3]), str(device), call[2], sizes(grid[:3]), sizes(grid[3:]), name])
                    groups.setdefault((pid(call[3]), tid(call[3]), str(device), call[2], name), []).append((total, call[1] - call[0], queue, end - start))
                got = rows(source, "cuda_kern_exec_trace")
                self.assertEqual(",".join(got[0]), "API Start (ns),API Dur (ns),Queue Start (ns),Queue Dur (ns),Kernel Start (ns),Kernel Dur (ns),Total Dur (ns),"
                                 "PID,TID,DevId,API Function,GridXYZ,BlockXYZ,Kernel Name")
                self.assertEqual(sorted(got[1:]), sorted(launches))
                self.assertEqual([int(row[0]) for row in got[1:]], sorted(int(row[0]) for row in launches))
                want = []
                for (process, thread, device, call, name), times in groups.items():
                    total, api, queue, kernel = ([t[i] for t in times if t[i] is not None] for i in range(4))
                    want.append([process, thread, device, str(len(times)), str(len(queue)), *spread(total), *spread(api),
                                 *(spread(queue) if queue else ["", "", "", "", "0.0"]), *spread(kernel), call, name])
                got = rows(source, "cuda_kern_exec_sum")
                self.assertEqual(sorted(got[1:]), sorted(want))
                means = [float(row[5]) for row in got[1:]]
                self.assertEqual(means, sorted(means, reverse=True))

    def test_kernels_without_a_call(self):
        source = edited("training", "delete from CUPTI_ACTIVITY_KIND_RUNTIME where correlationId = (select min(correlationId) from CUPTI_ACTIVITY_KIND_KERNEL)")
        with sqlite3.connect(source) as db:
            kernels = db.execute("select count(*) from CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]
            joined = sum(1 for _ in self.joined(db))
        self.assertLess(joined, kernels)
        done = run("stats", "-r", "cuda_kern_exec_trace", "-f", "csv:nohdr", source)
        self.assertIn(f"{kernels - joined} of {kernels} kernels have no launching call", done.stderr)
        self.assertEqual(len(rows(source, "cuda_kern_exec_trace")) - 1, joined)

    def test_a_gpu_without_a_name(self):
        source = edited("training", "drop table TARGET_INFO_GPU")
        self.assertEqual({row[16] for row in rows(source, "cuda_gpu_trace")[1:]}, {f"GPU ({row[16].split('(')[-1]}" for row in rows(trace("training"), "cuda_gpu_trace")[1:]})


class Ranges(unittest.TestCase):
    """What lies in which range, by comparing every range with every call."""

    # Names that begin, end and go on with each other around the eight bytes that are compared at once.
    ALIKE = ("update NVTX_EVENTS set textId = null, text = substr('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 1, rowid % 33) || "
             "case rowid % 5 when 0 then '' when 1 then 'b' when 2 then char(233) when 3 then ', op_id = ' || rowid else ' ' end where eventType != 75")
    SOURCES = [*(trace(name) for name in ("training", "nvtx-mix", "steps", "layers")), edited("training", support.overlapping(151)), edited("training", ALIKE)]

    def load(self, db, styles=(59, 60, 70, 71)):
        """[rowid, start, end, thread, holds, name, style]; open ranges last until the latest time of these rows."""
        columns = [row[1] for row in db.execute("pragma table_info(NVTX_EVENTS)")]
        text = "coalesce((select value from StringIds where id = textId), text)" if "textId" in columns else "text"
        other = "endGlobalTid" if "endGlobalTid" in columns else "null"
        events = db.execute(f"select rowid, start, end, globalTid, {other}, domainId, {text}, eventType from NVTX_EVENTS order by rowid").fetchall()
        domains = {(e[3] >> 24, e[5]): e[6] for e in events if e[7] == 75}
        last = max(t for e in events if e[7] in styles for t in e[1:3] if t is not None)
        return [(e[0], e[1], last if e[2] is None else e[2], e[3], e[4] is None, f"{domains.get((e[3] >> 24, e[5])) or ''}:{e[6] or ''}",
                 "PushPop" if e[7] in (59, 70) else "StartEnd") for e in events if e[7] in styles]

    def launched(self, db, table, *columns):
        calls = {(thread >> 24, correlation): (start, end, thread) for start, end, thread, correlation in
                 db.execute("select start, end, globalTid, correlationId from CUPTI_ACTIVITY_KIND_RUNTIME order by rowid desc")}
        have = db.execute("select 1 from sqlite_master where name = ?", (f"CUPTI_ACTIVITY_KIND_{table}",)).fetchall()
        for process, correlation, *values in db.execute(
                f"select globalPid, correlationId, {', '.join(columns)} from CUPTI_ACTIVITY_KIND_{table}") if have else ():
            yield calls.get((process >> 24, correlation)), (process, correlation), values

    def around(self, ranges, call):
        return [r for r in ranges if call and r[4] and r[3] == call[2] and r[1] <= call[0] and r[2] >= call[1]]

    def parents(self, ranges):
        """By index: the range around it with the least distance on both sides; ranges of equal times are not in these traces."""
        self.assertEqual(len({(r[1], r[2], r[3]) for r in ranges if r[4]}), sum(r[4] for r in ranges))
        by_thread = {}
        for r in ranges:
            if r[4]:
                by_thread.setdefault(r[3], []).append(r)
        out = {}
        for r in ranges:
            outer = [o for o in by_thread.get(r[3], ()) if r[4] and o is not r and o[1] <= r[1] and o[2] >= r[2]]
            out[r[0]] = min(outer, key=lambda o: (r[1] - o[1]) + (o[2] - r[2]))[0] if outer else None
        return out

    def stack(self, parents, rowid):
        return (self.stack(parents, parents[rowid]) if parents[rowid] else "") + f":{rowid}"

    def test_kernels_of_ranges(self):
        for source in self.SOURCES:
            with self.subTest(source=source.name), sqlite3.connect(source) as db:
                ranges, names, groups = self.load(db), texts(db), {}
                for number, (call, _, (name, start, end)) in enumerate(self.launched(db, "KERNEL", "demangledName", "start", "end")):
                    for r in self.around(ranges, call) or [None]:
                        key = (r[5], r[6], pid(r[3]), tid(r[3])) if r else ("", "", pid(call[2]) if call else "", tid(call[2]) if call else "")
                        groups.setdefault((*key, names[name]), []).append((r and r[0], number, end - start))
                want = [[*key[:4], str(len({p[0] for p in pairs if p[0]})), str(len({p[1] for p in pairs})), str(sum(p[2] for p in pairs)),
                         *spread([p[2] for p in pairs]), key[4]] for key, pairs in groups.items()]
                got = rows(source, "nvtx_kern_sum")
                self.assertEqual(",".join(got[0]), "NVTX Range,Style,PID,TID,NVTX Inst,Kern Inst,Total Time (ns),Avg (ns),Med (ns),Min (ns),Max (ns),"
                                 "StdDev (ns),Kernel Name")
                self.assertEqual(sorted(got[1:]), sorted(want))
                order = [(row[0], int(row[2] or -1), int(row[3] or -1), -int(row[6])) for row in got[1:]]
                self.assertEqual(order, sorted(order))

    def test_projection(self):
        for source in self.SOURCES:
            with self.subTest(source=source.name), sqlite3.connect(source) as db:
                ranges, spans = self.load(db), {}
                for table in ("KERNEL", "MEMCPY", "MEMSET"):
                    for call, launch, (start, end) in self.launched(db, table, "start", "end"):
                        for r in self.around(ranges, call):
                            spans.setdefault(r[0], []).append((start, end, launch))
                parents = self.parents(ranges)
                children_of = collections.Counter(parents[other] for other in spans)
                want, sums_of = [], {}
                for rowid, start, end, thread, _, name, style in ranges:
                    if rowid not in spans:
                        continue
                    first, last = min(s[0] for s in spans[rowid]), max(s[1] for s in spans[rowid])
                    children = children_of[rowid]
                    stack, count = self.stack(parents, rowid), len({s[2] for s in spans[rowid]})
                    want.append([name, str(first), str(last - first), str(start), str(end - start), style, pid(thread), tid(thread), str(count),
                                 str(stack.count(":") - 1), str(children), str(rowid), str(parents[rowid] or ""), stack])
                    sums_of.setdefault((name, style), []).append((last - first, end - start, count, stack.count(":") - 1, children))
                got = rows(source, "nvtx_gpu_proj_trace")
                self.assertEqual(",".join(got[0]), "Name,Projected Start (ns),Projected Duration (ns),Orig Start (ns),Orig Duration (ns),Style,PID,TID,"
                                 "NumGPUOps,Lvl,NumChild,RangeId,ParentId,RangeStack")
                self.assertEqual(sorted(got[1:]), sorted(want))
                order = [(int(row[1]), -int(row[2])) for row in got[1:]]
                self.assertEqual(order, sorted(order))
                want = []
                for (name, style), all_of in sums_of.items():
                    span, wall, count, level, children = zip(*all_of)
                    n = len(all_of)
                    want.append([name, style, str(sum(span)), str(sum(wall)), str(n), *spread(span), str(sum(count)), one_decimal(sum(count) / n),
                                 one_decimal(sum(level) / n), one_decimal(sum(children) / n)])
                got = rows(source, "nvtx_gpu_proj_sum")
                self.assertEqual(sorted(got[1:]), sorted(want))

    def test_tree(self):
        for source in self.SOURCES:
            with self.subTest(source=source.name), sqlite3.connect(source) as db:
                ranges = self.load(db, (59, 70))
                parents = self.parents(ranges)
                inner = {}
                for r in ranges:
                    inner.setdefault(parents[r[0]], []).append(r[2] - r[1])
                want = []
                for rowid, start, end, thread, _, name, _ in ranges:
                    stack, inside = self.stack(parents, rowid), inner.get(rowid, [])
                    level = stack.count(":") - 1
                    want.append([str(start), str(end), str(end - start), str(sum(inside)), str(end - start - sum(inside)), name, pid(thread), tid(thread),
                                 str(level), str(len(inside)), str(rowid), str(parents[rowid] or ""), stack, "--" * level + name])
                got = rows(source, "nvtx_pushpop_trace")
                self.assertEqual(",".join(got[0]), "Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild (ns),Name,PID,TID,Lvl,NumChild,RangeId,"
                                 "ParentId,RangeStack,NameTree")
                self.assertEqual(sorted(got[1:]), sorted(want))
                order = [(int(row[0]), int(row[2])) for row in got[1:]]
                self.assertEqual(order, sorted(order))

    def nested(self, times, other="null"):
        """A trace whose ranges are these, on one thread."""
        statements = ["delete from NVTX_EVENTS"]
        for start, end in times:
            statements.append(f"insert into NVTX_EVENTS(start, end, eventType, text, globalTid, endGlobalTid, domainId) "
                              f"values ({start}, {end}, 59, 'r{start}', (select globalTid from CUPTI_ACTIVITY_KIND_RUNTIME limit 1), {other}, 0)")
        return edited("training", *statements)

    def test_deep(self):
        """300 levels; the edges are shared with neighbors."""
        got = rows(self.nested([(i, 1000 - i) for i in range(300)] + [(1000, 1000), (1000, 1001)]), "nvtx_pushpop_trace")[1:]
        self.assertEqual([row[8] for row in got], [str(i) for i in range(300)] + ["1", "0"])
        self.assertEqual(got[299][12].count(":"), 300)

    def test_equal_times(self):
        """The first of them in the file is the parent of the others; the projection has no place for them, as with nsys."""
        source = self.nested([(5, 10**15)] * 3)
        tree = rows(source, "nvtx_pushpop_trace")[1:]
        self.assertEqual([(row[8], row[9]) for row in tree], [("0", "2"), ("1", "0"), ("1", "0")])
        self.assertIn("3 ranges begin and end with another", run("stats", "-r", "nvtx_pushpop_trace", source).stderr)
        self.assertEqual({(row[9], row[12], row[13]) for row in rows(source, "nvtx_gpu_proj_trace")[1:]}, {("", "", "")})

    def test_ranges_that_end_on_another_thread_hold_nothing(self):
        self.assertGreater(len(rows(self.nested([(5, 10**15)]), "nvtx_gpu_proj_trace")), 1)
        self.assertEqual(stats(self.nested([(5, 10**15)], "7"), "nvtx_gpu_proj_trace", "-f", "csv"), "\n")


    def test_ages_without_null(self):
        """Exports of 2019 have 0 and empty texts where later ones have nothing: the tree stands, and domains keep their names."""
        old, new = (rows(trace("training", "--schema", str(age)), "nvtx_pushpop_trace")[1:] for age in (2019, 2021))
        self.assertEqual([row[3:5] + row[8:10] for row in old], [row[3:5] + row[8:10] for row in new])
        self.assertIn("NCCL:ncclAllReduce", {row[-1] for row in rows(trace("training", "--schema", "2019"), "nvtx_sum")})


class Filters(unittest.TestCase):
    def kernels(self, db, begin, end, process=None):
        """What the kernel summary holds of [begin, end)."""
        names, groups = texts(db), {}
        for first, last, name, of in db.execute("select start, end, demangledName, globalPid from CUPTI_ACTIVITY_KIND_KERNEL"):
            touches = begin <= first < end or begin <= last < end or (first < begin and last >= end)
            if touches and process in (None, of >> 24):
                groups.setdefault((names[name],), []).append(last - first)
        return sums(groups)

    def test_time(self):
        source = trace("training")
        with sqlite3.connect(source) as db:
            times = [t for row in db.execute("select start, end from CUPTI_ACTIVITY_KIND_KERNEL order by start limit 9") for t in row]
            last = db.execute("select max(end) from CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]
            for begin, end in ((times[2], times[8]), (times[3], times[5]), (times[0] + 1, times[1]), (times[5], last), (-5, times[6] + 1)):
                got = rows(source, "cuda_gpu_kern_sum", "-f", "csv", "--filter-time", f"{begin}/{end}")
                self.assertEqual({(row[-1],): row[:-1] for row in got[1:]}, self.kernels(db, begin, end))
            self.assertEqual(rows(source, "cuda_gpu_kern_sum", "-f", "csv", "--filter-time", f"{times[4]}/")[1:],
                             rows(source, "cuda_gpu_kern_sum", "-f", "csv", "--filter-time", f"{times[4]}ns/9e8s")[1:])
            calls = db.execute("select count(*) from CUPTI_ACTIVITY_KIND_RUNTIME where start < ? and end >= ?", (times[8], times[2])).fetchone()[0]
        got = rows(source, "cuda_api_trace", "-f", "csv", "--filter-time", f"{times[2]}/{times[8]}")
        self.assertEqual(max(len(got) - 1, 0), calls)
        self.assertEqual(rows(source, "cuda_api_sum", "-f", "csv", "--filter-time", "/"), rows(source, "cuda_api_sum"))
        for wrong in ("5", "a/b", "1/2/3", "1min/2"):
            self.assertEqual(run("stats", "-q", "--filter-time", wrong, "-r", "cuda_api_sum", source).returncode, 2, wrong)

    def test_launches_are_found_outside(self):
        """A kernel inside whose call lies outside."""
        source = trace("dependency")
        trace_rows = rows(source, "cuda_kern_exec_trace")[1:]
        apart = next(row for row in trace_rows if row[3] and int(row[3]) > 10)
        begin, end = int(apart[4]), int(apart[4]) + 1
        got = rows(source, "cuda_kern_exec_trace", "-f", "csv", "--filter-time", f"{begin}/{end}")
        self.assertIn(apart, got)

    def test_range(self):
        source = trace("training")
        with sqlite3.connect(source) as db:
            name, count = db.execute("select text, count(*) from (select coalesce((select value from StringIds where id = textId), text) text from NVTX_EVENTS "
                                     "where eventType = 59 and end is not null) group by 1 having count(*) > 2 order by 2 desc, 1 limit 1").fetchone()
            found = db.execute("select start, end, globalTid from NVTX_EVENTS where eventType = 59 and coalesce((select value from StringIds where id = textId), "
                               "text) = ? order by start, rowid", (name,)).fetchall()
            escaped = re.sub(r"([@/\\])", r"\\\1", name)
            domain = "@*"
            for index in (0, 2):
                got = rows(source, "cuda_gpu_kern_sum", "-f", "csv", "--filter-nvtx", f"{escaped}{domain}/{index}")
                begin, end, thread = found[index]
                self.assertEqual({(row[-1],): row[:-1] for row in got[1:]}, self.kernels(db, begin, end, thread >> 24))
                calls = db.execute("select count(*) from CUPTI_ACTIVITY_KIND_RUNTIME where start < ? and end >= ? and globalTid = ?", (end, begin, thread)).fetchone()[0]
                got = rows(source, "cuda_api_sum", "-f", "csv", "--filter-nvtx", f"{escaped}{domain}/{index}")
                self.assertEqual(sum(int(row[2]) for row in got[1:]), calls)
        done = run("stats", "-q", "-r", "cuda_gpu_kern_sum", "-f", "csv", "--filter-nvtx", escaped + domain, source)
        self.assertIn(f"the first of {len(found)} ranges", done.stderr)
        self.assertEqual(done.stdout, stats(source, "cuda_gpu_kern_sum", "-f", "csv", "--filter-nvtx", f"{escaped}{domain}/0"))
        for wrong in ("no such range", f"{escaped}{domain}/{len(found)}", f"{escaped}{domain}/x", f"{escaped}@no such domain"):
            self.assertEqual(run("stats", "-q", "-r", "cuda_api_sum", "--filter-nvtx", wrong, source).returncode, 2, wrong)
        out = fresh_dir() / "x"
        self.assertEqual(run("stats", "-q", "-r", "cuda_api_sum", "-o", out, "--filter-nvtx", f"{escaped}{domain}/0", source).returncode, 0)
        self.assertEqual([p.name for p in out.parent.iterdir()], [f"x_cuda_api_sum_nvtx={escaped}{domain}-0.csv"])


    def test_projected_range(self):
        """Kernels that touch the time from the first to the last operation that the range launched."""
        source = trace("training")
        projected = rows(source, "nvtx_gpu_proj_trace")[1:]
        name, start, length = next(row[:3] for row in projected if row[0] == ":forward")
        begin, end = int(start), int(start) + int(length)
        process = next(int(row[6]) for row in projected if row[1] == start and row[0] == name)
        index = sorted((int(row[3]), row[1]) for row in projected if row[0] == name).index((int(next(r[3] for r in projected if r[0] == name)), start))
        with sqlite3.connect(source) as db:
            pid = next(of >> 24 for (of,) in db.execute("select globalPid from CUPTI_ACTIVITY_KIND_KERNEL") if of >> 24 & 0xFFFFFF == process)
            got = rows(source, "cuda_gpu_kern_sum", "-f", "csv", "--filter-projected-nvtx", f"forward/{index}")
            self.assertEqual({(row[-1],): row[:-1] for row in got[1:]}, self.kernels(db, begin, end, pid))
        done = run("stats", "-q", "-r", "cuda_api_sum", "--filter-projected-nvtx", "nothing", edited(
            "training", "insert into NVTX_EVENTS(start, end, eventType, globalTid, text) select 1, 2, 59, globalTid, 'nothing' from NVTX_EVENTS limit 1"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("launched nothing", done.stderr)


class NvtxName(unittest.TestCase):
    """Kernels called after the innermost range around their launch."""

    def names(self, source):
        """RANGE/KERNEL of each kernel, by its start."""
        with sqlite3.connect(source) as db:
            names = texts(db)
            domains = {(thread >> 24, domain): (names.get(text_id) or text) + ":" for thread, domain, text_id, text in
                       db.execute("select globalTid, domainId, textId, text from NVTX_EVENTS where eventType = 75")}
            ranges = [(thread, start, end, domains.get((thread >> 24, domain), "") + (names.get(text_id) or text)) for thread, start, end, domain, text_id, text in
                      db.execute("select globalTid, start, end, domainId, textId, text from NVTX_EVENTS where eventType in (59, 60, 70, 71) and endGlobalTid is null")]
            calls = {(thread >> 24, correlation): (thread, start, end) for thread, correlation, start, end in
                     db.execute("select globalTid, correlationId, start, end from CUPTI_ACTIVITY_KIND_RUNTIME order by rowid desc")}
            for start, last, name, process, correlation in db.execute("select start, end, demangledName, globalPid, correlationId from CUPTI_ACTIVITY_KIND_KERNEL"):
                thread, begin, end = calls.get((process >> 24, correlation), (None, 0, 0))
                around = [(s, -e, text) for t, s, e, text in ranges if t == thread and s <= begin and e >= end]
                yield start, last - start, (max(around)[2] + "/" if around else "") + names[name]

    def test_kernels(self):
        for source in (trace("training"), edited("training", support.overlapping(151))):
            groups = {}
            for _, length, name in self.names(source):
                groups.setdefault((name,), []).append(length)
            got = rows(source, "cuda_gpu_kern_sum:nvtx-name")
            self.assertEqual({(row[-1],): row[:-1] for row in got[1:]}, sums(groups))
            self.assertTrue(any("/" in row[-1] for row in got[1:]))

    def test_every_report_that_has_it(self):
        source = trace("training")
        names = {name for _, _, name in self.names(source)}
        for report in ("cuda_gpu_trace", "cuda_gpu_kern_gb_sum", "cuda_gpu_sum", "cuda_api_gpu_sum", "cuda_kern_exec_trace", "cuda_kern_exec_sum"):
            got = {row[-1] for row in rows(source, report + ":nvtx-name")[1:]}
            self.assertLessEqual(names, got, report)
        for report in ("gpukernsum:nvtx-name", "nvtx_kern_sum:nvtx-name", "cuda_api_sum:nvtx-name"):
            self.assertEqual(run("stats", "-q", "-r", report, source).returncode, 2, report)

    def test_domains(self):
        source = edited("training", "insert into NVTX_EVENTS(start, end, eventType, globalTid, domainId, text) select 0, 4000000000000, 59, globalTid, 7, 'whole' "
                        "from CUPTI_ACTIVITY_KIND_RUNTIME group by globalTid",
                        "delete from NVTX_EVENTS where coalesce(text, '') != 'whole'",
                        "insert into NVTX_EVENTS(start, eventType, globalTid, domainId, text) select 0, 75, globalTid, 7, 'mine' "
                        "from CUPTI_ACTIVITY_KIND_RUNTIME group by globalTid")
        got = {row[-1] for row in rows(source, "cuda_gpu_kern_sum:nvtx-name")[1:]}
        self.assertEqual(got, {"mine:whole/" + row[-1] for row in rows(source, "cuda_gpu_kern_sum")[1:]})


class Rules(unittest.TestCase):
    """Rules of nsys analyze, in SQL: longest first, 50 rows."""

    JOIN = ("from CUPTI_ACTIVITY_KIND_{0} o join CUPTI_ACTIVITY_KIND_RUNTIME r on r.correlationId = o.correlationId and r.globalTid >> 24 = o.globalPid >> 24 "
            "join StringIds s on s.id = r.nameId where {1} order by o.end - o.start desc, o.start")

    def compare(self, source, report, table, condition, columns):
        with sqlite3.connect(source) as db:
            want = [[str(v) for v in row] for row in db.execute(f"select o.end - o.start, o.start, {columns} " + self.JOIN.format(table, condition))]
        got = rows(source, report, "-f", "csv:mem=B")[1:]
        self.assertEqual(got, want[:50])
        self.assertEqual(rows(source, f"{report}:rows=-1", "-f", "csv:mem=B")[1:], want)
        self.assertEqual(len(rows(source, f"{report}:rows=1", "-f", "csv:mem=B")), min(len(want) + 1, 2) if want else 0)
        return len(want)

    def test_copies_and_memsets(self):
        kinds = "(select label from ENUM_CUDA_MEM_KIND where id = {})"
        rest = "o.bytes, o.globalPid >> 24 & 0xffffff, o.deviceId, o.contextId, o.streamId, s.value"
        found = 0
        for source in (edited(name, "update CUPTI_ACTIVITY_KIND_MEMCPY set srcKind = rowid % 3, dstKind = rowid % 2",
                              "update CUPTI_ACTIVITY_KIND_MEMSET set memKind = rowid % 5",
                              "update StringIds set value = replace(replace(value, 'Async', ''), 'cudaMemcpy', 'CudaMEMCPY') where id % 2") for name in ("training", "copy-bound")):
            both = f"{kinds.format('o.srcKind')}, {kinds.format('o.dstKind')}, {rest}"
            found += self.compare(source, "cuda_memcpy_async", "MEMCPY", "s.value like 'cudaMemcpy%async%' and (o.srcKind = 0 or o.dstKind = 0)", both)
            with sqlite3.connect(source) as db:
                has_devices = "srcDeviceId" in [row[1] for row in db.execute("pragma table_info(CUPTI_ACTIVITY_KIND_MEMCPY)")]
            stays = " and not (o.srcDeviceId is not null and o.srcDeviceId is o.dstDeviceId)" if has_devices else ""
            found += self.compare(source, "cuda_memcpy_sync", "MEMCPY", "s.value like 'cudaMemcpy%' and s.value not like '%async%' and "
                                  f"not (o.copyKind = 1 and o.bytes <= 64000){stays}", both)
            found += self.compare(source, "cuda_memset_sync", "MEMSET", "s.value like 'cudaMemset%' and s.value not like '%async%' and o.memKind in (1, 4)",
                                  f"{kinds.format('o.memKind')}, {rest}")
        self.assertGreater(found, 10)

    def used(self, source):
        """Times by process and device, those of the profiler included, as (first, last, times, context)."""
        with sqlite3.connect(source) as db:
            found, tables = {}, {name for (name,) in db.execute("select name from sqlite_master")}
            for table in tables & {"CUPTI_ACTIVITY_KIND_" + kind for kind in ("KERNEL", "MEMCPY", "MEMSET")}:
                for process, device, context, start, end in db.execute(
                        f"select globalPid >> 24 & 0xffffff, deviceId, contextId, start, end from {table} where start > 0"):
                    found.setdefault((process, device), []).append((start, end, context))
            over = [] if "PROFILER_OVERHEAD" not in tables else db.execute("select globalTid >> 24 & 0xffffff, start, end from PROFILER_OVERHEAD join StringIds on id = nameId "
                              "where value in ('CUDA profiling data flush overhead', 'CUDA profiling stop overhead')").fetchall()
        for (process, device), ops in sorted(found.items()):
            first, last = min(op[0] for op in ops), max(op[1] for op in ops)
            times = [op[:2] for op in ops] + [(a, b) for of, a, b in over if of == process and first <= a and b <= last]
            yield process, device, min(ops)[2], first, last, sorted(times)

    def test_gaps(self):
        source = edited("training", "update PROFILER_OVERHEAD set nameId = (select id from StringIds where value like '%uffer flush%' limit 1)",
                        "update StringIds set value = 'CUDA profiling data flush overhead' where value like '%uffer flush%'")
        want, whole = [], 0
        for process, device, context, first, last, times in self.used(source):
            until = first
            for start, end in times:
                if start > until:
                    want.append((-(start - until), until, process, device, context))
                until = max(until, end)
            whole += len(times)
        want = [[str(n + 1), str(-length), str(start), *map(str, rest)] for n, (length, start, *rest) in enumerate(sorted(want))]
        self.assertEqual(rows(source, "gpu_gaps:gap=0:rows=-1")[1:], want)
        self.assertEqual(rows(source, "gpu_gaps:gap=0")[1:], want[:50])
        self.assertEqual(stats(source, "gpu_gaps", "-f", "csv"), "\n")
        self.assertGreater(whole, 1000)
        for wrong in ("gpu_gaps:gap=-1", "gpu_gaps:gap=x", "gpu_time_util:chunks=0", "gpu_time_util:chunks=1001", "cuda_api_sum:gap=1"):
            self.assertEqual(run("stats", "-q", "-r", wrong, source).returncode, 2, wrong)

    def test_utilization(self):
        for name, chunks, threshold in (("host-bound", 30, 50), ("training", 1000, 100), ("host-bound", 7, 90)):
            source, want = trace(name), []
            for process, device, context, first, last, times in self.used(source):
                piece, open_ns, busy = -(-(last - first) // chunks), 0, 0
                for at in range(first, last, piece):
                    end = min(at + piece, last)
                    work = sum(max(0, min(b, end) - max(a, at)) for a, b in times)
                    if work * 100 < threshold * (end - at):
                        open_ns, busy = open_ns + end - at, busy + work
                    if open_ns and (work * 100 >= threshold * (end - at) or end == last):
                        begin = (at if work * 100 >= threshold * (end - at) else end) - open_ns
                        want.append((float(one_decimal(busy * 100 / open_ns)), -open_ns, begin, process, device, context))
                        open_ns = busy = 0
            want = [[str(n + 1), one_decimal(percent), str(-length), *map(str, rest)] for n, (percent, length, *rest) in enumerate(sorted(want))]
            self.assertEqual(rows(source, f"gpu_time_util:chunks={chunks}:threshold={threshold}:rows=-1")[1:], want)

    def test_synchronisation(self):
        source = trace("training")
        with sqlite3.connect(source) as db:
            want = [[str(v) for v in row] for row in db.execute(
                "select end - start, start, globalTid >> 24 & 0xffffff, globalTid & 0xffffff, value from CUPTI_ACTIVITY_KIND_RUNTIME join StringIds on id = nameId "
                "where value like 'cudaDeviceSynchronize%' or value like 'cudaStreamSynchronize%' order by 1 desc, 2 limit 50")]
        self.assertTrue(want)
        self.assertEqual(rows(source, "cuda_api_sync")[1:], want)

    def test_what_to_do(self):
        """Rows come with an advice and the finding that says more; none with a sentence."""
        for rule in ("cuda_memcpy_async", "cuda_memcpy_sync", "cuda_memset_sync", "cuda_api_sync", "gpu_gaps:gap=0", "gpu_time_util"):
            for source in (trace("training"), trace("copy-bound")):
                done = run("stats", "-r", rule, source)
                found = re.search(r"explain SRC ([a-z-]+)\)", done.stderr)
                self.assertNotEqual("No such problem was found." in done.stdout, bool(found), rule)
                if found:
                    self.assertEqual(run("explain", "-", found[1]).returncode, 0)
                self.assertEqual(run("stats", "-q", "-r", rule, source).stderr, "")


class Models(unittest.TestCase):
    """Reports whose tables no generated trace has, over a few rows each."""

    def write(self, *statements):
        path = fresh_dir() / "x.sqlite"
        with sqlite3.connect(path) as db:
            db.execute("create table StringIds(id integer primary key, value text)")
            db.executemany("insert into StringIds values (?, ?)", enumerate(("a", "b", "main.c", "0x40")))
            for statement in statements:
                db.execute(statement)
        return path

    def columns(self, got, *names):
        return [[row[got[0].index(name)] for name in names] for row in got[1:]]

    def test_openacc(self):
        source = self.write("create table CUPTI_ACTIVITY_KIND_OPENACC_DATA(start integer, end integer, nameId integer, srcFile integer, lineNo integer)",
                            "create table CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH(start integer, end integer, nameId integer, srcFile integer, lineNo integer)",
                            "insert into CUPTI_ACTIVITY_KIND_OPENACC_DATA values (0, 10, 0, 2, 7), (0, 5, 0, null, 0), (9, 10, 0, 2, 8)",
                            "insert into CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH values (20, 40, 0, 2, 7)")
        for report, share in (("openacc_sum", "Time (%)"), ("openaccsum", "Time(%)")):
            self.assertEqual(self.columns(rows(source, report), share, "Total Time (ns)", "Num Calls", "Name"),
                             [["83.3", "30", "2", "a@main.c:7"], ["13.9", "5", "1", "a"], ["2.8", "1", "1", "a@main.c:8"]])

    def test_openmp(self):
        """A name in two tables is two rows."""
        source = self.write(*(f"create table OPENMP_EVENT_KIND_{t}(start integer, end integer, nameId integer)" for t in ("TASK", "LOOP")),
                            "insert into OPENMP_EVENT_KIND_TASK values (0, 3, 0), (0, 4, 0), (0, null, 1)",
                            "insert into OPENMP_EVENT_KIND_LOOP values (0, 1, 0), (0, 2, 1)")
        self.assertEqual(self.columns(rows(source, "openmp_sum"), "Total Time (ns)", "Count", "Name"), [["7", "2", "a"], ["2", "1", "b"], ["1", "1", "a"]])

    def test_mpi_and_video(self):
        source = self.write(*(f"create table {t}(start integer, end integer, textId integer, nameId integer)" for t in
                              ("MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_OTHER_EVENTS")),
                            "insert into MPI_P2P_EVENTS(start, end, textId) values (0, 5, 0), (1, 3, 0), (5, null, 0)",
                            "insert into MPI_OTHER_EVENTS(start, end, textId) values (0, 6, 0)",
                            "insert into MPI_START_WAIT_EVENTS(start, end, textId) values (0, 1, 1)",
                            "insert into MPI_COLLECTIVES_EVENTS(start, end, textId) values (0, 9, 1)")
        self.assertEqual(self.columns(rows(source, "mpi_event_sum"), "Total Time (ns)", "Instances", "Source", "Name"),
                         [["9", "1", "collectives", "b"], ["7", "2", "p2p", "a"], ["6", "1", "other", "a"], ["1", "1", "start-wait", "b"]])
        source = self.write("create table NVVIDEO_DECODER_API(start integer, end integer, nameId integer)", "create table NVVIDEO_JPEG_API(start integer, end integer, nameId integer)",
                            "insert into NVVIDEO_DECODER_API values (0, 5, 0), (1, 3, 0)", "insert into NVVIDEO_JPEG_API values (0, 6, 0)")
        self.assertEqual(self.columns(rows(source, "nvvideo_api_sum"), "Total Time (ns)", "Num Calls", "Event Type", "Name"),
                         [["7", "2", "Decoder", "a"], ["6", "1", "JPEG", "a"]])

    def test_messages(self):
        thread = 5 << 24 | 7
        source = self.write("create table MPI_P2P_EVENTS(start integer, end integer, globalTid integer, textId integer, tag integer, remoteRank integer, size integer)",
                            "create table MPI_COLLECTIVES_EVENTS(start integer, end integer, globalTid integer, textId integer, rootRank integer, size integer, recvSize integer)",
                            "create table MPI_START_WAIT_EVENTS(start integer, end integer, globalTid integer, textId integer)",
                            "create table MPI_RANKS(globalTid integer, rank integer)", f"insert into MPI_RANKS values ({thread + 1}, 3)",
                            f"insert into MPI_P2P_EVENTS values (10, 15, {thread}, 0, 1, 2, 100), (10, 15, {thread}, 0, 1, 2, 100), (10, 15, {thread}, 0, 1, 4, 100), "
                            f"(1, 2, {8 << 24}, 0, 1, 2, 7), (5, null, {thread}, 0, 1, 2, null)",
                            f"insert into MPI_COLLECTIVES_EVENTS values (20, 29, {thread}, 1, 0, 40, null), (30, 31, {thread}, 1, 0, 50, 8)",
                            f"insert into MPI_START_WAIT_EVENTS values (16, 18, {thread}, 1)")
        self.assertEqual(rows(source, "mpi_event_trace", "-f", "csv:mem=B")[1:],
                         [["1", "2", "1", "a", "8", "0", "1", "", "2", "", "7", "", ""], ["10", "15", "5", "a", "5", "7", "1", "3", "2", "", "100", "", ""],
                          ["10", "15", "5", "a", "5", "7", "1", "3", "4", "", "100", "", ""], ["16", "18", "2", "b", "5", "7", "", "3", "", "", "", "", ""],
                          ["20", "29", "9", "b", "5", "7", "", "3", "", "0", "", "40", ""], ["30", "31", "1", "b", "5", "7", "", "3", "", "0", "", "50", "8"]])
        got = rows(source, "mpi_msg_size_sum", "-f", "csv:mem=B")
        self.assertEqual(got[0], ["Total Message Volume (B)", "Instances", "Avg (B)", "Med (B)", "Min (B)", "Max (B)", "StdDev (B)", "Source", "Name"])
        self.assertEqual(self.columns(got, "Total Message Volume (B)", "Instances", "Avg (B)", "Med (B)", "Min (B)", "Max (B)", "Source", "Name"),
                         [["307", "4", "76.75", "100.0", "7", "100", "p2p", "a"], ["90", "2", "45.0", "45.0", "40", "50", "coll_send", "b"],
                          ["8", "1", "8.0", "8", "8", "8", "coll_recv", "b"]])

    def test_outer_calls(self):
        """In 2 of thread 1 lies 0, twice; on thread 2 it lies alone; events of another class are none."""
        source = self.write("create table OSRT_API(start integer, end integer, eventClass integer, globalTid integer, nameId integer)",
                            "insert into OSRT_API values (0, 100, 27, 1, 1), (5, 15, 27, 1, 0), (90, 100, 27, 1, 0), (5, 15, 27, 2, 0), (200, 230, 27, 1, 0), (0, 999, 28, 1, 0)")
        self.assertEqual(self.columns(rows(source, "osrt_sum"), "Total Time (ns)", "Num Calls", "Name"), [["100", "1", "b"], ["60", "4", "a"]])
        self.assertEqual(self.columns(rows(source, "osrt_sum:outer"), "Total Time (ns)", "Num Calls", "Name"), [["100", "1", "b"], ["40", "2", "a"]])

    def test_files(self):
        many = ", ".join(f"(1, 7, {100 + i}, {101 + i}, 3, 0, 10)" for i in range(1001))
        source = self.write("create table OSRT_FILE_ACCESS_EVENTS(fileAccessId integer, threadId integer, startedAt integer, endedAt integer, eventType integer, "
                            "apiCallId integer, bytesProcessed integer)",
                            "create table OSRT_FILE_ACCESS_DESCRIPTORS(fileAccessId integer, processId integer, openedAt integer, closedAt integer, filePath text)",
                            "insert into OSRT_FILE_ACCESS_DESCRIPTORS values (0, 5, 0, 0, '/a'), (1, 5, 0, 0, '/b'), (2, 5, 0, 0, '/a'), (3, 6, 0, 0, '/a'), (4, 6, 0, 0, '/n')",
                            "insert into OSRT_FILE_ACCESS_EVENTS values (0, 7, 10, 20, 1, 0, 0), (0, 7, 20, 2020, 3, 0, 4000), (2, 7, 3000, 4000, 4, 0, 500), "
                            "(2, 7, 4000, 4001, 2, 0, 0), (3, 9, 1, 2, 4, 0, 1), (9, 9, 1, 2, 4, 0, 1)", f"insert into OSRT_FILE_ACCESS_EVENTS values {many}")
        self.assertEqual(rows(source, "file_access_sum", "-f", "csv:bytes=B")[1:],
                         [["3011", "5", "1", "1", "4000", "4000.0", "2000000000.0", "1", "500", "500.0", "500000000.0", "both", "", "10", "4001", "/a"],
                          ["1001", "5", "0", "1001", "10010", "10.0", "10000000000.0", "0", "0", "", "", "read-only", "reads", "100", "1101", "/b"],
                          ["1", "6", "0", "0", "0", "", "", "1", "1", "1.0", "1000000000.0", "write-only", "", "1", "2", "/a"]])

    def test_system_calls(self):
        source = self.write("create table SYSCALL(start integer, end integer, nameId integer)",
                            "insert into SYSCALL(start, end, nameId) values (0, 9, 1), (2, 3, 1), (0, 1, 0)")
        self.assertEqual(self.columns(rows(source, "syscall_sum"), "Total Time (ns)", "Num Calls", "Name"), [["10", "2", "b"], ["1", "1", "a"]])

    def test_unified_memory(self):
        copies = ("create table CUPTI_ACTIVITY_KIND_MEMCPY(start integer, end integer, copyKind integer, bytes integer, virtualAddress integer)",
                  "insert into CUPTI_ACTIVITY_KIND_MEMCPY values (0, 300, 11, 1000, 16), (0, 700, 12, 2000, 16), (0, 10, 1, 500, 17), (0, 3, 12, 9, 18)")
        faults = ("create table CUDA_UM_CPU_PAGE_FAULT_EVENTS(start integer, address integer, CpuInstruction integer)",
                  "insert into CUDA_UM_CPU_PAGE_FAULT_EVENTS values (1, 16, 3), (2, 32, 3)",
                  "create table CUDA_UM_GPU_PAGE_FAULT_EVENTS(start integer, address integer, numberOfPageFaults integer)",
                  "insert into CUDA_UM_GPU_PAGE_FAULT_EVENTS values (1, 16, 4), (1, 16, 5)")
        source = self.write(*copies, *faults)
        want = [["0x10", "1000", "2000", "1", "9", "3000000000.0"], ["0x12", "", "9", "", "", "2999999997.0"], ["0x20", "", "", "1", "", ""]]
        got = rows(source, "um_sum", "--format", "csv:mem=B:thru=B")
        self.assertEqual(got[0], ["Virtual Address", "HtoD Migration size (B)", "DtoH Migration size (B)", "CPU Page Faults", "GPU Page Faults",
                                  "Migration Throughput (B/s)"])
        self.assertEqual(got[1:], want)
        self.assertEqual(list(csv.reader(io.StringIO(stats(source, "um_sum:rows=1", "-f", "csv:mem=B:thru=B:addr=uint")))) [1], ["16", *want[0][1:]])
        self.assertEqual(rows(source, "um_cpu_page_faults_sum")[1:], [["2", "0x40"]])
        totals = ["0.001", "0.002", "2", "9", "0x10", "0x20"]
        self.assertEqual(rows(source, "um_total_sum")[1:], [totals])
        self.assertEqual(rows(self.write(*copies), "um_total_sum")[1:], [["0.001", "0.002", "0", "", "", ""]])
        without = self.write(copies[0], "insert into CUPTI_ACTIVITY_KIND_MEMCPY values (0, 10, 1, 500, 17)")
        self.assertIn("SKIPPED", run("stats", "-r", "um_total_sum,um_sum", without).stdout)
        for wrong in ("rows=", "rows=x", "base"):
            self.assertEqual(run("stats", "-q", "-r", f"um_sum:{wrong}", source).returncode, 2)


class Table(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.rows, self.cell = [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        self.cell = [] if tag in ("td", "th") else self.cell

    def handle_data(self, data):
        if self.cell is not None:
            self.cell.append(data)

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.rows[-1].append("".join(self.cell))
            self.cell = None


class Formats(unittest.TestCase):
    """One report in each format says the same."""

    @classmethod
    def setUpClass(cls):
        cls.source = trace("hostile")
        cls.want = rows(cls.source, "cuda_gpu_kern_gb_sum")

    def text(self, form, *options):
        return stats(self.source, "cuda_gpu_kern_gb_sum", "-f", form, *options)

    def test_json(self):
        got = json.loads(self.text("json"), parse_float=str, parse_int=str)
        self.assertEqual([list(row.values()) for row in got], self.want[1:])
        self.assertTrue(all(list(row) == self.want[0] for row in got))

    def test_json_alone(self):
        """--json prints JSON and nothing else, -f json also what nsys says around it."""
        done = run("stats", "--json", "-r", "cuda_api_sum,vulkan_api_sum", trace("training"))
        self.assertEqual((done.stdout, done.stderr), (stats(trace("training"), "cuda_api_sum", "-f", "json"), ""))
        self.assertEqual(len(json.loads(done.stdout)), len(rows(trace("training"), "cuda_api_sum")) - 1)
        self.assertIn("Processing [", run("stats", "-f", "json", "-r", "cuda_api_sum", trace("training")).stdout)

    def test_html(self):
        for form in ("htable", "hdoc"):
            self.assertEqual(Table(self.text(form)).rows, self.want)
        self.assertIn("<title>A &amp; B</title>", self.text("hdoc:title=A & B"))

    def test_tsv(self):
        self.assertEqual([line.split("\t") for line in self.text("tsv").rstrip("\n").split("\n")], self.want)

    def test_column_and_table(self):
        column, table = self.text("column").split("\n"), self.text("table").split("\n")
        self.assertEqual(column[:3], ["", " ** CUDA GPU Kernel/Grid/Block Summary (cuda_gpu_kern_gb_sum):", ""])
        self.assertEqual(len(column) - 7, len(self.want) - 1)  # title, head, rule, blank at the end
        self.assertEqual(len({len(line) for line in table[3:-2]}), 1)
        self.assertEqual([float(line.split()[0]) for line in column[5:-2]], [float(row[0]) for row in self.want[1:]])
        self.assertTrue(any("…" in line for line in self.text("column:colmax=20").split("\n")))

    def test_arguments(self):
        self.assertEqual(self.text("csv:nohdr"), self.text("csv").split("\n", 1)[1])
        self.assertTrue(self.text("csv:nohdrunit").startswith("Time,Total Time,Instances,Avg,"))
        self.assertTrue(self.text("csv:time=us").startswith("Time (%),Total Time (us),"))
        self.assertEqual(self.text("csv:noconv"), self.text("csv"))
        for wrong in ("xml", "csv:time=weeks", "csv:nonsense", "csv:colmax=x", "csv:10"):
            self.assertEqual(run("stats", "-q", "-f", wrong, "-r", "cuda_api_sum", self.source).returncode, 2, wrong)

    def test_values_that_no_capture_has(self):
        for report in run("stats", "--help-reports").stdout.split("\n"):
            for name in re.findall(r"^  (\w+)", report):
                name += ":name=GpuMetrics" if name.endswith("_pace") else ""
                done = run("stats", "-q", "-f", "csv", "-r", name, trace("hostile-values"))
                self.assertIn(done.returncode, (0, 3), done.stderr)

    def test_whole_numbers(self):
        """Of every length, with either sign."""
        want = sorted({sign * (10 ** digits + more) for digits in range(19) for more in (-1, 10 ** digits // 3) for sign in (1, -1)})
        source = edited("copy-bound", *(f"update CUPTI_ACTIVITY_KIND_MEMCPY set start = {9 * 10 ** 15 + i}, end = {9 * 10 ** 15 + i}, bytes = {number} where rowid = {i + 1}"
                                        for i, number in enumerate(want)))
        header, *lines = rows(source, "cuda_gpu_trace", "-f", "csv:mem=B")
        self.assertEqual([line[header.index("Bytes (B)")] for line in lines[-len(want):]], [str(number) for number in want])

    def test_texts_that_are_cleaned(self):
        """As often as one comes, and whatever came before it."""
        source = edited("training", "delete from NVTX_EVENTS", *(
            f"insert into NVTX_EVENTS(start, end, eventType, text, globalTid, domainId) values({i}, {i + 10}, 59, {text}, 1, 0)"
            for i, text in enumerate(("'a'", "'b' || char(7)", "'a'", "'b' || char(7)", "'b\\u{7}'", "'a'", "'c' || char(7)"))))
        self.assertEqual({row[-1]: row[2] for row in rows(source, "nvtx_sum")[1:]}, {":a": "3", ":b\\u{7}": "3", ":c\\u{7}": "1"})

    def test_no_text_of_a_trace_is_raw(self):
        for form in ("column", "table", "csv", "tsv", "json", "htable", "hdoc"):
            text = self.text(form)
            self.assertIsNone(re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", text), form)
        self.assertNotIn("<script", self.text("hdoc"))


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.source = trace("training")

    def test_sections(self):
        done = run("stats", "-r", "cuda_api_sum,gpukernsum", self.source)
        self.assertEqual(re.findall(r"Processing \[(.*)\] with \[.*/(\w+)\.py\]", done.stdout),
                         [(str(self.source), "cuda_api_sum"), (str(self.source), "gpukernsum")])
        self.assertEqual(re.findall(r" \*\* (.+) \((\w+)\):", done.stdout),
                         [("CUDA API Summary", "cuda_api_sum"), ("CUDA GPU Kernel Summary", "gpukernsum")])

    def test_what_is_printed_when_nothing_is_asked_for(self):
        """The reports of nsys, in its order, with what is not in the export."""
        done = run("stats", self.source)
        self.assertEqual(re.findall(r"/(\w+)\.py", done.stdout), (
            "nvtx_sum osrt_sum cuda_api_sum cuda_gpu_kern_sum cuda_gpu_mem_time_sum cuda_gpu_mem_size_sum openmp_sum opengl_khr_range_sum opengl_khr_gpu_range_sum "
            "vulkan_marker_sum vulkan_gpu_marker_sum dx11_pix_sum dx12_gpu_marker_sum dx12_pix_sum wddm_queue_sum um_sum um_total_sum um_cpu_page_faults_sum "
            "openacc_sum").split())
        self.assertGreater(done.stdout.count("SKIPPED"), 8)

    def test_help(self):
        self.assertIn("GPU Gaps", run("stats", "--help-reports", "gpu-starv").stdout)
        self.assertNotIn("cuda_api_sum", run("stats", "--help-reports", "gpu-starv").stdout)
        self.assertEqual(run("stats", "--help-reports", "ALL").stdout.count("columns of nvtx_sum:"), 1)
        self.assertEqual(run("stats", "--help-reports", "none").returncode, 2)
        self.assertIn("runs no scripts", run("stats", "--report-dir", "x", self.source).stderr)

    def test_rules(self):
        words = ("-q", "-f", "csv", self.source)
        self.assertEqual(run("stats", "--rule", "gpu_gaps:gap=0", *words).stdout, run("stats", "-r", "gpu_gaps:gap=0", *words).stdout)

    def test_widths(self):
        """A width for each column; 0 hides one."""
        lines = stats(self.source, "cuda_api_sum", "-f", "column:10:.:0:4").split("\n")
        self.assertEqual([len(rule) for rule in lines[4].split()][:1] + [len(lines[4].split()[2])], [10, 4])
        self.assertNotIn("Num Calls", lines[3])
        self.assertEqual(len(lines[4].split()), 8)

    def test_by_position(self):
        out = fresh_dir() / "x"
        done = run("stats", "-r", "cuda_api_sum", "-r", "cuda_gpu_kern_sum:base,nvtx_sum", "-f", "json,csv", "-o", f"{out},{out}-b", self.source)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(p.name for p in out.parent.iterdir()), ["x-b_cuda_gpu_kern_sum_base.csv", "x-b_nvtx_sum.csv", "x_cuda_api_sum.json"])
        self.assertEqual(done.stdout.count("PROCESSED"), 3)
        self.assertEqual((out.parent / "x_cuda_api_sum.json").read_text(), stats(self.source, "cuda_api_sum", "-f", "json"))
        self.assertEqual((out.parent / "x-b_nvtx_sum.csv").read_text(), stats(self.source, "nvtx_sum", "-f", "csv"))
        self.assertIn("exceeds number of reports", run("stats", "-q", "-r", "cuda_api_sum", "-f", "csv,json", self.source).stderr)

    def test_a_run_names_its_files(self):
        """The whole name of the directory, whose dots begin no extension, and not what is typed behind it."""
        directory = fresh_dir() / "run.1"
        shutil.copytree(support.artifacts(trace("collectives")), directory)
        done = run("stats", "-q", "-r", "nccl_sum", "-o", ".", f"{directory}/")
        self.assertEqual((done.returncode, [p.name for p in directory.parent.glob("run*.*") if p.is_file()]), (0, ["run.1_nccl_sum.csv"]), done.stderr)

    def test_outputs_that_cannot_be_written(self):
        done = run("stats", "-q", "-r", "cuda_api_sum", "-o", fresh_dir() / "none" / "x", self.source)
        self.assertEqual(done.returncode, 5)
        with open("/dev/full", "w") as full:
            self.assertEqual(run("stats", "-q", "-r", "cuda_api_sum", self.source, stdout=full).returncode, 5)

    def test_files_that_are_there(self):
        out = fresh_dir() / "x"
        there = out.parent / "x_cuda_api_sum.csv"
        there.write_text("mine")
        words = ("stats", "-r", "cuda_api_sum", "-o", out, self.source)
        done = run(*words)
        self.assertEqual((done.returncode, there.read_text()), (0, "mine"))
        self.assertIn(f"SKIPPED: output file {there} exists.", done.stdout)
        for option in (("--force-overwrite",), ("--force-overwrite", "true"), ("--force-overwrite=true",)):
            self.assertEqual(run(*words, *option).returncode, 0)
            self.assertIn("cudaLaunchKernel", there.read_text(), option)
        self.assertIn("SKIPPED", run(*words, "--force-overwrite=false").stdout)
        self.assertEqual(run(*words, "--force-overwrite=maybe").returncode, 2)

    def test_options_that_exclude_each_other(self):
        self.assertEqual(run("stats", "--filter-time", "1/2", "--filter-nvtx", "x", self.source).returncode, 2)
        self.assertEqual(run("stats", "--filter-time", "1/2", "--filter-projected-nvtx", "x", self.source).returncode, 2)

    def test_programs(self):
        """Each report goes to a program of its own, which starts only if there is a report, one after the other."""
        reports = "cuda_api_sum,vulkan_api_sum,cuda_gpu_kern_sum"
        want = stats(self.source, "cuda_api_sum", "-f", "csv") + stats(self.source, "cuda_gpu_kern_sum", "-f", "csv")
        done = run("stats", "-q", "-r", reports, "-o", "@cat", self.source)
        self.assertEqual((done.returncode, done.stdout), (0, want))
        done = run("stats", "-q", "-r", reports, "-f", "csv", "-o", "@cat,@no-such-program,@head -n 1", self.source)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, want.splitlines()[0].replace("Num Calls", "Instances")))
        out = fresh_dir() / "there"
        self.assertEqual(run("stats", "-q", "-r", "cuda_api_sum", "-o", f"@tee {out}", self.source).returncode, 0)
        self.assertEqual(out.read_text(), stats(self.source, "cuda_api_sum", "-f", "csv"))
        self.assertIn(" to [@true]... PROCESSED", run("stats", "-r", "cuda_api_sum", "-o", "@true", self.source).stdout)

    def test_programs_that_fail(self):
        for command, said in (("false", "ended with status 1"), ("no-such-program", "cannot start"), ("", "cannot start")):
            done = run("stats", "-q", "-r", "cuda_api_sum", "-o", "@" + command, self.source)
            self.assertEqual(done.returncode, 5, command)
            self.assertIn(said, done.stderr)
        self.assertEqual(run("stats", "-q", "-r", "cuda_gpu_trace", "-o", "@true", self.source).returncode, 0)  # it reads nothing

    def test_run(self):
        """What a run does not keep is read from the export it was made from, which is found beside it, by its bytes."""
        place = fresh_dir()
        source, report = place / "mine.sqlite", "cuda_gpu_kern_sum:base"
        shutil.copyfile(self.source, source)
        support.analyze(source, out=place / "artifacts" / "run1")
        want = stats(source, report, "-f", "csv")
        self.assertEqual(stats(place / "artifacts" / "run1", report, "-f", "csv"), want)
        with sqlite3.connect(source) as db:  # the same file, with something else in it
            db.execute("update StringIds set value = value || 'x'")
        self.assertEqual(run("stats", "-q", "-r", report, place / "artifacts" / "run1").returncode, 3)
        shutil.copyfile(self.source, source)  # its bytes are what they were
        self.assertEqual(stats(place / "artifacts" / "run1", report, "-f", "csv"), want)
        elsewhere = fresh_dir() / "run"
        shutil.copytree(place / "artifacts" / "run1", elsewhere)
        self.assertEqual(run("stats", "-q", "-r", report, "-f", "csv", elsewhere, cwd=place).stdout, want)
        shutil.copyfile(trace("graphs"), elsewhere / "mine.sqlite")  # another one of that name
        done = run("stats", "-q", "-r", report, elsewhere)
        self.assertEqual(done.returncode, 3)
        self.assertIn('"mine.sqlite"', done.stderr)
        self.assertEqual(run("stats", "-q", "-r", "cuda_api_sum", fresh_dir()).returncode, 3)

    def test_export_of_an_nsys_rep(self):
        report = fresh_dir() / "mine.nsys-rep"
        report.write_bytes(b"no report")
        words = ("stats", "-q", "-r", "cuda_api_sum", "-f", "csv", "--sqlite", self.source, report)
        self.assertEqual(run(*words).stdout, stats(self.source, "cuda_api_sum", "-f", "csv"))
        self.assertEqual(run(*words, "--force-export", env={"PATH": ""}).returncode, 3)

    def test_wrong_names(self):
        done = run("stats", "-q", "-f", "csv", "-r", "cuda_api_sun,cuda_api_sum,cuda_api_sum:base", self.source)
        self.assertEqual(done.returncode, 2)
        self.assertIn("ERROR: Report 'cuda_api_sun' could not be found. Did you mean 'cuda_api_sum'?", done.stderr)
        self.assertIn("ERROR: Invalid argument passed to report 'cuda_api_sum': unrecognized arguments: base", done.stderr)
        self.assertEqual(done.stdout, stats(self.source, "cuda_api_sum", "-f", "csv"))
        self.assertEqual(run("stats", "-r", "cuda_api_sum", fresh_dir() / "none.sqlite").returncode, 3)
        self.assertEqual(run("stats").returncode, 2)

    def test_without_data(self):
        source = trace("no-nvtx")
        with sqlite3.connect(source) as db:
            self.assertFalse(db.execute("select 1 from sqlite_master where name = 'NVTX_EVENTS'").fetchall())
        for report in ("nvtx_sum", "vulkanapisum", "wddm_queue_sum"):
            done = run("stats", "-r", report, "-f", "csv", source)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stdout, rf"\nSKIPPED: {re.escape(str(source))} does not contain .* data\.\n")
            self.assertEqual(run("stats", "-q", "-r", report, "-f", "csv", source).stdout, "")

    def test_no_rows(self):
        source = edited("training", "delete from NVTX_EVENTS")
        self.assertEqual(stats(source, "nvtx_sum", "-f", "csv"), "\n")
        self.assertEqual(stats(source, "nvtx_sum", "-f", "json"), "[\n]\n\n")
        self.assertIn(" ** NVTX Range Summary (nvtx_sum):", stats(source, "nvtx_sum"))

    def test_dialects(self):
        """The same numbers under both names; 2022 has no colon for the default domain."""
        old, new = rows(self.source, "nvtxsum"), rows(self.source, "nvtx_sum")
        self.assertEqual([row[:8] for row in old], [row[:8] for row in new])
        self.assertTrue(all(row[9].startswith(":") for row in new[1:] if not any(row[9] == o[9] for o in old)))
        labels = {row[-1] for row in rows(self.source, "gpumemtimesum")[1:]}, {row[-1] for row in rows(self.source, "cuda_gpu_mem_time_sum")[1:]}
        self.assertIn("[CUDA memcpy HtoD]", labels[0])
        self.assertIn("[CUDA memcpy Host-to-Device]", labels[1])

    def test_rounding(self):
        """Ties of Avg, half away from zero: 2.25, 0.15 and 1.45 have no exact binary form that printf rounds so."""
        source = edited("training", "delete from CUPTI_ACTIVITY_KIND_RUNTIME where rowid not in (select rowid from CUPTI_ACTIVITY_KIND_RUNTIME limit 4)",
                        "update CUPTI_ACTIVITY_KIND_RUNTIME set nameId = (select min(nameId) from CUPTI_ACTIVITY_KIND_RUNTIME), "
                        "start = 100, end = 102 + (rowid = (select min(rowid) from CUPTI_ACTIVITY_KIND_RUNTIME))")
        with sqlite3.connect(source) as db:
            count = db.execute("select count(*) from CUPTI_ACTIVITY_KIND_RUNTIME").fetchone()[0]
        self.assertEqual(count, 4)
        self.assertEqual(rows(source, "cuda_api_sum")[1][:8], ["100.0", "9", "4", "2.3", "2.0", "2", "3", "0.5"])


def covered(times, low, high):
    """How much of [low, high) at least one of these times covers."""
    ns, until = 0, low
    for start, end in sorted(times):
        ns += max(0, min(end, high) - max(start, until))
        until = max(until, min(end, high))
    return ns


class Parts(unittest.TestCase):
    def test_rows_are_the_same_however_many_threads_print_them(self):
        """More than the 1,024 rows that one thread prints at a time; another thread prints what lies in the middle of a stack."""
        source, one = trace("training"), {min(os.sched_getaffinity(0))}
        for format in ("csv", "tsv", "json", "column", "table", "htable"):
            command = [PROGRAM, "stats", "-q", "-r", "nvtxpptrace", "-f", format, source]
            alone = subprocess.run(command, preexec_fn=lambda: os.sched_setaffinity(0, one), stdout=subprocess.PIPE, check=True).stdout
            self.assertGreater(alone.count(b"\n"), 1024)
            self.assertEqual(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout, alone, format)


class Runs(unittest.TestCase):
    """A run without its export: the same bytes as from the export, or a refusal."""
    REPORTS = ("cuda_api_sum cudaapisum cuda_gpu_kern_sum cuda_gpu_kern_gb_sum gpukernsum cuda_gpu_mem_time_sum gpumemsizesum cuda_gpu_sum cuda_api_gpu_sum "
               "apigpusum cuda_kern_exec_sum kernexectrace nvtx_sum nvtxsum nvtx_startend_sum nvtx_kern_sum nvtx_pushpop_trace nvtxpptrace nvtx_gpu_proj_trace "
               "nvtxgpuproj:graphs nvtx_gpu_proj_sum osrt_sum osrt_sum:outer openacc_sum openmp_sum um_sum um_total_sum um_cpu_page_faults_sum mpi_event_sum "
               "mpi_msg_size_sum cuda_memcpy_async cuda_memcpy_sync:rows=-1 cuda_memset_sync cuda_api_sync gpu_gaps:gap=0 gpu_time_util cuda_gpu_kern_hist "
               "cuda_gpu_kern_sum:nvtx-name nvtx_pace:name=step cuda_gpu_time_util_map gputrace gpu_metric_util_sum nvlink_sum file_access_sum").split()

    def alone(self, source, *options):
        """Reports of a run of that export, which is gone."""
        done = run("stats", *options, support.analyze(source))
        return done.returncode, done.stdout, done.stderr

    def compare(self, source, *may_lack):
        runs, same = support.artifacts(source), 0
        for report in self.REPORTS:
            with self.subTest(source=source.name, report=report):
                got, want = (run("stats", "-q", "-f", "csv", "-r", report, src) for src in (runs, source))
                if got.returncode == 3 and (report in may_lack or "whole names of table \"NVTX_EVENTS\"" in got.stderr):
                    self.assertIn(f'"{source.name}"', got.stderr)
                elif got.stdout != want.stdout and "rows of equal totals may" in run("stats", "-f", "csv", "-r", report, runs).stderr:
                    self.assertEqual(sorted(got.stdout.split("\n")), sorted(want.stdout.split("\n")))
                else:
                    self.assertEqual((got.returncode, got.stdout), (want.returncode, want.stdout), got.stderr)
                    same += bool(want.stdout)
        return same

    def test_generated(self):
        for scenario in support.by_tier(("training", "copy-bound"), ("training", "copy-bound", "shapes", "graphs-node", "openacc-like", "openmp-like", "mpi")):
            self.assertGreater(self.compare(trace(scenario)), 14)

    @support.tier("ci")
    @unittest.skipUnless(ORACLE.exists(), "no shared/nsys_stats")
    def test_traces(self):
        same = sum(self.compare(path, *self.REPORTS) for path in sorted((SHARED / "traces" / "real").glob("*.sqlite")))
        self.assertGreater(same, 250)

    def test_versions_of_functions(self):
        source = edited("training", "update StringIds set value = 'cudaFree_v10000' where value like 'cudaMemcpyAsync%'",
                        "update StringIds set value = 'cudaMemsetAsync_ptsz_v7000' where value like 'cudaStreamSynchronize%'")
        want = stats(source, "cuda_api_sum,cuda_api_gpu_sum", "-f", "csv")
        self.assertIn("cudaFree_v10000", want)
        self.assertIn("cudaMemsetAsync_ptsz\n", want)
        self.assertEqual(self.alone(source, "-q", "-f", "csv", "-r", "cuda_api_sum,cuda_api_gpu_sum"), (0, want, ""))

    def test_names_that_pytorch_numbers(self):
        source = edited("training", "update NVTX_EVENTS set text = coalesce((select value from StringIds where id = textId), text) || ', op_id = ' || rowid, "
                        "textId = null where eventType = 59")
        want = stats(source, "nvtx_sum:canonical", "-f", "csv")
        status, out, said = self.alone(source, "-q", "-f", "csv", "-r", "nvtx_sum,nvtx_sum:canonical")
        self.assertEqual((status, out), (3, want))
        self.assertIn("ERROR: Report 'nvtx_sum' needs the export", said)
        self.assertIn('"training.sqlite", lies neither here nor beside it', said)

    def test_numbers_behind_names_are_kept(self):
        """The run alone has whole names again, where what stands behind them is what PyTorch writes; any other order or word, and it has not."""
        bare = "coalesce((select value from StringIds where id = textId), text)"
        bare = f"substr({bare}, 1, instr({bare} || ', ', ', ') - 1)"

        def source(*behind):
            choice = " ".join(f"when rowid % {len(behind)} = {i} then {text}" for i, text in enumerate(behind))
            return edited("training", f"update NVTX_EVENTS set text = {bare} || case {choice} end, textId = null where eventType = 59")
        reports = "nvtx_sum,nvtxsum,nvtx_pushpop_trace,nvtx_kern_sum,nvtx_gpu_proj_sum"
        kept = source("''", "', seq = ' || (rowid % 7)", "', op_id = ' || rowid", "', seq = 3, op_id = ' || rowid || ', sizes = [[' || (rowid % 5) || ', 2]]'", "', sizes = []'")
        self.assertEqual(self.alone(kept, "-q", "-f", "csv", "-r", reports), (0, stats(kept, reports, "-f", "csv"), ""))
        for other in ("', op_id = 7, seq = 5'", "', op_id = 07'", "', op_id = 7, input_op_ids = [(1,0)]'", "', sizes = [[' || rowid || ']'"):
            with self.subTest(other):
                self.assertEqual(self.alone(source("''", other), "-q", "-f", "csv", "-r", "nvtx_sum")[:2], (3, ""))
        many = edited("bench", f"update NVTX_EVENTS set text = 'a, sizes = [[' || rowid || ']]', textId = null where eventType = 59")
        with contextlib.closing(sqlite3.connect(many)) as db: # more sizes than are kept
            self.assertGreater(db.execute("select count(*) from NVTX_EVENTS where eventType = 59").fetchone()[0], 4096)
        self.assertEqual(self.alone(many, "-q", "-f", "csv", "-r", "nvtx_sum")[:2], (3, ""))

    def test_rows_that_are_not_kept_as_they_are(self):
        for statement, report, kept in (
                ("update NVTX_EVENTS set end = null where rowid = (select max(rowid) from NVTX_EVENTS where eventType = 59)", "nvtx_sum", "cuda_api_sum"),
                ("update CUPTI_ACTIVITY_KIND_RUNTIME set end = start - 5 where rowid = 3", "cuda_api_sum", "cuda_gpu_kern_sum"),
                ("update CUPTI_ACTIVITY_KIND_KERNEL set demangledName = 999999999, shortName = 999999999 where rowid = 3", "cuda_gpu_kern_sum",
                 "cuda_api_sum")):
            with self.subTest(report=report):
                source = edited("training", statement)
                status, out, said = self.alone(source, "-q", "-f", "csv", "-r", f"{report},{kept}")
                self.assertEqual((status, out), (3, stats(source, kept, "-f", "csv")))
                self.assertIn(f"Report '{report}' needs the export: the run does not keep", said)

    def test_tables_that_the_export_lacks(self):
        """A run says that there was none; of one that was there it keeps no samples."""
        reports = "gpu_metric_util_sum,nvlink_sum,file_access_sum,syscall_sum,nvvideo_api_sum,network_congestion,openacc_sum"
        self.assertEqual(self.alone(trace("training"), "-q", "-r", reports), (0, "", ""))
        said = self.alone(trace("training"), "-r", reports)[1]
        self.assertEqual(re.findall(r"SKIPPED: .* does not contain (.*) data\.", said),
                         ["GPU metrics", "NVLink metrics", "file access", "syscall", "NvVideo API", "network device metrics", "OpenACC event"])
        for scenario, report in (("evidence", "gpu_metric_util_sum"), ("files", "file_access_sum")):
            status, out, said = self.alone(trace(scenario), "-q", "-r", report)
            self.assertEqual((status, out), (3, ""))
            self.assertIn(f"Report '{report}' needs the export: the run does not keep rows of table", said)
        source = edited("training", "create table NVVIDEO_DECODER_API (start int, end int, globalTid int, nameId int)")
        status, out, said = self.alone(source, "-q", "-f", "csv", "-r", "nvvideo_api_sum,nvtx_startend_sum")
        self.assertEqual(status, 3)
        self.assertIn("the run does not keep rows of table \"NVVIDEO_DECODER_API\"", said)

    def test_system_calls(self):
        """Those of a run: rows of it, as the export had them."""
        source = edited("training", "create table SYSCALL (start int, end int, globalTid int, nameId int)",
                        "insert into SYSCALL select start, end, globalTid, nameId from CUPTI_ACTIVITY_KIND_RUNTIME where rowid < 50")
        want = stats(source, "syscall_sum", "-f", "csv")
        self.assertGreater(want.count("\n"), 3)
        self.assertEqual(self.alone(source, "-q", "-f", "csv", "-r", "syscall_sum"), (0, want, ""))

    def test_streams_of_migrations(self):
        """A run keeps none, where exports say 0."""
        source = edited("training", "update CUPTI_ACTIVITY_KIND_MEMCPY set copyKind = 11, streamId = 0 where rowid = 1")
        status, out, said = self.alone(source, "-q", "-f", "csv", "-r", "gputrace,gpumemtimesum")
        self.assertEqual((status, out), (3, stats(source, "gpumemtimesum", "-f", "csv")))
        self.assertIn("the run does not keep streamId", said)

    def test_pages_at_address_0(self):
        source = edited("training", "update CUPTI_ACTIVITY_KIND_MEMCPY set copyKind = 11 + rowid % 2, virtualAddress = rowid % 3 * 4096 where rowid < 40")
        want = stats(source, "um_sum,um_total_sum", "-f", "csv")
        self.assertIn("\n0x0,", want)
        self.assertEqual(self.alone(source, "-q", "-f", "csv", "-r", "um_sum,um_total_sum"), (0, want, ""))

    def test_a_part_of_the_capture(self):
        done = run("stats", "-r", "cuda_api_sum", support.analyze(trace("training"), "--trim", "1", "1.2"))
        self.assertEqual(done.returncode, 3)
        self.assertIn("of a part of the capture (--trim)", done.stderr)

    def test_equal_totals(self):
        source = edited("training", "update CUPTI_ACTIVITY_KIND_RUNTIME set end = start")
        rows_of = lambda text: sorted(text.rstrip("\n").split("\n"))
        status, out, said = self.alone(source, "-f", "csv", "-r", "cuda_api_sum")
        self.assertEqual((status, rows_of(out)[-1:]), (0, rows_of(stats(source, "cuda_api_sum", "-f", "csv"))[-1:]))
        self.assertIn("rows of equal totals may stand in another order", said)

    def test_filters(self):
        source, report = trace("copy-bound"), "cuda_api_sum,cuda_gpu_kern_sum,nvtx_sum"
        with contextlib.closing(sqlite3.connect(source)) as db:
            begin, end, name = db.execute("select start, end, coalesce(text, (select value from StringIds where id = textId)) from NVTX_EVENTS "
                                          "where eventType = 59 order by end - start desc, start limit 1").fetchone()
        for words in (("--filter-time", f"{begin}/{end}"), ("--filter-nvtx", f"{name}@*/1"), ("--filter-projected-nvtx", f"{name}@*")):
            got, want = (run("stats", "-q", "-f", "csv", "-r", report, *words, src) for src in (support.artifacts(source), source))
            self.assertEqual((got.returncode, got.stdout), (0, want.stdout), got.stderr)
            self.assertNotEqual(got.stdout, stats(source, report, "-f", "csv"))


class OwnArguments(unittest.TestCase):
    """What nsys has not."""

    def test_quartiles(self):
        source = trace("training")
        want = {name: [one_decimal(q) for q in statistics.quantiles(v, n=4, method="inclusive")[::2]] if len(v) > 1 else [one_decimal(v[0])] * 2
                for (name,), v in grouped(source, "select value, end - start from CUPTI_ACTIVITY_KIND_KERNEL join StringIds on id = demangledName").items()}
        got = rows(source, "cuda_gpu_kern_sum:quartiles")
        self.assertEqual(got[0][8:], ["Q1 (ns)", "Q3 (ns)", "Name"])
        self.assertEqual({row[-1]: row[8:10] for row in got[1:]}, want)
        self.assertEqual([row[:8] + row[10:] for row in got], rows(source, "cuda_gpu_kern_sum"))
        self.assertEqual(run("stats", "-q", "-r", "cuda_api_trace:quartiles", source).returncode, 2)

    def test_exact_rates(self):
        source = trace("copy-bound")
        with sqlite3.connect(source) as db:
            want = [b * 1e9 / (e - s) for s, e, b in db.execute("select start, end, bytes from CUPTI_ACTIVITY_KIND_MEMCPY order by start, rowid")]
        self.assertEqual([row[13] for row in rows(source, "cuda_gpu_trace:exact", "-f", "csv:thru=B")[1:] if "memcpy" in row[-1]], [repr(rate) for rate in want])

    def test_mapped_devices(self):
        source = trace("shared-gpu-mapped")
        with sqlite3.connect(source) as db:
            gpus = {(pid, number): gpu for gpu, number, pid in db.execute("select gpuId, cudaId, pid from TARGET_INFO_CUDA_DEVICE")}
            names = dict(db.execute("select id, name from TARGET_INFO_GPU"))
            want = [gpus.get((of >> 24 & 0xFFFFFF, device), device) for device, of in
                    db.execute("select deviceId, globalPid from CUPTI_ACTIVITY_KIND_KERNEL order by start, rowid")]
        got = [row[16] for row in rows(source, "cuda_gpu_trace:mapped")[1:] if row[3]]
        self.assertEqual(got, [f"{names.get(gpu, 'GPU')} ({gpu})" for gpu in want])
        self.assertNotEqual(got, [row[16] for row in rows(source, "cuda_gpu_trace")[1:] if row[3]])

    def test_kernels_once(self):
        """Every range is there twice, the second around the first."""
        twice = edited("training", "insert into NVTX_EVENTS(start, end, eventType, text, textId, globalTid, domainId) "
                       "select start - 1, end + 1, eventType, text, textId, globalTid, domainId from NVTX_EVENTS where eventType = 59")
        plain = {tuple(row[:4]) + tuple(row[5:6]) + (row[-1],): int(row[6]) for row in rows(trace("training"), "nvtx_kern_sum")[1:] if row[0]}
        for report, times in (("nvtx_kern_sum", 2), ("nvtx_kern_sum:once", 1)):
            got = {tuple(row[:4]) + tuple(row[5:6]) + (row[-1],): int(row[6]) for row in rows(twice, report)[1:] if row[0]}
            self.assertEqual(got, {key: ns * times for key, ns in plain.items()})

    def test_canonical_names(self):
        source = edited("training", "update NVTX_EVENTS set text = coalesce((select value from StringIds where id = textId), text) || ', op_id = ' || rowid, "
                        "textId = null where eventType = 59 and domainId = 0")
        with sqlite3.connect(source) as db:
            found = {}
            for name, ns in db.execute("select text, end - start from NVTX_EVENTS where eventType = 59 and domainId = 0"):
                found.setdefault(":" + re.sub(", (seq|op_id|sizes) = .*", "", name), []).append(ns)
        got = {row[-1]: (int(row[1]), int(row[2])) for row in rows(source, "nvtx_pushpop_sum:canonical")[1:]}
        self.assertEqual({name: ns for name, ns in got.items() if name in found}, {name: (sum(v), len(v)) for name, v in found.items()})
        self.assertGreater(len(rows(source, "nvtx_pushpop_sum")), 100)

    def test_whole_graphs_are_said(self):
        with sqlite3.connect(trace("graphs")) as db:
            count, ns = db.execute("select count(*), sum(end - start) from CUPTI_ACTIVITY_KIND_GRAPH_TRACE").fetchone()
        self.assertIn(f"{count} launches of CUDA graphs, {ns / 1e6:.1f} ms", run("stats", "-r", "cuda_gpu_kern_sum", trace("graphs")).stderr)

    def test_whole_graphs(self):
        source = trace("graphs")
        with sqlite3.connect(source) as db:
            graphs = db.execute("select count(*) from CUPTI_ACTIVITY_KIND_GRAPH_TRACE").fetchone()[0]
        counts = [sum(int(row[8]) for row in rows(source, report)[1:] if row[9] == "0") for report in ("nvtx_gpu_proj_trace", "nvtx_gpu_proj_trace:graphs")]
        self.assertEqual(counts[1] - counts[0], graphs)

    def test_window_of_a_rule(self):
        source = trace("training")
        begin, end = rows(source, "cuda_api_sync")[1][1], rows(source, "cuda_api_sync")[3][1]
        begin, end = sorted((begin, end), key=int)
        thread = next(row[7] for row in rows(source, "nvtx_pushpop_trace") if row[5] == ":forward")
        self.assertEqual(rows(source, f"cuda_api_sync:start={begin}:end={end}"), rows(source, "cuda_api_sync", "-f", "csv", "--filter-time", f"{begin}/{end}"))
        self.assertEqual(rows(source, "cuda_api_sync:nvtx=forward"), rows(source, "cuda_api_sync", "-f", "csv", "--filter-nvtx", "forward/0"))
        self.assertEqual(rows(source, f"cuda_api_sync:nvtx=forward:start={begin}:end={end}")[1:],
                         [row for row in rows(source, f"cuda_api_sync:start={begin}:end={end}")[1:] if row[3] == thread])
        self.assertEqual(run("stats", "-q", "-r", "cuda_api_sum:start=1", source).returncode, 2)


class Recipes(unittest.TestCase):
    def test_decades_and_names(self):
        source, lengths = trace("bimodal"), {}
        for start, end, short, name, *_ in self.kernels(source):
            lengths.setdefault(name, []).append(end - start)
        want = []
        for name, v in sorted(lengths.items(), key=lambda item: (-sum(item[1]), len(item[1]), item[0])):
            for decade in range(len(str(min(v))), len(str(max(v))) + 1):
                within = [x for x in v if len(str(x)) <= decade]
                want.append([f"{10 ** (decade - 1)}.0", f"{10 ** decade}.0", str(sum(len(str(x)) == decade for x in v)), one_decimal(100 * len(within) / len(v)), name])
        self.assertEqual([row[:3] + row[4:] for row in rows(source, "cuda_gpu_kern_hist:log")[1:]], want)
        some = next(iter(lengths))[:6]
        self.assertEqual({row[-1] for row in rows(source, f"cuda_gpu_kern_hist:name=^{re.escape(some)}")[1:]}, {name for name in lengths if name.startswith(some)})
        self.assertEqual(run("stats", "-q", "-r", "cuda_gpu_kern_hist:name=(", source).returncode, 2)

    def test_summary_of_a_pace(self):
        source = trace("training")
        each = rows(source, "nvtx_pace:name=forward")[1:]
        durations, deltas = [int(row[3]) for row in each], [int(row[4]) for row in each[1:]]
        got = {row[0]: row[1:8] for row in rows(source, "nvtx_pace:summary:name=forward")[1:]}
        self.assertEqual(got, {of: [str(len(v)), str(sum(v)), *spread(v)] for of, v in (("Duration", durations), ("Delta", deltas))})

    def test_a_name_that_nothing_has(self):
        """What is called nearly so is of what was asked for; a long one is cut between characters."""
        long = "\N{SNOWMAN}" * 250
        for report, near in (("nvtx_pace:name=forwrad", "forward"), ("nvtx_pace:name=cudaLaunchKernl", None), (f"nvtx_pace:name={long}", None)):
            said = run("stats", "-q", "-r", report, trace("training")).stdout
            said += run("stats", "-r", report, trace("training")).stderr
            self.assertIn("no range is named", said)
            self.assertEqual(re.findall('did you mean "(.*?)"', said)[:1], [near] if near else [])
            self.assertNotIn("\N{REPLACEMENT CHARACTER}", said)

    def compare_map(self, source, report, others):
        """`others`: the times of the class by process and device; the map has its share, that of all kernels, and of both at once."""
        users = {}
        for start, end, short, _, process, device in self.kernels(source):
            users.setdefault((process, device), []).append((start, end, short))
        first, last = min(v[0][0] for v in users.values()), max(k[1] for v in users.values() for k in v)
        piece, want = -(-(last - first) // 9), []
        for (process, device), times in users.items():
            one, other = others(process, times)
            for low in range(first, first + 9 * piece, piece):
                both = covered(one + other, low, low + piece)
                parts = [covered(one, low, low + piece), covered(other, low, low + piece)]
                want.append([str(process), str(device), str(low), *(one_decimal(100 * ns / piece) for ns in (both, *parts, sum(parts) - both))])
        self.assertTrue(any(float(row[-1]) > 0 for row in want))
        return sorted(want), sorted(row[:3] + row[4:] for row in rows(source, report + ":bins=9")[1:])

    def test_nccl_map(self):
        want, got = self.compare_map(trace("training"), "nccl_gpu_time_util_map", lambda _, times: (
            [t[:2] for t in times if t[2].startswith("nccl")], [t[:2] for t in times if not t[2].startswith("nccl")]))
        self.assertEqual(got, want)
        self.assertIn("SKIPPED", run("stats", "-r", "nccl_gpu_time_util_map", trace("copy-bound")).stdout)

    def test_mpi_map(self):
        source = edited("training", "create table MPI_OTHER_EVENTS(start integer, end integer, globalTid integer, textId integer)",
                        "insert into MPI_OTHER_EVENTS select start - 2000, end + 9000, globalPid + 1, 1 from CUPTI_ACTIVITY_KIND_KERNEL where rowid % 7 = 0")
        with sqlite3.connect(source) as db:
            calls = db.execute("select start, end, globalTid >> 24 & 0xffffff from MPI_OTHER_EVENTS").fetchall()
        want, got = self.compare_map(source, "mpi_gpu_time_util_map", lambda process, times: (
            [c[:2] for c in calls if c[2] == process], [t[:2] for t in times]))
        kernels = {tuple(row[:3]): row[4] for row in rows(source, "cuda_gpu_time_util_map:bins=9")[1:]}
        self.assertEqual(got, [[*row[:3], kernels[tuple(row[:3])], row[4], row[6]] for row in want])

    def test_gpu_metrics(self):
        source = edited("evidence", "update TARGET_INFO_GPU_METRICS set metricName = 'NVLink RX Responses User Data [Throughput %]' where metricId = 21",
                        "update GPU_METRICS set value = 0 where metricId = 21 and rowid % 3 = 0")
        with sqlite3.connect(source) as db:
            names = dict(db.execute("select metricId, metricName from TARGET_INFO_GPU_METRICS"))
            samples = db.execute("select timestamp, metricId, value from GPU_METRICS").fetchall()
            kernels = db.execute("select start, end, value from CUPTI_ACTIVITY_KIND_KERNEL join StringIds on id = demangledName where deviceId = 0").fetchall()

        def line(values):
            q = statistics.quantiles(values, n=4, method="inclusive")
            return ["0", str(len(values)), one_decimal(sum(values) / len(values)), one_decimal(statistics.stdev(values)), str(min(values)), one_decimal(q[0]),
                    one_decimal(statistics.median(values)), one_decimal(q[2]), str(max(values))]
        want = sorted(line([v for _, m, v in samples if m == metric]) + [name] for metric, name in names.items())
        self.assertEqual(sorted(rows(source, "gpu_metric_util_sum")[1:]), want)
        want = sorted(line([v for t, m, v in samples for start, end, of in kernels if m == metric and of == kernel and start <= t < end]) + [name, kernel]
                      for metric, name in names.items() for kernel in {k[2] for k in kernels})
        self.assertEqual(sorted(rows(source, "gpu_metric_util_sum:per-kernel")[1:]), want)
        empty = [k for k in kernels if not any(k[0] <= t < k[1] for t, _, _ in samples)]
        share = 100 * sum(end - start for start, end, _ in empty) / sum(end - start for start, end, _ in kernels)
        self.assertIn(f"{len(empty)} of {len(kernels)} instances, {share:.1f} % of their time, have no sample",
                      run("stats", "-r", "gpu_metric_util_sum:per-kernel", source).stderr)
        longest = max(kernels, key=lambda k: (k[1] - k[0], -k[0]))
        got = rows(source, "gpu_metric_util_sum:per-kernel:longest=1")[1:]
        self.assertEqual(sum(int(row[1]) for row in got), sum(longest[0] <= t < longest[1] for t, _, _ in samples))
        self.assertEqual(rows(source, "gpu_metric_util_sum:per-kernel:match=^no such")[1:], [])
        links = [v for _, m, v in samples if m == 21]
        self.assertEqual(rows(source, "nvlink_sum")[1:], [line([v for v in links if v > 0]) + [names[21], one_decimal(sum(links) / len(links))]])

    def test_metrics_under_ranges(self):
        """The range holds the first half of the launches; its projection is from the first of them to the last."""
        source = edited("evidence", "delete from NVTX_EVENTS",
                        "insert into NVTX_EVENTS(start, end, eventType, text, globalTid, domainId) select min(start), (select max(end) from (select end from "
                        "CUPTI_ACTIVITY_KIND_RUNTIME order by start limit 10)), 59, 'half', globalTid, 0 from CUPTI_ACTIVITY_KIND_RUNTIME")
        got = rows(source, "gpu_metric_util_sum:per-projected-nvtx")[1:]
        start, ns = rows(source, "nvtx_gpu_proj_trace")[1][1:3]
        with sqlite3.connect(source) as db:
            want = db.execute("select count(*) from GPU_METRICS where timestamp >= ? and timestamp < ?", (int(start), int(start) + int(ns))).fetchone()[0]
        self.assertEqual(({row[-1] for row in got}, sum(int(row[1]) for row in got)), ({":half"}, want))

    def test_metrics_under_ranges_that_overlap(self):
        """A sample counts as often as ranges of a name are around it."""
        source = edited("evidence", "delete from NVTX_EVENTS", support.overlapping(1501))
        with sqlite3.connect(source) as db:
            samples = db.execute("select timestamp, metricName, value from GPU_METRICS join TARGET_INFO_GPU_METRICS using (typeId, metricId)").fetchall()
        projected = [(row[0], int(row[1]), int(row[1]) + int(row[2])) for row in rows(source, "nvtx_gpu_proj_trace")[1:]]
        want = {}
        for name, start, end in projected:
            for time, metric, value in samples:
                if start <= time < end:
                    want.setdefault((metric, name), []).append(value)
        got = {(row[-2], row[-1]): [*row[1:3], *row[4:6], row[6], *row[8:-2]] for row in rows(source, "gpu_metric_util_sum:per-projected-nvtx")[1:]}
        self.assertGreater(len(projected), 40)
        self.assertEqual(got, {key: [str(len(v)), one_decimal(sum(v) / len(v)), str(min(v)), one_decimal(statistics.quantiles(v, n=4, method="inclusive")[0]),
                                     one_decimal(statistics.median(v)), str(max(v))] for key, v in want.items()})

    def test_congestion(self):
        source = trace("evidence")
        with sqlite3.connect(source) as db:
            want = [[str(v) for v in row] for row in db.execute(
                "select m.start, m.end, m.end - m.start, m.value, printf('0x%x', i.GUID), i.name from NET_NIC_METRIC m join NIC_ID_MAP n using (globalId) "
                "join TARGET_INFO_NIC_INFO i using (nicId) join TARGET_INFO_NETWORK_METRICS t using (metricsListId, metricsIdx) "
                "where t.name = 'IB: Send waits' and value > 42000 order by 1")]
        self.assertEqual(rows(source, "network_congestion:ticks_threshold=42000")[1:], want)
        self.assertGreater(len(rows(source, "network_congestion")), len(want))
        self.assertEqual(rows(source, "network_congestion")[0], ["Start (ns)", "End (ns)", "Duration (ns)", "Send wait rate", "GUID", "Name"])

    def test_collectives(self):
        """NCCL's kernels, by GPU and one by one, with the part of each beside other kernels of its GPU."""
        source = trace("training")
        gpus = {}
        for start, end, short, name, _, device in self.kernels(source):
            gpus.setdefault(device, ([], []))[short.startswith("nccl")].append((start, end, name))
        one_by_one, sums, shares = [], [], []
        for device, (others, nccl) in sorted(gpus.items()):
            hidden = [covered([k[:2] for k in others], start, end) for start, end, _ in nccl]
            one_by_one += [[str(device), str(start), str(end), str(end - start), str(ns), name] for (start, end, name), ns in zip(nccl, hidden)]
            lengths = [end - start for start, end, _ in nccl]
            sums.append([str(device), str(len(nccl)), str(sum(lengths)), one_decimal(statistics.median(lengths)), str(max(lengths)), str(sum(hidden))])
            alone = covered([k[:2] for k in nccl], 0, 2**62)
            shares.append([str(device), str(alone), one_decimal(100 * sum(hidden) / alone)])
        self.assertTrue(any(row[-2] != "0" for row in one_by_one))

        def some(report, *names):
            header, *lines = rows(source, report)
            return sorted([line[header.index(name)] for name in names] for line in lines)
        for report in ("nccl_sum", "nccl_gpu_proj_sum"):
            self.assertEqual(some(report, "device_id", "kernel_count", "total_time (ns)", "p50_duration (ns)", "max_duration (ns)", "overlapped (ns)"), sums)
        self.assertEqual(some("nccl_gpu_overlap_trace", "device_id", "start (ns)", "end (ns)", "duration (ns)", "overlapped (ns)", "kernel_name"), sorted(one_by_one))
        self.assertEqual(some("nccl_gpu_overlap_trace:summary", "device_id", "comm (ns)", "overlap_comm_pct (%)"), shares)

    def test_collectives_of_a_run(self):
        """A run answers without its export, in every unit; filters are refused, and so is nothing else."""
        source, place = trace("training"), fresh_dir() / "run"
        support.analyze(source, out=place)
        for format in ("csv", "json:time=ms:thru=GB", "column", "htable"):
            self.assertEqual(stats(place, "nccl_sum", "-f", format), stats(source, "nccl_sum", "-f", format))
        rate = rows(place, "nccl_sum", "-f", "csv:thru=GB")
        self.assertEqual({row[rate[0].index("link (GB/s)")] for row in rate[1:]}, {"450.000"})
        done = run("stats", "-q", "-f", "csv", "-r", "nccl_sum,cuda_api_sum", "--filter-time", "/2s", source)
        self.assertEqual((done.returncode, "takes no filter" in done.stderr, done.stdout[:8]), (2, True, "Time (%)"))
        self.assertIn("SKIPPED", run("stats", "-r", "nccl_gpu_proj_sum", trace("copy-bound")).stdout)

    def kernels(self, source):
        with sqlite3.connect(source) as db:
            return db.execute("select k.start, k.end, s.value, l.value, globalPid >> 24 & 0xffffff, deviceId from CUPTI_ACTIVITY_KIND_KERNEL k "
                              "join StringIds s on s.id = shortName join StringIds l on l.id = demangledName order by 1, 2").fetchall()

    def test_histogram(self):
        source, lengths = trace("bimodal"), {}
        for start, end, _, name, *_ in self.kernels(source):
            lengths.setdefault(name, []).append(end - start)
        for bins in (30, 3, 1):
            want = []
            for name, v in sorted(lengths.items(), key=lambda item: (-sum(item[1]), len(item[1]), item[0])):
                least, most, done = min(v), max(v), 0
                count = bins if most > least else 1
                places = [min(int((x - least) / (most - least) * count), count - 1) if most > least else 0 for x in v]
                for i in range(count):
                    done += places.count(i)
                    want.append([one_decimal(least + (most - least) / count * k if most > least else least) for k in (i, i + 1)] +
                                [str(places.count(i)), one_decimal(100 * places.count(i) / len(v)), one_decimal(100 * done / len(v)), name])
            self.assertEqual(rows(source, f"cuda_gpu_kern_hist:bins={bins}")[1:], want)

    def pace(self, moments):
        total, before = 0, None
        for i, (start, end) in enumerate(sorted(moments)):
            total += end - start
            yield [str(v) if v is not None else "" for v in (i, start, end, end - start, start - before[0] if before else None,
                                                             start - before[1] if before else None, total)]
            before = start, end

    def test_pace(self):
        source = trace("training")
        kernels = self.kernels(source)
        for of, at in ((kernels[5][2], 2), (kernels[5][3], 3)):
            if "," not in of:
                self.assertEqual(rows(source, f"cuda_gpu_kern_pace:name={of}")[1:], list(self.pace([k[:2] for k in kernels if k[at] == of])))
        tree = [row for row in rows(source, "nvtx_pushpop_trace")[1:] if row[5] == ":forward"]
        for name in ("forward", ":forward"):
            self.assertEqual(rows(source, f"nvtx_pace:name={name}")[1:], list(self.pace([(int(row[0]), int(row[1])) for row in tree])))
        projected = [(int(row[1]), int(row[1]) + int(row[2])) for row in rows(source, "nvtx_gpu_proj_trace")[1:] if row[0] == ":forward"]
        self.assertEqual(rows(source, "nvtx_gpu_proj_pace:name=forward")[1:], list(self.pace(projected)))
        self.assertEqual(stats(source, "nvtx_pace:name=nothing", "-f", "csv"), "\n")
        for report, what in (("nvtx_pace", "range"), ("nvtx_gpu_proj_pace", "range"), ("cuda_gpu_kern_pace", "kernel")):
            done = run("stats", "-r", f"{report}:name=forwad", source)
            self.assertEqual((done.returncode, done.stderr.startswith(f'nsys-ai: no {what} is named "forwad"')), (0, True), done.stderr)
            self.assertEqual('did you mean "forward"?' in done.stderr, what == "range")
        done = run("stats", "-q", "-r", "nvtx_pace", source)
        self.assertEqual(done.returncode, 2)
        self.assertIn("nvtx_pace:name=NAME", done.stderr)

    def test_map(self):
        source, users = trace("training"), {}
        for start, end, _, _, process, device in self.kernels(source):
            users.setdefault((process, device), []).append((start, end))
        first, last = min(v[0][0] for v in users.values()), max(end for v in users.values() for _, end in v)
        for bins in (30, 7):
            piece, want = -(-(last - first) // bins), []
            for (process, device), times in users.items():
                for i in range(bins):
                    low, high = first + i * piece, first + (i + 1) * piece
                    covered, until = 0, low
                    for start, end in times:
                        covered += max(0, min(end, high) - max(start, until))
                        until = max(until, min(end, high))
                    want.append([str(process), str(device), str(low), str(piece), one_decimal(100 * covered / piece)])
            self.assertEqual(sorted(rows(source, f"cuda_gpu_time_util_map:bins={bins}")[1:]), sorted(want))


class Tables(unittest.TestCase):
    """What a run keeps of the same."""

    def test_calls(self):
        source = edited("training", "update CUPTI_ACTIVITY_KIND_RUNTIME set returnValue = case rowid % 5 when 0 then 2 when 1 then 600 else 0 end")
        groups, errors = {}, {}
        with sqlite3.connect(source) as db:
            names = texts(db)
            for name, start, end, result in db.execute("select nameId, start, end, returnValue from CUPTI_ACTIVITY_KIND_RUNTIME"):
                name = re.sub(r"(_v\d{4,5}|_ptsz|_ptds)+$", "", names[name])
                groups.setdefault(name, []).append(end - start)
                errors[name] = errors.get(name, 0) + (result == 2)
        found = support.read_csv(support.analyze(source), "api_calls")
        self.assertEqual([(row["api_name"], int(row["call_count"]), support.ns_of_ms(row["total_time_ms"]), support.ns_of_us(row["min_duration_us"]),
                           support.ns_of_us(row["max_duration_us"]), int(row["error_count"])) for row in found],
                         [(name, len(v), sum(v), min(v), max(v), errors[name]) for name, v in sorted(groups.items(), key=lambda item: (-sum(item[1]), item[0]))])
        for row in found:
            v = groups[row["api_name"]]
            self.assertAlmostEqual(float(row["p50_duration_us"]) * 1e3, statistics.median(v), delta=0.6)
            self.assertAlmostEqual(float(row["stddev_duration_us"]) * 1e3, statistics.stdev(v) if len(v) > 1 else 0, delta=0.6)
            self.assertEqual(int(row["longest_end_ns"]) - int(row["longest_start_ns"]), max(v))

    def test_launches(self):
        """Equal to the report, which is held against Python above."""
        for source in (trace("training"), trace("graphs-node"), trace("dependency")):
            want = {(row[0], row[1], row[2], row[-2], row[-1]): row for row in rows(source, "cuda_kern_exec_sum")[1:]}
            found = support.read_csv(support.artifacts(source), "kernel_launch_times")
            self.assertEqual(len(found), len(want))
            for row in found:
                key = next(k for k in want if k[:3] == (row["pid"], row["tid"], row["device_id"]) and k[4] == row["kernel_name"] and
                           re.sub(r"(_v\d+|_ptsz)+$", "", k[3]) == row["api_name"])
                report = want[key]
                self.assertEqual((row["kernel_count"], row["queued_count"]), (report[3], report[4]))
                for column, at in (("total_avg_us", 5), ("total_p50_us", 6), ("api_avg_us", 10), ("api_p50_us", 11), ("queue_avg_us", 15), ("queue_p50_us", 16),
                                   ("queue_max_us", 18), ("kernel_avg_us", 20), ("kernel_p50_us", 21)):
                    self.assertEqual(row[column] == "", report[at] == "", column)
                    self.assertAlmostEqual(float(row[column] or 0) * 1e3, float(report[at] or 0), delta=0.6, msg=column)


    def test_directives(self):
        """OpenACC and OpenMP events by name and place, and one by one in SQL."""
        columns = "start integer, end integer, nameId integer, globalTid integer"
        thread = "(select min(globalTid) from CUPTI_ACTIVITY_KIND_RUNTIME)"
        rows_of = {"OPENACC_DATA": [(10, 900100, 1, 7, 100), (20, 900050, 1, 7, 50), (5, 1, 1, 8, 5), (3, 2, 1, None, None)], "OPENACC_LAUNCH": [(9, 0, 1, 7, None)]}
        statements = ["insert into StringIds(id, value) values (900001, 'upload'), (900002, 'solver.c'), (900003, 'in parallel')"]
        for table, values in rows_of.items():
            statements.append(f"create table CUPTI_ACTIVITY_KIND_{table}({columns}, srcFile integer, lineNo integer, funcName integer, bytes integer)")
            statements += [f"insert into CUPTI_ACTIVITY_KIND_{table} values ({1001000000 + at}, {1001000000 + at + ns}, 900001, {thread}, "
                           f"{'null' if line is None else 900002}, {line or 0}, null, {'null' if size is None else size})" for ns, at, _, line, size in values]
        for table, ns in (("PARALLEL", 7), ("FLUSH", 2)):
            statements += [f"create table OPENMP_EVENT_KIND_{table}({columns})",
                           f"insert into OPENMP_EVENT_KIND_{table} values (1001000000, {1001000000 + ns}, 900003, {thread})"]
        directory = support.analyze(edited("training", *statements))
        found = [tuple(row[c] for c in ("model", "event_name", "kind", "file", "line", "event_count", "bytes")) + (support.ns_of_ms(row["total_time_ms"]),)
                 for row in support.read_csv(directory, "directives")]
        self.assertEqual(found, [("OpenACC", "upload", "0", "solver.c", "7", "2", "150", 30), ("OpenACC", "upload", "1", "solver.c", "7", "1", "", 9),
                                 ("OpenMP", "in parallel", "1", "", "", "1", "", 7), ("OpenACC", "upload", "0", "solver.c", "8", "1", "5", 5),
                                 ("OpenACC", "upload", "0", "", "", "1", "", 3), ("OpenMP", "in parallel", "17", "", "", "1", "", 2)])
        done = run("sql", directory, "select kind, end_ns - start_ns from openmp_events order by 1", "--format", "json")
        self.assertEqual(json.loads(done.stdout)["rows"], [[1, 7], [17, 2]])
        self.assertEqual(support.read_csv(support.artifacts(trace("training")), "directives"), [])

    def test_all_directives(self):
        """Every table of both, in an export that has nearly every other table, too."""
        openmp = ("THREAD PARALLEL SYNC_REGION_WAIT SYNC_REGION TASK MASTER REDUCTION TASK_CREATE TASK_SCHEDULE CANCEL MUTEX_WAIT CRITICAL_SECTION MUTEX_RELEASED "
                  "LOCK_INIT LOCK_DESTROY WORKSHARE DISPATCH FLUSH").split()
        tables = [f"OPENMP_EVENT_KIND_{kind}" for kind in openmp] + [f"CUPTI_ACTIVITY_KIND_OPENACC_{kind}" for kind in ("DATA", "LAUNCH", "OTHER")]
        statements = ["insert into StringIds(id, value) values (900001, 'event')"]
        for number, table in enumerate(tables):
            statements += [f"create table {table}(start integer, end integer, nameId integer, globalTid integer)",
                           f"insert into {table} select start, start + {number + 1}, 900001, globalTid from CUPTI_ACTIVITY_KIND_RUNTIME order by start limit 1"]
        found = {(row["model"], int(row["kind"])): support.ns_of_ms(row["total_time_ms"]) for row in
                 support.read_csv(support.analyze(edited("evidence", *statements)), "directives")}
        self.assertEqual(found, {("OpenMP", k) if k < 18 else ("OpenACC", k - 18): k + 1 for k in range(21)})

    def test_unified_memory_by_address(self):
        source = edited("copy-bound", "update CUPTI_ACTIVITY_KIND_MEMCPY set copyKind = 11 + rowid % 2, virtualAddress = 4096 * (rowid % 5) where rowid % 3 < 2")
        with sqlite3.connect(source) as db:
            want = [tuple(map(str, row)) for row in db.execute(
                "select globalPid >> 24 & 0xffffff, virtualAddress, sum(bytes), count(*), sum(bytes * (copyKind = 11)), sum(bytes * (copyKind = 12)), "
                "sum(end - start), min(start), max(end) from CUPTI_ACTIVITY_KIND_MEMCPY where copyKind in (11, 12) group by 1, 2")]
        self.assertGreater(len(want), 4)
        found = support.read_csv(support.analyze(source), "um_addresses")
        self.assertEqual(sorted((row["pid"], row["address"], row["migrated_bytes"], row["migration_count"], row["to_gpu_bytes"], row["to_host_bytes"],
                                 str(support.ns_of_ms(row["migration_ms"])), row["first_start_ns"], row["last_end_ns"]) for row in found), sorted(want))
        sizes_of = [int(row["migrated_bytes"]) for row in found]
        self.assertEqual(sizes_of, sorted(sizes_of, reverse=True))

    def test_low_utilization(self):
        """Thirtieths that are busy for less than half of the time, joined."""
        for name in ("host-bound", "cpu-work", "training"):
            source, want, times = trace(name), [], {}
            with sqlite3.connect(source) as db:
                for table in {n for (n,) in db.execute("select name from sqlite_master")} & {"CUPTI_ACTIVITY_KIND_" + k for k in ("KERNEL", "MEMCPY", "MEMSET")}:
                    for device, start, end in db.execute(f"select deviceId, start, end from {table}"):
                        times.setdefault(device, []).append((start, end))
            for device, ops in sorted(times.items()):
                first, last, open_since, busy = min(ops)[0], max(e for _, e in ops), None, 0
                piece = -(-(last - first) // 30)
                for at in [*range(first, last, piece), last]:
                    end = min(at + piece, last)
                    ns = covered(ops, at, end)
                    if at < last and ns * 100 < 50 * (end - at):
                        open_since, busy = at if open_since is None else open_since, busy + ns
                    elif open_since is not None:
                        want.append((str(device), str(open_since), str(at), busy))
                        open_since, busy = None, 0
            self.assertEqual([(row["device_id"], row["start_ns"], row["end_ns"], support.ns_of_ms(row["busy_ms"])) for row in
                              support.read_csv(support.artifacts(source), "low_utilization")], want, name)


class Consumers(unittest.TestCase):
    """How public scripts take the output of nsys stats apart: docs/stats.md, "Scripts that exist". Their command lines, with nsys-ai for nsys."""

    def setUp(self):
        self.place = fresh_dir()
        self.source = self.place / "report.sqlite"
        shutil.copyfile(trace("training"), self.source)
        self.kernels = {row[-1]: row for row in rows(self.source, "cuda_gpu_kern_sum")[1:]}

    def stats(self, *words):
        done = run("stats", *words, self.source, cwd=self.place)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_files_with_the_report_in_their_name(self):
        self.stats("--format", "csv", "--report", "cuda_gpu_kern_sum,cuda_gpu_mem_time_sum", "--force-export", "--sqlite", "other.sqlite", "--force-overwrite",
                   "--output", "out")
        for report, column in (("cuda_gpu_kern_sum", "Name"), ("cuda_gpu_mem_time_sum", "Operation")):
            with open(self.place / f"out_{report}.csv", encoding="utf-8", newline="") as file:
                found = {row[column]: int(row["Total Time (ns)"]) for row in csv.DictReader(file)}
            self.assertEqual(found, {row[-1]: int(row[1]) for row in rows(self.source, report)[1:]})
        self.stats("--report", "gpukernsum", "-f", "json", "-o", "./exported")
        kernels = json.loads((self.place / "exported_gpukernsum.json").read_text())
        self.assertEqual(sum(kernel["Instances"] for kernel in kernels), sum(int(row[2]) for row in self.kernels.values()))
        self.stats("--force-export", "false", "--report", "nvtx_gpu_proj_sum", "--format", "csv", "--output", "nsys_stats")
        self.assertEqual(len(list(self.place.glob("nsys_stats*nvtx_gpu_proj_sum*.csv"))), 1)

    def test_csv_on_standard_output(self):
        """Lines with a comma, whatever else is printed; or from the header on."""
        text = self.stats("--force-export=true", "--report", "cuda_gpu_kern_sum", "--format", "csv")
        self.assertEqual(list(csv.reader(line for line in text.splitlines() if "," in line))[1:], list(self.kernels.values()))
        text = self.stats("--report", "cuda_gpu_trace", "--format", "csv").strip().splitlines()
        header = next(i for i, line in enumerate(text) if "Name" in line and "CorrId" in line)
        self.assertEqual(len(text) - header - 1, len(rows(self.source, "cuda_gpu_trace")) - 1)
        for row in csv.DictReader(text[header:]):  # kernels are what has a grid
            self.assertEqual(row["GrdX"] != "", row["Name"] in self.kernels)

    def test_json_on_standard_output(self):
        projected = json.loads(self.stats("--report", "nvtx_gpu_proj_trace", "--force-export=true", "-q", "-f", "json"))
        times = [int(entry["Projected Duration (ns)"]) for entry in projected if entry.get("Name", "").strip().strip('"') == ":forward"]
        self.assertEqual(len(times), 8)

    def test_columns_of_text(self):
        """Sections by their titles, rows behind the line of dashes; numbers first, the name last."""
        text = self.stats("--force-export=true", "--report", "cuda_gpu_kern_sum", "--report", "cuda_gpu_mem_time_sum")
        section = text[text.index("CUDA GPU Kernel Summary"):text.index("CUDA GPU MemOps Summary")]
        found = [re.match(r" *([\d.]+) +(\d+) +(\d+) +([\d.]+) ", line) for line in section.split("\n")]
        self.assertEqual([(m[1], m[2], m[3]) for m in found if m], [tuple(row[:3]) for row in self.kernels.values()])
        lines = self.stats("--report", "nvtx_sum").split("\n")
        dashes = next(i for i, line in enumerate(lines) if "--------" in line)
        self.assertEqual([line.split()[1] for line in lines[dashes + 1:] if line.strip()], [row[1] for row in rows(self.source, "nvtx_sum")[1:]])
        table = self.stats("--report", "gpukernsum", "--format", "table", "--force-export=true")
        self.assertGreater(len([line for line in table.split("\n") if line.startswith(" |") or line.startswith("|")]), len(self.kernels))


if __name__ == "__main__":
    support.main()
