"""report.html in headless Chromium: the viewer's own tests on reports of real runs. See docs/viewer.md."""
import os
import shutil
import subprocess
import unittest

import support
from support import GENERATOR, SHARED, SOURCE, artifacts, fresh_dir, run, trace

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell")
PACKAGES = SOURCE / "templates" / "viewer" / "node_modules" / "playwright-core"


# What shows that a page works at all: it opens under its policy and without JavaScript, tells what the report tells, draws every event.
SMOKE = ("hold the same report|Content-Security-Policy|the policy stops|without JavaScript|shows verdict|adds up to the window|"
         "decodes every event|idle gaps lie")
# What can go right on the fixture and wrong on another page.
DATA = SMOKE + "|leads? to|every lane|statistics equal|its longest run|hold every range|iterations|durations of a name|are bars|fits a phone"
COMPARED = "every view opens|differences carry|without two timelines|both timelines begin|a click selects"


@support.unsanitized("the pages are the same bytes as those of the release build")
@unittest.skipUnless(CHROMIUM and shutil.which("node") and PACKAGES.exists(), "no Chromium, Node or playwright-core (npm)")
class Browser(unittest.TestCase):
    def check(self, *words, only=None):
        wanted = {"VIEWER_TEST": only} if only else {}
        done = subprocess.run(["node", *words], capture_output=True, text=True, check=False, timeout=1700,
                              env={**os.environ, "CHROMIUM": CHROMIUM, **wanted})
        failed = [line for line in done.stdout.splitlines() if not line.startswith("ok ")]
        self.assertEqual(done.returncode, 0, "\n".join(failed[-60:]) + done.stderr[-3000:])

    def test_a_report(self):
        self.check(SOURCE / "tests" / "viewer" / "run.mjs", artifacts(trace("hostile")) / "report.html", only=SMOKE)

    @support.tier("ci")
    def test_whole_report(self):
        """Everything on the fixture, and on a real trace what data may break."""
        reference = SHARED / "traces" / "fsdp_2gpu.sqlite"
        path = reference if reference.exists() else trace("training")
        self.check(SOURCE / "tests" / "viewer" / "run.mjs", artifacts(path) / "report.html", only=f"^fixture|^[^:]*$|{DATA}")

    @support.tier("ci")
    def test_evidence(self):
        """What counts functions of streams, accesses to files, samples, passes of a sequence, calls of MPI: pages that have them."""
        pages = [artifacts(trace(name)) / "report.html" for name in ("host-functions", "files", "launch-storm", "mpi-late")]
        pages += [artifacts(path) / "report.html" for path in (SHARED / "traces" / "real").glob("unified_memory.sqlite")]
        self.check(SOURCE / "tests" / "viewer" / "run.mjs", *pages, only="^(?!fixture).*evidence that counts")

    @support.tier("soak")
    def test_all_of_reports(self):
        for path in [trace("hostile"), *(SHARED / "traces").glob("fsdp_2gpu.sqlite")]:
            self.check(SOURCE / "tests" / "viewer" / "run.mjs", artifacts(path) / "report.html", only="^(?!fixture)")

    @support.tier("ci")
    def test_accessible(self):
        """axe-core and stops of Tab on pages with what the others lack: rows of the host, charts, 72 GPUs, pauses of a server."""
        pages = [artifacts(trace(name)) / "report.html" for name in ("evidence", "memory-growth", "many-gpus", "serving")]
        self.check(SOURCE / "tests" / "viewer" / "run.mjs", *pages, only="^(?!fixture).*(axe-core finds nothing in overview and timeline, light|six stops)")

    @support.tier("ci")
    def test_firefox(self):
        script = SOURCE / "tests" / "viewer" / "firefox.mjs"
        done = subprocess.run(["node", script, artifacts(trace("collectives")) / "report.html"], capture_output=True,
                              text=True, check=False, timeout=600)
        if done.returncode == 77:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr[-3000:])

    def compared(self, base, new):
        """compare.html of runs that keep their tables."""
        out = fresh_dir() / f"{base[0].parent.name}-{new[0].parent.name}"
        done = run("compare", "--base", *base, "--new", *new, "--out", out, "-q", "--allow", "same_content")
        self.assertEqual(done.returncode, 0, done.stderr)
        return out / "compare.html"

    @support.tier("ci")
    def test_comparisons(self):
        """With steps and several captures, with hostile names, a real trace, and a side whose events are gone."""
        loops = [artifacts(trace("loop", "--seed", s)) for s in (1, 2, 3)]
        waits = [artifacts(trace("loop-waits", "--seed", s)) for s in (11, 12, 13)]
        hostile = [artifacts(trace("hostile", "--seed", s)) for s in (1, 2)]
        gone = fresh_dir() / "gone"
        shutil.copytree(loops[0], gone)
        support.flip_table(gone, "kernel_events")
        other = [artifacts(trace("shapes"))]  # no work in common
        self.check(SOURCE / "tests" / "viewer" / "compare.mjs", self.compared(loops, waits))
        pages = [self.compared(loops[:1], other), self.compared(hostile[:1], hostile[1:]), self.compared([gone], loops[1:2])]
        reference = SHARED / "traces" / "fsdp_2gpu.sqlite"
        if reference.exists():
            pages.append(self.compared([artifacts(reference)], [artifacts(reference)]))
        self.check(SOURCE / "tests" / "viewer" / "compare.mjs", *pages, only=None if support.in_tier("soak") else COMPARED)

    @support.tier("ci")
    def test_many_runs(self):
        """index.html, trend.html and ranks.html: digests that fit, phones, the keyboard."""
        out = fresh_dir()
        for words in (("series", out / "nights", "--nights", 9, "--failed", 3), ("ranks", out / "ranks")):
            self.assertEqual(run(*words, program=GENERATOR).returncode, 0)
        self.assertEqual(run("batch", out / "nights", "--out", out / "batch", "-q").returncode, 4)
        for night in sorted((out / "batch" / "items").iterdir()):
            self.assertEqual(run("store", "add", night, "--store", out / "store", "--series", "demo").returncode, 0)
        self.assertEqual(run("store", "index", "--store", out / "store", "-q").returncode, 0)
        self.assertEqual(run("trend", "--store", out / "store", "--out", out / "trend").returncode, 0)
        self.assertEqual(run("batch", out / "ranks", "--out", out / "each", "-q").returncode, 0)
        self.assertEqual(run("ranks", *sorted((out / "each" / "items").iterdir()), "--out", out / "job").returncode, 0)
        self.assertEqual(run("trend", "--all", "--store", out / "store", "--out", out / "fleet").returncode, 0)
        self.check(SOURCE / "tests" / "viewer" / "many.mjs", out / "fleet" / "fleet.html", out / "batch" / "index.html", out / "store" / "index.html",
                   out / "trend" / "trend.html", out / "job" / "ranks.html")

    @support.tier("ci")
    def test_bundle_is_current(self):
        self.check(SOURCE / "tests" / "viewer" / "bundle.mjs")


if __name__ == "__main__":
    support.main()
