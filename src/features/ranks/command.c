/* nsys-ai ranks: the ranks of a distributed job side by side. */
#include "command/command.h"

#include "base/fs.h"
#include "base/escape.h"
#include "base/text.h"
#include "features/export/export.h"
#include "features/ranks/timeline.h"
#include "features/ranks/write.h"
#include "rundir/publish.h"
#include "table/json.h"

enum { US = 1000 };

struct ranks_args {
  const char *out, *number_follows, *timeline;
  int64_t clock_doubt_us;
  bool json, quiet;
};

static void init(void *memory) {
  struct ranks_args *args = memory;
  args->out = "artifacts/ranks";
  args->clock_doubt_us = 10000;
}

#define NAI_CLI_ARGS struct ranks_args
static const struct nai_cli_option options[] = {
    NAI_CLI_OPTION(text, out, "out", "DIR", "directory for the results, replaced as a whole", .letter = 'o',
                   .hint = NAI_CLI_DIRECTORY),
    NAI_CLI_OPTION(text, number_follows, "rank-after", "TEXT", "the number behind this text in an operand is its rank",
                   .otherwise = "what the communicators say"),
    NAI_CLI_OPTION(int64, clock_doubt_us, "clock-doubt-us", "US",
                   "clocks of the hosts may be so far apart, microseconds", .max = INT64_C(3600000000)),
    NAI_CLI_OPTION(text, timeline, "timeline", "FILE", "write all ranks on one timeline, for ui.perfetto.dev",
                   .hint = NAI_CLI_FILE),
    NAI_CLI_SWITCH(on, json, "json", "print one line of JSON that sums it up"),
    NAI_CMD_EXPORT_OPTION,
    NAI_CLI_SWITCH(on, quiet, "quiet", "print nothing but errors", .letter = 'q'),
    {0},
};

/* --- files ------------------------------------------------------------------------------------ */

static int publish_document(struct nai_publication *p, const char *name, nai_ranks_write_fn *write,
                            const struct nai_ranks_report *report, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  NAI_TRY(write(&text, report, err));
  return nai_publish_file(p, name, &text, err);
}

static int publish(const struct nai_ranks_report *report, const char *directory, struct nai_err *err) {
  NAI_SCOPED(nai_publication) p = {0};
  NAI_TRY(nai_publish_begin(&p, directory, "ranks.json", nai_cmd_note, err));
  NAI_TRY(publish_document(&p, "ranks.md", nai_ranks_write_markdown, report, err));
  NAI_TRY(publish_document(&p, "ranks.json", nai_ranks_write_json, report, err));
  NAI_TRY(publish_document(&p, "ranks.html", nai_ranks_write_html, report, err));
  for (int i = 0; i < NAI_RANKS_TABLES; i++)
    NAI_TRY(nai_publish_table(&p, report->tables[i], err));
  return nai_publish_commit(&p, err);
}

/* --- printing --------------------------------------------------------------------------------- */

static void put_json(struct nai_buf *out, const struct nai_ranks_report *report, const char *directory) {
  const struct nai_ranks *ranks = report->ranks;
  struct nai_json json;
  nai_json_open(&json, out, NAI_JSON_INLINE);
  nai_json_put_text(&json, "schema_version", "1.0");
  nai_json_put_text(&json, "out", directory);
  nai_json_put_text(&json, "verdict", nai_ranks_verdict_name(ranks->verdict));
  nai_json_put_text(&json, "text", report->verdict);
  nai_json_put_int(&json, "exit", nai_ranks_exit(ranks));
  nai_json_put_int(&json, "ranks", ranks->rank_count);
  nai_json_put_int(&json, "left_out", ranks->left_out);
  nai_json_put_int(&json, "collectives", ranks->collectives);
  nai_json_close(&json);
}

