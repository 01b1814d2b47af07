import assert from 'node:assert/strict';
import { test } from 'node:test';
import { axisEnd, medianOf, tableSources, typical } from '../../../templates/viewer/src/iterations/instances.js';
import { commonSequence, differenceOf, missingFrom, pairOperations } from '../../../templates/viewer/src/iterations/pairing.js';
import { chosenRows } from '../../../templates/viewer/src/iterations/strip.js';
import { projectRanges, projectionRows } from '../../../templates/viewer/src/projection.js';
import { queueDepth, queueTime } from '../../../templates/viewer/src/timeline/launch-lead.js';
import { planModel } from '../lib/plan-model.mjs';

const { model, plan } = planModel();

/** Length of the longest common sequence, by trying everything. */
function most(a, b) {
  if (a.length === 0 || b.length === 0) return 0;
  if (a[0] === b[0]) return 1 + most(a.slice(1), b.slice(1));
  return Math.max(most(a.slice(1), b), most(a, b.slice(1)));
}

test('two lists are paired along the longest sequence they share', () => {
  let seed = 5;
  const next = (below) => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 60; round++) {
    const [a, b] = [next(9), next(9)].map((length) => Array.from({ length }, () => next(3)));
    const pairs = commonSequence(a, b);
    assert.equal(pairs.length, most(a, b), `${a} and ${b}`);
    pairs.forEach(([i, j], at) => {
      assert.equal(a[i], b[j]);
      if (at > 0) assert.ok(i > pairs[at - 1][0] && j > pairs[at - 1][1]);
    });
  }
});

test('lists too long for that are paired name by name, forwards', () => {
  const a = Array.from({ length: 3000 }, (_, i) => i);
  const b = [9999, ...a.slice(5), 8888];
  const pairs = commonSequence([7777, ...a, 6666], b);
  assert.equal(pairs.length, a.length - 5);
});

test('an instance beside another has every operation of both once, and their differences', () => {
  const kernels = plan.lanes.find((lane) => lane.kind === 'kernel' && lane.gpu === 0).events;
  const half = Math.floor(kernels.length / 2);
  const one = { start: kernels[0].start, end: kernels[half].start };
  const two = { start: kernels[half].start, end: plan.endNs };
  const pairs = pairOperations(model, 0, one, two);
  const inside = ({ start, end }) =>
    plan.lanes.filter((lane) => lane.gpu === 0).reduce((sum, lane) => sum + lane.events.filter((event) => event.start >= start && event.start < end).length, 0);
  assert.equal(pairs.filter(({ a }) => a >= 0).length, inside(one));
  assert.equal(pairs.filter(({ b }) => b >= 0).length, inside(two));
  for (const pair of pairs.filter(({ a, b }) => a >= 0 && b >= 0)) {
    assert.equal(model.nameOf(pair.a), model.nameOf(pair.b));
    assert.equal(differenceOf(model, pair), model.events.duration[pair.a] - model.events.duration[pair.b] + pair.gapA - pair.gapB);
  }
});

test('of many instances outliers are drawn, and some of the others', () => {
  const list = Array.from({ length: 5000 }, (_, i) => ({ outlier: i % 1000 === 7 }));
  const rows = chosenRows(list);
  assert.ok(rows.length <= 300);
  for (let i = 7; i < 5000; i += 1000) assert.ok(rows.includes(i));
  assert.deepEqual(rows, [...rows].sort((a, b) => a - b));
  const known = (one) => list.indexOf(one) >= 2000 && list.indexOf(one) < 2100;
  const preferred = chosenRows(list, known);
  assert.ok(preferred.length <= 300 && list.filter(known).every((one) => preferred.includes(list.indexOf(one))), 'those whose kernels are known');
});

