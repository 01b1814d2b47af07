/** @import { Evidence, Table } from '../types.js' */
import { placeColumns } from '../table-schema.js';

/**
 * Columns that say again what another one says: exact ns beside ms, and short names, which stand in for the full
 * ones on the screen anyway.
 * @param {Table} table
 */
export function redundantColumns(table) {
  const names = table.columns.map((column) => column.name);
  const twins = names.filter((text) => table.columns.some((column) => column.stored === text));
  return names.includes('kernel_name') && names.includes('short_name') ? [...twins, 'short_name'] : twins;
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
