import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactUtilization } from '../../../templates/viewer/src/timeline/exact-utilization.js';
import { UtilizationSums } from '../../../templates/viewer/src/timeline/utilization.js';
import { planModel } from '../lib/plan-model.mjs';

/** A model of one GPU; work: [kind, start, end], kind k kernel, c communication, m copy. */
function modelOf(work) {
  const sorted = { k: [], c: [], m: [] };
  for (const [kind, start, end] of work) sorted[kind].push([start, end]);
  const kernels = [...sorted.k.map((one) => [0, ...one]), ...sorted.c.map((one) => [1, ...one])].sort((a, b) => a[1] - b[1]);
  const all = [...kernels, ...sorted.m.map((one) => [2, ...one])];
  return {
    aggregated: false,
    names: ['gemm', 'nccl', 'copy'],
    category: (id) => ['gemm', 'communication', null][id],
    lanes: [
      { kind: 'kernel', gpu: 0, first: 0, count: kernels.length },
      { kind: 'copy', gpu: 0, first: kernels.length, count: sorted.m.length },
    ],
    isGpuLane: () => true,
    events: { start: all.map(([, start]) => start), name: all.map(([id]) => id) },
    end: (i) => all[i][2],
  };
}
const bins = { start: 0, parts: [[], [], [], []] };

test('what hides what: compute over communication over copies, idle only between the first and the last', () => {
  const model = modelOf([['m', 10, 40], ['k', 20, 30], ['c', 25, 50], ['k', 70, 80], ['k', 75, 90]]);
  const sums = exactUtilization(model, 0, bins);
  assert.deepEqual(sums.between(-Infinity, Infinity), [30, 20, 10, 20]);
  assert.deepEqual(sums.between(0, 10), [0, 0, 0, 0]);
  assert.deepEqual(sums.between(22, 35), [8, 5, 0, 0]);
  assert.deepEqual(sums.between(49, 71), [1, 1, 0, 20]);
  assert.deepEqual(sums.between(85, 1000), [5, 0, 0, 0]);
});

test('operations of no length change nothing', () => {
  const sums = exactUtilization(modelOf([['k', 0, 10], ['k', 15, 15], ['m', 20, 20], ['k', 30, 40]]), 0, bins);
  assert.deepEqual(sums.between(-Infinity, Infinity), [20, 0, 0, 20]);
});

test('a GPU without events, or a page without all of them, keeps its bins', () => {
  assert.equal(exactUtilization(modelOf([]), 0, bins), bins);
  assert.equal(exactUtilization({ ...modelOf([['k', 0, 1]]), aggregated: true }, 0, bins), bins);
});

test('bins of the report and events say the same of every bin', () => {
  const { model } = planModel();
  for (const data of model.timeline.utilization) {
    const sums = new UtilizationSums(data);
    const exact = exactUtilization(model, data.device_id, sums);
    assert.notEqual(exact, sums);
    for (let bin = 0; bin < data.compute_ns.length; bin++) {
      const [from, to] = [data.start_ns + bin * data.bin_ns, data.start_ns + (bin + 1) * data.bin_ns];
      exact.between(from, to).forEach((value, part) => assert.ok(Math.abs(value - sums.between(from, to)[part]) < 1e-3, `bin ${bin} part ${part}`));
    }
  }
});
