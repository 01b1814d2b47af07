#!/usr/bin/env python3
"""How things that a question names stand to each other: against every event of the export, one by one."""
import collections
import json
import pathlib
import re
import sqlite3
import statistics
import unittest

import support
from support import artifacts, edited, trace

Event = collections.namedtuple("Event", "name start end call tid pid gpu stream")
UNITS = {"": 1, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "%": 1}
NUMBER = re.compile(r"(\d[\d,]*(?:\.\d+)?)(?: (ns|µs|ms|s|%)(?![\w/]))?")
PYTORCH = re.compile(r"(, (seq|op_id|sizes|input_op_ids) = .*)+$")


class Export:
    """All events of an export, in the order in which they begin."""
    def __init__(self, name):
        path = name if isinstance(name, pathlib.Path) else trace(name)
        self.run = artifacts(path)
        self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.text = dict(self.db.execute("select id, value from StringIds"))
        self.tables = {row[0] for row in self.db.execute("select name from sqlite_master where type = 'table'")}
        runtime = self.rows("RUNTIME", "nameId, start, end, globalTid, correlationId")
        self.launches = {(tid >> 24, correlation): (start, tid) for _, start, _, tid, correlation in runtime}
        self.calls = self.sorted(Event(self.text[name].split("_v")[0], start, end, start, tid, tid >> 24 & 0xffffff, None, None) for name, start, end, tid, _ in runtime)
        self.kernels, self.copies = self.operations("KERNEL", "shortName"), self.operations("MEMCPY", "copyKind")
        self.memsets = self.operations("MEMSET", "memKind")
        ranges = self.db.execute("select text, textId, start, end, globalTid from NVTX_EVENTS where end is not null and eventType in (59, 70)") if "NVTX_EVENTS" in self.tables else []
        self.ranges = self.sorted(Event(PYTORCH.sub("", words or self.text.get(name, "")), start, end, start, tid, tid >> 24 & 0xffffff, None, None) for words, name, start, end, tid in ranges)

    def rows(self, kind, columns):
        table = f"CUPTI_ACTIVITY_KIND_{kind}"
        return self.db.execute(f"select {columns} from {table}").fetchall() if table in self.tables else []

    def operations(self, kind, name):
        return self.sorted(Event(self.text.get(of, str(of)), start, end, *self.launches.get((process >> 24, correlation), (None, None)), process >> 24 & 0xffffff, gpu, stream)
                           for of, start, end, process, correlation, gpu, stream in self.rows(kind, f"{name}, start, end, globalPid, correlationId, deviceId, streamId"))

    @staticmethod
    def sorted(events):
        return sorted(events, key=lambda event: event.start)

    def said(self, question):
        done = support.run("ask", self.run, question, "--format", "json")
        assert done.returncode == 0, (question, done.stderr)
        answer = json.loads(done.stdout)
        return answer["intents"], answer["answer"][0]["text"]


def of(events, name):
    return [event for event in events if event.name == name]


def ns(events):
    return [event.end - event.start for event in events]


def inside(events, around):
    """Those whose call begins in one of the others, on its thread."""
    return [e for e in events if any(r.tid == e.tid and r.start <= e.call <= r.end for r in around)]


def union(events):
    """Disjoint stretches in which some of them run."""
    stretches = []
    for event in sorted(events, key=lambda event: event.start):
        if stretches and event.start <= stretches[-1][1]:
            stretches[-1][1] = max(stretches[-1][1], event.end)
        else:
            stretches.append([event.start, event.end])
    return stretches


def length(events):
    return sum(end - start for start, end in union(events))


def covered(events, others):
    """The time of some in which others run: both without the time of either."""
    return length(events) + length(others) - length([*events, *others])


def numbers(text):
    """Those with a unit or none, and half of the last digit that is written."""
    for number, unit in NUMBER.findall(text):
        digits = len(number.partition(".")[2])
        yield float(number.replace(",", "")) * UNITS[unit], 0.51 * 10 ** -digits * UNITS[unit] + 1e-9


