/* What a command printed as the result of a tool: bounded, with a cursor where there is more. */
#include "features/mcp/internal.h"

#include "base/text.h"

#include <sys/stat.h>

static size_t length_of(const json_t *value) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_agent_print(&text, value);
  return text.len;
}

/* --- results ---------------------------------------------------------------------------------------- */

json_t *nai_agent_refusal(const char *message) {
  NAI_SCOPED(nai_buf) clean = {0};
  nai_text_clean(&clean, message, strlen(message));
  return json_pack("{s[{ssss}]sb}", "content", "type", "text", "text", nai_buf_str(&clean), "isError", 1);
}

/* `answer` is taken over. Clients that know no structured content read the same as text. */
static json_t *result_of(const struct nai_agent *agent, json_t *taken) {
  json_auto_t *answer = taken;
  NAI_SCOPED(nai_buf) text = {0};
  nai_agent_print(&text, answer);
  if (text.oom)
    return nai_agent_refusal("out of memory");
  if (text.len > (size_t)agent->options.max_chars)
    return nai_agent_refusal("the answer is too large even without rows: ask for fewer columns");
  return json_pack("{s[{ssss}]sOsb}", "content", "type", "text", "text", nai_buf_str(&text), "structuredContent",
                   answer, "isError", 0);
}

static json_t *begin(const struct nai_agent_call *call) {
  json_t *answer = json_object();
  if (*call->run)
    json_object_set_new(answer, "run", json_string(call->run));
  return answer;
}

/* --- cutting ---------------------------------------------------------------------------------------- */

/* Texts of more than `most` bytes, cut, with their length. */
static json_t *cut_text(const json_t *text, size_t most) {
  const char *s = json_string_value(text);
  size_t len = json_string_length(text), keep = most;
  if (len <= most)
    return json_incref((json_t *)text);
  while (keep && ((unsigned char)s[keep] & 0xc0) == 0x80)
    keep--;
  return json_sprintf("%.*s\xe2\x80\xa6 (%zu bytes)", (int)keep, s, len);
}

static json_t *cut(const json_t *value, size_t most) {
  const char *key;
  json_t *member, *out;
  size_t i;
  if (!value)
    return json_null();
  switch (json_typeof(value)) {
  case JSON_STRING:
    return cut_text(value, most);
  case JSON_ARRAY:
    out = json_array();
    json_array_foreach((json_t *)value, i, member) json_array_append_new(out, cut(member, most));
    return out;
  case JSON_OBJECT:
    out = json_object();
    json_object_foreach((json_t *)value, key, member) json_object_set_new(out, key, cut(member, most));
    return out;
  default:
    return json_incref((json_t *)value);
  }
}

/* The longest array of a value, however deep, of more than `least` items. */
static json_t *find_longest(json_t *value, size_t least) {
  const char *key;
  json_t *member, *best = json_is_array(value) && json_array_size(value) > least ? value : NULL, *other;
  size_t i;
  json_array_foreach(value, i, member) if ((other = find_longest(member, best ? json_array_size(best) : least))) best =
      other;
  json_object_foreach(value, key, member) if ((other = find_longest(member, best ? json_array_size(best) : least)))
      best = other;
  return best;
}

/* Shortens arrays, the longest first, until the whole fits. */
static void fit(json_t *answer, size_t most) {
  json_t *longest;
  while (length_of(answer) > most && (longest = find_longest(answer, 1))) {
    size_t keep = json_array_size(longest) / 2;
    while (json_array_size(longest) > keep)
      json_array_remove(longest, json_array_size(longest) - 1);
    json_object_set_new(answer, "truncated", json_true());
  }
}

/* --- rows ------------------------------------------------------------------------------------------- */

/* Column `evidence` of findings is JSON in a text. */
static void unpack(json_t *columns, json_t *row) {
  json_t *column, *inner;
  size_t i;
  json_array_foreach(columns, i, column) {
    const char *name = json_string_value(json_object_get(column, "name"));
    const json_t *cell = json_array_get(row, i);
    if (name && strcmp(name, "evidence") == 0 && json_is_string(cell) &&
        (inner = nai_json_read(json_string_value(cell), json_string_length(cell), 0, NULL)))
      json_array_set_new(row, i, inner);
  }
}

