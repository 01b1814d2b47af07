"""report.json against its published schema; report.html and tables/*.csv hold the same report."""
import collections
import csv
import gzip
import io
import json
import re
import sqlite3
import struct
import subprocess
import unittest
from decimal import Decimal

import published
import support
from support import DIAGNOSIS, PAIRS, SCENARIOS, SHARED, SOURCE, artifacts, fresh_dir, read_csv, report, run, trace

# The columns that docs and scripts of others rely on come first, in this order.
FIRST_COLUMNS = {
    "kernels": "kernel_name device_id call_count total_time_ns total_time_ms avg_duration_us min_duration_us max_duration_us "
               "p50_duration_us p90_duration_us p99_duration_us stddev_duration_us pct_total_kernel_time short_name category",
    "gpu_utilization": "device_id window_ns window_ms busy_ns busy_ms idle_ns idle_ms idle_pct_of_window compute_ns compute_ms "
                       "exposed_comm_ns exposed_comm_ms exposed_copy_ns exposed_copy_ms overlap_comm_pct kernel_window_ns "
                       "kernel_window_ms kernel_busy_ns kernel_busy_ms kernel_idle_ns kernel_idle_ms kernel_idle_pct gap_count",
    "gpu_idle_gaps": "device_id gap_start_ns gap_end_ns gap_ms cause next_op launch_api launch_thread host_activity nvtx_range",
    "launch_rates": "scope device_id pid kernel_count launch_calls window_s kernels_per_s launch_calls_per_s p50_kernel_us p90_kernel_us "
                    "p99_kernel_us pct_under_5us pct_under_10us pct_under_20us peak_kernels_per_10ms api_p50_us",
    "sync_calls": "api_name class call_count total_time_ms avg_duration_us p50_duration_us p90_duration_us max_duration_us "
                  "pct_of_thread_window gpu_busy_pct top_nvtx_range",
    "sync_by_pid": "pid api_name class call_count total_time_ms",
    "nvtx_ranges": "range_name count total_time_ms self_time_ms avg_duration_us p50_duration_us p90_duration_us max_duration_us "
                   "attributed_kernel_time_ms self_kernel_time_ms attributed_kernel_count pct_total_kernel_time",
    "process_summary": "pid process_name devices kernel_count kernel_time_ms pct_of_total_kernel_time memcpy_bytes api_calls blocked_ms "
            "nvtx_coverage_pct",
    "kernels_by_pid": "pid pid_total_kernel_time_ms pid_pct_of_total_kernel_time kernel_name device_id call_count total_time_ms "
                      "avg_duration_us pct_of_pid_kernel_time pct_of_total_kernel_time",
    "nvtx_by_pid": "pid range_name nvtx_count nvtx_total_time_ms attributed_kernel_time_ms attributed_kernel_count "
                   "pid_attribution_coverage_pct",
    "memory_transfers": "direction src_kind dst_kind device_id count total_bytes total_time_ms gb_per_s p50_bytes p90_us "
                        "pageable_count exposed_ms",
}
# Tables whose rows only their numbers tell apart, or that have one row.
KEYLESS = set("kernel_events memop_events graph_events api_events sync_events nvtx_events overhead_events osrt_events file_events syscall_events run_info "
              "capture timeline_places callchain_frames program_outputs comm_instances comm_capture nvtx_payloads "
              "nvtx_payload_schemas nvtx_payload_entries nvtx_payload_enums nvtx_dynamic_payloads "
              "cuda_event_events dependency_graph graph_node_events graph_launches graph_savings "
              "sched_events sample_events um_fault_events memory_usage_events mpi_events openacc_events openmp_events mpi_communicators mpi_ranks ucx_events ucx_workers cuda_devices cuda_contexts cuda_streams stream_names "
              "memory_pool_events gpu_metric_samples gpu_switch_events host_function_events nic_metric_samples nic_metric_names nic_ids nics".split())
