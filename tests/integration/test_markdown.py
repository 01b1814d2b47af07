"""report.md through GitHub's own Markdown parser: tables keep their shape, trace text stays text."""
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as xml

import support
from support import SCENARIOS, SHARED, artifacts, report, trace

EXTENSIONS = ("-e", "table", "-e", "autolink", "-e", "strikethrough", "-e", "tagfilter")
NAMESPACE = "{http://commonmark.org/xml/1.0}"
UNIT = r"[ \xa0]?(ns|µs|ms|s|min|h|%|B|KB|MB|GB|TB|KiB|MiB|GiB|GB/s|/s|K|M)?(/s)?"
ONE = r"(?:about )?[<>]?-?[\d,.]+(-[\d,.]+)?" + UNIT  # a range over GPUs: 3.10-3.12 ms
NUMBER = re.compile(rf"^(-|{ONE}(-{ONE})?( \({ONE}( (of the \w+|to {ONE}))?\))?)?$")
SUMMARY = re.compile(r"^<details><summary>[^<>]*</summary>$")
LIMIT = 60_000
SECTIONS = ("All findings", "Top kernels by total GPU time", "Communication", "Idle time and host activity", "NVTX ranges", "Memory transfers")


def parse(text):
    done = subprocess.run(["cmark-gfm", *EXTENSIONS, "-t", "xml"], input=text.encode(), capture_output=True, check=True)
    return xml.fromstring(done.stdout)


def tables_of_source(text):
    """Tables as written: lists of lines, by nothing but the leading bar."""
    table, fenced = [], False
    for line in text.split("\n") + [""]:
        if line.startswith("```"):
            fenced = not fenced
        if line.startswith("|") and not fenced:
            table.append(line)
        elif table:
            yield table
            table = []


def text_of(node, skip=()):
    parts = []
    for part in node.iter():
        if part.tag.removeprefix(NAMESPACE) not in skip and part.text and part.tag != node.tag:
            parts.append(part.text)
    return "".join(parts)


