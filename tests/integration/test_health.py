"""Active spans, capture health, workload and losses against what was measured by hand on real exports (SQL over the exports,
not this program), and exact sums on every scenario of the generator."""
import contextlib
import re
import sqlite3
import unittest

import support
from support import SHARED, artifacts, edited, fresh_dir, ns_of_ms, read_csv, run, trace

TRACES = SHARED / "traces"


def real(name):
    return next((p for p in (TRACES / f"{name}.sqlite", TRACES / "real" / f"{name}.sqlite") if p.exists()), None)


# trace: pauses (ns, cause), lengths of the active spans of its GPUs, steady
SPANS = {
    "cuda_small": ([], [22_453_059], 0),
    "fsdp_2gpu": ([], [299_848_812, 298_661_551], 1),
    "cutlass_two_gpu_kinds": ([], [523_007_463], 0),
    "gaussian_osrt_sched_samples": ([], [2_936_090_462], 1),
    "jetson_orin": ([], [11_856_709_312], 1),
    "line_fitting": ([], [172_757_907], 1),
    "mig_a30": ([], [1_318_010_565], 0),
    "mordred_2021": ([(1_244_871_654, "file_read"), (4_661_617_146, "input_wait")], [477_220_564], 0),
    "openacc_2021": ([], [88_986_935], 1),
    "openmp_offload": ([], [2_850_525_185], 1),
    "pytorch_dlprof_2020": ([], [8_767_203], 0),
    "sandbox_copy_heavy": ([], [5_276_575], 0),
    "solver_nvtx_osrt_sched": ([(47_759_194, "module_load")], [102_134_968], 1),
    "tensorrt_inference": ([], [6_457_677], 0),
    "tensorrt_nvtx_only": ([], [], None),
    "two_processes_one_gpu": ([(62_304_993, "host_code")], [415_913_174], 1),
    "unified_memory": ([(314_996_380, "host_code")], [417_852_550], 0),
    "windows_wddm_cc120": ([(615_749_604_812, "host_code")], [608_333_876], 1),
    "wsl_api_without_gpu": ([], [], None),
}
# compute, exposed communication, exposed copy, idle of active spans that are not the whole window
PARTS = {
    "mordred_2021": (6_128_761, 0, 286_058_697, 185_033_106),
    "solver_nvtx_osrt_sched": (74_316_428, 0, 1_294_809, 26_523_731),
    "windows_wddm_cc120": (422_223_034, 0, 3_904, 186_106_938),
}
FRAMEWORKS = {
    "cuda_small": {"pytorch"},
    "fsdp_2gpu": {"pytorch"},
    "pytorch_dlprof_2020": {"pytorch"},
    "tensorrt_inference": {"tensorrt"},
    "tensorrt_nvtx_only": {"tensorrt"},
    "openacc_2021": {"openacc"},
    "openmp_offload": {"openmp"},
    "wsl_api_without_gpu": {"cupy"},  # by names of kernels that were not recorded
}  # all others: {"cuda"}
# Table workload as read by hand (SQL over the exports): language, framework, engine, launcher, role.
PROGRAMS = {
    "cuda_small": ("Python", "PyTorch", "", "", "unknown"),
    "fsdp_2gpu": ("Python", "FSDP with PyTorch", "", "torchrun", "forward"),  # threads pt_elastic
    "jetson_orin": ("C++", "CUDA", "jetson-utils", "", "video processing"),
    "line_fitting": ("C++", "CUDA", "", "", "benchmark"),
    "openacc_2021": ("unknown", "OpenACC", "", "", "unknown"),
    "openmp_offload": ("C++", "OpenMP", "", "", "benchmark"),  # prints MFLOPS by size
    "sandbox_copy_heavy": ("C++", "CUDA", "", "", "exercise"),  # one kernel, compared with the CPU
    "pytorch_dlprof_2020": ("Python", "PyTorch", "", "", "unknown"),
    "tensorrt_inference": ("Python", "TensorRT", "", "", "inference"),
    "tensorrt_nvtx_only": ("Python", "TensorRT", "", "", "inference"),
    "two_processes_one_gpu": ("C++", "CUDA", "", "mpirun", "unknown"),
    "windows_wddm_cc120": ("unknown", "CUDA", "", "", "unknown"),  # no process has a name
    "wsl_api_without_gpu": ("Python", "CuPy", "QUDA", "", "simulation"),
}  # all others: C++ and CUDA
FACTS = {  # what else the trace shows
    "fsdp_2gpu": {("collective", "nccl"), ("runtime", "flash-attention"), ("runtime", "cublaslt"), ("language", "python")},
    "two_processes_one_gpu": {("runtime", "cublas"), ("collective", "mpi"), ("language", "c++")},
    "wsl_api_without_gpu": {("language", "python"), ("collective", "mpi")},
    "cutlass_two_gpu_kinds": {("runtime", "cutlass"), ("language", "c++"), ("precision", "fp16")},
    "mordred_2021": {("runtime", "tbb")},
    "jetson_orin": {("runtime", "gstreamer"), ("runtime", "opengl-interop")},
    "tensorrt_inference": {("role", "inference"), ("precision", "fp16"), ("language", "python")},
    "pytorch_dlprof_2020": {("runtime", "cudnn"), ("language", "python")},
}
PROBLEMS = {  # checks in state "problem"; none elsewhere
    "openacc_2021": {"did_its_work", "kernels_of_the_program"},
    "wsl_api_without_gpu": {"gpu_activity_recorded"},
    "tensorrt_nvtx_only": {"cuda_traced"},
}
LOSSES = {  # (what, device): ns
    "fsdp_2gpu": {("casts", 0): 41_176_924, ("casts", 1): 41_964_409,
                  ("communication_on_compute_stream", 0): 17_172_652, ("communication_on_compute_stream", 1): 8_229_100},
    "gaussian_osrt_sched_samples": {("small_blocks", 0): 2_795_005_936},
    "mig_a30": {("underfilled", 0): 1_314_851_028, ("small_blocks", 0): 1_314_851_028},
    "unified_memory": {("page_migration", 0): 25_561_902},
    "cutlass_two_gpu_kinds": {("copies_on_compute_stream", 0): 360_730_978},
}
NEVER = {  # losses that would be wrong
    "openacc_2021": {"underfilled", "small_blocks", "unfused"},
    "unified_memory": {"repeated_copies", "copies_on_compute_stream", "unfused"},
    "windows_wddm_cc120": {"underfilled", "allocation", "unfused"},
    "two_processes_one_gpu": {"underfilled"},
    "mordred_2021": {"allocation"},
    "tensorrt_inference": {"allocation", "tiny_copies"},
    "wsl_api_without_gpu": {"unfused", "allocation", "tiny_copies", "repeated_copies"},
}


