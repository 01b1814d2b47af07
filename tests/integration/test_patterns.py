#!/usr/bin/env python3
"""Losses that programs are known for: each is found in the trace that has it, with its place and rate, and in no other."""
import unittest

import support
from support import SHARED, artifacts, read_csv, report, trace

# Scenario, rule, place, words of its evidence, words of its advice.
PATTERNS = [
    ("train-offload", "streamed-weights", "Host-to-Device", ["FSDP::pre_forward (encoder.block.#)", "Pinned", "25.0 GB/s", "on a stream that computes"], "offload_params=False"),
    ("train-offload", "exposed-copy", "parameters streamed from the host", ["36.7 %"], "Keep the parameters on the GPU"),
    ("train-no-prefetch", "exposed-communication", "FSDP::pre_forward (encoder.block.#)", ["AllGather (NCCL): 48 kernels, 19.2 ms, 19.2 ms exposed"], "backward_prefetch"),
    ("train-unsharded", "fsdp-without-sharding", None, ["no all-gather", "AllReduce"], "NO_SHARD"),
    ("train-scalar-reads", "idle-queue-drained", "cudaStreamSynchronize in train_step # > encoder.block.# > aten::is_nonzero > aten::item > aten::_local_scalar_dense",
     ["40 waits"], "reads a scalar"),
    ("train-constants", "idle-queue-drained", "cudaStreamSynchronize in train_step # > encoder.block.# > aten::to > aten::_to_copy > aten::copy_", ["waits"], "small tensor to the GPU"),
    ("train-loader", "data-loader-stall", "train_step #", ["enumerate(DataLoader)", "idle before the next step's first operation 6.01 ms"], "num_workers"),
    ("train-optimizer", "optimizer-small-kernels", "Optimizer.step#AdamW.step", ["1,920 kernels in 8 calls", "idle before them"], "fused=True"),
    ("train-recompute", "recomputation", "CheckpointFunctionBackward", ["31.7 ms of kernels in 48 calls"], "Checkpoint less"),
    ("train-compile", "pause-module-load", "cuModuleLoadDataEx", ["torch._inductor.compile_fx, 124.0 ms"], "Warm up"),
    ("train-first-touch", "uvm-bound", None, ["index_elementwise_kernel", "20.0 MiB on faults"], "Prefetch"),
    ("serving-eager", "serving-decode-without-graphs", None, ["launch a CUDA graph"], "cuda_graph_config"),
]
# Where else a rule may fire among exports of other programs: what they are known to do.
REAL = {"fsdp-without-sharding": {"fsdp_2gpu"}, "pause-module-load": {"solver_nvtx_osrt_sched"}, "uvm-bound": {"unified_memory"},
        "exposed-communication": {"fsdp_2gpu"}, "idle-queue-drained": None, "exposed-copy": None}
WITHOUT = {"serving-eager": "serving"}  # the sibling without the loss; of training steps train-plain


def findings(path):
    return {finding["id"]: finding for finding in reversed(report(artifacts(path)).json["findings"])}


def says(finding, words):
    text = "\n".join(item["text"] for item in finding["evidence"])
    return [word for word in words if word not in text]


class Patterns(unittest.TestCase):
    def test_each_is_found_where_it_is(self):
        for scenario, rule, place, evidence, advice in PATTERNS:
            with self.subTest(scenario, rule=rule):
                finding = findings(trace(scenario))[rule]
                self.assertEqual(finding["place"], place)
                self.assertEqual(says(finding, evidence), [])
                self.assertIn(advice, finding["recommendation"])

    def test_none_is_found_in_the_sibling(self):
        for scenario, rule, _, evidence, advice in PATTERNS:
            with self.subTest(scenario, rule=rule):
                found = findings(trace(WITHOUT.get(scenario, "train-plain"))).get(rule)
                self.assertTrue(not found or found["severity"] == "low" and says(found, evidence) and advice not in found["recommendation"], found)

    def test_a_wait_is_worth_what_the_sibling_takes_less(self):
        """The backward pass has its own thread, which the trace shows to take turns with the main one: no wait hides behind it."""
        for scenario in ("train-scalar-reads", "train-constants"):
            steps = [float(read_csv(artifacts(trace(name)), "step_summary")[0]["median_ms"]) for name in (scenario, "train-plain")]
            first = report(artifacts(trace(scenario))).json["findings"][0]
            self.assertEqual((first["id"], first["simulated"]["state"]), ("idle-queue-drained", "ok"), scenario)
            self.assertLess(abs(first["simulated"]["saving_ns"] / (steps[0] - steps[1]) / 1e6 - 1), 0.2, scenario)

    def test_what_training_does_is_found_once(self):
        """No pattern is taken for another one."""
        named = {rule for _, rule, *_ in PATTERNS} - {"exposed-communication"}
        for scenario in {scenario for scenario, *_ in PATTERNS if scenario.startswith("train-")}:
            own = {rule for of, rule, *_ in PATTERNS if of == scenario}
            self.assertLessEqual(named & set(findings(trace(scenario))), own, scenario)

    @unittest.skipUnless((SHARED / "traces").exists(), "no shared traces")
    def test_exports_of_other_programs(self):
        for path in support.exports(series=False):
            found = findings(path)
            for rule in {rule for _, rule, *_ in PATTERNS}:
                may = REAL.get(rule, set())
                self.assertTrue(rule not in found or may is None or path.stem in may, (path.stem, rule))


if __name__ == "__main__":
    support.main()
