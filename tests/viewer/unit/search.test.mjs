import assert from 'node:assert/strict';
import { test } from 'node:test';
import { librariesOf } from '../../../templates/viewer/src/libraries.js';
import { Paths } from '../../../templates/viewer/src/paths.js';
import { BLOCKING, parseSearch, Search } from '../../../templates/viewer/src/search.js';
import { compileFilter } from '../../../templates/viewer/src/tables/filter.js';
import { planModel } from '../lib/plan-model.mjs';

const { model, plan } = planModel();
const events = plan.lanes.flatMap((lane) => lane.events.map((event) => ({ ...event, lane })));

/** Numbers of matching events. */
function found(text, { chosen = [], isPattern = false } = {}) {
  const search = new Search(model);
  search.set(text, isPattern, false, chosen);
  const list = [];
  for (let i = 0; i < model.count; i++) if (search.matches(i)) list.push(i);
  assert.equal(search.events, list.length, 'the count shown');
  return list;
}

const category = (event) => plan.categories[plan.nameCategory[event.name]];

test('a word finds names, categories and libraries', () => {
  const wanted = events.filter((event) => /gemm/i.test(plan.names[event.name]) || category(event) === 'gemm').length;
  assert.equal(found('gemm').length, wanted);
  assert.equal(found('category:gemm').length, events.filter((event) => category(event) === 'gemm').length);
  assert.ok(found('library:flash').length > 0);
  assert.equal(found('name:no such thing').length, 0);
});

test('std::vector is a name, not a field', () => assert.ok(found('at::native').length > 0));

test('a path finds its ranges, the calls in them and what those launched', () => {
  const list = found('path:forward/layer 3/attention');
  const kinds = new Set(list.map((event) => model.laneOf(event).kind));
  assert.deepEqual([...kinds].sort(), ['api', 'kernel', 'nvtx']);
  for (const event of list) {
    const names = [...model.contextStack(event), event].map((range) => model.nameOf(range));
    assert.ok(names.includes('layer 3') && names.includes('attention'), names.join(' > '));
  }
  assert.deepEqual(found('path:forward > layer 3 > attention'), list);
});

test('paths agree with the stacks', () => {
  const paths = new Paths(model);
  for (let event = 0; event < model.count; event += 7) {
    const lane = model.laneOf(event);
    const stack = model.contextStack(event).map((range) => model.nameOf(range).toLowerCase());
    if (lane.kind === 'nvtx') stack.push(model.nameOf(event).toLowerCase());
    if (lane.kind !== 'nvtx_async') assert.equal(paths.texts[paths.of[event]], stack.join('/'));
  }
});

test('legend entries narrow the search', () => {
  assert.equal(found('', { chosen: ['attention'] }).length, events.filter((event) => category(event) === 'attention').length);
  const blocking = found('', { chosen: [BLOCKING] });
  assert.ok(blocking.length > 0 && blocking.every((event) => model.nameOf(event) === 'cudaStreamSynchronize'));
  assert.equal(found('gemm', { chosen: ['attention'] }).length, 0);
});

test('libraries by name', () => {
  assert.deepEqual(librariesOf('void cutlass::Kernel2<x>()'), ['cutlass']);
  assert.deepEqual(librariesOf('nvjet_tst_192x192_64x4'), ['cublas']);
  assert.deepEqual(librariesOf('my_kernel'), []);
});

test('a filter on an unknown column is an error with suggestions', () => {
  const table = { title: '', columns: [{ name: 'kernel_name', type: 'text' }, { name: 'total_time_ms', type: 'float' }], rows: [] };
  assert.match(compileFilter(table, 'kernl_name=x').error, /no column “kernl_name”; did you mean kernel_name/);
  assert.match(compileFilter(table, 'totl>5').error, /did you mean total_time_ms/);
  assert.match(compileFilter(table, 'time>3').error, /total_time_ms/);
  assert.match(compileFilter(table, 'zzz=1').error, /no column “zzz” \(/);
  assert.equal(compileFilter(table, 'at::native').error, null);
  assert.equal(compileFilter(table, '"a=b"').error, null);
});

test('a path as findings write it is a path', () => {
  assert.deepEqual(parseSearch('aten::to > aten::copy_'), { field: 'path', text: 'aten::to/aten::copy_' });
  assert.deepEqual(parseSearch('path:a > b'), { field: 'path', text: 'a/b' });
  assert.deepEqual(parseSearch('aten::to'), { field: '', text: 'aten::to' });
  assert.equal(parseSearch('f<int, (a > b)>').field, '');
});
