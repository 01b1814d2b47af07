/** @import { Lane } from '../types.js' */
/** @import { Model } from '../model.js' */

/**
 * @typedef {object} NameTotal
 * @property {number} name  index
 * @property {number} count
 * @property {number} ns  clipped to the range
 *
 * @typedef {object} RangeStats
 * @property {number} from
 * @property {number} to
 * @property {{gpu: number, busyNs: number, kernels: number, copies: number, copiedBytes: number}[]} gpus
 * @property {NameTotal[]} kernels  longest total first
 * @property {NameTotal[]} apis
 * @property {number} kernelCount
 * @property {number} kernelNs
 * @property {number} launches  API calls in the range that launched GPU work
 * @property {number} apiCalls
 * @property {number} blockedNs  blocking calls, summed over threads
 * @property {boolean} approximate  aggregated events lie in the range
 */

/**
 * Visits the events of a lane that overlap [from, to), with the part inside.
 * @param {Model} model @param {Lane} lane @param {number} from @param {number} to
 * @param {(event: number, begin: number, end: number) => void} visit
 */
function overlapping(model, lane, from, to, visit) {
  const { start, duration } = model.events;
  const last = lane.first + lane.count;
  for (let i = lane.first; i < last; i++) {
    if (start[i] >= to) break;
    const end = start[i] + duration[i];
    if (end > from || (duration[i] === 0 && start[i] >= from)) visit(i, Math.max(from, start[i]), Math.min(to, end));
  }
}

/** @param {Map<number, NameTotal>} totals @param {number} name @param {number} count @param {number} ns */
function tally(totals, name, count, ns) {
  const entry = totals.get(name);
  if (entry) {
    entry.count += count;
    entry.ns += ns;
  } else {
    totals.set(name, { name, count, ns });
  }
}

/** @param {Map<number, NameTotal>} totals */
function longestFirst(totals) {
  return [...totals.values()].sort((a, b) => b.ns - a.ns || a.name - b.name);
}

/**
 * Time covered by at least one of the lanes' events: a k-way merge by start.
 * @param {Model} model @param {Lane[]} lanes @param {number} from @param {number} to
 */
export function busyNs(model, lanes, from, to) {
  const { start, duration, count, busy } = model.events;
  const cursors = lanes.map((lane) => lane.first);
  const ends = lanes.map((lane) => lane.first + lane.count);
  let covered = 0;
  let until = from;
  for (;;) {
    let next = -1;
    for (let i = 0; i < lanes.length; i++) {
      if (cursors[i] < ends[i] && (next < 0 || start[cursors[i]] < start[cursors[next]])) next = i;
    }
    if (next < 0) break;
    const event = cursors[next]++;
    if (start[event] >= to) break;
    const begin = Math.max(until, start[event]);
    const end = Math.min(to, start[event] + duration[event]);
    if (end <= begin) continue;
    covered += count[event] > 1 ? Math.min(end - begin, busy[event]) : end - begin;
    until = end;
  }
  return covered;
}

/**
 * @param {Model} model @param {number} from @param {number} to
 * @returns {RangeStats}
 */
export function rangeStats(model, from, to) {
  const { name, count, busy, aux } = model.events;
  /** @type {Map<number, NameTotal>} */
  const kernels = new Map();
  /** @type {Map<number, NameTotal>} */
  const apis = new Map();
  /** @type {RangeStats} */
  const stats = {
    from,
    to,
    gpus: [],
    kernels: [],
    apis: [],
    kernelCount: 0,
    kernelNs: 0,
    launches: 0,
    apiCalls: 0,
    blockedNs: 0,
    approximate: false,
  };
  const launching = new Uint8Array(model.count);
  for (const gpu of model.timeline.gpus) {
    const lanes = model.lanes.filter((lane) => model.isGpuLane(lane) && lane.gpu === gpu.id);
    const entry = { gpu: gpu.id, busyNs: busyNs(model, lanes, from, to), kernels: 0, copies: 0, copiedBytes: 0 };
    for (const lane of lanes) {
      overlapping(model, lane, from, to, (event, begin, end) => {
        if (count[event] > 1) stats.approximate = true;
        if (lane.kind === 'kernel') {
          const ns = count[event] > 1 ? Math.min(busy[event], end - begin) : end - begin;
          entry.kernels += count[event];
          stats.kernelNs += ns;
          tally(kernels, name[event], count[event], ns);
        } else if (lane.kind === 'copy') {
          entry.copies += count[event];
          entry.copiedBytes += aux[event];
        }
      });
    }
    stats.kernelCount += entry.kernels;
    stats.gpus.push(entry);
  }
  for (const lane of model.lanes) {
    if (model.isGpuLane(lane)) {
      for (let i = lane.first; i < lane.first + lane.count; i++)
        if (model.events.link[i]) launching[model.events.link[i] - 1] = 1;
    }
  }
  for (const lane of model.lanes) {
    if (lane.kind !== 'api') continue;
    overlapping(model, lane, from, to, (event, begin, end) => {
      if (count[event] > 1) stats.approximate = true;
      stats.apiCalls += count[event];
      if (aux[event] === 1) stats.blockedNs += end - begin;
      // A launch counts where it begins, so that neighbouring ranges never count it twice.
      if (model.events.start[event] >= from && launching[event]) stats.launches += count[event];
      tally(apis, name[event], count[event], end - begin);
    });
  }
  stats.kernels = longestFirst(kernels);
  stats.apis = longestFirst(apis);
  return stats;
}

/**
 * Counts of values in bins of equal ratio between the smallest and the largest.
 * @param {number[]} values @param {number} bins
 */
export function logHistogram(values, bins) {
  let low = Infinity;
  let high = 0;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const base = Math.max(1, low);
  const ratio = Math.log(Math.max(high, base) / base) || 1;
  const counts = new Array(high > base ? bins : 1).fill(0);
  /** @param {number} value */
  const binOf = (value) =>
    Math.min(counts.length - 1, Math.max(0, Math.floor((Math.log(Math.max(value, base) / base) / ratio) * counts.length)));
  for (const value of values) counts[binOf(value)]++;
  return { counts, low, high, binOf, edge: (/** @type {number} */ bin) => base * Math.exp((ratio * bin) / counts.length) };
}
