"""Questions and exports as scripts/bench --query measures them: processor time of all processes of a command, the largest
memory of one of them, what was written. No wall clock: other work on the machine does not change the figures much."""
import os
import pathlib
import re
import subprocess
import threading
import time

STATEMENTS = [
    ("a small table, first row", "select * from gpus limit 1"),
    ("`count(*)` of ranges", "select count(*) from nvtx_events"),
    ("`group by name` of ranges", "select name, count(*) from nvtx_events group by name"),
    ("sum of kernels' durations", "select sum(end_ns - start_ns) from kernel_events"),
    ("top kernels", "select name, device_id, count(*), sum(end_ns - start_ns) as ns from kernel_events group by 1, 2 order by ns desc limit 20"),
    ("20 longest kernels", "select rowid, end_ns - start_ns as ns from kernel_events order by ns desc limit 20"),
    ("kernels and calls joined by a number", "select count(*) from kernel_events k join api_events a on a.correlation_id = k.correlation_id and a.rowid < 1000"),
    ("launch latency by function (launch join)", "select call_name, count(*), p50(latency_ns) from v_kernels group by call_name"),
    ("kernel time by range (launch join, NVTX tree)", "select path, sum(duration_ns) from v_kernels group by path"),
]
EXPORTS = [("export perfetto", "x.pftrace"), ("export perfetto --gzip", "x.pftrace.gz"), ("export chrome", "x.json"), ("export csv", "x.csv"),
           ("export parquet", "x.parquet"), ("export parquet --list ranges", "r.parquet"), ("export parquet --list ranges --gzip", "z.parquet"),
           ("export folded", "x.folded"), ("export speedscope", "x.speedscope.json"), ("export markdown", "x.md")]


def children(pid):
    try:
        return [int(word) for task in pathlib.Path(f"/proc/{pid}/task").iterdir() for word in (task / "children").read_text().split()]
    except OSError:
        return []


def watch(process, peak):
    """RssAnon of the command's largest process."""
    while process.returncode is None:
        for pid in [process.pid, *children(process.pid)]:
            try:
                found = re.search(r"RssAnon:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())
            except OSError:
                continue
            peak[0] = max(peak[0], int(found.group(1)) * 1024 if found else 0)
        time.sleep(0.004)


def measure(words):
    """Processor seconds, bytes of memory."""
    before = os.times()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        peak = [0]
        watcher = threading.Thread(target=watch, args=(process, peak))
        watcher.start()
        message = process.communicate()[1]
        watcher.join()
    if process.returncode:
        raise SystemExit(f"scripts/bench: {' '.join(map(str, words))} failed: {message}")
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system, peak[0]


def best(words, rounds):
    """The least of some rounds: what else runs only adds."""
    found = [measure(words) for _ in range(rounds)]
    return min(seconds for seconds, _ in found), max(peak for _, peak in found)


def run(program, directory, work, rounds):
    count = lambda what: int(subprocess.check_output([program, "sql", directory, what, "--format", "csv"], text=True).split()[-1])
    events = {name: count(f"select count(*) from {name}") for name in ("kernel_events", "api_events", "nvtx_events", "memop_events")}
    print(f"{sum(events.values()):,} events: " + ", ".join(f"{n:,} {name}" for name, n in events.items()) + f"; the least of {rounds} rounds\n")
    print("| statement | processor | RssAnon |\n|---|---:|---:|")
    for label, statement in STATEMENTS:
        seconds, peak = best([program, "sql", directory, statement, "--format", "csv"], rounds)
        print(f"| {label} | {seconds:.2f} s | {peak / 2**20:.0f} MiB |", flush=True)
    print("\n| export | processor | RssAnon | written | bytes an event |\n|---|---:|---:|---:|---:|")
    for words, name in EXPORTS:
        out = work / name
        seconds, peak = best([program, *words.split(), directory, "--out", out, "-q"], rounds)
        rows = events["kernel_events"] if "csv" in words or words == "export parquet" else events["nvtx_events"] if "ranges" in words else sum(events.values())
        size = out.stat().st_size
        each = f"{size / rows:.1f}" if "perfetto" in words or "chrome" in words or "parquet" in words or "csv" in words else ""
        print(f"| `{words}` | {seconds:.2f} s | {peak / 2**20:.0f} MiB | {size / 1e6:.1f} MB | {each} |", flush=True)
        out.unlink()
