/**
 * Marks and the two points of a measurement, as they stand in a link.
 * @typedef {{time: number, text: string}} Mark  time: ns after the origin
 * @typedef {[number, number] | null} Measure
 */

const MOST = 100;

/** @param {string} text */
const escape = (text) => encodeURIComponent(text).replace(/[!~]/gu, (character) => `%${character.charCodeAt(0).toString(16)}`);

/** @param {string} text */
function unescape(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {Mark[]} marks */
export function formatMarks(marks) {
  return marks.map(({ time, text }) => `${Math.round(time)}~${escape(text)}`).join('!');
}

/** @param {string} text @returns {Mark[]}  by time; what is no mark is left out */
export function parseMarks(text) {
  return text
    .split('!')
    .slice(0, MOST)
    .map((part) => {
      const [time, note = ''] = part.split('~');
      return { time: time === '' ? NaN : Number(time), text: unescape(note) };
    })
    .filter(({ time }) => Number.isFinite(time))
    .sort((a, b) => a.time - b.time);
}

/** @param {string} text @returns {Measure} */
export function parseMeasure(text) {
  const [from, to] = text.split('~').map(Number);
  return text !== '' && Number.isFinite(from) && Number.isFinite(to) ? [from, to] : null;
}

/** @param {Measure} measure */
export function formatMeasure(measure) {
  return measure ? measure.map((time) => Math.round(time)).join('~') : '';
}
