"""GPU time by call site: against the export itself, and what must not be said of it."""
import collections
import sqlite3
import unittest

import perfetto_reader
import support
from support import artifacts, ns_of_ms, read_csv, run, trace

SITES = ("call-sites", "call-sites-mended", "call-sites-renamed")
TABLES = ("call_sites", "call_site_kernels", "call_stack_coverage")
ADDED = {"kernel_count": "select count(*) from CUPTI_ACTIVITY_KIND_KERNEL",
         "kernel_time_ms": "select sum(end - start) from CUPTI_ACTIVITY_KIND_KERNEL",
         "api_count": "select count(*) from CUPTI_ACTIVITY_KIND_RUNTIME",
         "api_ms": "select sum(end - start) from CUPTI_ACTIVITY_KIND_RUNTIME",
         "wait_count": "select count(*) from CUPTI_ACTIVITY_KIND_RUNTIME r join StringIds s on s.id = r.nameId where s.value like '%Synchronize%'"}


def query(path, statement):
    with sqlite3.connect(path) as db:
        return db.execute(statement).fetchall()


class CallSites(unittest.TestCase):
    def test_rows_add_up_to_the_run(self):
        for name in SITES:
            rows = read_csv(artifacts(trace(name)), "call_sites")
            for column, statement in ADDED.items():
                (want,), = query(trace(name), statement)
                got = sum(ns_of_ms(r[column]) if column.endswith("_ms") else int(r[column]) for r in rows)
                self.assertEqual(got, want, (name, column))
            idle = read_csv(artifacts(trace(name)), "idle_causes")
            self.assertEqual(sum(ns_of_ms(r["idle_ms"]) for r in rows), sum(ns_of_ms(r["active_ms"]) for r in idle))

    def test_python_lines_by_the_export(self):
        """Kernels that no graph replays, by the line that a stack's innermost Python frame outside of PyTorch names."""
        statement = """select c.id, s.value, k.end - k.start from CUPTI_ACTIVITY_KIND_KERNEL k
            join CUPTI_ACTIVITY_KIND_RUNTIME r on r.correlationId = k.correlationId
            join CUDA_CALLCHAINS c on c.id = r.callchainId join StringIds s on s.id = c.symbol
            where coalesce(k.graphNodeId, 0) = 0 order by k.start, c.stackDepth"""
        sites, seen = collections.Counter(), set()
        for chain, symbol, ns in query(trace("call-sites"), statement):
            if chain not in seen and ".py" in symbol and "/torch/" not in symbol:
                seen.add(chain)
                sites[symbol] += ns
        rows = {r["label"]: ns_of_ms(r["gpu_time_ms"]) for r in read_csv(artifacts(trace("call-sites")), "call_sites")
                if r["site_kind"] == "python" and r["scope"] == "call" and float(r["gpu_time_ms"])}
        # relu's path is its module, and its caller's line the innermost that a symbol has
        rows["train/loop.py:43 step"] = rows.pop("~/layers.py:88 relu")
        self.assertEqual(sorted(rows.values()), sorted(sites.values()))
        self.assertEqual(rows["train/loop.py:42 step"], sites["step (/home/ada/train/loop.py:42)"])
        self.assertEqual(rows["train/loop.py:43 step"], sites["step (/home/ada/train/loop.py:43)"])

    def test_findings_name_the_site(self):
        """What costs most names the line, and asks for no tool that would find it."""
        for scenario, at in (("call-sites", True), ("call-sites-mended", False)):
            found = {f["id"]: f for f in support.report(artifacts(trace(scenario))).json["findings"]}
            for rule, text in (("idle-queue-drained", "4.50 ms of the idle time in waits and after them at train/loop.py:57 log_loss"),
                               ("allocation-in-steady-state", "3.50 ms of it at grow(Buffer &) (engine)")):
                self.assertEqual(text in str(found.get(rule)), at, (scenario, rule))
            self.assertNotIn("set_sync_debug_mode", str(found))

    def test_replayed_kernels_are_their_captures(self):
        rows = [r for r in read_csv(artifacts(trace("call-sites")), "call_site_kernels") if r["kernel_name"].startswith("decode_")]
        self.assertEqual({(r["label"], r["scope"]) for r in rows},
                         {("decode_layer(int) (engine)", "captured"), ("train/loop.py:91 replay", "graph_launch")})
        (recorded,), = query(trace("call-sites"), "select count(distinct graphNodeId >> 32) from CUDA_GRAPH_NODE_EVENTS")
        self.assertEqual(recorded, 1)  # of two graphs: the other one's kernels are nobody's

    def test_timelines_name_them(self):
        """Each kernel's site is that of its launching call; of replayed ones a launch is named, as a launch."""
        out = support.fresh_dir() / "calls.pftrace"
        self.assertEqual(run("export", "perfetto", artifacts(trace("call-sites")), "--out", out).returncode, 0)
        slices = perfetto_reader.Trace(out.read_bytes()).slices
        kernels = [s for s in slices if "kernel" in s.args]
        sites = collections.Counter((s.args.get("site"), s.args.get("graph_launch_site")) for s in kernels)
        rows = collections.Counter()
        for r in read_csv(artifacts(trace("call-sites")), "call_sites"):
            label = r["label"] if r["site_kind"] != "none" else None
            rows[(None, label) if r["scope"] == "graph_launch" else (label, None)] += int(r["kernel_count"])
        self.assertEqual(sites, +rows)
        statement = """select r.rowid, s.value from CUPTI_ACTIVITY_KIND_RUNTIME r join CUDA_CALLCHAINS c on c.id = r.callchainId
            join StringIds s on s.id = c.symbol where s.value like '%.py%' and s.value not like '%/torch/%' order by r.rowid, c.stackDepth desc"""
        innermost = dict(query(trace("call-sites"), statement))  # the last one of each call
        want = sum(frame == "step (/home/ada/train/loop.py:42)" for frame in innermost.values())
        self.assertGreater(want, 0)
        self.assertEqual(sum(s.args.get("site") == "train/loop.py:42 step" and "kernel" not in s.args for s in slices), want)

    def test_a_share_stands_beside_its_coverage(self):
        for name in SITES:
            text = (artifacts(trace(name)) / "report.md").read_text().replace("\xa0", " ")
            part = text.partition("<summary>GPU time by call site</summary>")[2].partition("</details>")[0]
            coverage, = read_csv(artifacts(trace(name)), "call_stack_coverage")
            self.assertIn(f"{float(coverage['gpu_time_with_site_pct']):.1f} % of the GPU time", part.partition("\n| ")[0])
            self.assertIn("not where its kernels come from", part)
            self.assertIn("take durations from a capture without them", part)
        for part in (artifacts(trace("call-sites")) / "report.md").read_text().split("\n### "):
            if part[3:].partition(": ")[2].startswith(("Wait at one", "Allocation at one")):
                self.assertIn("calls with a stack launched", part)

    def test_names_of_homes_are_not_shown(self):
        for name in TABLES:
            for row in read_csv(artifacts(trace("call-sites")), name):
                self.assertNotIn("/ada/", row.get("label", ""))

    def test_a_trace_without_stacks_sees_nothing(self):
        directory = artifacts(trace("training"))
        for name in TABLES:
            self.assertEqual(read_csv(directory, name), [])
        self.assertNotIn("call site", (directory / "report.md").read_text())
        done = run("export", "folded", directory, "--stacks", "call")
        self.assertEqual(done.returncode, 3)
        self.assertIn("--cudabacktrace", done.stderr)

    def test_folded_stacks_are_all_kernel_time(self):
        directory = artifacts(trace("call-sites"))
        lines = [line.rpartition(" ") for line in run("export", "folded", directory, "--stacks", "call").stdout.splitlines()]
        (want,), = query(trace("call-sites"), ADDED["kernel_time_ms"])
        self.assertEqual(sum(int(ns) for _, _, ns in lines), want)
        self.assertEqual([stack for stack, _, _ in lines], sorted({stack for stack, _, _ in lines}))
        frames = [frame for stack, _, _ in lines for frame in stack.split(";")]
        self.assertFalse([f for f in frames if any(word in f for word in ("libcudart", "libpython", "[Max", "/home"))])
        self.assertTrue(any(stack.split(";")[1] == "[cut]" for stack, _, _ in lines))
        self.assertTrue(all("(graph launch)" in stack for stack, _, _ in lines if "replay" in stack))
        for options in (("--metric", "wall"), ("--gpu", "7")):
            self.assertEqual(run("export", "folded", directory, "--stacks", "call", *options).returncode, 2)
        self.assertEqual(run("export", "csv", directory, "--stacks", "call").returncode, 2)


if __name__ == "__main__":
    support.main()
