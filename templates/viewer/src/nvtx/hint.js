/** @import { Model } from '../model.js' */
/** @import { Metric, RangeNode } from './tree.js' */
import { h, name, replace } from '../dom.js';
import { counted, percent } from '../format.js';
import { columnIndex } from '../table-schema.js';
import { totalOf } from './tree.js';

/** How a program like this one names a range. @param {Model} model */
export function rangeExample(model) {
  const table = model.table('workload_evidence');
  const [aspect, value] = ['aspect', 'value'].map((column) => (table ? columnIndex(table, column) : -1));
  const told = new Map(table?.rows.map((row) => [row[aspect], String(row[value])]));
  if (told.get('framework') === 'pytorch') return 'with torch.cuda.nvtx.range("phase"):';
  return told.get('language') === 'python' ? 'with nvtx.annotate("phase"):' : 'nvtx3::scoped_range r{"phase"};';
}

/** @param {number} ms */
export function milliseconds(ms) {
  return ms.toLocaleString('en-US', { minimumFractionDigits: 3, maximumFractionDigits: 3 });
}

/**
 * What is under the pointer in the flame graph.
 * @param {HTMLElement} hint @param {RangeNode | null} node @param {RangeNode} root @param {Metric} metric
 * @param {number} x @param {number} y
 */
export function showHint(hint, node, root, metric, x, y) {
  hint.hidden = node === null;
  if (!node) return;
  const ofAll = percent(totalOf(node, metric), totalOf(root, metric));
  const ofParent = node.parent ? `, ${percent(totalOf(node, metric), totalOf(node.parent, metric))} of parent` : '';
  replace(
    hint,
    h('div', { class: 'tooltip-title' }, name(node.name)),
    h('div', {}, counted(node.count, 'instance')),
    h('div', {}, 'Wall ', h('b', {}, `${milliseconds(node.wallMs)} ms`), `, self ${milliseconds(node.wallSelfMs)} ms`),
    h('div', {}, 'GPU ', h('b', {}, `${milliseconds(node.gpuMs)} ms`), `, self ${milliseconds(node.gpuSelfMs)} ms`),
    node.spanMs > 0 ? h('div', {}, 'Projected ', h('b', {}, `${milliseconds(node.spanMs)} ms`)) : null,
    h('div', {}, `${ofAll} of all${ofParent}`),
  );
  const box = hint.getBoundingClientRect();
  const left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8));
  hint.style.transform = `translate(${left}px, ${Math.min(y + 14, innerHeight - box.height - 8)}px)`;
}
