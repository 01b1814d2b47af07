/** @import { Model } from '../model.js' */

const MIN_SPAN_NS = 20;
const MARGIN = 0.02;

/** The visible window of time. All arithmetic of zooming and panning is here, none in the event handlers. */
export class Viewport {
  /** @param {Model} model */
  constructor(model) {
    this.fullFrom = model.startNs;
    this.fullTo = model.endNs;
    const margin = (this.fullTo - this.fullFrom) * MARGIN;
    this.minFrom = this.fullFrom - margin;
    this.maxTo = this.fullTo + margin;
    this.from = this.fullFrom;
    this.to = this.fullTo;
  }

  get span() {
    return this.to - this.from;
  }

  /** @param {number} from @param {number} to */
  set(from, to) {
    const largest = this.maxTo - this.minFrom;
    const smallest = Math.min(MIN_SPAN_NS, largest);
    const span = Math.min(largest, Math.max(smallest, to - from));
    const middle = (from + to) / 2;
    const begin = Math.min(this.maxTo - span, Math.max(this.minFrom, middle - span / 2));
    this.from = begin;
    this.to = begin + span;
  }

  /** Keeps the time under `share` (0 left edge, 1 right edge) where it is. @param {number} factor @param {number} share */
  zoom(factor, share) {
    const anchor = this.from + this.span * share;
    const largest = this.maxTo - this.minFrom;
    const span = Math.min(largest, Math.max(Math.min(MIN_SPAN_NS, largest), this.span * factor));
    const begin = Math.min(this.maxTo - span, Math.max(this.minFrom, anchor - span * share));
    this.from = begin;
    this.to = begin + span;
  }

  /** @param {number} share  of the window's width, positive to the right */
  pan(share) {
    const { span } = this;
    const begin = Math.min(this.maxTo - span, Math.max(this.minFrom, this.from + share * span));
    this.from = begin;
    this.to = begin + span;
  }

  fit() {
    this.set(this.fullFrom, this.fullTo);
  }

  /** Shows [from, to] with room around it. @param {number} from @param {number} to @param {number} [share] of the width */
  focus(from, to, share = 0.4) {
    const span = Math.max(to - from, MIN_SPAN_NS / 4) / share;
    const middle = (from + to) / 2;
    this.set(middle - span / 2, middle + span / 2);
  }

  /** Moves as little as needed, without zooming unless there is no other way. @param {number} from @param {number} to */
  bringIn(from, to) {
    const { span } = this;
    const margin = span * 0.04;
    if (to - from > span - 2 * margin) this.focus(from, to, 0.9);
    else if (from < this.from) this.set(from - margin, from - margin + span);
    else if (to > this.to) this.set(to + margin - span, to + margin);
  }

  /** @param {number} time @param {number} width */
  x(time, width) {
    return ((time - this.from) / this.span) * width;
  }

  /** @param {number} x @param {number} width */
  time(x, width) {
    return this.from + (x / width) * this.span;
  }

  /** Times of round numbers, at least `minPx` apart. @param {number} width @param {number} minPx @param {number} offset */
  ticks(width, minPx, offset) {
    const raw = (this.span * minPx) / width;
    const power = 10 ** Math.floor(Math.log10(Math.max(raw, 1)));
    const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw) ?? 10 * power);
    /** @type {[number, number][]} */
    const list = [];
    for (let index = Math.ceil((this.from + offset) / step); ; index++) {
      const time = index * step - offset;
      if (time > this.to || list.length > 200) break;
      list.push([time, this.x(time, width)]);
    }
    return { step, list };
  }
}
