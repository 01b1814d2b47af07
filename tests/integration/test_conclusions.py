"""Conclusions that a first edition of the program got wrong, each on a trace that provokes it, and what experts ask before any
percentage. docs/testing.md has the table. Traces are generated, some changed with SQL; a case with its like among exports of other
programs looks there, too, where they are present."""
import functools
import itertools
import json
import re
import shutil
import sqlite3
import unittest

import support
from support import SHARED, fresh_dir, trace

FRAMEWORK_WORDS = ("torch", "PyTorch", "DataLoader", "num_workers", "vLLM", "SGLang", "TensorRT", "JAX", "tokenis")


@functools.lru_cache(maxsize=None)
class Said:
    """What a report says: the verdict, findings by id, report.md, tables."""

    def __init__(self, path, *options):
        self.out = support.artifacts(path, *options)
        self.report = support.report(self.out)
        self.markdown = (self.out / "report.md").read_text(encoding="utf-8")
        self.verdict = next(line for line in self.markdown.splitlines() if line.startswith("**"))
        self.list = self.report.json["findings"]
        self.findings = {finding["id"]: finding for finding in self.list}
        self.advice = "\n".join(f["title"] + f["why"] + f["recommendation"] for f in self.list)

    def rows(self, table):
        return support.read_csv(self.out, table)

    def evidence(self, finding):
        return "\n".join(e["text"] for e in self.findings[finding]["evidence"])

    def section(self, title):
        return self.markdown.split(f"<details><summary>{title}</summary>\n")[1].split("\n</details>")[0]


def generated(scenario, *options):
    return Said(trace(scenario), *options)


def real(name):
    """A report on an export of another program, or None."""
    for path in (SHARED / "traces" / f"{name}.sqlite", SHARED / "traces" / "real" / f"{name}.sqlite"):
        if path.exists():
            return Said(path)
    return None


def edited(path, name, *statements):
    """A report on a trace that was changed."""
    copy = fresh_dir("edited") / f"{name}.sqlite"
    shutil.copyfile(path, copy)
    db = sqlite3.connect(copy)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()
    return Said(copy)


def sibling(series, name):
    """A report on one of several versions of a program, or None."""
    path = SHARED / "traces" / "series" / series / f"{name}.sqlite"
    return Said(path) if path.exists() else None


def each(*reports):
    return [report for report in reports if report]


class DominantKernel(unittest.TestCase):
    def test_the_call_to_profile_is_found_again(self):
        """ncu counts the launches of a process whose function has that name: so does the export, which has the names itself."""
        paths = [trace(scenario) for scenario in ("nvtx-mix", "eight-gpus", "two-processes", "long-calls")]
        paths += [SHARED / "traces" / name for name in ("fsdp_2gpu.sqlite", "real/windows_wddm_cc120.sqlite", "real/jetson_orin.sqlite")]
        for path in filter(lambda path: path.exists(), paths):
            db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            calls = db.execute("""SELECT k.start, k.end - k.start, k.globalPid, s.value, coalesce(r.start, k.start) FROM
                CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName LEFT JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON
                r.correlationId = k.correlationId AND r.globalTid / 0x1000000 = k.globalPid / 0x1000000""").fetchall()
            rows = Said(path).rows("profile_targets")
            self.assertTrue(rows)
            for row in rows:
                found = [c for c in calls if (c[0], c[0] + c[1]) == (int(row["start_ns"]), int(row["end_ns"])) and c[3] == row["function"]]
                skips = [sum((c[2], c[3]) == (call[2], call[3]) and (c[4], c[0]) < (call[4], call[0]) for c in calls) for call in found]
                self.assertIn(int(row["launch_skip"]), skips, (path, row["function"]))  # several: GPUs that do the same at once

    def test_a_name_that_the_export_cut_is_found_by_how_it_begins(self):
        cut = edited(trace("long-calls"), "cut-names", "UPDATE StringIds SET value = 'search_tr...' WHERE value LIKE '%search_tree%'")
        verify = next(f["verify"] for f in cut.list if "--kernel-name" in f["verify"] and "search" in f["verify"])
        self.assertIn("--kernel-name 'regex:^search_tr' ", verify)

    def test_of_two_lengths_that_with_more_time_is_meant(self):
        row = next(r for r in generated("long-calls").rows("profile_targets") if r["function"] == "search_tree")
        lengths = sorted(d for d, in sqlite3.connect(trace("long-calls")).execute("""SELECT end - start FROM CUPTI_ACTIVITY_KIND_KERNEL k
                         JOIN StringIds s ON s.id = k.shortName WHERE s.value = 'search_tree'"""))
        usual = sum(d * d for d in lengths) / sum(lengths)
        self.assertEqual(float(row["duration_us"]) * 1000, min(lengths, key=lambda d: abs(d - usual)))

    def test_a_program_of_which_no_more_is_known_has_its_name(self):
        """An executable that all kernels come from; not an interpreter, nor one of several programs."""
        renamed = edited(trace("two-processes"), "two-programs", "UPDATE PROCESSES SET name = '/opt/other' WHERE pid = 7102")
        self.assertRegex(generated("two-processes").verdict, r": selected_inversion, ")
        self.assertNotRegex(renamed.verdict, "selected_inversion|other")
        self.assertNotIn("python3", generated("copy-bound").verdict)

    def test_without_names_of_processes_the_main_thread_has_it(self):
        nameless = edited(trace("two-processes"), "nameless", "DROP TABLE PROCESSES", """INSERT INTO ThreadNames SELECT
            (SELECT id FROM StringIds WHERE value = 'factorize'), 20, globalTid FROM (SELECT DISTINCT (globalTid & ~0xffffff) |
            ((globalTid >> 24) & 0xffffff) AS globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME)""")
        self.assertRegex(nameless.verdict, r": factorize, ")
        for said in each(real("mordred_2021")):
            self.assertRegex(said.verdict, r"\*\*High: testqo, ")

    def test_what_the_verdict_names_of_a_phase(self):
        """A call that takes a third of what follows the work, with its time; threads that are waited for by what they are."""
        for found, words in ((real("tensorrt_inference"), r"879\.2 ms afterwards \(cuModuleUnload\)"),
                             (real("unified_memory"), r"setup \(drand\)"), (real("windows_wddm_cc120"), r"of 10 min 18 s \(10 min 16 s pauses \(no CUDA call\)\)")):
            if found:
                self.assertRegex(found.verdict, words)
                self.assertNotIn("Start with `pthread_join`", found.advice)
                self.assertNotIn("Start with `cu", found.advice)

    def test_idle_time_is_named_once(self):
        """By the less certain loss, where there is one."""
        cameras = each(sibling("jetson_lab", "report14"), sibling("jetson_lab", "report15"))
        for said in [generated("cpp")] + cameras:
            self.assertRegex(said.verdict, "No actionable finding")
            self.assertEqual(said.verdict.lower().count("host-bound"), said in cameras, said.verdict)

    def test_what_repeats_in_a_small_part_says_nothing_of_the_whole(self):
        """64 % of a repetition are 10 % of the run where repetitions take a sixth of it."""
        storm = generated("launch-storm")
        tried = [row for row in storm.rows("what_if") if row["state"] != "refused"]
        self.assertTrue(tried)
        for row in tried:
            self.assertEqual(row["scope"], "unit")
            self.assertLess(float(row["now_ms"]) * int(row["repetition_count"]), sum(float(gpu["active_ms"]) for gpu in storm.rows("gpu_active")) / 2)
        self.assertFalse([finding["id"] for finding in storm.list if finding["simulated"]])
        self.assertNotIn("imulated", storm.verdict)

    def test_a_simulated_saving_beside_shares_of_the_capture_says_what_it_is_of(self):
        for said in each(sibling("triangular_solves", "nsys_report__report_level")):
            self.assertRegex(said.verdict, r"simulated saving [\d.]+ µs of [\d.]+ ms per repetition \([\d.]+ %\); then [a-z ]+ \([\d.]+ % of the capture\)")

    @support.tier("ci")
    def test_explaining_a_kernel_prints_the_same_command(self):
        for said in each(generated("two-processes"), generated("training"), real("openmp_offload"), real("windows_wddm_cc120")):
            for name, rows in itertools.groupby(sorted(said.rows("profile_targets"), key=lambda row: row["kernel_name"]), lambda row: row["kernel_name"]):
                commands = [f"--kernel-name '{row['kernel_filter']}' --launch-skip {int(row['launch_skip'])} --launch-count 1 " for row in rows]
                printed = support.run("explain", said.out, name).stdout
                self.assertTrue(any(command in printed for command in commands), (commands, printed))  # of the GPU with most of it

    def test_it_is_said_where_nothing_else_is_wrong(self):
        said = generated("two-processes")
        finding = said.findings["dominant-kernel"]
        self.assertEqual((finding["severity"], finding["place"], finding["saving_ns"]), ("low", "factorize", None))
        self.assertIn("ncu --set full --kernel-name factorize --launch-skip ", finding["verify"])
        for said in each(real("jetson_orin")):
            text = said.evidence("dominant-kernel")
            self.assertIn("one block of 256 threads on 8 multiprocessors", text)
            self.assertNotIn("for scale", text)  # what is copied there is drawn: it is no input of this kernel
            self.assertEqual(said.findings["dominant-kernel"]["severity"], "info")  # too few blocks is the finding
        for said in each(real("mig_a30")):
            self.assertIn("10 blocks of 16 threads on 28 multiprocessors", said.evidence("dominant-kernel"))
        for said in each(real("windows_wddm_cc120")):
            self.assertEqual([(f["place"], f["severity"]) for f in said.list if f["id"] == "dominant-kernel"],
                             [("naive_gemm", "low"), ("tiled_gemm", "low")])
        for said in each(real("gaussian_osrt_sched_samples")):
            self.assertRegex(said.evidence("dominant-kernel"), "for scale: reading the 128.0 MiB copied from the host takes 143.4 µs .*; the call takes 4.83 times that")


