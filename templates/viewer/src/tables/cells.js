/** @import { Cell, Column, Table } from '../types.js' */
/** @import { TablesView } from './view.js' */
import { categoryColor, causeColor, causeName } from '../colors.js';
import { h, name, textWidth } from '../dom.js';
import { heading, shownCell, unitLabel } from '../format.js';
import { causesText } from '../words.js';
import { mattersFirst } from './columns.js';
import { headed } from './filter.js';
import { SCHEMA } from './schema-table.js';

const SAMPLED_ROWS = 300;
const MEASURED_ROWS = 8;
const TEXT_LIMIT_PX = 340;
const PADDING_PX = 22;
const ICON_PX = 24;
const SWATCH_PX = 16;
const ARROW_PX = 14;

/** @param {Column} column */
function hasSwatch(column) {
  return column.name === 'category' || column.name === 'cause';
}

/** Names of the timeline appear in their short form; tooltip, filter and copies have the full one.
 * @param {TablesView} view @param {number} index @param {Cell} value */
function shown(view, index, value) {
  const { model } = view.app;
  const { column } = view.units[index];
  if (column.name === 'cause' && typeof value === 'string') return causeName(value);
  if (column.name === 'other_causes' && typeof value === 'string') return causesText(value);
  const nameId = typeof value === 'string' ? model.nameIndex.get(value) : undefined;
  if (nameId !== undefined) return model.shortNames[nameId] || String(value);
  return shownCell(value, view.units[index], model.clock);
}

/** Heading and width of a column. @param {TablesView} view @param {Table} table @param {number} index */
export function describeColumn(view, table, index) {
  const column = table.columns[index];
  const label = heading(column.name);
  const own = unitLabel(column);
  const unit = unitLabel(view.units[index].column);
  const samples = table.rows
    .slice(0, SAMPLED_ROWS)
    .map((row) => shown(view, index, row[index]))
    .sort((a, b) => b.length - a.length)
    .slice(0, MEASURED_ROWS);
  const icons = (index === view.columns[0] ? ICON_PX : 0) + (hasSwatch(column) ? SWATCH_PX : 0);
  const content = Math.max(0, ...samples.map((text) => textWidth(text, ''))) + icons;
  const title = textWidth(unit ? `${label} ${unit}` : label, '600') + ARROW_PX;
  const most = view.current === SCHEMA ? 2 * TEXT_LIMIT_PX : TEXT_LIMIT_PX;
  const limit = Math.min(most, Math.max(150, view.place.clientWidth * 0.46));
  const wanted = Math.ceil(Math.max(title, content)) + PADDING_PX;
  return {
    label,
    unit,
    numeric: column.type !== 'text',
    wanted,
    matters: mattersFirst(table, index),
    width: column.type === 'text' ? Math.min(wanted, Math.ceil(Math.max(title, limit)) + PADDING_PX) : wanted,
    help: [column.description, `${column.name}${own ? `, in ${own}` : ''}${unit && unit !== own ? `, here in ${unit}` : ''}`].filter(Boolean).join('\n'),
  };
}

/** The columns in sight, as Markdown has them. @param {TablesView} view @param {Table} table */
export function shownColumns(view, table) {
  return view.columns.map((index) => ({
    index,
    title: headed(table.columns[index], unitLabel(view.units[index].column)),
    text: (/** @type {Cell} */ value) => shown(view, index, value),
  }));
}

/** @param {TablesView} view @param {number} row */
function moreButton(view, row) {
  return h(
    'button',
    {
      type: 'button',
      class: 'row-more',
      tabindex: '-1',
      title: 'All fields (Space)',
      'aria-label': 'All fields of the row',
      onclick: (/** @type {Event} */ event) => {
        event.stopPropagation();
        view.showDrawer(row);
      },
    },
    '⋯',
  );
}

/**
 * @param {TablesView} view @param {Table} table @param {number} row @param {number} index
 * @param {HTMLTableCellElement} element  gets a title, and a bar behind a share
 */
export function cellContent(view, table, row, index, element) {
  const column = table.columns[index];
  const value = table.rows[row][index];
  const text = shown(view, index, value);
  if (typeof value === 'number' ? String(value) !== text : text !== value || text.length > 30) element.title = String(value);
  if (column.unit === 'percent' && typeof value === 'number') {
    element.classList.add('bar');
    element.style.setProperty('--share', `${Math.max(0, Math.min(100, value))}%`);
  }
  const content = [];
  if (index === view.columns[0]) content.push(moreButton(view, row));
  if (hasSwatch(column) && typeof value === 'string') {
    const swatch = h('i', { class: 'swatch' });
    swatch.style.background = column.name === 'cause' ? causeColor(value) : categoryColor(value);
    content.push(swatch);
  }
  content.push(column.type === 'text' ? name(text) : text);
  const fragment = document.createDocumentFragment();
  fragment.append(...content);
  return fragment;
}
