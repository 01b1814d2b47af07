"""critical-path and whatif: one program is scheduled here with and without a loss, and what is predicted from the trace with it is
held against the time without it. The scheduler below shares nothing with the replay."""
import contextlib
import functools
import itertools
import json
import random
import shutil
import sqlite3
import unittest

from test_damage import damaged, long_header, no_rows, rows_twice
from support import SHARED, analyze, artifacts, exports, fresh_dir, in_tier, report, run, tier, trace

US = 1000
RANKS = ({"device": 0, "context": 1, "stream": 7, "pid": 281575656783872, "tid": 281575656789873},
         {"device": 1, "context": 2, "stream": 15, "pid": 281575673561088, "tid": 281575673567090})
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)"
STEPS, LAYERS = 10, 6
LOSSES = {  # what is put into each step, and the change that takes it away
    "wait": ("--remove-wait", "^item$"),
    "attention": ("--kernel", "attention=0.5"),
    "allocation": ("--call", "cudaMalloc=0"),
    "late": ("--kernel", "straggler=0.1"),
    "upload": ("--copy", "HtoD=0.25"),
    "flush": ("--no-profiler",),
    "unfused": ("--fuse", "elementwise"),
    "pageable": ("--pinned",),
}
SLOW = {"kernels": 1.4, "copies": 4, "host": 1.5}  # by which one rank is slower, of what
ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)"
MIB = 1 << 20


class Rank:
    """One thread that launches to one stream: when each call and each operation begins and ends."""

    def __init__(self, place, noise, slow=None):
        self.own_stream, self.copied = False, 0
        self.slow = {slow: SLOW[slow]} if slow else {}
        self.place, self.noise, self.now, self.busy, self.id = place, noise, 1000 * 1000 * US + 100 * US * place["device"], 0, 0
        self.rows = []

    def jitter(self, ns):
        return int(ns * self.noise.uniform(0.95, 1.05))

    def call(self, name, ns):
        self.id += 1
        self.rows.append(("call", self.now, self.now + ns, name, self.id))
        self.now += ns
        return self.rows[-1]

    def host(self, ns):
        self.now += self.jitter(ns * self.slow.get("host", 1))

    def submit(self, api, kind, name, ns):
        begin = self.now
        call = self.call(api, self.jitter(4 * US))
        own = self.own_stream and kind == "copy"
        start = max(begin + self.jitter(7 * US), self.copied + 1 * US, 0 if own else self.busy + 1 * US)
        if own:
            self.copied = start + ns
        else:
            self.busy = start + ns
        self.rows.append([kind, start, start + ns, name, self.id])
        return call

    def copy(self, size, pageable):
        """A pageable one takes three times as long, and its call returns when nine tenths of it are staged."""
        ns = size * 100 * US // MIB * (3 if pageable else 1) * self.slow.get("copies", 1)
        self.submit("cudaMemcpyAsync", "copy", (size, 0 if pageable else 1), ns)
        if pageable:
            _, begin, _, name, number = self.rows[-2]
            self.now = self.busy - ns // 10
            self.rows[-2] = ("call", begin, self.now, name, number)

    def graph(self, name, durations):
        """One launch of many kernels."""
        self.submit("cudaGraphLaunch", "kernel", name, durations[0])
        for ns in durations[1:]:
            self.rows.append(["kernel", self.busy + 1 * US, self.busy + 1 * US + ns, name, self.id])
            self.busy = self.rows[-1][2]

    def kernel(self, name, ns):
        self.submit("cudaLaunchKernel", "kernel", name, self.jitter(ns * self.slow.get("kernels", 1)))

    def wait(self):
        end = max(self.now + 2 * US, self.busy + 3 * US)
        self.call("cudaStreamSynchronize", end - self.now)
        self.rows.append(("sync", *self.rows[-1][1:]))

    def range(self, name, start):
        self.rows.append(("range", start, self.now, name, 0))