class Bounds(unittest.TestCase):
    """What a finding says can be saved at most, against a program without the loss."""

    def hold(self, lossy, better, finding, most):
        """Saved: active time. `most`: a bound further off says nothing."""
        active = [sum(support.ns_of_ms(row["active_ms"]) for row in said.rows("gpu_active")) for said in (lossy, better)]
        said, won = lossy.findings[finding]["saving_ns"], active[0] - active[1]
        self.assertGreater(won, 0)
        self.assertTrue(won <= said <= most * won, (finding, said, won))

    def test_generated_pairs(self):
        self.hold(generated("loop-waits"), generated("loop"), "idle-queue-drained", 1.5)
        self.hold(generated("loop"), generated("loop-fused"), "unfused-elementwise", 1.5)
        lossy, queued = one_at_a_time(trace("no-nvtx")), one_at_a_time(trace("no-nvtx"), queued=True)
        self.hold(Said(lossy), Said(queued), "idle-wait-per-launch", 1.1)

    def test_versions_of_one_program(self):
        """10 blocks of 16, of 64, one of 512 threads; then 10 of 512."""
        better = sibling("nussinov", "21b0fb7_report3")
        for version in ("05248f4_report6", "6309b89_report7", "44251bf_report1") if better else ():
            with self.subTest(version):
                self.hold(sibling("nussinov", version), better, "underfilled", 1.5)

    def test_a_price_says_what_it_is_for(self):
        """Frames of a camera: the next version has more blocks, and reads its image another way. More blocks alone are priced."""
        better = sibling("jetson_lab", "report14")
        for version in ("report3", "report6", "report12") if better else ():
            lossy = sibling("jetson_lab", version)
            compute, frames = [], []
            for said in (lossy, better):
                kernels = said.rows("kernels")
                frames.append(next(int(row["call_count"]) for row in kernels if row["kernel_name"].startswith("void I420ToRGB")))
                compute.append(sum(support.ns_of_ms(row["total_time_ms"]) for row in kernels if "istogram" in row["kernel_name"]))
            won = compute[0] / frames[0] - compute[1] / frames[1]
            said = lossy.findings["underfilled"]["saving_ns"] / frames[0]
            self.assertTrue(0.8 * won <= said <= 1.1 * won, (version, said, won))
            self.assertIn("with more blocks alone", lossy.evidence("underfilled"))
            self.assertIn("6 such blocks fit on an SM: the grid fills 0.02 of a wave", lossy.evidence("underfilled"))
            self.assertNotIn("upper bound", lossy.evidence("underfilled"))

    def test_no_sibling_beats_a_bound(self):
        """The mean call of a kernel in every version of a program against every other: who says "at most" of a kernel must hold."""
        exceeded, shared = set(), support.exports(series=True)
        for series in ("nussinov", "jetson_lab", "triangular_solves"):
            said = [Said(path) for path in support.exports(series=True) if path.parent.name == series or series in path.parts]
            calls = [{re.match(r"(?:void )?(\w+)", row["kernel_name"])[1]: (support.ns_of_ms(row["total_time_ms"]), int(row["call_count"]))
                      for row in report.rows("kernels")} for report in said]
            for report, mine in zip(said, calls):
                for finding in report.findings.values():
                    total, count = mine.get(finding["place"], (0, 0))
                    best = min((of[finding["place"]][0] / of[finding["place"]][1] for of in calls if finding["place"] in of), default=0)
                    if total and finding["saving_ns"] and total - best * count > 1.02 * finding["saving_ns"]:
                        exceeded.add((finding["id"], finding["saving_is"]))
        self.assertEqual(exceeded, {("underfilled", "estimate"), ("small-blocks", "estimate")} if shared else set())

    def test_no_version_wins_more_than_all_findings_say(self):
        """Every version of a program against every faster one: what was won lies below the findings that are no part of others."""
        noise = 0.02
        for series in ("nussinov", "triangular_solves"):
            said = [Said(path) for path in support.exports(series=True) if path.parent.name == series or series in path.parts]
            active = {report: max((support.ns_of_ms(row["active_ms"]) for row in report.rows("gpu_active")), default=0) for report in said}
            pairs = [(a, b) for a in said for b in said if active[b] and active[a] - active[b] > noise * active[a]]
            self.assertEqual(bool(pairs), bool(said), series)
            for lossy, better in pairs:
                total = sum(int(row["saving_ns"]) for row in lossy.rows("findings")
                            if row["saving_ns"] and row["share_of"] == "active time" and not row["part_of"])
                with self.subTest((str(lossy.out), str(better.out))):
                    self.assertGreaterEqual(total, active[lossy] - active[better])

