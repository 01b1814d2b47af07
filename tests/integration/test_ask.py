"""Skills, pages and the commands that answer one question each."""
import contextlib
import csv
import io
import json
import os
import pathlib
import re
import shlex
import shutil
import sqlite3
import statistics
import unittest

import support
from support import SOURCE, artifacts, fresh_dir, run, trace

GOOD = """skill: mine
title: Kernels of one GPU
description: One kernel name.
category: kernels
needs: [kernels]
parameters:
  least: {type: integer, default: 2, min: 1, description: rarer ones are left out}
sql: |
  select name, count(*) as n, sum(end_ns - start_ns) as total_ns
  from kernel_events where device_id = 0 group by name having n >= :least
columns:
  name: [text, kernel]
  n: [count, executions]
  total_ms: {unit: ms, description: summed time, from: total_ns}
order: [total_ms desc]
text: "{{count}} kernels, {{total_ms}} of {{name}}"
tests:
  - {name: works, trace: {generate: training, seed: 1}, parameters: {least: 1}, sum: {n: 628}}
"""


def skill_file(text, name="mine.yaml"):
    path = fresh_dir() / name
    path.write_text(text)
    return path


def raw(path, statement):
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute(statement).fetchall()


def first_event(path):
    """Of the program: the profiler's own work is none."""
    tables = ("v_ops", "api_events", "sync_events", "nvtx_events", "osrt_events")
    rows = run("sql", artifacts(path), " union all ".join(f"select min(start_ns) from {table}" for table in tables), "--json").stdout
    return min(start for start, in json.loads(rows)["rows"] if start is not None)


class Skills(unittest.TestCase):
    def test_own_tests(self):
        """Each built-in skill has tests with answers that are known; all hold."""
        done = run("skill", "test", "--all")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        tested = set(re.findall(r"(?m)^ok (\w+): ", done.stdout))
        self.assertEqual(tested, {path.stem for path in (SOURCE / "skills").glob("*.yaml")})
        self.assertRegex(done.stdout, r"\n\d+ passed, 0 failed\n$")

    def test_built_in_files_are_clean(self):
        for directory in ("skills", "pages"):
            for path in sorted((SOURCE / directory).glob("*.yaml")):
                self.assertEqual(run("skill", "check", path).stderr, "", path.name)

    def test_check(self):
        for old, new, wanted in (("n: [count", "n: [furlong", r"mine.yaml:13:7: .*is no unit"), (":least", ":last", r"mine.yaml:10:\d+: the parameter :last has no value"),
                                 ("group by name", "group by name; select 1", r"mine.yaml:10:\d+: one statement|syntax error"),
                                 ("select name", "delete from gpus; select name", r"mine.yaml:9:\d+: |may not be modified"),
                                 ("skill: mine", "skill: kernels", r"mine.yaml:1:8: \"kernels\" is a table of every run"),
                                 ("  n: [count, executions]\n", "", r"mine.yaml:11:1: the statement's column \"n\" is not declared"),
                                 ("count(*) as n,", "", r"no such column|has no column \"n\""), ("from: total_ns", "from: total", r"the statement has no column \"total\""),
                                 (", from: total_ns", "", r"\"from\" is missing"), ("order: [total_ms desc]", "order: [total]", r"expected a column of this skill"),
                                 ("title:", "titel:", r"unknown key \"titel\"; did you mean \"title\""), ("kernel_events", "kernel_event", r"mine.yaml:10:8: no such table: kernel_event; did you mean"),
                                 ("type: integer", "type: whole", r"\"type\" is integer")):
            path = skill_file(GOOD.replace(old, new, 1))
            done = run("skill", "check", path)
            self.assertEqual((done.returncode, done.stdout), (2, ""), (new, done.stdout))
            self.assertRegex(done.stderr, wanted)
        self.assertEqual(run("skill", "check", skill_file(GOOD)).returncode, 0)
        self.assertEqual(run("skill", "check", skill_file("page: p\ntitle: t\nblocks:\n  - sql: select nothing_such from gpus\n")).returncode, 2)
        self.assertEqual(run("skill", "check", skill_file("page: p\ntitle: t\nblocks:\n  - skill: nothing_such\n")).returncode, 2)

    def test_run(self):
        path, mine = trace("training"), skill_file(GOOD)
        directory = artifacts(path)
        wanted = raw(path, "select s.value, count(*), sum(end - start) from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.demangledName "
                           "where deviceId = 0 group by 1 having count(*) >= 5 order by 3 desc, 1")
        done = run("skill", "run", "mine", directory, "--skills", mine, "--param", "least=5", "--format", "csv")
        found = [(r["name"], int(r["n"]), support.ns_of_ms(r["total_ms"])) for r in csv.DictReader(io.StringIO(done.stdout))]
        self.assertEqual(found, wanted, done.stderr)
        text = run("skill", "run", "mine", directory, "--skills", mine.parent).stdout
        self.assertRegex(text, r"\A\d+ kernels, [\d.]+ ms of ")
        self.assertEqual(run("skill", "test", mine).stdout, "ok mine: works\n1 passed, 0 failed\n")
        done = run("skill", "test", skill_file(GOOD.replace("n: 628", "n: 627")))
        self.assertEqual((done.returncode, done.stdout), (1, "not ok mine: works: sum n: expected 627, got 628\n0 passed, 1 failed\n"))

    def test_parameters(self):
        directory, mine = artifacts(trace("training")), skill_file(GOOD)
        for words, wanted in ((("--param", "least=x"), "expected a whole number"), (("--param", "least=0"), "out of range"), (("--param", "leas=1"), "did you mean least"),
                              (("--param", "least"), "NAME=VALUE"), (("--gpu", "0"), "no :gpu"), (("--window", "0", "1"), "no :start_ns")):
            done = run("skill", "run", "mine", directory, "--skills", mine, *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(wanted, done.stderr)
        self.assertIn("needs --param range", run("skill", "run", "range_kernels", directory).stderr)
        done = run("skill", "run", "kernel_instances", directory, "--param", "name='; drop table kernels --", "--format", "json")
        self.assertEqual(json.loads(done.stdout)["rows"], [])
        self.assertEqual(run("skill", "run", "range_kernels", directory, "--param", "range=foward").stdout, "none with range=foward\n")
        everything = json.loads(run("skill", "run", "streams", directory, "--format", "json").stdout)["rows"]
        one = json.loads(run("skill", "run", "streams", directory, "--format", "json", "--gpu", "1").stdout)["rows"]
        self.assertEqual(one, [row for row in everything if row[0] == 1])

    def test_wrong_columns_are_refused(self):
        directory = artifacts(trace("training"))
        for old, new, wanted in (("count(*) as n", "avg(2.5) as n", 'column "n" is a real number'), ("count(*) as n", "'x' as n", 'column "n" is a text'),
                                 ("select name", "select device_id as name", 'column "name" is a number')):
            done = run("skill", "run", "mine", directory, "--skills", skill_file(GOOD.replace(old, new)))
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(wanted, done.stderr)

    def test_abstains(self):
        directory = artifacts(trace("no-nvtx"))
        done = run("skill", "run", "layers", directory)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"\Acannot say: the trace has no nvtx \(.+\)\n\Z")
        answer = json.loads(run("skill", "run", "layers", directory, "--format", "json").stdout)
        self.assertTrue(answer["abstained"] and answer["reason"])

    def test_where_from(self):
        home, work = fresh_dir(), fresh_dir()
        os.makedirs(home / "nsys-ai" / "skills")
        shutil.copy(skill_file(GOOD), home / "nsys-ai" / "skills" / "mine.yaml")
        listed = run("skill", "list", "--format", "json", env={"XDG_CONFIG_HOME": str(home)}, cwd=work)
        sources = {row[0]: row[3] for row in json.loads(listed.stdout)["rows"]}
        self.assertEqual(sources["mine"], str(home / "nsys-ai" / "skills" / "mine.yaml"))
        self.assertEqual(sources["streams"], "built-in")
        os.makedirs(work / ".nsys-ai" / "skills")
        (work / ".nsys-ai" / "skills" / "a.yaml").write_text(GOOD.replace("title: ", "title: Nearer "))
        listed = run("skill", "list", env={"XDG_CONFIG_HOME": str(home)}, cwd=work).stdout
        self.assertIn("Nearer", listed)
        self.assertEqual(run("skill", "show", "streams").stdout, (SOURCE / "skills" / "streams.yaml").read_text())
        self.assertIn("did you mean streams?", run("skill", "run", "stream", artifacts(trace("training"))).stderr)

    def test_usage(self):
        for words in (("skill",), ("skill", "run", "streams"), ("skill", "test"), ("skill", "test", "x", "--all"), ("skill", "frob"), ("skill", "list", "x"),
                      ("page",), ("page", "summary"), ("page", "nothing", artifacts(trace("training"))), ("info",), ("search", "x"), ("tree",), ("explain", "-")):
            self.assertEqual(run(*words).returncode, 2, words)


