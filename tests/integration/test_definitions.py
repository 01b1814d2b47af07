"""The reference against a report: every table says what it cannot know, every column is explained; docs/analyses.md has sections of tables
only."""
import re
import unittest

import support
from support import SOURCE, artifacts, report, run, trace

TEXT = (SOURCE / "docs" / "analyses.md").read_text(encoding="utf-8")


def sections(text):
    """Text by table."""
    parts = re.split(r"^### ", re.sub(r"^## .*?(?=^### |\Z)", "", text, flags=re.M | re.S), flags=re.M)[1:]
    return {part.split("\n", 1)[0].strip(): part for part in parts}


class Definitions(unittest.TestCase):
    def setUp(self):
        self.tables = report(artifacts(trace("steps"))).json["tables"]

    def test_sections_are_of_tables(self):
        there = set(self.tables) | {"skill_answers", "findings", "evidence"}
        self.assertEqual([name for name in sections(TEXT) if re.fullmatch(r"[a-z_]+", name) and name not in there], [])

    def test_every_column(self):
        reference = sections(run("sql", "--reference", artifacts(trace("steps"))).stdout)
        for name, table in self.tables.items():
            meanings = dict(re.findall(r"^\| `(\w+)` \|[^|]*\|[^|]*\| (.*) \|$", reference[name], re.M))
            missing = [c["name"] for c in table["columns"] if len(meanings.get(c["name"], "")) < 2]
            self.assertEqual(missing, [], f"columns of {name} that src/tables/{name}.h does not explain")

    def test_what_each_cannot_know(self):
        self.assertEqual([name for name, table in self.tables.items() if len(table.get("cannot_know", "")) < 10], [])
        reference = sections(run("sql", "--reference", artifacts(trace("steps"))).stdout)
        self.assertEqual([name for name in self.tables if "Cannot know: " not in reference[name]], [])

    def test_what_no_real_export_has_shown(self):
        """Capabilities say so of each such table, and docs/compatibility.md says what is not known and what to send."""
        section = (SOURCE / "docs/compatibility.md").read_text(encoding="utf-8").partition("\n## Not seen in a real export\n")[2]
        listed = " ".join(line.split("|")[2] for line in section.splitlines() if line.startswith("| "))
        for scenario, tables in (("mpi", "MPI_P2P_EVENTS"), ("openacc-data", "CUPTI_ACTIVITY_KIND_OPENACC_DATA"), ("call-sites", "CUDA_CALLCHAINS"),
                                 ("host-functions", "CUDA_HOST_CALLBACK"), ("time-sliced", "GPU_CONTEXT_SWITCH_EVENTS"), ("sampled", "GPU_METRICS"),
                                 ("decompression", "CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS"), ("steps", "")):
            found = {r["source"] for r in support.read_csv(artifacts(trace(scenario)), "capabilities") if "verified on generated exports only" in r["detail"]}
            self.assertEqual(set(tables.split()) - found, set())
            self.assertEqual([t for t in found if not any(name.rstrip("*") in t for name in re.findall(r"`(\w+\*?)`", listed))], [])
            self.assertTrue(found or scenario == "steps")
        self.assertEqual(found, set())


if __name__ == "__main__":
    support.main()
