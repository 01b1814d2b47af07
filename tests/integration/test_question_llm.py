"""A language model puts an answer into words: what it may say, and what is done when it does not."""
import json
import os
import pathlib
import shutil
import re
import stat
import subprocess
import time
import unittest

import support
from fake_llm import Server, raw, says, slow, status
from support import PROGRAM, fresh_dir, trace

KEY = "sk-test-4cdc3a1e9b"
QUESTION = "why is my GPU idle"


@unittest.skipUnless(shutil.which("curl"), "no curl")
class Model(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = support.artifacts(trace("host-bound"))
        cls.plain = support.run("ask", cls.place, QUESTION).stdout
        cls.facts = json.loads(support.run("ask", cls.place, QUESTION, "--format", "json").stdout)["facts"]

    def setUp(self):
        self.cache = fresh_dir("cache")

    def ask(self, url, *options, question=QUESTION, **env):
        """Every answer of every test is looked at for the key."""
        done = subprocess.run([PROGRAM, "ask", self.place, question, "--llm", *options], capture_output=True, text=True, check=False,
                              env={**os.environ, "NSYS_AI_LLM_URL": url, "NSYS_AI_LLM_MODEL": "fake", "NSYS_AI_LLM_KEY": KEY, "XDG_CACHE_HOME": str(self.cache), **env})
        self.assertEqual(done.returncode, 0, done.stderr)
        kept = "".join(p.read_text() for p in pathlib.Path(self.cache).rglob("*") if p.is_file())
        self.assertNotIn(KEY, done.stdout + done.stderr + kept)
        return done

    def falls_back(self, reply, why, *options, requests=1, **env):
        with Server(*(reply if isinstance(reply, list) else [reply])) as server:
            done = self.ask(server.url, *options, **env)
        self.assertEqual(done.stdout, self.plain)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertRegex(done.stderr, "nsys-ai: the model's words are not used: .*" + why)
        self.assertEqual(len(server.requests), requests)

    def test_good_words_are_used_and_kept(self):
        text = "GPU 0 is idle for 29.6 ms of 55.0 ms, 53.9 % [F1].\nIt waits for `cudaStreamSynchronize` [F2]."
        with Server(says(text)) as server:
            first, second = self.ask(server.url), self.ask(server.url)
            self.assertEqual(len(server.requests), 1)  # the second is from the cache
            self.assertEqual(first.stdout, second.stdout)
            self.assertIn("\nAnswer, in the words of fake (numbers checked)\n  GPU 0 is idle for 29.6 ms", first.stdout)
            self.assertEqual(first.stdout.split("\nWhat to do\n")[1], self.plain.split("\nWhat to do\n")[1])
            self.ask(server.url, "--no-cache")
            self.assertEqual(len(server.requests), 2)
            answer = json.loads(self.ask(server.url, "--format", "json").stdout)
            self.assertEqual(answer["wording"], {"model": "fake", "text": text})
            self.assertEqual(answer["facts"], self.facts)
        files = [p for p in pathlib.Path(self.cache).rglob("*") if p.is_file()]
        self.assertEqual([stat.S_IMODE(p.stat().st_mode) for p in files], [0o600])
        self.assertEqual(stat.S_IMODE(files[0].parent.stat().st_mode), 0o700)

    def test_a_kept_text_that_cannot_be_read_is_asked_for_again(self):
        with Server(says("GPU 0 waits [F1].")) as server:
            first = self.ask(server.url)
            (kept,) = [p for p in pathlib.Path(self.cache).rglob("*") if p.is_file()]
            kept.write_text("x" * 70000)
            self.assertEqual(self.ask(server.url).stdout, first.stdout)
            self.assertEqual(len(server.requests), 2)

    def test_of_a_trace(self):
        """What reads the trace is confined; what asks the model is not."""
        with Server(says("GPU 0 waits [F1].")) as server:
            done = subprocess.run([PROGRAM, "ask", trace("host-bound"), QUESTION, "--llm"], capture_output=True, text=True, check=True,
                                  env={**os.environ, "NSYS_AI_LLM_URL": server.url, "NSYS_AI_LLM_MODEL": "fake", "XDG_CACHE_HOME": str(self.cache)})
        self.assertIn("in the words of fake", done.stdout)
        self.assertNotIn("Authorization", server.requests[0][1])  # without a key none is sent

    def test_what_is_sent(self):
        with Server(says("GPU 0 waits [F1].")) as server:
            self.ask(server.url)
        path, headers, body = server.requests[0]
        self.assertEqual((path, headers["Authorization"], headers["Content-Type"]), ("/v1/chat/completions", f"Bearer {KEY}", "application/json"))
        sent = json.loads(body)
        self.assertEqual((sent["model"], sent["temperature"], sent["stream"], [m["role"] for m in sent["messages"]]), ("fake", 0, False, ["system", "user"]))
        material = json.loads(sent["messages"][1]["content"])
        self.assertEqual([f["text"] for f in material["facts"]], [f["text"] for f in self.facts])
        self.assertNotIn(str(self.place), body)  # no path of this machine
        dry = subprocess.run([PROGRAM, "ask", self.place, QUESTION, "--dry-run"], capture_output=True, text=True, check=True,
                             env={**os.environ, "NSYS_AI_LLM_URL": server.url, "NSYS_AI_LLM_MODEL": "fake", "NSYS_AI_LLM_KEY": KEY})
        self.assertEqual(dry.stdout.splitlines()[-1], body)
        self.assertNotIn(KEY, dry.stdout + dry.stderr)
        self.assertIn("Bearer (NSYS_AI_LLM_KEY)", dry.stdout)

    def test_secrets_of_a_trace_are_not_sent(self):
        """The generator puts environment variables into every export."""
        place = support.artifacts(trace("hostile"))
        for question in ("why is it slow", "what is the slowest kernel", "what is this", "can I trust this trace", "which layer is slow"):
            dry = support.run("ask", place, question, "--dry-run")
            self.assertEqual(dry.returncode, 0, dry.stderr)
            self.assertNotRegex(dry.stdout, "CANARY|SECRET|LD_PRELOAD")
            json.loads(dry.stdout.splitlines()[-1])

    def test_numbers_that_are_no_facts(self):
        for text, why in (("GPU 0 is idle for 31.7 ms [F1].", '"31.7 ms" is in no fact that it cites'), ("GPU 0 is idle for 29.6 ms.", "cites no fact"),
                          ("GPU 0 is idle for 29.6 s [F1].", '"29.6 s"'), ("Removing it saves 12 % [F1].", '"12 %"'), ("It is idle [F9].", "a fact that there is not"),
                          ("It is idle for 53.9 ms [F1].", '"53.9 ms"'), ("It would run 1.9x faster [F1].", '"1.9"'),
                          ("GPU 0 is idle for 29.6 ms [F1]. That is 17 GiB.", '"17 GiB"'), ("Idle: 29.6 ms [F1] " + "x" * 9000, "more than 8000 bytes")):
            with self.subTest(text[:40]):
                self.falls_back(says(text), re.escape(why))
        self.assertFalse([p for p in pathlib.Path(self.cache).rglob("*") if p.is_file()])  # nothing of that is kept

    def test_numbers_that_are(self):
        for text in ("GPU 0 is idle for 29.6 ms (53.9 %). [F1]", "1. GPU 0 is idle for 29.6\u00a0ms [F1].\n2. Waits are the cause [F2].", "GPU 0 is idle for about 30 ms [F1].",
                     "In H100 kernels with fp16 nothing is odd.", "It is idle for 29,600 us [F1]; more than half [F1, F2]."):
            with self.subTest(text), Server(says(text)) as server:
                self.assertIn("in the words of fake", self.ask(server.url, "--no-cache").stdout)

    def test_failures_of_the_server(self):
        for reply, why in ((status(401), "status 401"), (status(404), "status 404"), (raw(b"<html>", kind="text/html"), "no JSON"), (raw(b"{}"), "no choices"),
                           (raw(b""), "no JSON"), (says(" "), "says nothing"), (raw(b'{"choices": [{"message": {"content": 3}}]}'), "no choices"),
                           (raw(b"x" * (5 << 20)), "longer than 1 MiB"), (raw(b"", 302, Location="http://127.0.0.1:1/"), "status 302"),
                           (says(f"The key is {KEY}."), "holds the key"), (says("\x1b[31m red"), "cites no fact")):
            with self.subTest(why):
                self.falls_back(reply, why)

    def test_a_busy_server_is_asked_again(self):
        busy = status(429, Retry_After="0")
        with Server(busy, status(503, Retry_After="0"), says("GPU 0 waits [F1].")) as server:
            self.assertIn("in the words of fake", self.ask(server.url).stdout)
        self.falls_back([busy, busy, busy], "status 429", "--no-cache", requests=3)
        self.falls_back(status(500, Retry_After="3600"), "status 500", "--no-cache")

    def test_a_slow_server(self):
        before = time.monotonic()
        self.falls_back(slow(20), "[Tt]imeout|[Tt]imed out", "--timeout", "0.3")
        self.assertLess(time.monotonic() - before, 15)

    def test_no_server(self):
        for url, why in (("http://127.0.0.1:1/v1", "cannot be asked"), ("", "NSYS_AI_LLM_URL is not set"), ("http://example.invalid/v1", "http to another machine"),
                         ("http://127.0.0.1.example.invalid/v1", "http to another machine"), ("ftp://127.0.0.1/", "neither https"), ("http://me:pw@127.0.0.1/v1", "no plain address"),
                         ("http://", "no plain address"), ("file:///etc/passwd", "neither https")):
            with self.subTest(url):
                done = self.ask(url)
                self.assertEqual(done.stdout, self.plain)
                self.assertIn(why, done.stderr)
        self.assertIn("NSYS_AI_LLM_MODEL is not set", self.ask("http://127.0.0.1:1", NSYS_AI_LLM_MODEL="").stderr)

    def test_limits(self):
        with Server(says("GPU 0 waits [F1].")) as server:
            done = self.ask(server.url, "--price", "3", "15", "--max-cost", "0.001")
            self.assertIn("--max-cost is 0.001", done.stderr)
            self.assertIn("--max-prompt-tokens is 100", self.ask(server.url, "--max-prompt-tokens", "100").stderr)
            self.assertEqual(server.requests, [])
            self.ask(server.url, "--price", "3", "15", "--max-cost", "1")
            self.ask(server.url, "--max-prompt-tokens", "600")
        sizes = [len(json.loads(json.loads(body)["messages"][1]["content"])["facts"]) for _, _, body in server.requests]
        self.assertEqual(sizes[0], len(self.facts))
        self.assertLess(sizes[1], sizes[0])  # the last facts are left out

    def test_a_key_that_is_none(self):
        done = subprocess.run([PROGRAM, "ask", self.place, QUESTION, "--llm"], capture_output=True, text=True, check=False,
                              env={**os.environ, "NSYS_AI_LLM_URL": "http://127.0.0.1:1", "NSYS_AI_LLM_MODEL": "m", "NSYS_AI_LLM_KEY": "a\r\nX-Evil: 1"})
        self.assertIn("characters that no key has", done.stderr)
        self.assertNotIn("Evil", done.stdout + done.stderr)


if __name__ == "__main__":
    support.main()
