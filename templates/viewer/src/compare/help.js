import { h } from '../dom.js';

/** @type {[string, [string, string][]][]} */
const SECTIONS = [
  [
    'Everywhere',
    [
      ['1  2  3  4', 'Overview, timelines, tables, ranges'],
      ['/', 'Search or filter'],
      ['?', 'This help'],
    ],
  ],
  [
    'Timelines, both together',
    [
      ['W  S', 'Zoom in, out'],
      ['A  D', 'Move left, right'],
      ['↑  ↓', 'Scroll the tracks of one side'],
      ['F', 'Zoom to the selection'],
      ['0', 'All of it'],
      ['Esc', 'Select nothing'],
    ],
  ],
];

/** Keys of the page of a comparison, and what its words mean. */
export class CompareHelp {
  constructor() {
    /** @param {[string, [string, string][]]} section */
    const keys = ([title, rows]) => [
      h('h3', {}, title),
      h('dl', { class: 'keys' }, rows.flatMap(([names, text]) => [h('dt', {}, names.split('  ').map((key) => h('kbd', {}, key))), h('dd', {}, text)])),
    ];
    this.dialog = h(
      'dialog',
      { class: 'help', 'aria-label': 'Help' },
      h('header', {}, h('h2', {}, 'Help'), h('button', { type: 'button', class: 'quiet', 'aria-label': 'Close', onclick: () => this.dialog.close() }, '×')),
      h('h3', {}, 'What the words mean'),
      h(
        'dl',
        { class: 'words' },
        ...[
          ['base, new', 'The two sides: what is compared against, and what is judged.'],
          ['budget', 'How much worse a metric may get before the check fails.'],
          ['suspect', 'Beyond the budget, with too few captures to be significant.'],
          ['95 % interval', 'Where the true difference lies with 95 % confidence, as far as captures differ from each other.'],
        ].flatMap(([word, text]) => [h('dt', {}, word), h('dd', {}, text)]),
      ),
      ...SECTIONS.flatMap(keys),
      h('p', { class: 'muted' }, 'The address holds the view: copy it with “Link” and anyone who opens the same file sees the same place.'),
    );
    document.body.append(this.dialog);
  }

  open() {
    if (!this.dialog.open) this.dialog.showModal();
  }
}
