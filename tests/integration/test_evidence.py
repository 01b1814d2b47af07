"""Every table that ingest can make, against the generator's truth and against plain SQL on exports of other programs."""
import json
import sqlite3
import subprocess
import unittest

import support
from support import SHARED, trace, truth

TABLES = support.BUILD / "tests" / "nai-tables"
# Sources that are copied column by column: table of ours, its column, column of the export, tables of the export.
COPIED = [
    ("cuda_event_events", "time_ns event_id event_sync_id correlation_id", "timestamp eventId eventSyncId correlationId",
     "CUPTI_ACTIVITY_KIND_CUDA_EVENT"),
    ("graph_creation_events", "start_ns end_ns graph_id graph_exec_id", "start end graphId graphExecId", "CUDA_GRAPH_EVENTS"),
    ("memory_usage_events", "time_ns address bytes pc operation memory_kind", "start address bytes pc memoryOperationType memKind",
     "CUDA_GPU_MEMORY_USAGE_EVENTS"),
    ("memory_pool_events", "time_ns operation pool_bytes pool_used_bytes pool_address",
     "start operationType localMemoryPoolSize localMemoryPoolUtilizedSize address", "CUDA_GPU_MEMORY_POOL_EVENTS"),
    ("um_fault_events", "start_ns address faults access_type", "start address numberOfPageFaults faultAccessType",
     "CUDA_UM_CPU_PAGE_FAULT_EVENTS CUDA_UM_GPU_PAGE_FAULT_EVENTS"),
    ("gpu_metric_samples", "time_ns value", "timestamp value", "GPU_METRICS"),
    ("nic_metric_samples", "start_ns end_ns value", "start end value", "NET_NIC_METRIC"),
    ("sched_events", "time_ns cpu is_in thread_state global_tid", "start cpu isSchedIn threadState globalTid", "SCHED_EVENTS"),
    ("sample_events", "time_ns cpu thread_state cpu_cycles callchain_id global_tid",
     "start cpu threadState cpuCycles id globalTid", "COMPOSITE_EVENTS"),
    ("callchain_frames", "callchain_id depth kernel_mode unresolved", "id stackDepth kernelMode unresolved",
     "SAMPLING_CALLCHAINS CUDA_CALLCHAINS OSRT_CALLCHAINS"),
    ("jit_events", "start_ns end_ns entry_type operation_type cache_bytes", "start end jitEntryType jitOperationType cacheSize",
     "CUPTI_ACTIVITY_KIND_JIT"),
    ("library_events", "start_ns end_ns event_class", "start end eventClass", "CUBLAS_EVENTS CUDNN_EVENTS"),
    ("mpi_events", "start_ns end_ns bytes", "start end size",
     "MPI_P2P_EVENTS MPI_COLLECTIVES_EVENTS MPI_START_WAIT_EVENTS MPI_OTHER_EVENTS"),
    ("ucx_events", "start_ns bytes peer_worker", "start packedSize peerWorkerUid", "UCP_SUBMIT_EVENTS"),
    ("diagnostic_events", "severity source clock", "severity source timestampType", "DIAGNOSTIC_EVENT"),
    ("mpi_ranks", "global_tid rank", "globalTid rank", "MPI_RANKS"),
]
# The same with a condition, where rows are left out or more than numbers is done to them.
SQL = [
    ("osrt_events", "nesting_level", "OSRT_API", "nestingLevel", "eventClass = 27"),
    ("osrt_events", "callchain_id", "OSRT_API", "callchainId", "eventClass = 27"),
    ("api_events", "return_value", "CUPTI_ACTIVITY_KIND_RUNTIME", "returnValue", "1"),
    ("api_events", "event_class", "CUPTI_ACTIVITY_KIND_RUNTIME", "eventClass", "1"),
    ("api_events", "callchain_id", "CUPTI_ACTIVITY_KIND_RUNTIME", "callchainId", "1"),
    ("sync_events", "event_id", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "nullif(eventId, 4294967295)", "1"),
    ("sync_events", "event_sync_id", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "eventSyncId", "1"),
    ("memop_events", "virtual_address", "CUPTI_ACTIVITY_KIND_MEMCPY", "nullif(virtualAddress, iif(copyKind between 11 and 13, -1, 0))", "1"),
    ("memop_events", "migration_cause", "CUPTI_ACTIVITY_KIND_MEMCPY", "nullif(migrationCause, 0)", "1"),
    ("memop_events", "copy_count", "CUPTI_ACTIVITY_KIND_MEMCPY", "copyCount", "1"),
    ("kernel_events", "graph_node_id", "CUPTI_ACTIVITY_KIND_KERNEL", "nullif(graphNodeId, 0)", "1"),
    ("nvtx_events", "color", "NVTX_EVENTS", "color", "eventType IN (34, 59, 60, 70, 71)"),
    ("nvtx_events", "category", "NVTX_EVENTS", "category", "eventType IN (34, 59, 60, 70, 71)"),
]