def whether(one, other):
    """What says that the one is more: two per cent are hardly so."""
    return "No: " if one <= other else "Hardly: " if one < 1.02 * other else "Yes: "


class Relations(unittest.TestCase):
    def check(self, export, question, *expected, begins=""):
        """The first numbers of the answer, which are not parts of the words before them."""
        intents, said = export.said(question)
        self.assertEqual(intents, ["relation"], (question, said))
        self.assertTrue(said.startswith(begins), (question, said))
        found = list(numbers(re.sub(r"\w*[a-z_]\w*\d\w*", "", said[len(begins):])))
        for value, (number, slack) in zip(expected, found, strict=False):
            self.assertAlmostEqual(value, number, delta=slack, msg=(question, said))
        self.assertGreaterEqual(len(found), len(expected), said)
        return said

    def test_two_are_compared(self):
        export = Export("host-bound")
        a, b = (statistics.mean(ns(of(export.kernels, f"step_{letter}"))) for letter in "ab")
        slow, fast = ("step_a", "step_b") if a > b else ("step_b", "step_a")
        self.check(export, "step_a vs step_b, which one is slower", max(a, b), min(a, b), max(a, b) / min(a, b), begins=f"{slow} is slower: average ")
        self.check(export, "which is faster, step_a or step_b, and by how much", min(a, b), max(a, b), max(a, b) / min(a, b), begins=f"{fast} is faster: average ")
        self.check(export, "is step_a slower than step_b", begins=whether(a, b))
        self.check(export, "is step_a faster than step_b", begins=whether(b, a))
        times = max(a, b) / min(a, b)
        for said in (1, 1.05, 1.2, 5, round(times, 1)):
            self.check(export, f"is {slow} {said}x slower than {fast}", begins="Yes: " if abs(times / said - 1) <= 0.1 else "No: ")
        launches, waits = (of(export.calls, name) for name in ("cudaLaunchKernel", "cudaStreamSynchronize"))
        self.check(export, "ratio of cudaLaunchKernel to cudaStreamSynchronize calls", len(launches) / len(waits))
        total = {"cudaLaunchKernel": sum(ns(launches)), "cudaStreamSynchronize": sum(ns(waits))}
        self.check(export, "does cudaLaunchKernel take more time than cudaStreamSynchronize in total", begins="Yes: " if total["cudaLaunchKernel"] > total["cudaStreamSynchronize"] else "No: ")
        ranges = {name: statistics.mean(ns(of(export.ranges, name))) for name in ("data_loading", "train_step")}
        slow = max(ranges, key=ranges.get)
        self.check(export, "avg time of data_loading vs train_step", max(ranges.values()), min(ranges.values()), begins=f"{slow} is slower: average ")
        export = Export("training")
        one, other = (sum(ns(inside([e for e in export.kernels + export.copies + export.memsets if e.call], of(export.ranges, name)))) for name in ("aten::linear", "aten::gelu"))
        self.assertTrue(one and other)
        for question in ("aten::linear vs aten::gelu gpu time", "gpu time of aten::linear vs aten::gelu"):
            self.check(export, question, max(one, other), min(one, other), begins=f"GPU work of aten::{'linear' if one > other else 'gelu'} takes more: ")
        self.check(export, "does aten::linear take more gpu time than aten::gelu", max(one, other), begins=whether(one, other))
        export = Export("copy-bound")
        copies, kernels = sum(ns(export.copies)), sum(ns(export.kernels))
        self.check(export, "share of gpu time in copies vs kernels", 100 * copies / (copies + kernels), 100 * kernels / (copies + kernels))

    def test_which_has_most_of_others(self):
        export = Export(edited("host-bound", "update NVTX_EVENTS set textId = null, text = 'Coarse Level ' || (rowid % 5) where eventType in (59, 70)"))
        counts = {f"Coarse Level {i}": len(inside([k for k in export.kernels if k.call], of(export.ranges, f"Coarse Level {i}"))) for i in range(5)}
        for question, pick in (("which coarse level has the fewest kernels launched in it", min), ("which coarse level has most kernels", max)):
            _, said = export.said(question)
            name, _, rest = said.partition(" has ")
            alike = list(counts.values()).count(pick(counts.values()))
            name = name.removesuffix(f", and {alike - 1} more,") if alike > 1 else name
            self.assertEqual(counts[name], pick(counts.values()), said)
            self.assertTrue(rest.startswith(f"{'least' if pick is min else 'most'}: {counts[name]};"), said)
        a, b = (statistics.mean(ns(of(export.kernels, f"step_{letter}"))) for letter in "ab")
        self.check(export, "which kernel is the hot one, step_a or step_b", begins=f"step_{'a' if a > b else 'b'} is slower: average ")

    def test_shares(self):
        export = Export("training")
        forward, linear, addmm = (of(export.ranges, name) for name in ("forward", "aten::linear", "aten::addmm"))
        self.assertTrue(forward and linear and addmm)
        for question in ("what percent of forward is spent in aten::linear", "share of aten::linear in forward", "how much of forward is aten::linear"):
            self.check(export, question, 100 * sum(ns(inside(linear, forward))) / sum(ns(forward)))
        self.check(export, "what fraction of aten::linear is aten::addmm", 100 * sum(ns(inside(addmm, linear))) / sum(ns(linear)))

    def test_what_is_in_what(self):
        export = Export("training")
        linear = of(export.ranges, "aten::linear")
        launched = inside([k for k in export.kernels if k.call], linear)
        calls = inside(export.calls, linear)
        self.check(export, "how much gpu time does aten::linear account for", sum(ns(launched)))
        self.check(export, "number of kernels launched per aten::linear", len(launched) / len(linear), len(launched))
        self.check(export, "how many cuda calls per aten::linear", len(calls) / len(linear), len(calls))
        self.check(export, "how much does cudaLaunchKernel cost me per kernel", sum(ns(of(export.calls, "cudaLaunchKernel"))) / len(export.kernels))

    def test_from_one_to_the_next(self):
        export = Export("host-bound")
        a, b = (of(export.kernels, f"step_{letter}") for letter in "ab")
        times = []
        for i, event in enumerate(a):
            following = [e for e in b if e.start >= event.end]
            if following and (i + 1 == len(a) or a[i + 1].start >= following[0].start):
                times.append(following[0].start - event.end)
        self.check(export, "average time between the end of step_a and the start of the next step_b", statistics.mean(times), begins="")
        self.check(export, "median time from step_a to the next step_b", statistics.median(times))
        self.check(export, "time between the end of the first step_a and the start of the next step_b", next(e for e in b if e.start >= a[0].end).start - a[0].end)
        self.check(export, "time from the first step_a to the last step_b", max(b, key=lambda e: e.end).start - a[0].start)
        starts = [next(e for e in b if e.start >= event.start).start - event.start for event, after in zip(a, [*a[1:], None], strict=True)
                  if any(e.start >= event.start and (after is None or e.start <= after.start) for e in b)]
        self.check(export, "how long after step_a begins does the first step_b start", statistics.mean(starts))
        lanes = collections.defaultdict(list)
        for event in a:
            lanes[event.gpu, event.stream].append(event)
        gaps = [after.start - before.end for lane in lanes.values() for before, after in zip(lane, lane[1:], strict=False)]
        self.check(export, "median gap between consecutive step_a kernels", statistics.median(gaps))
        latencies = [e.start - e.call for e in export.kernels if e.call]
        self.check(export, "how long does it take from the launch call till the kernel really starts", statistics.mean(latencies))
        latencies = [e.start - e.call for e in a if e.call]
        self.check(export, "avg latency of step_a", statistics.mean(latencies))
        first, launch = export.kernels[0], export.calls[0]
        self.check(export, "time from the first cudaLaunchKernel to the first step_a", abs(a[0].start - of(export.calls, "cudaLaunchKernel")[0].start))
        self.assertLessEqual(launch.start, first.start)

    def test_over_time(self):
        export = Export("host-bound")
        a = of(export.kernels, "step_a")
        first, *rest = a
        mean = statistics.mean(ns(rest))
        self.check(export, "how long did the first step_a take", first.end - first.start)
        self.check(export, "is the first step_a slower than the rest", first.end - first.start, begins="Yes: " if first.end - first.start > mean else "No: ")
        half = (len(a) + 1) // 2
        early, late = statistics.mean(ns(a[:half])), statistics.mean(ns(a[half:]))
        change = 100 * (late - early) / early
        self.check(export, "does step_a get slower towards the end", begins="Slower: " if change > 5 else "Faster: " if change < -5 else "No: ")
        said = self.check(export, "is step_a getting slower over time", begins="Slower: " if change > 5 else "Faster: " if change < -5 else "No: ")
        self.assertIn(f"{len(a)} kernels of step_a", said)
        self.check(export, "does step_a get slower or faster over the run", begins="Slower: " if change > 5 else "Faster: " if change < -5 else "No: ")
        median = statistics.median(ns(a))
        self.check(export, "how many outliers of step_a", sum(length > 2 * median for length in ns(a)), len(a))
        self.check(export, "step_a kernels that took more than 1.05x the median", sum(length > 1.05 * median for length in ns(a)), len(a))
        self.check(export, "how stable is step_a", statistics.stdev(ns(a)))

    def test_the_last(self):
        export = Export("host-bound")
        last = max(of(export.kernels, "step_a"), key=lambda e: e.end)
        said = self.check(export, "when was the last step_a", begins="The last step_a: from ")
        for moment in (last.start, last.end): # not rounded up: what is before it is not behind it
            self.assertIn(f"{moment // 1000 / 1e6:.6f} s", said)
        starts = collections.defaultdict(list)
        for event in of(export.kernels, "step_a"):
            starts[event.gpu, event.stream].append(event.start)
        apart = [after - before for lane in starts.values() for before, after in zip(lane, lane[1:], strict=False)]
        self.check(export, "how far apart are the starts of step_a on average", statistics.mean(apart))

    def test_one_of_many_by_its_number(self):
        export = Export("host-bound")
        a = of(export.kernels, "step_a")
        first, second, third = ns(a[:3])
        for question in ("how long did the second step_a take", "duration of the 2nd step_a kernel"):
            self.check(export, question, begins=f"The second step_a: from {a[1].start // 1000 / 1e6:.6f} s")
        for question, one, other in (("is the second step_a slower than the first", second, first), ("was the first step_a slower than the third", first, third), ("is the third step_a faster than the first", first, third)):
            self.check(export, question, begins=whether(one, other))
        launches = of(export.calls, "cudaLaunchKernel")
        said = self.check(export, "compare the first cudaLaunchKernel to the third cudaLaunchKernel")
        for event in (launches[0], launches[2]):
            self.assertIn(f" from {event.start // 1000 / 1e6:.6f} s", said)
        said = self.check(export, "first and last kernel", begins="The first kernel is ")
        self.assertIn(f"; the last kernel is {max(export.kernels, key=lambda e: e.end).name}", said)
        intents, said = export.said("which is the second slowest kernel")
        self.assertNotIn("relation", intents, said)
        intents, said = export.said("how many step_a per second")
        self.assertNotIn("The second", said)

    def test_the_next_one_is_on_its_thread(self):
        """Ranks run side by side: what follows a range of one is no range of the other."""
        export = Export("training")
        a, b = of(export.ranges, "forward"), of(export.ranges, "backward")
        self.assertGreater(len({event.tid for event in a}), 1)
        times = []
        for i, event in enumerate(a):
            again = [e.start for e in a[i + 1:] if e.tid == event.tid]
            after = [e.start for e in b if e.tid == event.tid and e.start >= event.end]
            if after and not (again and again[0] < after[0]):
                times.append(after[0] - event.end)
        said = self.check(export, "time between the end of forward and the start of the next backward", statistics.mean(times), len(times))
        self.assertIn(" of its thread: ", said)

    def test_why_one_range_takes_longer(self):
        """The call inside that takes most longer, of both on average; none where the slower one has none."""
        export = Export("training")
        self.assertNotIn("grows most", export.said("why is backward slower than forward")[1])
        a, b = of(export.ranges, "forward"), of(export.ranges, "optimizer_step")
        said = export.said("why is forward slower than optimizer_step")[1]
        name, one, other = re.search(r"of the CUDA calls inside, (\w+) grows most: ([\d.]+ \S+) each time instead of ([\d.]+ \S+), ", said).groups()
        by_name = {call.name: [sum(ns(inside(of(export.calls, call.name), r))) / len(r) for r in (a, b)] for call in export.calls}
        self.assertEqual(name, max(by_name, key=lambda n: by_name[n][0] - by_name[n][1]))
        for text, truth in zip((one, other), by_name[name], strict=True):
            number, slack = next(numbers(text))
            self.assertAlmostEqual(truth, number, delta=slack)

    def test_what_is_next(self):
        export = Export("host-bound")
        work = export.sorted(export.kernels + export.copies + export.memsets)
        first = of(export.kernels, "step_a")[0]
        after = next(e for e in work if e.gpu == first.gpu and e.start >= first.end)
        said = self.check(export, "what runs right after the first step_a", after.start // 1000 * 1000, after.end // 1000 * 1000, after.start - first.end)
        self.assertIn(f"from {after.start // 1000 / 1e6:.6f} s", said)
        last = max(of(export.kernels, "step_c"), key=lambda e: e.end)
        before = max((e for e in export.kernels if e.gpu == last.gpu and e.end <= last.start), key=lambda e: e.start)
        said = self.check(export, "which kernel runs directly before the last step_c", before.start // 1000 * 1000, before.end // 1000 * 1000, last.start - before.end, begins=before.name)
        self.assertIn(f"from {before.start // 1000 / 1e6:.6f} s", said)
        nexts = collections.Counter(next((e.name for e in export.kernels if e.gpu == a.gpu and e.start >= a.end), None) for a in of(export.kernels, "step_a"))
        (name, count), = nexts.most_common(1)
        self.check(export, "which kernel comes immediately after step_a", count, len(of(export.kernels, "step_a")), begins=f"{name}")
        self.check(export, "when did the 22nd kernel start", begins=f"The 22nd kernel is {export.kernels[21].name}")
        self.check(export, "when did the first step_c start", begins=f"The first step_c: from {of(export.kernels, 'step_c')[0].start // 1000 / 1e6:.6f} s")

    def test_two_processes_by_their_numbers(self):
        export = Export("training")
        pids = sorted({e.pid for e in export.ranges})[:2]
        linear = {pid: statistics.mean(ns(e for e in of(export.ranges, "aten::linear") if e.pid == pid)) for pid in pids}
        most = max(linear, key=linear.get)
        self.check(export, f"average cpu time of aten::linear in pid {pids[0]} vs pid {pids[1]}", linear[most], max(linear.values()) - min(linear.values()), max(linear.values()) / min(linear.values()), begins=f"Process {most} has most: ")

    def test_what_is_told_needs_no_second_answer(self):
        export = Export("host-bound")
        for question in ("what is the longest kernel and when did it start", "what is the longest CUDA call and which process made it"):
            done = support.run("ask", export.run, question)
            self.assertNotIn("may need a question", done.stdout)

    def test_when_it_begins_for_each(self):
        export = Export("training")
        begins = collections.defaultdict(list)
        for event in of(export.ranges, "aten::linear"):
            begins[event.pid].append(event.start)
        said = self.check(export, "when does aten::linear start on each rank", begins=f"Process {min(begins, key=lambda pid: min(begins[pid]))} begins first, at ")
        for pid, starts in begins.items():
            self.assertIn(f"process {pid} {min(starts) // 1000 / 1e6:.6f} s", said)

    def test_two_parts_of_one_name(self):
        """"blocks.7 pre_forward" is what has both, and "blocks.8" behind it is pre_forward, too."""
        names = [f"Module::{part} (blocks.{block}.wrapped)" for block in (7, 8) for part in ("pre_forward", "post_forward")]
        cases = " ".join(f"when {i} then '{name}'" for i, name in enumerate(names))
        export = Export(edited("host-bound", f"update NVTX_EVENTS set textId = null, text = case rowid % {len(names)} {cases} end where eventType in (59, 70)"))
        seven, eight, other = (of(export.ranges, names[i]) for i in (0, 2, 1))
        self.assertTrue(seven and eight and other)
        for question in ("average time of blocks.7 pre_forward", "average time of pre_forward of blocks.7"):
            self.check(export, question, statistics.mean(ns(seven)), len(seven))
        for question, one, two in (("is pre_forward of blocks.7 slower than blocks.8", seven, eight), ("is blocks.7 pre_forward slower than post_forward", seven, other)):
            self.check(export, question, begins=whether(statistics.mean(ns(one)), statistics.mean(ns(two))))
        for question in ("why is blocks.7 pre_forward slow", "how many kernels are in pre_forward of blocks.7"):
            _, said = export.said(question)
            self.assertIn("pre_forward (blocks.7.wrapped)", said)
        _, said = export.said("how long does blocks.7 take")
        self.assertIn(f"{len(seven) + len(other)} NVTX ranges", said)

    def test_covered(self):
        export = Export("training")
        for event, *_ in (of(export.ranges, "forward"), of(export.ranges, "aten::linear")):
            ranges, work = of(export.ranges, event.name), export.kernels + export.copies + export.memsets
            by_gpu = [100 * covered(ranges, [e for e in work if e.gpu == gpu]) / length(ranges) for gpu in sorted({e.gpu for e in work})]
            self.assertGreater(len(by_gpu), 1)
            said = self.check(export, f"gpu utilization while {event.name} runs")
            self.assertEqual([float(share) for share in re.findall(r"GPU \d+: ([\d.]+) %", said)], [round(share, 1 if share < 99.95 else 0) for share in by_gpu])
        export = Export("host-bound")
        name = export.ranges[0].name
        ranges, work = of(export.ranges, name), export.kernels + export.copies + export.memsets
        idle = 100 - 100 * covered(ranges, work) / length(ranges)
        said = self.check(export, f"is the gpu idle while {name} runs", idle)
        self.assertIn(" passes without work on the GPU: ", said)
        intents, said = Export("nvtx-only").said("gpu utilization while backbone runs")
        self.assertNotIn("relation", intents, said) # nothing of a GPU was recorded
        first, last = min(e.start for e in export.kernels), max(e.end for e in export.kernels)
        span = [export.kernels[0]._replace(start=first, end=last)]
        work = export.kernels + export.copies + export.memsets
        self.assertEqual(len({e.gpu for e in work}), 1)
        self.check(export, "how much of the time between the first and the last kernel is the gpu busy", 100 * covered(span, work) / (last - first))
        self.check(export, "what percent of the time is the gpu idle between first and last kernel", 100 - 100 * covered(span, work) / (last - first))
        export = Export("copy-bound")
        name, copies = export.kernels[0].name, of(export.copies, export.copies[0].name)
        kernels = of(export.kernels, name)
        self.check(export, f"how much of {name} is covered by copies", 100 * covered(kernels, export.copies) / length(kernels))
        self.assertTrue(copies)

    def test_what_the_cpu_does_meanwhile(self):
        export = Export("host-bound")
        stretches, beside = union(of(export.kernels, "step_a")), collections.Counter()
        for call in export.calls:
            beside[call.name] += sum(max(0, min(end, call.end) - max(start, call.start)) for start, end in stretches)
        (name, most), *_ = beside.most_common()
        said = self.check(export, "what is the cpu doing while step_a runs", sum(end - start for start, end in stretches), most, begins="In the ")
        self.assertIn(f" of step_a, CUDA calls by their time then: {name} ", said)

    def test_what_ends_a_name(self):
        """Kernels that have the word somewhere in their name are not what is called by it; GPU time is that of what was launched there."""
        export = Export("tensorrt-like")
        execute = of(export.ranges, "ExecutionContext::execute")
        launched = inside([e for e in export.kernels + export.copies + export.memsets if e.call], execute)
        self.assertTrue(execute and launched)
        intents, said = export.said("total gpu time of one execute")
        self.assertAlmostEqual(next(numbers(said))[0], sum(ns(launched)), delta=next(numbers(said))[1], msg=said)
        export = Export("copy-bound")
        copies, kernels = sum(ns(export.copies + export.memsets)), sum(ns(export.kernels))
        self.check(export, "percent of gpu time in kernels", 100 * kernels / (copies + kernels))

    def test_migrations(self):
        export = Export("evidence")
        rows = export.db.execute("select copyKind, bytes, end - start from CUPTI_ACTIVITY_KIND_MEMCPY where copyKind in (11, 12)").fetchall()
        to_gpu, to_host = ([row for row in rows if row[0] == kind] for kind in (11, 12))
        rate = {kind: sum(row[1] for row in of) / sum(row[2] for row in of) for kind, of in ((11, to_gpu), (12, to_host))}
        said = self.check(export, "what bandwidth do the HtoD migrations reach")
        self.assertTrue(said.startswith(f"{rate[11]:.1f} GB/s is the rate: {len(to_gpu)} "), said)
        said = self.check(export, "are the h2d migrations faster than the d2h migrations", begins=whether(rate[11], rate[12]))
        self.assertIn(f"{max(rate.values()):.1f} GB/s against {min(rate.values()):.1f} GB/s", said)
        down = [row[1] for row in to_host]
        said = self.check(export, "avg size of d2h migrations")
        self.assertTrue(said.startswith(f"{statistics.mean(down) / 1024:.1f} KiB is the average size: {len(down)} Device-to-Host migrations, "), said)
        said = self.check(export, "how much data was migrated to the gpu")
        self.assertRegex(said, rf"^[\d.]+ [KM]iB total size: {len(to_gpu)} Host-to-Device migrations, ")
        said = self.check(export, "how big is a typical migration")
        self.assertIn(f"{len(rows)} migrations, ", said)

    def test_groups_and_names(self):
        export = Export("training")
        by_pid = collections.Counter()
        for event in of(export.calls, "cudaLaunchKernel"):
            by_pid[event.pid] += event.end - event.start
        (pid, most), (_, least) = by_pid.most_common()
        self.check(export, "which rank spends more time in cudaLaunchKernel and by how much", most, most - least, most / least, begins=f"Process {pid} has most: ")
        longest = max(export.kernels, key=lambda e: e.end - e.start)
        said = self.check(export, "when was the longest kernel and on which gpu", longest.end - longest.start, begins=f"GPU {longest.gpu} has most: ")
        self.assertIn(f"(longest) at {longest.start // 1000 / 1e6:.6f} s", said)
        streams = collections.Counter((e.gpu, e.stream) for e in export.kernels)
        self.check(export, "how many streams run kernels and are they balanced", len(streams), min(streams.values()), max(streams.values()))
        ends = {pid: max(e.end for e in export.kernels + export.copies if e.pid == pid) for pid in by_pid}
        self.check(export, "which process finishes its gpu work last", begins=f"Process {max(ends, key=ends.get)} ends last, at ")
        for source in ("training", edited("training", "update CUPTI_ACTIVITY_KIND_KERNEL set end = start where rowid in (select rowid from CUPTI_ACTIVITY_KIND_KERNEL order by start limit 20)")):
            some = Export(source)  # kernels of no length begin, too
            begins = {pid: min(e.start for e in some.kernels if e.pid == pid) for pid in by_pid}
            first = min(begins, key=begins.get)
            self.check(some, "which process starts its kernels first", begins=f"Process {first} begins first, at {begins[first] / 1e9:.6f}"[:-1])
        self.check(export, "which process finishes its gpu work first", begins=f"Process {min(ends, key=ends.get)} ends first, at ")
        totals = collections.Counter()
        for event in export.kernels:
            totals[event.name] += event.end - event.start
        (first, _), (second, total), *_ = [(name, total) for name, total in totals.most_common() if name.startswith("nvjet")]
        self.check(export, f"slowest nvjet kernel excluding {first}", total, begins=f"{second}: ")

    def test_whether_each_keeps_a_limit(self):
        """Yes or no of all of them, with how many break the limit and the one that does most."""
        export = Export("training")
        longest = max(ns(export.kernels)) / 1e6
        for words, limit in (("is every kernel shorter than {} ms", 2), ("do all kernels take less than {} ms", 3), ("does each kernel take at most {} ms", 2), ("do kernels never take longer than {} ms", 2)):
            beyond = sum(length > limit * 1e6 for length in ns(export.kernels))
            said = export.said(words.format(limit))
            self.assertEqual(said[0], ["relation"], words)
            self.assertRegex(said[1], rf"^{'No' if beyond else 'Yes'}: {beyond} of {len(export.kernels):,} kernels takes? longer, the longest {longest:.2f} ms at ", words)
        self.assertRegex(export.said("do all kernels take more than 1 us")[1], rf"^Yes: 0 of {len(export.kernels):,} kernels take less, the shortest {min(ns(export.kernels)) / 1e3:.1f} µs at ")
        forward = of(export.ranges, "forward")
        (spans,), = json.loads(support.run("sql", export.run, "select count(*) from v_projection where range_name = 'forward' and whole = 1 and span_ns > 1000000", "--format", "json").stdout)["rows"]
        self.assertGreater(spans, 0)
        self.assertLess(max(ns(forward)), 1e6)
        self.assertRegex(export.said("does every forward take less than 1 ms")[1], rf"^On the CPU yes, on the GPU no: 0 of {len(forward)} NVTX ranges of forward take longer, .*; on the GPU, from the first operation to the last, {spans} of {spans} take longer")
        self.assertEqual(Export("layers").said("does every frame take less than 50 ms")[1], "No steps were found in this trace; nsys-ai analyze --step REGEX names the range that is one.")

    def test_layers_are_not_all_ranges(self):
        export = Export("training")
        for question in ("does every layer take less than 20 ms", "are there layers longer than 1 us", "is any block over 1 us"):
            self.assertNotRegex(export.said(question)[1], "NVTX ranges", question)
        self.assertRegex(export.said("is every range shorter than 20 s")[1], rf"^Yes: 0 of {len(export.ranges):,} NVTX ranges take longer")

    def test_steps_are_as_long_as_in_reports(self):
        """... and not as short as the host needs to launch them."""
        export = Export("training")
        lengths = [row[0] for row in json.loads(support.run("sql", export.run, "select duration_ns from steps", "--format", "json").stdout)["rows"]]
        limit = sorted(lengths)[2] + 1
        beyond = sum(length > limit for length in lengths)
        self.assertRegex(export.said(f"does every frame take less than {limit} ns")[1], rf"^No: {beyond} of {len(lengths)} steps of 2 processes take longer, the longest {max(lengths) / 1e6:.1f} ms")
        self.assertRegex(export.said(f"is any frame over {limit} ns")[1], rf"^Yes: {beyond} steps longer than that")
        self.assertRegex(export.said("does any step take longer than 500 ms")[1], "^No: 0 steps longer than that")

    def test_what_is_no_relation(self):
        """A word that nothing takes up, or a question that its events cannot answer: no answer."""
        export = Export("host-bound")
        for question in ("is step_a purple compared to step_b", "why is step_a like that compared with last week", "share of step_a in the moon", "how many step_a per fortnight",
                         "is data_loading slower than train_step on the gpu", "which thread of the pool has step_a",
                         "are step_a and step_b slow", "average data_loading and the worst range", "gap between step_a kernels longer than 5 ms", "which process has the highest p95 of step_a"):
            intents, said = export.said(question)
            self.assertNotIn("relation", intents, (question, said))
        export = Export("copy-bound") # copies take longer than the calls that start them
        started = inside(export.copies, of(export.calls, "cudaMemcpyAsync"))
        self.assertGreater(sum(ns(started)), sum(ns(of(export.calls, "cudaMemcpyAsync"))))
        intents, said = export.said("what percent of cudaMemcpyAsync is spent in copies")
        self.assertNotIn("relation", intents, said)
        export = Export("host-bound")
        intents, said = export.said("how many step_a kernels per step")
        self.assertNotIn(" 0 steps", said)


if __name__ == "__main__":
    support.main()
