"""MFU: by hand from the steps of a planned trace, and everything that must be refused."""
import unittest

import support
from support import SHARED, analyze, artifacts, fresh_dir, ns_of_ms, read_csv, run, trace

H100_BF16 = 989.4


class Mfu(unittest.TestCase):
    def row(self, path, *options):
        row, = read_csv(analyze(path, *options), "mfu")
        return row

    def test_nothing_said(self):
        self.assertEqual(read_csv(artifacts(trace("steps")), "mfu"), [])

    def test_by_hand(self):
        row = self.row(trace("steps"), "--flops-per-step", "1e12")
        step, = [ns_of_ms(r["median_ms"]) for r in read_csv(artifacts(trace("steps")), "step_summary")]
        self.assertEqual(ns_of_ms(row["step_time_ms"]), step)
        self.assertAlmostEqual(float(row["achieved_tflops"]), 1e12 / (step * 1e-9) / 1e12, delta=0.001)
        self.assertAlmostEqual(float(row["mfu_pct"]), 100 * 1e12 / (step * 1e-9) / (H100_BF16 * 1e12), places=3)
        self.assertEqual((row["dtype"], row["note"]), ("bf16", ""))
        tf32 = self.row(trace("steps"), "--flops-per-step", "1e12", "--dtype", "tf32")
        self.assertAlmostEqual(float(tf32["mfu_pct"]), 2 * float(row["mfu_pct"]), places=3)

    def test_model(self):
        """6 N T, attention 12 L H S T, half of it with a mask."""
        for text, flop in (("params=7e6,tokens=1000", 42e9),
                           ("params=7e6,tokens=1000,layers=2,hidden=64,seq=128", 42e9 + 12 * 2 * 64 * 128 * 1000),
                           ("params=7e6,tokens=1000,layers=2,hidden=64,seq=128,causal=1", 42e9 + 6 * 2 * 64 * 128 * 1000)):
            self.assertEqual(float(self.row(trace("steps"), "--model", text)["flop_per_step"]), flop, text)

    def test_refusals(self):
        for path, options, word in (
                (trace("layers"), ("--flops-per-step", "1e12"), "no steps"),
                (trace("steps"), ("--flops-per-step", "1e20"), "more than the peak"),
                (trace("steps", "--schema", "2026"), ("--flops-per-step", "1e9", "--dtype", "fp8", "--gpu-facts", self.facts()), "no peak")):
            row = self.row(path, *options)
            self.assertEqual(row["mfu_pct"], "", row)
            self.assertIn(word, row["note"])

    def facts(self):
        path = fresh_dir() / "gpus.yaml"
        path.write_text("products:\n  NVIDIA H100 80GB HBM3: {tflops: {fp16: 100}}\n", encoding="utf-8")
        return path

    def test_part_of_a_gpu(self):
        """A MIG slice is no A30; 132 of 264 multiprocessors are half of the peak."""
        path = fresh_dir() / "gpus.yaml"
        path.write_text("products:\n  NVIDIA H100 80GB HBM3: {sm_count: 264, tflops: {bf16: 1000}}\n", encoding="utf-8")
        row = self.row(trace("steps"), "--flops-per-step", "1e9", "--gpu-facts", path)
        self.assertEqual(float(row["peak_tflops"]), 500)
        self.assertIn("scaled", row["note"])

    def test_green_contexts(self):
        """The peak stays that of the GPU, and the row says so."""
        path = support.edited("steps", "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET greenContextId = 9",
                              "INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO (nullStreamId, hwId, vmId, processId, deviceId, contextId, isGreenContext, numMultiprocessors) "
                              "SELECT DISTINCT 0, 0, 0, (globalPid >> 24) & 16777215, deviceId, 9, 1, 66 FROM CUPTI_ACTIVITY_KIND_KERNEL")
        row, plain = (self.row(p, "--flops-per-step", "1e12") for p in (path, trace("steps")))
        self.assertEqual((row["peak_tflops"], "green contexts" in row["note"], "green contexts" in plain["note"]), (plain["peak_tflops"], True, False))

    def test_mistakes(self):
        for options, word in ((("--flops-per-step", "5x"), "5x"), (("--flops-per-step", "-1"), "-1"), (("--model", "params=7e9"), "tokens"),
                              (("--model", "params=7e9,token=5"), "token=5"), (("--model", "params=7e9,tokens=4096,params=1"), "params is given twice"), (("--model", "params=1,tokens=1,layers=4"), "hidden"),
                              (("--dtype", "int4"), "int4"), (("--flops-per-step", "1", "--model", "params=1,tokens=1"), "one of them")):
            done = run("analyze", trace("steps"), "--out", fresh_dir() / "out", *options)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn(word, done.stderr)

    def test_real_exports_without_steps(self):
        path = SHARED / "traces/fsdp_2gpu.sqlite"
        if not path.exists():
            self.skipTest("no reference traces")
        row = self.row(path, "--flops-per-step", "1e14", "--peak-tflops", "989")
        self.assertEqual(row["mfu_pct"], "")


if __name__ == "__main__":
    support.main()
