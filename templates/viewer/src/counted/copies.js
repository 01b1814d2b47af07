/** @import { Model } from '../model.js' */
/** @import { Cell, Lane } from '../types.js' */
import { activeSpans, add, isIn } from './active.js';

/** Up to so much a copy is its call, start and wait. */
export const TINY_BYTES = 65_536;

const LARGE_BYTES = 1_048_576;

/** The value at a part of the sorted ones, between two of them by where it lies. @param {number[]} values @param {number} part */
function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  const place = part * (sorted.length - 1);
  const below = Math.floor(place);
  return sorted[below] + (place - below) * ((sorted[below + 1] ?? 0) - sorted[below]);
}

const [MIN_EQUAL, MUCH_LONGER, FAR_SLOWER] = [3, 1.5, 2];

/** Of copies of one size from the GPU the first that took longer than later ones; else those that took longer than such a copy to it. @param {Model} model @param {number[]} copies @param {number} expected  ns; NaN: not known */
function slowCopies(model, copies, expected) {
  const { duration } = model.events;
  const usual = quantile(copies.map((copy) => duration[copy]), 0.25);
  const first = copies.findIndex((copy) => duration[copy] <= MUCH_LONGER * usual);
  if (copies.length >= MIN_EQUAL && first > 0) return copies.slice(0, first);
  return copies.filter((copy) => duration[copy] > FAR_SLOWER * expected);
}

/** Copies to pageable memory of the host that is likely used for the first time, as table copy_rates finds them. @param {Model} model @param {Cell} gpu */
export function firstCopies(model, gpu) {
  const { aux, duration, memory } = model.events;
  const kinds = model.timeline.memory ?? [];
  const classOf = (/** @type {number} */ copy) => Math.floor(Math.log2(aux[copy]));
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  for (const { kind, gpu: own, pid, first, count } of model.lanes) {
    for (let copy = first; copy < first + count && kind === 'copy' && own === gpu; copy++) {
      const { from, to } = kinds[memory[copy]] ?? {};
      const group = from === 'Pageable' ? `to ${pid} ${classOf(copy)}` : to === 'Pageable' ? `${pid} ${aux[copy]}` : null;
      if (group !== null && aux[copy] >= LARGE_BYTES) add(groups, group, copy);
    }
  }
  const found = new Set();
  for (const [group, copies] of groups) {
    if (group.startsWith('to ')) continue;
    const { pid } = model.laneOf(copies[0]);
    const rates = (groups.get(`to ${pid} ${classOf(copies[0])}`) ?? []).map((copy) => aux[copy] / duration[copy]);
    slowCopies(model, copies.sort((a, b) => model.events.start[a] - model.events.start[b]), aux[copies[0]] / quantile(rates, 0.5)).forEach((copy) => found.add(copy));
  }
  return (/** @type {number} */ event) => found.has(event);
}

/** Copies or memsets of a direction on a GPU, from and to such memory. @param {Model} model @param {Record<string, Cell>} of @param {string} part  "large", "first" */
export function transfersOf(model, { device_id: gpu, direction, src_kind: from, dst_kind: to }, part) {
  if (part === 'first') return firstCopies(model, gpu);
  const { memory, aux } = model.events;
  const least = part === 'large' ? LARGE_BYTES : 0;
  const kinds = (model.timeline.memory ?? []).map((kind) => kind.from === from && kind.to === to);
  return (/** @type {number} */ event) => {
    const lane = model.laneOf(event);
    return (lane.kind === 'copy' || lane.kind === 'set') && lane.gpu === gpu && model.nameOf(event) === direction && kinds[memory[event]] === true && aux[event] >= least;
  };
}

/** Copies between GPU and host, or another GPU, in active time on streams that compute then, too. @param {Model} model @param {Cell} gpu */
export function copiesBetweenKernels(model, gpu) {
  const { name, start } = model.events;
  const spans = activeSpans(model, gpu);
  const streamOf = (/** @type {Lane} */ { pid, context, stream }) => [pid, context, stream].join();
  const streams = new Set();
  /** @type {number[]} */
  const copies = [];
  for (const lane of model.lanes.filter((each) => each.gpu === gpu)) {
    const { kind, first, count } = lane;
    const computes = (/** @type {number} */ event) => kind === 'graph' || (kind === 'kernel' && model.category(name[event]) !== 'communication');
    for (let event = first; event < first + count && !streams.has(streamOf(lane)); event++) if (computes(event) && isIn(spans, start[event])) streams.add(streamOf(lane));
    for (let event = first; event < first + count && kind === 'copy'; event++) if (/Host|Peer/u.test(model.nameOf(event)) && isIn(spans, start[event])) copies.push(event);
  }
  return new Set(copies.filter((event) => streams.has(streamOf(model.laneOf(event)))));
}
