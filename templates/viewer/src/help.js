import { h } from './dom.js';
import { TIMELINE_KEYS } from './timeline/keys.js';
import { mouseChoice } from './timeline/mouse-habit.js';
import { CAUSES, WORDS } from './words.js';

/** @type {[string, string][]} */
const GENERAL = [
  ['1  2  3  4  5', 'Overview, timeline, tables, NVTX, iterations'],
  ['/', 'Search or filter'],
  ['?', 'This help'],
];

/** @type {[string, string][]} */
const POINTER = [
  ['Ctrl + wheel, pinch, wheel on the ruler', 'Zoom at the pointer'],
  ['Wheel', 'Scroll the tracks'],
  ['Drag', 'Select a time range: top kernels, busy time, launches'],
  ['Shift + drag, a finger', 'Move in time and through the tracks'],
  ['Shift + wheel', 'Move in time'],
  ['Double click', 'Zoom to the selection'],
];

/** Keys and gestures. */
export class HelpDialog {
  constructor() {
    /** @param {string} title @param {readonly (readonly [string, string])[]} rows */
    const section = (title, rows) => [
      h('h3', {}, title),
      h(
        'dl',
        { class: 'keys' },
        rows.flatMap(([keys, text]) => [
          h(
            'dt',
            {},
            keys.split('  ').map((key) => h('kbd', {}, key)),
          ),
          h('dd', {}, text),
        ]),
      ),
    ];
    this.dialog = h(
      'dialog',
      { class: 'help', 'aria-label': 'Help' },
      h(
        'header',
        {},
        h('h2', {}, 'Help'),
        h('button', { type: 'button', class: 'quiet', 'aria-label': 'Close', onclick: () => this.dialog.close() }, '×'),
      ),
      h('h3', {}, 'What the words mean'),
      h(
        'dl',
        { class: 'words' },
        WORDS.flatMap(({ word, text, where }) => [
          h('dt', {}, word),
          h(
            'dd',
            {},
            text,
            ' ',
            where ? h('a', { href: where, onclick: () => this.dialog.close() }, 'Show it here') : null,
          ),
        ]),
      ),
      h('details', {}, h('summary', {}, 'Causes of idle gaps'), h('dl', { class: 'words' }, CAUSES.flatMap(({ word, text }) => [h('dt', {}, word), h('dd', {}, text)]))),
      section('Everywhere', GENERAL),
      section('Timeline', TIMELINE_KEYS),
      section('Pointer', POINTER),
      mouseChoice(),
      h(
        'p',
        { class: 'muted' },
        'The address holds the view: copy it with “Link” and anyone who opens the same file sees the same place.',
      ),
    );
    document.body.append(this.dialog);
    /** @type {HTMLElement | null} */
    this.opener = null;
    this.dialog.addEventListener('close', () => this.opener?.focus());
  }

  open() {
    if (this.dialog.open) return;
    // Keys open it from anywhere: without a control in focus, the view's tab is where the keyboard goes on.
    const focused = /** @type {HTMLElement} */ (document.activeElement);
    this.opener = focused === document.body ? document.querySelector('#views [aria-current]') : focused;
    this.dialog.showModal();
  }
}
