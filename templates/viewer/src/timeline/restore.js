/** @import { Clock } from '../format.js' */
/** @import { TimelineView } from './view.js' */
/** @import { ViewState } from '../state.js' */
import { EventColors } from '../colors.js';
import { lanesIn } from './area.js';
import { parseMarks, parseMeasure } from './marks.js';

/**
 * "from~to", null for anything else. Behind an @ they are the trace's own times, as other pages know them.
 * @param {string} text @param {Clock} clock @returns {[number, number] | null}
 */
function rangeIn(text, clock) {
  const origin = text.startsWith('@') ? Number(clock.origin) : 0;
  const [from, to] = text.replace('@', '').split('~').map((time) => Number(time) - origin);
  return text !== '' && to >= from ? [from, to] : null;
}

/** Brings the timeline to what the address says. @param {TimelineView} view @param {ViewState} values */
export function restoreTimeline(view, values) {
  view.colors = new EventColors(view.model, values.c === 'name' ? 'name' : 'category');
  view.layout.arrangement.restore(values);
  view.layout.place();
  view.gutter.build();
  const chosen = values.lc === '' ? [] : values.lc.split('!');
  view.search.set(values.q, values.qx === '1', values.qo === '1', chosen);
  view.annotations.marks = parseMarks(values.mk);
  view.annotations.measure = parseMeasure(values.mr);
  view.toolbar.restore();
  view.selected = -1;
  view.selectedGap = null;
  view.range = null;
  view.kept = rangeIn(values.rb, view.model.clock);
  const area = values.ra.split('!');
  view.area = lanesIn(view.layout, area).length > 0 ? area : null;
  const event = Number(values.e);
  const range = rangeIn(values.r, view.model.clock);
  if (values.e !== '' && Number.isInteger(event) && event >= 0 && event < view.model.count) view.selected = event;
  else if (range) view.range = range;
  else if (values.g !== '') view.selectGapByRow(Number(values.g), false);
  if (view.selected >= 0) view.panel.showEvent(view.selected);
  else if (view.range) view.panel.showRange(view.range[0], view.range[1]);
  else if (!view.selectedGap) view.panel.close();
  // The window comes last: opening the panel narrows it.
  const from = Number(values.a);
  const to = Number(values.b);
  if (values.a !== '' && values.b !== '' && to > from) view.viewport.set(from, to);
  else if (view.range && values.r.startsWith('@')) view.viewport.focus(...view.range, 0.7);
  else view.viewport.fit();
  view.resize();
  view.scrollTo(Number(values.y) || 0);
  view.moved();
}
