/* stages/trace-stamp: what the trace's file was like when its content was hashed, and that hash. A later run on the
 * same file need not read all of it again. The only file of a run that differs between copies of a trace. */
#include "pipeline/state.h"

#include "base/fs.h"
#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>

/* The identity that the earlier run found in this very file. */
static bool recall(uint64_t *identity, const struct nai_state *s) {
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_err ignored;
  uint64_t stamp = 0;
  return s->earlier &&
         nai_fs_read_at(&text, nai_run_directory(s->earlier), NAI_STAMP_PATH, 256, NAI_ESTALE, &ignored) == NAI_OK &&
         sscanf(nai_buf_str(&text), "%16" SCNx64 " %16" SCNx64, &stamp, identity) == 2 &&
         stamp == nai_trace_stamp(s->trace);
}

int nai_state_identify(struct nai_state *s, struct nai_err *err) {
  if (!recall(&s->trace->identity, s))
    NAI_TRY(nai_trace_identify(s->trace, s->options->threads, err));
  s->config[NAI_CONFIG_TRACE] = nai_hash_text(nai_hash_int(0, (int64_t)s->trace->identity), s->trace->file_name);
  nai_run_manifest_to_fill(s->run)->identity = s->trace->identity;
  return NAI_OK;
}

int nai_state_write_stamp(struct nai_state *s, struct nai_err *err) {
  char path[PATH_MAX], text[64];
  int len =
      snprintf(text, sizeof text, "%016" PRIx64 " %016" PRIx64 "\n", nai_trace_stamp(s->trace), s->trace->identity);
  snprintf(path, sizeof path, "%s/" NAI_STAMP_PATH, nai_outdir_work(s->home));
  nai_manifest_add_file(nai_run_manifest_to_fill(s->run), NAI_STAMP_PATH);
  return nai_fs_write(path, text, (size_t)len, err);
}
