"""scripts/package: the same package every time, and what is in it works without the source and build trees."""
import ast
import os
import pathlib
import re
import shutil
import stat
import subprocess
import unittest

import support
from support import SOURCE, analyze, fresh_dir, run, trace, tree

try:
    import yaml
except ImportError:
    yaml = None

BUILD = str(support.BUILD)
EPOCH = 1700000000
DAY = "2023-11-14"


def call(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **options)
    if done.returncode:
        raise AssertionError(f"{words}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def package(**env):
    place = fresh_dir("deb")
    printed = call(SOURCE / "scripts" / "package", "--build", BUILD, "--out", place, cwd="/",
                   env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH), **env})
    found = pathlib.Path(printed.strip())
    assert [found] == list(place.iterdir()), (printed, list(place.iterdir()))
    return found


def packed_files(root):
    return [p for p in root.rglob("*") if p.is_file()]


@unittest.skipUnless(all(map(shutil.which, ("dpkg-deb", "cmake", "strip"))), "no dpkg-deb, cmake or strip")
@support.unsanitized("packages are made of release builds")
class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.deb = package()
        cls.root = fresh_dir("root")
        call("dpkg-deb", "-x", cls.deb, cls.root)

    def field(self, name):
        return call("dpkg-deb", "-f", self.deb, name).strip()

    def test_same_bytes(self):
        elsewhere = fresh_dir("tmp with space")
        old = os.umask(0o077)
        try:
            again = package(TMPDIR=str(elsewhere), LC_ALL="C.UTF-8", TZ="Asia/Tokyo")
        finally:
            os.umask(old)
        self.assertEqual(again.name, self.deb.name)
        self.assertEqual(again.read_bytes(), self.deb.read_bytes())
        self.assertEqual(list(elsewhere.iterdir()), [])

    def test_owners_modes_times(self):
        for line in call("dpkg-deb", "-c", self.deb, env={**os.environ, "TZ": "UTC"}).splitlines():
            mode, owner, _size, day, _time, name = line.split(maxsplit=5)
            program = name.startswith("./usr/bin/") and not name.endswith("/")
            want = "drwxr-xr-x" if name.endswith("/") else "-rwxr-xr-x" if program else "-rw-r--r--"
            self.assertEqual((mode, owner, day), (want, "root/root", DAY), line)

    def test_what_is_in_it(self):
        """Everything of `cmake --install`, under /usr, and what Debian's policy adds to it."""
        prefix = fresh_dir("prefix")
        call("cmake", "--install", BUILD, "--prefix", prefix / "usr")
        want = {p.relative_to(prefix) for p in packed_files(prefix)}
        want = {p.with_name(p.name + ".gz") if "man" in p.parts else p for p in want}
        want = {pathlib.Path(str(p).replace("site-functions", "vendor-completions")) for p in want}  # where Debian's zsh looks
        want |= {pathlib.Path("usr/share/doc/nsys-ai") / name for name in ("copyright", "changelog.gz")}
        self.assertEqual({p.relative_to(self.root) for p in packed_files(self.root)}, want)
        for name in ("rules/default.yaml", "metrics/default.yaml", "phase-maps/vllm.yaml", "templates/report.html"):
            self.assertEqual((self.root / "usr/share/nsys-ai" / name).read_bytes(), (SOURCE / name).read_bytes())
        for directory in ("skills", "pages"):
            self.assertTrue(list((self.root / "usr/share/nsys-ai" / directory).glob("*.yaml")), directory)
        control = fresh_dir()
        call("dpkg-deb", "-e", self.deb, control)
        checked = call("md5sum", "-c", control / "md5sums", cwd=self.root).splitlines()
        self.assertEqual(len(checked), len(want))
        self.assertFalse([p for p in self.root.rglob("*") if p.is_dir() and not list(p.iterdir())])

    def test_nothing_of_the_build(self):
        """Neither where it was built nor how: no path, no debug information, no library path."""
        for file in packed_files(self.root):
            content = file.read_bytes()
            for path in (str(SOURCE / "src"), str(SOURCE / "build"), BUILD, str(self.deb.parent)):
                self.assertNotIn(path.encode(), content, file)
        for program in (self.root / "usr/bin").iterdir():
            if shutil.which("readelf"):
                self.assertNotIn(".debug_info", call("readelf", "-SW", program))
                self.assertNotRegex(call("readelf", "-dW", program), "RPATH|RUNPATH")

    def test_depends(self):
        """Each library that the loader finds for the programs belongs to a package that is named."""
        named = set(re.findall(r"(?:^|, )([a-z0-9.+-]+)", self.field("Depends")))
        loaded = call("ldd", *(self.root / "usr/bin").iterdir())
        for library in set(re.findall(r"=> (/\S+)", loaded)):
            real = os.path.realpath(library)
            owners = [subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True, check=False).stdout
                      for path in (real, real.removeprefix("/usr"))]
            owner = "".join(owners).split(":")[0]
            self.assertIn(owner, named, library)

    def test_little_installed(self):
        """A machine with what scripts/setup installs for building: no git, no dpkg-dev."""
        bin_ = fresh_dir("bin")
        for directory in ("/usr/sbin", "/sbin", "/usr/bin", "/bin", os.path.dirname(shutil.which("cmake"))):
            for name in os.listdir(directory):
                if name not in ("git", "dpkg-shlibdeps") and not (bin_ / name).is_symlink():
                    os.symlink(f"{directory}/{name}", bin_ / name)
        lean = package(PATH=str(bin_))
        names = [re.findall(r"(?:^|, )([a-z0-9.+-]+)", call("dpkg-deb", "-f", deb, "Depends")) for deb in (lean, self.deb)]
        self.assertEqual(*names)

    @unittest.skipUnless(shutil.which("apt-get"), "no apt-get")
    def test_can_be_installed(self):
        done = subprocess.run(["apt-get", "install", "--simulate", "--no-install-recommends", self.deb], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("Inst nsys-ai ", done.stdout)

    def test_container(self):
        """What the image is made of is there, and is part of the context."""
        text = (SOURCE / "packaging/Containerfile").read_text()
        for path in re.findall(r"/src/(\S+)", text):
            self.assertTrue(os.access(SOURCE / path, os.X_OK), path)
        self.assertIn("build", (SOURCE / ".dockerignore").read_text().split())

    def test_control(self):
        self.assertEqual(self.field("Package"), "nsys-ai")
        self.assertEqual(self.field("Version"), run("--version").stdout.split()[1])
        self.assertEqual(self.field("Architecture"), call("dpkg", "--print-architecture").strip())
        kib = sum((p.stat().st_size + 1023) // 1024 for p in packed_files(self.root))
        self.assertEqual(self.field("Installed-Size"), str(kib))

    def test_runs_from_there(self):
        program = self.root / "usr/bin/nsys-ai"
        self.assertTrue(program.stat().st_mode & stat.S_IXOTH)
        made = fresh_dir()
        done = run("host-bound", made / "host-bound.sqlite", program=self.root / "usr/bin/nsys-ai-gen", cwd="/")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((made / "host-bound.sqlite").read_bytes(), trace("host-bound").read_bytes())
        done = run("analyze", trace("host-bound"), "-q", "--out", made / "run", program=program, cwd="/")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # Stripped, it is another build to the stages, and to nothing that people read.
        here = {name: content for name, content in tree(analyze(trace("host-bound"))).items() if not name.startswith("stages")}
        there = {name: content for name, content in tree(made / "run").items() if not name.startswith("stages")}
        self.assertEqual(support.Tree(there), support.Tree(here))

    @unittest.skipUnless(shutil.which("man"), "no man")
    def test_man_pages(self):
        pages = {p.name: p for p in (self.root / "usr/share/man").glob("man?/*")}
        self.assertLessEqual({"nsys-ai-gen.1.gz", "nsys-ai.1.gz", "nsys-ai-analyze.1.gz", "nsys-ai-rules.5.gz"}, set(pages))
        self.assertTrue(all(name.endswith(".gz") for name in pages), pages)
        for page in (pages["nsys-ai.1.gz"], pages["nsys-ai-analyze.1.gz"], pages["nsys-ai-rules.5.gz"]):  # test_install looks at all
            done = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True, check=False,
                                  env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8", "MANPAGER": "cat"})
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)
            self.assertIn("DESCRIPTION", done.stdout)

    @unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_completions(self):
        """The installed script with the installed program, as bash-completion loads it."""
        script = self.root / "usr/share/bash-completion/completions/nsys-ai"
        text = ('source "$1"; COMP_WORDS=(nsys-ai analyze --ph); COMP_CWORD=2; '
                '"$(complete -p nsys-ai | grep -o "_[a-z_]*complete")"; printf "%s\\n" "${COMPREPLY[@]}"')
        path = f"{self.root / 'usr/bin'}:{os.environ['PATH']}"
        self.assertEqual(call("bash", "-c", text, "bash", script, env={**os.environ, "PATH": path}).split(), ["--phase-map"])

    def test_zsh_completions(self):
        """Where Debian's zsh looks, whose fpath has no /usr/share/zsh/site-functions."""
        self.assertEqual(sorted(p.name for p in (self.root / "usr/share/zsh").rglob("_*")), ["_nsys-ai", "_nsys-ai-gen"])
        self.assertTrue((self.root / "usr/share/zsh/vendor-completions/_nsys-ai").is_file())

    @support.tier("soak")
    @unittest.skipUnless(shutil.which("lintian"), "no lintian")
    def test_lintian(self):
        done = subprocess.run(["lintian", "--fail-on", "error", "--allow-root", self.deb], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Recipes(unittest.TestCase):
    """packaging/spack and packaging/conda-forge, which nobody here can run, ask for what CMakeLists.txt looks for."""
    NEEDS = {"sqlite3": ("sqlite", "libsqlite"), "yaml-0.1": ("libyaml", "yaml"), "libcmark": ("cmark",) * 2, "jansson": ("jansson",) * 2, "libxxhash": ("xxhash",) * 2,
             "zlib": ("zlib-api", "zlib"), "ncursesw": ("ncurses",) * 2, "libpcre2-8": ("pcre2",) * 2}

    def setUp(self):
        self.version = run("--version").stdout.split()[1]
        self.asked = re.findall(r"pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET (\S+)\)", (SOURCE / "CMakeLists.txt").read_text())

    def test_spack(self):
        packages = SOURCE / "packaging/spack/spack_repo/nsys_ai/packages"
        text = (packages / "nsys_ai/package.py").read_text()
        for path in packages.glob("*/package.py"):
            ast.parse(path.read_text())
        self.assertEqual(re.findall(r'version\("([\d.]+)", tag="v([\d.]+)"\)', text), [(self.version,) * 2])
        depends = set(re.findall(r'depends_on\("([a-z0-9-]+)[^"]*"\)', text))
        self.assertEqual(depends, {"libcsv", *(self.NEEDS[name][0] for name in self.asked)})

    def test_conda_forge(self):
        if not yaml:
            self.skipTest("no PyYAML")
        recipe = yaml.safe_load((SOURCE / "packaging/conda-forge/recipe.yaml").read_text())
        self.assertEqual(recipe["context"]["version"], self.version)
        self.assertEqual(set(recipe["requirements"]["host"]), {self.NEEDS[name][1] for name in self.asked})
        call("bash", "-n", SOURCE / "packaging/conda-forge" / recipe["build"]["script"])


class Wrong(unittest.TestCase):
    def test_refusals(self):
        for words, status, want in ((("--frob",), 2, "usage:"), (("--build",), 2, "usage:"), (("--build", "/nonexistent"), 1, "not a build directory")):
            done = subprocess.run([SOURCE / "scripts/package", *words], capture_output=True, text=True, check=False,
                                  env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)})
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(want, done.stderr)


if __name__ == "__main__":
    support.main()
