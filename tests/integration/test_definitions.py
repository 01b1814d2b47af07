"""docs/analyses.md and the reference against a report: every table has its section, which says what it cannot know; every column is
explained."""
import re
import unittest

import support
from support import SOURCE, artifacts, report, run, trace

TEXT = (SOURCE / "docs" / "analyses.md").read_text(encoding="utf-8")
LIMITS = re.compile(r"^(- |\*\*)?(Limits|Cannot know|Not knowable)|It cannot know", re.M)


def sections(text):
    """Text by table."""
    parts = re.split(r"^### ", re.sub(r"^## .*?(?=^### |\Z)", "", text, flags=re.M | re.S), flags=re.M)[1:]
    return {part.split("\n", 1)[0].strip(): part for part in parts}


class Definitions(unittest.TestCase):
    def setUp(self):
        self.tables = report(artifacts(trace("steps"))).json["tables"]

    def test_every_table(self):
        self.assertEqual(set(self.tables) - set(sections(TEXT)), set())

    def test_every_column(self):
        reference = sections(run("sql", "--reference", artifacts(trace("steps"))).stdout)
        for name, table in self.tables.items():
            meanings = dict(re.findall(r"^\| `(\w+)` \|[^|]*\|[^|]*\| (.*) \|$", reference[name], re.M))
            missing = [c["name"] for c in table["columns"] if len(meanings.get(c["name"], "")) < 2]
            self.assertEqual(missing, [], f"columns of {name} that src/tables/{name}.h does not explain")

    def test_what_each_cannot_know(self):
        self.assertEqual([name for name, text in sections(TEXT).items() if not LIMITS.search(text)], [])


if __name__ == "__main__":
    support.main()
