/** @import { Model } from '../model.js' */
/** @import { Projected } from '../projection.js' */
/** @import { Cell, PassesHead } from '../types.js' */
import { VarintReader } from '../decode.js';
import { counted, folded } from '../format.js';
import { columnIndex } from '../table-schema.js';

/**
 * One pass of what a program repeats, on one GPU.
 * @typedef {object} Instance
 * @property {string} label
 * @property {number} start  ns after the origin
 * @property {number} end
 * @property {boolean} whole  false: cut off by the capture, or not in a steady state; no statistics count it
 * @property {boolean} outlier
 * @property {string | null} cause  what the table says of an outlier
 *
 * @typedef {object} Source
 * @property {string} key  stands in links
 * @property {string} label
 * @property {number} gpu
 * @property {Instance[]} instances  ascending by start
 */

/** Fewer repeat nothing. */
const LEAST_INSTANCES = 3;
const RANGES_MAX = 40;
/** As of steps (table steps): an outlier is longer than the median by three robust standard deviations (1.4826 of the median absolute deviation), and 5 %. */
const DEVIATIONS = 3 * 1.4826;
const LEAST_SHARE = 0.05;

/** Median, of two the lower one, as in the tables. @param {number[]} values  at least one */
export const medianOf = (values) => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)];

/** @param {Instance} instance */
export const lengthOf = ({ start, end }) => end - start;

/** Median of the whole ones, and the one closest to it. @param {Instance[]} instances */
export function typical(instances) {
  const whole = instances.filter((instance) => instance.whole);
  const counted = whole.length > 0 ? whole : instances;
  const median = medianOf(counted.map(lengthOf));
  const distance = (/** @type {Instance} */ instance) => Math.abs(lengthOf(instance) - median);
  const closest = counted.reduce((best, instance) => (distance(instance) < distance(best) ? instance : best));
  return { median, index: instances.indexOf(closest), count: counted.length };
}

const QUANTILE = 0.98;
const FAR = 8;
const ROOM = 1.25;

/**
 * Where an axis of lengths ends: with the longest, unless it is so long that it would leave nothing of almost all others.
 * @param {number[]} lengths
 */
export function axisEnd(lengths) {
  const sorted = [...lengths].sort((a, b) => a - b);
  const [usual, longest] = [sorted[Math.floor((sorted.length - 1) * QUANTILE)] ?? 0, sorted[sorted.length - 1] ?? 0];
  return Math.max(1, usual > 0 && longest > FAR * usual ? ROOM * usual : longest);
}

/** Marks what is longer than the others. @param {Instance[]} instances */
function markOutliers(instances) {
  const whole = instances.filter((instance) => instance.whole);
  if (whole.length < LEAST_INSTANCES) return instances;
  const { median } = typical(instances);
  const spread = medianOf(whole.map((instance) => Math.abs(lengthOf(instance) - median)));
  const limit = median + Math.max(DEVIATIONS * spread, LEAST_SHARE * median);
  for (const instance of whole) instance.outlier = lengthOf(instance) > limit;
  return instances;
}

/** Steps of each GPU: their outliers are the table's. @param {Model} model @returns {Source[]} */
function stepSources(model) {
  const table = model.table('steps');
  const names = ['device_id', 'step', 'label', 'state', 'gpu_start_ns', 'gpu_end_ns', 'is_outlier', 'cause'];
  const at = names.map((name) => (table ? columnIndex(table, name) : -1));
  /** @type {Map<number, Instance[]>} */
  const byGpu = new Map();
  if (!table || at.slice(0, 6).includes(-1)) return [];
  for (const row of table.rows) {
    const [gpu, step, label, state, start, end, outlier, cause] = at.map((index) => (index < 0 ? null : row[index]));
    if (typeof start !== 'number' || typeof end !== 'number') continue;
    const list = byGpu.get(Number(gpu)) ?? [];
    byGpu.set(Number(gpu), list);
    list.push({
      label: `${/\d$/u.test(String(label)) ? label : `${label ?? 'step'} ${step}`}`,
      start: model.clock.relative(start),
      end: model.clock.relative(end),
      whole: state === 'steady',
      outlier: outlier === 1,
      cause: typeof cause === 'string' && outlier === 1 ? cause : null,
    });
  }
  return [...byGpu].map(([gpu, instances]) => ({ key: `s${gpu}`, label: 'Steps', gpu, instances: instances.sort((a, b) => a.start - b.start) }));
}

