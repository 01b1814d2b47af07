/** @import { App } from '../app.js' */
/** @import { Evidence, Table } from '../types.js' */
import { h, name } from '../dom.js';
import { cell, heading, unitLabel } from '../format.js';
import { histogram } from '../histogram.js';

const WIDE_FIELD = 44;
const HISTOGRAM_PX = 320;

/** @param {App} app @param {Table} table @param {number} row */
function allFields(app, table, row) {
  return table.columns.flatMap((column, index) => {
    const text = cell(table.rows[row][index], column, app.model.clock);
    const wide = text.length > WIDE_FIELD ? 'wide' : null;
    const unit = unitLabel(column) ? h('span', { class: 'unit' }, ` ${unitLabel(column)}`) : null;
    return [
      h('dt', { title: column.description, class: wide }, heading(column.name), unit),
      h('dd', { class: wide }, name(text)),
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
