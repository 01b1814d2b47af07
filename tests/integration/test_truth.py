"""Reports against the truth that the generator books while it plans a trace: everything in exact ns."""
import collections
import functools
import pathlib
import re
import unittest

import support
from support import DIAGNOSIS, PAIRS, SCENARIOS, artifacts, fresh_dir, ns_of_ms, ns_of_us, report, trace, truth

SEEDS = support.by_tier(("2",), ("2", "3", "4"))
SCHEMAS = support.by_tier((2021,), (2019, 2021, 2024))
REASONS = {"missing_time": "rows-without-time", "not_an_integer": "rows-with-bad-type", "end_before_start": "rows-reversed",
           "zero_times": "rows-not-collected"}
COPY_KIND = ["Unknown", "Host-to-Device", "Device-to-Host", "Host-to-Array", "Array-to-Host", "Array-to-Array", "Array-to-Device",
             "Device-to-Array", "Device-to-Device", "Host-to-Host", "Peer-to-Peer"]
COPY_KIND += [""] * (64 - len(COPY_KIND)) + ["Decompression"]  # a number of our own: CUPTI has no such kind
MEM_KIND = ["Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static", "Unknown"]
CAVEATS = {"graph-envelopes": "graph-envelopes", "device-shared-by-processes": "gpus-split-by-process",
           "open-ranges": "open-ranges", "crossing-ranges": "crossing-ranges"}
IDLE_CAUSES = ("profiler module_load allocation blocking_call queue_drained in_launch_call cuda_call host_code launch_latency "
               "dependency host_function page_migration unknown").split()
# Columns of a table that tell which row a fact of the truth speaks of, and what its value is.
FACTS = {"capture_health": ("check", "state"), "workload_evidence": ("aspect", "value"), "losses": ("what", "example"),
         "kernel_shape": ("kernel_name", "fill"), "graphs": ("traced_by", None), "graph_calls": ("operation", "api_name"),
         "graph_ranges": ("range_name", "resolution"), "graph_savings": ("first_kernel", None), "copy_rates": ("direction", "link"),
         "gap_functions": ("function", "class"), "gemm_shapes": ("op", "dtype"), "autotuning": ("family", None),
         "sm_partitions": ("green_context", "overlaps"), "mpi_calls": ("function", "class"), "directive_data": ("variable", "repeated"), "directive_kernels": ("line", "file"), "directive_waits": ("file", "line"), "file_access": ("file", "group"), "syscalls": ("name", None), "mpi_processes": ("rank", None), "mpi_efficiency": ("process_count", None), "mpi_pairs": ("peer_rank", None), "mpi_collectives": ("rank", "function"), "call_sites": ("label", "site_kind"),
         "call_site_kernels": ("kernel_name", None), "gpu_residency": ("owner", None), "host_functions": ("function", "kind"),
         "kernel_bounds": ("kernel_name", "bound_by"), "kernel_metrics": ("kernel_name", "why"), "range_metrics": ("range_path", "state")}
# Where a table's time and count are not called so.
FACT_TIME = {"kernel_shape": "tail_loss_ms", "graphs": "idle_inside_ms", "graph_calls": "total_time_ms", "graph_ranges": "kernel_time_ms",
             "graph_savings": "saving_high_ms", "copy_rates": "overlappable_ms", "gemm_shapes": "total_time_ms", "autotuning": "lost_ms",
             "sm_partitions": "kernel_time_ms", "mpi_calls": "exposed_ms", "directive_data": "copy_ms", "directive_kernels": "kernel_time_ms", "directive_waits": "idle_ms", "file_access": "busy_ms", "syscalls": "total_time_ms", "mpi_processes": "useful_ms", "mpi_efficiency": "max_useful_ms", "mpi_pairs": "late_send_ms", "mpi_collectives": "wait_ms", "call_sites": "gpu_time_ms",
             "gpu_residency": "resident_ms", "host_functions": "stream_time_ms", "kernel_bounds": "time_ms"}
