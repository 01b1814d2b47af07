/** @import { App } from '../app.js' */
/** @import { Evidence, Table } from '../types.js' */
import { h, name } from '../dom.js';
import { heading, readable, shownCell, unitLabel, withUnit } from '../format.js';
import { histogram } from '../histogram.js';

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
  const durations = nameId === undefined || !model.completeName(nameId) ? [] : model.durationsOf(nameId, evidence.device_id ?? null);
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
        durations.length > 1
          ? [
              h('h3', {}, 'Distribution of its durations'),
              histogram(durations, null, timeline.theme.compute, timeline.theme.text, HISTOGRAM_PX),
            ]
          : null,
      ),
    ),
  ];
}
