"""Shell completions: scripts that are valid, and that offer what can be typed."""
import os
import pathlib
import shutil
import subprocess
import unittest

import support
from support import SOURCE, fresh_dir, run

PROGRAMS = {"nsys-ai": support.PROGRAM, "nsys-ai-gen": support.GENERATOR}


def script(program, shell):
    file = fresh_dir() / f"{program}.{shell}"
    file.write_text(run("completions", shell, program=PROGRAMS[program]).stdout)
    return file


class Scripts(unittest.TestCase):
    def test_syntax(self):
        for shell in ("bash", "zsh", "fish"):
            for program in PROGRAMS:
                file = script(program, shell)
                self.assertIn(program, file.read_text())
                if shutil.which(shell):
                    done = subprocess.run([shell, "-n", file], capture_output=True, text=True, check=False)
                    self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), file.name)


@unittest.skipUnless(shutil.which("bash"), "no bash")
class Bash(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = fresh_dir()
        for name in ("one.sqlite", "two.nsys-rep", "notes.txt", "map.yaml", "with space.sqlite"):
            (cls.place / name).touch()
        (cls.place / "runs").mkdir()

    def offers(self, *words, program="nsys-ai"):
        """What bash would offer for the last of the words."""
        text = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                f'_{program.replace("-", "_")}_complete; printf "%s\\n" "${{COMPREPLY[@]}}"')
        done = subprocess.run(["bash", "-c", text, "bash", script(program, "bash"), PROGRAMS[program], *words], capture_output=True, text=True,
                              check=True, cwd=self.place)
        self.assertEqual(done.stderr, "")
        return [line for line in done.stdout.splitlines() if line]

    def test_is_registered(self):
        done = subprocess.run(["bash", "-c", 'source "$1"; complete -p nsys-ai', "bash", script("nsys-ai", "bash")], capture_output=True, text=True,
                              check=True)
        self.assertIn("_nsys_ai_complete", done.stdout)

    def test_commands(self):
        self.assertEqual(self.offers("an"), ["analyze"])
        self.assertEqual(self.offers("help", "pr"), ["probe"])
        self.assertTrue({"analyze", "probe", "table", "rules", "completions", "help", "one.sqlite", "two.nsys-rep"} <= set(self.offers("")))

    def test_options(self):
        self.assertEqual(self.offers("analyze", "--ph"), ["--phase-map"])
        self.assertIn("--help", self.offers("probe", "--"))
        self.assertEqual(self.offers("--ph"), ["--phase-map"])  # analyze need not be named
        self.assertNotIn("--phase-map", self.offers("probe", "--"))
        self.assertEqual(self.offers("analyze", "--", "--ph"), [])

    def test_values(self):
        self.assertEqual(self.offers("analyze", "--stage", ""), ["probe", "extract", "analyze", "skills", "recommend", "timeline", "render"])
        self.assertEqual(self.offers("analyze", "--stage", "=", "re"), ["recommend", "render"])
        self.assertEqual(self.offers("analyze", "--fail-on", "h"), ["high"])
        self.assertEqual(self.offers("analyze", "-q", "x.sqlite", "--reader", ""), ["auto", "sqlite", "direct"])
        maps = {p.stem for p in (SOURCE / "phase-maps").glob("*.yaml")}
        self.assertEqual(set(self.offers("analyze", "--phase-map", "")), maps | {"map.yaml", "runs"})
        self.assertEqual(self.offers("rules", "explain", "idle-hos"), ["idle-host-code"])
        self.assertEqual(self.offers("rules", "e"), ["explain"])
        self.assertEqual(self.offers("completions", ""), ["bash", "zsh", "fish"])

    def test_files(self):
        self.assertEqual(set(self.offers("analyze", "")), {"one.sqlite", "with space.sqlite", "two.nsys-rep", "runs"})
        self.assertEqual(self.offers("analyze", "with"), ["with space.sqlite"])
        self.assertEqual(self.offers("analyze", "--trim", "1", "2", "on"), ["one.sqlite"])  # an option of two values
        self.assertEqual(self.offers("analyze", "--trim", "1", ""), [])
        self.assertEqual(self.offers("analyze", "--out", ""), ["runs"])
        self.assertEqual(self.offers("rules", "check", ""), ["map.yaml", "runs"])
        self.assertEqual(self.offers("analyze", "one.sqlite", ""), [])  # one trace is all it takes

    def test_words_of_a_run(self):
        """Names of the run that is named on the line, of skills, pages and rules."""
        place = str(support.artifacts(support.trace("training")))
        tables = {name for p in pathlib.Path(place, "stages").glob("*.ntab") for name in support.tables_in(p.read_bytes()) or [p.stem]}
        self.assertEqual(set(self.offers("table", place, "")), tables)
        self.assertEqual(self.offers("table", place, "kernel_sh"), ["kernel_shape"])
        self.assertIn("kernels", self.offers("table", "one.sqlite", "ker"))  # a trace is not looked at
        skills = {p.stem for p in (SOURCE / "skills").glob("*.yaml")}
        self.assertEqual(set(self.offers("skill", "run", "")), skills)
        self.assertEqual(self.offers("skill", "run", "streams", "on"), ["one.sqlite"])
        self.assertEqual(set(self.offers("skill", "check", "")), {"map.yaml", "runs"})
        self.assertEqual(set(self.offers("rules", "explain", "")), {p.stem for p in (SOURCE / "docs/root-causes").glob("*.md")})
        self.assertEqual(self.offers("explain", place, "idle-hos"), ["idle-host-code"])
        self.assertEqual(self.offers("explain", place, "gpu_util"), ["gpu_utilization"])
        self.assertLessEqual({"list", "window", "summary"}, set(self.offers("page", "")))

    def test_generator(self):
        self.assertEqual(self.offers("inf", program="nsys-ai-gen"), ["inference"])
        self.assertEqual(self.offers("minimal", "x.sqlite", "--schema", "202", program="nsys-ai-gen"), ["2021", "2024", "2026"])

    def test_nothing_breaks_it(self):
        for words in (("--frob", ""), ("analyze", "--frob=", ""), ("-Z", ""), ("analyze", "--out"), ("help", ""), ("a" * 5000,), ("rules", "frob", "x", "")):
            self.offers(*words)


