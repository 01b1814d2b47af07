#include "model/calls/call_class.h"

#include "model/calls/cuda_calls.h"

#include "base/std.h"

enum { NAME_SIZE = 96 }; /* longer than any function's name */

struct function {
  const char *name;
  uint8_t class;
};

#define CALL(name, class) {#name, NAI_CALL_CLASS_##class},
static const struct function functions[] = {NAI_CUDA_CALLS(CALL)};
#undef CALL

static int by_name(const void *name, const void *function) {
  return strcmp(name, ((const struct function *)function)->name);
}

static const struct function *find(const char *name) {
  return bsearch(name, functions, sizeof functions / sizeof *functions, sizeof *functions, by_name);
}

/* Length without one suffix: _ptsz, _ptds, _v2. */
static size_t without_suffix(const char *name, size_t len) {
  if (len > 5 && (memcmp(name + len - 5, "_ptsz", 5) == 0 || memcmp(name + len - 5, "_ptds", 5) == 0))
    return len - 5;
  size_t digits = 0;
  while (digits < len && name[len - 1 - digits] >= '0' && name[len - 1 - digits] <= '9')
    digits++;
  return digits && len > digits + 2 && memcmp(name + len - digits - 2, "_v", 2) == 0 ? len - digits - 2 : len;
}

/* The name as it is listed, cut to NAME_SIZE; returns its length. */
static size_t fold(char out[NAME_SIZE], const char *name) {
  name += strspn(name, "_");
  size_t len = strnlen(name, NAME_SIZE - 1), shorter;
  while ((shorter = without_suffix(name, len)) < len)
    len = shorter;
  memcpy(out, name, len);
  if (len > 4 && memcmp(out, "cu64", 4) == 0) /* of drivers with 32 and 64 bits */
    memmove(out + 2, out + 4, len -= 2);
  out[len] = '\0';
  return len;
}

bool nai_call_is_known(const char *name) {
  char folded[NAME_SIZE];
  fold(folded, name);
  return find(folded) != NULL;
}

enum nai_call_class nai_call_class_of(const char *name) {
  char folded[NAME_SIZE];
  size_t len = fold(folded, name);
  const struct function *found = find(folded);
  bool async = !found && strstr(folded, "Async");
  for (; !found && len; found = find(folded))
    folded[--len] = '\0';
  if (!found)
    return NAI_CALL_CLASS_OTHER;
  return async && found->class == NAI_CALL_CLASS_BLOCKING_COPY ? NAI_CALL_CLASS_COPY
                                                               : (enum nai_call_class)found->class;
}

bool nai_call_fits_graph(const char *name) {
  switch (nai_call_class_of(name)) {
  case NAI_CALL_CLASS_BLOCKING:
  case NAI_CALL_CLASS_ALLOCATION:
  case NAI_CALL_CLASS_FREE:
  case NAI_CALL_CLASS_ADDRESS:
  case NAI_CALL_CLASS_LOADING:
  case NAI_CALL_CLASS_MODULE:
  case NAI_CALL_CLASS_GRAPH:
  case NAI_CALL_CLASS_GRAPH_LAUNCH:
  case NAI_CALL_CLASS_CAPTURE:
  case NAI_CALL_CLASS_HOST_FUNCTION:
  case NAI_CALL_CLASS_INTEROP:
    return false;
  default:
    return true;
  }
}

enum nai_call_kind nai_call_kind_of(const char *name) {
  switch (nai_call_class_of(name)) {
  case NAI_CALL_CLASS_LAUNCH:
  case NAI_CALL_CLASS_GRAPH_LAUNCH:
    return NAI_CALL_LAUNCH;
  case NAI_CALL_CLASS_ALLOCATION:
  case NAI_CALL_CLASS_FREE:
    return NAI_CALL_ALLOCATION;
  case NAI_CALL_CLASS_LOADING:
    return NAI_CALL_LOADING;
  default:
    return NAI_CALL_OTHER;
  }
}
