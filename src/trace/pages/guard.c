/* Reading a mapped file that another process truncates raises SIGBUS. The handler puts zero pages in place of what is
 * gone, so that the reader goes on, finds no valid page there, and reports the loss. */
#include "trace/pages/pages.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PLACES = 16 };

static struct place {
  atomic_bool taken;
  atomic_bool lost;
  atomic_uintptr_t begin, end; /* begin is set last and cleared first */
} places[PLACES];

static struct sigaction previous;
static uintptr_t os_page;
static pthread_mutex_t installing = PTHREAD_MUTEX_INITIALIZER;

static void on_sigbus(int signal_number, siginfo_t *info, void *context) {
  (void)signal_number;
  (void)context;
  int saved_errno = errno;
  uintptr_t at = (uintptr_t)info->si_addr & ~(os_page - 1);
  for (int i = 0; i < PLACES; i++) {
    uintptr_t begin = atomic_load(&places[i].begin), end = atomic_load(&places[i].end);
    if (!begin || at < begin || at >= end)
      continue;
    if (mmap((void *)at, end - at, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
      break;
    atomic_store(&places[i].lost, true);
    errno = saved_errno;
    return;
  }
  sigaction(SIGBUS, &previous, NULL); /* not ours: it happens again at once and finds its own handler */
  errno = saved_errno;
}

/* Makes sure that the handler is in place: others may have set theirs since the last time. */
static void install(void) {
  struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO}, current;
  sigemptyset(&action.sa_mask);
  pthread_mutex_lock(&installing);
  os_page = (uintptr_t)sysconf(_SC_PAGESIZE);
  if (sigaction(SIGBUS, NULL, &current) == 0 && current.sa_sigaction != on_sigbus) {
    previous = current;
    sigaction(SIGBUS, &action, NULL);
  }
  pthread_mutex_unlock(&installing);
}

atomic_bool *nai_guard_add(const void *base, size_t bytes) {
  install();
  for (int i = 0; i < PLACES; i++) {
    bool expected = false;
    if (!atomic_compare_exchange_strong(&places[i].taken, &expected, true))
      continue;
    atomic_store(&places[i].lost, false);
    atomic_store(&places[i].end, (uintptr_t)base + bytes);
    atomic_store(&places[i].begin, (uintptr_t)base);
    return &places[i].lost;
  }
  return NULL;
}

void nai_guard_remove(atomic_bool *lost) {
  for (int i = 0; lost && i < PLACES; i++)
    if (lost == &places[i].lost) {
      atomic_store(&places[i].begin, 0);
      atomic_store(&places[i].taken, false);
    }
}
