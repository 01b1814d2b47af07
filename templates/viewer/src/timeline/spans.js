/** @import { Table } from '../types.js' */
/** @import { Model } from '../model.js' */
import { causeName } from '../colors.js';
import { columnIndex } from '../table-schema.js';

/**
 * Rows of a table as spans on a GPU's line: steps, collectives. Ascending by start.
 * @typedef {object} Spans
 * @property {string} table
 * @property {Float64Array} start  ns after the origin
 * @property {Float64Array} end
 * @property {Float64Array} from  where the darker middle begins: of a collective the transfer
 * @property {Float64Array} to
 * @property {string[]} label
 * @property {('plain' | 'pale' | 'bad')[]} tone
 * @property {Uint32Array} row
 * @property {Int32Array} [set]  of a collective: its number, the same on all GPUs; -1: not known to be the same as any
 */

/** @typedef {{start: number, end: number, from: number, to: number, label: string, tone: 'plain' | 'pale' | 'bad', row: number, set?: number}} Span */

/** @param {string} table @param {Span[]} list @returns {Spans} */
function pack(table, list) {
  list.sort((a, b) => a.start - b.start || a.row - b.row);
  return {
    table,
    start: Float64Array.from(list, (span) => span.start),
    end: Float64Array.from(list, (span) => span.end),
    from: Float64Array.from(list, (span) => span.from),
    to: Float64Array.from(list, (span) => span.to),
    label: list.map((span) => span.label),
    tone: list.map((span) => span.tone),
    row: Uint32Array.from(list, (span) => span.row),
    ...(list.some((span) => (span.set ?? -1) >= 0) ? { set: Int32Array.from(list, (span) => span.set ?? -1) } : {}),
  };
}

/**
 * @param {Model} model @param {string} name
 * @param {(cell: (column: string) => string | number | null, start: number, end: number) => Omit<Span, 'start' | 'end' | 'row'>} read
 * @param {[string, string]} times  columns of start and end
 * @returns {Map<number, Spans>}  by GPU
 */
function readSpans(model, name, read, [startColumn, endColumn]) {
  /** @type {Map<number, Span[]>} */
  const lists = new Map();
  const table = /** @type {Table | null} */ (model.table(name));
  const [device, start, end] = ['device_id', startColumn, endColumn].map((column) => (table ? columnIndex(table, column) : -1));
  if (table && device >= 0 && start >= 0 && end >= 0) {
    table.rows.forEach((values, row) => {
      if (typeof values[start] !== 'number' || typeof values[end] !== 'number') return;
      const [from, to] = [model.clock.relative(Number(values[start])), model.clock.relative(Number(values[end]))];
      const list = lists.get(Number(values[device])) ?? [];
      lists.set(Number(values[device]), list);
      const rest = read((column) => values[columnIndex(table, column)] ?? null, from, to);
      list.push({ start: from, end: to, row, ...rest });
    });
  }
  return new Map([...lists].map(([gpu, list]) => [gpu, pack(name, list)]));
}

/** A range called "step 7" says its number already. @param {string | number} label @param {string | number | null} step */
export function stepLabel(label, step) {
  return /\W\d+$/u.test(String(label)) ? String(label) : `${label} ${step}`;
}

/** Steps of the program on each GPU. @param {Model} model */
export function stepSpans(model) {
  return readSpans(
    model,
    'steps',
    (cell, from, to) => ({
      from,
      to,
      label: stepLabel(cell('label') ?? 'step', cell('step')),
      tone: cell('is_outlier') === 1 ? 'bad' : cell('state') === 'steady' ? 'plain' : 'pale',
    }),
    ['gpu_start_ns', 'gpu_end_ns'],
  );
}

/** @type {Record<string, string>} */
const SPAN_NAMES = { active: 'active', set_up: 'setup', check: 'result check', pause: 'pause' };

/** When a GPU works, and the pauses between; of a GPU that never paused nothing. @param {Model} model */
export function activitySpans(model) {
  const spans = readSpans(
    model,
    'active_spans',
    (cell, from, to) => {
      const cause = cell('cause');
      const kind = String(cell('kind'));
      return {
        from,
        to,
        label: `${SPAN_NAMES[kind] ?? kind}${typeof cause === 'string' ? `: ${causeName(cause)}` : ''}`,
        tone: kind === 'active' ? 'plain' : 'pale',
      };
    },
    ['start_ns', 'end_ns'],
  );
  for (const [gpu, list] of spans) if (list.row.length < 2) spans.delete(gpu);
  return spans;
}

/**
 * Why a GPU paused, by the gap that the pause is: table `active_spans` knows causes that a gap between launches cannot have.
 * @param {Model} model @returns {(device: number, start: number) => {cause: string, row: number} | undefined}  start: as in the tables
 */
export function pauses(model) {
  const table = model.table('active_spans');
  if (!table) return () => undefined;
  const [device, start, kind, cause] = ['device_id', 'start_ns', 'kind', 'cause'].map((column) => columnIndex(table, column));
  const key = (/** @type {unknown} */ gpu, /** @type {unknown} */ time) => `${gpu} ${time}`;
  const known = new Map(
    table.rows.flatMap((values, row) =>
      values[kind] === 'pause' ? [[key(values[device], values[start]), { cause: String(values[cause] ?? 'unknown'), row }]] : [],
    ),
  );
  return (gpu, time) => known.get(key(gpu, time));
}

const NS_PER_US = 1000;

/** Collectives: wait for the last rank, transfer, tail. @param {Model} model */
export function collectiveSpans(model) {
  return readSpans(
    model,
    'comm_instances',
    (cell, start, end) => {
      const [wait, tail] = [cell('wait_us'), cell('tail_us')];
      // What of an unmatched one is waiting nobody knows: it looks like neither.
      const known = typeof wait === 'number';
      return {
        from: known ? start + wait * NS_PER_US : end,
        to: known ? end - (typeof tail === 'number' ? tail : 0) * NS_PER_US : end,
        label: String(cell('op') ?? 'collective'),
        tone: known ? 'plain' : 'pale',
        set: Number(cell('set_id') ?? -1),
      };
    },
    ['start_ns', 'end_ns'],
  );
}
