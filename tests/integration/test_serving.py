"""Serving from outside: the plan's steps and requests, and every sum made again from them; and what must not be said."""
import collections
import re
import shutil
import sqlite3
import statistics
import unittest

from support import SERVING, analyze, artifacts, fresh_dir, ns_of_ms, read_csv, report, run, trace, truth


def median(values):
    """Of an even number the middle of the middle two, rounded down."""
    return int(statistics.median(values) // 1)


def planned(name, pid=7101):
    """The plan's steps of a process, in order, each with what follows from its neighbors."""
    steps = [dict(s) for s in truth(trace(name))["serving_steps"] if s["pid"] == pid]
    until, last = steps[0]["start_ns"], None
    for i, step in enumerate(steps):
        step["idle"], step["pause"] = max(0, step["start_ns"] - until), step["start_ns"] - until > 10_000_000
        step["overlap"] = max(0, min(until, step["end_ns"]) - step["start_ns"])
        step["recomputed"] = step["generation_tokens"] - step["generation_requests"] > 64 and step["kind"] == "mixed"
        step["period"], step["steady"] = None, i + 1 < len(steps) and step["kind"] != "empty"
        if i and not step["pause"]:
            steps[i - 1]["period"] = step["start_ns"] - steps[i - 1]["start_ns"]
        if step["pause"]:
            last = None
        step["interval"], step["since"] = None, last
        if step["generation_requests"]:
            step["interval"] = None if last is None else step["end_ns"] - steps[last]["end_ns"]
            last = i
        until = max(until, step["end_ns"])
    return steps


def found(name, pid=7101):
    return [r for r in read_csv(artifacts(trace(name)), "serving_steps") if int(r["pid"]) == pid]


def summary(name, kind):
    row, = (r for r in read_csv(artifacts(trace(name)), "serving_summary") if r["kind"] == kind)
    return row


def ns(text):
    return ns_of_ms(text) if text else None


class Steps(unittest.TestCase):
    maxDiff = None

    def check_steps(self, name, pid=7101):
        wanted, rows = planned(name, pid), found(name, pid)
        self.assertEqual([int(r["step"]) for r in rows], [s["step"] for s in wanted])
        for row, step in zip(rows, wanted):
            self.assertEqual((int(row["gpu_start_ns"]), int(row["gpu_end_ns"]), int(row["kernel_count"])),
                             (step["start_ns"], step["end_ns"], step["kernel_count"]))
            self.assertEqual((ns(row["period_ms"]), ns(row["idle_before_ms"]), ns(row["overlap_ms"])),
                             (step["period"], step["idle"], step["overlap"]))
            self.assertEqual(row["pause_before"], "1" if step["pause"] else "0")
        self.assertEqual(sum(ns(r["span_ms"]) - ns(r["overlap_ms"]) + ns(r["idle_before_ms"]) for r in rows),
                         max(s["end_ns"] for s in wanted) - wanted[0]["start_ns"])
        return zip(rows, wanted)

    def test_requests_and_tokens(self):
        for name, pid in (("serving", 7101), ("serving", 7102), ("serving-eager", 7101), ("serving-guessing", 7101)):
            with self.subTest(name, pid=pid):
                for row, step in self.check_steps(name, pid):
                    self.assertEqual(row["kind"], step["kind"])
                    self.assertEqual(ns(row["interval_ms"]), step["interval"])
                    for count in ("context_requests", "context_tokens", "generation_requests"):
                        self.assertEqual(int(row[count]), step[count], count)
                    if name != "serving-eager":  # TensorRT-LLM does not name these tokens
                        self.assertEqual(int(row["generation_tokens"]), step["generation_tokens"])
                    else:
                        self.assertEqual(row["generation_tokens"], "")

    def test_steps_without_counts(self):
        for row, step in self.check_steps("serving-uncounted"):
            self.assertEqual(row["kind"], "decode" if step["kind"] == "decode" else "unknown")
            self.assertEqual({row[c] for c in ("context_requests", "context_tokens", "generation_requests",
                                               "generation_tokens", "interval_ms")}, {""})

    def test_table_steps_has_the_same_ones(self):
        for name in ("serving", "serving-eager", "serving-uncounted"):
            with self.subTest(name):
                rows = [r for r in read_csv(artifacts(trace(name)), "steps") if int(r["pid"]) == 7101]
                self.assertEqual([r["label"] for r in rows], [r["label"] for r in found(name)])
                self.assertEqual({r["method"] for r in read_csv(artifacts(trace(name)), "step_search")}, {"serving"})
                self.assertEqual({r["is_outlier"] for r in rows}, {"0"})
        rows = [r for r in read_csv(artifacts(trace("serving")), "steps") if int(r["pid"]) == 7101]
        for row, step in zip(rows, planned("serving")):
            if not step["recomputed"]:  # the name alone does not tell these
                self.assertEqual(row["state"], "steady" if step["kind"] == "decode" else "other kind", row["label"])

    def test_user_s_steps_go_first(self):
        directory = artifacts(trace("serving-eager"), "--step", "_forward_step [0-9]*0:")
        self.assertEqual({r["method"] for r in read_csv(directory, "step_search")}, {"user"})
        self.assertEqual(len(read_csv(directory, "serving_steps")), 20)


class Engines(unittest.TestCase):
    def test_ranks_are_one_engine(self):
        row, = read_csv(artifacts(trace("serving")), "serving_engines")
        self.assertEqual((row["format"], row["process_ids"], row["device_ids"], row["ranks"], row["role"], row["pid"]),
                         ("vLLM", "7101, 7102", "0, 1", "2", "tensor parallel", "7101"))
        steps = planned("serving")
        pauses = [s["idle"] for s in steps if s["pause"]]
        self.assertEqual((int(row["pause_count"]), ns(row["pause_ms"])), (2, sum(pauses)))
        self.assertIn("node by node", row["note"])

    def test_formats(self):
        for name, format, source, known in (("serving-eager", "TensorRT-LLM", "names", "1"),
                                            ("serving-uncounted", "SGLang's loop", "inferred", "0")):
            row, = read_csv(artifacts(trace(name)), "serving_engines")
            self.assertEqual((row["format"], row["kind_source"], row["tokens_known"], row["role"]),
                             (format, source, known, "one GPU"))

    def test_nothing_without_ranges_of_an_engine(self):
        for name in ("inference", "steps", "training"):
            directory = artifacts(trace(name))
            for table in ("engines", "steps", "summary", "batch", "curve", "interference", "host"):
                self.assertEqual(read_csv(directory, f"serving_{table}"), [])
            self.assertNotIn("Serving", (directory / "report.md").read_text(encoding="utf-8"))


class Numbers(unittest.TestCase):
    def weighted(self, steps, share):
        """The interval that so much of the tokens is not above."""
        steps = sorted((s for s in steps if s["interval"] and s["steady"] and not s["recomputed"]),
                       key=lambda s: s["interval"])
        total, seen = sum(s["generation_requests"] for s in steps), 0
        for step in steps:
            seen += step["generation_requests"]
            if seen >= share * total:
                return step["interval"]

    def test_time_per_token(self):
        for name in ("serving", "serving-eager", "serving-guessing"):
            for kind in ("decode", "all"):
                steps = [s for s in planned(name) if kind in (s["kind"], "all")]
                row = summary(name, kind)
                for column, share in (("interval_p50_ms", 0.5), ("interval_p90_ms", 0.9), ("interval_p99_ms", 0.99)):
                    self.assertEqual(ns(row[column]), self.weighted(steps, share), (name, kind, column))

    def test_rates_leave_out_pauses_and_what_is_recomputed(self):
        for name, kind in (("serving", "all"), ("serving", "decode"), ("serving-eager", "decode")):
            steps = [s for s in planned(name) if s["steady"] and s["period"] and kind in (s["kind"], "all")]
            active = sum(s["period"] for s in steps)
            made = sum(s["generation_requests"] for s in steps if not s["recomputed"])
            row = summary(name, kind)
            self.assertEqual((ns(row["active_ms"]), int(row["tokens_low"])), (active, made))
            self.assertAlmostEqual(float(row["tokens_per_s_low"]), 1e9 * made / active, places=2)
        self.assertEqual(summary("serving", "mixed")["recompute_steps"], "1")
        self.assertEqual(summary("serving-eager", "decode")["tokens_high"], "")  # guesses would not be in the names

    def test_prompts(self):
        for kind in ("prefill", "mixed", "all"):
            steps = [s for s in planned("serving") if s["steady"] and s["period"] and s["context_requests"]
                     and kind in (s["kind"], "all")]
            tokens, spent = sum(s["context_tokens"] for s in steps), sum(s["period"] for s in steps)
            row = summary("serving", kind)
            self.assertEqual(int(row["context_tokens"]), tokens)
            self.assertAlmostEqual(float(row["prefill_tokens_per_s"]), 1e9 * tokens / spent, places=2)

    def test_guesses_are_a_range_and_no_claim(self):
        row = summary("serving-guessing", "decode")
        self.assertEqual(int(row["tokens_high"]), 4 * int(row["tokens_low"]))
        self.assertIn("speculative", row["note"])
        engine, = read_csv(artifacts(trace("serving-guessing")), "serving_engines")
        self.assertEqual(engine["draft_tokens"], "3")

    def test_no_numbers_from_few_steps(self):
        row = summary("serving", "mixed")
        self.assertEqual(row["interval_p90_ms"], "")
        row = summary("serving-guessing", "mixed")  # the last of its 20 is cut by the capture
        self.assertEqual((row["steady_steps"], row["median_period_ms"], row["interval_p50_ms"], row["tokens_per_s_low"]),
                         ("19", "", "", ""))

    def test_no_tokens_where_names_do_not_count(self):
        for row in read_csv(artifacts(trace("serving-uncounted")), "serving_summary"):
            self.assertEqual({row[c] for c in ("tokens_low", "tokens_per_s_low", "interval_p50_ms", "context_tokens",
                                               "prefill_tokens_per_s", "padding_pct")}, {""})
        for table in ("batch", "curve", "interference"):
            self.assertEqual(read_csv(artifacts(trace("serving-uncounted")), f"serving_{table}"), [])
        self.assertTrue(summary("serving-uncounted", "decode")["median_period_ms"])

    def test_steps_that_hold_a_pause_are_not_typical(self):
        """The rounds before the two pauses last from one start to the next: all of the pause."""
        steps = read_csv(artifacts(trace("serving-uncounted")), "steps")
        self.assertEqual(len([s for s in steps if s["state"] == "paused"]), 2)
        self.assertTrue(all((s["state"] == "paused") == (float(s["idle_ms"]) > 50) for s in steps))
        summary_row, = read_csv(artifacts(trace("serving-uncounted")), "step_summary")
        self.assertLess(float(summary_row["max_ms"]), 10)

    def test_padding_of_graphs(self):
        """Graphs are captured for powers of two; the largest batch seen with one is what is known of its size."""
        steps = [s for s in planned("serving") if s["kind"] == "decode" and s["steady"]]
        graphs = collections.defaultdict(list)
        for step in steps:
            graphs[(step["generation_requests"] - 1).bit_length()].append(step["generation_requests"])
        full = sum(max(sizes) * len(sizes) for sizes in graphs.values())
        used = sum(map(sum, graphs.values()))
        row = summary("serving", "decode")
        self.assertAlmostEqual(float(row["padding_pct"]), 100 - 100 * used / full, places=3)
        self.assertEqual(float(row["graph_steps_pct"]), 100)
        self.assertEqual(float(summary("serving-eager", "decode")["graph_steps_pct"]), 0)


class BatchCurve(unittest.TestCase):
    def sizes(self, name):
        out = collections.defaultdict(list)
        for step in planned(name):
            if step["kind"] == "decode" and step["steady"] and step["period"]:
                out[step["generation_requests"]].append(step["period"])
        return out

    def test_buckets(self):
        buckets = collections.defaultdict(list)
        for size, periods in self.sizes("serving").items():
            buckets[(size - 1).bit_length()] += [(size, p) for p in periods]
        rows = read_csv(artifacts(trace("serving")), "serving_batch")
        self.assertEqual([r["bucket"] for r in rows], ["1", "2", "3-4", "5-8", "9-16", "17-32"])
        for row, (_, steps) in zip(rows, sorted(buckets.items())):
            self.assertEqual((int(row["steps"]), ns(row["median_period_ms"])), (len(steps), median([p for _, p in steps])))
            self.assertAlmostEqual(float(row["tokens_per_s"]), 1e9 * sum(s for s, _ in steps) / sum(p for _, p in steps),
                                   places=2)

    def test_line(self):
        """Weighted least squares through the medians, in exact fractions of the plan's numbers."""
        points = [(len(p), s, sorted(p)[(len(p) - 1) // 2]) for s, p in self.sizes("serving-eager").items()]
        weight = sum(w for w, _, _ in points)
        x, y = sum(w * a for w, a, _ in points) / weight, sum(w * b for w, _, b in points) / weight
        slope = sum(w * (a - x) * (b - y) for w, a, b in points) / sum(w * (a - x) ** 2 for w, a, _ in points)
        row, = read_csv(artifacts(trace("serving-eager")), "serving_curve")
        self.assertAlmostEqual(float(row["request_us"]), slope / 1000, places=2)
        self.assertAlmostEqual(ns(row["base_ms"]), y - slope * x, delta=2)
        self.assertAlmostEqual(slope, 10_000, delta=200)  # as planned
        self.assertEqual(row["reason"], "")
        self.assertIn("stairs", read_csv(artifacts(trace("serving")), "serving_curve")[0]["reason"])


class Interference(unittest.TestCase):
    def test_what_prompts_cost(self):
        steps = planned("serving")
        valid = [(i, s) for i, s in enumerate(steps) if s["interval"] and s["steady"] and not s["recomputed"]]
        pure, delayed = collections.defaultdict(list), []
        for i, step in valid:
            within = steps[step["since"] + 1:i + 1]
            if any(s["context_requests"] for s in within):
                delayed.append((step, within))
            elif step["kind"] == "decode" and len(within) == 1:
                pure[(step["generation_requests"] - 1).bit_length()].append(step["interval"])
        extra = waited = 0
        for step, within in delayed:
            own = step["interval"] - median(pure[(step["generation_requests"] - 1).bit_length()])
            before = steps[step["since"]]["generation_requests"]
            extra += own
            waited += own * (step["generation_requests"] if step["context_requests"]
                             else min(before, step["generation_requests"]))
        row, = read_csv(artifacts(trace("serving")), "serving_interference")
        self.assertEqual((int(row["steps"]), ns(row["extra_ms"]), ns(row["delayed_request_ms"])),
                         (len(delayed), extra, waited))
        self.assertAlmostEqual(float(row["share_pct"]),
                               100 * waited / sum(s["interval"] * s["generation_requests"] for _, s in valid), places=3)
        self.assertEqual(int(row["prefill_only_steps"]), sum(not s["context_requests"] for s, _ in delayed))

    def test_none_without_prompts(self):
        self.assertEqual(read_csv(artifacts(trace("serving-eager")), "serving_interference"), [])


class Host(unittest.TestCase):
    def test_causes_divide_the_time_between_steps(self):
        for name in ("serving", "serving-eager"):
            rows = read_csv(artifacts(trace(name)), "serving_host")
            steps = found(name)
            known = {s["step"]: s for s in planned(name)}
            between = sum(ns(r["host_between_ms"]) for r in steps
                          if r["state"] == "steady" and r["kind"] != "empty" and known[int(r["step"])]["period"])
            self.assertEqual(sum(ns(r["total_ms"]) for r in rows), between)
            self.assertTrue(all(ns(r["gpu_idle_ms"]) <= ns(r["total_ms"]) for r in rows))
        code, = (r for r in read_csv(artifacts(trace("serving-eager")), "serving_host") if r["cause"] == "host code")
        self.assertEqual(round(ns(code["total_ms"]) / 197 / 1000), 251)  # 250 us, and what calls leave between them


class OtherForms(unittest.TestCase):
    """The same trace with names of other versions."""

    def renamed(self, rename, *options):
        path = fresh_dir() / "renamed.sqlite"
        shutil.copyfile(trace("serving"), path)
        with sqlite3.connect(path) as export:
            for (text,) in export.execute("select distinct text from NVTX_EVENTS where text like 'execute_context%'").fetchall():
                numbers = re.fullmatch(r"execute_context_(\d+)\((\d+)\)_generation_(\d+)\((\d+)\)", text)
                if numbers:
                    export.execute("update NVTX_EVENTS set text = ? where text = ?",
                                   (rename(*map(int, numbers.groups())), text))
        export.close()
        return analyze(path, *options)

    def test_lengths_of_sequences(self):
        directory = self.renamed(lambda c, t, g, u: f"execute_{c + g}_context_{c}(sq{t}sk{t}sqsq{t * t}sqsk{t})_generation_{g}"
                                 f"(sq{u}sk{1000 * g}sqsq{u}sqsk{u})", "--model-weights", "1e9,kv=1000")
        want = planned("serving")
        rows = [r for r in read_csv(directory, "serving_steps") if r["pid"] == "7101"]
        self.assertEqual([int(r["kv_tokens"]) for r in rows], [1000 * s["generation_requests"] for s in want])
        lengths = [1000 * s["generation_requests"] for s in want if s["kind"] == "decode" and s["steady"]]
        row, = read_csv(directory, "serving_bound")
        self.assertEqual(int(row["bytes_low"]), 10**9 + 1000 * median(lengths))

    def test_new_and_known_requests(self):
        directory = self.renamed(lambda c, t, g, u: f"execute_new_{c}_cached_{g}")
        rows = [r for r in read_csv(directory, "serving_steps") if r["pid"] == "7101"]
        for row, step in zip(rows, planned("serving")):
            replays = step["generation_requests"] and not step["context_requests"]
            self.assertEqual(row["kind"], "prefill" if step["kind"] == "prefill" else "decode" if replays else "unknown")
            self.assertEqual(row["context_tokens"], "")
        self.assertEqual({r["tokens_low"] for r in read_csv(directory, "serving_summary")}, {""})

    def test_modes(self):
        def rename(c, t, g, u):
            mode = "MIXED" if c and g else "EXTEND" if c else "DECODE" if g else "IDLE"
            return f"step[{mode} bs={c + g}{f' toks={t}' if c and not g else ''}]"
        directory = self.renamed(rename)
        rows = [r for r in read_csv(directory, "serving_steps") if r["pid"] == "7101"]
        for row, step in zip(rows, planned("serving")):
            if step["recomputed"]:  # SGLang does not name these tokens
                continue
            self.assertEqual(row["kind"], step["kind"])
            self.assertEqual(row["context_tokens"], {"prefill": str(step["context_tokens"]), "decode": "0"}.get(step["kind"], ""))
            self.assertEqual(row["generation_requests"],
                             {"decode": str(step["generation_requests"]), "prefill": "0"}.get(step["kind"], ""))


class Bound(unittest.TestCase):
    def row(self, weights):
        directory = artifacts(trace("serving"), "--model-weights", weights)
        row, = read_csv(directory, "serving_bound")
        return row, {f["id"] for f in report(directory).json["findings"]}, (directory / "report.md").read_text(encoding="utf-8")

    def test_share(self):
        gpu = next(r for r in read_csv(artifacts(trace("serving")), "gpus") if r["device_id"] == "0")
        busy = ns(summary("serving", "decode")["median_busy_ms"])
        for weights, low, high, near in (("5e8", 5e8, 5e8, False), ("1.4e9", 1.4e9, 1.4e9, True),
                                         ("2e9,active=4e8-1.2e9", 4e8, 1.2e9, False)):
            row, findings, text = self.row(weights)
            for name, size in (("low", low), ("high", high)):
                share = 100 * size / int(gpu["memory_bytes_per_s"]) * 1e9 / busy
                self.assertAlmostEqual(float(row[f"share_{name}_pct"]), share, places=2)
            self.assertEqual("serving-decode-near-weight-reads" in findings, near, weights)
            self.assertIn("Engine 0, weights: reading them takes", text)
            self.assertNotIn("memory-bound", text)

    def test_impossible_bytes_are_refused(self):
        for weights in ("1e10", "1e300", "1e10,kv=1e300"):
            row, findings, _ = self.row(weights)
            self.assertEqual((row["share_low_pct"], row["share_high_pct"]), ("", ""), weights)
            self.assertIn("not what it reads", row["reason"])
            self.assertNotIn("serving-decode-near-weight-reads", findings)

    def test_numbers_have_no_unit(self):
        done = run("analyze", trace("serving"), "-q", "--out", fresh_dir() / "run", "--model-weights", "14GB")
        self.assertEqual((done.returncode, done.stderr.strip()),
                         (2, 'nsys-ai: --model-weights: "14GB": expected a number above 0 without a unit, such as 14e9'))

    def test_mistakes(self):
        for value in ("", "0", "x", "1e9,", "1e9,active", "1e9,active=3e9-1e9", "1e9,kv=-1", "1e9,other=1"):
            done = run("analyze", trace("serving"), "-q", "--out", fresh_dir() / "run", "--model-weights", value)
            self.assertEqual(done.returncode, 2, value)
            self.assertIn("--model-weights", done.stderr)

    def test_nothing_without_it(self):
        self.assertEqual(read_csv(artifacts(trace("serving")), "serving_bound"), [])


class Said(unittest.TestCase):
    """What the report, answers and comparisons say, and what they must not say."""

    def ask(self, name, question):
        done = run("ask", artifacts(trace(name)), question)
        self.assertEqual(done.returncode, 0, done.stderr)
        return " ".join(done.stdout.split("Evidence")[0].split())

    def test_findings(self):
        for name in SERVING:
            findings = {f["id"] for f in report(artifacts(trace(name))).json["findings"]}
            planned = truth(trace(name))["findings"]
            self.assertLessEqual(set(planned["must_fire"]), findings, name)
            self.assertFalse(set(planned["must_not_fire"]) & findings, name)
            self.assertFalse({"slow-step", "step-time-variance", "steps-drift"} & findings, name)
        row, = (f for f in report(artifacts(trace("serving-eager"))).json["findings"]
                if f["id"] == "serving-host-between-steps")
        host = read_csv(artifacts(trace("serving-eager")), "serving_host")
        self.assertEqual(row["saving_ns"], sum(ns(r["gpu_idle_ms"]) for r in host))

    def test_advice_is_the_engine_s_own(self):
        for name, own, others in (("serving", "--max-num-batched-tokens", "--chunked-prefill-size"),
                                  ("serving-eager", "disable_overlap_scheduler", "--async-scheduling")):
            text = (artifacts(trace(name)) / "report.md").read_text(encoding="utf-8")
            self.assertIn(own, text)
            self.assertNotIn(others, text)

    def test_report_folds_it_into_one_section(self):
        for name in SERVING:
            text = (artifacts(trace(name)) / "report.md").read_text(encoding="utf-8")
            self.assertEqual(text.count("<details><summary>Serving</summary>"), 1)
            section = text.split("<details><summary>Serving</summary>")[1].split("</details>")[0]
            self.assertLess(len(section.splitlines()), 50)
            self.assertEqual("intervals between tokens" in section, name in ("serving", "serving-guessing"))

    def test_first_screen_says_tokens(self):
        """Of the engine, not of a rank times ranks; a range where guesses may count; none where names do not count."""
        for name, said in (("serving", f"{float(summary('serving', 'all')['tokens_per_s_low']):,.0f}/s"), ("serving-uncounted", "tokens not known"),
                           ("serving-eager", f"{float(summary('serving-eager', 'all')['tokens_per_s_low']):,.0f}/s"), ("serving-guessing", "one token per request, or more")):
            for file, end in (("report.md", "Details, timeline"), ("report.html", "<h2>Findings</h2>")):
                line, = (row for row in (artifacts(trace(name)) / file).read_text(encoding="utf-8").partition(end)[0].splitlines() if "Serving, " in row)
                self.assertIn(said, line)
                device_ids = read_csv(artifacts(trace(name)), "serving_engines")[0]["device_ids"]
                self.assertIn(f"GPUs {device_ids}" if "," in device_ids else f"GPU {device_ids}", line)
                self.assertEqual("node by node" in line, "node by node" in read_csv(artifacts(trace(name)), "serving_engines")[0]["note"], file)

    def test_answers(self):
        rate = float(summary("serving", "all")["tokens_per_s_low"])
        self.assertIn(f"{rate:,.0f} tokens/s", self.ask("serving", "how many tokens per second"))
        low, high = (float(summary("serving-guessing", "all")[f"tokens_per_s_{end}"]) for end in ("low", "high"))
        self.assertIn(f"{low:,.0f} to {high:.0f} tokens/s", self.ask("serving-guessing", "tokens per second"))
        self.assertIn("no range of a serving engine counts", self.ask("serving-uncounted", "tokens per second"))
        self.assertIn("no range of a serving engine counts", self.ask("steps", "tokens per second"))
        self.assertIn("39 intervals", self.ask("serving", "how much does a prefill delay decode"))
        self.assertIn("--model-weights", self.ask("serving", "is decode memory bound"))
        self.assertIn("for each request", self.ask("serving-eager", "how does the batch size change decode throughput"))

    def test_what_no_trace_tells(self):
        for name in SERVING:
            for question in ("what is the time to first token", "what is the request latency"):
                answer = self.ask(name, question)
                self.assertIn("Not in a trace", answer)
                self.assertNotRegex(answer.partition("What this cannot tell")[0], r"[0-9] (ms|µs|tokens)")
            text = (artifacts(trace(name)) / "report.md").read_text(encoding="utf-8").lower()
            for phrase in ("memory-bound", "memory bound", "first token", "requests per second", "accepted"):
                self.assertNotIn(phrase, text, name)

    def test_ranks_do_not_add_up(self):
        one, = (r for r in read_csv(artifacts(trace("serving")), "metrics") if r["metric"] == "serving.tokens_per_s")
        self.assertEqual(float(one["value"]), float(summary("serving", "all")["tokens_per_s_low"]))

    def test_comparing_other_batches_is_said(self):
        for other, differs in (("serving-eager", True), ("serving", False)):
            out = fresh_dir() / "compared"
            done = run("compare", artifacts(trace("serving-guessing")), artifacts(trace(other)), "--out", out)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            checks = {r["check"]: r["level"] for r in read_csv(out, "compared_checks")}
            self.assertEqual(checks.get("batch_differs"), "soft" if differs else None)
            self.assertIn("serving.token.p50", {r["metric"] for r in read_csv(out, "compared_metrics")})
            self.assertEqual("serving.token.p50" in (out / "compare.md").read_text(encoding="utf-8"), differs)  # other GPUs: nothing is compared

    def test_node_by_node_tracing_is_said(self):
        note = {n: read_csv(artifacts(trace(n)), "serving_engines")[0]["note"] for n in SERVING}
        self.assertIn("node by node", note["serving"])
        self.assertEqual((note["serving-eager"], note["serving-guessing"]), ("", ""))


if __name__ == "__main__":
    unittest.main()
