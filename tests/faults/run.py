#!/usr/bin/env python3
"""Lets one call of the program fail, then the next one, and so on (faults.c), and looks at what comes of it: the right
output or a right exit status with a message, an earlier output intact, nothing left behind.

    run.py                     a sample, in seconds: what ctest runs as faults.sampled
    run.py --full              every place that a call comes from (all return addresses): faults.full (label hours)
    run.py --every 1           every single call, in days
    run.py --case analyze --kind alloc --n 812        one of them, with all it printed
"""
import argparse
import concurrent.futures
import contextlib
import errno
import gzip
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import threading
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "integration"))
import support  # noqa: E402



def without_blank(path):
    """A link to it where the loader would take its path for several."""
    if not re.search("[ :]", path):
        return path
    link = support.fresh_dir("preload") / pathlib.Path(path).name
    link.symlink_to(path)
    return str(link)


LIBRARY = without_blank(os.environ.get("NAI_FAULTS", ""))
PRELOAD = " ".join(filter(None, [LIBRARY, os.environ.get("NAI_FAULTS_SANITIZER")]))
CALLS = "open read write stat space rename link mkdir remove close map dir lock thread pipe process mode".split()
BATCH_FAILURES = 4  # the index says which
SAMPLES = 15  # of each fault in each case, unless --full


class Case:
    """One command on a directory that `prepare` fills. `statuses`: further exit statuses that are right. `mend`: commands after
    which what a failed run left must be what an undisturbed one leaves (without it: nothing changes unless all does). `said`: what
    the command reads on standard input; its answers may be refusals then. `seen`: the files that are compared. `unread`: how outputs say that
    something could not be read, which is then right, too. `few`: one number of each
    fault is a sample. `all`: faults that every call has to have. `last`: so many of the last allocations fail one by one, too; `first`: all from
    one of the first on."""

    def __init__(self, name, trace, words, earlier=None, statuses=(), mend=None, said=b"", seen=lambda name: True, unread=(), few=False, all=(), last=0, first=0):
        self.name, self.trace, self.words, self.earlier = name, trace, words, earlier
        self.statuses, self.mend, self.said, self.seen, self.unread = set(statuses), mend, said, seen, unread
        self.few, self.all, self.last, self.first = few, all, last, first

    def command(self, base, words=None):
        return [support.PROGRAM, *(str(w).replace("OUT", str(base / "out")) for w in words or self.words)]

    def prepare(self, base):
        """The directory as it is before the run."""
        shutil.rmtree(base, ignore_errors=True)
        (base / "tmp").mkdir(parents=True)
        if self.earlier:
            shutil.copytree(self.earlier, base / "out", symlinks=True, copy_function=shutil.copy2 if self.mend else os.link)


def live_wal(trace):
    """A copy of a trace whose last change is in the write-ahead log only."""
    directory = support.fresh_dir("wal")
    shutil.copy(trace, directory / "original.sqlite")
    with contextlib.closing(sqlite3.connect(directory / "original.sqlite")) as db:
        db.execute("PRAGMA journal_mode=wal")
        db.execute("CREATE TABLE more(x)")
        db.commit()
        for suffix in ("", "-wal"):
            shutil.copy(f"{directory / 'original.sqlite'}{suffix}", f"{directory / 'live.sqlite'}{suffix}")
    return directory / "live.sqlite"


