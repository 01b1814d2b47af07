#include "rundir/stages_lock.h"

#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>

int nai_stages_lock(int *lock, int directory, int operation) {
  *lock = openat(directory, "stages", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return *lock < 0 ? errno : nai_lock(*lock, operation, 0, NULL, NULL);
}
