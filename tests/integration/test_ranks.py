"""nsys-ai ranks: jobs whose stragglers, clocks and collectives are planned; the real two-GPU export recomputed from its rows."""
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
import unittest
import urllib.parse

import perfetto_reader
import published
import support
from support import GENERATOR, SHARED, SOURCE, edited, fresh_dir, read_csv, run, trace
from test_determinism import shuffled
from test_prices import Export


def job(*options):
    """Directory of a generated job's traces."""
    directory = fresh_dir("job")
    done = run("ranks", directory, *options, program=GENERATOR)
    if done.returncode:
        raise AssertionError(done.stderr)
    return directory


def truth(directory):
    return json.loads((directory / "truth.json").read_text(encoding="utf-8"))


def traces(directory):
    return sorted(directory.glob("*.sqlite"))


def ranks(operands, *options, status=0):
    out = fresh_dir("ranks") / "out"
    done = run("ranks", *operands, "-q", "--out", out, *options)
    if done.returncode != status:
        raise AssertionError(f"exit {done.returncode}, not {status}: {done.stderr}")
    return out


def result(out):
    return json.loads((out / "ranks.json").read_text(encoding="utf-8"))


def rows(out, table):
    return read_csv(out, table)


def stalled(path, is_late, collective, ns):
    """A rank comes later to a collective by that much, and all of them to what is behind it."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        start, end = db.execute('SELECT start, "end" FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = demangledName WHERE value LIKE \'%nccl%\' '
                                "ORDER BY start LIMIT 1 OFFSET ?", (collective,)).fetchone()
        for table, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            if {"start", "end"} <= {column[1] for column in db.execute(f"PRAGMA table_info({table})")}:
                db.execute(f'UPDATE {table} SET start = start + (start >= :at) * :ns, "end" = "end" + ("end" >= :at) * :ns WHERE "end" IS NOT NULL',
                           {"at": start if is_late else end, "ns": ns})


class Planned(unittest.TestCase):
    """Everything that the generator planned is found, to the ns; clocks within their doubt."""

    def test_an_export_that_holds_utc(self):
        """--ts-normalize of nsys export, of one rank: the same instants, and the same result."""
        plain = job("--ranks", 2, "--steps", 4)
        utc = fresh_dir("job")
        for path in traces(plain):
            shutil.copy(path, utc)
        with contextlib.closing(sqlite3.connect(traces(utc)[1])) as db:
            epoch, = db.execute("select utcEpochNs from TARGET_INFO_SESSION_START_TIME").fetchone()
            db.execute("update META_DATA_EXPORT set value = 'true' where name = 'EXPORT_PARAM_TIME_NORMALIZE'")
            for table, in db.execute("select name from sqlite_master where type = 'table'").fetchall():
                times = [c[1] for c in db.execute(f'pragma table_info("{table}")') if c[1] in ("start", "end", "timestamp")]
                for column in times:
                    db.execute(f'update "{table}" set "{column}" = "{column}" + {epoch}')
            db.commit()
        told = [[{k: v for k, v in row.items() if not v.endswith(".sqlite")} for row in rows(ranks(traces(of)), "ranks")] for of in (utc, plain)]
        self.assertEqual(told[0], told[1])

    def timeline(self, directory, *options, status=0):
        out = fresh_dir("timeline") / "job.pftrace"
        ranks(traces(directory), "--timeline", out, *options, status=status)
        return perfetto_reader.Trace(out.read_bytes())

    def test_one_timeline(self):
        """Clocks that lie apart and drift: in the file the kernels of a collective end together, and the late rank's begins last."""
        directory = job("--ranks", 4, "--straggler", "persistent", "--late-rank", 2, "--drift-ppm", 20)
        planned, t = truth(directory), self.timeline(directory)
        ranks_of = {"rank " + str(r["rank"]): r for r in planned["ranks"]}
        who = lambda s: t.root(s.track)["name"].partition(" \u00b7 ")[0]
        waits = dict.fromkeys(ranks_of, 0)
        arrows = [flow for key, flow in t.flows.items() if key >> 62]
        last = collections.defaultdict(list)
        for flow in arrows:  # from the last to arrive to one that waited
            self.assertEqual((len(flow), who(flow[0])), (2, "rank 2"))
            last[id(flow[0])] += [flow[0]] * (not last[id(flow[0])]) + [flow[1]]
        self.assertEqual(len(last), planned["matched"])
        for flow in last.values():
            self.assertEqual(sorted(map(who, flow)), sorted(ranks_of))
            ends = [s.end for s in flow]
            self.assertLess(max(ends) - min(ends), 300)  # the clocks lie up to 5 ms apart, and drift by 20 us in a second
            self.assertEqual(who(max(flow, key=lambda s: s.start)), "rank 2")
            self.assertEqual({s.args["last_rank"] for s in flow}, {"rank 2"})
            for s in flow:
                waits[who(s)] += s.args["wait_ns"]
        for name, r in ranks_of.items():  # durations are by the rank's own clock
            self.assertAlmostEqual(waits[name], r["wait_ns"], delta=20e-6 * (r["wait_ns"] + r["transfer_ns"]))
        self.assertEqual(t.attributes["rank 0: taken_off_times_ns"], 0)
        self.assertEqual(t.attributes["rank 1: clock_doubt_ns"], 3 * 32)
        pids = [track["process"][1] for track in t.tracks.values() if "process" in track]
        self.assertEqual(len(pids), len(set(pids)))
        self.assertGreaterEqual(len(pids), 4)

    def test_one_timeline_of_one_trace(self):
        t = self.timeline(job("--ranks", 3, "--together", "--steps", 4))
        self.assertEqual(len([track for track in t.tracks.values() if not track["parent"] and "GPU" in track["name"]]), 3)

    def test_a_timeline_is_of_ranks_whose_clocks_are_known(self):
        directory = job("--ranks", 3, "--foreign", 1)
        names = {track["name"].partition(" \u00b7 ")[0] for track in self.timeline(directory, status=7).tracks.values() if not track["parent"]}
        self.assertEqual(names, {"rank 0", "rank 2"})
        self.assertEqual(run("ranks", *traces(directory)[:2], "-q", "--out", fresh_dir() / "o", "--timeline", fresh_dir() / "x").returncode, 3)

    def test_a_timeline_of_ranks_that_have_nothing_in_common(self):
        """One trace has one clock; several have none that is known, and the verdict stands."""
        one = job("--ranks", 2, "--together", "--steps", 4)
        with contextlib.closing(sqlite3.connect(traces(one)[0])) as db:
            kernel = "CUPTI_ACTIVITY_KIND_KERNEL"
            names = "select id from StringIds where value like 'nccl%'"
            db.execute(f"delete from {kernel} where deviceId = 1 and shortName in ({names}) and rowid > (select min(rowid) from {kernel} where deviceId = 1 and shortName in ({names}))")
            db.commit()
        self.assertTrue(self.timeline(one, status=7).slices)
        foreign = traces(job("--ranks", 3, "--foreign", 1))[:2]
        done = run("ranks", *foreign, "--out", fresh_dir() / "o", "--timeline", fresh_dir() / "x")
        self.assertEqual((done.returncode, "ranks.html" in done.stdout), (3, True), done.stderr)

    def test_a_timeline_marks_the_kernels_of_collectives_only(self):
        """Another kernel begins on the same GPU at the same time."""
        directory = job("--ranks", 2, "--steps", 4)
        with contextlib.closing(sqlite3.connect(traces(directory)[0])) as db:
            kernel = "CUPTI_ACTIVITY_KIND_KERNEL"
            names = "shortName in (select id from StringIds where value like 'nccl%')"
            columns = [row[1] for row in db.execute(f"pragma table_info({kernel})")]
            start, = db.execute(f"select start from {kernel} where {names} order by start limit 1 offset 4").fetchone()
            chosen = ", ".join({"start": str(start), "end": str(start + 7), "streamId": "99", "correlationId": "0"}.get(c, c) for c in columns)
            db.execute(f"insert into {kernel} select {chosen} from {kernel} where not {names} limit 1")
            db.commit()
        t = self.timeline(directory)
        self.assertEqual(len([s for s in t.slices if s.end - s.start == 7]), 1)
        self.assertEqual({len(flow) for key, flow in t.flows.items() if key >> 62}, {2})

    def test_a_timeline_of_times_before_the_session(self):
        """None of them becomes 0: kernels take as long as they did."""
        directory = job("--ranks", 2, "--steps", 4)
        wanted = []
        for path in traces(directory):
            with contextlib.closing(sqlite3.connect(path)) as db:
                for table, in db.execute("select name from sqlite_master where type = 'table'").fetchall():
                    for column in [c[1] for c in db.execute(f'pragma table_info("{table}")') if c[1] in ("start", "end", "timestamp")]:
                        db.execute(f'update "{table}" set "{column}" = "{column}" - 5000000000')
                db.commit()
                wanted += [end - start for start, end in db.execute("select start, end from CUPTI_ACTIVITY_KIND_KERNEL")]
        found = [s.end - s.start for s in self.timeline(directory).slices if "kernel" in s.args]
        self.assertEqual(len(found), len(wanted))
        self.assertLess(max(abs(a - b) for a, b in zip(sorted(found), sorted(wanted))), 10)

    def test_a_timeline_has_clean_names(self):
        """Of a file whose name is no UTF-8 and colors a terminal, and of a directory with a slash behind it."""
        of_two, out = traces(job("--ranks", 2, "--together", "--steps", 4))[0], fresh_dir()
        hostile = os.fsdecode(os.fsencode(fresh_dir()) + b"/bad\xff\x1b[31m.sqlite")
        shutil.copy(of_two, hostile)
        support.analyze(of_two, out=out / "run")
        for operand, wanted in ((hostile, "bad\ufffd\\u{1b}[31m"), (f"{out}/run/", "run")):
            self.assertEqual(run("ranks", operand, "-q", "--out", out / "o", "--timeline", out / "x").returncode, 0)
            t = perfetto_reader.Trace((out / "x").read_bytes())
            self.assertEqual({track["name"].partition(" \u00b7 ")[0] for track in t.tracks.values() if not track["parent"]}, {wanted})

    def test_where_a_timeline_may_not_go(self):
        files, out, to = traces(job("--ranks", 2, "--steps", 4)), fresh_dir(), fresh_dir() / "o"
        for i, path in enumerate(files):
            support.analyze(path, out=out / str(i))
        for words in (("-",), ("/dev/stdout",), ("-", "-q", "--json")):
            done = run("ranks", *files, "--out", to, "--timeline", *words)
            self.assertEqual((done.returncode, done.stdout, to.exists()), (2, "", False), done.stderr)
        done = run("ranks", *files, "-q", "--out", to, "--timeline", "-", text=False)
        self.assertEqual((done.returncode, len(perfetto_reader.Trace(done.stdout).slices) > 0), (0, True))
        beside = files[1].with_name(files[1].name + "-wal")
        beside.touch()
        for operands, place in ((files, to / "ranks.md"), (files, to / "tables" / "ranks.csv"), ((out / "0", out / "1"), out / "1" / "report.md"), (files, beside)):
            before = place.read_bytes()
            self.assertEqual(run("ranks", *operands, "-q", "--out", to, "--timeline", place).returncode, 2, place)
            self.assertEqual(place.read_bytes(), before)

    @support.tier("ci")
    def test_a_timeline_of_many(self):
        """All events of 16 traces, the late ones among them; of the others what their GPUs did, as the table has it."""
        directory, out = job("--ranks", 40, "--steps", 4, "--straggler", "persistent", "--late-rank", 33, "--drift-ppm", 20), fresh_dir()
        done = run("ranks", *traces(directory), "--out", out / "o", "--timeline", out / "x")
        self.assertIn("of 40 traces on the timeline 16 have all events", done.stderr)
        t = perfetto_reader.Trace((out / "x").read_bytes())
        rank_of = lambda uuid: t.root(uuid)["name"].partition(" \u00b7 ")[0]
        whole, binned = {rank_of(s.track) for s in t.slices}, {rank_of(uuid) for uuid in t.counters}
        self.assertEqual((len(whole), len(binned), len(whole | binned)), (16, 24, 40))
        self.assertIn("rank 33", whole)
        arrows = [flow for key, flow in t.flows.items() if key >> 62]
        self.assertEqual({rank_of(flow[0].track) for flow in arrows}, {"rank 33"})
        self.assertEqual({rank_of(flow[1].track) for flow in arrows if len(flow) > 1}, whole - {"rank 33"})
        table = {(r["rank"], int(r["bin"])): r for r in rows(out / "o", "rank_timeline")}
        width = int(table["rank 0", 1]["start_ns"])
        for uuid, values in t.counters.items():
            state = t.tracks[uuid]["name"].partition(",")[0]
            self.assertEqual(len(values), 121)
            for bin, (at, value) in enumerate(values[:-1]):
                self.assertAlmostEqual(value, 100 * int(table[rank_of(uuid), bin][f"{state}_ns"]) / width, delta=1e-9)
                self.assertEqual(at - values[0][0], bin * width)

    def test_one_host_has_one_clock(self):
        """Ranks of MPI on one host: its clock tells what stands above what, though UTC was corrected between two captures. Not for another host or boot."""
        directory, boot = fresh_dir("job"), 1_767_000_000_000_000_000
        for i, late in enumerate((0, 7_000_000, 3_000_000, 1_000_000)):
            shutil.copy(trace("mpi"), directory / f"rank{i}.sqlite")
            with contextlib.closing(sqlite3.connect(directory / f"rank{i}.sqlite")) as db, db:
                clock = 50_000_000_000 + late
                db.execute("update TARGET_INFO_SESSION_START_TIME set utcEpochNs = ?, systemClockNs = ?", (boot + clock + 1000 * i, clock))
                db.execute("update MPI_RANKS set rank = ?", (i,))
                db.execute("update StringIds set value = value || ? where value like '%stencil%'", ("x" * i,))  # no copies of one capture
                if i == 2:
                    db.execute("update TARGET_INFO_SYSTEM_ENV set value = 'another' where name = 'Hostname'")
                if i == 3:
                    db.execute("update TARGET_INFO_SESSION_START_TIME set systemClockNs = systemClockNs - 5000000")
        out = fresh_dir("timeline") / "x"
        table = rows(ranks(traces(directory), "--timeline", out), "rank_timeline")
        first = {r["rank"]: int(r["start_ns"]) for r in reversed(table) if int(r["compute_ns"])}
        self.assertEqual(set(first), {"rank 0", "rank 1"})
        t = perfetto_reader.Trace(out.read_bytes())
        begin = {}
        for s in t.slices:
            if "kernel" in s.args:
                begin.setdefault(t.root(s.track)["name"].partition(" \u00b7 ")[0], s.start)
        self.assertEqual(begin["rank 1"] - begin["rank 0"], 7_000_000)
        self.assertEqual(t.attributes["rank 1: clock_doubt_ns"], 999)

    def test_ranks_over_time(self):
        """What each GPU did, from the exports: compute before communication before idle, on one clock."""
        directory = job("--ranks", 3, "--steps", 6, "--straggler", "persistent", "--late-rank", 1, "--offset-us", 20000)
        out = ranks(traces(directory))
        table, planned = rows(out, "rank_timeline"), truth(directory)
        width = int(table[1]["start_ns"])
        states = ("compute_ns", "wait_ns", "transfer_ns", "copy_ns", "mpi_ns", "idle_ns")
        for rank, path in enumerate(traces(directory)):
            own = [r for r in table if r["rank"] == f"rank {rank}"]
            self.assertEqual(len(own), 120)
            self.assertTrue(all(sum(int(r[s]) for s in states) <= width for r in own))
            with contextlib.closing(sqlite3.connect(path)) as db:
                ops = db.execute('select k.start, k."end", s.value like "nccl%" from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.shortName').fetchall()
                copies = [(a, b, 2) for table_name in ("MEMCPY", "MEMSET") for a, b in
                          (db.execute(f'select start, "end" from CUPTI_ACTIVITY_KIND_{table_name}') if db.execute("select 1 from sqlite_master where name = ?", (f"CUPTI_ACTIVITY_KIND_{table_name}",)).fetchone() else ())]
            edges = sorted({t for op in ops + copies for t in op[:2]})
            sums = [0, 0, 0, 0]  # compute, communication, copies, idle
            for a, b in zip(edges, edges[1:]):
                kinds = {kind for start, end, kind in ops + copies if start <= a and b <= end}
                sums[min(kinds, default=3)] += b - a
            sum_of = {s: sum(int(r[s]) for r in own) for s in states}
            self.assertEqual([sum_of["compute_ns"], sum_of["wait_ns"] + sum_of["transfer_ns"], sum_of["copy_ns"], sum_of["idle_ns"]], sums)
            if rank != 1:
                self.assertAlmostEqual(sum_of["wait_ns"], planned["ranks"][rank]["wait_ns"], delta=0.02 * planned["ranks"][rank]["wait_ns"])
        page = (out / "ranks.html").read_text()
        self.assertRegex(page, r"rank 0, [^:]*: mostly wait</title>")
        self.assertRegex(page, r"rank 1, [^:]*: mostly compute</title>")
        unknown = ranks(traces(job("--ranks", 3, "--foreign", 1)), status=7)  # nothing tells its clock
        self.assertEqual({r["rank"] for r in rows(unknown, "rank_timeline")}, {"rank 0", "rank 2"})

    def check_sums(self, out, planned):
        found = result(out)
        self.assertEqual(found["collective_count"], planned["matched"])
        table = rows(out, "ranks")
        self.assertEqual([r["rank"] for r in table], [f"rank {r['rank']}" for r in planned["ranks"]])
        for row, wanted in zip(table, planned["ranks"]):
            for key in ("wait_ns", "transfer_ns", "late_count", "late_by_ns", "caused_wait_ns"):
                self.assertEqual(int(row[key]), wanted[key], (row["rank"], key))
            self.assertEqual(int(row["wait_ns"]) + int(row["transfer_ns"]), int(row["duration_ns"]))
            self.assertEqual(row["clock_reference"], "rank 0")
            doubt = int(row["clock_doubt_ns"]) + 2
            self.assertLessEqual(abs(int(row["clock_offset_ns"]) - wanted["clock_offset_ns"]), doubt, row["rank"])
            self.assertLessEqual(int(row["clock_low_ns"]), wanted["clock_offset_ns"], row["rank"])
            self.assertGreaterEqual(int(row["clock_high_ns"]), wanted["clock_offset_ns"], row["rank"])
        self.assertEqual(found["map"]["columns_are"], "steps")
        self.assertEqual(found["map"]["late_by_ns"], planned["late_by_step_ns"])
        self.assertEqual([sum(row) for row in found["map"]["wait_ns"]], [r["wait_ns"] for r in planned["ranks"]])
        return found

    def test_persistent(self):
        for late_with, words in (("kernel", "softmax"), ("slow", "longer than the same kernels"), ("host", r"idle for [^,]* \(host-bound: "),
                                 ("copy", "copies")):
            made = job("--ranks", 3, "--steps", 8, "--straggler", "persistent", "--late-rank", 2, "--late-with", late_with)
            found = self.check_sums(ranks(traces(made)), truth(made))
            self.assertEqual((found["verdict"], found["persistent"]), ("persistent", ["rank 2"]))
            self.assertEqual(found["text"][:15], "rank 2 is late:")
            self.assertEqual(len(found["reasons"]), 1)
            self.assertRegex(found["reasons"][0], words)

    def test_all_of_a_delay_is_told(self):
        """Busy and idle time add up to it; few collectives with most of it are named; a share is of those with a straggler."""
        made = job("--ranks", 2, "--steps", 8, "--straggler", "persistent", "--late-rank", 1, "--late-with", "kernel")
        before = result(ranks(traces(made)))["reasons"][0]
        for collective in (5, 9):
            for path in traces(made):
                stalled(path, path.stem == "rank1", collective, 20_000_000)
        out = fresh_dir("ranks") / "out"
        printed = " ".join(run("ranks", *traces(made), "--out", out).stdout.split())
        _, late = rows(out, "ranks")
        delays = {int(r["number"]): int(r["skew_ns"]) for r in rows(out, "collectives") if r["late_rank"] == "rank 1"}
        reason, = result(out)["reasons"]
        human = lambda ns: f"{ns / 1e6:.2f} ms" if ns < 10e6 else f"{ns / 1e6:.1f} ms"  # noqa: E731
        whole, idle, cause = (int(late[key]) for key in ("behind_ns", "behind_idle_ns", "idle_cause_ns"))
        self.assertEqual(whole, sum(delays.values()))
        self.assertGreater(idle, whole / 2)
        self.assertTrue(reason.startswith(f"While others waited for rank 1 ({human(whole)}), its GPU was idle for {human(idle)} ({late['idle_cause']}: {human(cause)}), "
                                          f"and busy for {human(whole - idle)}, of which "), reason)
        self.assertIn(f" Collectives 5 and 9 have {human(delays[5] + delays[9])} of that.", reason)
        self.assertNotIn("Collective", before)
        self.assertRegex(before, "was busy for .*softmax")
        self.assertIn(f"arrives last in {late['late_count']} of {late['decided_count']} collectives with a straggler (95 % interval ", printed)
        for text in (printed, *((out / name).read_text(encoding="utf-8") for name in ("ranks.html", "ranks.md"))):
            self.assertIn("Collectives 5 and 9 have ", text)

    def test_a_stall_is_one_event(self):
        """Of a healthy job it is all there is to say; of a rank that is late anyhow it is said what it adds."""
        for straggler, verdict, words in (("none", "single", r"^One event: rank 2 comes 20\.0 ms .* late once, in collective 9 "),
                                          ("persistent", "persistent", r"^rank 2 is late: .* Of that, 20\.\d ms is one event, in collective 9 ")):
            made = job("--ranks", 3, "--steps", 8, "--straggler", straggler, "--late-rank", 2, "--late-with", "host")
            for path in traces(made):
                stalled(path, path.stem == "rank2", 9, 20_000_000)
            found = result(ranks(traces(made)))
            self.assertEqual(found["verdict"], verdict)
            self.assertRegex(found["text"], words)

    def test_a_stall_across_communicators_is_one_event(self):
        """Rank 0 stalls, rank 1 waits for it in one communicator and so comes late to the other, where rank 2 waits."""
        paths = traces(job("--ranks", 3, "--steps", 8, "--communicators", 2))
        kernels = ("SELECT k.rowid FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds ON id = demangledName WHERE value LIKE '%nccl%' ORDER BY k.start")
        for path, other in ((paths[0], 1), (paths[2], 0)):  # collectives of the two are in turn
            with contextlib.closing(sqlite3.connect(path)) as db, db:
                db.executemany("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid = ?", db.execute(kernels).fetchall()[other::2])
        for path, is_late, collective in zip(paths, (True, False, False), (4, 8, 4)):
            stalled(path, is_late, collective, 20_000_000)
        out = ranks(paths)
        found = result(out)
        self.assertEqual(found["verdict"], "single")
        self.assertRegex(found["text"], r"^One event: rank 0 comes 20\.0 ms .* late once, in collective 4 .* All other delays together are \d+\.\d µs\.")
        self.assertGreater(found["delay_ns"], 39_000_000)  # what both waited stays in the tables
        self.assertGreater(min(int(r["late_by_ns"]) for r in rows(out, "ranks") if r["rank"] != "rank 2"), 19_000_000)

    def test_clocks_do_not_matter(self):
        """The same job with clocks together and 50 ms apart: the same waits. Nobody is late because a clock is."""
        sums = []
        for offset in (0, 50000):
            made = job("--ranks", 2, "--steps", 10, "--offset-us", offset)
            found = self.check_sums(ranks(traces(made)), truth(made))
            self.assertEqual((found["verdict"], found["persistent"], found["reasons"]), ("balanced", [], []))
            sums.append(found["map"]["wait_ns"])
        self.assertEqual(*sums)

    def test_rotating_and_network(self):
        made = job("--ranks", 5, "--steps", 25, "--straggler", "rotating")
        found = self.check_sums(ranks(traces(made)), truth(made))
        self.assertEqual((found["verdict"], found["persistent"], found["decided_count"]), ("rotating", [], 100))
        self.assertGreater(found["evenness"], 0.9)
        made = job("--ranks", 2, "--steps", 16, "--straggler", "network")
        found = self.check_sums(ranks(traces(made)), truth(made))
        self.assertEqual((found["verdict"], found["slow_count"], found["delay_ns"]), ("network", 16, 0))
        # Four of 16 steps, with transfers of 60, 100, 140 and 180 us that take four times as long.
        self.assertEqual(found["slow_excess_ns"], 4 * 3 * (60 + 100 + 140 + 180) * 1000)

    def test_drift(self):
        made = job("--ranks", 2, "--steps", 60, "--drift-ppm", 80, "--straggler", "persistent")
        found, planned = result(ranks(traces(made))), truth(made)["ranks"]
        self.assertEqual(found["persistent"], ["rank 1"])
        names = [c["name"] for c in found["tables"]["ranks"]["columns"]]
        for row, wanted in zip((dict(zip(names, r)) for r in found["tables"]["ranks"]["rows"]), planned):
            self.assertAlmostEqual(row["clock_drift_ppm"], wanted["drift_ppm"], delta=0.2)
            self.assertLess(row["clock_doubt_ns"], 50)

    def test_contradicting_clock(self):
        """A kernel that begins after the other rank has left that collective, while their clocks agree elsewhere."""
        made = job("--ranks", 2, "--steps", 20)
        odd = fresh_dir("odd") / "rank1.sqlite"
        shutil.copy(traces(made)[1], odd)
        with contextlib.closing(sqlite3.connect(odd)) as db, db:
            kernel = "CUPTI_ACTIVITY_KIND_KERNEL"
            of_nccl = f"from {kernel} k join StringIds s on s.id = k.shortName where s.value like 'nccl%' order by start limit 1 offset 9"
            db.execute(f"update {kernel} set start = start + 250000, end = end + 250000 where start = (select k.start {of_nccl})")
        found = ranks([traces(made)[0], odd])
        self.assertEqual([(r["clock_low_ns"], r["clock_high_ns"]) for r in rows(found, "ranks")], [("0", "0"), ("", "")])
        self.assertIn("Collectives contradict the clock of rank 1", (found / "ranks.md").read_text())

    def test_captures_that_begin_elsewhere(self):
        made = job("--ranks", 4, "--steps", 20, "--lead", "2:7", "--lead", "3:1", "--straggler", "persistent", "--no-init")
        out, planned = ranks(traces(made), "--rank-after", "rank"), truth(made)
        found = result(out)
        self.assertEqual(found["collective_count"], planned["matched"])
        for row, wanted in zip(rows(out, "ranks"), planned["ranks"]):
            self.assertEqual(int(row["wait_ns"]), wanted["wait_ns"])
        self.assertEqual([r["first_matched"] for r in rows(out, "rank_communicators")], ["7", "7", "0", "6"])
        self.assertEqual({r["method"] for r in rows(out, "rank_communicators")}, {"reference", "ends"})

    def test_one_trace(self):
        made = job("--ranks", 4, "--steps", 10, "--together", "--straggler", "persistent", "--late-rank", 3)
        out, planned = ranks(traces(made)), truth(made)
        for row, wanted in zip(rows(out, "ranks"), planned["ranks"]):
            self.assertEqual((int(row["wait_ns"]), int(row["late_by_ns"])), (wanted["wait_ns"], wanted["late_by_ns"]))
        self.assertEqual(result(out)["persistent"], ["rank 3"])

    def test_two_communicators_of_the_same_ranks(self):
        made = job("--ranks", 2, "--steps", 10, "--communicators", 2, "--straggler", "persistent")
        out = ranks(traces(made))
        self.check_sums(out, truth(made))
        self.assertEqual(len({r["communicator"] for r in rows(out, "rank_communicators")}), 2)

    def test_clocks_come_from_the_larger_communicator(self):
        """Two communicators of the same ranks with 20 and 80 collectives: the longer one tells the clocks, which drift."""
        made = job("--ranks", 4, "--steps", 40, "--collectives", 4, "--communicators", 2, "--drift-ppm", 20, "--missing", "1:40")
        out, planned = ranks(traces(made)), truth(made)["ranks"]
        matched = {r["communicator"]: int(r["matched_count"]) for r in rows(out, "rank_communicators")}
        self.assertEqual(len(set(matched.values())), 2)
        longer = {r["rank"]: r for r in rows(out, "rank_communicators") if r["communicator"] == max(matched, key=matched.get)}
        for row, wanted in zip(rows(out, "ranks"), planned):
            self.assertAlmostEqual(float(row["clock_drift_ppm"]), wanted["drift_ppm"], delta=0.05)
            if row["rank"] != row["clock_reference"]:
                self.assertEqual((row["clock_doubt_ns"], row["clock_drift_ppm"]),
                                 (longer[row["rank"]]["clock_doubt_ns"], longer[row["rank"]]["clock_drift_ppm"]))

    def test_without_payloads(self):
        made = job("--ranks", 3, "--steps", 10, "--no-payloads", "--straggler", "persistent")
        out, planned = ranks(traces(made), "--rank-after", "rank"), truth(made)
        self.check_sums(out, planned)
        self.assertIn("--include-blobs", " ".join(result(out)["caveats"]))


