/** @import { Model } from '../model.js' */
/** @import { TimelineView } from '../timeline/view.js' */
/** @import { Viewport } from '../timeline/viewport.js' */
/** @import { PairView } from './pair-view.js' */
/** @import { Place } from './align.js' */
/** @import { SideName } from './types.js' */
import { EventColors } from '../colors.js';
import { fitCanvas, h, name } from '../dom.js';
import { Search } from '../search.js';
import { listenForGestures } from '../timeline/gestures.js';
import { mouseZooms } from '../timeline/mouse-habit.js';
import { Gutter } from '../timeline/gutter.js';
import { Layout } from '../timeline/layout.js';
import { Painter } from '../timeline/painter.js';
import { hitTest } from '../timeline/pointer.js';
import { Tooltip } from '../timeline/tooltip.js';

/** The visible window of one side: the shared one, moved to where the side's place lies. */
class SideWindow {
  /** @param {Viewport} shared  ns after the places @param {Place} place */
  constructor(shared, place) {
    this.shared = shared;
    this.place = place;
  }

  get from() {
    return this.shared.from + this.place.start;
  }

  get to() {
    return this.shared.to + this.place.start;
  }

  get span() {
    return this.shared.span;
  }

  /** @param {number} time @param {number} width */
  x(time, width) {
    return this.shared.x(time - this.place.start, width);
  }

  /** @param {number} x @param {number} width */
  time(x, width) {
    return this.shared.time(x, width) + this.place.start;
  }
}

/**
 * The tracks of one side, drawn by the timeline's own painter. It offers what labels, tooltip and hit test of the timeline
 * ask of their view, and leaves time to the pair.
 */
export class Lanes {
  /** @param {PairView} pair @param {SideName} side @param {Model} model @param {Place} place @param {string} label */
  constructor(pair, side, model, place, label) {
    this.pair = pair;
    this.side = side;
    this.model = model;
    this.layout = new Layout(model);
    this.viewport = new SideWindow(pair.viewport, place);
    this.painter = new Painter(model, this.layout);
    this.search = new Search(model);
    this.colors = new EventColors(model, 'category');
    this.selected = -1;
    this.hovered = -1;
    this.scrollTop = 0;
    this.width = 0;
    this.height = 0;
    this.canvas = h('canvas', {
      class: 'tl-canvas',
      tabindex: '0',
      role: 'application',
      'aria-roledescription': 'timeline',
      'aria-label': `Timeline of ${side === 'base' ? 'the base' : 'the new side'}; plus and minus zoom, A and D move, arrows scroll`,
    });
    const view = this.asView();
    this.gutter = new Gutter(view);
    this.tooltip = new Tooltip(view);
    this.stage = h('div', { class: 'tl-stage' }, this.canvas, this.tooltip.element);
    this.place = h('span', { class: 'pair-place' });
    this.element = h('section', { class: 'pair-side', 'aria-label': label }, h('h2', { class: 'pair-title' }, h('span', {}, name(label)), this.place), h('div', { class: 'pair-lanes' }, this.gutter.element, this.stage));
    this.connect();
  }

  /** What the timeline's parts take for their view. */
  asView() {
    return /** @type {TimelineView} */ (/** @type {unknown} */ (this));
  }

  connect() {
    const { pair } = this;
    listenForGestures(this.canvas, {
      zoom: (factor, x) => pair.zoom(factor, x / this.width),
      pan: (dx, dy) => {
        this.scrollTo(this.scrollTop - dy);
        if (dx !== 0) pair.pan(-dx / this.width);
      },
      selectRange: (from, to, done) => pair.drag(from, to, done),
      zooms: () => mouseZooms(),
      click: (x, y) => this.clickAt(x, y),
      doubleClick: () => pair.zoomToSelection(this),
      hover: (x, y) => this.hoverAt(x, y),
      leave: () => this.hoverAt(-1, -1),
    });
    this.canvas.addEventListener('keydown', (event) => pair.key(this, event));
    this.gutter.element.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        this.scrollTo(this.scrollTop + event.deltaY);
      },
      { passive: false },
    );
  }

  resize() {
    const box = this.stage.getBoundingClientRect();
    this.width = Math.floor(box.width);
    this.height = Math.floor(box.height);
    this.scrollTo(this.scrollTop);
  }

  /** @param {number} y */
  scrollTo(y) {
    this.scrollTop = Math.max(0, Math.min(y, this.layout.height - this.height));
    this.pair.draw();
  }

  /** @param {number} x @param {number} y */
  hit(x, y) {
    return hitTest(this.asView(), x, y);
  }

  /** @param {number} x @param {number} y */
  hoverAt(x, y) {
    const hit = x >= 0 ? this.hit(x, y) : null;
    this.tooltip.show(hit, x, y);
    this.hovered = hit ? hit.event : -1;
    this.pair.hoverAt(x);
  }

  /** @param {number} x @param {number} y */
  clickAt(x, y) {
    this.canvas.focus({ preventScroll: true });
    this.pair.select(this, this.hit(x, y)?.event ?? -1);
  }

  /** What the panel asks of a timeline: the search is that of both. @param {string} text */
  setSearchText(text) {
    this.pair.search.value = text;
    this.pair.find(text);
  }

  /** Scrolls an event's row into sight. @param {number} event */
  reveal(event) {
    const found = this.layout.find(event);
    if (!found) return;
    if (this.layout.reveal(found.track)) this.foldsChanged();
    const top = found.track.top + found.row * found.track.rowHeight;
    if (top < this.scrollTop + this.layout.pinnedHeight || top + found.track.rowHeight > this.scrollTop + this.height) this.scrollTo(top - this.height / 2);
  }

  foldsChanged() {
    this.gutter.build();
    this.scrollTo(this.scrollTop);
  }

  /** @param {[number, number][]} ticks  ns after the place, and x */
  paint(ticks) {
    const { width, height, viewport, pair } = this;
    if (width < 1 || height < 1) return;
    const context = fitCanvas(this.canvas, width, height);
    this.painter.paint(context, {
      from: viewport.from,
      to: viewport.to,
      width,
      height,
      scrollTop: this.scrollTop,
      theme: pair.theme,
      colors: this.colors,
      selected: this.selected,
      range: pair.range && [pair.range[0] + viewport.place.start, pair.range[1] + viewport.place.start],
      area: null,
      kept: null,
      hovered: this.hovered,
      search: this.search.forFrame(),
      selectedGap: null,
      ticks,
      pointerX: pair.pointerX,
    });
    this.paintPlace(context);
    this.gutter.place();
  }

  /** Lines where the aligned place begins and ends. @param {CanvasRenderingContext2D} context */
  paintPlace(context) {
    const { width, height, viewport, pair } = this;
    const { start, end } = viewport.place;
    context.fillStyle = pair.theme.accent;
    for (const time of end > start ? [start, end] : [start]) context.fillRect(Math.round(viewport.x(time, width)), 0, 1.5, height);
  }
}
