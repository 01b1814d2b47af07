/** @import { TimelineView } from './view.js' */
import { clear } from './navigate.js';
import { rearrange } from './rearrange.js';

const ZOOM_STEP = 0.7;
const PAN_STEP = 0.15;
const SCROLL_STEP = 60;

/** Key to help text; the help dialog lists these. */
export const TIMELINE_KEYS = /** @type {const} */ ([
  ['W  S  +  −', 'Zoom in and out'],
  ['A  D  ←  →', 'Move in time'],
  ['↑  ↓  PgUp  PgDn', 'Scroll the tracks'],
  ['0  Home', 'Show the whole trace'],
  ['F  Enter', 'Zoom to the selection'],
  ['M', 'Select the time range of the selected event or gap'],
  ['C', 'Keep the selected range as A; the next one is shown beside it'],
  ['[  ]', 'Previous and next event of the same name'],
  [',  .', 'Previous and next event on the same track'],
  ['N  Shift+N', 'Next and previous search result'],
  ['B', 'Mark this time and write a note; click its flag to come back'],
  ['R', 'Measure: first point, second point, away'],
  ['P', 'Pin the track of the selected event, or unpin it'],
  ['L', 'Go from GPU work to its launch, or from a call to its work'],
  ['Esc', 'Clear the selection, then search and filters'],
]);

/** @param {TimelineView} view */
function followLink(view) {
  const { model, selected } = view;
  if (selected < 0) return;
  const launch = model.launchOf(selected);
  const target = launch >= 0 ? launch : (model.launchedBy(selected, selected + 1)[0] ?? -1);
  if (target >= 0) view.selectEvent(target, { reveal: true });
}

/** @type {Record<string, (view: TimelineView, shift: boolean) => void>} */
const actions = {
  w: (view) => view.zoom(ZOOM_STEP),
  '+': (view) => view.zoom(ZOOM_STEP),
  '=': (view) => view.zoom(ZOOM_STEP),
  s: (view) => view.zoom(1 / ZOOM_STEP),
  '-': (view) => view.zoom(1 / ZOOM_STEP),
  _: (view) => view.zoom(1 / ZOOM_STEP),
  a: (view) => view.pan(-PAN_STEP),
  arrowleft: (view) => view.pan(-PAN_STEP),
  d: (view) => view.pan(PAN_STEP),
  arrowright: (view) => view.pan(PAN_STEP),
  arrowup: (view) => view.scrollTo(view.scrollTop - SCROLL_STEP),
  arrowdown: (view) => view.scrollTo(view.scrollTop + SCROLL_STEP),
  pageup: (view) => view.scrollTo(view.scrollTop - view.height),
  pagedown: (view) => view.scrollTo(view.scrollTop + view.height),
  0: (view) => view.fit(),
  home: (view) => view.fit(),
  f: (view) => view.zoomToSelection(),
  enter: (view) => view.zoomToSelection(),
  m: (view) => {
    if (view.selected >= 0) view.selectRange(view.model.events.start[view.selected], view.model.end(view.selected), true);
    else if (view.selectedGap) view.selectRange(...view.timeOfGap(view.selectedGap), true);
  },
  c: (view) => {
    if (view.range) view.keepRange();
  },
  '[': (view) => view.step('name', -1),
  ']': (view) => view.step('name', 1),
  ',': (view) => view.step('track', -1),
  '.': (view) => view.step('track', 1),
  n: (view, shift) => view.step('match', shift ? -1 : 1),
  l: followLink,
  b: (view) => view.annotations.addMark(),
  r: (view) => view.annotations.measureHere(),
  p: (view) => {
    const found = view.selected >= 0 ? view.layout.find(view.selected) : null;
    if (found) rearrange(view, (at) => at.togglePin(found.track.key));
  },
  escape: clear,
};

/** @param {TimelineView} view @param {KeyboardEvent} event @returns {boolean} whether the key meant something */
export function timelineKeys(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return false;
  const key = event.key.toLowerCase();
  if (!Object.prototype.hasOwnProperty.call(actions, key)) return false;
  event.preventDefault();
  actions[key](view, event.shiftKey);
  view.tooltip.show(null, 0, 0);
  return true;
}
