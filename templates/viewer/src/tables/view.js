/** @import { App } from '../app.js' */
/** @import { Cell, Column, Table } from '../types.js' */
import { CAUSE_COLORS, categoryColor, causeName } from '../colors.js';
import { copyText, h, name, replace, textWidth } from '../dom.js';
import { cell, counted, heading, integer, unitLabel } from '../format.js';
import { columnIndex } from '../table-schema.js';
import { displayOrder, redundantColumns, rowPlace } from './columns.js';
import { rowDetails } from './row-details.js';
import { SCHEMA, schemaTable } from './schema-table.js';
import { tableList } from './table-list.js';
import { saveButton } from './save-button.js';
import { compileFilter, sortRows, toCsv, toMarkdown } from './filter.js';
import { VirtualTable } from './virtual-table.js';

const SAMPLED_ROWS = 300;
const MEASURED_ROWS = 8;
const TEXT_LIMIT_PX = 340;
const PADDING_PX = 22;
const ICON_PX = 24;
const SWATCH_PX = 16;
const ARROW_PX = 14;
const FILTER_DELAY_MS = 120;

/** Every table of the report. Nothing here knows any analysis: units and descriptions come with the data. */
export class TablesView {
  /** @param {App} app @param {HTMLElement} host */
  constructor(app, host) {
    this.app = app;
    this.names = Object.keys(app.report.tables).filter((key) => key !== 'nvtx_tree');
    this.current = '';
    /** @type {Table | null}  of all columns, made when asked for */
    this.schema = null;
    /** @type {number[]} */
    this.rows = [];
    /** @type {number[]} */
    this.columns = [];
    this.sortColumn = -1;
    this.descending = true;
    this.allColumns = false;
    /** @type {VirtualTable | null} */
    this.grid = null;
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
    /** @param {string} label @param {(table: Table, rows: number[]) => string} convert */
    const copy = (label, convert) =>
      h(
        'button',
        {
          type: 'button',
          title: `Copy the rows shown as ${label}, all columns`,
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
            copy('CSV', toCsv),
            copy('Markdown', toMarkdown),
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
    this.current = this.names.includes(values.t) || values.t === SCHEMA ? values.t : (this.names[0] ?? '');
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
  }

  /** Sets the table up after another one, or other columns, were chosen. */
  build() {
    const table = this.table();
    if (!table) return;
    this.title.textContent = table.title;
    this.description.textContent = table.row_count
      ? `${table.description ?? ''}. This page has the first ${integer(table.rows.length)} of ${counted(table.row_count, 'row')}; tables/${this.current}.csv has all.`
      : (table.description ?? '');
    this.choice.show(this.current);
    this.meaning.disabled = this.current === SCHEMA;
    const redundant = redundantColumns(table, this.app.model.timeline.gpus.length);
    this.allBox.disabled = redundant.length === 0;
    this.columns = displayOrder(table)
      .filter((index) => this.allColumns || !redundant.includes(table.columns[index].name));
    const grid = new VirtualTable({
      label: table.title,
      columns: this.columns.map((index) => this.describe(table, index)),
      cell: (row, column, element) => this.cell(table, this.rows[row], this.columns[column], element),
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

  /** @param {Column} column */
  hasSwatch(column) {
    return column.name === 'category' || column.name === 'cause';
  }

  /** Names of the timeline appear in their short form; tooltip, filter and copies have the full one.
   * @param {Column} column @param {Cell} value */
  shown(column, value) {
    const { model } = this.app;
    if (column.name === 'cause' && typeof value === 'string') return causeName(value);
    const nameId = typeof value === 'string' ? model.nameIndex.get(value) : undefined;
    return nameId === undefined ? cell(value, column, model.clock) : model.shortNames[nameId] || String(value);
  }

  /** @param {Table} table @param {number} index */
  describe(table, index) {
    const column = table.columns[index];
    const label = heading(column.name);
    const unit = unitLabel(column);
    const samples = table.rows
      .slice(0, SAMPLED_ROWS)
      .map((row) => this.shown(column, row[index]))
      .sort((a, b) => b.length - a.length)
      .slice(0, MEASURED_ROWS);
    const icons = (index === this.columns[0] ? ICON_PX : 0) + (this.hasSwatch(column) ? SWATCH_PX : 0);
    const content = Math.max(0, ...samples.map((text) => textWidth(text, ''))) + icons;
    const title = textWidth(unit ? `${label} ${unit}` : label, '600') + ARROW_PX;
    const most = this.current === SCHEMA ? 2 * TEXT_LIMIT_PX : TEXT_LIMIT_PX;
    const limit = Math.min(most, Math.max(150, this.place.clientWidth * 0.46));
    return {
      label,
      unit,
      numeric: column.type !== 'text',
      width: Math.ceil(Math.max(title, column.type === 'text' ? Math.min(content, limit) : content)) + PADDING_PX,
      help: [column.description, `${column.name}${unit ? `, in ${unit}` : ''}`].filter(Boolean).join('\n'),
    };
  }

  /** @param {Table} table @param {number} row @param {number} index @param {HTMLTableCellElement} element */
  cell(table, row, index, element) {
    const column = table.columns[index];
    const value = table.rows[row][index];
    const text = this.shown(column, value);
    if (typeof value === 'number' ? String(value) !== text : text !== value || text.length > 30) element.title = String(value);
    if (column.unit === 'percent' && typeof value === 'number') {
      element.classList.add('bar');
      element.style.setProperty('--share', `${Math.max(0, Math.min(100, value))}%`);
    }
    const content = [];
    if (index === this.columns[0]) {
      content.push(
        h(
          'button',
          {
            type: 'button',
            class: 'row-more',
            tabindex: '-1',
            title: 'All fields (Space)',
            'aria-label': 'All fields of the row',
            onclick: (/** @type {Event} */ event) => {
              event.stopPropagation();
              this.showDrawer(row);
            },
          },
          '⋯',
        ),
      );
    }
    if (this.hasSwatch(column) && typeof value === 'string') {
      const swatch = h('i', { class: 'swatch' });
      swatch.style.background = column.name === 'cause' ? (CAUSE_COLORS[value] ?? CAUSE_COLORS.unknown) : categoryColor(value);
      content.push(swatch);
    }
    content.push(column.type === 'text' ? name(text) : text);
    const fragment = document.createDocumentFragment();
    fragment.append(...content);
    return fragment;
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
    this.grid.active = -1;
    this.grid.showSort(this.columns.indexOf(this.sortColumn), this.descending);
    this.grid.element.scrollTop = 0;
    this.grid.setCount(this.rows.length);
  }

  /** @param {Table} table @param {number} row */
  evidence(table, row) {
    return rowPlace(table, this.current, row);
  }

  /** @param {Table} table @param {number} row */
  activate(table, row) {
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
