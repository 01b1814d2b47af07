/** @import { Utilization } from '../types.js' */
/** @import { Theme } from '../colors.js' */
import { rgb } from '../colors.js';
import { context2d } from '../dom.js';

/** Running sums over the utilisation bins, so that any window's shares cost two lookups. */
export class UtilizationSums {
  /** @param {Utilization} data */
  constructor(data) {
    /** Whether any stretch is known to the ns. */
    this.isExact = false;
    this.start = data.start_ns;
    this.binNs = Math.max(1, data.bin_ns);
    this.bins = data.compute_ns.length;
    this.parts = [data.compute_ns, data.exposed_comm_ns, data.exposed_copy_ns, data.idle_ns].map((values) => {
      const sums = new Float64Array(this.bins + 1);
      for (let i = 0; i < this.bins; i++) sums[i + 1] = sums[i] + values[i];
      return sums;
    });
    this.end = this.start + this.bins * this.binNs;
  }

  /** Sums of the four parts up to a time, bins taken as evenly filled. @param {number} time @param {Float64Array} to */
  until(time, to) {
    const position = Math.max(0, Math.min(this.bins, (time - this.start) / this.binNs));
    const bin = Math.min(this.bins - 1, Math.floor(position));
    for (let part = 0; part < 4; part++) {
      const sums = this.parts[part];
      to[part] = this.bins === 0 ? 0 : sums[bin] + (sums[bin + 1] - sums[bin]) * (position - bin);
    }
  }

  /** The bins around a stretch of time, whose shares are exact. @param {number} from @param {number} to @returns {[number, number]} */
  wholeBins(from, to) {
    const first = Math.floor((from - this.start) / this.binNs);
    return [this.start + first * this.binNs, this.start + Math.max(first + 1, Math.ceil((to - this.start) / this.binNs)) * this.binNs];
  }

  /** ns of compute, exposed communication, exposed copy, idle in a window. @param {number} from @param {number} to */
  between(from, to) {
    const [before, after] = [new Float64Array(4), new Float64Array(4)];
    this.until(from, before);
    this.until(to, after);
    return [0, 1, 2, 3].map((part) => after[part] - before[part]);
  }

  /**
   * Stacked columns, one per pixel: painted as a picture, which costs far less than a rectangle each.
   * @param {CanvasRenderingContext2D} context @param {Theme} theme
   * @param {number} from @param {number} to  ns
   * @param {number} left @param {number} top @param {number} width @param {number} height  px
   * @param {boolean} showIdle  fill the rest, else leave it empty
   */
  paint(context, theme, from, to, left, top, width, height, showIdle) {
    const [columns, rows] = [Math.ceil(width), Math.round(height)];
    if (columns < 1 || rows < 1) return;
    const colors = [theme.compute, theme.comm, theme.copy, theme.idle].map(pixelOf);
    const image = new ImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    const step = (to - from) / width;
    const [before, after, parts] = [new Float64Array(4), new Float64Array(4), new Float64Array(4)];
    this.until(from, before);
    for (let x = 0; x < columns; x++) {
      this.until(from + (x + 1) * step, after);
      for (let part = 0; part < 4; part++) parts[part] = after[part] - before[part];
      before.set(after);
      const whole = parts[0] + parts[1] + parts[2] + parts[3];
      if (whole <= 0) continue;
      let y = rows;
      let sum = 0;
      for (let part = 0; part < (showIdle ? 4 : 3); part++) {
        sum += parts[part];
        // What is there at all is at least seen.
        const above = parts[part] > 0 ? Math.min(y - 1, Math.round(rows * (1 - sum / whole))) : y;
        while (y > above && y > 0) pixels[--y * columns + x] = colors[part];
      }
    }
    scratch ??= document.createElement('canvas');
    if (scratch.width !== columns || scratch.height !== rows) Object.assign(scratch, { width: columns, height: rows });
    context2d(scratch).putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(scratch, 0, 0, columns, rows, left, top, columns, height);
  }
}

/** @type {HTMLCanvasElement | null} */
let scratch = null;

/** '#rrggbb' as an opaque little-endian RGBA pixel. @param {string} color */
function pixelOf(color) {
  const [red, green, blue] = rgb(color);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
