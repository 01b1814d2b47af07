/* Writes the seed corpus of fuzz_readers into a directory: fuzz_readers_seeds DIRECTORY. */
#include "readers_seed.h"

#include <sys/stat.h>

int main(int argc, char **argv) {
  static const struct { int page_size, rows; } seeds[] = {{512, 60}, {512, 12}, {1024, 40}, {4096, 8}};
  char path[4096];
  if (argc != 2)
    return 2;
  mkdir(argv[1], 0777);
  for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
    snprintf(path, sizeof path, "%s/pages-%d-rows-%d", argv[1], seeds[i].page_size, seeds[i].rows);
    seed_database(path, seeds[i].page_size, seeds[i].rows);
  }
  return 0;
}
