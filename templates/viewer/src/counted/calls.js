/** @import { Model } from '../model.js' */
/** @import { Cell } from '../types.js' */
import { records } from '../table-schema.js';
import { isIn, timeOf } from './active.js';

const [BLOCKS, WAIT_SHIFT] = [1, 3]; // in `aux` of a call

/** Whether the call waits for a copy that starts then, or the thread's next call does, which does nothing else. @param {Model} model @param {number} call @param {number} start */
export function isWaitedFor(model, call, start) {
  const { events } = model;
  const lane = model.laneOf(call);
  if ((events.aux[call] & 3) === BLOCKS && model.end(call) > start) return true;
  let next = model.lowerBound(lane, model.end(call));
  if (next === call) next++;
  return next < lane.first + lane.count && (events.aux[next] & 7) === BLOCKS && !model.timeline.allocations?.includes(events.name[next]);
}

const WARM_UP = 0.2;

/** Calls of the GPU's processes that allocate or release in its active time, behind the warm-up and each function's first. @param {Model} model @param {Cell} gpu @param {[number, number][]} spans */
export function allocationsOf(model, gpu, spans) {
  const { name, start } = model.events;
  const begin = timeOf(spans, WARM_UP);
  const processes = new Set(model.lanes.filter((lane) => model.isGpuLane(lane) && lane.gpu === gpu).map(({ pid }) => pid));
  const [names, seen, found] = [new Set(model.timeline.allocations), new Set(), new Set()];
  for (const { kind, pid, first, count } of model.lanes) {
    if (kind !== 'api' || !processes.has(pid)) continue;
    for (let call = first; call < first + count; call++) {
      const key = `${pid} ${name[call]}`;
      if (!names.has(name[call])) continue;
      if (seen.has(key) && start[call] >= begin && isIn(spans, start[call])) found.add(call);
      seen.add(key);
    }
  }
  return found;
}

/** Calls that a row of launch_waits counts, one call perhaps for several GPUs. @param {Model} model @param {Record<string, Cell>} of */
export function waitsOf(model, { device_id: gpu, place }) {
  const { events, timeline } = model;
  const waits = timeline.waits ?? [];
  const isOwn = (/** @type {number} */ number) => {
    for (let at = number; at > 0; at = waits[at - 1].before) if (waits[at - 1].gpu === gpu && waits[at - 1].place === (place ?? '')) return true;
    return false;
  };
  const own = waits.map((_, at) => isOwn(at + 1));
  return (/** @type {number} */ event) => model.laneOf(event).kind === 'api' && own[(events.aux[event] >> WAIT_SHIFT) - 1] === true;
}

/** The first call of each round that a row of call_rounds counts: the outermost calls of a thread from a launch behind a wait to the next one. @param {Model} model @param {Record<string, Cell>} of */
export function roundsOf(model, { pid, round_calls: wanted }) {
  const { start, aux } = model.events;
  const launches = new Set(records(model.table('call_rounds')).map((each) => String(each.round_calls).split(', ')[0]));
  const found = new Set();
  for (const { kind, pid: own, first, count } of model.lanes) {
    let round = { call: -1, names: [''], waited: false };
    const close = () => round.waited && round.names.join(', ') === wanted && found.add(round.call);
    let until = -Infinity;
    for (let call = first; call < first + count && kind === 'api' && own === pid; call++) {
      if (start[call] < until) continue;
      until = model.end(call);
      const name = model.nameOf(call);
      if (launches.has(name) && (round.call < 0 || round.waited)) {
        close();
        round = { call, names: [name], waited: false };
      }
      if (round.names[round.names.length - 1] !== name) round.names.push(name);
      round.waited ||= (aux[call] & 3) === BLOCKS;
    }
    close();
  }
  return (/** @type {number} */ event) => found.has(event);
}

/** Calls of MPI of one kind: table mpi_calls knows the kinds of functions. @param {Model} model @param {Record<string, Cell>} of @param {string} part  "point to point": those that send or receive */
export function messagesOf(model, { pid, class: kind }, part) {
  const wanted = part === 'point to point' ? ['p2p', 'post'] : [kind];
  const names = new Set(
    records(model.table('mpi_calls'))
      .filter((each) => each.pid === pid && wanted.includes(String(each.class)))
      .map((each) => each.function),
  );
  return (/** @type {number} */ event) => model.laneOf(event).kind === 'mpi' && model.laneOf(event).pid === pid && names.has(model.nameOf(event));
}

/** Waits of a directive, which the page names after its place; or of all of them. @param {Model} model @param {Record<string, Cell>} of @param {string} part  "all" */
export function directiveWaitsOf(model, { pid, file, line }, part) {
  const place = part === 'all' ? '' : ` at ${file}:${line}`;
  return (/** @type {number} */ event) => model.laneOf(event).kind === 'openacc' && model.laneOf(event).pid === pid && model.nameOf(event).endsWith(place);
}

/** Calls that instantiate graphs. @param {Model} model @param {Record<string, Cell>} of */
export function instantiationsOf(model, { pid, operation }) {
  return operation === 'instantiate' ? (/** @type {number} */ event) => model.laneOf(event).kind === 'api' && model.laneOf(event).pid === pid && model.nameOf(event).includes('GraphInstantiate') : null;
}

/** Launches of a graph, where it is the only one of its process: the page does not have graphs by their number. @param {Model} model @param {Record<string, Cell>} of */
export function graphLaunchesOf(model, { pid }) {
  const launches = new Set(model.lanes.filter((lane) => lane.pid === pid && model.isGpuLane(lane)).flatMap((lane) => Array.from(model.events.link.subarray(lane.first, lane.first + lane.count), (link) => link - 1)));
  if (records(model.table('graphs')).filter((graph) => graph.pid === pid).length !== 1) return null;
  return (/** @type {number} */ event) => launches.has(event) && model.nameOf(event).includes('GraphLaunch');
}
