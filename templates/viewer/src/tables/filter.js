/** @import { Cell, Column, Table } from '../types.js' */
import { cell, heading, readable, unitLabel } from '../format.js';
import { escapeMarkdown } from '../snippet.js';

/** @typedef {(row: Cell[]) => boolean} RowTest */

const TERM = /"([^"]*)"|(\S+)/gu;
const COMPARISON = /^([A-Za-z0-9_]+)(>=|<=|!=|>|<|=|~|:(?!:))(.*)$/u;
const SUGGESTIONS = 3;

/** Edits between two words. @param {string} a @param {string} b */
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length];
}

/** @param {Table} table @param {string} column */
function unknownColumn(table, column) {
  const wanted = column.toLowerCase();
  const near = table.columns
    .map(({ name }) => {
      const parts = [name, ...name.split('_').filter((word) => word.length > 3)].map((part) => distance(wanted, part) / part.length);
      return { name, score: name.includes(wanted) || wanted.includes(name) ? 0 : Math.min(...parts) };
    })
    .filter(({ score }) => score < 0.6)
    .sort((a, b) => a.score - b.score)
    .slice(0, SUGGESTIONS);
  const hint = near.length > 0 ? `; did you mean ${near.map(({ name }) => name).join(', ')}?` : '';
  return `no column “${column}”${hint} (quotes search for the text)`;
}

/** @param {string} operator @param {number} left @param {number} right */
function compare(operator, left, right) {
  switch (operator) {
    case '>':
      return left > right;
    case '<':
      return left < right;
    case '>=':
      return left >= right;
    case '<=':
      return left <= right;
    case '!=':
      return left !== right;
    default:
      return left === right;
  }
}

/**
 * A column by its name, whose values are in the unit the name says, or by its heading, as it is shown.
 * @param {Table} table @param {string} wanted
 */
function findColumn(table, wanted) {
  const index = table.columns.findIndex(({ name }) => name === wanted);
  if (index >= 0) return { index, factor: 1 };
  const headed = table.columns.findIndex(({ name }) => heading(name).replace(/ /gu, '_').toLowerCase() === wanted.toLowerCase());
  if (headed < 0) return { index: -1, factor: 1 };
  return { index: headed, factor: readable(table.columns[headed], table.rows.map((row) => row[headed])).factor };
}

/** @param {Table} table @param {string} column @param {string} operator @param {string} value @returns {RowTest | string}  text: what is wrong */
function columnTest(table, column, operator, value) {
  const { index, factor } = findColumn(table, column);
  if (index < 0) return unknownColumn(table, column);
  if (operator === ':') {
    const wanted = value.toLowerCase();
    return (row) =>
      String(row[index] ?? '')
        .toLowerCase()
        .includes(wanted);
  }
  if (operator === '~') {
    try {
      const pattern = new RegExp(value, 'iu');
      return (row) => pattern.test(String(row[index] ?? ''));
    } catch {
      return `invalid expression: ${value}`;
    }
  }
  const number = Number(value);
  if (table.columns[index].type !== 'text') {
    if (value === '' || Number.isNaN(number)) return `not a number: ${value}`;
    return (row) => typeof row[index] === 'number' && compare(operator, /** @type {number} */ (row[index]) * factor, number);
  }
  if (operator === '=') return (row) => String(row[index] ?? '') === value;
  if (operator === '!=') return (row) => String(row[index] ?? '') !== value;
  return `${column} is text: use = != : or ~`;
}

/**
 * Filter language: words must all occur in the row; `column>10`, `column=x`, `column:part`, `column~regex`
 * test one column; quotes keep spaces together.
 * @param {Table} table @param {string} text
 * @returns {{test: RowTest, error: string | null}}
 */
export function compileFilter(table, text) {
  /** @type {RowTest[]} */
  const tests = [];
  /** @type {string | null} */
  let error = null;
  for (const match of text.matchAll(TERM)) {
    const term = match[1] ?? match[2];
    const parts = match[1] === undefined ? COMPARISON.exec(term) : null; // std::vector is a word
    const test = parts ? columnTest(table, parts[1], parts[2], parts[3]) : null;
    if (typeof test === 'string') {
      error = test;
    } else if (test) {
      tests.push(test);
    } else {
      const wanted = term.toLowerCase();
      tests.push((row) => row.some((value) => value !== null && String(value).toLowerCase().includes(wanted)));
    }
  }
  return { test: (row) => tests.every((test) => test(row)), error };
}

/** Order of rows: numbers by size, text by code unit, empty cells last; ties keep the report's order.
 * @param {Table} table @param {number[]} rows @param {number} column @param {boolean} descending */
export function sortRows(table, rows, column, descending) {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const left = table.rows[a][column];
    const right = table.rows[b][column];
    if (left === right) return a - b;
    if (left === null || left === undefined) return 1;
    if (right === null || right === undefined) return -1;
    return (left < right ? -1 : 1) * sign || a - b;
  });
}

/** A leading = + - @ makes spreadsheets run a cell as a formula. @param {string} text */
function guardFormula(text) {
  return /^[=+\-@\t\r]/u.test(text) ? `'${text}` : text;
}

/** @param {Table} table @param {number[]} rows */
export function toCsv(table, rows) {
  /** @param {Cell} value */
  const field = (value) => {
    if (value === null || value === undefined) return '';
    if (typeof value === 'number') return String(value);
    const text = guardFormula(value);
    return /[",\r\n]/u.test(text) ? `"${text.replace(/"/gu, '""')}"` : text;
  };
  const lines = [table.columns.map((column) => column.name).join(',')];
  for (const row of rows) lines.push(table.rows[row].map(field).join(','));
  return `${lines.join('\n')}\n`;
}

/**
 * A table to be read: headings with their units, numbers as on the screen.
 * @param {Table} table @param {number[]} rows
 * @param {{index: number, title: string, text: (value: Cell) => string}[]} [columns]  those shown, else all
 */
export function toMarkdown(table, rows, columns = table.columns.map((column, index) => ({ index, title: headed(column), text: (value) => cell(value, column, null) }))) {
  /** @param {string[]} cells */
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return `${[
    line(columns.map(({ title }) => escapeMarkdown(title))),
    line(columns.map(({ index }) => (table.columns[index].type === 'text' ? ':---' : '---:'))),
    ...rows.map((row) => line(columns.map(({ index, text }) => escapeMarkdown(text(table.rows[row][index]))))),
  ].join('\n')}\n`;
}

/** Heading of a column with its unit. @param {Column} column @param {string} [unit] */
export function headed(column, unit = column.unit === 'bytes' ? '' : unitLabel(column)) {
  return `${heading(column.name)}${unit ? ` ${unit}` : ''}`;
}
