/* The server: reads lines, answers what it can at once, runs at most RUNNING commands side by side, and keeps what
 * waits bounded: a client that asks without reading is not read any further. */
#include "features/mcp/internal.h"

#include "base/clock.h"
#include "base/fs.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 64, RUNNING = 4, MAX_PENDING = 4 << 20, MAX_PRINTED = 16 << 20, MAX_SAID = 16 << 10 };
enum { BLOCK = 64 << 10, AT_ONCE = 4096, FAREWELL_MS = 2000 };

/* A call of a tool, from its request to its answer. */
struct slot {
  bool used, running;
  json_t *id, *token; /* token: of progress, or NULL */
  bool modern;
  uint64_t order; /* of arrival */
  struct nai_agent_call call;
  int step;
  struct nai_agent_worker worker;
  struct nai_buf printed[NAI_AGENT_MAX_STEPS], said;
  int64_t deadline_ms;
};

struct server {
  struct nai_agent agent;
  struct nai_buf in, out;
  size_t sent;      /* of out */
  bool skipping;    /* the rest of a line that was too long */
  bool ended;       /* stdin */
  bool hung_up;     /* stdin has an end, which is not read while the output is blocked */
  int64_t moved_ms; /* when that was seen, or output taken last */
  uint64_t arrived;
  struct slot slots[SLOTS];
};

/* --- calls ------------------------------------------------------------------------------------------ */

static void clear(struct slot *slot) {
  if (slot->running)
    nai_agent_kill(&slot->worker);
  nai_agent_call_free(&slot->call);
  json_decref(slot->id);
  json_decref(slot->token);
  for (int i = 0; i < NAI_AGENT_MAX_STEPS; i++)
    nai_buf_free(&slot->printed[i]);
  nai_buf_free(&slot->said);
  *slot = (struct slot){0};
}

static void finish(struct server *s, struct slot *slot, json_t *result) {
  nai_rpc_put_result(&s->out, slot->id, slot->modern, result ? result : nai_agent_refusal("out of memory"));
  clear(slot);
}

static void put_progress(struct server *s, const struct slot *slot) {
  if (slot->token)
    nai_rpc_put_note(&s->out, "notifications/progress",
                     json_pack("{sOsisi}", "progressToken", slot->token, "progress", slot->step, "total",
                               slot->call.step_count));
}

static void start(struct server *s, struct slot *slot) {
  const double seconds = s->agent.options.timeout_s * (slot->call.long_running ? 10 : 1);
  struct nai_err err;
  put_progress(s, slot);
  nai_buf_clear(&slot->said);
  if (nai_agent_start(&slot->worker, &slot->call.steps[slot->step], &err)) {
    finish(s, slot, nai_agent_refusal(err.msg));
    return;
  }
  slot->running = true;
  slot->deadline_ms = nai_clock_ms() + (int64_t)(seconds * 1000);
}

/* Starts those that wait, in the order they came. */
static void start_waiting(struct server *s) {
  for (;;) {
    struct slot *next = NULL;
    int running = 0;
    for (int i = 0; i < SLOTS; i++) {
      running += s->slots[i].running;
      if (s->slots[i].used && !s->slots[i].running && (!next || s->slots[i].order < next->order))
        next = &s->slots[i];
    }
    if (!next || running >= RUNNING)
      return;
    start(s, next);
  }
}

static bool read_result(struct nai_buf *out, const char *path) {
  struct nai_err ignored;
  nai_buf_clear(out);
  return nai_fs_read(out, path, MAX_PRINTED, NAI_EINPUT, &ignored) == NAI_OK;
}

/* What is simulated may not be in the trace: the answer says so, too. */
static bool says_why_not(const struct slot *slot, int status) {
  enum { UNDECIDED = 7 };
  return status == UNDECIDED && strcmp(slot->call.name, "whatif") == 0;
}

