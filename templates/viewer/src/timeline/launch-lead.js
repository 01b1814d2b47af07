/** @import { Model } from '../model.js' */
/** @import { Chart, Point } from './charts.js' */
import { VarintReader } from '../decode.js';
import { duration, integer } from '../format.js';
import { makeChart } from './charts.js';

/**
 * Operations of a GPU that were launched: when the call returned, when they began and when they were done.
 * @typedef {{launched: number, begun: number, done: number}} Launched
 * @param {Model} model @param {number} gpu @returns {Launched[]}  ascending by begin
 */
export function launchesOf(model, gpu) {
  const { start, link } = model.events;
  /** @type {Launched[]} */
  const list = [];
  for (const lane of model.lanes) {
    if (!model.isGpuLane(lane) || lane.gpu !== gpu) continue;
    for (let i = lane.first; i < lane.first + lane.count; i++) if (link[i] > 0) list.push({ launched: model.end(link[i] - 1), begun: start[i], done: model.end(i) });
  }
  return list.sort((a, b) => a.begun - b.begun || a.launched - b.launched);
}

/** Each value holds until the next one. @param {{time: number, value: number}[]} changes  ascending @param {number} end @returns {Point[]} */
function steps(changes, end) {
  return changes.map(({ time, value }, i) => ({ start: time, end: i + 1 < changes.length ? changes[i + 1].time : Math.max(end, time), value, high: value }));
}

/** Operations in the queue: their calls have returned and they have not begun. @param {{launched: number, begun: number}[]} list */
export function queueDepth(list) {
  const waiting = list.filter(({ launched, begun }) => launched < begun);
  const [ins, outs] = [waiting.map(({ launched }) => launched).sort((a, b) => a - b), waiting.map(({ begun }) => begun)];
  /** @type {{time: number, value: number}[]} */
  const changes = list.length > 0 ? [{ time: Math.min(list[0].begun, ins[0] ?? Infinity), value: 0 }] : [];
  for (let i = 0, o = 0; o < outs.length; ) {
    const time = Math.min(ins[i] ?? Infinity, outs[o]);
    while (ins[i] === time) i++;
    while (outs[o] === time) o++;
    if (changes[changes.length - 1].time === time) changes[changes.length - 1].value = i - o;
    else changes.push({ time, value: i - o });
  }
  return changes;
}

/**
 * How long each operation had been queued when it began; 0 where it began before its call returned, and from when all
 * that was launched is done: what the last one waited says nothing of a pause.
 * @param {Launched[]} list
 */
export function queueTime(list) {
  /** @type {{time: number, value: number}[]} */
  const changes = [];
  const nextCall = new Float64Array(list.length + 1).fill(Infinity);
  for (let i = list.length - 1; i >= 0; i--) nextCall[i] = Math.min(nextCall[i + 1], list[i].launched);
  let busyUntil = -Infinity;
  list.forEach(({ launched, begun, done }, i) => {
    const value = Math.max(0, begun - launched);
    const last = changes[changes.length - 1];
    // Of operations that begin together the one that waited least says how far ahead the CPU is.
    if (last?.time === begun) last.value = Math.min(last.value, value);
    else changes.push({ time: begun, value });
    busyUntil = Math.max(busyUntil, done);
    const next = i + 1 < list.length ? list[i + 1].begun : Infinity;
    if (next > busyUntil && nextCall[i + 1] > busyUntil) changes.push({ time: busyUntil, value: 0 });
  });
  return changes;
}

/**
 * Of a page without all launches, what the program knows of them: per bin the least and the most.
 * @param {Model} model @param {number} gpu
 * @returns {{depth: (Point & {sum: number})[], lead: Point[]} | null}  sum: of operations in the queue times ns
 */
export function queueBins(model, gpu) {
  if (!model.events.queueBins) return null;
  const reader = new VarintReader(model.events.queueBins);
  for (const { gpu: own, start_ns: from, end_ns: to, bin_ns: width, lead_bins: leadBins } of model.timeline.queues ?? []) {
    const bins = Math.ceil((to - from) / width);
    const point = (/** @type {number} */ bin) => {
      const value = reader.next();
      return { start: from + bin * width, end: Math.min(to, from + (bin + 1) * width), value, high: value + reader.next() };
    };
    const depth = Array.from({ length: bins }, (_, i) => ({ ...point(i), sum: reader.next() }));
    const lead = Array.from({ length: leadBins }, (_, i) => point(bins - leadBins + i));
    if (own === gpu) return { depth, lead };
  }
  return null;
}

/** @param {Model} model @param {number} gpu @returns {{depth: Point[], lead: Point[], mean?: (at: number) => string}} */
function launchPoints(model, gpu) {
  const bins = model.aggregated ? queueBins(model, gpu) : null;
  if (bins) return { ...bins, mean: (at) => `mean ${(bins.depth[at].sum / (bins.depth[at].end - bins.depth[at].start)).toFixed(1)}` };
  const list = launchesOf(model, gpu);
  const end = list.length > 0 ? list[list.length - 1].begun : 0;
  return { depth: steps(queueDepth(list), end), lead: steps(queueTime(list), end) };
}

/** How far the CPU runs ahead of a GPU. @param {Model} model @param {number} gpu @returns {Chart[]}  queue depth, then time */
export function launchCharts(model, gpu) {
  const { depth, lead, mean } = launchPoints(model, gpu);
  const facts = { table: 'launch_breakdown', kind: /** @type {const} */ ('queue'), gpu, pid: -1, highWord: 'most' };
  return [
    makeChart({ ...facts, label: 'Launch queue', hint: QUEUE_HINT, format: integer, detail: mean }, depth, 1),
    makeChart({ ...facts, label: 'Launch lead', hint: LEAD_HINT, format: duration }, lead, 1),
  ];
}

export const QUEUE_HINT = 'Operations that were launched and have not begun. Empty: the GPU has caught up with the CPU and starves. Zoomed out, dark is the least of a pixel and pale the most';
export const LEAD_HINT = 'How long the operation that begins here had been queued, from the return of its launch call: how far the CPU is ahead of the GPU. 0 where all that was launched is done';
