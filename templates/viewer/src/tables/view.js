/** @import { App } from '../app.js' */
/** @import { Table } from '../types.js' */
import { copyText, h, replace } from '../dom.js';
import { counted, integer, readable } from '../format.js';
import { columnIndex, rowCount } from '../table-schema.js';
import { cellContent, describeColumn, shownColumns } from './cells.js';
import { displayOrder, fitWidths, redundantColumns, rowPlace } from './columns.js';
import { rowDetails } from './row-details.js';
import { SCHEMA, schemaTable } from './schema-table.js';
import { tableList } from './table-list.js';
import { orderTables } from './table-order.js';
import { saveButton } from './save-button.js';
import { compileFilter, sortRows, toCsv, toMarkdown } from './filter.js';
import { VirtualTable } from './virtual-table.js';

const FILTER_DELAY_MS = 120;
const SCROLLBAR_PX = 16;

/** Every table of the report. Nothing here knows any analysis: units and descriptions come with the data. */
export class TablesView {
  /** @param {App} app @param {HTMLElement} host */
  constructor(app, host) {
    this.app = app;
    this.names = orderTables(Object.keys(app.report.tables).filter((key) => key !== 'nvtx_tree'));
    this.current = '';
    /** @type {Table | null}  of all columns, made when asked for */
    this.schema = null;
    /** @type {number[]} */
    this.rows = [];
    /** @type {number[]} */
    this.columns = [];
    /** @type {ReturnType<typeof readable>[]}  how each column of the table is shown */
    this.units = [];
    this.sortColumn = -1;
    this.descending = true;
    this.allColumns = false;
    /** @type {VirtualTable | null} */
    this.grid = null;
    /** Where the reader left a table for a row's place: Back leads there again. */
    this.left = { address: '', top: 0, row: -1 };
    let timer = 0;
    this.filter = h('input', {
      type: 'search',
      id: 'table-filter',
      placeholder: 'Filter: words, column>10, column:text',
      'aria-label': 'Filter rows',
      autocomplete: 'off',
      spellcheck: 'false',
      title: 'Words must all occur in the row. column>10, column=x, column:part and column~regex test one column.',
      oninput: () => {
        clearTimeout(timer);
        timer = window.setTimeout(() => {
          this.app.state.set({ f: this.filter.value });
          this.apply();
        }, FILTER_DELAY_MS);
      },
    });
    this.status = h('output', { class: 'search-status', 'aria-live': 'polite' });
    this.allBox = h('input', {
      type: 'checkbox',
      onchange: () => {
        this.allColumns = this.allBox.checked;
        this.build();
      },
    });
    this.meaning = h(
      'button',
      {
        type: 'button',
        title: 'What each column of this table means',
        onclick: () => this.app.showTable(SCHEMA, -1, `table=${this.current}`),
      },
      'Columns',
    );
    this.copied = h('span', { class: 'muted', role: 'status' });
    /** @param {string} label @param {string} what @param {(table: Table, rows: number[]) => string} convert */
    const copy = (label, what, convert) =>
      h(
        'button',
        {
          type: 'button',
          title: `Copy the rows shown as ${label}, ${what}`,
          onclick: async () => {
            const table = this.table();
            if (!table) return;
            const done = await copyText(convert(table, this.rows));
            this.copied.textContent = done ? `${counted(this.rows.length, 'row')} copied` : 'The browser refused to copy';
            setTimeout(() => (this.copied.textContent = ''), 2500);
          },
        },
        `Copy ${label}`,
      );
    this.choice = tableList(this);
    this.title = h('h2', {});
    this.description = h('p', { class: 'muted description' });
    this.printed = h('p', { class: 'print-only muted' });
    this.nothing = h('p', { class: 'empty nothing' });
    this.place = h('div', { class: 'table-place' });
    this.drawer = h('section', { class: 'drawer', 'aria-label': 'Row' });
    this.drawer.hidden = true;
    host.append(
      this.choice.list,
      h(
        'div',
        { class: 'table-main' },
        h('div', { class: 'table-head' }, this.choice.picker, this.title, this.description, this.printed),
        h(
          'div',
          { class: 'toolbar', role: 'toolbar', 'aria-label': 'Table' },
          h('div', { class: 'group search' }, this.filter, this.status),
          h(
            'div',
            { class: 'group' },
            copy('CSV', 'with all columns and every digit', toCsv),
            copy('Markdown', 'with the columns in sight', (table, rows) => toMarkdown(table, rows, shownColumns(this, table))),
            saveButton(this),
            this.meaning,
            h(
              'label',
              { class: 'check', title: 'Show also exact ns beside ms, and short names beside full ones' },
              this.allBox,
              'all columns',
            ),
            this.copied,
          ),
        ),
        this.nothing,
        this.place,
        this.drawer,
      ),
    );
    window.addEventListener('beforeprint', () => {
      const shown = this.grid?.prepareForPrint() ?? 0;
      this.printed.textContent =
        shown < this.rows.length ? `The first ${integer(shown)} of ${counted(this.rows.length, 'row')}.` : '';
    });
    window.addEventListener('afterprint', () => this.grid?.render(true));
  }

  table() {
    if (this.current !== SCHEMA) return this.app.model.table(this.current);
    this.schema ??= schemaTable(this.app.report);
    return this.schema;
  }

  /** @param {string} key @param {number} [row]  row of the table to point at */
  open(key, row = -1) {
    this.app.state.set({ v: 'tables', t: key, s: '', f: '' }, true);
    this.restore();
    if (row >= 0) {
      const position = this.rows.indexOf(row);
      if (position >= 0) {
        this.grid?.setActive(position, true);
        this.showDrawer(row);
      }
    }
  }

