/** @import { App } from '../app.js' */
/** @import { Model } from '../model.js' */
/** @import { Instance } from './instances.js' */
import { CHARACTER_PX, fillLabel, fitCanvas, h } from '../dom.js';
import { duration, percent } from '../format.js';
import { bisect } from '../model.js';
import { operationsOf } from './pairing.js';
import { axisEnd, lengthOf } from './instances.js';

const MIN_LABEL_PX = 62;
const MAX_LABEL_PX = 180;
const VALUE_PX = 146;
const AXIS_PX = 20;
const MOST_ROWS = 300;
const OUTLIERS_SHOWN = 100;
/** Of rows too low for a label each, so many share one. */
const LABELED = 10;
const TICK_PX = 110;
const LABEL_PX = 31;

/** @param {number[]} list @param {number} most */
const evenly = (list, most) => (list.length <= most ? list : Array.from({ length: most }, (_, i) => list[Math.floor((i * list.length) / most)]));

/**
 * Which of many instances a picture shows: the first outliers, of those whose kernels are known as many as fit into half of it, and others evenly.
 * @param {Instance[]} instances @param {(instance: Instance) => boolean} [isKnown] @returns {number[]}
 */
export function chosenRows(instances, isKnown = () => false) {
  const all = [...instances.keys()];
  if (all.length <= MOST_ROWS) return all;
  const outliers = all.filter((i) => instances[i].outlier).slice(0, OUTLIERS_SHOWN);
  const known = evenly(all.filter((i) => isKnown(instances[i])), (MOST_ROWS - outliers.length) >> 1);
  return [...new Set([...outliers, ...known, ...evenly(all, MOST_ROWS - outliers.length - known.length)])].sort((a, b) => a - b);
}

