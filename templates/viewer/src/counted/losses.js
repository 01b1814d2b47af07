/** @import { Model } from '../model.js' */
/** @import { Cell } from '../types.js' */
import { activeSpans, isIn } from './active.js';
import { allocationsOf, isWaitedFor } from './calls.js';
import { copiesBetweenKernels, TINY_BYTES } from './copies.js';
import { ofShapes } from './kernels.js';
import { repeatedCopies } from './repeated-copies.js';

const WARP = 32;

const TIMES_THE_MEDIAN = 10;

/** What table losses counts on a GPU: what could be fused stands two or more in a row on a stream. @param {Model} model @param {Record<string, Cell>} loss @param {string} part  "of 1,024 bytes", "to the host": of repeated copies those */
export function ofLoss(model, loss, part) {
  const { what, device_id: gpu, example, low_median_us: median } = loss;
  const { events, timeline } = model;
  const again = () => repeatedCopies(model, loss, part);
  const own = (/** @type {number} */ event, /** @type {string} */ kind) => model.laneOf(event).kind === kind && model.laneOf(event).gpu === gpu;
  if (what === 'unfused' || what === 'casts') {
    const names = new Set(what === 'casts' ? timeline.casts : timeline.fusable);
    return (/** @type {number} */ event) => {
      if (!names.has(events.name[event]) || !own(event, 'kernel')) return false;
      const { first, count } = model.laneOf(event);
      return what === 'casts' || [event - 1, event + 1].some((at) => at >= first && at < first + count && names.has(events.name[at]));
    };
  }
  const spans = activeSpans(model, gpu);
  if (what === 'tiny_copies')
    return (/** @type {number} */ event) => {
      const isTiny = own(event, 'copy') && model.nameOf(event).includes('Host') && events.aux[event] <= TINY_BYTES;
      const launch = isTiny && isIn(spans, events.start[event]) ? model.launchOf(event) : -1;
      return launch >= 0 && isWaitedFor(model, launch, events.start[event]);
    };
  const finders = new Map([
    ['allocation', () => allocationsOf(model, gpu, spans)],
    ['repeated_copies', again],
    ['round_trips', again],
    ['streamed_copies', again],
    ['copies_on_compute_stream', () => copiesBetweenKernels(model, gpu)],
  ]);
  const found = finders.get(String(what))?.();
  if (found) return (/** @type {number} */ event) => found.has(event);
  if (what === 'long_calls')
    return (/** @type {number} */ event) => own(event, 'kernel') && model.nameOf(event) === example && events.duration[event] > TIMES_THE_MEDIAN * 1000 * Number(median);
  if (what === 'underfilled') return ofShapes(model, gpu, ({ fill }) => fill === 'underfilled');
  return what === 'small_blocks' ? ofShapes(model, gpu, (shape) => Number(shape.threads_per_block) < WARP) : null;
}
