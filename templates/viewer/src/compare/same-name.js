/** @import { Model } from '../model.js' */

/**
 * @typedef {object} NameSums
 * @property {number} count
 * @property {number} total  ns
 * @property {number} median  ns, NaN without any
 */

/** Numbers of a text: a kernel and a range may share it. @param {Model} model @param {string} text */
export function idsOf(model, text) {
  /** @type {Set<number>} */
  const ids = new Set();
  if (model.nameIndex.has(text)) model.names.forEach((name, id) => name === text && ids.add(id));
  return ids;
}

/** Events of a name that begin in a stretch of time. @param {Model} model @param {string} text @param {number} from @param {number} to @returns {NameSums} */
export function sumsOf(model, text, from, to) {
  const wanted = idsOf(model, text);
  const { name, start, duration, count } = model.events;
  /** @type {number[]} */
  const list = [];
  for (let i = 0; wanted.size > 0 && i < model.count; i++)
    if (wanted.has(name[i]) && count[i] === 1 && start[i] >= from && start[i] < to) list.push(duration[i]);
  list.sort((a, b) => a - b);
  const middle = list.length >> 1;
  const median = list.length === 0 ? NaN : list.length % 2 === 1 ? list[middle] : (list[middle - 1] + list[middle]) / 2;
  return { count: list.length, total: list.reduce((sum, value) => sum + value, 0), median };
}

/** The event of a name that begins closest to a time, -1 for none. @param {Model} model @param {string} text @param {number} at */
export function nearestOf(model, text, at) {
  const wanted = idsOf(model, text);
  const { name, start } = model.events;
  let best = -1;
  for (let i = 0; wanted.size > 0 && i < model.count; i++)
    if (wanted.has(name[i]) && (best < 0 || Math.abs(start[i] - at) < Math.abs(start[best] - at))) best = i;
  return best;
}
