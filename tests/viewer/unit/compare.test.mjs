import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differenceFirst } from '../../../templates/viewer/src/compare/columns.js';
import { buildDifferences, buildRanges, changeOf, deltaOf } from '../../../templates/viewer/src/compare/differences.js';
import { arrange, colorOf } from '../../../templates/viewer/src/compare/flame.js';
import { nearestOf, sumsOf } from '../../../templates/viewer/src/compare/same-name.js';
import { commonRanges, rangePlaces } from '../../../templates/viewer/src/compare/align.js';
import { direction, relative, signed } from '../../../templates/viewer/src/compare/words.js';
import { planModel } from '../lib/plan-model.mjs';

const { model } = planModel();

function table(names, rows) {
  return { title: 't', columns: names.map((name) => ({ name, type: 'text', unit: 'text', role: 'label' })), rows };
}

const time = table(
  ['part', 'parent', 'title', 'base_time_ms', 'new_time_ms'],
  [
    ['whole', '', 'step', 10, 12],
    ['compute', 'whole', 'compute', 8, 8.5],
    ['compute.gemm', 'compute', 'gemm', 6, 6.4],
    ['compute.other', 'compute', 'other', 2, 2.1],
    ['idle', 'whole', 'idle', 2, 3.5],
    ['idle.host_code', 'idle', 'host_code', 2, 3.5],
  ],
);
const kernels = table(
  ['kernel', 'category', 'nvtx_path', 'state', 'change', 'base_time_ms', 'new_time_ms'],
  [
    ['a', 'gemm', 'p', 'matched', 'slower calls', 4, 4.4],
    ['b', 'gemm', '', 'only_base', '', 1.5, null],
    ['c', 'gemm', '', 'only_new', '', null, 2],
  ],
);

function everyPart(part, body) {
  body(part);
  part.children.forEach((child) => everyPart(child, body));
}

test('the parts of a part add up to it, whatever the page lacks', () => {
  const root = buildDifferences(time, kernels, (text) => text);
  let opened = 0;
  everyPart(root, (part) => {
    if (part.children.length === 0) return;
    opened++;
    for (const side of ['base', 'fresh']) {
      const sum = part.children.reduce((total, child) => total + (child[side] ?? 0), 0);
      assert.ok(Math.abs(sum - part[side]) < 1e-9, `${part.key} ${side}: ${sum}`);
    }
  });
  assert.equal(opened, 4);
  assert.deepEqual(root.children.map((part) => part.key), ['idle', 'compute']);
  assert.equal(root.children[0].children[0].note, 'host_code');
});

test('what is on one side only has no other number, and says so', () => {
  const gemm = buildDifferences(time, kernels, (text) => text).children[1].children[0];
  const words = Object.fromEntries(gemm.children.map((part) => [part.title, [direction(part), relative(part)]]));
  assert.deepEqual(words.b, ['gone', '']);
  assert.deepEqual(words.c, ['new', '']);
  assert.deepEqual(words.a, ['longer', '+10.0 %']);
  assert.equal(words['kernels that are not on this page'][0], 'shorter'); // 6 - 5.5 and 6.4 - 6.4
  assert.equal(signed(0.4), '+400.0 µs');
  assert.equal(signed(-0.4), '−400.0 µs');
  assert.equal(signed(0), '±0');
});

const tree = table(
  ['node_id', 'parent_id', 'range_name', 'state', 'base_time_ms', 'new_time_ms', 'base_kernel_time_ms', 'new_kernel_time_ms'],
  [
    [0, -1, 'step', 'both', 10, 12, 8, 8],
    [1, 0, 'forward', 'both', 4, 4, 5, 5],
    [2, 0, 'backward', 'both', 5, 7, 3, 3],
    [3, 0, 'sync', 'only_new', null, 1, null, 0],
    [4, -1, 'save', 'only_base', 2, null, 0, null],
  ],
);

test('ranges of both sides, for either kind of time', () => {
  const wall = buildRanges(tree, 'wall');
  assert.deepEqual([wall.base, wall.fresh], [12, 12]);
  assert.deepEqual(wall.children.map((part) => part.title), ['step', 'save']);
  assert.deepEqual(wall.children[0].children.map((part) => part.title), ['backward', 'sync', 'forward']);
  assert.deepEqual(buildRanges(tree, 'gpu').children.map((part) => part.title), ['step']);
});

test('flame graph: children lie inside their parent, what is gone keeps its place', () => {
  const root = buildRanges(tree, 'wall');
  const boxes = arrange(root, 1000);
  assert.equal(boxes.length, 6);
  const of = (title) => boxes.find((box) => box.part.title === title);
  for (const box of boxes)
    for (const child of box.part.children.map((part) => of(part.title)))
      assert.ok(child.top > box.top && child.left >= box.left && child.left + child.width <= box.left + box.width + 1e-9);
  assert.ok(Math.abs(of('save').width / of('step').width - 2 / 12) < 1e-9);
  assert.equal(changeOf(of('save').part, root), -1);
  assert.equal(changeOf(of('sync').part, root), 1);
  assert.equal(changeOf(of('forward').part, root), 0);
  assert.equal(changeOf({ base: 10, fresh: 10.01, children: [] }, root), 0, 'lost in the whole');
  assert.equal(deltaOf(of('backward').part), 2);
});

test('flame graph: every colour carries white letters', () => {
  for (let change = -1; change <= 1; change += 0.05) {
    const parts = colorOf(change).match(/\d+/gu).map((text) => Number(text) / 255);
    const [r, g, b] = parts.map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    assert.ok(1.05 / (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05) >= 4.5, `contrast at ${change}`);
  }
});

test('events of a name in a stretch of time', () => {
  const kernel = model.lanes.find((lane) => lane.kind === 'kernel');
  const name = model.nameOf(kernel.first);
  const all = [];
  for (let i = 0; i < model.count; i++) if (model.nameOf(i) === name) all.push(i);
  const from = model.events.start[all[1]];
  const to = model.events.start[all[all.length - 1]];
  const inside = all.filter((i) => model.events.start[i] >= from && model.events.start[i] < to).map((i) => model.events.duration[i]);
  const sums = sumsOf(model, name, from, to);
  assert.equal(sums.count, inside.length);
  assert.equal(sums.total, inside.reduce((total, value) => total + value, 0));
  inside.sort((a, b) => a - b);
  assert.equal(sums.median, (inside[(inside.length - 1) >> 1] + inside[inside.length >> 1]) / 2);
  assert.equal(nearestOf(model, name, from), all.find((i) => model.events.start[i] === from));
  assert.equal(nearestOf(model, 'no such name', 0), -1);
  assert.ok(Number.isNaN(sumsOf(model, 'no such name', 0, 1e12).median));
});

test('instances of a range come by time', () => {
  const [range] = commonRanges(model, model);
  const places = rangePlaces(model, range);
  assert.ok(places.length > 1);
  places.forEach((place, index) => index > 0 && assert.ok(place.start >= places[index - 1].start));
  assert.equal(places[0].label, `1 of ${places.length}`);
});

test('columns: name and difference first, nothing lost', () => {
  const changed = table(['category', 'base_time_ms', 'kernel', 'delta_ms'], [['gemm', 1, 'k', 2]]);
  for (const column of changed.columns) if (column.name.endsWith('_ms')) column.type = 'float';
  changed.columns[2].role = 'kernel_name';
  differenceFirst(changed);
  assert.deepEqual(changed.columns.map((column) => column.name), ['kernel', 'delta_ms', 'base_time_ms', 'category']);
  assert.deepEqual(changed.rows, [['k', 2, 1, 'gemm']]);
});
