#!/usr/bin/env python3
"""The program speaks the words of its field: no phrase of its own dialect, American spelling, short titles, one label per enumerated value."""
import re
import unittest

import yaml

from support import SOURCE

# What was said before the field's terms replaced it, and words that make a sentence longer without a fact.
BANNED = r"""
that nothing hides | nothing hides | drained the queue | draining wait | mostly for this reason | for this reason | long in all | (?<!at)\bin\ all\b(?!\ (?:[a-z]+\ )*(?:steady|steps|idle|kernels|ranks|GPUs|processes|cases|three|formats|outputs|of))
\banew\b | again\ and\ again | \bwhoever\b | of\ it\ innermost | CPU\ time\ of\ its\ own | \bat\ stake\b | worth\ a\ finding | nothing\ to\ judge | steady\ state\ to\ judge
\bcame\ last\b | \bcomes\ last\b | \bbeyond\ doubt\b | \bmeanwhile\b | proves?\ nothing | cannot\ prove\ it | longest\ kernels | from\ call\ to\ start | waits\ between\ launches
what\ cuda\ graphs\ would\ win | rates\ of\ copies | kernels\ by\ place | waiting\ by\ gpu | what\ the\ program\ is\b(?!\ (?:recog|detect)) | (?:can|could)\ be\ won | \bwould\ win\b | \bnothing\ to\ do\ next
multiprocessors\ are\ idle | (?<!host-)\bset-up\b
"""
BRITISH = r"""
normalis | optimis | utilis | synchronis | initialis | (?<!\bde)serialis | organis | recognis | summaris | minimis | maximis | visualis | prioritis | parallelis(?!m) | vectoris | quantis | specialis | generalis | categoris
\w*colour | behaviour | neighbour | \bcentre | favour | labelled | (?<!notifications/)cancelled | cancelling | modelled | \blicence | \bcatalogue\b(?!\.\w) | \banalysed?\b | analysing | \bgrey\b | artefact
"""


def pattern(words):
    parts = [part.strip() for line in words.strip().splitlines() for part in line.split(" | ")]
    return re.compile("|".join(part.replace(r"\ ", r"\s+").replace(" ", r"\s+") for part in parts if part), re.I)


BANNED, BRITISH = pattern(BANNED), pattern(BRITISH)
SCRIPT_STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|`[^`]*`")
ANSWER = re.compile(r"\b(?:text|answer|none): |human\(")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def strings_of_c(text):
    """Texts of a C file with their line numbers; literals that follow one another are one."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    joined, line, end = "", 0, None
    for match in STRING.finditer(text):
        if end is not None and not text[end:match.start()].strip():
            joined += match.group(1)
        else:
            if joined:
                yield line, joined
            joined, line = match.group(1), text.count("\n", 0, match.start()) + 1
        end = match.end()
    if joined:
        yield line, joined


def prose():
    """(file, line, text) of all that users read."""
    for path in sorted(SOURCE.glob("src/**/*.[ch]")):
        for line, text in strings_of_c(path.read_text()):
            yield path, line, text
    files = [p for glob in ("templates/**/*.mustache", "rules/*.yaml", "skills/*.yaml", "metrics/*.yaml", "pages/*", "phase-maps/*", "docs/*.md", "docs/root-causes/*.md", "README.md",
                            "CONTRIBUTING.md", "templates/viewer/src/**/*.js", "src/features/mcp/*.json", "docs/*.json") for p in sorted(SOURCE.glob(glob)) if p.is_file()]
    for path in files:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if path.name == "intents.yaml" and not ANSWER.search(line):  # holds the words of askers, too
                continue
            for text in SCRIPT_STRING.findall(line) if path.suffix == ".js" else [line]:
                yield path, number, text


def named(path):
    return path.relative_to(SOURCE)


def titles(rule):
    """All titles a rule may have."""
    title = rule["title"]
    texts = [title] if isinstance(title, str) else [item.get("text") or item.get("else") for item in title]
    return texts + ([rule["title_many"]] if "title_many" in rule else [])


class Words(unittest.TestCase):
    maxDiff = None

    def test_no_banned_phrase(self):
        found = [f"{named(path)}:{line}: {match.group()!r}" for path, line, text in prose() for match in BANNED.finditer(text)]
        self.assertEqual(found, [])

    def test_american_spelling(self):
        found = [f"{named(path)}:{line}: {match.group()!r}" for path, line, text in prose() for match in BRITISH.finditer(text)]
        self.assertEqual(found, [])

    def test_titles_of_findings_are_short(self):
        """At most six words before a bracket, or before and behind a colon together eight; no full stop, no clause."""
        rules = yaml.safe_load((SOURCE / "rules/default.yaml").read_text())["rules"]
        for rule in rules:
            for title in titles(rule):
                with self.subTest(rule=rule["id"], title=title):
                    words = re.sub(r"\{\{.*?\}\}", "X", re.sub(r"\(.*?\)", "", title)).split()
                    self.assertLessEqual(len(words), 8 if ":" in title else 6)
                    self.assertFalse(title.endswith("."))
                    self.assertNotRegex(title, r"\b(that|which|whose|while|because)\b")

    def test_sentences_of_rules_are_short(self):
        for rule in yaml.safe_load((SOURCE / "rules/default.yaml").read_text())["rules"]:
            for item in rule["why"] + rule["recommendation"]:
                text = item if isinstance(item, str) else item.get("text") or item.get("else")
                for sentence in re.split(r"(?<=[.!?:;])\s+", text):
                    with self.subTest(rule=rule["id"], sentence=sentence):
                        self.assertLessEqual(len(sentence.split()), 21)  # the dash of a list counts as one

    def test_sentences_of_pages_are_short(self):
        """At most 20 words; blocks of code and tables are left out."""
        pages = [path for glob in ("*.md", "docs/*.md", "docs/root-causes/*.md") for path in sorted(SOURCE.glob(glob)) if path.stem != "CHANGELOG"]
        for name in (str(path.relative_to(SOURCE)) for path in pages):
            text = re.sub(r"(?ms)^    .*?$|^ *\|.*?$|^#.*?$|^```.*?^```", "", (SOURCE / name).read_text(encoding="utf-8"))
            for paragraph in re.split(r"\n\s*\n|\n- ", text):
                for sentence in re.split(r"(?<=[.!?:;])\s+|(?<=[.!?:;]\*\*)\s+", " ".join(paragraph.split())):
                    with self.subTest(page=name, sentence=sentence):
                        sentence = re.sub(r"`[^`]*`(?:,? (?:and |or )?`[^`]*`)*", "code", sentence)  # a list of names is one word
                        self.assertLessEqual(sum(bool(re.search(r"\w", word)) for word in sentence.split()), 20)

    def test_page_has_the_labels_of_the_program(self):
        source = (SOURCE / "src/tables/values.c").read_text()
        causes = source[source.index("nai_cause_labels[]"):source.index("/* Active spans")]
        labels = dict(re.findall(r'\{"(\w+)",\s*"([^"]+)"\}', causes))
        self.assertGreater(len(labels), 12)
        page = (SOURCE / "templates/viewer/src/colors.js").read_text()
        names = page[page.index("const CAUSE_NAMES"):]
        self.assertEqual(dict(re.findall(r"^  (\w+): '([^']+)',$", names[:names.index("};")], re.M)), labels)


if __name__ == "__main__":
    unittest.main()
