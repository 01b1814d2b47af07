/** @import { TimelineView } from './view.js' */
import { areaOf } from './area.js';
import { listenForGestures } from './gestures.js';
import { bisect } from '../model.js';
import { timelineKeys } from './keys.js';
import { mouseZooms } from './mouse-habit.js';

const HIT_PX = 4;

/** Connects pointer, wheel and scroll bar with the view. @param {TimelineView} view */
export function connectPointer(view) {
  const pan = (/** @type {number} */ dx, /** @type {number} */ dy) => {
    view.viewport.pan(-dx / view.width);
    view.scrollTo(view.scrollTop - dy);
    view.moved();
  };
  const clamp = (/** @type {number} */ x) => view.viewport.time(Math.max(0, Math.min(view.width, x)), view.width);
  const select = (/** @type {number} */ a, /** @type {number} */ b, /** @type {boolean} */ done) =>
    view.selectRange(Math.min(clamp(a), clamp(b)), Math.max(clamp(a), clamp(b)), done);
  /** Over the tracks a drag says also which of them. @type {import('./gestures.js').GestureHandlers['selectRange']} */
  const selectArea = (a, b, done, top, bottom) =>
    view.selectRange(Math.min(clamp(a), clamp(b)), Math.max(clamp(a), clamp(b)), done, areaOf(view.layout, view.scrollTop, top, bottom));
  const zoom = (/** @type {number} */ factor, /** @type {number} */ x) => view.zoom(factor, x / view.width);
  listenForGestures(view.canvas, {
    zoom,
    pan,
    selectRange: selectArea,
    selecting: () => view.selecting,
    zooms: () => mouseZooms(),
    click: (x, y) => view.clickAt(x, y),
    doubleClick: () => view.zoomToSelection(),
    hover: (x, y) => view.hoverAt(x, y),
    leave: () => view.hoverAt(-1, -1),
  });
  listenForGestures(view.ruler, {
    zoom,
    pan,
    selectRange: select,
    selecting: () => true,
    click: (x) => {
      const mark = view.annotations.markAt(x);
      if (mark) view.annotations.showMarks(mark);
      else view.clearRange();
    },
    doubleClick: () => view.zoomToSelection(),
    hover: () => {},
    leave: () => {},
  });
  view.canvas.addEventListener('keydown', (event) => timelineKeys(view, event));
  view.scroller.addEventListener('scroll', () => {
    if (Math.abs(view.scroller.scrollTop - view.scrollTop) >= 1) view.scrollTo(view.scroller.scrollTop);
  });
  view.gutter.element.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      view.scrollTo(view.scrollTop + event.deltaY);
    },
    { passive: false },
  );
  new ResizeObserver(() => view.resize()).observe(view.stage);
}

/** What is at a place of the canvas. @param {TimelineView} view @param {number} x @param {number} y */
export function hitTest(view, x, y) {
  const track = view.layout.trackAt(y, view.scrollTop);
  if (!track || x < 0) return null;
  const time = view.viewport.time(x, view.width);
  const tolerance = (HIT_PX * view.viewport.span) / view.width;
  if (track.gaps && track.gpu !== undefined) {
    let best = -1;
    for (let i = track.gaps.firstAfter(time - tolerance); i < track.gaps.start.length; i++) {
      if (track.gaps.start[i] > time + tolerance) break;
      if (best < 0 || track.gaps.end[i] - track.gaps.start[i] > track.gaps.end[best] - track.gaps.start[best]) best = i;
    }
    return { track, time, event: -1, gap: best };
  }
  if (track.spans) return { track, time, event: -1, gap: -1, span: spanAt(track.spans, time, tolerance) };
  const rowAt = Math.floor((y - view.layout.screenTop(track, view.scrollTop) - 2) / track.rowHeight);
  if (track.projection) return { track, time, event: -1, gap: -1, projected: track.projection.at(rowAt, time, tolerance) };
  if (!track.rows) return { track, time, event: -1, gap: -1 };
  const row = track.rows[rowAt];
  let event = row ? row.eventAt(time, tolerance) : -1;
  if (event >= 0 && view.search.names && view.search.only && !view.search.matches(event)) event = -1;
  return { track, time, event, gap: -1 };
}

/** @param {import('./spans.js').Spans} spans @param {number} time @param {number} tolerance */
function spanAt(spans, time, tolerance) {
  const at = bisect(0, spans.end.length, (index) => spans.end[index] >= time - tolerance);
  return at < spans.start.length && spans.start[at] <= time + tolerance ? at : -1;
}
