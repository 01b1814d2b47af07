/** @import { Table, Utilization } from './types.js' */
import { UTILIZATION_PARTS } from './colors.js';
import { columnIndex } from './table-schema.js';

/**
 * @typedef {object} GpuShares
 * @property {Utilization} data
 * @property {number} window  ns
 * @property {number[]} ns  per part of UTILIZATION_PARTS
 * @property {number[]} percent  of its window
 *
 * @typedef {{least: number, median: number, most: number}} Spread  percent
 */

/** @param {number[]} values @returns {Spread} */
function spreadOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return {
    least: sorted[0],
    median: (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2,
    most: sorted[sorted.length - 1],
  };
}

/**
 * GPUs that did something, the ones that stand out first: furthest from the median of the part of their time in which they differ most.
 * @param {Utilization[]} utilization @param {Table | null} [active]  gpu_active: of GPUs that pause, their active time
 * @returns {{gpus: GpuShares[], spread: Spread[], by: number}}  by: that part
 */
export function summariseGpus(utilization, active = null) {
  const gpus = utilization
    .map((data) => {
      const ns = activeShares(active, data.device_id)?.totals ?? UTILIZATION_PARTS.map(({ key }) => data[key].reduce((sum, value) => sum + value, 0));
      const window = ns.reduce((sum, value) => sum + value, 0);
      return { data, ns, window, percent: ns.map((value) => (window > 0 ? (100 * value) / window : 0)) };
    })
    .filter(({ window }) => window > 0);
  const spread = UTILIZATION_PARTS.map((_, part) => spreadOf(gpus.length > 0 ? gpus.map(({ percent }) => percent[part]) : [0]));
  const by = spread.reduce((best, one, part) => (one.most - one.least > spread[best].most - spread[best].least ? part : best), 0);
  /** @param {GpuShares} gpu */
  const offset = ({ percent }) => Math.abs(percent[by] - spread[by].median);
  gpus.sort((a, b) => offset(b) - offset(a) || a.data.device_id - b.data.device_id);
  return { gpus, spread, by };
}

/** So many GPUs are looked at one by one; of more only the first few that stand out. */
const ONE_BY_ONE = 8;
const STAND_OUT = 4;

/** GPUs to look at first, and the others in their order; of few GPUs nothing comes first. @param {Utilization[]} utilization @returns {{first: Utilization[], rest: Utilization[]}} */
export function worstFirst(utilization) {
  if (utilization.length <= ONE_BY_ONE) return { first: [], rest: utilization };
  const first = summariseGpus(utilization).gpus.slice(0, STAND_OUT).map(({ data }) => data);
  return { first, rest: utilization.filter((data) => !first.includes(data)) };
}

/** Order of GPUs: those to look at first, then all others. @param {Utilization[]} utilization @returns {(a: number, b: number) => number}  of their ids */
export function byStanding(utilization) {
  const first = worstFirst(utilization).first.map(({ device_id: id }) => id);
  const at = (/** @type {number} */ id) => (first.includes(id) ? first.indexOf(id) : first.length);
  return (a, b) => at(a) - at(b);
}

/** Sums of GPUs on one grid of bins; null where the grids differ. @param {Utilization[]} group @returns {Utilization | null} */
function merged(group) {
  const [{ bin_ns: bin, start_ns: start, idle_ns: bins }] = group;
  if (group.some((data) => data.bin_ns !== bin || data.start_ns !== start || data.idle_ns.length !== bins.length)) return null;
  const [compute, comm, copy, idle] = UTILIZATION_PARTS.map(({ key }) => bins.map((_, i) => group.reduce((sum, data) => sum + data[key][i], 0)));
  return { device_id: group[0].device_id, bin_ns: bin, start_ns: start, compute_ns: compute, exposed_comm_ns: comm, exposed_copy_ns: copy, idle_ns: idle };
}

/** What the strip over the whole trace shows: GPUs, of many the ones that stand out and then groups of the others. @param {Utilization[]} utilization @returns {{label: string, data: Utilization}[]} */
export function stripLanes(utilization) {
  const { first, rest } = worstFirst(utilization);
  const one = (/** @type {Utilization} */ data) => ({ label: `GPU ${data.device_id}`, data });
  if (first.length === 0) return rest.map(one);
  const size = Math.ceil(rest.length / (ONE_BY_ONE - STAND_OUT));
  const groups = Array.from({ length: Math.ceil(rest.length / size) }, (_, i) => rest.slice(i * size, (i + 1) * size));
  const lanes = groups.map((group) => ({ label: group.length > 1 ? `GPU ${group[0].device_id}–${group[group.length - 1].device_id}` : `GPU ${group[0].device_id}`, data: merged(group) }));
  return [...first.map(one), ...lanes.flatMap(({ label, data }) => (data ? [{ label, data }] : []))];
}

/**
 * What a GPU that pauses did while it was active, as the verdict counts it; null for one that never paused.
 * @param {Table | null} table  gpu_active @param {number} device
 * @returns {{totals: number[], active: number, window: number} | null}  ns per part of UTILIZATION_PARTS, their sum, and with pauses
 */
export function activeShares(table, device) {
  if (!table) return null;
  const [id, window, active, ...parts] = ['device_id', 'window_ns', 'active_ns', ...UTILIZATION_PARTS.map(({ key }) => key)].map((name) => columnIndex(table, name));
  const row = table.rows.find((candidate) => candidate[id] === device);
  if (!row || [id, window, active, ...parts].includes(-1) || !(Number(row[active]) < Number(row[window]))) return null;
  return { totals: parts.map((column) => Number(row[column])), active: Number(row[active]), window: Number(row[window]) };
}
