"""What report.html draws of a trace's structure against SQL over the export: ranges on the GPU, launch queue and lead, plan."""
import functools
import json
import shutil
import sqlite3
import subprocess
import unittest

import support
from support import SHARED, SOURCE, artifacts, trace

GPU_TABLES = ("KERNEL", "MEMCPY", "MEMSET")
PROCESS = 1 << 24
REFERENCE = SHARED / "traces" / "fsdp_2gpu.sqlite"


def database(path):
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


@functools.lru_cache(maxsize=None)
def page(path):
    done = subprocess.run(["node", SOURCE / "tests" / "viewer" / "structure.mjs", artifacts(path) / "report.html"],
                          capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


def launched(db):
    """(device, call's thread, call's start and end, operation's start and end), of all with a launching call."""
    works = " UNION ALL ".join(f"SELECT deviceId, globalPid, correlationId, start, end FROM CUPTI_ACTIVITY_KIND_{name}" for name in GPU_TABLES
                               if db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (f"CUPTI_ACTIVITY_KIND_{name}",)).fetchone())
    return db.execute(f"SELECT w.deviceId, r.globalTid, r.start, r.end, w.start, w.end FROM ({works}) w "
                      f"JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = w.correlationId "
                      f"AND r.globalTid / {PROCESS} = w.globalPid / {PROCESS}").fetchall()


@support.unsanitized("JavaScript does not depend on the sanitizers")
@unittest.skipUnless(shutil.which("node"), "no Node")
class Structure(unittest.TestCase):
    def check_projection(self, path):
        db, shown = database(path), page(path)
        origin, wanted = int(shown["origin"]), {}
        works = launched(db)
        for row, start, end, thread in db.execute("SELECT rowid, start, end, globalTid FROM NVTX_EVENTS WHERE eventType = 59 AND end > start"):
            for device, caller, begin, done, first, last in works:
                if caller == thread and start <= begin and done <= end:
                    ops = wanted.setdefault((device, row), [])
                    ops.append((begin, first - origin, last - origin))
        expected = {key: [min(o[1] for o in ops), max(o[2] for o in ops), len(ops), len({o[0] for o in ops})] for key, ops in wanted.items()}
        got = {(gpu["gpu"], row): rest for gpu in shown["gpus"] for row, *rest in gpu["ranges"]}
        self.assertGreater(len(expected), 100)
        self.assertEqual(got, expected)
        for gpu in shown["gpus"]:
            for row in gpu["rows"]:
                for (_, end), (start, _) in zip(row, row[1:]):
                    self.assertLessEqual(end, start, "ranges of a row lie side by side")

    def check_lead(self, path):
        shown = page(path)
        origin, works = int(shown["origin"]), launched(database(path))
        for gpu in shown["gpus"]:
            own = sorted((begin - origin, done - origin) for device, _, _, done, begin, _ in works if device == gpu["gpu"])
            self.assertGreater(len(own), 50)
            lead = {}
            for begin, done in own:
                lead[begin] = min(lead.get(begin, begin), max(0, begin - done))
            self.assertEqual(gpu["lead"], [list(pair) for pair in sorted(lead.items())])
            self.assertGreater(max(value for _, value in gpu["queue"]), 1)
            for time, value in gpu["queue"]:
                self.assertEqual(value, sum(done <= time < begin for begin, done in own), f"queue at {time}")

    def test_generated(self):
        path = trace("training")
        self.check_projection(path)
        self.check_lead(path)

    @unittest.skipUnless(REFERENCE.exists(), "needs shared/")
    def test_two_gpus(self):
        self.check_lead(REFERENCE)
        self.check_projection(REFERENCE)


if __name__ == "__main__":
    support.main()
