/** @import { TimelineView } from './view.js' */
/** @import { Evidence } from '../types.js' */

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
 * Selects what takes exactly a time, the first of: a gap, the event of the name, a step or collective, any event; else the time.
 * @param {TimelineView} view @param {Evidence} evidence @param {number} from @param {number} to  ns after the origin
 */
function showTime(view, evidence, from, to) {
  const { model } = view;
  const gpu = evidence.device_id ?? -1;
  if (selectGapAt(view, gpu, from, to)) return;
  const where = { device: evidence.device_id, pid: evidence.pid, tid: evidence.tid };
  const named = evidence.name ? model.findEvent(evidence.name, { ...where, start: from }) : -1;
  const span = spanAt(view, gpu, from, to);
  if (named >= 0 && model.events.start[named] === from) view.selectEvent(named, { zoom: true });
  else if (span) view.showRange(...span);
  else {
    const event = model.eventOf(from, to, where);
    if (event >= 0) view.selectEvent(event, { zoom: true });
    else view.showRange(from, to);
  }
}

/**
 * What kind of event a name is of: a kernel, a range and a call may have the same.
 * @param {TimelineView} view @param {Evidence} evidence @returns {string[] | null}  kinds of lanes; null: any
 */
function kindsOf({ model }, evidence) {
  const table = model.table(evidence.table ?? '');
  const cells = table?.rows[evidence.row ?? -1];
  const roles = table && cells ? table.columns.filter((_, column) => cells[column] === evidence.name).map((column) => column.role) : [];
  return roles.includes('kernel_name') ? ['kernel'] : roles.includes('range_name') ? ['nvtx'] : null;
}

/** Evidence that counts events: "1,551 kernels", "34 calls of". */
const COUNTS = /(^|: )[\d,.]+ (kernels|calls)\b/u;

/**
 * Marks the events that evidence counts, where the page can tell which: those of a name, or of a row of table losses.
 * @param {TimelineView} view @param {Evidence} evidence
 */
function markCounted(view, evidence) {
  const { model } = view;
  if (!COUNTS.test(evidence.text ?? '')) return;
  const table = model.table(evidence.table ?? '');
  const row = table?.rows[evidence.row ?? -1];
  const what = table && row && evidence.table === 'losses' ? row[table.columns.findIndex((column) => column.name === 'what')] : null;
  if ((what === 'unfused' || what === 'casts') && model.timeline.fusable) {
    view.setSearchText(`counted:${what} ${evidence.device_id}`);
    return;
  }
  if (evidence.name && model.nameIndex.has(evidence.name)) view.setSearchText(typeof evidence.device_id === 'number' ? `counted:name ${evidence.device_id} ${evidence.name}` : evidence.name);
}

/**
 * Selects and zooms to what evidence or a table row means: the gap or event itself, wherever there is one.
 * @param {TimelineView} view @param {Evidence} evidence  has a start or a name
 */
export function showEvidence(view, evidence) {
  const { model } = view;
  const time = (/** @type {number | null | undefined} */ at) => (typeof at === 'number' ? model.clock.relative(at) : null);
  const from = time(evidence.start_ns);
  markCounted(view, evidence);
  if (from !== null) {
    showTime(view, evidence, from, time(evidence.end_ns) ?? from);
    return;
  }
  // A name alone: the longest event that has it, and all of them marked.
  view.setSearchText(String(evidence.name));
  const where = { device: evidence.device_id, pid: evidence.pid, tid: evidence.tid };
  const event = model.findEvent(String(evidence.name), { ...where, kinds: kindsOf(view, evidence) });
  if (event >= 0) view.selectEvent(event, { zoom: true });
  else view.fit();
}
