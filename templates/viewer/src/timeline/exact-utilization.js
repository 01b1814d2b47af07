/** @import { Model } from '../model.js' */
import { bisect } from '../model.js';
import { UtilizationSums } from './utilization.js';

/** Of one GPU; with more, the bins of the report have to do. */
const MAX_EVENTS = 1_000_000;
const COMMUNICATION = 'communication';
const [COMPUTE, EXPOSED_COMM, EXPOSED_COPY, IDLE] = [0, 1, 2, 3];

/** Starts and ends of a GPU's operations by class, ascending. @param {Model} model @param {number} gpu */
function edges(model, gpu) {
  const { start, name } = model.events;
  const lanes = model.lanes.filter((lane) => model.isGpuLane(lane) && lane.gpu === gpu);
  const total = lanes.reduce((sum, lane) => sum + lane.count, 0);
  if (total === 0 || total > MAX_EVENTS) return null;
  const isCommunication = model.names.map((_, id) => model.category(id) === COMMUNICATION);
  const sizes = [0, 0, 0];
  const classOf = new Uint8Array(total);
  let at = 0;
  for (const lane of lanes) {
    for (let i = lane.first; i < lane.first + lane.count; i++) {
      const kind = lane.kind === 'kernel' ? Number(isCommunication[name[i]]) : lane.kind === 'graph' ? COMPUTE : EXPOSED_COPY;
      classOf[at++] = kind;
      sizes[kind]++;
    }
  }
  const starts = sizes.map((size) => new Float64Array(size));
  const ends = sizes.map((size) => new Float64Array(size));
  const used = [0, 0, 0];
  at = 0;
  for (const lane of lanes) {
    for (let i = lane.first; i < lane.first + lane.count; i++) {
      const kind = classOf[at++];
      starts[kind][used[kind]] = start[i];
      ends[kind][used[kind]++] = model.end(i);
    }
  }
  for (const list of [...starts, ...ends]) list.sort();
  return { starts, ends, total };
}

/** How a GPU's time is shared out, to the ns: from its events, where the page has them all. */
export class ExactUtilization extends UtilizationSums {
  /** @param {UtilizationSums} bins @param {NonNullable<ReturnType<typeof edges>>} list */
  constructor(bins, { starts, ends, total }) {
    super({ device_id: -1, bin_ns: 1, start_ns: 0, compute_ns: [], exposed_comm_ns: [], exposed_copy_ns: [], idle_ns: [] });
    this.start = bins.start;
    this.isExact = true;
    this.times = new Float64Array(2 * total + 1);
    this.sums = this.parts.map(() => new Float64Array(2 * total + 1));
    this.length = 0;
    this.sweep(starts, ends);
  }

  /** Walks all edges in order and adds up what ran between them. @param {Float64Array[]} starts @param {Float64Array[]} ends */
  sweep(starts, ends) {
    const [begun, ended] = [[0, 0, 0], [0, 0, 0]];
    const running = (/** @type {number} */ kind) => begun[kind] > ended[kind];
    let state = -1;
    for (;;) {
      let time = Infinity;
      for (let kind = 0; kind < 3; kind++) {
        if (begun[kind] < starts[kind].length) time = Math.min(time, starts[kind][begun[kind]]);
        if (ended[kind] < ends[kind].length) time = Math.min(time, ends[kind][ended[kind]]);
      }
      if (time === Infinity) break;
      this.add(time, state);
      for (let kind = 0; kind < 3; kind++) {
        while (begun[kind] < starts[kind].length && starts[kind][begun[kind]] <= time) begun[kind]++;
        while (ended[kind] < ends[kind].length && ends[kind][ended[kind]] <= time) ended[kind]++;
      }
      state = running(COMPUTE) ? COMPUTE : running(EXPOSED_COMM) ? EXPOSED_COMM : running(EXPOSED_COPY) ? EXPOSED_COPY : IDLE;
    }
  }

  /** @param {number} time @param {number} state  of the stretch that ends there, -1 before the first */
  add(time, state) {
    const at = this.length++;
    this.times[at] = time;
    if (at === 0) return;
    for (let part = 0; part < 4; part++) this.sums[part][at] = this.sums[part][at - 1];
    this.sums[state][at] += time - this.times[at - 1];
  }

  /** @param {number} time @param {Float64Array} to @override */
  until(time, to) {
    const after = bisect(0, this.length, (index) => this.times[index] > time);
    const before = Math.max(0, after - 1);
    const next = Math.min(this.length - 1, after);
    const length = this.times[next] - this.times[before];
    const share = length > 0 ? Math.max(0, Math.min(1, (time - this.times[before]) / length)) : 0;
    for (let part = 0; part < 4; part++) to[part] = this.sums[part][before] + (this.sums[part][next] - this.sums[part][before]) * share;
  }

  /** Any stretch is known exactly. @param {number} from @param {number} to @returns {[number, number]} @override */
  wholeBins(from, to) {
    return [from, to];
  }
}

/** @param {Model} model @param {number} gpu @param {UtilizationSums} bins @returns {UtilizationSums}  the exact ones where they can be had, else the bins */
export function exactUtilization(model, gpu, bins) {
  const list = model.aggregated ? null : edges(model, gpu);
  return list ? new ExactUtilization(bins, list) : bins;
}
