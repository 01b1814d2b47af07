/** @import { Model } from '../model.js' */
/** @import { TimelineView } from '../timeline/view.js' */
/** @import { CompareApp } from './app.js' */
/** @import { Place } from './align.js' */
/** @import { SideData, SideName } from './types.js' */
import { readTheme } from '../colors.js';
import { fitCanvas, h, name } from '../dom.js';
import { counted, duration, integer } from '../format.js';
import { listenForGestures } from '../timeline/gestures.js';
import { formatMeasure, parseMeasure } from '../timeline/marks.js';
import { Panel } from '../timeline/panel.js';
import { rangePair } from '../timeline/range-panel.js';
import { paintBand } from '../timeline/ruler.js';
import { rangeStats } from '../timeline/stats.js';
import { Viewport } from '../timeline/viewport.js';
import { AlignBar } from './align-bar.js';
import { Lanes } from './lanes.js';
import { nearestOf, sumsOf } from './same-name.js';

const RULER_PX = 26;
const ZOOM_STEP = 0.7;
const PAN_STEP = 0.15;
const SCROLL_STEP = 60;
const ROOM = 0.12;
const RANGE_SHARE = 0.7;
const DESCRIBE_MS = 80; // after the last step of a movement
const NARROW_PX = 720; // there the panel takes room from the tracks: it opens with a selection

/** @typedef {{side: SideName, data: SideData, model: Model}} PairSide */

/** Two timelines on one axis, whose zero is a place of each side. */
export class PairView {
  /** @param {CompareApp} app @param {HTMLElement} host @param {PairSide[]} sides  base, new */
  constructor(app, host, sides) {
    this.app = app;
    this.sides = sides;
    this.theme = readTheme();
    this.pointerX = -1;
    this.frameWanted = false;
    this.viewport = new Viewport(/** @type {Model} */ (/** @type {unknown} */ ({ startNs: 0, endNs: 1 })));
    /** @type {Place} */
    const nowhere = { start: 0, end: 0, label: '' };
    this.lanes = sides.map(({ side, model, data }) => new Lanes(this, side, model, nowhere, this.title(side, data)));
    this.bar = new AlignBar(this);
    this.ruler = h('canvas', { class: 'tl-ruler', 'aria-hidden': 'true' });
    this.search = h('input', { type: 'search', id: 'pair-search', placeholder: 'Search  ( / )', 'aria-label': 'Search names, categories and libraries on both sides', autocomplete: 'off', spellcheck: 'false', oninput: () => this.find(this.search.value) });
    this.found = h('output', { class: 'search-status', 'aria-live': 'polite' });
    /** @type {{ lanes: Lanes, event: number } | null} */
    this.chosen = null;
    /** Selected time, ns after the places. @type {[number, number] | null} */
    this.range = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.describing = undefined;
    this.panel = new Panel(/** @type {TimelineView} */ (/** @type {unknown} */ (this)), 'compare.html');
    /** Whether the panel stays closed while nothing is selected. */
    this.closed = innerWidth <= NARROW_PX;
    const button = (/** @type {string} */ label, /** @type {string} */ title, /** @type {() => void} */ action) => h('button', { type: 'button', title, onclick: action }, label);
    host.append(
      h(
        'div',
        { class: 'toolbar', role: 'toolbar', 'aria-label': 'Timelines' },
        this.bar.element,
        h('div', { class: 'group' }, button('−', 'Zoom out (S)', () => this.zoom(1 / ZOOM_STEP)), button('+', 'Zoom in (W)', () => this.zoom(ZOOM_STEP)), button('Place', 'Show the aligned place', () => this.showPlace()), button('Fit', 'Show everything (0)', () => this.fit()), button('Statistics', 'What is in sight, side by side (I)', () => this.toggleStatistics())),
        h('div', { class: 'group search' }, this.search, this.found),
      ),
      h(
        'div',
        { class: 'tl-body' },
        h('div', { class: 'pair-main' }, h('div', { class: 'pair-ruler' }, h('span', { class: 'muted' }, 'since the aligned place'), h('div', { class: 'pair-axis' }, this.ruler)), ...this.lanes.map((lanes) => lanes.element)),
        this.panel.edge,
        this.panel.element,
      ),
    );
    listenForGestures(this.ruler, {
      zoom: (factor, x) => this.zoom(factor, x / this.width),
      pan: (dx) => this.pan(-dx / this.width),
      selectRange: (from, to, done) => this.drag(from, to, done),
      selecting: () => true,
      click: () => this.selectRange(null),
      doubleClick: () => this.zoomToSelection(),
      hover: () => {},
      leave: () => {},
    });
    new ResizeObserver(() => this.resize()).observe(host);
  }

