"""nsys-ai view in a pseudo-terminal of its own, its screen kept by an emulator; figures against SQL over the raw export."""
import codecs
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import sqlite3
import struct
import subprocess
import termios
import time
import unittest

import support
from support import PROGRAM, SHARED, artifacts, fresh_dir, run, trace

try:
    import pyte
except ImportError:
    pyte = None

DEADLINE_S = 60 if support.SANITIZED else 20
FSDP = SHARED / "traces" / "fsdp_2gpu.sqlite"
KEYS = {"Left": "\033OD", "Right": "\033OC", "Up": "\033[A", "Down": "\033OB", "S-Left": "\033[1;2D", "S-Right": "\033[1;2C",
        "PgUp": "\033[5~", "PgDn": "\033[6~", "Home": "\033OH", "End": "\033[F", "Tab": "\t", "S-Tab": "\033[Z", "Enter": "\r",
        "Space": " ", "Esc": "\033"}
UTF8 = {"LC_ALL": "C.UTF-8", "NO_COLOR": "", "TERM": "xterm-256color"}

if pyte:
    class Screen(pyte.Screen):
        """With what xterm can and the emulator cannot: REP, SU, SD, and SGR of modifyOtherKeys, which is no SGR."""

        last = " "

        def draw(self, data):
            super().draw(data)
            self.last = data[-1]

        def repeat(self, count=1):
            self.draw(self.last * count)

        def scroll_up(self, count=1):
            self.scroll(self.delete_lines, count)

        def scroll_down(self, count=1):
            self.scroll(self.insert_lines, count)

        def scroll(self, how, count):
            y, x = self.cursor.y, self.cursor.x
            self.cursor.y = self.margins.top if self.margins else 0
            how(count or 1)
            self.cursor.y, self.cursor.x = y, x

        def select_graphic_rendition(self, *attributes, private=False):
            if not private:
                super().select_graphic_rendition(*attributes)

    pyte.Stream.csi = {**pyte.Stream.csi, "b": "repeat", "S": "scroll_up", "T": "scroll_down"}
    pyte.Stream.events = frozenset([*pyte.Stream.events, "repeat", "scroll_up", "scroll_down"])


class Terminal:
    """A program in a terminal."""

    def __init__(self, *words, size=(80, 24), env=None, wait=True):
        self.columns, self.lines = size
        self.screen = Screen(*size)
        self.screen.set_mode(pyte.modes.LNM)
        self.stream = pyte.Stream(self.screen)
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.raw, self.idle_key = b"", ""
        self.state = fresh_dir("state")
        settings = {**os.environ, **UTF8, "XDG_STATE_HOME": str(self.state), **(env or {})}
        primary, self.secondary = pty.openpty()
        self.fd = primary
        self.resize(*size)
        self.before = termios.tcgetattr(self.secondary)
        self.process = subprocess.Popen([PROGRAM, "view", *map(str, words)], stdin=self.secondary, stdout=self.secondary,
                                        stderr=self.secondary, env=settings, start_new_session=True, cwd=self.state,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        if wait:
            self.until(lambda s: "q quit" in s or "h keys" in s or "too small" in s)

    def resize(self, columns, lines):
        self.columns, self.lines = columns, lines
        fcntl.ioctl(self.secondary, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.screen.resize(lines, columns)

    def read(self, seconds):
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.raw += data
        self.stream.feed(self.decoder.decode(data))
        return bool(data)

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def line(self, number):
        return self.screen.display[number].rstrip()

    def until(self, seen):
        """Reads until the screen is as expected, and no more comes."""
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            more = self.read(0.01)
            if not more and seen(self.text()):
                return self.text()
            if not more and self.process.poll() is not None and not self.read(0.05):
                break
        if seen(self.text()):
            return self.text()
        raise AssertionError("not seen:\n" + self.text())

    def send(self, *keys):
        """Keys by name; other words are typed as they are."""
        for key in keys:
            os.write(self.fd, KEYS.get(key, key).encode())
            if key == "Esc":
                time.sleep(0.05)  # else it begins the next key

    def press(self, keys, pattern):
        """Sends keys and waits for a pattern."""
        self.send(*keys)
        return self.until(lambda s: re.search(pattern, s))

    def settle(self, *keys):
        """Sends keys whose effect is to be read from the screen: a harmless one follows, whose message is waited for."""
        self.send(*keys)
        self.idle_key = "Z" if self.idle_key == "Y" else "Y"
        self.press([self.idle_key], f"{self.idle_key} does nothing here")
        return self.text()

    def panel(self):
        """The lines of the details."""
        return [self.line(y) for y in range(self.lines - 7, self.lines - 1)]

    def event(self):
        """Start and end of the selected event, ns."""
        found = re.search(r"(\d+)\.(\d{9}) - (\d+)\.(\d{9}) s", "\n".join(self.panel()))
        return found and (int(found[1] + found[2]), int(found[3] + found[4]))

    def window(self):
        found = re.search(r"(\d+\.\d+) s \+ ([\d.]+) (ns|µs|ms|s)", self.line(0))
        return float(found[1]), float(found[2]) * {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1}[found[3]]

    def end(self):
        end = time.monotonic() + DEADLINE_S
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.02)
        while self.read(0):
            pass
        return self.process.wait(timeout=DEADLINE_S)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.fd)
        os.close(self.secondary)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def raw(path, statement):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        return db.execute(statement).fetchall()


