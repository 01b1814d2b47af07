"""README.md: every command in it works, every link leads somewhere."""
import os
import re
import subprocess
import unittest

import support
from support import SOURCE, fresh_dir, trace

TEXT = (SOURCE / "README.md").read_text(encoding="utf-8")
ELSEWHERE = ("nsys export ", "claude ", "scripts/", "cmake ", "sudo ", "curl ", "pip ")  # needs what is not here; test_build, test_release


def commands():
    return [line.strip() for line in TEXT.splitlines() if line.startswith("    ")]


class Readme(unittest.TestCase):
    def test_every_command_works(self):
        place, programs = fresh_dir("readme"), fresh_dir("bin")
        for name, path in (("nsys-ai", support.PROGRAM), ("nsys-ai-gen", support.GENERATOR)):
            os.symlink(path, programs / name)
        (place / "traces").mkdir()
        (place / "trace.sqlite").write_bytes(trace("host-bound").read_bytes())
        (place / "trace.nsys-rep").touch()
        (programs / "nsys").write_text(f'#!/bin/sh\nfor word; do [ "$before" != --output ] || cp {place}/trace.sqlite "$word"; before=$word; done\n')
        (programs / "nsys").chmod(0o755)
        (place / "traces/other.sqlite").write_bytes(trace("host-bound", "--seed", "2").read_bytes())
        subprocess.run([support.GENERATOR, "ranks", place / "job", "--ranks", "2"], check=True, capture_output=True)
        for rank in ("rank0.sqlite", "rank1.sqlite"):
            (place / "job" / rank).rename(place / rank)
        for name, at in (("trace.sqlite", "before"), ("traces/other.sqlite", "after")):
            self.assertEqual(support.run("analyze", place / name, "-q", "--out", place / "artifacts" / at).returncode, 0)
        env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "TERM": "dumb"}
        tried = [command for command in commands() if not command.startswith(ELSEWHERE)]
        for command in tried:
            with self.subTest(command):
                done = subprocess.run(["bash", "-c", command], cwd=place, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(len(tried), 9)
        for made in ("artifacts/run1/report.html", "artifacts/run1/report.md", "diff/compare.html", "artifacts/night/index.html", "artifacts/ranks/ranks.html", "trend/trend.html", "run1.pftrace"):
            self.assertTrue((place / made).stat().st_size, made)

    def test_links_lead_somewhere(self):
        for page in [SOURCE / "README.md", *(SOURCE / "docs").glob("*.md")]:
            text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                path, _, anchor = target.partition("#")
                if "://" in target or target.startswith("mailto:"):
                    continue
                file = page.parent / path if path else page
                self.assertTrue(file.exists(), f"{page.name}: {target}")
                if anchor and file.suffix == ".md":
                    heads = [re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.M)]
                    self.assertIn(anchor, heads, f"{page.name}: {target}")


if __name__ == "__main__":
    support.main()
