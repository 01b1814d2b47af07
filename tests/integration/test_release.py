"""scripts/package --all: programs that need nothing of the machine they run on. In an empty root, from a wheel, and for arm64.
NAI_TEST_RELEASE=DIR: the files are there already (release.yml: those that are attached)."""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tarfile
import time
import unittest
import zipfile

import support
from support import SOURCE, fresh_dir, run, trace, tree

GIVEN = os.environ.get("NAI_TEST_RELEASE")
ENV = {**os.environ, **({} if GIVEN else {"SOURCE_DATE_EPOCH": "1700000000"})}
QEMU = "qemu-aarch64-static"
CHROOT = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin")  # whoever calls sudo may have no sbin on PATH


def call(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **options)
    if done.returncode:
        raise AssertionError(f"{words}: exit {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


@unittest.skipUnless(all(map(shutil.which, ("aarch64-linux-gnu-gcc", QEMU, "dpkg-deb"))), "no scripts/setup --release")
@support.unsanitized("packages are made of release builds")
class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = pathlib.Path(GIVEN).absolute() if GIVEN else fresh_dir("release")
        if not GIVEN:
            call(SOURCE / "scripts/package", "--all", "--out", cls.out, env=ENV)
        cls.roots = {}
        for archive in cls.out.glob("*.tar.gz"):
            machine = archive.name.removesuffix(".tar.gz").rpartition("-")[2]
            cls.roots[machine] = fresh_dir("root")
            with tarfile.open(archive) as tar:
                tar.extractall(cls.roots[machine], filter="data") if sys.version_info >= (3, 12) else tar.extractall(cls.roots[machine])
            cls.roots[machine], = cls.roots[machine].iterdir()

    def test_files(self):
        names = {p.name for p in self.out.iterdir()}
        listed = dict(reversed(line.split()) for line in (self.out / "SHA256SUMS").read_text().splitlines())
        self.assertEqual(set(listed), names - {"SHA256SUMS"})
        self.assertEqual(len(listed), 7)
        call("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=self.out)
        spdx = (self.out / f"nsys-ai-{run('--version').stdout.split()[1]}.spdx").read_text()
        linked = set(re.findall(r"STATIC_LINK SPDXRef-(\S+)", spdx))
        self.assertEqual(linked | {"nsys-ai", "README"}, {p.name for p in (self.roots["x86_64"] / "licenses").iterdir()})

    @unittest.skipUnless((SOURCE / ".git").exists(), "no checkout: --version knows no commit")
    def test_same_bytes(self):
        """From another directory, with a blank in its name, elsewhere in the world."""
        place = fresh_dir("again with space")
        call("git", "clone", "--quiet", SOURCE, place / "src")
        for changed in call("git", "-C", SOURCE, "diff", "--name-only", "--diff-filter=d", "HEAD").splitlines():
            shutil.copy(SOURCE / changed, place / "src" / changed)
        call(place / "src/scripts/package", "--all", "--out", place / "out", env={**ENV, "TZ": "Asia/Tokyo"})
        self.assertEqual((place / "out/SHA256SUMS").read_text(), (self.out / "SHA256SUMS").read_text())

    @unittest.skipUnless(os.getuid() == 0, "an empty root needs root")
    def test_empty_root(self):
        """The program and two traces, nothing else: what it prints and writes is what it does with everything around it."""
        root = fresh_dir("empty")
        shutil.copy(self.roots["x86_64"] / "bin/nsys-ai", root)
        shutil.copy(trace("host-bound"), root / "trace.sqlite")
        shutil.copy(trace("training"), root / "other.sqlite")

        def inside(*words, **env):
            done = subprocess.run([CHROOT, root, "/nsys-ai", *words], capture_output=True, text=True, env=env, check=False)
            return done.returncode, done.stdout, done.stderr

        status, printed, said = inside("probe", "/trace.sqlite")
        self.assertEqual((status, printed), (5, ""))
        self.assertIn('"/tmp/" (TMPDIR can name another)', said)
        for name in ("trace", "other"):
            self.assertEqual(inside("analyze", f"/{name}.sqlite", "--out", f"/run/{name}", "-q"), (0, "", ""))
            self.assertEqual(self.published(root / "run" / name), self.published(support.artifacts(root / f"{name}.sqlite")))
        for words in (("probe", "trace.sqlite"), ("view", "--once", "run/trace"), ("ask", "run/trace", "why", "is", "my", "GPU", "idle"),
                      ("explain", "run/trace", "1"), ("sql", "run/trace", "select * from kernels"), ("stats", "-q", "trace.sqlite"),
                      ("compare", "run/trace", "run/other", "--out", "diff")):
            done = run(*words, cwd=root, env={"TMPDIR": str(root), "LC_ALL": "C"})
            shutil.rmtree(root / "diff", ignore_errors=True)
            self.assertEqual(inside(*words, TMPDIR="/"), (done.returncode, done.stdout, done.stderr), words)
        self.assertEqual({p.name for p in root.iterdir()}, {"nsys-ai", "trace.sqlite", "other.sqlite", "run", "diff"})
        self.assertRegex(inside("doctor", TMPDIR="/", LC_ALL="C.UTF-8")[1], r"\nlocale +ok +UTF-8\n")
        screen = self.screen(root, {"TERM": "xterm-256color", "LANG": "de_DE.UTF-8", "TMPDIR": "/"})
        self.assertIn(b"trace.sqlite", screen)
        self.assertNotIn(b"no terminal that is known", screen)
        self.assertRegex(screen.decode(), r"[^\x00-\x7f]")
        self.assertTrue(self.screen(root, {"TERM": "xterm-256color", "LC_ALL": "C"}).isascii())
        self.assertIn(b"no terminal that is known", self.screen(root, {"TERM": "nothing"}))

    @staticmethod
    def screen(root, environment):
        pid, fd = pty.fork()
        if pid == 0:
            os.chroot(root)
            os.execve("/nsys-ai", ["nsys-ai", "view", "/run/trace"], environment)
        out, end = b"", time.monotonic() + 10
        while time.monotonic() < end and b"trace.sqlite" not in out:
            if select.select([fd], [], [], 0.2)[0]:
                try:
                    out += os.read(fd, 65536)
                except OSError:
                    break
        try:
            os.write(fd, b"q")
        except OSError:
            pass
        os.waitpid(pid, 0)
        os.close(fd)
        return out

    def test_arm64(self):
        """Programs for the other machine give what is looked at here (goldens) and known (truth), to the byte and the ns."""
        place = fresh_dir("arm64")
        for name in ("nsys-ai", "nsys-ai-gen"):
            (place / name).write_text(f'#!/bin/sh\nexec {QEMU} "{self.roots["aarch64"]}/bin/{name}" "$@"\n')
            (place / name).chmod(0o755)
        env = {**os.environ, "NSYS_AI": str(place / "nsys-ai"), "NAI_TEST_CACHE": str(place / "cache"), "PYTHONPATH": str(SOURCE / "tests/integration")}
        for name in ("golden", "truth"):
            done = subprocess.run([sys.executable, SOURCE / f"tests/integration/test_{name}.py"], env=env, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr[-4000:])
        made = fresh_dir() / "t.sqlite"
        call(place / "nsys-ai-gen", "host-bound", made)
        self.assertEqual(made.read_bytes(), trace("host-bound").read_bytes())

    def test_readme(self):
        """Its line downloads, unpacks and runs the archive of this machine."""
        line, = re.findall(r"(?m)^    (curl .*)$", (SOURCE / "README.md").read_text(encoding="utf-8"))
        here, count = re.subn(r"https://\S+/(?=nsys-ai-)", f"file://{self.out}/", line)
        self.assertEqual(count, 1)
        self.assertIn("program", call("bash", "-o", "pipefail", "-c", here, cwd=fresh_dir()))
        wheel, = re.findall(r"(?m)^    pip install (\S+)$", (SOURCE / "README.md").read_text(encoding="utf-8"))
        self.assertTrue((self.out / wheel).exists())

    def test_wheel(self):
        wheel, = self.out.glob("*x86_64.whl")
        with zipfile.ZipFile(wheel) as opened:
            self.assertIsNone(opened.testzip())
        place = fresh_dir("venv") / "v"
        done = subprocess.run([sys.executable, "-m", "venv", place], capture_output=True, text=True, check=False)
        if done.returncode:
            self.skipTest("no venv: " + done.stdout.strip().splitlines()[0])
        call(place / "bin/pip", "install", "--no-index", "--disable-pip-version-check", wheel)
        self.assertEqual(call(place / "bin/nsys-ai", "--version"), run("--version").stdout.replace(" Linux, dynamic, ", " Linux, static, "))
        call(place / "bin/nsys-ai", trace("host-bound"), "--out", place / "run", "-q")
        self.assertEqual(self.published(place / "run"), self.published(support.artifacts(trace("host-bound"))))
        self.assertTrue((place / "share/man/man1/nsys-ai.1").exists())
        call(place / "bin/pip", "uninstall", "--yes", "--disable-pip-version-check", "nsys-ai-report")
        self.assertFalse((place / "bin/nsys-ai").exists())

    @unittest.skipUnless(os.getuid() == 0 and shutil.which("debootstrap"), "no debootstrap, or not root")
    def test_debian_roots(self):
        """Installed, used and removed in minimal roots of three releases; NAI_TEST_ROOTS=DIR keeps them for the next time."""
        deb, = self.out.glob("*_amd64.deb")
        want = self.published(support.artifacts(trace("host-bound")))
        for suite in ("bullseye", "bookworm", "trixie"):
            root = pathlib.Path(os.environ.get("NAI_TEST_ROOTS", fresh_dir("roots"))) / suite
            if not (root / "bin/sh").exists():
                call("debootstrap", "--variant=minbase", suite, root)
            shutil.rmtree(root / "root/run", ignore_errors=True)
            shutil.copy(deb, root / "root/nsys-ai.deb")
            shutil.copy(trace("host-bound"), root / "root")

            def inside(*words, root=root):
                return call(CHROOT, root, *words, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"})

            inside("dpkg", "--install", "/root/nsys-ai.deb")
            inside("nsys-ai", "/root/host-bound.sqlite", "--out", "/root/run", "-q")
            self.assertEqual(self.published(root / "root/run"), want, suite)
            inside("dpkg", "--remove", "nsys-ai")
            self.assertEqual([str(p) for p in root.glob("usr/**/nsys-ai*")], [], suite)

    @staticmethod
    def published(directory):
        """What a run is for: its files but those between stages."""
        return support.Tree({name: data for name, data in tree(directory).items() if not name.startswith("stages")})

    def test_workflow(self):
        """A tag that is not the version ends it; its scripts are there."""
        text = (SOURCE / ".github/workflows/release.yml").read_text()
        version, = (line.strip().removeprefix("- run: ") for line in text.splitlines() if "CMakeLists.txt" in line)
        tag = "v" + run("--version").stdout.split()[1]
        for name, status in ((tag, 0), (tag + ".1", 1), ("v", 1)):
            self.assertEqual(subprocess.run(["sh", "-ec", version], cwd=SOURCE, env={**os.environ, "GITHUB_REF_NAME": name}, check=False).returncode, status)
        scripts = re.findall(r"(?:scripts|tests)/\S+", text)
        self.assertEqual([name for name in scripts if not os.access(SOURCE / name, os.R_OK)], [])
        self.assertGreaterEqual(len(scripts), 4)

    def test_packages_depend_on_nothing(self):
        for machine in ("amd64", "arm64"):
            deb, = self.out.glob(f"*_{machine}.deb")
            self.assertEqual(call("dpkg-deb", "-f", deb, "Depends").strip(), "")
            self.assertEqual(call("dpkg-deb", "-f", deb, "Architecture").strip(), machine)


if __name__ == "__main__":
    support.main()
