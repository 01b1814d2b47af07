/** @import { Report, TimelineData } from '../types.js' */
/** @import { PairData, SideName } from './types.js' */
/** @import { PairSide } from './pair-view.js' */
import { readBytes, readJson } from '../blocks.js';
import { decodeEvents } from '../decode.js';
import { h } from '../dom.js';
import { Model } from '../model.js';
import { unpackTables } from '../unpack.js';
import { CompareApp } from './app.js';

/** The timeline of a side, null when the page has none. @param {PairData} data @param {SideName} side @returns {Promise<PairSide | null>} */
async function readSide(data, side) {
  const sideData = data[side];
  /** @type {TimelineData | null} */
  const timeline = await readJson(`nsys-ai-timeline-${side}`);
  if (!timeline || timeline.events === 0) return null;
  const bytes = await readBytes(`nsys-ai-events-${side}`);
  const report = unpackTables(/** @type {Report} */ (/** @type {unknown} */ ({ tables: sideData.tables ?? {}, run: { utc_epoch_ns: sideData.utc_epoch_ns ?? null } })));
  return { side, data: sideData, model: new Model(report, timeline, decodeEvents(timeline, bytes)) };
}

/** For tests. */
const hook = { ready: false, app: /** @type {CompareApp | null} */ (null) };

async function start() {
  /** @type {PairData} */
  const data = await readJson('nsys-ai-compare');
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
