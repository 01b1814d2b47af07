"""nsys-ai batch --engine slurm, on a Slurm of one node that the test starts for itself."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

import support
from batch_support import batch, index_of, make_traces
from support import fresh_dir, run

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "scontrol", "scancel", "squeue", "munged")
CONFIG = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={port}
SlurmdPort={port_d}
AuthType=auth/munge
AuthInfo=socket={dir}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd.pid
SlurmctldLogFile={dir}/slurmctld.log
SlurmdLogFile={dir}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
MaxArraySize=5
MinJobAge=300
KillWait=2
SlurmdTimeout=60
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=1,bf_interval=1,requeue_delay=0
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=20000 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""

# Nothing is put into control groups, but slurmd 22.05 wants a plugin for them; later ones take "disabled".
CGROUPS = """CgroupPlugin=cgroup/v1
CgroupMountpoint={dir}/cgroup
ConstrainCores=no
ConstrainDevices=no
ConstrainRAMSpace=no
ConstrainSwapSpace=no
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Cluster:
    """munged, slurmctld and slurmd in a directory of their own."""

    def __init__(self):
        self.directory = fresh_dir("slurm")
        self.directory.chmod(0o755)
        self.started = []
        host = socket.gethostname().split(".")[0]
        for name in ("state", "spool"):
            (self.directory / name).mkdir()
        (self.directory / "slurm.conf").write_text(
            CONFIG.format(dir=self.directory, host=host, port=free_port(), port_d=free_port(), cpus=os.cpu_count()),
            encoding="ascii")
        (self.directory / "cgroup.conf").write_text(CGROUPS.format(dir=self.directory), encoding="ascii")
        os.environ["SLURM_CONF"] = str(self.directory / "slurm.conf")

    def daemon(self, *words):
        log = open(self.directory / f"{pathlib.Path(words[0]).name}.out", "wb")
        self.started.append(subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def start(self):
        """None, or why it cannot be started."""
        d = self.directory
        (d / "key").write_bytes(os.urandom(1024))
        (d / "key").chmod(0o400)
        self.daemon("munged", "-F", "--force", f"--socket={d}/munge.socket", f"--key-file={d}/key", f"--pid-file={d}/munge.pid",
                    f"--log-file={d}/munge.log", f"--seed-file={d}/munge.seed", "--num-threads=2")
        if not wait_for(lambda: (d / "munge.socket").exists(), 10):
            return "munged does not start"
        self.daemon("slurmctld", "-D", "-i", "-f", d / "slurm.conf")
        self.daemon("slurmd", "-D", "-f", d / "slurm.conf")
        idle = lambda: "idle" in tell("sinfo", "-h", "-o", "%T")
        if wait_for(idle, 30):
            return None
        logs = " ".join((d / n).read_text(errors="replace")[-300:] for n in ("slurmctld.out", "slurmd.out") if (d / n).exists())
        return f"the node does not become idle: {tell('sinfo')} {logs}"

    def stop(self):
        for process in reversed(self.started):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def tell(*words):
    done = subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace", timeout=30, check=False)
    return done.stdout + done.stderr


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return condition()


def why_not():
    missing = [p for p in PROGRAMS if not shutil.which(p, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
    if missing:
        return f"not installed: {' '.join(missing)}"
    return "needs root to run a cluster of its own" if os.geteuid() else None


class Slurm(unittest.TestCase):
    def setUp(self):
        self.traces = make_traces(fresh_dir("in"), 40)
        (self.traces / "bad.sqlite").write_bytes(b"x" * 5000)
        self.plain = fresh_dir() / "b"
        batch(self.traces, "--out", self.plain, expect=4)

    def ended(self):
        return wait_for(lambda: not tell("squeue", "-h").strip(), 120)

    def test_an_array_makes_the_index(self):
        """Divided into no more tasks than the cluster allows in an array (MaxArraySize=5), two at a time."""
        out = fresh_dir() / "b"
        done = batch(self.traces, "--out", out, "--engine", "slurm", "--shards", 9, "--at-a-time", 2, "--wait", expect=4)
        self.assertIn("with 4 tasks", done.stdout)
        self.assertEqual(index_of(out), index_of(self.plain))
        self.assertEqual(len(list((out / "status").iterdir())), 41)
        self.assertTrue(self.ended())

    def test_cancelled_and_requeued_tasks(self):
        out = fresh_dir() / "b"
        hold = subprocess.run(["sbatch", "--parsable", "--exclusive", "--output=/dev/null", "--wrap", "sleep 3"], check=True,
                              capture_output=True, encoding="ascii").stdout.strip()
        done = batch(self.traces, "--out", out, "--engine", "slurm", "--shards", 4, "--slurm-args=--exclusive")
        job = done.stdout.split()[2]
        tell("scancel", f"{job}_2")
        tell("scancel", hold)
        wait_for(lambda: "R" in tell("squeue", "-h", "-o", "%t", "-j", job), 60)
        tell("scontrol", "requeue", f"{job}_0")
        # A requeued job waits for two minutes, lest its node still be busy with it.
        wait_for(lambda: "BeginTime" in tell("squeue", "-h", "-o", "%r", "-j", job), 20)
        tell("scontrol", "update", f"JobId={job}_0", "StartTime=now")
        self.assertTrue(wait_for((out / "index.html").exists, 120), tell("squeue"))
        missing = [line for line in (out / "index.csv").read_text(encoding="utf-8").splitlines() if ",missing," in line]
        self.assertTrue(missing, "the task was cancelled")
        self.assertTrue(self.ended())
        batch("--resume", "--out", out, "--engine", "slurm", "--wait", expect=4)
        self.assertEqual(index_of(out), index_of(self.plain))

    def test_wrong_words_for_sbatch(self):
        done = run("batch", self.traces, "--out", fresh_dir() / "b", "--engine", "slurm", "--slurm-args=--partition=nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("sbatch failed", done.stderr)


def main():
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    reason, cluster = why_not(), None
    try:
        if not reason:
            cluster = Cluster()
            reason = cluster.start()
        if reason:
            print(f"skipped: no Slurm: {reason}")
            return 77
        return 0 if unittest.main(exit=False).result.wasSuccessful() else 1
    finally:
        if cluster:
            cluster.stop()


if __name__ == "__main__":
    sys.exit(main())
