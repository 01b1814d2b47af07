/** @import { Model } from '../model.js' */
/** @import { SideData } from './types.js' */
import { cellsOf } from './differences.js';
import { idsOf } from './same-name.js';

/**
 * A place of one side: what is put at t = 0 of the axis that both share.
 * @typedef {object} Place
 * @property {number} start  ns after the side's origin
 * @property {number} end  equal to start when it has no length
 * @property {string} label
 */

const MOST = 500;

/** Steps of the typical step's GPU that are on the page. @param {SideData} data @param {Model} model @returns {Place[]} */
export function stepPlaces(data, model) {
  const table = model.table('steps');
  if (!table || !data.anchor || data.anchor.step < 0) return [];
  const { text, number } = cellsOf(table);
  /** @type {Place[]} */
  const list = [];
  for (const row of table.rows) {
    const [start, end] = [number(row, 'gpu_start_ns'), number(row, 'gpu_end_ns')];
    if (number(row, 'device_id') !== data.anchor.device_id || start === null || end === null) continue;
    const place = { start: model.clock.relative(start), end: model.clock.relative(end) };
    if (place.start < model.startNs || place.end > model.endNs) continue;
    const state = text(row, 'state');
    list.push({ ...place, label: `${number(row, 'step')}${state === 'steady' ? '' : ` (${state})`}` });
  }
  return list.slice(0, MOST);
}

/** Instances of an NVTX range, on any thread, by time. @param {Model} model @param {string} range @returns {Place[]} */
export function rangePlaces(model, range) {
  const wanted = idsOf(model, range);
  const { name, start, duration, count } = model.events;
  /** @type {Place[]} */
  const list = [];
  for (const lane of model.lanes) {
    if (lane.kind !== 'nvtx' && lane.kind !== 'nvtx_async') continue;
    for (let i = lane.first; i < lane.first + lane.count; i++)
      if (wanted.has(name[i]) && count[i] === 1) list.push({ start: start[i], end: start[i] + duration[i], label: '' });
  }
  list.sort((a, b) => a.start - b.start || a.end - b.end);
  return list.slice(0, MOST).map((place, index) => ({ ...place, label: `${index + 1} of ${list.length}` }));
}

/** Names of ranges that both sides have, those with most instances first. @param {Model} base @param {Model} fresh */
export function commonRanges(base, fresh) {
  const [left, right] = [base, fresh].map((model) => {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const lane of model.lanes) {
      if (lane.kind !== 'nvtx' && lane.kind !== 'nvtx_async') continue;
      for (let i = lane.first; i < lane.first + lane.count; i++) counts.set(model.nameOf(i), (counts.get(model.nameOf(i)) ?? 0) + 1);
    }
    return counts;
  });
  return [...left]
    .filter(([range]) => right.has(range))
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, MOST)
    .map(([range]) => range);
}

/** The typical step, or where the GPUs' window begins. @param {SideData} data @param {Model} model @returns {Place} */
export function typicalPlace(data, model) {
  const { anchor } = data;
  if (!anchor) return { start: model.startNs, end: model.startNs, label: 'the first event' };
  return {
    start: model.clock.relative(anchor.start_ns),
    end: model.clock.relative(anchor.end_ns),
    label: anchor.step >= 0 ? `step ${anchor.step}` : 'the beginning of GPU work',
  };
}

/** Where the GPUs' work on the page begins. @param {Model} model @returns {Place} */
export function windowPlace(model) {
  let start = Infinity;
  for (const lane of model.lanes) if (model.isGpuLane(lane) && lane.count > 0) start = Math.min(start, model.events.start[lane.first]);
  if (!Number.isFinite(start)) start = model.startNs;
  return { start, end: start, label: 'the beginning of GPU work' };
}
