/** @import { Lane } from '../types.js' */
/** @import { Model } from '../model.js' */
import { launchesWork } from './stats.js';

/** Numbers of the API events that begin inside a range, on its thread. @param {Model} model @param {number} range @param {Lane} lane */
function callsInside(model, range, lane) {
  /** @type {[number, number][]} */
  const spans = [];
  for (const calls of model.lanes) {
    if (calls.kind !== 'api' || calls.pid !== lane.pid || calls.tid !== lane.tid) continue;
    const low = model.lowerBound(calls, model.events.start[range]);
    const high = model.lowerBound(calls, model.end(range));
    if (high > low) spans.push([low, high]);
  }
  return spans;
}

/**
 * GPU work that a call, or the calls inside a range, launched.
 * @param {Model} model @param {number} event
 * @returns {{events: number[], whole: boolean}}  whole: nothing of it is missing from the page
 */
export function launchedBy(model, event) {
  const lane = model.laneOf(event);
  const spans = lane.kind === 'api' ? [[event, event + 1]] : lane.kind === 'nvtx' ? callsInside(model, event, lane) : [];
  const events = spans.flatMap(([low, high]) => model.launchedBy(low, high));
  if (!model.aggregated) return { events, whole: true };
  // Every launching call has exactly one piece of work here: a graph's parts may be spread over complete and other stretches.
  const { aux, link } = model.events;
  let launching = 0;
  for (const [low, high] of spans) for (let i = low; i < high; i++) if (launchesWork(aux[i])) launching++;
  const matched = new Set(events.map((item) => link[item])).size;
  const known = lane.kind === 'api' || model.complete(model.events.start[event], model.end(event));
  return { events, whole: known && launching === matched && matched === events.length };
}
