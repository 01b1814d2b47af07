"""The command line: help, usage errors, commands, configuration files."""
import json
import os
import re
import shutil
import subprocess
import unittest

import support
from support import SOURCE, analyze, artifacts, fresh_dir, read_csv, report, run, trace, tree

COMMANDS = ("analyze", "probe", "table", "rules")
PHASE_MAPS = sorted(p.stem for p in (SOURCE / "phase-maps").glob("*.yaml"))


class Usage(unittest.TestCase):
    def refused(self, *words, code=2):
        done = run(*words)
        self.assertEqual((done.returncode, done.stdout), (code, ""), words)
        self.assertRegex(done.stderr, r"^nsys-ai: [^\n]+\n$", words)
        return done.stderr

    def test_help(self):
        for words in (("--help",), ("-h",), ("help",)):
            done = run(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for command in COMMANDS:
                self.assertIn(f"\n  {command} ", done.stdout)
        for command in COMMANDS:
            for words in ((command, "--help"), (command, "-h"), ("help", command)):
                done = run(*words)
                self.assertEqual((done.returncode, done.stderr), (0, ""), words)
                self.assertIn(f"usage: nsys-ai {command}", done.stdout)
                self.assertIn("\nExamples:\n", done.stdout)
                self.assertLessEqual(max(map(len, done.stdout.split("\n"))), 110, words)
        self.assertEqual(run().returncode, 2)
        self.assertRegex(run("--version").stdout, r"^nsys-ai \d+\.\d+\.\d+\n$")

    def test_suggestions(self):
        for words, wanted in ((("analyse", "x"), "analyze"), (("prob", "x"), "probe"), (("tabel", "x"), "table"), (("rule", "list"), "rules"),
                              (("analyze", "x", "--ouput", "y"), "--out"), (("analyze", "x", "--phasemap", "y"), "--phase-map"),
                              (("analyze", "x", "--fail_on", "y"), "--fail-on"), (("analyze", "x", "--jbos", "2"), "--jobs"),
                              (("analyze", "x", "--stage", "anlyze"), "analyze"), (("rules", "explain", "gpu-idel"), "gpu-idle")):
            self.assertIn(f"did you mean {wanted}?", self.refused(*words).replace('"', ""), words)

    def test_usage_errors(self):
        path = trace("minimal")
        for words in (("analyze",), ("analyze", path, path), ("probe",), ("table",), ("rules",), ("rules", "check"), ("rules", "explain"),
                      ("rules", "list", "x"), ("rules", "frob"), ("frobnicate",), ("analyze", path, "--out"), ("analyze", path, "--out", ""),
                      ("analyze", path, "--top", "0"), ("analyze", path, "--top", "1001"), ("analyze", path, "--top", "ten"),
                      ("analyze", path, "-j", "0"), ("analyze", path, "-j", "-3"), ("analyze", path, "-j", "99999999999999999999"),
                      ("analyze", path, "--trim", "1"), ("analyze", path, "--trim", "2", "1"), ("analyze", path, "--trim", "1", "1"),
                      ("analyze", path, "--trim", "nan", "1"), ("analyze", path, "--trim", "0", "inf"), ("analyze", path, "--trim", "a", "b"),
                      ("analyze", path, "--gpu", "x"), ("analyze", path, "--fail-on", "severe"), ("analyze", path, "--stage", "nothing"),
                      ("analyze", path, "--reader", "fast"), ("analyze", path, "--quiet=1"), ("analyze", path, "-Z"),
                      ("analyze", path, "--memory-limit", "lots"), ("analyze", path, "--memory-limit", "-1"),
                      ("analyze", path, "--nvtx-coverage-warn-threshold", "101"), ("table", path, "--csv", "--json")):
            self.refused(*words)

    def test_option_forms(self):
        out = fresh_dir() / "a"
        self.assertEqual(run("analyze", "-qj1", f"-o{out}", "--", trace("minimal")).returncode, 0)
        self.assertTrue((out / "report.md").exists())
        self.assertEqual(run("analyze", trace("minimal"), f"--out={out}", "--top=3", "-q").returncode, 0)

    def test_man_page(self):
        page = run("--man").stdout
        self.assertTrue(page.startswith(".TH NSYS-AI 1"))
        for command in COMMANDS:
            self.assertIn(f"nsys\\-ai {command}", page)
        if not shutil.which("man"):
            self.skipTest("no man")
        file = fresh_dir() / "nsys-ai.1"
        file.write_text(page)
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", file], capture_output=True, text=True,
                              env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("--phase-map", done.stdout.replace("\N{HYPHEN}", "-").replace("\b", ""))


class Commands(unittest.TestCase):
    def test_probe(self):
        done = run("probe", trace("training"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("NVTX", done.stdout)
        for scenario in support.SCENARIOS:
            for schema in (support.oldest_schema(scenario), 2026):
                done = run("probe", trace(scenario, "--schema", schema), "--json")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                document = json.loads(done.stdout)
                rows = document["capabilities"]["rows"]
                names = [c["name"] for c in document["capabilities"]["columns"]]
                kernels = [dict(zip(names, row)) for row in rows if row[0] == "kernels"]
                self.assertEqual(kernels[0]["available"], 1, scenario)
                self.assertNotIn("CANARY", done.stdout)
        minimal = run("probe", trace("minimal")).stdout
        self.assertRegex(minimal, r"(?m)^  no +NVTX ")

    def test_table(self):
        directory = artifacts(trace("training"))
        for path in sorted((directory / "stages").glob("*.ntab")):
            as_csv, as_json = run("table", path), run("table", path, "--json")
            self.assertEqual((as_csv.returncode, as_csv.stderr, as_json.returncode), (0, "", 0), path.name)
            document = json.loads(as_json.stdout)
            self.assertEqual(as_csv.stdout.split("\n")[0], ",".join(c["name"] for c in document["columns"]))
            if (directory / "tables" / f"{path.stem}.csv").exists():
                self.assertEqual(as_csv.stdout.encode(), (directory / "tables" / f"{path.stem}.csv").read_bytes(), path.name)
        kernels = directory / "stages" / "kernel_events.ntab"
        self.assertEqual(len(json.loads(run("table", kernels, "--json").stdout)["rows"]), 1256)
        self.assertEqual(len(json.loads(run("table", kernels, "--json", "--rows", "3").stdout)["rows"]), 3)
        self.assertEqual(len(json.loads(run("table", kernels, "--json", "-n", "0").stdout)["rows"]), 0)

    def test_table_refuses_what_is_no_table(self):
        good = (artifacts(trace("training")) / "stages" / "kernels.ntab").read_bytes()
        file = fresh_dir() / "x.ntab"
        for content in (b"", b"x", good[:40], good[:-1], good + b"\0", bytes([good[0] ^ 1]) + good[1:], good[:200] + b"\xff" * 8 + good[208:],
                        b"\0" * 4096):
            file.write_bytes(content)
            done = run("table", file)
            self.assertEqual((done.returncode, done.stdout), (3, ""), content[:20])
            self.assertRegex(done.stderr, r"^nsys-ai: .*x\.ntab")
        self.assertEqual(run("table", file.parent).returncode, 3)
        self.assertEqual(run("table", file.parent / "none").returncode, 3)

    def test_rules(self):
        listed = run("rules", "list")
        self.assertEqual((listed.returncode, listed.stderr), (0, ""))
        ids = [line.split()[0] for line in listed.stdout.splitlines() if line and not line[0].isspace()]
        for wanted in ("dominant-kernel launch-storm blocking-sync gpu-idle copy-bound exposed-communication pageable-copies small-copies "
                       "gpu-imbalance phase-dominates low-nvtx-coverage no-nvtx graph-envelope-only profiler-overhead trace-health").split():
            self.assertIn(wanted, ids)
            done = run("rules", "explain", wanted)
            self.assertEqual((done.returncode, done.stderr), (0, ""), wanted)
            self.assertIn(wanted, done.stdout)
            self.assertTrue((SOURCE / "docs" / "root-causes" / f"{wanted}.md").exists(), wanted)
        self.assertEqual(run("rules", "check", SOURCE / "rules" / "default.yaml").returncode, 0)

    def test_json_line(self):
        path = trace("training")
        for extra in ((), ("-q",)):
            done = run("analyze", path, "--json", "--out", fresh_dir() / "o", *extra)
            self.assertEqual((done.returncode, done.stderr, done.stdout.count("\n")), (0, "", 1))
            line = json.loads(done.stdout)
            self.assertEqual(sum(line["findings"].values()), len(report(artifacts(path)).json["findings"]))
            self.assertEqual(line["severity"], report(artifacts(path)).json["verdict"]["severity"])

    def test_fail_on(self):
        expected = {"copy-bound": {"high": 1, "medium": 1, "low": 1, "info": 1}, "training": {"high": 0, "medium": 1, "low": 1, "info": 1},
                    "healthy": {"high": 0, "medium": 0, "low": 0, "info": 0}}
        for scenario, severities in expected.items():
            for severity, code in severities.items():
                out = fresh_dir() / "o"
                done = run("analyze", trace(scenario), "-q", "--fail-on", severity, "--out", out)
                self.assertEqual((done.returncode, done.stderr), (code, ""), f"{scenario} {severity}")
                self.assertTrue((out / "report.md").exists())

    def test_quiet_and_verbose(self):
        done = run("analyze", trace("minimal"), "--out", fresh_dir() / "o")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("report.html", done.stdout)
        done = run("analyze", trace("minimal"), "-v", "--out", fresh_dir() / "o")
        self.assertIn("nsys-ai: extract", done.stderr)
        self.assertNotIn("\x1b", done.stderr + done.stdout)

    def test_stage_and_no_stages(self):
        path = trace("training")
        for stage, has_kernels in (("probe", False), ("extract", True), ("analyze", True), ("recommend", True), ("timeline", True)):
            out = analyze(path, "--stage", stage)
            self.assertEqual((out / "stages" / "kernel_events.ntab").exists(), has_kernels, stage)
            self.assertFalse((out / "report.md").exists())
            self.assertEqual(tree(analyze(path, out=out)), tree(artifacts(path)), stage)
        bare = tree(analyze(path, "--no-stages"))
        full = tree(artifacts(path))
        self.assertEqual({n for n in bare if n.startswith("stages/")}, {"stages/manifest.json"})
        for name in bare:
            if not name.startswith("stages/"):
                self.assertEqual(bare[name], full[name], name)
        self.assertEqual(set(full) - set(bare), {n for n in full if n.endswith(".ntab")})


class Configuration(unittest.TestCase):
    def refused(self, option, text, name="mine.yaml"):
        file = fresh_dir() / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        done = run("analyze", "/nonexistent.sqlite", option, file, timeout=20)  # found before the trace is looked at
        self.assertEqual((done.returncode, done.stdout), (2, ""), text[:60])
        self.assertRegex(done.stderr, r"^nsys-ai: [^\n]*mine\.yaml[^\n]*\n$", text[:60])
        return done.stderr

    def rules(self, text):
        file = fresh_dir() / "mine.yaml"
        file.write_text(text)
        return file

    def test_phase_maps_by_name(self):
        self.assertGreaterEqual(len(PHASE_MAPS), 8)
        for name in PHASE_MAPS:
            out = analyze(trace("inference"), "--phase-map", name)
            rows = read_csv(out, "nvtx_phases")
            self.assertIn("unmapped", [r["phase"] for r in rows], name)
        alias = analyze(trace("inference"), "--phases-json", "inference")
        self.assertEqual(tree(alias), tree(analyze(trace("inference"), "--phase-map", "inference")))
        as_json = fresh_dir() / "map.json"
        as_json.write_text(json.dumps({"decode": ["DECODE"], "all else": ["re:^exec"]}))
        rows = {r["phase"]: r for r in read_csv(analyze(trace("inference"), "--phases-json", as_json), "nvtx_phases")}
        self.assertGreater(float(rows["decode"]["gpu_time_ms"]), 0)
        self.assertGreater(float(rows["all else"]["gpu_time_ms"]), 0)
        done = run("analyze", trace("inference"), "--phase-map", "vlllm", "--out", fresh_dir() / "o")
        self.assertEqual(done.returncode, 2)
        self.assertIn("vllm", done.stderr)

    def test_rules_add_replace_disable(self):
        path = trace("training")
        base = report(artifacts(path)).findings()
        self.assertIn("exposed-communication", base)
        added = self.rules("rules:\n  - id: many-kernels\n    title: '{{kernel_count}} kernels'\n    table: run_info\n"
                           "    severity: {low: 'kernel_count > 10'}\n    why: 'Because of **{{kernel_count}}**.'\n"
                           "    recommendation: fewer\n    verify: count\n    evidence: ['{{kernel_count}} of them']\n")
        done = run("rules", "check", added)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        result = report(analyze(path, "--rules", added))
        self.assertEqual(result.findings(), base | {"many-kernels"})
        mine = next(f for f in result.json["findings"] if f["id"] == "many-kernels")
        self.assertEqual(mine["title"], "1,256 kernels")
        raised = self.rules("parameters: {exposed_communication_medium: 90, exposed_communication_high: 95}\n")
        self.assertEqual(report(analyze(path, "--rules", raised)).findings(), base - {"exposed-communication"})
        both = report(analyze(path, "--rules", added, "--rules", raised)).findings()
        self.assertEqual(both, base - {"exposed-communication"} | {"many-kernels"})

    def test_bad_rules_are_refused_with_a_place(self):
        for text in ("rules:\n  - id: x\n    table: nothing_like_it\n", "rulez: []\n", "rules: 7\n", "rules:\n  - 5\n", "[", "a: *b\n",
                     "rules: &x\n  - *x\n", "rules:\n  - id: x\n    id: y\n", "\x00", "rules:\n\t- id: x\n"):
            message = self.refused("--rules", text)
            self.assertRegex(message, r"mine\.yaml:\d+:\d+: ", text)
        self.refused("--rules", b"\xff\xfe\xfd")
        self.refused("--rules", "")

    def test_bombs_end_quickly(self):
        lol = "a: &a [x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(20))
        for option in ("--rules", "--phase-map", "--kernel-classes"):
            for text in (lol, "[" * 100_000, "{a: " * 100_000, "x" * (2 << 20), "- " * 50_000):
                self.refused(option, text)

    def test_bad_phase_maps(self):
        for text in ("x: ['re:(']\n", "- a\n", "x: {y: z}\n", "x: ['a']\nx: ['b']\n"):
            self.refused("--phase-map", text)

    def test_missing_files(self):
        for option in ("--rules", "--kernel-classes", "--phase-map", "--templates"):
            done = run("analyze", trace("minimal"), option, "/nonexistent/x.yaml", "--out", fresh_dir() / "o")
            self.assertEqual(done.returncode, 2, f"{option}: {done.stderr}")
            self.assertRegex(done.stderr, r"^nsys-ai: [^\n]+\n$")

    def test_kernel_classes(self):
        classes = fresh_dir() / "classes.yaml"
        classes.write_text("my own: [big_step]\n")
        done = run("analyze", trace("nvtx-mix"), "-q", "--kernel-classes", classes, "--out", out := fresh_dir() / "o")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("my own", {r["category"] for r in read_csv(out, "kernels")})

    def test_templates(self):
        directory = fresh_dir("templates")
        (directory / "report.md.mustache").write_text("# mine\n\n{{#findings}}{{title}}\n{{/findings}}")
        out = analyze(trace("hostile"), "--templates", directory)
        text = (out / "report.md").read_text()
        self.assertTrue(text.startswith("# mine\n"))
        whole = tree(artifacts(trace("hostile")))
        self.assertEqual((out / "report.json").read_bytes(), whole["report.json"])
        self.assertEqual((out / "report.html").read_bytes(), whole["report.html"])
        (directory / "report.md.mustache").write_text("{{#open}}")
        done = run("analyze", trace("hostile"), "--templates", directory, "--out", out)
        self.assertEqual(done.returncode, 2)
        self.assertIn("report.md", done.stderr)
        self.assertEqual((out / "report.md").read_text(), text)

    def test_template_mistakes_show_before_the_trace_is_opened(self):
        for name, text, want in (("report.md", "a\n {{#open}}", "report.md.mustache:2:2: "),
                                 ("report.md", "{{>mine}}", "report.md.mustache:1:1: .*\"mine\""),
                                 ("report.html", "{{^no}}{{>mine}}{{/no}}\n", "report.html.mustache:1:8: .*\"mine\""),
                                 ("report.html", "x\n{{/x}}", "report.html.mustache:2:1: ")):
            directory = fresh_dir("templates")
            (directory / f"{name}.mustache").write_text(text)
            done = run("analyze", "/nonexistent/trace.sqlite", "--templates", directory, "--out", fresh_dir() / "o")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, f"^nsys-ai: {want}[^\n]*\n$")

    def test_no_nvtx_kernel_map(self):
        rows = read_csv(analyze(trace("training"), "--no-nvtx-kernel-map"), "nvtx_ranges")
        self.assertTrue(rows)
        self.assertTrue(all(float(r["attributed_kernel_time_ms"] or 0) == 0 for r in rows))


if __name__ == "__main__":
    support.main()
