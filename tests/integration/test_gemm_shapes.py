"""gemm_shapes, gemm_coverage and elementwise_shapes of a planned trace: operations, rooflines and coverage worked out here from
the raw export."""
import re
import sqlite3
import unittest

import support
from support import SHARED, analyze, artifacts, fresh_dir, ns_of_ms, read_csv, trace

PEAK, BANDWIDTH = 989.4e12, 3352.32e9  # H100, BF16
BF16_BYTES = 2


def numbers(text):
    return [int(n) for n in re.findall(r"[0-9]+", text)]


ELEMENTWISE = ("aten::mul", "aten::copy_", "aten::add_")


def operations(path):
    """(op, sizes) of products and attention to number of ranges in the export."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    found = {}
    for text, in db.execute("SELECT coalesce(n.text, s.value) FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId "
                            "WHERE coalesce(n.text, s.value) LIKE '%sizes = %'"):
        op, sizes = re.match(r"([^,]*),.*sizes = (\[.*\]), input_op_ids", text).groups()
        if op not in ELEMENTWISE:
            found[op, sizes] = found.get((op, sizes), 0) + 1
    return found


def matrices(op, sizes):
    """Batch, m, n, k, operations and values of a product; of attention without a mask."""
    inputs = [numbers(part) for part in re.findall(r"\[([^][]*)\]", sizes)]
    if "attention" in op:
        (b, h, m, k), (_, hk, n, _), (_, _, _, v) = inputs[:3]
        return (b * h, m, n, k), 2 * b * h * m * n * (k + v), b * h * m * (k + v) + b * hk * n * (k + v)
    if op == "aten::bmm":
        (b, m, k), (_, _, n) = inputs[:2]
    else:
        (m, k), (_, n) = inputs[-2:] if len(inputs) == 2 else inputs[1:3]
        b = 1
    return (b, m, n, k), 2 * b * m * n * k, b * (m * k + k * n + m * n)


class GemmShapes(unittest.TestCase):
    def test_operations(self):
        path = trace("gemm-sizes")
        rows = {r["op"]: r for r in read_csv(artifacts(path), "gemm_shapes")}
        ranges = operations(path)
        self.assertEqual(set(rows), {op for op, _ in ranges})
        for (op, sizes), count in ranges.items():
            row = rows[op]
            shape, flop, values = matrices(op, sizes)
            self.assertEqual(tuple(int(row[c]) for c in ("batch", "m", "n", "k")), shape)
            self.assertEqual(float(row["flop_per_op"]), flop)
            self.assertEqual(float(row["bytes_per_op"]), values * BF16_BYTES)
            # What is captured once runs three times in each of ten steps.
            self.assertEqual(int(row["count"]), 30 if op == "aten::bmm" else count)
            least = max(flop / PEAK, values * BF16_BYTES / BANDWIDTH) * 1e9 * int(row["count"])
            self.assertAlmostEqual(ns_of_ms(row["roofline_ms"]), least, delta=2)
            self.assertEqual(row["bound"], "compute" if flop / PEAK >= values * BF16_BYTES / BANDWIDTH else "memory")
            self.assertEqual(ns_of_ms(row["total_time_ms"]) - ns_of_ms(row["roofline_ms"]), ns_of_ms(row["excess_ms"]))
        self.assertEqual({op for op, r in rows.items() if r["aligned"] == "no"}, {"aten::mm"})

    def test_waves_of_the_longest_kernel(self):
        """8 blocks fit on each of 132 multiprocessors: 1,500 blocks are 1.42 waves, of 2."""
        path = support.edited("gemm-sizes", """UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 1500 WHERE demangledName IN
                                                 (SELECT id FROM StringIds WHERE value LIKE 'ampere_bf16%')""")
        waves = {r["op"]: r["wave_efficiency_pct"] for r in read_csv(support.analyze(path), "gemm_shapes")}
        self.assertEqual(waves.pop("aten::bmm"), "71.0227")
        self.assertEqual(set(waves.values()), {""})  # one wave, and the persistent kernel's

    def test_elementwise_kernels_against_bandwidth(self):
        """64 MiB of BF16 values are read twice and written once: what converts on the way, and what fits the cache, is not judged."""
        path = trace("gemm-sizes")
        rows = {r["op"]: r for r in read_csv(artifacts(path), "elementwise_shapes")}
        self.assertEqual(set(rows), set(ELEMENTWISE))
        kernel = """SELECT sum(end - start), count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName WHERE value LIKE ?"""
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        values = 8192 * 4096
        for op, elements, moved, size, like in (("aten::mul", values, 3 * values, 2, "%MulFunctor%"), ("aten::copy_", values, 2 * values, None, "%LoadWithCast%"),
                                                ("aten::add_", 8 * 4096, 17 * 4096, 2, "%Functor_add%")):
            row = rows[op]
            ns, count = db.execute(kernel, (like,)).fetchone()
            self.assertEqual((int(row["elements"]), int(row["values"]), ns_of_ms(row["total_time_ms"]), int(row["kernel_count"])), (elements, moved, ns, count), op)
            self.assertEqual(row["bytes_per_op"] and float(row["bytes_per_op"]), size and moved * size or "")
            if size:
                self.assertAlmostEqual(float(row["achieved_gb_per_s"]), moved * size * count / ns, places=2)
        self.assertAlmostEqual(float(rows["aten::mul"]["pct_of_limit"]), 100 * 3 * values * 2 / 75e3 / (BANDWIDTH / 1e9), places=2)
        self.assertEqual([rows[op]["pct_of_limit"] for op in ELEMENTWISE[1:]], ["", ""])
        self.assertEqual([rows[op]["dtype"] for op in ELEMENTWISE], ["bf16", "", "fp16"])
        self.assertIn("cache", rows["aten::add_"]["note"])
        self.assertIn("one type", rows["aten::copy_"]["note"])

    def test_a_helper_inside_a_product_is_part_of_it(self):
        """The copy of a bias inside of addmm is no elementwise operation of its own."""
        path = support.edited("gemm-sizes",
                              "UPDATE StringIds SET value = replace(value, 'aten::addmm', 'aten::copy_') WHERE value LIKE 'aten::addmm%'",
                              "UPDATE NVTX_EVENTS SET text = replace(text, 'aten::addmm', 'aten::copy_') WHERE text LIKE 'aten::addmm%'",
                              "UPDATE StringIds SET value = 'aten::addmm, sizes = [[4096], [8192, 4096], [4096, 4096], [], []]' WHERE value = 'aten::linear'",
                              "UPDATE NVTX_EVENTS SET text = 'aten::addmm, sizes = [[4096], [8192, 4096], [4096, 4096], [], []]' WHERE text = 'aten::linear'")
        directory, before = support.analyze(path), artifacts(trace("gemm-sizes"))
        self.assertIn("aten::addmm", {r["op"] for r in read_csv(directory, "gemm_shapes")})
        self.assertEqual(*({r["op"]: r["count"] for r in read_csv(d, "elementwise_shapes")} for d in (before, directory)))

    def test_coverage(self):
        """Per step 1,340 us of products and attention but for the helper, of which 60 us are of an operation without sizes."""
        path = trace("gemm-sizes")
        row, = read_csv(artifacts(path), "gemm_coverage")
        self.assertEqual((ns_of_ms(row["matrix_time_ms"]), ns_of_ms(row["covered_time_ms"])), (13400000, 12800000))
        self.assertEqual(float(row["flop"]), sum(matrices(op, sizes)[1] * (30 if op == "aten::bmm" else count)
                                                 for (op, sizes), count in operations(path).items()))
        self.assertEqual(float(row["steady_flop_per_step"]) * 10, float(row["flop"]))

    def test_utilisation(self):
        directory = artifacts(trace("gemm-sizes"))
        row, = read_csv(directory, "mfu")
        step, = [ns_of_ms(r["median_ms"]) for r in read_csv(directory, "step_summary")]
        flop = float(read_csv(directory, "gemm_coverage")[0]["steady_flop_per_step"])
        self.assertEqual((row["source"], row["dtype"]), ("nvtx-sizes", "bf16"))
        self.assertAlmostEqual(float(row["mfu_pct"]), 100 * flop / (step * 1e-9) / PEAK, places=3)
        self.assertIn("mask", row["note"])

    def test_too_little_is_refused(self):
        """Where kernels beside the sized operations are the larger part, their operations are no step's."""
        classes = fresh_dir() / "classes.yaml"
        classes.write_text("elementwise: [nvjet, flash_fwd, sm90_xmma, splitKreduce]\n", encoding="utf-8")
        directory = analyze(trace("gemm-sizes"), "--kernel-classes", classes)
        row, = read_csv(directory, "mfu")
        self.assertEqual((row["mfu_pct"], row["flop_per_step"], row["achieved_tflops"]), ("", "", ""))
        self.assertIn("sizes tell 50 %", row["note"])

    def test_nothing_without_sizes(self):
        for path in (trace("steps"), SHARED / "traces/fsdp_2gpu.sqlite"):
            if path.exists():
                for table in ("gemm_shapes", "gemm_coverage", "elementwise_shapes", "mfu"):
                    self.assertEqual(read_csv(artifacts(path), table), [], path)


if __name__ == "__main__":
    support.main()
