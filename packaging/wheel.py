"""Makes a wheel of programs that need no library and no Python: wheel.py TREE VERSION MACHINE SECONDS DIR, where TREE/usr is what
cmake --install installed and SECONDS the time that all files in it get. Prints its path. The command is nsys-ai; the distribution is
nsys-ai-report, since another project on PyPI has the name nsys-ai."""
import base64
import hashlib
import pathlib
import sys
import time
import zipfile

NAME = "nsys_ai_report"
METADATA = """\
Metadata-Version: 2.1
Name: nsys-ai-report
Version: {version}
Summary: Batch report generator for NVIDIA Nsight Systems traces
License: MIT
Platform: linux
Description-Content-Type: text/plain

Reads an SQLite export of a trace that NVIDIA Nsight Systems recorded of a GPU program and writes a report: what is slow, why, where, and
what to do about it. nsys-ai analyze trace.sqlite --out artifacts/run1
"""
WHEEL = """\
Wheel-Version: 1.0
Generator: nsys-ai
Root-Is-Purelib: false
Tag: {tag}
"""


def files_of(tree, data):
    """Path in the wheel, contents, whether it is a program."""
    for program in sorted((tree / "usr/bin").iterdir()):
        yield f"{data}/scripts/{program.name}", program.read_bytes(), True
    for kind in ("share/man", "share/bash-completion", "share/zsh", "share/fish"):
        for path in sorted(p for p in (tree / "usr" / kind).rglob("*") if p.is_file()):
            yield f"{data}/data/{path.relative_to(tree / 'usr')}", path.read_bytes(), False


def main():
    tree, version, machine, seconds, out = sys.argv[1:]
    tree = pathlib.Path(tree)
    tag = f"py3-none-manylinux2014_{machine}"
    info, when = f"{NAME}-{version}.dist-info", time.gmtime(max(int(seconds), 315532800))[:6]  # ZIP begins in 1980
    record = []
    path = pathlib.Path(out) / f"{NAME}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        def put(name, content, program=False):
            entry = zipfile.ZipInfo(name, when)
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            entry.create_system = 3
            wheel.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}\n")

        for name, content, program in files_of(tree, f"{NAME}-{version}.data"):
            put(name, content, program)
        for license in sorted((tree / "licenses").iterdir()):
            put(f"{info}/licenses/{license.name}", license.read_bytes())
        put(f"{info}/METADATA", METADATA.format(version=version).encode())
        put(f"{info}/WHEEL", WHEEL.format(tag=tag).encode())
        record.append(f"{info}/RECORD,,\n")
        entry = zipfile.ZipInfo(f"{info}/RECORD", when)
        entry.external_attr = 0o100644 << 16
        wheel.writestr(entry, "".join(record), zipfile.ZIP_DEFLATED, 9)
    print(path)


main()