test('an axis ends with the longest, but for what would leave nothing of the others', () => {
  assert.equal(axisEnd([3, 1, 20]), 20);
  assert.equal(axisEnd([]), 1);
  const many = [...Array(270).fill(500), 600, 600000];
  assert.equal(axisEnd(many), 625);
  assert.equal(axisEnd([...Array(200).fill(500), ...Array(72).fill(4000)]), 4000);
});

test('medians are of two the lower one, and leave out what is not whole', () => {
  assert.equal(medianOf([4, 1, 3, 2]), 2);
  const instances = [[0, 10], [10, 40], [40, 60]].map(([start, end], i) => ({ start, end, whole: i > 0 }));
  assert.deepEqual(typical(instances), { median: 20, index: 2, count: 2 });
});

test('a table of units that the events do not bear out shows nothing', () => {
  const { model: other } = planModel();
  const lane = other.lanes.find((one) => one.kind === 'kernel' && one.gpu === 0);
  const names = 'device_id pid context_id stream_id unit kernel_count repetitions median_ms level start_ns end_ns'.split(' ');
  const unit = (median) => ({
    columns: names.map((name) => ({ name })),
    rows: [[0, lane.pid, lane.context, lane.stream, 0, 10, 4, median, 'layer', Number(BigInt(other.timeline.origin_ns)) + other.events.start[lane.first], 0]],
  });
  const at = (i) => other.events.start[lane.first + i * 10];
  const truth = [at(1) - at(0), at(2) - at(1), at(3) - at(2)].sort((a, b) => a - b)[1];
  other.report.tables.repeating_units = unit((truth + 5) / 1e6);
  assert.deepEqual(tableSources(other), []);
  other.report.tables.repeating_units = unit(truth / 1e6);
  const [source] = tableSources(other);
  assert.deepEqual(source.instances.map(({ start }) => start), [0, 1, 2, 3].map(at));
});

test('ranges lie below those around them', () => {
  const rows = projectionRows(projectRanges(model).get(0));
  const rowOf = new Map(rows.flatMap((row, index) => row.map(({ range }) => [range, index])));
  for (const row of rows) for (const { range, parent } of row) if (parent >= 0) assert.ok(rowOf.get(range) > rowOf.get(parent));
});

test('the queue holds what was launched and has not begun', () => {
  const list = [
    { launched: 5, begun: 3, done: 10 },
    { launched: 6, begun: 10, done: 14 },
    { launched: 7, begun: 10, done: 12 },
    { launched: 8, begun: 20, done: 30 },
  ];
  assert.deepEqual(queueDepth(list).map(({ time, value }) => [time, value]), [[3, 0], [6, 1], [7, 2], [8, 3], [10, 1], [20, 0]]);
  assert.deepEqual(queueTime(list).map(({ time, value }) => [time, value]), [[3, 0], [10, 3], [20, 12], [30, 0]]);
});

test('in a pause the CPU is not ahead, whatever the operation before it had waited', () => {
  const list = [
    { launched: 1, begun: 10, done: 30 },
    { launched: 2, begun: 12, done: 20 },
    { launched: 90, begun: 95, done: 96 },
    { launched: 94, begun: 99, done: 100 },
  ];
  assert.deepEqual(queueTime(list).map(({ time, value }) => [time, value]), [[10, 9], [12, 10], [30, 0], [95, 5], [99, 5], [100, 0]]);
});

test('instances with operations in blocks are named', () => {
  const { model: some } = planModel();
  Object.assign(some, { aggregated: true, timeline: { ...some.timeline, detail_windows: [[100, 200]] } });
  const [inside, outside] = [{ start: 100, end: 150 }, { start: 150, end: 201 }];
  assert.equal(missingFrom(some, { A: inside, B: inside }), '');
  assert.equal(missingFrom(some, { A: inside, B: outside }), 'Kernels of B are not on the page');
  assert.equal(missingFrom(some, { A: outside, B: outside }), 'Kernels of A and B are not on the page');
  assert.equal(missingFrom(model, { A: outside }), '', 'a page with every event lacks none');
});
