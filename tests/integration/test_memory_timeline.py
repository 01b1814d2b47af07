"""memory_timeline against a recount from the exports: what was held after every event."""
import sqlite3
import unittest

import support
from support import artifacts, read_csv, trace

ALLOCATION, RELEASE = 0, 1


def recount(path):
    """(process, GPU, kind) to [(time, bytes live)] after every event; of one process the program has no events at one time."""
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    live, held, points = {}, {}, {}
    for time, process, device, kind, address, size, operation in db.execute(
            "SELECT start, globalPid, deviceId, memKind, address, bytes, memoryOperationType FROM CUDA_GPU_MEMORY_USAGE_EVENTS "
            "ORDER BY start"):
        use = (process >> 24 & 0xffffff, device, kind)
        if operation == ALLOCATION:
            live[process, address] = size
            held[use] = held.get(use, 0) + size
        elif operation == RELEASE:
            held[use] = held.get(use, 0) - live.pop((process, address), 0)
        points.setdefault(use, []).append((time, held[use]))
    return points


class MemoryTimeline(unittest.TestCase):
    def test_every_event_is_a_point(self):
        for scenario in ("memory-growth", "evidence"):
            path = trace(scenario)
            found = {}
            for r in read_csv(artifacts(path), "memory_timeline"):
                use = (int(r["pid"]), int(r["device_id"] or -1), int(r["memory_kind_id"]))
                found.setdefault(use, []).append((int(r["time_ns"]), int(r["live_bytes"])))
                self.assertEqual(r["live_bytes"], r["reserved_bytes"], "there are no pools")
                self.assertEqual(int(r["point"]), len(found[use]))
            self.assertEqual(found, recount(path), scenario)

    def test_highest_point_is_the_peak(self):
        directory = artifacts(trace("memory-growth"))
        points = read_csv(directory, "memory_timeline")
        for use in read_csv(directory, "memory_use"):
            mine = [p for p in points if all(p[key] == use[key] for key in ("pid", "device_id", "memory_kind_id"))]
            self.assertEqual(max(int(p["reserved_bytes"]) for p in mine), int(use["peak_bytes"]))
            self.assertEqual(int(mine[-1]["reserved_bytes"]), int(use["end_bytes"]))

    def test_no_events_no_points(self):
        self.assertEqual(read_csv(artifacts(trace("healthy")), "memory_timeline"), [])


if __name__ == "__main__":
    support.main()
