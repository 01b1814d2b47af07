/** @import { SeriesHead, TimelineData } from './types.js' */
import { VarintReader } from './decode.js';

/**
 * Exact sums of an aggregated timeline: what lies between two edges of the grid is a difference of two running sums.
 * @typedef {object} Series
 * @property {SeriesHead} head
 * @property {Uint32Array} bins  those with an entry, ascending
 * @property {Float64Array[]} running  ns, events, bytes up to and with each of them, after a leading 0
 */

const VALUES = 3;

/** @param {SeriesHead} head @param {VarintReader} reader @returns {Series} */
function readSeries(head, reader) {
  const bins = new Uint32Array(head.entries);
  const running = Array.from({ length: VALUES }, () => new Float64Array(head.entries + 1));
  let bin = -1;
  for (let i = 0; i < head.entries; i++) {
    bins[i] = bin += reader.next() + 1;
    for (const sums of running) sums[i + 1] = sums[i] + reader.next();
  }
  return { head, bins, running };
}

/** @param {TimelineData} timeline @param {Uint8Array | null} bytes @returns {Series[]} */
export function readSums(timeline, bytes) {
  if (!bytes || !timeline.series) return [];
  const reader = new VarintReader(bytes);
  const series = timeline.series.map((head) => readSeries(head, reader));
  if (reader.at !== bytes.length) throw new Error('the sums of the timeline have the wrong length');
  return series;
}

/** Number of entries before a bin. @param {Uint32Array} bins @param {number} bin */
function entriesBefore(bins, bin) {
  let low = 0;
  let high = bins.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (bins[middle] >= bin) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** ns, events begun and bytes in the bins [first, last). @param {Series} series @param {number} first @param {number} last */
export function between({ bins, running }, first, last) {
  const [low, high] = [entriesBefore(bins, first), entriesBefore(bins, last)];
  const [ns, count, bytes] = running.map((sums) => sums[high] - sums[low]);
  return { ns, count, bytes };
}
