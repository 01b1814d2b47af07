/* Changes of series read from stdin, a line each: "exact|noisy VALUE...". Prints a line of JSON each. */
#include "features/nights/changes.h"

#include "features/compare/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  enum { MAX_VALUES = 100000 };
  double *values = malloc(MAX_VALUES * sizeof *values);
  char *line = NULL;
  size_t size = 0;
  while (values && getline(&line, &size, stdin) > 0) {
    struct nai_err err = {0};
    NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
    struct nai_trend_found found;
    uint32_t n = 0;
    char *word = strtok(line, " \n");
    struct nai_trend_rule rule = {.exact = word && strcmp(word, "exact") == 0, .noise_pct = NAN, .noise = NAN};
    while ((word = strtok(NULL, " \n")) && n < MAX_VALUES)
      values[n++] = strtod(word, NULL);
    rule.history_noise = rule.exact ? NAN : nai_history_noise(values, n);
    if (nai_trend_changes(&found, values, n, &rule, &arena, &err) != NAI_OK)
      return 1;
    printf("{\"changes\": [");
    for (uint32_t i = 0; i < found.count; i++)
      printf("%s[%u, %.12g, %.12g, %.12g]", i ? ", " : "", found.changes[i].at, found.changes[i].before,
             found.changes[i].after, found.changes[i].p);
    printf("], \"spikes\": [");
    for (uint32_t i = 0, any = 0; i < n; i++)
      if (found.spikes[i])
        printf("%s%u", any++ ? ", " : "", i);
    printf("]}\n");
  }
  free(line);
  free(values);
  return 0;
}