class Pages(unittest.TestCase):
    def test_summary(self):
        path = trace("training")
        directory = artifacts(path)
        page = json.loads(run("summary", directory, "--format", "json").stdout)
        block = page["blocks"][0]
        names = [c["name"] for c in block["columns"]]
        rows = support.report(directory).rows("gpu_utilization")
        self.assertEqual(len(block["rows"]), len(rows))
        for row in (dict(zip(names, r)) for r in block["rows"]):
            self.assertEqual(row["window_ns"], row["compute_ns"] + row["exposed_comm_ns"] + row["exposed_copy_ns"] + row["idle_ns"])
        self.assertEqual([b.get("title") for b in page["blocks"]][1:], ["Top kernels by total GPU time", "Streams", "Verdict"])
        text = run("summary", directory).stdout
        self.assertRegex(text, r"\AGPU 0: active [\d.]+ ms = compute ")
        self.assertIn(page["blocks"][3]["text"], text)
        self.assertEqual(run("summary", path, "-q").stdout, text)
        self.assertEqual(run("page", "summary", directory).stdout, text)
        self.assertNotIn("GPU 1: active", run("summary", directory, "--gpu", "0").stdout)

    @support.tier("ci")
    def test_all_formats_of_all(self):
        for scenario in ("hostile", "empty", "minimal", "graphs", "no-nvtx"):
            directory = artifacts(trace(scenario))
            for words in (("info",), ("summary",), ("overlap",), ("nccl",), ("iters",), ("suggest",), ("tree",), ("search", "e"), ("evidence",)):
                for form in ("text", "csv", "json", "markdown"):
                    done = run(words[0], directory, *words[1:], "--format", form)
                    self.assertEqual((done.returncode, done.stderr.replace("cannot say", "")[:0]), (0, ""), (scenario, words, form, done.stderr))
                    self.assertNotRegex(done.stdout, "[\x00-\x09\x0b-\x1f\x7f\u202e]", (scenario, words, form))
                    if form == "json":
                        json.loads(done.stdout)

    def test_info(self):
        text = run("info", artifacts(trace("training"))).stdout
        self.assertIn("training.sqlite", text)
        self.assertIn("2 GPUs, 2 processes, 1,256 kernels, ", text)

    def test_nothing_ran(self):
        """No table without rows stands there as if it were an answer."""
        text = run("summary", artifacts(trace("empty"))).stdout
        self.assertIn("Top kernels by total GPU time\nno kernel recorded\n", text)
        self.assertFalse(text.startswith("\n"))

    def test_what_is_not_there_is_said(self):
        directory = artifacts(trace("nvtx-mix"))
        self.assertTrue(run("nccl", directory).stdout.startswith("No NCCL or other communication kernel recorded"))
        self.assertEqual(json.loads(run("nccl", directory, "--format", "json").stdout)["blocks"][0]["rows"], [])
        file = fresh_dir() / "p.yaml"
        file.write_text("page: p\ntitle: T\nblocks:\n  - {none: Nothing of it., sql: select name from kernel_events where 0}\n", encoding="utf-8")
        self.assertEqual(run("page", "p", directory, "--skills", file).stdout, "Nothing of it.\n")

    def test_window_from_the_first_event(self):
        """+START +LENGTH is the same stretch as in the session's time, for every command that takes one."""
        for path in (trace("training"), trace("host-bound"), trace("cpu-work")):
            directory = artifacts(path)
            begin = first_event(path)
            for words in (("search", directory, "a", "--window"), ("page", "window", directory, "--window"),
                          ("skill", "run", "ranges_in_window", directory, "--window"), ("export", "csv", directory, "--trim"),
                          ("view", directory, "--once", "--trim")):
                session = run(*words, f"{(begin + 2_000_000) / 1e9:.9f}", f"{(begin + 7_000_000) / 1e9:.9f}")
                self.assertEqual(session.returncode, 0, session.stderr)
                self.assertEqual(run(*words, "+2ms", "+5ms").stdout, session.stdout, (path, words))
            self.assertNotEqual(run("export", "csv", directory, "--trim", "+0", "+5ms").stdout, run("export", "csv", directory).stdout)
            session = support.analyze(path, "--trim", f"{(begin + 2_000_000) / 1e9:.9f}", f"{(begin + 7_000_000) / 1e9:.9f}")
            self.assertEqual(support.tree(support.analyze(path, "--trim", "+2ms", "+5ms")), support.tree(session))

    def test_the_profilers_work_is_no_first_event(self):
        path = support.edited("profiler-flush", "update PROFILER_OVERHEAD set start = 1000, end = 2000 where rowid = 1")
        begin = first_event(path)
        session = support.analyze(path, "--trim", f"{begin / 1e9:.9f}", f"{(begin + 5_000_000) / 1e9:.9f}")
        self.assertEqual(support.tree(support.analyze(path, "--trim", "+0", "+5ms")), support.tree(session))
        self.assertEqual(run("search", artifacts(path), "a", "--window", "+0", "+5ms").stdout,
                         run("search", artifacts(path), "a", "--window", f"{begin / 1e9:.9f}", f"{(begin + 5_000_000) / 1e9:.9f}").stdout)

    def test_page_of_the_whole_window(self):
        """Without --window everything: what the report says of each GPU."""
        directory = artifacts(trace("training"))
        blocks = {b["title"]: b for b in json.loads(run("page", "window", directory, "--format", "json").stdout)["blocks"]}
        names = [c["name"] for c in blocks["GPUs"]["columns"]]
        parts = ("compute_ns", "exposed_comm_ns", "exposed_copy_ns")
        gpus = [dict(zip(names, row)) for row in blocks["GPUs"]["rows"]]
        wanted = json.loads(run("sql", directory, "select device_id, compute_ns, exposed_comm_ns, exposed_copy_ns from gpu_utilization order by 1", "--format", "json").stdout)
        self.assertEqual([[gpu["device_id"], *(gpu[p] for p in parts)] for gpu in gpus], wanted["rows"])
        for gpu in gpus:
            self.assertEqual(sum(gpu[p] for p in parts) + gpu["idle_ns"], gpu["window_ns"])
        self.assertTrue(all(block["rows"] for block in blocks.values()))

    def test_window_outside_of_the_capture(self):
        directory = artifacts(trace("training"))
        for words in (("page", "window", directory), ("skill", "run", "ranges_in_window", directory)):
            done = run(*words, "--window", "90000", "90001")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, r"its events go from \d+\.\d{9} s to \d+\.\d{9} s")
        self.assertIn("that process", run("tree", directory, "--pid", "1").stdout)

    @support.tier("ci")
    def test_examples_of_help(self):
        """As printed, for a run and its trace; but for the names that are somebody else's."""
        path = trace("training")
        places = {"artifacts/run1": artifacts(path), "trace.sqlite": path, "nights": store_of(fresh_dir() / "nights")}
        tried = 0
        for command in ("info", "summary", "overlap", "nccl", "iters", "search", "ask", "evidence", "explain", "suggest", "sql", "table"):
            for line in run(command, "--help").stdout.partition("Examples:\n")[2].splitlines():
                words = shlex.split(line)
                if not words or words[0] != "nsys-ai" or "flash" in line or "--out" in words or ".ntab" in line:
                    continue
                done = run(*(places.get(word, word) for word in words[1:]))
                self.assertEqual(done.returncode, 0, f"{line}: {done.stderr}")
                tried += 1
        self.assertGreater(tried, 20)

    def test_advice_keeps_its_lines(self):
        """Each piece of advice of a finding begins a line of explain's answer, as it does in the report."""
        directory = artifacts(trace("training"))
        advice = support.report(directory).json["findings"][0]["recommendation"].split("\n")
        self.assertGreater(len(advice), 1)
        lines = run("explain", directory, "1").stdout.splitlines()
        self.assertEqual([line for line in lines if line in advice], advice)

    def test_window_in_which_only_the_host_worked(self):
        """Calls of the operating system behind the last CUDA call are of the trace: a time among them is answered."""
        path = fresh_dir() / "late.sqlite"
        shutil.copy(trace("evidence"), path)
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("update OSRT_API set start = 900000000000, end = 905000000000 "
                               "where rowid = (select max(rowid) from OSRT_API)")
        directory = artifacts(path)
        for words in (("page", "window", directory), ("skill", "run", "ranges_in_window", directory)):
            self.assertEqual(run(*words, "--window", "902", "903").returncode, 0, words)
            done = run(*words, "--window", "906", "907")
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, r"to 905\.000000000 s\n$")

    def test_all_steps_for_programs(self):
        """People are shown the first 50; CSV and JSON have each."""
        directory = artifacts(trace("bench", "--size", "20M"))
        steps = raw_column(directory, "select step from steps order by device_id, pid, step")
        self.assertGreater(len(steps), 50)
        blocks = json.loads(run("iters", directory, "--format", "json").stdout)["blocks"]
        self.assertEqual([row[0] for row in blocks[1]["rows"]], steps)
        each = run("iters", directory, "--format", "csv").stdout.split("\n\n")[1]
        self.assertEqual([row["step"] for row in csv.DictReader(io.StringIO(each))], [str(s) for s in steps])
        for words in ((), ("--format", "markdown")):
            text = run("iters", directory, *words).stdout
            self.assertIn("the first 50 rows", text)
            self.assertLess(len(text.splitlines()), 90)  # the ranges on the GPU follow

    def test_a_run_of_another_build(self):
        """Its tables may lack what this build asks for: that is said, not the statement's mistake."""
        work = fresh_dir()
        shutil.copytree(artifacts(trace("host-bound")), work / "r")
        manifest = work / "r/stages/manifest.json"
        made = json.loads(manifest.read_text(encoding="utf-8"))
        for node in made["nodes"].values():
            for table in ("gpu_active", "gpu_utilization"):
                node["tables"].pop(table, None)
        manifest.write_text(json.dumps(made), encoding="utf-8")
        note = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"  # what is behind it names the build
        program = pathlib.Path(support.PROGRAM).read_bytes()
        self.assertEqual(program.count(note), 1)
        at = program.index(note) + len(note)
        (work / "other").write_bytes(program[:at] + bytes(20) + program[at + 20:])
        (work / "other").chmod(0o755)
        for words in (("ask", work / "r", "why is my GPU idle"), ("summary", work / "r")):
            self.assertEqual(run(*words).returncode, 2)
            done = run(*words, program=work / "other")
            self.assertEqual((done.returncode, "another build of nsys-ai: analyze its trace again" in done.stderr), (3, True), done.stderr)

    def test_kernel_classes_of_the_run(self):
        """Commands that read a run again have the categories that it was made with, new ones too."""
        work = fresh_dir()
        source = trace("training")
        name, = raw_column(artifacts(source), "select kernel_name from kernels where category <> 'communication' order by total_time_ns desc limit 1")
        (work / "mine.yaml").write_text(json.dumps({"house kernels": ["re:^" + re.escape(name) + "$"]}), encoding="utf-8")
        done = run("analyze", source, "--kernel-classes", work / "mine.yaml", "--out", work / "r", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        want = sorted(row["kernel_name"] for row in support.read_csv(work / "r", "kernels") if row["category"] == "house kernels")
        self.assertEqual(set(want), {name})
        for statement in ("select name from v_kernels where category = 'house kernels' group by 1",
                          "select kernel_name from kernels where category(kernel_name) = 'house kernels' group by 1"):
            self.assertEqual(raw_column(work / "r", statement), [name])
        exported = list(csv.DictReader(io.StringIO(run("export", "csv", work / "r").stdout)))
        self.assertEqual({row["name"] for row in exported if row["category"] == "house kernels"}, {name})
        self.assertIn("house kernels", run("export", "chrome", work / "r").stdout)
        self.assertEqual(run("compare", work / "r", work / "r", "--allow", "same_content", "--out", work / "c", "-q").returncode, 0)
        self.assertIn(b"house kernels", support.contents(work / "c/compare.html"))

    def test_own_page(self):
        path = skill_file('page: mine\ntitle: Mine\nblocks:\n  - {title: One, sql: select count(*) as n from gpus}\n  - {text: "{{label}}!", sql: select label from gpus order by label}\n  - {skill: streams}\n')
        directory = artifacts(trace("training"))
        self.assertEqual(run("page", "mine", directory, "--skills", path).stdout.split("\n")[:6], ["One", "n", "2", "", "GPU 0!", "GPU 1!"])
        self.assertIn("mine", run("page", "list", "--skills", path).stdout)
        self.assertIn("mine", json.loads(run("page", "list", "--skills", path, "--json").stdout)["text"])
        broken = skill_file("page: mine\ntitle: Mine\nblocks:\n  - sql: |\n      select count(*)\n      from gpu\n")
        self.assertIn(f"{broken}:6:12: no such table: gpu; did you mean gpus?", run("page", "mine", directory, "--skills", broken).stderr)


class Search(unittest.TestCase):
    def matches(self, *words):
        done = run("search", *words, "--format", "csv", "--limit", "1000000")
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def test_kernels(self):
        path = trace("training")
        wanted = raw(path, "select k.start, k.end - k.start, deviceId, s.value from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.demangledName "
                           "where s.value like '%nccl%' order by 1, 3")
        found = self.matches(artifacts(path), "NCCL", "--in", "kernels")
        self.assertEqual([(int(r["start_ns"]), int(r["duration_ns"]), int(r["device_id"]), r["name"]) for r in found], wanted)
        self.assertEqual(len(self.matches(artifacts(path), "nccl", "--in", "kernels", "--gpu", "1")), len([w for w in wanted if w[2] == 1]))
        self.assertEqual(self.matches(artifacts(path), "NCCL", "--in", "kernels", "--regex"), [])
        self.assertEqual(len(self.matches(artifacts(path), "^nccl", "--in", "kernels", "--regex")), len(wanted))

    def test_all_kinds_and_limit(self):
        directory = artifacts(trace("training"))
        found = self.matches(directory, "a")
        self.assertEqual({r["kind"] for r in found}, {"kernel", "call", "range"} | ({"copy"} & {r["kind"] for r in found}))
        self.assertEqual([int(r["start_ns"]) for r in found], sorted(int(r["start_ns"]) for r in found))
        long, = raw_column(directory, "select kernel_name from kernels where kernel_name <> short_name order by length(kernel_name) desc limit 1")
        for words, name in (((), raw_column(directory, f"select short_name from kernels where kernel_name = '{long}'")[0]), (("--format", "csv"), long)):
            self.assertIn(name, run("search", directory, long, "--in", "kernels", "--limit", "1", *words).stdout)  # in a table the short one
        text = run("search", directory, "a", "--limit", "3").stdout.splitlines()
        self.assertEqual((len(text), text[-1]), (5, f"{len(found)} matches, 3 shown"))
        self.assertEqual(run("search", directory, "no such name").stdout.splitlines()[-1], "0 matches, 0 shown")

    def test_under(self):
        directory = artifacts(trace("training"))
        found = self.matches(directory, ".", "--regex", "--in", "kernels", "--under", "forward")
        self.assertEqual(len(found), 584)  # 292 of each process: the plan of the generator
        self.assertEqual({r["path"].split(" > ")[0] for r in found}, {"forward"})
        for name, said in (("forward", ""), ("foward", 'nsys-ai: --under: no range of the run is called "foward"\n')):
            self.assertEqual(run("search", directory, "gemm", "--under", name).stderr, said)

    def test_special_characters(self):
        directory = artifacts(trace("training"))
        self.assertEqual(run("search", directory, "(").returncode, 0)
        done = run("search", directory, "gemm(", "--regex")
        self.assertEqual((done.returncode, done.stderr),
                         (2, "nsys-ai: search: the regular expression cannot be compiled: missing closing parenthesis at character 5\n"))


class Tree(unittest.TestCase):
    def test_sums(self):
        path = trace("training")
        directory = artifacts(path)
        done = run("tree", directory, "--format", "csv")
        nodes = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual(sum(int(n["inclusive_kernel_ns"]) for n in nodes if not n["parent"]), 190128025)  # the export: all 1,256 kernels
        text = run("tree", directory, "--min-pct", "0", "--kernels", "0").stdout
        self.assertEqual(len(re.findall(r"(?m)^ +\S.*  wall ", text)), len(nodes))
        self.assertNotIn("hidden", text)

    def test_hides(self):
        directory = artifacts(trace("nvtx-mix"))
        nodes = len(list(csv.DictReader(io.StringIO(run("tree", directory, "--format", "csv").stdout))))
        text = run("tree", directory, "--depth", "0", "--min-pct", "0", "--kernels", "0").stdout
        hidden = int(re.search(r"(\d+) ranges hidden by --depth", text)[1])
        self.assertEqual(len(re.findall(r"(?m)^ +\S.*  wall ", text)) + hidden, nodes)

    def test_order(self):
        text = run("tree", artifacts(trace("training")), "--depth", "0", "--kernels", "0", "--by", "wall", "--min-pct", "0").stdout
        for thread in text.split("pid ")[1:]:
            shares = [float(x) for x in re.findall(r"([\d.]+) %\n", thread)]
            self.assertEqual(shares, sorted(shares, reverse=True))


class Explain(unittest.TestCase):
    def explain(self, *words):
        done = run("explain", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def test_kinds(self):
        directory = artifacts(trace("host-bound"))
        for what, wanted in (("gpu_utilization", "One GPU;"), ("gpu_utilization.idle_ms", "(REAL, ms)"), ("v_kernels", "One kernel execution"), ("nvtx", "NVTX_EVENTS"),
                             ("train_step", "Where it occurs"), ("1", "Facts"), ("idle-host-code", "In this run")):
            self.assertIn(wanted, self.explain(directory, what))
        for cause in raw_column(directory, "select distinct cause from idle_causes"):
            self.assertIn(cause, self.explain(directory, cause))
        for kernel in raw_column(directory, "select kernel_name from kernels"):
            self.assertIn("Calls that launch it", self.explain(directory, kernel))

    def test_facts_of_a_finding_are_whole(self):
        directory = artifacts(trace("copy-bound"))
        facts = json.loads(run("sql", directory, "select text from evidence where finding = 1", "--format", "json").stdout)["rows"]
        shown = " ".join(run("explain", directory, "1").stdout.split())
        for (text,) in facts:
            self.assertIn(" ".join(text.split()), shown)

    def test_a_median_that_no_call_has(self):
        """Of a kernel with two modes both are said in its place: the middle of each half of its sorted durations."""
        path = trace("bimodal")
        directory = artifacts(path)
        with sqlite3.connect(path) as db:
            times = {name: sorted(int(ns) for ns in all_ns.split(",")) for name, all_ns in db.execute(
                "select s.value, group_concat(end - start) from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.demangledName group by 1")}
        two = {row["example"]: row["detail"] for row in support.report(directory).rows("losses") if row["what"] == "bimodal"}
        self.assertEqual(len(two), 1)
        (name, detail), = two.items()
        cut = int(re.match(r"\d+", detail)[0])
        low, high = (micro_or_milli(statistics.median(part)) for part in (times[name][:cut], times[name][cut:]))
        self.assertGreater(statistics.median(times[name][cut:]), 3 * statistics.median(times[name][:cut]))
        short = name.partition("(")[0].split("<")[0].split()[-1].split("::")[-1]
        for words in (("summary", directory), ("explain", directory, name), ("ask", directory, f"median duration of {short}")):
            self.assertIn(f"{low} or {high}", " ".join(run(*words).stdout.split()), words)

    def test_columns_calls_and_processes(self):
        path = trace("two-processes")
        directory = artifacts(path)
        tables = raw_column(directory, "select table_name from nai_columns where name = 'idle_ms' order by 1")
        self.assertGreater(len(tables), 3)
        for source in ("-", directory):
            self.assertEqual(sorted(line.partition(".idle_ms (REAL, ms): ")[0] for line in self.explain(source, "idle_ms").splitlines()), tables)
        block = json.loads(self.explain(directory, "cudaLaunchKernel", "--format", "json"))["blocks"][0]
        names = [column["name"] for column in block["columns"]]
        rows = [dict(zip(names, row)) for row in block["rows"]]
        with sqlite3.connect(path) as db:
            want = db.execute("select (globalTid >> 24) & 0xffffff, count(*), sum(end - start), max(end - start) from CUPTI_ACTIVITY_KIND_RUNTIME r "
                              "join StringIds s on s.id = r.nameId where s.value glob 'cudaLaunchKernel_v*' or s.value = 'cudaLaunchKernel' "
                              "group by globalTid order by 3 desc").fetchall()
        self.assertEqual([(r["pid"], r["calls"], r["total_ns"], r["longest_ns"]) for r in rows], want)
        self.assertEqual(len(want), 2)
        name, = {row["process_name"] for row in support.report(directory).rows("process_summary")}
        text = self.explain(directory, name)
        for row in support.report(directory).rows("process_summary"):
            self.assertRegex(text, rf"(?m)^ *{row['pid']} ")

    def test_without_run(self):
        self.assertIn("One GPU;", self.explain("-", "gpu_utilization"))
        self.assertEqual(self.explain("-", "idle-host-code"), run("rules", "explain", "idle-host-code").stdout.rsplit("\nThe rule and", 1)[0])

    def test_a_rule_of_ones_own(self):
        """A run knows what found it, whoever wrote the rule."""
        rules = fresh_dir("own-rule") / "own.yaml"
        rules.write_text("rules:\n  - {id: some-kernels, title: Some kernels, table: kernels, severity: low, why: x, recommendation: y}\n")
        directory = rules.parent / "run"
        run("analyze", trace("host-bound"), "--rules", rules, "--out", directory)
        self.assertRegex(self.explain(directory, "some-kernels"), r"(?m)^ +\d+ +low .*Some kernels$")
        self.assertIn("nothing is called", run("explain", "-", "some-kernels").stderr)

    def test_causes(self):
        """Each cause of idle time has a meaning, with a run and without; docs, report and page name the same causes."""
        section = (SOURCE / "docs/analyses.md").read_text(encoding="utf-8").partition("### gpu_idle_gaps")[2]
        causes = re.findall(r"`(\w+)`", re.search(r"in\s+the\s+order\s+([a-z_,`\s]+)\.", section).group(1))
        self.assertEqual(len(causes), 13)
        texts = [(SOURCE / path).read_text(encoding="utf-8") for path in ("src/tables/values.c", "templates/viewer/src/colors.js")]
        directory = artifacts(trace("host-bound"))
        for cause in causes:
            meaning = self.explain("-", cause).splitlines()[0]
            self.assertRegex(meaning, rf"^{cause}: .{{20,}}\.$")
            self.assertEqual(self.explain(directory, cause).splitlines()[0], meaning)
            self.assertNotIn("total_ns", self.explain(directory, cause))
            for text in texts:
                self.assertIn(cause, text)
        labels = raw_column(directory, "select distinct cause || '=' || label(cause) from idle_causes where label(cause) <> cause")
        self.assertGreater(len(labels), 2)
        for cause, label in (pair.split("=") for pair in labels):  # by the word of reports: the same rows
            rows, named = ([b["rows"] for b in json.loads(self.explain(directory, what, "--format", "json"))["blocks"][1:]] for what in (cause, label))
            self.assertTrue(rows[0])
            self.assertEqual(named, rows)
        self.assertIn("nothing is called", run("explain", "-", "host_codes").stderr)
        for typo, meant in (("kernls", "kernels"), ("exposed-copi", "exposed-copy")):
            for source in ("-", directory):
                self.assertIn(f"did you mean {meant}?", run("explain", source, typo).stderr)
        self.assertEqual(self.explain("-", "host-bound").splitlines()[0].partition(":")[2], self.explain("-", "host_code").splitlines()[0].partition(":")[2])

    def test_advice_is_markdown(self):
        directory = artifacts(trace("training"))
        for number, finding in enumerate(support.report(directory).json["findings"], 1):
            self.assertIn(finding["recommendation"], self.explain(directory, number, "--format", "markdown"))

    def test_unclear(self):
        directory = artifacts(trace("training"))
        done = run("explain", directory, "a")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r'"a" can be \d+ things, for example: call "')
        self.assertLess(len(run("explain", directory, "at").stderr), 600)
        self.assertIn("nothing is called", run("explain", directory, "no such thing").stderr)
        self.assertIn("there is no finding 999", run("explain", directory, "999").stderr)

    def test_beside(self):
        """What ran beside the communication kernel, against the raw export: hidden communication."""
        path = trace("training")
        blocks = json.loads(run("explain", artifacts(path), "ncclDevKernel", "--format", "json").stdout)["blocks"]
        beside = next(b for b in blocks if b.get("title") == "What ran beside it")["rows"]
        for device in (0, 1):
            events = raw(path, "select k.start, k.end, s.value like '%nccl%' from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.demangledName "
                               f"where deviceId = {device}")
            points = sorted([(e[0], 1, e[2]) for e in events] + [(e[1], -1, e[2]) for e in events])
            open_, both, last = [0, 0], 0, 0
            for at, step, kind in points:
                both += (at - last) if open_[0] and open_[1] else 0
                open_[kind] += step
                last = at
            self.assertIn([device, "compute", both], [[r[0], r[1], r[3]] for r in beside])


def micro_or_milli(ns):
    value, unit = (ns / 1e3, "µs") if ns < 1e6 else (ns / 1e6, "ms")
    return f"{value:.{1 if value >= 10 else 2}f} {unit}"


def raw_column(directory, statement):
    return [row[0] for row in json.loads(run("sql", directory, statement, "--format", "json").stdout)["rows"]]


class Evidence(unittest.TestCase):
    def test_against_the_report(self):
        directory = artifacts(trace("host-bound"))
        findings = support.read_csv(directory, "findings")
        facts = read = list(csv.DictReader(io.StringIO(run("evidence", directory, "--format", "csv").stdout)))
        self.assertEqual(len([f for f in facts if f["text"]]), len(support.read_csv(directory, "evidence")))
        self.assertEqual({f["finding"] for f in read}, {f["finding"] for f in findings})
        text = run("evidence", directory).stdout
        for finding in findings:
            self.assertIn(finding["id"], text)
        one = run("evidence", directory, "--finding", "1", "--format", "csv").stdout
        self.assertEqual({r["finding"] for r in csv.DictReader(io.StringIO(one))}, {"1"})
        high = list(csv.DictReader(io.StringIO(run("evidence", directory, "--severity", "medium", "--format", "csv").stdout)))
        self.assertTrue(all(r["severity"] in ("medium", "high") for r in high))


    def test_findings_have_the_numbers_of_the_report(self):
        """From 1 in every answer, and a number that is none is refused."""
        directory = artifacts(trace("host-bound"))
        headings = re.findall(r"^### (\d+)\. \w+: (.*)$", (directory / "report.md").read_text(encoding="utf-8"), re.MULTILINE)
        plain = [(number, title.replace("\\", "")) for number, title in headings]
        self.assertEqual([number for number, _ in plain], [str(n) for n in range(1, len(plain) + 1)])
        tables = {row["finding"]: row["title"] for row in support.read_csv(directory, "findings")}
        self.assertEqual(tables, dict(plain))
        self.assertEqual({row["finding"] for row in support.read_csv(directory, "evidence")} - set(tables), set())
        page = (directory / "report.html").read_text(encoding="utf-8")
        for number, title in plain:
            self.assertIn(title, run("explain", directory, number).stdout)
            self.assertIn(title, run("evidence", directory, "--finding", number).stdout)
            self.assertIn(f'id="finding-{number}"', page)
        asked = json.loads(run("ask", directory, "why is my GPU idle", "--format", "json").stdout)
        explain, = [shlex.split(line["text"])[-1] for line in asked["next"] if " explain " in line["text"]]
        self.assertIn(tables[explain], json.dumps(asked))
        for number in (0, len(plain) + 1):
            self.assertEqual(run("explain", directory, number).returncode, 2)
            self.assertEqual(run("evidence", directory, "--finding", number).returncode, 2)

    def test_what_is_not_there_is_refused(self):
        """A GPU or a time that the trace does not have has no answer, not an empty one."""
        directory = artifacts(trace("training"))
        for words in (("summary", directory), ("nccl", directory), ("search", directory, "gemm"), ("evidence", directory),
                      ("skill", "run", "streams", directory), ("export", "csv", directory), ("export", "chrome", directory),
                      ("export", "folded", directory), ("view", directory, "--once")):
            done = run(*words, "--gpu", "77")
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertRegex(done.stderr, r"--gpu 77: the (trace|run) has no such GPU; (it has: 0, 1|nsys-ai info)")
            self.assertEqual(run(*words, "--gpu", "1").returncode, 0, words)
        for words in (("search", directory, "gemm", "--window"), ("export", "csv", directory, "--trim"),
                      ("export", "perfetto", directory, "--out", fresh_dir() / "p", "--trim"), ("view", directory, "--once", "--trim"),
                      ("page", "window", directory, "--window")):
            done = run(*words, "777", "778")
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)