/* What the ranks did that the others wait for: the latest one, and those that the verdict is about. */
static void put_reasons(struct nai_buf *lines, const struct nai_ranks_report *report) {
  enum { MAX_REASONS = 3 };
  const struct nai_ranks *ranks = report->ranks;
  for (uint32_t n = 0; n < MAX_REASONS && n < ranks->rank_count; n++) {
    uint64_t rank = report->latest[n].value;
    const char *reason = report->reasons[rank];
    if (!*reason || (n && !nai_ranks_is_persistent(ranks, &ranks->ranks[rank])))
      continue;
    nai_buf_puts(lines, "  ");
    nai_escape_terminal(lines, reason, strlen(reason));
    nai_buf_putc(lines, '\n');
  }
}

static int print(const struct nai_ranks_report *report, const struct ranks_args *args, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0}, lines = {0};
  if (args->json) {
    put_json(&text, report, args->out);
  } else if (!args->quiet) {
    nai_escape_terminal(&lines, report->verdict, strlen(report->verdict));
    nai_buf_putc(&lines, '\n');
    put_reasons(&lines, report);
    nai_cmd_put_lines(&text, &lines);
    nai_buf_puts(&text, "  ");
    nai_escape_terminal(&text, args->out, strlen(args->out));
    nai_buf_puts(&text, "/ranks.html, ranks.md, ranks.json\n");
  }
  return nai_cmd_print(&text, err);
}

/* --- the timeline ----------------------------------------------------------------------------- */

/* Links resolved; NULL where nothing is there. */
static int resolve(char **out, const char *path, struct nai_err *err) {
  *out = realpath(path, NULL);
  return *out || nai_fs_is_absent(errno) ? NAI_OK : nai_err_sys(err, NAI_EIO, errno, "cannot resolve \"%s\"", path);
}