# Tables that are read only when something asks for them: what refers to them may have nothing to refer to.
ON_REQUEST = {"callchain_frames"}
DECIMALS = {"us": 3, "ms": 6, "s": 9, "percent": 4}
GUARDED = ("=", "+", "-", "@", "\t", "\r")
HOST = ("overhead", "mpi", "openacc", "osrt", "sched", "sample")  # of threads, beside what total_events counts
COUNTED = {"kernel": "kernel_count", "api": "api_call_count", "nvtx": "nvtx_range_count", "graph": "graph_envelope_count"}


def html_block(directory, name):
    return json.loads(support.page_block((directory / "report.html").read_text(encoding="utf-8"), name))


def unpacked(page):
    """The page's report with rows in place of packed columns (docs/viewer.md, "Long tables")."""
    for table in page["tables"].values():
        packed = table.pop("packed", None)
        if packed is None:
            continue
        columns = []
        for column in packed:
            if "texts" in column:
                columns.append([None if i is None else column["texts"][i] for i in column["rows"]])
            elif "differences" in column:
                last, values = 0, []
                for difference in column["differences"]:
                    last += difference or 0
                    exact = Decimal(last).scaleb(-column.get("digits", 0))
                    values.append(None if difference is None else float(exact) if "digits" in column else last)
                columns.append(values)
            else:
                columns.append(column["values"])
        table["rows"] = [list(row) for row in zip(*columns)]
    return page


