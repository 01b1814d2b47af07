import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addSpans, buildTree, selfOf, sortedChildren, totalOf } from '../../../templates/viewer/src/nvtx/tree.js';
import { projectRanges } from '../../../templates/viewer/src/projection.js';
import { planModel } from '../lib/plan-model.mjs';

const { model } = planModel();
const table = model.table('nvtx_tree');

test('merged or by thread, the tree holds the same time', () => {
  const [merged, threads] = [true, false].map((flag) => buildTree(model, table, flag));
  for (const metric of ['wall', 'gpu']) assert.ok(Math.abs(totalOf(merged, metric) - totalOf(threads, metric)) < 1e-6);
  assert.equal(merged.count, threads.count);
  assert.ok(threads.children.every((node) => node.isGroup));
});

test('children come longest first and carry their path', () => {
  const root = buildTree(model, table, true);
  const pending = [root];
  for (let node = pending.pop(); node; node = pending.pop()) {
    const children = sortedChildren(node, 'wall');
    children.forEach((child, index) => {
      if (index > 0) assert.ok(totalOf(child, 'wall') <= totalOf(children[index - 1], 'wall'));
      assert.ok(child.key.endsWith(child.name));
    });
    pending.push(...children);
  }
});

/** By path and GPU: the spans of what instances launched, from the events one by one. */
function spansByPath() {
  const { start, duration, link, aux, name } = model.events;
  const end = (i) => start[i] + duration[i];
  const sums = new Map();
  const indices = ({ first, count }) => Array.from({ length: count }, (_, i) => first + i);
  for (const lane of model.lanes.filter(({ kind }) => kind === 'nvtx')) {
    const open = [];
    const calls = model.lanes.filter(({ kind, pid, tid }) => kind === 'api' && pid === lane.pid && tid === lane.tid).flatMap(indices);
    for (const range of indices(lane)) {
      open.length = aux[range];
      open.push(model.names[name[range]]);
      const inside = new Set(calls.filter((call) => start[call] >= start[range] && end(call) <= end(range)));
      for (const gpu of model.timeline.gpus) {
        const work = model.lanes.filter((other) => model.isGpuLane(other) && other.gpu === gpu.id).flatMap(indices).filter((op) => inside.has(link[op] - 1));
        if (work.length > 0) sums.set(open.join('/'), (sums.get(open.join('/')) ?? 0) + (Math.max(...work.map(end)) - Math.min(...work.map((op) => start[op]))) / 1e6);
      }
    }
  }
  return sums;
}

test('projected time is what instances took on the GPUs, first to last operation', () => {
  const projected = projectRanges(model);
  const [root, threads] = [true, false].map((merged) => buildTree(model, table, merged));
  for (const tree of [root, threads]) addSpans(tree, model, projected);
  const truth = spansByPath();
  let seen = 0;
  const visit = (node, above) => {
    const path = node.isGroup ? '' : above ? `${above}/${node.name}` : node.name;
    if (!node.isGroup) assert.ok(Math.abs(node.spanMs - (truth.get(path) ?? 0)) < 1e-6, path);
    seen += node.spanMs > 0 ? 1 : 0;
    assert.ok(selfOf(node, 'span') >= 0 && selfOf(node, 'span') <= node.spanMs);
    node.children.forEach((child) => visit(child, path));
  };
  visit(root, '');
  assert.ok(seen > 3, `${seen} nodes with work`);
  assert.ok(Math.abs(totalOf(root, 'span') - totalOf(threads, 'span')) < 1e-6);
});
