/** @import { Model } from '../model.js' */
/** @import { Cell } from '../types.js' */
import { records } from '../table-schema.js';

/** Stretches of the GPU's active time, in order. @param {Model} model @param {Cell} gpu @returns {[number, number][]}  ns after the origin */
export function activeSpans(model, gpu) {
  return records(model.table('active_spans'))
    .filter((span) => span.kind === 'active' && span.device_id === gpu)
    .map((span) => [model.clock.relative(Number(span.start_ns)), model.clock.relative(Number(span.end_ns))]);
}

/** Whether a time is in one of them. @param {[number, number][]} spans @param {number} at */
export const isIn = (spans, at) => spans.some(([from, to]) => from <= at && at < to);

/** Where so much of the active time is over. @param {[number, number][]} spans @param {number} part */
export function timeOf(spans, part) {
  let left = part * spans.reduce((sum, [from, to]) => sum + to - from, 0);
  for (const [from, to] of spans) {
    if (left < to - from) return from + left;
    left -= to - from;
  }
  return Infinity;
}

/** Adds to the list of a key. @template K, V @param {Map<K, V[]>} lists @param {K} key @param {V} value */
export function add(lists, key, value) {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
