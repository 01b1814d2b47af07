/** @import { TimelineView } from './view.js' */
/** @import { Track } from './layout.js' */
import { CAUSE_LABELS, causeName, UTILIZATION_PARTS } from '../colors.js';
import { h, name, replace } from '../dom.js';
import { bytes, counted, duration, percent } from '../format.js';
import { pointAt } from './charts.js';
import { idleInside } from './projection-rows.js';
import { blocksHost } from './stats.js';

const OFFSET_PX = 14;

/** @typedef {{track: Track, time: number, event: number, gap: number, span?: number, projected?: import('../projection.js').Projected | null}} Hit */

/** What is under the pointer. Only a hint: everything it says is in the details panel, too. */
export class Tooltip {
  /** @param {TimelineView} view */
  constructor(view) {
    this.view = view;
    this.element = h('div', { class: 'tooltip', 'aria-hidden': 'true' });
    this.element.hidden = true;
  }

  /** @param {Hit | null} hit @param {number} x @param {number} y */
  show(hit, x, y) {
    const content = hit ? this.content(hit) : null;
    this.element.hidden = content === null;
    if (!content) return;
    replace(this.element, ...content);
    const { width, height } = this.view;
    const box = this.element.getBoundingClientRect();
    const left = x + OFFSET_PX + box.width > width ? Math.max(4, x - OFFSET_PX - box.width) : x + OFFSET_PX;
    const top = y + OFFSET_PX + box.height > height ? Math.max(4, y - OFFSET_PX - box.height) : y + OFFSET_PX;
    this.element.style.transform = `translate(${left}px, ${top}px)`;
  }

  /** @param {Hit} hit */
  content({ track, time, event, gap, span = -1, projected = null }) {
    const { model } = this.view;
    const { clock, events } = model;
    if (event >= 0) {
      const lane = model.laneOf(event);
      const many = events.count[event] > 1;
      return [
        h('div', { class: 'tooltip-title' }, name(model.shortNameOf(event))),
        h(
          'div',
          {},
          many ? `${events.count[event].toLocaleString('en-US')} events in ` : '',
          h('b', {}, duration(events.duration[event])),
          many ? `, busy ${duration(events.busy[event])}` : '',
          ` at ${clock.format(events.start[event])}`,
        ),
        !many && (lane.kind === 'copy' || lane.kind === 'set') && h('div', {}, bytes(events.aux[event])),
        lane.kind === 'api' && blocksHost(events.aux[event]) && h('div', { class: 'bad' }, 'Blocks the host'),
      ];
    }
    if (projected) return projectedLines(this.view, projected, track.gpu ?? -1);
    if (track.spans && span >= 0) return spanLines(track.spans, span, clock);
    if (gap >= 0 && track.gaps) {
      const cause = track.gaps.cause[gap];
      return [
        h('div', { class: 'tooltip-title' }, `Idle: ${causeName(cause)}`),
        h(
          'div',
          {},
          h('b', {}, duration(track.gaps.end[gap] - track.gaps.start[gap])),
          ` at ${clock.format(track.gaps.start[gap])}`,
        ),
        CAUSE_LABELS[cause] ? h('div', {}, CAUSE_LABELS[cause]) : null,
      ];
    }
    if (track.chart) return chartLines(track.chart, time, clock);
    if (track.utilization) {
      const pixels = (4 * this.view.viewport.span) / this.view.width;
      const sums = this.view.painter.utilization(track.utilization, pixels / 4);
      const [from, to] = sums.wholeBins(time - pixels / 2, time + pixels / 2);
      const parts = sums.between(from, to);
      const whole = parts.reduce((sum, value) => sum + value, 0);
      if (whole <= 0) return null;
      return [
        h('div', { class: 'tooltip-title' }, `${clock.format(from, to - from)} to ${clock.format(to, to - from)}`),
        ...UTILIZATION_PARTS.map((part, index) => h('div', {}, `${part.label} `, h('b', {}, percent(parts[index], whole)))),
      ];
    }
    return null;
  }
}

/** @param {import('./charts.js').Chart} chart @param {number} time @param {import('../format.js').Clock} clock */
function chartLines(chart, time, clock) {
  const at = pointAt(chart, time);
  if (at < 0) return null;
  return [
    h('div', { class: 'tooltip-title' }, name(chart.label)),
    h('div', {}, h('b', {}, chart.format(chart.value[at])), ` from ${clock.format(chart.start[at])} to ${clock.format(chart.end[at])}`),
    chart.high[at] > chart.value[at] && h('div', {}, `${chart.highWord} ${chart.format(chart.high[at])}`),
    chart.detail && h('div', {}, chart.detail(at)),
  ];
}

/** @param {TimelineView} view @param {import('../projection.js').Projected} projected @param {number} gpu */
function projectedLines(view, projected, gpu) {
  const { clock } = view.model;
  const idle = idleInside(view, gpu, projected.start, projected.end);
  return [
    h('div', { class: 'tooltip-title' }, name(view.model.shortNameOf(projected.range))),
    h('div', {}, h('b', {}, duration(projected.end - projected.start)), ` on the GPU at ${clock.format(projected.start)}`),
    h('div', {}, `${counted(projected.ops, 'operation')}${idle === null ? '' : `, GPU idle ${duration(idle)}`}`),
  ];
}

/** @param {import('./spans.js').Spans} spans @param {number} i @param {import('../format.js').Clock} clock */
function spanLines(spans, i, clock) {
  const wait = spans.from[i] - spans.start[i];
  return [
    h('div', { class: 'tooltip-title' }, name(spans.label[i])),
    h('div', {}, h('b', {}, duration(spans.end[i] - spans.start[i])), ` at ${clock.format(spans.start[i])}`),
    spans.table === 'comm_instances' &&
      h('div', {}, spans.from[i] < spans.to[i] ? `wait ${duration(wait)}, transfer ${duration(spans.to[i] - spans.from[i])}` : 'wait and transfer unknown'),
    spans.tone[i] === 'bad' && h('div', { class: 'bad' }, 'outlier'),
    spans.table === 'steps' && spans.tone[i] === 'pale' && h('div', {}, 'not steady'),
  ];
}
