/* What the command line, the output and the names of an export say of the program: matched here, by the patterns of
 * rules/program-marks.yaml, so that only the names of these patterns leave the export; and names of threads. */
#include "trace/extraction.h"
#include "trace/small.h"

#include "base/buf.h"
#include "base/text.h"
#include "config/patterns.h"
#include "tables/processes.h"
#include "tables/program_marks.h"

enum source { COMMAND, FLAG, OUTPUT, FAILURE, NAME, SOURCES };
/* How the table calls them, and the file; behind them what starts programs and is none itself. */
static const char *const sources[SOURCES + 2] = {"command", "flag", "output", "failure", "name", "starters", NULL};
enum { STARTERS = SOURCES, SECTIONS };

struct marks {
  struct extraction *x;
  struct nai_table *table;
  struct nai_yaml *doc;
  struct nai_patterns *sets[SECTIONS]; /* NULL until needed */
  bool *seen[SOURCES];                 /* per class: it has its row */
  struct nai_keyset processes;         /* that were recorded, or started by the profiler */
  struct nai_strings threads;          /* names of their threads without a row */
  struct nai_lookup *strings;          /* opened when first needed */
  bool module_next;                    /* -m was the last argument */
  bool begun;                          /* the program's own arguments have begun */
};

static void marks_free(struct marks *m) {
  for (int s = 0; s < SECTIONS; s++)
    nai_patterns_free(m->sets[s]);
  nai_keyset_free(&m->processes);
  nai_strings_free(&m->threads);
  nai_lookup_close(m->strings);
  nai_yaml_free(m->doc);
}

static int open_file(struct marks *m, struct nai_err *err) {
  NAI_TRY(nai_yaml_load_builtin(&m->doc, "rules/program-marks.yaml", err));
  return nai_yaml_expect_keys(m->doc, nai_yaml_root(m->doc), sources, err);
}

/* The patterns of one section, when something is to be matched with them. */
static int load(struct marks *m, int section, struct nai_err *err) {
  const struct nai_yaml_node *map;
  if (m->sets[section])
    return NAI_OK;
  NAI_TRY(nai_yaml_require(&map, m->doc, nai_yaml_root(m->doc), sources[section], err));
  NAI_TRY(nai_patterns_new(&m->sets[section], err));
  for (const struct nai_yaml_node *class = nai_yaml_first(m->doc, map); class; class = nai_yaml_next(m->doc, class))
    NAI_TRY(nai_patterns_add_class(m->sets[section], class->key, m->doc, class, err));
  if (section == STARTERS)
    return NAI_OK;
  return NAI_NEW(m->seen[section], &m->x->arena, (size_t)nai_patterns_class_count(m->sets[section]), err);
}

static void see(struct marks *m, enum source source, const char *text) {
  int class = nai_patterns_match(m->sets[source], text);
  if (class < 0 || m->seen[source][class])
    return;
  m->seen[source][class] = true;
  NAI_ADD(PROGRAM_MARKS, m->table, .source = sources[source], .mark = nai_patterns_class(m->sets[source], class),
          .line = source == FAILURE && m->x->options->show_output ? text : NULL);
}

/* --- the command line --------------------------------------------------------------------------- */

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/'), *back = strrchr(path, '\\');
  const char *last = back > slash ? back : slash;
  return last ? last + 1 : path;
}

static bool starts(const struct marks *m, struct nai_arena *arena, const char *text) {
  return nai_patterns_match(m->sets[STARTERS], nai_arena_printf(arena, "/%s/", base_name(text))) >= 0;
}

/* The program itself, or what starts it: then its own arguments are still to come. */
static void see_command(struct marks *m, struct nai_arena *arena, const char *text) {
  see(m, COMMAND, nai_arena_printf(arena, "/%s/", base_name(text)));
  m->begun = !starts(m, arena, text);
}

