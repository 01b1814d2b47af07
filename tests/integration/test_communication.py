"""Collectives: exact against the generator's plan, sums against gpu_utilization on every trace, and exposure, waits and
transfers of the real exports recomputed here from their rows."""
import contextlib
import re
import shutil
import sqlite3
import statistics
import struct
import unittest

import support
from support import SHARED, artifacts, read_csv, report, trace, truth

TRACES = SHARED / "traces"
SCENARIOS = ("collectives", "collectives-skewed", "collectives-graph", "grouped-sends", "collectives-advanced")


def rows(path, table, *options):
    return read_csv(artifacts(path, *options), table)


def spread_payloads(db):
    """Does to an export what `nsys export --dynamic-tables=all` does, after the schema of 2026.4: payloads become rows of a
    table of their process, domain and schema, with a column per field. Returns how many there were."""
    entries = {}
    for domain, schema, name, kind, offset in db.execute(
            "SELECT DISTINCT domainId, schemaId, name, type, coalesce(offset, 0) FROM NVTX_PAYLOAD_SCHEMA_ENTRIES"):
        entries.setdefault((domain, schema), []).append((name, kind, offset))
    events = db.execute("SELECT rowid, globalTid, binaryData FROM NVTX_EVENTS WHERE binaryData IS NOT NULL").fetchall()
    names, = db.execute("SELECT group_concat(name) FROM pragma_table_info('NVTX_EVENTS')").fetchone()
    db.execute(f"CREATE TABLE new AS SELECT rowid AS eventId, {names} FROM NVTX_EVENTS")
    db.execute("DROP TABLE NVTX_EVENTS")
    db.execute(f"CREATE TABLE NVTX_EVENTS ({names}, eventId INTEGER NOT NULL PRIMARY KEY)")
    db.execute(f"INSERT INTO NVTX_EVENTS ({names}, eventId) SELECT {names}, eventId FROM new")
    db.execute("UPDATE NVTX_EVENTS SET binaryData = NULL")
    db.execute("DROP TABLE new")
    db.execute("CREATE TABLE NVTX_EXPORT_TRANSLATION (originalName TEXT NOT NULL, sanitizedName TEXT NOT NULL)")
    db.execute("CREATE TABLE NVTX_EVENTS_PAYLOAD_SCHEMAS (eventId INTEGER NOT NULL, globalPid INTEGER NOT NULL, "
               "domainId INTEGER NOT NULL, payloadSchemaID INTEGER NOT NULL)")
    db.executemany("INSERT INTO NVTX_EXPORT_TRANSLATION VALUES (?, ?)",
                   {(name, re.sub(r"\W+", "_", name)) for fields in entries.values() for name, *_ in fields if re.search(r"\W", name)})
    count = 0
    for event, thread, blob in events:
        domain, schema, size = struct.unpack_from("<I4xI4xQ", blob)
        fields, process = entries.get((domain, schema)), thread & ~0xFFFFFF
        if not fields or 32 + size > len(blob) or any(32 + o + (8 if k in (17, 18, 22) else 4) > len(blob) for _, k, o in fields):
            continue
        values = [struct.unpack_from("<q" if kind in (17, 18, 22) else "<i", blob, 32 + offset)[0] for _, kind, offset in fields]
        table = f"DYNAMIC_NVTXPAYLOAD_DATATYPE_{process}_{domain}_{schema}"
        columns = ", ".join(re.sub(r"\W+", "_", name) + " INTEGER" for name, *_ in fields)
        db.execute(f"CREATE TABLE IF NOT EXISTS {table} (eventId INTEGER NOT NULL, {columns})")
        db.execute(f"INSERT INTO {table} VALUES ({event}, {', '.join(map(str, values))})")
        db.execute("INSERT INTO NVTX_EVENTS_PAYLOAD_SCHEMAS VALUES (?, ?, ?, ?)", (event, process, domain, schema))
        count += 1
    return count


