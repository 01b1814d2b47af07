"""The command line: help, usage errors, commands, configuration files."""
import contextlib
import csv
import json
import os
import platform
import pty
import re
import shlex
import shutil
import sqlite3
import subprocess
import unittest

import support
from support import SOURCE, analyze, artifacts, fresh_dir, read_csv, report, run, trace, tree

COMMANDS = tuple(re.findall(r"(?m)^  ([a-z-]+) ", run("help").stdout.partition("\nCommands:\n")[2].partition("\n\n")[0]))
PHASE_MAPS = sorted(p.stem for p in (SOURCE / "phase-maps").glob("*.yaml"))


class Usage(unittest.TestCase):
    def refused(self, *words, code=2):
        done = run(*words)
        self.assertEqual((done.returncode, done.stdout), (code, ""), words)
        self.assertRegex(done.stderr, r"^nsys-ai: [^\n]+\n$", words)
        return done.stderr

    def test_help(self):
        self.assertIn("analyze", COMMANDS, "nsys-ai help lists no commands under 'Commands:'")
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
                version = run(command, "--version")
                self.assertEqual(version.stdout, run("--version").stdout)
        number = r"\d+\.\d+(\.\d+)*"
        lines = run("--version").stdout.split("\n")
        self.assertRegex(lines[0], r"^nsys-ai \d+\.\d+\.\d+( \([0-9a-f]{7,40}\))?$")
        self.assertRegex(lines[1], rf"^{platform.machine()} Linux, (static|dynamic), (gcc|clang) {number}\S*( [^,]*)?, glibc {number}$")
        names = ("SQLite", "libyaml", "jansson", "libcsv", "cmark", "zlib", "PCRE2", "ncurses", "xxHash")
        self.assertRegex(lines[2], "^" + ", ".join(f"{name} {number}" for name in names) + "$")
        self.assertEqual(lines[3:], [""])
        self.assertEqual({run(word).stdout for word in ("-V", "version", "--version")}, {run("--version").stdout})
        said = json.loads(run("version", "--json").stdout)
        self.assertEqual(lines[0], f"{said['name']} {said['version']}" + (f" ({said['commit']})" if said["commit"] else ""))
        self.assertEqual(said["built_with"], ", ".join(lines[1:3]).split(", "))

    def test_a_gpu_that_is_no_number(self):
        self.assertEqual(run("summary", "x", "--gpu", "x").stderr,
                         "nsys-ai: --gpu x: expected a whole number (see nsys-ai summary --help)\n")

    def test_a_first_word_that_is_a_path(self):
        """A run means its summary; other directories, addresses and typos lead to what would work."""
        directory = artifacts(trace("minimal"))
        self.assertEqual(run(directory).stdout, run("summary", directory).stdout)
        self.assertEqual(run("help", "help").stdout, run("--help").stdout)
        base = fresh_dir()
        for word, says in ((base, f"nsys-ai batch '{base}' --out DIR"), ("./no/such.db", 'there is no file "./no/such.db"'),
                           ("https://example.org/t.sqlite", "download the trace"), ("kernls", 'unknown command "kernls"')):
            done = run(word)
            self.assertEqual((done.returncode, done.stdout), (2, ""), word)
            self.assertIn(says, done.stderr)
        self.assertIn("download the trace", run("summary", "https://example.org/t.sqlite").stderr)

    def test_json_is_a_format_everywhere(self):
        directory = artifacts(trace("minimal"))
        for words in (("summary", directory), ("overlap", directory), ("evidence", directory), ("search", directory, "saxpy"), ("sql", directory, "select 1 as a"),
                      ("skill", "run", "streams", directory), ("rules", "list"), ("rules", "show", "exposed-copy"), ("rules", "explain", "exposed-copy"),
                      ("rules", "explain", "exposed-copy", directory), ("rules", "test", SOURCE / "rules/kernel-classes.rules"),
                      ("skill", "show", "streams"), ("skill", "check", SOURCE / "skills/streams.yaml"), ("stats", trace("host-bound"), "-q", "-r", "cuda_api_sum")):
            short, long = run(*words, "--json"), run(*words, "--format", "json")
            self.assertEqual((short.returncode, short.stdout), (0, long.stdout), words)
            said = json.loads(short.stdout)
            if words[1] in ("show", "check", "explain", "test"):
                page = words[1:] == ("explain", "exposed-copy")
                self.assertEqual(said["text"], (SOURCE / "docs/root-causes/exposed-copy.md").read_text() if page else run(*words).stdout)

    def test_every_command_has_json_or_says_why_not(self):
        commands = re.findall(r"(?m)^  ([a-z-]+) +[a-z]", run("help").stdout.split("Commands:")[1].split("\nnsys-ai help")[0])
        self.assertGreater(len(commands), 30)
        for command in commands:
            refused = run(command, "--json").stderr
            if "--json" not in run(command, "--help").stdout:
                self.assertRegex(refused, r"there is no --json: \w+", command)
            else:
                self.assertNotIn("unknown option", refused, command)

    def test_info_does_not_show_as_zero_what_was_not_traced(self):
        ranges, calls = run("info", trace("nvtx-only")).stdout, run("info", trace("api-only")).stdout
        self.assertRegex(ranges, r"(?m)^CUDA was not traced\. Record with nsys profile --trace=cuda,nvtx,osrt PROGRAM\.$")
        self.assertRegex(ranges, r"(?m)^1 process, kernels not traced, CUDA calls not traced, [\d,]+ NVTX ranges$")
        self.assertRegex(calls, r"(?m)^No GPU activity records: CUDA calls were traced")
        for said in (ranges, calls):
            self.assertNotRegex(said, r"\b0 (ns|kernels)|n/a|GPU unknown")

    def test_paths_with_blanks_are_quoted_for_a_shell(self):
        base = fresh_dir() / "a b"
        base.mkdir()
        shutil.copy(trace("host-bound"), base / "t$x.sqlite")
        last = run("analyze", base / "t$x.sqlite", "--out", base / "out").stdout.splitlines()[-1]
        self.assertTrue(last.endswith(f"OUT='{base}/out' TRACE='{base}/t$x.sqlite'"), last)


    def test_alone(self):
        """Somebody who types the name only gets two examples, on stderr: nothing was asked for."""
        done = run()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(len(re.findall(r"(?m)^  nsys-ai ", done.stderr)), 2)

    def test_defaults_and_choices_in_help(self):
        """They are printed from the values and tables themselves; here they are written down once more."""
        text = re.sub(r"\s+", " ", run("analyze", "-h").stdout)
        for wanted in ("rows per table in report.md (default: 10)", "info, low, medium, high, new:info, new:low, new:medium or new:high (default: never)",
                       "probe, extract, analyze, skills, recommend, timeline or render", "auto, sqlite or direct (default: auto)",
                       "(default: artifacts/NAME of the trace)", "(default: all processors)"):
            self.assertIn(wanted, text)
        for name in PHASE_MAPS:
            self.assertRegex(text, rf"phases by NVTX range name: [^:]*{name}, ")
        self.assertNotIn("phases-json", text)

    def test_suggestions(self):
        for words, wanted in ((("analyse", "x"), "analyze"), (("prob", "x"), "probe"), (("tabel", "x"), "table"), (("rule", "list"), "rules"),
                              (("analyze", "x", "--ouput", "y"), "--out"), (("analyze", "x", "--phasemap", "y"), "--phase-map"),
                              (("analyze", "x", "--fail_on", "y"), "--fail-on"), (("analyze", "x", "--jbos", "2"), "--jobs"),
                              (("analyze", "x", "--stage", "anlyze"), "analyze"), (("rules", "explain", "idle-host-cod"), "idle-host-code"),
                              (("analyze", "x", "--fail-on", "hihg"), "high"), (("analyze", "x", "--reader", "drect"), "direct"),
                              (("rules", "exlpain", "idle-host-code"), "explain"), (("help", "anlyze"), "analyze"), (("completions", "bsh"), "bash"),
                              (("rules", "show", "idle-host-cod"), "idle-host-code")):
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

    def test_an_option_is_no_value_of_another(self):
        """What is missing is named, not what was taken for it; who means it says so with =."""
        path = trace("minimal")
        for words, missing in ((("compare", "--base", path, "--new", "--out", "d"), "--new needs RUN"), (("analyze", path, "--out", "--quiet"), "--out needs DIR"),
                               (("analyze", path, "--trim", "0", "--out=d"), "--trim needs")):
            done = run(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, f"^nsys-ai: {missing}")
        out = fresh_dir()
        self.assertEqual(subprocess.run([support.PROGRAM, "analyze", path, "--out=--quiet"], cwd=out, capture_output=True, check=False).returncode, 0)
        self.assertTrue((out / "--quiet/report.md").exists())

    def test_usage_errors_say_where_help_is(self):
        for words, command in ((("analyze",), "analyze"), (("analyze", "x", "--frob"), "analyze"), (("probe", "x", "y"), "probe"),
                               (("table", "x", "--rows", "-1"), "table"), (("rules", "frob"), "rules"), (("x.sqlite", "--frob"), "analyze"),
                               (("table", "x", "--csv", "--json"), "table"), (("rules", "check"), "rules"), (("rules", "list", "x"), "rules")):
            self.assertTrue(self.refused(*words).endswith(f" (see nsys-ai {command} --help)\n"), words)
        for words in (("frobnicate",), ("--frob",), ("help", "frob")):
            self.assertTrue(self.refused(*words).endswith(" (see nsys-ai --help)\n"), words)

    def test_analyze_need_not_be_named(self):
        path = trace("minimal")
        bare = fresh_dir() / "no suffix"
        bare.write_bytes(path.read_bytes())
        for words in ((path,), (bare,)):
            for order in ((*words, "-q", "--out"), ("-q", *words, "--out")):
                out = fresh_dir() / "o"
                done = run(*order, out)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), order)
                self.assertTrue((out / "report.md").exists())
        for name in ("none.sqlite", "none.nsys-rep"):  # looks like one: the message is about the file, not about commands
            done = run(name, cwd=fresh_dir())
            self.assertEqual(done.returncode, 3)
            self.assertIn(name, done.stderr)

    def test_out_is_optional(self):
        place = fresh_dir()
        done = run(trace("minimal"), cwd=place)
        self.assertEqual(done.returncode, 0)
        self.assertTrue((place / "artifacts" / trace("minimal").stem / "report.html").exists())

    def test_option_forms(self):
        out = fresh_dir() / "a"
        self.assertEqual(run("analyze", "-qj1", f"-o{out}", "--", trace("minimal")).returncode, 0)
        self.assertTrue((out / "report.md").exists())
        self.assertEqual(run("analyze", trace("minimal"), f"--out={out}", "--top=3", "-q").returncode, 0)

    def test_man_pages(self):
        for program, words in ((support.PROGRAM, COMMANDS), (support.GENERATOR, ("list", "completions", "--truth", "nvtx-mix"))):
            page = run("--man", program=program).stdout
            self.assertTrue(page.startswith(f".TH {os.path.basename(program).upper()} 1"))
            if not shutil.which("man"):
                self.skipTest("no man")
            file = fresh_dir() / "page.1"
            file.write_text(page)
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", file], capture_output=True, text=True, check=False,
                                  env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            text = re.sub(".\b", "", done.stdout).replace("\N{HYPHEN}", "-")
            for word in words:
                self.assertIn(word, text)

    def test_generator(self):
        """The same tables serve nsys-ai-gen."""
        def gen(*words):
            return run(*words, program=support.GENERATOR, cwd=fresh_dir())
        self.assertEqual(gen().returncode, 2)
        self.assertIn("(default: 2026)", gen("--help").stdout)
        self.assertIn("did you mean inference?", gen("infrence", "x.sqlite").stderr)
        self.assertIn("did you mean --shuffle?", gen("minimal", "x.sqlite", "--shufle").stderr)
        self.assertRegex(run("rules").stderr, r"^nsys-ai: rules needs a word more: list\|check FILE\|.*\(see nsys-ai rules --help\)\n$")
        self.assertRegex(gen("minimal").stderr, r"^nsys-ai-gen: OUT.sqlite is missing \(see nsys-ai-gen --help\)\n$")
        self.assertEqual([line.split()[0] for line in gen("list").stdout.splitlines() if not line.strip().startswith("train-")],
                         [*support.SCENARIOS, "evidence", *support.DIAGNOSIS, *support.PAIRS, *support.SERVING, "bench"])


