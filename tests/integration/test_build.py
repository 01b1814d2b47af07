"""Builds from what the repository holds and nothing beside it, and what a build is like."""
import os
import re
import shutil
import subprocess
import unittest

import support
from support import SOURCE, artifacts, fresh_dir, run, trace, tree

BUILD = support.BUILD


def copy_of_source(place):
    """The tree as it is now, of what git tracks or would, so that a change is tested before it is committed; without git, all but what
    builds leave."""
    if shutil.which("git") and (SOURCE / ".git").exists():
        names = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True,
                               check=True).stdout
        place.mkdir(parents=True)
        packed = subprocess.run(["tar", "-C", SOURCE, "--null", "--ignore-failed-read", "-T", "-", "-cf", "-"], input=names, check=True,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        subprocess.run(["tar", "-C", place, "-xf", "-"], input=packed, check=True)
    else:
        shutil.copytree(SOURCE, place, symlinks=True, ignore=shutil.ignore_patterns("build*", "artifacts", "node_modules", ".git"))
    return place


def build(source, place, options=(), target="all", env=None):
    """Configures and builds without optimisation, which takes a third of the time; what it printed, without CMake's own."""
    generator = [] if shutil.which("make") else ["-G", "Ninja"]
    env = {**{k: v for k, v in os.environ.items() if k not in ("CFLAGS", "LDFLAGS")}, **(env or {})}
    for words in (["cmake", "-S", source, "-B", place, *generator, "-DCMAKE_C_FLAGS_RELEASE=-O0", *options],
                  ["cmake", "--build", place, "-j", "2", "--target", target]):
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
        if done.returncode:
            raise AssertionError((done.stdout + done.stderr)[-3000:])
    return done.stdout + done.stderr


@support.tier("soak")
@support.unsanitized("once is enough")
class Plain(unittest.TestCase):
    """What somebody does who knows cmake and not this repository: no preset, no option, the compiler that is there; of the files alone,
    with nothing beside them, in a directory with a blank."""

    @classmethod
    def setUpClass(cls):
        compiler = "gcc" if "clang" in run("--version").stdout else "clang"  # the one that did not make the program which is tested
        if not shutil.which(compiler):
            raise unittest.SkipTest(f"no {compiler}")
        cls.place = fresh_dir("plain")
        cls.source = copy_of_source(cls.place / "deep" / "source of it")
        cls.env = {"CC": compiler}
        cls.said = build(cls.source, cls.place / "build", env=cls.env)
        cls.program = shutil.copy(cls.place / "build" / "nsys-ai", cls.place / "nsys-ai")

    def analyze(self, program, *options):
        out = fresh_dir() / "o"
        done = run("analyze", trace("training"), "-q", "--out", out, *options, program=program)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return out

    def no_warnings(self, said):
        self.assertEqual([line for line in said.splitlines() if "warning:" in line][:5], [])

    def test_other_compiler(self):
        self.no_warnings(self.said)
        self.assertNotIn("-Werror", (self.place / "build" / "compile_commands.json").read_text())
        # Not a byte that anybody is shown depends on the compiler; stages say which program made them.
        shown = lambda files: {name: content for name, content in files.items() if not name.startswith("stages/")}
        self.assertEqual(shown(tree(self.analyze(self.program))), shown(tree(artifacts(trace("training")))))

    def test_example_analysis(self):
        """What docs/adding-an-analysis.md tells people to begin with: two files, one line, and its table comes out as it says."""
        text = (SOURCE / "docs" / "adding-an-analysis.md").read_text()
        example = re.search(r"```c\n(/\* How is kernel time.*?)```", text, re.S).group(1)
        table = re.search(r"```c\n(#pragma once.*?)```", text, re.S).group(1)
        line, after = re.search(r"```diff\n\+(.*?)\n (.*?)\n```", text).groups()
        rule = re.search(r"```yaml\n(rules:.*?)```", text, re.S).group(1)
        shown = re.search(r"```\n(device_id,.*?)```", text, re.S).group(1)
        (self.source / "src" / "tables" / "streams.h").write_text(table)
        (self.source / "src" / "analyses" / "streams.c").write_text(example)
        registry = self.source / "src" / "analyses" / "registry.c"
        self.assertEqual(registry.read_text().count(after + "\n"), 1)
        registry.write_text(registry.read_text().replace(after + "\n", f"{line}\n{after}\n"))
        self.no_warnings(build(self.source, self.place / "build", target="nsys-ai", env=self.env))
        rules = self.place / "one-stream.yaml"
        rules.write_text(rule)
        out = self.analyze(self.place / "build" / "nsys-ai", "--rules", rules)
        self.assertEqual((out / "tables" / "streams.csv").read_text().replace("\r", ""), shown)


@support.unsanitized("once is enough")
@unittest.skipUnless(shutil.which("readelf"), "no readelf")
class Binary(unittest.TestCase):
    def test_build_id(self):
        """Every program tells its own build by the hash the linker gave it."""
        for program in (support.PROGRAM, support.GENERATOR):
            notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
            self.assertRegex(notes, r"Build ID: [0-9a-f]{40}")

    @unittest.skipUnless("NAI_HARDEN:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text(), "not hardened")
    def test_hardened(self):
        """Position-independent, read-only relocations bound at the start, no executable stack, checked stacks and copies; of our own
        objects each is marked for control-flow protection, where the compiler has it, so that the program is where the C library is."""
        def readelf(*words):
            return subprocess.run(["readelf", "-W", *words], capture_output=True, text=True, check=True).stdout

        for program in (support.PROGRAM, support.GENERATOR):
            self.assertRegex(readelf("-h", program), r"Type: +DYN")
            self.assertRegex(readelf("-l", program), r"GNU_RELRO")
            self.assertRegex(readelf("-l", program), r"GNU_STACK.* RW +0x")
            self.assertRegex(readelf("-d", program), r"FLAGS_1.*NOW.*PIE")
            symbols = readelf("-s", program)
            for name in ("__stack_chk_fail", "__memcpy_chk", "__snprintf_chk"):
                self.assertIn(name, symbols)
        objects = [path for path in BUILD.rglob("*.o") if "/tests/" not in str(path)]
        self.assertGreater(len(objects), 400)
        unmarked = [path.name for path in objects if "IBT, SHSTK" not in readelf("-n", path)]
        self.assertIn(len(unmarked), (0, len(objects)), unmarked)


@support.unsanitized("once is enough")
class Layers(unittest.TestCase):
    """scripts/lint-layers on small trees, each with one mistake."""

    def lint(self, files, replace=("", ""), objects=()):
        root = fresh_dir("layers")
        shutil.copy(SOURCE / "CMakeLists.txt", root)
        text = (root / "CMakeLists.txt").read_text()
        self.assertIn(replace[0], text)
        (root / "CMakeLists.txt").write_text(text.replace(*replace))
        for name, content in files.items():
            (root / "src" / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "src" / name).write_text(content)
        for name in objects:
            made = root / "build" / "CMakeFiles" / "nai_cli.dir" / "src" / f"{name}.o"
            made.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cc", "-c", f"-I{root / 'src'}", "-o", made, root / "src" / name], check=True)
        build = ["--build", root / "build"] if objects else []
        done = subprocess.run([SOURCE / "scripts" / "lint-layers", root, *build], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def test_mistakes(self):
        header = "/* Parts.\n * Internal to\n * src/base. */\n#include <xxhash.h>\n#include <zlib.h>\n"
        cli = ("nai_library(cli nai_base", "nai_library(cli nai_base PkgConfig::ZLIB")
        node = "".join(f'#include "{layer}/{layer}.h"\n' for layer in ("base", "table", "tables", "config", "model")) + "NAI_ANALYSIS(a)\n"
        for files, replace, wanted in (
                ({"base/a.c": '#include <xxhash.h>\n#include <zlib.h>\n#include "table/table.h"\n'}, ("", ""), "src/base must not include src/table"),
                ({"base/a.c": '#include <xxhash.h>\n#include <zlib.h>\n#include "err.h"\n', "base/err.h": ""}, ("", ""), "write DIRECTORY/err.h"),
                ({"cli/a.c": '#include "base/err.h"\n#include <yaml.h>\n'}, ("", ""), "<yaml.h> needs PkgConfig::YAML, which src/cli does not link"),
                ({"cli/a.c": '#include "base/internal.h"\n', "base/internal.h": header}, ("", ""), "is internal to src/base"),
                ({"cli/a.c": '#include "base/err.h"\n'}, cli, "src/cli links PkgConfig::ZLIB and includes nothing of it"),
                ({"cli/a.c": ""}, ("", ""), "src/cli links base and includes nothing of it"),
                ({"attic/a.c": ""}, ("", ""), "attic: CMakeLists.txt does not build it"),
                ({"analyses/one/a.c": node + '#include "analyses/other/b.h"\n'}, ("", ""), "is for src/analyses/other only"),
                ({"analyses/one/a.c": node + "int nai_helper(int a) {\n"}, ("", ""), "nai_helper must be static"),
                ({"base/a.c": "#include <xxhash.h>\n#include <zlib.h>\n",
                  "../tests/gen/a.c": '#include "base/err.h"\n#include "cli/cli.h"\n#include <jansson.h>\n#include <sqlite3.h>\n#include "table/table.h"\n'},
                 ("", ""), "tests/gen must not include src/table")):
            status, text = self.lint(files, replace)
            self.assertEqual(status, 1, wanted)
            self.assertEqual(text.count("\n"), 1, text)
            self.assertIn(wanted, text)
        self.assertEqual(self.lint({"base/internal.h": header, "base/a.c": '#include "base/internal.h"\n'})[0], 0)
        own = {"analyses/one/a.c": node + '#include "analyses/one/b.h"\n', "analyses/one/b.c": "int nai_helper(int a) {\n"}
        self.assertEqual(self.lint(own)[0], 0)

    def test_circles(self):
        files = {"base/err.h": "", "base/a.c": "#include <xxhash.h>\n#include <zlib.h>\n", "cli/a.c": '#include "base/err.h"\nint b(void);\nint a(void) { return b(); }\n',
                 "cli/b.c": "int b(void) { return 1; }\n"}
        names = ("cli/a.c", "cli/b.c")
        self.assertEqual(self.lint(files, objects=names)[0], 0)
        files["cli/b.c"] = "int a(void);\nint b(void) { return a(); }\n"
        self.assertEqual(self.lint(files, objects=names), (1, "src/cli: a circle of a.c, b.c\n"))


if __name__ == "__main__":
    support.main()
