// What evidence without a time selects; what GPU time is a share of.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gpuTime } from '../../../templates/viewer/src/highlights.js';
import { canPlace, showEvidence } from '../../../templates/viewer/src/timeline/show-evidence.js';
import { Search } from '../../../templates/viewer/src/search.js';
import { planModel } from '../lib/plan-model.mjs';

test('a name that a kernel and a range have selects what its row is about', () => {
  const { model } = planModel();
  const first = (kind) => model.lanes.find((lane) => lane.kind === kind).first;
  const [kernel, range] = [first('kernel'), first('nvtx')];
  const name = model.nameOf(kernel);
  model.events.name[range] = model.events.name[kernel];
  model.events.duration[range] = 1e12; // longer than any kernel
  const selected = (table, role) => {
    model.report.tables[table] = { title: '', description: '', columns: [{ name: 'n', role }], rows: [[name]] };
    let found = -1;
    showEvidence({ model, setSearchText() {}, fit() {}, selectEvent: (event) => { found = event; } }, { text: '', table, row: 0, name });
    return model.laneOf(found).kind;
  };
  assert.equal(selected('a', 'kernel_name'), 'kernel');
  assert.equal(selected('b', 'range_name'), 'nvtx');
});

test('a time is that of its span, not of an event of the name that begins with it and ends later or earlier', () => {
  const { model } = planModel();
  const event = model.lanes.find(({ kind }) => kind === 'nvtx').first;
  const [start, end] = [model.events.start[event], model.end(event)];
  const shown = (/** @type {number} */ to, /** @type {number[][]} */ spans = []) => {
    let found;
    const track = { spans: { start: spans.map(([from]) => from), end: spans.map(([, until]) => until), from: spans.map(() => 0) }, gpu: 0 };
    const view = { model, setSearchText() {}, layout: { tracks: [track] }, selectEvent: (selected) => { found = selected; }, showRange: (...range) => { found = range; } };
    showEvidence(view, { text: '', name: model.nameOf(event), device_id: 0, pid: model.laneOf(event).pid, start_ns: start + Number(model.timeline.origin_ns), end_ns: to + Number(model.timeline.origin_ns) });
    return found;
  };
  assert.equal(shown(end), event);
  assert.equal(shown(end - 5), event, 'a wait is the first part of its event');
  assert.deepEqual(shown(end + 5), [start, end + 5], 'it goes on');
  assert.equal(shown(end, [[start, end]]), event);
  assert.deepEqual(shown(end - 5, [[start, end - 5]]), [start, end - 5], 'a collective of the same name');
});

test('a range whose numbers are left out leads to what all of them launched', () => {
  const { model } = planModel();
  const range = model.lanes.find(({ kind }) => kind === 'nvtx').first;
  const id = model.events.name[range];
  model.names[id] = 'pass 17 of 20';
  model.report.tables.range_losses = { title: '', description: '', columns: [{ name: 'loss', role: 'name', key: true }, { name: 'range_name', role: 'range_name', key: true }], rows: [['host_code', 'pass # of #'], ['host_code', 'other #']] };
  const search = new Search(model);
  const view = { model, search, setSearchText: (text) => search.set(text, false, false), fit() {}, selectEvent() {} };
  const evidence = (/** @type {number} */ row) => ({ text: '', table: 'range_losses', row, name: 'host_code', device_id: 0 });
  assert.deepEqual([canPlace(model, evidence(0)), canPlace(model, evidence(1))], [true, false]);
  showEvidence(view, evidence(0));
  const events = search.events;
  search.set('path:pass 17 of 20', false, false);
  assert.equal(events, search.events);
  assert.ok(events > 0);
});

test('what lies before or after all that the page has leads to its table', () => {
  const { model } = planModel();
  const place = (/** @type {number} */ from, /** @type {number | null} */ to) => {
    const [start_ns, end_ns] = [from, to].map((time) => time === null ? null : time + Number(model.timeline.origin_ns));
    return canPlace(model, { text: '', table: 'capture_health', row: 0, start_ns, end_ns });
  };
  assert.deepEqual([place(-50, 0), place(model.endNs, model.endNs + 50), place(-1, null)], [false, false, false]);
  assert.deepEqual([place(-50, 1), place(0, null), place(model.endNs - 1, model.endNs + 50)], [true, true, true]);
});

test('"and 5 more like it in table kernels" leads to that table', () => {
  const { model } = planModel();
  const name = model.nameOf(model.lanes.find(({ kind }) => kind === 'kernel').first);
  model.report.tables.kernels = { title: '', description: '', columns: [{ name: 'kernel_name', role: 'kernel_name', key: true }], rows: [[name]] };
  const more = { text: 'and 5 more like it in table kernels', table: 'kernels', row: 0, start_ns: null, name: null, device_id: null, pid: null };
  assert.deepEqual([canPlace(model, more), canPlace(model, { ...more, name })], [false, true]);
});

test('GPU time is of kernels, copies and graphs traced as a whole', () => {
  const tables = {
    launch_rates: { columns: [{ name: 'scope' }, { name: 'kernel_time_ms' }], rows: [['gpu', 3], ['all', 5]] },
    memory_transfers: { columns: [{ name: 'total_time_ms' }], rows: [[1], [2]] },
    gpu_utilization: { columns: [{ name: 'graph_envelope_ns' }], rows: [[4e6], [null]] },
  };
  const app = { model: { table: (name) => tables[name] ?? null } };
  assert.equal(gpuTime(app), 12);
  delete tables.memory_transfers;
  assert.equal(gpuTime(app), 9);
});