  /** @param {SideName} side @param {SideData} data */
  title(side, data) {
    const many = data.captures.length > 1 ? `, the middle one of ${data.captures.length} captures` : '';
    const part = data.whole ? '' : ', the stretch around its typical step; nsys-ai analyze shows the whole run';
    return `${side}: ${data.capture}${many}${part}`;
  }

  /** Of the tracks, which are equally wide. */
  get width() {
    return this.lanes[0].width;
  }

  /** Where the keyboard goes when the panel closes. */
  get canvas() {
    return this.lanes[0].canvas;
  }

  opened() {
    this.resize();
    this.describe();
  }

  /** The panel takes room, and gives it back. */
  resizeInPlace() {
    this.resize();
  }

  resize() {
    for (const lanes of this.lanes) lanes.resize();
    this.draw();
  }

  draw() {
    if (this.frameWanted) return;
    this.frameWanted = true;
    requestAnimationFrame(() => {
      this.frameWanted = false;
      if (this.app.view === 'pair') this.drawNow();
    });
  }

  drawNow() {
    const { width } = this.lanes[0];
    if (width < 1) return;
    const { step, list } = this.viewport.ticks(width, width < 500 ? 90 : 120, 0);
    this.drawRuler(width, step, list);
    for (const lanes of this.lanes) lanes.paint(list);
  }

  /** @param {number} width @param {number} step @param {[number, number][]} ticks */
  drawRuler(width, step, ticks) {
    const { theme } = this;
    const context = fitCanvas(this.ruler, width, RULER_PX);
    context.fillStyle = theme.raised;
    context.fillRect(0, 0, width, RULER_PX);
    context.font = theme.font;
    context.textBaseline = 'middle';
    context.fillStyle = theme.muted;
    const { clock } = this.lanes[0].model;
    for (const [time, x] of ticks) {
      context.fillRect(Math.round(x), RULER_PX - 7, 1, 7);
      const label = clock.formatRelative(time, step);
      if (x + 8 + context.measureText(label).width < width) context.fillText(label, x + 4, RULER_PX / 2 - 1);
    }
    if (this.range) paintBand(context, { theme, viewport: this.viewport, width }, this.range, theme.accent, '');
    if (this.pointerX < 0) return;
    const label = clock.formatRelative(this.viewport.time(this.pointerX, width), this.viewport.span / width);
    const size = context.measureText(label).width + 10;
    const left = Math.max(0, Math.min(width - size, this.pointerX - size / 2));
    context.fillStyle = theme.text;
    context.fillRect(left, 3, size, RULER_PX - 8);
    context.fillStyle = theme.background;
    context.fillText(label, left + 5, RULER_PX / 2 - 1);
  }

  /** @param {number} x */
  hoverAt(x) {
    this.pointerX = x;
    this.draw();
  }

  /**
   * Puts a place of each side at zero.
   * @param {Place} base @param {Place} fresh @param {string} what  they are @param {string} text  of the link
   */
  align(base, fresh, what, text) {
    [base, fresh].forEach((place, index) => {
      const length = place.end > place.start ? `, ${duration(place.end - place.start)}` : '';
      this.lanes[index].viewport.place = place;
      this.lanes[index].place.textContent = `${what}${place.label}${length}`;
    });
    const starts = this.lanes.map(({ model, viewport }) => model.startNs - viewport.place.start);
    const ends = this.lanes.map(({ model, viewport }) => model.endNs - viewport.place.start);
    const bounds = { startNs: Math.min(...starts), endNs: Math.max(...ends) };
    Object.assign(this.viewport, new Viewport(/** @type {Model} */ (/** @type {unknown} */ (bounds))));
    this.app.state.set({ al: text });
    this.showPlace();
  }

  /** The aligned places with some room, or all there is when they have no length. */
  showPlace() {
    const length = Math.max(...this.lanes.map(({ viewport }) => viewport.place.end - viewport.place.start));
    if (length > 0) this.viewport.set(-ROOM * length, (1 + ROOM) * length);
    else this.viewport.fit();
    this.moved();
  }

