/** @import { Model } from './model.js' */

const NS = 1000000000n;

/** Session time as seconds with every digit. @param {bigint} ns */
function seconds(ns) {
  const size = ns < 0n ? -ns : ns;
  return `${ns < 0n ? '-' : ''}${size / NS}.${(size % NS).toString().padStart(9, '0')}`;
}

/** A word of a POSIX shell. @param {string} text */
export function shellWord(text) {
  return /^[\w./:@%+=,-]+$/u.test(text) ? text : `'${text.replace(/'/gu, `'\\''`)}'`;
}

/**
 * The command that makes a report with every event of a stretch of time.
 * @param {Model} model @param {number} from @param {number} to  ns after the origin
 */
export function trimCommand(model, from, to) {
  const { origin } = model.clock;
  const [begin, end] = [origin + BigInt(Math.floor(from)), origin + BigInt(Math.ceil(to))];
  const name = model.report.trace.file.replace(/\.[^.]*$/u, '') || 'trace';
  return `nsys-ai analyze ${shellWord(model.report.trace.file)} --trim ${seconds(begin)} ${seconds(end > begin ? end : begin + 1n)} --out ${shellWord(`artifacts/${name}-part`)}`;
}
