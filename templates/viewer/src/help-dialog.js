import { h } from './dom.js';

/** @param {string} title @param {readonly (readonly [string, string])[]} rows what keys do */
export const keySection = (title, rows) => [
  h('h3', {}, title),
  h('dl', { class: 'keys' }, rows.flatMap(([keys, text]) => [h('dt', {}, keys.split('  ').map((key) => h('kbd', {}, key))), h('dd', {}, text)])),
];

/** @param {import('./dom.js').Child[][]} words what they mean */
export const wordSection = (words) => [h('h3', {}, 'What the words mean'), wordList(words)];

/** @param {import('./dom.js').Child[][]} words what they mean */
export const wordList = (words) => h('dl', { class: 'words' }, words.flatMap(([word, ...meaning]) => [h('dt', {}, word), h('dd', {}, ...meaning)]));

/** Keys, gestures and words of a page. Focus goes back to where it was. */
export class HelpDialog {
  /** @param {...(Node | Node[])} content */
  constructor(...content) {
    this.dialog = h(
      'dialog',
      { class: 'help', 'aria-label': 'Help' },
      h(
        'header',
        {},
        h('h2', {}, 'Help'),
        h('button', { type: 'button', class: 'quiet', 'aria-label': 'Close', onclick: () => this.dialog.close() }, '×'),
      ),
      ...content,
      h('p', { class: 'muted' }, 'The address holds the view: copy it with “Link” and anyone who opens the same file sees the same place.'),
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
