"""What tests came to, in few lines: what was skipped and why, what failed and how to run it alone, one line of counts.

    summary.py TIER build/PRESET/results.xml...     of ctest --output-junit
"""
import collections
import pathlib
import re
import shlex
import sys
import xml.etree.ElementTree as xml

SKIPPED = re.compile(r"^skipped: (?:(?:\w+\.\w+|setUpClass)(?: .*?)?: )?(.+)$", re.M)  # support.main; skip_because of the unit tests
FAILED = re.compile(r"^(?:FAIL|ERROR): .*\(__main__\.(?:(\w+(?:\.\w+)?)|.*)\)", re.M)  # unittest
FAILED_UNIT = re.compile(r"^\[  FAILED  \] (\w+)$", re.M)  # cmocka


def commands(tier, build, name, output):
    """What runs it alone: all of it, and what failed of a Python file or a group of unit tests."""
    yield f"NAI_TEST_TIER={tier} ctest --test-dir {shlex.quote(str(build))} -R '^{re.escape(name)}$' --output-on-failure"
    if name.startswith("unit."):
        for test in dict.fromkeys(FAILED_UNIT.findall(output)):
            yield f"NAI_TEST_TIER={tier} {shlex.quote(str(build))}/tests/unit {name.removeprefix('unit.test_')} {test}"
    methods = dict.fromkeys(m for m in FAILED.findall(output) if m)
    if name.startswith("integration.") and build.name == "release":
        for method in methods:
            yield f"NAI_TEST_TIER={tier} {sys.executable} tests/integration/test_{name.removeprefix('integration.')}.py {method}"


def main():
    tier, *files = sys.argv[1:]
    counts, reasons, failures = collections.Counter(), collections.defaultdict(collections.Counter), []
    for file in map(pathlib.Path, files):
        try:
            cases = list(xml.parse(file).getroot().iter("testcase"))
        except (OSError, xml.ParseError) as error:
            failures.append((f"{file.parent.name}: ctest ended without results that can be read: {error}", []))
            counts["failed"] += 1
            continue
        for case in cases:
            name, output = case.get("name"), case.findtext("system-out") or ""
            skipped = case.find("skipped") is not None and case.get("status") != "fail"
            outcome = "passed" if case.get("status") == "run" else "skipped" if skipped else "failed"
            if outcome == "skipped" and "SKIP_RETURN_CODE" not in case.find("skipped").get("message", ""):
                outcome = "failed"  # the program is not there
            counts[outcome] += 1
            for reason in SKIPPED.findall(output):
                reasons[reason.strip()][name] += 1
            if outcome == "skipped" and not SKIPPED.search(output):
                reasons["it does not say why"][name] += 1
            if outcome == "failed":
                failures.append((f"{name} ({file.parent.name})", list(commands(tier, file.parent, name, output))))
    if reasons:
        print("\nskipped, and why:")
    for reason, names in sorted(reasons.items()):
        print(f"  {reason}: {sum(names.values())} of {', '.join(sorted(names))}")
    if failures:
        print("\nfailed, and what runs it alone:")
    for title, words in failures:
        print("\n    ".join([f"  {title}", *words]))
    print(f"\n{tier}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
