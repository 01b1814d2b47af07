/** @import { Column, Evidence, Table } from '../types.js' */
import { placeColumns } from '../table-schema.js';

/**
 * Columns that say nothing, or again what another one says: exact ns beside ms, and short names, which stand in for the
 * full ones on the screen anyway; of a trace with one GPU its number.
 * @param {Table} table @param {number} [gpus]  of the trace
 */
export function redundantColumns(table, gpus = 2) {
  const { columns, rows } = table;
  // A table of GPUs, or whose rows are told apart by little else, keeps their number.
  const oneGpu = gpus === 1 && rows.length > 1 && columns[0].role !== 'device';
  const named = columns.some(({ role }) => role === 'kernel_name');
  const again = columns.filter(
    ({ name, role }, index) =>
      columns.some((column) => column.stored === name) ||
      (named && name === 'short_name') ||
      (oneGpu && role === 'device') ||
      (rows.length > 0 && rows.every((row) => row[index] === null)),
  );
  return again.map((column) => column.name);
}

/** What a column tells, the most telling first. @param {Column} column */
function rank({ key, type, role, name, unit, sum }) {
  if (key && type === 'text') return 0;
  if (key && unit === 'id' && role !== 'device') return 9;
  if (key) return 1;
  if (name.startsWith('pct_total') || name === 'pct_of_idle') return 2;
  // Times of ranges inside one another do not add up, and are what their table is about all the same.
  if ((sum && unit !== 'count') || /^total_/u.test(name)) return 3;
  if (sum) return /^(call_|gap_)?count$/u.test(name) ? 4 : 8;
  if (/^(p50|median)_/u.test(name)) return 5;
  if (/^max_/u.test(name)) return 6;
  if (name === 'category' || name === 'cause') return 7;
  return 8;
}

/** A table of sums by name. @param {Table} table */
function isOfSums(table) {
  return table.columns.some((column) => column.key && column.type === 'text') && table.columns.some((column) => column.sum);
}

/** The column of an end that start and length tell as well, -1 for none. @param {Table} table */
function toldEnd(table) {
  const { start, end } = placeColumns(table);
  return start >= 0 && table.columns.some(({ sum, unit }) => sum && ['ns', 'us', 'ms', 's'].includes(unit)) ? end : -1;
}

/**
 * Positions of the columns in the order they are shown: of a table of sums by name what matters first, of any other the
 * report's own order, and last an end beside start and length.
 * @param {Table} table
 */
export function displayOrder(table) {
  const order = table.columns.map((_, index) => index);
  if (isOfSums(table)) return order.sort((a, b) => rank(table.columns[a]) - rank(table.columns[b]) || a - b);
  const end = toldEnd(table);
  return end < 0 ? order : [...order.filter((index) => index !== end), end];
}

/** Where a row is on the timeline. @param {Table} table @param {string} key @param {number} row @returns {Evidence} */
export function rowPlace(table, key, row) {
  const place = placeColumns(table);
  const values = table.rows[row];
  /** @param {number} column */
  const number = (column) =>
    column >= 0 && typeof values[column] === 'number' ? /** @type {number} */ (values[column]) : null;
  return {
    text: table.title,
    table: key,
    row,
    start_ns: number(place.start),
    end_ns: number(place.end),
    device_id: number(place.device),
    pid: number(place.pid),
    tid: number(place.tid),
    name: place.name >= 0 && values[place.name] !== null ? String(values[place.name]) : null,
  };
}

/** From this rank on columns are details, which may lie out of sight. */
const DETAILS = 8;

/**
 * Widths of the columns: what a long text column lacks it gets from the room that the columns that matter leave.
 * @param {{width: number, wanted: number, matters: boolean}[]} columns  px @param {number} room  px
 */
export function fitWidths(columns, room) {
  const widths = columns.map(({ width }) => width);
  let left = room - columns.reduce((sum, { width, matters }) => sum + (matters ? width : 0), 0);
  columns.forEach(({ width, wanted }, index) => {
    const more = Math.max(0, Math.min(wanted - width, left));
    widths[index] += more;
    left -= more;
  });
  return widths;
}

/** Whether a column belongs to what a table of sums tells first; of any other table all do. @param {Table} table @param {number} index */
export function mattersFirst(table, index) {
  return !isOfSums(table) || rank(table.columns[index]) < DETAILS;
}
