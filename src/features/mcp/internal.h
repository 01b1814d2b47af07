/* The parts of the server. Internal to src/features/mcp. */
#pragma once

#include "features/mcp/agent.h"
#include "base/arena.h"
#include "base/buf.h"
#include "table/json_read.h"

/* Codes of JSON-RPC and of the protocol. */
enum {
  NAI_RPC_PARSE = -32700,
  NAI_RPC_INVALID = -32600,
  NAI_RPC_NO_METHOD = -32601,
  NAI_RPC_PARAMS = -32602,
  NAI_RPC_INTERNAL = -32603,
  NAI_RPC_VERSION = -32022
};
enum { NAI_AGENT_MAX_LINE = 1 << 20, NAI_AGENT_MAX_DEPTH = 64, NAI_AGENT_MAX_ID = 256 };

/* What the server knows for its lifetime. */
struct nai_agent {
  struct nai_agent_options options;
  char *roots[NAI_AGENT_MAX_ROOTS]; /* canonical */
  size_t root_count;
  char cache[PATH_MAX - 64];
  int64_t cache_bytes; /* what it may take */
  json_t *catalogue;   /* catalogue.json: tools, prompts, resources */
};
NAI_MUST_CHECK int nai_agent_open(struct nai_agent *agent, const struct nai_agent_options *options,
                                  struct nai_err *err);
void nai_agent_close(struct nai_agent *agent);

/* --- message.c ------------------------------------------------------------------------------------------------ */

struct nai_rpc_error {
  int code; /* 0: none */
  char message[1024];
  json_t *data; /* or NULL; owned */
};
int nai_rpc_fail(struct nai_rpc_error *error, int code, const char *fmt, ...) NAI_PRINTF(3, 4);

/* One message. The members are borrowed from `document`. */
struct nai_rpc_request {
  json_t *document, *id, *params, *meta;
  const char *method; /* NULL: a reply, which nobody waits for */
  bool modern;        /* says its version itself, in _meta */
};
/* Reads a line. Returns 0 or error->code. A request without an id that fails is not answered: *answer is false. */
int nai_rpc_read(struct nai_rpc_request *request, bool *answer, struct nai_rpc_error *error, const char *line,
                 size_t len);
void nai_rpc_free(struct nai_rpc_request *request);

/* Append one line each. `result` is taken over. */
void nai_rpc_put_result(struct nai_buf *out, const json_t *id, bool modern, json_t *result);
void nai_rpc_put_error(struct nai_buf *out, const json_t *id, struct nai_rpc_error *error);
void nai_rpc_put_note(struct nai_buf *out, const char *method, json_t *params);
/* JSON on one line; reals with as few digits as they need. */
void nai_agent_print(struct nai_buf *out, const json_t *value);

/* --- agent_schema.c ------------------------------------------------------------------------------------------- */

/* Checks a value against the parts of JSON Schema that catalogue.json uses. `where` names it in messages. */
int nai_agent_check(struct nai_rpc_error *error, const json_t *schema, const json_t *value, const char *where);

/* --- paths.c -------------------------------------------------------------------------------------------------- */

enum nai_agent_path_kind { NAI_AGENT_TRACE = 1, NAI_AGENT_RUN = 2, NAI_AGENT_FILE = 4 };
/* The canonical path of what a client names, which lies below a root, or the directory of a handle. NAI_EUSAGE with a
 * sentence for the client; it is the same whether something outside the roots exists or not. */
NAI_MUST_CHECK int nai_agent_path(char out[PATH_MAX], const struct nai_agent *agent, const char *given, int kinds,
                                  struct nai_err *err);
/* A directory of the cache, "r-" and 16 hexadecimal digits: the same for the same trace and words. */
NAI_MUST_CHECK int nai_agent_handle(char handle[32], const char *trace, const char *const *words, size_t count,
                                    struct nai_err *err);
bool nai_agent_is_handle(const char *text);

/* Keeps what the server has stored within bounds (base/cache.h). */
void nai_agent_sweep(const struct nai_agent *agent);

/* --- agent_worker.c ------------------------------------------------------------------------------------------- */

enum { NAI_AGENT_MAX_WORDS = 256, NAI_AGENT_MAX_STEPS = 2 };

