/** @import { Child } from '../dom.js' */
import { h, name, replace } from '../dom.js';
import { counted, shortened } from '../format.js';

const SHOWN = 12;
const CHARACTER_PX = 7;
const LEAST_PX = 34;
const WIDTH_PX = 70;

/**
 * @typedef {object} PanelCell
 * @property {string} text
 * @property {number} [value]  what it is sorted by; else by its text
 * @property {string} [title]
 * @property {string} [color]  of a swatch before it
 * @property {() => void} [open]  what a click does
 *
 * @typedef {{label: string, title?: string, width?: number}} PanelColumn  width: px; the first takes the rest
 */

/** @param {PanelCell} a @param {PanelCell} b */
function compare(a, b) {
  if (a.value !== undefined && b.value !== undefined) return a.value - b.value;
  return a.text < b.text ? -1 : a.text > b.text ? 1 : 0;
}

/** A name, in as many characters as fit; the whole one is its title and what is copied. @param {PanelCell} cell @param {HTMLElement[]} names */
function nameCell({ text, title, color, open }, names) {
  const label = name(text);
  label.dataset.full = text;
  names.push(label);
  const swatch = color ? h('i', { class: 'swatch' }) : null;
  if (swatch) swatch.style.background = color ?? '';
  return h('td', { title: title ?? text }, swatch, open ? h('button', { type: 'button', class: 'link', onclick: open }, label) : label);
}

/**
 * A table of the panel: a click on a heading sorts, the edge of a number's heading makes it wider, names are shortened in the middle.
 * @param {string} title @param {PanelColumn[]} columns @param {PanelCell[][]} rows @returns {Child[]}  nothing without rows
 */
export function panelTable(title, columns, rows) {
  if (rows.length === 0) return [];
  let [order, shown] = [rows, SHOWN];
  let sorted = { column: -1, down: true };
  const widths = columns.map(({ width }) => width ?? WIDTH_PX);
  const cols = columns.map((_, index) => {
    const col = h('col');
    if (index > 0) col.style.width = `${widths[index]}px`;
    return col;
  });
  const body = h('tbody');
  const table = h('table', { class: 'mini sorted' });
  const more = h('button', { type: 'button', class: 'link small', onclick: () => ((shown = rows.length), draw()) });
  /** @type {HTMLElement[]} */
  let names = [];
  const fit = () => {
    const rest = table.clientWidth - widths.slice(1).reduce((sum, width) => sum + width, 0);
    for (const label of names) label.textContent = shortened(label.dataset.full ?? '', Math.max(8, Math.floor((rest - (label.closest('td')?.querySelector('.swatch') ? 22 : 6)) / CHARACTER_PX)));
  };
  const draw = () => {
    names = [];
    replace(body, order.slice(0, shown).map((cells) => h('tr', {}, cells.map((cell, index) => (index === 0 ? nameCell(cell, names) : h('td', { class: 'num', title: cell.title }, cell.text))))));
    more.hidden = shown >= rows.length;
    more.textContent = `${counted(rows.length - shown, 'more row')}`;
    headings.forEach((heading, index) => {
      if (index === sorted.column) heading.setAttribute('aria-sort', sorted.down ? 'descending' : 'ascending');
      else heading.removeAttribute('aria-sort');
    });
    fit();
  };
  const sort = (/** @type {number} */ column) => {
    const text = rows[0][column].value === undefined;
    sorted = { column, down: sorted.column === column ? !sorted.down : !text };
    order = [...rows].sort((a, b) => (sorted.down ? compare(b[column], a[column]) : compare(a[column], b[column])));
    draw();
  };
  const grip = (/** @type {number} */ index) =>
    h('span', {
      class: 'grip',
      'aria-hidden': 'true',
      onpointerdown: (/** @type {PointerEvent} */ event) => /** @type {HTMLElement} */ (event.target).setPointerCapture(event.pointerId),
      onpointermove: (/** @type {PointerEvent} */ event) => {
        if (!(/** @type {HTMLElement} */ (event.target).hasPointerCapture(event.pointerId))) return;
        widths[index] = Math.max(LEAST_PX, widths[index] - event.movementX);
        cols[index].style.width = `${widths[index]}px`;
        fit();
      },
    });
  const headings = columns.map(({ label, title: hint }, index) =>
    h('th', { class: index > 0 ? 'num' : null, scope: 'col' }, index > 0 ? grip(index) : null, h('button', { type: 'button', title: hint, onclick: () => sort(index) }, label)),
  );
  table.append(h('colgroup', {}, cols), h('thead', {}, h('tr', {}, headings)), body);
  draw();
  new ResizeObserver(() => table.isConnected && fit()).observe(table);
  return [title === '' ? null : h('h3', {}, title), table, more];
}
