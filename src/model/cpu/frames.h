/* Frames of callchains and what they are: the program's own, a library's, the system's (rules/call-frames.yaml). */
#pragma once

#include "config/call_frames.h"
#include "model/model.h"
#include "tables/callchain_frames.h"

/* Rows of callchain_frames. Needs that table to have rows. */
struct nai_frames {
  const struct nai_strings *strings;
  struct CALLCHAIN_FRAMES_columns c;
  struct nai_call_frames *names;
  uint8_t *symbols, *modules; /* per string: 1 + enum nai_frame_class; 0 not looked at yet */
};
NAI_MUST_CHECK int nai_frames_open(struct nai_frames *frames, const struct nai_model *model, struct nai_arena *arena,
                                   struct nai_err *err);
void nai_frames_free(struct nai_frames *frames);

/* What a row is by its function and library; MARKER without a name. */
enum nai_frame_class nai_frame_class(const struct nai_frames *frames, uint32_t row);
/* Whether its function tells of Python's interpreter lock, or of its collection of garbage. */
bool nai_frame_is_lock(const struct nai_frames *frames, uint32_t row);
bool nai_frame_is_garbage(const struct nai_frames *frames, uint32_t row);
/* Whether optimized code has no call of its function. */
bool nai_frame_is_not_inlined(const struct nai_frames *frames, uint32_t row);
/* Behind the last slash of a path of either system. */
const char *nai_frame_file_name(const char *path);
