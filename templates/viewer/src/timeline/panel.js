/** @import { TimelineView } from './view.js' */
/** @import { Track } from './layout.js' */
/** @import { Child } from '../dom.js' */
import { copyButton } from '../copy-button.js';
import { h, replace } from '../dom.js';
import { counted, duration } from '../format.js';
import { lanesIn } from './area.js';
import { eventDetails } from './event-details.js';
import { gapDetails } from './gap-panel.js';
import { snippetOf } from '../snippet.js';
import { rangeTitle, spanDetails } from './span-details.js';
import { rangeFacts, rangePair, rangeReport } from './range-panel.js';
import { rangeStats } from './stats.js';
import { trimNote } from './trim-note.js';


const LEAST_PX = 260;
const MOST_SHARE = 0.8;
const STEP_PX = 40;

/** Details of what is selected: an event, a gap or a time range. */
export class Panel {
  /** @param {TimelineView} view @param {string} [page]  that it stands on */
  constructor(view, page = 'report.html') {
    this.view = view;
    this.title = h('h2', {});
    this.content = h('div', { class: 'panel-content' });
    this.copy = copyButton(
      'Markdown',
      {
        class: 'quiet panel-copy',
        title: 'Copy as Markdown, with a link to this place',
        'aria-label': 'Copy the selection as Markdown',
      },
      () => snippetOf(this.title.textContent ?? '', this.content, page, view.app.state.link()),
    );
    this.element = h(
      'section',
      { class: 'panel', 'aria-label': 'Selection' },
      h(
        'header',
        {},
        this.title,
        this.copy,
        h(
          'button',
          {
            type: 'button',
            class: 'quiet',
            'aria-label': 'Close',
            title: 'Close (Esc)',
            onclick: () => this.view.clearSelection(),
          },
          '×',
        ),
      ),
      this.content,
    );
    this.edge = this.makeEdge();
    this.element.hidden = this.edge.hidden = true;
    /** @type {() => void} */
    this.refresh = () => {};
  }

