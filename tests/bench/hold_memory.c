/* Keeps GIB gigabytes of memory with this machine while it runs: hold_memory GIB, until it is killed.
 *
 * A virtual machine may hand free memory back to its host, which then has to find it again at the first touch of every
 * page: 2 to 3 s per GB where docs/performance.md was measured. This touches memory and frees all of it but one page in
 * 64 KiB: pieces too small to be handed back, but as good as any to the program that is measured. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv) {
  enum { PAGE = 4096, PIECE = 64 << 10 };
  size_t bytes = argc == 2 ? (size_t)(atof(argv[1]) * (1 << 30)) / PIECE * PIECE : 0;
  char *memory = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
  if (memory == MAP_FAILED) {
    fprintf(stderr, "usage: hold_memory GIB\n");
    return 2;
  }
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  for (size_t at = 0; at < bytes; at += PAGE)
    memory[at] = 1;
  for (size_t at = 0; at < bytes; at += PIECE)
    madvise(memory + at + PAGE, PIECE - PAGE, MADV_DONTNEED);
  puts("ready");
  fflush(stdout);
  pause();
  return 0;
}
