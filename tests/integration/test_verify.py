"""The commands that findings print to verify them run as printed, and show what the finding says."""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import unittest

import support
from support import SHARED, artifacts, fresh_dir, trace

# Findings of many kinds, where no exports of other programs are at hand.
GENERATED = ("host-bound", "training", "copy-bound", "pause", "failed", "api-only", "nvtx-only", "two-processes", "eight-gpus", "shapes",
             "launch-load", "drained-queue", "alloc-churn", "long-calls", "cpu-work", "tiny-copies", "graph-churn", "steps-input")


def traces():
    return support.exports() + [trace(scenario) for scenario in GENERATED]


def commands(path):
    """Those of the program itself; others are for the machine that records."""
    for finding in support.report(artifacts(path)).json["findings"]:
        for command in finding["verify"].splitlines():
            if command.startswith("nsys-ai "):
                yield finding["id"], command


def stretches():
    """Each trace, finding, GPU (None: all) and stretch of time in ns that a command shows, and the rows that it prints."""
    pattern = re.compile(r'nsys-ai skill run stretch "\$OUT"(?: --gpu (\d+))? --window ([0-9.]+) ([0-9.]+)')
    for path in traces():
        for finding in support.report(artifacts(path)).json["findings"]:
            for gpu, *window in pattern.findall(finding["verify"]):
                options = ["--gpu", gpu] if gpu else []
                done = support.run("skill", "run", "stretch", str(artifacts(path)), *options, "--window", *window, "--format", "json")
                answer = json.loads(done.stdout)
                names = [column["name"] for column in answer["columns"]]
                yield (path, finding, int(gpu) if gpu else None, *(int(time.replace(".", "")) for time in window),
                       [dict(zip(names, row)) for row in answer["rows"]])


