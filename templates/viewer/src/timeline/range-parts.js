/** @import { TimelineView } from './view.js' */
/** @import { Lane, Utilization } from '../types.js' */
/** @import { Model } from '../model.js' */
/** @import { Gaps } from './layout.js' */
/** @import { Projected } from '../projection.js' */
/** @import { RangeStats } from './stats.js' */
import { categoryColor, causeColor, causeName, UTILIZATION_PARTS } from '../colors.js';
import { bytes, counted, duration, folded, percent } from '../format.js';
import { worstFirst } from '../gpu-summary.js';
import { rowCount } from '../table-schema.js';

/**
 * What a stretch of time holds of one thing.
 * @typedef {object} Entry
 * @property {string} label
 * @property {number} ns
 * @property {number} [count]
 * @property {number} [bytes]
 * @property {string} [color]
 * @property {string} [search]  what a click looks for
 *
 * @typedef {{title: string, what: string, whole?: number, entries: Entry[]}} Section  whole: ns that shares are of
 */

/** Idle time of a stretch by cause, from the gaps that overlap it. @param {Gaps} gaps @param {number} from @param {number} to @returns {Map<string, number>} ns */
export function idleByCause(gaps, from, to) {
  /** @type {Map<string, number>} */
  const causes = new Map();
  for (let i = gaps.firstAfter(from); i < gaps.start.length && gaps.start[i] < to; i++) {
    const ns = Math.min(to, gaps.end[i]) - Math.max(from, gaps.start[i]);
    if (ns > 0) causes.set(gaps.cause[i], (causes.get(gaps.cause[i]) ?? 0) + ns);
  }
  return causes;
}

/**
 * Copies that begin in a stretch, by name: bytes, and their own time. Of a page that has every event of it.
 * @param {Model} model @param {number} from @param {number} to @param {Lane[]} [lanes]
 */
export function copiesBetween(model, from, to, lanes = model.lanes) {
  /** @type {Map<string, {count: number, bytes: number, ns: number}>} */
  const copies = new Map();
  const { name: names, aux, duration: durations } = model.events;
  for (const lane of lanes) {
    if (lane.kind !== 'copy') continue;
    for (let i = model.lowerBound(lane, from); i < model.lowerBound(lane, to); i++) {
      const entry = copies.get(model.names[names[i]]) ?? { count: 0, bytes: 0, ns: 0 };
      copies.set(model.names[names[i]], entry);
      entry.count++;
      entry.bytes += aux[i];
      entry.ns += durations[i];
    }
  }
  return [...copies].sort((a, b) => b[1].ns - a[1].ns);
}

/** Time of projected ranges inside a stretch, by name; ranges inside each other count each. @param {Model} model @param {Iterable<Projected[]>} lists  by GPU @param {number} from @param {number} to */
export function rangesBetween(model, lists, from, to) {
  /** @type {Map<string, {count: number, ns: number, range: number}>} */
  const ranges = new Map();
  for (const list of lists) {
    for (const { range, start, end } of list) {
      if (start >= to) break;
      if (end <= from) continue;
      const text = folded(model.nameOf(range));
      const entry = ranges.get(text) ?? { count: 0, ns: 0, range };
      ranges.set(text, entry);
      entry.count += start >= from ? 1 : 0;
      entry.ns += Math.min(to, end) - Math.max(from, start);
    }
  }
  return [...ranges].sort((a, b) => b[1].ns - a[1].ns || (a[0] < b[0] ? -1 : 1));
}

/** Calls of each thread that begin in a stretch, the time inside it, and what of that blocks. @param {Model} model @param {RangeStats} stats @returns {Entry[]} */
export function callsByThread(model, { from, to, lanes }) {
  const { start, duration } = model.events;
  return lanes
    .filter(({ kind }) => kind === 'api')
    .map((lane) => {
      const entry = { label: `${model.threadLabel(lane.pid, lane.tid)}, ${model.processLabel(lane.pid)}`, count: 0, ns: 0 };
      for (let i = lane.first; i < model.lowerBound(lane, to); i++) {
        entry.count += start[i] >= from ? 1 : 0;
        entry.ns += Math.max(0, Math.min(to, start[i] + duration[i]) - Math.max(from, start[i]));
      }
      return entry;
    })
    .filter(({ count, ns }) => count > 0 || ns > 0)
    .sort((a, b) => b.ns - a.ns);
}

