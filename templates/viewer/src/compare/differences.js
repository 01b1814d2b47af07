/** @import { Cell, Table } from '../types.js' */
import { causeName } from '../colors.js';
import { columnIndex } from '../table-schema.js';

/**
 * A part of a whole on both sides. The children of a part add up to it.
 * @typedef {object} Difference
 * @property {string} key
 * @property {string} title
 * @property {string} [name]  of a kernel, in full
 * @property {string} note  what else there is to say: how a kernel was matched, where it runs
 * @property {number | null} base  ms; null: not on that side
 * @property {number | null} fresh
 * @property {Difference[]} children
 */

/** @param {Difference} part */
export function deltaOf(part) {
  return (part.fresh ?? 0) - (part.base ?? 0);
}

/** A reader of cells by column name. @param {Table} table */
export function cellsOf(table) {
  /** @type {Map<string, number>} */
  const at = new Map(table.columns.map((column, index) => [column.name, index]));
  /** @param {Cell[]} row @param {string} column */
  const cell = (row, column) => row[at.get(column) ?? -1] ?? null;
  return {
    /** @param {Cell[]} row @param {string} column */
    text: (row, column) => String(cell(row, column) ?? ''),
    /** @param {Cell[]} row @param {string} column @returns {number | null} */
    number: (row, column) => {
      const value = cell(row, column);
      return typeof value === 'number' ? value : null;
    },
  };
}

/** The longer of both sides. @param {Difference} part */
export function sizeOf(part) {
  return Math.max(part.base ?? 0, part.fresh ?? 0);
}

/** Those that differ most come first, of those that do not the longest. @param {Difference[]} parts */
export function byDifference(parts) {
  return parts.sort((a, b) => Math.abs(deltaOf(b)) - Math.abs(deltaOf(a)) || sizeOf(b) - sizeOf(a) || (a.title < b.title ? -1 : 1));
}

/** Kernels of each category. @param {Table} table @param {(name: string) => string} shorten */
function kernelsByCategory(table, shorten) {
  const { text, number } = cellsOf(table);
  /** @type {Map<string, Difference[]>} */
  const lists = new Map();
  table.rows.forEach((row, index) => {
    const path = text(row, 'nvtx_path');
    const list = lists.get(text(row, 'category')) ?? [];
    lists.set(text(row, 'category'), list);
    const state = text(row, 'state');
    list.push({
      key: `kernel.${index}`,
      title: shorten(text(row, 'kernel')),
      name: text(row, 'kernel'),
      note: [state === 'matched' ? '' : state.replace('_', ' '), text(row, 'change'), path ? `in ${path}` : ''].filter(Boolean).join(', '),
      base: number(row, 'base_time_ms'),
      fresh: number(row, 'new_time_ms'),
      children: [],
    });
  });
  return lists;
}

const ROUNDING_MS = 1e-5;

/** Adds what is missing between children and their parent, so that the sum is closed. @param {Difference} part */
function close(part) {
  /** @param {(child: Difference) => number | null} value */
  const sum = (value) => part.children.reduce((total, child) => total + (value(child) ?? 0), 0);
  const base = (part.base ?? 0) - sum((child) => child.base);
  const fresh = (part.fresh ?? 0) - sum((child) => child.fresh);
  if (Math.abs(base) < ROUNDING_MS && Math.abs(fresh) < ROUNDING_MS) return;
  part.children.push({ key: `${part.key}.more`, title: 'kernels that are not on this page', note: 'see tables/compared_kernels.csv', base, fresh, children: [] });
}

/**
 * The whole, opened level by level: step, its parts, causes and categories, kernels.
 * @param {Table} time  compared_time @param {Table} kernels  compared_kernels @param {(name: string) => string} shorten
 * @returns {Difference | null}
 */
export function buildDifferences(time, kernels, shorten) {
  const { text, number } = cellsOf(time);
  const lists = kernelsByCategory(kernels, shorten);
  /** @type {Map<string, Difference>} */
  const parts = new Map();
  /** @type {Difference | null} */
  let root = null;
  for (const row of time.rows) {
    const key = text(row, 'part');
    const cause = key.startsWith('idle.') && !key.endsWith('.rest');
    const part = { key, title: cause ? causeName(key.slice('idle.'.length)) : text(row, 'title'), note: cause ? key.slice('idle.'.length) : '', base: number(row, 'base_time_ms'), fresh: number(row, 'new_time_ms'), children: /** @type {Difference[]} */ ([]) };
    parts.set(key, part);
    const parent = parts.get(text(row, 'parent'));
    if (parent) parent.children.push(part);
    else root ??= part;
    const own = key.startsWith('compute.') ? lists.get(key.slice('compute.'.length)) : undefined;
    if (!own) continue;
    part.children.push(...own);
    close(part);
  }
  for (const part of parts.values()) byDifference(part.children);
  return root;
}

/**
 * NVTX ranges inside each other.
 * @param {Table} table  compared_tree @param {'wall' | 'gpu'} metric @returns {Difference}
 */
export function buildRanges(table, metric) {
  const { text, number } = cellsOf(table);
  const [base, fresh] = metric === 'wall' ? ['base_time_ms', 'new_time_ms'] : ['base_kernel_time_ms', 'new_kernel_time_ms'];
  const [own, parent] = [columnIndex(table, 'node_id'), columnIndex(table, 'parent_id')];
  /** @type {Difference} */
  const root = { key: 'root', title: 'all ranges', note: '', base: 0, fresh: 0, children: [] };
  /** @type {Map<Cell, Difference>} */
  const nodes = new Map();
  for (const row of table.rows) {
    const node = { key: String(row[own]), title: text(row, 'range_name'), note: text(row, 'state') === 'both' ? '' : text(row, 'state').replace('_', ' '), base: number(row, base), fresh: number(row, fresh), children: [] };
    const above = nodes.get(row[parent]) ?? root;
    nodes.set(row[own], node);
    if ((node.base ?? 0) <= 0 && (node.fresh ?? 0) <= 0) continue;
    above.children.push(node);
    if (above !== root) continue;
    root.base = (root.base ?? 0) + (node.base ?? 0);
    root.fresh = (root.fresh ?? 0) + (node.fresh ?? 0);
  }
  for (const node of [root, ...nodes.values()]) byDifference(node.children);
  return root;
}

const SIGNIFICANT_SHARE = 0.002;

/**
 * How much a part changed, -1 to 1: of its own time, and nothing when that is lost in the whole.
 * @param {Difference} part @param {Difference} whole
 */
export function changeOf(part, whole) {
  const delta = deltaOf(part);
  const size = sizeOf(part);
  if (size <= 0 || Math.abs(delta) < SIGNIFICANT_SHARE * sizeOf(whole)) return 0;
  return Math.max(-1, Math.min(1, delta / size));
}