class Tables:
    """What nai-tables prints: rows per table, and (count, sum, ...) per column."""

    def __init__(self, path, reader="auto", threads=2, *tables):
        done = subprocess.run([TABLES, str(path), reader, str(threads), *tables], capture_output=True, text=True, check=False,
                              timeout=300)
        self.text = done.stdout
        self.error = done.stdout if done.returncode else None
        self.rows, self.columns = {}, {}
        for line in [] if self.error else done.stdout.splitlines():
            table, rows, column, *values = line.split("\t")
            self.rows[table] = int(rows)
            self.columns[table, column] = values


def wrap(value):
    return (value + 2**63) % 2**64 - 2**63


def sum_and_count(db, table, expression, where="1"):
    """Exact, however large the numbers; (0, 0) when the export has no such table or column."""
    try:
        cells = [value for (value,) in db.execute(f'SELECT {expression} FROM "{table}" WHERE {where}')
                 if isinstance(value, int)]
    except sqlite3.OperationalError:
        return 0, 0
    return len(cells), wrap(sum(cells))


def quoted(column):
    return 'nullif("timestamp", 0)' if column == "timestamp" else f'"{column}"'  # 0: not measured


class Generated(unittest.TestCase):
    maxDiff = 4000

    def test_truth(self):
        path = trace("evidence")
        made, want = Tables(path), truth(path)["evidence"]
        self.assertIsNone(made.error)
        for table, ours, theirs, sources in COPIED:
            if table == "diagnostic_events":
                continue
            self.assertEqual(made.rows[table], sum(want[s]["rows"] for s in sources.split()), table)
            for column, name in zip(ours.split(), theirs.split()):
                cells = [want[s]["columns"].get(name, {"count": 0, "sum": 0}) for s in sources.split()]
                with self.subTest(table=table, column=column):
                    self.assertEqual([int(v) for v in made.columns[table, column][:2]],
                                     [sum(c["count"] for c in cells), wrap(sum(c["sum"] for c in cells))])
                    if column != "kernel_mode":  # of sampled kernels of the operating system: in real exports only
                        self.assertGreater(sum(c["count"] for c in cells), 0, "nothing is compared")

    def test_other_columns(self):
        """Columns of which no scenario has a value would be compared with nothing."""
        seen = set()
        for scenario in ("evidence", "graphs-node", "nvtx-mix", "training", "call-sites"):
            path = trace(scenario)
            made = Tables(path)
            with sqlite3.connect(path) as db:
                for table, column, source, expression, where in SQL:
                    want = sum_and_count(db, source, expression, where)
                    self.assertEqual(tuple(map(int, made.columns[table, column][:2])), want, (scenario, table, column))
                    seen |= {(table, column)} if want[0] else set()
        self.assertEqual({check[:2] for check in SQL} - seen, set())

    def test_details(self):
        made = Tables(trace("evidence"))
        self.assertEqual(made.rows["memop_events"], 200)
        self.assertEqual(made.columns["memop_events", "migration"][:2], ["200", "200"])
        self.assertEqual(made.columns["memop_events", "stream_id"], ["0", "0"])
        self.assertEqual(made.columns["memop_events", "correlation_id"], ["0", "0"])
        self.assertEqual(made.rows["gpu_metric_names"], 2)
        self.assertEqual(made.rows["nvtx_payload_schemas"], 1)  # eight times in the export
        self.assertEqual(made.rows["nvtx_payload_entries"], 1)
        self.assertEqual(made.columns["nvtx_payloads", "blob"][:2], ["100", "100"])
        self.assertEqual(made.columns["nvtx_payloads", "integer"][:2], ["50", str(sum(range(2, 200, 4)))])
        self.assertEqual(made.rows["program_outputs"], 2)
        self.assertEqual(made.rows["threads"], 1)  # two threads that only the scheduler knows do not count
        self.assertEqual(made.columns["nvtx_domains", "name"][:2], ["1", "1"])

    def test_no_text_of_output(self):
        """Neither captured output nor the cache's path is in any table that is written."""
        path = trace("evidence")
        directory = support.fresh_dir("evidence")
        done = support.run("analyze", path, "--out", "run", cwd=directory)
        self.assertEqual(done.returncode, 0, done.stderr)
        for file in (directory / "run").rglob("*"):
            if file.is_file():
                self.assertNotIn(b"CANARY_SECRET", support.contents(file), file)

    def test_only_what_is_asked_for(self):
        made = Tables(trace("evidence"), "auto", 2, "sched_events")
        self.assertIsNone(made.error)
        self.assertIn("sched_events", made.rows)
        self.assertEqual(made.rows["readers"], 1)
        for table in ("kernel_events", "nvtx_events", "osrt_events", "callchain_frames", "kernel_configs", "gpu_metric_names"):
            self.assertNotIn(table, made.rows)
        made = Tables(trace("evidence"), "auto", 2, "gpu_metric_samples", "nvtx_payloads")
        self.assertTrue({"gpu_metric_names", "nvtx_domains", "nvtx_payload_entries"} <= set(made.rows))
        self.assertEqual(made.rows["readers"], 2)

    def test_readers_and_threads_agree(self):
        for scenario in ("evidence", "training", "nvtx-mix", "hostile", "hostile-values", "graphs-node"):
            with self.subTest(scenario=scenario):
                path = trace(scenario)
                one = Tables(path, "direct", 1).text.replace("\tdirect\t", "\tsqlite\t")
                other = Tables(path, "sqlite", 4).text
                strip = lambda text: [line for line in text.splitlines() if not line.startswith("readers\t")]
                self.assertEqual(strip(one), strip(other))