/** Compute, exposed communication, exposed copy and idle of a GPU; null where the page does not know them exactly. @param {TimelineView} view @param {number} gpu @param {number} from @param {number} to */
function sharesOf(view, gpu, from, to) {
  const data = view.model.timeline.utilization.find((candidate) => candidate.device_id === gpu);
  const sums = data ? view.painter.utilization(data, 0) : null;
  return sums?.isExact ? sums.between(from, to) : null;
}

/**
 * @typedef {{label: string, gpus: number[]}[]} GpuGroups
 * @typedef {{view: TimelineView, stats: RangeStats}} Held  what a range of a timeline holds
 */

/** GPUs one by one; of many those that stand out in the ranges, and the others together. @param {Held[]} ranges @returns {GpuGroups} */
export function groupGpus(ranges) {
  const ids = new Set(ranges.flatMap(({ stats }) => stats.gpus.map(({ gpu }) => gpu)));
  const data = [...ids].map((gpu) => {
    const shares = ranges.map(({ view, stats: { from, to, gpus } }) => {
      const busy = gpus.find((one) => one.gpu === gpu)?.busyNs ?? 0;
      return sharesOf(view, gpu, from, to) ?? [busy, 0, 0, to - from - busy];
    });
    const parts = UTILIZATION_PARTS.map(({ key }, part) => [key, shares.map((one) => one[part])]);
    return /** @type {Utilization} */ ({ device_id: gpu, ...Object.fromEntries(parts) });
  });
  const { first, rest } = worstFirst(data);
  const others = first.length > 0 ? [{ label: `${rest.length} other GPUs`, gpus: rest.map(({ device_id: gpu }) => gpu) }] : [];
  return [...(first.length > 0 ? first : rest).map(({ device_id: gpu }) => ({ label: `GPU ${gpu}`, gpus: [gpu] })), ...others];
}

/** @param {RangeStats} stats @param {GpuGroups} groups @returns {[string, string][]} */
export function gpuFacts({ from, to, gpus }, groups) {
  return groups.flatMap(({ label, gpus: members }) => {
    const own = gpus.filter(({ gpu }) => members.includes(gpu));
    if (own.length === 0) return [];
    const busy = own.map(({ busyNs }) => busyNs).sort((a, b) => a - b);
    const shares = [...new Set([busy[0], busy[busy.length - 1]].map((ns) => percent(ns, to - from)))];
    const sum = (/** @type {'kernels' | 'copies' | 'copiedBytes'} */ key) => own.reduce((total, gpu) => total + gpu[key], 0);
    return [[label, `busy ${shares.join(' to ')}${own.length > 1 ? '' : ` (${duration(busy[0])})`}, ${counted(sum('kernels'), 'kernel')}, ${counted(sum('copies'), 'copy', 'copies')}` + (sum('copiedBytes') > 0 ? `, ${bytes(sum('copiedBytes'))}` : '')]];
  });
}

/** How each GPU's time in a stretch is shared out: of whole GPUs, not of some streams. @param {TimelineView} view @param {RangeStats} stats @param {GpuGroups} groups @returns {Section[]} */
export function splitOfRange(view, { from, to, lanes }, groups) {
  if (lanes !== view.model.lanes) return [];
  const known = groups.map(({ label, gpus }) => ({ label, all: gpus.flatMap((gpu) => sharesOf(view, gpu, from, to) ?? []), count: gpus.length })).filter(({ all, count }) => all.length === UTILIZATION_PARTS.length * count);
  const entries = known.flatMap(({ label: gpu, all, count }) =>
    UTILIZATION_PARTS.map(({ label, variable }, part) => ({
      label: known.length > 1 ? `${label}, ${gpu}${count > 1 ? ', mean' : ''}` : label,
      ns: all.reduce((sum, ns, i) => sum + (i % UTILIZATION_PARTS.length === part ? ns : 0), 0) / count,
      color: `var(${variable})`,
    })),
  );
  return [{ title: 'GPU time', what: 'Part', whole: to - from, entries }];
}

