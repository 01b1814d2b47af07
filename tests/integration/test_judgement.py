"""The program's judgement of exports of real programs against what an expert signs (tests/judgement/traces.yaml)."""
import re
import unittest

import yaml

import support
from support import SOURCE, artifacts, read_csv, report

SEVERITIES = ["info", "low", "medium", "high"]
TABLE = yaml.safe_load((SOURCE / "tests/judgement/traces.yaml").read_text(encoding="utf-8"))


def traces():
    """Name to path of every export that somebody has read: captures of a series are compared, not judged one by one."""
    return {path.stem: path for path in support.exports(series=False)}


def rank(severity):
    return SEVERITIES.index(severity)


def words(names):
    for name in names:
        yield from TABLE["words"].get(name, [name])


class Judged:
    """What a report says: findings by id, all of its words, its verdict."""

    def __init__(self, path):
        directory = artifacts(path)
        content = report(directory).json
        self.steps = [(int(r["steps"]), r["method"]) for r in read_csv(directory, "step_search") if int(r["steps"])]
        self.units = [(int(r["kernel_count"]), int(r["repetitions"]), r["level"])
                      for r in read_csv(directory, "repeating_units")]
        self.findings = {finding["id"]: finding for finding in content["findings"]}
        texts = [[f["title"], f["why"], f["recommendation"], f["verify"], f["place"] or ""] for f in content["findings"]]
        self.text = "\n".join(text for parts in texts for text in parts)
        self.evidence = "\n".join(item["text"] for f in content["findings"] for item in f["evidence"])
        self.verdict = content["verdict"]["text"]

    def faults(self, wanted):
        for rule, terms in wanted.get("signed", {}).items():
            yield from self.signed(rule, terms)
        for rule, terms in wanted.get("absent", {}).items():
            found = self.findings.get(rule)
            if found and rank(found["severity"]) >= rank(terms.get("at", "info")):
                yield f"{rule} is {found['severity']}: {terms['reason']}"
        limit = wanted.get("most", "high")
        for rule, found in self.findings.items():
            if rank(found["severity"]) > rank(limit):
                yield f"{rule} is {found['severity']}, at most {limit} here"
        steps = wanted["steps"]
        if any(found != (steps["count"], steps.get("method")) for found in self.steps) or bool(self.steps) != bool(steps["count"]):
            yield f"steps are {self.steps}: {steps['reason']}"
        for unit in wanted.get("units", []):
            if (unit["kernels"], unit["repetitions"], unit["level"]) not in self.units:
                yield f"{unit} does not repeat: {self.units}"
        for word in words(wanted.get("silent", [])):
            if word.lower() in (self.text + self.verdict).lower():
                yield f"says {word!r}"
        for word in wanted.get("says", []):
            if word not in self.text:
                yield f"does not say {word!r}"
        for word in wanted.get("evidence", []):
            if word not in self.evidence:
                yield f"evidence lacks {word!r}"
        for word in wanted.get("verdict", []):
            if word not in self.verdict:
                yield f"verdict lacks {word!r}: {self.verdict}"
        for word in wanted.get("not_verdict", []):
            if word in self.verdict:
                yield f"verdict says {word!r}: {self.verdict}"

    def signed(self, rule, terms):
        found = self.findings.get(rule)
        if not found:
            if not terms.get("optional"):
                yield f"{rule} is missing: {terms['reason']}"
            return
        least, most = terms.get("least", "info"), terms.get("most", "high")
        if not rank(least) <= rank(found["severity"]) <= rank(most):
            yield f"{rule} is {found['severity']}, not {least} to {most}: {terms['reason']}"
        if len(found["gpus"]) != terms.get("gpus", len(found["gpus"])):
            yield f"{rule} is about {found['scope']}"


class Judgement(unittest.TestCase):
    def test_every_export_is_judged(self):
        if not traces():
            self.skipTest("no reference traces")
        for name, path in traces().items():
            with self.subTest(name):
                self.assertTrue(name in TABLE["traces"], "an export without an expected judgement")
                self.assertEqual(list(Judged(path).faults(TABLE["traces"][name])), [])

    def test_the_table_is_sound(self):
        rules = re.findall(r"^  - id: (\S+)$", (SOURCE / "rules/default.yaml").read_text(encoding="utf-8"), re.M)
        for name, wanted in TABLE["traces"].items():
            for kind in ("signed", "absent"):
                for rule, terms in wanted.get(kind, {}).items():
                    self.assertTrue(terms.get("reason"), f"{name}: {rule}")
                    if kind == "signed":
                        self.assertIn(rule, rules, name)


if __name__ == "__main__":
    support.main()
