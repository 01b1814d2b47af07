/** @import { Row } from './rows.js' */

const MIN_RECT_PX = 1.5;
const MIN_COVERAGE = 0.4;

/**
 * What one row looks like over the visible window: rectangles for events wide enough to see, and per
 * pixel column how much of it smaller events cover. Its cost grows with the width, not with the events.
 */
export class Raster {
  constructor() {
    this.width = 0;
    this.coverage = new Float32Array(0);
    this.longest = new Int32Array(0);
    this.longestNs = new Float64Array(0);
    /** Triples event, left, right (px). @type {number[]} */
    this.rects = [];
    this.hasPixels = false;
  }

  /** @param {number} width */
  reset(width) {
    if (this.width !== width) {
      this.width = width;
      this.coverage = new Float32Array(width);
      this.longest = new Int32Array(width);
      this.longestNs = new Float64Array(width);
    }
    this.coverage.fill(0);
    this.longest.fill(-1);
    this.longestNs.fill(-1);
    this.rects.length = 0;
    this.hasPixels = false;
  }

  /** @param {number} pixel @param {number} share @param {number} event @param {number} ns */
  cover(pixel, share, event, ns) {
    const at = pixel < 0 ? 0 : pixel >= this.width ? this.width - 1 : pixel | 0;
    this.coverage[at] += share;
    this.hasPixels = true;
    if (ns > this.longestNs[at]) {
      this.longestNs[at] = ns;
      this.longest[at] = event;
    }
  }

  /** @param {number} event @param {number} left @param {number} right */
  rect(event, left, right) {
    this.rects.push(event, Math.max(left, -4), Math.min(right, this.width + 4));
  }

  /**
   * All events of a row.
   * @param {Row} row @param {number} from  ns @param {number} to  ns @param {number} width  px
   */
  fill(row, from, to, width) {
    this.reset(width);
    const { start, duration, count, busy } = row.model.events;
    const levels = row.levels();
    const scale = width / (to - from);
    const pixelNs = 1 / scale;
    const total = row.count;
    let position = row.firstVisible(from);
    while (position < total) {
      const event = row.event(position);
      const begin = start[event];
      if (begin >= to) break;
      // The largest summary block that begins here and is no wider than a pixel stands for its events.
      let chosen = -1;
      for (let level = 0; level < levels.length; level++) {
        const { size, end } = levels[level];
        if (position % size !== 0 || end[position / size] - begin > pixelNs) break;
        chosen = level;
      }
      if (chosen >= 0) {
        const { size, busy: covered, longest } = levels[chosen];
        const block = position / size;
        this.cover((begin - from) * scale, covered[block] * scale, longest[block], duration[longest[block]]);
        position += size;
        continue;
      }
      const left = (begin - from) * scale;
      const right = left + duration[event] * scale;
      if (right - left >= MIN_RECT_PX) {
        if (right > 0) this.rect(event, left, right);
      } else if (right >= 0) {
        this.cover(left, (count[event] > 1 ? busy[event] : duration[event]) * scale, event, duration[event]);
      }
      position++;
    }
  }

  /**
   * Only some events of a row; events that share a pixel with a drawn one are skipped over.
   * @param {Row} row @param {Uint32Array} positions @param {number} from @param {number} to @param {number} width
   */
  fillMatches(row, positions, from, to, width) {
    this.reset(width);
    const { start, duration } = row.model.events;
    const scale = width / (to - from);
    const pixelNs = 1 / scale;
    const total = positions.length;
    /** @param {number} low @param {number} time */
    const seek = (low, time) => {
      let step = 1;
      let high = low;
      while (high < total && start[row.event(positions[high])] < time) {
        low = high + 1;
        high += step;
        step *= 2;
      }
      high = Math.min(high, total);
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (start[row.event(positions[middle])] >= time) high = middle;
        else low = middle + 1;
      }
      return low;
    };
    const firstPosition = row.firstVisible(from);
    let low = 0;
    let high = total;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (positions[middle] >= firstPosition) high = middle;
      else low = middle + 1;
    }
    for (let i = low; i < total;) {
      const event = row.event(positions[i]);
      if (start[event] >= to) break;
      const left = (start[event] - from) * scale;
      const right = left + duration[event] * scale;
      if (right - left >= MIN_RECT_PX) {
        if (right > 0) this.rect(event, left, right);
        i++;
        continue;
      }
      if (right >= 0) this.cover(left, 1, event, duration[event]);
      i = seek(i + 1, from + (Math.floor(left) + 1) * pixelNs);
    }
  }

  /** Opacity of a pixel column: never so faint that a lone event disappears. @param {number} pixel */
  opacity(pixel) {
    return Math.min(1, MIN_COVERAGE + (1 - MIN_COVERAGE) * this.coverage[pixel]);
  }
}