/** Why GPUs were idle. @param {TimelineView} view @param {RangeStats} stats @returns {Section[]} */
function idleSection(view, { from, to, gpus, lanes }) {
  const table = view.model.table('gpu_idle_gaps');
  if (!table || rowCount(table) > table.rows.length || lanes !== view.model.lanes) return [];
  /** @type {Map<string, number>} */
  const causes = new Map();
  let shorter = 0;
  for (const { gpu } of gpus) {
    const shares = sharesOf(view, gpu, from, to);
    if (!shares) return [];
    const gaps = view.layout.tracks.find((track) => track.gaps && track.gpu === gpu)?.gaps;
    shorter += shares[3];
    for (const [cause, ns] of gaps ? idleByCause(gaps, from, to) : []) {
      causes.set(cause, (causes.get(cause) ?? 0) + ns);
      shorter -= ns;
    }
  }
  const whole = [...causes.values()].reduce((sum, ns) => sum + ns, Math.max(0, shorter));
  /** @type {Entry[]} */
  const entries = [...causes].sort((a, b) => b[1] - a[1]).map(([cause, ns]) => ({ label: causeName(cause), ns, color: causeColor(cause) }));
  if (shorter > 0.5) entries.push({ label: 'not in the table of gaps', ns: shorter });
  return [{ title: gpus.length > 1 ? 'Idle time by cause, all GPUs' : 'Idle time by cause', what: 'Cause', whole, entries }];
}

/** @param {Model} model @param {RangeStats} stats @returns {Section[]} */
function categorySection(model, { kernels, kernelNs }) {
  /** @type {Map<string, Entry>} */
  const categories = new Map();
  for (const { name: id, count, ns } of kernels) {
    if (id < 0) return [];
    const label = model.category(id) ?? 'other';
    const entry = categories.get(label) ?? { label, count: 0, ns: 0, color: categoryColor(label) };
    categories.set(label, entry);
    entry.count = (entry.count ?? 0) + count;
    entry.ns += ns;
  }
  return [{ title: 'Kernel time by category', what: 'Category', whole: kernelNs, entries: [...categories.values()].sort((a, b) => b.ns - a.ns) }];
}

/** @param {Model} model @param {{name: number, count: number, ns: number}[]} totals @returns {Entry[]} */
function named(model, totals) {
  return totals.map(({ name, count, ns }) =>
    name < 0 ? { label: 'all other names', count, ns } : { label: model.shortNames[name] || model.names[name], count, ns, search: model.names[name] },
  );
}

/** NVTX ranges as the GPUs ran them. @param {TimelineView} view @param {RangeStats} stats @returns {Section[]} */
function rangeSection({ model, layout }, { from, to, gpus }) {
  // What takes its time is made when the timeline shows it.
  if (!model.complete(from, to) || !layout.tracks.some((track) => track.projection)) return [];
  const lists = gpus.map(({ gpu }) => layout.projections.get(gpu) ?? []);
  const entries = rangesBetween(model, lists, from, to).map(([label, { count, ns, range }]) => ({ label, count, ns, search: model.nameOf(range) }));
  return [{ title: 'NVTX ranges on the GPU', what: 'Range', entries }];
}

/** @param {Model} model @param {RangeStats} stats @returns {Section[]} */
function copySection(model, { from, to, lanes }) {
  if (!model.complete(from, to)) return [];
  return [{ title: 'Copies', what: 'Direction', entries: copiesBetween(model, from, to, lanes).map(([label, entry]) => ({ label, ...entry })) }];
}

/** Everything that a stretch of time holds. @param {TimelineView} view @param {RangeStats} stats @param {GpuGroups} groups @returns {Section[]} */
export function sectionsOf(view, stats, groups) {
  const { model } = view;
  const calls = stats.apis.reduce((sum, { ns }) => sum + ns, 0);
  const threads = model.complete(stats.from, stats.to) ? callsByThread(model, stats) : [];
  return [
    ...splitOfRange(view, stats, groups),
    { title: 'Top kernels', what: 'Kernel', whole: stats.kernelNs, entries: named(model, stats.kernels) },
    ...categorySection(model, stats),
    ...idleSection(view, stats),
    ...rangeSection(view, stats),
    ...copySection(model, stats),
    { title: 'CUDA calls', what: 'Call', whole: calls, entries: named(model, stats.apis) },
    { title: 'CUDA calls by thread', what: 'Thread', whole: calls, entries: threads.length > 1 ? threads : [] },
  ];
}
