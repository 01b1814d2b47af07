/** @import { Child } from '../dom.js' */
import { append, h } from '../dom.js';

const ROW_HEIGHT = 27;
const OVERSCAN = 12;
const PRINTED_ROWS = 300;

let grids = 0;

/**
 * @typedef {object} VirtualColumn
 * @property {string} label
 * @property {string} [unit]
 * @property {string} [help]
 * @property {boolean} numeric
 * @property {number} width  px
 * @property {boolean} [takesRest]  gets what the others leave, width at least
 *
 * @typedef {object} VirtualTableOptions
 * @property {string} label  for assistive technology
 * @property {'grid' | 'treegrid'} [role]
 * @property {VirtualColumn[]} columns
 * @property {(row: number, column: number, cell: HTMLTableCellElement) => Child} cell  content; may set attributes
 * @property {(row: number) => void} [activate]  click or Enter on a row
 * @property {(row: number, element: HTMLTableRowElement) => void} [decorate]
 * @property {(row: number, key: string) => boolean} [onKey]  keys other than the arrows; true: handled
 * @property {(column: number) => void} [sort]
 */

/** A table of any length: only the rows in sight exist as elements. */
export class VirtualTable {
  /** @param {VirtualTableOptions} options */
  constructor(options) {
    this.options = options;
    this.count = 0;
    this.active = -1;
    this.first = -1;
    this.last = -1;
    this.id = `grid-${++grids}`;
    this.body = h('tbody', { role: 'rowgroup' });
    this.headings = options.columns.map((column, index) => this.heading(column, index));
    const columns = options.columns.map((column) => {
      const element = h('col');
      if (!column.takesRest) element.style.width = `${column.width}px`;
      return element;
    });
    const fill = h('col');
    if (options.columns.some((column) => column.takesRest)) fill.style.width = '1px';
    this.table = h(
      'table',
      { role: 'presentation' },
      h('colgroup', {}, columns, fill),
      h(
        'thead',
        { role: 'rowgroup' },
        h('tr', { role: 'row', 'aria-rowindex': 1 }, this.headings, h('td', { class: 'fill', 'aria-hidden': 'true', role: 'presentation' })),
      ),
      this.body,
    );
    this.table.style.minWidth = `${options.columns.reduce((sum, column) => sum + column.width, 0)}px`;
    this.element = h(
      'div',
      {
        class: 'vt',
        tabindex: '0',
        role: options.role ?? 'grid',
        'aria-label': options.label,
        'aria-colcount': options.columns.length,
        onscroll: () => this.render(false),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      },
      this.table,
    );
    // One that was replaced by another has nothing to draw from any more.
    new ResizeObserver(() => this.element.isConnected && this.render(false)).observe(this.element);
  }

  /** @param {VirtualColumn} column @param {number} index */
  heading(column, index) {
    const content = [
      h('span', { class: 'label' }, column.label),
      column.unit ? h('span', { class: 'unit' }, column.unit) : null,
    ];
    const element = h('th', { role: 'columnheader', class: column.numeric ? 'num' : null });
    if (this.options.sort) {
      append(element, [
        h(
          'button',
          { type: 'button', title: column.help, onclick: () => this.options.sort?.(index) },
          ...content,
          h('span', { class: 'arrow', 'aria-hidden': 'true' }),
        ),
      ]);
    } else {
      append(element, content);
      if (column.help) element.title = column.help;
    }
    return element;
  }

  /** @param {number} column  -1 for none @param {boolean} descending */
  showSort(column, descending) {
    this.headings.forEach((heading, index) => {
      if (index === column) heading.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
      else heading.removeAttribute('aria-sort');
    });
  }

  /** @param {number} count */
  setCount(count) {
    this.count = count;
    this.element.setAttribute('aria-rowcount', String(count + 1));
    if (this.active >= count) this.active = -1;
    this.render(true);
  }

  /** @param {boolean} force */
  render(force) {
    const height = this.element.clientHeight || 400;
    const top = Math.max(0, this.element.scrollTop);
    const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - OVERSCAN);
    const last = Math.min(this.count, Math.ceil((top + height) / ROW_HEIGHT) + OVERSCAN);
    if (!force && first === this.first && last === this.last) return;
    this.first = first;
    this.last = last;
    this.fill(first, last);
  }

  /** @param {number} first @param {number} last */
  fill(first, last) {
    const rows = [];
    if (first > 0) rows.push(this.space(first * ROW_HEIGHT));
    for (let row = first; row < last; row++) rows.push(this.row(row));
    if (last < this.count) rows.push(this.space((this.count - last) * ROW_HEIGHT));
    this.body.replaceChildren(...rows);
    if (this.active >= first && this.active < last) this.element.setAttribute('aria-activedescendant', `${this.id}-${this.active}`);
    else this.element.removeAttribute('aria-activedescendant');
  }

  /** @param {number} height */
  space(height) {
    const cell = h('td', { colspan: this.options.columns.length + 1, role: 'presentation' });
    cell.style.height = `${height}px`;
    return h('tr', { class: 'space', role: 'presentation', 'aria-hidden': 'true' }, cell);
  }

  /** @param {number} row */
  row(row) {
    const { options } = this;
    const element = h('tr', {
      id: `${this.id}-${row}`,
      role: 'row',
      'aria-rowindex': row + 2,
      'aria-selected': row === this.active ? 'true' : 'false',
      class: row === this.active ? 'active' : null,
      onclick: () => {
        // Selecting text in a row must not leave the table.
        if (String(window.getSelection() ?? '') !== '') return;
        this.element.focus({ preventScroll: true });
        this.setActive(row);
        options.activate?.(row);
      },
    });
    if (row % 2 === 1) element.classList.add('odd');
    options.columns.forEach((column, index) => {
      const cell = h('td', { role: 'gridcell', class: column.numeric ? 'num' : null });
      append(cell, [options.cell(row, index, cell)]);
      element.append(cell);
    });
    element.append(h('td', { class: 'fill', role: 'presentation' }));
    options.decorate?.(row, element);
    return element;
  }

  /** @param {number} row @param {boolean} [scroll] */
  setActive(row, scroll = false) {
    this.active = row;
    if (scroll) this.scrollToRow(row);
    this.render(true);
  }

  /** @param {number} row */
  scrollToRow(row) {
    const visible = this.element.clientHeight - ROW_HEIGHT * 2;
    const top = row * ROW_HEIGHT;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top > this.element.scrollTop + visible) this.element.scrollTop = top - visible + ROW_HEIGHT;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW_HEIGHT) - 2);
    /** @type {Record<string, number>} */
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in moves) {
      this.setActive(Math.max(0, Math.min(this.count - 1, this.active + moves[event.key])), true);
    } else if (event.key === 'Enter' && this.active >= 0) {
      this.options.activate?.(this.active);
    } else if (!(this.active >= 0 && this.options.onKey?.(this.active, event.key))) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** Rows for paper, all at once. */
  prepareForPrint() {
    this.fill(0, Math.min(this.count, PRINTED_ROWS));
    this.body.lastElementChild?.classList.contains('space') && this.body.lastElementChild.remove();
    return Math.min(this.count, PRINTED_ROWS);
  }
}