class Export(unittest.TestCase):
    def test_evidence_schema(self):
        """Evidence schema 0.1: a region per fact with a place, in the order of findings; what the trace lacks."""
        directory = artifacts(trace("host-bound"))
        report = json.loads(run("evidence", directory, "--format", "v0.1").stdout)
        self.assertEqual((report["schema_version"], report["producer"], report["profile_path"]), ("0.1", "nsys-ai", "host-bound.sqlite"))
        ours = json.loads((directory / "report.json").read_text())["findings"]
        words = {"high": "critical", "medium": "warning", "low": "info", "info": "info"}
        placed = [(f["title"], words[f["severity"]], f["id"], e["text"], e["start_ns"], e["end_ns"])
                  for f in ours for e in f["evidence"] if e.get("start_ns") is not None]
        found = [(f["label"], f["severity"], f["id"], f["note"], f["start_ns"], f["end_ns"]) for f in report["findings"] if f["type"] == "region"]
        self.assertEqual(found, placed)
        self.assertEqual({f["id"] for f in report["findings"]}, {f["id"] for f in ours})
        self.assertTrue(all(isinstance(f["start_ns"], int) and set(f) <= {"type", "label", "start_ns", "end_ns", "gpu_id", "severity", "note", "id",
                                                                          "headroom_ms"} for f in report["findings"]))
        self.assertIn("memory operations", [s["capability"] for s in report["skipped"]])

    def test_flat(self):
        path = trace("training")
        directory = artifacts(path)
        found = list(csv.DictReader(io.StringIO(run("export", "csv", directory).stdout)))
        wanted = raw(path, "select s.value, k.start, k.end, streamId, deviceId, r.start from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.demangledName "
                           "left join CUPTI_ACTIVITY_KIND_RUNTIME r on r.correlationId = k.correlationId and r.globalTid / 0x1000000 = k.globalPid / 0x1000000 "
                           "order by k.start, deviceId, streamId")
        self.assertEqual([(r["name"], int(r["start_ns"]), int(r["end_ns"]), int(r["stream"]), int(r["device"]), int(r["launch_start_ns"])) for r in found], wanted)
        for row in found:
            ns = int(row["end_ns"]) - int(row["start_ns"])
            self.assertEqual((support.ns_of_ms(row["duration_ms"]), support.ns_of_ms(row["duration_us"]) / 1000), (ns, ns))
            self.assertEqual(int(row["duration_ns"]), ns)
        units = {c["name"]: c["unit"] for c in json.loads(run("export", "json", directory).stdout)["columns"]}
        self.assertEqual([units[c] for c in ("start_ns", "end_ns", "duration_ms", "duration_us", "duration_ns")], ["timestamp_ns"] * 2 + ["ms", "us", "ns"])
        lines = run("export", "ndjson", directory).stdout.splitlines()
        self.assertEqual([json.loads(line)["start_ns"] for line in lines], [w[1] for w in wanted])
        self.assertEqual(len(json.loads(run("export", "json", directory, "--gpu", "1").stdout)["rows"]), len([w for w in wanted if w[4] == 1]))

    def test_stacks(self):
        for scenario in ("training", "nvtx-mix", "hostile"):
            path = trace(scenario)
            directory = artifacts(path)
            total = json.loads(run("sql", directory, "select coalesce(sum(end_ns - start_ns), 0) from kernel_events", "--format", "json").stdout)["rows"][0][0]
            lines = run("export", "folded", directory).stdout.splitlines()
            self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines), total)
            self.assertEqual(lines, sorted(lines, key=lambda line: line.encode()))
            profile = json.loads(run("export", "speedscope", directory).stdout)
            samples = profile["profiles"][0]
            self.assertEqual((sum(samples["weights"]), samples["endValue"], len(samples["samples"])), (total, total, len(lines)))
            self.assertLess(max([max(s) for s in samples["samples"]], default=-1), len(profile["shared"]["frames"]))
        wall = run("export", "folded", artifacts(trace("training")), "--metric", "wall").stdout.splitlines()
        own = json.loads(run("sql", artifacts(trace("training")), "select sum(self_ns) from nvtx_nodes", "--format", "json").stdout)["rows"][0][0]
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in wall), own)

    def test_file(self):
        out = fresh_dir() / "k.csv"
        self.assertEqual(run("export", "csv", artifacts(trace("training")), "--out", out).stdout, "")
        self.assertEqual(out.read_text(), run("export", "csv", artifacts(trace("training"))).stdout)
        self.assertEqual(run("export", "csv", artifacts(trace("training")), "--out", out.parent / "no" / "x").returncode, 5)
        self.assertEqual(os.listdir(out.parent), ["k.csv"])
        self.assertEqual(run("export", "csv", out, "--metric", "wall").returncode, 2)