FACT_COUNT = {"kernel_shape": "call_count", "graphs": "launch_count", "graph_calls": "call_count", "graph_ranges": "kernel_count",
              "graph_savings": "pass_count", "copy_rates": "count", "autotuning": "variant_count",
              "sm_partitions": "kernel_count", "mpi_calls": "call_count", "directive_data": "event_count", "directive_kernels": "kernel_count", "directive_waits": "wait_count", "file_access": "read_count", "syscalls": "call_count", "mpi_processes": "call_count", "mpi_pairs": "message_count", "mpi_collectives": "call_count", "call_sites": "kernel_count",
              "gpu_residency": "slice_count", "host_functions": "call_count", "kernel_bounds": "sample_count", "kernel_metrics": "sample_count", "range_metrics": "sample_count"}
FACT_GAIN = {"losses": "gain_ms", "copy_rates": "first_touch_ms", "call_sites": "wait_idle_ms",
             "gpu_residency": "kernel_away_ms", "host_functions": "idle_ms", "directive_data": "exposed_ms", "mpi_processes": "exposed_ms", "mpi_efficiency": "mean_useful_ms", "mpi_pairs": "late_send_idle_ms", "mpi_collectives": "wait_idle_ms", "file_access": "launcher_idle_ms", "syscalls": "launcher_idle_ms"}
GAP_ADVICE = {"idle-host-code", "launch-bound"}


def cases():
    """(trace, label) of all scenarios with exact truth: the default seed, others, and other exporter generations."""
    for scenario in SCENARIOS:
        if scenario == "hostile-values":
            continue
        yield trace(scenario), scenario
        for schema in SCHEMAS:
            if schema >= support.oldest_schema(scenario):
                yield trace(scenario, "--schema", schema, *support.SMALL.get(scenario, ())), f"{scenario} {schema}"
        if scenario not in ("hostile", "empty"):
            for seed in SEEDS:
                yield trace(scenario, "--seed", seed, *support.SMALL.get(scenario, ())), f"{scenario} seed {seed}"
    for scenario in (*DIAGNOSIS, *PAIRS):
        yield trace(scenario), scenario
        if support.in_tier("ci") and support.oldest_schema(scenario) < 2026:
            yield trace(scenario, "--schema", support.oldest_schema(scenario)), f"{scenario} {support.oldest_schema(scenario)}"


def in_groups(causes, host_functions):
    """Times by cause, less exactly: the reference sweep knows neither drained queues nor what a late start waited for. A host function is a wait or
    a late start to it."""
    groups = {"queue_drained": "late", "cuda_call": "late", "host_code": "late",
              "dependency": "later", "unknown": "later"}
    if host_functions:
        groups |= {"host_function": "later", "blocking_call": "later", "launch_latency": "later"}
    sums = collections.Counter()
    for cause, ns in causes.items():
        sums[groups.get(cause, cause)] += ns
    return sums


def key_of_name(record, field="name"):
    """A name as far as it survives sanitising: hostile names carry a tag for this."""
    name = record.get(field) or record.get(field + "_hex", "")
    if field + "_hex" in record:
        name = bytes.fromhex(record[field + "_hex"]).decode("utf-8", "replace")
    if len(name) > 8000:  # cut short in reports
        return "long"
    tag = re.search(r"hx\d{3}", name)
    return tag.group() if tag else name


@functools.lru_cache(maxsize=None)  # every check looks at every case
class Case:
    """One trace, its truth and its report."""

    def __init__(self, path, options=()):
        self.truth = truth(path)
        self.report = report(artifacts(path, *options))
        self.device = {}
        for gpu in self.truth.get("gpus", []):
            self.device[gpu["gpu"]] = self.device_of(gpu)

    def device_of(self, gpu):
        for row in self.report.rows("gpus"):
            if gpu["gpu_id"] is not None and row["mapped"] and row["device_id"] == gpu["gpu_id"]:
                return row["device_id"]
            for context in gpu["contexts"]:
                if row["cuda_device"] == context["device_id"] and row["pid"] in (None, context["pid"]) and not row["mapped"]:
                    return row["device_id"]
        raise AssertionError(f"no GPU for {gpu['gpu_id']}, {gpu['contexts']}")


