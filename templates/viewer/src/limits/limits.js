/** @import { Model } from '../model.js' */
import { integer } from '../format.js';
import { records } from '../table-schema.js';

/**
 * What was reached of what the hardware allows.
 * @typedef {object} Limit
 * @property {string} kind  heading it stands under
 * @property {string} label
 * @property {string} of  what limits it
 * @property {number} reached
 * @property {number} peak
 * @property {string} unit
 * @property {number} percent  reached of peak
 * @property {number} weight  what decides the order within a kind: time
 * @property {string} table
 * @property {number} row
 * @property {number} gpus  with such a row: this is the lowest
 * @property {boolean} above  beyond what the hardware can do: the peak or a size is not what it seems
 */

/** @typedef {ReturnType<typeof records>[number]} Row */
/** @typedef {Omit<Limit, 'gpus' | 'row' | 'above'>} Reached */

/** Percent: more than a clock or a rounded datasheet explains. */
const BEYOND = 105;

/** Sizes of a product, or of attention. @param {Row} row */
export function sizesOf({ op, batch, m, n, k, dtype }) {
  return `${op} ${Number(batch) > 1 ? `${batch} × ` : ''}${m} × ${n} × ${k}${dtype ? ` ${dtype}` : ''}`;
}

/** @param {Row} row @returns {Reached | null} */
function copyLimit(row) {
  const { direction, src_kind: from, dst_kind: to, link, p50_gb_per_s: reached, limit_gb_per_s: peak } = row;
  if (!(Number(reached) > 0 && Number(peak) > 0)) return null;
  return {
    kind: 'Copies of 1 MiB and more, median',
    label: `${direction}, ${from} to ${to}`,
    of: String(link),
    reached: Number(reached),
    peak: Number(peak),
    unit: 'GB/s',
    percent: Number(row.p50_pct_of_limit),
    weight: Number(row.exposed_ms),
    table: 'copy_rates',
  };
}

/** @param {Row} row @returns {Reached | null} */
function peerLimit(row) {
  const { src_cuda_device: from, dst_cuda_device: to, p50_gb_per_s: reached, link_gb_per_s: peak } = row;
  if (!(Number(reached) > 0 && Number(peak) > 0)) return null;
  return {
    kind: 'Copies between GPUs, median',
    label: `CUDA device ${from} to ${to}`,
    of: 'links between GPUs, one direction',
    reached: Number(reached),
    peak: Number(peak),
    unit: 'GB/s',
    percent: Number(row.p50_pct_of_link),
    weight: Number(row.total_time_ms),
    table: 'peer_copies',
  };
}

/** @param {Row} row @returns {Reached | null} */
function collectiveLimit(row) {
  const { op, dtype, large_busbw_p50: reached, link_gb_per_s: peak } = row;
  if (!(Number(reached) > 0 && Number(peak) > 0)) return null;
  return {
    kind: 'Collectives of 32 MiB and more, median bus bandwidth',
    label: dtype ? `${op} ${dtype}` : String(op),
    of: 'links between GPUs, one direction',
    reached: Number(reached),
    peak: Number(peak),
    unit: 'GB/s',
    percent: Number(row.link_pct),
    weight: Number(row.total_time_ms),
    table: 'comm_ops',
  };
}

/** What is nearer: the tensor peak, or the memory's bandwidth. @param {Row} row @param {Map<unknown, number>} bandwidths  bytes per ns, by GPU @returns {Reached | null} */
function productLimit(row, bandwidths) {
  const { bound, pct_of_roofline: percent, total_time_ms: ms, count, bytes_per_op: size } = row;
  if (typeof percent !== 'number') return null;
  const memory = bound === 'memory';
  const bandwidth = bandwidths.get(row.device_id) ?? 0;
  return {
    kind: 'Matrix products and attention',
    label: sizesOf(row),
    of: memory ? 'memory bandwidth' : 'dense tensor peak',
    reached: memory ? (Number(size) * Number(count)) / (Number(ms) * 1e6) : Number(row.achieved_tflops),
    peak: memory ? bandwidth : Number(row.peak_tflops),
    unit: memory ? 'GB/s' : 'TFLOP/s',
    percent,
    weight: Number(ms),
    table: 'gemm_shapes',
  };
}

/** @param {Row} row @returns {Reached | null} */
function elementwiseLimit(row) {
  const { op, dtype, pct_of_limit: percent } = row;
  if (typeof percent !== 'number') return null;
  return {
    kind: 'Elementwise operations',
    label: `${op} ${integer(Number(row.elements))} ${dtype}`,
    of: 'memory bandwidth',
    reached: Number(row.achieved_gb_per_s),
    peak: Number(row.limit_gb_per_s),
    unit: 'GB/s',
    percent,
    weight: Number(row.total_time_ms),
    table: 'elementwise_shapes',
  };
}

/** @param {Row} row @returns {Reached | null} */
function stepLimit(row) {
  const { mfu_pct: percent, achieved_tflops: reached, peak_tflops: peak, gpu_count: gpus } = row;
  if (typeof percent !== 'number') return null;
  return {
    kind: 'Step',
    label: 'Model FLOPs utilization',
    of: `dense tensor peak of ${gpus} GPU${gpus === 1 ? '' : 's'}`,
    reached: Number(reached),
    peak: Number(peak),
    unit: 'TFLOP/s',
    percent,
    weight: Number(row.step_time_ms),
    table: 'mfu',
  };
}

/** Bytes per ns (GB/s) of each GPU's memory, where the export tells it. @param {Model} model @returns {Map<unknown, number>} */
export function memoryBandwidths(model) {
  return new Map(
    records(model.table('gpus'))
      .filter(({ memory_bytes_per_s: rate }) => Number(rate) > 0)
      .map(({ device_id: device, memory_bytes_per_s: rate }) => [device, Number(rate) / 1e9]),
  );
}

/** Everything whose limit is known; of what several GPUs have the lowest. @param {Model} model @returns {Limit[]} */
export function limitsOf(model) {
  const bandwidths = memoryBandwidths(model);
  /** @type {[string, (row: Row) => Reached | null][]} */
  const sources = [
    ['mfu', stepLimit],
    ['gemm_shapes', (row) => productLimit(row, bandwidths)],
    ['elementwise_shapes', elementwiseLimit],
    ['copy_rates', copyLimit],
    ['peer_copies', peerLimit],
    ['comm_ops', collectiveLimit],
  ];
  return sources.flatMap(([table, read]) => {
    /** @type {Map<string, Omit<Limit, 'above'>>} */
    const found = new Map();
    for (const row of records(model.table(table))) {
      const limit = read(row);
      if (!limit) continue;
      const before = found.get(limit.label);
      if (!before || limit.percent < before.percent) found.set(limit.label, { ...limit, row: row.row, gpus: (before?.gpus ?? 0) + 1 });
      else before.gpus++;
    }
    return [...found.values()].map((limit) => ({ ...limit, above: limit.percent > BEYOND })).sort((a, b) => b.weight - a.weight || a.row - b.row);
  });
}
