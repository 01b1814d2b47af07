"""A store of which something is damaged, or that others change meanwhile; and runs that are replaced while they are read."""
import fcntl
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest
import zipfile

import support
from support import PROGRAM, analyze, artifacts, fresh_dir, run, trace, tree

# Before the first call of SHIM_AT whose path ends in SHIM_PATH: does SHIM_DO, as another process would at that moment.
SHIM = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
static void meanwhile(const char *call, const char *path) {
  const char *at = getenv("SHIM_AT"), *end = getenv("SHIM_PATH"), *what = getenv("SHIM_DO");
  static int done;
  if (done || !what || strcmp(at, call) != 0 || strlen(path) < strlen(end) || strcmp(path + strlen(path) - strlen(end), end) != 0)
    return;
  done = 1;
  unsetenv("LD_PRELOAD");
  if (system(what) != 0)
    abort();
}
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
DIR *opendir(const char *path) { return meanwhile("opendir", path), NEXT(opendir)(path); }
int flock(int fd, int operation) { return meanwhile(operation & LOCK_SH ? "share" : "lock", ""), NEXT(flock)(fd, operation); }
int linkat(int a, const char *b, int c, const char *d, int flags) { return meanwhile("linkat", d), NEXT(linkat)(a, b, c, d, flags); }
int openat(int at, const char *path, int flags, ...) {
  __builtin_va_list more;
  __builtin_va_start(more, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? __builtin_va_arg(more, mode_t) : 0;
  __builtin_va_end(more);
  return meanwhile("openat", path), NEXT(openat)(at, path, flags, mode);
}
"""

# Kills its process at call number SHIM_KILL of those that remove.
KILLER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static void count(void) {
  static int calls;
  if (++calls == atoi(getenv("SHIM_KILL")))
    kill(getpid(), SIGKILL);
}
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
int unlink(const char *path) { return count(), NEXT(unlink)(path); }
int rmdir(const char *path) { return count(), NEXT(rmdir)(path); }
int unlinkat(int at, const char *path, int flags) { return count(), NEXT(unlinkat)(at, path, flags); }
"""


# Kills its process at call number SHIM_KILL of those that make something.
MAKER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
static void count(void) {
  static int calls;
  if (++calls == atoi(getenv("SHIM_KILL")))
    kill(getpid(), SIGKILL);
}
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
int linkat(int a, const char *b, int c, const char *d, int flags) { return count(), NEXT(linkat)(a, b, c, d, flags); }
int mkdir(const char *path, mode_t mode) { return count(), NEXT(mkdir)(path, mode); }
int rename(const char *from, const char *to) { return count(), NEXT(rename)(from, to); }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) { return count(), NEXT(renameat2)(a, from, b, to, flags); }
ssize_t pwrite64(int fd, const void *data, size_t len, off_t at) { return count(), NEXT(pwrite64)(fd, data, len, at); }
ssize_t write(int fd, const void *data, size_t len) { return count(), NEXT(write)(fd, data, len); }
"""

# A file system without locks.
LOCKLESS = "#include <errno.h>\nint flock(int fd, int operation) { return (void)fd, (void)operation, errno = ENOLCK, -1; }\n"


def meanwhile(call, path, *words):
    """What else happens, for `env` of run: the program is called with these words just before `call` of `path`."""
    command = " ".join(f"'{word}'" for word in (PROGRAM, *words))
    return {"LD_PRELOAD": support.shim(SHIM), "SHIM_AT": call, "SHIM_PATH": path, "SHIM_DO": f"{command} >/dev/null"}


def loop(seed):
    return artifacts(trace("loop", "--seed", seed))


def without_stamp(files):
    """What a store does not keep: when the trace's file was read."""
    files = {name: content for name, content in files.items() if name != "stages/trace-stamp"}
    manifest = json.loads(files["stages/manifest.json"])
    manifest["files"].remove("stages/trace-stamp") if "stages/trace-stamp" in manifest["files"] else None
    return {**files, "stages/manifest.json": manifest}