def step(ranks, number, losses, heavy):
    """Per rank: a forward of layers, a collective, an update. `heavy`: kernels are longer than the host takes to launch them."""
    starts = [rank.now for rank in ranks]
    for rank in ranks:
        rank.host(60 * US)
        rank.copy((4 if "upload" in losses else 1) * MIB, "pageable" in losses)
        rank.copy(MIB // 8, False)
        for layer in range(LAYERS):
            rank.host((8 if heavy else 40) * US)
            rank.kernel("gemm", (90 if heavy else 9) * US)
            rank.host((12 if heavy else 50) * US)
            rank.kernel("attention_forward", (120 if heavy else 24) * US * (2 if "attention" in losses else 1))
            if layer == 3:  # three operations of two inputs read and write 9 arrays; fused they are 5
                for _ in range(3 if "unfused" in losses else 1):
                    rank.host((6 if heavy else 20) * US)
                    rank.kernel(ELEMENTWISE, (30 if "unfused" in losses else 50) * US)
            if layer == 2 and "wait" in losses:
                item = rank.now
                rank.wait()
                rank.range("item", item)
            if layer == 4 and "allocation" in losses:
                rank.call("cudaMalloc", 150 * US)
            if layer == 1 and "flush" in losses and number % 2:
                rank.rows.append(("flush", rank.now, rank.now + 200 * US, "Buffer Flush", 0))
                rank.now += 200 * US
        if rank.place["device"] == 1:
            rank.kernel("straggler", (300 if "late" in losses else 30) * US)
        rank.kernel(ALL_REDUCE, 0)
    arrived = max(rank.rows[-1][1] for rank in ranks)
    for rank, start in zip(ranks, starts):
        rank.busy = rank.rows[-1][2] = arrived + 50 * US
        rank.kernel("adam", 30 * US)
        rank.range("train_step", start)


def schedule(losses, heavy, seed, slow=None):
    noise = random.Random(seed)
    ranks = [Rank(place, random.Random(noise.random()), slow if place["device"] == 1 else None) for place in RANKS]
    for rank in ranks:
        rank.own_stream = "own stream" in losses
    for number in range(STEPS):
        step(ranks, number, losses, heavy)
    return ranks


@functools.lru_cache(maxsize=8)
def needed(db, table):
    return {row[1]: 0 for row in db.execute(f"pragma table_info({table})") if row[3]}


def insert(db, table, **values):
    row = needed(db, table) | values
    db.execute(f"insert into {table} ({','.join(row)}) values ({','.join('?' * len(row))})", tuple(row.values()))


def write(path, ranks, later=0):
    """An export of those events, with what a generated one knows of processes and GPUs; by a clock that is so much ahead."""
    shutil.copyfile(trace("training"), path)
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        for kind in ("KERNEL", "MEMCPY", "MEMSET", "RUNTIME", "SYNCHRONIZATION"):
            db.execute(f"delete from CUPTI_ACTIVITY_KIND_{kind}")
        db.execute("delete from NVTX_EVENTS")
        db.execute("delete from PROFILER_OVERHEAD")
        names = {}
        for rank in ranks:
            for kind, start, end, name, number in rank.rows:
                if kind not in ("copy", "page") and name not in names:
                    names[name] = 1000000 + len(names)
                    db.execute("insert into StringIds values (?, ?)", (names[name], name))
                place = rank.place
                times = {"start": start + later, "end": end + later}
                on_gpu = {**times, "deviceId": place["device"], "contextId": place["context"], "streamId": place["stream"],
                          "globalPid": place["pid"], "correlationId": number}
                if kind == "call":
                    insert(db, "CUPTI_ACTIVITY_KIND_RUNTIME", **times, globalTid=place["tid"], nameId=names[name], correlationId=number)
                elif kind == "kernel":
                    insert(db, "CUPTI_ACTIVITY_KIND_KERNEL", **on_gpu, demangledName=names[name], shortName=names[name], gridX=1000,
                           gridY=1, gridZ=1, blockX=256, blockY=1, blockZ=1)
                elif kind == "copy":
                    insert(db, "CUPTI_ACTIVITY_KIND_MEMCPY", **on_gpu, bytes=name[0], copyKind=1, srcKind=name[1], dstKind=2)
                elif kind == "page":
                    insert(db, "CUPTI_ACTIVITY_KIND_MEMCPY", **on_gpu, bytes=4096, copyKind=11, srcKind=3, dstKind=3)
                elif kind == "sync":
                    insert(db, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", **on_gpu, syncType=3, eventId=4294967295)
                elif kind == "range":
                    insert(db, "NVTX_EVENTS", **times, eventType=59, text=name, globalTid=place["tid"])
                else:
                    insert(db, "PROFILER_OVERHEAD", **times, globalTid=place["tid"], nameId=names[name], overheadType=3)


def predicted(losses, heavy, seed, slow=None):
    """What whatif says of the trace with the losses, all taken away together."""
    changes = [word for loss in losses for word in LOSSES[loss]] + (["--balance"] if slow else [])
    return said_of(schedule(losses, heavy, seed, slow), *changes)


def true_step_ns(losses, heavy, seed, slow=None, first="copy"):
    """The mean distance of the first operations of steps on the slower GPU, from the schedule itself. The first step, in which the
    ranks do not wait for each other yet, is left out."""
    means = []
    for rank in schedule(losses, heavy, seed, slow):
        starts = [row[1] for row in rank.rows if row[0] == "copy" and row[3][0] >= MIB]
        if first == "gemm":
            starts = [row[1] for row in rank.rows if row[0] == "kernel" and row[3] == "gemm"][::LAYERS]
        means.append((starts[-1] - starts[1]) / (len(starts) - 2))
    return max(means)


def decode(graph, kernel_ns, losses=(), count=1, slow=None):
    """Per rank steps of copies and 40 kernels, launched one by one or as a graph; then the host waits and works. What is lost is before
    those launches, too far from them to be of the graph. Two ranks, of which the second may be slow, end each step with a collective."""
    ranks = [Rank(place, random.Random(2), slow if place["device"] else None) for place in RANKS[:count]]
    for number in range(STEPS):
        starts = [rank.now for rank in ranks]
        for rank in ranks:
            rank.copy((4 if "upload" in losses else 1) * MIB, "pageable" in losses)
            rank.copy(MIB // 8, False)
            if "wait" in losses:
                item = rank.now
                rank.wait()
                rank.range("item", item)
            rank.host(100 * US)
            if "allocation" in losses:
                rank.call("cudaMalloc", 150 * US)
            if "flush" in losses and number % 2:
                rank.rows.append(("flush", rank.now, rank.now + 200 * US, "Buffer Flush", 0))
                rank.now += 200 * US
            rank.kernel("attention_forward", 150 * US * (2 if "attention" in losses else 1))
            for _ in range(3 if "unfused" in losses else 1):
                rank.host(20 * US)
                rank.kernel(ELEMENTWISE, (60 if "unfused" in losses else 100) * US)
            rank.host(100 * US)
            if graph:
                rank.graph("gemm", [kernel_ns] * 40)
            for _ in range(0 if graph else 40):
                rank.kernel("gemm", kernel_ns)
                rank.host(6 * US)
            if count > 1:
                rank.host(80 * US)
                rank.kernel(ALL_REDUCE, 0)
        arrived = max(rank.rows[-1][1] for rank in ranks)
        for rank, start in zip(ranks, starts):
            if count > 1:
                rank.busy = rank.rows[-1][2] = arrived + 50 * US
            rank.wait()
            rank.host(100 * US)
            rank.range("train_step", start)
    return ranks


class Buckets(Rank):
    """A rank whose collectives are on the stream of its kernels, or (own) on one of their own. What follows a collective then waits for
    the one before that; kernels take 1.3 times as long while communication runs."""

    def __init__(self, place, own):
        super().__init__(place, random.Random(place["device"]))
        self.own, self.comm, self.result = own, (0, 0), 0

    def work(self, ns):
        self.busy = max(self.busy, self.result)
        self.kernel("gemm", ns)
        _, start, end, *_ = self.rows[-1]
        self.busy = self.rows[-1][2] = end + max(0, min(end, self.comm[1]) - max(start, self.comm[0])) * 3 // 10

    def arrive(self):
        computed, self.busy = self.busy, max(self.busy, self.comm[1])
        self.kernel(ALL_REDUCE, 0)
        self.busy = computed
        return self.rows[-1][1]

    def leave(self, end):
        self.rows[-1][2] = end
        self.result, self.comm = self.comm[1], (self.rows[-1][1], end)
        if not self.own:
            self.busy = end


def buckets(own):
    ranks = [Buckets(place, own) for place in RANKS]
    for _ in range(STEPS):
        starts = [rank.now for rank in ranks]
        for rank in ranks:
            rank.host(60 * US)
            rank.busy = max(rank.busy, rank.comm[1])
            rank.copy(MIB, False)
        for _ in range(LAYERS):
            for rank in ranks:
                rank.work(200 * US)
            end = max([rank.arrive() for rank in ranks]) + 100 * US
            for rank in ranks:
                rank.leave(end)
        for rank, start in zip(ranks, starts):
            rank.range("train_step", start)
    return ranks


def turns(allocates):
    """One thread launches the forward pass, then waits for another one that launches the backward pass."""
    main, worker = Rank(RANKS[0], random.Random(1)), Rank(RANKS[0] | {"tid": RANKS[0]["tid"] + 1}, random.Random(2))
    worker.id = 100000
    for _ in range(STEPS + 4):
        start = main.now
        for thread, other, layers in ((main, worker, LAYERS), (worker, main, LAYERS)):
            for layer in range(layers):
                thread.host(30 * US)
                thread.kernel("gemm", 9 * US)
                if allocates and thread is worker and layer == 3:
                    thread.call("cudaMalloc", 150 * US)
            other.now = thread.now
            other.host(60 * US)
        main.kernel("adam", 9 * US)
        main.range("train_step", start)
    return [main, worker]


def paced(kernel_ns):
    """A kernel for each picture of a camera, which comes every 10 ms; the thread sleeps until then, and the trace has when it ran."""
    rank = Rank(RANKS[0], random.Random(3))
    ran = [(rank.now - US, 1)]
    for number in range(STEPS + 4):
        start = rank.now
        rank.copy(MIB, False)
        rank.host(20 * US)
        rank.kernel("gemm", kernel_ns)
        rank.wait()
        ran.append((rank.now + US, 0))
        rank.now = (1010 + 10 * number) * 1000 * US
        ran.append((rank.now - US, 1))
        rank.range("train_step", start)
    return rank, ran


def schedule_threads(path, rank, ran):
    """When the rank's thread begins and stops to run."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("drop table if exists SCHED_EVENTS")
        db.execute("create table SCHED_EVENTS (start integer, cpu integer, isSchedIn integer, globalTid integer, threadState integer, threadBlock integer)")
        db.executemany("insert into SCHED_EVENTS values (?, 0, ?, ?, ?, null)", [(at, runs, rank.place["tid"], None if runs else 7) for at, runs in ran])


def said_of(ranks, *changes):
    path = fresh_dir("whatif") / "trace.sqlite"
    write(path, ranks)
    done = run("whatif", "--quiet", path, *changes, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def mean_step_ns(rank, kind, name):
    """The mean distance of the operations that begin a step, but for the first; name None: the large copies."""
    starts = [row[1] for row in rank.rows if row[0] == kind and (row[3] == name or (name is None and row[3][0] >= MIB))][1:]
    return (starts[-1] - starts[0]) / (len(starts) - 1)


def path_blocks(*words):
    """The answer of critical-path: of each block its rows, by column."""
    done = run("critical-path", "--quiet", *words, "--format", "json")
    assert done.returncode == 0, done.stderr
    return [[dict(zip((column["name"] for column in block["columns"]), row)) for row in block["rows"]] for block in json.loads(done.stdout)["blocks"]]


def sql_row(source, query):
    row, = json.loads(run("sql", "--quiet", source, query, "--format", "json").stdout)["rows"]
    return row


class Pairs(unittest.TestCase):
    def check(self, losses, heavy, slow=None):
        said = predicted(losses, heavy, 1, slow)
        with_loss, without = true_step_ns(losses, heavy, 1, slow), true_step_ns((), heavy, 1)
        self.assertEqual(said["scope"], "step")
        self.assertLess(abs(said["now_ns"] - with_loss), 0.02 * with_loss)
        error = (said["together"]["after_ns"] - without) / with_loss
        self.assertLess(abs(error), 0.05, (losses, heavy))
        self.assertLessEqual(said["together"]["after_high_ns"], said["together"]["after_ns"])
        self.assertLessEqual(said["together"]["after_ns"], said["together"]["after_low_ns"])

    def test_each_loss(self):
        for loss, heavy in itertools.product(LOSSES, (False, True)):
            with self.subTest(loss=loss, heavy=heavy):
                self.check((loss,), heavy)

    def test_a_slow_rank(self):
        """One rank does everything slower that its GPU, its copies or its host do."""
        for slow, heavy in itertools.product(SLOW, (False, True)):
            with self.subTest(slow=slow, heavy=heavy):
                self.check((), heavy, slow)
        self.check(("allocation",), False, "host") # what both call is not what one is slower in

    @tier("ci")
    def test_pairs_of_losses(self):
        """With light kernels and heavy ones in turns, from the last tier on with both."""
        for number, losses in enumerate(itertools.combinations(LOSSES, 2)):
            for heavy in (False, True) if in_tier("soak") else (number % 2 == 1,):
                with self.subTest(losses=losses, heavy=heavy):
                    self.check(losses, heavy)
        for number, (slow, loss) in enumerate(itertools.product(SLOW, LOSSES)):
            for heavy in (False, True) if in_tier("soak") else (number % 2 == 0,):
                with self.subTest(loss=loss, slow=slow, heavy=heavy):
                    self.check((loss,), heavy, slow)

    def test_own_stream(self):
        """Copies beside the kernels of the step before, in a program whose host is ahead of the GPU."""
        path = fresh_dir("whatif") / "trace.sqlite"
        write(path, schedule(("upload",), True, 1))
        said = json.loads(run("whatif", "--quiet", path, "--own-stream", "--format", "json").stdout)
        with_loss, without = (true_step_ns(("upload",) + more, True, 1, first="gemm") for more in ((), ("own stream",)))
        self.assertLess(without, 0.9 * with_loss)
        self.assertLess(abs(said["together"]["after_ns"] - without), 0.05 * with_loss)
        self.assertLessEqual(said["now_ns"], said["together"]["after_low_ns"] * 1.001)
        self.assertIn("not recorded", said["changes"][0]["bound"])
        self.assertIn("saves at most", run("whatif", "--quiet", path, "--own-stream").stdout)

    def test_own_stream_beside_pages_that_move(self):
        """Those are on no stream: what follows a copy still waits for what was before it, and no step begins with them."""
        answers = []
        for begin in (None, US, -US):
            ranks = schedule(("upload",), True, 1)
            for rank in ranks:
                if begin:
                    rank.rows += [("page", start + begin, start + begin + 1, "", 0) for kind, start, *_ in rank.rows if kind == "copy"]
            answers.append(said_of(ranks, "--own-stream")["together"])
        self.assertEqual(answers[1:], [answers[0]] * 2)

    def test_own_stream_comm(self):
        """Collectives on the stream of the kernels, of which the host is ahead."""
        said = said_of(buckets(False), "--own-stream-comm")
        with_loss, without = (max(mean_step_ns(rank, "copy", (MIB, 1)) for rank in buckets(own)) for own in (False, True))
        self.assertLess(without, 0.9 * with_loss)
        self.assertLess(abs(said["now_ns"] - with_loss), 0.01 * with_loss)
        self.assertLess(abs(said["together"]["after_ns"] - without), 0.03 * with_loss)
        self.assertTrue(said["together"]["after_high_ns"] <= without <= said["together"]["after_low_ns"])
        self.assertLessEqual(said["now_ns"], said["together"]["after_low_ns"] * 1.001)
        self.assertIn("result of a collective", said["changes"][0]["bound"])

    def test_threads_that_take_turns(self):
        """What one thread saves lets the one that waits for it begin earlier; a thread that does not wait is no slower."""
        said = said_of(turns(True), "--call", "cudaMalloc=0")
        with_loss, without = (mean_step_ns(turns(allocates)[0], "kernel", "adam") for allocates in (True, False))
        self.assertGreater(with_loss - without, 140 * US)
        self.assertLess(abs(said["now_ns"] - with_loss), 0.01 * with_loss)
        self.assertLess(abs(said["together"]["after_ns"] - without), 0.01 * with_loss)
        self.assertTrue(any("hand-offs between threads" in caveat for caveat in said["caveats"]))
        self.assertGreater(said["together"]["inferred_count"], STEPS)
        ahead = said_of(turns(True), "--more-in-flight", f"^{RANKS[0]['tid'] & 0xffffff}$")
        self.assertIn("needs of another", ahead["changes"][0]["bound"])
        self.assertGreaterEqual(ahead["changes"][0]["edited_count"], STEPS)
        self.assertLess(ahead["together"]["after_ns"], 0.8 * with_loss)
        self.assertLessEqual(ahead["now_ns"], ahead["together"]["after_low_ns"] * 1.001)
        done = run("whatif", trace("loop-waits"), "--more-in-flight", ".")
        self.assertEqual((done.returncode, "take turns" in done.stderr), (2, True))

    def test_a_program_that_sleeps_until_it_is_time(self):
        """It is no faster with a faster kernel: what the replay says is a bound, and nothing at all may be saved."""
        path = fresh_dir("whatif") / "trace.sqlite"
        rank, ran = paced(3000 * US)
        write(path, [rank])
        schedule_threads(path, rank, ran)
        said = json.loads(run("whatif", "--quiet", path, "--kernel", "gemm=0.33", "--format", "json").stdout)
        true = mean_step_ns(paced(1000 * US)[0], "copy", (MIB, 1))
        self.assertEqual((said["state"], "host sleeps" in said["reason"], round(true / 1e6, 1)), ("bound_only", True, 10))
        self.assertTrue(said["together"]["after_high_ns"] <= true <= said["together"]["after_low_ns"])
        self.assertIn("saves at most", run("whatif", "--quiet", path, "--kernel", "gemm=0.33").stdout)

    def check_graphs(self, kernel_ns, losses=(), count=1, slow=None):
        """Also says whether a good part of the step is saved."""
        now = decode(False, kernel_ns, losses, count, slow)
        changes = [word for loss in losses for word in LOSSES[loss]] + (["--balance"] if slow else [])
        said = said_of(now, *changes, "--graphs")
        with_loss, true = (max(mean_step_ns(rank, "copy", None) for rank in ranks) for ranks in (now, decode(True, kernel_ns, (), count)))
        self.assertLess(abs(said["now_ns"] - with_loss), 0.02 * with_loss)
        self.assertLess(abs(said["together"]["after_ns"] - true), 0.05 * with_loss, (kernel_ns, losses, slow))
        return said["together"]["saving_ns"] > 0.15 * said["now_ns"]

    def test_graphs(self):
        """Launches on the critical path are collapsed; where kernels are longer than those, they are not on it."""
        for kernel_ns, gains in ((2 * US, True), (20 * US, False)):
            self.assertEqual(self.check_graphs(kernel_ns), gains)

    @tier("ci")
    def test_graphs_and_another_loss(self):
        for loss, kernel_ns in itertools.product(set(LOSSES) - {"late"}, (2 * US, 20 * US)):
            with self.subTest(loss=loss, kernel_ns=kernel_ns):
                self.check_graphs(kernel_ns, (loss,))
        for slow, kernel_ns in (("host", 2 * US), ("host", 20 * US), ("kernels", 20 * US), ("copies", 20 * US)):
            with self.subTest(slow=slow, kernel_ns=kernel_ns):
                self.check_graphs(kernel_ns, (), 2, slow)


def split(source, directory, later):
    """An export of two ranks as two, the second by a clock that is so much ahead. Ranks are told apart by process, as the SQL says."""
    with contextlib.closing(sqlite3.connect(source)) as db:
        pids = [pid for pid, in db.execute("select distinct globalPid from CUPTI_ACTIVITY_KIND_KERNEL order by deviceId")]
    for number, pid in enumerate(pids):
        path = shutil.copyfile(source, directory / f"rank{number}.sqlite")
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            for table, in db.execute("select name from sqlite_master where type = 'table'").fetchall():
                columns = {row[1] for row in db.execute(f"pragma table_info({table})")}
                if "globalPid" in columns and table.startswith("CUPTI"):
                    db.execute(f"delete from {table} where globalPid <> ?", (pid,))
                if "globalTid" in columns:
                    db.execute(f"delete from {table} where globalTid - (globalTid & 0xffffff) <> ?", (pid,))
                for column in {"start", "end"} & columns if number and not table.startswith(("META", "TARGET", "EXPORT")) else ():
                    db.execute(f'update {table} set "{column}" = "{column}" + ? where "{column}" is not null', (later,))
    return [directory / f"rank{number}.sqlite" for number in range(len(pids))]


class Ranks(unittest.TestCase):
    """The ranks of a job as traces of their own, by clocks of their own, say what one trace of all says."""

    def alike(self, one, several, *changes):
        whole, parts = (json.loads(run("whatif", "--quiet", *sources, *changes, "--format", "json").stdout) for sources in ((one,), several))
        doubt = next(caveat for caveat in parts["caveats"] if "clocks" in caveat)
        self.assertRegex(doubt, r"off by [0-9.]+ (µs|ns)\.")
        limit = float(doubt.split()[-2]) * (1000 if "µs" in doubt else 1) + 10
        limit *= 1 + ("--balance" in changes)  # when either rank arrives is in doubt
        self.assertLess(abs(whole["now_ns"] - parts["now_ns"]), limit, changes)
        self.assertLess(abs(whole["together"]["saving_ns"] - parts["together"]["saving_ns"]), limit, changes)
        self.assertEqual([whole["together"][key] for key in ("limited_by", "limited_by_pct")],
                         [parts["together"][key] for key in ("limited_by", "limited_by_pct")])
        return whole, parts

    def test_one_program_in_two_traces(self):
        for losses, slow, words in (((), "kernels", ("--balance",)), ((), "host", ("--balance",)), (("late",), None, LOSSES["late"]),
                                    (("wait",), None, LOSSES["wait"]),
                                    (("upload",), None, LOSSES["upload"])):
            directory, ranks = fresh_dir("whatif"), schedule(losses, True, 1, slow)
            write(directory / "one.sqlite", ranks)
            several = [directory / f"rank{number}.sqlite" for number in (0, 1)]
            for number, rank in enumerate(ranks):
                write(several[number], [rank], number * 7_654_321)
            whole, _ = self.alike(directory / "one.sqlite", several, *words)
            paths = [path_blocks(*sources) for sources in ((directory / "one.sqlite",), several)]
            self.assertEqual(*([(row["scope"], row["device_id"], row["summary"], row["state"]) for row in blocks[0]] for blocks in paths))
            for blocks in paths:
                self.assertAlmostEqual(sum(row["duration_ms"] for row in blocks[1] if row["scope"] == "window"), blocks[0][0]["per_repetition_ms"], places=5)
            alone = json.loads(run("whatif", "--quiet", several[0], *LOSSES["attention"], "--format", "json").stdout)
            self.assertGreater(whole["together"]["saving_ns"], 0 if slow == "host" else 0.01 * alone["now_ns"])

    def test_threads_of_the_same_number(self):
        """In containers two ranks have them. Rank 0 sleeps while rank 1 runs; that is said, whatever the numbers are."""
        said = []
        for number in (RANKS[1], RANKS[0] | {"device": 1}):
            directory, ranks = fresh_dir("whatif"), [Rank(place, random.Random(place["device"])) for place in (RANKS[0], number)]
            ran = [[(rank.now - US, 1)] for rank in ranks]
            for index in range(STEPS):
                step(ranks, index, (), False)
                ran[0] += [(ranks[0].now, 0), (ranks[0].now + 3000 * US, 1)]
                ran[1] += [(ranks[0].now + 10 * US, 0), (ranks[0].now + 20 * US, 1)]
                ranks[0].now += 3000 * US
            for index, rank in enumerate(ranks):
                write(directory / f"{index}.sqlite", [rank], index * 7_654_321)
                schedule_threads(directory / f"{index}.sqlite", rank, [(at + index * 7_654_321, runs) for at, runs in ran[index]])
            done = run("whatif", "--quiet", directory / "0.sqlite", directory / "1.sqlite", "--kernel", "gemm=0.5", "--format", "json")
            said.append(json.loads(done.stdout))
        self.assertEqual((said[0]["state"], "host sleeps" in said[0]["reason"]), ("bound_only", True))
        self.assertEqual(said[0], said[1])

    def test_ranks_that_do_not_belong_together(self):
        directory = fresh_dir("whatif")
        for number, rank in enumerate(schedule((), True, 1)):
            write(directory / f"rank{number}.sqlite", [rank])
        same = run("whatif", "--quiet", directory / "rank0.sqlite", directory / "rank0.sqlite", "--balance")
        self.assertEqual((same.returncode, "every rank is given once" in same.stderr), (2, True))
        none = run("whatif", "--quiet", directory / "rank0.sqlite", trace("loop"), "--balance")
        self.assertNotEqual(none.returncode, 0)
        self.assertIn("only one rank communicates", none.stderr)

    def test_a_rank_without_calls(self):
        """Nothing tells what its operations waited for, so nothing is said of the job: neither of traces of each nor of one of both."""
        directory, ranks = fresh_dir("whatif"), schedule(("late", "wait"), True, 1)
        write(directory / "one.sqlite", ranks)
        for number, rank in enumerate(ranks):
            write(directory / f"rank{number}.sqlite", [rank])
        for name, silent in itertools.product(("one", "rank0", "rank1"), RANKS):
            path = shutil.copyfile(directory / f"{name}.sqlite", directory / "silent.sqlite")
            with contextlib.closing(sqlite3.connect(path)) as db, db:
                db.execute("delete from CUPTI_ACTIVITY_KIND_RUNTIME where globalTid = ?", (silent["tid"],))
            if name == f"rank{1 - silent['device']}":
                continue
            sources = (path,) if name == "one" else (path, directory / f"rank{1 - silent['device']}.sqlite")
            done = run("whatif", "--quiet", *sources, *LOSSES["late"])
            self.assertEqual((done.returncode, "no recorded launch" in done.stdout), (7, True), (name, silent))

    @unittest.skipUnless((SHARED / "traces" / "fsdp_2gpu.sqlite").is_file(), "no shared/")
    @tier("ci")
    def test_a_trace_that_is_split(self):
        source = SHARED / "traces" / "fsdp_2gpu.sqlite"
        several = split(source, fresh_dir("whatif"), 7_654_321)
        self.alike(source, several, "--balance")
        self.alike(source, several, "--remove-wait", "cudaStreamSynchronize", "--kernel", "flash=0.6")
        plans = [[change["change"] for change in json.loads(run("whatif", "--quiet", *sources, "--format", "json").stdout)["changes"] if change["chosen"]]
                 for sources in ((source,), several)]
        self.assertEqual(plans[0], plans[1])
        self.assertGreater(len(plans[0]), 2)


NUSSINOV = SHARED / "traces" / "series" / "nussinov"


@unittest.skipUnless(NUSSINOV.is_dir(), "no shared/")
class Siblings(unittest.TestCase):
    """Versions of one program: with the next one's kernel its window takes as long as the next one's."""

    def test_window(self):
        for before, after in itertools.pairwise(("05248f4_report6", "6309b89_report7", "70d73cc_report5", "471ff56_report10")):
            times = [sql_row(NUSSINOV / f"{name}.sqlite", "select wall_ms, (select sum(total_time_ms) from kernels) from critical_path_summary "
                             "where scope = 'window'") for name in (before, after)]
            done = run("whatif", "--quiet", NUSSINOV / f"{before}.sqlite", "--kernel", f"nussinov={times[1][1] / times[0][1]:.6f}", "--format", "json")
            self.assertLess(abs(json.loads(done.stdout)["together"]["after_ns"] / 1e6 - times[1][0]), 0.01 * times[0][0], (before, after))


CAMERA = SHARED / "traces" / "series" / "jetson_lab"


@unittest.skipUnless(CAMERA.is_dir(), "no shared/")
class Paced(unittest.TestCase):
    """Versions of a program that gets 25 pictures a second, however fast its kernels are."""

    def test_step(self):
        for before, after in (("report12", "report14"), ("report6", "report15"), ("report7", "report9")):
            (_, kernel, calls), (true, next_kernel, next_calls) = (
                sql_row(CAMERA / f"{name}.sqlite", "select (select per_repetition_ms from critical_path_summary where scope = 'step'), total_time_ms, call_count "
                        "from kernels where kernel_name like 'calcHistogram%'") for name in (before, after))
            done = run("whatif", "--quiet", CAMERA / f"{before}.sqlite", "--kernel", f"calcHistogram={next_kernel / next_calls / (kernel / calls):.6f}", "--format", "json")
            said = json.loads(done.stdout)
            self.assertEqual((said["state"], "host sleeps" in said["reason"]), ("bound_only", True))
            self.assertTrue(said["together"]["after_high_ns"] <= true * 1e6 <= 1.04 * said["together"]["after_low_ns"], (before, after))


def one_thread(path):
    """Two ranks launched in turn by one thread, whose own code before the second launch is longer in every other round."""
    shutil.copy(trace("collectives-skewed"), path)
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.row_factory = sqlite3.Row
        names = dict(map(tuple, db.execute("select id, value from StringIds")))
        kernels = [dict(row) for row in db.execute("select * from CUPTI_ACTIVITY_KIND_KERNEL")]
        launch = next(dict(row) for row in db.execute("select * from CUPTI_ACTIVITY_KIND_RUNTIME") if "LaunchKernel" in names[row["nameId"]])
        models = {(device, wanted): next(kernel for kernel in kernels if kernel["deviceId"] == device and ("AllReduce" in names[kernel["shortName"]]) == wanted)
                  for device in (0, 1) for wanted in (False, True)}
        for table, in db.execute("select name from sqlite_master where name like 'CUPTI_ACTIVITY_KIND%' or name in ('NVTX_EVENTS', 'PROFILER_OVERHEAD')").fetchall():
            db.execute(f"delete from {table}")
        now, number, free = 1_001_000_000, 0, [0, 0]

        def put(table, row):
            db.execute(f"insert into {table} ({', '.join(row)}) values ({', '.join('?' * len(row))})", list(row.values()))

        def call(device, collective):
            nonlocal now, number
            number += 1
            put("CUPTI_ACTIVITY_KIND_RUNTIME", {**launch, "start": now, "end": now + 5 * US, "correlationId": number})
            now += 6 * US
            return {**models[device, collective], "start": max(free[device], now), "correlationId": number, "globalPid": models[0, True]["globalPid"]}

        for round_ in range(12):
            work = [call(device, False) for device in (0, 1)]
            for device, kernel in enumerate(work):
                kernel["end"] = kernel["start"] + 50 * US
                free[device] = kernel["end"] + US
            first = call(0, True)
            now += 20 * US if round_ % 2 else 400 * US
            both = [first, call(1, True)]
            end = max(kernel["start"] for kernel in both) + 60 * US
            for kernel in both:
                kernel["end"] = end
            for kernel in (*work, *both):
                put("CUPTI_ACTIVITY_KIND_KERNEL", kernel)
            free, now = [end + US] * 2, end + 10 * US
    return path


WRONG = (  # of every 20th row
    "UPDATE {table} SET start = start + 400000 WHERE rowid % 20 = 3",
    "UPDATE {table} SET end = start - 5000 WHERE rowid % 20 = 3",
    "UPDATE {table} SET start = end - 900000 WHERE rowid % 20 = 3",
    "UPDATE {table} SET correlationId = correlationId + 7 WHERE rowid % 20 = 3",
    "DELETE FROM {table} WHERE rowid % 20 = 3",
)


class Damaged(unittest.TestCase):
    def check(self, path, what):
        """Nothing crashes, and what is said still adds up."""
        done = run("whatif", "--quiet", path, "--kernel", ".=0.5", "--format", "json")
        self.assertIn(done.returncode, (0, 2, 3, 7), (what, done.stderr))
        if done.returncode == 3:
            self.assertIn("damaged", done.stderr)
            return False
        if done.returncode == 0:
            self.assertGreater(json.loads(done.stdout)["together"]["after_ns"], 0, what)
        error, off = sql_row(path, "select (select max(replay_error_ns) from dependency_graph), (select sum(abs(wall_ns - (select sum(duration_ns) from critical_path_causes c where "
                                   "c.scope = s.scope and c.device_id is s.device_id and c.pid is s.pid))) from critical_path_summary s)")
        self.assertEqual((error, off), (0, 0), what)
        return done.returncode == 0

    def test_rows(self):
        said = 0
        for table, wrong in itertools.product(("KERNEL", "RUNTIME", "SYNCHRONIZATION"), WRONG):
            path = fresh_dir("whatif") / "trace.sqlite"
            shutil.copy(trace("loop-waits"), path)
            with contextlib.closing(sqlite3.connect(path)) as db, db:
                db.execute(wrong.format(table=f"CUPTI_ACTIVITY_KIND_{table}"))
            said += self.check(path, (table, wrong))
        self.assertGreater(said, 10)

    def test_clocks(self):
        """Operations long before their launches, or behind what waits for them, are in no order: they are counted, many refuse the graph."""
        for name, by, stream, refused in (("inference", 10 * US, 7, False), ("inference", 200 * US, 7, True), ("dependency", 200 * US, 13, True)):
            path = fresh_dir("whatif") / "trace.sqlite"
            shutil.copy(trace(name), path)
            with contextlib.closing(sqlite3.connect(path)) as db, db:
                db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start - ?, end = end - ? WHERE streamId = ?", (by, by, stream))
            done = run("whatif", "--quiet", path, "--kernel", ".=0.5")
            self.assertEqual((done.returncode, "contradict" in done.stdout), (7, True) if refused else (0, False), (name, by))
            self.assertEqual(sql_row(path, "select dropped_count > 0 from dependency_graph"), [refused])

    @tier("ci")
    def test_pages(self):
        source = trace("training")
        for table, how in itertools.product(("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"), (no_rows, rows_twice, long_header)):
            self.check(damaged(source, table, how), (table, how.__name__))


class Commands(unittest.TestCase):
    def test_a_thread_is_not_balanced_with_itself(self):
        done = run("whatif", "--quiet", one_thread(fresh_dir() / "one.sqlite"), "--balance", "--format", "json")
        told = json.loads(done.stdout)
        self.assertEqual((told["together"]["after_ns"], told["changes"][0]["edited_count"] > 0), (told["now_ns"], True))

    def test_generated_pair(self):
        """`loop-waits` is `loop` with a blocking copy and host code in each step."""
        now = json.loads(run("whatif", "--quiet", trace("loop-waits"), "--remove-wait", "^cudaMemcpy$", "--format", "json").stdout)
        true = self.steps(trace("loop"))
        self.assertLess(abs(now["together"]["after_ns"] - true), 0.01 * true)
        self.assertGreater(now["now_ns"], 1.05 * true)

    def steps(self, path):
        return next(row["per_repetition_ms"] for row in path_blocks(path)[0] if row["scope"] == "step") * 1e6

    def test_one_step_and_one_stretch(self):
        """A step's path is that of table critical_path_steps; a stretch is filled from its first operation to its last."""
        source = trace("training")
        number, length = sql_row(source, "select step, max(end_ns - start_ns) from critical_path_steps where step = (select step from steps where state = 'steady' limit 1 offset 2)")
        blocks = path_blocks(source, "--step", number)
        told = sorted([row["device_id"], row["cause"], round(row["duration_ms"] * 1e6)] for row in blocks[1] if row["cause"] != "kernel")
        self.assertEqual(told, json.loads(run("sql", "--quiet", source, f"select device_id, cause, duration_ns from critical_path_steps where step = {number} and cause <> 'kernel' "
                                              "order by 1, 2", "--format", "json").stdout)["rows"])
        self.assertEqual(max(round(row["per_repetition_ms"] * 1e6) for row in blocks[0]), length)
        self.assertEqual(sum(row["duration_us"] * 1000 for row in path_blocks(source, "--step", number)[2]), length)
        said = json.loads(run("whatif", "--quiet", source, "--step", str(number), "--kernel", ".=0.5", "--format", "json").stdout)
        self.assertEqual((said["scope"], said["now_ns"]), ("step", length))
        with contextlib.closing(sqlite3.connect(source)) as db:
            ops = " union all ".join(f"select start, end from CUPTI_ACTIVITY_KIND_{kind}" for kind in ("KERNEL", "MEMCPY", "MEMSET"))
            first, last = db.execute(f"select min(start), max(end) from ({ops})").fetchone()
            cut = (first + (last - first) // 3, first + (last - first) // 2)
            start, end = db.execute(f"select min(start), max(end) from ({ops}) where start >= ? and end <= ?", cut).fetchone()
        window = ("--window", *(f"{at / 1e9:.9f}" for at in cut))
        self.assertEqual([round(row["per_repetition_ms"] * 1e6) for row in path_blocks(source, *window)[0]], [end - start])
        said = json.loads(run("whatif", "--quiet", source, *window, "--kernel", ".=0.5", "--format", "json").stdout)
        self.assertEqual((said["scope"], said["now_ns"]), ("window", end - start))
        self.assertLess(said["together"]["after_ns"], end - start)
        for command, words, message in (("whatif", ("--step", "9999"), "there are 0 to"), ("critical-path", ("--step", "1", *window), "not both"),
                                        ("critical-path", ("--window", "+0", "+1ns"), "no GPU operation")):
            done = run(command, "--quiet", source, *words)
            self.assertEqual((done.returncode, message in done.stderr), (2, True), done.stderr)

    def test_what_is_refused(self):
        for words, status, message in (
                ((trace("loop"), "--kernel", "no such kernel=0.5"), 2, "matches no kernel"),
                ((trace("loop"), "--kernel", "nvjet"), 2, "stands at the end"),
                ((trace("loop"), "--kernel", "nvjet=-1"), 2, "stands at the end"),
                ((trace("loop"), "--kernel", "nvjet=0.5..x"), 2, "stands at the end"),
                ((trace("loop"), "--kernel", "(=0.5"), 2, "regular expression"),
                ((trace("loop"), "--balance"), 2, "no GPU comes late"),
                ((trace("loop-fused"), "--fuse", "."), 2, "no two kernels follow each other"),
                ((trace("loop"), "--copy-at", "cudaFree=0"), 2, "no copy is made there"),
                ((trace("loop"), "--copy-at", "cudaMemcpy"), 2, "stands at the end"),
                ((trace("first-touch"), "--pinned"), 2, "tell the rate"),
                ((trace("minimal"), "--kernel", ".*=0.5"), 7, "launches were not recorded"),
        ):
            with self.subTest(words=words):
                done = run("whatif", "--quiet", *words)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(message, done.stdout + done.stderr)

    def test_traces_that_are_no_job(self):
        """Both commands say as JSON why not, in the same words."""
        told = {}
        for command in ("whatif", "critical-path"):
            done = run(command, "--quiet", trace("loop"), trace("training"), "--format", "json")
            told[command] = json.loads(done.stdout)
            self.assertEqual((done.returncode, done.stderr, told[command]["state"]), (7, "", "refused"))
        self.assertEqual(told["whatif"]["reason"], told["critical-path"]["reason"])
        self.assertEqual((told["critical-path"]["page"], told["critical-path"]["blocks"]), ("critical_path", []))
        done = run("critical-path", "--quiet", trace("loop"), trace("training"))
        self.assertEqual((done.returncode, done.stdout), (7, f"No path of these traces together: {told['whatif']['reason']}.\n"))

    def test_a_last_operation_without_launch(self):
        """The path of such a window reaches nothing else: it is no answer to what decided its length."""
        path = fresh_dir("whatif") / "trace.sqlite"
        shutil.copy(trace("loop"), path)
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            db.execute("create temp table last as select * from CUPTI_ACTIVITY_KIND_KERNEL order by end desc limit 1")
            db.execute("update last set start = end + 1000, end = end + 9000, streamId = 99, correlationId = 99999999")
            db.execute("insert into CUPTI_ACTIVITY_KIND_KERNEL select * from last")
        row = report(analyze(path)).rows("critical_path_summary")[0]
        self.assertEqual((row["scope"], row["state"], row["summary"]), ("window", "refused", None))
        self.assertGreater(row["not_recorded_pct"], 50)
        self.assertIn("more than half of the window", row["reason"])

    def test_an_expression_says_what_it_stands_for(self):
        done = run("whatif", "--quiet", trace("loop"), "--call", "(?#that launch)cudaLaunch.*=0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no calls that launch:", done.stdout)
        self.assertNotIn("cudaLaunch", done.stdout.partition(":")[0])

    def test_a_free_waits(self):
        """cudaFree returns behind the kernels before it: they are on the path, as with a synchronization, until it is gone."""
        path = fresh_dir("whatif") / "trace.sqlite"
        shutil.copy(trace("loop"), path)
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            db.execute("update StringIds set value = 'cudaFree_v3020' where value like 'cuda%Synchronize%'")
        kernels = [sum(row["duration_ms"] for row in report(analyze(one)).rows("critical_path_causes") if (row["scope"], row["cause"]) == ("window", "kernel"))
                   for one in (trace("loop"), path)]
        self.assertGreater(kernels[0], 0)
        self.assertAlmostEqual(kernels[1] / kernels[0], 1, delta=0.02)
        row, = report(analyze(path)).rows("dependency_graph")
        self.assertEqual(row["replay_error_ns"], 0)

    def test_factors(self):
        """1.25x is 0.8, and a range is read at its middle."""
        answers = [json.loads(run("whatif", "--quiet", trace("loop"), "--kernel", f".*={factor}", "--format", "json").stdout)["together"]
                   for factor in ("0.8", "1.25x", "0.7..0.9")]
        self.assertEqual(len({answer["after_ns"] for answer in answers}), 1)
        self.assertLess(answers[2]["after_high_ns"], answers[0]["after_high_ns"])

    def test_an_expression_that_gives_up(self):
        """On one name it takes too long: nobody knows how many others it is about, so nothing is said."""
        path, rules = fresh_dir("whatif") / "trace.sqlite", fresh_dir("whatif") / "rules.yaml"
        ranks = schedule((), False, 1)
        ranks[1].kernel("a" * 60, 30 * US)
        write(path, ranks)
        rules.write_text("rules: [{id: mine, title: mine, table: run_info, severity: low, why: w, recommendation: r, verify: v, evidence: [e], "
                         "simulate: 'kernel (gemm|(a*)*c)=0.5'}]", encoding="ascii")
        row, = (row for row in report(analyze(path, "--rules", rules)).rows("what_if") if row["rule"] == "mine")
        self.assertEqual((row["state"], row["saving_ns"]), ("refused", None))
        self.assertIn("too long", row["reason"])
        done = run("whatif", "--quiet", path, "--kernel", "(gemm|(a*)*c)=0.5")
        self.assertEqual((done.returncode, "too long" in done.stderr), (2, True))

    def test_plan_of_a_report(self):
        """The findings of `loop-waits` name the changes that make it `loop` and that `loop-fused`."""
        changes = {change["change"]: change for change in report(artifacts(trace("loop-waits"))).rows("what_if")}
        true = self.steps(trace("loop"))
        self.assertLess(abs(changes["remove-wait-at cudaMemcpy in train_step"]["after_ns"] - true), 0.01 * true)
        plan = report(artifacts(trace("loop-waits"))).rows("what_if_plan")
        self.assertEqual([step["change"] for step in plan], ["fuse .", "remove-wait-at cudaMemcpy in train_step"])
        true = self.steps(trace("loop-fused"))
        self.assertLess(abs(plan[1]["after_ns"] - true), 0.02 * true)
        self.assertTrue(plan[1]["after_high_ns"] <= true <= plan[1]["after_low_ns"])

    def test_the_plan_and_the_findings_tell_one_saving(self):
        """No simulation removes far more than its cause; where a finding says nothing of one, nor does the plan, which goes by titles."""
        for path in [*map(trace, ("loop-waits", "train-constants", "serving-uncounted")), *exports()]:
            told, markdown = report(artifacts(path)), (artifacts(path) / "report.md").read_text(encoding="utf-8")
            for finding in told.json["findings"]:
                simulated, repetitions = finding["simulated"], [row for row in told.rows("what_if") if row["rule"] == finding["id"]]
                if not simulated or simulated["state"] == "within_error" or finding["saving_is"] == "estimate":
                    continue
                times = 1 if simulated["state"] == "bound_only" else 2
                self.assertLessEqual(repetitions[0]["repetition_count"] * simulated["saving_ns"], times * 1.1 * finding["saving_ns"], (path.stem, finding["id"]))
            for row in told.rows("what_if_plan"):
                self.assertTrue(told.json["findings"][row["finding"] - 1]["simulated"], path.stem)
                self.assertNotIn(f"| {row['change']} |", markdown)

    def test_large(self):
        """Of more than 300,000 calls and operations a report simulates successive repetitions, which say what all would."""
        large = trace("inference", "--scale", "25")
        told = {row["change"]: row for row in report(artifacts(large)).rows("what_if")}
        graph = sql_row(large, "select call_count + operation_count, (select count(*) from steps where state = 'steady') from dependency_graph")
        self.assertGreater(graph[0], 300000)
        gaps = sum(int(row["gap_count"]) for row in report(artifacts(large)).rows("gpu_utilization"))
        self.assertIn(f"It has the longest 10,000; {gaps - 10000:,} shorter ones are not listed", (artifacts(large) / "report.md").read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(told), 3)
        for change, row in told.items():
            option, _, value = change.partition(" ")
            words = ("--" + option, value) if value else ("--" + option,)
            whole = json.loads(run("whatif", "--quiet", large, *words, "--format", "json").stdout)
            self.assertTrue(0.5 * graph[1] < row["repetition_count"] < graph[1], change)
            self.assertLess(abs(row["now_ns"] - whole["now_ns"]), 0.005 * whole["now_ns"], change)
            self.assertLess(abs(row["saving_ns"] - whole["together"]["saving_ns"]), 0.005 * whole["now_ns"], change)
            self.assertLess(row["edited_count"], whole["changes"][0]["edited_count"], change)
        self.assertTrue(report(artifacts(large)).rows("what_if_plan"))

    def test_each_alone_and_all_in_one_answer(self):
        """What one change makes of the graph is gone when the next one is tried."""
        changes = [("--remove-wait", "."), ("--fuse", "."), ("--graphs",), ("--call", ".=0.5"), ("--kernel", ".=0.5"), ("--copy", ".=0.5"), ("--host", "0.5"),
                   ("--pinned",), ("--own-stream",)]
        path = trace("loop-waits")
        one = {}
        for words in changes:
            done = run("whatif", "--quiet", path, *words, "--format", "json")
            if done.returncode == 0: # else the trace has nothing that it is about
                one[words] = json.loads(done.stdout)
        self.assertGreaterEqual(len(one), 6)
        said = json.loads(run("whatif", "--quiet", path, *itertools.chain(*one), "--format", "json").stdout)
        alone = {change["change"]: change["alone_saving_ns"] for change in said["changes"]}
        self.assertEqual(alone, {answer["changes"][0]["change"]: answer["together"]["saving_ns"] for answer in one.values()})

    def test_without_changes(self):
        """The plan is that of the report: the changes that its findings name, from a trace as from a run."""
        for name in ("loop-waits", "alloc-churn", "profiler-flush"):
            directory = artifacts(trace(name))
            wanted = [(row["change"], row["title"], row["before_ns"], row["after_ns"], row["after_low_ns"], row["after_high_ns"])
                      for row in report(directory).rows("what_if_plan") if row["note"] is None]
            self.assertTrue(wanted)
            for source in (trace(name), directory):
                changes = json.loads(run("whatif", "--quiet", source, "--format", "json").stdout)["changes"]
                self.assertEqual([(made["change"], made["finding"], made["before_ns"], made["after_ns"], made["after_low_ns"], made["after_high_ns"])
                                  for made in changes if made["chosen"]], wanted)
        done = run("whatif", "--quiet", trace("loop-fused"))
        self.assertEqual((done.returncode, done.stdout.splitlines()[1:]), (0, ["No finding names a change that can be simulated here."]))
        self.assertEqual(run("whatif", "--quiet", trace("minimal")).returncode, 7)

    def test_a_wait_that_began_before_the_step(self):
        """A host that runs ahead called it before: one step saves about what one does if all are changed."""
        for name in ("tiny-copies", "openacc-waits", "loop"):
            whole, one = (json.loads(run("whatif", "--quiet", trace(name), "--kernel", ".=0.5", *step, "--format", "json").stdout) for step in ((), ("--step", "3")))
            shares = [said["together"]["saving_ns"] / said["now_ns"] for said in (whole, one)]
            self.assertGreater(shares[0], 0.1)
            self.assertLess(abs(shares[0] - shares[1]), 0.02, name)

    def test_what_lies_before_the_window(self):
        """What a process does before its first operation is none of the window's time; changed, it would only move one process against another."""
        done = run("whatif", "--quiet", trace("cold"), "--call", "cudaMalloc=0")
        self.assertEqual((done.returncode, "matches no CUDA call in the time that is simulated" in done.stderr), (2, True))
        said = json.loads(run("whatif", "--quiet", trace("cold"), "--host", "0.5", "--format", "json").stdout)
        with contextlib.closing(sqlite3.connect(trace("cold"))) as db:
            early = db.execute("select max(r.end - r.start) from CUPTI_ACTIVITY_KIND_RUNTIME r where r.start < (select min(start) from CUPTI_ACTIVITY_KIND_KERNEL)").fetchone()[0]
        self.assertLess(said["together"]["saving_ns"], said["now_ns"])
        self.assertGreater(early, 10 * said["now_ns"])

    def test_a_unit_that_is_little_of_the_time(self):
        """It says nothing of the rest: then the longest active span is replayed, or a window without pauses."""
        for name, scope in (("pause", "active"), ("launch-storm", "window"), ("layers", "unit"), ("loop", "step")):
            said = json.loads(run("whatif", "--quiet", trace(name), "--kernel", ".=0.5", "--format", "json").stdout)
            self.assertEqual(said["scope"], scope)
            self.assertEqual(scope in ("step", "unit"), said["repetition_count"] > 1)
            self.assertGreaterEqual(2 * said["covered_ns"], said["active_ns"], name)
        spans = sql_row(trace("pause"), "select max(end_ns - start_ns), sum(end_ns - start_ns) from active_spans where kind = 'active'")
        said = json.loads(run("whatif", "--quiet", trace("pause"), "--kernel", ".=0.5", "--format", "json").stdout)
        self.assertEqual([said["now_ns"], said["active_ns"]], spans)

    def test_a_change_that_loses(self):
        """It says so, alone and in numbers; twice as long is no speed-up."""
        done = run("whatif", "--quiet", trace("loop"), "--kernel", ".=2").stdout.splitlines()
        self.assertRegex(done[1], r"^-  kernels \. in 200 % of the time: no gain; alone loses [0-9.]+ (ms|µs)$")
        self.assertIn("loses", done[2])

    def test_words_of_directions(self):
        saved = [json.loads(run("whatif", "--quiet", trace("copy-bound"), "--copy", f"{word}=0.5", "--format", "json").stdout)["together"]["saving_ns"]
                 for word in ("Host-to-Device", "HtoD", "H2D")]
        self.assertEqual(len(set(saved)), 1)
        self.assertGreater(saved[0], 0)

    def test_no_plan_saves_far_more_than_the_findings_hold(self):
        for path in [*map(trace, ("loop-waits", "pause", "alloc-churn")), *exports()]:
            directory = artifacts(path)
            said = json.loads(run("whatif", "--quiet", directory, "--format", "json").stdout)
            most = {}
            for change, ns in json.loads(run("sql", "--quiet", directory, "select change, iif(saving_is = 'bound', saving_ns, null) from findings where change is not null",
                                             "--format", "json").stdout)["rows"]:
                most[change] = None if ns is None or most.get(change, 0) is None else max(ns, most.get(change, 0))
            for change in said["changes"]:
                if most[change["change"]] is not None:
                    self.assertLessEqual(change["alone_saving_ns"] * said["covered_ns"] / said["now_ns"], 2.2 * most[change["change"]] + 1, (path.stem, change["change"]))

    def test_a_part_of_the_plan(self):
        """So many changes, or not those of some findings; together they are what the plan then says."""
        def plan(*words):
            return json.loads(run("whatif", "--quiet", trace("loop-waits"), *words, "--format", "json").stdout)
        findings = {row["change"]: row for row in report(artifacts(trace("loop-waits"))).rows("what_if")}
        whole, first = plan(), plan("--max", "1")
        self.assertEqual([change["chosen"] for change in whole["changes"]], [True, True])
        self.assertEqual(([change["chosen"] for change in first["changes"]], first["changes"][0]), ([True, False], whole["changes"][0]))
        self.assertEqual(first["together"]["after_ns"], whole["changes"][0]["after_ns"])
        self.assertIn("left out", run("whatif", "--quiet", trace("loop-waits"), "--max", "1").stdout)
        fused, wait = (findings[change["change"]] for change in whole["changes"])
        only, = plan("--without", str(fused["finding"]))["changes"]
        self.assertEqual((only["change"], only["after_ns"]), (wait["change"], wait["after_ns"]))
        self.assertEqual(plan("--without", str(fused["finding"]), "--without", str(wait["finding"]))["changes"], [])
        for words, message in ((("--without", "99"), "no finding of that number"), (("--without", "1", "--fuse", "."), "findings of one trace"), (("--max", "0"), "1")):
            done = run("whatif", "--quiet", trace("loop-waits"), *words)
            self.assertEqual((done.returncode, message in done.stderr), (2, True), words)

    def test_sensitivity(self):
        """Each number is that of the change that one would type; more of it never makes a step longer, down to nothing at all."""
        typed = {"GPU kernels": ("--kernel", ".={}"), "copies": ("--copy", ".={}"), "CUDA calls": ("--call", ".={}"),
                 "launch calls": ("--call", "Launch={}"), "host code and calls": ("--host", "{}")}
        ranks = schedule(("wait", "upload"), True, 1)
        said = said_of(ranks, "--sensitivity")
        after = {(row["kind"], row["without_waits"], row["less_pct"]): row["after_ns"] for row in said["sensitivity"]}
        self.assertEqual({kind for kind, *_ in after}, {"NCCL kernels", *typed})
        for kind, (option, value) in typed.items():
            for waits in ((), ("--remove-wait", ".")):
                column = [after[kind, bool(waits), less] for less in (10, 25, 50, 100)]
                self.assertEqual(column, sorted(column, reverse=True), (kind, waits))
                self.assertLess(column[-1], column[0], (kind, waits)) if kind == "GPU kernels" else None
                for less, ns in ((25, column[1]), (100, column[3])):
                    asked = said_of(ranks, option, value.format(1 - less / 100), *waits)
                    self.assertEqual(asked["together"]["after_ns"], ns, (kind, waits, less))
        host = [after["host code and calls", False, less] for less in (50, 100)]
        self.assertLess(host[1], host[0])  # no time at all is less than half of it
        self.assertLess(after["host code and calls", False, 10], said["now_ns"])
        done = run("whatif", "--quiet", trace("loop-waits"), "--sensitivity", "--graphs")
        self.assertEqual((done.returncode, "--sensitivity is of no change" in done.stderr), (2, True))
        self.assertRegex(run("whatif", "--quiet", trace("loop-waits"), "--sensitivity").stdout, r"If all of a kind takes +10 % less +25 % less +50 % less +100 % less\n  GPU kernels  ")

    def test_what_an_interval_assumes(self):
        """An end that is further away than the model's error says what it assumes, no other does."""
        seen = set()
        for name in ("loop-waits", "training", "alloc-churn", "profiler-flush"):
            for row in report(artifacts(trace(name))).rows("what_if"):
                if row["saving_ns"] is None or row["state"] == "bound_only" or row["saving_pct"] < 1:
                    continue
                low, high = row["now_ns"] - row["saving_low_ns"], row["now_ns"] - row["saving_high_ns"]
                seen |= {row["cautious"] is None, row["favorable"] is None}
                self.assertEqual(row["cautious"] is not None, low > 1.04 * row["after_ns"] + 1, row)
                self.assertEqual(row["favorable"] is not None, high < 0.96 * row["after_ns"] - 1, row)
        self.assertEqual(seen, {True, False})
        said = run("whatif", "--quiet", trace("loop"), "--kernel", ".=0.5..0.9").stdout
        self.assertRegex(said, "cautious: half of the change\n *favorable: the better factor\n")

    def test_what_matters(self):
        """Only what the trace or the new path has any of is said to be left out of the model."""
        def caveats(ranks, *changes):
            return " ".join(said_of(ranks, *changes)["caveats"])
        alone = caveats([decode(False, 20 * US)[0]], "--kernel", "gemm=2")
        for text in ("overlap", "threads", "queues", "can do without"):
            self.assertNotIn(text, alone)
        self.assertIn("can do without", caveats(schedule(("upload",), True, 1), *LOSSES["upload"]))
        self.assertIn("calls of threads", caveats(turns(True), "--host", "0.5"))
        ranks = buckets(True)
        spans = [sorted((row[1], row[2]) for row in rank.rows if row[0] in ("kernel", "copy")) for rank in ranks]
        busy, overlap = sum(end - start for rank in spans for start, end in rank), 0
        for rank in spans:
            until = 0
            for start, end in rank:
                overlap += max(0, min(until, end) - start)
                until = max(until, end)
        self.assertIn(f"({100 * overlap / busy:.0f} % of their time)", caveats(ranks, "--kernel", "gemm=0.9"))
        light, = (caveat for caveat in said_of(schedule((), False, 1), "--kernel", "adam=0.9")["caveats"] if "Host code" in caveat)
        self.assertGreater(int(light.split(" %")[0].split()[-1]), 50)

    def test_of_a_run(self):
        """A run says what its trace says, of copies, too, whose directions are names of another table."""
        for words in (("whatif", "--copy", "HtoD=0.5"), ("critical-path", "--step", "2")):
            said = [run(words[0], "--quiet", source, *words[1:], "--format", "json") for source in (trace("training"), artifacts(trace("training")))]
            self.assertEqual([done.returncode for done in said], [0, 0])
            self.assertEqual(said[0].stdout, said[1].stdout)

    def test_asked_in_words(self):
        """The number comes first, and is that of the tables."""
        source = artifacts(trace("loop-waits"))
        total, wait, path = sql_row(source, "select round(cumulative_pct, 1) || ' %', (select human(saving_ns, 'ns') from what_if where change like 'remove-wait%'), "
                                    "(select human(wall_ns, 'ns') from critical_path_summary where scope = 'window') from what_if_plan where note is null order by rank desc limit 1")
        for question, number in (("what is the plan", total), ("what would I gain if I fixed all findings", total), ("what does removing the wait save", wait),
                                 ("what is on the critical path", path)):
            done = run("ask", "--quiet", source, question, "--format", "json")
            answer = json.loads(done.stdout)["answer"][0]
            self.assertTrue((answer if isinstance(answer, str) else answer["text"]).startswith(number), (question, number, answer))

    def test_saving_of_a_finding(self):
        """The wait of `loop-waits` costs a step what `loop` is shorter by, not the idle time that its finding bounds it with."""
        told = report(artifacts(trace("loop-waits")))
        finding = next(found for found in told.json["findings"] if found["id"] == "idle-queue-drained")
        simulated = finding["simulated"]
        self.assertEqual((simulated["scope"], simulated["state"]), ("step", "ok"))
        true = self.steps(trace("loop-waits")) - self.steps(trace("loop"))
        self.assertLess(abs(simulated["saving_ns"] - true), 0.01 * simulated["now_ns"])
        self.assertTrue(simulated["saving_low_ns"] <= true <= simulated["saving_high_ns"])
        self.assertEqual({found["simulated"] for found in told.json["findings"] if not found["change"]}, {None})
        self.assertIn("simulated saving", (told.directory / "report.md").read_text(encoding="utf-8"))
        self.assertIn("simulated saving", report(artifacts(trace("alloc-churn"))).json["verdict"]["text"])

    def test_predicted_and_measured(self):
        """compare says what the base's plan said of the finding that is gone."""
        def findings(base, new):
            out = fresh_dir("whatif") / "compared"
            self.assertEqual(run("compare", "--quiet", artifacts(trace(base)), artifacts(trace(new)), "--out", out).returncode, 0)
            return json.loads((out / "compare.json").read_text(encoding="utf-8"))["findings"], (out / "compare.md").read_text(encoding="utf-8")

        rows, text = findings("loop-waits", "loop")
        row, = (row for row in rows if row["predicted_ms"] is not None)
        self.assertIn("predicted 2.63 ms, measured 2.63 ms", text)
        change = next(c for c in report(artifacts(trace("loop-waits"))).rows("what_if") if c["rule"] == "idle-queue-drained")
        self.assertEqual((row["state"], row["id"], row["predicted_of"]), ("gone", "idle-queue-drained", "step"))
        self.assertEqual(row["predicted_ms"], change["after_ns"] / 1e6)
        self.assertAlmostEqual(row["measured_ms"], self.steps(trace("loop")) / 1e6, places=3)
        rows, text = findings("loop", "loop-waits")
        self.assertEqual({row["predicted_ms"] for row in rows}, {None})
        self.assertNotIn("predicted", text)

    def test_plans_add_up(self):
        for name in ("loop-waits", "profiler-flush", "alloc-churn", "collectives-skewed", "training", "hostile"):
            told = report(artifacts(trace(name)))
            changes = {row["what_if"]: row for row in told.rows("what_if")}
            chosen = [row for row in told.rows("what_if_plan") if row["note"] is None]
            for before, after in itertools.pairwise(chosen):
                self.assertEqual(before["after_ns"], after["before_ns"])
            for row in chosen:
                self.assertEqual(row["saving_ns"], row["before_ns"] - row["after_ns"])
                self.assertEqual(row["alone_ns"], changes[row["what_if"]]["saving_ns"])
                self.assertLessEqual(row["after_high_ns"], row["after_ns"])
                self.assertLessEqual(row["after_ns"], row["after_low_ns"])
            for row in changes.values():
                if row["saving_ns"] is not None:
                    self.assertLessEqual(row["saving_low_ns"], row["saving_ns"])
                    self.assertLessEqual(0, row["saving_ns"])

    def test_slack(self):
        """What a segment of the window's path ends with has none; nothing outlasts the last operation."""
        for name in ("training", "collectives-skewed", "loop-waits"):
            last = "(select max(end_ns) from slack where kind <> 'call')"
            sums = run("sql", "--quiet", trace(name), f"select min(slack_ns), max(end_ns + slack_ns) - {last}, sum(slack_ns = 0) > 0, (select count(*) from critical_path p "
                       "where p.cause = 'kernel' and not exists (select 1 from slack s where s.kind = 'kernel' and s.slack_ns = 0 and s.name = p.name and "
                       "s.end_ns >= p.end_ns and s.start_ns <= p.start_ns)) from slack where kind <> 'call'", "--format", "json")
            self.assertEqual(json.loads(sums.stdout)["rows"], [[0, 0, 1, 0]], name)

    def test_margins(self):
        """Two kernels of 100 µs, 1 µs apart; 4 µs after its launch the second could start without the first. Shorter by less than the
        margin the first saves all of it, by more only the margin."""
        for launch, margin in ((60 * US, 44 * US), (101 * US, 3 * US)):
            rank, at = Rank(RANKS[0], random.Random(1)), 1_000_000_000
            rank.rows = [(kind, at + start, at + end, name, number) for kind, start, end, name, number in (
                ("call", 0, 4 * US, "cudaLaunchKernel", 1), ("kernel", 7 * US, 107 * US, "first", 1),
                ("call", launch, launch + 4 * US, "cudaLaunchKernel", 2), ("kernel", 108 * US, 208 * US, "second", 2))]
            path = fresh_dir("whatif") / "trace.sqlite"
            write(path, [rank])
            rows = json.loads(run("sql", "--quiet", path, "select cause, duration_ns, margin_ns from critical_path order by sequence", "--format", "json").stdout)["rows"]
            self.assertEqual(rows, [["kernel", 100 * US, None], ["stream_gap", US, margin], ["kernel", 100 * US, None]])
            self.assertEqual(sql_row(path, "select near_critical_ms * 1e6, sum(near_critical_ms) over () * 1e6 from critical_path_causes where cause = 'stream_gap' and scope = 'window'"),
                             [US if margin <= 5 * US else 0] * 2)
            said = json.loads(run("whatif", "--quiet", path, "--kernel", "first=0.9", "--format", "json").stdout)
            self.assertEqual(said["together"]["saving_ns"], min(10 * US, margin))

    def test_a_path_of_impossible_length(self):
        """A hundred times its length does not fit into 64 bits; what it is made of is said."""
        path, later = fresh_dir("whatif") / "long.sqlite", 120_000_000_000_000_000
        shutil.copy(trace("evidence", "--scale", "0.3"), path)
        with contextlib.closing(sqlite3.connect(path)) as db:
            last, = db.execute("SELECT correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start DESC LIMIT 1").fetchone()
            for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME"):
                db.execute(f"UPDATE {table} SET start = start + ?, end = end + ? WHERE correlationId = ?", (later, later, last))
            db.commit()
        self.assertIn("host code 100 %", run("critical-path", path).stdout)

    def test_causes_fill_the_window(self):
        for name in ("training", "collectives-skewed", "hostile"):
            sums = run("sql", "--quiet", trace(name), "select s.scope, s.wall_ns - sum(c.duration_ns) as rest from critical_path_summary s join "
                       "critical_path_causes c on c.scope = s.scope and c.device_id is s.device_id and c.pid is s.pid group by s.rowid",
                       "--format", "json")
            rows = json.loads(sums.stdout)["rows"]
            self.assertTrue(rows)
            self.assertEqual({row[1] for row in rows}, {0})

    def test_by_name_and_range(self):
        """The same path, cut by what is on it and by the ranges around that; the segments of the window tell what each takes."""
        for source, by in itertools.product((trace("training"), trace("loop-waits", "--scale", "0.2")), ("name", "range")):
            column = "nvtx_range" if by == "range" else "name"
            want = {(cause, category, name): ms for cause, category, name, ms in json.loads(run(
                "sql", "--quiet", source, f"select cause, category, nullif({column}, ''), sum(duration_ns) / 1e6 from critical_path group by 1, 2, 3", "--format", "json").stdout)["rows"]}
            blocks = path_blocks(source, "--by", by)
            told = {(row["cause"], row["category"], row["what"]): row["duration_ms"] for row in blocks[1] if row["scope"] == "window"}
            self.assertEqual({what[0] for what in told}, {what[0] for what in want})
            self.assertAlmostEqual(sum(told.values()), blocks[0][0]["per_repetition_ms"], places=5)
            for what, ms in told.items():
                if by == "range" or what[0] in ("host_bound", "launch_call", "cuda_call", "sync_return", "copy"): # others have short names of kernels
                    self.assertAlmostEqual(want[what], ms, places=5, msg=what)
        self.assertEqual(path_blocks(trace("training"), "--by", "cause"), path_blocks(trace("training")))

    def test_step_by_step(self):
        """The path of each step fills it, and those of steady steps are what they consist of together."""
        for name in ("training", "loop-waits"):
            def rows(query, source=trace(name)):
                return json.loads(run("sql", "--quiet", source, query, "--format", "json").stdout)["rows"]
            each = rows("select device_id, pid, step, start_ns, end_ns - start_ns, max(steady), sum(duration_ns) from critical_path_steps "
                        "where scope = 'step' group by 1, 2, 3 order by 1, 2, 3")
            self.assertTrue(each)
            self.assertEqual([row[4] for row in each], [row[6] for row in each])
            steps = {tuple(row[:3]): row[3:] for row in rows("select device_id, pid, step, gpu_start_ns, state = 'steady' from steps")}
            self.assertEqual([row[3:6:2] for row in each], [steps[tuple(row[:3])] for row in each])
            self.assertEqual(*(rows(f"select device_id, pid, cause, sum(duration_ns) from {table} where scope = 'step' {which} group by 1, 2, 3 order by 1, 2, 3")
                               for table, which in (("critical_path_steps", "and steady"), ("critical_path_causes", ""))))


if __name__ == "__main__":
    unittest.main()