  restore() {
    const { values } = this.app.state;
    this.current = this.names.includes(values.t) || values.t === SCHEMA ? values.t : (this.names.find((key) => rowCount(this.app.report.tables[key]) > 0) ?? this.names[0] ?? '');
    const table = this.table();
    if (!table) {
      replace(this.place, h('p', { class: 'muted' }, 'This report has no tables.'));
      return;
    }
    const [column, direction] = values.s.split('.');
    this.sortColumn = columnIndex(table, column);
    this.descending = direction !== 'asc';
    this.filter.value = values.f;
    this.drawer.hidden = true;
    this.build();
    if (this.left.address === this.address()) this.backTo(this.left.top, this.left.row);
  }

  /** What decides which rows show, in which order. */
  address() {
    const { t, s, f } = this.app.state.values;
    return `${t} ${s} ${f}`;
  }

  /** @param {number} top  px @param {number} row */
  backTo(top, row) {
    if (!this.grid) return;
    this.grid.element.scrollTop = top;
    const position = this.rows.indexOf(row);
    if (position >= 0) this.grid.setActive(position);
    this.grid.render(true);
  }

  /** Sets the table up after another one, or other columns, were chosen. */
  build() {
    const table = this.table();
    if (!table) return;
    this.title.textContent = table.title;
    const about = [table.description, table.cannot_know && `Cannot know: ${table.cannot_know}`].filter(Boolean).join('. ');
    this.description.textContent = table.row_count
      ? `${about}. This page has the first ${integer(table.rows.length)} of ${counted(table.row_count, 'row')}; tables/${this.current}.csv has all.`
      : about;
    this.choice.show(this.current);
    this.meaning.disabled = this.current === SCHEMA;
    const redundant = redundantColumns(table, this.app.model.timeline.gpus.length);
    this.allBox.disabled = redundant.length === 0;
    this.columns = displayOrder(table)
      .filter((index) => this.allColumns || !redundant.includes(table.columns[index].name));
    this.units = table.columns.map((column, index) => readable(column, table.rows.map((row) => row[index])));
    const described = this.columns.map((index) => describeColumn(this, table, index));
    const widths = fitWidths(described, this.place.clientWidth - SCROLLBAR_PX);
    const grid = new VirtualTable({
      label: table.title,
      columns: described.map((column, index) => ({ ...column, width: widths[index] })),
      cell: (row, column, element) => cellContent(this, table, this.rows[row], this.columns[column], element),
      activate: (row) => this.activate(table, this.rows[row]),
      onKey: (row, key) => {
        if (key !== ' ') return false;
        this.showDrawer(this.rows[row]);
        return true;
      },
      sort: (column) => this.sortBy(this.columns[column]),
    });
    this.grid = grid;
    replace(this.place, grid.element);
    this.apply();
  }

  /** @param {number} column */
  sortBy(column) {
    const table = this.table();
    if (!table) return;
    // First click: largest first for numbers, A to Z for text; then the other way; then the report's order.
    const preferred = table.columns[column].type !== 'text';
    if (this.sortColumn !== column) {
      this.sortColumn = column;
      this.descending = preferred;
    } else if (this.descending === preferred) this.descending = !preferred;
    else this.sortColumn = -1;
    this.app.state.set({ s: this.sortColumn < 0 ? '' : `${table.columns[column].name}.${this.descending ? 'desc' : 'asc'}` });
    this.apply();
  }

  apply() {
    const table = this.table();
    if (!table || !this.grid) return;
    const { test, error } = compileFilter(table, this.filter.value);
    const kept = table.rows.map((_, index) => index).filter((index) => test(table.rows[index]));
    this.rows = this.sortColumn >= 0 ? sortRows(table, kept, this.sortColumn, this.descending) : kept;
    this.status.classList.toggle('bad', error !== null);
    this.status.textContent =
      error ??
      (kept.length === table.rows.length
        ? counted(kept.length, 'row')
        : `${integer(kept.length)} of ${counted(table.rows.length, 'row')}`);
    this.explainNothing();
    this.grid.active = -1;
    this.grid.showSort(this.columns.indexOf(this.sortColumn), this.descending);
    this.grid.element.scrollTop = 0;
    this.grid.setCount(this.rows.length);
  }

  /** Why no row shows, and the way back. */
  explainNothing() {
    this.nothing.hidden = this.rows.length > 0;
    const clear = h(
      'button',
      {
        type: 'button',
        class: 'link',
        onclick: () => {
          this.filter.value = '';
          this.app.state.set({ f: '' });
          this.apply();
          this.filter.focus();
        },
      },
      'Clear the filter',
    );
    if (this.filter.value.trim() === '') replace(this.nothing, 'This table has no rows: the capture holds nothing of its kind.');
    else replace(this.nothing, 'No row matches the filter. ', clear);
  }

  /** @param {Table} table @param {number} row */
  evidence(table, row) {
    return rowPlace(table, this.current, row);
  }

  /** @param {Table} table @param {number} row */
  activate(table, row) {
    this.left = { address: this.address(), top: this.grid?.element.scrollTop ?? 0, row };
    if (this.current === SCHEMA) this.open(String(table.rows[row][0]));
    else if (!this.app.showEvidence(this.evidence(table, row))) this.showDrawer(row);
  }

  /** @param {number} row */
  showDrawer(row) {
    const table = this.table();
    if (!table) return;
    const close = () => {
      this.drawer.hidden = true;
      this.grid?.element.focus({ preventScroll: true });
    };
    replace(this.drawer, ...rowDetails(this.app, table, row, this.evidence(table, row), close));
    this.drawer.hidden = false;
  }
}
