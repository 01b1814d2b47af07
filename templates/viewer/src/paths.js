/** @import { Model } from './model.js' */
import { folded } from './format.js';

/**
 * The NVTX path of every event: of a range its own, of a call that of the range around it, of GPU work that of its
 * launching call. Paths are numbered; 0 is none.
 */
export class Paths {
  /** @param {Model} model */
  constructor(model) {
    this.model = model;
    /** @type {string[]} */
    this.texts = [''];
    /** @type {Map<string, number>} */
    this.numbers = new Map();
    this.of = new Uint32Array(model.count);
    for (const lane of model.lanes) if (lane.kind === 'nvtx') this.addRanges(lane);
    for (const lane of model.lanes) if (lane.kind === 'api') this.addCalls(lane);
    for (const lane of model.lanes) if (model.isGpuLane(lane)) this.addWork(lane);
  }

  /** @param {number} parent @param {number} name */
  number(parent, name) {
    const key = `${parent},${name}`;
    let number = this.numbers.get(key);
    if (number === undefined) {
      number = this.texts.length;
      const text = this.model.names[name].toLowerCase();
      this.texts.push(parent === 0 ? text : `${this.texts[parent]}/${text}`);
      this.numbers.set(key, number);
    }
    return number;
  }

  /** @param {import('./types.js').Lane} lane */
  addRanges(lane) {
    const { aux, name, count } = this.model.events;
    /** @type {number[]} */
    const open = [];
    for (let i = lane.first; i < lane.first + lane.count; i++) {
      if (count[i] > 1) continue;
      const depth = aux[i];
      this.of[i] = open[depth] = this.number(depth > 0 ? (open[depth - 1] ?? 0) : 0, name[i]);
    }
  }

  /** @param {import('./types.js').Lane} lane */
  addCalls(lane) {
    const { start } = this.model.events;
    const ranges = this.model.lanes.find((other) => other.kind === 'nvtx' && other.pid === lane.pid && other.tid === lane.tid);
    if (!ranges) return;
    const { aux, count } = this.model.events;
    /** @type {number[]}  open ranges, innermost last */
    const open = [];
    let next = ranges.first;
    for (let i = lane.first; i < lane.first + lane.count; i++) {
      for (; next < ranges.first + ranges.count && start[next] <= start[i]; next++) {
        if (count[next] > 1) continue;
        while (open.length > 0 && aux[open[open.length - 1]] >= aux[next]) open.pop();
        open.push(next);
      }
      while (open.length > 0 && this.model.end(open[open.length - 1]) <= start[i]) open.pop();
      this.of[i] = open.length > 0 ? this.of[open[open.length - 1]] : 0;
    }
  }

  /** @param {import('./types.js').Lane} lane */
  addWork(lane) {
    for (let i = lane.first; i < lane.first + lane.count; i++) {
      const launch = this.model.launchOf(i);
      if (launch >= 0) this.of[i] = this.of[launch];
    }
  }

  /** Which paths contain the wanted one. @param {string} wanted  such as "forward/attention", or "step #" of all numbers */
  matching(wanted) {
    const part = wanted.toLowerCase().replace(/\s*[/>]\s*/gu, '/');
    return Uint8Array.from(this.texts, (text) => (text.includes(part) || (part.includes('#') && folded(text).includes(part)) ? 1 : 0));
  }
}
