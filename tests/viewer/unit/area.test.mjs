import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areaOf, lanesIn } from '../../../templates/viewer/src/timeline/area.js';
import { Layout } from '../../../templates/viewer/src/timeline/layout.js';
import { paired } from '../../../templates/viewer/src/timeline/range-panel.js';
import { rangeStats } from '../../../templates/viewer/src/timeline/stats.js';
import { planModel } from '../lib/plan-model.mjs';

const { model } = planModel();
const layout = new Layout(model);

test('a drag over tracks means them, one about a track means time alone', () => {
  const events = layout.visible.filter((track) => track.lane && model.isGpuLane(track.lane));
  const [first, last] = [events[0], events.at(-1)];
  const keys = areaOf(layout, 0, last.top + last.height - 2, first.top + 1);
  assert.ok(keys.includes(first.key) && keys.includes(last.key));
  for (const { key, top } of layout.visible) assert.equal(keys.includes(key), top + layout.tracks.find((track) => track.key === key).height > first.top + 1 && top < last.top + last.height - 2);
  assert.equal(areaOf(layout, 0, first.top + 2, first.top + 12), null);
  assert.equal(areaOf(layout, 0, 0, layout.visible[0].height), null, 'no events there');
});

test('a closed group stands for all of its tracks', () => {
  const other = new Layout(model);
  const key = 'g0';
  const all = other.tracks.filter((track) => track.lane && track.parents.includes(key)).map((track) => track.lane);
  assert.deepEqual(lanesIn(other, [key]), []);
  other.toggle(key);
  assert.deepEqual(lanesIn(other, [key]), all);
  assert.ok(all.length > 0);
});

test('statistics of disjoint tracks add up to those of all', () => {
  const [from, to] = [model.startNs, model.endNs];
  const whole = rangeStats(model, from, to);
  const halves = [0, 1].map((odd) => rangeStats(model, from, to, model.lanes.filter((_, index) => index % 2 === odd)));
  for (const key of ['kernelCount', 'kernelNs', 'apiCalls', 'launches']) assert.equal(halves[0][key] + halves[1][key], whole[key], key);
  assert.ok(halves[0].gpus.every(({ gpu }) => halves[0].lanes.some((lane) => lane.gpu === gpu)));
});

test('two ranges are paired by full name', () => {
  const entry = (label, ns, search) => ({ label, ns, search });
  const pairs = paired([{ entries: [entry('mm', 1, 'mm<1>'), entry('mm', 2, 'mm<2>')] }, { entries: [entry('mm', 5, 'mm<2>'), entry('add', 3)] }]);
  assert.deepEqual(pairs.map(({ a, b }) => [a?.ns ?? null, b?.ns ?? null]), [[1, null], [2, 5], [null, 3]]);
});
