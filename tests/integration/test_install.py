"""cmake --install: everything where GNUInstallDirs says, and a program that needs none of it."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import support
from support import artifacts, fresh_dir, run, trace, tree

BUILD = str(support.BUILD)


@unittest.skipUnless(shutil.which("cmake"), "no cmake")
class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prefix = fresh_dir("prefix")
        done = subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def only(self, pattern):
        found = list(self.prefix.glob(pattern))
        self.assertEqual(len(found), 1, f"{pattern}: {found}")
        return found[0]

    def test_places(self):
        for pattern in ("bin/nsys-ai", "bin/nsys-ai-gen", "share/man/man1/nsys-ai.1*", "share/man/man1/nsys-ai-gen.1*", "share/man/man5/nsys-ai-rules.5*",
                        "share/bash-completion/completions/nsys-ai", "share/bash-completion/completions/nsys-ai-gen",
                        "share/zsh/site-functions/_nsys-ai", "share/fish/vendor_completions.d/nsys-ai.fish",
                        "share/nsys-ai/rules/default.yaml",
                        "share/nsys-ai/rules/kernel-classes.rules", "share/nsys-ai/phase-maps/vllm.yaml",
                        "share/nsys-ai/templates/report.md.mustache", "share/nsys-ai/templates/report.html",
                        "share/doc/nsys-ai/LICENSE", "share/doc/nsys-ai/README.md", "share/doc/nsys-ai/docs/report.schema.json",
                        "share/doc/nsys-ai/docs/root-causes/idle-host-code.md"):
            self.only(pattern)
        files = [str(p.relative_to(self.prefix)) for p in self.prefix.rglob("*") if p.is_file()]
        self.assertEqual([f for f in files if "node_modules" in f or f.endswith((".mjs", ".a", ".h", "package.json"))], [])
        self.assertTrue(all(f.startswith(("bin/", "share/")) for f in files), files)

    def test_runs_from_anywhere(self):
        """With nothing of the source or build tree in sight: rules, templates and viewer are inside the program."""
        alone = fresh_dir()
        program = shutil.copy(self.only("bin/nsys-ai"), alone / "program")
        done = run("analyze", trace("training"), "-q", "--out", alone / "out", program=program, cwd="/")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(tree(alone / "out"), tree(artifacts(trace("training"))))
        generator = self.only("bin/nsys-ai-gen")
        self.assertEqual(run("training", alone / "t.sqlite", program=generator, cwd="/").returncode, 0)
        self.assertEqual((alone / "t.sqlite").read_bytes(), trace("training").read_bytes())

    def test_data_is_what_is_built_in(self):
        """The installed files are good starting points for one's own: they mean the same."""
        data = pathlib.Path(self.only("share/nsys-ai"))
        done = run("analyze", trace("inference"), "-q", "--out", out := fresh_dir() / "o", "--rules", data / "rules" / "default.yaml",
                   "--templates", data / "templates", "--phase-map", data / "phase-maps" / "inference.yaml")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        want = artifacts(trace("inference"), "--phase-map", "inference")
        for name in ("report.md", "report.json"):
            self.assertEqual((out / name).read_bytes(), (want / name).read_bytes(), name)

    def test_what_is_printed_is_current(self):
        for program, path in (("nsys-ai", support.PROGRAM), ("nsys-ai-gen", support.GENERATOR)):
            for place, words in ((f"man/man1/{program}.1", ("--man",)),
                                 (f"bash-completion/completions/{program}", ("completions", "bash")),
                                 (f"zsh/site-functions/_{program}", ("completions", "zsh")),
                                 (f"fish/vendor_completions.d/{program}.fish", ("completions", "fish"))):
                self.assertEqual(self.only(f"share/{place}").read_text(), run(*words, program=path).stdout)

    def test_a_man_page_for_each_command_and_format(self):
        commands = {line.split()[0] for line in run("--help").stdout.split("\nCommands:\n")[1].split("\n\n")[0].splitlines()}
        pages = {p.name for p in (self.prefix / "share/man/man1").iterdir()}
        self.assertEqual(pages, {"nsys-ai.1", "nsys-ai-gen.1"} | {f"nsys-ai-{c}.1" for c in commands})
        formats = {p.name for p in (self.prefix / "share/man/man5").iterdir()}
        self.assertEqual(formats, {f"nsys-ai-{p.stem.removeprefix('writing-')}.5" for p in (support.SOURCE / "docs").glob("writing-*.md")})

    @unittest.skipUnless(shutil.which("man"), "no man")
    def test_man_has_nothing_to_warn_of(self):
        for page in sorted((self.prefix / "share/man").glob("man?/*")):
            done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", page], capture_output=True, text=True, check=False,
                                  env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)
            self.assertIn("DESCRIPTION", re.sub(".\b", "", done.stdout), page)

    def test_every_option_is_in_its_page(self):
        for page in (self.prefix / "share/man/man1").glob("nsys-ai-*.1"):
            command = page.stem.removeprefix("nsys-ai-")
            if command == "gen":
                continue
            shown = set(re.findall(r"^  (?:-\w, |    )--([a-z-]+)", run(command, "--help").stdout, re.M))
            text = page.read_text().replace("\\-", "-")
            self.assertEqual({o for o in shown if f"--{o}" not in text}, set(), command)


if __name__ == "__main__":
    support.main()
