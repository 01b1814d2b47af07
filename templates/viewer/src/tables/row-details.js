/** @import { App } from '../app.js' */
/** @import { Evidence, Table } from '../types.js' */
import { h, name } from '../dom.js';
import { heading, readable, shownCell, unitLabel, withUnit } from '../format.js';
import { histogram } from '../histogram.js';
import { scatter } from '../scatter.js';

const WIDE_FIELD = 44;
const HISTOGRAM_PX = 320;

/** @param {App} app @param {Table} table @param {number} row */
function allFields(app, table, row) {
  return table.columns.flatMap((column, index) => {
    const value = table.rows[row][index];
    const shown = readable(column, [value]);
    const plain = shownCell(value, shown, app.model.clock);
    const text = value === null || value === undefined ? plain : withUnit(plain, shown.column);
    const wide = text.length > WIDE_FIELD ? 'wide' : null;
    return [
      h('dt', { title: column.description, class: wide }, heading(column.name)),
      h('dd', { class: wide, title: shown.factor === 1 ? null : `${value} ${unitLabel(column)}` }, name(text)),
    ];
  });
}

/**
 * Everything about one row: its fields, its way to the timeline, the distribution behind its sums.
 * @param {App} app @param {Table} table @param {number} row
 * @param {Evidence} evidence  where the row is on the timeline
 * @param {() => void} close
 */
export function rowDetails(app, table, row, evidence, close) {
  const { model, timeline } = app;
  const nameId = typeof evidence.name === 'string' ? model.nameIndex.get(evidence.name) : undefined;
  const events = nameId === undefined || !model.completeName(nameId) ? [] : model.eventsOf(nameId, evidence.device_id ?? null);
  const open = (/** @type {number} */ event) => {
    app.open('timeline');
    timeline.selectEvent(event, { zoom: true });
  };
  const show = h(
    'button',
    { type: 'button', class: 'primary', onclick: () => app.showEvidence(evidence) },
    'Show in the timeline',
  );
  return [
    h(
      'header',
      {},
      h('h3', {}, `${table.title}, row ${row + 1}`),
      h('button', { type: 'button', class: 'quiet', 'aria-label': 'Close', onclick: close }, '×'),
    ),
    h(
      'div',
      { class: 'drawer-content' },
      h('dl', { class: 'fields' }, allFields(app, table, row)),
      h(
        'div',
        {},
        app.canPlace(evidence) ? h('div', { class: 'buttons' }, show) : null,
        events.length > 1
          ? [
              h('h3', {}, 'Its durations, and over time'),
              histogram(events.map((event) => model.events.duration[event]), null, timeline.theme.compute, timeline.theme.text, HISTOGRAM_PX),
              scatter(
                events.map((event) => ({ event, time: model.events.start[event], value: model.events.duration[event] })),
                -1,
                { from: model.startNs, to: model.endNs, color: timeline.theme.compute, accent: timeline.theme.text, line: timeline.theme.line, width: HISTOGRAM_PX, select: open },
              ),
            ]
          : null,
      ),
    ),
  ];
}
