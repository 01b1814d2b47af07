"""Golden outputs: what is kept of each scenario, how it is made (`golden.py update` writes golden/ anew)."""
import hashlib
import shutil
import sys

import support
from support import SOURCE, fresh_dir, run, trace, tree

GOLDEN = SOURCE / "golden"
# Small amounts of work: the files are read by people. Options of the generator, then of analyze.
CASES = {
    "inference": (("--scale", "0.05"), ("--phase-map", "inference")),
    "training": (("--scale", "0.25"), ("--phase-map", "pytorch-ddp")),
    "copy-bound": (("--scale", "0.2"), ()),
    "host-bound": (("--scale", "0.3"), ()),
    "graphs": (("--scale", "0.2"), ()),
    "graphs-node": (("--scale", "0.2"), ()),
    "shared-gpu": (("--scale", "0.2"), ()),
    "shared-gpu-mapped": (("--scale", "0.2"), ()),
    "nvtx-mix": (("--scale", "0.2"), ()),
    "hostile": ((), ("--top", "40")),
    "hostile-values": ((), ()),
    "empty": ((), ()),
    "minimal": (("--scale", "0.2"), ()),
    "no-nvtx": (("--scale", "0.2"), ()),
    "healthy": (("--scale", "0.2"), ()),
    "neglected": (("--scale", "0.2"), ()),
    "bench": (("--size", "300K"), ()),
}
# What `view --once` prints of these, at each width.
VIEWS, WIDTHS = ("host-bound", "graphs", "empty", "hostile"), (60, 100, 200)
# A larger file is represented by its hash: it repeats what the smaller ones show.
MAX_BYTES = 16 * 1024


def make(scenario):
    """Files of one scenario's golden directory: name to bytes."""
    generator_options, options = CASES[scenario]
    base = fresh_dir("golden")
    path = trace(scenario, *generator_options)
    shutil.copy(path, base)  # so that the path that is printed is the same everywhere
    done = run("analyze", path.name, "--out", "run", *options, cwd=base)
    if done.returncode:
        raise RuntimeError(f"{scenario}: exit {done.returncode}: {done.stderr}")
    files = {"stdout": done.stdout.encode(), "stderr": done.stderr.encode()}
    digests = []
    for name, content in tree(base / "run").items():
        if name.startswith("stages/"):
            continue
        if name == "report.html" or (len(content) > MAX_BYTES and name != "report.md"):
            digests.append(f"{hashlib.sha256(content).hexdigest()}  {name}\n")
        else:
            files[name] = content
    for width in WIDTHS if scenario in VIEWS else ():
        shown = run("view", base / "run", "--once", "--width", width, env={"LC_ALL": "C.UTF-8"})
        files[f"view-{width}.txt"] = shown.stdout.encode() + shown.stderr.encode()
    # The page's script and style change without the report: report.html is tested in a browser, not here.
    files["sha256"] = "".join(line for line in digests if "report.html" not in line).encode()
    return files


def update():
    for old in GOLDEN.iterdir() if GOLDEN.exists() else []:
        if old.is_dir():
            shutil.rmtree(old)
    for scenario in CASES:
        for name, content in make(scenario).items():
            path = GOLDEN / scenario / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


if __name__ == "__main__":
    if sys.argv[1:] != ["update"]:
        sys.exit("usage: golden.py update")
    update()