class Generated(unittest.TestCase):
    def test_waits_and_transfers_are_those_of_the_plan(self):
        for scenario in SCENARIOS:
            path = trace(scenario)
            found = {(int(r["device_id"]), r["op"]): r for r in rows(path, "comm_ops")}
            planned = truth(path)["collectives"]
            self.assertEqual(len(found), len(planned))
            for wanted in planned:
                row = found[wanted["gpu"], wanted["op"]]
                for key, column in (("count", "kernel_count"), ("total_ns", "total_time_ns"), ("wait_ns", "wait_ns"),
                                    ("transfer_ns", "transfer_ns"), ("bytes", "total_bytes")):
                    self.assertEqual(int(row[column]), wanted[key], (scenario, wanted["gpu"], wanted["op"], column))
                self.assertEqual(int(row["matched_count"]), wanted["count"])

    def test_the_clock_is_corrected(self):
        for scenario, shift in zip(SCENARIOS[:2], ("0.000", "37.000")):
            found = {r["device_id"]: r for r in rows(trace(scenario), "comm_ranks")}
            self.assertEqual(found["0"]["clock_correction_us"], "0.000")
            self.assertEqual(found["1"]["clock_correction_us"], shift)
            self.assertEqual((found["0"]["rank"], found["1"]["rank"]), ("0", "1"))
            self.assertEqual((found["0"]["waits_for_device_id"], found["1"]["waits_for_device_id"]), ("1", "0"))
            self.assertEqual((found["0"]["late_count"], found["1"]["late_count"]), ("12", "12"))
            self.assertTrue(found["1"]["behind_with"].startswith("void softmax_warp_forward"))

    def test_sizes_and_rates(self):
        found = {}
        for row in rows(trace("collectives"), "comm_instances"):
            found.setdefault(row["op"], set()).add(
                (row["calls"], row["message_bytes"], row["rank_count"], row["communicator"], row["algbw"], row["busbw"]))
        comm = "0xabcdef0123456789"
        self.assertEqual(found, {
            "AllReduce": {("AllReduce", "300000000", "2", comm, "1000.000000", "1000.000000")},
            "SendRecv": {("Send x2, Recv x2", str(8 << 20), "2", comm, "83.886080", "83.886080")},
            "AllGather": {("AllGather", str(1 << 20), "2", comm, "3.615779", "1.807890")}})
        capture, = rows(trace("collectives"), "comm_capture")
        # Per rank one payload that is cut off and one of a schema nobody described.
        self.assertEqual((capture["sized_count"], capture["refused_count"], capture["group_count"], capture["command"]),
                         ("72", "4", "24", ""))

    def test_what_a_communicator_is_for(self):
        """By ranges around its calls, or the name of its stream; two purposes, half of them, and what contradicts itself."""
        def within(name, *functions, every=1):
            listed = ", ".join(f"'{f}'" for f in functions)
            return (f"INSERT INTO NVTX_EVENTS (start, end, eventType, text, domainId, globalTid) SELECT start - 100, end + 100, 59, '{name}', 0, globalTid FROM NVTX_EVENTS "
                    f"WHERE textId IN (SELECT id FROM StringIds WHERE value IN ({listed})) AND end - start > 1000 AND rowid % {every} = 0")

        def stream(name):
            columns = "processId, contextId, streamId"
            kernels = "SELECT DISTINCT (globalPid >> 24) & 0xffffff, contextId, streamId FROM CUPTI_ACTIVITY_KIND_KERNEL"
            return ("CREATE TABLE IF NOT EXISTS TARGET_INFO_NVTX_CUDA_STREAM (name TEXT, hwId INTEGER, vmId INTEGER, processId INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER)",
                    f"INSERT INTO TARGET_INFO_NVTX_CUDA_STREAM (name, hwId, vmId, deviceId, {columns}) SELECT '{name}', 0, 0, 0, * FROM ({kernels})")

        every = ("ncclAllReduce", "ncclAllGather", "ncclGroupEnd")
        # all processes there are, whatever for; not where one may be missing, or nothing tells whether
        size, init = "UPDATE NVTX_EVENTS SET binaryData = CAST(substr(binaryData, 1, 40) || x'04' || substr(binaryData, 42) AS BLOB) WHERE ", "textId IN (SELECT id FROM StringIds WHERE value = 'ncclCommInitRankConfig')"
        for edit, wanted in ((None, ("world", "members")), (size + init, ("", "unknown")), (f"DELETE FROM NVTX_EVENTS WHERE {init}", ("", "unknown"))):
            found = rows(support.edited("collectives", *([edit] if edit else [])), "communicators")
            self.assertEqual({(r["purpose"], r["confidence"]) for r in found}, {wanted}, edit)
        whole = ("world", "members")
        for edits, wanted in (((), whole),
                              ((within("layer.linear_proj", *every),), ("tensor", "likely")),  # sends and receives are not tensor parallelism
                              ((within("DistributedDataParallel.forward", *every),), ("data", "called")),
                              ((within("DistributedDataParallel.forward", "ncclAllReduce", "ncclAllGather"),), ("data", "likely")),
                              ((within("FSDP::post_backward_reduce", "ncclAllReduce"),), whole),
                              ((within("FSDP::post_backward_reduce", *every[:2]), within("send_forward", every[2])), ("data (replicas) and data (shards)", "likely")),
                              (stream("TENSOR_MODEL_PARALLEL_GROUP"), ("tensor", "named")),
                              (stream("my stream"), whole),
                              ((*stream("TENSOR_MODEL_PARALLEL_GROUP"), within("send_forward", *every)), ("", "conflict"))):
            found = rows(support.edited("collectives", *edits), "communicators")
            self.assertEqual({(r["purpose"], r["confidence"]) for r in found}, {wanted}, edits)
            self.assertEqual(all(r["evidence"] for r in found), wanted[1] != "unknown")
            said = str(next(f for f in report(artifacts(support.edited("collectives", *edits))).json["findings"] if f["id"] == "exposed-communication"))
            self.assertEqual("parallelism" in said, wanted[1] in ("named", "called"), edits)

    def test_names_that_programs_give(self):
        """Of -t nccl: the category of its ranges, in NCCL's domain of its process; before the name of its stream."""
        for edits, name, wanted in (((), "CONTEXT_PARALLEL_GROUP", ("context", "named", "name CONTEXT_PARALLEL_GROUP")),
                                    (("UPDATE NVTX_EVENTS SET text = 'my_pg' WHERE eventType = 33",), "my_pg", ("world", "members", "all 2 ranks, and no communicator reaches others")),
                                    (("UPDATE NVTX_EVENTS SET category = NULL WHERE eventType <> 33",), "", ("world", "members", "all 2 ranks, and no communicator reaches others"))):
            found = rows(support.edited("collectives-advanced", *edits), "communicators")
            self.assertEqual({(r["name"], r["purpose"], r["confidence"], r["evidence"]) for r in found}, {(name, *wanted)})
        self.assertEqual({r["name"] for r in rows(trace("collectives"), "communicators")}, {""})

    def test_purposes_that_the_user_tells(self):
        """By size, members and streams, before any other evidence; what no pattern names stays as it is."""
        file = support.fresh_dir("told") / "names.yaml"
        path = trace("collectives")
        for pattern, wanted in (("re:^size 2; 0: GPU 0, 1: GPU 1; stream \\\\d+$", ["expert"] * 2), ("; stream 28", ["world", "expert"]), ("size 3", ["world"] * 2)):
            file.write_text(f'expert: ["{pattern}"]\n')
            found = sorted(read_csv(support.analyze(path, "--comm-names", file), "communicators"), key=lambda r: r["device_id"])
            self.assertEqual([r["purpose"] for r in found], wanted, pattern)
            self.assertEqual({r["confidence"] for r in found if r["purpose"] != "world"} - {"told"}, set())
        file.write_text('x: ["re:("]\n')
        done = support.run("analyze", path, "--comm-names", file, "--out", file.parent / "out")
        self.assertEqual(done.returncode, 2)
        self.assertIn("names.yaml:1:10: bad regular expression", done.stderr)

    def test_losses_are_not_under_ranges_of_nccl(self):
        """They say what is called, not where: what encloses them is named."""
        around = ("INSERT INTO NVTX_EVENTS (start, end, eventType, text, domainId, globalTid) SELECT start - 100, end + 100, 59, 'backward', 0, globalTid FROM NVTX_EVENTS "
                  "WHERE textId IN (SELECT id FROM StringIds WHERE value IN ({}))")
        for scenario, name in (("collectives", "'ncclAllReduce'"), ("collectives-advanced", "'GroupLaunch'")):
            for edits, wanted in (((), set()), ((around.format(name),), {"backward"})):
                found = rows(support.edited(scenario, *edits), "range_losses")
                self.assertEqual({r["range_name"] for r in found if r["loss"] == "exposed_communication"}, wanted, scenario)

    def test_operations_on_the_gpu(self):
        """What -t nccl records of two channels lies inside the kernel, to the microsecond; of calls whose numbers are not there nothing is known."""
        found = rows(trace("collectives-advanced"), "comm_instances")
        self.assertEqual({r["channel_count"] for r in found}, {"2"})
        for r in found:
            self.assertLess(abs(int(r["gpu_start_ns"]) - int(r["start_ns"])) + abs(int(r["gpu_end_ns"]) - int(r["end_ns"])), 2000, r)
        other = support.edited("collectives-advanced", "UPDATE NVTX_EVENTS SET jsonText = replace(jsonText, '\"apiId\":1,', '\"apiId\":9999999,') WHERE jsonText NOT LIKE '%apiGroupId%'")
        for path in (trace("collectives"), other):
            first = min(rows(path, "comm_instances"), key=lambda r: int(r["start_ns"]))
            self.assertEqual((first["channel_count"], first["gpu_start_ns"]), ("", ""))

    def test_what_the_framework_calls_it(self):
        """By the innermost of its ranges around the call, without the number of the call."""
        around = ("INSERT INTO NVTX_EVENTS (start, end, eventType, text, domainId, globalTid) SELECT start - 100 * {0}, end + 100 * {0}, 59, '{1}, op_id = ' || rowid, 0, globalTid "
                  "FROM NVTX_EVENTS WHERE textId = (SELECT id FROM StringIds WHERE value = 'ncclGroupEnd') AND end - start > 1000")
        path = support.edited("collectives", around.format(1, "nccl:all_to_all"), around.format(2, "nccl:coalesced"))
        for table in ("comm_instances", "comm_ops"):
            self.assertEqual({(r["op"], r["framework_op"]) for r in rows(path, table)}, {("AllReduce", ""), ("AllGather", ""), ("SendRecv", "nccl:all_to_all")})

    def test_skew_is_not_bandwidth(self):
        """The straggler finding has the rate once all ranks are there: three quarters of the kernels' time is waiting, 1,000 GB/s of the rest."""
        said = str(next(f for f in report(artifacts(trace("collectives"))).json["findings"] if f["id"] == "waiting-not-transferring"))
        self.assertIn("AllReduce of 256.0 MiB and more: 1000.0 GB/s on the bus once all are there (median), 12.0 ms waiting", said)

    def test_messages_by_size(self):
        """Each operation has one size, in the bin that the plan's bytes per message fall into."""
        path = trace("collectives")
        planned = {(e["gpu"], e["op"], e["count"], e["bytes"], e["total_ns"], e["wait_ns"]) for e in truth(path)["collectives"]}
        found = rows(path, "comm_sizes")
        self.assertEqual({(int(r["device_id"]), r["op"], int(r["kernel_count"]), int(r["total_bytes"]), support.ns_of_ms(r["total_time_ms"]),
                           support.ns_of_ms(r["wait_ms"])) for r in found}, planned)
        for r in found:
            self.assertTrue(int(r["from_bytes"]) <= int(r["total_bytes"]) / int(r["kernel_count"]) < int(r["below_bytes"]) == 2 * int(r["from_bytes"]))
        by_gpu = {int(r["device_id"]): (int(r["kernel_count"]), r["communicator"], r["rank_count"]) for r in rows(path, "communicators")}
        self.assertEqual(by_gpu, {gpu: (36, "0xabcdef0123456789", "2") for gpu in (0, 1)})
        for table in ("comm_sizes", "communicators"):
            self.assertEqual(rows(trace("training"), table), [])

    def test_a_message_to_oneself_is_not_on_the_link(self):
        """Two messages of 16 MiB each way in 256 us, one of them to the own rank: 65.5 GB/s, not 131."""
        found = {(r["calls"], r["message_bytes"], r["sent_bytes"], r["received_bytes"], r["self_bytes"], r["busbw"])
                 for r in rows(trace("grouped-sends"), "comm_instances")}
        part = str(16 << 20)
        self.assertEqual(found, {("Send x2, Recv x2", part, part, part, part, f"{(16 << 20) / 256000:.6f}")})
        # Without an initialization nothing tells which rank is the own one: all bytes count, and none is said to stay.
        path = support.fresh_dir("no-init") / "grouped-sends.sqlite"
        shutil.copyfile(trace("grouped-sends"), path)
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            db.execute("DELETE FROM NVTX_EVENTS WHERE textId IN (SELECT id FROM StringIds WHERE value = 'ncclCommInitRankConfig')")
        found = {(r["message_bytes"], r["self_bytes"]) for r in rows(path, "comm_instances")}
        self.assertEqual(found, {(str(32 << 20), "")})

    def test_who_sends_to_whom(self):
        """Messages by process and peer against the payloads in the export. The kernel of a group has all of its group's."""
        for scenario in ("collectives", "grouped-sends"):
            with contextlib.closing(sqlite3.connect(f"file:{trace(scenario)}?mode=ro", uri=True)) as db:
                fields = {(d, s, n): o for d, s, n, o in db.execute(
                    "SELECT domainId, schemaId, name, coalesce(offset, 0) FROM NVTX_PAYLOAD_SCHEMA_ENTRIES")}
                wanted = {}
                for name, thread, blob in db.execute("SELECT s.value, globalTid, binaryData FROM NVTX_EVENTS JOIN StringIds s ON s.id = textId "
                                                     "WHERE s.value IN ('ncclSend', 'ncclRecv') AND binaryData IS NOT NULL"):
                    domain, schema = struct.unpack_from("<I4xI", blob)
                    at = {n: o for (d, s, n), o in fields.items() if (d, s) == (domain, schema)}
                    size, = struct.unpack_from("<q", blob, 32 + next(o for n, o in at.items() if "size" in n))
                    peer, = struct.unpack_from("<i", blob, 32 + next(o for n, o in at.items() if "eer" in n))
                    entry = wanted.setdefault((thread >> 24 & 0xFFFFFF, peer), [0, 0, 0, 0])
                    entry[0 if name == "ncclSend" else 2] += 1
                    entry[1 if name == "ncclSend" else 3] += size
            found = {(int(r["pid"]), int(r["peer"])): [int(r[c]) for c in ("sent_count", "sent_bytes", "received_count", "received_bytes")]
                     for r in rows(trace(scenario), "comm_peers")}
            self.assertEqual(found, wanted)
        self.assertEqual({(r["device_id"], r["rank"]) for r in rows(trace("grouped-sends"), "comm_peers")}, {("0", "0"), ("1", "1")})
        self.assertEqual(rows(trace("training"), "comm_peers"), [])

    def test_fields_in_tables_of_their_own_say_the_same(self):
        path = support.fresh_dir("dynamic") / "collectives.sqlite"
        shutil.copyfile(trace("collectives"), path)
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            count = spread_payloads(db)
        for table in ("comm_instances", "comm_peers", "comm_ranks", "comm_ops", "comm_streams"):
            self.assertEqual(rows(path, table), rows(trace("collectives"), table), table)
        capture, = rows(path, "comm_capture")
        self.assertEqual((capture["payload_count"], capture["sized_count"], capture["refused_count"], capture["command"]),
                         (str(count), "72", "0", ""))

    def test_advanced_ranges_are_told_not_guessed(self):
        """Names of -t nccl in NCCL's domain, in place of functions: said so. The same names in another domain mean nothing."""
        for domain, form in (("NCCL", "advanced"), ("solver", "kernels")):
            path = support.fresh_dir("advanced") / "collectives.sqlite"
            shutil.copyfile(trace("collectives"), path)
            with contextlib.closing(sqlite3.connect(path)) as db, db:
                nccl = "coalesce(text, (select value from StringIds where id = textId)) glob 'nccl*'"
                self.assertGreater(db.execute(f"update NVTX_EVENTS set text = 'GroupLaunch', textId = null where {nccl}").rowcount, 50)
                db.execute("update NVTX_EVENTS set text = ? where eventType = 75 and text = 'NCCL'", (domain,))
            capture, = rows(path, "comm_capture")
            self.assertEqual((capture["form"], capture["attributed_count"]), (form, "0"))
            self.assertEqual("--include-json" in capture["command"], form == "advanced")
            text = (support.artifacts(path) / "report.md").read_text(encoding="utf-8")
            self.assertEqual("-t nccl" in text, form == "advanced")
        self.assertEqual({r["form"] for r in rows(trace("collectives"), "comm_capture")}, {"ranges"})

    def test_advanced_ranges_tell_the_same(self):
        """The plan of "collectives" as -t nccl records it: launches by another thread, data types in three spellings, each call
        again as two channels of the GPU did it. Calls, sizes, ranks and communicators are those of the functions' ranges."""
        path, columns = trace("collectives-advanced"), ("device_id", "op", "calls", "message_bytes", "rank_count", "communicator", "busbw", "duration_us")
        for table in ("comm_peers", "comm_streams"):
            self.assertEqual(rows(path, table), rows(trace("collectives"), table), table)
        found, wanted = (sorted([row[c] for c in columns] for row in rows(p, "comm_instances")) for p in (path, trace("collectives")))
        self.assertEqual(found, wanted)
        capture, = rows(path, "comm_capture")
        self.assertEqual([capture[c] for c in ("form", "attributed_count", "sized_count", "group_count", "refused_count", "missing")],
                         ["advanced", "72", "72", "24", "0", ""])
        self.assertEqual({r["issued_in"] for r in rows(path, "comm_ops")}, {""})

    def test_numbers_of_operations(self):
        """Counted by function, the same on both ranks; messages have none, nor has the other form."""
        found = sorted(rows(trace("collectives-advanced"), "comm_instances"), key=lambda r: int(r["start_ns"]))
        for device in ("0", "1"):
            for op, numbers in (("AllReduce", range(12)), ("AllGather", range(12)), ("SendRecv", [""] * 12)):
                self.assertEqual([r["seq"] for r in found if (r["device_id"], r["op"]) == (device, op)], [str(n) for n in numbers])
        self.assertEqual({r["seq"] for r in rows(trace("collectives"), "comm_instances")}, {""})

    def test_members(self):
        """GPUs and ranks in it, as initializations say; without these the GPUs alone, and no rank."""
        init = "textId IN (SELECT id FROM StringIds WHERE value IN ('CommInit', 'ncclCommInitRankConfig'))"
        for scenario in ("collectives", "collectives-advanced"):
            for edits, members, ranks in (((), "0: GPU 0, 1: GPU 1", ["0", "1"]), ((f"DELETE FROM NVTX_EVENTS WHERE {init}",), "GPU 0, GPU 1", ["", ""])):
                found = rows(support.edited(scenario, *edits), "communicators")
                self.assertEqual({r["members"] for r in found}, {members}, scenario)
                self.assertEqual([r["rank"] for r in sorted(found, key=lambda r: r["device_id"])], ranks)
                self.assertEqual({(r["rank_count"], r["parent"]) for r in found}, {("2", "")})

    def test_what_advanced_ranges_do_not_tell_is_not_guessed(self):
        """Other spellings are counted and named; without data types sizes are unknown; a group with two launches is not counted twice."""
        for edit, sized, refused in (("replace(jsonText, 'apiGroupId', 'apiGroup')", "0", True), ("replace(jsonText, 'commHash', 'comm')", "0", True),
                                     ("replace(jsonText, 'ncclBfloat16', 'ncclOther')", "48", False), ("substr(jsonText, 1, 20)", "0", True)):
            path = support.edited("collectives-advanced", f"UPDATE NVTX_EVENTS SET jsonText = {edit}")
            capture, = rows(path, "comm_capture")
            self.assertEqual((capture["form"], capture["sized_count"], int(capture["refused_count"]) > 0), ("advanced", sized, refused), edit)
            self.assertEqual(any(r["check"] == "nccl-payloads" for r in rows(path, "data_quality")), refused, edit)
        path = support.edited("collectives-advanced", """INSERT INTO NVTX_EVENTS (start, end, eventType, textId, domainId, globalTid, jsonText)
            SELECT end + 1, end + 2, eventType, textId, domainId, globalTid, jsonText FROM NVTX_EVENTS
            WHERE textId = (SELECT id FROM StringIds WHERE value = 'KernelLaunch')""")
        sizes = {(r["op"], r["message_bytes"]) for r in rows(path, "comm_instances")}
        self.assertEqual(sizes, {("AllReduce", ""), ("AllGather", ""), ("SendRecv", "")})

    def test_replays_have_the_calls_that_were_captured(self):
        path = trace("collectives-graph")
        found = {(r["op"], r["calls"], r["message_bytes"]) for r in rows(path, "comm_instances")}
        self.assertEqual(found, {("AllReduce", "AllReduce", "300000000"), ("AllGather", "AllGather", str(1 << 20))})
        capture, = rows(path, "comm_capture")
        self.assertEqual((capture["graph_count"], capture["attributed_count"], capture["unlisted_count"]), ("20", "40", ""))

    def test_steps(self):
        """Rank 1 comes 100 us late, then 110, ...; then 300 us of transfer, and an all-gather of 580 us without waiting."""
        for r in rows(trace("collectives-graph"), "step_comm"):
            late = 100000 + 10000 * int(r["step"])
            want = (late, 0) if r["device_id"] == "0" else (0, 1)
            self.assertEqual((support.ns_of_ms(r["wait_ms"]), int(r["late_count"])), want)
            self.assertEqual((support.ns_of_ms(r["transfer_ms"]), r["tail_ms"]), (880000, "0.000000"))
        medians = {(r["device_id"], r["op"]): support.ns_of_ms(r["median_wait_ms"])
                   for r in rows(trace("collectives-graph"), "step_comm_ops")}
        self.assertEqual(medians, {("0", "AllReduce"): 145000, ("1", "AllReduce"): 0, ("0", "AllGather"): 0, ("1", "AllGather"): 0})

    def test_price_of_overlap(self):
        for row in rows(trace("collectives"), "comm_overlap_cost"):
            self.assertEqual((row["free_p50_us"], row["overlapped_p50_us"], row["slowdown_ns"]),
                             ("400.000", "550.000", str(12 * 150000)))

    def test_the_straggler_of_eight(self):
        found = {int(r["device_id"]): r for r in rows(trace("eight-gpus"), "comm_ranks")}
        self.assertEqual({r["refused"] for r in found.values()}, {""})
        # Ten kernels of 20 us more in each of 20 steps.
        late = found.pop(5)
        self.assertEqual((late["wait_ns"], late["late_count"]), ("0", "20"))
        self.assertEqual({r["waits_for_device_id"] for r in found.values()}, {"5"})
        for row in found.values():
            self.assertEqual(row["late_count"], "0")
            self.assertGreaterEqual(int(row["wait_ns"]), 20 * 10 * 20000 - 20 * 10 * 3000)

    def test_the_report_says_what_is_missing(self):
        text = (artifacts(trace("training")) / "report.md").read_text(encoding="utf-8")
        self.assertIn("Not recorded: message sizes", text)
        self.assertIn("--include-blobs=true", text)
        self.assertNotIn("Not recorded: message sizes", (artifacts(trace("collectives")) / "report.md").read_text(encoding="utf-8"))

    def test_no_report_takes_an_entry_kernel_at_its_word(self):
        for path in [trace("training"), trace("collectives")]:
            for finding in report(artifacts(path)).json["findings"]:
                for word in ("NCCL_PROTO", "NCCL_ALGO", "LL128", "protocol LL"):
                    self.assertNotIn(word, finding["recommendation"] + finding["why"])


