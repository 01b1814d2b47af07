import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPlan } from '../../../templates/viewer/src/plan-bars.js';

const names = 'rank title finding scope before_ms after_ms after_low_ms after_high_ms note bound'.split(' ');
const table = (rows) => ({ title: 'Plan', columns: names.map((name) => ({ name })), rows });

test('the plan stands in its order, what adds too little outside of it', () => {
  const plan = readPlan(
    table([
      [3, 'small', 6, 'step', null, null, null, null, 'adds less than 1 % to the plan', null],
      [2, 'second', 4, 'step', 8.5, 7, 7.5, 6.25, null, 'streams'],
      [1, 'first', 2, 'step', 10, 8.5, 9, 8, null, null],
    ]),
  );
  assert.deepEqual(plan.changes.map(({ title, finding, before, after, cautious, favorable, bound }) => [title, finding, before, after, cautious, favorable, bound]), [
    ['first', 2, 10e6, 8.5e6, 9e6, 8e6, false],
    ['second', 4, 8.5e6, 7e6, 7.5e6, 6.25e6, true],
  ]);
  assert.deepEqual([plan.scope, plan.others], ['step', ['small']]);
});

test('without a plan there is no picture', () => {
  assert.equal(readPlan(null), null);
  assert.equal(readPlan(table([])), null);
  assert.equal(readPlan(table([[1, 'small', 6, 'step', null, null, null, null, 'adds less', null]])), null);
});
