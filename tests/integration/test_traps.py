"""Where other programs go wrong about unified memory and peaks, each as a trace that leads there."""
import unittest

import yaml

import support
from support import SOURCE, analyze, edited, read_csv, report

MS = 1_000_000
# A kernel of `length` ms behind everything else, of one thread, and migrations of one page while it runs.
KERNEL = """INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName,
  shortName, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory,
  localMemoryPerThread, localMemoryTotal, gridId, tensorSizeMinusOneElements)
  SELECT (SELECT max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL) + 1000000, (SELECT max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL) + {end},
    deviceId, contextId, streamId, NULL, globalPid, demangledName, shortName, 32, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, '[]'
  FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1"""
MIGRATION = """INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind,
  srcKind, dstKind, migrationCause, virtualAddress)
  SELECT max(start) + {at}, max(start) + {at} + {length}, deviceId, contextId, 0, 0, globalPid, {bytes}, 11, 4, 4, 2, 4096
  FROM CUPTI_ACTIVITY_KIND_KERNEL"""


def with_migrations(kernel_ms, count, each_ms, size=1 << 20):
    statements = [KERNEL.format(end=(kernel_ms + 1) * MS)]
    statements += [MIGRATION.format(at=i * each_ms * MS, length=each_ms * MS, bytes=size) for i in range(count)]
    return report(analyze(edited("healthy", *statements)))


class UnifiedMemory(unittest.TestCase):
    def test_a_long_kernel_is_not_blamed_on_a_few_pages(self):
        """25 s with 0.4 % of it migration: prefetching saves nothing."""
        made = with_migrations(25000, 100, 1)
        self.assertEqual(made.row("unified_memory")["covered_ms"], 100)
        self.assertNotIn("uvm-bound", made.findings())
        self.assertNotIn("uvm-thrash", made.findings())

    def test_two_thirds_of_a_kernel_are(self):
        self.assertIn("uvm-bound", with_migrations(150, 100, 1).findings())

    def test_rate_of_an_address_that_moves_for_more_than_a_second(self):
        """10^9 divided by more than 10^9 ns, in whole numbers, is 0."""
        row = with_migrations(25000, 20, 100, 1 << 30).row("unified_memory")
        self.assertEqual(row["migrated_bytes"], 20 << 30)
        self.assertAlmostEqual(float(row["gb_per_s"]), (20 << 30) / 2e9, places=5)

    def test_migrations_are_no_copies_without_a_launch(self):
        made = with_migrations(150, 100, 1)
        before = report(support.artifacts(support.trace("healthy")))
        self.assertEqual(made.row("data_quality", check="unmatched-launches")["count"], 1)  # the kernel
        self.assertEqual({r["memcpy_bytes"] for r in made.rows("process_summary")}, {r["memcpy_bytes"] for r in before.rows("process_summary")})


class Compilation(unittest.TestCase):
    def test_records_of_compilation_explain_a_long_launch(self):
        """The table is NVIDIA's of 2026.4; no public export has it."""
        table = """CREATE TABLE CUPTI_ACTIVITY_KIND_JIT (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
                     globalTid INTEGER, correlationId INTEGER, nameId INTEGER, overheadType INTEGER NOT NULL, jitEntryType INTEGER NOT NULL,
                     jitOperationType INTEGER NOT NULL, deviceId INTEGER)"""
        row = """INSERT INTO CUPTI_ACTIVITY_KIND_JIT SELECT start + 1000, end - 1000, 0, globalTid, correlationId, nameId, 1, 1, 1, 0
                   FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId WHERE value LIKE 'cudaLaunchKernel%'
                   ORDER BY end - start DESC LIMIT 1"""
        causes = [{r["cause"]: r["total_ns"] for r in report(path).rows("idle_causes")}
                  for path in (support.artifacts(support.trace("launch-in-flight")), analyze(edited("launch-in-flight", table, row)))]
        self.assertNotIn("module_load", causes[0])
        loading = causes[1].pop("module_load")
        self.assertGreater(loading, 0)
        self.assertEqual(causes[0]["in_launch_call"] - causes[1]["in_launch_call"], loading)


