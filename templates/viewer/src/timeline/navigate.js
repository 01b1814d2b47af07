/** @import { TimelineView } from './view.js' */
/** @import { Model } from '../model.js' */
import { duration } from '../format.js';
import { rearrange } from './rearrange.js';

/** Shows what is selected with room around it; everything when nothing is. @param {TimelineView} view */
export function zoomToSelection(view) {
  const { events } = view.model;
  if (view.selected >= 0) view.viewport.focus(events.start[view.selected], view.model.end(view.selected));
  else if (view.range) view.viewport.focus(view.range[0], view.range[1], 0.85);
  else if (view.selectedGap) return view.selectGap(view.selectedGap.gpu, view.selectedGap.index, true);
  else view.viewport.fit();
  return view.moved();
}

/**
 * Which events count as neighbours of the selected one.
 * @param {TimelineView} view @param {'name' | 'match' | 'track'} what @returns {(event: number) => boolean}
 */
function neighbours(view, what) {
  const { model, selected } = view;
  if (what === 'match') return (event) => view.search.matches(event);
  if (what === 'name') {
    const { name } = model.events;
    const wanted = name[selected];
    return (event) => name[event] === wanted;
  }
  const { first, count } = model.laneOf(selected);
  return (event) => event >= first && event < first + count;
}

/**
 * Selects the neighbour by name, search or track.
 * @param {TimelineView} view @param {'name' | 'match' | 'track'} what @param {1 | -1} direction
 */
export function step(view, what, direction) {
  const { model, selected } = view;
  if (what !== 'match' && selected < 0) {
    // Nothing selected yet: the first event in sight, so that the keyboard alone gets a start.
    const first = model.nearest(view.viewport.from, -1, 1, () => true);
    if (first >= 0) view.selectEvent(first, { reveal: true });
    return;
  }
  const time = selected >= 0 ? model.events.start[selected] : view.viewport.from;
  const matches = neighbours(view, what);
  let found = model.nearest(time, selected, direction, matches);
  // Searching goes round at the ends, so that the first match is always one key away.
  if (found < 0 && what === 'match') found = model.nearest(direction > 0 ? -Infinity : Infinity, -1, direction, matches);
  if (found < 0) view.app.announce('No further event');
  else view.selectEvent(found, { reveal: true });
}

/** What a screen reader says of a selected event. @param {Model} model @param {number} event */
export function describeEvent(model, event) {
  const lane = model.laneOf(event);
  const place = model.isOnGpu(lane)
    ? `${model.gpuLabels.get(lane.gpu) ?? 'GPU'}, ${model.laneLabel(lane)}`
    : `${model.threadLabel(lane.pid, lane.tid)}, ${model.laneLabel(lane)}`;
  const { start, duration: durations } = model.events;
  return `Selected ${model.shortNameOf(event)}, ${duration(durations[event])} at ${model.clock.format(start[event])}, ${place}`;
}

/** Chooses a category of the legend, or lets go of it. @param {TimelineView} view @param {string} category */
export function choose(view, category) {
  const { text, isPattern, only, chosen } = view.search;
  const others = chosen.filter((other) => other !== category);
  view.setSearch(text, isPattern, only, others.length < chosen.length ? others : [...chosen, category]);
}

/** Escape: an unfinished measurement, then the selection, then the range kept, then search and legend, then the filter of tracks. @param {TimelineView} view */
export function clear(view) {
  const { annotations, search, layout } = view;
  if (annotations.from !== null) {
    annotations.from = null;
    view.draw();
  } else if (view.selected >= 0 || view.selectedGap || view.range) view.clearSelection();
  else if (view.kept) view.keepRange(null);
  else if (search.text === '' && search.chosen.length === 0 && layout.arrangement.filter !== '') {
    rearrange(view, (at) => (at.filter = ''));
    view.toolbar.restore();
  } else {
    view.setSearch('', search.isPattern, false, []);
    view.toolbar.restore();
  }
}
