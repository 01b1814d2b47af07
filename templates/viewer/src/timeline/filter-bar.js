/** @import { TimelineView } from './view.js' */
/** @import { Child } from '../dom.js' */
import { h, name, replace } from '../dom.js';
import { counted } from '../format.js';
import { rearrange } from './rearrange.js';

const DELAY_MS = 120;

/** Says what is highlighted, filtered and hidden, each with the button that undoes it: over the tracks, so that nothing moves. */
export class FilterBar {
  /** @param {TimelineView} view */
  constructor(view) {
    this.view = view;
    let timer = 0;
    this.input = h('input', {
      type: 'search',
      class: 'track-filter',
      placeholder: 'Filter tracks',
      'aria-label': 'Filter tracks by label',
      autocomplete: 'off',
      spellcheck: 'false',
      oninput: () => {
        clearTimeout(timer);
        timer = window.setTimeout(() => rearrange(view, (at) => (at.filter = this.input.value)), DELAY_MS);
      },
    });
    this.status = h('output', { class: 'search-status', 'aria-live': 'polite' });
    this.element = h('div', { class: 'filter-bar', role: 'group', 'aria-label': 'What is filtered' });
    this.element.hidden = true;
  }

  /** @param {Child[]} text @param {string} undo @param {() => void} action */
  entry(text, undo, action) {
    return h('span', { class: 'filter' }, ...text, ' ', h('button', { type: 'button', class: 'link', onclick: action }, undo));
  }

  entries() {
    const { view } = this;
    const { search } = view;
    const { arrangement } = view.layout;
    const verb = search.only ? 'Only' : 'Highlighted:';
    const entries = [];
    if (search.text !== '')
      entries.push(
        this.entry([`${verb} “`, name(search.text), '”'], 'clear search', () => {
          view.setSearch('', search.isPattern, search.only);
          view.toolbar.restore();
        }),
      );
    if (search.chosen.length > 0)
      entries.push(
        this.entry([`${verb} ${search.chosen.join(', ')}`], 'all categories', () =>
          view.setSearch(search.text, search.isPattern, search.only, []),
        ),
      );
    if (arrangement.filter !== '')
      entries.push(
        this.entry(['Tracks with “', name(arrangement.filter), '”'], 'all tracks', () => rearrange(view, (at) => (at.filter = ''))),
      );
    if (arrangement.hidden.size > 0)
      entries.push(
        this.entry([`${counted(arrangement.hidden.size, 'track')} hidden`], 'show', () => rearrange(view, (at) => at.hidden.clear())),
      );
    return entries;
  }

  show() {
    const entries = this.entries();
    const { filter } = this.view.layout.arrangement;
    if (document.activeElement !== this.input) this.input.value = filter;
    const hadFocus = this.element.contains(document.activeElement);
    replace(this.element, entries, this.status);
    this.element.hidden = entries.length === 0;
    if (hadFocus) (this.element.querySelector('button') ?? this.view.canvas).focus();
  }
}