/* A command that refuses may say why in its JSON alone. */
static void put_reason(struct nai_buf *out, const struct nai_buf *printed) {
  json_auto_t *read = nai_json_read(nai_buf_str(printed), printed->len, 0, NULL);
  const char *reason = json_string_value(json_object_get(read, "reason"));
  nai_buf_puts(out, reason ? reason : "");
}

/* A command has ended. */
static void end_step(struct server *s, struct slot *slot) {
  int status = nai_agent_wait(&slot->worker);
  NAI_SCOPED(nai_buf) message = {0};
  slot->running = false;
  bool answered = WIFEXITED(status) && (!WEXITSTATUS(status) || says_why_not(slot, WEXITSTATUS(status)));
  if (!answered) {
    nai_agent_put_said(&message, &slot->said);
    if (!message.len)
      put_reason(&message, &slot->printed[slot->step]);
    if (!message.len)
      nai_buf_puts(&message, WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                                 ? "the command was ended, perhaps for want of memory"
                                 : "the command failed without a message");
    finish(s, slot, nai_agent_refusal(nai_buf_str(&message)));
  } else if (++slot->step < slot->call.step_count) {
    start(s, slot);
  } else if (*slot->call.result && slot->call.shape != NAI_AGENT_WRITTEN &&
             !read_result(&slot->printed[0], slot->call.result)) {
    finish(s, slot, nai_agent_refusal("what the command wrote cannot be read"));
  } else {
    finish(s, slot, nai_agent_answer(&s->agent, &slot->call, slot->printed));
  }
}

static void read_worker(struct server *s, struct slot *slot, bool out, bool said) {
  if (out && !nai_agent_read_pipe(&slot->printed[slot->step], &slot->worker.out, MAX_PRINTED, false)) {
    finish(s, slot, nai_agent_refusal("the answer is too large: ask for fewer rows or columns"));
    return;
  }
  if (said && !nai_agent_read_pipe(&slot->said, &slot->worker.said, MAX_SAID, true)) {
    finish(s, slot, nai_agent_refusal("out of memory"));
    return;
  }
  if (slot->worker.out < 0 && slot->worker.said < 0)
    end_step(s, slot);
}

static void end_overdue(struct server *s, struct slot *slot) {
  NAI_SCOPED(nai_buf) message = {0};
  nai_buf_printf(
      &message, "this took longer than %.0f s and was ended: ask for less, or start the server with a longer --timeout",
      s->agent.options.timeout_s * (slot->call.long_running ? 10 : 1));
  finish(s, slot, nai_agent_refusal(nai_buf_str(&message)));
}

/* --- messages --------------------------------------------------------------------------------------- */

static struct slot *free_slot(struct server *s) {
  for (int i = 0; i < SLOTS; i++)
    if (!s->slots[i].used)
      return &s->slots[i];
  return NULL;
}

static void call(struct server *s, const struct nai_rpc_request *r, struct nai_rpc_error *error) {
  struct slot *slot = free_slot(s); /* there is one, or no line would have been taken */
  NAI_SCOPED(nai_buf) said = {0};
  const json_t *token = json_object_get(r->meta, "progressToken");
  *slot = (struct slot){.used = true, .id = json_incref(r->id), .modern = r->modern, .order = s->arrived++};
  if (json_is_string(token) || json_is_integer(token))
    slot->token = json_incref((json_t *)token);
  if (nai_agent_prepare(&slot->call, &said, error, &s->agent, r->params))
    clear(slot);
  else if (said.len)
    finish(s, slot, nai_agent_refusal(nai_buf_str(&said)));
}

static void cancel(struct server *s, const json_t *id) {
  for (int i = 0; i < SLOTS; i++)
    if (s->slots[i].used && json_equal(s->slots[i].id, id))
      clear(&s->slots[i]);
}

/* Nothing that could be subscribed to ever changes: the stream opens and stays silent. */
static bool listen(struct server *s, const struct nai_rpc_request *r) {
  if (!r->modern || !r->id || strcmp(r->method, "subscriptions/listen") != 0)
    return false;
  nai_rpc_put_note(&s->out, "notifications/subscriptions/acknowledged",
                   json_pack("{s{}s{sO}}", "notifications", "_meta", "io.modelcontextprotocol/subscriptionId", r->id));
  return true;
}