  /** The panel's left edge: dragged, or moved by arrows, it makes it wider. */
  makeEdge() {
    const widen = (/** @type {number} */ by) => {
      const width = Math.max(LEAST_PX, Math.min(innerWidth * MOST_SHARE, this.element.offsetWidth + by));
      this.element.style.width = `${width}px`;
      this.edge.setAttribute('aria-valuenow', String(Math.round(width)));
      this.view.resizeInPlace();
    };
    return h('div', {
      class: 'panel-edge',
      role: 'separator',
      tabindex: '0',
      'aria-orientation': 'vertical',
      'aria-valuemin': LEAST_PX,
      'aria-valuenow': LEAST_PX,
      'aria-valuemax': Math.round(innerWidth * MOST_SHARE),
      'aria-label': 'Width of the selection panel',
      onpointerdown: (/** @type {PointerEvent} */ event) => /** @type {HTMLElement} */ (event.target).setPointerCapture(event.pointerId),
      onpointermove: (/** @type {PointerEvent} */ event) => {
        if (/** @type {HTMLElement} */ (event.target).hasPointerCapture(event.pointerId)) widen(-event.movementX);
      },
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
        event.preventDefault();
        widen(event.key === 'ArrowLeft' ? STEP_PX : -STEP_PX);
      },
    });
  }

  close() {
    const wasHidden = this.element.hidden;
    if (this.element.contains(document.activeElement)) this.view.canvas.focus({ preventScroll: true });
    this.element.hidden = this.edge.hidden = true;
    this.refresh = () => {};
    if (!wasHidden) this.view.resizeInPlace();
  }

  /** @param {string} title @param {(Child | Child[])[]} content */
  show(title, content) {
    const wasHidden = this.element.hidden;
    const focused = /** @type {HTMLElement | null} */ (
      this.content.contains(document.activeElement) ? document.activeElement : null
    );
    const label = focused?.getAttribute('aria-label') ?? focused?.textContent;
    this.element.hidden = this.edge.hidden = false;
    this.title.textContent = title;
    replace(this.content, ...content);
    this.element.scrollTop = 0;
    this.edge.setAttribute('aria-valuenow', String(this.element.offsetWidth));
    if (focused) {
      // The same button of what is selected now, so that "next" can be pressed again.
      const again = [...this.content.querySelectorAll('button')].find(
        (button) => (button.getAttribute('aria-label') ?? button.textContent) === label,
      );
      (again ?? this.view.canvas).focus({ preventScroll: true });
    }
    // The panel takes room from the canvas.
    if (wasHidden) this.view.resizeInPlace();
  }

  /** @param {number} event */
  showEvent(event) {
    this.refresh = () => this.showEvent(event);
    const { title, content } = eventDetails(this.view, event);
    this.show(title, content);
  }

  /** @param {Track} track @param {number} index */
  showGap(track, index) {
    this.refresh = () => this.showGap(track, index);
    this.show((track.gaps?.pause[index] ?? -1) < 0 ? 'Idle gap' : 'Pause', gapDetails(this.view, track, index));
  }

  /** @param {number} from @param {number} to */
  showRange(from, to) {
    this.refresh = () => this.showRange(from, to);
    const { view } = this;
    const { model, kept, area } = view;
    const whole = model.complete(from, to) && (!kept || model.complete(...kept));
    const lanes = area && whole ? lanesIn(view.layout, area) : null;
    const stats = rangeStats(model, from, to, lanes);
    view.range = [stats.from, stats.to];
    const isKept = kept?.[0] === stats.from && kept[1] === stats.to;
    const beside = kept && !isKept ? rangeStats(model, kept[0], kept[1], lanes) : null;
    this.show(beside ? 'Two ranges' : rangeTitle(view, from, to), [
      ...(beside ? rangePair([{ view, stats: beside }, { view, stats }], ['A', 'B']) : [...spanDetails(view, from, to), rangeFacts(view, stats)]),
      stats.from !== from || stats.to !== to
        ? h('p', { class: 'notice' }, `Widened to where sums are exact: steps of ${duration(model.timeline.grid?.bin_ns ?? 0)}.`)
        : null,
      this.areaNote(area !== null, lanes !== null),
      this.rangeButtons(beside !== null, isKept),
      ...(beside ? [] : rangeReport(view, stats)),
      trimNote(view, stats.from, stats.to),
    ]);
    // For tests and scripts: the numbers behind the text.
    this.lastStats = stats;
    this.lastBeside = beside;
  }

  /** Which tracks the numbers are of. @param {boolean} chosen @param {boolean} possible */
  areaNote(chosen, possible) {
    if (!chosen) return null;
    const { view } = this;
    const all = h('button', { type: 'button', class: 'link', onclick: () => view.selectRange(.../** @type {[number, number]} */ (view.range), true) }, 'all tracks');
    if (!possible) return h('p', { class: 'notice' }, 'Of all tracks: the page does not have every event of this time.');
    return h('p', { class: 'muted' }, `Of ${counted(view.area?.length ?? 0, 'track')} under the selection: `, all);
  }

  /** @param {boolean} compared @param {boolean} isKept */
  rangeButtons(compared, isKept) {
    const { view } = this;
    return h(
      'div',
      { class: 'buttons' },
      h('button', { type: 'button', onclick: () => view.zoomToSelection() }, 'Zoom'),
      h('button', { type: 'button', title: 'Keep this range as A, and see the next one beside it (C)', disabled: isKept, onclick: () => view.keepRange() }, isKept ? 'Kept as A' : 'Compare with …'),
      view.kept ? h('button', { type: 'button', onclick: () => view.keepRange(null) }, 'Stop comparing') : null,
      isKept ? h('span', { class: 'muted' }, 'Select another range.') : compared ? h('span', { class: 'muted' }, 'A was kept, B is selected.') : null,
    );
  }
}
