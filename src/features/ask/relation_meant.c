/* Whether a relation that a question seems to ask for is what it asks. */
#include "features/ask/relation_reading.h"

/* What each relation takes up beside the numbers that are asked of it. */
#define OF(word) (UINT64_C(1) << SAYS_##word)
_Static_assert(SAYS <= 64, "a bit for each");
static const uint64_t taken_up[] = {
    [NAI_RELATION_GROUPS] = OF(MORE) | OF(FEWER) | OF(PER) | OF(GPU) | OF(PROCESS) | OF(STREAM) | OF(THREAD) |
                            OF(BALANCED) | OF(FIRST) | OF(LAST) | OF(BEGIN) | OF(END) | OF(OR),
    [NAI_RELATION_RANKING] = OF(WITHOUT) | OF(MORE) | OF(FEWER),
    [NAI_RELATION_EVERY] = OF(PER) | OF(ALWAYS) | OF(END),
    [NAI_RELATION_NAMES] = OF(SLOWER) | OF(FASTER) | OF(REST) | OF(OR),
    [NAI_RELATION_COMPARE] = OF(OR) | OF(SLOWER) | OF(FASTER) | OF(MORE) | OF(FEWER) | OF(RATIO) | OF(REST) | OF(FROM),
    [NAI_RELATION_SHARE] = OF(SHARE),
    [NAI_RELATION_PER] = OF(PER) | OF(MORE) | OF(FEWER),
    [NAI_RELATION_BETWEEN] =
        OF(FROM) | OF(AFTER) | OF(OR) | OF(BEGIN) | OF(END) | OF(FIRST) | OF(LAST) | OF(NEXT) | OF(GAP) | OF(REST),
    [NAI_RELATION_GAPS] = OF(GAP) | OF(LATENCY) | OF(FROM) | OF(OR) | OF(CONSECUTIVE) | OF(NEXT) | OF(BEGIN),
    [NAI_RELATION_FIRST] = OF(FIRST) | OF(REST) | OF(OR) | OF(SLOWER) | OF(FASTER),
    [NAI_RELATION_TREND] = OF(OR) | OF(OVER) | OF(SLOWER) | OF(FASTER) | OF(END),
    [NAI_RELATION_OUTLIERS] = OF(OUTLIER) | OF(MORE) | OF(SLOWER) | OF(OR),
    [NAI_RELATION_NTH] =
        OF(LAST) | OF(END) | OF(BEGIN) | OF(FIRST) | OF(NTH) | OF(OR) | OF(SLOWER) | OF(FASTER) | OF(MORE) | OF(FROM),
    [NAI_RELATION_FOLLOWS] = OF(ADJACENT) | OF(AFTER) | OF(FIRST) | OF(LAST) | OF(BEGIN),
    [NAI_RELATION_COVER] = OF(WHILE) | OF(COVERED) | OF(BUSY) | OF(GAP) | OF(SHARE) | OF(FROM) | OF(FIRST) | OF(LAST),
    [NAI_RELATION_BESIDE] = OF(WHILE),
    [NAI_RELATION_LATENCY] = OF(LATENCY) | OF(FROM) | OF(OR) | OF(BEGIN) | OF(END) | OF(LAUNCH)};

/* Whether a relation takes up all that is said. */
static bool takes_up(const struct nai_relation *of, const struct nai_reading *r) {
  const bool limited = of->filter.least_ns >= 0 || of->filter.most_ns >= 0;
  bool named = false, on_gpu = false;
  for (size_t t = 0; t < of->count; t++) {
    named |= of->things[t].names != NULL;
    on_gpu |= nai_thing_is_on_gpu(&of->things[t]);
  }
  const bool one = of->kind == NAI_RELATION_FIRST || of->kind == NAI_RELATION_NTH; /* its launch is another thing */
  const uint64_t taken = taken_up[of->kind] | OF(AND) | (named && !(one && r->says[SAYS_TIME]) ? OF(LAUNCH) : 0) |
                         (on_gpu ? OF(ON_GPU) : 0) | OF(WHICH) | OF(WHY) | OF(HOST) | (of->several ? OF(OR) : 0) |
                         (limited ? OF(SLOWER) | OF(FASTER) | OF(OVER) | OF(MORE) | OF(FEWER) | OF(OR) : 0) |
                         (of->shares || !nai_says_share(r) ? OF(SHARE) : 0);
  for (int s = SAYS_SHARE; s < SAYS_NOTHING; s++)
    if (r->says[s] && !(taken >> s & 1))
      return false;
  return true;
}

/* Whether the answer would be about what is asked: a limit is one of the events themselves, yes or no need something
 * to compare, and of groups there is no p95. */
static bool is_of_what_is_asked(const struct nai_relation *of, const struct nai_reading *r) {
  const bool limited = of->filter.least_ns >= 0 || of->filter.most_ns >= 0;
  const bool groups = of->kind == NAI_RELATION_GROUPS || of->kind == NAI_RELATION_RANKING;
  const bool one = of->kind == NAI_RELATION_NUMBERS || of->kind == NAI_RELATION_INSIDE;
  if (of->statistic == NAI_STATISTIC_BYTES && !of->sizes) /* "how big are the batches" */
    return false;
  if (of->sizes && of->statistic != NAI_STATISTIC_BYTES && !one)
    return false;
  const bool rate = of->statistic == NAI_STATISTIC_RATE && !nai_thing_has_bytes(&of->things[0]);
  return !rate && !(limited && of->kind != NAI_RELATION_NUMBERS && of->kind != NAI_RELATION_EVERY) &&
         !(groups && of->statistic == NAI_STATISTIC_P95) &&
         !(of->kind == NAI_RELATION_COMPARE && of->yes_no && !nai_says_compared(r));
}

bool nai_relation_is_meant(const struct nai_relation *of, const struct nai_reading *r) {
  return takes_up(of, r) && is_of_what_is_asked(of, r);
}