/* Before the program's own arguments a path, a script or another starter goes on; a plain word is a flag's value. */
static bool names_program(const struct marks *m, struct nai_arena *arena, const char *text) {
  static const char *const ends[] = {".py", ".jl", ".sh"};
  if (strchr(text, '='))
    return false;
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (nai_text_ends(text, ends[i]) && text[3])
      return true;
  return strchr(text, '/') || starts(m, arena, text);
}

static void see_argument(struct marks *m, struct nai_arena *arena, const char *text) {
  bool module = m->module_next;
  m->module_next = !m->begun && strcmp(text, "-m") == 0;
  bool option = *text == '-';
  if (module || (!option && !m->begun && names_program(m, arena, text)))
    see_command(m, arena, text);
  else if (strcmp(text, "-c") == 0 && !m->begun)
    m->begun = true; /* what follows is code, and its arguments */
  else if (option)
    see(m, FLAG, nai_arena_printf(arena, "%.*s", (int)strcspn(text, "="), text));
}

/* What PROCESS_0:COMMAND or PROCESS_0:ARGUMENT_1 holds; the rest of the table is options of the profiler. */
static bool is_called(const struct nai_cell *name, const char *what) {
  const char *colon = nai_cell_is_text(name) ? memchr(name->data, ':', name->len) : NULL;
  size_t len = strlen(what), left = colon ? name->len - (size_t)(colon - name->data) : 0;
  return left >= len && memcmp(colon, what, len) == 0 && name->len > 8 && memcmp(name->data, "PROCESS_", 8) == 0;
}

static int on_fact(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  enum { TEXT_BYTES = 4096 };
  struct marks *m = ctx;
  bool command = is_called(&cells[0], ":COMMAND");
  if (!command && !is_called(&cells[0], ":ARGUMENT_"))
    return NAI_OK;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_TRY(load(m, COMMAND, err));
  NAI_TRY(load(m, FLAG, err));
  NAI_TRY(load(m, STARTERS, err));
  const char *text = nai_small_text(&arena, &cells[1], TEXT_BYTES);
  if (text && command)
    see_command(m, &arena, text);
  else if (text)
    see_argument(m, &arena, text);
  return nai_arena_check(&arena, err);
}

/* --- output and names --------------------------------------------------------------------------- */

/* One line, without what ends it. */
static int see_line(struct marks *m, const char *line, size_t len, struct nai_err *err) {
  enum { LINE_BYTES = 400 };
  NAI_SCOPED(nai_buf) clean = {0};
  nai_text_clean(&clean, line, len < LINE_BYTES ? len : LINE_BYTES);
  see(m, OUTPUT, nai_buf_str(&clean));
  see(m, FAILURE, nai_buf_str(&clean));
  return nai_buf_check(&clean, err);
}

static int on_text(void *ctx, int64_t process, const struct nai_cell *file, const struct nai_cell *text,
                   struct nai_err *err) {
  enum { MAX_LINES = 20000 };
  struct marks *m = ctx;
  const char *line = text->data, *end = text->data + text->len;
  bool added;
  (void)file;
  if (process)
    nai_keyset_add(&m->processes, nai_process_key(process), &added);
  NAI_TRY(load(m, OUTPUT, err));
  NAI_TRY(load(m, FAILURE, err));
  for (int i = 0; line < end && i < MAX_LINES; i++) {
    const char *stop = line;
    while (stop < end && *stop != '\n' && *stop != '\r')
      stop++;
    NAI_TRY(see_line(m, line, (size_t)(stop - line), err));
    line = stop + 1;
  }
  return NAI_OK;
}

/* Names of kernels are one word; StringIds holds outputs, too. */
static int on_name(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  enum { MIN_BYTES = 4, MAX_BYTES = 4096 };
  struct marks *m = ctx;
  char copy[MAX_BYTES + 1];
  (void)err;
  if (!nai_cell_is_text(&cells[0]) || cells[0].len < MIN_BYTES || cells[0].len > MAX_BYTES)
    return NAI_OK;
  memcpy(copy, cells[0].data, cells[0].len);
  copy[cells[0].len] = '\0';
  if (!strpbrk(copy, " \t\r\n/"))
    see(m, NAME, copy);
  return NAI_OK;
}

