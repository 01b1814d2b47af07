/** @import { Evidence, Report } from './types.js' */
/** @import { Model } from './model.js' */
import { byId, h } from './dom.js';
import { reportHelp } from './help.js';
import { hasIterations } from './iterations/instances.js';
import { IterationsView } from './iterations/view.js';
import { NvtxView } from './nvtx/view.js';
import { Overview } from './overview.js';
import { Shell } from './shell.js';
import { StateStore } from './state.js';
import { TablesView } from './tables/view.js';
import { timelineKeys } from './timeline/keys.js';
import { toggleFold } from './timeline/rearrange.js';
import { restoreTimeline } from './timeline/restore.js';
import { canPlace, showEvidence } from './timeline/show-evidence.js';
import { TimelineView } from './timeline/view.js';

/** @typedef {'overview' | 'timeline' | 'tables' | 'nvtx' | 'iterations'} ViewName */

/** @type {[ViewName, string][]} */
const VIEWS = [
  ['overview', 'Overview'],
  ['timeline', 'Timeline'],
  ['tables', 'Tables'],
  ['nvtx', 'NVTX'],
];

/** Ties the views together: which one shows, links between them, theme and keys. */
export class App {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** @type {Report} */
    this.report = model.report;
    this.state = new StateStore();
    /** @type {ViewName} */
    this.view = 'overview';
    /** @type {[ViewName, string][]}  of a trace that repeats nothing four */
    this.views = hasIterations(model) ? [...VIEWS, ['iterations', 'Iterations']] : VIEWS;
    if (this.views.length > VIEWS.length)
      byId('view-nvtx').after(h('section', { id: 'view-iterations', class: 'view', 'aria-label': 'Iterations', hidden: true }));
    this.help = reportHelp(this.views);
    this.shell = new Shell(
      this.views,
      { state: this.state, open: (view) => this.open(view), themed: () => this.themeChanged() },
      h('button', { type: 'button', title: 'Keys and hints (?)', 'aria-label': 'Help', onclick: () => this.help.open() }, '?'),
    );
    this.timeline = new TimelineView(this, byId('view-timeline'));
    this.tables = new TablesView(this, byId('view-tables'));
    this.nvtx = new NvtxView(this, byId('view-nvtx'));
    this.iterations = this.views.length > VIEWS.length ? new IterationsView(this, byId('view-iterations')) : null;
    this.overview = new Overview(this);
    this.state.onNavigate(() => {
      this.restore();
      this.shell.refocus();
    });
    document.addEventListener('keydown', (event) => this.key(event));
    this.restore();
  }

  themeChanged() {
    this.timeline.themeChanged();
    this.overview.draw();
    if (this.view === 'nvtx') this.nvtx.show();
    this.iterations?.draw();
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
    if (view === 'timeline') this.timeline.resize();
    if (view === 'tables' && this.tables.current === '') this.tables.restore();
    if (view === 'nvtx') this.nvtx.restore();
    if (view === 'iterations') this.iterations?.restore();
    if (view === 'overview') this.overview.draw();
  }

  /** Everything as the address says. */
  restore() {
    // A copy: showing a view writes parts of the state itself.
    const values = { ...this.state.values };
    this.show(/** @type {ViewName} */ (this.shell.viewOf(values.v)));
    restoreTimeline(this.timeline, values);
    if (this.view === 'tables') this.tables.restore();
  }

  /** @param {string} text  for screen readers */
  announce(text) {
    this.shell.announce(text);
  }

  /** @param {Evidence} evidence */
  canPlace(evidence) {
    return canPlace(this.model, evidence);
  }

  /**
   * Selects and zooms to what evidence or a table row means.
   * @param {Evidence} evidence @returns {boolean} false when it has no place in the timeline
   */
  showEvidence(evidence) {
    if (!this.canPlace(evidence)) return false;
    this.open('timeline');
    this.timeline.canvas.focus({ preventScroll: true });
    showEvidence(this.timeline, evidence);
    return true;
  }

  /** @param {number} device */
  showGpu(device) {
    this.open('timeline');
    const track = this.timeline.layout.tracks.find((candidate) => candidate.type === 'gpu' && candidate.gpu === device);
    if (!track) return;
    if (this.timeline.layout.collapsed.has(track.key)) toggleFold(this.timeline, track);
    this.timeline.scrollTo(track.top);
  }

  /** @param {string} table @param {number} [row] @param {string} [filter] */
  showTable(table, row = -1, filter = '') {
    this.show('tables');
    this.tables.open(table, row);
    this.tables.grid?.element.focus({ preventScroll: true });
    if (filter !== '') {
      this.state.set({ f: filter });
      this.tables.restore();
    }
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    // A ticked box takes no text: only Space is its own.
    if (target.closest('input:not([type="checkbox"]), select, textarea, dialog')) return;
    if (event.key === ' ' && target.closest('input')) return;
    const view = this.views[Number(event.key) - 1];
    if (view) this.open(view[0]);
    else if (event.key === '?') this.help.open();
    else if (event.key === '/') this.focusSearch();
    else {
      // Enter and Space belong to the control in focus; other keys reach the timeline from anywhere in its view. It keeps
      // the browser from acting only on those it uses: Tab, F5 and the rest stay what they are.
      const own = target.closest('button, summary, a') && (event.key === 'Enter' || event.key === ' ');
      if (this.view === 'timeline' && !own) timelineKeys(this.timeline, event);
      return;
    }
    event.preventDefault();
  }

  focusSearch() {
    const fields = { overview: 'timeline-search', timeline: 'timeline-search', tables: 'table-filter', nvtx: 'nvtx-search', iterations: 'timeline-search' };
    if (this.view === 'overview' || this.view === 'iterations') this.open('timeline');
    document.getElementById(fields[this.view])?.focus();
  }
}