class Causes(unittest.TestCase):
    def test_the_launch_call_not_the_code_around_it_takes_the_time(self):
        for said in each(generated("launch-load"), real("cuda_small")):
            longest = said.rows("gpu_idle_gaps")[0]
            self.assertEqual(longest["cause"], "module_load")
            self.assertNotIn("idle-host-code", said.findings)
            self.assertNotRegex(said.advice, "data loading|tokenis")

    def test_the_profilers_flush_is_nobodys_loss(self):
        for said in each(generated("profiler-flush"), real("fsdp_2gpu")):
            self.assertIn("profiler", {row["cause"] for row in said.rows("gpu_idle_gaps")})
            self.assertEqual(said.findings["idle-profiler"]["severity"], "info")
        flushed = generated("profiler-flush")
        self.assertEqual({f["severity"] for f in flushed.list if f["id"] != "dominant-kernel"}, {"info"})  # nothing else is wrong there

    def test_graph_launches_are_gpu_time_of_their_phase(self):
        phases = {row["phase"]: row for row in generated("graphs", "--phase-map", "inference").rows("nvtx_phases")}
        graphs = generated("graphs").rows("gpu_utilization")[0]
        decode = float(phases["decode"]["gpu_time_ms"])
        self.assertGreater(decode, 0.9 * float(graphs["graph_envelope_ns"]) / 1e6)
        self.assertGreater(float(phases["decode"]["pct_of_gpu_time"]), 90)
        self.assertLess(float(phases.get("sampling", {"pct_of_gpu_time": 0})["pct_of_gpu_time"]), 10)
        for scenario in ("graphs", "training", "copy-bound"):
            said = generated(scenario, "--phase-map", "pytorch-fsdp" if scenario == "training" else "inference")
            total = sum(support.ns_of_ms(row["gpu_time_ms"]) for row in said.rows("nvtx_phases"))
            self.assertEqual(total, work_of_gpus(trace(scenario)), scenario)
            ranges = {row["range_name"]: row for row in said.rows("nvtx_ranges")}
            self.assertEqual(sum(support.ns_of_ms(r["self_gpu_time_ms"]) for r in ranges.values()), work_in_ranges(trace(scenario)))

    def test_a_wait_that_drains_the_queue_is_charged_with_what_follows(self):
        for said in each(generated("host-bound"), real("fsdp_2gpu")):
            drained = said.findings["idle-queue-drained"]
            self.assertIn("likely, not proved", drained["why"])
            self.assertRegex(said.evidence("idle-queue-drained"), "cudaStreamSynchronize")
        if real("fsdp_2gpu"):
            self.assertIn("aten::to", real("fsdp_2gpu").evidence("idle-queue-drained"))
            self.assertGreater(max(float(r["pct_of_idle"]) for r in real("fsdp_2gpu").rows("idle_causes")), 50)

    def test_a_wait_after_each_launch_is_one_cause(self):
        """Of 50 us between two kernels 10 are the wait's end, 20 the way to the next launch, 15 the launch, 5 its latency."""
        said = Said(one_at_a_time(trace("no-nvtx")))
        finding, row = said.findings["idle-wait-per-launch"], said.rows("launch_waits")[0]
        gaps = int(row["launch_count"])
        self.assertEqual((row["kind"], int(row["wait_count"]), row["round_calls"]), ("loop", gaps, "cudaLaunchKernel, cudaStreamSynchronize"))
        self.assertEqual([support.ns_of_ms(row[part]) for part in ("in_wait_ms", "behind_wait_ms", "in_launch_ms", "latency_ms", "idle_ms")],
                         [gaps * 10_000, gaps * 20_000, gaps * 15_000, gaps * 5_000, gaps * 50_000])
        self.assertEqual((finding["severity"], finding["saving_ns"]), ("high", gaps * 50_000))
        self.assertFalse({"idle-blocking-call", "idle-queue-drained", "idle-launch-call"} & set(said.findings))
        for said in each(real("windows_wddm_cc120"), real("openmp_offload")):
            self.assertIn("idle-wait-per-launch", said.findings)
            self.assertFalse({"idle-blocking-call", "idle-queue-drained", "idle-launch-call"} & set(said.findings))
            in_waits = {row["cause"]: float(row["active_ms"]) for row in said.rows("idle_causes")}
            row = said.rows("launch_waits")[0]
            self.assertLessEqual(float(row["in_wait_ms"]), in_waits["blocking_call"])
            self.assertGreater(float(row["in_wait_ms"]), 0.85 * in_waits["blocking_call"])
        # one wait in many launches is another matter
        for said in each(generated("host-bound"), generated("inference"), generated("loop-waits"), real("fsdp_2gpu")):
            self.assertNotIn("idle-wait-per-launch", said.findings)

    def test_a_loop_is_one_finding_with_its_parts(self):
        """Each of 400 rows allocates, fills, copies and waits: 5 causes of idle time, one reason."""
        said = generated("row-loop")
        row, = said.rows("launch_waits")
        self.assertEqual((row["kind"], row["place"], int(row["wait_count"]), row["launches_per_wait"]), ("loop", "row", 400, "2.000"))
        self.assertEqual(row["round_calls"], "cudaMalloc, cudaLaunchKernel, cudaMemcpyAsync, cudaStreamSynchronize")
        parts = {"in_wait_ms": 4000, "behind_wait_ms": 3100, "in_launch_ms": 15000, "allocation_ms": 7000, "latency_ms": 3000}
        self.assertEqual({part: support.ns_of_ms(row[part]) for part in parts}, {part: 400 * ns for part, ns in parts.items()})
        self.assertEqual([f["id"] for f in said.list if f["id"].startswith(("idle-", "launch-bound", "allocation"))], ["idle-wait-per-launch"])
        finding = said.findings["idle-wait-per-launch"]
        self.assertEqual((finding["severity"], finding["saving_ns"], finding["place"]), ("high", 400 * 32_100, "row"))
        for said in each(real("openacc_2021"), sibling("triangular_solves", "nsys_report__report_level")):
            loop, idle = said.findings["idle-wait-per-launch"], sum(support.ns_of_ms(r["active_ms"]) for r in said.rows("idle_causes"))
            self.assertGreater(loop["saving_ns"], 0.93 * idle)
            self.assertFalse({"idle-launch-call", "idle-blocking-call", "idle-queue-drained", "idle-host-code", "launch-bound",
                              "allocation-in-steady-state"} & set(said.findings))

    def test_what_follows_a_wait_is_one_finding_of_its_place(self):
        """Of 12 waits in 12 places of one name: 4 us until they return, 84 us until launches begin, 28.5 us inside those."""
        row, = generated("drained-queue").rows("launch_waits")
        self.assertEqual((row["kind"], row["place"], int(row["wait_count"])), ("wait", "transformer_block > aten::to", 12))
        self.assertEqual([support.ns_of_ms(row[part]) for part in ("in_wait_ms", "behind_wait_ms", "in_launch_ms", "idle_ms")],
                         [12 * 4_000, 12 * 84_000, 12 * 28_500, 12 * 116_500])
        for said in each(real("fsdp_2gpu")):
            drained = said.findings["idle-queue-drained"]
            charged = max(support.ns_of_ms(r["total_ms"]) for r in said.rows("idle_causes") if r["cause"] == "queue_drained")
            self.assertGreater(drained["saving_ns"], 1.1 * charged)
            self.assertEqual(drained["place"], "cudaStreamSynchronize in aten::to > aten::_to_copy > aten::copy_")

    def test_losses_name_their_phase(self):
        said = generated("drained-queue")
        lost = {(r["loss"], r["range_name"]): (support.ns_of_ms(r["time_ms"]), float(r["pct"])) for r in said.rows("range_losses")}
        self.assertEqual(lost["queue_drained", "aten::to"], (12 * 84_000, 100))
        self.assertEqual(lost["queue_drained", "transformer_block"], (12 * 84_000, 100))
        self.assertEqual(lost["blocking_call", "aten::to"][0], 12 * 4_000)  # but for the wait before the file is written
        self.assertNotIn(("host_code", "aten::to"), lost)
        self.assertIn("(100.0 %) under transformer_block", said.evidence("idle-host-code"))
        for said in each(real("fsdp_2gpu")):
            self.assertIn(" under AllToAll4D", said.evidence("exposed-communication"))

    def test_spacing_of_queued_kernels_is_no_lateness_of_launches(self):
        said = generated("inference")  # thousands of kernels, launched long before, with a microsecond between them
        row = next(r for r in said.rows("idle_causes") if r["cause"] == "launch_latency")
        self.assertLess(1000 * float(row["active_ms"]) / int(row["active_count"]), 4)
        finding = said.findings["launch-bound"]
        self.assertNotIn("Launch-bound", finding["title"])
        self.assertNotIn("enforce-eager", finding["recommendation"])

    def test_a_gap_is_not_blamed_on_a_moment_of_it(self):
        """A call of the operating system that fills less than a twentieth of a gap says nothing of it; a wait was before it."""
        name = "SELECT id FROM StringIds WHERE value = 'moment'"
        shortened = edited(trace("cpu-work"), "moments", "INSERT INTO StringIds (id, value) VALUES (910000, 'moment')",
                           f"UPDATE OSRT_API SET end = start + (end - start) / 40, nameId = ({name})")
        self.assertNotIn("moment", {row["host_activity"] for row in shortened.rows("gpu_idle_gaps") if float(row["gap_ms"]) > 1})
        self.assertTrue({row["host_activity"] for row in generated("cpu-work").rows("gpu_idle_gaps")} & {"pthread_mutex_lock", "read"})
        for said in each(generated("host-bound"), generated("drained-queue"), real("fsdp_2gpu")):
            drained = [row for row in said.rows("gpu_idle_gaps") if row["cause"] == "queue_drained"]
            self.assertTrue(drained)
            for row in drained:
                self.assertRegex(row["wait_before"], "Synchronize|Memcpy")
                self.assertNotIn("Synchronize", row["host_activity"])
        for said in each(generated("pause"), real("mordred_2021")):  # nor is the work on what fills the pauses
            answer = support.run("ask", said.out, "why is my GPU idle").stdout
            self.assertNotRegex(answer, "getc|longest 4.66 s")

    def test_a_pause_is_no_idle_time_of_the_work(self):
        for said in each(generated("pause"), real("windows_wddm_cc120"), real("mordred_2021")):
            self.assertIn("pause-dominates", said.findings)
            like = [f["id"] for f in said.list if f["severity"] == said.findings["pause-dominates"]["severity"]]
            self.assertEqual(like[-1], "pause-dominates", "nothing to fix comes after what is")
            self.assertNotRegex(said.verdict, r"9\d\.\d % idle")
            spans = [(s["device_id"], int(s["start_ns"]), int(s["end_ns"])) for s in said.rows("active_spans") if s["kind"] == "active"]
            gaps = [(g["device_id"], int(g["gap_start_ns"]), int(g["gap_end_ns"])) for g in said.rows("gpu_idle_gaps")]
            for gpu in said.rows("gpu_active"):
                causes = [c for c in said.rows("idle_causes") if c["device_id"] == gpu["device_id"]]
                self.assertEqual(sum(support.ns_of_ms(c["active_ms"]) for c in causes), int(gpu["idle_ns"]))
                longest = max((e - s for d, s, e in gaps for d2, a, b in spans if d == d2 == gpu["device_id"] and a <= s and e <= b),
                              default=0)
                for cause in causes:
                    self.assertLessEqual(int(cause["active_count"]), int(cause["part_count"]))
                    self.assertLessEqual(support.ns_of_ms(cause["active_longest_ms"] or 0), longest)
            for finding in said.list:
                if finding["id"].startswith("idle-"):  # evidence is about the priced time, not about the pause
                    self.assertNotRegex(said.evidence(finding["id"]), r"\d min|getc|[4-9]\.\d\d s|\d\d\.\d s")