def check_sums(test, path):
    """What a GPU's rows add up to, to the ns."""
    gpus = {r["device_id"]: r for r in rows(path, "gpu_utilization")}
    active = {r["device_id"]: r for r in rows(path, "gpu_active")}
    tables = {name: rows(path, name) for name in ("comm_ops", "comm_streams", "comm_instances", "comm_ranks")}
    for device, gpu in gpus.items():
        mine = {name: [r for r in table if r["device_id"] == device] for name, table in tables.items()}
        for name in ("comm_ops", "comm_streams"):
            test.assertEqual(sum(int(r["exposed_ns"]) for r in mine[name]), int(gpu["exposed_comm_ns"]), (path, name))
            test.assertEqual(sum(int(r["active_exposed_ns"]) for r in mine[name]),
                             int(active[device]["exposed_comm_ns"]), (path, name))
        total = sum(int(r["total_time_ns"]) for r in mine["comm_ops"])
        test.assertEqual(sum(support.ns_of_us(r["exposed_us"]) for r in mine["comm_instances"]),
                         int(gpu["exposed_comm_ns"]))
        test.assertEqual(sum(support.ns_of_us(r["duration_us"]) for r in mine["comm_instances"]), total)
        test.assertEqual(sum(int(r["total_time_ns"]) for r in mine["comm_ranks"]), total)
        steps = [r for r in rows(path, "step_comm") if r["device_id"] == device]
        for row in mine["comm_ranks"]:
            of_rank = [r for r in steps if r["pid"] == row["pid"]]
            for column in ("total_time_ms", "matched_ms", "wait_ms", "transfer_ms", "tail_ms") if of_rank else ():
                test.assertEqual(sum(support.ns_of_ms(r[column] or "0") for r in of_rank),
                                 support.ns_of_ms(row[column] or "0"), (path, column))
            if row["matched_ns"]:
                test.assertEqual(int(row["wait_ns"]) + int(row["transfer_ns"]) + int(row["tail_ns"]),
                                 int(row["matched_ns"]))
                test.assertLessEqual(int(row["wait_exposed_ns"]), int(row["wait_ns"]))
        for row in mine["comm_instances"]:
            if row["set_id"]:
                parts = sum(support.ns_of_us(row[c]) for c in ("wait_us", "transfer_us", "tail_us"))
                test.assertEqual(parts, support.ns_of_us(row["duration_us"]))


