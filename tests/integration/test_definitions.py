"""docs/analyses.md against a report: every table has its section, which defines every column and says what it cannot know."""
import re
import unittest

import support
from support import SOURCE, artifacts, report, trace

TEXT = (SOURCE / "docs" / "analyses.md").read_text(encoding="utf-8")
LIMITS = re.compile(r"^(- |\*\*)?(Limits|Cannot know|Not knowable)|It cannot know", re.M)


def sections():
    """Text by table."""
    parts = re.split(r"^### ", re.sub(r"^## .*?(?=^### |\Z)", "", TEXT, flags=re.M | re.S), flags=re.M)[1:]
    return {part.split("\n", 1)[0].strip(): part for part in parts}


def is_defined(column, text):
    """A number of which another unit is defined is: they are prints of one."""
    base, _, unit = column.rpartition("_")
    names = [f"{base}_{other}" for other in ("ns", "us", "ms")] if unit in ("ns", "us", "ms") else [column]
    return any(f"`{name}`" in text for name in (column, *names))


class Definitions(unittest.TestCase):
    def setUp(self):
        self.tables = report(artifacts(trace("steps"))).json["tables"]
        self.sections = sections()

    def test_every_column_of_every_table(self):
        self.assertEqual(set(self.tables) - set(self.sections), set())
        for name, table in self.tables.items():
            missing = [c["name"] for c in table["columns"] if not is_defined(c["name"], self.sections[name])]
            self.assertEqual(missing, [], f"columns of {name} that its section does not define")

    def test_what_each_cannot_know(self):
        self.assertEqual([name for name, text in self.sections.items() if not LIMITS.search(text)], [])


if __name__ == "__main__":
    support.main()