/**
 * First kernels of the passes of a repeating unit: all of that name, or every so many kernels, whichever gives as many as the table
 * has, equally far apart. Nothing where neither does.
 * @param {Model} model @param {number[]} kernels  of its stream, from its first one on
 * @param {{length: number, count: number, medianNs: number}} unit
 */
function beginsOf(model, kernels, { length, count, medianNs }) {
  const { name, start } = model.events;
  const named = kernels.flatMap((event, index) => (name[event] === name[kernels[0]] ? [index] : []));
  const spaced = Array.from({ length: count }, (_, i) => i * length).filter((index) => index < kernels.length);
  return [named, spaced].find((begins) => {
    if (begins.length !== count) return false;
    const apart = begins.slice(1).map((index, i) => start[kernels[index]] - start[kernels[begins[i]]]);
    return apart.length > 0 && Math.abs(medianOf(apart) - medianNs) < 1;
  });
}

/**
 * What the program wrote of a page without all events: each pass by times, of ranges with the number of its name.
 * @param {Model} model @returns {{head: PassesHead, passes: {start: number, end: number, name: number}[]}[]}
 */
function writtenPasses(model) {
  const { passTimes } = model.events;
  if (!passTimes) return [];
  const reader = new VarintReader(passTimes);
  return (model.timeline.passes ?? []).map((head) => {
    let start = 0;
    const next = () => {
      start += reader.next();
      return { start, end: start + reader.next(), name: head.name === null ? -1 : reader.next() };
    };
    return { head, passes: Array.from({ length: head.count }, next) };
  });
}

/** @param {Model} model @param {{gpu: Cell, pid: Cell, unit: Cell}} wanted @returns {Instance[]} */
function writtenUnit(model, { gpu, pid, unit }) {
  const found = writtenPasses(model).find(({ head }) => head.name === null && head.gpu === gpu && head.pid === pid && head.unit === unit);
  return (found?.passes ?? []).map(({ start, end }, i) => ({
    label: `${i + 1}`,
    start,
    end,
    whole: !(found?.head.last_is_cut && i + 1 === found.head.count),
    outlier: false,
    cause: null,
  }));
}

/**
 * The same from the page's events.
 * @param {Model} model @param {{gpu: Cell, pid: Cell, context: Cell, stream: Cell, from: number}} place
 * @param {{length: number, count: number, medianNs: number}} unit @returns {Instance[]}
 */
function unitFromEvents(model, { gpu, pid, context, stream, from }, unit) {
  const lane = model.lanes.find((one) => one.kind === 'kernel' && one.gpu === gpu && one.pid === pid && one.context === context && one.stream === stream);
  if (!lane || !(unit.length > 0)) return [];
  const first = model.lowerBound(lane, from);
  const kernels = Array.from({ length: lane.first + lane.count - first }, (_, i) => first + i);
  const begins = kernels.length > 0 ? (beginsOf(model, kernels, unit) ?? []) : [];
  const { start } = model.events;
  return begins.map((index, i) => {
    const next = begins[i + 1];
    const rest = Math.min(kernels.length - index, unit.length);
    return {
      label: `${i + 1}`,
      start: start[kernels[index]],
      end: next === undefined ? model.end(kernels[index + rest - 1]) : start[kernels[next]],
      whole: next !== undefined || rest === unit.length,
      outlier: false,
      cause: null,
    };
  });
}