class Sums(unittest.TestCase):
    def test_scenarios(self):
        for scenario in SCENARIOS + ("training", "eight-gpus", "healthy", "no-nvtx"):
            with self.subTest(scenario):
                check_sums(self, trace(scenario))


class Recomputed(unittest.TestCase):
    """fsdp_2gpu: kernels of NCCL pair by pair, from the rows of the export."""

    def setUp(self):
        self.path = TRACES / "fsdp_2gpu.sqlite"
        if not self.path.exists():
            self.skipTest("no reference traces")
        with sqlite3.connect(f"file:{self.path}?mode=ro", uri=True) as db:
            self.kernels = [db.execute(
                "SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName "
                "WHERE s.value LIKE 'nccl%' AND deviceId = ? ORDER BY start", (gpu,)).fetchall() for gpu in (0, 1)]
            self.launched = db.execute(
                "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName "
                "JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId AND "
                "r.globalTid / 16777216 = k.globalPid / 16777216 WHERE s.value LIKE 'nccl%'").fetchone()[0]

    def test_sums(self):
        check_sums(self, self.path)

    def test_wait_and_transfer(self):
        deltas = [b[1] - a[1] for a, b in zip(*self.kernels)]
        shift = int(statistics.median(deltas))
        mad = int(statistics.median(abs(d - shift) for d in deltas))
        wait, tail, transfer = [0, 0], [0, 0], 0
        for a, b in zip(*self.kernels):
            pair = [a, (b[0] - shift, b[1] - shift)]
            last, first_end = max(p[0] for p in pair), min(p[1] for p in pair)
            transfer += max(0, first_end - last)
            for i, (start, end) in enumerate(pair):
                wait[i] += max(0, min(last, end) - start)
                tail[i] += end - max(first_end, last)
        for row in rows(self.path, "comm_ranks"):
            gpu = int(row["device_id"])
            self.assertEqual((int(row["wait_ns"]), int(row["transfer_ns"]), int(row["tail_ns"])),
                             (wait[gpu], transfer, tail[gpu]))
            self.assertEqual(support.ns_of_us(row["clock_mad_us"]), mad)
            # By hand, without any correction: 8.229 and 17.173 ms, of which 5.740 ms are transfer in both.
            self.assertEqual(round((int(row["wait_ns"]) + int(row["tail_ns"])) / 1e6, 2), (11.43, 2.49)[gpu])
            self.assertAlmostEqual(int(row["transfer_ns"]) / 1e6, 5.740, delta=0.001)

    def test_calls(self):
        capture, = rows(self.path, "comm_capture")
        # Two kernels were launched before the export begins.
        self.assertEqual((int(capture["attributed_count"]), int(capture["group_count"])), (self.launched, self.launched))
        self.assertEqual((capture["kernel_count"], capture["sized_count"]), ("66", "0"))
        calls = {r["calls"] for r in rows(self.path, "comm_instances")}
        self.assertEqual(calls, {"", "Send x2, Recv x2"})


