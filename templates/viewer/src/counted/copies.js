/** @import { Model } from '../model.js' */
/** @import { Cell, Lane } from '../types.js' */
import { activeSpans, isIn } from './active.js';

/** Up to so much a copy is its call, start and wait. */
export const TINY_BYTES = 65_536;

const LARGE_BYTES = 1_048_576;

/** Copies or memsets of a direction on a GPU, from and to such memory. @param {Model} model @param {Record<string, Cell>} of @param {string} part  "large" */
export function transfersOf(model, { device_id: gpu, direction, src_kind: from, dst_kind: to }, part) {
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
