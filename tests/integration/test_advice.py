#!/usr/bin/env python3
"""Advice fits the program: no line is printed that cannot be followed in the traced program, by what the export itself holds."""
import re
import sqlite3
import unittest

import support
from support import SCENARIOS, SHARED, artifacts, read_csv, report, trace


NAMED = (*SCENARIOS, "drained-queue", "launch-storm", "loop-waits", "pytorch-like", "cupy-like", "openacc-like", "openmp-like", "tensorrt-like", "cpp", "failed",
         "two-processes", "copy-lag", "first-touch", "steps-input", "graph-small", "api-only")


def column(path, statement, otherwise=()):
    """The first column of a statement; `otherwise` where the export lacks the table or column."""
    db = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        return [row[0] for row in db.execute(statement)]
    except sqlite3.Error:
        return list(otherwise)
    finally:
        db.close()


class Program:
    """What a trace tells of its program, read from the export; languages and frameworks by the names they leave."""

    def __init__(self, path, directory):
        self.path, self.directory = path, directory
        self.names = "\n".join(map(str, column(path, "select value from StringIds"))).lower()
        self.workload = {row["value"] for row in read_csv(directory, "workload_evidence") if float(row["confidence"]) >= 50}
        copies = "select count(*) from CUPTI_ACTIVITY_KIND_MEMCPY where srcKind = 0 or dstKind = 0"
        self.pageable = bool((column(path, copies, [0]) or [0])[0])
        uploads = "select count(*) from CUPTI_ACTIVITY_KIND_MEMCPY where srcKind = 0 and copyKind = 1"
        self.pageable_upload = bool((column(path, uploads, [0]) or [0])[0])
        self.repeats = any(float(row["saving_high_ms"]) > 0 for row in read_csv(directory, "graph_savings"))
        self.windows = bool(re.search(r"\bwindows\b", " ".join(map(str, column(path, "select value from TARGET_INFO_SYSTEM_ENV where name in ('OsName', 'OsVersion', 'PlatformName')"))).lower()))
        driver = column(path, "select max(cast(value as integer)) from TARGET_INFO_SYSTEM_ENV where name = 'CudaDriverVersion'", [0])
        self.driver = driver[0] or 0
        self.can_load_lazily = "cumodulegetloadingmode" in self.names
        self.loads_at_once = self.can_load_lazily and self.driver < 12020
        self.copies = (column(path, "select max(n) from (select count(*) as n from CUPTI_ACTIVITY_KIND_MEMCPY group by copyKind)", [0]) or [0])[0] or 0
        self.waits = any(name in self.names for name in ("synchronize", "memcpy", "waitforevent"))

    def is_(self, *values):
        return bool(self.workload & set(values))


# (what a line of advice says, whether it can be followed in a program)
RULES = [
    (r"\*\*Pin\*\*|pin_memory|cudaMallocHost|cheaper from pinned", lambda p: p.pageable),
    (r"DataLoader\(pin_memory", lambda p: p.pageable_upload and p.is_("dataloader")),
    (r"num_workers|`DataLoader`", lambda p: p.is_("dataloader") or p.is_("pytorch")),
    (r"PyTorch:|`torch\.|torch\.compile|`aten::", lambda p: p.is_("pytorch") and ("at::native" in p.names or "aten::" in p.names or "torch" in p.names)),
    (r"In C\+\+:|cublasSetMathMode", lambda p: not p.is_("python", "julia", "java", "pytorch", "jax", "cupy") or p.is_("c++")),
    (r"CUDA graphs? \(|reduce-overhead|CUDA graph replays", lambda p: p.repeats),
    (r"^- DDP:", lambda p: p.is_("ddp")),
    (r"^- FSDP:", lambda p: "fsdp::" in p.names or p.is_("fsdp")),
    (r"^- JAX", lambda p: p.is_("jax")),
    (r"^- CuPy", lambda p: "cupy" in p.names),
    (r"^- vLLM", lambda p: p.is_("vllm")),
    (r"^- SGLang", lambda p: p.is_("sglang")),
    (r"^- TensorRT", lambda p: p.is_("tensorrt")),
    (r"^- OpenACC", lambda p: p.is_("openacc")),
    (r"^- OpenMP", lambda p: p.is_("openmp")),
    (r"^- MPI", lambda p: p.is_("mpi")),
    (r"nvidia-cuda-mps-control", lambda p: not p.windows),
    (r"CUDA_MODULE_LOADING=EAGER", lambda p: p.can_load_lazily),
    (r"\*\*Load less\*\*: `CUDA_MODULE_LOADING=LAZY", lambda p: p.loads_at_once),
    (r"CUDA 11\.7 or 11\.8", lambda p: not p.can_load_lazily and 11070 <= p.driver < 12020),
    (r"CUDA to 12\.2", lambda p: not p.can_load_lazily and p.driver < 11070),
    (r"\*\*Overlap\*\* the copies", lambda p: p.copies >= 5),
    (r"on their own stream, and order them", lambda p: p.copies >= 5),
    (r"replace a blocking `cudaMemcpy`", lambda p: "memcpy" in p.names),
]


def advice(directory):
    for finding in report(directory).json["findings"]:
        for line in finding["recommendation"].splitlines():
            if line:
                yield finding["id"], line