/* A command line of this program. */
struct nai_agent_words {
  struct nai_arena *arena; /* of the words; `oom` also stands for too many of them */
  const char *words[NAI_AGENT_MAX_WORDS + 1];
  size_t count;
};
/* Adds copies of texts; the last argument is NULL. */
void nai_agent_put_words(struct nai_agent_words *words, ...) __attribute__((sentinel));

/* A command that runs. */
struct nai_agent_worker {
  int pid, out, said; /* out, said: what it prints on stdout and stderr, -1 once at its end */
};
NAI_MUST_CHECK int nai_agent_start(struct nai_agent_worker *worker, const struct nai_agent_words *words,
                                   struct nai_err *err);
/* Ends it with everything it started; what it has become is of no interest. */
void nai_agent_kill(struct nai_agent_worker *worker);
/* Waits for its end, when both pipes are at theirs. The wait status. */
int nai_agent_wait(struct nai_agent_worker *worker);
/* Reads what a pipe has; *fd becomes -1 at its end. Of more than `most` bytes the rest is dropped: false unless `keep`.
 */
bool nai_agent_read_pipe(struct nai_buf *out, int *fd, size_t most, bool keep);
/* Appends the last line that a command said, without what is for people at a terminal. */
void nai_agent_put_said(struct nai_buf *out, const struct nai_buf *said);

/* --- calls.c, tools.c ------------------------------------------------------------------------------------------- */

enum nai_agent_shape {
  NAI_AGENT_ROWS,   /* a table, delivered by pages */
  NAI_AGENT_BLOCKS, /* several tables */
  NAI_AGENT_OBJECT, /* any JSON */
  NAI_AGENT_TEXT,   /* delivered by pages */
  NAI_AGENT_WRITTEN /* a file for others: where it is */
};

/* A call of a tool: what is run, and what becomes of what that prints. */
struct nai_agent_call {
  struct nai_arena arena; /* of the words of its steps */
  const char *name;
  json_t *arguments; /* owned */
  enum nai_agent_shape shape;
  int64_t limit, offset; /* rows, or bytes of a text */
  int64_t skipped;       /* rows at the beginning that are not printed */
  uint64_t hash;         /* of tool and arguments but limit and cursor: what a cursor belongs to */
  struct nai_agent_words steps[NAI_AGENT_MAX_STEPS];
  int step_count;
  char run[PATH_MAX];    /* how the answer calls the run; "" none */
  char result[PATH_MAX]; /* a file that the last step wrote, told of or read in the place of what it printed; "" none */
  bool long_running;
  size_t cell_chars; /* most characters of a text cell */
};
/* Checks the arguments and says what to run. Returns 0 or error->code; *said, when not empty, is why the call cannot be
 * made, to be told as the tool's answer. */
int nai_agent_prepare(struct nai_agent_call *call, struct nai_buf *said, struct nai_rpc_error *error,
                      const struct nai_agent *agent, const json_t *params);
void nai_agent_call_free(struct nai_agent_call *call);
/* tools.c: fills the call's steps from its checked arguments. */
NAI_MUST_CHECK int nai_agent_plan(struct nai_agent_call *call, const struct nai_agent *agent, struct nai_err *err);
/* statements.c: a parameter of a statement, and statements that tools are. */
void nai_agent_put_parameter(struct nai_agent_words *words, const char *name, const json_t *value);
NAI_MUST_CHECK int nai_agent_table_statement(struct nai_buf *sql, struct nai_agent_words *words,
                                             const json_t *arguments, struct nai_err *err);
void nai_agent_findings_statement(struct nai_buf *sql, struct nai_agent_words *words, const json_t *arguments);

/* --- agent_answer.c ------------------------------------------------------------------------------------------- */

/* The result of a call from what its steps printed. */
json_t *nai_agent_answer(const struct nai_agent *agent, const struct nai_agent_call *call,
                         const struct nai_buf printed[NAI_AGENT_MAX_STEPS]);
/* The result that says why a call failed. */
json_t *nai_agent_refusal(const char *message);
/* "OFFSET.HASH": where the answer of the call goes on. */
json_t *nai_agent_cursor(const struct nai_agent_call *call, int64_t offset);

/* --- methods.c ------------------------------------------------------------------------------------------------ */

/* The result of a request that needs no process. *is_call: it is a call of a tool and NULL is returned. NULL with
 * error->code set on failure. */
json_t *nai_agent_method(bool *is_call, struct nai_rpc_error *error, const struct nai_agent *agent,
                         const struct nai_rpc_request *request);
