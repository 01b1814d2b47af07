/** @import { App } from '../app.js' */
/** @import { Table } from '../types.js' */
/** @import { Metric, RangeNode } from './tree.js' */
import { nameColor } from '../colors.js';
import { copyButton } from '../copy-button.js';
import { h, name, replace } from '../dom.js';
import { integer } from '../format.js';
import { compileSearch } from '../search.js';
import { toCsv, toMarkdown } from '../tables/filter.js';
import { VirtualTable } from '../tables/virtual-table.js';
import { callersOf } from './callers.js';
import { treeTable } from './tree-table.js';
import { FlameGraph } from './flame.js';
import { phaseBars } from './phases.js';
import { milliseconds, rangeExample, showHint } from './hint.js';
import { buildTree, orderByTime, selfOf, sortedChildren, totalOf } from './tree.js';

const OPEN_DEPTH = 2;
const NARROW_PX = 720;

/** Phases, flame graph and tree of the NVTX ranges. */
export class NvtxView {
  /** @param {App} app @param {HTMLElement} host */
  constructor(app, host) {
    this.app = app;
    this.merged = true;
    this.built = '';
    this.source = app.model.table('nvtx_tree');
    /** @type {RangeNode | null} */
    this.root = null;
    /** @type {RangeNode[]} */
    this.rows = [];
    /** @type {Set<RangeNode>} */
    this.open = new Set();
    this.phases = h('div', { class: 'phases' });
    if (!this.source || this.source.rows.length === 0) {
      host.append(
        this.phases,
        h(
          'p',
          { class: 'empty' },
          'The trace holds no NVTX ranges. Name the phases of the program to see GPU time by its own terms: ',
          h('code', {}, rangeExample(app.model)),
          ', recorded with ',
          h('code', {}, 'nsys profile --trace=cuda,nvtx,osrt'),
          '.',
        ),
      );
      replace(this.phases, ...phaseBars(app.model));
      return;
    }
    const onGpu = app.model.timeline.gpus.length > 0;
    this.metric = h(
      'select',
      { 'aria-label': 'Time shown', onchange: () => this.change({ nm: this.metric?.value ?? 'wall', nr: '' }) },
      h('option', { value: 'wall' }, 'Wall time'),
      onGpu ? h('option', { value: 'gpu' }, 'GPU time') : null,
      onGpu ? h('option', { value: 'span', title: 'From the first to the last operation that an instance launched, on each GPU' }, 'Projected time') : null,
    );
    this.grouping = h(
      'select',
      { 'aria-label': 'Grouping', onchange: () => this.change({ ng: this.grouping?.value ?? 'merged', nr: '' }) },
      h('option', { value: 'merged' }, 'All threads merged'),
      h('option', { value: 'threads' }, 'By process and thread'),
    );
    this.shape = h(
      'select',
      { 'aria-label': 'Flame graph', onchange: () => this.change({ nv: this.shape?.value ?? 'calls', nr: '' }) },
      h('option', { value: 'calls' }, 'Calls, longest first'),
      h('option', { value: 'order' }, 'Calls, in time order'),
      h('option', { value: 'callers' }, 'By callers'),
    );
    this.search = h('input', {
      type: 'search',
      id: 'nvtx-search',
      placeholder: 'Highlight ranges',
      'aria-label': 'Highlight ranges',
      autocomplete: 'off',
      spellcheck: 'false',
      oninput: () => this.show(),
    });
    this.path = h('nav', { class: 'crumbs', 'aria-label': 'Path of the range in focus' });
    this.hint = h('div', { class: 'tooltip fixed', 'aria-hidden': 'true' });
    this.hint.hidden = true;
    this.flame = new FlameGraph({
      focus: (node) => this.change({ nr: node === this.state().focus && node.parent ? node.parent.key : node.key }),
      open: (node) => this.showInTimeline(node),
      hover: (node, x, y) => this.showHint(node, x, y),
    });
    const narrow = innerWidth < NARROW_PX;
    const numeric = (/** @type {string} */ label, /** @type {string} */ unit, /** @type {string} */ help, width = narrow ? 96 : 118) => ({
      label,
      unit,
      help,
      numeric: true,
      width,
    });
    this.grid = new VirtualTable({
      label: 'NVTX ranges as a tree',
      role: 'treegrid',
      columns: [
        {
          label: 'range',
          numeric: false,
          width: narrow ? 200 : 420,
          takesRest: true,
          help: 'Canonical name; click to unfold',
        },
        numeric('count', '', 'Number of instances', narrow ? 66 : 80),
        numeric('total', 'ms', 'Time inside the range, all instances'),
        numeric('share', '%', 'Part of the parent', 90),
        numeric('self', 'ms', 'Time not inside a child range'),
        ...(onGpu
          ? [
              numeric('GPU', 'ms', 'Time of the kernels launched inside the range'),
              numeric('GPU self', 'ms', 'Time of the kernels launched inside this range but inside no child'),
            ]
          : []),
      ],
      cell: (row, column, element) => this.cell(this.rows[row], column, element),
      activate: (row) => this.toggle(this.rows[row]),
      onKey: (row, key) => this.key(this.rows[row], key),
      decorate: (row, element) => {
        const node = this.rows[row];
        element.setAttribute('aria-level', String(node.depth + 1));
        if (node.children.length > 0) element.setAttribute('aria-expanded', String(this.open.has(node)));
      },
    });
    host.append(
      this.phases,
      h(
        'section',
        { class: 'nvtx-section', 'aria-label': 'Flame graph' },
        h(
          'div',
          { class: 'toolbar', role: 'toolbar', 'aria-label': 'NVTX ranges' },
          h('h2', {}, 'NVTX ranges'),
          h('div', { class: 'group' }, this.metric, this.grouping, this.shape),
          h('div', { class: 'group search' }, this.search),
          h('div', { class: 'group' }, this.copyButton('CSV', toCsv), this.copyButton('Markdown', toMarkdown)),
        ),
        this.path,
        this.flame.element,
      ),
      h('section', { class: 'nvtx-section grow', 'aria-label': 'Tree' }, this.grid.element),
      this.hint,
    );
  }