class Truth(unittest.TestCase):
    maxDiff = 4000

    def each(self, body):
        for path, label in cases():
            with self.subTest(case=label):
                body(Case(path))

    def test_kernels(self):
        self.each(self.check_kernels)

    def check_kernels(self, case):
        want = {}
        for k in case.truth["kernels"]:  # one entry per process; the report has one row per GPU
            key = key_of_name(k), case.device[k["gpu"]]
            count, total, least, most = want.get(key, (0, 0, k["min_ns"], 0))
            want[key] = (count + k["count"], total + k["total_ns"], min(least, k["min_ns"]), max(most, k["max_ns"]))
        rows = case.report.rows("kernels")
        got = {(key_of_name(r, "kernel_name"), r["device_id"]): (r["call_count"], r["total_time_ns"], ns_of_us(r["min_duration_us"]),
                                                                 ns_of_us(r["max_duration_us"])) for r in rows}
        self.assertEqual(got, want)
        self.assertEqual(len(rows), len(want))
        self.assertEqual(sum(r["total_time_ns"] for r in rows), case.truth["total_kernel_ns"])
        wrong = [r["kernel_name"] for r in rows for k in case.truth["kernels"]
                 if key_of_name(k) == key_of_name(r, "kernel_name") and (k["class"] == "communication") != (r["category"] == "communication")]
        self.assertEqual(wrong, [])
        totals = [r["total_time_ns"] for r in rows]
        self.assertEqual(totals, sorted(totals, reverse=True))

    def test_partition(self):
        self.each(self.check_partition)

    def check_partition(self, case):
        rows = {r["device_id"]: r for r in case.report.rows("gpu_utilization")}
        self.assertEqual(set(rows), set(case.device.values()))
        for gpu in case.truth["gpus"]:
            row = rows[case.device[gpu["gpu"]]]
            want = {name: gpu[name] for name in ("window_ns", "compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns", "comm_ns",
                                                 "gap_count", "kernel_window_ns", "kernel_busy_ns")}
            self.assertEqual({name: row[name] for name in want}, want)
            self.assertEqual((row["window_start_ns"], row["window_end_ns"]), (gpu["start_ns"], gpu["end_ns"]))
            self.assertEqual(row["compute_ns"] + row["exposed_comm_ns"] + row["exposed_copy_ns"] + row["idle_ns"], row["window_ns"])
            if gpu["comm_ns"]:
                self.assertAlmostEqual(float(row["overlap_comm_pct"]), 100 * gpu["comm_hidden_ns"] / gpu["comm_ns"], places=4)

    def test_idle(self):
        self.each(self.check_idle)

    def check_idle(self, case):
        gaps = collections.defaultdict(list)
        for r in case.report.rows("gpu_idle_gaps"):
            gaps[r["device_id"]].append(r["gap_end_ns"] - r["gap_start_ns"])
        for gpu in case.truth["gpus"]:
            device = case.device[gpu["gpu"]]
            if sum(g["gap_count"] for g in case.truth["gpus"]) > 10000:  # only the longest are listed
                continue
            self.assertEqual(len(gaps[device]), gpu["gap_count"])
            self.assertEqual(sum(gaps[device]), gpu["idle_ns"])
            self.assertEqual(max(gaps[device], default=0), gpu["longest_gap_ns"])

    def test_idle_parts(self):
        """Each gap told as parts with one cause each: the parts of a cause, and their sum, exactly."""
        self.each(self.check_idle_parts)

    def check_idle_parts(self, case):
        rows = collections.defaultdict(dict)
        for r in case.report.rows("idle_causes"):
            rows[r["device_id"]][r["cause"]] = {"part_count": r["part_count"], "total_ns": r["total_ns"]}
        for gpu in case.truth["gpus"]:
            got = rows[case.device[gpu["gpu"]]]
            self.assertEqual(set(got) - set(IDLE_CAUSES), set())
            self.assertEqual(sum(r["total_ns"] for r in got.values()), gpu["idle_ns"])
            if "idle_parts" in gpu:
                self.assertEqual(got, gpu["idle_parts"])
            totals = {cause: r["total_ns"] for cause, r in got.items()}
            self.assertEqual(*(in_groups(times, "host_function" in totals) for times in (totals, gpu["idle_sweep"])))

    def test_spans(self):
        self.each(self.check_spans)

    def check_spans(self, case):
        want = [(case.device[s["gpu"]], s["kind"], s["start_ns"], s["end_ns"]) for s in case.truth.get("active_spans", [])]
        if not want and all("idle_parts" in gpu for gpu in case.truth["gpus"]):  # planned, and without a pause
            want = [(case.device[gpu["gpu"]], "active", gpu["start_ns"], gpu["end_ns"]) for gpu in case.truth["gpus"]]
        elif not want:
            return
        got = [(r["device_id"], r["kind"], r["start_ns"], r["end_ns"]) for r in case.report.rows("active_spans")]
        self.assertEqual(sorted(got), sorted(want))

    def test_facts(self):
        """What a diagnosis must find, or must not."""
        self.each(self.check_facts)

    def check_facts(self, case):
        for fact in case.truth.get("facts", []):
            if fact["table"] in ("unified_memory", "memory_use", "memory_growth"):  # of one row: the key is a column
                self.assertEqual([r[fact["key"]] for r in case.report.rows(fact["table"])], [fact["count"]], fact)
                continue
            key, value = FACTS[fact["table"]]
            rows = [r for r in case.report.rows(fact["table"]) if ("" if r[key] is None else str(r[key])) == fact["key"]]
            if fact["table"] == "gap_functions":
                rows = self.own_code(case, fact["key"])
            if fact["table"] == "losses" and "value" in fact:  # an example is any of several
                rows = [r for r in rows if fact["value"] in r[value]]
            if fact.get("absent"):
                self.assertEqual(rows, [])
                continue
            self.assertNotEqual(rows, [], fact)
            if "value" in fact and fact["table"] != "losses":
                self.assertEqual({"" if r[value] is None else str(r[value]) for r in rows}, {fact["value"]}, fact)
            if "at_most_ns" in fact:
                self.assertLessEqual(max(ns_of_ms(r["time_ms"]) for r in rows), fact["at_most_ns"], fact)
            if "exact_ns" in fact:
                self.assertEqual(sum(ns_of_ms(r[FACT_TIME.get(fact["table"], "time_ms")]) for r in rows), fact["exact_ns"], fact)
            if "gain_ns" in fact:
                self.assertEqual(sum(ns_of_ms(r[FACT_GAIN[fact["table"]]]) for r in rows), fact["gain_ns"], fact)
            if "count" in fact:
                self.assertIn(fact["count"], [r[FACT_COUNT.get(fact["table"], "count")] for r in rows], fact)

    @staticmethod
    def own_code(case, name):
        """Rows of gap_functions about the launching threads' own code, of a function or a class of scheduling."""
        scopes = [row["scope"] for row in case.report.rows("gap_activity")]
        return [row for row in case.report.rows("gap_functions") if scopes[row["subject"]] == "host_code"
                and (row["function"] == name or (row["layer"] == "scheduling" and row["class"] == name))]

    def test_program_output_stays_out(self):
        """A failed program's output may hold secrets: none of it may be in what is written."""
        for file in filter(pathlib.Path.is_file, artifacts(trace("failed")).rglob("*")):
            self.assertNotIn(b"CANARY", support.contents(file), file)
            self.assertNotIn(b"PRESENT clause", support.contents(file), file)

    def test_a_process_name_that_is_a_path(self):
        """Real exports have the interpreter's path in some, with the user's name; its last part is what a report needs."""
        for path in ("/home/CANARY/.venv/bin/python3", "C:\\Users\\CANARY\\train.exe"):
            named = support.edited("shared-gpu-mapped", f"update PROCESSES set name = '{path}'")
            directory = support.analyze(named)
            name = re.split(r"[/\\]", path)[-1]
            self.assertEqual({row["process_name"] for row in support.read_csv(directory, "process_summary")}, {name})
            for file in filter(pathlib.Path.is_file, directory.rglob("*")):
                self.assertNotIn(b"CANARY", support.contents(file), file)
            for format_name in ("perfetto", "chrome"):
                out = support.fresh_dir() / "t"
                self.assertEqual(support.run("export", format_name, directory, "--out", out).returncode, 0)
                self.assertNotIn(b"CANARY", out.read_bytes())

    def test_launches(self):
        self.each(self.check_launches)

    def check_launches(self, case):
        rows = {(r["scope"], r["device_id"], r["pid"]): r for r in case.report.rows("launch_rates")}
        join = case.truth["join"]
        if join["kernels"]:
            whole = next(r for r in rows.values() if r["scope"] == "all")
            self.assertEqual((whole["kernel_count"], whole["launch_calls"]), (join["kernels"], join["launch_calls"]))
        for gpu in case.truth["gpus"]:
            launch = gpu["launch"]
            if not launch["kernel_count"]:
                continue
            row = next(r for r in rows.values() if r["scope"] == "gpu" and r["device_id"] == case.device[gpu["gpu"]])
            self.assertEqual((row["kernel_count"], row["launch_calls"]), (launch["kernel_count"], launch["launch_calls"]))
            self.assertEqual(int(row["window_s"] * 10**9), launch["window_ns"])
            for name in ("p50", "p90", "p99"):
                self.assertAlmostEqual(float(row[f"{name}_kernel_us"]), launch[f"{name}_kernel_ns"] / 1000, delta=0.00051)
            self.assertAlmostEqual(float(row["kernels_per_s"]), launch["kernels_per_s"], delta=0.00051)

    def test_synchronisation(self):
        self.each(self.check_synchronisation)

    def check_synchronisation(self, case):
        listed = {"blocking", "ordering", "poll"}
        want = {(c["pid"], c["api"]): (c["class"], c["count"], c["total_ns"], c["max_ns"]) for c in case.truth["calls"]
                if c["class"] in listed}
        got = {(r["pid"], r["api_name"]): (r["class"], r["call_count"], ns_of_ms(r["total_time_ms"]), ns_of_us(r["max_duration_us"]))
               for r in case.report.rows("sync_by_pid")}
        self.assertEqual(got, want)
        calls = collections.Counter()
        for c in case.truth["calls"]:
            calls[c["pid"]] += c["count"]
        blocked = collections.Counter()
        for t in case.truth["threads"]:
            blocked[t["pid"]] += t["blocked_ns"]
        for r in case.report.rows("process_summary"):
            self.assertEqual((r["pid"], r["api_calls"], ns_of_ms(r["blocked_ms"])), (r["pid"], calls[r["pid"]], blocked[r["pid"]]))

    def test_nvtx(self):
        self.each(self.check_nvtx)

    def check_nvtx(self, case):
        nvtx = case.truth["nvtx"]
        by_pid = {(r["pid"], key_of_name(r, "range_name")): (r["nvtx_count"], ns_of_ms(r["nvtx_total_time_ms"]),
                                                             ns_of_ms(r["attributed_kernel_time_ms"]), r["attributed_kernel_count"])
                  for r in case.report.rows("nvtx_by_pid")}
        want = {(r["pid"], key_of_name(r)): (r["count"], r["outermost_ns"], r["kernel_ns"], r["kernel_count"]) for r in nvtx["ranges"]}
        self.assertEqual(by_pid, want)
        sums = collections.defaultdict(lambda: [0, 0, 0, 0, 0, 0])
        selfs = collections.defaultdict(list)
        longest = collections.Counter()
        for r in nvtx["ranges"]:
            key = key_of_name(r)
            for i, field in enumerate(("count", "outermost_ns", "duration_sum_ns", "kernel_ns", "kernel_count", "self_kernel_ns")):
                sums[key][i] += r[field]
            selfs[key].append(r["self_ns"])
            longest[key] = max(longest[key], r["max_ns"])
        rows = {key_of_name(r, "range_name"): r for r in case.report.rows("nvtx_ranges")}
        self.assertEqual(set(rows), set(sums))
        for key, (count, outermost, durations, kernel, kernels, self_kernel) in sums.items():
            row = rows[key]
            self.assertEqual((row["count"], ns_of_ms(row["total_time_ms"]), ns_of_us(row["max_duration_us"])), (count, outermost, longest[key]), key)
            on_gpu = (row["attributed_kernel_time_ms"], row["attributed_kernel_count"], row["self_kernel_time_ms"])
            if case.report.rows("gpus"):
                self.assertEqual((ns_of_ms(on_gpu[0]), on_gpu[1], ns_of_ms(on_gpu[2])), (kernel, kernels, self_kernel), key)
            else:  # nothing is known of GPUs, not even that they did nothing
                self.assertEqual((on_gpu, kernels), ((None, None, None), 0), key)
            self.assertAlmostEqual(float(row["avg_duration_us"]) * 1000, durations / count, delta=0.51)
            if None not in selfs[key]:  # start/end ranges do not nest
                self.assertEqual(ns_of_ms(row["self_time_ms"]), sum(selfs[key]), key)
        coverage = [r for r in case.report.rows("nvtx_coverage") if r["scope"] == "all"]
        self.assertEqual([(ns_of_ms(r["attributed_kernel_time_ms"]), r["kernel_count"], r["range_count"]) for r in coverage],
                         [(nvtx["attributed_kernel_ns"], case.truth["join"]["kernels"], nvtx["range_rows"])] if nvtx["ranges"] else [])

    def test_phases(self):
        checked = 0
        for path, label in cases():
            phases = truth(path)["phases"]
            if not phases["map"]:
                continue
            checked += 1
            with self.subTest(case=label):
                self.check_phases(path, phases)
        self.assertGreater(checked, 0)

    def check_phases(self, path, phases):
        lines = []
        for phase, names in phases["map"].items():  # whole names, so that none matches by accident
            lines.append(f"{phase}:\n" + "".join(f"  - 're:^{re.escape(name)}$'\n" for name in names))
        phase_map = fresh_dir("phases") / "map.yaml"
        phase_map.write_text("".join(lines))
        result = report(support.analyze(path, "--phase-map", phase_map))
        rows = {r["phase"]: r for r in result.rows("nvtx_phases")}
        for phase in phases["phases"]:
            row = rows[phase["phase"]]
            self.assertEqual((ns_of_ms(row["wall_time_ms"]), ns_of_ms(row["kernel_time_ms"]), row["kernel_count"]),
                             (phase["wall_ns"], phase["kernel_ns"], phase["kernel_count"]), phase["phase"])
        self.assertEqual(ns_of_ms(rows["unmapped"]["kernel_time_ms"]) if "unmapped" in rows else 0, phases["unmapped_kernel_ns"])

    def test_processes(self):
        self.each(self.check_processes)

    def check_processes(self, case):
        rows = {r["pid"]: r for r in case.report.rows("process_summary")}
        for want in case.truth["pids"]:
            row = rows[want["pid"]]
            got = (row["kernel_count"], ns_of_ms(row["kernel_time_ms"]), row["memcpy_bytes"], row["api_calls"])
            self.assertEqual(got, (want["kernel_count"], want["kernel_ns"], want["memcpy_bytes"], want["api_calls"]))
            if want["kernel_ns"]:
                share = 100 * want["attributed_kernel_ns"] / want["kernel_ns"]
                self.assertAlmostEqual(float(row["nvtx_coverage_pct"] or 0), share, delta=0.00006)
        self.assertEqual(set(rows), {p["pid"] for p in case.truth["pids"]})
        by_pid = collections.Counter()
        for r in case.report.rows("kernels_by_pid"):
            by_pid[r["pid"]] += ns_of_ms(r["total_time_ms"])
        self.assertEqual(by_pid, collections.Counter({p["pid"]: p["kernel_ns"] for p in case.truth["pids"] if p["kernel_ns"]}))

    def test_memory(self):
        self.each(self.check_memory)

    def check_memory(self, case):
        def label(labels, kind):
            return labels[kind] if kind < len(labels) else f"kind {kind}"
        set_kind = MEM_KIND if case.truth["schema"] > 2019 else [None] * len(MEM_KIND)  # memKind came later
        want = {(label(COPY_KIND, m["copy_kind"]), label(MEM_KIND, m["src_kind"]), label(MEM_KIND, m["dst_kind"]),
                 case.device[m["gpu"]]): (m["count"], m["bytes"], m["total_ns"]) for m in case.truth["memory"]}
        want.update({("memset", None, label(set_kind, m["mem_kind"]), case.device[m["gpu"]]): (m["count"], m["bytes"], m["total_ns"])
                     for m in case.truth["memsets"]})
        told = ("src_kind", "dst_kind")
        got = {(r["direction"], *("Unknown" if r["direction"] == "Decompression" and not r[k] else r[k] for k in told),
                r["device_id"]): (r["count"], r["total_bytes"], ns_of_ms(r["total_time_ms"]))
               for r in case.report.rows("memory_transfers")}
        self.assertEqual(got, want)

    @support.tier("ci")
    def test_dropped_rows(self):
        self.each(self.check_dropped_rows)

    def check_dropped_rows(self, case):
        want = collections.Counter({(d["table"], REASONS[d["reason"]]): d["count"] for d in case.truth["rows_dropped"]})
        got = collections.Counter({(r["source_table"], r["check"]): r["count"] for r in case.report.rows("data_quality")
                                   if r["check"].startswith("rows-")})
        self.assertEqual(got, want)
        self.assertEqual(case.report.rows("run_info")[0]["dropped_rows"], sum(want.values()))

    def test_findings_and_caveats(self):
        def check(case):
            findings = case.report.findings()
            self.assertEqual(set(case.truth["findings"]["must_fire"]) - findings, set(), "missing")
            self.assertEqual(set(case.truth["findings"]["must_not_fire"]) & findings, set(), "unwanted")
            caveats = case.report.caveats()
            for name in case.truth["caveats"]:
                if name in CAVEATS:
                    self.assertIn(CAVEATS[name], caveats)
        self.each(check)

    def test_copy_bound_gets_no_launch_or_idle_advice(self):
        for seed in ("1", *SEEDS):
            findings = report(artifacts(trace("copy-bound", "--seed", seed))).findings()
            self.assertIn("exposed-copy", findings)
            self.assertEqual(findings & GAP_ADVICE, set())

    def test_hostile_values(self):
        """What to do with absurd values is a choice; that utilization stays below 100 % and everything adds up is not."""
        result = report(artifacts(trace("hostile-values")))
        for row in result.rows("gpu_utilization"):
            self.assertLessEqual(row["busy_pct"], 100)
            self.assertEqual(row["compute_ns"] + row["exposed_comm_ns"] + row["exposed_copy_ns"] + row["idle_ns"], row["window_ns"])
            for name, value in row.items():
                if name.endswith(("_ns", "_ms", "_pct")) and value is not None and not name.startswith("window_"):
                    self.assertGreaterEqual(value, 0, name)
        self.assertIn("rows-out-of-range", result.caveats())

    def test_bench(self):
        path = trace("bench", "--size", "2M")
        case = Case(path)
        self.check_kernels(case)
        self.check_partition(case)
        self.check_synchronisation(case)
        self.check_memory(case)
        self.check_processes(case)


if __name__ == "__main__":
    support.main()
