/** @import { TimelineView } from './view.js' */
/** @import { Spans } from './spans.js' */

const DOT_PX = 3;

/** Where a collective is in a GPU's lane, -1 for nowhere. @param {Spans} spans @param {number} set */
export function memberOf(spans, set) {
  return set < 0 || !spans.set ? -1 : spans.set.indexOf(set);
}

/** The collective that was clicked, or is under the pointer: its number, the same on all GPUs; -1 for none. @param {TimelineView} view */
function shownSet(view) {
  if (view.hoveredSet >= 0) return view.hoveredSet;
  if (!view.range) return -1;
  if (view.rangeSet.from === view.range[0] && view.rangeSet.to === view.range[1]) return view.rangeSet.set;
  let set = -1;
  for (const { spans } of view.layout.tracks) {
    const at = spans?.set ? spans.start.indexOf(view.range[0]) : -1;
    if (spans?.set && at >= 0 && spans.end[at] === view.range[1]) set = spans.set[at];
  }
  view.rangeSet = { from: view.range[0], to: view.range[1], set };
  return set;
}

/** A line through one collective on all GPUs in sight: who came when, and from when on all were there. @param {CanvasRenderingContext2D} context @param {TimelineView} view */
export function paintRankLines(context, view) {
  const set = shownSet(view);
  if (set < 0) return;
  const { theme, viewport, width, layout, scrollTop } = view;
  const members = layout.visible.flatMap((track) => {
    const at = track.spans ? memberOf(track.spans, set) : -1;
    if (!track.spans || at < 0) return [];
    const y = layout.screenTop(track, scrollTop) + track.height / 2;
    return [{ y, came: viewport.x(track.spans.start[at], width), there: viewport.x(track.spans.from[at], width) }];
  });
  if (members.length < 2) return;
  const line = (/** @type {'came' | 'there'} */ which, /** @type {number} */ alpha) => {
    context.globalAlpha = alpha;
    context.beginPath();
    members.forEach((member, index) => (index === 0 ? context.moveTo(member[which], member.y) : context.lineTo(member[which], member.y)));
    context.stroke();
  };
  context.strokeStyle = theme.text;
  context.lineWidth = 1.25;
  line('came', 0.9);
  line('there', 0.35);
  context.globalAlpha = 1;
  context.fillStyle = theme.text;
  for (const member of members) context.fillRect(member.came - DOT_PX / 2, member.y - DOT_PX / 2, DOT_PX, DOT_PX);
}
