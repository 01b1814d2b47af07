/** @import { Model } from '../model.js' */
/** @import { Instance } from './instances.js' */

/**
 * One operation of both instances, or of one alone (-1).
 * @typedef {object} Pair
 * @property {number} a  event
 * @property {number} b
 * @property {number} gapA  idle time of the GPU before it, ns
 * @property {number} gapB
 * @property {number} at  when it begins, ns after its instance does
 */

/** Larger ones are paired by counting names. */
const MOST_CELLS = 4_000_000;

/** What to say of instances whose operations the page has in blocks; '' where it has them all. @param {Model} model @param {Record<string, Instance>} named  by what they are called */
export function missingFrom(model, named) {
  const missing = Object.keys(named).filter((key) => !model.complete(named[key].start, named[key].end));
  return missing.length > 0 ? `Kernels of ${missing.join(' and ')} are not on the page` : '';
}

/** Operations of a GPU that begin in an instance, by lane. @param {Model} model @param {number} gpu @param {Instance} instance @returns {number[][]} */
export function operationsOf(model, gpu, { start, end }) {
  return model.lanes
    .filter((lane) => model.isGpuLane(lane) && lane.gpu === gpu)
    .map((lane) => {
      const first = model.lowerBound(lane, start);
      return Array.from({ length: model.lowerBound(lane, end) - first }, (_, i) => first + i);
    });
}

/** Idle time of the GPU before each operation. @param {Model} model @param {number[][]} lanes @param {number} from */
function gapsBefore(model, lanes, from) {
  const { start } = model.events;
  /** @type {Map<number, number>} */
  const gaps = new Map();
  let busyUntil = from;
  for (const event of lanes.flat().sort((x, y) => start[x] - start[y] || x - y)) {
    gaps.set(event, Math.max(0, start[event] - busyUntil));
    busyUntil = Math.max(busyUntil, model.end(event));
  }
  return gaps;
}

/**
 * Positions of the longest sequence that two lists have in common.
 * @param {number[]} a @param {number[]} b @returns {[number, number][]}
 */
export function commonSequence(a, b) {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const [rows, columns] = [a.length - head - tail, b.length - head - tail];
  /** @type {[number, number][]} */
  const pairs = Array.from({ length: head }, (_, i) => [i, i]);
  pairs.push(...(rows * columns > MOST_CELLS ? byCount(a, b, head, tail) : longest(a, b, head, rows, columns)));
  for (let i = tail; i > 0; i--) pairs.push([a.length - i, b.length - i]);
  return pairs;
}

/** @param {number[]} a @param {number[]} b @param {number} head @param {number} rows @param {number} columns @returns {[number, number][]} */
function longest(a, b, head, rows, columns) {
  const width = columns + 1;
  const best = new Uint32Array((rows + 1) * width);
  for (let i = rows - 1; i >= 0; i--)
    for (let j = columns - 1; j >= 0; j--)
      best[i * width + j] = a[head + i] === b[head + j] ? best[(i + 1) * width + j + 1] + 1 : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
  /** @type {[number, number][]} */
  const pairs = [];
  for (let i = 0, j = 0; i < rows && j < columns; ) {
    if (a[head + i] === b[head + j]) pairs.push([head + i++, head + j++]);
    else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) i++;
    else j++;
  }
  return pairs;
}

/** The first of a name with the first, the second with the second, while both go forwards. @param {number[]} a @param {number[]} b @param {number} head @param {number} tail @returns {[number, number][]} */
function byCount(a, b, head, tail) {
  /** @type {Map<number, number[]>} */
  const places = new Map();
  for (let j = b.length - tail - 1; j >= head; j--) {
    const list = places.get(b[j]);
    if (list) list.push(j);
    else places.set(b[j], [j]);
  }
  /** @type {[number, number][]} */
  const pairs = [];
  let last = head - 1;
  for (let i = head; i < a.length - tail; i++) {
    const list = places.get(a[i]);
    while (list && list.length > 0 && list[list.length - 1] <= last) list.pop();
    const j = list?.pop();
    if (j !== undefined) pairs.push([i, (last = j)]);
  }
  return pairs;
}

/**
 * Two instances operation by operation, stream by stream, in the order of time.
 * @param {Model} model @param {number} gpu @param {Instance} a @param {Instance} b @returns {Pair[]}
 */
export function pairOperations(model, gpu, a, b) {
  const { start, name } = model.events;
  const [lanesA, lanesB] = [operationsOf(model, gpu, a), operationsOf(model, gpu, b)];
  const [gapsA, gapsB] = [gapsBefore(model, lanesA, a.start), gapsBefore(model, lanesB, b.start)];
  /** @type {Pair[]} */
  const pairs = [];
  const add = (/** @type {number} */ x, /** @type {number} */ y) =>
    pairs.push({ a: x, b: y, gapA: gapsA.get(x) ?? 0, gapB: gapsB.get(y) ?? 0, at: x >= 0 ? start[x] - a.start : start[y] - b.start });
  lanesA.forEach((own, lane) => {
    const other = lanesB[lane];
    const matched = commonSequence(own.map((event) => name[event]), other.map((event) => name[event]));
    const [inA, inB] = [new Set(matched.map(([i]) => i)), new Set(matched.map(([, j]) => j))];
    for (const [i, j] of matched) add(own[i], other[j]);
    own.forEach((event, i) => inA.has(i) || add(event, -1));
    other.forEach((event, j) => inB.has(j) || add(-1, event));
  });
  return pairs.sort((x, y) => x.at - y.at || x.a - y.a || x.b - y.b);
}

/** How much longer an operation and the idle time before it are in the first. @param {Model} model @param {Pair} pair */
export function differenceOf(model, { a, b, gapA, gapB }) {
  const length = (/** @type {number} */ event) => (event < 0 ? 0 : model.events.duration[event]);
  return length(a) - length(b) + gapA - gapB;
}