@unittest.skipUnless(real("wsl_api_without_gpu"), "no reference traces")
class RealExports(unittest.TestCase):
    def each(self):
        for name in SPANS:
            with self.subTest(name):
                yield name, artifacts(real(name))

    def test_spans(self):
        for name, out in self.each():
            pauses, lengths, steady = SPANS[name]
            found = [(int(r["duration_ns"]), r["cause"]) for r in read_csv(out, "active_spans") if r["kind"] == "pause"]
            self.assertEqual(found, pauses)
            gpus = read_csv(out, "gpu_active")
            self.assertEqual([int(r["active_ns"]) for r in gpus], lengths)
            self.assertEqual({int(r["steady"]) for r in gpus}, set() if steady is None else {steady})
            if name in PARTS:
                row = gpus[0]
                columns = ("compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns")
                self.assertEqual(tuple(int(row[c]) for c in columns), PARTS[name])

    def test_a_pause_and_its_gap_have_one_cause(self):
        finer = {"input_wait": "host_code", "sleep": "host_code", "wait": "host_code", "file_read": "host_code", "os_call": "host_code"}
        seen = 0
        for out in [*(out for _, out in self.each()), artifacts(trace("pause"))]:
            gaps = {(g["gap_start_ns"], g["gap_end_ns"]): g["cause"] for g in read_csv(out, "gpu_idle_gaps")}
            for span in read_csv(out, "active_spans"):
                if span["kind"] != "pause":
                    continue
                cause = "in_launch_call" if "first launch" in span["what"] else finer.get(span["cause"], span["cause"])
                self.assertEqual(cause, gaps[span["start_ns"], span["end_ns"]])
                seen += 1
        self.assertGreater(seen, 7)

    def test_repetition_is_far_from_the_threshold(self):
        for name, out in self.each():
            for row in read_csv(out, "gpu_active"):
                share = float(row["repeated_pct"])
                self.assertTrue(share < 1 or share >= 87, share)

    def test_workload(self):
        for name, out in self.each():
            rows = read_csv(out, "workload_evidence")
            found = {(r["aspect"], r["value"]) for r in rows}
            self.assertEqual({v for a, v in found if a == "framework"}, FRAMEWORKS.get(name, {"cuda"}))
            self.assertLessEqual(FACTS.get(name, set()), found)
            self.assertTrue(all(0 <= float(r["confidence"]) <= 99 for r in rows))

    def test_programs(self):
        for name, out in self.each():
            rows = read_csv(out, "workload")
            run_row, = [r for r in rows if not r["pid"]]
            told = tuple(run_row[c] for c in ("language", "framework", "engine", "launcher", "role"))
            self.assertEqual(told, PROGRAMS.get(name, ("C++", "CUDA", "", "", "unknown")))
            self.assertGreaterEqual(len(rows), 2)
            self.assertTrue(all(len(r["evidence"].split("; ")) <= 3 and "/" not in r["evidence"] for r in rows), rows)

    def test_health(self):
        for name, out in self.each():
            rows = read_csv(out, "capture_health")
            self.assertEqual({r["check"] for r in rows if r["state"] == "problem"}, PROBLEMS.get(name, set()))

    def test_times_of_health(self):
        expected = {  # check: ns
            ("cutlass_two_gpu_kinds", "before_first_cuda_call"): 11_797_538_872,
            ("mordred_2021", "after_last_cuda_call"): 32_945_485_388,
            ("fsdp_2gpu", "profiler"): 2_005_380 + 4_125,  # flushes, and two rows without a name too short to be loading
        }
        for (name, check), ns in expected.items():
            row = next(r for r in read_csv(artifacts(real(name)), "capture_health") if r["check"] == check)
            self.assertEqual(ns_of_ms(row["time_ms"]), ns, check)
        states = {("cuda_small", "first_use"): "note", ("tensorrt_inference", "first_use"): "ok",
                  ("cutlass_two_gpu_kinds", "before_first_cuda_call"): "note", ("mordred_2021", "after_last_cuda_call"): "note", ("fsdp_2gpu", "nvtx_dense"): "note",
                  ("solver_nvtx_osrt_sched", "nvtx_dense"): "ok", ("two_processes_one_gpu", "gpus_shared"): "note",
                  ("fsdp_2gpu", "launches_outside_capture"): "note", ("wsl_api_without_gpu", "active"): "unknown"}
        for (name, check), state in states.items():
            row = next(r for r in read_csv(artifacts(real(name)), "capture_health") if r["check"] == check)
            self.assertEqual(row["state"], state, (name, check))

    def test_losses(self):
        for name, out in self.each():
            rows = read_csv(out, "losses")
            found = {(r["what"], int(r["device_id"])): ns_of_ms(r["time_ms"]) for r in rows}
            for key, ns in LOSSES.get(name, {}).items():
                self.assertEqual(found.get(key), ns, key)
            self.assertFalse({what for what, _ in found} & NEVER.get(name, set()))

    def test_losses_stay_below_what_was_measured(self):
        """Upper bounds by hand are of all kernels of a category, or of all calls: the table leaves out what cannot be won."""
        bounds = {("fsdp_2gpu", "unfused", 1): (86_000_000, 90_614_852), ("solver_nvtx_osrt_sched", "allocation", 0):
                  (13_000_000, 18_043_194), ("solver_nvtx_osrt_sched", "underfilled", 0): (55_400_000, 55_600_000)}
        for (name, what, device), (low, high) in bounds.items():
            row = next(r for r in read_csv(artifacts(real(name)), "losses")
                       if (r["what"], int(r["device_id"])) == (what, device))
            self.assertTrue(low <= ns_of_ms(row["time_ms"]) <= high, (name, what, row["time_ms"]))

    def test_no_more_is_won_than_idles(self):
        """SQL over the exports: durations times the share of the lanes without a thread, of 128 on each multiprocessor (mig_a30: 10 blocks of 16 threads on 28),
        or of a warp's lanes, or of starts that larger blocks spare."""
        won = {("solver_nvtx_osrt_sched", "underfilled"): 49_853_406, ("mig_a30", "underfilled"): 1_256_152_321,
               ("mig_a30", "small_blocks"): 657_425_514, ("gaussian_osrt_sched_samples", "small_blocks"): 2_360_409_719}
        for (name, what), ns in won.items():
            row = next(r for r in read_csv(artifacts(real(name)), "losses") if r["what"] == what)
            self.assertEqual(ns_of_ms(row["gain_ms"]), ns)

    def test_no_rate_that_no_memory_reaches(self):
        """One row says four gigabytes in a microsecond."""
        out = artifacts(real("mordred_2021"))
        rates = {r["direction"]: r["gb_per_s"] for r in read_csv(out, "memory_transfers")}
        self.assertEqual([direction for direction, rate in rates.items() if not rate], ["memset"])
        counted = [(r["source_table"], r["count"]) for r in read_csv(out, "data_quality") if r["check"] == "impossible-rate"]
        self.assertEqual(counted, [("CUPTI_ACTIVITY_KIND_MEMSET", "1")])
        answer = run("ask", out, "how fast are the copies").stdout.split("\nNext\n")[0]  # paths follow, which may hold any number
        self.assertNotIn("295", answer)

    def test_two_modes_of_attention(self):
        rows = [r for r in read_csv(artifacts(real("fsdp_2gpu")), "losses")
                if r["what"] == "bimodal" and "flash_fwd" in r["example"]]
        self.assertEqual(len(rows), 2)
        for row in rows:
            self.assertIn("17 calls of about 15", row["detail"])
            self.assertAlmostEqual(float(row["high_median_us"]), 7_865, delta=10)

    def test_no_output_of_programs_and_no_environment(self):
        for name, out in self.each():
            for table in ("capture_health", "workload", "workload_evidence", "losses", "active_spans"):
                self.assertNotIn("CANARY", str(read_csv(out, table)))


