import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupByName } from '../../../templates/viewer/src/highlights.js';
import { schemaTable } from '../../../templates/viewer/src/tables/schema-table.js';
import { fitting } from '../../../templates/viewer/src/timeline/paint-spans.js';
import { escapeXml, SvgContext } from '../../../templates/viewer/src/timeline/svg-context.js';

test('text in a drawing is text', () => {
  assert.equal(escapeXml('<a href="x">&\u0000\u001b]8;;\u202e'), '&lt;a href=&quot;x&quot;&gt;&amp;]8;;\u202e');
});

test('a drawing closes what it opens', () => {
  const svg = new SvgContext();
  svg.save();
  svg.beginPath();
  svg.rect(0, 0, 10, 5);
  svg.clip();
  svg.fillStyle = '#123456';
  svg.globalAlpha = 0.5;
  svg.fillRect(1.234, 2, 3, 4);
  svg.fillRect(1, 2, 0, 4);
  svg.restore();
  svg.globalAlpha = 1;
  svg.fillText('</svg><script>', 1, 2);
  svg.begin({ transform: 'translate(1 2)' });
  const text = svg.text(20, 10, 'sans-serif');
  assert.equal(text.match(/<g[ >]/g).length, text.match(/<\/g>/g).length);
  assert.ok(text.includes('<rect x="1.23" y="2" width="3" height="4" fill="#123456" opacity="0.5"/>'));
  assert.ok(text.includes('&lt;/svg&gt;&lt;script&gt;') && !text.includes('<script'));
  assert.equal(text.match(/<rect/g).length, 1, 'what has no width is not drawn');
});

test('a label that does not fit is its number, its beginning, or nothing', () => {
  assert.deepEqual([fitting('step 12', 7), fitting('step 12', 5), fitting('step 12', 1), fitting('AllReduce', 5), fitting('AllReduce', 1)], ['step 12', '12', '', 'AllR…', '']);
});

test('every column of every table is explained', () => {
  const table = (names) => ({ title: 'T', rows: [[1]], row_count: undefined, columns: names.map((name) => ({ name, type: 'int', unit: 'us', role: 'metric', description: `${name}!`, key: name === 'a' })) });
  const schema = schemaTable({ tables: { one: table(['a', 'b']), two: table(['c']) } });
  assert.deepEqual(schema.rows.map((row) => row.slice(0, 4)), [['one', 'a', 'a!', 'µs'], ['one', 'b', 'b!', 'µs'], ['two', 'c', 'c!', 'µs']]);
  assert.ok(schema.rows.every((row) => row.length === schema.columns.length));
});

test('a ranking has each name once, with all its GPUs, the longest row as its place', () => {
  const rows = [['a', 0, 5], ['b', 0, 9], ['a', 1, 6], ['a', 2, 0], ['c', 0, null]];
  const groups = groupByName({ rows }, 0, 2, 1);
  assert.deepEqual(groups.map(({ row, index, total, gpus }) => [row[0], index, total, [...gpus]]), [['a', 2, 11, [0, 1]], ['b', 1, 9, [0]]]);
});
