/** @import { Theme } from '../colors.js' */
/** @import { Difference } from './differences.js' */
import { rgb } from '../colors.js';
import { CHARACTER_PX, fillLabel, fitCanvas, h } from '../dom.js';
import { changeOf, deltaOf, sizeOf } from './differences.js';
import { relative, signed, time } from './words.js';

const ROW_HEIGHT = 20;
const MIN_PX = 0.5;
const LABEL_PX = 27;
/** All dark enough for white letters. */
const [NEUTRAL, LONGER, SHORTER] = ['#636e7a', '#b3261e', '#1d5fc4'].map(rgb);

/** @typedef {{part: Difference, left: number, width: number, top: number}} Box */

/**
 * Rectangles of a tree from the top down, as wide as the longer side, so that what is gone keeps its place; children share at most their parent's width.
 * @param {Difference} root @param {number} width @returns {Box[]}
 */
export function arrange(root, width) {
  /** @type {Box[]} */
  const boxes = [];
  const pending = [{ part: root, left: 0, width, top: 0 }];
  for (let box = pending.pop(); box; box = pending.pop()) {
    boxes.push(box);
    const sum = box.part.children.reduce((total, child) => total + sizeOf(child), 0);
    const whole = Math.max(sizeOf(box.part), sum);
    let { left } = box;
    for (const child of [...box.part.children].sort((a, b) => sizeOf(b) - sizeOf(a))) {
      const size = whole > 0 ? (sizeOf(child) / whole) * box.width : 0;
      if (size < MIN_PX) break;
      pending.push({ part: child, left, width: size, top: box.top + ROW_HEIGHT });
      left += size;
    }
  }
  return boxes;
}

/** Red: longer, blue: shorter; the stronger, the more of its own time. @param {number} change  -1 to 1 */
export function colorOf(change) {
  const strength = change === 0 ? 0 : 0.35 + 0.65 * Math.min(1, Math.abs(change) * 2.5);
  const to = change > 0 ? LONGER : SHORTER;
  return `rgb(${NEUTRAL.map((value, index) => Math.round(value + (to[index] - value) * strength)).join(', ')})`;
}

/** Flame graph of differences. Every box says its difference in words; the table below has the same numbers. */
export class DifferenceFlame {
  /** @param {(part: Difference) => void} focus @param {boolean} comparable  whether differences mean anything */
  constructor(focus, comparable) {
    this.comparable = comparable;
    this.canvas = h('canvas', { class: 'flame', role: 'img', 'aria-label': 'Flame graph of differences; the table below holds the same data' });
    this.tooltip = h('div', { class: 'tooltip fixed', 'aria-hidden': 'true' });
    this.tooltip.hidden = true;
    this.element = h('div', { class: 'flame-box' }, this.canvas, this.tooltip);
    /** @type {Difference | null} */
    this.root = null;
    /** @type {Difference | null} */
    this.whole = null;
    /** @type {Box[]} */
    this.boxes = [];
    /** @type {Theme | null} */
    this.theme = null;
    this.canvas.addEventListener('click', (event) => {
      const part = this.partAt(event);
      if (part) focus(part);
    });
    this.canvas.addEventListener('pointermove', (event) => this.hover(event));
    this.canvas.addEventListener('pointerleave', () => (this.tooltip.hidden = true));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** @param {MouseEvent} event */
  partAt(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    return this.boxes.find((box) => y >= box.top && y < box.top + ROW_HEIGHT && x >= box.left && x < box.left + box.width)?.part ?? null;
  }

  /** @param {PointerEvent} event */
  hover(event) {
    const part = this.partAt(event);
    this.tooltip.hidden = part === null;
    if (!part) return;
    this.tooltip.replaceChildren(h('div', { class: 'tooltip-title' }, h('bdi', {}, part.title)), h('div', {}, this.words(part)));
    this.tooltip.style.left = `${Math.min(event.clientX + 14, innerWidth - this.tooltip.offsetWidth - 4)}px`;
    this.tooltip.style.top = `${event.clientY + 14}px`;
  }

  /** @param {Difference} part */
  words(part) {
    if (!this.comparable) return `${time(part.base)}, ${time(part.fresh)}`;
    const share = relative(part);
    const only = part.base === null ? 'new, ' : part.fresh === null ? 'gone, ' : '';
    return `${only}${signed(deltaOf(part))}${share ? ` (${share})` : ''}`;
  }

  /** @param {Difference} root  what takes the whole width @param {Difference} whole @param {Theme} theme */
  show(root, whole, theme) {
    Object.assign(this, { root, whole, theme });
    this.draw();
  }

  draw() {
    const { root, whole, theme } = this;
    const width = this.element.clientWidth;
    if (!root || !whole || !theme || width < 1) return;
    this.boxes = arrange(root, width);
    const height = Math.max(...this.boxes.map((box) => box.top)) + ROW_HEIGHT;
    const context = fitCanvas(this.canvas, width, height);
    context.clearRect(0, 0, width, height);
    context.font = theme.font;
    context.textBaseline = 'middle';
    for (const { part, left, width: size, top } of this.boxes) {
      context.fillStyle = colorOf(this.comparable ? changeOf(part, whole) : 0);
      context.fillRect(left, top, Math.max(MIN_PX, size - 1), ROW_HEIGHT - 1);
      if (size < LABEL_PX) continue;
      const full = `${part.title} ${this.words(part)}`;
      context.fillStyle = '#fff';
      fillLabel(context, full.length * CHARACTER_PX <= size - 8 ? full : part.title, left + 4, top + ROW_HEIGHT / 2, size - 8);
    }
  }
}
