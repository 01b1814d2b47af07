"""What the tests of batches share: many small traces, and the bytes of an index."""
import os
import pathlib
import shutil
import signal
import subprocess
import time

from support import GENERATOR, PROGRAM, fresh_dir, run

INDEX = ("index.sqlite", "index.csv", "index.html", "batch.md")


def make_traces(directory, count, scenario="minimal"):
    """That many traces; linked, for only their number matters."""
    directory.mkdir(parents=True, exist_ok=True)
    first = directory / f"{scenario}-0.sqlite"
    done = run(scenario, first, "--force", program=GENERATOR)
    assert done.returncode == 0, done.stderr
    for number in range(1, count):
        os.link(first, directory / f"{scenario}-{number}.sqlite")
    return directory


def batch(*words, expect=0, **options):
    done = run("batch", *words, **options)
    assert done.returncode == expect, (done.returncode, done.stdout, done.stderr)
    return done


def index_of(out):
    return {name: (pathlib.Path(out) / name).read_bytes() for name in INDEX}


def kill_someone(process, chance):
    """The controller, or one of its children."""
    victims = [process.pid]
    if chance.random() < 0.5:
        try:
            text = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
            victims = [int(word) for word in text.split()] or victims
        except OSError:
            pass
    try:
        os.kill(chance.choice(victims), signal.SIGKILL)
    except ProcessLookupError:
        pass


def disturb(traces, rounds, chance, longest_s):
    """A batch that is killed again and again, finished at last; returns its directory."""
    out = fresh_dir("killed") / "batch"
    for number in range(rounds):
        words = [PROGRAM, "batch", *([traces] if number == 0 or not (out / "manifest.csv").exists() else []), "--out", out,
                 "-q", "-j2", "--resume"]
        with subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            time.sleep(chance.uniform(0, longest_s))
            kill_someone(process, chance)
            if chance.random() < 0.5:
                process.kill()
            process.wait()
        if chance.random() < 0.3 and (out / "status").exists():  # begin anew with some of them
            for path in list((out / "status").glob("*.json"))[::2]:
                path.unlink()
        if chance.random() < 0.2 and (out / "items").exists():
            for path in list((out / "items").iterdir())[:2]:
                shutil.rmtree(path, ignore_errors=True)
                (out / "status" / f"{path.name}.json").unlink(missing_ok=True)
    return out
