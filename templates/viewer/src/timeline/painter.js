/** @import { Utilization } from '../types.js' */
/** @import { Model } from '../model.js' */
/** @import { EventColors, Theme } from '../colors.js' */
/** @import { Layout, Track } from './layout.js' */
/** @import { Row } from './rows.js' */
import { rgb } from '../colors.js';
import { context2d, fillLabel } from '../dom.js';
import { paintArrow, paintGaps, paintMix } from './paint-parts.js';
import { paintChart } from './paint-charts.js';
import { exactUtilization } from './exact-utilization.js';
import { paintProjection } from './projection-rows.js';
import { paintSpans } from './paint-spans.js';
import { Raster } from './raster.js';
import { UtilizationSums } from './utilization.js';

const LABEL_MIN_PX = 30;
const MAX_ARROWS = 60;

/**
 * Everything a frame depends on.
 * @typedef {object} Frame
 * @property {number} from  ns
 * @property {number} to  ns
 * @property {number} width  px
 * @property {number} height  px
 * @property {number} scrollTop  px
 * @property {Theme} theme
 * @property {EventColors} colors
 * @property {number} selected  event, -1 for none
 * @property {[number, number] | null} range
 * @property {string[] | null} area  keys of the tracks that the range is of; null: all
 * @property {[number, number] | null} kept  the range kept beside it
 * @property {number} hovered
 * @property {{generation: number, matches: (event: number) => boolean, only: boolean, gaps: Set<number> | null} | null} search
 * @property {{gpu: number, index: number} | null} selectedGap
 * @property {[number, number][]} ticks  time and x of the grid
 * @property {number} pointerX  -1 outside
 */

/** Paints the tracks. Holds only buffers and caches: the same frame twice gives the same pixels. */
export class Painter {
  /** @param {Model} model @param {Layout} layout */
  constructor(model, layout) {
    this.model = model;
    this.layout = layout;
    this.raster = new Raster();
    this.strip = document.createElement('canvas');
    /** @type {ImageData | null} */
    this.stripPixels = null;
    /** @type {Map<object, UtilizationSums>} */
    this.sums = new Map();
    /** @type {Map<object, UtilizationSums>} */
    this.exact = new Map();
    /** Of the selected call, so that no frame looks for them again. @type {{call: number, events: number[]}} */
    this.launched = { call: -1, events: [] };
    /** @type {Map<string, number>} */
    this.packed = new Map();
  }

