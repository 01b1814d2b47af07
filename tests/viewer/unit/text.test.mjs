import assert from 'node:assert/strict';
import { test } from 'node:test';
import { caveatLines } from '../../../templates/viewer/src/caveats.js';
import { rankingsOf } from '../../../templates/viewer/src/highlights.js';
import { typicalOf } from '../../../templates/viewer/src/histogram.js';
import { categoryColor, rangeColor, rgb, seriesColor } from '../../../templates/viewer/src/colors.js';
import { bytes, cell, Clock, duration, durationsLike, heading, percent, readable, shortened, shownCell } from '../../../templates/viewer/src/format.js';
import { escapeMarkdown } from '../../../templates/viewer/src/snippet.js';
import { compileSearch } from '../../../templates/viewer/src/search.js';
import { DEFAULTS, formatState, parseState } from '../../../templates/viewer/src/state.js';
import { fitWidths } from '../../../templates/viewer/src/tables/columns.js';
import { orderTables } from '../../../templates/viewer/src/tables/table-order.js';
import { compileFilter, sortRows, toCsv, toMarkdown } from '../../../templates/viewer/src/tables/filter.js';

const column = (name, type, unit = 'text') => ({ name, type, unit, role: 'label' });
const table = {
  title: 'T',
  columns: [column('kernel_name', 'text'), column('total_ms', 'float', 'ms'), column('device_id', 'int', 'id')],
  rows: [
    ['gemm a', 12.5, 0],
    ['=cmd|evil', 3, 1],
    ['<b>"x"</b>', null, 0],
  ],
};
const kept = (text) => {
  const { test: keep, error } = compileFilter(table, text);
  return error ?? table.rows.map((row, index) => (keep(row) ? index : -1)).filter((index) => index >= 0);
};

test('filters', () => {
  assert.deepEqual(kept(''), [0, 1, 2]);
  assert.deepEqual(kept('GEMM'), [0]);
  assert.deepEqual(kept('total_ms>3'), [0]);
  assert.deepEqual(kept('total_ms>=3 device_id=1'), [1]);
  assert.deepEqual(kept('kernel_name~^g'), [0]);
  assert.deepEqual(kept('"gemm a"'), [0]);
  assert.match(kept('kernel_name~('), /invalid expression/);
  assert.match(kept('total_ms>x'), /not a number/);
});

test('times below each other have one unit', () => {
  const below = (...all) => all.map(durationsLike(all));
  assert.deepEqual(below(26990000, 346900, 0), ['26.99 ms', '0.347 ms', '0 ms']);
  assert.deepEqual(below(7865000, 753400, 768), ['7,865 µs', '753.4 µs', '0.768 µs']);
  assert.deepEqual(below(2e9, 800, 400), ['2,000 ms', '0.001 ms', '<0.001 ms']);
  assert.deepEqual(below(768, 32), ['768 ns', '32 ns']);
});

test('headings spell what they shorten', () => {
  assert.deepEqual(['pct_of_wall', 'gpu_time_ms', 'attributed_sm_count'].map(heading), ['share of wall', 'GPU time', 'attributed SM count']);
});

test('only all of it is 100 %', () => {
  assert.deepEqual([percent(99970, 100000), percent(99940, 100000), percent(5, 5), percent(1, 0)], ['>99.9 %', '99.9 %', '100.0 %', '–']);
  assert.deepEqual([0.987, 0.994, 0.996, 0.004, 0, -0.5].map((value) => percent(value, 100)), ['0.99 %', '0.99 %', '1.0 %', '<0.01 %', '0.0 %', '-0.50 %'], 'as report.md rounds');
  const share = column('pct', 'float', 'percent');
  assert.deepEqual([99.998, 99.99, 100].map((value) => cell(value, share, null)), ['>99.99', '99.99', '100.00']);
});

