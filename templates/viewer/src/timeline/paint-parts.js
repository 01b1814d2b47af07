/** @import { Model } from '../model.js' */
/** @import { Theme } from '../colors.js' */
/** @import { Gaps } from './layout.js' */
/** @import { Frame } from './painter.js' */
import { categoryColor, causeColor, causeName } from '../colors.js';
import { fillLabel } from '../dom.js';

const LABEL_PX = 60;
const FAINTEST = 0.2;
const UNMARKED = 0.22;

/**
 * Idle gaps: a bar on a line of its colour, so that no kernel looks like it; what is narrower than a pixel is as faint as
 * it is short.
 * @param {CanvasRenderingContext2D} context @param {Frame} frame @param {Gaps} gaps
 * @param {number} gpu @param {number} y @param {number} height
 */
export function paintGaps(context, frame, gaps, gpu, y, height) {
  const scale = frame.width / (frame.to - frame.from);
  const covered = new Float32Array(frame.width + 1);
  const longest = new Int32Array(frame.width + 1).fill(-1);
  const marked = frame.search?.gaps;
  const first = gaps.firstAfter(frame.from);
  for (let i = first; i < gaps.start.length && gaps.start[i] <= frame.to; i++) {
    const left = (gaps.start[i] - frame.from) * scale;
    const width = (gaps.end[i] - gaps.start[i]) * scale;
    const faint = marked?.has(gaps.row[i]) === false;
    if (width >= 1.5) {
      paintGap(context, frame, gaps.cause[i], left, left + width, y, height, faint ? UNMARKED : 1);
      continue;
    }
    if (faint) continue;
    const pixel = Math.max(0, Math.min(frame.width, Math.floor(left)));
    covered[pixel] += width;
    if (longest[pixel] < 0 || gaps.end[i] - gaps.start[i] > gaps.end[longest[pixel]] - gaps.start[longest[pixel]]) longest[pixel] = i;
  }
  for (let x = 0; x <= frame.width; x++) {
    if (longest[x] < 0) continue;
    context.fillStyle = causeColor(gaps.cause[longest[x]]);
    context.globalAlpha = Math.min(1, FAINTEST + (1 - FAINTEST) * covered[x]);
    context.fillRect(x, y + 3, 1, height - 6);
  }
  context.globalAlpha = 1;
  if (frame.selectedGap?.gpu !== gpu) return;
  const { index } = frame.selectedGap;
  const left = (gaps.start[index] - frame.from) * scale;
  context.strokeStyle = frame.theme.text;
  context.lineWidth = 2;
  context.strokeRect(left - 1, y + 2, Math.max(1, (gaps.end[index] - gaps.start[index]) * scale) + 2, height - 4);
}

/**
 * @param {CanvasRenderingContext2D} context @param {Frame} frame @param {string} cause
 * @param {number} left @param {number} right @param {number} y @param {number} height @param {number} alpha
 */
function paintGap(context, frame, cause, left, right, y, height, alpha) {
  context.fillStyle = causeColor(cause);
  context.globalAlpha = 0.35 * alpha;
  context.fillRect(left, y + 3, right - left, height - 6);
  context.globalAlpha = alpha;
  context.fillRect(left, y + height - 6, right - left, 3);
  context.globalAlpha = 1;
  const room = Math.min(right, frame.width) - Math.max(left, 0);
  if (room < LABEL_PX) return;
  context.fillStyle = frame.theme.text;
  fillLabel(context, causeName(cause), Math.max(left, 0) + 4, y + height / 2 - 1, room - 6);
}

/**
 * An aggregate of kernels: its categories above each other, by their time.
 * @param {CanvasRenderingContext2D} context @param {Model} model @param {number} event
 * @param {number} left @param {number} width @param {number} top @param {number} height
 * @returns {boolean} whether it has any
 */
export function paintMix(context, model, event, left, width, top, height) {
  const mix = model.mixOf(event);
  const whole = mix.reduce((sum, { ns }) => sum + ns, 0);
  if (whole <= 0) return false;
  let at = top;
  for (const { category, ns } of mix) {
    const size = (ns / whole) * height;
    context.fillStyle = categoryColor(model.timeline.categories[category]);
    context.fillRect(left, at, width > 3 ? width - 1 : width, size);
    at += size;
  }
  return true;
}

/** @typedef {{left: number, right: number, top: number, height: number}} Box */

/**
 * From a call to the work it launched.
 * @param {CanvasRenderingContext2D} context @param {Theme} theme @param {Box} source @param {Box} target
 */
export function paintArrow(context, theme, source, target) {
  const x0 = Math.min(source.right, Math.max(source.left, source.left + 4));
  const up = target.top < source.top;
  const y0 = up ? source.top : source.top + source.height;
  const x1 = target.left;
  const y1 = up ? target.top + target.height : target.top;
  const bend = Math.min(80, Math.abs(y1 - y0) / 2 + 12) * (up ? -1 : 1);
  for (const [color, width] of /** @type {[string, number][]} */ ([
    [theme.background, 4],
    [theme.accent, 1.75],
  ])) {
    context.strokeStyle = color;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(x0, y0);
    context.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
    context.stroke();
  }
  context.fillStyle = theme.accent;
  const tip = up ? 7 : -7;
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - 4, y1 + tip);
  context.lineTo(x1 + 4, y1 + tip);
  context.fill();
  // The launching call gets an outline of its own.
  context.strokeStyle = theme.accent;
  context.lineWidth = 1.5;
  context.strokeRect(source.left - 0.5, source.top - 0.5, Math.max(2, source.right - source.left), source.height + 1);
}
