"""Steps from outside: against the generator's plan, against SQL over the export, and what must not be called a step."""
import shutil
import sqlite3
import unittest

import support
from support import analyze, artifacts, fresh_dir, ns_of_ms, read_csv, run, trace, truth

TRACES = support.exports()
PARTS = ("compute_ms", "exposed_comm_ms", "exposed_copy_ms", "idle_ms")


def planned(name, *options):
    """Known steps: (pid, step, state, start, end, kernels, parts in ns, excess)"""
    parts = ("compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns")
    return [(s["pid"], s["step"], s["state"], s["start_ns"], s["end_ns"], s["kernel_count"],
             tuple(s[p] for p in parts), s.get("excess_ns", 0)) for s in truth(trace(name, *options))["steps"]]


def found(directory):
    return [(int(r["pid"]), int(r["step"]), r["state"], int(r["gpu_start_ns"]), int(r["gpu_end_ns"]),
             int(r["kernel_count"]), tuple(ns_of_ms(r[p]) for p in PARTS),
             ns_of_ms(r["excess_ms"]) if r["excess_ms"] else 0) for r in read_csv(directory, "steps")]


def methods(directory):
    return {r["method"] for r in read_csv(directory, "step_search")}


class Units(unittest.TestCase):
    @unittest.skipUnless("gaussian_osrt_sched_samples" in {path.stem for path in TRACES}, "no reference traces")
    def test_period_and_parts_of_a_loop_of_two_kernels(self):
        """SQL over the export: from the second to the last start of the first kernel of the pair."""
        export, = (path for path in TRACES if path.stem == "gaussian_osrt_sched_samples")
        db = sqlite3.connect(f"file:{export}?mode=ro", uri=True)
        rows = db.execute("SELECT start, end, shortName FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start").fetchall()
        starts = [start for start, _, name in rows if name == rows[0][2]]
        inside = sum(end - start for start, end, _ in rows if starts[1] <= start < starts[-1])
        unit, = read_csv(artifacts(export), "repeating_units")
        self.assertEqual((int(unit["kernel_count"]), int(unit["repetitions"])), (2, len(starts)))
        self.assertEqual(ns_of_ms(unit["period_ms"]), (starts[-1] - starts[1]) // (len(starts) - 2))
        self.assertEqual(ns_of_ms(unit["compute_ms"]), inside // (len(starts) - 2))
        self.assertEqual(sum(ns_of_ms(unit[part]) for part in PARTS), ns_of_ms(unit["period_ms"]))
        self.assertIn("<details><summary>Repeating units</summary>", (artifacts(export) / "report.md").read_text())


class RangesOnly(unittest.TestCase):
    def test_ranges_repeat_without_gpu_work(self):
        """SQL over the export: starts of the outermost ranges that come most of the time."""
        export = trace("nvtx-only")
        db = sqlite3.connect(f"file:{export}?mode=ro", uri=True)
        rows = db.execute("SELECT start, end, coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) FROM NVTX_EVENTS WHERE eventType = 59 ORDER BY start").fetchall()
        outer, until = [], 0
        for row in rows:
            if row[0] >= until:
                outer.append(row)
                until = row[1]
        starts = [start for start, _, name in outer if name == outer[0][2]]
        unit = read_csv(artifacts(export), "repeating_units")[0]
        self.assertEqual((unit["nvtx_path"], int(unit["repetitions"]), int(unit["kernel_count"])), (outer[0][2], len(starts), 0))
        self.assertEqual(ns_of_ms(unit["period_ms"]), (starts[-1] - starts[1]) // (len(starts) - 2))
        self.assertIn(f"| {len(starts)} |", (artifacts(export) / "report.md").read_text())


class Plan(unittest.TestCase):
    maxDiff = None

    def test_every_scenario(self):
        cases = {"steps": "nvtx", "steps-bare": "kernels", "steps-input": "kernels", "steps-drift": "nvtx"}
        for name, method in cases.items():
            with self.subTest(name):
                directory = artifacts(trace(name))
                self.assertEqual(found(directory), planned(name))
                self.assertEqual(methods(directory), {method})

    def test_noise(self):
        for seed in (1, 2):
            with self.subTest(seed=seed):
                directory = artifacts(trace("steps-jitter", "--seed", seed))
                self.assertEqual(found(directory), planned("steps-jitter", "--seed", seed))

    def test_without_nvtx_the_boundaries_are_the_same(self):
        path = fresh_dir() / "steps.sqlite"
        shutil.copyfile(trace("steps"), path)
        with sqlite3.connect(path) as export:
            export.execute("delete from NVTX_EVENTS")
        export.close()
        directory = analyze(path)
        self.assertEqual(methods(directory), {"kernels"})
        self.assertEqual(found(directory), found(artifacts(trace("steps"))))

    def test_layers_inside_steps(self):
        for name in ("steps", "steps-bare", "layers"):
            directory = artifacts(trace(name))
            units = [(int(r["pid"]), int(r["kernel_count"]), int(r["repetitions"]), r["level"])
                     for r in read_csv(directory, "repeating_units")]
            known = truth(trace(name))["repeating_units"]
            self.assertEqual(units, [(u["pid"], u["kernel_count"], u["repetitions"], u["level"].replace("unknown", "")) for u in known])

    def test_cause_of_the_outlier(self):
        for name in ("steps", "steps-bare"):
            wanted = [s for s in truth(trace(name))["steps"] if s.get("excess_ns")]
            rows = [r for r in read_csv(artifacts(trace(name)), "steps") if r["is_outlier"] == "1"]
            self.assertEqual([(int(r["step"]), r["cause"], ns_of_ms(r["cause_ms"])) for r in rows],
                             [(s["step"], s["cause"], s["excess_ns"]) for s in wanted])
            for row, step in zip(rows, wanted):
                self.assertIn(step["detail"], row["cause_detail"])

    def test_waits_for_input(self):
        row = read_csv(artifacts(trace("steps-input")), "step_summary")[0]
        self.assertEqual(int(row["input_wait_steps"]), 11)  # the last step has no next one
        self.assertEqual(ns_of_ms(row["input_wait_ms"]), 11 * 6_086_000)


    def test_prices_per_step(self):
        text = (artifacts(trace("steps-input")) / "report.md").read_text(encoding="utf-8").replace("\xa0", " ")
        self.assertIn("_GPU 0, potential saving 66.9 ms, 5.58 ms per step, ", text)  # 12 steps
        self.assertIn("_run, potential saving 1.00 s", text)  # before the first of them

    def test_idle_time_by_cause(self):
        rows = {r["cause"]: r for r in read_csv(artifacts(trace("steps")), "step_idle")}
        self.assertEqual(set(rows), {"host_code", "launch_latency", "in_launch_call"})
        # 46 us between two steps: 40 of code, 4 in the call, 2 until the kernel starts; and the gap of 5 ms, which stands
        # for a usual distance of 1,200 ns
        self.assertEqual(ns_of_ms(rows["host_code"]["median_ms"]), 40_000)
        self.assertEqual(ns_of_ms(rows["host_code"]["total_ms"]), 10 * 40_000 + 4_995_200)
        self.assertEqual(ns_of_ms(rows["in_launch_call"]["median_ms"]), 4_000)
        self.assertEqual(ns_of_ms(rows["in_launch_call"]["total_ms"]), 11 * 4_000)
        self.assertEqual(ns_of_ms(rows["launch_latency"]["median_ms"]), 39 * 1_200 + 2_000)
        self.assertEqual(ns_of_ms(rows["launch_latency"]["total_ms"]), (11 * 39 - 1) * 1_200 + 11 * 2_000)

    def test_causes_are_those_of_the_whole(self):
        """Steps that cover the window have each cause's idle time, not the whole gaps that it has most of."""
        for name in ("steps-jitter", "steps-input", "collectives-graph"):
            directory = artifacts(trace(name))
            self.assertEqual({r["state"] for r in read_csv(directory, "steps")}, {"steady"})
            sums = {}
            for r in read_csv(directory, "step_idle"):
                at = r["device_id"], r["cause"]
                sums[at] = sums.get(at, 0) + ns_of_ms(r["total_ms"])
            self.assertEqual(sums, {(r["device_id"], r["cause"]): int(r["total_ns"]) for r in read_csv(directory, "idle_causes")}, name)

    def test_causes_do_not_exceed_the_whole(self):
        for path in [trace("steps"), trace("loop-waits"), trace("training"), *TRACES]:
            directory = artifacts(path)
            whole = {(r["device_id"], r["cause"]): int(r["total_ns"]) for r in read_csv(directory, "idle_causes")}
            sums = {}
            for r in read_csv(directory, "step_idle"):
                at = r["pid"], r["device_id"], r["cause"]
                sums[at] = sums.get(at, 0) + ns_of_ms(r["total_ms"])
            for (pid, device, cause), ns in sums.items():
                self.assertLessEqual(ns, whole.get((device, cause), 0), (path.stem, pid, device, cause))

    def test_kernel_time_by_category(self):
        for name in ("steps", "steps-jitter", "memory-growth", "collectives-graph"):
            directory = artifacts(trace(name))
            sums = {}
            for r in read_csv(directory, "step_categories"):
                at = sums.setdefault((r["pid"], r["device_id"]), [0, 0.0])
                at[0] += ns_of_ms(r["total_ms"])
                at[1] += float(r["pct_of_kernel_time"])
            wanted = {}
            for r in read_csv(directory, "steps"):
                if r["state"] == "steady":
                    wanted[r["pid"], r["device_id"]] = wanted.get((r["pid"], r["device_id"]), 0) + ns_of_ms(r["kernel_ms"])
            self.assertEqual({place: ns for place, (ns, _) in sums.items()}, wanted, name)
            for _, pct in sums.values():
                self.assertAlmostEqual(pct, 100, places=2)


class Refusals(unittest.TestCase):
    def test_layers_are_no_steps(self):
        directory = artifacts(trace("layers"))
        self.assertEqual(read_csv(directory, "steps"), [])
        self.assertEqual(read_csv(directory, "step_summary"), [])
        self.assertEqual(read_csv(directory, "step_search")[0]["reason"],
                         "repeating unit of 9 kernels, 24 times: probably a layer; no step boundary found")
        text = (directory / "report.md").read_text(encoding="utf-8")
        self.assertIn("No steps in process 7501: repeating unit of 9 kernels, 24 times", text)
        self.assertNotIn("## Steps", text)

    def test_ranges_of_a_library_are_no_steps(self):
        self.assertEqual(read_csv(artifacts(trace("phantom-steps")), "steps"), [])


class UserPattern(unittest.TestCase):
    def test_it_decides(self):
        directory = analyze(trace("layers"), "--step", r"block\.\d+$")
        rows = read_csv(directory, "steps")
        self.assertEqual(len(rows), 24)
        self.assertEqual({r["kernel_count"] for r in rows}, {"9"})
        summary = read_csv(directory, "step_summary")[0]
        self.assertEqual((summary["method"], summary["confidence"], summary["step_name"]),
                         ("user", "100.0000", "encoder.block.#"))
        self.assertIn(r"--step block\.\d+$", (directory / "stages/manifest.json").read_text(encoding="utf-8").replace("\\\\", "\\"))

    def test_no_match_says_so(self):
        directory = analyze(trace("steps"), "--step", "nothing like this")
        self.assertEqual(read_csv(directory, "steps"), [])
        self.assertEqual(read_csv(directory, "step_search")[0]["reason"], "no range of this process matches --step")
        path = trace("training")
        for options, said in ((("--step", "nosuch"), "--step: no NVTX range"), (("--phase-map", "vllm"), "--phase-map: no NVTX range"),
                              (("--step", "forward"), ""), (("--phase-map", "pytorch-ddp"), "")):
            done = support.run("analyze", path, *options, "--out", fresh_dir() / "o")
            self.assertEqual(done.returncode, 0)
            self.assertEqual(done.stderr[: len("nsys-ai: ") + len(said)], f"nsys-ai: {said}" if said else "", options)

    def test_mistakes(self):
        for pattern, message in (("step (", "bad regular expression at character 7"), ("", "--step needs RE")):
            done = run("analyze", trace("steps"), "--out", fresh_dir() / "x", "--step", pattern)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)

    def test_another_pattern_runs_what_depends_on_it(self):
        out = fresh_dir() / "run"
        analyze(trace("steps"), out=out)
        done = run("analyze", trace("steps"), "-v", "--out", out, "--step", r"^step \d+$")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--step changed", done.stderr)
        self.assertRegex(done.stderr, r"(?m)^nsys-ai: extract .* reused$")
        self.assertEqual(read_csv(out, "step_summary")[0]["method"], "user")
        done = run("analyze", trace("steps"), "-v", "--out", out, "--step", r"^step \d+$")
        self.assertRegex(done.stderr, r"(?m)^nsys-ai: analyze .* reused$")


class AgainstTheExport(unittest.TestCase):
    """Numbers of `training` and `steps` recounted with SQL."""

    def test_kernels_and_windows(self):
        path = trace("steps")
        rows = read_csv(artifacts(path), "steps")
        export = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        starts = [r[0] for r in export.execute(
            "select start from NVTX_EVENTS where coalesce(text, (select value from StringIds where id = textId)) like 'step %' "
            "and end is not null order by start")]
        self.assertEqual([int(r["cpu_start_ns"]) for r in rows], starts)
        bounds = starts[1:] + [1 << 62]
        for row, begin, end in zip(rows, starts, bounds):
            count, first, time = export.execute(
                "select count(*), min(k.start), sum(k.end - k.start) from CUPTI_ACTIVITY_KIND_KERNEL k join "
                "CUPTI_ACTIVITY_KIND_RUNTIME r on r.correlationId = k.correlationId and "
                "r.globalTid / 0x1000000 = k.globalPid / 0x1000000 where r.start >= ? and r.start < ?", (begin, end)).fetchone()
            self.assertEqual((count, first, time),
                             (int(row["kernel_count"]), int(row["gpu_start_ns"]), ns_of_ms(row["kernel_ms"])))

    def test_sums(self):
        real = [path for path in TRACES if path.stem == "jetson_orin"]
        for path in [trace("steps"), trace("steps-jitter", "--seed", 1), trace("training"), trace("inference"), *real]:
            with self.subTest(path.stem):
                directory = artifacts(path)
                rows = read_csv(directory, "steps")
                for row in rows:
                    self.assertEqual(sum(ns_of_ms(row[p]) for p in PARTS), ns_of_ms(row["duration_ms"]))
                    self.assertEqual(int(row["gpu_end_ns"]) - int(row["gpu_start_ns"]), ns_of_ms(row["duration_ms"]))
                for a, b in zip(rows, rows[1:]):
                    if (a["pid"], a["device_id"]) == (b["pid"], b["device_id"]):
                        self.assertEqual(a["gpu_end_ns"], b["gpu_start_ns"])
                for s in read_csv(directory, "step_summary"):
                    mine = [r for r in rows if (r["pid"], r["device_id"]) == (s["pid"], s["device_id"])]
                    steady = sorted(ns_of_ms(r["duration_ms"]) for r in mine if r["state"] == "steady")
                    self.assertEqual(len(mine), int(s["steps"]))
                    self.assertEqual(len(mine), sum(int(s[c]) for c in ("steady_steps", "warm_up_steps", "truncated_steps", "paused_steps")))
                    self.assertEqual(steady[(len(steady) - 1) // 2], ns_of_ms(s["median_ms"]))
                    self.assertEqual(sum(steady), ns_of_ms(s["steady_ms"]))
                    idle = [ns_of_ms(r["total_ms"]) for r in read_csv(directory, "step_idle")
                            if (r["pid"], r["device_id"]) == (s["pid"], s["device_id"])]
                    self.assertEqual(sum(idle), sum(ns_of_ms(r["idle_ms"]) for r in mine if r["state"] == "steady"))
                    self.assertEqual(sum(r["is_outlier"] == "1" for r in mine), int(s["outlier_steps"]))


@unittest.skipUnless(any(t.stem == "fsdp_2gpu" for t in TRACES), "no reference traces")
class ReferenceTrace(unittest.TestCase):
    def test_a_layer_and_no_step(self):
        directory = artifacts(next(t for t in TRACES if t.stem == "fsdp_2gpu"))
        self.assertEqual(read_csv(directory, "steps"), [])
        for row in read_csv(directory, "repeating_units"):
            self.assertEqual((row["kernel_count"], row["repetitions"], row["match_pct"], row["level"]),
                             ("119", "17", "100.0000", "layer"))
            self.assertIn("blocks.#", row["nvtx_path"])
        self.assertEqual({r["reason"] for r in read_csv(directory, "step_search")},
                         {"repeating unit of 119 kernels, 17 times: probably a layer; no step boundary found"})


if __name__ == "__main__":
    support.main()
