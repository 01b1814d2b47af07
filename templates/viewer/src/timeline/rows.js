/** @import { Lane } from '../types.js' */
/** @import { Model } from '../model.js' */
import { bisect } from '../model.js';

const MAX_STACK = 8;
const FANOUT = 4;
const MIN_SUMMARISED = 256;

/**
 * One level of a row's summary: FANOUT times fewer blocks than the level below.
 * @typedef {object} Level
 * @property {number} size  events per block
 * @property {Float64Array} end  latest end in the block
 * @property {Float64Array} busy  ns covered in the block
 * @property {Uint32Array} longest  event that lasts longest
 */

/** Events drawn at one height: sorted by start and, unless `overlaps`, one after the other. */
export class Row {
  /**
   * @param {Model} model @param {Lane} lane
   * @param {Uint32Array | null} ids  event numbers; null: all events of the lane
   * @param {boolean} overlaps
   */
  constructor(model, lane, ids, overlaps) {
    this.model = model;
    this.lane = lane;
    this.ids = ids;
    this.overlaps = overlaps;
    this.count = ids ? ids.length : lane.count;
    /** @type {Level[] | null} */
    this.summaries = null;
    /** @type {Float64Array | null} */
    this.latestEnds = null;
    /** @type {{generation: number, positions: Uint32Array} | null} */
    this.matches = null;
  }

  /** @param {number} position */
  event(position) {
    return this.ids ? this.ids[position] : this.lane.first + position;
  }

  /** First position that starts at or after `time`. @param {number} time @param {number} [low] */
  lowerBound(time, low = 0) {
    const { start } = this.model.events;
    return bisect(low, this.count, (position) => start[this.event(position)] >= time);
  }

  /** First position from which on events may end after `time`. @param {number} time */
  firstVisible(time) {
    if (this.overlaps) {
      const ends = this.endsSoFar();
      return bisect(0, this.count, (position) => ends[position] > time);
    }
    const position = this.lowerBound(time);
    return position > 0 && this.model.end(this.event(position - 1)) > time ? position - 1 : position;
  }

  /** Running maximum of the ends: sorted even where events overlap. */
  endsSoFar() {
    if (!this.latestEnds) {
      this.latestEnds = new Float64Array(this.count);
      let latest = -Infinity;
      for (let i = 0; i < this.count; i++) this.latestEnds[i] = latest = Math.max(latest, this.model.end(this.event(i)));
    }
    return this.latestEnds;
  }

  /** Built when the row is first drawn: most rows of a large trace never scroll into view. */
  levels() {
    if (this.summaries) return this.summaries;
    /** @type {Level[]} */
    const levels = [];
    const { duration, busy, count } = this.model.events;
    if (this.count >= MIN_SUMMARISED) {
      const blocks = Math.ceil(this.count / FANOUT);
      const level = {
        size: FANOUT,
        end: new Float64Array(blocks),
        busy: new Float64Array(blocks),
        longest: new Uint32Array(blocks),
      };
      for (let block = 0; block < blocks; block++) {
        const last = Math.min(this.count, (block + 1) * FANOUT);
        let longest = this.event(block * FANOUT);
        for (let position = block * FANOUT; position < last; position++) {
          const event = this.event(position);
          level.end[block] = Math.max(level.end[block], this.model.end(event));
          level.busy[block] += count[event] > 1 ? busy[event] : duration[event];
          if (duration[event] > duration[longest]) longest = event;
        }
        level.longest[block] = longest;
      }
      levels.push(level);
      for (let below = /** @type {Level} */ (level); below.longest.length > FANOUT * 8;) {
        const above = this.levelAbove(below);
        levels.push(above);
        below = above;
      }
    }
    this.summaries = levels;
    return levels;
  }

  /** @param {Level} below @returns {Level} */
  levelAbove(below) {
    const { duration } = this.model.events;
    const belowCount = below.longest.length;
    const blocks = Math.ceil(belowCount / FANOUT);
    const level = {
      size: below.size * FANOUT,
      end: new Float64Array(blocks),
      busy: new Float64Array(blocks),
      longest: new Uint32Array(blocks),
    };
    for (let block = 0; block < blocks; block++) {
      const last = Math.min(belowCount, (block + 1) * FANOUT);
      let longest = below.longest[block * FANOUT];
      for (let child = block * FANOUT; child < last; child++) {
        level.end[block] = Math.max(level.end[block], below.end[child]);
        level.busy[block] += below.busy[child];
        if (duration[below.longest[child]] > duration[longest]) longest = below.longest[child];
      }
      level.longest[block] = longest;
    }
    return level;
  }

  /**
   * Positions of matching events, kept until the search changes.
   * @param {number} generation @param {(event: number) => boolean} matches
   */
  matching(generation, matches) {
    if (this.matches?.generation === generation) return this.matches.positions;
    /** @type {number[]} */
    const positions = [];
    for (let position = 0; position < this.count; position++) {
      if (matches(this.event(position))) positions.push(position);
    }
    this.matches = { generation, positions: Uint32Array.from(positions) };
    return this.matches.positions;
  }

  /**
   * Event at a time, or the nearest within `tolerance`; the longest wins.
   * @param {number} time @param {number} tolerance ns @returns {number} -1 for none
   */
  eventAt(time, tolerance) {
    const { start, duration } = this.model.events;
    let best = -1;
    let bestDistance = Infinity;
    for (
      let position = this.firstVisible(time - tolerance), steps = 0;
      position < this.count && steps < 4096;
      position++, steps++
    ) {
      const event = this.event(position);
      if (start[event] > time + tolerance) break;
      const distance = Math.max(0, start[event] - time, time - start[event] - duration[event]);
      if (distance > tolerance) continue;
      if (distance < bestDistance || (distance === bestDistance && duration[event] > duration[best])) {
        best = event;
        bestDistance = distance;
      }
    }
    return best;
  }
}

/**
 * Splits a lane into rows: NVTX by the depth the trace says, everything else by stacking what overlaps.
 * @param {Model} model @param {Lane} lane @returns {Row[]}
 */
export function rowsOf(model, lane) {
  const { start, duration, aux } = model.events;
  const last = lane.first + lane.count;
  const byDepth = lane.kind === 'nvtx';
  /** @type {number[]} */
  const ends = [];
  /** @type {boolean[]} */
  const overlaps = [];
  const rowOf = new Uint8Array(lane.count);
  const sizes = new Uint32Array(256);
  for (let i = lane.first; i < last; i++) {
    let row = byDepth ? Math.min(255, aux[i]) : 0;
    if (!byDepth) while (row < MAX_STACK - 1 && row < ends.length && ends[row] > start[i]) row++;
    while (ends.length <= row) {
      ends.push(-Infinity);
      overlaps.push(false);
    }
    if (ends[row] > start[i]) overlaps[row] = true;
    ends[row] = Math.max(ends[row], start[i] + duration[i]);
    rowOf[i - lane.first] = row;
    sizes[row]++;
  }
  if (ends.length <= 1) return [new Row(model, lane, null, overlaps[0] ?? false)];
  const ids = ends.map((_, row) => new Uint32Array(sizes[row]));
  const used = new Uint32Array(ends.length);
  for (let i = lane.first; i < last; i++) {
    const row = rowOf[i - lane.first];
    ids[row][used[row]++] = i;
  }
  return ids.map((list, row) => new Row(model, lane, list, overlaps[row]));
}