class Case(unittest.TestCase):
    def assert_same(self, got, want, what=""):
        """Files by name; a difference is told by their names, which takes no time."""
        self.assertEqual(sorted(got), sorted(want), what)
        self.assertEqual([name for name in got if got[name] != want[name]], [], what)

    def setUp(self):
        self.base = fresh_dir()
        self.store = self.base / "s"

    def call(self, *words, expect=0, **options):
        done = run(*words, **options)
        self.assertEqual(done.returncode, expect, f"{words}: {done.stderr}")
        return done

    def add(self, source, number, expect=0, **options):
        return self.call("store", "add", source, "--store", self.store, "--id", f"n{number}", "--time",
                         f"2026-01-{number:02}T02:00:00Z", expect=expect, **options)

    def check(self, selector, expect=0, **options):
        return self.call("check", loop(9), "--baseline", selector, "--store", self.store, "--out", self.base / "c", expect=expect,
                         **options)

    def stored(self, number):
        where, = self.store.glob(f"runs/*/*/n{number}/captures/0")
        return where

    def get(self, number):
        self.call("store", "get", f"n{number}", "--store", self.store, "--out", self.base / f"got{number}")
        return self.base / f"got{number}"

    def own(self, seed=1):
        """A run that a test may change."""
        to = fresh_dir() / "run"
        shutil.copytree(loop(seed), to)
        return to


def lose(run_dir, table):
    support.table_place(run_dir, table)[0].unlink()


def members(path):
    """Of a run in one file, read by another program's hand."""
    with zipfile.ZipFile(path) as packed:
        assert packed.testzip() is None
        return {name: packed.read(name) for name in packed.namelist()}


def lose_member(path, name):
    content = members(path)
    del content[name]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for other in content.items():
            packed.writestr(*other)


