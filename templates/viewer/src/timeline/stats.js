/** @import { Lane } from '../types.js' */
/** @import { Model } from '../model.js' */
import { between } from '../sums.js';

/**
 * What happened in a stretch of time. Time is what lies inside; counts are of events that begin inside, so that both add
 * up over neighbouring stretches.
 * @typedef {object} NameTotal
 * @property {number} name  index; -1: all names without sums of their own
 * @property {number} count
 * @property {number} ns
 *
 * @typedef {{gpu: number, busyNs: number, kernels: number, copies: number, copiedBytes: number}} GpuTotal
 *
 * @typedef {object} RangeStats
 * @property {number} from  as asked for, or the nearest edge of the grid outside of it
 * @property {number} to
 * @property {GpuTotal[]} gpus
 * @property {NameTotal[]} kernels  longest total first
 * @property {NameTotal[]} apis
 * @property {number} kernelCount
 * @property {number} kernelNs
 * @property {number} launches  API calls that launched GPU work
 * @property {number} apiCalls
 * @property {number} blockedNs  blocking calls, summed over threads
 * @property {number} threads  that call CUDA
 * @property {Lane[]} lanes  what it is of
 */

/** Bits of a call's aux value. */
const CALL_CLASS = 3;
const CALL_BLOCKS = 1;
const CALL_LAUNCHES = 4;

/** @param {number} aux */
export const blocksHost = (aux) => (aux & CALL_CLASS) === CALL_BLOCKS;
/** @param {number} aux */
export const launchesWork = (aux) => (aux & CALL_LAUNCHES) !== 0;
/** 0 returns at once, 1 blocks the host, 2 orders or polls. @param {number} aux */
export const callClass = (aux) => aux & CALL_CLASS;

/**
 * Visits the events of a lane that overlap [from, to): the ns inside, and whether it begins inside.
 * @param {Model} model @param {Lane} lane @param {number} from @param {number} to
 * @param {(event: number, ns: number, begins: number) => void} visit
 */
function overlapping(model, lane, from, to, visit) {
  const { start, duration } = model.events;
  const last = model.lowerBound(lane, to);
  for (let i = lane.first; i < last; i++) {
    const end = start[i] + duration[i];
    const begins = start[i] >= from ? 1 : 0;
    if (end > from || begins) visit(i, Math.max(0, Math.min(to, end) - Math.max(from, start[i])), begins);
  }
}

/**
 * Time covered by at least one of the lanes' events: a k-way merge by start.
 * @param {Model} model @param {Lane[]} lanes @param {number} from @param {number} to
 */
export function busyNs(model, lanes, from, to) {
  const { start, duration } = model.events;
  const cursors = lanes.map((lane) => lane.first);
  const ends = lanes.map((lane) => model.lowerBound(lane, to));
  let covered = 0;
  let until = from;
  for (;;) {
    let next = -1;
    for (let i = 0; i < lanes.length; i++) {
      if (cursors[i] < ends[i] && (next < 0 || start[cursors[i]] < start[cursors[next]])) next = i;
    }
    if (next < 0) break;
    const event = cursors[next]++;
    const begin = Math.max(until, start[event]);
    const end = Math.min(to, start[event] + duration[event]);
    if (end <= begin) continue;
    covered += end - begin;
    until = end;
  }
  return covered;
}

/** Sums under construction. */
class Totals {
  /** @param {Model} model @param {Lane[]} lanes */
  constructor(model, lanes) {
    this.lanes = lanes;
    /** @type {Map<number, NameTotal>} */
    this.kernels = new Map();
    /** @type {Map<number, NameTotal>} */
    this.apis = new Map();
    /** @type {Map<number, GpuTotal>} */
    this.gpus = new Map(
      model.timeline.gpus
        .filter(({ id }) => lanes === model.lanes || lanes.some((lane) => model.isGpuLane(lane) && lane.gpu === id))
        .map(({ id }) => [id, { gpu: id, busyNs: 0, kernels: 0, copies: 0, copiedBytes: 0 }]),
    );
    this.launches = 0;
    this.blockedNs = 0;
    this.threads = lanes.filter((lane) => lane.kind === 'api').length;
  }

  /** @param {Map<number, NameTotal>} totals @param {number} name @param {number} count @param {number} ns */
  tally(totals, name, count, ns) {
    const entry = totals.get(name);
    if (!entry) totals.set(name, { name, count, ns });
    else {
      entry.count += count;
      entry.ns += ns;
    }
  }

  /** @param {number} gpu @param {number} name @param {number} count @param {number} ns */
  addKernels(gpu, name, count, ns) {
    const entry = this.gpus.get(gpu);
    if (entry) entry.kernels += count;
    this.tally(this.kernels, name, count, ns);
  }

  /** @param {number} gpu @param {number} count @param {number} bytes */
  addCopies(gpu, count, bytes) {
    const entry = this.gpus.get(gpu);
    if (!entry) return;
    entry.copies += count;
    entry.copiedBytes += bytes;
  }

