#include "base/fs.h"
#include "base/temporary.h"

#include <stdio.h>

bool nai_fs_join(char *out, size_t size, const char *directory, const char *name) {
  int n = snprintf(out, size, "%s/%s", directory, name);
  return n >= 0 && (size_t)n < size;
}

int nai_fs_replace(const char *path, const void *data, size_t len, struct nai_err *err) {
  struct nai_temporary aside;
  int rc = nai_temporary_file(&aside, path, err);
  if (rc)
    return rc;
  int failed = nai_fs_write_all(aside.fd, data, len);
  if (!failed)
    failed = nai_temporary_become(&aside, path);
  if (failed)
    nai_temporary_remove(&aside);
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot write \"%s\"", path) : NAI_OK;
}