  /** @param {string} label @param {(table: Table, rows: number[]) => string} convert */
  copyButton(label, convert) {
    return copyButton(`Copy ${label}`, { title: `Copy the unfolded rows of the tree as ${label}` }, () => {
      const table = treeTable(this.rows, this.state().metric);
      return convert(table, [...table.rows.keys()]);
    });
  }

  state() {
    const { values } = this.app.state;
    const metric = /** @type {Metric} */ ([...(this.metric?.options ?? [])].some(({ value }) => value === values.nm) ? values.nm : 'wall');
    return { metric, merged: values.ng !== 'threads', focus: this.focus(values.nr) };
  }

  /** @param {string} key */
  focus(key) {
    if (!this.root) return null;
    /** @type {RangeNode} */
    let node = this.root;
    if (key === '') return node;
    let path = '';
    for (const part of key.split('\u0001')) {
      path = path === '' ? part : `${path}\u0001${part}`;
      const next = node.children.find((child) => child.key === path);
      if (!next) return node;
      node = next;
    }
    return node;
  }

  /** @param {Partial<import('../state.js').ViewState>} patch */
  change(patch) {
    this.app.state.set(patch);
    this.restore();
  }

  restore() {
    if (!this.source) return;
    const { ng, nv } = this.app.state.values;
    const merged = ng !== 'threads';
    if (!this.root || this.merged !== merged || this.built !== nv) {
      this.merged = merged;
      this.built = nv;
      this.root = buildTree(this.app.model, this.source, merged);
      if (nv === 'callers') this.root = callersOf(this.root);
      else if (nv === 'order') orderByTime(this.root, this.app.model);
      this.open = new Set();
      /** @param {RangeNode} node */
      const openUpTo = (node) => {
        if (node.depth >= (nv === 'callers' ? 1 : OPEN_DEPTH + (merged ? 0 : 2))) return;
        this.open.add(node);
        node.children.forEach(openUpTo);
      };
      openUpTo(this.root);
    }
    this.show();
  }