class Priorities(unittest.TestCase):
    def test_the_largest_loss_comes_first_and_silences_no_other(self):
        # copies shortened: the GPU copies for a fifth of the time, hardly computes and idles for the rest
        path = trace("copy-bound")
        said = edited(path, "copies-and-idle",
                      "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET end = start + (end - start) * 23 / 100")
        idle = [f for f in said.list if f["id"].startswith("idle-")]
        copies = said.findings["exposed-copy"]
        self.assertTrue(idle)
        self.assertGreater(idle[0]["saving_ns"], copies["saving_ns"])
        self.assertLess(said.list.index(idle[0]), said.list.index(copies))
        for said in each(said, real("two_processes_one_gpu")):
            self.assertNotIn("copy-bound", said.verdict)
            self.assertTrue({"exposed-copy", "idle-host-code", "idle-launch-call"} & set(said.findings))
            self.assertTrue(any(f["id"].startswith("idle-") and f["severity"] in ("medium", "high") for f in said.list))

    def test_what_is_known_comes_before_what_is_only_called(self):
        """Graphs made anew are time in some CUDA call: the finding that says so has the price, the general one the rest."""
        said = generated("graph-churn")
        graphs, calls = said.findings["graph-reinstantiated"], said.findings["idle-cuda-call"]
        self.assertLess(said.list.index(graphs), said.list.index(calls))
        in_calls = sum(support.ns_of_ms(r["active_ms"]) for r in said.rows("idle_causes") if r["cause"] == "cuda_call")
        self.assertEqual(graphs["saving_ns"] + calls["saving_ns"], in_calls)

    def test_titles_take_the_greatest_and_one_finding_names_all_gpus(self):
        for said in each(generated("eight-gpus"), generated("training"), real("fsdp_2gpu")):
            ids = [f["id"] for f in said.list]
            self.assertEqual(len(ids), len(set(ids)))
            worst = max(float(r["exposed_comm_ms"]) for r in said.rows("gpu_active"))
            self.assertAlmostEqual(said.findings["exposed-communication"]["saving_ns"] / 1e6, worst, delta=0.000001)
        for said in each(generated("bimodal"), real("fsdp_2gpu")):
            row = next(line for line in said.section("Top kernels by total GPU time").splitlines() if "`flash_fwd_kernel" in line)
            self.assertRegex(row, r"17 calls of about [\d.]+ µs and 17 of about 7\.87 ms")
            self.assertNotIn("4.01 ms", row)
        losses = [row for row in generated("bimodal").rows("losses") if row["what"] == "bimodal"]
        self.assertTrue(losses)
        self.assertTrue(all(float(r["low_median_us"]) < float(r["high_median_us"]) / 2 for r in losses))

    def test_what_takes_the_time_is_no_finding_by_itself(self):
        for scenario in ("neglected", "training", "inference", "copy-bound", "bimodal", "pytorch-like"):
            for finding in generated(scenario).list:
                self.assertNotRegex(finding["title"], "of the kernel time on|copy-bound", scenario)
        for said in each(generated("two-processes"), real("tensorrt_inference"), real("line_fitting"), real("openmp_offload")):
            self.assertIn(said.findings.get("dominant-kernel", {"severity": "low"})["severity"], ("low", "info"))

    def test_little_to_save_is_said_of_the_capture(self):
        """A large share of some milliseconds of GPU work is next to nothing of seconds: below 1 % of the capture the verdict says so. What
        somebody needs to type does not count."""
        told = []
        for said in each(generated("cold"), generated("shapes"), generated("host-bound"), generated("copy-bound"), real("mordred_2021"), real("fsdp_2gpu")):
            counted = sum(float(row["duration_ms"]) for row in said.rows("capture_time")
                          if row["phase"] not in ("not_recorded", "exited") and row["part"] != "input")
            first = next(f for f in said.list if f["severity"] != "info" and f["saving_ns"])
            told.append("Little to save in the GPU work: " in said.verdict)
            self.assertEqual(told[-1], first["saving_ns"] / 1e6 < counted / 100, said.verdict)
        self.assertEqual(set(told), {False, True})

    def test_the_verdict_names_the_first_finding(self):
        """Also where that is no work of the GPU's; what costs most there follows."""
        for said in each(generated("steps"), real("pytorch_dlprof_2020"), real("sandbox_copy_heavy"), sibling("nussinov", "471ff56_report10")):
            losses = [f for f in said.list if f["severity"] != "info"]
            self.assertEqual(losses[0]["scope"], "run")
            on_gpu = next(f for f in losses if f["scope"] != "run" and not f["part_of"])
            self.assertRegex(said.verdict, re.escape(losses[0]["title"]) + ".*; then ." + re.escape(on_gpu["title"][1:]))

    def test_no_informative_finding_precedes_a_loss(self):
        for said in each(generated("pause"), generated("nvtx-only"), real("cutlass_two_gpu_kinds"), real("unified_memory")):
            ranks = [("info", "low", "medium", "high").index(f["severity"]) for f in said.list]
            self.assertEqual(ranks, sorted(ranks, reverse=True))

    def test_shares_that_are_not_of_the_active_time_name_their_base(self):
        """Beside each finding, and there of all where the verdict's are of the capture."""
        bases = set()
        for said in each(generated("pause"), generated("neglected"), generated("steps-input"), real("mordred_2021"), real("cuda_small")):
            first = said.markdown.split("\nDetails, timeline")[0]
            for finding in said.rows("findings"):
                line = next((line for line in first.splitlines() if f"**{finding['title']}**" in line and "potential saving" in line), "")
                base = re.search(r"\([\d.<>]+\u00a0%( of [a-z ]+)?\) potential", line)
                if base:
                    of = {"active time": " of active time" if "active (busy" in said.verdict else None}.get(finding["share_of"], f" of the {finding['share_of']}")
                    self.assertEqual(base.group(1), of, line)
                    bases.add(of)
        self.assertGreaterEqual(bases, {None, " of the capture", " of active time"})

    def test_hosts_title_says_busy_only_where_something_saw_it(self):
        """By the thread with most of that time: the records of the scheduler, else samples."""
        titles = set()
        blind = edited(trace("cpu-work"), "blind", "DROP TABLE SCHED_EVENTS", "DROP TABLE COMPOSITE_EVENTS")
        for said in each(generated("cpu-work"), blind, real("jetson_orin"), real("mordred_2021")):
            finding = said.findings["idle-host-code"]
            rows = [r for r in said.rows("gap_activity") if r["scope"] == "host_code"]
            most = max(rows, key=lambda r: float(r["total_ms"]), default={})
            part = lambda *columns: max(float(most.get(c) or 0) for c in columns) / float(most.get("total_ms", 1)) > 0.5
            said_of = ("Host-bound: thread off-CPU between launches" if part("off_cpu_ms")
                       else "Host-bound: CPU busy between launches" if part("on_cpu_ms", "sampled_ms") else "Host-bound: GPU waits for launches")
            self.assertEqual(finding["title"], said_of, said.out)
            titles.add(said_of)
        self.assertGreaterEqual(len(titles), 2, titles)

    def test_one_denominator_in_prose(self):
        for said in each(generated("neglected"), real("fsdp_2gpu")):
            self.assertNotRegex(said.markdown, r"% of (this GPU's|the|all) kernel time")
            active = [float(row["active_ms"]) for row in said.rows("gpu_active")]
            kernels = said.rows("kernels")
            shares = [100 * float(row["total_time_ms"]) / max(active) for row in kernels]
            first = re.search(r"\| ([\d.]+)(-([\d.]+))?\u00a0% \|", said.section("Top kernels by total GPU time").split("Of active time")[1])
            self.assertAlmostEqual(float(first.group(3) or first.group(1)), max(shares), delta=0.6)


class Prices(unittest.TestCase):
    """A price is what can be won at most: what has to stay, or is hidden anyway, is taken off."""

    def test_of_a_fused_chain_one_kernel_stays(self):
        for said, path in pairs(("loop",), "fsdp_2gpu"):
            for row in (r for r in said.rows("losses") if r["what"] == "unfused"):
                chains = chains_of(said, path, int(row["device_id"]))
                self.assertEqual(support.ns_of_ms(row["time_ms"]), sum(map(sum, chains)))
                lost = sum(sum(c) - max(c) for c in chains) - support.ns_of_ms(row["gain_ms"])
                self.assertIn(lost, (0, beside_others(path, int(row["device_id"]))))
            worst = max(support.ns_of_ms(r["gain_ms"]) for r in said.rows("losses") if r["what"] == "unfused")
            self.assertEqual(said.findings["unfused-elementwise"]["saving_ns"], worst)

    def test_pinned_copies_take_time_too(self):
        for said, path in pairs(("copy-bound", "first-touch"), "cutlass_two_gpu_kinds", "mordred_2021"):
            db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            active = [(int(s["start_ns"]), int(s["end_ns"])) for s in said.rows("active_spans") if s["kind"] == "active"]
            for row in said.rows("copy_rates"):
                copies = db.execute("SELECT start, end, bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = ? AND srcKind = ? AND dstKind = ?",
                                    (row["copy_kind"], row["src_kind_id"], row["dst_kind_id"])).fetchall()
                limit = float(row["limit_gb_per_s"] or "inf")
                most = sum(max(0, e - s - b / limit) for s, e, b in copies if any(a <= s < z for a, z in active))
                self.assertLessEqual(support.ns_of_ms(row["at_limit_gain_ms"]), most)
                if path.stem in ("cutlass_two_gpu_kinds", "mordred_2021"):  # where no kernel runs beside a copy
                    won = support.ns_of_ms(row["at_limit_gain_ms"]) + support.ns_of_ms(row["first_touch_ms"])
                    self.assertGreater(won, most - len(copies) - 1)
            db.close()

    def test_a_launch_that_compiles_is_seen_without_gpu_records(self):
        long = "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET end = start + 30000000 WHERE rowid = (SELECT max(r.rowid) FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds ON id = nameId WHERE value LIKE 'cudaLaunchKernel%')"
        for said, is_long in ((generated("api-only"), False), (edited(trace("api-only"), "long", long), True)):
            self.assertEqual("30.0 ms, median" in said.evidence("no-gpu-activity-recorded"), is_long)

    def test_first_use_of_host_memory_is_not_for_pinning(self):
        """SQL over the exports: mordred's first five results beyond the later ones; cutlass' only one beyond the rate of copies to the GPU."""
        for name, low, high in (("mordred_2021", 122e6, 125e6), ("cutlass_two_gpu_kinds", 215e6, 215.5e6)):
            said = real(name)
            if said:
                row = next(r for r in said.rows("copy_rates") if r["copy_kind"] == "2")
                self.assertTrue(low < support.ns_of_ms(row["first_touch_ms"]) < high, row)
                self.assertIn("used for the first time", said.evidence("pageable-copies"))

    def test_what_pinning_does_not_save_is_no_reason_to_pin(self):
        told = set()
        for said in each(generated("first-touch"), generated("copy-bound"), generated("training"), real("cutlass_two_gpu_kinds"),
                         real("gaussian_osrt_sched_samples")):
            rates = said.rows("copy_rates")
            touch, gain = (sum(float(r[c]) for r in rates) for c in ("first_touch_ms", "at_limit_gain_ms"))
            exposed = sum(float(r["exposed_copy_ms"]) for r in said.rows("gpu_active"))
            advice = said.findings["exposed-copy"]["recommendation"]
            told.add((3 * touch > exposed, "**Pin**" in advice))
            self.assertEqual("**Copy into host buffers that were used before**" in advice, 3 * touch > exposed, said.out)
            if "**Pin**" in advice:
                self.assertGreaterEqual(4 * gain, exposed, said.out)
        self.assertGreaterEqual(len(told), 2, told)

    def test_a_pause_is_a_share_of_the_window(self):
        for said in each(generated("launch-load"), real("solver_nvtx_osrt_sched")):
            pause, gpu = said.findings["pause-module-load"], said.rows("gpu_active")[0]
            told = support.run("sql", said.out, "select pct_of_active, share_of from findings where id = 'pause-module-load'", "--format", "json").stdout
            (share, base), = json.loads(told)["rows"]
            self.assertEqual((pause["pct_of_active"], base), (None, "window"))
            self.assertAlmostEqual(share, pause["saving_ns"] / 1e4 / float(gpu["window_ms"]), places=3)
            self.assertNotRegex(said.verdict, r"loaded or compiled[^;.]*active time")

    def test_time_before_the_first_call_is_a_share_of_the_capture(self):
        for said in each(generated("cpu-work"), real("cutlass_two_gpu_kinds")):
            finding = said.findings["host-set-up-dominates"]
            self.assertIsNone(finding["pct_of_active"])
            self.assertGreater(float(finding["pct_of_capture"]), 50)
            answer = support.run("ask", said.out, "why does it take so long to start").stdout
            self.assertRegex(" ".join(answer.split()), r"before the first CUDA call \(high, run(?:; debug build)?\): at most [^%]*% of the capture")


