/* nsys-ai open: a run in a browser, as report.html or in ui.perfetto.dev. */
#include "features/export/command.h"
#include "base/clock.h"
#include "features/nights/store.h"

#include "base/threads.h"
#include "pipeline/analyze.h"
#include "rundir/run.h"

#include <netinet/in.h>
#include <poll.h>
#include <spawn.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

struct open_args {
  int with;
  const char *out, *store;
  bool no_browser, quiet;
  int port, timeout_s;
};

static void init(void *memory) {
  struct open_args *args = memory;
  args->port = 9001; /* the one that ui.perfetto.dev may read from */
  args->timeout_s = 120;
}

enum { HTML, PERFETTO, TUI };
NAI_CLI_NAMES(viewer_name, [HTML] = "html", [PERFETTO] = "perfetto", [TUI] = "tui")

#define NAI_CLI_ARGS struct open_args
static const struct nai_cli_option options[] = {
    NAI_CLI_OPTION(
        choice, with, "with", "VIEWER",
        "the run's own page, ui.perfetto.dev, which needs internet in the browser (the trace stays here), or "
        "nsys-ai view in this terminal",
        .choices = viewer_name),
    NAI_CLI_OPTION(text, out, "out", "DIR", "html: where the run of a trace is kept", .letter = 'o',
                   .otherwise = "a temporary directory", .hint = NAI_CLI_FILE),
    NAI_CLI_OPTION(text, store, "store", "DIR", "html: where SRC is store:RUN-ID, the store",
                   .hint = NAI_CLI_DIRECTORY),
    NAI_CLI_SWITCH(on, no_browser, "no-browser", "print what to open, start nothing"),
    NAI_CLI_OPTION(int, port, "port", "N", "perfetto: port on 127.0.0.1; ui.perfetto.dev may read from 9001 only",
                   .max = 65535),
    NAI_CLI_OPTION(int, timeout_s, "timeout", "S", "perfetto: how long to wait for the browser, in seconds",
                   NAI_CLI_RANGE(1, 86400)),
    NAI_CMD_EXPORT_OPTION,
    NAI_CLI_SWITCH(on, quiet, "quiet", "print no notes", .letter = 'q'),
    {0},
};

/* --- browser ----------------------------------------------------------------------------------------- */

static bool is_set(const char *variable) {
  const char *value = getenv(variable);
  return value && *value;
}