def messages(run):
    """What a client says to `nsys-ai mcp`."""
    asked = [("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}), ("tools/list", {}),
             ("tools/call", {"name": "findings", "arguments": {"run": str(run)}}),
             ("tools/call", {"name": "sql", "arguments": {"run": str(run), "query": "select count(*) from kernel_events"}})]
    return "".join(json.dumps({"jsonrpc": "2.0", "id": i, "method": method, "params": params}) + "\n"
                   for i, (method, params) in enumerate(asked, 1)).encode()


def converse(command, env, said):
    """A server that is asked, and left when it has answered everything; its answers in the order of the questions."""
    lines = []
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        watch = threading.Timer(support.TIMEOUT_S, process.kill)
        watch.start()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(said)
            process.stdin.flush()
        while len(lines) < said.count(b"\n") and (line := process.stdout.readline()):
            lines.append(line)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        text = process.stderr.read()
        watch.cancel()
    lines.sort(key=lambda line: int((re.search(rb'"id": (\d+)', line) or [0, 0])[1]))
    return subprocess.CompletedProcess(command, process.returncode, b"".join(lines), text)


def may_answer(got, want):
    """Whether there is an answer to each question: the one that is due, or a refusal, which names the question unless it could not be read."""
    replies, left = [], {json.loads(line)["id"]: line for line in want.splitlines()}
    for line in got.splitlines():
        try:
            replies.append((line, json.loads(line)))
        except ValueError:
            return False
    unread = sum("id" not in reply and "error" in reply for _, reply in replies)
    for line, reply in replies:
        refused = "error" in reply or reply.get("result", {}).get("isError") is True
        if "id" in reply and not (line == left.pop(reply["id"], None) or refused):
            return False
    return len(left) == unread and len(replies) == len(want.splitlines())


def store_of(run, another_version=False):
    directory = support.fresh_dir("store")
    program = support.another_version(directory) if another_version else support.PROGRAM
    subprocess.run([program, "store", "add", run, "--store", directory / "s", "-q"], check=True)
    return directory / "s"


def store_of_years(*runs):
    """The first and the second are old, and a baseline names the first."""
    directory = support.fresh_dir("years") / "s"
    for year, stored in zip((2020, 2021, 2026), runs):
        words = ["add", stored, "--id", f"of{year}", "--time", f"{year}-01-01T00:00:00Z"]
        subprocess.run([support.PROGRAM, "store", *words, "--store", directory, "-q"], check=True)
    subprocess.run([support.PROGRAM, "store", "baseline", "set", "b", "of2020", "--store", directory], check=True)
    return directory


def folder():
    """A folder of Parquet files."""
    directory = support.fresh_dir("folder")
    with tarfile.open(support.SOURCE / "tests/data/parquet.tar.xz") as archive:
        archive.extractall(directory, [m for m in archive.getmembers() if m.name.startswith("./arrow-gzip-V2-0/")])
    return next(directory.glob("*/*.sqlite"))


def compressed(export):
    """The same export, compressed."""
    path = support.fresh_dir("compressed") / "t.sqlite.gz"
    path.write_bytes(gzip.compress(export.read_bytes(), 1, mtime=0))
    return path


def job():
    """Runs of two ranks."""
    directory = support.fresh_dir("job")
    subprocess.run([support.GENERATOR, "ranks", directory, "--ranks", "2", "--steps", "4", "--straggler", "persistent"], check=True)
    return [support.analyze(directory / f"rank{rank}.sqlite") for rank in range(2)]


# Linked statically, so that no call of its own fails.
NSYS = r"""#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  FILE *to = NULL, *from = fopen(getenv("NAI_TEST_EXPORT"), "rb");
  for (int i = 1; i + 1 < argc; i++)
    if (strcmp(argv[i], "--output") == 0)
      to = fopen(argv[i + 1], "wb");
  for (int c; to && from && (c = getc(from)) != EOF;)
    putc(c, to);
  return !to || !from || fclose(to);
}
"""


def stand_in(export):
    """An nsys that makes this of every report."""
    directory = support.fresh_dir("nsys")
    (directory / "nsys.c").write_text(NSYS)
    subprocess.run(["cc", "-static", "-o", directory / "nsys", directory / "nsys.c"], check=True)
    os.environ["NSYS"], os.environ["NAI_TEST_EXPORT"] = str(directory / "nsys"), str(export)
    (directory / "t.nsys-rep").write_text("a report")
    return directory / "t.nsys-rep"


def cases():
    minimal, rich, small = support.trace("minimal"), support.trace("evidence", "--scale", "0.1"), support.trace("no-nvtx", "--scale", "0.1")
    analyze = ["analyze", "-q", "-j1", "--out", "OUT"]
    # Fresh: the cases link to their files, so they have to lie on the file system of the temporary files.
    other, same, full = support.analyze(small), support.analyze(minimal, "--top", "3"), support.analyze(rich)
    store = store_of(same)
    capture = next((store / "runs").glob("*/*/*/captures/*"))
    before = support.fresh_dir("before")
    (before / "t").write_text("an earlier file")
    two = job()
    budgets = before.parent / "budgets.yaml"  # without steps nothing is gated but what budgets name
    budgets.write_text("version: 1\nmetrics: {gpu.busy: {relative: 3%}}\n")
    return [
        Case("analyze", minimal, [*analyze, minimal], other),
        Case("reuse", minimal, [*analyze, minimal], same),
        Case("rich", rich, [*analyze, rich], other),
        Case("sqlite", minimal, [*analyze, "--reader", "sqlite", minimal], other, all=["read once"]),  # SQLite takes some for damage
        Case("rich-sqlite", rich, [*analyze, "--reader", "sqlite", rich], other, few=True),
        Case("threads", small, ["analyze", "-q", "-j3", "--out", "OUT", small], other),
        Case("probe", minimal, ["probe", minimal]),
        Case("exported", minimal, ["probe", "-q", stand_in(minimal)]),
        Case("wal", minimal, ["probe", live_wal(minimal)]),
        Case("folder", minimal, ["probe", folder()], few=True, first=12),
        Case("compressed", minimal, ["probe", "-q", compressed(minimal)], few=True, all=["read on"]),
        Case("table", minimal, ["table", same / "stages" / "analyze.ntab", "kernels"]),
        Case("compare", minimal, ["compare", same, other, "-q", "--out", "OUT"]),
        Case("check", minimal, ["check", same, "--baseline", same, "--allow", "same_content", "--budgets", budgets, "-q", "--out", "OUT"], few=True, statuses={7}),
        Case("ranks", minimal, ["ranks", *two, "-q", "--out", "OUT"], few=True),
        Case("sql", minimal, ["sql", same, "select name, count(*) from kernel_events group by 1"], few=True, statuses={6}),
        Case("mcp", minimal, ["mcp", "--root", same.parent.parent, "--cache", "OUT"], few=True, last=60, statuses={2}, said=messages(same), seen=lambda name: False),
        Case("trend", minimal, ["trend", "--store", store, "-q", "--out", "OUT"], few=True, statuses={2}),
        Case("store", minimal, ["store", "add", other, "--store", "OUT", "-q"], store_of(same), few=True,
             statuses={2}, mend=[["store", "add", other, "--store", "OUT", "-q"]],
             seen=lambda name: "/." not in name),  # a killed one leaves a hidden directory
        Case("index", minimal, ["store", "index", "--store", "OUT", "-q"], store_of(same), few=True,
             statuses={2}, mend=[["store", "index", "--store", "OUT", "-q"]], seen=lambda name: "/." not in name),
        Case("prune", minimal, ["store", "prune", "--keep-days", "1", "--store", "OUT", "-q"], store_of_years(same, other, support.artifacts(support.trace("empty"))), few=True,
             statuses={2, 5}, unread=(b"damaged",), mend=[["store", "prune", "--keep-days", "1", "--store", "OUT", "-q"]],
             seen=lambda name: "/." not in name),  # 5: SQLite reads where it has no descriptor to write
        Case("upgrade", minimal, ["store", "upgrade", "--store", "OUT", "-q"], store_of(minimal, another_version=True), few=True, statuses={2},
             mend=[["store", "upgrade", "--store", "OUT", "-q"]], seen=lambda name: "/." not in name, all=["stat once", "read once EINTR"]),
        Case("get", minimal, ["store", "get", capture.parent.parent.name, "--store", store, "--out", "OUT", "-q"], other, few=True, statuses={2}),
        Case("packed", minimal, ["summary", capture], few=True),
        Case("batch", minimal, ["batch", minimal, "--out", "OUT", "-j1", "-q"], few=True, statuses={4},
             mend=[["batch", minimal, "--out", "OUT", "-j1", "-q", "--resume", "--retry", "refused"]],
             seen=lambda name: name.startswith(("index.", "batch.md", "items/")), all=["stat once"]),
        Case("ask", rich, ["ask", full, "why is my GPU idle"], few=True),
        # ASCII is what the C library leaves where it finds no memory for the locale, which is no error.
        Case("view", rich, ["view", full, "--once", "--ascii"], few=True),
        Case("stats", rich, ["stats", rich], few=True),
        Case("whatif", rich, ["whatif", full], few=True),
        Case("joined", minimal, ["whatif", *two, "--balance"], few=True),
        Case("path", minimal, ["critical-path", *two, "--step", "2"], few=True),
        Case("skill", rich, ["skill", "run", "frequent_kernels", full], few=True),
        Case("page", rich, ["summary", full], few=True),
        Case("tree", rich, ["tree", full], few=True),
        Case("search", rich, ["search", full, "kernel"], few=True),
        Case("export", rich, ["export", "perfetto", full, "--out", "OUT/t"], before, few=True),
        Case("rows", rich, ["export", "csv", full], few=True, statuses={6}),
        Case("parquet", rich, ["table", full, "kernels", "--format", "parquet", "--out", "OUT/t"], before, few=True),
        Case("rules", minimal, ["rules", "list"]),
        Case("explain", minimal, ["rules", "explain", "idle-queue-drained"]),
        Case("help", minimal, ["analyze", "--help"]),
        Case("man", minimal, ["--man"]),
    ]


class Fault:
    """Which call fails, how, and the exit statuses that are right then."""

    def __init__(self, kind, mode="once", error=None):
        self.kind, self.mode, self.error = kind, mode, error

    def __str__(self):
        return " ".join(filter(None, [self.kind, self.mode, self.error and errno.errorcode[self.error]]))

    def environment(self, n):
        env = {"NAI_FAULT_KIND": self.kind, "NAI_FAULT_N": str(n), "NAI_FAULT_MODE": self.mode}
        return {**env, "NAI_FAULT_ERRNO": str(self.error)} if self.error else env

    def statuses(self):
        if self.mode == "short" or self.error == errno.EINTR and self.kind != "open":
            return {0}  # no error at all; only devices interrupt opening
        if self.kind == "alloc" or self.error in (errno.EMFILE, errno.ENOMEM):
            return {0, 6}
        if self.error in (errno.ENOSPC, errno.EDQUOT):
            return {0, 5}
        return {0, 3, 5, 6}  # reading the trace, writing outputs


FAULTS = [Fault("alloc"), Fault("alloc", "on"), Fault("read", "short"), Fault("write", "short"),
          *(Fault(kind, "once", errno.EINTR) for kind in ("open", "read", "write", "space")),
          *(Fault(kind, "once") for kind in CALLS), *(Fault(kind, "on") for kind in CALLS),
          *(Fault(kind, mode, number) for kind in ("write", "space") for mode in ("once", "on") for number in (errno.ENOSPC, errno.EDQUOT)),
          Fault("mkdir", "once", errno.ENOSPC), Fault("link", "once", errno.EXDEV), Fault("open", "once", errno.EMFILE), Fault("map", "once")]


def state(directory):
    """What would change if anything in a directory did."""
    def look(path, entries):
        for entry in entries:
            s = entry.stat(follow_symlinks=False)
            found[entry.path] = (s.st_ino, s.st_size, s.st_mtime_ns)
            if entry.is_dir(follow_symlinks=False):
                look(entry.path, os.scandir(entry.path))

    found = {}
    look(directory, os.scandir(directory))
    return found, directory.lstat().st_ino


class Bench:
    """A place to run one case over and over."""

    def __init__(self, case, where, want):
        self.case, self.base, self.want = case, where, want
        case.prepare(where)

    def run(self, environment, words=None):
        env = {**os.environ, "TMPDIR": str(self.base / "tmp"), "XDG_CACHE_HOME": str(self.base / "cache"), "LD_PRELOAD": PRELOAD, **environment}
        command = self.case.command(self.base, words)
        if self.case.said:
            return converse(command, env, self.case.said)
        return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=support.TIMEOUT_S, check=False)

    def leftovers(self):
        return sorted(set(os.listdir(self.base)) - {"out", "tmp"}) + sorted(os.listdir(self.base / "tmp"))

    def outcome(self, done, kind=None):
        """Printed text and output directory of a run that worked. What cannot be mapped is read by SQLite, and says so."""
        files = support.tree(self.base / "out") if (self.base / "out").exists() else {}
        files = {name: content for name, content in files.items() if self.case.seen(name)}
        if kind == "map":
            files = {name: content for name, content in files.items() if name not in ("stages/manifest.json", "stages/extract.ntab")}
        return done.stdout, files

    def is_right(self, done, fault):
        if self.case.said and may_answer(done.stdout, self.want[0][0]):
            return True
        text, files = self.outcome(done, fault.kind)
        due = self.want[fault.kind == "map"]
        if text == due[0] and any(word in content for word in self.case.unread for content in files.values()):
            return True
        return (text, files) == due

    def mended(self, done):
        """What a failed run left is no obstacle: the commands after it end where an undisturbed run does."""
        if self.outcome(done)[1] == self.want[0][1]:
            return
        for words in self.case.mend:
            again = self.run({"LD_PRELOAD": ""}, words)
        if again.returncode:
            yield f"exit {done.returncode}, and mending it: exit {again.returncode}: {again.stderr.decode()}"
        elif self.outcome(again)[1] != self.want[0][1]:
            yield f"exit {done.returncode}, and mending it ended in another output"

    def complaints(self, fault, n):
        """Runs with that fault; yields what is wrong."""
        keeps = self.case.earlier and not self.case.mend
        before = state(self.base / "out") if keeps else None
        done = self.run(fault.environment(n))
        text = done.stderr.decode("utf-8", "replace")
        said = text if len(text) < 600 else text[:300] + " ... " + text[-300:]
        if support.SANITIZED and fault.kind == "alloc" and "CHECK failed: sanitizer_linux_libcdep" in text:
            return  # the sanitizer itself, which starts a thread, got no memory
        if done.returncode not in fault.statuses() | self.case.statuses:
            yield f"exit {done.returncode}: {said.strip()}"
        elif "Sanitizer" in text:
            yield said
        elif done.returncode and done.returncode != BATCH_FAILURES and not re.fullmatch(r"(nsys-ai: [^\n]*\w[^\n]*\n)+", text):
            yield f"exit {done.returncode} with the message {said!r}"
        elif fault.kind == "read" and done.returncode == 3 and re.search("malformed|damaged", text):
            yield f"what could not be read is called damage: {said.strip()}"
        elif not done.returncode and not self.is_right(done, fault):
            yield f"exit 0 with another output; {said.strip()}"
        if self.case.mend:
            yield from self.mended(done)
        if done.returncode and keeps and state(self.base / "out") != before:
            yield f"exit {done.returncode}, but the earlier output changed; {said.strip()}"
        if not keeps:
            shutil.rmtree(self.base / "out", ignore_errors=True)
            self.case.prepare(self.base)
            return
        # What a run could not remove, the next one does.
        left = self.leftovers()
        if left and fault.kind == "alloc" and fault.mode == "once":
            yield f"exit {done.returncode} left {left}"
        if left:
            again = self.run({"LD_PRELOAD": ""})
            if again.returncode or self.outcome(again) != self.want[0]:
                yield f"the next run: exit {again.returncode}, {again.stderr.decode()}"
            if self.leftovers():
                yield f"the next run left {self.leftovers()} of {left}"
        if left or not done.returncode:
            self.case.prepare(self.base)