static int on_kernel(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  (void)cells;
  (void)err;
  *(bool *)ctx = true;
  return NAI_OK;
}

/* Where kernels are recorded, their rows tell more: which ran, and for how long. */
static int see_names(struct marks *m, struct nai_err *err) {
  enum { MAX_NAMES = 1000000 };
  bool recorded = false;
  NAI_TRY(nai_small_scan(m->x->trace, "CUPTI_ACTIVITY_KIND_KERNEL", (const char *const[]){"start", NULL}, 1, on_kernel,
                         &recorded, err));
  if (recorded)
    return NAI_OK;
  NAI_TRY(load(m, NAME, err));
  return nai_small_scan(m->x->trace, "StringIds", (const char *const[]){"value", NULL}, MAX_NAMES, on_name, m, err);
}

/* --- threads ------------------------------------------------------------------------------------ */

static bool has(const struct nai_keyset *set, int64_t key) { return nai_keyset_find(set, key) != UINT32_MAX; }

/* A thread of a process that was recorded, which itself did nothing that was. */
static int on_thread(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  enum { MAX_THREADS = 1000, MAX_CHARS = 64 };
  struct marks *m = ctx;
  int64_t tid = nai_small_int(&cells[0], 0), process = nai_process_key(tid);
  struct nai_cell cell;
  bool found;
  if (!process || !has(&m->processes, process) || has(&m->x->identity.threads, tid) || m->threads.count == MAX_THREADS)
    return NAI_OK;
  if (!m->strings)
    NAI_TRY(nai_string_open(&m->strings, m->x->trace, err));
  NAI_TRY(nai_string_get(&found, &cell, m->strings, nai_small_int(&cells[1], -1), err));
  const char *name = found ? nai_small_text(&m->x->arena, &cell, MAX_CHARS) : NULL;
  if (!name || !*name)
    return nai_arena_check(&m->x->arena, err);
  uint32_t known = m->threads.count, id = nai_strings_add(&m->threads, name, strlen(name));
  if (id == known)
    NAI_ADD(PROGRAM_MARKS, m->table, .source = "thread", .mark = name);
  return id == NAI_NO_STRING ? nai_err_nomem(err) : NAI_OK;
}

static int see_threads(struct marks *m, struct nai_err *err) {
  const struct nai_table *processes = m->x->out->tables[NAI_IN_PROCESSES];
  bool added;
  for (int64_t i = 0; i < processes->rows; i++)
    nai_keyset_add(&m->processes, nai_get_i64(processes, i, PROCESSES_process_key), &added);
  NAI_TRY(nai_small_scan(m->x->trace, "ThreadNames", (const char *const[]){"globalTid", "nameId", NULL}, 1000000,
                         on_thread, m, err));
  return m->processes.oom ? nai_err_nomem(err) : nai_arena_check(&m->x->arena, err);
}

int nai_put_marks(struct extraction *x, struct nai_table *table, struct nai_err *err) {
  enum { MAX_FACTS = 10000 };
  NAI_SCOPED(marks) m = {.x = x, .table = table};
  NAI_TRY(open_file(&m, err));
  NAI_TRY(nai_small_scan(x->trace, "META_DATA_CAPTURE", (const char *const[]){"name", "value", NULL}, MAX_FACTS,
                         on_fact, &m, err));
  NAI_TRY(nai_each_output(x, on_text, &m, err));
  NAI_TRY(see_names(&m, err));
  NAI_TRY(see_threads(&m, err));
  for (int s = 0; s < SECTIONS; s++)
    if (m.sets[s])
      NAI_TRY(nai_patterns_check(m.sets[s], err));
  return NAI_OK;
}
