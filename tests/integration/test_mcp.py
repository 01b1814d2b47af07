"""The server for clients of language models, asked by a client written here."""
import contextlib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

import support
from support import PROGRAM, artifacts, fresh_dir, trace

HANDSHAKES = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
NEWEST = "2026-07-28"
TOOLS = "probe analyze findings explain tables table sql window critical_path whatif skills run_skill ask check_claims compare export".split()
RESERVED = "io.modelcontextprotocol/"
DEADLINE_S = 60


def meta(version=NEWEST, **more):
    return {"_meta": {RESERVED + "protocolVersion": version, RESERVED + "clientCapabilities": {}, **more}}


class Client:
    """Talks to one server. Every line it says is checked to be a message of JSON-RPC."""

    def __init__(self, root, *options, cache=None, env=None, cwd=None):
        self.root = root
        self.cache = cache or fresh_dir("cache")
        self.process = subprocess.Popen([PROGRAM, "mcp", "--root", root, "--cache", self.cache, *map(str, options)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd,
                                        env={**os.environ, **(env or {})})
        self.text, self.last, self.notes = b"", 0, []

    def send(self, data):
        self.process.stdin.write(data if isinstance(data, bytes) else json.dumps(data).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self, timeout=DEADLINE_S):
        end = time.monotonic() + timeout
        while b"\n" not in self.text:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                raise EOFError(self.process.stderr.read().decode())
            self.text += data
        line, self.text = self.text.split(b"\n", 1)
        return check_message(json.loads(line.decode("utf-8", "strict")))

    def ask(self, method, params=None, **more):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, **({} if params is None else {"params": params}), **more})
        while True:
            reply = self.receive()
            if "method" in reply:
                self.notes.append(reply)
                continue
            assert reply["id"] == self.last, reply
            return reply

    def tool(self, name, modern=False, **arguments):
        """What a tool answers, which must not be a failure."""
        result = self.ask("tools/call", {"name": name, "arguments": arguments, **(meta() if modern else {})})["result"]
        assert result["isError"] is False, result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        check_output(self, name, result["structuredContent"])
        return result["structuredContent"]

    def refusal(self, name, **arguments):
        """Why a tool failed."""
        result = self.ask("tools/call", {"name": name, "arguments": arguments})["result"]
        assert result["isError"] is True and "structuredContent" not in result, result
        return result["content"][0]["text"]

    def error(self, method, params=None):
        return self.ask(method, params)["error"]["code"]

    def rows(self, name, **arguments):
        answer = self.tool(name, **arguments)
        names = [column["name"] for column in answer["columns"]]
        return [dict(zip(names, row)) for row in answer["rows"]]

    def pages(self, name, **arguments):
        answer = self.tool(name, **arguments)
        yield answer
        while answer["truncated"]:
            answer = self.tool(name, cursor=answer["next_cursor"], **arguments)
            yield answer

    def close(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        code = self.process.wait(DEADLINE_S)
        said = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return code, rest, said


OUTPUTS = {}  # the schema of each tool's answers, as a server tells it


def check_output(client, tool, content):
    if not OUTPUTS:
        for listed in client.ask("tools/list")["result"]["tools"]:
            OUTPUTS[listed["name"]] = jsonschema.Draft202012Validator(listed["outputSchema"]) if jsonschema else None
    if OUTPUTS[tool]:
        OUTPUTS[tool].validate(content)


def check_message(message):
    """As both JSON-RPC and the schemas of the protocol want it."""
    assert message["jsonrpc"] == "2.0", message
    if "method" in message:
        assert set(message) == {"jsonrpc", "method", "params"} and isinstance(message["params"], dict), message
        return message
    assert set(message) in ({"jsonrpc", "id", "result"}, {"jsonrpc", "id", "error"}, {"jsonrpc", "error"}), message
    assert isinstance(message.get("id", 0), (int, str)), message
    if "error" in message:
        assert isinstance(message["error"]["code"], int) and isinstance(message["error"]["message"], str), message
        assert set(message["error"]) <= {"code", "message", "data"}
    else:
        assert isinstance(message["result"], dict)
    return message


class Server(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = fresh_dir("root")
        for name in ("training", "host-bound", "no-nvtx", "hostile"):
            shutil.copy(trace(name), cls.root / f"{name}.sqlite")
        cls.cache = fresh_dir("cache")

    def setUp(self):
        self.client = Client(self.root, cache=self.cache)
        self.closed = False

    def tearDown(self):
        code, _, said = self.client.close()
        self.assertEqual((code, said), (0, b""))

    def handle(self, name="training"):
        return self.client.tool("analyze", trace=f"{name}.sqlite")["run"]

    def raw(self, statement, name="training"):
        return sqlite3.connect(f"file:{self.root}/{name}.sqlite?mode=ro", uri=True).execute(statement).fetchall()

    # --- the protocol --------------------------------------------------------------------------------

    def test_revisions(self):
        c = self.client
        hello = {"capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        for version in HANDSHAKES:
            result = c.ask("initialize", {"protocolVersion": version, **hello})["result"]
            self.assertEqual((result["protocolVersion"], result["serverInfo"]["name"]), (version, "nsys-ai"))
            self.assertEqual(set(result["capabilities"]), {"tools", "resources", "prompts"})
            self.assertLess(len(result["instructions"]), 2048)
            c.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            self.assertEqual(c.ask("ping")["result"], {})
            listed = c.ask("tools/list", {})["result"]
            self.assertNotIn("resultType", listed)
            self.assertEqual([tool["name"] for tool in listed["tools"]], TOOLS)
        for unknown in ("1999-01-01", NEWEST):
            self.assertEqual(c.ask("initialize", {"protocolVersion": unknown, **hello})["result"]["protocolVersion"], HANDSHAKES[0])
        found = c.ask("server/discover", meta())["result"]
        self.assertEqual(found["supportedVersions"], [NEWEST, *HANDSHAKES])
        self.assertEqual((found["resultType"], found["cacheScope"], found["ttlMs"]), ("complete", "public", 3600000))
        self.assertEqual(found["_meta"][RESERVED + "serverInfo"]["name"], "nsys-ai")
        for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
            result = c.ask(method, meta())["result"]
            self.assertEqual((result["resultType"], result["cacheScope"]), ("complete", "public"))
        wrong = c.ask("tools/list", meta("1900-01-01"))["error"]
        self.assertEqual((wrong["code"], wrong["data"]), (-32022, {"supported": [NEWEST, *HANDSHAKES], "requested": "1900-01-01"}))
        self.assertEqual(c.error("tools/list", {"_meta": {RESERVED + "protocolVersion": NEWEST}}), -32602)
        self.assertEqual(c.error("ping", meta()), -32601)
        self.assertEqual(c.error("initialize", meta()), -32601)
        self.assertEqual(c.error("server/discover"), -32602)
        modern = c.ask("tools/call", {"name": "skills", "arguments": {}, **meta()})["result"]
        self.assertEqual(modern["resultType"], "complete")

    def test_listening_stays_open(self):
        c = self.client
        c.send({"jsonrpc": "2.0", "id": "s", "method": "subscriptions/listen", "params": {"notifications": {"toolsListChanged": True}, **meta()}})
        note = c.receive()
        self.assertEqual(note["method"], "notifications/subscriptions/acknowledged")
        self.assertEqual(note["params"], {"notifications": {}, "_meta": {RESERVED + "subscriptionId": "s"}})
        self.assertEqual(c.error("subscriptions/listen", {}), -32601)

    def test_messages_that_are_none(self):
        c = self.client
        deep = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 70 + b"1" + b"}" * 71
        for line, code in ((b"{", -32700), (b"", None), (b"\xff\xfe", -32700), (b'{"a":"\xff"}', -32700), (b"[]", -32600), (b"3", -32600),
                           (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600), (b'{"id":1,"method":"ping"}', -32600),
                           (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
                           (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32600),
                           (b'{"jsonrpc":"2.0","id":"' + b"x" * 257 + b'","method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
                           (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602), (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":3}}', -32602),
                           (deep, -32600), (b"[" * 100000, -32600), (b'{"a":' * 100000, -32600), (b'{"jsonrpc":"2.0","id":1,"method":"ping\\u0000"}', -32700),
                           (b'{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}', -32700),
                           (b'{"jsonrpc":"2.0","id":1,"method":"nothing/such"}', -32601), (b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', -32602)):
            c.send(line + b"\n")
            if code:
                self.assertEqual(c.receive()["error"]["code"], code, line[:60])
        for line in (b'{"jsonrpc":"2.0","method":"ping"}', b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"probe"}}', b'{"jsonrpc":"2.0","id":7,"result":{}}',
                     b'{"jsonrpc":"2.0","method":"notifications/nothing"}', b'{"jsonrpc":"2.0","method":"notifications/cancelled"}', b"  \r"):
            c.send(line + b"\n")  # nothing to answer
        for name in (5, -1, "", "a\tb\u202e\"", 9007199254740993):
            c.send({"jsonrpc": "2.0", "id": name, "method": "ping"})
            self.assertEqual(c.receive(), {"jsonrpc": "2.0", "id": name, "result": {}})

    def test_huge_lines(self):
        c = self.client
        c.send(b'{"jsonrpc":"2.0","id":1,"method":"ping","x":"' + b"x" * (2 << 20) + b'"}\n')
        self.assertEqual(c.receive()["error"]["code"], -32600)
        self.assertEqual(c.ask("ping")["result"], {})
        self.assertIn("at most 65536 bytes", c.refusal("sql", run="x", query="x" * 65537))

    def test_a_thousand_at_once(self):
        c = self.client
        run = self.handle()
        asked = [{"jsonrpc": "2.0", "id": f"q{i}", "method": "tools/call", "params": {"name": "sql", "arguments": {"run": run, "query": f"select {i}"}}} if i % 50 == 0
                 else {"jsonrpc": "2.0", "id": f"q{i}", "method": "ping"} for i in range(1000)]
        c.send("".join(json.dumps(message) + "\n" for message in asked).encode())
        replies = {reply["id"]: reply["result"] for reply in (c.receive() for _ in asked)}
        self.assertEqual(len(replies), 1000)
        for i in range(0, 1000, 50):
            self.assertEqual(replies[f"q{i}"]["structuredContent"]["rows"], [[i]])

    def test_who_does_not_read_is_not_read(self):
        c = self.client
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "nsys-ai://docs/analyses"}}).encode() + b"\n"
        os.set_blocking(c.process.stdin.fileno(), False)
        sent = 0
        for _ in range(2000):
            try:
                sent += os.write(c.process.stdin.fileno(), line * 50)
            except BlockingIOError:
                break
            time.sleep(0.001)
        else:
            self.fail("the server takes whatever it is sent")
        status = pathlib.Path(f"/proc/{c.process.pid}/status").read_text(encoding="ascii")
        self.assertLess(int(re.search(r"VmHWM:\s+(\d+)", status).group(1)), 400 << 10 if support.SANITIZED else 64 << 10)
        os.set_blocking(c.process.stdin.fileno(), True)
        c.process.kill()
        for stream in (c.process.stdin, c.process.stdout, c.process.stderr):
            stream.close()
        c.process.wait()
        self.client = Client(self.root, cache=self.cache)

    def test_end_of_input_behind_a_blocked_output(self):
        """Who closes the input and reads nothing is gone."""
        c = Client(self.root, cache=self.cache)
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "nsys-ai://docs/analyses"}}).encode() + b"\n"
        os.set_blocking(c.process.stdin.fileno(), False)
        with contextlib.suppress(BlockingIOError):
            for _ in range(2000):
                os.write(c.process.stdin.fileno(), line * 50)
                time.sleep(0.001)
        c.process.stdin.close()
        self.assertEqual(c.process.wait(20), 0)
        for stream in (c.process.stdout, c.process.stderr):
            stream.close()

    def test_a_page_far_down_needs_no_memory(self):
        """The command prints the page, not what lies before it."""
        c = Client(self.root, "--timeout", "60", cache=self.cache)
        run = c.tool("analyze", trace="training.sqlite")["run"]
        query = "with recursive t(n) as (select 1 union all select n + 1 from t where n < 300000) select n, n || 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' as x from t"
        first = c.tool("sql", run=run, query=query, limit=1)["next_cursor"]
        page = c.tool("sql", run=run, query=query, limit=2, cursor=first.replace("1.", "299990.", 1))
        self.assertEqual([row[0] for row in page["rows"]], [299991, 299992])
        last = c.tool("sql", run=run, query=query, limit=100, cursor=first.replace("1.", "299990.", 1))
        self.assertEqual((last["total_rows"], last["truncated"]), (300000, False))
        status = pathlib.Path(f"/proc/{c.process.pid}/status").read_text(encoding="ascii")
        self.assertLess(int(re.search(r"VmHWM:\s+(\d+)", status).group(1)), 400 << 10 if support.SANITIZED else 64 << 10)
        c.close()

    # --- tools ---------------------------------------------------------------------------------------

    def test_catalogue(self):
        for tool in self.client.ask("tools/list")["result"]["tools"]:
            self.assertLess(len(tool["description"]), 2048)
            schema = tool["inputSchema"]
            self.assertEqual((schema["type"], schema["additionalProperties"]), ("object", False))
            self.assertLessEqual(set(schema.get("required", [])), set(schema["properties"]))
            self.assertEqual(tool["annotations"]["readOnlyHint"], tool["name"] not in ("analyze", "compare", "export"))
            self.assertIs(tool["annotations"]["destructiveHint"], False)
            self.assertIs(tool["annotations"]["openWorldHint"], False)
            self.assertEqual(tool["outputSchema"]["type"], "object")
            self.assertLessEqual(set(tool["outputSchema"].get("required", [])), set(tool["outputSchema"]["properties"]))
            if jsonschema:
                jsonschema.Draft202012Validator.check_schema(schema)
                jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])

    def test_triage(self):
        """From the trace to the facts, as a client goes about it; every figure against the raw export."""
        c = self.client
        kernels = self.raw("select count(*) from CUPTI_ACTIVITY_KIND_KERNEL")[0][0]
        self.assertEqual(c.tool("probe", trace="training.sqlite")["events"]["kernels"], kernels)
        found = c.tool("analyze", trace="training.sqlite")
        run = found["run"]
        self.assertRegex(run, "^r-[0-9a-f]{16}$")
        for gpu in found["gpus"]:
            start, end = self.raw("select min(start), max(end) from (select deviceId, start, end from CUPTI_ACTIVITY_KIND_KERNEL union all "
                                  "select deviceId, start, end from CUPTI_ACTIVITY_KIND_MEMCPY union all select deviceId, start, end from "
                                  f"CUPTI_ACTIVITY_KIND_MEMSET) where deviceId = {gpu['device_id']}")[0]
            self.assertEqual((gpu["window_start_ns"], gpu["window_end_ns"]), (start, end))
            self.assertEqual(end - start, gpu["compute_ns"] + gpu["exposed_comm_ns"] + gpu["exposed_copy_ns"] + gpu["idle_ns"])
        findings = c.rows("findings", run=run, limit=100)
        self.assertEqual([(f["id"], f["severity"], f["saving_ns"]) for f in findings],
                         [(f["id"], f["severity"], f["saving_ns"]) for f in found["finding_list"]])
        for finding in findings:
            self.assertTrue(finding["evidence"] and all(fact["text"] for fact in finding["evidence"]), finding)
        worst = c.rows("findings", run=run, severity="medium", limit=100)
        self.assertEqual([f["id"] for f in worst], [f["id"] for f in findings if f["severity"] in ("high", "medium")])
        self.assertEqual([f["id"] for f in c.rows("findings", run=run, rule=findings[0]["id"])], [findings[0]["id"]])
        self.assertIn(findings[0]["id"], c.tool("explain", run=run, what="1")["text"])
        self.assertIn("## Mechanism", c.tool("explain", what=findings[0]["id"])["text"])
        self.assertEqual(c.rows("sql", run=run, query="select count(*) as n from kernel_events"), [{"n": kernels}])
        self.assertIn({"name": "kernel_events", "rows": kernels}, [{k: t[k] for k in ("name", "rows")} for t in c.rows("tables", run=run)])
        self.assertIn("idle_ms", [column["name"] for column in c.rows("tables", run=run, table="gpu_utilization")])

    def test_another_handle_for_what_changed_in_the_wal(self):
        """A run that was named keeps its numbers, as it does when the file itself is replaced."""
        path = self.root / "written.sqlite"
        shutil.copy(trace("minimal"), path)
        path.chmod(0o644)
        statement = "select sum(end_ns - start_ns) as t from kernel_events"
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA journal_mode=wal")
            db.execute("PRAGMA wal_autocheckpoint=0")
            found = []
            for _ in range(2):
                db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = end + 7")
                db.commit()
                want = db.execute("SELECT sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0]
                found.append((self.handle("written"), [{"t": want}]))
            self.assertEqual(self.handle("written"), found[1][0])
        self.assertNotEqual(found[0][0], found[1][0])
        for run, rows in found:
            self.assertEqual(self.client.rows("sql", run=run, query=statement), rows)

    def test_same_trace_same_handle(self):
        run = self.handle()
        self.assertEqual(self.handle(), run)
        other = self.client.tool("analyze", trace="training.sqlite", gpus=[0])
        self.assertEqual([gpu["device_id"] for gpu in other["gpus"]], [0])
        self.assertNotEqual(other["run"], run)
        again = Client(self.root, cache=self.cache)
        self.assertEqual(again.rows("sql", run=run, query="select 1 as x"), [{"x": 1}])
        again.close()
        start, end = self.raw("select min(start), max(end) from CUPTI_ACTIVITY_KIND_KERNEL")[0]
        half = self.client.tool("analyze", trace="training.sqlite", start_s=start / 1e9, end_s=(start + end) / 2e9)
        self.assertLess(half["gpus"][0]["window_ns"], other["gpus"][0]["window_ns"])

    def test_window(self):
        """The partition of a window is that of the analysis, and parts add up."""
        c = self.client
        parts = ("compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns")
        found = c.tool("analyze", trace="training.sqlite")

        def divide(start, end, gpu):
            block = c.tool("window", run=found["run"], start_ns=start, end_ns=end, gpu=gpu)["blocks"][0]
            row = dict(zip([column["name"] for column in block["columns"]], block["rows"][0]))
            self.assertEqual(sum(row[part] for part in parts), end - start)
            return [row[part] for part in parts]
        for gpu in found["gpus"]:
            start, end, device = gpu["window_start_ns"], gpu["window_end_ns"], gpu["device_id"]
            whole = divide(start, end, device)
            self.assertEqual(whole, [gpu[part] for part in parts])
            for cut in (start + 1, start + (end - start) // 3, start + 12345678):
                self.assertEqual([a + b for a, b in zip(divide(start, cut, device), divide(cut, end, device))], whole)
        answer = c.tool("window", run=found["run"], start_ns=found["gpus"][0]["window_start_ns"], end_ns=found["gpus"][0]["window_end_ns"], limit=1)
        self.assertEqual([block["title"] for block in answer["blocks"]], ["GPUs", "Kernels", "Copies", "Blocking calls", "Ranges", "Idle gaps"])
        self.assertTrue(all(len(block["rows"]) <= 1 for block in answer["blocks"][1:]))

    def test_path_and_changes(self):
        """What both tools say is what the commands say; a change is one of the known ones, never another option."""
        c = self.client
        handle = c.tool("analyze", trace="training.sqlite")["run"]
        path = c.tool("critical_path", run=handle, limit=5)
        self.assertEqual([block["title"] for block in path["blocks"]], ["", "By cause", "Longest segments"])
        self.assertTrue(all(len(block["rows"]) <= 5 for block in path["blocks"][1:]))
        self.assertIn(["window"], [row[:1] for row in path["blocks"][0]["rows"]])
        self.assertEqual({row[3] for row in c.tool("critical_path", run=handle, step=2)["blocks"][0]["rows"]}, {1})
        for changes in ((), ("kernel .=0.5",), ("host 0.8", "no-profiler")):
            said = c.tool("whatif", run=handle, **({"changes": changes} if changes else {}))
            words = [f"--{change.replace(' ', '=', 1)}" for change in changes]
            told = json.loads(support.run("whatif", "--quiet", trace("training"), *words, "--format", "json").stdout)
            self.assertEqual({key: said[key] for key in told if key != "schema_version"}, {key: told[key] for key in told if key != "schema_version"})
        self.assertEqual(c.tool("whatif", run=handle, step=2)["scope"], "step")
        finding = c.tool("sql", run=handle, query="select finding from findings where change is not null")["rows"][0][0]
        for arguments, words in (({"max": 1}, ("--max", "1")), ({"sensitivity": True}, ("--sensitivity",)), ({"without": [finding]}, ("--without", str(finding)))):
            said = c.tool("whatif", run=handle, **arguments)
            told = json.loads(support.run("whatif", "--quiet", trace("training"), *words, "--format", "json").stdout)
            self.assertEqual({key: said[key] for key in told if key != "schema_version"}, {key: told[key] for key in told if key != "schema_version"})
        causes = c.tool("critical_path", run=handle, by="name")["blocks"][1]
        what = [column["name"] for column in causes["columns"]].index("what")
        self.assertIn("cuLaunchKernelEx", [row[what] for row in causes["rows"]])
        for wrong in ("export-options x", "format json", "kernel x", "--kernel .=0.5"):
            self.assertIn("change" if " x" not in wrong or "export" in wrong else "stands at the end", c.refusal("whatif", run=handle, changes=[wrong]))
        self.assertIn("every rank is given once", c.refusal("whatif", run=handle, ranks=["training.sqlite"]))
        reason = c.tool("whatif", run=handle, ranks=["host-bound.sqlite"])["reason"]
        self.assertIn("the clocks of the traces are in doubt", reason)
        self.assertEqual(c.refusal("critical_path", run=handle, ranks=["host-bound.sqlite"]), reason)

    def test_pages_make_the_whole(self):
        c = self.client
        run = self.handle()
        wanted = [list(row) for row in self.raw("select start, end from CUPTI_ACTIVITY_KIND_KERNEL order by start, end, deviceId")]
        rows = [row for page in c.pages("table", run=run, table="kernel_events", columns=["start_ns", "end_ns"], order=["start_ns", "end_ns", "device_id"], limit=500) for row in page["rows"]]
        self.assertEqual(rows, wanted)
        rows = [row for page in c.pages("sql", run=run, query="select start_ns, end_ns from kernel_events order by 1, 2, device_id", limit=1000) for row in page["rows"]]
        self.assertEqual(rows, wanted)
        findings = [row for page in c.pages("findings", run=run, limit=1) for row in page["rows"]]
        self.assertEqual(findings, c.tool("findings", run=run, limit=100)["rows"])
        small = Client(self.root, "--max-chars", "2000", cache=self.cache)
        text = "".join(page["text"] for page in small.pages("explain", what="exposed-communication"))
        self.assertEqual(text, c.tool("explain", what="exposed-communication")["text"])
        self.assertEqual([row for page in small.pages("tables", run=run) for row in page["rows"]], c.tool("tables", run=run, limit=1000)["rows"])
        small.close()
        cursor = c.tool("tables", run=run, limit=1)["next_cursor"]
        for wrong in (cursor + "0", cursor[1:], "9" * 30 + ".0", "-1" + cursor[1:], "", "\u00e9", cursor.replace(".", "..")):
            self.assertIn("arguments.cursor", c.refusal("tables", run=run, cursor=wrong))
        self.assertIn("arguments.cursor", c.refusal("tables", run=run, table="kernels", cursor=cursor))

    def test_table_conditions(self):
        c = self.client
        run = self.handle()

        def count(*where):
            return len(c.tool("table", run=run, table="kernel_events", columns=["start_ns"], where=list(where), limit=1000)["rows"])
        middle = self.raw("select start from CUPTI_ACTIVITY_KIND_KERNEL order by start limit 1 offset 300")[0][0]
        one = {"column": "device_id", "op": "=", "value": 0}
        for op in ("<", "<=", ">=", "="):
            wanted = self.raw(f"select count(*) from CUPTI_ACTIVITY_KIND_KERNEL where deviceId = 0 and start {op} {middle}")[0][0]
            self.assertEqual(count(one, {"column": "start_ns", "op": op, "value": middle}), wanted)
        nccl = self.raw("select count(*) from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.demangledName where deviceId = 0 and s.value like '%nccl%'")[0][0]
        self.assertEqual(count(one, {"column": "name", "op": "contains", "value": "NCCL"}), nccl)
        self.assertEqual(count(one, {"column": "name", "op": "=", "value": "' or 1 --"}), 0)
        self.assertEqual(count({"column": "name", "op": "=", "value": "1"}), 0)
        self.assertEqual(count({"column": "name", "op": "is_null"}), 0)
        self.assertEqual(count(one), self.raw("select count(*) from CUPTI_ACTIVITY_KIND_KERNEL where deviceId = 0")[0][0])
        for wrong in ({"column": 'x" or 1 or "', "op": "=", "value": 1}, {"column": "nothing", "op": "=", "value": 1}, {"column": "name", "op": "contains"},
                      {"column": "name", "op": "<"}, {"column": "name", "op": "is_null", "value": 3}):
            self.assertTrue(c.refusal("table", run=run, table="kernel_events", where=[wrong]))
        self.assertIn("no such table", c.refusal("table", run=run, table="x; select 1"))
        self.assertIn("no such column", c.refusal("table", run=run, table="gpus", order=["1 desc, name"]))

    def test_skills_and_comparison(self):
        c = self.client
        run = self.handle()
        known = c.rows("skills")
        self.assertEqual({skill["id"] for skill in known}, {path.stem for path in (support.SOURCE / "skills").glob("*.yaml")})
        self.assertIn("skill: streams", c.tool("skills", skill="streams")["text"])
        streams = c.rows("run_skill", run=run, skill="streams", gpu=0)
        self.assertEqual(sum(row["kernel_count"] for row in streams), self.raw("select count(*) from CUPTI_ACTIVITY_KIND_KERNEL where deviceId = 0")[0][0])
        self.assertEqual(len(c.rows("run_skill", run=run, skill="kernel_instances", parameters={"name": "nccl", "limit": 3})), 3)
        self.assertIn("no skill", c.refusal("run_skill", run=run, skill="nothing_such").replace("there is no", "no"))
        self.assertIn("reason", c.tool("run_skill", run=self.handle("no-nvtx"), skill="ranges_in_window"))
        same = c.tool("compare", base=run, new=run)
        self.assertIn("same trace", same["verdict"])
        other = c.tool("compare", base=run, new=self.handle("host-bound"), limit=2)
        self.assertLessEqual(len(other["metrics"]), 2)

    def test_export(self):
        """The file is what the command writes; other stretches are other files; formats are those of the command."""
        c, run = self.client, self.handle()
        formats = next(t for t in c.ask("tools/list")["result"]["tools"] if t["name"] == "export")["inputSchema"]["properties"]["format"]["enum"]
        self.assertEqual(sorted(formats), sorted(line.split("\t")[0] for line in support.run("--complete", "export", "").stdout.splitlines()))
        path, paths = artifacts(trace("training")), set()
        start, end = (round(t / 1e9, 9) for t in self.raw("select min(start), max(end) from CUPTI_ACTIVITY_KIND_KERNEL")[0])
        for format, stretch in [*((f, ()) for f in formats), ("csv", (start, (start + end) / 2)), ("perfetto", (start, (start + end) / 2))]:
            answer = c.tool("export", run=run, format=format, **dict(zip(("start_s", "end_s"), stretch)))
            written = pathlib.Path(answer["path"]).read_bytes()
            self.assertEqual((answer["run"], answer["bytes"]), (run, len(written)))
            self.assertTrue(answer["path"].startswith(str(pathlib.Path(c.cache).resolve()) + "/"))
            trim = ["--trim", *(f"{t:.9f}" for t in stretch)] if stretch else []
            self.assertEqual(written, support.run("export", format, path, *trim, text=False).stdout, format)
            paths.add(answer["path"])
        self.assertEqual(len(paths), len(formats) + 2)
        self.assertIn(c.tool("export", run=run, format="csv")["path"], paths)
        self.assertIn("trim", c.refusal("export", run=run, format="folded", start_s=start, end_s=end))

    def test_questions(self):
        """The answer is that of the command, without commands that hold the server's paths."""
        c, run = self.client, self.handle()
        answer = c.tool("ask", run=run, question="why is GPU 1 idle")
        printed = json.loads(support.run("ask", artifacts(trace("training")), "why is GPU 1 idle", "--format", "json").stdout)
        self.assertEqual({**printed, "run": run}, {**answer, "next": printed["next"], "wording": None})
        self.assertNotIn(str(c.cache), json.dumps(answer))
        self.assertEqual(c.tool("ask", run=run, question="foo bar baz")["intents"], [])
        self.assertIn("question", c.refusal("ask", run=run, question=" "))

    def test_claims(self):
        c, run = self.client, self.handle()
        question = "how long is all-reduce on GPU 1"
        fact = c.tool("ask", run=run, question=question)["facts"][0]
        number = re.match(r"[\d.]+ ms", fact["text"]).group()
        good = c.tool("check_claims", run=run, question=question, draft=f"It takes {number} [F1].")
        self.assertTrue(good["supported"])
        self.assertEqual([(k["text"], k["verdict"], k["found_in"]) for k in good["claims"]], [(number, "supported", ["F1"])])
        self.assertEqual(good["facts"][0], fact)
        bad = c.tool("check_claims", run=run, question=question, draft=f"It takes {number}. That is 7.77 s [F1]. So says [F8].")
        self.assertFalse(bad["supported"])
        self.assertEqual([(k["text"], k["verdict"], k["found_in"]) for k in bad["claims"]],
                         [(number, "no fact is cited", ["F1"]), ("7.77 s", "not in the cited facts", []), (None, "cites a fact that the answer does not have", [])])
        self.assertTrue(c.tool("check_claims", run=run, question=question, draft="No numbers here.")["supported"])

    def test_wrong_arguments(self):
        """... are answers of the tool, which models see (SEP-1303); a tool that is not there is an error of the protocol."""
        c = self.client
        self.assertEqual(c.error("tools/call", {"name": "nothing", "arguments": {}}), -32602)
        for name, arguments in (("probe", {}), ("probe", {"trace": 3}), ("probe", {"trace": ""}), ("probe", {"trace": "x" * 5000}), ("probe", {"trace": "a", "more": 1}),
                                ("analyze", {"trace": "training.sqlite", "gpus": [1.5]}), ("analyze", {"trace": "training.sqlite", "gpus": []}), ("findings", {"run": "a", "severity": "worst"}),
                                ("findings", {"run": "a", "limit": 0}), ("findings", {"run": "a", "limit": 1001}), ("findings", {"run": "a", "limit": "5"}), ("sql", {"run": "a"}),
                                ("sql", {"run": "a", "query": "select 1", "parameters": {"a": [1]}}), ("table", {"run": "a", "table": "b", "where": [{"column": "c", "op": "like"}]}),
                                ("window", {"run": "a", "start_ns": 1}), ("window", {"run": "a", "start_ns": 1.5, "end_ns": 2}), ("table", {"run": "a", "table": "b", "order": ["a"] * 5})):
            self.assertRegex(c.refusal(name, **arguments), "^arguments", (name, arguments))
        self.assertEqual(c.refusal("findings", run="a", severity="critical"), "arguments.severity: expected one of high, medium, low, info")
        self.assertEqual(c.refusal("table", run="a", table="b", where="call_count > 10"), "arguments.where: expected an array, got string")
        self.assertTrue(c.ask("tools/call", {"name": "probe", "arguments": []})["result"]["isError"])
        run = self.handle()
        self.assertIn("sql:1:15: no such table", c.refusal("sql", run=run, query="select x from y"))
        self.assertIn("both start_ns and end_ns", c.refusal("window", run=run, start_ns=5, end_ns=5))
        self.assertIn("both start_s and end_s", c.refusal("analyze", trace="training.sqlite", start_s=1))
        self.assertTrue(c.refusal("sql", run=run, query="-"))
        self.assertTrue(c.refusal("sql", run=run, query="--help"))
        self.assertTrue(c.refusal("sql", run=run, query="attach 'x' as y"))
        self.assertTrue(c.refusal("explain", run=run, what="--help"))
        self.assertTrue(c.refusal("sql", run=run, query="select :a", parameters={"a b": 1}))
        self.assertIn("too large", c.refusal("sql", run=run, query="select " + ", ".join(f"1 as {'c' * 90}{i}" for i in range(300))))

    # --- bounds --------------------------------------------------------------------------------------

    def test_answers_are_bounded(self):
        c = self.client
        run = self.handle()
        long = c.tool("sql", run=run, query="select group_concat('x', '') as text, 1 as one from api_events")
        calls = self.raw("select count(*) from CUPTI_ACTIVITY_KIND_RUNTIME")[0][0]
        self.assertEqual(long["rows"], [["x" * 400 + "\u2026 " + f"({calls} bytes)", 1]])
        for size in (2000, 24000, 80000):
            small = Client(self.root, "--max-chars", size, cache=self.cache)
            for name, arguments in (("sql", {"run": run, "query": "select * from v_kernels", "limit": 1000}), ("findings", {"run": run, "limit": 1000}), ("probe", {"trace": "training.sqlite"}),
                                    ("window", {"run": run, "start_ns": 0, "end_ns": 1 << 40, "limit": 100}), ("analyze", {"trace": "training.sqlite"}), ("compare", {"base": run, "new": run})):
                result = small.ask("tools/call", {"name": name, "arguments": arguments})["result"]
                self.assertLessEqual(len(result["content"][0]["text"]), size, name)
                self.assertTrue(size == 2000 or not result["isError"], (name, size, result["content"][0]["text"][:200]))
            small.close()

    def test_what_hangs_is_ended_and_others_are_served(self):
        slow = "with recursive t(n) as (select 1 union all select n + 1 from t) select count(*) from t"
        c = Client(self.root, "--timeout", 1, cache=self.cache)
        run = c.tool("analyze", trace="training.sqlite")["run"]
        for name in ("a", "b"):
            c.send({"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": {"name": "sql", "arguments": {"run": run, "query": slow}}})
        self.assertEqual(c.tool("sql", run=run, query="select 7 as x")["rows"], [[7]])
        ended = [c.receive(), c.receive()]
        self.assertEqual(sorted(reply["id"] for reply in ended), ["a", "b"])
        self.assertTrue(all("longer than 1 s" in reply["result"]["content"][0]["text"] for reply in ended))
        c.close()

    def test_cancelling(self):
        c = self.client
        run = self.handle()
        slow = "with recursive t(n) as (select 1 union all select n + 1 from t) select count(*) from t"
        for i in range(6):
            c.send({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": "sql", "arguments": {"run": run, "query": slow}}})
        time.sleep(0.2)
        self.assertEqual(len(children_of(c.process.pid)), 4)
        for i in range(6):
            c.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": i}})
        c.last = 100
        self.assertEqual(c.ask("ping")["id"], 101)  # none of the six was answered
        self.assertEqual(children_of(c.process.pid), [])

    def test_end_of_input_ends_everything(self):
        slow = "with recursive t(n) as (select 1 union all select n + 1 from t) select count(*) from t"
        for how in ("close", "kill"):
            c = Client(self.root, cache=self.cache)
            run = c.tool("analyze", trace="training.sqlite")["run"]
            c.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "sql", "arguments": {"run": run, "query": slow}}})
            time.sleep(0.2)
            children = children_of(c.process.pid)
            self.assertEqual(len(children), 1)
            if how == "kill":
                c.process.send_signal(signal.SIGKILL)
            self.assertEqual(c.close(), (0 if how == "close" else -signal.SIGKILL, b"", b""))
            for _ in range(100):
                if not any(is_running(pid) for pid in children):
                    break
                time.sleep(0.05)
            else:
                self.fail("a command outlives the server")

    def test_progress(self):
        c = self.client
        c.tool("skills")
        c.ask("tools/call", {"name": "analyze", "arguments": {"trace": "training.sqlite"}, "_meta": {"progressToken": "p"}})
        self.assertEqual([note["params"] for note in c.notes], [{"progressToken": "p", "progress": i, "total": 2} for i in range(2)])

    # --- what is kept from clients -------------------------------------------------------------------

    def test_paths(self):
        c = self.client
        outside = fresh_dir("outside")
        shutil.copy(trace("training"), outside / "t.sqlite")
        run = artifacts(trace("training"))
        inside = self.root / "links"
        inside.mkdir(exist_ok=True)
        for name, target in (("file.sqlite", outside / "t.sqlite"), ("dir", outside), ("run", run), ("zero.sqlite", "/dev/zero"), ("loop.sqlite", "loop.sqlite"), ("up", "../..")):
            if not (inside / name).is_symlink():
                (inside / name).symlink_to(target)
        os.mkfifo(inside / "fifo.sqlite")
        names = (outside / "t.sqlite", f"../{outside.name}/t.sqlite", "links/file.sqlite", "links/dir/t.sqlite", "links/zero.sqlite", "links/loop.sqlite", "links/up/" + outside.name + "/t.sqlite",
                 "/dev/zero", "/etc/passwd", "/proc/self/fd/0", "nothing.sqlite", outside / "nothing.sqlite", f"{self.root}-other/x.sqlite", "a\u0001\u202e\n.sqlite")
        for name in names:
            for tool, arguments in (("probe", {"trace": str(name)}), ("analyze", {"trace": str(name)}), ("compare", {"base": str(name), "new": str(name)}),
                                    ("analyze", {"trace": "training.sqlite", "phase_map": str(name)})):
                said = c.refusal(tool, **arguments)
                self.assertIn("is nothing below what this server may read", said, (tool, name))
                self.assertNotRegex(said, "[\x00-\x1f\u202e]")
        for name in (run, "links/run", "..", "r-0000000000000000", "r-0123456789abcdeF", "links"):
            self.assertTrue(c.refusal("sql", run=str(name), query="select 1"), name)
        self.assertIn("no regular file", c.refusal("probe", trace="links/fifo.sqlite"))
        self.assertIn("no regular file", c.refusal("probe", trace="."))
        self.assertIn("call analyze", c.refusal("sql", run="training.sqlite", query="select 1"))
        self.assertTrue(c.tool("probe", trace=str(self.root / "training.sqlite")))
        self.assertTrue(c.tool("probe", trace="links/../training.sqlite"))
        two = Client(outside, "--root", run.parent, cache=self.cache)
        self.assertTrue(two.tool("probe", trace="t.sqlite"))
        self.assertEqual(two.rows("sql", run=str(run), query="select 1 as x"), [{"x": 1}])
        two.close()
        (outside / "training.sqlite").write_text("the first root's\n", encoding="ascii")
        both = Client(outside, "--root", self.root, "--root", run.parent, cache=self.cache)
        self.assertTrue(both.tool("probe", trace="host-bound.sqlite"))
        self.assertEqual(both.rows("sql", run=run.name, query="select 1 as x"), [{"x": 1}])
        self.assertNotIn("is nothing below", both.refusal("probe", trace="training.sqlite"))  # which is no trace
        for name in ("links/zero.sqlite", "../../etc/passwd", "nothing.sqlite"):
            self.assertIn(f"{outside}, {self.root}, {run.parent}", both.refusal("probe", trace=name))
        both.close()
        for name in ("r-nope", "r-0123456789abcdef", "r-0123456789abcdeF"):
            self.assertRegex(c.refusal("sql", run=name, query="select 1"), f'no such run: "{name}"; analyze returns handles')
        for uri in ("nsys-ai://docs/../../etc/passwd", "nsys-ai://docs/nothing", "file:///etc/passwd", "nsys-ai:", "", "nsys-ai://run/../x/report.md", f"nsys-ai://run/{'0' * 40}/report.md"):
            self.assertEqual(c.error("resources/read", {"uri": uri}), -32602)

    def test_a_linked_log(self):
        """What lies beside a trace is read as part of it: never a file outside of the root."""
        outside, log, trace_of = fresh_dir("outside"), self.root / "logged.sqlite-wal", self.root / "logged.sqlite"
        shutil.copy(trace("minimal"), outside / "w")
        with contextlib.closing(sqlite3.connect(outside / "w")) as db:
            db.execute("PRAGMA journal_mode=wal")
            shutil.copy(outside / "w", trace_of)
            db.execute("UPDATE StringIds SET value = 'SECRET'")
            db.commit()
            shutil.copy(outside / "w-wal", outside / "log")
        log.symlink_to(outside / "log")
        for tool in ("probe", "analyze"):
            self.assertIn("logged.sqlite-wal\" is not a regular file", self.client.refusal(tool, trace=trace_of.name))
        log.unlink()
        shutil.copy(outside / "log", log)
        self.assertIn("SECRET", json.dumps(self.client.tool("analyze", trace=trace_of.name)))
        for path in (trace_of, log):
            path.unlink()

    def test_links_in_the_working_directory(self):
        """Skills there may be a stranger's: no link is followed, a wrong file costs itself, and no line of it is shown."""
        here, outside = fresh_dir("here"), fresh_dir("outside")
        skills = here / ".nsys-ai" / "skills"
        skills.mkdir(parents=True)
        good = "skill: NAME\ntitle: Mine\ndescription: One.\nsql: select 1 as one\ncolumns:\n  one: [count, one]\n"
        (outside / "secret.yaml").write_text(good.replace("NAME", "outsider"), encoding="ascii")
        (outside / "passwd").write_text("root:SECRET:0:0\n", encoding="ascii")
        (skills / "linked.yaml").symlink_to(outside / "secret.yaml")
        (skills / "passwd.yaml").symlink_to(outside / "passwd")
        (skills / "wrong.yaml").write_text("root:SECRET:0:0\n", encoding="ascii")
        (skills / "mine.yaml").write_text(good.replace("NAME", "mine"), encoding="ascii")
        os.mkfifo(skills / "pipe.yaml")
        c = Client(self.root, cache=self.cache, cwd=here)
        run = c.tool("analyze", trace="training.sqlite")["run"]
        said = json.dumps([c.tool("skills"), c.tool("skills", skill="mine"), c.refusal("skills", skill="outsider"),
                           c.tool("window", run=run, start_ns=0, end_ns=10**9), c.tool("explain", run=run, what="kernels"),
                           c.rows("run_skill", run=run, skill="mine"), c.refusal("run_skill", run=run, skill="outsider")])
        self.assertIn('"mine"', said)
        self.assertNotRegex(said, 'SECRET|"outsider"')
        self.assertEqual(c.close(), (0, b"", b""))
        skills.rename(outside / "skills")
        skills.symlink_to(outside / "skills")
        c = Client(self.root, cache=self.cache, cwd=here)
        self.assertNotIn('"mine"', json.dumps(c.tool("skills", limit=1000)))
        c.close()

    def test_links_in_a_run(self):
        """The tables of a run below the root are files there, for every tool."""
        outside = fresh_dir("outside")
        run = self.root / "run_with_links"
        shutil.copytree(artifacts(trace("training")), run)
        for table in (run / "stages").glob("*.ntab"):
            table.rename(outside / table.name)
            table.symlink_to(outside / table.name)
        c = self.client
        name = run.name
        for tool, arguments in (("compare", {"base": name, "new": name}), ("export", {"run": name, "format": "perfetto"}), ("export", {"run": name, "format": "csv"}),
                                ("findings", {"run": name}), ("table", {"run": name, "table": "kernels"}), ("sql", {"run": name, "query": "select * from kernels"}),
                                ("window", {"run": name, "start_ns": 0, "end_ns": 10**9})):
            with self.subTest(tool, **arguments):
                self.assertTrue(c.refusal(tool, **arguments))
        shutil.rmtree(run)

    def test_nothing_changes(self):
        before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in self.root.glob("*.sqlite")}
        self.handle("host-bound")
        self.assertEqual({path: (path.stat().st_mtime_ns, path.stat().st_size) for path in self.root.iterdir() if path.name != "links"}, before)
        self.assertEqual({path.stat().st_mode & 0o077 for path in self.cache.rglob("*")}, {0})

    def test_hostile_names_and_secrets(self):
        """Every tool over a trace whose names try to be something else, and whose secrets must not appear."""
        c = self.client
        run = self.handle("hostile")
        said = []
        for name, arguments in (("probe", {"trace": "hostile.sqlite"}), ("analyze", {"trace": "hostile.sqlite"}), ("findings", {"run": run, "limit": 100}), ("tables", {"run": run}),
                                ("explain", {"run": run, "what": "kernels"}), ("table", {"run": run, "table": "kernels"}), ("table", {"run": run, "table": "nvtx_ranges", "limit": 1000}),
                                ("sql", {"run": run, "query": "select * from v_kernels"}), ("window", {"run": run, "start_ns": 0, "end_ns": 1 << 50}), ("skills", {}),
                                ("run_skill", {"run": run, "skill": "streams"}), ("compare", {"base": run, "new": "training.sqlite"}), ("export", {"run": run, "format": "csv"})):
            c.last += 1
            c.send({"jsonrpc": "2.0", "id": c.last, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
            reply = c.receive()
            self.assertEqual(reply["id"], c.last)
            said.append(json.dumps(reply, ensure_ascii=False))
            self.assertNotRegex(said[-1], "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]")
            self.assertFalse(reply["result"]["isError"], (name, said[-1][:300]))
        for table in [row["name"] for row in c.rows("tables", run=run)]:
            said.append(json.dumps(c.ask("tools/call", {"name": "table", "arguments": {"run": run, "table": table, "limit": 1000}})))
        self.assertIn(b"CANARY", (self.root / "hostile.sqlite").read_bytes())
        self.assertNotIn("CANARY", "".join(said))

    # --- documents -----------------------------------------------------------------------------------

    def test_resources_and_prompts(self):
        c = self.client
        run = self.handle()
        listed = c.ask("resources/list")["result"]["resources"]
        self.assertEqual(len({resource["uri"] for resource in listed}), len(listed))
        for resource in listed:
            content = c.ask("resources/read", {"uri": resource["uri"]})["result"]["contents"][0]
            wanted = support.SOURCE / (resource["uri"].replace("nsys-ai://", "") + ".md")
            self.assertEqual((content["uri"], content["text"]), (resource["uri"], wanted.read_text(encoding="utf-8")))
        report = c.ask("resources/read", {"uri": f"nsys-ai://run/{run}/report.md", **meta()})["result"]
        self.assertEqual((report["cacheScope"], report["contents"][0]["text"]), ("private", (self.cache / run / "report.md").read_text(encoding="utf-8")))
        self.assertEqual(len(c.ask("resources/templates/list")["result"]["resourceTemplates"]), 1)
        for prompt in c.ask("prompts/list")["result"]["prompts"]:
            given = {argument["name"]: f"<{argument['name']}>" for argument in prompt["arguments"]}
            text = c.ask("prompts/get", {"name": prompt["name"], "arguments": given})["result"]["messages"][0]["content"]["text"]
            self.assertTrue(all(value in text for value in given.values()))
            self.assertNotIn("{", text)
            for word in re.findall(r"(?:[Cc]all|then) ([a-z_]+)\b", text):
                self.assertTrue(word not in ("probe", "analyze", "findings", "window", "compare", "explain") or word in TOOLS)
            self.assertEqual(c.error("prompts/get", {"name": prompt["name"]}), -32602)
        self.assertEqual(c.error("prompts/get", {"name": "nothing"}), -32602)
        self.assertEqual(c.error("tools/list", {"cursor": "x"}), -32602)


def children_of(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Starting(unittest.TestCase):
    def test_command_line(self):
        for words, said in ((("--root", "/nonexistent"), "--root"), (("--root", __file__), "no directory"), (("--max-chars", "10"), "--max-chars"), (("extra",), "extra")):
            done = support.run("mcp", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(said, done.stderr)

    def test_cache_stays_small(self):
        """Runs used longest ago go when the cache is full; other files of the directory stay."""
        cache, root = fresh_dir("cache"), fresh_dir("root")
        shutil.copy(trace("minimal"), root / "minimal.sqlite")
        shutil.copy(trace("training"), root / "training.sqlite")
        for tool, arguments in (("analyze", {"trace": "minimal.sqlite"}), ("compare", {"base": "minimal.sqlite", "new": "training.sqlite"})):
            for name, age in (("r-0000000000000001", 9000), ("r-0000000000000002", 8000), ("c-0000000000000003", 100), ("mine", 9000)):
                (cache / name).mkdir(exist_ok=True)
                with open(cache / name / "x", "wb") as file:
                    file.truncate(900 << 20)
                os.utime(cache / name, (time.time() - age,) * 2)
            c = Client(root, cache=cache)
            c.tool(tool, **arguments)
            c.close()
            there = {path.name for path in cache.iterdir()}
            self.assertNotIn("r-0000000000000001", there)
            self.assertLess({"mine", "r-0000000000000002", "c-0000000000000003"}, there)


if __name__ == "__main__":
    support.main()
