/* Who reads a run keeps its files from being removed when another run takes its place. The lock is on stages/, not on
 * the run's directory: that one is locked by whoever writes a directory beneath it, and must not wait for readers. */
#pragma once

/* LOCK_SH to read the run in `directory`, LOCK_EX to remove its files; nobody is waited for. `*lock` is to be closed if
 * it is not -1. 0, EWOULDBLOCK when somebody holds it, ENOENT without stages/, or another errno where there are no
 * locks. */
int nai_stages_lock(int *lock, int directory, int operation);
