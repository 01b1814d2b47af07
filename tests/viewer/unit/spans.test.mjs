import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeSteps } from '../../../templates/viewer/src/step-strip.js';
import { Layout } from '../../../templates/viewer/src/timeline/layout.js';
import { ORIGIN } from '../lib/synthetic.mjs';
import { planModel } from '../lib/plan-model.mjs';

const { model } = planModel();
const at = (ns) => Number(ORIGIN) + ns;
const columns = (names) => names.split(' ').map((name) => ({ name, type: 'int', unit: 'count', role: 'metric' }));

const before = new Layout(model);

test('without the tables nothing is added', () => assert.ok(!before.tracks.some((track) => track.spans)));

model.report.tables.steps = {
  title: 'Steps',
  columns: columns('device_id step label state gpu_start_ns gpu_end_ns is_outlier'),
  rows: [
    [0, 1, 'step', 'steady', at(200), at(300), 0],
    [0, 0, 'step', 'warm-up', at(0), at(200), 0],
    [0, 2, 'step 2', 'steady', at(300), at(700), 1],
    [0, 3, 'step', 'steady', null, null, 0],
  ],
};
model.report.tables.comm_instances = {
  title: 'Collectives',
  columns: columns('device_id op start_ns end_ns wait_us tail_us'),
  rows: [
    [1, 'AllReduce', at(1000), at(9000), 5, 1],
    [1, 'AllReduce', at(20000), at(29000), null, null],
  ],
};
const layout = new Layout(model);

test('steps stand in order on their GPU, with state and outliers', () => {
  const { spans } = layout.tracks.find((track) => track.key === 'g0s');
  assert.deepEqual([...spans.start], [0, 200, 300]);
  assert.deepEqual(spans.tone, ['pale', 'plain', 'bad']);
  assert.deepEqual([...spans.row], [1, 0, 2]);
  assert.deepEqual(spans.label, ['step 0', 'step 1', 'step 2']);
  assert.equal(describeSteps(spans).text, '3 steps, median 250 ns of 2 steady ones, 1 outlier');
});

test('a collective waits first, then transfers; an unmatched one claims neither', () => {
  const { spans } = layout.tracks.find((track) => track.key === 'g1c');
  assert.deepEqual([spans.from[0], spans.to[0]], [6000, 8000]);
  assert.equal(spans.from[1], spans.to[1]);
});
