/** @import { Theme } from '../colors.js' */
/** @import { Metric, RangeNode } from './tree.js' */
import { nameColor } from '../colors.js';
import { fillLabel, fitCanvas, h } from '../dom.js';
import { sortedChildren, totalOf } from './tree.js';

const ROW_HEIGHT = 20;
const MIN_PX = 0.5;
const LABEL_PX = 27;
const GROUP_COLORS = ['#5b6672', '#6d7884'];

/**
 * Flame graph of the calling-context tree, roots on top. The node in focus takes the whole width; its
 * ancestors stay above it as the way back.
 */
export class FlameGraph {
  /** @param {{focus: (node: RangeNode) => void, hover: (node: RangeNode | null, x: number, y: number) => void, open: (node: RangeNode) => void}} handlers */
  constructor(handlers) {
    this.canvas = h('canvas', {
      class: 'flame',
      role: 'img',
      tabindex: '0',
      'aria-label': 'Flame graph of NVTX ranges; the tree below holds the same data',
    });
    this.element = h('div', { class: 'flame-box' }, this.canvas);
    /** @type {{node: RangeNode, left: number, width: number, top: number}[]} */
    this.boxes = [];
    /** @type {RangeNode | null} */
    this.focus = null;
    /** @type {RangeNode | null} */
    this.hovered = null;
    /** @type {Metric} */
    this.metric = 'wall';
    /** @type {((name: string) => boolean) | null} */
    this.matches = null;
    /** @type {Theme | null} */
    this.theme = null;
    /** @param {MouseEvent} event */
    const nodeAt = (event) => {
      const box = this.canvas.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left, event.clientY - box.top];
      return (
        this.boxes.find((item) => y >= item.top && y < item.top + ROW_HEIGHT && x >= item.left && x < item.left + item.width)
          ?.node ?? null
      );
    };
    this.canvas.addEventListener('click', (event) => {
      const node = nodeAt(event);
      if (node) handlers.focus(node);
    });
    this.canvas.addEventListener('dblclick', (event) => {
      const node = nodeAt(event);
      if (node) handlers.open(node);
    });
    this.canvas.addEventListener('pointermove', (event) => {
      const node = nodeAt(event);
      handlers.hover(node, event.clientX, event.clientY);
      this.canvas.style.cursor = node ? 'pointer' : 'default';
      if (node === this.hovered) return;
      this.hovered = node;
      this.draw();
    });
    this.canvas.addEventListener('pointerleave', () => {
      handlers.hover(null, 0, 0);
      this.hovered = null;
      this.draw();
    });
    this.canvas.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' && event.key !== 'Backspace') return;
      if (this.focus?.parent) handlers.focus(this.focus.parent);
      event.preventDefault();
    });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** @param {RangeNode} focus @param {Metric} metric @param {((name: string) => boolean) | null} matches @param {Theme} theme */
  show(focus, metric, matches, theme) {
    this.focus = focus;
    this.metric = metric;
    this.matches = matches;
    this.theme = theme;
    this.draw();
  }

  /** @param {number} width */
  arrange(width) {
    this.boxes = [];
    if (!this.focus) return 0;
    const { metric } = this;
    /** @type {RangeNode[]} */
    const ancestors = [];
    for (let node = this.focus.parent; node; node = node.parent) ancestors.unshift(node);
    ancestors.forEach((node, index) => this.boxes.push({ node, left: 0, width, top: index * ROW_HEIGHT }));
    const pending = [{ node: this.focus, left: 0, width, top: ancestors.length * ROW_HEIGHT }];
    let bottom = 0;
    for (let item = pending.pop(); item; item = pending.pop()) {
      this.boxes.push(item);
      bottom = Math.max(bottom, item.top + ROW_HEIGHT);
      const children = sortedChildren(item.node, metric);
      const sum = children.reduce((total, child) => total + totalOf(child, metric), 0);
      // Ranges of one thread may overlap: then children share the parent's width by their sum.
      const whole = Math.max(totalOf(item.node, metric), sum);
      if (whole <= 0) continue;
      let left = item.left;
      for (const child of children) {
        const size = (totalOf(child, metric) / whole) * item.width;
        if (size < MIN_PX) break;
        pending.push({ node: child, left, width: size, top: item.top + ROW_HEIGHT });
        left += size;
      }
    }
    return bottom;
  }

  draw() {
    const width = this.element.clientWidth;
    if (width < 1 || !this.theme || !this.focus) return;
    const height = Math.max(ROW_HEIGHT, this.arrange(width));
    const { theme } = this;
    const context = fitCanvas(this.canvas, width, height);
    context.clearRect(0, 0, width, height);
    context.font = theme.font;
    context.textBaseline = 'middle';
    for (const { node, left, width: size, top } of this.boxes) {
      const isAbove = this.focus !== node && node.depth < this.focus.depth;
      const dim = this.matches !== null && !node.isGroup && !this.matches(node.name);
      context.globalAlpha = dim ? 0.22 : isAbove ? 0.55 : 1;
      context.fillStyle = node.isGroup ? GROUP_COLORS[node.depth % 2] : nameColor(node.name);
      context.fillRect(left, top, Math.max(MIN_PX, size - 1), ROW_HEIGHT - 1);
      if (node === this.hovered) {
        context.strokeStyle = theme.text;
        context.lineWidth = 1.5;
        context.strokeRect(left + 0.75, top + 0.75, Math.max(1, size - 2.5), ROW_HEIGHT - 2.5);
      }
      if (size >= LABEL_PX) {
        context.globalAlpha = dim ? 0.5 : 1;
        context.fillStyle = '#fff';
        fillLabel(context, node.name, left + 4, top + ROW_HEIGHT / 2, size - 8);
      }
    }
    context.globalAlpha = 1;
  }
}