  moved() {
    this.app.state.set({ a: this.viewport.from.toFixed(1), b: this.viewport.to.toFixed(1) });
    this.draw();
    clearTimeout(this.describing);
    this.describing = setTimeout(() => this.describe(), DESCRIBE_MS);
  }

  fit() {
    this.viewport.fit();
    this.moved();
  }

  /** @param {number} factor @param {number} [share] */
  zoom(factor, share = 0.5) {
    this.viewport.zoom(factor, share);
    this.moved();
  }

  /** @param {number} share */
  pan(share) {
    this.viewport.pan(share);
    this.moved();
  }

  /** What is selected, ns after the places. @param {Lanes} [lanes]  whose event, if both sides have one @returns {[number, number] | null} */
  selectedTime(lanes = this.chosen?.lanes ?? this.lanes[0]) {
    if (this.range || lanes.selected < 0) return this.range;
    const start = lanes.model.events.start[lanes.selected] - lanes.viewport.place.start;
    return [start, start + lanes.model.events.duration[lanes.selected]];
  }

  /** @param {Lanes} [lanes] */
  zoomToSelection(lanes) {
    const time = this.selectedTime(lanes);
    if (!time) return;
    this.viewport.focus(...time, this.range ? RANGE_SHARE : undefined);
    this.moved();
  }

  /** A drag over the tracks or the axis. @param {number} a @param {number} b  px @param {boolean} done */
  drag(a, b, done) {
    const [from, to] = [Math.min(a, b), Math.max(a, b)].map((x) => this.viewport.time(Math.max(0, Math.min(this.width, x)), this.width));
    if (done) return this.selectRange([from, to]);
    this.range = [from, to];
    return this.draw();
  }

  /** @param {[number, number] | null} range  ns after the places */
  selectRange(range) {
    if (this.chosen) this.select(this.lanes[0], -1);
    this.range = range;
    this.app.state.set({ r: formatMeasure(range) });
    if (range) this.app.announce(`Selected a time range of ${duration(range[1] - range[0])}`);
    this.describe();
    this.draw();
  }

  /** Nothing is selected; if nothing was, the panel closes. */
  clearSelection() {
    if (!this.range && !this.chosen) this.closed = true;
    this.select(this.lanes[0], -1);
  }

  toggleStatistics() {
    this.closed = !this.panel.element.hidden;
    if (this.closed) this.panel.close();
    else this.describe();
  }

  /** Selects an event, and on the other side the one of its name at about the same time. @param {Lanes} lanes @param {number} event */
  select(lanes, event) {
    for (const other of this.lanes) {
      if (other === lanes) other.selected = event;
      else if (event < 0) other.selected = -1;
      else {
        other.selected = nearestOf(other.model, lanes.model.nameOf(event), lanes.model.events.start[event] - lanes.viewport.place.start + other.viewport.place.start);
        if (other.selected >= 0) other.reveal(other.selected);
      }
    }
    this.chosen = event < 0 ? null : { lanes, event };
    this.range = null;
    this.app.state.set({ e: event < 0 ? '' : `${lanes.side}~${event}`, r: '' });
    this.describe();
    this.draw();
  }

  /** What is selected, or else in sight, side by side. */
  describe() {
    if (this.app.view !== 'pair') return undefined;
    if (this.chosen) return this.describeEvent(this.chosen);
    if (this.closed && !this.range) return this.panel.close();
    const [from, to] = this.range ?? [this.viewport.from, this.viewport.to];
    const held = this.lanes.map((lanes) => ({ view: lanes.asView(), stats: rangeStats(lanes.model, from + lanes.viewport.place.start, to + lanes.viewport.place.start) }));
    // What moves with the axis is read on where it was.
    const top = this.panel.element.scrollTop;
    this.panel.show(this.range ? 'Time range' : 'In sight', rangePair(held, this.sides.map(({ side }) => side)));
    this.panel.element.scrollTop = top;
    // For tests and scripts: the numbers behind the text.
    this.lastStats = held.map(({ stats }) => stats);
    return undefined;
  }

