/** @import { App } from '../app.js' */
import { causeName, EventColors, readTheme } from '../colors.js';
import { fitCanvas, h } from '../dom.js';
import { duration } from '../format.js';
import { Search } from '../search.js';
import { Annotations } from './annotations.js';
import { assemble } from './assemble.js';
import { Gutter } from './gutter.js';
import { Layout } from './layout.js';
import { describeEvent, step, zoomToSelection } from './navigate.js';
import { OverviewStrip } from './overview-strip.js';
import { Painter } from './painter.js';
import { drawRuler, tickOffset } from './ruler.js';
import { paintOverlays } from './paint-overlays.js';
import { paintRankLines } from './rank-lines.js';
import { Panel } from './panel.js';
import { connectPointer, hitTest } from './pointer.js';
import { Toolbar } from './toolbar.js';
import { Tooltip } from './tooltip.js';
import { Viewport } from './viewport.js';

/** The timeline view: canvas, ruler, labels, overview strip, toolbar and details. */
export class TimelineView {
  /** @param {App} app @param {HTMLElement} host */
  constructor(app, host) {
    this.app = app;
    this.model = app.model;
    this.layout = new Layout(this.model);
    this.viewport = new Viewport(this.model);
    this.painter = new Painter(this.model, this.layout);
    this.search = new Search(this.model);
    this.annotations = new Annotations(this);
    this.theme = readTheme();
    this.colors = new EventColors(this.model, 'category');
    this.selected = -1;
    /** @type {{gpu: number, index: number} | null} */
    this.selectedGap = null;
    this.hovered = -1;
    /** Number of the collective under the pointer, and of that which is the selected range; -1 for none. */
    this.hoveredSet = -1;
    this.rangeSet = { from: NaN, to: NaN, set: -1 };
    /** Pointer over the tracks, px; -1 outside. */
    this.pointerX = -1;
    /** @type {[number, number] | null} */
    this.range = null;
    /** Keys of the tracks that the range is of; null: all. @type {string[] | null} */
    this.area = null;
    /** The range that others are seen beside. @type {[number, number] | null} */
    this.kept = null;
    this.scrollTop = 0;
    this.selecting = false;
    this.width = 0;
    this.height = 0;
    this.frameWanted = false;
    this.tickStep = 1;
    /** Milliseconds per frame since the last reset, for the benchmark. @type {number[]} */
    this.frameTimes = [];

    this.ruler = h('canvas', { class: 'tl-ruler', 'aria-hidden': 'true' });
    this.canvas = h('canvas', {
      class: 'tl-canvas',
      id: 'timeline-canvas',
      tabindex: '0',
      role: 'application',
      'aria-roledescription': 'timeline',
      'aria-describedby': 'timeline-help',
      'aria-label': 'Timeline of GPU work, NVTX ranges and CUDA calls',
    });
    this.toolbar = new Toolbar(this);
    this.gutter = new Gutter(this);
    this.strip = new OverviewStrip(this);
    this.panel = new Panel(this);
    this.tooltip = new Tooltip(this);
    this.spacer = h('div');
    this.scroller = h('div', { class: 'tl-scroll', tabindex: '-1', 'aria-hidden': 'true' }, this.spacer);
    this.stage = h('div', { class: 'tl-stage' }, this.canvas, this.tooltip.element);
    host.append(...assemble(this));
    connectPointer(this);
  }

  resize() {
    const box = this.stage.getBoundingClientRect();
    if (box.width < 1 || box.height < 1) return;
    this.width = Math.floor(box.width);
    this.height = Math.floor(box.height);
    this.scrollTo(this.scrollTop);
    this.strip.resize(this.width);
    this.draw();
  }

  /** The panel opened or closed: what stays in sight stays where it is, but the whole stays the whole. */
  resizeInPlace() {
    const before = this.width;
    this.resize();
    if (before === 0 || before === this.width) return;
    const { from, to, span, fullFrom, fullTo } = this.viewport;
    if (from === fullFrom && to === fullTo) this.viewport.fit();
    else this.viewport.set(from, from + (span * this.width) / before);
    this.moved();
  }

  /** Draws before the next screen refresh; many calls, one frame. */
  draw() {
    if (this.frameWanted) return;
    this.frameWanted = true;
    requestAnimationFrame(() => {
      this.frameWanted = false;
      if (this.width > 0 && this.app.view === 'timeline') this.drawNow();
    });
  }

  drawNow() {
    const begin = performance.now();
    const frame = this.frame();
    const context = fitCanvas(this.canvas, this.width, this.height);
    this.painter.paint(context, frame);
    paintRankLines(context, this);
    paintOverlays(context, this);
    drawRuler(this, this.tickStep, frame.ticks);
    this.strip.draw();
    this.gutter.place();
    this.frameTimes.push(performance.now() - begin);
    if (this.frameTimes.length > 2000) this.frameTimes.splice(0, 1000);
  }