def kernels(path, where="1"):
    """start, end, name of kernels, by start."""
    return raw(path, f"select k.start, k.end, s.value from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.demangledName "
                     f"where {where} order by k.start")


def operations(path):
    """start, end of everything that ran on GPUs, by start."""
    tables = {name for (name,) in raw(path, "select name from sqlite_master")} & {f"CUPTI_ACTIVITY_KIND_{kind}" for kind in ("KERNEL", "MEMCPY", "MEMSET")}
    return sorted(row for table in tables for row in raw(path, f"select start, end from {table}"))


@unittest.skipUnless(pyte, "no python3-pyte")
class Keys(unittest.TestCase):
    """Every key of the table, against the raw export or what the screen said before."""

    @classmethod
    def setUpClass(cls):
        cls.path = trace("training")
        cls.directory = artifacts(cls.path)
        cls.list = kernels(cls.path, "deviceId = 0 and streamId = 7")
        cls.first = cls.list[0][0]

    def open(self, *words, **options):
        terminal = Terminal(self.directory, *words, **options)
        self.addCleanup(terminal.close)
        return terminal

    def test_every_key_is_tried_here(self):
        """The names of the table occur in this file as keys that are sent."""
        source = pathlib.Path(__file__).read_text(encoding="utf-8")
        sent = set(re.findall(r'"([^"\n]*)"', source[source.index("def test_first_screen"):]))
        table = run("view", "--keys").stdout
        for name in re.findall(r"`` (.) ``|`([^` ]+)`", table):
            self.assertIn(name[0] or name[1], sent)

    def test_first_screen(self):
        t = self.open()
        self.assertTrue(t.line(0).startswith("training.sqlite"))
        self.assertIn("GPU 0 busy", t.line(2))
        self.assertIn("stream 7", t.line(5))
        self.assertIn("3 findings", t.line(0))
        self.assertEqual(self.open(size=(200, 50)).line(2)[:10], "GPU 0 busy")

    def test_tab(self):
        t = self.open("--at", f"{self.first / 1e9:.9f}", "--trim", "1", "1.01")
        self.assertEqual(t.event(), self.list[0][:2])
        t.settle("Tab", "Tab", "Tab", "Tab", "Tab")
        self.assertEqual(t.event(), self.list[5][:2])
        t.settle("S-Tab", "S-Tab")
        self.assertEqual(t.event(), self.list[3][:2])

    def test_same_name(self):
        t = self.open("--at", f"{self.first / 1e9:.9f}")
        same = [k for k in self.list if k[2] == self.list[0][2]]
        t.settle("N", "N")
        self.assertEqual(t.event(), same[2][:2])
        t.settle("P")
        self.assertEqual(t.event(), same[1][:2])
        t.settle("`")
        self.assertEqual(t.event(), same[2][:2])
        t.settle("Esc")
        self.assertEqual(t.event(), same[1][:2])

    def test_by_length(self):
        t = self.open("--at", f"{self.first / 1e9:.9f}")
        longest = sorted(self.list, key=lambda k: (k[0] - k[1], k[0]))
        t.press(["s"], f"1 of {len(self.list):,} in this row, the longest first")
        self.assertEqual(t.event(), longest[0][:2])
        t.settle("s", "+", "s")
        self.assertEqual(t.event(), longest[2][:2])
        t.settle("S")
        self.assertEqual(t.event(), longest[1][:2])
        t.settle("`")
        self.assertEqual(t.event(), longest[2][:2])

    def test_pan_and_zoom(self):
        t = self.open("--trim", "1.01", "1.03")
        start, length = t.window()
        self.assertAlmostEqual(length, 0.02, 6)
        t.settle("+")
        self.assertAlmostEqual(t.window()[1], 0.01, 6)
        t.settle("=")
        self.assertAlmostEqual(t.window()[1], 0.005, 6)
        t.settle("-", "-")
        self.assertAlmostEqual(t.window()[0], start, 5)
        t.settle("Right")
        column = t.window()[0] - start
        self.assertTrue(0 < column < 0.001)
        t.settle("Left")
        self.assertAlmostEqual(t.window()[0], start, 5)
        for forth, back in (("S-Right", "S-Left"), ("PgDn", "PgUp")):
            t.settle(forth)
            self.assertAlmostEqual(t.window()[0], start + 0.005, 3)
            t.settle(back)
            self.assertAlmostEqual(t.window()[0], start, 5)

    def test_far(self):
        t = self.open("--trim", "1.01", "1.02")
        everything = [min(t for (t,) in raw(self.path, "select start from CUPTI_ACTIVITY_KIND_RUNTIME union select start from NVTX_EVENTS")),
                      max(e for (e,) in raw(self.path, "select end from CUPTI_ACTIVITY_KIND_KERNEL union select end from NVTX_EVENTS where end not null "
                                            "union select end from CUPTI_ACTIVITY_KIND_RUNTIME"))]
        t.settle("Home")
        self.assertAlmostEqual(t.window()[0], everything[0] / 1e9, 4)
        t.settle("End")
        self.assertAlmostEqual(sum(t.window()), everything[1] / 1e9, 3)
        t.settle("f")
        gpu = kernels(self.path)
        self.assertLess(abs(t.window()[0] - gpu[0][0] / 1e9), 0.001)
        t.settle("f")
        self.assertAlmostEqual(t.window()[1], (everything[1] - everything[0]) / 1e9, 3)
        t.settle("g", "1.0345", "Enter")
        self.assertIn("1.03", "\n".join(t.panel()))

    def test_rows(self):
        t = self.open()
        t.settle("Down", "j")
        self.assertIn("GPU 0", t.line(0))
        self.assertTrue(self.reversed(t, "stream 7 memsets"))
        t.settle("Up", "k")
        self.assertTrue(self.reversed(t, "stream 7"))
        t.settle("G")
        self.assertIn("GPU 1", t.line(0))
        t.settle("G")
        self.assertIn("GPU 0", t.line(0))

    def reversed(self, t, label):
        """Whether the row with that label is the selected one."""
        rows = [y for y in range(t.lines) if t.line(y)[:18].strip() == label]
        return len(rows) == 1 and t.screen.buffer[rows[0]][1].reverse

    def test_launch(self):
        t = self.open("--at", f"{self.list[20][0] / 1e9:.9f}")
        t.settle("l")
        (start, end), = raw(self.path, f"select r.start, r.end from CUPTI_ACTIVITY_KIND_RUNTIME r join CUPTI_ACTIVITY_KIND_KERNEL k "
                                       f"on k.correlationId = r.correlationId and (k.globalPid & ~16777215) = (r.globalTid & ~16777215) "
                                       f"where k.start = {self.list[20][0]} and k.deviceId = 0")
        self.assertEqual(t.event(), (start, end))
        t.settle("l")
        self.assertEqual(t.event(), self.list[20][:2])

    def test_findings(self):
        with open(self.directory / "report.json", encoding="utf-8") as file:
            titles = [f["title"] for f in json.load(file)["findings"]]
        t = self.open(size=(160, 30))
        for title in titles:
            t.press(["!"], r"finding \d+ of 3, \w+: " + re.escape(title))
        t.press(["@"], r"finding 2 of 3, \w+: " + re.escape(titles[1]))

    def test_filter(self):
        t = self.open()
        name = self.list[5][2][:12]
        count = len([k for k in kernels(self.path) if name.lower() in k[2].lower()])
        t.press(["/", "nothing has this", "Enter"], "no kernel has")
        t.press(["/", name.upper(), "Enter"], f": {count:,} operation")
        t.press(["n"], "no filter")
        self.assertNotIn("operation", t.line(0))
        long = sum(e - s >= 300_000 for s, e in operations(self.path))
        t.press(["m", "300", "Enter"], f">= 300 µs: {long:,} operation")
        t.press(["m", "x", "Enter"], "no number of microseconds")

    def test_names_and_times(self):
        t = self.open("--at", f"{self.first / 1e9:.9f}", size=(200, 30))
        self.assertNotIn(self.list[0][2], t.panel()[0])
        t.settle("d")
        self.assertEqual(t.panel()[0], self.list[0][2][:200])
        start = t.event()[0]
        t.settle("a")
        self.assertLess(t.event()[0], start)
        t.settle("a")
        t.press(["T"], "about 11 ticks")

    def test_logical_order(self):
        """Each of the row's events has the same width, so the window's ten kernels are blocks."""
        a, b = self.list[30][0], self.list[40][0]
        t = self.open("--trim", f"{a / 1e9:.9f}", f"{b / 1e9:.9f}", size=(200, 30))
        t.settle("L")
        row = next(t.line(y) for y in range(30) if t.line(y)[:30].strip() == "stream 7")
        self.assertEqual(row.count("["), 10)

    def test_range(self):
        t = self.open("--trim", "1", "1.05", "--at", "1.01")
        t.send("[", "S-Right")
        text = t.press(["]", "y"], r"--trim (\d+\.\d{9}) (\d+\.\d{9})")
        a, b = (float(x) for x in re.search(r"--trim (\S+) (\S+)", text).groups())
        self.assertEqual(a, 1.01)
        self.assertAlmostEqual(b - a, 0.05 / 4, 3)
        t.send("q")
        self.assertEqual(t.end(), 0)
        self.assertTrue(t.raw.decode().rstrip().endswith(re.search(r"--trim \S+ \S+", text)[0]))
        # what it prints is what analyze takes: the same kernels lie in it
        out = support.analyze(self.path, "--trim", f"{a:.9f}", f"{b:.9f}")
        inside = [k for k in kernels(self.path) if k[0] < b * 1e9 and k[1] > a * 1e9]
        rows = run("sql", out, "select count(*) from kernel_events", "--format", "csv").stdout.split()
        self.assertEqual(int(rows[1]), len(inside))

    def test_bookmarks(self):
        t = self.open("--at", f"{self.list[3][0] / 1e9:.9f}")
        t.press(["B"], "bookmark 1 saved")
        t.settle("Tab", "Tab")
        t.press(["B"], "bookmark 2 saved")
        file, = (t.state / "nsys-ai" / "bookmarks").iterdir()
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        self.assertEqual(len(json.loads(file.read_text())["bookmarks"]), 2)
        t.press(["'"], "1  1.0.*stream 7")
        t.press(["1"], "bookmark 1:")
        self.assertEqual(t.event(), self.list[3][:2])
        t.press(["."], "bookmark 2:")
        self.assertEqual(t.event(), self.list[5][:2])
        t.press([","], "bookmark 1:")
        again = self.open(env={"XDG_STATE_HOME": str(t.state)})
        again.press([","], "bookmark 2:")
        self.assertEqual(again.event(), self.list[5][:2])
        file.write_text("{not json", encoding="utf-8")
        self.open(env={"XDG_STATE_HOME": str(t.state)}, wait=False).until(lambda s: "bookmarks: " in s)

    def test_panels(self):
        t = self.open("--at", f"{self.first / 1e9:.9f}")
        t.press(["h"], "Keys.*scroll")
        t.press(["PgDn"], "gaps: p profiler")
        t.press(["Esc"], "q quit")
        t.press(["C"], "lines of the selected stream   < 1 >")
        t.press(["Right"], "< 2 >")
        t.press(["Left"], "stream   < 1 >")
        t.press(["Down", "Right"], "other streams *< 2 >")
        t.settle("Esc")
        rows = [y for y in range(24) if t.line(y)[:18].strip() in ("stream 7 copies", "stream 7 memsets")]
        self.assertEqual(rows[1] - rows[0], 2)
        t.press(["?"], r"in this row \d+ of this name")
        self.assertIn("What is known of it", t.until(lambda s: "Time" in s))
        t.press(["PgDn"], "NVTX ranges that launch it")
        t.press(["/", "fat"], "kernels with: fat")

    def test_write(self):
        t = self.open()
        t.press(["w", "Enter"], "written to nsys-ai-view.txt")
        self.assertIn("GPU 0 busy", (t.state / "nsys-ai-view.txt").read_text(encoding="utf-8"))
        t.press(["w", "Enter"], "exists; nothing was written")

    def test_tree(self):
        t = self.open("tree", size=(120, 40))
        (count,), = raw(self.path, "select count(*) from NVTX_EVENTS n left join StringIds s on s.id = n.textId where "
                                   "coalesce(n.text, s.value) = 'forward' and (n.globalTid >> 24 & 16777215) = 6001")
        t.settle("c")
        closed = t.text()
        self.assertRegex(closed, rf"forward +{count}x")
        self.assertNotIn("aten::gelu", closed)
        t.settle("Down", "l")
        self.assertIn("aten::gelu", t.text())
        t.settle("h")
        self.assertEqual(t.text().splitlines()[2:-1], closed.splitlines()[2:-1])
        t.settle("Enter")
        self.assertIn("aten::gelu", t.text())
        t.settle("Space", "Right", "Left")
        self.assertNotIn("aten::gelu", t.text())
        t.settle("e")
        self.assertIn("* ", t.text())
        for depth, seen, hidden in (("0", "forward", "aten::gelu"), ("1", "aten::gelu", "aten::addmm"), ("2", "aten::addmm", "\0"),
                                    ("3", "* ", "\0"), ("4", "* ", "\0"), ("5", "* ", "\0")):
            t.settle(depth)
            self.assertIn(seen, t.text())
            self.assertNotIn(hidden, t.text())
        t.press(["F", "forw"], "ranges with: forw")
        self.assertIn("forward", t.text())
        self.assertNotIn("backward", t.text())
        t.settle("Enter")
        t.press(["n"], "no filter")
        t.settle("/", "optimizer", "Enter")
        self.assertNotIn("forward", t.text())
        t.settle("n", "t")
        self.assertNotIn("wall time", t.text())
        t.settle("t", "End", "Home", "PgDn", "PgUp")
        self.assertIn("wall time", t.text())
        t.press(["H"], "Keys")
        t.settle("Esc", "d", "k", "j")
        t.press(["?"], "What is known of it")
        t.send("Esc", "q")
        self.assertEqual(t.end(), 0)

    def test_tree_and_timeline(self):
        t = self.open("tree", size=(120, 40))
        t.settle("Down", "v")
        self.assertIn("in ", "\n".join(t.panel()))
        start, end = t.event()
        longest = raw(self.path, f"select max(end - start) from NVTX_EVENTS where start = {start} and end = {end}")
        self.assertEqual(longest[0][0], end - start)
        t.settle("v")
        self.assertIn("wall time", t.text())

    def test_mouse(self):
        t = self.open("--trim", "1", "1.02")
        start, length = t.window()
        t.settle("\033[<64;50;6M")  # the wheel, up: zooms in there
        self.assertAlmostEqual(t.window()[1], length / 2, 5)
        t.settle("\033[<65;50;6M")
        self.assertAlmostEqual(t.window()[1], length, 5)
        t.settle("\033[<69;50;6M")  # with Shift: pans
        self.assertGreater(t.window()[0], start)
        t.settle("\033[<0;40;7M", "\033[<0;40;7m")  # a click on the row below
        self.assertTrue(self.reversed(t, "stream 7 copies"))
        t.settle("\033[<0;30;2M", "\033[<0;60;2m")  # a drag on the axis
        self.assertIn("range ", "\n".join(t.panel()))
        at = t.window()[0]
        t.settle("\033[<0;60;6M", "\033[<0;50;6m")  # a drag in the rows
        self.assertGreater(t.window()[0], at)