@unittest.skipUnless(shutil.which("cmark-gfm"), "no cmark-gfm")
class Markdown(unittest.TestCase):
    def reports(self):
        paths = [trace(scenario) for scenario in SCENARIOS]
        paths += [p for p in (SHARED / "traces").glob("*.sqlite")]
        for path in paths:
            for options in ((), ("--top", "1000")):
                directory = artifacts(path, *options)
                yield f"{path.stem} {' '.join(options)}", (directory / "report.md").read_text(encoding="utf-8"), directory

    def test_length(self):
        for label, text, _ in self.reports():
            self.assertLess(len(text), LIMIT, label)
            self.assertLess(len(text.encode("utf-16-le")) // 2, LIMIT, label)

    def test_tables_fit_but_for_the_last_column(self):
        """GitHub shows 860 pixels; a table that needs more scrolls. Names can be long, so they come last."""
        for label, text, _ in self.reports():
            if "--top" in label:
                continue
            for lines in tables_of_source(text):
                cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in (lines[0], *lines[2:])]
                need = 0
                for column in list(zip(*cells))[:-1]:
                    words = [(word, cell.strip().startswith("`")) for cell in column for word in cell.replace("\\", "").split(" ")]
                    need += 26 + max(len(word) * (8.2 if code else 7.6) for word, code in words)
                self.assertLess(need, 900, f"{label}: {lines[0]}")

    def test_tables_keep_their_shape(self):
        seen = 0
        for label, text, _ in self.reports():
            written = list(tables_of_source(text))
            parsed = list(parse(text).iter(NAMESPACE + "table"))
            self.assertEqual(len(parsed), len(written), label)
            for lines, node in zip(written, parsed):
                header, *rows = list(node)
                columns = len(header)
                self.assertEqual(len(rows), len(lines) - 2, f"{label}: {lines[0]}")
                marks = lines[1].strip("|").split("|")
                self.assertEqual(len(marks), columns)
                for line, row in zip(lines[2:], rows):
                    self.assertEqual(len(re.findall(r"(?<!\\)\|", line)), columns + 1, f"{label}: {line}")
                    for mark, cell in zip(marks, row):
                        if mark.endswith(":"):  # a number stays under its own heading
                            self.assertRegex(text_of(cell), NUMBER, f"{label}: {line}")
                    seen += 1
        self.assertGreater(seen, 500)

    def test_nothing_but_details_is_html_and_nothing_is_a_link(self):
        for label, text, _ in self.reports():
            root = parse(text)
            for kind in ("image", "link", "footnote_reference", "strikethrough"):
                found = [text_of(n) for n in root.iter(NAMESPACE + kind)]
                self.assertEqual(found, ["report.html"] if kind == "link" else [], f"{label}: {kind}")
            self.assertLessEqual(len(list(root.iter(NAMESPACE + "thematic_break"))), 1, label)  # above the footer
            depth = 0
            for tag in ("html_block", "html_inline"):
                for node in root.iter(NAMESPACE + tag):
                    content = node.text.strip()
                    if tag == "html_block" and SUMMARY.match(content):
                        depth += 1
                    elif tag == "html_block" and content == "</details>":
                        depth -= 1
                    else:
                        self.fail(f"{label}: {tag} {content!r}")
                    self.assertIn(depth, (0, 1), label)
            self.assertEqual(depth, 0, label)

    def test_nobody_is_mentioned(self):
        """GitHub turns @name and #1 outside code into mentions after parsing."""
        for label, text, _ in self.reports():
            for node in parse(text).iter(NAMESPACE + "text"):
                self.assertNotRegex(node.text, r"(?<![\w/])@[A-Za-z0-9]", label)
                self.assertNotRegex(node.text, r"(?<![\w&])(#|GH-)\d", label)

    def test_no_control_characters(self):
        for label, text, _ in self.reports():
            self.assertNotRegex(text, r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\ufeff]", label)
            self.assertNotRegex(text, r"(?m)^::", label)  # CI runners read such lines as commands

    def test_sections_in_order(self):
        text = (artifacts(trace("training")) / "report.md").read_text(encoding="utf-8")
        headings = re.findall(r"(?m)^<details><summary>(.*)</summary>$", text)
        places = [headings.index(section) for section in SECTIONS]
        self.assertEqual(places, sorted(places), headings)

    def test_one_screen_comes_first(self):
        """Verdict, bar, at most three findings and the link to the page; nothing but the footer is outside of details behind them."""
        for label, text, _ in self.reports():
            screen, *folded = re.split(r"(?m)^<details>", text)
            lines = [line for line in screen.split("\n") if line]
            self.assertLessEqual(len(lines), 26, label)
            self.assertRegex(lines[1], r"^\*\*(High|Medium|Low|Info): ")
            self.assertLessEqual(len([line for line in lines if re.match(r"- (High|Medium|Low|Info): ", line)]), 3, label)
            self.assertIn("[report.html](report.html)", screen)
            for part in folded:
                behind = part.split("\n</details>", 1)[1].strip()
                self.assertTrue(not behind or behind.startswith(("---\n", "No steps in process")), f"{label}: {behind[:200]}")

    def test_bars_are_as_long_as_their_shares(self):
        for scenario in ("training", "copy-bound", "many-gpus"):
            directory = artifacts(trace(scenario))
            text = (directory / "report.md").read_text(encoding="utf-8")
            gpus = support.read_csv(directory, "gpu_active")
            bars = re.findall(r"(?m)^\| [^|]* \| `([^`]*)` \|", re.split(r"(?m)^<details>", text)[0])
            self.assertEqual(len(bars), len(gpus) if len(gpus) <= 4 else 1)
            for bar, rows in zip(bars, [[g] for g in gpus] if len(gpus) <= 4 else [gpus]):
                parts = [sum(float(row[f"{part}_ms"]) for row in rows) for part in ("compute", "exposed_comm", "exposed_copy", "idle")]
                self.assertEqual(len(bar), 32)
                for glyph, part in zip("█▓▒░", parts):
                    self.assertAlmostEqual(bar.count(glyph) / 32, part / sum(parts), delta=1 / 32)

    def test_a_capture_of_one_phase_has_no_bar(self):
        for name, drawn in (("host-bound", False), ("pause", False), ("inference", True)):
            lines = (artifacts(trace(name)) / "report.md").read_text(encoding="utf-8").split("\n")
            bars = [line for line in lines if line.startswith("`") and "█ GPU active" in line]
            self.assertEqual(bool(bars), drawn, name)
            self.assertFalse(set("".join(bars)) & set("▓▒░"), "shades of the GPUs' bars have another meaning")
            page = (artifacts(trace(name)) / "report.html").read_text(encoding="utf-8")
            self.assertEqual('aria-label="Where the time of the capture goes"' in page, drawn, name)

    def test_the_bar_of_a_capture_is_in_order_of_time(self):
        """A pause lies between setup and work, where it was."""
        directory = artifacts(trace("launch-load"))
        bar, = re.findall(r"(?m)^`([^`]*)` █ GPU active", (directory / "report.md").read_text(encoding="utf-8"))
        parts = [row for row in support.read_csv(directory, "capture_time") if row["phase"] not in ("exited", "not_recorded")]
        begin, end = min(int(row["start_ns"]) for row in parts), max(int(row["end_ns"]) for row in parts)
        pause, work = ([row for row in support.read_csv(directory, "active_spans") if row["kind"] == kind] for kind in ("pause", "active"))
        self.assertEqual((len(pause), len(work), len(bar)), (1, 1, 60))
        for (row,), glyph in ((pause, "·"), (work, "█")):
            first, behind = (60 * (int(row[side]) - begin) / (end - begin) for side in ("start_ns", "end_ns"))
            self.assertGreater(behind - first, 3)
            self.assertEqual(set(bar[round(first) + 1:round(behind) - 1]), {glyph}, bar)
        self.assertEqual(bar.count("█"), len(bar.strip("·━")), bar)

    def test_gaps_that_hold_other_causes_say_so(self):
        """A finding's idle time is less than its gaps last, as a gap has several causes."""
        text = (artifacts(trace("host-bound")) / "report.md").read_text(encoding="utf-8")
        found = re.search(r"GPU 0: ([\d.]+) ms of idle time in 20 gaps.*?20 gaps before step_c&lt;float>, ([\d.]+) ms total, median [\d.]+ .s; ([\d.]+) ms of it belong to this cause", text, re.S)
        self.assertLessEqual(float(found[3]), float(found[1]))
        self.assertLess(float(found[3]), float(found[2]))

    def test_what_no_name_tells_is_left_empty(self):
        for label, text, _ in self.reports():
            for section in ("Kernel shapes", "Repeating units"):
                body = text.partition(f"<summary>{section}</summary>")[2].partition("</details>")[0]
                self.assertNotIn("| unknown |", body, label)

    def test_what_is_as_it_should_be_is_not_said(self):
        for label, text, _ in self.reports():
            self.assertNotRegex(text, r"(?m)^\| [a-z_]+ \| (ok|unknown) \|", label)
            self.assertNotIn("missing-table", text, label)

    def test_first_lines_say_what_and_how_bad(self):
        path = trace("training")
        text = (artifacts(path) / "report.md").read_text(encoding="utf-8").split("\n<details>")[0]
        lines = [line for line in text.split("\n") if line]
        self.assertRegex(lines[1], r"^\*\*(High|Medium|Low|Info|OK)")
        self.assertRegex(lines[-1], r"^Trace training\\?\.sqlite: 2 GPUs( \([^)]*\))?, 2 processes, window [\d.]+ ms, .*2026")

    def test_shed_sections_are_announced(self):
        directory = artifacts(trace("hostile"), "--top", "1000")
        text = (directory / "report.md").read_text(encoding="utf-8")
        whole = len(report(directory).rows("kernels"))
        shown = sum(len(t) - 2 for t in tables_of_source(text) if "Median" in t[0] and "Category" in t[0])
        if shown < whole:
            self.assertRegex(text, r"more in|left out|shortened|omitted")


if __name__ == "__main__":
    support.main()
