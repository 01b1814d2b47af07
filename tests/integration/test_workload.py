"""Who is it? Table workload of programs of every kind: each case is a generated trace whose names are those of the systems that
their authors publish, among names of other processes of the same machine."""
import contextlib
import sqlite3
import unittest

import support
from support import fresh_dir, read_csv, run

SECRET = "CANARY_TOKEN_77"  # of arguments, of the environment: in no output
CASES = {}  # name: (what the export has, what the run's row says)


def case(name, says, **has):
    assert name not in CASES
    CASES[name] = (has, says)


def kernels_say(framework, *names, language="C++", **says):
    case(f"kernels {names[0]}", {"framework": framework, "language": language, **says}, kernels=names)


def command_says(words, **says):
    case(words, says, command=words.split())


# Frameworks and libraries by their kernels.
kernels_say("PyTorch", "void at::native::vectorized_elementwise_kernel<4, T1>(int)", "void c10::cuda::f()")
kernels_say("PyTorch", "triton_poi_fused_add_mul_3", "triton_red_fused_sum_1")
kernels_say("OpenMP", "__omp_offloading_2d_8f3a1_main_l19", language="C++")
kernels_say("OpenMP", "__omp_offloading_2d_8f3a1__ZN4flow4stepEv_l88")
kernels_say("OpenMP", "nvkernel_step_F1L210_2")
kernels_say("CuPy", "cupy_add__float32_float32_float32", "cupy_copy__float64_float64")
kernels_say("Kokkos", "void Kokkos::Impl::cuda_parallel_launch_local_memory<Kokkos::Impl::ParallelFor<F>>(T1)")
kernels_say("AMReX", "void amrex::launch_global<256, T1>(T1)")
kernels_say("ONNX Runtime", "void onnxruntime::cuda::_UnaryElementWise<float>(T1)", "void onnxruntime::contrib::cuda::SkipLayerNormKernel<T1>(T2)")
kernels_say("Numba", "_ZN6cudapy8__main__6kernelB2v1B94cw51cXTLSUwv1sDUaKthoKngqUqCQRTE6ArrayIfLi1E1C7mutable7alignedE")
kernels_say("Warp", "step_particles_1a2b3c4d_cuda_kernel_forward")
kernels_say("CUDA", "add(int, float *, float *)", "void kernel<float>(T1)", "foo_2_gpu")
case("QUDA", {"engine": "QUDA", "role": "simulation"}, kernels=["void quda::Kernel3D<quda::dslash_functor, T1>(T2)"])
case("GROMACS", {"engine": "GROMACS", "role": "simulation"}, kernels=["nbnxm_kernel_ElecEwQSTab_VdwLJCombGeom_F_cuda(T1)", "pme_spline_and_spread_kernel<4>(T1)", "pme_gather_kernel<4>(T1)"])
case("NAMD", {"engine": "NAMD", "role": "simulation"}, kernels=["void nonbondedForceKernel<true, false>(T1)"])
case("OpenMM", {"engine": "OpenMM", "role": "simulation"}, kernels=["computeNonbonded", "findBlocksWithInteractions", "integrateLangevinMiddlePart1"])
case("LAMMPS on Kokkos under mpirun", {"engine": "LAMMPS", "framework": "Kokkos", "role": "simulation", "launcher": "mpirun"},
     kernels=["void Kokkos::Impl::cuda_parallel_launch_local_memory<Kokkos::Impl::ParallelFor<PairComputeFunctor<PairLJCutKokkos<Kokkos::Cuda>>>>(T1)"],
     command=["/usr/bin/mpirun", "-np", "4", "lmp", "-k", "on", "-in", f"/home/{SECRET}/in.lj"])
