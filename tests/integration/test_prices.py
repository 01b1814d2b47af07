"""What findings say can be saved, against the same program without the loss: its time is found in the export by SQL and cut out of it."""
import bisect
import math
import re
import shutil
import sqlite3
import unittest

import yaml

import support
from support import SOURCE, edited, fresh_dir, trace
from test_traps import KERNEL, MIGRATION, MS

EVENTS = "CUPTI_ACTIVITY_KIND_"


class Export:
    """Times of a GPU of a generated export, or of all."""

    def __init__(self, path, device):
        self.db = sqlite3.connect(path)
        self.path, self.device = path, device
        self.tables = {name for name, in self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self.kernels = self.union(self.rows("KERNEL") + self.rows("GRAPH_TRACE"))
        self.copies = self.union(self.rows("MEMCPY") + self.rows("MEMSET"))
        self.busy = self.union(self.kernels + self.copies)
        self.gaps = [(a[1], b[0]) for a, b in zip(self.busy, self.busy[1:])]

    def rows(self, table, where="1", *values):
        table = table if table in self.tables else EVENTS + table
        if table not in self.tables:
            return []
        columns = {row[1] for row in self.db.execute(f"PRAGMA table_info({table})")}
        where += f" AND deviceId = {self.device}" if self.device is not None and "deviceId" in columns else ""
        return self.db.execute(f"SELECT start, end FROM {table} WHERE {where}", values).fetchall()

    def named(self, pattern):
        """Kernels by their short names."""
        names = [str(i) for i, name in self.db.execute("SELECT id, value FROM StringIds") if re.search(pattern, name)]
        return self.rows("KERNEL", f"shortName IN ({','.join(names)})")

    def launches(self):
        """Start of each kernel: its launch call."""
        both = "SELECT k.start, r.start, r.end FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId)"
        return {kernel: (start, end) for kernel, start, end in self.db.execute(both)}

    def named_calls(self):
        return self.db.execute("SELECT r.start, r.end, s.value FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId")

    def calls(self, pattern):
        return [(start, end) for start, end, name in self.named_calls() if re.search(pattern, name)]

    def ranges(self, pattern):
        """Thread, start and end of NVTX ranges by name."""
        named = self.db.execute("SELECT globalTid, start, end, coalesce(text, (SELECT value FROM StringIds WHERE id = textId)) FROM NVTX_EVENTS WHERE end NOT NULL")
        return [row[:3] for row in named if re.search(pattern, row[3])]

    def launched_in(self, pattern, *tables):
        """Operations whose launch call lies in such a range of its thread."""
        ranges, out = self.ranges(pattern), []
        for table in tables or ("KERNEL",):
            both = f"SELECT k.start, k.end, r.globalTid, r.start FROM {EVENTS}{table} k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId)"
            out += [(start, end) for start, end, thread, call in self.db.execute(both) if any(t == thread and a <= call < b for t, a, b in ranges)]
        return sorted(out)

    @staticmethod
    def union(spans):
        out = []
        for start, end in sorted(spans):
            if out and start <= out[-1][1]:
                out[-1] = (out[-1][0], max(out[-1][1], end))
            else:
                out.append((start, end))
        return out

    @classmethod
    def both(cls, one, other):
        one, other, out, i, k = cls.union(one), cls.union(other), [], 0, 0
        while i < len(one) and k < len(other):
            start, end = max(one[i][0], other[k][0]), min(one[i][1], other[k][1])
            out += [(start, end)] if start < end else []
            i, k = (i + 1, k) if one[i][1] < other[k][1] else (i, k + 1)
        return out

    @classmethod
    def without(cls, one, other):
        other = cls.union(other)
        return cls.both(one, zip([float("-inf")] + [end for _, end in other], [start for start, _ in other] + [float("inf")]))


def cut(path, name, spans):
    """A copy of the export in which what lies in `spans` took no time."""
    spans = Export.union(spans)
    starts, sums = [start for start, _ in spans], [0]
    for start, end in spans:
        sums.append(sums[-1] + end - start)

    def at(t):
        i = bisect.bisect_right(starts, t)
        return t if not i or t is None else t - sums[i - 1] - min(t, spans[i - 1][1]) + spans[i - 1][0]

    copy = fresh_dir("cut") / f"{name}.sqlite"
    shutil.copyfile(path, copy)
    db = sqlite3.connect(copy)
    db.create_function("at", 1, lambda t: t if t is None else at(t), deterministic=True)
    for table, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
        changed = [f"{column} = at({column})" for column in ("start", "end", "timestamp", "startedAt", "endedAt") if column in columns]
        if changed and table.startswith((EVENTS, "GPU_CONTEXT", "NVTX", "OSRT", "PROFILER", "SCHED", "COMPOSITE")):
            db.execute(f"UPDATE {table} SET {', '.join(changed)}")
    db.execute("UPDATE ANALYSIS_DETAILS SET duration = at(duration)")
    db.commit()
    db.close()
    return copy, sums[-1]


def idle_in(pattern):
    return lambda e: e.both(e.gaps, e.calls(pattern))


def instantiated_again(e):
    """Behind the first fifth of the run, in which graphs have to be made."""
    calls = sorted(e.calls("GraphInstantiate"))
    return e.both(e.gaps, calls[len(calls) // 5:])


def exposed_copies(e):
    return e.without(e.copies, e.kernels)


def own_code(e):
    return e.without(e.gaps, e.calls(""))


def reading(e):
    return e.both(e.gaps, e.rows("OSRT_API", "nameId IN (SELECT id FROM StringIds WHERE value = 'read')"))


def all_gaps(e):
    return e.gaps


def inside_graphs(e):
    """Between the nodes of one launch of a graph."""
    nodes = {}
    for start, end, launch in e.db.execute("SELECT start, end, correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE graphNodeId IS NOT NULL"):
        low, high = nodes.get(launch, (start, end))
        nodes[launch] = (min(low, start), max(high, end))
    return e.both(e.gaps, list(nodes.values()))


def behind_an_event(e):
    """Gaps before a kernel whose launch comes right behind a call that makes its stream wait."""
    waits = [end for _, end in e.calls("StreamWaitEvent")]
    launched = e.db.execute("""SELECT k.start, r.start FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r USING (correlationId)""")
    late = {start for start, call in launched if any(0 <= call - end < 20_000 for end in waits)}
    return [gap for gap in e.gaps if gap[1] in late and gap[1] - gap[0] > 20_000]


def in_host_functions(e):
    """What runs next stands behind the function in its stream, or behind an event, or its launch behind a wait for the function's stream or the GPU."""
    held, out = {}, []
    for start, end, stream in e.db.execute(f"SELECT start, end, streamId FROM {EVENTS}GRAPH_HOST_NODE_AND_HOST_LAUNCH"):
        held.setdefault(stream, []).append((start, end))
    everywhere = [span for spans in held.values() for span in spans]
    events, device, stream_waits, launches = e.calls("StreamWaitEvent"), e.calls("DeviceSynchronize"), e.calls("StreamSynchronize"), e.launches()
    next_stream = dict(e.db.execute(f"SELECT start, streamId FROM {EVENTS}KERNEL"))
    for start, end in e.gaps:
        called, returned = launches[end]
        own = held.get(next_stream[end], [])
        behind = everywhere if any(0 <= called - at < 20_000 for _, at in events) else own
        out += e.both(e.both([(start, end)], device), everywhere) + e.both(e.both([(start, end)], stream_waits), own)
        out += e.both([(max(start, returned), end)], behind)
    return out


def in_mpi(e):
    calls = [span for table in e.tables if table.startswith("MPI_") and table.endswith("_EVENTS") for span in e.rows(table, "end NOT NULL")]
    return e.both(e.gaps, calls)


def in_implicit_waits(e):
    return e.both(e.gaps, e.rows("OPENACC_OTHER", "eventKind = 8"))


def in_allocations_of_directives(e):
    return e.both(e.gaps, e.rows("OPENACC_DATA", "eventKind IN (15, 16)"))


def in_calls_on(name):
    query = ("SELECT startedAt, endedAt FROM OSRT_FILE_ACCESS_EVENTS WHERE fileAccessId IN "
             f"(SELECT fileAccessId FROM OSRT_FILE_ACCESS_DESCRIPTORS WHERE filePath LIKE '%{name}%')")
    return lambda e: e.both(e.gaps, e.union(e.db.execute(query)))


def beyond_the_median(kernel):
    """What calls of a kernel take longer than the median of them."""
    def loss(e):
        spans = e.rows("KERNEL", "shortName = (SELECT id FROM StringIds WHERE value = ?)", kernel)
        usual = sorted(end - start for start, end in spans)[len(spans) // 2]
        return [(start + usual, end) for start, end in spans if end - start > 2 * usual]
    return loss


def shortened(share, where="1"):
    return lambda e: [(end - round((end - start) * share), end) for start, end in e.rows("KERNEL", where)]


def half_of(pattern):
    return lambda e: [((start + end) // 2, end) for start, end in e.named(pattern)]


def kernels_named(pattern):
    return lambda e: e.named(pattern)


def all_but_the_longest(e):
    longest = max(e.rows("KERNEL"), key=lambda span: span[1] - span[0])
    return [span for span in e.rows("KERNEL") if span != longest]


def partial_waves(e):
    """Where registers limit the blocks of a multiprocessor, as in this scenario, and all blocks take equally long."""
    out, sizes = [], "SELECT start, end, gridX * gridY * gridZ, blockX * blockY * blockZ * registersPerThread FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = ?"
    for start, end, blocks, registers in e.db.execute(sizes, (e.device,)):
        waves = blocks / (132 * (65536 // registers))
        out.append((end - round((end - start) * (1 - waves / math.ceil(waves))), end))
    return out


def beyond_memory(e):
    """What matrices of 8 x 4096 x 4102 BF16 numbers take longer than reading and writing them."""
    least = round(2 * (8 * 4096 + 4096 * 4102 + 8 * 4102) / H100_BYTES_PER_NS)
    return [(start + least, end) for start, end in e.named("nvjet_tst_64x8")]


def beyond_the_link(where):
    """What copies take longer than at the rate that PCIe 5.0 x16 reaches."""
    def loss(e):
        copies = e.db.execute(f"SELECT start, end, bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE {where}")
        return [(start + round(size / LINK_BYTES_PER_NS), end) for start, end, size in copies if end - start > size / LINK_BYTES_PER_NS]
    return loss


def tiny_copies(e):
    """From the call that copies to the end of that which waits for it."""
    calls = sorted((start, end, name) for start, end, name in e.named_calls() if re.search("Memcpy|Synchronize|Launch|Malloc|Free", name))
    waits = [(one[0], other[1]) for one, other in zip(calls, calls[1:]) if "Memcpy" in one[2] and "Synchronize" in other[2]]
    return e.without(waits, e.kernels)


def first_instantiations(e):
    calls = sorted(e.calls("GraphInstantiate"))
    return e.both(e.gaps, calls[:len(calls) // 5])


def behind_the_launch(e):
    """From the return of a launch call, to a GPU that idles, to the start of its kernel."""
    calls = e.launches()
    return [(max(start, calls[end][1]), end) for start, end in e.gaps if end in calls and calls[end][1] < end]


def between_steps(e):
    """Gaps inside of steps are shorter, pauses longer."""
    return e.without([gap for gap in e.gaps if 50_000 < gap[1] - gap[0] < 20_000_000], e.rows("NVTX_EVENTS"))


def off_the_cpu(e, states):
    out, left = [], None
    for at, comes, state in e.db.execute("SELECT start, isSchedIn, threadState FROM SCHED_EVENTS ORDER BY start"):
        out += [(left[0], at)] if comes and left and left[1] in states else []
        left = None if comes else (at, state)
    return out


def preempted(e):
    return e.both(e.gaps, off_the_cpu(e, {1}))


def own_code_on_the_cpu(e):
    return e.without(own_code(e), off_the_cpu(e, {1, 2}))


def others_have_the_gpu(e):
    """A slice lasts from the restore of a context (8) to its save (7); the first is the program's."""
    out, begun, mine = [], None, None
    events = "SELECT timestamp, tag, globalPid FROM GPU_CONTEXT_SWITCH_EVENTS WHERE tag IN (7, 8) ORDER BY timestamp, seqNo"
    for at, tag, process in e.db.execute(events):
        mine = mine or process
        if process != mine:
            out += [(begun, at)] if tag == 7 and begun else []
            begun = at if tag == 8 else None
    return e.both(e.kernels, out)


def exposed_collectives(e):
    return e.without(e.named("^nccl"), e.named("^(?!nccl)"))


def before_the_last_rank(e):
    """Until the last rank has come to a collective, and nothing is computed meanwhile."""
    ops, out = {}, []
    names = "SELECT deviceId, start, end, value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = shortName WHERE value LIKE 'nccl%' ORDER BY start"
    for device, start, end, name in e.db.execute(names):
        ops.setdefault(name, {}).setdefault(device, []).append((start, end))
    for ranks in ops.values():
        for mine, *others in zip(ranks[0], *(spans for device, spans in ranks.items() if device)):
            out += [(mine[0], last) for last in [max(start for start, _ in others)] if last > mine[0]]
    return e.without(out, Export(e.path, 0).named("^(?!nccl)"))


def slower_beside_collectives(e):
    kernels, comm = {}, e.union(e.named("^nccl"))
    names = "SELECT start, end, value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = shortName WHERE value NOT LIKE 'nccl%' AND deviceId = ?"
    for start, end, name in e.db.execute(names, (e.device,)):
        kernels.setdefault(name, []).append((start, end, bool(e.both([(start, end)], comm))))
    out = []
    for calls in kernels.values():
        alone = sorted(end - start for start, end, beside in calls if not beside)
        out += [(start + alone[len(alone) // 2], end) for start, end, beside in calls if beside and end - start > alone[len(alone) // 2]]
    return out


def page_faults(where):
    return lambda e: e.both(e.rows("KERNEL"), e.rows("MEMCPY", where))


def steps_of_ten_kernels(e):
    kernels = sorted(e.rows("KERNEL"))
    return [(kernels[i][0], kernels[i + 9][1]) for i in range(0, len(kernels), 10)]


def beyond_the_median_step(e):
    steady = steps_of_ten_kernels(e)[6:]
    usual = sorted(end - start for start, end in steady)[(len(steady) - 1) // 2]
    return [(start + usual, end) for start, end in steady if end - start > usual]


def warm_up(e):
    steps = steps_of_ten_kernels(e)
    return list(zip([start for start, _ in steps[:6]], [start for start, _ in steps[1:7]]))


def flushes(e):
    return e.both(e.gaps, e.rows("PROFILER_OVERHEAD"))


def loading(e):
    return e.both(e.gaps, e.rows("OVERHEAD"))


def longest_gap(e):
    return [max(e.gaps, key=lambda gap: gap[1] - gap[0])]


def before_calls(e):
    return [(0, min(start for start, _ in e.calls("")))]


def before_gpu_work(e):
    return e.without([(min(start for start, _ in e.calls("")), e.busy[0][0])], e.calls(""))


def behind_gpu_work(e):
    return [(e.busy[-1][1], max(end for _, end in e.calls("")))]


def of_the_optimizer(e):
    kernels = e.launched_in("Optimizer.step")
    return kernels + [gap for gap in e.gaps if gap[1] in {start for start, _ in kernels}]


def recomputed(e):
    return sorted(set(e.launched_in("CheckpointFunctionBackward")) - set(e.launched_in("Backward0$")))


def exposed_of_size(*sizes):
    return lambda e: e.without(e.rows("MEMCPY", f"bytes IN ({','.join(map(str, sizes))})"), e.kernels)


def uneven_steps(e):
    begun = sorted(e.launched_in(f"train_step {step}$", "KERNEL", "MEMCPY")[0][0] for step in range(8)) + [e.busy[-1][1]]
    usual = sorted(b - a for a, b in zip(begun, begun[1:]))[3]
    return [(start + usual, end) for start, end in zip(begun, begun[1:]) if end - start > usual]


def at_waits(e):
    """From a wait to the next call."""
    calls = sorted(e.named_calls())
    return e.both(e.gaps, [(one[0], other[0]) for one, other in zip(calls, calls[1:]) if "Synchronize" in one[2]])


def migrations(*kinds):
    """A kernel of 150 ms that waits for pages for 140."""
    insert = [MIGRATION.format(at=i * MS, length=MS, bytes=1 << 20).replace(TO_GPU, kinds[i % len(kinds)]) for i in range(140)]
    return edited("healthy", KERNEL.format(end=151 * MS), *insert)


def one_thread():
    return edited("healthy", KERNEL.format(end=151 * MS))


def slow_start():
    """Two libraries create what they need in a call each, before anything else."""
    call = ("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue) "
            "SELECT start - {0}, start - {1}, eventClass, globalTid, 900000 + {1}, 900000, 0 FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start LIMIT 1")
    return edited("healthy", "INSERT INTO StringIds (id, value) VALUES (900000, 'cudaFree_v3020')", call.format(120 * MS, 50 * MS), call.format(35 * MS, 5 * MS))


def half_warps():
    return edited("healthy", KERNEL.format(end=151 * MS).replace("32, 1, 1, 1, 1, 1, 1,", "32, 132000, 1, 1, 16, 1, 1,"))


def staged_messages():
    """In each MPI_Waitall both messages are copied to the GPU, while it does nothing else."""
    waits = "FROM (SELECT DISTINCT start, globalTid FROM MPI_START_WAIT_EVENTS) w"
    kernel = "FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1"
    columns = "start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind"
    return edited("mpi", f"CREATE TABLE {EVENTS}MEMCPY ({columns})", "INSERT INTO StringIds (id, value) VALUES (900000, 'cudaMemcpyAsync_v3020')",
                  f"INSERT INTO {EVENTS}MEMCPY ({columns}) SELECT w.start + 210000, w.start + 290000, 0, (SELECT contextId {kernel}), (SELECT streamId {kernel}), 900000 + row_number() OVER (ORDER BY w.start), "
                  f"(SELECT globalPid {kernel}), 131072, 1, 1, 2 {waits}",
                  f"INSERT INTO {EVENTS}RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue) "
                  f"SELECT w.start + 200000, w.start + 205000, 0, w.globalTid, 900000 + row_number() OVER (ORDER BY w.start), 900000, 0 {waits}")


def uneven_transfers():
    """Every other all-reduce takes a third of the time that the others take."""
    return edited(trace("collectives", "--scale", 2), f"UPDATE {EVENTS}KERNEL SET end = end - 200000 WHERE end / 3000000 % 2 AND shortName IN (SELECT id FROM StringIds WHERE value LIKE '%AllReduce%')")


def beyond_the_fastest(e):
    both = Export(e.path, 1).named("AllReduce")
    fastest = min(end - start for start, end in both)
    return [(start + fastest, end) for start, end in both if end - start > fastest]


def reads_a_file():
    """A file instead of somebody who types, whom no finding prices."""
    return edited("pause", "UPDATE StringIds SET value = 'fread' WHERE value = 'fgets'")


def sampled_in(function):
    """What the thread executes between launches is called otherwise."""
    return lambda: edited("cpu-work", f"UPDATE StringIds SET value = '{function}' WHERE value LIKE 'decode(%' OR value LIKE 'augment(%'")


TO_GPU, EVICTED = "11, 4, 4, 2", "12, 4, 4, 4"  # copyKind, srcKind, dstKind, migrationCause
LINK_BYTES_PER_NS = 50
H100_BYTES_PER_NS = 3352.32
NOISE = 0.02  # single calls of microseconds that no finding counts

# Finding, scenario, its loss, and how often the gain may fit into what is said.
PAIRS = [
    ("small-reads", "files", in_calls_on("shard"), 1.05),
    ("slow-opens", "files", in_calls_on("part"), 1.05),
    ("acc-implicit-waits", "openacc-waits", in_implicit_waits, 1.05),
    ("acc-alloc-each-iteration", "openacc-data", in_allocations_of_directives, 1.05),
    ("acc-data-each-iteration", "openacc-data", exposed_of_size(4 << 20), 1.05),
    ("allocation-call-site", "call-sites", idle_in("Malloc|Free"), 1.05),
    ("allocation-in-steady-state", "alloc-churn", idle_in("Malloc|Free"), 1.05),
    ("autotuning-in-window", "autotune", kernels_named("xmma_gemm.*_tilesize(?!96x)"), 1.05),
    ("casts", "pytorch-like", kernels_named("Copy"), 1.05),
    ("copies-on-compute-stream", "copy-lag", exposed_copies, 1.05),
    ("cpu-starved", "cpu-work", preempted, 1.05),
    ("exposed-communication", "collectives", exposed_collectives, 1.05),
    ("exposed-communication", "eight-gpus", exposed_collectives, 1.05),
    ("exposed-communication", "grouped-sends", exposed_collectives, 1.05),
    ("exposed-copy", "copy-bound", exposed_copies, 1.05),
    ("exposed-copy", "first-touch", exposed_copies, 1.05),
    ("exposed-copy", "tiny-copies", exposed_copies, 1.05),
    ("few-long-calls", "long-calls", beyond_the_median("search_tree"), 1.1),
    ("fp32-gemm", "shapes", shortened(15 / 16, "shortName IN (SELECT id FROM StringIds WHERE value LIKE '%sgemm%')"), 1.05),
    ("gemm-below-roofline", "gemm-sizes", beyond_memory, 1.05),
    ("gpu-imbalance", "collectives", before_the_last_rank, 1.05),
    ("gpu-time-sliced", "time-sliced", others_have_the_gpu, 1.05),
    ("graph-gaps", "graph-capture", inside_graphs, 1.05),
    ("graph-reinstantiated", "graph-churn", instantiated_again, 1.05),
    ("graph-too-small", "graph-small", idle_in("GraphLaunch"), 1.05),
    ("host-function-stalls", "host-functions", in_host_functions, 1.05),
    ("idle-cuda-call", "graph-churn", first_instantiations, 1.05),
    ("idle-dependency", "dependency", behind_an_event, 1.05),
    ("idle-queue-drained", "collectives-graph", own_code, 1.05),
    ("idle-queue-drained", "loop-waits", own_code, 1.1),
    ("idle-wait-per-launch", "row-loop", all_gaps, 1.05),
    ("data-loader-stall", "steps-input", own_code, 1.05),
    ("idle-host-code", "cpu-work", own_code, 1.05),
    ("idle-launch-call", "launch-storm", idle_in("Launch"), 1.1),
    ("idle-module-load", "cold", loading, 1.1),
    ("idle-profiler", "profiler-flush", flushes, 1.05),
    ("launch-bound", "inference", behind_the_launch, 1.05),
    ("mpi-exposed", "mpi", in_mpi, 1.05),
    ("mpi-staged", staged_messages, exposed_copies, 1.06),
    ("old-attention-kernel", "bimodal", half_of("flash_fwd"), 1.05),
    ("overlap-costs-compute", "collectives", slower_beside_collectives, 1.05),
    ("overlappable-copies", "copy-lag", exposed_copies, 1.05),
    ("pageable-copies", "copy-bound", beyond_the_link("srcKind = 0 OR dstKind = 0"), 1.05),
    ("python-gc", sampled_in("gc_collect_main"), own_code_on_the_cpu, 1.05),
    ("python-gil", sampled_in("take_gil"), own_code_on_the_cpu, 1.05),
    ("register-spill", "shapes", lambda e: e.rows("KERNEL", "localMemoryPerThread > 0"), 1.05),
    ("repeated-copies", "copy-bound", exposed_copies, 1.05),
    ("serving-host-between-steps", "serving-eager", between_steps, 1.05),
    ("slow-copies", "copy-lag", beyond_the_link("srcKind = 1 OR dstKind = 1"), 1.05),
    ("small-blocks", half_warps, shortened(1 / 2, "blockX < 32"), 1.05),
    ("tail-effect", "neglected", partial_waves, 1.05),
    ("tiny-copies", "row-loop", tiny_copies, 1.05),
    ("underfilled", one_thread, shortened(1 - 1 / (132 * 32), "gridX * blockX = 1"), 1.05),
    ("uneven-busbw", uneven_transfers, beyond_the_fastest, 1.05),
    ("unfused-elementwise", "cupy-like", all_but_the_longest, 1.05),
    ("uvm-bound", lambda: migrations(TO_GPU, EVICTED), page_faults("copyKind > 10"), 1.05),
    ("uvm-oversubscribed", lambda: migrations(TO_GPU, EVICTED), page_faults("copyKind = 12"), 1.05),
    ("uvm-thrash", lambda: migrations(TO_GPU), page_faults("copyKind > 10"), 1.05),
    ("nccl-init-in-window", "train-communicators", lambda e: e.both(e.gaps, [span for _, *span in e.ranges("ncclCommInit")]), 1.05),
    ("optimizer-small-kernels", "train-optimizer", of_the_optimizer, 1.05),
    ("recomputation", "train-recompute", recomputed, 1.05),
    ("round-trips", "train-round-trips", exposed_of_size(12 << 20), 1.05),
    ("small-collectives", "train-small-collectives", lambda e: e.named("AllReduce_Sum_f32"), 1.05),
    ("streamed-weights", "train-offload", exposed_of_size(8 << 20, 16 << 20), 1.05),
    ("wait-call-site", "call-sites", at_waits, 1.05),
    ("waiting-not-transferring", "collectives", before_the_last_rank, 1.05),
]
# The same where the time lies outside of the active spans: what is cut out is won.
OUTSIDE = [
    ("cuda-initialization", slow_start, lambda e: e.calls("cudaFree"), 1.05),
    ("host-after-work", "shapes", behind_gpu_work, 1.05),
    ("host-before-work", "serving-eager", before_gpu_work, 1.05),
    ("host-set-up-dominates", "cpu-work", before_calls, 1.05),
    ("pause-dominates", reads_a_file, longest_gap, 1.1),
    ("pause-module-load", "launch-load", longest_gap, 1.05),
    ("slow-step", "steps", reading, 1.05),
    ("step-time-variance", "train-uneven", uneven_steps, 1.05),
    ("steps-drift", "steps-drift", beyond_the_median_step, 1.05),
    ("warm-up-in-window", "steps-drift", warm_up, 1.05),
]
# Findings that stay in the cut export: names or shapes of kernels tell them whatever their time, or their limit moves with the run.
STAYS = {"old-attention-kernel", "small-blocks", "tail-effect", "idle-cuda-call"}
# Rules without a pair, and why.
UNTESTED = {
    "idle-blocking-call": "what idle-wait-per-launch and idle-queue-drained leave of a cause; idle causes add up to the idle time (test_sums)",
    "idle-unknown": "no record tells what to cut out; idle causes add up to the idle time (test_sums)",
    "low-busbw": "a part of exposed-communication: that of large messages (unit default_rules)",
    "mpi-imbalance": "the mean of what processes do outside of MPI: no cut gives one rank's work to others (test_truth)",
    "mpi-barriers": "a part of mpi-exposed: that of one function (test_truth)",
    "offload-in-pieces": "all of the active time but compute, with which it adds up (test_sums; unit default_rules)",
    "ptx-compiled": "of samples, in a launch that waits for it: no cut tells the compiler's time from the launch's (unit default_rules)",
    "serial-comm-stream": "a part of exposed-communication: waiting for another communicator (unit communication)",
    "serving-decode-without-graphs": "it compares with steps of other programs that launch a graph (test_serving)",
    "serving-prefill-delays-decode": "a delay of requests: cutting it out would move the prompts, not the GPU's time (test_serving)",
}


def priced():
    return {rule["id"] for rule in yaml.safe_load((SOURCE / "rules/default.yaml").read_text(encoding="utf-8"))["rules"] if "saving" in rule}


def findings(path):
    """The first of each rule, which is that with the largest saving."""
    out = {}
    for finding in support.report(support.artifacts(path)).json["findings"]:
        out.setdefault(finding["id"], finding)
    return out


def active_ns(path, device):
    return sum(support.ns_of_ms(row["active_ms"]) for row in support.read_csv(support.artifacts(path), "gpu_active")
               if device is None or int(row["device_id"]) == device)


class Prices(unittest.TestCase):
    def check(self, rule, scenario, loss, most, outside):
        path = trace(scenario) if isinstance(scenario, str) else scenario()
        finding = findings(path)[rule]
        device = 1 if rule == "gpu-imbalance" else finding["device_id"]  # the run's: that with the most work
        better, removed = cut(path, f"{path.stem}-{rule}", loss(Export(path, device)))
        said = finding["saving_ns"]
        won = removed if outside else active_ns(path, device) - active_ns(better, device)
        self.assertGreater(won, 0)
        self.assertTrue(won <= said * (1 + NOISE) and said <= most * won, (said, won))
        rest = findings(better).get(rule)
        if rule not in STAYS:
            self.assertLess(rest["saving_ns"] if rest and rest["saving_ns"] else 0, 0.3 * said)

    def test_what_is_said_can_be_won_and_no_more(self):
        for pairs, outside in ((PAIRS, False), (OUTSIDE, True)):
            for rule, scenario, loss, most in pairs:
                with self.subTest(rule, scenario=scenario):
                    self.check(rule, scenario, loss, most, outside)

    def test_each_rule_with_a_saving_has_a_pair_or_a_reason(self):
        paired = {rule for rule, *_ in PAIRS + OUTSIDE}
        self.assertEqual(paired & set(UNTESTED), set())
        self.assertEqual(paired | set(UNTESTED), priced())


if __name__ == "__main__":
    support.main()