def gpu_parts(export):
    """Time with compute, with communication and no compute, with copies only, over all GPUs: a sweep over the rows of the export."""
    db = sqlite3.connect(f"file:{export}?mode=ro", uri=True)
    kinds = {"KERNEL": 0, "GRAPH_TRACE": 0, "MEMCPY": 2, "MEMSET": 2}
    edges = []
    for (table,) in db.execute("select name from sqlite_master where name like 'CUPTI_ACTIVITY_KIND_%'").fetchall():
        kind = kinds.get(table.removeprefix("CUPTI_ACTIVITY_KIND_"))
        if kind is None:
            continue
        names = {row[1] for row in db.execute(f"pragma table_info({table})")}
        name = "(select value from StringIds where id = shortName)" if "shortName" in names else "''"
        for start, end, short in db.execute(f"select start, end, {name} from {table}"):
            mine = 1 if kind == 0 and "nccl" in (short or "").lower() else kind
            edges += [(start, mine, 1), (end, mine, -1)]
    open_, parts, last = [0, 0, 0], [0, 0, 0], None
    for t, kind, step in sorted(edges):
        running = next((k for k in range(3) if open_[k]), None)
        if running is not None:
            parts[running] += t - last
        open_[kind] += step
        last = t
    return parts


class CaptureTime(unittest.TestCase):
    def check(self, export, out):
        rows = read_csv(out, "capture_time")
        db = sqlite3.connect(f"file:{export}?mode=ro", uri=True)
        total = sum(int(r["duration_ns"]) for r in rows)
        if db.execute("select 1 from sqlite_master where name = 'ANALYSIS_DETAILS'").fetchone():
            for (duration,) in db.execute("select duration from ANALYSIS_DETAILS"):
                self.assertEqual(total, duration)
        if rows:
            self.assertAlmostEqual(sum(float(r["pct_of_capture"]) for r in rows), 100, delta=0.01)
        found = [sum(int(r["duration_ns"]) for r in rows if r["part"] == part and r["phase"] in ("set_up", "gpu", "between"))
                 for part in ("compute", "communication", "copy")]
        self.assertEqual(found, gpu_parts(export))
        gpus = read_csv(out, "gpu_active")
        if len(gpus) == 1:  # one base: what the report calls active, and what it leaves out of that
            phases = {phase: sum(int(r["duration_ns"]) for r in rows if r["phase"] == phase) for phase in ("gpu", "between")}
            self.assertEqual(phases["gpu"], support.ns_of_ms(gpus[0]["active_ms"]))
            checks = sum(support.ns_of_ms(s["duration_ms"]) for s in read_csv(out, "active_spans") if s["kind"] == "check")
            self.assertEqual(phases["between"], support.ns_of_ms(gpus[0]["pause_ms"]) + checks)
        verdict = support.Report(out).json["verdict"]["text"]
        line = next((line for line in (out / "report.md").read_text().splitlines() if re.match(r"[\d.]+.(ns|µs|ms|s): |\d+ min", line)), "")
        told = re.findall(r"([\d.]+).(ns|µs|ms|s) (?:before CUDA|setup|active|pauses|from first|afterwards|on the host)", line)
        scale = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
        if line and " min" not in line:  # what is recorded adds up to what the line begins with
            whole, unit = re.match(r"([\d.]+).(\w+): ", line).groups()
            self.assertAlmostEqual(sum(float(n) * scale[u] for n, u in told), float(whole) * scale[unit], delta=0.02 * float(whole) * scale[unit], msg=line)
        self.assertLessEqual(len(verdict.split()), 45, verdict)
        self.assertNotIn("No steady state", verdict)

    def test_scenarios(self):
        for scenario in support.SCENARIOS:
            with self.subTest(scenario):
                if not scenario.startswith("hostile"):  # times that no export has
                    self.check(trace(scenario), artifacts(trace(scenario)))

    @unittest.skipUnless(real("wsl_api_without_gpu"), "no reference traces")
    def test_real_exports(self):
        for name in SPANS:
            with self.subTest(name):
                self.check(real(name), artifacts(real(name)))

    @unittest.skipUnless(real("wsl_api_without_gpu"), "no reference traces")
    def test_phases_read_by_hand(self):
        for name in ("cutlass_two_gpu_kinds", "pytorch_dlprof_2020", "gaussian_osrt_sched_samples"):
            db = sqlite3.connect(f"file:{real(name)}?mode=ro", uri=True)
            (before,), (end,), (done,) = (db.execute(q).fetchone() for q in (
                "select min(start) from CUPTI_ACTIVITY_KIND_RUNTIME", "select duration from ANALYSIS_DETAILS",
                "select max(end) from (select end from CUPTI_ACTIVITY_KIND_KERNEL union all select end from CUPTI_ACTIVITY_KIND_MEMCPY)"))
            (exited,) = db.execute("select max(end) from PROFILER_OVERHEAD join StringIds on id = nameId where value like '%data flush%'").fetchone()
            tables = {row[0] for row in db.execute("select name from sqlite_master where type = 'table'")}
            for table, time in (("SCHED_EVENTS", "start"), ("OSRT_API", "end"), ("COMPOSITE_EVENTS", "start")):
                if table in tables and name == "gaussian_osrt_sched_samples":  # of an age in which a flush may be any
                    (seen,) = db.execute(f"select max({time}) from {table} where globalTid in (select globalTid from CUPTI_ACTIVITY_KIND_RUNTIME)").fetchone()
                    exited = max(exited, seen or 0)
            sums = {}
            for r in read_csv(artifacts(real(name)), "capture_time"):
                sums[r["phase"]] = sums.get(r["phase"], 0) + int(r["duration_ns"])
            self.assertEqual((sums["before_cuda"], sums["after"], sums.get("exited", 0)), (before, exited - done, end - exited))

    def test_waits_for_the_system_without_gpu_records(self):
        """In the longest gap between two calls the thread sleeps, then reads; a call inside of a CUDA call is that call's."""
        with contextlib.closing(sqlite3.connect(trace("api-only"))) as db:
            calls = db.execute("select start, end, globalTid from CUPTI_ACTIVITY_KIND_RUNTIME order by start").fetchall()
        gap, start, thread = max((b[0] - a[1], a[1], a[2]) for a, b in zip(calls, calls[1:]))
        sleep, read = gap // 2, gap // 4
        row = "INSERT INTO OSRT_API VALUES (%d, %d, 27, %d, 1, %d, 0, 0, NULL)"
        export = edited("api-only", "CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, "
                        "correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER, nestingLevel INTEGER, callchainId INTEGER)",
                        "INSERT INTO StringIds VALUES (900001, 'nanosleep'), (900002, 'read')",
                        row % (start, start + sleep, thread, 900001), row % (start + sleep, start + sleep + read, thread, 900002),
                        row % (calls[0][0], calls[0][1], thread, 900001))
        rows = read_csv(artifacts(export), "capture_time")
        found = {r["part"]: int(r["duration_ns"]) for r in rows if r["part"] in ("os_wait", "io")}
        self.assertEqual(found, {"os_wait": sleep, "io": read})

    def test_a_busy_share_below_a_twentieth_is_the_headline(self):
        out = artifacts(trace("pause"))
        text = support.Report(out).json["verdict"]["text"]
        self.assertRegex(text, r"^query_engine, 31\.2 s: .*active \(busy 30\.4 ms\), 30\.0 s pauses")
        self.assertEqual([row["duration_ns"] for row in read_csv(out, "capture_time") if row["counted"] == "0"], ["30000000000"])
        for finding in support.Report(out).json["findings"]:
            if finding["saving_ns"] is not None:
                self.assertAlmostEqual(float(finding["pct_of_capture"]), finding["saving_ns"] / 12_446_885.59, delta=0.01) # without the input that somebody types


    def test_findings_say_their_share_of_the_capture(self):
        said = support.Report(artifacts(trace("steps-input")))
        waits = next(f for f in said.json["findings"] if f["id"] == "data-loader-stall")
        self.assertLess(float(waits["pct_of_capture"]), float(waits["pct_of_active"]) / 5)
        self.assertRegex((said.directory / "report.md").read_text(), r"potential saving 66\.9.ms, 5\.58.ms per step, \d\d\.\d.% of active time, 6\.1.% of the capture")


