/* stages/trace-stamp: what the trace's file was like when its content was hashed, and that hash. A later run on the
 * same file need not read all of it again. The only file of a run that differs between copies of a trace. */
#include "pipeline/state.h"

#include "base/fs.h"
#include "base/hash.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

/* The identity that the earlier run found in this very file. */
static bool recall(uint64_t *identity, const struct nai_state *s) {
  struct nai_buf text = {0};
  struct nai_err ignored;
  uint64_t stamp = 0;
  bool found = s->earlier &&
               nai_fs_read_at(&text, s->earlier->directory, NAI_STAMP_PATH, 256, NAI_ESTALE, &ignored) == NAI_OK &&
               sscanf(nai_buf_str(&text), "%16" SCNx64 " %16" SCNx64, &stamp, identity) == 2 &&
               stamp == nai_trace_stamp(s->trace);
  nai_buf_free(&text);
  return found;
}

int nai_state_identify(struct nai_state *s, struct nai_err *err) {
  int rc = recall(&s->trace->identity, s) ? NAI_OK : nai_trace_identify(s->trace, s->options->threads, err);
  s->config[NAI_CONFIG_TRACE] = nai_hash_text(nai_hash_int(0, (int64_t)s->trace->identity), s->trace->file_name);
  s->run->manifest.identity = s->trace->identity;
  return rc;
}

int nai_state_write_stamp(struct nai_state *s, struct nai_err *err) {
  char path[PATH_MAX], text[64];
  int len =
      snprintf(text, sizeof text, "%016" PRIx64 " %016" PRIx64 "\n", nai_trace_stamp(s->trace), s->trace->identity);
  snprintf(path, sizeof path, "%s/" NAI_STAMP_PATH, s->home->work);
  nai_manifest_add_file(&s->run->manifest, NAI_STAMP_PATH);
  return nai_fs_write(path, text, (size_t)len, err);
}
