"""Questions in plain words: facts are rows of tables, answers say what is known, and nothing else."""
import contextlib
import json
import pathlib
import re
import shlex
import shutil
import sqlite3
import statistics
import unittest

import yaml

import support
from support import SOURCE, edited, fresh_dir, trace

INTENTS = yaml.safe_load((SOURCE / "rules/intents.yaml").read_text())
# What an engineer types, and the intent that it is about; "-": it is not understood, and that is said.
QUESTIONS = {question: intent for intent, question in (line.split("\t") for line in (SOURCE / "tests/data/questions.tsv").read_text().splitlines())}
ONE_EACH = {question: intent for intent, question in {intent: question for question, intent in QUESTIONS.items()}.items()}

LEFT_OUT = "what follows leaves that out, and may be of more than was asked."


def run(*words, status=0):
    done = support.run(*words)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done


def artifacts(name):
    return support.artifacts(trace(name))


def ask(source, question, *options, status=0):
    done = run("ask", source, question, "--format", "json", *options, status=status)
    return json.loads(done.stdout) if status == 0 else done.stderr


class Understanding(unittest.TestCase):
    def test_every_rule_answers_something(self):
        rules = {rule["id"] for rule in yaml.safe_load((SOURCE / "rules/default.yaml").read_text())["rules"]}
        patterns = [p for intent in INTENTS["intents"] for p in intent.get("rules", []) if p != "*"]
        for rule in sorted(rules):
            self.assertTrue(any(rule == p or (p.endswith("*") and rule.startswith(p[:-1])) for p in patterns),
                            f"no question leads to rule {rule}: name it under `rules:` of an intent in rules/intents.yaml")
        for pattern in patterns + INTENTS["caveats"]:
            self.assertTrue(any(rule == pattern or (pattern.endswith("*") and rule.startswith(pattern[:-1])) for rule in rules),
                            f"rules/intents.yaml names {pattern}, but rules/default.yaml has no such rule: correct or remove it")

    def test_why_idle_cites_every_finding_about_idle_time(self):
        patterns = next(i["rules"] for i in INTENTS["intents"] if i["intent"] == "idle")
        for rule in yaml.safe_load((SOURCE / "rules/default.yaml").read_text())["rules"]:
            if rule.get("explains") == "idle":
                self.assertTrue(any(rule["id"] == p or (p.endswith("*") and rule["id"].startswith(p[:-1])) for p in patterns),
                                f"name {rule['id']} under `rules:` of intent idle in rules/intents.yaml")

    @support.tier("ci")
    def test_every_intent_is_asked(self):
        """... and answered, so that a mistake in one of its statements is an error here. What words are about: tests/unit/test_question_words.c."""
        self.assertEqual({i["intent"] for i in INTENTS["intents"] if "names" not in i and any("@named" not in words for words in i.get("words", []))}, set(QUESTIONS.values()) - {"-"})
        for question, intent in ONE_EACH.items():
            with self.subTest(question):
                answer = ask(artifacts("training"), question)
                self.assertIn(intent, answer["intents"] or ["-"])
                self.assertTrue(answer["answer"], "no answer")

    def test_capabilities_that_intents_need_are_known(self):
        done = run("sql", artifacts("host-bound"), "select distinct lower(replace(capability, ' ', '-')) as c from capabilities", "--format", "json")
        known = {row["c"] if isinstance(row, dict) else row[0] for row in json.loads(done.stdout)["rows"]}
        needs = {n for i in INTENTS["intents"] for n in i.get("needs", []) + [m for f in i.get("facts", []) for m in f.get("needs", [])]}
        self.assertLessEqual(needs | set(INTENTS["record"]), known)
        self.assertLessEqual(needs, set(INTENTS["record"]))


class Facts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = run("sql", artifacts("training"), "select table_name, name from nai_columns", "--format", "json")
        cls.columns = {tuple(row) for row in json.loads(done.stdout)["rows"]}

    def check(self, place, answer):
        """Every value of a fact is what the table has in that row; every sentence that cites cites a fact."""
        ids = [f"F{i + 1}" for i in range(len(answer["facts"]))]
        self.assertEqual([fact["id"] for fact in answer["facts"]], ids)
        self.assertLessEqual(len(ids), 8)
        self.assertLessEqual({s["fact"] for s in answer["answer"]} - {None}, set(ids))
        for fact in answer["facts"]:
            plain = [v for v in fact["values"] if v["unit"] and (fact["table"], v["column"]) in self.columns]
            names = ", ".join(f'"{v["column"]}"' for v in plain) or "1"
            done = run("sql", place, f"select {names} from {fact['table']} where rowid = {fact['row']}", "--format", "json")
            rows = json.loads(done.stdout)["rows"]
            self.assertEqual(len(rows), 1, fact)
            if plain:
                self.assertEqual(rows[0], [v["value"] for v in plain], fact)

    def test_facts_are_rows_of_tables(self):
        for name, questions in {"training": ["is NCCL overlapped", "which layer is slow", "why are there bubbles"], "host-bound": ["why is it slow", "where do we block"],
                                "copy-bound": ["are my copies pinned"], "inference": ["how much launch overhead is there"]}.items():
            place = artifacts(name)
            for question in questions:
                with self.subTest(question, trace=name):
                    answer = ask(place, question)
                    self.assertTrue(answer["facts"])
                    self.check(place, answer)

    def test_known_answers(self):
        """Of traces whose truth is known by how they were made."""
        said = json.dumps(ask(artifacts("host-bound"), "why are there bubbles"))
        self.assertIn("29.6 ms", said)
        self.assertIn("cudaStreamSynchronize", said)
        copies = ask(artifacts("copy-bound"), "why are there bubbles")
        self.assertNotIn("launch", " ".join(s["text"] for s in copies["answer"]))
        finding = ask(artifacts("copy-bound"), "are the copies a problem")
        self.assertIn("exposed-copy", [v["value"] for f in finding["facts"] for v in f["values"] if v["column"] == "id"])

    def test_one_gpu(self):
        answer = ask(artifacts("training"), "why is GPU 1 idle")
        devices = {v["value"] for f in answer["facts"] for v in f["values"] if v["column"] == "device_id"}
        self.assertEqual(devices, {1})
        answer = ask(artifacts("training"), "why is GPU 7 idle")
        self.assertIn("The run has no GPU 7", answer["answer"][0]["text"])

    def test_idle_time_in_mpi(self):
        for name in ("mpi", "mpi-ranks"):
            place = artifacts(name)
            longest = json.loads(run("sql", place, "select human(max(exposed_ns), 'ns') from mpi_processes", "--format", "json").stdout)["rows"][0][0]
            answer = ask(place, "why is my GPU idle")
            said = "\n".join(line["text"] for line in answer["answer"])
            self.assertRegex(said, rf"in MPI, GPU 0 is idle for {longest}")
            self.assertIn("The first finding about it: Idle during MPI calls", said)
        self.assertNotIn("MPI", json.dumps(ask(artifacts("host-bound"), "why is my GPU idle")))

    def test_names_of_the_trace(self):
        place = artifacts("training")
        name = json.loads(run("sql", place, "select short_name from kernels limit 1", "--format", "json").stdout)["rows"][0][0]
        short = re.split("[<(]", name)[0]
        answer = ask(place, f"how slow is {short}")
        self.assertEqual(answer["intents"][0], "named_kernel")
        self.assertIn(short, answer["facts"][0]["text"])
        self.assertEqual(ask(place, 'what happens in "forward"')["intents"][0], "named_range")
        self.assertEqual(ask(place, "is cudaLaunchKernel slow")["intents"][0], "named_call")
        self.assertIn('Nothing in the trace is called "no_such_kernel"', ask(place, "how slow is no_such_kernel")["answer"][0]["text"])


    def test_whole_names_come_before_words(self):
        """`sampling` is a range of the trace; "softmax" a word of a kernel's name that the question about GPUs leaves over."""
        cost = ask(artifacts("inference"), "how much does sampling cost")
        self.assertIn("of sampling", cost["answer"][0]["text"])
        self.assertNotIn("prices", json.dumps(cost))
        softmax = ask(artifacts("collectives-skewed"), "how long is softmax on gpu 1")
        self.assertRegex(softmax["answer"][0]["text"], r"^12.0 ms total: \d+ softmax kernels? on GPU 1", softmax)
        occupancy = ask(artifacts("training"), "occupancy of flash_bwd")
        shapes = [f["text"] for f in occupancy["facts"] if f["table"] == "kernel_shape" and "registers" in f["text"]]
        self.assertTrue(shapes and all("flash_bwd" in text for text in shapes if not text.startswith("its most expensive")), shapes)

    def test_the_whole_name_comes_before_names_that_hold_it(self):
        """"forward" is a range, and part of others."""
        first = ask(artifacts("training"), 'what is "forward"')["facts"][0]
        self.assertEqual([v["value"] for v in first["values"] if v["column"] == "range_name"], ["forward"])
        count, = Truth(trace("training")).db.execute("select count(*) from NVTX_EVENTS left join StringIds on id = textId where coalesce(text, value) = 'forward'").fetchone()
        self.assertIn(f" {count} NVTX ranges (CPU time) of forward,", ask(artifacts("training"), 'how long is "forward"')["answer"][0]["text"])

    def test_what_is_not_answered_is_said_first(self):
        first = ask(artifacts("training"), "which layer is the flumpest")["answer"][0]["text"]
        self.assertEqual(first, 'Not understood: "flumpest".')


IDLE_FOR_MORE_THAN_ONE_REASON = ("launch-load", "collectives", "host-bound")