class Failures(unittest.TestCase):
    """What the program printed and what its calls returned comes first, and the text stays hidden."""

    LINE = "reader: mesh.bin: No such file or directory, token CANARY"

    def with_output(self, scenario):
        return edited(scenario, "CREATE TABLE IF NOT EXISTS ProcessStreams (globalPid, filenameId, contentId)",
                      "INSERT INTO StringIds (id, value) VALUES (99001, 'pid_7_stderr.log'), (99002, '%s')" % self.LINE,
                      "INSERT INTO ProcessStreams (globalPid, filenameId, contentId) VALUES (281474976710656, 99001, 99002)")

    def test_without_a_cuda_call(self):
        export = self.with_output("empty")
        hidden = artifacts(export)
        verdict = support.Report(hidden).json["verdict"]
        self.assertEqual((verdict["severity"], verdict["text"]), ("high", "Program failed before any GPU work (missing file)."))
        for path in hidden.rglob("*"):
            if path.is_file():
                self.assertNotIn(b"CANARY", support.contents(path), path)
        shown = fresh_dir() / "shown"
        self.assertEqual(run("analyze", export, "--show-output", "--out", shown).returncode, 0)
        self.assertIn("reader: mesh.bin: No such file or directory", (shown / "report.md").read_text())

    def test_kernels_ran_all_the_same(self):
        said = support.Report(artifacts(self.with_output("cpp")))
        self.assertIn("(missing file)", said.json["verdict"]["text"])
        self.assertEqual(said.row("capture_health", check="did_its_work")["state"], "note")

    def test_errors_behind_which_nothing_runs(self):
        for code, state in ((700, "problem"), (2, "ok"), (600, "ok")):
            export = edited("host-bound", "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET returnValue = %d "
                            "WHERE start = (SELECT max(start) FROM CUPTI_ACTIVITY_KIND_RUNTIME)" % code)
            said = support.Report(artifacts(export))
            self.assertEqual(said.row("capture_health", check="did_its_work")["state"], state)
            self.assertEqual("illegal memory access" in said.json["verdict"]["text"], code == 700)
            if code == 700:
                self.assertNotIn("potential saving", said.json["verdict"]["text"])

    def test_a_call_that_never_returns(self):
        """Twenty seconds of one ioctl a second behind the last call, and the same with a flush by the profiler or without asking."""
        end = "(SELECT max(end) FROM CUPTI_ACTIVITY_KIND_RUNTIME)"
        longer = "UPDATE ANALYSIS_DETAILS SET duration = duration + 20000000000, stopTime = stopTime + 20000000000"
        asks = ("INSERT INTO StringIds (id, value) VALUES (99003, 'ioctl'), (99004, 'CUDA profiling data flush on process exit')",
                "WITH RECURSIVE s(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM s WHERE n < 19) INSERT INTO OSRT_API (start, end, eventClass, globalTid, nameId, returnValue) "
                f"SELECT {end} + n * 1000000000, {end} + n * 1000000000 + 2000, 27, (SELECT globalTid FROM OSRT_API LIMIT 1), 99003, 0 FROM s")
        flush = ("CREATE TABLE IF NOT EXISTS PROFILER_OVERHEAD (start, end, globalTid, correlationId, nameId, returnValue)",
                 f"INSERT INTO PROFILER_OVERHEAD (start, end, globalTid, nameId) SELECT {end} + 19000000000, {end} + 19100000000, globalTid, 99004 FROM OSRT_API LIMIT 1")
        for statements, hung in (((longer, *asks), True), ((longer,), False), ((longer, *asks, *flush), False)):
            text = support.Report(artifacts(edited("cpu-work", *statements))).json["verdict"]["text"]
            self.assertEqual("Program hung until it was ended (the last 20.0 s)" in text, hung, text)

    def test_a_memset_is_no_work(self):
        export = edited("steps-input", "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL", "DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY",
                        "CREATE TABLE IF NOT EXISTS CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId, globalPid, value, bytes, memKind)",
                        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId, globalPid, value, bytes) "
                        "SELECT start + 9000, start + 10000, 0, 1, 7, globalTid, 0, 4096 FROM CUPTI_ACTIVITY_KIND_RUNTIME LIMIT 1",
                        "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE nameId IN (SELECT id FROM StringIds WHERE value LIKE '%Launch%')")
        self.assertNotEqual(support.Report(artifacts(export)).row("capture_health", check="did_its_work")["state"], "ok")

    def test_no_false_alarm(self):
        failed = {"evidence", "failed"}
        for scenario in support.SCENARIOS:
            row = support.Report(artifacts(trace(scenario))).row("capture_health", check="program_output")
            self.assertEqual(row["state"] == "note", scenario in failed, scenario)

    @unittest.skipUnless(real("wsl_api_without_gpu"), "no reference traces")
    def test_no_false_alarm_on_real_exports(self):
        for name in SPANS:
            row = support.Report(artifacts(real(name))).row("capture_health", check="program_output")
            self.assertNotEqual(row["state"], "note", name)
        for export in sorted((TRACES / "series" / "triangular_solves").rglob("*.sqlite")):
            missing = b"fopen: No such file" in export.read_bytes()
            text = support.Report(artifacts(export)).json["verdict"]["text"]
            self.assertEqual("Program failed before any GPU work (missing file)" in text, missing, export)


