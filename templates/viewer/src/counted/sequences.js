/** @import { Model } from '../model.js' */
/** @import { Cell } from '../types.js' */
import { shapeOf } from './kernels.js';

const BLOCKS = 1; // in `aux` of a call
const USUAL_NODES = 32;
const REPEATS = 3;
const FEWEST = 5;

/** The first kernel of each call that launches any. @param {Model} model */
function firstKernels(model) {
  const { start } = model.events;
  /** @type {Map<number, number>} */
  const first = new Map();
  const precedes = (/** @type {number} */ a, /** @type {number} */ b) => start[a] - start[b] || (model.nameOf(a) < model.nameOf(b) ? -1 : 1);
  for (const lane of model.lanes)
    for (let kernel = lane.first; kernel < lane.first + lane.count && lane.kind === 'kernel'; kernel++) {
      const call = model.launchOf(kernel);
      const known = first.get(call);
      if (call >= 0 && (known === undefined || precedes(kernel, known) < 0)) first.set(call, kernel);
    }
  return first;
}

/** Calls whose copies end a sequence: to the host, or of memory that the driver has to copy first. @param {Model} model */
function breakingCopies(model) {
  const { memory } = model.events;
  const isPageable = (model.timeline.memory ?? []).map(({ from, to }) => from === 'Pageable' || to === 'Pageable');
  const calls = new Set();
  for (const lane of model.lanes)
    for (let copy = lane.first; copy < lane.first + lane.count && lane.kind === 'copy'; copy++) if (isPageable[memory[copy]] || model.nameOf(copy) === 'Device-to-Host') calls.add(model.launchOf(copy));
  return calls;
}

/** How many launches one pass has: the shortest unit that repeats, several of it where it is short; all where it does not. @param {string[]} tokens */
function passLength(tokens) {
  /** @type {number[]}  of each launch: the longest proper prefix of those up to it that ends them, too */
  const borders = [0];
  for (let i = 1, length = 0; i < tokens.length; i++) {
    while (length > 0 && tokens[i] !== tokens[length]) length = borders[length - 1];
    if (tokens[i] === tokens[length]) length++;
    borders.push(length);
  }
  const unit = tokens.length - borders[tokens.length - 1];
  const pass = Math.ceil(USUAL_NODES / unit) * unit;
  return Math.floor(tokens.length / pass) >= REPEATS ? pass : tokens.length;
}

/** Launches of a sequence that a CUDA graph could hold, in all its passes, as table graph_savings finds them. @param {Model} model @param {Record<string, Cell>} of */
export function sequenceOf(model, { pid, tid, best_start_ns: best }) {
  if (model.aggregated) return null;
  const { events, timeline } = model;
  const [kernels, copies] = [firstKernels(model), breakingCopies(model)];
  const breaks = new Set([...(timeline.allocations ?? []), ...(timeline.breaks ?? [])]);
  const tokenOf = (/** @type {number} */ kernel) => [events.name[kernel], ...shapeOf(model, kernel), model.laneOf(kernel).gpu, model.laneOf(kernel).stream].join();
  const from = model.clock.relative(Number(best));
  /** @type {Map<string, number[]>}  launches by the sequence that they are a pass of */
  const sequences = new Map();
  let wanted = '';
  /** @type {{call: number, token: string}[]} */
  let run = [];
  const close = () => {
    const tokens = run.map(({ token }) => token);
    const length = run.length < FEWEST ? Infinity : passLength(tokens);
    for (let at = 0; at + length <= run.length; at += length) {
      const [key, calls] = [tokens.slice(at, at + length).join(';'), run.slice(at, at + length).map(({ call }) => call)];
      sequences.set(key, (sequences.get(key) ?? []).concat(calls));
      if (events.start[calls[0]] === from) wanted = key;
    }
    run = [];
  };
  for (const { kind, pid: process, tid: thread, first, count } of model.lanes) {
    if (kind !== 'api' || process !== pid || thread !== tid) continue;
    for (let call = first; call < first + count; call++) {
      const kernel = kernels.get(call);
      if (breaks.has(events.name[call]) || (events.aux[call] & 3) === BLOCKS || copies.has(call)) close();
      else if (kernel !== undefined) run.push({ call, token: tokenOf(kernel) });
    }
    close();
  }
  const found = new Set(sequences.get(wanted));
  return (/** @type {number} */ event) => found.has(event);
}
