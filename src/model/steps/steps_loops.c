/* Loops of a few operations, one after the other: what comes again at once, many times, without three operations that
 * tell a period. A program that tries two kernels a thousand times each has two of them. */
#include "model/steps/steps_periods.h"

enum { MAX_LENGTH = 4, MIN_REPETITIONS = 10, MIN_SHARE = 20 /* one part in so many of the sequence */ };

/* How far from `first` on the sequence repeats what it had `length` operations before; its end. */
static uint32_t end_of_loop(const struct nai_step_sequence *q, uint32_t first, uint32_t length) {
  uint32_t i = first + length;
  while (i < q->count && q->token[i] == q->token[i - length])
    i++;
  return i - (i - first) % length; /* the cut end is none of it */
}

/* The loop that begins at `first`: of the shortest length with most operations. False: none does. */
static bool find_loop(struct nai_step_loop *out, const struct nai_step_sequence *q, uint32_t first) {
  *out = (struct nai_step_loop){.first = first};
  for (uint32_t length = 1; length <= MAX_LENGTH; length++) {
    uint32_t count = (end_of_loop(q, first, length) - first) / length;
    if (count >= MIN_REPETITIONS && count * length > out->count * out->length) {
      out->length = length;
      out->count = count;
    }
  }
  return out->count > 0;
}

/* Keeps the largest, the first of equals, in this order. */
static void keep(struct nai_step_loop *loops, uint32_t *count, uint32_t most, const struct nai_step_loop *loop) {
  uint32_t at = *count;
  while (at > 0 && loops[at - 1].count * loops[at - 1].length < loop->count * loop->length)
    at--;
  if (at == most)
    return;
  *count += *count < most;
  for (uint32_t i = *count - 1; i > at; i--)
    loops[i] = loops[i - 1];
  loops[at] = *loop;
}

uint32_t nai_step_loops(struct nai_step_loop *loops, uint32_t most, const struct nai_step_sequence *q) {
  uint32_t count = 0;
  struct nai_step_loop loop;
  for (uint32_t i = 0; i < q->count;) {
    bool found = find_loop(&loop, q, i);
    if (found && (uint64_t)loop.count * loop.length * MIN_SHARE >= q->count)
      keep(loops, &count, most, &loop);
    i += found ? loop.count * loop.length : 1;
  }
  return count;
}
