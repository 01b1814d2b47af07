/** @import { Chart } from './timeline/charts.js' */
import { fitCanvas, h } from './dom.js';
import { bisect } from './model.js';

const HEIGHT = 26;
const LEFT_PX = 2;

/**
 * Mean of a sampled metric while events ran, weighted by time; null where nothing was sampled then.
 * @param {Chart} chart @param {{start: number, end: number}[]} events @returns {number | null}
 */
export function meanDuring(chart, events) {
  let [sum, time] = [0, 0];
  for (const { start, end } of events)
    for (let i = bisect(0, chart.end.length, (index) => chart.end[index] > start); i < chart.start.length && chart.start[i] < end; i++) {
      const ns = Math.min(end, chart.end[i]) - Math.max(start, chart.start[i]);
      sum += chart.value[i] * ns;
      time += ns;
    }
  return time > 0 ? sum / time : null;
}

/**
 * A sampled metric of the GPU below the durations of a name, on the same axis of time.
 * @param {Chart} chart @param {number} mean  while the events of that name ran
 * @param {{from: number, to: number, color: string, line: string, width?: number}} how
 */
export function metricStrip(chart, mean, { from, to, color, line, width = 300 }) {
  const x = (/** @type {number} */ time) => LEFT_PX + ((time - from) / Math.max(1, to - from)) * (width - 2 * LEFT_PX);
  const text = `${chart.format(mean)} while it ran`;
  const canvas = h('canvas', { class: 'metric-strip', role: 'img', 'aria-label': `${chart.label} over time, ${text}`, title: chart.hint });
  const context = fitCanvas(canvas, width, HEIGHT);
  context.fillStyle = line;
  context.fillRect(0, HEIGHT - 1, width, 1);
  context.fillStyle = color;
  for (let i = 0; i < chart.start.length; i++) {
    const height = (chart.value[i] / chart.top) * (HEIGHT - 2);
    context.fillRect(x(chart.start[i]), HEIGHT - 1 - height, Math.max(1, x(chart.end[i]) - x(chart.start[i])), height);
  }
  return h('figure', { class: 'histogram-box' }, canvas, h('figcaption', {}, h('span', {}, chart.label), h('span', {}, text)));
}
