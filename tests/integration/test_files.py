"""Files that the program waits for: masked paths, threads, and exports that record less."""
import re
import unittest

from support import artifacts, edited, read_csv, report, trace
from test_determinism import shuffled

EVENTS, NAMES = "OSRT_FILE_ACCESS_EVENTS", "OSRT_FILE_ACCESS_DESCRIPTORS"


def rows(path, table):
    return read_csv(artifacts(path), table)


def files(path):
    return {row["file"]: row for row in rows(path, "file_access")}


class Files(unittest.TestCase):
    def test_no_output_has_a_users_name_or_directory(self):
        secret = re.compile(rb"alice|secret_dir")
        path = edited("files", f"UPDATE {NAMES} SET filePath = replace(filePath, '/shard', '/secret_dir/7/shard')")
        out = artifacts(path)
        for file in out.rglob("*"):
            self.assertFalse(file.is_file() and secret.search(file.read_bytes()), file)
        names = set(files(path))
        self.assertIn("~/part-#.idx", names)
        self.assertEqual(sum(bool(re.fullmatch(r"~/[0-9a-f]{6}/[0-9a-f]{6}/shard_#\.bin", name)) for name in names), 1, names)

    def test_masks(self):
        """Directories of users, the first one of the system, hashed ones, digits of names; one row for equal results."""
        paths = {"/home/u/a1.bin": "~/a#.bin", "/Users/u/a.bin": "~/a.bin", "/root/b": "~/b", "/scratch/u/c": "~/c", "/data/u/d": "~/d", "/mnt/lake/u/e22": "~/e#",
                 "/data/f": "H/f", "/mnt/lake/g": "H/H/g", "/usr/lib/h.so": "/usr/H/h.so", "/x/i": "/H/i", "relative/j": "H/j", "k": "k", "/home/u": "/H/u"}
        edits = [f"UPDATE {NAMES} SET filePath = '{path}' WHERE fileAccessId = {100 + i}" for i, path in enumerate(paths)]
        found = {re.sub(r"\b[0-9a-f]{6}\b", "H", name) for name in files(edited("files", *edits))}
        for path, mask in paths.items():
            self.assertIn("/" + mask if path in ("/data/f", "/mnt/lake/g") else mask, found, path)

    def test_masks_differ_between_captures(self):
        edit = f"UPDATE {NAMES} SET filePath = '/x/only' WHERE fileAccessId = 100"
        one, other = (next(name for name in files(edited("files", edit, *more)) if name.endswith("only"))
                      for more in ((), ("UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = utcEpochNs + 1",)))
        self.assertNotEqual(one, other)

    def test_without_the_option(self):
        """Only opens, of unknown files: no row, and what brings them."""
        path = edited("files", f"DELETE FROM {EVENTS} WHERE eventType != 1", f"UPDATE {NAMES} SET filePath = 'Unknown file #' || fileAccessId")
        self.assertEqual(files(path), {})
        self.assertIn("--osrt-file-access=true", str(rows(path, "data_quality")))

    def test_many_files(self):
        """The 1,000 with most time are told, the others together."""
        path = edited("files", f"WITH RECURSIVE n(i) AS (SELECT 2000 UNION ALL SELECT i + 1 FROM n WHERE i < 3200) INSERT INTO {NAMES} (fileAccessId, processId, filePath) "
                      "SELECT i, 5981, '/x/' || char(97 + i / 676 % 26, 97 + i / 26 % 26, 97 + i % 26) || '.bin' FROM n",
                      f"INSERT INTO {EVENTS} (fileAccessId, threadId, startedAt, endedAt, eventType, bytesProcessed) "
                      f"SELECT fileAccessId, 5981, 1000000000 + fileAccessId, 1000000000 + fileAccessId + 1, 3, 10 FROM {NAMES} WHERE fileAccessId >= 2000")
        found = files(path)
        self.assertEqual(found, files(shuffled(path)))  # of equal ones the same
        self.assertEqual(len(found), 1001)
        self.assertEqual(sum(int(row["read_count"]) for row in found.values()), 120 * 10 + 240 + 1 + 1201)

    def test_host_bound_names_the_file(self):
        """Half of the idle time is in calls on files: the finding that has most of it says so, and asks for no other capture."""
        finding = next(f for f in report(artifacts(trace("files"))).json["findings"] if f["id"] == "idle-host-code")
        self.assertIn("142.8 ms while the launching thread is in a call on ~/part-#.idx", str(finding["evidence"]))
        self.assertNotIn("Find the code", finding["recommendation"])
        finding = next(f for f in report(artifacts(trace("files-ahead"))).json["findings"] if f["id"] == "idle-host-code")
        self.assertNotIn("in a call on", str(finding["evidence"]))

    def test_nothing_where_nothing_is_recorded(self):
        self.assertEqual(files(trace("healthy")), {})
        self.assertNotIn("<h3>Files", (artifacts(trace("healthy")) / "report.md").read_text(encoding="utf-8"))
        self.assertNotIn("file accesses", str(rows(trace("healthy"), "capabilities")))


if __name__ == "__main__":
    unittest.main()