static void take_line(struct server *s, const char *line, size_t len) {
  struct nai_rpc_request r;
  struct nai_rpc_error error = {0};
  bool answer, is_call = false;
  json_t *result = NULL;
  while (len && (line[len - 1] == '\r' || line[len - 1] == ' '))
    len--;
  if (!len)
    return;
  if (!nai_rpc_read(&r, &answer, &error, line, len) && r.method) {
    if (!r.id && strcmp(r.method, "notifications/cancelled") == 0)
      cancel(s, json_object_get(r.params, "requestId"));
    else if (r.id && !listen(s, &r))
      result = nai_agent_method(&is_call, &error, &s->agent, &r);
    if (is_call)
      call(s, &r, &error);
  }
  if (error.code && answer)
    nai_rpc_put_error(&s->out, r.id, &error);
  else if (result)
    nai_rpc_put_result(&s->out, r.id, r.modern, result);
  json_decref(error.data);
  nai_rpc_free(&r);
}

/* Whether a further message may be taken: there is a slot for it, and the client reads what it is told. */
static bool is_blocked(const struct server *s) { return s->out.len - s->sent >= MAX_PENDING; }
static bool has_room(struct server *s) { return free_slot(s) && !is_blocked(s); }

static void take_lines(struct server *s) {
  size_t start = 0;
  for (const char *end; has_room(s) && start < s->in.len; start = (size_t)(end - s->in.data) + 1) {
    end = memchr(s->in.data + start, '\n', s->in.len - start);
    if (!end)
      break;
    if (!s->skipping)
      take_line(s, s->in.data + start, (size_t)(end - s->in.data) - start);
    s->skipping = false;
  }
  if (start)
    memmove(s->in.data, s->in.data + start, s->in.len - start);
  s->in.len -= start;
  if (s->in.len > NAI_AGENT_MAX_LINE + 1 && !memchr(s->in.data, '\n', s->in.len)) {
    if (!s->skipping)
      take_line(s, s->in.data, s->in.len); /* which says that it is too long */
    s->skipping = true;
    s->in.len = 0;
  }
}

static int read_input(struct server *s, struct nai_err *err) {
  char *room = nai_buf_reserve(&s->in, BLOCK);
  NAI_TRY(nai_memory_check(room, err));
  ssize_t n = read(STDIN_FILENO, room, BLOCK);
  if (n < 0 && errno != EINTR && errno != EAGAIN)
    return nai_err_sys(err, NAI_EIO, errno, "cannot read standard input");
  s->in.len += n > 0 ? (size_t)n : 0;
  s->ended = n == 0;
  return NAI_OK;
}

/* As much as the pipe takes without blocking. */
static int write_output(struct server *s, struct nai_err *err) {
  size_t len = s->out.len - s->sent;
  ssize_t n = write(STDOUT_FILENO, s->out.data + s->sent, len < AT_ONCE ? len : AT_ONCE);
  if (n < 0 && errno != EINTR && errno != EAGAIN)
    return nai_err_sys(err, NAI_EIO, errno, "cannot write to standard output");
  s->sent += n > 0 ? (size_t)n : 0;
  s->moved_ms = n > 0 ? nai_clock_ms() : s->moved_ms;
  if (s->sent == s->out.len || s->sent > MAX_PENDING) {
    memmove(s->out.data, s->out.data + s->sent, s->out.len - s->sent);
    s->out.len -= s->sent;
    s->sent = 0;
  }
  return NAI_OK;
}

/* --- the loop --------------------------------------------------------------------------------------- */

