/** @import { EventArrays, TimelineData } from './types.js' */

/**
 * @param {string} text  standard base64; surrounding white space is ignored
 * @returns {Uint8Array<ArrayBuffer>}
 */
export function decodeBase64(text) {
  const source = text.trim();
  const native = /** @type {{fromBase64?: (text: string) => Uint8Array<ArrayBuffer>}} */ (/** @type {unknown} */ (Uint8Array));
  if (native.fromBase64) return native.fromBase64(source);
  const binary = atob(source);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/**
 * @param {Uint8Array<ArrayBuffer>} compressed  zlib format
 * @param {number} expectedBytes
 * @returns {Promise<Uint8Array>}
 */
export async function inflate(compressed, expectedBytes) {
  const output = new Uint8Array(expectedBytes);
  const reader = new Blob([compressed]).stream().pipeThrough(new DecompressionStream('deflate')).getReader();
  let used = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (used + value.length > expectedBytes) throw new Error('the event block is longer than announced');
    output.set(value, used);
    used += value.length;
  }
  if (used !== expectedBytes) throw new Error('the event block is shorter than announced');
  return output;
}

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

/**
 * @param {TimelineData} timeline
 * @param {Uint8Array} bytes  inflated event block
 * @returns {EventArrays}
 */
export function decodeEvents(timeline, bytes) {
  const count = timeline.events;
  const scratch = new Float64Array(count);
  /** @param {string} name @param {Float64Array | Uint32Array} output */
  const read = (name, output) => {
    const column = timeline.columns.find((candidate) => candidate.name === name);
    if (!column) throw new Error(`the event block lacks the column "${name}"`);
    if (column.offset + column.bytes > bytes.length) throw new Error(`the column "${name}" leaves the event block`);
    const part = bytes.subarray(column.offset, column.offset + column.bytes);
    if (column.encoding === 'zigzag_delta') {
      readVarints(part, scratch);
      undoZigzagDelta(scratch, output);
    } else if (column.encoding === 'varint' || column.encoding === 'delta') {
      readVarints(part, output);
    } else {
      throw new Error(`the column "${name}" has the unknown encoding "${column.encoding}"`);
    }
    return output;
  };
  const start = /** @type {Float64Array} */ (read('start', new Float64Array(count)));
  let covered = 0;
  for (const lane of timeline.lanes) {
    if (lane.first !== covered) throw new Error('the lanes do not cover the event block');
    covered += lane.count;
    let time = 0;
    for (let i = lane.first; i < covered; i++) start[i] = time += start[i];
  }
  if (covered !== count) throw new Error('the lanes do not cover the event block');
  const events = {
    start,
    duration: /** @type {Float64Array} */ (read('duration', new Float64Array(count))),
    name: /** @type {Uint32Array} */ (read('name', new Uint32Array(count))),
    link: /** @type {Uint32Array} */ (read('link', new Uint32Array(count))),
    corr: /** @type {Float64Array} */ (read('corr', new Float64Array(count))),
    aux: /** @type {Float64Array} */ (read('aux', new Float64Array(count))),
    count: /** @type {Uint32Array} */ (read('count', new Uint32Array(count))),
    busy: /** @type {Float64Array} */ (read('busy', new Float64Array(count))),
  };
  for (let i = 0; i < count; i++) {
    if (events.name[i] >= timeline.names.length || events.link[i] > count) {
      throw new Error('the event block points outside its names or events');
    }
  }
  return events;
}
