/** @import { TimelineView } from './view.js' */
/** @import { Model } from '../model.js' */
/** @import { Evidence } from '../types.js' */
import { countedSearch } from '../counted/counted.js';
import { folded } from '../format.js';
import { Search } from '../search.js';
import { columnIndex, placeColumns } from '../table-schema.js';

/** Of a wait that a table gives in µs the last ns may be lost. */
const ROUNDED_NS = 1;

/**
 * The step, collective or stretch of activity that takes this time on a GPU, or whose wait does.
 * @param {TimelineView} view @param {number} gpu @param {number} from @param {number} to @returns {[number, number] | null}
 */
function spanAt(view, gpu, from, to) {
  for (const { spans, ...track } of view.layout.tracks) {
    const at = spans && track.gpu === gpu ? spans.start.indexOf(from) : -1;
    if (!spans || at < 0) continue;
    const ends = [spans.end[at], spans.from[at]];
    if (ends.some((end) => Math.abs(end - to) <= ROUNDED_NS)) return [from, spans.end[at]];
  }
  return null;
}

/** Selects the idle gap of a GPU that takes exactly this time. @param {TimelineView} view @param {number} gpu @param {number} from @param {number} to */
function selectGapAt(view, gpu, from, to) {
  const gaps = view.layout.tracks.find((track) => track.gaps && track.gpu === gpu)?.gaps;
  const index = gaps ? gaps.firstAfter(from) : -1;
  if (!gaps || gaps.start[index] !== from || gaps.end[index] !== to) return false;
  view.selectGap(gpu, index, true);
  return true;
}

/**
 * Selects what takes exactly a time, the first of: a gap, the event of the name, a step or collective, an event that begins with it;
 * else the time.
 * @param {TimelineView} view @param {Evidence} evidence @param {number} from @param {number} to  ns after the origin
 */
function showTime(view, evidence, from, to) {
  const { model } = view;
  const gpu = evidence.device_id ?? -1;
  if (selectGapAt(view, gpu, from, to)) return;
  const where = { device: evidence.device_id, pid: evidence.pid, tid: evidence.tid };
  const named = evidence.name ? model.findEvent(evidence.name, { ...where, start: from }) : -1;
  const end = named >= 0 && model.events.start[named] === from ? model.end(named) : -1;
  const span = end === to ? null : spanAt(view, gpu, from, to);
  if (span) {
    view.showRange(...span);
    return;
  }
  const event = end >= to ? named : model.eventOf(from, to, where);
  if (event >= 0) view.selectEvent(event, { zoom: true });
  else view.showRange(from, to);
}

/**
 * What kind of event a name is of: a kernel, a range and a call may have the same.
 * @param {Model} model @param {Evidence} evidence @param {string} name @returns {string[] | null}  kinds of lanes; null: any
 */
function kindsOf(model, { table: key, row }, name) {
  const table = model.table(key ?? '');
  const cells = table?.rows[row ?? -1];
  const roles = table && cells ? table.columns.filter((_, column) => cells[column] === name).map((column) => column.role) : [];
  return roles.includes('kernel_name') ? ['kernel'] : roles.includes('range_name') ? ['nvtx'] : null;
}

