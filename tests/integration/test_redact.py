"""analyze --redact: a run that leaves its owner's house holds none of the words that are his, and says the same."""
import re
import stat
import unittest

import support
from support import analyze, edited, fresh_dir, read_csv, report, run, trace

PRIVATE = ("zebrafish", "quaggalib", "numbat", "axolotl", "глокая")


def private_trace():
    """Ranges, kernels, a process and a thread of a training run with names of somebody's own."""
    return edited("training", "UPDATE NVTX_EVENTS SET text = 'ZebrafishModel.' || text WHERE text LIKE 'forward%'",
                  "UPDATE NVTX_EVENTS SET text = 'глокая_' || text WHERE text LIKE 'zero_grad%'",
                  "UPDATE StringIds SET value = replace(value, 'pytorch_flash', 'quaggalib')",
                  "UPDATE StringIds SET value = replace(value, 'pt_autograd', 'axolotl')", "UPDATE PROCESSES SET name = 'numbat-python3' WHERE pid = 6001")


def found(directory, words):
    """Words that some file of a run holds, in its name or its bytes."""
    there = set()
    for path in directory.rglob("*"):
        text = (support.contents(path).lower() if path.is_file() else b"") + path.name.encode()
        there |= {word for word in words if word.encode() in text}
    return there


class Redact(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path, cls.map = private_trace(), fresh_dir("map") / "map.csv"
        cls.plain, cls.out = analyze(cls.path), analyze(cls.path, "--redact", cls.map)

    def test_no_private_word_is_left(self):
        self.assertEqual(found(self.plain, PRIVATE), set(PRIVATE))
        self.assertEqual(found(self.out, PRIVATE), set())
        self.assertIn(b"kernel_name", support.contents(self.out / "report.html"))
        self.assertEqual(found(self.out, [self.path.name, str(self.path.parent)]), set())
        tables = sorted({name for path in (self.out / "stages").glob("*.ntab") for name in support.tables_in(path.read_bytes()) or [path.stem]})
        self.assertGreater(len(tables), 50)
        for table in tables:
            printed = run("table", self.out, table)
            self.assertEqual((printed.returncode, [word for word in PRIVATE if word in printed.stdout.lower()]), (0, []), table)
        for command in ("summary", "tree", "info"):
            self.assertFalse([word for word in PRIVATE if word in run(command, self.out).stdout.lower()], command)
        away = fresh_dir()
        for format_name in ("perfetto", "chrome", "folded", "speedscope"):
            made = run("export", format_name, self.out, "--out", away / format_name)
            self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(run("compare", self.out, self.out, "--allow", "same_content", "--out", away / "compared").returncode, 0)
        self.assertEqual(found(away, PRIVATE), set())

    def test_it_says_the_same(self):
        columns = ("id", "severity", "scope", "saving_ms")
        self.assertEqual(*([[row[c] for c in columns] for row in read_csv(where, "findings")] for where in (self.plain, self.out)))
        for table in ("kernel_categories", "gpu_utilization", "step_summary", "comm_ops"):
            self.assertEqual(read_csv(self.plain, table), read_csv(self.out, table), table)

    def test_what_rules_look_for_is_public(self):
        """Names that rules tell something by say it in a redacted run, too."""
        def words(text):
            return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", text) if len(word) > 1}
        rules = support.SOURCE / "rules"
        public = set().union(*(words(line) for path in (*(path for path in rules.iterdir() if path.name not in ("default.yaml", "intents.yaml")), *(support.SOURCE / "phase-maps").iterdir())
                               for line in path.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")))
        looked_for = re.findall(r"(?:contains|begins|ends)\(\s*[\w.]+,\s*'([^']+)'", (rules / "default.yaml").read_text(encoding="utf-8"))
        self.assertGreater(len(looked_for), 50)
        self.assertEqual({text: words(text) - public for text in looked_for if words(text) - public}, {})

    def test_the_map_leads_back(self):
        words = dict(line.split(",") for line in self.map.read_text(encoding="utf-8").splitlines()[1:])
        self.assertEqual(stat.S_IMODE(self.map.stat().st_mode), 0o600)
        self.assertLessEqual({"Zebrafish", "quaggalib", "numbat", "axolotl", "глокая"}, set(words.values()))
        for table, column in (("kernels", "kernel_name"), ("nvtx_ranges", "range_name")):
            plain, redacted = (sorted(row[column] for row in read_csv(where, table)) for where in (self.plain, self.out))
            self.assertEqual(sorted(re.sub(r"X\d+", lambda match: words.get(match[0], match[0]), name) for name in redacted), plain, table)
            self.assertNotEqual(redacted, plain, table)

    def test_tokens_are_stable(self):
        """The same map, the same bytes; another trace adds to it."""
        before = self.map.read_text(encoding="utf-8")
        again = analyze(self.path, "--redact", self.map, "-j1")
        self.assertEqual(self.map.read_text(encoding="utf-8"), before)
        for name in ("report.json", "report.html", "report.md"):
            self.assertEqual((again / name).read_bytes(), (self.out / name).read_bytes(), name)
        analyze(edited("training", "UPDATE PROCESSES SET name = 'wombat' WHERE pid = 6001"), "--redact", self.map)
        after = self.map.read_text(encoding="utf-8")
        self.assertTrue(after.startswith(before))
        self.assertIn(",wombat\n", after)

    def test_secrets_do_not_enter_the_map(self):
        """Environment variables of the capture, and what programs printed, are texts that nobody asked for."""
        secret = edited("training", "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_LAUNCH_ENVIRONMENT', 'KEY=ocelot')",
                        "UPDATE TARGET_INFO_SYSTEM_ENV SET value = value || ' ocelot'")
        keep = fresh_dir() / "map.csv"
        analyze(secret, "--redact", keep)
        self.assertNotIn("ocelot", keep.read_text(encoding="utf-8"))
        self.assertIn(b"CANARY", secret.read_bytes())
        self.assertNotIn("CANARY", keep.read_text(encoding="utf-8"))

    def test_what_would_bring_words_along_is_refused(self):
        out, keep = fresh_dir() / "out", fresh_dir() / "map.csv"
        for words in (("--step", "x"), ("--rules", "r.yaml"), ("--known", "k.yaml"), ("--kernel-classes", "c.rules")):
            done = run("analyze", self.path, "-q", "--out", out, "--redact", keep, *words)
            self.assertEqual((done.returncode, keep.exists(), out.exists()), (2, False, False), words)
        for where in (out / "map.csv", f"{out.parent}/./out/map.csv", "out/map.csv"):
            done = run("analyze", self.path, "-q", "--out", "out", "--redact", where, cwd=out.parent)
            self.assertEqual(done.returncode, 2)
            self.assertIn("given away", done.stderr)
        keep.write_text("token,word\nX2,a\n")
        done = run("analyze", self.path, "-q", "--out", out, "--redact", keep)
        self.assertEqual((done.returncode, keep.read_text()), (2, "token,word\nX2,a\n"))
        self.assertIn("map.csv:2: not a map", done.stderr)

    def test_sources_stay_as_they_are(self):
        before = self.path.read_bytes()
        analyze(self.path, "--redact", fresh_dir() / "map.csv")
        self.assertEqual(self.path.read_bytes(), before)
        self.assertEqual([p.name for p in self.path.parent.iterdir()], [self.path.name])


if __name__ == "__main__":
    support.main()
