"""The server for clients of language models, asked by other people's clients (tests/npm)."""
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import tomllib
import unittest

import support
from support import PROGRAM, SOURCE, fresh_dir, trace

NPM = SOURCE / "tests/npm"
TOOLS = "probe analyze findings explain tables table sql window critical_path whatif skills run_skill ask check_claims compare export".split()


def node_is_there():
    done = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False) if shutil.which("node") else None
    return done is not None and done.returncode == 0 and int(done.stdout.strip("v\n").split(".")[0]) >= 20


@unittest.skipUnless(node_is_there(), "no Node 20 or later")
@unittest.skipUnless((NPM / "node_modules/@modelcontextprotocol").is_dir(), "no clients of MCP (npm)")
class Clients(unittest.TestCase):
    def setUp(self):
        self.root = fresh_dir("root")
        shutil.copy(trace("training"), self.root / "t.sqlite")

    def test_each(self):
        """The packages refuse replies that are not the protocol's, and answers that are not what a tool promises."""
        started = {library: subprocess.Popen(["node", NPM / "mcp_client.mjs", library, PROGRAM, self.root, fresh_dir("cache"), "t.sqlite"], stdout=subprocess.PIPE,
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
                self.assertEqual((seen["refused"], seen["wrong"], seen["cancelled"], seen["after"]), (True, True, "given up", 7))
                self.assertTrue(seen["instructions"])
        self.assertFalse([p for p in pathlib.Path(self.root).iterdir() if p.name != "t.sqlite"])


class Guide(unittest.TestCase):
    def test_configurations_are_those_of_the_documentation(self):
        """... and start a server that answers."""
        page = (SOURCE / "docs/agents.md").read_text(encoding="utf-8")
        lines = {line.strip() for line in page.splitlines()}
        shown = [json.loads(line) for line in lines if line.startswith("{")]
        commands = []
        for client, key in (("claude", "mcpServers"), ("vscode", "servers")):
            config = json.loads(support.run("guide", "--config", client).stdout)
            self.assertIn(config, shown)
            commands.append([config[key]["nsys-ai"]["command"], *config[key]["nsys-ai"]["args"]])
        toml = tomllib.loads(support.run("guide", "--config", "codex").stdout)["mcp_servers"]["nsys-ai"]
        self.assertLessEqual(set(support.run("guide", "--config", "codex").stdout.split("\n")) - {""}, lines)
        commands.append([toml["command"], *toml["args"]])
        for name, *words in commands:
            self.assertEqual((name, words[:2]), ("nsys-ai", ["mcp", "--root"]))
            done = subprocess.run([PROGRAM, *words[:2], fresh_dir(), "--cache", fresh_dir()], input='{"jsonrpc":"2.0","id":1,"method":"ping"}\n', capture_output=True,
                                  text=True, check=True)
            self.assertEqual(json.loads(done.stdout)["id"], 1)

    def test_plugin(self):
        plugin = SOURCE / "packaging/claude"
        self.assertEqual((plugin / ".mcp.json").read_text(), support.run("guide", "--config", "claude").stdout)
        about = json.loads((plugin / ".claude-plugin/plugin.json").read_text())
        self.assertEqual((about["name"], about["version"]), ("nsys-ai", support.run("--version").stdout.split()[1]))
        self.assertRegex((plugin / "skills/nsys-ai/SKILL.md").read_text(), r"\A---\nname: nsys-ai\ndescription: .+\n---\n")

    def test_the_guide_names_what_there_is(self):
        page = support.run("guide").stdout
        self.assertEqual(page, (SOURCE / "docs/llm-guide.md").read_text(encoding="utf-8"))
        commands = support.run("--help").stdout
        for command in re.findall(r"`nsys-ai ([a-z]+)", page):
            self.assertIn(f"\n  {command} ", commands)

    def test_every_command_of_the_guide_works(self):
        place = fresh_dir()
        support.run("analyze", trace("training"), "-q", "--out", place / "artifacts/run1")
        page = support.run("guide").stdout
        done = 0
        for words in map(shlex.split, re.findall(r"`nsys-ai ([^`]*artifacts/run1[^`]*)`", page)):
            words = [w.replace("[TABLE]", "kernels").replace("ID", "streams").replace("select ...", "select 1 as x") for w in words]
            words = [str(trace("training")) if w == "TRACE" else w for w in words]
            with self.subTest(words):
                result = support.run(*words, cwd=place)
                self.assertEqual(result.returncode, 0, result.stderr)
                done += 1
        self.assertGreaterEqual(done, 6)


if __name__ == "__main__":
    support.main()
