/** @import { TimelineView } from './view.js' */
/** @import { Child } from '../dom.js' */
/** @import { PanelCell } from './panel-table.js' */
/** @import { Entry, GpuGroups, Held, Section } from './range-parts.js' */
/** @import { RangeStats } from './stats.js' */
import { h } from '../dom.js';
import { bytes, counted, duration, durationsLike, integer, percent } from '../format.js';
import { fields } from './event-details.js';
import { panelTable } from './panel-table.js';
import { gpuFacts, groupGpus, sectionsOf } from './range-parts.js';

/** Time in blocking calls: a sum over threads would exceed the range. @param {RangeStats} stats */
function blocked({ blockedNs: ns, threads }) {
  return threads > 1 ? `${duration(ns / threads)} per thread, mean of ${threads} threads` : duration(ns);
}

/** What a range is, in lines. @param {TimelineView} view @param {RangeStats} stats @param {GpuGroups} groups @returns {[string, string][]} */
function factsOf(view, stats, groups) {
  const { clock } = view.model;
  return [
    ['From', clock.format(stats.from)],
    ['To', clock.format(stats.to)],
    ['Length', duration(stats.to - stats.from)],
    ...gpuFacts(stats, groups),
    ['Kernels', `${integer(stats.kernelCount)}, ${duration(stats.kernelNs)} in total`],
    ['Launches', `${integer(stats.launches)} of ${counted(stats.apiCalls, 'call')}`],
    ['Host blocked', blocked(stats)],
  ];
}

/** @param {number} size @param {number} ns */
const rate = (size, ns) => (ns > 0 ? size / ns : 0);

/** @param {number} perNs */
const rateText = (perNs) => (perNs > 0 ? `${perNs.toFixed(1)} GB/s` : '–');

/** @param {TimelineView} view @param {Entry} entry @returns {PanelCell} */
function labelCell(view, { label, color, search }) {
  return { text: label, title: search, color, open: search ? () => view.setSearchText(search) : undefined };
}

/** @param {TimelineView} view @param {Section} section @returns {Child[]} */
function one(view, { title, what, whole, entries }) {
  if (title === 'Copies') {
    const rows = entries.map((entry) => {
      const [size, per] = [entry.bytes ?? 0, rate(entry.bytes ?? 0, entry.ns)];
      return [labelCell(view, entry), { text: bytes(size), value: size }, { text: rateText(per), value: per }];
    });
    return panelTable(title, [{ label: what }, { label: 'Size' }, { label: 'Bandwidth', width: 76 }], rows);
  }
  const counts = entries.some(({ count }) => count !== undefined);
  const columns = [
    { label: what },
    ...(counts ? [{ label: 'Calls', title: 'Those that begin in the range', width: 52 }] : []),
    { label: 'Time', width: 76 },
    ...(whole === undefined ? [] : [{ label: 'Share', width: 54 }]),
  ];
  const time = durationsLike(entries.map(({ ns }) => ns));
  const rows = entries.map((entry) => [
    labelCell(view, entry),
    ...(counts ? [{ text: integer(entry.count ?? 0), value: entry.count ?? 0 }] : []),
    { text: time(entry.ns), value: entry.ns },
    ...(whole === undefined ? [] : [{ text: percent(entry.ns, whole), value: entry.ns }]),
  ]);
  return panelTable(title, columns, rows);
}

/** The same thing of both ranges. @param {Section[]} pair */
export function paired([a, b]) {
  /** @type {Map<string, {either: Entry, a: Entry | null, b: Entry | null}>} */
  const found = new Map();
  for (const entry of a?.entries ?? []) found.set(entry.search ?? entry.label, { either: entry, a: entry, b: null });
  for (const entry of b?.entries ?? []) {
    const key = entry.search ?? entry.label;
    found.set(key, { either: entry, a: found.get(key)?.a ?? null, b: entry });
  }
  return [...found.values()];
}

/** @param {TimelineView} view @param {Section} a @param {Section} b @param {string[]} labels  of the two @returns {Child[]} */
function two(view, a, b, [left, right]) {
  const copies = a.title === 'Copies';
  const time = durationsLike([...a.entries, ...b.entries].map(({ ns }) => ns));
  const cell = (/** @type {Entry | null} */ entry, /** @type {number | undefined} */ whole) => {
    const value = copies ? rate(entry?.bytes ?? 0, entry?.ns ?? 0) : (entry?.ns ?? 0);
    const more = [entry?.count === undefined ? '' : counted(entry.count, 'call'), entry && whole ? percent(entry.ns, whole) : '', copies ? bytes(entry?.bytes ?? 0) : ''];
    return { text: entry ? (copies ? rateText(value) : time(value)) : '–', value, title: more.filter(Boolean).join(', ') };
  };
  const rows = paired([a, b]).map((pair) => {
    const [first, second] = [cell(pair.a, a.whole), cell(pair.b, b.whole)];
    const change = second.value - first.value;
    const text = copies ? rateText(Math.abs(change)) : time(Math.abs(change));
    return [labelCell(view, pair.either), first, second, { text: change === 0 ? '0' : `${change < 0 ? '−' : '+'}${text}`, value: change }];
  });
  if (a.title !== 'GPU time') rows.sort((x, y) => Math.max(y[1].value ?? 0, y[2].value ?? 0) - Math.max(x[1].value ?? 0, x[2].value ?? 0));
  return panelTable(a.title, [{ label: a.what }, { label: left }, { label: right }, { label: `${right} − ${left}`, width: 86 }], rows);
}

/** What a range holds. @param {TimelineView} view @param {RangeStats} stats @returns {Child[]} */
export function rangeReport(view, stats) {
  return sectionsOf(view, stats, groupGpus([{ view, stats }])).flatMap((section) => one(view, section));
}

/** @param {TimelineView} view @param {RangeStats} stats */
export const rangeFacts = (view, stats) => fields(factsOf(view, stats, groupGpus([{ view, stats }])));

/** Two ranges beside each other, of one timeline or of two. @param {Held[]} held @param {string[]} labels @returns {Child[]} */
export function rangePair(held, labels) {
  const groups = groupGpus(held);
  const [first, second] = held.map(({ view, stats }) => sectionsOf(view, stats, groups));
  const [facts, others] = held.map(({ view, stats }) => new Map(factsOf(view, stats, groups)));
  const titles = [...new Set([...first, ...second].map(({ title }) => title))];
  const empty = (/** @type {Section} */ section) => ({ ...section, entries: [] });
  return [
    h(
      'table',
      { class: 'mini pair' },
      h('thead', {}, h('tr', {}, h('td', {}), labels.map((label) => h('th', { scope: 'col' }, label)))),
      h('tbody', {}, [...new Set([...facts.keys(), ...others.keys()])].map((label) => h('tr', {}, h('th', { scope: 'row' }, label), h('td', {}, facts.get(label) ?? '–'), h('td', {}, others.get(label) ?? '–')))),
    ),
    ...titles.flatMap((title) => {
      const [one, other] = [first, second].map((sections) => sections.find((section) => section.title === title));
      const either = /** @type {Section} */ (one ?? other);
      return two(held[0].view, one ?? empty(either), other ?? empty(either), labels);
    }),
  ];
}
