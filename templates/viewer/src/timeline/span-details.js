/** @import { TimelineView } from './view.js' */
/** @import { Spans } from './spans.js' */
/** @import { Child } from '../dom.js' */
import { h, name } from '../dom.js';
import { cell, duration, heading, withUnit } from '../format.js';
import { fields } from './event-details.js';
import { projectionDetails } from './projection-rows.js';
import { memberOf } from './rank-lines.js';

const NS_PER = /** @type {Record<string, number>} */ ({ ns: 1, us: 1e3, ms: 1e6, s: 1e9 });
const TITLES = /** @type {Record<string, string>} */ ({ steps: 'Step', comm_instances: 'Collective', active_spans: 'Stretch of activity' });

/** What a selected range is called. @param {TimelineView} view @param {number} from @param {number} to */
export function rangeTitle(view, from, to) {
  const found = spanOf(view, from, to);
  const projected = () => view.layout.tracks.some((track) => (track.projection?.exactly(from, to) ?? []).length > 0);
  return (found && TITLES[found.spans.table]) ?? (projected() ? 'NVTX range on the GPU' : 'Time range');
}
const PLACE = ['start', 'end', 'device', 'process', 'thread'];

/** The span that a selected range is, if it is one. @param {TimelineView} view @param {number} from @param {number} to */
function spanOf(view, from, to) {
  for (const track of view.layout.tracks) {
    if (!track.spans) continue;
    for (let i = track.spans.start.indexOf(from); i >= 0 && track.spans.start[i] === from; i++) {
      if (track.spans.end[i] === to) return { track, spans: track.spans, index: i };
    }
  }
  return null;
}

/** One collective on every GPU that took part. @param {TimelineView} view @param {number} set */
function ranks(view, set) {
  /** @type {{gpu: number, spans: Spans, at: number}[]} */
  const members = view.layout.tracks.flatMap((track) => {
    const at = track.spans ? memberOf(track.spans, set) : -1;
    return track.spans && at >= 0 ? [{ gpu: track.gpu ?? -1, spans: track.spans, at }] : [];
  });
  if (members.length < 2) return [];
  // All wait for the same moment; starts themselves are told by clocks that differ.
  const waited = (/** @type {{spans: Spans, at: number}} */ { spans, at }) => spans.from[at] - spans.start[at];
  const longest = Math.max(...members.map(waited));
  members.sort((a, b) => waited(a) - waited(b) || a.gpu - b.gpu);
  return [
    h('h3', {}, 'On each GPU, the last to come first'),
    h(
      'table',
      { class: 'mini layer ranks' },
      h('thead', {}, h('tr', {}, h('th', {}, 'GPU'), h('th', { class: 'num' }, 'Came'), h('th', { class: 'num' }, 'Waited'), h('th', { class: 'num' }, 'Transfer'))),
      h(
        'tbody',
        {},
        members.map(({ gpu, spans, at }) =>
          h(
            'tr',
            {},
            h('td', {}, h('button', { type: 'button', class: 'link', onclick: () => view.showRange(spans.start[at], spans.end[at]) }, `GPU ${gpu}`)),
            h('td', { class: 'num' }, waited({ spans, at }) === longest ? 'first' : `+${duration(longest - waited({ spans, at }))}`),
            h('td', { class: 'num' }, duration(waited({ spans, at }))),
            h('td', { class: 'num' }, duration(spans.to[at] - spans.from[at])),
          ),
        ),
      ),
    ),
  ];
}

/** What the table says of a step, a collective or a pause, when that is what is selected. @param {TimelineView} view @param {number} from @param {number} to @returns {Child[]} */
export function spanDetails(view, from, to) {
  const found = spanOf(view, from, to);
  const table = found ? view.model.table(found.spans.table) : null;
  if (!found || !table) return projectionDetails(view, from, to);
  const { spans, index, track } = found;
  const row = table.rows[spans.row[index]];
  return [
    h('p', { class: 'full-name' }, name(spans.label[index]), ` on GPU ${track.gpu}`),
    fields(
      table.columns.flatMap((column, position) => {
        const value = row[position];
        const twin = table.columns.some((other) => other.stored === column.name);
        if (value === null || value === 0 || twin || PLACE.includes(column.role)) return [];
        const scale = NS_PER[column.unit];
        const text = scale && typeof value === 'number' ? duration(value * scale) : withUnit(cell(value, column, view.model.clock), column);
        const label = heading(column.name);
        return [/** @type {[string, Child]} */ ([label.charAt(0).toUpperCase() + label.slice(1), name(text)])];
      }),
    ),
    ...(spans.set ? ranks(view, spans.set[index]) : []),
    h('p', {}, h('button', { type: 'button', class: 'link', onclick: () => view.app.showTable(spans.table, spans.row[index]) }, 'Row in the table')),
    h('h3', { class: 'part' }, 'In this time'),
  ];
}