class Json(unittest.TestCase):
    def directories(self):
        for path in [trace(s) for s in support.by_tier(SCENARIOS[::3], SCENARIOS)] + list((SHARED / "traces").glob("*.sqlite")):
            yield path.stem, artifacts(path)
        yield "phases", artifacts(trace("inference"), "--phase-map", "inference")

    def all_directories(self):
        """Of every scenario and every reference trace."""
        scenarios = support.by_tier(SCENARIOS[::4], (*SCENARIOS, *DIAGNOSIS[::3], *PAIRS[::3], "evidence"))
        for path in [trace(s) for s in scenarios] + support.by_tier([], support.exports()):
            yield path.stem, artifacts(path)

    def test_keys_are_unique(self):
        """Comparisons match rows by key; what a column refers to has to exist."""
        def stored(path, *options):
            return json.loads(subprocess.run([support.PROGRAM, "table", *path, "--json", *options], check=True, capture_output=True).stdout)

        def printed(table, path, content):
            """Heads of equal columns are equal: each is asked for once."""
            key = table, support.columns_in(content)
            if key not in asked:
                asked[key] = stored(path, "--rows", "0")["columns"]
            return asked[key]

        asked = {}
        for name, directory in self.all_directories():
            files, contents = {}, {}
            for path in (directory / "stages").glob("*.ntab"):
                content = path.read_bytes()
                held = support.tables_in(content)
                files |= {table: (path, table) for table in held} if held else {path.stem: (path,)}
                contents |= {table: content[at:at + size] for table, (_, at, size, _) in held.items()} if held else {path.stem: content}
            self.assertIn("evidence", files)
            tables = report(directory).json["tables"]
            heads = {stem: tables[stem]["columns"] if stem in tables else printed(stem, path, contents[stem]) for stem, path in files.items()}
            for stem, columns in heads.items():
                with self.subTest(trace=name, table=stem):
                    keys = [i for i, column in enumerate(columns) if column.get("key")]
                    self.assertEqual(not keys, stem in KEYLESS)
                    rows = (tables[stem] if stem in tables else stored(files[stem]))["rows"] if keys else []
                    counted = collections.Counter(tuple(row[i] for i in keys) for row in rows)
                    self.assertEqual([key for key, n in counted.items() if n > 1], [])
                    for column in columns:
                        of, _, cell = column.get("refers", "").partition(".")
                        self.assertTrue(not of or of in heads or of in ON_REQUEST, column)
                        if of in heads:
                            self.assertTrue(not cell or cell in [c["name"] for c in heads[of]], column)

    def test_page_has_the_first_rows_of_long_tables(self):
        """Ranges named after requests, say: report.json and the CSV have all, the page what a browser can hold."""
        names, most = 12000, 10000
        path = fresh_dir() / "names.sqlite"
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER)")
        connection.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, 16777217)",
                               ((1000 * i, 1000 * i + 10 + i % 500, f"request {i}") for i in range(names)))
        connection.commit()
        connection.close()
        directory = artifacts(path)
        whole = json.loads((directory / "report.json").read_text())["tables"]["nvtx_ranges"]
        page = unpacked(html_block(directory, "report"))["tables"]["nvtx_ranges"]
        self.assertEqual((len(whole["rows"]), whole.get("row_count")), (names, None))
        self.assertEqual((page["rows"], page["row_count"]), (whole["rows"][:most], names))
        self.assertEqual(len(read_csv(directory, "nvtx_ranges")), names)

    @unittest.skipUnless(published.jsonschema, "no python3-jsonschema")
    def test_schema(self):
        """Today's reports hold what the schema lists and nothing else, though it lets later ones hold more."""
        schema = published.schema("report")
        for label, directory in self.directories():
            document = json.loads((directory / "report.json").read_text(encoding="utf-8"))
            self.assertEqual(published.errors(published.strict(schema), document), [], label)
        broken = json.loads((artifacts(trace("empty")) / "report.json").read_text())
        broken["run"]["gpu_count"] = "0"
        self.assertTrue(published.errors(schema, broken))

    @support.tier("ci")
    @unittest.skipUnless(published.jsonschema, "no python3-jsonschema")
    def test_schema_takes_later_and_earlier_minor_versions(self):
        schema = published.schema("report")
        later = json.loads((artifacts(trace("training")) / "report.json").read_text())
        column = dict(later["tables"]["kernels"]["columns"][0], unit="light_years", role="colour")
        later["schema_version"] = later["schema_version"].partition(".")[0] + ".99"
        later["tables"]["kernels"]["columns"].append(column)
        published.add_members(later)
        later["tables"]["new_one"] = later["tables"]["gpus"]
        self.assertEqual(published.errors(schema, later), [])
        self.assertTrue(published.errors(published.strict(schema), later))
        later["schema_version"] = "99.0"
        self.assertTrue(published.errors(schema, later))
        stored = sorted((SOURCE / "tests" / "data").glob("report-*.json.gz"))
        self.assertTrue(stored)
        for path in stored:  # each version, as the first program that wrote it did
            document = json.loads(gzip.decompress(path.read_bytes()))
            self.assertEqual(path.name, f"report-{document['schema_version']}.json.gz")
            self.assertEqual(published.errors(schema, document), [])

    def test_cells_have_the_type_of_their_column(self):
        for label, directory in self.directories():
            for name, table in report(directory).json["tables"].items():
                for row in table["rows"]:
                    self.assertEqual(len(row), len(table["columns"]), f"{label}: {name}")
                    for column, cell in zip(table["columns"], row):
                        self.check_cell(f"{label}: {name}.{column['name']}", column, cell)

    def check_cell(self, where, column, cell):
        if cell is None:
            return
        if column["type"] == "text":
            self.assertIsInstance(cell, str, where)
            self.assertNotRegex(cell, r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", where)
        elif column["type"] == "int":
            self.assertNotIn(column["unit"], DECIMALS, where)
            self.assertIsInstance(cell, int, where)
        else:
            self.assertIsInstance(cell, (int, Decimal), where)
            if column["unit"] in DECIMALS:
                self.assertLessEqual(-Decimal(cell).as_tuple().exponent, DECIMALS[column["unit"]], where)
        if column["unit"] == "percent" and not column["name"].startswith("pct_of_wall"):
            self.assertLessEqual(cell, 100, where)
            self.assertGreaterEqual(cell, 0, where)

    def test_evidence_points_at_rows(self):
        for label, directory in self.directories():
            result = report(directory)
            for finding in result.json["findings"]:
                self.assertTrue(finding["evidence"], f"{label}: {finding['id']}")
                for evidence in finding["evidence"]:
                    table = result.json["tables"][evidence["table"]]
                    if evidence["row"] is not None:
                        self.assertLess(evidence["row"], len(table["rows"]), f"{label}: {finding['id']}")
                for link in finding["links"]:
                    if "://" not in link:
                        self.assertTrue((SOURCE / link.split("#")[0]).exists(), f"{finding['id']}: {link}")

    with_csv = {path.stem for path in (SOURCE / "src/tables").glob("*.h") if ".csv = true" in path.read_text(encoding="utf-8")}

    def test_few_files(self):
        """At most 60 of any trace, and even if each table with a CSV has rows: beside what each run has. What texts name is among them."""
        of_each = set()
        for label, directory in self.all_directories():
            files = {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}
            self.assertLessEqual(len(files), 60, label)
            of_each = of_each & files if of_each else files
        self.assertLessEqual(len({f"tables/{name}.csv" for name in self.with_csv} | of_each), 60)
        texts = [SOURCE / "templates/report.md.mustache", *SOURCE.glob("rules/*.yaml"), *SOURCE.glob("docs/**/*.md")]
        named = {name for path in texts for name in re.findall(r"(?<!artifacts/streams/)tables/([a-z_]+)\.csv", path.read_text(encoding="utf-8").replace("\\_", "_"))}
        self.assertEqual({name for name in named - self.with_csv if (SOURCE / f"src/tables/{name}.h").exists() and not name.startswith("compared_")}, set())

    def test_csv_holds_the_same(self):
        for label, directory in self.directories():
            whole = report(directory).json
            tables = whole["tables"]
            counts = {name: len(table["rows"]) for name, table in tables.items()}
            counts |= {"findings": len(whole["findings"]), "evidence": sum(len(f["evidence"]) for f in whole["findings"])}
            self.assertEqual({row["table_name"]: int(row["row_count"]) for row in read_csv(directory, "index")}, counts, label)
            listed = {row["table_name"]: row["csv"] for row in read_csv(directory, "index")}
            self.assertEqual(listed, {name: f"{name}.csv" if counts[name] and name in self.with_csv else f"nsys-ai table SRC {name} --csv"
                                      for name in counts}, label)
            self.assertEqual({path.name for path in (directory / "tables").iterdir()},
                             {"index.csv", *(word for word in listed.values() if word.endswith(".csv"))}, label)
            for name, table in tables.items():
                if listed[name] != f"{name}.csv":
                    continue
                text = (directory / "tables" / f"{name}.csv").read_text(encoding="utf-8")
                rows = list(csv.reader(io.StringIO(text, newline="")))
                self.assertEqual(rows[0], [c["name"] for c in table["columns"]], f"{label}: {name}")
                self.assertEqual(len(rows) - 1, len(table["rows"]), f"{label}: {name}")
                for written, row in zip(rows[1:], table["rows"]):
                    for cell, value, column in zip(written, row, table["columns"]):
                        self.check_csv_cell(f"{label}: {name}.{column['name']}", cell, value, column)

    def test_all_csv(self):
        """Beside the same files, one of each other table, without rows, too: the names of its columns."""
        few, all_of_them = (support.analyze(trace("training"), *options) for options in ((), ("--all-csv",)))
        written = {path.name for path in (few / "tables").iterdir()}
        self.assertEqual([name for name in written - {"index.csv"} if (few / "tables" / name).read_bytes() != (all_of_them / "tables" / name).read_bytes()], [])
        for name, table in report(few).json["tables"].items():
            lines = (all_of_them / "tables" / f"{name}.csv").read_text().splitlines()
            self.assertEqual(lines[0], ",".join(c["name"] for c in table["columns"]))
            if f"{name}.csv" not in written:
                self.assertEqual("\n".join(lines) + "\n", run("table", few, name, "--csv").stdout)
        support.analyze(trace("training"), out=all_of_them)
        self.assertEqual({path.name for path in (all_of_them / "tables").iterdir()}, written)

    def check_csv_cell(self, where, cell, value, column):
        if value is None:
            self.assertEqual(cell, "", where)
        elif column["type"] == "text":
            guarded = value.startswith(GUARDED)
            self.assertIn(cell, ("'" + value,) if guarded else (value, "'" + value), where)
            self.assertFalse(cell.startswith(GUARDED), where)
        else:
            self.assertEqual(Decimal(cell), value, where)

    def test_first_columns(self):
        directory = artifacts(trace("training"))
        for name, columns in FIRST_COLUMNS.items():
            wanted = columns.split()
            found = [column["name"] for column in report(directory).json["tables"][name]["columns"]]
            self.assertEqual(found[:len(wanted)], wanted, name)

    def test_html_embeds_the_same_report(self):
        for label, directory in self.directories():
            whole = json.loads((directory / "report.json").read_text(encoding="utf-8"))
            self.assertEqual(unpacked(html_block(directory, "report")), whole, label)

    def test_timeline_counts_match(self):
        for label, directory in self.directories():
            timeline = html_block(directory, "timeline")
            run = report(directory).rows("run_info")[0]
            counts = {}
            for lane in timeline["lanes"]:
                kind = "nvtx" if lane["kind"] == "nvtx_async" else lane["kind"]
                counts[kind] = counts.get(kind, 0) + lane["count"]
            self.assertFalse(timeline["aggregated"], label)
            for kind, column in COUNTED.items():
                self.assertEqual(counts.get(kind, 0), run[column], f"{label}: {kind}")
            copies = counts.get("copy", 0) + counts.get("set", 0)
            self.assertEqual(copies, run["memory_operation_count"], label)
            self.assertEqual(sum(n for kind, n in counts.items() if kind not in HOST), timeline["total_events"], label)

    def test_html_is_safe_and_self_contained(self):
        for label, directory in self.directories():
            html = (directory / "report.html").read_text(encoding="utf-8")
            self.assertIn("Content-Security-Policy", html)
            self.assertEqual(html.lower().count("<script"), 4, label)
            self.assertEqual(html.lower().count("</script"), 4, label)
            for wanted in ("<iframe", "<object", "<embed", "<img", "<base"):
                self.assertNotIn(wanted, html.lower().replace("nsys-ai", ""), f"{label}: {wanted}")


class Versions(unittest.TestCase):
    def test_numbers_of_formats(self):
        """docs/compatibility.md says what documents say."""
        page = (SOURCE / "docs/compatibility.md").read_text(encoding="utf-8")
        told = {re.sub(r"[\[\]`]|\(.*\)", "", name).strip(): number for name, number in re.findall(r"(?m)^\| (.+?) \| (\d+\.\d+) \| ", page)}
        source, place = trace("host-bound"), fresh_dir("versions")
        artifacts = support.artifacts(source)
        header = support.table_file(artifacts, "kernels").read_bytes()[8:12]
        lines = {}
        for name, words in (("analyze --json", ("analyze", source, "--out", place / "run")), ("probe --json", ("probe", source)),
                            ("compare --json, check --json", ("compare", place / "run", place / "run", "--out", place / "compare"))):
            lines[name] = json.loads(support.run(*words, "--json").stdout)["schema_version"]
        support.run("batch", source, "-q", "--out", place / "batch")
        support.run("store", "add", artifacts, "--store", place / "store")
        support.run("trend", "--store", place / "store", "--out", place / "trend")
        stored, = (place / "store").rglob("run.json")
        job = fresh_dir("job")
        subprocess.run([support.GENERATOR, "ranks", job / "job", "--ranks", "2"], check=True, capture_output=True)
        lines["ranks --json"] = json.loads(support.run("ranks", *sorted((job / "job").glob("*.sqlite")), "--out", place / "ranks", "--json").stdout)["schema_version"]

        def number(path, *keys):
            document = json.loads(path.read_text(encoding="utf-8"))
            return ".".join(str(document[key]) for key in keys)

        both = ("format_major", "format_minor")
        self.assertEqual(told, {
            "run directory": number(artifacts / "stages/manifest.json", *both), "tables between stages": "{}.{}".format(*struct.unpack("<HH", header)),
            "report.json": number(artifacts / "report.json", "schema_version"), "compare.json": number(place / "compare/compare.json", "format"),
            "ranks.json": number(place / "ranks/ranks.json", "schema_version"), "trend.json": number(place / "trend/trend.json", "schema_version"),
            "batch": number(place / "batch/batch.json", *both), "store": number(stored, *both), **lines})


if __name__ == "__main__":
    support.main()
