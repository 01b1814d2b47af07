"""Questions in plain words: facts are rows of tables, answers say what is known, and nothing else."""
import json
import re
import shlex
import unittest

import yaml

import support
from support import SOURCE, fresh_dir, trace

INTENTS = yaml.safe_load((SOURCE / "rules/intents.yaml").read_text())
QUESTIONS = {  # what an engineer types, and what it is about
    "why is my GPU idle": "idle", "why are there bubbles?": "idle", "What is the GPU utilization?": "idle", "what is the slowest kernel": "slow_kernels",
    "is NCCL overlapped": "communication", "how much of the all-reduce is exposed": "communication", "how long is a step": "steps",
    "how many iterations per second": "steps", "why is the first step slow": "first_step", "is torch.compile in the capture": "first_step",
    "does it run out of memory": "memory", "is there a memory leak": "memory", "am I using tensor cores": "arithmetic", "what is the MFU": "arithmetic",
    "what is on the critical path": "critical_path", "what if we simulate that": "critical_path", "compare with yesterday": "compare", "is it slower than the last run": "compare", "why is it slow": "overview", "what should I fix first": "overview",
    "are my copies pinned": "copies", "how fast are H2D copies": "copies", "is the data loader a bottleneck": "input", "would CUDA graphs help": "graphs",
    "is the load balanced across ranks": "imbalance", "which layer takes the most time": "phases", "how much launch overhead is there": "launches",
    "is occupancy limited by registers": "occupancy", "can I trust this trace": "quality", "does the profiler slow things down": "quality",
    "why do some steps take longer than others": "variation", "what GPU is this": "hardware", "is the GPU throttling": "clocks",
    "what does the CPU do meanwhile": "cpu", "is python's GIL a problem": "cpu", "how much time is spent in attention": "attention",
    "is the loss correct": "accuracy", "how much memory bandwidth is used": "bandwidth", "are there page faults": "unified_memory", "do we wait for disk": "network",
    "where do we block": "waits", "what could be fused": "fusion", "which framework is it": "workload", "do processes share the GPU": "processes", "what does it cost": "cost",
    "how many kernels run": "counts", "does it scale to 8 GPUs": "scaling", "should I use a bigger batch": "batch_size", "do the GPUs wait for each other": "imbalance",
    "which kernels should I fuse": "fusion", "what does step 3 look like": "steps", "what is queue_drained": "named_cause",
    "compare GPU 0 and GPU 1": "imbalance", "compare GPUs 0 and 1": "imbalance", "is GPU 1 slower than GPU 0": "imbalance", "compare with the run of GPU 0": "compare",
    "why are some frames slow": "variation", "how fast is one frame": "steps", "what is the frame rate": "steps", "which NVTX range takes the most GPU time": "phases",
    "how many kernels were launched per step": "step_content", "how many launches per frame": "step_content", "what is a pause": "pauses", "why is there a pause": "pauses"}


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
    def test_each_question_is_about_its_subject(self):
        place = artifacts("host-bound")
        for question, about in QUESTIONS.items():
            with self.subTest(question):
                self.assertEqual(ask(place, question)["intents"][:1], [about])

    def test_every_rule_answers_something(self):
        rules = {rule["id"] for rule in yaml.safe_load((SOURCE / "rules/default.yaml").read_text())["rules"]}
        patterns = [p for intent in INTENTS["intents"] for p in intent.get("rules", []) if p != "*"]
        for rule in sorted(rules):
            self.assertTrue(any(rule == p or (p.endswith("*") and rule.startswith(p[:-1])) for p in patterns),
                            f"no question leads to rule {rule}: name it under `rules:` of an intent in rules/intents.yaml")
        for pattern in patterns + INTENTS["caveats"]:
            self.assertTrue(any(rule == pattern or (pattern.endswith("*") and rule.startswith(pattern[:-1])) for rule in rules),
                            f"rules/intents.yaml names {pattern}, but rules/default.yaml has no such rule: correct or remove it")

    def test_every_intent_is_asked(self):
        """... so that a mistake in one of its statements is an error above."""
        self.assertEqual({i["intent"] for i in INTENTS["intents"] if "words" in i}, set(QUESTIONS.values()) - {"named_cause"})

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

    def test_names_of_the_trace(self):
        place = artifacts("training")
        name = json.loads(run("sql", place, "select short_name from kernels limit 1", "--format", "json").stdout)["rows"][0][0]
        short = re.split("[<(]", name)[0]
        answer = ask(place, f"how slow is {short}")
        self.assertEqual(answer["intents"][0], "named_kernel")
        self.assertIn(short, answer["facts"][0]["text"])
        self.assertEqual(ask(place, 'what happens in "forward"')["intents"][0], "named_range")
        self.assertEqual(ask(place, "how long is cudaLaunchKernel")["intents"][0], "named_call")
        self.assertIn('Nothing in the trace is called "no_such_kernel"', ask(place, "how slow is no_such_kernel")["answer"][0]["text"])


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
        self.assertIn("/s)", self.said("steps-jitter", "what is the frame rate"))
        self.assertIn("stands out most", self.said("steps", "why are some frames slow"))

    def test_ranges_are_no_kernels(self):
        self.assertEqual({f["table"] for f in ask(artifacts("training"), "which NVTX range takes the most GPU time")["facts"]} & {"kernels"}, set())

    def test_per_step(self):
        place = artifacts("steps")
        kernels = json.loads(run("sql", place, "select median_kernel_count from step_summary", "--format", "json").stdout)["rows"][0][0]
        self.assertIn(f"The median step on GPU 0 has {kernels} kernels", self.said("steps", "how many kernels were launched per step"))
        self.assertIn("No steps were found in this trace", self.said("drained-queue", "how many kernels were launched per step"))

    def test_launch_overhead_is_a_time(self):
        place = artifacts("training")
        lost = {row[0]: row[1] for row in json.loads(run("sql", place, "select device_id, human(sum(active_ns), 'ns') from idle_causes where cause in "
                                                         "('launch_latency', 'in_launch_call') group by 1", "--format", "json").stdout)["rows"]}
        gpu, time = re.match(r"GPU (\d) is idle for (\S+ \w+) \(", self.said("training", "how much time is lost to kernel launch overhead")).groups()
        self.assertEqual(lost[int(gpu)], time)

    def test_calls_of_a_name(self):
        answer = ask(artifacts("alloc-churn"), "how much time is spent in cudaMalloc")
        said = " ".join(s["text"] for s in answer["answer"])
        self.assertRegex(said, r"cudaMalloc is called 60 times .* cudaMallocAsync, another such call, is called 60 times")
        self.assertNotIn("Nothing recorded", said)
        self.assertIn("Not all of it is recorded: the trace has no memory allocations", json.dumps(answer["cannot_tell"]))
        self.assertIn("cudaMalloc is called 1 time and", self.said("inference", "how much time is spent in cudaMalloc"))

    def test_pauses(self):
        self.assertRegex(self.said("pause", "why is there a pause"), r"The longest pause is one of .* the launching thread (waited for input|read files)")
        self.assertRegex(self.said("training", "what is a pause"), r"^A pause is .* This trace has none\.$")

    def test_causes(self):
        self.assertIn("queue_drained is a cause of idle time: a wait had left the queue empty", self.said("host-bound", "what is queue_drained"))
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

    def test_one_and_none(self):
        for name in ("pause", "inference", "cpu-work", "minimal", "cold"):
            for question in QUESTIONS:
                text = json.dumps(ask(artifacts(name), question)["facts"])
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
        self.assertEqual(answer["intents"], [])
        self.assertTrue(answer["answer"][0]["text"].startswith("No word of the question"))
        self.assertTrue(answer["facts"])

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
        for question in ("'; drop table kernels; --", '"', "`" * 50, "{{x}} [F1] %s %n", "\x1b[31mred\x1b[0m idle", "a" * 1900, "_" * 60, "é" * 300, "gpu 99999", "gpu gpu gpu", "::", "*", "idle " * 300):
            done = run("ask", place, question)
            self.assertNotIn("\x1b", done.stdout)
        self.assertIn("at most 2000 bytes", ask(place, "a" * 2001, status=2))
        self.assertIn("question is empty", ask(place, " ", status=2))


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

    def test_mistakes_have_a_place(self):
        place = artifacts("host-bound")
        for text, said in (("intents:\n  - intent: x\n", ':2:5: "about" is missing'), ("intents: 3\n", "expected a list"),
                           ("intents:\n  - intent: x\n    about: y\n    wrods: [a]\n", 'words'), ("intents:\n  - {intent: x, about: y, words: [zzz], facts: [{table: a b, text: c}]}\n", "is no table"),
                           ("intents:\n  - {intent: x, about: y, words: [zzz], rules: [\"a'b\"]}\n", "expected the id of a rule"),
                           ("intents:\n  - {intent: x, about: y, words: [zzz], facts: [{table: kernels, text: '{{nope}}'}]}\n", "intent x, facts of kernels:1:"),
                           ("intents:\n  - {intent: x, about: y, words: [zzz], facts: [{table: kernels, text: a, where: 'load_extension(1)'}]}\n", "load_extension")):
            with self.subTest(said):
                self.assertIn(said, ask(place, "zzz", "--intents", self.file(text), status=2))


if __name__ == "__main__":
    support.main()