  /** An event and its like, of how many in sight. @param {{ lanes: Lanes, event: number }} chosen */
  describeEvent({ lanes: from, event }) {
    const text = from.model.nameOf(event);
    const number = (/** @type {number} */ value) => (Number.isNaN(value) ? '–' : duration(value));
    const columns = this.lanes.map(({ model, viewport, selected }) => {
      const [seen, all] = [sumsOf(model, text, viewport.from, viewport.to), sumsOf(model, text, -Infinity, Infinity)];
      const own = selected >= 0 ? [model.events.duration[selected], model.events.start[selected] - viewport.place.start] : [NaN, NaN];
      return [...own.map(number), integer(seen.count), number(seen.total), integer(all.count), number(all.median)];
    });
    const labels = ['This one', 'At', 'In sight', 'Their time', 'On the page', 'Median'];
    this.panel.show('Event', [
      h('p', { class: 'full-name' }, name(text)),
      h(
        'table',
        { class: 'mini pair' },
        h('thead', {}, h('tr', {}, h('td', {}), this.sides.map(({ side }) => h('th', { scope: 'col' }, side)))),
        h('tbody', {}, labels.map((label, row) => h('tr', {}, h('th', { scope: 'row' }, label), columns.map((cells) => h('td', {}, cells[row]))))),
      ),
      this.lanes.some(({ selected }) => selected < 0) ? h('p', { class: 'muted' }, 'The other side has no event of this name.') : null,
    ]);
  }

  /** @param {string} text */
  find(text) {
    for (const lanes of this.lanes) lanes.search.set(text, false, false);
    this.found.textContent = text === '' ? '' : this.lanes.map(({ side, search }) => `${side} ${counted(search.events ?? 0, 'event')}`).join(', ');
    this.app.state.set({ q: text });
    this.draw();
  }

  /** Shows all of a name. @param {string} text */
  showName(text) {
    this.search.value = text;
    this.find(text);
    const from = this.lanes.find(({ model }) => model.nameIndex.has(text));
    if (!from) return;
    const event = nearestOf(from.model, text, from.viewport.place.start);
    if (event < 0) return;
    this.select(from, event);
    from.reveal(event);
    const start = from.model.events.start[event] - from.viewport.place.start;
    if (start < this.viewport.from || start > this.viewport.to) this.viewport.bringIn(start, start + from.model.events.duration[event]);
    this.moved();
  }

  restore() {
    const { al, a, b, e, q, r } = this.app.state.values;
    const [side, event] = e.split('~');
    const lanes = this.lanes.find((one) => one.side === side);
    this.bar.restore(al);
    if (a !== '' && b !== '' && Number(b) > Number(a)) this.viewport.set(Number(a), Number(b));
    this.search.value = q;
    this.find(q);
    this.resize();
    if (lanes && Number(event) < lanes.model.events.start.length) {
      this.select(lanes, Number(event));
      lanes.reveal(lanes.selected);
    } else this.selectRange(parseMeasure(r));
    this.moved();
  }

  themeChanged() {
    this.theme = readTheme();
    this.draw();
  }

  /** @param {Lanes} lanes @param {KeyboardEvent} event */
  key(lanes, event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    /** @type {Record<string, () => void>} */
    const actions = {
      w: () => this.zoom(ZOOM_STEP),
      '+': () => this.zoom(ZOOM_STEP),
      '=': () => this.zoom(ZOOM_STEP),
      s: () => this.zoom(1 / ZOOM_STEP),
      '-': () => this.zoom(1 / ZOOM_STEP),
      a: () => this.pan(-PAN_STEP),
      d: () => this.pan(PAN_STEP),
      arrowleft: () => this.pan(-PAN_STEP),
      arrowright: () => this.pan(PAN_STEP),
      arrowup: () => lanes.scrollTo(lanes.scrollTop - SCROLL_STEP),
      arrowdown: () => lanes.scrollTo(lanes.scrollTop + SCROLL_STEP),
      0: () => this.fit(),
      f: () => this.zoomToSelection(lanes),
      m: () => this.selectRange(this.selectedTime(lanes) ?? [this.viewport.from, this.viewport.to]),
      i: () => this.toggleStatistics(),
      escape: () => this.clearSelection(),
    };
    const action = actions[event.key.toLowerCase()];
    if (!action) return;
    action();
    event.preventDefault();
    event.stopPropagation();
  }
}