class Scenarios(unittest.TestCase):
    def test_spans_partition_windows(self):
        for scenario in support.SCENARIOS:
            with self.subTest(scenario):
                out = artifacts(trace(scenario))
                windows = {r["device_id"]: r for r in read_csv(out, "gpu_utilization")}
                spans = read_csv(out, "active_spans")
                for row in spans:
                    parts = sum(int(row[c]) for c in ("compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns"))
                    self.assertEqual(parts, int(row["duration_ns"]))
                for device, window in windows.items():
                    mine = [r for r in spans if r["device_id"] == device]
                    for column, of in (("duration_ns", "window_ns"), ("compute_ns", "compute_ns"), ("idle_ns", "idle_ns"),
                                       ("exposed_comm_ns", "exposed_comm_ns"), ("exposed_copy_ns", "exposed_copy_ns")):
                        self.assertEqual(sum(int(r[column]) for r in mine), int(window[of]), column)

    def test_losses_are_no_more_than_the_active_time(self):
        for scenario in support.SCENARIOS:
            with self.subTest(scenario):
                out = artifacts(trace(scenario))
                active = {r["device_id"]: int(r["active_ns"]) for r in read_csv(out, "gpu_active")}
                for row in read_csv(out, "losses"):
                    self.assertLessEqual(ns_of_ms(row["time_ms"]), active[row["device_id"]])

    def test_patterns_of_the_user(self):
        patterns = fresh_dir() / "mine.yaml"
        patterns.write_text("framework:\n  our-engine:\n    kernels: ['re:.']\n")
        out = fresh_dir() / "o"
        first = run("analyze", trace("training"), "-v", "--out", out)
        again = run("analyze", trace("training"), "-v", "--workload", patterns, "--out", out)
        self.assertEqual((first.returncode, again.returncode), (0, 0))
        self.assertIn("our-engine", {r["value"] for r in read_csv(out, "workload_evidence")})
        ran = [line.split()[1] for line in again.stderr.splitlines() if " ran: " in line]
        self.assertIn("workload", ran)
        self.assertNotIn("losses", ran)
        self.assertNotIn("extract", ran)
        patterns.write_text("framework:\n  our-engine:\n    kernal: [x]\n")
        bad = run("analyze", trace("training"), "--workload", patterns, "--out", out)
        self.assertEqual(bad.returncode, 2)
        self.assertRegex(bad.stderr, r"mine\.yaml:3:5: ")


