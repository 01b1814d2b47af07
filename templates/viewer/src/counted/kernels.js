/** @import { Model } from '../model.js' */
/** @import { Cell } from '../types.js' */
import { Paths } from '../paths.js';
import { records } from '../table-schema.js';
import { activeSpans, isIn } from './active.js';
import { firstCopies } from './copies.js';

/** Grid and block of a kernel as tables write them. @param {Model} model @param {number} event */
export function shapeOf(model, event) {
  const config = model.timeline.configs[model.events.aux[event] - 1] ?? [];
  return [config.slice(0, 3).join('x'), config.slice(3, 6).join('x')];
}

/** Kernels of a GPU whose shape is one of these. @param {Model} model @param {Cell} gpu @param {(shape: Record<string, Cell>) => boolean} isWanted */
export function ofShapes(model, gpu, isWanted) {
  const shapes = new Set(
    records(model.table('kernel_shape'))
      .filter((shape) => shape.device_id === gpu && isWanted(shape))
      .map(({ kernel_name: name, grid, block }) => [name, grid, block].join()),
  );
  return (/** @type {number} */ event) => {
    const { kind, gpu: own } = model.laneOf(event);
    return kind === 'kernel' && own === gpu && shapes.has([model.nameOf(event), ...shapeOf(model, event)].join());
  };
}

/** @param {Model} model */
export const allKernels = (model) => (/** @type {number} */ event) => model.laneOf(event).kind === 'kernel';

/** Communication kernels of a process on a GPU. @param {Model} model @param {Record<string, Cell>} of */
export function communicationOf(model, { device_id: gpu, pid }) {
  return (/** @type {number} */ event) => {
    const { kind, gpu: own, pid: process } = model.laneOf(event);
    return kind === 'kernel' && own === gpu && process === pid && model.category(model.events.name[event]) === 'communication';
  };
}

/** Kernels of collectives on a GPU that table comm_instances says it of. @param {Model} model @param {Cell} gpu @param {(instance: Record<string, Cell>) => boolean} isWanted */
function ofCollectives(model, gpu, isWanted) {
  const starts = new Set(records(model.table('comm_instances')).filter((each) => each.device_id === gpu && isWanted(each)).map((each) => model.clock.relative(Number(each.start_ns))));
  return (/** @type {number} */ event) => {
    const { kind, gpu: own } = model.laneOf(event);
    return kind === 'kernel' && own === gpu && starts.has(model.events.start[event]) && model.category(model.events.name[event]) === 'communication';
  };
}

/** Kernels of one collective with messages of similar size. @param {Model} model @param {Record<string, Cell>} of */
export function kernelsOfSize(model, { device_id: gpu, communicator, op, from_bytes: from, below_bytes: below }) {
  return ofCollectives(model, gpu, (each) => each.op === op && each.communicator === communicator && Number(each.message_bytes) >= Number(from) && Number(each.message_bytes) < Number(below));
}

const [SMALL_BYTES, SMALL_BLOCKS] = [262_144, 2];

/** Kernels with small messages; where sizes are not known, those of few blocks. @param {Model} model @param {Cell} gpu */
function smallCollectives(model, gpu) {
  const isSized = ofCollectives(model, gpu, ({ message_bytes: bytes }) => bytes !== null);
  const isSmall = ofCollectives(model, gpu, ({ message_bytes: bytes }) => Number(bytes) < SMALL_BYTES);
  return (/** @type {number} */ event) => {
    const [x, y, z] = model.timeline.configs[model.events.aux[event] - 1] ?? [Infinity, 1, 1];
    return isSmall(event) && (isSized(event) || x * y * z <= SMALL_BLOCKS);
  };
}

/** Kernels confined to a part of a GPU's SMs. @param {Model} model @param {Record<string, Cell>} of */
export function kernelsOfPartition(model, { device_id: gpu, pid, green_context: context }) {
  const isOfContext = ofShapes(model, gpu, (shape) => shape.green_context === context);
  return (/** @type {number} */ event) => isOfContext(event) && model.laneOf(event).pid === pid;
}

/** Kernels of a GPU that calls of ranges of a name launched. @param {Model} model @param {Cell} gpu @param {string} range */
function kernelsIn(model, gpu, range) {
  const paths = new Paths(model);
  const wanted = paths.texts.map((path) => `/${path}/`.includes(`/${range.toLowerCase()}/`));
  return (/** @type {number} */ event) => {
    const { kind, gpu: own } = model.laneOf(event);
    return kind === 'kernel' && own === gpu && wanted[paths.of[event]];
  };
}

/** Kernels and graphs of a GPU in its active time. @param {Model} model @param {Cell} gpu */
function activeKernels(model, gpu) {
  const spans = activeSpans(model, gpu);
  return (/** @type {number} */ event) => {
    const { kind, gpu: own } = model.laneOf(event);
    return (kind === 'kernel' || kind === 'graph') && own === gpu && isIn(spans, model.events.start[event]);
  };
}

/** What a row of gpu_active counts. @param {Model} model @param {Record<string, Cell>} of @param {string} part  of its kernels */
export function kernelsOf(model, { device_id: gpu }, part) {
  const [, kind, range] = /^(kernels in|ranges) (.+)$/u.exec(part) ?? [];
  if (kind === 'ranges') return (/** @type {number} */ event) => model.laneOf(event).kind === 'nvtx' && model.nameOf(event) === range;
  if (kind) return kernelsIn(model, gpu, range);
  if (part === 'small collectives') return smallCollectives(model, gpu);
  if (part === 'first copies') return firstCopies(model, gpu);
  if (part === 'in partial waves') return ofShapes(model, gpu, ({ tail_loss_ms: lost }) => Number(lost) > 0);
  return part === 'with local memory' ? ofShapes(model, gpu, ({ local_bytes_per_thread: bytes }) => Number(bytes) > 0) : activeKernels(model, gpu);
}

/** Kernels of a name that start in a step. @param {Model} model @param {Record<string, Cell>} of @param {string} name  short */
export function kernelsOfStep(model, { device_id: gpu, gpu_start_ns: start, gpu_end_ns: end }, name) {
  const [from, to] = [start, end].map((time) => model.clock.relative(Number(time)));
  return (/** @type {number} */ event) => {
    const { kind, gpu: own } = model.laneOf(event);
    const at = model.events.start[event];
    return kind === 'kernel' && own === gpu && at >= from && at < to && model.shortNameOf(event) === name;
  };
}

/** Kernels that were tried: all variants of a family, from the first to the last trial. @param {Model} model @param {Record<string, Cell>} of */
export function triedKernels(model, { device_id: gpu, pid, family, start_ns: start, end_ns: end }) {
  const [from, to] = [start, end].map((time) => model.clock.relative(Number(time)));
  return (/** @type {number} */ event) => {
    const { kind, gpu: own, pid: process } = model.laneOf(event);
    const isThen = kind === 'kernel' && own === gpu && process === pid && model.events.start[event] >= from && model.end(event) <= to;
    return isThen && model.nameOf(event).replace(/\d+/gu, '#') === family;
  };
}
