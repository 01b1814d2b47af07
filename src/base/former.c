#include "base/former.h"

#include "base/buf.h"
#include "base/hash.h"

#include <pthread.h>

enum { MAX_TOLD = 256 }; /* further ones are not told */

static void (*listening)(const char *line);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t told[MAX_TOLD];
static int told_count;

void nai_former_listen(void (*listener)(const char *line)) {
  listening = listener;
  told_count = 0;
}

/* Whether this is the first time. */
static bool take(uint64_t hash) {
  pthread_mutex_lock(&lock);
  bool first = told_count < MAX_TOLD;
  for (int i = 0; first && i < told_count; i++)
    first = told[i] != hash;
  if (first)
    told[told_count++] = hash;
  pthread_mutex_unlock(&lock);
  return first;
}

void nai_former_tell(const char *file, uint32_t line, uint32_t column, const struct nai_former *former) {
  NAI_SCOPED(nai_buf) text = {0};
  uint64_t hash =
      nai_hash_bytes(nai_hash_bytes(0, former->kind, strlen(former->kind)), former->was, strlen(former->was));
  hash = nai_hash_bytes(hash, file ? file : "", file ? strlen(file) : 0);
  if (!listening || !take(hash))
    return;
  if (file)
    nai_buf_puts(&text, file);
  if (file && line)
    nai_buf_printf(&text, ":%u:%u", line, column);
  nai_buf_printf(&text, "%s%s \"%s\" is now \"%s\"; the old name works until " NAI_FORMER_UNTIL, file ? ": " : "",
                 former->kind, former->was, former->now);
  if (!text.oom)
    listening(nai_buf_str(&text));
}
