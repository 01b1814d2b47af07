/** @import { Clock } from '../format.js' */
/** @import { TimelineView } from './view.js' */
import { context2d, fitCanvas } from '../dom.js';
import { paintFlags } from './paint-overlays.js';

const HEIGHT = 26;
const MINUTE_NS = 60000000000n;

/** Shift that makes ticks land on round numbers of the clock shown. @param {Clock} clock */
export function tickOffset(clock) {
  if (clock.mode === 'relative') return 0;
  const base = clock.origin + (clock.mode === 'wall' && clock.utcEpoch !== null ? clock.utcEpoch : 0n);
  return Number(base % MINUTE_NS);
}

/** @param {TimelineView} view @param {number} step @param {[number, number][]} ticks */
export function drawRuler(view, step, ticks) {
  paintRuler(fitCanvas(view.ruler, view.width, HEIGHT), view, step, ticks);
  paintPointer(view);
}

/** @param {CanvasRenderingContext2D} context @param {TimelineView} view @param {number} step @param {[number, number][]} ticks */
export function paintRuler(context, view, step, ticks) {
  const { theme, width, model, range, kept } = view;
  context.fillStyle = theme.raised;
  context.fillRect(0, 0, width, HEIGHT);
  context.font = theme.font;
  context.textBaseline = 'middle';
  for (const [time, x] of ticks) {
    context.fillStyle = theme.muted;
    context.fillRect(Math.round(x), HEIGHT - 7, 1, 7);
    const label = model.clock.format(time, step);
    if (x + 8 + context.measureText(label).width < width) context.fillText(label, x + 4, HEIGHT / 2 - 1);
  }
  if (range) paintBand(context, view, range, theme.accent, kept ? 'B' : '');
  if (kept) paintBand(context, view, kept, theme.comm, 'A');
  paintFlags(context, view);
}

/** @param {CanvasRenderingContext2D} context @param {Pick<TimelineView, 'theme' | 'viewport' | 'width'>} view @param {[number, number]} range @param {string} color @param {string} letter */
export function paintBand(context, { theme, viewport, width }, range, color, letter) {
  const [left, right] = range.map((time) => viewport.x(time, width));
  context.fillStyle = theme.selection;
  context.fillRect(left, 0, Math.max(1, right - left), HEIGHT);
  if (letter === '') return;
  context.fillStyle = color;
  context.fillRect(left, 0, 14, 14);
  context.fillStyle = theme.background;
  context.fillText(letter, left + 4, 8);
}

/** The time under the pointer. @param {TimelineView} view */
function paintPointer(view) {
  const { theme, width, viewport, model, pointerX } = view;
  if (pointerX < 0) return;
  const context = context2d(view.ruler);
  const label = model.clock.format(viewport.time(pointerX, width), viewport.span / width);
  const size = context.measureText(label).width + 10;
  const left = Math.max(0, Math.min(width - size, pointerX - size / 2));
  context.fillStyle = theme.text;
  context.fillRect(left, 3, size, HEIGHT - 8);
  context.fillStyle = theme.background;
  context.fillText(label, left + 5, HEIGHT / 2 - 1);
}