  /** @param {number} from @param {number} to @returns {RangeStats} */
  finish(from, to) {
    /** @param {Map<number, NameTotal>} totals */
    const ranked = (totals) => [...totals.values()].sort((a, b) => b.ns - a.ns || a.name - b.name);
    const [kernels, apis] = [ranked(this.kernels), ranked(this.apis)];
    /** @param {NameTotal[]} totals @param {'ns' | 'count'} what */
    const sum = (totals, what) => totals.reduce((all, entry) => all + entry[what], 0);
    return {
      from,
      to,
      gpus: [...this.gpus.values()],
      kernels,
      apis,
      kernelCount: sum(kernels, 'count'),
      kernelNs: sum(kernels, 'ns'),
      launches: this.launches,
      apiCalls: sum(apis, 'count'),
      blockedNs: this.blockedNs,
      threads: this.threads,
      lanes: this.lanes,
    };
  }
}

/** A stretch of which the page has every event. @param {Totals} totals @param {Model} model @param {number} from @param {number} to */
function addEvents(totals, model, from, to) {
  if (to <= from) return;
  const { name, aux } = model.events;
  for (const lane of totals.lanes) {
    if (lane.kind === 'kernel')
      overlapping(model, lane, from, to, (event, ns, begins) => totals.addKernels(lane.gpu, name[event], begins, ns));
    else if (lane.kind === 'copy')
      overlapping(model, lane, from, to, (event, _, begins) => totals.addCopies(lane.gpu, begins, begins * aux[event]));
    else if (lane.kind === 'api')
      overlapping(model, lane, from, to, (event, ns, begins) => {
        if (blocksHost(aux[event])) totals.blockedNs += ns;
        if (launchesWork(aux[event])) totals.launches += begins;
        totals.tally(totals.apis, name[event], begins, ns);
      });
  }
  for (const entry of totals.gpus.values()) {
    const lanes = totals.lanes.filter((lane) => model.isGpuLane(lane) && lane.gpu === entry.gpu);
    entry.busyNs += busyNs(model, lanes, from, to);
  }
}

/** A stretch between two edges of the grid. @param {Totals} totals @param {Model} model @param {number} from @param {number} to */
function addSums(totals, model, from, to) {
  const { grid, utilization } = model.timeline;
  if (to <= from || !grid) return;
  const [first, last] = [Math.round(from / grid.bin_ns), Math.round(to / grid.bin_ns)];
  for (const series of model.series) {
    const { kind, gpu, name } = series.head;
    const { ns, count, bytes } = between(series, first, last);
    if (ns === 0 && count === 0) continue;
    if (kind === 'kernel') totals.addKernels(gpu, name, count, ns);
    else if (kind === 'copy') totals.addCopies(gpu, count, bytes);
    else if (kind === 'call') totals.tally(totals.apis, name, count, ns);
    else if (kind === 'blocked') totals.blockedNs += ns;
    else totals.launches += count;
  }
  for (const data of utilization) {
    const entry = totals.gpus.get(data.device_id);
    const offset = Math.round(data.start_ns / grid.bin_ns);
    const bins = data.compute_ns.length;
    for (let bin = Math.max(0, first - offset); entry && bin < Math.min(bins, last - offset); bin++)
      entry.busyNs += data.compute_ns[bin] + data.exposed_comm_ns[bin] + data.exposed_copy_ns[bin];
  }
}

/**
 * The stretch whose sums are known exactly: an edge stays where it is when every event up to the next edge of the grid is
 * on the page, and moves outwards to the grid otherwise.
 * @param {Model} model @param {number} from @param {number} to @returns {[number, number]}
 */
export function exactRange(model, from, to) {
  const { grid } = model.timeline;
  if (!grid || model.complete(from, to)) return [from, to];
  const begin = Math.floor(from / grid.bin_ns) * grid.bin_ns;
  const end = Math.ceil(to / grid.bin_ns) * grid.bin_ns;
  const inner = [begin === from ? from : begin + grid.bin_ns, end === to ? to : end - grid.bin_ns];
  return [
    inner[0] <= to && model.complete(from, inner[0]) ? from : Math.max(0, begin),
    inner[1] >= from && model.complete(inner[1], to) ? to : Math.min(end, grid.bins * grid.bin_ns),
  ];
}

/**
 * Exact statistics of a stretch of time: of the one asked for, or of the smallest around it that the page knows exactly. Of some lanes
 * only where the page has every event of it.
 * @param {Model} model @param {number} wantedFrom @param {number} wantedTo @param {Lane[] | null} [lanes]  null: all @returns {RangeStats}
 */
export function rangeStats(model, wantedFrom, wantedTo, lanes = null) {
  const some = lanes && model.complete(wantedFrom, wantedTo) ? lanes : null;
  const totals = new Totals(model, some ?? model.lanes);
  const [from, to] = exactRange(model, wantedFrom, wantedTo);
  const { grid } = model.timeline;
  if (!grid || model.complete(from, to)) addEvents(totals, model, from, to);
  else {
    const first = Math.ceil(from / grid.bin_ns) * grid.bin_ns;
    const last = Math.floor(to / grid.bin_ns) * grid.bin_ns;
    addEvents(totals, model, from, first);
    addSums(totals, model, first, last);
    addEvents(totals, model, last, to);
  }
  return totals.finish(from, to);
}
