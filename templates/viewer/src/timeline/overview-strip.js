/** @import { TimelineView } from './view.js' */
import { fitCanvas, h } from '../dom.js';
import { stripLanes } from '../gpu-summary.js';
import { UtilizationSums } from './utilization.js';

const LANE_HEIGHT = 14;
const THIN_LANE_HEIGHT = 10;
const PADDING = 4;
const EDGE_PX = 6;
const THICK_LANES = 4;

/** The whole trace in a few pixels per GPU, with the visible window; dragging moves or resizes the window. */
export class OverviewStrip {
  /** @param {TimelineView} view */
  constructor(view) {
    this.view = view;
    this.canvas = h('canvas', {
      class: 'tl-strip',
      role: 'img',
      'aria-label': 'Overview of the whole trace with the visible window',
    });
    const lanes = stripLanes(view.model.timeline.utilization);
    this.sums = lanes.map(({ data }) => new UtilizationSums(data));
    this.laneHeight = this.sums.length > THICK_LANES ? THIN_LANE_HEIGHT : LANE_HEIGHT;
    this.height = Math.max(1, this.sums.length) * this.laneHeight + 2 * PADDING;
    this.labels = h('div', { class: 'tl-corner tl-strip-labels', 'aria-hidden': 'true' }, lanes.map(({ label }) => h('span', { title: label }, label)));
    this.labels.style.setProperty('--lane', `${this.laneHeight}px`);
    this.width = 0;
    this.picture = document.createElement('canvas');
    this.stale = true;
    this.listen();
  }

  /** @param {number} width */
  resize(width) {
    this.width = width;
    this.stale = true;
  }

  invalidate() {
    this.stale = true;
  }

  /** @param {number} time */
  x(time) {
    const { fullFrom, fullTo } = this.view.viewport;
    return ((time - fullFrom) / (fullTo - fullFrom)) * this.width;
  }

  /** @param {number} x */
  time(x) {
    const { fullFrom, fullTo } = this.view.viewport;
    return fullFrom + (x / this.width) * (fullTo - fullFrom);
  }

  draw() {
    const { theme, viewport, model, range } = this.view;
    const { width, height } = this;
    if (width < 1) return;
    if (this.stale) this.paintPicture();
    const context = fitCanvas(this.canvas, width, height);
    context.fillStyle = theme.raised;
    context.fillRect(0, 0, width, height);
    context.drawImage(this.picture, 0, 0, width, height);
    if (model.timeline.aggregated) {
      context.fillStyle = theme.accent;
      for (const [from, to] of model.timeline.detail_windows)
        context.fillRect(this.x(from), height - 3, Math.max(1, this.x(to) - this.x(from)), 3);
    }
    if (range) {
      context.fillStyle = theme.selection;
      context.fillRect(this.x(range[0]), 0, Math.max(1, this.x(range[1]) - this.x(range[0])), height);
    }
    const left = Math.max(0, this.x(viewport.from));
    const right = Math.min(width, this.x(viewport.to));
    context.fillStyle = theme.background;
    context.globalAlpha = 0.6;
    context.fillRect(0, 0, left, height);
    context.fillRect(right, 0, width - right, height);
    context.globalAlpha = 1;
    const shown = Math.max(3, right - left);
    context.strokeStyle = theme.accent;
    context.lineWidth = 1.5;
    context.strokeRect(Math.min(left, width - shown) + 0.75, 0.75, shown - 1.5, height - 1.5);
  }

  paintPicture() {
    const { theme, viewport } = this.view;
    const context = fitCanvas(this.picture, this.width, this.height);
    context.clearRect(0, 0, this.width, this.height);
    this.sums.forEach((sums, index) => {
      sums.paint(
        context,
        theme,
        viewport.fullFrom,
        viewport.fullTo,
        0,
        PADDING + index * this.laneHeight,
        this.width,
        this.laneHeight - (this.laneHeight > THIN_LANE_HEIGHT ? 2 : 1),
        true,
      );
    });
    this.stale = false;
  }

  listen() {
    const { canvas, view } = this;
    /** @type {{mode: 'move' | 'left' | 'right', grab: number} | null} */
    let drag = null;
    /** @param {PointerEvent} event */
    const at = (event) => event.clientX - canvas.getBoundingClientRect().left;
    /** @param {number} x @returns {'move' | 'left' | 'right'} */
    const modeAt = (x) => {
      if (Math.abs(x - this.x(view.viewport.from)) <= EDGE_PX && view.viewport.from > view.viewport.fullFrom) return 'left';
      if (Math.abs(x - this.x(view.viewport.to)) <= EDGE_PX && view.viewport.to < view.viewport.fullTo) return 'right';
      return 'move';
    };
    canvas.addEventListener('pointerdown', (event) => {
      const x = at(event);
      const time = this.time(x);
      const { from, to, span } = view.viewport;
      canvas.setPointerCapture(event.pointerId);
      drag = { mode: modeAt(x), grab: time - from };
      if (drag.mode === 'move' && (time < from || time > to)) {
        drag.grab = span / 2;
        view.viewport.set(time - span / 2, time + span / 2);
        view.moved();
      }
    });
    canvas.addEventListener('pointermove', (event) => {
      const x = at(event);
      if (!drag) {
        canvas.style.cursor = modeAt(x) === 'move' ? 'grab' : 'ew-resize';
        return;
      }
      const time = this.time(x);
      const { from, to, span } = view.viewport;
      if (drag.mode === 'left') view.viewport.set(Math.min(time, to - 20), to);
      else if (drag.mode === 'right') view.viewport.set(from, Math.max(time, from + 20));
      else view.viewport.set(time - drag.grab, time - drag.grab + span);
      view.moved();
    });
    const finish = () => (drag = null);
    canvas.addEventListener('pointerup', finish);
    canvas.addEventListener('pointercancel', finish);
    canvas.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        view.zoom(Math.exp(event.deltaY * 0.0016));
      },
      { passive: false },
    );
  }
}
