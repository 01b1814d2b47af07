/** @import { Difference } from './differences.js' */
import { duration } from '../format.js';
import { deltaOf } from './differences.js';

const NS_PER_MS = 1e6;

/** @param {number | null} ms */
export function time(ms) {
  return ms === null ? '–' : duration(ms * NS_PER_MS);
}

/** A difference with its sign: "+1.20 ms". @param {number} ms */
export function signed(ms) {
  const text = duration(Math.abs(ms) * NS_PER_MS);
  return Math.abs(ms) * NS_PER_MS < 0.5 ? '±0' : `${ms > 0 ? '+' : '−'}${text}`;
}

/** What became of a part, without a colour: "longer", "shorter", "new", "gone", "equal". @param {Difference} part */
export function direction(part) {
  if (part.base === null) return 'new';
  if (part.fresh === null) return 'gone';
  const delta = deltaOf(part) * NS_PER_MS;
  return Math.abs(delta) < 0.5 ? 'equal' : delta > 0 ? 'longer' : 'shorter';
}

/** In percent of the base. @param {Difference} part */
export function relative(part) {
  if (part.base === null || part.fresh === null || part.base <= 0) return '';
  const value = (100 * deltaOf(part)) / part.base;
  return `${value > 0 ? '+' : value < 0 ? '−' : '±'}${Math.abs(value).toFixed(1)} %`;
}