/* $BROWSER (the first of its list), else xdg-open where there is a screen; nothing else is tried. */
static void start_browser(const struct open_args *args, const char *what) {
  char program[PATH_MAX] = "xdg-open";
  char *const argv[] = {program, (char *)what, NULL};
  posix_spawn_file_actions_t actions;
  pid_t pid;
  if (args->no_browser || (!is_set("BROWSER") && !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")))
    return;
  if (is_set("BROWSER"))
    snprintf(program, sizeof program, "%.*s", (int)strcspn(getenv("BROWSER"), ":"), getenv("BROWSER"));
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1, 0);
  int failed = posix_spawnp(&pid, program, &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed && !args->quiet)
    fprintf(stderr, "nsys-ai: cannot start %s: %s\n", program, strerror(failed));
}

/* Says what is opened, then opens it. */
static void show(const struct open_args *args, const char *what) {
  printf("%s\n", what);
  fflush(stdout);
  start_browser(args, what);
}

/* --- html -------------------------------------------------------------------------------------------- */

static void print_note(const char *line) { fprintf(stderr, "nsys-ai: %s\n", line); }

static void init_options(struct nai_options *how, const char *out) {
  nai_options_init(how);
  how->out = out;
  how->note = print_note;
  how->threads = nai_cpu_count();
}

static int analyze(const char *trace, const char *out, const struct open_args *args, struct nai_err *err) {
  NAI_SCOPED(nai_cmd_export) export = {0};
  NAI_SCOPED(nai_result) result = {.worst = -1};
  struct nai_options how;
  init_options(&how, out);
  NAI_TRY(nai_cmd_export_open(&export, trace, args->quiet ? NAI_CMD_EXPORT_QUIET : 0, err));
  how.trace = export.path;
  return nai_analyze(&result, &how, NULL, err);
}

/* A run in one file has no page of its own. */
static int render(const char *path, const char *out, struct nai_err *err) {
  NAI_OWNED(nai_run) *run = NULL;
  struct nai_options how;
  init_options(&how, out);
  NAI_TRY(nai_run_open(&run, path, err));
  return nai_render_run(run, &how, err);
}

/* A directory that stays: the browser reads it when it likes. */
static int make_place(char path[PATH_MAX], struct nai_err *err) {
  if (!nai_fs_join(path, PATH_MAX, nai_temporary_place(), "nsys-ai.XXXXXX"))
    return nai_err_set(err, NAI_EUSAGE, "the path of TMPDIR is too long");
  return mkdtemp(path) ? NAI_OK : nai_err_sys(err, NAI_EIO, errno, "cannot create \"%s\"", path);
}

/* Writes a run of `source`, where that is a trace or a run in one file. */
static int write_run(const char **directory, char place[PATH_MAX], const struct open_args *args, const char *source,
                     struct nai_err *err) {
  bool is_trace = nai_cmd_is_trace(source);
  *directory = source;
  if (!is_trace && (nai_fs_is_dir(source) || !nai_cmd_is_run(source)))
    return NAI_OK;
  if (!args->out)
    NAI_TRY(make_place(place, err));
  *directory = args->out ? args->out : place;
  int rc = is_trace ? analyze(source, *directory, args, err) : render(source, *directory, err);
  if (rc && !args->out)
    rmdir(place);
  return rc;
}

/* Of what has no page: why. */
static int refuse(const char *directory, struct nai_err *err) {
  char inside[PATH_MAX];
  if (!nai_fs_exists(directory))
    return nai_err_set(err, NAI_EINPUT, "there is no directory \"%s\"", directory);
  return nai_run_find_inside(inside, directory)
           ? nai_err_set(err, NAI_EINPUT, "\"%s\" is no run, it holds runs: name one of them, such as \"%s\"",
                         directory, inside)
           : nai_err_set(err, NAI_EINPUT, "\"%s\" holds no report.html; make one with nsys-ai analyze", directory);
}

static int open_html(const struct open_args *args, const char *source, struct nai_err *err) {
  NAI_SCOPED(nai_store_selection) stored = {0};
  char path[PATH_MAX], absolute[PATH_MAX], place[PATH_MAX];
  const char *directory, *id = strncmp(source, "store:", 6) == 0 ? source + 6 : NULL;
  if (id && !args->store)
    return nai_err_set(err, NAI_EUSAGE, "\"%s\" is a run of a store: --store DIR is missing", source);
  if (id)
    NAI_TRY(nai_store_select_run(&stored, args->store, id, err));
  NAI_TRY(write_run(&directory, place, args, id ? nai_strings_get(&stored.directories, 0) : source, err));
  if ((size_t)snprintf(path, sizeof path, "%s/report.html", directory) >= sizeof path)
    return nai_err_set(err, NAI_EUSAGE, "the path \"%s\" is too long", directory);
  if (!nai_fs_exists(path))
    return refuse(directory, err);
  show(args, realpath(path, absolute) ? absolute : path);
  return NAI_OK;
}

/* --- server ------------------------------------------------------------------------------------------ */

enum { SECRET = 33, MAX_REQUEST = 16384, HEAD_SECONDS = 5, STALL_SECONDS = 20 };
static const char site[] = "https://ui.perfetto.dev"; /* the only one whose pages may read the file */

/* One file, given once to one page of a browser on this machine. */
struct server {
  int listener, port;
  char secret[SECRET]; /* the path's random part */
};

/* Listens on 127.0.0.1, which no other machine reaches. Port 0: any. */
static int open_server(struct server *serve, int port, struct nai_err *err) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  socklen_t size = sizeof at;
  unsigned char bytes[SECRET / 2];
  int on = 1;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  *serve = (struct server){.listener = -1};
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
    return nai_err_sys(err, NAI_ELIMIT, errno, "cannot get random numbers");
  for (size_t i = 0; i < sizeof bytes; i++)
    snprintf(serve->secret + 2 * i, 3, "%02x", bytes[i]);
  serve->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (serve->listener >= 0)
    setsockopt(serve->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (serve->listener < 0 || bind(serve->listener, (struct sockaddr *)&at, size) != 0 ||
      listen(serve->listener, 8) != 0 || getsockname(serve->listener, (struct sockaddr *)&at, &size) != 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot listen on 127.0.0.1:%d", port);
  serve->port = ntohs(at.sin_port);
  return NAI_OK;
}

static void server_free(struct server *serve) {
  if (serve->listener >= 0)
    close(serve->listener);
}

/* --- requests ---------------------------------------------------------------------------------------- */

/* Whether the socket is ready before `end`. */
static bool wait_for(int fd, short events, int64_t end) {
  struct pollfd ready = {.fd = fd, .events = events};
  for (;;) {
    int64_t left = end - nai_clock_ms();
    int n = poll(&ready, 1, left > 0 ? (int)left : 0);
    if (n >= 0 || errno != EINTR)
      return n > 0;
  }
}

static bool read_request(char request[MAX_REQUEST], int fd, int64_t end) {
  size_t len = 0;
  int64_t head_end = nai_clock_ms() + HEAD_SECONDS * 1000;
  end = head_end < end ? head_end : end;
  while (len + 1 < MAX_REQUEST && wait_for(fd, POLLIN, end)) {
    ssize_t n = recv(fd, request + len, MAX_REQUEST - 1 - len, 0);
    if (n <= 0)
      return false;
    len += (size_t)n;
    request[len] = '\0';
    if (strlen(request) == len && strstr(request, "\r\n\r\n"))
      return true;
  }
  return false;
}

static bool send_all(int fd, const void *bytes, size_t len, int64_t end) {
  for (size_t at = 0; at < len;) {
    int64_t stall = nai_clock_ms() + STALL_SECONDS * 1000;
    if (!wait_for(fd, POLLOUT, stall < end ? stall : end))
      return false;
    ssize_t n = send(fd, (const char *)bytes + at, len - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
      return false;
    at += n > 0 ? (size_t)n : 0;
  }
  return true;
}

/* Whether the header is there with another value than one of the two. */
static bool header_differs(const char *request, const char *name, const char *value, const char * or) {
  size_t n = strlen(name);
  for (const char *line = strstr(request, "\r\n"); line && line[2] != '\r'; line = strstr(line + 2, "\r\n")) {
    const char *at = line + 2;
    if (strncasecmp(at, name, n) != 0 || at[n] != ':')
      continue;
    at += n + 1 + strspn(at + n + 1, " \t");
    size_t len = strcspn(at, "\r\n");
    if ((len != strlen(value) || strncmp(at, value, len) != 0) && (len != strlen(or) || strncmp(at, or, len) != 0))
      return true;
  }
  return false;
}

/* "200 OK", or why not: pages of other sites, names that were made to point here, other paths and methods. */
static const char *status_of(const struct server *serve, const char *request) {
  char host[32], local[32], wanted[64];
  snprintf(host, sizeof host, "127.0.0.1:%d", serve->port);
  snprintf(local, sizeof local, "localhost:%d", serve->port);
  snprintf(wanted, sizeof wanted, "GET /%s HTTP/1.", serve->secret);
  if (header_differs(request, "Host", host, local) || header_differs(request, "Origin", site, site))
    return "403 Forbidden";
  if (strncmp(request, "GET ", 4) != 0)
    return "405 Method Not Allowed";
  return strncmp(request, wanted, strlen(wanted)) == 0 ? "200 OK" : "404 Not Found";
}

/* Whether the file was given away. */
static bool answer(const struct server *serve, int fd, const struct nai_map *file, int64_t end) {
  char request[MAX_REQUEST], head[512];
  if (!read_request(request, fd, end))
    return false;
  const char *status = status_of(serve, request);
  bool ok = *status == '2';
  int len = snprintf(head, sizeof head,
                     "HTTP/1.1 %s\r\nContent-Length: %zu\r\nContent-Type: application/octet-stream\r\n"
                     "Access-Control-Allow-Origin: %s\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                     "Connection: close\r\n\r\n",
                     status, ok ? file->size : 0, site);
  ok = send_all(fd, head, (size_t)len, end) && ok && send_all(fd, file->data, file->size, end);
  shutdown(fd, SHUT_WR);
  if (ok && wait_for(fd, POLLIN, end)) /* until the other side has it all */
    (void)!recv(fd, head, sizeof head, 0);
  return ok;
}

/* Answers requests until one GET of /SECRET was answered in full, or `seconds` have passed: *served = whether one was.
 * Everything else is refused. */
static int give_once(bool *served, const struct server *serve, const struct nai_map *file, int seconds,
                     struct nai_err *err) {
  int64_t end = nai_clock_ms() + (int64_t)seconds * 1000;
  *served = false;
  while (!*served && wait_for(serve->listener, POLLIN, end)) {
    int fd = accept4(serve->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
      continue;
    if (fd < 0)
      return nai_err_sys(err, NAI_EIO, errno, "cannot accept a connection");
    *served = answer(serve, fd, file, end);
    close(fd);
  }
  return NAI_OK;
}

/* --- perfetto ---------------------------------------------------------------------------------------- */

static int serve(const struct open_args *args, const struct nai_map *file, struct nai_err *err) {
  NAI_SCOPED(server) server = {.listener = -1};
  char url[256];
  bool served = false;
  NAI_TRY(open_server(&server, args->port, err));
  snprintf(url, sizeof url, "%s/#!/?url=http://127.0.0.1:%d/%s", site, server.port, server.secret);
  if (!args->quiet)
    fprintf(stderr,
            "nsys-ai: waiting for the browser, which loads the viewer from the internet and the trace from here. "
            "From another machine, first: ssh -L %d:127.0.0.1:%d HOST\n",
            server.port, server.port);
  show(args, url);
  NAI_TRY(give_once(&served, &server, file, args->timeout_s, err));
  if (!served)
    return nai_err_set(err, NAI_ELIMIT, "nobody asked for the trace within %d s", args->timeout_s);
  return NAI_OK;
}

static int serve_timeline(struct nai_file_sink *sink, const struct open_args *args, const char *source,
                          struct nai_err *err) {
  struct nai_cmd_timeline how = {.write = nai_export_perfetto,
                                 .options = {.gpu = INT64_MIN, .start_ns = INT64_MIN, .end_ns = INT64_MAX},
                                 .quiet = args->quiet};
  struct nai_run *run = NULL;
  struct nai_map file;
  NAI_TRY(nai_cmd_source_open(&run, source, &(struct nai_cmd_source){.quiet = args->quiet}, err));
  int rc = nai_cmd_put_timeline(&sink->text, run, &how, err);
  nai_run_close(run); /* it is not needed while the browser is waited for */
  NAI_TRY(rc);
  NAI_TRY(nai_sink_read(&file, sink, err));
  return serve(args, &file, err);
}

/* The timeline lies in a file without a name: nothing is left, however this ends. */
static int open_perfetto(const struct open_args *args, const char *source, struct nai_err *err) {
  struct nai_file_sink sink;
  NAI_TRY(nai_sink_aside(&sink, nai_temporary_place(), err));
  return nai_sink_finish(&sink, serve_timeline(&sink, args, source, err), err);
}

/* --- the command ------------------------------------------------------------------------------------- */

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct open_args *args = memory;
  (void)count;
  if (args->out && (args->with != HTML || nai_fs_is_dir(operands[0])))
    return nai_err_set(err, NAI_EUSAGE,
                       "--out is for the page of a trace or a stored run: another has its place already");
  return NAI_OK;
}

static int open_view(const char *const *operands, struct nai_err *err) {
  NAI_FREED void *args = calloc(1, nai_cmd_view.args_size);
  NAI_TRY(nai_memory_check(args, err));
  nai_cmd_view.init(args);
  return nai_cmd_view.run(args, operands, 1, err);
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct open_args *args = memory;
  (void)count;
  if (args->with == TUI)
    return open_view(operands, err);
  return args->with == PERFETTO ? open_perfetto(args, operands[0], err) : open_html(args, operands[0], err);
}

NAI_CLI_COMMAND(
    nai_cmd_open, .name = "open", .synopsis = "SRC",
    .summary = "show a run: its page in a browser, its timeline in Perfetto or in the terminal",
    .description =
        "Prints the path or address that shows SRC, an artifacts directory, a trace or store:RUN-ID, and starts $BROWSER with it, "
        "else xdg-open where there is a screen. With perfetto the timeline is given once, on 127.0.0.1, under a random "
        "path and to pages of ui.perfetto.dev only; nothing of it leaves this machine.",
    .examples = "nsys-ai open artifacts/run1\nnsys-ai open trace.sqlite --out artifacts/run1\n"
                "nsys-ai open artifacts/run1 --with perfetto",
    .options = options, .no_json = "it prints one address", NAI_CMD_ONE_SOURCE, .init = init, .check = check,
    .run = run)