case("LMDeploy", {"engine": "LMDeploy"}, kernels=["void turbomind::attention<T1>(T2)", "void turbomind::gemm<T1>(T2)"])
case("llama.cpp", {"engine": "llama.cpp"}, kernels=["void mul_mat_vec_q<(ggml_type)8, 1>(const void *)", "void rms_norm_f32<1024>(const float *)"], command=["./llama-server", "-m", f"{SECRET}.gguf"])
case("nvFuser under gtest", {"engine": "nvFuser", "harness": "gtest", "role": "test", "framework": "PyTorch", "language": "C++"},
     kernels=["nvfuser_none_f0_c0_r0_g0", "void at::native::vectorized_elementwise_kernel<4, T1>(int)"],
     command=["bin/test_nvfuser", "--gtest_filter=" + SECRET], output="Running main() from gtest_main.cc\n[==========] Running 1 test.\n")
# What starts a program, and what it starts.
command_says("torchrun --nproc-per-node 8 -m torchtitan.train --config x", launcher="torchrun", language="Python", framework="torchtitan")
command_says("python3 -m vllm.entrypoints.openai.api_server --model x", engine="vLLM", role="serving", language="Python")
command_says("python -m sglang.launch_server --model x", engine="SGLang", role="serving", language="Python")
command_says("python3 -m dynamo.vllm --model x", engine="Dynamo", role="serving")
command_says("text-generation-launcher --model-id x", engine="TGI", role="serving")
command_says("tritonserver --model-repository x", engine="Triton server", role="serving")
command_says("trtexec --onnx=x", role="benchmark")
command_says("python3 train.py --epochs 3", role="training", language="Python")
command_says("deepspeed train.py", launcher="DeepSpeed", role="training")
command_says("python3 -m pytest -k x", harness="pytest", role="test", language="Python")
command_says("julia --project=x solve.jl", language="Julia")
command_says("python3 -c bench_everything", role="unknown")  # code is no name
command_says("./a.out --gtest_filter=x", harness="gtest", role="test")
command_says("./test", role="unknown")
command_says("./saxpy --benchmark_filter=x", harness="Google Benchmark", role="benchmark")
# What a program prints.
case("banner of QUDA", {"engine": "QUDA", "role": "simulation"}, output="QUDA 1.1.0 (git 1.1.0-d1ea2e5)\n")
case("banner of pytest", {"harness": "pytest", "role": "test"}, output="===== test session starts =====\n")
case("banner of nvbench", {"harness": "nvbench", "role": "benchmark"}, output="# Benchmark Results\n")
case("self-check of few kernels", {"role": "exercise"}, output=f"Testing {SECRET} with 1048576 elements...\nSUCCESS: results match the CPU reference.\n",
     kernels=["kernVectorAdd(int, float *)"])
case("self-check of many kernels", {"role": "unknown"}, output="Test PASSED\n", kernels=[f"step_{w}(float *)" for w in "abcdefgh"])
case("self-check of PyTorch", {"role": "unknown", "framework": "PyTorch"}, output="Test PASSED\n", kernels=["void at::native::f<4>(int)"])
case("rates", {"role": "benchmark"}, output="N= 100: 3505.912 MFLOPS\nN= 200: 18160.9 MFLOPS\n", kernels=["stencil(float *)"])
case("rates of PyTorch", {"role": "unknown"}, output="throughput per GPU (TFLOP/s/GPU): 410.2\n", kernels=["void at::native::f<4>(int)"])
# Names of threads and processes, of the process itself and of others on the machine.
case("threads of PyTorch", {"framework": "PyTorch", "language": "Python"}, process="python3.11", threads=["pt_autograd_0", "pt_data_pin"])
case("vLLM's own processes", {"engine": "vLLM", "language": "Python"}, process="VLLM::EngineCore", kernels=["void vllm::act_and_mul_kernel<T1>(T2)"])
case("SGLang with vLLM's kernels", {"engine": "SGLang"}, process="sglang::scheduler_TP0", kernels=["void vllm::moe::moe_align_block_size_kernel<T1>(T2)"])
case("verl", {"engine": "verl", "launcher": "Ray"}, process="ray::WorkerDict", kernels=["void at::native::f<4>(int)"])
case("others on the machine", {"engine": "", "framework": "CUDA", "language": "C++", "launcher": ""},
     others=["python3", "julia", "java", "VLLM::EngineCor", "sglang::router", "mpirun_old"], process="one_pass")