test('a column goes by its heading too, in the unit in which it is shown', () => {
  const times = {
    title: 'T',
    columns: [{ ...column('total_time_ms', 'float', 'ms') }],
    rows: [[48159.043], [900]],
  };
  const shown = readable(times.columns[0], [48159.043, 900]);
  assert.equal(shown.column.unit, 's');
  assert.equal(cell(48159.043 * shown.factor, shown.column, null), '48.159');
  const rows = (text) => times.rows.filter((row) => compileFilter(times, text).test(row)).length;
  assert.equal(rows('total_time_ms>1000'), 1);
  assert.equal(rows('total>1'), 1);
  assert.equal(rows('Total>0.5'), 2);
  assert.match(compileFilter(times, 'nothing>1').error, /no column/);
  assert.deepEqual(readable(times.columns[0], [9999, null, 'x']).factor, 1);
  // All of a column in one unit, however far its numbers lie apart.
  const wide = readable(times.columns[0], [615749.605, 0.512]);
  assert.deepEqual([615749.605, 0.512, 0, null].map((value) => shownCell(value, wide, null)), ['615,749.605', '0.512', '0.000', '–']);
  const wider = readable(column('time_us', 'float', 'us'), [6e10, 0.4, 12345678]);
  assert.deepEqual([wider.column.unit, ...[6e10, 0.4, 12345678].map((value) => shownCell(value, wider, null))], ['s', '60,000.000', '<0.001', '12.346']);
  const sizes = readable(column('sent_bytes', 'int', 'bytes'), [3 * 2 ** 30, 5 << 20, 0]);
  assert.deepEqual([sizes.column.unit, ...[3 * 2 ** 30, 5 << 20, 0].map((value) => shownCell(value, sizes, null))], ['MiB', '3,072.0', '5.0', '0.0']);
  assert.equal(readable(column('sent_bytes', 'int', 'bytes'), [512, 4096]).column.unit, 'B');
  assert.equal(readable(column('duration_ns', 'int', 'ns'), [1671570402]).column.unit, 'ms');
  assert.equal(readable(column('count', 'int', 'count'), [1e9]).factor, 1);
});

test('tables: what takes the time first, the capture last, others between in their order', () => {
  assert.deepEqual(orderTables(['capture', 'b', 'nvtx_ranges', 'kernels', 'a', 'data_quality']), ['kernels', 'nvtx_ranges', 'b', 'a', 'capture', 'data_quality']);
});

test('a long name gets the room that the columns that matter leave', () => {
  const columns = [
    { width: 100, wanted: 400, matters: true },
    { width: 50, wanted: 50, matters: true },
    { width: 90, wanted: 90, matters: false },
  ];
  assert.deepEqual(fitWidths(columns, 300), [250, 50, 90]);
  assert.deepEqual(fitWidths(columns, 900), [400, 50, 90]);
  assert.deepEqual(fitWidths(columns, 120), [100, 50, 90]);
});

test('empty cells come last either way', () => {
  assert.deepEqual(sortRows(table, [0, 1, 2], 1, true), [0, 1, 2]);
  assert.deepEqual(sortRows(table, [0, 1, 2], 1, false), [1, 0, 2]);
});

test('copies are safe in spreadsheets and on web pages', () => {
  assert.equal(toCsv(table, [1, 2]), `kernel_name,total_ms,device_id\n'=cmd|evil,3,1\n"<b>""x""</b>",,0\n`);
  assert.equal(toMarkdown(table, [0, 2]).split('\n')[2], '| gemm a | 12.500 | 0 |');
  assert.equal(toMarkdown(table, [2]).split('\n')[2], '| `<b>"x"</b>` | – | 0 |');
});

