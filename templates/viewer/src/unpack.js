/** @import { Cell, PackedColumn, Report, Table } from './types.js' */

/** @param {PackedColumn} column @returns {Cell[]} */
function unpackColumn(column) {
  const { texts, rows, differences, digits, values } = column;
  if (texts && rows) return rows.map((number) => (number === null ? null : texts[number]));
  if (!differences) return values ?? [];
  // Both are exact below 2^53, so that the quotient is the double that the decimal would read as.
  const scale = 10 ** (digits ?? 0);
  let last = 0;
  return differences.map((difference) => (difference === null ? null : (last += difference) / scale));
}

/** @param {Table} table */
function unpackTable(table) {
  if (!table.packed) return;
  const columns = table.packed.map(unpackColumn);
  const count = columns[0]?.length ?? 0;
  if (columns.length !== table.columns.length || columns.some((column) => column.length !== count))
    throw new Error(`the table "${table.title}" is damaged`);
  table.rows = Array.from({ length: count }, (_, row) => columns.map((column) => column[row]));
  delete table.packed;
}

/** Long tables stand in the page as columns; from here on they have rows as all others. @param {Report} report */
export function unpackTables(report) {
  Object.values(report.tables).forEach(unpackTable);
  return report;
}
