import { fitCanvas, h } from './dom.js';
import { duration, integer } from './format.js';

const HEIGHT = 90;
const REACH_PX = 12;
const LEFT_PX = 2;

/**
 * @typedef {object} Dot
 * @property {number} event
 * @property {number} time  ns after the origin
 * @property {number} value  ns
 */

/** Where dots stand: time along; up the duration between the shortest and the longest, logarithmic as in the histogram. @param {Dot[]} dots @param {number} from @param {number} to @param {number} width */
export function scatterScale(dots, from, to, width) {
  const low = Math.max(1, dots.reduce((least, { value }) => Math.min(least, value), Infinity));
  const high = dots.reduce((most, { value }) => Math.max(most, value), low);
  const ratio = Math.log(high / low);
  const share = (/** @type {number} */ value) => (ratio > 0 ? Math.log(Math.max(value, low) / low) / ratio : 0.5);
  return {
    low,
    high,
    x: (/** @type {number} */ time) => LEFT_PX + ((time - from) / Math.max(1, to - from)) * (width - 2 * LEFT_PX),
    y: (/** @type {number} */ value) => HEIGHT - 5 - share(value) * (HEIGHT - 10),
  };
}

/** The dot closest to a point, within reach; null for none. @param {Dot[]} dots @param {ReturnType<typeof scatterScale>} scale @param {number} x @param {number} y */
export function nearestDot(dots, scale, x, y) {
  /** @type {Dot | null} */
  let best = null;
  let least = REACH_PX;
  for (const dot of dots) {
    const away = Math.hypot(scale.x(dot.time) - x, scale.y(dot.value) - y);
    if (away >= least) continue;
    least = away;
    best = dot;
  }
  return best;
}

/**
 * Durations over time: drift, clocks, two peaks. A click selects the event.
 * @param {Dot[]} dots @param {number} marked  event
 * @param {{from: number, to: number, color: string, accent: string, line: string, width?: number, select: (event: number) => void}} how
 */
export function scatter(dots, marked, { from, to, color, accent, line, width = 300, select }) {
  const scale = scatterScale(dots, from, to, width);
  const canvas = h('canvas', {
    class: 'scatter',
    role: 'img',
    'aria-label': `${integer(dots.length)} durations over time, from ${duration(scale.low)} to ${duration(scale.high)}. The brackets go from one to the next.`,
    title: 'Duration against start; click a dot',
    onclick: (/** @type {MouseEvent} */ event) => {
      const dot = nearestDot(dots, scale, event.offsetX, event.offsetY);
      if (dot) select(dot.event);
    },
  });
  const context = fitCanvas(canvas, width, HEIGHT);
  context.fillStyle = line;
  context.fillRect(0, HEIGHT - 1, width, 1);
  context.fillStyle = color;
  context.globalAlpha = dots.length > 2000 ? 0.4 : 0.75;
  for (const { time, value } of dots) context.fillRect(scale.x(time) - 1, scale.y(value) - 1, 2, 2);
  context.globalAlpha = 1;
  context.fillStyle = accent;
  for (const { event, time, value } of dots) if (event === marked) context.fillRect(scale.x(time) - 3, scale.y(value) - 3, 6, 6);
  return h('figure', { class: 'histogram-box' }, canvas, h('figcaption', {}, h('span', {}, duration(from)), h('span', {}, `${duration(scale.low)} to ${duration(scale.high)}`), h('span', {}, duration(to))));
}
