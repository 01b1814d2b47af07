/* What tells one trace from another. */
#include "base/fs.h"
#include "base/threads.h"
#include "trace/trace/trace_internal.h"

#include <fcntl.h>
#ifdef NAI_XXH_DISPATCH
#include <xxh_x86dispatch.h> /* the same functions, with the widest vectors of this processor */
#else
#include <xxhash.h>
#endif

/* Files are hashed in parts of this size, and then the parts' hashes. A change of either changes every identity. */
static const uint64_t part_bytes = 16 << 20;
enum { CHUNK_BYTES = 512 << 10 };

struct part {
  int fd;
  uint64_t offset, len, hash;
};

struct XXH3_state_s;
NAI_OWNER_BY(XXH3_state_s, XXH3_freeState)

static int hash_part(void *ctx, int task, struct nai_err *err) {
  struct part *part = &((struct part *)ctx)[task];
  NAI_FREED char *chunk = malloc(CHUNK_BYTES);
  NAI_OWNED(XXH3_state_s) *state = XXH3_createState();
  NAI_TRY(nai_memory_check(chunk && state, err));
  XXH3_64bits_reset(state);
  for (uint64_t done = 0; done < part->len;) {
    uint64_t left = part->len - done;
    ssize_t n = nai_fs_read_upto(part->fd, chunk, left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES, part->offset + done);
    if (n < 0)
      return nai_err_sys(err, NAI_EINPUT, errno, "cannot read the file");
    if (n == 0)
      break; /* shorter than its stamp says: nai_trace_unchanged reports it */
    XXH3_64bits_update(state, chunk, (size_t)n);
    done += (uint64_t)n;
  }
  part->hash = XXH3_64bits_digest(state);
  return NAI_OK;
}

static int hash_file(uint64_t *identity, int fd, uint64_t size_bytes, int threads, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const uint64_t count = (size_bytes + part_bytes - 1) / part_bytes;
  struct part *parts;
  uint64_t *hashes;
  if (count >= INT32_MAX)
    return nai_err_nomem(err);
  NAI_TRY(NAI_NEW(parts, &arena, count, err));
  NAI_TRY(NAI_NEW(hashes, &arena, count + 2, err));
  for (uint64_t i = 0; i < count; i++) {
    uint64_t left = size_bytes - i * part_bytes;
    parts[i] = (struct part){.fd = fd, .offset = i * part_bytes, .len = left < part_bytes ? left : part_bytes};
  }
  NAI_TRY(nai_parallel(threads, (int)count, hash_part, parts, err));
  hashes[0] = *identity;
  hashes[1] = size_bytes;
  for (uint64_t i = 0; i < count; i++)
    hashes[i + 2] = parts[i].hash;
  *identity = XXH3_64bits(hashes, (count + 2) * sizeof *hashes);
  return NAI_OK;
}

static int hash_all(struct nai_trace *trace, int threads, struct nai_err *err) {
  NAI_SCOPED(nai_buf) path = {0};
  NAI_TRY(hash_file(&trace->identity, trace->fd, trace->size_bytes, threads, err));
  if (!trace->wal_stamp.size_bytes)
    return NAI_OK;
  nai_buf_printf(&path, "%s-wal", trace->real_path);
  NAI_TRY(nai_buf_check(&path, err));
  NAI_CLOSED int fd = open(path.data, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot open \"%s\"", path.data);
  return hash_file(&trace->identity, fd, trace->wal_stamp.size_bytes, threads, err);
}

int nai_trace_identify(struct nai_trace *trace, int threads, struct nai_err *err) {
  trace->identity = 0;
  int rc = hash_all(trace, threads, err);
  return rc ? nai_err_wrap(err, rc, "cannot read trace \"%s\"", trace->path) : NAI_OK;
}

uint64_t nai_trace_stamp(const struct nai_trace *trace) {
  const struct nai_file_stamp both[] = {trace->stamp, trace->wal_stamp}; /* 64-bit members only: no padding */
  return XXH3_64bits(both, sizeof both);
}
