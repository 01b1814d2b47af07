#include "base/hash.h"

#include <elf.h>
#include <link.h>
#include "base/std.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t nai_hash_bytes(uint64_t seed, const void *bytes, size_t len) { return XXH3_64bits_withSeed(bytes, len, seed); }

uint64_t nai_hash_text(uint64_t seed, const char *text) {
  return text ? nai_hash_bytes(seed, text, strlen(text) + 1) : nai_hash_bytes(seed + 1, "", 0);
}

uint64_t nai_hash_int(uint64_t seed, int64_t value) { return nai_hash_bytes(seed, &value, sizeof value); }

/* Name and content of notes start at multiples of four bytes. */
static size_t padded(size_t bytes) { return (bytes + 3) & ~(size_t)3; }

/* The build id among the notes of one segment. */
static uint64_t find_build_id(const unsigned char *at, const unsigned char *end) {
  ElfW(Nhdr) note;
  while ((size_t)(end - at) >= sizeof note) {
    memcpy(&note, at, sizeof note);
    const unsigned char *name = at + sizeof note, *content = name + padded(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0)
      return nai_hash_bytes(0, content, note.n_descsz);
    at = content + padded(note.n_descsz);
  }
  return 0;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *found) {
  (void)size;
  for (int i = 0; i < info->dlpi_phnum && !*(uint64_t *)found; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    /* Added up as numbers: a program at a fixed address has the base 0, and null has no offsets. */
    const unsigned char *start = (const unsigned char *)(info->dlpi_addr + segment->p_vaddr);
    if (segment->p_type == PT_NOTE)
      *(uint64_t *)found = find_build_id(start, start + segment->p_memsz);
  }
  return 1; /* the program itself comes first, libraries are of no interest */
}

uint64_t nai_hash_of_program(void) {
  uint64_t found = 0;
  dl_iterate_phdr(look_at_object, &found);
  return found;
}

const char *nai_version_of_program(void) { return *NAI_COMMIT ? NAI_VERSION "+" NAI_COMMIT : NAI_VERSION; }
