/* Advisory locks on open files and directories (flock), with patience. */
#pragma once

/* Called once, a second into the waiting. */
typedef void nai_lock_waiting_fn(void *ctx);

/* Locks `fd` (LOCK_SH or LOCK_EX), waiting at most `patience_s` seconds for others; `waiting` may be NULL. 0,
 * EWOULDBLOCK when it is still held by somebody else, or another errno where the file system has no locks. */
int nai_lock(int fd, int operation, int patience_s, nai_lock_waiting_fn *waiting, void *ctx);
void nai_unlock(int fd);
