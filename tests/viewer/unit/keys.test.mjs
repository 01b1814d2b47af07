import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFileSync } from 'node:fs';
import { TIMELINE_KEYS } from '../../../templates/viewer/src/timeline/keys.js';

const source = readFileSync(new URL('../../../templates/viewer/src/timeline/keys.js', import.meta.url), 'utf8');
/** Other spellings of a documented key: without Shift on some keyboards. */
const SAME = { '=': '+', _: '-' };
const SPELLED = { '−': '-', '←': 'arrowleft', '→': 'arrowright', '↑': 'arrowup', '↓': 'arrowdown', PgUp: 'pageup', PgDn: 'pagedown', Esc: 'escape' };

test('the help lists every key that does something, and no other', () => {
  const body = /const actions = \{\n(.*?)\n\};/su.exec(source)[1];
  const does = [...body.matchAll(/^ {2}(?:'(.)'|(\w+)):/gmu)].map(([, quoted, plain]) => quoted ?? plain).filter((key) => !(key in SAME));
  const listed = TIMELINE_KEYS.flatMap(([keys]) => keys.split('  ')).filter((key) => !key.startsWith('Shift'));
  assert.deepEqual(listed.map((key) => SPELLED[key] ?? key.toLowerCase()).sort(), does.sort());
});
