/** @import { TimelineView } from './view.js' */
/** @import { Model } from '../model.js' */
import { h } from '../dom.js';
import { counted, duration, percent } from '../format.js';
import { oneStop } from '../one-stop.js';
import { columnIndex } from '../table-schema.js';

/** Where the GPUs work for most of the trace nobody has to look for it. */
const MOST_SHARE = 0.6;
const SHOWN = 6;

/**
 * Stretches in which a GPU worked, those of all GPUs together.
 * @param {Model} model @returns {[number, number][]}  ns after the origin, ascending
 */
export function activeStretches(model) {
  const table = model.table('active_spans');
  if (!table) return [];
  const [kind, start, end] = ['kind', 'start_ns', 'end_ns'].map((column) => columnIndex(table, column));
  /** @type {[number, number][]} */
  const spans = table.rows
    .filter((row) => row[kind] === 'active')
    .map((row) => [model.clock.relative(Number(row[start])), model.clock.relative(Number(row[end]))]);
  spans.sort((a, b) => a[0] - b[0]);
  /** @type {[number, number][]} */
  const merged = [];
  for (const [from, to] of spans) {
    const last = merged.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

/** Leads to the work of a trace that is mostly something else. @param {TimelineView} view */
export function activityBar(view) {
  const { model } = view;
  const spans = activeStretches(model);
  const whole = model.endNs - model.startNs;
  const busy = spans.reduce((sum, [from, to]) => sum + to - from, 0);
  if (spans.length === 0 || busy > MOST_SHARE * whole) return null;
  const longest = [...spans]
    .sort((a, b) => b[1] - b[0] - (a[1] - a[0]))
    .slice(0, SHOWN)
    .sort((a, b) => a[0] - b[0]);
  const bar = h(
    'p',
    { class: 'activity' },
    `The GPU is active for ${duration(busy)}, ${percent(busy, whole)} of this timeline: `,
    longest.map(([from, to]) =>
      h(
        'button',
        {
          type: 'button',
          class: 'link',
          title: 'Zoom to it',
          onclick: () => {
            view.viewport.focus(from, to, 0.94);
            view.moved();
          },
        },
        `${duration(to - from)} at ${duration(from)}`,
      ),
    ),
    spans.length > SHOWN ? ` and ${counted(spans.length - SHOWN, 'shorter stretch', 'shorter stretches')}` : null,
  );
  oneStop(bar);
  return bar;
}
