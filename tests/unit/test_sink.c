/* Outputs that are handed on while they are printed: the same bytes as kept ones, and every failure is told. */
#include "unit.h"

#include "base/deflate.h"
#include "base/fs.h"
#include "base/sink.h"
#include "report/output.h"
#include "rules/rules.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* Keeps what it gets, and is full after `room` bytes. */
struct small_disk {
  struct nai_sink sink;
  struct nai_buf got;
  size_t room;
};

static int write_some(struct nai_sink *sink, const void *text, size_t len) {
  struct small_disk *disk = (struct small_disk *)sink;
  size_t n = len < disk->room ? len : disk->room;
  nai_buf_put(&disk->got, text, n);
  disk->room -= n;
  return n < len ? ENOSPC : 0;
}

static struct small_disk new_disk(size_t block, size_t room) {
  return (struct small_disk){.sink = {write_some, "somewhere", block}, .room = room};
}

static uint64_t random_state = 1;

static size_t next_random(size_t below) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (size_t)(random_state >> 33) % below;
}

/* One append of any kind and length. */
static void append(struct nai_buf *out, int kind, const char *text, size_t len) {
  if (kind == 0)
    nai_buf_putc(out, text[0]);
  else if (kind == 1)
    nai_buf_put(out, text, len);
  else if (kind == 2)
    nai_buf_printf(out, "%.*s|%zu", (int)len, text, len);
  else {
    char *at = nai_buf_reserve(out, len);
    assert_non_null(at);
    memcpy(at, text, len);
    out->len += len;
    out->data[out->len] = '\0';
  }
}

TEST(test_same_bytes) {
  enum { MOST = 3000 };
  char text[MOST];
  for (size_t i = 0; i < MOST; i++)
    text[i] = (char)('a' + i % 26);
  const size_t blocks[] = {NAI_BUF_TAIL, NAI_BUF_TAIL + 1, 1000, 1 << 20};
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
    struct small_disk disk = new_disk(blocks[b], SIZE_MAX);
    struct nai_buf kept = {0}, streamed = {.sink = &disk.sink};
    for (int i = 0; i < 2000; i++) {
      int kind = (int)next_random(4);
      size_t len = next_random(next_random(2) ? 20 : MOST);
      append(&kept, kind, text + next_random(MOST - len), len);
      /* the same once more: what the kept one has just got */
      size_t new = kept.len - nai_buf_position(&streamed);
      append(&streamed, kind == 2 ? 1 : kind, kept.data + kept.len - new, new);
      assert_int_equal(nai_buf_position(&streamed), kept.len);
      size_t tail = kept.len < NAI_BUF_TAIL ? kept.len : NAI_BUF_TAIL;
      assert_true(streamed.len >= tail);
      assert_memory_equal(streamed.data + streamed.len - tail, kept.data + kept.len - tail, tail);
    }
    assert_true(streamed.capacity < 2 * (blocks[b] + MOST + 1));
    nai_buf_flush(&streamed);
    struct nai_err err;
    assert_int_equal(nai_buf_check(&streamed, &err), 0);
    assert_int_equal(disk.got.len, kept.len);
    assert_memory_equal(disk.got.data, kept.data, kept.len);
    nai_buf_free(&kept);
    nai_buf_free(&streamed);
    nai_buf_free(&disk.got);
  }
}

/* --- reports ---------------------------------------------------------------------------------- */

static const struct nai_column_def columns[] = {
    {.name = "name", .type = NAI_STR, .unit = NAI_TEXT, .description = "a name"},
    {.name = "total_ns", .type = NAI_I64, .unit = NAI_NS, .description = "a time"},
    {.name = "share_pct", .type = NAI_F64, .unit = NAI_PCT, .description = "a share"},
};
static const struct nai_schema names_schema = NAI_SCHEMA("names", "Names", "rows", columns);

struct sample {
  struct nai_table *names, *findings, *evidence;
  const struct nai_table *tables[3];
  struct nai_report report;
  struct nai_templates *templates;
  struct nai_report_page page;
};

static void set_text(struct nai_table *table, int64_t row, const char *column, const char *text) {
  nai_set_str(table, row, nai_schema_column(table->schema, column), text);
}

