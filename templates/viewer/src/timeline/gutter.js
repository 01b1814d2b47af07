/** @import { TimelineView } from './view.js' */
import { h, name } from '../dom.js';

/** The tracks' labels, as real elements: readable by assistive technology, groups open and close as buttons. */
export class Gutter {
  /** @param {TimelineView} view */
  constructor(view) {
    this.view = view;
    this.list = h('div', { class: 'tl-labels' });
    this.element = h('div', { class: 'tl-gutter', role: 'group', 'aria-label': 'Tracks' }, this.list);
    this.corner = h('div', { class: 'tl-corner tl-origin', 'aria-live': 'off' });
    this.placedAt = NaN;
    this.build();
  }

  build() {
    const { layout } = this.view;
    this.list.replaceChildren(
      ...layout.visible.map((track) => {
        const isGroup = track.type === 'gpu' || track.type === 'process' || track.type === 'thread';
        const open = !layout.collapsed.has(track.key);
        const label = isGroup
          ? h(
              'button',
              {
                class: `tl-group tl-${track.type}`,
                type: 'button',
                'aria-expanded': open ? 'true' : 'false',
                title: track.label,
                onclick: () => this.view.toggle(track),
              },
              h('span', { class: 'twist', 'aria-hidden': 'true' }, open ? '▾' : '▸'),
              name(track.label),
            )
          : h('div', { class: 'tl-label', title: track.hint ?? track.label }, name(track.label));
        label.style.top = `${track.top}px`;
        label.style.height = `${track.height}px`;
        return label;
      }),
    );
    this.list.style.height = `${layout.height}px`;
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
