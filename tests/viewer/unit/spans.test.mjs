import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeSteps } from '../../../templates/viewer/src/step-strip.js';
import { activeShares, summariseGpus } from '../../../templates/viewer/src/gpu-summary.js';
import { stepLabel } from '../../../templates/viewer/src/timeline/spans.js';
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
  assert.equal(describeSteps(spans).text, '3 steps, median 100 ns of 2 steady ones, 1 outlier');
});

test('a collective waits first, then transfers; an unmatched one claims neither', () => {
  const { spans } = layout.tracks.find((track) => track.key === 'g1c');
  assert.deepEqual([spans.from[0], spans.to[0]], [6000, 8000]);
  assert.equal(spans.from[1], spans.to[1]);
  assert.deepEqual(spans.tone, ['plain', 'pale']);
});

test('a gap that is a pause has the cause of the pause, any other its own', () => {
  const { model: paused } = planModel();
  const rows = paused.report.tables.gpu_idle_gaps.rows;
  const cell = (row, name) => row[paused.report.tables.gpu_idle_gaps.columns.findIndex((column) => column.name === name)];
  const [device, start, end] = ['device_id', 'gap_start_ns', 'gap_end_ns'].map((name) => cell(rows[0], name));
  paused.report.tables.active_spans = {
    title: 'Activity',
    columns: columns('device_id start_ns end_ns kind cause what cause_ms'),
    rows: [
      [device, start - 10, start, 'active', null, null, null],
      [device, start, end, 'pause', 'input_wait', 'getc', 1],
    ],
  };
  const { gaps } = new Layout(paused).tracks.find((track) => track.gaps && track.gpu === device);
  for (const [index, row] of gaps.row.entries()) {
    assert.equal(gaps.cause[index], row === 0 ? 'input_wait' : cell(rows[row], 'cause'));
    assert.equal(gaps.pause[index], row === 0 ? 1 : -1);
  }
});

test('a step whose range ends in its number does not say it twice', () => {
  assert.equal(stepLabel('step 7', 7), 'step 7');
  assert.equal(stepLabel('iteration #8', 7), 'iteration #8');
  assert.equal(stepLabel('step', 7), 'step 7');
  assert.equal(stepLabel('forward_2', 7), 'forward_2 7');
});

test('only a GPU that pauses has shares of its active time', () => {
  const table = {
    columns: columns('device_id window_ns active_ns compute_ns exposed_comm_ns exposed_copy_ns idle_ns'),
    rows: [
      [0, 1000, 1000, 400, 0, 100, 500],
      [1, 1000, 300, 200, 50, 10, 40],
    ],
  };
  assert.equal(activeShares(table, 0), null);
  assert.deepEqual(activeShares(table, 1), { totals: [200, 50, 10, 40], active: 300, window: 1000 });
  assert.equal(activeShares(table, 2), null);
  assert.equal(activeShares(null, 1), null);
  const bins = (id) => ({ device_id: id, compute_ns: [400], exposed_comm_ns: [0], exposed_copy_ns: [100], idle_ns: [500] });
  assert.deepEqual(summariseGpus([bins(0), bins(1)], table).gpus.map(({ data, window }) => [data.device_id, window]).sort(), [[0, 1000], [1, 300]], 'the same base as the verdict');
});
