/* Facts that a diagnosis must find, and the parts of the truth file that hold them. */
#include "gen/truth/answers.h"
#include "gen/plan_internal.h"
#include "gen/truth/truth_json.h"

#define WORD(id, word) word,
static const char *const words[] = {NAI_GEN_IDLE_CAUSES(WORD)};

void nai_gen_span(struct nai_gen_plan *plan, int gpu, const char *kind, int64_t start_ns, int64_t end_ns) {
  struct nai_gen_span *span = nai_gen_plan_push(plan, &plan->spans);
  if (span) {
    *span = (struct nai_gen_span){gpu, kind, start_ns, end_ns};
  }
}

void nai_gen_fact(struct nai_gen_plan *plan, const struct nai_gen_fact *fact) {
  struct nai_gen_fact *added = nai_gen_plan_push(plan, &plan->facts);
  if (added) {
    *added = *fact;
  }
}

json_t *nai_gen_parts_json(const struct nai_gen_gpu *gpu) {
  json_t *all = json_object();
  for (int i = 0; i < IDLE_COUNT; i++) {
    if (gpu->parts[i].count > 0) {
      json_object_set_new(all, words[i],
                          json_pack("{s:I,s:I}", "part_count", (json_int_t)gpu->parts[i].count, "total_ns",
                                    (json_int_t)gpu->parts[i].total));
    }
  }
  return all;
}

json_t *nai_gen_sweep_json(const struct nai_gen_gpu *gpu) {
  json_t *all = json_object();
  for (int i = 0; i < IDLE_COUNT; i++) {
    if (gpu->swept[i] > 0) {
      nai_gen_json_int(all, words[i], gpu->swept[i]);
    }
  }
  return all;
}

static json_t *spans_json(const struct nai_gen_plan *plan) {
  const struct nai_gen_span *spans = plan->spans.items;
  json_t *all = json_array();
  for (size_t i = 0; i < plan->spans.count; i++) {
    json_t *object = nai_gen_json_object_in(all);
    nai_gen_json_int(object, "gpu", spans[i].gpu);
    nai_gen_json_string(object, "kind", spans[i].kind);
    nai_gen_json_int(object, "start_ns", spans[i].start);
    nai_gen_json_int(object, "end_ns", spans[i].end);
  }
  return all;
}

static json_t *facts_json(const struct nai_gen_plan *plan) {
  const struct nai_gen_fact *facts = plan->facts.items;
  json_t *all = json_array();
  for (size_t i = 0; i < plan->facts.count; i++) {
    json_t *object = nai_gen_json_object_in(all);
    nai_gen_json_string(object, "table", facts[i].table);
    nai_gen_json_string(object, "key", facts[i].key);
    if (facts[i].value) {
      nai_gen_json_string(object, "value", facts[i].value);
    }
    if (facts[i].absent) {
      json_object_set_new(object, "absent", json_true());
    }
    if (facts[i].at_most_ns) {
      nai_gen_json_int(object, "at_most_ns", facts[i].at_most_ns);
    }
    if (facts[i].exact_ns) {
      nai_gen_json_int(object, "exact_ns", facts[i].exact_ns);
    }
    if (facts[i].gain_ns) {
      nai_gen_json_int(object, "gain_ns", facts[i].gain_ns);
    }
    if (facts[i].count) {
      nai_gen_json_int(object, "count", facts[i].count);
    }
  }
  return all;
}

void nai_gen_set_answers(json_t *truth, const struct nai_gen_plan *plan) {
  nai_gen_set_steps(truth, plan);
  if (plan->spans.count > 0) {
    json_object_set_new(truth, "active_spans", spans_json(plan));
  }
  if (plan->facts.count > 0) {
    json_object_set_new(truth, "facts", facts_json(plan));
  }
}