class Places(unittest.TestCase):
    def test_a_place_holds_half_of_the_loss(self):
        said = [generated(name) for name in ("loop", "host-bound", "inference", "training", "tiny-copies", "cpu-work", "pause")]
        for said in each(*said, *(real(name) for name in ("fsdp_2gpu", "pytorch_dlprof_2020", "two_processes_one_gpu", "jetson_orin"))):
            for row in said.rows("idle_causes"):
                rule = {"host_code": "idle-host-code", "blocking_call": "idle-blocking-call", "queue_drained": "idle-queue-drained",
                        "in_launch_call": "idle-launch-call", "allocation": "allocation-in-steady-state"}.get(row["cause"])
                finding = said.findings.get(rule)
                if finding and row["active_what"] and finding["place"] == row["active_what"]:
                    self.assertGreaterEqual(2 * float(row["active_what_ms"]), float(row["active_ms"]))
            for row in said.rows("losses"):
                finding = said.findings.get({"unfused": "unfused-elementwise", "casts": "casts"}.get(row["what"]))
                if finding and 2 * float(row["example_ms"]) < float(row["time_ms"]):
                    self.assertFalse(finding["place"])
        if real("fsdp_2gpu"):
            self.assertFalse(real("fsdp_2gpu").findings["unfused-elementwise"]["place"])

    def test_communication_is_placed_and_advised_by_its_kind(self):
        exchange = edited(trace("training"), "exchanges", "UPDATE StringIds SET value = replace(value, 'AllReduce_Sum_bf16_RING_LL', 'SendRecv')")
        for said in each(exchange, real("fsdp_2gpu")):
            self.assertIn("SendRecv", {row["op"] for row in said.rows("comm_ops")})
            advice = said.findings["exposed-communication"]["recommendation"]
            self.assertNotRegex(advice, "FSDP|DDP|bucket")
            self.assertIn("Exchanges between ranks", advice)
        self.assertIn("async_op", generated("training").findings["exposed-communication"]["recommendation"])
        if real("fsdp_2gpu"):
            said = real("fsdp_2gpu")
            self.assertEqual(said.findings["exposed-communication"]["place"], "AllToAll4D")
            self.assertIn("on a compute stream, where it cannot overlap", said.evidence("exposed-communication"))