@unittest.skipUnless((SHARED / "traces").is_dir(), "no reference traces")
class Real(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.paths = support.exports()

    def each(self, body):
        for path in self.paths:
            with self.subTest(trace=path.name):
                db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
                made = Tables(path)
                self.assertIsNone(made.error)
                body(db, made, path)
                db.close()

    def test_copied_columns(self):
        def body(db, made, _):
            for table, ours, theirs, sources in COPIED:
                for column, name in zip(ours.split(), theirs.split()):
                    cells = [sum_and_count(db, source, quoted(name)) for source in sources.split()]
                    want = [sum(c for c, _ in cells), wrap(sum(s for _, s in cells))]
                    self.assertEqual([int(v) for v in made.columns[table, column][:2]], want, (table, column))
        self.each(body)

    def test_other_columns(self):
        def body(db, made, _):
            for table, column, source, expression, where in SQL:
                self.assertEqual([int(v) for v in made.columns[table, column][:2]],
                                 list(sum_and_count(db, source, expression, where)), (table, column))
        self.each(body)

    def test_small_tables(self):
        def count(db, sql):
            try:
                return db.execute(sql).fetchone()[0]
            except sqlite3.OperationalError:
                return 0

        def body(db, made, _):
            outputs = count(db, "SELECT count(*) FROM ProcessStreams") or count(db, "SELECT count(*) FROM ANALYSIS_FILE")
            self.assertEqual(made.rows["program_outputs"], outputs)
            self.assertEqual(made.rows["nvtx_payload_schemas"],
                             count(db, "SELECT count(*) FROM (SELECT DISTINCT * FROM NVTX_PAYLOAD_SCHEMAS)"))
            self.assertEqual(int(made.columns["nvtx_domains", "name"][0]),
                             count(db, "SELECT count(*) FROM (SELECT DISTINCT domainId, globalTid >> 24 FROM NVTX_EVENTS"
                                       " WHERE eventType = 75)"))
            self.assertEqual(int(made.columns["memop_events", "migration"][1]),
                             count(db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind BETWEEN 11 AND 13"))
            used = count(db, "SELECT count(*) FROM (SELECT DISTINCT demangledName, globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL)")
            self.assertEqual(made.rows["kernel_configs"] > 0, used > 0)
        self.each(body)

    def test_readers_agree(self):
        strip = lambda text: [line for line in text.splitlines() if not line.startswith("readers\t")]
        for path in self.paths:
            with self.subTest(trace=path.name):
                self.assertEqual(strip(Tables(path, "direct", 3).text), strip(Tables(path, "sqlite", 1).text))

    def test_gpus(self):
        """GPUs of different kinds by their CUDA ordinal, two processes on the only GPU as one."""
        real = SHARED / "traces" / "real"
        for name, device, by, kind in (("cutlass_two_gpu_kinds", 0, "ordinal", "NVIDIA A100-PCIE-40GB"),
                                       ("two_processes_one_gpu", 0, "only GPU", "NVIDIA A100-PCIE-40GB"),
                                       ("unified_memory", 0, "map", "Tesla T4")):
            if not (real / f"{name}.sqlite").exists():
                continue
            gpus = support.report(support.artifacts(real / f"{name}.sqlite")).rows("gpus")
            self.assertEqual([(g["device_id"], g["identified_by"], g["gpu_name"]) for g in gpus], [(device, by, kind)])


if __name__ == "__main__":
    support.main()