class TensorCores(unittest.TestCase):
    """What a kernel's name says of the units it computes with: yes, no, or nothing."""
    NAMES = {
        "yes": """nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3_tn
            turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn volta_fp16_s884gemm_fp16_64x64_ldg8_f2f_tn
            sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel
            sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x128_warpgroupsize1x1x1_execute_segment_k_off_kernel
            cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_nn_align8 flash_fwd_kernel flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel
            cutlass_80_tensorop_s1688tf32gemm_256x128_16x3_nn_align4 sm80_xmma_fprop_implicit_gemm_indexed_bf16f32_kernel
            Marlin<(int)256> tcgen05_gemm_kernel wgmma_mainloop_kernel turing_h1688gemm_128x128_nn""",
        "no": """ampere_sgemm_128x64_nn volta_sgemm_64x32_sliced1x4_tn maxwell_scudnn_128x32_relu_interior_nn_v1
            sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas
            cutlass_80_simt_sgemm_128x128_8x4_tn_align1 implicit_convolve_sgemm gemmk1_kernel gemv2T_kernel_val ampere_dgemm_64x64_nn""",
        None: """triton_mm my_matmul_kernel vectorized_elementwise_kernel conv_depthwise2d_forward_kernel gemm_up softmax_warp_forward""",
    }

    def test_names(self):
        wanted = {name: verdict for verdict, names in self.NAMES.items() for name in names.split()}
        statements = []
        for i, name in enumerate(wanted):
            statements += [f"INSERT INTO StringIds VALUES ({900000 + i}, '{name}')", KERNEL.format(end=2 * MS),
                           f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = {900000 + i} WHERE rowid = last_insert_rowid()"]
        made = report(analyze(edited("healthy", *statements)))
        found = {r["kernel_name"]: r["tensor_cores"] for r in made.rows("kernel_shape") if r["kernel_name"] in wanted}
        self.assertEqual(found, wanted)


class Peaks(unittest.TestCase):
    def peak(self, name):
        path = edited("steps", f"UPDATE TARGET_INFO_GPU SET name = '{name}'")
        row, = read_csv(analyze(path, "--flops-per-step", "1e12"), "mfu")
        return row["peak_tflops"], row["note"]

    def test_a_name_that_holds_another_is_another_product(self):
        for name in ("NVIDIA H20", "NVIDIA RTX A2000", "NVIDIA A100X", "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA A30 MIG"):
            peak, note = self.peak(name)
            self.assertEqual(peak, "", name)
            self.assertIn("peak", note)
        self.assertEqual(float(self.peak("NVIDIA H100 80GB HBM3")[0]), 989.4)


    # Boost clocks of the data sheets, GHz, and operations per clock and multiprocessor with FP16 inputs.
    BOOST = {"NVIDIA H100 80GB HBM3": (1.83, 4096), "NVIDIA A100-SXM4-40GB": (1.41, 2048), "NVIDIA A100-SXM4-80GB": (1.41, 2048),
             "NVIDIA A100-PCIE-40GB": (1.41, 2048), "NVIDIA A100 80GB PCIe": (1.41, 2048), "Tesla T4": (1.59, 1024),
             "NVIDIA A40": (1.74, 1024), "NVIDIA GeForce RTX 4090": (2.52, 512)}

    def test_what_is_called_verified_is_what_the_clock_gives(self):
        products = yaml.safe_load((SOURCE / "rules" / "gpus.yaml").read_text(encoding="utf-8"))["products"]
        self.assertEqual({name for name, p in products.items() if p.get("verified")}, set(self.BOOST))
        for name, (ghz, per_clock) in self.BOOST.items():
            derived = products[name]["sm_count"] * ghz * per_clock / 1000
            self.assertAlmostEqual(products[name]["tflops"]["fp16"] / derived, 1, delta=0.003, msg=name)

    def test_none_is_for_sparse_matrices(self):
        products = yaml.safe_load((SOURCE / "rules" / "gpus.yaml").read_text(encoding="utf-8"))["products"]
        for name, product in products.items():
            self.assertTrue(product["source"], name)
            peak = product.get("tflops", {})
            for kind, times in (("bf16", 1), ("tf32", 0.5), ("fp8", 2)):
                if kind in peak:
                    self.assertAlmostEqual(peak[kind] / peak["fp16"], times, delta=0.03, msg=f"{name} {kind}")


if __name__ == "__main__":
    support.main()