/* Rows of the page that fit; returns how many. */
static int64_t take_rows(json_t *out, const struct nai_agent_call *call, json_t *columns, const json_t *rows,
                         size_t room, size_t cell_chars) {
  int64_t count = (int64_t)json_array_size(rows), first = call->offset - call->skipped, taken = 0;
  for (size_t used = 0; taken < call->limit && first + taken < count; taken++) {
    json_auto_t *row = json_deep_copy(json_array_get(rows, (size_t)(first + taken)));
    if (strcmp(call->name, "findings") == 0)
      unpack(columns, row);
    json_auto_t *bounded = cut(row, cell_chars);
    used += length_of(bounded) + 2;
    if (used > room)
      break;
    json_array_append(out, bounded);
  }
  return taken;
}

static json_t *answer_rows(const struct nai_agent *agent, const struct nai_agent_call *call, const json_t *printed) {
  enum { FOR_THE_REST = 200 };
  json_t *answer = begin(call), *rows = json_object_get(printed, "rows");
  json_t *columns = cut(json_object_get(printed, "columns"), 400), *out = NULL;
  int64_t count = call->skipped + (int64_t)json_array_size(rows), taken = 0;
  size_t head = length_of(columns) + length_of(answer) + FOR_THE_REST, most = (size_t)agent->options.max_chars;
  bool more_there = json_is_true(json_object_get(printed, "truncated"));
  for (size_t chars = call->cell_chars; chars >= 20 && !taken; chars /= 4) {
    json_decref(out);
    out = json_array();
    taken = take_rows(out, call, columns, rows, most > head ? most - head : 0, chars);
  }
  bool truncated = call->offset + taken < count || more_there;
  json_object_set_new(answer, "columns", columns);
  json_object_set_new(answer, "rows", out);
  json_object_set_new(answer, "total_rows", more_there ? json_null() : json_integer(count));
  json_object_set_new(answer, "truncated", truncated ? json_true() : json_false());
  if (truncated && taken)
    json_object_set_new(answer, "next_cursor", nai_agent_cursor(call, call->offset + taken));
  if (truncated && !taken && call->offset < count) {
    json_decref(answer);
    return nai_agent_refusal("a single row is too large for an answer: ask for fewer columns");
  }
  return result_of(agent, answer);
}

/* --- the other shapes ------------------------------------------------------------------------------- */

static json_t *answer_blocks(const struct nai_agent *agent, const struct nai_agent_call *call, const json_t *printed) {
  json_t *answer = begin(call), *blocks = cut(json_object_get(printed, "blocks"), call->cell_chars), *block;
  size_t i;
  json_array_foreach(blocks, i, block) {
    json_t *rows = json_object_get(block, "rows");
    bool more = i > 0 && json_array_size(rows) > (size_t)call->limit; /* the first has a row per GPU */
    while (more && json_array_size(rows) > (size_t)call->limit)
      json_array_remove(rows, json_array_size(rows) - 1);
    if (more)
      json_object_set_new(block, "truncated", json_true());
  }
  json_object_set_new(answer, "start_ns", json_incref(json_object_get(call->arguments, "start_ns")));
  json_object_set_new(answer, "end_ns", json_incref(json_object_get(call->arguments, "end_ns")));
  json_object_set_new(answer, "blocks", blocks);
  fit(answer, (size_t)agent->options.max_chars);
  return result_of(agent, answer);
}

/* Lists of a comparison are as long as the caller wants them. */
static void limit_lists(json_t *value, size_t limit) {
  const char *key;
  json_t *member;
  bool cut_any = false;
  json_object_foreach(value, key, member) while (json_array_size(member) > limit) {
    json_array_remove(member, json_array_size(member) - 1);
    cut_any = true;
  }
  if (cut_any)
    json_object_set_new(value, "truncated", json_true());
}

