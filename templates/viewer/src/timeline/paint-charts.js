/** @import { Frame } from './painter.js' */
/** @import { Chart } from './charts.js' */
import { chartColumns } from './charts.js';

const PALE = 0.3;
const FILL = 0.62;

/**
 * An area chart with its scale.
 * @param {CanvasRenderingContext2D} context @param {Frame} frame @param {Chart} chart @param {number} y @param {number} height
 */
export function paintChart(context, frame, chart, y, height) {
  const { theme, width } = frame;
  const { value, high } = chartColumns(chart, frame.from, frame.to, width);
  const [bottom, room] = [y + height - 2, height - 6];
  context.fillStyle = chart.kind === 'memory' ? theme.copy : chart.kind === 'queue' ? theme.accent : theme.compute;
  // Columns of equal height are one rectangle.
  const layer = (/** @type {Float64Array} */ columns, /** @type {number} */ alpha) => {
    context.globalAlpha = alpha;
    for (let x = 0; x < width; ) {
      const begin = x;
      const size = Math.round((columns[x] / chart.top) * room);
      while (x < width && (Math.round((columns[x] / chart.top) * room) === size || (Number.isNaN(size) && Number.isNaN(columns[x])))) x++;
      if (size >= 0) context.fillRect(begin, bottom - Math.max(1, size), x - begin, Math.max(1, size));
    }
  };
  layer(high, PALE);
  layer(value, FILL);
  context.globalAlpha = 1;
  const label = chart.format(chart.top);
  context.globalAlpha = 0.8;
  context.fillStyle = theme.background;
  context.fillRect(2, y + 3, context.measureText(label).width + 4, 13);
  context.globalAlpha = 1;
  context.fillStyle = theme.muted;
  context.fillText(label, 4, y + 9);
}
