/** @import { Column, Table } from '../types.js' */
/** @import { Metric, RangeNode } from './tree.js' */
import { selfOf, totalOf } from './tree.js';

/** @type {[string, string, string][]} */
const COLUMNS = [
  ['path', 'text', 'text'],
  ['count', 'int', 'count'],
  ['total_ms', 'float', 'ms'],
  ['self_ms', 'float', 'ms'],
  ['gpu_ms', 'float', 'ms'],
  ['gpu_self_ms', 'float', 'ms'],
];

/** @param {RangeNode} node */
function path(node) {
  const names = [];
  for (let at = /** @type {RangeNode | null} */ (node); at; at = at.parent) names.unshift(at.name);
  return names.join(' > ');
}

/** Rows of the tree as a table to be copied. @param {RangeNode[]} nodes @param {Metric} metric @returns {Table} */
export function treeTable(nodes, metric) {
  return {
    title: 'NVTX ranges',
    columns: COLUMNS.map(([name, type, unit]) => /** @type {Column} */ ({ name, type, unit, role: 'label' })),
    rows: nodes.map((node) => [path(node), node.count, totalOf(node, metric), selfOf(node, metric), node.gpuMs, node.gpuSelfMs]),
  };
}
