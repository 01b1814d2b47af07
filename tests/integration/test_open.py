"""nsys-ai open: what is started, and who gets the timeline."""
import http.client
import os
import pathlib
import shutil
import socket
import subprocess
import time
import unittest

import support
from support import PROGRAM, artifacts, fresh_dir, run, trace

SITE = "https://ui.perfetto.dev"
NO_SCREEN = {"BROWSER": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""}


def browser():
    """A program that writes down what it was asked to open."""
    directory = fresh_dir()
    program = directory / "browser"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > {directory}/part && mv {directory}/part {directory}/asked\necho noise\n')
    program.chmod(0o755)
    return program, directory / "asked"


def awaited(path):
    for _ in range(200):
        if path.exists():
            return path.read_text()
        time.sleep(0.05)
    raise AssertionError(f"{path} did not appear")


class Html(unittest.TestCase):
    def test_run(self):
        directory, (program, asked) = artifacts(trace("training")), browser()
        done = run("open", directory, env={**NO_SCREEN, "BROWSER": f"{program}:other"})
        self.assertEqual((done.returncode, done.stdout), (0, f"{directory}/report.html\n"), done.stderr)
        self.assertEqual(awaited(asked), f"{directory}/report.html")

    def test_nothing_is_started(self):
        directory, (program, asked) = artifacts(trace("training")), browser()
        for options, env in (((), NO_SCREEN), (("--no-browser",), {"BROWSER": str(program)})):
            done = run("open", directory, *options, env=env)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse(asked.exists())
        done = run("open", directory, env={**NO_SCREEN, "BROWSER": "/nowhere/browser"})
        self.assertEqual(done.returncode, 0)
        self.assertIn("/nowhere/browser", done.stderr)

    def test_trace(self):
        out = fresh_dir()
        for options, env in ((("--out", out / "run"), {}), ((), {"TMPDIR": str(out)})):
            done = run("open", trace("minimal"), "-q", *options, env={**NO_SCREEN, **env})
            self.assertEqual(done.returncode, 0, done.stderr)
            page = pathlib.Path(done.stdout.strip())
            self.assertIn(out.resolve(), page.parents)
            self.assertTrue(page.read_text().startswith("<!"))

    def test_errors(self):
        empty = fresh_dir()
        self.assertEqual(run("open", empty).returncode, 3)
        self.assertEqual(run("open", artifacts(trace("training")), "--out", empty).returncode, 2)
        self.assertEqual(run("open", trace("training"), "--with", "perfetto", "--out", empty).returncode, 2)
        (empty / "x.sqlite").write_text("no trace")
        self.assertEqual(run("open", empty / "x.sqlite", env={"TMPDIR": str(empty)}).returncode, 3)
        self.assertEqual(os.listdir(empty), ["x.sqlite"])

    def test_what_is_no_run_is_said(self):
        """A directory that is not there, and one that holds runs, of which one is named, by every command that reads a run."""
        runs = fresh_dir() / "runs"
        done = run("open", runs)
        self.assertEqual((done.returncode, done.stderr), (3, f'nsys-ai: there is no directory "{runs}"\n'))
        shutil.copytree(artifacts(trace("loop")), runs / "b")
        self.assertEqual(run("compare", runs / "b", runs / "b", "--allow", "same_content", "--out", runs / "a").returncode, 0)  # lists files, and is no run
        for words in (("open", runs), ("info", f"{runs}/"), ("compare", runs / "b", runs)):
            done = run(*words)
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr, rf'^nsys-ai: "{runs}/?" is no run, it holds runs: name one of them, such as "{runs}/b"\n$')
        shutil.rmtree(runs / "b")
        self.assertRegex(run("info", runs).stderr, "is no run: it has no readable stages/manifest.json")


class Perfetto(unittest.TestCase):
    def start(self, *options):
        words = [PROGRAM, "open", str(artifacts(trace("training"))), "--with", "perfetto", "--port", "0", "--no-browser", *options]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.kill(), process.wait(), process.stdout.close(), process.stderr.close()))
        url = process.stdout.readline().strip()
        self.assertTrue(url.startswith(f"{SITE}/#!/?url=http://127.0.0.1:"), url)
        port, path = url.split("127.0.0.1:")[1].split("/", 1)
        return process, int(port), "/" + path

    def ask(self, port, path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    def test_once(self):
        process, port, path = self.start()
        self.assertEqual(len(path), 33)
        with open("/proc/net/tcp", encoding="ascii") as sockets:
            self.assertEqual([line.split()[1] for line in sockets if f":{port:04X} " in line and line.split()[3] == "0A"], [f"0100007F:{port:04X}"])
        for status, ask in ((404, ("/",)), (404, (path[:-1],)), (404, (path + "x",)), (405, (path, "POST")), (405, (path, "OPTIONS"))):
            answer, body = self.ask(port, *ask, Origin=SITE)
            self.assertEqual((answer.status, body), (status, b""), ask)
        self.assertEqual(self.ask(port, path, Origin="https://example.org")[0].status, 403)
        self.assertEqual(self.ask(port, path, Origin="null")[0].status, 403)
        self.assertEqual(self.ask(port, path, Host=f"example.org:{port}")[0].status, 403)
        with socket.create_connection(("127.0.0.1", port)) as rude:
            rude.sendall(b"\0" * 100)
        answer, body = self.ask(port, path, Origin=SITE)
        self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Origin"]), (200, SITE))
        self.assertEqual(body, run("export", "perfetto", artifacts(trace("training")), text=False).stdout)
        self.assertEqual(process.wait(10), 0)
        with self.assertRaises(OSError):
            self.ask(port, path)

    def test_nobody_comes(self):
        process, _, _ = self.start("--timeout", "1")
        self.assertEqual(process.wait(20), 6)
        self.assertIn("within 1 s", process.stderr.read())

    def test_port_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            done = run("open", artifacts(trace("training")), "--with", "perfetto", "--no-browser", "--port", taken.getsockname()[1])
            self.assertEqual((done.returncode, done.stdout), (5, ""), done.stderr)


if __name__ == "__main__":
    support.main()