@support.tier("ci")
@unittest.skipUnless(shutil.which("zsh"), "no zsh")
class Zsh(unittest.TestCase):
    def offers(self, *words):
        """What the function hands to zsh's own, which stand-ins print."""
        text = ('compdef() { }; _describe() { print -rl -- ${(P)4} }; _files() { print -r -- FILES "$@" }; '
                'source $1; shift; words=("$@"); CURRENT=$#; _nsys_ai_complete')
        done = subprocess.run(["zsh", "-f", "-c", text, "zsh", script("nsys-ai", "zsh"), support.PROGRAM, *words], capture_output=True, text=True,
                              check=False, cwd=fresh_dir())
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def test_offers(self):
        self.assertEqual([line.split(":")[0] for line in self.offers("ana") if not line.startswith("FILES ")], ["analyze"])
        self.assertEqual([line.rstrip(":") for line in self.offers("analyze", "--fail-on", "hi")], ["high"])
        self.assertEqual(self.offers("analyze", ""), ["FILES -g *.(sqlite|nsys-rep|sqlite.gz|sqlite.zst)"])
        self.assertEqual(self.offers("analyze", "--out", ""), ["FILES -/"])
        self.assertEqual(self.offers("rules", "explain", "gpu-im"), ["gpu-imbalance:"])


@support.tier("ci")
@unittest.skipUnless(shutil.which("fish"), "no fish")
class Fish(unittest.TestCase):
    def test_offers(self):
        place = fresh_dir()
        (place / "one.sqlite").touch()
        bin_ = fresh_dir()
        os.symlink(support.PROGRAM, bin_ / "nsys-ai")

        def offers(line):
            done = subprocess.run(["fish", "--no-config", "-c", f"source {script('nsys-ai', 'fish')}; complete -C '{line}'"], capture_output=True,
                                  text=True, check=True, cwd=place, env={**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}", "HOME": str(place)})
            return [text.split("\t")[0] for text in done.stdout.splitlines()]
        self.assertEqual(offers("nsys-ai ana"), ["analyze"])
        self.assertEqual(offers("nsys-ai analyze --fail-on hi"), ["high"])
        self.assertIn("one.sqlite", offers("nsys-ai analyze "))


if __name__ == "__main__":
    support.main()