def files_of(directory):
    """Every table of a run, with the file that has it."""
    return [(path, name) for path in sorted((directory / "stages").glob("*.ntab")) for name in support.tables_in(path.read_bytes())]


class Commands(unittest.TestCase):
    def test_probe(self):
        done = run("probe", trace("training"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("NVTX", done.stdout)
        for scenario in (*support.SCENARIOS, *support.DIAGNOSIS):
            for schema in (support.oldest_schema(scenario), 2026):
                done = run("probe", trace(scenario, "--schema", schema), "--json")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                document = json.loads(done.stdout)
                rows = document["capabilities"]["rows"]
                names = [c["name"] for c in document["capabilities"]["columns"]]
                kernels = [dict(zip(names, row)) for row in rows if row[0] == "kernels"]
                self.assertEqual(kernels[0]["available"], int(scenario not in ("api-only", "nvtx-only")), scenario)
                self.assertNotIn("CANARY", done.stdout)
        # Exports of 2022 and 2023 have the version in a table of another name, the oldest do not have it.
        for schema, versions in ((2019, ["", ""]), (2021, ["2022.1.3.3", "2.9.1"]), (2024, ["2024.6.2.225", "3.16.1"])):
            capture = json.loads(run("probe", trace("training", "--schema", schema), "--json").stdout)["capture"]
            row = dict(zip([c["name"] for c in capture["columns"]], capture["rows"][0]))
            self.assertEqual([row["product_version"] or "", row["schema_version"] or ""], versions)
        minimal = run("probe", trace("minimal")).stdout
        self.assertRegex(minimal, r"(?m)^  no +NVTX ")

    def test_probe_counts(self):
        """Against what the export says when SQL is asked."""
        path = trace("training")
        with contextlib.closing(sqlite3.connect(path)) as db:
            def ask(text):
                return db.execute(text).fetchone()
            kernels, copies = ask("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")[0], ask("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY")[0]
            ranges = ask("SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN (59, 60, 70, 71)")[0]
            calls = ask("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME")[0]
            first = ask("SELECT min(start), max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL")
        temporary = fresh_dir()
        done = run("probe", path, "--json", env={"TMPDIR": temporary})
        document = json.loads(done.stdout)
        self.assertEqual(list(temporary.iterdir()), [])  # what was extracted is gone
        events = document["events"]
        self.assertEqual((events["kernels"], events["copies"], events["nvtx_ranges"], events["api_calls"]), (kernels, copies, ranges, calls))
        span = document["time_range"]
        self.assertTrue(span["start_ns"] <= first[0] and first[1] <= span["end_ns"])
        self.assertEqual((len(document["gpus"]["rows"]), len(document["processes"]["rows"])), (2, 2))
        text = run("probe", path).stdout
        self.assertRegex(text, rf"(?m)^  kernels +{kernels:,}$")
        self.assertEqual(len(re.findall(r"(?m)^ +\d  NVIDIA .*: kernels ", text)), 2)
        # The range it prints is one that --trim takes, and it leaves nothing out.
        trim = re.search(r"--trim (\S+) (\S+)\n", text).groups()
        info = read_csv(analyze(path, "--trim", *trim), "run_info")[0]
        self.assertEqual(int(info["kernel_count"]), kernels)
        bare = json.loads(run("probe", path, "--json", "--no-events").stdout)
        self.assertEqual([k in bare for k in ("events", "gpus", "capabilities")], [False, False, True])
        self.assertNotIn("--trim", run("probe", trace("empty")).stdout)

    def test_probe_schema_only(self):
        """Every table and count, as SQL says, and no text of the export but labels of its enumerations."""
        path = support.edited("evidence", "INSERT INTO NVTX_EVENTS (start, eventType, globalTid, jsonText) VALUES "
                              "(1, 59, 1, '{\"commHash\": \"hidden value\", \"in\": {\"rank_id\": 3, \"not a key\": 1}}')")
        done = run("probe", "--schema-only", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = {name: int(rows) for name, rows in re.findall(r"(?m)^(\w+): (1(?= row$)|(?!1 )\d+(?= rows$))", done.stdout)}
        texts = set()
        with contextlib.closing(sqlite3.connect(path)) as db:
            for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall():
                rows = db.execute(f'SELECT * FROM "{name}"').fetchall()
                self.assertEqual(found.pop(name), len(rows), name)
                if not name.startswith(("ENUM_", "META_DATA_EXPORT")):
                    texts.update(cell for row in rows for cell in row if isinstance(cell, str) and len(cell) > 12)
            known = {c[1] for t, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
                     for c in db.execute(f'PRAGMA table_info("{t}")')}
        self.assertEqual(found, {})
        self.assertEqual([t for t in texts - known if t in done.stdout], [])
        self.assertRegex(done.stdout, r"(?m)^  jsonText: .*; keys commHash, in, rank_id$")
        self.assertRegex(done.stdout, r"(?m)^    1 \S")  # of an enumeration
        self.assertEqual(run("probe", "--schema-only", "--json", path).returncode, 2)
        for scenario in ("hostile", "hostile-values", "empty", "minimal"):
            done = run("probe", "--schema-only", trace(scenario))
            self.assertEqual((done.returncode, done.stderr, "CANARY" in done.stdout), (0, "", False))

    @support.tier("ci")
    def test_table(self):
        directory = artifacts(trace("training"))
        for path, name in files_of(directory):
            as_csv, as_json = run("table", path, name), run("table", path, name, "--json")
            self.assertEqual((as_csv.returncode, as_csv.stderr, as_json.returncode), (0, "", 0), name)
            document = json.loads(as_json.stdout)
            self.assertEqual(as_csv.stdout.split("\n")[0], ",".join(c["name"] for c in document["columns"]))
            if (directory / "tables" / f"{name}.csv").exists():
                self.assertEqual(as_csv.stdout.encode(), (directory / "tables" / f"{name}.csv").read_bytes(), name)
        kernels = (directory / "stages/extract.ntab", "kernel_events", "--json")
        self.assertEqual(len(json.loads(run("table", *kernels).stdout)["rows"]), 1256)
        self.assertEqual(len(json.loads(run("table", *kernels, "--rows", "3").stdout)["rows"]), 3)
        self.assertEqual(len(json.loads(run("table", *kernels, "-n", "0").stdout)["rows"]), 0)

    def test_file_of_a_stage(self):
        """What is in it, as another reader of the format finds it."""
        path = artifacts(trace("training")) / "stages/analyze.ntab"
        listed = {r["table_name"]: (*(int(r[c]) for c in ("row_count", "offset", "size_bytes")), int(r["key"]) % 2**64)
                  for r in csv.DictReader(run("table", path).stdout.splitlines())}
        self.assertEqual(listed, support.tables_in(path.read_bytes()))
        self.assertEqual({rows for rows, _, size, _ in listed.values() if not size}, {0})
        self.assertLess(0, sum(not size for _, _, size, _ in listed.values()))

    def test_table_of_a_run(self):
        directory = artifacts(trace("training"))
        listed = {line.split()[0]: int(line.split()[1]) for line in run("table", directory).stdout.splitlines()}
        self.assertEqual(set(listed), {name for _, name in files_of(directory)})
        self.assertEqual(listed["kernel_events"], 1256)
        for options in ((), ("--rows", "2")):
            self.assertEqual(run("table", directory, "kernels", *options).stdout,
                             run("table", directory / "stages" / "analyze.ntab", "kernels", *options).stdout)
        known, stored = (json.loads(run("table", *where, "kernels", "--json").stdout) for where in ((directory,), (directory / "stages" / "analyze.ntab",)))
        self.assertIn("inside CUDA graphs", known.pop("cannot_know"))  # what the program knows of a table, and a file does not
        self.assertEqual([{key: value for key, value in column.items() if key != "labels"} for column in known.pop("columns")], stored.pop("columns"))
        self.assertEqual(known, stored)
        done = run("table", directory, "kernel")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn('did you mean kernels?', done.stderr)
        self.assertEqual(run("table", support.table_file(directory, "kernels"), "kernels").returncode, 2)
        self.assertEqual(run("table", directory / "stages" / "analyze.ntab", "kernel_events").returncode, 2)

    def test_table_refuses_what_is_no_table(self):
        good = support.table_file(artifacts(trace("training")), "kernels").read_bytes()
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
        for wanted in ("launch-bound idle-blocking-call idle-host-code exposed-copy exposed-communication pageable-copies tiny-copies "
                       "gpu-imbalance underfilled low-nvtx-coverage no-nvtx graph-envelope-only profiler-overhead trace-health").split():
            self.assertIn(wanted, ids)
            done = run("rules", "explain", wanted)
            self.assertEqual((done.returncode, done.stderr), (0, ""), wanted)
            self.assertIn(wanted, done.stdout)
            self.assertTrue((SOURCE / "docs" / "root-causes" / f"{wanted}.md").exists(), wanted)
            shown = run("rules", "show", wanted)
            self.assertEqual(shown.returncode, 0)
            self.assertIn("recommendation:", shown.stdout)
            self.assertNotIn("{{", done.stdout)
        self.assertEqual(run("rules", "check", SOURCE / "rules" / "default.yaml").returncode, 0)

    def test_explain_is_the_page_as_plain_text(self):
        for page in sorted((SOURCE / "docs" / "root-causes").glob("*.md")):
            text = run("rules", "explain", page.stem).stdout
            self.assertLessEqual(max(map(len, text.splitlines())), 100, page.stem)
            self.assertNotRegex(text, r"\*\*|`|\]\(|^#|^\|", page.stem)
            for heading in re.findall(r"(?m)^## (.*)", page.read_text()):
                self.assertIn(f"\n{heading}\n", text)
            # No word of the page is lost: the same letters and digits in the same order, but for where links lead.
            source = re.sub(r"\]\([^)]*\)", "", page.read_text()).replace("|---", "")
            letters = re.sub(r"[^A-Za-z0-9]", "", source)
            self.assertTrue(re.sub(r"[^A-Za-z0-9]", "", text).startswith(letters), page.stem)

    def test_explain_of_a_rule_without_a_page(self):
        mine = fresh_dir() / "mine.yaml"
        mine.write_text("rules:\n  - {id: my-own, title: t, table: run_info, severity: {low: 'kernel_count > 1'}, why: Because., "
                        "recommendation: r, verify: v}\n")
        done = run("rules", "explain", "my-own", "--rules", mine)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Because.", done.stdout)

    def test_table_suggests(self):
        directory = artifacts(trace("training")) / "stages"
        done = run("table", directory / "analyse.ntab")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn(f"did you mean {directory}/analyze.ntab?", done.stderr)

    def test_findings_are_listed(self):
        for scenario in ("training", "copy-bound", "healthy", "hostile"):
            out = fresh_dir() / "o"
            done = run("analyze", trace(scenario), "--out", out)
            listed = re.findall(r"(?m)^  (high|medium|low|info) +(.*)$", done.stdout)
            wanted = [(f["severity"], f["title"]) for f in report(out).json["findings"]]
            listed = [(severity, re.sub(r" \(in #\d+\)$", "", rest)[-len(title):]) for (severity, rest), (_, title) in zip(listed, wanted, strict=True)]
            self.assertEqual(listed, wanted, scenario)

    def test_colors_are_for_terminals_that_want_them(self):
        out = fresh_dir() / "o"
        for env, colored in (({"NO_COLOR": "", "TERM": "xterm"}, True), ({"NO_COLOR": "1", "TERM": "xterm"}, False), ({"TERM": "dumb", "NO_COLOR": ""}, False)):
            ours, theirs = pty.openpty()
            done = run("analyze", trace("copy-bound"), "--out", out, env=env, stdout=theirs, stderr=subprocess.PIPE)
            os.close(theirs)
            text = os.read(ours, 1 << 16).decode()
            os.close(ours)
            self.assertEqual((done.returncode, "\x1b[31m" in text), (0, colored), env)
        self.assertNotIn("\x1b", run("analyze", trace("copy-bound"), "--out", out, env={"TERM": "xterm"}).stdout)

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

    def test_known_findings(self):
        """Of one list: what the report, the line of JSON and the exit status say; then the list is brought up to date."""
        path, out, known = trace("copy-bound"), fresh_dir() / "o", fresh_dir() / "known.yaml"
        ids = [f["id"] for f in report(artifacts(path)).json["findings"]]
        known.write_text(f"known:\n- {{rule: {ids[0]}, reason: planned, until: 2999-12-31}}\n- {{rule: {ids[1]}, until: 2001-01-01}}\n"
                         f"- rule: {ids[2]}\n- rule: idle-host-code\n", encoding="utf-8")
        done = run("analyze", path, "--json", "--out", out, "--known", known, "--fail-on", "new:medium")
        line = json.loads(done.stdout)
        self.assertEqual(done.returncode, 1)
        self.assertEqual([f["state"] for f in line["finding_list"]], ["muted", "new", "known", "new"])
        self.assertEqual(line["fixed"], 1)
        self.assertEqual([(r["state"], r["id"], r["finding"]) for r in read_csv(out, "known_findings")],
                         list(zip(["muted", "new", "known", "new", "fixed"], ids + ["idle-host-code"], ["1", "2", "3", "4", ""])))
        for name in ("report.md", "report.html"):
            text = (out / name).read_text(encoding="utf-8")
            self.assertIn("muted until 2999-12-31: planned", text)
            self.assertIn("new, was known until 2001-01-01", text)
            self.assertIn("Fixed: listed as known", text)
        severities = {"high": 0, "new:high": 0, "new:medium": 1, "medium": 1, "new:info": 1}
        for severity, status in severities.items():
            self.assertEqual(run("analyze", path, "-q", "--out", out, "--known", known, "--fail-on", severity).returncode, status, severity)
        self.assertEqual(run("analyze", path, "-q", "--out", out, "--known", known, "--update-known", "--fail-on", "new:info").returncode, 1)
        self.assertIn("planned", known.read_text(encoding="utf-8"))
        self.assertNotIn("idle-host-code", known.read_text(encoding="utf-8"))
        self.assertEqual(run("analyze", path, "-q", "--out", out, "--known", known, "--fail-on", "new:info").returncode, 0)

    def test_known_findings_need_a_list(self):
        path, out = trace("copy-bound"), fresh_dir() / "o"
        for words in (("--fail-on", "new:low"), ("--update-known",), ("--known", out / "unknown.yaml"), ("--known", "x.yaml", "--update-known", "--stage", "analyze")):
            done = run("analyze", path, "-q", "--out", out, *words)
            self.assertEqual((done.returncode, out.exists()), (2, False), words)
            self.assertIn("known", done.stderr)

    def test_a_stage_without_findings_has_none_to_fail_on(self):
        path, out = trace("training"), fresh_dir() / "o"
        done = run("analyze", path, "-q", "--stage", "analyze", "--fail-on", "medium", "--out", out)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--fail-on needs the findings", done.stderr)
        self.assertFalse(out.exists())
        self.assertEqual(run("analyze", path, "-q", "--stage", "render", "--fail-on", "medium", "--out", out).returncode, 1)
        line = json.loads(run("analyze", path, "--json", "--stage", "analyze", "--out", out).stdout)
        self.assertEqual((line["severity"], line["findings"], line["finding_list"]), (None, None, None))

    def test_a_run_that_stopped_early_says_so(self):
        out = fresh_dir() / "o"
        self.assertEqual(run("analyze", trace("training"), "-q", "--stage", "extract", "--out", out).returncode, 0)
        for words in (("summary", out), ("ask", out, "why is the GPU idle"), ("evidence", out), ("sql", out, "select 1 from kernels")):
            self.assertRegex(run(*words).stderr, r"no such table: \w+; the run stopped early \(--stage\)", words)

    def test_trim_outside_of_the_capture(self):
        out = fresh_dir() / "o"
        done = run("analyze", trace("training"), "--trim", "900000", "900001", "--out", out)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"--trim: no GPU work, CUDA call or range lies in that time; the events of the trace go from [0-9.]+ s to [0-9.]+ s\n$")
        self.assertFalse(out.exists())

    def test_a_window_is_a_trim(self):
        """One word for a stretch of time, whatever command takes it."""
        path, written = trace("training"), []
        for option in ("--trim", "--window"):
            out = fresh_dir() / "o"
            self.assertEqual(run("analyze", path, "-q", option, "+0", "+20ms", "--out", out).returncode, 0)
            written.append((out / "report.json").read_bytes())
        self.assertEqual(*written)
        self.assertEqual(*(run("view", path, "--once", option, "+0", "+20ms").stdout for option in ("--trim", "--window")))

    def test_a_saving_of_the_capture_is_none_of_the_active_time(self):
        path = trace("cpu-work")
        line = json.loads(run("analyze", path, "--json", "--out", fresh_dir() / "o").stdout)
        for findings in (line["finding_list"], report(artifacts(path)).json["findings"]):
            shares = {f["id"]: f["pct_of_active"] for f in findings}
            self.assertIsNone(shares["host-set-up-dominates"])
            self.assertGreater(shares["idle-host-code"], 50)

    def test_findings_on_the_terminal_and_as_json(self):
        path = trace("copy-bound")
        done = run("analyze", path, "--out", fresh_dir() / "o")
        self.assertRegex(done.stdout, r"\n  high    [0-9.]+ m?s, [0-9.]+ %  +GPUs? [0-9, -]+  +Exposed memory copies\n")
        self.assertIn(f"TRACE={shlex.quote(str(path))}", done.stdout)
        line = json.loads(run("analyze", path, "--json", "--out", fresh_dir() / "o").stdout)
        wanted = report(artifacts(path)).json["findings"]
        self.assertEqual([(f["id"], f["severity"], f["saving_ns"], f["title"]) for f in line["finding_list"]],
                         [(f["id"], f["severity"], f["saving_ns"], f["title"]) for f in wanted])

    def test_findings_that_hold_the_same_time_say_so(self):
        path = trace("copy-bound")
        shown = re.findall(r"^  (?:high|medium|low|info) .*", run("analyze", path, "--out", fresh_dir() / "o").stdout, re.M)
        findings = report(artifacts(path)).json["findings"]
        numbers = [([f["id"] for f in findings] + [f["part_of"]]).index(f["part_of"]) + 1 if f.get("part_of") else None for f in findings]
        self.assertTrue(any(numbers))
        self.assertEqual([re.findall(r"\(in #(\d+)\)$", row) for row in shown], [[str(n)] if n else [] for n in numbers][:len(shown)])

    def test_quiet_and_verbose(self):
        done = run("analyze", trace("minimal"), "--out", fresh_dir() / "o")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("report.html", done.stdout)
        out = fresh_dir() / "o"
        done = run("analyze", trace("loop"), "-v", "--out", out)
        self.assertIn("nsys-ai: extract", done.stderr)
        rows = len(read_csv(out, "api_calls"))
        self.assertRegex(done.stderr, rf"(?m)^nsys-ai:   api_calls +ran: no earlier run; [\d.]+ ms, {rows} rows$")
        self.assertNotIn("\x1b", done.stderr + done.stdout)

    def test_stage_and_no_stages(self):
        path = trace("training")
        for stage, has_kernels in (("probe", False), ("extract", True), ("analyze", True), ("recommend", True), ("timeline", True)):
            out = analyze(path, "--stage", stage)
            self.assertEqual((out / "stages" / "extract.ntab").exists(), has_kernels, stage)
            self.assertFalse((out / "report.md").exists())
            self.assertEqual(tree(analyze(path, out=out)), tree(artifacts(path)), stage)
        bare = tree(analyze(path, "--no-stages"))
        full = tree(artifacts(path))
        self.assertEqual({n for n in bare if n.startswith("stages/")}, {"stages/manifest.json"})
        for name in bare:
            if not name.startswith("stages/"):
                self.assertEqual(bare[name], full[name], name)
        self.assertEqual(set(full) - set(bare), {n for n in full if n.endswith(".ntab")} | {"stages/trace-stamp"})


class NoHome(unittest.TestCase):
    """Neither HOME nor any XDG_*_HOME: what needs no place works, what needs one says so."""

    def test_without_a_home(self):
        run_of = artifacts(trace("training"))
        bare = {"PATH": os.environ["PATH"]}
        for words, status in ((("analyze", trace("minimal"), "-q", "--out", fresh_dir() / "o"), 0), (("ask", run_of, "what is slow"), 0),
                              (("skill", "list"), 0), (("view", run_of, "--once"), 0), (("mcp",), 2)):
            done = subprocess.run([support.PROGRAM, *map(str, words)], env=bare, stdin=subprocess.DEVNULL, capture_output=True,
                                  encoding="utf-8", timeout=support.TIMEOUT_S, check=False)
            self.assertEqual(done.returncode, status, (words, done.stderr))
            if status:
                self.assertEqual(done.stderr, "nsys-ai: no place for runs: set HOME or give --cache DIR\n")
                self.assertEqual(done.stdout, "")


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

    @support.tier("ci")
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
        raised = self.rules("rules: [{id: exposed-communication, disabled: true}]\n")
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

    def test_kernel_rules(self):
        """Rules of a file put kernels into categories, and explain says which one decides, and by what."""
        rules, name = fresh_dir() / "mine.rules", "void ours::bigStepKernel<float>(float *)"
        rules.write_text("# mine\nmy own\n  source our lab\n  namespace ours\n  name big_step \n  name bigstep*\nlast\n  path ours\n")

        def explain(*words):
            done = run("explain", "kernel", *words, "--format", "csv")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return dict(csv.reader(done.stdout.splitlines()[1:]))

        known = {"namespace": "ours::", "own name": "bigStepKernel", "template arguments": "float", "function arguments": "float *"}
        self.assertEqual(explain(name, "--kernel-classes", rules),
                         known | {"category": "my own", "matched part": "name", "pattern": "big_step", "rule": f"{rules}:2", "source": "our lab"})
        self.assertEqual(explain(name), known | {"category": "other", "rule": "none matches"})
        self.assertEqual(explain("ncclDevKernel_Generic_4")["category"], "communication")
        self.assertEqual(explain("ours::last()", "--kernel-classes", rules)["rule"], f"{rules}:7")
        done = run("analyze", trace("nvtx-mix"), "-q", "--kernel-classes", rules, "--out", out := fresh_dir() / "o")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rules.write_text("a\n  name big_step\n")
        done = run("analyze", trace("nvtx-mix"), "-q", "--kernel-classes", rules, "--out", out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("a", {r["category"] for r in read_csv(out, "kernels")})
        for command in (("explain", "-", name), ("explain", artifacts(trace("nvtx-mix")), name)):
            self.assertIn("--kernel-classes is for explain kernel", run(*command, "--kernel-classes", rules).stderr)
        rules.write_text("a\n  nam x\n")
        self.assertRegex(run("explain", "kernel", name, "--kernel-classes", rules).stderr, r"mine\.rules:2: \"nam\" is none of source")

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


class Everywhere(unittest.TestCase):
    """A directory where a trace is meant; --json."""

    def test_directories(self):
        directory, traces = artifacts(trace("training")), fresh_dir() / "a b"
        traces.mkdir()
        for command in ("analyze", "probe"):
            for path, said in ((directory, f"nsys-ai summary '{directory}'"), (traces, f"nsys-ai batch '{traces}' --out DIR")):
                done = run(command, path)
                self.assertEqual((done.returncode, done.stdout), (3, ""))
                self.assertIn(said, done.stderr)
        self.assertEqual(run(directory).stdout, run("summary", directory).stdout)
        self.assertIn(f"nsys-ai batch '{traces}' --out DIR", run(traces).stderr)

    def test_json(self):
        listed = run("rules", "list").stdout.splitlines()
        rules = json.loads(run("rules", "list", "--json").stdout)["rules"]
        self.assertEqual([r["id"] for r in rules], [line.split()[0] for line in listed])
        titles = [re.sub(r"{{[^|}]*}}", "...", re.sub(r"{{[^|}]*\|([^}]*)}}", r"N \1", r["title"])) for r in rules]
        self.assertEqual(titles, [line[-len(title):] for line, title in zip(listed, titles)])
        where = fresh_dir()
        for name in ("minimal", "nvtx-only"):
            shutil.copy(trace(name), where / f"{name}.sqlite")
        (where / "bad.sqlite").write_text("no trace")
        done = run("batch", where, "--out", fresh_dir() / "b", "--json", "-q")
        summary = json.loads(done.stdout)
        self.assertEqual((done.returncode, done.stdout.count("\n")), (4, 1))
        self.assertEqual([summary[k] for k in ("traces", "ok", "refused", "failed", "without_gpu_activity")], [3, 2, 1, 0, 1])


class Defaults(unittest.TestCase):
    """Options from .nsys-ai.yaml."""

    def setUp(self):
        self.base = fresh_dir()
        self.below = self.base / "a/b"
        self.below.mkdir(parents=True)

    def put(self, text, where=""):
        (self.base / where / ".nsys-ai.yaml").write_text(text, encoding="utf-8")

    def run_in(self, directory, *words, **env):
        return subprocess.run([support.PROGRAM, *map(str, words)], cwd=directory, text=True, capture_output=True, check=False,
                              env={**{k: v for k, v in os.environ.items() if k != "NSYS_AI_CONFIG"}, **env})

    def test_found_upwards_nearest_first(self):
        source = artifacts(trace("training"))
        self.put("search: {limit: 1}\n")
        for directory in (self.base, self.below):
            self.assertIn("1 shown", self.run_in(directory, "search", source, "aten").stdout)
        self.put("search: {limit: 2, format: text}\n", "a")
        self.assertIn("2 shown", self.run_in(self.below, "search", source, "aten").stdout)
        self.assertIn("1 shown", self.run_in(self.base, "search", source, "aten").stdout)
        self.assertIn("3 shown", self.run_in(self.below, "search", source, "aten", "-n", "3").stdout)
        self.assertIn("3 shown", self.run_in(self.below, "search", source, "aten", "--limit=3").stdout)

    def test_environment(self):
        source = artifacts(trace("training"))
        self.put("search: {limit: 1}\n")
        self.assertNotIn("1 shown", self.run_in(self.base, "search", source, "aten", NSYS_AI_CONFIG="").stdout)
        other = self.base / "other.yaml"
        other.write_text("search: {limit: 4}\n", encoding="utf-8")
        self.assertIn("4 shown", self.run_in(self.base, "search", source, "aten", NSYS_AI_CONFIG=str(other)).stdout)
        self.assertEqual(self.run_in(self.base, "search", source, "aten", NSYS_AI_CONFIG="none.yaml").returncode, 2)
        self.assertIn(".nsys-ai.yaml", self.run_in(self.below, "doctor").stdout)

    def test_like_the_command_line(self):
        """The report is that of the options typed; files lie beside the defaults."""
        (self.base / "rules.yaml").write_text("rules:\n  - {id: any, title: T, table: kernels, where: call_count > 0, severity: {info: call_count > 0}, "
                                              "evidence: ['{{call_count}}'], why: W., recommendation: R., verify: nsys-ai}\n", encoding="utf-8")
        self.put("analyze:\n  gpu: [1]\n  trim: [+0, +20ms]\n  rules: rules.yaml\n  page-events: 5000\n  no-stages: true\n")
        done = self.run_in(self.below, "analyze", trace("training"), "-v", "--out", "o")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"defaults of \S+/\.nsys-ai\.yaml: --gpu 1 --trim \+0 \+20ms --rules \S+/rules\.yaml --page-events 5000 --no-stages\n")
        typed = support.analyze(trace("training"), "--gpu", "1", "--trim", "+0", "+20ms", "--rules", self.base / "rules.yaml", "--page-events", "5000",
                                "--no-stages")
        self.assertEqual(support.tree(self.below / "o"), support.tree(typed))
        done = self.run_in(self.below, "analyze", trace("training"), "-v", "--out", "p", "--gpu", "0", "--page-events", "6000")
        self.assertNotIn("--gpu", done.stderr)
        self.assertNotIn("--page-events", done.stderr)

    def test_mistakes(self):
        for text, where in (("serch: {limit: 1}\n", '1:1: unknown key "serch"; did you mean "search"?'),
                            ("search:\n  limti: 1\n", "2:3: unknown option --limti; did you mean --limit?"),
                            ("search:\n  limit: x\n", "2:10: --limit x: expected a whole number"),
                            ("search:\n  limit: [1, 2]\n", "2:10: --limit takes one value"),
                            ("search:\n  window: 1\n", "2:11: --window takes two values"),
                            ("search:\n  regex: 1\n", '2:10: "regex": expected true or false'),
                            ("search:\n  help: true\n", "2:3: unknown option --help"),
                            ("- search\n", "1:1: expected a map")):
            self.put(text)
            done = self.run_in(self.base, "search", artifacts(trace("training")), "aten")
            self.assertEqual((done.returncode, done.stdout), (2, ""), text)
            self.assertTrue(done.stderr.startswith(f"nsys-ai: .nsys-ai.yaml:{where}"), done.stderr)
        self.assertEqual(self.run_in(self.base, "search", "--help").returncode, 0)

    def test_of_another_user(self):
        """What somebody put into a directory above, such as /tmp, sets nothing."""
        if os.geteuid():
            self.skipTest("not root")
        self.put("search: {limit: 1}\n")
        os.chown(self.base / ".nsys-ai.yaml", 12345, 12345)
        done = self.run_in(self.below, "search", artifacts(trace("training")), "aten")
        self.assertEqual(done.returncode, 0)
        self.assertIn("is left out", done.stderr)
        self.assertNotIn("1 shown", done.stdout)


if __name__ == "__main__":
    support.main()
