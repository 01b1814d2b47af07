import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logHistogram } from '../../../templates/viewer/src/log-histogram.js';
import { gpuFacts, groupGpus, splitOfRange } from '../../../templates/viewer/src/timeline/range-parts.js';
import { busyNs, rangeStats } from '../../../templates/viewer/src/timeline/stats.js';
import { planModel } from '../lib/plan-model.mjs';

const { model, plan } = planModel();

/** Sorted end points of [start, end) pairs, the plain way. */
function unionLength(pairs) {
  let sum = 0;
  let until = -Infinity;
  for (const [a, b] of [...pairs].sort((x, y) => x[0] - y[0])) {
    sum += Math.max(0, b - Math.max(a, until));
    until = Math.max(until, b);
  }
  return sum;
}

/** @param {number} gpu */
const inside = (gpu, from, to) =>
  plan.lanes
    .filter((lane) => lane.gpu === gpu)
    .flatMap((lane) => lane.events)
    .map((event) => [Math.max(from, event.start), Math.min(to, event.start + event.duration)])
    .filter(([a, b]) => b > a);

test('ranges equal a recount from the plan', () => {
  const span = model.endNs - model.startNs;
  for (const [a, b] of [[0, 1], [0.1, 0.35], [0.5, 0.501], [0.9, 1.2]]) {
    const [from, to] = [Math.round(span * a), Math.round(span * b)];
    const stats = rangeStats(model, from, to);
    for (const { gpu, busyNs: busy } of stats.gpus) assert.equal(busy, unionLength(inside(gpu, from, to)));
    const kernels = plan.lanes.filter((lane) => lane.kind === 'kernel').flatMap((lane) => lane.events);
    const expected = new Map();
    for (const event of kernels) {
      const ns = Math.min(to, event.start + event.duration) - Math.max(from, event.start);
      if (ns > 0) expected.set(event.name, (expected.get(event.name) ?? 0) + ns);
    }
    for (const { name, ns } of stats.kernels) assert.equal(ns, expected.get(name) ?? 0);
    assert.equal(stats.kernels.filter(({ ns }) => ns > 0).length, expected.size);
  }
});

test('neighboring ranges add up', () => {
  const middle = Math.round((model.startNs + model.endNs) / 2);
  const whole = rangeStats(model, model.startNs, model.endNs);
  const parts = [rangeStats(model, model.startNs, middle), rangeStats(model, middle, model.endNs)];
  assert.equal(parts[0].kernelNs + parts[1].kernelNs, whole.kernelNs);
  assert.equal(parts[0].launches + parts[1].launches, whole.launches);
  for (const [index, gpu] of whole.gpus.entries())
    assert.equal(parts[0].gpus[index].busyNs + parts[1].gpus[index].busyNs, gpu.busyNs);
});

test('overlapping lanes are busy once', () => {
  const lanes = model.lanes.filter((lane) => model.isGpuLane(lane) && lane.gpu === 0);
  assert.equal(busyNs(model, lanes, 0, 3e6), unionLength(inside(0, 0, 3e6)));
});

test('a histogram counts every value once', () => {
  for (const values of [[5], [1, 1, 1], [0, 3, 7, 100, 1e9]]) {
    const { counts, binOf } = logHistogram(values, 16);
    assert.equal(counts.reduce((sum, count) => sum + count, 0), values.length);
    for (const value of values) assert.ok(counts[binOf(value)] > 0);
  }
});

/** A view of GPUs that compute so many of 100 ns each and communicate otherwise. */
function viewOf(compute) {
  const lanes = [];
  const gpus = compute.map((_, gpu) => ({ gpu, busyNs: 100, kernels: 2, copies: 0, copiedBytes: 0 }));
  const utilization = (data) => ({ isExact: true, between: () => [compute[data.device_id], 100 - compute[data.device_id], 0, 0] });
  const view = { model: { lanes, timeline: { utilization: compute.map((_, id) => ({ device_id: id })) } }, painter: { utilization } };
  return [view, { from: 0, to: 100, gpus, lanes }];
}

test('of many GPUs a range names those that stand out, and the others together', () => {
  const [view, stats] = viewOf(Array.from({ length: 72 }, (_, gpu) => (gpu === 41 ? 90 : gpu % 2 ? 60 : 62)));
  const groups = groupGpus([{ view, stats }]);
  assert.deepEqual(groups.map(({ label }) => label), ['GPU 41', 'GPU 1', 'GPU 3', 'GPU 5', '68 other GPUs']);
  assert.deepEqual(gpuFacts(stats, groups).at(-1), ['68 other GPUs', 'busy 100.0 %, 136 kernels, 0 copies']);
  const [{ entries }] = splitOfRange(view, stats, groups);
  assert.equal(entries.length, 20);
  assert.equal(entries[0].ns, 90);
  const others = entries.find(({ label }) => label === 'Compute, 68 other GPUs, mean').ns;
  assert.equal(Math.round(others * 68), 36 * 62 + 32 * 60);
});

test('few GPUs come one by one', () => {
  const [view, stats] = viewOf([10, 20]);
  assert.deepEqual(groupGpus([{ view, stats }]), [{ label: 'GPU 0', gpus: [0] }, { label: 'GPU 1', gpus: [1] }]);
  assert.deepEqual(splitOfRange(view, stats, groupGpus([{ view, stats }]))[0].entries.map(({ ns }) => ns), [10, 90, 0, 0, 20, 80, 0, 0]);
});

test('of two timelines each GPU that one of them has comes once', () => {
  const held = [[10, 20], [30, 40, 50]].map((compute) => viewOf(compute)).map(([view, stats]) => ({ view, stats }));
  const groups = groupGpus(held);
  assert.deepEqual(groups.map(({ label }) => label), ['GPU 0', 'GPU 1', 'GPU 2']);
  assert.deepEqual(held.map(({ view, stats }) => [gpuFacts(stats, groups).length, splitOfRange(view, stats, groups)[0].entries.length]), [[2, 8], [3, 12]]);
});
