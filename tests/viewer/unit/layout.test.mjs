import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byStanding, stripLanes } from '../../../templates/viewer/src/gpu-summary.js';
import { gpuLabels } from '../../../templates/viewer/src/model.js';
import { Layout } from '../../../templates/viewer/src/timeline/layout.js';
import { Raster } from '../../../templates/viewer/src/timeline/raster.js';
import { Viewport } from '../../../templates/viewer/src/timeline/viewport.js';
import { planModel } from '../lib/plan-model.mjs';

const { model } = planModel();
const layout = new Layout(model);

test('every event has one place, and no two of a row overlap', () => {
  const seen = new Set();
  for (const track of layout.tracks) {
    for (const row of track.rows ?? []) {
      let until = -Infinity;
      for (let position = 0; position < row.count; position++) {
        const event = row.event(position);
        assert.ok(!seen.has(event));
        seen.add(event);
        if (!row.overlaps) assert.ok(model.events.start[event] >= until);
        until = Math.max(until, model.end(event));
      }
    }
  }
  assert.equal(seen.size, model.count);
});

test('tracks follow each other without holes', () => {
  let top = 0;
  for (const track of layout.visible) {
    assert.equal(track.top, top);
    top += track.height;
  }
});

test('folds survive the way through a link', () => {
  const other = new Layout(model);
  const groups = other.tracks.filter((track) => ['gpu', 'process', 'thread'].includes(track.type));
  for (const group of groups.slice(0, 2)) other.toggle(group.key);
  const again = new Layout(model);
  again.arrangement.restore(other.arrangement.state());
  assert.deepEqual([...again.collapsed].sort(), [...other.collapsed].sort());
  again.arrangement.restore({ x: 'nonsense!g0!' });
  again.place();
  assert.ok(again.visible.length > 0);
});

test('what a row draws covers what its events cover, at any zoom', () => {
  const raster = new Raster();
  const width = 700;
  const track = layout.tracks.find((candidate) => candidate.lane?.kind === 'kernel');
  const row = track.rows[0];
  const span = model.endNs - model.startNs;
  for (const [from, to] of [
    [model.startNs, model.endNs],
    [model.startNs + span * 0.2, model.startNs + span * 0.7],
    [model.startNs + span * 0.4, model.startNs + span * 0.41],
  ]) {
    raster.fill(row, from, to, width);
    const scale = width / (to - from);
    let drawn = raster.coverage.reduce((sum, value) => sum + value, 0);
    for (let i = 0; i < raster.rects.length; i += 3)
      drawn += Math.min(width, raster.rects[i + 2]) - Math.max(0, raster.rects[i + 1]);
    let expected = 0;
    for (let position = 0; position < row.count; position++) {
      const event = row.event(position);
      const [a, b] = [Math.max(from, model.events.start[event]), Math.min(to, model.end(event))];
      expected += Math.max(0, b - a) * scale;
    }
    assert.ok(Math.abs(drawn - expected) <= 0.01 * expected + 2, `${drawn} px for ${expected} px`);
  }
});

test('zooming keeps the time under the pointer, and undoing it restores the window', () => {
  const viewport = new Viewport(model);
  viewport.set(1e6, 5e6);
  const time = viewport.time(175, 700);
  viewport.zoom(0.25, 0.25);
  assert.ok(Math.abs(viewport.time(175, 700) - time) < 1);
  viewport.zoom(4, 0.25);
  assert.ok(Math.abs(viewport.from - 1e6) < 1 && Math.abs(viewport.to - 5e6) < 1);
  viewport.set(-1e18, 1e18);
  assert.ok(viewport.from < model.startNs && viewport.to > model.endNs && Number.isFinite(viewport.span));
});

