"""action.yml: its steps in order, as GitHub runs them, with a `gh` that keeps comments in a file and a `curl` that copies."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import support
from support import SOURCE, fresh_dir, trace

try:
    import yaml
except ImportError:
    yaml = None

MARKER = "<!-- nsys-ai -->"
HOSTILE = """a b'c"d $(touch pwned) `touch pwned` ;&| ${HOME} *"""

# Comments are in $FAKE/comments.json; asked for, they come in pages, each an array of its own, as gh prints them.
FAKE_GH = r"""#!/usr/bin/env python3
import json, os, pathlib, sys
words, fake = sys.argv[1:], pathlib.Path(os.environ["FAKE"])
with open(fake / "gh.log", "a") as log:
    log.write(json.dumps(words) + "\n")
assert words[0] == "api" and os.environ["GH_TOKEN"], words
path = next(w for w in words[1:] if "/" in w or w == "user")
if path == "user":
    print('{"message": "Resource not accessible by integration"}')
    sys.exit(1)
if (fake / "denied").exists() and "--method" in words:
    print('{"message": "Resource not accessible by integration"}')
    sys.exit("gh: Resource not accessible by integration (HTTP 403)")
store = fake / "comments.json"
comments = json.loads(store.read_text())
if "--method" not in words:
    assert "--paginate" in words and path.startswith("repos/o/r/issues/7/comments"), words
    for i in range(0, max(len(comments), 1), 2):
        sys.stdout.write(json.dumps(comments[i:i + 2]))
    sys.exit(0)
body = json.load(open(words[words.index("--input") + 1]))["body"]
assert len(body) <= 65536, len(body)
if words[words.index("--method") + 1] == "POST":
    assert path == "repos/o/r/issues/7/comments", path
    comments.append({"id": 100 + len(comments), "user": {"login": "github-actions[bot]"}, "body": body})
else:
    number = int(path.removeprefix("repos/o/r/issues/comments/"))
    next(c for c in comments if c["id"] == number)["body"] = body
store.write_text(json.dumps(comments))
"""
FAKE_CURL = """#!/bin/sh
while [ "$1" != --output ]; do shift; done
cp "$FAKE/served.tar.gz" "$2"
"""


def outputs(file):
    """What GitHub reads of GITHUB_OUTPUT."""
    found, lines = {}, iter(file.read_text(encoding="utf-8").splitlines())
    for line in lines:
        name, mark = line.split("<<", 1)
        value = []
        while (line := next(lines)) != mark:
            value.append(line)
        found[name] = "\n".join(value)
    return found


class Job:
    """A job with one use of the action on pull request 7 of o/r."""

    def __init__(self, pull_request="7"):
        self.place, self.fake = fresh_dir("job"), fresh_dir("fake")
        self.pull_request = pull_request
        self.summary, self.log, self.uploaded = "", "", None
        (self.fake / "comments.json").write_text(json.dumps([{"id": i, "user": {"login": "someone"}, "body": MARKER + " mine"} for i in range(3)]))
        bin_ = self.fake / "bin"
        bin_.mkdir()
        for name, text in (("gh", FAKE_GH), ("curl", FAKE_CURL)):
            (bin_ / name).write_text(text)
            (bin_ / name).chmod(0o755)
        os.symlink(support.PROGRAM, bin_ / "nsys-ai")

    def comments(self):
        return json.loads((self.fake / "comments.json").read_text())

    def value(self, text, inputs, steps):
        def one(found):
            word = found.group(1)
            if word.startswith("inputs."):
                return inputs[word.removeprefix("inputs.")]
            if word.startswith("steps."):
                _, step, _, name = word.split(".")
                return steps.get(step, {}).get(name, "")
            return {"github.event.pull_request.number": self.pull_request, "github.token": "secret"}[word]
        return re.sub(r"\$\{\{ (\S+) \}\}", one, text)

    def wanted(self, condition, inputs, steps):
        def holds(part):
            word, operator, text = re.fullmatch(r"(\S+) (==|!=) '(.*)'", part).groups()
            return (self.value("${{ %s }}" % word, inputs, steps) == text) == (operator == "==")
        return all(holds(part) for part in condition.split(" && ")) if condition else True

    def use(self, **given):
        """Exit status of the first step that fails, or 0."""
        action = yaml.safe_load((SOURCE / "action.yml").read_text())
        defaults = {name: str(spec.get("default", "")) for name, spec in action["inputs"].items()}
        given = {name.replace("_", "-"): str(value) for name, value in given.items()}
        assert set(given) <= set(defaults), given
        inputs = {**{name: self.value(text, {}, {}) for name, text in defaults.items()}, **given}
        self.steps, path = {}, f"{self.fake / 'bin'}:{os.environ['PATH']}"
        for number, step in enumerate(action["runs"]["steps"]):
            if not self.wanted(step.get("if"), inputs, self.steps):
                continue
            if "uses" in step:
                self.uploaded = self.value(step["with"]["path"], inputs, self.steps).split("\n")
                continue
            files = {name: fresh_dir() / f"{name}-{number}" for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH")}
            for file in files.values():
                file.touch()
            env = {name: self.value(text, inputs, self.steps) for name, text in step.get("env", {}).items()}
            env = {"PATH": path, "RUNNER_TEMP": str(fresh_dir()), "HOME": str(self.place), "FAKE": str(self.fake), "LANG": "C.UTF-8",
                   "GITHUB_ACTION_PATH": str(SOURCE), "GITHUB_REPOSITORY": "o/r", "GITHUB_SERVER_URL": "https://github.invalid",
                   "GITHUB_RUN_ID": "42", **{name: str(file) for name, file in files.items()}, **env}
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=self.place, env=env,
                                  capture_output=True, encoding="utf-8", check=False, timeout=support.TIMEOUT_S)
            self.log += done.stdout + done.stderr
            added = files["GITHUB_STEP_SUMMARY"].read_bytes()
            assert len(added) <= 1024 * 1024, len(added)
            self.summary += added.decode("utf-8")
            path = ":".join([*files["GITHUB_PATH"].read_text().splitlines(), path])
            self.steps[step.get("id")] = outputs(files["GITHUB_OUTPUT"])
            if done.returncode:
                return done.returncode
        return 0


