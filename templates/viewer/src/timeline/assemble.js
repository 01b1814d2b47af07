/** @import { TimelineView } from './view.js' */
import { h } from '../dom.js';
import { activityBar } from './activity-bar.js';

/** What the page says about a timeline that does not hold every event. @param {TimelineView} view */
function notice(view) {
  const { note } = view.model.timeline;
  return note ? h('p', { class: 'notice' }, note) : null;
}

/** Of a trace without events. @param {TimelineView} view */
function nothing(view) {
  if (view.model.timeline.total_events > 0 || view.layout.tracks.length > 0) return null;
  return h('p', { class: 'empty nothing' }, 'The trace holds no events: no GPU work, no CUDA calls, no NVTX ranges. The overview says what is known of the capture.');
}

/** The view's elements, in the order of the page. @param {TimelineView} view @returns {Node[]} */
export function assemble(view) {
  const help = h(
    'p',
    { class: 'offscreen', id: 'timeline-help' },
    'Plus and minus zoom, A and D or the arrow keys move, brackets go to the previous or next event of the same name, ' +
      'slash searches, question mark lists every key.',
  );
  const grid = h(
    'div',
    { class: 'tl-main' },
    view.strip.labels,
    view.strip.canvas,
    h('div', { class: 'tl-corner-right' }),
    view.gutter.corner,
    view.ruler,
    h('div', { class: 'tl-corner-right' }),
    view.gutter.element,
    view.stage,
    view.scroller,
  );
  const parts = [view.toolbar.element, nothing(view), notice(view), activityBar(view), help, h('div', { class: 'tl-body' }, grid, view.toolbar.filters.element, view.panel.edge, view.panel.element)];
  return /** @type {Node[]} */ (parts.filter((part) => part !== null));
}
