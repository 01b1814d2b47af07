/** @import { TimelineView } from './view.js' */
/** @import { Track } from './layout.js' */
/** @import { Model } from '../model.js' */
/** @import { Layer } from './gap-evidence.js' */
/** @import { Child } from '../dom.js' */
import { CAUSE_LABELS, causeName } from '../colors.js';
import { h, name } from '../dom.js';
import { cell, counted, duration, heading, integer, percent, withUnit } from '../format.js';
import { columnIndex } from '../table-schema.js';
import { fields } from './event-details.js';
import { layersFromEvents, layersFromTable, subjectOf } from './gap-evidence.js';
import { causesText } from '../words.js';
import { trimNote } from './trim-note.js';

const ROWS = 5;
/** What the panel's heading and buttons say already. */
const SAID = ['device_id', 'gap_ms', 'gap_end_ns', 'cause', 'pid', 'tid'];
/** What a pause's own row says otherwise: it divides the time among more causes than a gap between two launches has. */
const PAUSE_SAYS = ['cause_ms', 'host_activity'];
const NS_PER_MS = 1e6;

/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** @param {Layer} layer @param {number} whole */
function layerTable({ title, rows }, whole) {
  return [
    h('h3', {}, title),
    rows.length === 0
      ? h('p', { class: 'muted' }, 'None of it in the gap.')
      : h(
          'table',
          { class: 'mini layer' },
          h('thead', {}, h('tr', {}, h('th', {}, 'Name'), h('th', { class: 'num' }, 'Number'), h('th', { class: 'num' }, 'Time'), h('th', { class: 'num' }, 'Share'))),
          h(
            'tbody',
            {},
            rows.slice(0, ROWS).map((row) =>
              h(
                'tr',
                {},
                h('td', { title: row.note ? `${row.name}, ${row.note}` : row.name }, name(row.name), row.note ? h('span', { class: 'muted' }, ' ', name(row.note)) : null),
                h('td', { class: 'num' }, row.count === null ? '' : integer(row.count)),
                h('td', { class: 'num' }, row.ns === null ? '' : duration(row.ns)),
                h('td', { class: 'num' }, row.ns === null ? '' : percent(row.ns, whole)),
              ),
            ),
          ),
        ),
    rows.length > ROWS ? h('p', { class: 'muted' }, `and ${counted(rows.length - ROWS, 'more name')}`) : null,
  ];
}

/** What the launching thread did, layer by layer. @param {Layer[]} layers @param {number} whole @returns {Child[]} */
function evidence(layers, whole) {
  const missing = layers.filter(({ recorded }) => !recorded).map(({ title }) => title.toLowerCase().replace('cuda', 'CUDA').replace('os ', 'OS '));
  const known = layers.filter(({ recorded }) => recorded);
  if (layers.length === 0) return [];
  return [
    h('h3', { class: 'part' }, 'What the launching thread did'),
    known.length > 1 ? h('p', { class: 'muted' }, 'Each kind of evidence tells all of the gap; shares of different kinds do not add up.') : null,
    ...known.flatMap((layer) => layerTable(layer, whole)),
    missing.length > 0 ? h('p', { class: 'muted' }, `Not recorded of this thread: ${missing.join(', ')}.`) : null,
  ];
}

/** What the longest part of a pause was. @param {Model} model @param {number} row  of the table active_spans @returns {[string, Child][]} */
function pauseFields(model, row) {
  const table = model.table('active_spans');
  if (!table || row < 0) return [];
  const [what, time] = ['what', 'cause_ms'].map((column) => table.rows[row][columnIndex(table, column)]);
  return [
    ['Host was in', typeof what === 'string' ? name(what) : null],
    ['Time of the cause', typeof time === 'number' ? duration(time * NS_PER_MS) : null],
  ];
}

/** @param {TimelineView} view @param {Track} track @param {number} index @returns {(Child | Child[])[]} */
export function gapDetails(view, track, index) {
  const { gaps } = track;
  const { model } = view;
  const table = model.table('gpu_idle_gaps');
  if (!gaps || !table) return [];
  const row = table.rows[gaps.row[index]];
  const [start, end] = [gaps.start[index], gaps.end[index]];
  const [from, pid, tid] = ['gap_start_ns', 'pid', 'tid'].map((column) => row[columnIndex(table, column)]);
  const subject = subjectOf(model, track.gpu ?? -1, Number(from));
  const told = layersFromTable(model, subject, Number(pid), Number(tid));
  const layers = told.length > 0 ? told : typeof tid === 'number' ? layersFromEvents(model, Number(pid), tid, start, end) : [];
  const cause = gaps.cause[index];
  const pause = gaps.pause[index];
  const said = pause < 0 ? SAID : [...SAID, ...PAUSE_SAYS];
  return [
    h('p', { class: 'full-name' }, `${model.gpuLabels.get(track.gpu ?? -1) ?? 'GPU'} ${pause < 0 ? 'idle' : 'paused'} for ${duration(end - start)}`),
    h('p', {}, 'Cause: ', h('b', {}, causeName(cause)), pause < 0 && CAUSE_LABELS[cause] ? `, ${CAUSE_LABELS[cause]}.` : '.'),
    pause < 0 ? null : h('p', { class: 'muted' }, 'A pause: no share of active time counts it.'),
    h(
      'div',
      { class: 'buttons' },
      h('button', { type: 'button', onclick: () => view.zoomToSelection() }, 'Zoom'),
      h('button', { type: 'button', onclick: () => view.selectRange(start, end, true) }, 'Host activity in this gap'),
      h('button', { type: 'button', onclick: () => view.app.showTable('gpu_idle_gaps', gaps.row[index]) }, 'Row in the table'),
    ),
    fields([
      ...pauseFields(model, pause),
      ...table.columns.flatMap((column, position) => {
        const value = row[position];
        if (said.includes(column.name) || value === null) return [];
        const text = column.unit === 'ms' && typeof value === 'number' ? duration(value * NS_PER_MS) : withUnit(cell(value, column, model.clock), column);
        const known = typeof value === 'string' ? model.nameIndex.get(value) : undefined;
        const plain = column.name === 'other_causes' ? causesText(text) : text;
        const shown = h('span', { title: known === undefined ? null : text }, name(known === undefined ? plain : model.shortNames[known] || text));
        return [/** @type {[string, Child]} */ ([capital(heading(column.name)), shown])];
      }),
    ]),
    ...evidence(layers, end - start),
    subject >= 0
      ? h('p', {}, h('button', { type: 'button', class: 'link', onclick: () => view.app.showTable('gap_functions', -1, `subject=${subject}`) }, 'All of it as a table'))
      : null,
    trimNote(view, start, end),
  ];
}
