/** @import { Lane } from './types.js' */
/** @import { Model } from './model.js' */

/**
 * What the calls inside a range launched on one GPU: from its first operation's start to its last one's end.
 * @typedef {object} Projected
 * @property {number} range  event number of the NVTX range
 * @property {number} parent  the range around it on its thread, -1 for none
 * @property {number} start  ns after the origin
 * @property {number} end
 * @property {number} ops  GPU operations
 * @property {number} launches  calls that launched them
 */

/** GPU work by the call that launched it: a list per call, in one array. */
class WorkOfCalls {
  /** @param {Model} model */
  constructor(model) {
    const { link } = model.events;
    this.first = new Int32Array(model.count).fill(-1);
    this.next = new Int32Array(model.count).fill(-1);
    this.gpu = new Int32Array(model.count);
    for (const lane of model.lanes) {
      if (!model.isGpuLane(lane)) continue;
      for (let i = lane.first; i < lane.first + lane.count; i++) {
        if (link[i] === 0) continue;
        this.gpu[i] = lane.gpu;
        this.next[i] = this.first[link[i] - 1];
        this.first[link[i] - 1] = i;
      }
    }
  }
}

const LAUNCHED = 4;

/**
 * Whether work of a call may be where the page has blocks. Of a call with several operations nothing tells whether all are there.
 * @param {Model} model @param {WorkOfCalls} work @param {number} call
 */
function mayLack(model, work, call) {
  const { aux, count } = model.events;
  const first = work.first[call];
  return model.aggregated && count[call] === 1 && (first < 0 ? (aux[call] & LAUNCHED) !== 0 : work.next[first] >= 0);
}

/** @param {Lane[]} lanes */
function byThread(lanes) {
  /** @type {Map<string, {ranges: Lane[], calls: Lane[]}>} */
  const threads = new Map();
  for (const lane of lanes) {
    if (lane.kind !== 'nvtx' && lane.kind !== 'api') continue;
    const key = `${lane.pid}:${lane.tid}`;
    const thread = threads.get(key) ?? { ranges: [], calls: [] };
    threads.set(key, thread);
    (lane.kind === 'nvtx' ? thread.ranges : thread.calls).push(lane);
  }
  return [...threads.values()].filter(({ ranges, calls }) => ranges.length > 0 && calls.length > 0);
}

/**
 * Walks the calls of a thread that launched something, with the ranges that are open at each and wholly on the page.
 * @param {Model} model @param {Lane} ranges @param {Lane} calls @param {WorkOfCalls} work
 * @param {(call: number, open: number[]) => void} visit  open: outermost first
 */
function walk(model, ranges, calls, work, visit) {
  const { start } = model.events;
  /** @type {number[]} */
  let open = [];
  let next = ranges.first;
  const last = ranges.first + ranges.count;
  for (let call = calls.first; call < calls.first + calls.count; call++) {
    if (work.first[call] < 0 && !mayLack(model, work, call)) continue;
    for (; next < last && start[next] <= start[call]; next++) {
      if (open.length > 0 && model.end(open[open.length - 1]) <= start[next]) open = open.filter((range) => model.end(range) > start[next]);
      if (model.complete(start[next], model.end(next))) open.push(next);
    }
    // A range launched what lies in it wholly.
    visit(call, open.filter((range) => model.end(range) >= model.end(call)));
  }
}

/**
 * Every NVTX push/pop range with work on a GPU, as it looks from there: table nvtx_projection_events, from the page's events.
 * @param {Model} model @returns {Map<number, Projected[]>}  by GPU, ascending by start, a range before those inside it; of a page
 *   that lacks events those ranges of which it has all
 */
export function projectRanges(model) {
  /** @type {Map<number, Map<number, Projected>>} */
  const found = new Map();
  /** @type {Set<number>} */
  const lacking = new Set();
  const work = new WorkOfCalls(model);
  for (const { ranges, calls } of byThread(model.lanes)) {
    for (const rangeLane of ranges)
      for (const callLane of calls)
        walk(model, rangeLane, callLane, work, (call, open) => {
          if (mayLack(model, work, call)) return open.forEach((range) => lacking.add(range));
          const counted = new Set();
          for (let op = work.first[call]; op >= 0; op = work.next[op]) {
            add(found, model, op, work.gpu[op], open, !counted.has(work.gpu[op]));
            counted.add(work.gpu[op]);
          }
        });
  }
  return new Map([...found].map(([gpu, list]) => [gpu, sorted(model, [...list.values()].filter(({ range }) => !lacking.has(range)))]));
}

/** @param {Map<number, Map<number, Projected>>} found @param {Model} model @param {number} op @param {number} gpu @param {number[]} open @param {boolean} first  of its call there */
function add(found, model, op, gpu, open, first) {
  const list = found.get(gpu) ?? new Map();
  found.set(gpu, list);
  const [start, end] = [model.events.start[op], model.end(op)];
  open.forEach((range, depth) => {
    const entry = list.get(range);
    if (!entry) list.set(range, { range, parent: depth > 0 ? open[depth - 1] : -1, start, end, ops: 1, launches: 1 });
    else {
      entry.start = Math.min(entry.start, start);
      entry.end = Math.max(entry.end, end);
      entry.ops++;
      entry.launches += Number(first);
    }
  });
}

/** @param {Model} model @param {Projected[]} list */
function sorted(model, list) {
  const { start } = model.events;
  return list.sort((a, b) => a.start - b.start || b.end - a.end || start[a.range] - start[b.range] || a.range - b.range);
}

/** Rows that would be higher than the screen tell nothing more. */
const MAX_ROWS = 12;

/**
 * Ranges of one GPU below each other: a range below the one around it, and none over another in its row.
 * @param {Projected[]} list  as projectRanges has it @returns {Projected[][]}
 */
export function projectionRows(list) {
  /** @type {Projected[][]} */
  const rows = [];
  /** @type {Map<number, number>} */
  const rowOf = new Map();
  for (const entry of list) {
    let row = (rowOf.get(entry.parent) ?? -1) + 1;
    while (row < rows.length && rows[row][rows[row].length - 1].end > entry.start) row++;
    rowOf.set(entry.range, row);
    if (row >= MAX_ROWS) continue;
    if (row === rows.length) rows.push([]);
    rows[row].push(entry);
  }
  return rows;
}