/** What evidence counts: "1,551 kernels", "12 of 733 calls", "17 gaps before", "on the host 8 calls", "32 launches repeat 3 times"; "with X (12 times), without (9 times)". */
const COUNTS =
  /(?:^|[:,;] |\(|\b(?:in|of|host|that|waits|receives) )(?:([\d,]+) of )?([\d,]+) (?:kernels?|small kernels|messages|calls?|cop(?:y|ies)|sets?|collectives?|gaps?|executions?|waits?|rounds?|times|launches|instantiations?|opens?|reads?|samples of)\b(?: repeat ([\d,]+) times)?/gu;

/** The numbers of events that evidence gives, and what those add up to. @param {string} text */
function countsIn(text) {
  const number = (/** @type {string | undefined} */ digits) => Number(digits?.replaceAll(',', '') ?? 1);
  const found = [...text.matchAll(COUNTS)].map(([, some, all, times]) => ({ some: some ? [number(some)] : [], all: number(all) * number(times) }));
  return found.length === 0 ? [] : [...found.flatMap(({ some, all }) => [...some, all]), found.reduce((sum, { all }) => sum + all, 0)];
}

/** The numbers of events that evidence gives, or its row in place of a time; none where it counts nothing. @param {Model} model @param {Evidence} evidence */
function countsOf(model, { text, table: key, row }) {
  const table = key ? model.table(key) : null;
  if (!table) return [];
  const own = key === 'comm_sizes' ? table.rows[row ?? -1]?.[columnIndex(table, 'kernel_count')] : null;
  return typeof own === 'number' ? [own] : countsIn(text ?? '');
}

/** Whether a search for what evidence counts finds just as many. @param {Search} search @param {number[]} counts */
const isCounted = ({ counted, events }, counts) => counted !== null && (events === null || counts.includes(events));

/** Marks the events that evidence counts, where the page has just as many. @param {TimelineView} view @param {Evidence} evidence */
function markCounted(view, evidence) {
  const counts = countsOf(view.model, evidence);
  if (counts.length === 0) return false;
  view.setSearchText(countedSearch(evidence.table ?? '', evidence.row ?? -1, evidence.text ?? ''));
  if (isCounted(view.search, counts)) return true;
  view.setSearchText('');
  return false;
}

/** Whether a part of the time is on the page, which has neither what a program does before its first call to CUDA nor what after its last work. @param {Model} model @param {number} start @param {number} end  of the session */
function isOnPage({ clock, startNs, endNs }, start, end) {
  const [from, to] = [clock.relative(start), clock.relative(end)];
  return from === to ? startNs <= from && to <= endNs : from < endNs && to > startNs;
}

/** Whether evidence has a place: a time, a name, or events that it counts. @param {Model} model @param {Evidence} evidence */
export function canPlace(model, evidence) {
  if (typeof evidence.start_ns === 'number') return isOnPage(model, evidence.start_ns, evidence.end_ns ?? evidence.start_ns);
  const isOfRow = (evidence.name ?? evidence.device_id ?? evidence.pid ?? null) !== null; // not "and 5 more like it in table kernels"
  if (isOfRow && nameOf(model, evidence) !== null) return true;
  const counts = countsOf(model, evidence);
  if (counts.length === 0) return false;
  const search = new Search(model);
  search.set(countedSearch(evidence.table ?? '', evidence.row ?? -1, evidence.text ?? ''), false, false);
  return isCounted(search, counts);
}

/** The name of events that evidence or its row has, digits perhaps as '#'; null where the page has none of it. @param {Model} model @param {Evidence} evidence */
function nameOf(model, { name, table: key, row }) {
  const table = model.table(key ?? '');
  const names = [name, table?.rows[row ?? -1]?.[placeColumns(table).name]].map(String);
  const isFolded = (/** @type {string} */ each) => each.includes('#') && model.names.some((other) => folded(other) === each);
  return names.find((each) => model.nameIndex.has(each)) ?? names.find(isFolded) ?? null;
}

/**
 * Selects and zooms to what evidence or a table row means: the gap or event itself, wherever there is one.
 * @param {TimelineView} view @param {Evidence} evidence  has a start or a name
 */
export function showEvidence(view, evidence) {
  const { model } = view;
  const time = (/** @type {number | null | undefined} */ at) => (typeof at === 'number' ? model.clock.relative(at) : null);
  const from = time(evidence.start_ns);
  const isMarked = markCounted(view, evidence);
  if (from !== null) {
    showTime(view, evidence, from, time(evidence.end_ns) ?? from);
    return;
  }
  const where = { device: evidence.device_id, pid: evidence.pid, tid: evidence.tid };
  if (isMarked) {
    const event = view.search.longest();
    if (event >= 0) view.selectEvent(event, { zoom: true });
    else view.fit();
    return;
  }
  // A name alone: the longest event that has it, and all of them marked; of a range what it launched, too.
  const name = nameOf(model, evidence) ?? '';
  const kinds = kindsOf(model, evidence, name);
  view.setSearchText(kinds?.[0] === 'nvtx' ? `path:${name}` : name);
  const event = model.findEvent(name, { ...where, kinds });
  if (event >= 0) view.selectEvent(event, { zoom: true });
  else view.fit();
}