@unittest.skipUnless(pyte, "no python3-pyte")
class Terminals(unittest.TestCase):
    """Sizes, kinds of terminals, ends."""

    @classmethod
    def setUpClass(cls):
        cls.directory = artifacts(trace("training"))

    def test_resize(self):
        with Terminal(self.directory, "--trim", "1.01", "1.02") as t:
            for size in ((40, 10), (200, 50), (30, 8), (80, 24)):
                t.resize(*size)
                t.until(lambda s: "too small" in s if size[0] < 40 else t.line(0).startswith("training") and t.line(t.lines - 1) != "")
                self.assertEqual(t.screen.columns, size[0])
            self.assertAlmostEqual(t.window()[0], 1.01, 3)
            self.assertIn("stream 7", t.text())

    def test_kinds(self):
        for kind in ("xterm-256color", "linux", "vt100", "tmux-256color", "screen"):
            with self.subTest(kind=kind), Terminal(self.directory, env={"TERM": kind}) as t:
                self.assertIn("GPU 0 busy", t.text())
                t.send("q")
                self.assertEqual(t.end(), 0)

    def test_no_terminal_for_it(self):
        for kind in ("dumb", "no-such-terminal"):
            with self.subTest(kind=kind), Terminal(self.directory, env={"TERM": kind}, wait=False) as t:
                self.assertEqual(t.end(), 0)
                self.assertIn(b"--once", t.raw)
                self.assertNotIn(b"\033", t.raw)

    def test_locale_without_utf8(self):
        with Terminal(self.directory, env={"LC_ALL": "C"}) as t:
            self.assertIn("GPU 0 busy", t.text())
            t.settle("h", "Esc", "v", "v", "Tab")
            self.assertTrue(all(byte < 0x80 for byte in t.raw))
        with Terminal(self.directory, "--ascii") as t:
            self.assertTrue(all(byte < 0x80 for byte in t.raw))

    def test_colours(self):
        """NO_COLOR, --color never: no byte asks for one; what is to be seen is the same."""
        colour = re.compile(rb"\033\[[\d;]*(?<![\d])(3[0-79]|4[0-79]|9\d|10\d)(;[\d;]*)?m")
        with Terminal(self.directory) as t, Terminal(self.directory, env={"NO_COLOR": "1"}) as none, Terminal(self.directory, "--color", "never") as never:
            for other in (none, never):
                self.assertEqual(other.text(), t.text())
                other.settle("+", "+", "h", "Esc", "v")
                self.assertIsNone(colour.search(other.raw))
            self.assertIsNotNone(colour.search(t.raw))

    def test_signals(self):
        """However it ends, the terminal is as before."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGBUS, signal.SIGSEGV):
            if support.SANITIZED and number in (signal.SIGBUS, signal.SIGSEGV):
                continue
            with self.subTest(number=number), Terminal(self.directory) as t:
                t.process.send_signal(number)
                status = t.end()
                if number != signal.SIGBUS:  # which has a message and a status of its own
                    self.assertEqual(status, -number)
                self.assertEqual(termios.tcgetattr(t.secondary), t.before)
                self.assertIn(b"\033[?1049l", t.raw)
                self.assertRegex(t.raw, rb"\033\[\?(1006;)?1000l")

    def test_ctrl_c(self):
        with Terminal(self.directory) as t:
            t.send("\x03")
            self.assertEqual(t.end(), -signal.SIGINT)
            self.assertEqual(termios.tcgetattr(t.secondary), t.before)

    def test_ctrl_c_while_looking_something_up(self):
        """The process that answers ends at once, too: it does not catch what this one catches."""
        with Terminal(self.directory) as t:
            t.settle("Tab")
            t.send("?")
            ends_it = sum(1 << n - 1 for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT))
            children, end, caught = pathlib.Path(f"/proc/{t.process.pid}/task/{t.process.pid}/children"), time.monotonic() + DEADLINE_S, ~0
            while caught & ends_it and time.monotonic() < end:  # a child has just been forked, or is of another kind
                for child in children.read_text().split():
                    with contextlib.suppress(OSError, TypeError):
                        caught = int(re.search(r"SigCgt:\s*([0-9a-f]+)", pathlib.Path(f"/proc/{child}/status").read_text())[1], 16)
                t.read(0)
            t.send("\x03")
            self.assertEqual(t.end(), -signal.SIGINT)
        self.assertFalse(caught & ends_it)

    def test_terminal_goes_away(self):
        t = Terminal(self.directory)
        os.close(t.fd)
        os.close(t.secondary)
        self.assertNotEqual(t.process.wait(timeout=DEADLINE_S), None)

    def test_hostile(self):
        with Terminal(artifacts(trace("hostile")), size=(120, 40)) as t:
            t.settle("Tab", "Tab", "+", "+", "+", "+", "d", "Down", "Down", "Tab", "v", "e")
            for code in (b"\033]", b"\x07", b"\033P", b"\xe2\x80\xae"):
                self.assertNotIn(code, t.raw)


class Once(unittest.TestCase):
    """Rows as text and JSON."""

    def view(self, path, *options, env=None):
        done = run("view", path, "--once", *options, env={**UTF8, **(env or {})})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_width_and_plainness(self):
        for scenario in ("training", "host-bound", "graphs", "empty", "hostile"):
            for width in (60, 100, 200):
                text = self.view(artifacts(trace(scenario)), "--width", width, "--ascii")
                self.assertTrue(text.isascii() and text.endswith("\n"))
                self.assertTrue(all(line.isprintable() and len(line) <= width for line in text.splitlines()), text)
                self.assertEqual(text, self.view(artifacts(trace(scenario)), "--width", width, env={"LC_ALL": "C"}))

    def test_same_rows_as_on_the_screen(self):
        if not pyte:
            self.skipTest("no python3-pyte")
        path = artifacts(trace("training"))
        once = self.view(path, "--width", 100).splitlines()
        with Terminal(path, size=(100, 60)) as t:
            rows = [t.line(y) for y in range(60)]
        plot = [line for line in once[2:] if line[:22].strip() and line[0] in "G 6"][:20]
        for line in plot:
            label = line[:22].strip()
            if label.startswith(("GPU", "stream")):
                same = [row for row in rows if row[:22].strip() == label]
                cells = [(a, b) for a, b in zip(line[23:].ljust(77), same[0][23:].ljust(77)) if a != b]
                self.assertLessEqual(len(cells), 1, label)  # the cursor

    def test_json_adds_up(self):
        """Window minus busy time is the idle time of the truth, at any width."""
        path = trace("host-bound")
        busy, reach = 0, 0
        for start, end in operations(path):
            busy += max(0, end - max(start, reach))
            reach = max(reach, end)
        for width in (40, 99, 200, 731):
            d = json.loads(self.view(artifacts(path), "--format", "json", "--width", width))
            row, = (r for r in d["rows"] if r["row"] == "GPU 0 busy")
            self.assertEqual(len(row["busy_ns"]), d["columns"])
            self.assertEqual(sum(row["busy_ns"]), busy)
            self.assertEqual(d["end_ns"] - d["start_ns"] - busy, 29634752)
            gaps, = (r for r in d["rows"] if r["row"] == "GPU 0 gaps")
            self.assertEqual(sum(gaps["busy_ns"]), 29634752)

    def test_windows(self):
        path = artifacts(trace("training"))
        (a, b), = raw(trace("training"), "select start, end from NVTX_EVENTS n left join StringIds s on s.id = n.textId "
                                         "where coalesce(n.text, s.value) = 'forward' order by start limit 1")
        d = json.loads(self.view(path, "--format", "json", "--range", "forward"))
        self.assertEqual((d["start_ns"], d["end_ns"]), (a, b))
        d = json.loads(self.view(path, "--format", "json", "--trim", "1.01", "1.02", "--gpu", "1"))
        self.assertEqual((d["start_ns"], d["end_ns"]), (1010000000, 1020000000))
        self.assertEqual({r["gpu"] for r in d["rows"]}, {"GPU 1", None})

    def test_other_names(self):
        directory = artifacts(trace("training"))
        for name, words in (("timeline", ()), ("tui", ("tree",))):
            self.assertEqual(run(name, directory, "--once", "--ascii").stdout, run("view", directory, *words, "--once", "--ascii").stdout)
        self.assertEqual(run("tui").returncode, 2)

    def test_refusals(self):
        path = artifacts(trace("training"))
        for options, said in ((["--gpu", "9"], "no such GPU"), (["--trim", "900", "901"], "nothing of the trace"), (["--range", "nope"], "no range"),
                              (["--trim", "2", "1"], "after the start"), (["--trim", "1", "2", "--range", "x"], "exclude"),
                              (["--at", "77"], "nothing of the trace")):
            done = run("view", path, "--once", *options)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn(said, done.stderr)
        self.assertEqual(run("view", path, "--width", "80").returncode, 2)
        self.assertEqual(run("view", path, "graph").returncode, 2)
        self.assertEqual(run("view", "/nonexistent").returncode, 3)
        self.assertEqual(run("view").returncode, 2)

    def test_no_terminal(self):
        path = artifacts(trace("training"))
        done = run("view", path)
        self.assertEqual(done.returncode, 0)
        self.assertIn("--once", done.stderr)
        self.assertEqual(done.stdout, run("view", path, "--once").stdout)
        self.assertEqual(run("view", path, "-q").stderr, "")
        self.assertEqual(run("open", path, "--with", "tui").stdout, done.stdout)
        self.assertEqual(run("view", path, "tree", "--once").stdout, run("tree", path).stdout)

    def test_documented_keys(self):
        text = (support.SOURCE / "docs" / "terminal.md").read_text(encoding="utf-8")
        self.assertIn(run("view", "--keys").stdout, text)

    @unittest.skipUnless(FSDP.exists(), "no reference traces")
    def test_real(self):
        if not pyte:
            self.skipTest("no python3-pyte")
        flash = [k for k in kernels(FSDP) if "flash" in k[2]]
        with Terminal(artifacts(FSDP), "--gpu", "1") as t:
            t.press(["/", "flash", "Enter"], ": 34 operations")
            self.assertEqual(len(flash), 68)


if __name__ == "__main__":
    support.main()
