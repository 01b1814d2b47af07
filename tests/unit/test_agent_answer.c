/* What the server makes of what its commands printed. */
#include "unit.h"

#include "features/mcp/internal.h"

static bool is_error(const char *first, const char *second) {
  const struct nai_agent agent = {.options = {.max_chars = NAI_AGENT_LEAST_CHARS}};
  struct nai_buf printed[NAI_AGENT_MAX_STEPS] = {{0}};
  struct nai_agent_call call = {.name = "analyze", .shape = NAI_AGENT_OBJECT, .step_count = 2, .cell_chars = 400};
  nai_buf_puts(&printed[0], first);
  nai_buf_puts(&printed[1], second);
  json_t *result = nai_agent_answer(&agent, &call, printed);
  bool error = json_is_true(json_object_get(result, "isError"));
  json_decref(result);
  nai_buf_free(&printed[0]);
  nai_buf_free(&printed[1]);
  return error;
}

/* An analysis without GPUs is one thing, one whose GPUs could not be read another. */
TEST(test_every_step_counts) {
  assert_false(is_error("{}", "{\"columns\": [{\"name\": \"device_id\"}], \"rows\": [[0]]}"));
  assert_false(is_error("{}", "{\"columns\": [{\"name\": \"device_id\"}], \"rows\": []}"));
  assert_true(is_error("{}", ""));
  assert_true(is_error("{}", "[["));
  assert_true(is_error("", "{\"columns\": [], \"rows\": []}"));
}
