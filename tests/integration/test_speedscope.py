"""Timelines and stacks opened in speedscope itself, in headless Chromium: it says so on its console when slices do not nest."""
import json
import os
import shutil
import subprocess
import unittest

import support
import test_timelines
from support import SHARED, SOURCE, artifacts, fresh_dir, run, trace

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell")
PACKAGES = (SOURCE / "tests" / "readers" / "node_modules" / "speedscope", SOURCE / "templates" / "viewer" / "node_modules" / "playwright-core")


@support.unsanitized("the files are the same bytes as those of the release build")
@unittest.skipUnless(CHROMIUM and shutil.which("node") and all(p.exists() for p in PACKAGES), "no Chromium, Node, speedscope or playwright-core (npm)")
class Speedscope(unittest.TestCase):
    def open(self, *files):
        done = subprocess.run(["node", SOURCE / "tests" / "readers" / "speedscope.mjs", *files], capture_output=True, text=True, check=False,
                              timeout=300, env={**os.environ, "CHROMIUM": CHROMIUM})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_exports(self):
        out, files = fresh_dir(), []
        reference = SHARED / "traces" / "fsdp_2gpu.sqlite"
        paths = [trace("nvtx-mix"), trace("hostile"), test_timelines.overlapping()] + ([reference] if reference.exists() else [trace("training")])
        for i, path in enumerate(paths):
            for format, suffix in (("chrome", "json"), ("speedscope", "speedscope.json"), ("folded", "txt")):
                files.append(out / f"{i}.{suffix}")
                self.assertEqual(run("export", format, artifacts(path), "--out", files[-1]).returncode, 0)
        for found in self.open(*files):
            self.assertEqual(found["problems"], [], found)
            self.assertIn("speedscope", found["title"])

    def test_it_would_tell(self):
        """A file in which two slices cross is refused: no silence without a reason."""
        file = json.loads(run("export", "speedscope", artifacts(trace("training"))).stdout)
        events, inner = next((p["events"], i) for p in file["profiles"][1:] for i in range(1, len(p["events"]))
                             if p["events"][i - 1]["type"] == p["events"][i]["type"] == "C" and p["events"][i - 1]["frame"] != p["events"][i]["frame"])
        events[inner - 1]["frame"], events[inner]["frame"] = events[inner]["frame"], events[inner - 1]["frame"]
        bad = fresh_dir() / "bad.speedscope.json"
        bad.write_text(json.dumps(file))
        self.assertTrue(self.open(bad)[0]["problems"])


if __name__ == "__main__":
    support.main()
