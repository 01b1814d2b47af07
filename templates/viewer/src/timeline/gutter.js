/** @import { TimelineView } from './view.js' */
/** @import { Track } from './layout.js' */
import { h, name } from '../dom.js';
import { oneStop } from '../one-stop.js';
import { toggleFold } from './rearrange.js';
import { TrackMenu } from './track-menu.js';

/** @param {Track} track */
const isGroup = (track) => track.type === 'gpu' || track.type === 'process' || track.type === 'thread';

/** The tracks' labels, as real elements: readable by assistive technology, groups open and close as buttons. */
export class Gutter {
  /** @param {TimelineView} view */
  constructor(view) {
    this.view = view;
    this.list = h('div', { class: 'tl-labels' });
    this.pinned = h('div', { class: 'tl-labels tl-pinned' });
    this.element = h('div', { class: 'tl-gutter', role: 'group', 'aria-label': 'Tracks' }, this.list, this.pinned);
    this.corner = h('div', { class: 'tl-corner tl-origin', 'aria-live': 'off' });
    this.menu = new TrackMenu(view);
    this.placedAt = NaN;
    this.syncStops = oneStop(this.element);
    this.build();
  }

  /** @param {Track} track */
  label(track) {
    const open = !this.view.layout.collapsed.has(track.key);
    // What tells processes of one name apart is never cut.
    const [title, id] = track.label.split(/(?= · \d+$)/u);
    const text = isGroup(track)
      ? h(
          'button',
          {
            class: 'tl-fold',
            type: 'button',
            'aria-expanded': open ? 'true' : 'false',
            title: track.hint ?? track.label,
            'data-track': track.key,
            onclick: () => toggleFold(this.view, track),
          },
          h('span', { class: 'twist', 'aria-hidden': 'true' }, open ? '▾' : '▸'),
          name(title),
          id ? h('span', { class: 'tl-id' }, id) : null,
        )
      : h('span', { class: 'tl-text', title: track.hint ?? track.label }, name(track.label), track.pinned ? this.owner(track) : null);
    const more = h(
      'button',
      {
        class: 'tl-more quiet',
        type: 'button',
        'aria-haspopup': 'menu',
        'aria-label': `Track ${track.label}: pin, hide, move`,
        title: 'Pin, hide, move',
        'data-menu': track.key,
        onclick: () => this.menu.open(track, more),
      },
      '⋮',
    );
    const label = h('div', { class: isGroup(track) ? `tl-group tl-${track.type}` : 'tl-label' }, text, more);
    label.style.top = `${track.top}px`;
    label.style.height = `${track.height}px`;
    return label;
  }

  /** Whose a track is that stands apart from its group. @param {Track} track */
  owner(track) {
    const owner = this.view.layout.tracks.find((other) => other.key === track.parents[0]);
    if (!owner) return null;
    return h('span', { class: 'tl-owner', title: owner.label }, name(owner.type === 'gpu' ? `GPU ${owner.gpu}` : owner.label));
  }

  /** Draws all labels again; the one in focus stays in focus. */
  build() {
    const { layout } = this.view;
    const focused = /** @type {HTMLElement | null} */ (this.element.contains(document.activeElement) ? document.activeElement : null);
    const [attribute, key] = focused?.dataset.menu ? ['menu', focused.dataset.menu] : ['track', focused?.dataset.track];
    this.list.replaceChildren(...layout.visible.filter((track) => !track.pinned).map((track) => this.label(track)));
    this.pinned.replaceChildren(...layout.visible.filter((track) => track.pinned).map((track) => this.label(track)));
    this.list.style.height = `${layout.height}px`;
    this.pinned.style.height = `${layout.pinnedHeight}px`;
    this.syncStops();
    if (!focused) return;
    const again = [...this.element.querySelectorAll('button')].find((button) => button.dataset[attribute] === key);
    (again ?? this.view.canvas).focus({ preventScroll: true });
  }

  /** Follows the canvas. */
  place() {
    const { scrollTop, model } = this.view;
    if (scrollTop !== this.placedAt) {
      this.placedAt = scrollTop;
      this.list.style.transform = `translateY(${-scrollTop}px)`;
    }
    const { clock } = model;
    const text =
      clock.mode === 'wall' && clock.utcEpoch !== null
        ? `${clock.date(this.view.viewport.from)} UTC`
        : clock.mode === 'absolute'
          ? 'since session start'
          : 'since first event';
    if (this.corner.textContent !== text) this.corner.textContent = text;
  }
}
