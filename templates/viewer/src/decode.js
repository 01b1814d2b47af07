/** @import { EventArrays, Part, TimelineData } from './types.js' */

/**
 * LEB128 values, one per element of `output`. Multiplication instead of shifts: values reach 2^53.
 * @param {Uint8Array} bytes  exactly the column
 * @param {Float64Array | Uint32Array} output
 */
function readVarints(bytes, output) {
  const count = output.length;
  let at = 0;
  for (let i = 0; i < count; i++) {
    let byte = bytes[at++];
    if (byte < 128) {
      output[i] = byte;
      continue;
    }
    let value = byte & 127;
    let scale = 128;
    do {
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    output[i] = value;
  }
  if (at !== bytes.length) throw new Error('a column of the event block has the wrong length');
}

/**
 * @param {Float64Array} raw  zigzag-coded differences
 * @param {Float64Array | Uint32Array} output
 */
function undoZigzagDelta(raw, output) {
  let value = 0;
  for (let i = 0; i < raw.length; i++) {
    const coded = raw[i];
    value += coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2;
    output[i] = value;
  }
}

/** Numbers one after the other, of parts that are no columns. */
export class VarintReader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  next() {
    let byte = this.bytes[this.at++];
    let value = byte & 127;
    for (let scale = 128; byte >= 128; scale *= 128) {
      byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
    }
    if (!(this.at <= this.bytes.length)) throw new Error('a part of the event block is shorter than announced');
    return value;
  }
}

/** @param {Part | undefined} part @param {Uint8Array} bytes */
function partOf(part, bytes) {
  if (!part) return null;
  if (part.offset + part.bytes > bytes.length) throw new Error('a part leaves the event block');
  return bytes.subarray(part.offset, part.offset + part.bytes);
}

/** Turns differences into times, lane by lane. @param {TimelineData} timeline @param {Float64Array} start */
function addUpStarts(timeline, start) {
  let covered = 0;
  for (const lane of timeline.lanes) {
    if (lane.first !== covered) throw new Error('the lanes do not cover the event block');
    covered += lane.count;
    let time = 0;
    for (let i = lane.first; i < covered; i++) start[i] = time += start[i];
  }
  if (covered !== timeline.events) throw new Error('the lanes do not cover the event block');
}

const MEMORY = 16;

/** Of copies and memsets: which of timeline.memory they move; leaves their sizes in `aux`. @param {TimelineData} timeline @param {Float64Array} aux */
function takeMemory({ lanes, memory, events }, aux) {
  const kinds = new Uint8Array(memory ? events : 0);
  for (const { kind, first, count } of memory ? lanes : []) {
    for (let i = first; i < first + count && (kind === 'copy' || kind === 'set'); i++) {
      kinds[i] = aux[i] % MEMORY;
      aux[i] = Math.floor(aux[i] / MEMORY);
    }
  }
  return kinds;
}

/** @param {Uint32Array} numbers @param {number} most @param {string} what */
function checkBelow(numbers, most, what) {
  for (let i = 0; i < numbers.length; i++) {
    if (numbers[i] >= most) throw new Error(`the event block points outside its ${what}`);
  }
}

/**
 * Columns that only a selected event needs are decoded when first asked for: a page of millions of events opens sooner.
 * @param {TimelineData} timeline
 * @param {Uint8Array} bytes  inflated event block
 * @returns {EventArrays}
 */
export function decodeEvents(timeline, bytes) {
  const count = timeline.events;
  if (bytes.length !== timeline.raw_bytes) throw new Error('the event block has not the announced length');
  /** @type {<T extends Float64Array | Uint32Array>(name: string, output: T) => T} */
  const read = (name, output) => {
    const column = timeline.columns.find((candidate) => candidate.name === name);
    if (!column) throw new Error(`the event block lacks the column "${name}"`);
    if (column.offset + column.bytes > bytes.length) throw new Error(`the column "${name}" leaves the event block`);
    const part = bytes.subarray(column.offset, column.offset + column.bytes);
    if (column.encoding === 'zigzag_delta') {
      const raw = new Float64Array(count);
      readVarints(part, raw);
      undoZigzagDelta(raw, output);
    } else if (column.encoding === 'varint' || column.encoding === 'delta') {
      readVarints(part, output);
    } else {
      throw new Error(`the column "${name}" has the unknown encoding "${column.encoding}"`);
    }
    return output;
  };
  const aggregates = timeline.columns.some((column) => column.name === 'count');
  const start = read('start', new Float64Array(count));
  addUpStarts(timeline, start);
  const name = read('name', new Uint32Array(count));
  checkBelow(name, timeline.names.length, 'names');
  const aux = read('aux', new Float64Array(count));
  /** @type {Uint32Array | null} */
  let link = null;
  /** @type {Float64Array | null} */
  let corr = null;
  return {
    start,
    name,
    duration: read('duration', new Float64Array(count)),
    memory: takeMemory(timeline, aux),
    aux,
    count: aggregates ? read('count', new Uint32Array(count)) : new Uint8Array(count).fill(1),
    busy: aggregates ? read('busy', new Float64Array(count)) : new Uint8Array(count),
    mix: partOf(timeline.mix, bytes),
    sums: partOf(timeline.sums, bytes),
    queueBins: partOf(timeline.queue_bins, bytes),
    passTimes: partOf(timeline.pass_times, bytes),
    get link() {
      if (!link) checkBelow((link = read('link', new Uint32Array(count))), count + 1, 'events');
      return link;
    },
    get corr() {
      return (corr ??= read('corr', new Float64Array(count)));
    },
  };
}
