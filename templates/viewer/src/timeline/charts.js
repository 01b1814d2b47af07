/** @import { Model } from '../model.js' */
import { bisect } from '../model.js';
import { columnIndex } from '../table-schema.js';
import { bytes } from '../format.js';

/**
 * A quantity over time, from a table: each value holds from its start to its end.
 * @typedef {object} Chart
 * @property {string} table
 * @property {string} label
 * @property {string} hint
 * @property {'memory' | 'metric' | 'queue'} kind  queue: of a pixel that many points share the least counts, too
 * @property {number} gpu  -1: the host's
 * @property {number} pid  -1: of no process
 * @property {Float64Array} start  ns after the origin, ascending
 * @property {Float64Array} end
 * @property {Float64Array} value
 * @property {Float64Array} high  never less than value: what is reserved, or the largest sample
 * @property {number} top  of the scale
 * @property {(value: number) => string} format
 * @property {string} highWord  what `high` is
 * @property {(at: number) => string} [detail]  what else is known of a point
 * @property {Chart | null} [coarser]  the same in fewer points, made when first drawn
 */

/** @typedef {{start: number, end: number, value: number, high: number}} Point */

/** @param {Omit<Chart, 'start' | 'end' | 'value' | 'high' | 'top'>} facts @param {Point[]} points @param {number} leastTop @returns {Chart} */
export function makeChart(facts, points, leastTop) {
  points.sort((a, b) => a.start - b.start);
  return {
    ...facts,
    start: Float64Array.from(points, (point) => point.start),
    end: Float64Array.from(points, (point) => point.end),
    value: Float64Array.from(points, (point) => point.value),
    high: Float64Array.from(points, (point) => point.high),
    top: points.reduce((most, point) => Math.max(most, point.high), leastTop),
  };
}

/**
 * Rows of a table by the key that `keyOf` makes of them; nothing of a table that the page has only in part.
 * @param {Model} model @param {string} name @param {string[]} columns
 * @param {(cells: (string | number | null)[]) => string} keyOf
 */
function groups(model, name, columns, keyOf) {
  /** @type {Map<string, (string | number | null)[][]>} */
  const found = new Map();
  const table = model.table(name);
  const at = columns.map((column) => (table ? columnIndex(table, column) : -1));
  if (!table || table.row_count || at.includes(-1)) return found;
  for (const row of table.rows) {
    const cells = at.map((index) => row[index]);
    const key = keyOf(cells);
    const list = found.get(key);
    if (list) list.push(cells);
    else found.set(key, [cells]);
  }
  return found;
}

/** Memory in use, by process and kind. @param {Model} model @returns {Chart[]} */
export function memoryCharts(model) {
  const columns = ['pid', 'device_id', 'memory_kind', 'time_ns', 'live_bytes', 'reserved_bytes'];
  const found = groups(model, 'memory_timeline', columns, (cells) => cells.slice(0, 3).join('\n'));
  return [...found.values()].map((rows) => {
    const times = rows.map((cells) => model.clock.relative(Number(cells[3])));
    const points = rows.map((cells, i) => ({
      start: times[i],
      end: Math.max(times[i], times[i + 1] ?? model.endNs),
      value: Number(cells[4]),
      high: Math.max(Number(cells[4]), Number(cells[5])),
    }));
    const [pid, gpu, kind] = rows[0];
    const process = model.processLabel(Number(pid));
    return makeChart(
      {
        table: 'memory_timeline',
        label: `${String(kind)} memory`,
        hint: `${String(kind)} memory in use by ${process}; paler: held by memory pools beyond that. What was allocated before the capture is not in it`,
        kind: 'memory',
        gpu: typeof gpu === 'number' ? gpu : -1,
        pid: Number(pid),
        format: bytes,
        highWord: 'held',
      },
      points,
      1,
    );
  });
}

/** Sampled counters, a chart per metric. @param {Model} model @returns {Chart[]} */
export function metricCharts(model) {
  const columns = ['device_id', 'metric', 'metric_unit', 'start_ns', 'end_ns', 'mean', 'max'];
  const found = groups(model, 'gpu_metric_timeline', columns, (cells) => cells.slice(0, 2).join('\n'));
  return [...found.values()].map((rows) => {
    const [gpu, metric, unit] = rows[0];
    const points = rows.map((cells) => ({
      start: model.clock.relative(Number(cells[3])),
      end: model.clock.relative(Number(cells[4])),
      value: Number(cells[5]),
      high: Number(cells[6]),
    }));
    return makeChart(
      {
        table: 'gpu_metric_timeline',
        label: String(metric).replace(/ \[.*\]$/u, ''),
        hint: `${String(metric)}, sampled: mean of each stretch; paler: its largest sample. Of the whole GPU, all its users`,
        kind: 'metric',
        gpu: Number(gpu),
        pid: -1,
        format: (value) => `${value.toFixed(value < 10 ? 1 : 0)} ${String(unit)}`,
        highWord: 'largest sample',
      },
      points,
      unit === '%' ? 100 : 1,
    );
  });
}

/** The point that holds at a time, -1 for none. @param {Chart} chart @param {number} time */
export function pointAt(chart, time) {
  const at = bisect(0, chart.start.length, (index) => chart.start[index] > time) - 1;
  return at >= 0 && time < chart.end[at] ? at : -1;
}

const MERGED = 8;
/** So many points a pixel cost no frame. */
const POINTS_PER_PIXEL = 16;

/** A queue in fewer points: the least and the most of each stretch. @param {Chart} chart @returns {Chart} */
function coarser(chart) {
  const count = Math.ceil(chart.start.length / MERGED);
  const made = { ...chart, start: new Float64Array(count), end: new Float64Array(count), value: new Float64Array(count), high: new Float64Array(count), coarser: null };
  for (let i = 0; i < count; i++) {
    const [first, last] = [i * MERGED, Math.min(chart.start.length, (i + 1) * MERGED) - 1];
    made.start[i] = chart.start[first];
    made.end[i] = chart.end[last];
    made.value[i] = chart.value[first];
    for (let at = first; at <= last; at++) {
      made.value[i] = Math.min(made.value[i], chart.value[at]);
      made.high[i] = Math.max(made.high[i], chart.high[at]);
    }
  }
  return made;
}

/**
 * Largest value and largest high of each pixel, NaN where nothing is known; of a queue the least value.
 * @param {Chart} chart @param {number} from @param {number} to @param {number} width  px
 * @returns {{value: Float64Array, high: Float64Array}}
 */
export function chartColumns(chart, from, to, width) {
  const least = chart.kind === 'queue';
  const points = bisect(0, chart.start.length, (at) => chart.start[at] >= to) - bisect(0, chart.end.length, (at) => chart.end[at] > from);
  if (least && points > width * POINTS_PER_PIXEL) return chartColumns((chart.coarser ??= coarser(chart)), from, to, width);
  const value = new Float64Array(width).fill(NaN);
  const high = new Float64Array(width).fill(NaN);
  const scale = width / (to - from);
  for (let i = bisect(0, chart.end.length, (at) => chart.end[at] > from); i < chart.start.length && chart.start[i] < to; i++) {
    const first = Math.max(0, Math.floor((chart.start[i] - from) * scale));
    const last = Math.min(width - 1, Math.max(first, Math.ceil((chart.end[i] - from) * scale) - 1));
    for (let x = first; x <= last; x++) {
      if (least ? !(value[x] <= chart.value[i]) : !(value[x] >= chart.value[i])) value[x] = chart.value[i];
      if (!(high[x] >= chart.high[i])) high[x] = chart.high[i];
    }
  }
  return { value, high };
}
