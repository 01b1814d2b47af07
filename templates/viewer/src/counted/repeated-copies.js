/** @import { Model } from '../model.js' */
/** @import { Cell } from '../types.js' */
import { records } from '../table-schema.js';
import { activeSpans, add, isIn } from './active.js';
import { TINY_BYTES } from './copies.js';

const REPEATS = 5;

/** No host rewrites memory faster than this: what comes back sooner is what went out. */
const HOST_BYTES_PER_NS = 50;

/** Copies in the GPU's active time by their start. @param {Model} model @param {Cell} gpu */
function copiesOf(model, gpu) {
  const { start } = model.events;
  const spans = activeSpans(model, gpu);
  /** @type {number[]} */
  const copies = [];
  for (const { kind, gpu: own, first, count } of model.lanes)
    for (let copy = first; copy < first + count && kind === 'copy' && own === gpu; copy++) if (isIn(spans, start[copy])) copies.push(copy);
  return copies.sort((a, b) => start[a] - start[b]);
}

/** Copies to the host and back of the same size, with no time for the host to write other data: time in which nothing was copied. @param {Model} model @param {number[]} copies */
function roundTrips(model, copies) {
  const { aux, start, duration } = model.events;
  /** @type {Map<number, {copy: number, before: number}[]>}  copies to the host that none came back from yet, by size */
  const sent = new Map();
  const found = new Set();
  let before = 0;
  for (const copy of copies) {
    const [bytes, copied] = [aux[copy], before];
    before += duration[copy];
    if (bytes <= TINY_BYTES) continue;
    if (model.nameOf(copy) === 'Device-to-Host') add(sent, bytes, { copy, before });
    if (model.nameOf(copy) !== 'Host-to-Device') continue;
    const waiting = sent.get(bytes) ?? [];
    const isUnchanged = (/** @type {{copy: number, before: number}} */ out) => start[copy] - model.end(out.copy) - (copied - out.before) <= bytes / HOST_BYTES_PER_NS;
    const at = waiting.findIndex(isUnchanged);
    if (at >= 0) [waiting[at].copy, copy].forEach((each) => found.add(each));
    waiting.splice(0, at < 0 ? waiting.length : at + 1); // what is too old for this copy is too old for all later ones
  }
  return found.size >= 2 * REPEATS ? found : new Set();
}

/** Where a copy was started: the names of the ranges around its launch, without numbers. @param {Model} model @param {number} copy */
const placeOf = (model, copy) => model.contextStack(copy).map((range) => model.nameOf(range).replace(/\d+/gu, '#')).join(' > ');

/** The ranges of the layers that streamed copies are for. @param {Model} model @param {Cell} gpu @returns {string | undefined} */
function layersOf(model, gpu) {
  const loss = records(model.table('losses')).find(({ what, device_id: own }) => what === 'streamed_copies' && own === gpu);
  return / under (.+?)(?:, and \d+ other sizes? that repeats?)?$/u.exec(String(loss?.detail))?.[1];
}

/**
 * Copies between host and GPU that one of table losses counts: out and back; of which five or more have one direction, size and memory,
 * in ranges of layers ("streamed") or elsewhere.
 * @param {Model} model @param {Record<string, Cell>} loss @param {string} part  "of 1,024 bytes": of that size and the row's direction; "to the host"
 */
export function repeatedCopies(model, { what, device_id: gpu, example }, part) {
  const { aux, memory } = model.events;
  const copies = copiesOf(model, gpu);
  const trips = roundTrips(model, copies);
  if (what === 'round_trips') return new Set([...trips].filter((copy) => part !== 'to the host' || model.nameOf(copy) === 'Device-to-Host'));
  /** @type {Map<string, number[]>} */
  const sizes = new Map();
  for (const copy of copies) {
    const direction = model.nameOf(copy);
    if (!trips.has(copy) && (direction === 'Host-to-Device' || direction === 'Device-to-Host')) add(sizes, `${direction} ${aux[copy]} ${memory[copy]}`, copy);
  }
  const layers = layersOf(model, gpu);
  const isStreamed = (/** @type {number[]} */ group) => layers !== undefined && group.every((copy) => model.nameOf(copy) === 'Host-to-Device' && placeOf(model, copy) === layers);
  const [, bytes] = /^of ([\d,]+) bytes$/u.exec(part) ?? [];
  const isWanted = (/** @type {number[]} */ group) => bytes === undefined || (aux[group[0]] === Number(bytes.replaceAll(',', '')) && model.nameOf(group[0]) === example);
  const groups = [...sizes.values()].filter((group) => group.length >= REPEATS && isWanted(group));
  return new Set(groups.filter((group) => isStreamed(group) === (what === 'streamed_copies')).flat());
}
