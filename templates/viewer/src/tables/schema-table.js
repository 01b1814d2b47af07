/** @import { Cell, Report, Table } from '../types.js' */
import { unitLabel } from '../format.js';
import { rowCount } from '../table-schema.js';

/** Its key among the tables; no analysis has that name. */
export const SCHEMA = 'columns';

const TYPES = /** @type {Record<string, string>} */ ({ text: 'text', int: 'integer', float: 'number' });

/** @param {string} name @param {string} type @param {string} description @param {string} [unit] */
const column = (name, type, description, unit = 'text') => ({ name, type, unit, description, role: 'label' });

/** What every column of every table means, as a table: it is filtered, sorted and copied like any other. @param {Report} report @returns {Table} */
export function schemaTable(report) {
  /** @type {Cell[][]} */
  const rows = Object.entries(report.tables).flatMap(([key, table]) =>
    table.columns.map((one) => [
      key,
      one.name,
      one.description ?? null,
      unitLabel(one) || (one.unit === 'count' ? 'number' : null),
      TYPES[one.type] ?? one.type,
      one.refers ?? null,
      one.key ? 'yes' : null,
      rowCount(table),
    ]),
  );
  return {
    title: 'What the tables hold',
    description: 'Every column of every table: what it means, in which unit. The names are those of the CSV files, of report.json, of rules and SQL',
    columns: [
      column('table', 'text', 'name of the table: what rules and SQL call it, and tables/NAME.csv where it has rows'),
      column('column', 'text', 'name of the column'),
      column('meaning', 'text', 'what it says'),
      column('unit', 'text', 'unit of its numbers'),
      column('type', 'text', 'text, integer or number'),
      column('refers_to', 'text', 'table or column whose rows or values it names'),
      column('key', 'text', 'yes: with the other key columns it tells rows apart'),
      column('rows', 'int', 'rows of the table', 'count'),
    ],
    rows,
  };
}
