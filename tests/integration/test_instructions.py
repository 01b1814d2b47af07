"""What an analysis costs, in instructions: they are the same on every machine and under any load, given compiler and libraries. The last
landed values are in tests/bench/instructions.json; scripts/bench --instructions prints where they go."""
import json
import os
import re
import shutil
import subprocess
import unittest

import support
from support import SOURCE, fresh_dir, trace

RECORDED = SOURCE / "tests/bench/instructions.json"
SLACK = 1.05
# callgrind counts `rep stosb` and `rep movsb` once for each byte: libraries then clear and copy by vector registers.
COUNTABLE = {"GLIBC_TUNABLES": "glibc.cpu.x86_rep_stosb_threshold=1000000000:glibc.cpu.x86_rep_movsb_threshold=1000000000"}
TRACES = {"generated 2.7M": ("bench", "--size", "2700K"), "without ranges": ("no-nvtx",)}


def counted(path):
    out = fresh_dir("callgrind")
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out / 'cg'}", support.PROGRAM, "analyze", path, "--out", out / "run", "-j1", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | COUNTABLE)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def toolchain():
    compiler = subprocess.run(["cc", "-dumpfullversion"], capture_output=True, text=True, check=False).stdout.strip()
    library = subprocess.run(["ldd", "--version"], capture_output=True, text=True, check=False).stdout.splitlines()
    return f"cc {compiler}, {library[0].rpartition(' ')[2] if library else '?'}"


@unittest.skipUnless(shutil.which("valgrind"), "no valgrind")
@support.unsanitized("what is counted is the release build")
class Instructions(unittest.TestCase):
    def test_no_more_than_the_last_landed(self):
        recorded = json.loads(RECORDED.read_text())
        if recorded["toolchain"] != toolchain():
            self.skipTest(f"the recorded values are of {recorded['toolchain']}, this is {toolchain()}")
        for name, scenario in TRACES.items():
            found = counted(trace(*scenario))
            print(f"{name}: {found / 1e6:,.1f} M instructions, landed {recorded[name] / 1e6:,.1f} M", flush=True)
            self.assertLessEqual(found, recorded[name] * SLACK, f"{name}: scripts/bench --instructions shows which part grew")


if __name__ == "__main__":
    support.main()
