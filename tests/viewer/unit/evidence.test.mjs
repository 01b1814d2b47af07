// What evidence without a time selects; what GPU time is a share of.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gpuTime } from '../../../templates/viewer/src/highlights.js';
import { showEvidence } from '../../../templates/viewer/src/timeline/show-evidence.js';
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
