#pragma once
#include "tables/declare.h"

#define SKILL_ANSWERS_COLUMNS(C, T)                                                 \
  C(T, skill, NAME, "its id, which is also the name of its table", .key = true)     \
  C(T, title, LABEL, "what it is about")                                            \
  C(T, source, LABEL, "its file, without directories, or built-in")                 \
  C(T, row_count, COUNT, "rows of its table; NULL when it cannot say")              \
  C(T, left_out, COUNT, "further rows that the table does not hold: beyond 10,000") \
  C(T, text, LABEL, "its answer in a line; NULL when its file has none, or no row") \
  C(T, reason, LABEL, "why it cannot say; NULL when it can")
NAI_TABLE(SKILL_ANSWERS, skill_answers, "Answers of skills", "One skill that the report was asked to hold",
          "whether a statement asks what its title says", .csv = true)