class Refused(unittest.TestCase):
    def test_periodic(self):
        """Nothing tells which step is which, unless the captures begin with the communicator, or clocks are near enough."""
        made = job("--ranks", 2, "--steps", 12, "--periodic", "--no-init")
        found = result(ranks(traces(made), status=7))
        self.assertEqual((found["verdict"], found["collective_count"]), ("undecided", 0))
        self.assertIn("repeat", found["text"])
        made = job("--ranks", 2, "--steps", 12, "--periodic")
        out = ranks(traces(made))
        self.assertEqual(result(out)["collective_count"], 48)
        self.assertEqual({r["method"] for r in rows(out, "rank_communicators")}, {"reference", "initialization"})
        made = job("--ranks", 3, "--steps", 12, "--periodic", "--no-init", "--offset-us", 90, "--lead", "1:5")
        ranks(traces(made), "--clock-doubt-us", 1000, status=7)  # a step takes half a millisecond
        out = ranks(traces(made), "--clock-doubt-us", 150)
        self.assertEqual([r["first_matched"] for r in rows(out, "rank_communicators")], ["5", "0", "5"])
        self.assertEqual({r["method"] for r in rows(out, "rank_communicators")}, {"reference", "clock"})

    def test_a_missing_collective(self):
        """Nothing behind it is matched, and the report says where it is."""
        made = job("--ranks", 3, "--steps", 20, "--missing", "2:45", "--straggler", "persistent")
        out, planned = ranks(traces(made)), truth(made)
        found = result(out)
        self.assertEqual((found["collective_count"], planned["matched"]), (45, 45))
        mismatch, = rows(out, "collective_mismatches")
        self.assertEqual((mismatch["rank"], mismatch["number"], mismatch["reference_number"]), ("rank 2", "45", "45"))
        self.assertEqual((mismatch["here"], mismatch["there"]),
                         ("AllReduce of bf16, 4194304 bytes", "AllReduce of bf16, 2097152 bytes"))
        for row, wanted in zip(rows(out, "ranks"), planned["ranks"]):
            self.assertEqual(int(row["wait_ns"]), wanted["wait_ns"])
        self.assertIn("104 of 239 communication kernels have no counterpart", " ".join(found["caveats"]))

    def test_a_missing_collective_among_equal_ones(self):
        """Where all collectives are alike, only their ends tell that one is missing."""
        made = job("--ranks", 2, "--steps", 160, "--collectives", 1, "--missing", "1:100")
        out = ranks(traces(made))
        self.assertEqual(result(out)["collective_count"], 100)
        self.assertEqual(result(out)["verdict"], "balanced")
        mismatch, = rows(out, "collective_mismatches")
        self.assertEqual((mismatch["rank"], mismatch["number"]), ("rank 1", "100"))
        self.assertIn("end together", mismatch["reason"])

    def test_a_missing_call_shifts_no_pair(self):
        """Without payloads only ends tell: on one side of it pairs are right, on the other there are none, and the report says so."""
        for count, at in ((30, 5), (30, 15), (30, 25), (30, 28), (120, 30), (120, 60)):
            made = job("--ranks", 2, "--steps", count // 3, "--collectives", 3, "--missing", f"1:{at}", "--no-payloads", "--no-init")
            out = ranks(traces(made), "--rank-after", "rank")
            first, other = rows(out, "rank_communicators")
            begins, matched = [int(r["first_matched"]) for r in (first, other)], int(first["matched_count"])
            planned = [[k for k in range(count)], [k for k in range(count) if k != at]]  # which collective each kernel is
            pairs = [planned[0][begins[0]:begins[0] + matched], planned[1][begins[1]:begins[1] + matched]]
            self.assertEqual(pairs[0], pairs[1], (count, at))
            self.assertEqual(matched, max(at, count - at - 1))
            mismatch, = rows(out, "collective_mismatches")
            self.assertEqual(int(mismatch["number"]), at if at >= count - at - 1 else at - 1)
            self.assertIn("one rank has a call that", mismatch["reason"])
            self.assertRegex(" ".join(result(out)["caveats"]), "nothing (behind|before) that is matched")

    def test_another_program(self):
        made = job("--ranks", 3, "--steps", 10, "--foreign", 2, "--straggler", "persistent")
        out = ranks(traces(made), status=7)
        found = result(out)
        self.assertEqual((found["left_out_count"], found["persistent"], found["missing_count"]), (1, ["rank 1"], 1))
        self.assertIn("1 of 3 ranks could not be compared", found["text"])
        self.assertEqual([bool(r["refused"]) for r in rows(out, "ranks")], [False, False, True])
        self.assertEqual(rows(out, "ranks")[2]["wait_ns"], "")

    def test_a_trace_without_collectives_is_named(self):
        made, silent = job("--ranks", 2, "--steps", 10), support.trace("minimal")
        out = ranks([*traces(made), silent], status=7)
        self.assertIn(f"No collectives ran in {silent}.", result(out)["text"])

    def test_another_job_is_named(self):
        """Two jobs of two GPUs each, 80 minutes apart: each is compared for itself, and that is no verdict of one job."""
        one, other = (traces(job("--ranks", 2, "--steps", 10, "--together", "--no-payloads", "--no-init", "--seed", seed))[0] for seed in (1, 2))
        later = fresh_dir("job") / "later.sqlite"
        shutil.copy(other, later)
        with contextlib.closing(sqlite3.connect(later)) as db:
            db.execute("UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = utcEpochNs + 80 * 60 * 1000000000")
            db.commit()
        found = result(ranks([one, later], status=7))
        self.assertRegex(found["text"], r"No collective of \S+ is in \S+later.sqlite, captured (1 h 20|80) min.* apart: another job")

    def test_a_missing_rank(self):
        made = job("--ranks", 3, "--steps", 10)
        found = result(ranks(traces(made)[:2]))
        self.assertEqual(found["missing_count"], 1)
        self.assertIn("1 more rank of the largest communicator", found["caveats"][0])

    def test_wrong_operands(self):
        made = job("--ranks", 2, "--steps", 5)
        one, other = traces(made)
        copy = made / "copy.sqlite"
        shutil.copy(one, copy)
        out = fresh_dir("ranks") / "out"
        for operands, status, words in (((one, other, copy), 2, "same trace"), ((one,), 3, "only one rank"),
                                        ((one, made / "none.sqlite"), 3, "there is no"), ((), 2, "")):
            done = run("ranks", *operands, "--out", out)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertFalse(out.exists())


class OneAnswer(unittest.TestCase):
    """analyze and ranks say the same of the same trace: who came last, how often, by how much, and what the others waited."""
    SAID = "late_count", "late_by_ns", "wait_ns", "caused_wait_ns"

    def check(self, trace, straggles=True):
        """ranks has no tails: what analyze finds after the first end it takes for waiting or transfer."""
        own, theirs = ({(r["device_id"], r["pid"]): collections.Counter({name: int(r[name] or 0) for name in names}) for r in rows(out, table)}
                       for out, table, names in ((support.analyze(trace), "comm_ranks", (*self.SAID, "tail_ns")), (ranks([trace]), "ranks", self.SAID)))
        self.assertEqual(own.keys(), theirs.keys())
        for rank, said in own.items():
            for name in ("late_count", "late_by_ns"):
                self.assertEqual(said[name], theirs[rank][name], (rank, name))
            self.assertLessEqual(abs(said["wait_ns"] - theirs[rank]["wait_ns"]), said["tail_ns"], rank)
        tails = sum(said["tail_ns"] for said in own.values())
        for rank, said in own.items():
            self.assertLessEqual(abs(said["caused_wait_ns"] - theirs[rank]["caused_wait_ns"]), tails, rank)
        self.assertEqual(*(max(of, key=lambda rank: of[rank]["caused_wait_ns"]) for of in (own, theirs)))
        self.assertEqual(sum(said["late_count"] for said in own.values()) >= 10, straggles)
        return tails

    def test_generated(self):
        for straggler in ("none", "persistent", "rotating", "network"):
            with self.subTest(straggler=straggler):
                self.check(traces(job("--ranks", 4, "--steps", 10, "--together", "--straggler", straggler))[0], straggler in ("persistent", "rotating"))
        for scenario in ("collectives", "collectives-skewed", "collectives-graph", "eight-gpus"):
            with self.subTest(scenario=scenario):
                self.assertEqual(self.check(support.trace(scenario)), 0)

    @unittest.skipUnless((SHARED / "traces/fsdp_2gpu.sqlite").exists(), "no reference traces")
    def test_real(self):
        self.check(SHARED / "traces/fsdp_2gpu.sqlite")


class Mpi(unittest.TestCase):
    """What MPI takes of each rank, against SQL on the exports."""

    MPI_TABLES = ("MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_OTHER_EVENTS")

    def pair(self, *more):
        """The second rank's kernels are 100 us longer, so that less of its MPI is exposed, and it sends more."""
        one = edited("mpi", "UPDATE MPI_RANKS SET rank = 0", *more)
        other = edited("mpi", "UPDATE MPI_RANKS SET rank = 1", "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = end + 100000",
                       "UPDATE MPI_P2P_EVENTS SET size = size * 16", *more)
        return one, other

    def calls(self, path):
        """By function: calls as (start, end, bytes). Rows of one call begin together."""
        out = {}
        with contextlib.closing(sqlite3.connect(path)) as db:
            for table in self.MPI_TABLES:
                if not db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
                    continue
                size = "size" if "size" in {c[1] for c in db.execute(f"PRAGMA table_info({table})")} else "NULL"
                found = db.execute(f"SELECT value, start, coalesce(max(end), start), max({size}) FROM {table} JOIN StringIds ON id = textId GROUP BY value, globalTid, start")
                for name, *call in found:
                    out.setdefault(name, []).append(call)
        return out

    def check(self, path, found, sizes, rank):
        calls, export = self.calls(path), Export(path, None)
        self.assertEqual({r["function"] for r in found}, set(calls))
        for row in found:
            mine = calls[row["function"]]
            exposed = export.both(export.gaps, [(start, end) for start, end, _ in mine])
            self.assertEqual(int(row["call_count"]), len(mine))
            self.assertEqual(int(row["total_ns"]), sum(end - start for start, end, _ in mine))
            self.assertEqual(int(row["max_ns"]), max(end - start for start, end, _ in mine))
            self.assertEqual(int(row["exposed_ns"]), sum(end - start for start, end in exposed), row)
        sent = [call[2] for name in calls for call in calls[name] if call[2] is not None]
        self.assertEqual((sum(int(r["call_count"]) for r in sizes), sum(int(r["sent_bytes"]) for r in sizes)), (len(sent), sum(sent)))
        for row in sizes:
            below = int(row["below_bytes"]) if row["below_bytes"] else float("inf")
            self.assertTrue(int(row["from_bytes"]) * int(row["call_count"]) <= int(row["sent_bytes"]) < below * int(row["call_count"]), row)
        spans = export.union((start, end) for name in calls if name != "MPI_Init" for start, end, _ in calls[name])
        self.assertEqual(int(rank["mpi_ns"]), sum(end - start for start, end in spans))
        self.assertEqual(int(rank["mpi_exposed_ns"]), sum(end - start for start, end in export.both(export.gaps, spans)))

    def test_a_file_per_rank(self):
        paths = self.pair()
        out = ranks(paths)
        self.assertEqual([r["rank"] for r in rows(out, "ranks")], ["rank 0", "rank 1"])
        for number, path in enumerate(paths):
            of = lambda table: [r for r in rows(out, table) if r["rank"] == f"rank {number}"]
            self.check(path, of("rank_mpi"), of("rank_mpi_sizes"), of("ranks")[0])
        one, other = (sum(int(r["exposed_ns"]) for r in rows(out, "rank_mpi") if r["rank"] == name) for name in ("rank 0", "rank 1"))
        self.assertLess(other, one)
        page = (out / "ranks.html").read_text(encoding="utf-8")
        self.assertTrue("MPI_Waitall" in page and "Communicators" not in page and "matched collectives" not in page)

    def test_the_order_of_files_does_not_matter(self):
        one, other = self.pair()
        self.assertEqual(rows(ranks([one, other]), "rank_mpi"), rows(ranks([other, one]), "rank_mpi"))

    def test_the_order_of_rows_does_not_matter(self):
        """In all tables of both exports: the same files, but for the paths of the traces."""
        def files(paths):
            directory = str(paths[0].parent).encode()
            return {name: content.replace(directory, b"") for name, content in support.tree(ranks(paths)).items()}

        def beside_each_other(paths):
            directory = fresh_dir("job")
            return [shutil.copy(path, directory / f"rank{i}.sqlite") for i, path in enumerate(paths)]

        for paths in (self.pair(), traces(job("--ranks", 2, "--steps", 4))):
            found = files(beside_each_other(paths))
            self.assertIn("tables/rank_mpi.csv", found)
            self.assertEqual(files(beside_each_other(map(shuffled, paths))), found)

    def test_ranks_without_a_number_are_named_by_their_files(self):
        one, other = self.pair("DELETE FROM MPI_RANKS")
        first, second = one.rename(one.with_name("a.sqlite")), other.rename(other.with_name("b.sqlite"))
        self.assertEqual([r["rank"] for r in rows(ranks([second, first]), "ranks")], ["a", "b"])

    def test_the_rank_that_computes_longest_is_named(self):
        """All ranks in one export; its kernels take 800 us where the others' take 500."""
        out = ranks([trace("mpi-ranks")])
        text = result(out)["text"]
        self.assertIn("2.20 ms (rank 2)", text)
        self.assertIn("kernels of rank 2 take 60.0 % longer", text)
        self.assertEqual(result(out)["verdict"], "no_collectives")

    LATE = {0: 0, 1: 5_000_000, 2: 3_000_000}  # by so much the clocks of the files began earlier

    def files_of_ranks(self, scenario, *more, boot=1_767_000_000_000_000_000):
        """A scenario of one export as an export per rank, whose clocks began at different times."""
        directory = fresh_dir("job")
        for rank, early in self.LATE.items():
            path = edited(scenario, *more).rename(directory / f"rank{rank}.sqlite")
            with contextlib.closing(sqlite3.connect(path)) as db, db:
                pid = db.execute("SELECT (globalTid >> 24) & 0xffffff FROM MPI_RANKS WHERE rank = ?", (rank,)).fetchone()[0]
                for table, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                    columns = {c[1] for c in db.execute(f"PRAGMA table_info({table})")}
                    for column in columns & {"globalTid", "globalPid"}:
                        db.execute(f"DELETE FROM {table} WHERE ({column} >> 24) & 0xffffff != ?", (pid,))
                    for column in columns & {"start", "end", "timestamp"}:
                        db.execute(f"UPDATE {table} SET {column} = {column} + ?", (early,))
                db.execute("DELETE FROM MPI_COMMUNICATORS WHERE rank != ?", (rank,))
                clock = 50_000_000_000 - early
                db.execute("UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = ?, systemClockNs = ?", (boot + clock, clock))
        return traces(directory)

    def pairs_of(self, paths):
        out = ranks(paths)
        return out, {(r["peer"][-1], r["rank"][-1]): r for r in rows(out, "rank_mpi_pairs")}

    def test_late_senders_across_files(self):
        """As in one export, though clocks differ by 5 ms: rank 1 sends 20 messages 300 us late; the same where it sends in time."""
        fact = next(f for f in support.truth(trace("mpi-late"))["facts"] if f["table"] == "mpi_pairs" and f["key"] == "1")
        for files in (self.files_of_ranks("mpi-late"), [trace("mpi-late")]):
            out, pairs = self.pairs_of(files)
            self.assertEqual(set(pairs), {("1", "0"), ("2", "0")})
            late = pairs["1", "0"]
            self.assertEqual((int(late["message_count"]), int(late["late_send_count"])), (fact["count"], fact["count"]))
            self.assertEqual((int(late["late_send_ns"]), int(late["late_send_idle_ns"])), (fact["exact_ns"], fact["gain_ns"]))
            self.assertEqual((int(late["longest_ns"]), int(pairs["2", "0"]["late_send_count"])), (300_000, 0))
            self.assertEqual(int(pairs["2", "0"]["late_receive_ns"]), 20 * 300_000)
            self.assertIn("rank 0 waits 6.00 ms for messages that rank 1 sends late", result(out)["text"])
            self.assertIn("Late MPI senders", (out / "ranks.html").read_text(encoding="utf-8"))
        out, pairs = self.pairs_of(self.files_of_ranks("mpi-on-time"))
        self.assertEqual({r["late_send_count"] for r in pairs.values()}, {"0"})
        self.assertNotIn("sends late", result(out)["text"])

    def test_collectives_of_mpi_across_files(self):
        """As in one export, though nothing tells how the clocks of the hosts stand."""
        one, split = (rows(ranks(paths), "rank_mpi_collectives") for paths in
                      ([trace("mpi-ranks")], self.files_of_ranks("mpi-ranks", "UPDATE TARGET_INFO_SYSTEM_ENV SET value = hex(randomblob(8)) WHERE name = 'Hostname'")))
        for found, others in ((one, (0, 1, 3)), (split, (0, 1))):  # of rank 3 there is no file
            self.assertEqual({r["rank"]: (r["wait_ns"], r["wait_idle_ns"], r["late_count"], r["caused_wait_ns"]) for r in found},
                             {**{f"rank {n}": ("6000000", "5700000", "0", "0") for n in others}, "rank 2": ("0", "0", "20", str(6_000_000 * len(others)))})
        self.assertIn("Late in collectives: rank 2 arrives last at 20 of 20 calls of MPI_Barrier; the others wait 18.0 ms", result(ranks([trace("mpi-ranks")]))["text"])
        self.assertNotIn("Late in collectives", result(ranks([trace("mpi-hidden")]))["text"])

    def test_how_idle_differs_by_rank(self):
        """Rank 2 computes for 800 us of each ms, the others for 500; where all compute as long, nothing is said. By the table: idle time, in MPI or not."""
        for scenario, said in (("mpi-ranks", True), ("mpi-hidden", False)):
            out = ranks([trace(scenario)])
            idle, span = collections.Counter(), collections.Counter()
            for r in rows(out, "rank_timeline"):
                idle[r["rank"]] += int(r["idle_ns"]) + int(r["mpi_ns"])
                span[r["rank"]] += sum(int(r[f"{state}_ns"]) for state in ("compute", "wait", "transfer", "copy", "mpi", "idle"))
            self.assertEqual(10 * (max(idle.values()) - min(idle.values())) >= max(span.values()), said)
            words = "GPUs are unevenly idle: 3.80 ms on rank 2, 9.50 ms on rank 0, a difference of 28.8 % of the time."
            self.assertEqual(words in result(out)["caveats"], said)

    def test_clocks_that_nothing_relates(self):
        for edits, said in ((("UPDATE TARGET_INFO_SYSTEM_ENV SET value = hex(randomblob(8)) WHERE name = 'Hostname'",), True), ((), False)):
            self.assertEqual("traces are unrelated to the others" in str(result(ranks(self.files_of_ranks("mpi-late", *edits)))["caveats"]), said)

    def test_mpi_on_the_timeline(self):
        """Of each rank its calls, by the common clock; rows of a call's requests are one. In the map: MPI only while the GPU idles."""
        paths, file = self.files_of_ranks("mpi-late"), fresh_dir() / "t.pftrace"
        out, found = ranks(paths, "--timeline", file), {}
        t = perfetto_reader.Trace(file.read_bytes())
        for s in t.slices:
            if t.tracks[s.track]["name"] == "MPI":
                found.setdefault(t.root(s.track)["name"].partition(" \u00b7 ")[0], []).append((s.start, s.name, s.end - s.start))
        begins = {}
        for rank, path in enumerate(paths):
            calls = sorted({(start, name, end - start) for name, rows_of in self.calls(path).items() for start, end, _ in rows_of if end > start})
            shown = sorted(found[f"rank {rank}"])
            begins[rank] = shown[0][0] - calls[0][0]
            self.assertEqual([(start - begins[rank], *rest) for start, *rest in shown], calls)
            with contextlib.closing(sqlite3.connect(path)) as db:
                ops = db.execute('select start, "end" from CUPTI_ACTIVITY_KIND_KERNEL').fetchall()  # it copies nothing
            first, last = min(op[0] for op in ops), max(op[1] for op in ops)
            edges = sorted({at for span in ops for at in span} | {at for start, _, ns in calls for at in (start, start + ns) if first <= at <= last})
            idle = sum(b - a for a, b in zip(edges, edges[1:]) if not any(x <= a and b <= y for x, y in ops)
                       and any(x <= a and b <= x + ns for x, _, ns in calls))
            self.assertGreater(idle, 0)
            self.assertEqual(sum(int(r["mpi_ns"]) for r in rows(out, "rank_timeline") if r["rank"] == f"rank {rank}"), idle)
        self.assertEqual({rank: begins[0] - begins[rank] for rank in begins}, self.LATE)
        self.assertIn("key mpi", (out / "ranks.html").read_text(encoding="utf-8"))

    def test_no_late_sender_without_a_clock(self):
        """Nothing tells how the clocks of two hosts stand; a wildcard on the receiver tells of no pair."""
        for edit in ("UPDATE TARGET_INFO_SYSTEM_ENV SET value = hex(randomblob(8)) WHERE name = 'Hostname'",
                     "UPDATE MPI_P2P_EVENTS SET remoteRank = -2 WHERE textId = (SELECT id FROM StringIds WHERE value = 'MPI_Irecv')"):
            with self.subTest(edit):
                self.assertNotIn(("1", "0"), self.pairs_of(self.files_of_ranks("mpi-late", edit))[1])

    def test_efficiencies_of_all_ranks(self):
        """Of a file per rank as of one export of all, and by hand from their processes."""
        one, split = (rows(ranks(paths), "mpi_efficiency") for paths in ([trace("mpi-late")], self.files_of_ranks("mpi-late")))
        self.assertEqual(one, split)
        useful, spans = [], []
        for path in self.files_of_ranks("mpi-late"):
            calls = [(start, end) for name, found in self.calls(path).items() for start, end, _ in found]
            spans.append(max(end for _, end in calls) - min(start for start, _ in calls))
            useful.append(spans[-1] - sum(end - start for start, end in Export(path, None).union(calls)))
        self.assertAlmostEqual(float(one[0]["load_balance_pct"]), 100 * sum(useful) / 3 / max(useful), places=4)
        self.assertAlmostEqual(float(one[0]["communication_efficiency_pct"]), 100 * max(useful) / max(spans), places=4)
        self.assertAlmostEqual(float(one[0]["parallel_efficiency_pct"]), 100 * sum(useful) / 3 / max(spans), places=4)

    def test_one_rank_is_no_job(self):
        done = run("ranks", trace("mpi"), "-q", "--out", fresh_dir() / "o")
        self.assertEqual((done.returncode, "only one rank" in done.stderr), (3, True), done.stderr)

    def test_beside_collectives(self):
        """Who is late stays the question; MPI is told of the rank that calls it."""
        directory = job("--ranks", 2, "--steps", 4)
        plain = result(ranks(traces(directory)))
        with contextlib.closing(sqlite3.connect(traces(directory)[1])) as db, db:
            db.execute("CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, textId INTEGER, size INTEGER)")
            db.execute("INSERT INTO StringIds VALUES (987654, 'MPI_Allreduce')")
            db.execute("INSERT INTO MPI_COLLECTIVES_EVENTS SELECT min(start), min(start) + 5000, globalTid, 987654, 64 FROM CUPTI_ACTIVITY_KIND_RUNTIME")
        out = ranks(traces(directory))
        self.assertEqual([(r["rank"], r["function"], r["total_ns"]) for r in rows(out, "rank_mpi")], [("rank 1", "MPI_Allreduce", "5000")])
        self.assertEqual([r["mpi_ns"] for r in rows(out, "ranks")], ["", "5000"])
        self.assertEqual(result(out)["text"], plain["text"])


class Output(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.job = job("--ranks", 4, "--steps", 10, "--straggler", "persistent", "--no-init")
        cls.out = ranks(traces(cls.job), "--rank-after", "rank")

    def test_first_line(self):
        first = (self.out / "ranks.md").read_text(encoding="utf-8").splitlines()[0]
        self.assertEqual(first, f"**{result(self.out)['text']}**")
        self.assertRegex(first, r"rank 1 is late: .* \d+ of 40 collectives .* ± ")
        doubts = {int(r["clock_doubt_ns"]) for r in rows(self.out, "ranks") if r["clock_offset_ns"] not in ("0", "")}
        self.assertGreaterEqual(min(doubts), 32)  # steps of a GPU's clock

    def test_order_of_operands_and_runs(self):
        """Neither the order in which traces are given nor whether they are analyzed before makes a difference."""
        again = ranks(list(reversed(traces(self.job))), "--rank-after", "rank")
        self.assertEqual(support.tree(again), support.tree(self.out))
        runs = []
        for trace in traces(self.job):
            runs.append(fresh_dir("run") / trace.stem)
            support.analyze(trace, out=runs[-1])
        again = result(ranks(runs, "--rank-after", "rank"))
        self.assertEqual(again["map"], result(self.out)["map"])
        self.assertEqual(again["text"], result(self.out)["text"])

    def test_ranks_lead_to_the_reports_of_their_runs(self):
        """From where the page is; a trace that was analyzed on the way has no report to lead to."""
        where = fresh_dir("linked")
        for trace in traces(self.job)[:2]:
            support.analyze(trace, out=where / f"run #{trace.stem}")
        done = support.run("ranks", *sorted(where.iterdir()), *traces(self.job)[2:], "--out", where / "deep" / "job", "-q")
        self.assertIn(done.returncode, (0, 7), done.stderr)
        page = (where / "deep" / "job" / "ranks.html").read_text(encoding="utf-8")
        links = re.findall(r'<td><a href="([^"]*)">', page)
        self.assertEqual(len(links), 2)
        for link in links:
            self.assertTrue((where / "deep" / "job" / urllib.parse.unquote(link)).is_file(), link)

    def test_waits_and_columns_lead_to_their_time(self):
        """Of the rank's own clock: to the kernel that waited, to what the last rank did meanwhile, to columns of the map."""
        where = fresh_dir("times")
        kernels = {}
        for trace in traces(self.job):
            support.analyze(trace, out=where / trace.stem)
            with contextlib.closing(sqlite3.connect(trace)) as db:
                kernels[trace.stem] = set(db.execute('select k.start, k."end" from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.shortName where s.value like "nccl%"'))
        out = ranks(sorted(where.iterdir()))
        page = (out / "ranks.html").read_text(encoding="utf-8")
        found = {(r["group"], r["number"]): r for r in rows(out, "collectives")}
        waits = re.findall(r'<tr id="collective-(\d+)-(\d+)".*?</tr>', page)
        self.assertEqual(len(waits), 10)
        edges = {stem: (int(a), int(b)) for stem, a, b in re.findall(r'<a class="rank" href="[^"]*?(\w+)/report\.html" data-from="(\d+)" data-to="(\d+)"', page)}
        self.assertEqual(edges.keys(), kernels.keys())
        width = 120 * int(rows(out, "rank_timeline")[1]["start_ns"])
        late = 0
        for group, number in waits:
            row = re.search(rf'<tr id="collective-{group}-{number}".*?</tr>', page).group()
            links = [(stem, int(a), int(b)) for stem, a, b in re.findall(r'href="[^"]*?(\w+)/report\.html#v=timeline&amp;r=@(\d+)~(\d+)"', row)]
            told = found[group, number]
            stem, start, end = links[0]
            self.assertIn((start, end), kernels[stem])
            self.assertEqual(end - start - int(told["transfer_ns"]), int(told["skew_ns"]))
            ends = [width * (end - edges[stem][0]) / (edges[stem][1] - edges[stem][0]) for stem, _, end in links]
            for stem, start, end in links[1:]:
                late += 1
                self.assertEqual(stem[-1], told["late_rank"][-1])
                self.assertIn((start + int(told["skew_ns"]), end), kernels[stem])
                self.assertAlmostEqual(ends[0], ends[1], delta=1000, msg="a collective ends at one place of the map")
        self.assertGreater(late, 0)

    def test_names_are_ordered_by_their_numbers(self):
        directory = fresh_dir("names")
        names = ["node9-gpu2", "node10-gpu1", "node9-gpu10", "a|b<script>"]
        for trace, name in zip(traces(self.job), names):
            shutil.copy(trace, directory / f"{name}.sqlite")
        out = ranks([directory / f"{name}.sqlite" for name in names])
        self.assertEqual([r["rank"] for r in rows(out, "ranks")], ["a|b<script>", "node9-gpu2", "node9-gpu10", "node10-gpu1"])
        self.assertEqual([r["rank_number"] for r in rows(out, "ranks")], [""] * 4)
        self.assertNotIn("b<script>", (out / "ranks.html").read_text(encoding="utf-8"))
        self.assertNotIn("a|b", (out / "ranks.md").read_text(encoding="utf-8"))

    def test_page(self):
        page = (self.out / "ranks.html").read_text(encoding="utf-8")
        for style in re.findall(r"<(?:style|script)>(.*?)</", page, re.S):
            digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
            self.assertIn(f"'sha256-{digest}'", page.replace("&#43;", "+"), f"write {digest} to the .sha256 in templates/many")
        self.assertEqual(page.count("<script"), 1)
        self.assertNotRegex(page, r"\son\w+=|https?://(?!www\.w3\.org)")
        late, waited, _ = re.findall(r'<svg class="map.*?</svg>', page, re.S)
        self.assertEqual(late.count("<title>rank 1, step"), 10)
        self.assertEqual(late.count("<title>"), 10)
        self.assertEqual(waited.count("<title>rank 1, step"), 0)

    def test_schema(self):
        published.check(self, "ranks", result(self.out))

    def test_replaces_its_own_directory_only(self):
        out = fresh_dir("ranks") / "out"
        out.mkdir()
        (out / "mine.txt").write_text("kept")
        run("ranks", *traces(self.job), "--out", out)
        self.assertEqual((out / "mine.txt").read_text() if (out / "mine.txt").exists() else None, "kept")


@unittest.skipUnless((SHARED / "traces/fsdp_2gpu.sqlite").exists(), "no reference traces")
class Real(unittest.TestCase):
    def test_two_gpus_in_one_trace(self):
        """The exchanges of the two GPUs, paired one by one from the raw rows."""
        path = SHARED / "traces/fsdp_2gpu.sqlite"
        out = ranks([path])
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            found = db.execute("SELECT deviceId, start, end FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.shortName "
                               "WHERE s.value LIKE 'nccl%SendRecv%' ORDER BY start").fetchall()
        a, b = ([r for r in found if r[0] == gpu] for gpu in (0, 1))
        self.assertEqual((len(a), len(b)), (33, 33))
        ends = [y[2] - x[2] for x, y in zip(a, b)]
        durations = [(x[2] - x[1], y[2] - y[1]) for x, y in zip(a, b)]
        table = rows(out, "ranks")
        self.assertEqual([int(r["wait_ns"]) for r in table], [sum(d[i] - min(d) for d in durations) for i in (0, 1)])
        self.assertEqual({int(r["transfer_ns"]) for r in table}, {sum(map(min, durations))})
        self.assertEqual(int(table[1]["clock_offset_ns"]), statistics.median(ends))
        # Neither GPU leaves an exchange before the other is in it; the drift moves that by a fraction of a µs.
        self.assertAlmostEqual(int(table[1]["clock_low_ns"]), max(y[1] - x[2] for x, y in zip(a, b)), delta=300)
        self.assertAlmostEqual(int(table[1]["clock_high_ns"]), min(y[2] - x[1] for x, y in zip(a, b)), delta=300)
        doubt = 3 * int(table[1]["clock_doubt_ns"])
        late = [d.index(min(d)) for d in durations if abs(d[0] - d[1]) >= max(2000, min(d) // 50, doubt)]
        self.assertEqual([int(r["late_count"]) for r in table], [late.count(0), late.count(1)])
        self.assertEqual(sum(int(r["skew_ns"]) for r in rows(out, "collectives")), sum(abs(x - y) for x, y in durations))

    def test_two_traces_of_them(self):
        """The export cut in two, a GPU and a clock each: the same answer, by when collectives end alone."""
        directory, ahead = fresh_dir("split"), 123456789
        for gpu in (0, 1):
            path = directory / f"gpu{gpu}.sqlite"
            shutil.copy(SHARED / "traces/fsdp_2gpu.sqlite", path)
            path.chmod(0o644)
            with contextlib.closing(sqlite3.connect(path)) as db:
                of_gpu = f"SELECT DISTINCT globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE deviceId = {gpu}"
                for table in ("MEMCPY", "MEMSET", "SYNCHRONIZATION", "KERNEL"):
                    db.execute(f"DELETE FROM CUPTI_ACTIVITY_KIND_{table} WHERE globalPid NOT IN ({of_gpu})")
                for table in ("MEMCPY", "MEMSET", "SYNCHRONIZATION", "KERNEL", "RUNTIME"):
                    db.execute(f"UPDATE CUPTI_ACTIVITY_KIND_{table} SET start = start + ?, end = end + ?", (gpu * ahead, gpu * ahead))
                db.commit()
        whole, cut = rows(ranks([SHARED / "traces/fsdp_2gpu.sqlite"]), "ranks"), ranks(traces(directory))
        self.assertEqual({r["method"] for r in rows(cut, "rank_communicators")}, {"reference", "ends"})
        for one, other in zip(whole, rows(cut, "ranks")):
            for key in ("wait_ns", "transfer_ns", "late_count", "late_by_ns", "behind_ns", "behind_with", "behind_with_ns"):
                self.assertEqual(one[key], other[key], key)
        self.assertEqual(int(rows(cut, "ranks")[1]["clock_offset_ns"]), int(whole[1]["clock_offset_ns"]) + ahead)


if __name__ == "__main__":
    support.main()