/* Of a path in a directory, the way from that; else NULL. */
static const char *way_below(const char *path, const char *directory) {
  size_t length = directory ? strlen(directory) : 0;
  return length && strncmp(path, directory, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

/* Whether a path is a journal of a database. */
static bool is_beside(const char *path, const char *source) {
  size_t length = source ? strlen(source) : 0;
  return length && strncmp(path, source, length) == 0 &&
         nai_text_is_one(path + length, strlen(path + length), NAI_WORDS("-wal", "-shm", "-journal"));
}

static bool is_published(const char *name) {
  return nai_text_is_one(name, strlen(name), NAI_WORDS("ranks.md", "ranks.json", "ranks.html")) ||
         nai_text_begins(name, NAI_WORDS("tables/", "stages/"));
}

/* What must not become a timeline: files of the sources, and those that have just been published. */
static int check_place(const struct nai_ranks *ranks, const struct ranks_args *args, struct nai_err *err) {
  NAI_FREED char *path = NULL, *out = NULL;
  NAI_TRY(resolve(&path, args->timeline, err));
  NAI_TRY(resolve(&out, args->out, err));
  const char *name = path ? way_below(path, out) : NULL;
  if (name && is_published(name))
    return nai_err_set(err, NAI_EUSAGE, "--timeline \"%s\" is a file of --out; give another name", args->timeline);
  for (uint32_t i = 0; path && i < ranks->source_count; i++) {
    const struct nai_rank_source *source = &ranks->sources[i];
    NAI_FREED char *whole = NULL;
    NAI_TRY(resolve(&whole, source->path, err));
    name = way_below(path, whole);
    if (is_beside(path, whole) || (name && nai_manifest_lists(nai_run_manifest(source->run), name)))
      return nai_err_set(err, NAI_EUSAGE, "--timeline \"%s\" is a file of \"%s\"; give another name", args->timeline,
                         source->path);
  }
  return NAI_OK;
}

static int write_timeline(const struct nai_ranks_report *report, struct nai_ranks *ranks, const struct ranks_args *args,
                          struct nai_err *err) {
  struct nai_cmd_output output;
  if (!args->timeline)
    return NAI_OK;
  uint32_t shown = nai_ranks_on_timeline(ranks);
  NAI_TRY(check_place(ranks, args, err));
  NAI_TRY(nai_cmd_output_open(&output, args->timeline, ranks->sources[0].path, err));
  int rc = nai_ranks_put_timeline(&output.sink.text, report, ranks, err);
  if (!rc && shown < ranks->source_count && !args->quiet)
    fprintf(stderr, "nsys-ai: %u of %u traces are on the timeline: nothing tells the clocks of the others\n", shown,
            ranks->source_count);
  if (!rc && shown > NAI_EXPORT_MAX_PLACES && !args->quiet)
    fprintf(stderr,
            "nsys-ai: of %u traces on the timeline %d have all events, the latest ones, others what their GPUs did\n",
            shown, NAI_EXPORT_MAX_PLACES);
  return nai_cmd_output_close(&output, rc, err);
}

/* --- the command ------------------------------------------------------------------------------ */

static int add(struct nai_ranks *ranks, const char *path, struct nai_err *err) {
  const struct nai_cmd_source source = {.reader = NAI_READER_AUTO, .quiet = true};
  struct nai_run *run;
  if (!nai_fs_exists(path))
    return nai_err_set(err, NAI_EINPUT, "there is no \"%s\"", path);
  NAI_TRY(nai_cmd_source_open(&run, path, &source, err));
  return nai_ranks_add(ranks, run, path, err);
}

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct ranks_args *args = memory;
  bool console = args->timeline && (strcmp(args->timeline, "-") == 0 || strcmp(args->timeline, "/dev/stdout") == 0);
  (void)operands;
  (void)count;
  return console && (!args->quiet || args->json)
           ? nai_err_set(err, NAI_EUSAGE,
                         "--timeline %s needs --quiet without --json: the answer goes to standard output, too",
                         args->timeline)
           : NAI_OK;
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct ranks_args *args = memory;
  const struct nai_ranks_options how = {.clock_doubt_ns = args->clock_doubt_us * US,
                                        .number_follows = args->number_follows};
  NAI_SCOPED(nai_ranks) ranks = {.arena = NAI_ARENA(NULL)};
  NAI_SCOPED(nai_ranks_report) report = {0};
  for (size_t i = 0; i < count; i++)
    NAI_TRY(add(&ranks, operands[i], err));
  NAI_TRY(nai_ranks_compare(&ranks, &how, err));
  NAI_TRY(nai_ranks_report_make(&report, &ranks, err));
  report.directory = args->out;
  NAI_TRY(publish(&report, args->out, err));
  NAI_TRY(print(&report, args, err));
  NAI_TRY(write_timeline(&report, &ranks, args, err));
  return nai_ranks_exit(&ranks);
}

NAI_CLI_COMMAND(
    nai_cmd_ranks, .name = "ranks", .synopsis = "RUN|TRACE...",
    .summary = "find out which rank of a distributed job the others wait for",
    .description =
        "Matches the collectives of several ranks, says what each rank waited for and what was transferred, which rank comes "
        "late and what it does in that time, whether that is always the same one, all in turn, or the network. Of a job that "
        "communicates by MPI alone it says how much time MPI takes of each rank. Operands are "
        "artifacts directories or traces, one per rank, or one of several GPUs; traces are analyzed on the way. Clocks of "
        "the ranks need not agree. Writes ranks.md, ranks.html, ranks.json and tables/*.csv. See docs/ranks.md.",
    .examples = "nsys-ai ranks rank0.sqlite rank1.sqlite rank2.sqlite rank3.sqlite --out artifacts/ranks\n"
                "nsys-ai ranks artifacts/nights/rank* --rank-after rank\n"
                "nsys-ai ranks one-node-8-gpus.sqlite",
    .options = options,
    NAI_CLI_OPERANDS(1, NAI_CLI_ANY_NUMBER, {.name = "RUN", .hint = NAI_CLI_FILE, .suffixes = NAI_CMD_TRACE_SUFFIXES}),
    .init = init, .check = check, .run = run)
