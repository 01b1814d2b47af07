/** @import { TimelineView } from './view.js' */
/** @import { Track } from './layout.js' */
import { h } from '../dom.js';
import { rearrange } from './rearrange.js';

/**
 * What can be done with a track.
 * @param {TimelineView} view @param {Track} track @returns {[string, () => void][]}
 */
function actions(view, track) {
  const { arrangement } = view.layout;
  /** @type {[string, () => void][]} */
  const list = [
    [track.pinned ? 'Unpin' : 'Pin at the top', () => rearrange(view, (at) => at.togglePin(track.key))],
    ['Hide', () => rearrange(view, (at) => at.hidden.add(track.key))],
  ];
  if (track.parents.length > 0) return list;
  const same = view.layout.tracks.filter((other) => other.type === track.type && other.parents.length === 0);
  const rest = view.layout.tracks.filter((other) => other.parents.length === 0 && other !== track);
  list.push(
    ['Hide all others', () => rearrange(view, (at) => rest.forEach((other) => at.hidden.add(other.key)))],
    ['Move up', () => rearrange(view, (at) => at.move(track.key, -1))],
    ['Move down', () => rearrange(view, (at) => at.move(track.key, 1))],
    [
      arrangement.folded.has(track.key) ? 'Open all of its kind' : 'Close all of its kind',
      () =>
        rearrange(view, (at) => {
          const open = at.folded.has(track.key);
          for (const { key } of same) {
            if (open) at.folded.delete(key);
            else at.folded.add(key);
          }
        }),
    ],
  );
  return list;
}

/** The menu behind a track's button: arrows move, Enter does it, Escape or a click elsewhere closes. */
export class TrackMenu {
  /** @param {TimelineView} view */
  constructor(view) {
    this.view = view;
    this.element = h('div', { class: 'menu', role: 'menu', onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event) });
    this.element.hidden = true;
    /** @type {HTMLElement | null} */
    this.opener = null;
    document.body.append(this.element);
    document.addEventListener('pointerdown', (event) => {
      if (!this.element.hidden && !this.element.contains(/** @type {Node} */ (event.target))) this.close(false);
    });
  }

  /** @param {Track} track @param {HTMLElement} opener */
  open(track, opener) {
    this.opener = opener;
    this.element.setAttribute('aria-label', `Track ${track.label}`);
    this.element.replaceChildren(
      ...actions(this.view, track).map(([label, action]) =>
        h(
          'button',
          {
            type: 'button',
            role: 'menuitem',
            tabindex: '-1',
            onclick: () => {
              this.close(true);
              action();
            },
          },
          label,
        ),
      ),
    );
    this.element.hidden = false;
    const at = opener.getBoundingClientRect();
    const { width, height } = this.element.getBoundingClientRect();
    this.element.style.left = `${Math.max(4, Math.min(at.left, innerWidth - width - 4))}px`;
    this.element.style.top = `${Math.min(at.bottom + 2, innerHeight - height - 4)}px`;
    /** @type {HTMLElement} */ (this.element.firstElementChild).focus();
  }

  /** @param {boolean} focusBack */
  close(focusBack) {
    this.element.hidden = true;
    if (focusBack) this.opener?.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const items = /** @type {HTMLElement[]} */ ([...this.element.children]);
    const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 };
    if (event.key in moves) {
      const to = moves[/** @type {keyof typeof moves} */ (event.key)];
      items[(to + items.length) % items.length].focus();
    } else if (event.key === 'Escape') this.close(true);
    else if (event.key === 'Tab') return this.close(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
