import { h, fitCanvas } from './dom.js';
import { duration, integer } from './format.js';
import { logHistogram } from './log-histogram.js';

const BINS = 32;
const HEIGHT = 64;
const BAR_PX = 20;

/** Their median; of two peaks it would be a duration that no call has. @param {number[]} sorted  ns @param {(median: number) => boolean} occurs */
export function typicalOf(sorted, occurs) {
  const middle = (sorted.length - 1) / 2;
  const [below, above] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  const median = (below + above) / 2;
  return occurs(median) ? `median ${duration(median)}` : `half ≤ ${duration(below)}, half ≥ ${duration(above)}`;
}

/**
 * Distribution of durations on a logarithmic axis.
 * @param {number[]} values  ns
 * @param {number | null} marked  a value to point out
 * @param {string} color @param {string} accent
 * @param {number} [width]
 */
export function histogram(values, marked, color, accent, width = 300) {
  const { counts, low, high, binOf } = logHistogram(values, BINS);
  const sorted = [...values].sort((a, b) => a - b);
  // As in the report's tables: linear between the two values in the middle.
  const typical = typicalOf(sorted, (median) => counts[binOf(median)] > 0);
  const summary = `${integer(values.length)} durations from ${duration(low)} to ${duration(high)}, ${typical}`;
  const canvas = h('canvas', { class: 'histogram', role: 'img', 'aria-label': summary });
  const context = fitCanvas(canvas, width, HEIGHT);
  const peak = Math.max(...counts);
  const step = width / counts.length;
  counts.forEach((count, bin) => {
    if (count === 0) return;
    // Square root: a bin with one outlier stays visible beside a bin with thousands.
    const size = Math.max(2, Math.sqrt(count / peak) * (HEIGHT - 4));
    context.fillStyle = marked !== null && bin === binOf(marked) ? accent : color;
    context.fillRect(bin * step, HEIGHT - size, Math.max(1, Math.min(step, BAR_PX) - 1), size);
  });
  return h(
    'figure',
    { class: 'histogram-box' },
    canvas,
    h(
      'figcaption',
      {},
      h('span', {}, duration(low)),
      h('span', {}, typical),
      h('span', {}, duration(high)),
    ),
  );
}