/* Milliseconds to the first deadline, -1 when there is none. */
static int time_left(const struct server *s) {
  int64_t first = s->hung_up && is_blocked(s) ? s->moved_ms + FAREWELL_MS : INT64_MAX, now = nai_clock_ms();
  for (int i = 0; i < SLOTS; i++)
    if (s->slots[i].running && s->slots[i].deadline_ms < first)
      first = s->slots[i].deadline_ms;
  return first == INT64_MAX ? -1 : first <= now ? 0 : first - now > 60000 ? 60000 : (int)(first - now);
}

/* A client that has closed the input and reads no answers is gone. */
static void see_the_end(struct server *s) {
  if (!s->hung_up)
    s->moved_ms = nai_clock_ms();
  s->hung_up = true;
}

static int turn(struct server *s, struct nai_err *err) {
  struct pollfd fds[2 + 2 * SLOTS];
  bool may_read = has_room(s); /* else only whether the input has an end is looked at, once */
  fds[0] = (struct pollfd){may_read || !s->hung_up ? STDIN_FILENO : -1, may_read ? POLLIN : 0, 0};
  fds[1] = (struct pollfd){s->out.len > s->sent ? STDOUT_FILENO : -1, POLLOUT, 0};
  for (int i = 0; i < SLOTS; i++) {
    const struct slot *slot = &s->slots[i];
    fds[2 + 2 * i] = (struct pollfd){slot->running ? slot->worker.out : -1, POLLIN, 0};
    fds[3 + 2 * i] = (struct pollfd){slot->running ? slot->worker.said : -1, POLLIN, 0};
  }
  if (poll(fds, sizeof fds / sizeof *fds, time_left(s)) < 0 && errno != EINTR)
    return nai_err_sys(err, NAI_ELIMIT, errno, "cannot wait for messages");
  if (fds[1].revents)
    NAI_TRY(write_output(s, err));
  for (int i = 0; i < SLOTS; i++)
    if (s->slots[i].running && (fds[2 + 2 * i].revents || fds[3 + 2 * i].revents))
      read_worker(s, &s->slots[i], fds[2 + 2 * i].revents != 0, fds[3 + 2 * i].revents != 0);
  for (int i = 0; i < SLOTS; i++)
    if (s->slots[i].running && s->slots[i].deadline_ms <= nai_clock_ms())
      end_overdue(s, &s->slots[i]);
  if (fds[0].revents && may_read)
    NAI_TRY(read_input(s, err));
  else if (fds[0].revents)
    see_the_end(s);
  s->ended |= s->hung_up && is_blocked(s) && s->moved_ms + FAREWELL_MS <= nai_clock_ms();
  take_lines(s);
  start_waiting(s);
  return nai_buf_check(&s->out, err);
}

/* What was answered before the end is still told, to a client that reads. */
static int say_farewell(struct server *s, struct nai_err *err) {
  for (int64_t until = nai_clock_ms() + FAREWELL_MS; s->out.len > s->sent && nai_clock_ms() < until;) {
    struct pollfd fd = {STDOUT_FILENO, POLLOUT, 0};
    if (poll(&fd, 1, FAREWELL_MS) > 0)
      NAI_TRY(write_output(s, err));
  }
  return NAI_OK;
}

static void clear_all(struct server *s) {
  for (int i = 0; i < SLOTS; i++)
    if (s->slots[i].used)
      clear(&s->slots[i]);
}

static void server_free(struct server *s) {
  clear_all(s);
  nai_agent_close(&s->agent);
  nai_buf_free(&s->in);
  nai_buf_free(&s->out);
  free(s);
}

static int serve(struct server *s, const struct nai_agent_options *options, struct nai_err *err) {
  NAI_TRY(nai_agent_open(&s->agent, options, err));
  while (!s->ended)
    NAI_TRY(turn(s, err));
  clear_all(s);
  return say_farewell(s, err);
}

int nai_agent_serve(const struct nai_agent_options *options, struct nai_err *err) {
  struct server *s = calloc(1, sizeof *s);
  NAI_TRY(nai_memory_check(s, err));
  umask(077); /* what it keeps is the user's own */
  int rc = serve(s, options, err);
  server_free(s);
  return rc;
}
