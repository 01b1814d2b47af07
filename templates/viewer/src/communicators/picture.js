/** @import { Theme } from '../colors.js' */
/** @import { Communicator } from './data.js' */
import { seriesColor } from '../colors.js';
import { duration } from '../format.js';
import { knowsArrivals, knowsRates } from './data.js';

const LEFT_PX = 58;
const BAND_PX = { skew: 56, rate: 90 };
const GAP_PX = 18;
const MOST_ROWS = 24;

/** @typedef {{rows: number[], rowHeight: number, skewTop: number, rowsTop: number, rateTop: number | null, height: number}} Bands */

/** Where the bands of the picture lie, px: skew and a row per GPU, and bus bandwidth, where any is known. @param {Communicator} communicator @returns {Bands} */
export function bandsOf(communicator) {
  const rows = knowsArrivals(communicator) ? communicator.devices.slice(0, MOST_ROWS) : [];
  const rowHeight = rows.length > 8 ? 12 : 15;
  const rowsTop = rows.length > 0 ? GAP_PX + BAND_PX.skew + 2 : 0;
  const below = rowsTop + rows.length * rowHeight;
  const rates = knowsRates(communicator);
  return { rows, rowHeight, skewTop: GAP_PX, rowsTop, rateTop: rates ? below + GAP_PX : null, height: rates ? below + GAP_PX + BAND_PX.rate + 4 : below + 4 };
}

/** Which collective lies at a place. @param {number} count @param {number} width @param {number} x  px @returns {number} -1 for none */
export function collectiveAt(count, width, x) {
  const i = Math.floor(((x - LEFT_PX) / (width - LEFT_PX)) * count);
  return i >= 0 && i < count ? i : -1;
}

/** @param {CanvasRenderingContext2D} context @param {Communicator} communicator @param {Bands} bands @param {Theme} theme @param {number} step  px of a collective */
function paintArrivals(context, { collectives }, { rows, rowHeight, skewTop, rowsTop }, theme, step) {
  const largest = Math.max(0, ...collectives.map(({ skew }) => skew ?? 0));
  const most = Math.max(1, largest);
  const wide = Math.max(1, step - (step > 4 ? 1 : 0));
  context.fillStyle = theme.muted;
  context.textAlign = 'left';
  context.textBaseline = 'alphabetic';
  context.fillText(`Arrival skew, up to ${duration(largest)}`, 0, skewTop - 6);
  context.textBaseline = 'middle';
  rows.forEach((device, i) => {
    context.fillStyle = theme.muted;
    context.fillText(`GPU ${device}`, 0, rowsTop + (i + 0.5) * rowHeight);
    context.fillStyle = theme.grid;
    context.fillRect(LEFT_PX, rowsTop + i * rowHeight, step * collectives.length, rowHeight - 1);
  });
  collectives.forEach(({ skew, last, members }, at) => {
    const x = LEFT_PX + at * step;
    context.globalAlpha = 1;
    context.fillStyle = last === null ? theme.idle : theme.compute;
    const size = ((skew ?? 0) / most) * BAND_PX.skew;
    context.fillRect(x, skewTop + BAND_PX.skew - size, wide, size);
    context.fillStyle = theme.bad;
    for (const { device, late } of members) {
      const row = rows.indexOf(device);
      if (row < 0 || !late) continue;
      context.globalAlpha = Math.max(0.08, late / most);
      context.fillRect(x, rowsTop + row * rowHeight, wide, rowHeight - 1);
    }
  });
  context.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} context @param {Communicator} communicator @param {number} top @param {number | null} peak @param {Theme} theme @param {number} step */
function paintRates(context, { collectives, ops }, top, peak, theme, step) {
  const highest = Math.max(peak ?? 0, ...collectives.flatMap(({ members }) => members.map(({ busbw }) => busbw ?? 0)));
  const y = (/** @type {number} */ rate) => top + BAND_PX.rate - (rate / highest) * (BAND_PX.rate - 6);
  context.fillStyle = theme.muted;
  context.textBaseline = 'alphabetic';
  context.fillText('Bus bandwidth, GB/s', 0, top - 6);
  context.textBaseline = 'middle';
  context.fillText(highest.toFixed(0), 0, y(highest) + 2);
  context.fillText('0', 0, y(0) - 4);
  context.fillStyle = theme.grid;
  context.fillRect(LEFT_PX, y(0), step * collectives.length, 1);
  if (peak !== null) {
    context.fillStyle = theme.bad;
    for (let x = LEFT_PX; x < LEFT_PX + step * collectives.length; x += 8) context.fillRect(x, y(peak), 4, 1);
    context.textBaseline = 'bottom';
    context.textAlign = 'right';
    context.fillText(`link ${peak.toFixed(0)}`, LEFT_PX + step * collectives.length, y(peak) - 2);
    context.textAlign = 'left';
  }
  collectives.forEach(({ op, members }, at) => {
    context.fillStyle = seriesColor(ops.indexOf(op));
    for (const { busbw } of members) if (busbw !== null) context.fillRect(LEFT_PX + at * step + Math.max(0, step / 2 - 2), y(busbw) - 2, Math.min(4, Math.max(2, step)), 4);
  });
}

/** Collectives side by side in their order: how far the arrivals lie apart, who came late, and the rates. @param {CanvasRenderingContext2D} context @param {Communicator} communicator @param {number | null} peak @param {Theme} theme @param {number} width */
export function paintCommunicator(context, communicator, peak, theme, width) {
  const bands = bandsOf(communicator);
  const step = (width - LEFT_PX) / communicator.collectives.length;
  context.clearRect(0, 0, width, bands.height);
  context.font = theme.font;
  if (bands.rows.length > 0) paintArrivals(context, communicator, bands, theme, step);
  if (bands.rateTop !== null) paintRates(context, communicator, bands.rateTop, peak, theme, step);
}
