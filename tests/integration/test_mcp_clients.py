"""The server for clients of language models, asked by other people's clients (tests/npm)."""
import json
import pathlib
import shutil
import subprocess
import unittest

import support
from support import PROGRAM, SOURCE, fresh_dir, trace

NPM = SOURCE / "tests/npm"
TOOLS = "probe analyze findings explain tables table sql window skills run_skill compare".split()


def node_is_there():
    done = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False) if shutil.which("node") else None
    return done is not None and done.returncode == 0 and int(done.stdout.strip("v\n").split(".")[0]) >= 20


@unittest.skipUnless(node_is_there(), "no Node 20 or later")
@unittest.skipUnless((NPM / "node_modules/@modelcontextprotocol").is_dir(), "the packages of tests/npm are not installed (scripts/setup --tests)")
class Clients(unittest.TestCase):
    def setUp(self):
        self.root, self.cache = fresh_dir("root"), fresh_dir("cache")
        shutil.copy(trace("training"), self.root / "t.sqlite")

    def test_each(self):
        """The packages refuse replies that are not the protocol's, and answers that are not what a tool promises."""
        started = {library: subprocess.Popen(["node", NPM / "mcp_client.mjs", library, PROGRAM, self.root, self.cache, "t.sqlite"], stdout=subprocess.PIPE,
                                             stderr=subprocess.PIPE, text=True) for library in ("sdk", "auto", "legacy", "2026-07-28")}
        for library, process in started.items():
            out, said = process.communicate(timeout=60)
            with self.subTest(library):
                self.assertEqual((process.returncode, said), (0, ""))
                seen = json.loads(out)
                self.assertEqual(seen["listed"], TOOLS)
                self.assertEqual(set(seen["tools"]), set(TOOLS))
                self.assertEqual(seen["version"]["name"], "nsys-ai")
                self.assertTrue(all(seen["resources"].values()) and len(seen["resources"]) == 3 and seen["report"] > 1000 and seen["templates"] >= 1)
                self.assertEqual(seen["prompts"], {"triage": 1, "explain_finding": 1, "compare_runs": 1})
                self.assertEqual((seen["refused"], seen["wrong"], seen["cancelled"], seen["after"]), (True, -32602, "given up", 7))
                self.assertTrue(seen["instructions"])
        self.assertFalse([p for p in pathlib.Path(self.root).iterdir() if p.name != "t.sqlite"])


if __name__ == "__main__":
    support.main()