def count(case, scratch):
    """Runs undisturbed: what is right, and of each kind of call where each comes from, in order."""
    bench = Bench(case, scratch / "count", None)
    report = bench.base / "tmp" / "sites"  # where a confined process may write
    done = bench.run({"NAI_FAULT_SITES": str(report)})
    if done.returncode:
        raise SystemExit(f"{case.name}: exit {done.returncode} undisturbed: {done.stderr.decode()}")
    sites = {kind: places for kind, *places in map(str.split, report.read_text().splitlines())}
    report.unlink()
    return (bench.outcome(done), bench.outcome(done, "map")), sites


def sample(case, fault, total, every):
    """Numbers of calls, spread evenly and always the same. Under sanitizers one, of every eighth fault, in each case of others: a release
    build tries the rest."""
    if support.SANITIZED and not every and (zlib.crc32(case.name.encode()) + FAULTS.index(fault)) % 8:
        return []
    if str(fault) in case.all:
        return range(1, total + 1)
    step = total * len(CALLS) // SAMPLES if fault.kind == "alloc" else total // 2
    step = every or max(1, total * 2 // 3 if case.few or support.SANITIZED else step)
    numbers = range(1 + (step * 7 // 11), total + 1, step) if step > 1 else range(1, total + 1)
    more = {"alloc once": range(max(1, total - case.last), total + 1), "alloc on": range(1, case.first + 1)}.get(str(fault), ())
    return sorted({*numbers, *more})


class Tried:
    """How often each fault has happened at each place, in all cases: two calls that come from the same place fail alike."""

    def __init__(self):
        self.places = {}

    def numbers(self, fault, sites):
        """A call from each place; of calls that are no allocations the first and the last."""
        places = self.places.setdefault(str(fault), {})
        wanted = 1 if fault.kind == "alloc" or fault.mode == "on" else 2
        numbers = {}
        for n, place in enumerate(sites, 1):
            numbers.setdefault(place, []).append(n)
        for place, all_of_it in numbers.items():
            left = wanted - places.get(place, 0)
            chosen = all_of_it[:1] + all_of_it[1:][-1:] if left == 2 else all_of_it[:left]
            places[place] = places.get(place, 0) + len(chosen)
            yield from chosen


def sweep(case, faults, scratch, tried, every, workers):
    want, sites = count(case, scratch)
    todo = [(fault, n) for fault in faults
            for n in (tried.numbers(fault, sites[fault.kind]) if tried else sample(case, fault, len(sites[fault.kind]), every))]

    def work(index):
        bench, found = Bench(case, scratch / f"bench{index}", want), []
        for number, (fault, n) in enumerate(todo[index::workers]):
            if sys.stderr.isatty() and not number % 100:
                print(f"{case.name}: {number * workers} of {len(todo)}", end="\r", file=sys.stderr, flush=True)
            for text in bench.complaints(fault, n):
                found.append(text)
                print(f"{case.name}: {fault}, number {n}: {text}", flush=True)
        return found

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        wrong = sum(len(found) for found in pool.map(work, range(workers)))
    print(f"{case.name}: {len(todo)} faults, {wrong} wrong", flush=True)
    return len(todo), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--case", action="append")
    parser.add_argument("--kind", action="append")
    parser.add_argument("--mode")
    parser.add_argument("--n", type=int)
    parser.add_argument("--errno")
    parser.add_argument("--every", type=int, help="every so many calls")
    parser.add_argument("--jobs", type=int, default=min(len(os.sched_getaffinity(0)), 8), help="so many at a time")
    args = parser.parse_args()
    if not LIBRARY or not os.path.exists(LIBRARY):
        print("no library of faults here")
        return 77
    error = getattr(errno, args.errno) if args.errno else None
    faults = [f for f in FAULTS if (not args.kind or f.kind in args.kind) and (not args.mode or f.mode == args.mode)
              and (not error or f.error == error)]
    total = wrong = 0
    tried = Tried() if args.full else None
    for case in cases():
        if args.case and case.name not in args.case:
            continue
        with tempfile.TemporaryDirectory(prefix="nsys-ai-faults-") as scratch:
            scratch = pathlib.Path(scratch)
            if args.n:
                want, _ = count(case, scratch)
                bench = Bench(case, scratch / "one", want)
                print(*(f"{fault} {args.n}: {text}\n" for fault in faults for text in bench.complaints(fault, args.n)))
                continue
            faults_here, wrong_here = sweep(case, faults, scratch, tried, args.every, args.jobs)
            total, wrong = total + faults_here, wrong + wrong_here
    print(f"{total} faults, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