test('what is made from every launch is made when it is shown: of a large page when its group is opened', () => {
  for (const large of [false, true]) {
    const { model: other } = planModel();
    const columns = (names) => names.split(' ').map((name) => ({ name }));
    other.report.tables.launch_breakdown = { columns: columns('device_id launch_count'), rows: [[0, 5]] };
    other.report.tables.nvtx_projection = { columns: columns('device_id instances_with_work'), rows: [[0, 3]] };
    if (large) other.count = 200_000;
    const layout = new Layout(other);
    const made = () => layout.tracks.filter((track) => track.projection || track.chart?.kind === 'queue').map((track) => track.key);
    assert.deepEqual(made(), large ? [] : ['g0q', 'g0l', 'g0np']);
    assert.equal(layout.projected === null, large);
    assert.ok(layout.tracks.every((track) => track.gpu !== 1 || track.type !== 'projection'), 'nothing for a GPU without a row');
    if (!large) continue;
    other.count = planModel().model.count;
    layout.toggle('g0L');
    assert.deepEqual(made(), ['g0q', 'g0l']);
  }
});

test('several GPUs of one kind are told apart by their numbers alone', () => {
  const labels = (...texts) => [...gpuLabels(texts.map((label, id) => ({ id, label }))).values()];
  assert.deepEqual(labels('GPU 0 NVIDIA H100', 'GPU 1 NVIDIA H100'), ['GPU 0', 'GPU 1']);
  for (const texts of [['GPU 0 NVIDIA H100'], ['GPU 0 NVIDIA H100', 'GPU 1 NVIDIA A30'], ['GPU 0 NVIDIA H100', 'GPU 1'], ['GPU 0', 'GPU 1']]) assert.deepEqual(labels(...texts), texts);
});

test('of many GPUs the strip shows the ones that stand out, then groups that add up', () => {
  const one = (id, busy) => ({ device_id: id, bin_ns: 10, start_ns: 0, compute_ns: [busy, busy], exposed_comm_ns: [0, 0], exposed_copy_ns: [0, 0], idle_ns: [10 - busy, 10 - busy] });
  const many = Array.from({ length: 72 }, (_, id) => one(id, id === 41 ? 1 : 8));
  const lanes = stripLanes(many);
  assert.deepEqual([7, 41, 3].sort(byStanding(many)), [41, 7, 3], 'one order everywhere');
  assert.equal(lanes[0].label, 'GPU 41');
  assert.equal(lanes.length, 8);
  const sum = lanes.reduce((total, { data }) => total + data.compute_ns[0], 0);
  assert.equal(sum, 71 * 8 + 1);
  assert.match(lanes.at(-1).label, /^GPU \d+–71$/u);
  assert.deepEqual(stripLanes(many.slice(0, 3)).map(({ label }) => label), ['GPU 0', 'GPU 1', 'GPU 2']);
  many[70].start_ns = 5;
  assert.equal(stripLanes(many).length, 7, 'what lies on another grid is no sum');
});

test('of many GPUs a process that has one of its own folds with it', () => {
  const other = planModel().model;
  const pids = (gpu) => [...new Set(other.lanes.filter((lane) => other.isGpuLane(lane) && lane.gpu === gpu).map((lane) => lane.pid))];
  const around = () => new Layout(other).tracks.filter((track) => track.type === 'process').map((track) => track.parents);
  assert.ok(around().every((parents) => parents.length === 0), 'of a few it stands behind it');
  for (let id = 90; other.timeline.gpus.length < 5; id++) other.timeline.gpus.push({ ...other.timeline.gpus[0], id });
  const own = other.timeline.gpus.filter(({ id }) => pids(id).length === 1 && other.timeline.gpus.filter((gpu) => pids(gpu.id).includes(pids(id)[0])).length === 1);
  assert.ok(own.length > 0);
  assert.deepEqual(around().filter((parents) => parents.length > 0).map(([key]) => key).sort(), own.map(({ id }) => `g${id}`).sort());
  const folded = new Layout(other);
  assert.ok(folded.visible.every((track) => track.parents.length === 0), 'closed groups show nothing of it');
});
