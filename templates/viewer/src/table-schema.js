/** @import { Table } from './types.js' */

/** Rows of the table, of which the page may have only the first. @param {Table} table */
export function rowCount(table) {
  return table.row_count ?? table.rows.length;
}

/** Column position by name, -1 when the table lacks it. @param {Table} table @param {string} name */
export function columnIndex(table, name) {
  return table.columns.findIndex((column) => column.name === name);
}

/**
 * Position of the first column of a role that holds a value (of processes the pid, not a row number), -1 without one.
 * @param {Table} table @param {string} role
 */
export function roleIndex(table, role) {
  return table.columns.findIndex((column) => column.role === role && (!column.refers || column.refers.includes('.')));
}

/**
 * A table row's place on the timeline, and the column whose text names its events there.
 * @param {Table} table
 * @returns {{start: number, end: number, device: number, pid: number, tid: number, name: number}} column positions
 */
export function placeColumns(table) {
  return {
    start: roleIndex(table, 'start'),
    end: roleIndex(table, 'end'),
    device: roleIndex(table, 'device'),
    pid: roleIndex(table, 'process'),
    tid: roleIndex(table, 'thread'),
    name: ['kernel_name', 'range_name', 'name'].map((role) => table.columns.findIndex((column) => column.key === true && column.role === role)).find((column) => column >= 0) ?? -1,
  };
}

/**
 * Rows as objects by column name, each with the number of its row.
 * @param {Table | null} table
 * @returns {(Record<string, import('./types.js').Cell> & {row: number})[]}
 */
export function records(table) {
  if (!table) return [];
  const names = table.columns.map(({ name }) => name);
  return table.rows.map((cells, row) => Object.assign(Object.fromEntries(names.map((name, i) => [name, cells[i]])), { row }));
}