/** Passes of the units of kernels that a stream repeats: a pass lasts to the begin of the next one. @param {Model} model @returns {Source[]} */
function unitSources(model) {
  const table = model.table('repeating_units');
  const names = ['device_id', 'pid', 'context_id', 'stream_id', 'unit', 'kernel_count', 'repetitions', 'median_ms', 'level', 'start_ns'];
  const at = names.map((name) => (table ? columnIndex(table, name) : -1));
  if (!table || at.includes(-1)) return [];
  return table.rows.flatMap((row) => {
    const [gpu, pid, context, stream, unit, length, count, median, level, from] = at.map((index) => row[index]);
    if (typeof from !== 'number') return [];
    const instances = model.aggregated
      ? writtenUnit(model, { gpu, pid, unit })
      : unitFromEvents(
          model,
          { gpu, pid, context, stream, from: model.clock.relative(from) },
          { length: Number(length), count: Number(count), medianNs: Number(median) * 1e6 },
        );
    if (instances.length < LEAST_INSTANCES) return [];
    const what = level === 'unknown' ? 'Repeating unit' : `Repeating ${level}`;
    return [{ key: `u${gpu}.${unit}`, label: `${what}, ${counted(Number(length), 'kernel')}`, gpu: Number(gpu), instances: markOutliers(instances) }];
  });
}

/** NVTX ranges of one name, as a GPU ran them, those with most time first. @param {Model} model @param {Map<number, Projected[]>} projections @returns {Source[]} */
function rangeSources(model, projections) {
  return [...projections].flatMap(([gpu, list]) => {
    /** @type {Map<string, Projected[]>} */
    const byName = new Map();
    /** @type {Map<number, Projected>} */
    const byRange = new Map(list.map((entry) => [entry.range, entry]));
    for (const entry of list) {
      const text = folded(model.nameOf(entry.range));
      const inside = (/** @type {Projected | undefined} */ outer) => {
        for (; outer; outer = byRange.get(outer.parent)) if (folded(model.nameOf(outer.range)) === text) return true;
        return false;
      };
      if (inside(byRange.get(entry.parent))) continue;
      const group = byName.get(text);
      if (group) group.push(entry);
      else byName.set(text, [entry]);
    }
    const time = (/** @type {Projected[]} */ group) => group.reduce((sum, { start, end }) => sum + end - start, 0);
    return [...byName]
      .filter(([, group]) => group.length >= LEAST_INSTANCES)
      .sort((a, b) => time(b[1]) - time(a[1]))
      .slice(0, RANGES_MAX)
      .map(([text, group]) => rangeSource(gpu, text, group.map(({ range, start, end }) => ({ start, end, name: model.nameOf(range) }))));
  });
}

/** @param {number} gpu @param {string} text  digits as '#' @param {{start: number, end: number, name: string}[]} passes @returns {Source} */
function rangeSource(gpu, text, passes) {
  const instances = passes.map(({ start, end, name }, i) => {
    const number = name === text ? undefined : /\d+(?!.*\d)/u.exec(name)?.[0];
    return { label: number ?? `${i + 1}`, start, end, whole: true, outlier: false, cause: null };
  });
  return { key: `r${gpu}.${text}`, label: text, gpu, instances: markOutliers(instances) };
}

/** @param {Model} model @returns {Source[]} */
function writtenRanges(model) {
  return writtenPasses(model).flatMap(({ head: { gpu, name: text }, passes }) =>
    text === null ? [] : [rangeSource(gpu, text, passes.map(({ start, end, name }) => ({ start, end, name: model.names[name] })))],
  );
}

/** Everything that repeats. @param {Model} model @param {() => Map<number, Projected[]>} project  asked for where the page has every event @returns {Source[]} */
export function sourcesOf(model, project) {
  return [...tableSources(model), ...(model.aggregated ? writtenRanges(model) : rangeSources(model, project()))];
}

/** Steps and repeating units, which the tables know. @param {Model} model @returns {Source[]} */
export function tableSources(model) {
  return [...stepSources(model), ...unitSources(model)].filter(({ instances }) => instances.length >= LEAST_INSTANCES);
}

/** Whether there is anything to show, without projecting ranges. @param {Model} model */
export function hasIterations(model) {
  if (tableSources(model).length > 0) return true;
  if (model.aggregated) return (model.timeline.passes ?? []).length > 0;
  const table = model.table('nvtx_projection');
  const at = table ? columnIndex(table, 'instances_with_work') : -1;
  return table !== null && at >= 0 && table.rows.some((row) => Number(row[at]) >= LEAST_INSTANCES);
}
