#include "base/arena.h"

#include "base/spill_array.h"

enum { ALIGN = 16, SLACK = 8, BLOCK = 1 << 13, LARGE = 1 << 12 };

/* Of small things many in one block; each large one has its own, whose memory lies elsewhere so that it can grow. */
struct nai_arena_block {
  struct nai_arena_block *next;
  void *large;
  size_t used;
  _Alignas(ALIGN) char bytes[];
};

void nai_arena_free(struct nai_arena *arena) {
  for (struct nai_arena_block *block = arena->large, *next; block; block = next) {
    next = block->next;
    nai_spill_array_free(block->large);
    free(block);
  }
  for (struct nai_arena_block *block = arena->small, *next; block; block = next) {
    next = block->next;
    free(block);
  }
  pthread_mutex_destroy(&arena->lock);
  *arena = (struct nai_arena)NAI_ARENA(arena->directory);
}

static int get_large(void **out, struct nai_arena *arena, size_t bytes, size_t unset, struct nai_err *err) {
  NAI_FREED struct nai_arena_block *block = calloc(1, sizeof *block);
  NAI_TRY(nai_memory_check(block, err));
  NAI_TRY(nai_spill_array_new(&block->large, arena->directory, bytes, unset, err));
  block->next = arena->large;
  *out = block->large;
  arena->large = block;
  block = NULL;
  return NAI_OK;
}

static void *get_small(struct nai_arena *arena, size_t bytes) {
  struct nai_arena_block *block = arena->small;
  if (!block || block->used + bytes > BLOCK) {
    block = malloc(sizeof *block + BLOCK);
    if (!block)
      return NULL;
    *block = (struct nai_arena_block){.next = arena->small};
    arena->small = block;
  }
  void *memory = block->bytes + block->used;
  block->used += (bytes + ALIGN - 1) / ALIGN * ALIGN;
  return memset(memory, 0, bytes);
}

/* Elements before number `unset` need not be zeroed. */
static int get(void *out, struct nai_arena *arena, size_t count, size_t unset, size_t size, struct nai_err *err) {
  size_t bytes;
  void *memory = NULL;
  if (__builtin_mul_overflow(count, size, &bytes) || __builtin_add_overflow(bytes, SLACK, &bytes))
    return nai_err_nomem(err);
  int rc = NAI_OK;
  pthread_mutex_lock(&arena->lock);
  if (bytes >= LARGE)
    rc = get_large(&memory, arena, bytes, unset * size, err);
  else
    memory = get_small(arena, bytes);
  pthread_mutex_unlock(&arena->lock);
  if (rc || !memory)
    return rc ? rc : nai_err_nomem(err);
  memcpy(out, &memory, sizeof memory);
  return NAI_OK;
}

int nai_arena_get(void *out, struct nai_arena *arena, size_t count, size_t size, struct nai_err *err) {
  return get(out, arena, count, 0, size, err);
}

int nai_arena_get_unset(void *out, struct nai_arena *arena, size_t count, size_t size, struct nai_err *err) {
  return get(out, arena, count, count, size, err);
}

/* The block of a large array that is no longer needed goes. */
static void drop_large(struct nai_arena *arena, const void *memory) {
  pthread_mutex_lock(&arena->lock);
  struct nai_arena_block **at = &arena->large, *block;
  while (*at && (*at)->large != memory)
    at = &(*at)->next;
  block = *at;
  if (block)
    *at = block->next;
  pthread_mutex_unlock(&arena->lock);
  if (block)
    nai_spill_array_free(block->large);
  free(block);
}

int nai_arena_resize(void *array, struct nai_arena *arena, size_t old_bytes, size_t bytes, struct nai_err *err) {
  void *old, *fresh = NULL;
  memcpy(&old, array, sizeof old);
  NAI_TRY(get(&fresh, arena, bytes, old_bytes < bytes ? old_bytes : bytes, 1, err));
  if (old_bytes)
    memcpy(fresh, old, old_bytes < bytes ? old_bytes : bytes);
  if (old_bytes + SLACK >= LARGE)
    drop_large(arena, old);
  memcpy(array, &fresh, sizeof fresh);
  return NAI_OK;
}

int nai_arena_room(void *array, uint32_t *capacity, uint32_t index, size_t size, struct nai_arena *arena,
                   struct nai_err *err) {
  if (index < *capacity)
    return NAI_OK;
  uint32_t grown = *capacity ? *capacity : 1 + (uint32_t)(31 / size); /* there may be millions of small ones */
  while (grown <= index && grown <= UINT32_MAX / 2)
    grown *= 2;
  if (grown <= index)
    return nai_err_nomem(err);
  NAI_TRY(nai_arena_resize(array, arena, (size_t)*capacity * size, (size_t)grown * size, err));
  *capacity = grown;
  return NAI_OK;
}

bool nai_arena_or_spill(void *array, struct nai_arena *arena, const char *directory, size_t old_bytes, size_t bytes) {
  if (arena)
    return nai_arena_resize(array, arena, old_bytes, bytes, NULL) == NAI_OK;
  void *memory;
  memcpy(&memory, array, sizeof memory);
  memory = nai_spill_array_grow(memory, directory, old_bytes, bytes);
  if (memory)
    memcpy(array, &memory, sizeof memory);
  return memory != NULL;
}

const char *nai_arena_printf(struct nai_arena *arena, const char *fmt, ...) {
  va_list args, again;
  char *text = NULL, most[128]; /* texts are shorter */
  va_start(args, fmt);
  va_copy(again, args);
  int length = vsnprintf(most, sizeof most, fmt, args);
  bool made = length >= 0 && NAI_NEW(text, arena, (size_t)length + 1, NULL) == NAI_OK;
  if (made && (size_t)length < sizeof most)
    memcpy(text, most, (size_t)length);
  else if (made)
    vsnprintf(text, (size_t)length + 1, fmt, again);
  va_end(again);
  va_end(args);
  arena->oom |= !made;
  return made ? text : "";
}

int nai_arena_check(const struct nai_arena *arena, struct nai_err *err) {
  return arena->oom ? nai_err_nomem(err) : NAI_OK;
}