case("a name that nobody recorded", {"language": "Python"}, process=None, main_thread="python3")
# NVTX.
case("FSDP, a capture of a forward pass", {"framework": "FSDP with PyTorch", "role": "forward"},
     ranges=["FSDP::pre_forward", "FSDP::post_forward", "RegisterPostBackwardFunction", "aten::mm"], kernels=["void at::native::f<4>(int)"])
case("FSDP2", {"framework": "FSDP with PyTorch", "role": "training"},
     ranges=["FSDP::pre_forward", "FSDP::post_backward", "aten::mm", "Optimizer.step#AdamW.step"], kernels=["void at::native::f<4>(int)"])
case("DeepSpeed", {"framework": "DeepSpeed with PyTorch"}, ranges=["DeepSpeedEngine.forward", "DeepSpeedZeroOptimizer_Stage3.step"], kernels=["void at::native::f<4>(int)"])
case("Megatron", {"framework": "Megatron with PyTorch"}, ranges=["megatron.core.transformer.attention.forward.qkv"], kernels=["void at::native::f<4>(int)"])
case("XLA of JAX", {"framework": "JAX"}, ranges=["XlaModule:#hlo_module=jit_step,program_id=5#", "TSL:Thunk"], kernels=["input_reduce_fusion", "loop_add_fusion"])
case("TensorFlow", {"framework": "TensorFlow"}, kernels=["void tensorflow::functor::ApplyAdamKernel<float>(int)", "loop_add_fusion"], threads=["tf_data_private"])
case("TensorRT-LLM", {"engine": "TensorRT-LLM"}, ranges=["[Executor] _forward_step 12: 2 ctx reqs, 30 gen reqs"], kernels=["void tensorrt_llm::kernels::f<4>(T1)"])
case("Spark-RAPIDS", {"engine": "Spark-RAPIDS"}, ranges=["Acquire GPU", "Release GPU", "CommitShuffle"], process="java")
case("one backward kernel is no training", {"role": "unknown", "framework": "PyTorch"}, kernels=["void at::native::nll_loss_backward_reduce_cuda_kernel_2d<float>(T1)"])
case("NCCL is no training", {"role": "unknown"}, kernels=["ncclDevKernel_AllReduce_Sum_f32_RING_LL(T1)"])
# Names of kernels that ran unrecorded.
case("names without rows", {"engine": "QUDA"}, kernels=None, texts=["_ZN4quda8Kernel3DINS_4blas5axpy_EEEvT_"])
case("a script that is not there", {"framework": "unknown", "language": "Python"}, kernels=None, calls=False, command=["python3", f"/home/{SECRET}/miss.py"],
     output="python3: can't open file: [Errno 2] No such file or directory\n", process=None)


