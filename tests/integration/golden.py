"""Golden outputs: what is kept of each scenario, how it is made (`golden.py update` writes golden/ anew)."""
import csv
import hashlib
import json
import shutil
import sys

import support
from support import SOURCE, fresh_dir, run, trace, tree

GOLDEN = SOURCE / "golden"
# Metrics of all scenarios at the last release: `golden.py release` writes them.
RELEASED = GOLDEN / "released-metrics.csv"
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
# Of a longer table the first lines, and a hash of all.
MAX_LINES = 60


def table_text(name, content):
    """A table with its first lines; nothing of one without rows."""
    lines = content.decode("utf-8", "replace").replace("\r", "").splitlines()
    if len(lines) < 2:
        return ""
    more = [f"... {len(lines) - MAX_LINES} more lines; sha256 of all: {hashlib.sha256(content).hexdigest()}"] if len(lines) > MAX_LINES else []
    return "\n".join([f"# {name}", *lines[:MAX_LINES], *more, "", ""])


def tables_text(files):
    """What report.json says beside its tables, which are those of the CSVs (integration.json), and every table that has rows."""
    report = json.loads(files["report.json"])
    del report["tables"]
    text = "# report.json\n" + json.dumps(report, indent=1, ensure_ascii=False) + "\n\n"
    return text + "".join(table_text(name.removeprefix("tables/").removesuffix(".csv"), files[name]) for name in sorted(files) if name.startswith("tables/") and name != "tables/index.csv")


def metrics():
    """{(scenario, metric, basis): (definition, value)} of golden/."""
    found = {}
    for scenario in sorted(CASES):
        text = (GOLDEN / scenario / "tables.txt").read_text(encoding="utf-8").partition("\n# metrics\n")[2].partition("\n\n")[0]
        for row in csv.DictReader(line for line in text.splitlines() if not line.startswith("... ")):
            found[scenario, row["metric"], row["basis"]] = (row["definition"], row["value"])
    return found


def released():
    """The same of the last release."""
    with RELEASED.open(encoding="utf-8", newline="") as rows:
        return {(row["scenario"], row["metric"], row["basis"]): (row["definition"], row["value"]) for row in csv.DictReader(rows)}


def redefined(then, now):
    """A line for each metric that has another value than then and the same definition."""
    return [f"{metric} ({basis}) of golden/{scenario} was {then[key][1]} at the last release and is {now[key][1]}"
            for key in sorted(then.keys() & now.keys()) for scenario, metric, basis in [key]
            if then[key][0] == now[key][0] and then[key][1] != now[key][1]]


def make(scenario):
    """Files of one scenario's golden directory: name to bytes."""
    generator_options, options = CASES[scenario]
    base = fresh_dir("golden")
    path = trace(scenario, *generator_options)
    shutil.copy(path, base)  # so that the path that is printed is the same everywhere
    done = run("analyze", path.name, "--out", "run", "--all-csv", *options, cwd=base)
    if done.returncode:
        raise RuntimeError(f"{scenario}: exit {done.returncode}: {done.stderr}")
    shown = [done.stdout, "# stderr\n" + done.stderr if done.stderr else ""]
    for width in WIDTHS if scenario in VIEWS else ():
        view = run("view", base / "run", "--once", "--width", width, env={"LC_ALL": "C.UTF-8"})
        shown.append(f"# view --once --width {width}\n{view.stdout}{view.stderr}")
    # The page's script and style change without the report: report.html is tested in a browser, not here.
    files = tree(base / "run")
    return {"report.md": files["report.md"], "tables.txt": tables_text(files).encode(), "stdout": "\n".join(filter(None, shown)).encode()}


def update():
    for old in GOLDEN.iterdir() if GOLDEN.exists() else []:
        if old.is_dir():
            shutil.rmtree(old)
    for scenario in CASES:
        for name, content in make(scenario).items():
            path = GOLDEN / scenario / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def release():
    with RELEASED.open("w", encoding="utf-8", newline="") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(("scenario", "metric", "basis", "definition", "value"))
        rows.writerows((*key, *value) for key, value in sorted(metrics().items()))


if __name__ == "__main__":
    if sys.argv[1:] not in (["update"], ["release"]):
        sys.exit("usage: golden.py update|release")
    update() if sys.argv[1] == "update" else release()