class Answers(unittest.TestCase):
    """What a question asks for is what the answer is about."""
    def said(self, name, question):
        return " ".join(s["text"] for s in ask(artifacts(name), question)["answer"])

    def test_gpus_of_one_run_are_compared(self):
        for question in ("compare GPU 0 and GPU 1", "is GPU 0 slower than GPU 1", "GPU 0 vs GPU 1", "compare GPUs 0 and 1"):
            answer = ask(artifacts("training"), question)
            self.assertEqual({v["value"] for f in answer["facts"] if f["table"] == "gpu_active" for v in f["values"] if v["column"] == "device_id"}, {0, 1}, question)
            self.assertNotIn("One run cannot", json.dumps(answer))
        self.assertIn("Only GPU 0 has work", self.said("host-bound", "compare GPU 0 and GPU 1"))

    def test_frames_are_steps(self):
        self.assertIn("A step takes", self.said("steps-jitter", "how fast is one frame"))
        self.assertIn("/s on average)", self.said("steps-jitter", "what is the frame rate"))
        self.assertIn("stands out most", self.said("steps", "why are some frames slow"))

    def test_a_saving_of_several_gpus_is_that_of_the_worst(self):
        place = artifacts("training")
        (title, saving), = json.loads(run("sql", place, "select title, human(saving_ns, 'ns') from findings where gpus like '% %' and saving_ns > 0 and saving_is = 'bound' and severity <> 'info' limit 1", "--format", "json").stdout)["rows"]
        facts = [f["text"] for f in ask(place, "what should I fix first")["facts"] + ask(place, "why is my GPU idle")["facts"]]
        self.assertTrue([f for f in facts if f.startswith(title) and f"at most {saving} on the worst of them" in f], (title, saving, facts))

    def test_some_of_them_are_no_yes(self):
        (median,), = json.loads(run("sql", artifacts("steps-jitter"), "select median_ns from step_summary limit 1", "--format", "json").stdout)["rows"]
        self.assertRegex(self.said("steps-jitter", f"are steps shorter than {median} ns"), r"^\d+ steps shorter than that")
        self.assertRegex(self.said("steps-jitter", f"are there steps shorter than {median} ns"), r"^Yes: \d+ steps shorter than that")

    def test_a_rate_that_is_wanted(self):
        place = artifacts("steps-jitter")
        (rate,), = json.loads(run("sql", place, "select steps_per_s from step_summary order by steady_steps desc limit 1", "--format", "json").stdout)["rows"]
        more, less = int(rate) + 1, int(rate)
        for question, verdict in ((f"is it running at {less} fps", "Yes: "), (f"is it running at {more} fps", "No: "), (f"can I reach {more} fps", "Not as it is: "), (f"are we below {more} iterations per second", "Yes: ")):
            self.assertTrue(self.said("steps-jitter", question).startswith(verdict), question)
        self.assertRegex(self.said("steps-jitter", f"do we hit {more} fps"), rf"[\d,]+ of [\d,]+ steady steps on GPU 0 take longer than the [\d.]+ [mµ]s that {more}/s leave to each")
        self.assertTrue(self.said("layers", "can I reach 30 fps").startswith("No steps were found in this trace, so nothing tells"))

    def test_what_bounds_a_kernel_is_not_what_bounds_the_gpu(self):
        for question in ("is the slowest kernel compute bound", "are gemms compute bound", "is gemm_nn compute bound"):
            self.assertIn("Nothing recorded answers that", self.said("healthy", question), question)
        self.assertRegex(self.said("healthy", "is my gpu compute bound"), r"^(Yes|No|Partly): GPU 0 computes for ")

    def test_what_bounds_one_kernel(self):
        """By the samples of that kernel alone; where there are none, which one it is about is said."""
        rows = json.loads(run("sql", artifacts("sampled"), "select short_name(kernel_name), bound_by, dram from kernel_bounds order by time_ns desc", "--format", "json").stdout)["rows"]
        self.assertEqual(rows[0][1], "tensor cores")
        for question, verdict in (("is the slowest kernel compute bound", "Yes: "), ("is the slowest kernel memory bound", "No: "), ("is the biggest kernel memory bound or compute bound", "")):
            self.assertRegex(self.said("sampled", question), rf"^{verdict}{re.escape(rows[0][0])} \(.* of the kernel time of GPU 0\) is bound by tensor cores; used while it ran: memory bandwidth {rows[0][2]:.1f} %", question)
        self.assertRegex(self.said("sampled", "is stream_triad memory bound"), r"^Yes: stream_triad \(.*\) is bound by memory; ")
        self.assertRegex(self.said("sampled", "is tiny memory bound"), r"^tiny \([^()]*\) is not measured \(too short\)\.")
        self.assertRegex(self.said("sampled", "which kernels are memory bound"), r"; memory: stream_triad \(18.0 %\); ")
        (name,), = json.loads(run("sql", artifacts("training"), "select short_name from kernels order by total_time_ns desc limit 1", "--format", "json").stdout)["rows"]
        for question in ("is the slowest kernel compute bound", "is the longest kernel memory bound"):
            answer = ask(artifacts("training"), question)
            self.assertTrue(answer["answer"][0]["text"].startswith(f"Nothing recorded answers that of {name} ("), answer["answer"])
            self.assertIn("--gpu-metrics-devices", json.dumps(answer))

    def test_a_layer_that_repeats_is_no_pass(self):
        self.assertIn("Nothing tells where one pass begins and ends: ", self.said("layers", "how long does the forward pass take"))

    def test_a_part_of_a_step_is_not_summed_over_gpus(self):
        """Two GPUs that run forward at the same time: what each of them takes, and one instance."""
        place = artifacts("training")
        rows = json.loads(run("sql", place, "select device_id, sum(duration_ns) from v_kernels where instr(lower(path), 'forward') group by 1 order by 1", "--format", "json").stdout)["rows"]
        (median, count), = json.loads(run("sql", place, "select human(p50_span_ns, 'ns'), instances_with_work from nvtx_projection where range_name = 'forward' and whole = 1", "--format", "json").stdout)["rows"]
        self.assertEqual([row[0] for row in rows], [0, 1])
        said = self.said("training", "how long does forward take")
        low, high = re.match(r"forward: (?:([\d.]+) ms to )?([\d.]+) ms of kernel time in [\d,]+ kernels of the capture on each of 2 GPUs \(", said).group(1, 2)
        self.assertEqual((float(low or high), float(high)), tuple(sorted(round(row[1] / 1e6, 1) for row in rows)))
        self.assertIn(f"On the GPU, forward takes {median} from its first operation to the last, the median of {count} instances", said)
        self.assertRegex(self.said("training", "how long does forward take on GPU 1"), rf"^forward: {rows[1][1] / 1e6:.1f} ms of kernel time in \d+ kernels of the capture on GPU 1 \(")
        self.assertNotIn("takes", self.said("training", "how long does backward take"))  # no range of the GPU's work is called so

    def test_what_can_be_saved(self):
        """Each finding's potential saving as the report has it, also where nothing is simulated; what is part of another is left out."""
        for name in ("training", "host-bound"):
            rows = json.loads(run("sql", artifacts(name), "select iif(saving_is = 'estimate', 'about ', 'at most ') || human(saving_ns, 'ns'), title from findings where saving_ns > 0 "
                                  "and severity <> 'info' and part_of is null order by finding limit 5", "--format", "json").stdout)["rows"]
            self.assertTrue(rows)
            for question in ("how much can I save", "how much time could we save", "what are the potential savings"):
                said = self.said(name, question)
                self.assertRegex(said, "Potential saving of each finding alone, on its worst GPU: " + "; ".join(rf"{re.escape(saving)} \([^()]*\) {re.escape(title)}" for saving, title in rows) + r"\. They do not add up\.")
        self.assertIn("No finding has a saving", self.said("healthy", "how much can I save"))
        self.assertRegex(self.said("copy-bound", "how much can I save"), r"^[\d.]+ % less time by simulation, with the one change of the plan: ")

    def test_no_number_of_something_else(self):
        """What is asked for each step is no total, what is not known is no "No", and a size is no time."""
        (total, steps, device), = json.loads(run("sql", artifacts("training"), "select total_time_ns, (select steps from step_summary s where s.device_id = o.device_id), device_id from comm_ops o order by total_time_ns desc limit 1", "--format", "json").stdout)["rows"]
        self.assertTrue(self.said("training", "how much time is spent in all reduce per step").startswith(f"{total / steps / 1e6:.2f} ms for each of {steps} steps on GPU {device}; total: "))
        for question in ("does GPU 0 wait for GPU 1", "how much time does GPU 0 wait for GPU 1"):
            self.assertTrue(self.said("training", question).startswith("Unknown: collectives of GPU 0 could not be matched"), question)
        self.assertRegex(self.said("collectives-skewed", "how much time does GPU 0 wait for GPU 1"), "^(GPU 0 |Of the )")
        (launched,), = json.loads(run("sql", artifacts("training"), "select sum(kernel_count) from nvtx_nodes where instr(lower(path), 'backward')", "--format", "json").stdout)["rows"]
        self.assertRegex(self.said("training", "how many kernels does the backward pass launch"), rf"^0 kernels in backward \(launched on its thread\); {launched} kernels, [\d.]+ ms, in ranges with backward in their name")
        for name in ("serving", "training"):
            self.assertNotRegex(self.said(name, "how big are the batches"), "steps")
        self.assertRegex(self.said("serving", "how much time between decode steps"), r"^[\d.]+ [µm]s idle before one at the median")
        self.assertNotIn("CPU time", self.said("inference", "how much time between decode steps"))
        self.assertRegex(self.said("training", "what takes longest in a step"), "^The median step on GPU 0 takes")
        self.assertRegex(self.said("training", "how many copies per step"), r"^\d+ on average: \d+ copies")
        self.assertRegex(self.said("training", "how much time does the GPU wait for the CPU"), "^GPU 0 is idle for ")
        self.assertRegex(self.said("training", "does the GPU wait for the CPU"), "^No: GPU 0 is idle for ")

    def test_times_of_ranges_are_the_hosts(self):
        self.assertRegex(self.said("training", "how long does forward take per step"), r"^[\d.]+ µs on the CPU on average: ")
        for question, other in (("is backward slower than forward", True), ("gpu time of aten::linear vs aten::gelu", False), ("ratio of forward to backward calls", False)):
            self.assertEqual(any("on GPUs may compare otherwise" in s["text"] for s in ask(artifacts("training"), question)["cannot_tell"]), other, question)

    def test_ranges_are_no_kernels(self):
        self.assertEqual({f["table"] for f in ask(artifacts("training"), "which NVTX range takes the most GPU time")["facts"]} & {"kernels"}, set())

    def test_extremes_of_occupancy(self):
        rows = json.loads(run("sql", artifacts("shapes"), "select theoretical_occupancy_pct, short_name(kernel_name) from kernel_shape where "
                              "theoretical_occupancy_pct is not null", "--format", "json").stdout)["rows"]
        self.assertGreater(len({row[0] for row in rows}), 1)
        for word, extreme, question in (("lowest", min, "which kernel has the lowest occupancy"), ("highest", max, "which kernel has the highest occupancy"),
                                        ("lowest", min, "worst occupancy")):
            pct, of, name = re.search(r"(\S+) % is the (\w+) theoretical occupancy, of (.+?) on GPU", self.said("shapes", question)).groups()
            wanted = extreme(row[0] for row in rows)
            self.assertEqual((of, float(pct)), (word, round(wanted, 1)))
            self.assertIn(name, [row[1] for row in rows if row[0] == wanted])

    def test_per_step(self):
        place = artifacts("steps")
        kernels = json.loads(run("sql", place, "select median_kernel_count from step_summary", "--format", "json").stdout)["rows"][0][0]
        self.assertIn(f"The median step on GPU 0 has {kernels} kernels", self.said("steps", "how many kernels were launched per step"))
        self.assertIn("No steps were found in this trace", self.said("drained-queue", "how many kernels were launched per step"))
        unit, = json.loads(run("sql", artifacts("layers"), "select kernel_count from repeating_units order by median_ns * repetitions desc limit 1", "--format", "json").stdout)["rows"][0]
        self.assertTrue(self.said("layers", "how many kernels get launched per layer").startswith(f"{unit} kernels"))

    def test_launch_overhead_is_a_time(self):
        place = artifacts("training")
        lost = {row[0]: row[1] for row in json.loads(run("sql", place, "select device_id, human(sum(active_ns), 'ns') from idle_causes where cause in "
                                                         "('launch_latency', 'in_launch_call') group by 1", "--format", "json").stdout)["rows"]}
        gpu, time = re.match(r"GPU (\d) is idle for (\S+ \w+) \(", self.said("training", "how much time is lost to kernel launch overhead")).groups()
        self.assertEqual(lost[int(gpu)], time)

    def test_calls_of_a_name(self):
        said = self.said("alloc-churn", "is cudaMalloc slow")
        self.assertRegex(said, r"cudaMalloc is called 60 times .* cudaMallocAsync, another such call, is called 60 times")
        self.assertNotIn("Nothing recorded", said)
        self.assertRegex(self.said("alloc-churn", "how much time is spent in cudaMallocs"), "total: 60 CUDA calls of cudaMalloc,")
        self.assertIn("cudaMalloc is called 1 time and", self.said("inference", "is cudaMalloc slow"))

    def test_pauses(self):
        self.assertRegex(self.said("pause", "why is there a pause"), r"The longest pause is one of .* the launching thread (waited for input|read files)")
        self.assertRegex(self.said("training", "what is a pause"), r"^A pause is .* This trace has none\.$")

    def test_causes(self):
        self.assertIn("queue_drained is a cause of idle time: a synchronization had left the queue empty", self.said("host-bound", "what is queue_drained"))
        self.assertIn("of which this run has none", self.said("host-bound", "what is page_migration"))

    def test_the_finding_is_about_the_cause_that_is_named(self):
        """Not about the next largest cause, because that one is a loss and this one a note."""
        for name in IDLE_FOR_MORE_THAN_ONE_REASON:
            answer, place = ask(artifacts(name), "why is the GPU idle"), artifacts(name)
            facts = {fact["id"]: fact for fact in answer["facts"]}
            cited = [facts[s["fact"]] for s in answer["answer"] if s["fact"]]
            cause, finding = ([f for f in cited if f["table"] == table] for table in ("idle_causes", "findings"))
            stands_on = json.loads(run("sql", place, "select f.rowid from findings f join evidence e on e.finding = f.finding where e.table_name = 'idle_causes' and "
                                                     f"e.row = {cause[-1]['row']}", "--format", "json").stdout)["rows"]
            self.assertIn([finding[0]["row"]], stands_on, name)

    def test_what_to_fix_first_is_the_first_loss_of_the_report(self):
        for name in ("training", "host-bound", "copy-bound", "launch-storm", "shapes", "steps-input", "pause"):
            losses = json.loads(run("sql", artifacts(name), "select id from findings where severity <> 'info' order by finding limit 1", "--format", "json").stdout)["rows"]
            answer = ask(artifacts(name), "what should I fix first")
            found = [v["value"] for f in answer["facts"] if f["table"] == "findings" for v in f["values"] if v["column"] == "id"]
            self.assertEqual(found[:len(losses)], [row[0] for row in losses], name)

    def test_what_lies_around_the_work(self):
        """Before and after it the parts of the capture's time add up to what is said; how long a program runs is the session."""
        truth = Truth(trace("pause"))
        first, last = min(op[1] for op in truth.operations()), max(op[2] for op in truth.operations())
        session, = truth.db.execute("select duration from ANALYSIS_DETAILS").fetchone()
        for question, expected in (("why does it take so long to start", first), ("what does the program do after the GPU work", session - last),
                                   ("how long does the program run", session), ("how long is the capture", last - first)):
            with self.subTest(question):
                value, slack = first_number(self.said("pause", question))
                self.assertAlmostEqual(value, expected, delta=slack)

    def test_what_holds_a_finding_is_named_by_its_title(self):
        place = artifacts("collectives-skewed")
        inner, rule, outer = json.loads(run("sql", place, "select f.title, o.id, o.title from findings f join findings o on o.id = f.part_of limit 1", "--format", "json").stdout)["rows"][0]
        texts = [fact["text"] for fact in ask(place, "is NCCL overlapped")["facts"] + ask(place, "which GPU is the straggler")["facts"] if fact["text"].startswith(inner)]
        self.assertTrue(texts)
        for text in texts:
            self.assertIn(f'contained in "{outer}"', text)
            self.assertNotIn(rule, text)

    def test_the_number_of_what_is_named_comes_first(self):
        place = artifacts("training")
        def cell(sql):
            return json.loads(run("sql", place, sql, "--format", "json").stdout)["rows"][0][0]
        short = re.split("[<(]", cell("select short_name from kernels order by total_time_ns desc limit 1"))[0]
        of = f"from kernels where instr(short_name, '{short}') order by total_time_ns desc limit 1"
        for question, begin in ((f"p90 of {short}", cell(f"select human(p90_duration_ns, 'ns') || ' is the p90: ' {of}")),
                                (f"how many times is {short} launched", cell(f"select human(sum(call_count), 'count') || ' kernels of ' from kernels where kernel_name = (select kernel_name {of})")),
                                (f"registers per thread of {short}", cell(f"select registers_per_thread || ' registers per thread;' from kernel_shape s join kernels k using (kernel_name) where instr(k.short_name, '{short}') order by s.total_time_ns desc")),
                                ("does it call cudaLaunchKernel", "Yes: "), ("is cudaLaunchKernel the bottleneck", "cudaLaunchKernel is called "),
                                ("p99 of cudaLaunchKernel", cell("select human(p99(end_ns - start_ns), 'ns') || ' is the p99: ' from api_events where name = 'cudaLaunchKernel'")),
                                ('longest "forward"', cell("select human(max_duration_ns, 'ns') || ' is the longest (at ' from nvtx_ranges where range_name = 'forward'")),
                                ("longest CUDA call", cell("select human(max(end_ns - start_ns), 'ns') || ' is the longest' from api_events")),
                                ("total CUDA API time", cell("select human(sum(end_ns - start_ns), 'ns') || ' ' from api_events")),
                                ("is it vllm or pytorch", "PyTorch"), ("is there an all to all", "No: 0 kernels of alltoall"), ("is there an allreduce", "Yes: ")):
            with self.subTest(question):
                self.assertTrue(self.said("training", question).startswith(begin), (begin, self.said("training", question)))
        self.assertIn(cell(f"select nvtx_path from kernel_paths where instr(kernel_name, '{short}') order by total_time_ns desc limit 1") + " launches it most", self.said("training", f"who launches {short}"))

    def test_what_lies_around_a_gap(self):
        gaps = json.loads(run("sql", artifacts("host-bound"), "select human(gap_ns, 'ns'), short_name(next_op) from gpu_idle_gaps order by gap_ns desc limit 3", "--format", "json").stdout)["rows"]
        self.assertIn(f"{gaps[0][1]} after it; {gaps[0][0]} on GPU 0", self.said("host-bound", "which kernel comes after the longest gap"))
        self.assertRegex(self.said("host-bound", "what are the longest gaps"), f"then {gaps[1][0]} on GPU 0, {gaps[2][0]} on GPU 0")
        self.assertRegex(self.said("host-bound", "what happened before the first kernel"), r"^\d+ CUDA calls? begins? before the first kernel")
        with sqlite3.connect(trace("host-bound")) as database:
            first, last = (database.execute(f"SELECT s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName ORDER BY {order} LIMIT 1").fetchone()[0]
                           for order in ("k.start", "k.end DESC"))
        self.assertNotRegex(self.said("host-bound", "did any process die"), "kernel time")  # German words are read, too
        for question, name in (("which kernel runs first", first), ("what is the last kernel", last)):
            self.assertIn(name, self.said("host-bound", question).split(";")[0], question)

    def test_what_a_question_compares_and_counts(self):
        """Pairs of GPUs, thresholds, lengths, sizes and statistics, against statements of their own over the events."""
        def cell(name, sql):
            return json.loads(run("sql", artifacts(name), sql, "--format", "json").stdout)["rows"][0][0]
        busy = cell("training", "select a.idle_pct < b.idle_pct from gpu_active a, gpu_active b where a.device_id = 0 and b.device_id = 1")
        long = "from kernel_events where end_ns - start_ns"
        step = "select duration_ns from steps where device_id = 0 and step = "
        for name, question, begin in (
                ("training", "is gpu 0 busier than gpu 1", "Yes: " if busy else "No: "), ("training", "is GPU 0 idle more than GPU 1", "No: " if busy else "Yes: "),
                ("training", "is gpu 0 busier than gpu 9", "The run has no GPU 9"), ("host-bound", "is the gpu idle > 10%", "Yes: "), ("host-bound", "is the gpu idle > 99 %", "No: "),
                ("training", "how many kernels between 10 and 20 us", cell("training", f"select count(*) {long} between 10000 and 20000")),
                ("training", "what fraction of kernels is shorter than 20 us", cell("training", f"select human(100.0 * count(*) / (select count(*) from kernel_events), 'percent') {long} < 20000")),
                ("training", "kernels above 5 % of the time", cell("training", "select count(*) from (select 1 from kernels group by kernel_name having sum(total_time_ns) > 0.05 * (select sum(total_time_ns) from kernels))")),
                ("training", "std dev of gemm kernels", cell("training", "select human(round(stddev(end_ns - start_ns)), 'ns') from kernel_events where category(name) = 'gemm'")),
                ("training", "p99 allreduce", cell("training", "select human(p99(end_ns - start_ns), 'ns') from kernel_events where name like '%AllReduce%'")),
                ("training", "median time between gemm kernels", cell("training", "select human(cast(round(median(gap)) as integer), 'ns') from (select start_ns - lag(end_ns) over (partition by device_id, process, "
                                                                     "stream_id order by start_ns) as gap from kernel_events where category(name) = 'gemm')")),
                ("copy-bound", "how many copies > 1 MB", cell("copy-bound", "select count(*) from v_copies where direction <> 'memset' and bytes > 1000000")),
                ("copy-bound", "average memcpy size", cell("copy-bound", "select human(sum(bytes) / count(*), 'bytes') from v_copies where direction <> 'memset'")),
                ("training", "kernels outside of nvtx ranges", cell("training", "select kernel_count - attributed_kernel_count from nvtx_coverage where scope = 'all'")),
                ("shapes", "kernels with fewer blocks than SMs", "Yes: " + str(cell("shapes", "select sum(call_count) from kernel_shape where blocks < sm_count"))),
                ("shapes", "which kernel uses most registers", cell("shapes", "select max(registers_per_thread) from kernel_shape")),
                ("steps", "is step 3 slower than step 2", "Yes: " if cell("steps", step + "3") > cell("steps", step + "2") else "No: "),
                ("steps", "fastest step", "Step " + str(cell("steps", "select step from steps where state = 'steady' order by duration_ns, rowid limit 1"))),
                ("training", "which kernel has the highest average", cell("training", "select short_name || ' has the highest average' from kernels group by kernel_name "
                                                                                     "order by 1.0 * sum(total_time_ns) / sum(call_count) desc limit 1")),
                ("training", "top 2 kernels by count", "By number of calls: " + cell("training", "select short_name from kernels group by kernel_name order by sum(call_count) desc, kernel_name limit 1")),
                ("training", "how many triton kernels", "0 triton kernels"), ("training", "is there a softmax kernel", "No: 0 softmax"), ("training", "is there no nvtx", "No: ")):
            with self.subTest(question, trace=name):
                self.assertRegex(self.said(name, question).replace(",", ""), rf"^{re.escape(str(begin))}\b|^{re.escape(str(begin))}")
        self.assertIn("processes work on GPUs 0 to 1", self.said("training", "do the two ranks overlap on the gpu"))

    def test_what_is_counted_for_each_of_another_and_what_lies_between(self):
        """Two things counted, the time between two of them, and two kernels: against the export itself."""
        truth = Truth(trace("copy-bound"))
        kernels, copies = (truth.db.execute(f"select count(*), min(start), max(end) from CUPTI_ACTIVITY_KIND_{kind}").fetchone() for kind in ("KERNEL", "MEMCPY"))
        self.assertTrue(self.said("copy-bound", "kernels per memcpy").startswith(f"{round(kernels[0] / copies[0], 2)} to one: {kernels[0]} kernels, {copies[0]} copies"))
        for question, more in (("are there more kernels than copies", True), ("are there fewer kernels than copies", False)):
            self.assertTrue(self.said("copy-bound", question).startswith("Yes: " if more == (kernels[0] > copies[0]) else "No: "), question)
        for question, ns in (("time between the first and the last kernel", kernels[2] - kernels[1]), ("how long from the first copy to the first kernel", abs(kernels[1] - copies[1]))):
            value, slack = first_number(self.said("copy-bound", question))
            self.assertAlmostEqual(value, ns, delta=slack, msg=question)
        truth = Truth(trace("host-bound"))
        first, = truth.db.execute("select min(start) from CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
        means = dict(truth.db.execute("select substr(value, 1, 6), avg(end - start) from CUPTI_ACTIVITY_KIND_KERNEL join StringIds on id = shortName where value glob 'step_[ab]*' group by 1"))
        for question, yes in (("is step_a faster than step_b", means["step_a"] < means["step_b"]), ("is step_b slower than step_a", means["step_b"] > means["step_a"])):
            self.assertTrue(self.said("host-bound", question).startswith("Yes: " if yes else "No: "), question)
        calls = {name: (count, mean) for name, count, mean in truth.db.execute("select substr(value, 1, instr(value || '_v', '_v') - 1), count(*), avg(end - start) "
                                                                              "from CUPTI_ACTIVITY_KIND_RUNTIME join StringIds on id = nameId group by 1")}
        (one, (n, mean)), (other, (m, rest)) = sorted(calls.items(), key=lambda call: -call[1][0])[:2]
        for question, yes in ((f"is {one} slower than {other}", mean > rest), (f"is {one} faster than {other}", mean < rest), (f"is {one} called more often than {other}", n > m)):
            said = self.said("host-bound", question)
            self.assertTrue(said.startswith("Yes: " if yes else "No: ") and f" {n:,} CUDA calls of {one}" in said and f" {m:,} CUDA calls of {other}" in said, (question, said))
        inside, = truth.db.execute("select count(*) from CUPTI_ACTIVITY_KIND_KERNEL join StringIds on id = shortName where value glob 'step_a*' and start >= ? and start < ? + 5000000", (first, first)).fetchone()
        at = first / 1e9
        self.assertIn(str(inside), self.said("host-bound", f"how many times does step_a run between {at:.9f} s and {at + 0.005:.9f} s").split()[0])

    def test_one_number_of_what_is_named_and_limited(self):
        """Any kind of event, limited by name, length, size, GPU, process and time, and any number of it: against the export itself."""
        def truth(name, sql):
            return sqlite3.connect(f"file:{trace(name)}?mode=ro", uri=True).execute(sql).fetchall()
        calls = "from CUPTI_ACTIVITY_KIND_RUNTIME join StringIds on id = nameId where "
        kernels = "from CUPTI_ACTIVITY_KIND_KERNEL join StringIds on id = shortName where "
        ranges = "from NVTX_EVENTS where end is not null and "
        begin = "(select min(start) from CUPTI_ACTIVITY_KIND_KERNEL)"
        whole = Truth(trace("host-bound"))
        end = max(op[2] for op in whole.operations())
        middle = end - whole.window() // 2
        size, = truth("copy-bound", "select bytes from CUPTI_ACTIVITY_KIND_MEMCPY group by 1 order by count(*) desc limit 1")[0]
        pid, = truth("training", "select max(globalPid / 0x1000000 % 0x1000000) from CUPTI_ACTIVITY_KIND_KERNEL")[0]
        for name, question, sql in (
                ("host-bound", "how many cudaLaunchKernel calls took more than 5 us", f"count(*) {calls} value glob 'cudaLaunchKernel_*' and end - start > 5000"),
                ("host-bound", "wie lange dauert cudaStreamSynchronize im mittel in the first 1 s", f"avg(end - start) {calls} value glob 'cudaStreamSynchronize_*'"),
                ("host-bound", "how many kernels in the first half of the capture", f"count(*) from CUPTI_ACTIVITY_KIND_KERNEL where start < {middle}"),
                ("host-bound", "cudaLaunchKernel calls in the second half", f"count(*) {calls} value glob 'cudaLaunchKernel_*' and start >= {middle} and start < {end}"),
                ("host-bound", "what fraction of kernels take longer than 20 us", "100.0 * avg(end - start > 20000) from CUPTI_ACTIVITY_KIND_KERNEL"),
                ("host-bound", "how much does it cost on GPU 0 between 1 s and 2 s per kernel", "avg(end - start) from CUPTI_ACTIVITY_KIND_KERNEL where start >= 1000000000 and start < 2000000000"),
                ("host-bound", "average launch latency", "avg(k.start - r.start) from CUPTI_ACTIVITY_KIND_KERNEL k join CUPTI_ACTIVITY_KIND_RUNTIME r on r.correlationId = k.correlationId and r.globalTid / 0x1000000 = k.globalPid / 0x1000000"),
                ("host-bound", "how many threads make cuda calls", "count(distinct globalTid) from CUPTI_ACTIVITY_KIND_RUNTIME"),
                ("copy-bound", "how many copies between 1 KB and 2 MB", "count(*) from CUPTI_ACTIVITY_KIND_MEMCPY where bytes between 1000 and 2000000"),
                ("copy-bound", f"how many copies are exactly {size} bytes", f"count(*) from CUPTI_ACTIVITY_KIND_MEMCPY where bytes = {size}"),
                ("copy-bound", f"how many copies of at least {size} bytes", f"count(*) from CUPTI_ACTIVITY_KIND_MEMCPY where bytes >= {size}"),
                ("copy-bound", "what percentage of copies is pageable", "100.0 * avg(srcKind = 0 or dstKind = 0) from CUPTI_ACTIVITY_KIND_MEMCPY"),
                ("copy-bound", "average duration of copies larger than 1 MB", "avg(end - start) from CUPTI_ACTIVITY_KIND_MEMCPY where bytes > 1000000"),
                ("training", "how many gemm kernels in forward", f"count(*) from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds on id = k.shortName where value like 'nvjet%' and exists (select 1 from CUPTI_ACTIVITY_KIND_RUNTIME r "
                                                                 "join NVTX_EVENTS n on n.globalTid = r.globalTid and r.start between n.start and n.end where r.correlationId = k.correlationId and r.globalTid / 0x1000000 = k.globalPid / 0x1000000 "
                                                                 "and coalesce(n.text, (select value from StringIds where id = n.textId)) = 'forward')"),
                ("host-bound", "cuda calls < 4 us", f"count(*) {calls} end - start < 4000"),
                ("host-bound", "p95 of step_a", None),
                ("host-bound", "shortest step_a in the first 10 ms", f"min(end - start) {kernels} value glob 'step_a*' and start >= {begin} and start < {begin} + 10000000"),
                ("host-bound", "how many kernels after the first kernel", f"count(*) {kernels} 1"),
                ("host-bound", "how many different cuda calls are used", f"count(distinct value) {calls} 1"),
                ("copy-bound", "average h2d copy larger than 1 MB", "avg(bytes) from CUPTI_ACTIVITY_KIND_MEMCPY where copyKind = 1 and bytes > 1000000"),
                ("copy-bound", "what share of copies is smaller than 2 MB", "100.0 * avg(bytes < 2000000) from CUPTI_ACTIVITY_KIND_MEMCPY"),
                ("training", "number of nvtx ranges longer than 1 ms", f"count(*) {ranges} end - start > 1000000"),
                ("training", "count of allreduce kernels longer than 1 ms on gpu 1", f"count(*) {kernels} value like '%AllReduce%' and end - start > 1000000 and deviceId = 1"),
                ("training", f"how many kernels has pid {pid}", f"count(*) {kernels} globalPid / 0x1000000 % 0x1000000 = {pid}"),
                ("training", "what percentage of cuda calls time is cudaLaunchKernel", f"100.0 * sum((end - start) * (value glob 'cudaLaunchKernel_*')) / sum(end - start) {calls} 1")):
            with self.subTest(question, trace=name):
                answer = ask(artifacts(name), question)
                self.assertIn(answer["intents"], (["measure"], ["relation"]), answer["answer"])
                if sql:
                    value, slack = first_number(answer["answer"][0]["text"])
                    self.assertAlmostEqual(value, truth(name, f"select {sql}")[0][0], delta=slack)
        self.assertRegex(self.said("training", "kernels longer than 20 us per gpu"), r"; GPU \d [\d,]+ \([\d.]+ \w+\), GPU \d ")
        self.assertTrue(self.said("training", "how many os calls are longer than 1 ms").startswith("Nothing recorded answers that: the trace has no OS runtime calls"))

    def test_a_saving_names_what_it_is_a_share_of(self):
        saved = self.said("steps", "how much faster could it be")
        self.assertRegex(saved, r"^At most [\d.]+ % of the capture \(")

    def test_an_ordinary_word_is_no_part_of_a_name(self):
        """aten::linear has no word "line"."""
        self.assertNotIn("named_range", ask(artifacts("pytorch-like"), "what cmd line was profiled")["intents"])

    def test_a_name_beside_one_that_is_missing(self):
        said = [s["text"] for s in ask(artifacts("alloc-churn"), "how many cudaMallocHost and cudaFree calls")["answer"]]
        self.assertIn('Nothing in the trace is called "cudaMallocHost"', said[0])
        self.assertTrue(any(text.startswith("60 CUDA calls of cudaFree,") for text in said), said)

    def test_what_is_only_told_changes_no_answer(self):
        """A sentence, a clause or a number that tells what was seen; what somebody means instead is asked."""
        place = artifacts("host-bound")
        for told, asked in (("how many streams are used? looks like a small zorble", "how many streams are used"), ("are there more kernels than copies - it seems to zorble", "are there more kernels than copies"),
                            ("it should be zorbled. why is the GPU idle?", "why is the GPU idle"), ("why is the GPU idle a quarter of the time", "why is the GPU idle"),
                            ("why does it take 3 seconds when the GPU is idle", "why is the GPU idle"), ("which range zorbles? i mean step_a vs step_b", "step_a vs step_b")):
            with self.subTest(told):
                self.assertEqual(ask(place, told)["answer"], ask(place, asked)["answer"])
        self.assertIn("zorble", json.dumps(ask(place, "how many streams are used? looks like a small zorble")["cannot_tell"]))

    def test_two_questions_in_one(self):
        """The second is about what the first names, however it is called there."""
        both = self.said("host-bound", "which kernels ran and how long did each take")
        self.assertNotIn("may need a question", both)
        self.assertIn("step_a", both)
        fills = self.said("shapes", "how many kernels ran? do they fill the gpu")
        self.assertRegex(fills, r"(Yes|No): [\d,]+ of [\d,]+ kernels have fewer blocks")
        self.assertNotIn("may need a question", self.said("copy-bound", "how many cudaMemcpyAsync calls are there, and which directions"))

    def test_work_that_is_compared_and_work_that_were_gone(self):
        truth = Truth(trace("copy-bound"))
        kernels = truth.kernels("sum(end - start)")
        copies = truth.one("select sum(end - start) from CUPTI_ACTIVITY_KIND_MEMCPY", "MEMCPY")
        said = self.said("copy-bound", "how much time is spent in memcpy vs kernels")
        more, less = re.search(r"more: (\S+ \w+) against (\S+ \w+)", said).groups()
        for text, expected in ((more, max(kernels, copies)), (less, min(kernels, copies))):
            value, slack = first_number(text)
            self.assertAlmostEqual(value, expected, delta=slack)
        active, idle = json.loads(run("sql", artifacts("host-bound"), "select active_ns, idle_ns from gpu_active", "--format", "json").stdout)["rows"][0]
        self.assertTrue(self.said("host-bound", "theoretical speedup if all idle time was gone").startswith(f"At most {active / (active - idle):.2f}".rstrip("0") + " times as fast"))

    def test_what_a_call_costs_the_gpu_comes_first(self):
        saving, = json.loads(run("sql", artifacts("host-bound"), "select human(saving_ns, 'ns') from findings where place like 'cudaStreamSynchronize%' and saving_ns > 0 and share_of = 'active time' order by finding limit 1",
                                 "--format", "json").stdout)["rows"][0]
        for question in ("could we get rid of cudaStreamSynchronize, what would that bring", "why is cudaStreamSynchronize called so often, and what does it cost us"):
            said = self.said("host-bound", question)
            self.assertTrue(said.startswith(f"At most {saving}"), said)
            self.assertNotIn("Nothing recorded", said)

    def test_numbers_in_words(self):
        place = artifacts("host-bound")
        for words, digits in (("how many kernels in the first two ms", "how many kernels in the first 2 ms"), ("kernels longer than five us", "kernels longer than 5 us")):
            self.assertEqual(ask(place, words)["answer"], ask(place, digits)["answer"])

    def test_two_numbers_with_limits_of_their_own(self):
        sizes = [row[0] for row in sqlite3.connect(trace("copy-bound")).execute("select bytes from CUPTI_ACTIVITY_KIND_MEMCPY")]
        said = [s["text"] for s in ask(artifacts("copy-bound"), "how many bytes per copy on average, and how many are below 1 MB")["answer"]]
        value, slack = first_number(said[0])
        self.assertAlmostEqual(value, statistics.mean(sizes), delta=slack)
        self.assertTrue(said[1].startswith(f"{sum(size < 1e6 for size in sizes):,} cop"), said)

    def test_the_last_seconds_of_a_program(self):
        """They end where the session does, not with the work on GPUs."""
        end, = Truth(trace("pause")).db.execute("select duration from ANALYSIS_DETAILS").fetchone()
        self.assertIn(f" to {end // 1000 / 1e6:.6f} s", self.said("pause", "what does the program do in the last 10 ms"))

    def test_the_gap_between_two_kernels(self):
        self.assertEqual(self.said("host-bound", "how much time passes between two step_a kernels"), self.said("host-bound", "gap between consecutive step_a kernels"))

    def test_verdicts_are_about_what_is_asked(self):
        """Yes where the opposite is asked is no."""
        self.assertTrue(self.said("host-bound", "does the cpu keep up with the gpu").startswith("No: "))
        self.assertTrue(self.said("host-bound", "is it gpu bound or cpu bound").startswith("By the CPU: "))
        self.assertTrue(self.said("copy-bound", "is there unpinned memory involved").startswith("Yes: "))
        self.assertTrue(self.said("host-bound", "is the gpu waiting for the host").startswith("Yes: "))
        self.assertNotIn("MIG", ask(support.artifacts(edited("host-bound", "update TARGET_INFO_GPU set name = name || ' MIG 2g.12gb'")), "is the mig slice fully used")["answer"][0]["text"])
        self.assertRegex(self.said("host-bound", "is step_a slower than step_b and by what factor"), "^(Yes|No|Hardly): step_")

    def test_gpus_of_the_machine(self):
        """Those without work count, too; others that cannot run CUDA (no SMs) do not."""
        copy = ["create table other as select * from TARGET_INFO_GPU", "update other set id = id + 1, cuDevice = cuDevice + 1",
                "insert into TARGET_INFO_GPU select * from other", "update other set id = id + 1, cuDevice = cuDevice + 1, smCount = 0, clockRate = 0, totalMemory = 0",
                "insert into TARGET_INFO_GPU select * from other", "drop table other"]
        two = support.artifacts(edited("host-bound", *copy))
        self.assertEqual(support.read_csv(two, "gpus")[0]["machine_gpus"], "2")
        self.assertIn("sqlite: 1 of the machine's 2 GPUs (", (two / "report.md").read_text())
        self.assertEqual([line["text"] for line in ask(two, "how many gpus does the machine have, and which one was used")["answer"]],
                         ["The machine has 2 GPUs.", "1 GPU has work in this capture: GPU 0 (NVIDIA H100 80GB HBM3)."])
        none = support.artifacts(edited("host-bound", "drop table TARGET_INFO_GPU"))
        self.assertTrue(ask(none, "how many gpus does the machine have")["answer"][0]["text"].startswith("How many GPUs the machine has is not known"))

    def test_a_part_of_a_name_with_digits(self):
        place = support.artifacts(edited("host-bound", "update StringIds set value = 'grid/conv1/x' where id = (select demangledName from CUPTI_ACTIVITY_KIND_KERNEL limit 1)"))
        self.assertRegex(ask(place, "how long does conv1 take")["answer"][0]["text"], r" total: \d+ kernels? of grid/conv1/x")

    def test_which_process_begins_first(self):
        truth = Truth(trace("training"))
        first = min(truth.operations(), key=lambda op: op[1])
        self.assertTrue(self.said("training", "which process started first on the gpu").startswith(f"Process {first[3] // 0x1000000 % 0x1000000} begins first, at {first[1] // 1000 / 1e6:.6f} s"))

    def test_times_that_are_told_are_no_limits(self):
        place = artifacts("host-bound")
        for told, asked in (("why does cudaStreamSynchronize take more than a second", "why does cudaStreamSynchronize take"), ("where do the 2.9 seconds go before anything runs", "where does time go before anything runs")):
            self.assertEqual(ask(place, told)["facts"][0]["text"], ask(place, asked)["facts"][0]["text"], told)

    def test_when_the_work_ends(self):
        for name in ("host-bound", "copy-bound"):
            end = max(op[2] for op in Truth(trace(name)).operations())
            self.assertTrue(self.said(name, "when does the last GPU operation finish").startswith(f"{end // 1000 / 1e6:.6f} s"), name)

    def test_nothing_of_cuda_lies_before_the_first_call(self):
        self.assertNotRegex(self.said("host-bound", "what happens during the first 900 s before any cuda call"), r"\d CUDA calls? in that time")

    def test_a_sampled_function_is_found_by_its_name(self):
        stacks, within = json.loads(run("sql", artifacts("cpu-work"), "select count(*), sum(exists (select 1 from callchain_frames f where f.callchain_id = s.callchain_id and f.symbol like '%memcpy_avx%')) from sample_events s",
                                        "--format", "json").stdout)["rows"][0]
        self.assertTrue(self.said("cpu-work", "how long does __memcpy_avx_unaligned_erms take").startswith(f"{within:,} of {stacks:,} samples"))

    def test_a_gap_of_that_length(self):
        gap, human = json.loads(run("sql", artifacts("host-bound"), "select round(gap_ns / 1e6, 2), human(gap_ns, 'ns') from gpu_idle_gaps order by gap_ns desc limit 1 offset 2", "--format", "json").stdout)["rows"][0]
        self.assertIn(human + " on GPU", self.said("host-bound", f"what is the host doing during the {gap} ms pause"))

    def test_a_name_in_mixed_case_is_part_of_a_range(self):
        self.assertIn(" NVTX ranges (CPU time) of ExecutionContext::execute,", self.said("tensorrt-like", "p95 of the ExecutionContext range"))

    def test_two_names_are_two_answers(self):
        two = self.said("host-bound", "ratio of step_a to step_b")
        self.assertRegex(two, r"^1\.06 to 1 by time, 1\.05 to 1 by number: 21 kernels of step_a, .* average .*; 20 kernels of step_b, .* average ")

    def test_a_verdict_is_what_findings_say(self):
        """A last clause that asks for nothing else leaves the rest to be answered alone; findings about it, or that there are none, follow."""
        for scenario, question, alone in (("tiny-copies", "avg h2d copy size, should i batch", "avg h2d copy size"), ("healthy", "how many h2d copies? is that bad", "how many h2d copies"),
                                          ("host-bound", "gpu util, ok?", "gpu util"), ("host-bound", "how often is step_a launched, worth fixing?", "how often is step_a launched")):
            with self.subTest(question):
                said = [sentence["text"] for sentence in ask(artifacts(scenario), question)["answer"]]
                self.assertTrue(self.said(scenario, alone).startswith(said[0]), said)
                self.assertEqual(sum("finding about it: " in text or text == "No finding is about it." for text in said), 1, said)

    def test_two_short_questions(self):
        """The second may be short, and joined by a letter; what the first answer shows is not said to be missing."""
        said = " ".join(s["text"] for s in ask(artifacts("host-bound"), "how many launches n how many syncs")["answer"])
        self.assertRegex(said, r"\d launch calls, .*\d synchronization calls, ")
        said = [s["text"] for s in ask(artifacts("host-bound"), "avg kernel time, launch bound?")["answer"]]
        self.assertRegex(said[0], r"^[\d.]+ µs is the average: \d+ kernels, ")
        self.assertRegex(said[1], r"^(Yes|No|Partly): ")
        for scenario, question in (("host-bound", "longest step_a kernel, when n how long"), ("host-bound", "step_a vs step_b, which is longer n how much"), ("training", "allreduce gpu0 vs gpu1, who spends more")):
            with self.subTest(question):
                said = " ".join(s["text"] for s in ask(artifacts(scenario), question)["answer"])
                self.assertNotIn("No answer", said)

    def test_which_one_and_its_share(self):
        """One kernel and its share, not that of all kernels in the work of GPUs."""
        said = self.said("host-bound", "which kernel eats the gpu time n what pct")
        name, = json.loads(run("sql", artifacts("host-bound"), "select short_name from kernels order by total_time_ns desc limit 1", "--format", "json").stdout)["rows"][0]
        self.assertIn(name, said)
        self.assertRegex(said, r" \d+\.\d %")

    def test_small_units(self):
        """"1kb" is 1 KB; idle for minutes is a pause, and its length is told."""
        self.assertEqual(self.said("tiny-copies", "how many h2d copies under 1kb"), self.said("tiny-copies", "how many h2d copies under 1 KB"))
        self.assertTrue(self.said("pause", "why is the gpu idle for 30 s").startswith("A pause of "))

    def test_ranges_in_others_are_none_of_their_own(self):
        """The first and the second "linear": not one and the addmm-like range inside of it that has the word, too."""
        path = edited("training", "update NVTX_EVENTS set text = 'aten::linear::inner' where text like 'aten::addmm%'")
        said = ask(support.artifacts(path), "1st linear vs 2nd linear which is slower")["answer"][0]["text"]
        begins = [float(at) for at in re.findall(r"from ([\d.]+) s to", said)]
        with contextlib.closing(sqlite3.connect(path)) as db:
            outer = [start for start, in db.execute("select start from NVTX_EVENTS n where coalesce(n.text, (select value from StringIds where id = n.textId)) like 'aten::linear%' and coalesce(n.text, (select value from StringIds where id = n.textId)) not like '%inner%' order by start limit 2")]
        for at, start in zip(begins, outer, strict=True):
            self.assertAlmostEqual(at, start / 1e9, delta=1e-5)

    def test_an_event_is_known_by_its_length(self):
        name, ns = json.loads(run("sql", artifacts("host-bound"), "select name, end_ns - start_ns from api_events order by 2 desc limit 1", "--format", "json").stdout)["rows"][0]
        said = " ".join(s["text"] for s in ask(artifacts("host-bound"), f"whats that {ns / 1e6:.2f} ms thing at the start")["answer"])
        self.assertIn(f": CUDA call {name}, from ", said)

    def test_samples_without_symbols_are_told_by_their_library(self):
        path = edited("cpu-work", "insert into StringIds (id, value) values (900001, '0x7f0012345678'), (900002, '/usr/lib/libfoo.so.1')",
                      "update SAMPLING_CALLCHAINS set symbol = 900001, module = 900002 where stackDepth = 0")
        self.assertIn("libfoo.so.1 (no symbols) 100.0 %", " ".join(s["text"] for s in ask(support.artifacts(path), "which cpu function is hottest in the samples")["answer"]))

    def test_stages_of_serving(self):
        rows = json.loads(run("sql", artifacts("serving"), "select 100.0 * sum(busy_ns) / sum(period_ns), count(*), max(span_ns) from serving_steps where kind = 'decode' and state = 'steady' "
                              "and pid = (select pid from serving_engines)", "--format", "json").stdout)["rows"][0]
        self.assertTrue(self.said("serving", "gpu utilization during decode").startswith(f"{rows[0]:.1f} % busy"))
        self.assertTrue(self.said("serving", "how many decode steps").startswith(f"{rows[1]} steps"))
        self.assertRegex(self.said("serving", "what kernel is slowest inside decode"), '^No answer accounts for "(inside", ")?decode"')

    def test_a_capture_without_a_gpu_does_not_speak_of_one(self):
        with_calls = self.said("nvtx-only", "how long is the capture")
        self.assertNotIn("operation on a GPU", with_calls)
        self.assertTrue(self.said("nvtx-only", "is it multi-gpu").startswith("Unknown"))
        self.assertTrue(self.said("nvtx-only", "what was not traced").startswith("Not traced: "))

    def test_ranges_without_kernels(self):
        name, = json.loads(run("sql", artifacts("nvtx-only"), "select range_name from nvtx_ranges limit 1", "--format", "json").stdout)["rows"][0]
        said = self.said("nvtx-only", f'how long is "{name}"')
        self.assertIn(" total: ", said)
        self.assertNotIn("kernel", said)

    def test_repetitions_where_no_steps_are(self):
        place = artifacts("layers")
        units = json.loads(run("sql", place, "select kernel_count from repeating_units", "--format", "json").stdout)["rows"]
        self.assertIn(f"A repetition of {units[0][0]} kernels takes ", self.said("layers", "how long is a step"))

    def test_one_and_none(self):
        self.check_one_and_none("minimal")

    @support.tier("ci")
    def test_one_and_none_without_a_gpu(self):
        self.check_one_and_none("nvtx-only")

    def check_one_and_none(self, name):
        for question in ONE_EACH:
            answer = ask(artifacts(name), question)
            text = json.dumps([answer["facts"], answer["answer"]])
            self.assertIsNone(re.search(r"[^\d.,]1 (copies|calls|kernels|blocks|times|instances|launches|steps|ranges|gaps|parts)\b", text), (name, question, text))
            self.assertNotIn("n/a", text, (name, question))


class Honesty(unittest.TestCase):
    def test_what_is_not_recorded_is_said(self):
        answer = ask(artifacts("no-nvtx"), "which layer takes the most time")
        self.assertTrue(answer["answer"][0]["text"].startswith("Nothing recorded answers that: the trace has no NVTX"), answer)
        self.assertIn("nsys profile --trace=cuda,nvtx", json.dumps(answer["cannot_tell"]))
        self.assertIn("no memory allocations", ask(artifacts("host-bound"), "do we run out of memory")["answer"][0]["text"])

    def test_what_is_not_understood_is_said(self):
        answer = ask(artifacts("host-bound"), "foo bar baz")
        self.assertEqual((answer["intents"], answer["facts"], answer["advice"]), ([], [], None))
        self.assertEqual(answer["answer"][0]["text"], 'Not understood: "foo", "bar", "baz".')
        self.assertTrue(answer["answer"][1]["text"].startswith("What can be asked, for example: "))
        self.assertIn('Not understood: "frobnicated".', json.dumps(ask(artifacts("host-bound"), "how many kernels are frobnicated")["answer"]).replace("\\", ""))

    def test_each_word_is_answered_or_said_to_be_left_out(self):
        """A word that changes what is asked and that no answer applies comes first: a number of more than was asked has to say so."""
        for question, words in (("how much time do the copies take without the kernels", ("without",)), ("cudaStreamSynchronize time while the gpu was idle", ("idle",)),
                                ("average time between two launches of step_a", ("between",)), ("mean h2d throughput excluding tiny copies", ("excluding",)),
                                ("how many copies before the second kernel", ("before", "second")), ("is step_a slower in the second process", ("second",)),
                                ("number of syncs while copies run", ("while",)), ("median kernel duration outside of step_a", ("outside",))):
            answer = ask(artifacts("host-bound"), question)
            said = [s["text"] for s in answer["answer"]]
            for word in words:
                self.assertIn(f'"{word}"', said[0], question)
            self.assertTrue(not answer["facts"] or LEFT_OUT in said[0], said)
            self.assertEqual(LEFT_OUT in said[0], any("the facts leave that out" in s["text"] for s in answer["cannot_tell"]), question)
            self.assertNotRegex(" ".join(said), "(Yes|No|Partly): ", question)
        self.assertEqual([s["text"] for s in ask(artifacts("host-bound"), "can the tiny memcpys be frobnicated")["answer"]], [f'No answer accounts for "frobnicated": {LEFT_OUT}', "Nothing recorded answers that."])

    def test_a_part_of_a_question_is_answered_beside_what_is_left_out(self):
        """Of a name, or of more words than are left out; the facts are those of the question without these words."""
        for question, rest, left in (("is it ok that cudaStreamSynchronize is called before every launch", "cudaStreamSynchronize", ("before", "every", "launch")),
                                     ("can the tiny memcpys be frobnicated", "tiny memcpys", ("frobnicated",))):
            part, whole = (ask(artifacts("training"), text) for text in (question, rest))
            self.assertEqual((part["facts"][0]["table"], part["facts"][0]["row"]), (whole["facts"][0]["table"], whole["facts"][0]["row"]), question)
            said = [s["text"] for s in part["answer"]]
            self.assertIn(LEFT_OUT, said[0])
            for word in left:
                self.assertIn(f'"{word}"', said[0], question)

    def test_a_doubtful_answer_is_none(self):
        """As many words that are left out as others, and none of them a name."""
        for question in ("is cudnn frobnicated or zorbled", "is there a frobnicated thread", "did any process zorble"):
            self.assertEqual(ask(artifacts("training"), question)["intents"], [], question)

    def test_a_word_with_digits_is_not_passed_over(self):
        self.assertEqual(ask(artifacts("training"), "is nccl overlapped with zorb2zorb")["answer"][0]["text"], f'No answer accounts for "zorb2zorb": {LEFT_OUT}')

    def test_known_words_that_are_left_out_do_not_silence_a_phrase(self):
        said = [s["text"] for s in ask(artifacts("host-bound"), "hot functions on the cpu before each prefill")["answer"]]
        self.assertIn(LEFT_OUT, said[0])

    def test_yes_and_no_need_the_whole_question(self):
        for question, sure in (("is nccl overlapped", True), ("is nccl overlapped with frobnication", False), ("is nccl overlapped on the disk", False)):
            said = " ".join(s["text"] for s in ask(artifacts("training"), question)["answer"])
            self.assertEqual((bool(re.search("(Yes|No|Partly): ", said)), LEFT_OUT in said), (sure, not sure), said)

    def test_the_begin_of_a_name_of_a_kernel(self):
        place = support.artifacts(edited("host-bound", "update StringIds set value = 'GrayscaleKernel' where id = (select demangledName from CUPTI_ACTIVITY_KIND_KERNEL limit 1)"))
        said = [s["text"] for s in ask(place, "how long does grayscale take")["answer"]]
        self.assertRegex(said[0], r" total: \d+ kernels? of GrayscaleKernel", said)

    def test_a_slice_of_a_gpu(self):
        place = support.artifacts(edited("host-bound", "update TARGET_INFO_GPU set name = name || ' MIG 2g.12gb'"))
        self.assertTrue(ask(place, "is MIG enabled")["answer"][0]["text"].startswith("Yes: GPU 0 is a MIG slice"))
        self.assertTrue(ask(place, "is MPS enabled")["answer"][0]["text"].startswith("Not recorded"))

    def test_of_another_collective_is_no_answer(self):
        """Only all-reduces are large enough for their bandwidth to say something of the link."""
        self.assertIn("AllReduce", " ".join(s["text"] for s in ask(artifacts("collectives"), "bandwidth of all-reduce")["answer"]))
        said = " ".join(s["text"] for s in ask(artifacts("collectives"), "bandwidth of all-gather")["answer"])
        self.assertNotIn("AllReduce", said)
        self.assertIn("AllGather from 1.0 MiB on", said)

    def test_a_weak_word_beside_unknown_ones_is_not_enough(self):
        self.assertEqual(ask(artifacts("host-bound"), "is the kernel a penguin")["intents"], [])

    def test_a_name_that_is_not_there_is_all_that_is_said(self):
        answer = ask(artifacts("host-bound"), "how many cudaMalloc3D calls are there")
        self.assertEqual([s["text"] for s in answer["answer"]], ['Nothing in the trace is called "cudaMalloc3D": no kernel, NVTX range, CUDA call or thread.'])

    def test_spelling_is_forgiven(self):
        place = artifacts("host-bound")
        for wrong, right in {"wich kernal is slowst": "which kernel is slowest", "gpu utlization": "gpu utilization", "how many straems": "how many streams", "H2D bandwith": "H2D bandwidth",
                             "is it luanch bound": "is it launch bound", "memroy leak": "memory leak", "wath is the ocupancy": "what is the occupancy"}.items():
            with self.subTest(wrong):
                answer, meant = ask(place, wrong), ask(place, right)
                self.assertEqual((answer["intents"], answer["answer"][0]), (meant["intents"], meant["answer"][0]))
                self.assertIn("Read \"", " ".join(s["text"] for s in answer["answer"]))
        for other in ("how many requests were served", "what happens during sampling"):
            self.assertNotIn("Read \"", json.dumps(ask(place, other)), "an inflected word is no mistake")

    def test_names_of_the_trace_are_no_misspellings(self):
        """A range called `forwrad` is that range."""
        copy = fresh_dir() / "named.sqlite"
        shutil.copy(trace("training"), copy)
        with contextlib.closing(sqlite3.connect(copy)) as db, db:
            db.execute("update NVTX_EVENTS set text = 'forwrad' where text = 'forward'")
            db.execute("update StringIds set value = 'forwrad' where value = 'forward'")
        self.assertIn("of forwrad,", ask(support.artifacts(copy), "how long is forwrad")["answer"][0]["text"])
        self.assertIn("Read", json.dumps(ask(artifacts("training"), "how long is forwrad")["answer"]))

    def test_one_run_compares_nothing(self):
        answer = ask(artifacts("host-bound"), "is it slower than yesterday")
        self.assertEqual(answer["facts"], [])
        self.assertIn("nsys-ai compare OTHER", answer["next"][0]["text"])

    def test_an_empty_trace(self):
        for question in ("why is it slow", "why is my GPU idle", "what is the slowest kernel", "compare with yesterday"):
            ask(artifacts("empty"), question)


class Printing(unittest.TestCase):
    def test_text(self):
        place = artifacts("host-bound")
        text = run("ask", place, "why", "is", "my", "GPU", "idle").stdout
        for heading in ("Question: why is my GPU idle\n", "\nAnswer\n", "\nWhat to do\n", "\nEvidence\n  F1  ", "\nNext\n"):
            self.assertIn(heading, text)
        self.assertEqual(text, run("ask", place, "why is my GPU idle").stdout)
        self.assertLessEqual(max(map(len, text.split("\nNext\n")[0].splitlines())), 120)

    def test_a_text_is_checked(self):
        place = artifacts("host-bound")
        text = run("ask", place, "why is my GPU idle", "--check", "1. Idle for 29.6 ms [F1], of 77 ms [F1].\nThat is 53.9 %. So says [F99\x1b[31m].\n[F99] too.").stdout
        self.assertEqual(text, "Numbers\n  29.6 ms: supported; it is in F1\n  77 ms: not in the cited facts\n  53.9 %: no fact is cited; it is in F1\n"
                               "  31: no fact is cited\n  [F99]: cites a fact that the answer does not have\n1 of 5 supported\n")
        done = run("ask", place, "why is my GPU idle", "--check", "GPU 0 is idle for 29.6 ms [F1], GPU 4711 is not [F1].").stdout
        self.assertEqual(done, "Numbers\n  29.6 ms: supported; it is in F1\n  4711: not in the cited facts\n1 of 2 supported\n")
        self.assertEqual(run("ask", place, "why is my GPU idle", "--check", "Nothing.").stdout, "Numbers\n  none\n0 of 0 supported\n")

    def test_what_is_proposed_works(self):
        place = artifacts("training")
        seen = set()
        for question in ("why is my GPU idle", "what is the slowest kernel", "is NCCL overlapped", "are my copies pinned", "which layer is slow", "where do we block",
                         "can I trust this trace", "why is it slow", "launch overhead", "how long is a step"):
            for command in ask(place, question)["next"]:
                words = shlex.split(command["text"])
                if "OTHER" not in words and command["text"] not in seen:
                    seen.add(command["text"])
                    self.assertEqual(words[0], "nsys-ai")
                    run(*words[1:])
        self.assertGreater(len(seen), 8)

    def test_a_trace_is_a_source(self):
        done = run("ask", trace("host-bound"), "why is my GPU idle")
        self.assertIn("F1  gpu_active[0]", done.stdout)

    def test_hostile_names(self):
        place = artifacts("hostile")
        for question in ("what is the slowest kernel", "why is it slow", "which layer takes the time"):
            text = run("ask", place, question).stdout
            self.assertFalse(re.search("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u202e]", text), question)
            self.assertNotIn("CANARY", text)

    def test_hostile_questions(self):
        place = artifacts("host-bound")
        for question in ("'; drop table kernels; --", '"', "`" * 50, "{{x}} [F1] %s %n", "\x1b[31mred\x1b[0m idle", "a" * 1900, "_" * 60, "é" * 300, "gpu 99999", "gpu gpu gpu", "::", "*", "idle " * 300, "between 999999999 s and 999999999 s",
                         "last 999999999 s", "top 999999 kernels", "first 0 ms", "@times & !@count", "a & b", "$", "gpu $ gpu"):
            done = run("ask", place, question)
            self.assertNotIn("\x1b", done.stdout)
        self.assertIn("at most 2000 bytes", ask(place, "a" * 2001, status=2))
        self.assertIn("question is empty", ask(place, " ", status=2))


def union(intervals):
    total, end = 0, None
    for a, b in sorted(intervals):
        total += max(0, b - (a if end is None else max(a, end)))
        end = b if end is None else max(b, end)
    return total


CALLED = "(select value from StringIds where id = nameId)"


class Truth:
    """What a trace says to SQL, for questions whose answer begins with a number or with yes or no."""
    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.tables = {row[0] for row in self.db.execute("select name from sqlite_master where type = 'table'")}

    def rows(self, statement, needs="KERNEL"):
        return self.db.execute(statement).fetchall() if f"CUPTI_ACTIVITY_KIND_{needs}" in self.tables else []

    def one(self, statement, needs="KERNEL"):
        rows = self.rows(statement, needs)
        return (rows[0][0] or 0) if rows else 0

    def kernels(self, what, where="1"):
        return self.one(f"select {what} from CUPTI_ACTIVITY_KIND_KERNEL where {where}")

    def copies(self, what, kind):
        return self.one(f"select {what} from CUPTI_ACTIVITY_KIND_MEMCPY where copyKind = {kind}", "MEMCPY")

    def memsets(self, what):
        return self.one(f"select {what} from CUPTI_ACTIVITY_KIND_MEMSET", "MEMSET")

    def operations(self):
        for kind in ("KERNEL", "MEMCPY", "MEMSET"):
            yield from self.rows(f"select deviceId, start, end, globalPid, contextId, streamId from CUPTI_ACTIVITY_KIND_{kind}", kind)

    def longest_gap(self):
        best, end = 0, {}
        for device, a, b, *_ in sorted(self.operations()):
            best = max(best, a - end.get(device, a))
            end[device] = max(b, end.get(device, b))
        return best

    def window(self):
        spans = [row[1:3] for row in self.operations()]
        return max(b for _, b in spans) - min(a for a, _ in spans)

    def short(self, ns):
        return self.kernels("count(*)", f"end - start < {ns}")

    def gpus(self):
        return len({row[0] for row in self.operations()})

    def numbers(self):
        copy_ns = self.one("select sum(end - start) from CUPTI_ACTIVITY_KIND_MEMCPY where copyKind not in (11, 12)", "MEMCPY")
        calls = self.one("select count(*) from CUPTI_ACTIVITY_KIND_RUNTIME", "RUNTIME")
        known = {
            "how many kernels ran": self.kernels("count(*)"), "number of kernel launches": self.kernels("count(*)"), "how many different kernels are there": self.kernels("count(distinct demangledName)"),
            "total kernel time": self.kernels("sum(end - start)"), "average kernel duration": self.kernels("avg(end - start)"), "shortest kernel": self.kernels("min(end - start)"),
            "longest kernel": self.kernels("max(end - start)"), "how many kernels are shorter than 20 us": self.short(20000), "how many kernels are longer than 20 us": self.kernels("count(*)", "end - start > 20000"),
            "how many GPUs are there": self.gpus(), "how many streams are used": len({(d, p, c, s) for d, _, _, p, c, s in self.operations()}), "how long is the capture": self.window(),
            "longest idle gap": self.longest_gap(), "longest kernel launch call": self.one(f"select max(end - start) from CUPTI_ACTIVITY_KIND_RUNTIME where {CALLED} like '%launch%'", "RUNTIME"), "how many CUDA calls": calls, "how many memsets": self.memsets("count(*)"), "time in memsets": self.memsets("sum(end - start)"),
            "time spent in copies": copy_ns, "how many threads call CUDA": self.one("select count(distinct globalTid) from CUPTI_ACTIVITY_KIND_RUNTIME", "RUNTIME")}
        for kind, name in ((1, "host to device"), (2, "device to host"), (8, "device to device")):
            count, size, ns = (self.copies(what, kind) for what in ("count(*)", "sum(bytes)", "sum(end - start)"))
            if count:
                known |= {f"how many bytes {name}": size, f"how many copies {name}": count, f"how much time in {name} copies": ns, f"{name} bandwidth": size / ns * 1e9}
        return known


UNITS = {"": 1, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "GB/s": 1e9}


def first_number(text):
    """Its value in ns, bytes or bytes per second, and half of the last digit that is written."""
    number, unit = re.match(r"([\d,]+(?:\.\d+)?)(?: (ns|µs|ms|s|B|KiB|MiB|GiB|GB/s)\b)?", text).groups()
    digits = len(number.partition(".")[2])
    return float(number.replace(",", "")) * UNITS[unit or ""], 0.51 * 10 ** -digits * UNITS[unit or ""]


class Numbers(unittest.TestCase):
    """The number comes first, and is what SQL finds in the export."""
    def check_trace(self, path):
        place, truth = support.artifacts(path), Truth(path)
        for question, expected in truth.numbers().items():
            with self.subTest(question, trace=path.stem):
                said = ask(place, question)["answer"][0]["text"]
                value, slack = first_number(said)
                self.assertAlmostEqual(value, expected, delta=slack + 1, msg=said)

    def test_generated_traces(self):
        for name in ("training", "inference", "copy-bound"):
            self.check_trace(pathlib.Path(trace(name)))

    @support.tier("ci")
    def test_shared_traces(self):
        found = [path for path in (support.SHARED / "traces" / name for name in ("fsdp_2gpu.sqlite", "real/solver_nvtx_osrt_sched.sqlite", "real/jetson_orin.sqlite")) if path.exists()]
        if not found:
            self.skipTest("the shared traces are not here")
        for path in found:
            self.check_trace(path)

    def test_yes_or_no(self):
        for name in ("training", "inference", "copy-bound"):
            place, truth = artifacts(name), Truth(trace(name))
            pageable = truth.one("select sum(srcKind = 0 or dstKind = 0) from CUPTI_ACTIVITY_KIND_MEMCPY where copyKind in (1, 2)", "MEMCPY")
            streams = len({(d, s) for d, _, _, _, _, s in truth.operations()})
            graphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE" in truth.tables
            with self.subTest(name):
                self.assertEqual(ask(place, "do we copy from pageable memory")["answer"][0]["text"].partition(":")[0], "Yes" if pageable else "No")
                self.assertEqual(ask(place, "are CUDA graphs used")["answer"][0]["text"].startswith("No"), not graphs)
                if streams == truth.gpus():
                    self.assertTrue(ask(place, "do kernels run concurrently")["answer"][0]["text"].startswith("No"))

    def test_use_of_the_link(self):
        """Copies of 1 MiB or more of the kind of memory that copies longest, by their median rate; the H100's link carries 50 GB/s."""
        kinds = {}
        for source, to, size, ns in Truth(trace("copy-bound")).rows("select srcKind, dstKind, bytes, end - start from CUPTI_ACTIVITY_KIND_MEMCPY where copyKind in (1, 2)"):
            kinds.setdefault((source, to), []).append((size, ns))
        longest = max(kinds.values(), key=lambda copies: sum(ns for _, ns in copies))
        rate = statistics.median(size / ns for size, ns in longest if size >= 1 << 20)
        said = ask(artifacts("copy-bound"), "is PCIe saturated")["answer"][0]["text"]
        self.assertTrue(said.startswith("No: copies from Pageable"), said)
        self.assertAlmostEqual(float(re.search(r"reach ([\d.]+) GB/s of about 50.0", said)[1]), rate, delta=0.01)
        self.assertTrue(ask(artifacts("inference"), "is the PCIe bus saturated")["answer"][0]["text"].startswith("No"))

    def test_prefetching(self):
        moved = Truth(trace("train-first-touch")).copies("sum(bytes)", 11)
        said = ask(artifacts("train-first-touch"), "should I prefetch")["answer"][0]["text"]
        self.assertTrue(said.startswith(f"Yes: {moved / (1 << 20):.1f} MiB of {moved / (1 << 20):.1f} MiB of managed memory"), said)
        self.assertTrue(ask(artifacts("training"), "should I prefetch")["answer"][0]["text"].startswith("Not managed memory"))
        self.assertTrue(ask(artifacts("train-first-touch"), "did the prefetch help")["answer"][0]["text"].startswith("No: "))

    def test_a_numbered_range_of_several_words(self):
        """The whole name counts: no word of it is "not understood", and no other range has its answer."""
        path = edited("nvtx-mix", "INSERT INTO StringIds (id, value) VALUES (900001, 'Coarse Level 1'), (900002, 'Coarse Level 12')",
                      *(f"INSERT INTO NVTX_EVENTS (start, end, eventType, textId, globalTid) SELECT end + 1000, end + {ns}, eventType, {text}, globalTid "
                        "FROM NVTX_EVENTS WHERE end IS NOT NULL ORDER BY end DESC LIMIT 1" for text, ns in ((900001, 3001000), (900002, 7001000))))
        for level, time in ((1, "3.00 ms"), (12, "7.00 ms")):
            said = ask(support.artifacts(path), f"how long is Coarse Level {level}")["answer"]
            self.assertTrue(said[0]["text"].startswith(f"{time} total: 1 NVTX range (CPU time) of Coarse Level {level};"), said)

    def test_time_in_mpi(self):
        truth, calls = Truth(trace("mpi-ranks")), {}
        for table in (name for name in truth.tables if name.startswith("MPI_") and name.endswith("_EVENTS")):
            for thread, start, end in truth.db.execute(f"select globalTid, start, end from {table} where textId not in (select id from StringIds where value in ('MPI_Init', 'MPI_Finalize'))"):
                calls.setdefault(thread, []).append((start, end)) # a call may have rows within it
        value, slack = first_number(ask(artifacts("mpi-ranks"), "how much time in MPI")["answer"][0]["text"])
        self.assertAlmostEqual(value, max(map(union, calls.values())), delta=slack)
        self.assertTrue(ask(artifacts("training"), "is mpi used")["answer"][0]["text"].startswith("No MPI call is recorded"))

    def test_time_outside_of_a_kind(self):
        outside = Truth(trace("training")).kernels("sum(end - start)", "shortName not in (select id from StringIds where value like 'nvjet%')")
        for question in ("how much time is spent outside of gemms", "what runs outside of gemms", "kernel time other than matmul"):
            value, slack = first_number(ask(artifacts("training"), question)["answer"][0]["text"])
            self.assertAlmostEqual(value, outside, delta=slack)

    def test_a_window(self):
        """What runs between two points of time, of the session or from the start of GPU work."""
        truth, place = Truth(trace("training")), artifacts("training")
        start = min(row[1] for row in truth.operations())
        for base in (0, start):
            a, b = start + 10_000_000, start + 20_000_000
            answer = ask(place, f"what happens between {(a - start + base) / 1e9:.9f} s and {(b - start + base) / 1e9:.9f} s")
            device = answer["facts"][0]["values"][0]["value"]
            busy = union([(max(s, a), min(e, b)) for d, s, e, *_ in truth.operations() if d == device and s < b and e > a])
            count = truth.kernels("count(*)", f"deviceId = {device} and start < {b} and end > {a}")
            said = answer["answer"][0]["text"]
            self.assertIn(f"; {count} kernels", said)
            self.assertAlmostEqual(first_number(said)[0], 100 * busy / (b - a), delta=0.06)

    def test_a_window_around_something(self):
        """Before, during and after one of them; of several it has to be said which."""
        truth, place = Truth(trace("training")), artifacts("training")
        kernels = truth.db.execute("select k.start, k.end from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.shortName where s.value like 'nccl%'").fetchall()
        first, last, longest = min(kernels), max(kernels, key=lambda k: k[1]), max(kernels, key=lambda k: k[1] - k[0])
        copies = "select count(*) from CUPTI_ACTIVITY_KIND_MEMCPY where start >= ? and start < ?"
        for question, begin, end in (("how many copies happen before the first nccl kernel", 0, first[0]), ("how many copies happen after the last nccl kernel", last[1], 1 << 62),
                                     ("how many copies happen during the longest nccl kernel", *longest), ("how many copies are there until the first nccl kernel starts", 0, first[0])):
            said = [s["text"] for s in ask(place, question)["answer"]]
            self.assertRegex(said[0], r"^(Before|After|During|Until) the (first|last|longest) nccl kernel( starts)?: from \d+\.\d{6} s to \d+\.\d{6} s\.$")
            if begin:
                self.assertIn(f"from {begin // 1000 / 1e6:.6f} s", said[0])
            count, = truth.db.execute(copies, (begin, end)).fetchone()
            self.assertRegex(said[1], f"^{count} cop", question)
        self.assertIn('"before"', ask(place, "gaps before nccl kernels")["answer"][0]["text"])

    def test_a_window_between_two(self):
        """Of exactly two: "between the two kernels"."""
        place = support.artifacts(edited("host-bound", "delete from CUPTI_ACTIVITY_KIND_KERNEL where rowid not in (select rowid from CUPTI_ACTIVITY_KIND_KERNEL order by start limit 2)"))
        (_, end), (start, _) = Truth(trace("host-bound")).db.execute("select start, end from CUPTI_ACTIVITY_KIND_KERNEL order by start limit 2").fetchall()
        self.assertEqual(ask(place, "what happens between the two kernels")["answer"][0]["text"], f"Between the two kernels: from {end // 1000 / 1e6:.6f} s to {start // 1000 / 1e6:.6f} s.")
        self.assertNotIn("from", ask(artifacts("host-bound"), "what happens between the two kernels")["answer"][0]["text"])

        begin, end = (e for e in Truth(trace("host-bound")).db.execute("select start, end from CUPTI_ACTIVITY_KIND_KERNEL order by start limit 2").fetchall())
        self.assertEqual(ask(artifacts("host-bound"), "what happens on the cpu between the first and the second kernel")["answer"][0]["text"],
                         f"Between the first and the second kernel: from {begin[1] // 1000 / 1e6:.6f} s to {end[0] // 1000 / 1e6:.6f} s.")

    def test_a_window_up_to_a_time(self):
        truth, place = Truth(trace("training")), artifacts("training")
        kernels = [start for start, in truth.db.execute("select start from CUPTI_ACTIVITY_KIND_KERNEL order by start")]
        middle = kernels[len(kernels) // 2] // 1000 / 1e6
        for question in (f"how many kernels start before {middle} s", f"how many kernels run until {middle} s"):
            self.assertRegex(ask(place, question)["answer"][0]["text"], f"^{sum(start < middle * 1e9 for start in kernels):,} kernels that begin from 0.000000 s")
        place = support.artifacts(edited("host-bound", "delete from NVTX_EVENTS"))
        first = Truth(trace("host-bound")).one("select min(start) from CUPTI_ACTIVITY_KIND_RUNTIME") # nothing is recorded before it
        self.assertEqual(ask(place, "what happens before the first cuda call at 1.0 s")["answer"][0]["text"], f"Before the first cuda call at 1.0 s: from 0.000000 s to {first // 1000 / 1e6:.6f} s.")

    def test_how_many_gpus_there_are_is_told(self):
        place = artifacts("host-bound")
        for question, same in (("how many of the 7 GPUs did any work", "how many GPUs did any work"), ("which gpu out of the 4 was used", "which gpu was used")):
            self.assertEqual(*([s["text"] for s in ask(place, q)["answer"]] for q in (question, same)))

    def test_calls_that_take_longer_than_others(self):
        """By the shape of the launch: the same number of blocks may be another grid."""
        place = support.artifacts(edited("host-bound", "update CUPTI_ACTIVITY_KIND_KERNEL set gridX = 4, gridY = 6, end = start + 1000",
                                         "update CUPTI_ACTIVITY_KIND_KERNEL set gridX = 6, gridY = 4, end = start + 3000 where rowid % 2 and shortName = (select id from StringIds where value = 'step_a')"))
        said = ask(place, "why do some step_a calls take longer than the others")["answer"][0]["text"]
        slow, fast = (Truth(trace("host-bound")).one(f"select count(*) from CUPTI_ACTIVITY_KIND_KERNEL where rowid % 2 = {odd} and shortName = (select id from StringIds where value = 'step_a')") for odd in (1, 0))
        self.assertRegex(said, rf"{slow} calls of 6x4x1 blocks of [\dx]+ threads, median 3\.00 µs")
        self.assertRegex(said, rf"{fast} calls of 4x6x1 blocks of [\dx]+ threads, median 1\.00 µs")

    def test_calls_that_create(self):
        place = support.artifacts(edited("host-bound", "update StringIds set value = 'cudaStreamCreate_v3020' where id = (select nameId from CUPTI_ACTIVITY_KIND_RUNTIME order by start limit 1)"))
        count, total = Truth(trace("host-bound")).db.execute("select count(*), sum(end - start) from CUPTI_ACTIVITY_KIND_RUNTIME where nameId = (select nameId from CUPTI_ACTIVITY_KIND_RUNTIME order by start limit 1)").fetchone()
        said = ask(place, "what does creating and destroying the streams cost")["answer"][0]["text"]
        self.assertRegex(said, rf"^[\d.]+ .?s in {count} calls?: cudaStreamCreate")
        self.assertTrue(total)
        self.assertEqual(ask(place, "what does creating the events cost")["answer"][0]["text"], "No such call is recorded.")

    def test_functions_by_name(self):
        truth, place = Truth(trace("cpu-work")), artifacts("cpu-work")
        stacks = "from COMPOSITE_EVENTS e join SAMPLING_CALLCHAINS c on c.id = e.id join StringIds s on s.id = c.symbol where s.value "
        for name, symbol in (("augment", "augment(%"), ("__memcpy_avx_unaligned_erms", "__memcpy_avx_unaligned_erms")):
            within, own = truth.db.execute(f"select count(distinct e.id), sum(c.stackDepth = 0) {stacks} like ?", (symbol,)).fetchone()
            self.assertTrue(within)
            said = ask(place, f"how many samples are in {name}")["answer"][0]["text"]
            self.assertRegex(said, rf"^{within:,} of {truth.one('select count(*) from COMPOSITE_EVENTS'):,} samples \([\d.]+ %\) are in {name} or in what it calls, {own:,} in itself")

    def test_two_questions_in_one(self):
        """Each answered alone, "they" being what the first is about; where one cannot be, it is said to be left."""
        place = artifacts("training")
        def said(question): return [s["text"] for s in ask(place, question)["answer"]]
        one, other = said("how many aten::addmm calls"), said("which kernels do aten::addmm calls launch")
        self.assertEqual(said("how many aten::addmm calls and which kernels do they launch")[:2], [one[0], other[0]])
        self.assertEqual(said("how long is the capture, and which GPU is this")[:2], [said("how long is the capture")[0], said("which GPU is this")[0]])
        self.assertEqual(said("how long is the capture? is it cpu bound?")[:2], [said("how long is the capture")[0], said("is it cpu bound")[0]])
        self.assertEqual(len(said("how many aten::addmm calls and how long do they take")), 1) # the same facts
        whole = ask(place, "how often is aten::addmm called, is it purple")
        self.assertEqual([s["text"] for s in whole["answer"]], [*said("how often is aten::addmm called"), '"is it purple" may need a question of its own.'])
        whole = ask(artifacts("host-bound"), "why is the GPU idle, is it on and off") # each word of the second is known, or says little
        self.assertIn('"is it on and off" may need a question of its own.', [s["text"] for s in whole["cannot_tell"]])

    def test_processes_by_what_they_do(self):
        truth, place = Truth(trace("training")), artifacts("training")
        uploads = truth.db.execute("select globalPid >> 24 & 0xFFFFFF, sum(bytes) from CUPTI_ACTIVITY_KIND_MEMCPY where copyKind = 1 group by 1 order by 2 desc").fetchall()
        kernels = truth.db.execute("select globalPid >> 24 & 0xFFFFFF, count(*) from CUPTI_ACTIVITY_KIND_KERNEL group by 1 order by 2 desc, 1").fetchall()
        self.assertEqual(len(kernels), 2)
        said = ask(place, f"which process has more kernels, {kernels[1][0]} or {kernels[0][0]}")["answer"][0]["text"]
        self.assertTrue(said.startswith(f"2 processes have the same: {kernels[0][1]:,};"), said)
        self.assertEqual(kernels[0][1], kernels[1][1])
        self.assertEqual(uploads[0][1], uploads[1][1])
        question = f"which process uploads more, {kernels[0][0]} or {kernels[1][0]}"
        self.assertTrue(ask(place, question)["answer"][0]["text"].startswith(f"2 processes have the same: {uploads[0][1] / 2**20:.1f} MiB"))
        place = support.artifacts(edited("training", f"update CUPTI_ACTIVITY_KIND_MEMCPY set bytes = bytes * 2 where globalPid >> 24 & 0xFFFFFF = {uploads[0][0]}"))
        self.assertTrue(ask(place, question)["answer"][0]["text"].startswith(f"Process {uploads[0][0]} has most: {uploads[0][1] / 2**19:.1f} MiB, more by "))
        self.assertIn("runs kernels", ask(place, "do the two processes ever run kernels at the same time or take turns")["answer"][0]["text"])

    def test_the_order_of_kernels(self):
        first = [name for name, in Truth(trace("host-bound")).db.execute("select value from CUPTI_ACTIVITY_KIND_KERNEL join StringIds s on s.id = shortName group by 1 order by min(start)")]
        said = ask(artifacts("host-bound"), "in which order do the kernels run")["answer"][0]["text"]
        self.assertEqual([name.partition("<")[0] for name in said.partition(": ")[2].partition(";")[0].split(", then ")], first)

    def test_times_apart_are_no_window(self):
        for question in ("500 mb go up in 56 ms but come back in 271 ms, why", "what are the other 3 3090s doing"):
            self.assertNotRegex(" ".join(s["text"] for s in ask(artifacts("training"), question)["answer"]), r"from \d|busy", question)

    def test_the_first_time_of_the_cpu(self):
        """... is that of what is recorded, not of the work on GPUs."""
        truth, place = Truth(trace("cpu-work")), artifacts("cpu-work")
        first = min(truth.one(f"select min(start) from {table}") for table in ("CUPTI_ACTIVITY_KIND_RUNTIME", "COMPOSITE_EVENTS"))
        self.assertIn(f"from {first // 1000 / 1e6:.6f} s", ask(place, "what is the cpu doing in the first 100 ms")["answer"][0]["text"])
        self.assertNotIn(f"from {first // 1000 / 1e6:.6f} s", ask(place, "what does the gpu do in the first 100 ms")["answer"][0]["text"])

    def test_threads_by_name(self):
        truth, place = Truth(trace("training")), artifacts("training")
        name, tid, = truth.db.execute("select s.value, t.globalTid & 0xFFFFFF from ThreadNames t join StringIds s on s.id = t.nameId "
                                      "where t.globalTid in (select globalTid from CUPTI_ACTIVITY_KIND_RUNTIME) order by length(s.value) desc limit 1").fetchone()
        most, count = truth.db.execute("select s.value, count(*) from CUPTI_ACTIVITY_KIND_RUNTIME r join StringIds s on s.id = r.nameId where r.globalTid in (select t.globalTid from ThreadNames t "
                                       "join StringIds n on n.id = t.nameId where n.value = ?) group by r.globalTid, 1 order by sum(end - start) desc limit 1", (name,)).fetchone()
        said = " ".join(f["text"] for f in ask(place, f'what is thread "{name}" doing')["facts"])
        self.assertIn(f"{most.partition('_v')[0]} {count} (", said)
        self.assertIn(f"thread {tid} {name}", said)

    def test_a_total_is_no_limit_of_one(self):
        truth = Truth(trace("training"))
        count, total, longest = truth.db.execute("select count(*), sum(end - start), max(end - start) from CUPTI_ACTIVITY_KIND_RUNTIME r join StringIds s on s.id = r.nameId where s.value glob 'cudaLaunchKernel_v*' or s.value = 'cudaLaunchKernel'").fetchone()
        said = ask(artifacts("training"), f"how many cudaLaunchKernel calls take over {longest / 1e6 + 1:.0f} ms")["answer"][0]["text"]
        self.assertRegex(said, rf"^0 CUDA calls .*; of any length {count}, ")
        for number, value in zip(re.findall(r"([\d.]+) (ms|µs|s)\b", said.partition("of any length")[2]), (total, longest), strict=False):
            self.assertAlmostEqual(float(number[0]) * {"ms": 1e6, "µs": 1e3, "s": 1e9}[number[1]], value, delta=value / 100)

    def test_memory_of_a_gpu_in_mebibytes(self):
        """As some exports of 2021 have it."""
        source = edited(trace("training", "--schema", "2019"), "update TARGET_INFO_CUDA_GPU set globalMemorySize = 32510")
        self.assertIn("31.7 GiB", ask(support.artifacts(source), "which GPU is this")["answer"][0]["text"])

    def test_local_memory_of_a_kernel(self):
        truth = Truth(trace("shapes"))
        name, local = truth.db.execute("select s.value, k.localMemoryPerThread from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.shortName order by 2 desc limit 1").fetchone()
        self.assertIn(f"uses {local} B of local memory", " ".join(s["text"] for s in ask(artifacts("shapes"), f"does {name} spill to local memory")["answer"]))

    def test_a_window_before_gpu_work(self):
        """Where something else is recorded, it is a time of the session."""
        start = min(row[1] for row in Truth(trace("cpu-work")).operations())
        shift = "update {} set start = start + 2000000000, end = end + 2000000000"
        place = support.artifacts(edited("cpu-work", *(shift.format(f"CUPTI_ACTIVITY_KIND_{table}") for table in ("KERNEL", "RUNTIME"))))
        answer = ask(place, f"what happens between {(start + 5e6) / 1e9:.9f} and {(start + 9e6) / 1e9:.9f} s")
        self.assertIn(f"from {(start + 5e6) / 1e9:.6f} s to {(start + 9e6) / 1e9:.6f} s", answer["answer"][0]["text"])

    def test_threads_on_cpus(self):
        truth, place = Truth(trace("cpu-work")), artifacts("cpu-work")
        switches = truth.one("select count(*) from SCHED_EVENTS where isSchedIn = 0")
        cpus = truth.db.execute("select cpu, count(*) from SCHED_EVENTS where isSchedIn = 1 group by 1 order by 2 desc, 1").fetchall()
        said = ask(place, "how many context switches does the main thread have")["answer"][0]["text"]
        self.assertIn(f"stopped running {switches} times", said)
        said, last, ran = ask(place, "which cpu cores did it run on")["answer"][0]["text"], None, {}
        for start, cpu, on in truth.db.execute("select start, cpu, isSchedIn from SCHED_EVENTS order by start"):  # of one thread
            if last:
                ran[last[1]] = ran.get(last[1], 0) + start - last[0]
            last = (start, cpu) if on else None
        for cpu, count in cpus:
            self.assertRegex(said, rf" {cpu} \([^()]*, {count}\)")
        self.assertIn(f": {max(ran, key=ran.get)} ({max(ran.values()) / 1e9:.2f} s, ", said)

    def test_functions_of_samples(self):
        """Stacks of OS calls have the same numbers as those of samples."""
        other = "insert into OSRT_CALLCHAINS select * from (select id, (select id from StringIds where value = '{}') as symbol, module, 0, 0, 0, 0, 0, 0, 0 from SAMPLING_CALLCHAINS group by id)"
        name = Truth(trace("cpu-work")).one("select value from StringIds where id not in (select symbol from SAMPLING_CALLCHAINS) and length(value) > 3 limit 1")
        place = support.artifacts(edited("cpu-work", other.format(name)))
        truth = Truth(trace("cpu-work")).db.execute("select s.value, count(*) from COMPOSITE_EVENTS e join SAMPLING_CALLCHAINS c on c.id = e.id and c.stackDepth = 0 "
                                                    "join StringIds s on s.id = c.symbol group by 1 order by 1").fetchall()
        rows = json.loads(run("sql", place, "select function, count(*) from v_samples group by 1 order by 1", "--format", "json").stdout)["rows"]
        self.assertEqual([tuple(row) for row in rows], truth)
        for question in ("which function is hottest on the cpu", "what happens in the first 200 ms"):
            self.assertNotIn(name, " ".join(s["text"] for s in ask(place, question)["answer"]), question)

    def test_the_machine(self):
        truth, place = Truth(trace("training")), artifacts("training")
        name, sms, memory = truth.db.execute("select name, smCount, totalMemory from TARGET_INFO_GPU").fetchone()
        self.assertIn(name, ask(place, "which GPU is this")["answer"][0]["text"])
        self.assertTrue(ask(place, "how many SMs does it have")["answer"][0]["text"].startswith(f"GPU 0 has {sms} SMs"))
        self.assertAlmostEqual(first_number(ask(place, "how much memory does the GPU have")["answer"][0]["text"])[0], memory, delta=memory / 1000)
        version = truth.db.execute("select value from META_DATA_EXPORT where name = 'EXPORT_PRODUCT_VERSION'").fetchone()[0]
        self.assertIn(version, ask(place, "which version of nsys")["answer"][0]["text"])

    def test_collectives_by_kind(self):
        truth, place = Truth(trace("training")), artifacts("training")
        for gpu in (0, 1):
            expected = truth.one("select sum(k.end - k.start) from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.shortName "
                                 f"where s.value like '%AllReduce%' and k.deviceId = {gpu}")
            value, slack = first_number(ask(place, f"how long is all-reduce on GPU {gpu}")["answer"][0]["text"])
            self.assertAlmostEqual(value, expected, delta=slack + 1)
        self.assertTrue(ask(place, "is there an all-gather")["answer"][0]["text"].startswith("No: 0 kernels of allgather"))

    def test_collectives_as_the_program_calls_them(self):
        """All-to-all of NCCL runs as SendRecv."""
        path = support.SHARED / "traces/fsdp_2gpu.sqlite"
        if not path.exists():
            self.skipTest("no reference traces")
        for gpu, expected in enumerate(Truth(path).one(
                "select sum(k.end - k.start) from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.shortName "
                f"where s.value like '%SendRecv%' and k.deviceId = {gpu}") for gpu in (0, 1)):
            value, slack = first_number(ask(support.artifacts(path), f"how much time is spent in all to all on GPU {gpu}")["answer"][0]["text"])
            self.assertAlmostEqual(value, expected, delta=slack + 1)

    def test_the_largest_of_what_has_a_size_is_a_size(self):
        path = support.SHARED / "traces/real/unified_memory.sqlite"
        if not path.exists():
            self.skipTest("no reference traces")
        said = ask(support.artifacts(path), "what's the biggest migration")["answer"][0]["text"]
        self.assertTrue(said.startswith("2.0 MiB is the largest size"), said)
        self.assertEqual(Truth(path).one("select max(bytes) from CUPTI_ACTIVITY_KIND_MEMCPY where copyKind in (11, 12)"), 2 << 20)
        said = ask(support.artifacts(path), "how long did the prefetch take")["answer"][0]["text"]
        self.assertTrue(said.startswith("22.0 ms in 1 call of cudaMemPrefetchAsync"), said)

    def test_wall_time_is_the_programs(self):
        path = support.SHARED / "traces/real/two_processes_one_gpu.sqlite"
        if not path.exists():
            self.skipTest("no reference traces")
        spans = sorted((start, end) for table in ("KERNEL", "MEMCPY", "MEMSET")
                       for start, end in Truth(path).db.execute(f"select start, end from CUPTI_ACTIVITY_KIND_{table}"))
        busy, until = 0, 0
        for start, end in spans:
            busy += max(0, end - max(start, until))
            until = max(until, end)
        said = ask(support.artifacts(path), "what fraction of wall time is the gpu busy")["answer"][0]["text"]
        share, seconds = re.match(r"([\d.]+) % of ([\d.]+) s wall time on GPU 0; of the time with work: 26.6 %", said).groups()
        self.assertAlmostEqual(float(share), 100 * busy / (float(seconds) * 1e9), delta=0.06)

    def test_a_part_of_a_question_has_no_verdict(self):
        answer = ask(artifacts("training"), "are the frobnicate calls slower than the copies")
        texts = [a["text"] for a in answer["answer"]] + [f["text"] for f in answer["facts"]]
        self.assertFalse([text for text in texts if text.startswith(("Yes:", "No:"))], texts)


class Meant(unittest.TestCase):
    """What a question is about, beyond its single words."""

    def said(self, place, question):
        return [s["text"] for s in ask(place, question)["answer"]]

    def test_a_call_that_is_proposed_need_not_be_there(self):
        for place, question, intent in ((artifacts("copy-bound"), "worth moving to cudaMallocHost buffers", "pageable"),
                                        (artifacts("train-first-touch"), "should we use plain cudaMalloc and explicit copies instead of managed memory", "managed_instead")):
            answer = ask(place, question)
            self.assertEqual(answer["intents"], [intent], question)
            self.assertNotIn("Nothing in the trace", answer["answer"][0]["text"])
        self.assertIn("Nothing in the trace is called", self.said(artifacts("copy-bound"), "how many cudaMallocHost calls")[0])

    def test_a_program_is_called_as_its_thread(self):
        place = support.artifacts(edited("host-bound", "update StringIds set value = 'gaussian' where value = 'python3'"))
        for question in ("whats eating the gpu time in this gaussian run, step_a or step_b?", "which takes more gpu time in gaussian, step_a or step_b"):
            self.assertRegex(self.said(place, question)[0], r"^step_[ab] takes more: ", question)
        self.assertRegex(self.said(place, "is this gaussian cpu bound")[0], "^(Yes|Partly|No): ")
        self.assertRegex(self.said(place, "what does thread gaussian call")[0], r"^Thread \d+ \(gaussian\)")

    def test_a_thread_by_the_begin_of_its_name(self):
        place = support.artifacts(edited("host-bound", "update StringIds set value = 'v4l2src0:src' where value = 'python3'"))
        self.assertRegex(self.said(place, "does the v4l2 capture thread issue cuda calls, if so which")[0], r"^Thread \d+ \(v4l2src0:src\); CUDA calls: ")

    def test_what_is_told_beside_a_question(self):
        """What surprises, how many GPUs there are, what somebody does: none of these is asked."""
        for name, question, answer in (("pause", "why is this trace so long if the kernels take ms", r"^Of 31\.2 s: 30\.0 s \(96\.1 %\) pauses: fgets"),
                                       ("host-bound", "we sync after every step - how much does it cost", "in calls that wait for the GPU in each step"),
                                       ("host-bound", "how much does it cost", "^A trace holds times, not prices"),
                                       ("training", "2 gpus in the box, which one(s) did it use", r"2 GPUs have work in this capture: GPU 0 .*, GPU 1 "),
                                       ("training", "i use 4 streams, do the kernels actually run concurrently?", "^Yes: at most 2 kernels of a GPU run at once"),
                                       ("host-bound", "longest gap on the gpu + which kernel came after it", r"step_a<float> after it; 958\.4 µs on GPU 0")):
            self.assertRegex(" ".join(self.said(artifacts(name), question)), answer, question)

    def test_around_a_point_of_time(self):
        """As far as the last digit that is written reaches; "takes around 2 ms" is a length."""
        place = artifacts("host-bound")
        self.assertRegex(self.said(place, "what happened around 1.02s, gpu looks dead")[0], r"^[\d.]+ % idle: GPU 0 works for .* of the 20\.0 ms from 1\.010000 s to 1\.030000 s; ")
        self.assertRegex(self.said(place, "anything weird near 1.03 s?")[0], r"of the 20\.0 ms from 1\.020000 s to 1\.040000 s; ")
        self.assertNotIn(" from ", self.said(place, "which kernels take around 2 ms")[-1])

    def test_where_to_look_is_asked_though_it_is_told(self):
        self.assertRegex(self.said(artifacts("host-bound"), "looks hung from 1.01 to 1.03 s, whats it waiting for")[0], r"of the 20\.0 ms from 1\.010000 s to 1\.030000 s; ")

    def test_what_the_name_of_a_range_or_a_call_is_asked_for(self):
        """The share of a range is that of its kernels; a launch that took long is the longest."""
        self.assertRegex(self.said(artifacts("host-bound"), "train_step is how much of it")[0], r"^80\.3 % of all kernel time; train_step takes ")
        self.assertRegex(self.said(artifacts("host-bound"), "launch of one kernel took 2ms wtf")[0], r"^5\.20 µs is the longest of 81 launch calls, ")

    def test_threads_that_call_no_cuda(self):
        several = support.artifacts(edited("pause", "UPDATE OSRT_API SET globalTid = globalTid + rowid % 2"))
        self.assertRegex(self.said(several, "how many threads does this thing have")[0], "^1 thread with CUDA calls: .*; 2 threads make OS calls")
        self.assertNotIn("make OS calls", self.said(artifacts("pause"), "how many threads does this thing have")[0])

    def test_a_gap_and_a_call_are_no_gaps_between_calls(self):
        self.assertNotIn("gap between", self.said(artifacts("host-bound"), "longest gap and which api call was it in")[-1])

    def test_what_an_answer_shows_is_not_left_out(self):
        """No word takes up "direction"; the answer has it."""
        said = self.said(artifacts("copy-bound"), "longest memcpy, how big and which direction")
        self.assertRegex(said[0], r"is the longest \(\w+-to-\w+, ")
        self.assertNotIn("No answer accounts for", " ".join(said))

    def test_a_problem_or_just_a_wait_is_no_contest(self):
        said = self.said(artifacts("host-bound"), "cudaStreamSynchronize takes 30 ms, real problem or just waiting on the kernels?")
        self.assertRegex(" ".join(said), "Mostly no work runs in that time: a GPU of the calling process is busy in 45.8 % of it")
        self.assertNotIn("takes more", " ".join(said))

    def test_the_others_of_a_numbered_range(self):
        """Of many ranges with that word those that are called the same but for the number."""
        place = support.artifacts(edited("host-bound", "update NVTX_EVENTS set text = 'Coarse Level ' || (rowid % 4) where text = 'train_step'",
                                 "insert into NVTX_EVENTS (start, end, eventType, text, globalTid) select start + 1000, start + 2000, eventType, 'Inner Level ' || rowid, globalTid from NVTX_EVENTS where text like 'Coarse%'"))
        said = self.said(place, "why does Coarse Level 0 take 10x longer than the other levels")[0]
        self.assertRegex(said, r"^Coarse Level 0 is (slower|faster): .* NVTX ranges of Coarse Level #, ")

    def test_why_is_answered_or_said_not_to_be(self):
        why = "Why that is so, no fact here tells."
        for question, told in (("why is the capture that long", True), ("why is the utilization 46 %", True), ("how long is the capture", True), ("why is the GPU idle", True), ("why does it take half a second until the first kernel runs", True)):
            self.assertEqual(why not in self.said(artifacts("host-bound"), question), told, question)
        self.assertRegex(self.said(artifacts("host-bound"), "why does it take half a second until the first kernel runs")[0], " pass before the first work on a GPU: .* The largest part is ")

    def test_what_a_change_would_bring_is_answered_or_said_not_to_be(self):
        pays = "Whether a change would pay, no fact here tells."
        for question, told in (("would two streams help", False), ("how many streams are there", True), ("would CUDA graphs help", True), ("should I use pinned memory", True)):
            self.assertEqual(pays not in self.said(artifacts("copy-bound"), question), told, question)

    def test_what_a_finding_would_save_is_something_to_gain(self):
        saving, = json.loads(run("sql", artifacts("openacc-waits"), "select human(saving_ns, 'ns') from findings where id = 'idle-wait-per-launch'", "--format", "json").stdout)["rows"][0]
        said = " ".join(self.said(artifacts("openacc-waits"), "would batching the kernels into one kernel or a CUDA graph be worth it"))
        self.assertNotIn("Hardly", said)
        self.assertTrue(said.startswith(f"Probably: at most {saving}"), said)
        little = " ".join(self.said(support.artifacts(edited("openacc-waits", "update CUPTI_ACTIVITY_KIND_KERNEL set end = end + 900000000 where rowid = (select max(rowid) from CUPTI_ACTIVITY_KIND_KERNEL)")), "would a CUDA graph help"))
        self.assertFalse("Hardly" in little and "at most" in little, little)

    def test_another_gpu_is_in_no_trace(self):
        self.assertTrue(self.said(artifacts("host-bound"), "would an A10G finish step_a quicker, and by what factor")[0].startswith("Not in a trace: how long a program takes on another GPU"))

    def test_the_model_of_the_gpu_tells_nothing(self):
        self.assertEqual(self.said(artifacts("host-bound"), "how busy is the H100"), self.said(artifacts("host-bound"), "how busy is the gpu"))
        self.assertIn('"A40"', self.said(artifacts("host-bound"), "how busy is the A40")[0])

    def test_both_directions_are_compared(self):
        rates = json.loads(run("sql", artifacts("copy-bound"), "select human(1.0 * sum(total_bytes) / sum(total_time_ns), 'gb_per_s') from memory_transfers where direction in ('Device-to-Host', 'Host-to-Device') group by direction order by direction", "--format", "json").stdout)["rows"]
        said = self.said(artifacts("copy-bound"), "downloading the result takes longer than all uploads together. Why?")
        for rate, in rates:
            self.assertIn(rate, said[0])

    def test_the_largest_copy_has_a_time_and_a_rate(self):
        row, = json.loads(run("sql", artifacts("copy-bound"), "select human(bytes, 'bytes'), human(end_ns - start_ns, 'ns'), human(1.0 * bytes / (end_ns - start_ns), 'gb_per_s') from v_copies where direction <> 'memset' order by bytes desc, start_ns limit 1", "--format", "json").stdout)["rows"]
        said, = self.said(artifacts("copy-bound"), "biggest single transfer, its size and rate")
        for text in row:
            self.assertIn(text, said)

    def test_what_is_freed(self):
        place = artifacts("alloc-churn")
        made, = json.loads(run("sql", place, "select sum(name like 'cudaMalloc%'), sum(name like 'cudaFree%') from api_events", "--format", "json").stdout)["rows"]
        for question in ("is everything that's malloc'ed freed", "are we leaking device memory with cudaMalloc"):
            self.assertRegex(self.said(place, question)[0], rf"^Not in this capture: {made[0]} calls allocate memory of a GPU, only {made[1]} free it", question)

    def test_the_period_of_launches(self):
        with contextlib.closing(sqlite3.connect(trace("host-bound"))) as db:
            starts = [row[0] for row in db.execute("select start from CUPTI_ACTIVITY_KIND_KERNEL order by start")]
        period = statistics.median(b - a for a, b in zip(starts, starts[1:]))
        said = self.said(artifacts("host-bound"), "per loop iteration: time from launch to launch, and what fraction is kernel?")
        self.assertRegex(said[0], r"^([\d.]+) µs at the median from the start of a kernel to the start of the next")
        self.assertAlmostEqual(float(said[0].split()[0]) * 1000, period, delta=100)

    def test_why_a_first_call_is_long(self):
        """Where it creates the context."""
        place = support.artifacts(edited("alloc-churn", "update CUPTI_ACTIVITY_KIND_RUNTIME set start = 500000000, end = 803000000 where rowid = (select r.rowid from CUPTI_ACTIVITY_KIND_RUNTIME r join StringIds s on s.id = r.nameId where s.value like 'cudaMalloc\\_v%' escape '\\' or s.value = 'cudaMalloc' order by start limit 1)"))
        for question in ("why is the first cudaMalloc so slow", "first cudaMalloc takes 300 ms wtf"):
            answer = ask(place, question)
            self.assertRegex(answer["answer"][0]["text"], r"^303\.0 ms is the first of cudaMalloc, at .*, before any work on a GPU: first use of CUDA creates the context and loads code; the others average ", question)
            self.assertNotIn("not why", json.dumps(answer["cannot_tell"]))

    def test_more_than_two_names_are_ranked(self):
        said = self.said(artifacts("host-bound"), "which kernel takes most gpu time, step_a, step_b or step_c?")
        self.assertRegex(said[0], r"^step_a<float>: 5\.28 ms total in 21 kernels, .*; then step_c<float>: 5\.15 ms total in 20 kernels, step_b<float>: ")
        calls = json.loads(run("sql", artifacts("alloc-churn"), "select name from api_events where name <> 'cudaLaunchKernel' group by name order by sum(end_ns - start_ns) desc", "--format", "json").stdout)["rows"]
        said = self.said(artifacts("alloc-churn"), "which call burns most time - cudaMalloc, cudaMallocAsync or cudaFree?")
        self.assertEqual(re.findall(r"(cuda\w+): ", said[0]), [name for name, in calls])

    def test_an_own_length_tells_a_gap(self):
        gap, human = json.loads(run("sql", artifacts("host-bound"), "select round(gap_ns / 1e6, 2), human(gap_ns, 'ns') from gpu_idle_gaps order by gap_ns desc limit 1 offset 1", "--format", "json").stdout)["rows"][0]
        self.assertIn(f"{human} on GPU 0", self.said(artifacts("host-bound"), f"between two kernels the GPU does nothing for almost {gap} ms. whats the host doing there?")[0])

    def test_words_that_limit_are_not_dropped(self):
        """An answer to more words is none to others that change it."""
        for question, word in (("what is the longest gap beside the second copy", "second"), ("is the occupancy stable over time", "over"),
                               ("is it ok that cudaStreamSynchronize is called after every second copy", "every"), ("is the gpu limited by the camera", "camera")):
            answer = ask(artifacts("host-bound"), question)
            self.assertTrue(not answer["intents"] or LEFT_OUT in answer["answer"][0]["text"] or word in answer["answer"][0]["text"], (question, answer["answer"]))

    def test_the_second_is_slower_than_the_first(self):
        with contextlib.closing(sqlite3.connect(trace("copy-bound"))) as db:
            first, second = (row[0] for row in db.execute("select end - start from CUPTI_ACTIVITY_KIND_MEMCPY where copyKind = 1 order by start limit 2"))
        said = self.said(artifacts("copy-bound"), "the second upload is way slower - by how much?")
        self.assertRegex(said[0], rf"the (second|first) takes {max(first, second) / min(first, second):.3g} times as long")
        for question in ("why is the second upload slower", "how come the second upload is slower"):
            answer = ask(artifacts("copy-bound"), question)
            self.assertEqual((answer["answer"][0]["text"], answer["cannot_tell"][0]["text"]), (said[0], "This says how long it takes, not why."), question)

    def test_ties_are_said(self):
        self.assertTrue(self.said(artifacts("host-bound"), "which kernel has the fewest launches")[0].startswith("4 of 5 have least, 20; all: 101 kernels"))

    def test_threads_before_the_first_work(self):
        place = support.artifacts(edited("cpu-work", "update COMPOSITE_EVENTS set start = start - 900000000"))
        said = self.said(place, "which host threads were working before anything reached the gpu, and on what")
        self.assertRegex(said[0], r"^Before the first work on a GPU at [\d.]+ s, by samples: thread \d+ .* samples? from ")
        self.assertIn("No sample before", self.said(artifacts("cpu-work"), "which host threads were working before anything reached the gpu")[0])

    def test_a_call_waits_for_work_or_not(self):
        busy, = json.loads(run("sql", artifacts("host-bound"), "select human(gpu_busy_pct, 'percent') from sync_by_pid where api_name = 'cudaStreamSynchronize'", "--format", "json").stdout)["rows"][0]
        self.assertIn(f"a GPU of the calling process is busy in {busy} of it", " ".join(self.said(artifacts("host-bound"), "is cudaStreamSynchronize hurting us")))

    def test_other_gpus_of_the_machine(self):
        place = support.artifacts(edited("host-bound", "create table other as select * from TARGET_INFO_GPU", "update other set id = id + 1, cuDevice = cuDevice + 1",
                                         "insert into TARGET_INFO_GPU select * from other", "drop table other"))
        self.assertTrue(self.said(place, "are the other gpus in that box being used at all")[0].startswith("No: the other 1 of the 2 GPUs"))


class OfTheUser(unittest.TestCase):
    def file(self, text):
        path = fresh_dir() / "mine.yaml"
        path.write_text(text)
        return path

    def test_added_and_replaced(self):
        mine = self.file("""
intents:
  - intent: banana
    about: bananas
    words: [banana*]
    facts:
      - table: kernels
        order: call_count desc
        limit: 1
        text: "{{short_name}} is launched {{call_count}} times"
        answer: "Most often launched: {{short_name}}."
  - intent: idle
    about: idleness, as we see it
    words: [idle]
    say: ["Ask Bob."]
""")
        place = artifacts("host-bound")
        answer = ask(place, "bananas?", "--intents", mine)
        self.assertEqual((answer["intents"], len(answer["facts"])), (["banana"], 1))
        self.assertTrue(answer["answer"][0]["text"].startswith("Most often launched: "))
        self.assertEqual(ask(place, "idle?", "--intents", mine)["answer"][0]["text"], "Ask Bob.")

    def test_what_names_mean_can_be_replaced(self):
        """An intent of the user's takes the place of a built-in one about names, also where it is about something else."""
        place = artifacts("host-bound")
        name = json.loads(run("sql", place, "select short_name from kernels limit 1", "--format", "json").stdout)["rows"][0][0]
        question = f'what is "{name.partition("<")[0]}"'
        self.assertEqual(ask(place, question)["intents"], ["named_kernel"])
        mine = self.file("intents: [{intent: named_kernel, about: kernels, names: kernel, say: [Ask Bob.]}]")
        self.assertEqual(ask(place, question, "--intents", mine)["answer"][0]["text"], "Ask Bob.")
        mine = self.file("intents: [{intent: named_kernel, about: bananas, words: [banana], say: [Ask Bob.]}]")
        self.assertEqual(ask(place, question, "--intents", mine)["intents"], [])

    def test_choices_are_not_dropped(self):
        """Each is a parameter of statements: beyond what there is room for, a file is refused."""
        place, there = artifacts("host-bound"), len(INTENTS["choices"])
        for count in (12, 33):
            text = "choices:\n" + "".join(f"  mine{i}: {{w{i}: [zebra{i}]}}\n" for i in range(count)) + (
                f"intents:\n  - intent: x\n    about: y\n    words: [zebra*]\n    facts: [{{table: run_info, with: {{v: ':mine{count - 1}'}}, text: '{{{{v}}}}'}}]\n")
            refused = count + there > 32
            said = ask(place, f"zebra{count - 1}?", "--intents", self.file(text), status=2 if refused else 0)
            if refused:
                self.assertIn("more than 32 choices", said)
            else:
                self.assertEqual([fact["text"] for fact in said["facts"]], [f"w{count - 1}"])

    def test_mistakes_have_a_place(self):
        place = artifacts("host-bound")
        for text, said in (("intents:\n  - intent: x\n", ':2:5: "about" is missing'), ("intents: 3\n", "expected a list"),
                           ("intents:\n  - intent: x\n    about: y\n    wrods: [a]\n", 'words'), ("intents:\n  - {intent: x, about: y, words: [zzz], facts: [{table: a b, text: c}]}\n", "is no table"),
                           ("intents:\n  - {intent: x, about: y, words: [zzz], rules: [\"a'b\"]}\n", "expected the id of a rule"),
                           ("intents:\n  - {intent: x, about: y, words: [zzz], facts: [{table: kernels, text: '{{nope}}'}]}\n", "intent x, facts of kernels:1:"),
                           ("intents:\n  - {intent: x, about: y, words: [zzz], facts: [{table: kernels, text: a, where: 'load_extension(1)'}]}\n", "load_extension")):
            with self.subTest(said):
                self.assertIn(said, ask(place, "zzz", "--intents", self.file(text), status=2))


class Graded(unittest.TestCase):
    """What graders of answers, who knew the traces by SQL, found to be wrong."""

    def said(self, place, question):
        return " ".join(s["text"] for s in ask(place, question)["answer"])

    def rows(self, place, statement):
        return json.loads(run("sql", place, statement, "--json").stdout)["rows"]

    def test_os_calls_of_a_thread_in_a_stretch_are_summed(self):
        place = support.artifacts(edited("pause", "insert into OSRT_API (start, end, eventClass, globalTid, nameId, returnValue, nestingLevel, callchainId) "
                                                  "select start + 1900000000, start + 1950000000, eventClass, globalTid, nameId, returnValue, nestingLevel, callchainId from OSRT_API where end - start > 1000000000"))
        function, calls, ns = self.rows(place, "select name, count(*), sum(min(end_ns, 4000000000) - max(start_ns, 1000000000)) from osrt_events where start_ns < 4000000000 and end_ns > 1000000000 group by thread, name order by 3 desc")[0]
        self.assertEqual(calls, 2)
        self.assertIn(f"is in {function} for {ns / 1e9:.2f} s of it (2 calls)", self.said(place, "what happens between 1 s and 4 s"))

    def test_the_usual_distance_of_operations_is_no_launch_bound(self):
        (latency, parts), = self.rows(artifacts("launch-storm"), "select active_ns, active_count from idle_causes where cause = 'launch_latency'")
        self.assertLess(latency, 4000 * parts)
        (inside,), = self.rows(artifacts("launch-storm"), "select active_ns from idle_causes where cause = 'in_launch_call'")
        self.assertRegex(self.said(artifacts("launch-storm"), "are we launch bound"), rf"^Partly: {inside / 1e6:.2f} ms .*; {latency / 1e6:.2f} ms more, {latency / parts:.0f} ns each time, is the usual distance")

    def test_a_wait_is_measured_on_the_gpus_of_its_process(self):
        (idle, total), = self.rows(artifacts("training"), "select sum(gpu_idle_ns), sum(total_time_ns) from sync_by_pid where api_name = 'cudaStreamSynchronize'")
        pid, start, end = self.rows(artifacts("training"), "select pid, longest_start_ns, longest_end_ns from sync_by_pid where api_name = 'cudaStreamSynchronize' order by total_time_ns desc")[0]
        (kernels,), = self.rows(artifacts("training"), f"select count(*) from v_kernels where pid = {pid} and end_ns > {start} and start_ns < {end}")
        self.assertIn(f"is busy in {100 - 100 * idle / total:.1f} % of it and idle for {idle / 1e3:.1f} µs; kernels of that process during the longest call: {kernels}.",
                      self.said(artifacts("training"), "is cudaStreamSynchronize hurting us"))

    def test_what_a_share_of_active_time_leaves_out_is_said(self):
        self.assertIn("; not counted: setup, 27.9 ms and pauses between spans of work, 30.0 s", self.said(artifacts("pause"), "gpu util?"))
        self.assertRegex(self.said(artifacts("pause"), "gpu busy % overall"), r"^GPU 0: 0.19 % of the 30.1 s from its first to its last work\.")

    def test_kernels_with_a_word_anywhere_in_their_name(self):
        place = support.artifacts(edited("host-bound", "update StringIds set value = replace(value, 'step_b', 'generateWinogradTiles') where value like '%step_b%'",
                                         "update StringIds set value = replace(value, 'step_c', 'winograd_of') where value like '%step_c%'"))
        (count,), (other,) = self.rows(place, "select count(*) from v_kernels where lower(short_name) like '%winograd%' union all select count(*) from v_kernels where lower(short_name) like '%step_a%'")
        self.assertIn(f"{count} kernels with \"winograd\" in their name", self.said(place, "winograd kernels vs step_a kernels total"))
        self.assertGreater(other, 0)

    def test_slow_launches_load_code(self):
        text = self.said(artifacts("launch-load"), "why do launches take so long each")
        self.assertRegex(text, r"^1 launch call of 1 ms or more, the longest 16\.0 ms \(cudaLaunchKernel at [\d.]+ s\); 16\.0 ms of it is loading code")

    def test_pauses_are_called_by_what_their_saving_is_of(self):
        """Half a minute in fgets, which no faster program ends, and 40 ms in read."""
        (place, saving), = self.rows(artifacts("pause"), "select place, saving_ns from findings where id = 'pause-dominates'")
        self.assertEqual(place, "read")
        self.assertLess(saving, 50_000_000)

    def test_a_context_is_created_once(self):
        first = self.said(artifacts("pause"), "why is cudaMalloc slow")
        self.assertIn("likely the creation of the context", first)
        behind = support.artifacts(edited("pause", "update CUPTI_ACTIVITY_KIND_RUNTIME set (start, end) = (select min(start) - 60000000, min(start) - 20000000 from CUPTI_ACTIVITY_KIND_RUNTIME) where rowid = (select max(rowid) from CUPTI_ACTIVITY_KIND_RUNTIME)"))
        self.assertIn("behind a call in which the context was created: likely loading of code", self.said(behind, "why is cudaMalloc slow"))

    def test_algorithms_that_a_range_times(self):
        """Nine kernels of nine names in a range: each behind a wait for an event, and as they were."""
        timed = edited("layers", "insert into StringIds (id, value) values (900001, 'cudaEventSynchronize')",
                       "update CUPTI_ACTIVITY_KIND_RUNTIME set nameId = 900001 where nameId in (select id from StringIds where value like 'cudaLaunchKernel%')")
        self.assertRegex(self.said(support.artifacts(timed), "is cudnn autotuning"), r"^Likely, in 24 ranges: encoder\.block\.\d+ launches 9 kernels with 9 names in 1 instance, with 9 waits for events")
        self.assertNotIn("Likely", self.said(artifacts("layers"), "is cudnn autotuning"))

    def test_no_average_over_all_kinds_of_ranges(self):
        """25 names, most of them inside of another one: a kernel is in several, and no range is "the" stage."""
        self.assertNotIn("on average", self.said(artifacts("layers"), "how many kernels per stage").split(" kernels, ")[0])
        self.assertRegex(self.said(artifacts("inference"), "how many kernels per stage"), "^96.5 on average: ")

    def test_launches_may_be_kernels(self):
        (count, ns, whole), = self.rows(artifacts("long-calls"), "select sum(d >= 100000), sum(iif(d >= 100000, d, 0)), sum(d) from (select end_ns - start_ns as d from kernel_events)")
        text = self.said(artifacts("long-calls"), "how many launches above 0.1 ms and what share of the time")
        self.assertIn(f"What was launched: {count:,} kernels run longer than 100.0 µs", text)
        self.assertIn(f"{100 * ns / whole:.1f} % of kernel time", text)
        self.assertNotIn("What was launched", self.said(artifacts("long-calls"), "how many launch calls above 0.1 ms"))

    def test_steps_over_a_limit(self):
        durations = [row[0] for row in self.rows(artifacts("steps-drift"), "select duration_ns from steps where state = 'steady'")]
        limit = sorted(durations)[len(durations) * 2 // 3] // 1000
        long = [ns for ns in durations if ns >= limit * 1000]
        self.assertIn(f"{len(long)} of {len(durations)} steady steps take longer than", self.said(artifacts("steps-drift"), f"how many steps took over {limit} us"))
        self.assertIn(f", {100 * sum(long) / sum(durations):.1f} % of their time", self.said(artifacts("steps-drift"), f"how many steps took over {limit} us"))

    def test_a_kind_of_kernels_may_be_a_range(self):
        """conv2d ends the name of one kind of ranges: its kernels are meant, and not those of convolutions."""
        place = support.artifacts(edited("pytorch-like", "update NVTX_EVENTS set text = replace(text, 'aten::addmm', 'aten::conv2d')",
                                         "update StringIds set value = replace(value, 'aten::addmm', 'aten::conv2d')"))
        (count,), = self.rows(place, "select count(*) from v_kernels where path like '%aten::conv2d%'")
        self.assertTrue(count)
        self.assertRegex(self.said(place, "how many kernels does conv2d launch"), rf"^{count} kernels in aten::conv2d, ")

    def test_where_copies_stand(self):
        (before, after, all_), = self.rows(artifacts("copy-bound"), "select sum(end_ns <= (select min(start_ns) from kernel_events)), sum(start_ns >= (select max(end_ns) from kernel_events)), count(*) from v_copies where direction <> 'memset'")
        self.assertIn(f"{before} before the first kernel, {all_ - before - after} from the first to the last kernel, {after} behind the last",
                      self.said(artifacts("copy-bound"), "are the copies in the loop or only at the end"))

    def test_a_cpu_that_is_not_recorded_is_said_to_be(self):
        self.assertRegex(self.said(artifacts("host-bound"), "what was the cpu doing between 1 ms and 5 ms"), "^What the CPU did outside of CUDA calls is not recorded")
        self.assertNotIn("not recorded", self.said(artifacts("files"), "what was the cpu doing between 1 ms and 5 ms"))

    def test_a_host_that_sleeps_does_not_limit_by_computing(self):
        self.assertRegex(self.said(artifacts("cpu-work"), "is the cpu the bottleneck"), "^Yes: ")
        asleep = support.artifacts(edited("cpu-work", "update SCHED_EVENTS set isSchedIn = 1 - isSchedIn where globalTid = (select globalTid from CUPTI_ACTIVITY_KIND_RUNTIME limit 1)"))
        (off, whole), = self.rows(asleep, "select off_cpu_ns, total_ns from gap_activity where scope = 'host_code' order by total_ns desc limit 1")
        self.assertGreater(2 * off, whole)
        self.assertRegex(self.said(asleep, "is the cpu the bottleneck"), rf"^By the host, but not by computing: .*; the launching thread is off-CPU in {100 * off / whole:.1f} % of that")

    def test_a_name_is_worth_its_numbers_whatever_else_is_asked(self):
        text = self.said(artifacts("row-loop"), "cudaMalloc 2.8ms total, worth recycling those old purple buffers? median?")
        self.assertRegex(text, r"400 CUDA calls of cudaMalloc, 2\.80 ms total")
        self.assertNotIn('"2.8', text)

    def test_a_slice_of_a_gpu(self):
        self.assertRegex(self.said(artifacts("partitions"), "is this the full gpu or a slice"), "^A slice of 28 SMs on GPU 1: ")
        self.assertRegex(self.said(artifacts("host-bound"), "is this the full gpu or a slice"), "^No sign of a slice: ")

    def test_elementwise_kernels_are_said_to_be_without_casts(self):
        self.assertIn("elementwise kernels (no casts or copies)", self.said(artifacts("pytorch-like"), "pct of gpu time in elementwise kernels"))


class Blind(unittest.TestCase):
    """What users found who knew the truth of a capture before they asked."""
    def said(self, place, question):
        return " ".join(s["text"] for s in ask(place, question)["answer"])

    def rows(self, place, sql):
        return json.loads(run("sql", place, sql, "--format", "json").stdout)["rows"]

    def test_busy_is_not_full(self):
        empty = support.artifacts(edited("healthy", "update CUPTI_ACTIVITY_KIND_KERNEL set gridX = 1, gridY = 1, gridZ = 1"))
        (busy, sms), = self.rows(empty, "select human(100 - idle_pct, 'percent'), (select max(sm_count) from gpus) from gpu_active limit 1")
        for question, verdict in (("is the GPU underutilized", "Yes: "), ("is the GPU saturated", "No: "), ("is the GPU fully used", "No: "), ("how efficiently is the GPU used", "")):
            said = self.said(empty, question)
            self.assertRegex(said, rf"^{verdict}{busy} busy on GPU 0, but mostly empty: \w+ uses 1 of {sms} SMs \(finding 1\)\. ", question)
            self.assertIn("finding about it: Grid too small", said)
        self.assertIn("finding about it: Grid too small", self.said(empty, "how busy is the GPU"))
        self.assertNotIn("empty", self.said(artifacts("healthy"), "is the GPU saturated"))

    def test_starting_cuda_is_no_cost_of_each_call(self):
        first = "(select min(start) from CUPTI_ACTIVITY_KIND_RUNTIME)"
        place = support.artifacts(edited("alloc-churn", f"insert into CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue) select {first} - 900000000, {first} - 600000000, "
                                         "eventClass, globalTid, 99999, nameId, 0 from CUPTI_ACTIVITY_KIND_RUNTIME where nameId = (select id from StringIds where value like 'cudaFree_v%') limit 1"))
        (calls, rest), = self.rows(place, "select count(*), human(sum(end_ns - start_ns), 'ns') from api_events where name = 'cudaFree' and end_ns - start_ns < 100e6")
        for question in ("what would I save without cudaFree", "could I get rid of cudaFree", "what if cudaFree were free"):
            self.assertTrue(self.said(place, question).startswith(f"{rest} of CPU time in {calls} calls; besides 300.0 ms in 1 call that starts CUDA, which would move to another call."), question)
        for question in ("how long does cudaFree take", "average cudaFree"):
            self.assertIn(f"300.0 ms of it are 1 call that starts CUDA (cudaFree), before the first work of the process on a GPU; the others: {rest} in {calls} calls.", self.said(place, question))
        self.assertNotIn("starts CUDA", self.said(artifacts("alloc-churn"), "what would I save without cudaFree"))

    def test_which_of_a_kind_is_faster(self):
        two = support.artifacts(edited("healthy", "update StringIds set value = replace(value, 'gemm_nn', 'gemm_nt')", "update CUPTI_ACTIVITY_KIND_KERNEL set end = end - 100000 "
                                       "where shortName in (select id from StringIds where value like 'gemm_tn%')"))
        for question, verdict in (("which gemm is faster", "gemm_tn.* is faster: average "), ("which gemm is slower", "gemm_nt.* is slower: average "), ("what is the faster gemm", "gemm_tn.* is faster"),
                                  ("is one gemm faster than the other", "gemm_tn.* is faster")):
            self.assertRegex(self.said(two, question), f"^{verdict}", question)
        (slowest,), = self.rows(artifacts("healthy"), "select short_name from kernels where category = 'gemm' group by 1 order by sum(total_time_ns) / sum(call_count) desc limit 1")
        self.assertTrue(self.said(artifacts("healthy"), "which gemm is slower").startswith(f"{slowest} is the slowest of 3, by average: "))
        self.assertIn("All have one name: ", self.said(artifacts("bimodal"), "which attention kernel is faster"))
        self.assertRegex(self.said(artifacts("copy-bound"), "which copy is faster"), "^[HD].* copies are faster: rate ")
        self.assertIn("less where other work or the host decides", self.said(two, "what if gemms were twice as fast"))

    def test_whether_graphs_can_be_used_is_whether_they_help(self):
        for name in ("host-bound", "launch-storm"):
            answers = {self.said(artifacts(name), question) for question in ("can I use cuda graphs", "would cuda graphs help", "could we use cuda graphs here", "do I need cuda graphs", "is it possible to use cuda graphs")}
            self.assertEqual(len({text.removeprefix("Yes, perhaps: ") for text in answers}), 1, answers)
        self.assertRegex(self.said(artifacts("graphs"), "can I use cuda graphs"), "^CUDA graphs are in use already: ")
        self.assertNotIn("could win", self.said(artifacts("host-bound"), "are cuda graphs used"))

    def test_a_finding_says_why_the_gpu_is_missing(self):
        for name, title in (("api-only", "No GPU activity records"), ("nvtx-only", "CUDA was not traced")):
            answer = ask(artifacts(name), "why is my GPU idle")
            self.assertIn(f"The finding about it: {title}", " ".join(s["text"] for s in answer["answer"]))
            (advice,), = self.rows(artifacts(name), f"select recommendation from findings where title like '{title}%'")
            self.assertEqual(answer["advice"], advice)
            self.assertNotIn("To have it in the next trace", json.dumps(answer))

    def test_a_kernel_that_does_not_spill(self):
        (registers, launches), = self.rows(artifacts("shapes"), "select max(registers_per_thread), human(sum(call_count), 'count') from kernel_shape where kernel_name like '%stencil_beside%'")
        for question in ("is stencil_beside spilling registers", "does stencil_beside spill", "does stencil_beside use local memory"):
            self.assertIn(f"No: 0 B of local memory per thread, where spilled registers go, and {registers} registers, {launches} launches of stencil_beside.", self.said(artifacts("shapes"), question), question)

    def test_names_that_are_not_there_and_those_near_them(self):
        for word, near in (("flash_bwb", "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel"), ("cudaLaunchKernal", "cudaLaunchKernel"), ("gemm_xyzzy", None), ("nccl_foo", None)):
            said = self.said(artifacts("training"), f"how slow is {word}")
            self.assertTrue(said.startswith(f'Nothing in the trace is called "{word}": no kernel, NVTX range, CUDA call or thread.'), said)
            self.assertEqual("Nearest: " in said, near is not None, said)
            self.assertIn(near or "", said)

    def test_pooling_is_no_polling(self):
        (idle,), = self.rows(artifacts("alloc-churn"), "select human(sum(active_ns), 'ns') from idle_causes where cause = 'allocation'")
        for question in ("how much would I save by pooling the allocations", "would pooled allocations help", "what would a caching allocator save", "what if I pool allocations"):
            said = self.said(artifacts("alloc-churn"), question)
            self.assertTrue(said.startswith(f"It saves at most {idle} of idle time: "), said)
            self.assertNotIn("Read", said)
        (saving,), = self.rows(artifacts("alloc-churn"), "select human(saving_ns, 'ns') from findings where id = 'allocation-in-steady-state'")
        self.assertRegex(self.said(artifacts("alloc-churn"), "what would I save without allocations"), f"^At most {saving}, .* by simulation")

    def test_how_busy_a_gpu_is_in_a_range(self):
        during = self.said(artifacts("training"), "how busy is the gpu during forward")
        self.assertRegex(during, r"^GPU 0: [\d.]+ % of the time of forward passes with work on the GPU: ")
        for question in ("how busy is the gpu in the forward pass", "utilization in the forward pass", "gpu utilization in forward", "how busy is the GPU inside forward", "gpu usage in forward"):
            self.assertEqual(self.said(artifacts("training"), question), during, question)
        self.assertEqual("GPU 0: " + self.said(artifacts("training"), "how busy is gpu 0 in forward").rstrip("."), during.split("; ")[0])
        busy, idle = (float(self.said(artifacts("training"), f"how {word} is gpu 0 in forward").split(" %")[0]) for word in ("busy", "idle"))
        self.assertAlmostEqual(busy + idle, 100, delta=0.2)

    def test_the_share_of_time_in_which_kernels_run(self):
        place = artifacts("training")
        rows = self.rows(place, "select device_id, human(kernel_busy_ns, 'ns'), human(100.0 * kernel_busy_ns / (select sum(duration_ns) from capture_time where phase not in ('not_recorded', 'exited')), 'percent'), "
                                "human(compute_pct + exposed_comm_pct, 'percent') from gpu_utilization u join (select device_id as d, active_ns, compute_ns, exposed_comm_ns, 100.0 * compute_ns / active_ns as c from gpu_active) on d = device_id")
        for question in ("kernel time over total time", "kernel time as a share of the session", "percent of time in kernels", "what fraction of the session is kernel time", "how much of the total time is kernels"):
            said = self.said(place, question)
            for device, ns, share, _ in rows:
                self.assertRegex(said, rf"{re.escape(share)} of the [\d.]+ m?s recorded of the program: kernels run for {ns} on GPU {device}, ", question)
        self.assertRegex(self.said(place, "kernel time as a share of active time"), r"^[\d.]+ % of the active time of GPU 0: kernels run for ")
        self.assertNotIn("recorded of the program", self.said(place, "percent of time in gemms"))

    def test_copies_against_computing(self):
        place = artifacts("copy-bound")
        (copies, compute), = self.rows(place, "select human((select union_ns(start_ns, end_ns) from v_copies where direction <> 'memset'), 'ns'), human(sum(compute_ns), 'ns') from gpu_active")
        for question, verdict in (("which is faster, copy or compute", ""), ("is copying slower than compute", "Yes: "), ("is compute faster than copies", "Yes: "), ("which takes longer, compute or copies", "")):
            self.assertTrue(self.said(place, question).startswith(f"{verdict}{copies} of copies against {compute} of computing total, "), (question, self.said(place, question)))

    def test_words_that_an_answer_covers(self):
        left = "No answer accounts for"
        for name, question in (("training", "gemm vs attention over the run"), ("training", "compared to gpu 0, how busy is gpu 1"), ("training", "average latency of cudaLaunchKernel"), ("training", "busy vs idle"),
                               ("training", "memory copies vs compute time"), ("training", "launch latency"), ("training", "time between the first kernel and the last")):
            self.assertNotIn(left, self.said(artifacts(name), question), question)
        for question in ("time between kernels", "what is the latency between kernels", "time between two kernels"):
            self.assertRegex(self.said(artifacts("training"), question), " is the average gap between kernels, each and the next of its stream: ", question)
        self.assertRegex(self.said(artifacts("training"), "kernel latency"), "launch latencies \\(from the call to the start\\)")

    def test_the_first_one_after_another(self):
        place = artifacts("host-bound")
        (ns,), = self.rows(place, "select human((select min(start_ns) from kernel_events) - min(start_ns), 'ns') from api_events")
        said = self.said(place, "how long until the first kernel after the first cuda call")
        self.assertTrue(said.startswith(f"{ns} from the start of the first CUDA call "), said)

    def test_data_is_no_size_where_kernels_are_compared(self):
        said = self.said(artifacts("copy-bound"), "how long does the data transfer take compared to the kernels")
        self.assertRegex(said, r"^copies take more: [\d.]+ ms against [\d.]+ ms, ")

    def test_whether_a_kernel_uses_the_whole_gpu(self):
        place = support.artifacts(edited("healthy", "update CUPTI_ACTIVITY_KIND_KERNEL set gridX = 1, gridY = 1, gridZ = 1"))
        for question in ("is gemm_nt using the whole gpu", "does gemm_nt use all sms", "does gemm_nt fill the gpu"):
            self.assertRegex(self.said(place, question), r"^No: (\d+) of \1 kernels have fewer blocks than the GPU has SMs, ", question)
            self.assertRegex(self.said(artifacts("healthy"), question), r"^Yes: 0 of \d+ kernels have fewer blocks", question)

    def test_rate_of_launches(self):
        (rate,), = self.rows(artifacts("launch-storm"), "select human(1e9 * (select count(*) from api_events where name like '%launch%') / (window_end_ns - window_start_ns), 'per_second') from run_info")
        self.assertTrue(self.said(artifacts("launch-storm"), "what is the launch rate").startswith(f"{rate} of the window: "))


if __name__ == "__main__":
    support.main()
