#include "gen/truth/truth_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void nai_gen_json_int(json_t *object, const char *key, int64_t value) {
  json_object_set_new(object, key, json_integer(value));
}

void nai_gen_json_string(json_t *object, const char *key, const char *text) {
  json_object_set_new(object, key, json_string(text));
}

void nai_gen_json_name(json_t *object, const char *key, const char *bytes, size_t size) {
  json_t *text = memchr(bytes, '\0', size) ? NULL : json_stringn(bytes, size);
  if (text) {
    json_object_set_new(object, key, text);
    return;
  }
  char hex_key[32];
  char *hex = malloc(2 * size + 1);
  if (!hex) {
    return;
  }
  hex[0] = '\0';
  for (size_t i = 0; i < size; i++) {
    snprintf(hex + 2 * i, 3, "%02x", (unsigned)(unsigned char)bytes[i]);
  }
  snprintf(hex_key, sizeof hex_key, "%s_hex", key);
  nai_gen_json_string(object, hex_key, hex);
  free(hex);
}

json_t *nai_gen_json_stat(const struct nai_gen_stat *stat) {
  return json_pack("{s:I,s:I,s:I,s:I}", "count", (json_int_t)stat->count, "total_ns", (json_int_t)stat->total, "min_ns",
                   (json_int_t)stat->min, "max_ns", (json_int_t)stat->max);
}

json_t *nai_gen_json_object_in(json_t *array) {
  json_t *object = json_object();
  json_array_append_new(array, object);
  return object;
}

int nai_gen_json_write(const json_t *document, const char *path, struct nai_gen_err *err) {
  size_t size = strlen(path) + 32;
  char *temporary = malloc(size);
  if (!temporary) {
    return nai_gen_fail(NAI_GEN_ENOMEM, err, "out of memory");
  }
  snprintf(temporary, size, "%s.%ld.tmp", path, (long)getpid());
  FILE *file = fopen(temporary, "w");
  int rc = 0;
  if (!file) {
    rc = nai_gen_fail(NAI_GEN_EOUTPUT, err, "cannot create: file=\"%s\": %s", path, strerror(errno));
  } else {
    bool failed = json_dumpf(document, file, JSON_INDENT(1)) != 0 || fputc('\n', file) == EOF;
    if (fclose(file) != 0 || failed || rename(temporary, path) != 0) {
      rc = nai_gen_fail(NAI_GEN_EOUTPUT, err, "cannot write: file=\"%s\": %s", path, strerror(errno));
      unlink(temporary);
    }
  }
  free(temporary);
  return rc;
}
