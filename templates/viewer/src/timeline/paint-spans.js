/** @import { Frame } from './painter.js' */
/** @import { Spans } from './spans.js' */
import { CHARACTER_PX } from '../dom.js';
import { bisect } from '../model.js';

const LABEL_PX = 34;
const NUMBER_PX = 16;
const PALE = 0.38;

/** The label, or its number alone, or its beginning: never one that reads like another. @param {string} label @param {number} characters */
export function fitting(label, characters) {
  if (label.length <= characters) return label;
  const number = /\d+$/u.exec(label)?.[0];
  if (number) return number.length <= characters ? number : '';
  return characters > 1 ? `${label.slice(0, characters - 1)}…` : '';
}

/**
 * Spans side by side; the middle part is darker. What is narrower than a pixel shares it with its neighbours.
 * @param {CanvasRenderingContext2D} context @param {Frame} frame @param {Spans} spans @param {number} y @param {number} height
 */
export function paintSpans(context, frame, spans, y, height) {
  const { theme, width } = frame;
  const scale = width / (frame.to - frame.from);
  const colors = { plain: spans.table === 'comm_instances' ? theme.comm : theme.accent, pale: theme.muted, bad: theme.bad };
  const x = (/** @type {number} */ time) => Math.max(-4, Math.min(width + 4, (time - frame.from) * scale));
  let painted = -Infinity;
  for (let i = bisect(0, spans.end.length, (at) => spans.end[at] > frame.from); i < spans.start.length; i++) {
    if (spans.start[i] > frame.to) break;
    const [left, right] = [x(spans.start[i]), Math.max(x(spans.start[i]) + 1, x(spans.end[i]))];
    if (right <= painted + 0.5) continue;
    painted = right;
    const gap = right - left > 4 ? 1 : 0;
    context.fillStyle = colors[spans.tone[i]];
    context.globalAlpha = PALE;
    context.fillRect(left, y + 2, right - left - gap, height - 5);
    const [from, to] = [x(spans.from[i]), x(spans.to[i])];
    context.globalAlpha = spans.table === 'steps' && i % 2 === 1 ? 0.6 : 0.85;
    if (to > from && spans.tone[i] !== 'pale') context.fillRect(from, y + 2, Math.max(0.5, to - from - gap), height - 5);
    context.globalAlpha = 1;
    const room = Math.min(right, width) - Math.max(left, 0) - 6;
    if (room < LABEL_PX && (spans.table !== 'steps' || room < NUMBER_PX)) continue;
    context.fillStyle = spans.table !== 'comm_instances' && spans.tone[i] !== 'pale' ? theme.background : theme.text;
    context.fillText(fitting(spans.label[i], Math.floor(room / CHARACTER_PX)), Math.max(left, 0) + 4, y + height / 2);
  }
}
