import { h } from './dom.js';
import { HelpDialog, keySection, wordList, wordSection } from './help-dialog.js';
import { TIMELINE_KEYS } from './timeline/keys.js';
import { pointerSection } from './timeline/mouse-habit.js';
import { CAUSES, WORDS } from './words.js';

/** @param {boolean} zooms  the wheel, and a drag moves @returns {[string, string][]} */
const pointer = (zooms) => [
  [zooms ? 'Wheel  Pinch' : 'Ctrl + wheel  Pinch', 'Zoom at the pointer'],
  ['Wheel on the ruler or the strip above', 'Zoom'],
  [zooms ? 'Alt + wheel' : 'Wheel', 'Scroll the tracks'],
  ['Shift + wheel', 'Move in time'],
  [zooms ? 'Drag  Finger' : 'Shift + drag  Finger', 'Move in time and through the tracks'],
  [zooms ? 'Shift + drag' : 'Drag', 'Select a time range; from one track to another, of these tracks alone'],
  ['Drag on the ruler', 'Select a time range of all tracks'],
  ['Drag on the strip above', 'Move the window, or one of its edges'],
  ['Click', 'Select an event, a gap or a step'],
  ['Double click', 'Zoom to the selection'],
];

/** The help of a report's page. @param {[string, string][]} views  keys and labels */
export function reportHelp(views) {
  const help = new HelpDialog(
    keySection('Timeline', TIMELINE_KEYS),
    ...pointerSection(pointer),
    keySection('Everywhere', [
      [views.map((_, index) => index + 1).join('  '), views.map(([, label]) => label).join(', ')],
      ['/', 'Search or filter'],
      ['?', 'This help'],
    ]),
    wordSection(
      WORDS.map(({ word, text, where }) => [
        word,
        text,
        ' ',
        where ? h('a', { href: where, onclick: () => help.dialog.close() }, 'Show it here') : null,
      ]),
    ),
    h('details', {}, h('summary', {}, 'Causes of idle gaps'), wordList(CAUSES.map(({ word, text }) => [word, text]))),
  );
  return help;
}
