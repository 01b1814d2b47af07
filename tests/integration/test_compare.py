#!/usr/bin/python3
"""compare and check from outside: pairs of generated captures that differ in one known thing, formats of CI systems, what is
refused. Truth is the generator's variant or a recount of the export."""
import base64
import collections
import contextlib
import hashlib
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

import yaml

import published
import support
from support import SOURCE, fresh_dir, run, trace

BASE = (1, 2, 3, 4, 5)
NEW = (11, 12, 13, 14, 15)
RUNS = {}


def analysed(variant, seed, *options):
    """An artifacts directory of a generated capture, made once."""
    key = variant, seed, options
    if key not in RUNS:
        out = fresh_dir("runs") / f"{variant}-{seed}"
        path = trace(variant, "--seed", seed, *options)
        done = run("analyze", path, "--out", out, "--stage", "recommend", "-q")
        assert done.returncode == 0, done.stderr
        RUNS[key] = out
    return RUNS[key]


def runs(variant, seeds):
    return [analysed(variant, seed) for seed in seeds]


def compared(base, new, *options, status=0):
    """(compare.json, compare.md, directory) of two lists of runs or traces."""
    out = fresh_dir() / "out"
    done = run("compare", "--base", *base, "--new", *new, "--out", out, *options)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return json.loads((out / "compare.json").read_text()), (out / "compare.md").read_text(), out


def checked(new, base=(), *options):
    """(exit status, directory) of nsys-ai check."""
    out = fresh_dir() / "out"
    baselines = [word for path in base for word in ("--baseline", path)]
    done = run("check", *new, *baselines, "--out", out, *options)
    return done, out


def verdicts(report):
    return {m["id"]: m["verdict"] for m in report["metrics"]}


def checks(report):
    return {c["check"]: c["level"] for c in report["comparability"]}


def edited(path, *statements):
    """A copy of an export with changes made to it."""
    copy = fresh_dir() / path.name
    shutil.copy(path, copy)
    copy.chmod(0o644)
    db = sqlite3.connect(copy)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()
    return copy


