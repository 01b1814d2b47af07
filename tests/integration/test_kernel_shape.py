"""kernel_shape against a recount from the exports: sums, what fits on a multiprocessor, waves and tails, with other code."""
import collections
import sqlite3
import unittest

import support
from support import DIAGNOSIS, SCENARIOS, SHARED, analyze, artifacts, fresh_dir, ns_of_ms, read_csv, run, trace

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"
NEVER = ("inference", "hostile-values", "empty", "many-gpus", "api-only", "nvtx-only")


def exports():
    for scenario in (*SCENARIOS, *DIAGNOSIS):
        if scenario not in NEVER:
            yield scenario, trace(scenario)
    for path in support.exports():
        yield path.stem, path


def fits(gpu, threads, registers, shared):
    """Blocks that fit on a multiprocessor: puts them there one by one until something runs out."""
    capability = int(gpu["compute_major"]), int(gpu["compute_minor"] or 0)
    parts = 2 if capability == (6, 0) else 4
    warps = -(-threads // 32)
    warp_registers = -(-32 * registers // 256) * 256
    shared_unit, reserved = (128, 1024) if capability >= (8, 0) else (256, 0)
    block_shared = -(-(shared + reserved) // shared_unit) * shared_unit
    places = parts * (int(gpu["max_registers_per_sm"]) // parts // warp_registers) if warp_registers else 10**9
    if warp_registers * -(-warps // parts) * parts > int(gpu["max_registers_per_block"]):
        return 0
    blocks = 0
    while (blocks < int(gpu["max_blocks_per_sm"]) and (blocks + 1) * warps <= int(gpu["max_warps_per_sm"]) and
           (blocks + 1) * warps <= places and (blocks + 1) * block_shared <= int(gpu["max_shared_bytes_per_sm"])):
        blocks += 1
    return blocks


class KernelShape(unittest.TestCase):
    maxDiff = 4000

    def test_sums(self):
        """Rows add up to those of table kernels, to the ns."""
        for name, path in exports():
            with self.subTest(name):
                out = artifacts(path)
                sums = collections.Counter(), collections.Counter()
                for row in read_csv(out, "kernel_shape"):
                    key = row["kernel_name"], row["device_id"]
                    sums[0][key] += int(row["total_time_ns"])
                    sums[1][key] += int(row["call_count"])
                rows = read_csv(out, "kernels")
                self.assertEqual(dict(sums[0]), {(r["kernel_name"], r["device_id"]): int(r["total_time_ns"]) for r in rows})
                self.assertEqual(dict(sums[1]), {(r["kernel_name"], r["device_id"]): int(r["call_count"]) for r in rows})

    def test_occupancy(self):
        for name, path in exports():
            with self.subTest(name):
                out = artifacts(path)
                gpus = {g["device_id"]: g for g in read_csv(out, "gpus")}
                for row in read_csv(out, "kernel_shape"):
                    self.check_row(gpus[row["device_id"]], row)

    def check_row(self, gpu, row):
        known = all(gpu[c] for c in ("compute_major", "max_warps_per_sm", "max_blocks_per_sm", "max_registers_per_sm",
                                     "max_registers_per_block", "max_shared_bytes_per_sm", "max_shared_bytes_per_block_optin"))
        if row["theoretical_occupancy_pct"]:
            self.assertTrue(0 < float(row["theoretical_occupancy_pct"]) <= 100, row)
        if not known or not row["blocks"]:
            return
        blocks, threads = int(row["blocks"]), int(row["threads_per_block"])
        shared = int(row["static_shared_bytes"]) + int(row["dynamic_shared_bytes"])
        fitting = fits(gpu, threads, int(row["registers_per_thread"]), shared)
        self.assertEqual(int(row["blocks_per_sm"] or 0), fitting, row)
        if not fitting:
            self.assertEqual((row["fill"], row["waves"], row["tail_loss_ms"]), ("invalid", "", ""), row)
            return
        self.assertAlmostEqual(float(row["theoretical_occupancy_pct"]),
                               100 * fitting * -(-threads // 32) / int(gpu["max_warps_per_sm"]), places=3)
        if not row["sm_count"]:  # a green context of which the export does not tell
            self.assertEqual((row["fill"], row["waves"], row["tail_loss_ms"]), ("", "", ""), row)
        elif not row["cluster_blocks"]:
            self.assertAlmostEqual(float(row["waves"]), blocks / fitting / int(row["sm_count"]), delta=0.00051)
            if blocks < int(row["sm_count"]):
                self.assertEqual(row["fill"], "underfilled", row)
            self.assertEqual(row["fill"] in ("waves", "uneven"), float(row["waves"]) > 1 and row["fill"] != "underfilled", row)

    def test_nothing_impossible(self):
        """What real drivers launched does fit, and the shared memory they set aside holds what was asked for."""
        for name, path in exports():
            if SHARED not in path.parents:
                continue
            for row in read_csv(artifacts(path), "kernel_shape"):
                self.assertNotEqual(row["fill"], "invalid", (name, row))
                if row["executed_shared_bytes"] and row["blocks_per_sm"]:
                    asked = int(row["static_shared_bytes"]) + int(row["dynamic_shared_bytes"])
                    self.assertGreaterEqual(int(row["executed_shared_bytes"]), asked, (name, row))

    def test_tails(self):
        """The loss of each kernel moment by moment: its last stretch, less when others run in it."""
        for name, path in exports():
            rows = [r for r in read_csv(artifacts(path), "kernel_shape") if r["tail_loss_ms"]]
            if not rows or sum(int(r["call_count"]) for r in rows) > 5000 or name.startswith("hostile"):
                continue
            with self.subTest(name):
                self.check_tails(path, rows)

    def check_tails(self, path, rows):
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        kernels = db.execute(f"SELECT start, end, gridX, gridY, gridZ, blockX, blockY, blockZ, deviceId FROM {KERNELS} ORDER BY start").fetchall()
        if len({k[8] for k in kernels}) > 1 or {r["device_id"] for r in rows} != {"0"} or len({r["cluster_blocks"] for r in rows}) > 1:
            return
        shapes = collections.defaultdict(set)
        for r in rows:
            if r["fill"] == "waves":
                shapes[r["grid"], r["block"]].add((int(r["blocks"]), round(int(r["blocks"]) / float(r["waves"])), r["kernel_name"]))
        want = 0
        for i, (start, end, *k) in enumerate(kernels):
            found = {(blocks, slots) for blocks, slots, _ in shapes.get(("{}x{}x{}".format(*k[:3]), "{}x{}x{}".format(*k[3:6])), ())}
            if len(found) != 1:
                return  # which of them it is cannot be told by shape
            (blocks, slots), = found
            waves = -(-blocks // slots)
            if blocks % slots == 0:
                continue
            last = (end - start) // waves
            others = sorted((max(s, end - last), min(e, end)) for j, (s, e, *_) in enumerate(kernels)
                            if j != i and s < end and e > end - last)
            alone, at = 0, end - last
            for s, e in (*others, (end, end)):
                alone += max(0, s - at)
                at = max(at, e)
            want += min(int((end - start) / waves * (slots - blocks % slots) / slots), alone)
        got = sum(ns_of_ms(r["tail_loss_ms"]) for r in rows)
        self.assertAlmostEqual(got, want, delta=len(kernels))

    def test_own_facts(self):
        """--gpu-facts decides where the export is silent; mistakes in the file are named."""
        directory = fresh_dir()
        facts = directory / "gpus.yaml"
        facts.write_text('compute_capabilities:\n  "7.0": {warps_per_sm: 64}\n', encoding="utf-8")
        done = run("analyze", trace("shapes"), "--out", directory / "out", "--gpu-facts", facts)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("gpus.yaml:2:10: \"blocks_per_sm\" is missing", done.stderr)
        facts.write_text('compute_capabilities:\n  "7.0": {warps_per_sm: 8, blocks_per_sm: 32, registers_per_sm: 65536, registers_per_block: '
                         '65536, shared_per_sm: 98304, shared_per_block: 98304, flop_per_clock: {fp32: 128, tensor: 0}}\n', encoding="utf-8")
        old = analyze(trace("bimodal", "--schema", 2021), "--gpu-facts", facts)  # a V100 whose limits no table tells
        self.assertEqual({r["blocks_per_sm"] for r in read_csv(old, "kernel_shape")}, {"1", "2"})


if __name__ == "__main__":
    support.main()
