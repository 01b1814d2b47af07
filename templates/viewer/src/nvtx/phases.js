/** @import { Model } from '../model.js' */
import { seriesColor } from '../colors.js';
import { h, name } from '../dom.js';
import { cell, heading, percent, unitLabel } from '../format.js';
import { columnIndex } from '../table-schema.js';

const TIME_UNITS = new Set(['ns', 'us', 'ms', 's']);
const UNMAPPED = '#6c767f';

/** One stacked bar per time column of the table nvtx_phases, rows of a phase summed. @param {Model} model */
export function phaseBars(model) {
  const table = model.table('nvtx_phases');
  if (!table || table.rows.length === 0) return [];
  const phase = Math.max(0, columnIndex(table, 'phase'));
  const names = [...new Set(table.rows.map((row) => String(row[phase])))];
  const columns = table.columns
    .map((_, index) => index)
    .filter((index) => {
      const { name: text, unit, sum } = table.columns[index];
      return TIME_UNITS.has(unit) && sum === true && !table.columns.some((column) => column.stored === text);
    });
  /** @param {string} text */
  const color = (text) => (text === 'unmapped' ? UNMAPPED : seriesColor(names.indexOf(text)));
  const bars = columns.map((index) => {
    const column = table.columns[index];
    const totals = names.map((text) =>
      table.rows.reduce((sum, row) => sum + (String(row[phase]) === text ? Number(row[index]) || 0 : 0), 0),
    );
    const whole = totals.reduce((sum, value) => sum + value, 0);
    if (whole <= 0) return null;
    const label = heading(column.name);
    const segments = totals.map((value, at) => {
      const text = `${names[at]}: ${cell(value, column, null)} ${unitLabel(column)}, ${percent(value, whole)}`;
      const segment = h(
        'div',
        { class: 'segment', title: text },
        value / whole > 0.08 ? h('span', {}, name(names[at]), ` ${percent(value, whole)}`) : null,
      );
      // A sum of factors below 1 would leave a part of the bar empty.
      segment.style.flexGrow = String((100 * value) / whole);
      segment.style.background = color(names[at]);
      return value > 0 ? segment : null;
    });
    return h(
      'div',
      { class: 'stack-row' },
      h(
        'div',
        { class: 'stack-label' },
        label,
        h('span', { class: 'muted' }, ` ${cell(whole, column, null)} ${unitLabel(column)}`),
      ),
      h(
        'div',
        {
          class: 'stack-bar',
          role: 'img',
          'aria-label': `${label}: ${totals.map((value, at) => `${names[at]} ${percent(value, whole)}`).join(', ')}`,
        },
        segments,
      ),
    );
  });
  if (bars.every((bar) => bar === null)) return [];
  return [
    h('h2', {}, table.title),
    ...bars,
    h(
      'div',
      { class: 'legend' },
      names.map((text) => {
        const swatch = h('i', { class: 'swatch' });
        swatch.style.background = color(text);
        return h('span', {}, swatch, name(text));
      }),
    ),
  ];
}
