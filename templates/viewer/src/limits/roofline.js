/** @import { Model } from '../model.js' */
/** @import { Theme } from '../colors.js' */
import { categoryColor } from '../colors.js';
import { records } from '../table-schema.js';
import { memoryBandwidths, sizesOf } from './limits.js';

const HEIGHT = 230;
const MARGIN = { left: 46, right: 12, top: 16, bottom: 34 };
const REACH_PX = 14;
const ROOM = 2;

/**
 * Operations of the same sizes on one GPU.
 * @typedef {object} Point
 * @property {number} intensity  operations per byte
 * @property {number} tflops
 * @property {number} ns
 * @property {number} row  of gemm_shapes
 * @property {string} label
 * @property {boolean} attention
 *
 * @typedef {{peak: number, bandwidth: number, label: string}} Roof  TFLOP/s, GB/s
 */

/**
 * Kernels that the tables can place, the roofs above them, and what they leave out: elementwise kernels have a bandwidth, but no
 * known number of operations.
 * @param {Model} model @returns {{points: Point[], roofs: Roof[], placed: number, elementwise: number, kernels: number, placedMs: number, ms: number}}
 */
export function rooflineOf(model) {
  const bandwidths = memoryBandwidths(model);
  /** @type {Map<string, Roof>} */
  const roofs = new Map();
  /** @type {Point[]} */
  const points = [];
  let [placed, placedMs] = [0, 0];
  for (const row of records(model.table('gemm_shapes'))) {
    const { flop_per_op: flop, bytes_per_op: size, achieved_tflops: tflops, peak_tflops: peak, dtype } = row;
    const bandwidth = bandwidths.get(row.device_id);
    if (!(Number(size) > 0 && Number(tflops) > 0 && Number(peak) > 0 && bandwidth)) continue;
    roofs.set(`${peak} ${bandwidth}`, { peak: Number(peak), bandwidth, label: String(dtype) });
    points.push({
      intensity: Number(flop) / Number(size),
      tflops: Number(tflops),
      ns: Number(row.total_time_ms) * 1e6,
      row: row.row,
      label: `${sizesOf(row)}, GPU ${row.device_id}`,
      attention: String(row.op).includes('attention'),
    });
    placed += Number(row.kernel_count);
    placedMs += Number(row.total_time_ms);
  }
  const elementwise = records(model.table('elementwise_shapes'))
    .filter(({ pct_of_limit: percent }) => typeof percent === 'number')
    .reduce((sum, { kernel_count: count }) => sum + Number(count), 0);
  const all = records(model.table('launch_rates')).find(({ scope }) => scope === 'all');
  return { points, roofs: [...roofs.values()], placed, elementwise, kernels: Number(all?.kernel_count ?? 0), placedMs, ms: Number(all?.kernel_time_ms ?? 0) };
}

/** What a roof allows, TFLOP/s. @param {Roof} roof @param {number} intensity */
export const allowed = ({ peak, bandwidth }, intensity) => Math.min(peak, (bandwidth * intensity) / 1e3);

/** Both axes are logarithmic, and show every point and every ridge. @param {Point[]} points @param {Roof[]} roofs @param {number} width */
export function rooflineScale(points, roofs, width) {
  const xs = [...points.map(({ intensity }) => intensity), ...roofs.map(({ peak, bandwidth }) => (peak * 1e3) / bandwidth)];
  const ys = [...points.map(({ tflops }) => tflops), ...roofs.map(({ peak }) => peak)];
  const range = (/** @type {number[]} */ values) => [Math.log10(Math.min(...values) / ROOM), Math.log10(Math.max(...values) * ROOM)];
  const [[x0, x1], [y0, y1]] = [range(xs), range(ys)];
  const [w, h] = [width - MARGIN.left - MARGIN.right, HEIGHT - MARGIN.top - MARGIN.bottom];
  return {
    from: 10 ** x0,
    to: 10 ** x1,
    low: 10 ** y0,
    high: 10 ** y1,
    x: (/** @type {number} */ value) => MARGIN.left + ((Math.log10(value) - x0) / (x1 - x0)) * w,
    y: (/** @type {number} */ value) => MARGIN.top + h - ((Math.log10(value) - y0) / (y1 - y0)) * h,
  };
}

/** @typedef {ReturnType<typeof rooflineScale>} Scale */