class WhatIsNotRecorded(unittest.TestCase):
    def test_no_statement_on_gpus_that_were_not_recorded(self):
        for said in each(generated("api-only"), real("wsl_api_without_gpu")):
            self.assertEqual(said.findings["no-gpu-activity-recorded"]["severity"], "high")
            self.assertIn("No GPU activity records", said.verdict)
            self.assertNotRegex(said.verdict + said.advice.replace("neither that it idled nor that it worked", ""),
                                "GPU idles|GPU is idle|while the GPU|% idle")
            self.assertNotIn("0 GPUs (", said.markdown)
            for row in said.rows("sync_calls"):
                self.assertEqual((row["gpu_busy_pct"], row["gpu_idle_ms"]), ("", ""))

    def test_ranges_alone_are_reported(self):
        for said in each(generated("nvtx-only"), real("tensorrt_nvtx_only")):
            self.assertNotIn("nothing to judge", said.markdown)
            self.assertIn("CUDA was not traced", said.verdict)
            longest = max(said.rows("nvtx_ranges"), key=lambda row: float(row["total_time_ms"]))
            self.assertIn(longest["range_name"], said.verdict)
            self.assertNotIn("Kernel time", said.section("NVTX ranges"))

    def test_ranges_one_behind_the_other_are_rounds(self):
        stages = edited(trace("nvtx-only"), "two-stages", "DELETE FROM NVTX_EVENTS WHERE text = 'frame'")
        lengths = {name: sorted(end - start for start, end in sqlite3.connect(trace("nvtx-only")).execute(
            "SELECT start, end FROM NVTX_EVENTS WHERE text = ?", (name,))) for name in ("find_centers", "backbone")}
        said = re.search(r" (\d+) rounds, median [\d.]+ ms: find_centers ([\d.]+) ms, backbone ([\d.]+) ms\.", stages.verdict)
        self.assertTrue(said, stages.verdict)
        self.assertEqual([int(said.group(1))] * 2, [len(rows) for rows in lengths.values()])
        for text, rows in zip(said.groups()[1:], lengths.values()):
            self.assertAlmostEqual(float(text), rows[len(rows) // 2] / 1e6, delta=0.1)

    def test_launches_before_the_capture_are_no_missing_ranges(self):
        """Kernels that were launched before the trace begins cannot lie in its ranges."""
        late = edited(trace("training"), "begins-mid-run",
                      "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE start < 1030000000",
                      "DELETE FROM NVTX_EVENTS WHERE start < 1030000000 AND eventType = 59")
        self.assertLess(float(late.rows("nvtx_coverage")[0]["coverage_pct"]), 70)
        self.assertNotIn("low-nvtx-coverage", late.findings)
        self.assertGreater(int(next(r for r in late.rows("capture_health") if r["check"] == "launches_outside_capture")["count"]), 0)
        # but one operation from before does not excuse code without ranges
        one = edited(trace("neglected"), "one-launch-outside",
                     "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE rowid = (SELECT min(rowid) FROM CUPTI_ACTIVITY_KIND_RUNTIME)")
        self.assertIn("low-nvtx-coverage", one.findings)

    def test_notes_name_only_what_is_lost(self):
        said = edited(trace("copy-bound"), "without-sets", "DROP TABLE CUPTI_ACTIVITY_KIND_MEMSET")
        for said in each(said, real("cuda_small"), real("tensorrt_inference")):
            note = next(r["detail"] for r in said.rows("data_quality") if r["source_table"] == "CUPTI_ACTIVITY_KIND_MEMSET")
            self.assertIn("fills of GPU memory", note)
            self.assertNotRegex(said.markdown, "copies count as idle|not available: memory transfers")

    def test_two_processes_on_one_gpu_are_one_gpu(self):
        for said in each(generated("two-processes"), real("two_processes_one_gpu")):
            self.assertEqual(len(said.rows("gpu_utilization")), 1)
            self.assertNotIn("(pid", said.verdict + said.markdown.partition("<details>")[0])
            self.assertIn("shared-gpu", said.findings)
        self.assertIn("shared by processes", generated("two-processes").verdict)  # others may begin with what matters more

    def test_gpus_go_by_their_ordinal(self):
        """Without the map of devices the column with the CUDA ordinal decides, not the number of the row."""
        said = edited(trace("training"), "ordinals", "DROP TABLE TARGET_INFO_CUDA_DEVICE",
                      "UPDATE TARGET_INFO_GPU SET cuDevice = 1 - cuDevice",
                      "UPDATE TARGET_INFO_GPU SET name = CASE cuDevice WHEN 0 THEN 'NVIDIA A100-PCIE-40GB' ELSE 'NVIDIA A40' END")
        self.assertEqual({(r["device_id"], r["gpu_name"], r["identified_by"]) for r in said.rows("gpus")},
                         {("0", "NVIDIA A100-PCIE-40GB", "ordinal"), ("1", "NVIDIA A40", "ordinal")})
        if real("cutlass_two_gpu_kinds"):
            self.assertIn("A100", real("cutlass_two_gpu_kinds").rows("gpus")[0]["gpu_name"])


class Words(unittest.TestCase):
    def test_advice_is_for_the_program_at_hand(self):
        for said in each(generated("cpp"), generated("openacc-like"), real("gaussian_osrt_sched_samples"), real("windows_wddm_cc120")):
            for word in FRAMEWORK_WORDS:
                self.assertNotIn(word, said.advice)
        for said in each(real("openacc_2021"), real("openmp_offload")):
            self.assertNotRegex(said.advice, "CUDA graph|cudaMemcpyAsync")

    def test_only_kernel_names_are_shortened_like_kernel_names(self):
        said = edited(trace("training"), "range-names",
                      "UPDATE NVTX_EVENTS SET text = 'train::step(3)::forward', textId = NULL WHERE eventType = 59 AND rowid % 2 = 0",
                      "UPDATE NVTX_EVENTS SET text = 'train::step(4)::forward', textId = NULL WHERE eventType = 59 AND rowid % 2 = 1")
        self.assertIn("`train::step(3)::forward`", said.section("NVTX ranges"))
        self.assertIn("`train::step(4)::forward`", said.section("NVTX ranges"))


class LongCalls(unittest.TestCase):
    def test_a_few_long_calls_of_a_kernel_are_told(self):
        """Neither two modes nor the median show them; more blocks explain longer calls."""
        said = generated("long-calls")
        self.assertEqual([row["example"] for row in said.rows("losses") if row["what"] == "long_calls"], ["void search_tree<int>(const T1 *, T1 *, int)"])
        self.assertIn("7 of 410 calls", said.evidence("few-long-calls"))
        finding = said.findings["few-long-calls"]
        self.assertEqual((finding["severity"], finding["reason"]), ("info", "the long calls may do more work"))
        self.assertIn("does not tell whether these calls do more work", finding["why"])
        self.assertIn("few long calls dominate a kernel", said.verdict.lower())

    def test_real_programs_have_none(self):
        """One runs a kernel for matrices of growing size: long calls follow from that."""
        for path in support.exports(series=False):
            self.assertNotIn("few-long-calls", Said(path).findings, path.name)


class AdviceFitsTheProgram(unittest.TestCase):
    def test_building_for_the_gpu_is_said_in_the_programs_own_terms(self):
        path = trace("launch-load")
        made = [(generated("launch-load"), "-gencode"),
                (edited(path, "torch", "UPDATE StringIds SET value = replace(value, 'smooth<', 'at::native::smooth<')",
                        "UPDATE PROCESSES SET name = '/usr/bin/python3'"), "TORCH_CUDA_ARCH_LIST"),
                (edited(path, "libtorch", "UPDATE StringIds SET value = replace(value, 'smooth<', 'at::native::smooth<')"), "-gencode"),
                (edited(path, "pgi", "UPDATE StringIds SET value = '__pgi_uacc_cuda_fill_42_gpu' WHERE value LIKE '%smooth<%'"), "-gpu=cc"),
                (edited(path, "omp", "UPDATE StringIds SET value = '__omp_offloading_31_18a80bc__Z_2' WHERE value LIKE '%smooth<%'"), "--offload-arch"),
                (real("cuda_small"), "TORCH_CUDA_ARCH_LIST"), (real("openacc_2021"), "-gpu=cc")]
        for said, term in made:
            if said:
                load = "".join(f["recommendation"] for f in said.list if f["id"].endswith("module-load"))
                for other in ("-gencode", "TORCH_CUDA_ARCH_LIST", "OpenACC", "OpenMP"):
                    self.assertEqual(other in load, other == term or (other == "OpenACC" and term == "-gpu=cc")
                                     or (other == "OpenMP" and term == "--offload-arch"), (said.out.name, other, load))
                self.assertIn(term, load)

    def test_what_nsys_said_of_its_driver_comes_first(self):
        texts = ["Profiling has started.", "Unable to sample", "Installed CUDA driver version (12.5) is not supported by this build of Nsight Systems. And so on."]
        lose = ["DROP TABLE DIAGNOSTIC_EVENT", *(f"DROP TABLE IF EXISTS CUPTI_ACTIVITY_KIND_{kind}" for kind in ("KERNEL", "MEMCPY", "MEMSET"))]
        said = edited(trace("host-bound"), "driver", *lose, *(f"INSERT INTO StringIds SELECT max(id) + 1, '{text}' FROM StringIds" for text in texts))
        silent = edited(trace("host-bound"), "silent", *lose)
        for each_said, first, told in ((said, "- **Update Nsight Systems first.**", True), (silent, "- **Check the platform.**", False)):
            finding = each_said.findings["no-gpu-activity-recorded"]
            self.assertTrue(finding["recommendation"].startswith(first), finding["recommendation"])
            self.assertEqual("nsys reported: Installed CUDA driver" in each_said.evidence("no-gpu-activity-recorded"), told)
            self.assertNotIn("Unable to sample", each_said.evidence("no-gpu-activity-recorded"))

    def test_the_driver_makes_no_context_in_other_calls(self):
        for said in each(real("openacc_2021")):  # its longest call before any work pins memory: others that need a context precede it
            self.assertNotIn("create the context", said.markdown)

    def test_waiting_for_ranks_has_to_be_recorded_before_it_is_told(self):
        for said in each(real("two_processes_one_gpu")):
            self.assertTrue(said.findings["idle-host-code"]["recommendation"].startswith("- **Record MPI**"))
            self.assertIn("OS calls were recorded and do not tell", said.advice)
            self.assertEqual(said.findings["idle-launch-call"]["title"], "Idle during blocking copies")
            self.assertRegex(said.verdict, r"run_pselinv_lin, cuBLAS in C\+\+ \(mpirun\)")

    def test_a_driver_that_submits_late_is_one_of_windows(self):
        def on(platform, release):
            rows = [(601, "SoftwarePlatform", platform), (618, "SoftwareReleaseVersion", release)]
            return edited(trace("host-bound"), platform + release[:1], *(
                f"INSERT INTO TARGET_INFO_SYSTEM_ENV SELECT globalVid, devStateName, '{name}', {number}, '{value}' FROM TARGET_INFO_SYSTEM_ENV LIMIT 1"
                for number, name, value in rows if value))

        for platform, release, system, late in (("L4X", "5.14.0-582.el9.x86_64", "Linux", False), ("L4X", "6.6.87.2-microsoft-standard-WSL2", "WSL2", True),
                                                ("L4T", "5.15.148-tegra", "L4T", False), ("Windows", "", "Windows", True), ("", "", "", True)):
            said = on(platform, release)
            self.assertEqual(said.rows("capture")[0]["platform"], system)
            self.assertEqual("WDDM" in said.findings["idle-unknown"]["why"], late, (platform, release))
        for name in ("jetson_orin", "two_processes_one_gpu"):
            for said in each(real(name)):
                self.assertNotRegex(said.advice, "WDDM|WSL")

    def test_ranges_are_explained_in_the_programs_language(self):
        for scenario, languages in (("cpp", ["C++"]), ("training", ["PyTorch", "Python"])):
            text = support.run("page", "suggest", str(generated(scenario).out)).stdout.split("How to add a range")[1]
            self.assertEqual([line.split(":")[0] for line in text.strip().splitlines()], languages, scenario)

    def test_a_camera_is_a_possible_cause_unless_its_thread_wakes_the_other(self):
        for said in each(real("jetson_orin")):
            self.assertIn("A camera's thread sets the pace: host-bound 56.3", said.verdict)
            self.assertRegex(said.evidence("idle-host-code"), "of its 307 sleeps there end while thread 34556 v4l2src0:src runs")
        for name in (3, 5, 6, 7, 9, 12, 14, 15):
            for said in each(sibling("jetson_lab", f"report{name}")):
                self.assertRegex(said.evidence("idle-host-code"), r"sleeps there end while thread \d+ v4l2src0:src runs")
        camera = SHARED / "traces/series/jetson_lab/report3.sqlite"
        for said in [edited(camera, "no-scheduling", "DELETE FROM SCHED_EVENTS")] if camera.exists() else []:
            self.assertIn("A camera may set the pace", said.verdict)
            self.assertRegex(said.findings["idle-host-code"]["why"], "if the program waits for its frames.*Compare the time of a step")


    def test_a_program_that_failed_early_is_not_there_until_the_end(self):
        """Of 238 ms the last sign of any of its threads is at 66 ms: no code of its own fills the rest."""
        for said in each(sibling("triangular_solves", "nsys_report__report2")):
            self.assertRegex(said.markdown, "66.2.ms on the host .*; plus 171.8.ms after the program ended")

    def test_what_the_host_computes_for_itself_is_not_the_offloads(self):
        """Idle time outside of all CUDA calls stays, however pieces are offloaded."""
        for said in each(real("two_processes_one_gpu")):
            (gpu,), host = said.rows("gpu_active"), next(row for row in said.rows("idle_causes") if row["cause"] == "host_code")
            saving = float(gpu["active_ms"]) - float(gpu["compute_ms"]) - float(host["active_ms"])
            self.assertAlmostEqual(said.findings["offload-in-pieces"]["saving_ns"] / 1e6, saving, places=3)

    def test_a_computation_before_cuda_is_told_by_the_calls_it_does_not_make(self):
        for said in each(sibling("nussinov", "70d73cc_report5")):
            self.assertRegex(said.evidence("host-set-up-dominates"), "is in OS calls for 27.9.ms of 1.49.s: likely it computes")


class WordsOfTheReport(unittest.TestCase):
    def test_what_is_not_there_has_no_line(self):
        for said in each(generated("empty"), generated("pause"), generated("host-bound"), real("solver_nvtx_osrt_sched")):
            self.assertNotRegex(said.markdown, r"window 0.ns|\| 0 \| 0.ns \| 0\.0.% \|", said.out)

    def test_what_one_side_cannot_tell_is_not_said(self):
        """A rank does not know who is late, nor what carried its messages; a stream not how long a function itself took."""
        for scenario, function in (("mpi", "MPI_Allreduce"), ("mpi-ranks", "MPI_Barrier")):
            said = generated(scenario)
            self.assertIn(f"in {function}, 20 calls", said.markdown)
            self.assertNotRegex(said.markdown, "(?i)slow network|network is|late rank|straggl|host buffer")
        said = generated("host-functions")
        self.assertIn("save_checkpoint", said.markdown)
        self.assertNotRegex(said.markdown, "(?i)slow (host )?function|function is slow")

    def test_the_rank_with_more_work_leads(self):
        """Rank 2 of mpi-ranks computes longest: the others wait for it, and their advice is about that."""
        said = generated("mpi-ranks")
        useful = {row["rank"]: float(row["useful_ms"]) for row in said.rows("mpi_processes")}
        busiest = max(useful, key=useful.get)
        self.assertIn(f"Uneven work between MPI ranks (rank {busiest})", said.verdict.split(";")[0])
        self.assertEqual(said.findings["gpu-imbalance"]["place"], f"GPU {busiest}")
        self.assertIn(f"Look at rank {busiest} first**: it is outside of MPI for {useful[busiest]:.1f}", re.sub("\u00a0", " ", said.markdown))
        moot = "Remove barriers|Record all ranks|One rank cannot tell"
        self.assertNotRegex(said.markdown, moot)
        self.assertEqual(len(set(re.findall(moot, generated("mpi").markdown))), 2)

    def test_communicators_that_are_set_up_are_not_the_hosts_code(self):
        said = generated("train-communicators")
        self.assertIn("Communicator initialization inside the capture", said.verdict)
        self.assertNotIn("idle-host-code", said.findings)
        self.assertNotIn("a tenth of a second", said.markdown)

    def test_idle_time_in_mpi_is_told_where_host_code_is(self):
        for scenario in ("mpi", "mpi-ranks"):
            said = generated(scenario)
            longest = max(float(row["exposed_ms"]) for row in said.rows("mpi_processes"))
            for heading, cause in (("Critical path", "host code"), ("Idle time and host activity", "host-bound")):
                self.assertRegex(said.section(heading), rf"Up to {longest:.2f}.ms of a GPU's idle time are in MPI, .* is {cause}\.")
        self.assertNotIn("are in MPI", generated("host-bound").markdown)

    def test_what_a_trace_lacks_has_no_heading(self):
        for said in each(generated("training"), real("jetson_orin")):
            self.assertNotRegex(said.markdown, "<summary>(MPI|Host functions)")

    def test_causes_have_their_names_not_their_codes(self):
        codes = "host_code|queue_drained|launch_latency|in_launch_call|blocking_call|module_load|cuda_call|page_migration|host_function"
        for said in each(generated("hostile-values"), real("jetson_orin"), real("solver_nvtx_osrt_sched")):
            self.assertNotRegex(re.sub("`[^`]*`|<[^>]*>", "", said.markdown), rf"\b({codes})\b")

    def test_a_part_that_is_larger_than_the_cause_says_what_it_counts(self):
        """Calls that allocate on any thread, whatever their idle time is charged to, are no part of the cause's time."""
        for said in each(generated("host-bound"), generated("alloc-churn"), real("two_processes_one_gpu")):
            line = next(t for t in said.evidence("allocation-in-steady-state").splitlines() if "first call of each function" in t)
            self.assertRegex(line, "^on all threads, after the first fifth .* whichever cause that idle time has$")

    def test_a_stretch_of_copies_has_no_kernels_to_count(self):
        said = edited(trace("copy-bound"), "copies", "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL")
        self.assertEqual(said.findings["one-cold-pass"]["title"], "Copies only, no kernels")
        self.assertNotRegex(said.markdown, r"\b0 kernels\b.*n/a|only 0 kernels")

    def test_kinds_of_spans_are_explained(self):
        labels = {"set_up": "Setup", "pause": "Pause", "check": "Result check"}
        for said in each(generated("pause"), real("windows_wddm_cc120")):
            text = said.section("Active spans and pauses")
            for kind in {row["kind"] for row in said.rows("active_spans")} - {"active"}:
                self.assertIn(f"{labels[kind]}: ", text)


class WhatExpertsAskFirst(unittest.TestCase):
    def test_a_context_that_no_call_creates(self):
        """The profiler attaches to a new context in 90 ms without a call: CUDA is not set up yet, so the program is not blamed."""
        first = "FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start LIMIT 1"
        def attached(name, ended):
            """A report on a trace in which that is done so many ms before the next call."""
            return edited(trace("neglected"), name, "INSERT INTO StringIds (id, value) VALUES (900000, 'cuModuleGetLoadingMode'), (900001, 'CUPTI Resource Management')",
                          f"INSERT INTO PROFILER_OVERHEAD (start, end, globalTid, nameId, overheadType) SELECT start - 89000000, start - {ended}000000, globalTid, 900001, 1 {first}",
                          "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue) "
                          f"SELECT start - 90001000, start - 90000000, eventClass, globalTid, 900000, 900000, 0 {first}")
        said = attached("unrecorded", 10)
        self.assertEqual(said.findings["cuda-initialization"]["saving_ns"], 90_000_000)
        self.assertNotIn("host-before-work", said.findings)
        self.assertIn("90.0 ms setup (CUDA initialization)", said.verdict)
        # what follows for long is no part of it: code that nobody recorded
        said = attached("attached-early", 60)
        self.assertEqual(said.findings["cuda-initialization"]["saving_ns"], 30_000_000)
        self.assertEqual(said.findings["host-before-work"]["saving_ns"], 60_000_000)
        self.assertNotIn("CUDA initialization", said.verdict)

    def test_the_profiler_is_no_part_of_the_setup(self):
        """What its initialization takes before the first CUDA call nobody can save."""
        for said in each(generated("cpu-work"), real("mig_a30"), sibling("triangular_solves", "nsys_report__report_level")):
            host = sum(int(row["duration_ns"]) for row in said.rows("capture_time") if (row["phase"], row["part"]) == ("before_cuda", "host"))
            self.assertEqual(said.findings["host-set-up-dominates"]["saving_ns"], host)

    def test_a_call_that_frees_waits(self):
        """cudaFree comes back when the work that was launched before it is done, and is a wait like any other; cudaFreeAsync is none."""
        def freed(name, function):
            return edited(trace("drained-queue"), name, f"UPDATE StringIds SET value = '{function}' WHERE value LIKE 'cudaStreamSynchronize%'")
        before, said = generated("drained-queue"), freed("frees", "cudaFree_v3020")
        wait, = (row for row in before.rows("sync_calls") if row["api_name"] == "cudaStreamSynchronize")
        free, = (row for row in said.rows("sync_calls") if row["api_name"] == "cudaFree")
        self.assertEqual(free["call_count"], wait["call_count"])
        drained = [next(row for row in report.rows("idle_causes") if row["cause"] == "queue_drained") for report in (before, said)]
        self.assertEqual(drained[0]["total_ns"], drained[1]["total_ns"])
        self.assertEqual([row["what"].split()[0] for row in drained], ["cudaStreamSynchronize", "cudaFree"])
        for said in each(sibling("triangular_solves", "nsys_report__report_level")):
            self.assertIn("Synchronization after each launch (cudaFree)", said.verdict)
            self.assertIn("`cudaFreeAsync` does not", said.advice)
        said = freed("frees-later", "cudaFreeAsync_v11020")
        self.assertFalse([row for row in said.rows("sync_calls") if "Free" in row["api_name"]])

    def test_findings_of_one_title_are_told_apart(self):
        """Two kernels share the work of serving; in the report, on the terminal and for programs each is called by its name."""
        said = generated("serving")
        titles = [f["title"] for f in said.list]
        self.assertEqual(len(set(titles)), len(titles))
        self.assertEqual(sum(title.startswith("Dominant kernel: ") for title in titles), 2)
        self.assertNotRegex(said.markdown, r"(?m)Dominant kernel$")

    def test_did_the_program_do_its_work(self):
        for said in each(generated("failed"), real("openacc_2021")):
            self.assertTrue(said.verdict.startswith("**High: OpenACC. Program probably failed"))
            self.assertTrue(all(f["severity"] == "info" for f in said.list[1:]))
            self.assertNotIn("potential saving", said.verdict)
        ended = edited(trace("cold"), "no-kernel", "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL",
                       "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE nameId IN (SELECT id FROM StringIds WHERE value LIKE '%Launch%')",
                       *(f"DELETE FROM {t}" for t in ("CUPTI_ACTIVITY_KIND_MEMCPY",) if has_table(trace("cold"), t)))
        self.assertIn("Program ended before its first kernel", ended.verdict)

    def test_what_of_the_capture_is_the_program(self):
        for said in each(generated("pause"), real("mordred_2021"), real("cutlass_two_gpu_kinds")):
            checks = {row["check"]: row for row in said.rows("capture_health")}
            for part in ("before_first_cuda_call", "set_up", "active", "pauses", "tear_down"):
                self.assertIn(part, checks)
                self.assertTrue(checks[part]["time_ms"] or checks[part]["state"] == "unknown", part)
        if real("cutlass_two_gpu_kinds"):
            self.assertIn("11.8 s before CUDA", real("cutlass_two_gpu_kinds").verdict)

    def test_once_or_every_time(self):
        for said in each(generated("cold"), real("cuda_small"), real("pytorch_dlprof_2020")):
            self.assertRegex(said.verdict, r"before CUDA.* active \(busy ")
            self.assertTrue(all(f["severity"] in ("low", "info") for f in said.list))
            self.assertNotRegex(said.advice, "CUDA graphs|num_workers|reduce-overhead")

    def test_idle_time_under_a_call_is_the_loss_not_the_call(self):
        for said in each(generated("healthy"), generated("host-bound"), real("gaussian_osrt_sched_samples"), real("fsdp_2gpu"),
                         real("openmp_offload")):
            for row in said.rows("idle_causes"):
                finding = said.findings.get("idle-blocking-call")
                if row["cause"] == "blocking_call" and finding:
                    most = max(float(r["active_ms"]) for r in said.rows("idle_causes") if r["cause"] == "blocking_call")
                    self.assertLessEqual(finding["saving_ns"], round(most * 1e6))
        self.assertFalse(generated("healthy").list)

    def test_busy_is_not_useful(self):
        few = edited(trace("cpp"), "few-blocks", "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 4, gridY = 1, gridZ = 1")
        for said in each(few, real("mig_a30")):
            self.assertEqual(said.findings["underfilled"]["severity"], "high")
        if real("solver_nvtx_osrt_sched"):  # with a hundred blocks the kernel takes as long as with one: nobody knows what more of them save
            serial = real("solver_nvtx_osrt_sched")
            self.assertIn("takes no longer", serial.evidence("underfilled"))
            self.assertEqual((serial.findings["underfilled"]["severity"], serial.findings["underfilled"]["saving_ns"]), ("low", None))
            self.assertNotIn("split the work", serial.advice)
            self.assertNotIn("takes no longer", real("mig_a30").evidence("underfilled"))
        if real("unified_memory"):
            self.assertEqual(real("unified_memory").findings["uvm-bound"]["severity"], "medium")

    def test_time_of_the_host_begins_with_a_function(self):
        for said in each(real("mordred_2021")):
            self.assertIn("**Redirect stdin**: `getc`", said.advice)
            self.assertNotIn("Start with `", said.advice)
        for said in each(real("unified_memory")):
            self.assertIn("**Look at the threads that it waits for**", said.advice)
            self.assertNotIn("Start with `pthread_join`", said.advice)
        self.assertNotIn("Start with `", generated("shapes").advice)  # no samples

    def test_copies_that_need_not_be(self):
        self.assertIn("repeated-copies", generated("tiny-copies").findings)
        self.assertIn("copies-on-compute-stream", generated("tiny-copies").findings)
        advice = generated("copy-bound").findings["exposed-copy"]["recommendation"]
        self.assertLess(advice.index("**Remove**"), advice.index("**Pin**"))
        self.assertNotIn("**Overlap**", advice)  # with 2.9 % of compute
        self.assertIn("**Overlap**", generated("train-round-trips").findings["exposed-copy"]["recommendation"])

    def test_first_use_of_host_memory_is_not_pinned_away(self):
        """Results that take long because their host memory is touched first: the copies' own finding says so."""
        for said, single in ((generated("first-touch"), False), *((said, True) for said in each(real("cutlass_two_gpu_kinds")))):
            copies = [row for row in said.rows("copy_rates") if float(row["first_touch_ms"]) > 0]
            self.assertTrue(copies)
            self.assertIn("page faults of host memory", said.evidence("exposed-copy"))
            if single:
                advice = said.findings["exposed-copy"]["recommendation"]
                self.assertIn("**Copy into host buffers that were used before**", advice)
                self.assertNotIn("**Pin**", advice)  # a single copy

    def test_the_programs_own_timer(self):
        """An event, a first launch that loads code, an event, a wait: the program measures loading."""
        names = ("cudaEventRecord_v3020", "cudaEventSynchronize_v3020")
        said = edited(trace("launch-load"), "timed",
                      *(f"INSERT INTO StringIds (id, value) VALUES ({900000 + i}, '{name}')" for i, name in enumerate(names)),
                      "CREATE TEMP TABLE call AS SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME LIMIT 1",
                      *(statement for i, (start, name) in enumerate(timed_calls(trace("launch-load"))) for statement in (
                          f"UPDATE call SET start = {start}, end = {start} + 2, correlationId = {800000 + i}, nameId = {900000 + name}",
                          "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT * FROM call")))
        self.assertIn("timing-includes-first-use", said.findings)
        self.assertIn("16.0 ms", said.evidence("timing-includes-first-use"))
        if real("solver_nvtx_osrt_sched"):
            self.assertIn("47.8 ms", real("solver_nvtx_osrt_sched").evidence("timing-includes-first-use"))
            self.assertNotIn("timing-includes-first-use", real("line_fitting").findings)

    def test_loops_are_told_apart(self):
        self.assertFalse(generated("layers").rows("steps"))
        self.assertFalse(generated("phantom-steps").rows("steps"))
        self.assertTrue(generated("steps").rows("steps"))

    def test_dense_ranges_weaken_what_is_said_of_the_host(self):
        dense = edited(trace("host-bound"), "dense", """INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId)
            SELECT r.start - 3, r.end + 3, 59, 'op' || n.value, r.globalTid, 0 FROM CUPTI_ACTIVITY_KIND_RUNTIME r,
            (WITH RECURSIVE c(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM c WHERE value < 9) SELECT value FROM c) n""")
        for said in each(dense, real("fsdp_2gpu")):
            self.assertIn("host times are inflated", said.evidence("dense-nvtx"))
        self.assertNotIn("dense-nvtx", generated("host-bound").findings)


def pairs(scenarios, *names):
    """Reports, with the traces they are about."""
    for scenario in scenarios:
        yield generated(scenario), trace(scenario)
    for name in names:
        for path in (SHARED / "traces" / f"{name}.sqlite", SHARED / "traces" / "real" / f"{name}.sqlite"):
            if path.exists():
                yield Said(path), path


def chains_of(said, path, device):
    """Durations of kernels that could be fused, by run of two and more on a stream of a GPU."""
    kinds = ("elementwise", "copy", "normalization", "softmax", "reduction")
    fusable = {row["kernel_name"] for row in said.rows("kernels") if row["category"] in kinds and "triton_" not in row["kernel_name"]}
    db = sqlite3.connect(path)
    rows = db.execute("""SELECT streamId, end - start, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName
                         WHERE deviceId = ? ORDER BY streamId, start""", (device,)).fetchall()
    db.close()
    chains, last = [], None
    for stream, ns, name in rows:
        if name not in fusable:
            last = None
        elif last == stream:
            chains[-1].append(ns)
        else:
            chains.append([ns])
            last = stream
    return [chain for chain in chains if len(chain) > 1]


def beside_others(path, device):
    """Time in which two kernels of a GPU run, one after the other."""
    db = sqlite3.connect(path)
    rows = db.execute("SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = ? ORDER BY start", (device,)).fetchall()
    db.close()
    return sum(max(0, before[1] - after[0]) for before, after in zip(rows, rows[1:]))


OPERATIONS = [f"CUPTI_ACTIVITY_KIND_{name}" for name in ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE")]


def work_of_gpus(path):
    """Summed durations of all operations, ns."""
    db = sqlite3.connect(path)
    total = sum(db.execute(f"SELECT coalesce(sum(end - start), 0) FROM {t}").fetchone()[0] for t in OPERATIONS if has_table(path, t))
    db.close()
    return total


def work_in_ranges(path):
    """The same of operations whose launching call starts within a push/pop range of its thread."""
    db = sqlite3.connect(path)
    total = sum(db.execute(f"""SELECT coalesce(sum(o.end - o.start), 0) FROM {t} o JOIN CUPTI_ACTIVITY_KIND_RUNTIME r
                               ON r.correlationId = o.correlationId AND r.globalTid >> 24 = o.globalPid >> 24
                               WHERE EXISTS (SELECT 1 FROM NVTX_EVENTS n WHERE n.globalTid = r.globalTid AND n.eventType = 59
                                             AND n.start <= r.start AND r.start < n.end)""").fetchone()[0]
                for t in OPERATIONS if has_table(path, t))
    db.close()
    return total


def one_at_a_time(path, queued=False):
    """The kernels of a trace, each launched after a wait for the one before; or, `queued`, all launched in time, a microsecond apart."""
    copy = fresh_dir("edited") / f"{'queued' if queued else 'one-at-a-time'}.sqlite"
    shutil.copyfile(path, copy)
    db = sqlite3.connect(copy)
    for table in ("CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"):
        if has_table(path, table):
            db.execute(f"DELETE FROM {table}")
    launches = [row for row, in db.execute("""SELECT r.rowid FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN CUPTI_ACTIVITY_KIND_KERNEL k
                                              ON k.correlationId = r.correlationId ORDER BY k.start""")]
    kernels = [row for row, in db.execute("SELECT rowid FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start")]
    assert len(launches) == len(kernels)
    db.execute("CREATE TEMP TABLE call AS SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME LIMIT 1")
    db.execute(f"DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE rowid NOT IN ({','.join(map(str, launches))})")
    db.execute("INSERT INTO StringIds (id, value) VALUES (900001, 'cudaStreamSynchronize_v3020')")
    for i, (launch, kernel) in enumerate(zip(launches, kernels)):
        t = 10_000_000 + i * 100_000
        if queued:
            t = 10_000_000 + i * 51_000
            db.execute("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = ?, end = ? WHERE rowid = ?", (1_000_000 + i * 9_000, 1_004_000 + i * 9_000, launch))
            db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = ?, end = ? WHERE rowid = ?", (t, t + 50_000, kernel))
            continue
        db.execute("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = ?, end = ? WHERE rowid = ?", (t - 20_000, t - 5_000, launch))
        db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = ?, end = ? WHERE rowid = ?", (t, t + 50_000, kernel))
        db.execute("UPDATE call SET start = ?, end = ?, correlationId = ?, nameId = 900001", (t - 5_000, t + 60_000, 800_000 + i))
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT * FROM call")
    db.commit()
    db.close()
    return copy


def has_table(path, table):
    db = sqlite3.connect(path)
    found = db.execute("SELECT count(*) FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    db.close()
    return found


def timed_calls(path):
    """Where two records and a wait go around the first launch: (start, 0 record or 1 wait)."""
    db = sqlite3.connect(path)
    start, end = db.execute("""SELECT r.start, r.end FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId
                               WHERE s.value LIKE 'cudaLaunchKernel%' ORDER BY r.end - r.start DESC LIMIT 1""").fetchone()
    db.close()
    return (start - 10, 0), (end + 10, 0), (end + 20, 1)


if __name__ == "__main__":
    support.main()
