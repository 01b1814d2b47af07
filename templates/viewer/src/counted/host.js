/** @import { Model } from '../model.js' */
/** @import { Cell, LaneKind } from '../types.js' */

const MARKED = 4; // in `aux` of samples and host functions

/** Events of a process that have a name. @param {Model} model @param {LaneKind} kind @param {Cell} pid @param {string} name */
function named(model, kind, pid, name) {
  const wanted = model.nameIndex.get(name);
  return (/** @type {number} */ event) => {
    if (model.events.name[event] !== wanted) return false;
    const lane = model.laneOf(event);
    return lane.kind === kind && lane.pid === pid;
  };
}

/** Accesses of one kind to a file, which the page names "read ~/shard_#.bin". @param {Model} model @param {Record<string, Cell>} of @param {string} part  "open" */
export const accessesOf = (model, { pid, file }, part) => named(model, 'file', pid, `${part || 'read'} ${file}`);

/** Executions of a function in one stream, as nodes of graphs or by themselves. @param {Model} model @param {Record<string, Cell>} of */
export function hostFunctionsOf(model, { pid, device_id: gpu, context_id: context, stream_id: stream, function: name, kind }) {
  const isNamed = named(model, 'host_function', pid, String(name ?? 'host function'));
  return (/** @type {number} */ event) => {
    if (!isNamed(event) || (kind === 'graph') !== (model.events.aux[event] & MARKED) > 0) return false;
    const lane = model.laneOf(event);
    return lane.gpu === gpu && lane.context === context && lane.stream === stream;
  };
}

/** Samples of a thread in functions that optimized code does not call. @param {Model} model @param {Record<string, Cell>} of */
export function samplesOf(model, { pid, tid }) {
  return (/** @type {number} */ event) => {
    const lane = model.laneOf(event);
    return lane.kind === 'sample' && lane.pid === pid && lane.tid === tid && (model.events.aux[event] & MARKED) > 0;
  };
}
