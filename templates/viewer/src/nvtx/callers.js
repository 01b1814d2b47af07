/** @import { RangeNode } from './tree.js' */
import { makeNode } from './tree.js';

/** @param {RangeNode} into @param {RangeNode} from  whose times are added */
function add(into, from) {
  into.count += from.count;
  into.wallMs += from.wallMs;
  into.wallSelfMs += from.wallSelfMs;
  into.gpuMs += from.gpuMs;
  into.gpuSelfMs += from.gpuSelfMs;
  into.spanMs += from.spanMs;
}

/** Whether a range of the same name is open around it: its time is part of that one's. @param {RangeNode} node */
function recursive(node) {
  for (let above = node.parent; above; above = above.parent) if (!above.isGroup && above.name === node.name) return true;
  return false;
}

/**
 * The tree turned over: below every name the ranges it was entered from, with the part of its time that falls to each.
 * @param {RangeNode} root  of calls @returns {RangeNode}
 */
export function callersOf(root) {
  const turned = makeNode('All names (times overlap)', null, '', true);
  /** @type {Map<string, RangeNode>} */
  const byKey = new Map();
  const pending = [...root.children];
  for (let node = pending.pop(); node; node = pending.pop()) {
    pending.push(...node.children);
    if (node.isGroup || recursive(node)) continue;
    let into = turned;
    for (let at = /** @type {RangeNode | null} */ (node); at && !at.isGroup; at = at.parent) {
      const key = into.key === '' ? at.name : `${into.key}\u0001${at.name}`;
      let next = byKey.get(key);
      if (!next) byKey.set(key, (next = makeNode(at.name, into, key)));
      add(next, node);
      into = next;
    }
  }
  for (const child of turned.children) {
    turned.wallMs += child.wallMs;
    turned.gpuMs += child.gpuMs;
    turned.spanMs += child.spanMs;
    turned.count += child.count;
  }
  return turned;
}
