/** @import { TimelineView } from './view.js' */
import { duration } from '../format.js';

/** Lines of the marks and of the measurement over all tracks. @param {CanvasRenderingContext2D} context @param {TimelineView} view */
export function paintOverlays(context, view) {
  const { theme, width, height, viewport, annotations } = view;
  context.font = theme.font;
  context.textBaseline = 'middle';
  context.fillStyle = theme.comm;
  for (const { time } of annotations.marks) context.fillRect(Math.round(viewport.x(time, width)), 0, 1, height);
  const measure = annotations.shown();
  if (!measure) return;
  const [left, right] = measure.map((time) => viewport.x(time, width));
  if (right < 0 || left > width) return;
  context.fillStyle = theme.accent;
  for (const x of [left, right]) context.fillRect(Math.round(x), 0, 1.5, height);
  const y = height - 14;
  context.fillRect(left, y, right - left, 1);
  const label = duration(measure[1] - measure[0]);
  const size = context.measureText(label).width + 12;
  const at = Math.max(2, Math.min(width - size - 2, (left + right - size) / 2));
  context.fillRect(at, y - 9, size, 18);
  context.fillStyle = theme.background;
  context.fillText(label, at + 6, y);
}

/** Flags of the marks on the ruler. @param {CanvasRenderingContext2D} context @param {TimelineView} view */
export function paintFlags(context, view) {
  const { theme, width, viewport, annotations } = view;
  context.font = theme.font;
  context.textBaseline = 'middle';
  for (const { time, text } of annotations.marks) {
    const x = viewport.x(time, width);
    if (x < -4 || x > width + 4) continue;
    context.fillStyle = theme.comm;
    context.beginPath();
    context.moveTo(x, 2);
    context.lineTo(x + 9, 6);
    context.lineTo(x, 10);
    context.fill();
    context.fillRect(x, 2, 1, 24);
    context.fillStyle = theme.text;
    if (text !== '') context.fillText(text.length > 24 ? `${text.slice(0, 23)}…` : text, x + 12, 8);
  }
}