/** Times of round numbers. @param {number} whole  ns @param {number} width  px */
function ticks(whole, width) {
  const raw = (whole * TICK_PX) / Math.max(1, width);
  const power = 10 ** Math.floor(Math.log10(Math.max(1, raw)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw) ?? 10 * power;
  return Array.from({ length: Math.floor(whole / step) + 1 }, (_, i) => i * step);
}

/**
 * Operations of an instance as one bar: kernels above, communication and copies below, so that none hides another.
 * @param {CanvasRenderingContext2D} context @param {App} app @param {number} gpu @param {Instance} instance
 * @param {{left: number, top: number, height: number, scale: number, labels: boolean}} place  scale: px per ns
 */
export function paintInstance(context, app, gpu, instance, { left, top, height, scale, labels }) {
  const { model } = app;
  const { start, name } = model.events;
  const split = height >= 8 ? Math.round(height * 0.68) : height;
  const lanes = model.lanes.filter((lane) => model.isGpuLane(lane) && lane.gpu === gpu);
  operationsOf(model, gpu, instance).forEach((events, index) => {
    const color = app.timeline.colors.forLane(lanes[index]);
    const painted = [-Infinity, -Infinity];
    for (const event of events) {
      const below = lanes[index].kind === 'copy' || lanes[index].kind === 'set' || model.category(name[event]) === 'communication' ? 1 : 0;
      const x = left + (start[event] - instance.start) * scale;
      const right = Math.max(x + 0.75, left + (Math.min(model.end(event), instance.end) - instance.start) * scale);
      if (right <= painted[below] + 0.5) continue;
      painted[below] = right;
      context.fillStyle = color(event);
      const [y, size] = split === height ? [top, height] : below ? [top + split, height - split] : [top, split];
      context.fillRect(x, y, right - x - (right - x > 4 ? 0.5 : 0), size);
      if (!labels || below || right - x < LABEL_PX) continue;
      context.fillStyle = '#fff';
      fillLabel(context, model.shortNameOf(event), x + 3, top + split / 2 + 0.5, right - x - 6);
    }
  });
}

/** The end of a text, from a whole word on where one fits. @param {string} text @param {number} most  characters */
function lastWords(text, most) {
  const end = text.slice(text.length - most);
  return end.slice(end.indexOf(' ') + 1);
}

/** Instances under each other on one axis of time. */
export class Strip {
  /**
   * @param {App} app
   * @param {{open: (index: number) => void, compare: (index: number) => void, hover: (index: number, time: number, x: number, y: number) => void}} handlers
   */
  constructor(app, handlers) {
    this.app = app;
    this.gpu = -1;
    /** @type {Instance[]} */
    this.instances = [];
    /** @type {number[]} */
    this.rows = [];
    /** @type {string[]} */
    this.labels = [];
    this.typical = { median: 0, index: 0, count: 0 };
    /** @type {number[]} */
    this.pair = [];
    this.current = -1;
    /** ns, of the axis */
    this.end = 1;
    this.width = 0;
    this.left = MIN_LABEL_PX;
    this.comparing = false;
    this.canvas = h('canvas', {
      class: 'strip',
      tabindex: '0',
      role: 'application',
      'aria-roledescription': 'iterations',
      onclick: (/** @type {MouseEvent} */ event) => {
        const index = this.indexAt(event.offsetY);
        if (index < 0) return;
        this.current = index;
        if (event.shiftKey || this.comparing) handlers.compare(index);
        else handlers.open(index);
      },
      onmousemove: (/** @type {MouseEvent} */ event) => handlers.hover(this.indexAt(event.offsetY), this.timeAt(event.offsetX), event.clientX, event.clientY),
      onmouseleave: () => handlers.hover(-1, 0, 0, 0),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event, handlers),
    });
  }

  /** @param {KeyboardEvent} event @param {{open: (index: number) => void, compare: (index: number) => void}} handlers */
  key(event, handlers) {
    const move = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity })[event.key];
    const at = this.rows.indexOf(this.current);
    if (move !== undefined) {
      this.current = this.rows[Math.max(0, Math.min(this.rows.length - 1, (at < 0 && move > 0 ? -1 : Math.max(at, 0)) + move))];
      this.app.announce(this.describe(this.current));
      this.draw();
    } else if (at >= 0 && event.key === 'Enter' && !event.shiftKey) handlers.open(this.current);
    else if (at >= 0 && (event.key === ' ' || event.key === 'Enter')) handlers.compare(this.current);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Whether its kernels are on the page one by one. @param {Instance} instance */
  isKnown({ start, end }) {
    return this.app.model.complete(start, end);
  }

  /** @param {number} index */
  describe(index) {
    const instance = this.instances[index];
    return `${instance.label}: ${duration(lengthOf(instance))}${instance.outlier ? ', outlier' : ''}${instance.whole ? '' : ', not in the statistics'}`;
  }

  get rowHeight() {
    return this.rows.length <= 40 ? 18 : this.rows.length <= 120 ? 10 : 5;
  }

  /** How many iterations go on beyond the axis. */
  get cut() {
    return this.rows.filter((index) => lengthOf(this.instances[index]) > this.end).length;
  }

  get room() {
    return Math.max(40, this.width - this.left - (this.width > 600 ? VALUE_PX : 8));
  }

  /** @param {number} y */
  indexAt(y) {
    const row = Math.floor((y - AXIS_PX) / this.rowHeight);
    return y >= AXIS_PX && row < this.rows.length ? this.rows[row] : -1;
  }

  /** ns after the begin of an instance. @param {number} x */
  timeAt(x) {
    return ((x - this.left) / this.room) * this.end;
  }

  /** @param {number} gpu @param {Instance[]} instances @param {{median: number, index: number, count: number}} facts */
  show(gpu, instances, facts) {
    Object.assign(this, { gpu, instances, typical: facts, current: -1, rows: chosenRows(instances, (instance) => this.isKnown(instance)) });
    this.end = axisEnd(this.rows.map((index) => lengthOf(instances[index])));
    const outliers = instances.filter(({ outlier }) => outlier).length;
    this.canvas.setAttribute('aria-label', `${instances.length} iterations on GPU ${gpu}, median ${duration(facts.median)}, ${outliers} outliers. Arrows choose one, Enter shows it in the timeline, Space compares it.`);
    this.draw();
  }

  draw() {
    this.width = Math.max(0, (this.canvas.parentElement?.clientWidth ?? 0) - 24);
    if (this.width < 120 || this.rows.length === 0) return;
    const most = Math.floor(((this.width > 600 ? MAX_LABEL_PX : MIN_LABEL_PX) - 10) / CHARACTER_PX) - 2;
    this.labels = this.instances.map(({ label }) => (label.length <= most ? label : `…${lastWords(label, most - 1)}`));
    const longest = Math.max(...this.rows.map((index) => this.labels[index].length));
    this.left = Math.max(MIN_LABEL_PX, (longest + 2) * CHARACTER_PX + 12);
    const { theme } = this.app.timeline;
    const height = AXIS_PX + this.rows.length * this.rowHeight + 2;
    const context = fitCanvas(this.canvas, this.width, height);
    context.clearRect(0, 0, this.width, height);
    context.font = theme.font;
    context.textBaseline = 'middle';
    const scale = this.room / this.end;
    const times = ticks(this.end, this.room);
    for (const time of times) {
      const x = this.left + time * scale;
      context.fillStyle = theme.line;
      context.fillRect(x, AXIS_PX - 4, 1, height);
      context.fillStyle = theme.muted;
      if (x < this.width - 40) context.fillText(this.app.model.clock.formatRelative(time, times[1] ?? this.end), x + 3, AXIS_PX / 2 - 1);
    }
    this.rows.forEach((index, row) => this.drawRow(context, index, AXIS_PX + row * this.rowHeight, scale));
    this.drawMedian(context, this.left + this.typical.median * scale, height);
  }

  /** @param {CanvasRenderingContext2D} context @param {number} x @param {number} height */
  drawMedian(context, x, height) {
    const { theme } = this.app.timeline;
    context.strokeStyle = theme.text;
    context.setLineDash([4, 3]);
    context.beginPath();
    context.moveTo(x + 0.5, AXIS_PX - 4);
    context.lineTo(x + 0.5, height);
    context.stroke();
    context.setLineDash([]);
  }

  /** @param {CanvasRenderingContext2D} context @param {number} index @param {number} top @param {number} scale */
  drawRow(context, index, top, scale) {
    const { theme } = this.app.timeline;
    const { rowHeight } = this;
    const instance = this.instances[index];
    if (index === this.current || this.pair.includes(index)) {
      context.fillStyle = theme.selection;
      context.fillRect(0, top, this.width, rowHeight);
    }
    const cut = lengthOf(instance) > this.end;
    const shown = cut ? { ...instance, end: instance.start + this.end } : instance;
    context.fillStyle = theme.idle;
    context.fillRect(this.left, top + 1, lengthOf(shown) * scale, rowHeight - 2);
    context.globalAlpha = instance.whole ? 1 : 0.45;
    if (this.isKnown(shown)) paintInstance(context, this.app, this.gpu, shown, { left: this.left, top: top + 1, height: rowHeight - 2, scale, labels: false });
    context.globalAlpha = 1;
    if (cut) this.markCut(context, top);
    if (instance.outlier) {
      context.fillStyle = theme.bad;
      context.fillRect(0, top + 1, 3, rowHeight - 2);
    }
    if (rowHeight < 10 && this.rows.indexOf(index) % LABELED !== 0) return;
    const letter = this.pair.indexOf(index);
    context.fillStyle = instance.outlier ? theme.bad : theme.text;
    const mark = letter >= 0 ? `${'AB'[letter]} ` : index === this.typical.index ? '◆ ' : '';
    context.fillText(`${mark}${this.labels[index]}`, 7, top + rowHeight / 2 + 0.5);
    if (this.width <= 600) return;
    const over = lengthOf(instance) - this.typical.median;
    const share = `${over < 0 ? '−' : '+'}${percent(Math.abs(over), this.typical.median)}`;
    context.fillText(`${duration(lengthOf(instance))}  ${instance.whole ? share : 'not counted'}`, this.left + this.room + 8, top + rowHeight / 2 + 0.5);
  }

  /** That a row goes on beyond the axis. @param {CanvasRenderingContext2D} context @param {number} top */
  markCut(context, top) {
    const [edge, size] = [this.left + this.room, Math.min(this.rowHeight - 1, 9)];
    context.fillStyle = this.app.timeline.theme.text;
    context.beginPath();
    context.moveTo(edge - size, top);
    context.lineTo(edge, top + this.rowHeight / 2);
    context.lineTo(edge - size, top + this.rowHeight);
    context.fill();
  }

  /** The operation of an instance at a time, -1 for none. @param {Model} model @param {number} index @param {number} time  ns after its begin */
  eventAt(model, index, time) {
    const instance = this.instances[index];
    for (const events of operationsOf(model, this.gpu, instance)) {
      const at = bisect(0, events.length, (i) => model.events.start[events[i]] > instance.start + time) - 1;
      if (at >= 0 && model.end(events[at]) > instance.start + time) return events[at];
    }
    return -1;
  }
}
