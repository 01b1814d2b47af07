/** @import { Model } from '../model.js' */
/** @import { Projected } from '../projection.js' */
/** @import { Child } from '../dom.js' */
/** @import { Frame } from './painter.js' */
/** @import { Track } from './layout.js' */
/** @import { TimelineView } from './view.js' */
import { fillLabel, h, name } from '../dom.js';
import { counted, duration, percent } from '../format.js';
import { bisect } from '../model.js';
import { projectionRows } from '../projection.js';
import { fields } from './event-details.js';

export const PROJECTION_ROW = 17;
const LABEL_PX = 30;
const LIST_MAX = 12;

/** Projected ranges of one GPU, packed into rows. */
export class ProjectionRows {
  /** @param {Model} model @param {Projected[]} list */
  constructor(model, list) {
    this.model = model;
    this.list = list;
    this.rows = projectionRows(list);
  }

  /** The one under a point, null for none. @param {number} row @param {number} time @param {number} tolerance  ns */
  at(row, time, tolerance) {
    const list = this.rows[row] ?? [];
    const index = bisect(0, list.length, (at) => list[at].end >= time - tolerance);
    return index < list.length && list[index].start <= time + tolerance ? list[index] : null;
  }

  /** Those that take exactly a time, outermost first. @param {number} from @param {number} to */
  exactly(from, to) {
    return this.rows.flatMap((row) => {
      const index = bisect(0, row.length, (at) => row[at].start >= from);
      return index < row.length && row[index].start === from && row[index].end === to ? [row[index]] : [];
    });
  }
}

/** @param {CanvasRenderingContext2D} context @param {Frame} frame @param {Track} track @param {number} y */
export function paintProjection(context, frame, track, y) {
  const { projection, rowHeight } = track;
  projection?.rows.forEach((row, index) => {
    const top = y + 2 + index * rowHeight;
    if (top + rowHeight >= 0 && top <= frame.height) paintRow(context, frame, projection.model, row, top, rowHeight - 2);
  });
}

/** @param {CanvasRenderingContext2D} context @param {Frame} frame @param {Model} model @param {Projected[]} row @param {number} top @param {number} height */
function paintRow(context, frame, model, row, top, height) {
  const { from, to, width, search } = frame;
  const scale = width / (to - from);
  const x = (/** @type {number} */ time) => Math.max(-4, Math.min(width + 4, (time - from) * scale));
  for (let i = bisect(0, row.length, (at) => row[at].end > from); i < row.length && row[i].start < to; ) {
    const { range, start, end } = row[i];
    const [left, right] = [x(start), Math.max(x(start) + 1, x(end))];
    const found = !search || search.matches(range);
    context.globalAlpha = found ? 1 : search.only ? 0 : 0.22;
    context.fillStyle = frame.colors.range[model.events.name[range]];
    context.fillRect(left, top, right - left - (right - left > 3 ? 1 : 0), height);
    const room = Math.min(right, width) - Math.max(left, 0) - 8;
    if (found && room >= LABEL_PX - 8) {
      const text = model.shortNameOf(range);
      context.fillStyle = '#fff';
      fillLabel(context, text, Math.max(left, 0) + 4, top + height / 2 + 0.5, room);
    }
    // What ends within the pixel just painted would only be painted over it.
    const next = from + right / scale;
    i = right - left <= 1 ? Math.max(i + 1, bisect(i, row.length, (at) => row[at].end > next)) : i + 1;
  }
  context.globalAlpha = 1;
}

/** Idle time of a GPU in a stretch, exact; null where it is not known. @param {TimelineView} view @param {number} gpu @param {number} from @param {number} to */
export function idleInside(view, gpu, from, to) {
  const data = view.model.timeline.utilization.find((candidate) => candidate.device_id === gpu);
  if (!data) return null;
  const sums = view.painter.utilization(data, 0);
  return sums.isExact ? sums.between(from, to)[3] : null;
}

/** What the ranges are that take exactly the selected time on a GPU. @param {TimelineView} view @param {number} from @param {number} to @returns {Child[]} */
export function projectionDetails(view, from, to) {
  const { model } = view;
  const { clock } = model;
  for (const track of view.layout.tracks) {
    const found = track.projection?.exactly(from, to) ?? [];
    if (found.length === 0) continue;
    const inner = found[found.length - 1];
    const idle = idleInside(view, track.gpu ?? -1, from, to);
    const { start } = model.events;
    return [
      h('p', { class: 'full-name' }, name(model.nameOf(inner.range)), ` on GPU ${track.gpu}`),
      fields([
        ['On the GPU', h('b', {}, duration(to - from))],
        ['GPU idle inside', idle === null ? null : `${duration(idle)}, ${percent(idle, to - from)}`],
        ['Operations', `${counted(inner.ops, 'operation')} of ${counted(inner.launches, 'launch', 'launches')}`],
        ['On the host', `${duration(model.events.duration[inner.range])} at ${clock.format(start[inner.range])}`],
        ['Start lag', duration(from - start[inner.range])],
      ]),
      h('h3', {}, found.length > 1 ? 'Ranges with this work' : 'The range on its thread'),
      h(
        'ol',
        { class: 'stack' },
        found.slice(0, LIST_MAX).map(({ range }) =>
          h(
            'li',
            {},
            h('button', { type: 'button', class: 'link', title: model.nameOf(range), onclick: () => view.selectEvent(range, { reveal: true }) }, name(model.shortNameOf(range))),
            h('span', { class: 'num' }, duration(model.events.duration[range])),
          ),
        ),
      ),
      h('h3', { class: 'part' }, 'In this time'),
    ];
  }
  return [];
}
