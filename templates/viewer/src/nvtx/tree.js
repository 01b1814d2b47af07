/** @import { Table } from '../types.js' */
/** @import { Model } from '../model.js' */
import { Paths } from '../paths.js';
import { columnIndex } from '../table-schema.js';

/**
 * @typedef {object} RangeNode
 * @property {string} key  path, stable across visits
 * @property {string} name
 * @property {boolean} isGroup  the whole trace, a process or a thread
 * @property {number} depth
 * @property {RangeNode | null} parent
 * @property {RangeNode[]} children
 * @property {number} count
 * @property {number} wallMs
 * @property {number} wallSelfMs
 * @property {number} gpuMs
 * @property {number} gpuSelfMs
 * @property {number} spanMs  from the first to the last operation that an instance launched on a GPU, summed
 * @property {number | null} pid
 * @property {number | null} tid
 * @property {number} [first]  when it began first, to sort by
 */

/** @typedef {'wall' | 'gpu' | 'span'} Metric */

/** @param {RangeNode} node @param {Metric} metric */
export function totalOf(node, metric) {
  return { wall: node.wallMs, gpu: node.gpuMs, span: node.spanMs }[metric];
}

/** @param {RangeNode} node @param {Metric} metric */
export function selfOf(node, metric) {
  if (metric === 'span') return Math.max(0, node.children.reduce((rest, child) => rest - child.spanMs, node.spanMs));
  return metric === 'wall' ? node.wallSelfMs : node.gpuSelfMs;
}

/** @param {string} name @param {RangeNode | null} parent @param {string} key @returns {RangeNode} */
export function makeNode(name, parent, key, isGroup = false) {
  const node = {
    key,
    name,
    isGroup,
    depth: parent ? parent.depth + 1 : 0,
    parent,
    children: [],
    count: 0,
    wallMs: 0,
    wallSelfMs: 0,
    gpuMs: 0,
    gpuSelfMs: 0,
    spanMs: 0,
    pid: null,
    tid: null,
  };
  if (parent) parent.children.push(node);
  return node;
}

/**
 * The table nvtx_tree as a tree. Merged: equal paths of all threads are one node; else one branch per thread.
 * @param {Model} model @param {Table} table @param {boolean} merged @returns {RangeNode}
 */
export function buildTree(model, table, merged) {
  const column = Object.fromEntries(
    [
      'node_id',
      'parent_id',
      'pid',
      'tid',
      'range_name',
      'count',
      'total_time_ms',
      'self_time_ms',
      'attributed_kernel_time_ms',
      'self_kernel_time_ms',
      'projected_time_ms',
    ].map((key) => [key, columnIndex(table, key)]),
  );
  const root = makeNode(merged ? 'All threads' : 'All processes', null, '', true);
  /** @type {Map<string, RangeNode>} */
  const byKey = new Map();
  /** @type {Map<number, RangeNode>} */
  const byId = new Map();
  /** @param {RangeNode} parent @param {string} id @param {string} label */
  const childOf = (parent, id, label, isGroup = false) => {
    const key = parent.key === '' ? id : `${parent.key}\u0001${id}`;
    let node = byKey.get(key);
    if (!node) byKey.set(key, (node = makeNode(label, parent, key, isGroup)));
    return node;
  };
  for (const row of table.rows) {
    /** @param {string} key */
    const number = (key) => (column[key] >= 0 ? Number(row[column[key]]) || 0 : 0);
    const pid = number('pid');
    const tid = number('tid');
    const parentId = number('parent_id');
    let parent = byId.get(parentId);
    const isRoot = parentId < 0 || !parent;
    if (!parent || parentId < 0) {
      parent = merged
        ? root
        : childOf(childOf(root, `p${pid}`, model.processLabel(pid), true), `t${tid}`, model.threadLabel(pid, tid), true);
    }
    const text = String(row[column.range_name]);
    const node = childOf(parent, text, text);
    byId.set(number('node_id'), node);
    node.count += number('count');
    node.wallMs += number('total_time_ms');
    node.wallSelfMs += number('self_time_ms');
    node.gpuMs += number('attributed_kernel_time_ms');
    node.gpuSelfMs += number('self_kernel_time_ms');
    node.spanMs += number('projected_time_ms');
    node.pid = merged ? null : pid;
    node.tid = merged ? null : tid;
    if (isRoot) {
      for (let above = node.parent; above; above = above.parent) {
        above.wallMs += number('total_time_ms');
        above.gpuMs += number('attributed_kernel_time_ms');
        above.spanMs += number('projected_time_ms');
        above.count += number('count');
      }
    }
  }
  return root;
}

/**
 * Children with time in the metric: in the order they began, where that is known, else longest first.
 * @param {RangeNode} node @param {Metric} metric
 */
export function sortedChildren(node, metric) {
  return node.children
    .filter((child) => totalOf(child, metric) > 0)
    .sort((a, b) => (a.first ?? 0) - (b.first ?? 0) || totalOf(b, metric) - totalOf(a, metric) || (a.name < b.name ? -1 : 1));
}

/**
 * Gives every range the time of its first instance. Ranges of which no instance is on the page come last.
 * @param {RangeNode} root @param {Model} model
 */
export function orderByTime(root, model) {
  const { start } = model.events;
  /** @type {Map<string, number>} */
  const firsts = new Map();
  const paths = new Paths(model);
  for (const lane of model.lanes.filter(({ kind }) => kind === 'nvtx'))
    for (let i = lane.first; i < lane.first + lane.count; i++) {
      const path = paths.texts[paths.of[i]];
      firsts.set(path, Math.min(firsts.get(path) ?? Infinity, start[i]));
    }
  eachNode(root, (node, path) => {
    node.first = node.isGroup ? Math.min(...node.children.map((child) => child.first ?? Infinity)) : (firsts.get(path) ?? Infinity);
    if (!Number.isFinite(node.first)) node.first = Number.MAX_VALUE;
  });
}

/** Nodes with their paths as Paths has them, children first. @param {RangeNode} node @param {(node: RangeNode, path: string) => void} visit */
function eachNode(node, visit, above = '') {
  const path = node.isGroup ? '' : above === '' ? node.name.toLowerCase() : `${above}/${node.name.toLowerCase()}`;
  for (const child of node.children) eachNode(child, visit, path);
  visit(node, path);
}
