/** @import { TimelineView } from './view.js' */
/** @import { Model } from '../model.js' */
/** @import { Gaps } from './layout.js' */
/** @import { Projected } from '../projection.js' */
/** @import { RangeStats } from './stats.js' */
/** @import { Child } from '../dom.js' */
import { CAUSE_COLORS, categoryColor, causeName, UTILIZATION_PARTS } from '../colors.js';
import { h, name } from '../dom.js';
import { bytes, duration, integer, percent } from '../format.js';
import { folded } from '../iterations/instances.js';
import { rowCount } from '../table-schema.js';

const RANGES_MAX = 8;

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
 * @param {Model} model @param {number} from @param {number} to
 */
export function copiesBetween(model, from, to) {
  /** @type {Map<string, {count: number, bytes: number, ns: number}>} */
  const copies = new Map();
  const { name: names, aux, duration: durations } = model.events;
  for (const lane of model.lanes) {
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

/** Compute, exposed communication, exposed copy and idle of a GPU; null where the page does not know them exactly. @param {TimelineView} view @param {number} gpu @param {number} from @param {number} to */
function sharesOf(view, gpu, from, to) {
  const data = view.model.timeline.utilization.find((candidate) => candidate.device_id === gpu);
  const sums = data ? view.painter.utilization(data, 0) : null;
  return sums?.isExact ? sums.between(from, to) : null;
}

/** @param {string} color @param {string} text */
function label(color, text) {
  const swatch = h('i', { class: 'swatch' });
  swatch.style.background = color;
  return h('td', {}, swatch, name(text));
}

/** @param {string} title @param {string[]} headings @param {HTMLElement[][]} rows @returns {Child[]} */
function section(title, headings, rows) {
  if (rows.length === 0) return [];
  return [
    h('h3', {}, title),
    h(
      'table',
      { class: 'mini parts' },
      h('thead', {}, h('tr', {}, headings.map((text, index) => h('th', { class: index > 0 ? 'num' : null }, text)))),
      h('tbody', {}, rows.map((cells) => h('tr', {}, cells))),
    ),
  ];
}

/** @param {Child} text */
const number = (text) => h('td', { class: 'num' }, text);

/** How each GPU's time in a stretch is shared out. @param {TimelineView} view @param {RangeStats} stats @returns {Child[]} */
export function splitOfRange(view, stats) {
  const { from, to, gpus } = stats;
  const known = gpus.map(({ gpu }) => ({ gpu, shares: sharesOf(view, gpu, from, to) })).filter(({ shares }) => shares !== null);
  return section(
    'GPU time',
    ['Part', ...known.map(({ gpu }) => `GPU ${gpu}`)].slice(0, 5),
    known.length === 0
      ? []
      : UTILIZATION_PARTS.map((part, index) => [
          h('td', {}, h('i', { class: `swatch util${part.variable}` }), part.label),
          ...known.slice(0, 4).map(({ shares }) => h('td', { class: 'num', title: duration(shares?.[index] ?? 0) }, percent(shares?.[index] ?? 0, to - from))),
        ]),
  );
}

/** Why GPUs were idle, what kinds of kernels ran, which ranges, and how fast copies were. @param {TimelineView} view @param {RangeStats} stats @returns {Child[]} */
export function partsOfRange(view, stats) {
  const { from, to } = stats;
  return [...idleSection(view, stats), ...categorySection(view.model, stats), ...rangeSection(view, from, to), ...copySection(view.model, from, to)];
}

/** @param {TimelineView} view @param {RangeStats} stats @returns {Child[]} */
function idleSection(view, { from, to, gpus }) {
  const table = view.model.table('gpu_idle_gaps');
  if (!table || rowCount(table) > table.rows.length) return [];
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
  const rows = [...causes].sort((a, b) => b[1] - a[1]).map(([cause, ns]) => [label(CAUSE_COLORS[cause] ?? CAUSE_COLORS.unknown, causeName(cause)), number(duration(ns)), number(percent(ns, whole))]);
  if (shorter > 0.5) rows.push([h('td', { class: 'muted' }, 'not in the table of gaps'), number(duration(shorter)), number(percent(shorter, whole))]);
  return section(gpus.length > 1 ? 'Idle time by cause, all GPUs' : 'Idle time by cause', ['Cause', 'Time', 'Share'], rows);
}

/** @param {Model} model @param {RangeStats} stats @returns {Child[]} */
function categorySection(model, { kernels, kernelNs }) {
  /** @type {Map<string, {count: number, ns: number}>} */
  const categories = new Map();
  for (const { name: id, count, ns } of kernels) {
    if (id < 0) return [];
    const entry = categories.get(model.category(id) ?? 'other') ?? { count: 0, ns: 0 };
    categories.set(model.category(id) ?? 'other', entry);
    entry.count += count;
    entry.ns += ns;
  }
  const rows = [...categories].sort((a, b) => b[1].ns - a[1].ns).map(([category, { ns }]) => [label(categoryColor(category), category), number(duration(ns)), number(percent(ns, kernelNs))]);
  return section('Kernel time by category', ['Category', 'Time', 'Share'], rows);
}

/** @param {TimelineView} view @param {number} from @param {number} to @returns {Child[]} */
function rangeSection(view, from, to) {
  const { model, layout } = view;
  // What takes its time is made when the timeline shows it.
  if (!layout.tracks.some((track) => track.projection)) return [];
  const rows = rangesBetween(model, layout.projections.values(), from, to)
    .slice(0, RANGES_MAX)
    .map(([text, { count, ns, range }]) => [
      h('td', {}, h('button', { type: 'button', class: 'link', title: text, onclick: () => view.setSearchText(model.nameOf(range)) }, name(text))),
      number(integer(count)),
      number(duration(ns)),
    ]);
  return section('NVTX ranges on the GPU', ['Range', 'Calls', 'Time'], rows);
}

/** @param {Model} model @param {number} from @param {number} to @returns {Child[]} */
function copySection(model, from, to) {
  if (!model.complete(from, to)) return [];
  const rows = copiesBetween(model, from, to).map(([text, { bytes: size, ns }]) => [h('td', {}, name(text)), number(bytes(size)), number(ns > 0 ? `${(size / ns).toFixed(1)} GB/s` : '–')]);
  return section('Copies', ['Direction', 'Size', 'Bandwidth'], rows);
}
