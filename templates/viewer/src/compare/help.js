import { HelpDialog, keySection, wordSection } from '../help-dialog.js';
import { pointerSection } from '../timeline/mouse-habit.js';

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
      ['W  S  +  −', 'Zoom in, out'],
      ['A  D  ←  →', 'Move left, right'],
      ['↑  ↓', 'Scroll the tracks of one side'],
      ['F', 'Zoom to the selection'],
      ['M', 'Select the time range of the selected event, else what is in sight'],
      ['I', 'Open and close the statistics of both sides'],
      ['0', 'All of it'],
      ['Esc', 'Clear the selection, then close the statistics'],
    ],
  ],
];

/** @param {boolean} zooms @returns {[string, string][]} */
const pointer = (zooms) => [
  [zooms ? 'Wheel  Pinch' : 'Ctrl + wheel  Pinch', 'Zoom at the pointer'],
  [zooms ? 'Alt + wheel' : 'Wheel', 'Scroll the tracks of one side'],
  ['Shift + wheel', 'Move in time'],
  [zooms ? 'Shift + drag' : 'Drag', 'Select a time range on both sides'],
  [zooms ? 'Drag' : 'Shift + drag', 'Move in time, and through the tracks of one side'],
  ['Drag on the axis', 'Select a time range on both sides'],
  ['Click', 'Select an event'],
  ['Double click', 'Zoom to the selection'],
];

/** The help of a comparison's page. */
export function compareHelp() {
  return new HelpDialog(
    wordSection([
      ['base, new', 'The two sides: what is compared against, and what is judged.'],
      ['budget', 'How much worse a metric may get before the check fails.'],
      ['suspect', 'Beyond the budget, with too few captures to be significant.'],
      ['95 % interval', 'Where the true difference lies with 95 % confidence, as far as captures differ from each other.'],
    ]),
    ...SECTIONS.map(([title, rows]) => keySection(title, rows)),
    ...pointerSection(pointer),
  );
}
