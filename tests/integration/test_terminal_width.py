#!/usr/bin/env python3
"""What commands print on a terminal of 80 columns fits it, words whole."""
import csv
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading
import unittest

import support
from support import SOURCE, artifacts, fresh_dir, trace


END = b"\x03\x04"  # no command prints it


def on_terminal(*arguments, columns=80):
    """Stdout of the program on a terminal of that size, without its colors."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([support.PROGRAM, *map(str, arguments)], stdout=its, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                          env={**os.environ, "LC_ALL": "C.UTF-8"}) as program:
        # Ours stays open until all is read: some kernels drop what a terminal still holds when its last writer goes.
        ended = threading.Thread(target=lambda: (program.wait(), os.write(its, END)))
        ended.start()
        text = b""
        while not text.endswith(END):
            text += os.read(ours, 65536)
        ended.join()
    os.close(its)
    os.close(ours)
    text = text.removesuffix(END)
    return re.sub(r"\x1b\[[0-9;]*m", "", text.decode()).replace("\r\n", "\n")


class Width(unittest.TestCase):
    def test_lines_fit(self):
        for scenario in ("training", "inference", "nvtx-only", "hostile", "api-only"):
            run = artifacts(trace(scenario))
            for command in (("summary", run), ("overlap", run), ("nccl", run), ("evidence", run), ("search", run, "a"), ("explain", "-", "idle-queue-drained"),
                            ("explain", run, "kernels")):
                for columns in (80, 120):
                    text = on_terminal(*command, columns=columns)
                    self.assertTrue(text, command)
                    for line in text.splitlines():
                        longest = max(map(len, line.split()), default=0)
                        self.assertLessEqual(len(line), max(columns, longest + 8), f"{scenario} {command[0]} {columns}: {line}")

    def test_evidence_names_its_gpu_once(self):
        text = on_terminal("evidence", artifacts(trace("training")))
        self.assertIn("GPU 0: ", text)
        self.assertNotRegex(text, r"GPU \d+\s+GPU \d+: ")

    def test_a_column_that_is_left_out_leaves_its_room(self):
        text = on_terminal("search", artifacts(trace("inference")), "kernel", columns=80)
        rows = [line for line in text.splitlines() if line.startswith("kernel ")]
        self.assertEqual(text.splitlines()[-2], "not shown, too wide: path")
        self.assertIn("\u2026", "".join(rows))
        self.assertEqual(max(map(len, rows)), 80)

    def test_names_and_durations_stay(self):
        """What a row is about is the last that a narrow terminal leaves out."""
        run = artifacts(trace("training"))
        for command, columns in ((("critical-path", run), ("cause", "what", "duration")),
                                 (("skill", "run", "stretch", run, "--window", "+0", "+20ms"), ("what", "name", "start", "duration", "within"))):
            text = on_terminal(*command)
            self.assertTrue(any(set(columns) <= set(line.split()) for line in text.splitlines()), text)
            self.assertIn("not shown, too wide: ", text)
            self.assertNotRegex(text, r"not shown, too wide: .*\b(\w+), \1\b")

    def test_lists_and_trees_fit(self):
        """Numbers stay, names lose their middle, texts go on below."""
        run, path = artifacts(trace("training")), trace("training")
        for command in (("rules", "list"), ("page",), ("probe", path), ("table", run), ("table", run, "kernels"), ("tree", run)):
            for line in on_terminal(*command).splitlines():
                longest = max(map(len, line.split()), default=0)
                self.assertLessEqual(len(line), max(80, longest + 12), f"{command}: {line}")
        self.assertNotIn("{{", support.run("rules", "list").stdout)

    def test_deep_ranges_of_trees_give_way_to_names(self):
        for scenario in ("training", "inference", "hostile"):
            lines = on_terminal("tree", artifacts(trace(scenario)), columns=72).splitlines()
            self.assertLessEqual(max(map(len, lines)), 72, scenario)

    def test_verdicts_fit(self):
        """What is written for people has no line as wide as its paths, which stay whole."""
        run, path, out = artifacts(trace("training")), trace("training"), fresh_dir()
        loops = [artifacts(trace(name)) for name in ("loop", "loop-slower", "no-nvtx")]
        for command in (("whatif", run), ("guide",), ("doctor",), ("iters", artifacts(trace("no-nvtx"))), ("compare", *loops[:2], "--out", out / "c"),
                        ("compare", loops[0], loops[2], "--out", out / "d"), ("ranks", trace("collectives-skewed"), "--out", out / "r"),
                        ("analyze", path, "--out", out / "a"), ("batch", path, SOURCE / "README.md", "--out", out / "b")):
            text = on_terminal(*command)
            self.assertTrue(text, command)
            for line in text.splitlines():
                if "/" not in line:
                    self.assertLessEqual(len(line), 80, f"{command}: {line}")
        self.assertTrue(support.run("guide").stdout.startswith("# "), "Markdown for programs")
        findings = [line.strip() for line in on_terminal("analyze", path, "--out", out / "e").splitlines() if re.match(r"  (high|medium|low|info)\b", line)]
        self.assertEqual(len(findings), len(support.report(run).json["findings"]))

    def test_a_text_of_several_lines_fills_each(self):
        lines = on_terminal("explain", artifacts(trace("copy-bound")), "1").split("\nFacts")[0].splitlines()
        folded = [(line, after) for line, after in zip(lines, lines[1:]) if after.startswith("  ")]
        self.assertTrue(folded)
        for line, after in folded:
            self.assertGreater(len(line) + 1 + len(after.split()[0]), 80, line)
        shares = on_terminal("analyze", trace("steps-input"), "--out", fresh_dir() / "s")
        self.assertRegex(shares, r"(?m)^  high +[\d.]+ s, [\d.]+ % of capture  run")

    def test_a_table_is_text_for_people_and_csv_for_programs(self):
        run = artifacts(trace("training"))
        self.assertRegex(on_terminal("table", run, "kernels"), r"name +GPU +calls")
        kernels = {row["kernel_name"]: row["short_name"] for row in csv.DictReader(support.run("table", run, "kernels").stdout.splitlines())}
        shown = support.run("table", run, "kernels", "--format", "text").stdout
        self.assertTrue(any(name != brief for name, brief in kernels.items()))
        for name, brief in kernels.items():
            self.assertIn(brief, shown)
            self.assertTrue(name in brief or name not in shown, "one of both names is enough to read")
        self.assertFalse(on_terminal("table", run, "kernels").startswith("\n"), "room for headers of columns that are left out")
        self.assertTrue(on_terminal("table", run, "kernels", "--csv").startswith("kernel_name,"))
        self.assertTrue(support.run("table", run, "kernels").stdout.startswith("kernel_name,"))
        self.assertIn("total time", support.run("table", run, "kernels", "--format", "text").stdout)

    def test_help_fits(self):
        """Help but for its examples, which are command lines."""
        for command in re.findall(r"(?m)^  ([a-z-]+) ", support.run("help").stdout.partition("\nCommands:\n")[2].partition("\n\n")[0]):
            text = on_terminal(command, "--help").partition("\nExamples:\n")[0]
            self.assertEqual([line for line in text.splitlines() if len(line) > 80], [], command)
            self.assertEqual(text.split(), support.run(command, "--help").stdout.partition("\nExamples:\n")[0].split())

    def test_a_number_stays_with_its_unit(self):
        text = on_terminal("summary", artifacts(trace("training")))
        self.assertIn("active", text)
        self.assertNotRegex(text, r"\d\n +(ms|µs|s|%)\b")

    def test_headers_are_words(self):
        for command in ("summary", "overlap", "nccl"):
            text = support.run(command, artifacts(trace("training"))).stdout
            self.assertNotRegex(text, r"\b\w+_(ms|us|ns|pct|id|count)\b", command)

    def test_what_was_not_traced_is_not_zero(self):
        run = artifacts(trace("nvtx-only"))
        for command in (("tree", run), ("export", "markdown", run)):
            text = support.run(*command).stdout
            self.assertIn("Kernels were not recorded", text)
            self.assertNotRegex(text, r"kernels 0 ns|GPU 0 ns")
        self.assertIn("no kernel recorded", support.run("summary", run).stdout)
        self.assertIn("kernels ", support.run("tree", artifacts(trace("training"))).stdout)


if __name__ == "__main__":
    support.main()
