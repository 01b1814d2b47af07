#include "base/lock.h"

#include "base/std.h"
#include <sys/file.h>

/* A blocking flock could not be given up: others are asked again and again instead. */
int nai_lock(int fd, int operation, int patience_s, nai_lock_waiting_fn *waiting, void *ctx) {
  enum { PER_SECOND = 100 };
  const struct timespec pause = {.tv_nsec = 1000000000 / PER_SECOND};
  for (int tries = 0;; tries++) {
    if (flock(fd, operation | LOCK_NB) == 0)
      return 0;
    if (errno == EINTR)
      continue;
    if (errno != EWOULDBLOCK || tries >= patience_s * PER_SECOND)
      return errno;
    if (tries == PER_SECOND && waiting)
      waiting(ctx);
    nanosleep(&pause, NULL);
  }
}

void nai_unlock(int fd) { flock(fd, LOCK_UN); }