class Mpi(unittest.TestCase):
    def test_late_senders_of_mpi(self):
        """Nothing is told of any source, nor without communicators; a handle tells one where calls lack its number."""
        def pairs(path):
            return {(row["peer_rank"], row["rank"]): (row["message_count"], row["late_send_count"], row["late_receive_count"]) for row in rows(path, "mpi_pairs")}
        want = {("1", "0"): ("20", "20", "0"), ("2", "0"): ("20", "0", "20")}
        self.assertEqual(pairs(trace("mpi-late")), want)  # not rank 1, which receives from any source
        self.assertEqual(pairs(support.edited("mpi-late", "UPDATE MPI_P2P_EVENTS SET commUid = NULL")), want)
        for edit in ("DROP TABLE MPI_COMMUNICATORS", "DROP TABLE MPI_RANKS", "UPDATE MPI_COMMUNICATORS SET commUid = NULL",
                     "UPDATE MPI_P2P_EVENTS SET textId = (SELECT id FROM StringIds WHERE value = 'MPI_Sendrecv') WHERE rowid IN (1, 5)"):
            with self.subTest(edit):
                path = support.edited("mpi-late", "INSERT INTO StringIds SELECT max(id) + 1, 'MPI_Sendrecv' FROM StringIds", edit)
                self.assertEqual([pair for pair in pairs(path) if pair != ("2", "0") or "DROP" in edit or "Sendrecv" not in edit], [])
        # a tag of its own for every other message: as much idle time
        tags = support.edited("mpi-late", *(f"UPDATE MPI_P2P_EVENTS SET tag = 4 WHERE rowid IN (SELECT rowid FROM (SELECT p.rowid, row_number() OVER (ORDER BY start) n "
                              f"FROM MPI_P2P_EVENTS p JOIN StringIds s ON s.id = p.textId WHERE s.value = '{name}') WHERE n % 2)" for name in ("MPI_Isend", "MPI_Irecv")))
        idle, other = ({row["peer_rank"]: row["late_send_idle_ms"] for row in rows(path, "mpi_pairs")} for path in (trace("mpi-late"), tags))
        self.assertEqual((idle, idle["1"]), (other, "5.700000"))
        # one send less: which receive lacks it is not known
        less = support.edited("mpi-late", "DELETE FROM MPI_P2P_EVENTS WHERE rowid = (SELECT min(p.rowid) FROM MPI_P2P_EVENTS p JOIN StringIds s "
                              "ON s.id = p.textId WHERE s.value = 'MPI_Isend')")
        self.assertEqual(pairs(less), {("2", "0"): want["2", "0"]})
        # a wait that ends before its send: another message
        swapped = support.edited("mpi-late", "UPDATE MPI_START_WAIT_EVENTS SET end = start + 1000")
        self.assertEqual(pairs(swapped), {("2", "0"): want["2", "0"]})

    def test_collectives_of_mpi(self):
        """What a call is longer than the shortest of the k-th calls of all ranks, by SQL; no clock is in it."""
        barriers = "FROM MPI_COLLECTIVES_EVENTS c JOIN MPI_RANKS USING (globalTid)"

        def found(*edits):
            return {row["rank"]: (int(row["call_count"]), row["wait_ms"], int(row["late_count"])) for row in rows(support.edited("mpi-ranks", *edits), "mpi_collectives")}

        with contextlib.closing(sqlite3.connect(trace("mpi-ranks"))) as db:
            waits = db.execute(f"""WITH k AS (SELECT rank, end - start AS ns, row_number() OVER (PARTITION BY rank ORDER BY start) AS k {barriers})
                SELECT rank, count(*), sum(ns - least), sum(ns = least) FROM k JOIN (SELECT k, min(ns) AS least FROM k GROUP BY k) USING (k) GROUP BY rank""").fetchall()
        want = {str(rank): (count, f"{ns / 1e6:.6f}", late) for rank, count, ns, late in waits}
        self.assertEqual(found(), want)
        self.assertEqual(found(f"UPDATE MPI_COLLECTIVES_EVENTS SET start = start - 5000000, end = end - 5000000 WHERE globalTid = (SELECT globalTid {barriers} WHERE rank = 1)"), want)
        # of another name from the eleventh on, or without an end: who waits for whom is not known from there on
        eleventh = f"rowid IN (SELECT c.rowid {barriers} WHERE rank = 1 ORDER BY start LIMIT 1 OFFSET 10)"
        self.assertEqual({count for count, *_ in found(f"UPDATE MPI_COLLECTIVES_EVENTS SET end = NULL WHERE {eleventh}").values()}, {10})
        named = ("INSERT INTO StringIds SELECT max(id) + 1, 'MPI_Bcast' FROM StringIds", "UPDATE MPI_COLLECTIVES_EVENTS SET textId = (SELECT max(id) FROM StringIds) WHERE ")
        self.assertEqual({count for count, *_ in found(named[0], named[1] + eleventh).values()}, {10})
        # the root of a broadcast leaves before all are in: nothing is waiting
        self.assertEqual(set(found(named[0], named[1] + "1").values()), {(20, "", 0)})
        self.assertEqual(found("DROP TABLE MPI_COMMUNICATORS"), {})
        said = str(report(artifacts(trace("mpi-ranks"))).json["findings"])
        self.assertIn("5.70 ms of it is waiting in MPI_Barrier for the last rank", said)
        self.assertIn("rank 2 arrives last at 20 of 20 calls of MPI_Barrier", said)
        self.assertNotIn("arrives last", str(report(artifacts(trace("mpi-hidden"))).json["findings"]))

    def test_queries_about_the_state_of_mpi_end_no_span(self):
        """MPI_Initialized and MPI_Finalized in the middle of a run begin with the names of what bounds it."""
        span = [row["span_ms"] for row in rows(trace("mpi"), "mpi_processes")]
        asked = support.edited("mpi", "INSERT INTO StringIds SELECT max(id) + 1, 'MPI_Initialized' FROM StringIds",
                               "INSERT INTO StringIds SELECT max(id) + 1, 'MPI_Finalized' FROM StringIds",
                               "INSERT INTO MPI_OTHER_EVENTS SELECT start + 9000000, end + 9000000, globalTid, (SELECT max(id) - 1 FROM StringIds) FROM MPI_OTHER_EVENTS",
                               "INSERT INTO MPI_OTHER_EVENTS SELECT start + 1000000, end + 1000000, globalTid, (SELECT max(id) FROM StringIds) FROM MPI_OTHER_EVENTS LIMIT 1")
        self.assertEqual([row["span_ms"] for row in rows(asked, "mpi_processes")], span)


if __name__ == "__main__":
    support.main()