class Overhead(unittest.TestCase):
    def test_tables_agree(self):
        """What the profiler took is told twice, and is the same."""
        paths = [trace(name) for name in ("neglected", "profiler-flush", "launch-load")]
        paths += [path for path in map(real, SPANS) if path]
        for path in paths:
            directory = artifacts(path)
            health, = [r for r in read_csv(directory, "capture_health") if r["check"] == "profiler"]
            quality = [r for r in read_csv(directory, "data_quality") if r["check"] == "profiler-overhead"]
            told = [(r["count"], r["duration_ms"]) for r in quality] or [("0", "0.000000")]
            self.assertEqual([(health["count"], health["time_ms"])], told, path)
            self.assertEqual(read_csv(directory, "run_info")[0]["profiler_overhead_ms"], health["time_ms"], path)


class KernelsLost(unittest.TestCase):
    """Kernels were launched, and none of their rows can be used: what is left, copies, says nothing about idle time."""
    def test_no_loss_is_told(self):
        kernels = "CUPTI_ACTIVITY_KIND_KERNEL"
        for statement in (f'alter table {kernels} rename column "end" to endTime', f"drop table {kernels}", f'update {kernels} set "end" = start - 1',
                          f"update {kernels} set start = 'at ' || start"):
            directory = artifacts(support.edited("inference", statement))
            recorded, = [r for r in read_csv(directory, "capture_health") if r["check"] == "gpu_activity_recorded"]
            self.assertEqual(recorded["state"], "problem", statement)
            findings = read_csv(directory, "findings")
            self.assertEqual((findings[0]["id"], findings[0]["severity"]), ("no-gpu-activity-recorded", "high"), statement)
            self.assertEqual({f["severity"] for f in findings[1:] if f["saving_ms"]}, {"info"}, statement)
            self.assertNotIn("one-cold-pass", [f["id"] for f in findings])
            verdict = support.report(directory).json["verdict"]["text"]
            self.assertTrue(verdict.startswith("vLLM inference in Python. No GPU activity records"), verdict)
            self.assertNotIn("idle", verdict)

    def test_a_table_of_another_form_is_no_absent_one(self):
        """Not "CUDA was not traced", although nothing else of CUDA is there."""
        others = ("RUNTIME", "MEMCPY", "MEMSET", "SYNCHRONIZATION")
        directory = artifacts(support.edited("minimal", *(f"drop table if exists CUPTI_ACTIVITY_KIND_{name}" for name in others),
                                             "alter table CUPTI_ACTIVITY_KIND_KERNEL rename column start to begun"))
        self.assertEqual(support.report(directory).json["verdict"]["text"], "No GPU activity records (0 launch calls, 0 kernels).")
        self.assertIn('has no column "start"', (directory / "report.md").read_text())

    def test_copies_alone_are_a_program(self):
        """One that launches nothing, or whose graphs hold copies alone, or part of which is looked at."""
        launches = "(select id from StringIds where value like '%Launch%')"
        copies = support.edited("copy-bound", "drop table CUPTI_ACTIVITY_KIND_KERNEL", f"delete from CUPTI_ACTIVITY_KIND_RUNTIME where nameId in {launches}")
        graphs = support.edited("copy-bound", "drop table CUPTI_ACTIVITY_KIND_KERNEL", f"update StringIds set value = 'cudaGraphLaunch' where id in {launches}")
        failing = support.edited("copy-bound", "drop table CUPTI_ACTIVITY_KIND_KERNEL", f"update CUPTI_ACTIVITY_KIND_RUNTIME set returnValue = 98 where nameId in {launches}")
        for path in (copies, graphs, failing):
            self.check_recorded(artifacts(path))

    def test_one_row_is_not_all(self):
        """A kernel that could not be measured says nothing about a GPU, or a time, in which none ran."""
        one = support.edited("training", 'update CUPTI_ACTIVITY_KIND_KERNEL set start = 0, "end" = 0 where rowid = 1', "delete from CUPTI_ACTIVITY_KIND_KERNEL where deviceId = 1")
        self.check_recorded(support.analyze(one, "--gpu", "1"))

    def check_recorded(self, directory):
        recorded, = [r for r in read_csv(directory, "capture_health") if r["check"] == "gpu_activity_recorded"]
        self.assertEqual(recorded["state"], "ok", directory)


if __name__ == "__main__":
    support.main()
