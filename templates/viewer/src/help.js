import { h } from './dom.js';
import { HelpDialog, keySection, wordList, wordSection } from './help-dialog.js';
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

/** The help of a report's page. */
export function reportHelp() {
  const help = new HelpDialog(
    keySection('Timeline', TIMELINE_KEYS),
    keySection('Pointer', POINTER),
    mouseChoice(),
    keySection('Everywhere', GENERAL),
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
