/** @import { App } from '../app.js' */
/** @import { Limit } from './limits.js' */
import { categoryColor } from '../colors.js';
import { fitCanvas, h, name } from '../dom.js';
import { counted, duration, integer, percent, percentage } from '../format.js';
import { limitsOf } from './limits.js';
import { paintRoofline, pointNear, rooflineOf, ROOFLINE_HEIGHT } from './roofline.js';

const SHOWN = 6;
const PADDING_PX = 26;

/** @param {number} value */
const rate = (value) => (value >= 100 ? integer(value) : value.toFixed(1));

/** @param {App} app @param {Limit} limit */
function line(app, limit) {
  const bar = h('i');
  bar.style.width = `${Math.min(100, limit.percent)}%`;
  return h(
    'li',
    {},
    h('button', { type: 'button', class: 'link', title: 'Row in the table', onclick: () => app.showTable(limit.table, limit.row) }, name(limit.label)),
    h('span', { class: 'num' }, percentage(limit.percent)),
    h('span', { class: 'limit-bar', 'aria-hidden': 'true' }, bar),
    h('span', { class: 'muted' }, `${rate(limit.reached)} of ${rate(limit.peak)} ${limit.unit}, `, name(limit.of), limit.gpus > 1 ? `, lowest of ${integer(limit.gpus)}` : '', limit.above ? '; above the peak that is assumed' : ''),
  );
}

/** @param {App} app @param {Limit[]} limits */
function peakCard(app, limits) {
  const kinds = [...new Set(limits.map(({ kind }) => kind))];
  return h(
    'article',
    { class: 'gpu-card limits' },
    h('header', {}, h('h3', {}, 'Percent of peak')),
    kinds.map((kind) => {
      const own = limits.filter((limit) => limit.kind === kind);
      const rest = own.length - SHOWN;
      return [
        h('h4', {}, kind),
        h('ul', {}, own.slice(0, SHOWN).map((limit) => line(app, limit))),
        rest > 0 ? h('button', { type: 'button', class: 'link small', onclick: () => app.showTable(own[0].table) }, `${integer(rest)} more`) : null,
      ];
    }).flat(),
  );
}

/** @param {ReturnType<typeof rooflineOf>} roofline */
function leftOut({ placed, elementwise, kernels, placedMs, ms }) {
  const left = `${integer(kernels - placed)} of ${counted(kernels, 'kernel')} (${percent(ms - placedMs, ms)} of kernel time) not placed`;
  if (elementwise === 0) return `${left}: the trace does not tell their sizes.`;
  return `${left}: ${counted(elementwise, 'elementwise kernel')} by bandwidth alone, of the others the trace does not tell sizes.`;
}

/**
 * What was reached of the hardware's limits, where those are known.
 * @param {App} app @returns {{element: HTMLElement, draw: () => void} | null}
 */
export function limitsSection(app) {
  const limits = limitsOf(app.model);
  const roofline = rooflineOf(app.model);
  const { points, roofs } = roofline;
  if (limits.length === 0 && points.length === 0) return null;
  const under = (/** @type {MouseEvent} */ event) => pointNear(points, roofs, canvas.clientWidth, event.offsetX, event.offsetY);
  const canvas = h('canvas', {
    class: 'roofline',
    role: 'img',
    'aria-label': `Roofline: ${counted(points.length, 'shape')} by operations per byte and TFLOP/s, below ${counted(roofs.length, 'roof')}`,
    onmousemove: (/** @type {MouseEvent} */ event) => {
      const point = under(event);
      canvas.title = point ? `${point.label}\n${point.tflops.toFixed(1)} TFLOP/s at ${point.intensity.toFixed(1)} operations per byte, ${duration(point.ns)}` : '';
    },
    onclick: (/** @type {MouseEvent} */ event) => {
      const point = under(event);
      if (point) app.showTable('gemm_shapes', point.row);
    },
  });
  const swatch = (/** @type {string} */ category) => {
    const element = h('i', { class: 'swatch' });
    element.style.background = categoryColor(category);
    return h('span', {}, element, category === 'gemm' ? 'matrix product' : category);
  };
  const chart = points.length > 0;
  const element = h(
    'section',
    { 'aria-label': 'Limits' },
    h('h2', {}, 'Limits of the hardware'),
    h(
      'div',
      { class: 'gpu-cards' },
      limits.length > 0 ? peakCard(app, limits) : null,
      chart
        ? h(
            'article',
            { class: 'gpu-card' },
            h('header', {}, h('h3', {}, 'Roofline')),
            canvas,
            h('div', { class: 'legend' }, ['gemm', 'attention'].map(swatch), 'larger: more time'),
            h('p', { class: 'muted' }, leftOut(roofline)),
          )
        : null,
    ),
  );
  const draw = () => {
    const width = Math.max(0, (canvas.parentElement?.clientWidth ?? 0) - PADDING_PX);
    if (chart && width >= 100) paintRoofline(fitCanvas(canvas, width, ROOFLINE_HEIGHT), points, roofs, app.timeline.theme, width);
  };
  return { element, draw };
}
