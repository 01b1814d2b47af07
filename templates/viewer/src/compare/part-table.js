/** @import { Difference } from './differences.js' */
import { h, name } from '../dom.js';
import { deltaOf } from './differences.js';
import { direction, relative, signed, time } from './words.js';

const CHILDREN_SHOWN = 100;
const OPENED_LEVELS = 3;

/** A tree of differences as a table: each part opens into those that add up to it. */
export class PartTable {
  /** @param {string} label @param {string} what  heading of the first column @param {boolean} comparable  whether differences mean anything @param {{ can: (name: string) => boolean, show: (name: string) => void }} [timeline]  where names are shown */
  constructor(label, what, comparable, timeline) {
    this.comparable = comparable;
    this.timeline = timeline;
    /** @type {Set<string>} */
    this.open = new Set();
    /** @type {Difference | null} */
    this.root = null;
    this.body = h('tbody');
    const heading = (/** @type {string} */ text) => h('th', { class: 'num', scope: 'col' }, text);
    this.element = h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label },
      h(
        'table',
        { class: 'plain parts' },
        h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, what), heading('Base'), heading('New'), ...(comparable ? [heading('Difference'), heading('Of the base'), h('th', { scope: 'col' }, 'Change')] : []))),
        this.body,
      ),
    );
  }

  /** Shows a tree, opened along what differs most. @param {Difference} root */
  show(root) {
    this.root = root;
    this.open = new Set();
    for (let part = root, level = 0; part.children.length > 0 && level < OPENED_LEVELS; level++) {
      this.open.add(part.key);
      part = part.children[0];
      if (deltaOf(part) === 0) break;
    }
    this.fill();
  }

  fill() {
    if (!this.root) return;
    const largest = Math.max(...[this.root, ...this.root.children].map((part) => Math.abs(deltaOf(part))), 1e-12);
    const focused = this.body.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement).dataset.part : undefined;
    /** @type {HTMLElement[]} */
    const rows = [];
    /** @param {Difference} part @param {number} depth */
    const add = (part, depth) => {
      rows.push(this.row(part, depth, largest));
      if (!this.open.has(part.key)) return;
      part.children.slice(0, CHILDREN_SHOWN).forEach((child) => add(child, depth + 1));
      const rest = part.children.slice(CHILDREN_SHOWN);
      if (rest.length > 0) rows.push(this.row(this.sum(part, rest), depth + 1, largest));
    };
    add(this.root, 0);
    this.body.replaceChildren(...rows);
    if (focused !== undefined) [...this.body.querySelectorAll('button')].find((button) => button.dataset.part === focused)?.focus({ preventScroll: true });
  }

  /** What is not listed one by one. @param {Difference} part @param {Difference[]} rest @returns {Difference} */
  sum(part, rest) {
    const add = (/** @type {(child: Difference) => number | null} */ value) => rest.reduce((total, child) => total + (value(child) ?? 0), 0);
    return { key: `${part.key}.rest`, title: `${rest.length} more, which differ less`, note: 'listed under Tables', base: add((child) => child.base), fresh: add((child) => child.fresh), children: [] };
  }

  /** @param {Difference} part @param {number} depth @param {number} largest  ms */
  row(part, depth, largest) {
    const open = this.open.has(part.key);
    const label = [name(part.title), part.note ? h('span', { class: 'muted' }, ' ', name(part.note)) : null];
    const toggle = () => {
      if (!this.open.delete(part.key)) this.open.add(part.key);
      this.fill();
    };
    const first =
      part.children.length > 0
        ? h('button', { type: 'button', class: 'part-fold', 'data-part': part.key, 'aria-expanded': open ? 'true' : 'false', onclick: toggle }, h('span', { class: 'twist', 'aria-hidden': 'true' }, open ? '▾' : '▸'), ...label)
        : part.name !== undefined && this.timeline?.can(part.name)
          ? h('button', { type: 'button', class: 'link leaf', title: 'Show in the timelines', onclick: () => this.timeline?.show(part.name ?? '') }, ...label)
          : h('span', { class: 'leaf' }, ...label);
    const cell = h('td', {}, first);
    cell.style.paddingLeft = `${8 + depth * 18}px`;
    const sides = [cell, h('td', { class: 'num' }, time(part.base)), h('td', { class: 'num' }, time(part.fresh))];
    if (!this.comparable) return h('tr', {}, ...sides);
    const delta = deltaOf(part);
    const bar = h('i', { class: `delta-bar ${delta > 0 ? 'more' : 'less'}`, 'aria-hidden': 'true' });
    bar.style.width = `${Math.min(1, Math.abs(delta) / largest) * 72}px`;
    return h('tr', {}, ...sides, h('td', { class: 'num' }, signed(delta)), h('td', { class: 'num' }, relative(part)), h('td', { class: 'change' }, direction(part), ' ', bar));
  }
}