def store_of(directory):
    """A store of one run."""
    done = run("store", "add", artifacts(trace("training")), "--store", directory)
    assert done.returncode == 0, done.stderr
    return directory


class Documents(unittest.TestCase):
    """Every command of docs/recipes.md, docs/asking.md and docs/writing-skills.md works as it stands there."""

    @support.tier("ci")
    def test_commands(self):
        path, work = trace("training"), fresh_dir()
        os.makedirs(work / "artifacts")
        (work / "trace.sqlite").symlink_to(path)
        (work / "artifacts" / "run1").symlink_to(artifacts(path))
        for name, scenario in (("before", "loop"), ("after", "loop-slower")):
            (work / "artifacts" / name).symlink_to(artifacts(trace(scenario)))
        store_of(work / "nights")
        texts = [(SOURCE / "docs" / name).read_text() for name in ("asking.md", "recipes.md", "writing-skills.md")]
        skill, page, rules = re.findall(r"(?s)```yaml\n(.*?)```", texts[2])
        (work / "my_skill.yaml").write_text(skill)
        (work / "busy_streams.yaml").write_text(skill + rules)
        (work / "my_page.yaml").write_text(page)
        (work / "beside.sql").write_text(re.search(r"(?s)```sql\n(.*?)```", texts[1]).group(1))
        count = 0
        for line in re.findall(r"(?m)^    nsys-ai (?!: )(.+)$", "\n".join(texts)):
            if line.startswith("sql:"):
                continue
            done = run(*shlex.split(line), cwd=work)
            self.assertEqual(done.returncode, 0, (line, done.stderr))
            self.assertTrue(done.stdout or "--out" in line, line)
            count += 1
        self.assertGreater(count, 45)

    def test_reference(self):
        self.assertIn("### v_kernels", run("sql", "--reference", artifacts(trace("training"))).stdout)
        text = run("sql", "--reference").stdout
        self.assertEqual([line for line in text.splitlines() if re.match(r"\| `", line) and re.search(r"\|  +\|", line)], [])

    def test_names(self):
        """Skills, pages and functions that the documents name are there."""
        text = (SOURCE / "docs" / "writing-skills.md").read_text()
        for name in re.findall(r"skills? `(\w+)`", text):
            self.assertTrue((SOURCE / "skills" / f"{name}.yaml").exists(), name)


if __name__ == "__main__":
    support.main()
