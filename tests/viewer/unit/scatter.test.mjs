import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestDot, scatterScale } from '../../../templates/viewer/src/scatter.js';

const dots = [
  { event: 1, time: 0, value: 100 },
  { event: 2, time: 50, value: 1000 },
  { event: 3, time: 100, value: 10000 },
];

test('dots stand along time, and up by ratio', () => {
  const { x, y } = scatterScale(dots, 0, 100, 204);
  assert.deepEqual(dots.map(({ time }) => x(time)), [2, 102, 202]);
  const heights = dots.map(({ value }) => y(value));
  assert.ok(Math.abs(heights[0] - heights[1] - (heights[1] - heights[2])) < 1e-9 && heights[0] > heights[2]);
});

test('equal durations stand in the middle', () => {
  const { y } = scatterScale(dots.map((dot) => ({ ...dot, value: 70 })), 0, 100, 204);
  assert.equal(y(70), 45);
});

test('a click means the nearest dot within reach, or none', () => {
  const scale = scatterScale(dots, 0, 100, 204);
  assert.equal(nearestDot(dots, scale, 104, scale.y(1000) + 3).event, 2);
  assert.equal(nearestDot(dots, scale, 60, scale.y(1000)), null);
});

test('equal durations are no division by zero', () => {
  const { y } = scatterScale([{ event: 1, time: 0, value: 7 }, { event: 2, time: 1, value: 7 }], 0, 0, 100);
  assert.ok(Number.isFinite(y(7)));
});