  show() {
    const { metric, merged, focus } = this.state();
    if (!this.root || !focus || !this.flame || !this.grid || !this.path || !this.metric || !this.grouping || !this.search)
      return;
    this.metric.value = metric;
    this.grouping.value = merged ? 'merged' : 'threads';
    if (this.shape) this.shape.value = ['order', 'callers'].includes(this.built) ? this.built : 'calls';
    const compiled = compileSearch(this.search.value, false);
    this.matches = compiled && 'test' in compiled ? compiled.test : null;
    this.flame.show(focus, metric, this.matches, this.app.timeline.theme);
    replace(this.phases, ...phaseBars(this.app.model));
    /** @type {RangeNode[]} */
    const chain = [];
    for (let node = /** @type {RangeNode | null} */ (focus); node; node = node.parent) chain.unshift(node);
    replace(
      this.path,
      ...chain.map((node) =>
        h('button', { type: 'button', class: 'link', onclick: () => this.change({ nr: node.key }) }, name(node.name)),
      ),
      !focus.isGroup
        ? h('button', { type: 'button', onclick: () => this.showInTimeline(focus) }, 'Show in the timeline')
        : null,
    );
    this.list();
  }

  /** Rows of the tree that are unfolded, depth first. */
  list() {
    const { metric, focus } = this.state();
    if (!focus || !this.grid) return;
    this.rows = [];
    const pending = [focus];
    for (let node = pending.pop(); node; node = pending.pop()) {
      this.rows.push(node);
      if (this.open.has(node) || node === focus) pending.push(...sortedChildren(node, metric).reverse());
    }
    this.grid.setCount(this.rows.length);
  }

  /** @param {RangeNode} node @param {number} column @param {HTMLTableCellElement} element */
  cell(node, column, element) {
    const { metric } = this.state();
    switch (column) {
      case 0: {
        const label = h(
          'span',
          { class: this.matches && !node.isGroup && this.matches(node.name) ? 'tree-label match' : 'tree-label' },
          h(
            'span',
            { class: 'twist', 'aria-hidden': 'true' },
            sortedChildren(node, metric).length === 0 ? '' : this.open.has(node) ? '▾' : '▸',
          ),
          this.swatch(node),
          name(node.name),
          !node.isGroup
            ? h(
                'button',
                {
                  type: 'button',
                  class: 'row-more',
                  tabindex: '-1',
                  title: 'Show in the timeline (Space)',
                  'aria-label': 'Show in the timeline',
                  onclick: (/** @type {Event} */ event) => {
                    event.stopPropagation();
                    this.showInTimeline(node);
                  },
                },
                '⤷',
              )
            : null,
        );
        label.style.paddingLeft = `${Math.min(24, node.depth) * 14}px`;
        element.title = node.name;
        return label;
      }
      case 1:
        return integer(node.count);
      case 2:
        return milliseconds(totalOf(node, metric));
      case 3: {
        const whole = node.parent ? totalOf(node.parent, metric) : totalOf(node, metric);
        element.classList.add('bar');
        element.style.setProperty('--share', `${whole > 0 ? Math.min(100, (100 * totalOf(node, metric)) / whole) : 0}%`);
        return whole > 0 ? ((100 * totalOf(node, metric)) / whole).toFixed(1) : '–';
      }
      case 4:
        return milliseconds(selfOf(node, metric));
      case 5:
        return milliseconds(node.gpuMs);
      default:
        return milliseconds(node.gpuSelfMs);
    }
  }

  /** @param {RangeNode} node */
  swatch(node) {
    const swatch = h('i', { class: 'swatch' });
    swatch.style.background = node.isGroup ? 'transparent' : nameColor(node.name);
    return swatch;
  }

  /** @param {RangeNode} node @param {boolean} [open] */
  toggle(node, open = !this.open.has(node)) {
    if (open) this.open.add(node);
    else this.open.delete(node);
    this.list();
  }

  /** @param {RangeNode} node @param {string} key */
  key(node, key) {
    if (key === 'ArrowRight') this.toggle(node, true);
    else if (key === 'ArrowLeft' && this.open.has(node)) this.toggle(node, false);
    else if (key === 'ArrowLeft' && node.parent) this.grid?.setActive(Math.max(0, this.rows.indexOf(node.parent)), true);
    else if (key === ' ' && !node.isGroup) this.showInTimeline(node);
    else return false;
    return true;
  }

  /** @param {RangeNode | null} node @param {number} x @param {number} y */
  showHint(node, x, y) {
    if (this.hint && this.root) showHint(this.hint, node, this.root, this.state().metric, x, y);
  }

  /** @param {RangeNode} node */
  showInTimeline(node) {
    this.app.showEvidence({ text: node.name, name: node.name, pid: node.pid, tid: node.tid });
  }
}