  /** @param {CanvasRenderingContext2D} context @param {Frame} frame */
  paint(context, frame) {
    const { width, height, theme } = frame;
    context.fillStyle = theme.background;
    context.fillRect(0, 0, width, height);
    const { layout } = this;
    const tracks = layout.visible.filter((track) => {
      const y = layout.screenTop(track, frame.scrollTop);
      return y + track.height > (track.pinned ? 0 : layout.pinnedHeight) && y < height;
    });
    // Pinned tracks cover what scrolls below them.
    for (const pinned of [false, true]) {
      const some = tracks.filter((track) => track.pinned === pinned);
      const top = pinned ? 0 : layout.pinnedHeight;
      if (some.length > 0) this.paintTracks(context, frame, some, top, pinned ? layout.pinnedHeight : height);
    }
    this.paintRange(context, frame);
    if (frame.pointerX >= 0) {
      context.fillStyle = theme.muted;
      context.globalAlpha = 0.5;
      context.fillRect(Math.round(frame.pointerX), 0, 1, height);
      context.globalAlpha = 1;
    }
    this.paintSelection(context, frame);
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {Frame} frame @param {Track[]} tracks
   * @param {number} top @param {number} bottom  px
   */
  paintTracks(context, frame, tracks, top, bottom) {
    const { theme, width, ticks } = frame;
    context.save();
    context.beginPath();
    context.rect(0, top, width, bottom - top);
    context.clip();
    context.fillStyle = theme.background;
    context.fillRect(0, top, width, bottom - top);
    for (const track of tracks) this.paintBackground(context, frame, track);
    context.fillStyle = theme.grid;
    for (const [, x] of ticks) context.fillRect(Math.round(x), top, 1, bottom - top);
    context.font = theme.font;
    context.textBaseline = 'middle';
    context.textAlign = 'left';
    for (const track of tracks) this.paintTrack(context, frame, track);
    if (tracks[0].pinned) {
      context.fillStyle = theme.accent;
      context.fillRect(0, bottom - 1, width, 1);
    }
    context.restore();
    context.font = theme.font;
    context.textBaseline = 'middle';
  }

  /** @param {CanvasRenderingContext2D} context @param {Frame} frame @param {Track} track */
  paintBackground(context, { width, scrollTop, theme }, track) {
    const y = this.layout.screenTop(track, scrollTop);
    if (track.type === 'gpu' || track.type === 'process' || track.type === 'thread') {
      context.fillStyle = track.type === 'thread' ? theme.band : theme.raised;
      context.fillRect(0, y, width, track.height);
    }
    context.fillStyle = theme.line;
    context.fillRect(0, y + track.height - 1, width, 1);
  }

  /** @param {CanvasRenderingContext2D} context @param {Frame} frame @param {Track} track */
  paintTrack(context, frame, track) {
    const y = this.layout.screenTop(track, frame.scrollTop);
    if (track.utilization && (track.type === 'utilization' || this.layout.collapsed.has(track.key))) this.paintUtilization(context, frame, track, y);
    else if (track.spans) paintSpans(context, frame, track.spans, y, track.height);
    else if (track.chart) paintChart(context, frame, track.chart, y, track.height);
    else if (track.projection) paintProjection(context, frame, track, y);
    else if (track.gaps) paintGaps(context, frame, track.gaps, track.gpu ?? -1, y, track.height);
    else if (track.rows && track.lane) {
      const color = frame.colors.forLane(track.lane);
      for (let index = 0; index < track.rows.length; index++) {
        const top = y + 2 + index * track.rowHeight;
        if (top + track.rowHeight < 0 || top > frame.height) continue;
        this.paintRow(context, frame, track.rows[index], color, top, track.rowHeight - 2);
      }
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {Frame} frame @param {Row} row
   * @param {(event: number) => string} color @param {number} top @param {number} height
   */
  paintRow(context, frame, row, color, top, height) {
    const { raster } = this;
    const { search } = frame;
    if (!search || !search.only) {
      raster.fill(row, frame.from, frame.to, frame.width);
      context.globalAlpha = search ? 0.22 : 1;
      this.paintRaster(context, frame, color, top, height, !search);
      context.globalAlpha = 1;
    }
    if (search) {
      const positions = row.matching(search.generation, search.matches);
      if (positions.length === 0) return;
      raster.fillMatches(row, positions, frame.from, frame.to, frame.width);
      this.paintRaster(context, frame, color, top, height, true);
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {Frame} frame @param {(event: number) => string} color
   * @param {number} top @param {number} height @param {boolean} labels
   */
  paintRaster(context, frame, color, top, height, labels) {
    const { raster, model } = this;
    if (raster.hasPixels) this.paintPixels(context, frame, color, top, height);
    const { rects } = raster;
    const { count } = model.events;
    let current = '';
    for (let i = 0; i < rects.length; i += 3) {
      const fill = color(rects[i]);
      if (fill !== current) context.fillStyle = current = fill;
      const width = rects[i + 2] - rects[i + 1];
      if (count[rects[i]] > 1 && paintMix(context, model, rects[i], rects[i + 1], width, top, height)) current = '';
      else context.fillRect(rects[i + 1], top, width > 3 ? width - 1 : width, height);
    }
    if (!labels) return;
    context.fillStyle = '#fff';
    for (let i = 0; i < rects.length; i += 3) {
      const left = Math.max(rects[i + 1], 0);
      const room = Math.min(rects[i + 2], frame.width) - left - 8;
      const event = rects[i];
      if (room < LABEL_MIN_PX - 8) continue;
      const text = count[event] > 1 ? `${count[event]} events` : model.shortNameOf(event);
      fillLabel(context, text, left + 4, top + height / 2 + 0.5, room);
    }
  }

  /**
   * Events narrower than a pixel, as one scaled strip of pixels per row: far cheaper than a rectangle each.
   * @param {CanvasRenderingContext2D} context @param {Frame} frame @param {(event: number) => string} color
   * @param {number} top @param {number} height
   */
  paintPixels(context, frame, color, top, height) {
    const { raster, strip } = this;
    const width = raster.width;
    if (strip.width !== width || !this.stripPixels) {
      strip.width = width;
      strip.height = 1;
      this.stripPixels = new ImageData(width, 1);
    }
    const pixels = new Uint32Array(this.stripPixels.data.buffer);
    const { longest } = raster;
    for (let x = 0; x < width; x++) {
      const event = longest[x];
      pixels[x] = event < 0 ? 0 : this.pack(color(event)) | ((raster.opacity(x) * 255) << 24);
    }
    context2d(strip).putImageData(this.stripPixels, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(strip, 0, 0, width, 1, 0, top, frame.width, height);
  }

  /** '#rrggbb' as the low 24 bits of a little-endian RGBA pixel. @param {string} color */
  pack(color) {
    let value = this.packed.get(color);
    if (value === undefined) {
      const [red, green, blue] = rgb(color);
      value = red | (green << 8) | (blue << 16);
      this.packed.set(color, value);
    }
    return value;
  }

  /** The report's bins, or what the events say where a bin is wider than two pixels. @param {Utilization} data @param {number} pixelNs */
  utilization(data, pixelNs) {
    let sums = this.sums.get(data);
    if (!sums) this.sums.set(data, (sums = new UtilizationSums(data)));
    if (2 * pixelNs >= sums.binNs) return sums;
    let exact = this.exact.get(data);
    if (!exact) this.exact.set(data, (exact = exactUtilization(this.model, data.device_id, sums)));
    return exact;
  }

  /** @param {CanvasRenderingContext2D} context @param {Frame} frame @param {Track} track @param {number} y */
  paintUtilization(context, frame, track, y) {
    if (!track.utilization) return;
    const sums = this.utilization(track.utilization, (frame.to - frame.from) / frame.width);
    sums.paint(context, frame.theme, frame.from, frame.to, 0, y + 3, frame.width, track.height - 6, false);
  }

  /** @param {CanvasRenderingContext2D} context @param {Frame} frame */
  paintRange(context, frame) {
    const { range, area, kept, theme } = frame;
    if (kept) this.paintBand(context, frame, kept, null, theme.comm);
    if (range) this.paintBand(context, frame, range, area, theme.accent);
  }

  /** @param {CanvasRenderingContext2D} context @param {Frame} frame @param {[number, number]} range @param {string[] | null} area @param {string} color */
  paintBand(context, frame, range, area, color) {
    const scale = frame.width / (frame.to - frame.from);
    const [left, right] = range.map((time) => (time - frame.from) * scale);
    const tracks = area ? this.layout.visible.filter(({ key }) => area.includes(key)) : [];
    const bands = area ? tracks.map((track) => [this.layout.screenTop(track, frame.scrollTop), track.height]) : [[0, frame.height]];
    for (const [top, height] of bands) {
      context.fillStyle = frame.theme.selection;
      context.fillRect(left, top, Math.max(1, right - left), height);
      context.fillStyle = color;
      context.fillRect(left - 1, top, 1, height);
      context.fillRect(right, top, 1, height);
    }
  }

  /** Where an event stands, also outside the window. @param {Frame} frame @param {number} event */
  place(frame, event) {
    const found = this.layout.find(event);
    if (!found) return null;
    // What is in a closed group stands at the group's line.
    const { layout } = this;
    const track = layout.visible.includes(found.track)
      ? found.track
      : layout.visible.findLast((candidate) => found.track.parents.includes(candidate.key));
    if (!track) return null;
    const scale = frame.width / (frame.to - frame.from);
    const left = (this.model.events.start[event] - frame.from) * scale;
    const right = Math.max(left + 2, (this.model.end(event) - frame.from) * scale);
    const top = layout.screenTop(track, frame.scrollTop) + 2;
    if (track !== found.track) return { left, right, top, height: track.height - 4 };
    return { left, right, top: top + found.row * track.rowHeight, height: track.rowHeight - 2 };
  }

  /** @param {CanvasRenderingContext2D} context @param {Frame} frame */
  paintSelection(context, frame) {
    const { model } = this;
    for (const [event, color, width] of /** @type {[number, string, number][]} */ ([
      [frame.hovered, frame.theme.muted, 1],
      [frame.selected, frame.theme.text, 2],
    ])) {
      const box = event >= 0 ? this.place(frame, event) : null;
      if (!box) continue;
      const left = Math.max(-4, box.left);
      const right = Math.min(frame.width + 4, box.right);
      if (right < 0 || left > frame.width) continue;
      context.strokeStyle = color;
      context.lineWidth = width;
      context.strokeRect(left - 0.5, box.top - 0.5, Math.max(2, right - left), box.height + 1);
    }
    if (frame.selected < 0) return;
    const lane = model.laneOf(frame.selected);
    const launch = model.launchOf(frame.selected);
    if (model.isGpuLane(lane) && launch >= 0) this.paintArrow(context, frame, launch, frame.selected);
    if (lane.kind === 'api') {
      if (this.launched.call !== frame.selected)
        this.launched = { call: frame.selected, events: model.launchedBy(frame.selected, frame.selected + 1).slice(0, MAX_ARROWS) };
      for (const target of this.launched.events) this.paintArrow(context, frame, frame.selected, target);
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {Frame} frame @param {number} from @param {number} to */
  paintArrow(context, frame, from, to) {
    const [source, target] = [this.place(frame, from), this.place(frame, to)];
    if (source && target) paintArrow(context, frame.theme, source, target);
  }
}
