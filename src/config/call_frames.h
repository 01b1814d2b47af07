/* What frames of call stacks are, by the names of functions, libraries and Python files (rules/call-frames.yaml). */
#pragma once

#include "base/err.h"
#include "base/scope.h"

/* In the order of the file, the first that matches; USER where none does. */
#define NAI_FRAME_CLASSES(X)      \
  X(COMPILER, "compiler")         \
  X(MARKER, "marker")             \
  X(PROFILER, "profiler")         \
  X(CUDA, "cuda")                 \
  X(SYSTEM, "system")             \
  X(STANDARD_CPP, "standard_cpp") \
  X(LIBRARY, "library")           \
  X(FRAMEWORK, "framework")       \
  X(INTERPRETER, "interpreter")

#define NAI_FRAME_CLASS_ENUM(id, name) NAI_FRAME_##id,
enum nai_frame_class { NAI_FRAME_CLASSES(NAI_FRAME_CLASS_ENUM) NAI_FRAME_USER };

/* What of a frame is looked at: base name of its library, name of its function, path of its Python file. */
enum nai_frame_name { NAI_FRAME_MODULE, NAI_FRAME_SYMBOL, NAI_FRAME_FILE };

struct nai_call_frames;

/* The built-in lists. */
NAI_MUST_CHECK int nai_call_frames_load(struct nai_call_frames **out, struct nai_err *err);
void nai_call_frames_free(struct nai_call_frames *frames);
NAI_OWNER(nai_call_frames)
/* The first class that a name of that kind is of, USER for none. Of a frame, the least of its names' classes counts. */
enum nai_frame_class nai_call_frames_class(const struct nai_call_frames *frames, enum nai_frame_name kind,
                                           const char *name);
/* Whether a function tells of the interpreter's lock, or of its collection of garbage. */
bool nai_call_frames_is_lock(const struct nai_call_frames *frames, const char *symbol);
bool nai_call_frames_is_garbage(const struct nai_call_frames *frames, const char *symbol);
/* Whether optimized code has no call of the function. */
bool nai_call_frames_is_not_inlined(const struct nai_call_frames *frames, const char *symbol);
/* Call once after the last match: NAI_EUSAGE when a regular expression gave up on some name. */
NAI_MUST_CHECK int nai_call_frames_check(const struct nai_call_frames *frames, struct nai_err *err);
