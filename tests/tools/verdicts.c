/* What comparisons say of noisy values that are better when lower: reads "BUDGET_PCT NOISE_PCT VALUE... | VALUE..."
 * from stdin, base before new, a line each. Prints "VERDICT LOW HIGH" each: the interval of the shift, 0 0 where there
 * is none. */
#include "features/compare/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  double values[2][NAI_VALUES_MAX];
  char *line = NULL;
  size_t size = 0;
  while (getline(&line, &size, stdin) > 0) {
    struct nai_limits limits = {.sign = 1, .budget = NAN, .noise = NAN, .limit = NAN, .minimum = NAI_MIN_CAPTURES};
    struct nai_judgement out;
    size_t count[2] = {0, 0};
    int side = 0, number = 0;
    for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"), number++) {
      if (number == 0)
        limits.budget_pct = strtod(word, NULL);
      else if (number == 1)
        limits.noise_pct = strtod(word, NULL);
      else if (*word == '|')
        side = 1;
      else if (count[side] < NAI_VALUES_MAX)
        values[side][count[side]++] = strtod(word, NULL);
    }
    if (!count[0] || !count[1] || nai_judge(&out, &limits, values[0], count[0], values[1], count[1], NULL) != NAI_OK)
      return 1;
    printf("%s %.12g %.12g\n", nai_verdict_code(out.verdict), out.shift.low, out.shift.high);
  }
  free(line);
  return 0;
}