  /** What the painter needs to know. */
  frame() {
    const { width, height, viewport, theme } = this;
    const { step, list } = viewport.ticks(width, width < 500 ? 90 : 120, tickOffset(this.model.clock));
    this.tickStep = step;
    return {
      from: viewport.from,
      to: viewport.to,
      width,
      height,
      scrollTop: this.scrollTop,
      theme,
      colors: this.colors,
      selected: this.selected,
      range: this.range,
      area: this.area,
      kept: this.kept,
      hovered: this.hovered,
      search: this.search.forFrame(),
      selectedGap: this.selectedGap,
      ticks: list,
      pointerX: this.pointerX,
    };
  }

  /** @param {number} y  pixels from the top of all tracks */
  scrollTo(y) {
    this.scrollTop = Math.max(0, Math.min(y, this.layout.height - this.height));
    this.spacer.style.height = `${this.layout.height}px`;
    if (Math.abs(this.scroller.scrollTop - this.scrollTop) >= 1) this.scroller.scrollTop = this.scrollTop;
    this.app.state.set({ y: this.scrollTop > 0 ? String(Math.round(this.scrollTop)) : '' });
    this.draw();
  }

  /** The window changed: redraw and remember it in the link. */
  moved() {
    const { viewport } = this;
    const whole = viewport.from === viewport.fullFrom && viewport.to === viewport.fullTo;
    this.app.state.set({ a: whole ? '' : viewport.from.toFixed(1), b: whole ? '' : viewport.to.toFixed(1) });
    this.draw();
  }

  /** @param {number} factor  below 1 zooms in @param {number} [share] */
  zoom(factor, share = 0.5) {
    this.viewport.zoom(factor, share);
    this.moved();
  }

  fit() {
    this.viewport.fit();
    this.moved();
  }

  /** @param {number} share */
  pan(share) {
    this.viewport.pan(share);
    this.moved();
  }

  /** @param {number} x @param {number} y */
  clickAt(x, y) {
    this.canvas.focus({ preventScroll: true });
    const hit = hitTest(this, x, y);
    if (hit && hit.event >= 0) this.selectEvent(hit.event);
    else if (hit?.track.spans && (hit.span ?? -1) >= 0) this.selectRange(hit.track.spans.start[hit.span ?? 0], hit.track.spans.end[hit.span ?? 0], true);
    else if (hit?.projected) this.selectRange(hit.projected.start, hit.projected.end, true);
    else if (hit && hit.gap >= 0 && hit.track.gpu !== undefined) this.selectGap(hit.track.gpu, hit.gap);
    else this.clearSelection();
  }

  /** @param {number} x @param {number} y */
  hoverAt(x, y) {
    const hit = x >= 0 ? hitTest(this, x, y) : null;
    this.tooltip.show(hit, x, y);
    this.hovered = hit ? hit.event : -1;
    this.hoveredSet = hit?.track.spans?.set?.[hit.span ?? -1] ?? -1;
    this.pointerX = x;
    this.draw();
  }

  clearSelection() {
    this.selected = -1;
    this.selectedGap = null;
    this.range = null;
    this.panel.close();
    this.area = null;
    this.app.state.set({ e: '', g: '', r: '', ra: '' });
    this.draw();
  }

  clearRange() {
    if (this.range) this.clearSelection();
  }

  /** @param {number} event @param {{zoom?: boolean, reveal?: boolean}} [options] */
  selectEvent(event, { zoom = false, reveal = false } = {}) {
    this.selected = event;
    this.selectedGap = null;
    this.range = null;
    const [begin, end] = [this.model.events.start[event], this.model.end(event)];
    this.panel.showEvent(event);
    if (zoom) this.viewport.focus(begin, end);
    else if (end < this.viewport.from || begin > this.viewport.to) this.viewport.bringIn(begin, end);
    if (zoom || reveal) this.reveal(event);
    this.app.state.set({ e: String(event), g: '', r: '', ra: '' });
    this.app.announce(describeEvent(this.model, event));
    this.moved();
  }

  /** Scrolls an event's row into sight. @param {number} event */
  reveal(event) {
    const found = this.layout.find(event);
    if (!found) return;
    if (this.layout.reveal(found.track)) this.foldsChanged();
    if (found.track.pinned) return;
    this.revealBand(found.track.top + found.row * found.track.rowHeight, found.track.rowHeight);
  }

