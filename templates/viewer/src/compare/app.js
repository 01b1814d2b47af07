/** @import { App } from '../app.js' */
/** @import { Model } from '../model.js' */
/** @import { Evidence, Report } from '../types.js' */
/** @import { PairData } from './types.js' */
/** @import { PairSide } from './pair-view.js' */
import { byId, h } from '../dom.js';
import { Clock } from '../format.js';
import { Shell } from '../shell.js';
import { StateStore } from '../state.js';
import { TablesView } from '../tables/view.js';
import { differenceFirst } from './columns.js';
import { buildDifferences } from './differences.js';
import { FlameView } from './flame-view.js';
import { compareHelp } from './help.js';
import { PairView } from './pair-view.js';
import { PartTable } from './part-table.js';

/** @typedef {'overview' | 'pair' | 'tables' | 'flame'} ViewName */

/** @type {[ViewName, string][]} */
const VIEWS = [
  ['overview', 'Overview'],
  ['pair', 'Timelines'],
  ['tables', 'Tables'],
  ['flame', 'Ranges'],
];

/** The page of a comparison. It is also what the tables view takes for its application. */
export class CompareApp {
  /** @param {PairData} data @param {(PairSide | null)[]} sides  null: without a timeline */
  constructor(data, sides) {
    this.data = data;
    this.sides = sides;
    this.state = new StateStore();
    /** @type {ViewName} */
    this.view = 'overview';
    this.shell = new Shell(VIEWS, { state: this.state, open: (view) => this.open(view), themed: () => this.themeChanged() }, h('button', { type: 'button', title: 'Help (?)', onclick: () => this.help.open() }, '?'));
    this.help = compareHelp();
    this.report = /** @type {Report} */ (/** @type {unknown} */ ({ tables: this.shownTables(), trace: { file: 'compare' } }));
    this.model = this.tableModel();
    this.tables = new TablesView(/** @type {App} */ (/** @type {unknown} */ (this)), byId('view-tables'));
    this.flame = new FlameView(this, byId('view-flame'), data.tables.compared_tree ?? null);
    this.pair = this.buildPair(byId('view-pair'));
    this.buildTree();
    this.state.onNavigate(() => {
      this.restore();
      this.shell.refocus();
    });
    document.addEventListener('keydown', (event) => this.key(event));
    this.restore();
  }

  /** Tables with rows; the first one is what most readers come for. */
  shownTables() {
    const entries = Object.entries(this.data.tables).filter(([, table]) => table.rows.length > 0);
    const first = ['compared_kernels', 'compared_metrics', 'compared_ranges'];
    for (const [, table] of entries) differenceFirst(table);
    return Object.fromEntries(entries.sort((a, b) => (first.indexOf(a[0]) + 1 || 9) - (first.indexOf(b[0]) + 1 || 9)));
  }

  /** What tables ask a model for: short names, and no events. */
  tableModel() {
    /** @type {Map<string, number>} */
    const nameIndex = new Map();
    /** @type {string[]} */
    const shortNames = [];
    for (const side of this.sides)
      side?.model.names.forEach((text, id) => {
        if (nameIndex.has(text)) return;
        nameIndex.set(text, shortNames.length);
        shortNames.push(side.model.shortNames[id] || text);
      });
    const { tables } = this.report;
    return /** @type {Model} */ (
      /** @type {unknown} */ ({
        nameIndex,
        shortNames,
        clock: new Clock('0', null),
        table: (/** @type {string} */ key) => (Object.prototype.hasOwnProperty.call(tables, key) ? tables[key] : null),
        completeName: () => false,
        timeline: { gpus: [] },
      })
    );
  }

  /** @param {string} text */
  shorten(text) {
    const id = this.model.nameIndex.get(text);
    return id === undefined ? text : this.model.shortNames[id];
  }

  /** @param {HTMLElement} host */
  buildPair(host) {
    const [base, fresh] = this.sides;
    if (base && fresh) return new PairView(this, host, [base, fresh]);
    const reasons = [this.data.base, this.data.new].map((side, index) => (this.sides[index] ? '' : `${index === 0 ? 'base' : 'new'}: ${side.missing ?? (side.captures.length === 0 ? 'no captures' : 'no events')}`)).filter(Boolean);
    host.append(h('p', { class: 'notice' }, 'There are no two timelines to show. ', reasons.join('; '), '. Everything else on this page comes from the tables of the runs.'));
    return null;
  }

  buildTree() {
    const host = document.getElementById('difference-tree');
    const { compared_time: time, compared_kernels: kernels } = this.data.tables;
    const root = time && kernels ? buildDifferences(time, kernels, (text) => this.shorten(text)) : null;
    if (!host || !root) return;
    const table = new PartTable('Where the time went', 'Part', this.data.comparable, {
      can: (text) => this.canPlace({ text, name: text }),
      show: (text) => this.showEvidence({ text, name: text }),
    });
    table.show(root);
    host.replaceChildren(table.element);
  }

  themeChanged() {
    this.pair?.themeChanged();
    this.flame.draw();
  }

  /** @param {ViewName} view */
  open(view) {
    this.state.set({ v: view }, true);
    this.show(view);
  }

  /** @param {ViewName} view */
  show(view) {
    this.view = view;
    this.shell.show(view);
    if (view === 'pair') this.pair?.opened();
    if (view === 'tables' && this.tables.current === '') this.tables.restore();
    if (view === 'flame') this.flame.draw();
  }

  /** Everything as the address says. */
  restore() {
    this.show(/** @type {ViewName} */ (this.shell.viewOf(this.state.values.v)));
    this.pair?.restore();
    this.flame.restore();
    if (this.view === 'tables') this.tables.restore();
  }

  /** @param {string} text  for screen readers */
  announce(text) {
    this.shell.announce(text);
  }

  /** Whether a row of a table has a place in the timelines: its name. @param {Evidence} evidence */
  canPlace(evidence) {
    return this.pair !== null && typeof evidence.name === 'string' && this.model.nameIndex.has(evidence.name);
  }

  /** @param {Evidence} evidence */
  showEvidence(evidence) {
    if (!this.canPlace(evidence) || !this.pair || typeof evidence.name !== 'string') return false;
    this.open('pair');
    this.pair.showName(evidence.name);
    return true;
  }

  /** @param {string} table @param {number} [row] @param {string} [filter] */
  showTable(table, row = -1, filter = '') {
    this.show('tables');
    this.tables.open(table, row);
    if (filter === '') return;
    this.state.set({ f: filter });
    this.tables.restore();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || target.closest('input, select, textarea')) return;
    const view = VIEWS[Number(event.key) - 1];
    if (view) this.open(view[0]);
    else if (event.key === '?') this.help.open();
    else if (event.key === '/' && this.view === 'pair') this.pair?.search.focus();
    else if (event.key === '/' && this.view === 'tables') this.tables.filter.focus();
    else return;
    event.preventDefault();
  }
}