/** Powers of ten within. @param {number} low @param {number} high */
function decades(low, high) {
  const first = Math.ceil(Math.log10(low));
  return Array.from({ length: Math.max(0, Math.floor(Math.log10(high)) - first + 1) }, (_, i) => 10 ** (first + i));
}

/** @param {number} value */
const short = (value) => (value >= 1 ? value.toLocaleString('en-US') : String(Number(value.toPrecision(1))));

/** @param {Point} point @param {number} largest  ns */
const radius = ({ ns }, largest) => 3 + 6 * Math.sqrt(ns / Math.max(1, largest));

/** @param {CanvasRenderingContext2D} context @param {Scale} scale @param {Theme} theme @param {number} width */
function paintAxes(context, scale, theme, width) {
  const bottom = HEIGHT - MARGIN.bottom;
  context.fillStyle = theme.grid;
  for (const value of decades(scale.from, scale.to)) context.fillRect(scale.x(value), MARGIN.top, 1, bottom - MARGIN.top);
  for (const value of decades(scale.low, scale.high)) context.fillRect(MARGIN.left, scale.y(value), width - MARGIN.left - MARGIN.right, 1);
  context.fillStyle = theme.muted;
  context.font = theme.font;
  context.textBaseline = 'top';
  context.textAlign = 'center';
  for (const value of decades(scale.from, scale.to)) context.fillText(short(value), scale.x(value), bottom + 3);
  context.fillText('floating-point operations per byte', (MARGIN.left + width - MARGIN.right) / 2, bottom + 18);
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  for (const value of decades(scale.low, scale.high)) context.fillText(short(value), MARGIN.left - 5, scale.y(value));
  context.textAlign = 'left';
  context.textBaseline = 'top';
  context.fillText('TFLOP/s', 2, 0);
}

/** @param {CanvasRenderingContext2D} context @param {Roof} roof @param {Scale} scale @param {Theme} theme @param {number} width */
function paintRoof(context, roof, scale, theme, width) {
  const ridge = (roof.peak * 1e3) / roof.bandwidth;
  context.strokeStyle = theme.text;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(scale.x(scale.from), scale.y(allowed(roof, scale.from)));
  context.lineTo(scale.x(ridge), scale.y(roof.peak));
  context.lineTo(scale.x(scale.to), scale.y(roof.peak));
  context.stroke();
  context.fillStyle = theme.muted;
  context.textAlign = 'right';
  context.textBaseline = 'bottom';
  context.fillText(`${roof.label} ${short(roof.peak)} TFLOP/s`, width - MARGIN.right - 2, scale.y(roof.peak) - 3);
}

/** @param {CanvasRenderingContext2D} context @param {Point[]} points @param {Roof[]} roofs @param {Theme} theme @param {number} width */
export function paintRoofline(context, points, roofs, theme, width) {
  const scale = rooflineScale(points, roofs, width);
  const largest = Math.max(...points.map(({ ns }) => ns));
  context.clearRect(0, 0, width, HEIGHT);
  paintAxes(context, scale, theme, width);
  context.save();
  context.beginPath();
  context.rect(MARGIN.left, 0, width - MARGIN.left - MARGIN.right, HEIGHT - MARGIN.bottom);
  context.clip();
  for (const roof of roofs) paintRoof(context, roof, scale, theme, width);
  context.restore();
  context.globalAlpha = 0.8;
  for (const point of points) {
    context.fillStyle = categoryColor(point.attention ? 'attention' : 'gemm');
    context.beginPath();
    context.arc(scale.x(point.intensity), scale.y(point.tflops), radius(point, largest), 0, 2 * Math.PI);
    context.fill();
  }
  context.globalAlpha = 1;
}

/** The point closest to a place of the picture, within reach; null for none. @param {Point[]} points @param {Roof[]} roofs @param {number} width @param {number} x @param {number} y */
export function pointNear(points, roofs, width, x, y) {
  const scale = rooflineScale(points, roofs, width);
  /** @type {Point | null} */
  let best = null;
  let least = REACH_PX;
  for (const point of points) {
    const away = Math.hypot(scale.x(point.intensity) - x, scale.y(point.tflops) - y);
    if (away >= least) continue;
    least = away;
    best = point;
  }
  return best;
}

export const ROOFLINE_HEIGHT = HEIGHT;
