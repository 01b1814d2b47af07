/* ZIP as of APPNOTE 6.3.10, of what is needed: deflated members, one disk, no comments, neither dates nor permissions.
 */
#include "rundir/pack.h"

#include "base/fs.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

static const char local_magic[] = "PK\3\4", entry_magic[] = "PK\1\2", end_magic[] = "PK\5\6";
enum {
  MAGIC = 4,
  LOCAL_BYTES = 30,
  ENTRY_BYTES = 46,
  END_BYTES = 22,
  DEFLATED = 8,
  VERSION = 20,
  NEW_YEAR_1980 = 0x21
};

static void put_number(struct nai_buf *out, uint64_t number, int bytes) {
  for (int i = 0; i < bytes; i++)
    nai_buf_putc(out, (char)(number >> 8 * i & 0xff));
}

static uint32_t number_at(const char *at, int bytes) {
  uint32_t number = 0;
  for (int i = 0; i < bytes; i++)
    number |= (uint32_t)(unsigned char)at[i] << 8 * i;
  return number;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* What a member's header and its entry in the directory have in common. */
struct member {
  uint32_t crc, packed, size;
};

static void put_member(struct nai_buf *out, const struct member *m, const char *name) {
  put_number(out, VERSION, 2);
  put_number(out, 0, 2); /* flags */
  put_number(out, DEFLATED, 2);
  put_number(out, 0, 2); /* midnight */
  put_number(out, NEW_YEAR_1980, 2);
  put_number(out, m->crc, 4);
  put_number(out, m->packed, 4);
  put_number(out, m->size, 4);
  put_number(out, strlen(name), 2);
  put_number(out, 0, 2); /* extra fields */
}

static int deflate_all(struct nai_buf *out, const struct nai_buf *content, struct nai_err *err) {
  z_stream z = {.next_in = (unsigned char *)content->data, .avail_in = (uInt)content->len};
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return nai_err_nomem(err);
  uLong most = deflateBound(&z, (uLong)content->len);
  bool done = nai_buf_reserve(out, most);
  if (done) {
    z.next_out = (unsigned char *)out->data + out->len;
    z.avail_out = (uInt)most;
    done = deflate(&z, Z_FINISH) == Z_STREAM_END;
    out->len += done ? z.total_out : 0;
  }
  deflateEnd(&z);
  return done ? NAI_OK : nai_err_nomem(err);
}

int nai_pack_add(struct nai_buf *pack, struct nai_buf *directory, const char *name, const struct nai_buf *content,
                 struct nai_err *err) {
  NAI_SCOPED(nai_buf) packed = {0};
  if (pack->len + content->len >= INT32_MAX)
    return nai_err_set(err, NAI_ELIMIT, "\"%s\" is too large for a run in one file; keep the whole directory", name);
  NAI_TRY(deflate_all(&packed, content, err));
  const struct member m = {(uint32_t)crc32(0, (const unsigned char *)content->data, (uInt)content->len),
                           (uint32_t)packed.len, (uint32_t)content->len};
  nai_buf_put(directory, entry_magic, MAGIC);
  put_number(directory, VERSION, 2);
  put_member(directory, &m, name);
  nai_buf_fill(directory, '\0', 10); /* no comment, first disk, attributes */
  put_number(directory, pack->len, 4);
  nai_buf_puts(directory, name);
  nai_buf_put(pack, local_magic, MAGIC);
  put_member(pack, &m, name);
  nai_buf_puts(pack, name);
  nai_buf_put(pack, packed.data, packed.len);
  return nai_buf_check(pack, err);
}

static uint32_t count_entries(const struct nai_buf *directory) {
  uint32_t count = 0;
  for (size_t at = 0; at < directory->len; count++)
    at += ENTRY_BYTES + number_at(directory->data + at + 28, 2);
  return count;
}

int nai_pack_end(struct nai_buf *pack, const struct nai_buf *directory, struct nai_err *err) {
  NAI_TRY(nai_buf_check(directory, err));
  size_t at = pack->len;
  uint32_t count = count_entries(directory);
  nai_buf_put(pack, directory->data, directory->len);
  nai_buf_put(pack, end_magic, MAGIC);
  put_number(pack, 0, 4); /* disks */
  put_number(pack, count, 2);
  put_number(pack, count, 2);
  put_number(pack, directory->len, 4);
  put_number(pack, at, 4);
  put_number(pack, 0, 2);
  return nai_buf_check(pack, err);
}

/* --- reading ---------------------------------------------------------------------------------- */

bool nai_pack_is(const char *path) {
  char first[MAGIC];
  NAI_CLOSED int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  return fd >= 0 && nai_fs_read_upto(fd, first, sizeof first, 0) == MAGIC && memcmp(first, local_magic, MAGIC) == 0;
}

/* What is left of a directory. */
struct entries {
  const char *at;
  size_t left;
};

/* Numbers are below 4 GiB, sums are not. */
static struct entries entries_of(const struct nai_buf *pack) {
  const char *end = pack->len < END_BYTES ? NULL : pack->data + pack->len - END_BYTES;
  if (!end || memcmp(end, end_magic, MAGIC) != 0)
    return (struct entries){0};
  size_t left = number_at(end + 12, 4), at = number_at(end + 16, 4);
  bool fits = at <= pack->len - END_BYTES && left <= pack->len - END_BYTES - at;
  return (struct entries){pack->data + at, fits ? left : 0};
}

/* The next entry, all of it; NULL: there is none. */
static const char *next_entry(struct entries *e) {
  const char *entry = e->at;
  if (e->left < ENTRY_BYTES || memcmp(entry, entry_magic, MAGIC) != 0)
    return NULL;
  size_t bytes = (size_t)ENTRY_BYTES + number_at(entry + 28, 2) + number_at(entry + 30, 2) + number_at(entry + 32, 2);
  if (bytes > e->left)
    return NULL;
  e->at += bytes;
  e->left -= bytes;
  return entry;
}

/* Of a stream the size is known; deflate makes no more than 1,032 bytes of one. */
static bool inflate_all(struct nai_buf *out, const char *packed, const struct member *m, bool *oom) {
  z_stream z = {.next_in = (unsigned char *)packed, .avail_in = m->packed};
  if (m->size / 1032 > m->packed)
    return false;
  *oom = !nai_buf_reserve(out, (size_t)m->size + 1) || inflateInit2(&z, -MAX_WBITS) != Z_OK;
  if (*oom)
    return false;
  z.next_out = (unsigned char *)out->data + out->len;
  z.avail_out = m->size + 1;
  bool done = inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == m->size &&
              crc32(0, (unsigned char *)out->data + out->len, m->size) == m->crc;
  inflateEnd(&z);
  out->len += done ? m->size : 0;
  return done;
}

static bool read_member(struct nai_buf *out, const struct nai_buf *pack, const char *entry, bool *oom) {
  const struct member m = {number_at(entry + 16, 4), number_at(entry + 20, 4), number_at(entry + 24, 4)};
  size_t at = number_at(entry + 42, 4);
  if (number_at(entry + 10, 2) != DEFLATED || at > pack->len || pack->len - at < LOCAL_BYTES ||
      memcmp(pack->data + at, local_magic, MAGIC) != 0)
    return false;
  at += (size_t)LOCAL_BYTES + number_at(pack->data + at + 26, 2) + number_at(pack->data + at + 28, 2);
  return at <= pack->len && m.packed <= pack->len - at && inflate_all(out, pack->data + at, &m, oom);
}

int nai_pack_read(struct nai_buf *out, const struct nai_buf *pack, const char *name, struct nai_err *err) {
  size_t len = strlen(name);
  bool oom = false;
  struct entries entries = entries_of(pack);
  for (const char *entry; (entry = next_entry(&entries));) {
    if (number_at(entry + 28, 2) != len || memcmp(entry + ENTRY_BYTES, name, len) != 0)
      continue;
    if (read_member(out, pack, entry, &oom))
      return NAI_OK;
    return oom ? nai_err_nomem(err) : nai_err_set(err, NAI_ESTALE, "\"%s\" is damaged", name);
  }
  return nai_err_sys(err, NAI_ESTALE, ENOENT, "it has no \"%s\"", name);
}
