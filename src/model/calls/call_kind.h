/* What a call to the CUDA API is for (names.c). */
#pragma once

/* By its name. */
enum nai_call_kind {
  NAI_CALL_OTHER,
  NAI_CALL_LAUNCH,     /* of a kernel or a graph */
  NAI_CALL_ALLOCATION, /* of memory: allocation, release, registration */
  NAI_CALL_LOADING     /* of modules and libraries, but not their unloading */
};
enum nai_call_kind nai_call_kind_of(const char *name);
