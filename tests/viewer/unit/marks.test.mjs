import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callersOf } from '../../../templates/viewer/src/nvtx/callers.js';
import { buildTree, orderByTime, sortedChildren } from '../../../templates/viewer/src/nvtx/tree.js';
import { toSnippet } from '../../../templates/viewer/src/snippet.js';
import { categoryColor, causeColor, causeName } from '../../../templates/viewer/src/colors.js';
import { displayOrder, redundantColumns } from '../../../templates/viewer/src/tables/columns.js';
import { formatMarks, formatMeasure, parseMarks, parseMeasure } from '../../../templates/viewer/src/timeline/marks.js';
import { shellWord, trimCommand } from '../../../templates/viewer/src/trim.js';
import { causesText } from '../../../templates/viewer/src/words.js';
import { planModel } from '../lib/plan-model.mjs';

const { model } = planModel();

test('marks and measurements survive the way through a link, damage does not break it', () => {
  const marks = [{ time: 5, text: 'a~b!c & "d" %' }, { time: 1e9, text: '' }];
  assert.deepEqual(parseMarks(formatMarks(marks)), marks);
  assert.deepEqual(parseMeasure(formatMeasure([1, 2e9])), [1, 2e9]);
  assert.deepEqual(parseMarks('x~y!!7~%E0%A4%A'), [{ time: 7, text: '%E0%A4%A' }]);
  assert.equal(parseMeasure('1~x'), null);
  assert.equal(parseMeasure(''), null);
});

test('the tree by callers holds the time of every name once, split over who entered it', () => {
  const tree = buildTree(model, model.table('nvtx_tree'), true);
  const turned = callersOf(tree);
  const direct = new Map();
  const pending = [...tree.children];
  for (let node = pending.pop(); node; node = pending.pop()) {
    pending.push(...node.children);
    direct.set(node.name, (direct.get(node.name) ?? 0) + node.wallMs);
  }
  for (const child of turned.children) {
    assert.ok(Math.abs(child.wallMs - direct.get(child.name)) < 1e-6, child.name);
    const entered = child.children.reduce((sum, caller) => sum + caller.wallMs, 0);
    assert.ok(entered <= child.wallMs + 1e-6);
  }
  const linear = turned.children.find((node) => node.name === 'aten::linear');
  assert.deepEqual(linear.children.map((node) => node.name).filter((name) => name === 'attention').length, 1);
});

test('in time order, what began first comes first', () => {
  const tree = buildTree(model, model.table('nvtx_tree'), true);
  orderByTime(tree, model);
  const step = tree.children.find((node) => node.name === 'step');
  assert.deepEqual(sortedChildren(step, 'wall').map((node) => node.name), ['load_batch', 'forward', 'optimizer']);
  const forward = step.children.find((node) => node.name === 'forward');
  assert.deepEqual(sortedChildren(forward, 'wall').map((node) => node.name), Array.from({ length: 8 }, (_, layer) => `layer ${layer}`));
});

test('tables of sums show what matters first', () => {
  const table = model.table('kernels');
  const names = displayOrder(table).map((index) => table.columns[index].name);
  assert.deepEqual(names.slice(0, 5), ['kernel_name', 'device_id', 'pct_total_kernel_time', 'total_time_ns', 'total_time_ms']);
  assert.equal(new Set(names).size, table.columns.length);
});

test('of single events the end stands last: start and length tell it', () => {
  const columns = [{ name: 'start_ns', role: 'start' }, { name: 'end_ns', role: 'end' }, { name: 'duration_us', unit: 'us', sum: true }, { name: 'name', type: 'text' }];
  assert.deepEqual(displayOrder({ columns, rows: [] }), [0, 2, 3, 1]);
  assert.deepEqual(displayOrder({ columns: columns.filter(({ sum }) => !sum), rows: [] }), [0, 1, 2]);
});

test('causes of the critical path have the colors of idle gaps, and of work', () => {
  assert.deepEqual([causeColor('host_bound'), causeName('host_bound')], [causeColor('host_code'), 'host code']);
  assert.equal(causeColor('communication'), categoryColor('communication'));
  assert.equal(new Set(['kernel', 'communication', 'copy', 'host_bound', 'unknown'].map(causeColor)).size, 5);
});

test('the command for a stretch is exact and safe', () => {
  assert.equal(trimCommand(model, 0, 1), 'nsys-ai analyze synthetic.sqlite --trim 60.111418026 60.111418027 --out artifacts/synthetic-part');
  assert.equal(shellWord("a'b; rm -rf $HOME"), `'a'\\''b; rm -rf $HOME'`);
});

test('causes in a list read as they do alone', () => {
  assert.equal(causesText('in_launch_call 16.9 µs, queue_drained 1.64 ms'), 'launch call 16.9 µs, starved after synchronization 1.64 ms');
});


test('a snippet says what is selected and nothing of it is markup', () => {
  const text = toSnippet({
    title: 'Kernel', name: '<img src=x>|*', fields: [['Duration', '3 µs']], tables: [{ title: 'Top', rows: [['Name'], ['a|b']] }],
    command: 'nsys-ai x', page: 'report.html', link: '#v=timeline&e=1',
  });
  assert.ok(!/<img|a\|b/.test(text));
  assert.match(text, /- Duration: 3 µs/);
  assert.match(text, /In report\.html: `#v=timeline&e=1`/);
});

test('columns are left out that hold nothing, or what another one says', () => {
  const column = (name, role, more = {}) => ({ name, role, type: 'int', unit: 'count', ...more });
  const columns = [
    column('kernel_name', 'kernel_name'),
    column('short_name', 'label'),
    column('device_id', 'device'),
    column('total_ns', 'metric'),
    column('total_ms', 'metric', { stored: 'total_ns' }),
    column('share', 'metric'),
    column('count', 'metric'),
  ];
  const table = { title: 't', columns, rows: [['a', 'a', 0, 5, 5, null, null], ['b', 'b', 0, 6, 6, null, 1]] };
  assert.deepEqual(redundantColumns(table, 1), ['short_name', 'device_id', 'total_ns', 'share']);
  assert.deepEqual(redundantColumns(table, 2), ['short_name', 'total_ns', 'share']);
  assert.deepEqual(redundantColumns({ ...table, rows: [] }, 2), ['short_name', 'total_ns']);
});
