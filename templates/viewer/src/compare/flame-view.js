/** @import { Table } from '../types.js' */
/** @import { CompareApp } from './app.js' */
/** @import { Difference } from './differences.js' */
import { readTheme } from '../colors.js';
import { h, name, replace } from '../dom.js';
import { buildRanges } from './differences.js';
import { DifferenceFlame } from './flame.js';
import { PartTable } from './part-table.js';

/** NVTX ranges inside each other: where they got longer, as a flame graph and as a table. */
export class FlameView {
  /** @param {CompareApp} app @param {HTMLElement} host @param {Table | null} table */
  constructor(app, host, table) {
    this.app = app;
    this.table = table;
    /** @type {Difference[]}  from the whole to what is in focus */
    this.path = [];
    if (!table || table.rows.length === 0) {
      host.append(h('p', { class: 'empty' }, 'Neither side has NVTX ranges. nsys-ai compares kernels and idle time without them; ranges tell where in the program they are.'));
      return;
    }
    this.metric = h('select', { 'aria-label': 'Time of ranges', onchange: () => this.choose(this.metric?.value ?? 'gpu') }, h('option', { value: 'gpu' }, 'GPU time of their kernels'), h('option', { value: 'wall' }, 'Time on their threads'));
    this.crumbs = h('nav', { class: 'crumbs', 'aria-label': 'Ranges around' });
    this.flame = new DifferenceFlame((part) => this.focus(part), app.data.comparable);
    this.parts = new PartTable('Differences of ranges', 'Range', app.data.comparable);
    const legend = app.data.comparable
      ? h('div', { class: 'legend' }, h('span', {}, h('i', { class: 'swatch more' }), 'red, +: longer or new'), h('span', {}, h('i', { class: 'swatch less' }), 'blue, −: shorter or gone'), h('span', {}, h('i', { class: 'swatch none' }), 'gray: no difference that matters'))
      : h('p', { class: 'muted' }, 'The two sides did not do the same work: base and new stand side by side, and nothing is called longer or shorter.');
    host.append(
      h('div', { class: 'toolbar' }, h('div', { class: 'group' }, this.metric), legend),
      h('p', { class: 'muted' }, `Per GPU and ${app.data.per}, means over all captures; the width is the longer of the two sides. Ranges on all threads together${app.data.per === 'step' ? ', steps of every state' : ''}.`),
      this.crumbs,
      this.flame.element,
      this.parts.element,
    );
  }

  /** @param {string} metric */
  choose(metric) {
    this.app.state.set({ nm: metric });
    this.restore();
  }

  restore() {
    if (!this.table || !this.metric) return;
    let metric = /** @type {'wall' | 'gpu'} */ (this.app.state.values.nm === 'gpu' ? 'gpu' : 'wall');
    const root = buildRanges(this.table, metric);
    this.metric.value = metric;
    this.path = [root];
    this.parts?.show(root);
    this.draw();
  }

  /** @param {Difference} part */
  focus(part) {
    /** @param {Difference} from @returns {Difference[] | null} */
    const find = (from) => {
      if (from === part) return [from];
      for (const child of from.children) {
        const below = find(child);
        if (below) return [from, ...below];
      }
      return null;
    };
    this.path = find(this.path[0]) ?? this.path;
    this.draw();
  }

  draw() {
    if (this.path.length === 0 || !this.crumbs) return;
    replace(this.crumbs, ...this.path.map((part) => h('button', { type: 'button', class: 'link', onclick: () => this.focus(part) }, name(part.title))));
    this.flame?.show(this.path[this.path.length - 1], this.path[0], readTheme());
  }
}
