import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summariseGpus } from '../../../templates/viewer/src/gpu-summary.js';
import { Layout } from '../../../templates/viewer/src/timeline/layout.js';
import { planModel } from '../lib/plan-model.mjs';

const { model } = planModel();

function arranged(change) {
  const layout = new Layout(model);
  change(layout.arrangement, layout);
  layout.place();
  return layout;
}

test('pinned tracks come first, once, and stay where they are when the rest scrolls', () => {
  const layout = arranged((at, { tracks }) => at.togglePin(tracks.at(-1).key));
  const pinned = layout.visible[0];
  assert.equal(pinned, layout.tracks.at(-1));
  assert.equal(layout.visible.filter((track) => track === pinned).length, 1);
  assert.equal(layout.pinnedHeight, pinned.height);
  assert.equal(layout.screenTop(pinned, 500), 0);
  assert.equal(layout.trackAt(1, 500), pinned);
  assert.notEqual(layout.trackAt(pinned.height + 1, 0), pinned);
});

test('a hidden group takes its tracks along; all come back', () => {
  const layout = arranged((at) => at.hidden.add('g0'));
  assert.ok(!layout.visible.some((track) => track.gpu === 0 || track.lane?.gpu === 0));
  layout.arrangement.hidden.clear();
  layout.place();
  assert.equal(layout.visible.length, new Layout(model).visible.length);
});

test('groups move with what is in them', () => {
  const order = (layout) => layout.visible.filter((track) => track.parents.length === 0).map((track) => track.key);
  assert.deepEqual(order(arranged(() => {})), ['g0', 'p144', 'g1', 'p145'], 'a process stands behind its GPU');
  const layout = arranged((at) => {
    at.move('g0', 1);
    at.move('g0', 1);
  });
  const gpus = layout.visible.filter((track) => track.type === 'gpu').map((track) => track.key);
  assert.deepEqual(gpus, ['g1', 'g0']);
  const first = layout.visible.findIndex((track) => track.key === 'g0');
  assert.ok(layout.visible.slice(0, first).every((track) => track.lane?.gpu !== 0));
});

test('a filter keeps the groups around what matches', () => {
  const layout = arranged((at) => (at.filter = 'stream 20'));
  assert.ok(layout.visible.some((track) => track.label === 'Stream 20'));
  assert.ok(layout.visible.every((track) => track.type === 'gpu' || /stream 20/i.test(track.label)));
});

test('all of it survives the way through a link, nonsense changes nothing', () => {
  const layout = arranged((at, { tracks }) => {
    at.togglePin(tracks[1].key);
    at.hidden.add('g1');
    at.move('g0', 1);
    at.filter = 'stream';
  });
  const again = new Layout(model);
  again.arrangement.restore(layout.arrangement.state());
  again.place();
  assert.deepEqual(again.visible.map((track) => track.key), layout.visible.map((track) => track.key));
  again.arrangement.restore({ x: '__proto__', h: '!!', k: 'x!x', o: 'nope', tf: '' });
  again.place();
  assert.equal(again.visible.length, new Layout(model).visible.length);
});

test('a track is brought back from wherever it went', () => {
  const layout = arranged((at) => {
    at.hidden.add('g0');
    at.filter = 'nothing has this label';
  });
  const track = layout.tracks.find((candidate) => candidate.lane?.gpu === 0);
  assert.ok(layout.reveal(track));
  assert.ok(layout.visible.includes(track));
});

test('GPUs are sorted by what differs most between them', () => {
  const gpu = (device_id, compute, comm, copy, idle) => ({
    device_id, bin_ns: 10, start_ns: 0, compute_ns: [compute], exposed_comm_ns: [comm], exposed_copy_ns: [copy], idle_ns: [idle],
  });
  const { gpus, spread, by } = summariseGpus([gpu(0, 80, 5, 0, 15), gpu(1, 40, 45, 0, 15), gpu(2, 78, 2, 0, 20), gpu(3, 0, 0, 0, 0)]);
  assert.equal(by, 1);
  assert.deepEqual(gpus.map(({ data }) => data.device_id), [1, 2, 0]);
  assert.deepEqual(spread[1], { least: 2, median: 5, most: 45 });
});
