/* A main for targets of libFuzzer where the compiler has none: gives the target each file that is named, or lies in a
 * directory that is named, once. So what fuzzing has found stays found with any compiler. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* Nothing is mutated here. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) {
  (void)data;
  (void)max_size;
  return size;
}

static void fail(const char *path) {
  perror(path);
  exit(1);
}

static int replay_file(const char *path, size_t size) {
  FILE *file = fopen(path, "rb");
  uint8_t *data = malloc(size ? size : 1); /* of the input's size, so that a sanitizer sees what reads beyond it */
  if (!file || !data || fread(data, 1, size, file) != size)
    fail(path);
  fclose(file);
  fprintf(stderr, "%s\n", path); /* the last one is to blame for whatever follows */
  LLVMFuzzerTestOneInput(data, size);
  free(data);
  return 1;
}

/* How many inputs there were. */
static int replay(const char *path) {
  struct stat st;
  struct dirent **entries;
  char below[4096];
  int count = 0;
  if (stat(path, &st))
    fail(path);
  if (!S_ISDIR(st.st_mode))
    return replay_file(path, (size_t)st.st_size);
  int n = scandir(path, &entries, NULL, alphasort);
  if (n < 0)
    fail(path);
  for (int i = 0; i < n; i++) {
    snprintf(below, sizeof below, "%s/%s", path, entries[i]->d_name);
    count += *entries[i]->d_name == '.' ? 0 : replay(below);
    free(entries[i]);
  }
  free(entries);
  return count;
}

int main(int argc, char **argv) {
  int count = 0;
  for (int i = 1; i < argc; i++)
    count += replay(argv[i]);
  printf("%d inputs\n", count);
  return count ? 0 : 1; /* a corpus that went away proves nothing */
}
