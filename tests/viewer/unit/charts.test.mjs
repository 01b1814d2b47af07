import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chartColumns, memoryCharts, metricCharts, pointAt } from '../../../templates/viewer/src/timeline/charts.js';
import { meanDuring } from '../../../templates/viewer/src/metric-strip.js';
import { Layout } from '../../../templates/viewer/src/timeline/layout.js';
import { ORIGIN } from '../lib/synthetic.mjs';
import { planModel } from '../lib/plan-model.mjs';

const { model } = planModel();
const at = (ns) => Number(ORIGIN) + ns;
const table = (names, rows) => ({ title: 'T', columns: names.split(' ').map((name) => ({ name, type: 'int', unit: 'count', role: 'metric' })), rows });
const pid = model.timeline.processes[0].pid;

test('without the tables there is no chart', () => {
  assert.deepEqual([memoryCharts(model), metricCharts(model)], [[], []]);
  assert.ok(!new Layout(model).tracks.some((track) => track.chart || track.label.startsWith('Sampled')));
});

test('memory holds from a point to the next, of each process and kind', () => {
  model.report.tables.memory_timeline = table('pid device_id memory_kind time_ns live_bytes reserved_bytes', [
    [pid, 0, 'Device', at(100), 10, 40],
    [pid, 0, 'Device', at(300), 30, 40],
    [pid, null, 'Pinned', at(50), 7, 7],
  ]);
  const [device, pinned] = memoryCharts(model);
  assert.deepEqual([[...device.start], [...device.end]], [[100, 300], [300, model.endNs]]);
  assert.deepEqual([device.gpu, device.top, device.label, pinned.gpu], [0, 40, 'Device memory', -1]);
  assert.deepEqual([99, 100, 299, 300].map((time) => pointAt(device, time)), [-1, 0, 0, 1]);
  const { tracks } = new Layout(model);
  assert.deepEqual(tracks.filter((track) => track.chart).map((track) => track.parents), [['g0'], [`p${pid}`]]);
});

test('a table that the page has only in part is not drawn', () => {
  model.report.tables.memory_timeline.row_count = 100;
  assert.deepEqual(memoryCharts(model), []);
});

test('counters keep holes between samples, and a percentage its scale', () => {
  model.report.tables.gpu_metric_timeline = table('device_id metric metric_unit start_ns end_ns mean max', [
    [1, 'SMs Active [Throughput %]', '%', at(0), at(10), 20, 50],
    [1, 'SMs Active [Throughput %]', '%', at(30), at(40), 60, 70],
    ...['a', 'b', 'c', 'd'].map((name) => [0, name, 'MHz', at(0), at(10), 1500, 1700]),
    [0, 'e', 'MHz', at(0), at(10), 1500, 1700],
  ]);
  const chart = metricCharts(model).find((one) => one.gpu === 1);
  assert.deepEqual([chart.label, chart.top, chart.format(20)], ['SMs Active', 100, '20 %']);
  assert.equal(pointAt(chart, 20), -1);
  const { value, high } = chartColumns(chart, 0, 40, 4);
  assert.deepEqual([[...value], [...high]], [[20, NaN, NaN, 60], [50, NaN, NaN, 70]]);
  const layout = new Layout(model);
  assert.deepEqual([layout.collapsed.has('g0m'), layout.collapsed.has('g1m')], [true, false], 'many counters start folded');
});

test('a metric while events ran counts by time, and nothing where it was not sampled', () => {
  const chart = { start: Float64Array.of(0, 10, 30), end: Float64Array.of(10, 20, 40), value: Float64Array.of(20, 50, 80) };
  assert.equal(meanDuring(chart, [{ start: 5, end: 15 }]), 35);
  assert.equal(meanDuring(chart, [{ start: 0, end: 10 }, { start: 15, end: 35 }]), (20 * 10 + 50 * 5 + 80 * 5) / 20);
  assert.equal(meanDuring(chart, [{ start: 20, end: 30 }, { start: 40, end: 90 }]), null);
});

test('a pixel that many points share has the largest of them', () => {
  const many = {
    start: Float64Array.from({ length: 100 }, (_, i) => i),
    end: Float64Array.from({ length: 100 }, (_, i) => i + 1),
    value: Float64Array.from({ length: 100 }, (_, i) => (i === 55 ? 9 : 1)),
    high: Float64Array.from({ length: 100 }, () => 10),
  };
  assert.deepEqual([...chartColumns(many, 0, 100, 2).value], [1, 9]);
});
