#pragma once
#include "tables/declare.h"

#define SKILLS_COLUMNS(C, T)                           \
  C(T, id, LABEL, "what the skill is called")          \
  C(T, category, LABEL, "what it is about")            \
  C(T, parameters, LABEL, "what it can be asked with") \
  C(T, source, LABEL, "built-in, or its file")         \
  C(T, title, LABEL, "what it says")
NAI_TABLE(SKILLS, skills, "Skills", "One skill")