@unittest.skipUnless(yaml and shutil.which("jq") and shutil.which("bash"), "no PyYAML, jq or bash")
class Action(unittest.TestCase):
    def test_is_an_action(self):
        text = (SOURCE / "action.yml").read_text()
        action = yaml.safe_load(text)
        self.assertEqual(action["runs"]["using"], "composite")
        used = set(re.findall(r"inputs\.([a-z0-9-]+)", text))
        self.assertEqual(used, set(action["inputs"]))
        self.assertTrue(all(spec["description"] for spec in action["inputs"].values()))
        for step in action["runs"]["steps"]:
            if "run" in step:
                self.assertEqual(step["shell"], "bash")
                self.assertNotIn("${{", step["run"])
                for script in re.findall(r"packaging/action/\w+", step["run"]):
                    self.assertTrue(os.access(SOURCE / script, os.X_OK), script)

    def test_analyze(self):
        job = Job()
        self.assertEqual(job.use(trace=trace("host-bound"), comment="true"), 0, job.log)
        run_ = job.steps["run"]
        report = (job.place / run_["out"] / "report.md").read_text()
        self.assertEqual((run_["severity"], run_["status"], run_["out"]), ("high", "0", "artifacts/nsys-ai"))
        self.assertIn(run_["verdict"][:40], report)
        self.assertEqual(job.summary, report)
        self.assertEqual(job.uploaded, ["artifacts/nsys-ai", "!artifacts/nsys-ai/stages", ""])
        self.assertEqual(len(job.comments()), 4)
        self.assertTrue(job.comments()[3]["body"].startswith(MARKER + "\n" + report))
        self.assertIn("https://github.invalid/o/r/actions/runs/42", job.comments()[3]["body"])

    def test_one_comment(self):
        """The second run writes over the first one's, and over nobody else's."""
        job = Job()
        job.use(trace=trace("host-bound"), comment="true")
        job.use(trace=trace("training"), comment="true")
        self.assertEqual([c["body"] for c in job.comments()[:3]], [MARKER + " mine"] * 3)
        self.assertEqual(len(job.comments()), 4)
        self.assertIn("training.sqlite", job.comments()[3]["body"])

    def test_fail_on(self):
        """The job fails, after all has been written."""
        job = Job()
        self.assertEqual(job.use(trace=trace("host-bound"), comment="true", fail_on="high"), 1)
        self.assertEqual(job.steps["run"]["status"], "1")
        self.assertEqual(len(job.comments()), 4)
        self.assertIn("host-bound.sqlite", job.summary)

    def test_no_report(self):
        job = Job()
        self.assertEqual(job.use(trace=trace("minimal"), comment="true"), 0)
        (job.place / "bad.sqlite").write_text("no database")
        self.assertEqual(job.use(trace="bad.sqlite", comment="true"), 3)
        self.assertIn("exit status 3", job.comments()[3]["body"])  # and not the report of the run before
        self.assertIn("exit status 3", job.summary)

    def test_without_permission(self):
        job = Job()
        (job.fake / "denied").touch()
        self.assertEqual(job.use(trace=trace("minimal"), comment="true"), 0)
        self.assertIn("::warning::nsys-ai: the comment could not be written", job.log)

    def test_without_pull_request(self):
        job = Job(pull_request="")
        self.assertEqual(job.use(trace=trace("minimal"), comment="true", summary="false", artifact=""), 0)
        self.assertEqual((len(job.comments()), job.summary, job.uploaded), (3, "", None))

    def test_hostile_inputs(self):
        """Words stay words: none of them is run, none is split."""
        job = Job()
        (job.place / f"{HOSTILE}.sqlite").write_bytes(trace("host-bound").read_bytes())
        self.assertEqual(job.use(trace=f"{HOSTILE}.sqlite", out=HOSTILE, args=f"--top\n3\n--stages\nst {HOSTILE}"), 0, job.log)
        self.assertTrue((job.place / HOSTILE / "report.md").exists())
        self.assertTrue((job.place / f"st {HOSTILE}").is_dir())
        for name in ("trace", "command", "fail_on", "rules", "args", "baseline"):
            self.assertNotEqual(job.use(**{"trace": trace("host-bound"), name: HOSTILE}), 0, name)
        self.assertNotEqual(job.use(trace="--help"), 0)
        self.assertFalse(list(job.place.rglob("pwned")) + list(SOURCE.glob("pwned")))

    def test_check(self):
        job = Job()
        runs = {name: [trace(name, "--seed", seed) for seed in range(1, 6)] for name in ("loop", "loop-slower")}
        sides = {name: "\n".join(map(str, paths)) for name, paths in runs.items()}
        self.assertEqual(job.use(command="check", trace=sides["loop-slower"], baseline=sides["loop"], comment="true"), 1, job.log)
        self.assertIn("Step time", job.steps["run"]["verdict"])
        self.assertIn("::error title=step.time.median::", job.log)
        self.assertEqual(job.summary, (job.place / "artifacts/nsys-ai/compare.md").read_text())
        self.assertIn(job.summary, job.comments()[3]["body"])

    def test_large_report(self):
        """More than GitHub takes, which the program never writes itself: whole lines are left out, and that is said."""
        job = Job()
        line = "\N{GREEK SMALL LETTER MU}s of a line"
        (job.fake / "report.md").write_text((line + "\n") * (1_200_000 // len(line)), encoding="utf-8")
        program = job.fake / "bin/nsys-ai"
        program.unlink()
        program.write_text('#!/bin/sh\nmkdir -p artifacts/nsys-ai && cp "$FAKE/report.md" artifacts/nsys-ai/ && echo "{}"\n')
        program.chmod(0o755)
        self.assertEqual(job.use(trace="x.sqlite", comment="true"), 0, job.log)
        body = job.comments()[3]["body"].removeprefix(MARKER + "\n")
        for text, least in ((job.summary, 950_000), (body, 60_000)):
            self.assertGreater(len(text.encode()), least)
            kept, note = text.split("\n\n", 1)
            self.assertTrue(note.startswith("*Cut here"), note)
            self.assertEqual(set(kept.split("\n")), {line})

    def test_archive(self):
        """What was meant is unpacked and used; what does not run on this machine is refused before anything else is done."""
        job = Job()
        for name, program in (("served", f'#!/bin/sh\ntouch "$FAKE/used"\nexec "{support.PROGRAM}" "$@"\n'), ("foreign", "#!/nonexistent\n")):
            top = fresh_dir("archive") / "nsys-ai-0.1.0-linux-x86_64"
            (top / "bin").mkdir(parents=True)
            (top / "bin/nsys-ai").write_text(program)
            (top / "bin/nsys-ai").chmod(0o755)
            subprocess.run(["tar", "-C", top.parent, "-czf", job.fake / f"{name}.tar.gz", top.name], check=True)
        served, url = job.fake / "served.tar.gz", "https://example.invalid/nsys-ai.tar.gz"
        digest = hashlib.sha256(served.read_bytes()).hexdigest()
        for given, want in (({"archive": url, "sha256": digest}, 0), ({"archive": url, "sha256": digest.upper()}, 0), ({"archive": url, "sha256": "0" * 64}, 2),
                            ({"archive": url}, 2), ({"archive": served}, 0), ({"archive": served, "sha256": "0" * 64}, 2), ({"archive": job.fake / "foreign.tar.gz"}, 2),
                            ({"archive": "http://example.invalid/x.tar.gz", "sha256": digest}, 2), ({"archive": HOSTILE}, 2), ({"archive": trace("minimal")}, 2)):
            (job.fake / "used").unlink(missing_ok=True)
            self.assertEqual(job.use(trace=trace("minimal"), **given), want, (given, job.log))
            self.assertEqual(((job.fake / "used").exists(), "run" in job.steps), (want == 0,) * 2, given)


if __name__ == "__main__":
    support.main()