  /** @param {number} top @param {number} height */
  revealBand(top, height) {
    if (this.height === 0) this.resize();
    const margin = Math.min(60, this.height / 4);
    const first = margin + this.layout.pinnedHeight;
    if (top < this.scrollTop + first) this.scrollTo(top - first);
    else if (top + height > this.scrollTop + this.height - margin) this.scrollTo(top + height - this.height + margin);
  }

  /** @param {number} gpu @param {number} index @param {boolean} [zoom] */
  selectGap(gpu, index, zoom = false) {
    const track = this.layout.tracks.find((candidate) => candidate.gaps && candidate.gpu === gpu);
    if (!track?.gaps) return;
    this.selected = -1;
    this.range = null;
    this.selectedGap = { gpu, index };
    this.panel.showGap(track, index);
    if (zoom) {
      this.viewport.focus(track.gaps.start[index], track.gaps.end[index]);
      if (this.layout.reveal(track)) this.foldsChanged();
      this.revealBand(track.top, track.height);
    }
    this.app.state.set({ e: '', g: String(track.gaps.row[index]), r: '', ra: '' });
    this.app.announce(`Selected idle gap, ${duration(track.gaps.end[index] - track.gaps.start[index])}, ${causeName(track.gaps.cause[index])}`);
    this.moved();
  }

  /** @param {{gpu: number, index: number}} gap @returns {[number, number]} */
  timeOfGap({ gpu, index }) {
    const gaps = this.layout.tracks.find((candidate) => candidate.gaps && candidate.gpu === gpu)?.gaps;
    return gaps ? [gaps.start[index], gaps.end[index]] : [NaN, NaN];
  }

  /** @param {number} from @param {number} to @param {boolean} done  false while the pointer still moves @param {string[] | null} [area]  tracks it is of */
  selectRange(from, to, done, area = null) {
    this.selected = -1;
    this.selectedGap = null;
    this.range = [from, to];
    this.area = area;
    if (done) {
      this.panel.showRange(from, to);
      if (to > this.viewport.to) this.viewport.bringIn(from, to);
      this.app.state.set({ e: '', g: '', r: `${from.toFixed(0)}~${to.toFixed(0)}`, ra: area?.join('!') ?? '' });
      this.app.announce(area ? `Selected a time range of ${area.length} tracks` : 'Selected a time range');
    }
    this.moved();
  }

  /** Keeps a range, to see the next one beside it. @param {[number, number] | null} [range] */
  keepRange(range = this.range) {
    this.kept = range;
    this.app.state.set({ rb: range ? range.map((time) => time.toFixed(0)).join('~') : '' });
    this.app.announce(range ? 'Range kept as A: select another one' : 'No range is kept');
    this.panel.refresh();
    this.draw();
  }

  zoomToSelection() {
    zoomToSelection(this);
  }

  /** Neighbour by name, search or track. @param {'name' | 'match' | 'track'} what @param {1 | -1} direction */
  step(what, direction) {
    step(this, what, direction);
  }

  /** @param {string} text @param {boolean} isPattern @param {boolean} only @param {string[]} [chosen]  categories */
  setSearch(text, isPattern, only, chosen = this.search.chosen) {
    this.search.set(text, isPattern, only, chosen);
    this.app.state.set({ q: text, qx: isPattern ? '1' : '', qo: only ? '1' : '', lc: chosen.join('!') });
    this.toolbar.showSearch();
    this.draw();
  }

  /** Searches for a whole name. @param {string} text */
  setSearchText(text) {
    this.setSearch(text, false, this.search.only);
    this.toolbar.restore();
  }

  /** Moves a time to the middle. @param {number} time */
  goTo(time) {
    const { span } = this.viewport;
    this.viewport.set(time - span / 2, time + span / 2);
    this.moved();
  }

  /** Selects a range and shows it with some room. @param {number} from @param {number} to */
  showRange(from, to) {
    this.selectRange(from, to, true);
    this.viewport.focus(from, to, 0.7);
    this.moved();
  }

  foldsChanged() {
    this.gutter.build();
    this.app.state.set(this.layout.arrangement.state());
    this.toolbar.showTracks();
    this.scrollTo(this.scrollTop);
  }

  themeChanged() {
    this.theme = readTheme();
    this.strip.invalidate();
    // At once: what is printed is what is painted by then.
    if (this.width > 0 && this.app.view === 'timeline') this.drawNow();
  }

  /** @param {number} row  of the table gpu_idle_gaps @param {boolean} zoom */
  selectGapByRow(row, zoom) {
    for (const track of this.layout.tracks) {
      const index = track.gaps ? track.gaps.row.indexOf(row) : -1;
      if (index >= 0 && track.gpu !== undefined) return this.selectGap(track.gpu, index, zoom);
    }
    return undefined;
  }
}
