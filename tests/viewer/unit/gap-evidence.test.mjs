import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layersFromEvents, layersFromTable, subjectOf } from '../../../templates/viewer/src/timeline/gap-evidence.js';
import { activeStretches } from '../../../templates/viewer/src/timeline/activity-bar.js';

const columns = (names) => names.split(' ').map((name) => ({ name }));
const tables = {
  gap_activity: { columns: columns('scope device_id start_ns'), rows: [['pattern', 0, 500], ['gap', 0, 900], ['gap', 0, 500]] },
  gap_functions: {
    columns: columns('subject layer class function caller time_ms pct count'),
    rows: [
      [1, 'cuda_api', null, 'other', null, 9, 90, 1],
      [2, 'cuda_api', null, 'cudaLaunchKernel', null, 0.2, 20, 2],
      [2, 'cuda_api', 'rest', null, null, 0.8, 80, null],
      [2, 'os_runtime', 'io', 'read', 'main', 0.5, 50, 1],
      [2, 'os_runtime', 'io', 'fopen', 'main', 0.6, 60, 1],
      [2, 'scheduling', 'off_cpu', null, null, 1, 100, null],
    ],
  },
};
const report = { table: (name) => tables[name] ?? null, lanes: [{ kind: 'overhead', pid: 1, tid: 2 }, { kind: 'sample', pid: 1, tid: 3 }] };

test('a gap finds its own row, not that of a pattern', () => {
  assert.deepEqual([subjectOf(report, 0, 500), subjectOf(report, 1, 500), subjectOf({ table: () => null }, 0, 500)], [2, -1, -1]);
});

test('layers of the table: longest first, callers named, the rest left out, missing ones told', () => {
  const layers = layersFromTable(report, 2, 1, 2);
  assert.deepEqual(layers.map(({ recorded }) => recorded), [true, true, true, true, false], 'none in the gap is not none at all');
  assert.deepEqual(layers[1].rows, []);
  assert.deepEqual(layers[0].rows, [{ name: 'cudaLaunchKernel', note: '', ns: 200000, count: 2 }]);
  assert.deepEqual(layers[2].rows.map(({ name, note }) => [name, note]), [['fopen', 'called by main'], ['read', 'called by main']]);
  assert.equal(layers[3].rows[0].name, 'off the CPU');
  assert.deepEqual(layersFromTable(report, -1, 1, 2), []);
});

test('of other gaps the page adds up its own events', () => {
  const events = { start: [0, 40, 90, 45], name: [0, 1, 0, 2], count: [1, 1, 1, 1] };
  const ends = [30, 60, 120, 45];
  const model = {
    complete: () => true,
    timeline: { host_bucket_ns: 0 },
    names: ['a', 'b', 'f'],
    shortNames: ['', 'B', 'f'],
    events,
    end: (i) => ends[i],
    lanes: [
      { kind: 'api', pid: 1, tid: 2, first: 0, count: 3 },
      { kind: 'sample', pid: 1, tid: 2, first: 3, count: 1 },
      { kind: 'osrt', pid: 1, tid: 3, first: 0, count: 3 },
    ],
  };
  const layers = layersFromEvents(model, 1, 2, 20, 100);
  assert.deepEqual(layers[0].rows, [{ name: 'a', note: '', ns: 20, count: 2 }, { name: 'B', note: '', ns: 20, count: 1 }]);
  assert.deepEqual(layers[4].rows, [{ name: 'f', note: '', ns: null, count: 1 }]);
  assert.equal(layers[2].recorded, false, 'another thread is another thread');
  assert.deepEqual(layersFromEvents({ ...model, complete: () => false }, 1, 2, 20, 100), [], 'nothing where events are missing');
});

test('stretches of work of all GPUs together', () => {
  const spans = { columns: columns('device_id kind start_ns end_ns'), rows: [[0, 'active', 50, 60], [0, 'pause', 10, 50], [1, 'active', 5, 20], [0, 'active', 0, 10]] };
  assert.deepEqual(activeStretches({ table: () => spans, clock: { relative: (ns) => ns } }), [[0, 20], [50, 60]]);
});