class Verify(unittest.TestCase):
    def test_no_command_analyses_a_stretch_alone(self):
        """What is cut off (a wait, the call that launched) is the cause: the report of the rest names another."""
        for path in traces():
            for rule, command in commands(path):
                self.assertNotIn("--trim", command, (path.name, rule))

    def test_the_gap_is_shown_with_its_cause(self):
        """From the last operation before to the next, with the length that the finding states and the call that ends it."""
        gaps = 0
        for path, finding, gpu, start, end, rows in stretches():
            causes = [row for row in support.read_csv(artifacts(path), "idle_causes") if row["device_id"] == str(gpu)]
            lines = [e for e in finding["evidence"] if e["device_id"] == gpu]
            if not lines or lines[0]["table"] != "idle_causes":
                continue
            with self.subTest(trace=path.name, rule=finding["id"], gpu=gpu):
                gaps += 1
                cause = next(row for row in causes if row["cause"] == lines[0]["name"])
                self.assertEqual([cause["active_longest_start_ns"], cause["active_longest_end_ns"]], [str(start), str(end)])
                self.assertEqual([lines[0]["start_ns"], lines[0]["end_ns"]], [start, end])  # no longer gap in a pause
                idle = next(row for row in rows if row["what"] == "idle")
                self.assertEqual((idle["device_id"], idle["start_ns"], idle["end_ns"]), (gpu, start, end))
                stated = re.search(r"gaps, longest ([0-9.,]+ \w+)|: ([0-9.,]+ \w+) of idle time in one gap", lines[0]["text"])
                self.assertIn(f"{cause['cause']} {stated.group(1) or stated.group(2)}", idle["name"])
                operations = [row for row in rows if row["what"] in ("kernel", "copy", "set", "graph")]
                self.assertIn(end, [row["start_ns"] for row in operations if row["place"] == "after"])
                self.assertIn(start, [row["end_ns"] for row in operations if row["place"] == "before"])
                for gap in support.read_csv(artifacts(path), "gpu_idle_gaps"):
                    if (gap["device_id"], gap["gap_start_ns"]) == (str(gpu), str(start)):
                        calls = [row["name"] for row in rows if row["what"] == "call"]
                        if gap["launch_api"]:
                            self.assertIn(gap["launch_api"], calls)
                        if gap["wait_before"]:
                            self.assertIn(gap["wait_before"].split(" in ")[0], calls)
                        self.assertIn(gap["host_activity"], idle["name"])
        self.assertGreater(gaps, 10 if (SHARED / "traces" / "real").exists() else 3)

    def test_the_idle_time_behind_a_wait_is_shown(self):
        """A finding about waits shows the one that costs most: gaps that sum up to at least what it states."""
        waits = 0
        for path, finding, gpu, start, end, rows in stretches():
            lines = [e for e in finding["evidence"] if e["device_id"] == gpu]
            if not lines or lines[0]["table"] != "launch_waits":
                continue
            with self.subTest(trace=path.name, rule=finding["id"], gpu=gpu):
                waits += 1
                place, = [row for row in support.read_csv(artifacts(path), "launch_waits")
                          if row["device_id"] == str(gpu) and row["longest_start_ns"] == str(start) and row["longest_end_ns"] == str(end)]
                gaps = [row for row in rows if row["what"] == "idle" and row["device_id"] == gpu]
                self.assertTrue(all(start <= gap["start_ns"] and gap["end_ns"] <= end for gap in gaps))
                if len(gaps) < 12:  # it shows that many, the longest
                    self.assertGreaterEqual(sum(gap["end_ns"] - gap["start_ns"] for gap in gaps), round(float(place["longest_ms"]) * 1e6))
        self.assertGreater(waits, (SHARED / "traces" / "real").exists())

    def test_each_gpu_that_the_finding_shows_has_its_gap(self):
        for path in traces():
            for finding in support.report(artifacts(path)).json["findings"]:
                of = finding["evidence"][0]["table"]
                facts = {e["device_id"] for e in finding["evidence"] if e["table"] == of and of in ("idle_causes", "launch_waits")}
                told = {int(gpu) for gpu in re.findall(r"stretch .*--gpu (\d+)", finding["verify"])}
                if facts:
                    self.assertEqual(told, facts, (path.name, finding["id"]))

    def test_a_pause_is_shown_with_its_cause(self):
        shown = 0
        for path, finding, gpu, start, end, rows in stretches():
            if finding["id"].startswith("pause-"):
                shown += 1
                self.assertIn((gpu, start, end), [(row["device_id"], row["start_ns"], row["end_ns"]) for row in rows if row["what"] == "pause"])
                self.assertTrue(any(row["what"] == "pause" and row["name"].startswith("module_load") for row in rows), path.name)
        self.assertGreaterEqual(shown, (SHARED / "traces" / "real").exists())

    def test_commands_run_as_printed(self):
        home = fresh_dir("bin")
        os.symlink(support.PROGRAM, home / "nsys-ai")
        jobs = sorted({(path, command): rule for path in traces() for rule, command in commands(path)}.items())
        self.assertGreater(len(jobs), 50)

        def run(job):
            (path, command), _ = job
            env = {**os.environ, "OUT": str(artifacts(path)), "TRACE": str(path), "PATH": f"{home}:/usr/bin:/bin"}
            return subprocess.run(["bash", "-euc", command], env=env, cwd=fresh_dir("verify"), capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, check=False, timeout=support.TIMEOUT_S)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for ((path, command), rule), done in zip(jobs, pool.map(run, jobs)):
                with self.subTest(trace=path.name, rule=rule, command=command):
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertGreater(len(done.stdout.splitlines()), 1)

    def test_every_finding_has_a_command_and_a_page(self):
        ids = set()
        for path in traces():
            for finding in support.report(artifacts(path)).json["findings"]:
                self.assertTrue(finding["verify"].strip(), finding["id"])
                ids.add(finding["id"])
        for rule in sorted(ids):
            done = support.run("rules", "explain", rule)
            self.assertEqual(done.returncode, 0, rule)
            self.assertTrue(pathlib.Path(support.SOURCE / "docs" / "root-causes" / f"{rule}.md").exists(), rule)


class Places(unittest.TestCase):
    def test_the_largest_part_leads_to_its_own_longest_call(self):
        """Not to the longest event of the row that it is a part of."""
        paths = [trace("launch-storm"), trace("neglected"), trace("bench")] + [p for p in (SHARED / "traces" / "fsdp_2gpu.sqlite",) if p.exists()]
        seen = 0
        for path in paths:
            directory = artifacts(path)
            kernels = {(k["device_id"], k["kernel_name"]): k for k in support.read_csv(directory, "kernels")}
            for finding in support.report(directory).json["findings"]:
                for fact in finding["evidence"]:
                    if not fact["text"].startswith("largest part: "):
                        continue
                    kernel = kernels[str(fact["device_id"]), fact["name"]]
                    self.assertIn(kernel["short_name"].split("<")[0], fact["text"])
                    self.assertEqual([str(fact["start_ns"]), str(fact["end_ns"])], [kernel["longest_start_ns"], kernel["longest_end_ns"]])
                    seen += 1
        self.assertGreater(seen, 1)


if __name__ == "__main__":
    support.main()
