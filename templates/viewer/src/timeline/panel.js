/** @import { TimelineView } from './view.js' */
/** @import { Track } from './layout.js' */
/** @import { Child } from '../dom.js' */
import { copyButton } from '../copy-button.js';
import { h, name, replace } from '../dom.js';
import { bytes, counted, duration, integer, percent, shortened } from '../format.js';
import { eventDetails, fields } from './event-details.js';
import { gapDetails } from './gap-panel.js';
import { snippetOf } from '../snippet.js';
import { rangeTitle, spanDetails } from './span-details.js';
import { partsOfRange, splitOfRange } from './range-parts.js';
import { rangeStats } from './stats.js';
import { trimNote } from './trim-note.js';

const LIST_MAX = 12;
const NAME_CHARACTERS = 23;

/** Time in blocking calls: a sum over threads would exceed the range. @param {number} ns @param {number} threads */
function blockedPerThread(ns, threads) {
  return threads > 1 ? `${duration(ns / threads)} per thread, mean of ${threads} threads` : duration(ns);
}

/** Details of what is selected: an event, a gap or a time range. */
export class Panel {
  /** @param {TimelineView} view */
  constructor(view) {
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
      () => snippetOf(this.title.textContent ?? '', this.content, view.app.state.link()),
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
    this.element.hidden = true;
    /** @type {() => void} */
    this.refresh = () => {};
  }

  close() {
    const wasHidden = this.element.hidden;
    if (this.element.contains(document.activeElement)) this.view.canvas.focus({ preventScroll: true });
    this.element.hidden = true;
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
    this.element.hidden = false;
    this.title.textContent = title;
    replace(this.content, ...content);
    this.element.scrollTop = 0;
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
    const { model } = view;
    const stats = rangeStats(model, from, to);
    const span = stats.to - stats.from;
    view.range = [stats.from, stats.to];
    /** @param {{name: number, count: number, ns: number}[]} totals @param {number} whole */
    const ranking = (totals, whole) =>
      h(
        'table',
        { class: 'mini' },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', {}, 'Name'),
            h('th', { class: 'num', title: 'Those that begin in the range' }, 'Calls'),
            h('th', { class: 'num' }, 'Time'),
            h('th', { class: 'num' }, 'Share'),
          ),
        ),
        h(
          'tbody',
          {},
          totals.slice(0, LIST_MAX).map((entry) =>
            h(
              'tr',
              {},
              h(
                'td',
                {},
                entry.name < 0
                  ? 'all other names'
                  : h(
                      'button',
                      {
                        type: 'button',
                        class: 'link',
                        title: model.names[entry.name],
                        onclick: () => view.setSearchText(model.names[entry.name]),
                      },
                      name(shortened(model.shortNames[entry.name] || model.names[entry.name], NAME_CHARACTERS)),
                    ),
              ),
              h('td', { class: 'num' }, integer(entry.count)),
              h('td', { class: 'num' }, duration(entry.ns)),
              h('td', { class: 'num' }, percent(entry.ns, whole)),
            ),
          ),
        ),
      );
    this.show(rangeTitle(view, from, to), [
      ...spanDetails(view, from, to),
      fields([
        ['From', model.clock.format(stats.from)],
        ['To', model.clock.format(stats.to)],
        ['Length', h('b', {}, duration(span))],
        ...stats.gpus.map(
          (gpu) =>
            /** @type {[string, Child]} */ ([
              `GPU ${gpu.gpu}`,
              `busy ${percent(gpu.busyNs, span)} (${duration(gpu.busyNs)}), ${counted(gpu.kernels, 'kernel')}, ${counted(gpu.copies, 'copy', 'copies')}` +
                (gpu.copiedBytes > 0 ? `, ${bytes(gpu.copiedBytes)}` : ''),
            ]),
        ),
        ['Kernels', `${integer(stats.kernelCount)}, ${duration(stats.kernelNs)} in total`],
        ['Launches', `${integer(stats.launches)} of ${counted(stats.apiCalls, 'call')}`],
        ['Host blocked', blockedPerThread(stats.blockedNs, stats.threads)],
      ]),
      stats.from !== from || stats.to !== to
        ? h('p', { class: 'notice' }, `Widened to where sums are exact: steps of ${duration(model.timeline.grid?.bin_ns ?? 0)}.`)
        : null,
      h('div', { class: 'buttons' }, h('button', { type: 'button', onclick: () => view.zoomToSelection() }, 'Zoom')),
      ...splitOfRange(view, stats),
      h('h3', {}, 'Top kernels'),
      stats.kernels.length > 0 ? ranking(stats.kernels, stats.kernelNs) : h('p', { class: 'muted' }, 'None.'),
      h('h3', {}, 'CUDA calls'),
      stats.apis.length > 0
        ? ranking(
            stats.apis,
            stats.apis.reduce((sum, entry) => sum + entry.ns, 0),
          )
        : h('p', { class: 'muted' }, 'None.'),
      ...partsOfRange(view, stats),
      trimNote(view, stats.from, stats.to),
    ]);
    // For tests and scripts: the numbers behind the text.
    this.lastStats = stats;
  }
}
