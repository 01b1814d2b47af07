/** @import { Report, TimelineData } from '../types.js' */
/** @import { PairData, SideName } from './types.js' */
/** @import { PairSide } from './pair-view.js' */
import { decodeBase64, decodeEvents, inflate } from '../decode.js';
import { byId, h } from '../dom.js';
import { Model } from '../model.js';
import { unpackTables } from '../unpack.js';
import { CompareApp } from './app.js';

/** @param {string} id */
function readBlock(id) {
  const element = byId(id);
  const text = element.textContent ?? '';
  element.textContent = '';
  return text;
}

/** The timeline of a side, null when the page has none. @param {PairData} data @param {SideName} side @returns {Promise<PairSide | null>} */
async function readSide(data, side) {
  const sideData = data[side];
  /** @type {TimelineData | null} */
  const timeline = JSON.parse(readBlock(`nsys-ai-timeline-${side}`));
  const text = readBlock(`nsys-ai-events-${side}`);
  if (!timeline || timeline.events === 0) return null;
  const bytes = timeline.raw_bytes > 0 ? await inflate(decodeBase64(text), timeline.raw_bytes) : new Uint8Array(0);
  const report = unpackTables(/** @type {Report} */ (/** @type {unknown} */ ({ tables: sideData.tables ?? {}, run: { utc_epoch_ns: sideData.utc_epoch_ns ?? null } })));
  return { side, data: sideData, model: new Model(report, timeline, decodeEvents(timeline, bytes)) };
}

/** For tests. */
const hook = { ready: false, app: /** @type {CompareApp | null} */ (null) };

async function start() {
  /** @type {PairData} */
  const data = JSON.parse(readBlock('nsys-ai-compare'));
  unpackTables(/** @type {Report} */ (/** @type {unknown} */ (data)));
  hook.app = new CompareApp(data, [await readSide(data, 'base'), await readSide(data, 'new')]);
  hook.ready = true;
}

Object.defineProperty(window, 'nsysAi', { value: hook });
start().catch((error) => {
  const text = error instanceof Error ? error.message : String(error);
  document.querySelector('main')?.prepend(h('p', { class: 'notice bad', role: 'alert' }, `The interactive parts could not start: ${text}`));
  throw error;
});