class Advice(unittest.TestCase):
    def check(self, path):
        directory = artifacts(path)
        program, lines = Program(path, directory), 0
        for rule, line in advice(directory):
            lines += 1
            for says, fits in RULES:
                if re.search(says, line):
                    self.assertTrue(fits(program), f"{path.name}: {rule}: {line}")
        return lines

    def test_small_grids_of_openacc(self):
        """Recorded OpenACC events tell the framework, whatever kernels are called; a gang is a block."""
        small = "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 1, gridY = 1, gridZ = 1, blockX = 128, blockY = 1, blockZ = 1"
        for edit, told in ((), True), (("DROP TABLE CUPTI_ACTIVITY_KIND_OPENACC_OTHER",), False):
            text = (artifacts(support.edited("openacc-waits", small, *edit)) / "report.md").read_text(encoding="utf-8")
            self.assertIn("Grid too small: fewer blocks than SMs", text)
            self.assertEqual("OpenACC: a gang is a block" in text, told)

    def test_generated(self):
        self.assertGreater(sum(self.check(trace(scenario)) for scenario in dict.fromkeys(NAMED)), 120)

    @unittest.skipUnless((SHARED / "traces").exists(), "no shared traces")
    def test_exports_of_other_programs(self):
        for path in sorted((SHARED / "traces").glob("**/*.sqlite")):
            with self.subTest(trace=path.name):
                self.check(path)

    def test_pinned_copies_are_not_to_be_pinned(self):
        """copy-bound with PyTorch's names: pageable copies get advice on pinning, and the same from pinned memory none."""
        names = "UPDATE StringIds SET value = 'void at::native::vectorized_elementwise_kernel<' || id || '>(int)' WHERE value LIKE '%kernel%' OR value = 'saxpy'"
        for pinned in (False, True):
            statements = [names] + (["UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET srcKind = 1 WHERE srcKind = 0",
                                     "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET dstKind = 1 WHERE dstKind = 0"] if pinned else [])
            directory = artifacts(support.edited("copy-bound", *statements))
            text = "\n".join(line for rule, line in advice(directory) if rule == "exposed-copy")
            self.assertIn("**Remove**", text)
            self.assertEqual(bool(re.search(r"\*\*Pin\*\*|pin_memory|cudaMallocHost", text)), not pinned)

    def test_graphs_only_where_launches_repeat(self):
        seen = {True: 0, False: 0}
        for scenario in ("drained-queue", "loop-waits", "inference", "host-bound"):
            directory = artifacts(trace(scenario))
            repeats = any(float(row["saving_high_ms"]) > 0 for row in read_csv(directory, "graph_savings"))
            graphs = any(re.search(r"CUDA graphs? \(|reduce-overhead|CUDA graph replays", line) for _, line in advice(directory))
            self.assertLessEqual(graphs, repeats, scenario)
            seen[graphs] += 1
        self.assertTrue(all(seen.values()), seen)


# Scenario, finding of it, and what its words must not claim, since the capture cannot tell. None: no finding may.
UNSAID = (
    ("host-functions", "host-function-stalls", r"function(s)? (is|are) slow|slow function"),
    ("partitions", None, r"isolat|bandwidth of the partition|idle SMs are lost"),
    ("time-sliced", "gpu-time-sliced", r"\bMPS (took|takes|shares)|user \d|process 0\b"),
    ("call-sites", "wait-call-site", r"\bline is slow"),
    ("call-sites", None, r"replay[^.\n]* (owns|runs) .*kernel"),
    ("sampled", "kernel-bound-by-memory", r"at (its|the) (limit|peak)|cannot be faster"),
    ("sampled", "gemm-tensor-low", r"potential saving|would save \d"),
    ("sampled-coarse", "metrics-too-coarse", r"kernels? (is|are|was|were) idle|did nothing"),
    ("files", "small-reads", r"disk is slow|slow disk|page cache|network file ?system|NFS|Lustre"),
    ("files", "cold-files", r"page cache|is cached|disk is slow|slow disk|network file ?system|NFS|Lustre"),
    ("files", "slow-opens", r"disk is slow|slow disk|page cache|network file ?system|NFS|Lustre"),
    ("mpi", None, r"slow network|network is slow|late rank|rank \d+ is late|host buffer"),
    ("mpi-ranks", "mpi-barriers", r"slow network|network is slow|useless"),
    ("mpi-ranks", "mpi-small-messages", r"slow network|network is slow|latency of the network"),
    ("openacc-data", "acc-data-each-iteration", r"implicit cop|the compiler (adds|added|copies)"),
    ("openacc-data", "acc-alloc-each-iteration", r"cudaMalloc|leak"),
    ("openmp-like", None, r"variable `|\.(c|f90|cpp):\d"),
    ("collectives", None, r"tensor parallel|pipeline parallel|data parallel"),
    ("mpi-late", None, r"slow network|network is slow|host buffer|overlap(s|ped) with compute"),
    ("grouped-sends", None, r"no communication|broken link|\b(ring|tree) algorithm|LL128"),
    ("collectives-advanced", None, r"no communication|broken link|\b(ring|tree) algorithm|LL128"),
    ("serving", None, r"time to first token|TTFT|requests per second|requests/s|accepted tokens|client"),
    ("serving", None, r"\bmemory[- ]bound\b|bound by memory"),
    ("openacc-waits", "acc-implicit-waits", r"implicit cop|the compiler (adds|added)"),
    ("serving-guessing", None, r"accepted tokens per second|tokens accepted"),
)


class Unsaid(unittest.TestCase):
    def test_findings_claim_no_more_than_a_capture_tells(self):
        for scenario, finding, words in UNSAID:
            found = [f for f in report(artifacts(trace(scenario))).json["findings"] if finding in (None, f["id"])]
            self.assertTrue(found, (scenario, finding))
            for told in found:
                said = "\n".join([told["title"], told["why"], told["recommendation"] or "", *(e["text"] for e in told["evidence"])])
                self.assertNotRegex(said, f"(?i){words}", (scenario, told["id"]))


if __name__ == "__main__":
    support.main()
