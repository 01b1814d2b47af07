/** @import { Column, Table } from '../types.js' */

/** What a column of a comparison tells, the most telling first. @param {Column} column */
function rank({ key, name, type, role }) {
  if (key || role === 'kernel_name' || role === 'range_name') return name.endsWith('_path') ? 6 : 0;
  if (name === 'node_id' || name === 'parent_id') return 8;
  if (/^(delta|kernel_delta|shift)/u.test(name)) return 1;
  if (/^(base|new)_/u.test(name) && type !== 'text') return name.includes('sum') ? 7 : 2;
  if (name === 'verdict' || name === 'state' || name === 'change') return 3;
  return 5;
}

/** Puts the columns of a table into that order: name, difference, both sides, what became of it, the rest. @param {Table} table */
export function differenceFirst(table) {
  const order = table.columns.map((_, index) => index).sort((a, b) => rank(table.columns[a]) - rank(table.columns[b]) || a - b);
  table.columns = order.map((index) => table.columns[index]);
  table.rows = table.rows.map((row) => order.map((index) => row[index]));
}