static int load(struct nai_buf *text, void *ctx, const char *name, struct nai_err *err) {
  (void)ctx;
  static const char *const texts[][2] = {
      {"report.md", "# {{title}}\n{{#tables.names.rows}}\n- 1. {{name}} {{name_code}} {{total_ns}}\n"
                    "{{/tables.names.rows}}\n{{#findings}}\n{{why}} {{{why}}}\n{{/findings}}\n"},
      {"report.html", "<p>{{#report_json}}{{report_json}}{{/report_json}}</p>{{{report_json}}}\n{{>part}}\n"},
      {"part", "{{#tables.names.rows}}{{name}}{{name_code}}{{/tables.names.rows}}{{{script}}}{{events_b64}}"}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (strcmp(texts[i][0], name) == 0)
      nai_buf_puts(text, texts[i][1]);
  return nai_buf_check(text, err);
}

static void make_sample(struct sample *s) {
  struct nai_err err;
  static char longest[600]; /* the page borrows it */
  memset(longest, '"', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  const char *const names[] = {"plain", "=1+1", "a,\"b\"\n", "1. [x](y) @z", "<b>&amp;", "\xc3\xa9\xff", "", longest};
  *s = (struct sample){.page = {"{}", longest, longest, "", "", ""}};
  assert_int_equal(nai_table_new(&s->names, &names_schema, &err), 0);
  assert_int_equal(nai_table_new(&s->findings, &nai_findings_schema, &err), 0);
  assert_int_equal(nai_table_new(&s->evidence, &nai_evidence_schema, &err), 0);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    int64_t row = nai_table_add_row(s->names);
    nai_set_str(s->names, row, 0, names[i]);
    nai_set_i64(s->names, row, 1, i % 3 ? (int64_t)i * 1000 : NAI_NULL_I64);
    nai_set_f64(s->names, row, 2, i % 2 ? (double)i : (double)INFINITY);
  }
  nai_table_add_row(s->findings);
  set_text(s->findings, 0, "id", "x");
  set_text(s->findings, 0, "title", "A \"finding\"");
  set_text(s->findings, 0, "severity", "high");
  set_text(s->findings, 0, "why", "*Because* <b>");
  set_text(s->findings, 0, "links", "https://example.org/a https://example.org/b");
  nai_table_add_row(s->evidence);
  nai_set_i64(s->evidence, 0, nai_schema_column(&nai_evidence_schema, "finding"), 0);
  set_text(s->evidence, 0, "text", "| seen |");
  s->tables[0] = s->names;
  s->tables[1] = s->findings;
  s->tables[2] = s->evidence;
  s->report = (struct nai_report){.tables = s->tables, .table_count = 3, .version = "1", .top = 8};
  assert_int_equal(nai_templates_new(&s->templates, load, NULL, &err), 0);
}

static void free_sample(struct sample *s) {
  nai_templates_free(s->templates);
  nai_table_free(s->names);
  nai_table_free(s->findings);
  nai_table_free(s->evidence);
}

static int print(struct nai_buf *out, const struct nai_output *output, const struct sample *s, struct nai_err *err) {
  const struct nai_output_context context = {&s->report, s->names, s->templates, &s->page};
  int rc = output->print(out, &context, err);
  nai_buf_flush(out);
  return rc ? rc : nai_buf_check(out, err);
}

TEST(test_every_format) {
  struct sample s;
  make_sample(&s);
  for (int i = 0; nai_outputs[i]; i++) {
    struct nai_err err;
    struct nai_buf whole = {0};
    assert_int_equal(print(&whole, nai_outputs[i], &s, &err), 0);
    bool short_one = strcmp(nai_outputs[i]->name, "list") == 0;
    assert_true(short_one ? whole.len > 0 : whole.len > 3 * NAI_BUF_TAIL); /* several blocks */
    for (size_t room = 0; room <= whole.len; room++) {
      struct small_disk disk = new_disk(NAI_BUF_TAIL, room);
      struct nai_buf out = {.sink = &disk.sink};
      err = (struct nai_err){0};
      int rc = print(&out, nai_outputs[i], &s, &err);
      assert_int_equal(rc, room < whole.len ? NAI_EIO : NAI_OK);
      if (rc)
        assert_string_equal(err.msg, "cannot write \"somewhere\": No space left on device");
      assert_int_equal(disk.got.len, room);
      assert_memory_equal(nai_buf_str(&disk.got), whole.data, room);
      nai_buf_free(&out);
      nai_buf_free(&disk.got);
    }
    nai_buf_free(&whole);
  }
  free_sample(&s);
}

/* The text of a template that shows a printed text escaped and twice. */
TEST(test_printed_text_is_escaped) {
  struct sample s;
  struct nai_err err;
  struct nai_buf page = {0}, json = {0}, packed = {0}, escaped = {0};
  make_sample(&s);
  assert_int_equal(print(&page, &nai_output_html, &s, &err), 0);
  nai_report_json(&json, &s.report, 10000);
  nai_buf_put_block(&packed, &json);
  nai_escape_html(&escaped, packed.data, packed.len);
  assert_memory_equal(page.data, "<p>", 3);
  assert_memory_equal(page.data + 3, escaped.data, escaped.len);
  assert_memory_equal(page.data + 3 + escaped.len, "</p>", 4);
  assert_memory_equal(page.data + 7 + escaped.len, packed.data, packed.len);
  nai_buf_free(&page);
  nai_buf_free(&packed);
  nai_buf_free(&escaped);
  free_sample(&s);
}

/* --- files ------------------------------------------------------------------------------------ */

enum { LINES = 200000 };

static void print_lines(struct nai_buf *out) {
  for (int i = 0; i < LINES; i++)
    nai_buf_printf(out, "line %d\n", i);
}

static void on_alarm(int number) { (void)number; }

/* Reads slowly what print_lines wrote; the exit status of a process of its own. */
static int read_lines(int fd) {
  char line[32], want[32];
  int n = 0;
  FILE *file = fdopen(fd, "r");
  for (; fgets(line, sizeof line, file); n++) {
    snprintf(want, sizeof want, "line %d\n", n);
    if (strcmp(line, want) != 0)
      return 1;
    if (n % 4000 == 0)
      usleep(1000);
  }
  return n == LINES ? 0 : 2;
}

/* A signal every now and then: writes end early, having written a part or nothing. */
TEST(test_short_writes) {
  int ends[2], status;
  char path[32];
  struct nai_err err;
  struct nai_file_sink sink;
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    _exit(read_lines(ends[0]));
  }
  close(ends[0]);
  snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
  assert_int_equal(nai_sink_create(&sink, path, &err), 0);
  close(ends[1]);
  struct sigaction action = {.sa_handler = on_alarm}, before;
  sigaction(SIGALRM, &action, &before);
  setitimer(ITIMER_REAL, &(struct itimerval){{0, 300}, {0, 300}}, NULL);
  print_lines(&sink.text);
  int rc = nai_sink_finish(&sink, NAI_OK, &err);
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  sigaction(SIGALRM, &before, NULL);
  assert_int_equal(rc, 0);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(test_full_disk) {
  struct nai_err err;
  struct nai_file_sink sink;
  assert_int_equal(nai_sink_create(&sink, "/dev/full", &err), 0);
  print_lines(&sink.text);
  assert_true(nai_buf_failed(&sink.text)); /* known while printing */
  assert_int_equal(nai_sink_finish(&sink, NAI_OK, &err), NAI_EIO);
  assert_string_equal(err.msg, "cannot write \"/dev/full\": No space left on device");
  assert_int_equal(nai_sink_create(&sink, "/dev/full", &err), 0);
  nai_buf_puts(&sink.text, "short");
  assert_int_equal(nai_sink_finish(&sink, NAI_OK, &err), NAI_EIO); /* known only at the end */
}

/* The file system takes a part of a write, then refuses. */
TEST(test_file_limit) {
  char path[] = "/tmp/nai-test-sink-XXXXXX";
  int fd = mkstemp(path);
  struct rlimit before, limit;
  struct nai_err err;
  struct nai_file_sink sink;
  assert_true(fd >= 0);
  close(fd);
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &before);
  limit = before;
  limit.rlim_cur = 300001;
  setrlimit(RLIMIT_FSIZE, &limit);
  assert_int_equal(nai_sink_create(&sink, path, &err), 0);
  print_lines(&sink.text);
  int rc = nai_sink_finish(&sink, NAI_OK, &err);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  assert_int_equal(rc, NAI_EIO);
  assert_non_null(strstr(err.msg, "File too large"));
  struct nai_buf text = {0};
  assert_int_equal(nai_fs_read(&text, path, 1 << 20, NAI_EIO, &err), 0);
  assert_int_equal(text.len, 300001);
  nai_buf_free(&text);
  unlink(path);
}

