import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTree, selfOf, sortedChildren, totalOf } from '../../../templates/viewer/src/nvtx/tree.js';
import { planModel } from '../lib/plan-model.mjs';

const { model } = planModel();
const table = model.table('nvtx_tree');

test('merged or by thread, the tree holds the same time', () => {
  const [merged, threads] = [true, false].map((flag) => buildTree(model, table, flag));
  for (const metric of ['wall', 'gpu', 'span']) assert.ok(Math.abs(totalOf(merged, metric) - totalOf(threads, metric)) < 1e-6);
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
      assert.ok(selfOf(child, 'span') >= 0 && selfOf(child, 'span') <= child.spanMs);
    });
    pending.push(...children);
  }
});
