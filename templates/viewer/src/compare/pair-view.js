/** @import { Model } from '../model.js' */
/** @import { CompareApp } from './app.js' */
/** @import { Place } from './align.js' */
/** @import { SideData, SideName } from './types.js' */
import { readTheme } from '../colors.js';
import { fitCanvas, h, name, replace } from '../dom.js';
import { counted, duration } from '../format.js';
import { Viewport } from '../timeline/viewport.js';
import { AlignBar } from './align-bar.js';
import { Lanes } from './lanes.js';
import { nearestOf, sumsOf } from './same-name.js';

const RULER_PX = 26;
const ZOOM_STEP = 0.7;
const PAN_STEP = 0.15;
const SCROLL_STEP = 60;
const ROOM = 0.12;
const DESCRIBE_MS = 80; // after the last step of a movement

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
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.describing = undefined;
    this.details = h('section', { class: 'pair-details', 'aria-label': 'Selection', 'aria-live': 'polite' }, h('p', { class: 'muted' }, 'Click an event to see all of its name on both sides.'));
    const button = (/** @type {string} */ label, /** @type {string} */ title, /** @type {() => void} */ action) => h('button', { type: 'button', title, onclick: action }, label);
    host.append(
      h(
        'div',
        { class: 'toolbar', role: 'toolbar', 'aria-label': 'Timelines' },
        this.bar.element,
        h('div', { class: 'group' }, button('−', 'Zoom out (S)', () => this.zoom(1 / ZOOM_STEP)), button('+', 'Zoom in (W)', () => this.zoom(ZOOM_STEP)), button('Place', 'Show the aligned place', () => this.showPlace()), button('Fit', 'Show everything (0)', () => this.fit())),
        h('div', { class: 'group search' }, this.search, this.found),
      ),
      h('div', { class: 'pair-ruler' }, h('span', { class: 'muted' }, 'since the aligned place'), h('div', { class: 'pair-axis' }, this.ruler)),
      ...this.lanes.map((lanes) => lanes.element),
      this.details,
    );
    new ResizeObserver(() => this.resize()).observe(host);
  }

  /** @param {SideName} side @param {SideData} data */
  title(side, data) {
    const many = data.captures.length > 1 ? `, the middle one of ${data.captures.length} captures` : '';
    const part = data.whole ? '' : ', the stretch around its typical step; nsys-ai analyze shows the whole run';
    return `${side}: ${data.capture}${many}${part}`;
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
    if (this.chosen) this.describing = setTimeout(() => this.describe(), DESCRIBE_MS);
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

  /** @param {Lanes} lanes */
  zoomToSelection(lanes) {
    if (lanes.selected < 0) return;
    const start = lanes.model.events.start[lanes.selected] - lanes.viewport.place.start;
    this.viewport.focus(start, start + lanes.model.events.duration[lanes.selected]);
    this.moved();
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
    this.app.state.set({ e: event < 0 ? '' : `${lanes.side}~${event}` });
    this.describe();
    this.draw();
  }

  /** What is selected, of how many in sight. */
  describe() {
    if (!this.chosen) return replace(this.details, h('p', { class: 'muted' }, 'Nothing is selected.'));
    const text = this.chosen.lanes.model.nameOf(this.chosen.event);
    const heading = (/** @type {string} */ label) => h('th', { class: 'num', scope: 'col' }, label);
    const number = (/** @type {number} */ value) => h('td', { class: 'num' }, Number.isNaN(value) ? '–' : duration(value));
    const rows = this.lanes.map(({ side, model, viewport, selected }) => {
      const seen = sumsOf(model, text, viewport.from, viewport.to);
      const all = sumsOf(model, text, -Infinity, Infinity);
      return h('tr', {}, h('th', { scope: 'row' }, side), number(selected >= 0 ? model.events.duration[selected] : NaN), number(selected >= 0 ? model.events.start[selected] - viewport.place.start : NaN), h('td', { class: 'num' }, seen.count), number(seen.total), h('td', { class: 'num' }, all.count), number(all.median));
    });
    return replace(
      this.details,
      h('p', { class: 'full-name' }, name(text)),
      h('table', { class: 'plain' }, h('thead', {}, h('tr', {}, h('td', {}), heading('This one'), heading('At'), heading('In sight'), heading('Their time'), heading('On the page'), heading('Median'))), h('tbody', {}, rows)),
      this.lanes.some(({ selected }) => selected < 0) ? h('p', { class: 'muted' }, 'The other side has no event of this name.') : null,
    );
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
    const { al, a, b, e, q } = this.app.state.values;
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
    } else if (this.chosen) this.select(this.lanes[0], -1);
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
      escape: () => this.select(lanes, -1),
    };
    const action = actions[event.key.toLowerCase()];
    if (!action) return;
    action();
    event.preventDefault();
    event.stopPropagation();
  }
}