class Export:
    """The trace of a scenario, by default a program with nine kernels, with other names."""

    def __init__(self, path, scenario="cold"):
        self.path = path
        path.write_bytes(support.trace(scenario).read_bytes())
        self.db = sqlite3.connect(path)
        self.next_id = 1000
        self.pid, = self.db.execute("select min(globalPid) from CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
        self.tid, = self.db.execute("select min(globalTid) from CUPTI_ACTIVITY_KIND_RUNTIME").fetchone()

    def text(self, value):
        self.next_id += 1
        self.db.execute("insert into StringIds values (?, ?)", (self.next_id, value))
        return self.next_id

    def kernels(self, names):
        if names is None:
            self.db.execute("drop table CUPTI_ACTIVITY_KIND_KERNEL")
            return
        rows = [r for r, in self.db.execute("select rowid from CUPTI_ACTIVITY_KIND_KERNEL order by start")]
        ids = [self.text(n) for n in names]
        for i, row in enumerate(rows):
            name = ids[i % len(ids)]
            self.db.execute("update CUPTI_ACTIVITY_KIND_KERNEL set demangledName = ?1, shortName = ?1, mangledName = ?1 where rowid = ?2", (name, row))

    def calls(self, keep):
        if not keep:
            self.db.execute("delete from CUPTI_ACTIVITY_KIND_RUNTIME")

    def ranges(self, names):
        self.db.execute('create table NVTX_EVENTS (start integer not null, "end" integer, eventType integer not null, text text, globalTid integer)')
        calls = self.db.execute('select start, "end" from CUPTI_ACTIVITY_KIND_RUNTIME where globalTid = ? order by start', (self.tid,)).fetchall()
        for i, name in enumerate(names):  # calls in equal shares
            first, behind = (len(calls) * k // len(names) for k in (i, i + 1))
            self.db.execute("insert into NVTX_EVENTS values (?, ?, 59, ?, ?)", (calls[first][0], calls[behind - 1][1], name, self.tid))

    def command(self, words):
        self.db.execute("delete from META_DATA_CAPTURE where name like 'PROCESS_0:COMMAND' or name like 'PROCESS_0:ARGUMENT_%'")
        for i, word in enumerate(words):
            self.db.execute("insert into META_DATA_CAPTURE values (?, ?)", (f"PROCESS_0:ARGUMENT_{i - 1}" if i else "PROCESS_0:COMMAND", word))

    def output(self, text):
        self.db.execute("delete from ProcessStreams")
        self.db.execute("insert into ProcessStreams values (?, ?, ?)", (self.pid, self.text("/tmp/stdout.log"), self.text(text)))

    def process(self, name):
        self.db.execute("update PROCESSES set name = ? where globalPid = ?", (name, self.pid))
        self.db.execute("delete from ThreadNames")

    def main_thread(self, name):
        self.db.execute("insert into ThreadNames values (?, 20, ?)", (self.text(name), self.pid + self.pid // 2**24 % 2**24))

    def threads(self, names):
        for i, name in enumerate(names):
            self.db.execute("insert into ThreadNames values (?, 20, ?)", (self.text(name), self.tid + 10 + i))

    def others(self, names):
        for i, name in enumerate(names):
            pid = 281474976710656 + (20000 + i) * 2**24
            self.db.execute("insert into PROCESSES values (?, ?, ?)", (pid, 20000 + i, name))
            self.db.execute("insert into ThreadNames values (?, 20, ?)", (self.text(name[:15]), pid + 20000 + i))

    def texts(self, values):
        for value in values:
            self.text(value)


class Workload(unittest.TestCase):
    def analyze(self, has, *options):
        directory = fresh_dir("workload")
        export = Export(directory / "trace.sqlite")
        with contextlib.closing(export.db) as db, db:
            db.execute("update META_DATA_CAPTURE set value = ? where name like '%ENVIRONMENT%' and value like 'HF_TOKEN%'", (f'HF_TOKEN="{SECRET}"',))
            for what, value in has.items():
                getattr(export, what)(value)
        done = run("analyze", export.path, "--out", directory / "out", "-q", *options)
        self.assertIn(done.returncode, (0, 4), done.stderr)
        for path in (directory / "out").rglob("*"):
            if path.is_file():
                self.assertNotIn(SECRET.encode(), support.contents(path), path)
        return directory / "out"

    @support.tier("ci")
    def test_who_it_is(self):
        for name, (has, says) in CASES.items():
            with self.subTest(name):
                row = next(r for r in read_csv(self.analyze(has), "workload") if not r["pid"])
                self.assertEqual({k: row[k] for k in says}, says, row)

    def test_each_process_is_its_own(self):
        """A trainer and the engine that generates for it."""
        directory = fresh_dir("workload")
        export = Export(directory / "trace.sqlite", "two-processes")
        pids = [p for p, in export.db.execute("select distinct globalPid from CUPTI_ACTIVITY_KIND_KERNEL order by 1")]
        with contextlib.closing(export.db) as db, db:
            for pid, process, kernel in zip(pids, ("ray::WorkerDict", "VLLM::EngineCore"), ("void at::native::f<4>(int)", "void vllm::act_and_mul_kernel<T1>(T2)")):
                db.execute("update PROCESSES set name = ? where globalPid = ?", (process, pid))
                db.execute("update CUPTI_ACTIVITY_KIND_KERNEL set demangledName = ?1, shortName = ?1, mangledName = ?1 where globalPid = ?2", (export.text(kernel), pid))
            db.execute("delete from ThreadNames")
        out = directory / "out"
        self.assertEqual(run("analyze", export.path, "--out", out, "-q").returncode, 0)
        told = {int(r["pid"]): (r["engine"], r["framework"]) for r in read_csv(out, "workload") if r["pid"]}
        self.assertEqual([told[pid // 2**24 % 2**24] for pid in pids], [("verl", "PyTorch"), ("vLLM", "unknown")])

    def test_the_phase_map_that_suits_it(self):
        """Chosen by the ranges, unless most work would have no phase; the user's choice is shown as it is."""
        steps = ["execute_context_0(0)_generation_29(29)", "execute_context_2(512)_generation_0(0)"]
        cases = {
            "other ranges": ({"ranges": ["vllm step"] * 9 + steps[:1]}, (), set()),
            "steps of vLLM": ({"ranges": steps}, (), {"decode", "prefill"}),
            "asked for": ({"ranges": ["step_a", "step_b"]}, ("--phase-map", "vllm"), {"unmapped"}),
        }
        for name, (has, options, phases) in cases.items():
            with self.subTest(name):
                rows = read_csv(self.analyze(has, *options), "nvtx_phases")
                self.assertEqual({r["phase"] for r in rows if int(r["kernel_count"])} - (set() if options else {"unmapped"}), phases)
                self.assertEqual(bool(rows), bool(phases))

    def test_functions_on_no_list(self):
        directory = fresh_dir("workload")
        export = Export(directory / "trace.sqlite", "copy-bound")
        with contextlib.closing(export.db) as db, db:
            launches = [i for i, in db.execute("select id from StringIds where value like 'cudaLaunchKernel%'")]
            db.execute(f"update StringIds set value = 'cudaLaunchKernelTwice_v13000' where id in ({','.join(map(str, launches))})")
            count, = db.execute(f"select count(*) from CUPTI_ACTIVITY_KIND_RUNTIME where nameId in ({','.join(map(str, launches))})").fetchone()
        run("analyze", export.path, "--out", directory / "out", "-q")
        row = next(r for r in read_csv(directory / "out", "data_quality") if r["check"] == "unlisted-calls")
        self.assertEqual(int(row["count"]), count)
        self.assertIn("cudaLaunchKernelTwice", row["detail"])
        listed = read_csv(support.artifacts(support.trace("copy-bound")), "data_quality")
        self.assertNotIn("unlisted-calls", {r["check"] for r in listed})

    def test_rules_of_ones_own(self):
        rules = fresh_dir("rules") / "mine.rules"
        good = "climate\n  source ours\n  name flux*\n  example void atmos::fluxX<double>(double *)\n"
        cases = (
            (good, 0, "1 of 1 rules decide their 1 examples"),
            (good + "\nrouting\n  name pick*\n", 0, "mine.rules:6: routing has no example"),
            (good + "\nrouting\n  name pick*\n  example void fluxPick(int)\n", 2, 'mine.rules:8: "void fluxPick(int)" is decided by the rule of line 1, not by that of line 6'),
            (good + "\nrouting\n  name pick*\n  example void choose(int)\n", 2, 'mine.rules:8: "void choose(int)" is no example of its rule'),
        )
        for text, status, says in cases:
            rules.write_text(text, encoding="utf-8")
            for words in (("rules", "test", rules), ("explain", "kernel", "x", "--kernel-classes", rules)):
                done = run(*words)
                self.assertEqual(done.returncode, status, done.stderr)
                if status or words[0] == "rules":
                    self.assertIn(says, done.stdout + done.stderr)


if __name__ == "__main__":
    support.main()