static json_t *answer_object(const struct nai_agent *agent, const struct nai_agent_call *call, const json_t *printed,
                             json_t *rows) {
  json_t *answer = begin(call);
  json_auto_t *bounded = cut(printed, call->cell_chars);
  if (rows) { /* of an analysis: where the results are is for this program to know */
    json_object_del(bounded, "out");
    json_object_del(bounded, "trace");
    json_object_set(bounded, "gpus", rows);
  }
  if (strcmp(call->name, "ask") == 0) /* command lines with paths, and the words of a model that was not asked */
    json_object_del(bounded, "next"), json_object_del(bounded, "wording");
  if (call->limit)
    limit_lists(bounded, (size_t)call->limit);
  json_object_update(answer, bounded);
  fit(answer, (size_t)agent->options.max_chars);
  return result_of(agent, answer);
}

static json_t *answer_text(const struct nai_agent *agent, const struct nai_agent_call *call,
                           const struct nai_buf *printed) {
  enum { FOR_THE_REST = 300 };
  const char *text = nai_buf_str(printed);
  size_t start = (size_t)call->offset < printed->len ? (size_t)call->offset : printed->len, len = printed->len - start;
  size_t room = (size_t)agent->options.max_chars - FOR_THE_REST - strlen(call->run), most = room;
  json_t *answer = begin(call), *piece = NULL;
  while (start < printed->len && ((unsigned char)text[start] & 0xc0) == 0x80)
    start++, len--;
  do {
    len = len < most ? len : most;
    while (len && start + len < printed->len && ((unsigned char)text[start + len] & 0xc0) == 0x80)
      len--;
    json_decref(piece);
    piece = json_stringn(text + start, len);
    most = len * 3 / 4;
  } while (piece && len && length_of(piece) > room);
  bool more = start + len < printed->len;
  json_object_set_new(answer, "text", piece);
  json_object_set_new(answer, "truncated", more ? json_true() : json_false());
  if (more)
    json_object_set_new(answer, "next_cursor", nai_agent_cursor(call, (int64_t)(start + len)));
  return piece ? result_of(agent, answer) : (json_decref(answer), nai_agent_refusal("the text is damaged"));
}

static json_t *answer_written(const struct nai_agent *agent, const struct nai_agent_call *call) {
  json_t *answer = begin(call);
  struct stat st;
  if (stat(call->result, &st)) {
    json_decref(answer);
    return nai_agent_refusal("what the command wrote cannot be found");
  }
  json_object_set_new(answer, "path", json_string(call->result));
  json_object_set_new(answer, "bytes", json_integer(st.st_size));
  return result_of(agent, answer);
}

/* Rows as objects. */
static json_t *objects_of(const json_t *table) {
  json_t *out = json_array(), *row, *columns = json_object_get(table, "columns"), *column;
  size_t i, c;
  json_array_foreach(json_object_get(table, "rows"), i, row) {
    json_t *object = json_object();
    json_array_foreach(columns, c, column)
        json_object_set(object, json_string_value(json_object_get(column, "name")), json_array_get(row, c));
    json_array_append_new(out, object);
  }
  return out;
}

json_t *nai_agent_answer(const struct nai_agent *agent, const struct nai_agent_call *call,
                         const struct nai_buf printed[NAI_AGENT_MAX_STEPS]) {
  if (call->shape == NAI_AGENT_TEXT)
    return answer_text(agent, call, &printed[0]);
  if (call->shape == NAI_AGENT_WRITTEN)
    return answer_written(agent, call);
  json_auto_t *read = nai_json_read(nai_buf_str(&printed[0]), printed[0].len, 0, NULL);
  json_auto_t *table = call->step_count > 1 ? nai_json_read(nai_buf_str(&printed[1]), printed[1].len, 0, NULL) : NULL;
  json_auto_t *rows = table ? objects_of(table) : NULL;
  if (!read || (call->step_count > 1 && !rows))
    return nai_agent_refusal("the command printed something that is not JSON");
  if (call->shape == NAI_AGENT_BLOCKS)
    return answer_blocks(agent, call, read);
  if (call->shape == NAI_AGENT_ROWS && json_is_array(json_object_get(read, "rows")))
    return answer_rows(agent, call, read);
  return answer_object(agent, call, read, rows);
}
