"""The values of the reference traces' README, computed independently of this project, from CSV and JSON."""
import itertools
import pathlib
import unittest

import support
from support import SHARED, artifacts, ns_of_ms, read_csv, report

FSDP = SHARED / "traces" / "fsdp_2gpu.sqlite"
SMALL = SHARED / "traces" / "cuda_small.sqlite"
WAYS = [("-j", jobs, "--reader", reader) for jobs, reader in itertools.product(("1", "2"), ("direct", "sqlite"))]

UTILIZATION = {  # device: window, compute, exposed communication, exposed copy, idle, gaps
    0: (299_848_812, 253_690_832, 17_172_652, 2_954_303, 26_031_025, 2_634),
    1: (298_661_551, 256_095_624, 8_229_100, 2_951_192, 31_385_635, 2_662),
}
SYNC = {144: (16, 163_599_685), 145: (17, 160_935_048)}
SELF_KERNEL_NS = {"flash_attn::_flash_attn_forward": 256_586_234, "aten::copy_": 64_364_656, "aten::addmm": 57_595_448}


@unittest.skipUnless(FSDP.exists(), "no reference traces")
class Reference(unittest.TestCase):
    def for_each_way(self):
        return [artifacts(FSDP, *way) for way in WAYS]

    def both(self, directory, table):
        """Rows from CSV and from JSON, as text keyed alike."""
        as_json = [{k: "" if v is None else str(v) for k, v in row.items()} for row in report(directory).rows(table)]
        return read_csv(directory, table), as_json

    def test_kernels(self):
        for directory in self.for_each_way():
            for rows in self.both(directory, "kernels"):
                self.assertEqual(sum(int(r["total_time_ns"]) for r in rows), 535_200_650)
                top = rows[0]
                self.assertIn("flash_fwd_kernel", top["kernel_name"])
                self.assertEqual((top["device_id"], top["call_count"], top["total_time_ns"]), ("1", "34", "136355595"))
                self.assertEqual(ns_of_ms(top["total_time_ms"]), 136_355_595)
                self.assertEqual(float(top["p50_duration_us"]), 4009.829)
                self.assertEqual(f"{7866.6183:.3f}", f'{float(top["p90_duration_us"]):.3f}')

    def test_gpu_partition(self):
        for directory in self.for_each_way():
            for rows in self.both(directory, "gpu_utilization"):
                self.assertEqual(len(rows), 2)
                for row in rows:
                    window, compute, comm, copy, idle, gaps = UTILIZATION[int(row["device_id"])]
                    for name, ns in (("window", window), ("compute", compute), ("exposed_comm", comm),
                                     ("exposed_copy", copy), ("idle", idle)):
                        self.assertEqual(int(row[f"{name}_ns"]), ns, name)
                        self.assertEqual(ns_of_ms(row[f"{name}_ms"]), ns, name)
                    self.assertEqual(int(row["gap_count"]), gaps)
                    self.assertEqual(compute + comm + copy + idle, window)

    def test_idle_causes_add_up(self):
        for directory in self.for_each_way():
            for rows in self.both(directory, "idle_causes"):
                for device, expected in UTILIZATION.items():
                    mine = [r for r in rows if int(r["device_id"]) == device]
                    self.assertEqual(sum(ns_of_ms(r["total_ms"]) for r in mine), expected[4])
                    self.assertTrue(all(int(r["part_count"]) <= expected[5] for r in mine))

    def test_synchronisation(self):
        for directory in self.for_each_way():
            for rows in self.both(directory, "sync_by_pid"):
                for pid, (calls, ns) in SYNC.items():
                    row = [r for r in rows if r["pid"] == str(pid) and r["api_name"] == "cudaStreamSynchronize"]
                    self.assertEqual([(int(r["call_count"]), ns_of_ms(r["total_time_ms"])) for r in row], [(calls, ns)])

    def test_nvtx(self):
        for directory in self.for_each_way():
            for rows in self.both(directory, "nvtx_coverage"):
                whole = next(r for r in rows if r["scope"] == "all")
                self.assertEqual((int(whole["kernel_count"]), int(whole["attributed_kernel_count"])), (4010, 3986))
                self.assertEqual(ns_of_ms(whole["attributed_kernel_time_ms"]), 516_689_349)
                self.assertEqual(f'{float(whole["coverage_pct"]):.4f}', "96.5412")
                self.assertEqual((int(whole["range_count"]), int(whole["distinct_names"])), (19_118, 93))
            for rows in self.both(directory, "nvtx_ranges"):
                by_name = {r["range_name"]: r for r in rows}
                self.assertEqual(len(rows), 93)
                self.assertEqual(len(by_name), 93)
                for name, ns in SELF_KERNEL_NS.items():
                    self.assertEqual(ns_of_ms(by_name[name]["self_kernel_time_ms"]), ns, name)
                self.assertEqual(ns_of_ms(by_name["AllToAll4D"]["attributed_kernel_time_ms"]), 47_753_866)

    def test_small_trace(self):
        result = report(artifacts(SMALL))
        self.assertEqual(result.json["run"]["kernel_count"], 2)
        self.assertIn("no-nvtx", result.findings())

    def test_no_secret_text_anywhere(self):
        for path in sorted(FSDP.parent.glob("*.sqlite")):
            self.assertIn(b"CANARY_SECRET", path.read_bytes())
            for file in filter(pathlib.Path.is_file, artifacts(path).rglob("*")):
                self.assertNotIn(b"CANARY_SECRET", support.contents(file), f"{path.name}: {file}")


if __name__ == "__main__":
    support.main()