def flip_member(path, name):
    with zipfile.ZipFile(path) as packed:
        info = packed.getinfo(name)
    content = bytearray(path.read_bytes())
    content[info.header_offset + 30 + len(name) + info.compress_size // 2] ^= 0xff
    path.write_bytes(content)


class Damage(Case):
    def test_incomplete_runs_are_not_stored(self):
        """What comparisons and the index need is there and whole; what prune removes need not be."""
        for name in ("metrics", "kernels", "findings", "kernel_paths"):
            for spoil in (lose, support.flip_table):
                with self.subTest(name, spoil=spoil.__name__):
                    source = self.own()
                    spoil(source, name)
                    done = self.add(source, 1, expect=3)
                    self.assertIn(support.table_place(loop(1), name)[0].name, done.stderr)
                    self.assertIn("analyze its trace again", done.stderr)
                    self.assertEqual(list(self.store.glob("runs/*/*/*")), [])
        source = self.own()
        for name in ("report.md", "stages/timeline.ntab"):
            (source / name).unlink()
        self.add(source, 1)

    def test_a_stored_run_that_is_damaged(self):
        """It is left out with a word, and is not said to be there already."""
        for seed in (1, 2, 3):
            self.add(loop(seed), seed)
        for spoil, selector in ((lose_member, "median:2"), (flip_member, "last-good")):
            spoil(self.stored(3), "stages/recommend.ntab")
            done = self.check(selector)
            self.assertRegex(done.stderr, rf'(?m)^nsys-ai: {selector} goes without the run "n3".*store remove.*recommend\.ntab')
            self.assertIn("recommend.ntab", self.check("run:n3", expect=3).stderr)
            self.assertIn("store remove", self.add(loop(3), 3, expect=3).stderr)
            self.call("store", "remove", "n3", "--store", self.store)
            self.add(loop(3), 3)
            self.assertEqual(self.check(selector).stderr, "")

    def test_no_run_that_can_be_read(self):
        """That is no missing history, which recipes let pass."""
        self.add(loop(1), 1)
        lose_member(self.stored(1), "stages/recommend.ntab")
        for selector in ("median:3", "last-good"):
            self.assertIn('"n1"', self.check(selector, expect=3).stderr)

    def test_a_record_that_cannot_be_read(self):
        """It costs its own night, which is named, and can be taken out and added again."""
        for seed in (1, 2):
            self.add(loop(seed), seed)
        for content in (b"garbage", b"{", b'{"format_major": 7}', b"", b"\0\xff" * 400, None):
            record = self.stored(2).parents[1] / "run.json"
            record.unlink()
            if content is not None:
                record.write_bytes(content)
            for words in (("store", "list"), ("store", "index"), ("trend", "--out", self.base / "t"),
                          ("check", loop(9), "--baseline", "median:3", "--out", self.base / "c"), ("store", "prune")):
                with self.subTest(content, words=words):
                    said = self.call(*words, "--store", self.store)
                    self.assertRegex(said.stderr, rf'(?m)^nsys-ai: the store goes without the run "n2".*store remove.*{record}')
            self.assertEqual(self.add(loop(3), 3).stderr, "")  # it reads no other run
            self.call("trend", "--out", self.base / "t", "--store", self.store)
            self.assertRegex(self.call("store", "list", "--store", self.store).stdout, rf"(?m)^default/\w+ +n2 +damaged .*{record}")
            trend = json.loads((self.base / "t/trend.json").read_text())
            self.assertEqual([(s["runs"], s["failed"]) for s in trend["series"]], [(3, 1)])
            self.assertIn(str(record), self.check("run:n2", expect=3).stderr)
            self.assertIn("store remove", self.add(loop(2), 2, expect=3).stderr)
            self.call("store", "remove", "n2", "--store", self.store)
            self.add(loop(2), 2)
            self.call("store", "remove", "n3", "--store", self.store)
            self.assertEqual(self.call("store", "list", "--store", self.store).stderr, "")

    def test_a_record_that_is_a_link(self):
        """Messages quote what cannot be read: nothing of a file elsewhere."""
        for seed in (1, 2):
            self.add(loop(seed), seed)
        record, elsewhere = self.stored(2).parents[1] / "run.json", self.base / "elsewhere"
        elsewhere.write_text("secret words of somebody\n", encoding="ascii")
        record.unlink()
        record.symlink_to(elsewhere)
        said = self.call("store", "list", "--store", self.store)
        self.assertIn('without the run "n2"', said.stderr)
        self.assertNotIn("secret", said.stdout + said.stderr)

    def test_a_record_of_another_place(self):
        self.add(loop(1), 1)
        run_ = self.stored(1).parents[1]
        shutil.copytree(run_, run_.with_name("n2"))
        self.assertIn('the run "n2"', self.call("store", "index", "--store", self.store).stderr)
        self.call("store", "remove", "n2", "--store", self.store)
        self.assertTrue(run_.exists())
        (run_.parent / "notes of mine").mkdir()
        self.assertEqual(self.call("store", "list", "--store", self.store).stderr, "")

    def test_an_index_that_is_a_pipe(self):
        """It is made again; nobody waits for somebody to write into it."""
        for seed in (1, 2):
            self.add(loop(seed), seed)
        for words in (("store", "index"), ("store", "add", loop(3)), ("trend", "--out", self.base / "t"), ("store", "prune", "--keep-days", "1")):
            (self.store / "index.sqlite").unlink(missing_ok=True)
            os.mkfifo(self.store / "index.sqlite")
            with self.subTest(words=words):
                self.call(*words, "--store", self.store, timeout=60)

    def test_a_baseline_that_cannot_be_read(self):
        self.add(loop(1), 1)
        self.call("store", "baseline", "set", "b", "n1", "--store", self.store)
        (self.store / "baselines/b.json").write_text("garbage", encoding="ascii")
        self.assertIn("b.json", self.check("b", expect=3).stderr)


class InOneFile(Case):
    def test_reports_come_back_to_the_byte(self):
        skill = self.base / "mine.yaml"
        skill.write_text("skill: mine\ntitle: t\ndescription: d\ncolumns: {n: {unit: count, description: how many}}\nsql: select count(*) as n from kernels\n",
                         encoding="ascii")
        known = self.base / "known.yaml"
        sources = [artifacts(trace(scenario)) for scenario in ("minimal", "training", "hostile", "loop")]
        for number in (1, 2):  # what the first finds, the second knows
            sources.append(self.base / f"run{number}")
            self.call("analyze", trace("loop"), "-q", "--out", sources[-1], "--skill", skill, "--skill", "streams", "--known", known,
                      *([] if known.exists() else ["--update-known"]))
        for number, source in enumerate(sources, 1):
            self.add(source, number)
            self.assert_same(without_stamp(tree(self.get(number))), without_stamp(tree(source)), source)
        self.assertIn("known_findings", tree(sources[-1])["report.json"].decode())
        out = self.base / "opened"
        done = self.call("open", "store:n2", "--store", self.store, "--no-browser", "--out", out)
        self.assertEqual(done.stdout.strip(), str(out / "report.html"))
        self.assertEqual((out / "report.html").read_bytes(), (sources[1] / "report.html").read_bytes())
        self.assertIn("--store", self.call("open", "store:n2", "--no-browser", expect=2).stderr)
        self.assertIn("n9", self.call("store", "get", "n9", "--store", self.store, "--out", out, expect=2).stderr)
        self.call("store", "add", loop(1), loop(2), "--store", self.store, "--id", "two")
        self.call("store", "get", "two", "--store", self.store, "--out", out / "two")
        self.assertEqual({(out / f"two/{i}/report.md").read_bytes() for i in (0, 1)}, {(loop(i) / "report.md").read_bytes() for i in (1, 2)})

    def test_it_is_small_and_any_program_reads_it(self):
        """Its tables are those of the run; large event tables are left out, unless all is asked for."""
        small, large = artifacts(trace("minimal")), artifacts(trace("bench", "--size", "8M"))
        own = {f"stages/{path.name}" for path in (large / "stages").glob("*_events.ntab")}
        self.assertTrue(own)
        self.add(small, 1)
        self.add(large, 2)
        self.call("store", "add", large, "--store", self.store, "--id", "n3", "--series", "all", "--keep", "all")
        for number, source, left in ((1, small, set()), (2, large, own)):
            want = {name: content for name, content in tree(source).items() if name.startswith("stages/")}
            self.assert_same(members(self.stored(number)), {name: want[name] for name in want if name not in left and name != "stages/trace-stamp"})
        self.assertEqual(len([path for path in self.stored(1).parents[1].rglob("*") if path.is_file()]), 3)
        self.assertLess(self.stored(1).stat().st_size, 150_000)
        self.assert_same({**tree(self.stored(3)), "stages/trace-stamp": None}, {**tree(large), "stages/trace-stamp": None})
        self.assertIn("--keep all", self.call("sql", self.stored(2), f"select count(*) from {min(own)[7:-5]}", expect=3).stderr)
        self.call("compare", self.stored(2), artifacts(trace("bench", "--size", "2M")), "--out", self.base / "c")

    def test_it_answers_as_the_directory_does(self):
        self.add(loop(1), 1)
        self.call("compare", loop(1), loop(2), "--out", self.base / "c")
        self.call("compare", self.stored(1), loop(2), "--out", self.base / "d")
        same = [json.loads((self.base / name / "compare.json").read_text())["metrics"] for name in "cd"]
        self.assertEqual(*same)
        for words in (("summary",), ("info",), ("tree",), ("table", "kernels"), ("sql", "select * from kernel_events order by 1, 2"), ("export", "csv"),
                      ("critical-path",), ("ask", "which kernel is slowest")):
            place = 1 if words[0] != "export" else 2
            answers = [self.call(*words[:place], source, *words[place:]).stdout.replace(shlex.quote(str(source)), "RUN").replace(str(source), "RUN")
                       for source in (loop(1), self.stored(1))]
            self.assertEqual(*answers, words)

    def test_pages_lead_to_its_report(self):
        """On request: index, trend, fleet and comparison, by a relative link; the report goes when the run does, or its captures."""
        for number in range(1, 6):
            self.add(loop(number), number)
        self.call("store", "add", loop(6), "--store", self.store, "--id", "n6", "--keep", "all", "--time", "2026-01-06T02:00:00Z")
        lose_member(self.stored(4), "stages/recommend.ntab")
        done = self.call("store", "index", "--reports", "--store", self.store)
        self.assertIn("n4", done.stderr)
        wanted = {self.stored(n).parents[1] / "reports/0.html" for n in (1, 2, 3, 5)}
        self.assertEqual(set(self.store.rglob("reports/*")), wanted)
        self.assertFalse(list(self.store.rglob("*nsys-ai-tmp*")))
        self.assertEqual((self.stored(2).parents[1] / "reports/0.html").read_bytes(), (loop(2) / "report.html").read_bytes())
        self.call("trend", "--store", self.store, "--out", self.base / "t")
        self.call("trend", "--all", "--store", self.store, "--out", self.base / "f")
        self.call("compare", self.stored(1), self.stored(2), "--out", self.base / "c")
        whole = self.stored(6) / "report.html"
        for page, want in (("s/index", {*wanted, whole}), ("t/trend", {*wanted, whole}), ("f/fleet", {whole}),
                           ("c/compare", {self.stored(n).parents[1] / "reports/0.html" for n in (1, 2)})):
            page = self.base / f"{page}.html"
            links = set(re.findall(r'href="([^"#]+\.html)"', page.read_text(encoding="utf-8")))
            self.assertEqual({(page.parent / way).resolve() for way in links}, {path.resolve() for path in want}, page)
            self.assertFalse([way for way in links if way.startswith(("/", "file:"))])
        before = {path: path.stat().st_mtime_ns for path in wanted}
        self.call("store", "index", "--reports", "--store", self.store)
        self.assertEqual({path: path.stat().st_mtime_ns for path in wanted}, before)
        self.call("store", "remove", "n2", "--store", self.store)
        self.assertEqual(set(self.store.rglob("reports/*")), {path for path in wanted if path.parts[-3] != "n2"})
        self.call("store", "list", "--reports", "--store", self.store, expect=2)

    def test_one_that_is_damaged(self):
        """It is refused or read right, never anything else."""
        self.add(artifacts(trace("minimal")), 1)
        whole, want = self.stored(1).read_bytes(), self.call("table", self.stored(1), "kernels").stdout
        spoiled = self.base / "spoiled"
        for at in [*range(0, len(whole), len(whole) // 12), *range(len(whole) - 400, len(whole), 23)]:
            for content in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:]):
                spoiled.write_bytes(content)
                done = run("table", spoiled, "kernels")
                self.assertIn((done.returncode, done.stdout), ((0, want), (3, "")), (at, done.stderr))


    def test_one_that_is_forged(self):
        """Sizes, places and counts that lie, in the directory's entries and at its end: as of a damaged one."""
        self.add(artifacts(trace("minimal")), 1)
        whole, want = self.stored(1).read_bytes(), self.call("table", self.stored(1), "kernels").stdout
        end = len(whole) - 22
        entry = whole.index(b"PK\1\2")
        spoiled = self.base / "spoiled"
        places = [(entry + at, size) for at, size in ((10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (42, 4))] + [(end + at, size) for at, size in ((12, 4), (16, 4))]
        for at, size in places:
            for value in (0, 1, 0x7fff if size == 2 else 0x7fffffff, (1 << 8 * size) - 1):
                spoiled.write_bytes(whole[:at] + value.to_bytes(size, "little") + whole[at + size:])
                done = run("table", spoiled, "kernels")
                self.assertIn((done.returncode, done.stdout), ((0, want), (3, "")), (at, value, done.stderr))
        for names in (["stages/../../escaped.ntab", "/escaped.ntab", "stages/a/b.ntab"], ["stages/manifest.json"]):  # outside, twice
            content = members(self.stored(1))
            manifest = json.loads(content["stages/manifest.json"])
            manifest["files"] += names
            content["stages/manifest.json"] = json.dumps(manifest).encode()
            with zipfile.ZipFile(spoiled, "w", zipfile.ZIP_DEFLATED) as packed:
                for item in [*content.items(), *((name, b"x") for name in names if name not in content)]:
                    packed.writestr(*item)
            shutil.copy(spoiled, self.stored(1))
            self.call("store", "get", "n1", "--store", self.store, "--out", self.base / "got")
            self.assertEqual(list(self.base.rglob("escaped*")), [])


MY_TIME = """metrics:
  - {{id: my.time, title: mine, better: lower, kind: noisy, gate: gate, definition: {0}, total: {{table: kernels, value: {0} * sum(total_time_ns)}}}}
"""


class Upgrade(Case):
    """Captures of another version of the program are analyzed again from their events."""

    def setUp(self):
        super().setUp()
        self.old = support.another_version(self.base)

    def add_old(self, source, number, *words):
        done = run("store", "add", source, "--store", self.store, "--id", f"n{number}", "--time", f"2026-01-{number:02}T02:00:00Z", *words,
                   program=self.old)
        self.assertEqual(done.returncode, 0, done.stderr)

    def upgrade(self, *words):
        return self.call("store", "upgrade", "--store", self.store, *words).stdout

    def reports(self, number):
        return {name: content for name, content in tree(self.get(number)).items() if not name.startswith("stages/")}

    def test_as_if_analyzed_now(self):
        """Reports, tables and index are those of the same traces analyzed by this program."""
        self.add_old(trace("minimal"), 1)
        self.add_old(trace("loop"), 2)
        self.add(loop(1), 3)
        self.add_old(trace("loop", "--seed", 2), 4, "--keep", "all")
        self.call("store", "index", "--store", self.store)
        shutil.copytree(self.store, self.base / "with reports")
        self.call("store", "index", "--reports", "--store", self.base / "with reports")
        before, fresh = tree(self.store), self.stored(3).read_bytes()
        names = ["n1 analyzed again", "n2 analyzed again", "n4 analyzed again"]
        self.assertEqual(sorted(self.upgrade("--dry-run").splitlines()[:-1]), names)
        self.assertEqual(tree(self.store), before)
        self.assertEqual(sorted(self.upgrade().splitlines()[:-1]), names)
        self.assertEqual(self.upgrade(), "0 of 4 runs analyzed again, 0 cannot be\n")
        self.assertEqual(self.stored(3).read_bytes(), fresh)
        for number, source in ((1, artifacts(trace("minimal"))), (2, artifacts(trace("loop"))), (4, loop(2))):
            self.assert_same(self.reports(number), {name: content for name, content in tree(source).items() if not name.startswith("stages/")})
        after = tree(self.store)
        self.assertEqual([name for name in after if name.startswith("index") and after[name] != before.get(name)], [])
        self.assertEqual(list(self.store.glob("**/.*")), [])
        self.call("store", "upgrade", "--store", self.base / "with reports")
        self.assertEqual({path.parents[1].name for path in (self.base / "with reports").rglob("reports/*")}, {"n3"})

    def test_what_cannot_be(self):
        """Events that were left out, and files that are not given; a damaged capture costs its own run only."""
        self.add_old(trace("bench", "--size", "8M"), 1)
        for number, definition in ((2, 1), (3, 2)):
            (self.base / str(number)).mkdir()
            (self.base / str(number) / "m.yaml").write_text(MY_TIME.format(definition), encoding="ascii")
            out = self.base / f"run{number}"
            done = run("analyze", trace("minimal"), "--metrics", self.base / str(number) / "m.yaml", "--out", out, "-q", program=self.old)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.add(out, number)
        self.add_old(trace("empty"), 4)
        self.stored(4).write_bytes(self.stored(4).read_bytes()[:-1])
        self.add_old(trace("loop"), 5)
        want = [self.stored(number).read_bytes() for number in range(1, 5)]
        said = sorted(self.upgrade().splitlines()[:-1])
        self.assertEqual([line.split(": ")[0] for line in said], [*(f"n{number} stays as it is" for number in range(1, 5)), "n5 analyzed again"])
        self.assertIn("its events cannot be read", said[0])
        self.assertIn("--metrics m.yaml", said[1])
        self.assertEqual([self.stored(number).read_bytes() for number in range(1, 5)], want)
        self.assertIn("n2 analyzed again", self.upgrade("--metrics", self.base / "3/m.yaml"))
        row, = self.call("sql", "--store", self.store, "--format", "ndjson", "select distinct definition, value from metrics where metric = 'my.time' and run_id in ('n2', 'n3')").stdout.splitlines()
        self.assertEqual(json.loads(row)["definition"], 2)

    @support.tier("ci")
    def test_killed(self):
        """The next one ends where an undisturbed one does."""
        self.add_old(trace("minimal"), 1)
        self.add_old(trace("minimal"), 2, "--keep", "all")
        whole = self.base / "whole"
        shutil.copytree(self.store, whole)
        self.call("store", "upgrade", "--store", whole)
        want = tree(whole)
        for source, steps in ((MAKER, range(1, 240, 40)), (KILLER, range(1, 120, 25))):
            killer, killed = support.shim(source), 0
            for calls in steps:
                disturbed = self.base / "disturbed"
                shutil.rmtree(disturbed, ignore_errors=True)
                shutil.copytree(self.store, disturbed)
                killed += run("store", "upgrade", "--store", disturbed, env={"LD_PRELOAD": killer, "SHIM_KILL": str(calls)}).returncode < 0
                self.assertEqual(len(self.call("store", "list", "--store", disturbed).stdout.splitlines()), 2)
                self.call("store", "upgrade", "--store", disturbed)
                self.assert_same(tree(disturbed), want, calls)
            self.assertGreater(killed, 2)


class Meanwhile(Case):
    def test_two_make_the_store(self):
        """Another add makes it between the look for store.json and the look for other files."""
        self.store.mkdir()
        other = ("store", "add", loop(2), "--store", self.store, "--id", "n2")
        self.add(loop(1), 1, env=meanwhile("opendir", "/s", *other))
        self.assertEqual({p.name for p in self.store.glob("runs/*/*/*")}, {"n1", "n2"})

    def test_two_add_the_same_run(self):
        """One adds it; for the other it is there already, with what that one says of it."""
        add = ("store", "add", loop(1), "--store", self.store, "--id", "n1")
        done = self.call(*add, env=meanwhile("openat", "timeline.ntab", *add))
        self.assertEqual(done.stdout, "n1 is there already\n")
        add = ("store", "add", loop(2), "--store", self.store, "--id", "n2")
        done = self.call(*add, "--verdict", "fail", env=meanwhile("openat", "timeline.ntab", *add))
        self.assertEqual(done.stdout, "n2: labels or verdict updated\n")
        self.assertIn('"fail"', (self.stored(2).parents[1] / "run.json").read_text())
        other = ("store", "add", loop(4), "--store", self.store, "--id", "n3")
        self.assertIn("another", self.add(loop(3), 3, expect=2, env=meanwhile("openat", "timeline.ntab", *other)).stderr)
        self.assertEqual(list(self.store.glob("runs/*/*/.*")), [])

    @support.tier("ci")
    def test_killed_while_adding(self):
        """The run is there, whole, or not at all; the next one adds it. So with what is said of a run that is there."""
        killer = support.shim(MAKER)
        self.add(loop(1), 1)
        whole = self.base / "whole"
        self.call("store", "add", loop(2), "--store", whole, "--id", "n2", "--label", "a=1")
        want, killed = tree(next(whole.glob("runs/*/*/n2"))), 0
        for calls in range(1, 100):
            done = run("store", "add", loop(2), "--store", self.store, "--id", "n2", "--label", "a=1",
                       env={"LD_PRELOAD": killer, "SHIM_KILL": str(calls)})
            there = list(self.store.glob("runs/*/*/n2"))
            self.assertIn(tree(there[0]) if there else want, (want,), calls)
            self.assertEqual(len(self.call("store", "list", "--store", self.store).stdout.splitlines()), 1 + len(there))
            self.call("store", "add", loop(2), "--store", self.store, "--id", "n2", "--label", "a=1")
            self.assertEqual(tree(next(self.store.glob("runs/*/*/n2"))), want)
            self.assertEqual(list(self.store.glob("runs/*/*/.*")), [])
            self.call("store", "remove", "n2", "--store", self.store)
            killed += done.returncode < 0
            if not done.returncode:
                break
        self.assertGreater(killed, 9)
        self.assertEqual(done.returncode, 0)

    @support.tier("ci")
    def test_killed_while_pruning(self):
        """The next one ends where an undisturbed one does, whether captures are packed or thinned out."""
        for number in (1, 2, 3):
            self.call("store", "add", loop(number), "--store", self.store, "--keep", "all", "--id", f"n{number}", "--time", f"2026-01-{number:02}T02:00:00Z")
        for options, said in (((), "n1 "), (("--monthly", "all"), "thinned out")):
            words = ("store", "prune", "--keep", "0d", *options, "--store")
            whole = self.base / "whole"
            shutil.rmtree(whole, ignore_errors=True)
            shutil.copytree(self.store, whole)
            self.assertIn(said, self.call(*words, whole).stdout)
            want = tree(whole / "runs")
            for source, steps in ((MAKER, range(1, 10, 2)), (KILLER, range(1, 60, 9))):
                killer, killed = support.shim(source), 0
                for calls in steps:
                    disturbed = self.base / "disturbed"
                    shutil.rmtree(disturbed, ignore_errors=True)
                    shutil.copytree(self.store, disturbed)
                    killed += run(*words, disturbed, env={"LD_PRELOAD": killer, "SHIM_KILL": str(calls)}).returncode < 0
                    self.assertEqual(len(self.call("store", "list", "--store", disturbed).stdout.splitlines()), 3)
                    self.call(*words, disturbed)
                    self.assert_same(tree(disturbed / "runs"), want, calls)
                    self.assertEqual(list(disturbed.glob("runs/**/.*")), [])
                self.assertGreater(killed, 3)

    @support.tier("ci")
    def test_killed_while_rebuilding(self):
        """Until it is done, what was there before is there; the next one makes the same bytes. With summaries and without."""
        for number in (1, 2):
            self.add(loop(number), number)
        self.call("store", "index", "--store", self.store)
        before = tree(self.store)
        self.add(loop(3), 3)
        whole = self.base / "whole"
        shutil.copytree(self.store, whole)
        self.call("store", "index", "--store", whole)
        want, killed, calls = tree(whole), 0, 0
        for calls in range(1, 200):
            disturbed = self.base / "disturbed"
            shutil.rmtree(disturbed, ignore_errors=True)
            shutil.copytree(self.store, disturbed)
            if calls % 2:
                for path in disturbed.glob("runs/*/*/*/summary.bin"):
                    path.unlink()
            done = run("store", "index", "--store", disturbed, env={"LD_PRELOAD": support.shim(MAKER), "SHIM_KILL": str(calls)})
            killed += done.returncode < 0
            for name in ("index.sqlite", "index.csv", "index.html"):
                self.assertIn((disturbed / name).read_bytes(), (before[name], want[name]), calls)
            self.call("store", "index", "--store", disturbed)
            self.assert_same(tree(disturbed), want, calls)
            if not done.returncode and calls % 2:
                break
        self.assertGreater(killed, 9)
        self.assertEqual(done.returncode, 0)

    def test_many_add_at_once(self):
        """None is lost, with locks and without; the index is that of one after the other."""
        lockless = support.shim(LOCKLESS)
        indexes = []
        for number, env in enumerate(({}, {"LD_PRELOAD": lockless}, None)):
            store = self.base / f"s{number}"
            words = [[PROGRAM, "store", "add", loop(1 + n % 4), "--store", store, "--series", f"s{n % 3}", "--id", f"n{n}", "-q"]
                     for n in range(32)]
            children = []
            for call in words:
                children.append(subprocess.Popen(call, env={**os.environ, **(env or {})}, stderr=subprocess.PIPE))
                if env is None:
                    children[-1].wait()
            self.assertEqual([child.communicate()[1] for child in children], [b""] * 32)
            self.assertEqual([child.returncode for child in children], [0] * 32)
            self.call("store", "index", "--store", store, env=env or {})
            indexes.append([(store / f"index.{kind}").read_bytes() for kind in ("sqlite", "csv", "html")])
        self.assertEqual(indexes[0], indexes[2])
        self.assertEqual(indexes[1], indexes[2])

    def test_one_run_reads_no_other(self):
        """What one night costs, and what is said of it, does not grow with the nights that are there."""
        self.add(loop(1), 1)
        self.call("store", "annotate", "n1", "--kind", "ignore", "--text", "t", "--store", self.store)
        first = self.stored(1).parents[1]
        counts = []
        for copies in (0, 300):
            for number in range(copies):
                shutil.copytree(first, first.with_name(f"c{number}"), copy_function=os.link)
            counts.append([])
            for words in (("add", loop(2), "--id", "x"), ("annotate", "x", "--kind", "ignore", "--text", "t"), ("baseline", "set", "b", "n1"),
                          ("remove", "x")):
                calls = self.base / "calls"
                done = subprocess.run(["strace", "-f", "-o", calls, PROGRAM, "store", *words, "--store", self.store], capture_output=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                counts[-1].append(sum("getdents" not in line for line in calls.open(errors="replace")))
        for few, many in zip(*counts):
            self.assertAlmostEqual(few, many, delta=8)

    def test_killed_while_sweeping(self):
        """Whatever is left then, the next one removes."""
        killer = support.shim(KILLER)
        self.add(loop(1), 1)
        for calls in range(1, 14):
            left = self.stored(1).parents[2] / ".n2.0123456789abcdef.nsys-ai-tmp"
            left.mkdir()
            for name in (".nsys-ai-temporary", *map(str, range(8))):
                (left / name).write_text("half", encoding="ascii")
            run("store", "index", "--store", self.store, env={"LD_PRELOAD": killer, "SHIM_KILL": str(calls)})
            self.call("store", "index", "--store", self.store)
            self.assertFalse(left.exists(), calls)

    def test_a_run_that_is_replaced_while_it_is_stored(self):
        """The old one is stored, whole."""
        source, whole = self.own(), tree(loop(1))
        self.add(source, 1, env=meanwhile("openat", "timeline.ntab", "analyze", trace("minimal"), "-q", "--out", source))
        self.assert_same(without_stamp(tree(self.get(1))), without_stamp(whole))
        self.assertEqual(tree(source), tree(artifacts(trace("minimal"))))

    def test_a_run_that_is_replaced_while_it_is_read(self):
        """Before and after the reader has locked it; what makes way is removed when nobody reads it any longer."""
        old, new = loop(1), artifacts(trace("loop", "--seed", 2))
        want = [run("summary", directory).stdout for directory in (old, new)]
        self.assertNotEqual(*want)
        for moment, path, shown in (("openat", "manifest.json", want[0]), ("openat", "extract.ntab", want[0]),
                                    ("share", "", want[1])):
            base = fresh_dir()
            out = base / "run"
            shutil.copytree(old, out)
            done = self.call("summary", out, env=meanwhile(moment, path, "analyze", trace("loop", "--seed", 2), "-q", "--out", out))
            self.assertEqual((done.stdout, done.stderr), (shown, ""), moment)
            self.assertEqual(tree(out), tree(new))
            analyze(trace("minimal"), out=out)
            self.assertEqual(os.listdir(base), ["run"], moment)

    def test_readers_make_no_writer_wait(self):
        """Neither one that replaces the run, nor one that writes beneath it, as this very comparison does."""
        out = self.own()
        reader = os.open(out / "stages", os.O_RDONLY)
        self.addCleanup(os.close, reader)
        fcntl.flock(reader, fcntl.LOCK_SH)
        self.call("compare", out, loop(2), "--out", out / "compare", timeout=30)
        shutil.rmtree(out / "compare")
        analyze(trace("minimal"), out=out)
        self.assertEqual(tree(out), tree(artifacts(trace("minimal"))))


if __name__ == "__main__":
    support.main()