class Suite(unittest.TestCase):
    """check --suite: a row per program, each with its own baseline, one status for all."""

    def side(self, **programs):
        directory = fresh_dir("suite")
        for program, (variant, seeds) in programs.items():
            for path in runs(variant, seeds):
                shutil.copytree(path, directory / program / path.name)
        return directory

    def suite(self, *words):
        out = fresh_dir() / "out"
        done = run("check", "--out", out, *words)
        report = json.loads((out / "suite" / "suite.json").read_text())
        self.assertEqual(done.returncode, report["exit"], done.stderr)
        return done, out, report, {row["program"]: row for row in report["programs"]}

    def test_the_odd_capture_is_named(self):
        paths = [analysed("loop", seed) for seed in range(1, 4)]
        odd = edited(trace("loop", "--seed", 4), "delete from CUPTI_ACTIVITY_KIND_KERNEL where shortName in (select id from StringIds where value like '%zero_gradients%')")
        report, _, _ = compared([*paths[:2], odd, paths[2]], [analysed("loop", 5)])
        said = {m["reason"] for m in report["metrics"] if "exact metric" in (m["reason"] or "")}
        self.assertEqual(said, {f"of the base side {odd.stem} alone differs in an exact metric: it is no repetition of the same program"}, [m["reason"] for m in report["metrics"]])

    def test_where_the_difference_is_names_what_went_the_other_way(self):
        """Steps are 5 % longer, kernels a third shorter: what grew is more than the difference."""
        path = trace("steps-bare")
        later = [f"update {table} set start = start * 1.05, \"end\" = start * 1.05 + (\"end\" - start) * {factor}"
                 for table, factor in (("CUPTI_ACTIVITY_KIND_KERNEL", 0.66), ("CUPTI_ACTIVITY_KIND_RUNTIME", 1), ("OSRT_API", 1))]
        report, text, _ = compared([path], [edited(path, *later)])
        parts = {part["part"]: part["delta_ms"] for part in report["partition"]}
        self.assertLess(parts["compute"], 0)
        self.assertGreater(parts["whole"], 0)
        self.assertRegex(text, r"the mean differs by \+[\d.]+ [mµ]s: idle \+[\d.]+ [mµ]s(, mainly [^.]+ \([^)]+\))?, but compute -[\d.]+ [mµ]s\.")

    def test_where_the_difference_is_of_steps_that_are_as_long(self):
        """Kernels are a fifth shorter, idle time takes their place, or the other way: said without a word on the whole. Of equal programs nothing is."""
        shorter = "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET \"end\" = CAST(start + (\"end\" - start) * 0.8 AS INT)"
        idler = [edited(trace("loop", "--seed", seed), shorter) for seed in NEW]
        of = r"Per GPU and step the mean differs by less than 1 % \([+-][\d.]+ [mµ]s\), its parts by more: {} \+[\d.]+ [mµ]s(, mainly [^.]+ \([^)]+\))?, but {} -[\d.]+ [mµ]s\."
        for base, new, longer, less in ((runs("loop", BASE), idler, "idle", "compute"), (idler, runs("loop", BASE), "compute", "idle")):
            report, text, _ = compared(base, new)
            self.assertNotIn(verdicts(report)["step.time.median"], ("regressed", "suspect"))
            self.assertRegex(text, of.format(longer, less))
        self.assertNotIn("the mean differs", compared(runs("loop", BASE), runs("loop", NEW))[1])

    def test_directories(self):
        """One program is slower, one equal, one new and one gone; the mean is that of what check says of each alone."""
        base = self.side(slower=("loop", BASE), equal=("loop", (21, 22, 23, 24, 25)), gone=("loop", (1,)))
        new = self.side(slower=("loop-slower", NEW), equal=("loop", (31, 32, 33, 34, 35)), added=("loop", (1,)))
        done, out, report, rows = self.suite("--suite", new, "--baseline", base)
        self.assertEqual({name: row["status"] for name, row in rows.items()},
                         {"added": "undecided", "equal": "pass", "gone": "undecided", "slower": "fail"})
        self.assertEqual(done.returncode, 1)
        ratio = 1
        for name in ("equal", "slower"):
            alone, directory = checked(sorted((new / name).iterdir()), [base / name])
            self.assertEqual(alone.returncode, rows[name]["status"] == "fail")
            self.assertEqual((directory / "compare.md").read_bytes(), (out / name / "compare.md").read_bytes())
            metric = next(m for m in json.loads((directory / "compare.json").read_text())["metrics"] if m["id"] == rows[name]["metric"])
            self.assertAlmostEqual(metric["new"]["median"] / metric["base"]["median"], 1 + rows[name]["change_pct"] / 100, delta=0.01)
            ratio *= 1 + rows[name]["change_pct"] / 100
        self.assertAlmostEqual(report["geometric_mean_pct"], 100 * (ratio ** 0.5 - 1), places=2)
        self.assertIn("1 of 4 programs got worse", done.stdout)
        text = (out / "suite" / "suite.md").read_text()
        self.assertEqual([line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")][1:], ["added", "equal", "slower", "gone"])
        page = (out / "suite" / "suite.html").read_text()
        for name in ("equal", "slower"):
            self.assertTrue((out / "suite" / f"../{name}/compare.html").exists())
            self.assertIn(f'href="../{name}/compare.html"', page)

    def test_a_file(self):
        """Paths are relative to the file; what cannot be read costs its program; budgets of its own."""
        directory = self.side(base=("loop", BASE), new=("loop-slower", NEW))
        (directory / "wide.yaml").write_text("version: 1\nmetrics:\n  step.time.median: {relative: 50%}\n  gpu.compute.per_step: {relative: 50%}\n")
        (directory / "suite.yaml").write_text("programs:\n  strict: {runs: new, baseline: base}\n  wide: {runs: new, baseline: base, budgets: wide.yaml}\n")
        _, _, _, rows = self.suite("--suite", directory / "suite.yaml")
        self.assertEqual({name: row["status"] for name, row in rows.items()}, {"strict": "fail", "wide": "pass"})
        (directory / "suite.yaml").write_text("programs:\n  lost: {runs: nowhere, baseline: base}\n  wide: {runs: new, baseline: base, budgets: wide.yaml}\n")
        done, _, _, rows = self.suite("--suite", directory / "suite.yaml")
        self.assertEqual((done.returncode, rows["lost"]["status"], rows["wide"]["status"]), (7, "undecided", "pass"))
        self.assertIn("nowhere", rows["lost"]["reason"])

    def test_directories_of_traces(self):
        """Traces count where a directory has no runs; beside runs they are what these were made of."""
        sides = {}
        for side, seeds in (("base", BASE[:2]), ("new", NEW[:2])):
            sides[side] = fresh_dir(side)
            for name in ("traces", "runs"):
                (sides[side] / name).mkdir()
            for seed in seeds:
                for name in ("traces", "runs"):
                    shutil.copy(trace("loop", "--seed", seed), sides[side] / name / f"{seed}.sqlite")
                shutil.copytree(analysed("loop", seed), sides[side] / "runs" / str(seed))
        _, _, _, rows = self.suite("--suite", sides["new"], "--baseline", sides["base"])
        self.assertEqual({(r["status"], r["base_captures"], r["new_captures"], r["change_pct"]) for r in rows.values()},
                         {("pass", 2, 2, rows["runs"]["change_pct"])})

    def test_mistakes(self):
        directory = fresh_dir()
        (directory / "suite").mkdir()
        (directory / "bad.yaml").write_text("programs:\n  a: {runs: x, basline: y}\n")
        for words, said in ((("--suite", directory, analysed("loop", 1)), "RUN"), (("--suite", directory), "cannot be called"), ((), "RUN is missing"),
                            (("--suite", fresh_dir()), "no program"), (("--suite", directory / "bad.yaml"), "bad.yaml:2:16: unknown key")):
            done = run("check", "--out", fresh_dir() / "out", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)


class Pairs(unittest.TestCase):
    def test_nothing_differs(self):
        report, text, _ = compared(runs("loop", BASE), runs("loop", NEW))
        bad = {k: v for k, v in verdicts(report).items() if v in ("regressed", "changed", "suspect", "error")}
        self.assertEqual(bad, {})
        self.assertTrue(text.startswith("Step time "), text[:80])
        self.assertIn("5 + 5 captures", text.splitlines()[0])
        self.assertEqual(report["gate"]["exit"], 0)

    def test_slower_gemms(self):
        report, text, _ = compared(runs("loop", BASE), runs("loop-slower", NEW))
        said = verdicts(report)
        shown, folded = text.split("<details>")
        self.assertLess(len(shown.splitlines()), 28)
        rows = [[line.split("|")[1] for line in part.splitlines() if re.match(r"\| `[a-z._]+", line)] for part in (shown, folded.partition("## Where")[0])]
        self.assertEqual((len(rows[0]), len(set(rows[0] + rows[1]))), (5, len(rows[0] + rows[1])))
        self.assertGreater(len(rows[1]), 0)
        self.assertTrue(folded.endswith("\n\n</details>\n"))
        self.assertEqual(said["step.time.median"], "regressed")
        self.assertEqual(said["kernel.category.gemm.per_step"], "regressed")
        self.assertEqual(said["gpu.idle.per_step"], "within_budget")
        self.assertIn(": compute ", text.splitlines()[2])
        top = max(report["kernels"], key=lambda k: abs(k["delta_ms"]))
        self.assertIn("nvjet", top["kernel"])
        self.assertEqual(top["change"], "slower calls")

    def test_faster_kernels_at_the_same_pace(self):
        """Kernels of half the length that begin when they did: a GPU that is less busy and more idle is no worse."""
        half = "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start + (end - start) / 2"
        faster = [edited(trace("loop", "--seed", s), half) for s in NEW]
        report, text, _ = compared(runs("loop", BASE), faster, "--fail-on", "regressed")
        said = verdicts(report)
        self.assertEqual(said["gpu.compute.per_step"], "improved")
        self.assertEqual([m for m in said if said[m] in ("regressed", "suspect") and m.endswith(".per_step")], [])
        self.assertEqual((said["gpu.busy"], said["gpu.idle.per_step"]), ("noted", "noted"))
        self.assertIn("| `gpu.busy` | ", text)
        report, _, _ = compared(runs("loop", BASE[:1]), faster[:1], "--fail-on", "regressed")
        self.assertEqual(report["gate"]["exit"], 0)
        report, text, _ = compared(faster, runs("loop", BASE), "--fail-on", "regressed", status=1)
        self.assertEqual([m["id"] for m in report["metrics"] if m["gate"] == "fail"], ["gpu.compute.per_step"])
        self.assertIn("**regressed (gate: fail)**", text)

        budgets = fresh_dir() / "budgets.yaml"
        budgets.write_text("version: 1\nmetrics:\n  gpu.busy: {absolute: 2pt}\n")
        done, _ = checked(faster, runs("loop", BASE), "--budgets", budgets)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"gpu\.busy  .* regressed \(gate: fail\)")

    def test_newer_definitions_hold(self):
        old = fresh_dir() / "old.yaml"
        old.write_text("metrics: [{id: gpu.busy, title: GPU busy, better: higher, kind: noisy, gate: gate, budget: {absolute: 2pt}, "
                       "step: {table: step_summary, where: steady_steps > 0, value: avg(100 - idle_pct)}}]")
        base = fresh_dir() / "base"
        self.assertEqual(run("analyze", trace("loop", "--seed", 1), "--metrics", old, "--out", base, "-q").returncode, 0)
        for sides, gate in (((base, analysed("loop", 2)), None), ((analysed("loop", 2), base), "pass")):
            report, _, _ = compared(*([s] for s in sides))
            self.assertEqual([m["gate"] for m in report["metrics"] if m["id"] == "gpu.busy"], [gate])

    def test_few_captures_prove_nothing(self):
        for k in (1, 2, 3):
            report, text, _ = compared(runs("loop", BASE[:k]), runs("loop-slower", NEW[:k]))
            noisy = {m["id"]: m["verdict"] for m in report["metrics"] if m["kind"] == "noisy"}
            self.assertNotIn("regressed", noisy.values())
            self.assertEqual(noisy["step.time.median"], "suspect")
            self.assertIn("not significant", text.splitlines()[0])

    def test_one_capture_of_each_side_warns(self):
        """It may be noise: the gate says so and passes, unless budgets ask for more. Counts need no repetition."""
        done, out = checked(runs("loop-slower", NEW[:1]), runs("loop", BASE[:1]))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("suspect (gate: warn)", done.stdout)
        cases = ElementTree.parse(out / "junit.xml").getroot()
        self.assertEqual((cases.get("failures"), cases.get("errors")), ("0", "0"))
        self.assertEqual(checked(runs("loop-waits", NEW[:1]), runs("loop", BASE[:1]))[0].returncode, 1)

    def test_one_capture_against_a_history(self):
        history = runs("loop", (*BASE, 6, 7))
        done, _ = checked(runs("loop-slower", NEW[:1]), history)
        self.assertEqual(done.returncode, 1)
        self.assertIn("above what a history of 7 runs allows", done.stdout)
        done, _ = checked(runs("loop", NEW[:1]), history)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_captures_are_in_the_order_they_were_recorded_in(self):
        """One session may record twice, and have begun long before another that recorded in between."""
        epoch = 1767225600 * 10**9
        made = [edited(trace("loop", "--seed", seed), f"UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = {epoch + session}",
                       f"UPDATE ANALYSIS_DETAILS SET startTime = startTime + {later}, stopTime = stopTime + {later}")
                for seed, session, later in ((1, 0, 9 * 10**9), (2, 5 * 10**9, 0), (3, 0, 10**9))]
        report, _, _ = compared(made, runs("loop", NEW[:1]))
        self.assertEqual([c["utc_ns"] - epoch for c in report["base"]["captures"]], [10**9, 5 * 10**9, 9 * 10**9])

    def test_order_of_captures(self):
        """Permuted captures give the same bytes; swapped sides the mirror."""
        one, text, out = compared(runs("loop", BASE), runs("loop-slower", NEW))
        _, again, other = compared(runs("loop", BASE[::-1]), runs("loop-slower", NEW[2:] + NEW[:2]))
        self.assertEqual(text, again)
        self.assertEqual((out / "compare.json").read_bytes(), (other / "compare.json").read_bytes())
        back, _, _ = compared(runs("loop-slower", NEW), runs("loop", BASE))
        for a, b in zip(one["metrics"], back["metrics"]):
            self.assertEqual(a["id"], b["id"])
            if a["shift"] is not None:
                self.assertAlmostEqual(a["shift"], -b["shift"], places=5)
                self.assertEqual(a["p"], b["p"])
        self.assertEqual(verdicts(back)["step.time.median"], "improved")

    def test_renumbered_triton_kernels(self):
        report, _, _ = compared(runs("loop", BASE[:1]), runs("loop-renumbered", NEW[:1]))
        triton = [k for k in report["kernels"] if "triton" in k["kernel"]]
        self.assertEqual([(k["state"], k["level"]) for k in triton], [("renamed", "toolchain")] * 2)
        self.assertEqual([k for k in report["kernels"] if k["state"].startswith("only")], [])

    def test_retuned_gemm(self):
        report, _, _ = compared(runs("loop", BASE[:1]), runs("loop-retuned", NEW[:1]))
        states = [(k["state"], k["level"]) for k in report["kernels"] if "nvjet" in k["kernel"]]
        self.assertEqual(sorted(states), [("matched", "name"), ("retuned", "tuning")])

    def test_kernels_without_launch_records(self):
        """They are the same kernels: matched by name, none gone or new, and in the same steps where kernels tell these."""
        for scenario in ("layers", "no-nvtx", "loop"):
            whole = trace(scenario)
            without = edited(whole, "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME")
            for pair in (whole, without), (without, whole):
                with self.subTest(base=pair[0], new=pair[1]):
                    report, _, _ = compared(pair[:1], pair[1:])
                    with contextlib.closing(sqlite3.connect(f"file:{whole}?mode=ro", uri=True)) as db:
                        names = {name for name, in db.execute("SELECT DISTINCT s.value FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds s ON s.id = demangledName")}
                    self.assertEqual({k["kernel"] for k in report["kernels"]}, names)
                    self.assertEqual({(k["state"], k["level"]) for k in report["kernels"]}, {("matched", "name")})
                    if scenario != "loop":  # whose steps are told by other means then
                        self.assertEqual({k["delta_ms"] for k in report["kernels"]}, {0})

    def test_fused_kernels(self):
        report, _, _ = compared(runs("loop", BASE), runs("loop-fused", NEW))
        merged = [k for k in report["kernels"] if k["state"] == "merged"]
        self.assertEqual(len(merged), 1)
        self.assertEqual(merged[0]["base_kernels"].count(" | "), 2)
        self.assertAlmostEqual(merged[0]["base_calls"], 18)
        self.assertAlmostEqual(merged[0]["new_calls"], 6)
        self.assertIsNone(merged[0]["count_term_ms"])
        self.assertEqual(verdicts(report)["kernels.per_step"], "improved")

    def test_several_kernels_at_one_call_site(self):
        """Two became two others, of other categories: they are one row, and none of them is gone, slower or new."""
        sides = []
        for name, moved, to in (("call-sites-mended", "relu_kernel", "infer_kernel"), ("call-sites-renamed", "activation", "engine_v2")):
            calls = "SELECT k.correlationId FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName WHERE s.value LIKE '{}%'".format
            sides.append([edited(trace(name, "--seed", 1), "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET callchainId = (SELECT callchainId FROM CUPTI_ACTIVITY_KIND_RUNTIME "
                                 f"WHERE callchainId > 0 AND correlationId IN ({calls(to)}) LIMIT 1) WHERE correlationId IN ({calls(moved)})")])
        report, _, _ = compared(*sides)
        row, = (k for k in report["kernels"] if "engine_v2" in (k["new_kernels"] or ""))
        self.assertEqual((row["base_kernels"], row["new_kernels"], row["state"], row["level"], row["base_time_ms"], row["new_time_ms"]),
                         ("infer_kernel | relu_kernel", "activation | engine_v2", "regrouped", "call site", 0.13, 0.13))
        self.assertFalse([k for k in report["kernels"] if k["state"].startswith("only")])

    def test_other_kernels_at_the_same_call_site(self):
        """Lines moved, names are others: the function tells. Not of a graph of which not all launches have a captured stack."""
        sides = [analysed("call-sites-mended", 1)], [analysed("call-sites-renamed", 1)]
        report, text, out = compared(*sides)
        found = {(k["base_kernels"], k["new_kernels"]): (k["state"], k["level"], k["confidence"]) for k in report["kernels"] if k["level"] != "name"}
        by_site = ("retuned", "call site", "medium")
        self.assertEqual({pair: how for pair, how in found.items() if how == by_site},
                         {("gemm_tn", "nvjet_tst_128x256"): by_site, ("relu_kernel", "activation"): by_site, ("infer_kernel", "engine_v2"): by_site})
        self.assertNotIn("call site", [how[1] for pair, how in found.items() if "layer_front" in str(pair[1])])
        self.assertIn("call site (medium) 66.0 %", text)
        self.assertNotIn("kernels_differ", text)
        back, _, _ = compared(*sides[::-1])
        self.assertEqual({(k["new_kernels"], k["base_kernels"]) for k in back["kernels"] if k["level"] == "call site"},
                         {pair for pair, how in found.items() if how == by_site})
        for table in ("CUDA_CALLCHAINS",):  # without stacks nothing is matched by them
            bare = [edited(trace(name, "--seed", 1), f"DROP TABLE {table}") for name in ("call-sites-mended", "call-sites-renamed")]
            report, _, _ = compared(bare[:1], bare[1:])
            self.assertNotIn("call site", {k["level"] for k in report["kernels"]})

    def test_aliases(self):
        """Two kernels that only their owner knows to be the same."""
        renamed = edited(trace("loop", "--seed", 11), "UPDATE StringIds SET value = 'zeta_v9' WHERE value LIKE '%adam_kernel%'")
        file = fresh_dir() / "aliases.yaml"
        file.write_text('adam: ["re:adam_kernel", "re:^zeta_v[0-9]+$"]\n')
        report, _, _ = compared(runs("loop", BASE[:1]), [renamed], "--kernel-aliases", file)
        adam = [k for k in report["kernels"] if k["kernel"] == "zeta_v9"]
        self.assertEqual([(k["state"], k["level"]) for k in adam], [("matched", "name")])

    def test_defined_differently(self):
        """Values of another definition are left out, which is said; the other metrics are judged."""
        work = fresh_dir()
        text = ("metrics:\n  - {{id: my.time, title: mine, better: lower, kind: noisy, gate: gate, definition: {0}, "
                "total: {{table: kernels, value: {0} * sum(total_time_ns)}}}}\n")
        made = {}
        for definition in (1, 2):
            (work / f"{definition}.yaml").write_text(text.format(definition), encoding="ascii")
            for seed in (1, 2, 3):
                made[definition, seed] = work / f"{definition}-{seed}"
                done = run("analyze", trace("loop", "--seed", seed), "--metrics", work / f"{definition}.yaml", "--out",
                           made[definition, seed], "-q")
                self.assertEqual(done.returncode, 0, done.stderr)
        done, out = checked([made[2, 1]], [made[1, 2]])
        self.assertEqual(done.returncode, 0, done.stdout)
        report = json.loads((out / "compare.json").read_text())
        metrics = {m["id"]: m for m in report["metrics"]}
        self.assertEqual(metrics["my.time"]["verdict"], "skipped")
        self.assertIn("defined differently", metrics["my.time"]["reason"])
        self.assertNotEqual(metrics["step.time.median"]["verdict"], "skipped")
        self.assertEqual(checks(report).get("definitions"), "soft")
        self.assertIn("my.time", (out / "compare.md").read_text())
        (work / "budgets.yaml").write_text("version: 1\nmetrics:\n  my.time: {relative: 5%}\n", encoding="ascii")
        done, _ = checked([made[2, 1]], [made[1, 2]], "--budgets", work / "budgets.yaml")
        self.assertEqual(done.returncode, 7, done.stdout)  # what somebody asked about is not passed over
        for definition in (1, 2):
            (work / f"d{definition}").mkdir()
            (work / f"d{definition}/m.yaml").write_text(text.format(definition), encoding="ascii")
        done = run("analyze", trace("loop", "--seed", 2), "--metrics", work / "d1/m.yaml", "--out", work / "old", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        report, _, _ = compared([work / "old"], [made[2, 1]], "--metrics", work / "d2/m.yaml")  # from its events, by today's definition
        want, _, _ = compared([made[2, 2]], [made[2, 1]])
        self.assertEqual(report["metrics"], want["metrics"])
        self.assertNotIn("definitions", checks(report))
        report, _, _ = compared([made[1, 2], made[2, 3]], [made[2, 1]])
        mine, = [m for m in report["metrics"] if m["id"] == "my.time"]
        self.assertNotEqual(mine["verdict"], "skipped")
        self.assertEqual(checks(report).get("definitions"), "soft")
        report, _, _ = compared([made[2, 2]], [made[2, 1]])
        self.assertNotIn("definitions", checks(report))

    def test_uniform_drift(self):
        report, _, _ = compared(runs("loop", BASE), runs("loop-drift", NEW))
        self.assertEqual(checks(report).get("uniform_drift"), "soft")
        self.assertEqual(verdicts(report)["step.time.median"], "regressed")  # a caveat, no excuse
        report, _, _ = compared(runs("loop", BASE), runs("loop-slower", NEW))
        self.assertNotIn("uniform_drift", checks(report))

    def test_new_wait(self):
        report, text, _ = compared(runs("loop", BASE), runs("loop-waits", NEW))
        said = verdicts(report)
        self.assertEqual(said["sync.blocking.per_step"], "changed")
        self.assertEqual(said["memcpy.pageable.count.per_step"], "changed")
        self.assertEqual(said["gpu.idle.per_step"], "regressed")
        self.assertIn(": idle +", text.splitlines()[2])
        self.assertIn("Blocking synchronizations 1 -> 2", text.splitlines()[2])
        done, _ = checked(runs("loop-waits", NEW[:1]), runs("loop", BASE[:1]))
        self.assertEqual(done.returncode, 1)  # exact metrics need no repetition
        report, _, _ = compared(runs("loop-waits", NEW), runs("loop", BASE))
        self.assertEqual(verdicts(report)["sync.blocking.per_step"], "improved")

    def test_other_number_of_steps(self):
        report, _, _ = compared(runs("loop", BASE), runs("loop-fewer", NEW))
        for metric in ("launches.per_step", "kernels.per_step", "sync.blocking.per_step"):
            self.assertEqual(verdicts(report)[metric], "same")

    def test_exporters_of_two_years(self):
        """The same capture in two layouts of the export."""
        report, _, _ = compared([analysed("loop", 1)], [analysed("loop", 1, "--schema", "2024")])
        self.assertEqual(set(verdicts(report).values()) - {"same", "skipped"}, set())
        self.assertEqual(set(k["state"] for k in report["kernels"]), {"matched"})


class Options(unittest.TestCase):
    def test_steps_are_never_samples(self):
        """No option makes them so, and twelve steps of one capture count once."""
        report, _, _ = compared(runs("loop", BASE[:1]), runs("loop", NEW[:1]))
        self.assertEqual({(m["base"]["n"], m["new"]["n"]) for m in report["metrics"]} - {(0, 0), (1, 0), (0, 1)}, {(1, 1)})
        self.assertNotRegex(run("compare", "--help").stdout, "(?i)pool|per-step|samples")


class Totals(unittest.TestCase):
    def recount(self, path):
        """Kernel time launched in the steady steps, ns: all train_step ranges but the first, slower one."""
        with sqlite3.connect(path) as db:
            return db.execute("""
                SELECT SUM(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL k
                JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId
                WHERE r.start >= (SELECT MIN(n.start) FROM NVTX_EVENTS n LEFT JOIN StringIds s ON s.id = n.textId
                    WHERE COALESCE(n.text, s.value) = 'train_step' AND n.start > (SELECT MIN(m.start) FROM NVTX_EVENTS m
                    LEFT JOIN StringIds t ON t.id = m.textId WHERE COALESCE(m.text, t.value) = 'train_step'))
                """).fetchone()[0]

    def test_kernels_and_parts(self):
        for new in ("loop", "loop-fused", "loop-retuned", "loop-waits"):
            report, _, _ = compared(runs("loop", BASE[:2]), runs(new, NEW[:2]))
            for side, variant, seeds in (("base", "loop", BASE[:2]), ("new", new, NEW[:2])):
                total = sum(k[f"{side}_sum_ns"] or 0 for k in report["kernels"])
                self.assertEqual(total, sum(self.recount(trace(variant, "--seed", s)) for s in seeds))
            self.check_tree(report["partition"])

    def recount_gpus(self, path):
        """ns of all GPUs, of the export's own times: from first start to last end, of it in kernels that compute, in other kernels alone,
        in copies and sets alone, in nothing."""
        operations = collections.defaultdict(list)
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
            tables = {name for name, in db.execute("SELECT name FROM sqlite_master")}
            for kind in ("KERNEL", "MEMCPY", "MEMSET"):
                if f"CUPTI_ACTIVITY_KIND_{kind}" in tables:
                    name = "(SELECT value FROM StringIds WHERE id = shortName)" if kind == "KERNEL" else "NULL"
                    for device, start, end, name in db.execute(f'SELECT deviceId, start, "end", {name} FROM CUPTI_ACTIVITY_KIND_{kind}'):
                        operations[device].append((start, end, 2 if name is None else int(name.startswith("nccl"))))
        counted = collections.Counter()
        for own in operations.values():
            covered = []
            for level in range(3):
                reached, ns = 0, 0
                for start, end in sorted(o[:2] for o in own if o[2] <= level):
                    ns += max(0, end - max(start, reached))
                    reached = max(reached, end)
                covered.append(ns)
            whole = max(end for _, end, _ in own) - min(start for start, _, _ in own)
            counted.update(whole=whole, compute=covered[0], exposed_comm=covered[1] - covered[0],
                           exposed_copy=covered[2] - covered[1], idle=whole - covered[2])
        return counted

    @support.tier("ci")
    def test_active_time(self):
        """Without steps the time is that of GPUs while they are active: in captures without pauses and set-up as the export says."""
        generated = [trace(name) for name in ("no-nvtx", "layers", "copy-bound", "two-processes", "pause", "host-bound", "collectives", "cold")]
        series = [path for path in support.exports(series=True) if path.parent.name in ("nussinov", "triangular_solves")]
        pairs = [*zip(generated, generated[1:]), *zip(series, series[1:])]
        recounted = 0
        for pair in pairs:
            with self.subTest(pair=[path.stem for path in pair]):
                directories = [support.artifacts(path) for path in pair]
                report, _, _ = compared(directories[:1], directories[1:], "--allow", "gpu_count", "--allow", "process_count", "--allow", "gpu_model")
                self.assertNotIn("step", report["settings"]["per"])
                self.check_tree(report["partition"])
                parts = {p["part"]: p for p in report["partition"]}
                self.assertNotIn("idle.rest", parts)
                for side, path, directory in zip(("base_sum_ns", "new_sum_ns"), pair, directories):
                    own = collections.Counter({name: p[side] for name, p in parts.items() if p["depth"] < 2})
                    counted = self.recount_gpus(path)
                    left_out = sum(support.ns_of_ms(r["pause_ms"]) + support.ns_of_ms(r["set_up_ms"]) for r in support.read_csv(directory, "gpu_active"))
                    if left_out:
                        self.assertEqual(own["whole"] + left_out, counted["whole"])
                    else:
                        self.assertEqual(+own, +counted)
                    recounted += not left_out and bool(counted)
        self.assertGreater(recounted, 10)

    def check_tree(self, parts):
        for parent in parts:
            children = [p for p in parts if p["parent"] == parent["part"]]
            for side in ("base_sum_ns", "new_sum_ns"):
                if children:
                    self.assertEqual(sum(p[side] for p in children), parent[side], parent["part"])

    def test_itself(self):
        """The same trace is one capture; allowed on purpose, nothing differs."""
        path = support.SHARED / "traces" / "fsdp_2gpu.sqlite"
        if not path.exists():
            path = trace("training")
        copy = edited(path)
        report, text, _ = compared([path], [copy])
        self.assertEqual(checks(report)["same_content"], "hard")
        self.assertTrue(text.startswith("Not comparable: the same trace twice"), text[:60])
        self.assertEqual(report["gate"]["exit"], 7)
        report, _, _ = compared([path], [copy], "--allow", "same_content")
        self.assertEqual(set(verdicts(report).values()) - {"same", "skipped"}, set())
        self.assertEqual({k["delta_ms"] for k in report["kernels"]}, {0})
        self.assertEqual({p["base_sum_ns"] - p["new_sum_ns"] for p in report["partition"]}, {0})
        self.check_tree(report["partition"])


class Words(unittest.TestCase):
    def test_captures_are_told_apart(self):
        """By the directory before them where their names are the same, in a store by the run's id."""
        work = fresh_dir()
        for side, seed in (("before", 1), ("after", 2)):
            shutil.copytree(analysed("loop", seed), work / side / "night")
        report, text, _ = compared([work / "before/night"], [work / "after/night"])
        self.assertEqual([report[side]["captures"][0]["id"] for side in ("base", "new")], ["before/night", "after/night"])
        self.assertIn("- base: `before/night`\n- new: `after/night`\n", text)
        for seed in (1, 2):
            done = run("store", "add", analysed("loop", seed), "--store", work / "s", "--id", f"night{seed}")
            self.assertEqual(done.returncode, 0, done.stderr)
        done = run("check", analysed("loop", 3), "--baseline", "median:2", "--store", work / "s", "--out", work / "c")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        captures = json.loads((work / "c/compare.json").read_text())["base"]["captures"]
        self.assertEqual({c["id"] for c in captures}, {"night1", "night2"})

    def test_half_a_capture_is_no_improvement(self):
        """Of captures without steps, totals of exact metrics depend on how long they are."""
        path = support.SHARED / "traces" / "fsdp_2gpu.sqlite"
        if not path.exists():
            self.skipTest("no reference traces")
        half = fresh_dir() / "half"
        done = run("analyze", path, "--trim", "60.1114", "60.2614", "--out", half, "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        report, text, _ = compared([path], [half], "--allow", "same_content")
        calls, = [m for m in report["metrics"] if m["id"] == "nccl.SendRecv.calls"]
        self.assertEqual((calls["verdict"], calls["base"]["median"], calls["new"]["median"]), ("noted", 66, 34))
        self.assertRegex(text.splitlines()[0], r"^Repeating unit of 119 kernels .*: same")
        self.assertNotIn("\n\n\n", text)

    def test_findings_of_some_captures_say_so(self):
        _, text, _ = compared(runs("loop", range(1, 3)), [analysed("loop", 3), analysed("loop-waits", 4)])
        self.assertRegex(text, r"- new: `idle-queue-drained` \w+: .* \(in 1 of 2 captures\)")


class FixedLength(unittest.TestCase):
    """Captures of one length, as `nsys profile --duration` makes them, of a program without steps."""

    def slower(self, factor):
        """The same program, each repetition longer, cut where the original capture ends."""
        begin, end = "(SELECT min(start) FROM original)", "(SELECT max(end) FROM original)"
        events = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS")
        moved = f"cast({begin} + (start - {begin}) * {factor} as int)"
        return edited(trace("layers"), "CREATE TABLE original AS SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL",
                      *(f'UPDATE {t} SET "end" = {moved} + ("end" - start), start = {moved}' for t in events),
                      *(f'DELETE FROM {t} WHERE start > {end} OR "end" > {end}' for t in events), "DROP TABLE original")

    def test_work_is_compared(self):
        """Less of it fits: that is no kernel that got faster."""
        report, text, _ = compared([trace("layers")], [self.slower(1.2)])
        head = text.splitlines()[0]
        self.assertRegex(head, r"^Repeating unit of 9 kernels [\d.]+ µs -> [\d.]+ µs \(\+20 %")
        self.assertEqual(report["settings"]["per"], "gpu_and_repetition")
        whole, compute, idle = (next(p for p in report["partition"] if p["part"] == part) for part in ("whole", "compute", "idle"))
        self.assertAlmostEqual(whole["new_time_ms"] / whole["base_time_ms"], 1.2, delta=0.03)
        self.assertAlmostEqual(compute["new_time_ms"] / compute["base_time_ms"], 1, delta=0.02)
        self.assertGreater(idle["new_time_ms"], 1.3 * idle["base_time_ms"])
        self.assertEqual(verdicts(report)["gpu.window"], "noted")
        idle = [100 * next(p for p in report["partition"] if p["part"] == "idle")[f"{side}_sum_ns"] /
                next(p for p in report["partition"] if p["part"] == "whole")[f"{side}_sum_ns"] for side in ("base", "new")]
        beside = re.search(r"GPU idle ([\d.]+) % -> ([\d.]+) % of the active time \(", text)
        self.assertEqual([float(n) for n in beside.groups()], [round(pct, 1) for pct in idle])

    def test_what_got_slower_leads(self):
        """Kernels of one sort take twice as long by the call: they stand beside the headline and first in the table; that one capture a
        side is too few is said once."""
        path = edited(trace("layers"), 'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET "end" = "end" + ("end" - start) WHERE demangledName IN '
                      "(SELECT id FROM StringIds WHERE value LIKE '%rotate%' OR value LIKE '%norm_hidden%')")
        _, text, _ = compared([trace("layers")], [path])
        slower = re.search(r"GPU idle .*\. Slower, not proven: Kernel .*$", text, re.M).group()
        self.assertIn("rotate", slower)
        self.assertIn("norm_hidden", slower)
        self.assertNotIn("gemm", slower)
        rows = re.findall(r"^\| `([^`]+)` .*\| (\S+) \| [^|]*\|$", text[text.index("## Metrics"):text.index("## Where")], re.M)
        states = [verdict for _, verdict in rows]
        self.assertGreaterEqual(states.count("suspect"), 2)
        self.assertEqual(states[:states.count("suspect")], ["suspect"] * states.count("suspect"))
        self.assertEqual(text.count("not significant"), 1)

    def test_a_shorter_capture_is_no_improvement(self):
        half = edited(trace("layers"), *(f"DELETE FROM {t} WHERE start > (SELECT (min(start) + max(end)) / 2 FROM CUPTI_ACTIVITY_KIND_KERNEL)"
                                         for t in ("NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL")))
        report, text, _ = compared([trace("layers")], [half])
        self.assertRegex(text.splitlines()[0], r"^Repeating unit of 9 kernels .*: same")
        whole = next(p for p in report["partition"] if p["part"] == "whole")
        self.assertAlmostEqual(whole["new_time_ms"] / whole["base_time_ms"], 1, delta=0.03)

    def test_a_run_that_an_earlier_version_pruned(self):
        run_dir = support.in_format_2(support.artifacts(trace("layers")))
        (run_dir / "stages/repeating_units.ntab").unlink()
        _, text, _ = compared([run_dir], [self.slower(1.2)])
        self.assertRegex(text.splitlines()[0], r"^\d+ % less work in the same [\d.]+ \wm?s ")

    def test_numbers_are_those_of_the_reports(self):
        """Idle and active time stand in each run's own report; where no report has a number, the line names the table that has."""
        pairs = [(trace("loop"), trace("loop-waits")), (trace("layers"), self.slower(1.2)), (trace("two-processes"), trace("two-processes", "--seed", "2"))]
        for pair in pairs:
            sides = [support.artifacts(path) for path in pair]
            _, text, _ = compared(sides[:1], sides[1:])
            reports = [(side / "report.md").read_text() for side in sides]
            found = re.search(r"GPU idle (.*? %) -> (.*? %) of the active time \((.*?) -> (.*?)\)\.", text)
            self.assertTrue(found, text[:400])
            for number, report in zip(found.groups(), reports + reports):
                self.assertIn(number, report)
            table = "step_summary" if text.startswith("Step time") else "repeating_units"
            if not text.startswith(("Step time", "Repeating unit")):
                continue
            self.assertIn(f"(table {table} of the runs)", text.replace("\\", ""))
            medians = {row["median_ms"] for row in support.read_csv(sides[0], table)}
            self.assertTrue(any(f"{float(ms):.2f} ms" in text.splitlines()[0] or f"{1000 * float(ms):.1f} µs" in text.splitlines()[0]
                                for ms in medians), (medians, text[:200]))

    def test_one_kernel(self):
        """As many calls are as much work, however few: what takes ten times as long leads."""
        first = "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start > (SELECT min(start) FROM CUPTI_ACTIVITY_KIND_KERNEL)"
        short = edited(trace("minimal"), first)
        longer = edited(short, 'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET "end" = start + 10 * ("end" - start)')
        for base, new, words in ((short, longer, "long"), (longer, short, "fast")):
            _, text, out = compared([base], [new])
            page = (out / "compare.html").read_text()
            bars = [float(width) for width in re.findall(r'<rect x="[^"]*" width="([^"]*)"', page[page.index("From base to new"):page.index("Side by side")])]
            shorter, longest = sorted((bars[0], bars[-1]))  # both begin at 0
            self.assertAlmostEqual(longest / shorter, 10, delta=0.1)
            self.assertIn(f"10.0 times as {words}.", page)
            self.assertIn("of the active time", page)
            self.assertRegex(text, r"^The same calls of each kernel in [\d.]+ \w?s instead of [\d.]+ \w?s of active time: ")
            self.assertRegex(text.splitlines()[2], rf"^Kernel `.*`: .* a call, 10\.0 times as {words}\.$")

    def test_a_program_that_failed_is_named_first(self):
        _, text, _ = compared([trace("loop")], [trace("failed")])
        self.assertRegex(text, r"^Program failed \(new failed: only kernels of its runtime ran, none of the program's own\)\. \S")
        self.assertIn("caveat `program_failed`", text)
        self.assertIn("fatal error", text)

    def test_no_gpu_on_a_side(self):
        """What the user allows to be compared has no idle time of nothing."""
        allowed = [word for check in ("no_kernels", "gpu_count", "process_count", "gpu_model") for word in ("--allow", check)]
        _, text, _ = compared([trace("layers")], [trace("nvtx-only")], *allowed)
        self.assertNotIn("GPU idle", text)
        self.assertNotRegex(text, r"\binf\b|\bnan\b")

    def test_rates_are_not_called_per_step(self):
        """Without steps no number is per step; a budget for one is missing, and says what there is."""
        report, _, _ = compared([trace("layers")], [self.slower(1.2)])
        self.assertEqual([m["id"] for m in report["metrics"] if m["id"].endswith(".per_step")], [])
        self.assertIn("gpu.idle.per_second", verdicts(report))
        budgets = fresh_dir() / "budgets.yaml"
        for basis, verdict, status in (("step", "error", 7), ("second", "suspect", 0)):
            budgets.write_text(f"version: 1\nmetrics: {{gpu.idle.per_{basis}: {{relative: 1%}}}}\n")
            done, out = checked([self.slower(1.2)], [trace("layers")], "--budgets", budgets)
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
            metric, = (m for m in json.loads((out / "compare.json").read_text())["metrics"] if m["id"] == f"gpu.idle.per_{basis}")
            self.assertEqual(metric["verdict"], verdict)
            self.assertEqual(metric["reason"] == "no capture has steps: it is gpu.idle.per_second", basis == "step")

    def without_units(self, path):
        """A run that does not say what repeats."""
        run_dir = support.in_format_2(support.artifacts(path))
        (run_dir / "stages/repeating_units.ntab").unlink()
        return run_dir

    def test_one_factor_of_most_calls(self):
        """It says how much work there is where nothing else does; times are of the same work then."""
        calls = []
        for path in (trace("layers"), self.slower(1.2)):
            with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
                calls.append(db.execute("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[0])
        report, text, _ = compared([self.without_units(trace("layers"))], [self.without_units(self.slower(1.2))])
        less, low, high, longer = (float(n) for n in re.match(
            r"^(\d+) % less work in the same .*quartiles ([\d.]+) \.\.\. ([\d.]+)\): the same work takes (\d+) % longer \(1 \+ 1 captures", text).groups())
        self.assertAlmostEqual(less, 100 * (1 - calls[1] / calls[0]), delta=2)
        self.assertLessEqual(low, calls[1] / calls[0] + 0.01)
        self.assertGreaterEqual(high, calls[1] / calls[0] - 0.01)
        self.assertAlmostEqual(longer, 20, delta=3)
        self.assertEqual(report["settings"]["per"], "gpu_and_base_work")
        whole, compute = (next(p for p in report["partition"] if p["part"] == part) for part in ("whole", "compute"))
        self.assertAlmostEqual(whole["new_time_ms"] / whole["base_time_ms"], 1.2, delta=0.04)
        self.assertAlmostEqual(compute["new_time_ms"] / compute["base_time_ms"], 1, delta=0.03)
        self.assertEqual(verdicts(report)["gpu.window"], "noted")

    def test_metrics_of_numbered_ranges_are_one(self):
        """The median of what a capture has of them; a budget for one keeps it, and so does --range-numbers."""
        one = "nvtx.encoder.block.3.median"
        sides = [trace("layers")], [self.slower(1.2)]
        report, text, _ = compared(*sides)
        metric, = (m for m in report["metrics"] if m["id"] == "nvtx.encoder.block.#.median")
        for side, path in zip(("base", "new"), (sides[0][0], sides[1][0])):
            values = [float(row["value"]) for row in support.read_csv(support.artifacts(path), "metrics")
                      if re.fullmatch(r"nvtx\.encoder\.block\.\d+\.median", row["metric"])]
            self.assertGreater(len(values), 10)
            self.assertAlmostEqual(metric[side]["median"], statistics.median(values), delta=1)
        self.assertNotRegex(text, r"block\.\d")
        self.assertIn(one, verdicts(compared(*sides, "--range-numbers")[0]))
        budgets = fresh_dir() / "budgets.yaml"
        budgets.write_text(f"version: 1\nmetrics: {{{one}: {{relative: 1%}}}}\n")
        _, out = checked(sides[1], sides[0], "--budgets", budgets)
        self.assertIn(one, verdicts(json.loads((out / "compare.json").read_text())))

    def test_a_range_of_more_work_is_not_slower(self):
        """The same range holds more calls on one side: its length tells nothing."""
        whole = "INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, globalTid) SELECT min(start), max(\"end\"), 59, 'whole run', (SELECT max(globalTid) FROM NVTX_EVENTS) FROM CUPTI_ACTIVITY_KIND_KERNEL"
        half = "CREATE TABLE half AS SELECT (min(start) + max(\"end\")) / 2 AS t FROM CUPTI_ACTIVITY_KIND_KERNEL"
        fewer = edited(trace("layers"), half, *(f'DELETE FROM {t} WHERE "end" > (SELECT t FROM half)' for t in
                                                ("NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL")), "DROP TABLE half", whole)
        report, text, _ = compared([self.without_units(fewer)], [self.without_units(edited(trace("layers"), whole))])
        self.assertRegex(text, r"^\d+ % more work")
        self.assertEqual(verdicts(report)["nvtx.whole_run.median"], "noted")
        self.assertNotIn("whole run, median", text)

    def test_what_the_program_calls_its_work(self):
        """A range that is in every capture as often, around most of what ran, is told where calls of kernels tell nothing. Not judged; and not
        where its own time is only that of the launching thread, or where it is more often on one side."""
        def around(share, name="whole"):
            return (f"INSERT INTO NVTX_EVENTS (start, \"end\", eventType, text, globalTid) SELECT min(start) - 100000, min(start) + "
                    f"(max(\"end\") - min(start)) * {share}, 59, '{name}', (SELECT max(globalTid) FROM NVTX_EVENTS) FROM CUPTI_ACTIVITY_KIND_KERNEL")
        others = ["INSERT INTO StringIds SELECT 1000000 + id, value || '_tuned' FROM StringIds",
                  "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = demangledName + 1000000, shortName = shortName + 1000000"]

        def told(*statements):
            base, new = edited(trace("layers"), around(1.2)), edited(trace("layers"), *others, *statements)
            report, text, _ = compared([self.without_units(base)], [self.without_units(new)])
            with contextlib.closing(sqlite3.connect(base)) as db:
                length, = db.execute("SELECT \"end\" - start FROM NVTX_EVENTS WHERE text = 'whole'").fetchone()
            return text.splitlines()[0], length / 1e6
        text, ms = told(around(2.4))
        found = re.match(r'Range "whole", once in each capture: ([\d.]+) ms -> ([\d.]+) ms \(\+(\d+) %, 1 \+ 1 captures; not judged without steps\)\. Other times cannot', text)
        self.assertTrue(found, text)
        self.assertAlmostEqual(float(found[1]), ms, delta=0.05)
        self.assertAlmostEqual(float(found[3]), 100 * (float(found[2]) / float(found[1]) - 1), delta=1)
        for statements in ((around(0.1),), (around(1.2), around(1.2)), (around(1.2, "another"),)):
            self.assertRegex(told(*statements)[0], "^Times cannot be compared")

    def test_a_range_with_a_pause_for_loading(self):
        """What is paid once is told beside a range that holds it, and not beside one that begins behind it."""
        def around(start, behind):
            return edited(trace("launch-load"), "CREATE TABLE NVTX_EVENTS (start INTEGER, \"end\" INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER)",
                          f"INSERT INTO NVTX_EVENTS SELECT {start}, (SELECT max(\"end\") + {behind} FROM CUPTI_ACTIVITY_KIND_KERNEL), 59, 'whole', (SELECT max(globalTid) FROM CUPTI_ACTIVITY_KIND_RUNTIME)")

        def told(start):
            paths = around(start, 0), around(start, 1)
            return paths[0], compared(*([self.without_units(path)] for path in paths))[1]
        path, text = told("(SELECT min(start) FROM CUPTI_ACTIVITY_KIND_RUNTIME)")
        paid = max(float(row["saving_ms"]) for row in support.read_csv(support.artifacts(path), "findings") if row["id"] == "pause-module-load")
        length, = (float(row["total_time_ms"]) for row in support.read_csv(support.artifacts(path), "nvtx_ranges") if row["range_name"] == "whole")
        found = re.search(r'Range "whole", once .* in it, paid once: ([\d.]+) ms of the base, ([\d.]+) ms of the new; without it ([\d.]+) ms -> ([\d.]+) ms\.', text)
        self.assertTrue(found, text)
        for number, truth in zip(found.groups(), (paid, paid, length - paid, length - paid), strict=True):
            self.assertAlmostEqual(float(number), truth, delta=0.06)
        self.assertNotIn("paid once", told("(SELECT \"end\" FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY \"end\" - start DESC LIMIT 1)")[1])

    def test_numbered_ranges_are_one(self):
        """Which blocks fit into a capture is chance: none of them is gone or new."""
        blocks = "NVTX_EVENTS SET text = replace(text, 'encoder.block.', 'encoder.block.1') WHERE text LIKE 'encoder.block.%'"
        for options, count in ((), 1), (("--range-numbers",), 48):
            report, _, _ = compared([trace("layers")], [edited(trace("layers"), f"UPDATE {blocks}")], *options)
            ranges = {r["range_name"]: r for r in report["ranges"] if "block" in r["range_name"]}
            self.assertGreaterEqual(len(ranges), min(count, 30), ranges)
            self.assertEqual({r["state"] for r in ranges.values()} > {"both"}, count > 1)
        self.assertEqual([r for r in ranges if "#" in r], [])

    def test_kernels_that_changed_by_different_factors(self):
        """A third of the calls of some is another kernel's, the others are as many: there is no one factor, and no difference of any length."""
        longest = 'SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1 ORDER BY sum("end" - start) DESC'
        fewer = edited(trace("layers"), "INSERT INTO StringIds SELECT max(id) + 1, 'another' FROM StringIds",
                       "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = (SELECT max(id) FROM StringIds), shortName = (SELECT max(id) FROM "
                       f"StringIds) WHERE demangledName IN ({longest} LIMIT 3) AND correlationId % 3 = 0")
        report, text, _ = compared([self.without_units(trace("layers"))], [self.without_units(fewer)])
        self.assertRegex(text.splitlines()[0], r"^Times cannot be compared: .* changed by different factors \(quartiles x 0\.\d+ and x 1\.00\)")
        self.assertEqual({p["delta_ms"] for p in report["partition"]}, {None})
        published.check(self, "compare", report)

    def relaunched(self, grid, duration=1.0):
        """(base, new): every second launch of each kernel is gone, and the others have `grid` times its blocks. Without ranges, which would
        tell how much work there is."""
        order = "CREATE TABLE n AS SELECT rowid AS r, row_number() OVER w - 1 AS i, count(*) OVER (PARTITION BY demangledName) AS c FROM CUPTI_ACTIVITY_KIND_KERNEL WINDOW w AS (PARTITION BY demangledName ORDER BY start)"
        kernels = "CUPTI_ACTIVITY_KIND_KERNEL"

        def kept(condition):  # row ids without gaps, which would be rows that are lost
            return (order, f"CREATE TABLE kept AS SELECT * FROM {kernels} WHERE rowid IN (SELECT r FROM n WHERE {condition})", f"DELETE FROM {kernels}",
                    f"INSERT INTO {kernels} SELECT * FROM kept ORDER BY start", "DROP TABLE kept", "DROP TABLE n")
        base = edited(trace("layers"), *kept("c % 2 = 0 OR i < c - 1"), "DELETE FROM NVTX_EVENTS")
        new = edited(base, *kept("i % 2 = 0"), f'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = gridX * {grid}, "end" = cast(start + ("end" - start) * {duration} AS int)')
        return base, new

    def test_launched_differently(self):
        """Half of the launches with twice the blocks are as much work: nothing is scaled, and calls of other sizes are not called slower."""
        base, new = self.relaunched(2, 1.3)
        counts, blocks = [], []
        for path in (base, new):
            with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
                launches, in_blocks = db.execute("SELECT count(*), sum(gridX * gridY * gridZ) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
                counts.append(launches)
                blocks.append(in_blocks)
        self.assertEqual(blocks[0], blocks[1])
        sides = [self.without_units(path) for path in (base, new)]
        for (a, b), word in (((0, 1), "less"), ((1, 0), "more")):
            report, text, _ = compared([sides[a]], [sides[b]])
            found = re.match(rf"{counts[a]} -> {counts[b]} launches with as many thread blocks \(launched differently, not {word} work\) in ([\d.]+) ms instead of ([\d.]+) ms of active time: the same work takes ([\d.]+) % (\w+) ", text)
            self.assertTrue(found, text.splitlines()[0])
            self.assertAlmostEqual(float(found[3]), 100 * abs(float(found[1]) / float(found[2]) - 1), delta=1)
            self.assertEqual(report["settings"]["per"], "gpu_and_base_work")
            for part in report["partition"]:
                self.assertAlmostEqual(part["new_time_ms"], part["new_sum_ns"] / 1e6, places=6)
            self.assertNotRegex(text, "Slower.*: Kernel|times as long")
            self.assertNotIn("uniform_drift", checks(report))
            self.assertEqual({m["verdict"] for m in report["metrics"] if re.fullmatch(r"kernel\.top\..*\.median", m["id"]) and m["shift"] > 0} - {"noted"}, set())

    def test_blocks_and_launches_disagree(self):
        """Half of the launches with three quarters of the blocks, or with as many of all kernels but one: no one knows how much work that is."""
        _, text, _ = compared(*([self.without_units(path)] for path in self.relaunched(1.5)))
        self.assertRegex(text, r"^Times cannot be compared: .*calls of kernels changed by x 0\.50, their thread blocks by x 0\.75;")
        base, new = self.relaunched(2)
        without = edited(new, "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE demangledName = (SELECT max(demangledName) FROM CUPTI_ACTIVITY_KIND_KERNEL)",
                         "CREATE TABLE kept AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start", "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL",
                         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM kept", "DROP TABLE kept")
        _, text, _ = compared([self.without_units(base)], [self.without_units(without)])  # a kernel is gone: others alone have as many blocks
        self.assertRegex(text, r"^Times cannot be compared: .*calls of kernels changed by x 0\.50, their thread blocks by x 1\.00;")

    def test_results_of_another_size(self):
        """The same calls with results of another size are likely of another input."""
        def bringing(size):
            return edited(trace("minimal"), "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, \"end\" INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER)",
                          f"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT max(\"end\"), max(\"end\") + 100000, deviceId, contextId, streamId, 900000, globalPid, {size}, 2, 2, 1 FROM CUPTI_ACTIVITY_KIND_KERNEL")
        _, text, _ = compared([self.without_units(bringing(1 << 20))], [self.without_units(bringing(3 << 20))])
        self.assertRegex(text, r"^Times cannot be compared: .*as many Device-to-Host copies hold 3\.0 MiB instead of 1\.0 MiB \(likely another input\)")
        _, text, _ = compared([self.without_units(bringing(1 << 20))], [self.without_units(bringing((1 << 20) + 8))])
        self.assertRegex(text, "^The same calls of each kernel")

    def test_why_calls_of_a_kernel_changed(self):
        """The launch that changed with the time of a call stands beside it, and in the tables. One of several shapes is none that changed."""
        shape = "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET"
        longer = f'{shape} "end" = start + 3 * ("end" - start)'
        base = edited(trace("minimal"), f"{shape} start = start * 4, \"end\" = start * 4 + (\"end\" - start)")
        for change, words in ((f"{shape} blockX = 16, \"dynamicSharedMemory\" = 2048", "block 256 -> 16 threads, shared memory {} -> {} (grid 1218)"),
                              (f"{shape} gridX = 29, gridY = 42, registersPerThread = 24", "grid 1218 -> 29x42, registers 96 -> 24 (block 256 threads)"),
                              ("SELECT 1", None)):
            report, text, out = compared([base], [edited(base, longer, change)])
            line = re.search(r"^Kernel `.*`: .* a call, 3\.0 times as long(.*)\.$", text, re.M)
            self.assertTrue(line, text)
            said = line[1].removeprefix("; ")
            self.assertTrue(re.fullmatch(re.escape(words).replace(r"\{\}", r"[\d.]+ [KMi]*B"), said) if words else not said, said)
            kernel, = report["kernels"]
            self.assertEqual(kernel["launch"], said or None)
            with contextlib.closing(sqlite3.connect(base)) as db:
                grid, block = db.execute("SELECT gridX || 'x' || gridY || 'x' || gridZ, blockX || 'x' || blockY || 'x' || blockZ FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
            self.assertEqual((kernel["base_grid"], kernel["base_block"], kernel["base_registers"], kernel["base_shapes"]), (grid, block, 96, 1))
            self.assertEqual(support.read_csv(out, "compared_kernels")[0]["launch"], said)
        half = f"{shape} gridX = 2436 WHERE rowid % 2 = {{}}"
        _, text, _ = compared([edited(base, half.format(0), f"{shape} \"end\" = \"end\" + 9 WHERE rowid % 2 = 0")],
                              [edited(base, half.format(0), longer, f"{shape} \"end\" = \"end\" + 9 WHERE rowid % 2 = 1")])
        self.assertRegex(text, r"a call, 3\.0 times as long\.\n")

    def test_no_common_unit(self):
        """Then no time is a headline, whatever the windows are."""
        report, text, _ = compared([trace("layers")], [trace("no-nvtx")], "--allow", "gpu_model", "--allow", "gpu_count", "--allow",
                                   "process_count")
        self.assertIn("Times cannot be compared", text.splitlines()[0])
        self.assertEqual(report["settings"]["per"], "gpu_and_run")


class Peaks(unittest.TestCase):
    """Kernels whose durations have two peaks: a median between them is no duration."""

    def test_each_peak_is_compared(self):
        base = trace("bimodal")
        with contextlib.closing(sqlite3.connect(f"file:{base}?mode=ro", uri=True)) as db:
            durations = collections.defaultdict(list)
            for name, ns in db.execute('SELECT demangledName, "end" - start FROM CUPTI_ACTIVITY_KIND_KERNEL'):
                durations[name].append(ns)
        for values in durations.values():
            values.sort()
        name, values = max(durations.items(), key=lambda item: max((b / a for a, b in zip(item[1], item[1][1:])), default=0))
        at = max(range(1, len(values)), key=lambda i: values[i] / values[i - 1])
        slower = edited(base, f'UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET "end" = "end" + ("end" - start) / 5 WHERE demangledName = {name} AND '
                              f'"end" - start >= {values[at]}')
        report, text, _ = compared([base], [slower])
        short, = (m for m in report["metrics"] if m["id"].endswith(".short_peak"))
        long, = (m for m in report["metrics"] if m["id"].endswith(".long_peak"))
        self.assertEqual((short["verdict"], short["base"]["median"]), ("same", statistics.median(values[:at])))
        self.assertEqual((long["verdict"], long["base"]["median"]), ("suspect", statistics.median(values[at:])))
        self.assertAlmostEqual(long["shift_pct"], 20, delta=0.1)
        self.assertNotIn(long["id"].replace(".long_peak", ".median"), verdicts(report))
        self.assertIn("longer of two peaks", text)


class Comparability(unittest.TestCase):
    def refused(self, base, new, check):
        done, out = checked(new, base)
        self.assertEqual(done.returncode, 7, done.stdout + done.stderr)
        self.assertEqual(checks(json.loads((out / "compare.json").read_text())).get(check), "hard")

    def test_empty_capture(self):
        for scenario in ("api-only", "nvtx-only"):
            empty = [trace(scenario)]
            self.refused(runs("loop", BASE[:1]), empty, "no_kernels")
            self.refused(empty, runs("loop", BASE[:1]), "no_kernels")

    def test_the_same_capture_twice(self):
        self.refused(runs("loop", (1, 2, 1)), runs("loop", NEW[:3]), "same_content")

    def test_other_gpu(self):
        other = edited(trace("loop", "--seed", 11), "UPDATE TARGET_INFO_GPU SET name = 'Another GPU'")
        self.refused(runs("loop", BASE[:1]), [other], "gpu_model")
        self.refused([trace("training")], [trace("eight-gpus")], "gpu_count")
        unknown = edited(trace("loop", "--seed", 11), "UPDATE TARGET_INFO_GPU SET name = NULL")
        for base, new, where in ((unknown, other, "base"), (other, unknown, "new run")):
            report, _, _ = compared([base], [new])
            reason, = (c["reason"] for c in report["comparability"] if c["check"] == "gpu_model")
            self.assertEqual(reason, f"the GPU model is not recorded in the {where}")

    def test_a_missing_rank(self):
        """All of one process's GPU work is gone from the second capture."""
        path = trace("training")
        with sqlite3.connect(path) as db:
            pids = [row[0] for row in db.execute("SELECT DISTINCT globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY 1")]
        gone = [f"DELETE FROM CUPTI_ACTIVITY_KIND_{table} WHERE globalPid = {pids[-1]}" for table in ("KERNEL", "MEMCPY", "MEMSET")]
        report, _, _ = compared([path], [edited(path, *gone)])
        self.assertGreaterEqual(checks(report).items(), {"gpu_count": "hard", "process_count": "hard"}.items())

    def test_steps_at_the_edges_do_not_count(self):
        """One side with its warm-up, the other without, and its last step cut off in the middle."""
        path = trace("loop", "--seed", 11)
        with sqlite3.connect(path) as db:
            steps = [row[0] for row in db.execute("SELECT start FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId WHERE "
                                                  "coalesce(text, value) LIKE 'train_step%' ORDER BY start")]
        middle = (steps[-1] + steps[-2]) // 2 + (steps[-1] - steps[-2])
        cut = [f"DELETE FROM {table} WHERE start < {steps[1] - 5000} OR start > {middle}"
               for table in ("NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME")]
        report, _, _ = compared(runs("loop", BASE[:1]), [edited(path, *cut)])
        step = next(m for m in report["metrics"] if m["id"] == "step.time.median")
        self.assertLess(abs(step["shift_pct"]), 3, step)
        for metric in ("launches.per_step", "kernels.per_step", "sync.blocking.per_step"):
            self.assertEqual(verdicts(report)[metric], "same")

    def test_graph_mode(self):
        report, _, _ = compared([trace("graphs")], [trace("graphs-node")])
        self.assertEqual(checks(report)["graph_mode"], "hard")
        self.assertEqual(verdicts(report)["kernels.per_second"], "error")

    def test_no_steps_on_one_side(self):
        bare = edited(trace("loop", "--seed", 12), "DELETE FROM NVTX_EVENTS")
        report, _, _ = compared(runs("loop", BASE[:1]), [bare])
        self.assertTrue({"steps_missing", "step_method"} & set(checks(report)), checks(report))
        self.assertEqual(verdicts(report)["gpu.idle.per_step"], "error")

    def test_what_cannot_be_compared_is_said_once(self):
        """By what it is for want of, and not row by row; who has no ranges is told to record them."""
        bare = edited(trace("layers"), "DELETE FROM NVTX_EVENTS")
        allowed = [word for check in ("gpu_count", "process_count", "gpu_model") for word in ("--allow", check)]
        report, text, _ = compared(runs("loop", BASE[:1]), [bare], *allowed)
        self.assertIn("steps_missing", checks(report))
        self.assertNotIn("analyze --step", text)
        self.assertIn("NVTX ranges", text)
        lines = text[text.index("## Metrics"):text.index("<details>")].splitlines()
        cannot = [line for line in lines if line.startswith("Cannot be compared (steps were found in some captures only")]
        self.assertIn("`gpu.idle.per_step`", cannot[0])
        self.assertEqual([line for line in lines if line.startswith("|") and ".per_step" in line], [])
        self.assertNotIn("steps_missing", "".join(lines))

    def test_old_run(self):
        run_dir = fresh_dir() / "old"
        shutil.copytree(analysed("loop", 1), run_dir)
        manifest = run_dir / "stages" / "manifest.json"
        manifest.write_text(manifest.read_text().replace('"metrics"', '"metricz"'))
        done = run("compare", run_dir, analysed("loop", 2), "--out", fresh_dir() / "out")
        self.assertEqual(done.returncode, 3)
        self.assertIn("analyze its trace again", done.stderr)


class Formats(unittest.TestCase):
    def setUp(self):
        self.done, self.out = checked(runs("loop-slower", NEW), runs("loop", BASE), "--series", 'a"b<c>\\,d', "--annotate",
                                      "github")

    def test_status_and_words(self):
        self.assertEqual(self.done.returncode, 1)
        self.assertIn("regressed", self.done.stdout.splitlines()[0])

    def test_junit(self):
        root = ElementTree.parse(self.out / "junit.xml").getroot()
        cases = root.findall("./testsuite/testcase")
        self.assertEqual(root.get("tests"), str(len(cases)))
        failed = [c.get("name") for c in cases if c.find("failure") is not None]
        self.assertEqual(failed, ["step.time.median", "gpu.compute.per_step"])
        self.assertEqual({c.get("classname") for c in cases}, {'a"b<c>\\,d'})
        self.assertEqual(root.get("failures"), "2")

    def test_junit_of_what_cannot_be_decided(self):
        """It is an error somewhere, not a file without a case, which CI systems take for a pass."""
        bare = [edited(trace("loop", "--seed", seed), "DELETE FROM NVTX_EVENTS") for seed in (1, 2)]
        bare = [edited(path, "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid > 20") for path in bare]
        for base, new in ((bare[:1], bare[1:]), (runs("loop", BASE[:1]), runs("loop", BASE[:1]))):
            done, out = checked(new, base)
            self.assertEqual(done.returncode, 7, done.stdout)
            root = ElementTree.parse(out / "junit.xml").getroot()
            self.assertGreater(len(root.findall(".//testcase/error")), 0)
            self.assertEqual(root.get("errors"), str(len(root.findall(".//testcase/error"))))
            self.assertEqual(root.get("tests"), str(len(root.findall(".//testcase"))))

    def test_prometheus(self):
        samples = parse_prometheus((self.out / "metrics.prom").read_text())
        key = ("nsys_ai_step_time_median_seconds", (("per", "step"), ("series", 'a"b<c>\\,d')))
        report = json.loads((self.out / "compare.json").read_text())
        median = next(m["new"]["median"] for m in report["metrics"] if m["id"] == "step.time.median")
        self.assertAlmostEqual(samples[key], median / 1e9, places=9)

    def test_trackers(self):
        bmf = json.loads((self.out / "bmf.json").read_text())
        step = bmf['a"b<c>\\,d']["step.time.median"]
        self.assertTrue(step["lower_value"] <= step["value"] <= step["upper_value"])
        smaller = json.loads((self.out / "benchmark-smaller.json").read_text())
        bigger = json.loads((self.out / "benchmark-bigger.json").read_text())
        self.assertIn('a"b<c>\\,d/gpu.busy', [b["name"] for b in bigger])
        self.assertTrue(all({"name", "unit", "value", "range"} == set(b) for b in smaller + bigger))

    def test_annotations(self):
        lines = [line for line in self.done.stdout.splitlines() if line.startswith("::")]
        self.assertEqual(len(lines), 2)
        self.assertTrue(lines[0].startswith("::error title=step.time.median::"), lines[0])
        summary = fresh_dir() / "summary.md"
        done = run("check", *runs("loop", NEW), "--baseline", analysed("loop", 1), "--out", fresh_dir() / "o", "--annotate",
                   "github", env={"GITHUB_STEP_SUMMARY": str(summary)})
        self.assertIn(done.returncode, (0, 1, 7))
        self.assertIn("## Metrics", summary.read_text())

    def test_schema(self):
        published.check(self, "compare", json.loads((self.out / "compare.json").read_text()))

    def test_page(self):
        """Runs its own script only, and has both bars closed."""
        text = (self.out / "compare.html").read_text()
        script = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
        self.assertEqual(len(script), 1)
        self.assertIn(f"script-src 'sha256-{digest}';", text)
        self.assertIn("default-src 'none'", text)
        bars = re.findall(r'<svg viewBox="0 0 1000 10".*?</svg>', text)  # of the parts of time
        self.assertEqual(len(bars), 2)
        lengths = [sum(float(w) for w in re.findall(r'width="([0-9.]+)"', bar)) for bar in bars]
        self.assertAlmostEqual(max(lengths), 1000, delta=0.01)
        report = json.loads((self.out / "compare.json").read_text())
        whole = report["partition"][0]
        self.assertAlmostEqual(lengths[0] / lengths[1], whole["base_time_ms"] / whole["new_time_ms"], places=4)

    def test_length(self):
        self.assertLess(len((self.out / "compare.md").read_bytes()), 60000)


def parse_prometheus(text):
    """Samples by name and labels; whatever the format forbids is an error."""
    lines = text.split("\n")
    assert lines[-2:] == ["# EOF", ""], lines[-3:]
    samples, types, current = {}, {}, None
    for line in lines[:-2]:
        if line.startswith("# TYPE "):
            _, _, current, kind = line.split(" ")
            assert current not in types and kind == "gauge", line
            types[current] = kind
        elif line.startswith("# UNIT "):
            _, _, name, unit = line.split(" ")
            assert name == current and name.endswith("_" + unit), line
        else:
            match = re.fullmatch(r'([a-zA-Z_:][a-zA-Z0-9_:]*)\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\} (-?[0-9.]+)', line)
            assert match and match[1] == current, line
            labels = re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', match[2])
            labels = tuple(sorted((k, re.sub(r"\\(.)", r"\1", v)) for k, v in labels))
            assert (match[1], labels) not in samples, line
            samples[match[1], labels] = float(match[3])
    return samples


class HowCaptured(unittest.TestCase):
    """What the captures say of driver, profiler and clocks differs: caveats, which decide nothing."""
    ENVIRONMENT = ("CREATE TABLE IF NOT EXISTS TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT NOT NULL, name TEXT NOT "
                   "NULL, nameEnum INTEGER NOT NULL, value TEXT NOT NULL)")
    CAPTURE = "CREATE TABLE IF NOT EXISTS META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT)"

    def capture(self, seed, driver, cuda, *options):
        rows = [f"INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (NULL, 'x', '{name}', 0, '{value}')"
                for name, value in (("NvDriverVersion", driver), ("CudaDriverVersion", cuda), ("Hostname", "CANARY_HOST"))]
        rows += [f"INSERT INTO META_DATA_CAPTURE VALUES ('{name}', '{value}')" for name, value in options]
        return edited(trace("loop", "--seed", seed), self.ENVIRONMENT, self.CAPTURE,
                      "DELETE FROM TARGET_INFO_SYSTEM_ENV", "DELETE FROM META_DATA_CAPTURE", *rows)

    def test_driver_and_options(self):
        always = ("PROCESS_0:COLLECT_CUDA_TRACE", "true")
        base = self.capture(1, "5452906", "12030", always, ("PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE", "Graph"))
        new = self.capture(2, "580.95.05", "13000", always, ("OS_RUNTIME_OPTIONS:COLLECT_BACKTRACES", "true"),
                           ("PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE", "Node"), ("SAMPLE_ALL_TASKS", "false"),
                           ("COLLECT_FILTER", "CANARY"), ("PROCESS_0:ENVIRONMENT_VARIABLE", "CANARY=1"))
        report, text, _ = compared([base], [new])
        found = {c["check"]: (c["level"], c["base"], c["new"]) for c in report["comparability"]}
        self.assertEqual(found["driver"], ("soft", "545.29.06", "580.95.05"))
        self.assertEqual(found["cuda_version"], ("soft", "12.3", "13.0"))
        self.assertEqual(found["profiler_options"], ("soft", "CUDA_GRAPH_TRACE_OPTIONS:MODE=Graph",
                         "CUDA_GRAPH_TRACE_OPTIONS:MODE=Node, OS_RUNTIME_OPTIONS:COLLECT_BACKTRACES"))
        self.assertNotIn("CANARY", text + json.dumps(report))
        self.assertIn("suspect" if "suspect" in text else "captures", text.splitlines()[0])  # still judged
        same, _, _ = compared([base], [self.capture(3, "545.29.06", "12030", always,
                                                    ("PROCESS_1:CUDA_GRAPH_TRACE_OPTIONS:MODE", "Graph"))])
        self.assertFalse({"driver", "cuda_version", "profiler_options"} & set(checks(same)))

    def test_how_cuda_was_traced(self):
        """nsys says so where it had to trace in software, as information; elsewhere it says nothing of it."""
        base, (severity, detail) = trace("loop", "--seed", 1), (1, "CUDA hardware tracing is not supported on this system. A legacy (software instrumented) trace was collected instead.")
        software = edited(trace("loop", "--seed", 2), "CREATE TABLE IF NOT EXISTS DIAGNOSTIC_EVENT (timestamp, timestampType, source, severity, text, globalPid)",
                          f"INSERT INTO DIAGNOSTIC_EVENT (timestamp, timestampType, source, severity, text) VALUES (0, 1, 1, {severity}, '{detail}')")
        for sides, wanted in (((base, software), ("not said", "in software")), ((software, base), ("in software", "not said"))):
            report, _, _ = compared([sides[0]], [sides[1]])
            self.assertEqual({(c["level"], c["base"], c["new"]) for c in report["comparability"] if c["check"] == "cuda_trace"}, {("soft", *wanted)})
        same, _, _ = compared([base], [trace("loop", "--seed", 3)])
        self.assertNotIn("cuda_trace", checks(same))

    def test_nothing_is_said_of_what_is_not_known(self):
        known = self.capture(1, "5452906", "12030", ("PROCESS_0:COLLECT_CUDA_TRACE", "true"))
        unknown = edited(trace("loop", "--seed", 2), "DROP TABLE IF EXISTS TARGET_INFO_SYSTEM_ENV", "DROP TABLE IF EXISTS META_DATA_CAPTURE")
        report, _, _ = compared([known], [unknown])
        self.assertFalse({"driver", "cuda_version", "profiler_options", "sm_clock"} & set(checks(report)))

    def test_clock(self):
        """GPU metrics with a clock of 1980 MHz against 1750 MHz; the median while something runs."""
        made = []
        for seed, mhz in ((1, 1980), (2, 1750)):
            path = trace("loop", "--seed", seed)
            with sqlite3.connect(path) as db:
                low, high = db.execute("SELECT min(start), max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
            samples = [f"INSERT INTO GPU_METRICS VALUES ({t}, 0, 1, {mhz * 10 ** 6})" for t in range(low, high, 100000)]
            made.append(edited(path,
                               "CREATE TABLE GPU_METRICS (timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER)",
                               "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, sourceId INTEGER, typeName TEXT, metricId INTEGER, "
                               "metricName TEXT)",
                               "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (0, 0, 'metrics', 1, 'GPC Clock Frequency [MHz]')",
                               *samples))
        report, _, _ = compared(made[:1], made[1:])
        found = {c["check"]: (c["level"], c["base"], c["new"]) for c in report["comparability"]}
        self.assertEqual(found["sm_clock"], ("soft", "1980 MHz", "1750 MHz"))
        self.assertNotIn("metrics_period", found)

    def test_metrics_at_other_frequencies_are_not_comparable(self):
        report, _, _ = compared([trace("sampled")], [trace("sampled-coarse")])
        found = {c["check"]: (c["level"], c["base"], c["new"]) for c in report["comparability"]}
        self.assertEqual(found["metrics_period"], ("soft", "100 µs", "1000 µs"))


class Hostile(unittest.TestCase):
    NAMES = ["::error::x", "a|b", "<script>alert(1)</script>", "=cmd()", "line\nbreak", "@here #1", "]]>", '"quoted"']

    def test_names(self):
        path = trace("loop", "--seed", 11)
        with sqlite3.connect(path) as db:
            ids = [row[0] for row in db.execute("SELECT DISTINCT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY 1")]
        bad = edited(path, *(f"UPDATE StringIds SET value = '{name}' WHERE id = {i}"
                             for i, name in zip(ids, (n.replace("'", "''") for n in self.NAMES))),
                     "UPDATE NVTX_EVENTS SET text = '::warning::|<b>' WHERE text = 'activation'")
        done, out = checked([bad], runs("loop", BASE[:1]), "--series", "::error::x\n<b>|=1+1", "--annotate", "github")
        self.assertIn(done.returncode, (0, 1, 7), done.stderr)
        ElementTree.parse(out / "junit.xml")
        parse_prometheus((out / "metrics.prom").read_text())
        for name in ("bmf.json", "benchmark-smaller.json", "benchmark-bigger.json", "compare.json"):
            json.loads((out / name).read_text())
        text = (out / "compare.md").read_text()
        page = (out / "compare.html").read_text()
        self.assertEqual(len(re.findall("<script", page)), 6)  # five of data, one to run
        self.assertNotIn("<script>alert", page)
        self.assertNotIn("<script>alert", re.sub(r"`[^`\n]*`", "", text))
        for line in text.splitlines() + done.stdout.splitlines():
            self.assertFalse(line.startswith(("::error::", "::warning::")), line)
        for table in (out / "tables").glob("*.csv"):
            for line in table.read_text().splitlines():
                self.assertNotRegex(line, r'(^|,)"?[=@]')


class ManyMetrics(unittest.TestCase):
    """Files of the user's: hundreds of metrics that change, ids that only punctuation tells apart, a class called rest."""

    def analysed(self, path, option, words):
        out = fresh_dir() / path.stem
        done = run("analyze", path, option, words, "--out", out, "--stage", "recommend", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        return out

    def metrics(self, ids, value):
        path = fresh_dir() / "metrics.yaml"
        path.write_text("metrics:\n" + "".join(
            f"  - id: {name}\n    title: {'a number that changes and has a long title ' * 4}{name}\n    better: lower\n    kind: exact\n"
            f"    gate: gate\n    step: {{table: steps, where: state = 'steady', value: median({value}), gpus: sum(value)}}\n"
            for name in ids))
        return path

    def test_a_comment_stays_short(self):
        ids = [f"m{i}" for i in range(400)]
        base = self.analysed(trace("loop", "--seed", 1), "--metrics", self.metrics(ids, "kernel_count"))
        new = self.analysed(trace("loop-slower", "--seed", 11), "--metrics", self.metrics(ids, "2 * kernel_count"))
        _, text, _ = compared([base], [new])
        self.assertLess(len(text), 60000)
        self.assertRegex(text.splitlines()[2], r"; 39\d more\.$")

    def test_names_of_series_stay_apart(self):
        path = self.metrics(["same.one", "same_one"], "kernel_count")
        base, new = (self.analysed(trace("loop", "--seed", seed), "--metrics", path) for seed in (1, 2))
        _, _, out = compared([base], [new], "--format", "prom")
        lines = [line for line in (out / "metrics.prom").read_text().splitlines() if line.startswith("nsys_ai_same_one{")]
        self.assertEqual(len(lines), 2, lines)
        self.assertEqual([re.findall('metric="(.*?)"', line) for line in lines], [[], ["same_one"]])

    def test_parts_have_one_row_each(self):
        path = fresh_dir() / "classes.yaml"
        path.write_text("rest: ['re:.']\n")
        longer = "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = end + 20000"  # kernels that overlap: their sum is more than the time
        base, new = (self.analysed(edited(trace("loop", "--seed", seed), longer), "--kernel-classes", path) for seed in (1, 2))
        _, _, out = compared([base], [new])
        parts = [row["part"] for row in support.read_csv(out, "compared_time")]
        self.assertIn("compute.rest", parts)
        self.assertEqual(len(parts), len(set(parts)), parts)


class Budgets(unittest.TestCase):
    def budgets(self, text):
        path = fresh_dir() / "budgets.yaml"
        path.write_text(text)
        return path

    def check(self, text, status, base=(), new=None):
        done, out = checked(new or runs("loop", NEW), base, "--budgets", self.budgets(text))
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done, out

    def test_mistakes(self):
        base = runs("loop", BASE[:1])
        for line, message in (
                ("step.time.median: {relative: nan}", '4:32: expected an amount such as 3%, 0.05ms, 64KiB or 5, got "nan"'),
                ("step.time.median: {relative: -3%}", '4:32: "-3%" must not be negative'),
                ("step.time.median: {relative: 3}", '4:32: "relative" needs a percentage, for example 3%'),
                ("step.time.median: {absolute: 3KiB}", '4:3: "step.time.median" is measured in ns'),
                ("step.time.medium: {relative: 3%}", '4:3: unknown metric "step.time.medium"; did you mean "step.time.median"?'),
                ("step.time.median: {relativ: 3%}", '4:22: unknown key "relativ"; did you mean "relative"?'),
                ("step.time.median: {relative: 3%}\ndefaults: {history: 7}", '5:12: unknown key "history"'),
                ("step.time.median: {severity: bad}", '4:32: "severity": expected one of fail, warn, ignore')):
            done, _ = self.check(f"version: 1\ncaptures: {{minimum: 4}}\nmetrics:\n  {line}\n", 2, base)
            self.assertIn("budgets.yaml:" + message, done.stderr)

    def test_limit_needs_no_baseline(self):
        self.check("version: 1\nmetrics:\n  step.time.median: {limit: 3ms}\n", 0)
        done, out = self.check("version: 1\nmetrics:\n  step.time.median: {limit: 2ms}\n", 1)
        self.assertIn("beyond the fixed limit", done.stdout)
        text = (out / "compare.md").read_text(encoding="utf-8")
        self.assertRegex(text.splitlines()[0], r"^Step time [\d.]+ ms: regressed, limit 2\.00 ms\.$")
        self.assertIn("| limit 2,000 µs | **regressed (gate: fail)** |", text)
        ElementTree.parse(out / "junit.xml")

    def test_limit_holds_without_the_metric_in_the_baseline(self):
        """What the base lacks, or cannot be compared in, is no leave to exceed a limit; a limit of 0 is one."""
        text = "version: 1\nmetrics:\n  nvtx.activation.median: {limit: LIMIT, missing: ignore}\n"
        without = edited(trace("loop", "--seed", BASE[0]), "UPDATE NVTX_EVENTS SET text = 'other' WHERE text = 'activation'")
        self.check(text.replace("LIMIT", "10s"), 0, [without])
        done, out = self.check(text.replace("LIMIT", "1us"), 1, [without])
        self.assertIn("beyond the fixed limit", done.stdout)
        found = next(m for m in json.loads((out / "compare.json").read_text())["metrics"] if m["id"] == "nvtx.activation.median")
        self.assertEqual((found["verdict"], found["shift"], found["p"]), ("regressed", None, None))
        line = next(line for line in (out / "compare.md").read_text(encoding="utf-8").splitlines()
                    if line.startswith("| `nvtx.activation.median` "))
        self.assertRegex(line, r"\| - \| [\d.]+ \S+ \| - \| - \| limit 0\.001 ms \| \*\*regressed \(gate: fail\)\*\* \| beyond the fixed limit \|$")
        _, out = self.check(text.replace("LIMIT", "0us"), 1, [without])
        self.assertIn("| limit 0 ", (out / "compare.md").read_text(encoding="utf-8"))
        steps = "version: 1\nmetrics:\n  step.time.median: {limit: 1us}\non: {error: pass}\n"
        stepless = edited(trace("loop", "--seed", BASE[0]), "DELETE FROM NVTX_EVENTS")
        self.check(steps, 1, [stepless])

    def test_an_improvement_may_ask_for_a_new_baseline(self):
        base, new = runs("loop-slower", NEW), runs("loop", BASE)
        for policy, severity, status in (("pass", "fail", 0), ("warn", "fail", 0), ("fail", "fail", 1), ("fail", "warn", 0)):
            text = (f"version: 1\nmetrics:\n  step.time.median: {{relative: 3%, severity: {severity}}}\n"
                    f"  gpu.compute.per_step: {{relative: 3%, severity: warn}}\non: {{improved: {policy}}}\n")
            done, _ = self.check(text, status, base, new)
            self.assertIn("improved", done.stdout)

    def test_budget_decides(self):
        base, new = runs("loop", BASE), runs("loop-slower", NEW)
        wide = "version: 1\nmetrics:\n  step.time.median: {relative: 20%}\n  gpu.compute.per_step: {relative: 20%}\n"
        self.check(wide, 0, base, new)
        self.check(wide.replace("20%", "1%").replace("}", ", severity: warn}"), 0, base, new)
        done, out = self.check("version: 1\nmetrics:\n  gpu.idle.per_step: {relative: 0.1%}\n", 1, base, new)
        report = json.loads((out / "compare.json").read_text())
        idle = next(m for m in report["metrics"] if m["id"] == "gpu.idle.per_step")
        self.assertTrue(idle["budget_below_noise"])

    def test_unreplicated(self):
        base, new = runs("loop", BASE[:1]), runs("loop-slower", NEW[:1])
        for policy, status in (("fail", 1), ("warn", 0), ("ignore", 0)):
            self.check(f"version: 1\ncaptures: {{unreplicated: {policy}}}\n", status, base, new)

    def test_missing_metric(self):
        text = "version: 1\nmetrics:\n  nvtx.activation.median: {relative: 5%, missing: POLICY}\n"
        without = [edited(trace("loop", "--seed", s), "UPDATE NVTX_EVENTS SET text = 'other' WHERE text = 'activation'")
                   for s in NEW[:4]]
        for policy, status in (("fail", 7), ("warn", 0), ("ignore", 0)):
            self.check(text.replace("POLICY", policy), status, runs("loop", BASE), without)


    def test_a_metric_that_neither_side_has(self):
        """A built-in one, or a range that has gone from both, is missing; only a name that cannot be is a mistake."""
        for metric, amount in (("memory.peak", "absolute: 1MiB"), ("nvtx.no-such-range.median", "relative: 5%"), ("mfu", "absolute: 1pt")):
            for policy, status in (("fail", 7), ("warn", 0), ("ignore", 0)):
                text = f"version: 1\nmetrics:\n  {metric}: {{{amount}, missing: {policy}}}\n"
                done, out = self.check(text, status, runs("loop", BASE))
                if policy != "ignore":
                    self.assertIn("no capture has a value of this metric", done.stdout)
                    self.assertIn(metric, [c.get("name") for c in ElementTree.parse(out / "junit.xml").getroot().iter("testcase")])
        self.check("version: 1\nmetrics:\n  nvtx.median: {relative: 5%}\n", 2, runs("loop", BASE))

    def test_undecided_is_said_when_quiet(self):
        path = self.budgets("version: 1\nmetrics:\n  memory.peak: {absolute: 1MiB}\n")
        done, _ = checked(runs("loop", NEW), runs("loop", BASE), "--budgets", path, "-q")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "", "nsys-ai: gated metrics could not be decided\n"))
        done, _ = checked(runs("loop", NEW), runs("loop", BASE), "-q")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


class Recipes(unittest.TestCase):
    def test_gating(self):
        """The budgets and the GitHub and GitLab jobs of docs/gating.md, run where they expect their runs."""
        text = (support.SOURCE / "docs/gating.md").read_text(encoding="utf-8")
        budgets, github, gitlab = (re.search(rf"^## {title}$.*?```yaml\n(.*?)```", text, re.DOTALL | re.M)[1] for title in ("Budgets", "GitHub", "GitLab"))
        work = fresh_dir() / "w"
        (work / "bin").mkdir(parents=True)
        (work / "bin/nsys-ai").symlink_to(support.PROGRAM)
        (work / "perf").mkdir()
        (work / "perf/budgets.yaml").write_text(budgets, encoding="utf-8")
        for number in range(1, 6):
            shutil.copytree(analysed("loop", number), work / f"runs/main/{number}")
            shutil.copytree(analysed("loop-slower", 10 + number), work / f"runs/new{number}")
        steps, job = yaml.safe_load(github), yaml.safe_load(gitlab)["compare"]
        self.assertEqual([sorted(set(step) - {"name", "if"}) for step in steps], [["run"], ["env", "run"], ["uses", "with"]])
        self.assertEqual(steps[1]["env"], {"GH_TOKEN": "${{ github.token }}"})
        env = {**os.environ, "PATH": f"{work / 'bin'}:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": str(work / "summary.md")}
        for command in (steps[0]["run"], *job["script"]):
            shutil.rmtree(work / "artifacts", ignore_errors=True)
            done = subprocess.run(["bash", "-e", "-c", command], cwd=work, env=env, capture_output=True, encoding="utf-8",
                                  check=False, timeout=support.TIMEOUT_S)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual((work / "summary.md").read_text(), (work / "artifacts/check/compare.md").read_text())
        self.assertLess(len((work / "summary.md").read_text()), 60000)
        for path in job["artifacts"]["reports"].values():
            self.assertTrue((work / path).exists(), path)


class CommandLine(unittest.TestCase):
    def test_baseline_is_a_directory_of_runs(self):
        store = fresh_dir() / "main"
        store.mkdir()
        for seed in BASE:
            (store / f"run-{seed}").symlink_to(analysed("loop", seed))
        done, out = checked(runs("loop-slower", NEW), [store])
        self.assertEqual(done.returncode, 1)
        report = json.loads((out / "compare.json").read_text())
        self.assertEqual(len(report["base"]["captures"]), 5)

    def test_all_words_behind_baseline_are_baselines(self):
        """A shell's glob behind --baseline, read as new runs, would hide a regression among its own baselines."""
        done = run("check", *runs("loop-slower", NEW), "--baseline", *runs("loop", BASE), "--out", fresh_dir() / "out")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        alone = run("check", "--baseline", *runs("loop", BASE), "--out", fresh_dir() / "out")
        self.assertEqual(alone.returncode, 2)
        self.assertIn("RUN is missing: --baseline took all words behind it", alone.stderr)

    def test_lost_rows_are_no_improvement(self):
        """Half of the kernels gone from the new captures, because their rows are invalid or deleted."""
        kernels = "CUPTI_ACTIVITY_KIND_KERNEL"
        for statement in (f'update {kernels} set "end" = start - 1 where rowid % 2', f"delete from {kernels} where rowid % 2"):
            halves = []
            for seed in NEW:
                halves.append(fresh_dir("halves") / f"{seed}")
                path = fresh_dir("halves") / f"{seed}.sqlite"
                shutil.copy(trace("loop", "--seed", seed), path)
                path.chmod(0o644)
                with contextlib.closing(sqlite3.connect(path)) as db, db:
                    db.execute(statement)
                self.assertEqual(run("analyze", path, "-q", "--stage", "recommend", "--out", halves[-1]).returncode, 0)
            done, out = checked(halves, runs("loop", BASE))
            self.assertEqual(done.returncode, 7, done.stdout)
            self.assertIn("Not comparable: captures lost different shares", done.stdout)
            done, out = checked(halves[:2], halves[2:])
            self.assertNotIn("Not comparable", done.stdout)

    def test_lost_rows_of_what_is_not_compared_are_a_caveat(self):
        """Calls of the operating system are many, and no metric is made of them."""
        new = []
        for seed in NEW:
            path = fresh_dir("osrt") / f"{seed}.sqlite"
            shutil.copy(trace("loop", "--seed", seed), path)
            path.chmod(0o644)
            with contextlib.closing(sqlite3.connect(path)) as db, db:
                db.execute('create table OSRT_API ("start" integer, "end" integer, eventClass integer, globalTid integer, correlationId integer, nameId integer, '
                           "returnValue integer, nestingLevel integer, callchainId integer)")
                db.execute('insert into OSRT_API select "start", "start" - 1, 27, globalTid, 1, nameId, 0, 0, null from CUPTI_ACTIVITY_KIND_RUNTIME')
            new.append(fresh_dir("osrt") / f"{seed}")
            self.assertEqual(run("analyze", path, "-q", "--stage", "recommend", "--out", new[-1]).returncode, 0)
        done, _ = checked(new, runs("loop", BASE))
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_refusals(self):
        for words, status, message in (
                (("compare",), 2, "two runs or traces are missing"),
                (("compare", analysed("loop", 1)), 2, "two runs or traces are missing"),
                (("compare", "--base", analysed("loop", 1)), 2, "--base and --new need each other"),
                (("check", analysed("loop", 1)), 2, "--baseline is missing"),
                (("check", analysed("loop", 1), "--baseline", "/nonexistent"), 3, "there is no baseline"),
                (("check", analysed("loop", 1), "--baseline", "last-good"), 3, "last-good, median:N, run:ID and names need --store"),
                (("compare", "/nonexistent", analysed("loop", 1)), 3, 'there is no "/nonexistent"'),
                (("compare", analysed("loop", 1), analysed("loop", 2), "--allow", "x"), 2, "--allow"),
                (("compare", analysed("loop", 1), analysed("loop", 2), "--pool-steps"), 2, "unknown option")):
            done = run(*words, "--out", fresh_dir() / "out")
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(message, done.stderr)

    def test_out_keeps_a_run(self):
        keep = fresh_dir() / "run"
        shutil.copytree(analysed("loop", 1), keep)
        done = run("compare", keep, analysed("loop", 2), "--out", keep)
        self.assertEqual(done.returncode, 2)
        self.assertIn("holds a run or its report, which would be lost", done.stderr)
        self.assertTrue((keep / "stages" / "recommend.ntab").exists())

    def test_again_into_the_same_directory(self):
        out = fresh_dir() / "out"
        for seed in (2, 3):
            self.assertEqual(run("compare", analysed("loop", 1), analysed("loop", seed), "--out", out).returncode, 0)
        self.assertEqual([p.name for p in out.parent.iterdir()], ["out"])

    def test_fail_on(self):
        compared(runs("loop", BASE), runs("loop-slower", NEW), "--fail-on", "regressed", status=1)
        compared(runs("loop", BASE), runs("loop", NEW), "--fail-on", "regressed", status=0)
        _, _, out = compared(runs("loop", BASE[:1]), runs("loop", NEW[:1]), "--format", "junit,prom")
        self.assertTrue((out / "junit.xml").exists() and (out / "metrics.prom").exists())
        self.assertFalse((out / "bmf.json").exists())


if __name__ == "__main__":
    support.main()
