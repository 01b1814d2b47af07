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
 * @param {Utilization[]} utilization
 * @returns {{gpus: GpuShares[], spread: Spread[], by: number}}  by: that part
 */
export function summariseGpus(utilization) {
  const gpus = utilization
    .map((data) => {
      const ns = UTILIZATION_PARTS.map(({ key }) => data[key].reduce((sum, value) => sum + value, 0));
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

/**
 * What a GPU that pauses did while it was active, as the verdict counts it; null for one that never paused.
 * @param {Table | null} table  gpu_active @param {number} device
 * @returns {{totals: number[], active: number} | null}  ns per part of UTILIZATION_PARTS, and their sum
 */
export function activeShares(table, device) {
  if (!table) return null;
  const [id, window, active, ...parts] = ['device_id', 'window_ns', 'active_ns', ...UTILIZATION_PARTS.map(({ key }) => key)].map((name) => columnIndex(table, name));
  const row = table.rows.find((candidate) => candidate[id] === device);
  if (!row || [id, window, active, ...parts].includes(-1) || !(Number(row[active]) < Number(row[window]))) return null;
  return { totals: parts.map((column) => Number(row[column])), active: Number(row[active]) };
}