test('Markdown shows trace text and does not act on it', () => {
  assert.equal(escapeMarkdown('ncclDevKernel_SendRecv'), 'ncclDevKernel_SendRecv');
  assert.equal(escapeMarkdown('_x_ and\n@user'), '`_x_ and @user`');
  assert.equal(escapeMarkdown('void f<int>(a*)'), '`void f<int>(a*)`');
  assert.equal(escapeMarkdown('see https://evil.example'), '`see https://evil.example`');
  for (const hostile of ['a|b', '\\|<script>', '`x` <img src=x>', 'a`|www.x.y']) assert.ok(!/[|`<>@]|www\.|:\/\//u.test(escapeMarkdown(hostile)), hostile);
});

test('numbers', () => {
  assert.equal(duration(999), '999 ns');
  assert.equal(duration(1234567), '1.235 ms');
  assert.equal(bytes(1536), '1.5 KiB');
  assert.equal(percent(1, 3), '33.3 %');
  assert.equal(percent(1, 0), '–');
  assert.equal(cell(12.5, table.columns[1], null), '12.500');
  assert.equal(cell(null, table.columns[1], null), '–');
});

test('clocks say the same instant in three ways', () => {
  const clock = new Clock('60111418026', '1764000000000000000');
  assert.equal(clock.relative(60111418027), 1);
  assert.equal(clock.format(1500), '1.500 µs');
  clock.mode = 'absolute';
  assert.equal(clock.format(0), '60.111418026 s');
  clock.mode = 'wall';
  assert.equal(clock.format(0), '16:01:00.111418026');
});

test('a link says what differs and nothing else', () => {
  assert.equal(formatState(DEFAULTS), '');
  const values = { ...DEFAULTS, v: 'timeline', q: 'a&b=c', a: '12.5' };
  assert.deepEqual(parseState(formatState(values)), values);
  assert.deepEqual(parseState('__proto__=1&v=x').v, 'x');
});

test('searches', () => {
  assert.ok(compileSearch('Gemm', false).test('a GEMM b'));
  assert.ok(compileSearch('^a.*b$', true).test('axxb'));
  assert.ok('error' in compileSearch('(', true));
  assert.equal(compileSearch('', false), null);
});

test('white labels can be read on every colour of an event', () => {
  const light = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const contrast = (color) => {
    const [red, green, blue] = rgb(color).map((value) => light(value / 255));
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
  };
  const categories = ['communication', 'attention', 'gemm', 'convolution', 'normalization', 'softmax', 'embedding', 'optimizer', 'reduction', 'elementwise', 'copy', 'other'];
  const colors = [...categories.map(categoryColor), ...Array.from({ length: 40 }, (_, index) => seriesColor(index)), ...'abcdefghijklmnopqrstuvw'.split('').map(rangeColor)];
  for (const color of colors) assert.ok(contrast(color) >= 4.5, color);
});

test('a long name keeps both ends', () => {
  assert.equal(shortened('short', 5), 'short');
  assert.equal(shortened('elementwise_kernel<4, MulFunctor>', 11), 'eleme…ctor>');
  assert.notEqual(shortened('elementwise_kernel<4, MulFunctor>', 12), shortened('elementwise_kernel<4, AddFunction>', 12));
  assert.equal([...shortened('😀'.repeat(30), 9)].length, 9, 'no letter is cut in two');
});

test('a caveat is said once, and dropped rows name their tables', () => {
  const caveat = (id, table) => ({ id, severity: 'warning', text: `${id}: dropped`, source_table: table });
  assert.deepEqual(caveatLines([caveat('rows-reversed', 'A'), caveat('other', 'C'), caveat('rows-reversed', 'B')]), [
    { severity: 'warning', text: 'rows-reversed: dropped, in A, B' },
    { severity: 'warning', text: 'other: dropped' },
  ]);
});

test('of two peaks no duration in between is told', () => {
  const sorted = [100, 110, 9000, 9100];
  assert.equal(typicalOf(sorted, () => true), 'median 4.555 µs');
  assert.equal(typicalOf(sorted, () => false), 'half ≤ 110 ns, half ≥ 9.000 µs');
});

test('ranges are ranked by GPU time, or by wall time where there is none', () => {
  const model = (gpu) => ({
    table: (key) => (key === 'nvtx_ranges' ? { columns: ['range_name', 'total_time_ms', 'attributed_gpu_time_ms'].map((name) => ({ name })), rows: [['a', 1, gpu], ['b', 2, 0]] } : null),
  });
  const said = (gpu) => rankingsOf(model(gpu)).map(({ ranking, rows }) => [ranking.value, rows.map(({ row }) => row[0])]);
  assert.deepEqual(said(3), [['attributed_gpu_time_ms', ['a']]]);
  assert.deepEqual(said(0), [['total_time_ms', ['b', 'a']]]);
});
