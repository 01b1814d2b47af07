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