TEST(test_put_aside) {
  const char *const directories[] = {NULL, "/tmp"};
  for (int lines = 0; lines < 2; lines++)
    for (size_t d = 0; d < 2; d++) {
      struct nai_err err;
      struct nai_file_sink sink;
      struct nai_map map;
      struct nai_buf kept = {0};
      assert_int_equal(nai_sink_aside(&sink, directories[d], &err), 0);
      if (lines) {
        print_lines(&sink.text);
        print_lines(&kept);
      }
      assert_int_equal(nai_sink_read(&map, &sink, &err), 0);
      assert_int_equal(map.size, kept.len);
      assert_memory_equal(map.data, nai_buf_str(&kept), kept.len);
      assert_int_equal(nai_sink_finish(&sink, NAI_OK, &err), 0);
      nai_buf_free(&kept);
    }
  struct nai_err err;
  struct nai_file_sink sink;
  int rc = nai_sink_aside(&sink, "/nonexistent", &err);
  assert_int_equal(nai_sink_finish(&sink, rc, &err), NAI_EIO);
}

TEST(test_errors_before) {
  struct nai_err err = {0};
  struct nai_file_sink sink;
  int rc = nai_sink_create(&sink, "/nonexistent/x", &err);
  assert_int_equal(rc, NAI_EIO);
  assert_int_equal(nai_sink_finish(&sink, rc, &err), NAI_EIO);
  assert_string_equal(err.msg, "cannot create \"/nonexistent/x\": No such file or directory");
  assert_int_equal(nai_sink_create(&sink, "/dev/null", &err), 0);
  nai_buf_puts(&sink.text, "x");
  rc = nai_err_set(&err, NAI_EUSAGE, "mine");
  assert_int_equal(nai_sink_finish(&sink, rc, &err), NAI_EUSAGE); /* the first error is the one told */
  assert_string_equal(err.msg, "mine");
}
